//! Whether an error became rarer after its learning was applied.

use ask::errors::{ErrorsQuery, FailedCall};
use report::errors;
use report::filter::Period;
use report::learn::backlog::{Backlog, Learning};
use report::learn::{Rates, plain};
use report::redact::{Options, Place, Redactor, Rules};
use transcript::time::Time;

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::percent;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;

/// An error whose learning was applied.
struct Applied<'a> {
    learning: &'a Learning,
    at: &'a str,
    time: Time,
    tool: &'a str,
    signature: &'a str,
}

impl<'a> Applied<'a> {
    fn of(learning: &'a Learning) -> Option<Self> {
        let at = learning.get("applied").filter(|_| learning.status() == "applied")?;
        let time = Time(at.parse::<jiff::Timestamp>().ok()?.as_millisecond());
        let (tool, signature) = learning.get("key")?.strip_prefix("error | ")?.split_once(" | ")?;
        Some(Self { learning, at, time, tool, signature })
    }

    fn rates(&self, errors: &[(String, &FailedCall)], calls: &[(&str, Time)]) -> Rates {
        let mut rates = Rates::default();
        for (_, time) in calls.iter().filter(|(tool, _)| *tool == self.tool) {
            match *time < self.time {
                true => rates.calls_before += 1,
                false => rates.calls_after += 1,
            }
        }
        let is_it = |(signature, one): &&(String, &FailedCall)| {
            one.item.tool.as_deref() == Some(self.tool) && signature == self.signature
        };
        for (_, one) in errors.iter().filter(is_it) {
            match one.item.time {
                Some(time) if time < self.time => rates.errors_before += 1,
                Some(_) => rates.errors_after += 1,
                None => {}
            }
        }
        rates
    }
}

/// Prints what became of each.
pub fn run(backlog: &Backlog, run: &mut Run) -> Result<Answer, CliError> {
    let applied: Vec<Applied<'_>> = backlog.learnings.iter().filter_map(Applied::of).collect();
    if applied.is_empty() {
        run.talk.note("No learning about an error has been applied yet".into());
        return Ok(Answer::Nothing);
    }
    let errors = run.recount.failed_calls(&ErrorsQuery::default())?;
    // As the key has it.
    let redactor = Redactor::new(Rules::built_in(), Options::default());
    let sign = |one: &FailedCall| {
        let signature = errors::signature(&one.item.error.text());
        plain(&redactor.text(&signature, Place::default()))
    };
    let errors: Vec<(String, &FailedCall)> = errors.iter().map(|one| (sign(one), one)).collect();
    let calls = run.recount.tool_calls(Period::default(), None)?;
    let calls: Vec<(&str, Time)> =
        calls.iter().filter_map(|call| Some((call.tool.as_str(), call.time?))).collect();
    for one in &applied {
        show(one, &one.rates(&errors, &calls), run)?;
    }
    Ok(Answer::Found)
}

fn show(one: &Applied<'_>, rates: &Rates, run: &mut Run) -> Result<(), CliError> {
    let effect = rates.effect().name();
    let Rates { calls_before, errors_before, calls_after, errors_after } = *rates;
    let Learning { id, title, .. } = one.learning;
    if run.json {
        return Ok(run.out.json(&wire::learn::LearningEffect {
            id,
            title,
            applied: one.at,
            calls_before,
            errors_before,
            calls_after,
            errors_after,
            effect,
        })?);
    }
    let id = paint(style::NAME, id);
    run.out.line(&format!("{id}  {effect}  {}", safe::line(title)))?;
    let share = |errors, calls| format!("{errors} of {calls} calls ({})", percent(errors, calls));
    let (before, after) = (share(errors_before, calls_before), share(errors_after, calls_after));
    let expected = rates.expected();
    Ok(run.out.line(&format!(
        "          before {before}; since {} {after}, {expected:.1} expected",
        safe::line(one.at),
    ))?)
}

//! `recount usage reconcile`: our sums beside those that Claude Code left.

use hashbrown::{HashMap, HashSet};
use report::history::Typed;
use report::usage::reconcile::{
    self, Evidence, Explanation, Hidden, HiddenCalls, HomeStats, ModelClaim, Row, Told, Unit,
};
use report::usage::{Calendar, WeekStart};
use transcript::id::{Key, SessionId};
use transcript::layout::{FileKind, InternalAgent};
use transcript::library::{Agent, Library};
use transcript::side::stats::{self, ModelUsage, Stats};

use super::{Basis, signed};
use crate::commands::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted as number_of, dollars};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::ledger::Counted;
use ask::name::SessionName;
use ask::read;

/// Our sums beside every other sum that Claude Code left, and why they differ.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Claude Code writes sums of its own: a running cost for each session (cost-state, result), a cost
on each line (line-cost, old versions), the tokens of a subagent with its call (agent-call), and
the tokens of each day and model (stats-cache: input and output, not the cache). None of them is
in our sums; here they stand beside them.

A difference is explained only by what can be seen:
  partial-scope     the claim is older than the last response, or is one response of many
  price             the tokens are the same, the price is another
  hidden-calls      titles, recaps, compactions, web pages and side questions leave no usage
  replays           responses that another session owns
  missing-subagent  the file of the subagent is not there
  placeholders      the files hold less than was used: before Claude Code 2.1.97, or an answer
                    that was cut off
What has an amount is taken off the difference; what is left is unexplained.

Examples:
  recount usage reconcile
  recount usage reconcile 4f1c
  recount usage reconcile --json")]
pub struct ReconcileArgs {
    /// Only this session
    session: Option<SessionName>,

    #[command(flatten)]
    basis: Basis,
}

/// Prints the claims.
pub fn run(args: &ReconcileArgs, run: &mut Run) -> Result<Answer, CliError> {
    args.basis.set_zone(run)?;
    let prices = run.recount.load_prices(args.basis.prices.as_deref())?;
    let counted = run.recount.count_responses(&prices)?;
    let (library, told) = run.recount.take_by_file(&counted, Told::of)?;
    let asked: Option<SessionId> = args
        .session
        .as_ref()
        .map(|name| run.recount.identify_session(name, &library))
        .transpose()?;
    let mut files: Vec<(u32, Told)> = told
        .into_iter()
        .map(|mut told| {
            told.content.forget(|key| library.is_copy(told.card, key));
            (told.file, told.content)
        })
        .collect();
    add_side_questions(run, &library, &mut files)?;
    let stats = home_stats(run, &counted)?;
    let calendar =
        Calendar { zone: run.recount.clock.now.time_zone().clone(), week_start: WeekStart::Monday };
    let evidence = Evidence {
        ledger: &counted.ledger,
        prices: &prices,
        files: &files,
        agents: &agents(&library),
        stats: &stats,
        calendar: &calendar,
        session: asked.as_ref().map(SessionId::as_str),
    };
    let (rows, hidden) = (reconcile::reconcile(&evidence), reconcile::hidden(&evidence));
    if run.json {
        for row in &rows {
            let file = row.place.map(|(file, _)| counted.path(file).display().to_string());
            run.out.json(&wire::reconcile::UsageClaim::new(row, file))?;
        }
        for calls in &hidden {
            run.out.json(&wire::reconcile::UsageHidden::new(calls))?;
        }
        return Ok(Answer::of(&rows));
    }
    table(run, &rows)?;
    run.talk.note(verdict(&rows));
    if !hidden.is_empty() {
        run.talk.note(format!("Calls without a usage, in no sum of ours: {}", told_of(&hidden)));
    }
    run.talk.note(format!("Prices of {}", prices.date));
    Ok(Answer::of(&rows))
}

/// Adds the side questions that people typed and that left no file of their own.
fn add_side_questions(
    run: &mut Run,
    library: &Library,
    files: &mut [(u32, Told)],
) -> Result<(), CliError> {
    let is_side_question = |text: &str| text == "/btw" || text.starts_with("/btw ");
    let mut asked: HashMap<String, usize> = HashMap::new();
    for Typed { prompt, .. } in run.recount.typed_prompts()? {
        let session =
            prompt.session.filter(|_| prompt.display.as_deref().is_some_and(is_side_question));
        if let Some(session) = session {
            *asked.entry(session.to_string()).or_default() += 1;
        }
    }
    for session in &library.sessions {
        let is_one = |agent: &&Agent| agent.internal == Some(InternalAgent::SideQuestion);
        let recorded = session.agents.iter().filter(is_one).count();
        if let Some(count) = asked.get_mut(session.id.as_str()) {
            *count = count.saturating_sub(recorded);
        }
    }
    for (_, told) in files {
        let count = told.session.as_ref().and_then(|session| asked.remove(session));
        told.add_side_questions(count.unwrap_or(0));
    }
    Ok(())
}

/// The subagents by the calls that started them; those inside the main file have no name there.
fn agents(library: &Library) -> HashMap<Key, String> {
    let all = library.sessions.iter().flat_map(|session| &session.agents);
    let named = all.filter(|agent| agent.entry.is_none());
    named.filter_map(|agent| Some((agent.call?, agent.id.as_str().to_owned()))).collect()
}

/// What the statistics of each Claude folder claim.
fn home_stats(run: &mut Run, counted: &Counted) -> Result<Vec<HomeStats>, CliError> {
    let mut all = Vec::new();
    for home in run.recount.list_homes()? {
        let found = home.files.iter().filter(|found| found.kind == FileKind::StatsCache);
        for found in found {
            let Some(bytes) = run.recount.or_skip(read::whole_of(found)) else { continue };
            let root = home.root.canonicalize().unwrap_or_else(|_| home.root.clone());
            all.push(claims(stats::parse(&bytes).0, counted.files_below(&root)));
        }
    }
    Ok(all)
}

fn claims(stats: Stats, files: HashSet<u32>) -> HomeStats {
    let mut days = Vec::new();
    for day in &stats.daily_tokens {
        let Some(date) = &day.date else { continue };
        days.extend(day.models.iter().map(|(model, n)| (date.to_string(), model.to_string(), *n)));
    }
    let models = stats.models.iter().map(model).collect();
    let last_day = stats.last_computed_date.map(|day| day.to_string());
    HomeStats { files, last_day, days, models }
}

fn model(usage: &ModelUsage) -> ModelClaim {
    let counts = [usage.input, usage.output, usage.cache_read, usage.cache_creation];
    let cost = usage.cost_usd.and_then(transcript::usage::told::micro_dollars);
    ModelClaim::new(&usage.model, counts, cost)
}

fn table(run: &mut Run, rows: &[Row]) -> Result<(), CliError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("SOURCE"),
        Column::Left("OF"),
        Column::Right("ENTRY"),
        Column::Right("CLAIMED"),
        Column::Right("OURS"),
        Column::Right("DIFFERENCE"),
        Column::Right("UNEXPLAINED"),
        Column::Left("BECAUSE OF"),
    ])
    .spare(&["ENTRY"]);
    for row in rows {
        let value = |value: Option<i64>| value.map_or_else(|| "-".into(), |v| shown(row.unit, v));
        let ours = match (row.unit, row.ours) {
            (Unit::Cost, ours) => signed(ours, row.confidence),
            (_, None) => "-".into(),
            (_, Some(ours)) => count(ours),
        };
        let unexplained = row.unexplained();
        let hue = if unexplained.is_some_and(|rest| rest != 0) { style::BAD } else { style::GOOD };
        table.push([
            Cell::from(row.source.name()),
            Cell::new(style::NAME, &whose(row)),
            Cell::from(row.place.map_or_else(|| "-".into(), |(_, entry)| format!("#{entry}"))),
            Cell::from(value(i64::try_from(row.claimed).ok())),
            Cell::from(ours),
            Cell::from(value(row.difference())),
            Cell::new(hue, &value(unexplained)),
            Cell::from(reasons(row)),
        ]);
    }
    Ok(run.out.table(&table)?)
}

/// Of what a claim is.
fn whose(row: &Row) -> String {
    let session = row.session.as_deref().map(short);
    let parts = [session, row.agent.clone(), row.day.clone(), row.model.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn shown(unit: Unit, value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    match unit {
        Unit::Cost => format!("{sign}{}", dollars(value.unsigned_abs())),
        Unit::Tokens | Unit::Uncached => format!("{sign}{}", count(value.unsigned_abs())),
    }
}

fn reasons(row: &Row) -> String {
    let reason = |e: &Explanation| {
        let amount = match (e.amount, e.most) {
            (Some(amount), _) => format!(" {}", shown(row.unit, amount)),
            (None, Some(most)) => match i64::try_from(most) {
                Ok(most) => format!(" at most {}", shown(row.unit, most)),
                Err(_) => String::new(),
            },
            (None, None) => String::new(),
        };
        let day = e.as_of.map(|day| format!(", as of {day}")).unwrap_or_default();
        format!("{}{amount} ({}{day})", e.why.name(), count(e.count))
    };
    row.explanations.iter().map(reason).collect::<Vec<_>>().join(", ")
}

/// How many claims are right, explained, or neither.
fn verdict(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "Claude Code left no sums of its own here".into();
    }
    let of = |is: &dyn Fn(&Row) -> bool| count(rows.iter().filter(|row| is(row)).count() as u64);
    format!(
        "{}: {} as ours, {} explained, {} not, {} with nothing of ours beside them",
        number_of(rows.len(), "claim"),
        of(&|row| row.difference() == Some(0)),
        of(&|row| row.difference() != Some(0) && row.unexplained() == Some(0)),
        of(&|row| row.unexplained().is_some_and(|rest| rest != 0)),
        of(&|row| row.difference().is_none()),
    )
}

fn told_of(hidden: &[HiddenCalls]) -> String {
    let one = |calls: &HiddenCalls| {
        let what = match calls.kind {
            Hidden::Title => "title",
            Hidden::Recap => "recap",
            Hidden::Compaction => "compaction",
            Hidden::Web => "web page",
            Hidden::SideQuestion => "side question",
        };
        let most = calls.most.map(|most| format!(" (at most {} tokens)", count(most)));
        format!("{}{}", number_of(calls.count as usize, what), most.unwrap_or_default())
    };
    hidden.iter().map(one).collect::<Vec<_>>().join(", ")
}

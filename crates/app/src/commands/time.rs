//! `recount time`: where the time of a session went.

use report::timing::{self, SlowCall, Timing, TurnTime};

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{counted, short_duration};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::name::SessionName;

/// Where the time of a session went, turn by turn: model, tools, waiting, person; and its slowest
/// calls.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The time between two entries belongs to whoever wrote the second one. WAITING is for you: a
question, a plan to approve, a permission. A permission can be told only of tools that say how
long they took themselves; of others it is part of the tool.

Examples:
  recount time latest
  recount time 4f1c --slowest 20")]
pub struct TimeArgs {
    /// The session
    session: SessionName,

    /// How many of the slowest calls
    #[arg(long, value_name = "N", default_value_t = 5)]
    slowest: usize,
}

/// Prints the turns and the slowest calls.
pub fn run(args: &TimeArgs, run: &mut Run) -> Result<Answer, CliError> {
    let open = run.recount.open_session(&args.session)?;
    let timing = timing::timing(&open.session, &open.sources, args.slowest);
    if run.json {
        let name = open.name();
        for turn in &timing.turns {
            run.out.json(&wire::timing::TurnTiming::new(&name, turn))?;
        }
        for call in &timing.slowest {
            run.out.json(&wire::timing::SlowestCall::new(&name, call))?;
        }
        return Ok(Answer::of(&timing.turns));
    }
    table(run, &timing)?;
    tools(run, &timing)?;
    slowest(run, &timing.slowest)?;
    if timing.backwards > 0 {
        let entries = counted(timing.backwards, "entry").replace("entrys", "entries");
        run.talk.note(format!("{entries} with a time before the one of the entry before"));
    }
    Ok(Answer::of(&timing.turns))
}

fn table(run: &mut Run, timing: &Timing) -> Result<(), CliError> {
    if timing.turns.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Right("TURN"),
        Column::Right("WORK"),
        Column::Right("MODEL"),
        Column::Right("TOOLS"),
        Column::Right("WAITING"),
        Column::Right("RETRIES"),
        Column::Right("OTHER"),
        Column::Right("PERSON"),
        Column::Left("PROMPT"),
    ])
    .spare(&["OTHER", "RETRIES", "WAITING"]);
    let mut total = TurnTime::default();
    for turn in &timing.turns {
        let name = if turn.turn == 0 { String::new() } else { turn.turn.to_string() };
        table.push(row(name, turn));
        total.model += turn.model;
        total.waiting += turn.waiting;
        total.retries += turn.retries;
        total.other += turn.other;
        total.person += turn.person;
        for (tool, ms) in &turn.tools {
            *total.tools.entry(tool.clone()).or_default() += ms;
        }
    }
    table.push(row("all".into(), &total));
    Ok(run.out.table(&table)?)
}

fn row(name: String, turn: &TurnTime) -> [Cell; 9] {
    let time = |ms: i64| if ms == 0 { String::new() } else { short_duration(ms) };
    [
        Cell::new(style::NAME, &name),
        Cell::new(style::HEAD, &time(turn.working())),
        Cell::from(time(turn.model)),
        Cell::from(time(turn.tools.values().sum())),
        Cell::from(time(turn.waiting)),
        Cell::from(time(turn.retries)),
        Cell::from(time(turn.other)),
        Cell::new(style::DIM, &time(turn.person)),
        Cell::from(turn.prompt.as_str()),
    ]
}

/// Each tool's share of the work.
fn tools(run: &mut Run, timing: &Timing) -> Result<(), CliError> {
    let mut all: std::collections::BTreeMap<&str, i64> = std::collections::BTreeMap::new();
    for (tool, ms) in timing.turns.iter().flat_map(|turn| &turn.tools) {
        *all.entry(tool).or_default() += ms;
    }
    let mut all: Vec<(&str, i64)> = all.into_iter().filter(|(_, ms)| *ms > 0).collect();
    all.sort_by_key(|(tool, ms)| (std::cmp::Reverse(*ms), *tool));
    let Some(most) = all.first().map(|(_, ms)| *ms as u64) else { return Ok(()) };
    run.out.line("")?;
    run.out.line(&paint(style::HEAD, "Tools"))?;
    for (tool, ms) in all {
        let tool = if tool.is_empty() { "(unknown)".into() } else { safe::line(tool) };
        let bar = super::usage::bar(ms as u64, most);
        let line = format!("  {tool:<24} {:>9}  {}", short_duration(ms), paint(style::READ, &bar));
        run.out.line(line.trim_end())?;
    }
    Ok(())
}

fn slowest(run: &mut Run, calls: &[SlowCall]) -> Result<(), CliError> {
    if calls.is_empty() {
        return Ok(());
    }
    run.out.line("")?;
    run.out.line(&paint(style::HEAD, "Slowest calls"))?;
    for call in calls {
        let failed = if call.is_error { paint(style::BAD, " failed") } else { String::new() };
        let number = format!("#{}", call.entry);
        let line = format!(
            "  {:>9}  {}  {}{failed}  {}",
            short_duration(call.latency),
            paint(style::DIM, &number),
            paint(style::HEAD, &safe::line(&call.tool)),
            safe::fit(&safe::line(&call.subject), 100),
        );
        run.out.line(&line)?;
    }
    Ok(())
}

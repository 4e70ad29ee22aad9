//! `recount errors`: failed calls.

use ask::errors::{ErrorsQuery, FailedCall, group_failed_calls};
use report::errors::{ErrorGroup, Fix};

use crate::args::Scope;
use crate::commands::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::name::SessionName;

/// Failed calls: tool, input, error, and with `--fixes` what helped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount errors                        every failed call, oldest first
  recount errors latest --fixes         of the latest session, with what helped
  recount errors --summary --since 30d  what fails most
  recount errors 3f2a91c0 --json        one JSON object per error
  recount errors --array                the same as one JSON array

A fix is the next success of the same tool: same-subject (on the same file, command or
pattern), same-turn, or later. Copies of one conversation are counted once.")]
pub struct ErrorsArgs {
    /// Id, beginning of one, `latest`, `.`, a path, or `-`; all sessions if left out
    session: Option<SessionName>,

    /// Group by what is alike, the most frequent first
    #[arg(long)]
    summary: bool,

    /// Pair each error with the next success of the same tool
    #[arg(long, conflicts_with = "summary")]
    fixes: bool,

    /// Print one JSON array
    #[arg(long, conflicts_with = "summary")]
    array: bool,

    /// Only this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    #[command(flatten)]
    scope: Scope,

    /// At most so many, the latest
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Prints the errors.
pub fn run(args: &ErrorsArgs, run: &mut Run) -> Result<Answer, CliError> {
    let query = ErrorsQuery {
        session: args.session.clone(),
        project: args.scope.project(run)?,
        period: args.scope.period(run),
        tool: args.tool.clone(),
        words: Vec::new(),
        fixes: args.fixes,
        limit: args.limit,
    };
    let calls = run.recount.failed_calls(&query)?;
    if args.summary {
        let groups = group_failed_calls(&calls);
        print_groups(run, &groups)?;
        return Ok(Answer::of(&groups));
    }
    print(args, run, &calls)?;
    Ok(Answer::of(&calls))
}

/// As `--json` has it.
pub fn wire_error(error: &FailedCall) -> wire::errors::Error {
    let (session, agent) = (error.session.as_deref(), error.agent.as_deref());
    wire::errors::Error::new(&error.item, session, agent, error.file.clone())
}

fn print(args: &ErrorsArgs, run: &mut Run, all: &[FailedCall]) -> Result<(), CliError> {
    if args.array {
        return Ok(run.out.json(&all.iter().map(wire_error).collect::<Vec<_>>())?);
    }
    if run.json {
        return all.iter().try_for_each(|error| Ok(run.out.json(&wire_error(error))?));
    }
    for (at, error) in all.iter().enumerate() {
        if at > 0 {
            run.out.line("")?;
        }
        print_error(run, error)?;
    }
    if !all.is_empty() {
        run.talk.note(counted(all.len(), "failed call"));
    }
    Ok(())
}

/// So many lines of an error are shown.
const SHOWN_LINES: usize = 6;

fn print_error(run: &mut Run, error: &FailedCall) -> Result<(), CliError> {
    let item = &error.item;
    let tool = item.tool.as_deref().unwrap_or("unknown tool");
    let session = error.session.as_deref().map(short).unwrap_or_default();
    let agent = error.agent.as_deref().map(|a| format!(" agent {a}")).unwrap_or_default();
    let when = item.time.map(|time| run.recount.clock.minute(time)).unwrap_or_default();
    let left = if item.state.name() == "abandoned" { "  abandoned" } else { "" };
    let place = format!("{when}  {session}{agent}  entry {}{left}", item.number);
    let head = format!(
        "{}  {}",
        paint(style::BAD, &safe::line(tool)),
        paint(style::DIM, &safe::line(&place))
    );
    run.out.line(&head)?;
    if let Some(subject) = subject(tool, item.input.as_deref()) {
        run.out.line(&format!("  {}", safe::fit(&safe::line(&subject), 160)))?;
    }
    let text = item.error.text();
    let text = text.trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.iter().take(SHOWN_LINES).copied().collect::<Vec<_>>().join("\n");
    run.out.indented(4, &shown)?;
    if lines.len() > SHOWN_LINES {
        let more = format!("    … {} more", counted(lines.len() - SHOWN_LINES, "line"));
        run.out.line(&paint(style::DIM, &more))?;
    }
    item.fix.as_ref().map_or(Ok(()), |fix| print_fix(run, tool, fix))
}

fn subject(tool: &str, input: Option<&str>) -> Option<String> {
    let input = transcript::call::CallInput::from_json(input?)?;
    input.subject_for(tool).map(|s| s.into_owned())
}

fn print_fix(run: &mut Run, tool: &str, fix: &Fix) -> Result<(), CliError> {
    let what = subject(tool, Some(&fix.input)).unwrap_or_default();
    let changed = match fix.changed.as_slice() {
        [] => "the same input".into(),
        keys => format!("changed {}", keys.join(", ")),
    };
    let sure = fix.sureness.name();
    let head = format!("then entry {} worked ({sure}, {changed}):", fix.number);
    let (head, what) = (safe::line(&head), safe::line(&what));
    let line = format!("  {} {}", paint(style::GOOD, &head), safe::fit(&what, 120));
    Ok(run.out.line(&line)?)
}

fn print_groups(run: &mut Run, groups: &[ErrorGroup]) -> Result<(), CliError> {
    if run.json {
        return groups.iter().try_for_each(|g| Ok(run.out.json(&wire::errors::Group::from(g))?));
    }
    if groups.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Right("COUNT"),
        Column::Right("SESSIONS"),
        Column::Left("LAST"),
        Column::Left("TOOL"),
        Column::Left("ERROR"),
    ]);
    for group in groups {
        table.push([
            Cell::from(count(group.count as u64)),
            Cell::from(count(group.sessions as u64)),
            Cell::from(group.last.map_or_else(String::new, |time| run.recount.clock.near(time))),
            Cell::new(style::NAME, &group.tool),
            Cell::from(group.signature.as_str()),
        ]);
    }
    Ok(run.out.table(&table)?)
}

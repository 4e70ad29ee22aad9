//! `recount errors`: failed calls.

use std::collections::HashSet;

use report::errors::{self, ErrorGroup, ErrorItem, Fix};
use report::filter::{Period, ProjectFilter};
use transcript::id::SessionId;
use transcript::layout::{FileKind, Found, Problem};
use transcript::library::{Library, SessionItem};
use transcript::session::Session;
use transcript::source::Source;

use crate::args::Scope;
use crate::commands::short;
use crate::error::{Answer, CliError};
use crate::name::SessionName;
use crate::run::Run;
use crate::terminal::format::{count, counted};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;

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

/// An error and where it happened.
pub struct Placed {
    /// The session.
    pub session: Option<String>,
    /// The subagent.
    pub agent: Option<String>,
    /// The transcript.
    pub file: String,
    /// What failed.
    pub item: ErrorItem,
}

/// Prints the errors.
pub fn run(args: &ErrorsArgs, run: &mut Run) -> Result<Answer, CliError> {
    let mut all = match &args.session {
        Some(name @ (SessionName::Path(_) | SessionName::Stdin)) => lone(args, run, name)?,
        name => {
            let project = args.scope.project(run)?;
            joined(run, name.as_ref(), project.as_ref(), args.fixes)?
        }
    };
    let period = args.scope.period(run);
    all.retain(|error| is_wanted(args, period, error));
    all.sort_by(|a, b| {
        let key = |e: &Placed| (e.item.time, e.file.clone(), e.item.offset);
        key(a).cmp(&key(b))
    });
    if let Some(limit) = args.limit {
        all.drain(..all.len().saturating_sub(limit));
    }
    if args.summary {
        let with_session = |e: &'_ Placed| -> (String, ErrorItem) {
            (e.session.clone().unwrap_or_default(), e.item.clone())
        };
        let pairs: Vec<(String, ErrorItem)> = all.iter().map(with_session).collect();
        let groups = errors::summary(pairs.iter().map(|(session, item)| (session.as_str(), item)));
        print_groups(run, &groups)?;
        return Ok(Answer::of(&groups));
    }
    print(args, run, &all)?;
    Ok(Answer::of(&all))
}

fn is_wanted(args: &ErrorsArgs, period: Period, error: &Placed) -> bool {
    let tool = error.item.tool.as_deref();
    period.holds(error.item.time)
        && args
            .tool
            .as_deref()
            .is_none_or(|want| tool.is_some_and(|t| t.eq_ignore_ascii_case(want)))
}

/// The errors of one file.
fn lone(args: &ErrorsArgs, run: &mut Run, name: &SessionName) -> Result<Vec<Placed>, CliError> {
    let open = run.open(name)?;
    let items = errors::errors(&open.session, &open.sources[0], args.fixes)?;
    let session = open.session.id().map(|id| id.to_string());
    let file = open.sources[0].path().display().to_string();
    let placed = |item| Placed { session: session.clone(), agent: None, file: file.clone(), item };
    Ok(items.into_iter().map(placed).collect())
}

type Taken = Result<Vec<ErrorItem>, Problem>;

/// The errors of all sessions, or of the named one with its subagents.
pub fn joined(
    run: &mut Run,
    name: Option<&SessionName>,
    project: Option<&ProjectFilter>,
    fixes: bool,
) -> Result<Vec<Placed>, CliError> {
    if let Some(imported) = run.imported()? {
        return imported.errors(name, project);
    }
    let take = |_: &Found, session: &Session, source: &Source| -> Option<Taken> {
        let items = errors::errors(session, source, fixes);
        (!matches!(&items, Ok(items) if items.is_empty())).then_some(items)
    };
    let (library, taken, only) = match name {
        None => {
            let (library, taken) = run.library(take)?;
            (library, taken, None)
        }
        Some(name) => {
            let library = run.sessions()?;
            let only = run.resolve(name, &library)?;
            let is_its = |card: usize| library.cards[card].id.as_ref() == Some(&only);
            let taken = run.take_from(&library, is_its, take);
            (library, taken, Some(only))
        }
    };
    let strays = run.strays(&library, |session, source| errors::errors(session, source, fixes));
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for (card, taken) in taken.into_iter().enumerate() {
        let Some(taken) = taken else { continue };
        let Some(items) = run.or_skip(taken) else { continue };
        let session = library.cards[card].id.as_ref();
        if only.as_ref().is_some_and(|only| session != Some(only))
            || project.is_some_and(|p| !of_project(&library, card, p))
        {
            continue;
        }
        // A named session shows what it holds; over all sessions each error counts once.
        let mut counts = |item: &ErrorItem| match only {
            Some(_) => seen.insert(item.key),
            None => !library.is_copy(card, item.key),
        };
        all.extend(
            items.into_iter().filter(|item| counts(item)).map(|item| placed(&library, card, item)),
        );
    }
    for stray in strays {
        let is_asked = is_stray_asked(stray.item, only.as_ref(), project);
        let Some(items) = run.or_skip(stray.taken) else { continue };
        if is_asked {
            let (session, file) = (Some(stray.item.id.to_string()), stray.file);
            let placed =
                |item| Placed { session: session.clone(), agent: None, file: file.clone(), item };
            all.extend(items.into_iter().map(placed));
        }
    }
    Ok(all)
}

fn is_stray_asked(
    owner: &SessionItem,
    only: Option<&SessionId>,
    project: Option<&ProjectFilter>,
) -> bool {
    let is_session = only.is_none_or(|only| *only == owner.id);
    is_session
        && project.is_none_or(|p| owner.facts.cwd.as_deref().is_some_and(|cwd| p.matches(cwd)))
}

fn of_project(library: &Library, card: usize, project: &ProjectFilter) -> bool {
    library.cards[card].facts.cwd.as_deref().is_some_and(|cwd| project.matches(cwd))
}

fn placed(library: &Library, card: usize, item: ErrorItem) -> Placed {
    let card = &library.cards[card];
    let agent = match &card.found.kind {
        FileKind::Agent { agent, .. } => Some(agent.to_string()),
        _ => None,
    };
    Placed {
        session: card.id.as_ref().map(|id| id.to_string()),
        agent,
        file: card.found.path.display().to_string(),
        item,
    }
}

/// As `--json` has it.
pub fn wire_error(error: &Placed) -> wire::errors::Error {
    let (session, agent) = (error.session.as_deref(), error.agent.as_deref());
    wire::errors::Error::new(&error.item, session, agent, error.file.clone())
}

fn print(args: &ErrorsArgs, run: &mut Run, all: &[Placed]) -> Result<(), CliError> {
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

fn print_error(run: &mut Run, error: &Placed) -> Result<(), CliError> {
    let item = &error.item;
    let tool = item.tool.as_deref().unwrap_or("unknown tool");
    let session = error.session.as_deref().map(short).unwrap_or_default();
    let agent = error.agent.as_deref().map(|a| format!(" agent {a}")).unwrap_or_default();
    let when = item.time.map(|time| run.clock.minute(time)).unwrap_or_default();
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
            Cell::from(group.last.map_or_else(String::new, |time| run.clock.near(time))),
            Cell::new(style::NAME, &group.tool),
            Cell::from(group.signature.as_str()),
        ]);
    }
    Ok(run.out.table(&table)?)
}

//! `recount file`: one file through all sessions, and what it was at any point.

mod content;
mod restore;

use std::io;

use ask::file::{ChangeSources, FileHistory};
use report::file::{ChangeRow, FileLog, Filter, Kept};
use report::filter::Period;
use transcript::id::SessionId;
use transcript::session::State;
use transcript::tool::Hunk;

use super::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::file::{FileBackup, FileChange};
use ask::name::SessionName;
use ask::time_arg::TimeArg;

/// Every change and every backup of one file, over all sessions; what it was at any point.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  recount file src/main.rs                    who changed it, and when
  recount file src/main.rs --diff             with the lines that were changed
  recount file src/main.rs --session 3f2a --at 120    what it was after entry 120
  recount file src/main.rs --version 2 > old.rs       a backup, byte for byte
  recount file restore src/main.rs --version 2        write it back

A file that is called `restore` is `./restore`."
)]
pub struct FileArgs {
    #[command(subcommand)]
    command: Option<FileCommand>,

    /// The file: an absolute path, or the end of one
    #[arg(required = true)]
    path: Option<String>,

    #[command(flatten)]
    point: Point,

    /// Only from this time on: 2026-04-20, yesterday, 7d
    #[arg(long, value_name = "TIME")]
    since: Option<TimeArg>,

    /// Only up to this time: 2026-04-20, yesterday, 'last week'
    #[arg(long, value_name = "TIME")]
    until: Option<TimeArg>,

    /// Show the lines that were changed
    #[arg(long, conflicts_with_all = ["at", "version"])]
    diff: bool,
}

#[derive(Debug, clap::Subcommand)]
enum FileCommand {
    Restore(restore::RestoreArgs),
}

/// Which state of the file is meant.
#[derive(Debug, clap::Args)]
struct Point {
    /// The session: an id, the beginning of one, `latest`, `.`
    #[arg(long, value_name = "SESSION")]
    session: Option<SessionName>,

    /// The content after this entry
    #[arg(long, value_name = "ENTRY", conflicts_with = "version")]
    at: Option<u32>,

    /// The entry is one of this subagent
    #[arg(long, value_name = "AGENT", requires = "at")]
    agent: Option<String>,

    /// The content in this backup
    #[arg(long, value_name = "N")]
    version: Option<u64>,
}

/// Prints what happened to the file, or what it was.
pub fn run(args: &FileArgs, run: &mut Run) -> Result<Answer, CliError> {
    if let Some(FileCommand::Restore(args)) = &args.command {
        return restore::run(args, run);
    }
    let given = args.path.as_deref().unwrap_or_default();
    let all = FileHistory::read(&mut run.recount, given)?;
    let session = all.session(&mut run.recount, args.point.session.as_ref())?;
    if args.point.at.is_some() || args.point.version.is_some() {
        return content::print(run, &all, &args.point, session);
    }
    let period = Period {
        since: args.since.as_ref().map(|time| time.start(&run.recount.clock)),
        until: args.until.as_ref().map(|time| time.end(&run.recount.clock)),
    };
    let logs = all.logs(&Filter { session, period });
    list(run, &all, &logs, args.diff)?;
    if all.copies > 0 {
        let copies = counted(all.copies, "change");
        run.talk.note(format!("{copies} in copies of sessions not shown"));
    }
    Ok(Answer::of(&logs))
}

/// What the file was after an entry: its path, its content, and what that stands on.
pub fn content_after(
    history: &FileHistory,
    run: &mut Run,
    (session, agent): (&str, Option<&str>),
    entry: u32,
) -> Result<(String, Vec<u8>, String), CliError> {
    let agent = agent.map(str::to_owned);
    let point = Point { session: None, at: Some(entry), agent, version: None };
    let state = content::find(history, &point, Some(SessionId::new(session)))?;
    let words = state.origin.words(run, &state.session);
    Ok((state.path, state.bytes, words))
}

fn list(run: &mut Run, all: &FileHistory, logs: &[FileLog], diff: bool) -> Result<(), CliError> {
    let mut sources = ChangeSources::default();
    for (at, log) in logs.iter().enumerate() {
        if run.json {
            json(run, all, log, diff.then_some(&mut sources))?;
            continue;
        }
        if at > 0 {
            run.out.line("")?;
        }
        run.out.line(&paint(style::PROJECT.bold(), &safe::line(&log.path)))?;
        print_changes(run, all, log, diff.then_some(&mut sources))?;
        print_backups(run, all, log)?;
    }
    if logs.len() > 1 {
        let files = counted(logs.len(), "file");
        run.talk.note(format!("`{}` is the end of {files}; give more of the path", all.given));
    }
    Ok(())
}

fn json(
    run: &mut Run,
    all: &FileHistory,
    log: &FileLog,
    mut sources: Option<&mut ChangeSources>,
) -> Result<(), CliError> {
    for row in &log.changes {
        let hunks = match &mut sources {
            Some(sources) => run.recount.or_skip(sources.hunks(all, row)).unwrap_or_default(),
            None => Vec::new(),
        };
        run.out.json(&FileChange::new(row, all.title(&row.session), &hunks))?;
    }
    for row in &log.backups {
        run.out.json(&FileBackup::new(row, all.title(&row.session)))?;
    }
    Ok(())
}

fn print_changes(
    run: &mut Run,
    all: &FileHistory,
    log: &FileLog,
    mut sources: Option<&mut ChangeSources>,
) -> io::Result<()> {
    if log.changes.is_empty() {
        return Ok(());
    }
    let lines = change_table(run, all, log).lines(run.out.columns());
    run.out.line(&lines[0])?;
    for (row, line) in log.changes.iter().zip(&lines[1..]) {
        run.out.line(line)?;
        if let Some(sources) = &mut sources {
            let hunks = run.recount.or_skip(sources.hunks(all, row)).unwrap_or_default();
            hunks.iter().try_for_each(|hunk| print_hunk(run, hunk))?;
        }
    }
    Ok(())
}

fn change_table(run: &Run, all: &FileHistory, log: &FileLog) -> Table {
    let mut table = Table::new(&[
        Column::Left("TIME"),
        Column::Left("SESSION"),
        Column::Right("ENTRY"),
        Column::Left("TOOL"),
        Column::Right("ADDED"),
        Column::Right("REMOVED"),
        Column::Left("NOTE"),
        Column::Left("TITLE"),
    ]);
    for row in &log.changes {
        let event = &row.event;
        let about = if event.estimated { "~" } else { "" };
        let lines = |sign: &str, number: u32| match event.unknown {
            true => "?".into(),
            false => format!("{about}{sign}{}", count(number.into())),
        };
        table.push([
            time_cell(run, event.time),
            session_cell(&row.session),
            event.number.to_string().into(),
            event.tool.as_str().into(),
            Cell::new(style::GOOD, &lines("+", event.added)),
            Cell::new(style::BAD, &lines("-", event.removed)),
            note(row),
            all.title(&row.session).unwrap_or("-").into(),
        ]);
    }
    table
}

fn time_cell(run: &Run, time: Option<transcript::time::Time>) -> Cell {
    let text = time.map_or_else(|| "-".into(), |time| run.recount.clock.minute(time));
    Cell::new(style::DIM, &text)
}

fn session_cell(session: &SessionId) -> Cell {
    Cell::new(style::NAME, &short(session.as_str()))
}

fn note(row: &ChangeRow) -> Cell {
    let is_left = row.event.state == State::Abandoned;
    let notes: Vec<String> = [
        row.event.created.then(|| "created".into()),
        row.event.deleted.then(|| "deleted".into()),
        row.event.unknown.then(|| "size unknown".into()),
        is_left.then(|| "abandoned".into()),
        row.agent.as_ref().map(|agent| format!("by subagent {}", short(agent.as_str()))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let style = if is_left { style::ACTIVE } else { style::DIM };
    Cell::new(style, &notes.join(", "))
}

fn print_hunk(run: &mut Run, hunk: &Hunk) -> io::Result<()> {
    let place = match hunk.new_start {
        0 => "@@ line numbers not recorded @@".into(),
        _ => format!("@@ -{} +{} @@", hunk.old_start, hunk.new_start),
    };
    run.out.line(&format!("    {}", paint(style::DIM, &place)))?;
    for line in &hunk.lines {
        let style = match line.as_bytes().first() {
            Some(b'+') => style::GOOD,
            Some(b'-') => style::BAD,
            _ => style::PLAIN,
        };
        let text = safe::text(line).replace('\n', " ");
        run.out.line(&format!("    {}", paint(style, &text)))?;
    }
    Ok(())
}

fn print_backups(run: &mut Run, all: &FileHistory, log: &FileLog) -> io::Result<()> {
    if log.backups.is_empty() {
        return Ok(());
    }
    if !log.changes.is_empty() {
        run.out.line("")?;
    }
    run.out.line(&paint(style::DIM, "Backups: the file as it was before a change"))?;
    let mut table = Table::new(&[
        Column::Left("TIME"),
        Column::Left("SESSION"),
        Column::Right("VERSION"),
        Column::Right("SIZE"),
        Column::Left("BACKUP"),
        Column::Left("TITLE"),
    ]);
    for row in &log.backups {
        let (bytes, state, style) = match &row.kept {
            Kept::Here(file) => (size(file.size), "kept", style::PLAIN),
            Kept::Gone(_) => ("-".into(), "gone", style::ACTIVE),
            Kept::Absent => ("-".into(), "the file did not exist", style::DIM),
            Kept::Unknown => ("-".into(), "not recorded", style::DIM),
        };
        let doubt = if row.is_proven() { "" } else { ", named after another path" };
        table.push([
            time_cell(run, row.time),
            session_cell(&row.session),
            row.version.map_or_else(|| "-".into(), |version| version.to_string()).into(),
            bytes.into(),
            Cell::new(style, &format!("{state}{doubt}")),
            all.title(&row.session).unwrap_or("-").into(),
        ]);
    }
    run.out.table(&table)
}

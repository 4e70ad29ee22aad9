//! `recount file`: one file through all sessions, and what it was at any point.

mod content;
mod restore;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use report::file::{self, BackupRow, ChangeRow, FileLog, Filter, Kept};
use report::filter::Period;
use transcript::id::{AgentId, SessionId};
use transcript::layout::{FileKind, Problem};
use transcript::library::{Card, Library};
use transcript::session::State;
use transcript::side::backup::{self, BackupFile};
use transcript::source::Source;
use transcript::tool::Hunk;

use super::short;
use crate::error::{Answer, CliError};
use crate::name::{self, NameError, Noun, SessionName};
use crate::run::Run;
use crate::sessions::Stray;
use crate::terminal::format::{count, counted, size};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::time_arg::TimeArg;
use crate::wire::file::{FileBackup, FileChange};

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
    let all = All::read(run, given)?;
    let session = all.session(run, args.point.session.as_ref())?;
    if args.point.at.is_some() || args.point.version.is_some() {
        return content::print(run, &all, &args.point, session);
    }
    let period = Period {
        since: args.since.as_ref().map(|time| time.start(&run.clock)),
        until: args.until.as_ref().map(|time| time.end(&run.clock)),
    };
    let logs = all.logs(&Filter { session, period });
    list(run, &all, &logs, args.diff)?;
    if all.copies > 0 {
        let copies = counted(all.copies, "change");
        run.talk.note(format!("{copies} in copies of sessions not shown"));
    }
    Ok(Answer::of(&logs))
}

/// Everything that is recorded of the file.
pub struct All {
    given: String,
    library: Library,
    changes: Vec<ChangeRow>,
    recorded: Vec<BackupRow>,
    here: Vec<BackupFile>,
    /// The paths that the given one may be on this computer.
    paths: Vec<String>,
    /// Changes in copies of sessions.
    copies: usize,
}

impl All {
    /// Reads it.
    pub fn read(run: &mut Run, given: &str) -> Result<Self, CliError> {
        let (library, taken) = run.library(|_, session, source| {
            let changes = file::events(session, given);
            let tracked = file::tracked(session, source, given);
            (!changes.is_empty() || !tracked.is_empty()).then_some((changes, tracked))
        })?;
        let (here, paths) = (backups(run)?, vec![absolute(run, given)?]);
        let (mut changes, mut recorded, mut copies) = (Vec::new(), Vec::new(), 0);
        for (card, taken) in taken.into_iter().enumerate() {
            let Some((events, tracked)) = taken else { continue };
            recorded.extend(tracked);
            let Some((session, agent)) = owner(&library.cards[card]) else { continue };
            let file = &library.cards[card].found.path;
            for event in events {
                if library.is_copy(card, event.key) {
                    copies += 1;
                    continue;
                }
                let (session, agent, file) = (session.clone(), agent.clone(), file.clone());
                changes.push(ChangeRow { event, session, agent, file });
            }
        }
        changes.extend(strays(run, &library, given));
        Ok(Self { given: given.into(), library, changes, recorded, here, paths, copies })
    }

    /// One log for each file that it may be.
    pub fn logs(&self, filter: &Filter) -> Vec<FileLog> {
        let (changes, recorded) = (self.changes.clone(), self.recorded.clone());
        file::logs(changes, recorded, &self.here, &self.paths, filter)
    }

    /// The session that a name stands for. Backups outlive transcripts, so that their sessions can
    /// be named, too.
    fn session(
        &self,
        run: &mut Run,
        name: Option<&SessionName>,
    ) -> Result<Option<SessionId>, CliError> {
        let Some(name) = name else { return Ok(None) };
        let error = match run.resolve(name, &self.library) {
            Ok(id) => return Ok(Some(id)),
            Err(error) => error,
        };
        let (SessionName::Id(text), CliError::Name(NameError::Unknown { .. })) = (name, &error)
        else {
            return Err(error);
        };
        let ids: Vec<&str> = self.here.iter().map(|file| file.session.as_str()).collect();
        match name::pick(Noun::Session, text, &ids) {
            Ok(id) => Ok(Some(SessionId::new(id))),
            Err(NameError::Unknown { .. }) => Err(error),
            Err(ambiguous) => Err(ambiguous.into()),
        }
    }

    /// What the file was after an entry: its path, its content, and what that stands on.
    pub fn after(
        &self,
        run: &mut Run,
        (session, agent): (&str, Option<&str>),
        entry: u32,
    ) -> Result<(String, Vec<u8>, String), CliError> {
        let agent = agent.map(str::to_owned);
        let point = Point { session: None, at: Some(entry), agent, version: None };
        let state = content::find(self, &point, Some(SessionId::new(session)))?;
        let words = state.origin.words(run, &state.session);
        Ok((state.path, state.bytes, words))
    }

    /// What a session is called.
    pub fn title(&self, session: &SessionId) -> Option<&str> {
        let item = self.library.session(session.as_str())?;
        item.title.as_ref().map(|(title, _)| &**title)
    }
}

/// The session that a transcript belongs to, and the subagent whose it is.
fn owner(card: &Card) -> Option<(SessionId, Option<AgentId>)> {
    match &card.found.kind {
        FileKind::Agent { session, agent, .. } => {
            Some((session.clone().or_else(|| card.id.clone())?, Some(agent.clone())))
        }
        kind => Some((card.id.clone().or_else(|| kind.session().cloned())?, None)),
    }
}

/// Changes that stand in another session's file.
fn strays(run: &mut Run, library: &Library, given: &str) -> Vec<ChangeRow> {
    let strays = run.strays(library, |session, _| file::events(session, given));
    let rows = |Stray { item, file, taken }: Stray<'_, Vec<file::FileEvent>>| {
        let row = move |event| ChangeRow {
            event,
            session: item.id.clone(),
            agent: None,
            file: file.clone().into(),
        };
        taken.into_iter().map(row).collect::<Vec<_>>()
    };
    strays.into_iter().flat_map(rows).collect()
}

/// The backups that are there.
fn backups(run: &mut Run) -> Result<Vec<BackupFile>, CliError> {
    let mut all = Vec::new();
    for root in run.roots()? {
        let folder = root.join("file-history");
        let (backups, problems) = match folder.is_dir() {
            true => backup::backups(&folder),
            false => Default::default(),
        };
        problems.into_iter().for_each(|problem| run.talk.skip(problem));
        let is_backup = |kind: &FileKind| matches!(kind, FileKind::FileHistory { .. });
        let kept = run.kept(&root, &[], is_backup)?.into_iter().filter_map(backup::of_found);
        let is_new = |kept: &BackupFile| {
            !backups.iter().any(|b| b.session == kept.session && b.name == kept.name)
        };
        let kept: Vec<BackupFile> = kept.filter(is_new).collect();
        all.extend(backups.into_iter().chain(kept));
    }
    Ok(all)
}

/// The path as it would be on this computer.
fn absolute(run: &Run, given: &str) -> Result<String, CliError> {
    let plain = given.strip_prefix("./").unwrap_or(given);
    let path = if Path::new(plain).is_absolute() { plain.into() } else { run.here()?.join(plain) };
    Ok(path.to_string_lossy().into_owned())
}

fn list(run: &mut Run, all: &All, logs: &[FileLog], diff: bool) -> Result<(), CliError> {
    let mut sources = Sources::default();
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

/// The transcripts that were opened for their diffs.
#[derive(Default)]
pub struct Sources {
    open: HashMap<PathBuf, Source>,
}

impl Sources {
    /// The lines that a change changed.
    pub fn hunks(&mut self, all: &All, row: &ChangeRow) -> Result<Vec<Hunk>, Problem> {
        if !self.open.contains_key(&row.file) {
            let mut found = all.library.cards.iter().map(|card| &card.found);
            let source = match found.find(|found| found.path == row.file) {
                Some(found) => found.open()?,
                None => Source::open(&row.file)?,
            };
            self.open.insert(row.file.clone(), source);
        }
        file::hunks(&row.event, &self.open[&row.file])
    }
}

fn json(
    run: &mut Run,
    all: &All,
    log: &FileLog,
    mut sources: Option<&mut Sources>,
) -> Result<(), CliError> {
    for row in &log.changes {
        let hunks = match &mut sources {
            Some(sources) => run.or_skip(sources.hunks(all, row)).unwrap_or_default(),
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
    all: &All,
    log: &FileLog,
    mut sources: Option<&mut Sources>,
) -> io::Result<()> {
    if log.changes.is_empty() {
        return Ok(());
    }
    let lines = change_table(run, all, log).lines(run.out.columns());
    run.out.line(&lines[0])?;
    for (row, line) in log.changes.iter().zip(&lines[1..]) {
        run.out.line(line)?;
        if let Some(sources) = &mut sources {
            let hunks = run.or_skip(sources.hunks(all, row)).unwrap_or_default();
            hunks.iter().try_for_each(|hunk| print_hunk(run, hunk))?;
        }
    }
    Ok(())
}

fn change_table(run: &Run, all: &All, log: &FileLog) -> Table {
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
    let text = time.map_or_else(|| "-".into(), |time| run.clock.minute(time));
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

fn print_backups(run: &mut Run, all: &All, log: &FileLog) -> io::Result<()> {
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

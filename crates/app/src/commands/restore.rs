//! `recount restore`: a session's files out of the archive, byte for byte.
//!
//! Nothing is ever replaced: either all of them go to a folder that is empty, or those that are
//! missing go to their places. Each is written beside its place and moved there, so that there is
//! never half of one, and then read back and compared with the hashes of the archive.
//!
//! In a folder of its own a file keeps its time. In its old place it gets the time of now: with
//! its old one Claude Code would delete it again at its next start.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use report::list::Pulse;
use store::archive::{Archive, ArchiveError, path_of};
use store::catalog::SessionRow;
use store::folder::create_private;
use transcript::time::Time;

use super::short;
use crate::error::{Answer, CliError, RestoreError};
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::progress::Progress;
use crate::terminal::safe;
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::restore::RestoredFile;
use ask::name::SessionName;
use ask::stored::{Stored, StoredFile};

const NANOS_IN_MILLI: i64 = 1_000_000;

/// Get a session's files back from the store, with its subagents and side files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount restore 3f2a                 what is kept of it; nothing is written
  recount restore 3f2a --to old        all of it, below a new folder
  recount restore 3f2a --in-place      what is missing, where Claude Code had it
  recount show old/projects/*/*.jsonl  to read it there

No file is ever replaced. In place the files get the time of now, since Claude Code would
delete them again for their age; elsewhere they keep theirs.")]
pub struct RestoreArgs {
    /// The session: an id, the beginning of one, `latest`, `.`
    session: SessionName,

    /// Write below this folder, which must be empty or not exist
    #[arg(long, value_name = "DIR", conflicts_with = "in_place")]
    to: Option<PathBuf>,

    /// Write what is missing to where it was
    #[arg(long)]
    in_place: bool,
}

/// What is to be restored.
struct Plan {
    session: SessionRow,
    /// The Claude folder that the files come from.
    home: PathBuf,
    files: Vec<StoredFile>,
    /// Files of the same session that come from other Claude folders.
    elsewhere: usize,
}

/// Shows what is kept, or writes it.
pub fn run(args: &RestoreArgs, run: &mut Run) -> Result<Answer, CliError> {
    let stored = run.recount.open_stored()?;
    let plan = Plan::new(run, &stored, &args.session)?;
    match &args.to {
        Some(folder) => write_to(run, &stored.archive, &plan, folder)?,
        None if args.in_place => write_in_place(run, &stored.archive, &plan)?,
        None => show(run, &plan)?,
    }
    if plan.elsewhere > 0 {
        let files = counted(plan.elsewhere, "file");
        run.talk.note(format!("{files} of the session in other Claude folders left out"));
    }
    Ok(Answer::Found)
}

impl Plan {
    fn new(run: &Run, stored: &Stored, name: &SessionName) -> Result<Self, CliError> {
        let session = stored.resolve(&run.recount, name)?;
        let mut files = stored.files()?.remove(&session.id).unwrap_or_default();
        let own = files.iter().find(|file| Some(file.row.file.0) == session.file);
        let home = own.or(files.first()).map(|file| file.row.home.clone());
        let home = home.ok_or_else(|| RestoreError::NoFiles(session.id.to_string()))?;
        let all = files.len();
        files.retain(|file| file.row.home == home);
        files.sort_by(|a, b| a.rel.cmp(&b.rel));
        let elsewhere = all - files.len();
        Ok(Self { session, home: path_of(&home), files, elsewhere })
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.row.size).sum()
    }
}

/// Whether something is at a place; a link that leads nowhere is something.
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn show(run: &mut Run, plan: &Plan) -> Result<(), CliError> {
    let states: Vec<&'static str> = plan
        .files
        .iter()
        .map(|file| if is_there(&file.row.path()) { "there" } else { "missing" })
        .collect();
    if run.json {
        for (file, state) in plan.files.iter().zip(&states) {
            run.out.json(&line(plan, file, file.row.path(), state))?;
        }
    } else {
        show_table(run, plan, &states)?;
    }
    let missing = states.iter().filter(|state| **state == "missing").count();
    let id = short(plan.session.id.as_str());
    run.talk.note(format!("{}, {}", counted(plan.files.len(), "file"), size(plan.bytes())));
    run.talk.note(format!("`recount restore {id} --to DIR` writes them below a new folder"));
    if missing > 0 {
        let missing = counted(missing, "missing file");
        run.talk.note(format!("`recount restore {id} --in-place` writes {missing} back"));
    }
    Ok(())
}

fn show_table(run: &mut Run, plan: &Plan, states: &[&str]) -> Result<(), CliError> {
    let mut table = Table::new(&[
        Column::Left("ON DISK"),
        Column::Left("MODIFIED"),
        Column::Right("SIZE"),
        Column::Left("KIND"),
        Column::Left("FILE"),
    ])
    .spare(&["MODIFIED", "KIND"]);
    for (file, state) in plan.files.iter().zip(states) {
        let look = if *state == "there" { style::DIM } else { style::BAD };
        table.push([
            Cell::new(look, state),
            Cell::new(style::DIM, &run.recount.clock.minute(modified(file))),
            size(file.row.size).into(),
            file.kind.name().into(),
            file.row.path().display().to_string().into(),
        ]);
    }
    Ok(run.out.table(&table)?)
}

fn modified(file: &StoredFile) -> Time {
    Time(file.row.stat.mtime_ns / NANOS_IN_MILLI)
}

fn line<'a>(
    plan: &'a Plan,
    file: &StoredFile,
    path: PathBuf,
    outcome: &'static str,
) -> RestoredFile<'a> {
    RestoredFile {
        session: plan.session.id.as_str(),
        kind: file.kind.name(),
        path: path.display().to_string(),
        size: file.row.size,
        modified: crate::wire::time(Some(modified(file))),
        outcome,
    }
}

/// What time a file gets.
#[derive(Clone, Copy)]
enum Times {
    Kept,
    Now,
}

fn write_to(run: &mut Run, archive: &Archive, plan: &Plan, to: &Path) -> Result<(), CliError> {
    let to = std::path::absolute(to).map_err(|error| failed(to, error))?;
    if run.recount.is_below_claude(&to, Some(&plan.home)) {
        return Err(RestoreError::InClaude(to).into());
    }
    if !is_empty(&to) {
        return Err(RestoreError::NotEmpty(to).into());
    }
    create_private(&to).map_err(|error| failed(&to, error))?;
    let targets: Vec<(&StoredFile, PathBuf)> =
        plan.files.iter().map(|file| (file, to.join(&file.rel))).collect();
    write_all(run, archive, &targets, Times::Kept)?;
    report(run, plan, &targets, &to)
}

fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut files) => files.next().is_none(),
        Err(_) => !is_there(folder),
    }
}

fn write_in_place(run: &mut Run, archive: &Archive, plan: &Plan) -> Result<(), CliError> {
    refuse_live(run, plan)?;
    if !plan.home.is_dir() {
        return Err(RestoreError::NoHome(plan.home.clone()).into());
    }
    let targets: Vec<(&StoredFile, PathBuf)> = plan
        .files
        .iter()
        .map(|file| (file, file.row.path()))
        .filter(|(_, path)| !is_there(path))
        .collect();
    write_all(run, archive, &targets, Times::Now)?;
    report(run, plan, &targets, &plan.home)?;
    let there = plan.files.len() - targets.len();
    if there > 0 && !targets.is_empty() {
        run.talk.note(format!("{} already on disk, not touched", counted(there, "file")));
    }
    Ok(())
}

/// A running Claude Code writes to these files whenever it likes.
fn refuse_live(run: &mut Run, plan: &Plan) -> Result<(), CliError> {
    let mut pulse = Pulse::default();
    run.recount.add_running(&plan.home, &mut pulse);
    let is_its = |session: &transcript::id::SessionId| *session == plan.session.id;
    let live = pulse.running.iter().find(|running| running.session.as_ref().is_some_and(is_its));
    match live {
        Some(running) => {
            let session = plan.session.id.to_string();
            Err(RestoreError::Live { session, pid: running.pid }.into())
        }
        None => Ok(()),
    }
}

fn failed(path: &Path, error: io::Error) -> CliError {
    RestoreError::Write { path: path.into(), error }.into()
}

fn write_all(
    run: &Run,
    archive: &Archive,
    targets: &[(&StoredFile, PathBuf)],
    times: Times,
) -> Result<(), CliError> {
    let bytes = targets.iter().map(|(file, _)| file.row.size).sum();
    let progress = Progress::new(run.is_quiet(), targets.len(), bytes);
    for (file, target) in targets {
        write(archive, file, target, times)?;
        check(archive, file, target)?;
        progress.step(file.row.size);
    }
    Ok(())
}

fn write(
    archive: &Archive,
    file: &StoredFile,
    target: &Path,
    times: Times,
) -> Result<(), CliError> {
    let failed = |error| failed(target, error);
    let folder = target.parent().unwrap_or(target);
    create_private(folder).map_err(|error| self::failed(folder, error))?;
    let new = tempfile::Builder::new().prefix(".recount-").tempfile_in(folder);
    let mut new = new.map_err(failed)?;
    let copied = io::copy(&mut archive.content(file.row.generation), &mut new);
    copied.map_err(|error| match error.downcast::<ArchiveError>() {
        Ok(error) => error.into(),
        Err(error) => failed(error),
    })?;
    if matches!(times, Times::Kept) {
        let since = Duration::from_millis(modified(file).0.try_into().unwrap_or(0));
        new.as_file().set_modified(SystemTime::UNIX_EPOCH + since).map_err(failed)?;
    }
    new.as_file().sync_all().map_err(failed)?;
    // Fails if a file has come into being meanwhile.
    new.persist_noclobber(target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Reads back what was written.
fn check(archive: &Archive, file: &StoredFile, target: &Path) -> Result<(), CliError> {
    let failed = |error| failed(target, error);
    let written = File::open(target).map_err(failed)?;
    let size = written.metadata().map_err(failed)?.len();
    let same = archive.common_prefix(file.row.generation, written)?;
    match (size, same) == (file.row.size, file.row.size) {
        true => Ok(()),
        false => Err(RestoreError::Differs(target.into()).into()),
    }
}

fn report(
    run: &mut Run,
    plan: &Plan,
    written: &[(&StoredFile, PathBuf)],
    to: &Path,
) -> Result<(), CliError> {
    if run.json {
        for (file, path) in written {
            run.out.json(&line(plan, file, path.clone(), "written"))?;
        }
        return Ok(());
    }
    let place = safe::line(&to.display().to_string());
    let bytes: u64 = written.iter().map(|(file, _)| file.row.size).sum();
    run.out.line(&match written.len() {
        0 => format!("All {} are on disk; nothing was written", counted(plan.files.len(), "file")),
        number => format!(
            "{} of {} written below {place} and read back, {}",
            count(number as u64),
            counted(plan.files.len(), "file"),
            size(bytes)
        ),
    })?;
    Ok(())
}

//! `recount file restore`: the only thing recount writes outside its own folders.
//!
//! Only to a place that was recorded for the file, never below a Claude folder, never through a
//! link, never over a file unless told to; first the plan, then the question. The file is written
//! beside its place and moved there, so that there is never half of one, and then read back.

use std::fs::{self, Permissions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use ask::file::FileHistory;
use report::file::{BadTarget, line_changes, target};

use super::Point;
use super::content::{self, Origin, State};
use crate::error::{Answer, CliError, FileError};
use crate::run::Run;
use crate::terminal::format::{counted, size};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire::file::FileRestored;

/// Write a file back as it was, to the place it was recorded at.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount file restore src/main.rs --version 2              from a backup
  recount file restore src/main.rs --session 3f2a --at 120  as it was after entry 120
  recount file restore /home/x/app/a.rs --version 1 --force --yes

Shows what it would do and asks. A file that exists is only replaced with `--force`.")]
pub(super) struct RestoreArgs {
    /// The file: an absolute path, or the end of one
    path: String,

    #[command(flatten)]
    point: Point,

    /// Replace the file that is there
    #[arg(long)]
    force: bool,

    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// What is going to be done.
struct Plan {
    state: State,
    target: PathBuf,
    there: Option<There>,
}

/// What is at the place now.
struct There {
    bytes: Vec<u8>,
    permissions: Permissions,
}

/// Shows the plan, asks, and writes.
pub(super) fn run(args: &RestoreArgs, run: &mut Run) -> Result<Answer, CliError> {
    let plan = plan(args, run)?;
    show(run, &plan);
    let outcome = match &plan.there {
        Some(there) if there.bytes == plan.state.bytes => "same",
        Some(_) if !args.force => return Err(FileError::Exists(plan.target).into()),
        there => {
            if !args.yes && !ask()? {
                run.talk.now("Nothing was written.");
                return Ok(Answer::Found);
            }
            write(&plan)?;
            if there.is_some() { "replaced" } else { "created" }
        }
    };
    report(run, &plan, outcome)?;
    Ok(Answer::Found)
}

fn plan(args: &RestoreArgs, run: &mut Run) -> Result<Plan, CliError> {
    if args.point.at.is_none() && args.point.version.is_none() {
        return Err(FileError::NoPoint.into());
    }
    let all = FileHistory::read(&mut run.recount, &args.path)?;
    let session = all.session(&mut run.recount, args.point.session.as_ref())?;
    let state = content::find(&all, &args.point, session)?;
    let refused = |why| FileError::Target { path: state.path.clone(), why };
    let target = target(&state.path, safe::is_hostile).map_err(refused)?;
    if matches!(state.origin, Origin::Backup { is_proven: false, .. }) {
        return Err(refused(BadTarget::Unproven).into());
    }
    let there = look(&target, &run.recount.claude_folders()?)?;
    Ok(Plan { state, target, there })
}

/// What is at the place, if it may be written to at all.
fn look(target: &Path, claude: &[PathBuf]) -> Result<Option<There>, FileError> {
    let folder = target.parent().filter(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| FileError::NoFolder(parent(target)))?;
    let failed = |error| FileError::Write { path: target.into(), error };
    let real = folder.canonicalize().map_err(failed)?;
    let is_above = |root: &PathBuf| {
        target.starts_with(root) || root.canonicalize().is_ok_and(|root| real.starts_with(root))
    };
    if claude.iter().any(is_above) {
        return Err(FileError::InClaude(target.into()));
    }
    let meta = match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        meta => meta.map_err(failed)?,
    };
    if meta.is_symlink() {
        return Err(FileError::Link(target.into()));
    }
    if !meta.is_file() {
        return Err(FileError::NotAFile(target.into()));
    }
    let bytes = fs::read(target).map_err(failed)?;
    Ok(Some(There { bytes, permissions: meta.permissions() }))
}

fn parent(target: &Path) -> PathBuf {
    target.parent().map(Path::to_path_buf).unwrap_or_default()
}

fn show(run: &mut Run, plan: &Plan) {
    let new = &plan.state.bytes;
    let now = match &plan.there {
        None => "no file".into(),
        Some(there) if there.bytes == *new => "the same content".into(),
        Some(there) => {
            let lines = line_changes(&there.bytes, new).map(|(added, removed)| {
                let (removed, added) = (counted(removed, "line"), counted(added, "line"));
                format!("; writing removes {removed} and adds {added}")
            });
            format!("{}{}", size(there.bytes.len() as u64), lines.unwrap_or_default())
        }
    };
    let from = plan.state.origin.words(run, &plan.state.session);
    let rows = [
        ("write to", plan.target.display().to_string()),
        ("there now", now),
        ("content", format!("{}, {from}", size(new.len() as u64))),
    ];
    for (name, text) in rows {
        let line = format!("{} {}", paint(style::HEAD, &format!("{name:>9}")), safe::line(&text));
        run.talk.now(&line);
    }
}

/// Whether the person agrees.
fn ask() -> Result<bool, FileError> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(FileError::NeedsYes);
    }
    let mut stderr = io::stderr();
    // Nobody can be told that asking failed, and without an answer nothing is done.
    let _ = write!(stderr, "Write it? [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn write(plan: &Plan) -> Result<(), FileError> {
    let target = &plan.target;
    let failed = |error| FileError::Write { path: target.clone(), error };
    let mut file = beside(target).map_err(failed)?;
    file.write_all(&plan.state.bytes).map_err(failed)?;
    if let Some(there) = &plan.there {
        file.as_file().set_permissions(there.permissions.clone()).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    match &plan.there {
        // Fails if a file has come into being meanwhile.
        None => file.persist_noclobber(target).map_err(|error| failed(error.error))?,
        Some(there) => {
            let is_file = fs::symlink_metadata(target).is_ok_and(|meta| meta.is_file());
            if !is_file || fs::read(target).map_err(failed)? != there.bytes {
                return Err(FileError::Changed(target.clone()));
            }
            file.persist(target).map_err(|error| failed(error.error))?
        }
    };
    match fs::read(target).map_err(failed)? == plan.state.bytes {
        true => Ok(()),
        false => Err(FileError::Differs(target.clone())),
    }
}

/// A new file in the folder of `target`, with the permissions that new files get.
fn beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".recount-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(0o666));
    }
    builder.tempfile_in(parent(target))
}

fn report(run: &mut Run, plan: &Plan, outcome: &'static str) -> io::Result<()> {
    let State { path, session, bytes, origin } = &plan.state;
    if run.json {
        return run.out.json(&FileRestored {
            path,
            session_id: session.as_str(),
            entry: origin.entry(),
            version: origin.version(),
            size: bytes.len(),
            outcome,
        });
    }
    let place = safe::line(&plan.target.display().to_string());
    let bytes = size(bytes.len() as u64);
    run.out.line(&match outcome {
        "same" => format!("{place} is already so; nothing was written"),
        "replaced" => format!("Replaced {place}: {bytes} written and read back"),
        _ => format!("Created {place}: {bytes} written and read back"),
    })
}

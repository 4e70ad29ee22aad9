//! `recount learn`: what sessions teach, kept in a backlog, written where it belongs, and whether
//! it helped.

mod effect;
mod mine;
mod scan;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use report::learn::backlog::{self, Backlog, Learning};

use crate::args::Scope;
use crate::error::{Answer, CliError, LearnError};
use crate::run::Run;
use crate::terminal::format::count;
use crate::terminal::style::{self, paint};
use crate::terminal::{diff, safe};
use crate::wire;

/// What sessions teach: errors and what helped, corrections, commands that fail at first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The backlog is LEARNINGS.md in this folder: read it, correct it, keep it in git. Nothing gets into
a CLAUDE.md unless you apply it.

Examples:
  recount learn scan                      look through all sessions
  recount learn list                      what was found
  recount learn review                    each with its sources and what it would change
  recount learn apply 3f2a91c0            write it into its CLAUDE.md
  recount learn reject 9b1c04ee           not this one
  recount learn effect                    did the error become rarer?")]
pub struct LearnArgs {
    #[command(subcommand)]
    command: LearnCommand,

    /// The backlog [default: LEARNINGS.md in this folder]
    #[arg(long, global = true, value_name = "FILE")]
    backlog: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum LearnCommand {
    Scan(ScanArgs),
    List(ListArgs),
    Review(ReviewArgs),
    Apply(ApplyArgs),
    Reject(RejectArgs),
    Status(StatusArgs),
    Effect(EffectArgs),
}

/// Look through all sessions and add what is found to the backlog.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Errors that came at least three times and were helped, corrections that a person made in at least
two sessions, commands whose first try fails in every session. The same sessions always give the
same. With --with each new one is handed to a command of yours as JSON, and what that prints
becomes its solution; with --segments each part of a session that the command has not seen is
handed to it, and what it prints is added. Nothing is handed to the same command twice, and nothing
with secrets in it.

Examples:
  recount learn scan
  recount learn scan --project . --since 30d
  recount learn scan --with 'claude -p \"Put this into one rule\"'
  recount learn scan --segments --limit 5 --with ./mine.sh")]
struct ScanArgs {
    #[command(flatten)]
    scope: Scope,

    /// A command that is given each candidate
    #[arg(long, value_name = "COMMAND")]
    with: Option<String>,

    /// Give the command unread parts of sessions, not candidates
    #[arg(long, requires = "with")]
    segments: bool,

    /// Run the command at most so often
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// The learnings of the backlog.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount learn list                    all
  recount learn list --state open       those that nobody has decided on
  recount learn list --json             for scripts")]
struct ListArgs {
    /// Only open, applied or rejected ones
    #[arg(long, value_name = "STATUS")]
    state: Option<String>,
}

/// Open learnings at length: problem, solution, sources, and what they would change.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount learn review              all that are open
  recount learn review 3f2a91c0     this one")]
struct ReviewArgs {
    /// Only these
    id: Vec<String>,
}

/// Write learnings into the CLAUDE.md where they belong, under one heading.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount learn apply 3f2a91c0 --dry-run    what would change
  recount learn apply 3f2a91c0              write it; once more changes nothing")]
struct ApplyArgs {
    /// Which ones
    #[arg(required = true)]
    id: Vec<String>,

    /// Show what would change
    #[arg(long)]
    dry_run: bool,
}

/// Decide against learnings: they stay in the backlog and are not found again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount learn reject 3f2a91c0 9b1c04ee")]
struct RejectArgs {
    /// Which ones
    #[arg(required = true)]
    id: Vec<String>,
}

/// How many learnings are open, applied and rejected.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount learn status")]
struct StatusArgs {}

/// Whether errors became rarer after their learnings were applied.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares how many calls of the tool failed like that before and since. Where too few would have
been expected, that is said.

Examples:
  recount learn effect
  recount learn effect --json")]
struct EffectArgs {}

/// Does what was asked.
pub fn run(args: &LearnArgs, run: &mut Run) -> Result<Answer, CliError> {
    let path = match &args.backlog {
        Some(path) => path.clone(),
        None => run.recount.current_folder()?.join("LEARNINGS.md"),
    };
    let mut file = BacklogFile::read(path)?;
    match &args.command {
        LearnCommand::Scan(args) => scan::run(args, &mut file, run),
        LearnCommand::List(args) => list(args, &file.backlog, run),
        LearnCommand::Review(args) => review(args, &mut file.backlog, run),
        LearnCommand::Apply(args) => apply(args, &mut file, run),
        LearnCommand::Reject(args) => reject(args, &mut file, run),
        LearnCommand::Status(_) => status(&file.backlog, run),
        LearnCommand::Effect(_) => effect::run(&file.backlog, run),
    }
}

/// The backlog and the file it is in.
struct BacklogFile {
    path: PathBuf,
    before: String,
    backlog: Backlog,
}

impl BacklogFile {
    fn read(path: PathBuf) -> Result<Self, CliError> {
        let before = text_of(&path)?;
        let backlog = Backlog::read(&before);
        Ok(Self { path, before, backlog })
    }

    fn write(&self) -> Result<(), CliError> {
        let text = self.backlog.text();
        if text == self.before {
            return Ok(());
        }
        write(&self.path, &text)
    }
}

/// The text of a file; of one that does not exist, nothing.
fn text_of(path: &Path) -> Result<String, CliError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(LearnError::Io(path.into(), error).into()),
    }
}

/// Writes a file at once or not at all.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let real = path.canonicalize().unwrap_or_else(|_| path.into());
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        if let Ok(meta) = fs::metadata(&real) {
            fs::set_permissions(file.path(), meta.permissions())?;
        } else {
            readable(file.path())?;
        }
        file.persist(&real).map(drop).map_err(|error| error.error)
    };
    write().map_err(|error| LearnError::Io(path.into(), error).into())
}

/// A file that is kept in git is for everybody.
fn readable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn list(args: &ListArgs, backlog: &Backlog, run: &mut Run) -> Result<Answer, CliError> {
    let is_wanted =
        |one: &&Learning| args.state.as_deref().is_none_or(|state| one.status() == state);
    let all: Vec<&Learning> = backlog.learnings.iter().filter(is_wanted).collect();
    for one in &all {
        show_line(one, run)?;
    }
    Ok(Answer::of(&all))
}

fn show_line(one: &Learning, run: &mut Run) -> Result<(), CliError> {
    if run.json {
        return Ok(run.out.json(&wire::learn::LearningLine::from(one))?);
    }
    let id = paint(style::NAME, &one.id);
    let confidence = one.get("confidence").unwrap_or("-");
    let status = format!("{:<8}", one.status());
    let about = [confidence, one.get("seen").unwrap_or("")].map(safe::line).join("  ");
    let (status, title) = (safe::line(&status), safe::line(&one.title));
    Ok(run.out.line(&format!("{id}  {status:<8}  {}  {title}", paint(style::DIM, &about)))?)
}

fn review(args: &ReviewArgs, backlog: &mut Backlog, run: &mut Run) -> Result<Answer, CliError> {
    let mut all = Vec::new();
    for id in &args.id {
        all.push(backlog.find(id).ok_or_else(|| LearnError::Unknown(id.clone()))?.clone());
    }
    if args.id.is_empty() {
        all.extend(backlog.learnings.iter().filter(|one| one.status() == "open").cloned());
    }
    for (number, one) in all.iter().enumerate() {
        if number > 0 && !run.json {
            run.out.line("")?;
        }
        show_line(one, run)?;
        if run.json {
            continue;
        }
        for name in ["problem", "solution", "target", "sources"] {
            let value = one.get(name).unwrap_or("-");
            run.out.line(&format!("  {}: {}", paint(style::DIM, name), safe::line(value)))?;
        }
        if let Some(target) = one.get("target") {
            let before = text_of(Path::new(target))?;
            for line in diff::lines(&before, &backlog::apply(&before, one)) {
                run.out.line(&format!("    {line}"))?;
            }
        }
    }
    Ok(Answer::of(&all))
}

fn apply(args: &ApplyArgs, file: &mut BacklogFile, run: &mut Run) -> Result<Answer, CliError> {
    let now = wire::time(Some(run.recount.clock.time())).unwrap_or_default();
    for id in &args.id {
        let one = file.backlog.find(id).ok_or_else(|| LearnError::Unknown(id.clone()))?;
        let target = one.get("target").ok_or_else(|| LearnError::NoTarget(one.id.clone()))?;
        let target = PathBuf::from(target);
        let before = text_of(&target)?;
        let after = backlog::apply(&before, one);
        let path = safe::line(&target.display().to_string());
        if before == after {
            run.talk.note(format!("{path} has it already"));
        } else {
            run.out.line(&paint(style::NAME, &path))?;
            for line in diff::lines(&before, &after) {
                run.out.line(&line)?;
            }
        }
        if args.dry_run {
            continue;
        }
        if before != after {
            write(&target, &after)?;
        }
        if one.status() != "applied" {
            one.set("status", "applied");
            one.set("applied", &now);
        }
    }
    if args.dry_run {
        run.talk.note("Nothing was written: without `--dry-run` it is".into());
        return Ok(Answer::Found);
    }
    file.write()?;
    Ok(Answer::Found)
}

fn reject(args: &RejectArgs, file: &mut BacklogFile, run: &mut Run) -> Result<Answer, CliError> {
    for id in &args.id {
        let one = file.backlog.find(id).ok_or_else(|| LearnError::Unknown(id.clone()))?;
        one.set("status", "rejected");
        show_line(one, run)?;
    }
    file.write()?;
    Ok(Answer::Found)
}

fn status(backlog: &Backlog, run: &mut Run) -> Result<Answer, CliError> {
    let of = |status: &str| backlog.learnings.iter().filter(|one| one.status() == status).count();
    let words = ["open", "applied", "rejected"]
        .map(|status| format!("{} {status}", count(of(status) as u64)));
    if run.json {
        for one in &backlog.learnings {
            run.out.json(&wire::learn::LearningLine::from(one))?;
        }
    } else {
        run.out.line(&words.join(", "))?;
    }
    Ok(Answer::of(&backlog.learnings))
}

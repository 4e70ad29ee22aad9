//! `recount install` and `recount uninstall`: this program in Claude Code's settings.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Answer, CliError, InstallError};
use crate::install::edit::NoJson;
use crate::install::{self, Added, Change, Parts};
use crate::run::Run;
use crate::terminal::style::{self, paint};
use crate::terminal::{diff, safe};
use crate::wire::install::InstalledFile;

/// Add the server, the hooks and the status line to Claude Code's settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows what changes, and keeps the file as it was beside it. Everything else in the file stays as it
is: other hooks, the order, the comments. Once more changes nothing.

Examples:
  recount install claude --dry-run             what would be changed
  recount install claude                       everything, for all projects
  recount install claude --project --mcp       only the server, for this folder
  recount install claude --hooks --statusline  these two, for all projects")]
pub struct InstallArgs {
    #[command(flatten)]
    choice: Choice,
}

/// Take everything of this program out of Claude Code's settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only entries that call recount are taken out.

Examples:
  recount uninstall claude --dry-run    what would be changed
  recount uninstall claude              everything, for all projects
  recount uninstall claude --hooks      only the hooks")]
pub struct UninstallArgs {
    #[command(flatten)]
    choice: Choice,
}

/// What is meant, and where.
#[derive(Debug, clap::Args)]
struct Choice {
    /// Where: there is only claude
    #[arg(value_enum)]
    into: Into,

    /// For all projects of this person; the default
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// For this folder only
    #[arg(long)]
    project: bool,

    /// The MCP server; without any of the three, all of them
    #[arg(long)]
    mcp: bool,

    /// The hooks
    #[arg(long)]
    hooks: bool,

    /// The status line
    #[arg(long)]
    statusline: bool,

    /// Show what would be changed
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Into {
    /// Claude Code.
    Claude,
}

impl Choice {
    fn parts(&self) -> Parts {
        let Self { mcp, hooks, statusline, .. } = *self;
        let all = !(mcp || hooks || statusline);
        Parts { mcp: mcp || all, hooks: hooks || all, statusline: statusline || all }
    }
}

/// Adds what was chosen.
pub fn run(args: &InstallArgs, run: &mut Run) -> Result<Answer, CliError> {
    let parts = args.choice.parts();
    let failed = |error| InstallError::Io("recount".into(), error);
    let this = std::env::current_exe().map_err(failed)?;
    let program = install::program(std::env::var_os("PATH").as_deref(), &this);
    change(&args.choice, run, &|text| install::add_to_settings(text, parts, &program), &|text| {
        install::add_server(text, &program)
    })
}

/// Takes what was chosen out.
pub fn undo(args: &UninstallArgs, run: &mut Run) -> Result<Answer, CliError> {
    let parts = args.choice.parts();
    change(
        &args.choice,
        run,
        &|text| install::remove_from_settings(text, parts),
        &install::remove_server,
    )
}

type Edit<'a> = &'a dyn Fn(&str) -> Result<Added, NoJson>;

fn change(
    choice: &Choice,
    run: &mut Run,
    settings: Edit<'_>,
    servers: Edit<'_>,
) -> Result<Answer, CliError> {
    let parts = choice.parts();
    let (settings_file, servers_file) = match choice.project {
        true => {
            let here = run.here()?;
            (here.join(".claude/settings.json"), here.join(".mcp.json"))
        }
        false => run.settings()?,
    };
    let mut changes = Vec::new();
    if parts.hooks || parts.statusline {
        changes.push(plan(settings_file, settings)?);
    }
    if parts.mcp {
        changes.push(plan(servers_file, servers)?);
    }
    let mut is_any = false;
    for change in &changes {
        let backup = match change.is_any() && !choice.dry_run {
            true => write(change, run)?,
            false => None,
        };
        is_any |= change.is_any();
        show(change, choice.dry_run, backup.as_deref(), run)?;
        for note in &change.notes {
            run.talk.note(format!("{}: {note}", change.path.display()));
        }
    }
    if !is_any {
        run.talk.note("Nothing to change".into());
    } else if choice.dry_run {
        run.talk.note("Nothing was written: without `--dry-run` it is".into());
    } else {
        run.talk.note("Sessions that run already see it when they are started again".into());
    }
    Ok(Answer::Found)
}

fn plan(path: PathBuf, edit: Edit<'_>) -> Result<Change, CliError> {
    let before = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(InstallError::Io(path, error).into()),
    };
    let text = before.as_deref().unwrap_or_default();
    let added = edit(text).map_err(|NoJson { line }| InstallError::NoJson(path.clone(), line))?;
    // An empty object is not worth a file.
    let is_nothing = before.is_none() && added.text.trim() == "{}";
    let after = if is_nothing { String::new() } else { added.text };
    Ok(Change { path, before, after, notes: added.notes })
}

/// Writes a file, at once or not at all, and keeps what it was; gives the name of that.
fn write(change: &Change, run: &Run) -> Result<Option<PathBuf>, CliError> {
    let failed = |error| CliError::from(InstallError::Io(change.path.clone(), error));
    // A link stays a link: many people keep their settings elsewhere.
    let path = change.path.canonicalize().unwrap_or_else(|_| change.path.clone());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let backup = match &change.before {
        None => None,
        Some(_) => {
            let time = run.clock.now.strftime("%Y%m%d-%H%M%S");
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let backup = path.with_file_name(format!("{name}.{time}.bak"));
            fs::copy(&path, &backup).map_err(failed)?;
            Some(backup)
        }
    };
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(change.after.as_bytes())?;
        if let Ok(meta) = fs::metadata(&path) {
            fs::set_permissions(file.path(), meta.permissions())?;
        }
        file.persist(&path).map_err(|error| error.error)
    };
    write().map_err(failed)?;
    Ok(backup)
}

fn show(
    change: &Change,
    is_plan: bool,
    backup: Option<&Path>,
    run: &mut Run,
) -> Result<(), CliError> {
    let before = change.before.as_deref().unwrap_or_default();
    let outcome = match (change.is_any(), is_plan, change.before.is_some()) {
        (false, _, _) => "same",
        (true, true, _) => "planned",
        (true, false, true) => "changed",
        (true, false, false) => "created",
    };
    if run.json {
        return Ok(run.out.json(&InstalledFile {
            path: change.path.display().to_string(),
            outcome,
            backup: backup.map(|path| path.display().to_string()),
            diff: diff::unified(before, &change.after),
        })?);
    }
    let path = safe::line(&change.path.display().to_string());
    run.out.line(&format!("{}: {outcome}", paint(style::NAME, &path)))?;
    for line in diff::lines(before, &change.after) {
        run.out.line(&line)?;
    }
    if let Some(backup) = backup {
        run.talk.note(format!("As it was: {}", backup.display()));
    }
    Ok(())
}

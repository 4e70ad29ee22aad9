//! `recount install` and `recount uninstall`: this program in Claude Code's settings.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use store::folder::{Store, create_private};
use transcript::path::backup_hash;

use crate::error::{Answer, CliError, InstallError};
use crate::install::edit::NoJson;
use crate::install::{self, Added, Change, Parts, ServerEntry};
use crate::run::Run;
use crate::terminal::style::{self, paint};
use crate::terminal::{diff, safe};
use crate::wire::install::InstalledFile;

/// Add the server, the hooks and the status line to Claude Code's settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows what changes, and keeps a copy of the file as it was in the store. Everything else in the file
stays as it is: other hooks, the order, the comments. A second run changes nothing.

The server's tools are loaded at the start of each session (`alwaysLoad`, about 5,000 characters), so
that the model can ask at once. With `--no-always-load` it sees only their names and has to look for
a tool first.

Examples:
  recount install claude --dry-run             what would be changed
  recount install claude                       everything, for all projects
  recount install claude --project --mcp       only the server, for this folder
  recount install claude --hooks --statusline  these two, for all projects")]
pub struct InstallArgs {
    #[command(flatten)]
    choice: Choice,

    /// Let the client load the server's tools on demand
    #[arg(long)]
    no_always_load: bool,
}

/// Take everything of this program out of Claude Code's settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only entries that call recount are taken out. A file that `install` created is removed if nothing
else is in it by now.

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
    let program = &install::program(std::env::var_os("PATH").as_deref(), &this);
    let entry = ServerEntry { program, is_always_loaded: !args.no_always_load };
    change(&args.choice, run, &|text| install::add_to_settings(text, parts, program), &|text| {
        install::add_server(text, entry)
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
            let here = run.recount.current_folder()?;
            (here.join(".claude/settings.json"), here.join(".mcp.json"))
        }
        false => run.recount.settings_files()?,
    };
    let backups = Backups::new(run.recount.store()?);
    let mut changes = Vec::new();
    if parts.hooks || parts.statusline {
        changes.push(plan(settings_file, settings, &backups)?);
    }
    if parts.mcp {
        changes.push(plan(servers_file, servers, &backups)?);
    }
    let mut is_any = false;
    for change in &changes {
        let backup = match change.is_any() && !choice.dry_run {
            true => write(change, &backups, run)?,
            false => None,
        };
        if change.is_removal() && choice.project && !choice.dry_run {
            // The folder `.claude` may have been made for this file. Another file in it keeps it.
            let _ = change.path.parent().map(fs::remove_dir);
        }
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

fn plan(path: PathBuf, edit: Edit<'_>, backups: &Backups) -> Result<Change, CliError> {
    let before = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(InstallError::Io(path, error).into()),
    };
    let text = before.as_deref().unwrap_or_default();
    let added = edit(text).map_err(|NoJson { line }| InstallError::NoJson(path.clone(), line))?;
    let after = match () {
        () if !is_empty(&added.text) => Some(added.text),
        () if is_empty(text) => before.clone(),
        // An empty object is not worth a file, unless a person had it there.
        () => backups.empty(&path),
    };
    Ok(Change { path, before, after, notes: added.notes })
}

fn is_empty(text: &str) -> bool {
    matches!(&*text.split_whitespace().collect::<String>(), "" | "{}")
}

/// Writes a file, at once or not at all, and keeps what it was; gives the name of that.
fn write(change: &Change, backups: &Backups, run: &Run) -> Result<Option<PathBuf>, CliError> {
    let failed = |error| CliError::from(InstallError::Io(change.path.clone(), error));
    // A link stays a link: many people keep their settings elsewhere.
    let path = change.path.canonicalize().unwrap_or_else(|_| change.path.clone());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let backup = match &change.before {
        None => None,
        Some(before) => Some(backups.keep(&change.path, before, run).map_err(failed)?),
    };
    let Some(after) = &change.after else {
        fs::remove_file(&change.path).map_err(failed)?;
        return Ok(backup);
    };
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(after.as_bytes())?;
        if let Ok(meta) = fs::metadata(&path) {
            fs::set_permissions(file.path(), meta.permissions())?;
        }
        file.persist(&path).map_err(|error| error.error)
    };
    write().map_err(failed)?;
    Ok(backup)
}

/// Copies of settings as they were, in the store: Claude's folders have no trace of them. The
/// folder of a file is named by the hash of its path.
struct Backups(PathBuf);

impl Backups {
    fn new(store: Store) -> Self {
        Self(store.folder().join("settings"))
    }

    fn folder(&self, path: &Path) -> PathBuf {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        self.0.join(backup_hash(&path.to_string_lossy()))
    }

    /// Keeps a text under a name that no other copy has.
    fn keep(&self, path: &Path, text: &str, run: &Run) -> io::Result<PathBuf> {
        let folder = self.folder(path);
        create_private(&folder)?;
        let time = run.recount.clock.now.strftime("%Y%m%d-%H%M%S").to_string();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let names = (0..).map(|number| match number {
            0 => format!("{name}.{time}.bak"),
            number => format!("{name}.{time}.{number}.bak"),
        });
        for name in names {
            let backup = folder.join(name);
            match fs::File::create_new(&backup) {
                Ok(mut file) => {
                    file.write_all(text.as_bytes())?;
                    return Ok(backup);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("some number is free")
    }

    /// The file as it was, if it was there and had nothing in it before `install` added to it.
    fn empty(&self, path: &Path) -> Option<String> {
        let copies = fs::read_dir(self.folder(path)).into_iter().flatten().flatten();
        copies.filter_map(|copy| fs::read_to_string(copy.path()).ok()).find(|text| is_empty(text))
    }
}

fn show(
    change: &Change,
    is_plan: bool,
    backup: Option<&Path>,
    run: &mut Run,
) -> Result<(), CliError> {
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let outcome = match (change.is_any(), is_plan, change.before.is_some()) {
        (false, _, _) => "same",
        (true, true, _) => "planned",
        (true, false, _) if change.is_removal() => "removed",
        (true, false, true) => "changed",
        (true, false, false) => "created",
    };
    if run.json {
        return Ok(run.out.json(&InstalledFile {
            path: change.path.display().to_string(),
            outcome,
            backup: backup.map(|path| path.display().to_string()),
            diff: diff::unified(before, after),
        })?);
    }
    let path = safe::line(&change.path.display().to_string());
    run.out.line(&format!("{}: {outcome}", paint(style::NAME, &path)))?;
    for line in diff::lines(before, after) {
        run.out.line(&line)?;
    }
    if let Some(backup) = backup {
        run.talk.note(format!("As it was: {}", backup.display()));
    }
    Ok(())
}

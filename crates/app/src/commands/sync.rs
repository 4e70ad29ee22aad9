//! `recount sync`: everything into the store.

use std::sync::Mutex;

use store::folder::Store;
use store::meaning::{self, Model};
use store::sync::{self, Home, Options, Preview, Report, SyncError, Watch};
use transcript::layout;
use transcript::time::Time;

use crate::error::{Answer, CliError, StoreError};
use crate::memory;
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::progress::Progress;
use crate::wire;

/// Keep everything that Claude Code has written, also what it will delete.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only what has changed since the last time is read. What is in the store stays there
when Claude Code deletes it.

Examples:
  recount sync              keep what is new
  recount sync --dry-run    what would be read
  recount sync --full       compare every byte with what is kept
  recount sync --semantic   and read it with the model, see `recount model install`
  recount sync --debug-logs skip   never keep debug logs, from now on")]
pub struct SyncArgs {
    /// Compare every file with what is kept, whatever its time and size say
    #[arg(long)]
    full: bool,

    /// Show what would be done
    #[arg(long)]
    dry_run: bool,

    /// Whether to keep debug logs, from now on and in every sync. Those that are kept stay
    #[arg(long, value_name = "CHOICE")]
    debug_logs: Option<DebugLogs>,

    /// Read what was said with the model, too, so that it is found in other words
    #[arg(long, conflicts_with = "dry_run")]
    semantic: bool,
}

/// What to do with debug logs, which can be larger than all the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DebugLogs {
    /// Keep them too.
    Keep,
    /// Leave them out.
    Skip,
}

/// Brings the store up to date.
pub fn run(args: &SyncArgs, run: &mut Run) -> Result<Answer, CliError> {
    let store = run.store()?;
    let options = Options { full: args.full, ..Options::new(now(run)) };
    if let Some(choice) = args.debug_logs {
        let set = store.set_debug_logs(choice == DebugLogs::Keep);
        set.map_err(|source| SyncError::Folder { path: store.folder().into(), source })?;
    }
    if args.dry_run {
        let preview = sync::preview(&store, &homes(run)?, options)?;
        return show_preview(run, &preview);
    }
    let report = bring(run, &store, options)??;
    let answer = show(run, &report)?;
    if args.semantic {
        read_meanings(run, &store)?;
    }
    Ok(answer)
}

/// Makes the vectors that are missing; what is done stays if it is stopped.
fn read_meanings(run: &mut Run, store: &Store) -> Result<(), CliError> {
    let model = Model::open_whole(store.folder()).ok_or(StoreError::NoModel)?;
    let bar = Bar { quiet: run.is_quiet(), progress: Mutex::new(None) };
    let done = meaning::update(store, &model, &bar)?;
    drop(bar);
    let (vectors, files) = (count(done.vectors), counted(done.files as usize, "transcript"));
    run.talk.note(format!("{vectors} vectors made, of {files}"));
    Ok(())
}

/// Brings the store up to date; what could not be read is said.
pub fn bring(
    run: &mut Run,
    store: &Store,
    options: Options,
) -> Result<Result<Report, SyncError>, CliError> {
    let roots = run.real_roots()?;
    if let Some(report) = sync::still(store, &roots, options) {
        return Ok(Ok(report));
    }
    bring_changed(run, store, options)
}

/// As [`bring`], where something has changed.
pub fn bring_changed(
    run: &mut Run,
    store: &Store,
    options: Options,
) -> Result<Result<Report, SyncError>, CliError> {
    let homes = homes(run)?;
    let bar = Bar { quiet: run.is_quiet(), progress: Mutex::new(None) };
    let done = sync::sync(store, &homes, options, &bar);
    drop(bar);
    Ok(done.map(|(report, problems)| {
        problems.into_iter().for_each(|problem| run.talk.skip(problem));
        report
    }))
}

/// The Claude folders by their real paths, with all their files.
pub fn homes(run: &mut Run) -> Result<Vec<Home>, CliError> {
    let mut homes = Vec::new();
    for root in run.real_roots()? {
        let look = layout::look(&root);
        look.problems.iter().for_each(|problem| run.talk.skip(problem.again()));
        homes.push(Home { root, look });
    }
    Ok(homes)
}

/// The time as the store has it.
pub fn now(run: &Run) -> Time {
    Time(run.clock.now.timestamp().as_millisecond())
}

/// The bar of what is being read; a new one for each part of the work.
pub struct Bar {
    /// Whether to show none.
    pub quiet: bool,
    /// The one that is shown.
    pub progress: Mutex<Option<Progress>>,
}

impl Watch for Bar {
    fn begin(&self, files: usize, bytes: u64) {
        memory::give_back();
        if let Ok(mut progress) = self.progress.lock() {
            *progress = Some(Progress::new(self.quiet, files, bytes));
        }
    }

    fn step(&self, files: usize, bytes: u64) {
        if let Ok(progress) = self.progress.lock()
            && let Some(progress) = &*progress
        {
            progress.advance(files, bytes);
        }
    }
}

fn show_preview(run: &mut Run, preview: &Preview) -> Result<Answer, CliError> {
    for (what, path, bytes) in &preview.changed {
        match run.json {
            true => run.out.json(&wire::sync::Planned::new(what, path, *bytes))?,
            false => run.out.line(&format!(
                "{what:8} {:>9}  {}",
                size(*bytes),
                crate::terminal::safe::line(&path.display().to_string())
            ))?,
        }
    }
    let bytes: u64 = preview.changed.iter().map(|(_, _, bytes)| bytes).sum();
    let files = counted(preview.changed.len(), "file");
    run.talk.note(format!(
        "{files} of {} to look at, {}",
        count(preview.files as u64),
        size(bytes)
    ));
    Ok(Answer::Found)
}

fn show(run: &mut Run, report: &Report) -> Result<Answer, CliError> {
    if run.json {
        run.out.json(&wire::sync::Sync::from(report))?;
        return Ok(Answer::Found);
    }
    let parts = [
        (report.new, "new"),
        (report.grown, "grown"),
        (report.rewritten, "rewritten"),
        (report.moved, "moved"),
        (report.gone, "gone"),
    ];
    let changed: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{} {word}", count(*number as u64)))
        .collect();
    let changed = match changed.is_empty() {
        true => "nothing changed".into(),
        false => format!("{}; {} kept", changed.join(", "), size(report.bytes_kept)),
    };
    run.out.line(&format!("{}: {changed}", counted(report.files, "file")))?;
    Ok(Answer::Found)
}

//! `recount sync`: everything into the store.

use ask::progress::Work;
use store::folder::Store;
use store::meaning::{self, Model};
use store::sync::{self, Options, Preview, Report, SyncError};

use crate::error::{Answer, CliError, StoreError};
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
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
    let store = run.recount.store()?;
    let options = Options { full: args.full, ..Options::new(run.recount.clock.time()) };
    if let Some(choice) = args.debug_logs {
        let set = store.set_debug_logs(choice == DebugLogs::Keep);
        set.map_err(|source| SyncError::Folder { path: store.folder().into(), source })?;
    }
    if args.dry_run {
        let preview = sync::preview(&store, &run.recount.sync_homes()?, options)?;
        return show_preview(run, &preview);
    }
    let report = run.recount.sync_store(&store, options)??;
    let answer = show(run, &report)?;
    if args.semantic {
        read_meanings(run, &store)?;
    }
    Ok(answer)
}

/// Makes the vectors that are missing; what is done stays if it is stopped.
fn read_meanings(run: &mut Run, store: &Store) -> Result<(), CliError> {
    let model = Model::open_whole(store.folder()).ok_or(StoreError::NoModel)?;
    let done = meaning::update(store, &model, &Work::new(&*run.recount.progress()))?;
    let (vectors, files) = (count(done.vectors), counted(done.files as usize, "transcript"));
    run.talk.note(format!("{vectors} vectors made, of {files}"));
    Ok(())
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

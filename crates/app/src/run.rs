//! What every command is given: the history it asks, and where it prints.

use std::io;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Instant;

use ask::home::{Environment, HomeError};
use ask::{Freshness, Locations, Recount};
use report::format::Clock;
use store::folder::Store;
use tempfile::TempDir;
use transcript::id::SessionId;
use transcript::layout::{Found, Problem};

use crate::args::{Color, Global};
use crate::config::Config;
use crate::demo;
use crate::environment;
use crate::error::{Answer, CliError, Talk};
use crate::terminal::format::{counted, size};
use crate::terminal::output::Output;
use crate::terminal::progress::{Progress, TerminalProgress};
use crate::wire::freshness::FreshnessLine;

/// One run of the program.
pub struct Run {
    /// The history that is asked about.
    pub recount: Recount,
    /// Where data goes.
    pub out: Output,
    /// Where messages go.
    pub talk: Talk,
    /// Whether to print JSON lines.
    pub json: bool,
    /// Whether JSON lines have a `type`; rows of SQL do not.
    pub json_has_types: bool,
    /// Whether to remove secrets from answers.
    pub redact: bool,
    /// The settings, with where each comes from.
    pub config: Config,
    quiet: bool,
    verbose: bool,
    /// When the run began, if timings are wanted.
    timed_since: Option<Instant>,
}

/// The unpacked sample home and its store, removed when dropped.
pub struct Sample {
    home: TempDir,
    store: TempDir,
}

/// Where flags and environment say that everything is. With `--demo` a built-in sample is
/// unpacked.
pub fn locate(
    global: &Global,
    environment: Environment,
) -> Result<(Locations, Option<Sample>), CliError> {
    let named = Locations {
        claude_dir: global.claude_dir.clone(),
        store: global.store.clone(),
        environment,
        current_dir: std::env::current_dir().ok(),
        is_sample: global.demo,
    };
    if !global.demo {
        return Ok((named, None));
    }
    if !global.claude_dir.is_empty() {
        return Err(HomeError::DemoToo.into());
    }
    let home = demo::unpack().map_err(CliError::Demo)?;
    let store = tempfile::tempdir().map_err(CliError::Demo)?;
    let sample = Sample { home, store };
    let locations = Locations {
        claude_dir: vec![sample.home.path().into()],
        store: Some(named.store.clone().unwrap_or_else(|| sample.store.path().into())),
        ..named
    };
    Ok((locations, Some(sample)))
}

impl Run {
    /// A run with these flags.
    pub fn new(global: &Global, locations: Locations, clock: Clock) -> Self {
        let color = global.color();
        let progress = TerminalProgress::new(global);
        Self {
            recount: Recount::new(locations, clock)
                .with_progress(Arc::new(progress))
                .with_origin(environment::origin),
            out: Output::new(color, !global.no_pager, global.redact),
            talk: Talk::new(color, global.quiet),
            json: global.json,
            json_has_types: true,
            redact: global.redact,
            config: Config::default(),
            quiet: global.quiet,
            verbose: global.verbose,
            timed_since: global.timings.then(Instant::now),
        }
    }

    /// A run whose answer is held, as JSON lines, instead of being printed.
    pub fn held(locations: Locations) -> Self {
        Self::held_with(Global { redact: false, ..held_flags() }, locations)
    }

    /// As [`Run::held`], without secrets.
    pub fn held_redacted(locations: Locations) -> Self {
        Self::held_with(held_flags(), locations)
    }

    fn held_with(global: Global, locations: Locations) -> Self {
        let clock = Clock { now: crate::clock::now() };
        let mut run = Self::new(&global, locations, clock);
        run.out = run.out.held();
        run
    }

    /// The session of the client that has started this process.
    pub fn parent_session(&self) -> Option<SessionId> {
        self.recount.parent_session(parent_process())
    }

    /// Starts a sync that goes on when this command has answered.
    pub fn start_sync(&self, store: &Store) -> Result<(), CliError> {
        let failed = |error| CliError::Read(Problem::new("recount", error));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.arg("--quiet").arg("--store").arg(store.folder());
        for root in self.recount.claude_roots()? {
            command.arg("--claude-dir").arg(root);
        }
        command.arg("sync").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The interrupt of the terminal is for the command that the person sees.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(drop).map_err(failed)
    }

    /// Whether only data and errors are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A bar for reading these files.
    pub fn progress(&self, files: &[&Found]) -> Progress {
        Progress::new(self.quiet, files.len(), files.iter().map(|found| found.size).sum())
    }

    /// Writes a last JSON line if the store was not up to date when it answered, and says whether
    /// that is so.
    pub fn write_freshness(&mut self) -> io::Result<bool> {
        let line = FreshnessLine::new(&self.recount.observed.freshness);
        if let Some(line) = line.as_ref().filter(|_| self.json && self.json_has_types) {
            self.out.json(line)?;
        }
        Ok(line.is_some())
    }

    /// Turns what happened while the question was answered into notes and warnings.
    pub fn note_observed(&mut self) {
        let observed = std::mem::take(&mut self.recount.observed);
        if let Some(error) = &observed.store_error {
            self.talk.note(format!("The store is left out: {error}"));
        }
        self.note_freshness(&observed.freshness);
        if let Some(error) = &observed.tables_error {
            self.talk.note(format!("The tables are not up to date: {error}"));
        }
        observed.skipped.into_iter().for_each(|problem| self.talk.skip(problem));
        if observed.damaged_places > 0 {
            let places = counted(observed.damaged_places, "damaged place");
            let files = counted(observed.damaged_files, "file");
            self.talk.note(format!("{places} in {files} left out; `recount doctor` shows where"));
        }
        if observed.archived_sessions > 0 {
            let sessions = counted(observed.archived_sessions, "session");
            let its = if observed.archived_sessions == 1 { "its" } else { "their" };
            self.talk.note(format!("{sessions} read from the store: {its} files are gone"));
        }
        if self.verbose {
            let read = counted(observed.files_read, "file");
            self.talk.tell("read", &format!("{read}, {}", size(observed.bytes_read)));
        }
        if let Some(begun) = self.timed_since.take() {
            for (what, took) in observed.steps.into_iter().chain([("all", begun.elapsed())]) {
                let ms = took.as_secs_f64() * 1000.0;
                self.talk.tell("time", &format!("{ms:.1} ms {what}"));
            }
        }
    }

    /// Says in what way the store is not up to date; a sync that takes long is started.
    fn note_freshness(&mut self, freshness: &Freshness) {
        match freshness {
            Freshness::Current => {}
            Freshness::Syncing => {
                let note = "Another recount process is indexing; the newest lines may be missing";
                self.talk.note(note.into());
            }
            Freshness::Behind { bytes, since } => {
                let (bytes, since) = (size(*bytes), self.recount.clock.near(*since));
                let started = self.recount.store().map_err(CliError::from);
                let then = match started.and_then(|store| self.start_sync(&store)) {
                    Ok(()) => "indexing them in the background",
                    Err(_) => "`recount sync` indexes them",
                };
                self.talk.note(format!("Results as of {since}: {bytes} are new; {then}"));
            }
            Freshness::Unwritable(error) => {
                self.talk.note(format!("New lines are not searched: {error}"));
            }
        }
    }

    /// Names the folders that were read, if that is wanted.
    fn tell_folders(&mut self) {
        if !self.verbose {
            return;
        }
        let roots = self.recount.claude_roots().unwrap_or_default();
        let store = self.recount.store().ok().map(|store| store.folder().to_path_buf());
        let file = self.config.path.clone().filter(|path| path.exists());
        let named = roots.into_iter().map(|root| ("Claude folder", root));
        let named = named.chain(store.map(|store| ("store", store)));
        for (what, path) in named.chain(file.map(|file| ("settings", file))) {
            self.talk.tell(what, &path.display().to_string());
        }
    }

    /// Ends the output, prints notes and warnings, and gives the exit code.
    pub fn finish(mut self, result: Result<Answer, CliError>) -> ExitCode {
        let result = result.and_then(|answer| {
            if !self.write_freshness()? {
                return Ok(answer);
            }
            if answer == Answer::Nothing {
                self.talk.note("Nothing found".into());
            }
            Ok(Answer::Stale)
        });
        // Also after an error: a pager that is open has to be left before anything is printed.
        let finished = self.out.finish();
        let result = result.and_then(|answer| Ok(finished.map(|()| answer)?));
        self.tell_folders();
        let replaced = self.out.replaced();
        if replaced > 0 {
            self.talk.note(format!("{} replaced", counted(replaced as usize, "secret")));
        }
        self.note_observed();
        self.talk.finish(result)
    }
}

/// The flags of a run whose answer is held.
fn held_flags() -> Global {
    Global {
        claude_dir: Vec::new(),
        store: None,
        demo: false,
        json: true,
        color: Some(Color::Never),
        no_pager: true,
        quiet: true,
        verbose: false,
        timings: false,
        redact: true,
    }
}

#[cfg(unix)]
fn parent_process() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent_process() -> Option<u32> {
    None
}

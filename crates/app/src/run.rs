//! What every command is given: the flags, the folders, the clock, the two outputs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use report::filter::{Period, ProjectFilter};
use store::folder::Store;
use store::query::Query;
use tempfile::TempDir;
use transcript::diagnostic::{Diagnostic, DiagnosticKind};
use transcript::id::SessionId;
use transcript::layout::{self, FileKind, Found, Problem};

use crate::args::{Color, Global};
use crate::config::Config;
use crate::demo;
use crate::error::{Answer, CliError, Talk};
use crate::home::{self, Environment, HomeError};
use crate::process::read_registry;
use crate::terminal::format::{Clock, counted, size};
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;
use crate::time_arg::TimeArg;

/// One run of the program.
pub struct Run {
    /// What time it is.
    pub clock: Clock,
    /// Where data goes.
    pub out: Output,
    /// Where talk goes.
    pub talk: Talk,
    /// Whether to print JSON lines.
    pub json: bool,
    /// Whether to take secrets out of what is answered.
    pub redact: bool,
    /// What is set, and by whom.
    pub config: Config,
    /// The running session on whose behalf is asked: it is not an earlier one.
    pub asking: Option<SessionId>,
    quiet: bool,
    verbose: bool,
    timings: Option<Timings>,
    demo: bool,
    claude_dir: Vec<PathBuf>,
    store_dir: Option<PathBuf>,
    environment: Environment,
    /// The unpacked sample, removed at the end.
    sample: Option<TempDir>,
    /// The store of the sample, removed at the end.
    sample_store: Option<TempDir>,
    damaged: Damaged,
    /// Transcripts that were read whole, and their bytes.
    pub read: (usize, u64),
    /// Sessions of which only the store has the files.
    kept_sessions: usize,
    /// Sessions whose transcripts were put aside, as far as transcripts have been listed.
    set_aside: HashSet<SessionId>,
}

/// How much of what was read was no record.
#[derive(Default)]
struct Damaged {
    places: usize,
    files: usize,
}

/// How long the steps of a run took.
struct Timings {
    begun: Instant,
    steps: Vec<(&'static str, Duration)>,
}

impl Timings {
    fn new() -> Self {
        Self { begun: Instant::now(), steps: Vec::new() }
    }
}

/// Which folders a run reads, for further runs that read the same.
#[derive(Debug, Clone)]
pub struct Folders {
    claude_dir: Vec<PathBuf>,
    store: Option<PathBuf>,
    environment: Environment,
}

impl Folders {
    /// A run of its own: what it answers is held, as JSON lines without secrets.
    pub fn run(&self) -> Run {
        let global = Global {
            claude_dir: self.claude_dir.clone(),
            store: self.store.clone(),
            demo: false,
            json: true,
            color: Some(Color::Never),
            no_pager: true,
            quiet: true,
            verbose: false,
            timings: false,
            redact: true,
        };
        let clock = Clock { now: crate::clock::now() };
        let mut run = Run::new(global, self.environment.clone(), clock);
        run.out = run.out.held();
        run
    }
}

/// A Claude folder and the files in it.
pub struct Home {
    /// The folder.
    pub root: PathBuf,
    /// Its files.
    pub files: Vec<Found>,
}

impl Run {
    /// A run with these flags.
    pub fn new(global: Global, environment: Environment, clock: Clock) -> Self {
        let color = global.color();
        Self {
            clock,
            out: Output::new(color, !global.no_pager, global.redact),
            talk: Talk::new(color, global.quiet),
            json: global.json,
            redact: global.redact,
            config: Config::default(),
            asking: None,
            quiet: global.quiet,
            verbose: global.verbose,
            timings: global.timings.then(Timings::new),
            demo: global.demo,
            claude_dir: global.claude_dir,
            store_dir: global.store,
            environment,
            sample: None,
            sample_store: None,
            damaged: Damaged::default(),
            read: (0, 0),
            kept_sessions: 0,
            set_aside: HashSet::new(),
        }
    }

    /// The Claude folders. Not asked for before a command needs them: a file can be shown without.
    pub fn roots(&mut self) -> Result<Vec<PathBuf>, CliError> {
        if !self.demo {
            return Ok(home::find(&self.claude_dir, &self.environment)?);
        }
        if !self.claude_dir.is_empty() {
            return Err(HomeError::DemoToo.into());
        }
        if self.sample.is_none() {
            self.sample = Some(demo::unpack().map_err(CliError::Demo)?);
        }
        Ok(self.sample.iter().map(|sample| sample.path().into()).collect())
    }

    /// The Claude folders by their real paths: that is what the archive calls them.
    pub fn real_roots(&mut self) -> Result<Vec<PathBuf>, CliError> {
        let real = |root: PathBuf| root.canonicalize().unwrap_or(root);
        Ok(self.roots()?.into_iter().map(real).collect())
    }

    /// The store, which need not exist. That of the sample is a new one each time.
    pub fn store(&mut self) -> Result<Store, CliError> {
        if self.demo && self.store_dir.is_none() {
            let dir = match self.sample_store.take() {
                Some(dir) => dir,
                None => tempfile::tempdir().map_err(CliError::Demo)?,
            };
            return Ok(Store::new(self.sample_store.insert(dir).path().into()));
        }
        let folder = self.environment.store(self.store_dir.as_deref());
        Ok(Store::new(folder.ok_or(HomeError::NoStore)?))
    }

    /// The folders of this run. Whether they are there is asked by whoever reads them.
    pub fn folders(&mut self) -> Result<Folders, CliError> {
        let environment = self.environment.clone();
        if !self.demo {
            let (claude_dir, store) = (self.claude_dir.clone(), self.store_dir.clone());
            return Ok(Folders { claude_dir, store, environment });
        }
        let store = Some(self.store()?.folder().to_path_buf());
        Ok(Folders { claude_dir: self.roots()?, store, environment })
    }

    /// Claude Code's files of settings and of servers that hold for all projects.
    pub fn settings(&mut self) -> Result<(PathBuf, PathBuf), CliError> {
        self.environment.settings(&self.claude_dir).ok_or(HomeError::NoneFound(Vec::new()).into())
    }

    /// Every folder that may be a Claude folder, also those that are not read now. Nothing below
    /// them is ever written, but for the settings by `install` and a line by `rename` and `tag`.
    pub fn claude_folders(&mut self) -> Result<Vec<PathBuf>, CliError> {
        let named = self.environment.claude_config_dir.iter().map(PathBuf::from);
        let mut folders: Vec<PathBuf> = self.environment.usual().into_iter().chain(named).collect();
        folders.extend(self.roots()?);
        Ok(folders)
    }

    /// Whether a place is below a Claude folder or `also`, even if it does not exist yet.
    pub fn is_below_claude(&mut self, place: &Path, also: Option<&Path>) -> bool {
        // Without a Claude folder, as on a new computer, nothing can be below one.
        let mut homes = self.claude_folders().unwrap_or_default();
        homes.extend(also.map(Path::to_path_buf));
        let there = place.ancestors().find(|folder| folder.exists()).unwrap_or(place);
        let real = there.canonicalize().unwrap_or_else(|_| there.into());
        homes.iter().any(|home| {
            place.starts_with(home) || home.canonicalize().is_ok_and(|home| real.starts_with(home))
        })
    }

    /// The files of every Claude folder; what could not be listed is warned of.
    pub fn homes(&mut self) -> Result<Vec<Home>, CliError> {
        let mut homes = Vec::new();
        for root in self.roots()? {
            let walk = layout::walk(&root);
            walk.problems.into_iter().for_each(|problem| self.talk.skip(problem));
            let kept = self.kept(&root, &walk.files, |_| true)?;
            let files = walk.files.into_iter().chain(kept).collect();
            homes.push(Home { root, files });
        }
        Ok(homes)
    }

    /// Files of a Claude folder that are in the store and not on disk any more. A store that can't
    /// be read is said and left out: what is on disk can still be answered.
    pub fn kept(
        &mut self,
        root: &Path,
        here: &[Found],
        wanted: impl Fn(&FileKind) -> bool,
    ) -> Result<Vec<Found>, CliError> {
        let store = self.store()?;
        if !store.exists() {
            return Ok(Vec::new());
        }
        let here: HashSet<&Path> = here.iter().map(|found| found.rel.as_path()).collect();
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let is_gone = |rel: &Path| !here.contains(rel) && wanted(&layout::classify(rel));
        match store::sync::kept_files(&store, &root, is_gone) {
            Ok(kept) => {
                let sessions = kept.iter().filter(|f| matches!(f.kind, FileKind::Session { .. }));
                self.notes_archived(sessions.count());
                Ok(kept)
            }
            Err(error) => {
                self.talk.note(format!("The store is left out: {error}"));
                Ok(Vec::new())
            }
        }
    }

    /// Remembers which transcripts were set aside.
    pub fn notes_set_aside(&mut self, sessions: impl IntoIterator<Item = SessionId>) {
        self.set_aside.extend(sessions);
    }

    /// Remembers that only the store has so many sessions.
    pub fn notes_archived(&mut self, sessions: usize) {
        self.kept_sessions = self.kept_sessions.max(sessions);
    }

    /// Sessions whose transcripts were put aside.
    pub fn set_aside(&self) -> &HashSet<SessionId> {
        &self.set_aside
    }

    /// The session of the client that has started this process. The registry knows it better than
    /// the environment: after `/clear` the client has another session and the same servers.
    pub fn parent_session(&mut self) -> Option<SessionId> {
        let registered = |root: &PathBuf| {
            let file = root.join("sessions").join(format!("{}.json", parent_process()?));
            read_registry(&file).ok()?.session
        };
        let by_registry = self.roots().ok()?.iter().find_map(registered);
        let by_environment = self.environment.session.as_ref().and_then(|id| id.to_str());
        by_registry.or_else(|| by_environment.map(SessionId::new))
    }

    /// Leaves the running session out of what is looked for, unless it is asked for by name.
    pub fn leave_out_asking(&self, query: &mut Query) {
        if query.only.session.is_empty() {
            query.except.session.extend(self.asking.iter().map(|id| id.as_str().to_owned()));
        }
    }

    /// The projects that a `--project` stands for; `.` is this folder.
    pub fn project(&self, part: Option<&str>) -> Result<Option<ProjectFilter>, CliError> {
        Ok(match part {
            Some(".") => Some(ProjectFilter::Folder(self.here()?.to_string_lossy().into_owned())),
            Some(part) => Some(ProjectFilter::Part(part.into())),
            None => None,
        })
    }

    /// The span of time between a `--since` and an `--until`.
    pub fn period(&self, since: Option<&TimeArg>, until: Option<&TimeArg>) -> Period {
        Period {
            since: since.map(|time| time.start(&self.clock)),
            until: until.map(|time| time.end(&self.clock)),
        }
    }

    /// The folder the person is in, for names like `.`.
    pub fn here(&self) -> Result<PathBuf, CliError> {
        std::env::current_dir().map_err(|error| CliError::Read(Problem::new(".", error)))
    }

    /// Whether the sample stands for the person's own folder.
    pub fn is_demo(&self) -> bool {
        self.demo
    }

    /// A step that began then is over.
    pub fn step(&mut self, what: &'static str, begun: Instant) {
        if let Some(timings) = &mut self.timings {
            timings.steps.push((what, begun.elapsed()));
        }
    }

    /// What was asked for about the run itself.
    fn tell_of_itself(&mut self) {
        if self.verbose {
            let roots = self.roots().unwrap_or_default();
            let store = self.store().ok().map(|store| store.folder().to_path_buf());
            let file = self.config.path.clone().filter(|path| path.exists());
            let named = roots.into_iter().map(|root| ("Claude folder", root));
            let named = named.chain(store.map(|store| ("store", store)));
            for (what, path) in named.chain(file.map(|file| ("settings", file))) {
                self.talk.tell(what, &path.display().to_string());
            }
            let (files, bytes) = self.read;
            self.talk.tell("read", &format!("{}, {}", counted(files, "file"), size(bytes)));
        }
        if let Some(Timings { begun, steps }) = self.timings.take() {
            for (what, took) in steps.into_iter().chain([("all", begun.elapsed())]) {
                let ms = took.as_secs_f64() * 1000.0;
                self.talk.tell("time", &format!("{ms:.1} ms {what}"));
            }
        }
    }

    /// Whether only data and errors are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A bar for reading these files.
    pub fn progress(&self, files: &[&Found]) -> Progress {
        Progress::new(self.quiet, files.len(), files.iter().map(|found| found.size).sum())
    }

    /// What was read, or nothing with a warning.
    pub fn or_skip<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.talk.skip(problem)).ok()
    }

    /// Remembers what was damaged in a file, for one note at the end.
    pub fn count_damage(&mut self, odd: &[Diagnostic]) {
        let places = odd.iter().filter(|diagnostic| is_damage(diagnostic.kind)).count();
        self.damaged.places += places;
        self.damaged.files += usize::from(places > 0);
    }

    /// As [`Run::count_damage`], where only counts are known.
    pub fn count_damaged(&mut self, odd: &[(DiagnosticKind, u64)]) {
        let places: u64 =
            odd.iter().filter(|(kind, _)| is_damage(*kind)).map(|(_, count)| count).sum();
        self.damaged.places += places as usize;
        self.damaged.files += usize::from(places > 0);
    }

    /// Says nothing of damage: the command shows what is damaged in its place.
    pub fn shows_damage(&mut self) {
        self.damaged = Damaged::default();
    }

    /// Ends the output, says what is to say, and gives the exit code.
    pub fn finish(mut self, result: Result<Answer, CliError>) -> ExitCode {
        // Also after an error: a pager that is open has to be left before anything is said.
        let finished = self.out.finish();
        let result = result.and_then(|answer| Ok(finished.map(|()| answer)?));
        self.tell_of_itself();
        let replaced = self.out.replaced();
        if replaced > 0 {
            self.talk.note(format!("{} replaced", counted(replaced as usize, "secret")));
        }
        if self.damaged.places > 0 {
            let places = counted(self.damaged.places, "damaged place");
            let files = counted(self.damaged.files, "file");
            self.talk.note(format!("{places} in {files} left out; `recount doctor` shows where"));
        }
        if self.kept_sessions > 0 {
            let sessions = counted(self.kept_sessions, "session");
            let its = if self.kept_sessions == 1 { "its" } else { "their" };
            self.talk.note(format!("{sessions} read from the store: {its} files are gone"));
        }
        self.talk.finish(result)
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

fn is_damage(kind: DiagnosticKind) -> bool {
    use DiagnosticKind::{Damaged, NotAnObject, Nul, Unfinished};
    matches!(kind, Damaged | NotAnObject | Nul | Unfinished)
}

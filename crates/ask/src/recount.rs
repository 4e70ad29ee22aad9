//! What questions are asked of: Claude folders, the store, the clock.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use report::filter::{Period, ProjectFilter};
use report::format::Clock;
use report::rows::Origin;
use store::folder::Store;
use store::history::History;
use store::query::Query;
use transcript::id::SessionId;
use transcript::layout::{self, FileKind, Found, Problem};

use crate::error::HistoryError;
use crate::home::{self, Environment, HomeError};
use crate::observed::Observed;
use crate::process::read_registry;
use crate::progress::WorkProgress;
use crate::time_arg::TimeArg;

/// Where the Claude folders and the store are. Each door passes in what it was given.
#[derive(Debug, Clone, Default)]
pub struct Locations {
    /// Claude folders that were named; the environment decides if there are none.
    pub claude_dir: Vec<PathBuf>,
    /// The store that was named; the environment decides if there is none.
    pub store: Option<PathBuf>,
    /// Environment variables and settings.
    pub environment: Environment,
    /// The current folder, for names like `.`.
    pub current_dir: Option<PathBuf>,
    /// Whether this is the built-in sample: its store is made when it is first needed.
    pub is_sample: bool,
}

/// Claude folders, the store that may know them, and the clock: what questions are asked of.
pub struct Recount {
    /// What time it is.
    pub clock: Clock,
    /// The running session that asks: it does not count as an earlier one.
    pub asking: Option<SessionId>,
    /// Whether an answer waits for a sync, however long that takes.
    pub waits_for_sync: bool,
    /// Whether questions bring the store up to date first. A server does that on its own.
    pub updates_store: bool,
    /// What happened so far.
    pub observed: Observed,
    locations: Locations,
    progress: Arc<dyn WorkProgress>,
    origin: fn() -> Origin,
    /// Sessions whose transcripts were set aside, as far as transcripts have been listed.
    set_aside: HashSet<SessionId>,
}

/// A Claude folder and the files in it.
pub struct Home {
    /// The folder.
    pub root: PathBuf,
    /// Its files.
    pub files: Vec<Found>,
}

impl Recount {
    /// Questions about the history at these locations.
    pub fn new(locations: Locations, clock: Clock) -> Self {
        Self {
            clock,
            asking: None,
            waits_for_sync: false,
            updates_store: true,
            observed: Observed::default(),
            locations,
            progress: Arc::new(()),
            origin: || Origin { host: "unknown".into(), user: "unknown".into() },
            set_aside: HashSet::new(),
        }
    }

    /// The same, with long work shown there.
    pub fn with_progress(self, progress: Arc<dyn WorkProgress>) -> Self {
        Self { progress, ..self }
    }

    /// The same, with rows of tables that name this computer and person.
    pub fn with_origin(self, origin: fn() -> Origin) -> Self {
        Self { origin, ..self }
    }

    /// Where long work is shown.
    pub fn progress(&self) -> Arc<dyn WorkProgress> {
        self.progress.clone()
    }

    /// Whose history it is.
    pub fn origin(&self) -> Origin {
        match self.locations.is_sample {
            true => Origin { host: "demo".into(), user: "demo".into() },
            false => (self.origin)(),
        }
    }

    /// The locations, for further questions about the same history.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// Whether this is the built-in sample.
    pub fn is_sample(&self) -> bool {
        self.locations.is_sample
    }

    /// The Claude folders. They are looked for when a question needs them, not before: a lone
    /// file can be shown without.
    pub fn claude_roots(&self) -> Result<Vec<PathBuf>, HistoryError> {
        Ok(home::find(&self.locations.claude_dir, &self.locations.environment)?)
    }

    /// The Claude folders by their real paths, as the archive names them.
    pub fn real_claude_roots(&self) -> Result<Vec<PathBuf>, HistoryError> {
        let real = |root: PathBuf| root.canonicalize().unwrap_or(root);
        Ok(self.claude_roots()?.into_iter().map(real).collect())
    }

    /// The store, which need not exist.
    pub fn store(&self) -> Result<Store, HistoryError> {
        let Locations { store, environment, .. } = &self.locations;
        let folder = environment.store(store.as_deref());
        Ok(Store::new(folder.ok_or(HomeError::NoStore)?))
    }

    /// The history of the Claude folders.
    pub fn open_history(&self) -> Result<History, HistoryError> {
        Ok(History::new(self.claude_roots()?, self.store()?, self.clock.time()))
    }

    /// Claude Code's files of settings and of MCP servers that hold for all projects.
    pub fn settings_files(&self) -> Result<(PathBuf, PathBuf), HistoryError> {
        let Locations { claude_dir, environment, .. } = &self.locations;
        environment.settings(claude_dir).ok_or(HomeError::NoneFound(Vec::new()).into())
    }

    /// Every folder that may be a Claude folder, also those that are not read now. Nothing below
    /// them is ever written, except settings by `install` and a line by `rename` and `tag`.
    pub fn claude_folders(&self) -> Result<Vec<PathBuf>, HistoryError> {
        let environment = &self.locations.environment;
        let named = environment.claude_config_dir.iter().map(PathBuf::from);
        let mut folders: Vec<PathBuf> = environment.usual().into_iter().chain(named).collect();
        folders.extend(self.claude_roots()?);
        Ok(folders)
    }

    /// Whether a path is below a Claude folder or `also`, even if it does not exist yet.
    pub fn is_below_claude(&self, path: &Path, also: Option<&Path>) -> bool {
        // Without a Claude folder, as on a new computer, nothing can be below one.
        let mut homes = self.claude_folders().unwrap_or_default();
        homes.extend(also.map(Path::to_path_buf));
        let existing = path.ancestors().find(|folder| folder.exists()).unwrap_or(path);
        let real = existing.canonicalize().unwrap_or_else(|_| existing.into());
        homes.iter().any(|home| {
            path.starts_with(home) || home.canonicalize().is_ok_and(|home| real.starts_with(home))
        })
    }

    /// The files of every Claude folder, also those that only the store has.
    pub fn list_homes(&mut self) -> Result<Vec<Home>, HistoryError> {
        let mut homes = Vec::new();
        for root in self.claude_roots()? {
            let walk = layout::walk(&root);
            walk.problems.into_iter().for_each(|problem| self.observed.skip(problem));
            let kept = self.archived_files(&root, &walk.files, |_| true)?;
            let files = walk.files.into_iter().chain(kept).collect();
            homes.push(Home { root, files });
        }
        Ok(homes)
    }

    /// Files of a Claude folder that are in the store and no longer on disk. A store that can't
    /// be read is left out: the files on disk can still be answered from.
    pub fn archived_files(
        &mut self,
        root: &Path,
        here: &[Found],
        is_wanted: impl Fn(&FileKind) -> bool,
    ) -> Result<Vec<Found>, HistoryError> {
        let store = self.store()?;
        if !store.exists() {
            return Ok(Vec::new());
        }
        let here: HashSet<&Path> = here.iter().map(|found| found.rel.as_path()).collect();
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let is_gone = |rel: &Path| !here.contains(rel) && is_wanted(&layout::classify(rel));
        match store::sync::kept_files(&store, &root, is_gone) {
            Ok(kept) => {
                let sessions = kept.iter().filter(|f| matches!(f.kind, FileKind::Session { .. }));
                self.observed.note_archived(sessions.count());
                Ok(kept)
            }
            Err(error) => {
                self.observed.store_error = Some(error.into());
                Ok(Vec::new())
            }
        }
    }

    /// Remembers which transcripts were set aside.
    pub(crate) fn note_set_aside(&mut self, sessions: impl IntoIterator<Item = SessionId>) {
        self.set_aside.extend(sessions);
    }

    /// Sessions whose transcripts were set aside.
    pub fn set_aside(&self) -> &HashSet<SessionId> {
        &self.set_aside
    }

    /// The session of the client with this process id, which has started this process. The
    /// registry knows it better than the environment: after `/clear` the client has another
    /// session and the same servers.
    pub fn parent_session(&self, parent_process: Option<u32>) -> Option<SessionId> {
        let registered = |root: &PathBuf| {
            let file = root.join("sessions").join(format!("{}.json", parent_process?));
            read_registry(&file).ok()?.session
        };
        let by_registry = self.claude_roots().ok()?.iter().find_map(registered);
        let environment = &self.locations.environment;
        let by_environment = environment.session.as_ref().and_then(|id| id.to_str());
        by_registry.or_else(|| by_environment.map(SessionId::new))
    }

    /// Excludes the running session from a query, unless the query names it.
    pub fn exclude_asking(&self, query: &mut Query) {
        if query.only.session.is_empty() {
            query.except.session.extend(self.asking.iter().map(|id| id.as_str().to_owned()));
        }
    }

    /// The projects that a `--project` stands for; `.` is the current folder.
    pub fn project_filter(
        &self,
        part: Option<&str>,
    ) -> Result<Option<ProjectFilter>, HistoryError> {
        Ok(match part {
            Some(".") => {
                Some(ProjectFilter::Folder(self.current_folder()?.to_string_lossy().into_owned()))
            }
            Some(part) => Some(ProjectFilter::Part(part.into())),
            None => None,
        })
    }

    /// The period between a `--since` and an `--until`.
    pub fn period_between(&self, since: Option<&TimeArg>, until: Option<&TimeArg>) -> Period {
        Period {
            since: since.map(|time| time.start(&self.clock)),
            until: until.map(|time| time.end(&self.clock)),
        }
    }

    /// The current folder, for names like `.`.
    pub fn current_folder(&self) -> Result<PathBuf, HistoryError> {
        let missing = || Problem::new(".", std::io::ErrorKind::NotFound.into());
        Ok(self.locations.current_dir.clone().ok_or_else(missing)?)
    }

    /// Remembers how long a step took that began then.
    pub fn note_step(&mut self, name: &'static str, begun: Instant) {
        self.observed.steps.push((name, begun.elapsed()));
    }

    /// The value, or nothing and the reason among the skipped files.
    pub fn or_skip<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        self.observed.or_skip(result)
    }
}

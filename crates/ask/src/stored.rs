//! The store for commands that ask it: which sessions are in it, and which files are whose.
//!
//! Commands that must not be behind bring it up to date first, as far as that is a matter of a
//! moment. The sample's store is made on the spot: it is a new one each time, and would else be
//! empty.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use store::archive::{Access, Archive, FileRow, path_of};
use store::catalog::{Catalog, SessionRow};
use store::find::Finder;
use store::folder::Store;
use store::history::History;
use store::sync::{self, SyncError};
use transcript::id::{AgentId, SessionId};
use transcript::layout::{self, FileKind, classify};

use crate::error::{HistoryError, StoreError};
use crate::name::{self, Noun, SessionName, SessionNames};
use crate::observed::Freshness;
use crate::progress::Work;
use crate::recount::Recount;

/// An open store.
pub struct Stored {
    /// Every byte.
    pub archive: Archive,
    /// What the files say.
    pub catalog: Catalog,
    store: Store,
}

/// More new bytes than these are not waited for, if there is an answer without them.
const MAX_BYTES_AT_ONCE: u64 = 32 << 20;

/// How long to wait before asking again whether another process has ended its sync.
const LOCK_RETRY: Duration = Duration::from_millis(50);

/// The result of bringing the store up to date.
pub enum Update {
    /// It was up to date.
    Unchanged,
    /// It was behind and is up to date now.
    Changed,
    /// It is not up to date.
    Stale(Freshness),
}

/// A file in the archive and what it is.
#[derive(Clone)]
pub struct StoredFile {
    /// The file.
    pub row: FileRow,
    /// Its path below its Claude folder.
    pub rel: PathBuf,
    /// What it is.
    pub kind: FileKind,
}

impl Recount {
    /// How the store is brought up to date while a person waits for an answer.
    fn sync_options(&self) -> sync::Options {
        let at_once = (!self.waits_for_sync).then_some(MAX_BYTES_AT_ONCE);
        sync::Options { at_once, ..sync::Options::new(self.clock.time()) }
    }

    /// Brings the store up to date; what could not be read is skipped.
    pub fn sync_store(
        &mut self,
        store: &Store,
        options: sync::Options,
    ) -> Result<Result<sync::Report, SyncError>, HistoryError> {
        match sync::still(store, &self.real_claude_roots()?, options) {
            Some(report) => Ok(Ok(report)),
            None => self.sync_changed(store, options),
        }
    }

    /// As [`Recount::sync_store`], where something is known to have changed.
    fn sync_changed(
        &mut self,
        store: &Store,
        options: sync::Options,
    ) -> Result<Result<sync::Report, SyncError>, HistoryError> {
        let (homes, progress) = (self.sync_homes()?, self.progress());
        let done = sync::sync(store, &homes, options, &Work::new(&*progress));
        Ok(done.map(|(report, problems)| {
            problems.into_iter().for_each(|problem| self.observed.skip(problem));
            report
        }))
    }

    /// The Claude folders by their real paths, with all their files.
    pub fn sync_homes(&mut self) -> Result<Vec<sync::Home>, HistoryError> {
        let mut homes = Vec::new();
        for root in self.real_claude_roots()? {
            let look = layout::look(&root);
            look.problems.iter().for_each(|problem| self.observed.skip(problem.again()));
            homes.push(sync::Home { root, look });
        }
        Ok(homes)
    }

    /// Whether nothing has changed; and the result of `meanwhile`, which runs at the same time.
    fn is_unchanged<T: Send>(
        &self,
        store: &Store,
        meanwhile: impl FnOnce() -> T + Send,
    ) -> Result<(bool, T), HistoryError> {
        let (roots, options) = (self.real_claude_roots()?, self.sync_options());
        let (report, result) = sync::still_beside(store, &roots, options, meanwhile);
        Ok((report.is_some(), result))
    }

    /// Brings the store up to date, unless another process does or it would take long.
    pub fn update_store(&mut self) -> Result<Update, HistoryError> {
        let store = self.store()?;
        match self.is_unchanged(&store, || ())?.0 {
            true => Ok(Update::Unchanged),
            false => self.catch_up(&store),
        }
    }

    /// As [`Recount::update_store`], where something has changed.
    fn catch_up(&mut self, store: &Store) -> Result<Update, HistoryError> {
        let done = match self.waits_for_sync {
            true => self.sync_when_unlocked(store)?,
            false => self.sync_changed(store, self.sync_options())?,
        };
        let is_readable = || matches!(Finder::open(store), Ok(Some(_)));
        match done {
            Ok(report) if report.is_changed() => Ok(Update::Changed),
            Ok(_) => Ok(Update::Unchanged),
            Err(SyncError::Locked) => Ok(Update::Stale(Freshness::Syncing)),
            Err(SyncError::Behind { bytes, since }) => {
                Ok(Update::Stale(Freshness::Behind { bytes, since }))
            }
            Err(error) if (error.is_full() || error.is_read_only()) && is_readable() => {
                Ok(Update::Stale(Freshness::Unwritable(error)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Syncs, after the process that syncs now has ended.
    fn sync_when_unlocked(
        &mut self,
        store: &Store,
    ) -> Result<Result<sync::Report, SyncError>, HistoryError> {
        loop {
            match self.sync_changed(store, self.sync_options())? {
                Err(SyncError::Locked) => std::thread::sleep(LOCK_RETRY),
                done => return Ok(done),
            }
        }
    }

    /// An answer of the store, as up to date as can be in a moment. Mostly nothing has changed:
    /// it is asked while that is found out, and once more only if something has.
    pub fn ask_index<T: Send>(
        &mut self,
        ask: impl Fn(&Finder) -> Result<T, SyncError> + Sync,
    ) -> Result<T, HistoryError> {
        let (store, roots) = (self.store()?, self.real_claude_roots()?);
        let open = || match Finder::open(&store)? {
            Some(finder) => Ok(Some(finder.within(&roots)?)),
            None => Ok::<_, SyncError>(None),
        };
        if !self.updates_store {
            return Ok(ask(&open()?.ok_or(SyncError::Locked)?)?);
        }
        let early = || ask(&open().ok().flatten()?).ok();
        let (is_unchanged, early) = self.is_unchanged(&store, early)?;
        let update = if is_unchanged { Update::Unchanged } else { self.catch_up(&store)? };
        let is_unchanged = matches!(update, Update::Unchanged);
        self.note_update(update);
        if let Some(answer) = early.filter(|_| is_unchanged) {
            return Ok(answer);
        }
        let ask = || ask(&open()?.ok_or(SyncError::Locked)?);
        match ask() {
            Err(error) if error.is_damage() && is_unchanged => {
                sync::forget(&store);
                let update = self.catch_up(&store)?;
                self.note_update(update);
                Ok(ask()?)
            }
            answer => Ok(answer?),
        }
    }

    /// The store, as up to date as can be in a moment.
    pub fn current_store(&mut self) -> Result<Store, HistoryError> {
        let begun = Instant::now();
        let store = self.store()?;
        let update = self.update_store()?;
        self.note_update(update);
        self.note_step("store up to date", begun);
        Ok(store)
    }

    fn note_update(&mut self, update: Update) {
        if let Update::Stale(freshness) = update {
            self.observed.freshness = freshness;
        }
    }

    /// The index of the store for the Claude folders of this run; `None` if there is none yet.
    pub fn open_index(&mut self) -> Result<Option<Finder>, HistoryError> {
        let (store, roots) = (self.store()?, self.real_claude_roots()?);
        match Finder::open(&store)? {
            Some(finder) => Ok(Some(finder.within(&roots)?)),
            None => Ok(None),
        }
    }

    /// The archive of the store.
    pub fn open_archive(&mut self, access: Access) -> Result<Archive, HistoryError> {
        let store = self.filled_store()?;
        Ok(store.archive(access)?)
    }

    /// The store with something in it.
    pub fn filled_store(&mut self) -> Result<Store, HistoryError> {
        let store = self.store()?;
        if !store.exists() && self.is_sample() {
            self.sync_store(&store, sync::Options::new(self.clock.time()))??;
        }
        match store.exists() {
            true => Ok(store),
            false => Err(StoreError::Missing(store.folder().into()).into()),
        }
    }

    /// The store, open for questions.
    pub fn open_stored(&mut self) -> Result<Stored, HistoryError> {
        let store = self.filled_store()?;
        let archive = store.archive(Access::Read)?;
        let catalog = Catalog::read(store.folder())?;
        let catalog = catalog.ok_or_else(|| StoreError::NoCatalog(store.folder().into()))?;
        Ok(Stored { archive, catalog, store })
    }
}

impl Stored {
    /// The session that a name stands for.
    pub fn resolve(
        &self,
        recount: &Recount,
        name: &SessionName,
    ) -> Result<SessionRow, HistoryError> {
        let snapshot = History::of_store(&self.store)?.unwrap_or_default();
        let names = SessionNames::of(&snapshot.library, &[]);
        let id = names.resolve(Noun::Session, name, &recount.current_folder()?)?;
        let unknown = || name::NameError::Unknown {
            noun: Noun::Session,
            name: id.to_string(),
            nearest: Vec::new(),
        };
        Ok(self.catalog.session(&id)?.ok_or_else(unknown)?)
    }

    /// The files of all sessions: what their paths say is theirs, and what the catalog knows to
    /// be theirs (old subagents lie beside the sessions).
    pub fn files(&self) -> Result<HashMap<SessionId, Vec<StoredFile>>, HistoryError> {
        let known: HashMap<i64, SessionId> = self
            .catalog
            .files()?
            .into_iter()
            .filter_map(|file| Some((file.id, file.session?)))
            .collect();
        let files: Vec<StoredFile> = self.archive.files()?.into_iter().map(stored).collect();
        let agents: HashMap<(&str, &AgentId), &SessionId> = files
            .iter()
            .filter_map(|file| Some((agent(&file.kind)?, known.get(&file.row.file.0)?)))
            .collect();
        let mut all: HashMap<SessionId, Vec<StoredFile>> = HashMap::new();
        for file in &files {
            let by_path = file.kind.session();
            let by_catalog = known
                .get(&file.row.file.0)
                .or_else(|| agents.get(&agent(&file.kind)?).copied())
                .filter(|session| by_path != Some(*session));
            for session in by_path.into_iter().chain(by_catalog) {
                all.entry(session.clone()).or_default().push(file.clone());
            }
        }
        Ok(all)
    }
}

/// The agent of a transcript, or of what was written beside it.
fn agent(kind: &FileKind) -> Option<(&str, &AgentId)> {
    match kind {
        FileKind::Agent { project_slug, agent, .. }
        | FileKind::AgentMeta { project_slug, agent, .. } => Some((project_slug, agent)),
        _ => None,
    }
}

fn stored(row: FileRow) -> StoredFile {
    let rel = path_of(&row.rel);
    StoredFile { kind: classify(&rel), rel, row }
}

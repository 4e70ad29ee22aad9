//! The store for commands that ask it: which sessions are in it, and which files are whose.
//!
//! Commands that must not be behind bring it up to date first, as far as that is a matter of a
//! moment. The sample's store is made on the spot: it is a new one each time, and would else be
//! empty.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use store::archive::{Access, Archive, FileRow, path_of};
use store::catalog::{Catalog, SessionRow};
use store::find::Finder;
use store::folder::Store;
use store::history::History;
use store::sync::{self, SyncError};
use transcript::id::{AgentId, SessionId};
use transcript::layout::{FileKind, Problem, classify};
use transcript::time::Time;

use crate::commands::sync::{bring, bring_changed, now};
use crate::error::{CliError, StoreError};
use crate::name::{self, Noun, SessionName, SessionNames};
use crate::run::Run;
use crate::terminal::format::size;

/// An open store.
pub struct Stored {
    /// Every byte.
    pub archive: Archive,
    /// What the files say.
    pub catalog: Catalog,
    store: Store,
}

/// Nobody waits longer than for so many bytes if there is an answer without them.
const AT_ONCE: u64 = 32 << 20;

/// What came of bringing the store up to date.
pub enum Update {
    /// It was.
    Still,
    /// It is now.
    Done,
    /// Another process does it.
    Locked,
    /// It would take long: so many bytes are new since then.
    Behind(u64, Time),
    /// Nothing can be written, but what is there can be read.
    Unwritable(SyncError),
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

/// How the store is brought up to date when somebody waits for an answer.
fn options(run: &Run) -> sync::Options {
    sync::Options { at_once: Some(AT_ONCE), ..sync::Options::new(now(run)) }
}

/// Whether nothing has changed; and what `beside` comes to, which is worked out meanwhile.
fn still<T: Send>(
    run: &mut Run,
    store: &Store,
    beside: impl FnOnce() -> T + Send,
) -> Result<(bool, T), CliError> {
    let (roots, options) = (run.real_roots()?, options(run));
    let (report, beside) = sync::still_beside(store, &roots, options, beside);
    Ok((report.is_some(), beside))
}

impl Run {
    /// Brings the store up to date, unless another process does or it would take long.
    pub fn update(&mut self) -> Result<Update, CliError> {
        let store = self.store()?;
        match still(self, &store, || ())?.0 {
            true => Ok(Update::Still),
            false => self.catch_up(&store),
        }
    }

    /// As [`Run::update`], where something has changed.
    fn catch_up(&mut self, store: &Store) -> Result<Update, CliError> {
        let done = bring_changed(self, store, options(self))?;
        let is_readable = || matches!(Finder::open(store), Ok(Some(_)));
        match done {
            Ok(report) if report.is_changed() => Ok(Update::Done),
            Ok(_) => Ok(Update::Still),
            Err(SyncError::Locked) => Ok(Update::Locked),
            Err(SyncError::Behind { bytes, since }) => Ok(Update::Behind(bytes, since)),
            Err(error) if (error.is_full() || error.is_read_only()) && is_readable() => {
                Ok(Update::Unwritable(error))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// An answer of the store, as up to date as can be in a moment. Mostly nothing has changed:
    /// it is asked while that is found out, and once more only if something has.
    pub fn ask<T: Send>(
        &mut self,
        ask: impl Fn(&Finder) -> Result<T, SyncError> + Sync,
    ) -> Result<T, CliError> {
        let (store, roots) = (self.store()?, self.real_roots()?);
        let open = || match Finder::open(&store)? {
            Some(finder) => Ok(Some(finder.within(&roots)?)),
            None => Ok::<_, SyncError>(None),
        };
        let early = || ask(&open().ok().flatten()?).ok();
        let (is_still, early) = still(self, &store, early)?;
        let update = if is_still { Update::Still } else { self.catch_up(&store)? };
        let is_still = matches!(update, Update::Still);
        self.say(&store, update);
        if let Some(answer) = early.filter(|_| is_still) {
            return Ok(answer);
        }
        let ask = || ask(&open()?.ok_or(SyncError::Locked)?);
        match ask() {
            Err(error) if error.is_damage() && is_still => {
                sync::forget(&store);
                let update = self.catch_up(&store)?;
                self.say(&store, update);
                Ok(ask()?)
            }
            answer => Ok(answer?),
        }
    }

    /// The store, as up to date as can be in a moment; says so if it is not.
    pub fn current_store(&mut self) -> Result<Store, CliError> {
        let begun = Instant::now();
        let store = self.store()?;
        let update = self.update()?;
        self.say(&store, update);
        self.step("store up to date", begun);
        Ok(store)
    }

    /// Says in what way the store is not up to date.
    fn say(&mut self, store: &Store, update: Update) {
        match update {
            Update::Still | Update::Done => {}
            Update::Locked => {
                let note = "Another recount is reading new lines; they are not searched yet";
                self.talk.note(note.into());
            }
            Update::Behind(bytes, since) => {
                let (bytes, since) = (size(bytes), self.clock.near(since));
                let then = match self.sync_behind(store) {
                    Ok(()) => "they are being read now",
                    Err(_) => "`recount sync` reads them",
                };
                self.talk.note(format!("This is as of {since}: {bytes} are new; {then}"));
            }
            Update::Unwritable(error) => {
                self.talk.note(format!("New lines are not searched: {error}"));
            }
        }
    }

    /// Starts a sync that goes on when this command has answered.
    pub fn sync_behind(&mut self, store: &Store) -> Result<(), CliError> {
        let failed = |error| CliError::Read(Problem::new("recount", error));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.arg("--quiet").arg("--store").arg(store.folder());
        for root in self.roots()? {
            command.arg("--claude-dir").arg(root);
        }
        command.arg("sync").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The interrupt of the terminal is for the command that the person sees.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(drop).map_err(failed)
    }

    /// The index of the store for the Claude folders of this run; `None` if there is none yet.
    pub fn finder(&mut self) -> Result<Option<Finder>, CliError> {
        let (store, roots) = (self.store()?, self.real_roots()?);
        match Finder::open(&store)? {
            Some(finder) => Ok(Some(finder.within(&roots)?)),
            None => Ok(None),
        }
    }

    /// The archive of the store.
    pub fn archive(&mut self, access: Access) -> Result<Archive, CliError> {
        let store = self.filled_store()?;
        Ok(store.archive(access)?)
    }

    /// The store with something in it.
    pub fn filled_store(&mut self) -> Result<Store, CliError> {
        let store = self.store()?;
        if !store.exists() && self.is_demo() {
            bring(self, &store, sync::Options::new(now(self)))??;
        }
        match store.exists() {
            true => Ok(store),
            false => Err(StoreError::Missing(store.folder().into()).into()),
        }
    }

    /// The store, open for questions.
    pub fn stored(&mut self) -> Result<Stored, CliError> {
        let store = self.filled_store()?;
        let archive = store.archive(Access::Read)?;
        let catalog = Catalog::read(store.folder())?;
        let catalog = catalog.ok_or_else(|| StoreError::NoCatalog(store.folder().into()))?;
        Ok(Stored { archive, catalog, store })
    }
}

impl Stored {
    /// The session that a name stands for.
    pub fn resolve(&self, run: &Run, name: &SessionName) -> Result<SessionRow, CliError> {
        let snapshot = History::of_store(&self.store)?.unwrap_or_default();
        let names = SessionNames::of(&snapshot.library, &[]);
        let id = names.resolve(Noun::Session, name, &run.here()?)?;
        let unknown = || name::NameError::Unknown {
            noun: Noun::Session,
            name: id.to_string(),
            nearest: Vec::new(),
        };
        Ok(self.catalog.session(&id)?.ok_or_else(unknown)?)
    }

    /// The files of all sessions: what their paths say is theirs, and what the catalog knows to
    /// be theirs (old subagents lie beside the sessions).
    pub fn files(&self) -> Result<HashMap<SessionId, Vec<StoredFile>>, CliError> {
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

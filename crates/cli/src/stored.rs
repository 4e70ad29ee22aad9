//! The store for commands that ask it: which sessions are in it, and which files are whose.
//!
//! Nothing is brought up to date here. Only the sample's store is made on the spot: it is a new
//! one each time, and would else be empty.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use store::archive::{Access, Archive, FileRow, path_of};
use store::catalog::{Catalog, SessionRow};
use store::folder::Store;
use store::sync;
use transcript::id::{AgentId, SessionId};
use transcript::layout::{FileKind, classify};
use transcript::path::RecordedPath;

use crate::commands::sync::{Bar, homes, now};
use crate::error::{CliError, StoreError};
use crate::name::{self, Candidate, Noun, SessionName};
use crate::run::Run;

/// An open store.
pub struct Stored {
    /// Every byte.
    pub archive: Archive,
    /// What the files say.
    pub catalog: Catalog,
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

impl Run {
    /// The archive of the store.
    pub fn archive(&mut self, access: Access) -> Result<Archive, CliError> {
        let store = self.filled_store()?;
        Ok(store.archive(access)?)
    }

    /// The store with something in it.
    pub fn filled_store(&mut self) -> Result<Store, CliError> {
        let store = self.store()?;
        if !store.exists() && self.is_demo() {
            let homes = homes(self)?;
            let bar = Bar { quiet: self.is_quiet(), progress: Mutex::new(None) };
            let options = sync::Options::new(now(self));
            sync::sync(&store, &homes, options, &bar)?;
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
        Ok(Stored { archive, catalog })
    }
}

impl Stored {
    /// The session that a name stands for.
    pub fn resolve(&self, run: &Run, name: &SessionName) -> Result<SessionRow, CliError> {
        let mut sessions = self.catalog.sessions()?;
        let candidates: Vec<Candidate> = sessions.iter().map(candidate).collect();
        let id = name::resolve_id(Noun::Session, name, &candidates, &run.here()?)?;
        let at = sessions.iter().position(|session| session.id == id);
        let unknown = || name::NameError::Unknown {
            noun: Noun::Session,
            name: id.to_string(),
            nearest: Vec::new(),
        };
        Ok(sessions.swap_remove(at.ok_or_else(unknown)?))
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

fn candidate(session: &SessionRow) -> Candidate {
    Candidate {
        cwd: session.project.as_deref().map(RecordedPath::new),
        title: session.title.clone(),
        ..Candidate::new(session.id.clone(), PathBuf::new(), session.last)
    }
}

//! Sessions for commands: all of them joined, or the one that was named.
//!
//! Which entries belong to a session is known only when all files have been read (copies, entries
//! in the wrong file), so a named session is opened out of the whole library. Only a path and
//! standard input are read alone.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use store::history::{Snapshot, TranscriptList};
use tempfile::TempDir;
use transcript::id::SessionId;
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::library::{self, Library, SessionItem, read_session};
use transcript::session::Session;
use transcript::source::Source;

use crate::error::HistoryError;
use crate::name::{Noun, SessionName, SessionNames};
use crate::progress::Work;
use crate::recount::Recount;

/// A session that was named, with the files its entries stand in.
pub struct OpenSession {
    /// The session.
    pub session: Session,
    /// Its files, counted by a node's `source`.
    pub sources: Vec<Source>,
    /// What the library knows of it; nothing for a lone file.
    pub known: Option<(Library, SessionId)>,
    /// Holds standard input while it is read.
    _spool: Option<TempDir>,
}

impl OpenSession {
    /// What the library knows of it.
    pub fn item(&self) -> Option<&SessionItem> {
        let (library, id) = self.known.as_ref()?;
        library.session(id.as_str())
    }

    /// How it is called: its id, else its file.
    pub fn name(&self) -> String {
        let id = self.item().map(|item| item.id.clone()).or_else(|| self.session.id());
        id.map_or_else(|| self.sources[0].path().display().to_string(), |id| id.to_string())
    }

    /// The sessions around it; nothing for a lone file.
    pub fn family(&self) -> Option<Family<'_>> {
        let (library, _) = self.known.as_ref()?;
        Some(Family { library, item: self.item()? })
    }
}

/// A session among all sessions: what its subagents are found by.
#[derive(Clone, Copy)]
pub struct Family<'a> {
    /// All sessions.
    pub library: &'a Library,
    /// What is known of this one.
    pub item: &'a SessionItem,
}

impl Family<'_> {
    /// The transcript of a subagent; `None` if it has no file.
    pub fn agent(&self, agent: &library::Agent) -> Option<Result<(Session, Source), Problem>> {
        let file = agent.file?;
        let found = &self.library.cards[file].found;
        let read = || Ok((read_session(found, self.library.copies_of(file))?, found.open()?));
        Some(read())
    }
}

/// Something found in an entry that is in the file of another session than its own.
pub struct Stray<'l, T> {
    /// The session it belongs to.
    pub item: &'l SessionItem,
    /// The file.
    pub file: String,
    /// What was found.
    pub taken: T,
}

impl Recount {
    /// The transcripts of every Claude folder.
    pub fn list_transcripts(&mut self) -> Result<Vec<Found>, HistoryError> {
        let (begun, history) = (Instant::now(), self.open_history()?);
        let TranscriptList { files, problems, store_error, .. } = history.transcripts();
        problems.into_iter().for_each(|problem| self.observed.skip(problem));
        self.observed.store_error = store_error.or(self.observed.store_error.take());
        let is_session = |found: &&Found| matches!(found.kind, FileKind::Session { .. });
        let archived = files.iter().filter(is_session).filter(|found| found.kept.is_some());
        self.observed.note_archived(archived.count());
        let aside = files.iter().filter_map(|found| match &found.kind {
            FileKind::SetAside { session, .. } => Some(session.clone()),
            _ => None,
        });
        self.note_set_aside(aside.collect::<Vec<_>>());
        self.note_step("files listed", begun);
        Ok(files)
    }

    /// All sessions.
    pub fn all_sessions(&mut self) -> Result<Library, HistoryError> {
        let (begun, history) = (Instant::now(), self.open_history()?);
        let snapshot = history.snapshot(&Work::new(&*self.progress()));
        self.note_step("sessions joined", begun);
        Ok(self.take_snapshot(snapshot))
    }

    /// All sessions. `take` sees each file's session before it is let go.
    pub fn read_sessions<T: Send>(
        &mut self,
        take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
    ) -> Result<(Library, Vec<Option<T>>), HistoryError> {
        let (begun, history) = (Instant::now(), self.open_history()?);
        let (snapshot, taken) = history.snapshot_with(take, &Work::new(&*self.progress()));
        self.note_step("sessions read and joined", begun);
        Ok((self.take_snapshot(snapshot), taken))
    }

    /// What `take` sees in some of the transcripts, in the order of all cards.
    pub fn take_from<T: Send>(
        &mut self,
        library: &Library,
        is_wanted: impl Fn(usize) -> bool,
        take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
    ) -> Vec<Option<T>> {
        let wanted: Vec<usize> = (0..library.cards.len()).filter(|card| is_wanted(*card)).collect();
        let files: Vec<&Found> = wanted.iter().map(|card| &library.cards[*card].found).collect();
        let progress = self.progress();
        let bytes = files.iter().map(|found| found.size).sum();
        let work = Work::begin(&*progress, files.len(), bytes);
        let (taken, problems) = library::take_each(&files, take, |bytes| work.advance(1, bytes));
        drop(work);
        problems.into_iter().for_each(|problem| self.observed.skip(problem));
        let mut all: Vec<Option<T>> = library.cards.iter().map(|_| None).collect();
        for (card, taken) in wanted.into_iter().zip(taken) {
            all[card] = taken;
        }
        all
    }

    /// The sessions of a snapshot; what it says of itself is noted.
    fn take_snapshot(&mut self, mut snapshot: Snapshot) -> Library {
        self.observed.files_read += snapshot.files_read;
        self.observed.bytes_read += snapshot.bytes_read;
        self.observed.note_archived(snapshot.archived_sessions);
        self.note_set_aside(snapshot.set_aside);
        self.observed.store_error = snapshot.store_error.or(self.observed.store_error.take());
        for problem in std::mem::take(&mut snapshot.library.problems) {
            self.observed.skip(problem);
        }
        for card in &snapshot.library.cards {
            self.observed.count_damaged(&card.diagnostics);
        }
        snapshot.library
    }

    /// What `take` finds in entries that are in the file of another session than their own.
    pub fn find_strays<'l, T>(
        &mut self,
        library: &'l Library,
        take: impl Fn(&Session, &Source) -> T,
    ) -> Vec<Stray<'l, T>> {
        let mut all = Vec::new();
        for item in library.sessions.iter().filter(|item| !item.found_in.is_empty()) {
            for (session, found) in self.or_skip(library.strays(item)).unwrap_or_default() {
                let Some(source) = self.or_skip(found.open()) else { continue };
                let file = found.path.display().to_string();
                all.push(Stray { item, file, taken: take(&session, &source) });
            }
        }
        all
    }

    /// The sessions of these files, joined.
    pub fn join_files<T: Send>(
        &mut self,
        files: Vec<Found>,
        take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
    ) -> Result<(Library, Vec<Option<T>>), HistoryError> {
        let is_read =
            |f: &&Found| matches!(f.kind, FileKind::Session { .. } | FileKind::Agent { .. });
        let begun = Instant::now();
        let to_read: Vec<&Found> = files.iter().filter(is_read).collect();
        self.observed.files_read += to_read.len();
        let bytes: u64 = to_read.iter().map(|found| found.size).sum();
        self.observed.bytes_read += bytes;
        let progress = self.progress();
        let work = Work::begin(&*progress, to_read.len(), bytes);
        let (mut library, taken) =
            Library::join(library::scan(files, take, |bytes| work.advance(1, bytes)));
        drop(work);
        self.note_step("files read and joined", begun);
        for problem in std::mem::take(&mut library.problems) {
            self.observed.skip(problem);
        }
        for card in &library.cards {
            self.observed.count_damaged(&card.diagnostics);
        }
        Ok((library, taken))
    }

    /// The session that a name stands for.
    pub fn open_session(&mut self, name: &SessionName) -> Result<OpenSession, HistoryError> {
        match name {
            SessionName::Path(path) => lone(path, None),
            SessionName::Stdin => self.stdin(),
            _ => {
                let library = self.all_sessions()?;
                let id = self.identify_session(name, &library)?;
                known(library, id)
            }
        }
    }

    /// As [`Recount::open_session`], but a path brings the subagents that lie beside it.
    pub fn open_with_agents(&mut self, name: &SessionName) -> Result<OpenSession, HistoryError> {
        let SessionName::Path(path) = name else { return self.open_session(name) };
        let library = with_agents(&Found::lone(path)?);
        let id = |library: &Library| {
            library.sessions.iter().find(|s| s.file.is_some()).map(|s| s.id.clone())
        };
        match library.map(|library| (id(&library), library)) {
            Some((Some(id), library)) => known(library, id),
            _ => self.open_session(name),
        }
    }

    /// As [`Recount::resolve_session`]; where there is none, it is said whether only its transcript is gone.
    pub fn identify_session(
        &mut self,
        name: &SessionName,
        library: &Library,
    ) -> Result<SessionId, HistoryError> {
        match self.resolve_session(name, library) {
            Err(HistoryError::Name(error)) => Err(self.no_such_session(error, name, library)),
            resolved => resolved,
        }
    }

    /// The id of the session that a name stands for.
    pub fn resolve_session(
        &mut self,
        name: &SessionName,
        library: &Library,
    ) -> Result<SessionId, HistoryError> {
        // An id is that of a transcript, or it is said that only prompts are left.
        let prompts_only = match name {
            SessionName::Latest | SessionName::Here => self.prompts_only(library)?,
            _ => Vec::new(),
        };
        let names = SessionNames::of(library, &prompts_only);
        Ok(names.resolve(Noun::Session, name, &self.current_folder()?)?)
    }

    /// The names of all sessions, and of some that only something beside a transcript names.
    pub fn session_names(
        &mut self,
        others: impl IntoIterator<Item = SessionId>,
    ) -> Result<SessionNames, HistoryError> {
        let library = self.all_sessions()?;
        Ok(SessionNames::of(&library, &self.prompts_only(&library)?).and(others))
    }

    /// The sessions of which only prompts are left, as `recount list` shows them.
    pub fn prompts_only(&mut self, library: &Library) -> Result<Vec<SessionItem>, HistoryError> {
        Ok(self.find_ghosts(library)?.iter().filter_map(report::list::ghost).collect())
    }

    /// Standard input, spooled: records are read by their place.
    fn stdin(&mut self) -> Result<OpenSession, HistoryError> {
        let failed = |error| Problem::new("standard input", error);
        let dir = tempfile::tempdir().map_err(failed)?;
        let path = dir.path().join("stdin.jsonl");
        let spool = || io::copy(&mut io::stdin().lock(), &mut File::create(&path)?);
        spool().map_err(failed)?;
        lone(&path, Some(dir))
    }
}

fn lone(path: &Path, spool: Option<TempDir>) -> Result<OpenSession, HistoryError> {
    let found = Found::lone(path)?;
    let session = read_session(&found, None)?;
    let sources = vec![Source::open(path)?];
    Ok(OpenSession { session, sources, known: None, _spool: spool })
}

/// A session's file with those of its subagents, which lie in the folder of the same name.
fn with_agents(found: &Found) -> Option<Library> {
    let FileKind::Session { session, .. } = &found.kind else { return None };
    let folder = found.path.with_extension("");
    let files = layout::walk_projects(&folder).files;
    let is_its = |f: &Found| matches!(&f.kind, FileKind::Agent { session: of, .. } if of.as_ref() == Some(session));
    let agents: Vec<Found> = files.into_iter().filter(is_its).collect();
    if agents.is_empty() {
        return None;
    }
    let files = std::iter::once(found.clone()).chain(agents).collect();
    Some(Library::join(library::scan(files, |_, _, _| None::<()>, |_| ())).0)
}

fn known(library: Library, id: SessionId) -> Result<OpenSession, HistoryError> {
    let item = library.session(id.as_str()).expect("it was found in the library");
    let (session, files) = library.read(item)?;
    let sources = files.iter().map(Found::open).collect::<Result<_, _>>()?;
    Ok(OpenSession { session, sources, known: Some((library, id)), _spool: None })
}

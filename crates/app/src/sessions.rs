//! Sessions for commands: all of them joined, or the one that was named.
//!
//! Which entries belong to a session is known only when all files have been read (copies, entries
//! in the wrong file), so a named session is opened out of the whole library. Only a path and
//! standard input are read alone.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use tempfile::TempDir;
use transcript::id::SessionId;
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::library::{self, Library, SessionItem, read_session};
use transcript::path::RecordedPath;
use transcript::session::Session;
use transcript::source::Source;

use crate::error::CliError;
use crate::name::{self, Candidate, Noun, Resolved, SessionName};
use crate::run::Run;

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

impl Run {
    /// The transcripts of every Claude folder.
    pub fn transcripts(&mut self) -> Result<Vec<Found>, CliError> {
        let begun = Instant::now();
        let mut files = Vec::new();
        for root in self.roots()? {
            let walk = layout::walk_projects(&root);
            walk.problems.into_iter().for_each(|problem| self.talk.skip(problem));
            let kept = self.kept(&root, &walk.files, FileKind::is_transcript)?;
            files.extend(in_order(walk.files, kept));
        }
        self.lists(&files);
        self.step("files listed", begun);
        Ok(files)
    }

    /// All sessions. `take` sees each file's session before it is let go.
    pub fn library<T: Send>(
        &mut self,
        take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
    ) -> Result<(Library, Vec<Option<T>>), CliError> {
        let files = self.transcripts()?;
        self.join(files, take)
    }

    /// The sessions of these files, joined.
    pub fn join<T: Send>(
        &mut self,
        files: Vec<Found>,
        take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
    ) -> Result<(Library, Vec<Option<T>>), CliError> {
        let is_read =
            |f: &&Found| matches!(f.kind, FileKind::Session { .. } | FileKind::Agent { .. });
        let begun = Instant::now();
        let to_read: Vec<&Found> = files.iter().filter(is_read).collect();
        self.read.0 += to_read.len();
        self.read.1 += to_read.iter().map(|found| found.size).sum::<u64>();
        let progress = self.progress(&to_read);
        let (mut library, taken) =
            Library::join(library::scan(files, take, |bytes| progress.step(bytes)));
        drop(progress);
        self.step("files read and joined", begun);
        for problem in std::mem::take(&mut library.problems) {
            self.talk.skip(problem);
        }
        for card in &library.cards {
            self.count_damaged(&card.diagnostics);
        }
        Ok((library, taken))
    }

    /// The session that a name stands for.
    pub fn open(&mut self, name: &SessionName) -> Result<OpenSession, CliError> {
        match name {
            SessionName::Path(path) => lone(path, None),
            SessionName::Stdin => self.stdin(),
            _ => {
                let (library, _) = self.library(|_, _, _| None::<()>)?;
                let id = self.identify(name, &library)?;
                known(library, id)
            }
        }
    }

    /// As [`Run::open`], but a path brings the subagents that lie beside it.
    pub fn open_with_agents(&mut self, name: &SessionName) -> Result<OpenSession, CliError> {
        let SessionName::Path(path) = name else { return self.open(name) };
        let library = with_agents(&Found::lone(path)?);
        let id = |library: &Library| {
            library.sessions.iter().find(|s| s.file.is_some()).map(|s| s.id.clone())
        };
        match library.map(|library| (id(&library), library)) {
            Some((Some(id), library)) => known(library, id),
            _ => self.open(name),
        }
    }

    /// As [`Run::resolve`]; where there is none, it is said whether only its transcript is gone.
    pub fn identify(
        &mut self,
        name: &SessionName,
        library: &Library,
    ) -> Result<SessionId, CliError> {
        match self.resolve(name, library) {
            Err(CliError::Name(error)) => Err(self.no_such_session(error, name, library)),
            resolved => resolved,
        }
    }

    /// The id of the session that a name stands for.
    pub fn resolve(&self, name: &SessionName, library: &Library) -> Result<SessionId, CliError> {
        let candidates: Vec<Candidate> =
            library.sessions.iter().map(|item| candidate(library, item)).collect();
        match name::resolve(Noun::Session, name, &candidates, &self.here()?)? {
            Resolved::Session(candidate) => Ok(candidate.id.clone()),
            Resolved::Path(path) => Ok(lone_id(path)),
            Resolved::Stdin => Err(name::NameError::NoStdin.into()),
        }
    }

    /// Standard input, spooled: records are read by their place.
    fn stdin(&mut self) -> Result<OpenSession, CliError> {
        let failed = |error| Problem::new("standard input", error);
        let dir = tempfile::tempdir().map_err(failed)?;
        let path = dir.path().join("stdin.jsonl");
        let spool = || io::copy(&mut io::stdin().lock(), &mut File::create(&path)?);
        spool().map_err(failed)?;
        lone(&path, Some(dir))
    }
}

/// Files in the order of their paths.
fn in_order(mut files: Vec<Found>, kept: Vec<Found>) -> Vec<Found> {
    if !kept.is_empty() {
        files.extend(kept);
        files.sort_by(|a, b| a.rel.as_os_str().cmp(b.rel.as_os_str()));
    }
    files
}

fn lone_id(path: &Path) -> SessionId {
    SessionId::new(path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned()))
}

fn lone(path: &Path, spool: Option<TempDir>) -> Result<OpenSession, CliError> {
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

fn known(library: Library, id: SessionId) -> Result<OpenSession, CliError> {
    let item = library.session(id.as_str()).expect("it was found in the library");
    let (session, files) = library.read(item)?;
    let sources = files.iter().map(Found::open).collect::<Result<_, _>>()?;
    Ok(OpenSession { session, sources, known: Some((library, id)), _spool: None })
}

fn candidate(library: &Library, item: &SessionItem) -> Candidate {
    let file = item.file.map(|f| &library.cards[f].found);
    Candidate {
        id: item.id.clone(),
        path: file.map(|f| f.path.clone()).unwrap_or_default(),
        modified: item.facts.last.or_else(|| file.and_then(|f| f.modified)),
        cwd: item.facts.cwd.as_deref().map(RecordedPath::new),
        slug: file.and_then(|f| f.kind.project_slug()).map(Into::into),
        title: item.title.as_ref().map(|(title, _)| title.to_string()),
    }
}

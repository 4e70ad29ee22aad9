//! Everything that is recorded of one file: its changes in all sessions, and its backups.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use report::file::{self, BackupRow, ChangeRow, FileLog, Filter};
use transcript::id::{AgentId, SessionId};
use transcript::layout::{FileKind, Problem};
use transcript::library::{Card, Library};
use transcript::side::backup::{self, BackupFile};
use transcript::source::Source;
use transcript::tool::Hunk;

use crate::error::HistoryError;
use crate::name::{self, NameError, Noun, SessionName};
use crate::recount::Recount;
use crate::sessions::Stray;

/// Everything that is recorded of the file.
pub struct FileHistory {
    /// The path that was given.
    pub given: String,
    /// All sessions.
    pub library: Library,
    /// The changes, each once.
    pub changes: Vec<ChangeRow>,
    /// The backups that transcripts name.
    pub recorded: Vec<BackupRow>,
    /// The backups that are there.
    pub here: Vec<BackupFile>,
    /// The paths that the given one may be on this computer.
    paths: Vec<String>,
    /// Changes in copies of sessions.
    pub copies: usize,
}

impl FileHistory {
    /// Reads it.
    pub fn read(recount: &mut Recount, given: &str) -> Result<Self, HistoryError> {
        let (library, taken) = recount.read_sessions(|_, session, source| {
            let changes = file::events(session, given);
            let tracked = file::tracked(session, source, given);
            (!changes.is_empty() || !tracked.is_empty()).then_some((changes, tracked))
        })?;
        let (here, paths) = (backups(recount)?, vec![absolute(recount, given)?]);
        let (mut changes, mut recorded, mut copies) = (Vec::new(), Vec::new(), 0);
        for (card, taken) in taken.into_iter().enumerate() {
            let Some((events, tracked)) = taken else { continue };
            recorded.extend(tracked);
            let Some((session, agent)) = owner(&library.cards[card]) else { continue };
            let file = &library.cards[card].found.path;
            for event in events {
                if library.is_copy(card, event.key) {
                    copies += 1;
                    continue;
                }
                let (session, agent, file) = (session.clone(), agent.clone(), file.clone());
                changes.push(ChangeRow { event, session, agent, file });
            }
        }
        changes.extend(strays(recount, &library, given));
        Ok(Self { given: given.into(), library, changes, recorded, here, paths, copies })
    }

    /// One log for each file that it may be.
    pub fn logs(&self, filter: &Filter) -> Vec<FileLog> {
        let (changes, recorded) = (self.changes.clone(), self.recorded.clone());
        file::logs(changes, recorded, &self.here, &self.paths, filter)
    }

    /// The session that a name stands for. Backups outlive transcripts, so that their sessions can
    /// be named, too.
    pub fn session(
        &self,
        recount: &mut Recount,
        name: Option<&SessionName>,
    ) -> Result<Option<SessionId>, HistoryError> {
        let Some(name) = name else { return Ok(None) };
        let error = match recount.resolve_session(name, &self.library) {
            Ok(id) => return Ok(Some(id)),
            Err(error) => error,
        };
        let (SessionName::Id(text), HistoryError::Name(NameError::Unknown { .. })) = (name, &error)
        else {
            return Err(error);
        };
        let ids: Vec<&str> = self.here.iter().map(|file| file.session.as_str()).collect();
        match name::pick(Noun::Session, text, &ids) {
            Ok(id) => Ok(Some(SessionId::new(id))),
            Err(NameError::Unknown { .. }) => Err(error),
            Err(ambiguous) => Err(ambiguous.into()),
        }
    }

    /// What a session is called.
    pub fn title(&self, session: &SessionId) -> Option<&str> {
        let item = self.library.session(session.as_str())?;
        item.title.as_ref().map(|(title, _)| &**title)
    }
}

/// The session that a transcript belongs to, and the subagent whose it is.
fn owner(card: &Card) -> Option<(SessionId, Option<AgentId>)> {
    match &card.found.kind {
        FileKind::Agent { session, agent, .. } => {
            Some((session.clone().or_else(|| card.id.clone())?, Some(agent.clone())))
        }
        kind => Some((card.id.clone().or_else(|| kind.session().cloned())?, None)),
    }
}

/// Changes that stand in another session's file.
fn strays(recount: &mut Recount, library: &Library, given: &str) -> Vec<ChangeRow> {
    let strays = recount.find_strays(library, |session, _| file::events(session, given));
    let rows = |Stray { item, file, taken }: Stray<'_, Vec<file::FileEvent>>| {
        let row = move |event| ChangeRow {
            event,
            session: item.id.clone(),
            agent: None,
            file: file.clone().into(),
        };
        taken.into_iter().map(row).collect::<Vec<_>>()
    };
    strays.into_iter().flat_map(rows).collect()
}

/// The backups that are there.
fn backups(recount: &mut Recount) -> Result<Vec<BackupFile>, HistoryError> {
    let mut all = Vec::new();
    for root in recount.claude_roots()? {
        let folder = root.join("file-history");
        let (backups, problems) = match folder.is_dir() {
            true => backup::backups(&folder),
            false => Default::default(),
        };
        problems.into_iter().for_each(|problem| recount.observed.skip(problem));
        let is_backup = |kind: &FileKind| matches!(kind, FileKind::FileHistory { .. });
        let kept =
            recount.archived_files(&root, &[], is_backup)?.into_iter().filter_map(backup::of_found);
        let is_new = |kept: &BackupFile| {
            !backups.iter().any(|b| b.session == kept.session && b.name == kept.name)
        };
        let kept: Vec<BackupFile> = kept.filter(is_new).collect();
        all.extend(backups.into_iter().chain(kept));
    }
    Ok(all)
}

/// The path as it would be on this computer.
fn absolute(recount: &Recount, given: &str) -> Result<String, HistoryError> {
    let plain = given.strip_prefix("./").unwrap_or(given);
    let path = if Path::new(plain).is_absolute() {
        plain.into()
    } else {
        recount.current_folder()?.join(plain)
    };
    Ok(path.to_string_lossy().into_owned())
}

/// The transcripts that were opened for their diffs.
#[derive(Default)]
pub struct ChangeSources {
    open: HashMap<PathBuf, Source>,
}

impl ChangeSources {
    /// The lines that a change changed.
    pub fn hunks(&mut self, history: &FileHistory, row: &ChangeRow) -> Result<Vec<Hunk>, Problem> {
        if !self.open.contains_key(&row.file) {
            let mut found = history.library.cards.iter().map(|card| &card.found);
            let source = match found.find(|found| found.path == row.file) {
                Some(found) => found.open()?,
                None => Source::open(&row.file)?,
            };
            self.open.insert(row.file.clone(), source);
        }
        file::hunks(&row.event, &self.open[&row.file])
    }
}

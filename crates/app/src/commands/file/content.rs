//! What a file was: in a backup, byte for byte, or after an entry, as far as it was recorded.

use ask::file::FileHistory;
use report::file::{self, BackupRow, FileContent, FileLog, Filter, Kept};
use transcript::id::SessionId;
use transcript::library::read_session;
use transcript::session::Session;
use transcript::source::Source;
use transcript::time::Time;
use transcript::tool::ToolForm;

use super::{Point, short};
use crate::error::{Answer, CliError, FileError};
use crate::run::Run;
use crate::terminal::format::counted;
use crate::wire;

/// A state of the file.
pub(super) struct State {
    /// The file, as recorded.
    pub path: String,
    /// The session that recorded it.
    pub session: SessionId,
    /// The content.
    pub bytes: Vec<u8>,
    /// What it stands on.
    pub origin: Origin,
}

/// What a content stands on.
pub(super) enum Origin {
    /// A backup, which is exact.
    Backup {
        /// Its version.
        version: u64,
        /// When it was made.
        time: Option<Time>,
        /// Its name is that of the path.
        is_proven: bool,
    },
    /// What was recorded up to an entry.
    Entry {
        /// The entry.
        entry: u32,
        /// The entry that gave the last whole text.
        base: u32,
        /// The tool that gave it.
        tool: String,
        /// Edits since.
        edits: usize,
        /// Changes that others made in between, which are not in it.
        others: usize,
    },
}

impl Origin {
    /// In one sentence.
    pub fn words(&self, run: &Run, session: &SessionId) -> String {
        let session = short(session.as_str());
        match self {
            Self::Backup { version, time, .. } => {
                let made = time.map(|time| format!(", made {}", run.recount.clock.minute(time)));
                let made = made.unwrap_or_default();
                format!("backup version {version} of session {session}{made}")
            }
            Self::Entry { base, tool, edits, others, .. } => {
                let since = match edits {
                    0 => String::new(),
                    _ => format!(" and {} since", counted(*edits, "edit")),
                };
                let read = if ToolForm::of(tool) == ToolForm::FileText {
                    ", where a last newline may be missing"
                } else {
                    ""
                };
                let others = match others {
                    0 => String::new(),
                    1 => {
                        "; 1 change that a subagent or another session made in between is not in it"
                            .into()
                    }
                    _ => format!(
                        "; {others} changes that subagents or other sessions made in between are \
                         not in it"
                    ),
                };
                format!(
                    "from the {tool} at entry {base} of session {session}{since}{read}; changes \
                     made by commands are not recorded{others}"
                )
            }
        }
    }

    /// The version, of a backup.
    pub fn version(&self) -> Option<u64> {
        match self {
            Self::Backup { version, .. } => Some(*version),
            Self::Entry { .. } => None,
        }
    }

    /// The entry it is after.
    pub fn entry(&self) -> Option<u32> {
        match self {
            Self::Backup { .. } => None,
            Self::Entry { entry, .. } => Some(*entry),
        }
    }
}

/// Prints the state that is meant: to a file or a pipe every byte as it is.
pub(super) fn print(
    run: &mut Run,
    all: &FileHistory,
    point: &Point,
    session: Option<SessionId>,
) -> Result<Answer, CliError> {
    let state = find(all, point, session)?;
    if run.json {
        let (base_entry, edits) = match &state.origin {
            Origin::Entry { base, edits, .. } => (Some(*base), Some(*edits)),
            Origin::Backup { .. } => (None, None),
        };
        run.out.json(&wire::file::FileContent {
            path: &state.path,
            session_id: state.session.as_str(),
            entry: state.origin.entry(),
            version: state.origin.version(),
            base_entry,
            edits,
            size: state.bytes.len(),
            text: std::str::from_utf8(&state.bytes).ok(),
        })?;
    } else {
        run.out.bytes(&state.bytes)?;
    }
    run.talk.note(format!("{}: {}", state.path, state.origin.words(run, &state.session)));
    Ok(Answer::Found)
}

/// The state that is meant.
pub(super) fn find(
    all: &FileHistory,
    point: &Point,
    session: Option<SessionId>,
) -> Result<State, CliError> {
    let log = one_log(all, session.clone())?;
    match (point.version, point.at) {
        (Some(version), _) => in_backup(&log, version),
        (None, Some(entry)) => after_entry(all, &log, point, session, entry),
        (None, None) => Err(FileError::Unknown(all.given.clone()).into()),
    }
}

/// The one file that is meant.
fn one_log(all: &FileHistory, session: Option<SessionId>) -> Result<FileLog, FileError> {
    let mut logs = all.logs(&Filter { session, ..Filter::default() });
    match logs.len() {
        0 => Err(FileError::Unknown(all.given.clone())),
        1 => Ok(logs.remove(0)),
        _ => {
            let paths = logs.into_iter().map(|log| log.path).collect();
            Err(FileError::Paths { given: all.given.clone(), paths })
        }
    }
}

fn in_backup(log: &FileLog, version: u64) -> Result<State, CliError> {
    let mut found: Vec<&BackupRow> =
        log.backups.iter().filter(|row| row.version == Some(version)).collect();
    // What is there counts before what is only recorded of the same session.
    found.sort_by_key(|row| !matches!(row.kept, Kept::Here(_)));
    let mut sessions: Vec<&SessionId> = Vec::new();
    found.retain(|row| {
        let is_new = !sessions.contains(&&row.session);
        sessions.push(&row.session);
        is_new
    });
    match found[..] {
        [] => Err(no_version(log, version).into()),
        [row] => kept(row, version),
        _ => {
            let sessions = found.iter().map(|row| short(row.session.as_str())).collect();
            Err(FileError::Versions { version, sessions }.into())
        }
    }
}

fn no_version(log: &FileLog, version: u64) -> FileError {
    let mut versions: Vec<u64> = log.backups.iter().filter_map(|row| row.version).collect();
    versions.sort_unstable();
    versions.dedup();
    FileError::NoVersion { version, versions }
}

fn kept(row: &BackupRow, version: u64) -> Result<State, CliError> {
    let file = match &row.kept {
        Kept::Here(file) => file,
        Kept::Absent => return Err(FileError::Absent(version).into()),
        Kept::Gone(name) => {
            return Err(FileError::Gone { version, name: Some(name.to_string()) }.into());
        }
        Kept::Unknown => return Err(FileError::Gone { version, name: None }.into()),
    };
    Ok(State {
        path: row.path.clone(),
        session: row.session.clone(),
        bytes: file.content()?,
        origin: Origin::Backup { version, time: row.time, is_proven: row.is_proven() },
    })
}

fn after_entry(
    all: &FileHistory,
    log: &FileLog,
    point: &Point,
    session: Option<SessionId>,
    entry: u32,
) -> Result<State, CliError> {
    let id = match session {
        Some(session) => session,
        None => only_session(log)?,
    };
    let (session, source) = open(all, &id, point.agent.as_deref())?;
    let last = session.nodes().iter().filter(|n| n.source == 0).map(|n| n.number).max();
    if session.numbered(entry).is_none() {
        return Err(FileError::NoEntry { entry, last: last.unwrap_or(0) }.into());
    }
    let content = file::content_at(&session, &source, &log.path, entry)?;
    let content = content.ok_or(FileError::NoContent { entry })?;
    let others = others(all, &log.path, &session, source.path(), (content.base, entry));
    let FileContent { text, base, tool, edits } = content;
    Ok(State {
        path: log.path.clone(),
        session: id,
        bytes: text.into_bytes(),
        origin: Origin::Entry { entry, base, tool, edits, others },
    })
}

fn only_session(log: &FileLog) -> Result<SessionId, FileError> {
    let mut sessions: Vec<&SessionId> = log.changes.iter().map(|row| &row.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    match sessions[..] {
        [session] => Ok(session.clone()),
        [] => Err(FileError::Unknown(log.path.clone())),
        _ => Err(FileError::Sessions(sessions.iter().map(|id| short(id.as_str())).collect())),
    }
}

/// The transcript whose entries are counted: the session's own, or one of its subagents'.
fn open(
    all: &FileHistory,
    id: &SessionId,
    agent: Option<&str>,
) -> Result<(Session, Source), CliError> {
    let library = &all.library;
    let item = library.session(id.as_str());
    let file = match agent {
        None => item.and_then(|item| item.file),
        Some(name) => {
            let agents = item.map_or(&[][..], |item| &item.agents);
            let is_it = |agent: &&transcript::library::Agent| agent.id.as_str().starts_with(name);
            let file = agents.iter().find(is_it).and_then(|agent| agent.file);
            Some(file.ok_or_else(|| FileError::NoAgent(name.into()))?)
        }
    };
    let file = file.ok_or_else(|| FileError::Unknown(all.given.clone()))?;
    let found = &library.cards[file].found;
    Ok((read_session(found, library.copies_of(file))?, found.open()?))
}

/// Changes in other transcripts between two entries.
fn others(
    all: &FileHistory,
    path: &str,
    session: &Session,
    own: &std::path::Path,
    (base, entry): (u32, u32),
) -> usize {
    let time = |number| session.numbered(number).and_then(|node| session.nodes()[node].time());
    let Some((base, entry)) = time(base).zip(time(entry)) else { return 0 };
    let is_between = |row: &&report::file::ChangeRow| {
        row.event.path == path
            && row.file != own
            && row.event.time.is_some_and(|time| base < time && time <= entry)
    };
    all.changes.iter().filter(is_between).count()
}

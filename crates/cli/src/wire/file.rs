//! Lines of `recount file --json` and `recount file restore --json`.

use report::file::{BackupRow, ChangeRow, Kept};
use serde::Serialize;
use transcript::entry::tool::Hunk;

/// A change to a file.
#[derive(Serialize)]
#[serde(tag = "type", rename = "file_change")]
pub struct FileChange<'a> {
    /// The file, as recorded.
    path: &'a str,
    session_id: &'a str,
    title: Option<&'a str>,
    /// The subagent that made it; then `entry` is counted in its transcript.
    agent_id: Option<&'a str>,
    /// The number of the result's entry.
    entry: u32,
    time: Option<String>,
    tool: &'a str,
    added: u32,
    removed: u32,
    /// The file did not exist before.
    created: bool,
    /// The lines were counted from the call, because no patch was recorded.
    estimated: bool,
    /// `active`, `compacted`, `abandoned`, `subagent`.
    state: &'static str,
    /// The turn, from 1.
    turn: Option<usize>,
    /// What was changed; empty without `--diff`.
    hunks: Vec<ChangedLines<'a>>,
}

#[derive(Serialize)]
struct ChangedLines<'a> {
    /// The first line in the old file; 0 where it is not known.
    old_start: u64,
    new_start: u64,
    /// Lines with their mark.
    lines: &'a [String],
}

impl<'a> FileChange<'a> {
    /// A change with its session's title.
    pub fn new(row: &'a ChangeRow, title: Option<&'a str>, hunks: &'a [Hunk]) -> Self {
        let event = &row.event;
        let hunks = hunks.iter().map(|hunk| ChangedLines {
            old_start: hunk.old_start,
            new_start: hunk.new_start,
            lines: &hunk.lines,
        });
        Self {
            path: &event.path,
            session_id: row.session.as_str(),
            title,
            agent_id: row.agent.as_ref().map(|agent| agent.as_str()),
            entry: event.number,
            time: super::time(event.time),
            tool: &event.tool,
            added: event.added,
            removed: event.removed,
            created: event.created,
            estimated: event.estimated,
            state: event.state.name(),
            turn: event.turn.map(|turn| turn + 1),
            hunks: hunks.collect(),
        }
    }
}

/// A file as it was kept before a change.
#[derive(Serialize)]
#[serde(tag = "type", rename = "file_backup")]
pub struct FileBackup<'a> {
    path: &'a str,
    session_id: &'a str,
    title: Option<&'a str>,
    version: Option<u64>,
    /// Its name in the session's folder of `file-history/`.
    name: Option<String>,
    time: Option<String>,
    size: Option<u64>,
    /// `here`, `gone`, `absent` (the file did not exist then) or `unknown`.
    kept: &'static str,
}

impl<'a> FileBackup<'a> {
    /// A backup with its session's title.
    pub fn new(row: &'a BackupRow, title: Option<&'a str>) -> Self {
        Self {
            path: &row.path,
            session_id: row.session.as_str(),
            title,
            version: row.version,
            name: row.kept.name().map(ToString::to_string),
            time: super::time(row.time),
            size: match &row.kept {
                Kept::Here(file) => Some(file.size),
                _ => None,
            },
            kept: row.kept.word(),
        }
    }
}

/// What a file was.
#[derive(Serialize)]
#[serde(tag = "type", rename = "file_content")]
pub struct FileContent<'a> {
    pub path: &'a str,
    pub session_id: &'a str,
    /// After this entry.
    pub entry: Option<u32>,
    /// In this backup.
    pub version: Option<u64>,
    /// The entry that gave the last whole text.
    pub base_entry: Option<u32>,
    /// Edits applied to it since.
    pub edits: Option<usize>,
    pub size: usize,
    /// The content; `null` where it is no text.
    pub text: Option<&'a str>,
}

/// What was written back.
#[derive(Serialize)]
#[serde(tag = "type", rename = "file_restored")]
pub struct FileRestored<'a> {
    pub path: &'a str,
    pub session_id: &'a str,
    pub entry: Option<u32>,
    pub version: Option<u64>,
    pub size: usize,
    /// `created`, `replaced` or `same` (nothing was to do).
    pub outcome: &'static str,
}

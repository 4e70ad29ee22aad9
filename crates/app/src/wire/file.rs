//! Lines of `recount file --json` and `recount file restore --json`.

use report::file::{BackupRow, ChangeRow, Kept};
use serde::Serialize;
use transcript::tool::Hunk;

/// A change to a file.
#[derive(Serialize)]
#[serde(tag = "type", rename = "file_change")]
pub struct FileChange<'a> {
    /// The file's path, as recorded.
    path: &'a str,
    /// The id of the session that made it.
    session_id: &'a str,
    /// The session's title; `null` where it has none.
    title: Option<&'a str>,
    /// The id of the subagent that made it, in whose transcript `entry` is then counted; `null` for
    /// the session itself.
    agent_id: Option<&'a str>,
    /// The number of the result's entry in its transcript, counted from 1.
    entry: u32,
    /// The time of the result's entry; `null` where it has none.
    time: Option<String>,
    /// The tool that made it, such as `Edit` or `Write`.
    tool: &'a str,
    /// Lines added.
    added: u32,
    /// Lines removed.
    removed: u32,
    /// Whether the call created the file.
    created: bool,
    /// Whether the lines were counted from the call, because no patch was recorded.
    estimated: bool,
    /// Whether the call deleted the file.
    deleted: bool,
    /// Whether the lines are not known: the result names the file and not what changed in it.
    unknown: bool,
    /// `active`, `compacted`, `cleared`, `abandoned`, `subagent`.
    state: &'static str,
    /// The turn, counted from 1; `null` for a change that is in none.
    turn: Option<usize>,
    /// The lines that were changed, piece by piece; empty without `--diff`.
    hunks: Vec<ChangedLines<'a>>,
}

/// A piece of a change.
#[derive(Serialize)]
struct ChangedLines<'a> {
    /// The first line in the old file, counted from 1; 0 where it is not known.
    old_start: u64,
    /// The first line in the new file, counted from 1; 0 where it is not known.
    new_start: u64,
    /// The lines, each with its mark in front: space, `+`, `-` or `\`.
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
            deleted: event.deleted,
            unknown: event.unknown,
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
    /// The file's path: absolute where that is known, else as recorded.
    path: &'a str,
    /// The id of the session that made the backup.
    session_id: &'a str,
    /// The session's title; `null` where it has none.
    title: Option<&'a str>,
    /// The backup's version, counted from 1 in its session; `null` where none is recorded.
    version: Option<u64>,
    /// Its name in the session's folder of `file-history/`; `null` where `kept` is `absent` or
    /// `unknown`.
    name: Option<String>,
    /// When it was made, else when it was last written; `null` where neither is known.
    time: Option<String>,
    /// Its size in bytes; `null` unless `kept` is `here`.
    size: Option<u64>,
    /// What there is of it: `here`, `gone`, `absent` (the file did not exist then) or `unknown`.
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
    /// The file's path, as recorded.
    pub path: &'a str,
    /// The id of the session that recorded it.
    pub session_id: &'a str,
    /// The entry after which the file was so, counted from 1; `null` for a backup.
    pub entry: Option<u32>,
    /// The version of the backup it was taken from, counted from 1; `null` where it was put
    /// together from entries.
    pub version: Option<u64>,
    /// The entry that gave the last whole text, counted from 1; `null` for a backup.
    pub base_entry: Option<u32>,
    /// How many edits were applied to that text since; `null` for a backup.
    pub edits: Option<usize>,
    /// Its size in bytes.
    pub size: usize,
    /// The content; `null` where it is not UTF-8.
    pub text: Option<&'a str>,
}

/// What was written back.
#[derive(Serialize)]
#[serde(tag = "type", rename = "file_restored")]
pub struct FileRestored<'a> {
    /// The file's path, as recorded.
    pub path: &'a str,
    /// The id of the session that recorded the content.
    pub session_id: &'a str,
    /// The entry after which the file was so, counted from 1; `null` for a backup.
    pub entry: Option<u32>,
    /// The version of the backup it was taken from, counted from 1; `null` where it was put
    /// together from entries.
    pub version: Option<u64>,
    /// The size of the content in bytes.
    pub size: usize,
    /// What was done: `created`, `replaced` or `same` (the file was so already, nothing was
    /// written).
    pub outcome: &'static str,
}

//! `sessions-index.json`: a list of a project's sessions. Written until about 2.1.30.
//!
//! Stale ever since where it still lies about: a hint for what the transcripts do not say (the
//! path of an empty project), never an answer. A damaged one gives the entries that are whole.

use super::{Extra, Object, Read, Reader};
use crate::id::SessionId;
use crate::json::Raw;
use crate::path::RecordedPath;
use crate::time::Time;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionsIndex {
    /// The version of the form; 1 is the only one seen.
    pub version: Option<u64>,
    /// The project's path.
    pub original_path: Option<RecordedPath>,
    /// The sessions.
    pub entries: Vec<IndexEntry>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// One session of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// The session.
    pub session: Option<SessionId>,
    /// Its transcript.
    pub full_path: Option<RecordedPath>,
    /// When the transcript was last written, as the list saw it.
    pub file_modified: Option<Time>,
    /// The first prompt, cut.
    pub first_prompt: Option<Box<str>>,
    /// A title.
    pub summary: Option<Box<str>>,
    /// How many messages it has.
    pub message_count: Option<u64>,
    /// Its first entry.
    pub created: Option<Time>,
    /// Its last entry.
    pub modified: Option<Time>,
    /// The branch.
    pub git_branch: Option<Box<str>>,
    /// The project's path.
    pub project_path: Option<RecordedPath>,
    /// Whether it is a subagent's.
    pub is_sidechain: Option<bool>,
    /// The number of its pull request.
    pub pr_number: Option<u64>,
    /// The address of its pull request.
    pub pr_url: Option<Box<str>>,
    /// The repository of its pull request.
    pub pr_repository: Option<Box<str>>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<SessionsIndex> {
    let mut reader = Reader::new(bytes);
    let mut object = reader.document_object();
    let entries = match object.array("entries") {
        Some(list) => reader.objects(list),
        None => Vec::new(),
    };
    let mut index = SessionsIndex {
        version: object.number("version"),
        original_path: object.path("originalPath"),
        entries: entries.into_iter().map(entry).collect(),
        extra: object.rest(),
    };
    if !reader.is_clean() {
        let whole = salvage(bytes);
        if whole.len() > index.entries.len() {
            index.entries = whole;
        }
    }
    (index, reader.finish())
}

fn entry(mut object: Object<'_>) -> IndexEntry {
    IndexEntry {
        session: object.session("sessionId"),
        full_path: object.path("fullPath"),
        file_modified: object.time("fileMtime"),
        first_prompt: object.text("firstPrompt"),
        summary: object.text("summary"),
        message_count: object.number("messageCount"),
        created: object.time("created"),
        modified: object.time("modified"),
        git_branch: object.text("gitBranch"),
        project_path: object.path("projectPath"),
        is_sidechain: object.bool("isSidechain"),
        pr_number: object.number("prNumber"),
        pr_url: object.text("prUrl"),
        pr_repository: object.text("prRepository"),
        extra: object.rest(),
    }
}

/// The whole entries of a damaged file: an entry begins with its `sessionId`.
fn salvage(bytes: &[u8]) -> Vec<IndexEntry> {
    let mut entries = Vec::new();
    let mut from = 0;
    for key in memchr::memmem::find_iter(bytes, br#""sessionId""#) {
        let before = bytes[..key].trim_ascii_end();
        if key < from || before.last() != Some(&b'{') {
            continue;
        }
        let Ok(raw) = Raw::new(&bytes[before.len() - 1..]) else { continue };
        let mut inner = Reader::new(raw.bytes());
        let object = inner.object(raw);
        if inner.is_clean() {
            entries.push(entry(object));
            from = before.len() - 1 + raw.bytes().len();
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"version":1,"entries":[{"sessionId":"0340f328-33c2-42fb-b9fa-ae58a9d8a799","fullPath":"/home/x/.claude/projects/-home-x-app/0340f328-33c2-42fb-b9fa-ae58a9d8a799.jsonl","fileMtime":1769000000123.5,"firstPrompt":"hello","summary":"A title","messageCount":12,"created":"2026-01-21T10:00:00.000Z","modified":"2026-01-21T11:00:00.000Z","gitBranch":"main","projectPath":"/home/x/app","isSidechain":false,"prNumber":7,"prUrl":"https://github.com/x/app/pull/7","prRepository":"x/app"},{"sessionId":"b"}],"originalPath":"/home/x/app"}"#;

    #[test]
    fn a_whole_one() {
        let (index, odd) = parse(WHOLE.as_bytes());
        assert!(odd.is_empty() && index.extra.is_empty());
        assert_eq!(index.version, Some(1));
        assert_eq!(index.original_path, Some(RecordedPath::new("/home/x/app")));
        let first = &index.entries[0];
        assert_eq!(first.file_modified, Some(Time(1_769_000_000_123)));
        assert_eq!((first.message_count, first.pr_number), (Some(12), Some(7)));
        assert!(first.extra.is_empty());
        assert_eq!(index.entries[1].session, Some(SessionId::new("b")));
    }

    #[test]
    fn garbage_leaves_the_whole_entries() {
        let (index, odd) = parse(&WHOLE.as_bytes()[..WHOLE.len() - 30]);
        assert_eq!((index.entries.len(), odd.len()), (2, 1));

        let garbage =
            WHOLE.replace("},{\"sessionId\":\"b\"", "},\u{1}\u{fffd}garbage{\"sessionId\":\"b\"");
        let (index, odd) = parse(garbage.as_bytes());
        assert_eq!((index.entries.len(), odd.len()), (2, 1));

        let (index, odd) = parse(b"\x93\x00\xfe garbage");
        assert_eq!((index.entries.len(), odd.len()), (0, 1));
    }
}

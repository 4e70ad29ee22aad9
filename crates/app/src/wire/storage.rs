//! Lines of `recount storage --json`: the total, its parts, files beside the transcripts, then
//! each session and each project, the largest first, and the archive if there is one.

use report::storage::{Part, ProjectStorage, Report, SessionStorage, Share, Storage};
use serde::Serialize;
use transcript::bulk::BulkKind;

/// All transcripts.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "storage")]
pub struct StorageTotal {
    /// Transcripts, those of subagents included.
    pub files: u64,
    /// Sessions.
    pub sessions: usize,
    /// Bytes.
    pub bytes: u64,
    /// Bytes of a copy without base64.
    pub without_base64: u64,
    /// Bytes of a copy without the files before edits.
    pub without_original_file: u64,
    /// Bytes of a copy without texts of reads that stand in the message, too.
    pub without_reads: u64,
    /// Bytes without Claude Code's own copies of the system prompt.
    pub without_snapshots: u64,
    /// Bytes of a copy without all of these.
    pub clean_bytes: u64,
    /// The size of the largest session's clean copy.
    pub largest_clean_bytes: Option<u64>,
    /// The median size of a session's clean copy.
    pub median_clean_bytes: Option<u64>,
}

/// A row of one of the tables.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "storage_part")]
pub struct StoragePart<'a> {
    /// The table: `bulk` (what can be left out), `base64` (by media type), `entry` (by type; their
    /// bytes are all bytes), `user` (what user entries carry), `tool` (results by tool), `answer`
    /// (parts of the model's answers), `input` (inputs by tool), `size` (sessions by the size of
    /// a clean copy).
    pub table: &'static str,
    /// What it is a row of.
    pub name: &'a str,
    /// How many.
    pub items: u64,
    /// Bytes. Of values between their quotes, as they stand in the file.
    pub bytes: u64,
    /// What is left of them in a clean copy.
    pub clean_bytes: u64,
    /// In results of a tool: bytes of files before edits.
    pub original_file_bytes: Option<u64>,
}

/// Files beside the transcripts.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "storage_side")]
pub struct StorageSide<'a> {
    /// What they are: `tool-result`, `file-history`, `debug` and others.
    pub kind: &'a str,
    /// How many.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A session with its subagents.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "storage_session")]
pub struct StorageSession<'a> {
    /// The session; `null` for transcripts that name none.
    pub session: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// The folder it began in.
    pub project: Option<&'a str>,
    /// What it takes.
    #[serde(flatten)]
    pub bytes: StorageBytes,
}

/// A project.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "storage_project")]
pub struct StorageProject<'a> {
    /// The folder; `null` for sessions that name none.
    pub project: Option<&'a str>,
    /// Its sessions.
    pub sessions: u64,
    /// What they take.
    #[serde(flatten)]
    pub bytes: StorageBytes,
}

/// What some transcripts take.
#[derive(Debug, Serialize)]
pub struct StorageBytes {
    /// Transcripts.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes of a clean copy.
    pub clean_bytes: u64,
    /// Bytes of base64.
    pub base64_bytes: u64,
    /// Bytes of files before edits.
    pub original_file_bytes: u64,
    /// Bytes of texts of reads that stand in the message, too.
    pub read_bytes: u64,
    /// Bytes of Claude Code's own copies of the system prompt.
    pub snapshot_bytes: u64,
}

/// What the archive takes.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "storage_archive")]
pub struct StorageArchive {
    /// Files that are kept.
    pub files: u64,
    /// Their bytes, older contents included.
    pub bytes: u64,
    /// Bytes of the archive on disk.
    pub archive_bytes: u64,
}

impl StorageTotal {
    /// The line of a report.
    pub fn new(report: &Report) -> Self {
        let total = &report.total;
        let sizes = report.largest_and_median();
        Self {
            files: total.all.items,
            sessions: report.sessions.len(),
            bytes: total.all.bytes,
            without_base64: total.without(&[BulkKind::Base64]),
            without_original_file: total.without(&[BulkKind::OriginalFile]),
            without_reads: total.without(&[BulkKind::Read]),
            without_snapshots: total.without(&[BulkKind::Snapshot]),
            clean_bytes: total.all.clean,
            largest_clean_bytes: sizes.map(|(largest, _)| largest),
            median_clean_bytes: sizes.map(|(_, median)| median),
        }
    }
}

/// The rows of all tables.
pub fn parts(report: &Report) -> Vec<StoragePart<'_>> {
    fn part<'a>(table: &'static str, name: &'a str, share: &Share) -> StoragePart<'a> {
        let Share { items, bytes, clean: clean_bytes } = *share;
        StoragePart { table, name, items, bytes, clean_bytes, original_file_bytes: None }
    }
    let total = &report.total;
    let bulk = BulkKind::ALL.map(|kind| part("bulk", kind.name(), &total.of(kind)));
    let mut parts = Vec::from(bulk);
    parts.extend(total.base64.iter().map(|(name, share)| part("base64", name, share)));
    parts.extend(total.entries.iter().map(|(name, share)| part("entry", name, share)));
    parts.extend(total.user.iter().map(|(kind, share)| part("user", kind.name(), share)));
    parts.extend(total.tools.iter().map(|(name, tool)| StoragePart {
        original_file_bytes: Some(tool.original_file),
        ..part("tool", name, &tool.share)
    }));
    parts.extend(total.parts.iter().map(|(name, share)| match name {
        Part::Text => part("answer", "text", share),
        Part::Thinking => part("answer", "thinking", share),
        Part::Signature => part("answer", "signature", share),
        Part::Input(tool) => part("input", tool, share),
    }));
    parts.extend(report.buckets().iter().map(|(name, share)| part("size", name, share)));
    parts
}

impl From<&Storage> for StorageBytes {
    fn from(storage: &Storage) -> Self {
        let [base64_bytes, original_file_bytes, read_bytes, snapshot_bytes] =
            BulkKind::ALL.map(|kind| storage.of(kind).bytes);
        Self {
            files: storage.all.items,
            bytes: storage.all.bytes,
            clean_bytes: storage.all.clean,
            base64_bytes,
            original_file_bytes,
            read_bytes,
            snapshot_bytes,
        }
    }
}

impl<'a> From<&'a SessionStorage> for StorageSession<'a> {
    fn from(session: &'a SessionStorage) -> Self {
        Self {
            session: session.id.as_ref().map(|id| id.as_str()),
            title: session.title.as_deref(),
            project: session.project.as_deref(),
            bytes: StorageBytes::from(&session.storage),
        }
    }
}

impl<'a> From<&'a ProjectStorage> for StorageProject<'a> {
    fn from(project: &'a ProjectStorage) -> Self {
        Self {
            project: project.project.as_deref(),
            sessions: project.sessions,
            bytes: StorageBytes::from(&project.storage),
        }
    }
}

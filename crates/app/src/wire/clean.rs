//! Lines of `recount clean --json`.

use serde::Serialize;

/// A file of the session, copied.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "cleaned_file")]
pub struct CleanedFile<'a> {
    /// The session.
    pub session: &'a str,
    /// What it is: `session` and `agent` are cleaned; `agent-meta`, `tool-result` and others are
    /// copied as they are.
    pub kind: &'static str,
    /// Where it was read.
    pub source: String,
    /// Where the copy was written; `null` with `--dry-run`.
    pub path: Option<String>,
    /// Bytes of the source.
    pub bytes: u64,
    /// Bytes of the copy.
    pub clean_bytes: u64,
    /// Images and documents left out.
    pub base64_items: u64,
    /// Their bytes.
    pub base64_bytes: u64,
    /// Files before edits left out.
    pub original_file_items: u64,
    /// Their bytes.
    pub original_file_bytes: u64,
    /// Texts of reads left out.
    pub read_items: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Claude Code's own copies of the system prompt and the tools that were left out.
    pub snapshot_items: u64,
    /// Bytes of them.
    pub snapshot_bytes: u64,
}

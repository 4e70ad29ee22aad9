//! Lines of `recount export --json`, and the last line of an export as JSON.

use serde::Serialize;

/// A session that was exported.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "exported_session")]
pub struct ExportedSession<'a> {
    /// The session.
    pub session: &'a str,
    /// Its title, without secrets.
    pub title: &'a str,
    /// The form: `html`, `markdown`, `json` or `jsonl`.
    pub format: &'static str,
    /// The file, or the first of them; `null` in the file itself.
    pub path: Option<String>,
    /// Bytes of its transcripts, subagents included.
    pub bytes: u64,
    /// Bytes that were written for it; `null` in the file itself.
    pub written_bytes: Option<u64>,
    /// Records that are in the export; lines where they are raw.
    pub records: usize,
    /// What is not in the export, in words.
    pub left_out: &'a [String],
    /// Whether secrets were replaced.
    pub redacted: bool,
}

/// What one rule replaced in an export.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "redaction")]
pub struct Redaction<'a> {
    /// The rule.
    pub rule: &'a str,
    /// What kind of service or file it belongs to.
    pub family: &'a str,
    /// What it finds.
    pub description: &'a str,
    /// How often something was replaced.
    pub count: u64,
    /// Where, each entry once, at most 100.
    pub places: Vec<RedactedPlace<'a>>,
}

/// Where something was replaced.
#[derive(Debug, Serialize)]
pub struct RedactedPlace<'a> {
    /// The session.
    pub session: &'a str,
    /// The number of the entry in its file, counted from 1; 0 for a title or another text that is
    /// in no entry.
    pub entry: u64,
}

//! Lines of `recount restore --json`.

use serde::Serialize;

/// A file of the session.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "restored_file")]
pub struct RestoredFile<'a> {
    /// The session.
    pub session: &'a str,
    /// What it is: `session`, `agent`, `agent-meta`, `tool-result`, `todos`, `task`,
    /// `file-history`, `debug`, `session-env` and others.
    pub kind: &'static str,
    /// Where it was written; where it was in the Claude folder, if nothing was to be written.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// When it was last written before it was kept.
    pub modified: Option<String>,
    /// `written`; `there` or `missing` if nothing was to be written.
    pub outcome: &'static str,
}

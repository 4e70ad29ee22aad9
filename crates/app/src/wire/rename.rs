//! `rename --json` and `tag --json`.

use serde::Serialize;

/// One line: what was added to a transcript.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "stamp")]
pub struct Stamp<'a> {
    /// The session.
    pub session: &'a str,
    /// Its transcript.
    pub path: String,
    /// The line, as it stands there.
    pub line: &'a str,
    /// `written` or `planned` (with `--dry-run`).
    pub outcome: &'static str,
}

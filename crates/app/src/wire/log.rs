//! Lines of `recount log --json`.

use serde::Serialize;
use transcript::side::debug::DebugLine;

/// A debug log, where none was asked for by name.
#[derive(Serialize)]
#[serde(tag = "type", rename = "log")]
pub struct Log<'a> {
    /// The session.
    pub session_id: &'a str,
    /// When it was last written.
    pub modified: Option<String>,
    /// Bytes.
    pub size: u64,
    /// Where it is.
    pub path: String,
}

/// A message of a debug log.
#[derive(Serialize)]
#[serde(tag = "type", rename = "log_message")]
pub struct LogMessage<'a> {
    /// When; `null` for text before the first time.
    time: Option<String>,
    /// `DEBUG`, `ERROR`, …
    level: Option<&'a str>,
    /// The word in brackets: `LSP MANAGER`.
    category: Option<&'a str>,
    /// The message, which may have several lines.
    text: &'a str,
    /// Byte offset in the file.
    offset: u64,
}

impl<'a> LogMessage<'a> {
    /// A message that stands `base` bytes further in the file than the line says.
    pub fn new(line: &'a DebugLine<'_>, base: u64) -> Self {
        Self {
            time: super::time(line.time),
            level: line.level.as_deref(),
            category: line.category.as_deref(),
            text: &line.text,
            offset: base + line.offset,
        }
    }
}

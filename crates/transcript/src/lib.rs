//! Claude Code's files: bytes, lines, entries, sessions.

pub mod catalog;
pub mod diagnostic;
pub mod entry;
pub mod id;
pub mod json;
pub mod line;
pub mod prompt;
pub mod session;
pub mod time;

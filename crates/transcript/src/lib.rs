//! Claude Code's files: bytes, lines, entries, sessions.

pub mod diagnostic;
pub mod id;
pub mod json;
pub mod layout;
pub mod path;
pub mod side;
pub mod time;

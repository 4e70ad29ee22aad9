//! What `recount clean` cannot do, in words.

use std::io;
use std::path::PathBuf;

use super::{CliError, Message, reason};

/// Why a clean copy cannot be written.
#[derive(Debug)]
pub enum CleanError {
    /// The folder to write to is below a Claude folder.
    InClaude(PathBuf),
    /// Something is where a copy should go.
    Exists(PathBuf),
    /// Two files would go to the same place.
    Twice(PathBuf),
    /// A file cannot be written.
    Write { path: PathBuf, error: io::Error },
    /// What was written is not what was to be written.
    Differs(PathBuf),
}

impl From<CleanError> for CliError {
    fn from(error: CleanError) -> Self {
        Self::Clean(error)
    }
}

/// The message, and what to do.
pub(super) fn message(error: &CleanError) -> Message {
    let (error, hint) = match error {
        CleanError::InClaude(path) => (
            format!("{} is below a Claude folder", path.display()),
            "Claude Code would take it for its own: name another folder",
        ),
        CleanError::Exists(path) => (
            format!("{} already exists", path.display()),
            "Nothing is ever overwritten and nothing was written: name another folder",
        ),
        CleanError::Twice(path) => (
            format!("Two files would become {}", path.display()),
            "Clean them one after the other, each to a folder of its own",
        ),
        CleanError::Write { path, error } => (
            format!("Cannot write {}: {}", path.display(), reason(error)),
            "What was written before it is whole and stays; no file was replaced",
        ),
        CleanError::Differs(path) => (
            format!("{} is not what was written to it", path.display()),
            "Do not use it: is something else writing there, or the disk failing?",
        ),
    };
    Message { error, hint: Some(hint.into()) }
}

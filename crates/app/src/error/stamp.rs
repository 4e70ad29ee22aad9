//! Why a title or a tag can't be written, in words.

use std::io;
use std::path::PathBuf;

use super::{CliError, Message, reason};
use crate::commands::short;

/// Why nothing was added to a transcript.
#[derive(Debug)]
pub enum StampError {
    /// The session is running.
    Live(String),
    /// It has no transcript on disk.
    NoFile(String),
    /// Something else wrote to the transcript meanwhile.
    Grew(PathBuf),
    /// The transcript can't be written.
    Io(PathBuf, io::Error),
}

impl From<StampError> for CliError {
    fn from(error: StampError) -> Self {
        Self::Stamp(error)
    }
}

pub(super) fn message(error: &StampError) -> Message {
    match error {
        StampError::Live(id) => Message {
            error: format!("Session `{}` is running", short(id)),
            hint: Some("Use `/rename` or `/tag` in it, or wait until it has ended".into()),
        },
        StampError::NoFile(id) => Message {
            error: format!("Session `{}` has no transcript in a Claude folder", short(id)),
            hint: Some("`recount note` writes into the store instead".into()),
        },
        StampError::Grew(path) => Message {
            error: format!("Something else writes to {}", path.display()),
            hint: Some("Wait until the session has ended, then look at `recount show`".into()),
        },
        StampError::Io(path, error) => Message {
            error: format!("Cannot write {}: {}", path.display(), reason(error)),
            hint: None,
        },
    }
}

//! Why nothing was learned, in words.

use std::io;
use std::path::PathBuf;

use super::{CliError, Message, reason};

/// Why a learning can't be found, made or written.
#[derive(Debug)]
pub enum LearnError {
    /// The backlog or a `CLAUDE.md` can't be read or written.
    Io(PathBuf, io::Error),
    /// There is no learning of this name.
    Unknown(String),
    /// A learning that names no file to be written to.
    NoTarget(String),
    /// The person's command did not work: what it said.
    Command(String, String),
}

impl From<LearnError> for CliError {
    fn from(error: LearnError) -> Self {
        Self::Learn(error)
    }
}

pub(super) fn message(error: &LearnError) -> Message {
    match error {
        LearnError::Io(path, error) => Message {
            error: format!("Cannot use {}: {}", path.display(), reason(error)),
            hint: None,
        },
        LearnError::Unknown(id) => Message {
            error: format!("No learning `{id}`, or several"),
            hint: Some("`recount learn list` names them".into()),
        },
        LearnError::NoTarget(id) => Message {
            error: format!("Learning `{id}` has no `target`"),
            hint: Some("Write the path of a CLAUDE.md behind `target:` in the backlog".into()),
        },
        LearnError::Command(command, said) => Message {
            error: format!("`{command}` failed: {said}"),
            hint: Some("What it was asked before is kept: `learn scan` goes on from there".into()),
        },
    }
}

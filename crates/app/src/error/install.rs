//! Why settings of Claude Code can't be changed, in words.

use std::io;
use std::path::PathBuf;

use super::{CliError, Message, reason};

/// Why a file of settings can't be changed.
#[derive(Debug)]
pub enum InstallError {
    /// It is no JSON, from this line on.
    NoJson(PathBuf, usize),
    /// It can't be read or written.
    Io(PathBuf, io::Error),
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        Self::Install(error)
    }
}

pub(super) fn message(error: &InstallError) -> Message {
    match error {
        InstallError::NoJson(path, line) => Message {
            error: format!("{} is no JSON, see line {line}", path.display()),
            hint: Some("Nothing was written: correct the file first".into()),
        },
        InstallError::Io(path, error) => Message {
            error: format!("Cannot change {}: {}", path.display(), reason(error)),
            hint: None,
        },
    }
}

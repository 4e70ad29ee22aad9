//! What `recount restore` cannot do, in words.

use std::io;
use std::path::PathBuf;

use super::{CliError, Message, reason};

/// Why a session's files cannot be written back.
#[derive(Debug)]
pub enum RestoreError {
    /// The store has no file of the session.
    NoFiles(String),
    /// The folder to write to has something in it, or is no folder.
    NotEmpty(PathBuf),
    /// The folder to write to is below a Claude folder.
    InClaude(PathBuf),
    /// The Claude folder that the files come from is not there.
    NoHome(PathBuf),
    /// A running Claude Code has the session.
    Live { session: String, pid: Option<u64> },
    /// A file cannot be written.
    Write { path: PathBuf, error: io::Error },
    /// What was written is not what stands there.
    Differs(PathBuf),
}

impl From<RestoreError> for CliError {
    fn from(error: RestoreError) -> Self {
        Self::Restore(error)
    }
}

/// The message, and what to do.
pub(super) fn message(error: &RestoreError) -> Message {
    let (error, hint) = match error {
        RestoreError::NoFiles(session) => (
            format!("The store has no files of session {session}"),
            "Only prompts of it are known: `recount history` shows them",
        ),
        RestoreError::NotEmpty(path) => (
            format!("{} is not an empty folder", path.display()),
            "Nothing is ever overwritten: name a folder that is empty or does not exist",
        ),
        RestoreError::InClaude(path) => (
            format!("{} is below a Claude folder", path.display()),
            "Claude Code would take it for its own: name another folder, or use `--in-place`",
        ),
        RestoreError::NoHome(path) => (
            format!("The Claude folder {} does not exist", path.display()),
            "Write the files to another folder: `--to DIR`",
        ),
        RestoreError::Live { session, pid } => (
            match pid {
                Some(pid) => format!("Session {session} is live: process {pid} has it"),
                None => format!("Session {session} is live"),
            },
            "End it first, or write the files to another folder: `--to DIR`",
        ),
        RestoreError::Write { path, error } => (
            format!("Cannot write {}: {}", path.display(), reason(error)),
            "What was written before it is whole and stays; no file was replaced",
        ),
        RestoreError::Differs(path) => (
            format!("{} is not what was written to it", path.display()),
            "Do not use it: is something else writing there, or the disk failing?",
        ),
    };
    Message { error, hint: Some(hint.into()) }
}

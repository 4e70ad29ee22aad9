//! What `recount export` cannot do, in words.

use std::io;
use std::path::PathBuf;

use super::{CliError, Message, reason};
use crate::commands::short;

/// Why an export cannot be written.
#[derive(Debug)]
pub enum ExportError {
    /// The place is below a Claude folder or the store.
    Below(PathBuf),
    /// Something is there already.
    Exists(PathBuf),
    /// A file cannot be written.
    Write { path: PathBuf, error: io::Error },
    /// Something of a private key would be left in it.
    Key { session: String, entry: u64 },
    /// A flag that is for one session, with several.
    OnlyOne(&'static str),
    /// A flag that the format has no use for.
    NotWith { flag: &'static str, format: &'static str },
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        Self::Export(error)
    }
}

/// The message, and what to do.
pub(super) fn message(error: &ExportError) -> Message {
    let (error, hint) = match error {
        ExportError::Below(path) => (
            format!("{} is below a Claude folder or the store", path.display()),
            "What is there is not yours to write to: name another place".to_owned(),
        ),
        ExportError::Exists(path) => (
            format!("{} already exists", path.display()),
            "Name another place, or replace it with `--force`".into(),
        ),
        ExportError::Write { path, error } => (
            format!("Cannot write {}: {}", path.display(), reason(error)),
            "What was written before it is whole and stays".into(),
        ),
        ExportError::Key { session, entry } => (
            format!("A private key would be left in the export: entry {entry} of `{session}`"),
            format!(
                "See `recount show {} --entry {entry}`; leave that turn out with `--turn`",
                short(session)
            ),
        ),
        ExportError::OnlyOne(flag) => {
            (format!("`{flag}` is for one session"), "Export that one by itself".into())
        }
        ExportError::NotWith { flag, format } => (
            format!("`{flag}` has no meaning for {format}"),
            "Leave it out, or choose another format with `--format`".into(),
        ),
    };
    Message { error, hint: Some(hint) }
}

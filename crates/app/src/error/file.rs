//! What `recount file` cannot do, in words.

use std::io;
use std::path::PathBuf;

use report::file::BadTarget;

use super::{Message, choices, reason};

/// Why a file's content cannot be told, or not be written back.
#[derive(Debug)]
pub enum FileError {
    /// Nothing records it.
    Unknown(String),
    /// The path is the end of several.
    Paths { given: String, paths: Vec<String> },
    /// Which state of it is meant is not said.
    NoPoint,
    /// Several sessions changed it, and which is meant is not said.
    Sessions(Vec<String>),
    /// There is no such version.
    NoVersion { version: u64, versions: Vec<u64> },
    /// Several sessions have that version.
    Versions { version: u64, sessions: Vec<String> },
    /// The version says that the file did not exist.
    Absent(u64),
    /// The version is recorded, and its file is gone.
    Gone { version: u64, name: Option<String> },
    /// The session has no entry with that number.
    NoEntry { entry: u32, last: u32 },
    /// No whole text of the file was recorded up to that entry.
    NoContent { entry: u32 },
    /// The session has no such subagent.
    NoAgent(String),
    /// The recorded path is no place to write to.
    Target { path: String, why: BadTarget },
    /// The place is below a Claude folder.
    InClaude(PathBuf),
    /// The place is a link.
    Link(PathBuf),
    /// The place is a folder or a device.
    NotAFile(PathBuf),
    /// The folder of the place is not there.
    NoFolder(PathBuf),
    /// There is a file, and nobody said that it may go.
    Exists(PathBuf),
    /// Nobody can be asked.
    NeedsYes,
    /// The file changed while the person was asked.
    Changed(PathBuf),
    /// It cannot be written.
    Write { path: PathBuf, error: io::Error },
    /// What was written is not what stands there.
    Differs(PathBuf),
}

impl From<FileError> for super::CliError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// The message, and what to do.
pub(super) fn message(error: &FileError) -> Message {
    let (error, hint) = match error {
        FileError::Unknown(path) => (
            format!("No session changed `{path}`, and there is no backup of it"),
            Some("Give its absolute path, or the end of it: `src/main.rs`".into()),
        ),
        FileError::Paths { given, paths } => (
            format!("`{given}` is the end of {} files", paths.len()),
            Some(format!("Give more of the path: {}", choices(paths))),
        ),
        FileError::NoPoint => (
            "Which state of the file is to be restored?".into(),
            Some("Give `--version N` or `--at ENTRY`; `recount file PATH` shows both".into()),
        ),
        FileError::Sessions(sessions) => (
            "Several sessions changed the file, and entries are numbered in each".into(),
            Some(format!("Choose one with `--session`: {}", choices(sessions))),
        ),
        FileError::NoVersion { version, versions } => {
            (format!("There is no version {version} of the file"), Some(no_version_hint(versions)))
        }
        FileError::Versions { version, sessions } => (
            format!("{} sessions have a version {version} of the file", sessions.len()),
            Some(format!("Choose one with `--session`: {}", choices(sessions))),
        ),
        FileError::Absent(version) => (
            format!("Version {version} says that the file did not exist then"),
            Some("There is no content to write, and recount deletes nothing".into()),
        ),
        FileError::Gone { version, name } => (
            format!(
                "The backup of version {version} is gone{}",
                name.as_ref().map_or_else(String::new, |name| format!(": there is no `{name}`"))
            ),
            Some(
                "Claude Code removes old backups; `--at ENTRY` puts the content together from \
                 what was recorded"
                    .into(),
            ),
        ),
        FileError::NoEntry { entry, last } => (
            format!("The session has no entry {entry}"),
            Some(format!("Its entries are 1 to {last}")),
        ),
        FileError::NoContent { entry } => (
            format!("The content after entry {entry} is not known: no whole text was recorded"),
            Some("A later entry may have one, or a backup: see `recount file PATH`".into()),
        ),
        FileError::NoAgent(agent) => (
            format!("The session has no subagent `{agent}` with a transcript"),
            Some("`recount tree SESSION` shows its subagents".into()),
        ),
        other => return refusal(other),
    };
    Message { error, hint }
}

fn no_version_hint(versions: &[u64]) -> String {
    if versions.is_empty() {
        return "It has no backups; `--at ENTRY` puts the content together from what was recorded"
            .into();
    }
    let versions: Vec<String> = versions.iter().map(u64::to_string).collect();
    format!("It has {}", choices(&versions))
}

/// Why nothing was written.
fn refusal(error: &FileError) -> Message {
    let (error, hint) = match error {
        FileError::Target { path, why } => return bad_target(path, *why),
        FileError::InClaude(path) => (
            format!("Not written: {} is below a Claude folder", path.display()),
            Some("recount only reads there; print it with `recount file PATH` instead".into()),
        ),
        FileError::Link(path) => (
            format!("Not written: {} is a link", path.display()),
            Some("Remove the link first, or print the content into the file it leads to".into()),
        ),
        FileError::NotAFile(path) => (format!("Not written: {} is no file", path.display()), None),
        FileError::NoFolder(path) => (
            format!("Not written: the folder {} does not exist", path.display()),
            Some("Make it first if you want the file back there".into()),
        ),
        FileError::Exists(path) => (
            format!("Not written: {} exists", path.display()),
            Some("`--force` writes over it".into()),
        ),
        FileError::NeedsYes => (
            "Not written: there is no terminal to ask on".into(),
            Some("`--yes` goes ahead without asking".into()),
        ),
        FileError::Changed(path) => (
            format!("Not written: {} was changed in the meantime", path.display()),
            Some("Look at the plan again".into()),
        ),
        FileError::Write { path, error } => {
            (format!("Cannot write {}: {}", path.display(), reason(error)), None)
        }
        FileError::Differs(path) => (
            format!("{} is not what was written: it was read back and differs", path.display()),
            Some("Is something else writing to it?".into()),
        ),
        _ => (String::new(), None),
    };
    Message { error, hint }
}

fn bad_target(path: &str, why: BadTarget) -> Message {
    let why = match why {
        BadTarget::Relative => "it is recorded without the folder it was seen from",
        BadTarget::OtherSystem => "it is a path of another system",
        BadTarget::Unproven => "the backup's name belongs to another path",
        BadTarget::Climbs => "it has `.` or `..` in it",
        BadTarget::Hidden => "it has characters that do not show",
    };
    Message {
        error: format!("Not written: `{path}` is no place to write to, {why}"),
        hint: Some("Print the content and put it where you want it: `recount file PATH`".into()),
    }
}

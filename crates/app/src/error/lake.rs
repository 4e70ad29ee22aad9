//! What is said when a lake cannot be used.

use std::path::PathBuf;

use lake::error::{LakeError as Failed, OpenError};

use super::{CliError, Message, reason};
use crate::terminal::format::counted;

/// Why nothing can be done with a lake.
#[derive(Debug)]
pub enum LakeError {
    /// It can't be opened.
    Open(OpenError),
    /// Something in it is wrong, or the store says no.
    Lake(Failed),
    /// Nobody has written there.
    None(String),
    /// So much is wrong with it; each has been named.
    Faults { url: String, faults: usize },
    /// The store holds lakes, and they are not written on.
    Imported(PathBuf),
    /// The store holds a history of its own.
    OwnStore(PathBuf),
    /// A line of standard input has neither one part nor three.
    NoPath { number: usize, line: String },
    /// A path is none of a transcript.
    NoTranscript(PathBuf),
}

impl From<LakeError> for CliError {
    fn from(error: LakeError) -> Self {
        Self::Lake(error)
    }
}

pub(super) fn message(error: &LakeError) -> Message {
    let (error, hint) = match error {
        LakeError::Open(error) => open(error),
        LakeError::Lake(error) => lake(error),
        LakeError::None(url) => (
            format!("There is no lake at {url}: it has no manifest"),
            "`recount lake write` makes one; what other programs wrote there has none".into(),
        ),
        LakeError::Faults { url, faults } => (
            format!("{} in {url}", counted(*faults, "fault")),
            "`recount lake write` on that host writes again what is missing or cut off".into(),
        ),
        LakeError::Imported(folder) => (
            format!("The store in {} holds lakes, which are not written on", folder.display()),
            "Leave `--store` out to write your own history".into(),
        ),
        LakeError::OwnStore(folder) => (
            format!("The store in {} keeps a history of its own", folder.display()),
            "Name another folder with `--store DIR`: it is made".into(),
        ),
        LakeError::NoPath { number, line } => (
            format!("Line {number} of standard input is no path: `{line}`"),
            "A line is a path, or a host, a user and a path with tabs between".into(),
        ),
        LakeError::NoTranscript(path) => (
            format!("{} is no transcript of a Claude folder", path.display()),
            "Transcripts are CLAUDE_FOLDER/projects/PROJECT/SESSION.jsonl, and subagents' below"
                .into(),
        ),
    };
    Message { error, hint: Some(hint) }
}

fn open(error: &OpenError) -> (String, String) {
    const KINDS: &str =
        "A lake is a folder, `s3://BUCKET/PATH`, `gs://BUCKET/PATH` or `az://CONTAINER/PATH`";
    match error {
        OpenError::NoUrl(..) | OpenError::Scheme(_) => (capital(error), KINDS.into()),
        OpenError::NoCredentials { variables, .. } => {
            let names = variables.join(", ");
            (capital(error), format!("They come from the environment: one of {names}"))
        }
        OpenError::Folder(folder, error) => (
            format!("Cannot open the lake {folder}: {}", reason(error)),
            "`recount lake write` makes the folder".into(),
        ),
        OpenError::Store(..) => (capital(error), "Look at the URL and the variables for it".into()),
        OpenError::Runtime(_) => (capital(error), "Has the system no threads left?".into()),
    }
}

fn lake(error: &Failed) -> (String, String) {
    let hint = match error {
        Failed::Denied(_) => "Whoever owns the lake has to let you read it, and write to write",
        Failed::Missing(_) => "`recount lake write` on that host writes it again",
        Failed::Store { .. } => "Nothing is lost: what was there before is still read. Try again",
        Failed::Damaged { .. } => {
            "`recount lake verify` names all damage; `recount lake write` on that host repairs it"
        }
        Failed::OtherVersion { found, known, .. } if found > known => {
            "It was written by a newer recount: bring this one up to date"
        }
        Failed::OtherVersion { .. } => {
            "Bring recount up to date on that host and let it write again"
        }
        Failed::Raced(_) => "Two writes of one host at once: the other one is whole, try again",
        Failed::Parquet { .. } | Failed::Misfit { .. } => "This is a mistake of recount's own",
        Failed::Source(_) => "`recount sql --tables` shows whether the tables can be read",
    };
    (capital(error), hint.into())
}

fn capital(error: &impl std::fmt::Display) -> String {
    super::capital(&error.to_string())
}

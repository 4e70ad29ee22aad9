//! Why settings can't be used, in words.

use std::io;
use std::path::PathBuf;

use super::{CliError, Message, reason};

/// Something in the file that is none.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its line, from 1; 0 for one that was typed.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub hint: Option<String>,
}

/// Why settings can't be used.
#[derive(Debug)]
pub enum ConfigError {
    /// The file has a mistake.
    Mistake(PathBuf, Mistake),
    /// There is no such key, but perhaps one like it.
    NoKey(String, Option<&'static str>),
    /// There is no home folder to keep the file in.
    NoPlace,
    /// The file can't be read or written.
    Io(PathBuf, io::Error),
    /// The editor can't be started.
    Editor(String, io::Error),
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

pub(super) fn message(error: &ConfigError) -> Message {
    match error {
        ConfigError::Mistake(_, Mistake { line: 0, what, hint }) => {
            Message { error: what.clone(), hint: hint.clone() }
        }
        ConfigError::Mistake(path, Mistake { line, what, hint }) => Message {
            error: format!("{}:{line}: {what}", path.display()),
            hint: Some(hint.clone().unwrap_or_else(|| "`recount config edit` opens it".into())),
        },
        ConfigError::NoKey(name, near) => Message {
            error: format!("There is no key `{name}`"),
            hint: Some(match near {
                Some(near) => format!("Did you mean `{near}`? `recount config list` shows all"),
                None => "`recount config list` shows all".into(),
            }),
        },
        ConfigError::NoPlace => Message {
            error: "There is no home folder to keep settings in".into(),
            hint: Some("Name a file with RECOUNT_CONFIG".into()),
        },
        ConfigError::Io(path, error) => Message {
            error: format!("Cannot use {}: {}", path.display(), reason(error)),
            hint: None,
        },
        ConfigError::Editor(editor, error) => Message {
            error: format!("`{editor}` can't be started: {}", reason(error)),
            hint: Some("Set EDITOR to a program that edits files".into()),
        },
    }
}

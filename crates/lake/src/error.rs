//! What can go wrong with a lake.

use std::error::Error;
use std::io;
use std::path::Path;

use parquet::errors::ParquetError;

/// Why there is no lake at a URL.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The text is no URL.
    #[error("`{0}` is no URL: {1}")]
    NoUrl(String, url::ParseError),
    /// Its beginning stands for no kind of store.
    #[error("`{0}` is of no kind that is known")]
    Scheme(String),
    /// The environment has nothing to show to the store.
    #[error("there are no credentials for `{url}`")]
    NoCredentials {
        /// Which lake.
        url: String,
        /// The variables of which one is needed.
        variables: &'static [&'static str],
    },
    /// A folder that can't be used.
    #[error("the folder `{0}` can't be opened: {1}")]
    Folder(String, io::Error),
    /// The store can't be set up.
    #[error("`{0}` can't be opened: {1}")]
    Store(String, object_store::Error),
    /// Nothing can be asked of a store.
    #[error("the runtime can't be started: {0}")]
    Runtime(io::Error),
}

/// Why something could not be done with a lake.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    /// The store does not let us.
    #[error("permission denied: `{0}`")]
    Denied(String),
    /// An object that a manifest names is not there.
    #[error("`{0}` is missing")]
    Missing(String),
    /// The store failed otherwise.
    #[error("`{path}`: {source}")]
    Store {
        /// Which object.
        path: String,
        /// Its words.
        source: object_store::Error,
    },
    /// A file is not what its manifest says, or none that we can read.
    #[error("`{path}` is damaged: {why}")]
    Damaged {
        /// Which file.
        path: String,
        /// How that shows.
        why: String,
    },
    /// A host wrote its tables in another version.
    #[error("`{path}` is of version {found} of the tables, not {known}")]
    OtherVersion {
        /// Its manifest.
        path: String,
        /// What it has.
        found: u32,
        /// What we have.
        known: u32,
    },
    /// A file can't be written as Parquet.
    #[error("`{table}` can't be written: {source}")]
    Parquet {
        /// Of which table.
        table: &'static str,
        /// The writer's words.
        source: ParquetError,
    },
    /// A row does not fit its table.
    #[error("a row of `{table}` does not fit column `{column}`")]
    Misfit {
        /// Which table.
        table: &'static str,
        /// The column, or none of them for a row of another length.
        column: &'static str,
    },
    /// Another write of the same host and user was faster.
    #[error("`{0}` was written by somebody else meanwhile")]
    Raced(String),
    /// The rows could not be had from where they come from.
    #[error("{0}")]
    Source(Box<dyn Error + Send + Sync>),
}

impl LakeError {
    /// What the system said of a folder.
    pub(crate) fn folder(folder: &Path, error: io::Error) -> Self {
        let source = object_store::Error::Generic { store: "folder", source: Box::new(error) };
        Self::of(&folder.to_string_lossy(), source)
    }

    /// What a store said of an object.
    pub(crate) fn of(path: &str, source: object_store::Error) -> Self {
        use object_store::Error::{NotFound, PermissionDenied, Unauthenticated};
        match source {
            NotFound { .. } => Self::Missing(path.into()),
            PermissionDenied { .. } | Unauthenticated { .. } => Self::Denied(path.into()),
            source if is_denied(&source) => Self::Denied(path.into()),
            source => Self::Store { path: path.into(), source },
        }
    }
}

/// Folders and lists say it deep inside.
fn is_denied(error: &object_store::Error) -> bool {
    let mut error: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(now) = error {
        let io = now.downcast_ref::<io::Error>();
        let kind = io.map(io::Error::kind);
        if matches!(kind, Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem))
        {
            return true;
        }
        // Of a list it is known only by what was answered.
        let is_refusal = |status: &str| now.to_string().contains(status);
        if is_refusal("status code: 403") || is_refusal("status code: 401") {
            return true;
        }
        error = now.source();
    }
    false
}

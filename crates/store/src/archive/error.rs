//! What can go wrong with the archive, by what a person can do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::GenerationId;
use crate::folder::{is_full, is_read_only};

/// Why the archive could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// There is no archive yet.
    #[error("no archive at {}", path.display())]
    NotThere {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A newer version of the program wrote it.
    #[error("archive {} has format {found}, known is {known}", path.display())]
    Newer {
        /// The archive.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this version knows.
        known: i64,
    },
    /// Not an archive, or one with wrong bytes in it.
    #[error("archive {} is damaged: {detail}", path.display())]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// What is wrong, and which files are touched by it.
        detail: String,
    },
    /// It can't be written.
    #[error("archive {} can't be written", path.display())]
    ReadOnly {
        /// The archive.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("no room left for archive {}", path.display())]
    Full {
        /// The archive.
        path: PathBuf,
    },
    /// Another process writes, and did not finish in time.
    #[error("archive {} is being written by another process", path.display())]
    Busy {
        /// The archive.
        path: PathBuf,
    },
    /// No such generation.
    #[error("generation {} is not in the archive", .0.0)]
    NoGeneration(GenerationId),
    /// Bytes were given that don't follow those already kept: a fault of the caller.
    #[error("generation {} ends at {size}, bytes were given for {offset}", generation.0)]
    Gap {
        /// The generation.
        generation: GenerationId,
        /// Where it ends.
        size: u64,
        /// Where the bytes were to go.
        offset: u64,
    },
    /// A file can't be renamed, since another one has the name.
    #[error("another file of the archive has that name")]
    NameTaken,
    /// Anything else from SQLite.
    #[error("archive {}", path.display())]
    Sqlite {
        /// The archive.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Anything else from the file system.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ArchiveError {
    pub(super) fn damaged(path: &Path, detail: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), detail: detail.into() }
    }

    pub(super) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, detail: source.to_string() }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            _ if is_out_of_room(&source) => Self::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            _ => Self::Sqlite { path, source },
        }
    }

    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotThere { path },
            _ if is_full(&source) => Self::Full { path },
            _ if is_read_only(&source) => Self::ReadOnly { path },
            _ => Self::Io { path, source },
        }
    }
}

/// Whether there is no room for the memory that readers and writers share, which is a file.
pub(crate) fn is_out_of_room(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Gives what SQLite said a path and a meaning.
pub(super) trait At<T> {
    fn at(self, path: &Path) -> Result<T, ArchiveError>;
}

impl<T> At<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T, ArchiveError> {
        self.map_err(|error| ArchiveError::sqlite(path, error))
    }
}

//! Ids and rows of the archive, and how they go into SQLite and come out.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use super::{Edge, Hash};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )*};
}

ids! {
    /// A file: a home and a path below it. Stays the same when the file is moved.
    FileId,
    /// One life of a file's content.
    GenerationId,
    /// A pack.
    PackId,
}

impl ToSql for Hash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for Hash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        let wrong = || FromSqlError::InvalidBlobSize { expected_size: 16, blob_size: bytes.len() };
        bytes.try_into().map(Self).map_err(|_| wrong())
    }
}

/// What the file system says about a file, apart from its size: that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// The device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When it was made, in milliseconds since 1970, where the file system knows.
    pub created: Option<i64>,
}

/// How a generation came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Other content took its place.
    Replaced,
    /// The file is no longer there.
    Gone,
    /// Its content lives on under another file's name.
    Moved,
}

impl Ending {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Gone => "gone",
            Self::Moved => "moved",
        }
    }
}

/// A file with its current generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// The home it lies in.
    pub home: Arc<[u8]>,
    /// Its path below the home.
    pub rel: Vec<u8>,
    /// The file.
    pub file: FileId,
    /// Its current generation.
    pub generation: GenerationId,
    /// The how-manieth it is, from 0.
    pub number: u32,
    /// How many bytes of it are kept.
    pub size: u64,
    /// What the file system said when it was last read.
    pub stat: Stat,
    /// Whether it is no longer there.
    pub gone: bool,
    /// The first bytes.
    pub head: Edge,
    /// The last bytes; those of the last growth, if that was shorter than an edge.
    pub tail: Edge,
}

impl FileRow {
    /// Where it is or was.
    pub fn path(&self) -> PathBuf {
        path_of(&self.home).join(path_of(&self.rel))
    }
}

/// A path from the bytes it was kept as.
#[cfg(unix)]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// A path from the bytes it was kept as.
#[cfg(not(unix))]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// A generation of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerationRow {
    /// Which.
    pub generation: GenerationId,
    /// The how-manieth of its file, from 0.
    pub number: u32,
    /// How many bytes of it are kept.
    pub size: u64,
    /// When it was first seen.
    pub begun: transcript::time::Time,
    /// When and how it ended; `None` while it is what the file holds.
    pub ended: Option<(transcript::time::Time, Ending)>,
}

/// Bytes that are already in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    pub(super) pack: PackId,
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) hash: Hash,
}

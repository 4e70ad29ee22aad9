//! The archive: every byte ever seen of every file, for ever.
//!
//! One SQLite file. A **file** (a home and a path below it) has **generations**, one for each
//! life of its content: growing goes on with one, a rewrite begins the next, older ones stay. A
//! generation is a row of **pieces**, runs of bytes that lie in **packs**, where the pieces of
//! many files are compressed together. Long base64 is decoded and lies beside the packs as
//! **payload**, each once.
//!
//! This is the only layer that can't be made again, so nothing here takes bytes away: compaction
//! moves pieces to other packs and drops a pack only when no piece is left in it.

mod batch;
mod build;
mod compact;
mod error;
mod hash;
mod open;
pub mod pack;
mod read;
mod row;
mod status;
mod strip;
mod verify;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::HashMap;
use rusqlite::Connection;
use transcript::time::Time;

pub use batch::Batch;
pub use build::{EDGE, Edge, EncodedPack, PACK_SIZE, PackBuilder, SYNC_LEVEL};
pub use compact::{Compacted, Effort, FULL_LEVEL, FULL_SIZE};
pub use error::ArchiveError;
use error::At;
pub use hash::Hash;
pub use read::Content;
pub use row::path_of;
pub use row::{Ending, FileId, FileRow, GenerationId, GenerationRow, Known, PackId, Stat};

pub use status::Status;
pub use verify::{Damage, Report};

/// What an archive is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing; made if it is not there.
    Write,
    /// Reading, also while another process writes.
    Read,
}

/// How far a long work has come, in raw bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How many are done.
    pub done: u64,
    /// How many there are.
    pub total: u64,
}

/// An open archive. Belongs to one thread at a time; others open their own
/// ([`Archive::reader`]).
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
    cache: RefCell<read::Cache>,
}

impl Archive {
    /// Opens the archive at `path`.
    pub fn open(path: &Path, access: Access) -> Result<Self, ArchiveError> {
        let connection = open::open(path, access)?;
        Ok(Self { connection, path: path.to_path_buf(), cache: RefCell::default() })
    }

    /// The same archive once more, for reading on another thread.
    pub fn reader(&self) -> Result<Self, ArchiveError> {
        Self::open(&self.path, Access::Read)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every file with its current generation, by home and path.
    pub fn files(&self) -> Result<Vec<FileRow>, ArchiveError> {
        let mut homes: HashMap<i64, Arc<[u8]>> = HashMap::new();
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT home.id, home.path, file.rel, file.id, generation.id, number, size,
                    device, inode, mtime_ns, ended IS NOT NULL,
                    head_length, head, tail_length, tail
                 FROM file JOIN home ON home.id = file.home
                 JOIN generation ON generation.file = file.id
                 WHERE number = (SELECT max(number) FROM generation WHERE file = file.id)
                 ORDER BY home.id, file.rel",
            )
            .at(&self.path)?;
        let rows = query
            .query_map([], |row| {
                let home = homes.entry(row.get(0)?);
                let home = match row.get_ref(1)?.as_blob() {
                    Ok(path) => home.or_insert_with(|| path.into()).clone(),
                    Err(error) => return Err(error.into()),
                };
                file_row(row, home)
            })
            .and_then(Iterator::collect);
        rows.at(&self.path)
    }

    /// Some files with their current generations.
    pub fn rows(&self, files: &[FileId]) -> Result<Vec<FileRow>, ArchiveError> {
        let all = self.files()?;
        Ok(all.into_iter().filter(|row| files.contains(&row.file)).collect())
    }

    /// The generations of a file, the oldest first.
    pub fn generations(&self, file: FileId) -> Result<Vec<GenerationRow>, ArchiveError> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT id, number, size, begun, ended, ending FROM generation
                 WHERE file = ?1 ORDER BY number",
            )
            .at(&self.path)?;
        query.query_map([file], generation_row).and_then(Iterator::collect).at(&self.path)
    }

    /// The names a file had before, with the time until which it had them, the oldest first.
    pub fn former_names(&self, file: FileId) -> Result<Vec<FormerName>, ArchiveError> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT path, rel, until FROM former JOIN home ON home.id = former.home
                 WHERE file = ?1 ORDER BY former.rowid",
            )
            .at(&self.path)?;
        let rows = query.query_map([file], |row| {
            Ok(FormerName { home: row.get(0)?, rel: row.get(1)?, until: Time(row.get(2)?) })
        });
        rows.and_then(Iterator::collect).at(&self.path)
    }
}

/// A name that a file had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerName {
    /// The home it lay in.
    pub home: Vec<u8>,
    /// The path below it.
    pub rel: Vec<u8>,
    /// When it was found to be elsewhere.
    pub until: Time,
}

fn file_row(row: &rusqlite::Row<'_>, home: Arc<[u8]>) -> rusqlite::Result<FileRow> {
    Ok(FileRow {
        home,
        rel: row.get(2)?,
        file: row.get(3)?,
        generation: row.get(4)?,
        number: row.get(5)?,
        size: row.get::<_, i64>(6)?.cast_unsigned(),
        stat: Stat {
            device: row.get::<_, i64>(7)?.cast_unsigned(),
            inode: row.get::<_, i64>(8)?.cast_unsigned(),
            mtime_ns: row.get(9)?,
        },
        gone: row.get(10)?,
        head: Edge { length: row.get(11)?, hash: row.get(12)? },
        tail: Edge { length: row.get(13)?, hash: row.get(14)? },
    })
}

fn generation_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<GenerationRow> {
    let ended: Option<i64> = row.get(4)?;
    let ending: Option<String> = row.get(5)?;
    let ending = ending.as_deref().map(|name| match name {
        "gone" => Ending::Gone,
        "moved" => Ending::Moved,
        _ => Ending::Replaced,
    });
    Ok(GenerationRow {
        generation: row.get(0)?,
        number: row.get(1)?,
        size: row.get::<_, i64>(2)?.cast_unsigned(),
        begun: Time(row.get(3)?),
        ended: ended.map(Time).zip(ending),
    })
}

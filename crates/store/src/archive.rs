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
mod named;
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
use rusqlite::{Connection, OptionalExtension};
use transcript::time::Time;

pub use batch::Batch;
pub use build::{EDGE, Edge, EncodedPack, PACK_SIZE, PackBuilder, SYNC_LEVEL};
pub use compact::{Compacted, Effort, FULL_LEVEL, FULL_SIZE};
pub use error::ArchiveError;
use error::At;
pub(crate) use error::is_out_of_room;
pub use hash::Hash;
pub(crate) use open::{connect_read, connect_write, private};
pub use pack::Room;
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
    /// What to ask for to know when a file was made: older archives don't.
    created: &'static str,
}

impl Archive {
    /// Opens the archive at `path`.
    pub fn open(path: &Path, access: Access) -> Result<Self, ArchiveError> {
        let connection = open::open(path, access)?;
        let created = if open::has_created(&connection).at(path)? { "created" } else { "NULL" };
        Ok(Self { connection, path: path.to_path_buf(), cache: RefCell::default(), created })
    }

    /// The same archive once more, for reading on another thread.
    pub fn reader(&self) -> Result<Self, ArchiveError> {
        Self::open(&self.path, Access::Read)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every file with its current generation, in the order in which they were first seen.
    ///
    /// Every sync begins with this, so two tables are read from end to end instead of being
    /// joined row by row.
    pub fn files(&self) -> Result<Vec<FileRow>, ArchiveError> {
        let _snapshot = self.snapshot()?;
        let mut names = self.names().at(&self.path)?;
        let mut files: Vec<Option<FileRow>> = names.iter().map(|_| None).collect();
        let mut query = self
            .connection
            .prepare_cached(&format!(
                "SELECT file, id, number, size, device, inode, mtime_ns, ended IS NOT NULL,
                    head_length, head, tail_length, tail, {}
                 FROM generation ORDER BY id",
                self.created
            ))
            .at(&self.path)?;
        let mut rows = query.query([]).at(&self.path)?;
        while let Some(row) = rows.next().at(&self.path)? {
            let file: FileId = row.get(0).at(&self.path)?;
            let Ok(at) = names.binary_search_by_key(&file, |(id, _)| *id) else { continue };
            // A later generation of the same file takes the name over from the one before.
            let name = match files[at].take() {
                Some(row) => (row.home, row.rel),
                None => std::mem::take(&mut names[at].1),
            };
            files[at] = Some(file_row(row, file, name).at(&self.path)?);
        }
        Ok(files.into_iter().flatten().collect())
    }

    /// The Claude folders that files were ever found in, by their real paths.
    pub fn homes(&self) -> Result<Vec<Vec<u8>>, ArchiveError> {
        let mut query = self
            .connection
            .prepare_cached("SELECT path FROM home WHERE id IN (SELECT home FROM file)")
            .at(&self.path)?;
        let homes = query.query_map([], |row| row.get(0));
        homes.and_then(Iterator::collect).at(&self.path)
    }

    /// The names of all files, by their ids.
    fn names(&self) -> rusqlite::Result<Vec<(FileId, Name)>> {
        let mut query = self.connection.prepare_cached("SELECT id, path FROM home")?;
        let homes = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let homes: HashMap<i64, Arc<[u8]>> = homes?.collect::<Result<_, _>>()?;
        let mut query =
            self.connection.prepare_cached("SELECT id, home, rel FROM file ORDER BY id")?;
        let names = query.query_map([], |row| {
            let home = homes.get(&row.get::<_, i64>(1)?).cloned().unwrap_or_default();
            Ok((row.get(0)?, (home, row.get(2)?)))
        });
        names?.collect()
    }

    /// One file with its current generation.
    pub fn file(&self, file: FileId) -> Result<Option<FileRow>, ArchiveError> {
        let sql = format!(
            "SELECT g.file, g.id, g.number, g.size, g.device, g.inode, g.mtime_ns,
                g.ended IS NOT NULL, g.head_length, g.head, g.tail_length, g.tail, {},
                home.path, file.rel
             FROM generation g JOIN file ON file.id = g.file JOIN home ON home.id = file.home
             WHERE g.file = ?1 ORDER BY g.number DESC LIMIT 1",
            self.created
        );
        let ask = || {
            let mut query = self.connection.prepare_cached(&sql)?;
            let row =
                query.query_row([file], |row| file_row(row, file, (row.get(13)?, row.get(14)?)));
            row.optional()
        };
        ask().at(&self.path)
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

    /// Every life of every file: the file, the life, how many bytes are kept of it.
    pub fn lives(&self) -> Result<Vec<(FileId, GenerationId, u64)>, ArchiveError> {
        let mut query = self
            .connection
            .prepare_cached("SELECT file, id, size FROM generation ORDER BY id")
            .at(&self.path)?;
        let rows = query.query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.cast_unsigned()))
        });
        rows.and_then(Iterator::collect).at(&self.path)
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

/// A home and a path below it.
type Name = (Arc<[u8]>, Vec<u8>);

fn file_row(row: &rusqlite::Row<'_>, file: FileId, name: Name) -> rusqlite::Result<FileRow> {
    let (home, rel) = name;
    Ok(FileRow {
        home,
        rel,
        file,
        generation: row.get(1)?,
        number: row.get(2)?,
        size: row.get::<_, i64>(3)?.cast_unsigned(),
        stat: Stat {
            device: row.get::<_, i64>(4)?.cast_unsigned(),
            inode: row.get::<_, i64>(5)?.cast_unsigned(),
            mtime_ns: row.get(6)?,
            created: row.get(12)?,
        },
        gone: row.get(7)?,
        head: Edge { length: row.get(8)?, hash: row.get(9)? },
        tail: Edge { length: row.get(10)?, hash: row.get(11)? },
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

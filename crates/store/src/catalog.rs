//! What the files say, so that a question does not read them again.
//!
//! One SQLite file whose name carries the version of its content. Everything in it is made from
//! the archive and can be thrown away: a catalog of another version, or a damaged one, is made
//! anew. What belongs to one file is written when that file is read; what needs all files (who
//! owns a copy, which session a subagent belongs to) is written by [`Writer::join`] afterwards.

mod ask;
mod ghost;
mod join;
mod row;
mod shape;

use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use transcript::id::SessionId;
use transcript::session::{Builder, STATE_VERSION};
use transcript::time::Time;
use transcript::usage::{self, Claims, Packed};
use zstd::zstd_safe::{CCtx, DCtx, ResetDirective};

use crate::archive::{connect_read, connect_write, is_out_of_room};

pub use ask::Deed;
pub use ghost::{GHOST, Ghost, Typed, is_ghost};
pub use join::Joined;
pub use row::{CommitRow, FileRow, PrRow, SessionRow, TouchRow, rows};
pub use shape::{Places, Shape, Spot};

/// What the tables mean. Raised with every change to them or to what is read from the files.
const VERSION: u32 = 8;

const SCHEMA: &str = include_str!("catalog/schema.sql");

/// Why the catalog can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// SQLite says no.
    #[error("{path}: {source}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: rusqlite::Error,
    },
}

impl CatalogError {
    fn code(&self) -> Option<rusqlite::ErrorCode> {
        let Self::Database { source, .. } = self;
        source.sqlite_error_code()
    }

    /// Whether there is no room for it.
    pub fn is_full(&self) -> bool {
        let Self::Database { source, .. } = self;
        self.code() == Some(rusqlite::ErrorCode::DiskFull) || is_out_of_room(source)
    }

    /// Whether it lies where nothing can be written.
    pub fn is_read_only(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
        matches!(self.code(), Some(CannotOpen | ReadOnly))
    }

    /// Whether the catalog itself is wrong, and not something that passes: then it has to be made
    /// anew.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};
        match self.code() {
            Some(code) => matches!(code, DatabaseCorrupt | NotADatabase | Unknown),
            // A value that is none of its column.
            None => true,
        }
    }
}

/// A number for a file, the archive's own.
pub type FileId = i64;

/// The open catalog.
pub struct Catalog {
    db: Connection,
    path: PathBuf,
}

/// The name of the catalog's file in the store's folder.
pub fn file_name() -> String {
    format!("catalog-v{VERSION}-{STATE_VERSION}-{}.db", usage::VERSION)
}

/// The session a file belongs to and whether the file is a subagent's, and where its entries stand.
pub type Standing = (Option<(SessionId, bool)>, Option<Shape>);

impl Catalog {
    /// Opens the catalog in `folder` for writing; makes one if there is none, or none that can be
    /// read.
    pub fn open(folder: &Path) -> Result<Self, CatalogError> {
        let path = folder.join(file_name());
        Self::open_file(&path).or_else(|error| {
            if !error.is_damage() {
                return Err(error);
            }
            Self::remove(folder);
            Self::open_file(&path)
        })
    }

    /// Throws the catalog away.
    pub fn remove(folder: &Path) {
        for end in ["", "-wal", "-shm"] {
            // What is not there need not go.
            let _ = std::fs::remove_file(folder.join(file_name() + end));
        }
    }

    fn open_file(path: &Path) -> Result<Self, CatalogError> {
        let failed = |source| CatalogError::Database { path: path.into(), source };
        let open = || {
            let db = connect_write(path)?;
            db.execute_batch(SCHEMA)?;
            db.query_row("SELECT count(*) FROM file", (), |row| row.get::<_, i64>(0))?;
            Ok(db)
        };
        Ok(Self { db: open().map_err(failed)?, path: path.into() })
    }

    /// Opens the catalog for reading; `None` if there is none.
    pub fn read(folder: &Path) -> Result<Option<Self>, CatalogError> {
        let path = folder.join(file_name());
        if !path.exists() {
            return Ok(None);
        }
        let open = || {
            let db = connect_read(&path)?;
            db.busy_timeout(std::time::Duration::from_secs(2))?;
            Ok(db)
        };
        match open() {
            Ok(db) => Ok(Some(Self { db, path })),
            Err(source) => Err(CatalogError::Database { path, source }),
        }
    }

    /// A state that no other process changes while it is held.
    pub(crate) fn snapshot(&self) -> Result<Option<Transaction<'_>>, CatalogError> {
        if !self.db.is_autocommit() {
            return Ok(None);
        }
        let begun = Transaction::new_unchecked(&self.db, TransactionBehavior::Deferred);
        begun.map(Some).map_err(self.failed())
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> CatalogError + use<> {
        let path = self.path.clone();
        move |source| CatalogError::Database { path: path.clone(), source }
    }

    /// How often it was written to. The text index remembers the number it was made from.
    pub fn edition(&self) -> Result<u64, CatalogError> {
        self.number("edition")
    }

    /// What [`Writer::join`] was told of the files it joined.
    pub fn joined(&self) -> Result<u64, CatalogError> {
        self.number("joined")
    }

    /// When the sessions were last joined; `None` if they never were.
    pub fn joined_at(&self) -> Result<Option<Time>, CatalogError> {
        let at = self.number("joined_at")?;
        Ok((at != 0).then(|| Time(at.cast_signed())))
    }

    fn number(&self, name: &str) -> Result<u64, CatalogError> {
        let sql = "SELECT value FROM number WHERE name = ?1";
        let number = self.db.query_row(sql, [name], |row| row.get::<_, i64>(0));
        Ok(number.optional().map_err(self.failed())?.unwrap_or(0).cast_unsigned())
    }

    /// How far each file has been read.
    pub fn files(&self) -> Result<Vec<FileRow>, CatalogError> {
        let read = || {
            let sql =
                "SELECT id, generation, size, edition, session, read_as FROM file ORDER BY id";
            let mut rows = self.db.prepare(sql)?;
            let rows = rows.query_map((), FileRow::of)?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed())
    }

    fn bytes(&self, sql: &str, file: FileId) -> Result<Option<Vec<u8>>, CatalogError> {
        let ask = || self.db.prepare_cached(sql)?.query_row([file], |row| row.get(0)).optional();
        ask().map_err(self.failed())
    }

    /// What is known of a transcript, to be read on.
    pub fn state(&self, file: FileId) -> Result<Option<Builder>, CatalogError> {
        Ok(unpack_state(&self.packed_state(file)?))
    }

    /// The bytes of [`Catalog::state`], for [`unpack_state`].
    pub fn packed_state(&self, file: FileId) -> Result<Vec<u8>, CatalogError> {
        let sql = "SELECT data FROM state WHERE file = ?1 ORDER BY part";
        let read = || {
            let mut rows = self.db.prepare_cached(sql)?;
            let parts = rows.query_map([file], |row| row.get(0))?;
            parts.collect::<rusqlite::Result<Vec<Vec<u8>>>>()
        };
        Ok(read().map_err(self.failed())?.concat())
    }

    /// What a life of a transcript claims.
    pub fn claims_of(&self, generation: i64) -> Result<Option<Claims>, CatalogError> {
        let data = self.bytes("SELECT data FROM claims WHERE generation = ?1", generation)?;
        Ok(data.and_then(|data| claims(&mut DCtx::create(), &data)?.open()))
    }

    /// What all lives of all transcripts claim, with the file and the life.
    pub fn claims(&self) -> Result<Vec<(FileId, i64, Packed)>, CatalogError> {
        let read = || {
            let mut rows = self.db.prepare("SELECT file, generation, data FROM claims")?;
            let rows = rows.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<rusqlite::Result<Vec<(FileId, i64, Vec<u8>)>>>()
        };
        let kept = read().map_err(self.failed())?.into_par_iter();
        let one = |decoder: &mut DCtx<'static>, (file, life, data): (FileId, i64, Vec<u8>)| {
            Some((file, life, claims(decoder, &data)?))
        };
        Ok(kept.map_init(DCtx::create, one).flatten_iter().collect())
    }

    /// As [`Catalog::claims`], of the sessions that were active since then only, with how much of
    /// the file they are from.
    pub fn recent_claims(&self, since: Time) -> Result<Vec<(FileId, u64, Packed)>, CatalogError> {
        let mut all = Vec::new();
        let read = || {
            // A cross join keeps the order: by itself SQLite begins with all files.
            let mut rows = self.db.prepare(
                "SELECT claims.file, claims.size, claims.data FROM session
                 CROSS JOIN file ON file.session = session.id
                 CROSS JOIN claims ON claims.generation = file.generation WHERE session.last >= ?1",
            )?;
            let mut rows = rows.query([since.0])?;
            let mut decoder = DCtx::create();
            while let Some(row) = rows.next()? {
                if let Some(claims) = claims(&mut decoder, row.get_ref(2)?.as_blob()?) {
                    all.push((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned(), claims));
                }
            }
            Ok(all)
        };
        read().map_err(self.failed())
    }

    /// How much of each life of a transcript its claims are from.
    pub fn claimed(&self) -> Result<Vec<(i64, u64)>, CatalogError> {
        let read = || {
            let mut rows = self.db.prepare("SELECT generation, size FROM claims")?;
            let rows =
                rows.query_map((), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed())
    }

    /// The cards of all transcripts, as [`transcript::library::Card::save`] wrote them.
    pub fn cards(&self) -> Result<Vec<(FileId, Vec<u8>)>, CatalogError> {
        let read = || {
            let mut rows = self.db.prepare("SELECT file, card FROM transcript ORDER BY file")?;
            let rows = rows.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed())
    }

    /// Where the entries of a file stand.
    pub fn shape(&self, file: FileId) -> Result<Option<Shape>, CatalogError> {
        let ask = || {
            let mut query = self.db.prepare_cached("SELECT shape FROM file WHERE id = ?1")?;
            query.query_row([file], |row| Ok(row.get_ref(0)?.as_blob_or_null()?.map(Shape::load)))
        };
        Ok(ask().optional().map_err(self.failed())?.flatten().flatten())
    }

    /// Where the bytes of a file's entries are.
    pub fn places(&self, file: FileId) -> Result<Option<Places>, CatalogError> {
        let places = self.bytes("SELECT places FROM transcript WHERE file = ?1", file)?;
        Ok(places.and_then(|bytes| Places::load(&bytes)))
    }

    /// Both [`Catalog::owner`] and [`Catalog::shape`], in one question.
    pub fn standing(&self, file: FileId) -> Result<Standing, CatalogError> {
        if is_ghost(file) {
            return Ok((self.owner(file)?, None));
        }
        let ask = || {
            let sql = "SELECT session, is_side, shape FROM file WHERE id = ?1";
            self.db.prepare_cached(sql)?.query_row([file], |row| {
                let session = row.get::<_, Option<Box<str>>>(0)?.map(SessionId::new);
                let is_side = row.get(1)?;
                let shape = row.get_ref(2)?.as_blob_or_null()?.and_then(Shape::load);
                Ok((session.map(|session| (session, is_side)), shape))
            })
        };
        Ok(ask().optional().map_err(self.failed())?.unwrap_or_default())
    }

    /// The session a file belongs to, and whether the file is that of a subagent.
    pub fn owner(&self, file: FileId) -> Result<Option<(SessionId, bool)>, CatalogError> {
        if is_ghost(file) {
            return Ok(self.ghost(file)?.map(|ghost| (ghost.session, false)));
        }
        let sql = "SELECT session, is_side FROM file WHERE id = ?1 AND session IS NOT NULL";
        let mut query = self.db.prepare_cached(sql).map_err(self.failed())?;
        let owner = query
            .query_row([file], |row| Ok((SessionId::new(row.get::<_, Box<str>>(0)?), row.get(1)?)));
        owner.optional().map_err(self.failed())
    }

    /// The files of the sessions for which all conditions hold, ghosts included; each condition is a piece of SQL
    /// about `s`, the session, with one value for `?`.
    pub fn files_where(
        &self,
        conditions: &[(String, Vec<String>)],
    ) -> Result<Vec<FileId>, CatalogError> {
        let holds: Vec<&str> = conditions.iter().map(|(sql, _)| &**sql).collect();
        let sql = format!("SELECT s.file FROM owned s WHERE {}", holds.join(" AND "));
        let values = conditions.iter().flat_map(|(_, values)| values);
        let read = || {
            let mut query = self.db.prepare(&sql)?;
            let rows = query.query_map(rusqlite::params_from_iter(values), |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed())
    }

    /// All sessions that have a transcript, by id.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, CatalogError> {
        self.session_rows("ORDER BY id", ())
    }

    /// The sessions that were active last, at most so many.
    pub fn latest(&self, most: usize) -> Result<Vec<SessionRow>, CatalogError> {
        let rest = "INDEXED BY session_last WHERE last IS NOT NULL ORDER BY last DESC LIMIT ?1";
        self.session_rows(rest, [most as i64])
    }

    fn session_rows(
        &self,
        rest: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<SessionRow>, CatalogError> {
        let read = || {
            let sql = format!("SELECT {} FROM session {rest}", SessionRow::COLUMNS);
            let mut rows = self.db.prepare(&sql)?;
            rows.query_map(values, SessionRow::of)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed())
    }

    /// One session, also one of which only the prompts are left.
    pub fn session(&self, id: &SessionId) -> Result<Option<SessionRow>, CatalogError> {
        match self.whole_session(id)? {
            Some(session) => Ok(Some(session)),
            None => Ok(self.ghost_of(id)?.map(SessionRow::from)),
        }
    }

    /// The session that was active last in a folder, but for one.
    pub fn last_in(
        &self,
        project: &str,
        except: &SessionId,
    ) -> Result<Option<SessionRow>, CatalogError> {
        let sql = format!(
            "SELECT {} FROM session INDEXED BY session_last
             WHERE last IS NOT NULL AND project = ?1 AND id <> ?2 AND turns > 0
             ORDER BY last DESC LIMIT 1",
            SessionRow::COLUMNS
        );
        let mut query = self.db.prepare_cached(&sql).map_err(self.failed())?;
        let row = query.query_row([project, except.as_str()], SessionRow::of);
        row.optional().map_err(self.failed())
    }

    fn whole_session(&self, id: &SessionId) -> Result<Option<SessionRow>, CatalogError> {
        let sql = format!("SELECT {} FROM session WHERE id = ?1", SessionRow::COLUMNS);
        let mut query = self.db.prepare_cached(&sql).map_err(self.failed())?;
        query.query_row([id.as_str()], SessionRow::of).optional().map_err(self.failed())
    }

    /// Begins to write. Nothing is there before [`Writer::commit`].
    pub fn write(&mut self) -> Result<Writer<'_>, CatalogError> {
        let failed = self.failed();
        let sql = "BEGIN IMMEDIATE";
        self.db.execute_batch(sql).map_err(&failed)?;
        let edition = self.edition()? + 1;
        Ok(Writer { catalog: self, edition, is_done: false })
    }
}

/// What `write` writes, compressed. It is never whole in memory: of a long file it is as long as
/// what is known of the file.
pub fn packed(
    context: &mut CCtx<'static>,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Vec<u8> {
    packed_to(context, Vec::new(), write).expect("memory takes everything")
}

/// The context is used again from one to the next: it is larger than what most of them hold.
fn packed_to<W: io::Write>(
    context: &mut CCtx<'static>,
    out: W,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut out = BufWriter::new(zstd::Encoder::with_context(out, context));
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
}

/// As [`packed`], given away in parts for [`Writer::state`]; gives how many.
pub fn packed_parts(
    context: &mut CCtx<'static>,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    give: impl FnMut(usize, Vec<u8>),
) -> usize {
    let parts = Parts { held: Vec::new(), given: 0, give };
    let mut parts = packed_to(context, parts, write).expect("parts take everything");
    parts.give();
    parts.given
}

/// Bytes that are given away a megabyte at a time.
struct Parts<G> {
    held: Vec<u8>,
    given: usize,
    give: G,
}

impl<G: FnMut(usize, Vec<u8>)> Parts<G> {
    const SIZE: usize = 1 << 20;

    fn give(&mut self) {
        (self.give)(self.given, std::mem::take(&mut self.held));
        self.given += 1;
    }
}

impl<G: FnMut(usize, Vec<u8>)> io::Write for Parts<G> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= Self::SIZE {
            self.give();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What [`Catalog::packed_state`] gave.
pub fn unpack_state(packed: &[u8]) -> Option<Builder> {
    Builder::load(&zstd::decode_all(packed).ok()?)
}

/// What [`packed`] made of claims. What the decoder needs is made once for many.
fn claims(decoder: &mut DCtx<'static>, data: &[u8]) -> Option<Packed> {
    // It may have stopped in the middle of something that was damaged.
    decoder.reset(ResetDirective::SessionOnly).ok()?;
    let mut bytes = Vec::new();
    zstd::Decoder::with_context(data, decoder).read_to_end(&mut bytes).ok()?;
    Packed::load(&bytes)
}

/// A transaction.
pub struct Writer<'a> {
    catalog: &'a mut Catalog,
    edition: u64,
    is_done: bool,
}

/// What was read of a transcript.
pub struct Transcript {
    /// The file.
    pub file: FileId,
    /// Its life.
    pub generation: i64,
    /// How much of it has been read.
    pub size: u64,
    /// What it claims, compressed.
    pub claims: Vec<u8>,
    /// How many parts what to read on with has; see [`Writer::state`].
    pub parts: usize,
    /// Its card.
    pub card: Vec<u8>,
    /// Where its entries stand.
    pub shape: Vec<u8>,
    /// Where the bytes of its entries are.
    pub places: Vec<u8>,
    /// Its changes to files.
    pub touches: Vec<TouchRow>,
    /// Its commits.
    pub commits: Vec<CommitRow>,
    /// Its pull requests.
    pub prs: Vec<PrRow>,
}

impl Writer<'_> {
    fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<usize, CatalogError> {
        let mut statement = self.catalog.db.prepare_cached(sql).map_err(self.catalog.failed())?;
        statement.execute(values).map_err(self.catalog.failed())
    }

    /// The edition that this transaction will make.
    pub fn edition(&self) -> u64 {
        self.edition
    }

    /// A file has been read up to `size` of this generation. What it was read as, if it is a
    /// transcript, depends on its name: under another one it says something else.
    pub fn file(
        &self,
        file: FileId,
        generation: i64,
        size: u64,
        read_as: Option<&str>,
    ) -> Result<(), CatalogError> {
        let sql = "INSERT INTO file (id, generation, size, edition, read_as)
            VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id)
            DO UPDATE SET generation = ?2, size = ?3, edition = ?4, read_as = ?5";
        self.run(sql, params![file, generation, size as i64, self.edition as i64, read_as])
            .map(drop)
    }

    /// A file is no transcript any more.
    pub fn forget(&self, file: FileId) -> Result<(), CatalogError> {
        for table in ["transcript", "state", "touch", "commit_made", "pr"] {
            self.run(&format!("DELETE FROM {table} WHERE file = ?1"), [file])?;
        }
        let sql = "UPDATE file SET session = NULL, is_side = 0, has_copies = 0, shape = NULL
            WHERE id = ?1";
        self.run(sql, [file]).map(drop)
    }

    /// What a life of a transcript claims, as far as `size`, as [`packed`] made it.
    pub fn claims(
        &self,
        file: FileId,
        generation: i64,
        size: u64,
        data: &[u8],
    ) -> Result<(), CatalogError> {
        let sql = "INSERT INTO claims (generation, file, size, data) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (generation) DO UPDATE SET file = ?2, size = ?3, data = ?4";
        self.run(sql, params![generation, file, size as i64, data]).map(drop)
    }

    /// A part of what to read a transcript on with, as [`packed_parts`] gave it. It holds only
    /// together with the others and with [`Writer::transcript`].
    pub fn state(&self, file: FileId, part: usize, data: &[u8]) -> Result<(), CatalogError> {
        let sql = "INSERT INTO state (file, part, data) VALUES (?1, ?2, ?3)
            ON CONFLICT (file, part) DO UPDATE SET data = ?3";
        self.run(sql, params![file, part as i64, data]).map(drop)
    }

    /// What a transcript says. Of a file that grew most rows are what they were, but not all: what
    /// it says later may change what counts of what it said before.
    pub fn transcript(&self, read: &Transcript) -> Result<(), CatalogError> {
        let sql = "INSERT INTO transcript (file, places, card) VALUES (?1, ?2, ?3)
            ON CONFLICT (file) DO UPDATE SET places = ?2, card = ?3";
        self.run(sql, params![read.file, read.places, read.card])?;
        let sql = "DELETE FROM state WHERE file = ?1 AND part >= ?2";
        self.run(sql, params![read.file, read.parts as i64])?;
        let sql = "UPDATE file SET shape = ?2 WHERE id = ?1";
        self.run(sql, params![read.file, read.shape])?;
        self.claims(read.file, read.generation, read.size, &read.claims)?;
        let counts = [read.touches.len(), read.commits.len(), read.prs.len()];
        for (table, count) in ["touch", "commit_made", "pr"].into_iter().zip(counts) {
            let sql = format!("DELETE FROM {table} WHERE file = ?1 AND number >= ?2");
            self.run(&sql, params![read.file, count as i64])?;
        }
        for (at, row) in read.touches.iter().enumerate() {
            self.touch(read.file, at, row)?;
        }
        for (at, row) in read.commits.iter().enumerate() {
            let sql = "INSERT INTO commit_made (file, number, entry, time, hash, branch, subject)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (file, number)
                DO UPDATE SET entry = ?3, time = ?4, hash = ?5, branch = ?6, subject = ?7
                WHERE (entry, time, hash, branch, subject) IS NOT (?3, ?4, ?5, ?6, ?7)";
            let time = row.time.map(|t| t.0);
            self.run(
                sql,
                params![read.file, at as i64, row.entry, time, row.hash, row.branch, row.subject],
            )?;
        }
        for (at, row) in read.prs.iter().enumerate() {
            let sql = "INSERT INTO pr (file, number, entry, time, pr, url, repository)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (file, number)
                DO UPDATE SET entry = ?3, time = ?4, pr = ?5, url = ?6, repository = ?7
                WHERE (entry, time, pr, url, repository) IS NOT (?3, ?4, ?5, ?6, ?7)";
            let (time, pr) = (row.time.map(|t| t.0), row.number.map(|n| n as i64));
            let PrRow { entry, url, repository, .. } = row;
            self.run(sql, params![read.file, at as i64, entry, time, pr, url, repository])?;
        }
        Ok(())
    }

    fn touch(&self, file: FileId, at: usize, row: &TouchRow) -> Result<(), CatalogError> {
        let sql =
            "INSERT INTO touch (file, number, entry, time, path, tool, added, removed, created)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (file, number)
            DO UPDATE SET entry = ?3, time = ?4, path = ?5, tool = ?6, added = ?7, removed = ?8,
                created = ?9
            WHERE (entry, time, path, tool, added, removed, created)
                IS NOT (?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let TouchRow { entry, time, path, tool, added, removed, created } = row;
        let time = time.map(|t| t.0);
        self.run(sql, params![file, at as i64, entry, time, path, tool, added, removed, created])
            .map(drop)
    }

    fn number(&self, name: &str, value: u64) -> Result<(), CatalogError> {
        let sql = "INSERT INTO number (name, value) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET value = ?2";
        self.run(sql, params![name, value.cast_signed()]).map(drop)
    }

    /// Makes it so.
    pub fn commit(mut self) -> Result<u64, CatalogError> {
        self.number("edition", self.edition)?;
        self.catalog.db.execute_batch("COMMIT").map_err(self.catalog.failed())?;
        self.is_done = true;
        Ok(self.edition)
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            // The connection may be beyond help; then SQLite rolls back by itself.
            let _ = self.catalog.db.execute_batch("ROLLBACK");
        }
    }
}

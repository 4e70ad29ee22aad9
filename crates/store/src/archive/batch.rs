//! Writing: everything goes through a batch, which is one transaction.
//!
//! A batch that is dropped without a commit leaves no trace.

use std::ops::Deref;

use hashbrown::HashMap;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use transcript::time::Time;

use super::build::{EncodedPack, NewPiece, last};
use super::error::{ArchiveError, At};
use super::pack::Payload;
use super::{Archive, Edge, Ending, FileId, GenerationId, Hash, Known, PackId, Stat};

type Result<T> = std::result::Result<T, ArchiveError>;

/// A transaction on the archive.
pub struct Batch<'a> {
    archive: &'a Archive,
    pub(super) transaction: Transaction<'a>,
    /// The last bytes of the generations that grew in this batch.
    tails: HashMap<GenerationId, Vec<u8>>,
}

/// What a batch has written can be read through it before it is committed.
impl Deref for Batch<'_> {
    type Target = Archive;

    fn deref(&self) -> &Archive {
        self.archive
    }
}

impl Archive {
    /// Begins to write. One process at a time can; others wait up to ten seconds for it.
    pub fn batch(&mut self) -> Result<Batch<'_>> {
        let behavior = TransactionBehavior::Immediate;
        let transaction = Transaction::new_unchecked(&self.connection, behavior).at(&self.path)?;
        Ok(Batch { archive: self, transaction, tails: HashMap::new() })
    }
}

impl Batch<'_> {
    /// The file of that name, new if there is none.
    pub fn file(&mut self, home: &[u8], rel: &[u8]) -> Result<FileId> {
        let home = self.home(home)?;
        let known = self
            .transaction
            .prepare_cached("SELECT id FROM file WHERE home = ?1 AND rel = ?2")
            .and_then(|mut query| query.query_row(params![home, rel], |row| row.get(0)).optional());
        if let Some(id) = self.at(known)? {
            return Ok(id);
        }
        self.execute("INSERT INTO file (home, rel) VALUES (?1, ?2)", params![home, rel])?;
        Ok(FileId(self.transaction.last_insert_rowid()))
    }

    fn home(&self, path: &[u8]) -> Result<i64> {
        let known = self
            .transaction
            .prepare_cached("SELECT id FROM home WHERE path = ?1")
            .and_then(|mut query| query.query_row([path], |row| row.get(0)).optional());
        if let Some(id) = self.at(known)? {
            return Ok(id);
        }
        self.execute("INSERT INTO home (path) VALUES (?1)", [path])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Begins a life of a file's content; the one before, if it has not ended, was replaced.
    pub fn begin_generation(
        &mut self,
        file: FileId,
        stat: &Stat,
        at: Time,
    ) -> Result<GenerationId> {
        self.end(file, Ending::Replaced, at)?;
        let none = Edge::head(&[]);
        self.execute(
            "INSERT INTO generation (file, number, size, device, inode, mtime_ns, begun,
                head_length, head, tail_length, tail, created)
             SELECT ?1, coalesce(max(number) + 1, 0), 0, ?2, ?3, ?4, ?5, 0, ?6, 0, ?6, ?7
             FROM generation WHERE file = ?1",
            params![
                file,
                stat.device.cast_signed(),
                stat.inode.cast_signed(),
                stat.mtime_ns,
                at.0,
                none.hash,
                stat.created
            ],
        )?;
        Ok(GenerationId(self.transaction.last_insert_rowid()))
    }

    /// Remembers what the file system now says about a generation's file.
    pub fn restat(&mut self, generation: GenerationId, stat: &Stat) -> Result<()> {
        let changed = self.execute(
            "UPDATE generation SET device = ?2, inode = ?3, mtime_ns = ?4, created = ?5
             WHERE id = ?1",
            params![
                generation,
                stat.device.cast_signed(),
                stat.inode.cast_signed(),
                stat.mtime_ns,
                stat.created
            ],
        )?;
        if changed == 1 { Ok(()) } else { Err(ArchiveError::NoGeneration(generation)) }
    }

    /// Writes a pack and lets the generations grow by its pieces; `generation` says which one
    /// each slot of the builder is.
    pub fn insert(
        &mut self,
        pack: &EncodedPack,
        generation: impl Fn(u64) -> GenerationId,
    ) -> Result<()> {
        if pack.pieces.is_empty() {
            return Ok(());
        }
        let id = self.insert_pack(pack)?;
        for piece in &pack.pieces {
            let known =
                Known { pack: id, start: piece.start, length: piece.length, hash: piece.hash };
            self.grow(generation(piece.slot), piece, &known)?;
        }
        Ok(())
    }

    /// The pack and its payloads, without any pieces.
    pub(super) fn insert_pack(&self, pack: &EncodedPack) -> Result<PackId> {
        self.execute(
            "INSERT INTO pack (raw, level, hash, data) VALUES (?1, ?2, ?3, ?4)",
            params![pack.raw as i64, pack.level, pack.hash, pack.encoded.data],
        )?;
        let id = PackId(self.transaction.last_insert_rowid());
        for payload in &pack.encoded.payloads {
            self.insert_payload(id, payload)?;
        }
        Ok(id)
    }

    fn insert_payload(&self, pack: PackId, payload: &Payload) -> Result<()> {
        self.execute(
            "INSERT OR IGNORE INTO payload (hash, raw, data) VALUES (?1, ?2, ?3)",
            params![payload.hash, payload.raw as i64, payload.data],
        )?;
        self.execute(
            "INSERT INTO need (pack, payload) SELECT ?1, id FROM payload WHERE hash = ?2",
            params![pack, payload.hash],
        )?;
        Ok(())
    }

    /// Lets a generation grow by bytes that are in the archive already; `bytes` are those whose
    /// hash was asked for.
    pub fn adopt(
        &mut self,
        generation: GenerationId,
        offset: u64,
        known: &Known,
        bytes: &[u8],
    ) -> Result<()> {
        debug_assert_eq!(Hash::of(bytes), known.hash, "other bytes than those asked for");
        let piece = NewPiece {
            slot: 0,
            offset,
            start: known.start,
            length: known.length,
            hash: known.hash,
            head: Edge::head(bytes),
            tail: last(bytes).into(),
        };
        self.grow(generation, &piece, known)
    }

    /// Appends one piece to a generation.
    fn grow(&mut self, generation: GenerationId, piece: &NewPiece, known: &Known) -> Result<()> {
        let tail = self.tails.entry(generation).or_default();
        tail.extend_from_slice(&piece.tail);
        tail.drain(..tail.len() - last(tail).len());
        let tail = Edge::tail(tail);
        let size = (piece.offset + piece.length) as i64;
        let grown = self.execute(
            "UPDATE generation SET size = ?3, tail_length = ?4, tail = ?5,
                head_length = iif(size = 0, ?6, head_length), head = iif(size = 0, ?7, head)
             WHERE id = ?1 AND size = ?2",
            params![
                generation,
                piece.offset as i64,
                size,
                tail.length,
                tail.hash,
                piece.head.length,
                piece.head.hash
            ],
        )?;
        if grown == 0 {
            let size = self.archive.size(generation)?;
            return Err(ArchiveError::Gap { generation, size, offset: piece.offset });
        }
        self.insert_piece(generation, piece.offset, known)
    }

    fn insert_piece(&self, generation: GenerationId, offset: u64, known: &Known) -> Result<()> {
        let Known { pack, start, length, hash } = known;
        self.execute(
            "INSERT INTO piece (generation, \"offset\", length, pack, start, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![generation, offset as i64, *length as i64, pack, *start as i64, hash],
        )?;
        Ok(())
    }

    /// Lets an empty generation begin with the first `length` bytes of another one, without
    /// storing them again.
    pub fn share(&mut self, to: GenerationId, from: GenerationId, length: u64) -> Result<()> {
        let size = self.archive.size(to)?;
        if size != 0 {
            return Err(ArchiveError::Gap { generation: to, size, offset: 0 });
        }
        let whole = self.archive.size(from)?;
        if length > whole {
            return Err(ArchiveError::Gap { generation: from, size: whole, offset: length });
        }
        for (offset, known) in self.archive.pieces(from, 0, length)? {
            let inside = known.length.min(length - offset);
            let cut = Known { length: inside, hash: known.hash, ..known };
            let hash = match inside == known.length {
                true => known.hash,
                false => Hash::of(&self.archive.read(from, offset, inside as usize)?),
            };
            self.insert_piece(to, offset, &Known { hash, ..cut })?;
        }
        self.share_edges(to, from, length)
    }

    fn share_edges(&mut self, to: GenerationId, from: GenerationId, length: u64) -> Result<()> {
        let tail =
            self.archive.read(from, length.saturating_sub(super::EDGE as u64), super::EDGE)?;
        let kept = length.min(super::EDGE as u64) as usize;
        let head = self.archive.read(from, 0, kept)?;
        let (head, end) = (Edge::head(&head), Edge::tail(&tail[..kept]));
        self.execute(
            "UPDATE generation SET size = ?2, head_length = ?3, head = ?4, tail_length = ?5,
                tail = ?6 WHERE id = ?1",
            params![to, length as i64, head.length, head.hash, end.length, end.hash],
        )?;
        self.tails.insert(to, tail[..kept].to_vec());
        Ok(())
    }

    /// Ends the current generation of a file, if it has not ended yet.
    pub fn end(&mut self, file: FileId, ending: Ending, at: Time) -> Result<()> {
        self.execute(
            "UPDATE generation SET ended = ?2, ending = ?3
             WHERE file = ?1 AND ended IS NULL",
            params![file, at.0, ending.name()],
        )?;
        Ok(())
    }

    /// A file that was gone is there again, unchanged.
    pub fn back(&mut self, file: FileId) -> Result<()> {
        self.execute(
            "UPDATE generation SET ended = NULL, ending = NULL
             WHERE file = ?1 AND number = (SELECT max(number) FROM generation WHERE file = ?1)",
            [file],
        )?;
        Ok(())
    }

    /// Gives a file another name; the one it had is remembered.
    pub fn rename(&mut self, file: FileId, home: &[u8], rel: &[u8], at: Time) -> Result<()> {
        let home = self.home(home)?;
        self.execute(
            "INSERT INTO former (file, home, rel, until)
             SELECT id, home, rel, ?2 FROM file WHERE id = ?1",
            params![file, at.0],
        )?;
        let renamed = self.execute(
            "UPDATE OR IGNORE file SET home = ?2, rel = ?3 WHERE id = ?1",
            params![file, home, rel],
        )?;
        if renamed == 1 { Ok(()) } else { Err(ArchiveError::NameTaken) }
    }

    /// Makes everything of this batch last.
    pub fn commit(self) -> Result<()> {
        self.transaction.commit().at(&self.archive.path)
    }

    pub(super) fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<usize> {
        let done = self.transaction.prepare_cached(sql).and_then(|mut s| s.execute(values));
        self.at(done)
    }

    fn at<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.at(&self.archive.path)
    }
}

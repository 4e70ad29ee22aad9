//! Reading: bytes of generations, by place.

use std::io::{self, Read};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::error::{ArchiveError, At};
use super::strip::Streams;
use super::{Archive, GenerationId, Hash, Known, PACK_SIZE, PackId, pack};

/// How many bytes of decoded packs a reader keeps beside the pack it asked for last. Two packs of a
/// sync, then: one is a transcript's, the other may have an output that was saved beside it.
const KEPT: usize = PACK_SIZE;

/// How many files a message about damage names.
const NAMED: usize = 8;

/// Decoded packs, the last used at the end, and what the next is decoded with. Packs are most of
/// what a reader holds, so their memory is used again: given back and taken anew, it would be held
/// several times over.
#[derive(Debug)]
pub(super) struct Cache {
    packs: Vec<(PackId, Arc<Vec<u8>>)>,
    kept: usize,
    streams: Streams,
    spare: Vec<u8>,
}

impl Default for Cache {
    fn default() -> Self {
        Self { packs: Vec::new(), kept: KEPT, streams: Streams::default(), spare: Vec::new() }
    }
}

impl Cache {
    fn get(&mut self, id: PackId) -> Option<Arc<Vec<u8>>> {
        let at = self.packs.iter().position(|(kept, _)| *kept == id)?;
        self.packs[at..].rotate_left(1);
        self.packs.last().map(|(_, raw)| raw.clone())
    }

    fn make_room(&mut self) {
        while self.packs.iter().map(|(_, raw)| raw.len()).sum::<usize>() > self.kept {
            let (_, raw) = self.packs.remove(0);
            self.spare = Arc::try_unwrap(raw).unwrap_or_default();
        }
    }

    fn keep(&mut self, id: PackId, raw: Arc<Vec<u8>>) {
        self.packs.push((id, raw));
    }
}

type Result<T> = std::result::Result<T, ArchiveError>;

impl Archive {
    /// For a reader that goes through everything in order, one of several: it keeps only the pack
    /// that it asked for last.
    pub(crate) fn keep_one_pack(&self) {
        self.cache.borrow_mut().kept = 0;
    }

    /// How many bytes of a generation are kept.
    pub fn size(&self, generation: GenerationId) -> Result<u64> {
        let size: Option<i64> = self
            .connection
            .prepare_cached("SELECT size FROM generation WHERE id = ?1")
            .and_then(|mut query| query.query_row([generation], |row| row.get(0)).optional())
            .at(&self.path)?;
        size.map(i64::cast_unsigned).ok_or(ArchiveError::NoGeneration(generation))
    }

    /// `length` bytes of a generation from `offset` on; fewer if it ends before.
    pub fn read(&self, generation: GenerationId, offset: u64, length: usize) -> Result<Vec<u8>> {
        let snapshot = self.snapshot()?;
        let end = offset.saturating_add(length as u64).min(self.size(generation)?);
        if end <= offset {
            return Ok(Vec::new());
        }
        let mut out = Vec::with_capacity((end - offset) as usize);
        for (at, known) in self.pieces(generation, offset, end)? {
            let from = offset.saturating_sub(at);
            let to = known.length.min(end - at);
            let raw = self.pack(known.pack)?;
            let inside = (known.start + from) as usize..(known.start + to) as usize;
            out.extend_from_slice(raw.get(inside).ok_or_else(|| self.cut(known.pack))?);
        }
        drop(snapshot);
        if out.len() as u64 == end - offset {
            Ok(out)
        } else {
            let detail = format!("bytes of generation {} are missing", generation.0);
            Err(ArchiveError::damaged(&self.path, detail))
        }
    }

    /// A generation from its first byte to its last.
    pub fn content(&self, generation: GenerationId) -> Content<'_> {
        self.content_from(generation, 0)
    }

    /// A generation from the byte at `offset` to its last.
    pub fn content_from(&self, generation: GenerationId, offset: u64) -> Content<'_> {
        Content { archive: self, generation, at: offset, held: Vec::new(), used: 0 }
    }

    /// Bytes with this hash and length that are already kept as one piece. What is known holds
    /// for as long as nobody compacts the archive: ask inside the batch that uses it.
    pub fn known(&self, hash: &Hash, length: u64) -> Result<Option<Known>> {
        self.connection
            .prepare_cached(
                "SELECT pack, start, length, hash FROM piece WHERE hash = ?1 AND length = ?2
                 ORDER BY generation, \"offset\" LIMIT 1",
            )
            .and_then(|mut query| query.query_row(params![hash, length as i64], known).optional())
            .at(&self.path)
    }

    /// How many bytes at the start of `source` are those of the generation.
    pub fn common_prefix(&self, generation: GenerationId, mut source: impl Read) -> Result<u64> {
        let size = self.size(generation)?;
        let mut bytes = Vec::new();
        for (offset, known) in self.pieces(generation, 0, size)? {
            bytes.clear();
            (&mut source)
                .take(known.length)
                .read_to_end(&mut bytes)
                .map_err(|source| ArchiveError::Io { path: self.path.clone(), source })?;
            if bytes.len() as u64 == known.length && Hash::of(&bytes) == known.hash {
                continue;
            }
            let kept = self.read(generation, offset, bytes.len())?;
            let same = kept.iter().zip(&bytes).take_while(|(a, b)| a == b).count();
            return Ok(offset + same as u64);
        }
        Ok(size)
    }

    /// The pieces of a generation that hold bytes from `from` to `to`, with their offsets.
    pub(super) fn pieces(
        &self,
        generation: GenerationId,
        from: u64,
        to: u64,
    ) -> Result<Vec<(u64, Known)>> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT pack, start, length, hash, \"offset\" FROM piece
                 WHERE generation = ?1 AND \"offset\" < ?3 AND \"offset\" >= coalesce(
                    (SELECT max(\"offset\") FROM piece WHERE generation = ?1 AND \"offset\" <= ?2),
                    0)
                 ORDER BY \"offset\"",
            )
            .at(&self.path)?;
        let rows = query
            .query_map(params![generation, from as i64, to as i64], |row| {
                Ok((row.get::<_, i64>(4)?.cast_unsigned(), known(row)?))
            })
            .and_then(Iterator::collect);
        rows.at(&self.path)
    }

    /// A state that no other process changes while it is held.
    pub(crate) fn snapshot(&self) -> Result<Option<Transaction<'_>>> {
        if !self.connection.is_autocommit() {
            return Ok(None);
        }
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred);
        begun.map(Some).at(&self.path)
    }

    /// The raw bytes of a pack, checked.
    pub(super) fn pack(&self, id: PackId) -> Result<Arc<Vec<u8>>> {
        if let Some(raw) = self.cache.borrow_mut().get(id) {
            return Ok(raw);
        }
        // Before the next one is unpacked.
        self.cache.borrow_mut().make_room();
        let raw = match self.load(id)? {
            Ok(raw) => Arc::new(raw),
            Err(detail) => return Err(self.damaged_pack(id, &detail)),
        };
        self.cache.borrow_mut().keep(id, raw.clone());
        Ok(raw)
    }

    /// The raw bytes of a pack, or what is wrong with it.
    pub(super) fn load(&self, id: PackId) -> Result<std::result::Result<Vec<u8>, String>> {
        let row: Option<(Hash, Vec<u8>)> = self
            .connection
            .prepare_cached("SELECT hash, data FROM pack WHERE id = ?1")
            .and_then(|mut query| {
                query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .at(&self.path)?;
        let Some((hash, data)) = row else {
            return Ok(Err("it is not there".into()));
        };
        let mut cache = self.cache.borrow_mut();
        let spare = std::mem::take(&mut cache.spare);
        let decoded = pack::decode(&data, &mut cache.streams, spare, |hash| self.payload(hash));
        Ok(match decoded {
            Ok(raw) if Hash::of(&raw) == hash => Ok(raw),
            Ok(_) => Err("its content has another hash".into()),
            Err(error) => Err(error.to_string()),
        })
    }

    /// A payload; one that can't be read counts as missing.
    fn payload(&self, hash: &Hash) -> Option<Vec<u8>> {
        let mut query =
            self.connection.prepare_cached("SELECT data FROM payload WHERE hash = ?1").ok()?;
        let data: Vec<u8> = query.query_row([hash], |row| row.get(0)).ok()?;
        pack::decode_payload(&data).ok()
    }

    pub(super) fn cut(&self, id: PackId) -> ArchiveError {
        self.damaged_pack(id, "it is shorter than the pieces in it")
    }

    fn damaged_pack(&self, id: PackId, detail: &str) -> ArchiveError {
        let files = self.files_in(id).unwrap_or_default();
        let detail = format!("pack {}: {detail}; parts of {}", id.0, files.join(", "));
        ArchiveError::damaged(&self.path, detail)
    }

    /// The names of some files with pieces in a pack.
    pub(super) fn files_in(&self, id: PackId) -> Result<Vec<String>> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT DISTINCT file.rel FROM piece
                 JOIN generation ON generation.id = piece.generation
                 JOIN file ON file.id = generation.file
                 WHERE piece.pack = ?1 ORDER BY file.home, file.rel LIMIT ?2",
            )
            .at(&self.path)?;
        let rows = query
            .query_map(params![id, NAMED as i64], |row| {
                Ok(String::from_utf8_lossy(row.get_ref(0)?.as_blob()?).into_owned())
            })
            .and_then(Iterator::collect);
        rows.at(&self.path)
    }
}

fn known(row: &rusqlite::Row<'_>) -> rusqlite::Result<Known> {
    Ok(Known {
        pack: row.get(0)?,
        start: row.get::<_, i64>(1)?.cast_unsigned(),
        length: row.get::<_, i64>(2)?.cast_unsigned(),
        hash: row.get(3)?,
    })
}

/// A generation as a stream of bytes.
pub struct Content<'a> {
    archive: &'a Archive,
    generation: GenerationId,
    /// Where the bytes after those held begin.
    at: u64,
    held: Vec<u8>,
    used: usize,
}

impl Read for Content<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        const STEP: usize = 256 << 10;
        if self.used == self.held.len() {
            let read = self.archive.read(self.generation, self.at, STEP);
            self.held = read.map_err(io::Error::other)?;
            self.at += self.held.len() as u64;
            self.used = 0;
        }
        let length = out.len().min(self.held.len() - self.used);
        out[..length].copy_from_slice(&self.held[self.used..self.used + length]);
        self.used += length;
        Ok(length)
    }
}

//! Compaction: moving pieces to fewer and better packs.
//!
//! A sync after every turn leaves one small pack each time. In the background the small ones are
//! merged, by size, so that a byte is moved a few times at most; in full, everything is packed
//! anew in the order of paths, with larger packs and a higher level. Each new pack is one
//! transaction that also points its pieces to it and drops the packs that are left empty: after
//! a crash at any point all is there, and the next run goes on.

mod plan;

use std::ops::Range;

use rayon::prelude::*;
use rusqlite::params;

use super::build::EncodedPack;
use super::error::{ArchiveError, At};
use super::pack::Room;
use super::{Archive, Batch, GenerationId, Hash, PACK_SIZE, PackId, Progress, SYNC_LEVEL};
use plan::Extent;

/// How many raw bytes a pack holds after a full compaction: the smallest that beats
/// `zstd -19 --long` over everything.
pub const FULL_SIZE: usize = 8 << 20;

/// The level of a full compaction.
pub const FULL_LEVEL: i32 = 19;

/// How many packs are encoded at once. At the full level each takes about 80 MB.
const AT_ONCE: usize = 2;

/// How much is put into a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Merges small packs if there are many. Cheap; meant for after a sync.
    Background,
    /// Packs everything anew that is not yet packed as well as it can be. About 3 MB a second.
    Full,
}

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compacted {
    /// Packs that were written.
    pub written: u64,
    /// Packs that were dropped.
    pub dropped: u64,
    /// Packs that could not be made, since what belongs in them is damaged; it stays where it is.
    pub skipped: u64,
    /// Whether it came to its end.
    pub finished: bool,
}

type Result<T> = std::result::Result<T, ArchiveError>;

/// A pack to be made.
struct Job {
    extents: Vec<Extent>,
    raw: Vec<u8>,
}

impl Archive {
    /// Compacts until done or until `keep_going` says no; it is asked before each group of packs.
    pub fn compact(
        &mut self,
        effort: Effort,
        mut progress: impl FnMut(Progress),
        keep_going: impl Fn() -> bool,
    ) -> Result<Compacted> {
        let mut done = Compacted { finished: true, ..Compacted::default() };
        while let Some(sources) = self.sources(effort)? {
            self.repack(effort, &sources, &mut progress, &keep_going, &mut done)?;
            // What was skipped would be chosen again.
            if effort == Effort::Full || !done.finished || done.skipped > 0 {
                break;
            }
        }
        if done.written > 0 {
            self.drop_payloads()?;
        }
        if effort == Effort::Full && done.finished {
            self.give_back()?;
        }
        Ok(done)
    }

    fn repack(
        &mut self,
        effort: Effort,
        sources: &[PackId],
        progress: &mut dyn FnMut(Progress),
        keep_going: &dyn Fn() -> bool,
        done: &mut Compacted,
    ) -> Result<()> {
        let (limit, level) = match effort {
            Effort::Background => (PACK_SIZE, SYNC_LEVEL),
            Effort::Full => (FULL_SIZE, FULL_LEVEL),
        };
        done.dropped += self.drop_empty(sources)?;
        let extents = self.extents(sources)?;
        let total = extents.iter().map(Extent::length).sum();
        let mut moved = 0;
        let groups = plan::jobs(extents, limit);
        for group in groups.chunks(AT_ONCE) {
            if !keep_going() {
                done.finished = false;
                return Ok(());
            }
            let encoded = self.encode(group, level)?;
            done.skipped += (group.len() - encoded.len()) as u64;
            for (job, pack) in encoded {
                moved += job.raw.len() as u64;
                done.dropped += self.replace(&job, &pack)?;
                done.written += 1;
                progress(Progress { done: moved, total });
            }
        }
        Ok(())
    }

    fn encode(&self, group: &[Vec<Extent>], level: i32) -> Result<Vec<(Job, EncodedPack)>> {
        let mut gathered = Vec::with_capacity(group.len());
        for extents in group {
            match self.gather(extents) {
                Err(ArchiveError::Damaged { .. }) => {}
                job => gathered.push(job?),
            }
        }
        let encode = |job: Job| {
            let pack = EncodedPack::new(&job.raw, level, &mut Room::default(), Vec::new());
            (job, pack)
        };
        Ok(gathered.into_par_iter().map(encode).collect())
    }

    /// The bytes of a new pack, one after the other; each pack they lie in is decoded once.
    fn gather(&self, extents: &[Extent]) -> Result<Job> {
        let mut size = 0;
        let mut places: Vec<(&Extent, usize)> = Vec::with_capacity(extents.len());
        for extent in extents {
            places.push((extent, size));
            size += extent.length() as usize;
        }
        places.sort_by_key(|(extent, _)| extent.pack);
        let mut raw = vec![0; size];
        for (extent, to) in places {
            let pack = self.pack(extent.pack)?;
            let inside = extent.start as usize..extent.end as usize;
            let bytes = pack.get(inside).ok_or_else(|| self.cut(extent.pack))?;
            raw[to..to + bytes.len()].copy_from_slice(bytes);
        }
        Ok(Job { extents: extents.to_vec(), raw })
    }

    /// Writes a pack in the place of what it was gathered from; gives how many packs are dropped.
    fn replace(&mut self, job: &Job, pack: &EncodedPack) -> Result<u64> {
        let batch = self.batch()?;
        let id = batch.insert_pack(pack)?;
        let mut to = 0;
        for extent in &job.extents {
            batch.repoint(extent, id, to)?;
            to += extent.length();
        }
        batch.join_pieces(id, &job.raw)?;
        let mut old: Vec<PackId> = job.extents.iter().map(|extent| extent.pack).collect();
        old.sort_unstable();
        old.dedup();
        let dropped = batch.drop_if_empty(&old)?;
        batch.commit()?;
        Ok(dropped)
    }

    /// Packs that no piece lies in would be chosen again and again.
    fn drop_empty(&mut self, packs: &[PackId]) -> Result<u64> {
        let batch = self.batch()?;
        let dropped = batch.drop_if_empty(packs)?;
        batch.commit()?;
        Ok(dropped)
    }

    /// Payloads that no pack needs: base64 that was cut by the end of a pack is whole again.
    fn drop_payloads(&mut self) -> Result<()> {
        let batch = self.batch()?;
        batch.execute("DELETE FROM payload WHERE id NOT IN (SELECT payload FROM need)", [])?;
        batch.commit()
    }

    /// Gives free pages back to the file system. Not `VACUUM`: that needs the room twice.
    fn give_back(&self) -> Result<()> {
        for pragma in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            let mut statement = self.connection.prepare(pragma).at(&self.path)?;
            let mut rows = statement.query([]).at(&self.path)?;
            while rows.next().at(&self.path)?.is_some() {}
        }
        Ok(())
    }
}

/// A piece inside one pack.
struct Inside {
    generation: GenerationId,
    offset: i64,
    length: i64,
    start: i64,
}

impl Batch<'_> {
    fn repoint(&self, extent: &Extent, pack: PackId, to: u64) -> Result<()> {
        self.execute(
            "UPDATE piece SET pack = ?1, start = start - ?3 + ?4
             WHERE pack = ?2 AND start >= ?3 AND start < ?5",
            params![pack, extent.pack, extent.start as i64, to as i64, extent.end as i64],
        )?;
        Ok(())
    }

    /// Makes one piece of those that follow each other, both in their generation and in the pack.
    fn join_pieces(&self, pack: PackId, raw: &[u8]) -> Result<()> {
        let pieces = self.pieces_of(pack)?;
        let follows = |a: &Inside, b: &Inside| {
            a.generation == b.generation
                && a.offset + a.length == b.offset
                && a.start + a.length == b.start
        };
        for run in pieces.chunk_by(follows).filter(|run| run.len() > 1) {
            let (first, last) = (&run[0], &run[run.len() - 1]);
            let range = first.start as usize..(last.start + last.length) as usize;
            self.execute(
                "DELETE FROM piece WHERE generation = ?1 AND \"offset\" > ?2 AND \"offset\" <= ?3",
                params![first.generation, first.offset, last.offset],
            )?;
            self.widen(first, raw, range)?;
        }
        Ok(())
    }

    fn widen(&self, piece: &Inside, raw: &[u8], range: Range<usize>) -> Result<()> {
        self.execute(
            "UPDATE piece SET length = ?3, hash = ?4 WHERE generation = ?1 AND \"offset\" = ?2",
            params![piece.generation, piece.offset, range.len() as i64, Hash::of(&raw[range])],
        )?;
        Ok(())
    }

    fn pieces_of(&self, pack: PackId) -> Result<Vec<Inside>> {
        let mut query = self
            .transaction
            .prepare_cached(
                "SELECT generation, \"offset\", length, start FROM piece WHERE pack = ?1
                 ORDER BY generation, \"offset\"",
            )
            .at(self.path())?;
        let rows = query.query_map([pack], |row| {
            let (generation, offset) = (row.get(0)?, row.get(1)?);
            Ok(Inside { generation, offset, length: row.get(2)?, start: row.get(3)? })
        });
        rows.and_then(Iterator::collect).at(self.path())
    }

    fn drop_if_empty(&self, packs: &[PackId]) -> Result<u64> {
        let empty = "NOT EXISTS (SELECT 1 FROM piece WHERE piece.pack = ?1)";
        let mut dropped = 0;
        for pack in packs {
            self.execute(&format!("DELETE FROM need WHERE pack = ?1 AND {empty}"), [pack])?;
            dropped +=
                self.execute(&format!("DELETE FROM pack WHERE id = ?1 AND {empty}"), [pack])?;
        }
        Ok(dropped as u64)
    }
}

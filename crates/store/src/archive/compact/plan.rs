//! Choosing what to move, and in which order.

use hashbrown::HashMap;

use super::super::error::{ArchiveError, At};
use super::super::{Archive, GenerationId, PackId, status};
use super::{Effort, FULL_LEVEL, FULL_SIZE};

/// Packs below each of these sizes are merged when there are too many of them.
const TIERS: [usize; 3] = [status::SMALL / 32, status::SMALL / 4, status::SMALL];

/// How many packs may stay in a tier.
const TIER_PACKS: usize = 32;

/// How many small packs a full compaction leaves as they are.
const FULL_SMALL: usize = 8;

type Result<T> = std::result::Result<T, ArchiveError>;

/// A run of bytes of a pack that has to stay together, since pieces of several generations
/// may overlap in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub pack: PackId,
    pub start: u64,
    pub end: u64,
}

impl Extent {
    pub fn length(&self) -> u64 {
        self.end - self.start
    }
}

/// What is known of a pack without its data.
struct Size {
    id: PackId,
    raw: usize,
    level: i32,
}

impl Archive {
    /// The packs to be packed anew; `None` if all is well.
    pub(super) fn sources(&self, effort: Effort) -> Result<Option<Vec<PackId>>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT id, raw, level FROM pack ORDER BY id")
            .at(&self.path)?;
        let sizes = query
            .query_map([], |row| {
                Ok(Size {
                    id: row.get(0)?,
                    raw: row.get::<_, i64>(1)? as usize,
                    level: row.get(2)?,
                })
            })
            .and_then(Iterator::collect);
        let sizes: Vec<Size> = sizes.at(&self.path)?;
        Ok(match effort {
            Effort::Background => small(&sizes),
            Effort::Full => not_full(&sizes),
        })
    }

    /// What pieces use of a pack, in the order of paths.
    pub(super) fn extents(&self, packs: &[PackId]) -> Result<Vec<Extent>> {
        let order = self.path_order()?;
        let mut keyed: Vec<(Key, Extent)> = Vec::new();
        for &pack in packs {
            keyed.extend(self.extents_of(pack, &order)?);
        }
        keyed.sort_by_key(|(key, extent)| (*key, extent.pack, extent.start));
        Ok(keyed.into_iter().map(|(_, extent)| extent).collect())
    }

    fn extents_of(&self, pack: PackId, order: &Order) -> Result<Vec<(Key, Extent)>> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT start, start + length, generation, \"offset\" FROM piece
                 WHERE pack = ?1 ORDER BY start",
            )
            .at(&self.path)?;
        let rows = query.query_map([pack], |row| {
            let start = row.get::<_, i64>(0)?.cast_unsigned();
            let end = row.get::<_, i64>(1)?.cast_unsigned();
            let rank = order.get(&row.get::<_, GenerationId>(2)?).copied();
            Ok(((rank, row.get(3)?), Extent { pack, start, end }))
        });
        let pieces: Vec<_> = rows.and_then(Iterator::collect).at(&self.path)?;
        Ok(together(pieces))
    }

    /// The place of each generation in the order of paths.
    fn path_order(&self) -> Result<Order> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT generation.id FROM generation
                 JOIN file ON file.id = generation.file JOIN home ON home.id = file.home
                 ORDER BY home.path, file.rel, generation.number",
            )
            .at(&self.path)?;
        let ids = query.query_map([], |row| row.get(0));
        let ids: Vec<GenerationId> = ids.and_then(Iterator::collect).at(&self.path)?;
        Ok(ids.into_iter().zip(0..).collect())
    }
}

type Order = HashMap<GenerationId, usize>;

/// Where a piece belongs: its generation's place, its offset.
type Key = (Option<usize>, i64);

/// Joins pieces that overlap, with the key of the first; they come in the order of their starts.
fn together(pieces: Vec<(Key, Extent)>) -> Vec<(Key, Extent)> {
    let mut out: Vec<(Key, Extent)> = Vec::new();
    for (key, piece) in pieces {
        match out.last_mut() {
            Some((first, extent)) if piece.start < extent.end => {
                extent.end = extent.end.max(piece.end);
                *first = key.min(*first);
            }
            _ => out.push((key, piece)),
        }
    }
    out
}

/// The small packs of a tier with too many of them, and those of the tiers below.
fn small(sizes: &[Size]) -> Option<Vec<PackId>> {
    let below = |limit: usize| sizes.iter().filter(move |size| size.raw < limit);
    let mut least = 0;
    for limit in TIERS {
        if below(limit).filter(|size| size.raw >= least).count() > TIER_PACKS {
            return Some(below(limit).map(|size| size.id).collect());
        }
        least = limit;
    }
    None
}

/// The packs that are not yet packed as well as can be.
fn not_full(sizes: &[Size]) -> Option<Vec<PackId>> {
    let is_small = |size: &Size| size.raw < FULL_SIZE / 4;
    let is_new = |size: &Size| size.level < FULL_LEVEL;
    let worth =
        sizes.iter().any(is_new) || sizes.iter().filter(|size| is_small(size)).count() > FULL_SMALL;
    let sources = sizes.iter().filter(|size| is_new(size) || is_small(size));
    worth.then(|| sources.map(|size| size.id).collect())
}

/// Which extents go into which new pack.
pub fn jobs(extents: Vec<Extent>, limit: usize) -> Vec<Vec<Extent>> {
    let mut jobs: Vec<Vec<Extent>> = Vec::new();
    let mut room = 0;
    for extent in extents {
        match jobs.last_mut() {
            Some(job) if extent.length() <= room => job.push(extent),
            _ => {
                jobs.push(vec![extent]);
                room = limit as u64;
            }
        }
        room = room.saturating_sub(extent.length());
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(raws: &[(usize, usize)]) -> Vec<Size> {
        let all = raws.iter().flat_map(|(count, raw)| std::iter::repeat_n(*raw, *count));
        all.zip(1..).map(|(raw, id)| Size { id: PackId(id), raw, level: 3 }).collect()
    }

    #[test]
    fn small_packs_are_merged_by_tiers() {
        let count = |raws: &[(usize, usize)]| small(&sizes(raws)).map(|packs| packs.len());
        assert_eq!(count(&[(32, 10), (32, 100_000), (32, 900_000), (99, 4 << 20)]), None);
        assert_eq!(count(&[(33, 10), (32, 100_000)]), Some(33));
        assert_eq!(count(&[(5, 10), (33, 100_000), (7, 900_000)]), Some(38));
    }

    #[test]
    fn overlapping_pieces_stay_together() {
        let piece = |rank, start, end| ((Some(rank), 0), Extent { pack: PackId(1), start, end });
        let pieces = vec![piece(4, 0, 10), piece(2, 0, 5), piece(1, 9, 12), piece(3, 12, 13)];
        assert_eq!(together(pieces), [piece(1, 0, 12), piece(3, 12, 13)]);
    }

    #[test]
    fn jobs_are_filled_in_order() {
        let extent = |length| Extent { pack: PackId(1), start: 0, end: length };
        let lengths = |jobs: Vec<Vec<Extent>>| -> Vec<Vec<u64>> {
            jobs.iter().map(|job| job.iter().map(Extent::length).collect()).collect()
        };
        let all = [3, 4, 3, 1, 99, 1].map(extent).to_vec();
        assert_eq!(lengths(jobs(all, 10)), [vec![3, 4, 3], vec![1], vec![99], vec![1]]);
    }
}

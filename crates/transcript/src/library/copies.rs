//! The same entries in several files: forks, Desktop and background copies, the same folder under
//! two names, replays by internal agents. Each entry is owned by one file and counted there.
//!
//! A copy keeps uuid and time of its entries, so the owner is told by other signs: sessions before
//! subagents, files that nothing marks as a copy, a file that has nothing of its own (it was there
//! before it was copied on), then the older file, then the one whose own talk began first.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::card::Card;
use super::join::ReadAgain;
use crate::entry::Entry;
use crate::id::Key;
use crate::layout::{FileKind, Problem};
use crate::line::LineReader;
use crate::time::Time;

/// Which entries of which file are owned by another.
#[derive(Debug, Default)]
pub(super) struct Copies {
    of: HashMap<usize, Arc<HashSet<u64>>>,
    from: HashMap<usize, usize>,
}

impl Copies {
    pub(super) fn keys_of(&self, card: usize) -> Option<&Arc<HashSet<u64>>> {
        self.of.get(&card)
    }

    pub(super) fn into_sets(self) -> HashMap<usize, Arc<HashSet<u64>>> {
        self.of
    }

    pub(super) fn find_copies(cards: &[Arc<Card>], again: &mut dyn ReadAgain) -> Self {
        let shared = shared(cards);
        let mut in_files: HashMap<usize, HashSet<u64>> = HashMap::new();
        for group in &shared {
            for &file in &group.1 {
                in_files.entry(file as usize).or_default().insert(group.0);
            }
        }
        let (marked, lesser) = (marked(cards), lesser(cards));
        let mut rank = |(&file, keys): (&usize, &HashSet<u64>)| {
            let began = again.first_own_time(file, &cards[file], keys);
            (file, (lesser.contains(&file), rank(&cards[file], began, &marked)))
        };
        let rank: HashMap<usize, (bool, Rank)> = in_files.iter().map(&mut rank).collect();
        let mut of: HashMap<usize, HashSet<u64>> = HashMap::new();
        let mut votes: HashMap<(usize, usize), usize> = HashMap::new();
        for (key, files) in &shared {
            let owner = files.iter().map(|&f| f as usize).min_by_key(|f| (rank.get(f), *f));
            let Some(owner) = owner else { continue };
            for file in files.iter().map(|&f| f as usize).filter(|f| *f != owner) {
                of.entry(file).or_default().insert(*key);
                *votes.entry((file, owner)).or_default() += 1;
            }
        }
        let mut votes: Vec<_> = votes.into_iter().collect();
        votes.sort_by_key(|&((file, owner), count)| (file, count, std::cmp::Reverse(owner)));
        let from = votes.into_iter().map(|((file, owner), _)| (file, owner)).collect();
        Self { of: of.into_iter().map(|(file, keys)| (file, Arc::new(keys))).collect(), from }
    }

    /// Counts anew what each file with copies owns.
    pub(super) fn count_owned(
        &self,
        cards: &mut [Arc<Card>],
        again: &mut dyn ReadAgain,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (&file, keys) in &self.of {
            match again.count_owned(file, &cards[file], keys) {
                Ok((facts, copied)) => {
                    let copied_from = self.from.get(&file).copied();
                    let card = Arc::make_mut(&mut cards[file]);
                    (card.facts, card.copied, card.copied_from) = (facts, copied, copied_from);
                }
                Err(problem) => problems.push(problem),
            }
        }
        problems
    }
}

/// Keys that stand in more than one file, in order.
fn shared(cards: &[Arc<Card>]) -> Vec<(u64, Vec<u32>)> {
    repeated_keys(|| {
        let cards = cards.iter().enumerate();
        cards.flat_map(|(file, card)| card.keys.iter().map(move |&key| (key, file as u32)))
    })
}

/// Keys that `all` names with more than one file, in order.
pub(super) fn repeated_keys<I: Iterator<Item = (u64, u32)>>(
    all: impl Fn() -> I,
) -> Vec<(u64, Vec<u32>)> {
    // Nearly all keys stand once: two bits for each tell most of them, and only the rest is sorted.
    let (mut once, mut twice) = (Bits::for_keys(all().count()), Bits::for_keys(all().count()));
    for (key, _) in all() {
        if once.add_key(key) {
            twice.add_key(key);
        }
    }
    let mut rest: Vec<(u64, u32)> = all().filter(|&(key, _)| twice.has(key)).collect();
    rest.sort_unstable();
    rest.dedup();
    let groups = rest.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
    groups.map(|group| (group[0].0, group.iter().map(|&(_, file)| file).collect())).collect()
}

/// A set of keys that may say yes to a key that is not in it.
pub(super) struct Bits {
    words: Vec<u64>,
    shift: u32,
}

impl Bits {
    /// Sixteen bits for each key: one answer in sixteen is wrong.
    pub(super) fn for_keys(count: usize) -> Self {
        let words = (count / 4).next_power_of_two();
        Self { words: vec![0; words], shift: 64 - words.trailing_zeros() - 6 }
    }

    fn place(&self, key: u64) -> (usize, u64) {
        // Keys that were counted up differ in their low bits only.
        let at = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift;
        ((at >> 6) as usize, 1 << (at & 63))
    }

    fn has(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.words[word] & bit != 0
    }

    /// Whether it seemed to be there already.
    pub(super) fn add_key(&mut self, key: u64) -> bool {
        let was = self.has(key);
        let (word, bit) = self.place(key);
        self.words[word] |= bit;
        was
    }
}

/// Files of a session that has another file with more in it: that one is read as the session, so
/// it owns what both have.
fn lesser(cards: &[Arc<Card>]) -> HashSet<usize> {
    let mut best: HashMap<&str, usize> = HashMap::new();
    let mut lesser = HashSet::new();
    for (file, card) in cards.iter().enumerate() {
        let Some(id) = card.id.as_ref().filter(|_| card.is_main()) else { continue };
        let known = *best.entry(id.as_str()).or_insert(file);
        if known != file {
            let (more, less) = if card.fullness() > cards[known].fullness() {
                (file, known)
            } else {
                (known, file)
            };
            best.insert(id.as_str(), more);
            lesser.insert(less);
        }
    }
    lesser
}

/// Sessions that others name as where the talk went on.
fn marked(cards: &[Arc<Card>]) -> HashSet<&str> {
    cards.iter().filter_map(|c| c.continued_in.as_deref()).collect()
}

/// Lower owns.
type Rank = (u8, bool, bool, Option<Time>, Option<i64>, std::path::PathBuf);

fn rank(card: &Card, began: Option<i64>, marked: &HashSet<&str>) -> Rank {
    let id = card.id.as_ref().map(|id| id.as_str());
    let kind = match &card.found.kind {
        FileKind::Session { .. } => 0,
        kind if kind.internal().is_none() => 1,
        _ => 2,
    };
    let is_copy = card.is_background
        || id.is_some_and(|id| marked.contains(id))
        || card.lineage.as_deref().is_some_and(|root| Some(root) != id);
    (kind, is_copy, began.is_some(), card.found.created, began, card.found.rel.clone())
}

/// When the file's first entry that no other file has was written; reads no further than that.
pub(super) fn first_own_time(card: &Card, shared: &HashSet<u64>) -> Option<i64> {
    if card.keys.iter().all(|key| shared.contains(key)) {
        return None;
    }
    let source = card.found.open().ok()?;
    let mut reader = LineReader::new(source.reader(0), 0);
    let mut odd = Vec::new();
    let mut time = None;
    while let Some(line) = reader.next_line().ok()? {
        Entry::read(line, &mut odd, |entry| {
            let own = |uuid| !shared.contains(&Key::of_str(uuid).short());
            if time.is_none() && entry.kind.is_chain() && entry.uuid.is_some_and(own) {
                time = entry.time;
            }
        });
        if time.is_some() {
            break;
        }
    }
    time.map(|t| t.0)
}

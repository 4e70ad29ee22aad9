//! Which files are connected: those that name the same session, and those that have an entry in
//! common or a summary of it.
//!
//! Nothing outside such a group changes what a join says of the files in it, so a file that changed
//! is joined again with its group alone. Nearly all entries are in one file only: a filter tells
//! that, and where it is wrong, the keys of all files are looked through once.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::Card;
use super::copies::{Bits, repeated_keys};
use crate::id::SessionId;
use crate::layout::FileKind;

/// The place of a file among the cards of a live library.
pub(super) type Slot = u32;

type Slots = SmallVec<[Slot; 4]>;

/// A file before and after a change; a vacant card where there was or is none.
pub(super) struct CardExchange {
    pub(super) slot: Slot,
    pub(super) before: Arc<Card>,
    pub(super) after: Arc<Card>,
}

/// What files have in common.
#[derive(Default)]
pub(super) struct Mentions {
    /// Files that name a session, in any role.
    sessions: HashMap<Box<str>, Slots>,
    /// Entries that more than one file names.
    repeated: HashMap<u64, Slots>,
    filter: KeyFilter,
}

impl Mentions {
    pub(super) fn of_cards(cards: &[Arc<Card>]) -> Self {
        let all = || {
            let cards = cards.iter().enumerate();
            cards.flat_map(|(at, card)| card.mentioned_keys().map(move |key| (key, at as Slot)))
        };
        let filter = KeyFilter::of(all().count(), all().map(|(key, _)| key));
        let mut mentions = Self { filter, ..Self::default() };
        let repeated = repeated_keys(all).into_iter();
        mentions.repeated = repeated.map(|(key, slots)| (key, slots.into())).collect();
        for (at, card) in cards.iter().enumerate() {
            card.mentioned_sessions().for_each(|id| mentions.add_session(id, at as Slot));
        }
        mentions
    }

    /// The files that are connected with these, directly or through others; `card` gives a file.
    pub(super) fn find_group<'c>(
        &self,
        seeds: impl IntoIterator<Item = Slot>,
        card: impl Fn(Slot) -> &'c Card,
    ) -> HashSet<Slot> {
        let mut group: HashSet<Slot> = HashSet::new();
        let mut open: Vec<Slot> = Vec::new();
        let mut reach = |slots: &[Slot], open: &mut Vec<Slot>| {
            open.extend(slots.iter().filter(|slot| group.insert(**slot)));
        };
        let seeds: Vec<Slot> = seeds.into_iter().collect();
        reach(&seeds, &mut open);
        while let Some(slot) = open.pop() {
            let card = card(slot);
            for id in card.mentioned_sessions() {
                self.sessions.get(id).into_iter().for_each(|slots| reach(slots, &mut open));
            }
            for key in card.mentioned_keys().filter(|_| !self.repeated.is_empty()) {
                self.repeated.get(&key).into_iter().for_each(|slots| reach(slots, &mut open));
            }
        }
        group
    }

    /// Takes changes over; `all` are the files after them. Says whether the keys of all files had
    /// to be looked through.
    pub(super) fn exchange_cards(&mut self, changes: &[CardExchange], all: &[Arc<Card>]) -> bool {
        let mut unsure: HashSet<u64> = HashSet::new();
        for CardExchange { slot, before, after } in changes {
            before.mentioned_sessions().for_each(|id| self.remove_session(id, *slot));
            after.mentioned_sessions().for_each(|id| self.add_session(id, *slot));
            let (added, removed) = compare_keys(before, after);
            removed.iter().for_each(|key| self.remove_key(*key, *slot));
            for key in added {
                match self.repeated.get_mut(&key) {
                    Some(slots) if slots.contains(slot) => {}
                    Some(slots) => slots.push(*slot),
                    None if self.filter.add(key) => drop(unsure.insert(key)),
                    None => {}
                }
            }
        }
        if self.filter.is_full() {
            let keys = || all.iter().flat_map(|card| card.mentioned_keys());
            self.filter = KeyFilter::of(keys().count(), keys());
        }
        self.find_owners(&unsure, all);
        !unsure.is_empty()
    }

    /// Finds the files of keys that seemed to be known.
    fn find_owners(&mut self, unsure: &HashSet<u64>, all: &[Arc<Card>]) {
        if unsure.is_empty() {
            return;
        }
        let mut owners: HashMap<u64, Slots> = HashMap::new();
        for (at, card) in all.iter().enumerate() {
            for key in card.mentioned_keys().filter(|key| unsure.contains(key)) {
                let slots = owners.entry(key).or_default();
                if slots.last() != Some(&(at as Slot)) {
                    slots.push(at as Slot);
                }
            }
        }
        self.repeated.extend(owners.into_iter().filter(|(_, slots)| slots.len() > 1));
    }

    fn add_session(&mut self, id: &str, slot: Slot) {
        match self.sessions.get_mut(id) {
            Some(slots) if slots.contains(&slot) => {}
            Some(slots) => slots.push(slot),
            None => drop(self.sessions.insert(id.into(), [slot].as_slice().into())),
        }
    }

    fn remove_session(&mut self, id: &str, slot: Slot) {
        let Some(slots) = self.sessions.get_mut(id) else { return };
        slots.retain(|known| *known != slot);
        if slots.is_empty() {
            self.sessions.remove(id);
        }
    }

    fn remove_key(&mut self, key: u64, slot: Slot) {
        let Some(slots) = self.repeated.get_mut(&key) else { return };
        slots.retain(|known| *known != slot);
        if slots.len() < 2 {
            self.repeated.remove(&key);
        }
    }
}

impl Card {
    /// The sessions that decide with which other files this one is joined.
    pub(super) fn mentioned_sessions(&self) -> impl Iterator<Item = &str> {
        let named = match &self.found.kind {
            FileKind::Session { session, .. } => Some(session),
            FileKind::Agent { session, .. } => session.as_ref(),
            _ => None,
        };
        let others = self.strays.iter().map(|(id, _)| id);
        let ids = named.into_iter().chain(&self.id).chain(others).map(SessionId::as_str);
        ids.chain(self.continued_in.as_deref()).chain(self.fork_context.as_deref())
    }

    /// The entries that do: those it has, and those that its summaries of others are about.
    fn mentioned_keys(&self) -> impl Iterator<Item = u64> {
        let leaves = self.foreign_summaries.iter().map(|(leaf, _)| leaf.short());
        self.keys.iter().copied().chain(leaves)
    }
}

/// The keys that a change of a file added and those that it took away.
fn compare_keys(before: &Card, after: &Card) -> (Vec<u64>, Vec<u64>) {
    let is_grown = after.keys.starts_with(&before.keys)
        && after.foreign_summaries.starts_with(&before.foreign_summaries);
    if !is_grown {
        let old: HashSet<u64> = before.mentioned_keys().collect();
        let new: HashSet<u64> = after.mentioned_keys().collect();
        return (new.difference(&old).copied().collect(), old.difference(&new).copied().collect());
    }
    let summaries = &after.foreign_summaries[before.foreign_summaries.len()..];
    let keys = after.keys[before.keys.len()..].iter().copied();
    let mut added: HashSet<u64> =
        keys.chain(summaries.iter().map(|(leaf, _)| leaf.short())).collect();
    // An entry may be written twice into the same file.
    for key in before.mentioned_keys() {
        added.remove(&key);
    }
    (added.into_iter().collect(), Vec::new())
}

/// A set of keys that takes one key in two hundred for known that is not; one in thirty when it is
/// full.
struct KeyFilter {
    bits: Bits,
    keys: usize,
    room: usize,
}

/// A home that is empty at first has this many entries before the filter is made anew.
const LEAST_ROOM: usize = 4096;

impl KeyFilter {
    fn of(count: usize, keys: impl Iterator<Item = u64>) -> Self {
        let mut filter = Self::with_room((count * 2).max(LEAST_ROOM));
        for key in keys {
            filter.add(key);
        }
        filter
    }

    fn with_room(room: usize) -> Self {
        Self { bits: Bits::for_keys(room / 2), keys: 0, room }
    }

    fn is_full(&self) -> bool {
        self.keys > self.room
    }

    /// Whether the key seemed to be there already.
    fn add(&mut self, key: u64) -> bool {
        self.keys += 1;
        let mut was = true;
        for part in [key, key.rotate_left(23), key.rotate_left(41)] {
            was &= self.bits.add_key(part);
        }
        was
    }
}

impl Default for KeyFilter {
    fn default() -> Self {
        Self::with_room(LEAST_ROOM)
    }
}

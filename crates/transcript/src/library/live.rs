//! A library that follows its files: of a change, only the files that are connected with it are
//! joined again.
//!
//! The same code joins a group and the whole, over files in the same order, and a group is closed:
//! no file outside it names a session or an entry that a file inside names. So what a change leaves
//! is what a join of all files would say. Readers keep an older [`Library`] as long as they like;
//! what did not change is shared with it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::join::{Joining, ReadAgain, Scattered, Title, count_session, gather_with};
use super::mention::{CardExchange, Mentions, Slot};
use super::{Card, Facts, Library};
use crate::id::SessionId;
use crate::layout::{Found, Problem};
use crate::session::{Builder, Options};

/// Gives the facts of a file as it is now.
pub type ReadFile<'a> = &'a mut dyn FnMut(&Found) -> Result<Builder, Problem>;

/// A transcript that changed: its Claude folder by number, and its path below it.
#[derive(Debug)]
pub struct CardChange {
    /// The number of the Claude folder.
    pub root: u32,
    /// The path below it.
    pub rel: PathBuf,
    /// What there is now.
    pub now: CardNow,
}

/// What there is of a transcript after a change.
#[derive(Debug)]
pub enum CardNow {
    /// It was read.
    Read(Box<Card>),
    /// It is gone.
    Removed,
    /// It is what it was, but a file next to it changed.
    Same,
}

/// What a change made necessary.
#[derive(Debug, Default)]
pub struct GroupJoin {
    /// Sessions that were joined again.
    pub sessions: usize,
    /// Files that were joined again.
    pub files: usize,
    /// Whether these were all files.
    pub is_full: bool,
    /// Whether the keys of all files had to be looked through.
    pub has_searched_keys: bool,
    /// Whether there are other sessions than before.
    pub has_other_sessions: bool,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// All sessions, and what is needed to follow their files.
pub struct LiveLibrary {
    library: Library,
    /// Each file alone; vacant where one was removed.
    alone: Vec<Arc<Card>>,
    roots: Vec<u32>,
    places: BTreeMap<(OsString, u32), Slot>,
    vacant: Vec<Slot>,
    mentions: Mentions,
    memo: JoinMemo,
}

impl LiveLibrary {
    /// Joins the transcripts of some Claude folders, each with the number of its folder.
    pub fn join_files(files: Vec<(u32, Card)>, read: ReadFile<'_>) -> (Self, GroupJoin) {
        let mut live = Self {
            library: Library::default(),
            alone: Vec::with_capacity(files.len()),
            roots: Vec::with_capacity(files.len()),
            places: BTreeMap::new(),
            vacant: Vec::new(),
            mentions: Mentions::default(),
            memo: JoinMemo::default(),
        };
        for (root, card) in files {
            let slot = live.alone.len() as Slot;
            live.places.insert((card.found.rel.clone().into(), root), slot);
            live.alone.push(Arc::new(card));
            live.roots.push(root);
        }
        live.mentions = Mentions::of_cards(&live.alone);
        live.library.cards = live.alone.iter().cloned().collect();
        let all: HashSet<Slot> = (0..live.alone.len() as Slot).collect();
        let joined = live.join_group(&all, &all, &HashSet::new(), read);
        (live, joined)
    }

    /// The sessions as they are now.
    pub fn current_library(&self) -> &Library {
        &self.library
    }

    /// How many transcripts there are.
    pub fn file_count(&self) -> usize {
        self.places.len()
    }

    /// What was read of a transcript.
    pub fn card_at(&self, root: u32, rel: &Path) -> Option<&Card> {
        let slot = self.places.get(&(rel.into(), root))?;
        Some(&self.alone[*slot as usize])
    }

    /// The transcripts of a Claude folder at or below a path.
    pub fn files_below(&self, root: u32, rel: &Path) -> Vec<PathBuf> {
        let is_below = |path: &OsStr| Path::new(path).starts_with(rel);
        // Between a folder and the files in it others may come: `a-b` is before `a/b`.
        let (start, inside) = (rel.as_os_str().to_owned(), rel.join("").into_os_string());
        let at = self.places.get(&(start.clone(), root)).map(|_| start);
        let bytes = inside.as_encoded_bytes();
        let from = (inside.clone(), 0);
        let inside = self.places.range(from..).map(|(place, _)| place);
        let inside = inside.take_while(|(path, _)| path.as_encoded_bytes().starts_with(bytes));
        let inside = inside.filter(|(path, of)| *of == root && is_below(path));
        at.into_iter().chain(inside.map(|(path, _)| path.clone())).map(PathBuf::from).collect()
    }

    /// Takes changes over. `read` gives the facts of a file that has to be read again for the
    /// entries that it shares with others.
    pub fn apply_changes(&mut self, changes: Vec<CardChange>, read: ReadFile<'_>) -> GroupJoin {
        let (exchanges, touched) = self.take_over(changes);
        if exchanges.is_empty() && touched.is_empty() {
            return GroupJoin::default();
        }
        let changed: HashSet<Slot> = exchanges.iter().map(|exchange| exchange.slot).collect();
        let before: HashMap<Slot, &Card> =
            exchanges.iter().map(|exchange| (exchange.slot, &*exchange.before)).collect();
        let seeds = || changed.iter().chain(&touched).copied();
        let alone = &self.alone;
        let earlier = self.mentions.find_group(seeds(), |slot| {
            before.get(&slot).copied().unwrap_or(&alone[slot as usize])
        });
        let mut ids: HashSet<SessionId> = HashSet::new();
        for card in before.values() {
            ids.extend(card.mentioned_sessions().map(SessionId::new));
        }
        let has_searched_keys = self.mentions.exchange_cards(&exchanges, &self.alone);
        let seeds = earlier.into_iter().chain(seeds());
        let mut group = self.mentions.find_group(seeds, |slot| &alone[slot as usize]);
        group.retain(|slot| !self.alone[*slot as usize].is_vacant());
        let joined = self.join_group(&group, &changed, &ids, read);
        GroupJoin { has_searched_keys, ..joined }
    }

    /// Puts the new cards in their places. Gives what was exchanged, and the files that are the
    /// same and are to be joined again.
    fn take_over(&mut self, changes: Vec<CardChange>) -> (Vec<CardExchange>, HashSet<Slot>) {
        let (mut exchanges, mut touched) = (Vec::new(), HashSet::new());
        // A place that becomes vacant now is taken by a later change: each slot is exchanged once.
        let mut free = std::mem::take(&mut self.vacant);
        for CardChange { root, rel, now } in changes {
            let place = (rel.into_os_string(), root);
            let known = self.places.get(&place).copied();
            let (slot, after) = match (now, known) {
                (CardNow::Read(card), Some(slot)) => (slot, *card),
                (CardNow::Read(card), None) => (self.add_slot(place, free.pop()), *card),
                (CardNow::Removed, Some(slot)) => {
                    self.places.remove(&place);
                    self.vacant.push(slot);
                    (slot, Card::new_vacant())
                }
                (CardNow::Same, Some(slot)) => {
                    touched.insert(slot);
                    continue;
                }
                (CardNow::Removed | CardNow::Same, None) => continue,
            };
            let after = Arc::new(after);
            let before = std::mem::replace(&mut self.alone[slot as usize], after.clone());
            exchanges.push(CardExchange { slot, before, after });
        }
        self.vacant.append(&mut free);
        (exchanges, touched)
    }

    fn add_slot(&mut self, place: (OsString, u32), free: Option<Slot>) -> Slot {
        let root = place.1;
        let slot = free.unwrap_or(self.alone.len() as Slot);
        self.places.insert(place, slot);
        match free {
            Some(slot) => self.roots[slot as usize] = root,
            None => {
                let card = Arc::new(Card::new_vacant());
                self.alone.push(card.clone());
                self.roots.push(root);
                self.library.cards.insert_at(slot as usize, card);
            }
        }
        slot
    }

    /// Joins a group again. `ids` are the sessions that its files named before, besides those that
    /// they name now.
    fn join_group(
        &mut self,
        group: &HashSet<Slot>,
        changed: &HashSet<Slot>,
        ids: &HashSet<SessionId>,
        read: ReadFile<'_>,
    ) -> GroupJoin {
        let mut slots: Vec<Slot> = group.iter().copied().collect();
        slots.sort_by_key(|&slot| {
            (self.alone[slot as usize].found.rel.as_os_str(), self.roots[slot as usize])
        });
        let cards: Vec<Arc<Card>> =
            slots.iter().map(|&slot| self.alone[slot as usize].clone()).collect();
        let named = cards.iter().flat_map(|card| card.mentioned_sessions().map(SessionId::new));
        let ids: HashSet<SessionId> = named.chain(ids.iter().cloned()).collect();
        let earlier = self.memo.start(changed, &ids);
        let mut again = MemoReadAgain {
            library: &self.library,
            memo: &mut self.memo,
            earlier,
            slots: &slots,
            changed,
            read,
        };
        let joined = Joining::join_cards(cards, &mut again);
        self.splice(joined, &slots, changed, ids)
    }

    /// Puts what a join says of a group in the place of what was said before.
    fn splice(
        &mut self,
        joined: Joining,
        slots: &[Slot],
        changed: &HashSet<Slot>,
        mut ids: HashSet<SessionId>,
    ) -> GroupJoin {
        let mut result = GroupJoin {
            sessions: joined.sessions.len(),
            files: slots.len(),
            is_full: slots.len() == self.places.len(),
            problems: joined.problems,
            ..GroupJoin::default()
        };
        self.splice_copies(joined.copies.into_sets(), slots, changed);
        for (mut card, &slot) in joined.cards.into_iter().zip(slots) {
            if let Some(from) = card.copied_from {
                Arc::make_mut(&mut card).copied_from = Some(slots[from] as usize);
            }
            self.library.cards.replace_at(slot as usize, card);
        }
        for &slot in changed.iter().filter(|slot| self.alone[**slot as usize].is_vacant()) {
            self.library.cards.replace_at(slot as usize, self.alone[slot as usize].clone());
        }
        for mut item in joined.sessions {
            let renumbered = item.renumber(|at| slots.get(at).map(|slot| *slot as usize));
            renumbered.expect("a join names only its own files");
            ids.remove(&item.id);
            match self.library.sessions.binary_search_by(|known| known.id.cmp(&item.id)) {
                Ok(at) => self.library.sessions.replace_at(at, Arc::new(item)),
                Err(at) => {
                    self.library.sessions.insert_at(at, Arc::new(item));
                    result.has_other_sessions = true;
                }
            }
        }
        for id in ids {
            if let Ok(at) = self.library.sessions.binary_search_by(|known| known.id.cmp(&id)) {
                self.library.sessions.remove_at(at);
                result.has_other_sessions = true;
            }
        }
        result
    }

    fn splice_copies(
        &mut self,
        sets: HashMap<usize, Arc<HashSet<u64>>>,
        slots: &[Slot],
        changed: &HashSet<Slot>,
    ) {
        let concerned = || slots.iter().chain(changed).map(|slot| *slot as usize);
        let known = concerned().any(|slot| self.library.copies.contains_key(&slot));
        if sets.is_empty() && !known {
            return;
        }
        let copies = Arc::make_mut(&mut self.library.copies);
        for slot in concerned() {
            copies.remove(&slot);
        }
        copies.extend(sets.into_iter().map(|(at, set)| (slots[at] as usize, set)));
    }
}

/// What was read of a session whose entries are in several files.
struct Gathered {
    own: Option<Slot>,
    found_in: Vec<(Slot, usize)>,
    facts: Facts,
    title: Title,
}

/// What files were read again for, so that they are read again only when they change.
#[derive(Default)]
struct JoinMemo {
    gathered: HashMap<SessionId, Gathered>,
    /// When the first own entry of a file was written, beside the entries that it shares.
    began: HashMap<Slot, (SharedDigest, Option<i64>)>,
}

impl JoinMemo {
    /// Forgets what is no longer true, and hands out what was gathered of these sessions.
    fn start(
        &mut self,
        changed: &HashSet<Slot>,
        ids: &HashSet<SessionId>,
    ) -> HashMap<SessionId, Gathered> {
        for slot in changed {
            self.began.remove(slot);
        }
        ids.iter().filter_map(|id| self.gathered.remove_entry(id)).collect()
    }
}

/// How many keys are shared, and their sum.
type SharedDigest = (usize, u128);

fn digest_shared(shared: &HashSet<u64>) -> SharedDigest {
    let spread =
        |key: &u64| u128::from(*key).wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645);
    (shared.len(), shared.iter().map(spread).fold(0, u128::wrapping_add))
}

/// Reads again what changed, and takes the rest from the last join.
struct MemoReadAgain<'a> {
    library: &'a Library,
    memo: &'a mut JoinMemo,
    earlier: HashMap<SessionId, Gathered>,
    slots: &'a [Slot],
    changed: &'a HashSet<Slot>,
    read: ReadFile<'a>,
}

impl MemoReadAgain<'_> {
    fn has_same_copies(&self, slot: Slot, copies: Option<&Arc<HashSet<u64>>>) -> bool {
        self.library.copies_of(slot as usize) == copies.map(|copies| &**copies)
    }

    /// What was gathered before, if nothing it was gathered from has changed.
    fn gathered_before(&mut self, session: &Scattered<'_>) -> Option<Gathered> {
        let before = self.earlier.remove(session.id)?;
        let own = session.own.map(|own| self.slots[own]);
        let found_in = session.found_in.iter().map(|(at, count)| (self.slots[*at], *count));
        let hosts = before.found_in.iter().map(|(slot, _)| slot);
        let is_same = before.own == own
            && before.found_in.iter().copied().eq(found_in)
            && own.iter().chain(hosts).all(|slot| !self.changed.contains(slot))
            && own.is_none_or(|own| self.has_same_copies(own, session.copies));
        is_same.then_some(before)
    }
}

impl ReadAgain for MemoReadAgain<'_> {
    fn count_owned(
        &mut self,
        at: usize,
        card: &Card,
        copies: &Arc<HashSet<u64>>,
    ) -> Result<(Facts, usize), Problem> {
        let slot = self.slots[at];
        if !self.changed.contains(&slot)
            && self.has_same_copies(slot, Some(copies))
            && let Some(before) = self.library.cards.item_at(slot as usize)
            // One that could not be read the last time has no copies counted.
            && before.copied > 0
        {
            return Ok((before.facts.clone(), before.copied));
        }
        let options = Options { stem: card.found.stem(), copies: Some(copies) };
        Ok(count_session(&(self.read)(&card.found)?.finish(&options)))
    }

    fn gather_entries(
        &mut self,
        cards: &[Arc<Card>],
        session: &Scattered<'_>,
    ) -> Result<(Facts, Title), Problem> {
        let gathered = match self.gathered_before(session) {
            Some(before) => before,
            None => {
                let (facts, title) = gather_with(cards, session, &mut *self.read)?;
                let found_in = session.found_in.iter();
                let found_in = found_in.map(|(at, count)| (self.slots[*at], *count)).collect();
                Gathered { own: session.own.map(|own| self.slots[own]), found_in, facts, title }
            }
        };
        let said = (gathered.facts.clone(), gathered.title.clone());
        self.memo.gathered.insert(session.id.clone(), gathered);
        Ok(said)
    }

    fn first_own_time(&mut self, at: usize, card: &Card, shared: &HashSet<u64>) -> Option<i64> {
        let (slot, digest) = (self.slots[at], digest_shared(shared));
        if let Some((known, time)) = self.memo.began.get(&slot)
            && *known == digest
        {
            return *time;
        }
        let time = super::copies::first_own_time(card, shared);
        self.memo.began.insert(slot, (digest, time));
        time
    }
}

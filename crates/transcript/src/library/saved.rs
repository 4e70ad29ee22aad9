//! A joined library as bytes: what the join found is loaded again without the keys of all entries
//! and without joining.
//!
//! Files are named by numbers of whoever keeps the bytes, since places among the cards change with
//! every file that comes and goes.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use super::{Card, Library, SessionItem};
use crate::layout::Found;

/// The number of a file for whoever keeps the bytes.
pub type FileNumber = i64;

/// What a join says of a file.
#[derive(Serialize, Deserialize)]
struct SavedCard {
    card: Card,
    /// Entries that another file owns.
    copies: Option<Vec<u64>>,
}

impl Library {
    /// What the join says of the file of a card. `numbers` are those of the cards' files.
    pub fn save_card(&self, at: usize, numbers: &[FileNumber]) -> Vec<u8> {
        let mut card = self.cards[at].clone_without_keys();
        card.copied_from = card.copied_from.map(|from| numbers[from] as usize);
        let copies = self.copies_of(at).map(|copies| {
            let mut copies: Vec<u64> = copies.iter().copied().collect();
            copies.sort_unstable();
            copies
        });
        postcard::to_stdvec(&SavedCard { card, copies }).expect("plain values can be written")
    }

    /// What the join says of a session. `numbers` are those of the cards' files.
    pub fn save_session(item: &SessionItem, numbers: &[FileNumber]) -> Vec<u8> {
        let mut item = item.clone();
        item.renumber(|at| Some(numbers[at] as usize)).expect("every card has a number");
        postcard::to_stdvec(&item).expect("plain values can be written")
    }

    /// The library of these files, each with what [`Library::save_card`] said of it, and these
    /// sessions, in the order of their ids; `None` if they do not fit together.
    pub fn load(files: Vec<(FileNumber, Found, Vec<u8>)>, sessions: &[Vec<u8>]) -> Option<Self> {
        let places: HashMap<FileNumber, usize> =
            files.iter().enumerate().map(|(at, (number, ..))| (*number, at)).collect();
        let place = |number: usize| places.get(&(number as FileNumber)).copied();
        let (mut cards, mut items) = (Vec::with_capacity(files.len()), Vec::new());
        let mut all_copies: HashMap<usize, Arc<HashSet<u64>>> = HashMap::new();
        for (at, (_, found, bytes)) in files.into_iter().enumerate() {
            let SavedCard { mut card, copies } = postcard::from_bytes(&bytes).ok()?;
            card.found = found;
            card.copied_from =
                card.copied_from.map(|from| place(from).ok_or(())).transpose().ok()?;
            if let Some(copies) = copies {
                all_copies.insert(at, Arc::new(copies.into_iter().collect()));
            }
            cards.push(card);
        }
        for bytes in sessions {
            let mut item: SessionItem = postcard::from_bytes(bytes).ok()?;
            item.renumber(place)?;
            items.push(item);
        }
        items.is_sorted_by(|a: &SessionItem, b| a.id < b.id).then(|| Self {
            cards: cards.into_iter().collect(),
            sessions: items.into_iter().collect(),
            problems: Vec::new(),
            copies: Arc::new(all_copies),
        })
    }
}

impl SessionItem {
    /// Gives its files other numbers; `None` if one has none.
    pub(super) fn renumber(&mut self, number: impl Fn(usize) -> Option<usize>) -> Option<()> {
        let own = self.file.iter_mut().chain(&mut self.also);
        let hosts = self.found_in.iter_mut().map(|(file, _)| file);
        let agents = self.agents.iter_mut().filter_map(|agent| agent.file.as_mut());
        for file in own.chain(hosts).chain(agents) {
            *file = number(*file)?;
        }
        Some(())
    }
}

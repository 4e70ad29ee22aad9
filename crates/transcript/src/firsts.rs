//! Which item of a list has a key first.
//!
//! The keys stay in the list, and the table has only numbers: a sixth of the size of a table that
//! has the keys, too, so that it stays in the near caches while a large file is read.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::id::Key;

/// The first item of each key, by its number in a list that is handed in as the keys it has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Firsts {
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Firsts {
    /// The first item of the key.
    pub(crate) fn get(&self, key: Key, key_of: impl Fn(usize) -> Key) -> Option<u32> {
        let is_it = |&number: &u32| key_of(number as usize) == key;
        self.numbers.find(self.hasher.hash_one(key), is_it).copied()
    }

    /// The first item of the key: `next`, which is about to be added to the list, if it had none.
    pub(crate) fn add(&mut self, key: Key, next: u32, key_of: impl Fn(usize) -> Key) -> u32 {
        let hasher = &self.hasher;
        let is_it = |&number: &u32| key_of(number as usize) == key;
        let again = |&number: &u32| hasher.hash_one(key_of(number as usize));
        match self.numbers.entry(hasher.hash_one(key), is_it, again) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => *place.insert(next).get(),
        }
    }

    /// Makes room for more.
    pub(crate) fn reserve(&mut self, more: usize, key_of: impl Fn(usize) -> Key) {
        let hasher = &self.hasher;
        self.numbers.reserve(more, |&number| hasher.hash_one(key_of(number as usize)));
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_item_of_a_key_is_known_however_many_there_are() {
        let keys: Vec<Key> = (0..5000u128).map(|n| Key(n % 1700)).collect();
        let mut firsts = Firsts::default();
        for (next, &key) in keys.iter().enumerate() {
            let first = firsts.add(key, next as u32, |at| keys[..next][at]);
            assert_eq!(first, next as u32 % 1700);
        }
        assert_eq!(firsts.get(Key(1699), |at| keys[at]), Some(1699));
        assert_eq!(firsts.get(Key(1700), |at| keys[at]), None);
    }
}

//! A list that shares what did not change with the list it was made from.
//!
//! Whoever reads an older state of a live library keeps it while the next one is made: a copy of
//! the list is one pointer for each chunk, and a change copies the pointers of one chunk.

use std::cmp::Ordering;
use std::ops::Index;
use std::sync::Arc;

/// Items in a chunk; one that has twice as many is split.
const CHUNK_ITEMS: usize = 128;

type Chunk<T> = Arc<Vec<Arc<T>>>;

/// An ordered list of shared items.
#[derive(Debug)]
pub struct SharedList<T> {
    chunks: Vec<Chunk<T>>,
    /// The place of each chunk's first item.
    starts: Vec<usize>,
    length: usize,
}

impl<T> SharedList<T> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// All items in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).map(|item| &**item)
    }

    /// The item at a place.
    pub fn item_at(&self, at: usize) -> Option<&T> {
        self.shared_at(at).map(|item| &**item)
    }

    /// The item at a place, to be held longer than the list.
    pub fn shared_at(&self, at: usize) -> Option<&Arc<T>> {
        if at >= self.length {
            return None;
        }
        let (chunk, inside) = self.find_place(at);
        self.chunks[chunk].get(inside)
    }

    /// As `binary_search_by` of a slice.
    pub fn binary_search_by(
        &self,
        mut compare: impl FnMut(&T) -> Ordering,
    ) -> Result<usize, usize> {
        let is_before =
            |chunk: &Chunk<T>| chunk.last().is_some_and(|last| compare(last) == Ordering::Less);
        let chunk = self.chunks.partition_point(is_before);
        let Some(items) = self.chunks.get(chunk) else { return Err(self.length) };
        let start = self.starts[chunk];
        let found = items.binary_search_by(|item| compare(item));
        found.map(|at| start + at).map_err(|at| start + at)
    }

    /// Puts another item at a place that has one.
    pub(super) fn replace_at(&mut self, at: usize, item: Arc<T>) {
        let (chunk, inside) = self.find_place(at);
        Arc::make_mut(&mut self.chunks[chunk])[inside] = item;
    }

    /// Adds an item before the one that is at `at` now.
    pub(super) fn insert_at(&mut self, at: usize, item: Arc<T>) {
        if self.chunks.is_empty() {
            self.chunks.push(Arc::default());
            self.starts.push(0);
        }
        let (chunk, inside) = self.find_place(at);
        let items = Arc::make_mut(&mut self.chunks[chunk]);
        items.insert(inside, item);
        if items.len() >= 2 * CHUNK_ITEMS {
            let rest = items.split_off(CHUNK_ITEMS);
            self.chunks.insert(chunk + 1, Arc::new(rest));
        }
        self.number_chunks();
    }

    /// Takes the item at a place away.
    pub(super) fn remove_at(&mut self, at: usize) {
        let (chunk, inside) = self.find_place(at);
        let items = Arc::make_mut(&mut self.chunks[chunk]);
        items.remove(inside);
        if items.is_empty() {
            self.chunks.remove(chunk);
        }
        self.number_chunks();
    }

    fn find_place(&self, at: usize) -> (usize, usize) {
        let chunk = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        (chunk, at - self.starts[chunk])
    }

    fn number_chunks(&mut self) {
        self.starts.clear();
        self.length = 0;
        for chunk in &self.chunks {
            self.starts.push(self.length);
            self.length += chunk.len();
        }
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), starts: Vec::new(), length: 0 }
    }
}

/// The items are shared, so that they need not be `Clone`.
impl<T> Clone for SharedList<T> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), starts: self.starts.clone(), length: self.length }
    }
}

impl<T> FromIterator<Arc<T>> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = Arc<T>>>(items: I) -> Self {
        let mut list = Self::default();
        let mut chunk = Vec::with_capacity(CHUNK_ITEMS);
        for item in items {
            chunk.push(item);
            if chunk.len() == CHUNK_ITEMS {
                let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK_ITEMS));
                list.chunks.push(Arc::new(full));
            }
        }
        if !chunk.is_empty() {
            list.chunks.push(Arc::new(chunk));
        }
        list.number_chunks();
        list
    }
}

impl<T> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().map(Arc::new).collect()
    }
}

impl<T> Index<usize> for SharedList<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        let (chunk, inside) = self.find_place(at);
        &self.chunks[chunk][inside]
    }
}

impl<'a, T> IntoIterator for &'a SharedList<T> {
    type Item = &'a T;
    type IntoIter = Box<dyn DoubleEndedIterator<Item = &'a T> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a plain list that had the same done to it.
    #[test]
    fn it_is_the_list_that_a_vector_would_be() {
        let (mut list, mut plain) = (SharedList::default(), Vec::new());
        for number in 0..2000_usize {
            let at = number * 7919 % (plain.len() + 1);
            match number % 5 {
                3 if at < plain.len() => {
                    list.remove_at(at);
                    plain.remove(at);
                }
                4 if at < plain.len() => {
                    list.replace_at(at, Arc::new(number));
                    plain[at] = number;
                }
                _ => {
                    list.insert_at(at, Arc::new(number));
                    plain.insert(at, number);
                }
            }
        }
        assert!(list.iter().eq(&plain) && list.len() == plain.len());
        assert!((0..plain.len()).all(|at| list[at] == plain[at] && list.item_at(at).is_some()));
        let sorted: SharedList<usize> = (0..1000).map(|number| number * 2).collect();
        for wanted in 0..2001 {
            let among: Vec<usize> = sorted.iter().copied().collect();
            let found = sorted.binary_search_by(|number| number.cmp(&wanted));
            assert_eq!(found, among.binary_search(&wanted));
        }
    }

    #[test]
    fn a_copy_stays_as_it_was_and_shares_the_rest() {
        let before: SharedList<usize> = (0..1000_usize).collect();
        let mut after = before.clone();
        after.replace_at(500, Arc::new(0));
        assert_eq!((before[500], after[500]), (500, 0));
        let is_shared = |at: usize| Arc::ptr_eq(&before.chunks[at], &after.chunks[at]);
        assert_eq!((0..before.chunks.len()).filter(|at| !is_shared(*at)).count(), 1);
    }
}

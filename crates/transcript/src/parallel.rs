//! Work on many items by all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each item, in the order of the items. Large items are begun first: one that
/// is begun last is done by one core while the others wait.
pub fn map_largest_first<I: Sync, O: Send>(
    items: &[I],
    size: impl Fn(&I) -> u64,
    work: impl Fn(&I) -> O + Sync,
) -> Vec<O> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(size(&items[at])));
    // Rayon's own iterators begin in the middle, too.
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(items.len()) {
            scope.spawn(|_| {
                while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let output = work(&items[at]);
                    done.lock().expect("no worker panics").push((at, output));
                }
            });
        }
    });
    let mut done: Vec<(usize, O)> = done.into_inner().expect("no worker panics");
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, output)| output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_items_is_kept() {
        let items: Vec<u64> = (0..100).map(|n| n * 7919 % 101).collect();
        let doubled = map_largest_first(&items, |item| *item, |item| item * 2);
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}

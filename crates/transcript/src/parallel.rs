//! Work on many items by all cores. The only place where workers take items one by one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};

/// Items that workers take one after the other.
pub struct WorkQueue<'a, I> {
    items: &'a [I],
    next: AtomicUsize,
}

impl<'a, I> WorkQueue<'a, I> {
    /// Hands out these items in their order.
    pub fn of_items(items: &'a [I]) -> Self {
        Self { items, next: AtomicUsize::new(0) }
    }

    /// The next item that nobody has taken, and its place; `None` when all are taken.
    pub fn take_next(&self) -> Option<(usize, &'a I)> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        Some((at, self.items.get(at)?))
    }

    /// Hands out nothing more.
    pub fn stop_handing_out(&self) {
        self.next.store(self.items.len(), Ordering::Relaxed);
    }
}

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
    let (queue, done) = (WorkQueue::of_items(&order), Mutex::new(Vec::with_capacity(items.len())));
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(items.len()) {
            scope.spawn(|_| {
                while let Some((_, &at)) = queue.take_next() {
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

/// Runs `worker` on all cores, each with the queue of the items, while `listen` takes what they
/// send. At most `waiting` messages wait; whoever sends more waits itself, so memory is bounded.
///
/// For workers that have a connection or a buffer of their own and a listener that writes.
pub fn work_and_listen<I: Sync, M: Send, T>(
    items: &[I],
    waiting: usize,
    worker: impl Fn(&WorkQueue<'_, I>, &SyncSender<M>) + Sync,
    listen: impl FnOnce(Receiver<M>) -> T,
) -> T {
    let (queue, worker) = (WorkQueue::of_items(items), &worker);
    std::thread::scope(|scope| {
        let (say, hear) = mpsc::sync_channel(waiting);
        for _ in 0..rayon::current_num_threads().min(items.len()) {
            let (say, queue) = (say.clone(), &queue);
            scope.spawn(move || worker(queue, &say));
        }
        drop(say);
        listen(hear)
    })
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

    #[test]
    fn each_item_is_taken_once_and_the_listener_hears_of_all() {
        let items: Vec<usize> = (0..1000).collect();
        let worker = |queue: &WorkQueue<'_, usize>, say: &SyncSender<usize>| {
            while let Some((at, item)) = queue.take_next() {
                assert_eq!(at, *item);
                say.send(*item).expect("somebody listens");
            }
        };
        let mut heard = work_and_listen(&items, 2, worker, |hear| hear.iter().collect::<Vec<_>>());
        heard.sort_unstable();
        assert_eq!(heard, items);
    }
}

//! Waiting until something in the Claude folders changes.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use store::history::ChangedPaths;

/// Claude Code writes an entry in a few pieces: what comes so shortly after belongs together.
const TOGETHER: Duration = Duration::from_millis(40);
/// A system that tells nothing is asked so often.
const BLIND: Duration = Duration::from_secs(2);

/// Tells when something has changed.
pub struct Live {
    hear: mpsc::Receiver<ChangedPaths>,
    /// Stops when dropped.
    #[expect(dead_code, reason = "held, not read")]
    watcher: Option<RecommendedWatcher>,
    /// Why the system tells nothing; the folders are looked at again and again then.
    pub blind: Option<notify::Error>,
}

impl Live {
    /// Begins to look at everything below these folders.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        let (say, hear) = mpsc::channel();
        let watched = roots.clone();
        let handler = move |event: notify::Result<notify::Event>| {
            let changed = match event {
                // Something was missed.
                Err(_) => ChangedPaths::All,
                Ok(event) if event.need_rescan() => ChangedPaths::All,
                // Reading a file is not a change: the reader would wake itself up.
                Ok(event) if event.kind.is_access() => return,
                Ok(event) => {
                    let paths = event.paths.into_iter().filter(|path| is_worth(path, &watched));
                    ChangedPaths::Only(paths.collect())
                }
            };
            if !changed.is_empty() {
                // Nobody waits any more.
                let _ = say.send(changed);
            }
        };
        let started = notify::recommended_watcher(handler).and_then(|mut watcher| {
            for root in &roots {
                watcher.watch(root, RecursiveMode::Recursive)?;
            }
            Ok(watcher)
        });
        match started {
            Ok(watcher) => Self { hear, watcher: Some(watcher), blind: None },
            Err(error) => Self { hear, watcher: None, blind: Some(error) },
        }
    }

    /// Waits until something has changed, but no longer than this.
    pub fn wait_at_most(&self, most: Duration) {
        match self.blind {
            Some(_) => std::thread::sleep(most.min(BLIND)),
            // Whether something has changed or the time is over, it is looked again.
            None => drop(self.hear.recv_timeout(most)),
        }
    }

    /// Waits until something has changed, and says what.
    pub fn wait(&self) -> ChangedPaths {
        if self.blind.is_some() {
            std::thread::sleep(BLIND);
            return ChangedPaths::All;
        }
        let Ok(mut changed) = self.hear.recv() else {
            std::thread::sleep(BLIND);
            return ChangedPaths::All;
        };
        let begun = Instant::now();
        while begun.elapsed() < 3 * TOGETHER {
            match self.hear.recv_timeout(TOGETHER) {
                Ok(more) => changed.add_later(more),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        changed
    }
}

/// Logs are written all the time while a session runs; they are read when something else changes.
fn is_worth(path: &Path, roots: &[PathBuf]) -> bool {
    let rel = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    rel.is_none_or(|rel| !rel.starts_with("debug"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_wakes_nobody() {
        let roots = [PathBuf::from("/home/me/.claude")];
        let worth = |path| is_worth(Path::new(path), &roots);
        assert!(worth("/home/me/.claude/projects/-w/x.jsonl"));
        assert!(!worth("/home/me/.claude/debug/x.txt"));
    }
}

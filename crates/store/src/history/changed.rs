//! Which files may have changed, and what it took to take that over.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// More paths than these are not looked at one by one.
const MAX_PATHS: usize = 4096;

/// Which files may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedPaths {
    /// Nobody knows.
    All,
    /// These, and what is below them.
    Only(BTreeSet<PathBuf>),
}

impl Default for ChangedPaths {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl ChangedPaths {
    /// Adds what changed later.
    pub fn add_later(&mut self, later: Self) {
        match (&mut *self, later) {
            (Self::Only(paths), Self::Only(more)) => {
                paths.extend(more);
                if paths.len() > MAX_PATHS {
                    *self = Self::All;
                }
            }
            (Self::All, _) | (_, Self::All) => *self = Self::All,
        }
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Only(paths) if paths.is_empty())
    }
}

/// What a refresh cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RefreshWork {
    /// Files that the file system was asked about.
    pub files_statted: usize,
    /// Files that were read, wholly or what is new of them.
    pub files_read: usize,
    /// Bytes read of files.
    pub bytes_read: u64,
    /// Sessions that were joined again.
    pub sessions_joined: usize,
    /// Joins of all files.
    pub full_joins: usize,
    /// Walks through all folders.
    pub full_walks: usize,
    /// Searches through the keys of all entries.
    pub key_searches: usize,
}

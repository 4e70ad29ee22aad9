//! Files that are no longer on disk, read from wherever they were kept.
//!
//! And what was read of files before, wherever that was saved.
//!
//! Nothing here knows how that is done: whoever keeps files gives a [`Keep`] for each, and
//! everything that reads a file found by its path reads a kept one in the same way.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::session::Builder;

/// A kept file.
pub trait Keep: Send + Sync {
    /// Its length.
    fn size(&self) -> u64;

    /// Reads some of what begins at `offset`, as [`std::io::Read::read`] does.
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Another kept file of the same Claude folder, by its path below it.
    fn beside(&self, rel: &Path) -> Option<Kept>;
}

/// A handle on a kept file.
#[derive(Clone)]
pub struct Kept(Arc<dyn Keep>);

impl Kept {
    /// A handle on `file`.
    pub fn new(file: impl Keep + 'static) -> Self {
        Self(Arc::new(file))
    }

    /// See [`Keep::size`].
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// See [`Keep::read_at`].
    pub fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(out, offset)
    }

    /// See [`Keep::beside`].
    pub fn beside(&self, rel: &Path) -> Option<Self> {
        self.0.beside(rel)
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Kept {}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept({} bytes)", self.size())
    }
}

/// What an earlier reading of a transcript left, so that it need not be read again.
pub trait SavedReading: Send + Sync {
    /// The facts of the whole file, to be finished or read on; `None` if they can't be had.
    fn builder(&self) -> Option<Builder>;
}

/// A handle on a saved reading.
#[derive(Clone)]
pub struct Saved(Arc<dyn SavedReading>);

impl Saved {
    /// A handle on `reading`.
    pub fn new(reading: impl SavedReading + 'static) -> Self {
        Self(Arc::new(reading))
    }

    /// See [`SavedReading::builder`].
    pub fn builder(&self) -> Option<Builder> {
        self.0.builder()
    }
}

/// Files are the same whether or not a reading of them was saved.
impl PartialEq for Saved {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Saved {}

impl std::fmt::Debug for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Saved")
    }
}

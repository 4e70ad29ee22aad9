//! The store's folder: what lies in it, and who may write to it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::archive::{Access, Archive, ArchiveError};

/// The file of the archive.
pub const ARCHIVE: &str = "archive.db";
/// Held by whoever brings the store up to date.
const LOCK: &str = "sync.lock";

/// The store's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// The right to bring the store up to date; let go when dropped, also by a crash.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, not read")] File);

impl Store {
    /// The store in `folder`, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether anything has been kept there.
    pub fn exists(&self) -> bool {
        self.folder.join(ARCHIVE).exists()
    }

    /// Makes the folder; only its owner may look into it.
    pub fn create(&self) -> io::Result<()> {
        if self.folder.is_dir() {
            return Ok(());
        }
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)
    }

    /// The right to write; `None` if another process has it.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        let path = self.folder.join(LOCK);
        let file = File::options().create(true).append(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The archive.
    pub fn archive(&self, access: Access) -> Result<Archive, ArchiveError> {
        Archive::open(&self.folder.join(ARCHIVE), access)
    }
}

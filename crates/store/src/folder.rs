//! The store's folder: what lies in it, and who may write to it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::archive::{Access, Archive, ArchiveError};
use crate::index::{self, Index};
use crate::{catalog, meaning};

/// The file of the archive.
pub const ARCHIVE: &str = "archive.db";
/// Held by whoever brings the store up to date.
const LOCK: &str = "sync.lock";
/// There if debug logs are not to be kept.
const NO_DEBUG_LOGS: &str = "no-debug-logs";

/// The store's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// What the parts of the store take on disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The archive with its log.
    pub archive: u64,
    /// The catalog with its log.
    pub catalog: u64,
    /// The index.
    pub index: u64,
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

    /// Prices that a person has added to those that are built in.
    pub fn prices(&self) -> PathBuf {
        self.folder.join("prices.json")
    }

    /// Whether anything has been kept there.
    pub fn exists(&self) -> bool {
        self.folder.join(ARCHIVE).exists()
    }

    /// Makes the folder; only its owner may look into it.
    pub fn create(&self) -> io::Result<()> {
        create_private(&self.folder)
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

    /// Whether debug logs are kept from now on.
    pub fn has_debug_logs(&self) -> bool {
        !self.folder.join(NO_DEBUG_LOGS).exists()
    }

    /// Decides whether debug logs are kept from now on. Those that are in the archive stay there.
    pub fn set_debug_logs(&self, kept: bool) -> io::Result<()> {
        self.create()?;
        let file = self.folder.join(NO_DEBUG_LOGS);
        match kept {
            false => fs::write(file, ""),
            true if file.exists() => fs::remove_file(file),
            true => Ok(()),
        }
    }

    /// What the parts of the store take on disk.
    pub fn sizes(&self) -> Sizes {
        let catalog = self.folder.join(catalog::file_name());
        Sizes {
            archive: database(&self.folder.join(ARCHIVE)),
            catalog: database(&catalog),
            index: files_in(&Index::folder(&self.folder)),
        }
    }

    /// Removes what older versions of the program have made of the archive: this one does not read
    /// it. What a newer one has made stays; what can't be removed is tried again the next time.
    pub(crate) fn remove_older(&self) {
        let own = [catalog::file_name(), index::name(), meaning::vectors_name()];
        let own: Vec<_> = own.iter().filter_map(|name| versioned(name)).collect();
        for file in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = file.file_name();
            let Some((what, version)) = name.to_str().and_then(versioned) else { continue };
            if own.iter().any(|(own, newer)| *own == what && version < *newer) {
                let is_folder = file.file_type().is_ok_and(|kind| kind.is_dir());
                let remove = if is_folder { fs::remove_dir_all } else { fs::remove_file };
                let _ = remove(file.path());
            }
        }
    }

    /// The archive.
    pub fn archive(&self, access: Access) -> Result<Archive, ArchiveError> {
        Archive::open(&self.folder.join(ARCHIVE), access)
    }
}

/// Makes a folder, if it is not there, that only its owner may look into.
pub fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether something could not be written because there is no room for it, or none for this
/// person.
pub(crate) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Whether something could not be written because of where it lies.
pub(crate) fn is_read_only(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// What a file of the store is and the version of it: `catalog` and 6, 3, 4 of
/// `catalog-v6-3-4.db-wal`.
fn versioned(name: &str) -> Option<(&str, Vec<u32>)> {
    let (what, rest) = name.split_once("-v")?;
    let numbers = rest.split_once(".db").map_or(rest, |(numbers, _)| numbers);
    let numbers = numbers.split('-').map(|number| number.parse().ok());
    Some((what, numbers.collect::<Option<_>>()?))
}

/// A database and its log; what is not there takes nothing.
fn database(path: &Path) -> u64 {
    let mut log = path.to_path_buf().into_os_string();
    log.push("-wal");
    [path, log.as_ref()].iter().map(|path| fs::metadata(path).map_or(0, |meta| meta.len())).sum()
}

fn files_in(folder: &Path) -> u64 {
    let Ok(files) = fs::read_dir(folder) else { return 0 };
    files.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

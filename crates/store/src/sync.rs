//! Bringing the store up to date.
//!
//! First the bytes: what is new of each file goes into the archive, and is safe from then on.
//! Then what they say: what the archive has and the catalog has not is read **from the archive**,
//! so that a catalog that was thrown away, one that a crash left behind and one that is a minute
//! old are brought up to date in the same way. Last the sessions over all files. Work grows with
//! what has changed; if nothing has, nothing is written.

mod claims;
mod derive;
mod ghost;
mod glance;
mod keep;
pub mod plan;

use std::path::{Path, PathBuf};

use transcript::layout::{Look, Problem, Walk};
use transcript::time::Time;

use crate::archive::{Access, ArchiveError, Effort, FileRow};
use crate::catalog::{Catalog, CatalogError, Joined};
use crate::folder::{self, Store};
use crate::index::IndexError;

pub use glance::{forget, still, still_beside};
pub use keep::{ArchiveReader, found_on_disk, kept_files, seen_row, source_of};

/// A Claude folder and what was seen in it.
pub struct Home {
    /// The folder, by its real path: that is what the archive calls it.
    pub root: PathBuf,
    /// Its files.
    pub look: Look,
}

/// A Claude folder and what its files are.
struct Walked<'a> {
    root: &'a Path,
    walk: Walk,
}

fn walked(homes: &[Home]) -> Vec<Walked<'_>> {
    homes.iter().map(|home| Walked { root: &home.root, walk: home.look.walk() }).collect()
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The time.
    pub now: Time,
    /// Compares every file with what is kept, whatever its stat says.
    pub full: bool,
    /// If more bytes than this are to be read and there are answers already, nothing is done:
    /// see [`SyncError::Behind`].
    pub at_once: Option<u64>,
}

impl Options {
    /// Everything that has changed.
    pub fn new(now: Time) -> Self {
        Self { now, full: false, at_once: None }
    }
}

/// Who watches. All of it may be called from any thread.
pub trait Watch: Sync {
    /// So much is to be read.
    fn begin(&self, files: usize, bytes: u64);

    /// So much of it has been read.
    fn step(&self, files: usize, bytes: u64);

    /// Whether to stop here; what is kept so far stays.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Files in the Claude folders.
    pub files: usize,
    /// Files that are new.
    pub new: usize,
    /// Files that have grown.
    pub grown: usize,
    /// Files whose content is another one; the old one is kept.
    pub rewritten: usize,
    /// Files with another name.
    pub moved: usize,
    /// Files that are there no more; what they held is kept.
    pub gone: usize,
    /// Files that were looked into and are what they were.
    pub same: usize,
    /// Bytes read from the Claude folders.
    pub bytes_read: u64,
    /// Bytes that were new.
    pub bytes_kept: u64,
    /// Transcripts whose content the catalog learnt.
    pub read: usize,
    /// Whether it was stopped before the end.
    pub is_stopped: bool,
}

impl Report {
    /// Whether anything was written.
    pub fn is_changed(&self) -> bool {
        self.new + self.grown + self.rewritten + self.moved + self.gone + self.read > 0
    }
}

/// Why the store can't be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The folder can't be made or locked.
    #[error("the store {} can't be written: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is too much to read for somebody who waits for an answer.
    #[error("{bytes} bytes are new")]
    Behind {
        /// How much there is to read.
        bytes: u64,
        /// When the store was last brought up to date.
        since: Time,
    },
    /// Another process does it at this moment.
    #[error("another process is bringing the store up to date")]
    Locked,
    /// The files of the model are gone, or are others now.
    #[error("the model can't be read any more")]
    NoModel,
}

impl SyncError {
    /// Whether catalog or index are wrong in themselves: a sync makes them again.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Catalog(error) => error.is_damage(),
            Self::Index(error) => matches!(error, IndexError::Damaged { .. }),
            _ => false,
        }
    }

    /// Whether there is no room for something. What was kept before is kept.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Archive(error) => matches!(error, ArchiveError::Full { .. }),
            Self::Catalog(error) => error.is_full(),
            Self::Index(error) => matches!(error, IndexError::Full { .. }),
            Self::Folder { source, .. } => folder::is_full(source),
            Self::Behind { .. } | Self::Locked | Self::NoModel => false,
        }
    }

    /// Whether the store lies where nothing can be written. It can still be read.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::Archive(error) => matches!(error, ArchiveError::ReadOnly { .. }),
            Self::Catalog(error) => error.is_read_only(),
            Self::Index(IndexError::Io { source, .. }) | Self::Folder { source, .. } => {
                folder::is_read_only(source)
            }
            Self::Index(_) | Self::Behind { .. } | Self::Locked | Self::NoModel => false,
        }
    }
}

/// What a sync would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    /// Files in the Claude folders.
    pub files: usize,
    /// Files that are new, have grown, or may have changed, and the bytes to read of them.
    pub changed: Vec<(&'static str, PathBuf, u64)>,
}

/// What a sync would do, from the stats of the files.
pub fn preview(store: &Store, homes: &[Home], options: Options) -> Result<Preview, SyncError> {
    let rows = match store.exists() {
        true => store.archive(Access::Read)?.files()?,
        false => Vec::new(),
    };
    let mut preview = Preview::default();
    for home in &walked(homes) {
        preview.files += home.walk.files.len();
        let seen = keep::seen(&rows, home.root);
        for change in keep::changes(&seen, home, options, store.has_debug_logs()) {
            let kept = change.file().and_then(|file| seen.iter().find(|s| s.file == file));
            let bytes = change.bytes(kept.map_or(0, |seen| seen.size));
            let path = match change.found() {
                Some(found) => found.path.clone(),
                None => kept.map_or_else(PathBuf::new, |seen| home.root.join(&seen.rel)),
            };
            preview.changed.push((change.name(), path, bytes));
        }
    }
    Ok(preview)
}

/// Brings the store up to date. What could not be read is named and left for the next time.
pub fn sync(
    store: &Store,
    homes: &[Home],
    options: Options,
    watch: &dyn Watch,
) -> Result<(Report, Vec<Problem>), SyncError> {
    if let Some(report) = glance::still_like(store, homes, options) {
        glance::remember_names(store, homes, options.now);
        return Ok((report, Vec::new()));
    }
    let folder = |source| SyncError::Folder { path: store.folder().into(), source };
    store.create().map_err(folder)?;
    let _lock = store.lock().map_err(folder)?.ok_or(SyncError::Locked)?;
    let mut archive = store.archive(Access::Write)?;
    let patience = Patience::new(store, options)?;
    let walked = walked(homes);
    let (rows, mut report, problems, is_idle) = {
        let debug_logs = store.has_debug_logs();
        let mut work = keep::Work::new(&archive, &walked, options, debug_logs, &patience)?;
        watch.begin(work.files(), work.bytes());
        let is_idle = work.is_idle();
        work.run(&mut archive, watch)?;
        (work.rows, work.report, work.problems, is_idle)
    };
    if !report.is_stopped {
        let rows = if is_idle { rows } else { archive.files()? };
        let mut derive =
            || derive::derive(store, &archive, &rows, &walked, &patience, watch, &mut report);
        match derive() {
            Err(SyncError::Catalog(error)) if error.is_damage() => {
                Catalog::remove(store.folder());
                derive()?;
            }
            derived => derived?,
        }
        if report.bytes_kept > 0 {
            archive.compact(Effort::Background, |_| {}, || !watch.is_stopped())?;
        }
        // Closed: that changes its files.
        drop(archive);
        store.remove_older();
        if problems.is_empty() {
            glance::remember(store, homes, options.now);
        }
    }
    Ok((report, problems))
}

/// All sessions of the transcripts `rows` of the archive, as the catalog knows them.
pub fn library(
    homes: &[Home],
    rows: &[FileRow],
    store: &Store,
    catalog: &Catalog,
) -> Result<Joined, SyncError> {
    let files = derive::transcripts(&walked(homes), rows, store)?;
    Ok(catalog.library(files)?)
}

/// How much may be read while somebody waits.
struct Patience {
    now: Time,
    /// So many bytes, and how old the answers are that there are without them.
    most: Option<(u64, Time)>,
}

impl Patience {
    fn new(store: &Store, options: Options) -> Result<Self, SyncError> {
        let most = match options.at_once {
            Some(most) => {
                let since = Catalog::read(store.folder())?.map(|catalog| catalog.joined_at());
                // One that can't be read is made again.
                since.and_then(Result::ok).flatten().map(|since| (most, since))
            }
            None => None,
        };
        Ok(Self { now: options.now, most })
    }

    fn allows(&self, bytes: u64) -> Result<(), SyncError> {
        match self.most {
            Some((most, since)) if bytes > most => Err(SyncError::Behind { bytes, since }),
            _ => Ok(()),
        }
    }
}

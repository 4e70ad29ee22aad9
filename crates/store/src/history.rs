//! All sessions of some Claude folders at one moment: the one place that knows them.
//!
//! With a store that is up to date nothing is read but what the last join left in the catalog.
//! With one that is behind, files that have not changed since are taken from it and the others are
//! read. Without a store all files are read. The answer is the same in all three cases.

mod changed;
mod live;
mod prompts;
mod reader;
mod roots;

pub use changed::{ChangedPaths, RefreshWork};
pub use live::{LiveHistory, LiveSnapshot};
pub use prompts::PromptedSession;
pub use reader::FollowingReader;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashSet};
use transcript::id::SessionId;
use transcript::kept::{Saved, SavedReading};
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::library::{self, Card, Library, Scan};
use transcript::session::{Builder, Session};
use transcript::source::Source;
use transcript::time::Time;

use crate::archive::{Access, FileRow, path_of};
use crate::catalog::{self, Catalog, FileId};
use crate::folder::Store;
use crate::sync::{self, ArchiveReader, SyncError, plan};

/// Some Claude folders, and the store that may know of them.
#[derive(Debug, Clone)]
pub struct History {
    roots: Vec<PathBuf>,
    store: Store,
    now: Time,
}

/// All sessions at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The sessions, joined over all files.
    pub library: Library,
    /// Sessions whose transcripts were set aside by Claude Code.
    pub set_aside: Vec<SessionId>,
    /// How many sessions only the store has.
    pub archived_sessions: usize,
    /// How many transcripts were read from their first byte to their last, and their bytes.
    pub files_read: usize,
    /// The bytes of these.
    pub bytes_read: u64,
    /// Why the store was left out, if it was.
    pub store_error: Option<SyncError>,
}

/// The transcripts of some Claude folders.
#[derive(Debug, Default)]
pub struct TranscriptList {
    /// In the order of their paths, folder by folder; also those that were set aside.
    pub files: Vec<Found>,
    /// What could not be listed.
    pub problems: Vec<Problem>,
    /// Why the store was left out, if it was.
    pub store_error: Option<SyncError>,
    unchanged: HashMap<FileId, PathBuf>,
}

/// Who is told how far the reading is.
pub trait ReadProgress: Sync {
    /// This many files and bytes will be read.
    fn begin(&self, files: usize, bytes: u64);
    /// A file of this many bytes has been read.
    fn step(&self, bytes: u64);
}

/// Tells nobody.
impl ReadProgress for () {
    fn begin(&self, _: usize, _: u64) {}
    fn step(&self, _: u64) {}
}

/// What is taken of each transcript while its session is at hand.
type Take<'a, T> = &'a (dyn Fn(&Found, &Session, &Source) -> Option<T> + Sync);

impl History {
    /// The history of these Claude folders. The store need not exist.
    pub fn new(roots: Vec<PathBuf>, store: Store, now: Time) -> Self {
        Self { roots, store, now }
    }

    /// All sessions of a store as its last join left them, also of Claude folders that are gone;
    /// `None` if it has not been filled yet.
    pub fn of_store(store: &Store) -> Result<Option<Snapshot>, SyncError> {
        Ok(Known::open(store)?.last_join(|home| Some(path_of(home))))
    }

    /// All sessions.
    pub fn snapshot(&self, progress: &dyn ReadProgress) -> Snapshot {
        self.read::<()>(None, progress).0
    }

    /// All sessions, and what `take` finds in each transcript, in the order of the cards.
    pub fn snapshot_with<T: Send>(
        &self,
        take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
        progress: &dyn ReadProgress,
    ) -> (Snapshot, Vec<Option<T>>) {
        self.read(Some(&take), progress)
    }

    fn read<T: Send>(
        &self,
        take: Option<Take<'_, T>>,
        progress: &dyn ReadProgress,
    ) -> (Snapshot, Vec<Option<T>>) {
        let (known, store_error) = self.open_store();
        let current = known.as_ref().and_then(|known| self.current(known));
        let (mut snapshot, taken) = match current {
            Some(snapshot) => with_taken(snapshot, take, progress),
            None => self.mixed(known.as_ref(), take, progress),
        };
        snapshot.store_error = snapshot.store_error.or(store_error);
        (snapshot, taken)
    }

    fn real_roots(&self) -> Vec<(PathBuf, &Path)> {
        let real = |root: &PathBuf| root.canonicalize().unwrap_or_else(|_| root.clone());
        self.roots.iter().map(|root| (real(root), root.as_path())).collect()
    }

    /// What the last join left, if nothing has changed since and it was a join of just these
    /// folders.
    fn current(&self, known: &Known) -> Option<Snapshot> {
        let roots = self.real_roots();
        let real: Vec<PathBuf> = roots.iter().map(|(real, _)| real.clone()).collect();
        sync::still(&self.store, &real, sync::Options::new(self.now))?;
        let given: HashMap<&[u8], &Path> = roots
            .iter()
            .map(|(real, given)| (real.as_os_str().as_encoded_bytes(), *given))
            .collect();
        known.last_join(|home| given.get(home).map(|given| given.to_path_buf()))
    }

    /// All transcripts, on disk and in the store. Those that have not changed since they were last
    /// read have what was read of them.
    pub fn transcripts(&self) -> TranscriptList {
        let (known, error) = self.open_store();
        let list = self.list_transcripts(known.as_ref());
        TranscriptList { store_error: list.store_error.or(error), ..list }
    }

    fn open_store(&self) -> (Option<Known>, Option<SyncError>) {
        match self.store.exists().then(|| Known::open(&self.store)).transpose() {
            Ok(known) => (known, None),
            Err(error) => (None, Some(error)),
        }
    }

    fn list_transcripts(&self, known: Option<&Known>) -> TranscriptList {
        let mut list = TranscriptList::default();
        for (real, root) in self.real_roots() {
            list.add_folder(known, &real, root);
        }
        list
    }

    /// Files that have not changed are taken from the catalog, the others are read.
    fn mixed<T: Send>(
        &self,
        known: Option<&Known>,
        take: Option<Take<'_, T>>,
        progress: &dyn ReadProgress,
    ) -> (Snapshot, Vec<Option<T>>) {
        let TranscriptList { files: all, unchanged, mut problems, store_error } =
            self.list_transcripts(known);
        let mut snapshot = Snapshot { store_error, ..Snapshot::default() };
        // What is taken needs the session, not only its card.
        let mut read_before = match (known, take.is_some()) {
            (Some(known), false) => known.cards(unchanged),
            _ => HashMap::new(),
        };
        let (mut files, mut cards) = (Vec::new(), Vec::new());
        for found in all {
            if let FileKind::SetAside { session, .. } = &found.kind {
                snapshot.set_aside.push(session.clone());
                continue;
            }
            match read_before.remove(&found.path) {
                Some(mut card) => {
                    card.found = found;
                    cards.push(card);
                }
                None => files.push(found),
            }
        }
        files.retain(|found| {
            matches!(found.kind, FileKind::Session { .. } | FileKind::Agent { .. })
        });
        let all = files.iter().chain(cards.iter().map(|card| &card.found));
        snapshot.archived_sessions = archived(all);
        let unread = files.iter().filter(|found| found.saved.is_none());
        snapshot.files_read = unread.clone().count();
        snapshot.bytes_read = unread.map(|found| found.size).sum();
        progress.begin(snapshot.files_read, snapshot.bytes_read);
        let nothing = |_: &Found, _: &Session, _: &Source| None;
        let mut scan = library::scan(files, take.unwrap_or(&nothing), |bytes| progress.step(bytes));
        problems.append(&mut scan.problems);
        let mut all: Vec<(Card, Option<T>)> = scan.cards.into_iter().zip(scan.extras).collect();
        all.extend(cards.into_iter().map(|card| (card, None)));
        // The order decides where nothing else does: it is the same with and without a store.
        all.sort_by(|(a, _), (b, _)| a.found.rel.as_os_str().cmp(b.found.rel.as_os_str()));
        let (cards, extras) = all.into_iter().unzip();
        let (mut library, taken) = Library::join(Scan { cards, extras, problems: Vec::new() });
        problems.append(&mut library.problems);
        library.problems = problems;
        (Snapshot { library, ..snapshot }, taken)
    }
}

impl TranscriptList {
    /// Adds the transcripts of a Claude folder, on disk and in the store.
    fn add_folder(&mut self, known: Option<&Known>, real: &Path, root: &Path) {
        let walk = layout::walk_projects(root);
        self.problems.extend(walk.problems);
        let mut here = walk.files;
        if let Some(known) = known {
            self.unchanged.extend(known.mark_unchanged(real, &mut here));
            let gone = known.archived(real, &here);
            if !gone.is_empty() {
                here.extend(gone);
                here.sort_by(|a, b| a.rel.as_os_str().cmp(b.rel.as_os_str()));
            }
        }
        self.files.extend(here);
    }
}

/// Takes what is asked for out of each transcript of a snapshot.
fn with_taken<T: Send>(
    mut snapshot: Snapshot,
    take: Option<Take<'_, T>>,
    progress: &dyn ReadProgress,
) -> (Snapshot, Vec<Option<T>>) {
    let library = &snapshot.library;
    let Some(take) = take else {
        let nothing = library.cards.iter().map(|_| None).collect();
        return (snapshot, nothing);
    };
    let files: Vec<&Found> = library.cards.iter().map(|card| &card.found).collect();
    progress.begin(files.len(), files.iter().map(|found| found.size).sum());
    let (taken, problems) = library::take_each(&files, take, |bytes| progress.step(bytes));
    snapshot.library.problems.extend(problems);
    (snapshot, taken)
}

fn archived<'a>(files: impl Iterator<Item = &'a Found>) -> usize {
    let is_session = |found: &&Found| matches!(found.kind, FileKind::Session { .. });
    files.filter(is_session).filter(|found| found.kept.is_some()).count()
}

/// What a store knows of files.
struct Known {
    rows: Arc<[FileRow]>,
    archive: ArchiveReader,
    /// None while it has to be made anew: the archive is enough to have every file.
    catalog: Option<Arc<Mutex<Catalog>>>,
}

impl Known {
    fn open(store: &Store) -> Result<Self, SyncError> {
        let archive = store.archive(Access::Read)?;
        let catalog = Catalog::read(store.folder()).ok().flatten();
        let catalog = catalog.map(|catalog| Arc::new(Mutex::new(catalog)));
        let rows: Arc<[FileRow]> = archive.files()?.into();
        let archive = ArchiveReader::new(archive, rows.clone());
        Ok(Self { rows, archive, catalog })
    }

    fn catalog(&self) -> Option<MutexGuard<'_, Catalog>> {
        let catalog = self.catalog.as_ref()?;
        Some(catalog.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the catalog has of a file's reading.
    fn saved(&self, file: FileId) -> Option<Saved> {
        let catalog = self.catalog.clone()?;
        Some(Saved::new(CatalogReading { catalog, file }))
    }

    /// What the last join left. `root` says what the Claude folder of a file is called; if it
    /// says nothing of one, there is no answer.
    fn last_join(&self, root: impl Fn(&[u8]) -> Option<PathBuf>) -> Option<Snapshot> {
        let mut snapshot = Snapshot::default();
        let mut files: Vec<(FileId, Found)> = Vec::new();
        for row in &*self.rows {
            let root = root(&row.home)?;
            let rel = path_of(&row.rel);
            match layout::classify(&rel) {
                FileKind::Session { .. } | FileKind::Agent { .. } => {}
                FileKind::SetAside { session, .. } => {
                    snapshot.set_aside.push(session);
                    continue;
                }
                _ => continue,
            }
            files.push((row.file.0, self.found(row, &root, rel)));
        }
        // As the files are found on disk: their order decides where nothing else does.
        files.sort_by(|(_, a), (_, b)| a.rel.as_os_str().cmp(b.rel.as_os_str()));
        snapshot.archived_sessions = archived(files.iter().map(|(_, found)| found));
        snapshot.library = self.catalog()?.load_library(files).ok()??;
        Some(snapshot)
    }

    /// The transcript of a row, with what was read of it.
    fn found(&self, row: &FileRow, root: &Path, rel: PathBuf) -> Found {
        let found = match row.gone {
            true => self.archive.found(row),
            false => sync::found_on_disk(row, root, rel),
        };
        Found { saved: self.saved(row.file.0), ..found }
    }

    /// Gives files that are as they were when they were last read what is known of them. Their
    /// paths are given back.
    fn mark_unchanged(&self, root: &Path, files: &mut [Found]) -> HashMap<FileId, PathBuf> {
        let Some(catalog) = self.catalog() else { return HashMap::new() };
        let read: HashMap<FileId, catalog::FileRow> =
            catalog.files().unwrap_or_default().into_iter().map(|row| (row.id, row)).collect();
        let root = root.as_os_str().as_encoded_bytes();
        let rows = self.rows.iter().filter(|row| *row.home == *root && !row.gone);
        let rows: HashMap<&[u8], &FileRow> = rows.map(|row| (&*row.rel, row)).collect();
        let mut unchanged: HashMap<FileId, PathBuf> = HashMap::new();
        for found in files {
            let Some(row) = rows.get(found.rel.as_os_str().as_encoded_bytes()) else { continue };
            let is_read = read.get(&row.file.0).is_some_and(|read| {
                read.generation == row.generation.0
                    && read.size == row.size
                    && read.read_as.is_some()
            });
            if is_read && plan::is_unchanged(&sync::seen_row(row), found) {
                found.saved = self.saved(row.file.0);
                unchanged.insert(row.file.0, found.path.clone());
            }
        }
        unchanged
    }

    /// The cards of files, by their paths.
    fn cards(&self, mut files: HashMap<FileId, PathBuf>) -> HashMap<PathBuf, Card> {
        let mut cards = HashMap::with_capacity(files.len());
        let all = self.catalog().and_then(|catalog| catalog.cards().ok());
        for (file, bytes) in all.unwrap_or_default() {
            let path = files.remove(&file);
            let card = path.and_then(|path| Some((path, Card::load(&bytes, Found::unknown())?)));
            cards.extend(card);
        }
        cards
    }

    /// The transcripts of a Claude folder that are not on disk any more.
    fn archived(&self, root: &Path, here: &[Found]) -> Vec<Found> {
        let here: HashSet<&Path> = here.iter().map(|found| &*found.rel).collect();
        let root = root.as_os_str().as_encoded_bytes();
        let rows = self.rows.iter().filter(|row| *row.home == *root);
        let gone = rows.filter(|row| {
            let rel = path_of(&row.rel);
            !here.contains(&*rel) && layout::classify(&rel).is_transcript()
        });
        gone.map(|row| self.archive.found(row)).collect()
    }
}

/// The state that the catalog keeps of a transcript.
struct CatalogReading {
    catalog: Arc<Mutex<Catalog>>,
    file: FileId,
}

impl SavedReading for CatalogReading {
    fn builder(&self) -> Option<Builder> {
        let packed = {
            let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
            catalog.packed_state(self.file).ok()?
        };
        catalog::unpack_state(&packed)
    }
}

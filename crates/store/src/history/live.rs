//! All sessions of some Claude folders, followed while the files change.
//!
//! Whoever watches the folders says which paths changed; only those are looked at, and only the
//! sessions that are connected with them are joined again. All folders are walked at the start and
//! when it is not known what changed. Process states are not held here: this crate knows no
//! processes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use transcript::id::SessionId;
use transcript::kept::Saved;
use transcript::layout::{self, FileKind, Found, Problem, Stat};
use transcript::library::{Card, CardChange, CardNow, GroupJoin, Library, LiveLibrary, scan};
use transcript::parallel::map_largest_first;
use transcript::session::{Builder, Options};
use transcript::time::Time;

use super::changed::{ChangedPaths, RefreshWork};
use super::prompts::{PromptLog, PromptNews, list_unknown};
use super::roots::{LiveRoots, RootedPath, is_named_like_transcript};
use super::{FollowingReader, History, Known, PromptedSession, TranscriptList};
use crate::archive::{Access, FileRow};
use crate::sync::{ArchiveReader, kept_files};

/// All sessions at one moment; what did not change is shared with the moment before.
#[derive(Debug, Default)]
pub struct LiveSnapshot {
    /// The sessions, joined over all files.
    pub library: Library,
    /// Sessions of which only prompts are left, the last one last.
    pub prompts_only: Arc<[PromptedSession]>,
    /// Grows with every change; 0 before the files were read.
    pub number: u64,
}

/// What was seen of the files since the last refresh.
#[derive(Default)]
struct Sighting {
    changed: BTreeMap<RootedPath, Found>,
    removed: BTreeSet<RootedPath>,
    touched: BTreeSet<RootedPath>,
    has_new_prompts: bool,
    is_unclear: bool,
}

/// All sessions, followed while the files change.
pub struct LiveHistory {
    history: History,
    roots: LiveRoots,
    live: Option<LiveLibrary>,
    set_aside: BTreeMap<RootedPath, SessionId>,
    /// The files that say what started a subagent, with their sizes and times.
    metas: HashMap<RootedPath, (u64, Option<Time>)>,
    prompts: Vec<PromptLog>,
    /// Paths at which files were lost: a sync may find that they were renamed.
    lost: BTreeSet<PathBuf>,
    snapshot: Arc<LiveSnapshot>,
}

impl LiveHistory {
    /// Follows a history. Nothing is read before the first refresh.
    pub fn follow_history(history: History) -> Self {
        let prompts = history.roots.iter().map(|root| PromptLog::of_root(root)).collect();
        Self {
            history,
            roots: LiveRoots::default(),
            live: None,
            set_aside: BTreeMap::new(),
            metas: HashMap::new(),
            prompts,
            lost: BTreeSet::new(),
            snapshot: Arc::default(),
        }
    }

    /// The sessions as the last refresh left them.
    pub fn current_snapshot(&self) -> Arc<LiveSnapshot> {
        self.snapshot.clone()
    }

    /// The paths of files that went since this was last asked. After a sync they are looked at
    /// again: what was taken for deleted may have been renamed, and the store knows it only then.
    pub fn take_lost_paths(&mut self) -> ChangedPaths {
        ChangedPaths::Only(std::mem::take(&mut self.lost))
    }

    /// Brings the sessions up to date, and says what that took and what could not be read. Files
    /// are read by `reader`, which holds what it has read of them.
    pub fn refresh(
        &mut self,
        changed: &ChangedPaths,
        reader: &FollowingReader,
    ) -> (RefreshWork, Vec<Problem>) {
        let (mut work, mut problems) = (RefreshWork::default(), Vec::new());
        // What whoever else reads with it has read is not counted here.
        reader.take_counts();
        let mut joined = GroupJoin::default();
        let mut sighting = match changed {
            ChangedPaths::Only(paths) if self.live.is_some() => self.look_at(paths, &mut work),
            _ => Sighting { is_unclear: true, ..Sighting::default() },
        };
        if sighting.is_unclear {
            work.full_walks += 1;
            let known = self.open_store();
            let list = self.list_all(known.as_ref(), &mut work, &mut problems);
            let touched = std::mem::take(&mut sighting.touched);
            sighting = match self.live {
                Some(_) => self.compare_with(list.files),
                None => {
                    joined = self.start(known.as_ref(), list, &mut work, &mut problems);
                    Sighting::default()
                }
            };
            sighting.touched.extend(touched);
            sighting.has_new_prompts = true;
        }
        let is_first = self.snapshot.number == 0;
        let has_new_prompts = sighting.has_new_prompts;
        if let Some(applied) = self.apply(sighting, reader, &mut problems) {
            joined = applied;
        }
        let news = match has_new_prompts {
            true => self.read_prompts(&mut work, &mut problems),
            false => Vec::new(),
        };
        let prompts = self.list_prompts_only(&news, &joined);
        let (files, bytes) = reader.take_counts();
        work.files_read += files;
        work.bytes_read += bytes;
        work.sessions_joined += joined.sessions;
        work.full_joins += usize::from(joined.is_full && joined.sessions > 0);
        work.key_searches += usize::from(joined.has_searched_keys);
        if is_first || joined.sessions > 0 || joined.has_other_sessions || prompts.is_some() {
            self.publish(prompts);
        }
        problems.append(&mut joined.problems);
        (work, problems)
    }

    fn publish(&mut self, prompts: Option<Vec<PromptedSession>>) {
        let before = &self.snapshot;
        self.snapshot = Arc::new(LiveSnapshot {
            library: self
                .live
                .as_ref()
                .map_or_else(Library::default, |live| live.current_library().share_parts()),
            prompts_only: prompts.map_or_else(|| before.prompts_only.clone(), Arc::from),
            number: before.number + 1,
        });
    }

    fn open_store(&self) -> Option<Known> {
        self.history.open_store().0
    }

    /// Every transcript, on disk and in the store.
    fn list_all(
        &mut self,
        known: Option<&Known>,
        work: &mut RefreshWork,
        problems: &mut Vec<Problem>,
    ) -> AllFiles {
        self.roots = LiveRoots::of_folders(self.history.real_roots());
        let mut all = AllFiles::default();
        for (number, root) in self.roots.as_slice().iter().enumerate() {
            let mut list = TranscriptList::default();
            list.add_folder(known, &root.real, &root.given);
            problems.append(&mut list.problems);
            work.files_statted += list.files.iter().filter(|found| found.kept.is_none()).count();
            let files = list.files.into_iter();
            all.files.extend(files.map(|found| ((number as u32, found.rel.clone()), found)));
            all.unchanged.extend(list.unchanged);
        }
        all
    }

    /// Reads everything: what has not changed since it was last read comes from the store.
    fn start(
        &mut self,
        known: Option<&Known>,
        list: AllFiles,
        work: &mut RefreshWork,
        problems: &mut Vec<Problem>,
    ) -> GroupJoin {
        let AllFiles { files, unchanged } = list;
        let mut read_before = known.map_or_else(HashMap::new, |known| known.cards(unchanged));
        let (mut cards, mut unread): (Vec<(u32, Card)>, Vec<Found>) = Default::default();
        let mut root_of: HashMap<PathBuf, u32> = HashMap::new();
        let mut saved: HashMap<PathBuf, Saved> = HashMap::new();
        for (place, mut found) in files {
            if !matches!(self.sort_out(&place, &found), Sorted::Transcript) {
                continue;
            }
            // What was saved of a file holds only for this moment.
            let reading = found.saved.take();
            match read_before.remove(&found.path) {
                Some(mut card) => {
                    saved.extend(reading.map(|reading| (found.path.clone(), reading)));
                    card.found = found;
                    cards.push((place.0, card));
                }
                None => {
                    root_of.insert(found.path.clone(), place.0);
                    unread.push(found);
                }
            }
        }
        work.files_read += unread.len();
        work.bytes_read += unread.iter().map(|found| found.size).sum::<u64>();
        let scan = scan(unread, |_, _, _| None::<()>, |_| ());
        problems.extend(scan.problems);
        let root = |card: Card| (root_of.get(&card.found.path).copied().unwrap_or(0), card);
        cards.extend(scan.cards.into_iter().map(root));
        let mut read = |found: &Found| {
            let mut builder = saved.get(&found.path).and_then(Saved::builder).unwrap_or_default();
            found.open()?.read_into(&mut builder)?;
            Ok(builder)
        };
        let (live, joined) = LiveLibrary::join_files(cards, &mut read);
        self.live = Some(live);
        joined
    }

    /// Notes transcripts that were set aside; says what a file is.
    fn sort_out(&mut self, place: &RootedPath, found: &Found) -> Sorted {
        match &found.kind {
            FileKind::Session { .. } | FileKind::Agent { .. } => return Sorted::Transcript,
            FileKind::SetAside { session, .. } => {
                self.set_aside.insert(place.clone(), session.clone());
            }
            FileKind::AgentMeta { .. } => {
                let stat = (found.size, found.modified);
                if self.metas.insert(place.clone(), stat) != Some(stat) {
                    return Sorted::Meta;
                }
            }
            _ => {}
        }
        Sorted::Other
    }

    /// What has changed since the last refresh, if these are all files now.
    fn compare_with(&mut self, files: Vec<(RootedPath, Found)>) -> Sighting {
        let mut sighting = Sighting::default();
        let mut here: HashSet<RootedPath> = HashSet::new();
        self.set_aside.clear();
        for (place, mut found) in files {
            found.saved = None;
            here.insert(place.clone());
            self.see(place, found, &mut sighting);
        }
        let gone: Vec<RootedPath> =
            self.metas.keys().filter(|place| !here.contains(*place)).cloned().collect();
        for meta in gone {
            self.metas.remove(&meta);
            sighting.touched.insert((meta.0, described_transcript(&meta.1)));
        }
        for root in 0..self.roots.as_slice().len() as u32 {
            for rel in self.known_below(root, Path::new("")) {
                if !here.contains(&(root, rel.clone())) {
                    sighting.removed.insert((root, rel));
                }
            }
        }
        sighting
    }

    fn known_below(&self, root: u32, rel: &Path) -> Vec<PathBuf> {
        self.live.as_ref().map_or_else(Vec::new, |live| live.files_below(root, rel))
    }

    /// Notes a file that is there.
    fn see(&mut self, place: RootedPath, found: Found, sighting: &mut Sighting) {
        match self.sort_out(&place, &found) {
            Sorted::Other => return,
            Sorted::Meta => {
                sighting.touched.insert((place.0, described_transcript(&place.1)));
                return;
            }
            Sorted::Transcript => {}
        }
        let known = self.live.as_ref().and_then(|live| live.card_at(place.0, &place.1));
        if !known.is_some_and(|card| is_unchanged(&card.found, &found)) {
            sighting.changed.insert(place, found);
        }
    }

    /// Looks at the paths that changed, and at what is below them.
    fn look_at(&mut self, paths: &BTreeSet<PathBuf>, work: &mut RefreshWork) -> Sighting {
        let mut sighting = Sighting::default();
        let mut seen_below: Option<&Path> = None;
        for path in paths {
            // Of a folder that is walked anyway, its files are not asked about again.
            if seen_below.is_some_and(|folder| path.starts_with(folder)) {
                continue;
            }
            if self.roots.is_prompt_log(path) {
                sighting.has_new_prompts = true;
                continue;
            }
            let Some((root, rel)) = self.roots.locate_path(path) else {
                sighting.is_unclear |= self.roots.is_below_unclear_root(path);
                continue;
            };
            let is_known = !self.known_below(root, &rel).is_empty();
            if !is_known && !self.roots.is_plain(path, root, &rel) {
                sighting.is_unclear = true;
                return sighting;
            }
            work.files_statted += 1;
            let given = self.roots.given_path(root, &rel).unwrap_or_else(|| path.clone());
            match std::fs::symlink_metadata(&given) {
                Ok(meta) if meta.is_dir() && is_named_like_transcript(&given) => {
                    self.lose((root, rel), &mut sighting);
                }
                Ok(meta) if meta.is_dir() => {
                    seen_below = Some(path);
                    self.look_below(&given, (root, rel), work, &mut sighting);
                }
                Ok(meta) if meta.is_symlink() && given.is_dir() => sighting.is_unclear = true,
                Ok(_) => match std::fs::metadata(&given) {
                    Ok(meta) => {
                        let found = Found::from_stat(given, rel.clone(), Stat::of(&meta));
                        self.see((root, rel), found, &mut sighting);
                    }
                    Err(_) => self.lose((root, rel), &mut sighting),
                },
                Err(error) if is_missing(&error) => self.lose((root, rel), &mut sighting),
                Err(_) => sighting.is_unclear = true,
            }
        }
        sighting
    }

    /// Walks through a folder that is new, or that may have changed.
    fn look_below(
        &mut self,
        folder: &Path,
        place: RootedPath,
        work: &mut RefreshWork,
        sighting: &mut Sighting,
    ) {
        let walk = layout::walk_as(folder, &place.1);
        work.files_statted += walk.files.len();
        let here: HashSet<PathBuf> = walk.files.iter().map(|found| found.rel.clone()).collect();
        for rel in self.known_below(place.0, &place.1) {
            if !here.contains(&rel) {
                self.lose((place.0, rel), sighting);
            }
        }
        for found in walk.files {
            self.see((place.0, found.rel.clone()), found, sighting);
        }
    }

    /// Notes that nothing is at a path any more. The store may have what was there.
    fn lose(&mut self, (root, rel): RootedPath, sighting: &mut Sighting) {
        let mut gone: Vec<PathBuf> = self.known_below(root, &rel);
        let aside =
            self.set_aside.keys().filter(|(of, path)| *of == root && path.starts_with(&rel));
        gone.extend(aside.map(|(_, path)| path.clone()));
        let is_gone = |(of, path): &RootedPath| *of == root && path.starts_with(&rel);
        let metas: Vec<RootedPath> = match layout::classify(&rel) {
            FileKind::Session { .. } | FileKind::Agent { .. } => Vec::new(),
            _ => self.metas.keys().filter(|place| is_gone(place)).cloned().collect(),
        };
        for meta in metas {
            self.metas.remove(&meta);
            sighting.touched.insert((meta.0, described_transcript(&meta.1)));
        }
        for rel in gone {
            self.set_aside.remove(&(root, rel.clone()));
            self.lost.extend(self.roots.given_path(root, &rel));
            match self.find_archived(root, &rel) {
                Some(found) => self.see((root, rel), found, sighting),
                None => drop(sighting.removed.insert((root, rel))),
            }
        }
    }

    /// A file as the store has it, with the file that says what started a subagent.
    fn find_archived(&self, root: u32, rel: &Path) -> Option<Found> {
        let store = &self.history.store;
        let real = self.roots.as_slice()[root as usize].real.as_os_str().as_encoded_bytes();
        let archive = store.exists().then(|| store.archive(Access::Read).ok()).flatten()?;
        let named = |rel: &Path| archive.named(real, rel.as_os_str().as_encoded_bytes()).ok()?;
        let row = named(rel)?;
        let meta = named(&rel.with_extension("meta.json"));
        let rows: Arc<[FileRow]> = [Some(row.clone()), meta].into_iter().flatten().collect();
        Some(ArchiveReader::new(archive, rows).found(&row))
    }

    /// Reads what changed and joins it.
    fn apply(
        &mut self,
        sighting: Sighting,
        reader: &FollowingReader,
        problems: &mut Vec<Problem>,
    ) -> Option<GroupJoin> {
        let Sighting { changed, removed, touched, .. } = sighting;
        let removed = removed.into_iter().filter(|place| !changed.contains_key(place));
        let mut changes: Vec<CardChange> =
            removed.map(|(root, rel)| CardChange { root, rel, now: CardNow::Removed }).collect();
        let touched = touched.into_iter().filter(|place| !changed.contains_key(place));
        changes.extend(touched.map(|(root, rel)| CardChange { root, rel, now: CardNow::Same }));
        let files: Vec<(RootedPath, Found)> = changed.into_iter().collect();
        let read = |(_, found): &(RootedPath, Found)| -> Result<Card, Problem> {
            let builder: Builder = reader.read_file(found)?;
            let session = builder.finish(&Options { stem: found.stem(), copies: None });
            Ok(Card::of(found.clone(), &session))
        };
        let cards = map_largest_first(&files, |(_, found)| found.size, read);
        for (((root, rel), _), card) in files.into_iter().zip(cards) {
            let now = match card {
                Ok(card) => CardNow::Read(Box::new(card)),
                Err(problem) => {
                    problems.push(problem);
                    CardNow::Removed
                }
            };
            changes.push(CardChange { root, rel, now });
        }
        if changes.is_empty() {
            return None;
        }
        Some(self.live.as_mut()?.apply_changes(changes, &mut |found| reader.read_file(found)))
    }

    /// Reads on what was typed.
    fn read_prompts(
        &mut self,
        work: &mut RefreshWork,
        problems: &mut Vec<Problem>,
    ) -> Vec<PromptNews> {
        let store = &self.history.store;
        let mut all = Vec::new();
        for (log, root) in self.prompts.iter_mut().zip(self.roots.as_slice()) {
            let kept = || match store.exists() {
                true => {
                    let is_history = |rel: &Path| layout::classify(rel) == FileKind::History;
                    kept_files(store, &root.real, is_history).unwrap_or_default()
                }
                false => Vec::new(),
            };
            match log.read_on(kept) {
                Ok(news) => {
                    work.files_read += usize::from(news.bytes > 0);
                    work.bytes_read += news.bytes;
                    all.push(news);
                }
                Err(problem) => problems.push(problem),
            }
        }
        all
    }

    /// The sessions of which only prompts are left, if they may be others than before.
    fn list_prompts_only(
        &self,
        news: &[PromptNews],
        joined: &GroupJoin,
    ) -> Option<Vec<PromptedSession>> {
        let library = self.live.as_ref()?.current_library();
        let aside: HashSet<&SessionId> = self.set_aside.values().collect();
        let is_known =
            |id: &SessionId| library.session(id.as_str()).is_some() || aside.contains(id);
        let is_news = |news: &PromptNews| news.is_anew || !news.sessions.iter().all(is_known);
        let is_other = joined.has_other_sessions || news.iter().any(is_news);
        is_other.then(|| list_unknown(&self.prompts, is_known))
    }
}

/// What a file is for the sessions.
enum Sorted {
    Transcript,
    /// It says what started a subagent, and is not as it was.
    Meta,
    Other,
}

/// The transcript that a file about a subagent is next to.
fn described_transcript(meta: &Path) -> PathBuf {
    meta.with_extension("").with_extension("jsonl")
}

/// All transcripts, and which of them the store has read as they are.
#[derive(Default)]
struct AllFiles {
    files: Vec<(RootedPath, Found)>,
    unchanged: HashMap<crate::catalog::FileId, PathBuf>,
}

fn is_unchanged(one: &Found, other: &Found) -> bool {
    one.size == other.size
        && one.modified == other.modified
        && one.inode == other.inode
        && one.kept.is_some() == other.kept.is_some()
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

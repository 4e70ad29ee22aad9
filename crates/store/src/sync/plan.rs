//! What has happened to the files since they were last seen, from their stats alone.
//!
//! Nothing is opened here. Where a stat can't tell (a file that grew may have been rewritten), the
//! plan says what to check. A file is called gone only if the folder it was in could be listed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use transcript::layout::{self, Found};
use transcript::time::Time;

/// A file that was written within so many milliseconds before it was read may have been written
/// again since without another time.
const UNSURE: i64 = 2000;

/// Whether the time of a file that is read `now` can't be trusted.
pub fn is_unsure(modified: Option<Time>, now: Time) -> bool {
    modified.is_none_or(|modified| modified.0 + UNSURE > now.0)
}

/// A file as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The archive's number for it.
    pub file: i64,
    /// Its path below the Claude folder.
    pub rel: PathBuf,
    /// How much of it is kept.
    pub size: u64,
    /// When it was written, as its stat said.
    pub modified: Option<Time>,
    /// Device and inode.
    pub inode: Option<(u64, u64)>,
    /// It had been written so shortly before that its time can't be trusted.
    pub is_unsure: bool,
    /// It was not there any more.
    pub is_gone: bool,
}

/// What is to be done about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    New(Found),
    /// It was longer than what is kept: what follows is new if what is kept is still there.
    Grown(i64, Found),
    /// It may be anything: compare it with what is kept.
    Differs(i64, Found),
    /// It looks the same, but its time can't be trusted: look at its end.
    Unsure(i64, Found),
    /// It has another name now, and may have grown.
    Moved(i64, Found),
    /// It is there no more.
    Gone(i64),
}

impl Change {
    /// How many bytes have to be read for it, at least.
    pub fn bytes(&self, kept: u64) -> u64 {
        match self {
            Self::New(found) | Self::Differs(_, found) => found.size,
            Self::Grown(_, found) | Self::Moved(_, found) => found.size.saturating_sub(kept),
            Self::Gone(_) | Self::Unsure(..) => 0,
        }
    }
}

/// The changes of one Claude folder, in the order of the paths, moves first: a name that was left
/// may be taken by another file. `is_listed` tells whether the folder of a path could be read.
pub fn plan(seen: &[Seen], found: &[&Found], is_listed: impl Fn(&Seen) -> bool) -> Vec<Change> {
    let mut by_rel: HashMap<&OsStr, &Seen> = seen.iter().map(|s| (s.rel.as_os_str(), s)).collect();
    let here: HashSet<&OsStr> = found.iter().map(|f| f.rel.as_os_str()).collect();
    let is_away = |s: &&Seen| !here.contains(s.rel.as_os_str()) && is_listed(s);
    let is_left = |s: &&Seen| is_away(s) && !s.is_gone;
    let mut left = Left::new(seen.iter().filter(is_away));
    let (mut moves, mut changes, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for found in found {
        match by_rel.remove(found.rel.as_os_str()) {
            Some(seen) => changes.extend(change(seen, found)),
            None => match left.renamed(found) {
                Some(from) => moves.push(Change::Moved(from.file, (*found).clone())),
                None => others.push(*found),
            },
        }
    }
    for found in others {
        match left.same_inode(found) {
            Some(from) => moves.push(Change::Moved(from.file, found.clone())),
            None => changes.push(Change::New(found.clone())),
        }
    }
    let is_gone = |s: &&Seen| is_left(s) && !left.taken.contains(&s.file);
    changes.extend(seen.iter().filter(is_gone).map(|s| Change::Gone(s.file)));
    moves.extend(changes);
    moves
}

/// Files that are not where they were.
#[derive(Default)]
struct Left<'a> {
    by_inode: HashMap<(u64, u64), &'a Seen>,
    by_name: HashMap<&'a OsStr, &'a Seen>,
    taken: HashSet<i64>,
}

impl<'a> Left<'a> {
    fn new(all: impl Iterator<Item = &'a Seen>) -> Self {
        let mut left = Self::default();
        for seen in all {
            let name = seen.rel.file_name().unwrap_or_default();
            if seen.is_gone {
                // It may come back elsewhere. Its inode is another file's by now.
                left.by_name.entry(name).or_insert(seen);
                continue;
            }
            left.by_inode.extend(seen.inode.map(|inode| (inode, seen)));
            left.by_name.insert(name, seen);
        }
        left
    }

    /// The one that a new file must be.
    fn renamed(&mut self, found: &Found) -> Option<&'a Seen> {
        let is_it = |from: &&&Seen| is_renamed(&from.rel, found);
        let by_inode = found.inode.and_then(|inode| self.by_inode.get(&inode)).filter(is_it);
        let by_name = || self.by_name.get(found.rel.file_name()?).filter(is_it);
        let from = *by_inode.or_else(by_name)?;
        self.taken.insert(from.file).then_some(from)
    }

    /// The one that a new file may be: what it holds has to tell.
    fn same_inode(&mut self, found: &Found) -> Option<&'a Seen> {
        let from = *self.by_inode.get(&found.inode?)?;
        (from.size <= found.size && self.taken.insert(from.file)).then_some(from)
    }
}

/// Whether a new file must be one that is not there any more, whatever it holds now: transcripts
/// are named by ids that no other has. An inode does not tell, the next file that is made gets it.
pub fn is_renamed(from: &Path, found: &Found) -> bool {
    from.file_name() == found.rel.file_name()
        && found.kind.is_transcript()
        && layout::classify(from).is_transcript()
}

/// Whether a file is as it was last seen, and its time can be trusted.
pub fn is_unchanged(seen: &Seen, found: &Found) -> bool {
    change(seen, found).is_none()
}

fn change(seen: &Seen, found: &Found) -> Option<Change> {
    let same_file = seen.inode == found.inode;
    let same_time = seen.modified == found.modified;
    match found.size.cmp(&seen.size) {
        std::cmp::Ordering::Equal if same_file && same_time && !seen.is_gone => {
            seen.is_unsure.then(|| Change::Unsure(seen.file, found.clone()))
        }
        std::cmp::Ordering::Greater if same_file => Some(Change::Grown(seen.file, found.clone())),
        _ => Some(Change::Differs(seen.file, found.clone())),
    }
}

impl Change {
    /// The word for it in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::New(_) => "new",
            Self::Grown(..) => "grown",
            Self::Differs(..) | Self::Unsure(..) => "changed",
            Self::Moved(..) => "moved",
            Self::Gone(_) => "gone",
        }
    }

    /// The archive's number, if the file has one.
    pub fn file(&self) -> Option<i64> {
        match self {
            Self::New(_) => None,
            Self::Grown(file, _)
            | Self::Differs(file, _)
            | Self::Unsure(file, _)
            | Self::Moved(file, _)
            | Self::Gone(file) => Some(*file),
        }
    }

    /// The file on disk.
    pub fn found(&self) -> Option<&Found> {
        match self {
            Self::New(found)
            | Self::Grown(_, found)
            | Self::Differs(_, found)
            | Self::Unsure(_, found)
            | Self::Moved(_, found) => Some(found),
            Self::Gone(_) => None,
        }
    }
}

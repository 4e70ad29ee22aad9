//! Asking about files whose names are known.
//!
//! Listing folders and making names takes a third of a look at a large Claude folder. A folder
//! whose own time is what it was has the files that it had, so only these are asked about.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Look, Stat};
use crate::time::Time;

/// A folder and the names in it.
#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Known<'a> {
    /// Where it is.
    pub path: &'a [u8],
    /// Where it is below the Claude folder.
    pub rel: &'a [u8],
    /// When a name was last added or taken away, in milliseconds.
    pub modified: i64,
    /// Device and inode.
    pub inode: (u64, u64),
    /// The names of its files.
    #[serde(borrow)]
    pub names: Vec<&'a [u8]>,
}

impl Look {
    /// The names of all files; `None` where they would not help, or if a folder has changed so
    /// lately that its time can't be trusted.
    pub fn known(&self, is_unsure: impl Fn(Option<Time>) -> bool) -> Option<Vec<Known<'_>>> {
        if cfg!(not(unix)) || self.lone.is_some() || !self.problems.is_empty() {
            return None;
        }
        let folders = self.folders.iter().map(|folder| {
            let names = folder.files.iter().map(|(name, _)| name.as_encoded_bytes());
            Some(Known {
                path: folder.path.as_os_str().as_encoded_bytes(),
                rel: folder.rel.as_os_str().as_encoded_bytes(),
                modified: folder.stat.modified.filter(|time| !is_unsure(Some(*time)))?.0,
                inode: folder.stat.inode?,
                names: names.collect(),
            })
        });
        folders.collect()
    }
}

/// So many names of a folder are asked about in one go.
const ONE_GO: usize = 512;

/// Adds up what `of` makes of the files of all folders, or `None` if a folder or a name is no more
/// what it was; and what `beside` comes to, which is worked out meanwhile.
///
/// As many threads as there are cores, this one among them: with one more than that, or with this
/// one asleep, a core stood idle for four milliseconds of thirty.
pub fn add_again<T: Send>(
    known: &[Known<'_>],
    of: impl Fn(&Known<'_>, &[u8], &Stat) -> u128 + Sync,
    beside: impl FnOnce() -> T + Send,
) -> (Option<u128>, T) {
    let goes = |folder| known_goes(folder).map(move |names| (folder, names));
    let goes: Vec<(&Known<'_>, &[&[u8]])> = known.iter().flat_map(goes).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut sum = 0_u128;
        while let Some((folder, names)) = goes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(one) = add_go(folder, names, &of) else {
                next.store(goes.len(), Ordering::Relaxed);
                return None;
            };
            sum = sum.wrapping_add(one);
        }
        Some(sum)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(goes.len());
    thread::scope(|scope| {
        let others: Vec<_> = (2..cores).map(|_| scope.spawn(work)).collect();
        let other = scope.spawn(work);
        let beside = beside();
        let mut sums = vec![work()];
        sums.extend(others.into_iter().chain([other]).map(|other| other.join().ok().flatten()));
        (sums.into_iter().try_fold(0, |all: u128, sum| Some(all.wrapping_add(sum?))), beside)
    })
}

/// The names of a folder in goes; an empty folder is one too.
fn known_goes<'a>(folder: &'a Known<'a>) -> impl Iterator<Item = &'a [&'a [u8]]> {
    let is_empty = folder.names.is_empty();
    folder.names.chunks(ONE_GO).chain(is_empty.then_some(&[][..]))
}

#[cfg(unix)]
fn add_go(
    folder: &Known<'_>,
    names: &[&[u8]],
    of: &impl Fn(&Known<'_>, &[u8], &Stat) -> u128,
) -> Option<u128> {
    use rustix::fs::{AtFlags, Mode, OFlags, fstat, open, statat};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = open(folder.path, flags, Mode::empty()).ok()?;
    let stat = stat_of(&fstat(&open).ok()?);
    if (stat.modified, stat.inode) != (Some(Time(folder.modified)), Some(folder.inode)) {
        return None;
    }
    names.iter().try_fold(0_u128, |sum, name| {
        let stat = statat(&open, *name, AtFlags::empty()).ok()?;
        Some(sum.wrapping_add(of(folder, name, &stat_of(&stat))))
    })
}

/// Here the times of folders are not known to tell.
#[cfg(not(unix))]
fn add_go(
    _: &Known<'_>,
    _: &[&[u8]],
    _: &impl Fn(&Known<'_>, &[u8], &Stat) -> u128,
) -> Option<u128> {
    None
}

#[cfg(unix)]
fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    let modified = stat.st_mtime as i64 * 1000 + stat.st_mtime_nsec as i64 / 1_000_000;
    Stat {
        size: stat.st_size as u64,
        modified: Some(Time(modified)),
        created: None,
        #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
        inode: Some((stat.st_dev as u64, stat.st_ino as u64)),
    }
}

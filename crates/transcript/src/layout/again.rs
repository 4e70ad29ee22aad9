//! Asking about files whose names are known.
//!
//! Listing folders and making names takes a third of a look at a large Claude folder. A folder
//! whose own time is what it was has the files that it had, so only these are asked about.

use std::borrow::Cow;
#[cfg(unix)]
use std::ffi::CStr;
use std::thread;

use super::{Look, Stat};
use crate::parallel::WorkQueue;
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
    /// How many files it has.
    pub count: usize,
    /// Their names, a zero after each: so the system takes them as they are.
    #[serde(borrow)]
    pub names: Cow<'a, [u8]>,
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
            let names: Vec<u8> = names.flat_map(|name| name.iter().chain(&[0])).copied().collect();
            Some(Known {
                path: folder.path.as_os_str().as_encoded_bytes(),
                rel: folder.rel.as_os_str().as_encoded_bytes(),
                modified: folder.stat.modified.filter(|time| !is_unsure(Some(*time)))?.0,
                inode: folder.stat.inode?,
                count: folder.files.len(),
                names: names.into(),
            })
        });
        folders.collect()
    }
}

/// Names of so many bytes are asked about in one go.
const ONE_GO: usize = 16 << 10;

/// Adds up what `of` makes of the files of all folders, or `None` if a folder or a name is no more
/// what it was; and what `beside` comes to, which is worked out meanwhile.
///
/// As many threads as there are cores, this one among them, each on a core of its own: left where
/// they began they shared one for up to fifteen milliseconds of thirty, and the others stood idle.
pub fn add_again<T: Send>(
    known: &[Known<'_>],
    of: impl Fn(&Known<'_>, &[u8], &Stat) -> u128 + Sync,
    beside: impl FnOnce() -> T + Send,
) -> (Option<u128>, T) {
    let goes = |folder| known_goes(folder).map(move |names| (folder, names));
    let goes: Vec<(&Known<'_>, &[u8])> = known.iter().flat_map(goes).collect();
    let queue = WorkQueue::of_items(&goes);
    let work = || {
        let mut sum = 0_u128;
        while let Some((_, (folder, names))) = queue.take_next() {
            let Some(one) = add_go(folder, names, &of) else {
                queue.stop_handing_out();
                return None;
            };
            sum = sum.wrapping_add(one);
        }
        Some(sum)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(goes.len());
    let taken = here();
    let elsewhere = || {
        leave(taken);
        work()
    };
    thread::scope(|scope| {
        let others: Vec<_> = (2..cores).map(|_| scope.spawn(elsewhere)).collect();
        let other = scope.spawn(elsewhere);
        let beside = beside();
        let mut sums = vec![work()];
        sums.extend(others.into_iter().chain([other]).map(|other| other.join().ok().flatten()));
        (sums.into_iter().try_fold(0, |all: u128, sum| Some(all.wrapping_add(sum?))), beside)
    })
}

/// The core that this thread is on.
#[cfg(target_os = "linux")]
fn here() -> usize {
    rustix::thread::sched_getcpu()
}

/// Takes this thread to another core, if there is one.
#[cfg(target_os = "linux")]
fn leave(core: usize) {
    use rustix::thread::{sched_getaffinity, sched_setaffinity};

    let Ok(all) = sched_getaffinity(None) else { return };
    let mut others = all;
    others.unset(core);
    if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
        // It was so before.
        let _ = sched_setaffinity(None, &all);
    }
}

/// Here the system is left to it.
#[cfg(not(target_os = "linux"))]
fn here() {}

#[cfg(not(target_os = "linux"))]
fn leave((): ()) {}

/// The names of a folder in goes; an empty folder is one too.
fn known_goes<'a>(folder: &'a Known<'a>) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = Some(&*folder.names);
    std::iter::from_fn(move || {
        let names = rest?;
        let end = memchr::memchr(0, names.get(ONE_GO..).unwrap_or_default());
        let (go, after) = names.split_at(end.map_or(names.len(), |end| ONE_GO + end + 1));
        rest = Some(after).filter(|after| !after.is_empty());
        Some(go)
    })
}

#[cfg(unix)]
fn add_go(
    folder: &Known<'_>,
    mut names: &[u8],
    of: &impl Fn(&Known<'_>, &[u8], &Stat) -> u128,
) -> Option<u128> {
    use rustix::fs::{AtFlags, Mode, OFlags, fstat, open, statat};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = open(folder.path, flags, Mode::empty()).ok()?;
    let stat = stat_of(&fstat(&open).ok()?);
    if (stat.modified, stat.inode) != (Some(Time(folder.modified)), Some(folder.inode)) {
        return None;
    }
    let mut sum = 0_u128;
    while !names.is_empty() {
        let name = CStr::from_bytes_until_nul(names).ok()?;
        let stat = stat_of(&statat(&open, name, AtFlags::empty()).ok()?);
        sum = sum.wrapping_add(of(folder, name.to_bytes(), &stat));
        names = &names[name.to_bytes_with_nul().len()..];
    }
    Some(sum)
}

/// Here the times of folders are not known to tell.
#[cfg(not(unix))]
fn add_go(_: &Known<'_>, _: &[u8], _: &impl Fn(&Known<'_>, &[u8], &Stat) -> u128) -> Option<u128> {
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::sync::Mutex;

    use super::*;
    use crate::layout::look;

    #[test]
    fn all_names_are_asked_about_once_in_however_many_goes() {
        let home = tempfile::tempdir().expect("a folder");
        let projects = home.path().join("projects/-p");
        fs::create_dir_all(&projects).expect("a folder");
        let names: Vec<String> = (0..2000).map(|n| format!("a-long-name-{n:04}.jsonl")).collect();
        for (length, name) in names.iter().enumerate() {
            fs::write(projects.join(name), "x".repeat(length % 7)).expect("a file");
        }
        let look = look(home.path());
        let known = look.known(|_| false).expect("folders with times");
        let folder = known.iter().find(|folder| folder.count > 0).expect("one with files");
        assert!(known_goes(folder).count() > 2, "{}", folder.names.len());
        let seen = Mutex::new(Vec::new());
        let of = |_: &Known<'_>, name: &[u8], stat: &Stat| {
            seen.lock().expect("no panic").push(String::from_utf8_lossy(name).into_owned());
            u128::from(stat.size)
        };
        let (sum, beside) = add_again(&known, of, || 5);
        assert_eq!((sum, beside), (Some((0..2000).map(|n| n % 7).sum()), 5));
        let mut seen = seen.into_inner().expect("no panic");
        seen.sort();
        assert_eq!(seen, names);
        fs::remove_file(projects.join(&names[3])).expect("a file");
        assert_eq!(add_again(&known, |_, _, _| 1, || ()), (None, ()));
    }
}

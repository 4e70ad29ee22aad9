//! Asking about files whose names are known.
//!
//! Listing folders and making names takes a third of a look at a large Claude folder. A folder
//! whose own time is what it was has the files that it had, so only these are asked about.

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

/// Adds up what `of` makes of the files of all folders; `None` if a folder or a name is no more
/// what it was.
#[cfg(unix)]
pub fn add_again(
    known: &[Known<'_>],
    of: impl Fn(&Known<'_>, &[u8], &Stat) -> u128 + Sync,
) -> Option<u128> {
    use rayon::prelude::*;
    use rustix::fs::{AtFlags, Mode, OFlags, fstat, open, statat};

    let add = |a: u128, b: u128| Some(a.wrapping_add(b));
    let folder = |known: &Known<'_>| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(known.path, flags, Mode::empty()).ok()?;
        let stat = stat_of(&fstat(&folder).ok()?);
        if (stat.modified, stat.inode) != (Some(Time(known.modified)), Some(known.inode)) {
            return None;
        }
        let names = known.names.par_iter().with_min_len(256);
        let file = |name: &&[u8]| {
            let stat = statat(&folder, *name, AtFlags::empty()).ok()?;
            Some(of(known, name, &stat_of(&stat)))
        };
        names.map(file).try_reduce(|| 0, add)
    };
    known.par_iter().map(folder).try_reduce(|| 0, add)
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

/// Adds up what `of` makes of the files of all folders; here their times are not known to tell.
#[cfg(not(unix))]
pub fn add_again(
    _: &[Known<'_>],
    _: impl Fn(&Known<'_>, &[u8], &Stat) -> u128 + Sync,
) -> Option<u128> {
    None
}

//! Whether anything has changed since the store was last brought up to date.
//!
//! Names, lengths, times and inodes of all files of a Claude folder are one number, which is
//! remembered in a file of its own, as are the names. If it is the same again nothing need be
//! compared, no database is opened and nothing is locked. It is only remembered if every stat in
//! it can be trusted, and only believed beside the very store it was written for.

use std::fs;
use std::hash::BuildHasher;
use std::io::Write;
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use transcript::layout::{FileKind, Folder, Known, Look, Stat, add_again, classify};
use transcript::time::Time;

use super::{Home, Options, Report, plan};
use crate::archive::{path_of, private};
use crate::catalog;
use crate::folder::{ARCHIVE, Store};
use crate::index::Index;

/// Whether a file is kept at all.
pub(super) fn is_kept(kind: &FileKind, has_debug_logs: bool) -> bool {
    match kind {
        // Files with tokens in them are never opened. Which client runs now and what it works with
        // says nothing later.
        FileKind::Secret | FileKind::Registry { .. } | FileKind::ClientState => false,
        FileKind::Debug { .. } => has_debug_logs,
        _ => true,
    }
}

/// What a look at a Claude folder comes to; `None` if something in it could not be seen.
fn glance(look: &Look, has_debug_logs: bool) -> Option<u64> {
    if look.lone.is_some() || !look.problems.is_empty() {
        return None;
    }
    let of_folder = |folder: &Folder| {
        let rel = folder.rel.as_os_str().as_encoded_bytes();
        let files = folder.files.par_iter().with_min_len(1024);
        files
            .map(|(name, stat)| of_file(rel, name.as_encoded_bytes(), stat, has_debug_logs))
            .reduce(|| 0, u128::wrapping_add)
    };
    let sum = look.folders.par_iter().map(of_folder).reduce(|| 0, u128::wrapping_add);
    Some(short(sum))
}

/// The same of files whose names are known, or `None` if they are others; and `beside`.
fn glance_again<T: Send>(
    known: &[Known<'_>],
    has_debug_logs: bool,
    beside: impl FnOnce() -> T + Send,
) -> (Option<u64>, T) {
    let of = |folder: &Known<'_>, name: &[u8], stat: &Stat| {
        of_file(folder.rel, name, stat, has_debug_logs)
    };
    let (sum, beside) = add_again(known, of, beside);
    (sum.map(short), beside)
}

/// Added up, so that the order in which files are listed does not matter.
fn of_file(folder: &[u8], name: &[u8], stat: &Stat, has_debug_logs: bool) -> u128 {
    // Nothing below the projects is left out, and most files are there.
    let counts = || is_kept(&classify(&path_of(folder).join(path_of(name))), has_debug_logs);
    if !folder.starts_with(b"projects") && !counts() {
        return 0;
    }
    let (device, inode) = stat.inode.unwrap_or_default();
    let modified = stat.modified.map_or(i64::MIN, |time| time.0);
    // It only has to tell a change from none, and is asked of every file before every answer: a
    // hash that nobody can forge took a tenth of the time of all their stats.
    let told = (folder, name, stat.size, modified, device, inode);
    FixedState::default().hash_one(told).into()
}

fn short(sum: u128) -> u64 {
    let hash = blake3::hash(&sum.to_le_bytes());
    u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("8 of 32 bytes"))
}

/// What was seen when the store was last brought up to date.
#[derive(Default, Serialize, Deserialize)]
struct Seen {
    program: String,
    /// What the store itself is like: an outage may take the last seconds of a part of it.
    store: Vec<(u64, i64, u64)>,
    /// The edition of the index.
    edition: u64,
    /// Each Claude folder.
    homes: Vec<(Vec<u8>, u64)>,
}

impl Seen {
    fn path(store: &Store) -> PathBuf {
        store.folder().join("glance")
    }

    fn read(store: &Store) -> Option<Self> {
        let seen: Self = postcard::from_bytes(&fs::read(Self::path(store)).ok()?).ok()?;
        (seen.program == PROGRAM).then_some(seen)
    }

    fn of(&self, root: &Path) -> Option<u64> {
        let root = root.as_os_str().as_encoded_bytes();
        self.homes.iter().find(|(known, _)| *known == root).map(|(_, glance)| *glance)
    }
}

/// Archive and catalog with their logs, by length, time and inode.
fn stamps(store: &Store) -> Vec<(u64, i64, u64)> {
    let names = [ARCHIVE.to_owned(), catalog::file_name()];
    let logs = names.clone().map(|name| name + "-wal");
    names.into_iter().chain(logs).map(|name| stamp(&store.folder().join(name))).collect()
}

fn stamp(path: &Path) -> (u64, i64, u64) {
    match fs::metadata(path) {
        Ok(meta) if meta.len() > 0 => {
            let Stat { size, modified, inode, .. } = Stat::of(&meta);
            (size, modified.map_or(0, |time| time.0), inode.map_or(0, |(_, inode)| inode))
        }
        // A log that is empty is as good as none.
        _ => (0, 0, 0),
    }
}

/// Another one may keep and read files in another way.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Remembers what the Claude folders are like now that all of it is in the store.
pub(super) fn remember(store: &Store, homes: &[Home], now: Time) {
    let Some(edition) = Index::generation_at(store.folder()) else { return };
    let mut seen = Seen::read(store).unwrap_or_default();
    for home in homes.iter().filter(|home| is_sure(&home.look, now)) {
        let Some(glance) = glance(&home.look, store.has_debug_logs()) else { continue };
        let root = home.root.as_os_str().as_encoded_bytes();
        seen.homes.retain(|(known, _)| *known != root);
        seen.homes.push((root.into(), glance));
    }
    let seen = Seen { program: PROGRAM.into(), store: stamps(store), edition, ..seen };
    let bytes = postcard::to_stdvec(&seen).expect("numbers and names can be written");
    write(&Seen::path(store), &bytes);
    remember_names(store, homes, now);
}

/// Remembers the names, which can be trusted later than the rest: folders change now and then.
pub(super) fn remember_names(store: &Store, homes: &[Home], now: Time) {
    for home in homes {
        if let Some(known) = home.look.known(|time| plan::is_unsure(time, now)) {
            let bytes = postcard::to_stdvec(&known).expect("numbers and names can be written");
            write(&names(store, &home.root), &bytes);
        }
    }
}

/// Where the names of a Claude folder's files are.
fn names(store: &Store, root: &Path) -> PathBuf {
    let root = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    store.folder().join(format!("names-{}", &root[..16]))
}

/// Half of it is never there. What can't be remembered is compared again.
fn write(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return;
    }
    let new = path.with_extension("new");
    let file = private().write(true).create(true).truncate(true).open(&new);
    let _ = file.and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(new, path));
}

/// Forgets it: the next sync compares everything.
pub fn forget(store: &Store) {
    // What is not there need not go.
    let _ = fs::remove_file(Seen::path(store));
}

/// Whether the times of all files can be trusted.
fn is_sure(look: &Look, now: Time) -> bool {
    let mut stats = look.folders.iter().flat_map(|folder| &folder.files);
    !stats.any(|(_, stat)| plan::is_unsure(stat.modified, now))
}

/// The report of a sync that has nothing to do; `None` if that can't be told at a glance.
pub fn still(store: &Store, roots: &[PathBuf], options: Options) -> Option<Report> {
    still_beside(store, roots, options, || ()).0
}

/// As [`still`], and what `beside` comes to, which is worked out meanwhile.
pub fn still_beside<T: Send>(
    store: &Store,
    roots: &[PathBuf],
    options: Options,
    beside: impl FnOnce() -> T + Send,
) -> (Option<Report>, T) {
    let (mut beside, mut worked_out) = (Some(beside), None);
    let report = still_if(store, options, roots, |root, has_debug_logs| {
        let bytes = fs::read(names(store, root)).ok()?;
        let known: Vec<Known<'_>> = postcard::from_bytes(&bytes).ok()?;
        let files = known.iter().map(|folder| folder.count).sum();
        let first = beside.take();
        let (glance, first) = glance_again(&known, has_debug_logs, || first.map(|work| work()));
        worked_out = worked_out.take().or(first);
        Some((files, glance?))
    });
    let rest = || beside.take().map(|work| work());
    (report, worked_out.or_else(rest).expect("it is worked out once, here or there"))
}

/// As [`still`], of a look that was taken.
pub(super) fn still_like(store: &Store, homes: &[Home], options: Options) -> Option<Report> {
    let roots: Vec<PathBuf> = homes.iter().map(|home| home.root.clone()).collect();
    still_if(store, options, &roots, |root, has_debug_logs| {
        let home = homes.iter().find(|home| home.root == root)?;
        Some((home.look.len(), glance(&home.look, has_debug_logs)?))
    })
}

fn still_if(
    store: &Store,
    options: Options,
    roots: &[PathBuf],
    mut look: impl FnMut(&Path, bool) -> Option<(usize, u64)>,
) -> Option<Report> {
    if options.full || roots.is_empty() || !store.exists() {
        return None;
    }
    let seen = Seen::read(store)?;
    let is_indexed = Index::generation_at(store.folder()) == Some(seen.edition);
    if !is_indexed || seen.store != stamps(store) {
        return None;
    }
    let mut report = Report::default();
    for root in roots {
        let (files, glance) = look(root, store.has_debug_logs())?;
        if seen.of(root) != Some(glance) {
            return None;
        }
        report.files += files;
    }
    Some(report)
}

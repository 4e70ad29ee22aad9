//! Whether anything has changed since the store was last brought up to date.
//!
//! Names, lengths, times and inodes of all files of a Claude folder are one number, which is
//! remembered in a file of its own. If it is the same again nothing need be compared, no database
//! is opened and nothing is locked. It is only remembered if every stat in it can be trusted, and
//! only believed beside the very store it was written for.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use transcript::layout::{FileKind, Folder, Look, Stat, classify};
use transcript::time::Time;

use super::{Home, Options, Report, plan};
use crate::catalog;
use crate::folder::{ARCHIVE, Store};
use crate::index::Index;

/// Whether a file is kept at all.
pub(super) fn is_kept(kind: &FileKind, has_debug_logs: bool) -> bool {
    match kind {
        // Files with tokens in them are never opened; who is running now says nothing later.
        FileKind::Secret | FileKind::Registry { .. } => false,
        FileKind::Debug { .. } => has_debug_logs,
        _ => true,
    }
}

/// What a look at a Claude folder comes to; `None` if something in it could not be seen.
fn glance(look: &Look, has_debug_logs: bool) -> Option<u64> {
    if look.lone.is_some() || !look.problems.is_empty() {
        return None;
    }
    let folders = look.folders.par_iter();
    let sums = folders.map(|folder| of_folder(folder, has_debug_logs));
    let all = blake3::hash(&sums.reduce(|| 0, u128::wrapping_add).to_le_bytes());
    Some(u64::from_le_bytes(*all.as_bytes().first_chunk().expect("8 of 32 bytes")))
}

/// The files of a folder, in whatever order they are listed.
fn of_folder(folder: &Folder, has_debug_logs: bool) -> u128 {
    let place = blake3::hash(folder.rel.as_os_str().as_encoded_bytes());
    // Nothing below the projects is left out, and most files are there.
    let is_all = folder.rel.starts_with("projects");
    let files = folder.files.par_iter().with_min_len(1024);
    let counts = |name| is_all || is_kept(&classify(&folder.rel.join(name)), has_debug_logs);
    files
        .filter(|(name, _)| counts(name))
        .map(|(name, stat)| of_file(&place, name.as_encoded_bytes(), stat))
        .reduce(|| 0, u128::wrapping_add)
}

fn of_file(place: &blake3::Hash, name: &[u8], stat: &Stat) -> u128 {
    let (device, inode) = stat.inode.unwrap_or_default();
    let modified = stat.modified.map_or(i64::MIN, |time| time.0);
    let mut hash = blake3::Hasher::new();
    hash.update(place.as_bytes()).update(name);
    // Last and of one length: no name can be taken for a part of them.
    for number in [stat.size, modified.cast_unsigned(), device, inode] {
        hash.update(&number.to_le_bytes());
    }
    let hash = hash.finalize();
    u128::from_le_bytes(*hash.as_bytes().first_chunk().expect("16 of 32 bytes"))
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

    fn of(&self, home: &Home) -> Option<u64> {
        let root = home.root.as_os_str().as_encoded_bytes();
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
    if fs::read(Seen::path(store)).ok().as_ref() != Some(&bytes) {
        // What can't be remembered is compared again.
        let _ = write(store, &bytes);
    }
}

/// Half of it is never there.
fn write(store: &Store, bytes: &[u8]) -> std::io::Result<()> {
    let new = store.folder().join("glance.new");
    fs::write(&new, bytes)?;
    fs::rename(new, Seen::path(store))
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
pub(super) fn still(store: &Store, homes: &[Home], options: Options) -> Option<Report> {
    if options.full || homes.is_empty() || !store.exists() {
        return None;
    }
    let seen = Seen::read(store)?;
    let has_debug_logs = store.has_debug_logs();
    let is_same = homes.iter().all(|home| {
        let glance = glance(&home.look, has_debug_logs);
        glance.is_some() && glance == seen.of(home)
    });
    let is_indexed = || Index::generation_at(store.folder()) == Some(seen.edition);
    let files = homes.iter().map(|home| home.look.len()).sum();
    (is_same && is_indexed() && seen.store == stamps(store))
        .then(|| Report { files, ..Report::default() })
}

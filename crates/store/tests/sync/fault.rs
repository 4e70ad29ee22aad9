//! What can be made again is made again, and what can't is not touched.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use rusqlite::Connection;
use store::archive::ArchiveError;
use store::folder::Store;
use store::sync::{Options, SyncError, Watch, sync};

use super::kit::{IDS, Lines, Nobody, World, assert_same, transcript};

/// Three sessions, one of them gone, one with a subagent, and side files.
fn busy() -> World {
    let world = World::new();
    for (at, word) in ["zebra", "quartz", "marmalade"].into_iter().enumerate() {
        let mut lines = Lines::new(IDS[at], "x");
        let text = lines.ask(word) + &lines.create("/w/one.rs") + &lines.say("bicycle");
        world.write(&transcript("a", at), text);
    }
    let agent = format!("projects/-w-a/{}/subagents/agent-abc.jsonl", IDS[0]);
    world.write(&agent, Lines::new(IDS[0], "agent").ask("count the zebra"));
    world.write("history.jsonl", "{\"display\":\"zebra\"}\n");
    world.sync();
    world.remove(&transcript("a", 2));
    world.sync();
    world
}

fn remove(path: &Path) {
    match path.is_dir() {
        true => fs::remove_dir_all(path).expect("is removed"),
        false => fs::remove_file(path).expect("is removed"),
    }
}

/// The store after a sync that was given no Claude folder at all.
fn assert_rebuilt(world: &World, before: &super::kit::Dump) {
    world.sync_with(&[], world.options()).expect("is made again");
    assert_same(&world.dump(), before);
    let report = world.sync_with(&[], world.options()).expect("goes on");
    assert!(!report.is_changed(), "{report:?}");
    assert!(!world.sync().is_changed());
}

#[test]
fn a_deleted_index_is_made_from_the_archive() {
    let world = busy();
    let before = world.dump();
    remove(&world.index_path());
    assert_rebuilt(&world, &before);
}

#[test]
fn a_deleted_catalog_is_made_from_the_archive() {
    let world = busy();
    let before = world.dump();
    remove(&world.catalog_path());
    assert_rebuilt(&world, &before);
}

#[test]
fn index_and_catalog_are_made_from_the_archive() {
    let world = busy();
    let before = world.dump();
    remove(&world.catalog_path());
    remove(&world.index_path());
    assert_rebuilt(&world, &before);
}

#[test]
fn what_older_versions_made_is_removed() {
    let world = busy();
    let store = world.catalog_path().parent().expect("it is in the store").to_owned();
    let old = ["catalog-v1-1-1.db", "catalog-v1-9-9.db-wal", "index-v0/one", "vectors-v1.db"];
    let newer = ["catalog-v999-1-1.db", "index-v999/one", "vectors-v999.db"];
    let others = ["index-vx", "other-v0.db", "archive-v0.db"];
    let all = || old.iter().chain(&newer).chain(&others).map(|name| store.join(name));
    for path in all() {
        fs::create_dir_all(path.parent().expect("it is in the store")).expect("is made");
        fs::write(path, "").expect("is written");
    }
    world.write(&transcript("a", 0), Lines::new(IDS[0], "y").ask("once more"));
    world.sync();
    let left: Vec<_> = all().filter(|path| path.exists()).collect();
    assert_eq!(left, newer.iter().chain(&others).map(|name| store.join(name)).collect::<Vec<_>>());
    assert!(!store.join("index-v0").exists());
    assert!(world.catalog_path().exists() && world.index_path().exists());
}

#[test]
fn nothing_is_needed_of_the_claude_folder() {
    let world = busy();
    let before = world.dump();
    remove(&world.catalog_path());
    remove(&world.index_path());
    remove(&world.path("projects"));
    remove(&world.path("history.jsonl"));
    world.sync();
    let after = world.dump();
    assert_eq!(after.sessions, before.sessions);
    assert_eq!(after.rows, before.rows);
    assert_eq!(after.hits, before.hits);
    assert!(after.files.is_empty());
}

#[test]
fn a_catalog_that_is_none_is_made_again() {
    let world = busy();
    let before = world.dump();
    fs::write(world.catalog_path(), [0x5a; 8192]).expect("is written");
    assert_rebuilt(&world, &before);
}

/// The first pages may be whole while others are not.
#[test]
fn a_catalog_with_a_wrong_page_is_made_again() {
    for page in 2..8 {
        let world = busy();
        let mut bytes = fs::read(world.catalog_path()).expect("is there");
        let from = page * 4096;
        bytes.get_mut(from..from + 4096).expect("has as many").fill(0x5a);
        fs::write(world.catalog_path(), bytes).expect("is written");
        world.append(&transcript("a", 0), Lines::new(IDS[0], "y").ask("marmalade"));
        world.sync();
        assert_same(&world.dump().here(), &world.fresh_dump());
    }
}

#[test]
fn an_archive_of_a_newer_version_is_left_alone() {
    let world = busy();
    let path = world.store().folder().join(store::folder::ARCHIVE);
    let db = Connection::open(&path).expect("opens");
    db.pragma_update(None, "user_version", 99).expect("is written");
    drop(db);
    let before = world.store_files();
    world.append(&transcript("a", 0), Lines::new(IDS[0], "y").ask("more"));
    let error = world.try_sync().expect_err("is not understood");
    let is_newer = matches!(error, SyncError::Archive(ArchiveError::Newer { found: 99, .. }));
    assert!(is_newer, "{error:?}");
    assert!(world.store_files() == before, "nothing is written");
}

/// Begins a second sync whenever the first one begins something.
struct Second {
    store: Store,
    options: Options,
    seen: Mutex<Vec<Result<(), SyncError>>>,
}

impl Watch for Second {
    fn begin(&self, _: usize, _: u64) {
        let second = sync(&self.store, &[], self.options, &Nobody).map(drop);
        self.seen.lock().expect("nobody fails").push(second);
    }

    fn step(&self, _: usize, _: u64) {}
}

#[test]
fn of_two_syncs_at_once_one_is_refused() {
    let world = busy();
    world.append(&transcript("a", 0), Lines::new(IDS[0], "y").ask("more"));
    let watch = Second { store: world.store(), options: world.options(), seen: Mutex::default() };
    sync(&world.store(), &world.homes(), world.options(), &watch).expect("goes on");
    let seen = watch.seen.into_inner().expect("nobody fails");
    assert_eq!(seen.len(), 2, "once for the archive, once for the catalog");
    assert!(seen.iter().all(|second| matches!(second, Err(SyncError::Locked))), "{seen:?}");
    assert_same(&world.dump().here(), &world.fresh_dump());
}

/// Who finds nothing changed need not wait for who writes.
#[test]
fn nothing_changed_is_seen_without_the_lock() {
    let world = busy();
    let lock = world.store().lock().expect("can be locked").expect("is free");
    let report = world.sync();
    assert_eq!((report.files, report.is_changed()), (world.homes()[0].look.len(), false));
    world.append(&transcript("a", 0), Lines::new(IDS[0], "y").ask("more"));
    assert!(matches!(world.try_sync(), Err(SyncError::Locked)));
    drop(lock);
    assert_eq!(world.sync().grown, 1);
    assert_same(&world.dump().here(), &world.fresh_dump());
}

/// Stops when so many files have been begun.
struct StopAfter(Mutex<usize>);

impl Watch for StopAfter {
    fn begin(&self, _: usize, _: u64) {}

    fn step(&self, _: usize, _: u64) {}

    fn is_stopped(&self) -> bool {
        let mut left = self.0.lock().expect("nobody fails");
        let is_stopped = *left == 0;
        *left = left.saturating_sub(1);
        is_stopped
    }
}

#[test]
fn a_sync_that_was_stopped_is_finished_by_the_next() {
    for files in 0..4 {
        let world = busy();
        world.rename(&transcript("a", 0), &transcript("b", 0));
        world.append(&transcript("a", 1), Lines::new(IDS[1], "y").ask("marmalade"));
        world.write(&transcript("a", 3), Lines::new(IDS[3], "y").ask("zebra"));
        let stop = StopAfter(Mutex::new(files));
        let done = sync(&world.store(), &world.homes(), world.options(), &stop);
        let (report, _) = done.expect("is stopped");
        assert_eq!(report.is_stopped, files < 3);
        world.sync();
        world.assert_current();
        assert_same(&world.dump().here(), &world.fresh_dump());
    }
}

/// Copies what can be made again, or puts it back.
fn copy(from: &Path, to: &Path) {
    if to.exists() {
        remove(to);
    }
    if from.is_file() {
        fs::copy(from, to).expect("is copied");
        return;
    }
    fs::create_dir_all(to).expect("is made");
    for entry in fs::read_dir(from).expect("lists") {
        let entry = entry.expect("is there");
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

type Change = fn(&World);

const CHANGES: [(&str, Change); 7] = [
    ("grown", |world| {
        world.append(&transcript("a", 0), Lines::new(IDS[0], "y").ask("marmalade"));
    }),
    ("rewritten", |world| {
        world.write(&transcript("a", 0), Lines::new(IDS[0], "y").ask("marmalade"));
    }),
    ("new", |world| {
        world.write(&transcript("a", 3), Lines::new(IDS[3], "y").ask("marmalade"));
    }),
    ("moved", |world| world.rename(&transcript("a", 0), &transcript("b", 0))),
    ("renamed", |world| world.rename(&transcript("a", 0), &transcript("a", 3))),
    ("set aside", |world| {
        let rel = transcript("a", 0);
        world.rename(&rel, &format!("{rel}.orphaned-1700000000000"));
    }),
    ("gone", |world| world.remove(&transcript("a", 0))),
];

/// A crash may come before the catalog is written, or between it and the index; and what was
/// written last to the catalog may be lost when the power goes.
#[test]
fn what_a_crash_left_behind_catches_up() {
    for (name, change) in CHANGES {
        for (is_catalog_old, is_index_old) in [(true, true), (false, true), (true, false)] {
            let world = busy();
            let aside = tempfile::tempdir().expect("a folder");
            let (catalog, index) = (aside.path().join("catalog"), aside.path().join("index"));
            copy(&world.catalog_path(), &catalog);
            copy(&world.index_path(), &index);
            change(&world);
            world.sync();
            let whole = world.dump();
            if is_catalog_old {
                copy(&catalog, &world.catalog_path());
            }
            if is_index_old {
                copy(&index, &world.index_path());
            }
            world.sync();
            eprintln!("{name}, catalog old: {is_catalog_old}, index old: {is_index_old}");
            assert_same(&world.dump(), &whole);
            assert!(!world.sync().is_changed());
        }
    }
}

#[test]
fn every_change_ends_in_the_store_of_one_sync() {
    for (name, change) in CHANGES.into_iter().filter(|(name, _)| *name != "gone") {
        let world = busy();
        change(&world);
        world.sync();
        eprintln!("{name}");
        assert_same(&world.dump().here(), &world.fresh_dump());
    }
}

#[test]
fn a_full_comparison_of_what_is_the_same_finds_nothing() {
    let world = busy();
    let before = world.dump();
    let options = Options { full: true, ..world.options() };
    let report = world.sync_with(&world.homes(), options).expect("goes on");
    assert_eq!((report.same, report.is_changed()), (4, false));
    assert_same(&world.dump(), &before);
}

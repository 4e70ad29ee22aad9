//! `recount sync`, killed at any point: what it leaves is finished by the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use store::archive::Access;
use store::catalog::{Catalog, SessionRow};
use store::folder::Store;
use transcript::layout;

use super::case::Case;

const FILES: usize = 40;
const KILLS: u32 = 12;

fn id(which: usize) -> String {
    format!("{which:08}-1111-4111-8111-111111111111")
}

fn rel(project: &str, which: usize) -> String {
    format!("projects/-w-{project}/{}.jsonl", id(which))
}

/// `count` prompts of one session that no other round has.
fn prompts(which: usize, round: u32, count: usize) -> String {
    let line = |n: usize| {
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/w\",\
             \"sessionId\":\"{}\",\"version\":\"2.0.31\",\"gitBranch\":\"main\",\"type\":\"user\",\
             \"message\":{{\"role\":\"user\",\"content\":\"question {n} of round {round}\"}},\
             \"uuid\":\"{which}-{round}-{n}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\"}}\n",
            id(which)
        )
    };
    (0..count).map(line).collect()
}

fn append(case: &Case, rel: &str, text: &str) {
    let path = case.claude().join(rel);
    let old = fs::read_to_string(&path).unwrap_or_default();
    // In place: the file stays the same one.
    fs::write(path, old + text).unwrap();
}

/// Some files grow, one is rewritten, one moves, one goes, one is set aside, one is new.
fn change(case: &Case, round: u32) {
    let at = round as usize;
    let grown = |which: &usize| which % 3 == at % 3 && *which >= 3 * KILLS as usize;
    for which in (0..FILES).filter(grown) {
        append(case, &rel("a", which), &prompts(which, round, 40));
    }
    let path = |rel: &str| case.claude().join(rel);
    case.write(&rel("a", FILES - 1), &prompts(FILES - 1, round, 30 + at));
    case.write(&rel("a", FILES + at), &prompts(FILES + at, round, 60));
    fs::create_dir_all(path("projects/-w-b")).unwrap();
    fs::rename(path(&rel("a", 3 * at)), path(&rel("b", 3 * at))).unwrap();
    fs::remove_file(path(&rel("a", 3 * at + 1))).unwrap();
    let aside = rel("a", 3 * at + 2);
    fs::rename(path(&aside), path(&format!("{aside}.orphaned-1700000000000"))).unwrap();
}

fn begin(case: &Case, store: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    command.env_clear().env("HOME", case.claude().parent().unwrap());
    command.arg("sync").arg("--store").arg(store);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn finish(case: &Case, store: &Path) -> Duration {
    let start = Instant::now();
    assert!(begin(case, store).wait().unwrap().success());
    start.elapsed()
}

/// Whether it was still at work.
fn kill_after(mut child: Child, time: Duration) -> bool {
    std::thread::sleep(time);
    let is_alive = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    is_alive
}

/// What a store says of what is on disk.
#[derive(Debug, PartialEq)]
struct Said {
    files: BTreeMap<String, Vec<u8>>,
    sessions: BTreeMap<String, (SessionRow, Option<String>)>,
    transcripts: BTreeMap<String, String>,
}

fn said(folder: &Path) -> Said {
    let store = Store::new(folder.into());
    let archive = store.archive(Access::Read).unwrap();
    assert_eq!(archive.verify(|_| {}).unwrap().damage, []);
    let rows = archive.files().unwrap();
    let rel = |row: &store::archive::FileRow| String::from_utf8(row.rel.clone()).unwrap();
    let names: BTreeMap<i64, String> = rows.iter().map(|row| (row.file.0, rel(row))).collect();
    let gone: BTreeSet<String> = rows.iter().filter(|row| row.gone).map(rel).collect();
    let read = |row| archive.read(row, 0, usize::MAX >> 1).unwrap();
    let catalog = Catalog::read(folder).unwrap().unwrap();
    let sessions = catalog.sessions().unwrap().into_iter().map(|mut row| {
        let file = row.file.take().map(|file| names[&file].clone());
        (row.id.as_str().to_owned(), (row, file))
    });
    let is_here = |file: &Option<String>| file.as_ref().is_none_or(|file| !gone.contains(file));
    let cards =
        catalog.cards().unwrap().into_iter().filter(|(file, _)| !gone.contains(&names[file]));
    Said {
        files: rows.iter().filter(|r| !r.gone).map(|r| (rel(r), read(r.generation))).collect(),
        sessions: sessions.filter(|(_, (_, file))| is_here(file)).collect(),
        transcripts: cards
            .map(|(file, card)| {
                let (shape, places) = (catalog.shape(file).unwrap(), catalog.places(file).unwrap());
                (names[&file].clone(), format!("{card:?} {shape:?} {places:?}"))
            })
            .collect(),
    }
}

#[test]
fn a_killed_sync_is_finished_by_the_next() {
    let case = Case::new("");
    for which in 0..FILES {
        case.write(&rel("a", which), &prompts(which, 100, 60));
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let whole = finish(&case, &at("measured"));
    let mut alive = 0;
    for round in 0..KILLS {
        let time = whole * (round + 1) / (KILLS + 1);
        alive += u32::from(kill_after(begin(&case, &at("killed")), time));
        change(&case, round);
    }
    assert!(alive > 0, "all had finished before they were killed");
    finish(&case, &at("killed"));
    finish(&case, &at("fresh"));
    let (killed, fresh) = (said(&at("killed")), said(&at("fresh")));
    for found in layout::walk(&case.claude()).files {
        let rel = found.rel.to_str().unwrap();
        assert!(killed.files[rel] == fs::read(&found.path).unwrap(), "{rel} is another one");
    }
    assert_eq!(killed.sessions, fresh.sessions);
    assert_eq!(killed.transcripts, fresh.transcripts);
    assert!(killed == fresh);
}

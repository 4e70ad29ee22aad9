//! What the store says of files that are gone is what the files themselves said.
//!
//! Reading commands are asked twice: with the files and no store, and with the store and no file
//! that it keeps. The outputs have to be equal, byte for byte; only the talk may differ. A process
//! for each session would take minutes, so commands are asked about some of them, and what all
//! commands are made of (sessions, their entries, their bytes) is compared for every one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rayon::prelude::*;
use report::tree;
use serde_json::Value;
use store::archive::Access;
use store::folder::Store;
use testkit::{Shape, Spec};
use transcript::layout::{self, Found};
use transcript::library::{self, Library, SessionItem, read_session};
use transcript::record::Opened;
use transcript::session::Session;
use transcript::source::Source;

use super::case::Case;

/// Questions about a whole home. Not `doctor`: it tells of the disk.
const HOME: [&str; 13] = [
    "list --all",
    "list --projects",
    "errors --fixes",
    "errors --summary",
    "history",
    "history --pastes",
    "history --ghosts",
    "todos",
    "todos --open",
    "plans",
    "log",
    "usage waste",
    "usage reconcile",
];

/// Questions about one session.
const SESSION: [&str; 5] = [
    "show ID --detail 4 --thinking",
    "show ID --last 3",
    "tree ID",
    "segments ID",
    "context ID --whole",
];

/// Exit code and standard output.
type Said = (Option<i32>, String);

fn ask(case: &Case, question: &str) -> Said {
    let output = case.command().args(question.split(' ')).arg("--json").output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn ask_all(case: &Case, questions: &[String]) -> Vec<Said> {
    questions.par_iter().map(|question| ask(case, question)).collect()
}

/// The questions about the sessions, plans and files that a home has, at most `most` of each.
fn questions(case: &Case, home: &[&str], most: usize) -> Vec<String> {
    let mut all: Vec<String> = home.iter().map(ToString::to_string).collect();
    for session in spread(told(case, "list --all", "session"), most) {
        all.extend(SESSION.map(|question| question.replace("ID", &session)));
    }
    for plan in spread(told(case, "plans", "name"), most) {
        all.push(format!("plans {plan}"));
    }
    for session in spread(told(case, "log", "session"), most) {
        all.push(format!("log {session}"));
    }
    for file in spread(changed_files(case, most), most) {
        all.push(format!("file {file} --diff"));
    }
    all
}

/// One value of each line of an answer.
fn told(case: &Case, question: &str, key: &str) -> BTreeSet<String> {
    let (_, text) = ask(case, question);
    let value = |line: &str| serde_json::from_str::<Value>(line).unwrap()[key].clone();
    text.lines().filter_map(|line| value(line).as_str().map(String::from)).collect()
}

/// The files that calls changed; the command line of a test is split at spaces.
fn changed_files(case: &Case, most: usize) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for session in spread(told(case, "list", "session"), most) {
        let (_, text) = ask(case, &format!("show {session}"));
        for line in text.lines() {
            paths(&serde_json::from_str(line).unwrap(), &mut files);
        }
    }
    files.retain(|path| !path.contains(' '));
    files
}

/// The paths of everything that says whether it created a file.
fn paths(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if object.contains_key("created") {
                all.extend(object["path"].as_str().map(String::from));
            }
            object.values().for_each(|value| paths(value, all));
        }
        Value::Array(values) => values.iter().for_each(|value| paths(value, all)),
        _ => {}
    }
}

/// At most `most`, from all over.
fn spread(all: BTreeSet<String>, most: usize) -> Vec<String> {
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).collect()
}

/// As if nothing had been written for a day: what was written just now counts as live, and a file
/// that is gone was not.
fn age(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            age(&path);
        } else if let Ok(file) = File::options().append(true).open(&path) {
            let yesterday = SystemTime::now() - Duration::from_secs(86_400);
            file.set_modified(yesterday).unwrap();
        }
    }
}

/// Deletes all that is kept. What is not (tokens, who is running now) says nothing of the past.
fn delete_kept(case: &Case) -> usize {
    let store = Store::new(case.store());
    let rows = store.archive(Access::Read).unwrap().files().unwrap();
    rows.iter().for_each(|row| fs::remove_file(row.path()).unwrap());
    rows.len()
}

/// What is shown of the sessions of a home, as text, by id.
fn sessions(files: Vec<Found>) -> BTreeMap<String, String> {
    let (library, _) = Library::join(library::scan(files, |_, _, _| None::<()>, |_| ()));
    assert!(library.problems.is_empty(), "{:?}", library.problems);
    let of = |item: &SessionItem| {
        let (session, files) = library.read(item).unwrap();
        let mut text = format!("{item:?}\n{}", shown(&session, Some(item), &files));
        for file in item.agents.iter().filter_map(|agent| agent.file) {
            let found = &library.cards[file].found;
            let session = read_session(found, library.copies_of(file)).unwrap();
            text += &shown(&session, None, std::slice::from_ref(found));
        }
        (item.id.to_string(), text)
    };
    library.sessions.iter().map(of).collect()
}

/// The shape of a session and each of its entries.
fn shown(session: &Session, item: Option<&SessionItem>, files: &[Found]) -> String {
    let sources: Vec<Source> = files.iter().map(|found| found.open().unwrap()).collect();
    let opened = Opened::new(session, &sources, false);
    let nodes = 0..session.nodes().len();
    let records = nodes.map(|node| format!("{:?}\n", opened.record(node).unwrap()));
    let (tree, segments) = (tree::tree(session, item), tree::segments(session));
    let context = tree::context(session);
    format!("{tree:?}\n{segments:?}\n{context:?}\n{}", records.collect::<String>())
}

fn assert_equal(case: &Case, home: &[&str], most: usize) {
    age(&case.claude());
    let root = case.claude().canonicalize().unwrap();
    let questions = questions(case, home, most);
    let direct = ask_all(case, &questions);
    let said = sessions(layout::walk_projects(&root).files);
    assert!(!case.store().exists(), "a question has made a store");
    let synced = case.run("sync");
    assert!(synced.starts_with("exit 0\n"), "{synced}");
    assert!(delete_kept(case) > 5);
    let kept = store::sync::kept_files(&Store::new(case.store()), &root, |rel| {
        layout::classify(rel).is_transcript()
    });
    let again = sessions(kept.unwrap());
    assert_eq!(said.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>());
    for (id, said) in &said {
        let pair = ((None, said.clone()), (None, again[id].clone()));
        assert!(pair.0 == pair.1, "{id}\n{}", difference(&pair.0, &pair.1));
    }
    let stored = ask_all(case, &questions);
    let answered = direct.iter().filter(|(_, text)| !text.is_empty()).count();
    assert!(answered > questions.len() / 2, "{answered} of {} say anything", questions.len());
    let mut differing = Vec::new();
    for ((question, direct), stored) in questions.iter().zip(&direct).zip(&stored) {
        if direct != stored {
            differing.push(format!("{question}\n{}", difference(direct, stored)));
        }
    }
    let (count, all) = (differing.len(), questions.len());
    assert!(differing.is_empty(), "{count} of {all} differ:\n{}", differing.join("\n"));
}

/// The first line that is another one.
fn difference(direct: &Said, stored: &Said) -> String {
    let mut pairs = direct.1.lines().zip(stored.1.lines());
    let lines = (direct.1.lines().count(), stored.1.lines().count());
    let (left, right) = pairs.find(|(left, right)| left != right).unwrap_or_default();
    format!(
        "  exit {:?}, {:?}; {lines:?} lines\n  direct {left}\n  stored {right}",
        direct.0, stored.0
    )
}

fn made(shape: Shape, bytes: u64) -> Case {
    let case = Case::new("");
    testkit::make(&Spec { seed: 7, shape, bytes }, &case.claude()).unwrap();
    case
}

#[test]
fn the_store_answers_as_the_files_did_hard_cases() {
    assert_equal(&made(Shape::Hard, 0), &HOME, 3);
}

#[test]
fn the_store_answers_as_the_files_did_sample() {
    assert_equal(&made(Shape::Demo, 0), &HOME, 20);
}

#[test]
fn the_store_answers_as_the_files_did_made_homes() {
    assert_equal(&made(Shape::Seeds, 2_000_000), &HOME, 1);
    assert_equal(&made(Shape::Lean, 1_000_000), &HOME, 1);
}

/// Real files, where they are at hand: some of those beside the project, all of those that
/// RECOUNT_REAL names, which takes minutes.
#[test]
fn the_store_answers_as_the_files_did_real() {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/real"));
    let (real, step) = match std::env::var_os("RECOUNT_REAL") {
        Some(named) => (PathBuf::from(named), 1),
        None => (beside, 10),
    };
    if !real.is_dir() {
        return eprintln!("no real files here: nothing was checked");
    }
    let case = Case::new("");
    for found in layout::walk(&real).files.iter().step_by(step) {
        let to = case.claude().join(&found.rel);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&found.path, to).unwrap();
    }
    assert_equal(&case, &["list --all", "errors --fixes"], 1);
}

/// Questions that a store answers in other ways than the files do.
const WITH_STORE: [&str; 8] = [
    "list --all",
    "list --projects",
    "errors --fixes",
    "tools",
    "usage session",
    "usage waste",
    "usage reconcile",
    "history --ghosts",
];

/// A store that has all files, and one that is behind, say what the files say.
fn assert_store_changes_nothing(case: &Case, most: usize) {
    age(&case.claude());
    let questions = questions(case, &WITH_STORE, most);
    let direct = ask_all(case, &questions);
    assert!(case.run("sync --quiet").starts_with("exit 0"));
    compare(&questions, &direct, &ask_all(case, &questions));
    // A session goes on, another one is new, and the store has neither.
    let files = layout::walk(&case.claude()).files;
    let session = files.iter().find(|found| found.stem().is_some() && found.size > 0).unwrap();
    let id = session.stem().unwrap();
    let line = |id: &str, uuid: &str| {
        format!(
            r#"{{"parentUuid":null,"cwd":"/w","uuid":"{uuid}","sessionId":"{id}","type":"user","timestamp":"2026-06-01T10:00:00.000Z","message":{{"role":"user","content":"one more"}}}}"#
        ) + "\n"
    };
    let mut text = fs::read(&session.path).unwrap();
    text.extend(line(id, "one-more-1").as_bytes());
    fs::write(&session.path, text).unwrap();
    let new = "eeeeeeee-0000-4000-8000-00000000000e";
    case.write(&format!("projects/-w/{new}.jsonl"), &line(new, "one-more-2"));
    age(&case.claude());
    let behind = ask_all(case, &questions);
    fs::rename(case.store(), case.home().join("store-elsewhere")).unwrap();
    compare(&questions, &ask_all(case, &questions), &behind);
}

fn compare(questions: &[String], direct: &[Said], stored: &[Said]) {
    for ((question, direct), stored) in questions.iter().zip(direct).zip(stored) {
        assert!(direct == stored, "{question}\n{}", difference(direct, stored));
    }
}

#[test]
fn a_store_changes_no_answer() {
    assert_store_changes_nothing(&made(Shape::Hard, 0), 2);
    assert_store_changes_nothing(&made(Shape::Demo, 0), 4);
    assert_store_changes_nothing(&made(Shape::Seeds, 1_000_000), 1);
}

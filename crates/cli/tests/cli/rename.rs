//! `rename` and `tag`: the only lines that are ever added to a transcript.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use super::case::Case;
use super::talk::Session;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stamp {
    r#type: String,
    session: String,
    path: String,
    line: String,
    outcome: String,
}

const ID: &str = "1aaaaaaa-0000-4000-8000-000000000001";

/// A session that was left an hour ago, and its file.
fn left() -> (Case, PathBuf) {
    let case = Case::new("");
    Session::new(1).prompt("The zeppelin leaks").answer("Patched.").write(&case);
    let found = fs::read_dir(case.claude().join("projects")).unwrap().next().unwrap().unwrap();
    let path = found.path().join(format!("{ID}.jsonl"));
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    (case, path)
}

fn run(case: &Case, args: &[&str]) -> String {
    case.shown(&case.command().args(args).output().unwrap())
}

#[test]
fn a_title_is_planned_written_and_shown() {
    let (case, path) = left();
    let before = fs::read(&path).unwrap();
    let title = "The \"release\" of May";
    let planned = run(&case, &["rename", "1aaa", title, "--dry-run"]);
    let line = format!(
        r#"{{"type":"custom-title","customTitle":"The \"release\" of May","sessionId":"{ID}"}}"#
    );
    assert!(planned.contains(": planned\n") && planned.contains(&line), "{planned}");
    assert_eq!(fs::read(&path).unwrap(), before);
    let written = run(&case, &["rename", "1aaa", title]);
    assert!(written.starts_with("exit 0\n") && written.contains(": written\n"), "{written}");
    let after = fs::read_to_string(&path).unwrap();
    assert_eq!(after.as_bytes(), [&before[..], line.as_bytes(), b"\n"].concat());
    assert!(case.run("list").contains(title));
    // Nor is it the latest for it, nor taken for one that runs.
    let tagged: Vec<Stamp> = case.json("tag 1aaa release");
    let Stamp { r#type, session, path: at, line, outcome } = &tagged[0];
    assert_eq!((&**r#type, &**session, &**outcome), ("stamp", ID, "written"));
    assert_eq!(
        (line.as_str(), at.as_str()),
        (
            &*format!(r#"{{"type":"tag","tag":"release","sessionId":"{ID}"}}"#),
            path.to_str().unwrap()
        )
    );
    assert!(case.run("list --json").contains("\"tag\":\"release\""), "{}", case.run("list --json"));
    run(&case, &["tag", "1aaa", ""]);
    assert!(!case.run("list --json").contains("\"tag\":\"release\""));
}

#[test]
fn a_session_that_runs_is_refused() {
    let (case, path) = left();
    let before = fs::read(&path).unwrap();
    let pid = std::process::id();
    let registered = format!(r#"{{"pid":{pid},"sessionId":"{ID}","status":"idle"}}"#);
    case.write("sessions/1.json", &registered);
    insta::assert_snapshot!(case.run("rename 1aaa x"), @r"
    exit 2
    --- stderr
    error: Session `1aaaaaaa` is running
    hint: Use `/rename` or `/tag` in it, or wait until it has ended
    ");
    assert!(case.run("tag 1aaa x").starts_with("exit 2\n"));
    for wrong in ["rename nope x", "rename 1aaa", "rename - x"] {
        assert!(case.run(wrong).starts_with("exit 2\n"), "{wrong}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// The last client deletes its file when it ends, and the folder stays.
#[test]
fn an_empty_registry_says_that_nobody_runs() {
    let (case, path) = left();
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::now()).unwrap();
    assert!(case.run("list").contains(" live "), "older versions have no registry");
    assert!(case.run("rename 1aaa x").starts_with("exit 2\n"));
    fs::create_dir(case.claude().join("sessions")).unwrap();
    let shown = case.run("list");
    assert!(shown.contains(" ended ") && !shown.contains(" live "), "{shown}");
    assert!(case.run("rename 1aaa x").starts_with("exit 0\n"));
    assert!(case.run("tag 1aaa x").starts_with("exit 0\n"));
    assert!(case.run("wait 1aaa").starts_with("exit 0\n"));
}

/// After a crash the file stays, and the number may be another process by now.
#[cfg(target_os = "linux")]
#[test]
fn another_process_with_the_number_does_not_run_the_session() {
    let (case, _) = left();
    let pid = std::process::id();
    let registered =
        format!(r#"{{"pid":{pid},"procStart":"1","sessionId":"{ID}","status":"idle"}}"#);
    case.write("sessions/1.json", &registered);
    assert!(case.run("list").contains(" ended "));
    assert!(case.run("rename 1aaa x").starts_with("exit 0\n"));
}

#[test]
fn what_only_the_store_has_is_refused() {
    let (case, path) = left();
    case.run("sync");
    fs::remove_file(&path).unwrap();
    let shown = case.run("rename 1aaa x");
    assert!(shown.contains("has no transcript in a Claude folder"), "{shown}");
    assert!(!path.exists());
}

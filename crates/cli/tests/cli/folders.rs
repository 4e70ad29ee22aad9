//! One store for two Claude folders: an answer about one has nothing of the other.

use super::case::Case;
use super::talk::Session;

/// The same words in both folders, so that every question could find both.
fn homes() -> (Case, std::path::PathBuf) {
    let case = Case::new("");
    Session::new(1).prompt("The zeppelin of the first folder").answer("First.").write(&case);
    let second = case.home().join("second");
    let line = |id: &str, uuid: &str, parent: &str, kind: &str, message: &str| {
        format!(
            r#"{{"parentUuid":{parent},"cwd":"/other","uuid":"{uuid}","sessionId":"{id}","version":"2.1.326","type":"{kind}","timestamp":"2026-05-02T10:00:00.000Z","message":{message}}}"#
        ) + "\n"
    };
    let id = "bbbbbbbb-0000-4000-8000-000000000002";
    let prompt = r#"{"role":"user","content":"The zeppelin of the second folder"}"#;
    let answer = r#"{"id":"m2","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Second zeppelin."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let text =
        line(id, "u2", "null", "user", prompt) + &line(id, "a2", "\"u2\"", "assistant", answer);
    let folder = second.join("projects/-other");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    (case, second)
}

#[test]
fn an_answer_about_one_folder_has_nothing_of_the_other() {
    let (case, second) = homes();
    let first = case.claude();
    let ask = |folders: &[&std::path::Path], args: &[&str]| {
        let mut command = case.command();
        for folder in folders {
            command.arg("--claude-dir").arg(folder);
        }
        case.shown(&command.args(args).output().unwrap())
    };
    ask(&[&first, &second], &["sync"]);
    for args in [
        &["list", "--json"][..],
        &["search", "zeppelin", "--json"],
        &["search", "--regex", "zeppelin", "--json"],
        &["recall", "where is the zeppelin?", "--json"],
        &["sql", "SELECT session, text FROM texts", "--json"],
        &["usage", "session", "--json"],
        &["tools", "--json"],
    ] {
        let has = |shown: &str| (shown.contains("1aaaaaaa"), shown.contains("bbbbbbbb"));
        let of_first = ask(&[&first], args);
        assert!(!has(&of_first).1, "{args:?} of the first: {of_first}");
        let of_second = ask(&[&second], args);
        assert!(!has(&of_second).0, "{args:?} of the second: {of_second}");
        if args[0] != "tools" && args[0] != "usage" {
            assert!(has(&of_first).0 && has(&of_second).1, "{args:?}: {of_first}{of_second}");
            assert_eq!(has(&ask(&[&first, &second], args)), (true, true), "{args:?}");
        }
    }
}

#[test]
fn the_archive_alone_has_deleted_sessions() {
    let (case, _) = homes();
    assert!(case.run("sync").starts_with("exit 0"));
    std::fs::remove_dir_all(case.claude().join("projects/-w")).unwrap();
    // As after an update of the program that makes the catalog anew.
    for file in std::fs::read_dir(case.store()).unwrap().map(Result::unwrap) {
        if file.file_name().to_string_lossy().starts_with("catalog") {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    let list = case.run("list");
    assert!(list.contains("1aaaaaaa"), "{list}");
    let shown = case.run("show 1aaaaaaa");
    assert!(shown.contains("The zeppelin of the first folder"), "{shown}");
}

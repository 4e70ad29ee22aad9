//! A name stands for the same session in every command.

use super::case::Case;

/// The session that was active last has the older file; the other one has the newer side files.
const HOME: &str = r#"//- projects/-w-a/aaaaaaaa-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"cwd":"/w/a","uuid":"u1","sessionId":"aaaaaaaa-0000-4000-8000-000000000001","type":"user","timestamp":"2026-05-02T10:00:00.000Z","message":{"role":"user","content":"the later prompt"}}
//- debug/aaaaaaaa-0000-4000-8000-000000000001.txt
2026-05-02T04:17:24.497Z [DEBUG] of the later session
//- todos/aaaaaaaa-0000-4000-8000-000000000001-agent-aaaaaaaa-0000-4000-8000-000000000001.json
[{"content":"of the later session","status":"pending","id":"1"}]
//- history.jsonl
{"display":"the later prompt","timestamp":1777716000000,"project":"/w/a","sessionId":"aaaaaaaa-0000-4000-8000-000000000001"}
{"display":"the earlier prompt","timestamp":1777629600000,"project":"/w/b","sessionId":"bbbbbbbb-0000-4000-8000-000000000001"}
//- projects/-w-b/bbbbbbbb-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"cwd":"/w/b","uuid":"u2","sessionId":"bbbbbbbb-0000-4000-8000-000000000001","type":"user","timestamp":"2026-05-01T10:00:00.000Z","message":{"role":"user","content":"the earlier prompt"}}
//- debug/bbbbbbbb-0000-4000-8000-000000000001.txt
2026-05-01T04:17:24.497Z [DEBUG] of the earlier session
//- todos/bbbbbbbb-0000-4000-8000-000000000001-agent-bbbbbbbb-0000-4000-8000-000000000001.json
[{"content":"of the earlier session","status":"pending","id":"1"}]
"#;

fn check(case: &Case) {
    let first = case.run("list --limit 1");
    assert!(first.contains("aaaaaaaa"), "{first}");
    for name in ["latest", "AAAA", "Aaaaaaaa-0000"] {
        for command in [
            format!("show {name}"),
            format!("show {name} --last 1"),
            format!("context {name}"),
            format!("log {name}"),
            format!("todos {name}"),
            format!("history --session {name}"),
        ] {
            let shown = case.run(&command);
            assert!(shown.contains("later") && !shown.contains("earlier"), "{command}: {shown}");
        }
    }
}

#[test]
fn latest_is_the_first_row_of_the_list_in_every_command() {
    let case = Case::new(HOME);
    // The file of the later session was written first.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(9_000);
    let file = "projects/-w-a/aaaaaaaa-0000-4000-8000-000000000001.jsonl";
    let file = std::fs::File::options().append(true).open(case.claude().join(file)).unwrap();
    file.set_modified(old).unwrap();
    check(&case);
    assert!(case.run("sync").starts_with("exit 0"));
    check(&case);
    let related = case.run("restore latest");
    assert!(related.contains("aaaaaaaa"), "{related}");
}

#[test]
fn a_dot_is_the_first_row_of_this_folder() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let case = Case::new(&HOME.replace("/w/b", here.to_str().unwrap()));
    for command in [["show", "."], ["todos", "."], ["log", "."]] {
        let output = case.command().current_dir(&here).args(command).output().unwrap();
        let shown = case.shown(&output);
        assert!(shown.contains("earlier") && !shown.contains("later"), "{command:?}: {shown}");
    }
}

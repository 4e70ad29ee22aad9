//! What is kept is found and shown, also when Claude Code has deleted it.

use std::fs;

use serde::Deserialize;

use super::case::Case;

const HOME: &str = r#"
//- projects/-w/0aaaaaaa-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"uuid":"a1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:00.000Z","cwd":"/w","gitBranch":"main","version":"2.1.100","type":"user","message":{"role":"user","content":"why is the port already in use?"}}
{"parentUuid":"a1","uuid":"a2","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:05.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"lsof -i :8080"}}],"stop_reason":"tool_use"}}
{"parentUuid":"a2","uuid":"a3","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:06.000Z","cwd":"/w","version":"2.1.100","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"zombiedaemon 4711 LISTEN"}]}}
{"parentUuid":"a3","uuid":"a4","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:09.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"An old daemon holds it."}],"stop_reason":"end_turn"}}
//- projects/-x/0bbbbbbb-0000-4000-8000-000000000002.jsonl
{"parentUuid":null,"uuid":"b1","sessionId":"0bbbbbbb-0000-4000-8000-000000000002","timestamp":"2026-04-21T10:00:00.000Z","cwd":"/x","version":"2.1.100","type":"user","message":{"role":"user","content":"write a poem about harbours"}}
//- plans/calm-red-fox.md
# Do it
"#;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
pub struct Hit {
    pub r#type: String,
    pub rank: usize,
    pub session: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub time: Option<String>,
    pub entry: u32,
    pub turn: Option<u32>,
    pub role: String,
    pub place: String,
    pub snippet: String,
    pub marks: Vec<Mark>,
    pub file: String,
    pub gone: bool,
    pub ghost: bool,
    pub open: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Sync {
    r#type: String,
    files: usize,
    new: usize,
    grown: usize,
    rewritten: usize,
    moved: usize,
    gone: usize,
    bytes_read: u64,
    bytes_kept: u64,
    transcripts: usize,
}

fn first(case: &Case, query: &str) -> (String, u32, String, String) {
    let hits: Vec<Hit> = case.json(&format!("search {query}"));
    let hit = &hits[0];
    let marked = hit.marks.iter().map(|mark| &hit.snippet[mark.start..mark.end]);
    (hit.session[..8].into(), hit.entry, hit.role.clone(), marked.collect::<Vec<_>>().join("|"))
}

#[test]
fn words_are_found_where_they_were_said_called_and_printed() {
    let case = Case::new(HOME);
    let want =
        |entry, role: &str, words: &str| ("0aaaaaaa".into(), entry, role.into(), words.into());
    assert_eq!(first(&case, "lsof"), want(2, "call", "lsof"));
    assert_eq!(first(&case, "zombiedaemon"), want(3, "output", "zombiedaemon"));
    assert_eq!(first(&case, "old daemon role:answer"), want(4, "answer", "old|daemon"));
    assert_eq!(first(&case, "port project:/w"), want(1, "prompt", "port"));
    insta::assert_snapshot!(case.run("search port project:/x"), @r"
    exit 1
    --- stderr
    note: Nothing found
    ");
    insta::assert_snapshot!(case.run("search rol:prompt"), @r"
    exit 2
    --- stderr
    error: `rol:` is no filter at `rol:`
    hint: role:
    ");
}

#[test]
fn a_phrase_in_an_output_has_its_words_in_order() {
    let case = Case::new(HOME);
    let search = |query| case.shown(&case.command().args(["search", query]).output().unwrap());
    let loosened = "Nothing has these words as they are";
    let in_order = search("\"zombiedaemon 4711\"");
    assert!(in_order.contains("#3 output") && !in_order.contains(loosened), "{in_order}");
    let turned = search("\"4711 zombiedaemon\"");
    assert!(turned.contains(loosened), "{turned}");
}

#[test]
fn new_lines_are_found_at_once() {
    let case = Case::new(HOME);
    assert_eq!(first(&case, "harbours").0, "0bbbbbbb");
    let path = case.claude().join("projects/-x/0bbbbbbb-0000-4000-8000-000000000002.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    text += r#"{"parentUuid":"b1","uuid":"b2","sessionId":"0bbbbbbb-0000-4000-8000-000000000002","timestamp":"2026-04-21T10:00:09.000Z","cwd":"/x","version":"2.1.100","type":"assistant","message":{"id":"m9","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Lanterns over slack water."}],"stop_reason":"end_turn"}}"#;
    text.push('\n');
    fs::write(&path, &text).unwrap();
    assert_eq!(
        first(&case, "lanterns"),
        ("0bbbbbbb".into(), 2, "answer".into(), "Lanterns".into())
    );
}

/// Adds a session of 42 MB, more than a search waits for, whose last prompt names a lighthouse.
fn add_large_session(case: &Case) {
    let id = "0ccccccc-0000-4000-8000-000000000003";
    let line = |number: usize, text: &str| {
        format!(
            r#"{{"parentUuid":null,"uuid":"c{number}","sessionId":"{id}","timestamp":"2026-04-22T10:00:00.000Z","cwd":"/w","version":"2.1.100","type":"user","message":{{"role":"user","content":"{text}"}}}}
"#
        )
    };
    let filler = "x".repeat(1 << 20);
    let body: String = (0..40).map(|number| line(number, &filler)).collect();
    case.write(&format!("projects/-w/{id}.jsonl"), &(body + &line(40, "a lighthouse")));
}

/// A search that would have to read much answers from what there is, and says so.
#[test]
fn much_that_is_new_is_read_behind_the_answer() {
    let case = Case::new(HOME);
    assert_eq!(first(&case, "harbours").0, "0bbbbbbb");
    add_large_session(&case);
    let shown = case.run("search harbours --json");
    assert!(shown.starts_with("exit 6\n"), "{shown}");
    assert!(shown.contains("write a poem about"), "{shown}");
    assert!(shown.contains(r#"{"type":"freshness","state":"behind","bytes":4"#), "{shown}");
    assert!(shown.contains("note: Results as of "), "{shown}");
    assert!(shown.contains(": 42.0 MB are new; indexing them in the background"), "{shown}");
    // The one that was started ends by itself.
    let is_found = || case.run("--quiet search lighthouse").contains("0ccccccc");
    let found = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        is_found()
    });
    assert!(found, "a minute is long");
}

/// With `--wait` an answer has everything, however much is new.
#[test]
fn waiting_for_the_sync_gives_a_complete_answer() {
    let case = Case::new(HOME);
    assert_eq!(first(&case, "harbours").0, "0bbbbbbb");
    add_large_session(&case);
    let shown = case.run("search lighthouse --wait --json");
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    assert!(shown.contains("0ccccccc") && !shown.contains("freshness"), "{shown}");
}

#[test]
fn debug_logs_are_left_out_if_somebody_said_so() {
    let case = Case::new(HOME);
    let log = |id: &str| format!("debug/{id}.txt");
    case.write(&log("0aaaaaaa-0000-4000-8000-000000000001"), "2026-04-20T10:00:00.000Z [DEBUG] x");
    let synced = |args: &str| {
        let done: Vec<Sync> = case.json(args);
        (done[0].new, done[0].grown, done[0].gone)
    };
    assert_eq!(synced("sync"), (4, 0, 0));
    // What is kept stays, and nothing new comes, also if nobody says so again.
    case.write(&log("0bbbbbbb-0000-4000-8000-000000000002"), "2026-04-20T10:00:00.000Z [DEBUG] y");
    assert_eq!(synced("sync --debug-logs skip"), (0, 0, 0));
    assert_eq!(synced("sync"), (0, 0, 0));
    fs::remove_dir_all(case.claude().join("debug")).unwrap();
    assert_eq!(synced("sync"), (0, 0, 0));
    assert!(case.run("log 0aaaaaaa").contains("DEBUG x"), "{}", case.run("log 0aaaaaaa"));
    case.write(&log("0bbbbbbb-0000-4000-8000-000000000002"), "2026-04-20T10:00:00.000Z [DEBUG] y");
    assert_eq!(synced("sync --debug-logs keep"), (1, 0, 1));
}

#[test]
fn a_second_sync_has_nothing_to_do() {
    let case = Case::new(HOME);
    let sync = |case: &Case| case.json::<Sync>("sync").remove(0);
    let one = sync(&case);
    assert_eq!((one.files, one.new, one.transcripts), (3, 3, 2));
    let two = sync(&case);
    assert_eq!((two.new + two.grown + two.rewritten, two.bytes_kept, two.transcripts), (0, 0, 0));
    insta::assert_snapshot!(case.run("sync"), @r"
    exit 0
    --- stdout
    3 files: nothing changed
    ");
}

#[test]
fn what_is_deleted_is_still_shown_and_found() {
    let case = Case::new(HOME);
    let before = [case.run("show 0aaaaaaa"), case.run("errors"), case.run("plans calm")];
    case.run("sync");
    fs::remove_dir_all(case.claude().join("projects/-w")).unwrap();
    fs::remove_dir_all(case.claude().join("plans")).unwrap();
    let after = [case.run("show 0aaaaaaa"), case.run("errors"), case.run("plans calm")];
    let said = "note: 1 session read from the store: its files are gone\n";
    assert!(after[0].contains(said), "{}", after[0]);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(
            &after.replace(said, "").replace("--- stderr\n", ""),
            &before.replace("--- stderr\n", "")
        );
    }
    let hits: Vec<Hit> = case.json("search zombiedaemon");
    assert!(hits[0].gone && hits[0].snippet.contains("4711"), "{hits:?}");
    assert!(case.run("list").contains("why is the port"), "{}", case.run("list"));
}

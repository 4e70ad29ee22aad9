//! `search --regex`: the pattern is taken as it stands, and finds what stands in the texts.

use super::case::Case;
use super::store::Hit;

const HOME: &str = r#"
//- projects/-w/0aaaaaaa-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"uuid":"a1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:00.000Z","cwd":"/w","gitBranch":"main","version":"2.1.100","type":"user","message":{"role":"user","content":"why does \"cargo test\" fail?"}}
{"parentUuid":"a1","uuid":"a2","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:05.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test"}}],"stop_reason":"tool_use"}}
{"parentUuid":"a2","uuid":"a3","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:06.000Z","cwd":"/w","version":"2.1.100","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"running 1 test\nthread 'main' panicked at src/lib.rs:7:19:\ncalled `Option::unwrap()` on a `None` value"}]}}
{"parentUuid":"a3","uuid":"a4","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:09.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"It panicked at src/lib.rs:7."}],"stop_reason":"end_turn"}}
//- projects/-w/0ccccccc-0000-4000-8000-000000000003.jsonl
{"parentUuid":null,"uuid":"a1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:00.000Z","cwd":"/w","gitBranch":"main","version":"2.1.100","type":"user","message":{"role":"user","content":"why does \"cargo test\" fail?"}}
{"parentUuid":"a1","uuid":"c2","sessionId":"0ccccccc-0000-4000-8000-000000000003","timestamp":"2026-04-22T10:00:05.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m7","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"no idea"}],"stop_reason":"end_turn"}}
//- projects/-x/0bbbbbbb-0000-4000-8000-000000000002.jsonl
{"parentUuid":null,"uuid":"b1","sessionId":"0bbbbbbb-0000-4000-8000-000000000002","timestamp":"2026-04-21T10:00:00.000Z","cwd":"/x","version":"2.1.100","type":"user","message":{"role":"user","content":"it panicked at src/main.rs:12"}}
"#;

fn search(case: &Case, args: &[&str]) -> String {
    case.shown(&case.command().arg("search").args(args).output().unwrap())
}

fn hits(case: &Case, args: &[&str]) -> Vec<(String, u32, String, String)> {
    let output = case.command().args(["search", "--json"]).args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let one = |line: &str| {
        let hit: Hit = serde_json::from_str(line).expect(line);
        let marked = hit.marks.iter().map(|mark| &hit.snippet[mark.start..mark.end]);
        let marked = marked.collect::<Vec<_>>().join("|");
        (hit.session[..8].into(), hit.entry, hit.role, marked)
    };
    text.lines().map(one).collect()
}

fn hit(session: &str, entry: u32, role: &str, marked: &str) -> (String, u32, String, String) {
    (session.into(), entry, role.into(), marked.into())
}

#[test]
fn turns_are_found_newest_first_each_once() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(search(&case, &["--regex", r"panicked at \S+:\d+"]), @r#"
    exit 0
    --- stdout
    0bbbbbbb  it panicked at src/main.rs:12  /x, 2026-04-21 10:00
      #1 prompt  it panicked at src/main.rs:12
    0aaaaaaa  why does "cargo test" fail?  /w, 2026-04-20 10:00
      #3 output  running 1 test thread 'main' panicked at src/lib.rs:7:19: called `Option::unwrap()` on a `None` value
    --- stderr
    note: `recount show 0bbbbbbb --entry 1` opens the first
    "#);
    insta::assert_snapshot!(search(&case, &["--regex", "cargo|panicked", "--limit", "1", "--flat"]), @"
    exit 0
    --- stdout
    0bbbbbbb  it panicked at src/main.rs:12  /x, 2026-04-21 10:00
      #1 prompt  it panicked at src/main.rs:12
    --- stderr
    note: 1 of 2 turns, the newest first; more: `--offset 1`
    note: `recount show 0bbbbbbb --entry 1` opens the first
    ");
}

#[test]
fn the_pattern_is_taken_as_it_stands() {
    let case = Case::new(HOME);
    let prompt = |marked: &str| vec![hit("0aaaaaaa", 1, "prompt", marked)];
    assert_eq!(hits(&case, &["--regex", "\"cargo test\" fail"]), prompt("\"cargo test\" fail"));
    assert_eq!(hits(&case, &["--regex", "  fail"]), []);
    assert_eq!(hits(&case, &["--regex", "WHY"]), []);
    assert_eq!(hits(&case, &["--regex", "(?i)WHY"]), prompt("why"));
    let output = |marked: &str| vec![hit("0aaaaaaa", 3, "output", marked)];
    assert_eq!(hits(&case, &["--regex", "^thread.*:$", "role:output"]).len(), 1);
    assert_eq!(hits(&case, &["--regex", r":\ncalled `Option"]), output(":\ncalled `Option"));
    // The pattern looks like a flag, and like a filter.
    assert_eq!(hits(&case, &["--regex", "--nothing"]), []);
    assert_eq!(hits(&case, &["--regex", "role:prompt"]), []);
}

#[test]
fn filters_say_where_to_look() {
    let case = Case::new(HOME);
    let find = |filters: &[&str]| {
        let found = hits(&case, &[&["--regex", "panicked"], filters].concat());
        found.iter().map(|(id, entry, ..)| format!("{} {entry}", &id[..3])).collect::<Vec<_>>()
    };
    assert_eq!(find(&[]), ["0bb 1", "0aa 3"]);
    assert_eq!(find(&["project:/x"]), ["0bb 1"]);
    assert_eq!(find(&["--", "-project:/x"]), ["0aa 3"]);
    assert_eq!(find(&["role:answer"]), ["0aa 4"]);
    assert_eq!(find(&["tool:bash", "error:yes"]), ["0aa 3"]);
    assert_eq!(find(&["tool:bash -error:yes"]), [] as [&str; 0]);
    assert_eq!(find(&["before:2026-04-21"]), ["0aa 3"]);
    assert_eq!(find(&["session:0b"]), ["0bb 1"]);
}

#[test]
fn what_makes_no_sense_is_said_with_its_place() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(search(&case, &["--regex", "ä(b"]), @r"
    exit 2
    --- stderr
    error: `ä(b` is no regular expression: unclosed group at `(`, character 2
    hint: A backslash makes a sign stand for itself, as in `\(`
    ");
    insta::assert_snapshot!(search(&case, &["--regex", "a", "project:x", "word"]), @"
    exit 2
    --- stderr
    error: this is no filter, and beside a regular expression there are only filters at `word`
    ");
    insta::assert_snapshot!(search(&case, &["--regex", "nowhere at all"]), @"
    exit 1
    --- stderr
    note: Nothing found
    ");
}

#[test]
fn what_is_gone_is_read_from_the_archive() {
    let case = Case::new(HOME);
    assert_eq!(hits(&case, &["--regex", "panicked"]).len(), 2);
    std::fs::remove_dir_all(case.claude().join("projects/-x")).unwrap();
    let found = search(&case, &["--regex", r"main\.rs:1."]);
    assert!(found.contains("kept in the store only") && found.contains("main.rs:12"), "{found}");
}

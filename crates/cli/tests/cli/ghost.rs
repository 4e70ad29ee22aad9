//! Sessions of which only what was typed is left.

use std::fs;

use serde_json::Value;

use super::case::Case;
use super::store::Hit;

const GONE: &str = "77c0ffee-0000-4000-8000-000000000003";

// The hash is that of the text of the paste.
const HOME: &str = r#"
//- projects/-code-app/3f2a91c0-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"uuid":"a1","sessionId":"3f2a91c0-0000-4000-8000-000000000001","timestamp":"2026-04-20T08:12:35.000Z","cwd":"/code/app","gitBranch":"main","version":"2.1.100","type":"user","message":{"role":"user","content":"still here, harbour"}}
//- projects/-code-app/55555555-0000-4000-8000-000000000005.jsonl.orphaned-1776000000000
{"parentUuid":null,"uuid":"e1","sessionId":"55555555-0000-4000-8000-000000000005","timestamp":"2026-04-20T08:12:35.000Z","cwd":"/code/app","version":"2.1.100","type":"user","message":{"role":"user","content":"put aside"}}
//- history.jsonl
{"display":"very old lantern","pastedContents":{},"timestamp":1759000000000,"project":"/code/app"}
{"display":"mend the lantern","pastedContents":{},"timestamp":1769000000000,"project":"/code/tool","sessionId":"77c0ffee-0000-4000-8000-000000000003"}
{"display":"now see [Pasted text #1] [Pasted text #2 +90 lines]","pastedContents":{"1":{"id":1,"type":"text","content":"a quokka"},"2":{"id":2,"type":"text","contentHash":"477bddee11090559"}},"timestamp":1769004080000,"project":"/code/tool","sessionId":"77c0ffee-0000-4000-8000-000000000003"}
{"display":"still here, harbour","pastedContents":{},"timestamp":1776672755000,"project":"/code/app","sessionId":"3f2a91c0-0000-4000-8000-000000000001"}
{"display":"put aside","pastedContents":{},"timestamp":1776672755000,"project":"/code/app","sessionId":"55555555-0000-4000-8000-000000000005"}
//- paste-cache/477bddee11090559.txt
long text
//- sessions/1.json
{"pid":999999999}
"#;

const LATE: &str = r#"{"display":"is the lantern lit","pastedContents":{},"timestamp":1769005000000,"project":"/code/tool","sessionId":"77c0ffee-0000-4000-8000-000000000003"}
{"display":"another lantern","pastedContents":{},"timestamp":1769006000000,"project":"/code/barge","sessionId":"88888888-0000-4000-8000-000000000008"}
"#;

fn append(case: &Case, text: &str) {
    let path = case.claude().join("history.jsonl");
    fs::write(&path, fs::read_to_string(&path).unwrap() + text).unwrap();
}

/// The hits of a search, each as `session #prompt`.
fn hits(case: &Case, query: &str) -> Vec<String> {
    let output =
        case.command().arg("search").args(query.split(' ')).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let hits = text.lines().map(|line| serde_json::from_str::<Hit>(line).expect(line));
    let mut all: Vec<String> = hits
        .map(|hit| {
            assert_eq!(hit.ghost, hit.file.ends_with("history.jsonl"), "{hit:?}");
            format!("{} #{} {}", &hit.session[..4], hit.entry, hit.role)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_list_has_its_ghosts() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("list"), @"
    exit 0
    --- stdout
    SESSION   STARTED           STATE        PROJECT  BRANCH      TIME  TURNS  CALLS  ERRORS  FILES  LINES   SIZE  TITLE
    3f2a91c0  2026-04-20 08:12  interrupted  app      main         0 s      1      0       0                251 B  still here, harbour
    77c0ffee  2026-01-21 12:53  ghost        tool             1 h 08 m      2                                      mend the lantern
    --- stderr
    note: 2 sessions
    note: 1 is a ghost: only its prompts are left
    ");
    insta::assert_snapshot!(case.run("list --project tool --until 2026-02-01"), @"
    exit 0
    --- stdout
    SESSION   STARTED           STATE  PROJECT  BRANCH      TIME  TURNS  CALLS  ERRORS  FILES  LINES  SIZE  TITLE
    77c0ffee  2026-01-21 12:53  ghost  tool             1 h 08 m      2                                     mend the lantern
    --- stderr
    note: 1 session
    note: 1 is a ghost: only its prompts are left
    ");
    assert!(!case.run("list --branch main").contains("ghost"));
    assert!(!case.run("list --since 2026-04-01").contains("ghost"));
    insta::assert_snapshot!(case.run("list --projects"), @"
    exit 0
    --- stdout
    LAST              SESSIONS  TURNS  CALLS  ERRORS   SIZE  PROJECT
    2026-04-20 08:12         1      1      0       0  251 B  /code/app
    2026-01-21 14:01         1      2      0       0    0 B  /code/tool
    ");
}

#[test]
fn what_is_not_known_of_a_ghost_is_null() {
    let all: Vec<Value> = Case::new(HOME).json("list");
    let ghost = all.iter().find(|session| session["session"] == GONE).unwrap();
    let known: Vec<String> = ghost
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| !value.is_null() && **value != Value::Array(Vec::new()))
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    insta::assert_snapshot!(known.join("\n"), @r#"
    duration_ms 4080000
    ended "2026-01-21T14:01:20.000Z"
    notes 0
    project "/code/tool"
    session "77c0ffee-0000-4000-8000-000000000003"
    standing "ghost"
    star false
    started "2026-01-21T12:53:20.000Z"
    state "ghost"
    title "mend the lantern"
    title_source "first-prompt"
    turns 2
    type "session"
    "#);
    assert!(all.iter().all(|session| session["session"] != "55555555-0000-4000-8000-000000000005"));
}

/// The list says the same whether the history is on disk or only kept.
#[test]
fn a_kept_history_has_the_same_ghosts() {
    let case = Case::new(HOME);
    let before = case.run("list");
    case.run("sync");
    assert_eq!(case.run("list"), before);
    fs::remove_file(case.claude().join("history.jsonl")).unwrap();
    assert_eq!(case.run("list"), before);
    assert_eq!(hits(&case, "mend lantern"), ["77c0 #1 prompt"]);
}

#[test]
fn what_was_typed_in_a_ghost_is_found() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("search lantern"), @"
    exit 0
    --- stdout
    77c0ffee  mend the lantern  /code/tool, 2026-01-21 14:01, only its prompts are left
      #1 prompt  mend the lantern
    --- stderr
    note: `recount history --session 77c0ffee` opens the first
    ");
    assert_eq!(hits(&case, "quokka"), ["77c0 #2 prompt"]);
    assert_eq!(hits(&case, "long text"), ["77c0 #2 prompt"]);
    // What a transcript has is found there, and only there.
    assert_eq!(hits(&case, "harbour"), ["3f2a #1 prompt"]);
    for (filters, found) in [
        ("project:tool", 1),
        ("project:app", 0),
        ("session:77c0", 1),
        ("role:answer", 0),
        ("after:2026-02-01", 0),
        ("in:abandoned", 0),
    ] {
        assert_eq!(hits(&case, &format!("lantern {filters}")).len(), found, "{filters}");
        assert_eq!(hits(&case, &format!("--regex lant.rn {filters}")).len(), found, "{filters}");
    }
}

#[test]
fn ghosts_come_and_go() {
    let case = Case::new(HOME);
    assert_eq!(hits(&case, "lantern"), ["77c0 #1 prompt"]);
    append(&case, LATE);
    let three = ["77c0 #1 prompt", "77c0 #3 prompt", "8888 #1 prompt"];
    assert_eq!(hits(&case, "lantern"), three);
    assert_eq!(hits(&case, "--regex lantern"), three);
    // A transcript turns up: what it says is found, and what was typed is not found twice.
    case.write(
        &format!("projects/-code-tool/{GONE}.jsonl"),
        &format!("{{\"parentUuid\":null,\"uuid\":\"g1\",\"sessionId\":\"{GONE}\",\"timestamp\":\"2026-01-21T12:53:20.000Z\",\"cwd\":\"/code/tool\",\"version\":\"2.1.1\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"mend the lantern\"}}}}\n"),
    );
    let two = ["77c0 #1 prompt", "8888 #1 prompt"];
    assert_eq!(hits(&case, "lantern"), two);
    assert_eq!(hits(&case, "--regex lantern"), two);
    assert_eq!(hits(&case, "quokka"), [] as [&str; 0]);
    assert_eq!(case.run("list").matches(" ghost ").count(), 1);
    // What is kept is no ghost.
    fs::remove_dir_all(case.claude().join("projects/-code-tool")).unwrap();
    assert_eq!(hits(&case, "lantern"), two);
    assert_eq!(case.run("list").matches(" ghost ").count(), 1);
    // A history that was cleared has none any more.
    case.write("history.jsonl", "");
    assert_eq!(hits(&case, "lantern"), ["77c0 #1 prompt"]);
    assert_eq!(case.run("list").matches(" ghost ").count(), 0);
}

#[test]
fn an_index_made_anew_has_the_ghosts() {
    let case = Case::new(HOME);
    assert_eq!(hits(&case, "lantern"), ["77c0 #1 prompt"]);
    let store = case.claude().parent().unwrap().join(".local/share/recount");
    let index = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    let index = index.into_iter().find(|path| path.to_string_lossy().contains("index-v")).unwrap();
    fs::remove_dir_all(index).unwrap();
    assert_eq!(hits(&case, "lantern"), ["77c0 #1 prompt"]);
}

#[test]
fn to_show_a_ghost_says_what_is_left() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("show 77c0"), @"
    exit 2
    --- stderr
    error: Of session `77c0ffee` only 2 prompts are left: its transcript is gone
    hint: `recount history --session 77c0ffee` shows what was typed
    ");
    assert!(case.run("tree 77c0").contains("only 2 prompts are left"));
    assert!(case.run("show 7777").contains("No session `7777`"));
}

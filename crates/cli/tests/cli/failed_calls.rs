//! `recount errors`.

use super::case::Case;
use super::list::HOME;
use serde::Deserialize;
use serde_json::{Value, json};

#[test]
fn failed_calls_with_what_helped() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("errors --fixes"), @"
    exit 0
    --- stdout
    Bash  2026-01-05 10:00 aaaa1111 entry 3
      cargo test
        Exit code 101
        error[E0425]: cannot find value `flag` in src/main.rs
      then entry 6 worked (same-subject, changed command): cargo test --all

    Read  2026-01-05 10:00 aaaa1111 agent a0123456789abcdef entry 3
      /none
        File does not exist.
    --- stderr
    note: 2 failed calls
    ");
    insta::assert_snapshot!(case.run("errors --summary"), @"
    exit 0
    --- stdout
    COUNT  SESSIONS  LAST              TOOL  ERROR
        1         1  2026-01-05 10:00  Read  File does not exist.
        1         1  2026-01-05 10:00  Bash  error[E0425]: cannot find value '…' in PATH
    ");
}

#[test]
fn the_json_has_the_fields_that_scripts_know() {
    let case = Case::new(HOME);
    let errors = case.json::<Error>("errors");
    assert_eq!(errors.len(), 2, "the copy is counted once, the subagent's own");
    let first = &errors[0];
    assert_eq!(first.tool.as_deref(), Some("Bash"));
    assert_eq!(first.input, Some(json!({"command": "cargo test", "description": "Run tests"})));
    assert_eq!(
        first.error,
        Some(json!("Exit code 101\nerror[E0425]: cannot find value `flag` in src/main.rs"))
    );
    assert_eq!(first.tool_use_id.as_deref(), Some("toolu_1"));
    assert_eq!((first.entry, first.turn, first.state.as_str()), (3, Some(1), "active"));
    assert!(first.session.as_deref().unwrap().starts_with("aaaa1111"));
    let agents = &errors[1];
    assert_eq!(agents.agent.as_deref(), Some("a0123456789abcdef"));
    assert_eq!(agents.error, Some(json!([{"type": "text", "text": "File does not exist."}])));
    assert_eq!(case.json::<Error>("errors bbbb").len(), 1, "a named copy shows what it holds");
}

#[test]
fn an_array_also_when_there_are_none() {
    let case = Case::new(HOME);
    let run = |args: &str| case.command().args(args.split(' ')).output().unwrap();
    let all: Vec<Error> = serde_json::from_slice(&run("errors --array").stdout).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(run("errors cccc --array").stdout, b"[]\n");
}

#[test]
fn seed_002_is_read_from_standard_input() {
    // The example of the script that prints `tool, input, error, tool_use_id`.
    let lines = r#"{"type":"system","subtype":"init","session_id":"uuid-string","cwd":"/path/to/project","model":"claude-opus-4-5-20251101","tools":["Task","Bash","Read","Edit","..."]}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_xxxxx","name":"Bash","input":{"command":"ls /nonexistent","description":"List directory"}}]}}
{"type":"user","content":[{"type":"tool_result","tool_use_id":"toolu_xxxxx","content":"ls: cannot access '/nonexistent': No such file or directory","is_error":true}]}
{"type":"result","subtype":"success","total_cost_usd":0.112,"num_turns":5,"duration_ms":6590}
"#;
    let case = Case::new("");
    let output =
        case.command().args(["errors", "-", "--array"]).write_stdin(lines).output().unwrap();
    let errors: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let error = &errors[0];
    assert_eq!(error["tool"], "Bash");
    assert_eq!(
        error["input"],
        json!({"command": "ls /nonexistent", "description": "List directory"})
    );
    assert_eq!(error["error"], "ls: cannot access '/nonexistent': No such file or directory");
    assert_eq!(error["tool_use_id"], "toolu_xxxxx");
}

/// Every planted error is found, each once, with tool, input and text.
#[test]
fn made_homes_give_exactly_the_planted_errors() {
    for (shape, bytes) in [(testkit::Shape::Seeds, 6_000_000), (testkit::Shape::Lean, 2_000_000)] {
        let dir = tempfile::tempdir().unwrap();
        let truth = testkit::make(&testkit::Spec { seed: 3, shape, bytes }, dir.path()).unwrap();
        let case = Case::new("");
        let output = case
            .command()
            .args(["errors", "--json", "--claude-dir"])
            .arg(dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut got: Vec<(String, Value, String, String)> = text
            .lines()
            .map(|line| serde_json::from_str::<Error>(line).unwrap())
            .filter(|e| e.agent.is_none())
            .map(|e| {
                let error = e.error.unwrap().as_str().unwrap().to_owned();
                (e.tool.unwrap(), e.input.unwrap(), error, e.tool_use_id.unwrap())
            })
            .collect();
        let mut planted: Vec<_> = truth
            .sessions
            .iter()
            .flat_map(|s| &s.errors)
            .map(|e| (e.tool.clone(), e.input.clone(), e.error.clone(), e.tool_use_id.clone()))
            .collect();
        got.sort_by(|a, b| a.3.cmp(&b.3));
        planted.sort_by(|a, b| a.3.cmp(&b.3));
        assert!(planted.len() > 5);
        assert_eq!(got, planted);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Error {
    r#type: String,
    tool: Option<String>,
    input: Option<Value>,
    error: Option<Value>,
    tool_use_id: Option<String>,
    session: Option<String>,
    agent: Option<String>,
    file: String,
    entry: u32,
    offset: u64,
    time: Option<String>,
    state: String,
    turn: Option<usize>,
    fix: Option<Value>,
}

//! Entries of one session in the file of another: they have one owner, whoever is asked.

use serde_json::Value;

use super::case::Case;

const HOST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const GUEST: &str = "dddddddd-0000-4000-8000-000000000009";

/// A prompt, a call, its result and an answer. `ids` are the sessions that the four lines name.
fn talk(first: usize, prompt: &str, ids: [&str; 4]) -> String {
    let uuid = |at: usize| format!("00000000-0000-4000-8000-{:012}", first + at);
    let line = |at: usize, kind: &str, message: String| {
        let parent = if at == 0 { "null".into() } else { format!("\"{}\"", uuid(at - 1)) };
        let (id, own) = (ids[at], uuid(at));
        let second = first + at;
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/p/x","sessionId":"{id}","version":"2.1.240","uuid":"{own}","timestamp":"2026-10-05T12:00:{second:02}.000Z","type":"{kind}","message":{message}}}"#
        ) + "\n"
    };
    let answer = |at: usize, block: String| {
        let message = first + at;
        line(
            at,
            "assistant",
            format!(
                r#"{{"id":"msg_{message}","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{block}],"stop_reason":"end_turn","usage":{{"input_tokens":10,"output_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}}"#
            ),
        )
    };
    let call = format!(
        r#"{{"type":"tool_use","id":"toolu_{first}","name":"Bash","input":{{"command":"ls {first}"}}}}"#
    );
    let result = format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{first}","is_error":true,"content":"no such file"}}]}}"#
    );
    line(0, "user", format!(r#"{{"role":"user","content":"{prompt}"}}"#))
        + &answer(1, call)
        + &line(2, "user", result)
        + &answer(3, r#"{"type":"text","text":"Done."}"#.into())
}

/// The host's own talk, in which an old resume left the guest's id on two lines, and a talk of the
/// guest that hangs on nothing of the host.
fn home() -> String {
    let own = talk(1, "mine", [HOST, GUEST, GUEST, HOST]);
    let guest = talk(11, "guest question", [GUEST; 4]);
    format!("//- projects/-p-x/{HOST}.jsonl\n{own}{guest}")
}

fn rows(case: &Case, command: &[&str]) -> Vec<Value> {
    let output = case.command().args(command).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What each session has of something, the host first.
fn shares(rows: &[Value], number: &str) -> [Option<u64>; 2] {
    [HOST, GUEST].map(|id| rows.iter().find(|row| row["session"] == id)?[number].as_u64())
}

fn every_door_agrees(case: &Case) {
    assert_eq!(shares(&rows(case, &["list"]), "calls"), [Some(1); 2]);
    assert_eq!(shares(&rows(case, &["list"]), "errors"), [Some(1); 2]);
    assert_eq!(shares(&rows(case, &["usage", "session"]), "requests"), [Some(2); 2]);
    let sql = |table: &str| {
        let sql = format!("SELECT session, count(*) AS n FROM {table} GROUP BY session");
        shares(&rows(case, &["sql", &sql]), "n")
    };
    assert_eq!(sql("calls"), [Some(1); 2]);
    assert_eq!(sql("requests"), [Some(2); 2]);
    assert_eq!(sql("entries"), [Some(4); 2]);
    let placed = "SELECT session, count(entry) AS n FROM requests GROUP BY session";
    assert_eq!(shares(&rows(case, &["sql", placed]), "n"), [Some(2); 2]);
    let errors = rows(case, &["errors"]);
    let of = |id: &str| errors.iter().filter(|row| row["session"] == id).count();
    assert_eq!((of(HOST), of(GUEST)), (1, 1));
    let tools = rows(case, &["tools"]);
    assert_eq!(tools[0]["calls"], 2);
}

#[test]
fn entries_of_another_session_have_one_owner_everywhere() {
    let case = Case::new(&home());
    every_door_agrees(&case);
    assert!(case.run("sync").starts_with("exit 0"));
    every_door_agrees(&case);
}

#[test]
fn entries_that_both_files_have_are_counted_once() {
    let guest = talk(11, "guest question", [GUEST; 4]);
    let case = Case::new(&format!("{}//- projects/-p-x/{GUEST}.jsonl\n{guest}", home()));
    every_door_agrees(&case);
    assert!(case.run("sync").starts_with("exit 0"));
    every_door_agrees(&case);
}

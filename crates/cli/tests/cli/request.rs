//! `recount request`, and `context` where requests are recorded.
//!
//! The hashes of the fixture were worked out apart from the program: SHA-256 of the JSON with
//! sorted keys and no white space.

use super::case::Case;
use serde_json::Value;

pub const MINE: &str = r#"
//- projects/-home-x-mine/7e57aaaa-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"isSidechain":false,"cwd":"/home/x/mine","sessionId":"7e57aaaa-0000-4000-8000-000000000001","version":"2.1.326","uuid":"u1","timestamp":"2026-11-01T10:00:01.000Z","type":"user","message":{"role":"user","content":"Dig for gold"}}
{"type":"api-request-shape","sessionId":"7e57aaaa-0000-4000-8000-000000000001","shapeHash":"ed9178e3b8c222da4867668dfa6b32b49fc58037f6373ba239e30de0f537273d","timestamp":"2026-11-01T10:00:02.000Z","version":"2.1.326","shape":{"system":[{"type":"text","text":"You dig.\nYou stop at water."}],"tools":[{"name":"Dig","description":"Digs","input_schema":{"type":"object"}}]}}
{"type":"api-request-blob","sessionId":"7e57aaaa-0000-4000-8000-000000000001","hash":"2a572cc630e9b3f8cbaf9e9ed6f15e5a3498ab5a57a7604c8e5de809434ab419","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nThe mine is dark.\n</system-reminder>"},{"type":"text","text":"Dig for gold"}]}}
{"type":"api-request-blob","sessionId":"7e57aaaa-0000-4000-8000-000000000001","hash":"4143194eeb7ca31945655f6a19543762a675ab0a2ca1a78550fecb52accfd699","message":{"role":"system","content":"It is Tuesday.","output_config":{"effort":"low"}}}
{"type":"api-request","sessionId":"7e57aaaa-0000-4000-8000-000000000001","id":"req-1","timestamp":"2026-11-01T10:00:02.000Z","version":"2.1.326","querySource":"repl_main_thread","shapeHash":"ed9178e3b8c222da4867668dfa6b32b49fc58037f6373ba239e30de0f537273d","params":{"model":"claude-opus-5-5","max_tokens":500},"keep":0,"tail":["2a572cc630e9b3f8cbaf9e9ed6f15e5a3498ab5a57a7604c8e5de809434ab419","4143194eeb7ca31945655f6a19543762a675ab0a2ca1a78550fecb52accfd699"],"cacheControl":[{"path":["system",0],"value":{"type":"ephemeral"}},{"path":["messages",1,"content",0],"value":{"type":"ephemeral"}}],"requestDigest":"e8472e673d96ac4646e0194ae8d03b0c088da646056e1990150a7ec5412f224c"}
{"type":"tools-used","tools":["Dig"],"sessionId":"7e57aaaa-0000-4000-8000-000000000001"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/home/x/mine","sessionId":"7e57aaaa-0000-4000-8000-000000000001","version":"2.1.326","uuid":"a1","timestamp":"2026-11-01T10:00:03.000Z","type":"assistant","requestRef":"req-1","message":{"model":"claude-opus-5-5","id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Digging."}],"stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}}}
{"parentUuid":"a1","isSidechain":false,"cwd":"/home/x/mine","sessionId":"7e57aaaa-0000-4000-8000-000000000001","version":"2.1.326","uuid":"a2","timestamp":"2026-11-01T10:00:04.000Z","type":"assistant","requestRef":"req-1","message":{"model":"claude-opus-5-5","id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Dig","input":{"metres":2}}],"stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}}}
{"parentUuid":"a2","isSidechain":false,"cwd":"/home/x/mine","sessionId":"7e57aaaa-0000-4000-8000-000000000001","version":"2.1.326","uuid":"r1","timestamp":"2026-11-01T10:00:05.000Z","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Gold!"}]},"toolUseResult":{"found":true}}
{"type":"api-request-shape","sessionId":"7e57aaaa-0000-4000-8000-000000000001","shapeHash":"c5e03dde81fac1e5bb8e49655e95a705aaac5be3e0486754f94f6e065413ea8a","timestamp":"2026-11-01T10:00:06.000Z","version":"2.1.326","shape":{"system":[{"type":"text","text":"You dig.\nYou stop at water."}],"tools":[{"name":"Dig","description":"Digs deeper","input_schema":{"type":"object"}},{"name":"Wash","input_schema":{"type":"object"}}]}}
{"type":"api-request","sessionId":"7e57aaaa-0000-4000-8000-000000000001","id":"req-2","timestamp":"2026-11-01T10:00:06.000Z","version":"2.1.326","querySource":"repl_main_thread","shapeHash":"c5e03dde81fac1e5bb8e49655e95a705aaac5be3e0486754f94f6e065413ea8a","params":{"model":"claude-opus-5-5","max_tokens":900},"base":"req-1","keep":2,"tail":["5cb958b946be39c9192f737e0aba20aaabc829f054f51d1bab32aba8477d3076","67bbfecd2eb72d754c862028985da52f5f094f7e091d12fdfbee4ca04b92cec1"],"cacheControl":[{"path":["system",0],"value":{"type":"ephemeral"}},{"path":["messages",3,"content",0],"value":{"type":"ephemeral"}}],"requestDigest":"96ff4861577d47ac5dfb1667394faf5d07eca3eb32b7476cab4c7d73446240e9"}
{"parentUuid":"r1","isSidechain":false,"cwd":"/home/x/mine","sessionId":"7e57aaaa-0000-4000-8000-000000000001","version":"2.1.326","uuid":"a3","timestamp":"2026-11-01T10:00:07.000Z","type":"assistant","requestRef":"req-2","message":{"model":"claude-opus-5-5","id":"msg_2","type":"message","role":"assistant","content":[{"type":"text","text":"There is gold."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":4,"cache_read_input_tokens":190,"cache_creation_input_tokens":0}}}
"#;

#[test]
fn the_last_request_is_rebuilt_and_verified() {
    let case = Case::new(MINE);
    let all: Vec<Value> = case.json("request 7e57");
    let [request] = all.as_slice() else { panic!("one line, not {all:?}") };
    assert_eq!((&request["id"], &request["verified"]), (&"req-2".into(), &true.into()));
    assert_eq!((&request["entry"], &request["missing"]), (&11.into(), &Value::Array(vec![])));
    assert_eq!(request["params"]["max_tokens"], 900);
    assert_eq!(request["system"][0], "You dig.\nYou stop at water.");
    assert_eq!(request["tools"][1]["name"], "Wash");
    let messages = request["messages"].as_array().expect("messages");
    let shown: Vec<String> = messages
        .iter()
        .map(|m| format!("{} {} {} {}", m["role"], m["found"], m["entries"], m["kept"]))
        .collect();
    assert_eq!(
        shown,
        [
            r#""user" "blob" [3] true"#,
            r#""system" "blob" [4] true"#,
            r#""assistant" "entries" [7,8] false"#,
            r#""user" "entries" [9] false"#,
        ]
    );
    assert_eq!(messages[2]["message"]["content"][1]["input"]["metres"], 2);
    assert_eq!(request["cache_breakpoints"][1]["path"], "messages[3].content[0]");
    let changes = &request["changes"];
    assert_eq!((&changes["previous"], &changes["system"]), (&"req-1".into(), &false.into()));
    assert_eq!(changes["tools_added"], serde_json::json!(["Wash"]));
    assert_eq!(changes["tools_changed"], serde_json::json!(["Dig"]));
    assert_eq!(changes["params"][0]["name"], "max_tokens");
    assert_eq!(
        (&changes["messages_kept"], &changes["messages_dropped"], &changes["messages_added"]),
        (&2.into(), &0.into(), &2.into())
    );
    // 10 anew and 190 from the cache; all parts together are at most that.
    let tokens = &request["tokens"];
    assert_eq!(tokens["reported"], 200);
    let sum = |list: &Value| -> u64 {
        let parts = list.as_array().into_iter().flatten();
        parts.filter_map(|part| part["tokens"].as_u64()).sum()
    };
    let all =
        tokens["system"].as_u64().unwrap_or(0) + sum(&tokens["tools"]) + sum(&tokens["messages"]);
    assert!((190..=200).contains(&all), "{tokens}");
}

#[test]
fn an_entry_has_the_request_that_it_answers() {
    let case = Case::new(MINE);
    let id = |name: &str| case.json::<Value>(&format!("request {name}"))[0]["id"].clone();
    assert_eq!(id("7e57:8"), "req-1");
    assert_eq!(id("7e57 --entry 12"), "req-2");
    assert_eq!(id("7e57:5"), "req-1");
    // A prompt or a result is in the request that follows it.
    assert_eq!((id("7e57:1"), id("7e57:9")), ("req-1".into(), "req-2".into()));
    let first: Vec<Value> = case.json("request 7e57:5");
    assert_eq!((&first[0]["verified"], &first[0]["changes"]), (&true.into(), &Value::Null));
}

#[test]
fn what_the_file_does_not_have_is_said() {
    let line = MINE.lines().find(|line| line.contains("It is Tuesday.")).expect("a blob");
    let gone = MINE
        .replace(&format!("{line}\n"), "")
        .replace("\"keep\":0", "\"base\":\"req-0\",\"keep\":7");
    let case = Case::new(&gone);
    let request = &case.json::<Value>("request 7e57")[0];
    assert_eq!(request["verified"], Value::Null);
    let kinds: Vec<&str> = request["missing"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|missing| missing["kind"].as_str())
        .collect();
    assert!(kinds.contains(&"base") && kinds.contains(&"message"), "{kinds:?}");
    let shown = case.run("request 7e57");
    assert!(shown.contains("not whole: parts of it are not in the file"), "{shown}");
    assert!(
        shown.contains("messages of the base request req-0, which is not in the file"),
        "{shown}"
    );
    // A changed message is not taken for the one that was sent.
    let changed = Case::new(&MINE.replace("It is Tuesday.", "It is Monday."));
    let shown = changed.run("request 7e57");
    assert!(shown.contains("message 2: the blob does not have the hash"), "{shown}");
    let none = Case::new(super::list::HOME).run("request aaaa");
    assert!(none.starts_with("exit 1") && none.contains("No request is recorded"), "{none}");
}

#[test]
fn a_context_says_which_way_it_was_made() {
    let case = Case::new(MINE);
    let rows: Vec<Value> = case.json("context 7e57");
    assert_eq!((&rows[0]["type"], &rows[0]["made_from"]), (&"context".into(), &"request".into()));
    assert_eq!((&rows[0]["messages"], &rows[0]["entries_after"]), (&4.into(), &1.into()));
    let shown = case.run("context 7e57");
    assert!(shown.contains("from the recorded request (4 messages, verified)"), "{shown}");
    assert!(shown.contains("Dig for gold") && shown.contains("There is gold."), "{shown}");
    let none = Case::new(super::list::HOME).run("context aaaa");
    assert!(none.contains("rebuilt from the transcript"), "{none}");
}

/// An answer that no request has was not sent: here one that the client dropped.
#[test]
fn the_request_decides_what_is_in_the_context() {
    let dropped = r#"{"parentUuid":"r1","isSidechain":false,"sessionId":"7e57aaaa-0000-4000-8000-000000000001","version":"2.1.326","uuid":"x1","timestamp":"2026-11-01T10:00:05.500Z","type":"user","message":{"role":"user","content":"<local-command-stdout>never sent</local-command-stdout>"}}"#;
    let result = MINE.lines().find(|line| line.contains("toolUseResult")).expect("a result");
    let home = MINE.replace(result, &format!("{result}\n{dropped}")).replace(
        "\"parentUuid\":\"r1\",\"isSidechain\":false,\"cwd\"",
        "\"parentUuid\":\"x1\",\"isSidechain\":false,\"cwd\"",
    );
    let shown = Case::new(&home).run("context 7e57");
    assert!(!shown.contains("never sent") && shown.contains("Dig for gold"), "{shown}");
}

#[test]
fn internal_lines_are_shown_at_level_5_alone() {
    let case = Case::new(MINE);
    for level in 1..=4 {
        let shown = case.run(&format!("show 7e57 --detail {level}"));
        for name in ["tools-used", "api-request", "requestDigest", "You stop at water"] {
            assert!(!shown.contains(name), "{name} at level {level}: {shown}");
        }
    }
    let raw = case.run("show 7e57 --detail 5");
    assert!(raw.contains("tools-used") && raw.contains("api-request-blob"), "{raw}");
}

/// The client writes requests and entries independently of each other.
#[test]
fn an_answer_that_stands_before_its_request_is_in_the_context() {
    let mut lines: Vec<&str> = MINE.trim_end().lines().collect();
    let answer = lines.pop().expect("the last line is the answer");
    lines.insert(lines.len() - 1, answer);
    let contexts = [MINE.to_owned(), lines.join("\n") + "\n"].map(|home| {
        let records: Vec<Value> = Case::new(&home).json("context 7e57");
        let texts = records.iter().map(|record| record["parts"].to_string());
        texts.filter(|parts| parts != "null").collect::<Vec<_>>()
    });
    assert!(!contexts[0].is_empty());
    assert_eq!(contexts[0], contexts[1]);
}

//! The tokens of one response are the same wherever they are shown.

use serde_json::Value;

use super::case::Case;

/// As versions before 2.1.152 wrote it: the flat sum of cache writes is 0, the parts are not.
const HOME: &str = r#"//- projects/-w/aaaaaaaa-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"isSidechain":false,"cwd":"/w","sessionId":"aaaaaaaa-0000-4000-8000-000000000001","version":"2.1.120","type":"user","message":{"role":"user","content":"go"},"uuid":"u1","timestamp":"2026-05-01T10:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/w","sessionId":"aaaaaaaa-0000-4000-8000-000000000001","version":"2.1.120","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":2000,"output_tokens":40,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":50}}},"uuid":"a1","timestamp":"2026-05-01T10:00:05.000Z"}
"#;

#[test]
fn cache_writes_that_only_the_parts_have_are_shown_everywhere() {
    let case = Case::new(HOME);
    // 3 + 2,000 + 150 + 40.
    let context = case.run("context aaaaaaaa");
    assert!(context.contains("2,193 tokens"), "{context}");
    let days: Vec<Value> = case.json("usage daily");
    let day = days.iter().find(|row| row["requests"] == 1).expect("a day");
    assert_eq!((&day["cache_write"], &day["cache_write_1h"]), (&150.into(), &50.into()));
    let sql =
        case.command().args(["sql", "--json", "SELECT * FROM requests"]).output().expect("it runs");
    let row: Value = serde_json::from_slice(&sql.stdout).expect("one row");
    let written: i64 = row
        .as_object()
        .expect("a row")
        .iter()
        .filter(|(name, _)| name.starts_with("cache_write"))
        .filter_map(|(_, value)| value.as_i64())
        .sum();
    assert_eq!(written, 150, "{row}");
}

/// What 2.1.326 writes for commands that changed files, and for a relative path.
const CHANGES: &str = r#"//- projects/-w/bbbbbbbb-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"isSidechain":false,"cwd":"/w","sessionId":"bbbbbbbb-0000-4000-8000-000000000001","version":"2.1.326","type":"user","message":{"role":"user","content":"go"},"uuid":"u1","timestamp":"2026-11-01T10:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/w","sessionId":"bbbbbbbb-0000-4000-8000-000000000001","version":"2.1.326","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"sed -i s/-/+/ calc.py"}}],"stop_reason":"tool_use"},"uuid":"a1","timestamp":"2026-11-01T10:00:01.000Z"}
{"parentUuid":"a1","isSidechain":false,"cwd":"/w","sessionId":"bbbbbbbb-0000-4000-8000-000000000001","version":"2.1.326","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":""}]},"toolUseResult":{"stdout":"","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false,"bashEditDiff":{"files":[{"filePath":"/w/calc.py","hunks":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":[" def add(a, b):","-    return a - b","+    return a + b"]}]}],"moreFiles":1,"changedFiles":["/w/calc.py","/w/long.txt"]}},"uuid":"r1","timestamp":"2026-11-01T10:00:02.000Z"}
{"parentUuid":"r1","isSidechain":false,"cwd":"/w/tree","sessionId":"bbbbbbbb-0000-4000-8000-000000000001","version":"2.1.326","type":"assistant","message":{"id":"m2","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"wt.txt","content":"x\n"}}],"stop_reason":"tool_use"},"uuid":"a2","timestamp":"2026-11-01T10:00:03.000Z"}
{"parentUuid":"a2","isSidechain":false,"cwd":"/w/tree","sessionId":"bbbbbbbb-0000-4000-8000-000000000001","version":"2.1.326","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]},"toolUseResult":{"type":"create","filePath":"wt.txt","content":"x\n","structuredPatch":[],"originalFile":null},"uuid":"r2","timestamp":"2026-11-01T10:00:04.000Z"}
"#;

#[test]
fn files_changed_by_commands_are_changes() {
    let case = Case::new(CHANGES);
    let change = |path: &str| -> Value {
        let rows: Vec<Value> = case.json(&format!("file {path}"));
        rows.into_iter().find(|row| row["type"] == "file_change").expect("a change")
    };
    let calc = change("/w/calc.py");
    assert_eq!(
        (&calc["tool"], &calc["added"], &calc["removed"]),
        (&"Bash".into(), &1.into(), &1.into())
    );
    assert_eq!(change("/w/long.txt")["unknown"], true);
    assert_eq!(change("/w/tree/wt.txt")["tool"], "Write");
    let list: Vec<Value> = case.json("list");
    assert_eq!(list[0]["files"], 3, "{}", list[0]);
    let shown = case.run("show bbbbbbbb --detail 3");
    assert!(shown.contains("+    return a + b") || shown.contains("return a + b"), "{shown}");
    assert!(shown.contains("/w/long.txt changed, size unknown"), "{shown}");
    let sql = case
        .command()
        .args(["sql", "--json", "SELECT file, tool, lines_added FROM edits ORDER BY file"])
        .output()
        .expect("it runs");
    let rows: Vec<Value> = String::from_utf8(sql.stdout)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    let seen: Vec<_> =
        rows.iter().map(|r| (r["file"].as_str(), r["lines_added"].as_i64())).collect();
    assert_eq!(
        seen,
        [
            (Some("/w/calc.py"), Some(1)),
            (Some("/w/long.txt"), None),
            (Some("/w/tree/wt.txt"), Some(1)),
        ]
    );
}

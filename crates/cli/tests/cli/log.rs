use super::case::Case;
use serde::Deserialize;

const HOME: &str = "\
//- projects/-work-app/3f2a91c0-0000-4000-8000-000000000001.jsonl
{\"parentUuid\":null,\"uuid\":\"u1\",\"sessionId\":\"3f2a91c0-0000-4000-8000-000000000001\",\"type\":\"user\",\"timestamp\":\"2025-12-07T04:17:26.000Z\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}
//- debug/3f2a91c0-0000-4000-8000-000000000001.txt
2025-12-07T04:17:24.497Z [DEBUG] Watching for changes in setting files...
2025-12-07T04:17:24.544Z [DEBUG] [LSP MANAGER] initializeLspServerManager() called
2025-12-07T04:17:25.377Z [ERROR] Error: x
    at y (z:1)
";

#[test]
fn by_level_category_and_text() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("log 3f2a"), @"
    exit 0
    --- stdout
    2025-12-07 04:17:24.497 DEBUG Watching for changes in setting files...
    2025-12-07 04:17:24.544 DEBUG [LSP MANAGER] initializeLspServerManager() called
    2025-12-07 04:17:25.377 ERROR Error: x
        at y (z:1)
    ");
    insta::assert_snapshot!(case.run("log latest --level error"), @"
    exit 0
    --- stdout
    2025-12-07 04:17:25.377 ERROR Error: x
        at y (z:1)
    ");
    insta::assert_snapshot!(case.run("log latest --grep LSPSERVER --level debug"), @"
    exit 0
    --- stdout
    2025-12-07 04:17:24.544 DEBUG [LSP MANAGER] initializeLspServerManager() called
    ");
    insta::assert_snapshot!(case.run("log latest --category none"), @"
    exit 1
    --- stderr
    note: Nothing found
    ");
}

#[test]
fn which_logs_there_are() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("log"), @"
    exit 0
    --- stdout
    MODIFIED   SIZE  SESSION
    just now  214 B  3f2a91c0-0000-4000-8000-000000000001
    ");
    insta::assert_snapshot!(case.run("log 4444"), @"
    exit 2
    --- stderr
    error: No debug log of session `4444`
    hint: `recount log` shows all debug logs
    ");
    insta::assert_snapshot!(case.run("log ."), @"
    exit 2
    --- stderr
    error: There are no debug logs of ~
    hint: `recount log` shows those of other folders
    ");
}

#[test]
fn a_file_or_standard_input_needs_no_claude_folder() {
    let case = Case::new("");
    std::fs::remove_dir(case.claude()).unwrap();
    let log = "2025-12-07T04:17:24.497Z [WARN] careful\n";
    let output = case.command().args(["log", "-"]).write_stdin(log).output().unwrap();
    insta::assert_snapshot!(case.shown(&output), @"
    exit 0
    --- stdout
    2025-12-07 04:17:24.497 WARN  careful
    ");
    insta::assert_snapshot!(case.run("log ./none.txt"), @"
    exit 2
    --- stderr
    error: Cannot read ./none.txt: it does not exist
    ");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct LogMessage {
    r#type: String,
    time: Option<String>,
    level: Option<String>,
    category: Option<String>,
    text: String,
    offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Log {
    r#type: String,
    session_id: String,
    modified: Option<String>,
    size: u64,
    path: String,
}

#[test]
fn json() {
    let case = Case::new(HOME);
    let messages: Vec<LogMessage> = case.json("log latest");
    assert!(messages.iter().all(|message| message.r#type == "log_message"));
    let last = messages.last().unwrap();
    assert_eq!((last.offset, &*last.text), (157, "Error: x\n    at y (z:1)"));
    assert_eq!(last.time.as_deref(), Some("2025-12-07T04:17:25.377Z"));
    let logs: Vec<Log> = case.json("log");
    assert_eq!((logs.len(), &*logs[0].r#type), (1, "log"));
}

#[test]
fn messages_stay_whole_over_blocks() {
    let case = Case::new("");
    // More than a block of 8 MB; long messages, since each costs time in a debug build.
    let filler = "x".repeat(64 << 10);
    let log: String = (0..140)
        .map(|n| format!("2025-12-07T04:17:24.497Z [DEBUG] message {n}\n{filler}\nend {n}\n"))
        .collect();
    case.write("debug/big.txt", &log);
    let messages: Vec<LogMessage> = case.json("log big");
    assert_eq!(messages.len(), 140);
    for (n, message) in messages.iter().enumerate() {
        assert!(message.text.starts_with(&format!("message {n}\n")));
        assert!(message.text.ends_with(&format!("\nend {n}")));
        assert!(log[message.offset as usize..].starts_with("2025-"));
    }
}

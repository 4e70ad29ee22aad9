use super::case::Case;
use serde::Deserialize;

/// Two projects: a session with an edit and a failed call, its subagent, a fork of it, one that
/// was interrupted; a stub and an empty file.
pub const HOME: &str = r#"
//- projects/-home-x-app/aaaa1111-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":"Add a flag"},"uuid":"u1","timestamp":"2026-01-05T10:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","message":{"model":"claude-opus-4-5","id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cargo test","description":"Run tests"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"a1","timestamp":"2026-01-05T10:00:05.000Z"}
{"parentUuid":"a1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"Exit code 101\nerror[E0425]: cannot find value `flag` in src/main.rs","is_error":true}]},"uuid":"r1","timestamp":"2026-01-05T10:00:09.000Z","toolUseResult":"Error: Exit code 101"}
{"parentUuid":"r1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","message":{"model":"claude-opus-4-5","id":"msg_2","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_2","name":"Edit","input":{"file_path":"/home/x/app/src/main.rs","old_string":"a","new_string":"b"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"a2","timestamp":"2026-01-05T10:00:12.000Z"}
{"parentUuid":"a2","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":"ok"}]},"uuid":"r2","timestamp":"2026-01-05T10:00:13.000Z","toolUseResult":{"filePath":"/home/x/app/src/main.rs","oldString":"a","newString":"b","originalFile":"a\n","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":2,"lines":["-a","+b","+c"]}],"userModified":false,"replaceAll":false}}
{"parentUuid":"r2","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","message":{"model":"claude-opus-4-5","id":"msg_3","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_3","name":"Bash","input":{"command":"cargo test --all","description":"Run tests"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"a3","timestamp":"2026-01-05T10:00:20.000Z"}
{"parentUuid":"a3","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_3","type":"tool_result","content":"ok","is_error":false}]},"uuid":"r3","timestamp":"2026-01-05T10:01:00.000Z","toolUseResult":{"stdout":"ok","stderr":"","interrupted":false}}
{"parentUuid":"r3","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","message":{"model":"claude-opus-4-5","id":"msg_4","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"},"type":"assistant","uuid":"a4","timestamp":"2026-01-05T10:01:05.000Z"}
{"type":"ai-title","aiTitle":"Add a command line flag","sessionId":"aaaa1111-0000-4000-8000-000000000001"}
//- projects/-home-x-app/aaaa1111-0000-4000-8000-000000000001/subagents/agent-a0123456789abcdef.jsonl
{"parentUuid":null,"isSidechain":true,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","agentId":"a0123456789abcdef","type":"user","message":{"role":"user","content":"Look around"},"uuid":"s1","timestamp":"2026-01-05T10:00:30.000Z"}
{"parentUuid":"s1","isSidechain":true,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","agentId":"a0123456789abcdef","message":{"model":"claude-opus-4-5","id":"msg_s","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_s","name":"Read","input":{"file_path":"/none"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"s2","timestamp":"2026-01-05T10:00:31.000Z"}
{"parentUuid":"s2","isSidechain":true,"userType":"external","cwd":"/home/x/app","sessionId":"aaaa1111-0000-4000-8000-000000000001","version":"2.1.144","gitBranch":"main","agentId":"a0123456789abcdef","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_s","type":"tool_result","content":[{"type":"text","text":"File does not exist."}],"is_error":true}]},"uuid":"s3","timestamp":"2026-01-05T10:00:32.000Z"}
//- projects/-home-x-app/bbbb2222-0000-4000-8000-000000000002.jsonl
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"bbbb2222-0000-4000-8000-000000000002","version":"2.1.144","gitBranch":"try","sessionKind":"bg","type":"user","message":{"role":"user","content":"Add a flag"},"uuid":"u1","timestamp":"2026-01-05T10:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"bbbb2222-0000-4000-8000-000000000002","version":"2.1.144","gitBranch":"try","message":{"model":"claude-opus-4-5","id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cargo test","description":"Run tests"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"a1","timestamp":"2026-01-05T10:00:05.000Z"}
{"parentUuid":"a1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"bbbb2222-0000-4000-8000-000000000002","version":"2.1.144","gitBranch":"try","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"Exit code 101\nerror[E0425]: cannot find value `flag` in src/main.rs","is_error":true}]},"uuid":"r1","timestamp":"2026-01-05T10:00:09.000Z","toolUseResult":"Error: Exit code 101"}
//- projects/-home-x-site/cccc3333-0000-4000-8000-000000000003.jsonl
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/x/site","sessionId":"cccc3333-0000-4000-8000-000000000003","version":"2.1.144","gitBranch":"","type":"user","message":{"role":"user","content":"Make it blue"},"uuid":"v1","timestamp":"2026-01-06T08:00:00.000Z"}
//- projects/-home-x-site/dddd4444-0000-4000-8000-000000000004.jsonl
{"type":"permission-mode","permissionMode":"default","sessionId":"dddd4444-0000-4000-8000-000000000004"}
//- projects/-home-x-site/eeee5555-0000-4000-8000-000000000005.jsonl
//- sessions/999999999.json
{"pid":999999999,"sessionId":"cccc3333-0000-4000-8000-000000000003","cwd":"/home/x/site","startedAt":1767686400000,"status":"busy"}
"#;

#[test]
fn sessions_and_what_is_not_listed() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("list"), @"
    exit 0
    --- stdout
    SESSION   STARTED           STATE        PROJECT  BRANCH      TIME  TURNS  CALLS  ERRORS  FILES  LINES    SIZE  TITLE
    cccc3333  2026-01-06 08:00  interrupted  site                  0 s      1      0       0                 285 B  Make it blue
    aaaa1111  2026-01-05 10:00  ended        app      main    1 m 05 s      1      4       2      1  +2 -1  4.9 kB  Add a command line flag
    --- stderr
    note: 2 sessions, 1 copy, 1 stub, 1 empty file (not listed: `--all` shows them)
    ");
    insta::assert_snapshot!(case.run("list --projects"), @"
    exit 0
    --- stdout
    LAST              SESSIONS  TURNS  CALLS  ERRORS    SIZE  PROJECT
    2026-01-06 08:00         1      1      0       0   285 B  /home/x/site
    2026-01-05 10:01         1      1      4       2  4.9 kB  /home/x/app
    ");
    insta::assert_snapshot!(case.run("list --project site --all"), @"
    exit 0
    --- stdout
    SESSION   STARTED           STATE        PROJECT       BRANCH  TIME  TURNS  CALLS  ERRORS  FILES  LINES   SIZE  TITLE
    dddd4444                    ended        -home-x-site                    0      0       0                105 B  (stub)
    eeee5555                    ended        -home-x-site                    0      0       0                  0 B  (empty)
    cccc3333  2026-01-06 08:00  interrupted  site                   0 s      1      0       0                285 B  Make it blue
    --- stderr
    note: 3 sessions
    ");
}

#[test]
fn filters_and_orders() {
    let case = Case::new(HOME);
    let ids = |args: &str| -> Vec<String> {
        case.json::<Session>(args).iter().map(|s| s.session[..4].to_owned()).collect()
    };
    assert_eq!(ids("list"), ["cccc", "aaaa"]);
    assert_eq!(ids("list --errors"), ["aaaa"]);
    assert_eq!(ids("list --branch MAIN"), ["aaaa"]);
    assert_eq!(ids("list --since 2026-01-06"), ["cccc"]);
    assert_eq!(ids("list --until 2026-01-05"), ["aaaa"]);
    assert_eq!(ids("list --sort size"), ["aaaa", "cccc"]);
    assert_eq!(ids("list --limit 1"), ["cccc"]);
    assert_eq!(ids("list --all --sort title").len(), 5);
    assert!(case.run("list --project nowhere").starts_with("exit 1\n"));
}

#[test]
fn the_json_of_a_session() {
    let all = Case::new(HOME).json::<Session>("list --all");
    let flag = all.iter().find(|s| s.session.starts_with("aaaa")).unwrap();
    assert_eq!(
        (flag.title.as_deref(), flag.title_source.as_deref()),
        (Some("Add a command line flag"), Some("ai"))
    );
    assert_eq!((flag.turns, flag.calls, flag.errors), (1, 3, 1));
    assert_eq!((flag.subagents, flag.all_calls, flag.all_errors), (1, 4, 2));
    assert_eq!((flag.files, flag.lines_added, flag.lines_removed), (1, 2, 1));
    assert_eq!(flag.duration_ms, Some(65_000));
    assert_eq!(flag.started.as_deref(), Some("2026-01-05T10:00:00.000Z"));
    assert_eq!((flag.state.as_str(), flag.standing.as_str()), ("ended", "whole"));
    let copy = all.iter().find(|s| s.session.starts_with("bbbb")).unwrap();
    assert_eq!(
        (copy.standing.as_str(), copy.copied_entries, copy.errors, copy.turns),
        ("copy", 3, 0, 0)
    );
    assert_eq!(copy.connections[0].how, "copied-from");
    assert!(copy.connections[0].session.starts_with("aaaa"));
}

#[test]
fn the_same_home_twice_counts_once() {
    let case = Case::new(HOME);
    let other = Case::new(HOME);
    let dirs = format!("{},{}", case.claude().display(), other.claude().display());
    let output = case.command().args(["list", "--json", "--claude-dir", &dirs]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let sessions: Vec<Session> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(sessions.iter().map(|s| s.all_errors).sum::<usize>(), 2, "{text}");
    assert_eq!(sessions.iter().map(|s| s.subagents).sum::<usize>(), 1, "{text}");
    let errors = case.command().args(["errors", "aaaa", "--claude-dir", &dirs]).output().unwrap();
    let errors = String::from_utf8(errors.stdout).unwrap();
    assert_eq!(errors.matches("entry 3").count(), 2, "{errors}");
}

/// The registry is deleted at exit and stale after a crash: only a process that runs counts.
#[cfg(target_os = "linux")]
#[test]
fn a_running_process_makes_a_session_live() {
    let case = Case::new(HOME);
    let state = |case: &Case| {
        let all = case.json::<Session>("list");
        all.iter().find(|s| s.session.starts_with("cccc")).unwrap().state.clone()
    };
    assert_eq!(state(&case), "interrupted");
    let pid = std::process::id();
    let line = format!(
        "{{\"pid\":{pid},\"sessionId\":\"cccc3333-0000-4000-8000-000000000003\",\"status\":\"busy\"}}"
    );
    case.write(&format!("sessions/{pid}.json"), &line);
    assert_eq!(state(&case), "live");
}

/// A home that anything may stand in.
#[cfg(unix)]
#[test]
fn a_folder_a_broken_link_and_garbage_do_not_stop_the_list() {
    let case = Case::new(HOME);
    std::fs::create_dir_all(case.claude().join("projects/-home-x-app/ffff.jsonl")).unwrap();
    super::case::dangling(&case.claude().join("projects/-home-x-app/gone.jsonl"));
    case.write("projects/-home-x-app/9999.jsonl", "not json at all\n\0\0\0\n{\"type\":\n");
    let shown = case.run("list --all");
    assert!(shown.starts_with("exit 2\n"), "{shown}");
    assert!(shown.contains("Add a command line flag"), "{shown}");
    assert!(
        shown.contains("warning: Cannot read ~/.claude/projects/-home-x-app/gone.jsonl"),
        "{shown}"
    );
    assert!(shown.contains("damaged places in 1 file"), "{shown}");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
pub struct Session {
    r#type: String,
    pub session: String,
    title: Option<String>,
    title_source: Option<String>,
    project: Option<String>,
    branch: Option<String>,
    state: String,
    standing: String,
    started: Option<String>,
    ended: Option<String>,
    duration_ms: Option<i64>,
    turns: usize,
    abandoned_prompts: usize,
    calls: usize,
    errors: usize,
    subagents: usize,
    all_calls: usize,
    all_errors: usize,
    files: usize,
    lines_added: u64,
    lines_removed: u64,
    segments: usize,
    rewinds: usize,
    size: u64,
    models: Vec<String>,
    versions: Vec<String>,
    entrypoint: Option<String>,
    tag: Option<String>,
    copied_entries: usize,
    foreign_entries: usize,
    entries_elsewhere: usize,
    connections: Vec<Connected>,
    pull_requests: Vec<String>,
    commits: Vec<String>,
    star: bool,
    note_tags: Vec<String>,
    notes: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Connected {
    how: String,
    session: String,
}

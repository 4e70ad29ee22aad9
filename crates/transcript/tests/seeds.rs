//! The examples of the descriptions that the project was founded on, as they give them.
//! Where a description errs, the test says what is read instead.

use transcript::entry::message::BlockKind;
use transcript::entry::{Entry, Kind};
use transcript::id::Key;
use transcript::json::Raw;
use transcript::prompt::Voice;
use transcript::session::{Builder, Options, Session};
use transcript::side::backup;
use transcript::time::Time;
use transcript::tool;

/// The example with its white space taken out: files hold one record per line.
fn line(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).expect("the example is JSON");
    value.to_string()
}

fn session(examples: &[&str]) -> Session {
    let file: String = examples.iter().map(|e| line(e) + "\n").collect();
    let mut builder = Builder::new();
    builder.read(file.as_bytes()).expect("memory reads");
    builder.finish(&Options::default())
}

#[track_caller]
fn check(example: &str, look: impl Fn(&Entry<'_>)) {
    let line = line(example);
    look(&Entry::of(line.as_bytes(), 0));
}

#[test]
fn seed_001_user_and_assistant() {
    check(
        r#"{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/Users/user/dev/webapp","sessionId":"0340f328-33c2-42fb-b9fa-ae58a9d8a799","version":"2.0.60","gitBranch":"user/dev","type":"user","message":{"role":"user","content":"review 一下现在的 langgraph 图设计"},"uuid":"880a9364-634b-4cc1-9acb-7992e89e69b8","timestamp":"2025-12-07T04:18:24.082Z","thinkingMetadata":{"level":"none","disabled":true,"triggers":[]},"todos":[]}"#,
        |e| {
            assert_eq!((e.kind, Voice::of(e)), (Kind::User, Voice::Prompt));
            assert_eq!(
                e.message.as_ref().and_then(|m| m.text()).as_deref(),
                Some("review 一下现在的 langgraph 图设计")
            );
            assert_eq!(e.git_branch.map(|b| b.text().into_owned()).as_deref(), Some("user/dev"));
            assert!(e.field("thinkingMetadata").is_some() && e.field("todos").is_some());
        },
    );
    check(
        r#"{"parentUuid":"87b6fe83-7a09-4aca-9377-052735b46545","message":{"model":"claude-opus-4-5-20251101","role":"assistant","content":[{"type":"tool_use","id":"toolu_018Dk8tSPFgQJN2S1haw7Kw4","name":"Task","input":{"description":"Explore LangGraph V3 graph","prompt":"Thoroughly explore the LangGraph V3 graph...","subagent_type":"Explore"}}]},"type":"assistant","uuid":"c24724ea-c3af-44f6-8f87-dd81b705e583"}"#,
        |e| {
            let call = e.blocks()[0];
            assert_eq!(call.kind, BlockKind::ToolUse);
            let subject = tool::subject("Task", call.input.expect("an input"));
            assert_eq!(subject.as_deref(), Some("Explore LangGraph V3 graph"));
        },
    );
}

#[test]
fn seed_001_compaction() {
    let s = session(&[
        r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"go"},"uuid":"91049500-4044-4e87-acb0-3842774db4ec","timestamp":"2025-12-07T07:40:00.000Z"}"#,
        r#"{"parentUuid":null,"logicalParentUuid":"91049500-4044-4e87-acb0-3842774db4ec","sessionId":"0340f328-33c2-42fb-b9fa-ae58a9d8a799","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"timestamp":"2025-12-07T07:48:48.698Z","uuid":"4833fe7a-6ec2-4701-a547-82a92a02cf8a","level":"info","compactMetadata":{"trigger":"auto","preTokens":156579}}"#,
        r#"{"parentUuid":"4833fe7a-6ec2-4701-a547-82a92a02cf8a","type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nAnalysis:\n..."},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"0456c057-773d-4a14-bef3-5ea6a2953604","timestamp":"2025-12-07T07:48:48.698Z"}"#,
    ]);
    assert_eq!(s.segments().len(), 2);
    let compaction = &s.compactions()[0];
    assert_eq!(
        (compaction.trigger.as_deref(), compaction.pre_tokens),
        (Some("auto"), Some(156_579))
    );
    assert_eq!(compaction.summary_node(), Some(2));
}

#[test]
fn seed_001_events_and_bookkeeping() {
    check(
        r#"{"parentUuid":"473b0706-6be5-4206-ace9-2cb6cee3ea02","sessionId":"0340f328-33c2-42fb-b9fa-ae58a9d8a799","type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"(pgrep -f termsupervisor >/dev/null) || true"}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","hasOutput":true,"level":"suggestion","timestamp":"2025-12-07T04:21:46.651Z","uuid":"fdf8c340-37e4-4f38-95bd-c9ec6c8f0360","toolUseID":"0b007e3b-c3e4-428f-a387-3ac11cc134b0"}"#,
        |e| {
            assert!(
                e.is_subtype("stop_hook_summary")
                    && e.field("hookCount").and_then(Raw::u64) == Some(1)
            )
        },
    );
    check(
        r#"{"type":"summary","summary":"LangGraph distributed workflow shutdown mechanism analysis","leafUuid":"91049500-4044-4e87-acb0-3842774db4ec"}"#,
        |e| assert_eq!((e.kind, e.leaf.is_some(), e.session), (Kind::Bookkeeping, true, None)),
    );
    check(
        r#"{"type":"file-history-snapshot","messageId":"d25d71ef-9398-43cd-aa8a-b9bc4a385ade","snapshot":{"messageId":"880a9364-634b-4cc1-9acb-7992e89e69b8","trackedFileBackups":{"docs/refactor_graph.md":{"backupFileName":"628985951e49fb67@v1","version":1,"backupTime":"2025-12-07T04:20:56.513Z"}},"timestamp":"2025-12-07T04:18:24.087Z"},"isSnapshotUpdate":true}"#,
        |e| {
            let (snapshot, odd) = backup::snapshot(Raw::new(e.bytes).expect("an object"));
            assert!(odd.is_empty());
            assert_eq!(snapshot.files.len(), 1);
            // The hash is of the absolute path, not "derived from the path" in some way.
            let path = |text: &str| transcript::path::RecordedPath::new(text);
            let cwd = path("/Users/user/dev/webapp");
            assert_eq!(backup::key_hash(&path("docs/refactor_graph.md"), &cwd), "628985951e49fb67");
        },
    );
    check(
        r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2025-12-08T03:37:10.789Z","sessionId":"a13cb7a0-f145-4ae2-80f2-dd489a02c51c","content":"[Image #1] 我在这个 session 里上传个图片,这个消息你不用处理"}"#,
        |e| {
            assert_eq!(
                (e.kind, e.time),
                (Kind::Bookkeeping, Time::parse(b"2025-12-08T03:37:10.789Z"))
            )
        },
    );
}

#[test]
fn seed_003_one_entry_with_three_blocks() {
    check(
        r#"{"type":"assistant","uuid":"d9c2a659-...","sessionId":"0dc751f2-...","timestamp":"2026-02-17T12:14:19.783Z","message":{"model":"claude-opus-4-6","id":"msg_01KEFi...","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"The user wants to fix CI...","signature":"EvoGCkYICxgC..."},{"type":"text","text":"I'll update the workflow file."},{"type":"tool_use","id":"toolu_01G7qT...","name":"Edit","input":{"file_path":"/project/.github/workflows/ci.yml","old_string":"runs-on: ubuntu-latest","new_string":"runs-on: ubuntu-22.04"}}],"stop_reason":"tool_use","usage":{"input_tokens":3000,"output_tokens":200,"cache_creation_input_tokens":9885,"cache_read_input_tokens":18058}},"requestId":"req_011CY..."}"#,
        |e| {
            let kinds: Vec<_> = e.blocks().iter().map(|b| b.kind).collect();
            assert_eq!(kinds, [BlockKind::Thinking, BlockKind::Text, BlockKind::ToolUse]);
            let usage = e.message.as_ref().and_then(|m| m.usage).expect("usage");
            assert_eq!(usage.get("cache_read_input_tokens").and_then(Raw::u64), Some(18_058));
        },
    );
}

#[test]
fn seed_003_read_result_pull_request_and_progress() {
    check(
        r#"{"type":"user","uuid":"60687c6b-...","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01Tr67...","content":"file content here...","is_error":false}]},"parentUuid":"f1f702a6-...","sourceToolAssistantUUID":"f1f702a6-...","toolUseResult":{"type":"text","file":{"filePath":"/path/to/file.rs","content":"...","numLines":34,"startLine":1,"totalLines":34}}}"#,
        |e| {
            assert_eq!(Voice::of(e), Voice::Result);
            assert_eq!(
                tool::path_of("Read", None, e.tool_result, None).as_deref(),
                Some("/path/to/file.rs")
            );
        },
    );
    let s = session(&[
        r#"{"type":"pr-link","sessionId":"0dc751f2-...","prNumber":14,"prUrl":"https://github.com/owner/repo/pull/14","prRepository":"owner/repo","timestamp":"2026-02-17T13:23:30.089Z"}"#,
        r#"{"type":"pr-link","sessionId":"0dc751f2-...","prNumber":14,"prUrl":"https://github.com/owner/repo/pull/14","prRepository":"owner/repo","timestamp":"2026-02-17T14:00:00.000Z"}"#,
        r#"{"type":"progress","data":{"type":"agent_progress","prompt":"Explore the project...","agentId":"a9a1190"},"toolUseID":"agent_msg_01KEFi...","parentToolUseID":"toolu_016biP..."}"#,
    ]);
    // Repeated often: one link, by its address.
    assert_eq!(s.pr_links().len(), 1);
    assert_eq!(s.pr_links()[0].number, Some(14));
    let links: Vec<_> = s.agent_links().collect();
    assert_eq!((links[0].0, links[0].1.call), ("a9a1190", Some(Key::of(b"toolu_016biP..."))));
}

#[test]
fn seed_004_edit_result_and_api_error() {
    check(
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01ABC...","content":"ok","is_error":false}]},"toolUseResult":{"filePath":"/path/to/file","oldString":"original text","newString":"replacement text","originalFile":"entire file content before edit","structuredPatch":[{"oldStart":10,"oldLines":3,"newStart":10,"newLines":5,"lines":[" context","-removed","+added"," context"]}],"userModified":false,"replaceAll":false}}"#,
        |e| {
            let change = tool::change("Edit", None, e.tool_result, None).expect("a change");
            assert_eq!(
                (change.path.as_str(), change.added, change.removed),
                ("/path/to/file", 1, 1)
            );
        },
    );
    check(
        r#"{"type":"system","subtype":"api_error","level":"error","cause":{"code":"FailedToOpenSocket","path":"https://api.anthropic.com/v1/messages","errno":0},"error":{},"retryInMs":505.26,"retryAttempt":1,"maxRetries":10,"timestamp":"2025-12-31T15:02:56.597Z"}"#,
        |e| assert_eq!(e.field("retryInMs").and_then(Raw::f64), Some(505.26)),
    );
}

#[test]
fn seed_004_branches_by_position_and_not_by_time() {
    // A, then B1 and C1, then a rewind to A: B2. The description takes the newest timestamp.
    let entry = |uuid: &str, parent: &str, time: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","timestamp":"2025-12-24T10:00:0{time}.000Z","message":{{"role":"user","content":"{uuid}"}}}}"#
        )
    };
    let lines = [
        entry("aaa", "null", "0"),
        entry("bbb1", "\"aaa\"", "1"),
        entry("ccc1", "\"bbb1\"", "9"),
        entry("bbb2", "\"aaa\"", "3"),
    ];
    let s = session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(s.leaf(), s.find(Key::of(b"bbb2")));
    assert_eq!(s.branches().len(), 1);
}

/// The other examples: what each is read as, and that none of its members is unknown. Members
/// that only a description has (`durationMs` of an answer) are in the catalog as old ones.
#[test]
fn every_other_example_is_known() {
    let examples: &[(&str, Kind)] = &[
        (
            r#"{"parentUuid":"bca9e88a-ed6c-4e15-b6b3-ef1d7d9ffea3","sessionId":"0340f328-33c2-42fb-b9fa-ae58a9d8a799","type":"system","subtype":"local_command","content":"<command-name>/add-dir</command-name>\n <command-message>add-dir</command-message>\n <command-args></command-args>","level":"info","timestamp":"2025-12-07T07:44:44.410Z","uuid":"a1ccd655-ab60-401b-8a2b-075eb1c1ba12","isMeta":false}"#,
            Kind::System,
        ),
        (
            r#"{"type":"file-history-snapshot","messageId":"880a9364-634b-4cc1-9acb-7992e89e69b8","snapshot":{"messageId":"880a9364-634b-4cc1-9acb-7992e89e69b8","trackedFileBackups":{},"timestamp":"2025-12-07T04:18:24.087Z"},"isSnapshotUpdate":false}"#,
            Kind::Bookkeeping,
        ),
        (
            r#"{"type":"queue-operation","operation":"remove","timestamp":"2025-12-08T03:37:12.389Z","sessionId":"a13cb7a0-f145-4ae2-80f2-dd489a02c51c"}"#,
            Kind::Bookkeeping,
        ),
        (
            r#"{"type":"user","uuid":"365bbb81-...","sessionId":"0dc751f2-...","timestamp":"2026-02-17T12:14:10.743Z","message":{"role":"user","content":"How do I fix the CI?"},"parentUuid":null,"cwd":"/Users/user/project","version":"2.1.44","gitBranch":"main","isSidechain":false,"userType":"external"}"#,
            Kind::User,
        ),
        (
            r#"{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info","uuid":"712d09ee-...","sessionId":"59c98839-...","timestamp":"2026-02-09T12:19:47.557Z","logicalParentUuid":"3a3b8268-...","compactMetadata":{"trigger":"auto","preTokens":170551}}"#,
            Kind::System,
        ),
        (r#"{"type":"system","subtype":"turn_duration","durationMs":112990}"#, Kind::System),
        (
            r#"{"type":"progress","data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:startup","command":"bash scripts/setup.sh"},"uuid":"13e64c6f-...","sessionId":"3108a700-...","timestamp":"2026-02-14T03:42:53.676Z"}"#,
            Kind::Progress,
        ),
        (
            r#"{"type":"queue-operation","operation":"dequeue","timestamp":"2026-02-07T07:42:54.402Z","sessionId":"78e7f3d0-..."}"#,
            Kind::Bookkeeping,
        ),
        (
            r#"{"type":"summary","summary":"Human-readable session description","leafUuid":"uuid-of-message-when-summary-was-created"}"#,
            Kind::Bookkeeping,
        ),
        (
            r#"{"type":"user","uuid":"unique-message-id","parentUuid":"previous-message-uuid","sessionId":"session-uuid","timestamp":"2025-12-24T10:00:00.000Z","cwd":"/current/working/directory","gitBranch":"main","version":"2.0.76","userType":"external","slug":"session-name-slug","message":{"role":"user","content":"string or array"}}"#,
            Kind::User,
        ),
        (
            r#"{"type":"assistant","uuid":"unique-message-id","parentUuid":"previous-message-uuid","sessionId":"session-uuid","timestamp":"2025-12-24T10:00:05.000Z","requestId":"req_xxxxx","message":{"id":"msg_xxxxx","model":"claude-sonnet-4-20250514","role":"assistant","type":"message","content":[],"stop_reason":"end_turn","stop_sequence":null,"usage":{}}}"#,
            Kind::Assistant,
        ),
        (
            r#"{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","parentUuid":null,"logicalParentUuid":"uuid-of-last-message-before-compaction","compactMetadata":{"trigger":"manual","preTokens":46742},"timestamp":"2025-12-31T13:51:58.281Z","uuid":"unique-id","level":"info","isMeta":false}"#,
            Kind::System,
        ),
        (
            r#"{"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"/path/to/hook.sh"}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","hasOutput":false,"level":"suggestion","toolUseID":"uuid"}"#,
            Kind::System,
        ),
        (
            r#"{"type":"queue-operation","operation":"enqueue","content":"queued message text","sessionId":"session-uuid","timestamp":"2025-12-24T14:49:58.701Z"}"#,
            Kind::Bookkeeping,
        ),
        (
            r#"{"type":"system","subtype":"init","session_id":"uuid-string","cwd":"/path/to/project","model":"claude-opus-4-5-20251101","tools":["Task","Bash","Read","Edit","..."]}"#,
            Kind::System,
        ),
        (
            r#"{"type":"result","subtype":"success","total_cost_usd":0.112,"num_turns":5,"duration_ms":6590}"#,
            Kind::Bookkeeping,
        ),
    ];
    for (example, kind) in examples {
        check(example, |e| {
            assert_eq!(e.kind, *kind, "{example}");
            let name = e.type_name.expect("a type").text();
            let stream = e.is_subtype("init");
            for (key, _) in e.fields.iter().filter(|_| !stream) {
                assert!(
                    transcript::catalog::knows_field(&name, &key.text()),
                    "{key:?} in {example}"
                );
            }
        });
    }
}

#[test]
fn content_blocks_of_seed_004() {
    let blocks: &[(&str, BlockKind)] = &[
        (r#"{"type":"text","text":"Response text here"}"#, BlockKind::Text),
        (
            r#"{"type":"thinking","thinking":"Extended reasoning here...","signature":"base64-signature"}"#,
            BlockKind::Thinking,
        ),
        (
            r#"{"type":"tool_use","id":"toolu_01ABC...","name":"ToolName","input":{}}"#,
            BlockKind::ToolUse,
        ),
        (
            r#"{"type":"tool_result","tool_use_id":"toolu_01ABC...","content":"result string or array","is_error":false}"#,
            BlockKind::ToolResult,
        ),
        (
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"base64-encoded-data"}}"#,
            BlockKind::Image,
        ),
        (
            r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"base64-encoded-data"}}"#,
            BlockKind::Document,
        ),
    ];
    for (block, kind) in blocks {
        let line = format!(r#"{{"type":"assistant","message":{{"content":[{block}]}}}}"#);
        assert_eq!(Entry::of(line.as_bytes(), 0).blocks()[0].kind, *kind, "{block}");
    }
}

/// Results as seed 004 gives them; the real ones have other members (FORMAT, section 10), and
/// either is read without complaint.
#[test]
fn tool_results_of_seed_004() {
    let path = |tool: &str, json: &str| {
        let line = line(json);
        tool::path_of(tool, None, Raw::new(line.as_bytes()).ok(), None).map(|p| p.into_owned())
    };
    let read = r#"{"file":{"filePath":"/path/to/file","content":"file contents...","numLines":100,"startLine":1,"totalLines":100},"isImage":false}"#;
    assert_eq!(path("Read", read).as_deref(), Some("/path/to/file"));
    let write = r#"{"filePath":"/path/to/file","content":"file contents written"}"#;
    assert_eq!(path("Write", write).as_deref(), Some("/path/to/file"));
    let bash = r#"{"command":"ls -la","stdout":"output...","stderr":"errors...","exitCode":0,"durationMs":150,"interrupted":false}"#;
    assert_eq!(path("Bash", bash), None);
    let task = line(
        r#"{"agentId":"a051da9","prompt":"original prompt","content":[{"type":"text","text":"agent response"}],"totalDurationMs":58979,"totalTokens":63383,"totalToolUseCount":18,"usage":{},"status":"completed"}"#,
    );
    assert_eq!(tool::agent_of(Raw::new(task.as_bytes()).ok(), None).as_deref(), Some("a051da9"));
    let todos = line(
        r#"{"newTodos":[{"content":"Task 1","status":"pending","activeForm":"Working on Task 1"}],"oldTodos":[]}"#,
    );
    let todos = transcript::side::todo::new_todos(Raw::new(todos.as_bytes()).expect("valid"));
    assert_eq!(todos.map(|t| t.len()), Some(1));
    let question = line(
        r#"{"questions":[{"question":"Which option?","header":"Choice","options":[{"label":"A","description":"Option A"}],"multiSelect":false}]}"#,
    );
    let asked = tool::subject("AskUserQuestion", Raw::new(question.as_bytes()).expect("valid"));
    assert_eq!(asked.as_deref(), Some("Which option?"));
}

/// Seed 000: a segment begins where the marker begins a user entry, and its index never shifts.
#[test]
fn segments_of_seed_000() {
    let user = |uuid: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","timestamp":"2025-08-01T00:00:00.000Z","cwd":"/w","version":"1.0.60","gitBranch":"main","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let marker =
        "This session is being continued from a previous conversation that ran out of context.";
    let lines = [
        user("a", "null", "start"),
        user("b", "\"a\"", &format!("{marker} One.")),
        user("c", "\"b\"", &format!("he wrote: {marker}")),
        user("d", "\"c\"", &format!("{marker} Two.")),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let firsts = |s: &Session| s.compactions().iter().map(|c| c.node()).collect::<Vec<_>>();
    assert_eq!(firsts(&session(&lines)), [1, 3]);
    assert_eq!(firsts(&session(&lines[..3])), [1]);
}

use super::case::{Case, is_raw};
use serde::Deserialize;

/// Two parallel calls, a prompt that was taken back, a subagent with a file and one without, and a
/// compaction.
pub const HOME: &str = r#"
//- projects/-home-x-app/5e000000-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"user","message":{"role":"user","content":"Look at the parser"},"uuid":"u1","timestamp":"2026-03-01T10:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"toolu_A","name":"Task","input":{"description":"Find callers","prompt":"Find all callers","subagent_type":"Explore"}}]},"requestId":"r1","uuid":"a1","timestamp":"2026-03-01T10:00:01.000Z"}
{"parentUuid":"a1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"toolu_B","name":"Task","input":{"description":"Read the tests","prompt":"Read the tests","subagent_type":"general-purpose"}}]},"requestId":"r1","uuid":"a2","timestamp":"2026-03-01T10:00:02.000Z"}
{"parentUuid":"a1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_A","type":"tool_result","content":[{"type":"text","text":"three"}]}]},"toolUseResult":{"status":"completed","prompt":"Find all callers","agentId":"a1111111111111111","content":[{"type":"text","text":"three"}],"totalDurationMs":9,"totalTokens":10,"totalToolUseCount":1},"uuid":"t1","timestamp":"2026-03-01T10:00:10.000Z"}
{"parentUuid":"a2","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_B","type":"tool_result","content":[{"type":"text","text":"fine"}]}]},"toolUseResult":{"status":"completed","prompt":"Read the tests","agentId":"a2222222222222222","content":[{"type":"text","text":"fine"}],"totalDurationMs":9,"totalTokens":10,"totalToolUseCount":1},"uuid":"t2","timestamp":"2026-03-01T10:00:11.000Z"}
{"parentUuid":"t2","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"assistant","message":{"id":"m2","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"It has three callers."}],"stop_reason":"end_turn"},"requestId":"r2","uuid":"a3","timestamp":"2026-03-01T10:00:20.000Z"}
{"parentUuid":"a3","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"user","message":{"role":"user","content":"Delete it"},"uuid":"u2","timestamp":"2026-03-01T10:01:00.000Z"}
{"parentUuid":"u2","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"assistant","message":{"id":"m3","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Deleted."}],"stop_reason":"end_turn"},"requestId":"r3","uuid":"a4","timestamp":"2026-03-01T10:01:10.000Z"}
{"parentUuid":"a3","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"user","message":{"role":"user","content":"Rename it"},"uuid":"u3","timestamp":"2026-03-01T10:02:00.000Z"}
{"parentUuid":"u3","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"assistant","message":{"id":"m4","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Renamed."}],"stop_reason":"end_turn"},"requestId":"r4","uuid":"a5","timestamp":"2026-03-01T10:02:10.000Z"}
{"parentUuid":null,"logicalParentUuid":"a5","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info","compactMetadata":{"trigger":"auto","preTokens":155000},"uuid":"b1","timestamp":"2026-03-01T10:03:00.000Z"}
{"parentUuid":"b1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\nSummary:\n1. Primary Request and Intent:\n   Rename the parser."},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"s1","timestamp":"2026-03-01T10:03:00.000Z"}
{"parentUuid":"s1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"user","message":{"role":"user","content":"Test it"},"uuid":"u4","timestamp":"2026-03-01T10:04:00.000Z"}
{"parentUuid":"u4","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","type":"assistant","message":{"id":"m5","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Green."}],"stop_reason":"end_turn"},"requestId":"r5","uuid":"a6","timestamp":"2026-03-01T10:04:10.000Z"}
//- projects/-home-x-app/5e000000-0000-4000-8000-000000000001/subagents/agent-a1111111111111111.meta.json
{"agentType":"Explore","description":"Find callers","toolUseId":"toolu_A","spawnDepth":1}
//- projects/-home-x-app/5e000000-0000-4000-8000-000000000001/subagents/agent-a1111111111111111.jsonl
{"parentUuid":null,"isSidechain":true,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","agentId":"a1111111111111111","type":"user","message":{"role":"user","content":"Find all callers"},"uuid":"g1","timestamp":"2026-03-01T10:00:01.100Z"}
{"parentUuid":"g1","isSidechain":true,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","agentId":"a1111111111111111","type":"assistant","message":{"id":"n1","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"tool_use","id":"toolu_G","name":"Agent","input":{"description":"Deeper","prompt":"Look deeper","subagent_type":"Explore"}}]},"requestId":"q1","uuid":"g2","timestamp":"2026-03-01T10:00:02.100Z"}
{"parentUuid":"g2","isSidechain":true,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","agentId":"a1111111111111111","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_G","type":"tool_result","content":"<tool_use_error>no</tool_use_error>","is_error":true}]},"uuid":"g3","timestamp":"2026-03-01T10:00:03.100Z"}
//- projects/-home-x-app/5e000000-0000-4000-8000-000000000001/subagents/agent-a3333333333333333.meta.json
{"agentType":"Explore","description":"Deeper","toolUseId":"toolu_G","spawnDepth":2}
//- projects/-home-x-app/5e000000-0000-4000-8000-000000000001/subagents/agent-a3333333333333333.jsonl
{"parentUuid":null,"isSidechain":true,"userType":"external","cwd":"/home/x/app","sessionId":"5e000000-0000-4000-8000-000000000001","version":"2.1.80","gitBranch":"main","agentId":"a3333333333333333","type":"user","message":{"role":"user","content":"Look deeper"},"uuid":"h1","timestamp":"2026-03-01T10:00:02.500Z"}
"#;

#[test]
fn the_shape_of_a_session() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("tree 5e"), @"
    exit 0
    --- stdout
    5e000000-0000-4000-8000-000000000001  Look at the parser
    ├─ segment 0  2 turns, 10 entries, 2026-03-01 10:00, 2 m 10 s
    │  ├─ turn 1  2 calls  Look at the parser
    │  │  ├─ subagent Explore  1 call, 1 error, a1111111, by meta  Find callers
    │  │  │  └─ subagent Explore  a3333333, by meta  Deeper
    │  │  └─ subagent general-purpose  a2222222, by result, transcript missing  Read the tests
    │  ├─ branch 1  left by a rewind, 1 prompt, 2 entries  Delete it
    │  └─ turn 2  Rename it
    └─ segment 1  auto compaction, 155,000 tokens before, 1 turn, 4 entries, 2026-03-01 10:03, 1 m 10 s
       └─ turn 3  Test it
    forks: parallel 1, rewind 1
    ");
}

#[test]
fn a_file_alone_says_nothing_of_other_files() {
    let case = Case::new(HOME);
    let path = "projects/-home-x-app/5e000000-0000-4000-8000-000000000001.jsonl";
    let shown = case.run(&format!("tree .claude/{path}"));
    assert!(shown.contains("subagent Explore") && !shown.contains("missing"), "{shown}");
}

#[test]
fn an_empty_file() {
    let case = Case::new("//- projects/-x/5e.jsonl\n");
    insta::assert_snapshot!(case.run("tree 5e"), @"
    exit 1
    --- stdout
    5e
    └─ segment 0  0 turns, 0 entries
    --- stderr
    note: Nothing found
    ");
}

#[test]
fn hostile_text_is_made_safe() {
    let evil = r"\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u202e\u2066seen";
    let mut home = HOME.to_owned();
    for word in
        ["Look at the parser", "Delete it", "Rename the parser", "Explore", "Read the tests"]
    {
        home = home.replace(word, evil);
    }
    let case = Case::new(&home.replace("auto", evil));
    for args in ["tree 5e", "segments 5e", "segments 5e --summary 1"] {
        for json in ["", " --json"] {
            let shown = case.run(&format!("{args}{json}"));
            assert!(shown.contains("seen") && !is_raw(&shown), "{args}{json}: {shown:?}");
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, clippy::enum_variant_names, reason = "all of it is decoded, not all compared")]
enum Line {
    TreeSegment {
        depth: usize,
        segment: usize,
        trigger: Option<String>,
        by: Option<String>,
        pre_tokens: Option<u64>,
        post_tokens: Option<u64>,
        compaction_ms: Option<u64>,
        turns: usize,
        entries: usize,
        first_entry: Option<u32>,
        last_entry: Option<u32>,
        first: Option<String>,
        last: Option<String>,
        abandoned: bool,
    },
    TreeTurn {
        depth: usize,
        turn: usize,
        entry: u32,
        time: Option<String>,
        calls: usize,
        errors: usize,
        prompt: Option<String>,
    },
    TreeBranch {
        depth: usize,
        branch: usize,
        kind: String,
        entry: u32,
        prompts: usize,
        entries: usize,
        prompt: Option<String>,
    },
    TreeAgent {
        depth: usize,
        agent_id: Option<String>,
        agent_type: Option<String>,
        description: Option<String>,
        link: Option<String>,
        place: String,
        entry: Option<u32>,
        calls: Option<usize>,
        errors: Option<usize>,
    },
    TreeForks {
        forks: Vec<Forks>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Forks {
    kind: String,
    count: usize,
}

#[test]
fn json_has_one_line_for_each_of_the_tree() {
    let lines: Vec<Line> = Case::new(HOME).json("tree 5e");
    let is_branch = |line: &&Line| matches!(line, Line::TreeBranch { branch: 1, kind, entry: 7, prompts: 1, .. } if kind == "rewind");
    assert_eq!(lines.iter().filter(is_branch).count(), 1, "{lines:?}");
    let places: Vec<&str> = lines
        .iter()
        .filter_map(|line| match line {
            Line::TreeAgent { place, .. } => Some(&**place),
            _ => None,
        })
        .collect();
    assert_eq!(places, ["file", "file", "missing"]);
    assert!(matches!(lines.last(), Some(Line::TreeForks { .. })));
}

//! What was wasted, and what Claude Code's own sums say, from the files and from the store.

use std::fs;

use serde::Deserialize;
use serde_json::{Number, Value};

use super::case::{Case, is_raw};

/// A session in which a person went back (and a subagent worked for what was left), paused for
/// twenty minutes, and had a file read twice. Sonnet 4.6 costs 3 dollars a million of input, 15 of
/// output, 3.75 written to the cache for five minutes and 0.3 read; Haiku 4.5 1 and 5.
const HOME: &str = r#"
//- projects/-w/0aaaaaaa-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"uuid":"a1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:00.000Z","cwd":"/w","version":"2.1.200","type":"user","message":{"role":"user","content":"Look around"}}
{"parentUuid":"a1","uuid":"a2","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:05.000Z","cwd":"/w","version":"2.1.200","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a.rs"}}],"stop_reason":"tool_use","usage":{"input_tokens":0,"output_tokens":100,"cache_creation_input_tokens":20000}}}
{"parentUuid":"a2","uuid":"a3","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:06.000Z","cwd":"/w","version":"2.1.200","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"fn main() {}"}]},"toolUseResult":{"type":"text","file":{"filePath":"/w/a.rs","content":"fn main() {}","numLines":1,"startLine":1,"totalLines":1}}}
{"parentUuid":"a3","uuid":"b1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:10.000Z","cwd":"/w","version":"2.1.200","type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"One file."}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":100,"cache_read_input_tokens":20000}}}
{"parentUuid":"b1","uuid":"c1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:01:00.000Z","cwd":"/w","version":"2.1.200","type":"user","message":{"role":"user","content":"Ask somebody"}}
{"parentUuid":"c1","uuid":"c2","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:01:05.000Z","cwd":"/w","version":"2.1.200","type":"assistant","message":{"id":"m3","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"tool_use","id":"t2","name":"Agent","input":{"description":"Look","prompt":"Look","subagent_type":"Explore"}}],"stop_reason":"tool_use","usage":{"input_tokens":0,"output_tokens":100,"cache_read_input_tokens":20000}}}
{"parentUuid":"c2","uuid":"c3","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:02:00.000Z","cwd":"/w","version":"2.1.200","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"Nothing."}]},"toolUseResult":{"status":"completed","agentId":"a1b2c3","prompt":"Look","content":[{"type":"text","text":"Nothing."}],"totalDurationMs":50000,"totalTokens":2100,"totalToolUseCount":0,"usage":{"input_tokens":2000,"output_tokens":100}}}
{"parentUuid":"b1","uuid":"d1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:20:00.000Z","cwd":"/w","version":"2.1.200","type":"user","message":{"role":"user","content":"Look again"}}
{"parentUuid":"d1","uuid":"d2","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:20:05.000Z","cwd":"/w","version":"2.1.200","type":"assistant","message":{"id":"m4","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"tool_use","id":"t3","name":"Read","input":{"file_path":"/w/a.rs"}}],"stop_reason":"tool_use","usage":{"input_tokens":0,"output_tokens":100,"cache_creation_input_tokens":21000}}}
{"parentUuid":"d2","uuid":"d3","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:20:06.000Z","cwd":"/w","version":"2.1.200","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"fn main() {}"}]},"toolUseResult":{"type":"text","file":{"filePath":"/w/a.rs","content":"fn main() {}","numLines":1,"startLine":1,"totalLines":1}}}
{"type":"ai-title","aiTitle":"Looking around","sessionId":"0aaaaaaa-0000-4000-8000-000000000001"}
{"type":"cost-state","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","totalCostUSD":0.18505,"modelUsage":{"claude-sonnet-4-6":{"inputTokens":3000,"outputTokens":600,"cacheReadInputTokens":40000,"cacheCreationInputTokens":41000,"webSearchRequests":0,"costUSD":0.18375},"claude-haiku-4-5-20251001":{"inputTokens":800,"outputTokens":100,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.0013}}}
{"parentUuid":"d3","uuid":"e1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:20:10.000Z","cwd":"/w","version":"2.1.200","type":"assistant","message":{"id":"m5","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"The same."}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":100,"cache_read_input_tokens":21000}}}
//- projects/-w/0aaaaaaa-0000-4000-8000-000000000001/subagents/agent-a1b2c3.jsonl
{"parentUuid":null,"uuid":"x1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","agentId":"a1b2c3","isSidechain":true,"timestamp":"2026-04-20T10:01:06.000Z","cwd":"/w","version":"2.1.200","type":"user","message":{"role":"user","content":"Look"}}
{"parentUuid":"x1","uuid":"x2","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","agentId":"a1b2c3","isSidechain":true,"timestamp":"2026-04-20T10:01:30.000Z","cwd":"/w","version":"2.1.200","type":"assistant","message":{"id":"n1","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Looking"}],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":100}}}
{"parentUuid":"x2","uuid":"x3","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","agentId":"a1b2c3","isSidechain":true,"timestamp":"2026-04-20T10:01:50.000Z","cwd":"/w","version":"2.1.200","type":"assistant","message":{"id":"n2","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Nothing."}],"stop_reason":"end_turn","usage":{"input_tokens":2000,"output_tokens":100}}}
//- stats-cache.json
{"version":2,"lastComputedDate":"2026-04-20","dailyActivity":[],"dailyModelTokens":[{"date":"2026-04-20","tokensByModel":{"claude-sonnet-4-6":3000}}],"modelUsage":{},"totalSessions":1,"totalMessages":9}
"#;

// Responses: m1 20,000 x 3.75 + 1,500 = 76,500; m2 and m3 6,000 + 1,500 = 7,500 each; m4 21,000 x
// 3.75 + 1,500 = 80,250; m5 6,300 + 1,500 = 7,800; n1 3,000 + 1,500; n2 6,000 + 1,500.
// All of them 191,550 micro-dollars. Left: m3, n1 and n2, 19,500. m4 wrote 20,000 again that were
// in the cache after m2: 20,000 x (3.75 - 0.3) = 69,000. The file has 12 characters.
#[test]
fn everything_that_was_wasted_has_its_place() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("usage waste --tz UTC"), @r"
    exit 0
    --- stdout
    Branches that were left: 3 requests, 23,300 tokens, $0.0195
      TIME              SESSION   ENTRY  REQUESTS  PROMPTS  TOKENS     COST  
      2026-04-20 10:01  0aaaaaaa     #6         3        1  23,300  $0.0195  1 branch

    Broken caches: 1 break, 20,000 tokens, $0.0690
      TIME              SESSION   ENTRY  CACHED  READ  REWRITTEN     COST  
      2026-04-20 10:20  0aaaaaaa     #9  20,000     0     20,000  $0.0690  idle-5m (19 m 54 s)

    Files read again: 1 read, about 3 tokens
      TIME              SESSION   ENTRY  TOKENS  COST  
      2026-04-20 10:20  0aaaaaaa     #9      ~3     -  /w/a.rs

    --- stderr
    note: `recount show 0aaaaaaa --entry 9` shows the worst of them ($0.0690)
    note: Prices of 2026-11-15
    ");
}

// Claimed are 185,050, of which 1,300 for a model that no line names. m5 came later: 7,800.
// 185,050 - 191,550 = -6,500 = 1,300 - 7,800. Tokens: 85,500 against 105,700; m5 has 21,100, the
// other model 900: -20,200 = 900 - 21,100. The call has the 2,100 tokens of n2 alone. Of the day
// 3,000 are claimed; input and output of all are 3,000 + 700.
#[test]
fn sums_of_claude_code_stand_beside_ours() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("usage reconcile --tz UTC"), @r"
    exit 0
    --- stdout
    SOURCE       OF                            ENTRY  CLAIMED     OURS  DIFFERENCE  UNEXPLAINED  BECAUSE OF
    cost-state   0aaaaaaa                        #12    $0.19    $0.19    -$0.0065           $0  partial-scope -$0.0078 (1), hidden-calls $0.0013 (1)
    cost-state   0aaaaaaa                        #12   85,500  105,700     -20,200            0  partial-scope -21,100 (1), hidden-calls 900 (1)
    agent-call   0aaaaaaa a1b2c3                  #7    2,100    3,200      -1,100            0  partial-scope -1,100 (1)
    stats-cache  2026-04-20 claude-sonnet-4-6      -    3,000    3,700        -700         -700  partial-scope (7)
    --- stderr
    note: 4 claims: 0 as ours, 3 explained, 1 not, 0 with nothing of ours beside them
    note: Calls without a usage, in no sum of ours: 1 title
    note: Prices of 2026-11-15
    ");
    insta::assert_snapshot!(case.run("usage reconcile 0bbb"), @r"
    exit 2
    --- stderr
    error: No session `0bbb`
    hint: `recount list` shows all sessions
    ");
    assert_eq!(case.json::<Value>("usage reconcile 0aaa").len(), 4);
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Loss {
    r#type: String,
    kind: String,
    session: String,
    agent: Option<String>,
    file: String,
    entry: u32,
    time: Option<String>,
    count: u64,
    tokens: Option<u64>,
    cost_usd: Option<Number>,
    confidence: String,
    branches: Option<u64>,
    prompts: Option<u64>,
    trigger: Option<String>,
    tokens_before: Option<u64>,
    tokens_after: Option<u64>,
    tokens_dropped: Option<u64>,
    dropped_confidence: Option<String>,
    ended_segment_cost_usd: Option<Number>,
    begun_segment_cost_usd: Option<Number>,
    cause: Option<String>,
    tokens_cached: Option<u64>,
    tokens_read: Option<u64>,
    idle_ms: Option<i64>,
    path: Option<String>,
    noticed: Option<bool>,
    retry: Option<String>,
    tool: Option<String>,
    failed_again: Option<bool>,
    wait_ms: Option<u64>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct LossTotal {
    r#type: String,
    kind: String,
    losses: u64,
    count: u64,
    tokens: u64,
    cost_usd: Option<Number>,
    confidence: String,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Claim {
    r#type: String,
    source: String,
    session: Option<String>,
    agent: Option<String>,
    day: Option<String>,
    model: Option<String>,
    file: Option<String>,
    entry: Option<u32>,
    time: Option<String>,
    unit: String,
    claimed: Number,
    ours: Option<Number>,
    confidence: String,
    difference: Option<Number>,
    explanations: Vec<Reason>,
    unexplained: Option<Number>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Reason {
    why: String,
    count: u64,
    amount: Option<Number>,
    most: Option<Number>,
    as_of: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Hidden {
    r#type: String,
    kind: String,
    count: u64,
    most_tokens: Option<u64>,
}

#[test]
fn the_lines_of_json_hold_what_the_tables_do() {
    let case = Case::new(HOME);
    let waste: Vec<Value> = case.json("usage waste");
    let of = |kind: &'static str| waste.iter().filter(move |line| line["type"] == kind).cloned();
    let losses: Vec<Loss> =
        of("usage_waste").map(|line| serde_json::from_value(line).unwrap()).collect();
    let totals: Vec<LossTotal> =
        of("usage_waste_total").map(|line| serde_json::from_value(line).unwrap()).collect();
    let told: Vec<_> = losses.iter().map(|l| (l.kind.as_str(), l.entry, l.tokens)).collect();
    // 20,100 + 1,100 + 2,100; 12 characters are three tokens.
    let expected =
        [("branch", 6, Some(23_300)), ("cache-break", 9, Some(20_000)), ("re-read", 9, Some(3))];
    assert_eq!(told, expected);
    let text = |number: &Option<Number>| number.as_ref().map(ToString::to_string);
    assert_eq!(text(&losses[0].cost_usd).as_deref(), Some("0.0195"));
    assert_eq!(text(&losses[1].cost_usd).as_deref(), Some("0.069"));
    assert_eq!(losses[1].idle_ms, Some(19 * 60_000 + 54_000));
    assert_eq!(losses[1].cause.as_deref(), Some("idle-5m"));
    let counts: Vec<_> = totals.iter().map(|total| (total.kind.as_str(), total.losses)).collect();
    let expected =
        [("branch", 1), ("compaction", 0), ("cache-break", 1), ("re-read", 1), ("retry", 0)];
    assert_eq!(counts, expected);
    let lines: Vec<Value> = case.json("usage reconcile");
    let (hidden, claims): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| line["type"] == "usage_hidden");
    let claims: Vec<Claim> =
        claims.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
    let units: Vec<_> = claims.iter().map(|c| (c.source.as_str(), c.unit.as_str())).collect();
    let expected = [
        ("cost-state", "usd"),
        ("cost-state", "tokens"),
        ("agent-call", "tokens"),
        ("stats-cache", "uncached-tokens"),
    ];
    assert_eq!(units, expected);
    assert_eq!(text(&claims[0].unexplained).as_deref(), Some("0.0"));
    let hidden: Vec<Hidden> =
        hidden.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
    assert_eq!((hidden[0].kind.as_str(), hidden[0].count), ("title", 1));
}

#[test]
fn the_store_tells_the_same_when_the_files_are_gone() {
    let case = Case::new(HOME);
    let ask = || -> [Vec<Value>; 2] { [case.json("usage waste"), case.json("usage reconcile")] };
    let direct = ask();
    case.run("sync");
    assert_eq!(ask(), direct);
    fs::remove_dir_all(case.claude().join("projects")).unwrap();
    fs::remove_file(case.claude().join("stats-cache.json")).unwrap();
    assert_eq!(ask(), direct);
}

#[test]
fn hostile_text_is_made_safe() {
    let evil = r"\u001b]52;c;aGk=\u0007\u001b[2J\u202e\u200bseen";
    let case = Case::new(
        &HOME
            .replace("/w/a.rs", evil)
            .replace(r#""agentId":"a1b2c3""#, &format!(r#""agentId":"{evil}""#))
            .replace(r#"tokensByModel":{"claude"#, &format!(r#"tokensByModel":{{"{evil}"#)),
    );
    for command in
        ["usage waste", "usage waste --json", "usage reconcile", "usage reconcile --json"]
    {
        let shown = case.run(command);
        assert!(shown.contains("seen"), "{command}: {shown}");
        assert!(!is_raw(&shown), "{command}: {shown:?}");
    }
}

/// Numbers that no sum can hold are no reason to stop.
#[test]
fn absurd_numbers_are_survived() {
    let line = |id: &str, rest: &str| {
        format!(
            r#"{{"parentUuid":null,"uuid":"{id}","sessionId":"s","timestamp":"2026-04-20T10:00:00Z","version":"2.1.200",{rest}}}
"#
        )
    };
    let most = u64::MAX;
    let usage = r#""usage":{"input_tokens":1,"output_tokens":1}"#;
    let said = format!(
        r#""costUSD":1e300,"type":"assistant","message":{{"id":"ID","role":"assistant","model":"claude-sonnet-4-6","content":[],"stop_reason":"end_turn",{usage}}}"#
    );
    let error = r#""type":"system","subtype":"api_error","retryInMs":1e300"#;
    let boundary = format!(
        r#""type":"system","subtype":"compact_boundary","compactMetadata":{{"preTokens":{most},"postTokens":{most}}}"#
    );
    let state = format!(
        r#""type":"cost-state","totalCostUSD":999999999,"modelUsage":{{"a":{{"inputTokens":{most},"outputTokens":{most},"costUSD":1e300}},"b":{{"inputTokens":{most},"costUSD":999999999}}}}"#
    );
    let agent = format!(
        r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"x"}}]}},"toolUseResult":{{"agentId":"x","totalTokens":{most},"usage":{{"input_tokens":{most},"output_tokens":{most}}}}}"#
    );
    let text: String = [
        line("1", &said.replace("ID", "m1")),
        line("2", &said.replace("ID", "m2")),
        line("3", error),
        line("4", error),
        line("5", &boundary),
        line("6", &boundary),
        line("7", &state),
        line("8", &state),
        line("9", &agent),
    ]
    .concat();
    let case = Case::new(&format!("//- projects/-w/s.jsonl\n{text}"));
    case.write(
        "stats-cache.json",
        &format!(
            r#"{{"lastComputedDate":"2026-04-20","dailyModelTokens":[{{"date":"2026-04-20","tokensByModel":{{"claude-sonnet-4-6":{most}}}}}],"modelUsage":{{"claude-sonnet-4-6":{{"inputTokens":{most},"outputTokens":{most},"cacheReadInputTokens":{most},"cacheCreationInputTokens":{most},"costUSD":1e300}}}}}}"#
        ),
    );
    for command in ["usage waste", "usage reconcile"] {
        for json in ["", " --json"] {
            let shown = case.run(&format!("{command}{json}"));
            assert!(shown.starts_with("exit 0"), "{command}{json}: {shown}");
        }
    }
}

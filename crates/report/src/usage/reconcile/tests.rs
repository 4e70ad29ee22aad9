//! Each explanation, with figures worked out by hand. Sonnet 4.6 costs 3 dollars a million of
//! input, 15 of output, 3.75 written to the cache and 0.3 read.

use std::io::Write;
use std::path::Path;

use jiff::tz::TimeZone;
use transcript::layout::classify;
use transcript::session::{Builder, Options};
use transcript::source::Source as File;
use transcript::usage::Claims;

use super::*;
use crate::usage::{Input, WeekStart};

const SONNET: &str = "claude-sonnet-4-6";
const MAIN: &str = "projects/-w/s.jsonl";

/// A response of 1,000 tokens of input and 100 of output: 4,500 micro-dollars.
fn response(id: &str, time: &str, rest: &str) -> String {
    said(id, time, "2.1.200", "s", SONNET, rest)
}

fn said(id: &str, time: &str, version: &str, session: &str, model: &str, rest: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"u-{id}","sessionId":"{session}","cwd":"/w","version":"{version}","timestamp":"2026-04-20T{time}.000Z","type":"assistant","message":{{"id":"{id}","role":"assistant","model":"{model}","content":[],"stop_reason":"end_turn","usage":{{"input_tokens":1000,"output_tokens":100}}}}{rest}}}
"#
    )
}

fn cost_state(dollars: &str, models: &str) -> String {
    format!(
        r#"{{"type":"cost-state","sessionId":"s","totalCostUSD":{dollars},"modelUsage":{{{models}}}}}
"#
    )
}

fn model(name: &str, input: u64, output: u64, dollars: &str) -> String {
    format!(
        r#""{name}":{{"inputTokens":{input},"outputTokens":{output},"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":{dollars}}}"#
    )
}

/// Why, how many, how much, at most.
type Reason = (&'static str, u64, Option<i64>, Option<u64>);

/// Source and unit, claimed, ours, why, unexplained.
type Seen = (String, u64, Option<u64>, Vec<Reason>, Option<i64>);

fn seen(row: &Row) -> Seen {
    let why = |e: &Explanation| (e.why.name(), e.count, e.amount, e.most);
    (
        format!("{} {}", row.source.name(), row.unit.name()),
        row.claimed,
        row.ours,
        row.explanations.iter().map(why).collect(),
        row.unexplained(),
    )
}

fn rows_with(files: &[(&str, String)], stats: Vec<HomeStats>) -> Vec<Row> {
    let (mut inputs, mut told) = (Vec::new(), Vec::new());
    for (at, (path, text)) in files.iter().enumerate() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        let mut builder = Builder::new();
        builder.read(text.as_bytes()).expect("reads");
        let session = builder.finish(&Options::default());
        let source = File::open(file.path()).expect("opens");
        told.push((at as u32, Told::of(&session, &source).expect("reads")));
        inputs.push(Input {
            kind: classify(Path::new(path)),
            path: path.into(),
            created: None,
            has_source: true,
            is_former: false,
            claims: Claims::read(text.as_bytes()).expect("reads").pack().expect("packs"),
        });
    }
    let prices = Prices::built_in();
    reconcile(&Evidence {
        ledger: &Ledger::new(inputs, prices),
        prices,
        files: &told,
        agents: &HashMap::new(),
        stats: &stats,
        calendar: &Calendar { zone: TimeZone::UTC, week_start: WeekStart::Monday },
        session: None,
    })
}

fn rows(files: &[(&str, String)]) -> Vec<Seen> {
    rows_with(files, Vec::new()).iter().map(seen).collect()
}

fn row(name: &str, claimed: u64, ours: u64, why: &[Reason], rest: i64) -> Seen {
    (name.into(), claimed, Some(ours), why.to_vec(), Some(rest))
}

#[test]
fn a_claim_that_is_right_needs_no_reason() {
    let text =
        response("a", "10:00:00", "") + &cost_state("0.0045", &model(SONNET, 1000, 100, "0.0045"));
    let cost = row("cost-state usd", 4_500, 4_500, &[], 0);
    assert_eq!(rows(&[(MAIN, text)]), [cost, row("cost-state tokens", 1_100, 1_100, &[], 0)]);
}

#[test]
fn what_came_after_the_claim_is_not_in_it() {
    let text =
        response("a", "10:00:00", "") + &cost_state("0.0045", "") + &response("b", "10:01:00", "");
    let why = ("partial-scope", 1, Some(-4_500), None);
    assert_eq!(rows(&[(MAIN, text)]), [row("cost-state usd", 4_500, 9_000, &[why], 0)]);
}

#[test]
fn a_sum_that_falls_has_begun_anew() {
    let state = |dollars| cost_state(dollars, "");
    let text = response("a", "10:00:00", "") + &state("0.002") + &state("0.0045");
    let text = text + &response("b", "10:01:00", "") + &state("0.001") + &state("0.0045");
    assert_eq!(rows(&[(MAIN, text)]), [row("cost-state usd", 9_000, 9_000, &[], 0)]);
}

#[test]
fn same_tokens_at_another_price() {
    // As if they were 1.5 times as dear.
    let claim = cost_state("0.00675", &model(SONNET, 1000, 100, "0.00675"));
    let seen = rows(&[(MAIN, response("a", "10:00:00", "") + &claim)]);
    let why = ("price", 1, Some(2_250), None);
    assert_eq!(seen[0], row("cost-state usd", 6_750, 4_500, &[why], 0));
    // Other tokens: nobody knows.
    let claim = cost_state("0.00675", &model(SONNET, 1500, 150, "0.00675"));
    let seen = rows(&[(MAIN, response("a", "10:00:00", "") + &claim)]);
    assert_eq!(seen[0], row("cost-state usd", 6_750, 4_500, &[], 2_250));
}

#[test]
fn the_day_whose_prices_a_claim_has() {
    // 250,000 tokens of a long prompt: twice the price until 2026-03-13. The claim has the price
    // that came into force then, for a request of the day before.
    let line = said("a", "10:00:00", "2.1.200", "s", SONNET, "");
    let line = line.replace("2026-04-20", "2026-03-12").replace(":1000,", ":250000,");
    // 250,000 x 6 + 100 x 22.5 = 1,502,250 and 250,000 x 3 + 100 x 15 = 751,500.
    let claim = cost_state("0.7515", &model(SONNET, 250_000, 100, "0.7515"));
    let all = rows_with(&[(MAIN, line + &claim)], Vec::new());
    assert_eq!(all[0].ours, Some(1_502_250));
    let [price] = &all[0].explanations[..] else { panic!("one reason: {all:?}") };
    assert_eq!((price.why, price.amount), (Why::Price, Some(-750_750)));
    assert_eq!(price.as_of.map(|day| day.to_string()).as_deref(), Some("2026-03-13"));
}

#[test]
fn a_model_that_no_response_names_was_called_and_left_nothing() {
    let models =
        [model(SONNET, 1000, 100, "0.0045"), model("claude-haiku-4-5", 200, 50, "0.00045")];
    let title = r#"{"type":"ai-title","aiTitle":"A title","sessionId":"s"}
"#;
    let text =
        response("a", "10:00:00", "") + title + title + &cost_state("0.00495", &models.join(","));
    let cost = row("cost-state usd", 4_950, 4_500, &[("hidden-calls", 1, Some(450), None)], 0);
    let tokens = row("cost-state tokens", 1_350, 1_100, &[("hidden-calls", 1, Some(250), None)], 0);
    assert_eq!(rows(&[(MAIN, text)]), [cost, tokens]);
}

#[test]
fn calls_without_a_usage_are_bounded_where_they_can_be() {
    let compaction = r#"{"parentUuid":null,"logicalParentUuid":"u-a","uuid":"c","sessionId":"s","timestamp":"2026-04-20T10:00:30Z","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":900,"postTokens":70}}
"#;
    let claim = cost_state("0.005", &model(SONNET, 1300, 100, "0.005"));
    let text = response("a", "10:00:00", "") + compaction + &claim;
    let seen = rows(&[(MAIN, text)]);
    let why = |most| [("hidden-calls", 1, None, most)];
    assert_eq!(seen[0], row("cost-state usd", 5_000, 4_500, &why(None), 500));
    assert_eq!(seen[1], row("cost-state tokens", 1_400, 1_100, &why(Some(970)), 300));
}

#[test]
fn copies_explain_a_claim_that_counts_them() {
    let first = response("a", "10:00:00", "");
    let copy = said("a", "10:00:00", "2.1.200", "t", SONNET, r#","forkedFrom":{"sessionId":"s"}"#);
    let own = said("b", "11:00:00", "2.1.200", "t", SONNET, "");
    let claim = |dollars: &str| cost_state(dollars, "").replace("\"s\"", "\"t\"");
    let fork = |dollars: &str| {
        let text = copy.clone() + &own + &claim(dollars);
        rows(&[(MAIN, first.clone()), ("projects/-w/t.jsonl", text)])
    };
    let why = ("replays", 1, Some(4_500), None);
    assert_eq!(fork("0.009"), [row("cost-state usd", 9_000, 4_500, &[why], 0)]);
    // More than they are: they may be in it or not.
    let why = ("replays", 1, None, Some(4_500));
    assert_eq!(fork("0.02"), [row("cost-state usd", 20_000, 4_500, &[why], 15_500)]);
    assert_eq!(fork("0.0045"), [row("cost-state usd", 4_500, 4_500, &[], 0)]);
}

#[test]
fn placeholders_have_no_amount() {
    let old = said("a", "10:00:00", "2.1.50", "s", SONNET, "");
    let seen = rows(&[(MAIN, old + &cost_state("0.005", ""))]);
    assert_eq!(
        seen,
        [row("cost-state usd", 5_000, 4_500, &[("placeholders", 1, None, None)], 500)]
    );
    // They can't be why a claim is too small.
    let old = said("a", "10:00:00", "2.1.50", "s", SONNET, "");
    let seen = rows(&[(MAIN, old + &cost_state("0.004", ""))]);
    assert_eq!(seen, [row("cost-state usd", 4_000, 4_500, &[], -500)]);
}

#[test]
fn results_of_stream_json() {
    let text = r#"{"type":"assistant","session_id":"s","uuid":"u","message":{"id":"a","role":"assistant","model":"claude-sonnet-4-6","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":100}}}
{"type":"result","subtype":"success","session_id":"s","total_cost_usd":0.0046,"usage":{"input_tokens":1000,"output_tokens":100},"modelUsage":{}}
"#;
    let seen = rows(&[(MAIN, text.into())]);
    assert_eq!(seen, [row("result usd", 4_600, 4_500, &[], 100)]);
}

#[test]
fn costs_on_lines() {
    // One is right, one is dearer, one is old and may have had more output.
    let right = response("a", "10:00:00", r#","costUSD":0.0045"#);
    let dearer = response("b", "10:00:01", r#","costUSD":0.0060"#);
    let old = said("c", "10:00:02", "1.0.5", "s", SONNET, r#","costUSD":0.0050"#);
    let why = [("price", 1, Some(1_500), None), ("placeholders", 1, None, None)];
    let seen = rows(&[(MAIN, right + &dearer + &old + &response("d", "10:00:03", ""))]);
    assert_eq!(seen, [row("line-cost usd", 15_500, 13_500, &why, 500)]);
}

/// A call of a subagent whose last response had so much input, output and in all.
fn agent_call(input: u64, output: u64, total: u64) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"r","sessionId":"s","timestamp":"2026-04-20T11:00:00Z","type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"done"}}]}},"toolUseResult":{{"status":"completed","agentId":"x1","totalTokens":{total},"usage":{{"input_tokens":{input},"output_tokens":{output}}}}}}}
"#
    )
}

#[test]
fn a_call_has_the_last_response_of_its_subagent() {
    let agent = |version: &str| {
        let line = |id: &str, time: &str| {
            said(id, time, version, "s", SONNET, r#","isSidechain":true,"agentId":"x1""#)
        };
        line("a", "10:00:00") + &line("b", "10:01:00")
    };
    let with = |version: &str, call: String| {
        rows(&[(MAIN, call), ("projects/-w/s/subagents/agent-x1.jsonl", agent(version))])
    };
    let others = ("partial-scope", 1, Some(-1_100), None);
    let seen = with("2.1.200", agent_call(1000, 100, 1100));
    assert_eq!(seen, [row("agent-call tokens", 1_100, 2_200, &[others], 0)]);
    // Its output had not come yet when the line was written.
    let seen = with("2.1.50", agent_call(1000, 150, 1150));
    let output = ("placeholders", 1, Some(50), None);
    assert_eq!(seen, [row("agent-call tokens", 1_150, 2_200, &[others, output], 0)]);
    // Another prompt than that of any response: nothing tells.
    let seen = with("2.1.200", agent_call(900, 100, 1000));
    assert_eq!(seen, [row("agent-call tokens", 1_000, 2_200, &[], -1_200)]);
}

#[test]
fn a_subagent_without_a_file() {
    let missing =
        ("agent-call tokens".into(), 1_100, None, vec![("missing-subagent", 1, None, None)], None);
    assert_eq!(rows(&[(MAIN, agent_call(1000, 100, 1100))]), [missing]);
    // The call told the first response while it ran; the last one is nowhere.
    let progress = r#"{"parentUuid":null,"uuid":"p","sessionId":"s","version":"2.1.200","timestamp":"2026-04-20T10:00:00Z","type":"progress","data":{"type":"agent_progress","agentId":"x1","message":{"type":"assistant","uuid":"q","timestamp":"2026-04-20T10:00:00Z","message":{"id":"a","role":"assistant","model":"claude-sonnet-4-6","content":[],"stop_reason":"tool_use","usage":{"input_tokens":700,"output_tokens":50}}}}}
"#;
    let text = progress.to_owned() + &agent_call(1000, 100, 1100);
    let why = [("partial-scope", 1, Some(-750), None), ("missing-subagent", 1, Some(1_100), None)];
    assert_eq!(rows(&[(MAIN, text)]), [row("agent-call tokens", 1_100, 750, &why, 0)]);
}

#[test]
fn a_subagent_inside_the_file_of_its_session() {
    let entry = |id: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"parentUuid":{parent},"uuid":"{id}","sessionId":"s","cwd":"/w","version":"1.0.98","timestamp":"2026-04-20T10:00:00Z",{rest}}}
"#
        )
    };
    let side = |id: &str, parent: &str| {
        let rest = format!(
            r#""isSidechain":true,"type":"assistant","message":{{"id":"{id}","role":"assistant","model":"{SONNET}","content":[],"stop_reason":"end_turn","usage":{{"input_tokens":1000,"output_tokens":100}}}}"#
        );
        entry(id, parent, &rest)
    };
    let call = r#""type":"assistant","message":{"id":"m","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"tool_use","id":"t","name":"Task","input":{"description":"x","prompt":"Look there"}}],"usage":{"input_tokens":5,"output_tokens":5}}"#;
    let task =
        r#""isSidechain":true,"type":"user","message":{"role":"user","content":"Look there"}"#;
    let text = entry("a", "null", call)
        + &entry("x", "null", task)
        + &side("y", r#""x""#)
        + &side("z", r#""y""#)
        + &agent_call(1000, 120, 1120).replace(r#""agentId":"x1","#, "");
    let why = [("partial-scope", 1, Some(-1_100), None), ("placeholders", 1, Some(20), None)];
    assert_eq!(rows(&[(MAIN, text)]), [row("agent-call tokens", 1_120, 2_200, &why, 0)]);
}

fn stats(days: &[(&str, u64)], models: &[(u64, Option<u64>)]) -> HomeStats {
    let claim = |(input, cost): &(u64, Option<u64>)| ModelClaim {
        model: SONNET.into(),
        tokens: Tokens { input: *input, ..Tokens::default() },
        cost: *cost,
    };
    HomeStats {
        files: HashSet::from([0]),
        last_day: Some("2026-04-20".into()),
        days: days.iter().map(|(day, n)| ((*day).into(), SONNET.into(), *n)).collect(),
        models: models.iter().map(claim).collect(),
    }
}

#[test]
fn days_and_models_of_the_statistics() {
    let next = response("b", "10:00:00", "").replace("2026-04-20", "2026-04-21");
    let early = response("c", "10:00:00", "").replace("2026-04-20", "2026-04-19");
    let text = early + &response("a", "10:00:00", "") + &next;
    let claims = stats(
        &[("2026-04-19", 1_200), ("2026-04-20", 600)],
        &[(2_200, None), (2_200, Some(9_500))],
    );
    let seen: Vec<Seen> = rows_with(&[(MAIN, text)], vec![claims]).iter().map(seen).collect();
    let expected = [
        // Tokens of both models that have no day come first; what came after its last day is known.
        row("stats-cache usd", 9_500, 13_500, &[("partial-scope", 1, Some(-4_500), None)], 500),
        row("stats-cache tokens", 2_200, 3_300, &[("partial-scope", 1, Some(-1_100), None)], 0),
        row("stats-cache tokens", 2_200, 3_300, &[("partial-scope", 1, Some(-1_100), None)], 0),
        row("stats-cache uncached-tokens", 1_200, 1_100, &[], 100),
        // Its last day was not over.
        row("stats-cache uncached-tokens", 600, 1_100, &[("partial-scope", 1, None, None)], -500),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn statistics_count_what_is_copied() {
    let own = response("a", "10:00:00", "");
    let copy = said("a", "10:00:00", "2.1.200", "t", SONNET, r#","forkedFrom":{"sessionId":"s"}"#);
    let files = [(MAIN, own), ("projects/-w/t.jsonl", copy)];
    let claims = stats(&[("2026-04-20", 2_200), ("no day", 7)], &[]);
    let seen: Vec<Seen> = rows_with(&files, vec![claims]).iter().map(seen).collect();
    let why = ("replays", 1, Some(1_100), None);
    let none = ("stats-cache uncached-tokens".into(), 7, None, vec![], None);
    assert_eq!(seen, [row("stats-cache uncached-tokens", 2_200, 1_100, &[why], 0), none]);
}

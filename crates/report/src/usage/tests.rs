//! Whatever the files say, every view of it has the same total.

use std::path::Path;

use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use transcript::layout::classify;
use transcript::usage::Claims;

use super::*;

const DIMENSIONS: [Dimension; 10] = [
    Dimension::Day,
    Dimension::Week,
    Dimension::Month,
    Dimension::Session,
    Dimension::Project,
    Dimension::Model,
    Dimension::Subagent,
    Dimension::Tool,
    Dimension::Branch,
    Dimension::Pr,
];

/// One of a few values for many lines, so that files repeat each other in every way.
fn one(of: Value) -> impl Strategy<Value = Value> {
    select(of.as_array().cloned().expect("a list"))
}

fn count() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0u64..300_000).prop_map(Value::from),
        3 => one(json!([0, null, -7, 12.0, 12.5, 1e15, 999_999_999_999_u64, "12", {}, []])),
    ]
}

fn tokens() -> impl Strategy<Value = Value> {
    prop::array::uniform6(count()).prop_map(|[input, output, read, flat, short, long]| {
        json!({
            "type": "message",
            "input_tokens": input,
            "output_tokens": output,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": flat,
            "cache_creation": {
                "ephemeral_5m_input_tokens": short,
                "ephemeral_1h_input_tokens": long,
            },
        })
    })
}

fn model() -> impl Strategy<Value = Value> {
    one(json!([
        "claude-opus-4-6",
        "claude-haiku-5-5",
        "claude-sonnet-4-5[1m]",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "glm-4.7",
        "<synthetic>",
        "",
        null,
    ]))
}

/// With one iteration that repeats the top level, two that make it up or do not, an advisor, or
/// none.
fn usage() -> impl Strategy<Value = Value> {
    let modes = [json!(["fast", null]), json!(["us", ""]), json!(["standard", "batch"])].map(one);
    let whole = (tokens(), modes, count(), 0u8..5, tokens(), model()).prop_map(
        |(top, [speed, geo, tier], searches, shape, mut other, model)| {
            let mut usage = top.clone();
            usage["speed"] = speed;
            usage["inference_geo"] = geo;
            usage["service_tier"] = tier;
            usage["server_tool_use"] = json!({ "web_search_requests": searches });
            usage["iterations"] = match shape {
                0 => Value::Null,
                1 => json!([top]),
                2 => json!([top, { "type": "message", "input_tokens": 0 }]),
                3 => json!([top, other]),
                _ => {
                    other["type"] = json!("advisor_message");
                    other["model"] = model;
                    json!([top, other])
                }
            };
            usage
        },
    );
    prop_oneof![8 => whole, 2 => one(json!([null, 7]))]
}

fn message() -> impl Strategy<Value = Value> {
    let call = (one(json!(["Bash", "Read"])), one(json!(["t1", "t2", "t3", null])))
        .prop_map(|(name, id)| json!({ "type": "tool_use", "name": name, "id": id }));
    let id = one(json!(["m1", "m2", "m3", "m4", "m5", "", null]));
    let stop = one(json!([null, "end_turn"]));
    (id, model(), stop, usage(), prop::collection::vec(call, 0..4)).prop_map(
        |(id, model, stop, usage, calls)| {
            json!({
                "id": id,
                "role": "assistant",
                "model": model,
                "stop_reason": stop,
                "usage": usage,
                "content": calls,
            })
        },
    )
}

fn line() -> impl Strategy<Value = String> {
    let time = one(json!([
        "2026-03-12T23:59:59.000Z",
        "2026-03-29T00:30:00.000Z",
        "2026-10-25T22:30:00.000Z",
        "2027-01-01T03:00:00.000Z",
        "yesterday",
        null,
    ]));
    let around = [
        json!(["r1", "r2", null]),
        json!(["u1", "u2", "u3"]),
        json!([true, false, null]),
        json!(["2.1.50", "2.1.200", "dev", null]),
        json!(["/a", "/b", null]),
        json!(["main", "", null]),
        json!(["s1", "s2", null]),
    ];
    (any::<bool>(), time, around.map(one), message()).prop_map(
        |(is_progress, time, [request, uuid, side, version, cwd, branch, session], message)| {
            let mut said = json!({
                "type": "assistant",
                "requestId": request,
                "uuid": uuid,
                "timestamp": time,
                "message": message,
            });
            if is_progress {
                let data = json!({ "type": "agent_progress", "agentId": "a1", "message": said });
                said = json!({ "type": "progress", "data": data });
            }
            said["isSidechain"] = side;
            said["version"] = version;
            said["cwd"] = cwd;
            said["gitBranch"] = branch;
            said["sessionId"] = session;
            said.to_string()
        },
    )
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let path = select(vec![
        "projects/-a/s1.jsonl",
        "projects/-a/s2.jsonl",
        "projects/-a/s1/subagents/agent-a1.jsonl",
        "projects/-b/agent-a2.jsonl",
        "projects/-a/s1.jsonl.superseded-1776680000000",
    ]);
    let file = (path, any::<bool>(), prop::collection::vec(line(), 0..8));
    let input = file.prop_map(|(path, has_source, lines)| Input {
        kind: classify(Path::new(path)),
        path: path.into(),
        created: None,
        has_source,
        is_former: false,
        claims: Claims::read(lines.join("\n").as_bytes())
            .expect("memory can be read")
            .pack()
            .expect("packs"),
    });
    prop::collection::vec(input, 0..5)
}

/// What can be summed; a row's confidence is not.
type Sums = (Tokens, [u64; 5], [(u64, u64); 4]);

fn sums<'a>(totals: impl IntoIterator<Item = &'a Totals>) -> Sums {
    let mut sums = Sums::default();
    for t in totals {
        sums.0 += t.tokens;
        let more = [t.requests, t.tool_calls, t.web_searches, t.cost, t.without_source];
        sums.1.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        for (sum, more) in sums.2.iter_mut().zip(t.by_confidence) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }
    sums
}

proptest! {
    #[test]
    fn all_views_have_the_same_total(inputs in inputs(), sunday in any::<bool>()) {
        let ledger = Ledger::new(inputs, Prices::built_in());
        let filter = Filter::default();
        let whole = total(&ledger, &filter);
        prop_assert_eq!(whole.by_confidence.iter().map(|c| c.0).sum::<u64>(), whole.requests);
        prop_assert_eq!(whole.by_confidence.iter().map(|c| c.1).sum::<u64>(), whole.cost);
        let zone = TimeZone::get("Europe/Berlin").unwrap_or(TimeZone::UTC);
        let week_start = if sunday { WeekStart::Sunday } else { WeekStart::Monday };
        let calendar = Calendar { zone, week_start };
        let agents = HashMap::from_iter([("a1".to_owned(), "Explore".to_owned())]);
        let linked = vec![(Time::parse(b"2026-04-01T00:00:00Z"), "pr".to_owned())];
        let prs = HashMap::from_iter([("s1".to_owned(), linked)]);
        for first in DIMENSIONS {
            for second in DIMENSIONS {
                let by = if first == second { vec![first] } else { vec![first, second] };
                let (filter, calendar, agents, prs) = (&filter, &calendar, &agents, &prs);
                let rows = view(&ledger, &View { by: &by, filter, calendar, agents, prs });
                prop_assert_eq!(sums(rows.iter().map(|r| &r.totals)), sums([&whole]), "{:?}", by);
                // What has no price is not free, in whatever part of a response.
                let is_free = |t: &Totals| t.cost() == Some(0) && t.tokens.total() > 1000;
                let is_sure = |t: &Totals| t.confidence() == Confidence::Exact;
                let is_wrong = |r: &Row| is_free(&r.totals) && is_sure(&r.totals);
                prop_assert!(!rows.iter().any(is_wrong), "{:?}", by);
            }
        }
    }

    #[test]
    fn blocks_hold_all_that_has_a_time(inputs in inputs()) {
        let ledger = Ledger::new(inputs, Prices::built_in());
        let mut timed = Totals::default();
        ledger.responses.iter().filter(|r| r.time.is_some()).for_each(|r| timed.add_whole(r));
        let blocks = block::blocks(&ledger, &Filter::default(), Time(0));
        prop_assert_eq!(sums(blocks.iter().map(|b| &b.totals)), sums([&timed]));
        prop_assert!(blocks.windows(2).all(|pair| pair[0].end() <= pair[1].start));
    }

    #[test]
    fn a_file_in_two_places_counts_once(inputs in inputs()) {
        for input in inputs {
            let sum = |inputs: Vec<Input>| {
                total(&Ledger::new(inputs, Prices::built_in()), &Filter::default())
            };
            let twice = vec![input.clone(), input.clone()];
            prop_assert_eq!(sums([&sum(twice)]), sums([&sum(vec![input])]));
        }
    }
}

/// Confidence of a response whose lines have these counts as output.
fn confidence(outputs: &[&str]) -> (u64, Confidence) {
    let line = |output: &&str| {
        format!(
            r#"{{"uuid":"u","sessionId":"s","timestamp":"2026-04-20T10:00:00.000Z","version":"2.1.200","type":"assistant","message":{{"id":"m","role":"assistant","model":"claude-opus-4-6","stop_reason":"end_turn","usage":{{"input_tokens":1,"output_tokens":{output}}}}}}}
"#
        )
    };
    let text: String = outputs.iter().map(line).collect();
    let input = Input {
        kind: classify(Path::new("projects/-w/s.jsonl")),
        path: "s.jsonl".into(),
        created: None,
        has_source: true,
        is_former: false,
        claims: Claims::read(text.as_bytes()).expect("reads").pack().expect("packs"),
    };
    let ledger = Ledger::new(vec![input], Prices::built_in());
    let [response] = &ledger.responses[..] else { panic!("one response") };
    (response.tokens.output, response.confidence)
}

#[test]
fn a_count_that_is_none_leaves_a_lower_bound() {
    use Confidence::{Exact, LowerBound};
    assert_eq!(confidence(&["7"]), (7, Exact));
    for odd in ["-7", "1e15", "7.5", "\"many\""] {
        assert_eq!(confidence(&[odd]), (0, LowerBound), "{odd}");
        // A later line that says as much is whole.
        assert_eq!(confidence(&[odd, "7"]), (7, Exact), "{odd}");
        // It may have been more than the line before says.
        assert_eq!(confidence(&["7", odd]), (7, LowerBound), "{odd}");
    }
}

fn session_file(id: &str, lines: &[String]) -> Input {
    let text = lines.join("\n");
    let path = format!("projects/-w/{id}.jsonl");
    Input {
        kind: classify(Path::new(&path)),
        path: path.into(),
        created: None,
        has_source: true,
        is_former: false,
        claims: Claims::read(text.as_bytes()).expect("reads").pack().expect("packs"),
    }
}

fn answered(session: &str, message: &str, output: u64) -> String {
    let line = json!({
        "type": "assistant", "sessionId": session, "uuid": format!("{session}-{message}"),
        "version": "2.1.326", "timestamp": "2026-11-01T10:00:00.000Z",
        "message": {
            "id": message, "role": "assistant", "model": "claude-opus-4-6", "content": [],
            "stop_reason": "end_turn", "usage": { "input_tokens": 10, "output_tokens": output },
        },
    });
    line.to_string()
}

/// As the client writes it: the type comes first.
fn client_sum(session: &str, output: u64) -> String {
    format!(
        r#"{{"type":"cost-state","sessionId":"{session}","modelUsage":{{"claude-opus-4-6":{{"outputTokens":{output}}}}}}}"#
    )
}

#[test]
fn a_sum_below_the_clients_own_is_not_exact() {
    let confidence = |files: Vec<Input>| {
        let ledger = Ledger::new(files, Prices::built_in());
        let filter = Filter { session: Some("one".into()), ..Filter::default() };
        total(&ledger, &filter).confidence()
    };
    let file =
        |client: u64| session_file("one", &[answered("one", "m1", 40), client_sum("one", client)]);
    assert_eq!(confidence(vec![file(40)]), Confidence::Exact);
    assert_eq!(confidence(vec![file(30)]), Confidence::Exact);
    assert_eq!(confidence(vec![file(89)]), Confidence::LowerBound);
    // A fork's sum begins with that of the session it was forked from.
    let parent = session_file("zero", &[answered("zero", "m0", 50)]);
    let fork = [answered("one", "m0", 0), answered("one", "m1", 40), client_sum("one", 90)];
    assert_eq!(confidence(vec![parent, session_file("one", &fork)]), Confidence::Exact);
}

//! Each kind of waste, with figures worked out by hand. Sonnet 4.6 costs 3 dollars a million of
//! input, 15 of output, 3.75 written to the cache for five minutes, 6 for an hour, 0.3 read.

use std::io::Write;
use std::path::Path;

use transcript::layout::classify;
use transcript::session::{Builder, Options};
use transcript::source::Source;
use transcript::usage::Claims;

use super::*;
use crate::usage::Input;

const SONNET: &str = "claude-sonnet-4-6";

/// Cache read, written for five minutes, written for an hour.
type Cache = [u64; 3];

/// The lines of a session, one after the other.
#[derive(Default)]
struct Talk {
    text: String,
    last: Option<String>,
}

impl Talk {
    fn entry(mut self, id: &str, time: &str, rest: &str) -> Self {
        let parent = self.last.map_or("null".into(), |last| format!("\"{last}\""));
        self.text += &format!(
            r#"{{"parentUuid":{parent},"uuid":"{id}","sessionId":"s","cwd":"/w","version":"2.1.200","timestamp":"2026-04-20T{time}Z",{rest}}}
"#
        );
        self.last = Some(id.into());
        self
    }

    fn prompt(self, id: &str, time: &str) -> Self {
        let rest = r#""type":"user","message":{"role":"user","content":"go on"}"#;
        self.entry(id, time, rest)
    }

    fn said(self, id: &str, time: &str, model: &str, cache: Cache, content: &str) -> Self {
        let [read, short, long] = cache;
        let rest = format!(
            r#""type":"assistant","message":{{"id":"m-{id}","role":"assistant","model":"{model}","content":[{content}],"stop_reason":"end_turn","usage":{{"input_tokens":0,"output_tokens":100,"cache_read_input_tokens":{read},"cache_creation":{{"ephemeral_5m_input_tokens":{short},"ephemeral_1h_input_tokens":{long}}}}}}}"#
        );
        self.entry(id, time, &rest)
    }

    fn answer(self, id: &str, time: &str, cache: Cache) -> Self {
        self.said(id, time, SONNET, cache, r#"{"type":"text","text":"x"}"#)
    }

    fn call(self, id: &str, tool: &str, input: &str) -> Self {
        let content =
            format!(r#"{{"type":"tool_use","id":"t-{id}","name":"{tool}","input":{input}}}"#);
        self.said(id, "10:00:00", SONNET, [0, 0, 0], &content)
    }

    fn result(self, of: &str, content: &str, rest: &str) -> Self {
        let rest = format!(
            r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t-{of}","content":"{content}"{rest}}}]}}"#
        );
        self.entry(&format!("{of}-r"), "10:00:01", &rest)
    }

    /// Goes on from an earlier entry.
    fn back_to(mut self, id: &str) -> Self {
        self.last = Some(id.into());
        self
    }

    fn waste(self) -> Vec<Loss> {
        self.waste_with(&Filter::default())
    }

    fn waste_with(self, filter: &Filter) -> Vec<Loss> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(self.text.as_bytes()).expect("written");
        let mut builder = Builder::new();
        builder.read(self.text.as_bytes()).expect("reads");
        let session = builder.finish(&Options::default());
        let source = Source::open(file.path()).expect("opens");
        let trace = Trace::of(&session, &source).expect("reads");
        let input = Input {
            kind: classify(Path::new("projects/-w/s.jsonl")),
            path: "s.jsonl".into(),
            created: None,
            has_source: true,
            is_former: false,
            claims: Claims::read(self.text.as_bytes()).expect("reads").pack().expect("packs"),
        };
        let prices = Prices::built_in();
        waste(&Scene {
            ledger: &Ledger::new(vec![input], prices),
            prices,
            traces: &HashMap::from([(0, trace)]),
            left_agents: &HashSet::new(),
            filter,
        })
    }
}

/// Entry, tokens, micro-dollars, cause of each break.
fn breaks(losses: &[Loss]) -> Vec<(u32, u64, u64, &'static str)> {
    let told = |loss: &Loss| match loss.detail {
        Detail::CacheBreak { cause, .. } => {
            Some((loss.entry, loss.tokens.expect("counted"), loss.cost?, cause.name()))
        }
        _ => None,
    };
    losses.iter().filter_map(told).collect()
}

fn two(first: Cache, time: &str, model: &str, second: Cache) -> Vec<(u32, u64, u64, &'static str)> {
    let talk = Talk::default().prompt("a", "10:00:00").answer("b", "10:00:10", first);
    let talk = talk.prompt("c", time).said("d", time, model, second, "");
    breaks(&talk.waste())
}

#[test]
fn a_cache_that_is_read_did_not_break() {
    assert_eq!(two([0, 20_000, 0], "10:01:00", SONNET, [20_000, 500, 0]), []);
    // Less than a tenth, or less than can be told from a moved mark.
    assert_eq!(two([0, 100_000, 0], "10:01:00", SONNET, [90_001, 20_000, 0]), []);
    assert_eq!(two([0, 4_000, 0], "10:01:00", SONNET, [2_000, 4_000, 0]), []);
    // Nothing was written again: the talk had become shorter.
    assert_eq!(two([0, 100_000, 0], "10:01:00", SONNET, [10_000, 1_000, 0]), []);
}

#[test]
fn the_cause_is_what_came_between() {
    let short = [0, 20_000, 0];
    let again = [0, 20_500, 0];
    // 20,000 x (3.75 - 0.3) = 69,000 micro-dollars.
    assert_eq!(two(short, "10:04:59", SONNET, again), [(4, 20_000, 69_000, "unknown")]);
    assert_eq!(two(short, "10:05:00", SONNET, again), [(4, 20_000, 69_000, "idle-5m")]);
    // 20,000 x (6 - 0.3) = 114,000: the cache of an hour is alive after five minutes.
    let (long, again) = ([0, 0, 20_000], [0, 0, 20_500]);
    assert_eq!(two(long, "10:05:00", SONNET, again), [(4, 20_000, 114_000, "unknown")]);
    assert_eq!(two(long, "11:00:00", SONNET, again), [(4, 20_000, 114_000, "idle-1h")]);
    // Haiku 4.5: 20,000 x (2 - 0.1) = 38,000.
    let haiku = "claude-haiku-4-5";
    assert_eq!(two(long, "11:00:00", haiku, again), [(4, 20_000, 38_000, "model-change")]);
    // The same model under another name.
    let dated = "us.anthropic.claude-sonnet-4-6";
    assert_eq!(two(long, "10:05:00", dated, again)[0].3, "unknown");
}

#[test]
fn only_what_was_cached_before_is_paid_twice() {
    // 30,000 of 40,000 are lost and 60,000 written, a third of them for an hour:
    // 20,000 x 3.75 + 10,000 x 6 - 30,000 x 0.3 = 126,000.
    let seen = two([0, 40_000, 0], "10:01:00", SONNET, [10_000, 40_000, 20_000]);
    assert_eq!(seen, [(4, 30_000, 126_000, "unknown")]);
}

#[test]
fn the_api_says_what_changed() {
    let talk = Talk::default().prompt("a", "10:00:00").answer("b", "10:00:10", [0, 20_000, 0]);
    let rest = format!(
        r#""type":"assistant","message":{{"id":"m","role":"assistant","model":"{SONNET}","content":[],"stop_reason":"end_turn","diagnostics":{{"cache_miss_reason":{{"type":"tools_changed","cache_missed_input_tokens":20000}}}},"usage":{{"input_tokens":0,"output_tokens":1,"cache_creation_input_tokens":20000}}}}"#
    );
    let talk = talk.prompt("c", "10:20:00").entry("d", "10:20:01", &rest);
    assert_eq!(breaks(&talk.waste()), [(4, 20_000, 69_000, "tools-changed")]);
}

#[test]
fn a_response_is_compared_with_the_one_it_hangs_on() {
    // The branch that was left had cached more; what the new one goes on from is still there.
    let talk = Talk::default().prompt("a", "10:00:00").answer("b", "10:00:10", [0, 20_000, 0]);
    let talk = talk.prompt("c", "10:01:00").answer("d", "10:01:10", [20_000, 50_000, 0]);
    let talk =
        talk.back_to("b").prompt("e", "10:02:00").answer("f", "10:02:10", [20_000, 40_000, 0]);
    let losses = talk.waste();
    assert_eq!(breaks(&losses), []);
    let [left] = &losses[..] else { panic!("one branch: {losses:?}") };
    assert_eq!(left.detail, Detail::Branch { branches: 1, prompts: 1 });
    // 20,000 x 0.3 + 50,000 x 3.75 + 100 x 15 = 195,000.
    assert_eq!((left.entry, left.count), (4, 1));
    assert_eq!((left.tokens, left.cost), (Some(70_100), Some(195_000)));
    assert_eq!(left.confidence, Confidence::Exact);
}

#[test]
fn a_compaction_has_what_it_dropped_and_what_was_built_again() {
    let boundary = |metadata: &str, after: Cache| {
        let rest = format!(
            r#""type":"system","subtype":"compact_boundary","logicalParentUuid":"b","compactMetadata":{{{metadata}}}"#
        );
        let mut talk =
            Talk::default().prompt("a", "10:00:00").answer("b", "10:00:10", [0, 150_000, 0]);
        talk.last = None;
        let talk = talk.entry("x", "10:01:00", &rest);
        let summary =
            r#""type":"user","isCompactSummary":true,"message":{"role":"user","content":"so far"}"#;
        let talk = talk.entry("y", "10:01:00", summary);
        talk.prompt("c", "10:02:00").answer("d", "10:02:10", after)
    };
    let after = [10_000, 0, 30_000];
    let auto = r#""trigger":"auto","preTokens":160000,"postTokens":5000"#;
    let losses = boundary(auto, after).waste();
    let [compaction] = &losses[..] else { panic!("one: {losses:?}") };
    let Detail::Compaction { trigger, ended, begun, .. } = &compaction.detail else {
        panic!("a compaction")
    };
    assert_eq!((trigger.as_deref(), compaction.entry), (Some("auto"), 3));
    assert_eq!(compaction.detail.dropped(), Some((155_000, Confidence::Exact)));
    // 30,000 x 6 were written; 150,000 x 3.75 + 1,500 before; 3,000 + 180,000 + 1,500 after.
    assert_eq!((compaction.tokens, compaction.cost), (Some(30_000), Some(180_000)));
    assert_eq!((ended.cost(), begun.cost()), (Some(564_000), Some(184_500)));
    // Where as much is written again as half of what was lost, it broke the cache, too:
    // 70,000 x (6 - 0.3) = 399,000.
    let losses = boundary(auto, [10_000, 0, 70_000]).waste();
    assert_eq!(breaks(&losses), [(6, 70_000, 399_000, "compaction")]);
    let losses = boundary(r#""trigger":"manual""#, after).waste();
    // 150,100 tokens of the response before, 40,000 of the prompt after.
    assert_eq!(losses[0].detail.dropped(), Some((110_100, Confidence::Estimated)));
}

#[test]
fn files_that_did_not_change_are_read_again() {
    let read = r#"{"file_path":"/w/a"}"#;
    let part = r#"{"file_path":"/w/a","offset":10}"#;
    let talk = Talk::default().prompt("p", "10:00:00");
    let talk = talk.call("1", "Read", read).result("1", "one two three", "");
    // Another part, then the same again: 13 characters are about 4 tokens.
    let talk = talk.call("2", "Read", part).result("2", "one two three", "");
    let talk = talk.call("3", "Read", read).result("3", "one two three", "");
    // It has changed, by whatever.
    let talk = talk.call("4", "Read", read).result("4", "one two", "");
    let edit = r#"{"file_path":"/w/a","old_string":"two","new_string":"2"}"#;
    let talk = talk.call("5", "Edit", edit).result("5", "done", "");
    let talk = talk.call("6", "Read", read).result("6", "one two", "");
    let losses = talk.waste();
    let [again] = &losses[..] else { panic!("one: {losses:?}") };
    assert_eq!(again.detail, Detail::Reread { path: "/w/a".into(), is_noticed: false });
    assert_eq!((again.entry, again.tokens, again.cost), (6, Some(4), None));
    assert_eq!(again.confidence, Confidence::Estimated);
}

#[test]
fn claude_code_may_notice_that_nothing_changed() {
    let read = r#"{"file_path":"/w/a"}"#;
    let talk = Talk::default().prompt("p", "10:00:00").call("1", "Read", read);
    let rest = r#""type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t-1","content":"unchanged"}]},"toolUseResult":{"type":"file_unchanged","file":{"filePath":"/w/a"}}"#;
    let losses = talk.entry("2", "10:00:02", rest).waste();
    assert_eq!(losses[0].detail, Detail::Reread { path: "/w/a".into(), is_noticed: true });
    assert_eq!(losses[0].tokens, Some(3));
}

#[test]
fn the_same_call_after_a_failure() {
    let make = r#"{"command":"make"}"#;
    let failed = r#","is_error":true"#;
    let talk = Talk::default().prompt("p", "10:00:00");
    let talk = talk.call("1", "Bash", make).result("1", "no", failed);
    let talk = talk.call("2", "Bash", make).result("2", "no", failed);
    // Something was done: it may go now.
    let talk = talk.call("3", "Bash", r#"{"command":"clean"}"#).result("3", "ok", "");
    let talk = talk.call("4", "Bash", make).result("4", "no", failed);
    // A person said something.
    let talk = talk.prompt("q", "10:01:00").call("5", "Bash", make);
    let talk = talk.result("5", "The user doesn't want to proceed with it", failed);
    let talk = talk.call("6", "Bash", make).result("6", "ok", "");
    let losses = talk.waste();
    let [again] = &losses[..] else { panic!("one: {losses:?}") };
    let retry = Retry::Call { tool: "Bash".into(), has_failed: true };
    assert_eq!(again.detail, Detail::Retry(retry));
    // 100 x 15 for what the model wrote.
    assert_eq!((again.entry, again.tokens, again.cost), (4, Some(100), Some(1_500)));
}

#[test]
fn an_answer_that_was_dropped_was_paid_for() {
    let talk = Talk::default().prompt("a", "10:00:00").answer("b", "10:00:10", [0, 0, 1_000]);
    let talk = talk.back_to("a").answer("c", "10:00:20", [1_000, 0, 0]);
    let losses = talk.prompt("d", "10:01:00").waste();
    let [dropped] = &losses[..] else { panic!("one: {losses:?}") };
    assert_eq!(dropped.detail, Detail::Retry(Retry::Answer));
    // 1,000 x 6 + 100 x 15.
    assert_eq!((dropped.entry, dropped.tokens, dropped.cost), (2, Some(1_100), Some(7_500)));
}

#[test]
fn failures_of_the_api_are_counted_together() {
    let error = |ms: u64| {
        format!(r#""type":"system","subtype":"api_error","retryInMs":{ms}.4,"retryAttempt":1"#)
    };
    let talk = Talk::default().prompt("a", "10:00:00");
    let talk = talk.entry("b", "10:00:01", &error(500)).entry("c", "10:00:02", &error(1000));
    let talk = talk.answer("d", "10:00:10", [0, 0, 0]);
    let losses = talk.waste();
    let [errors] = &losses[..] else { panic!("one: {losses:?}") };
    assert_eq!(errors.detail, Detail::Retry(Retry::Request { wait_ms: 1500 }));
    assert_eq!((errors.entry, errors.count, errors.cost), (2, 2, None));
}

#[test]
fn sums_say_how_sure_they_are() {
    let loss = |cost: Option<u64>, confidence| Loss {
        session: "s".into(),
        agent: None,
        file: 0,
        entry: 1,
        time: None,
        count: 2,
        tokens: Some(10),
        cost,
        confidence,
        detail: Detail::Retry(Retry::Answer),
    };
    let of = |losses: &[Loss]| {
        let sum = sums(losses)[Kind::Retry as usize];
        (sum.losses, sum.count, sum.tokens, sum.cost, sum.confidence)
    };
    use Confidence::{Estimated, Exact, LowerBound, Unpriced};
    assert_eq!(of(&[]), (0, 0, 0, None, Exact));
    let (sure, rule, none) = (loss(Some(5), Exact), loss(Some(7), Estimated), loss(None, Unpriced));
    assert_eq!(of(&[sure.clone(), rule]), (2, 4, 20, Some(12), Estimated));
    assert_eq!(of(&[sure, none.clone()]), (2, 4, 20, Some(5), LowerBound));
    assert_eq!(of(&[none]), (1, 2, 10, None, Unpriced));
}

#[test]
fn what_is_not_asked_for_is_left_out() {
    let talk = || {
        let talk = Talk::default().prompt("a", "10:00:00").answer("b", "10:00:10", [0, 20_000, 0]);
        talk.prompt("c", "10:20:00").answer("d", "10:20:10", [0, 20_500, 0])
    };
    let with = |model: &str| Filter { model: Some(model.into()), ..Filter::default() };
    assert_eq!(talk().waste_with(&with("sonnet")).len(), 1);
    assert_eq!(talk().waste_with(&with("opus")), []);
}

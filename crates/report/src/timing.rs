//! Where the time of a session went: the model, the tools, the person.
//!
//! The time between two entries belongs to whoever wrote the second one. So every moment is
//! counted once, and the parts of a turn are its whole.

use std::collections::BTreeMap;

use transcript::prompt;
use transcript::reading::EntryReading;
use transcript::session::{Node, Role, Session};
use transcript::source::Source;
use transcript::time::Time;
use transcript::tool::ToolForm;

/// The parts of a turn, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnTime {
    /// The turn, from 1; 0 for what came before the first.
    pub turn: usize,
    /// What was asked.
    pub prompt: String,
    /// When it began.
    pub start: Option<Time>,
    /// The model thought and wrote.
    pub model: i64,
    /// Each tool worked, by name.
    pub tools: BTreeMap<String, i64>,
    /// A call waited for the person: a question, a plan to approve, or a permission, which is
    /// known of tools that tell how long they took themselves.
    pub waiting: i64,
    /// The API failed and was asked again.
    pub retries: i64,
    /// Hooks, compaction and other work of Claude Code.
    pub other: i64,
    /// Until the person asked again.
    pub person: i64,
}

impl TurnTime {
    /// From the prompt to the last entry.
    pub fn working(&self) -> i64 {
        self.model + self.tools.values().sum::<i64>() + self.waiting + self.retries + self.other
    }
}

/// A call and how long it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowCall {
    /// The number of the entry that made it.
    pub entry: u32,
    /// The tool.
    pub tool: String,
    /// What it was about.
    pub subject: String,
    /// Milliseconds.
    pub latency: i64,
    /// Whether it failed.
    pub is_error: bool,
}

/// Where the time of a session went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timing {
    /// The turns.
    pub turns: Vec<TurnTime>,
    /// The slowest calls, the slowest first.
    pub slowest: Vec<SlowCall>,
    /// Times that went back and were counted as nothing.
    pub backwards: usize,
}

/// Looks at a session; its files are counted by a node's `source`.
pub fn timing(session: &Session, sources: &[Source], slowest: usize) -> Timing {
    let nodes = session.nodes();
    let bytes = |node: &Node| sources[usize::from(node.source)].entry(node).unwrap_or_default();
    let starts: BTreeMap<usize, usize> =
        session.turns().iter().enumerate().map(|(at, turn)| (turn.prompt, at + 1)).collect();
    let results: BTreeMap<usize, &transcript::session::Call> =
        session.own_calls().filter_map(|call| Some((call.result()?, call))).collect();
    let mut timing = Timing::default();
    let mut turn = TurnTime::default();
    let mut last: Option<Time> = None;
    // Nothing is asked, or all is answered.
    let mut is_idle = true;
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| session.counts(*at)) {
        let Some(time) = node.time().filter(|_| !matches!(node.role, Role::Bookkeeping)) else {
            continue;
        };
        let gap = last.map_or(0, |last| time.0 - last.0);
        timing.backwards += usize::from(gap < 0);
        let gap = gap.max(0);
        last = Some(last.map_or(time, |last| last.max(time)));
        if let Some(&number) = starts.get(&at) {
            turn.person += gap;
            let done = std::mem::take(&mut turn);
            timing.turns.extend((done.working() > 0 || done.turn > 0).then_some(done));
            let said = EntryReading::from_bytes(&bytes(node)).spoken_text().unwrap_or_default();
            let said = prompt::command_line(&said).unwrap_or(said);
            turn.turn = number;
            turn.prompt = said.split_whitespace().collect::<Vec<_>>().join(" ");
            is_idle = false;
            turn.start = Some(time);
            continue;
        }
        match node.role {
            Role::Answer | Role::Thinking | Role::Call => {
                turn.model += gap;
                is_idle = node.role == Role::Answer && node.ends_turn();
            }
            Role::ApiError => turn.retries += gap,
            Role::Result => {
                let call = results.get(&at);
                let tool = call.map_or("", |call| session.tool(call));
                let own = match ToolForm::of(tool) {
                    form if form.waits_for_person() => 0,
                    _ => EntryReading::from_bytes(&bytes(node))
                        .tool_duration()
                        .map_or(gap, |own| own.clamp(0, gap)),
                };
                *turn.tools.entry(tool.to_owned()).or_default() += own;
                turn.waiting += gap - own;
            }
            role if role.is_person() || is_idle => turn.person += gap,
            _ => turn.other += gap,
        }
    }
    timing.turns.extend((turn.working() > 0 || turn.turn > 0).then_some(turn));
    timing.slowest = slow(session, &bytes, slowest);
    timing
}

fn slow(session: &Session, bytes: &dyn Fn(&Node) -> Vec<u8>, most: usize) -> Vec<SlowCall> {
    let nodes = session.nodes();
    let mut calls: Vec<(i64, &transcript::session::Call)> = session
        .own_calls()
        .filter_map(|call| {
            let latency = nodes[call.result()?].time()?.0 - nodes[call.node()].time()?.0;
            Some((latency, call))
        })
        .collect();
    calls.sort_by_key(|(latency, call)| (std::cmp::Reverse(*latency), call.node()));
    calls.truncate(most);
    let told = |(latency, call): (i64, &transcript::session::Call)| {
        let node = &nodes[call.node()];
        let tool = session.tool(call).to_owned();
        let bytes = bytes(node);
        let input = EntryReading::from_bytes(&bytes).call_input(call.key());
        let subject = input
            .and_then(|input| input.subject_for(&tool))
            .map(|subject| subject.split_whitespace().collect::<Vec<_>>().join(" "));
        SlowCall {
            entry: node.number,
            subject: subject.unwrap_or_default(),
            tool,
            latency,
            is_error: call.is_error,
        }
    };
    calls.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use transcript::session::{Builder, Options};

    use super::*;

    fn at(second: u32, uuid: &str, parent: &str, rest: &str) -> String {
        let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"parentUuid":{parent},"uuid":"{uuid}","sessionId":"s","timestamp":"2026-04-20T10:{:02}:{:02}Z",{rest}}}
"#,
            second / 60,
            second % 60
        )
    }

    fn call(tool: &str, id: &str) -> String {
        format!(
            r#""type":"assistant","message":{{"id":"m-{id}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{"command":"make"}}}}],"stop_reason":"tool_use"}}"#
        )
    }

    fn result(id: &str, more: &str) -> String {
        format!(
            r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]}}{more}"#
        )
    }

    #[test]
    fn every_moment_is_counted_once() {
        let prompt =
            |text: &str| format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#);
        let end = r#""type":"assistant","message":{"id":"m-e","role":"assistant","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}"#;
        let event = r#""type":"system","subtype":"turn_duration","durationMs":5"#;
        let text = [
            at(0, "a", "", &prompt("build it")),
            at(10, "b", "a", &call("Bash", "t1")),
            at(40, "c", "b", &result("t1", "")),
            at(45, "d", "c", &call("WebFetch", "t2")),
            // It took 2 of the 12 seconds itself: the rest it waited.
            at(57, "e", "d", &result("t2", r#","toolUseResult":{"durationMs":2000,"url":"x"}"#)),
            at(60, "f", "e", end),
            at(63, "g", "f", event),
            at(100, "h", "g", &prompt("and now?")),
            at(104, "i", "h", &call("AskUserQuestion", "t3")),
            at(134, "j", "i", &result("t3", "")),
        ]
        .concat();
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        let mut builder = Builder::new();
        builder.read(text.as_bytes()).expect("reads");
        let session = builder.finish(&Options::default());
        let sources = [Source::open(file.path()).expect("opens")];
        let timing = timing(&session, &sources, 1);
        let [first, second] = &timing.turns[..] else { panic!("two turns: {timing:?}") };
        assert_eq!((first.turn, first.prompt.as_str()), (1, "build it"));
        assert_eq!(first.model, 10_000 + 5_000 + 3_000);
        let tools = |turn: &TurnTime| turn.tools.clone().into_iter().collect::<Vec<_>>();
        assert_eq!(tools(first), [("Bash".to_owned(), 30_000), ("WebFetch".to_owned(), 2_000)]);
        assert_eq!((first.waiting, first.other, first.person), (10_000, 0, 40_000));
        assert_eq!((second.model, second.waiting, second.person), (4_000, 30_000, 0));
        let all: i64 = timing.turns.iter().map(|turn| turn.working() + turn.person).sum();
        assert_eq!(all, 134_000);
        let slow = &timing.slowest[0];
        assert_eq!((slow.tool.as_str(), slow.latency, slow.entry), ("Bash", 30_000, 2));
    }
}

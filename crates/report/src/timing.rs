//! Where the time of a session went: the model, the tools, the person.
//!
//! The time between two entries belongs to whoever wrote the second one. So every moment is
//! counted once, and the parts of a turn are its whole.

use std::collections::BTreeMap;

use transcript::entry::Entry;
use transcript::id::Key;
use transcript::session::{Node, Role, Session};
use transcript::source::Source;
use transcript::time::Time;

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
    /// A call waited, mostly for permission: of tools that tell how long they took themselves.
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
            let said = crate::record::said(&Entry::of(&bytes(node), 0)).unwrap_or_default();
            turn.turn = number;
            turn.prompt = said.split_whitespace().collect::<Vec<_>>().join(" ");
            turn.start = Some(time);
            continue;
        }
        match node.role {
            Role::Answer | Role::Thinking | Role::Call => turn.model += gap,
            Role::ApiError => turn.retries += gap,
            Role::Result => {
                let call = results.get(&at);
                let tool = call.map_or("", |call| session.tool(call));
                let own = own_time(&bytes(node)).map_or(gap, |own| own.clamp(0, gap));
                *turn.tools.entry(tool.to_owned()).or_default() += own;
                turn.waiting += gap - own;
            }
            role if role.is_person() => turn.person += gap,
            _ => turn.other += gap,
        }
    }
    timing.turns.extend((turn.working() > 0 || turn.turn > 0).then_some(turn));
    timing.slowest = slow(session, &bytes, slowest);
    timing
}

/// How long a tool says it took.
fn own_time(bytes: &[u8]) -> Option<i64> {
    let entry = Entry::of(bytes, 0);
    let result = entry.tool_result.filter(|raw| raw.is_object())?;
    ["durationMs", "totalDurationMs"].iter().find_map(|key| result.get(key)?.i64())
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
        let entry = Entry::of(&bytes, 0);
        let is_it = |id| Key::of_str(id) == call.key();
        let block = entry.blocks().iter().find(|block| block.id.is_some_and(is_it));
        let subject = block
            .and_then(|block| transcript::entry::tool::subject(&tool, block.input?))
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

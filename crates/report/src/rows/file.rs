//! Rows of one transcript: entries, texts, calls, edits, commits. It is read once from its first
//! entry to its last; a call waits for its result.

use hashbrown::HashMap;
use store::table::schema::{CALLS, COMMITS, EDITS, ENTRIES, TEXTS};
use store::table::words::{Place, Spot};
use store::table::{Table, Value};
use transcript::id::Key;
use transcript::layout::Problem;
use transcript::reading::EntryReading;
use transcript::session::{Call, Node, Role, Session};
use transcript::source::Source;
use transcript::tool::{self, ToolForm};
use transcript::words::SearchRole;

use super::line::Head;
use super::{Maker, Texts, Visitor};
use crate::errors;
use crate::words::is_rejection;

/// Which turn the entries of a file belong to.
#[derive(Debug, Clone, Copy)]
pub enum Turning {
    /// As the file has it.
    Own,
    /// All to the same: the one that started the subagent.
    Fixed(Option<u32>),
}

/// A transcript whose rows are made.
pub struct File<'a> {
    pub maker: &'a Maker<'a>,
    pub head: Head,
    pub session: &'a Session,
    pub turning: Turning,
}

/// Where a response stands.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    pub entry: u32,
    pub turn: Option<u32>,
}

/// The kinds of subagents that calls name, by the calls.
pub type Kinds = HashMap<Key, String>;

/// A call that waits for its result.
struct Pending {
    skill: Option<String>,
    about: Option<String>,
    input: Value,
}

/// What a result says of a call.
#[derive(Default)]
struct Told {
    outcome: &'static str,
    signature: Option<String>,
    error: Option<Value>,
    bytes: Option<u64>,
}

impl File<'_> {
    /// The turn of a node, from 1.
    pub fn turn(&self, node: usize) -> Option<u32> {
        match self.turning {
            Turning::Own => self.session.turn_of(node).map(|turn| turn as u32 + 1),
            Turning::Fixed(turn) => turn,
        }
    }

    /// The entry that begins at `offset`.
    pub fn place_of(&self, offset: u64) -> Option<Placed> {
        let nodes = self.session.nodes();
        let own = &nodes[..nodes.partition_point(|node| node.source == 0)];
        let at = own.binary_search_by_key(&offset, |node| node.offset).ok()?;
        Some(Placed { entry: own[at].number, turn: self.turn(at) })
    }

    /// Gives all rows; what its calls say of subagents comes back.
    pub fn rows(&self, source: &Source, each: &mut Visitor<'_>) -> Result<Kinds, Problem> {
        let (session, nodes) = (self.session, self.session.nodes());
        let calls = session.calls();
        let mut results: Vec<(usize, usize)> = calls
            .iter()
            .enumerate()
            .filter(|(_, call)| session.counts(call.node()))
            .filter_map(|(at, call)| Some((call.result()?, at)))
            .collect();
        results.sort_unstable();
        let (mut made, mut came) = (calls.iter().enumerate().peekable(), results.iter().peekable());
        // Lines are not always in order: a result may stand before its call.
        let (mut waiting, mut early) = (HashMap::new(), HashMap::new());
        let mut pages = Pages::new(source, nodes);
        let mut kinds = Kinds::new();
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.source == 0) {
            let is_result = came.peek().is_some_and(|(result, _)| *result == at);
            let is_own = session.counts(at);
            if !is_result && !is_own {
                while made.next_if(|(_, call)| call.node() <= at).is_some() {}
                continue;
            }
            let entry = EntryReading::from_bytes(pages.entry(node)?);
            if is_own {
                self.entry(at, node, &entry, each);
                self.texts(at, node, &entry, each);
            }
            while let Some((number, call)) = made.next_if(|(_, call)| call.node() <= at) {
                if is_own && call.node() == at {
                    let pending = self.pending(node, &entry, call, &mut kinds);
                    match early.remove(&number) {
                        Some(told) => self.call(number, pending, told, each),
                        None => drop(waiting.insert(number, pending)),
                    }
                }
            }
            while let Some((_, number)) = came.next_if(|(result, _)| *result == at) {
                let told = self.told(node, &entry, &calls[*number]);
                match waiting.remove(number) {
                    Some(pending) => self.call(*number, pending, told, each),
                    None => drop(early.insert(*number, told)),
                }
            }
        }
        let mut rest: Vec<_> = waiting.into_iter().collect();
        rest.sort_unstable_by_key(|(number, _)| *number);
        for (number, pending) in rest {
            self.call(number, pending, Told { outcome: "none", ..Told::default() }, each);
        }
        self.edits(each);
        self.commits(each);
        Ok(kinds)
    }

    /// A long text, or its place.
    fn long(&self, node: &Node, spot: Spot, text: &str) -> Value {
        match self.maker.texts {
            Texts::Whole => Value::Text(text.to_owned()),
            Texts::Places => Value::Integer(Place { entry: node.number, spot }.number()),
        }
    }

    /// What the person asked at a node.
    pub fn prompt(&self, node: &Node, source: &Source) -> Result<Value, Problem> {
        if self.maker.texts == Texts::Places {
            return Ok(self.long(node, Spot::Whole, ""));
        }
        let mut pages = Pages::new(source, std::slice::from_ref(node));
        let entry = EntryReading::from_bytes(pages.entry(node)?);
        let said = entry.words_at(Spot::Whole);
        Ok(said.map_or(Value::Null, |said| Value::Text(said.into_owned())))
    }

    fn entry(&self, at: usize, node: &Node, entry: &EntryReading<'_>, each: &mut Visitor<'_>) {
        let session = self.session;
        let parent = session.parent(at).map(|up| session.nodes()[up].number);
        let state = session.state(at);
        let (table, row) = self
            .head
            .agent_line(&ENTRIES)
            .count(node.number)
            .maybe_count(parent)
            .maybe_count(self.turn(at))
            .maybe_count(session.segment_of(at).map(|segment| segment as u64))
            .time(node.time())
            .days(node.time())
            .maybe_text(entry.type_name())
            .text(node.role.name())
            .maybe_text(entry.git_branch())
            .text(state.name())
            .is(state.is_on_way())
            .count(node.length)
            .maybe_text(entry.entry_id())
            .end();
        each(table, row);
    }

    fn texts(&self, at: usize, node: &Node, entry: &EntryReading<'_>, each: &mut Visitor<'_>) {
        let mut give = |kind: &'static str, spot: Spot, text: &str| {
            if text.trim().is_empty() {
                return;
            }
            let part = match spot {
                Spot::Whole => 0,
                Spot::Block(at) => at,
            };
            let (table, row) = self
                .head
                .agent_line(&TEXTS)
                .count(node.number)
                .count(part)
                .maybe_count(self.turn(at))
                .time(node.time())
                .days(node.time())
                .text(node.role.name())
                .text(kind)
                .count(text.len() as u64)
                .value(self.long(node, spot, text))
                .end();
            each(table, row);
        };
        let whole = match node.role {
            Role::Prompt
            | Role::Queued
            | Role::Undelivered
            | Role::Command
            | Role::Shell
            | Role::Teammate => "prompt",
            Role::Summary => "summary",
            Role::Bookkeeping => "title",
            Role::Answer | Role::Thinking | Role::Call | Role::ApiError if !entry.has_blocks() => {
                "answer"
            }
            Role::Answer | Role::Thinking | Role::Call | Role::ApiError | Role::Result => {
                for (role, spot, text) in entry.block_texts() {
                    give(kind_of(role), spot, &text);
                }
                return;
            }
            _ => return,
        };
        if let Some(text) = entry.words_at(Spot::Whole) {
            give(whole, Spot::Whole, &text);
        }
    }

    fn pending(
        &self,
        node: &Node,
        entry: &EntryReading<'_>,
        call: &Call,
        kinds: &mut Kinds,
    ) -> Pending {
        let name = self.session.tool(call);
        let key = call.key();
        let Some((at, input)) = entry.block_number(key).zip(entry.call_input(key)) else {
            return Pending { skill: None, about: None, input: Value::Null };
        };
        if ToolForm::of(name) == ToolForm::Delegation
            && let Some(kind) = input.subagent_type()
        {
            kinds.insert(call.key(), kind.into_owned());
        }
        Pending {
            skill: (ToolForm::of(name) == ToolForm::Skill)
                .then(|| input.skill_name())
                .flatten()
                .map(|skill| skill.into_owned()),
            about: input.subject_for(name).map(|about| short(&about)),
            input: self.long(node, Spot::Block(at), &input.to_json()),
        }
    }

    fn told(&self, node: &Node, entry: &EntryReading<'_>, call: &Call) -> Told {
        let key = call.key();
        let Some((at, result)) = entry.block_number(key).zip(entry.call_result(key)) else {
            let outcome = if call.is_error { "error" } else { "ok" };
            return Told { outcome, ..Told::default() };
        };
        let bytes = result.content_bytes();
        if !call.is_error {
            return Told { outcome: "ok", bytes, ..Told::default() };
        }
        let text = result.shown_text().unwrap_or_default();
        let is_cut = || result.is_interrupted() || text.contains("[Request interrupted by user");
        let outcome = match &*text {
            text if is_rejection(text) => "rejected",
            _ if is_cut() => "interrupted",
            _ => "error",
        };
        Told {
            outcome,
            signature: Some(errors::signature(&text)),
            error: Some(self.long(node, Spot::Block(at), &text)),
            bytes,
        }
    }

    fn call(&self, at: usize, pending: Pending, told: Told, each: &mut Visitor<'_>) {
        let (session, nodes) = (self.session, self.session.nodes());
        let call = &session.calls()[at];
        let (made, result) = (&nodes[call.node()], call.result().map(|node| &nodes[node]));
        let latency = result.and_then(|result| Some(result.time()?.0 - made.time()?.0));
        let name = session.tool(call);
        let (table, row) = self
            .head
            .agent_line(&CALLS)
            .count(made.number)
            .count(at as u64 + 1)
            .maybe_count(self.turn(call.node()))
            .time(made.time())
            .days(made.time())
            .text(name)
            .maybe_text(tool::mcp_name(name).map(|(server, _)| server))
            .maybe_text(pending.skill)
            .maybe_text(pending.about)
            .value(pending.input)
            .text(told.outcome)
            .is(call.is_error)
            .maybe_count(latency.filter(|ms| *ms >= 0))
            .maybe_text(told.signature)
            .value(told.error.unwrap_or(Value::Null))
            .maybe_count(result.map(|result| result.number))
            .maybe_count(told.bytes)
            .end();
        each(table, row);
    }

    fn edits(&self, each: &mut Visitor<'_>) {
        let (session, nodes) = (self.session, self.session.nodes());
        for (path, touch) in session.touches() {
            let call = &session.calls()[touch.call()];
            let made = &nodes[call.node()];
            let time = call.result().map_or(made, |node| &nodes[node]).time();
            let (table, row) = self
                .head
                .agent_line(&EDITS)
                .count(made.number)
                .count(touch.call() as u64 + 1)
                .maybe_count(self.turn(call.node()))
                .time(time)
                .days(time)
                .text(path)
                .text(session.tool(call))
                .maybe_count((!touch.unknown).then_some(touch.added))
                .maybe_count((!touch.unknown).then_some(touch.removed))
                .is(touch.created)
                .is(touch.estimated)
                .end();
            each(table, row);
        }
    }

    fn commits(&self, each: &mut Visitor<'_>) {
        for (at, commit) in self.session.commits() {
            let node = &self.session.nodes()[at];
            let (table, row) = self
                .head
                .agent_line(&COMMITS)
                .count(node.number)
                .maybe_count(self.turn(at))
                .time(node.time())
                .days(node.time())
                .text(&*commit.hash)
                .maybe_text(commit.branch.as_deref())
                .maybe_text(commit.subject.as_deref())
                .end();
            each(table, row);
        }
    }

    /// A row of a table that begins with the session.
    pub fn line(&self, table: &'static Table) -> super::line::Line {
        self.head.line(table)
    }
}

const fn kind_of(role: SearchRole) -> &'static str {
    match role {
        SearchRole::Prompt => "prompt",
        SearchRole::Answer => "answer",
        SearchRole::Thinking => "thinking",
        SearchRole::Call => "call",
        SearchRole::Output => "output",
        SearchRole::Summary => "summary",
        SearchRole::Title => "title",
    }
}

/// So much of what a call is about is told.
const ABOUT: usize = 200;

/// The first line that says something, cut.
fn short(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    line.chars().take(ABOUT).collect()
}

/// So much is read at once: entries stand one after the other.
const PAGE: usize = 1 << 20;

/// Entries of a file, read in their order.
struct Pages<'a> {
    source: &'a Source,
    /// Where the last entry ends: most files are shorter than a page.
    end: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Pages<'a> {
    fn new(source: &'a Source, nodes: &[Node]) -> Self {
        let ends = nodes.iter().filter(|node| node.source == 0);
        let end = ends.map(|node| node.offset + u64::from(node.length)).max().unwrap_or(0);
        Self { source, end, start: 0, bytes: Vec::new() }
    }

    /// The bytes of an entry; of one that is too long to be held, its beginning.
    fn entry(&mut self, node: &Node) -> Result<&[u8], Problem> {
        let length = (node.length as usize).min(transcript::line::HELD);
        let end = self.start + self.bytes.len() as u64;
        if node.offset < self.start || node.offset + length as u64 > end {
            let left = usize::try_from(self.end - node.offset).unwrap_or(usize::MAX);
            self.bytes = self.source.bytes(node.offset, length.max(PAGE).min(left))?;
            self.start = node.offset;
        }
        let from = (node.offset - self.start) as usize;
        let to = (from + length).min(self.bytes.len());
        Ok(&self.bytes[from.min(to)..to])
    }
}

//! The facts of a session as bytes, so that a file that grew is read on from where it was read
//! to, also by another run.
//!
//! Only what can't be told from the rest is written: the tables that find a node by its key are
//! made again. Whoever keeps the bytes keeps [`VERSION`] beside them; bytes of another version,
//! or damaged ones, are no error: the file is read again.

use std::borrow::Cow;
use std::io;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::build::Builder;
use super::fact::{
    AgentLink, Agents, Call, Compaction, Marks, Names, RepeatedCall, Stamp, Titles, Touch,
};
use super::node::{Node, flag};
use super::queue::Queue;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::id::Key;

/// What the bytes of [`Builder::save`] mean. Raised with every change to what is remembered of an
/// entry, also where the bytes look the same.
pub const VERSION: u32 = 6;

/// A builder's fields, in order and without the tables.
#[derive(Serialize, Deserialize)]
struct State<'a> {
    nodes: Cow<'a, [Node]>,
    waiting: Cow<'a, [(u32, Key)]>,
    messages: Cow<'a, [(Key, u32)]>,
    names: [Cow<'a, [Box<str>]>; 5],
    calls: Cow<'a, [Call]>,
    repeated_calls: Cow<'a, [RepeatedCall]>,
    words: Cow<'a, [(u32, Key)]>,
    unpaired: Cow<'a, [(Key, u32)]>,
    doubled: Cow<'a, [(u32, u32)]>,
    compactions: Cow<'a, [Compaction]>,
    touches: Cow<'a, [Touch]>,
    titles: Cow<'a, [Titles]>,
    stamps: Cow<'a, [Stamp]>,
    links: Cow<'a, [(Box<str>, AgentLink)]>,
    runs: Cow<'a, [(Box<str>, Key)]>,
    inline: Cow<'a, [(u32, Key)]>,
    task: Option<Key>,
    marks: Cow<'a, Marks>,
    leaf: Option<(Key, u32)>,
    rewinds_to_start: Cow<'a, [u32]>,
    queue: Cow<'a, Queue>,
    diagnostics: Cow<'a, [Diagnostic]>,
    diagnostic_counts: Cow<'a, [(DiagnosticKind, u64)]>,
    last_of: Cow<'a, [(Option<Key>, u32)]>,
    number: u32,
    lines: u64,
    consumed: u64,
    open_line: bool,
}

impl Builder {
    /// Its facts as bytes. What is unfinished at the end is read again and not kept. One that
    /// adopted entries of other files is not kept.
    pub fn save(&self, out: impl io::Write) -> io::Result<()> {
        let names = [&self.sessions, &self.tools, &self.paths, &self.models, &self.versions];
        let is_settled = |kind| kind != DiagnosticKind::Unfinished;
        let counts = self.diagnostic_counts.iter();
        let state = State {
            nodes: Cow::Borrowed(&self.nodes),
            waiting: Cow::Borrowed(&self.waiting),
            messages: sorted_pairs(self.messages.iter().copied().zip(0..).collect()).into(),
            names: names.map(|names| names.list().into()),
            calls: Cow::Borrowed(&self.calls),
            repeated_calls: Cow::Borrowed(&self.repeated_calls),
            words: Cow::Borrowed(&self.words),
            unpaired: Cow::Borrowed(&self.unpaired),
            doubled: Cow::Borrowed(&self.doubled),
            compactions: Cow::Borrowed(&self.compactions),
            touches: Cow::Borrowed(&self.touches),
            titles: Cow::Borrowed(&self.titles),
            stamps: Cow::Borrowed(&self.stamps),
            links: sorted(&self.agents.links).into(),
            runs: Cow::Borrowed(&self.agents.runs),
            inline: Cow::Borrowed(&self.agents.inline),
            task: self.agents.task,
            marks: Cow::Borrowed(&self.marks),
            leaf: self.leaf,
            rewinds_to_start: Cow::Borrowed(&self.rewinds_to_start),
            queue: Cow::Borrowed(&self.queue),
            diagnostics: self.diagnostics.iter().filter(|d| is_settled(d.kind)).cloned().collect(),
            diagnostic_counts: counts.filter(|(kind, _)| is_settled(*kind)).copied().collect(),
            last_of: sorted(&self.last_of).into(),
            number: self.number,
            lines: self.lines,
            consumed: self.consumed,
            open_line: self.open_line,
        };
        postcard::to_io(&state, out).map(drop).map_err(io::Error::other)
    }

    /// The facts that [`Builder::save`] wrote; `None` if the bytes are none.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        let state: State<'_> = postcard::from_bytes(bytes).ok()?;
        let [sessions, tools, paths, models, versions] =
            state.names.map(|names| Names::of(names.into_owned()));
        let mut builder = Self {
            nodes: state.nodes.into_owned(),
            waiting: state.waiting.into_owned(),
            messages: in_order(state.messages.into_owned()),
            sessions,
            tools,
            paths,
            models,
            versions,
            calls: state.calls.into_owned(),
            repeated_calls: state.repeated_calls.into_owned(),
            words: state.words.into_owned(),
            unpaired: state.unpaired.into_owned(),
            doubled: state.doubled.into_owned(),
            compactions: state.compactions.into_owned(),
            touches: state.touches.into_owned(),
            titles: state.titles.into_owned(),
            stamps: state.stamps.into_owned(),
            agents: Agents {
                links: state.links.into_owned().into_iter().collect(),
                runs: state.runs.into_owned(),
                inline: state.inline.into_owned(),
                task: state.task,
            },
            marks: state.marks.into_owned(),
            leaf: state.leaf,
            rewinds_to_start: state.rewinds_to_start.into_owned(),
            queue: state.queue.into_owned(),
            diagnostics: state.diagnostics.into_owned(),
            diagnostic_counts: state.diagnostic_counts.into_owned(),
            last_of: state.last_of.iter().copied().collect(),
            number: state.number,
            lines: state.lines,
            consumed: state.consumed,
            open_line: state.open_line,
            ..Self::default()
        };
        builder.index();
        Some(builder)
    }
}

impl Builder {
    /// Makes the tables.
    fn index(&mut self) {
        let is_first = |node: &Node| node.has(flag::IN_TREE) && !node.has(flag::REPEAT);
        for (node, next) in self.nodes.iter().zip(0..).filter(|(node, _)| is_first(node)) {
            self.first_nodes.add(node.key, next, |at| self.nodes[at].key);
        }
        for (&key, next) in self.messages.iter().zip(0..) {
            self.first_messages.add(key, next, |at| self.messages[at]);
        }
        for (call, next) in self.calls.iter().zip(0..) {
            self.first_calls.add(call.key, next, |at| self.calls[at].key);
        }
    }
}

/// A table in an order of its own, so that the same facts are the same bytes.
fn sorted<K: Clone + Ord, V: Clone>(table: &HashMap<K, V>) -> Vec<(K, V)> {
    sorted_pairs(table.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn sorted_pairs<K: Ord, V>(mut all: Vec<(K, V)>) -> Vec<(K, V)> {
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// The keys by their numbers.
fn in_order(mut numbered: Vec<(Key, u32)>) -> Vec<Key> {
    numbered.sort_by_key(|(_, number)| *number);
    numbered.into_iter().map(|(key, _)| key).collect()
}

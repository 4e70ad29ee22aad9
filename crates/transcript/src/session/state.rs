//! The facts of a session as bytes, so that a file that grew is read on from where it was read
//! to, also by another run.
//!
//! Only what can't be told from the rest is written: the tables that find a node by its key are
//! made again. Whoever keeps the bytes keeps [`VERSION`] beside them; bytes of another version,
//! or damaged ones, are no error: the file is read again.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::build::Builder;
use super::fact::{AgentLink, Agents, Call, Compaction, Marks, Names, Stamp, Titles, Touch};
use super::node::{Node, flag};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::id::Key;

/// What the bytes of [`Builder::save`] mean. Raised with every change to what is remembered of an
/// entry, also where the bytes look the same.
pub const VERSION: u32 = 3;

/// A builder's fields, in order and without the tables.
#[derive(Serialize, Deserialize)]
struct State {
    nodes: Vec<Node>,
    waiting: Vec<(u32, Key)>,
    messages: Vec<(Key, u32)>,
    names: [Vec<Box<str>>; 5],
    calls: Vec<Call>,
    words: Vec<(u32, Key)>,
    unpaired: Vec<(Key, u32)>,
    doubled: Vec<(u32, u32)>,
    compactions: Vec<Compaction>,
    touches: Vec<Touch>,
    titles: Vec<Titles>,
    stamps: Vec<Stamp>,
    links: Vec<(Box<str>, AgentLink)>,
    runs: Vec<(Box<str>, Key)>,
    inline: Vec<(u32, Key)>,
    task: Option<Key>,
    marks: Marks,
    leaf: Option<(Key, u32)>,
    diagnostics: Vec<Diagnostic>,
    diagnostic_counts: Vec<(DiagnosticKind, u64)>,
    last_of: Vec<(Option<Key>, u32)>,
    number: u32,
    lines: u64,
    consumed: u64,
    open_line: bool,
}

impl Builder {
    /// Its facts as bytes. What is unfinished at the end is read again and not kept. One that adopted entries of other files is not kept.
    pub fn save(&self) -> Vec<u8> {
        let names = [&self.sessions, &self.tools, &self.paths, &self.models, &self.versions];
        let is_settled = |kind| kind != DiagnosticKind::Unfinished;
        let counts = self.diagnostic_counts.iter();
        let state = State {
            nodes: self.nodes.clone(),
            waiting: self.waiting.clone(),
            messages: sorted_pairs(self.messages.iter().copied().zip(0..).collect()),
            names: names.map(|names| names.list().to_vec()),
            calls: self.calls.clone(),
            words: self.words.clone(),
            unpaired: self.unpaired.clone(),
            doubled: self.doubled.clone(),
            compactions: self.compactions.clone(),
            touches: self.touches.clone(),
            titles: self.titles.clone(),
            stamps: self.stamps.clone(),
            links: sorted(&self.agents.links),
            runs: self.agents.runs.clone(),
            inline: self.agents.inline.clone(),
            task: self.agents.task,
            marks: self.marks.clone(),
            leaf: self.leaf,
            diagnostics: self.diagnostics.iter().filter(|d| is_settled(d.kind)).cloned().collect(),
            diagnostic_counts: counts.filter(|(kind, _)| is_settled(*kind)).copied().collect(),
            last_of: sorted(&self.last_of),
            number: self.number,
            lines: self.lines,
            consumed: self.consumed,
            open_line: self.open_line,
        };
        postcard::to_stdvec(&state).expect("plain values can be written")
    }

    /// The facts that [`Builder::save`] wrote; `None` if the bytes are none.
    pub fn load(bytes: &[u8]) -> Option<Self> {
        let state: State = postcard::from_bytes(bytes).ok()?;
        let [sessions, tools, paths, models, versions] = state.names.map(Names::of);
        let mut builder = Self {
            nodes: state.nodes,
            waiting: state.waiting,
            messages: in_order(state.messages),
            sessions,
            tools,
            paths,
            models,
            versions,
            calls: state.calls,
            words: state.words,
            unpaired: state.unpaired,
            doubled: state.doubled,
            compactions: state.compactions,
            touches: state.touches,
            titles: state.titles,
            stamps: state.stamps,
            agents: Agents {
                links: state.links.into_iter().collect(),
                runs: state.runs,
                inline: state.inline,
                task: state.task,
            },
            marks: state.marks,
            leaf: state.leaf,
            diagnostics: state.diagnostics,
            diagnostic_counts: state.diagnostic_counts,
            last_of: state.last_of.into_iter().collect(),
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

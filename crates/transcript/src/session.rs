//! Entries into a session: the tree, the way to where the talk stands, branches, segments, turns,
//! calls, subagents, files touched. One file at a time; what needs other files is in
//! [`crate::library`].
//!
//! ```
//! use transcript::session::{Builder, Options, State};
//! let file = br#"{"parentUuid":null,"uuid":"a","sessionId":"s","type":"user","message":{"role":"user","content":"one"}}
//! {"parentUuid":"a","uuid":"b","sessionId":"s","type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"1"}]}}
//! {"parentUuid":"b","uuid":"c","sessionId":"s","type":"user","message":{"role":"user","content":"two"}}
//! {"parentUuid":"b","uuid":"d","sessionId":"s","type":"user","message":{"role":"user","content":"three"}}
//! "#;
//! let mut builder = Builder::new();
//! builder.read(&file[..])?;
//! let session = builder.finish(&Options::default());
//! assert_eq!(session.turns().len(), 2);
//! assert_eq!(session.branches().len(), 1); // the person rewound to "one" and replaced "two"
//! assert_eq!(session.state(2), State::Abandoned);
//! # std::io::Result::Ok(())
//! ```

mod build;
mod fact;
mod fork;
mod node;
mod queue;
mod relink;
mod resolve;
mod share;
mod state;
mod turn;

pub use build::Builder;
pub(crate) use fact::Names;
pub use fact::{AgentLink, Call, Compaction, LinkKind, PrLink, Titles, Touch};
pub use fork::{Branch, Fork, ForkKind};
pub use node::{Node, Role};
pub use resolve::Options;
pub use state::VERSION as STATE_VERSION;
pub use turn::{Segment, Turn};

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::id::{Key, SessionId};
use crate::time::Time;
use crate::tool::Commit;
use node::{NONE, flag};

/// Where an entry stands in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// In the conversation as it stands.
    Active,
    /// In the conversation, before the last compaction.
    Compacted,
    /// In the conversation, before the context was cleared and the talk began anew in the same
    /// file: a plan approved with "clear context".
    Cleared,
    /// On a branch that was left, or an answer that was dropped.
    Abandoned,
    /// A subagent's entry inside the main file (1.0.x).
    Aside,
    /// An entry of another session.
    Foreign,
    /// Written again; the first one counts.
    Repeated,
}

impl State {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Compacted => "compacted",
            Self::Cleared => "cleared",
            Self::Abandoned => "abandoned",
            Self::Aside => "subagent",
            Self::Foreign => "foreign",
            Self::Repeated => "repeated",
        }
    }

    /// Whether it is part of the conversation as it went.
    pub const fn is_on_way(self) -> bool {
        matches!(self, Self::Active | Self::Compacted | Self::Cleared)
    }
}

/// How the last turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ending {
    /// The model answered.
    Answered,
    /// A prompt, a call or a result that nothing followed.
    Open,
    /// A person interrupted.
    Interrupted,
    /// Nobody said anything.
    Empty,
}

/// Where a title comes from, most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TitleSource {
    /// A person named the session.
    Custom,
    /// The model named it.
    Ai,
    /// The last prompt, as Claude Code noted it.
    LastPrompt,
    /// A summary of this very session.
    Summary,
    /// The first thing a person asked.
    FirstPrompt,
    /// The first slash command.
    Command,
    /// What another agent asked for.
    Task,
}

impl TitleSource {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Custom => "custom",
            Self::Ai => "ai",
            Self::LastPrompt => "last-prompt",
            Self::Summary => "summary",
            Self::FirstPrompt => "first-prompt",
            Self::Command => "command",
            Self::Task => "task",
        }
    }
}

/// A session, rebuilt.
#[derive(Debug, Clone)]
pub struct Session {
    facts: Builder,
    own: u32,
    leaf: Option<usize>,
    /// The active path in the order of the context, where that is not the order of the file.
    relinked_path: Vec<u32>,
    up: Vec<u32>,
    states: Vec<State>,
    segment_of: Vec<u32>,
    turn_of: Vec<u32>,
    branch_of: Vec<u32>,
    turns: Vec<Turn>,
    segments: Vec<Segment>,
    forks: Vec<Fork>,
    branches: Vec<Branch>,
}

impl Session {
    /// The session's id, as its entries give it.
    pub fn id(&self) -> Option<SessionId> {
        (self.own != NONE).then(|| SessionId::new(self.facts.sessions.get(self.own)))
    }

    /// Other sessions whose entries stand in the file, with their number.
    pub fn foreign_ids(&self) -> Vec<(SessionId, usize)> {
        self.other_ids(true)
    }

    /// The numbers of the entries that belong to another session. Entries with its id that hang
    /// on entries of this session are this session's own.
    pub fn foreign_entries(&self, id: &str) -> HashSet<u32> {
        let Some(other) = self.facts.sessions.find(id) else { return HashSet::new() };
        let is_its = |n: &&Node| n.session == other && n.has(flag::FOREIGN);
        self.facts.nodes.iter().filter(is_its).map(|n| n.number).collect()
    }

    /// Whether the entry that begins at `offset` of the session's own file belongs to the session.
    pub fn has_own_entry_at(&self, offset: u64) -> bool {
        let nodes = &self.facts.nodes;
        let own = &nodes[..nodes.partition_point(|node| node.source == 0)];
        let at = own.binary_search_by_key(&offset, |node| node.offset);
        at.is_ok_and(|at| !own[at].has(flag::FOREIGN))
    }

    /// Other ids that entries of this session carry: it was resumed by an old version, which kept
    /// the ids of what it copied.
    pub fn former_ids(&self) -> Vec<(SessionId, usize)> {
        self.other_ids(false)
    }

    fn other_ids(&self, foreign: bool) -> Vec<(SessionId, usize)> {
        let ids = self.facts.sessions.iter();
        if ids.len() < 2 && self.own != NONE {
            return Vec::new();
        }
        let mut counts = vec![0; ids.len()];
        let other = |n: &&Node| {
            n.kind.is_chain()
                && n.session != NONE
                && n.has(flag::FOREIGN) == foreign
                && n.session != self.own
        };
        for node in self.facts.nodes.iter().filter(other) {
            counts[node.session as usize] += 1;
        }
        let ids = ids.map(SessionId::new).zip(counts);
        ids.filter(|(_, count)| *count > 0).collect()
    }

    /// The session an entry says it belongs to.
    pub fn session_of(&self, node: usize) -> Option<SessionId> {
        let session = self.facts.nodes[node].session;
        (session != NONE).then(|| SessionId::new(self.facts.sessions.get(session)))
    }

    /// All entries, in file order.
    pub fn nodes(&self) -> &[Node] {
        &self.facts.nodes
    }

    /// Where an entry stands.
    pub fn state(&self, node: usize) -> State {
        self.states[node]
    }

    /// The entry that an entry hangs on, gaps bridged.
    pub fn parent(&self, node: usize) -> Option<usize> {
        Some(self.up[node]).filter(|&up| up != NONE).map(|up| up as usize)
    }

    /// The segment an entry is in.
    pub fn segment_of(&self, node: usize) -> Option<usize> {
        Some(self.segment_of[node]).filter(|&s| s != NONE).map(|s| s as usize)
    }

    /// The turn an entry is in; entries beside the way are in none.
    pub fn turn_of(&self, node: usize) -> Option<usize> {
        Some(self.turn_of[node]).filter(|&t| t != NONE).map(|t| t as usize)
    }

    /// The branch an entry is on; entries on the way are on none.
    pub fn branch_of(&self, node: usize) -> Option<usize> {
        Some(self.branch_of[node]).filter(|&b| b != NONE).map(|b| b as usize)
    }

    /// The entry with this number in the session's own file.
    pub fn numbered(&self, number: u32) -> Option<usize> {
        let own = self.facts.nodes.partition_point(|n| n.source == 0);
        self.facts.nodes[..own].binary_search_by_key(&number, |n| n.number).ok()
    }

    /// The entry with this uuid.
    pub fn find(&self, key: Key) -> Option<usize> {
        self.facts.node_of(key).map(|i| i as usize)
    }

    /// The last entry of the conversation as it stands.
    pub fn leaf(&self) -> Option<usize> {
        self.leaf
    }

    /// The entries that are in the model's context now, in the order in which the model reads
    /// them. A compaction that keeps messages puts them behind its summary, or the summary behind
    /// them, so this is not always the order of the file.
    pub fn context(&self) -> Vec<usize> {
        let is_sent = |&i: &usize| {
            let node = &self.facts.nodes[i];
            self.states[i] == State::Active && (node.kind.is_chain() || node.role == Role::Queued)
        };
        let mut context: Vec<usize> = (0..self.facts.nodes.len()).filter(is_sent).collect();
        if !self.relinked_path.is_empty() {
            let stretch = relink::stretches(&self.relinked_path, &self.up);
            context.sort_by_key(|&i| (stretch[i], i));
        }
        context
    }

    /// The turns of the conversation, across compactions.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The segments, oldest first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many segments are this session's own.
    pub(crate) fn own_segments(&self) -> usize {
        let own = |s: &&Segment| {
            s.compaction
                .is_none_or(|c| self.states[self.facts.compactions[c].node()] != State::Foreign)
        };
        self.segments.iter().filter(own).count()
    }

    /// The compactions, in file order; segment `i + 1` begins with compaction `i`.
    pub fn compactions(&self) -> &[Compaction] {
        &self.facts.compactions
    }

    /// All places with more than one child.
    pub fn forks(&self) -> &[Fork] {
        &self.forks
    }

    /// What was left behind.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// All calls, in file order.
    pub fn calls(&self) -> &[Call] {
        &self.facts.calls
    }

    /// The call with this key.
    pub fn call(&self, key: Key) -> Option<usize> {
        self.facts.call_of(key).map(|i| i as usize)
    }

    /// The name of a call's tool.
    pub fn tool(&self, call: &Call) -> &str {
        self.facts.tools.get(call.tool)
    }

    /// Results whose call is not in the file: key of the call and node of the result.
    pub fn unpaired_results(&self) -> impl Iterator<Item = (Key, usize)> {
        self.facts.unpaired.iter().map(|&(key, node)| (key, node as usize))
    }

    /// Whether an entry counts for this session: its own, once, and not owned by another file.
    pub fn counts(&self, node: usize) -> bool {
        !matches!(self.states[node], State::Foreign | State::Repeated)
            && !self.facts.nodes[node].has(flag::COPY)
    }

    /// Turns that count for this session.
    pub fn own_turns(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter().filter(|turn| self.counts(turn.prompt))
    }

    /// Calls that count for this session.
    pub fn own_calls(&self) -> impl Iterator<Item = &Call> {
        self.facts.calls.iter().filter(|c| self.counts(c.node()))
    }

    /// Failed results that count, with their call where it is known.
    pub fn errors(&self) -> Vec<(usize, Option<&Call>)> {
        let paired =
            self.own_calls().filter(|c| c.is_error).filter_map(|c| Some((c.result()?, Some(c))));
        let alone = self
            .unpaired_results()
            .filter(|&(_, n)| self.facts.nodes[n].is_error() && self.counts(n))
            .map(|(_, n)| (n, None));
        let mut errors: Vec<_> = paired.chain(alone).collect();
        errors.sort_by_key(|(node, _)| *node);
        errors
    }

    /// Changes to files that count, with their path.
    pub fn touches(&self) -> impl Iterator<Item = (&str, &Touch)> {
        let counts = |t: &&Touch| self.counts(self.facts.calls[t.call()].node());
        self.facts.touches.iter().filter(counts).map(|t| (self.facts.paths.get(t.path), t))
    }

    /// Models that answered, in order of first appearance.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.facts.models.iter()
    }

    /// Claude Code versions that wrote the file, in order of first appearance.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        self.facts.versions.iter()
    }

    /// What the session may be called.
    pub fn titles(&self) -> Titles {
        let none = Titles::default();
        let slot = |i: usize| self.facts.titles.get(i).unwrap_or(&none).clone();
        let mut own = if self.own == NONE { none.clone() } else { slot(self.own as usize + 1) };
        for at in self.former_slots() {
            let mut former = slot(at);
            // What was copied came first.
            own.first_prompt = former.first_prompt.take().or(own.first_prompt);
            own.first_command = former.first_command.take().or(own.first_command);
            own.fill(former);
        }
        // Lines without a session id (summaries) belong to the file.
        own.fill(slot(0));
        own
    }

    /// The title, by Claude Code's own order; a summary only if its leaf is in this file.
    pub fn title(&self) -> Option<(Box<str>, TitleSource)> {
        let titles = self.titles();
        // The summary of the last leaf describes the most.
        let of_own = titles.summaries.iter().filter_map(|s| Some((self.find(s.0)?, s)));
        let summary = of_own.max_by_key(|(leaf, _)| *leaf).map(|(_, summary)| summary);
        let options = [
            (titles.custom.clone(), TitleSource::Custom),
            (titles.ai.clone(), TitleSource::Ai),
            (titles.last_prompt.clone(), TitleSource::LastPrompt),
            (summary.map(|(_, text)| text.clone()), TitleSource::Summary),
            (titles.first_prompt.clone(), TitleSource::FirstPrompt),
            (titles.first_command.clone(), TitleSource::Command),
            (titles.first_task.clone(), TitleSource::Task),
        ];
        options.into_iter().find_map(|(title, source)| Some((title?, source)))
    }

    /// The folder the session began in.
    pub fn cwd(&self) -> Option<&str> {
        let former = self.former_slots();
        self.stamp(former.into_iter().chain(self.own_slots()), |stamp| stamp.cwd.as_deref())
    }

    /// The folder that the session belongs to: where it was last moved to, else where it began.
    /// A session that began in a worktree is moved back when it ends, and the worktree may be
    /// gone by then.
    pub fn project(&self) -> Option<&str> {
        self.relocated().or_else(|| self.cwd())
    }

    /// The git branch last seen.
    pub fn git_branch(&self) -> Option<&str> {
        let former = self.former_slots();
        self.stamp(self.own_slots().chain(former), |stamp| stamp.git_branch.as_deref())
    }

    fn stamp<'a>(
        &'a self,
        mut slots: impl Iterator<Item = usize>,
        get: impl Fn(&'a fact::Stamp) -> Option<&'a str>,
    ) -> Option<&'a str> {
        slots.find_map(|slot| get(self.facts.stamps.get(slot)?))
    }

    /// Where facts of this session are kept: by its id, and for entries without one.
    fn own_slots(&self) -> impl Iterator<Item = usize> + use<> {
        let own = (self.own != NONE).then_some(self.own as usize + 1);
        own.into_iter().chain([0])
    }

    /// Where facts of the ids it had before are kept.
    fn former_slots(&self) -> Vec<usize> {
        // An id that another session has in the same file names that session, too.
        let foreign = self.foreign_ids();
        let is_foreign = |id: &SessionId| foreign.iter().any(|(other, _)| other == id);
        let former = self.former_ids();
        former
            .iter()
            .filter(|(id, _)| !is_foreign(id))
            .filter_map(|(id, _)| Some(self.facts.sessions.find(id.as_str())? as usize + 1))
            .collect()
    }

    /// The earliest time in it.
    pub fn first_time(&self) -> Option<Time> {
        self.times().min()
    }

    /// The latest time in it.
    pub fn last_time(&self) -> Option<Time> {
        self.times().max()
    }

    fn times(&self) -> impl Iterator<Item = Time> {
        let own = |n: &&Node| n.kind.is_chain() && !n.has(flag::FOREIGN);
        self.facts.nodes.iter().filter(own).filter_map(Node::time)
    }

    /// Pull requests it is linked to.
    pub fn pr_links(&self) -> &[PrLink] {
        &self.facts.marks.pr_links
    }

    /// Commits it made, with the node of the result that shows each.
    pub fn commits(&self) -> impl Iterator<Item = (usize, &Commit)> {
        let counts = |c: &&(u32, Commit)| self.counts(c.0 as usize);
        self.facts
            .marks
            .commits
            .iter()
            .filter(counts)
            .map(|(node, commit)| (*node as usize, commit))
    }

    /// The background session the talk went on in.
    pub fn continued_in(&self) -> Option<&str> {
        self.facts.marks.continued_in.as_deref()
    }

    /// The session it was forked from, as the SDK writes it.
    pub fn forked_from(&self) -> Option<&str> {
        self.facts.marks.forked_from.as_deref()
    }

    /// The lineage's root (`session_id`, since 2.1.207).
    pub fn lineage(&self) -> Option<&str> {
        self.facts.marks.lineage.as_deref()
    }

    /// The session whose context a forked subagent began with.
    pub fn fork_context(&self) -> Option<&str> {
        self.facts.marks.fork_context.as_deref()
    }

    /// The folder that the session was moved to.
    pub fn relocated(&self) -> Option<&str> {
        self.facts.marks.relocated.as_deref()
    }

    /// Whether it ran in the background.
    pub fn is_background(&self) -> bool {
        self.facts.marks.is_background
    }

    /// How it was started: `cli`, `claude-desktop`, …
    pub fn entrypoint(&self) -> Option<&str> {
        self.facts.marks.entrypoint.as_deref()
    }

    /// The name of its plan file.
    pub fn plan_slug(&self) -> Option<&str> {
        self.facts.marks.plan_slug.as_deref()
    }

    /// File-history lines in it.
    pub fn snapshots(&self) -> usize {
        self.facts.marks.snapshots as usize
    }

    /// The agent that the file belongs to, as its entries say.
    pub fn agent(&self) -> Option<&str> {
        self.facts.marks.agent.as_deref()
    }

    /// The key of the first words in the file: a subagent's task.
    pub fn task(&self) -> Option<Key> {
        self.facts.agents.task
    }

    /// Subagents that this file names, with the sign.
    pub fn agent_links(&self) -> impl Iterator<Item = (&str, AgentLink)> {
        self.facts.agents.links.iter().map(|(agent, link)| (&**agent, *link))
    }

    /// Runs of workflows that calls of this file started.
    pub fn workflow_runs(&self) -> &[(Box<str>, Key)] {
        &self.facts.agents.runs
    }

    /// Sidechains inside the file (1.0.x): their first node and the key of their task.
    pub fn inline_agents(&self) -> &[(u32, Key)] {
        &self.facts.agents.inline
    }

    /// How the last turn stands.
    pub fn ending(&self) -> Ending {
        let spoke = |i: &usize| {
            self.states[*i] == State::Active
                && (self.facts.nodes[*i].kind.is_talk() || self.facts.nodes[*i].role.is_person())
                && self.facts.nodes[*i].role != Role::Injected
        };
        let Some(last) = (0..self.facts.nodes.len()).rev().find(spoke) else {
            return Ending::Empty;
        };
        match self.facts.nodes[last].role {
            Role::Interrupt => Ending::Interrupted,
            Role::Answer | Role::ApiError | Role::Command | Role::Shell => Ending::Answered,
            _ => Ending::Open,
        }
    }

    /// Oddities with their place; at most a thousand.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.facts.diagnostics
    }

    /// How often each oddity was met.
    pub fn diagnostic_counts(&self) -> &[(DiagnosticKind, u64)] {
        &self.facts.diagnostic_counts
    }

    /// Lines read.
    pub fn lines(&self) -> u64 {
        self.facts.lines()
    }

    /// Keys of the chain entries, in file order, for joining files. What Claude Code injects is
    /// left out: one process writes the same caveat into several sessions.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        let joins = |n: &&Node| n.kind.is_chain() && !n.has(flag::META | flag::FOREIGN);
        self.facts.nodes.iter().filter(joins).map(|n| n.key)
    }
}

#[cfg(test)]
mod tests;

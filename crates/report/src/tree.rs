//! The shape of a session: segments, turns, branches that were left, subagents.

use std::collections::{BTreeMap, HashSet};

use transcript::id::{AgentId, Key};
use transcript::layout::Problem;
use transcript::library::{Agent, AgentParent, SessionItem};
use transcript::reading::EntryReading;
use transcript::session::{Call, ForkKind, LinkKind, Role, Session};
use transcript::time::Time;

use transcript::record::{Body, Opened, Part};

/// A segment with what is in it.
#[derive(Debug, Clone)]
pub struct SegmentRow {
    /// Its index, which never changes.
    pub index: usize,
    /// `auto`, `manual`, or nothing known.
    pub trigger: Option<String>,
    /// How the compaction was told: `boundary` or `summary`.
    pub by: Option<&'static str>,
    /// Tokens before the compaction that began it.
    pub pre_tokens: Option<u64>,
    /// Tokens after it.
    pub post_tokens: Option<u64>,
    /// How long the compaction took.
    pub duration_ms: Option<u64>,
    /// Turns that begin in it.
    pub turns: usize,
    /// Entries in it.
    pub entries: usize,
    /// Number of its first entry.
    pub first_entry: Option<u32>,
    /// Number of its last entry.
    pub last_entry: Option<u32>,
    /// When it began.
    pub first: Option<Time>,
    /// When it ended.
    pub last: Option<Time>,
    /// The node of its summary.
    pub summary: Option<usize>,
    /// Whether it is on a branch that was left.
    pub is_abandoned: bool,
}

/// The segments of a session.
pub fn segments(session: &Session) -> Vec<SegmentRow> {
    let nodes = session.nodes();
    let rows = session.segments().iter().enumerate().map(|(index, segment)| {
        let compaction = segment.compaction.map(|c| &session.compactions()[c]);
        let number = |node: Option<usize>| node.map(|n| nodes[n].number);
        let times = || {
            let (first, last) = (segment.first.unwrap_or(0), segment.last.map_or(0, |l| l + 1));
            (first..last)
                .filter(|&n| session.segment_of(n) == Some(index))
                .filter_map(|n| nodes[n].time())
        };
        SegmentRow {
            index,
            trigger: compaction.and_then(|c| c.trigger.as_deref()).map(str::to_owned),
            by: compaction.map(|c| if c.is_boundary { "boundary" } else { "summary" }),
            pre_tokens: compaction.and_then(|c| c.pre_tokens),
            post_tokens: compaction.and_then(|c| c.post_tokens),
            duration_ms: compaction.and_then(|c| c.duration_ms),
            turns: segment.turns,
            entries: segment.entries,
            first_entry: number(segment.first),
            last_entry: number(segment.last),
            first: times().min(),
            last: times().max(),
            summary: compaction.and_then(|c| c.summary_node()),
            is_abandoned: segment.is_abandoned,
        }
    });
    rows.collect()
}

/// One line of the tree.
#[derive(Debug, Clone)]
pub struct TreeLine {
    /// How deep it stands.
    pub depth: usize,
    /// What it is.
    pub kind: TreeKind,
}

/// What a line of the tree is.
#[derive(Debug, Clone)]
pub enum TreeKind {
    /// A segment begins.
    Segment(SegmentRow),
    /// A turn on the way: its number from 1, the node of the prompt, calls and errors.
    Turn {
        /// Number from 1.
        number: usize,
        /// The prompt's node.
        node: usize,
        /// Calls in it.
        calls: usize,
        /// Failed ones.
        errors: usize,
    },
    /// A branch that was left: its number from 1, why, its first node.
    Branch {
        /// Number from 1.
        number: usize,
        /// Rewind or unknown.
        kind: ForkKind,
        /// Its first node.
        node: usize,
        /// The node of its first prompt; its first node if nobody asked anything.
        prompt: usize,
        /// Prompts on it.
        prompts: usize,
        /// Entries on it.
        entries: usize,
    },
    /// A subagent.
    Agent(Box<AgentLine>),
}

/// A subagent in the tree.
#[derive(Debug, Clone)]
pub struct AgentLine {
    /// Its id, where anything names it.
    pub id: Option<AgentId>,
    /// What the library knows of it; nothing when its transcript is missing.
    pub agent: Option<Agent>,
    /// The call that started it, by index into the session's calls; an agent's agent has none.
    pub call: Option<usize>,
    /// How the two are known to belong together.
    pub link: Option<LinkKind>,
    /// Where what it did is written.
    pub place: AgentPlace,
}

/// Where what a subagent did is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPlace {
    /// In a file of its own.
    File,
    /// In the session's own file (1.0.x).
    Inside,
    /// In a file that is not there any more.
    Missing,
    /// Not looked for: the session's file was read alone.
    NotSought,
}

impl AgentPlace {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Inside => "inside",
            Self::Missing => "missing",
            Self::NotSought => "not-sought",
        }
    }
}

/// The tree of a session, from top to bottom. Without an item the session's file was read alone.
pub fn tree(session: &Session, item: Option<&SessionItem>) -> Vec<TreeLine> {
    let mut planter = Planter::new(session, item);
    for segment in segments(session) {
        let index = segment.index;
        planter.push(0, TreeKind::Segment(segment));
        planter.segment(index);
    }
    planter.rest();
    planter.lines
}

/// How many places with several children there are of each kind, the most frequent first.
pub fn forks(session: &Session) -> Vec<(ForkKind, usize)> {
    let mut counts: BTreeMap<ForkKind, usize> = BTreeMap::new();
    for fork in session.forks() {
        *counts.entry(fork.kind).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(kind, count)| (std::cmp::Reverse(count), kind));
    counts
}

/// Puts everything into the tree once, so that circles of parents end.
struct Planter<'a> {
    session: &'a Session,
    agents: Vec<AgentLine>,
    placed_agents: Vec<bool>,
    placed_branches: Vec<bool>,
    lines: Vec<TreeLine>,
}

impl<'a> Planter<'a> {
    fn new(session: &'a Session, item: Option<&SessionItem>) -> Self {
        let agents = agent_lines(session, item);
        Self {
            session,
            placed_agents: vec![false; agents.len()],
            placed_branches: vec![false; session.branches().len()],
            agents,
            lines: Vec::new(),
        }
    }

    fn push(&mut self, depth: usize, kind: TreeKind) {
        self.lines.push(TreeLine { depth, kind });
    }

    /// The turns of a segment, and between them, where they were left, its branches.
    fn segment(&mut self, segment: usize) {
        let session = self.session;
        let turns = session.turns().iter().enumerate().filter(|(_, t)| t.segment == segment);
        let branches = session.branches().iter().enumerate().filter(|(_, b)| {
            let is_own = b.at.and_then(|at| session.branch_of(at)).is_none();
            is_own && session.segment_of(b.head).unwrap_or(0) == segment
        });
        let mut parts: Vec<(usize, Result<usize, usize>)> = turns
            .map(|(at, turn)| (turn.prompt, Ok(at)))
            .chain(branches.map(|(at, branch)| (branch.head, Err(at))))
            .collect();
        parts.sort_unstable();
        for (_, part) in parts {
            match part {
                Ok(turn) => self.turn(turn),
                Err(branch) => self.branch(branch, 1),
            }
        }
    }

    fn turn(&mut self, index: usize) {
        let turn = &self.session.turns()[index];
        let (number, node, calls, errors) = (index + 1, turn.prompt, turn.calls, turn.errors);
        self.push(1, TreeKind::Turn { number, node, calls, errors });
        let session = self.session;
        self.started_by(2, |node| session.turn_of(node) == Some(index));
    }

    fn branch(&mut self, index: usize, depth: usize) {
        if std::mem::replace(&mut self.placed_branches[index], true) {
            return;
        }
        let session = self.session;
        let branch = &session.branches()[index];
        let on_it = |n: &usize| session.branch_of(*n) == Some(index);
        let asks = |n: &usize| session.nodes()[*n].role.is_person();
        let prompt = (branch.head..=branch.last).filter(on_it).find(asks).unwrap_or(branch.head);
        let kind = TreeKind::Branch {
            number: index + 1,
            kind: branch.kind,
            node: branch.head,
            prompt,
            prompts: branch.prompts,
            entries: branch.entries,
        };
        self.push(depth, kind);
        self.started_by(depth + 1, |node| session.branch_of(node) == Some(index));
        for (inner, branch) in session.branches().iter().enumerate() {
            if branch.at.and_then(|at| session.branch_of(at)) == Some(index) {
                self.branch(inner, depth + 1);
            }
        }
    }

    /// The subagents whose calls stand at nodes that `is_here` takes.
    fn started_by(&mut self, depth: usize, is_here: impl Fn(usize) -> bool) {
        for at in 0..self.agents.len() {
            let call = self.agents[at].call.map(|call| &self.session.calls()[call]);
            if call.is_some_and(|call| is_here(call.node())) {
                self.agent(at, depth);
            }
        }
    }

    /// A subagent and those it started.
    fn agent(&mut self, at: usize, depth: usize) {
        if std::mem::replace(&mut self.placed_agents[at], true) {
            return;
        }
        let line = self.agents[at].clone();
        let id = line.id.clone();
        self.push(depth, TreeKind::Agent(Box::new(line)));
        let Some(id) = id else { return };
        for child in 0..self.agents.len() {
            let parent = self.agents[child].agent.as_ref().map(|agent| &agent.parent);
            if parent == Some(&AgentParent::Agent(id.clone())) {
                self.agent(child, depth + 1);
            }
        }
    }

    /// What hangs on nothing that was shown.
    fn rest(&mut self) {
        for branch in 0..self.placed_branches.len() {
            self.branch(branch, 0);
        }
        let is_child = |line: &AgentLine| {
            line.agent.as_ref().is_some_and(|agent| agent.parent != AgentParent::Session)
        };
        let mut order: Vec<usize> = (0..self.agents.len()).collect();
        order.sort_by_key(|&at| is_child(&self.agents[at]));
        order.into_iter().for_each(|at| self.agent(at, 0));
    }
}

/// The subagents that are there, and those that calls started and of which nothing is left.
fn agent_lines(session: &Session, item: Option<&SessionItem>) -> Vec<AgentLine> {
    let known = item.map_or(&[][..], |item| &item.agents);
    let mut lines: Vec<AgentLine> = known.iter().map(|agent| agent_line(session, agent)).collect();
    let started: HashSet<Key> = known.iter().filter_map(|agent| agent.call).collect();
    let lost = |call: &Call| call.is_agent() && !call.is_error && !started.contains(&call.key());
    for (index, call) in session.calls().iter().enumerate().filter(|(_, call)| lost(call)) {
        let named = session.agent_links().find(|(_, link)| link.call == Some(call.key()));
        let is_known = named.is_some_and(|(id, _)| known.iter().any(|a| a.id.as_str() == id));
        if !session.counts(call.node()) || is_known {
            continue;
        }
        lines.push(AgentLine {
            id: named.map(|(id, _)| AgentId::new(id)),
            agent: None,
            call: Some(index),
            link: named.map(|(_, link)| link.kind),
            place: if item.is_some() { AgentPlace::Missing } else { AgentPlace::NotSought },
        });
    }
    lines.sort_by_key(|line| line.call.unwrap_or(usize::MAX));
    lines
}

fn agent_line(session: &Session, agent: &Agent) -> AgentLine {
    AgentLine {
        id: Some(agent.id.clone()),
        call: agent.call.and_then(|key| session.call(key)),
        link: Some(agent.link),
        place: if agent.entry.is_some() { AgentPlace::Inside } else { AgentPlace::File },
        agent: Some(agent.clone()),
    }
}

/// The first words of what stands at a node: a prompt, an answer, a summary.
pub fn words(opened: &Opened<'_>, node: usize) -> Result<Option<String>, Problem> {
    let Some(record) = opened.record(node)? else { return Ok(None) };
    let said = |parts: Vec<Part>| {
        parts.into_iter().find_map(|part| match part {
            Part::Text(text) => Some(text),
            _ => None,
        })
    };
    Ok(match record.body {
        Body::Prompt { text, .. } | Body::Summary { text } => Some(text),
        Body::Answer { parts } | Body::Calls { parts, .. } => said(parts),
        Body::Note { text, .. } => text,
        _ => None,
    })
}

/// Where a compaction's summary begins to say something: past the words that every summary begins
/// with.
pub fn gist(summary: &str) -> &str {
    const TELLING: &str = "Primary Request and Intent:";
    if let Some(at) = summary.find(TELLING) {
        return summary[at + TELLING.len()..].trim_start_matches(['*', ' ', '\n', '\r', '-']);
    }
    let mut rest = summary.trim_start();
    while let Some((line, after)) = rest.split_once('\n') {
        let line = line.trim();
        let is_opening = line.is_empty()
            || line.starts_with("This session is being continued")
            || ["Analysis:", "Summary:"].contains(&line);
        if !is_opening {
            break;
        }
        rest = after;
    }
    rest
}

/// What a call asked a subagent to be and to do: its type and description.
pub fn task(opened: &Opened<'_>, call: &Call) -> Result<(Option<String>, Option<String>), Problem> {
    let bytes = opened.bytes(call.node())?;
    let input = EntryReading::from_bytes(&bytes).call_input(call.key());
    Ok(input.map_or((None, None), |input| input.subagent_task()))
}

/// The nodes that are in the model's context now, in the order the model sees them: the summary
/// of the last compaction, what it kept, and all that was said since.
pub fn context(session: &Session) -> Vec<usize> {
    let is_progress = |&n: &usize| session.nodes()[n].role == Role::Progress;
    session.context().into_iter().filter(|n| !is_progress(n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gist_is_past_what_every_summary_begins_with() {
        let opening = "This session is being continued from a previous conversation that ran out \
                       of context. The conversation is summarized below:\n";
        let check = |rest: &str, want| assert_eq!(gist(&format!("{opening}{rest}")), want);
        check("Analysis:\nLet me", "Let me");
        check("\nSummary:\n1. Primary Request and Intent:\n   - Build it", "Build it");
        check("", "");
        assert_eq!(gist("All in one line"), "All in one line");
    }
}

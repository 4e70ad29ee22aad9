//! The shape of a session: segments, turns, branches that were left, subagents.

use transcript::library::{Agent, AgentParent, SessionItem};
use transcript::session::{ForkKind, Role, Session};
use transcript::time::Time;

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
        /// Prompts on it.
        prompts: usize,
        /// Entries on it.
        entries: usize,
    },
    /// A subagent.
    Agent(Box<Agent>),
}

/// The tree of a session, from top to bottom.
pub fn tree(session: &Session, item: Option<&SessionItem>) -> Vec<TreeLine> {
    let mut lines = Vec::new();
    let agents = item.map_or(&[][..], |i| &i.agents);
    let mut placed = vec![false; agents.len()];
    for segment in segments(session) {
        let index = segment.index;
        lines.push(TreeLine { depth: 0, kind: TreeKind::Segment(segment) });
        for (turn_index, turn) in
            session.turns().iter().enumerate().filter(|(_, t)| t.segment == index)
        {
            branches_before(session, turn.prompt, &mut lines);
            let kind = TreeKind::Turn {
                number: turn_index + 1,
                node: turn.prompt,
                calls: turn.calls,
                errors: turn.errors,
            };
            lines.push(TreeLine { depth: 1, kind });
            agents_of_turn(session, agents, turn_index, &mut placed, &mut lines);
        }
    }
    branches_before(session, usize::MAX, &mut lines);
    for (at, agent) in agents.iter().enumerate() {
        if !placed[at] {
            lines.push(TreeLine { depth: 1, kind: TreeKind::Agent(Box::new(agent.clone())) });
        }
    }
    lines
}

/// Branches are shown before the turn that took their place: after all that stands above them.
fn branches_before(session: &Session, prompt: usize, lines: &mut Vec<TreeLine>) {
    let shown = lines.iter().filter(|l| matches!(l.kind, TreeKind::Branch { .. })).count();
    let mut order: Vec<usize> = (0..session.branches().len()).collect();
    order.sort_by_key(|&b| session.branches()[b].head);
    for &at in order.iter().skip(shown) {
        let branch = &session.branches()[at];
        if branch.head > prompt {
            break;
        }
        let kind = TreeKind::Branch {
            number: at + 1,
            kind: branch.kind,
            node: branch.head,
            prompts: branch.prompts,
            entries: branch.entries,
        };
        lines.push(TreeLine { depth: 1, kind });
    }
}

fn agents_of_turn(
    session: &Session,
    agents: &[Agent],
    turn: usize,
    placed: &mut [bool],
    lines: &mut Vec<TreeLine>,
) {
    for at in 0..agents.len() {
        let call = agents[at].call.and_then(|key| session.call(key));
        let in_turn =
            call.is_some_and(|c| session.turn_of(session.calls()[c].node()) == Some(turn));
        if !placed[at] && in_turn && agents[at].parent == AgentParent::Session {
            place_agent(agents, at, 2, placed, lines);
        }
    }
}

/// A subagent and those it started; each is placed once, so that a circle of parents ends.
fn place_agent(
    agents: &[Agent],
    at: usize,
    depth: usize,
    placed: &mut [bool],
    lines: &mut Vec<TreeLine>,
) {
    placed[at] = true;
    lines.push(TreeLine { depth, kind: TreeKind::Agent(Box::new(agents[at].clone())) });
    for child in 0..agents.len() {
        if !placed[child] && agents[child].parent == AgentParent::Agent(agents[at].id.clone()) {
            place_agent(agents, child, depth + 1, placed, lines);
        }
    }
}

/// The nodes that are in the model's context now, in the order the model sees them: the summary
/// of the last compaction, what it kept, and all that was said since.
pub fn context(session: &Session) -> Vec<usize> {
    let nodes = session.nodes();
    let active = |&n: &usize| {
        session.state(n) == transcript::session::State::Active
            && nodes[n].kind.is_chain()
            && nodes[n].role != Role::Progress
    };
    let all: Vec<usize> = (0..nodes.len()).filter(active).collect();
    let start = |n: &&usize| matches!(nodes[**n].role, Role::Boundary | Role::Summary);
    let (head, rest): (Vec<usize>, Vec<usize>) = all.iter().partition(|n| start(n));
    let (kept, since): (Vec<usize>, Vec<usize>) = rest
        .into_iter()
        .partition(|&n| nodes[n].is_preserved() && head.first().is_some_and(|&h| n < h));
    [head, kept, since].concat()
}

//! Why an entry has more than one child. Nearly never because a person went back: of 8,660 such
//! places in real files 8,441 are parallel calls, and only 67 are rewinds.
//!
//! Each child that is not on the way is judged beside the one that is. It is a rewind only if a
//! person spoke on one side and the two sides did not overlap in the file; where neither a rewind
//! nor anything else can be proven, it is [`ForkKind::Unknown`].

use hashbrown::HashSet;

use super::State;
use super::build::Builder;
use super::node::{NONE, Role, flag};
use super::resolve::Tree;
use crate::entry::Kind;
use crate::id::Key;
use crate::time::Time;

/// What a fork is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForkKind {
    /// Calls of one response, each result hanging on its own call.
    Parallel,
    /// Local commands side by side; none of them asked the model.
    Local,
    /// A person interrupted; the note hangs beside what was cut off.
    Interrupt,
    /// The same entry written again under another name.
    Replay,
    /// Two results for one call.
    Doubled,
    /// The request was made again; the first answer was dropped.
    Retry,
    /// Two lines of talk, and nothing tells why.
    Unknown,
    /// A person went back and said something else.
    Rewind,
}

impl ForkKind {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Local => "local",
            Self::Interrupt => "interrupt",
            Self::Replay => "replay",
            Self::Doubled => "doubled",
            Self::Retry => "retry",
            Self::Unknown => "unknown",
            Self::Rewind => "rewind",
        }
    }
}

/// An entry with more than one child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The node that the children hang on; none when they are roots.
    pub at: Option<usize>,
    /// What it is.
    pub kind: ForkKind,
    /// The children, in file order.
    pub children: Vec<usize>,
}

/// A line of talk that was left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// [`ForkKind::Rewind`] or [`ForkKind::Unknown`].
    pub kind: ForkKind,
    /// The node where it parts; none when it is a root.
    pub at: Option<usize>,
    /// Its first node.
    pub head: usize,
    /// Its last node in the file.
    pub last: usize,
    /// Entries on it.
    pub entries: usize,
    /// A person's prompts on it.
    pub prompts: usize,
}

/// All forks of a session, and the state of every node beside the way.
pub(super) struct Forks {
    forks: Vec<Fork>,
    branches: Vec<Branch>,
    branch_of: Vec<u32>,
}

impl Forks {
    pub(super) fn of(
        facts: &Builder,
        tree: &Tree,
        way: &[Option<State>],
        states: &mut [State],
    ) -> Self {
        let judge = Judge::new(facts, tree, way);
        let (forks, verdicts) = judge.all();
        let mut all = Self { forks, branches: Vec::new(), branch_of: vec![NONE; states.len()] };
        for &index in &tree.order {
            all.place(index as usize, &judge, &verdicts, states);
        }
        all
    }

    pub(super) fn into_parts(self) -> (Vec<Fork>, Vec<Branch>, Vec<u32>) {
        (self.forks, self.branches, self.branch_of)
    }

    /// Gives one node its state; what it hangs on has its own already.
    fn place(
        &mut self,
        index: usize,
        judge: &Judge<'_>,
        verdicts: &[Option<ForkKind>],
        states: &mut [State],
    ) {
        if let Some(state) = judge.way[index] {
            states[index] = state;
            return;
        }
        let up = judge.tree.up[index];
        let above = if up == NONE { State::Foreign } else { states[up as usize] };
        let inherited = match above {
            State::Foreign | State::Aside => judge.tree.loose[index],
            state => state,
        };
        let branch = if up == NONE { NONE } else { self.branch_of[up as usize] };
        (states[index], self.branch_of[index]) = match verdicts[index] {
            None if inherited == State::Repeated && judge.is_said_once(index) => {
                (State::Abandoned, self.open(index, ForkKind::Unknown, judge))
            }
            Some(kind @ (ForkKind::Rewind | ForkKind::Unknown)) => {
                (State::Abandoned, self.open(index, kind, judge))
            }
            Some(ForkKind::Retry) => (State::Abandoned, branch),
            Some(ForkKind::Doubled | ForkKind::Replay) => (State::Repeated, branch),
            _ => (inherited, branch),
        };
        self.count(index, judge);
    }

    fn open(&mut self, head: usize, kind: ForkKind, judge: &Judge<'_>) -> u32 {
        let at = judge.talk_above[head];
        self.branches.push(Branch {
            kind,
            at: (at != NONE).then_some(at as usize),
            head,
            last: head,
            entries: 0,
            prompts: 0,
        });
        self.branches.len() as u32 - 1
    }

    fn count(&mut self, index: usize, judge: &Judge<'_>) {
        let branch = self.branch_of[index];
        if branch != NONE {
            let branch = &mut self.branches[branch as usize];
            branch.entries += 1;
            branch.last = branch.last.max(index);
            branch.prompts += usize::from(judge.facts.nodes[index].role.is_person());
        }
    }
}

/// What a child is to the fork it stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nature {
    /// The same response goes on.
    More,
    Result,
    /// Another response.
    Answer,
    /// A person speaks, or a compaction begins a new segment.
    Talk,
    /// A note of an interruption.
    Interrupt,
    /// Something that nobody answered.
    Local,
}

struct Judge<'a> {
    facts: &'a Builder,
    tree: &'a Tree,
    way: &'a [Option<State>],
    /// The anchor above each node.
    talk_above: Vec<u32>,
    /// The response that each node is part of or a result for.
    response: Vec<u32>,
    /// The last node in the file that hangs below each node.
    last_below: Vec<u32>,
    /// Whether a person speaks at or below each node.
    person: Vec<bool>,
    /// Whether a response begins at or below each node.
    answer: Vec<bool>,
    /// Results of calls that have more than one.
    doubled: HashSet<u32>,
    /// The responses on the active path.
    active_responses: HashSet<u32>,
    /// Time and words of the user entries on the active path.
    active_words: HashSet<(Option<Time>, Key)>,
}

impl<'a> Judge<'a> {
    fn new(facts: &'a Builder, tree: &'a Tree, way: &'a [Option<State>]) -> Self {
        let size = facts.nodes.len();
        let mut judge = Self {
            facts,
            tree,
            way,
            talk_above: vec![NONE; size],
            response: vec![NONE; size],
            last_below: (0..size as u32).collect(),
            person: vec![false; size],
            answer: vec![false; size],
            doubled: facts
                .doubled
                .iter()
                .flat_map(|&(call, node)| [facts.calls[call as usize].result, node])
                .collect(),
            active_responses: HashSet::new(),
            active_words: HashSet::new(),
        };
        judge.collect_active();
        for (index, &up) in tree.up.iter().enumerate() {
            if up != NONE {
                judge.talk_above[index] = tree.anchor[up as usize];
            }
        }
        for &index in &tree.order {
            judge.find_response(index as usize);
        }
        for &index in tree.order.iter().rev() {
            judge.sum_up(index as usize);
        }
        judge
    }

    fn collect_active(&mut self) {
        let Self { facts, way, .. } = *self;
        let is_active = |n: usize| way[n].is_some();
        let nodes = facts.nodes.iter().enumerate();
        let responses = nodes.filter(|&(n, node)| node.message != NONE && is_active(n));
        self.active_responses = responses.map(|(_, node)| node.message).collect();
        let words = facts.words.iter().filter(|&&(n, _)| is_active(n as usize));
        let words = words.map(|&(n, key)| (facts.nodes[n as usize].time(), key));
        self.active_words = words.collect();
    }

    /// Whether an entry below a replayed one is not on the active path a second time: it was not
    /// written twice, and hiding it would lose it.
    fn is_said_once(&self, index: usize) -> bool {
        let node = &self.facts.nodes[index];
        if !self.tree.is_main(node) || node.has(flag::META) {
            return false;
        }
        if node.kind == Kind::Assistant {
            return node.message == NONE || !self.active_responses.contains(&node.message);
        }
        if node.role == Role::Result {
            return !self.doubled.contains(&(index as u32));
        }
        let words = self.facts.words.binary_search_by_key(&(index as u32), |w| w.0);
        let is_active =
            |at: usize| self.active_words.contains(&(node.time(), self.facts.words[at].1));
        node.role.is_person() && words.is_ok_and(|at| !is_active(at))
    }

    /// Whether two entries are of one response, which was then written twice.
    fn is_same_response(&self, a: usize, b: usize) -> bool {
        let message = |n: usize| self.facts.nodes[n].message;
        message(a) != NONE && message(a) == message(b)
    }

    fn sum_up(&mut self, index: usize) {
        let node = &self.facts.nodes[index];
        if self.tree.is_main(node) {
            self.person[index] |= matches!(node.role, Role::Prompt | Role::Queued);
            self.answer[index] |= node.kind == Kind::Assistant && !self.continues(index);
        }
        let up = self.tree.up[index];
        if up != NONE {
            let up = up as usize;
            self.last_below[up] = self.last_below[up].max(self.last_below[index]);
            self.person[up] |= self.person[index];
            self.answer[up] |= self.answer[index];
        }
    }

    fn find_response(&mut self, index: usize) {
        let above = self.talk_above[index];
        self.response[index] = match self.facts.nodes[index].role {
            Role::Result if above != NONE => self.response[above as usize],
            _ => self.facts.nodes[index].message,
        };
    }

    /// Whether the node goes on with the response that it hangs on. While it streams, its next
    /// block may hang on the result of its last call.
    fn continues(&self, index: usize) -> bool {
        let above = self.talk_above[index];
        let message = self.facts.nodes[index].message;
        above != NONE && message != NONE && self.response[above as usize] == message
    }

    /// All forks, and a verdict on each node that is not on the way but beside another.
    fn all(&self) -> (Vec<Fork>, Vec<Option<ForkKind>>) {
        let stand: Vec<(u32, u32)> = (0..self.facts.nodes.len() as u32)
            .filter(|&i| self.stands_at_fork(i as usize))
            .map(|i| (self.talk_above[i as usize], i))
            .collect();
        let mut beside = vec![0u8; self.facts.nodes.len() + 1];
        let place = |above: u32| if above == NONE { 0 } else { above as usize + 1 };
        for &(above, _) in &stand {
            let count = &mut beside[place(above)];
            *count = count.saturating_add(1);
        }
        let mut groups: Vec<(u32, u32)> =
            stand.into_iter().filter(|&(above, _)| beside[place(above)] > 1).collect();
        groups.sort_unstable();
        let mut verdicts = vec![None; self.facts.nodes.len()];
        let mut forks = Vec::new();
        // Where a partial compaction kept messages, both the old and the new talk are on the way.
        let beside = |c: &(u32, u32)| self.way[c.1 as usize].is_none();
        let off_way = |g: &[(u32, u32)]| g.iter().any(beside);
        let groups = groups.chunk_by(|a, b| a.0 == b.0);
        for group in groups.filter(|g| off_way(g)) {
            forks.push(self.fork(group, &mut verdicts));
        }
        (forks, verdicts)
    }

    fn stands_at_fork(&self, index: usize) -> bool {
        let node = &self.facts.nodes[index];
        let is_bridged = self.talk_above[index] == NONE && (node.is_orphan() || node.is_cycle());
        Tree::is_anchor(node) && self.tree.is_main(node) && !is_bridged
    }

    fn fork(&self, group: &[(u32, u32)], verdicts: &mut [Option<ForkKind>]) -> Fork {
        let children: Vec<usize> = group.iter().map(|&(_, child)| child as usize).collect();
        let kept = children
            .iter()
            .copied()
            .max_by_key(|&c| (self.way[c].is_some(), self.last_below[c]))
            .unwrap_or(children[0]);
        let mut kind = ForkKind::Parallel;
        for &child in children.iter().filter(|&&c| c != kept && self.way[c].is_none()) {
            let verdict = self.verdict(child, kept);
            kind = kind.max(verdict);
            verdicts[child] = Some(verdict);
        }
        let at = group[0].0;
        Fork { at: (at != NONE).then_some(at as usize), kind, children }
    }

    fn nature(&self, index: usize) -> Nature {
        match self.facts.nodes[index].role {
            _ if self.continues(index) => Nature::More,
            Role::Result => Nature::Result,
            Role::Answer | Role::Thinking | Role::Call | Role::ApiError => Nature::Answer,
            Role::Prompt | Role::Queued | Role::Boundary | Role::Summary => Nature::Talk,
            Role::Interrupt => Nature::Interrupt,
            _ if self.answer[index] => Nature::Talk,
            _ => Nature::Local,
        }
    }

    /// What `child` is, beside `kept`, which goes on.
    fn verdict(&self, child: usize, kept: usize) -> ForkKind {
        let (nature, beside) = (self.nature(child), self.nature(kept));
        let goes_on = self.answer[child] || self.person[child];
        match nature {
            Nature::Result if self.doubled.contains(&(child as u32)) && !goes_on => {
                ForkKind::Doubled
            }
            Nature::Result | Nature::More
                if beside == Nature::Talk && (goes_on || nature == Nature::More) =>
            {
                self.rewind(child, kept)
            }
            Nature::Result | Nature::More if self.person[child] => ForkKind::Unknown,
            Nature::Result | Nature::More if self.answer[child] => ForkKind::Retry,
            Nature::Result | Nature::More => ForkKind::Parallel,
            Nature::Answer if self.is_same_response(child, kept) => ForkKind::Replay,
            Nature::Answer if beside == Nature::Talk => self.rewind(child, kept),
            Nature::Answer if self.person[child] => ForkKind::Unknown,
            Nature::Answer if beside == Nature::Interrupt => ForkKind::Interrupt,
            Nature::Answer => ForkKind::Retry,
            Nature::Talk if self.facts.is_replay(child as u32, kept as u32) => ForkKind::Replay,
            Nature::Talk => self.rewind(child, kept),
            Nature::Interrupt | Nature::Local if goes_on => self.rewind(child, kept),
            Nature::Interrupt => ForkKind::Interrupt,
            Nature::Local => ForkKind::Local,
        }
    }

    /// Going back is proven if one side ended before the other began.
    fn rewind(&self, child: usize, kept: usize) -> ForkKind {
        let before = |a: usize, b: usize| (self.last_below[a] as usize) < b;
        if before(child, kept) || before(kept, child) {
            ForkKind::Rewind
        } else {
            ForkKind::Unknown
        }
    }
}

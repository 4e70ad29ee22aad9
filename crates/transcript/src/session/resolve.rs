//! Facts into a session: which entries stand in the conversation as it is now, which before a
//! compaction, which were left behind, and why.
//!
//! The way to the leaf is walked as Claude Code itself does it (by `parentUuid`, the leaf chosen
//! by file position, `last-prompt` first), and then what hangs beside the way is put back:
//! parallel calls with their results, local commands, hooks. Only what is left is a branch, and
//! a branch is called a rewind only if it can't be something else ([`super::fork`]).

use hashbrown::{HashMap, HashSet};

use super::build::Builder;
use super::fact::RepeatedCall;
use super::fork::{Branch, Fork, Forks};
use super::node::{NONE, Node, Role, flag};
use super::turn;
use super::{Session, State};
use crate::firsts::Firsts;

/// How a file's entries are to be read.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// The session the file is named after; entries of other sessions are foreign then.
    pub stem: Option<&'a str>,
    /// Entries that an earlier file owns ([`crate::id::Key::short`]).
    pub copies: Option<&'a HashSet<u64>>,
}

impl Builder {
    /// The session that these facts make.
    pub fn finish(mut self, options: &Options<'_>) -> Session {
        let own = self.own(options.stem);
        self.pair_late();
        self.mark_copies(options.copies);
        let mut tree = Tree::of(&mut self, own);
        let mut states = vec![State::Abandoned; self.nodes.len()];
        let leaf = tree.leaf(&self);
        let (way, path) = tree.way(&self, leaf);
        tree.place_loose(&way);
        let forks = Forks::of(&self, &tree, &way, &mut states);
        tree.settle(&self, &mut states);
        self.settle_queue();
        self.settle_repeated_calls(&mut states);
        let segment_of = turn::segments_of(&self, &tree);
        let (turn_of, turns) = turn::turns(&self, &states, &segment_of);
        let segments = turn::segments(&self, &turns, &segment_of, &states);
        let (forks, branches, branch_of): (Vec<Fork>, Vec<Branch>, _) = forks.into_parts();
        Session {
            own,
            leaf: (leaf != NONE).then_some(leaf as usize),
            relinked_path: if tree.relinked.is_empty() { Vec::new() } else { path },
            up: tree.up,
            states,
            segment_of,
            turn_of,
            branch_of,
            turns,
            segments,
            forks,
            branches,
            facts: self,
        }
    }

    /// The session of the file: the one it is named after if that speaks in it at all, else the
    /// one that speaks most.
    fn own(&self, stem: Option<&str>) -> u32 {
        let mut counts = vec![0u64; self.sessions.iter().len()];
        for node in self.nodes.iter().filter(|n| n.kind.is_chain() && n.session != NONE) {
            counts[node.session as usize] += 1;
        }
        if let Some(named) = stem.and_then(|stem| self.sessions.find(stem))
            && (counts[named as usize] > 0 || counts.iter().all(|&c| c == 0))
        {
            return named;
        }
        let most = counts.iter().enumerate().max_by_key(|&(i, count)| (*count, usize::MAX - i));
        most.map_or(NONE, |(i, _)| i as u32)
    }

    /// Results that stand before their calls.
    fn pair_late(&mut self) {
        for (key, index) in std::mem::take(&mut self.unpaired) {
            let Some(at) = self.call_of(key) else {
                self.unpaired.push((key, index));
                continue;
            };
            let call = &mut self.calls[at as usize];
            if call.result == NONE {
                call.result = index;
                call.is_error = self.nodes[index as usize].is_error();
            } else {
                self.doubled.push((at, index));
            }
        }
    }

    /// A response that was written again repeats its calls under other uuids. A call counts where
    /// it is on the active path, and there in the longest copy: inputs grow while they stream.
    fn settle_repeated_calls(&mut self, states: &mut [State]) {
        for at in 0..self.repeated_calls.len() {
            let RepeatedCall { call, node, has_only_calls } = self.repeated_calls[at];
            let known = self.calls[call as usize].node;
            let rank = |n: u32| (states[n as usize].is_on_way(), self.nodes[n as usize].length);
            let (kept, other) =
                if rank(node) > rank(known) { (node, known) } else { (known, node) };
            self.calls[call as usize].node = kept;
            if has_only_calls && [kept, other].iter().all(|&n| states[n as usize].is_on_way()) {
                states[other as usize] = State::Repeated;
            }
        }
        for &(call, node) in &self.doubled {
            let call = &mut self.calls[call as usize];
            let is_better = call.result == NONE || !states[call.result as usize].is_on_way();
            if is_better && states[node as usize].is_on_way() {
                (call.result, call.is_error) = (node, self.nodes[node as usize].is_error());
            }
        }
        if !self.repeated_calls.is_empty() {
            self.sort_calls();
        }
    }

    /// Calls are looked up by their node, so they stay in its order.
    fn sort_calls(&mut self) {
        let mut order: Vec<u32> = (0..self.calls.len() as u32).collect();
        order.sort_by_key(|&call| self.calls[call as usize].node);
        let mut place = vec![0; order.len()];
        for (now, &before) in order.iter().enumerate() {
            place[before as usize] = now as u32;
        }
        self.calls = order.iter().map(|&call| self.calls[call as usize].clone()).collect();
        self.touches.iter_mut().for_each(|touch| touch.call = place[touch.call as usize]);
        self.doubled.iter_mut().for_each(|(call, _)| *call = place[*call as usize]);
        self.first_calls = Firsts::default();
        for (at, call) in self.calls.iter().enumerate() {
            self.first_calls.add(call.key, at as u32, |i| self.calls[i].key);
        }
    }

    /// The same words at the same moment.
    pub(super) fn is_replay(&self, a: u32, b: u32) -> bool {
        let time = |n: u32| self.nodes[n as usize].time();
        let words = |n: u32| {
            let at = self.words.binary_search_by_key(&n, |w| w.0).ok()?;
            Some(self.words[at].1)
        };
        time(a).is_some() && time(a) == time(b) && words(a).is_some() && words(a) == words(b)
    }

    fn mark_copies(&mut self, copies: Option<&HashSet<u64>>) {
        let Some(copies) = copies else { return };
        for node in self.nodes.iter_mut().filter(|n| n.kind.is_chain()) {
            if copies.contains(&node.key.short()) {
                node.flags |= flag::COPY;
            }
        }
    }
}

/// The links between nodes, repaired: no cycles, gaps bridged, segments joined.
pub(super) struct Tree {
    /// The node above each node.
    pub up: Vec<u32>,
    /// Nodes in an order in which every node comes after the one above it.
    pub order: Vec<u32>,
    /// The anchor at or above each node.
    pub anchor: Vec<u32>,
    /// What a node that hangs on nothing is, by its place in the file.
    pub loose: Vec<State>,
    /// Links that hold since a compaction that kept messages, for the active path only.
    pub relinked: HashMap<u32, u32>,
    /// The last message that a compaction kept, by the node that the kept messages hang on.
    pub last_kept: HashMap<u32, u32>,
    /// Nodes with which the talk began anew in the same file, its context cleared.
    restarts: HashSet<u32>,
    /// Sidechains are the talk itself: the file is a subagent's.
    all_sidechain: bool,
}

impl Tree {
    fn of(facts: &mut Builder, own: u32) -> Self {
        let talk = |n: &&Node| n.kind.is_talk();
        let all_sidechain = facts.nodes.iter().filter(talk).all(Node::is_sidechain);
        let mut tree = Self {
            up: Vec::new(),
            order: Vec::new(),
            anchor: Vec::new(),
            loose: Vec::new(),
            relinked: HashMap::new(),
            last_kept: HashMap::new(),
            restarts: HashSet::new(),
            all_sidechain,
        };
        facts.resolve_waiting();
        facts.mark_foreign(own);
        tree.link(facts);
        tree.cut_cycles(facts);
        tree.order = order(&tree.up);
        tree.find_anchors(facts);
        tree.relink(facts);
        tree
    }

    /// Whether a node takes part in the talk of this session.
    pub fn is_main(&self, node: &Node) -> bool {
        !node.has(flag::REPEAT)
            && (self.all_sidechain || !node.is_sidechain())
            && !node.has(flag::FOREIGN)
    }

    /// Talk, or a place where talk begins anew: where branches can part.
    pub fn is_anchor(node: &Node) -> bool {
        node.kind.is_talk() || node.role == Role::Boundary
    }

    /// Parents as written; compactions, orphans and new starts hang on the talk before them.
    fn link(&mut self, facts: &Builder) {
        let given = given_parents(facts);
        let mut given = given.into_iter().peekable();
        let roots = Roots::of(facts, self);
        let (mut before, mut last_root) = (NONE, NONE);
        for index in 0..facts.nodes.len() as u32 {
            let node = &facts.nodes[index as usize];
            let mut up = if node.has(flag::REPEAT) { NONE } else { node.parent };
            if let Some((_, above)) = given.next_if(|&(at, _)| at == index) {
                up = above.unwrap_or(before);
            } else if self.is_main(node) {
                if node.is_orphan() || hangs_on_old_caveat(&facts.nodes, node, before) {
                    up = before;
                } else if node.has(flag::ROOT) && node.kind.is_chain() {
                    up = self.root(roots.kind(index, node), index, before, last_root);
                    last_root = index;
                }
            }
            self.up.push(up);
            if node.kind.is_talk() && self.is_main(node) {
                before = index;
            }
        }
    }

    /// What an entry without a parent hangs on: a new start on the talk before it, and what a
    /// person said after a rewind to the start where the start did that it replaces.
    fn root(&mut self, kind: RootKind, index: u32, before: u32, last_root: u32) -> u32 {
        let replaced = last_root != NONE && self.restarts.contains(&last_root);
        let (up, restarts) = match kind {
            RootKind::Rewound if replaced => (self.up[last_root as usize], true),
            RootKind::Rewound | RootKind::Apart => (NONE, false),
            RootKind::Start => (before, before != NONE),
            RootKind::Unlinked => (before, false),
        };
        if restarts {
            self.restarts.insert(index);
        }
        up
    }

    /// Cuts each circle at its first node in the file.
    fn cut_cycles(&mut self, facts: &mut Builder) {
        let mut seen = vec![0u32; self.up.len()];
        for start in 0..self.up.len() as u32 {
            let walk = start + 1;
            let mut at = start;
            while at != NONE && seen[at as usize] == 0 {
                seen[at as usize] = walk;
                at = self.up[at as usize];
            }
            if at != NONE && seen[at as usize] == walk {
                let cut = self.circle(at).min().unwrap_or(at);
                facts.nodes[cut as usize].flags |= flag::CYCLE;
                self.up[cut as usize] = NONE;
                let talk = |n: &Node| n.kind.is_talk() && self.is_main(n);
                let before = facts.nodes[..cut as usize].iter().rposition(talk);
                if let Some(before) = before.filter(|&b| seen[b] != 0 && seen[b] != walk) {
                    self.up[cut as usize] = before as u32;
                }
            }
        }
    }

    fn circle(&self, start: u32) -> impl Iterator<Item = u32> {
        let next = move |&at: &u32| Some(self.up[at as usize]).filter(|&up| up != start);
        std::iter::successors(Some(start), next)
    }

    /// A node and all above it.
    pub fn above(&self, start: u32) -> impl Iterator<Item = u32> {
        let start = (start != NONE).then_some(start);
        std::iter::successors(start, |&at| Some(self.up[at as usize]).filter(|&up| up != NONE))
    }

    fn find_anchors(&mut self, facts: &Builder) {
        self.anchor = vec![NONE; self.up.len()];
        for &index in &self.order {
            let up = self.up[index as usize];
            self.anchor[index as usize] = if Self::is_anchor(&facts.nodes[index as usize]) {
                index
            } else if up != NONE {
                self.anchor[up as usize]
            } else {
                NONE
            };
        }
    }

    /// Where the talk stands: the end that comes last in the file, unless `last-prompt` names
    /// another one and nothing was said since.
    fn leaf(&self, facts: &Builder) -> u32 {
        let mut has_child = vec![false; self.up.len()];
        for &up in self.up.iter().filter(|&&up| up != NONE) {
            has_child[up as usize] = true;
        }
        let mut best = (false, NONE);
        for (index, node) in facts.nodes.iter().enumerate() {
            let in_tree = node.kind.is_chain() || node.kind == crate::entry::Kind::Damaged;
            if has_child[index] || !in_tree || !self.is_main(node) {
                continue;
            }
            let leaf = self.anchor[index];
            if leaf == NONE || !self.is_main(&facts.nodes[leaf as usize]) {
                continue;
            }
            let node = &facts.nodes[leaf as usize];
            let preferred = !node.has(flag::META) && !node.has(flag::TEAM);
            if best.1 == NONE || (preferred, leaf) > best {
                best = (preferred, leaf);
            }
        }
        let leaf = self.marked_leaf(facts, best.1, &has_child);
        self.answered_original(facts, leaf, &has_child)
    }

    fn marked_leaf(&self, facts: &Builder, last: u32, has_child: &[bool]) -> u32 {
        let Some((key, said_at)) = facts.leaf else { return last };
        let Some(marked) = facts.node_of(key) else { return last };
        if !self.is_main(&facts.nodes[marked as usize]) || last == NONE {
            return last;
        }
        if last > said_at || self.above(last).any(|at| at == marked) {
            return last;
        }
        self.end_below(facts, marked, has_child)
    }

    /// The last end in the file that hangs below a node, or the node itself.
    fn end_below(&self, facts: &Builder, node: u32, has_child: &[bool]) -> u32 {
        let mut below = vec![false; self.up.len()];
        below[node as usize] = true;
        for &index in &self.order {
            let up = self.up[index as usize];
            below[index as usize] |= up != NONE && below[up as usize];
        }
        let ends = |&i: &usize| below[i] && !has_child[i] && self.is_main(&facts.nodes[i]);
        (0..self.up.len()).rev().find(ends).map_or(node, |i| i as u32)
    }

    /// A resume may write the last prompt again under another uuid, behind its answer. The
    /// original goes on, so the leaf is below it.
    fn answered_original(&self, facts: &Builder, leaf: u32, has_child: &[bool]) -> u32 {
        if leaf == NONE || facts.nodes[leaf as usize].role != Role::Prompt {
            return leaf;
        }
        let above = |n: u32| match self.up[n as usize] {
            NONE => NONE,
            up => self.anchor[up as usize],
        };
        let same = |n: &u32| *n < leaf && above(*n) == above(leaf) && facts.is_replay(*n, leaf);
        let mut originals = facts.words.iter().map(|&(n, _)| n).filter(same).peekable();
        if originals.peek().is_none() {
            return leaf;
        }
        let talk = (0..self.up.len() as u32).filter(|&n| facts.nodes[n as usize].kind.is_talk());
        let goes_on: HashSet<u32> = talk.map(above).collect();
        match originals.find(|n| goes_on.contains(n)) {
            Some(original) if !goes_on.contains(&leaf) => {
                self.end_below(facts, original, has_child)
            }
            _ => leaf,
        }
    }

    /// The active path, from the leaf to the first entry: per node whether it is on it and how,
    /// and the part that is in the context, oldest first.
    fn way(&self, facts: &Builder, leaf: u32) -> (Vec<Option<State>>, Vec<u32>) {
        let (mut way, mut path) = (vec![None; self.up.len()], Vec::new());
        let starts: HashSet<u32> = facts.compactions.iter().map(|c| c.node).collect();
        let mut state = State::Active;
        // What a compaction kept comes behind its summary also when nothing was said since.
        let mut at = self.last_kept.get(&leaf).copied().unwrap_or(leaf);
        while at != NONE {
            let node = &facts.nodes[at as usize];
            way[at as usize] = Some(if node.has(flag::FOREIGN) { State::Foreign } else { state });
            if state == State::Active {
                path.push(at);
            }
            let relinked = self.relinked.get(&at).copied();
            if starts.contains(&at) && relinked.is_none() {
                state = State::Compacted;
            } else if self.restarts.contains(&at) {
                state = State::Cleared;
            }
            at = relinked.unwrap_or(self.up[at as usize]);
            while at != NONE && way[at as usize].is_some() {
                at = self.up[at as usize];
            }
        }
        path.reverse();
        (way, path)
    }

    fn place_loose(&mut self, way: &[Option<State>]) {
        let mut now = State::Active;
        self.loose = vec![State::Active; way.len()];
        for index in (0..way.len()).rev() {
            if let Some(state) = way[index].filter(|state| state.is_on_way()) {
                now = state;
            }
            self.loose[index] = now;
        }
    }

    /// Gives every node that has no place in the tree its state.
    fn settle(&self, facts: &Builder, states: &mut [State]) {
        for (index, node) in facts.nodes.iter().enumerate() {
            states[index] = if node.has(flag::REPEAT) {
                State::Repeated
            } else if node.has(flag::FOREIGN) {
                State::Foreign
            } else if !self.all_sidechain && node.is_sidechain() {
                State::Aside
            } else if !node.kind.is_chain() {
                self.loose[index]
            } else {
                states[index]
            };
        }
    }
}

/// The parents of compactions and their summaries, by node: `None` stands for the talk before.
fn given_parents(facts: &Builder) -> Vec<(u32, Option<u32>)> {
    let mut given: HashMap<u32, Option<u32>> = HashMap::new();
    for compaction in facts.compactions.iter().filter(|c| c.is_boundary) {
        given.insert(compaction.summary, Some(compaction.node));
    }
    for compaction in &facts.compactions {
        // In a fork the logical parent may come after the boundary, hanging on it.
        let is_before = |&parent: &u32| parent < compaction.node;
        let logical = compaction.logical_parent.and_then(|k| facts.node_of(k)).filter(is_before);
        // A compaction that keeps messages names the place where it cut, not the end of the talk.
        let keeps = !compaction.preserved.is_empty() || compaction.preserved_span.is_some();
        given.insert(compaction.node, logical.filter(|_| !keeps));
    }
    let mut given: Vec<(u32, Option<u32>)> = given.into_iter().collect();
    given.sort_unstable_by_key(|&(node, _)| node);
    given
}

/// Why an entry has no parent.
enum RootKind {
    /// The talk began anew: the first prompt, or one after the context was cleared.
    Start,
    /// The person rewound to the start.
    Rewound,
    /// It says nothing: no entry of the file has a parent, or it is an answer or a result.
    Unlinked,
    /// The person went back to what was said before it, or earlier entries hang on it.
    Apart,
}

/// The entries without a parent.
struct Roots {
    rewound: HashSet<u32>,
    /// Parents that come after one of their children.
    late: HashSet<u32>,
    /// The leaf that is named at the end of the file.
    named_leaf: u32,
    has_links: bool,
}

impl Roots {
    /// After a rewind to the start a `last-prompt` line names no leaf at all.
    fn of(facts: &Builder, tree: &Tree) -> Self {
        let main = |n: &Node| n.kind.is_talk() && tree.is_main(n);
        let is_root = |n: &Node| main(n) && n.has(flag::ROOT);
        // Both lists are in the order of the file, so one pass finds the root before each mark.
        let roots = facts.nodes.iter().zip(0u32..).filter(|(n, _)| is_root(n)).map(|(_, at)| at);
        let roots: Vec<u32> = roots.collect();
        let before =
            |mark: &u32| roots[..roots.partition_point(|root| root < mark)].last().copied();
        let rewound = facts.rewinds_to_start.iter().filter_map(before);
        let has_links = facts.nodes.iter().any(|n| main(n) && n.parent != NONE);
        let is_late = |&(at, n): &(usize, &Node)| n.parent != NONE && n.parent as usize > at;
        let late = facts.nodes.iter().enumerate().filter(is_late).map(|(_, n)| n.parent);
        let named = facts.leaf.filter(|&(_, at)| !facts.nodes[at as usize..].iter().any(main));
        let named_leaf = named.and_then(|(key, _)| facts.node_of(key)).unwrap_or(NONE);
        Self { rewound: rewound.collect(), late: late.collect(), named_leaf, has_links }
    }

    fn kind(&self, index: u32, node: &Node) -> RootKind {
        if self.rewound.contains(&index) {
            RootKind::Rewound
        } else if self.late.contains(&index) || self.named_leaf < index {
            RootKind::Apart
        } else if !self.has_links || node.role.is_model() || node.role == Role::Result {
            RootKind::Unlinked
        } else {
            RootKind::Start
        }
    }
}

/// Local commands name as their parent the caveat that the process wrote once, long ago perhaps;
/// what they follow is what was said before them.
fn hangs_on_old_caveat(nodes: &[Node], node: &Node, before: u32) -> bool {
    matches!(node.role, Role::Command | Role::Shell)
        && node.parent != NONE
        && node.parent != before
        && before != NONE
        && nodes[node.parent as usize].has(flag::META)
        && nodes[node.parent as usize].role == Role::Injected
}

impl Builder {
    /// Entries of another session are foreign, unless they hang together with entries of this
    /// one: a resume by old versions copied entries that keep the id they had.
    fn mark_foreign(&mut self, own: u32) {
        let is_other = |n: &Node| n.session != NONE && n.session != own;
        if own == NONE || !self.nodes.iter().any(is_other) {
            return;
        }
        let mut sets: Vec<u32> = (0..self.nodes.len() as u32).collect();
        let mut unite = |a: u32, b: u32| {
            let (a, b) = (root(&mut sets, a), root(&mut sets, b));
            sets[a as usize] = b;
        };
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, n)| n.parent != NONE) {
            unite(index as u32, node.parent);
        }
        // A compaction begins a new tree, but goes on with the same session's talk.
        for at in self.compactions.iter().map(|c| c.node as usize) {
            let session = self.nodes[at].session;
            let before = self.nodes[..at].iter().rposition(|n| n.kind.is_talk());
            if let Some(before) = before.filter(|&b| self.nodes[b].session == session) {
                unite(at as u32, before as u32);
            }
        }
        let mut own_sets = vec![false; self.nodes.len()];
        for index in 0..self.nodes.len() {
            if self.nodes[index].session == own && self.nodes[index].kind.is_chain() {
                own_sets[root(&mut sets, index as u32) as usize] = true;
            }
        }
        for index in 0..self.nodes.len() {
            let other = is_other(&self.nodes[index]);
            if other && !own_sets[root(&mut sets, index as u32) as usize] {
                self.nodes[index].flags |= flag::FOREIGN;
            }
        }
    }

    /// Parents that came after their children, or never.
    fn resolve_waiting(&mut self) {
        for (index, key) in std::mem::take(&mut self.waiting) {
            match self.node_of(key) {
                Some(parent) if parent != index => self.nodes[index as usize].parent = parent,
                Some(_) => self.nodes[index as usize].flags |= flag::CYCLE | flag::ORPHAN,
                None => {
                    self.nodes[index as usize].flags |= flag::ORPHAN;
                    self.waiting.push((index, key));
                }
            }
        }
    }
}

/// The order of the file, but what is above a node before it.
fn order(up: &[u32]) -> Vec<u32> {
    let mut order = Vec::with_capacity(up.len());
    let mut is_placed = vec![false; up.len()];
    let mut above = Vec::new();
    for start in 0..up.len() as u32 {
        let mut at = start;
        while at != NONE && !is_placed[at as usize] {
            is_placed[at as usize] = true;
            above.push(at);
            at = up[at as usize];
        }
        order.extend(above.drain(..).rev());
    }
    order
}

/// The root of a set of nodes that hang together.
fn root(sets: &mut [u32], mut at: u32) -> u32 {
    while sets[at as usize] != at {
        sets[at as usize] = sets[sets[at as usize] as usize];
        at = sets[at as usize];
    }
    at
}

//! Facts into a session: which entries stand in the conversation as it is now, which before a
//! compaction, which were left behind, and why.
//!
//! The way to the leaf is walked as Claude Code itself does it (by `parentUuid`, the leaf chosen
//! by file position, `last-prompt` first), and then what hangs beside the way is put back:
//! parallel calls with their results, local commands, hooks. Only what is left is a branch, and
//! a branch is called a rewind only if it can't be something else ([`super::fork`]).

use hashbrown::{HashMap, HashSet};

use super::build::Builder;
use super::fork::{Branch, Fork, Forks};
use super::node::{NONE, Node, Role, flag};
use super::turn;
use super::{Session, State};
use crate::id::Key;

/// How a file's entries are to be read.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// The session the file is named after; entries of other sessions are foreign then.
    pub stem: Option<&'a str>,
    /// Entries that an earlier file owns ([`Key::short`]).
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
        let way = tree.way(&self, leaf);
        tree.place_loose(&way);
        let forks = Forks::of(&self, &tree, &way, &mut states);
        tree.settle(&self, &mut states);
        let segment_of = turn::segments_of(&self, &tree);
        let (turn_of, turns) = turn::turns(&self, &states, &segment_of);
        let segments = turn::segments(&self, &turns, &segment_of, &states);
        let (forks, branches, branch_of): (Vec<Fork>, Vec<Branch>, _) = forks.into_parts();
        Session {
            own,
            leaf: (leaf != NONE).then_some(leaf as usize),
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
    /// Links that hold since a partial compaction, for the way only.
    relinked: HashMap<u32, u32>,
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

    /// Parents as written; compactions and orphans hang on the talk before them.
    fn link(&mut self, facts: &Builder) {
        let mut given: HashMap<u32, Option<u32>> = HashMap::new();
        for compaction in facts.compactions.iter().filter(|c| c.is_boundary) {
            given.insert(compaction.summary, Some(compaction.node));
        }
        for compaction in &facts.compactions {
            let logical = compaction.logical_parent.and_then(|k| facts.node_of(k));
            given.insert(compaction.node, logical.filter(|&p| p != compaction.node));
        }
        let mut given: Vec<(u32, Option<u32>)> = given.into_iter().collect();
        given.sort_unstable_by_key(|&(node, _)| node);
        let mut given = given.into_iter().peekable();
        let mut before = NONE;
        for index in 0..facts.nodes.len() {
            let node = &facts.nodes[index];
            let mut up = if node.has(flag::REPEAT) { NONE } else { node.parent };
            if let Some((_, above)) = given.next_if(|&(at, _)| at == index as u32) {
                up = above.unwrap_or(before);
            } else if self.is_main(node)
                && (node.is_orphan() || hangs_on_old_caveat(&facts.nodes, node, before))
            {
                up = before;
            }
            self.up.push(up);
            if node.kind.is_talk() && self.is_main(node) {
                before = index as u32;
            }
        }
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

    /// Partial compactions keep messages: each hangs on the one before, the first on the anchor.
    fn relink(&mut self, facts: &mut Builder) {
        for index in 0..facts.compactions.len() {
            let kept = self.kept(facts, index);
            let compaction = &facts.compactions[index];
            let anchor = compaction.anchor.and_then(|k| facts.node_of(k));
            let fallback =
                if compaction.summary == NONE { compaction.node } else { compaction.summary };
            let mut above = anchor.unwrap_or(fallback);
            for node in kept {
                if node == above {
                    continue;
                }
                self.relinked.insert(node, above);
                facts.nodes[node as usize].flags |= flag::PRESERVED;
                above = node;
            }
        }
    }

    /// The nodes that a compaction kept, oldest first.
    fn kept(&self, facts: &Builder, index: usize) -> Vec<u32> {
        let compaction = &facts.compactions[index];
        let find = |key: &Key| facts.node_of(*key);
        if !compaction.preserved.is_empty() {
            return compaction.preserved.iter().filter_map(find).collect();
        }
        let span = compaction.preserved_span.and_then(|(h, t)| Some((find(&h)?, find(&t)?)));
        let Some((head, tail)) = span else { return Vec::new() };
        let mut kept: Vec<u32> = Vec::new();
        for node in self.above(tail) {
            kept.push(node);
            if node == head {
                kept.reverse();
                return kept;
            }
        }
        Vec::new()
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
        self.marked_leaf(facts, best.1, &has_child)
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
        let mut below = vec![false; self.up.len()];
        below[marked as usize] = true;
        for &index in &self.order {
            let up = self.up[index as usize];
            below[index as usize] |= up != NONE && below[up as usize];
        }
        let ends = |&i: &usize| below[i] && !has_child[i] && self.is_main(&facts.nodes[i]);
        (0..self.up.len()).rev().find(ends).map_or(marked, |i| i as u32)
    }

    /// The way from the leaf to the first entry: per node whether it is on it, and how.
    fn way(&self, facts: &Builder, leaf: u32) -> Vec<Option<State>> {
        let mut way = vec![None; self.up.len()];
        let starts: HashSet<u32> = facts.compactions.iter().map(|c| c.node).collect();
        let mut state = State::Active;
        let mut at = leaf;
        while at != NONE {
            let node = &facts.nodes[at as usize];
            way[at as usize] = Some(if node.has(flag::FOREIGN) { State::Foreign } else { state });
            if starts.contains(&at) {
                state = State::Compacted;
            }
            at = self.relinked.get(&at).copied().unwrap_or(self.up[at as usize]);
            while at != NONE && way[at as usize].is_some() {
                at = self.up[at as usize];
            }
        }
        way
    }

    fn place_loose(&mut self, way: &[Option<State>]) {
        let mut now = State::Active;
        self.loose = vec![State::Active; way.len()];
        for index in (0..way.len()).rev() {
            if let Some(state @ (State::Active | State::Compacted)) = way[index] {
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

//! Compactions that keep messages. Claude Code links what it kept anew when it loads a session,
//! and writes none of those links to the file:
//!
//! - each kept message hangs on the one before, the first on the anchor;
//! - every other child of the anchor hangs on the last kept message;
//! - a later message whose parent was dropped hangs on the last kept message, too;
//! - if a listed message is missing, nothing is linked anew.
//!
//! The anchor is the summary if what comes before a place was summarized, and the boundary if
//! what comes after it was. These links make the active path and the order of the context; the
//! tree itself stays as it was written.

use hashbrown::{HashMap, HashSet};

use super::build::Builder;
use super::node::{NONE, flag};
use super::resolve::Tree;
use crate::id::Key;

/// The messages that a compaction kept, oldest first, and the node that the first hangs on.
struct Kept {
    boundary: u32,
    summary: u32,
    anchor: u32,
    nodes: Vec<u32>,
    last: u32,
}

impl Tree {
    /// Links anew what compactions kept.
    pub(super) fn relink(&mut self, facts: &mut Builder) {
        let all: Vec<Kept> =
            (0..facts.compactions.len()).filter_map(|i| self.kept(facts, i)).collect();
        let mut children: HashMap<u32, Vec<u32>> =
            all.iter().map(|kept| (kept.anchor, Vec::new())).collect();
        for (node, up) in self.up.iter().enumerate() {
            if let Some(list) = children.get_mut(up) {
                list.push(node as u32);
            }
        }
        for (at, kept) in all.iter().enumerate() {
            let is_kept: HashSet<u32> = kept.nodes.iter().copied().collect();
            let others = children[&kept.anchor].iter().filter(|child| !is_kept.contains(*child));
            self.relinked.extend(others.map(|&child| (child, kept.last)));
            let end = all.get(at + 1).map_or(self.up.len(), |next| next.boundary as usize);
            self.relink_cut_off(facts, kept, &is_kept, end);
            let mut above = kept.anchor;
            for &node in &kept.nodes {
                self.relinked.insert(node, above);
                facts.nodes[node as usize].flags |= flag::PRESERVED;
                above = node;
            }
            self.last_kept.insert(kept.anchor, kept.last);
        }
    }

    /// Messages after the boundary whose parent was dropped.
    fn relink_cut_off(&mut self, facts: &Builder, kept: &Kept, is_kept: &HashSet<u32>, end: usize) {
        for node in kept.boundary as usize + 1..end {
            let up = self.up[node];
            let is_dropped = up < kept.boundary && !is_kept.contains(&up);
            if is_dropped && facts.nodes[node].kind.is_talk() && node as u32 != kept.summary {
                self.relinked.insert(node as u32, kept.last);
            }
        }
    }

    fn kept(&self, facts: &Builder, index: usize) -> Option<Kept> {
        let compaction = &facts.compactions[index];
        let summary = compaction.summary;
        let fallback = if summary == NONE { compaction.node } else { summary };
        let anchor = compaction.anchor.and_then(|k| facts.node_of(k)).unwrap_or(fallback);
        let mut nodes = self.listed(facts, index)?;
        nodes.retain(|&node| node != anchor);
        let last = *nodes.last()?;
        Some(Kept { boundary: compaction.node, summary, anchor, nodes, last })
    }

    /// The nodes that a compaction lists; none if one of them is missing.
    fn listed(&self, facts: &Builder, index: usize) -> Option<Vec<u32>> {
        let compaction = &facts.compactions[index];
        let find = |key: &Key| facts.node_of(*key);
        if !compaction.preserved.is_empty() {
            return compaction.preserved.iter().map(find).collect();
        }
        let (head, tail) = compaction.preserved_span?;
        let (head, tail) = (find(&head)?, find(&tail)?);
        let mut kept: Vec<u32> = Vec::new();
        for node in self.above(tail) {
            kept.push(node);
            if node == head {
                kept.reverse();
                return Some(kept);
            }
        }
        None
    }
}

/// For each node the stretch of `path` it belongs to. Within a stretch the order of the file is
/// the order of the context. A node beside the path belongs where its parent does, and one that
/// has no parent where the node before it does.
pub(super) fn stretches(path: &[u32], up: &[u32]) -> Vec<u32> {
    let mut stretch = vec![NONE; up.len()];
    let mut current = 0;
    for (at, &node) in path.iter().enumerate() {
        current += u32::from(at > 0 && node < path[at - 1]);
        stretch[node as usize] = current;
    }
    let (mut before, mut chain) = (0, Vec::new());
    for node in 0..up.len() as u32 {
        let mut at = node;
        while at != NONE && stretch[at as usize] == NONE {
            chain.push(at);
            at = up[at as usize];
        }
        let found = if at == NONE { before } else { stretch[at as usize] };
        chain.drain(..).for_each(|n| stretch[n as usize] = found);
        before = stretch[node as usize];
    }
    stretch
}

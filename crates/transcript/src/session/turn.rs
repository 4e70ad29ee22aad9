//! Turns and segments: what a person asked and all that followed, and the stretches between
//! compactions.

use super::State;
use super::build::Builder;
use super::node::{NONE, Role, flag};
use super::resolve::Tree;

/// A person's prompt and all that follows, on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The node of the prompt.
    pub prompt: usize,
    /// Its last node.
    pub last: usize,
    /// The segment it begins in.
    pub segment: usize,
    /// Calls made.
    pub calls: usize,
    /// Calls that failed.
    pub errors: usize,
}

/// The stretch between two compactions. Its index never changes: compactions are counted in the
/// order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The compaction that began it; none for the first.
    pub compaction: Option<usize>,
    /// Its first node.
    pub first: Option<usize>,
    /// Its last node.
    pub last: Option<usize>,
    /// Turns on the way that begin in it.
    pub turns: usize,
    /// Entries in it.
    pub entries: usize,
    /// Whether it is part of the talk as it stands, or of a branch that was left.
    pub is_abandoned: bool,
}

/// The segment of each node: that of what it hangs on, unless a compaction comes between.
pub(super) fn segments_of(facts: &Builder, tree: &Tree) -> Vec<u32> {
    let mut of = vec![NONE; facts.nodes.len()];
    let starts: Vec<(u32, u32)> =
        facts.compactions.iter().enumerate().map(|(i, c)| (c.node, i as u32 + 1)).collect();
    for &index in &tree.order {
        let at = index as usize;
        let up = tree.up[at];
        let begins = starts.binary_search_by_key(&index, |s| s.0).ok().map(|i| starts[i].1);
        // The last compaction before this place in the file.
        let by_place = starts.partition_point(|s| s.0 <= index) as u32;
        of[at] = match begins {
            Some(segment) => segment,
            None if up == NONE => by_place,
            // What hangs on a message that a partial compaction kept came after the compaction.
            None if facts.nodes[up as usize].is_preserved() => by_place,
            None => of[up as usize],
        };
    }
    of
}

/// The turn of each node on the way, and the turns.
pub(super) fn turns(
    facts: &Builder,
    states: &[State],
    segment_of: &[u32],
) -> (Vec<u32>, Vec<Turn>) {
    let on_way = |i: usize| states[i].is_on_way();
    let mut turn_of = vec![NONE; facts.nodes.len()];
    let mut turns: Vec<Turn> = Vec::new();
    let answered = answered(facts, states);
    for (index, node) in facts.nodes.iter().enumerate().filter(|(i, _)| on_way(*i)) {
        let begins = match node.role {
            Role::Prompt | Role::Queued => true,
            Role::Command => answered[index],
            _ => false,
        };
        if begins {
            turns.push(Turn {
                prompt: index,
                last: index,
                segment: segment_of[index] as usize,
                calls: 0,
                errors: 0,
            });
        }
        let current = turns.len() as u32;
        if let Some(turn) = turns.last_mut() {
            turn_of[index] = current - 1;
            turn.last = index;
        }
    }
    for call in facts.calls.iter().filter(|c| turn_of[c.node()] != NONE) {
        let turn = &mut turns[turn_of[call.node()] as usize];
        turn.calls += 1;
        turn.errors += usize::from(call.is_error);
    }
    (turn_of, turns)
}

/// Slash commands that the model answered before the person spoke again; others are local.
fn answered(facts: &Builder, states: &[State]) -> Vec<bool> {
    let mut answered = vec![false; facts.nodes.len()];
    let mut waiting = None;
    for (index, node) in facts.nodes.iter().enumerate() {
        if !states[index].is_on_way() {
            continue;
        }
        match node.role {
            Role::Command if node.has(flag::LOCAL_COMMAND) => {}
            Role::Command => waiting = Some(index),
            Role::Prompt | Role::Queued | Role::Shell => waiting = None,
            role if role.is_model() => {
                if let Some(command) = waiting.take() {
                    answered[command] = true;
                }
            }
            _ => {}
        }
    }
    answered
}

pub(super) fn segments(
    facts: &Builder,
    turns: &[Turn],
    segment_of: &[u32],
    states: &[State],
) -> Vec<Segment> {
    let empty = |compaction| Segment {
        compaction,
        first: None,
        last: None,
        turns: 0,
        entries: 0,
        is_abandoned: false,
    };
    let mut segments = vec![empty(None)];
    segments.extend((0..facts.compactions.len()).map(|i| empty(Some(i))));
    for (index, &segment) in segment_of.iter().enumerate().filter(|(_, s)| **s != NONE) {
        let segment = &mut segments[segment as usize];
        segment.first.get_or_insert(index);
        segment.last = Some(index);
        segment.entries += 1;
    }
    for turn in turns {
        segments[turn.segment].turns += 1;
    }
    for segment in &mut segments {
        let node = segment.compaction.map(|c| facts.compactions[c].node());
        segment.is_abandoned = node.is_some_and(|n| states[n] == State::Abandoned);
    }
    segments
}

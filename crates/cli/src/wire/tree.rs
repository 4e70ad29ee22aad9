//! Lines of `recount tree --json` and `recount segments --json`.

use report::tree::SegmentRow;
use serde::Serialize;
use transcript::session::ForkKind;

/// A segment: the stretch between two compactions.
#[derive(Serialize)]
#[serde(tag = "type", rename = "segment")]
pub struct Segment<'a> {
    #[serde(flatten)]
    facts: SegmentFacts<'a>,
    /// The whole summary it began with.
    summary: Option<String>,
}

/// A segment as a line of the tree.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_segment")]
pub struct TreeSegment<'a> {
    /// How deep the line stands.
    depth: usize,
    #[serde(flatten)]
    facts: SegmentFacts<'a>,
}

#[derive(Serialize)]
struct SegmentFacts<'a> {
    /// Its index, which never changes.
    segment: usize,
    /// `auto` or `manual`.
    trigger: Option<&'a str>,
    /// How the compaction is known: `boundary` or `summary`.
    by: Option<&'static str>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
    /// How long the compaction took.
    compaction_ms: Option<u64>,
    turns: usize,
    entries: usize,
    first_entry: Option<u32>,
    last_entry: Option<u32>,
    first: Option<String>,
    last: Option<String>,
    /// Whether it is on a branch that was left.
    abandoned: bool,
}

impl<'a> SegmentFacts<'a> {
    fn new(row: &'a SegmentRow) -> Self {
        Self {
            segment: row.index,
            trigger: row.trigger.as_deref(),
            by: row.by,
            pre_tokens: row.pre_tokens,
            post_tokens: row.post_tokens,
            compaction_ms: row.duration_ms,
            turns: row.turns,
            entries: row.entries,
            first_entry: row.first_entry,
            last_entry: row.last_entry,
            first: super::time(row.first),
            last: super::time(row.last),
            abandoned: row.is_abandoned,
        }
    }
}

impl<'a> Segment<'a> {
    /// A segment with its summary.
    pub fn new(row: &'a SegmentRow, summary: Option<String>) -> Self {
        Self { facts: SegmentFacts::new(row), summary }
    }
}

impl<'a> TreeSegment<'a> {
    /// A segment at a depth.
    pub fn new(depth: usize, row: &'a SegmentRow) -> Self {
        Self { depth, facts: SegmentFacts::new(row) }
    }
}

/// A turn of the conversation.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_turn")]
pub struct TreeTurn {
    pub depth: usize,
    /// Its number, from 1.
    pub turn: usize,
    /// The number of the prompt's entry.
    pub entry: u32,
    pub time: Option<String>,
    pub calls: usize,
    pub errors: usize,
    pub prompt: Option<String>,
}

/// A branch that was left.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_branch")]
pub struct TreeBranch {
    pub depth: usize,
    /// Its number, from 1.
    pub branch: usize,
    /// `rewind` or `unknown`.
    pub kind: &'static str,
    /// The number of its first entry.
    pub entry: u32,
    pub prompts: usize,
    pub entries: usize,
    /// What was said first on it.
    pub prompt: Option<String>,
}

/// A subagent.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_agent")]
pub struct TreeAgent<'a> {
    pub depth: usize,
    pub agent_id: Option<&'a str>,
    pub agent_type: Option<String>,
    pub description: Option<String>,
    /// How it is known to belong here: `meta`, `result`, `prompt`, `folder`, …
    pub link: Option<&'static str>,
    /// Where its entries are: `file`, `inside`, `missing`, `not-sought`.
    pub place: &'static str,
    /// The number of the entry that started it.
    pub entry: Option<u32>,
    pub calls: Option<usize>,
    pub errors: Option<usize>,
}

/// How often entries have more than one child, and why.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_forks")]
pub struct TreeForks {
    forks: Vec<Forks>,
}

#[derive(Serialize)]
struct Forks {
    /// `parallel`, `rewind`, `retry`, …
    kind: &'static str,
    count: usize,
}

impl TreeForks {
    /// The forks of each kind.
    pub fn new(forks: &[(ForkKind, usize)]) -> Self {
        let forks = forks.iter().map(|&(kind, count)| Forks { kind: kind.name(), count });
        Self { forks: forks.collect() }
    }
}

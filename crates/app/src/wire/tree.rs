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
    /// The whole summary it began with; `null` for the first segment and where none is recorded.
    summary: Option<String>,
}

/// A segment as a line of the tree.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_segment")]
pub struct TreeSegment<'a> {
    /// How deep the line stands in the tree, counted from 0.
    depth: usize,
    #[serde(flatten)]
    facts: SegmentFacts<'a>,
}

/// What is known of a segment.
#[derive(Serialize)]
struct SegmentFacts<'a> {
    /// Its index, counted from 0, which never changes.
    segment: usize,
    /// What set off the compaction that began it: `auto` or `manual`; `null` for the first segment
    /// and where it is not recorded.
    trigger: Option<&'a str>,
    /// How the compaction is known: `boundary` or `summary`; `null` for the first segment.
    by: Option<&'static str>,
    /// Tokens in the context before the compaction; `null` where that is not recorded.
    pre_tokens: Option<u64>,
    /// Tokens in the context after the compaction; `null` where that is not recorded.
    post_tokens: Option<u64>,
    /// How long the compaction took, in milliseconds; `null` where that is not recorded.
    compaction_ms: Option<u64>,
    /// Turns that begin in it, without those on branches that were left.
    turns: usize,
    /// Entries in it.
    entries: usize,
    /// The number of its first entry, counted from 1; `null` for a segment without entries.
    first_entry: Option<u32>,
    /// The number of its last entry, counted from 1; `null` for a segment without entries.
    last_entry: Option<u32>,
    /// The earliest time of its entries; `null` where none has a time.
    first: Option<String>,
    /// The latest time of its entries; `null` where none has a time.
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
    /// How deep the line stands in the tree, counted from 0.
    pub depth: usize,
    /// Its number, counted from 1.
    pub turn: usize,
    /// The number of the prompt's entry, counted from 1.
    pub entry: u32,
    /// The time of the prompt; `null` where it has none.
    pub time: Option<String>,
    /// Calls in it, without subagents'.
    pub calls: usize,
    /// Failed calls in it, without subagents'.
    pub errors: usize,
    /// The prompt, whole; `null` where its entry holds no text.
    pub prompt: Option<String>,
}

/// A branch that was left.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_branch")]
pub struct TreeBranch {
    /// How deep the line stands in the tree, counted from 0.
    pub depth: usize,
    /// Its number, counted from 1.
    pub branch: usize,
    /// Why it was left: `rewind` (a person went back) or `unknown`.
    pub kind: &'static str,
    /// The number of its first entry, counted from 1.
    pub entry: u32,
    /// A person's prompts on it.
    pub prompts: usize,
    /// Entries on it.
    pub entries: usize,
    /// The first prompt on it, whole, or what its first entry says if nobody asked; `null` where
    /// that is no text.
    pub prompt: Option<String>,
}

/// A subagent.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_agent")]
pub struct TreeAgent<'a> {
    /// How deep the line stands in the tree, counted from 0.
    pub depth: usize,
    /// Its id, which is `inline-` and a number where its entries stand in the session's file;
    /// `null` where nothing names it.
    pub agent_id: Option<&'a str>,
    /// Its type as recorded, or `compaction`, `prompt-suggestion`, `side-question` for one that
    /// Claude Code started itself; `null` where it is not known.
    pub agent_type: Option<String>,
    /// What it was asked to do, in the caller's words; `null` where it is not known.
    pub description: Option<String>,
    /// How it is known to belong here: `meta`, `result`, `progress`, `text`, `notification`,
    /// `workflow`, `prompt`, `folder`; `null` where only the call is known.
    pub link: Option<&'static str>,
    /// Where its entries are: `file`, `inside`, `missing`, `not-sought`.
    pub place: &'static str,
    /// The number of the entry with the call that started it, counted from 1; `null` where no such
    /// call is in the session's file.
    pub entry: Option<u32>,
    /// Calls in its file; `null` unless `place` is `file`.
    pub calls: Option<usize>,
    /// Failed calls in its file; `null` unless `place` is `file`.
    pub errors: Option<usize>,
}

/// How often entries have more than one child, and why.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tree_forks")]
pub struct TreeForks {
    /// How many there are of each kind, the most frequent first.
    forks: Vec<Forks>,
}

/// Forks of one kind.
#[derive(Serialize)]
struct Forks {
    /// Why there are several children: `parallel`, `local`, `interrupt`, `replay`, `doubled`,
    /// `retry`, `unknown`, `rewind`.
    kind: &'static str,
    /// How many such places there are.
    count: usize,
}

impl TreeForks {
    /// The forks of each kind.
    pub fn new(forks: &[(ForkKind, usize)]) -> Self {
        let forks = forks.iter().map(|&(kind, count)| Forks { kind: kind.name(), count });
        Self { forks: forks.collect() }
    }
}

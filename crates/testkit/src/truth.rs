//! What a made home contains, as the maker wrote it down while planting.
//!
//! Never computed by parsing. Everything in a [`SessionTruth`] is counted over
//! the lines that stand in that session's own file: copied lines included;
//! lines of other sessions standing there by mistake counted in `entries` and
//! `foreign_entries` only; subagents apart, unless a field says otherwise.
//! Slash commands, shell lines (`!`) and prompts that only a `queued_command`
//! attachment holds are not turns; `commands` and `queued` count them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The truth about one home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Truth {
    /// Shape and seed the home was made from.
    pub shape: String,
    /// The seed.
    pub seed: u64,
    /// Bytes of all files together.
    pub bytes: u64,
    /// Every file of the home.
    pub files: Vec<FileTruth>,
    /// Every session file, in the order made. Files without any entry of a
    /// conversation (`stubs`, `empty`) are not sessions.
    pub sessions: Vec<SessionTruth>,
    /// Session ids that `history.jsonl` knows and no transcript exists for.
    pub ghosts: Vec<String>,
    /// Session ids whose entries stand only in another session's file.
    pub homeless: Vec<String>,
    /// Ids of sessions that are copies of another one.
    pub copies: Vec<String>,
    /// Files of a session that hold bookkeeping lines only.
    pub stubs: Vec<String>,
    /// Session files of no bytes at all.
    pub empty: Vec<String>,
    /// Files under `projects/` in another dialect (stream-json, seed style).
    pub dialects: Vec<String>,
    /// Entries by `type`, over all session and agent files (set-aside files,
    /// dialects and workflow journals left out). Entries that can be salvaged
    /// from damaged lines are counted.
    pub entries: BTreeMap<String, u64>,
    /// Entries that have a second name: `system/turn_duration`,
    /// `attachment/file`, `progress/bash_progress`.
    pub kinds: BTreeMap<String, u64>,
    /// Names planted that no release of Claude Code writes.
    pub unknown: Unknown,
}

/// Names a reader cannot know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unknown {
    /// Entry types.
    pub types: Vec<String>,
    /// System subtypes.
    pub subtypes: Vec<String>,
    /// Attachment types.
    pub attachments: Vec<String>,
    /// Progress data types.
    pub progress: Vec<String>,
    /// Content block types.
    pub blocks: Vec<String>,
    /// Top-level fields.
    pub fields: Vec<String>,
    /// Tools.
    pub tools: Vec<String>,
}

/// One file as bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileTruth {
    /// Path relative to the home.
    pub path: String,
    /// Length.
    pub bytes: u64,
    /// Pieces between newlines; a last piece without newline counts, an empty
    /// one does not. Zero for files that are not JSON lines.
    pub lines: u64,
    /// Lines that are not exactly one JSON object in UTF-8.
    pub damaged: u64,
    /// Entries that a patient reader still gets out of the damaged lines.
    pub salvageable: u64,
    /// Names of the oddities planted (`nul-run`, `glued`, `bom`, `crlf`, …).
    pub oddities: Vec<String>,
}

/// One session file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionTruth {
    /// The case this session was made for.
    pub case: String,
    /// The file's stem.
    pub id: String,
    /// Path relative to the home.
    pub file: String,
    /// First working directory.
    pub cwd: Option<String>,
    /// Title by the official order: custom, ai, last-prompt, summary (own),
    /// first-prompt.
    pub title: Option<String>,
    /// Where the title comes from, in the words above.
    pub title_source: Option<String>,
    /// The last title of every source the session has.
    pub titles: BTreeMap<String, String>,
    /// A person's prompts on the active branch, compacted ones included.
    pub turns: u64,
    /// Their first 80 characters (left out in the big shapes).
    pub prompts: Vec<String>,
    /// A person's prompts on branches that were left.
    pub abandoned: u64,
    /// Slash commands and shell lines typed by a person.
    pub commands: u64,
    /// Prompts that stand in a `queued_command` attachment only.
    pub queued: u64,
    /// Tool calls (distinct ids), all branches.
    pub calls: u64,
    /// Calls whose result says `is_error: true`.
    pub errors: Vec<ErrorTruth>,
    /// Files changed by successful Edit and Write calls, all branches.
    pub touched: Vec<TouchTruth>,
    /// Segments between compactions; the first has no trigger.
    pub segments: Vec<SegmentTruth>,
    /// The last chain entry (a person's or the assistant's) of the active branch.
    pub leaf: Option<String>,
    /// Entries with several children, by what they really are.
    pub forks: ForkTruth,
    /// Subagents of this session, internal ones included.
    pub subagents: Vec<SubagentTruth>,
    /// The session this one was copied from.
    pub copy_of: Option<String>,
    /// Entries that stand in the original too.
    pub copied_entries: u64,
    /// Entries of other sessions standing in this file by mistake.
    pub foreign_entries: u64,
    /// Distinct pull request addresses.
    pub pr_links: Vec<String>,
    /// Commits made by Bash calls.
    pub commits: Vec<CommitTruth>,
    /// Smallest timestamp of a chain entry.
    pub first: Option<String>,
    /// Largest timestamp of a chain entry.
    pub last: Option<String>,
    /// API requests: one per message id, the synthetic model left out, those
    /// of subagents included (left out in the big shapes).
    pub requests: Vec<RequestTruth>,
    /// How many requests stand in this session's own file.
    pub request_count: u64,
    /// Their tokens together.
    pub usage: Usage,
    /// Entries by `type` in this session's own file.
    pub entries: BTreeMap<String, u64>,
}

/// A call that failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorTruth {
    /// Name of the tool.
    pub tool: String,
    /// Id of the call.
    pub tool_use_id: String,
    /// Text of the result.
    pub error: String,
    /// The call's input.
    pub input: Value,
}

/// A file changed in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TouchTruth {
    /// Path as recorded.
    pub path: String,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

/// A stretch between two compactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SegmentTruth {
    /// From zero.
    pub index: u64,
    /// What began it: `auto`, `manual`, or nothing known.
    pub trigger: Option<String>,
    /// Tokens before.
    pub pre_tokens: Option<u64>,
    /// Tokens after.
    pub post_tokens: Option<u64>,
}

/// Entries with several children, by class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForkTruth {
    /// Calls made at once, each with its own result.
    pub parallel: u64,
    /// A response asked for again.
    pub retry: u64,
    /// Two results for one call.
    pub doubled: u64,
    /// Entries written a second time with the same uuid.
    pub replay: u64,
    /// A person went back and typed something else: one per attempt left behind.
    pub rewind: u64,
    /// Distinct points gone back to; the place before the first prompt is one.
    pub rewind_points: u64,
}

/// A subagent and how it can be joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubagentTruth {
    /// Its id.
    pub agent_id: String,
    /// Its file, or the session's own one for inline sidechains, whose calls
    /// and requests are then counted for the session too.
    pub file: String,
    /// The call that started it.
    pub parent_tool_use_id: Option<String>,
    /// The agent that made that call.
    pub parent_agent: Option<String>,
    /// Strongest evidence there is: `meta`, `result`, `text`, `notification`,
    /// `prompt`, `workflow`, `internal`, `none`.
    pub link: String,
    /// Calls in its file.
    pub calls: u64,
    /// Failed ones.
    pub errors: u64,
}

/// A commit seen in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommitTruth {
    /// Abbreviated hash.
    pub hash: String,
    /// Subject.
    pub subject: String,
}

/// One request to the API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestTruth {
    /// Message id.
    pub id: String,
    /// Model.
    pub model: String,
    /// Timestamp of its first line.
    pub at: String,
    /// Agent that made it.
    pub agent: Option<String>,
    /// Another file, or an earlier line, owns it.
    pub replayed: bool,
    /// Tokens of the line with the largest output.
    pub usage: Usage,
}

/// Tokens by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Fresh input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Read from the cache.
    pub cache_read: u64,
}

impl Usage {
    /// Adds the tokens of another request.
    pub fn add(&mut self, other: Usage) {
        self.input += other.input;
        self.output += other.output;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.cache_read += other.cache_read;
    }
}

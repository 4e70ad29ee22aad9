//! Lines of `recount usage waste --json`.

use report::usage::waste::{Detail, Loss, Retry, Sum};
use serde::Serialize;
use serde_json::value::RawValue;

use super::usage::number;

/// One loss. Fields that its kind does not have are `null`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_waste")]
pub struct UsageWaste<'a> {
    /// `branch`, `compaction`, `cache-break`, `re-read` or `retry`.
    kind: &'static str,
    /// The session.
    session: &'a str,
    /// The subagent, if it was one.
    agent: Option<&'a str>,
    /// The file.
    file: String,
    /// The number of the entry in the file, for `recount show --entry`.
    entry: u32,
    /// When.
    time: Option<String>,
    /// Requests, compactions, reads or attempts.
    count: u64,
    /// Tokens that it took; of a re-read a guess: a quarter of its characters.
    tokens: Option<u64>,
    /// Dollars; of a cache break what writing cost more than reading would have.
    cost_usd: Option<Box<RawValue>>,
    /// `exact`, `estimated`, `lower_bound` or `unpriced`.
    confidence: &'static str,
    /// Branches that were left in the session.
    branches: Option<u64>,
    /// A person's prompts on them.
    prompts: Option<u64>,
    /// What started a compaction: `auto` or `manual`.
    trigger: Option<&'a str>,
    /// Tokens before a compaction.
    tokens_before: Option<u64>,
    /// Tokens after a compaction.
    tokens_after: Option<u64>,
    /// Tokens that a compaction dropped.
    tokens_dropped: Option<u64>,
    /// `exact`, or `estimated` if the tokens before or after are those of the response beside it.
    dropped_confidence: Option<&'static str>,
    /// Dollars of the segment that a compaction ended.
    ended_segment_cost_usd: Option<Box<RawValue>>,
    /// Dollars of the segment that a compaction began.
    begun_segment_cost_usd: Option<Box<RawValue>>,
    /// Why a cache broke: `compaction`, `model-change`, `idle-5m`, `idle-1h`, `tools-changed`,
    /// `system-changed`, `messages-changed` or `unknown`.
    cause: Option<&'static str>,
    /// Tokens that were in the cache when it broke.
    tokens_cached: Option<u64>,
    /// Tokens of them that were read all the same.
    tokens_read: Option<u64>,
    /// Milliseconds between the requests before and after a cache break.
    idle_ms: Option<i64>,
    /// The file that was read again.
    path: Option<&'a str>,
    /// Whether Claude Code noticed that it had not changed, and gave a line instead.
    noticed: Option<bool>,
    /// What was done again: `call`, `api-error` or `answer`.
    retry: Option<&'static str>,
    /// The tool that was called again.
    tool: Option<&'a str>,
    /// Whether it failed again.
    failed_again: Option<bool>,
    /// Milliseconds that Claude Code waited before it asked the API again.
    wait_ms: Option<u64>,
}

impl<'a> UsageWaste<'a> {
    /// The line for a loss.
    pub fn new(loss: &'a Loss, file: String) -> Self {
        let line = Self {
            kind: loss.detail.kind().name(),
            session: &loss.session,
            agent: loss.agent.as_deref(),
            file,
            entry: loss.entry,
            time: super::time(loss.time),
            count: loss.count,
            tokens: loss.tokens,
            cost_usd: loss.cost.map(number),
            confidence: loss.confidence.name(),
            branches: None,
            prompts: None,
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            tokens_dropped: None,
            dropped_confidence: None,
            ended_segment_cost_usd: None,
            begun_segment_cost_usd: None,
            cause: None,
            tokens_cached: None,
            tokens_read: None,
            idle_ms: None,
            path: None,
            noticed: None,
            retry: None,
            tool: None,
            failed_again: None,
            wait_ms: None,
        };
        line.with(&loss.detail)
    }

    fn with(self, detail: &'a Detail) -> Self {
        match detail {
            Detail::Branch { branches, prompts } => {
                Self { branches: Some(*branches), prompts: Some(*prompts), ..self }
            }
            Detail::Compaction { trigger, before, after, ended, begun } => Self {
                trigger: trigger.as_deref(),
                tokens_before: before.map(|before| before.0),
                tokens_after: after.map(|after| after.0),
                tokens_dropped: detail.dropped().map(|dropped| dropped.0),
                dropped_confidence: detail.dropped().map(|dropped| dropped.1.name()),
                ended_segment_cost_usd: ended.cost().map(number),
                begun_segment_cost_usd: begun.cost().map(number),
                ..self
            },
            Detail::CacheBreak { cause, cached, read, idle_ms } => Self {
                cause: Some(cause.name()),
                tokens_cached: Some(*cached),
                tokens_read: Some(*read),
                idle_ms: *idle_ms,
                ..self
            },
            Detail::Reread { path, is_noticed } => {
                Self { path: Some(path), noticed: Some(*is_noticed), ..self }
            }
            Detail::Retry(retry) => {
                let line = Self { retry: Some(retry.name()), ..self };
                match retry {
                    Retry::Call { tool, has_failed } => {
                        Self { tool: Some(tool), failed_again: Some(*has_failed), ..line }
                    }
                    Retry::Request { wait_ms } => Self { wait_ms: Some(*wait_ms), ..line },
                    Retry::Answer => line,
                }
            }
        }
    }
}

/// The sum of all losses of a kind. There is none over all kinds: they overlap.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_waste_total")]
pub struct UsageWasteTotal {
    /// `branch`, `compaction`, `cache-break`, `re-read` or `retry`.
    kind: &'static str,
    /// Losses.
    losses: u64,
    /// Requests, compactions, reads or attempts.
    count: u64,
    /// Tokens.
    tokens: u64,
    /// Dollars; `null` if none has a price.
    cost_usd: Option<Box<RawValue>>,
    /// `exact`, `estimated`, `lower_bound` or `unpriced`.
    confidence: &'static str,
}

impl UsageWasteTotal {
    /// The line for a sum.
    pub fn new(sum: &Sum) -> Self {
        Self {
            kind: sum.kind.name(),
            losses: sum.losses,
            count: sum.count,
            tokens: sum.tokens,
            cost_usd: sum.cost.map(number),
            confidence: sum.confidence.name(),
        }
    }
}

//! Lines of `recount usage --json`.

use report::usage::{Dimension, Row};
use serde::Serialize;
use serde_json::value::RawValue;

/// One row: the sums of all responses with the same key or keys.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage")]
pub struct UsageRow<'a> {
    /// The day, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<Option<&'a str>>,
    /// The first day of the week.
    #[serde(skip_serializing_if = "Option::is_none")]
    week: Option<Option<&'a str>>,
    /// The month, like `2026-04`.
    #[serde(skip_serializing_if = "Option::is_none")]
    month: Option<Option<&'a str>>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Option<&'a str>>,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<Option<&'a str>>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Option<&'a str>>,
    /// The kind of subagent; `main` for what was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent: Option<Option<&'a str>>,
    /// The tool; `answer` for responses without a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<Option<&'a str>>,
    /// The branch of git.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<Option<&'a str>>,
    /// The pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pr: Option<Option<&'a str>>,
    /// Tokens read anew.
    input: u64,
    /// Tokens written by the model.
    output: u64,
    /// Tokens read from the cache.
    cache_read: u64,
    /// Tokens written to the cache, those for an hour included.
    cache_write: u64,
    /// Tokens written to the cache for an hour.
    cache_write_1h: u64,
    /// Requests to the API.
    requests: u64,
    /// Calls of tools.
    tool_calls: u64,
    /// Dollars, to the millionth; `null` if nothing of it has a price.
    cost_usd: Option<Box<RawValue>>,
    /// `exact`, `estimated`, `lower_bound` or `unpriced`: the least sure part of it.
    confidence: &'static str,
    /// Requests that are exact, estimated, lower bounds, unpriced.
    requests_by_confidence: [u64; 4],
    /// Requests whose lines are no longer in the Claude folder.
    requests_without_source: u64,
}

impl<'a> UsageRow<'a> {
    /// The line for a row of a view.
    pub fn new(by: &[Dimension], row: &'a Row) -> Self {
        let key = |wanted: Dimension| {
            let at = by.iter().position(|by| *by == wanted)?;
            Some(row.keys[at].as_deref())
        };
        let totals = &row.totals;
        Self {
            day: key(Dimension::Day),
            week: key(Dimension::Week),
            month: key(Dimension::Month),
            session: key(Dimension::Session),
            project: key(Dimension::Project),
            model: key(Dimension::Model),
            subagent: key(Dimension::Subagent),
            tool: key(Dimension::Tool),
            branch: key(Dimension::Branch),
            pr: key(Dimension::Pr),
            input: totals.tokens.input,
            output: totals.tokens.output,
            cache_read: totals.tokens.cache_read,
            cache_write: totals.tokens.cache_write(),
            cache_write_1h: totals.tokens.cache_write_1h,
            requests: totals.requests,
            tool_calls: totals.tool_calls,
            cost_usd: totals.cost().map(number),
            confidence: totals.confidence().name(),
            requests_by_confidence: totals.by_confidence.map(|(requests, _)| requests),
            requests_without_source: totals.without_source,
        }
    }
}

/// Micro-dollars as dollars, exact to the last digit.
pub fn usd(micro: u64) -> String {
    format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// The same as a number of JSON, which no float has rounded.
pub fn number(micro: u64) -> Box<RawValue> {
    RawValue::from_string(usd(micro)).expect("digits and a point")
}

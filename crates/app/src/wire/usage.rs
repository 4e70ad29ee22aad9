//! Lines of `recount usage --json`.

use report::price::{Factor, Prices};
use report::usage::block::Block;
use report::usage::{Dimension, Ledger, Response, Row, Totals};
use serde::Serialize;
use serde_json::value::RawValue;
use transcript::time::Time;

use crate::commands::usage::explain::Place;

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

/// One line of `usage blocks`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_block")]
pub struct UsageBlock {
    /// When it begins: a full hour.
    start: Option<String>,
    /// When it ends, five hours later.
    end: Option<String>,
    /// Its first request.
    first: Option<String>,
    /// Its last request.
    last: Option<String>,
    /// Whether it is still open.
    open: bool,
    /// Tokens read anew.
    input: u64,
    /// Tokens written by the model.
    output: u64,
    /// Tokens read from the cache.
    cache_read: u64,
    /// Tokens written to the cache.
    cache_write: u64,
    /// Requests to the API.
    requests: u64,
    /// Dollars; `null` if nothing of it has a price.
    cost_usd: Option<Box<RawValue>>,
    /// `exact`, `estimated`, `lower_bound` or `unpriced`.
    confidence: &'static str,
    /// Dollars an hour while it was in use; `null` if that was but a moment.
    cost_usd_per_hour: Option<Box<RawValue>>,
    /// Tokens a minute while it was in use.
    tokens_per_minute: Option<u64>,
    /// Dollars at its end if it goes on like this; only of an open one.
    projected_cost_usd: Option<Box<RawValue>>,
    /// Tokens at its end if it goes on like this.
    projected_tokens: Option<u64>,
}

impl UsageBlock {
    /// The line for a block.
    pub fn new(block: &Block, now: Time) -> Self {
        let totals = &block.totals;
        let (rate, projection) = (block.rate(), block.projection(now));
        Self {
            start: super::time(Some(block.start)),
            end: super::time(Some(block.end())),
            first: super::time(Some(block.first)),
            last: super::time(Some(block.last)),
            open: block.is_open,
            input: totals.tokens.input,
            output: totals.tokens.output,
            cache_read: totals.tokens.cache_read,
            cache_write: totals.tokens.cache_write(),
            requests: totals.requests,
            cost_usd: totals.cost().map(number),
            confidence: totals.confidence().name(),
            cost_usd_per_hour: rate.map(|(money, _)| number(money)),
            tokens_per_minute: rate.map(|(_, tokens)| tokens),
            projected_cost_usd: projection.map(|(money, _)| number(money)),
            projected_tokens: projection.map(|(_, tokens)| tokens),
        }
    }
}

/// The line of `usage what-if`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_what_if")]
pub struct WhatIf {
    /// Requests to the API.
    requests: u64,
    /// Tokens of all classes.
    tokens: u64,
    /// Dollars as it was.
    cost_usd: Option<Box<RawValue>>,
    /// How sure that is.
    confidence: &'static str,
    /// Dollars as it would have been.
    other_cost_usd: Option<Box<RawValue>>,
    /// How sure that is.
    other_confidence: &'static str,
}

impl WhatIf {
    /// Both sums.
    pub fn new(before: &Totals, after: &Totals) -> Self {
        Self {
            requests: before.requests,
            tokens: before.tokens.total(),
            cost_usd: before.cost().map(number),
            confidence: before.confidence().name(),
            other_cost_usd: after.cost().map(number),
            other_confidence: after.confidence().name(),
        }
    }
}

/// One line of `usage explain SESSION`: a turn.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_turn")]
pub struct UsageTurn<'a> {
    /// The session.
    session: &'a str,
    /// The turn, from 1; `null` for what came before the first.
    turn: Option<usize>,
    /// What was asked.
    prompt: Option<&'a str>,
    /// Tokens read anew.
    input: u64,
    /// Tokens written by the model.
    output: u64,
    /// Tokens read from the cache.
    cache_read: u64,
    /// Tokens written to the cache.
    cache_write: u64,
    /// Requests to the API.
    requests: u64,
    /// Calls of tools.
    tool_calls: u64,
    /// Dollars; `null` if nothing of it has a price.
    cost_usd: Option<Box<RawValue>>,
    /// `exact`, `estimated`, `lower_bound` or `unpriced`.
    confidence: &'static str,
}

impl<'a> UsageTurn<'a> {
    /// The line for a turn.
    pub fn new(
        session: &'a str,
        turn: Option<usize>,
        prompt: Option<&'a str>,
        totals: &Totals,
    ) -> Self {
        Self {
            session,
            turn,
            prompt,
            input: totals.tokens.input,
            output: totals.tokens.output,
            cache_read: totals.tokens.cache_read,
            cache_write: totals.tokens.cache_write(),
            requests: totals.requests,
            tool_calls: totals.tool_calls,
            cost_usd: totals.cost().map(number),
            confidence: totals.confidence().name(),
        }
    }
}

/// One line of `usage explain SESSION TURN` or `usage explain RESPONSE`: a response.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_request")]
pub struct UsageRequest<'a> {
    /// When its first line was written.
    time: Option<String>,
    /// The session.
    session: &'a str,
    /// The subagent, if it was one.
    agent: Option<&'a str>,
    /// The model.
    model: Option<&'a str>,
    /// Whether it is what an advisor said within a response.
    advisor: bool,
    /// The file that owns it.
    file: &'a str,
    /// Its line, from 1; 0 if it can't be read any more.
    line: u64,
    /// Where its first line begins.
    offset: u64,
    /// Tokens read anew.
    input: u64,
    /// Tokens written by the model.
    output: u64,
    /// Tokens read from the cache.
    cache_read: u64,
    /// Tokens written to the cache.
    cache_write: u64,
    /// Tokens written to the cache for an hour.
    cache_write_1h: u64,
    /// Requests to the API that it took.
    requests: u64,
    /// Web searches.
    web_searches: u32,
    /// In how many other places it is repeated.
    replays: u32,
    /// Dollars; `null` if there is no price.
    cost_usd: Option<Box<RawValue>>,
    /// `exact`, `estimated`, `lower_bound` or `unpriced`.
    confidence: &'static str,
    /// The model of the table whose price it has.
    price: Option<&'a str>,
    /// Whether its prompt is longer than where other prices begin.
    long_context: bool,
    /// What the price is multiplied by, each with its name.
    factors: Vec<PriceFactor>,
}

/// What a price is multiplied by.
#[derive(Debug, Serialize)]
pub struct PriceFactor {
    /// `fast`, `us` or `batch`.
    name: &'static str,
    /// The factor.
    factor: f64,
}

impl<'a> UsageRequest<'a> {
    /// The line for a response.
    pub fn new(
        ledger: &'a Ledger,
        response: &'a Response,
        place: &'a Place,
        prices: &'a Prices,
    ) -> Self {
        let name = |name: Option<u32>| name.map(|name| ledger.name(name));
        let model = name(response.model);
        let priced = prices.price(
            model.unwrap_or_default(),
            response.time,
            &response.tokens,
            response.mode,
            response.web_searches,
        );
        let factor = |(name, Factor(thousandths)): &(&'static str, Factor)| PriceFactor {
            name,
            factor: f64::from(*thousandths) / 1000.0,
        };
        Self {
            time: super::time(response.time),
            session: ledger.name(response.session),
            agent: name(response.agent),
            model,
            advisor: response.is_advisor,
            file: &place.path,
            line: place.line,
            offset: response.offset,
            input: response.tokens.input,
            output: response.tokens.output,
            cache_read: response.tokens.cache_read,
            cache_write: response.tokens.cache_write(),
            cache_write_1h: response.tokens.cache_write_1h,
            requests: response.requests(),
            web_searches: response.web_searches,
            replays: response.replays,
            cost_usd: response.cost.map(number),
            confidence: response.confidence.name(),
            price: priced.as_ref().map(|priced| priced.model.id.as_str()),
            long_context: priced.as_ref().is_some_and(|priced| priced.is_long),
            factors: priced.iter().flat_map(|priced| priced.factors.iter().map(factor)).collect(),
        }
    }
}

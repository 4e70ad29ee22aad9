//! Lines of `recount usage reconcile --json`.

use report::usage::reconcile::{Explanation, HiddenCalls, Row, Unit};
use serde::Serialize;
use serde_json::value::RawValue;

use super::usage::usd;

/// A sum that Claude Code left, beside ours.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_claim")]
pub struct UsageClaim<'a> {
    /// Who claims it: `cost-state`, `result`, `line-cost`, `agent-call` or `stats-cache`.
    source: &'static str,
    /// Of which session.
    session: Option<&'a str>,
    /// Of which subagent.
    agent: Option<&'a str>,
    /// Of which day.
    day: Option<&'a str>,
    /// Of which model.
    model: Option<&'a str>,
    /// The transcript that claims it.
    file: Option<String>,
    /// The number of the entry in it.
    entry: Option<u32>,
    /// When it was claimed, or the last moment before.
    time: Option<String>,
    /// What is compared: `usd`, `tokens` (of all classes) or `uncached-tokens` (input and output).
    unit: &'static str,
    /// What is claimed.
    claimed: Box<RawValue>,
    /// What we count; `null` if there is nothing to count, or no price.
    ours: Option<Box<RawValue>>,
    /// How sure that is: `exact`, `estimated`, `lower_bound` or `unpriced`.
    confidence: &'static str,
    /// What is claimed above what we count.
    difference: Option<Box<RawValue>>,
    /// Why they differ.
    explanations: Vec<ClaimReason>,
    /// What of the difference nothing explains.
    unexplained: Option<Box<RawValue>>,
}

/// Why a claim is not what we count.
#[derive(Debug, Serialize)]
pub struct ClaimReason {
    /// `partial-scope`, `price`, `hidden-calls`, `replays`, `missing-subagent` or `placeholders`.
    why: &'static str,
    /// Responses, models, calls or subagents.
    count: u64,
    /// How much of the difference it is; `null` where that can't be told.
    amount: Option<Box<RawValue>>,
    /// How much it can be at most, where only that is known.
    most: Option<Box<RawValue>>,
    /// The first day of the prices under which the claim is right.
    as_of: Option<String>,
}

/// A number of JSON in the unit that is compared.
fn number(unit: Unit, number: i64) -> Box<RawValue> {
    let sign = if number < 0 { "-" } else { "" };
    let text = match unit {
        Unit::Cost => format!("{sign}{}", usd(number.unsigned_abs())),
        Unit::Tokens | Unit::Uncached => number.to_string(),
    };
    RawValue::from_string(text).expect("digits, a sign and a point")
}

fn whole(unit: Unit, value: u64) -> Box<RawValue> {
    number(unit, i64::try_from(value).unwrap_or(i64::MAX))
}

impl ClaimReason {
    fn new(unit: Unit, explanation: &Explanation) -> Self {
        Self {
            why: explanation.why.name(),
            count: explanation.count,
            amount: explanation.amount.map(|amount| number(unit, amount)),
            most: explanation.most.map(|most| whole(unit, most)),
            as_of: explanation.as_of.map(|day| day.to_string()),
        }
    }
}

impl<'a> UsageClaim<'a> {
    /// The line for a claim.
    pub fn new(row: &'a Row, file: Option<String>) -> Self {
        let unit = row.unit;
        Self {
            source: row.source.name(),
            session: row.session.as_deref(),
            agent: row.agent.as_deref(),
            day: row.day.as_deref(),
            model: row.model.as_deref(),
            file,
            entry: row.place.map(|(_, entry)| entry),
            time: super::time(row.time),
            unit: unit.name(),
            claimed: whole(unit, row.claimed),
            ours: row.ours.map(|ours| whole(unit, ours)),
            confidence: row.confidence.name(),
            difference: row.difference().map(|difference| number(unit, difference)),
            explanations: row.explanations.iter().map(|e| ClaimReason::new(unit, e)).collect(),
            unexplained: row.unexplained().map(|rest| number(unit, rest)),
        }
    }
}

/// Calls of Claude Code that leave no usage, and are in no sum of ours.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "usage_hidden")]
pub struct UsageHidden {
    /// What they were for: `title`, `recap`, `compaction` or `web`.
    kind: &'static str,
    /// How many.
    count: u64,
    /// The most tokens that they can have taken; `null` if that is not known of all of them.
    most_tokens: Option<u64>,
}

impl UsageHidden {
    /// The line for one kind.
    pub fn new(calls: &HiddenCalls) -> Self {
        Self { kind: calls.kind.name(), count: calls.count, most_tokens: calls.most }
    }
}

//! Lines of `recount time --json`.

use std::collections::BTreeMap;

use report::timing::{SlowCall, TurnTime};
use serde::Serialize;

/// A turn and where its time went, in milliseconds.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "turn_time")]
pub struct TurnTiming<'a> {
    /// The session.
    session: &'a str,
    /// The turn, from 1; 0 for what came before the first.
    turn: usize,
    /// What was asked.
    prompt: &'a str,
    /// When it began.
    start: Option<String>,
    /// From the prompt to the last entry.
    work_ms: i64,
    /// The model thought and wrote.
    model_ms: i64,
    /// Each tool worked, by name.
    tools_ms: &'a BTreeMap<String, i64>,
    /// Calls waited for the person: a question, a plan, or a permission, which is known only of
    /// tools that say how long they took.
    waiting_ms: i64,
    /// The API failed and was asked again.
    retries_ms: i64,
    /// Hooks, compaction and other work of Claude Code.
    other_ms: i64,
    /// Until the person asked again.
    person_ms: i64,
}

impl<'a> TurnTiming<'a> {
    /// The line for a turn.
    pub fn new(session: &'a str, turn: &'a TurnTime) -> Self {
        Self {
            session,
            turn: turn.turn,
            prompt: &turn.prompt,
            start: super::time(turn.start),
            work_ms: turn.working(),
            model_ms: turn.model,
            tools_ms: &turn.tools,
            waiting_ms: turn.waiting,
            retries_ms: turn.retries,
            other_ms: turn.other,
            person_ms: turn.person,
        }
    }
}

/// One of the slowest calls.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "slow_call")]
pub struct SlowestCall<'a> {
    /// The session.
    session: &'a str,
    /// The entry that made it.
    entry: u32,
    /// The tool.
    tool: &'a str,
    /// What it was about.
    subject: &'a str,
    /// Milliseconds until its result.
    latency_ms: i64,
    /// Whether it failed.
    error: bool,
}

impl<'a> SlowestCall<'a> {
    /// The line for a call.
    pub fn new(session: &'a str, call: &'a SlowCall) -> Self {
        Self {
            session,
            entry: call.entry,
            tool: &call.tool,
            subject: &call.subject,
            latency_ms: call.latency,
            error: call.is_error,
        }
    }
}

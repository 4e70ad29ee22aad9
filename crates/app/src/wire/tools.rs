//! Lines of `recount tools --json`.

use report::tools::{Grouping, ToolRow};
use serde::Serialize;

/// One line: how a tool, a server or a skill did.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "tool_use")]
pub struct ToolUse<'a> {
    /// The tool, if tools were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    /// The server of MCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    /// The skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<&'a str>,
    /// Calls.
    calls: u64,
    /// Calls that failed.
    errors: u64,
    /// Calls without a result: killed, or still running.
    without_result: u64,
    /// Errors per call.
    error_rate: f64,
    /// The middle of the latencies, in milliseconds.
    median_ms: Option<i64>,
    /// What 95 of 100 took at most.
    p95_ms: Option<i64>,
    /// What all took together.
    total_ms: i64,
}

impl<'a> ToolUse<'a> {
    /// The line for a row.
    pub fn new(by: Grouping, row: &'a ToolRow) -> Self {
        let name = |wanted: Grouping| (by == wanted).then_some(row.name.as_str());
        let rate = row.errors as f64 / row.calls as f64;
        Self {
            tool: name(Grouping::Tool),
            server: name(Grouping::Server),
            skill: name(Grouping::Skill),
            calls: row.calls,
            errors: row.errors,
            without_result: row.without_result,
            error_rate: (rate * 1e4).round() / 1e4,
            median_ms: row.median,
            p95_ms: row.p95,
            total_ms: row.total,
        }
    }
}

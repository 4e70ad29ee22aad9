//! How the tools did: calls, errors, and how long they took.

use std::collections::BTreeMap;

use transcript::id::Key;
use transcript::reading::EntryReading;
use transcript::session::Session;
use transcript::source::Source;
use transcript::time::Time;
use transcript::tool::{ToolForm, mcp_name};

/// One call, as its file tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFact {
    /// The entry that made it.
    pub entry: Key,
    /// The tool.
    pub tool: String,
    /// The skill, of calls of the skill tool.
    pub skill: Option<String>,
    /// When it was made.
    pub time: Option<Time>,
    /// Milliseconds until its result; `None` if there is none, or if a clock went back.
    pub latency: Option<i64>,
    /// Whether it has a result.
    pub has_result: bool,
    /// Whether it failed.
    pub is_error: bool,
}

/// The calls that a session's file owns.
pub fn calls(session: &Session, source: &Source) -> Vec<CallFact> {
    let nodes = session.nodes();
    let fact = |call: &transcript::session::Call| {
        let tool = session.tool(call);
        let (made, result) = (&nodes[call.node()], call.result().map(|node| &nodes[node]));
        let latency = result.and_then(|result| Some(result.time()?.0 - made.time()?.0));
        CallFact {
            entry: made.key,
            tool: tool.to_owned(),
            skill: (ToolForm::of(tool) == ToolForm::Skill)
                .then(|| skill(call, session, source))
                .flatten(),
            time: made.time(),
            latency: latency.filter(|ms| *ms >= 0),
            has_result: result.is_some(),
            is_error: call.is_error,
        }
    };
    session.own_calls().map(fact).collect()
}

fn skill(call: &transcript::session::Call, session: &Session, source: &Source) -> Option<String> {
    let bytes = source.entry(&session.nodes()[call.node()]).ok()?;
    let input = EntryReading::from_bytes(&bytes).call_input(call.key())?;
    input.skill_name().map(|name| name.into_owned())
}

/// What calls are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// The tool.
    Tool,
    /// The server of MCP; calls of other tools are left out.
    Server,
    /// The skill; calls of other tools are left out.
    Skill,
}

/// How the calls of one group did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    /// The tool, server or skill.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Calls without a result: killed, or still running.
    pub without_result: u64,
    /// The middle of the latencies, in milliseconds.
    pub median: Option<i64>,
    /// What 95 of 100 took at most.
    pub p95: Option<i64>,
    /// What all took together.
    pub total: i64,
}

/// The groups, those with most calls first.
pub fn tools<'a>(calls: impl IntoIterator<Item = &'a CallFact>, by: Grouping) -> Vec<ToolRow> {
    let mut groups: BTreeMap<&str, Vec<&CallFact>> = BTreeMap::new();
    for call in calls {
        let name = match by {
            Grouping::Tool => Some(call.tool.as_str()),
            Grouping::Server => mcp_name(&call.tool).map(|(server, _)| server),
            Grouping::Skill => call.skill.as_deref(),
        };
        if let Some(name) = name {
            groups.entry(name).or_default().push(call);
        }
    }
    let mut rows: Vec<ToolRow> =
        groups.into_iter().map(|(name, calls)| row(name, &calls)).collect();
    rows.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
    rows
}

fn row(name: &str, calls: &[&CallFact]) -> ToolRow {
    let mut latencies: Vec<i64> = calls.iter().filter_map(|call| call.latency).collect();
    latencies.sort_unstable();
    // A figure that was seen, not one between two.
    let at = |part: usize| {
        let rank = (latencies.len() * part).div_ceil(100);
        latencies.get(rank.saturating_sub(1)).copied()
    };
    let count = |is: &dyn Fn(&CallFact) -> bool| calls.iter().filter(|c| is(c)).count() as u64;
    ToolRow {
        name: name.into(),
        calls: calls.len() as u64,
        errors: count(&|call| call.is_error),
        without_result: count(&|call| !call.has_result),
        median: at(50),
        p95: at(95),
        total: latencies.iter().sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, latency: Option<i64>, is_error: bool) -> CallFact {
        CallFact {
            entry: Key(0),
            tool: tool.into(),
            skill: (tool == "Skill").then(|| "review".into()),
            time: None,
            latency,
            has_result: latency.is_some(),
            is_error,
        }
    }

    #[test]
    fn middle_and_end_are_times_that_were_seen() {
        let mut calls: Vec<CallFact> = (1..=20).map(|n| call("Bash", Some(n), n == 20)).collect();
        calls.push(call("Bash", None, false));
        calls.push(call("mcp__docs__find", Some(7), true));
        calls.push(call("Skill", Some(1), false));
        let rows = tools(&calls, Grouping::Tool);
        let bash = &rows[0];
        assert_eq!(
            (bash.name.as_str(), bash.calls, bash.errors, bash.without_result),
            ("Bash", 21, 1, 1)
        );
        assert_eq!((bash.median, bash.p95, bash.total), (Some(10), Some(19), 210));
        let names =
            |by| tools(&calls, by).into_iter().map(|r| (r.name, r.calls)).collect::<Vec<_>>();
        assert_eq!(names(Grouping::Server), [("docs".to_owned(), 1)]);
        assert_eq!(names(Grouping::Skill), [("review".to_owned(), 1)]);
    }
}

//! The way back: what rows say, for reports of a history that is there as tables only.

use hashbrown::HashMap;
use store::table::schema::{CALLS, PRS, REQUESTS, SESSIONS, SUBAGENTS};
use store::table::{Row, Table, Value};
use transcript::id::Key;
use transcript::session::State;
use transcript::time::Time;
use transcript::usage::{Mode, Tokens};

use crate::errors::ErrorItem;
use crate::price::Confidence;
use crate::tools::CallFact;
use crate::usage::{Ledger, Response};
use transcript::reading::ErrorText;

/// A row with the names of its columns.
struct Named<'a> {
    table: &'static Table,
    row: &'a Row,
}

impl<'a> Named<'a> {
    fn get(&self, name: &str) -> Option<&'a Value> {
        let at = self.table.columns.iter().position(|column| column.name == name);
        at.and_then(|at| self.row.get(at))
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn number(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    fn count(&self, name: &str) -> u64 {
        self.number(name).and_then(|number| number.try_into().ok()).unwrap_or(0)
    }

    fn is(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Boolean(true)))
    }

    fn time(&self, name: &str) -> Option<Time> {
        match self.get(name)? {
            Value::Time(time) => Some(Time(*time)),
            _ => None,
        }
    }

    fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }
}

/// Takes a row of requests into a ledger. Which tools it called is not known, only how many; and
/// its price is what it was when the row was made.
pub fn response(ledger: &mut Ledger, row: &Row) {
    let row = Named { table: &REQUESTS, row };
    let mut name = |column: &str| row.text(column).map(|text| ledger.intern(text));
    let (agent, project, branch) = (name("agent"), name("project"), name("branch"));
    let model = name("model_id").or_else(|| name("model"));
    let session = name("session");
    let session = session.unwrap_or_else(|| ledger.intern(""));
    let tool = ledger.intern("unknown");
    let requests = row.count("api_requests");
    let parts = if requests > 1 { requests as usize } else { 0 };
    let confidence = row.text("confidence");
    let confidence = Confidence::ALL.into_iter().find(|c| Some(c.name()) == confidence);
    let id = row.text("id").and_then(|id| u128::from_str_radix(id, 16).ok());
    let number = ledger.responses.len() as u128;
    ledger.responses.push(Response {
        key: Key(id.unwrap_or(number)),
        time: row.time("time"),
        file: 0,
        offset: 0,
        taken: (0, 0),
        session,
        agent,
        project,
        branch,
        model,
        tokens: Tokens {
            input: row.count("input_tokens"),
            output: row.count("output_tokens"),
            cache_read: row.count("cache_read_tokens"),
            cache_write_5m: row.count("cache_write_5m_tokens"),
            cache_write_1h: row.count("cache_write_1h_tokens"),
        },
        mode: Mode {
            is_fast: row.is("is_fast"),
            is_us: row.is("is_us"),
            is_batch: row.is("is_batch"),
            is_priority: row.is("is_priority"),
        },
        web_searches: row.count("web_searches").try_into().unwrap_or(u32::MAX),
        parts: vec![Tokens::default(); parts].into(),
        is_advisor: row.count("part") > 0,
        tools: vec![tool; row.count("tool_calls") as usize].into(),
        cost: row.number("cost_microusd").and_then(|cost| cost.try_into().ok()),
        confidence: confidence.unwrap_or(Confidence::Unpriced),
        replays: row.count("replays").try_into().unwrap_or(u32::MAX),
        has_source: row.is("has_source"),
        claimed_cost: None,
    });
}

/// Takes from a row of sessions what a ledger knows of a whole session.
pub fn understated(ledger: &mut Ledger, row: &Row) {
    let row = Named { table: &SESSIONS, row };
    if let Some(session) = row.text("session").filter(|_| row.is("client_counts_more")) {
        let name = ledger.intern(session);
        ledger.understated.insert(name);
    }
}

/// A call with the session it was made in.
pub fn call(row: &Row) -> (String, CallFact) {
    let row = Named { table: &CALLS, row };
    let fact = CallFact {
        entry: Key(0),
        tool: row.owned("tool").unwrap_or_default(),
        skill: row.owned("skill"),
        time: row.time("time"),
        latency: row.number("latency_ms"),
        has_result: row.text("outcome") != Some("none"),
        is_error: row.is("is_error"),
    };
    (row.owned("session").unwrap_or_default(), fact)
}

/// A call that failed, with its session and subagent; `None` if it did not. Without its words it
/// is told by its signature.
pub fn error(row: &Row) -> Option<(String, Option<String>, ErrorItem)> {
    let row = Named { table: &CALLS, row };
    if !row.is("is_error") {
        return None;
    }
    let text = row.owned("error").or_else(|| row.owned("error_signature"));
    let time =
        row.time("time").map(|Time(made)| Time(made + row.number("latency_ms").unwrap_or(0)));
    let entry = row.number("result_entry").or_else(|| row.number("entry"));
    let item = ErrorItem {
        key: Key(0),
        tool: row.owned("tool"),
        input: row.owned("input"),
        error: text.map_or(ErrorText::None, ErrorText::Text),
        tool_use_id: None,
        number: entry.and_then(|entry| entry.try_into().ok()).unwrap_or(0),
        offset: 0,
        time,
        state: State::Active,
        turn: row.number("turn").and_then(|turn| usize::try_from(turn - 1).ok()),
        fix: None,
    };
    Some((row.owned("session").unwrap_or_default(), row.owned("agent"), item))
}

/// The projects of sessions.
pub fn project(row: &Row, projects: &mut HashMap<String, String>) {
    let row = Named { table: &SESSIONS, row };
    projects.extend(row.owned("session").zip(row.owned("project")));
}

/// The kinds of subagents by their ids.
pub fn kind(row: &Row, kinds: &mut HashMap<String, String>) {
    let row = Named { table: &SUBAGENTS, row };
    kinds.extend(row.owned("agent").zip(row.owned("kind")));
}

/// The pull requests of sessions, with the times they were linked.
pub fn pr(row: &Row, prs: &mut HashMap<String, Vec<(Option<Time>, String)>>) {
    let row = Named { table: &PRS, row };
    if let Some((session, url)) = row.owned("session").zip(row.owned("url")) {
        prs.entry(session).or_default().push((row.time("time"), url));
    }
}

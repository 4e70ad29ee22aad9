//! Lines of `recount errors --json`.
//!
//! `tool`, `input`, `error` and `tool_use_id` are the fields that scripts over transcripts already
//! use; the others say where it happened.

use report::errors::{ErrorGroup, ErrorItem};
use serde::Serialize;
use serde_json::value::RawValue;
use transcript::reading::ErrorText;

use super::time;

/// A failed call.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "error")]
pub struct Error {
    /// The tool; `null` when the call is not in the file.
    pub tool: Option<String>,
    /// The call's input; `null` when the call is not in the file.
    pub input: Option<Box<RawValue>>,
    /// What came back: text, or blocks as they stand.
    pub error: Option<Text>,
    /// The call's id.
    pub tool_use_id: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The subagent that made the call; `null` for the session itself.
    pub agent: Option<String>,
    /// The file the result stands in.
    pub file: String,
    /// The entry of the result, counted from 1.
    pub entry: u32,
    /// The byte of the file its entry begins at, counted from 0.
    pub offset: u64,
    /// The time of the result's entry; `null` where it has none.
    pub time: Option<String>,
    /// `active`, `compacted`, `cleared`, `abandoned`, `subagent`.
    pub state: &'static str,
    /// The turn, counted from 1; `null` for an error that is in none.
    pub turn: Option<usize>,
    /// The next success of the same tool; `null` without `--fixes`, and where there is none.
    pub fix: Option<Fix>,
}

/// Text or blocks.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Text {
    /// Text.
    Text(String),
    /// Blocks.
    Blocks(Box<RawValue>),
}

/// A later success.
#[derive(Debug, Serialize)]
pub struct Fix {
    /// The entry of the call that succeeded, counted from 1.
    pub entry: u32,
    /// Its input.
    pub input: Option<Box<RawValue>>,
    /// Members of the input that changed.
    pub changed: Vec<String>,
    /// Calls in between.
    pub calls_between: usize,
    /// `same-subject`, `same-turn`, `later`.
    pub sureness: &'static str,
}

/// A value as it stands; `None` where the transcript's bytes are no JSON.
fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}

impl Error {
    /// An error and where it happened.
    pub fn new(item: &ErrorItem, session: Option<&str>, agent: Option<&str>, file: String) -> Self {
        let error = match &item.error {
            ErrorText::Text(text) => Some(Text::Text(text.clone())),
            ErrorText::Blocks(json) => {
                Some(raw(json).map_or_else(|| Text::Text(item.error.text()), Text::Blocks))
            }
            ErrorText::None => None,
        };
        Self {
            tool: item.tool.clone(),
            input: item.input.as_deref().and_then(raw),
            error,
            tool_use_id: item.tool_use_id.clone(),
            session: session.map(str::to_owned),
            agent: agent.map(str::to_owned),
            file,
            entry: item.number,
            offset: item.offset,
            time: time(item.time),
            state: item.state.name(),
            turn: item.turn.map(|turn| turn + 1),
            fix: item.fix.as_ref().map(|fix| Fix {
                entry: fix.number,
                input: raw(&fix.input),
                changed: fix.changed.clone(),
                calls_between: fix.calls_between,
                sureness: fix.sureness.name(),
            }),
        }
    }
}

/// Errors that are alike.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "error_group")]
pub struct Group<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The error with paths, numbers and names taken out.
    pub signature: &'a str,
    /// How often.
    pub count: usize,
    /// In how many sessions.
    pub sessions: usize,
    /// Last time.
    pub last: Option<String>,
    /// One of them.
    pub example: &'a str,
}

impl<'a> From<&'a ErrorGroup> for Group<'a> {
    fn from(group: &'a ErrorGroup) -> Self {
        Self {
            tool: &group.tool,
            signature: &group.signature,
            count: group.count,
            sessions: group.sessions,
            last: time(group.last),
            example: &group.example,
        }
    }
}

//! Lines of `recount show --json` and `recount context --json`.

use report::record::{self, Body, CallRecord, Outcome};
use serde::Serialize;
use serde_json::Value;
use transcript::entry::tool::{Action, Hunk};

/// One thing that a session shows: an entry, or a call with its result.
#[derive(Serialize)]
#[serde(tag = "type", rename = "record")]
pub struct Record<'a> {
    /// The session.
    session_id: Option<&'a str>,
    /// The subagent that it is of; `null` for the session itself.
    agent_id: Option<&'a str>,
    /// How many subagents deep.
    depth: usize,
    /// The file it stands in.
    file: String,
    /// Its number in the file, from 1; `null` where only the file's end was read.
    entry: Option<u32>,
    /// The byte it begins at.
    offset: u64,
    /// Its bytes.
    length: u32,
    time: Option<String>,
    /// `prompt`, `answer`, `call`, …
    role: &'static str,
    /// `active`, `compacted`, `abandoned`, …
    state: &'static str,
    /// Its turn, from 1.
    turn: Option<usize>,
    /// Its segment, from 0.
    segment: Option<usize>,
    /// The first level of detail that shows it, 1 to 5.
    detail: u8,
    model: Option<&'a str>,
    /// The full type of a note, such as `system/turn_duration`.
    name: Option<&'a str>,
    /// What it says, whole.
    text: Option<&'a str>,
    /// What Claude Code put before a person's words.
    beside: Vec<&'a str>,
    /// Pictures and documents, described.
    media: Vec<&'a str>,
    /// The model's words and thoughts.
    parts: Vec<Part<'a>>,
    /// The calls it makes.
    calls: Vec<Call<'a>>,
    /// A result whose call is not in the file.
    result: Option<CallResult<'a>>,
    compaction: Option<Compaction<'a>>,
    /// The line as it stands in the file; only at level 5.
    raw: Option<String>,
}

/// A piece of the model's words.
#[derive(Serialize)]
struct Part<'a> {
    /// `text`, `thinking`, or another block's type.
    kind: &'a str,
    /// `null` for thinking whose text was not stored, and for other blocks.
    text: Option<&'a str>,
    /// The size of another block.
    bytes: Option<usize>,
}

/// A call and what came of it.
#[derive(Serialize)]
struct Call<'a> {
    tool_use_id: &'a str,
    tool: &'a str,
    /// `read`, `edit`, `run`, `agent`, `web`, `plan` or `other`.
    action: &'static str,
    /// What it is about: path, command, pattern, question.
    subject: Option<&'a str>,
    input: Value,
    duration_ms: Option<i64>,
    /// `null` for a call that was killed.
    result: Option<CallResult<'a>>,
}

/// What came of a call.
#[derive(Serialize)]
struct CallResult<'a> {
    tool_use_id: Option<&'a str>,
    entry: Option<u32>,
    is_error: bool,
    exit_code: Option<i32>,
    text: Option<&'a str>,
    media: Vec<&'a str>,
    change: Option<Change<'a>>,
}

/// A change to a file.
#[derive(Serialize)]
struct Change<'a> {
    path: &'a str,
    added: u32,
    removed: u32,
    created: bool,
    /// Counted from the call's input, because the result has no patch.
    estimated: bool,
    hunks: Vec<WireHunk<'a>>,
}

/// A piece of a diff.
#[derive(Serialize)]
struct WireHunk<'a> {
    old_start: u64,
    new_start: u64,
    /// Lines with their mark: space, `+`, `-` or `\`.
    lines: &'a [String],
}

/// A compaction.
#[derive(Serialize)]
struct Compaction<'a> {
    /// `auto` or `manual`.
    trigger: Option<&'a str>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
    /// The segment that begins.
    segment: usize,
}

/// Where a record stands outside its session.
pub struct Stand<'a> {
    /// The session.
    pub session_id: Option<&'a str>,
    /// The subagent.
    pub agent_id: Option<&'a str>,
    /// How many subagents deep.
    pub depth: usize,
    /// The file.
    pub file: String,
}

impl<'a> Record<'a> {
    /// The wire form of a record.
    pub fn new(record: &'a record::Record, stand: Stand<'a>) -> Self {
        let mut wire = Self {
            session_id: stand.session_id,
            agent_id: stand.agent_id,
            depth: stand.depth,
            file: stand.file,
            entry: record.number,
            offset: record.offset,
            length: record.length,
            time: super::time(record.time),
            role: record.role.name(),
            state: record.state.name(),
            turn: record.turn.map(|turn| turn + 1),
            segment: record.segment,
            detail: record.detail as u8,
            model: record.model.as_deref(),
            name: None,
            text: None,
            beside: Vec::new(),
            media: Vec::new(),
            parts: Vec::new(),
            calls: Vec::new(),
            result: None,
            compaction: None,
            raw: None,
        };
        wire.fill(&record.body);
        wire
    }

    /// With the line as it stands in the file.
    pub fn with_raw(self, bytes: &[u8]) -> Self {
        Self { raw: Some(String::from_utf8_lossy(bytes).into_owned()), ..self }
    }

    fn fill(&mut self, body: &'a Body) {
        match body {
            Body::Prompt { text, beside, media } => {
                self.text = Some(text);
                self.beside = strs(beside);
                self.media = strs(media);
            }
            Body::Answer { parts } => self.parts = parts.iter().map(Part::from).collect(),
            Body::Calls { parts, calls } => {
                self.parts = parts.iter().map(Part::from).collect();
                self.calls = calls.iter().map(Call::from).collect();
            }
            Body::LoneResult { tool_use_id, outcome } => {
                self.result = Some(CallResult::new(tool_use_id.as_deref(), outcome));
            }
            Body::Compaction { trigger, pre_tokens, post_tokens, segment } => {
                self.compaction = Some(Compaction {
                    trigger: trigger.as_deref(),
                    pre_tokens: *pre_tokens,
                    post_tokens: *post_tokens,
                    segment: *segment,
                });
            }
            Body::Summary { text } | Body::Damaged { text } => self.text = Some(text),
            Body::Note { name, text } => {
                self.name = Some(name);
                self.text = text.as_deref();
            }
            Body::TooLarge => {}
        }
    }
}

fn strs(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

impl<'a> From<&'a record::Part> for Part<'a> {
    fn from(part: &'a record::Part) -> Self {
        match part {
            record::Part::Text(text) => Self { kind: "text", text: Some(text), bytes: None },
            record::Part::Thinking(text) => {
                Self { kind: "thinking", text: text.as_deref(), bytes: None }
            }
            record::Part::Other { name, bytes } => {
                Self { kind: name, text: None, bytes: Some(*bytes) }
            }
        }
    }
}

impl<'a> From<&'a CallRecord> for Call<'a> {
    fn from(call: &'a CallRecord) -> Self {
        let id = call.tool_use_id.as_str();
        Self {
            tool_use_id: id,
            tool: &call.tool,
            action: action(call.action),
            subject: call.subject.as_deref(),
            // What is no JSON (a lone surrogate) is given as the text it is.
            input: serde_json::from_str(&call.input)
                .unwrap_or_else(|_| Value::String(call.input.clone())),
            duration_ms: call.duration_ms,
            result: call.outcome.as_ref().map(|outcome| CallResult::new(Some(id), outcome)),
        }
    }
}

impl<'a> CallResult<'a> {
    fn new(tool_use_id: Option<&'a str>, outcome: &'a Outcome) -> Self {
        Self {
            tool_use_id,
            entry: outcome.number,
            is_error: outcome.is_error,
            exit_code: outcome.exit_code(),
            text: outcome.text.as_deref(),
            media: strs(&outcome.media),
            change: outcome.change.as_ref().map(|change| Change {
                path: &change.path,
                added: change.added,
                removed: change.removed,
                created: change.created,
                estimated: change.estimated,
                hunks: change.hunks.iter().map(WireHunk::from).collect(),
            }),
        }
    }
}

impl<'a> From<&'a Hunk> for WireHunk<'a> {
    fn from(hunk: &'a Hunk) -> Self {
        Self { old_start: hunk.old_start, new_start: hunk.new_start, lines: &hunk.lines }
    }
}

fn action(action: Action) -> &'static str {
    match action {
        Action::Read => "read",
        Action::Edit => "edit",
        Action::Run => "run",
        Action::Agent => "agent",
        Action::Web => "web",
        Action::Plan => "plan",
        Action::Other => "other",
    }
}

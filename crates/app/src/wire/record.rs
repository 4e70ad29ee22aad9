//! Lines of `recount show --json` and `recount context --json`.

use serde::Serialize;
use serde_json::Value;
use transcript::record::{self, Body, CallRecord, Outcome};
use transcript::tool::{Action, Hunk};

/// One thing that a session shows: an entry, or a call with its result.
#[derive(Serialize)]
#[serde(tag = "type", rename = "record")]
pub struct Record<'a> {
    /// The session's id; `null` where the file names none.
    session_id: Option<&'a str>,
    /// The id of the subagent that it is of; `null` for the session itself.
    agent_id: Option<&'a str>,
    /// How many subagents deep it stands; 0 for the session itself.
    depth: usize,
    /// The path of the file it stands in.
    file: String,
    /// The number of its entry in the file, counted from 1; `null` where only the file's end was
    /// read.
    entry: Option<u32>,
    /// The byte of the file it begins at, counted from 0.
    offset: u64,
    /// Its length in bytes.
    length: u32,
    /// The time of its entry; `null` where it has none.
    time: Option<String>,
    /// What it is: `prompt`, `queued`, `undelivered`, `command`, `shell`, `answer`, `thinking`,
    /// `call`, `result`, `summary`, `boundary`, `interrupt`, `notification`, `teammate`,
    /// `injected`, `api-error`, `event`, `progress`, `attachment`, `bookkeeping`, `unknown`,
    /// `damaged`.
    role: &'static str,
    /// Where it stands: `active`, `compacted`, `cleared`, `abandoned`, `subagent`, `foreign`,
    /// `repeated`.
    state: &'static str,
    /// Its turn, counted from 1; `null` where it is in none, or only the file's end was read.
    turn: Option<usize>,
    /// Its segment, counted from 0; `null` where it is in none, or only the file's end was read.
    segment: Option<usize>,
    /// The first level of detail that shows it, from 1 to 4.
    detail: u8,
    /// The model that spoke; `null` for what no model said.
    model: Option<&'a str>,
    /// The full type of a note, such as `system/turn_duration`; `null` for all else.
    name: Option<&'a str>,
    /// What a prompt, summary, note or damaged line says, whole; `null` for all else.
    text: Option<&'a str>,
    /// What Claude Code put before a person's words, in the same entry.
    beside: Vec<&'a str>,
    /// Pictures and documents in a prompt, each by its type and size.
    media: Vec<&'a str>,
    /// The model's words and thoughts, in their order.
    parts: Vec<Part<'a>>,
    /// The calls that the entry makes.
    calls: Vec<Call<'a>>,
    /// A result whose call is not in the file; `null` for all else.
    result: Option<CallResult<'a>>,
    /// What is known of a compaction; `null` for all else.
    compaction: Option<Compaction<'a>>,
    /// The line as it stands in the file, with `--raw` or at level 5, when the fields for what it
    /// says are empty; else `null`.
    raw: Option<String>,
}

/// A piece of the model's words.
#[derive(Serialize)]
struct Part<'a> {
    /// `text`, `thinking`, or another block's type.
    kind: &'a str,
    /// The words; `null` for thinking whose text was not stored, and for other blocks.
    text: Option<&'a str>,
    /// The size of another block in bytes; `null` for text and thinking.
    bytes: Option<usize>,
}

/// A call and what came of it.
#[derive(Serialize)]
struct Call<'a> {
    /// Its id, which its result names too; empty where none is recorded.
    tool_use_id: &'a str,
    /// The name of the tool; empty where none is recorded.
    tool: &'a str,
    /// What kind of thing it does: `read`, `edit`, `run`, `agent`, `web`, `plan` or `other`.
    action: &'static str,
    /// What it is about: path, command, pattern, question; `null` where the input names nothing.
    subject: Option<&'a str>,
    /// Its input as recorded; as text where that is not valid JSON.
    input: Value,
    /// From the call's entry to the result's, in milliseconds; `null` without a result, or where
    /// one has no time.
    duration_ms: Option<i64>,
    /// What came of it; `null` for a call that was killed.
    result: Option<CallResult<'a>>,
}

/// What came of a call.
#[derive(Serialize)]
struct CallResult<'a> {
    /// The id of the call; `null` where none is recorded.
    tool_use_id: Option<&'a str>,
    /// The number of the result's entry, counted from 1; `null` where only the file's end was read.
    entry: Option<u32>,
    /// Whether it says that the call failed.
    is_error: bool,
    /// The exit code of a failed command, where its text begins with one; else `null`.
    exit_code: Option<i32>,
    /// What the model was shown, whole; `null` where that holds no text, or is too large to show.
    text: Option<&'a str>,
    /// Pictures and documents in it, each by its type and size; also a note of a result too large
    /// to show.
    media: Vec<&'a str>,
    /// The change that it made to a file; `null` where it made none.
    change: Option<Change<'a>>,
    /// The files that a command changed, as far as that is recorded.
    changed_files: Vec<Change<'a>>,
}

/// A change to a file.
#[derive(Serialize)]
struct Change<'a> {
    /// The file's path, as recorded.
    path: &'a str,
    /// Lines added.
    added: u32,
    /// Lines removed.
    removed: u32,
    /// Whether the call created the file.
    created: bool,
    /// Whether the call deleted the file.
    deleted: bool,
    /// Whether the lines were counted from the call, because no patch was recorded.
    estimated: bool,
    /// Whether the lines are not known: the result names the file and not what changed in it.
    unknown: bool,
    /// The lines that were changed, piece by piece; empty where no patch was recorded.
    hunks: Vec<WireHunk<'a>>,
}

/// A piece of a diff.
#[derive(Serialize)]
struct WireHunk<'a> {
    /// The first line in the old file, counted from 1.
    old_start: u64,
    /// The first line in the new file, counted from 1.
    new_start: u64,
    /// The lines, each with its mark in front: space, `+`, `-` or `\`.
    lines: &'a [String],
}

/// A compaction.
#[derive(Serialize)]
struct Compaction<'a> {
    /// What set it off: `auto` or `manual`; `null` where that is not recorded.
    trigger: Option<&'a str>,
    /// Tokens in the context before it; `null` where that is not recorded.
    pre_tokens: Option<u64>,
    /// Tokens in the context after it; `null` where that is not recorded.
    post_tokens: Option<u64>,
    /// The segment that it begins, counted from 0.
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
            change: outcome.change.as_ref().map(Change::from),
            changed_files: outcome.changed_files.iter().map(Change::from).collect(),
        }
    }
}

impl<'a> From<&'a record::Change> for Change<'a> {
    fn from(change: &'a record::Change) -> Self {
        Self {
            path: &change.path,
            added: change.added,
            removed: change.removed,
            created: change.created,
            deleted: change.deleted,
            estimated: change.estimated,
            unknown: change.unknown,
            hunks: change.hunks.iter().map(WireHunk::from).collect(),
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

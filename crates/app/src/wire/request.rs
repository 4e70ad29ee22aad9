//! Lines of `recount request --json`, and the first line of `recount context --json`.

use serde::Serialize;
use serde_json::value::RawValue;

use report::request::{RecordedContext, SentMessage, SentRequest, SizedPart};
use transcript::request::MessageSource;

use crate::wire;

/// A request as it was sent to the model.
#[derive(Serialize)]
#[serde(tag = "type", rename = "request")]
pub struct Request<'a> {
    /// The session's id.
    session_id: Option<String>,
    /// The request's id, which answers name as `requestRef`.
    id: &'a str,
    /// The number of its entry, counted from 1; `null` where only a part of the file was read.
    entry: Option<u32>,
    /// When it was sent; `null` where that is not recorded.
    time: Option<String>,
    /// What asked for it: `repl_main_thread`, `sdk`, `agent:…`.
    query_source: Option<&'a str>,
    /// The parameters, by name.
    params: Box<RawValue>,
    /// The texts of the system prompt; `null` where they are missing.
    system: Option<&'a [String]>,
    /// The tools, as they were sent; `null` where they are missing.
    tools: Option<Vec<Box<RawValue>>>,
    /// The messages, in order.
    messages: Vec<Message<'a>>,
    /// The cache breakpoints.
    cache_breakpoints: Vec<Breakpoint<'a>>,
    /// Parts that the file does not have; empty where the request is whole.
    missing: Vec<Missing<'a>>,
    /// Whether the rebuilt request has the digest that Claude Code recorded; `null` where there is
    /// no digest or a part is missing.
    verified: Option<bool>,
    /// What changed since the request before; `null` for the first request.
    changes: Option<Changes<'a>>,
    /// Tokens by part, estimated.
    tokens: Tokens<'a>,
}

/// How the records after this line were chosen.
#[derive(Serialize)]
#[serde(tag = "type", rename = "context")]
pub struct Context {
    /// The session's id.
    session_id: String,
    /// `request`: the last recorded request decides what is in the context. `transcript`: it was
    /// rebuilt from the entries alone.
    made_from: &'static str,
    /// The id of that request; `null` where there is none.
    request: Option<String>,
    /// Whether that request has the digest that Claude Code recorded; `null` where there is none.
    verified: Option<bool>,
    /// Messages in that request; `null` where there is none.
    messages: Option<usize>,
    /// Entries that came after that request; `null` where there is none.
    entries_after: Option<usize>,
    /// Entries in the context.
    entries: usize,
}

impl Context {
    /// The line before the records of a context.
    pub fn new(session_id: String, recorded: Option<&RecordedContext>, entries: usize) -> Self {
        Self {
            session_id,
            made_from: if recorded.is_some() { "request" } else { "transcript" },
            request: recorded.map(|recorded| recorded.request.id.clone()),
            verified: recorded.and_then(|recorded| recorded.request.is_verified),
            messages: recorded.map(|recorded| recorded.request.messages.len()),
            entries_after: recorded.map(|recorded| recorded.after),
            entries,
        }
    }
}

/// A message of a request.
#[derive(Serialize)]
struct Message<'a> {
    /// `user`, `assistant` or `system`; empty where the message is missing.
    role: &'a str,
    /// Where it was found: `blob`, `entries` or `missing`.
    found: &'static str,
    /// The numbers of the entries that it was found in, counted from 1.
    entries: Vec<u32>,
    /// The SHA-256 by which the request names it; `null` where that is not known.
    hash: Option<String>,
    /// Whether the request before had it, too.
    kept: bool,
    /// Its tokens, estimated.
    tokens: u64,
    /// The message as it was sent; `null` where it is missing.
    message: Option<Box<RawValue>>,
}

/// A cache breakpoint.
#[derive(Serialize)]
struct Breakpoint<'a> {
    /// Where it is, as `messages[3].content[0]`.
    path: &'a str,
    /// Its `cache_control`.
    value: Box<RawValue>,
}

/// A part that the file does not have.
#[derive(Serialize)]
struct Missing<'a> {
    /// `shape`, `message`, `base`, `params`, `withheld` or `cut`.
    kind: &'static str,
    /// What it is, in words.
    text: &'a str,
}

/// What changed since the request before.
#[derive(Serialize)]
struct Changes<'a> {
    /// The id of the request before.
    previous: &'a str,
    /// Whether the system prompt changed; `null` where one of the two is missing.
    system: Option<bool>,
    /// Tools that are new.
    tools_added: &'a [String],
    /// Tools that are gone.
    tools_removed: &'a [String],
    /// Tools whose description or schema changed.
    tools_changed: &'a [String],
    /// Parameters that changed.
    params: Vec<Param<'a>>,
    /// Messages at the beginning that are the same.
    messages_kept: usize,
    /// Messages after these that are not sent any more.
    messages_dropped: usize,
    /// Messages that are new.
    messages_added: usize,
}

/// A parameter that changed.
#[derive(Serialize)]
struct Param<'a> {
    /// Its name.
    name: &'a str,
    /// What it was; `null` where it was not there.
    before: Option<Box<RawValue>>,
    /// What it is; `null` where it is not there.
    after: Option<Box<RawValue>>,
}

/// Tokens of a request.
#[derive(Serialize)]
struct Tokens<'a> {
    /// How the figures below were estimated.
    estimation: String,
    /// The input tokens that the answer reports; `null` where no answer is recorded.
    reported: Option<u64>,
    /// Tokens of the system prompt.
    system: u64,
    /// Tokens of each tool.
    tools: Vec<Part<'a>>,
    /// Tokens of the messages, by role and kind of block.
    messages: Vec<Part<'a>>,
}

/// A part of a request.
#[derive(Serialize)]
struct Part<'a> {
    /// A tool's name, or role and kind of block.
    name: &'a str,
    /// Characters of JSON, without base64.
    characters: u64,
    /// Tokens, estimated.
    tokens: u64,
}

impl<'a> Part<'a> {
    fn of_size(part: &'a SizedPart) -> Self {
        Self { name: &part.name, characters: part.characters, tokens: part.tokens }
    }
}

/// JSON of the transcript; `null` where it cannot stand in another JSON text.
fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn params(params: &[(String, String)]) -> Box<RawValue> {
    let map: std::collections::BTreeMap<&str, Box<RawValue>> =
        params.iter().map(|(name, value)| (name.as_str(), raw(value))).collect();
    serde_json::value::to_raw_value(&map).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

impl<'a> Request<'a> {
    /// A request; `number` gives the number of the entry at a byte of the file.
    pub fn new(
        session_id: Option<String>,
        request: &'a SentRequest,
        number: impl Fn(u64) -> Option<u32>,
    ) -> Self {
        let tools = request.tools.as_ref();
        Self {
            session_id,
            id: &request.id,
            entry: number(request.span.offset),
            time: wire::time(request.time),
            query_source: request.query_source.as_deref(),
            params: params(&request.params),
            system: request.system.as_deref(),
            tools: tools.map(|tools| tools.iter().map(|tool| raw(tool)).collect()),
            messages: request.messages.iter().map(|m| message(m, &number)).collect(),
            cache_breakpoints: request
                .breakpoints
                .iter()
                .map(|mark| Breakpoint { path: &mark.path, value: raw(&mark.value) })
                .collect(),
            missing: request
                .missing
                .iter()
                .map(|missing| Missing { kind: missing.kind, text: &missing.text })
                .collect(),
            verified: request.is_verified,
            changes: request.changes.as_ref().map(|changes| Changes {
                previous: &changes.previous,
                system: changes.system,
                tools_added: &changes.tools_added,
                tools_removed: &changes.tools_removed,
                tools_changed: &changes.tools_changed,
                params: changes
                    .params
                    .iter()
                    .map(|param| Param {
                        name: &param.name,
                        before: param.before.as_deref().map(raw),
                        after: param.after.as_deref().map(raw),
                    })
                    .collect(),
                messages_kept: changes.messages_kept,
                messages_dropped: changes.messages_dropped,
                messages_added: changes.messages_added,
            }),
            tokens: Tokens {
                estimation: request.estimation(),
                reported: request.input_tokens(),
                system: request.system_size.tokens,
                tools: request.tool_sizes.iter().map(Part::of_size).collect(),
                messages: request.message_sizes.iter().map(Part::of_size).collect(),
            },
        }
    }
}

fn message<'a>(message: &'a SentMessage, number: &impl Fn(u64) -> Option<u32>) -> Message<'a> {
    let (found, spans) = match &message.source {
        MessageSource::Blob(span) => ("blob", std::slice::from_ref(span)),
        MessageSource::Entries(spans) => ("entries", spans.as_slice()),
        MessageSource::Missing => ("missing", &[][..]),
    };
    Message {
        role: &message.role,
        found,
        entries: spans.iter().filter_map(|span| number(span.offset)).collect(),
        hash: message.hash.map(|hash| hash.to_string()),
        kept: message.is_kept,
        tokens: message.tokens,
        message: message.json.as_deref().map(raw),
    }
}

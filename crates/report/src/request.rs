//! A request to the model as it was sent: system prompt, tools, messages, parameters and cache
//! breakpoints, what changed since the request before, and how many tokens each part takes.
//!
//! Nothing is guessed. Each message is checked against its hash and the whole request against its
//! digest; what the file does not have is listed in [`SentRequest::missing`].

mod context;

use std::collections::BTreeMap;

use transcript::layout::Problem;
use transcript::reading::EntryReading;
pub use transcript::request::sent::tool_name;
use transcript::request::sent::{
    RequestParts, RequestShape, block_lengths, message_role, verify_digest,
};
use transcript::request::{
    ChainGap, ContentHash, EntrySpan, MessageSource, RequestLine, RequestLog, RequestMessage,
};
use transcript::source::Source;
use transcript::time::Time;

use crate::show::{self, Tokens};
use transcript::record::Opened;

pub use context::{RecordedContext, recorded_context};

/// How many characters are taken for a token where nothing better is known.
pub const CHARS_PER_TOKEN: u64 = 4;

/// A part of a request and how long it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizedPart {
    /// A tool's name, or what a message part is: `user text`, `assistant tool_use`.
    pub name: String,
    /// Characters of JSON, without base64.
    pub characters: u64,
    /// Estimated tokens, scaled to the answer's usage where that is known.
    pub tokens: u64,
}

/// A message of a request.
#[derive(Debug, Clone)]
pub struct SentMessage {
    /// `user`, `assistant`, `system`; empty where it is missing.
    pub role: String,
    /// The message; `None` where it is missing.
    pub json: Option<String>,
    /// Where it was found.
    pub source: MessageSource,
    /// The hash it is named by.
    pub hash: Option<ContentHash>,
    /// Whether it has that hash.
    pub is_verified: bool,
    /// Whether the request before had it, too.
    pub is_kept: bool,
    /// Its estimated tokens.
    pub tokens: u64,
}

/// Something that the file does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPart {
    /// `shape`, `message`, `base`, `params`, `withheld` or `cut`.
    pub kind: &'static str,
    /// What it is, in words.
    pub text: String,
}

/// A cache breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// Where, as `messages[3].content[0]`.
    pub path: String,
    /// Its `cache_control`, as JSON.
    pub value: String,
}

/// A parameter that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedParam {
    /// Its name.
    pub name: String,
    /// What it was, as JSON; `None` where it was not there.
    pub before: Option<String>,
    /// What it is, as JSON; `None` where it is not there.
    pub after: Option<String>,
}

/// What changed since the request before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestChanges {
    /// The id of the request before.
    pub previous: String,
    /// Whether the system prompt changed; `None` where one of the two is missing.
    pub system: Option<bool>,
    /// Tools that are new.
    pub tools_added: Vec<String>,
    /// Tools that are gone.
    pub tools_removed: Vec<String>,
    /// Tools whose description or schema changed.
    pub tools_changed: Vec<String>,
    /// Parameters that changed.
    pub params: Vec<ChangedParam>,
    /// Messages at the beginning that are the same.
    pub messages_kept: usize,
    /// Messages after these that were in the request before and are not any more.
    pub messages_dropped: usize,
    /// Messages that are new.
    pub messages_added: usize,
}

/// A request as it was sent.
#[derive(Debug, Clone)]
pub struct SentRequest {
    /// Its id, which answers name as `requestRef`.
    pub id: String,
    /// Where its line is.
    pub span: EntrySpan,
    /// When it was sent.
    pub time: Option<Time>,
    /// What asked for it.
    pub query_source: Option<String>,
    /// Its parameters, each as JSON.
    pub params: Vec<(String, String)>,
    /// The texts of the system prompt, in order; `None` where the shape is missing.
    pub system: Option<Vec<String>>,
    /// The tools as JSON, in order; `None` where the shape is missing.
    pub tools: Option<Vec<String>>,
    /// Its messages.
    pub messages: Vec<SentMessage>,
    /// Its cache breakpoints.
    pub breakpoints: Vec<Breakpoint>,
    /// What is missing of it.
    pub missing: Vec<MissingPart>,
    /// Whether it has the digest that the client recorded; `None` where there is none or where
    /// something is missing.
    pub is_verified: Option<bool>,
    /// What changed since the request before; `None` for the first.
    pub changes: Option<RequestChanges>,
    /// What its answer says it read.
    pub usage: Option<Tokens>,
    /// The size of the system prompt.
    pub system_size: SizedPart,
    /// The sizes of the tools.
    pub tool_sizes: Vec<SizedPart>,
    /// The sizes of the messages by role and kind of block.
    pub message_sizes: Vec<SizedPart>,
}

impl SentRequest {
    /// How the tokens were estimated.
    pub fn estimation(&self) -> String {
        match self.input_tokens() {
            Some(tokens) => format!(
                "characters of JSON, scaled to the {tokens} input tokens that the answer reports"
            ),
            None => format!("characters of JSON divided by {CHARS_PER_TOKEN}"),
        }
    }

    /// The input tokens that the answer reports.
    pub fn input_tokens(&self) -> Option<u64> {
        self.usage.map(|usage| usage.input + usage.cache_read + usage.cache_creation)
    }
}

/// The request that belongs to an entry: that of an answer, a request's own line, else the first
/// that was sent after the entry.
pub fn of_entry(
    log: &RequestLog,
    opened: &Opened<'_>,
    node: usize,
) -> Result<Option<usize>, Problem> {
    let entry = &opened.session().nodes()[node];
    if entry.source != 0 {
        return Ok(None);
    }
    let own = log.requests().iter().position(|request| request.span.offset == entry.offset);
    if own.is_some() {
        return Ok(own);
    }
    if entry.is_by_model() {
        return Ok(request_ref(opened, node)?.and_then(|id| log.by_id(&id)));
    }
    Ok(log.after(entry.offset))
}

/// The request that an answer names.
pub fn request_ref(opened: &Opened<'_>, node: usize) -> Result<Option<String>, Problem> {
    let bytes = opened.bytes(node)?;
    Ok(EntryReading::from_bytes(&bytes).request_ref())
}

/// What the answer to a request says it read.
fn answer_usage(opened: &Opened<'_>, request: &RequestLine) -> Result<Option<Tokens>, Problem> {
    let nodes = opened.session().nodes();
    let first = nodes.partition_point(|n| n.source == 0 && n.offset < request.span.offset);
    for (node, entry) in nodes.iter().enumerate().skip(first) {
        if !entry.is_by_model() || entry.source != 0 {
            continue;
        }
        let id = request_ref(opened, node)?;
        if id.as_deref() == Some(&*request.id) {
            return show::tokens(opened, &[node]);
        }
    }
    Ok(None)
}

/// Rebuilds a request.
pub fn rebuild(
    log: &RequestLog,
    index: usize,
    source: &Source,
    opened: &Opened<'_>,
) -> Result<SentRequest, Problem> {
    let line = &log.requests()[index];
    let bytes = source.bytes(line.span.offset, line.span.length as usize)?;
    let parts = RequestParts::from_line(&bytes);
    let shape_bytes = shape_bytes(log, index, source)?;
    let shape = RequestShape::from_line(&shape_bytes);
    let chain = log.chain(index);
    let found = log.messages(source, &chain.hashes)?;
    let previous = previous(log, index);
    let kept = previous.map_or(0, |before| same_start(&log.chain(before).hashes, &chain.hashes));
    let mut missing = missing(line, shape.as_ref(), &chain.gaps, &found);
    missing.extend(withheld(&parts));
    let mut request = SentRequest {
        id: line.id.to_string(),
        span: line.span,
        time: line.time,
        query_source: line.query_source.as_deref().map(str::to_owned),
        params: parts.params.unwrap_or_default(),
        system: shape.as_ref().map(|shape| shape.system.clone()),
        tools: shape.as_ref().map(|shape| shape.tools.clone()),
        messages: sent_messages(&found, kept),
        breakpoints: breakpoints(parts.breakpoints),
        is_verified: None,
        changes: None,
        usage: answer_usage(opened, line)?,
        system_size: SizedPart { name: "system".into(), characters: 0, tokens: 0 },
        tool_sizes: Vec::new(),
        message_sizes: Vec::new(),
        missing,
    };
    if request.missing.is_empty() {
        request.is_verified = verify_digest(&bytes, &shape_bytes, &found);
    }
    if let Some(before) = previous {
        let before_params = line_params(log, before, source)?;
        let before_shape = RequestShape::from_line(&self::shape_bytes(log, before, source)?);
        let shapes = shape.as_ref().zip(before_shape.as_ref());
        let mut changes = changed(&request.params, &before_params, shapes);
        let earlier = log.chain(before).hashes.len();
        changes.previous = log.requests()[before].id.to_string();
        changes.messages_kept = kept;
        changes.messages_dropped = earlier - kept.min(earlier);
        changes.messages_added = chain.hashes.len() - kept;
        request.changes = Some(changes);
    }
    measure(&mut request);
    Ok(request)
}

/// The request before: the one it begins with, else the one before it in the file that has the
/// same source.
fn previous(log: &RequestLog, index: usize) -> Option<usize> {
    let line = &log.requests()[index];
    let base = line.base.as_deref().and_then(|base| log.by_id(base));
    let same = |&at: &usize| log.requests()[at].query_source == line.query_source;
    base.filter(|&base| base != index).or_else(|| (0..index).rev().find(same))
}

fn same_start(before: &[Option<ContentHash>], after: &[Option<ContentHash>]) -> usize {
    before.iter().zip(after).take_while(|(a, b)| a == b && a.is_some()).count()
}

fn shape_bytes(log: &RequestLog, index: usize, source: &Source) -> Result<Vec<u8>, Problem> {
    let span = log.shape(index);
    span.map_or(Ok(Vec::new()), |span| source.bytes(span.offset, span.length as usize))
}

fn line_params(
    log: &RequestLog,
    index: usize,
    source: &Source,
) -> Result<Vec<(String, String)>, Problem> {
    let span = log.requests()[index].span;
    let bytes = source.bytes(span.offset, span.length as usize)?;
    Ok(RequestParts::from_line(&bytes).params.unwrap_or_default())
}

fn breakpoints(marks: Vec<(String, String)>) -> Vec<Breakpoint> {
    marks.into_iter().map(|(path, value)| Breakpoint { path, value }).collect()
}

fn missing(
    line: &RequestLine,
    shape: Option<&RequestShape>,
    gaps: &[ChainGap],
    found: &[RequestMessage],
) -> Vec<MissingPart> {
    let mut all = Vec::new();
    if shape.is_none() {
        let text = match line.shape {
            Some(hash) => {
                format!("the system prompt and the tools: shape {hash} is not in the file")
            }
            None => "the system prompt and the tools: the request names no shape".into(),
        };
        all.push(MissingPart { kind: "shape", text });
    }
    for gap in gaps {
        let (id, messages, why) = match gap {
            ChainGap::NoBase { id, messages } => (id, messages, "is not in the file"),
            ChainGap::ShortBase { id, messages } => (id, messages, "has fewer messages"),
            ChainGap::Circle { id, messages } => (id, messages, "leads back to itself"),
        };
        let text = format!("{messages} messages of the base request {id}, which {why}");
        all.push(MissingPart { kind: "base", text });
    }
    for (at, message) in found.iter().enumerate() {
        let text = match (&message.source, message.hash) {
            (MessageSource::Missing, Some(hash)) => {
                format!("message {}: neither a blob nor an entry has the hash {hash}", at + 1)
            }
            (MessageSource::Missing, None) => format!("message {}: its hash is not known", at + 1),
            (_, Some(hash)) if !message.is_verified => {
                format!("message {}: the blob does not have the hash {hash}", at + 1)
            }
            _ => continue,
        };
        all.push(MissingPart { kind: "message", text });
    }
    all
}

/// What the client itself left out of the record.
fn withheld(parts: &RequestParts) -> Vec<MissingPart> {
    let withheld = parts.withheld.iter().map(|name| MissingPart {
        kind: "withheld",
        text: format!("the parameter {name}, which the client does not record"),
    });
    let mut all: Vec<MissingPart> = withheld.collect();
    if parts.is_cut {
        let text = "parts of messages that the client cut before recording them".into();
        all.push(MissingPart { kind: "cut", text });
    }
    if parts.is_readable && parts.params.is_none() {
        all.push(MissingPart { kind: "params", text: "the parameters".into() });
    }
    all
}

fn sent_messages(found: &[RequestMessage], kept: usize) -> Vec<SentMessage> {
    let sent = |(at, message): (usize, &RequestMessage)| {
        let (role, json) = message_role(&message.json).unzip();
        SentMessage {
            role: role.unwrap_or_default(),
            json,
            source: message.source.clone(),
            hash: message.hash,
            is_verified: message.is_verified,
            is_kept: at < kept,
            tokens: 0,
        }
    };
    found.iter().enumerate().map(sent).collect()
}

fn changed(
    params: &[(String, String)],
    before: &[(String, String)],
    shapes: Option<(&RequestShape, &RequestShape)>,
) -> RequestChanges {
    let of = |list: &[(String, String)], name: &str| {
        list.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = before.iter().chain(params).map(|(key, _)| key).collect();
    names.sort();
    names.dedup();
    let params = names
        .into_iter()
        .map(|name| ChangedParam {
            name: name.clone(),
            before: of(before, name),
            after: of(params, name),
        })
        .filter(|change| change.before != change.after)
        .collect();
    let mut changes = RequestChanges {
        previous: String::new(),
        system: None,
        tools_added: Vec::new(),
        tools_removed: Vec::new(),
        tools_changed: Vec::new(),
        params,
        messages_kept: 0,
        messages_dropped: 0,
        messages_added: 0,
    };
    if let Some((after, before)) = shapes {
        changes.system = Some(after.system != before.system);
        let (after, before) = (tools_by_name(after), tools_by_name(before));
        let gone = before.keys().filter(|name| !after.contains_key(*name));
        changes.tools_removed = gone.cloned().collect();
        for (name, tool) in &after {
            match before.get(name) {
                None => changes.tools_added.push(name.clone()),
                Some(known) if known != tool => changes.tools_changed.push(name.clone()),
                Some(_) => {}
            }
        }
    }
    changes
}

fn tools_by_name(shape: &RequestShape) -> BTreeMap<String, &String> {
    shape.tools.iter().map(|json| (tool_name(json), json)).collect()
}

/// Counts characters and estimates tokens of every part.
fn measure(request: &mut SentRequest) {
    let chars = |text: &str| text.chars().count() as u64;
    let system = request.system.iter().flatten().map(|text| chars(text)).sum();
    let tools: Vec<(String, u64)> =
        request.tools.iter().flatten().map(|json| (tool_name(json), chars(json))).collect();
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut lengths = Vec::new();
    for message in &request.messages {
        let parts = message.json.as_deref().map_or_else(Vec::new, block_lengths);
        lengths.push(parts.iter().map(|(_, length)| length).sum::<u64>());
        for (kind, length) in parts {
            *kinds.entry(format!("{} {kind}", message.role)).or_default() += length;
        }
    }
    let all =
        system + tools.iter().map(|(_, length)| length).sum::<u64>() + lengths.iter().sum::<u64>();
    // Without all parts the answer's figure would be spread over the wrong ones.
    let is_whole = request.missing.is_empty();
    let scale = request.input_tokens().filter(|&tokens| tokens > 0 && all > 0 && is_whole);
    if scale.is_none() {
        request.usage = request.usage.filter(|_| is_whole);
    }
    let tokens = |length: u64| match scale {
        Some(known) => (u128::from(length) * u128::from(known) / u128::from(all)) as u64,
        None => length.div_ceil(CHARS_PER_TOKEN),
    };
    let sized =
        |name: String, characters: u64| SizedPart { name, characters, tokens: tokens(characters) };
    request.system_size = sized("system".into(), system);
    request.tool_sizes = tools.into_iter().map(|(name, length)| sized(name, length)).collect();
    request.message_sizes = kinds.into_iter().map(|(name, length)| sized(name, length)).collect();
    for (message, length) in request.messages.iter_mut().zip(lengths) {
        message.tokens = tokens(length);
    }
}

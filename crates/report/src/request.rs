//! A request to the model as it was sent: system prompt, tools, messages, parameters and cache
//! breakpoints, what changed since the request before, and how many tokens each part takes.
//!
//! Nothing is guessed. Each message is checked against its hash and the whole request against its
//! digest; what the file does not have is listed in [`SentRequest::missing`].

mod context;

use std::collections::BTreeMap;

use transcript::entry::{Entry, Kind};
use transcript::json::Raw;
use transcript::layout::Problem;
use transcript::request::canonical::{self, CacheMark, PathStep};
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
    if entry.kind == Kind::Assistant {
        return Ok(request_ref(opened, node)?.and_then(|id| log.by_id(&id)));
    }
    Ok(log.after(entry.offset))
}

/// The request that an answer names.
pub fn request_ref(opened: &Opened<'_>, node: usize) -> Result<Option<String>, Problem> {
    let bytes = opened.bytes(node)?;
    Ok(Entry::of(&bytes, 0).string("requestRef").map(|id| id.into_owned()))
}

/// What the answer to a request says it read.
fn answer_usage(opened: &Opened<'_>, request: &RequestLine) -> Result<Option<Tokens>, Problem> {
    let nodes = opened.session().nodes();
    let first = nodes.partition_point(|n| n.source == 0 && n.offset < request.span.offset);
    for (node, entry) in nodes.iter().enumerate().skip(first) {
        if entry.kind != Kind::Assistant || entry.source != 0 {
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
    let raw = Raw::new(&bytes).ok();
    let member = |name: &str| raw.and_then(|raw| raw.get(name));
    let shape_bytes = shape_bytes(log, index, source)?;
    let shape = shape_of(&shape_bytes);
    let chain = log.chain(index);
    let found = log.messages(source, &chain.hashes)?;
    let previous = previous(log, index);
    let kept = previous.map_or(0, |before| same_start(&log.chain(before).hashes, &chain.hashes));
    let marks: Vec<CacheMark<'_>> = member("cacheControl")
        .map_or_else(Vec::new, |marks| marks.items().filter_map(CacheMark::of_raw).collect());
    let mut missing = missing(line, shape, &chain.gaps, &found);
    missing.extend(withheld(raw));
    let mut request = SentRequest {
        id: line.id.to_string(),
        span: line.span,
        time: line.time,
        query_source: line.query_source.as_deref().map(str::to_owned),
        params: params(member("params")),
        system: shape.map(system_texts),
        tools: shape.map(|shape| list(shape.get("tools"))),
        messages: sent_messages(&found, kept),
        breakpoints: marks.iter().map(breakpoint).collect(),
        is_verified: None,
        changes: None,
        usage: answer_usage(opened, line)?,
        system_size: SizedPart { name: "system".into(), characters: 0, tokens: 0 },
        tool_sizes: Vec::new(),
        message_sizes: Vec::new(),
        missing,
    };
    let digest = member("requestDigest").and_then(Raw::text);
    if let (Some(digest), Some(shape), true) = (digest, shape, request.missing.is_empty()) {
        let computed = digest_of(member("params"), shape, &found, &marks);
        request.is_verified = Some(computed == ContentHash::from_hex(&digest));
    }
    if let Some(before) = previous {
        let before_params = line_params(log, before, source)?;
        let before_shape = self::shape_bytes(log, before, source)?;
        let mut changes = changed(&request.params, &before_params, shape, shape_of(&before_shape));
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

fn shape_of(bytes: &[u8]) -> Option<Raw<'_>> {
    Raw::new(bytes).ok()?.get("shape").filter(|shape| shape.is_object())
}

fn text_of(raw: Raw<'_>) -> String {
    String::from_utf8_lossy(raw.bytes()).into_owned()
}

fn list(raw: Option<Raw<'_>>) -> Vec<String> {
    raw.map_or_else(Vec::new, |raw| raw.items().map(text_of).collect())
}

fn system_texts(shape: Raw<'_>) -> Vec<String> {
    let Some(system) = shape.get("system") else { return Vec::new() };
    if let Some(text) = system.text() {
        return vec![text.into_owned()];
    }
    let text = |block: Raw<'_>| match block.string("text") {
        Some(text) => text.into_owned(),
        None => text_of(block),
    };
    system.items().map(text).collect()
}

fn params(raw: Option<Raw<'_>>) -> Vec<(String, String)> {
    let Some(raw) = raw else { return Vec::new() };
    raw.fields().map(|(key, value)| (key.text().into_owned(), text_of(value))).collect()
}

fn line_params(
    log: &RequestLog,
    index: usize,
    source: &Source,
) -> Result<Vec<(String, String)>, Problem> {
    let span = log.requests()[index].span;
    let bytes = source.bytes(span.offset, span.length as usize)?;
    Ok(params(Raw::new(&bytes).ok().and_then(|raw| raw.get("params"))))
}

fn breakpoint(mark: &CacheMark<'_>) -> Breakpoint {
    let mut path = String::new();
    for step in &mark.path {
        match step {
            PathStep::Key(key) if path.is_empty() => path += key,
            PathStep::Key(key) => path += &format!(".{key}"),
            PathStep::Index(index) => path += &format!("[{index}]"),
        }
    }
    Breakpoint { path, value: text_of(mark.value) }
}

fn missing(
    line: &RequestLine,
    shape: Option<Raw<'_>>,
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
fn withheld(raw: Option<Raw<'_>>) -> Vec<MissingPart> {
    let Some(raw) = raw else { return Vec::new() };
    let mut all: Vec<MissingPart> = raw
        .get("withheld")
        .map_or_else(Vec::new, |names| names.items().filter_map(Raw::text).collect())
        .iter()
        .map(|name| MissingPart {
            kind: "withheld",
            text: format!("the parameter {name}, which the client does not record"),
        })
        .collect();
    if raw.some("cut").is_some() {
        let text = "parts of messages that the client cut before recording them".into();
        all.push(MissingPart { kind: "cut", text });
    }
    if raw.get("params").is_none() {
        all.push(MissingPart { kind: "params", text: "the parameters".into() });
    }
    all
}

fn sent_messages(found: &[RequestMessage], kept: usize) -> Vec<SentMessage> {
    let sent = |(at, message): (usize, &RequestMessage)| {
        let raw = Raw::new(&message.json).ok();
        SentMessage {
            role: raw.and_then(|raw| raw.string("role")).unwrap_or_default().into_owned(),
            json: raw.map(text_of),
            source: message.source.clone(),
            hash: message.hash,
            is_verified: message.is_verified,
            is_kept: at < kept,
            tokens: 0,
        }
    };
    found.iter().enumerate().map(sent).collect()
}

fn digest_of(
    params: Option<Raw<'_>>,
    shape: Raw<'_>,
    messages: &[RequestMessage],
    marks: &[CacheMark<'_>],
) -> Option<ContentHash> {
    let members = params.into_iter().flat_map(Raw::fields).chain(shape.fields());
    let members: Vec<(String, Raw<'_>)> =
        members.map(|(key, value)| (key.text().into_owned(), value)).collect();
    let members: Vec<(&str, Raw<'_>)> =
        members.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let bodies: Vec<&[u8]> = messages.iter().map(|message| &*message.json).collect();
    canonical::request_digest(&members, &bodies, marks)
}

fn changed(
    params: &[(String, String)],
    before: &[(String, String)],
    shape: Option<Raw<'_>>,
    before_shape: Option<Raw<'_>>,
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
    if let (Some(after), Some(before)) = (shape, before_shape) {
        changes.system = Some(system_texts(after) != system_texts(before));
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

/// The name of a tool; of a server's tool its type.
pub fn tool_name(json: &str) -> String {
    let raw = Raw::new(json.as_bytes()).ok();
    let name = raw.and_then(|raw| raw.string("name").or_else(|| raw.string("type")));
    name.map_or_else(|| "(unnamed)".into(), |name| name.into_owned())
}

fn tools_by_name(shape: Raw<'_>) -> BTreeMap<String, String> {
    list(shape.get("tools")).into_iter().map(|json| (tool_name(&json), json)).collect()
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

/// The blocks of a message by their types, with their lengths in characters of JSON. The base64 of
/// pictures is not text and not counted.
fn block_lengths(json: &str) -> Vec<(String, u64)> {
    let Ok(message) = Raw::new(json.as_bytes()) else { return Vec::new() };
    let Some(content) = message.get("content") else { return Vec::new() };
    if let Some(text) = content.text() {
        return vec![("text".into(), text.chars().count() as u64)];
    }
    let length = |block: Raw<'_>| {
        let data = block.get("source").and_then(|source| source.get("data"));
        let data = data.map_or(0, |data| data.bytes().len() as u64);
        let text = String::from_utf8_lossy(block.bytes());
        (text.chars().count() as u64).saturating_sub(data)
    };
    let kind = |block: Raw<'_>| block.string("type").unwrap_or_else(|| "other".into()).into_owned();
    content.items().map(|block| (kind(block), length(block))).collect()
}

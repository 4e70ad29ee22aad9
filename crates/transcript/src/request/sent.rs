//! The parts of a recorded request as typed values: parameters, system prompt, tools, cache
//! breakpoints, and the blocks of its messages.

use super::canonical::{self, CacheMark, PathStep};
use super::{ContentHash, RequestMessage};
use crate::entry::Entry;
use crate::entry::message::{BlockKind, Content};
use crate::json::Raw;
use crate::reading::EntryReading;

/// What the line of a request says, beside its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestParts {
    /// The parameters by name, as JSON; `None` if they are not recorded.
    pub params: Option<Vec<(String, String)>>,
    /// Where the cache may begin: the path of each mark and its value, as JSON.
    pub breakpoints: Vec<(String, String)>,
    /// Names of parameters that the client does not record.
    pub withheld: Vec<String>,
    /// Whether the client cut parts of messages before it recorded them.
    pub is_cut: bool,
    /// Whether the line could be read.
    pub is_readable: bool,
}

/// The system prompt and the tools of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestShape {
    /// The blocks of the system prompt.
    pub system: Vec<String>,
    /// The tools, as JSON.
    pub tools: Vec<String>,
}

/// A block of a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentBlock {
    /// Text.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// A call: the tool and its input, as JSON.
    Call(String, String),
    /// The result of a call.
    Result(String),
    /// Anything else: its type, and its bytes.
    Other(Option<String>, u64),
}

fn text_of(raw: Raw<'_>) -> String {
    String::from_utf8_lossy(raw.bytes()).into_owned()
}

impl RequestParts {
    /// Reads the line of a request.
    pub fn from_line(line: &[u8]) -> Self {
        let raw = Raw::new(line).ok();
        let member = |name: &str| raw.and_then(|raw| raw.get(name));
        let params = member("params").map(|params| {
            params.fields().map(|(key, value)| (key.text().into_owned(), text_of(value))).collect()
        });
        let withheld = member("withheld").into_iter().flat_map(Raw::items).filter_map(Raw::text);
        Self {
            params,
            breakpoints: marks(raw).iter().map(breakpoint).collect(),
            withheld: withheld.map(|name| name.into_owned()).collect(),
            is_cut: raw.is_some_and(|raw| raw.some("cut").is_some()),
            is_readable: raw.is_some(),
        }
    }
}

fn marks(line: Option<Raw<'_>>) -> Vec<CacheMark<'_>> {
    let marks = line.and_then(|line| line.get("cacheControl"));
    marks.into_iter().flat_map(Raw::items).filter_map(CacheMark::of_raw).collect()
}

fn breakpoint(mark: &CacheMark<'_>) -> (String, String) {
    let mut path = String::new();
    for step in &mark.path {
        match step {
            PathStep::Key(key) if path.is_empty() => path += key,
            PathStep::Key(key) => path += &format!(".{key}"),
            PathStep::Index(index) => path += &format!("[{index}]"),
        }
    }
    (path, text_of(mark.value))
}

fn shape_of(line: &[u8]) -> Option<Raw<'_>> {
    Raw::new(line).ok()?.get("shape").filter(|shape| shape.is_object())
}

impl RequestShape {
    /// Reads the line that has the shape of a request.
    pub fn from_line(line: &[u8]) -> Option<Self> {
        let shape = shape_of(line)?;
        let tools = shape.get("tools").into_iter().flat_map(Raw::items);
        Some(Self { system: system_texts(shape), tools: tools.map(text_of).collect() })
    }
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

/// Whether a request that was rebuilt whole has the digest that its line names; `None` if the line
/// names none or has no shape.
pub fn verify_digest(line: &[u8], shape: &[u8], messages: &[RequestMessage]) -> Option<bool> {
    let raw = Raw::new(line).ok();
    let digest = raw?.get("requestDigest").and_then(Raw::text)?;
    let params = raw?.get("params");
    let members = params.into_iter().flat_map(Raw::fields).chain(shape_of(shape)?.fields());
    let members: Vec<(String, Raw<'_>)> =
        members.map(|(key, value)| (key.text().into_owned(), value)).collect();
    let members: Vec<(&str, Raw<'_>)> =
        members.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let bodies: Vec<&[u8]> = messages.iter().map(|message| &*message.json).collect();
    let computed = canonical::request_digest(&members, &bodies, &marks(raw));
    Some(computed == ContentHash::from_hex(&digest))
}

/// The role of a message, and the message as text; `None` if it is not JSON.
pub fn message_role(message: &[u8]) -> Option<(String, String)> {
    let raw = Raw::new(message).ok()?;
    Some((raw.string("role").unwrap_or_default().into_owned(), text_of(raw)))
}

/// The name of a tool; of a server's tool its type.
pub fn tool_name(json: &str) -> String {
    let raw = Raw::new(json.as_bytes()).ok();
    let name = raw.and_then(|raw| raw.string("name").or_else(|| raw.string("type")));
    name.map_or_else(|| "(unnamed)".into(), |name| name.into_owned())
}

/// The blocks of a message by their types, with their lengths in characters of JSON. The base64 of
/// pictures is not text and not counted.
pub fn block_lengths(json: &str) -> Vec<(String, u64)> {
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

/// The blocks of a message that was sent.
pub fn message_blocks(json: &str) -> Vec<SentBlock> {
    let content = Raw::new(json.as_bytes()).ok().and_then(|raw| raw.get("content"));
    match content.and_then(Raw::text) {
        Some(text) => vec![SentBlock::Text(text.into_owned())],
        None => content.into_iter().flat_map(Raw::items).map(sent_block).collect(),
    }
}

fn sent_block(block: Raw<'_>) -> SentBlock {
    let text = |name: &str| block.string(name).map(|text| text.into_owned());
    let json = |name: &str| block.get(name).map(text_of);
    match block.string("type").as_deref() {
        Some("text") => SentBlock::Text(text("text").unwrap_or_default()),
        Some("thinking") => SentBlock::Thinking(text("thinking").unwrap_or_default()),
        Some("tool_use") => {
            SentBlock::Call(text("name").unwrap_or_default(), json("input").unwrap_or_default())
        }
        Some("tool_result") => {
            SentBlock::Result(text("content").or_else(|| json("content")).unwrap_or_default())
        }
        kind => SentBlock::Other(kind.map(str::to_owned), block.bytes().len() as u64),
    }
}

/// A message that was recorded whole, to be compared with entries.
#[derive(Debug, Clone)]
pub struct RecordedMessage {
    texts: Vec<String>,
    json: String,
}

impl RecordedMessage {
    /// The message of this JSON.
    pub fn from_json(json: &str) -> Self {
        let content = Raw::new(json.as_bytes()).ok().and_then(|raw| raw.get("content"));
        let texts = match content.and_then(Raw::text) {
            Some(text) => vec![text.into_owned()],
            None => content
                .into_iter()
                .flat_map(Raw::items)
                .filter_map(|block| Some(block.string("text")?.into_owned()))
                .collect(),
        };
        Self { texts, json: json.to_owned() }
    }

    fn says(&self, text: &str) -> bool {
        let text = text.trim();
        !text.is_empty() && self.texts.iter().any(|known| known.contains(text))
    }

    /// Whether it has what an entry says.
    pub fn holds_entry(&self, reading: &EntryReading<'_>) -> bool {
        let entry = reading.entry();
        // A prompt that was typed while the model worked is an attachment; a local command and what
        // it printed are entries of the system.
        let queued = entry.field("attachment").and_then(|payload| payload.get("prompt"));
        let queued = queued.and_then(Raw::text).or_else(|| entry.string("content"));
        self.has_message(entry) || queued.is_some_and(|text| self.says(&text))
    }

    fn has_message(&self, entry: &Entry<'_>) -> bool {
        let whole = match entry.message.as_ref().map(|message| &message.content) {
            Some(Content::Text(text)) => self.says(&text.text()),
            _ => false,
        };
        whole
            || entry.blocks().iter().any(|block| match block.kind {
                BlockKind::ToolUse | BlockKind::ToolResult => {
                    block.id.is_some_and(|id| self.json.contains(&*id.text()))
                }
                _ => block.text.is_some_and(|text| self.says(&text.text())),
            })
    }
}

//! What was sent to the model, as the client records it. Since 2.1.326.
//!
//! Three line types make a request. `api-request-shape` has the system prompt and the tools,
//! `api-request-blob` has one message, and `api-request` names both by their SHA-256: its
//! messages are the first `keep` messages of its `base` and then those of `tail`. A message that
//! the transcript has anyway is not written again: a hash without a blob is that of consecutive
//! `user` entries, or of the `assistant` entries of one response, joined into one message.
//!
//! So every part can be found by its hash and checked against it. Texts are not kept: the log has
//! places, and [`RequestLog::messages`] reads those that are asked for.

pub mod canonical;
pub mod sent;

use std::io;

use hashbrown::HashMap;
use sha2::{Digest, Sha256};

use crate::entry::{Entry, Kind};
use crate::json::Raw;
use crate::layout::Problem;
use crate::line::LineReader;
use crate::source::Source;
use crate::time::Time;

/// The SHA-256 by which a message or a shape is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// A hash from its 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The hash of these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Where an entry is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntrySpan {
    /// Where its bytes begin.
    pub offset: u64,
    /// How many bytes.
    pub length: u32,
}

impl EntrySpan {
    fn of_entry(entry: &Entry<'_>) -> Self {
        let length = u32::try_from(entry.bytes.len()).unwrap_or(u32::MAX);
        Self { offset: entry.offset, length }
    }
}

/// An `api-request` line, without its parameters.
#[derive(Debug, Clone)]
pub struct RequestLine {
    /// `id`; an answer's `requestRef`.
    pub id: Box<str>,
    /// Where the line is.
    pub span: EntrySpan,
    /// When it was sent.
    pub time: Option<Time>,
    /// `querySource`: what asked for it (`repl_main_thread`, `sdk`, `agent:…`).
    pub query_source: Option<Box<str>>,
    /// `shapeHash`: system prompt and tools.
    pub shape: Option<ContentHash>,
    /// `base`: the request whose first messages it begins with.
    pub base: Option<Box<str>>,
    /// `keep`: how many of them.
    pub keep: usize,
    /// `tail`: the messages after these; `None` for what is not a hash.
    pub tail: Vec<Option<ContentHash>>,
}

/// Why the list of a request's messages is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainGap {
    /// A request that is named as base is not in the file.
    NoBase {
        /// The id of the missing request.
        id: Box<str>,
        /// How many messages it would give.
        messages: usize,
    },
    /// A base has fewer messages than are kept of it.
    ShortBase {
        /// The id of the base.
        id: Box<str>,
        /// How many messages are missing.
        messages: usize,
    },
    /// Requests name each other in a circle.
    Circle {
        /// The id that comes again.
        id: Box<str>,
        /// How many messages it would give.
        messages: usize,
    },
}

/// The messages of a request by their hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageChain {
    /// One per message; `None` where it is not known which.
    pub hashes: Vec<Option<ContentHash>>,
    /// What is missing of the list itself.
    pub gaps: Vec<ChainGap>,
}

/// Where a message was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageSource {
    /// An `api-request-blob` line.
    Blob(EntrySpan),
    /// Entries of the transcript, joined.
    Entries(Vec<EntrySpan>),
    /// Nowhere in the file.
    Missing,
}

/// A message of a request.
#[derive(Debug, Clone)]
pub struct RequestMessage {
    /// The hash it is named by.
    pub hash: Option<ContentHash>,
    /// Where it was found.
    pub source: MessageSource,
    /// The message as JSON; empty where it is missing.
    pub json: Vec<u8>,
    /// Whether the JSON has the hash it is named by.
    pub is_verified: bool,
}

/// `user` or `assistant` entries that are sent as one message.
#[derive(Debug)]
struct Run {
    is_user: bool,
    message: Option<Box<str>>,
    entries: Vec<EntrySpan>,
}

/// All requests of a file.
#[derive(Debug, Default)]
pub struct RequestLog {
    requests: Vec<RequestLine>,
    by_id: HashMap<Box<str>, usize>,
    shapes: HashMap<ContentHash, EntrySpan>,
    blobs: HashMap<ContentHash, EntrySpan>,
    runs: Vec<Run>,
}

impl RequestLog {
    /// The requests of a transcript.
    pub fn of_source(source: &Source) -> Result<Self, Problem> {
        Self::read(source.reader(0)).map_err(|error| Problem::new(source.path(), error))
    }

    /// The requests in these bytes.
    pub fn read(input: impl io::Read) -> io::Result<Self> {
        let mut log = Self::default();
        let mut reader = LineReader::new(input, 0);
        let mut odd = Vec::new();
        while let Some(line) = reader.next_line()? {
            Entry::read(line, &mut odd, |entry| log.entry(&entry));
            odd.clear();
        }
        Ok(log)
    }

    /// The requests, in file order.
    pub fn requests(&self) -> &[RequestLine] {
        &self.requests
    }

    /// The index of a request by its id.
    pub fn by_id(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The first request that was sent after a place in the file.
    pub fn after(&self, offset: u64) -> Option<usize> {
        self.requests.iter().position(|request| request.span.offset > offset)
    }

    /// Where the system prompt and the tools of a request are.
    pub fn shape(&self, request: usize) -> Option<EntrySpan> {
        self.shapes.get(&self.requests.get(request)?.shape?).copied()
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        match entry.kind {
            Kind::User | Kind::Assistant => self.say(entry),
            Kind::Bookkeeping if entry.is_type("api-request") => self.request(entry),
            Kind::Bookkeeping if entry.is_type("api-request-shape") => {
                if let Some(hash) = hash_field(entry, "shapeHash") {
                    self.shapes.entry(hash).or_insert(EntrySpan::of_entry(entry));
                }
            }
            Kind::Bookkeeping if entry.is_type("api-request-blob") => {
                if let Some(hash) = hash_field(entry, "hash") {
                    self.blobs.entry(hash).or_insert(EntrySpan::of_entry(entry));
                }
            }
            _ => {}
        }
    }

    fn request(&mut self, entry: &Entry<'_>) {
        let text = |name: &str| entry.string(name).map(|text| Box::<str>::from(&*text));
        let Some(id) = text("id") else { return };
        let tail = entry.field("tail").map_or_else(Vec::new, |tail| {
            tail.items().map(|hash| ContentHash::from_hex(&hash.text()?)).collect()
        });
        self.by_id.insert(id.clone(), self.requests.len());
        self.requests.push(RequestLine {
            id,
            span: EntrySpan::of_entry(entry),
            time: entry.time,
            query_source: text("querySource"),
            shape: hash_field(entry, "shapeHash"),
            base: text("base"),
            keep: entry.field("keep").and_then(Raw::u64).map_or(0, |keep| keep as usize),
            tail,
        });
    }

    /// Consecutive user entries are one message; so are the entries of one response. What stands
    /// between them in the file does not part them.
    fn say(&mut self, entry: &Entry<'_>) {
        let is_user = entry.kind == Kind::User;
        let id = entry.message.as_ref().and_then(|message| message.id);
        let message: Option<Box<str>> = id.map(|id| Box::from(&*id.text()));
        let span = EntrySpan::of_entry(entry);
        match self.runs.last_mut() {
            Some(run)
                if run.is_user == is_user
                    && (is_user || (message.is_some() && run.message == message)) =>
            {
                run.entries.push(span);
            }
            _ => self.runs.push(Run { is_user, message, entries: vec![span] }),
        }
    }

    /// The messages of a request, by their hashes.
    pub fn chain(&self, request: usize) -> MessageChain {
        let mut chain = MessageChain::default();
        // From the request to the one without a base, then back.
        let mut links: Vec<usize> = Vec::new();
        let (mut at, mut gap) = (Some(request), None);
        while let Some(index) = at {
            let line = &self.requests[index];
            links.push(index);
            let Some(base) = &line.base else { break };
            let messages = line.keep;
            at = self.by_id(base);
            if at.is_none() {
                gap = Some(ChainGap::NoBase { id: base.clone(), messages });
            } else if at.is_some_and(|next| links.contains(&next)) {
                gap = Some(ChainGap::Circle { id: base.clone(), messages });
                at = None;
            }
        }
        for (depth, &index) in links.iter().rev().enumerate() {
            let line = &self.requests[index];
            let missing = line.keep.saturating_sub(chain.hashes.len());
            // More than a file can name would only be a wrong number.
            let missing = missing.min(self.most_messages());
            if depth == 0 {
                chain.gaps.extend(gap.take());
            } else if missing > 0 {
                let id = line.base.clone().unwrap_or_default();
                chain.gaps.push(ChainGap::ShortBase { id, messages: missing });
            }
            chain.hashes.truncate(line.keep);
            if line.base.is_some() {
                chain.hashes.extend(std::iter::repeat_n(None, missing));
            }
            chain.hashes.extend(&line.tail);
        }
        chain
    }

    fn most_messages(&self) -> usize {
        let named: usize = self.requests.iter().map(|request| request.tail.len()).sum();
        named.max(1 << 16)
    }

    /// The messages of these hashes, read and checked.
    pub fn messages(
        &self,
        source: &Source,
        hashes: &[Option<ContentHash>],
    ) -> Result<Vec<RequestMessage>, Problem> {
        let in_blobs = |hash: &ContentHash| self.blobs.contains_key(hash);
        let mut wanted: HashMap<ContentHash, Option<Vec<EntrySpan>>> =
            hashes.iter().flatten().filter(|hash| !in_blobs(hash)).map(|h| (*h, None)).collect();
        self.find_said(source, &mut wanted)?;
        hashes
            .iter()
            .map(|hash| {
                let Some(hash) = *hash else { return Ok(RequestMessage::missing(None)) };
                let said = wanted.get_mut(&hash).and_then(|spans| spans.clone());
                match (self.blobs.get(&hash), said) {
                    (Some(&span), _) => blob_message(source, hash, span),
                    (None, Some(spans)) => said_message(source, hash, spans),
                    (None, None) => Ok(RequestMessage::missing(Some(hash))),
                }
            })
            .collect()
    }

    /// Looks for messages among the entries, from the end of the file.
    fn find_said(
        &self,
        source: &Source,
        wanted: &mut HashMap<ContentHash, Option<Vec<EntrySpan>>>,
    ) -> Result<(), Problem> {
        let mut left = wanted.len();
        for run in self.runs.iter().rev() {
            if left == 0 {
                return Ok(());
            }
            let mut joined = JoinedMessage::new(run.is_user);
            for (at, span) in run.entries.iter().enumerate() {
                let bytes = source.bytes(span.offset, span.length as usize)?;
                joined.add(&bytes);
                let found = wanted.get_mut(&joined.hash());
                if let Some(spans @ None) = found {
                    *spans = Some(run.entries[..=at].to_vec());
                    left -= 1;
                }
            }
        }
        Ok(())
    }
}

impl RequestMessage {
    fn missing(hash: Option<ContentHash>) -> Self {
        Self { hash, source: MessageSource::Missing, json: Vec::new(), is_verified: false }
    }
}

fn hash_field(entry: &Entry<'_>, name: &str) -> Option<ContentHash> {
    ContentHash::from_hex(&entry.string(name)?)
}

fn blob_message(
    source: &Source,
    hash: ContentHash,
    span: EntrySpan,
) -> Result<RequestMessage, Problem> {
    let bytes = source.bytes(span.offset, span.length as usize)?;
    let message = Raw::new(&bytes).ok().and_then(|line| line.get("message"));
    let Some(message) = message.filter(|message| message.is_object()) else {
        return Ok(RequestMessage::missing(Some(hash)));
    };
    let is_verified = canonical::message_hash(message.bytes()) == Some(hash);
    let json = message.bytes().to_vec();
    Ok(RequestMessage { hash: Some(hash), source: MessageSource::Blob(span), json, is_verified })
}

fn said_message(
    source: &Source,
    hash: ContentHash,
    spans: Vec<EntrySpan>,
) -> Result<RequestMessage, Problem> {
    let mut json = Vec::from(*b"{\"role\":\"");
    let mut content = Vec::new();
    for span in &spans {
        let bytes = source.bytes(span.offset, span.length as usize)?;
        let Ok(entry) = Raw::new(&bytes) else { continue };
        let Some(message) = entry.get("message") else { continue };
        if content.is_empty() {
            json.extend(message.string("role").unwrap_or_default().as_bytes());
        }
        for block in blocks(message) {
            content.extend(if content.is_empty() { &b""[..] } else { b"," });
            content.extend(block);
        }
    }
    json.extend(b"\",\"content\":[");
    json.extend(content);
    json.extend(b"]}");
    let source = MessageSource::Entries(spans);
    // It was found by its hash.
    Ok(RequestMessage { hash: Some(hash), source, json, is_verified: true })
}

/// The blocks of a message; a text is a block of its own.
fn blocks(message: Raw<'_>) -> Vec<Vec<u8>> {
    let Some(content) = message.get("content") else { return Vec::new() };
    match content.is_array() {
        true => content.items().map(|block| block.bytes().to_vec()).collect(),
        false if content.str().is_some() => vec![canonical::text_block(content)],
        false => vec![content.bytes().to_vec()],
    }
}

/// A message that grows entry by entry, and its hash so far.
struct JoinedMessage {
    is_user: bool,
    hasher: Sha256,
    is_empty: bool,
}

impl JoinedMessage {
    fn new(is_user: bool) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"{\"content\":[");
        Self { is_user, hasher, is_empty: true }
    }

    fn add(&mut self, entry: &[u8]) {
        let message = Raw::new(entry).ok().and_then(|entry| entry.get("message"));
        let mut text = Vec::new();
        for block in message.map_or_else(Vec::new, blocks) {
            if !self.is_empty {
                text.push(b',');
            }
            self.is_empty = false;
            if let Ok(block) = Raw::new(&block) {
                canonical::write(block, canonical::CacheMarks::Omit, &mut text);
            }
        }
        self.hasher.update(&text);
    }

    fn hash(&self) -> ContentHash {
        let mut hasher = self.hasher.clone();
        let end: &[u8] =
            if self.is_user { b"],\"role\":\"user\"}" } else { b"],\"role\":\"assistant\"}" };
        hasher.update(end);
        ContentHash(hasher.finalize().into())
    }
}

#[cfg(test)]
mod tests;

//! JSON in the one form that the client hashes: no white space, keys in the order of their UTF-16
//! units, and without `cache_control`, which moves from request to request.
//!
//! Numbers and strings are copied as they stand: the client hashes them as it writes them.

use crate::json::Raw;

use super::ContentHash;

/// A step of a path to a cache breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// A member of an object.
    Key(Box<str>),
    /// An item of an array.
    Index(u64),
}

/// A cache breakpoint: where, and the value of its `cache_control`.
#[derive(Debug, Clone)]
pub struct CacheMark<'a> {
    /// From the request's body on.
    pub path: Vec<PathStep>,
    /// As it is recorded.
    pub value: Raw<'a>,
}

impl<'a> CacheMark<'a> {
    /// One item of `cacheControl`.
    pub fn of_raw(raw: Raw<'a>) -> Option<Self> {
        let path = raw.get("path")?.items().map(|step| match step.u64() {
            Some(index) => Some(PathStep::Index(index)),
            None => step.text().map(|key| PathStep::Key(Box::from(&*key))),
        });
        Some(Self { path: path.collect::<Option<_>>()?, value: raw.get("value")? })
    }
}

/// What is written of cache breakpoints.
#[derive(Debug, Clone, Copy)]
pub enum CacheMarks<'a> {
    /// None, also not those that stand in the text.
    Omit,
    /// These, the first `usize` steps of whose paths have been gone.
    Put(&'a [&'a CacheMark<'a>], usize),
}

/// Writes a value in the one form.
pub fn write(value: Raw<'_>, marks: CacheMarks<'_>, out: &mut Vec<u8>) {
    write_at(value, marks, 0, out);
}

/// Values nested deeper than this are copied as they stand: no request has any.
const MAX_DEPTH: usize = 256;

fn write_at(value: Raw<'_>, marks: CacheMarks<'_>, depth: usize, out: &mut Vec<u8>) {
    if depth == MAX_DEPTH {
        out.extend(value.bytes());
    } else if value.is_array() {
        out.push(b'[');
        for (index, item) in value.items().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let step = |step: &PathStep| *step == PathStep::Index(index as u64);
            inner(item, marks, step, depth + 1, out);
        }
        out.push(b']');
    } else if value.is_object() {
        object(value, marks, depth, out);
    } else {
        out.extend(value.bytes());
    }
}

/// Writes a value inside another, with the marks that lead to it.
fn inner(
    value: Raw<'_>,
    marks: CacheMarks<'_>,
    is_step: impl Fn(&PathStep) -> bool,
    depth: usize,
    out: &mut Vec<u8>,
) {
    let CacheMarks::Put(all, gone) = marks else { return write_at(value, marks, depth, out) };
    let lead: Vec<&CacheMark<'_>> =
        all.iter().filter(|mark| mark.path.get(gone).is_some_and(&is_step)).copied().collect();
    write_at(value, CacheMarks::Put(&lead, gone + 1), depth, out);
}

fn object(value: Raw<'_>, marks: CacheMarks<'_>, depth: usize, out: &mut Vec<u8>) {
    let mut members: Vec<(String, Raw<'_>)> = Vec::new();
    for (key, member) in value.fields() {
        let key = key.text().into_owned();
        if key == "cache_control" {
            continue;
        }
        // Of members of one name the last counts.
        members.retain(|(known, _)| *known != key);
        members.push((key, member));
    }
    if let CacheMarks::Put(all, gone) = marks
        && let Some(mark) = all.iter().find(|mark| mark.path.len() == gone)
    {
        members.push(("cache_control".into(), mark.value));
    }
    members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push(b'{');
    for (at, (key, member)) in members.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        quote(key, out);
        out.push(b':');
        let is_step =
            |step: &PathStep| matches!(step, PathStep::Key(name) if **name == *key.as_str());
        inner(*member, marks, is_step, depth + 1, out);
    }
    out.push(b'}');
}

/// Writes a text as JavaScript does.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend(b"\\\""),
            '\\' => out.extend(b"\\\\"),
            '\n' => out.extend(b"\\n"),
            '\r' => out.extend(b"\\r"),
            '\t' => out.extend(b"\\t"),
            '\u{8}' => out.extend(b"\\b"),
            '\u{c}' => out.extend(b"\\f"),
            c if c < ' ' => out.extend(format!("\\u{:04x}", u32::from(c)).as_bytes()),
            c => out.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A string as the text block that it stands for.
pub fn text_block(text: Raw<'_>) -> Vec<u8> {
    let mut block = Vec::from(*b"{\"type\":\"text\",\"text\":");
    block.extend(text.bytes());
    block.push(b'}');
    block
}

/// A message whose content is a list of blocks.
pub fn with_blocks(message: Raw<'_>) -> Vec<u8> {
    let content = message.get("content").filter(|content| content.str().is_some());
    let Some(content) = content else { return message.bytes().to_vec() };
    let mut json = Vec::from(*b"{");
    for (key, value) in message.fields().filter(|(key, _)| !key.is("content")) {
        quote(&key.text(), &mut json);
        json.push(b':');
        json.extend(value.bytes());
        json.push(b',');
    }
    json.extend(b"\"content\":[");
    json.extend(text_block(content));
    json.extend(b"]}");
    json
}

/// The hash by which requests name a message.
pub fn message_hash(message: &[u8]) -> Option<ContentHash> {
    let whole = with_blocks(Raw::new(message).ok()?);
    let mut text = Vec::new();
    write(Raw::new(&whole).ok()?, CacheMarks::Omit, &mut text);
    Some(ContentHash::of_bytes(&text))
}

/// The hash of a shape: system prompt and tools.
pub fn shape_hash(shape: Raw<'_>) -> ContentHash {
    let mut text = Vec::new();
    write(shape, CacheMarks::Omit, &mut text);
    ContentHash::of_bytes(&text)
}

/// The hash of a whole request, with its cache breakpoints.
///
/// `parts` are the members of the body beside the messages: those of `params` and of the shape.
pub fn request_digest(
    parts: &[(&str, Raw<'_>)],
    messages: &[&[u8]],
    marks: &[CacheMark<'_>],
) -> Option<ContentHash> {
    let all: Vec<&CacheMark<'_>> = marks.iter().collect();
    let mut body = Vec::from(*b"{");
    for (key, value) in parts {
        quote(key, &mut body);
        body.push(b':');
        body.extend(value.bytes());
        body.push(b',');
    }
    body.extend(b"\"messages\":[");
    for (at, message) in messages.iter().enumerate() {
        body.extend(if at > 0 { &b","[..] } else { b"" });
        body.extend(with_blocks(Raw::new(message).ok()?));
    }
    body.extend(b"]}");
    let mut text = Vec::new();
    write(Raw::new(&body).ok()?, CacheMarks::Put(&all, 0), &mut text);
    Some(ContentHash::of_bytes(&text))
}

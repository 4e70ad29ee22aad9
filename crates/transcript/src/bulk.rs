//! What makes transcripts large and tells a reader nothing new: files in base64, the whole file
//! before an edit, the text of a read that the model was shown anyway.
//!
//! Nor do copies of the system prompt that the client keeps for itself (`prompt_snapshot`, since
//! about 2.1.267): they are a third of a small session, are sent nowhere, and what was sent is in
//! the lines of requests, which stay.
//!
//! Everything here is a JSON value inside an entry, named by its place, so that a copy without it
//! differs in that value alone. Base64 leaves a note of what it was. A file before an edit and a
//! text that was read leave `null`: Claude Code writes that itself for large files, and no reader
//! can take it for the content of a file.
//!
//! Nothing is ever taken that the copy could not do without: a read counts only if its text really
//! stands in the message, line by line, and a value only if what takes its place is shorter.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use crate::entry::message::{Block, BlockKind};
use crate::entry::{Entry, Kind};
use crate::json::{Raw, Str};
use crate::line::Line;
use memchr::memmem::Finder;

pub mod far;

/// Shorter values are no files.
const BASE64_LEAST: usize = 64;
/// Objects within objects are followed so far: images stand five deep.
const DEEPEST: u32 = 24;
/// No media type is longer.
const MEDIA_MOST: usize = 64;

/// Why a value can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BulkKind {
    /// An image or document in base64.
    Base64,
    /// The whole file before an edit; the patch says what changed.
    OriginalFile,
    /// The text of a read, which stands in the message, too.
    Read,
    /// The client's own copy of the system prompt and the tools.
    Snapshot,
}

impl BulkKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Base64, Self::OriginalFile, Self::Read, Self::Snapshot];

    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base64 => "base64",
            Self::OriginalFile => "original-file",
            Self::Read => "read",
            Self::Snapshot => "snapshot",
        }
    }
}

/// A value that can be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bulk<'a> {
    /// Why.
    pub kind: BulkKind,
    /// Where it stands in the bytes of its entry, quotes or brackets included.
    pub place: Range<usize>,
    /// Bytes between the quotes or brackets, in the file.
    pub bytes: u64,
    /// What is in it, of base64: `image/png`; `unknown` if nothing says so.
    pub media: Option<Cow<'a, str>>,
}

impl<'a> Bulk<'a> {
    fn new(kind: BulkKind, entry: &Entry<'a>, value: Str<'a>) -> Self {
        let inside = value.raw();
        let start = inside.as_ptr() as usize - entry.bytes.as_ptr() as usize;
        let place = start - 1..start + inside.len() + 1;
        Self { kind, place, bytes: inside.len() as u64, media: None }
    }

    /// A list as a whole.
    fn of_list(kind: BulkKind, entry: &Entry<'a>, value: Raw<'a>) -> Self {
        let start = value.bytes().as_ptr() as usize - entry.bytes.as_ptr() as usize;
        let length = value.bytes().len();
        Self { kind, place: start..start + length, bytes: length as u64 - 2, media: None }
    }

    /// What stands in its place in a clean copy, as JSON.
    pub fn stand_in(&self) -> Cow<'static, str> {
        match &self.media {
            Some(media) => format!("\"[base64 removed: {media}, {} bytes]\"", self.bytes).into(),
            None => "null".into(),
        }
    }

    /// By how much a copy without it is shorter.
    pub fn saves(&self) -> u64 {
        (self.bytes + 2).saturating_sub(self.stand_in().len() as u64)
    }
}

/// What is to be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Images and documents in base64.
    pub base64: bool,
    /// Files before an edit.
    pub original_file: bool,
    /// Texts that were read and stand in the message, too.
    pub reads: bool,
    /// The client's own copies of the system prompt.
    pub snapshots: bool,
}

impl Choice {
    /// Everything.
    pub const ALL: Self = Self { base64: true, original_file: true, reads: true, snapshots: true };

    /// Whether values of this kind are left out.
    pub const fn takes(self, kind: BulkKind) -> bool {
        match kind {
            BulkKind::Base64 => self.base64,
            BulkKind::OriginalFile => self.original_file,
            BulkKind::Read => self.reads,
            BulkKind::Snapshot => self.snapshots,
        }
    }
}

/// What can be left out of an entry, in the order of its places. Damaged entries stay as they are.
pub fn bulk<'a>(entry: &Entry<'a>) -> Vec<Bulk<'a>> {
    let mut found = Vec::new();
    if entry.kind == Kind::Damaged {
        return found;
    }
    if let Some(result) = entry.tool_result {
        of_result(entry, result, &mut found);
    }
    if entry.kind == Kind::Attachment && entry.is_inner_type("prompt_snapshot") {
        of_snapshot(entry, &mut found);
    } else if mentions_base64(entry.bytes) {
        of_sources(entry, &mut found);
    }
    found.retain(|bulk| bulk.saves() > 0);
    found.sort_by_key(|bulk| bulk.place.start);
    found
}

/// System prompt and tools of a snapshot. Base64 is not looked for in them: they go as a whole.
fn of_snapshot<'a>(entry: &Entry<'a>, found: &mut Vec<Bulk<'a>>) {
    let Some(payload) = entry.field("attachment") else { return };
    let lists = payload
        .fields()
        .filter(|(key, value)| matches!(key.raw(), b"systemPrompt" | b"tools") && value.is_array());
    found.extend(lists.map(|(_, value)| Bulk::of_list(BulkKind::Snapshot, entry, value)));
}

/// What only the results of tools have.
fn of_result<'a>(entry: &Entry<'a>, result: Raw<'a>, found: &mut Vec<Bulk<'a>>) {
    let (mut stdout, mut is_image) = (None, false);
    for (key, value) in result.fields() {
        match key.raw() {
            // Of Edit and Write, MultiEdit, NotebookEdit.
            b"originalFile" | b"originalFileContents" | b"original_file" => {
                found.extend(value.str().map(|s| Bulk::new(BulkKind::OriginalFile, entry, s)));
            }
            b"file" => found.extend(double_read(entry, value)),
            b"stdout" => stdout = value.str(),
            b"isImage" => is_image = value.bytes() == b"true",
            _ => {}
        }
    }
    // What a command printed as an image is a data URL.
    if let Some((stdout, media)) = stdout.filter(|_| is_image).and_then(|s| Some((s, data_url(s)?)))
    {
        found
            .push(Bulk { media: Some(media.into()), ..Bulk::new(BulkKind::Base64, entry, stdout) });
    }
}

fn double_read<'a>(entry: &Entry<'a>, file: Raw<'a>) -> Option<Bulk<'a>> {
    let text = file.get("content")?.str()?;
    let result = entry.blocks().iter().find(|block| block.kind == BlockKind::ToolResult)?;
    let shown = *Block::list(result.content?).first()?;
    let is_double = is_shown(text.raw(), shown.text?.raw());
    is_double.then(|| Bulk::new(BulkKind::Read, entry, text))
}

/// Whether `shown` begins with `text`, each line behind its number. Both are undecoded: Claude
/// Code escapes the same text in the same way, and if somebody else did not, it is no double. A
/// newline at the end may have no numbered line after it.
fn is_shown(text: &[u8], mut shown: &[u8]) -> bool {
    let mut lines = EscapedLines { rest: Some(text) };
    while let Some(line) = lines.next() {
        if shown.is_empty() && line.is_empty() && lines.rest.is_none() {
            return text.len() > line.len();
        }
        let Some(rest) = after_number(shown).and_then(|rest| rest.strip_prefix(line)) else {
            return false;
        };
        match rest.strip_prefix(br"\n") {
            Some(next) => shown = next,
            None if rest.is_empty() => shown = rest,
            None => return false,
        }
    }
    true
}

/// What follows `    12→`, since 2.1.97 `12\t`.
fn after_number(shown: &[u8]) -> Option<&[u8]> {
    let shown = shown.trim_ascii_start();
    let digits = shown.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = shown.split_at_checked(digits).filter(|_| digits > 0)?.1;
    rest.strip_prefix("→".as_bytes()).or_else(|| rest.strip_prefix(br"\t"))
}

/// Lines of undecoded text, which end at an escape.
struct EscapedLines<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for EscapedLines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.rest?;
        let mut at = 0;
        while let Some(escape) = memchr::memchr(b'\\', &text[at..]) {
            at += escape + 2;
            if text.get(at - 1) == Some(&b'n') {
                self.rest = Some(&text[at..]);
                return Some(&text[..at - 2]);
            }
            if at >= text.len() {
                break;
            }
        }
        self.rest.take()
    }
}

/// The word stands in quotes wherever something is said to be base64. In text it is escaped.
fn mentions_base64(bytes: &[u8]) -> bool {
    static WORD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"base64\""));
    WORD.find(bytes).is_some()
}

/// Base64 wherever it stands: `source` of images and documents in messages, results, queued
/// prompts and progress; `file` of reads and attachments.
fn of_sources<'a>(entry: &Entry<'a>, found: &mut Vec<Bulk<'a>>) {
    let Ok(whole) = Raw::new(entry.bytes) else { return };
    let mut open = vec![(whole, 0)];
    while let Some((value, depth)) = open.pop() {
        let mut source = Source::default();
        for (key, member) in value.fields() {
            source.member(key, member);
        }
        found.extend(source.bulk(entry));
        let members = value.fields().map(|(_, member)| member).chain(value.items());
        let holds = |member: &Raw<'a>| {
            (member.is_object() || member.is_array()) && mentions_base64(member.bytes())
        };
        if depth < DEEPEST {
            open.extend(members.filter(holds).map(|member| (member, depth + 1)));
        }
    }
}

/// An object that may hold base64: `{type: "base64", media_type, data}` or `{base64, type?}`.
#[derive(Default)]
struct Source<'a> {
    type_name: Option<Str<'a>>,
    media: Option<Str<'a>>,
    data: Option<Str<'a>>,
    base64: Option<Str<'a>>,
}

impl<'a> Source<'a> {
    fn member(&mut self, key: Str<'a>, value: Raw<'a>) {
        match key.raw() {
            b"type" => self.type_name = value.str(),
            b"media_type" => self.media = value.str(),
            b"data" => self.data = value.str(),
            b"base64" => self.base64 = value.str(),
            _ => {}
        }
    }

    fn bulk(&self, entry: &Entry<'a>) -> Option<Bulk<'a>> {
        let is_source = self.type_name.is_some_and(|name| name.raw() == b"base64");
        let value = self.base64.or(self.data.filter(|_| is_source))?;
        is_base64(value.raw()).then(|| {
            let named = self.media.or(self.type_name.filter(|_| !is_source));
            let media = named.and_then(media).unwrap_or_else(|| media_of(value.raw()).into());
            Bulk { media: Some(media), ..Bulk::new(BulkKind::Base64, entry, value) }
        })
    }
}

/// The length of base64, also where only the note of a clean copy is left of it.
pub fn base64_bytes(value: Str<'_>) -> u64 {
    let noted = || {
        let note = std::str::from_utf8(value.raw()).ok()?.strip_prefix("[base64 removed: ")?;
        note.strip_suffix(" bytes]")?.rsplit_once(", ")?.1.parse().ok()
    };
    noted().unwrap_or(value.raw().len() as u64)
}

/// Its beginning tells base64 from what stands in its place in a clean copy.
fn is_base64(value: &[u8]) -> bool {
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_');
    value.get(..BASE64_LEAST).is_some_and(|start| start.iter().all(is_digit))
}

/// A media type as it is named, if it is one.
fn media(name: Str<'_>) -> Option<Cow<'_, str>> {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'+' | b'-');
    let raw = name.raw();
    let is_media = raw.len() <= MEDIA_MOST && raw.contains(&b'/') && raw.iter().all(is_part);
    is_media.then(|| name.text())
}

/// A media type by how the base64 of such files begins.
fn media_of(value: &[u8]) -> &'static str {
    const BEGINNINGS: [(&[u8], &str); 5] = [
        (b"JVBERi0", "application/pdf"),
        (b"iVBORw0KGgo", "image/png"),
        (b"/9j/", "image/jpeg"),
        (b"R0lGOD", "image/gif"),
        (b"UklGR", "image/webp"),
    ];
    BEGINNINGS
        .iter()
        .find(|(start, _)| value.starts_with(start))
        .map_or("unknown", |(_, name)| name)
}

/// The media type of a string that is nothing but a data URL in base64.
fn data_url(value: Str<'_>) -> Option<&str> {
    let (head, data) = value.raw().split_at_checked(value.raw().len().min(MEDIA_MOST + 16))?;
    let head = std::str::from_utf8(head).ok()?;
    let (name, start) = head.strip_prefix("data:")?.split_once(";base64,")?;
    media(Str::new(name.as_bytes()))?;
    let is_all = is_base64(&[start.as_bytes(), data].concat());
    is_all.then_some(name)
}

/// The entries of a line. What was odd is not asked for, and nearly every line is one entry and
/// nothing else: then its bytes need not be judged.
pub fn entries<'a>(line: Line<'a>, mut give: impl FnMut(Entry<'a>)) {
    let bytes = line.bytes.strip_suffix(b"\n").unwrap_or(line.bytes);
    let entry = Entry::of(bytes, line.offset);
    if entry.kind != Kind::Damaged && entry.bytes.len() == bytes.len() {
        return give(entry);
    }
    Entry::read(line, &mut Vec::new(), give);
}

/// The bulk of a whole line, each with its place in the line.
pub fn of_line<'a>(line: Line<'a>) -> Vec<Bulk<'a>> {
    let mut all = Vec::new();
    entries(line, |entry| {
        let start = (entry.offset - line.offset) as usize;
        all.extend(
            bulk(&entry).into_iter().map(|bulk| Bulk {
                place: bulk.place.start + start..bulk.place.end + start,
                ..bulk
            }),
        );
    });
    all
}

/// Writes a line that is held whole without what is chosen, and gives what was left out.
///
/// A line without bulk is written as it is; of another every byte outside of the values is.
pub fn clean_line<'a>(line: Line<'a>, choice: Choice, out: &mut Vec<u8>) -> Vec<Bulk<'a>> {
    let mut removed = of_line(line);
    removed.retain(|bulk| choice.takes(bulk.kind));
    let mut at = 0;
    for bulk in &removed {
        out.extend_from_slice(&line.bytes[at..bulk.place.start]);
        out.extend_from_slice(bulk.stand_in().as_bytes());
        at = bulk.place.end;
    }
    out.extend_from_slice(&line.bytes[at..]);
    removed
}

#[cfg(test)]
mod tests;

//! Lines into entries. Reading never fails: a line gives whole entries where it can, a
//! [`Kind::Damaged`] entry for bytes it can't read, and diagnostics for whatever was odd.
//!
//! An entry borrows its line and decodes nothing but its envelope. All members that the envelope
//! does not name stay in [`Entry::fields`], so that unknown ones are kept and can be counted.
//! Both dialects are read by the same code: files on disk and stream-json differ in the spelling
//! of a few members (`sessionId` / `session_id`, `toolUseResult` / `tool_use_result`).

pub mod message;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::catalog;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::json::{Broken, Cursor, Raw, Str};
use crate::line::Line;
use crate::time::Time;
use message::{Content, Message};

/// What an entry is, from its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A prompt, a tool result or injected text.
    User,
    /// One block of the model's answer (seldom several).
    Assistant,
    /// An event; [`Entry::subtype`] says which.
    System,
    /// A sign of life of a running call (2.1.12 to 2.1.81).
    Progress,
    /// Something added to the context (since 2.1.92).
    Attachment,
    /// A line without a place in the conversation: a title, a snapshot, a link, a setting.
    Bookkeeping,
    /// A `type` that is not in the catalog, or none.
    Unknown,
    /// Bytes that are no JSON object.
    Damaged,
}

impl Kind {
    /// Whether entries of this kind are links of the `parentUuid` chain.
    pub const fn is_chain(self) -> bool {
        matches!(
            self,
            Self::User | Self::Assistant | Self::System | Self::Progress | Self::Attachment
        )
    }

    /// Whether entries of this kind carry what a person or the model said.
    pub const fn is_talk(self) -> bool {
        matches!(self, Self::User | Self::Assistant)
    }

    fn of(name: Option<Str<'_>>) -> Self {
        let Some(name) = name else { return Self::Unknown };
        match name.raw() {
            b"user" => Self::User,
            b"assistant" => Self::Assistant,
            b"system" => Self::System,
            b"progress" => Self::Progress,
            b"attachment" => Self::Attachment,
            _ if catalog::knows_type(&name.text()) => Self::Bookkeeping,
            _ => Self::Unknown,
        }
    }
}

/// What `parentUuid` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent<'a> {
    /// There is no such member: the entry follows the one before it (stream-json, old shapes).
    Absent,
    /// `null`: a root.
    Null,
    /// The parent's uuid.
    Id(Str<'a>),
}

/// A member that the envelope does not name.
pub type Field<'a> = (Str<'a>, Raw<'a>);

/// One record of a transcript.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Where its bytes begin in the file.
    pub offset: u64,
    /// Its bytes, from `{` to `}`; of a damaged entry whatever stands there.
    pub bytes: &'a [u8],
    /// What it is.
    pub kind: Kind,
    /// `type`, as written.
    pub type_name: Option<Str<'a>>,
    /// `subtype` of `system` and `result`.
    pub subtype: Option<Str<'a>>,
    /// `uuid`.
    pub uuid: Option<Str<'a>>,
    /// `parentUuid`.
    pub parent: Parent<'a>,
    /// `logicalParentUuid`, on compact boundaries.
    pub logical_parent: Option<Str<'a>>,
    /// `sessionId`; in stream-json `session_id`.
    pub session: Option<Str<'a>>,
    /// `session_id` beside `sessionId`: the lineage's root (since 2.1.207).
    pub lineage: Option<Str<'a>>,
    /// `timestamp`.
    pub time: Option<Time>,
    /// `cwd`.
    pub cwd: Option<Str<'a>>,
    /// `version`: Claude Code's.
    pub version: Option<Str<'a>>,
    /// `gitBranch`.
    pub git_branch: Option<Str<'a>>,
    /// `agentId`, on subagents' entries.
    pub agent: Option<Str<'a>>,
    /// `requestId`.
    pub request: Option<Str<'a>>,
    /// `parent_tool_use_id`: stream-json's link from a subagent's message to its call.
    pub parent_call: Option<Str<'a>>,
    /// `leafUuid`, on summaries and last prompts.
    pub leaf: Option<Str<'a>>,
    /// `toolUseResult`: what the tool gave back, beside what the model was shown.
    pub tool_result: Option<Raw<'a>>,
    /// `isSidechain`.
    pub is_sidechain: bool,
    /// `isMeta`: injected, not typed.
    pub is_meta: bool,
    /// `isCompactSummary`.
    pub is_compact_summary: bool,
    /// `teamName` is there.
    pub is_team: bool,
    /// `message`, or the older top-level `content`.
    pub message: Option<Message<'a>>,
    /// All other members.
    pub fields: SmallVec<[Field<'a>; 8]>,
}

impl<'a> Entry<'a> {
    fn empty(bytes: &'a [u8], offset: u64) -> Self {
        Self {
            offset,
            bytes,
            kind: Kind::Damaged,
            type_name: None,
            subtype: None,
            uuid: None,
            parent: Parent::Absent,
            logical_parent: None,
            session: None,
            lineage: None,
            time: None,
            cwd: None,
            version: None,
            git_branch: None,
            agent: None,
            request: None,
            parent_call: None,
            leaf: None,
            tool_result: None,
            is_sidechain: false,
            is_meta: false,
            is_compact_summary: false,
            is_team: false,
            message: None,
            fields: SmallVec::new(),
        }
    }

    /// Reads the entries of one line, in order, and notes what was odd.
    ///
    /// ```
    /// use transcript::{entry::{Entry, Kind}, line::Lines};
    /// let file = b"{\"type\":\"tag\",\"tag\":\"x\"}{\"type\":\"mode\",\"mode\":\"normal\"}\n.344Z\"}\n";
    /// let (mut kinds, mut odd) = (Vec::new(), Vec::new());
    /// for line in Lines::new(file, 0) {
    ///     Entry::read(line, &mut odd, |entry| kinds.push(entry.kind));
    /// }
    /// assert_eq!(kinds, [Kind::Bookkeeping, Kind::Bookkeeping, Kind::Damaged]);
    /// assert_eq!(odd.len(), 2); // glued, damaged
    /// ```
    pub fn read(line: Line<'a>, odd: &mut Vec<Diagnostic>, mut give: impl FnMut(Entry<'a>)) {
        let mut reader = LineParts { line, odd };
        let (from, to) = reader.trim();
        if from < to {
            reader.entries(from, to, &mut give);
        }
    }

    /// The entry of exactly these bytes; damaged if they are no JSON object.
    pub fn of(bytes: &'a [u8], offset: u64) -> Self {
        Self::object(bytes, offset).0
    }

    /// The object at the start of `bytes`, and whether it is whole; when it breaks, what was read
    /// so far.
    #[inline]
    fn object(bytes: &'a [u8], offset: u64) -> (Self, Result<(), Broken>) {
        let mut entry = Self::empty(bytes, offset);
        let mut cursor = Cursor::new(bytes);
        let whole = entry.members(&mut cursor);
        if whole.is_ok() {
            entry.bytes = &bytes[..cursor.pos()];
            entry.kind = Kind::of(entry.type_name);
            entry.settle();
        }
        (entry, whole)
    }

    fn members(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        cursor.open(b'{')?;
        while let Some(key) = cursor.key()? {
            self.member(key, cursor)?;
        }
        Ok(())
    }

    /// Takes one member.
    fn member(&mut self, key: Str<'a>, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        if key.raw() == b"message" && cursor.peek()? == b'{' {
            return self.message.insert(Message::new(Content::None)).read(cursor);
        }
        let value = cursor.value()?;
        let string = value.str();
        let is_true = value.bytes() == b"true";
        match key.raw() {
            b"type" => self.type_name = string.or(self.type_name),
            b"uuid" => self.uuid = string,
            b"cwd" => self.cwd = string,
            b"version" => self.version = string,
            b"subtype" => self.subtype = string,
            b"agentId" => self.agent = string,
            b"isMeta" => self.is_meta = is_true,
            b"leafUuid" => self.leaf = string,
            b"sessionId" => self.session = string,
            b"gitBranch" => self.git_branch = string,
            b"timestamp" => {
                self.time = string.and_then(|s| Time::parse(s.raw()));
                if self.time.is_none() {
                    self.fields.push((key, value));
                }
            }
            b"requestId" | b"request_id" => self.request = string,
            b"session_id" => self.lineage = string,
            b"parentUuid" => self.parent = string.map_or(Parent::Null, Parent::Id),
            b"isSidechain" => self.is_sidechain = is_true,
            b"toolUseResult" | b"tool_use_result" => self.tool_result = Some(value),
            b"isCompactSummary" => self.is_compact_summary = is_true,
            b"logicalParentUuid" => self.logical_parent = string,
            b"parent_tool_use_id" => self.parent_call = string,
            other => {
                if other == b"teamName" {
                    self.is_team = string.is_some_and(|s| !s.is_empty());
                }
                self.fields.push((key, value));
            }
        }
        Ok(())
    }

    /// What depends on more than one member, whatever their order.
    fn settle(&mut self) {
        if self.session.is_none() {
            self.session = self.lineage.take();
        }
        if self.message.is_none() && self.kind.is_talk() {
            self.message = self.field("content").map(Message::of_content);
        }
    }

    /// Where the entry stands: offset and length, which name it.
    pub fn place(&self) -> (u64, usize) {
        (self.offset, self.bytes.len())
    }

    /// A member outside the envelope; the last one of that name.
    pub fn field(&self, name: &str) -> Option<Raw<'a>> {
        self.fields.iter().rev().find(|(key, _)| key.is(name)).map(|(_, value)| *value)
    }

    /// A string member outside the envelope.
    pub fn string(&self, name: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.field(name)?.text()
    }

    /// Whether `type` is `name`.
    pub fn is_type(&self, name: &str) -> bool {
        self.type_name.is_some_and(|t| t.is(name))
    }

    /// Whether `subtype` is `name`.
    pub fn is_subtype(&self, name: &str) -> bool {
        self.subtype.is_some_and(|t| t.is(name))
    }

    /// The blocks of the message, if its content is a list.
    pub fn blocks(&self) -> &[message::Block<'a>] {
        match self.message.as_ref().map(|m| &m.content) {
            Some(Content::Blocks(blocks)) => blocks,
            _ => &[],
        }
    }

    /// The name of what is inside: `data.type` of progress, `attachment.type` of attachments.
    pub fn inner_type(&self) -> Option<Str<'a>> {
        let name = match self.kind {
            Kind::Progress => "data",
            Kind::Attachment => "attachment",
            _ => return None,
        };
        self.field(name)?.get("type")?.str()
    }

    /// Whether the `type` inside an attachment or a progress entry is `name`.
    pub fn is_inner_type(&self, name: &str) -> bool {
        self.inner_type().is_some_and(|inner| inner.is(name))
    }
}

/// A line on its way to entries.
struct LineParts<'a, 'd> {
    line: Line<'a>,
    odd: &'d mut Vec<Diagnostic>,
}

impl<'a> LineParts<'a, '_> {
    fn note(&mut self, kind: DiagnosticKind, from: usize, to: usize) {
        let offset = self.line.offset + from as u64;
        self.odd.push(Diagnostic { kind, offset, length: (to - from) as u64 });
    }

    /// The range without line ending, byte order mark, NULs and white space.
    fn trim(&mut self) -> (usize, usize) {
        let bytes = self.line.bytes;
        let (mut from, mut to) = (0, bytes.len());
        if self.line.is_condensed() {
            self.note(DiagnosticKind::Condensed, 0, to);
        }
        if bytes.ends_with(b"\n") {
            to -= 1;
        }
        if bytes[..to].ends_with(b"\r") {
            to -= 1;
            self.note(DiagnosticKind::CarriageReturn, to, to + 1);
        }
        if self.line.offset == 0 && bytes[..to].starts_with(b"\xEF\xBB\xBF") {
            from = 3;
            self.note(DiagnosticKind::ByteOrderMark, 0, 3);
        }
        let is_space = |b: &u8| matches!(b, 0 | b' ' | b'\t' | b'\r');
        let left = bytes[from..to].iter().take_while(|b| is_space(b)).count();
        let right = bytes[from + left..to].iter().rev().take_while(|b| is_space(b)).count();
        for (a, b) in [(from, from + left), (to - right, to)] {
            if bytes[a..b].contains(&0) {
                self.note(DiagnosticKind::Nul, a, b);
            }
        }
        if from + left == to && !bytes[from..to].contains(&0) {
            self.note(DiagnosticKind::Blank, 0, bytes.len());
        }
        (from + left, to - right)
    }

    /// Looks at the bytes of one entry, not of the line: how much of a line is read at once must not
    /// matter.
    fn check_bytes(&mut self, from: usize, to: usize) {
        let bytes = &self.line.bytes[from..to];
        // Least byte and all bits are found faster than an exact question is answered for each.
        let look = |(least, all): (u8, u8), &b: &u8| (least.min(b), all | b);
        let (least, all) = bytes.iter().fold((u8::MAX, 0), look);
        if least < 0x20 && bytes.iter().any(|&b| b < 0x20 && b != b'\t') {
            self.note(DiagnosticKind::ControlByte, from, to);
        }
        if !all.is_ascii() && simdutf8::basic::from_utf8(bytes).is_err() {
            self.note(DiagnosticKind::InvalidUtf8, from, to);
        }
    }

    /// One object after the other; what can't be read up to the next one that can is damaged.
    fn entries(&mut self, mut from: usize, to: usize, give: &mut impl FnMut(Entry<'a>)) {
        let first = from;
        while from < to {
            let place = self.line.offset + from as u64;
            let (entry, whole) = Entry::object(&self.line.bytes[from..to], place);
            if whole.is_err() {
                from = self.damaged(entry, from, to, give);
                continue;
            }
            let end = from + entry.bytes.len();
            self.check_bytes(from, end);
            if from > first {
                self.note(DiagnosticKind::Glued, from, end);
            }
            give(entry);
            from = self.skip(end, to);
        }
    }

    /// Past white space and NULs.
    fn skip(&mut self, from: usize, to: usize) -> usize {
        let rest = &self.line.bytes[from..to];
        let space = rest.iter().take_while(|b| matches!(b, 0 | b' ' | b'\t' | b'\r')).count();
        if rest[..space].contains(&0) {
            self.note(DiagnosticKind::Nul, from, from + space);
        }
        from + space
    }

    fn damaged(
        &mut self,
        mut entry: Entry<'a>,
        from: usize,
        to: usize,
        give: &mut impl FnMut(Entry<'a>),
    ) -> usize {
        let next = resume(&self.line.bytes[from..to]).map_or(to, |at| from + at);
        let bytes = &self.line.bytes[from..next];
        let is_value = Raw::new(bytes).is_ok_and(|value| value.bytes().len() == bytes.len());
        let kind = if is_value { DiagnosticKind::NotAnObject } else { DiagnosticKind::Damaged };
        self.check_bytes(from, next);
        self.note(kind, from, next);
        entry.bytes = &self.line.bytes[from..next];
        give(entry);
        next
    }
}

/// Where a whole record begins again inside damaged bytes.
///
/// Only an object of a known entry type that ends where the bytes end (or where another follows)
/// counts: a content block in the rest of a cut record looks like an object, too.
fn resume(bytes: &[u8]) -> Option<usize> {
    const TRIES: usize = 16;
    let starts = memchr::memmem::find_iter(bytes, b"{\"");
    starts
        .filter(|&at| at > 0)
        .filter(|&at| {
            bytes[at..].starts_with(b"{\"type\":") || bytes[at..].starts_with(b"{\"parentUuid\":")
        })
        .take(TRIES)
        .find(|&at| {
            let (entry, whole) = Entry::object(&bytes[at..], 0);
            let ends = matches!(bytes.get(at + entry.bytes.len()), None | Some(b'{' | 0));
            whole.is_ok() && ends && (entry.kind.is_chain() || entry.kind == Kind::Bookkeeping)
        })
}

#[cfg(test)]
mod tests;

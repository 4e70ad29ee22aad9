//! Where the bytes of one transcript are: by what can be left out, by entry, tool and part of an
//! answer.
//!
//! Every byte of a file is counted in exactly one type of entry: what stands between entries (line
//! endings, white space) goes to the entry before it or, where there is none, to `blank`. `clean`
//! is always what [`bulk`] would leave of the bytes, so it is the size of a clean copy.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::bulk::{self, Bulk, BulkKind};
use crate::entry::message::BlockKind;
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::line::Line;

/// How many there are, what they take, and what is left of that in a clean copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub items: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes in a clean copy.
    pub clean: u64,
}

impl Share {
    /// One thing more.
    pub fn add(&mut self, bytes: u64, clean: u64) {
        *self += Self { items: 1, bytes, clean };
    }

    /// What a clean copy saves.
    pub fn saved(&self) -> u64 {
        self.bytes.saturating_sub(self.clean)
    }
}

impl std::ops::AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.bytes += other.bytes;
        self.clean += other.clean;
    }
}

/// What a user entry carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserKind {
    /// A tool's result with a file in base64.
    ResultBase64,
    /// A tool's result with the text of a file.
    ResultText,
    /// Any other result.
    ResultOther,
    /// A document in base64.
    Document,
    /// Images, with or without text.
    Image,
    /// Text that Claude Code put there.
    Injected,
    /// Text.
    Text,
}

impl UserKind {
    /// The words for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ResultBase64 => "tool result with base64",
            Self::ResultText => "tool result with text file",
            Self::ResultOther => "tool result, other",
            Self::Document => "document with base64",
            Self::Image => "images with text",
            Self::Injected => "text by Claude Code",
            Self::Text => "plain text",
        }
    }

    fn of(entry: &Entry<'_>, bulk: &[Bulk<'_>]) -> Self {
        let has = |kind| entry.blocks().iter().any(|block| block.kind == kind);
        let base64 = bulk.iter().any(|bulk| bulk.kind == BulkKind::Base64);
        let read = |bulk: &Bulk<'_>| bulk.kind == BulkKind::Read;
        let file = || entry.tool_result.and_then(|result| result.first("file")?.first("content"));
        if entry.tool_result.is_some() || has(BlockKind::ToolResult) {
            return match base64 {
                true => Self::ResultBase64,
                false if bulk.iter().any(read) || file().is_some() => Self::ResultText,
                false => Self::ResultOther,
            };
        }
        match base64 {
            true if has(BlockKind::Document) => Self::Document,
            true => Self::Image,
            false if entry.is_meta || entry.is_compact_summary => Self::Injected,
            false => Self::Text,
        }
    }
}

/// A part of what the model answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Text.
    Text,
    /// Thinking.
    Thinking,
    /// The signature of thinking: all that many versions keep of it.
    Signature,
    /// The input of a tool's call.
    Input(Box<str>),
}

/// What the results of a tool take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolShare {
    /// The entries of its results.
    pub share: Share,
    /// Files before an edit, in them.
    pub original_file: u64,
}

/// The bytes of some files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Storage {
    /// All of it; the items are files.
    pub all: Share,
    /// What can be left out: `bytes` are the values, `clean` what takes their place. In the
    /// order of [`BulkKind::ALL`].
    pub bulk: [Share; 4],
    /// Base64 by media type.
    pub base64: BTreeMap<Box<str>, Share>,
    /// Entries by type.
    pub entries: BTreeMap<Box<str>, Share>,
    /// User entries by what they carry.
    pub user: BTreeMap<UserKind, Share>,
    /// Results by tool.
    pub tools: BTreeMap<Box<str>, ToolShare>,
    /// Answers by part.
    pub parts: BTreeMap<Part, Share>,
}

/// The entry of `key`, made without a copy of the key if it is there.
fn slot<'m, V: Default>(map: &'m mut BTreeMap<Box<str>, V>, key: &str) -> &'m mut V {
    if !map.contains_key(key) {
        map.insert(key.into(), V::default());
    }
    map.get_mut(key).expect("it is there")
}

impl Storage {
    /// What can be left out, of one kind.
    pub fn of(&self, kind: BulkKind) -> Share {
        self.bulk[kind as usize]
    }

    /// Bytes without what is of this kind.
    pub fn without(&self, kinds: &[BulkKind]) -> u64 {
        let saved: u64 = kinds.iter().map(|kind| self.of(*kind).saved()).sum();
        self.all.bytes.saturating_sub(saved)
    }

    /// Adds what other files take.
    pub fn add(&mut self, other: &Self) {
        self.all += other.all;
        for (sum, more) in self.bulk.iter_mut().zip(other.bulk) {
            *sum += more;
        }
        for (mine, more) in [(&mut self.base64, &other.base64), (&mut self.entries, &other.entries)]
        {
            more.iter().for_each(|(name, share)| *slot(mine, name) += *share);
        }
        other.user.iter().for_each(|(kind, s)| *self.user.entry(*kind).or_default() += *s);
        other.parts.iter().for_each(|(p, s)| *self.parts.entry(p.clone()).or_default() += *s);
        for (name, tool) in &other.tools {
            let sum = slot(&mut self.tools, name);
            sum.share += tool.share;
            sum.original_file += tool.original_file;
        }
    }
}

/// Measures one file, line by line.
#[derive(Debug, Default)]
pub struct Meter {
    storage: Storage,
    /// The tools of calls, by their number among the names. A result may come twice.
    calls: HashMap<Key, u32>,
    tools: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

impl Meter {
    /// Takes a line. `cut` is the bulk of a line that was cut down, measured in its file
    /// ([`bulk::far::of_condensed`]).
    pub fn line(&mut self, line: Line<'_>, cut: &[Bulk<'_>]) {
        let mut rest = line.length;
        let mut last: Option<Box<str>> = None;
        let mut cut = Some(cut).filter(|_| line.is_condensed());
        bulk::entries(line, |entry| {
            let found = match cut.take() {
                Some(cut) => cut.to_vec(),
                None if line.is_condensed() => Vec::new(),
                None => bulk::bulk(&entry),
            };
            // Of a line that was cut down, the first entry has all: there is hardly ever another.
            let bytes = match line.is_condensed() {
                true => rest,
                false => entry.bytes.len() as u64,
            };
            rest -= bytes.min(rest);
            let name = name(&entry);
            self.entry(&entry, &name, bytes, &found);
            last = Some(name);
        });
        let (name, items) = match last {
            Some(name) => (name, 0),
            None => ("blank".into(), 1),
        };
        *slot(&mut self.storage.entries, &name) += Share { items, bytes: rest, clean: rest };
        self.storage.all += Share { items: 0, bytes: rest, clean: rest };
    }

    fn entry(&mut self, entry: &Entry<'_>, name: &str, bytes: u64, found: &[Bulk<'_>]) {
        let saved: u64 = found.iter().map(Bulk::saves).sum();
        let share = Share { items: 1, bytes, clean: bytes.saturating_sub(saved) };
        self.storage.all += Share { items: 0, ..share };
        *slot(&mut self.storage.entries, name) += share;
        for bulk in found {
            let clean = bulk.bytes.saturating_sub(bulk.saves());
            self.storage.bulk[bulk.kind as usize].add(bulk.bytes, clean);
            if let Some(media) = &bulk.media {
                slot(&mut self.storage.base64, media).add(bulk.bytes, clean);
            }
        }
        match entry.kind {
            Kind::User => self.user(entry, share, found),
            Kind::Assistant => self.assistant(entry),
            _ => {}
        }
    }

    fn user(&mut self, entry: &Entry<'_>, share: Share, found: &[Bulk<'_>]) {
        *self.storage.user.entry(UserKind::of(entry, found)).or_default() += share;
        let result = entry.blocks().iter().find(|block| block.kind == BlockKind::ToolResult);
        if result.is_none() && entry.tool_result.is_none() {
            return;
        }
        let tool = result.and_then(|block| self.calls.get(&Key::of_str(block.id?)));
        let name = tool.map_or("(unknown)", |tool| &self.names[*tool as usize]);
        let tool = slot(&mut self.storage.tools, name);
        tool.share += share;
        let originals = found.iter().filter(|bulk| bulk.kind == BulkKind::OriginalFile);
        tool.original_file += originals.map(|bulk| bulk.bytes).sum::<u64>();
    }

    /// The number of a tool's name.
    fn tool(&mut self, name: &str) -> u32 {
        if let Some(number) = self.tools.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.tools.insert(name.into(), number);
        number
    }

    fn assistant(&mut self, entry: &Entry<'_>) {
        for block in entry.blocks() {
            let mut add = |part: Part, bytes: usize| {
                self.storage.parts.entry(part).or_default().add(bytes as u64, bytes as u64);
            };
            let text = block.text.map_or(0, |text| text.raw().len());
            match block.kind {
                BlockKind::Text => add(Part::Text, text),
                BlockKind::Thinking => {
                    let signature = block.raw.get("signature").and_then(|s| s.str());
                    add(Part::Thinking, text);
                    add(Part::Signature, signature.map_or(0, |s| s.raw().len()));
                }
                BlockKind::ToolUse => {
                    let name = block.name.map_or("(unknown)".into(), |name| name.text());
                    let input = block.input.map_or(0, |input| input.bytes().len());
                    add(Part::Input((*name).into()), input);
                    let tool = self.tool(&name);
                    self.calls.extend(block.id.map(|id| (Key::of_str(id), tool)));
                }
                _ => {}
            }
        }
    }

    /// What the file takes.
    pub fn finish(mut self) -> Storage {
        self.storage.all.items = 1;
        self.storage
    }
}

/// The type of an entry. What no release writes is counted together.
fn name(entry: &Entry<'_>) -> Box<str> {
    match entry.kind {
        Kind::Damaged => "damaged".into(),
        Kind::Unknown => "unknown".into(),
        // A third of a small session, and nothing like the other attachments.
        Kind::Attachment if entry.is_inner_type("prompt_snapshot") => {
            "attachment prompt_snapshot".into()
        }
        _ => entry.type_name.map_or("unknown".into(), |name| name.text().into()),
    }
}

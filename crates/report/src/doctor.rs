//! Drift and damage: what Claude Code wrote that is not known yet, what was broken on the way,
//! what stands in the wrong place.

use std::collections::BTreeMap;
use std::io::Read;

use transcript::catalog;
use transcript::diagnostic::{Diagnostic, DiagnosticKind};
use transcript::entry::message::{BlockKind, Content};
use transcript::entry::{Entry, Kind, tool};
use transcript::json::Raw;
use transcript::line::LineReader;

/// The sort of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// `type`.
    Type,
    /// `subtype` of a system entry.
    Subtype,
    /// `attachment.type`.
    Attachment,
    /// `data.type` of a progress entry.
    Progress,
    /// `type` of a content block.
    Block,
    /// A member of an entry, as `type.member`.
    Field,
    /// A member of a tool's result, as `Tool.member`.
    ResultField,
}

impl NameKind {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Subtype => "subtype",
            Self::Attachment => "attachment",
            Self::Progress => "progress",
            Self::Block => "block",
            Self::Field => "field",
            Self::ResultField => "result-field",
        }
    }
}

/// How often a name was met, and by which versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// In which versions, with counts; an empty version where none is written.
    pub versions: BTreeMap<String, u64>,
}

/// What was met in one or more files.
#[derive(Debug, Default)]
pub struct Findings {
    /// Entries by type.
    pub types: BTreeMap<String, u64>,
    /// Names that are not in the catalog.
    pub unknown: BTreeMap<(NameKind, String), Seen>,
    /// Oddities by kind.
    pub odd: BTreeMap<DiagnosticKind, u64>,
    /// Strings with half a character.
    pub lone_surrogates: u64,
    /// Lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Places of damage, at most [`Findings::PLACES`] per file.
    pub damage: Vec<Diagnostic>,
}

impl Findings {
    /// So many damaged places are kept per file.
    pub const PLACES: usize = 100;

    /// Looks at every name in a transcript.
    pub fn of(input: impl Read) -> std::io::Result<Self> {
        let mut findings = Self::default();
        let mut reader = LineReader::new(input, 0);
        let mut odd = Vec::new();
        while let Some(line) = reader.next_line()? {
            findings.lines += 1;
            findings.bytes += line.length;
            let is_last = !line.is_finished();
            Entry::read(line, &mut odd, |entry| findings.entry(&entry));
            for mut diagnostic in odd.drain(..) {
                if is_last && diagnostic.kind == DiagnosticKind::Damaged {
                    diagnostic.kind = DiagnosticKind::Unfinished;
                }
                findings.diagnostic(diagnostic);
            }
        }
        Ok(findings)
    }

    /// Adds what was met elsewhere; places are kept by whoever knows the file.
    pub fn add(&mut self, other: Self) {
        for (name, count) in other.types {
            *self.types.entry(name).or_default() += count;
        }
        for (name, seen) in other.unknown {
            let known = self.unknown.entry(name).or_default();
            known.count += seen.count;
            for (version, count) in seen.versions {
                *known.versions.entry(version).or_default() += count;
            }
        }
        for (kind, count) in other.odd {
            *self.odd.entry(kind).or_default() += count;
        }
        self.lone_surrogates += other.lone_surrogates;
        self.lines += other.lines;
        self.bytes += other.bytes;
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        *self.odd.entry(diagnostic.kind).or_default() += 1;
        let is_damage = matches!(
            diagnostic.kind,
            DiagnosticKind::Damaged
                | DiagnosticKind::Nul
                | DiagnosticKind::Glued
                | DiagnosticKind::NotAnObject
                | DiagnosticKind::InvalidUtf8
                | DiagnosticKind::ControlByte
                | DiagnosticKind::Unfinished
        );
        if is_damage && self.damage.len() < Self::PLACES {
            self.damage.push(diagnostic);
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        if entry.kind == Kind::Damaged {
            return;
        }
        let name = entry.type_name.map_or_else(|| "(none)".into(), |t| t.text().into_owned());
        *self.types.entry(name.clone()).or_default() += 1;
        let version = entry.version.map_or_else(String::new, |v| v.text().into_owned());
        let mut unknown = |kind, name: String| {
            let seen = self.unknown.entry((kind, name)).or_default();
            seen.count += 1;
            *seen.versions.entry(version.clone()).or_default() += 1;
        };
        if entry.kind == Kind::Unknown {
            return unknown(NameKind::Type, name);
        }
        for (key, _) in entry.fields.iter().filter(|_| !is_stream_event(entry)) {
            let key = key.text();
            if !catalog::knows_field(&name, &key) {
                unknown(NameKind::Field, format!("{name}.{key}"));
            }
        }
        inner_names(entry, &mut unknown);
        block_names(entry, &mut unknown);
        result_names(entry, &mut unknown);
        self.lone_surrogates += u64::from(has_lone_surrogate(entry));
    }
}

/// Events of stream-json carry what they like; only files on disk are held against the catalog.
fn is_stream_event(entry: &Entry<'_>) -> bool {
    entry.kind == Kind::System
        && entry.subtype.is_some_and(|subtype| {
            let name = subtype.text();
            catalog::STREAM_SYSTEM.contains(&&*name) && !catalog::SYSTEM.contains(&&*name)
        })
}

fn inner_names(entry: &Entry<'_>, unknown: &mut impl FnMut(NameKind, String)) {
    let (known, kind, name): (fn(&str) -> bool, _, _) = match entry.kind {
        Kind::System => (catalog::knows_subtype, NameKind::Subtype, entry.subtype),
        Kind::Attachment => {
            (|n| catalog::ATTACHMENT.contains(&n), NameKind::Attachment, entry.inner_type())
        }
        Kind::Progress => {
            (|n| catalog::PROGRESS.contains(&n), NameKind::Progress, entry.inner_type())
        }
        _ => return,
    };
    if let Some(name) = name.map(|n| n.text())
        && !known(&name)
    {
        unknown(kind, name.into_owned());
    }
}

fn block_names(entry: &Entry<'_>, unknown: &mut impl FnMut(NameKind, String)) {
    for block in entry.blocks() {
        if block.kind == BlockKind::Unknown {
            let name = block.type_name.map_or_else(|| "(none)".into(), |n| n.text().into_owned());
            unknown(NameKind::Block, name);
        }
        for item in block.content.into_iter().flat_map(Raw::items) {
            let name = item.string("type").unwrap_or_else(|| "(none)".into());
            if !catalog::BLOCK.contains(&&*name) {
                unknown(NameKind::Block, name.into_owned());
            }
        }
    }
}

/// Members of a result, judged by the tool whose shape they have; a result does not name its tool.
fn result_names(entry: &Entry<'_>, unknown: &mut impl FnMut(NameKind, String)) {
    let Some(result) = entry.tool_result.filter(|r| r.is_object()) else { return };
    let has = |key: &str| result.get(key).is_some();
    let tool = if has("stdout") && has("stderr") && !has("shellId") {
        "Bash"
    } else if has("oldString") {
        "Edit"
    } else {
        return;
    };
    let known = tool::RESULT_FIELDS.iter().find(|(t, _)| *t == tool).map_or(&[][..], |(_, f)| f);
    for (key, _) in result.fields() {
        let key = key.text();
        if !known.contains(&&*key) {
            unknown(NameKind::ResultField, format!("{tool}.{key}"));
        }
    }
}

fn has_lone_surrogate(entry: &Entry<'_>) -> bool {
    let may = |bytes: &[u8]| bytes.windows(3).any(|w| matches!(w, [b'\\', b'u', b'd' | b'D']));
    if !may(entry.bytes) {
        return false;
    }
    let texts = entry.blocks().iter().flat_map(|b| {
        let inner = b.content.and_then(Raw::str);
        b.text.into_iter().chain(inner)
    });
    let whole = match entry.message.as_ref().map(|m| &m.content) {
        Some(Content::Text(text)) => Some(*text),
        _ => None,
    };
    texts.chain(whole).any(|t| t.has_lone_surrogate())
}

//! The files beside the transcripts, one module for each kind.
//!
//! Every field of every one of them is optional: they are Claude Code's own notes and change
//! without a word. A parse gives a value and what was odd about the bytes, never an error; a
//! field that is unknown, or not of the type it should be, is kept as it stands in `extra`.
//! Only `history`, `tool_output` and `backup` open files, and only below the folder given.

pub mod agent_meta;
pub mod backup;
pub mod debug;
pub mod history;
pub mod index;
pub mod journal;
pub mod plan;
pub mod registry;
pub mod session_env;
pub mod settings;
pub mod stats;
pub mod task;
pub mod todo;
pub mod tool_output;
pub mod workflow;

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::id::{AgentId, SessionId, ToolUseId};
use crate::json::{Cursor, Raw};
use crate::path::RecordedPath;
use crate::time::Time;

/// A value, and what was odd about the bytes it was read from.
pub type Read<T> = (T, Vec<Diagnostic>);

/// Fields that were not read, in file order.
pub type Extra = Vec<(Box<str>, Json)>;

/// A JSON value kept as it stands.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Box<[u8]>);

impl Json {
    /// The bytes of the value.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The value for reading; `None` where the text is broken.
    pub fn raw(&self) -> Option<Raw<'_>> {
        Raw::new(&self.0).ok()
    }
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// A word with a known set of values, of which others may come.
macro_rules! word {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// A word not known here.
            Other(Box<str>),
        }

        impl $name {
            /// From the word in the file.
            pub fn new(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text.into()),
                }
            }

            /// The word in the file.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }

            pub(crate) fn read(raw: crate::json::Raw<'_>) -> Option<Self> {
                raw.text().map(|text| Self::new(&text))
            }
        }
    };
}
pub(crate) use word;

/// Reads JSON and remembers where it broke.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    found: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, found: Vec::new() }
    }

    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.found
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    fn note(&mut self, kind: DiagnosticKind, offset: usize, length: usize) {
        self.found.push(Diagnostic { kind, offset: offset as u64, length: length as u64 });
    }

    /// Where a part of the bytes begins.
    pub(crate) fn offset(&self, part: &[u8]) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }

    /// The one value of a file.
    pub(crate) fn document(&mut self) -> Option<Raw<'a>> {
        let start = self.mark_end();
        if self.bytes[start..].trim_ascii().is_empty() {
            self.note(DiagnosticKind::Blank, start, self.bytes.len() - start);
            return None;
        }
        let mut cursor = Cursor::new(&self.bytes[start..]);
        let value = cursor.value();
        let Ok(value) = value else {
            self.note(DiagnosticKind::Damaged, start, self.bytes.len() - start);
            return None;
        };
        let end = start + cursor.pos();
        if !self.bytes[end..].trim_ascii().is_empty() {
            let rest = &self.bytes[end..];
            self.note(kind_of_rest(rest), end, rest.len());
        }
        Some(value)
    }

    /// The one object of a file.
    pub(crate) fn document_object(&mut self) -> Object<'a> {
        let Some(raw) = self.document() else {
            return Object::default();
        };
        if !raw.is_object() {
            self.note(DiagnosticKind::NotAnObject, self.offset(raw.bytes()), raw.bytes().len());
        }
        self.object(raw)
    }

    /// Past a byte order mark.
    fn mark_end(&mut self) -> usize {
        if self.bytes.starts_with(b"\xEF\xBB\xBF") {
            self.note(DiagnosticKind::ByteOrderMark, 0, 3);
            return 3;
        }
        0
    }

    /// The objects of a file with one on each line; several on a line and damage are noted.
    pub(crate) fn lines(&mut self) -> Vec<Raw<'a>> {
        let mut all = Vec::new();
        let mut start = self.mark_end();
        while start < self.bytes.len() {
            let length = memchr::memchr(b'\n', &self.bytes[start..]);
            let end = length.map_or(self.bytes.len(), |length| start + length);
            self.line(start, end, length.is_some(), &mut all);
            start = end + 1;
        }
        all
    }

    fn line(&mut self, start: usize, end: usize, ended: bool, all: &mut Vec<Raw<'a>>) {
        let blank = |b: &u8| *b == 0 || b.is_ascii_whitespace();
        let mut from = start;
        let mut first = true;
        loop {
            from += self.bytes[from..end].iter().take_while(|b| blank(b)).count();
            if from >= end {
                if first {
                    let nul = self.bytes[start..end].contains(&0);
                    let kind = if nul { DiagnosticKind::Nul } else { DiagnosticKind::Blank };
                    self.note(kind, start, end - start);
                }
                return;
            }
            let mut cursor = Cursor::new(&self.bytes[from..end]);
            match cursor.value() {
                Ok(raw) if raw.is_object() => {
                    if !first {
                        self.note(DiagnosticKind::Glued, from, cursor.pos());
                    }
                    all.push(raw);
                }
                Ok(_) => self.note(DiagnosticKind::NotAnObject, from, cursor.pos()),
                Err(_) => {
                    let kind =
                        if ended { DiagnosticKind::Damaged } else { DiagnosticKind::Unfinished };
                    return self.note(kind, from, end - from);
                }
            }
            from += cursor.pos();
            first = false;
        }
    }

    /// The members of an object; none of anything else.
    pub(crate) fn members(&mut self, raw: Raw<'a>) -> Vec<(Cow<'a, str>, Raw<'a>)> {
        let mut members = Vec::new();
        let mut cursor = Cursor::new(raw.bytes());
        if cursor.open(b'{').is_err() {
            return members;
        }
        loop {
            let member = match cursor.key() {
                Ok(None) => return members,
                Ok(Some(key)) => cursor.value().map(|value| (key.text(), value)),
                Err(broken) => Err(broken),
            };
            match member {
                Ok(member) => members.push(member),
                Err(_) => {
                    self.broken(raw, cursor.pos());
                    return members;
                }
            }
        }
    }

    /// The items of an array; none of anything else.
    pub(crate) fn items(&mut self, raw: Raw<'a>) -> Vec<Raw<'a>> {
        let mut items = Vec::new();
        let mut cursor = Cursor::new(raw.bytes());
        if cursor.open(b'[').is_err() {
            return items;
        }
        loop {
            let item = match cursor.item() {
                Ok(false) => return items,
                Ok(true) => cursor.value(),
                Err(broken) => Err(broken),
            };
            match item {
                Ok(item) => items.push(item),
                Err(_) => {
                    self.broken(raw, cursor.pos());
                    return items;
                }
            }
        }
    }

    fn broken(&mut self, raw: Raw<'_>, at: usize) {
        let offset = self.offset(raw.bytes()) + at;
        self.note(DiagnosticKind::Damaged, offset, raw.bytes().len().saturating_sub(at));
    }

    /// What `read` makes of a value; where it makes nothing, that is noted.
    pub(crate) fn value<T>(
        &mut self,
        raw: Raw<'a>,
        read: impl FnOnce(Raw<'a>) -> Option<T>,
    ) -> Option<T> {
        let got = read(raw);
        if got.is_none() {
            self.broken(raw, 0);
        }
        got
    }

    /// An object whose fields are then taken one by one.
    pub(crate) fn object(&mut self, raw: Raw<'a>) -> Object<'a> {
        Object { fields: self.members(raw) }
    }

    /// The members of an object that are objects themselves; what is none is noted.
    pub(crate) fn object_members(&mut self, raw: Raw<'a>) -> Vec<(Cow<'a, str>, Object<'a>)> {
        let mut objects = Vec::new();
        for (key, value) in self.members(raw) {
            if self.value(value, |value| value.is_object().then_some(())).is_some() {
                objects.push((key, self.object(value)));
            }
        }
        objects
    }

    /// The objects of a file that should be an array.
    pub(crate) fn objects_of(&mut self, raw: Raw<'a>) -> Vec<Object<'a>> {
        if !raw.is_array() {
            // Nothing in it can be an item of the list.
            self.broken(raw, 0);
        }
        self.objects(raw)
    }

    /// The objects of an array; what is none is noted.
    pub(crate) fn objects(&mut self, raw: Raw<'a>) -> Vec<Object<'a>> {
        let mut objects = Vec::new();
        for item in self.items(raw) {
            if item.is_object() {
                objects.push(self.object(item));
            } else {
                let (offset, length) = (self.offset(item.bytes()), item.bytes().len());
                self.note(DiagnosticKind::NotAnObject, offset, length);
            }
        }
        objects
    }
}

fn kind_of_rest(rest: &[u8]) -> DiagnosticKind {
    let nul = rest.iter().all(|&b| b == 0 || b.is_ascii_whitespace());
    if nul { DiagnosticKind::Nul } else { DiagnosticKind::Damaged }
}

/// The fields of an object that nobody has taken yet.
#[derive(Default)]
pub(crate) struct Object<'a> {
    fields: Vec<(Cow<'a, str>, Raw<'a>)>,
}

impl<'a> Object<'a> {
    /// Takes the last field `key` if `read` understands it. A `null` is taken and is `None`.
    pub(crate) fn take<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Raw<'a>) -> Option<T>,
    ) -> Option<T> {
        let at = self.fields.iter().rposition(|(name, _)| name == key)?;
        let value = self.fields[at].1;
        let got = read(value);
        if got.is_some() || value.is_null() {
            self.fields.remove(at);
        }
        got
    }

    pub(crate) fn text(&mut self, key: &str) -> Option<Box<str>> {
        self.take(key, text)
    }

    pub(crate) fn path(&mut self, key: &str) -> Option<RecordedPath> {
        self.text(key).map(RecordedPath::new)
    }

    pub(crate) fn session(&mut self, key: &str) -> Option<SessionId> {
        self.text(key).map(SessionId::new)
    }

    pub(crate) fn agent(&mut self, key: &str) -> Option<AgentId> {
        self.text(key).map(AgentId::new)
    }

    pub(crate) fn tool_use(&mut self, key: &str) -> Option<ToolUseId> {
        self.text(key).map(ToolUseId::new)
    }

    pub(crate) fn number(&mut self, key: &str) -> Option<u64> {
        self.take(key, Raw::u64)
    }

    pub(crate) fn bool(&mut self, key: &str) -> Option<bool> {
        self.take(key, Raw::bool)
    }

    pub(crate) fn time(&mut self, key: &str) -> Option<Time> {
        self.take(key, time)
    }

    /// A word, or a number as its digits: ids are written as both.
    pub(crate) fn word(&mut self, key: &str) -> Option<Box<str>> {
        self.take(key, word_text)
    }

    pub(crate) fn json(&mut self, key: &str) -> Option<Json> {
        self.take(key, |raw| (!raw.is_null()).then(|| json(raw)))
    }

    pub(crate) fn array(&mut self, key: &str) -> Option<Raw<'a>> {
        self.take(key, |raw| raw.is_array().then_some(raw))
    }

    pub(crate) fn map(&mut self, key: &str) -> Option<Raw<'a>> {
        self.take(key, |raw| raw.is_object().then_some(raw))
    }

    /// What nobody took.
    pub(crate) fn rest(self) -> Extra {
        self.fields.into_iter().map(|(key, value)| (key.into(), json(value))).collect()
    }
}

pub(crate) fn json(raw: Raw<'_>) -> Json {
    Json(raw.bytes().into())
}

pub(crate) fn text(raw: Raw<'_>) -> Option<Box<str>> {
    raw.text().map(Into::into)
}

pub(crate) fn word_text(raw: Raw<'_>) -> Option<Box<str>> {
    text(raw).or_else(|| raw.i64().map(|number| number.to_string().into()))
}

/// A time in either form: milliseconds, or ISO 8601.
pub(crate) fn time(raw: Raw<'_>) -> Option<Time> {
    match raw.str() {
        Some(text) => Time::parse(text.raw()),
        None => raw.i64().map(Time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_go_on_after_damage() {
        let bytes = b"{\"a\":1}\n.344Z\"}\n\0\0\0\n\n{\"b\":1}{\"c\":1}\n[1]\n{\"cut";
        let mut reader = Reader::new(bytes);
        let lines: Vec<_> = reader.lines().iter().map(|raw| raw.bytes().to_vec()).collect();
        assert_eq!(lines, [&b"{\"a\":1}"[..], b"{\"b\":1}", b"{\"c\":1}"]);
        let found: Vec<_> =
            reader.finish().iter().map(|d| (d.kind.name(), d.offset, d.length)).collect();
        assert_eq!(
            found,
            [
                ("damaged", 8, 7),
                ("nul", 16, 3),
                ("blank", 20, 0),
                ("glued", 28, 7),
                ("not-an-object", 36, 3),
                ("unfinished", 40, 5),
            ]
        );
    }

    #[test]
    fn a_field_of_another_type_is_kept() {
        let mut reader = Reader::new(br#"{"a":"x","n":"many","gone":null,"new":{"b":[1]}}"#);
        let mut object = reader.document_object();
        assert_eq!(object.text("a").as_deref(), Some("x"));
        assert_eq!(object.number("n"), None);
        assert_eq!(object.text("gone"), None);
        assert_eq!(format!("{:?}", object.rest()), r#"[("n", "many"), ("new", {"b":[1]})]"#);
        assert!(reader.is_clean());
    }

    #[test]
    fn a_document_says_what_is_behind_it() {
        let odd = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            let got = reader.document().is_some();
            let found: Vec<_> = reader.finish().iter().map(|d| d.kind.name()).collect();
            (got, found.join(" "))
        };
        assert_eq!(odd(b" {} \n"), (true, String::new()));
        assert_eq!(odd(b"{}\0\0"), (true, "nul".into()));
        assert_eq!(odd(b"{}x"), (true, "damaged".into()));
        assert_eq!(odd(b""), (false, "blank".into()));
        assert_eq!(odd(b"\xEF\xBB\xBF[]"), (true, "byte-order-mark".into()));
    }

    /// Bytes that are often almost JSON, so that parsing gets past the first one.
    fn almost_json() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\n",
            "\0",
            "null",
            "1",
            "-1e9",
            "true",
            "\\",
            "\"entries\":",
            "\"sessionId\":",
            "{\"sessionId\":\"a\"}",
            "\"id\":",
            "\"a\"",
            "[]",
            "\"status\":",
            "\"pastedContents\":",
            "\"1\":",
            "\"snapshot\":",
            "\"hourCounts\":",
            "\"trackedFileBackups\":",
            "\"backup\":",
            "\"timestamp\":",
            "2025-12-07T04:17:24.497Z",
            " [DEBUG] ",
            "[x] ",
            "\u{e9}",
            "export A=",
            "'",
        ]);
        prop_oneof![
            prop::collection::vec(pieces, 0..40).prop_map(|all| all.concat().into_bytes()),
            prop::collection::vec(any::<u8>(), 0..200),
        ]
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes in almost_json()) {
            let _ = agent_meta::parse(&bytes);
            let _ = debug::parse(&bytes);
            let _ = history::parse(&bytes);
            let _ = index::parse(&bytes);
            let _ = journal::parse(&bytes);
            let _ = registry::parse(&bytes);
            let _ = session_env::parse(&bytes);
            let _ = stats::parse(&bytes);
            let _ = task::parse(&bytes);
            let _ = task::high_watermark(&bytes);
            let _ = todo::parse(&bytes);
            let _ = workflow::parse(&bytes);
            if let Ok(raw) = Raw::new(&bytes) {
                let _ = (backup::snapshot(raw), backup::delta(raw), todo::new_todos(raw));
            }
            let text = String::from_utf8_lossy(&bytes);
            let _ = tool_output::persisted_name(&text);
            let _ = plan::PlanName::parse(&text);
            let _ = backup::BackupName::parse(&text);
        }
    }
}

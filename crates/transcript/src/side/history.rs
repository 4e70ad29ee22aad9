//! `history.jsonl`: every prompt typed at any time, one on each line; and the pastes kept apart.
//!
//! Never swept away, so it remembers sessions whose transcripts are long gone. Old lines have no
//! session. A long paste is only a hash here, its text in `paste-cache/<hash>.txt`, which *is*
//! swept away.

use super::{Extra, Object, Read, Reader};
use crate::id::SessionId;
use crate::json::Raw;
use crate::path::{self, RecordedPath};
use crate::time::Time;

/// One typed prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Byte offset of its line.
    pub offset: u64,
    /// The prompt as it was shown, pastes as `[Pasted text #1 +20 lines]`.
    pub display: Option<Box<str>>,
    /// What was pasted into it.
    pub pastes: Vec<Paste>,
    /// When it was sent.
    pub time: Option<Time>,
    /// The project's path.
    pub project: Option<RecordedPath>,
    /// The session; old lines have none.
    pub session: Option<SessionId>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Something pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paste {
    /// Its number in the prompt.
    pub id: Option<Box<str>>,
    /// `text` or `image`.
    pub kind: Option<Box<str>>,
    /// Its text.
    pub content: PasteContent,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Where the text of a paste is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasteContent {
    /// On the line itself.
    Inline(Box<str>),
    /// In `paste-cache/<hash>.txt`.
    Hash(Box<str>),
    /// The line does not say.
    Missing,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<Vec<Prompt>> {
    let mut reader = Reader::new(bytes);
    let lines = reader.lines();
    let prompts = lines.into_iter().map(|line| prompt(&mut reader, line)).collect();
    (prompts, reader.finish())
}

fn prompt<'a>(reader: &mut Reader<'a>, line: Raw<'a>) -> Prompt {
    let mut object = reader.object(line);
    let pastes = match object.map("pastedContents") {
        Some(map) => reader.object_members(map),
        None => Vec::new(),
    };
    Prompt {
        offset: reader.offset(line.bytes()) as u64,
        display: object.text("display"),
        pastes: pastes.into_iter().map(|(_, object)| paste(object)).collect(),
        time: object.time("timestamp"),
        project: object.path("project"),
        session: object.session("sessionId"),
        extra: object.rest(),
    }
}

fn paste(mut object: Object<'_>) -> Paste {
    let content = match object.text("content") {
        Some(text) => PasteContent::Inline(text),
        None => object.text("contentHash").map_or(PasteContent::Missing, PasteContent::Hash),
    };
    Paste { id: object.word("id"), kind: object.text("type"), content, extra: object.rest() }
}

/// A paste from the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPaste {
    /// The text.
    pub content: Vec<u8>,
    /// Whether the text is the one the hash was made of.
    pub is_genuine: bool,
}

impl CachedPaste {
    /// What the file of the paste `hash` holds.
    pub fn new(content: Vec<u8>, hash: &str) -> Self {
        Self { is_genuine: path::paste_hash(&content) == hash, content }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = concat!(
        r#"{"display":"old one","pastedContents":{},"timestamp":1759000000000,"project":"/home/x/app"}"#,
        "\n",
        r#"{"display":"see [Pasted text #1 +2 lines] [Pasted text #2 +90 lines]","pastedContents":{"1":{"id":1,"type":"text","content":"a\nb"},"2":{"id":2,"type":"text","contentHash":"e3b0c44298fc1c14"}},"timestamp":1769000000000,"project":"C:\\app","sessionId":"s1"}"#,
        "\n",
    );

    #[test]
    fn prompts_with_and_without_session() {
        let (prompts, odd) = parse(LINES.as_bytes());
        assert!(odd.is_empty());
        assert_eq!((prompts.len(), &prompts[0].session), (2, &None));
        assert_eq!(prompts[0].time, Some(Time(1_759_000_000_000)));
        let second = &prompts[1];
        assert_eq!(second.offset, 92);
        assert_eq!(second.session, Some(SessionId::new("s1")));
        assert_eq!(second.pastes[0].content, PasteContent::Inline("a\nb".into()));
        assert_eq!(second.pastes[1].content, PasteContent::Hash("e3b0c44298fc1c14".into()));
        assert_eq!(second.pastes[1].id.as_deref(), Some("2"));
        assert!(second.extra.is_empty() && second.pastes[0].extra.is_empty());
    }

    #[test]
    fn a_paste_is_checked() {
        let good = path::paste_hash(b"long text");
        assert!(CachedPaste::new(b"long text".into(), &good).is_genuine);
        assert!(!CachedPaste::new(b"other text".into(), &good).is_genuine);
    }
}

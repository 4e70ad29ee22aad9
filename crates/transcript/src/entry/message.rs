//! The message of a user or assistant entry: its content blocks and what stands beside them.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use super::Field;
use crate::json::{Broken, Cursor, Raw, Str};

/// `message`: what was said, by whom.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// `id`: the response that the entry is a part of. All entries of one response share it.
    pub id: Option<Str<'a>>,
    /// `model`; `<synthetic>` for what Claude Code wrote itself.
    pub model: Option<Str<'a>>,
    /// `stop_reason`; `null` on most entries before 2.1.64.
    pub stop_reason: Option<Str<'a>>,
    /// `usage`: tokens.
    pub usage: Option<Raw<'a>>,
    /// What was said.
    pub content: Content<'a>,
    /// All other members.
    pub fields: SmallVec<[Field<'a>; 4]>,
}

/// The content of a message, in each of its forms.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// No `content`.
    None,
    /// Plain text.
    Text(Str<'a>),
    /// A list of blocks.
    Blocks(SmallVec<[Block<'a>; 1]>),
    /// Something else.
    Other(Raw<'a>),
}

/// What a block is, from its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// `text`.
    Text,
    /// `thinking`; its text is not stored in many versions.
    Thinking,
    /// `redacted_thinking`.
    RedactedThinking,
    /// `tool_use`: a call.
    ToolUse,
    /// `tool_result`: what came of a call.
    ToolResult,
    /// A tool that the API ran itself, or what it gave back; not one of Claude Code's calls.
    ServerTool,
    /// `image`.
    Image,
    /// `document`: a PDF.
    Document,
    /// Another known type.
    Other,
    /// A type that is not in the catalog, or none.
    Unknown,
}

/// One block of content.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The block's bytes.
    pub raw: Raw<'a>,
    /// What it is.
    pub kind: BlockKind,
    /// `type`, as written.
    pub type_name: Option<Str<'a>>,
    /// `text`, or `thinking`.
    pub text: Option<Str<'a>>,
    /// `id` of a call, `tool_use_id` of a result.
    pub id: Option<Str<'a>>,
    /// `name` of the tool.
    pub name: Option<Str<'a>>,
    /// `input` of a call.
    pub input: Option<Raw<'a>>,
    /// `content` of a result.
    pub content: Option<Raw<'a>>,
    /// `is_error` of a result; absent means success.
    pub is_error: bool,
}

impl<'a> Message<'a> {
    pub(super) fn new(content: Content<'a>) -> Self {
        let fields = SmallVec::new();
        Self { id: None, model: None, stop_reason: None, usage: None, content, fields }
    }

    /// Takes the members of the object that is next.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        cursor.open(b'{')?;
        while let Some(key) = cursor.key()? {
            if key.raw() == b"content" && cursor.peek()? == b'[' {
                self.content = Content::Blocks(blocks(cursor)?);
                continue;
            }
            let value = cursor.value()?;
            match key.raw() {
                b"id" => self.id = value.str(),
                b"model" => self.model = value.str(),
                b"stop_reason" => self.stop_reason = value.str(),
                b"usage" if value.is_object() => self.usage = Some(value),
                b"content" => self.content = Content::of(value),
                _ => self.fields.push((key, value)),
            }
        }
        Ok(())
    }

    /// The message that an object is.
    pub fn of(raw: Raw<'a>) -> Option<Self> {
        let mut message = Self::new(Content::None);
        let read = raw.is_object().then(|| message.read(&mut Cursor::new(raw.bytes())));
        read.is_some_and(|read| read.is_ok()).then_some(message)
    }

    /// A message that is nothing but its content, as in the older top-level shape.
    pub(super) fn of_content(content: Raw<'a>) -> Self {
        Self::new(match content.is_array().then(|| blocks(&mut Cursor::new(content.bytes()))) {
            Some(Ok(blocks)) => Content::Blocks(blocks),
            _ => Content::of(content),
        })
    }

    /// All text of the message, blocks joined by newlines; `None` when it has none.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        match &self.content {
            Content::Text(text) => Some(text.text()),
            Content::Blocks(blocks) => {
                let mut texts = blocks.iter().filter(|b| b.kind == BlockKind::Text);
                let first = texts.next()?.text?.text();
                Some(
                    texts
                        .filter_map(|b| b.text)
                        .fold(first, |all, next| Cow::Owned(format!("{all}\n{}", next.text()))),
                )
            }
            Content::None | Content::Other(_) => None,
        }
    }

    /// The first text of the message, undecoded.
    pub fn first_text(&self) -> Option<Str<'a>> {
        match &self.content {
            Content::Text(text) => Some(*text),
            Content::Blocks(blocks) => {
                blocks.iter().find(|b| b.kind == BlockKind::Text).and_then(|b| b.text)
            }
            Content::None | Content::Other(_) => None,
        }
    }
}

impl<'a> Content<'a> {
    fn of(value: Raw<'a>) -> Self {
        match value.str() {
            Some(text) => Self::Text(text),
            None if value.is_null() => Self::None,
            None if value.is_object() => Self::Blocks(smallvec![Block::of(value)]),
            None => Self::Other(value),
        }
    }
}

fn blocks<'a>(cursor: &mut Cursor<'a>) -> Result<SmallVec<[Block<'a>; 1]>, Broken> {
    let mut blocks = SmallVec::new();
    cursor.open(b'[')?;
    while cursor.item()? {
        blocks.push(Block::read(cursor)?);
    }
    Ok(blocks)
}

impl<'a> Block<'a> {
    /// The block that a value is; anything but an object is an unknown block.
    pub fn of(value: Raw<'a>) -> Self {
        let mut cursor = Cursor::new(value.bytes());
        Self::read(&mut cursor).unwrap_or_else(|_| Self::unknown(value))
    }

    /// The blocks of a tool result's content: its list, or its text as one block.
    pub fn list(content: Raw<'a>) -> SmallVec<[Block<'a>; 1]> {
        match content.str() {
            Some(text) => smallvec![Block {
                kind: BlockKind::Text,
                text: Some(text),
                ..Self::unknown(content)
            }],
            None => content.items().map(Self::of).collect(),
        }
    }

    fn unknown(raw: Raw<'a>) -> Self {
        Self {
            raw,
            kind: BlockKind::Unknown,
            type_name: None,
            text: None,
            id: None,
            name: None,
            input: None,
            content: None,
            is_error: false,
        }
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        if cursor.peek()? != b'{' {
            return cursor.value().map(Self::unknown);
        }
        let mut block = Self::unknown(Raw::NULL);
        let start = cursor.pos();
        cursor.open(b'{')?;
        while let Some(key) = cursor.key()? {
            let value = cursor.value()?;
            match key.raw() {
                b"type" => block.type_name = value.str(),
                b"text" | b"thinking" => block.text = value.str(),
                b"id" | b"tool_use_id" => block.id = value.str(),
                b"name" => block.name = value.str(),
                b"input" => block.input = Some(value),
                b"content" => block.content = Some(value),
                b"is_error" => block.is_error = value.bytes() == b"true",
                _ => {}
            }
        }
        block.raw = cursor.since(start);
        block.kind = BlockKind::of(block.type_name);
        Ok(block)
    }

    /// What a tool result shows: its text, texts of a list joined, images left out.
    pub fn result_text(&self) -> Option<Cow<'a, str>> {
        let content = self.content?;
        if let Some(text) = content.str() {
            return Some(text.text());
        }
        let texts: Vec<_> = content.items().filter_map(|item| item.get("text")?.text()).collect();
        match texts.len() {
            0 => None,
            1 => texts.into_iter().next(),
            _ => Some(Cow::Owned(texts.join("\n"))),
        }
    }
}

impl BlockKind {
    fn of(name: Option<Str<'_>>) -> Self {
        match name.map(Str::raw) {
            Some(b"text") => Self::Text,
            Some(b"thinking") => Self::Thinking,
            Some(b"redacted_thinking") => Self::RedactedThinking,
            Some(b"tool_use") => Self::ToolUse,
            Some(b"tool_result") => Self::ToolResult,
            Some(
                b"server_tool_use"
                | b"mcp_tool_use"
                | b"web_search_tool_result"
                | b"web_fetch_tool_result"
                | b"code_execution_tool_result"
                | b"mcp_tool_result"
                | b"advisor_tool_result",
            ) => Self::ServerTool,
            Some(b"image") => Self::Image,
            Some(b"document") => Self::Document,
            Some(other) if crate::catalog::BLOCK.iter().any(|b| b.as_bytes() == other) => {
                Self::Other
            }
            _ => Self::Unknown,
        }
    }
}

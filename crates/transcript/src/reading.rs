//! One entry, read as far as it is asked: the typed door to a line's bytes.
//!
//! Nothing is decoded before a question is asked, so that passing over an entry costs no more than
//! finding where its members begin.

use std::borrow::Cow;

use crate::call::CallInput;
use crate::diagnostic::Diagnostic;
use crate::dialect::{ClaudeCode, Dialect};
use crate::entry::message::{Block, BlockKind};
use crate::entry::{Entry, Kind};
use crate::id::{Key, SessionId};
use crate::line::Line;
use crate::prompt;
use crate::session::{Builder, Node};
use crate::time::Time;
use crate::usage::Tokens;

/// An entry to be asked.
#[derive(Debug, Clone)]
pub struct EntryReading<'a>(Entry<'a>);

/// The result of a call.
#[derive(Debug, Clone, Copy)]
pub struct ResultReading<'e, 'a> {
    entry: &'e Entry<'a>,
    block: &'e Block<'a>,
}

/// What a failed call gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorText {
    /// Text.
    Text(String),
    /// Blocks, as JSON.
    Blocks(String),
    /// Nothing.
    None,
}

impl ErrorText {
    fn of(block: &Block<'_>) -> Self {
        match block.content {
            None => Self::None,
            Some(content) => match content.text() {
                Some(text) => Self::Text(text.into_owned()),
                None if content.is_null() => Self::None,
                None => Self::Blocks(String::from_utf8_lossy(content.bytes()).into_owned()),
            },
        }
    }

    /// The text of it, blocks joined.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::None => String::new(),
            Self::Blocks(json) => crate::call::joined_texts(json).unwrap_or_else(|| json.clone()),
        }
    }
}

impl<'a> EntryReading<'a> {
    /// The entry of exactly these bytes.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(Entry::of(bytes, 0))
    }

    /// The entries of a line, in order; what was odd is added to `odd`.
    pub fn each_in_line(
        line: Line<'a>,
        odd: &mut Vec<Diagnostic>,
        mut each: impl FnMut(EntryReading<'a>),
    ) {
        Entry::read(line, odd, |entry| each(EntryReading(entry)));
    }

    pub(crate) const fn entry(&self) -> &Entry<'a> {
        &self.0
    }

    /// Its type, as written.
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        self.0.type_name.map(|name| name.text())
    }

    /// When it was written, as it says itself.
    pub const fn written_at(&self) -> Option<Time> {
        self.0.time
    }

    /// Its id, as written.
    pub fn entry_id(&self) -> Option<Cow<'a, str>> {
        self.0.uuid.map(|uuid| uuid.text())
    }

    /// The session it names.
    pub fn session_id(&self) -> Option<SessionId> {
        self.0.session.map(|id| SessionId::new(&*id.text()))
    }

    /// The branch of git that was checked out.
    pub fn git_branch(&self) -> Option<Cow<'a, str>> {
        self.0.git_branch.filter(|branch| !branch.is_empty()).map(|branch| branch.text())
    }

    /// The call that started the sidechain it belongs to, where it says so.
    pub fn parent_call(&self) -> Option<Key> {
        self.0.parent_call.map(Key::of_str)
    }

    /// Whether the model wrote it.
    pub fn is_by_model(&self) -> bool {
        self.0.kind == Kind::Assistant
    }

    /// The request that it answers, as the client recorded it.
    pub fn request_ref(&self) -> Option<String> {
        self.0.string("requestRef").map(Cow::into_owned)
    }

    /// What stands in it, without what was put before a person's words.
    pub fn spoken_text(&self) -> Option<String> {
        ClaudeCode::spoken_text(self)
    }

    /// What a person typed.
    pub fn typed_text(&self) -> Option<Cow<'a, str>> {
        prompt::typed_text(&self.0)
    }

    /// The tokens of its response, as it says itself.
    pub fn response_tokens(&self) -> Option<Tokens> {
        Some(Tokens::read(self.0.message.as_ref()?.usage?))
    }

    /// How long a tool says that it took, in milliseconds.
    pub fn tool_duration(&self) -> Option<i64> {
        let result = self.0.tool_result.filter(|raw| raw.is_object())?;
        ["durationMs", "totalDurationMs"].iter().find_map(|key| result.get(key)?.i64())
    }

    fn block_with(&self, call: Key) -> Option<(u16, &Block<'a>)> {
        let is_it = |block: &Block<'_>| block.id.is_some_and(|id| Key::of_str(id) == call);
        (0..).zip(self.0.blocks()).find(|(_, block)| is_it(block))
    }

    /// The place among the blocks of a call, or of its result.
    pub fn block_number(&self, call: Key) -> Option<u16> {
        self.block_with(call).map(|(at, _)| at)
    }

    /// The input of a call that it makes.
    pub fn call_input(&self, call: Key) -> Option<CallInput<'a>> {
        self.block_with(call)?.1.input.map(CallInput::from_raw)
    }

    /// The result of a call.
    pub fn call_result(&self, call: Key) -> Option<ResultReading<'_, 'a>> {
        self.block_with(call).map(|(_, block)| ResultReading { entry: &self.0, block })
    }

    /// The id and the text of a failed result; of any call's if none is named.
    pub fn failed_result(&self, call: Option<Key>) -> Option<(Option<String>, ErrorText)> {
        let is_failed = |b: &&Block<'_>| {
            b.kind == BlockKind::ToolResult
                && b.is_error
                && call.is_none_or(|call| b.id.map(Key::of_str) == Some(call))
        };
        let block = self.0.blocks().iter().find(is_failed)?;
        Some((block.id.map(|id| id.text().into_owned()), ErrorText::of(block)))
    }

    /// All that a call's or a result's entry says, block by block; then what a command wrote to its
    /// standard error, if no result shows it.
    pub fn each_text(&self, each: &mut dyn FnMut(&str)) {
        for block in self.0.blocks() {
            match block.kind {
                BlockKind::ToolUse => {
                    block.name.iter().for_each(|name| each(&name.text()));
                    block.input.iter().for_each(|i| CallInput::from_raw(*i).each_value(each));
                }
                BlockKind::ToolResult => block.result_text().iter().for_each(|text| each(text)),
                _ => block.text.iter().for_each(|text| each(&text.text())),
            }
        }
        let shown: Vec<_> = self.0.blocks().iter().filter_map(Block::result_text).collect();
        let errors = self.0.tool_result.and_then(|result| result.get("stderr")?.text());
        if let Some(text) = errors.filter(|text| !shown.iter().any(|s| s.contains(&**text))) {
            each(&text);
        }
    }

    /// What happens by it, after it was pushed to `builder` as `node`.
    pub fn running_events(&self, builder: &Builder, node: &Node) -> Vec<crate::event::Event> {
        crate::event::events(builder, node, &self.0)
    }
}

impl<'a> ResultReading<'_, 'a> {
    /// The bytes of what was shown to the model, as they stand in the file.
    pub fn content_bytes(&self) -> Option<u64> {
        self.block.content.map(|content| content.bytes().len() as u64)
    }

    /// What the model was shown.
    pub fn shown_text(&self) -> Option<Cow<'a, str>> {
        self.block.result_text()
    }

    /// Whether the command was interrupted, as the client noted it.
    pub fn is_interrupted(&self) -> bool {
        let flag = self.entry.tool_result.and_then(|result| result.get("interrupted")?.bool());
        flag == Some(true)
    }
}

//! What can be searched: the words of an entry, and who said them.
//!
//! Each part of an entry becomes one document. What Claude Code says twice is taken once: an
//! output stands in the message and again in `toolUseResult`, only the first is read. Signs of
//! progress, bookkeeping and what was put into the context for the model say nothing that a
//! person would look for.

mod each;
mod own;
mod spill;
mod typed;

use std::borrow::Cow;

use transcript::entry::Entry;
use transcript::entry::message::{Block, BlockKind};
use transcript::id::Key;
use transcript::json::Raw;
use transcript::prompt;
use transcript::session::{Builder, Node, Role as Voice};
use transcript::tool;

use crate::query::Role;

pub(crate) use each::{each_part, on_disk};
pub use own::MARK;
pub use spill::SPILL_MOST;
pub(crate) use spill::Spills;
pub(crate) use typed::typed;

/// One part of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'a> {
    /// Who said it.
    pub role: Role,
    /// The tool of a call or an output.
    pub tool: Option<Cow<'a, str>>,
    /// The file that a call is about.
    pub path: Option<Cow<'a, str>>,
    /// Whether it is the output of a call that failed.
    pub is_error: bool,
    /// The words.
    pub text: Cow<'a, str>,
}

impl<'a> Part<'a> {
    pub(crate) fn said(role: Role, text: Cow<'a, str>) -> Self {
        Self { role, tool: None, path: None, is_error: false, text }
    }
}

/// The parts of an entry that has been pushed to `builder` as `node`.
pub fn parts<'a>(builder: &Builder, node: &Node, entry: &Entry<'a>) -> Vec<Part<'a>> {
    let said = |role, text: Option<Cow<'a, str>>| text.map(|text| Part::said(role, text));
    let mut parts: Vec<Part<'a>> = match node.role {
        Voice::Prompt | Voice::Queued | Voice::Command | Voice::Shell | Voice::Teammate => {
            said(Role::Prompt, prompt::typed_text(entry)).into_iter().collect()
        }
        Voice::Summary => said(Role::Summary, prompt::typed_text(entry)).into_iter().collect(),
        Voice::Answer | Voice::Thinking | Voice::Call | Voice::ApiError => {
            let plain = || entry.message.as_ref().and_then(|m| m.text());
            match entry.blocks() {
                [] => said(Role::Answer, plain()).into_iter().collect(),
                blocks => {
                    let cwd = entry.cwd.map(|cwd| cwd.text());
                    blocks.iter().filter_map(|block| answer(block, cwd.as_deref())).collect()
                }
            }
        }
        Voice::Result => entry.blocks().iter().filter_map(|block| output(builder, block)).collect(),
        Voice::Bookkeeping if builder.repeats_title() => Vec::new(),
        Voice::Bookkeeping => said(Role::Title, title(entry)).into_iter().collect(),
        _ => Vec::new(),
    };
    parts.retain(|part| !part.text.trim().is_empty() || part.path.is_some());
    parts
}

fn answer<'a>(block: &Block<'a>, cwd: Option<&str>) -> Option<Part<'a>> {
    match block.kind {
        BlockKind::Text => Some(Part::said(Role::Answer, block.text?.text())),
        BlockKind::Thinking => Some(Part::said(Role::Thinking, block.text?.text())),
        BlockKind::ToolUse => {
            let name = block.name?.text();
            let input = block.input?;
            let path =
                tool::path_of(&name, Some(input), None, cwd).map(|p| Cow::Owned(p.into_owned()));
            let mut text = String::new();
            strings(input, 0, &mut text);
            if own::is_call(&name, &text) {
                return None;
            }
            Some(Part { path, tool: Some(name), ..Part::said(Role::Call, Cow::Owned(text)) })
        }
        _ => None,
    }
}

/// Inputs are seldom nested; one that is nested deeper than this says nothing there.
const DEEPEST: usize = 8;

/// All texts of a value, one under the other.
fn strings(value: Raw<'_>, depth: usize, out: &mut String) {
    if let Some(text) = value.text() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&text);
    } else if depth < DEEPEST && value.is_array() {
        value.items().for_each(|item| strings(item, depth + 1, out));
    } else if depth < DEEPEST && value.is_object() {
        value.fields().for_each(|(_, field)| strings(field, depth + 1, out));
    }
}

fn output<'a>(builder: &Builder, block: &Block<'a>) -> Option<Part<'a>> {
    if block.kind != BlockKind::ToolResult {
        return None;
    }
    let tool = block.id.and_then(|id| builder.tool_of(Key::of_str(id)));
    let text = block.result_text()?;
    if own::is_output(tool, &text) {
        return None;
    }
    Some(Part {
        tool: tool.map(|tool| Cow::Owned(tool.to_owned())),
        is_error: block.is_error,
        ..Part::said(Role::Output, text)
    })
}

/// The names that a person or the model gave the session. What `summary` lines say is mostly
/// about other sessions.
fn title<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    let fields = [("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("tag", "tag")];
    let (_, field) = fields.iter().find(|(name, _)| entry.is_type(name))?;
    entry.string(field)
}

/// The words of an entry that are indexed under `role`.
pub fn text_of(entry: &Entry<'_>, role: Role) -> Option<String> {
    let of_blocks = |kind: BlockKind| {
        let parts = entry.blocks().iter().filter(|block| block.kind == kind);
        let texts: Vec<String> = match kind {
            BlockKind::ToolResult => {
                parts.filter_map(|block| Some(block.result_text()?.into_owned())).collect()
            }
            _ => parts.filter_map(|b| Some(answer(b, None)?.text.into_owned())).collect(),
        };
        (!texts.is_empty()).then(|| texts.join("\n"))
    };
    match role {
        Role::Prompt | Role::Summary => prompt::typed_text(entry).map(Cow::into_owned),
        Role::Answer => of_blocks(BlockKind::Text)
            .or_else(|| Some(entry.message.as_ref()?.text()?.into_owned())),
        Role::Thinking => of_blocks(BlockKind::Thinking),
        Role::Call => of_blocks(BlockKind::ToolUse),
        Role::Output => of_blocks(BlockKind::ToolResult),
        Role::Title => title(entry).map(Cow::into_owned),
    }
}

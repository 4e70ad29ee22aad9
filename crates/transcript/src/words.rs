//! The words of an entry: those that can be searched, with who said them, and those at a place.
//!
//! What the client writes twice is taken once: an output stands in the message and again in
//! `toolUseResult`, only the first is read. Signs of progress, internal lines and what was put
//! into the context for the model say nothing that a person would look for.

use std::borrow::Cow;

use crate::entry::Entry;
use crate::entry::message::{Block, BlockKind};
use crate::id::Key;
use crate::json::Raw;
use crate::prompt;
use crate::reading::EntryReading;
use crate::session::{Builder, Node, Role};
use crate::tool;

/// Who said a text that can be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SearchRole {
    /// A person.
    Prompt,
    /// The model.
    Answer,
    /// The model, thinking.
    Thinking,
    /// The input of a call.
    Call,
    /// The result of a call.
    Output,
    /// The summary of a compaction.
    Summary,
    /// A name of the session.
    Title,
}

/// One part of an entry that can be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPart<'a> {
    /// Who said it.
    pub role: SearchRole,
    /// The tool of a call or an output.
    pub tool: Option<Cow<'a, str>>,
    /// The file that a call is about.
    pub path: Option<Cow<'a, str>>,
    /// Whether it is the output of a call that failed.
    pub is_error: bool,
    /// The words.
    pub text: Cow<'a, str>,
}

impl<'a> SearchPart<'a> {
    fn said(role: SearchRole, text: Cow<'a, str>) -> Self {
        Self { role, tool: None, path: None, is_error: false, text }
    }
}

/// Where in an entry words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// All that it says.
    Whole,
    /// A block of its message, by its place.
    Block(u16),
}

impl<'a> EntryReading<'a> {
    /// The parts that can be searched, after it was pushed to `builder` as `node`.
    pub fn search_parts(&self, builder: &Builder, node: &Node) -> Vec<SearchPart<'a>> {
        let entry = self.entry();
        let one = |role, text: Option<Cow<'a, str>>| {
            text.map(|text| SearchPart::said(role, text)).into_iter().collect()
        };
        match node.role {
            Role::Prompt | Role::Queued | Role::Command | Role::Shell | Role::Teammate => {
                one(SearchRole::Prompt, prompt::typed_text(entry))
            }
            Role::Summary => one(SearchRole::Summary, prompt::typed_text(entry)),
            Role::Answer | Role::Thinking | Role::Call | Role::ApiError => match entry.blocks() {
                [] => one(SearchRole::Answer, entry.message.as_ref().and_then(|m| m.text())),
                blocks => {
                    let cwd = entry.cwd.map(|cwd| cwd.text());
                    blocks.iter().filter_map(|block| answer(block, cwd.as_deref())).collect()
                }
            },
            Role::Result => {
                entry.blocks().iter().filter_map(|block| output(builder, block)).collect()
            }
            Role::Bookkeeping if builder.repeats_title() => Vec::new(),
            Role::Bookkeeping => one(SearchRole::Title, title(entry)),
            _ => Vec::new(),
        }
    }

    /// The parts that can be searched under a role, without knowing the session.
    pub fn parts_of_role(&self, role: SearchRole) -> Vec<SearchPart<'a>> {
        let entry = self.entry();
        let of_kind = |kind: BlockKind| -> Vec<SearchPart<'a>> {
            let blocks = entry.blocks().iter().filter(|block| block.kind == kind);
            blocks.filter_map(|block| answer(block, None)).collect()
        };
        let whole = |text: Option<Cow<'a, str>>| -> Vec<SearchPart<'a>> {
            text.map(|text| SearchPart::said(role, text)).into_iter().collect()
        };
        match role {
            SearchRole::Prompt | SearchRole::Summary => whole(prompt::typed_text(entry)),
            SearchRole::Answer => {
                let blocks = of_kind(BlockKind::Text);
                let plain = || whole(entry.message.as_ref().and_then(|m| m.text()));
                if blocks.is_empty() { plain() } else { blocks }
            }
            SearchRole::Thinking => of_kind(BlockKind::Thinking),
            SearchRole::Call => of_kind(BlockKind::ToolUse),
            SearchRole::Output => {
                let results = entry.blocks().iter().filter(|b| b.kind == BlockKind::ToolResult);
                let texts = results.filter_map(Block::result_text);
                texts.map(|text| SearchPart::said(role, text)).collect()
            }
            SearchRole::Title => whole(title(entry)),
        }
    }

    /// Whether its message is a list of blocks.
    pub fn has_blocks(&self) -> bool {
        !self.entry().blocks().is_empty()
    }

    /// The blocks of its message that say something: what each is, where, and its words.
    pub fn block_texts(&self) -> impl Iterator<Item = (SearchRole, Spot, Cow<'a, str>)> {
        let blocks = self.entry().blocks().iter().zip((0..).map(Spot::Block));
        blocks.filter_map(|(block, spot)| {
            let role = match block.kind {
                BlockKind::Text => SearchRole::Answer,
                BlockKind::Thinking => SearchRole::Thinking,
                BlockKind::ToolUse => SearchRole::Call,
                BlockKind::ToolResult => SearchRole::Output,
                _ => return None,
            };
            Some((role, spot, block_words(block)?))
        })
    }

    /// The words at a spot: of a whole entry what a person typed, the text of the message, or the
    /// name that the line gives the session; of a block what was said, the input of a call as
    /// JSON, or what a result shows.
    pub fn words_at(&self, spot: Spot) -> Option<Cow<'a, str>> {
        match spot {
            Spot::Whole => {
                prompt::typed_text(self.entry()).or_else(|| title_or_summary(self.entry()))
            }
            Spot::Block(at) => block_words(self.entry().blocks().get(usize::from(at))?),
        }
    }
}

fn answer<'a>(block: &Block<'a>, cwd: Option<&str>) -> Option<SearchPart<'a>> {
    match block.kind {
        BlockKind::Text => Some(SearchPart::said(SearchRole::Answer, block.text?.text())),
        BlockKind::Thinking => Some(SearchPart::said(SearchRole::Thinking, block.text?.text())),
        BlockKind::ToolUse => {
            let name = block.name?.text();
            let input = block.input?;
            let path =
                tool::path_of(&name, Some(input), None, cwd).map(|p| Cow::Owned(p.into_owned()));
            let mut text = String::new();
            strings(input, 0, &mut text);
            let said = SearchPart::said(SearchRole::Call, Cow::Owned(text));
            Some(SearchPart { path, tool: Some(name), ..said })
        }
        _ => None,
    }
}

fn output<'a>(builder: &Builder, block: &Block<'a>) -> Option<SearchPart<'a>> {
    if block.kind != BlockKind::ToolResult {
        return None;
    }
    let tool = block.id.and_then(|id| builder.tool_of(Key::of_str(id)));
    Some(SearchPart {
        tool: tool.map(|tool| Cow::Owned(tool.to_owned())),
        is_error: block.is_error,
        ..SearchPart::said(SearchRole::Output, block.result_text()?)
    })
}

/// Inputs are seldom nested; one that is nested deeper than this says nothing there.
const MAX_DEPTH: usize = 8;

/// All texts of a value, one under the other.
fn strings(value: Raw<'_>, depth: usize, out: &mut String) {
    if let Some(text) = value.text() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&text);
    } else if depth < MAX_DEPTH && value.is_array() {
        value.items().for_each(|item| strings(item, depth + 1, out));
    } else if depth < MAX_DEPTH && value.is_object() {
        value.fields().for_each(|(_, field)| strings(field, depth + 1, out));
    }
}

/// All texts of a file of JSON, one under the other; `None` if it is not JSON.
pub fn json_texts(json: &str) -> Option<String> {
    let mut texts = String::new();
    strings(Raw::new(json.as_bytes()).ok()?, 0, &mut texts);
    Some(texts)
}

const TITLES: [(&str, &str); 3] =
    [("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("tag", "tag")];

/// The names that a person or the model gave the session. What `summary` lines say is mostly
/// about other sessions.
fn title<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    let (_, field) = TITLES.iter().find(|(name, _)| entry.is_type(name))?;
    entry.string(field)
}

fn title_or_summary<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    if entry.is_type("summary") { entry.string("summary") } else { title(entry) }
}

fn block_words<'a>(block: &Block<'a>) -> Option<Cow<'a, str>> {
    match block.kind {
        BlockKind::ToolUse => Some(String::from_utf8_lossy(block.input?.bytes())),
        BlockKind::ToolResult => block.result_text(),
        _ => Some(block.text?.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_entry_has_its_words() {
        let said = |line: &str, spot| {
            EntryReading::from_bytes(line.as_bytes()).words_at(spot).map(|words| words.into_owned())
        };
        let call = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a"}}]}}"#;
        assert_eq!(said(call, Spot::Block(0)).as_deref(), Some("ok"));
        assert_eq!(said(call, Spot::Block(1)).as_deref(), Some(r#"{"file_path":"/a"}"#));
        assert_eq!(said(call, Spot::Block(2)), None);
        let result = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}}"#;
        assert_eq!(said(result, Spot::Block(0)).as_deref(), Some("a\nb"));
        let prompt = r#"{"type":"user","message":{"role":"user","content":"<system-reminder>x</system-reminder>do it"}}"#;
        assert_eq!(said(prompt, Spot::Whole).as_deref(), Some("do it"));
        let queued =
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"and that"}}"#;
        assert_eq!(said(queued, Spot::Whole).as_deref(), Some("and that"));
        let title = r#"{"type":"ai-title","aiTitle":"Parser"}"#;
        assert_eq!(said(title, Spot::Whole).as_deref(), Some("Parser"));
    }
}

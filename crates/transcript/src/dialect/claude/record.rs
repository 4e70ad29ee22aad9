//! Records out of Claude Code's entries.

use super::note;
use crate::bulk;
use crate::entry::message::{Block, BlockKind, Content};
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::json::Raw;
use crate::layout::Problem;
use crate::prompt;
use crate::record::{Body, CallRecord, Change, LARGEST, Media, Opened, Outcome, Part};
use crate::session::{Call, Node, Role};
use crate::tool::{self, Action};
use crate::usage::Tokens;

/// Makes bodies of records out of entries of an opened session.
pub(super) struct BodyReader<'o, 'a>(pub &'o Opened<'a>);

impl BodyReader<'_, '_> {
    pub(super) fn body(&self, node: usize, entry: &Entry<'_>) -> Result<Body, Problem> {
        let role = self.0.session().nodes()[node].role;
        Ok(match role {
            Role::Call => {
                Body::Calls { parts: parts(entry.blocks()), calls: self.calls(node, entry)? }
            }
            Role::Answer | Role::Thinking => Body::Answer { parts: answer_parts(entry) },
            Role::ApiError if entry.kind == Kind::Assistant => {
                Body::Answer { parts: answer_parts(entry) }
            }
            Role::Result => self.lone_result(node, entry),
            Role::Boundary => self.compaction(node),
            Role::Summary => Body::Summary { text: said(entry).unwrap_or_default() },
            Role::Damaged => {
                Body::Damaged { text: String::from_utf8_lossy(entry.bytes).into_owned() }
            }
            _ if entry.kind == Kind::User => {
                let (text, beside) = spoken(entry, role);
                let text = prompt::one_line(&text).into_owned();
                Body::Prompt { text, beside, media: media(entry.blocks()) }
            }
            Role::Queued | Role::Undelivered | Role::Command => {
                let text = prompt::typed_text(entry).map(|text| text.into_owned());
                let text = text.or_else(|| note::text(entry)).unwrap_or_default();
                let text = prompt::one_line(&text).into_owned();
                Body::Prompt { text, beside: Vec::new(), media: Vec::new() }
            }
            _ => Body::Note { name: note::name(entry), text: note::text(entry) },
        })
    }

    fn calls(&self, node: usize, entry: &Entry<'_>) -> Result<Vec<CallRecord>, Problem> {
        let all = self.0.session().calls();
        let first = all.partition_point(|c| c.node() < node);
        let mut of_node = all[first..].iter().take_while(|c| c.node() == node);
        let blocks = entry.blocks().iter().filter(|b| b.kind == BlockKind::ToolUse);
        blocks.map(|block| self.call(block, of_node.next())).collect()
    }

    fn call(&self, block: &Block<'_>, call: Option<&Call>) -> Result<CallRecord, Problem> {
        let tool = block.name.map_or_else(String::new, |n| n.text().into_owned());
        let result = call.and_then(Call::result);
        let outcome = result.map(|node| self.outcome(node, &tool, block)).transpose()?;
        let duration_ms = call.zip(result).and_then(|(call, result)| {
            let nodes = self.0.session().nodes();
            Some(nodes[result].time()?.since(nodes[call.node()].time()?))
        });
        Ok(CallRecord {
            tool_use_id: block.id.map_or_else(String::new, |id| id.text().into_owned()),
            action: Action::of(&tool),
            subject: block.input.and_then(|i| tool::subject(&tool, i)).map(|s| s.into_owned()),
            input: block.input.map_or_else(String::new, |i| text_of(i.bytes())),
            outcome,
            duration_ms,
            key: block.id.map_or(Key(0), Key::of_str),
            todos: Vec::new(),
            tool,
        })
    }

    fn outcome(&self, node: usize, tool: &str, call: &Block<'_>) -> Result<Outcome, Problem> {
        let Node { length, .. } = self.0.session().nodes()[node];
        if length > LARGEST {
            return Ok(Outcome {
                node,
                number: self.0.number(node),
                is_error: self.0.session().nodes()[node].is_error(),
                text: None,
                stderr: None,
                media: vec![format!("a result of {length} bytes, too large to show")],
                change: None,
                changed_files: Vec::new(),
                tokens: None,
            });
        }
        let bytes = self.0.bytes(node)?;
        let entry = Entry::of(&bytes, 0);
        let is_its = |b: &&Block<'_>| b.kind == BlockKind::ToolResult && b.id == call.id;
        let result = entry.blocks().iter().find(is_its);
        let is_error = result.is_some_and(|r| r.is_error);
        let cwd = entry.cwd.map(|cwd| cwd.text());
        let change = match is_error {
            true => None,
            false => tool::change(tool, call.input, entry.tool_result, cwd.as_deref()),
        };
        let by_command = match Action::of(tool) {
            Action::Run => tool::command_changes(entry.tool_result, cwd.as_deref()),
            _ => Vec::new(),
        };
        let hunks = entry.tool_result.map_or_else(Vec::new, tool::hunks);
        Ok(Outcome {
            node,
            number: self.0.number(node),
            is_error,
            text: result.and_then(Block::result_text).map(|t| t.into_owned()),
            stderr: entry.tool_result.and_then(stderr),
            media: result.and_then(|r| r.content).map_or_else(Vec::new, |c| media(&Block::list(c))),
            change: change.map(|change| Change::new(change, hunks)),
            changed_files: by_command
                .into_iter()
                .map(|found| {
                    let hunks = found.hunks();
                    Change::new(found.change, hunks)
                })
                .collect(),
            tokens: entry.tool_result.and_then(|result| result.get("totalTokens")?.u64()),
        })
    }

    fn lone_result(&self, node: usize, entry: &Entry<'_>) -> Body {
        let result = entry.blocks().iter().find(|b| b.kind == BlockKind::ToolResult);
        Body::LoneResult {
            tool_use_id: result.and_then(|r| r.id).map(|id| id.text().into_owned()),
            outcome: Outcome {
                node,
                number: self.0.number(node),
                is_error: result.is_some_and(|r| r.is_error),
                text: result.and_then(Block::result_text).map(|t| t.into_owned()),
                stderr: entry.tool_result.and_then(stderr),
                media: Vec::new(),
                change: None,
                changed_files: Vec::new(),
                tokens: None,
            },
        }
    }

    fn compaction(&self, node: usize) -> Body {
        let all = self.0.session().compactions();
        let index = all.iter().position(|c| c.node() == node);
        let compaction = index.map(|i| &all[i]);
        Body::Compaction {
            trigger: compaction.and_then(|c| c.trigger.as_deref()).map(str::to_owned),
            pre_tokens: compaction.and_then(|c| c.pre_tokens),
            post_tokens: compaction.and_then(|c| c.post_tokens),
            segment: index.map_or(0, |i| i + 1),
        }
    }
}

/// A picture or document of an entry, or of the result of a call in it.
pub(super) fn media_at(entry: &[u8], call: Option<&str>, at: usize) -> Option<Media> {
    let entry = Entry::of(entry, 0);
    let is_its = |b: &&Block<'_>| {
        b.kind == BlockKind::ToolResult && b.id.is_some_and(|id| Some(&*id.text()) == call)
    };
    let result = entry.blocks().iter().find(is_its).and_then(|block| block.content);
    let listed = result.map(Block::list);
    let blocks = match call {
        Some(_) => listed.as_deref().unwrap_or_default(),
        None => entry.blocks(),
    };
    let source = blocks.iter().filter(is_media).nth(at).and_then(|b| b.raw.get("source"));
    let read = |source: Raw<'_>| {
        let is_inside = source.string("type").as_deref() == Some("base64");
        let media_type = source.string("media_type").filter(|_| is_inside)?.into_owned();
        Some(Media { media_type, base64: source.string("data")?.into_owned() })
    };
    source.and_then(read)
}

/// What a command wrote to its standard error, as Claude Code noted it apart.
fn stderr(result: Raw<'_>) -> Option<String> {
    let text = result.get("stderr")?.text()?;
    (!text.trim().is_empty()).then(|| text.into_owned())
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What stands in a user entry, without what was put before a person's words.
pub(crate) fn said(entry: &Entry<'_>) -> Option<String> {
    match &entry.message {
        Some(message) if entry.kind != Kind::User || entry.is_compact_summary => {
            message.text().map(|text| text.into_owned())
        }
        _ => prompt::typed_text(entry).map(|text| text.into_owned()),
    }
}

/// A person's words and what was put before them; of other user entries all text.
fn spoken(entry: &Entry<'_>, role: Role) -> (String, Vec<String>) {
    let all = || entry.message.as_ref().and_then(|m| m.text()).unwrap_or_default();
    if !role.is_person() {
        return (all().into_owned(), Vec::new());
    }
    let texts: Vec<_> = match entry.message.as_ref().map(|m| &m.content) {
        Some(Content::Blocks(blocks)) => {
            let texts = blocks.iter().filter(|b| b.kind == BlockKind::Text);
            texts.filter_map(|b| b.text).map(|t| t.text()).collect()
        }
        _ => {
            let (all, typed) = (all(), said(entry).unwrap_or_default());
            let before = all.len() - typed.len().min(all.len());
            let beside = all.get(..before).map(str::trim).filter(|b| !b.is_empty());
            return (typed, beside.map(str::to_owned).into_iter().collect());
        }
    };
    let is_injected = |text: &str| prompt::of_text(text) == prompt::Voice::Injected;
    if texts.iter().all(|text| is_injected(text)) {
        return (said(entry).unwrap_or_default(), Vec::new());
    }
    let (beside, typed): (Vec<_>, Vec<_>) = texts.into_iter().partition(|t| is_injected(t));
    (typed.join("\n"), beside.into_iter().map(|t| t.into_owned()).collect())
}

/// The model that an entry names.
pub(super) fn model(entry: &Entry<'_>) -> Option<String> {
    let model = entry.message.as_ref()?.model?.text();
    (entry.kind == Kind::Assistant && model != "<synthetic>").then(|| model.into_owned())
}

/// The tokens that the response of an entry read and wrote.
pub(super) fn tokens(entry: &Entry<'_>) -> Option<(u64, u64)> {
    let tokens = Tokens::read(entry.message.as_ref()?.usage?);
    Some((tokens.prompt(), tokens.output))
}

/// What was permitted, as a user entry says.
pub(super) fn permission_mode(entry: &Entry<'_>) -> Option<String> {
    let mode = entry.field("permissionMode").filter(|_| entry.kind == Kind::User)?;
    mode.text().map(|mode| mode.into_owned())
}

fn answer_parts(entry: &Entry<'_>) -> Vec<Part> {
    match entry.message.as_ref().map(|m| &m.content) {
        Some(Content::Text(text)) => vec![Part::Text(text.text().into_owned())],
        _ => parts(entry.blocks()),
    }
}

fn parts(blocks: &[Block<'_>]) -> Vec<Part> {
    blocks.iter().filter(|b| b.kind != BlockKind::ToolUse).map(part).collect()
}

fn part(block: &Block<'_>) -> Part {
    let text = block.text.map(|t| t.text().into_owned());
    match block.kind {
        BlockKind::Text => Part::Text(text.unwrap_or_default()),
        BlockKind::Thinking => Part::Thinking(text.filter(|t| !t.is_empty())),
        BlockKind::RedactedThinking => Part::Thinking(None),
        _ => Part::Other {
            name: block.type_name.map_or_else(|| "block".into(), |n| n.text().into_owned()),
            bytes: block.raw.bytes().len(),
        },
    }
}

fn is_media(block: &&Block<'_>) -> bool {
    matches!(block.kind, BlockKind::Image | BlockKind::Document)
}

/// Pictures and documents in a few words: type and size.
fn media(blocks: &[Block<'_>]) -> Vec<String> {
    blocks
        .iter()
        .filter(is_media)
        .map(|block| {
            let source = block.raw.get("source");
            let kind = source.and_then(|s| s.string("media_type"));
            let encoded = source.and_then(|s| s.get("data")?.str()).map_or(0, bulk::base64_bytes);
            let name = kind.map_or_else(|| "media".into(), |k| k.into_owned());
            format!("{name}, {} bytes", encoded / 4 * 3)
        })
        .collect()
}

/// What the result of a call says, out of its entry.
pub(super) fn output(entry: &[u8], call: &str) -> Option<String> {
    let entry = Entry::of(entry, 0);
    let is_its = |b: &&Block<'_>| {
        b.kind == BlockKind::ToolResult && b.id.is_some_and(|id| id.text() == call)
    };
    entry.blocks().iter().find(is_its)?.result_text().map(|text| text.into_owned())
}

/// An entry's picture or document, counted as the records count media.
pub(super) fn picture(entry: &[u8], at: usize) -> Option<Media> {
    let entry = Entry::of(entry, 0);
    let is_media = |b: &Block<'_>| matches!(b.kind, BlockKind::Image | BlockKind::Document);
    let mut all: Vec<Raw<'_>> = Vec::new();
    let results = entry.blocks().iter().filter(|b| b.kind == BlockKind::ToolResult);
    all.extend(entry.blocks().iter().filter(|b| is_media(b)).map(|b| b.raw));
    if all.is_empty() {
        for content in results.filter_map(|result| result.content) {
            all.extend(Block::list(content).iter().filter(|b| is_media(b)).map(|b| b.raw));
        }
    }
    let source = all.get(at)?.get("source")?;
    let media_type = source.string("media_type")?.into_owned();
    Some(Media { media_type, base64: source.string("data")?.into_owned() })
}

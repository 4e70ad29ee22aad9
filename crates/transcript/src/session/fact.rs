//! The facts that a session keeps of its entries, beside the nodes themselves.

use serde::{Deserialize, Serialize};

use hashbrown::HashMap;

use super::node::{NONE, Role};
use crate::entry::Entry;
use crate::id::Key;
use crate::json::{Raw, Str};
use crate::time::Time;
use crate::tool::{Action, Commit};

/// Texts that repeat, each kept once.
#[derive(Debug, Clone, Default)]
pub struct Names {
    list: Vec<Box<str>>,
    index: HashMap<Box<str>, u32>,
    last: u32,
}

impl Names {
    /// The number of a JSON string; most often it is the last one again.
    pub(crate) fn add(&mut self, name: Str<'_>) -> u32 {
        if self.list.get(self.last as usize).is_some_and(|l| l.as_bytes() == name.raw()) {
            return self.last;
        }
        self.last = self.add_text(&name.text());
        self.last
    }

    pub(crate) fn add_text(&mut self, name: &str) -> u32 {
        if self.index.is_empty() {
            let list = self.list.iter().enumerate();
            self.index = list.map(|(at, name)| (name.clone(), at as u32)).collect();
        }
        if let Some(&index) = self.index.get(name) {
            return index;
        }
        let index = self.list.len() as u32;
        self.list.push(name.into());
        self.index.insert(name.into(), index);
        index
    }

    /// The names in this order. The index is made when one is added: who only asks needs none.
    pub(crate) fn of(list: Vec<Box<str>>) -> Self {
        Self { list, index: HashMap::new(), last: 0 }
    }

    pub(crate) fn list(&self) -> &[Box<str>] {
        &self.list
    }

    /// The text of a number.
    pub fn get(&self, index: u32) -> &str {
        self.list.get(index as usize).map_or("", |name| name)
    }

    /// The number of a text.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.list.iter().position(|known| **known == *name).map(|at| at as u32)
    }

    /// All texts, in order of first appearance.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.list.iter().map(|name| &**name)
    }
}

/// What a call started, as far as its result needs it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Started {
    Other,
    /// A subagent, with the key of its task.
    Agent(Option<Key>),
    /// A change to a file: the call's input.
    Edit(Box<[u8]>),
    /// A command that may commit.
    Commit(Box<str>),
}

/// Inputs longer than this are not held until the result comes; the result has what is needed.
const HELD_INPUT: usize = 64 << 10;

impl Started {
    pub(super) fn of(tool: &str, input: Option<Raw<'_>>) -> Self {
        let Some(input) = input else { return Self::Other };
        match tool {
            "Task" | "Agent" | "Workflow" => {
                Self::Agent(input.string("prompt").map(|p| Key::of(p.trim().as_bytes())))
            }
            "Bash" | "PowerShell" => {
                let commits = memchr::memmem::find(input.bytes(), b"commit").is_some();
                let command = commits.then(|| input.string("command")).flatten();
                match command.filter(|c| c.contains("git")) {
                    Some(command) => Self::Commit(command.into()),
                    None => Self::Other,
                }
            }
            _ if Action::of(tool) == Action::Edit && input.bytes().len() <= HELD_INPUT => {
                Self::Edit(input.bytes().into())
            }
            _ if Action::of(tool) == Action::Edit => Self::Edit(Box::default()),
            _ => Self::Other,
        }
    }
}

/// A tool call and its result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Call {
    pub(super) key: Key,
    pub(super) tool: u32,
    pub(super) node: u32,
    pub(super) result: u32,
    /// The result says it failed.
    pub is_error: bool,
    pub(super) started: Started,
}

impl Call {
    /// The node that made the call.
    pub fn node(&self) -> usize {
        self.node as usize
    }

    /// The node that holds the result; a killed call has none.
    pub fn result(&self) -> Option<usize> {
        (self.result != NONE).then_some(self.result as usize)
    }

    /// The key of its `tool_use` id.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The key of a subagent's task text, if the call started one.
    pub fn task(&self) -> Option<Key> {
        match self.started {
            Started::Agent(task) => task,
            _ => None,
        }
    }

    /// Whether the call starts a subagent.
    pub fn is_agent(&self) -> bool {
        matches!(self.started, Started::Agent(_))
    }
}

/// A call whose response was written again: the same id in another entry.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct RepeatedCall {
    pub call: u32,
    pub node: u32,
    /// The entries hold nothing but calls, so that one of them can be hidden.
    pub has_only_calls: bool,
}

/// A change that a call made to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    pub(super) path: u32,
    pub(super) call: u32,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The file did not exist before.
    pub created: bool,
    /// The file does not exist any more.
    pub deleted: bool,
    /// Counted from the input, because the result has no patch.
    pub estimated: bool,
    /// The result says that the file changed, and not how: the lines are not known.
    pub unknown: bool,
}

impl Touch {
    /// The call that made it.
    pub fn call(&self) -> usize {
        self.call as usize
    }
}

/// Why a compaction happened, and what it left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Compaction {
    pub(super) node: u32,
    pub(super) summary: u32,
    /// A `compact_boundary` says so; else a summary alone, or its text.
    pub is_boundary: bool,
    /// `auto` or `manual`.
    pub trigger: Option<Box<str>>,
    /// Tokens before.
    pub pre_tokens: Option<u64>,
    /// Tokens after, where recorded.
    pub post_tokens: Option<u64>,
    /// How long it took, in milliseconds, where recorded.
    pub duration_ms: Option<u64>,
    pub(super) logical_parent: Option<Key>,
    pub(super) anchor: Option<Key>,
    pub(super) preserved: Vec<Key>,
    /// Head and tail of a preserved segment, where the messages are not listed.
    pub(super) preserved_span: Option<(Key, Key)>,
}

impl Compaction {
    pub(super) fn summary(node: u32) -> Self {
        Self {
            node,
            summary: node,
            is_boundary: false,
            trigger: None,
            pre_tokens: None,
            post_tokens: None,
            duration_ms: None,
            logical_parent: None,
            anchor: None,
            preserved: Vec::new(),
            preserved_span: None,
        }
    }

    pub(super) fn boundary(entry: &Entry<'_>, node: u32) -> Self {
        let data = entry.field("compactMetadata").or_else(|| entry.field("compact_metadata"));
        let get =
            |disk: &str, stream: &str| data.and_then(|d| d.some(disk).or_else(|| d.some(stream)));
        let key = |value: Option<Raw<'_>>| value.and_then(Raw::str).map(Key::of_str);
        let messages = get("preservedMessages", "preserved_messages");
        let segment = get("preservedSegment", "preserved_segment");
        let part = |name: &str, other: &str| {
            key(segment.and_then(|s| s.get(name).or_else(|| s.get(other))))
        };
        let listed = messages.and_then(|m| m.get("uuids"));
        Self {
            is_boundary: true,
            summary: NONE,
            trigger: get("trigger", "trigger").and_then(Raw::text).map(Into::into),
            pre_tokens: get("preTokens", "pre_tokens").and_then(Raw::u64),
            post_tokens: get("postTokens", "post_tokens").and_then(Raw::u64),
            duration_ms: get("durationMs", "duration_ms").and_then(Raw::u64),
            logical_parent: entry.logical_parent.map(Key::of_str),
            anchor:
                key(messages.and_then(|m| m.get("anchorUuid").or_else(|| m.get("anchor_uuid"))))
                    .or_else(|| part("anchorUuid", "anchor_uuid")),
            preserved: listed.map_or_else(Vec::new, |l| {
                l.items().filter_map(|id| id.str().map(Key::of_str)).collect()
            }),
            preserved_span: part("headUuid", "head_uuid").zip(part("tailUuid", "tail_uuid")),
            ..Self::summary(node)
        }
    }

    /// The node where the new segment begins.
    pub fn node(&self) -> usize {
        self.node as usize
    }

    /// The node of the summary.
    pub fn summary_node(&self) -> Option<usize> {
        (self.summary != NONE).then_some(self.summary as usize)
    }
}

/// Everything a session may be called, in the order it was met.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Titles {
    /// The last `custom-title`.
    pub custom: Option<Box<str>>,
    /// The last `ai-title`.
    pub ai: Option<Box<str>>,
    /// The last `last-prompt`.
    pub last_prompt: Option<Box<str>>,
    /// The last `agent-name`.
    pub agent_name: Option<Box<str>>,
    /// The last `tag`, if it is not empty.
    pub tag: Option<Box<str>>,
    /// The first thing a person asked.
    pub first_prompt: Option<Box<str>>,
    /// The first slash command.
    pub first_command: Option<Box<str>>,
    /// The first thing another agent asked.
    pub first_task: Option<Box<str>>,
    /// `summary` lines: the leaf they describe, and their text.
    pub summaries: Vec<(Key, Box<str>)>,
}

/// Official lists cut titles here.
const TITLE_LENGTH: usize = 200;

impl Titles {
    pub(super) fn prompt(&mut self, role: Role, text: &str) {
        let slot = match role {
            Role::Prompt | Role::Queued => &mut self.first_prompt,
            Role::Teammate => &mut self.first_task,
            _ => &mut self.first_command,
        };
        if slot.is_none() {
            *slot = Some(cut(&crate::prompt::one_line(text)));
        }
    }

    /// Takes from `other` what is not known yet.
    pub(super) fn fill(&mut self, other: Self) {
        let fill = |slot: &mut Option<Box<str>>, other| *slot = slot.take().or(other);
        fill(&mut self.custom, other.custom);
        fill(&mut self.ai, other.ai);
        fill(&mut self.last_prompt, other.last_prompt);
        fill(&mut self.agent_name, other.agent_name);
        fill(&mut self.tag, other.tag);
        fill(&mut self.first_prompt, other.first_prompt);
        fill(&mut self.first_command, other.first_command);
        fill(&mut self.first_task, other.first_task);
        self.summaries.extend(other.summaries);
    }

    /// Takes a line that names the session. Whether it says again what it said before is given
    /// back: Claude Code writes the same title many times.
    pub(super) fn line(&mut self, entry: &Entry<'_>) -> bool {
        let Some(name) = entry.type_name else { return false };
        let text =
            |field: &str| entry.string(field).filter(|t| !t.trim().is_empty()).map(|t| cut(&t));
        let names = |titles: &Self| [&titles.custom, &titles.ai, &titles.tag].map(Option::clone);
        let is_name = matches!(name.raw(), b"custom-title" | b"ai-title" | b"tag");
        let before = is_name.then(|| names(self));
        match name.raw() {
            b"custom-title" => self.custom = text("customTitle"),
            b"ai-title" => self.ai = text("aiTitle").or(self.ai.take()),
            b"last-prompt" => self.last_prompt = text("lastPrompt").or(self.last_prompt.take()),
            b"agent-name" => self.agent_name = text("agentName"),
            b"tag" => self.tag = text("tag"),
            b"summary" => {
                if let (Some(leaf), Some(text)) = (entry.leaf, text("summary")) {
                    self.summaries.push((Key::of_str(leaf), text));
                }
            }
            _ => {}
        }
        before.is_some_and(|before| before == names(self))
    }
}

fn cut(text: &str) -> Box<str> {
    let text = text.trim();
    let end = text.char_indices().nth(TITLE_LENGTH).map_or(text.len(), |(at, _)| at);
    text[..end].into()
}

/// How a subagent is known to belong to a call, most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LinkKind {
    /// Its meta file names the call.
    Meta,
    /// The call's `toolUseResult.agentId`; a teammate's `agent_id`.
    Result,
    /// A sign of life named both.
    Progress,
    /// The result's text ends in `agentId: …`.
    Text,
    /// A `<task-notification>` names it.
    Notification,
    /// Its file lies in the folder of a workflow's run, which the call started.
    Workflow,
    /// The task text is the same.
    Prompt,
    /// Its file lies in the session's folder, or names the session; no call is known.
    Folder,
}

impl LinkKind {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Result => "result",
            Self::Progress => "progress",
            Self::Text => "text",
            Self::Notification => "notification",
            Self::Workflow => "workflow",
            Self::Prompt => "prompt",
            Self::Folder => "folder",
        }
    }
}

/// One sign that a subagent belongs to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLink {
    /// The call, if the sign names it.
    pub call: Option<Key>,
    /// What the sign is.
    pub kind: LinkKind,
}

/// What a file knows about subagents.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    /// Best sign per subagent.
    pub(super) links: HashMap<Box<str>, AgentLink>,
    /// Runs of workflows: the run and the call that started it.
    pub(super) runs: Vec<(Box<str>, Key)>,
    /// Sidechains inside the file (1.0.x): root node and key of the task.
    pub(super) inline: Vec<(u32, Key)>,
    /// The key of the first words in the file: an agent file's task.
    pub(super) task: Option<Key>,
}

impl Agents {
    pub(super) fn link(&mut self, agent: &str, link: AgentLink) {
        let rank = |l: &AgentLink| (l.call.is_none(), l.kind);
        match self.links.get_mut(agent) {
            Some(known) if rank(known) <= rank(&link) => {}
            Some(known) => *known = link,
            None => drop(self.links.insert(agent.into(), link)),
        }
    }
}

/// A pull request that the session is linked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrLink {
    /// `prNumber`.
    pub number: Option<u64>,
    /// `prUrl`.
    pub url: Box<str>,
    /// `prRepository`.
    pub repository: Option<Box<str>>,
    /// When it was first written.
    pub time: Option<Time>,
    /// The number of the entry that says so.
    pub entry: u32,
}

/// Where the entries of one session were written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Stamp {
    /// The first `cwd`.
    pub cwd: Option<Box<str>>,
    /// The last `gitBranch` that is not empty.
    pub git_branch: Option<Box<str>>,
}

impl Stamp {
    pub(super) fn entry(&mut self, entry: &Entry<'_>) {
        if self.cwd.is_none() {
            self.cwd = entry.cwd.map(|cwd| cwd.text().into());
        }
        set_last(&mut self.git_branch, entry.git_branch.filter(|branch| !branch.is_empty()));
    }
}

/// What single lines say about the whole session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Marks {
    pub(super) lineage: Option<Box<str>>,
    pub(super) agent: Option<Box<str>>,
    pub(super) pr_links: Vec<PrLink>,
    pub(super) commits: Vec<(u32, Commit)>,
    pub(super) continued_in: Option<Box<str>>,
    pub(super) forked_from: Option<Box<str>>,
    pub(super) fork_context: Option<Box<str>>,
    pub(super) relocated: Option<Box<str>>,
    pub(super) is_background: bool,
    pub(super) entrypoint: Option<Box<str>>,
    pub(super) plan_slug: Option<Box<str>>,
    pub(super) snapshots: u32,
}

impl Marks {
    pub(super) fn chain_extras(&mut self, entry: &Entry<'_>) {
        for (key, value) in &entry.fields {
            match key.raw() {
                b"sessionKind" => self.is_background |= value.bytes() == b"\"bg\"",
                b"entrypoint" => set_last(&mut self.entrypoint, value.str()),
                b"slug" => set_last(&mut self.plan_slug, value.str()),
                b"forkedFrom" if self.forked_from.is_none() => {
                    self.forked_from = value.string("sessionId").map(Into::into);
                }
                _ => {}
            }
        }
    }

    pub(super) fn line(&mut self, entry: &Entry<'_>, number: u32) {
        let Some(name) = entry.type_name else { return };
        match name.raw() {
            b"pr-link" => self.pr_link(entry, number),
            b"continued-in" => {
                self.continued_in = entry.string("continuedInSessionId").map(Into::into);
            }
            b"fork-context-ref" => {
                self.fork_context = entry.string("parentSessionId").map(Into::into);
                if self.agent.is_none() {
                    self.agent = entry.agent.map(|a| a.text().into());
                }
            }
            b"relocated" => self.relocated = entry.string("relocatedCwd").map(Into::into),
            b"file-history-snapshot" | b"file-history-delta" => self.snapshots += 1,
            _ => {}
        }
    }

    fn pr_link(&mut self, entry: &Entry<'_>, number: u32) {
        let Some(url) = entry.string("prUrl") else { return };
        if self.pr_links.iter().any(|link| *link.url == *url) {
            return;
        }
        self.pr_links.push(PrLink {
            number: entry.field("prNumber").and_then(Raw::u64),
            url: url.into(),
            repository: entry.string("prRepository").map(Into::into),
            time: entry.time,
            entry: number,
        });
    }
}

fn set_last(slot: &mut Option<Box<str>>, value: Option<Str<'_>>) {
    if let Some(value) = value
        && !slot.as_deref().is_some_and(|s| value.is(s))
    {
        *slot = Some(value.text().into());
    }
}

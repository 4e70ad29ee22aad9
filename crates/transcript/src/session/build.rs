//! Entries into facts, one after the other. Nothing here depends on what comes later, so a file
//! that grew is read from where reading stopped; what needs the whole is in [`super::resolve`].

use std::io::{self, Read};

use hashbrown::{HashMap, HashSet};

use super::fact::{
    AgentLink, Agents, Call, Compaction, LinkKind, Marks, Names, RepeatedCall, Stamp, Started,
    Titles, Touch,
};
use super::node::{NO_TIME, NONE, Node, Role, flag};
use super::queue::Queue;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::entry::message::{Block, BlockKind};
use crate::entry::{Entry, Kind, Parent};
use crate::firsts::Firsts;
use crate::id::Key;
use crate::json::{Raw, Str};
use crate::line::{Line, LineReader};
use crate::prompt::{self, Voice};
use crate::tool::{self, Action};

/// Entries are seldom shorter, taken together.
const SHORT_ENTRY: u64 = 1536;
const MOST_EXPECTED: u64 = 1 << 20;

/// The uuid of nothing.
const NO_LEAF: &str = "00000000-0000-0000-0000-000000000000";

/// How many oddities are kept with their place; all are counted.
const KEPT_DIAGNOSTICS: usize = 1000;

/// So many bytes of what was said tell whether it was said again.
const TELLING_WORDS: usize = 1024;

/// The facts of a session so far.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    pub(super) nodes: Vec<Node>,
    pub(super) first_nodes: Firsts,
    /// Children that came before their parent, by the parent's key.
    pub(super) waiting: Vec<(u32, Key)>,
    /// The responses, in order of their first lines.
    pub(super) messages: Vec<Key>,
    pub(super) first_messages: Firsts,
    pub(super) sessions: Names,
    pub(super) tools: Names,
    pub(super) paths: Names,
    pub(super) models: Names,
    pub(super) versions: Names,
    pub(super) calls: Vec<Call>,
    pub(super) first_calls: Firsts,
    pub(super) repeated_calls: Vec<RepeatedCall>,
    /// What each user entry says, as a key: replays say the same.
    pub(super) words: Vec<(u32, Key)>,
    pub(super) unpaired: Vec<(Key, u32)>,
    /// Results of calls that had one already: call and node.
    pub(super) doubled: Vec<(u32, u32)>,
    pub(super) compactions: Vec<Compaction>,
    pub(super) touches: Vec<Touch>,
    pub(super) titles: Vec<Titles>,
    pub(super) stamps: Vec<Stamp>,
    pub(super) agents: Agents,
    pub(super) marks: Marks,
    pub(super) leaf: Option<(Key, u32)>,
    /// `last-prompt` lines that name no leaf at all: a person rewound to the start.
    pub(super) rewinds_to_start: Vec<u32>,
    pub(super) queue: Queue,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) diagnostic_counts: Vec<(DiagnosticKind, u64)>,
    /// The last node of each line of talk that has no `parentUuid`, by its `parent_tool_use_id`.
    pub(super) last_of: HashMap<Option<Key>, u32>,
    pub(super) source: u8,
    /// The numbers of the entries to take, if not all are.
    pub(super) only: Option<HashSet<u32>>,
    pub(super) number: u32,
    pub(super) lines: u64,
    pub(super) consumed: u64,
    pub(super) open_line: bool,
    pub(super) scratch: Vec<Diagnostic>,
    /// Whether the last line of the file so far gives the session a title that it had already.
    pub(super) repeats_title: bool,
}

impl Builder {
    /// A session without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// A session of which only what begins at `offset` will be read: entry numbers then count
    /// from there.
    pub fn from_offset(offset: u64) -> Self {
        Self { consumed: offset, ..Self::default() }
    }

    /// A session of which only the entries with these numbers will be read.
    pub fn of_entries(entries: HashSet<u32>) -> Self {
        Self { only: Some(entries), ..Self::default() }
    }

    /// Goes on with another file, of which only the entries with these numbers are taken: they
    /// belong to this session ([`super::Session::foreign_entries`]).
    pub fn adopt(&mut self, entries: HashSet<u32>) {
        self.source = self.source.saturating_add(1);
        self.only = Some(entries);
        (self.number, self.consumed, self.open_line) = (0, 0, false);
    }

    /// Where the next read of the current file has to begin: after the last whole record.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Lines read so far, an open one at the end included.
    pub fn lines(&self) -> u64 {
        self.lines + u64::from(self.open_line)
    }

    /// What is known so far of each entry. Roles are as they were met; what needs the whole is
    /// said by the session.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether the internal line that was read last gives the session a title it had already.
    pub fn repeats_title(&self) -> bool {
        self.repeats_title
    }

    /// The tool of a call met so far, by its id.
    pub fn tool_of(&self, call: Key) -> Option<&str> {
        let call = self.call_of(call)?;
        Some(self.tools.get(self.calls[call as usize].tool))
    }

    /// The first node with the key.
    pub(super) fn node_of(&self, key: Key) -> Option<u32> {
        self.first_nodes.get(key, |at| self.nodes[at].key)
    }

    /// The first call with the key.
    pub(super) fn call_of(&self, key: Key) -> Option<u32> {
        self.first_calls.get(key, |at| self.calls[at].key)
    }

    /// Makes room for what so many bytes may hold: tables that grow are filled again each time.
    /// Room that nothing is put into costs nothing.
    pub fn expect(&mut self, bytes: u64) {
        let entries = (bytes / SHORT_ENTRY).min(MOST_EXPECTED) as usize;
        self.nodes.reserve(entries);
        let nodes = &self.nodes;
        self.first_nodes.reserve(entries, |at| nodes[at].key);
    }

    /// Reads all lines of `input`, which begins where [`Builder::consumed`] says.
    pub fn read(&mut self, input: impl Read) -> io::Result<()> {
        // What was unfinished at the end of the last read is about to be read again.
        self.diagnostics.retain(|d| d.kind != DiagnosticKind::Unfinished);
        self.diagnostic_counts.retain(|(kind, _)| *kind != DiagnosticKind::Unfinished);
        let mut reader = LineReader::new(input, self.consumed);
        while let Some(line) = reader.next_line()? {
            self.line(line);
        }
        Ok(())
    }

    /// Takes one line. One without a newline is the file's end: taken only if it is whole.
    pub fn line(&mut self, line: Line<'_>) {
        if self.open_line && line.is_finished() && line.bytes.trim_ascii().is_empty() {
            self.consumed = line.offset + line.length;
            self.open_line = false;
            self.lines += 1;
            return;
        }
        let line = match line.is_finished() {
            true => line,
            false => self.whole_part(line),
        };
        if line.bytes.is_empty() {
            return;
        }
        let mut odd = std::mem::take(&mut self.scratch);
        // A record that goes on with a line which had no newline is glued to the one before.
        let mut is_glued = self.open_line;
        let mut glued = None;
        Entry::read(line, &mut odd, |entry| {
            if std::mem::take(&mut is_glued) && entry.kind != Kind::Damaged {
                glued = Some((entry.offset, entry.bytes.len() as u64));
            }
            self.push(&entry);
        });
        if let Some((offset, length)) = glued {
            self.note(DiagnosticKind::Glued, offset, length);
        }
        for diagnostic in odd.drain(..) {
            self.keep(diagnostic);
        }
        self.scratch = odd;
        self.took(line);
    }

    /// Whether the last line taken had no newline yet.
    pub(super) fn is_open(&self) -> bool {
        self.open_line
    }

    /// Counts a line whose entries were pushed.
    pub(super) fn took(&mut self, line: Line<'_>) {
        self.consumed = line.offset + line.length;
        self.open_line = !line.is_finished();
        self.lines += u64::from(line.is_finished());
    }

    /// The whole records at the beginning of a line without newline; the rest is noted and left
    /// for the next read.
    fn whole_part<'l>(&mut self, line: Line<'l>) -> Line<'l> {
        let (mut odd, mut end, mut is_broken) = (Vec::new(), line.offset, false);
        Entry::read(line, &mut odd, |entry| {
            is_broken |= entry.kind == Kind::Damaged;
            if !is_broken {
                end = entry.offset + entry.bytes.len() as u64;
            }
        });
        if line.is_condensed() && !is_broken {
            return line;
        }
        let whole = if line.is_condensed() { 0 } else { (end - line.offset) as usize };
        let rest = &line.bytes[whole..];
        if !rest.iter().all(u8::is_ascii_whitespace) {
            self.note(DiagnosticKind::Unfinished, end, line.length - whole as u64);
        }
        Line { length: whole as u64, bytes: &line.bytes[..whole], ..line }
    }

    fn note(&mut self, kind: DiagnosticKind, offset: u64, length: u64) {
        self.keep(Diagnostic { kind, offset, length });
    }

    pub(super) fn keep(&mut self, diagnostic: Diagnostic) {
        match self.diagnostic_counts.iter_mut().find(|(kind, _)| *kind == diagnostic.kind) {
            Some((_, count)) => *count += 1,
            None => self.diagnostic_counts.push((diagnostic.kind, 1)),
        }
        if self.diagnostics.len() < KEPT_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Takes one entry.
    pub fn push(&mut self, entry: &Entry<'_>) {
        self.number += 1;
        if self.only.as_ref().is_some_and(|only| !only.contains(&self.number)) {
            return;
        }
        let session = entry.session.map_or(NONE, |s| self.sessions.add(s));
        let index = self.nodes.len() as u32;
        let mut node = self.node(entry, session);
        match entry.kind {
            Kind::User => self.user(entry, index, &mut node),
            Kind::Assistant => self.assistant(entry, index, &mut node),
            Kind::System => self.system(entry, index, &mut node),
            Kind::Attachment => self.attachment(entry, index, &mut node),
            Kind::Progress => self.progress(entry),
            Kind::Bookkeeping => self.bookkeeping(entry, index, &mut node),
            Kind::Unknown | Kind::Damaged => {}
        }
        if entry.kind.is_chain() {
            self.marks.seen(entry, node.role);
            slot(&mut self.stamps, session).entry(entry);
            if let Some(version) = entry.version {
                self.versions.add(version);
            }
        }
        self.nodes.push(node);
    }

    fn node(&mut self, entry: &Entry<'_>, session: u32) -> Node {
        let index = self.nodes.len() as u32;
        let mut flags = 0;
        let mut set = |on: bool, bit: u16| flags |= if on { bit } else { 0 };
        // In stream-json a subagent's messages name its call.
        set(entry.is_sidechain || entry.parent_call.is_some(), flag::SIDECHAIN);
        set(entry.is_meta, flag::META);
        set(entry.is_team, flag::TEAM);
        let in_tree =
            entry.kind.is_chain() || (entry.kind == Kind::Damaged && entry.uuid.is_some());
        let key = match entry.uuid {
            Some(uuid) if in_tree => Key::of_str(uuid),
            _ => Key(u128::from(entry.offset) | 1 << 127 | u128::from(self.source) << 96),
        };
        let mut parent = NONE;
        if in_tree {
            flags |= flag::IN_TREE;
            // Before the key is added: until the node is there, the key can't be looked for.
            parent = self.parent(entry, index, key, &mut flags);
            if self.first_nodes.add(key, index, |at| self.nodes[at].key) != index {
                flags |= flag::REPEAT;
            }
        }
        Node {
            key,
            offset: entry.offset,
            at: entry.time.map_or(NO_TIME, |t| t.0),
            length: u32::try_from(entry.bytes.len()).unwrap_or(u32::MAX),
            number: self.number,
            parent,
            message: NONE,
            flags,
            session,
            source: self.source,
            kind: entry.kind,
            role: match entry.kind {
                Kind::User => Role::Injected,
                Kind::Assistant => Role::Answer,
                Kind::System => Role::Event,
                Kind::Progress => Role::Progress,
                // A copy of the system prompt for the client itself: it is not sent as a message.
                Kind::Attachment if entry.is_inner_type("prompt_snapshot") => Role::Bookkeeping,
                Kind::Attachment => Role::Attachment,
                Kind::Bookkeeping => Role::Bookkeeping,
                Kind::Unknown => Role::Unknown,
                Kind::Damaged => Role::Damaged,
            },
        }
    }

    fn parent(&mut self, entry: &Entry<'_>, index: u32, own: Key, flags: &mut u16) -> u32 {
        match entry.parent {
            Parent::Null => {
                *flags |= flag::ROOT;
                NONE
            }
            Parent::Id(id) => {
                let key = Key::of_str(id);
                match self.find(key) {
                    Some(parent) => parent,
                    None if key == own => {
                        *flags |= flag::CYCLE | flag::ORPHAN;
                        NONE
                    }
                    None => {
                        self.waiting.push((index, key));
                        NONE
                    }
                }
            }
            Parent::Absent => {
                let line = entry.parent_call.map(Key::of_str);
                self.last_of.insert(line, index).unwrap_or_else(|| {
                    *flags |= flag::ROOT;
                    NONE
                })
            }
        }
    }

    /// The first node with the key; mostly it is the last node of all.
    fn find(&self, key: Key) -> Option<u32> {
        match self.nodes.last() {
            Some(last) if last.key == key && last.has(flag::IN_TREE) && !last.is_repeat() => {
                Some(self.nodes.len() as u32 - 1)
            }
            _ => self.node_of(key),
        }
    }

    fn user(&mut self, entry: &Entry<'_>, index: u32, node: &mut Node) {
        let voice = Voice::of(entry);
        node.role = match voice {
            Voice::Prompt => Role::Prompt,
            Voice::Command => Role::Command,
            Voice::Shell => Role::Shell,
            Voice::Result => Role::Result,
            Voice::Summary => Role::Summary,
            Voice::Interrupt => Role::Interrupt,
            Voice::Notification => Role::Notification,
            Voice::Teammate => Role::Teammate,
            Voice::Injected => Role::Injected,
        };
        if node.has(flag::REPEAT) {
            return;
        }
        if voice == Voice::Result {
            for block in entry.blocks().iter().filter(|b| b.kind == BlockKind::ToolResult) {
                self.result(entry, block, index, node);
            }
            return;
        }
        let Some(text) = prompt::typed_text(entry) else { return };
        // Most versions flag a summary; all of them begin it with the same words.
        if voice == Voice::Prompt && text.starts_with(prompt::CONTINUED) {
            node.role = Role::Summary;
        }
        if node.role == Role::Summary {
            self.summary(index, node);
        }
        node.mark_local_command(&text);
        self.said(voice, &text, index, node);
    }

    /// What the words of a user entry tell: a title, a subagent's task, a task's end.
    fn said(&mut self, voice: Voice, text: &str, index: u32, node: &Node) {
        self.words.push((index, words_key(text)));
        if self.agents.task.is_none() && node.role != Role::Summary {
            let task = prompt::teammate_text(text).unwrap_or(text);
            self.agents.task = Some(Key::of(task.trim().as_bytes()));
        }
        if node.has(flag::SIDECHAIN) && node.parent == NONE && node.role == Role::Prompt {
            self.agents.inline.push((index, Key::of(text.trim().as_bytes())));
        }
        if voice == Voice::Notification {
            let agent = prompt::tagged(text, "task-id");
            let call = prompt::tagged(text, "tool-use-id").map(|id| Key::of(id.as_bytes()));
            if let Some(agent) = agent.filter(|_| !call.is_some_and(|key| self.is_command(key))) {
                self.agents.link(agent, AgentLink { call, kind: LinkKind::Notification });
            }
        }
        if node.has(flag::SIDECHAIN) {
            return;
        }
        if node.role.is_person() {
            self.titles(node.session).prompt(node.role, text);
        } else if node.role == Role::Teammate {
            let words = prompt::teammate_text(text).unwrap_or(text);
            self.titles(node.session).prompt(node.role, words);
        }
    }

    /// Whether a call runs a command: what it leaves in the background is not a subagent.
    fn is_command(&self, call: Key) -> bool {
        let tool = self.call_of(call).map(|at| self.tools.get(self.calls[at as usize].tool));
        tool.is_some_and(|tool| Action::of(tool) == Action::Run)
    }

    pub(super) fn titles(&mut self, session: u32) -> &mut Titles {
        slot(&mut self.titles, session)
    }

    fn result(&mut self, entry: &Entry<'_>, block: &Block<'_>, index: u32, node: &mut Node) {
        if block.is_error {
            node.flags |= flag::ERROR;
        }
        let Some(id) = block.id else { return };
        let key = Key::of_str(id);
        let Some(call) = self.call_of(key) else {
            return self.unpaired.push((key, index));
        };
        let call_index = call;
        let call = &mut self.calls[call_index as usize];
        if call.result != NONE {
            return self.doubled.push((call_index, index));
        }
        call.result = index;
        call.is_error = block.is_error;
        if Action::of(self.tools.get(call.tool)) == Action::Run {
            self.command_changes(entry, call_index);
        }
        let call = &mut self.calls[call_index as usize];
        match std::mem::replace(&mut call.started, Started::Other) {
            Started::Other => {}
            Started::Agent(task) => {
                call.started = Started::Agent(task);
                self.agent_result(entry, block, key);
            }
            Started::Edit(input) => {
                let tool = self.tools.get(call.tool).to_owned();
                let input = Raw::new(&input).ok();
                if !block.is_error
                    && let Some(change) =
                        tool::change(&tool, input, entry.tool_result, cwd(entry).as_deref())
                {
                    self.touch(change, call_index);
                }
            }
            Started::Commit(command) => self.commits(&command, entry, block, index),
        }
    }

    fn agent_result(&mut self, entry: &Entry<'_>, block: &Block<'_>, call: Key) {
        let shown = block.result_text();
        if let Some(run) = entry.tool_result.and_then(|r| r.string("runId")) {
            self.agents.runs.push((run.into(), call));
        }
        let named = tool::agent_of(entry.tool_result, None).map(|agent| (agent, LinkKind::Result));
        let by_text = || Some((tool::agent_of(None, shown.as_deref())?, LinkKind::Text));
        if let Some((agent, kind)) = named.or_else(by_text) {
            self.agents.link(&agent, AgentLink { call: Some(call), kind });
        }
    }

    fn command_changes(&mut self, entry: &Entry<'_>, call: u32) {
        for found in tool::command_changes(entry.tool_result, cwd(entry).as_deref()) {
            self.touch(found.change, call);
        }
    }

    fn touch(&mut self, change: tool::Change, call: u32) {
        let path = self.paths.add_text(&change.path);
        self.touches.push(Touch {
            path,
            call,
            added: change.added,
            removed: change.removed,
            created: change.created,
            deleted: change.deleted,
            estimated: change.estimated,
            unknown: change.unknown,
        });
    }

    fn commits(&mut self, command: &str, entry: &Entry<'_>, block: &Block<'_>, index: u32) {
        let output = block.result_text();
        let found = tool::commits(command, output.as_deref(), entry.tool_result);
        self.marks.commits.extend(found.into_iter().map(|commit| (index, commit)));
    }

    fn assistant(&mut self, entry: &Entry<'_>, index: u32, node: &mut Node) {
        let Some(message) = &entry.message else { return };
        if let Some(id) = message.id {
            node.message = self.message(Key::of_str(id));
        }
        if let Some(model) = message.model
            && !model.is("<synthetic>")
        {
            self.models.add(model);
        }
        let blocks = entry.blocks();
        let has = |kind| blocks.iter().any(|b| b.kind == kind);
        node.role = if entry.field("isApiErrorMessage").is_some_and(|v| v.bytes() == b"true") {
            Role::ApiError
        } else if message.model.is_some_and(|model| model.is("<synthetic>")) {
            // Claude Code wrote it in the place of an answer: the model said nothing.
            Role::Event
        } else if has(BlockKind::ToolUse) {
            Role::Call
        } else if has(BlockKind::Text) || blocks.is_empty() {
            Role::Answer
        } else if has(BlockKind::Thinking) || has(BlockKind::RedactedThinking) {
            Role::Thinking
        } else {
            Role::Answer
        };
        // A forked subagent's file begins with the call that started it, which its parent owns.
        if self.marks.fork_context.is_some() && node.role == Role::Call && node.has(flag::ROOT) {
            node.flags |= flag::COPY;
        }
        if message.stop_reason.is_some_and(|s| s.is("end_turn") || s.is("stop_sequence")) {
            node.flags |= flag::END_TURN;
        }
        if !node.has(flag::REPEAT) {
            let has_only_calls = blocks.iter().all(|b| b.kind == BlockKind::ToolUse);
            for block in blocks.iter().filter(|b| b.kind == BlockKind::ToolUse) {
                self.call(block, index, has_only_calls);
            }
        }
    }

    /// The number of a response; most often it is the last one again.
    fn message(&mut self, key: Key) -> u32 {
        let (next, known) = (self.messages.len() as u32, &self.messages);
        if known.last() == Some(&key) {
            return next - 1;
        }
        let number = self.first_messages.add(key, next, |at| known[at]);
        if number == next {
            self.messages.push(key);
        }
        number
    }

    fn call(&mut self, block: &Block<'_>, index: u32, has_only_calls: bool) {
        let tool = self.tools.add(block.name.unwrap_or(Str::new(b"")));
        let key = block.id.map_or(Key(u128::from(index) | 1 << 126), Key::of_str);
        let next = self.calls.len() as u32;
        let call = self.first_calls.add(key, next, |at| self.calls[at].key);
        if call != next {
            self.repeated_calls.push(RepeatedCall { call, node: index, has_only_calls });
            return;
        }
        let started = Started::of(self.tools.get(tool), block.input);
        self.calls.push(Call { key, tool, node: index, result: NONE, is_error: false, started });
    }

    fn system(&mut self, entry: &Entry<'_>, index: u32, node: &mut Node) {
        if entry.is_subtype("compact_boundary") {
            node.role = Role::Boundary;
            let compaction = Compaction::boundary(entry, index);
            self.compactions.push(compaction);
        } else if entry.is_subtype("api_error") {
            node.role = Role::ApiError;
        } else if entry.is_subtype("local_command") {
            self.local_command(entry, index, node);
        }
    }

    /// A command that the client carried out by itself, or what that printed: the client tells
    /// the model both.
    fn local_command(&mut self, entry: &Entry<'_>, index: u32, node: &mut Node) {
        let Some(text) = entry.string("content").filter(|text| !text.is_empty()) else { return };
        match prompt::of_text(&text) {
            Voice::Command => {
                node.role = Role::Command;
                node.mark_local_command(&text);
                self.words.push((index, words_key(&text)));
                self.titles(node.session).prompt(Role::Command, &text);
            }
            Voice::Injected => node.role = Role::Injected,
            _ => {}
        }
    }

    /// A summary belongs to the boundary before it, or stands for one (before there were any).
    fn summary(&mut self, index: u32, node: &Node) {
        match self.compactions.last_mut() {
            Some(last) if last.summary == NONE && last.is_boundary => last.summary = index,
            _ if node.has(flag::REPEAT) => {}
            _ => self.compactions.push(Compaction::summary(index)),
        }
    }

    fn attachment(&mut self, entry: &Entry<'_>, index: u32, node: &mut Node) {
        let Some(attachment) = entry.field("attachment") else { return };
        if !attachment.first("type").and_then(Raw::str).is_some_and(|t| t.is("queued_command")) {
            return;
        }
        let is_prompt =
            attachment.get("commandMode").and_then(Raw::str).is_none_or(|mode| mode.is("prompt"));
        let is_meta = attachment.get("isMeta").and_then(Raw::bool) == Some(true);
        if !is_prompt || is_meta {
            node.role = Role::Notification;
            return;
        }
        let text = prompt::typed_text(entry);
        match text.as_deref().map(prompt::of_text) {
            Some(Voice::Prompt) | None => node.role = Role::Queued,
            Some(Voice::Command) => node.role = Role::Command,
            Some(Voice::Notification) => node.role = Role::Notification,
            Some(Voice::Teammate) => node.role = Role::Teammate,
            Some(_) => {}
        }
        let Some(text) = text.filter(|_| !node.has(flag::SIDECHAIN | flag::REPEAT)) else { return };
        if node.role.is_person() {
            self.words.push((index, words_key(&text)));
        }
        if node.role == Role::Queued {
            self.titles(node.session).prompt(Role::Queued, &text);
        }
    }

    /// Of all signs of life only a subagent's matters: it names its call.
    fn progress(&mut self, entry: &Entry<'_>) {
        let Some(data) = entry.field("data") else { return };
        if !data.first("type").and_then(Raw::str).is_some_and(|t| t.is("agent_progress")) {
            return;
        }
        let Some(agent) = data.string("agentId") else { return };
        let call = entry.field("parentToolUseID").and_then(Raw::str).map(Key::of_str);
        self.agents.link(&agent, AgentLink { call, kind: LinkKind::Progress });
    }

    fn bookkeeping(&mut self, entry: &Entry<'_>, index: u32, node: &mut Node) {
        if entry.is_type("queue-operation") {
            self.queue_operation(entry, index, node);
        }
        if entry.is_type("last-prompt")
            && let Some(leaf) = entry.leaf
        {
            match leaf.is(NO_LEAF) {
                true => self.rewinds_to_start.push(index),
                false => self.leaf = Some((Key::of_str(leaf), index)),
            }
        }
        self.repeats_title = self.titles(node.session).line(entry);
        self.marks.line(entry, self.number);
    }
}

/// The working directory that an entry names.
fn cwd<'a>(entry: &Entry<'a>) -> Option<std::borrow::Cow<'a, str>> {
    entry.cwd.map(Str::text)
}

/// What is kept for each session id; the first place is for entries without one.
fn slot<T: Default>(all: &mut Vec<T>, session: u32) -> &mut T {
    let at = if session == NONE { 0 } else { session as usize + 1 };
    if all.len() <= at {
        all.resize_with(at + 1, T::default);
    }
    &mut all[at]
}

/// The words of a person's entry as a key: a slash command is the same however it is written.
pub(super) fn words_key(text: &str) -> Key {
    let text = prompt::one_line(text);
    let text = text.trim().as_bytes();
    Key::of(&text[..text.len().min(TELLING_WORDS)])
}

impl Marks {
    /// Remembers who wrote the entries, and how.
    fn seen(&mut self, entry: &Entry<'_>, role: Role) {
        if self.lineage.is_none()
            && let Some(lineage) = entry.lineage
        {
            self.lineage = Some(lineage.text().into());
        }
        if self.agent.is_none()
            && let Some(agent) = entry.agent
        {
            self.agent = Some(agent.text().into());
        }
        if role.is_model() || role == Role::Prompt {
            self.chain_extras(entry);
        }
    }
}

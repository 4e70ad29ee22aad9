//! What a file tells of how its responses came about: what they hang on, what was left, compacted,
//! read again and called again. One file at a time; money is not known here.

use crate::entry::message::{Block, BlockKind};
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::json::Raw;
use crate::layout::Problem;
use crate::line::LineReader;
use crate::session::{Role, Session, State};
use crate::source::Source;
use crate::time::Time;
use crate::tool::{self, Action, ToolForm};
use hashbrown::{HashMap, HashSet};

/// An entry, as far as money goes.
#[derive(Debug, Clone, Copy)]
pub struct TraceStep {
    /// Where the entry begins.
    pub offset: u64,
    /// Its number in the file.
    pub number: u32,
    /// When it was written.
    pub time: Option<Time>,
    /// The entry it hangs on.
    pub up: Option<u32>,
    /// Its segment.
    pub segment: Option<u32>,
    /// Its abandoned branch, if it is on one.
    pub branch: Option<u32>,
    /// Whether it is on no path to the current end.
    pub is_abandoned: bool,
    /// The first line of the response that it is a part of.
    pub response: u32,
}

/// What the API says of a cache that was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMiss {
    /// Another model was asked.
    Model,
    /// The tools changed.
    Tools,
    /// The system prompt changed.
    System,
    /// Earlier messages changed.
    Messages,
}

/// A compaction.
#[derive(Debug, Clone)]
pub struct CompactionTrace {
    /// The entry.
    pub node: u32,
    /// Its key, to tell copies.
    pub key: Key,
    /// `auto` or `manual`.
    pub trigger: Option<Box<str>>,
    /// Tokens before.
    pub before: Option<u64>,
    /// Tokens after.
    pub after: Option<u64>,
    /// The segment that begins with it.
    pub segment: u32,
}

/// A file that was read again although the model had it.
#[derive(Debug, Clone)]
pub struct FileReread {
    /// The entry.
    pub node: u32,
    /// The file.
    pub path: String,
    /// Claude Code noticed, and gave a line instead of the file.
    pub is_noticed: bool,
    /// Characters that the model was given; `None` if it was no text.
    pub chars: Option<u64>,
}

/// A call that was made again as it was after it had failed.
#[derive(Debug, Clone)]
pub struct RepeatedCall {
    /// The entry.
    pub node: u32,
    /// The tool.
    pub tool: String,
    /// Whether it failed again.
    pub has_failed: bool,
}

/// The API failed and was asked again.
#[derive(Debug, Clone)]
pub struct ApiFailure {
    /// The entry.
    pub node: u32,
    /// Its key, to tell copies.
    pub key: Key,
    /// Milliseconds until the next try.
    pub wait_ms: u64,
}

/// Nobody waits for longer than a day.
const LONGEST_WAIT: f64 = 86_400_000.0;

/// What a file tells beside its responses.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The session it names.
    pub session: Option<String>,
    /// The folder it began in.
    pub project: Option<String>,
    /// The calls on branches that were left, by their keys.
    pub abandoned_calls: Vec<Key>,
    /// All entries, in the order of the file.
    pub steps: Vec<TraceStep>,
    /// Prompts of a person, with their keys.
    pub prompts: Vec<(u32, Key)>,
    /// Compactions.
    pub compactions: Vec<CompactionTrace>,
    /// Entries where old results were emptied, which changes what was said before them.
    pub emptied: Vec<u32>,
    /// Why the cache was missed, by the first entry of the response.
    pub misses: HashMap<u32, CacheMiss>,
    /// Files that were read again.
    pub rereads: Vec<FileReread>,
    /// Calls that were made again.
    pub again: Vec<RepeatedCall>,
    /// Failures of the API.
    pub api_errors: Vec<ApiFailure>,
}

impl Trace {
    /// Reads what the session of a file tells.
    pub fn of(session: &Session, source: &Source) -> Result<Self, Problem> {
        let mut gather = Gather::new(session);
        let mut lines = LineReader::new(source.reader(0), 0);
        let failed = |error| Problem::new(source.path(), error);
        while let Some(line) = lines.next_line().map_err(failed)? {
            Entry::read(line, &mut Vec::new(), |entry| gather.entry(&entry));
        }
        Ok(gather.trace)
    }

    /// Leaves out what another file owns.
    pub fn forget(&mut self, is_copy: impl Fn(Key) -> bool) {
        self.prompts.retain(|(_, key)| !is_copy(*key));
        self.compactions.retain(|compaction| !is_copy(compaction.key));
        self.api_errors.retain(|error| !is_copy(error.key));
    }

    /// The entry that begins at an offset.
    pub fn entry_at(&self, offset: u64) -> Option<u32> {
        let found = self.steps.binary_search_by_key(&offset, |step| step.offset);
        found.ok().map(|node| node as u32)
    }

    /// An entry by its place.
    pub fn step_at(&self, node: u32) -> &TraceStep {
        &self.steps[node as usize]
    }
}

/// A call on its way to its result.
struct Open {
    node: u32,
    tool: String,
    /// Tool and input.
    same: Key,
    path: Option<String>,
    range: Key,
    again: Option<usize>,
}

/// What the model was given of a file: in which segment and branch, which part, what stood there.
type Given = (Option<u32>, Option<u32>, Key, Key);

struct Gather<'a> {
    session: &'a Session,
    trace: Trace,
    open: HashMap<Key, Open>,
    /// By path.
    known: HashMap<String, HashSet<Given>>,
    /// Calls that failed, and how much had been done by then.
    failed: HashMap<Key, u64>,
    done: u64,
}

impl<'a> Gather<'a> {
    fn new(session: &'a Session) -> Self {
        let mut firsts: HashMap<u32, u32> = HashMap::new();
        let mut steps = Vec::with_capacity(session.nodes().len());
        for (at, node) in session.nodes().iter().enumerate() {
            let own = at as u32;
            let response = node.response().map_or(own, |r| *firsts.entry(r).or_insert(own));
            steps.push(TraceStep {
                offset: node.offset,
                number: node.number,
                time: node.time(),
                up: session.parent(at).map(|up| up as u32),
                segment: session.segment_of(at).map(|segment| segment as u32),
                branch: session.branch_of(at).map(|branch| branch as u32),
                is_abandoned: session.state(at) == State::Abandoned,
                response,
            });
        }
        let left = session.own_calls().filter(|c| session.branch_of(c.node()).is_some());
        let trace = Trace {
            session: session.id().map(|id| id.to_string()),
            project: session.project().map(Into::into),
            abandoned_calls: left.map(|call| call.key()).collect(),
            compactions: compactions(session),
            steps,
            ..Trace::default()
        };
        Self {
            session,
            trace,
            open: HashMap::new(),
            known: HashMap::new(),
            failed: HashMap::new(),
            done: 0,
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        let Some(node) = self.trace.entry_at(entry.offset) else { return };
        if !self.session.counts(node as usize) {
            return;
        }
        let (role, key) = {
            let node = &self.session.nodes()[node as usize];
            (node.role, node.key)
        };
        if role.is_person() {
            // What a person says may be a reason to try again.
            self.failed.clear();
            if matches!(role, Role::Prompt | Role::Queued) {
                self.trace.prompts.push((node, key));
            }
        }
        match entry.kind {
            Kind::Assistant => self.said(node, entry),
            Kind::User => {
                let results = |block: &&Block<'_>| block.kind == BlockKind::ToolResult;
                entry.blocks().iter().filter(results).for_each(|b| self.result(entry, b));
            }
            Kind::System if entry.is_subtype("microcompact_boundary") => {
                self.trace.emptied.push(node);
            }
            Kind::System if entry.is_subtype("api_error") => {
                let wait_ms = entry.field("retryInMs").and_then(Raw::f64).unwrap_or(0.0);
                let wait_ms = wait_ms.clamp(0.0, LONGEST_WAIT).round() as u64;
                self.trace.api_errors.push(ApiFailure { node, key, wait_ms });
            }
            _ => {}
        }
    }

    fn said(&mut self, node: u32, entry: &Entry<'_>) {
        if let Some(miss) = miss(entry) {
            self.trace.misses.insert(self.trace.step_at(node).response, miss);
        }
        for block in entry.blocks().iter().filter(|b| b.kind == BlockKind::ToolUse) {
            if let (Some(id), Some(name)) = (block.id, block.name) {
                let cwd = entry.cwd.map(|cwd| cwd.text());
                let input = (block.input, cwd.as_deref());
                self.call(node, Key::of_str(id), name.text().into_owned(), input);
            }
        }
    }

    fn call(
        &mut self,
        node: u32,
        call: Key,
        tool: String,
        (input, cwd): (Option<Raw<'_>>, Option<&str>),
    ) {
        let bytes = input.map_or(&[][..], Raw::bytes);
        let same = Key::of(&[tool.as_bytes(), b"\0", bytes].concat());
        let path = tool::path_of(&tool, input, None, cwd).map(|path| path.into_owned());
        let part = |key: &str| input.and_then(|i| i.get(key)).map_or(&b"-"[..], Raw::bytes);
        let range = Key::of(&[part("offset"), b" ", part("limit"), b" ", part("pages")].concat());
        let is_again = self.failed.get(&same).is_some_and(|done| *done == self.done);
        let again = is_again.then(|| {
            let again = RepeatedCall { node, tool: tool.clone(), has_failed: false };
            self.trace.again.push(again);
            self.trace.again.len() - 1
        });
        self.open.insert(call, Open { node, tool, same, path, range, again });
    }

    fn result(&mut self, entry: &Entry<'_>, block: &Block<'_>) {
        let Some(call) = block.id.and_then(|id| self.open.remove(&Key::of_str(id))) else {
            return;
        };
        if block.is_error && is_denial(entry, block, &call.tool) {
            self.failed.clear();
            return;
        }
        if block.is_error {
            self.failed.insert(call.same, self.done);
            if let Some(again) = call.again {
                self.trace.again[again].has_failed = true;
            }
            return;
        }
        match (Action::of(&call.tool), &call.path) {
            (Action::Edit, Some(path)) => {
                self.done += 1;
                self.known.remove(path);
            }
            (Action::Read, Some(_)) if ToolForm::of(&call.tool) == ToolForm::FileText => {
                self.read(entry, block, call)
            }
            (Action::Read | Action::Plan, _) => {}
            _ => self.done += 1,
        }
    }

    fn read(&mut self, entry: &Entry<'_>, block: &Block<'_>, call: Open) {
        let Open { node, path: Some(path), range, .. } = call else { return };
        let result = entry.tool_result.filter(|raw| raw.is_object());
        let is = |name: &str| {
            result.and_then(|r| r.get("type")?.str()).is_some_and(|kind| kind.is(name))
        };
        let is_noticed = is("file_unchanged");
        let text = result.and_then(|r| r.get("file")?.some("content")).or(block.content);
        let step = self.trace.step_at(node);
        let text = Key::of(text.map_or(&[][..], Raw::bytes));
        let given = (step.segment, step.branch, range, text);
        let is_known = !is_noticed && !self.known.entry_ref(&path).or_default().insert(given);
        if is_noticed || is_known {
            let chars = block.content.and_then(chars);
            self.trace.rereads.push(FileReread { node, path, is_noticed, chars });
        }
    }
}

/// Whether a person said no, which is no failure.
fn is_denial(entry: &Entry<'_>, block: &Block<'_>, tool: &str) -> bool {
    let said = block.content.and_then(|content| content.text());
    ToolForm::of(tool).waits_for_person()
        || entry.field("toolDenialKind").is_some_and(|kind| !kind.is_null())
        || said.is_some_and(|said| said.starts_with("The user doesn't want to"))
}

fn compactions(session: &Session) -> Vec<CompactionTrace> {
    let all = session.compactions().iter().enumerate();
    let own = all.filter(|(_, compaction)| session.counts(compaction.node()));
    own.map(|(at, compaction)| CompactionTrace {
        node: compaction.node() as u32,
        key: session.nodes()[compaction.node()].key,
        trigger: compaction.trigger.clone(),
        before: compaction.pre_tokens,
        after: compaction.post_tokens,
        segment: at as u32 + 1,
    })
    .collect()
}

/// Characters of a text, or of the texts of blocks; `None` if there is anything else.
fn chars(content: Raw<'_>) -> Option<u64> {
    if let Some(text) = content.text() {
        return Some(text.chars().count() as u64);
    }
    let texts = content.items().map(|item| Some(item.string("text")?.chars().count() as u64));
    content.is_array().then(|| texts.sum::<Option<u64>>()).flatten()
}

/// The reason for a miss of the cache, where the API gives one. Since 2.1.119.
fn miss(entry: &Entry<'_>) -> Option<CacheMiss> {
    let fields = &entry.message.as_ref()?.fields;
    let (_, diagnostics) = fields.iter().find(|(key, _)| key.is("diagnostics"))?;
    let reason = diagnostics.get("cache_miss_reason")?.string("type")?;
    Some(match &*reason {
        "model_changed" => CacheMiss::Model,
        "tools_changed" => CacheMiss::Tools,
        "system_changed" => CacheMiss::System,
        "messages_changed" => CacheMiss::Messages,
        _ => return None,
    })
}

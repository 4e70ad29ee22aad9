//! Records one after the other: what stands between them, and subagents below their calls.
//!
//! One record is in memory at a time, and one session for each subagent that the reader is in.

use std::collections::HashMap;

use report::show::{self, Hidden, Left, Part};
use transcript::id::Key;
use transcript::library::Agent;
use transcript::reading::EntryReading;
use transcript::record::{Body, CallRecord, Opened, Record};
use transcript::session::{Session, State};
use transcript::side::tool_output;
use transcript::source::Source;
use transcript::time::Time;

use super::page::{Block, Fold, Page};
use super::{body, call};
use crate::error::{CliError, Talk};
use crate::terminal::format::{self, counted, duration};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire::record::{Record as Wire, Stand};
use ask::read;
use ask::sessions::Family;

/// A pause longer than this is shown.
const PAUSE_MS: i64 = 30 * 60 * 1000;
/// Subagents of subagents are followed so far.
pub const DEPTH_MOST: usize = 32;

/// The model that spoke last is looked for in so many entries.
const NEAR: usize = 200;

/// Entries to be shown.
#[derive(Clone, Copy)]
pub struct Passage<'a> {
    /// What comes before them, which is not shown.
    pub before: &'a [usize],
    /// The entries.
    pub nodes: &'a [usize],
    /// Branches that were left.
    pub left: &'a [Left],
}

/// What is shown, and where its lines come from.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    /// The session, or a subagent's.
    pub opened: &'a Opened<'a>,
    /// Its files.
    pub sources: &'a [Source],
    /// The subagent.
    pub agent: Option<&'a str>,
    /// Only the end of the file was read.
    pub is_tail: bool,
}

/// The saved output `name` beside a transcript; where the transcript comes from the store, so does
/// the output.
fn saved(transcript: &Source, name: &str) -> Option<Source> {
    let folder = tool_output::session_folder(transcript.path())?;
    if let Some(path) = tool_output::locate(&folder, name) {
        return Source::open(&path).ok();
    }
    let path = tool_output::beside(transcript.path(), name)?;
    // `projects/<slug>/<session>` is below the Claude folder.
    let root = folder.ancestors().nth(3)?;
    transcript.kept_beside(path.strip_prefix(root).ok()?, &path)
}

/// Shows records.
pub struct Viewer<'a> {
    /// Where text goes.
    pub page: Page<'a>,
    /// What the level hid.
    pub hidden: Hidden,
    /// How many records were shown.
    pub shown: usize,
    /// How to see what is folded, where that is not a flag.
    pub unfold: Option<&'static str>,
    talk: &'a mut Talk,
    json: bool,
    family: Option<Family<'a>>,
    session_id: Option<String>,
    /// The subagents that each call started, by index.
    started: HashMap<Key, Vec<usize>>,
    placed: Vec<bool>,
}

impl<'a> Viewer<'a> {
    /// A viewer of a session; without its family no subagents are known.
    pub fn new(
        page: Page<'a>,
        talk: &'a mut Talk,
        json: bool,
        family: Option<Family<'a>>,
        session_id: Option<String>,
    ) -> Self {
        let agents = agents(family);
        let mut started: HashMap<Key, Vec<usize>> = HashMap::new();
        for (at, agent) in agents.iter().enumerate().filter(|(_, a)| a.file.is_some()) {
            if let Some(call) = agent.call.filter(|_| agent.internal.is_none()) {
                started.entry(call).or_default().push(at);
            }
        }
        let placed = vec![false; agents.len()];
        let hidden = Hidden::default();
        let unfold = None;
        Self { page, hidden, shown: 0, unfold, talk, json, family, session_id, started, placed }
    }

    /// Shows these entries of a session.
    pub fn show(
        &mut self,
        stage: Stage<'_>,
        nodes: &[usize],
        left: &[Left],
    ) -> Result<(), CliError> {
        let passage = Passage { before: &[], nodes, left };
        let flow = self.passage(stage, &Links::of(stage.opened), passage)?;
        self.end(flow)
    }

    /// Shows entries as they are shown after those before them; what stands between them and what
    /// follows is left to [`Viewer::end`].
    pub fn passage<'p>(
        &mut self,
        stage: Stage<'_>,
        links: &Links,
        passage: Passage<'p>,
    ) -> Result<Flow<'p>, CliError> {
        let mut flow = Flow::new(passage.left);
        flow.catch_up(&mut self.page, stage.opened, passage.before);
        for &node in passage.nodes {
            flow.reach(&self.page, stage.opened.session(), node);
            if stage.opened.detail(node) > self.page.look.detail {
                self.hidden.add(stage.opened, node);
            } else {
                match stage.opened.record(node) {
                    Ok(Some(mut record)) => {
                        self.page.out().cover(&mut record);
                        self.record(stage, &record, links, &mut flow)?;
                    }
                    Ok(None) => {}
                    Err(problem) => self.talk.skip(problem),
                }
            }
            flow.passed(node);
        }
        Ok(flow)
    }

    /// Ends a passage that nothing follows.
    pub fn end(&mut self, mut flow: Flow<'_>) -> Result<(), CliError> {
        if self.json { Ok(()) } else { flow.flush(&mut self.page) }
    }

    /// Shows one record.
    fn record(
        &mut self,
        stage: Stage<'_>,
        record: &Record,
        links: &Links,
        flow: &mut Flow<'_>,
    ) -> Result<(), CliError> {
        self.shown += 1;
        if self.json {
            let depth = self.page.depth();
            self.page.out().json(&wire(self.session_id.as_deref(), stage, record, depth))?;
            return self.subagents(stage, record, links);
        }
        flow.flush(&mut self.page)?;
        flow.model(&mut self.page, record)?;
        body::place(&mut self.page, record)?;
        let unfold = self.unfold.map(str::to_owned);
        let hint = unfold.or_else(|| hint(stage, record.number, record.offset));
        body::body(&mut self.page, record, hint.as_deref())?;
        if let Body::Calls { calls, .. } = &record.body {
            for call in calls {
                self.call(stage, call, links, hint.as_deref())?;
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        stage: Stage<'_>,
        call: &CallRecord,
        links: &Links,
        hint: Option<&str>,
    ) -> Result<(), CliError> {
        call::line(&mut self.page, call)?;
        call::input(&mut self.page, call, hint)?;
        let before = self.shown;
        self.children(stage, call.key, links)?;
        // The last words of a subagent are its result, and have just been read.
        if self.shown == before || self.page.look.has_places() {
            call::outcome(&mut self.page, call, hint)?;
        }
        self.saved_output(stage, call)
    }

    /// An output that was too long for the transcript: where it lies, and with `--entry` all of it.
    fn saved_output(&mut self, stage: Stage<'_>, call: &CallRecord) -> Result<(), CliError> {
        let text = call.outcome.as_ref().and_then(|outcome| outcome.text.as_deref());
        let Some(name) = text.and_then(tool_output::persisted_name) else { return Ok(()) };
        let found = stage.sources.first().and_then(|source| saved(source, name));
        if let Some(source) = found.as_ref().filter(|_| self.page.look.fold == Fold::Whole) {
            match read::whole_source(source) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes);
                    self.page.folded(style::DIM, call::BELOW, &text, None)?;
                }
                Err(problem) => self.talk.skip(problem),
            }
        }
        let state = found.and_then(|source| {
            let place = if source.is_kept() { "kept in the store" } else { "kept" };
            Some(format!("{}, {place}", format::size(source.size().ok()?)))
        });
        let state = state.unwrap_or_else(|| "gone".into());
        let line = safe::line(&format!("whole output: tool-results/{name} ({state})"));
        Ok(self.page.line(&format!("{}{}", call::BELOW, paint(style::DIM, &line)))?)
    }

    fn subagents(
        &mut self,
        stage: Stage<'_>,
        record: &Record,
        links: &Links,
    ) -> Result<(), CliError> {
        let Body::Calls { calls, .. } = &record.body else { return Ok(()) };
        calls.iter().try_for_each(|call| self.children(stage, call.key, links))
    }

    /// What the subagents of a call did.
    fn children(&mut self, stage: Stage<'_>, call: Key, links: &Links) -> Result<(), CliError> {
        let files = self.started.get(&call).cloned().unwrap_or_default();
        let inline = links.inline.get(&call).cloned().unwrap_or_default();
        if !self.page.look.subagents || self.page.depth() >= DEPTH_MOST {
            let count = files.len() + inline.len();
            (0..count).for_each(|_| self.hidden.count(("subagent", "subagents")));
            return Ok(());
        }
        for at in files {
            if !std::mem::replace(&mut self.placed[at], true) {
                self.agent(at)?;
            }
        }
        for root in inline {
            let nodes = links.members(root as u32);
            self.page.enter();
            self.agent_head(&format!(
                "subagent in the same file · {}",
                show::entries(nodes.len())
            ))?;
            let agent = format!("inline-{}", stage.opened.number(root).unwrap_or(0));
            let result = self.show(Stage { agent: Some(&agent), ..stage }, &nodes, &[]);
            self.page.leave();
            result?;
        }
        self.lost(call, links)
    }

    /// A subagent with a file of its own.
    fn agent(&mut self, at: usize) -> Result<(), CliError> {
        let Some(family) = self.family else { return Ok(()) };
        let agent = &family.item.agents[at];
        let (session, source) = match family.agent(agent) {
            Some(Ok(read)) => read,
            Some(Err(problem)) => {
                self.talk.skip(problem);
                return Ok(());
            }
            None => return Ok(()),
        };
        let sources = [source];
        let opened = Opened::new(&session, &sources, false);
        let stage = Stage {
            opened: &opened,
            sources: &sources,
            agent: Some(agent.id.as_str()),
            is_tail: false,
        };
        let nodes = show::nodes(&session, Part::Way)?;
        let cwd = std::mem::replace(&mut self.page.cwd, session.cwd().map(str::to_owned));
        self.page.enter();
        self.agent_head(&about(agent, &session))?;
        let result = self.show(stage, &nodes, &show::left(&session));
        self.page.leave();
        self.page.cwd = cwd;
        result
    }

    fn agent_head(&mut self, words: &str) -> Result<(), CliError> {
        if !self.json {
            self.page.begin(Block::Band)?;
            self.page.line(&paint(style::DIM, &safe::line(words)))?;
        }
        Ok(())
    }

    /// Subagents that are named and not there.
    fn lost(&mut self, call: Key, links: &Links) -> Result<(), CliError> {
        let known = agents(self.family);
        let is_known = |id: &String| known.iter().any(|agent| agent.id.as_str() == id);
        let named = links.named.get(&call).into_iter().flatten();
        for id in named.filter(|id| !is_known(id)) {
            let why = match self.family {
                Some(_) => "subagent file missing",
                None => "subagent not read: name the session by its id",
            };
            if !self.json {
                let words = paint(style::DIM, &format!("      {why} ({})", safe::line(id)));
                self.page.line(&words)?;
            }
        }
        Ok(())
    }

    /// Subagents that no call shown here started: internal ones, and those of no known call.
    pub fn elsewhere(&self) -> Option<String> {
        let all = agents(self.family);
        let internal = all.iter().filter(|agent| agent.internal.is_some()).count();
        let is_loose = |agent: &&Agent| {
            agent.internal.is_none() && agent.file.is_some() && agent.call.is_none()
        };
        let loose = all.iter().filter(is_loose).count();
        let counts = [(internal, "internal subagent"), (loose, "subagent of no known call")];
        let words: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, one)| match one.split_once(" of ") {
                Some((one, rest)) => format!("{} of {rest}", counted(*count, one)),
                None => counted(*count, one),
            })
            .collect();
        (!words.is_empty()).then(|| format!("beside this: {}", words.join(", ")))
    }
}

fn agents(family: Option<Family<'_>>) -> &[Agent] {
    family.map_or(&[], |family| &family.item.agents)
}

/// A subagent in a few words.
pub fn about(agent: &Agent, session: &Session) -> String {
    let mut words = vec![format!("subagent {}", agent.id.as_str())];
    words.extend(agent.agent_type.as_deref().map(str::to_owned));
    words.extend(session.models().map(str::to_owned));
    words.push(counted(session.calls().len(), "call"));
    if let (Some(first), Some(last)) = (session.first_time(), session.last_time()) {
        words.push(duration(last.since(first)));
    }
    words.join(" · ")
}

/// How to see an entry whole; entries of subagents' files have no name in this session.
fn hint(stage: Stage<'_>, number: Option<u32>, offset: u64) -> Option<String> {
    if stage.agent.is_some_and(|agent| !agent.starts_with("inline-")) {
        return None;
    }
    Some(match number {
        Some(number) => format!("--entry {number}"),
        None => format!("--entry @{offset}"),
    })
}

/// The wire form of a record.
pub fn wire<'a>(
    session_id: Option<&'a str>,
    stage: Stage<'a>,
    record: &'a Record,
    depth: usize,
) -> Wire<'a> {
    let last = stage.sources.len() - 1;
    let file = stage.sources[usize::from(record.source).min(last)].path().display().to_string();
    Wire::new(record, Stand { session_id, agent_id: stage.agent, depth, file })
}

/// What a session's own entries say of subagents.
#[derive(Default)]
pub struct Links {
    /// Subagents that are named with a call.
    pub named: HashMap<Key, Vec<String>>,
    /// First nodes of sidechains in the same file, by their call.
    pub inline: HashMap<Key, Vec<usize>>,
    /// Nodes of sidechains with their first node, sorted by node.
    members: Vec<(u32, u32)>,
}

impl Links {
    /// What a session says.
    pub fn of(opened: &Opened<'_>) -> Self {
        let mut links = Self::default();
        for (agent, link) in opened.session().agent_links() {
            if let Some(call) = link.call {
                links.named.entry(call).or_default().push(agent.to_owned());
            }
        }
        links.sidechains(opened.session());
        let mut roots: Vec<u32> = links.members.iter().map(|(_, root)| *root).collect();
        roots.sort_unstable();
        roots.dedup();
        for root in roots {
            if let Some(call) = caller(opened, root as usize) {
                links.inline.entry(call).or_default().push(root as usize);
            }
        }
        links
    }

    fn sidechains(&mut self, session: &Session) {
        let mut roots: HashMap<u32, u32> = HashMap::new();
        for node in (0..session.nodes().len()).filter(|&n| session.state(n) == State::Aside) {
            let up = session.parent(node).and_then(|up| roots.get(&(up as u32)).copied());
            let root = up.unwrap_or(node as u32);
            roots.insert(node as u32, root);
            self.members.push((node as u32, root));
        }
    }

    /// The nodes of a sidechain, by its first.
    pub fn members(&self, root: u32) -> Vec<usize> {
        let of_root = self.members.iter().filter(|(_, r)| *r == root);
        of_root.map(|(node, _)| *node as usize).collect()
    }
}

/// The call that started a sidechain: the one with the same task, else the one it names.
fn caller(opened: &Opened<'_>, root: usize) -> Option<Key> {
    let session = opened.session();
    let task = session.inline_agents().iter().find(|(node, _)| *node as usize == root);
    let by_task = task.and_then(|(_, task)| {
        session.calls().iter().find(|call| call.task() == Some(*task)).map(|call| call.key())
    });
    by_task.or_else(|| {
        let bytes = opened.bytes(root).ok()?;
        EntryReading::from_bytes(&bytes).parent_call()
    })
}

/// What stands between two records: pauses, days, branches that were left, another model.
pub struct Flow<'a> {
    left: &'a [Left],
    pending: Vec<String>,
    time: Option<Time>,
    pause: i64,
    day: Option<String>,
    new_day: Option<String>,
    model: Option<String>,
}

impl<'a> Flow<'a> {
    fn new(left: &'a [Left]) -> Self {
        Self {
            left,
            pending: Vec::new(),
            time: None,
            pause: 0,
            day: None,
            new_day: None,
            model: None,
        }
    }

    /// Stands as after these entries have been shown.
    fn catch_up(&mut self, page: &mut Page<'_>, opened: &Opened<'_>, before: &[usize]) {
        let session = opened.session();
        let level = page.look.detail;
        let is_shown = |n: &usize| opened.detail(*n) <= level && !opened.is_shown_elsewhere(*n);
        let last = before.iter().rposition(is_shown);
        if let Some(&shown) = last.map(|last| &before[last]) {
            self.reach(page, session, shown);
            (self.pause, self.new_day) = (0, None);
            self.passed(shown);
            page.follows(Block::of(session.nodes()[shown].role));
            let is_model = |n: &&usize| session.nodes()[**n].is_by_model();
            let spoke = before.iter().rev().take(NEAR).find(is_model);
            self.model = spoke.and_then(|&node| opened.model(node).ok().flatten());
        } else {
            self.fork(None);
        }
        for &node in &before[last.map_or(0, |last| last + 1)..] {
            self.reach(page, session, node);
            self.passed(node);
        }
    }

    /// Before an entry, shown or not.
    fn reach(&mut self, page: &Page<'_>, session: &Session, node: usize) {
        let entry = &session.nodes()[node];
        let Some(time) = entry.time().filter(|_| entry.is_talk_link()) else {
            return;
        };
        if let Some(before) = self.time {
            self.pause = self.pause.max(time.since(before));
        }
        // Times go back where history was copied; only what goes on is a pause.
        self.time = self.time.max(Some(time));
        let day = page.clock.day(time);
        if self.day.as_ref().is_some_and(|known| *known < day) {
            self.new_day = Some(day.clone());
        }
        self.day = self.day.take().max(Some(day));
    }

    /// After an entry, shown or not.
    fn passed(&mut self, node: usize) {
        self.fork(Some(node));
    }

    fn fork(&mut self, at: Option<usize>) {
        for left in self.left.iter().filter(|left| left.at == at) {
            let attempts = counted(left.numbers.len(), "abandoned attempt");
            let prompts = counted(left.prompts, "prompt");
            let flags: Vec<String> =
                left.numbers.iter().take(5).map(|n| format!("`--branch {n}`")).collect();
            let more = if left.numbers.len() > 5 { ", …" } else { "" };
            self.pending.push(format!("{attempts}, {prompts}: {}{more}", flags.join(", ")));
        }
    }

    fn flush(&mut self, page: &mut Page<'_>) -> Result<(), CliError> {
        for words in std::mem::take(&mut self.pending) {
            page.band(style::DIM, &words)?;
        }
        let mut words: Vec<String> = self.new_day.take().into_iter().collect();
        let pause = std::mem::take(&mut self.pause);
        if pause >= PAUSE_MS {
            words.push(format!("{} later", duration(pause)));
        }
        if !words.is_empty() {
            page.band(style::DIM, &words.join(" · "))?;
        }
        Ok(())
    }

    fn model(&mut self, page: &mut Page<'_>, record: &Record) -> Result<(), CliError> {
        let Some(model) = &record.model else { return Ok(()) };
        if let Some(before) = self.model.as_ref().filter(|before| *before != model) {
            page.band(style::DIM, &format!("model: {before} → {model}"))?;
        }
        self.model = Some(model.clone());
        Ok(())
    }
}

//! Sessions of which only prompts are left, followed while the history grows.
//!
//! `history.jsonl` is read on from the last whole line. Of each session a few values are kept, not
//! its prompts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use transcript::id::SessionId;
use transcript::layout::{Found, Problem};
use transcript::path::RecordedPath;
use transcript::side::history::{self, Prompt};
use transcript::source::Source;
use transcript::time::Time;

/// The name of the history below a Claude folder.
pub(super) const PROMPT_LOG: &str = "history.jsonl";
/// Read at once.
const BLOCK_BYTES: usize = 4 << 20;
/// Compared to tell whether the history has grown or is another file.
const CHECKED_BYTES: u64 = 4096;

/// What was typed in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptedSession {
    /// The session.
    pub session: SessionId,
    /// The project of the first prompt.
    pub project: Option<RecordedPath>,
    /// The time of the first prompt.
    pub first: Option<Time>,
    /// The time of the last prompt.
    pub last: Option<Time>,
    /// How many prompts.
    pub prompts: usize,
    /// What was typed first.
    pub first_prompt: Option<Box<str>>,
    /// Where the first one is among the prompts of all Claude folders.
    order: Option<Time>,
}

impl PromptedSession {
    fn new(session: SessionId, prompt: &Prompt, order: Option<Time>) -> Self {
        Self {
            session,
            project: prompt.project.clone(),
            first: prompt.time,
            last: prompt.time,
            prompts: 1,
            first_prompt: prompt.display.clone(),
            order,
        }
    }

    /// Adds what was typed later in the same history, or in another one.
    fn add(&mut self, later: Self) {
        self.prompts += later.prompts;
        self.first = self.first.min(later.first).or(self.first).or(later.first);
        self.last = self.last.max(later.last);
        if later.order < self.order {
            self.order = later.order;
            self.project = later.project;
            self.first_prompt = later.first_prompt;
        }
    }
}

/// What was new in a history.
#[derive(Debug, Default)]
pub(super) struct PromptNews {
    /// Bytes that were read.
    pub(super) bytes: u64,
    /// Sessions that prompts were added to.
    pub(super) sessions: Vec<SessionId>,
    /// Whether it is another history than before, and all of it was read.
    pub(super) is_anew: bool,
}

/// The prompts of one Claude folder, by session.
#[derive(Debug, Default)]
pub(super) struct PromptLog {
    path: PathBuf,
    sessions: HashMap<SessionId, PromptedSession>,
    /// A prompt whose line has no end yet.
    unfinished: Vec<PromptedSession>,
    latest: Option<Time>,
    consumed: u64,
    end: Vec<u8>,
    size: u64,
}

impl PromptLog {
    pub(super) fn of_root(root: &Path) -> Self {
        Self { path: root.join(PROMPT_LOG), ..Self::default() }
    }

    /// Reads what is new; `kept` gives the history where it is not on disk.
    pub(super) fn read_on(
        &mut self,
        kept: impl FnOnce() -> Vec<Found>,
    ) -> Result<PromptNews, Problem> {
        if !self.path.is_file() {
            self.forget();
            let mut news = PromptNews { is_anew: true, ..PromptNews::default() };
            for found in kept() {
                self.consumed = 0;
                news.bytes += self.read_source(&found.open()?, &mut news.sessions)?;
            }
            // A file that appears later is another one.
            (self.consumed, self.size, self.end) = (0, 0, vec![0]);
            return Ok(news);
        }
        let source = Source::open(&self.path)?;
        let size = source.size()?;
        let is_grown = size >= self.consumed && self.read_end(&source)? == self.end;
        let mut news = PromptNews { is_anew: !is_grown, ..PromptNews::default() };
        if is_grown && size == self.size {
            return Ok(news);
        }
        if !is_grown {
            self.forget();
        }
        news.sessions.extend(self.unfinished.drain(..).map(|prompted| prompted.session));
        news.bytes = self.read_source(&source, &mut news.sessions)?;
        Ok(news)
    }

    fn forget(&mut self) {
        *self = Self { path: std::mem::take(&mut self.path), ..Self::default() };
    }

    fn read_end(&self, source: &Source) -> Result<Vec<u8>, Problem> {
        let length = self.consumed.min(CHECKED_BYTES);
        source.bytes(self.consumed - length, length as usize)
    }

    fn read_source(
        &mut self,
        source: &Source,
        touched: &mut Vec<SessionId>,
    ) -> Result<u64, Problem> {
        let from = self.consumed;
        let mut rest: Vec<u8> = Vec::new();
        self.size = from;
        loop {
            let block = source.bytes(self.size, BLOCK_BYTES)?;
            if block.is_empty() {
                break;
            }
            self.size += block.len() as u64;
            rest.extend(block);
            let whole = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
            self.take(&rest[..whole], touched);
            self.consumed += whole as u64;
            rest.drain(..whole);
        }
        let latest = self.latest;
        let before = std::mem::take(&mut self.sessions);
        self.take(&rest, touched);
        let unfinished = std::mem::replace(&mut self.sessions, before);
        self.unfinished = unfinished.into_values().collect();
        self.latest = latest;
        self.end = self.read_end(source)?;
        Ok(self.size - from)
    }

    fn take(&mut self, lines: &[u8], touched: &mut Vec<SessionId>) {
        for prompt in history::parse(lines).0 {
            // A prompt without a time stays behind the one it was written after.
            self.latest = prompt.time.or(self.latest);
            let Some(id) = &prompt.session else { continue };
            touched.push(id.clone());
            let new = PromptedSession::new(id.clone(), &prompt, self.latest);
            match self.sessions.get_mut(id) {
                Some(known) => known.add(new),
                None => drop(self.sessions.insert(id.clone(), new)),
            }
        }
    }
}

/// The sessions that some histories remember and that are not `known`, the last one last.
pub(super) fn list_unknown(
    logs: &[PromptLog],
    is_known: impl Fn(&SessionId) -> bool,
) -> Vec<PromptedSession> {
    let mut all: BTreeMap<&SessionId, PromptedSession> = BTreeMap::new();
    for log in logs {
        let sessions = log.sessions.values().chain(&log.unfinished);
        for session in sessions.filter(|session| !is_known(&session.session)) {
            match all.get_mut(&session.session) {
                Some(known) => known.add(session.clone()),
                None => drop(all.insert(&session.session, session.clone())),
            }
        }
    }
    let mut all: Vec<PromptedSession> = all.into_values().collect();
    all.sort_by_key(|session| session.last);
    all
}

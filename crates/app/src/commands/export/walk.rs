//! A session with its subagents, record by record, without secrets.
//!
//! One record is in memory at a time, and one session for each subagent that the walk is in.

use std::collections::HashMap;

use report::export::cover::Cover;
use report::export::tally::Tally;
use report::html::{PDF, Picture};
use report::page::record::Holder;
use report::show::{self, Part};
use transcript::id::Key;
use transcript::layout::Problem;
use transcript::library::{Agent, Library, SessionItem, read_session};
use transcript::record::{Body, CallRecord, Detail, LARGEST, Media, Opened, Record};
use transcript::session::Session;
use transcript::source::Source;

use crate::commands::show::viewer::{DEPTH_MOST, Links, Stage, about};
use crate::error::CliError;

/// First words of a prompt in the margin.
const WORDS: usize = 72;

/// A session that is exported.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The session.
    pub session: &'a Session,
    /// Its files.
    pub sources: &'a [Source],
    /// What the library knows of it.
    pub known: Option<(&'a Library, &'a SessionItem)>,
}

impl<'a> Subject<'a> {
    /// Its subagents.
    pub fn agents(&self) -> &'a [Agent] {
        self.known.map_or(&[], |(_, item)| &item.agents)
    }

    /// How it is called: its id, else its file.
    pub fn name(&self) -> String {
        let id = self.known.map(|(_, item)| item.id.clone()).or_else(|| self.session.id());
        id.map_or_else(
            || self.sources[0].path().file_stem().unwrap_or_default().to_string_lossy().into(),
            |id| id.to_string(),
        )
    }

    /// Bytes of its file and of its subagents' files.
    pub fn bytes(&self) -> u64 {
        match self.known {
            Some((library, item)) => {
                let files = item.file.into_iter().chain(item.agents.iter().filter_map(|a| a.file));
                files.map(|file| library.cards[file].found.size).sum()
            }
            None => self.sources[0].size().unwrap_or(0),
        }
    }
}

/// What is wanted of an export.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The level.
    pub detail: Detail,
    /// Which part.
    pub part: Part,
    /// With pictures.
    pub images: bool,
    /// With subagents.
    pub subagents: bool,
}

/// A subagent of a call.
pub enum Child {
    /// One with a file of its own.
    File {
        /// Its id.
        id: String,
        /// What it is.
        words: String,
        /// Its session.
        session: Box<Session>,
        /// Its file.
        source: Box<Source>,
    },
    /// One in the same file.
    Inline {
        /// What it is.
        words: String,
        /// Its entries.
        nodes: Vec<usize>,
    },
}

/// The state of a walk.
pub struct Walk<'a> {
    /// The session.
    pub subject: Subject<'a>,
    /// What is wanted.
    pub choice: Choice,
    /// Takes secrets out.
    pub cover: Cover<'a>,
    /// What is left out.
    pub tally: Tally,
    /// Subagents' files that could not be read.
    pub problems: Vec<Problem>,
    /// How many subagents deep.
    pub depth: usize,
    /// Subagents with files of their own so far.
    pub children: usize,
    /// The first words of the session's prompts, by their nodes.
    pub words: HashMap<usize, String>,
    started: HashMap<Key, Vec<usize>>,
    placed: Vec<bool>,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    pub fn new(subject: Subject<'a>, choice: Choice, cover: Cover<'a>) -> Self {
        let agents = subject.agents();
        let mut started: HashMap<Key, Vec<usize>> = HashMap::new();
        for (at, agent) in agents.iter().enumerate().filter(|(_, a)| a.file.is_some()) {
            if let Some(call) = agent.call.filter(|_| agent.internal.is_none()) {
                started.entry(call).or_default().push(at);
            }
        }
        let placed = vec![false; agents.len()];
        Self {
            subject,
            choice,
            cover,
            tally: Tally::default(),
            problems: Vec::new(),
            depth: 0,
            children: 0,
            words: HashMap::new(),
            started,
            placed,
        }
    }

    /// A record as it goes into the export.
    pub fn before(&mut self, record: &mut Record) {
        self.tally.see(record);
        self.cover.record(record);
        self.remember(record);
    }

    /// Remembers the first words of a prompt.
    pub fn remember(&mut self, record: &Record) {
        if let (0, Body::Prompt { text, .. }) = (self.depth, &record.body) {
            self.words.insert(record.node, first_words(text));
        }
    }

    /// A picture or document that can be put into a page.
    pub fn media(&mut self, opened: &Opened<'_>, of: Holder<'_>, at: usize) -> Option<Media> {
        let is_shown =
            |media: &Media| Picture::of(&media.media_type).is_some() || media.media_type == PDF;
        let media = opened.media(of.node, of.call, at).ok().flatten().filter(is_shown);
        self.tally.media += usize::from(media.is_none());
        media
    }

    /// The subagents of a call, those that are to be shown.
    pub fn children(&mut self, links: &Links, call: Key) -> Vec<Child> {
        let inline = links.inline.get(&call).cloned().unwrap_or_default();
        if !self.choice.subagents || self.depth >= DEPTH_MOST {
            self.tally.agents += inline.len();
            return Vec::new();
        }
        let known = self.subject.agents();
        let is_known = |id: &&String| known.iter().any(|agent| agent.id.as_str() == **id);
        let named = links.named.get(&call).into_iter().flatten();
        self.tally.missing += named.filter(|id| !is_known(id)).count();
        let mut children = Vec::new();
        for at in self.started.get(&call).cloned().unwrap_or_default() {
            if !std::mem::replace(&mut self.placed[at], true) {
                children.extend(self.read(&known[at]));
            }
        }
        for root in inline {
            let nodes = links.members(root as u32);
            let words = format!("subagent in the same file · {}", show::entries(nodes.len()));
            children.push(Child::Inline { words, nodes });
        }
        children
    }

    /// The subagents that no call has led to so far, of a whole session.
    pub fn rest(&mut self) -> Vec<Child> {
        if !self.choice.subagents || matches!(self.choice.part, Part::Turns(..)) {
            return Vec::new();
        }
        let known = self.subject.agents();
        let mut children = Vec::new();
        for (at, agent) in known.iter().enumerate().filter(|(_, agent)| agent.file.is_some()) {
            if !std::mem::replace(&mut self.placed[at], true) {
                children.extend(self.read(agent));
            }
        }
        children
    }

    fn read(&mut self, agent: &Agent) -> Option<Child> {
        let (library, _) = self.subject.known?;
        let file = agent.file?;
        let found = &library.cards[file].found;
        let read = || Ok((read_session(found, library.copies_of(file))?, found.open()?));
        match read() {
            Ok((session, source)) => {
                let mut words = about(agent, &session);
                self.cover.text(&mut words, 0);
                let id = agent.id.as_str().to_owned();
                Some(Child::File { id, words, session: session.into(), source: source.into() })
            }
            Err(problem) => {
                self.tally.missing += 1;
                self.problems.push(problem);
                None
            }
        }
    }

    /// Counts what was not come across.
    pub fn finish(&mut self) {
        let agents = self.subject.agents().iter().zip(&self.placed);
        self.tally.agents += agents.filter(|(a, placed)| a.file.is_some() && !**placed).count();
        let shown = match self.choice.part {
            Part::Branch(number) => Some(number),
            Part::Turns(first, last) => {
                let all = self.subject.session.turns().len();
                self.tally.turns = Some((first, last.min(all), all));
                None
            }
            _ => None,
        };
        let left = show::left(self.subject.session);
        let left = left.iter().flat_map(|left| &left.numbers);
        self.tally.branches = left.filter(|number| Some(**number) != shown).count();
    }
}

fn first_words(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WORDS) {
        Some((at, _)) => format!("{}\u{2026}", &line[..at]),
        None => line,
    }
}

/// Where records go, one after the other.
pub trait Sink {
    /// A record, with the entry as it stands in the file where that is wanted.
    fn record(
        &mut self,
        stage: Stage<'_>,
        record: &Record,
        raw: Option<&str>,
        depth: usize,
    ) -> Result<(), CliError>;
    /// A call of the record.
    fn call(&mut self, call: &CallRecord) -> Result<(), CliError>;
    /// A subagent begins.
    fn enter(&mut self, words: &str) -> Result<(), CliError>;
    /// It ends.
    fn leave(&mut self) -> Result<(), CliError>;
}

impl Walk<'_> {
    /// Hands these entries to a sink, with the subagents of their calls.
    pub fn records(
        &mut self,
        stage: Stage<'_>,
        nodes: &[usize],
        sink: &mut dyn Sink,
    ) -> Result<(), CliError> {
        let (links, detail) = (Links::of(stage.opened), self.choice.detail);
        for &node in nodes {
            if detail == Detail::Raw {
                self.raw(stage, node, sink)?;
            } else if stage.opened.detail(node) > detail {
                self.tally.hidden.add(stage.opened, node);
            } else if let Some(mut record) = stage.opened.record(node)? {
                self.before(&mut record);
                self.tally.without_media(&record);
                sink.record(stage, &record, None, self.depth)?;
                let Body::Calls { calls, .. } = &record.body else { continue };
                for call in calls {
                    sink.call(call)?;
                    self.subagents(stage, &links, call.key, sink)?;
                }
            }
        }
        Ok(())
    }

    /// An entry as it stands in the file. What it started follows it.
    fn raw(&mut self, stage: Stage<'_>, node: usize, sink: &mut dyn Sink) -> Result<(), CliError> {
        let record = stage.opened.bare(node);
        let line = self.line(stage.opened, &record)?;
        self.tally.records += 1;
        sink.record(stage, &record, Some(&line), self.depth)
    }

    /// A line of the file without its secrets.
    pub fn line(&mut self, opened: &Opened<'_>, record: &Record) -> Result<String, Problem> {
        self.tally.large += usize::from(record.length > LARGEST);
        let mut line = opened.line(record.node)?;
        self.cover.json(&mut line, record.number.map_or(record.offset, u64::from));
        Ok(line)
    }

    fn subagents(
        &mut self,
        stage: Stage<'_>,
        links: &Links,
        call: Key,
        sink: &mut dyn Sink,
    ) -> Result<(), CliError> {
        let children = self.children(links, call);
        self.all(stage, &children, sink)
    }

    /// Hands the subagents that no call has led to to a sink.
    pub fn lone(&mut self, stage: Stage<'_>, sink: &mut dyn Sink) -> Result<(), CliError> {
        let children = self.rest();
        self.all(stage, &children, sink)
    }

    fn all(
        &mut self,
        stage: Stage<'_>,
        children: &[Child],
        sink: &mut dyn Sink,
    ) -> Result<(), CliError> {
        for child in children {
            self.depth += 1;
            let result = self.child(stage, child, sink);
            self.depth -= 1;
            result?;
        }
        Ok(())
    }

    fn child(
        &mut self,
        stage: Stage<'_>,
        child: &Child,
        sink: &mut dyn Sink,
    ) -> Result<(), CliError> {
        match child {
            Child::Inline { words, nodes } => {
                sink.enter(words)?;
                let first = nodes.first().and_then(|node| stage.opened.number(*node));
                let agent = format!("inline-{}", first.unwrap_or(0));
                self.records(Stage { agent: Some(&agent), ..stage }, nodes, sink)?;
            }
            Child::File { id, words, session, source } => {
                sink.enter(words)?;
                let sources = std::slice::from_ref(&**source);
                let opened = Opened::new(session, sources, false);
                let stage = Stage { opened: &opened, sources, agent: Some(id), is_tail: false };
                self.records(stage, &show::nodes(session, Part::Way)?, sink)?;
            }
        }
        sink.leave()
    }
}

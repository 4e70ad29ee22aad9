//! All transcripts of one or more Claude folders, joined: which file belongs to which session,
//! which entries are copies, which subagent was started by which call, which summary describes
//! which session.
//!
//! Every file is first read alone ([`scan`]) and leaves a small [`Card`]; [`Library::join`] then
//! works on the cards only. Files that hold copies are read once more, so that what they own can
//! be counted exactly. Nothing here keeps text beyond titles, so a home of gigabytes stays small.
//!
//! ```
//! use transcript::{layout, library::{Library, scan}};
//!
//! let home = std::env::temp_dir().join("a-claude-home-of-this-example");
//! std::fs::create_dir_all(home.join("projects/-w"))?;
//! let line = r#"{"parentUuid":null,"uuid":"u","sessionId":"s1","cwd":"/w","type":"user","message":{"role":"user","content":"hello"}}"#;
//! std::fs::write(home.join("projects/-w/s1.jsonl"), line)?;
//!
//! let files = layout::walk_projects(&home).files;
//! let (library, _) = Library::join(scan(files, |_, _, _| None::<()>, |_| {}));
//! let session = library.session("s1").expect("it was just written");
//! assert_eq!((session.facts.turns, session.facts.cwd.as_deref()), (1, Some("/w")));
//! # std::fs::remove_dir_all(home)?;
//! # std::io::Result::Ok(())
//! ```

mod agents;
mod card;
mod copies;
mod saved;
mod scan;

pub use agents::{Agent, AgentParent};
pub use card::{Card, Facts};
pub use saved::FileNumber;
pub use scan::{Scan, read_session, scan, take_each};

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use crate::id::{Key, SessionId};
use crate::layout::{FileKind, Problem};
use crate::session::{Session, TitleSource};
use copies::Copies;

/// What a session's file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Standing {
    /// It has a conversation of its own.
    Whole,
    /// All that was said in it stands in another session's file, too, which owns it.
    Copy,
    /// It only points to the session that was resumed (1.0.x, 2.0.x).
    Pointer,
    /// Titles, snapshots or settings, but nobody says anything.
    Stub,
    /// Nothing.
    Empty,
}

impl Standing {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Copy => "copy",
            Self::Pointer => "pointer",
            Self::Stub => "stub",
            Self::Empty => "empty",
        }
    }
}

/// How two sessions are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Connection {
    /// Entries were copied from it: a fork, a Desktop or background copy.
    CopiedFrom,
    /// The SDK forked it.
    ForkedFrom,
    /// The talk went on in it.
    ContinuedIn,
    /// It goes on from it: entries with that id stand in its own conversation.
    Continues,
    /// It points to it: a resume that left no conversation of its own.
    PointsTo,
    /// Its entries name it as their lineage's root.
    Lineage,
}

impl Connection {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CopiedFrom => "copied-from",
            Self::ForkedFrom => "forked-from",
            Self::ContinuedIn => "continued-in",
            Self::Continues => "continues",
            Self::PointsTo => "points-to",
            Self::Lineage => "lineage",
        }
    }
}

/// A session over all files that belong to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionItem {
    /// Its id.
    pub id: SessionId,
    /// Its own file, by index into [`Library::cards`]; none if its entries stand in others only.
    pub file: Option<usize>,
    /// Further files of the same id (another folder, a move that left a stub).
    pub also: Vec<usize>,
    /// Files of other sessions that hold entries of this one, and how many.
    pub found_in: Vec<(usize, usize)>,
    /// What is said of its own entries.
    pub facts: Facts,
    /// What its file turned out to be.
    pub standing: Standing,
    /// Its title and where it comes from.
    pub title: Option<(Box<str>, TitleSource)>,
    /// Entries of its file that another file owns.
    pub copied: usize,
    /// Entries of its file that belong to other sessions.
    pub foreign: usize,
    /// Its subagents.
    pub agents: Vec<Agent>,
    /// Other sessions it is connected with.
    pub connections: Vec<(Connection, SessionId)>,
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Library {
    /// One card per transcript, in the order of the files.
    pub cards: Vec<Card>,
    /// The sessions, by id.
    pub sessions: Vec<SessionItem>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    copies: Copies,
}

impl Library {
    /// Joins what the files left.
    pub fn join<T>(scan: Scan<T>) -> (Self, Vec<Option<T>>) {
        Self::join_with(scan, |_, card, copies| read_session(&card.found, Some(copies)))
    }

    /// As [`Library::join`]. `reread` gives the session of a file of whose entries some are owned
    /// by others; it is told which of the cards that is.
    pub fn join_with<T>(
        scan: Scan<T>,
        reread: impl FnMut(usize, &Card, &HashSet<u64>) -> Result<Session, Problem>,
    ) -> (Self, Vec<Option<T>>) {
        let Scan { mut cards, extras, mut problems } = scan;
        let copies = Copies::find(&cards);
        problems.extend(copies.recount(&mut cards, reread));
        let mut library = Self { cards, sessions: Vec::new(), problems, copies };
        library.collect_sessions();
        library.give_back();
        library.join_agents();
        library.connect();
        library.name();
        for session in &mut library.sessions {
            session.standing = standing(session, &library.cards);
        }
        (library, extras)
    }

    /// The session with this id.
    pub fn session(&self, id: &str) -> Option<&SessionItem> {
        self.sessions.binary_search_by(|s| s.id.as_str().cmp(id)).ok().map(|i| &self.sessions[i])
    }

    /// Whether the entry `key` of file `card` is a copy that another file owns.
    pub fn is_copy(&self, card: usize, key: Key) -> bool {
        self.copies.of(card).is_some_and(|copies| copies.contains(&key.short()))
    }

    /// The entries of file `card` that another file owns.
    pub fn copies_of(&self, card: usize) -> Option<&HashSet<u64>> {
        self.copies.of(card)
    }

    fn position(&self, id: &SessionId) -> Option<usize> {
        self.sessions.binary_search_by(|s| s.id.cmp(id)).ok()
    }

    /// One session per id; of several files the one that says most is its own.
    fn collect_sessions(&mut self) {
        let mut files: HashMap<SessionId, Vec<usize>> = HashMap::new();
        for (index, card) in self.cards.iter().enumerate() {
            if let FileKind::Session { session, .. } = &card.found.kind {
                let id = card.id.clone().unwrap_or_else(|| session.clone());
                files.entry(id).or_default().push(index);
            }
        }
        self.sessions = files
            .into_iter()
            .map(|(id, mut files)| {
                files.sort_by_key(|&f| (std::cmp::Reverse(self.cards[f].fullness()), f));
                let card = &self.cards[files[0]];
                SessionItem {
                    id,
                    file: Some(files[0]),
                    also: files[1..].to_vec(),
                    found_in: Vec::new(),
                    facts: card.facts.clone(),
                    standing: Standing::Whole,
                    title: card.title.clone(),
                    copied: card.copied,
                    foreign: card.foreign(),
                    agents: Vec::new(),
                    connections: Vec::new(),
                }
            })
            .collect();
        self.sessions.sort_by(|a, b| a.id.cmp(&b.id));
    }

    /// Entries that stand in another session's file go back to their own session, which may have
    /// no file at all.
    fn give_back(&mut self) {
        let mut strays: Vec<(SessionId, usize, usize)> = Vec::new();
        for (index, card) in self.cards.iter().enumerate() {
            for (id, count) in card.strays.iter().filter(|_| card.is_main()) {
                strays.push((id.clone(), index, *count));
            }
        }
        strays.sort();
        for group in strays.chunk_by(|a, b| a.0 == b.0) {
            let found_in: Vec<_> = group.iter().map(|(_, file, count)| (*file, *count)).collect();
            let at = self.position(&group[0].0);
            let own = at.and_then(|at| self.sessions[at].file);
            let copies = own.and_then(|own| self.copies.of(own));
            match scan::joined_session(&self.cards, own, &found_in, &group[0].0, copies) {
                Ok(session) => self.give(group[0].0.clone(), at, &session, found_in),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    fn give(
        &mut self,
        id: SessionId,
        at: Option<usize>,
        session: &Session,
        found_in: Vec<(usize, usize)>,
    ) {
        let (facts, title) = (Facts::of(session), session.title());
        let Some(at) = at else {
            let item = SessionItem {
                file: None,
                also: Vec::new(),
                found_in,
                facts,
                standing: Standing::Whole,
                title,
                copied: 0,
                foreign: 0,
                agents: Vec::new(),
                connections: Vec::new(),
                id,
            };
            let place = self.sessions.partition_point(|s| s.id < item.id);
            return self.sessions.insert(place, item);
        };
        let session = &mut self.sessions[at];
        (session.facts, session.title, session.found_in) = (facts, title, found_in);
    }

    fn connect(&mut self) {
        let mut found: Vec<(SessionId, Connection, SessionId)> = Vec::new();
        for session in &self.sessions {
            let Some(card) = session.file.map(|f| &self.cards[f]) else { continue };
            let mut add = |kind, other: Option<&str>| {
                if let Some(other) = other.filter(|o| *o != session.id.as_str()) {
                    found.push((session.id.clone(), kind, SessionId::new(other)));
                }
            };
            add(Connection::ContinuedIn, card.continued_in.as_deref());
            add(Connection::ForkedFrom, card.forked_from.as_deref());
            add(Connection::Lineage, card.lineage.as_deref());
            for former in &card.former {
                add(Connection::Continues, Some(former.as_str()));
            }
            let owner = card.copied_from.and_then(|o| self.cards[o].id.as_ref());
            add(Connection::CopiedFrom, owner.map(SessionId::as_str));
        }
        for (from, kind, to) in found {
            if let Some(at) = self.position(&from) {
                self.sessions[at].connections.push((kind, to));
            }
        }
    }

    /// Summaries name the leaf they describe; only the session that has the leaf is called so.
    fn name(&mut self) {
        let mut wanted: HashMap<u64, Vec<(usize, Box<str>)>> = HashMap::new();
        for (index, card) in self.cards.iter().enumerate() {
            for (leaf, text) in &card.foreign_summaries {
                wanted.entry(leaf.short()).or_default().push((index, text.clone()));
            }
        }
        if wanted.is_empty() {
            return;
        }
        let mut found: Vec<(usize, usize, Box<str>)> = Vec::new();
        for (owner, card) in self.cards.iter().enumerate() {
            // The summary of the last leaf comes first: it describes the most.
            for key in card.keys.iter().rev().filter(|_| card.is_main()) {
                if let Some(summaries) = wanted.get(key) {
                    found.extend(summaries.iter().map(|(from, text)| (owner, *from, text.clone())));
                }
            }
        }
        for (owner, from, text) in found {
            self.take_summary(owner, from, text);
        }
    }

    fn take_summary(&mut self, owner: usize, from: usize, text: Box<str>) {
        let Some(at) = self.cards[owner].id.clone().and_then(|id| self.position(&id)) else {
            return;
        };
        let source = self.sessions[at].title.as_ref().map(|(_, source)| *source);
        if source.is_none_or(|source| source > TitleSource::Summary) {
            self.sessions[at].title = Some((text, TitleSource::Summary));
        }
        let owner = self.sessions[at].id.clone();
        let pointer = self.sessions.iter_mut().find(|s| s.file == Some(from));
        if let Some(pointer) = pointer
            && self.cards[from].is_pointer()
            && pointer.id != owner
        {
            pointer.connections.push((Connection::PointsTo, owner));
        }
    }
}

fn standing(session: &SessionItem, cards: &[Card]) -> Standing {
    let Some(card) = session.file.map(|f| &cards[f]) else { return Standing::Whole };
    if session.facts.talk > 0 {
        return Standing::Whole;
    }
    if session.copied > 0 {
        return Standing::Copy;
    }
    if session.connections.iter().any(|(kind, _)| *kind == Connection::PointsTo) {
        return Standing::Pointer;
    }
    if card.facts.entries > 0 { Standing::Stub } else { Standing::Empty }
}

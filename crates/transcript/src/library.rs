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
mod join;
mod live;
mod mention;
mod saved;
mod scan;
mod shared_list;

use std::sync::Arc;

pub use agents::{Agent, AgentParent};
pub use card::{Card, Facts};
pub use live::{CardChange, CardNow, GroupJoin, LiveLibrary, ReadFile};
pub use saved::FileNumber;
pub use scan::{Scan, read_session, scan, take_each};
pub use shared_list::SharedList;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use crate::id::{Key, SessionId};
use crate::layout::Problem;
use crate::session::{Session, TitleSource};
use join::{FilesReadAgain, Joining};

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
    /// One card per transcript, in the order of the files; of a [`LiveLibrary`] in the order in
    /// which they came, with [`Card::is_vacant`] where a file was removed.
    pub cards: SharedList<Card>,
    /// The sessions, by id.
    pub sessions: SharedList<SessionItem>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Entries of each file that another file owns.
    copies: Arc<HashMap<usize, Arc<HashSet<u64>>>>,
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
        let Scan { cards, extras, mut problems } = scan;
        let cards = cards.into_iter().map(Arc::new).collect();
        let joined = Joining::join_cards(cards, &mut FilesReadAgain(reread));
        problems.extend(joined.problems);
        let library = Self {
            cards: joined.cards.into_iter().collect(),
            sessions: joined.sessions.into_iter().collect(),
            problems,
            copies: Arc::new(joined.copies.into_sets()),
        };
        (library, extras)
    }

    /// The same sessions once more, without the problems: all parts are shared.
    pub fn share_parts(&self) -> Self {
        Self {
            cards: self.cards.clone(),
            sessions: self.sessions.clone(),
            problems: Vec::new(),
            copies: self.copies.clone(),
        }
    }

    /// The session with this id.
    pub fn session(&self, id: &str) -> Option<&SessionItem> {
        let at = self.sessions.binary_search_by(|session| session.id.as_str().cmp(id)).ok()?;
        self.sessions.item_at(at)
    }

    /// Whether the entry `key` of file `card` is a copy that another file owns.
    pub fn is_copy(&self, card: usize, key: Key) -> bool {
        self.copies_of(card).is_some_and(|copies| copies.contains(&key.short()))
    }

    /// The entries of file `card` that another file owns.
    pub fn copies_of(&self, card: usize) -> Option<&HashSet<u64>> {
        self.copies.get(&card).map(|copies| &**copies)
    }
}

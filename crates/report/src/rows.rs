//! The rows of the tables: what all files together say, one session after the other.
//!
//! [`Maker`] is the one place where rows are made, for SQLite, for a lake and for a stream of
//! rows. It is given the joined library and the ledger, opens the files of a session through a
//! function that it is handed, and gives each row to a visitor; it holds one file's model at a
//! time and no text beyond the calls that wait for their results.
//!
//! Each row stands once. What several files hold is left out of all but the one that owns it, as
//! `usage`, `tools` and `errors` count it.

pub mod back;
mod file;
mod line;
mod request;
mod session;
#[cfg(test)]
mod tests;

use hashbrown::{HashMap, HashSet};
use store::table::{Row, Table};
use transcript::layout::{FileKind, Problem};
use transcript::library::{Library, SessionItem};
use transcript::session::Session;
use transcript::source::Source;

use crate::price::Prices;
use crate::usage::{Ledger, Response};
use file::{File, Turning};
use line::Head;

/// Whose history it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The computer.
    pub host: String,
    /// The person.
    pub user: String,
}

/// How long texts are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// As they are.
    Whole,
    /// By the numbers of their places, see [`store::table::words::Place`].
    Places,
}

/// Is given each row with its table.
pub type Visitor<'a> = dyn FnMut(&'static Table, Row) + 'a;

/// Opens a file of the library, given by its place among the cards. Its session has to know which
/// entries are copies: see [`Library::copies_of`].
pub type Opener<'a> = dyn FnMut(usize) -> Result<(Session, Source), Problem> + 'a;

/// The responses of the ledger by the files that own them.
pub struct Responses<'a> {
    ledger: &'a Ledger,
    prices: &'a Prices,
    by_card: HashMap<usize, Vec<u32>>,
    loose: Vec<(u32, Vec<u32>)>,
}

impl<'a> Responses<'a> {
    /// Sorts the responses of a ledger; `card` says which card a file of the ledger is, if any.
    pub fn new(
        ledger: &'a Ledger,
        prices: &'a Prices,
        card: impl Fn(u32) -> Option<usize>,
    ) -> Self {
        let mut by_card: HashMap<usize, Vec<u32>> = HashMap::new();
        let mut loose: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, response) in (0..).zip(&ledger.responses) {
            match card(response.file) {
                Some(card) => by_card.entry(card).or_default().push(at),
                None => loose.entry(response.file).or_default().push(at),
            }
        }
        let mut loose: Vec<_> = loose.into_iter().collect();
        loose.sort_unstable();
        Self { ledger, prices, by_card, loose }
    }

    /// The files of the ledger that own responses and are no cards: what a file held before it was
    /// rewritten, and what was put aside.
    pub fn loose_files(&self) -> impl Iterator<Item = u32> {
        self.loose.iter().map(|(file, _)| *file)
    }

    /// Whether Claude Code itself counts more for a session than its files have.
    fn is_understated(&self, session: &str) -> bool {
        let name = self.ledger.find(session);
        name.is_some_and(|name| self.ledger.understated.contains(&name))
    }

    /// The responses that a card owns.
    pub fn of_card(&self, card: usize) -> impl Iterator<Item = &'a Response> {
        self.get(self.by_card.get(&card).map_or(&[][..], Vec::as_slice))
    }

    /// The responses that a file of the ledger owns which is no card.
    pub fn of_loose(&self, file: u32) -> impl Iterator<Item = &'a Response> {
        let at = self.loose.binary_search_by_key(&file, |(file, _)| *file);
        self.get(at.map_or(&[][..], |at| &self.loose[at].1))
    }

    fn get(&self, list: &[u32]) -> impl Iterator<Item = &'a Response> + use<'a> {
        let ledger = self.ledger;
        let list = list.to_vec();
        list.into_iter().map(move |at| &ledger.responses[at as usize])
    }
}

/// Makes rows.
pub struct Maker<'a> {
    /// Whose they are.
    pub origin: &'a Origin,
    /// All sessions.
    pub library: &'a Library,
    /// What the models answered.
    pub responses: Responses<'a>,
    /// How texts are given.
    pub texts: Texts,
}

impl Maker<'_> {
    /// The files of a session, its own first: the card and what the tables call it.
    pub fn files(item: &SessionItem) -> Vec<(usize, Option<String>)> {
        let own = item.file.map(|file| (file, None));
        let also = item.also.iter().zip(1..).map(|(file, n)| (*file, Some(format!("also-{n}"))));
        let agents = item.agents.iter();
        let agents = agents.filter_map(|a| Some((a.file?, Some(a.id.as_str().to_owned()))));
        own.into_iter().chain(also).chain(agents).collect()
    }

    /// The files of other sessions that hold entries of a session: the card and what the tables
    /// call those entries.
    pub fn hosts(item: &SessionItem) -> Vec<(usize, Option<String>)> {
        let hosts = item.found_in.iter().zip(item.also.len() + 1..);
        hosts.map(|((file, _), n)| (*file, Some(format!("also-{n}")))).collect()
    }

    /// Whether a response in a session's file is an entry of another session.
    fn is_guest(&self, card: usize, response: &Response) -> bool {
        let session = self.responses.ledger.name(response.session);
        self.library.cards[card].strays.iter().any(|(id, _)| id.as_str() == session)
    }

    /// Whether a response is an entry of a session.
    fn is_of(&self, item: &SessionItem, response: &Response) -> bool {
        self.responses.ledger.name(response.session) == item.id.as_str()
    }

    /// Cards that belong to no session: a subagent's file that lies there twice.
    pub fn loose_cards(&self) -> Vec<usize> {
        let sessions = self.library.sessions.iter();
        let owned: HashSet<usize> =
            sessions.flat_map(|item| Self::files(item).into_iter().map(|(card, _)| card)).collect();
        (0..self.library.cards.len()).filter(|card| !owned.contains(card)).collect()
    }

    /// The rows of a session. What can't be opened is said by the error; the rows before it have
    /// been given then.
    pub fn session(
        &self,
        item: &SessionItem,
        open: &mut Opener<'_>,
        each: &mut Visitor<'_>,
    ) -> Result<(), Problem> {
        session::rows(self, item, open, each)
    }

    /// What the tables call a card that belongs to no session.
    pub fn loose_label(&self, card: usize) -> String {
        match &self.library.cards[card].found.kind {
            FileKind::Agent { agent, .. } => format!("{agent}-also"),
            _ => "also".into(),
        }
    }

    /// The rows of a card that belongs to no session.
    pub fn loose_card(
        &self,
        card: usize,
        open: &mut Opener<'_>,
        each: &mut Visitor<'_>,
    ) -> Result<(), Problem> {
        let (of, agent) = (&self.library.cards[card], self.loose_label(card));
        let session = of.id.as_ref().or_else(|| of.found.kind.session());
        let session = session.map_or("", |id| id.as_str());
        let (model, source) = open(card)?;
        let head = Head::new(self.origin, session, Some(&agent));
        let file = File { maker: self, head, session: &model, turning: Turning::Fixed(None) };
        file.rows(&source, each)?;
        self.requests(self.responses.of_card(card), Some(&file), each);
        Ok(())
    }

    /// The rows of the responses of a file of the ledger that is no card.
    pub fn loose_file(&self, file: u32, each: &mut Visitor<'_>) {
        self.requests(self.responses.of_loose(file), None, each);
    }

    /// All rows of all sessions, in their order. What can't be opened is given to `skip`.
    pub fn all(
        &self,
        open: &mut Opener<'_>,
        each: &mut Visitor<'_>,
        mut skip: impl FnMut(Problem),
    ) {
        for item in &self.library.sessions {
            if let Err(problem) = self.session(item, open, each) {
                skip(problem);
            }
        }
        for card in self.loose_cards() {
            if let Err(problem) = self.loose_card(card, open, each) {
                skip(problem);
            }
        }
        for file in self.responses.loose_files() {
            self.loose_file(file, each);
        }
    }
}

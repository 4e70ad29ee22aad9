//! What was used and what it cost: one set of responses, which every report is a view of.
//!
//! Files repeat each other: a resumed or forked session copies what was said, a subagent repeats
//! its parent. Each response is owned by one place and counted once; the others are replays.

pub mod block;
mod join;
pub mod reconcile;
#[cfg(test)]
mod tests;
mod view;
pub mod waste;

use hashbrown::{HashMap, HashSet};
use transcript::id::Key;
use transcript::layout::FileKind;
use transcript::time::Time;
use transcript::usage::{Mode, Oddity, Packed, Tokens};

use crate::price::{Confidence, Prices};

pub use transcript::usage::trace::Trace;
pub use view::{
    Calendar, Dimension, Filter, Row, Tally, Totals, View, WeekStart, tally, total, view,
};

/// A file with its claims.
#[derive(Debug, Clone)]
pub struct Input {
    /// What the file is.
    pub kind: FileKind,
    /// Its path, to be shown.
    pub path: std::path::PathBuf,
    /// When it was made, if the file system knows.
    pub created: Option<Time>,
    /// Whether the lines are still in the Claude folder, in this file.
    pub has_source: bool,
    /// Whether it is what the file held before it was rewritten.
    pub is_former: bool,
    /// What it claims.
    pub claims: Packed,
}

/// A number for a name; see [`Ledger::name`].
pub type Name = u32;

/// One response of a model, owned and priced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Its identity.
    pub key: Key,
    /// When its first line was written.
    pub time: Option<Time>,
    /// The file that owns it, by its place among the inputs.
    pub file: u32,
    /// Where its first line begins in that file.
    pub offset: u64,
    /// The file and the line whose usage was taken.
    pub taken: (u32, u64),
    /// The session.
    pub session: Name,
    /// The subagent, if it was one.
    pub agent: Option<Name>,
    /// The working directory.
    pub project: Option<Name>,
    /// The branch of git.
    pub branch: Option<Name>,
    /// The model, as written.
    pub model: Option<Name>,
    /// Tokens.
    pub tokens: Tokens,
    /// What changes its price.
    pub mode: Mode,
    /// Web searches.
    pub web_searches: u32,
    /// Tokens of each request, if it took more than one.
    pub parts: Box<[Tokens]>,
    /// Whether it is what an advisor said within a response; those have a model of their own.
    pub is_advisor: bool,
    /// The tools it called.
    pub tools: Box<[Name]>,
    /// In micro-dollars; `None` if there is no price.
    pub cost: Option<u64>,
    /// How sure tokens and cost are.
    pub confidence: Confidence,
    /// How many other files repeat it.
    pub replays: u32,
    /// Whether its lines are still in the Claude folder.
    pub has_source: bool,
    /// In micro-dollars, as Claude Code wrote it.
    pub claimed_cost: Option<u64>,
}

impl Response {
    /// How many requests to the API it took.
    pub fn requests(&self) -> u64 {
        self.parts.len().max(1) as u64
    }
}

/// All responses.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// The responses by time; those without one come first.
    pub responses: Vec<Response>,
    /// The responses of each session that stand in its files and are owned by others.
    pub replayed: HashMap<Name, Vec<Key>>,
    /// Numbers that could not be taken as they are.
    pub oddities: HashMap<Oddity, u64>,
    /// Sessions for which the client itself counts more output than their files have.
    pub understated: HashSet<Name>,
    names: Vec<Box<str>>,
    by_name: HashMap<Box<str>, Name>,
}

impl Ledger {
    /// Joins the claims of all files and prices them.
    pub fn new(inputs: Vec<Input>, prices: &Prices) -> Self {
        let mut responses = Vec::new();
        let mut ledger = join::join(inputs, prices, |_, response| responses.push(response));
        let key = |response: &Response| (response.time, response.file, response.offset);
        responses.sort_by_cached_key(|response| (key(response), response.is_advisor));
        ledger.responses = responses;
        ledger
    }

    /// The text of a name.
    pub fn name(&self, name: Name) -> &str {
        &self.names[name as usize]
    }

    /// The number of a text, if it occurs.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.by_name.get(text).copied()
    }

    /// The number of a text, a new one if need be.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&name) = self.by_name.get(text) {
            return name;
        }
        let name = self.names.len() as Name;
        self.names.push(text.into());
        self.by_name.insert(text.into(), name);
        name
    }

    /// The same responses under other prices, and for another model or day if that is asked.
    pub fn reprice(&mut self, prices: &Prices, model: Option<&str>, day: Option<Time>) {
        for response in &mut self.responses {
            let own = response.model.map_or("", |name| &self.names[name as usize]);
            let (cost, confidence) = join::price(
                prices.match_id(model.unwrap_or(own)),
                day.or(response.time),
                response,
                response.confidence == Confidence::LowerBound,
            );
            (response.cost, response.confidence) = (cost, confidence);
        }
    }
}

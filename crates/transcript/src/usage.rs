//! What one file says about the tokens of each response.
//!
//! Claude Code writes a response as one line per content block, and each line repeats the usage
//! as far as it was known then. A [`Claim`] is what all lines of one file with the same identity
//! say together: the largest usage, the tools of all of them, the place and time of the first.
//! Which of several files owns a response, and what it cost in money, is not decided here.

mod read;
mod state;
pub mod told;
pub mod trace;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::firsts::Firsts;
use crate::id::Key;
use crate::session::{Names, Session};
use crate::time::Time;

pub use read::is_marked;
pub use state::{Packed, VERSION};

/// No name.
const NONE: u32 = u32::MAX;

/// Tokens by the classes that have a price.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Tokens {
    /// Read anew.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to the cache for an hour.
    pub cache_write_1h: u64,
}

impl Tokens {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.prompt() + self.output
    }

    /// Everything that the model read: what a price by the length of the prompt goes by.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write()
    }

    /// Written to the cache.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m + self.cache_write_1h
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
    }
}

/// What changes the price of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Mode {
    /// `speed` is `fast`.
    pub is_fast: bool,
    /// `inference_geo` is `us`.
    pub is_us: bool,
    /// `service_tier` is `batch`.
    pub is_batch: bool,
    /// `service_tier` is `priority`, whose prices are a matter of contract.
    pub is_priority: bool,
}

/// One of the calls to the API that a response was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// An advisor's model, as a name of the file; `None` if it is a part of the response itself.
    pub advisor: Option<u32>,
    /// Its tokens.
    pub tokens: Tokens,
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where the line begins.
    pub offset: u64,
    /// When it was written.
    pub time: Option<Time>,
}

/// A response, as the lines of one file have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The response: `message.id`, else `requestId`, else the entry's `uuid`.
    #[serde(skip)]
    pub key: Key,
    /// Its first line.
    pub first: Place,
    /// The line whose usage it is.
    pub place: Place,
    /// What that line says.
    pub tokens: Tokens,
    /// What changes its price.
    pub mode: Mode,
    /// Web searches.
    pub web_searches: u32,
    /// The calls it was made of, if the file says so.
    pub iterations: Vec<Iteration>,
    /// The tools it called: name and call.
    pub tools: SmallVec<[(u32, u64); 1]>,
    /// The model, as a name of the file; see [`Claims::name`].
    pub model: u32,
    /// The session that the line names.
    pub session: u32,
    /// The working directory.
    pub project: u32,
    /// The branch of git.
    pub branch: u32,
    /// The version of Claude Code.
    pub version: u32,
    /// The subagent.
    pub agent: u32,
    /// In millionths of a dollar, as Claude Code wrote it (`costUSD`).
    pub claimed_cost: Option<u64>,
    /// Whether the last line of it says why it stopped.
    pub has_stopped: bool,
    /// Whether any line has a usage.
    pub has_usage: bool,
    /// Whether a count was left out because it could not be one, or can't be the final one, and no
    /// later line made up for it.
    pub has_dropped: bool,
    /// `isSidechain`.
    pub is_sidechain: bool,
    /// `isSidechain` of the line whose usage it is.
    pub is_usage_of_sidechain: bool,
    /// It is only told by a sign of life of the call that started the agent.
    pub is_progress: bool,
}

/// What was wrong with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Oddity {
    /// Below zero: taken as nothing.
    Negative,
    /// More than there can be: taken as nothing.
    Huge,
    /// No whole number: taken as nothing.
    NotANumber,
    /// A response without a usage.
    NoUsage,
}

impl Oddity {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negative => "negative-count",
            Self::Huge => "huge-count",
            Self::NotANumber => "not-a-number",
            Self::NoUsage => "no-usage",
        }
    }
}

/// What the client itself says that a session has used so far (`cost-state`). It counts calls that
/// leave no line of their own: compactions, side questions, web searches, titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSum {
    /// The session, as a name of the file.
    pub session: u32,
    /// Output tokens of all models.
    pub output: u64,
}

/// All responses of one file, in the order of their first lines.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    names: Names,
    list: Vec<Claim>,
    firsts: Firsts,
    odd: Vec<(u64, Oddity)>,
    /// The largest sum of each session.
    client_sums: Vec<ClientSum>,
    /// Whether an entry says that the file is the copy of another session.
    pub is_marked_copy: bool,
}

impl Claims {
    /// What the client says of each session in the file.
    pub fn client_sums(&self) -> &[ClientSum] {
        &self.client_sums
    }

    /// The responses.
    pub fn list(&self) -> &[Claim] {
        &self.list
    }

    /// Numbers that could not be taken as they are, with the places of their lines. A response
    /// without usage is one only if none of its lines has any.
    pub fn oddities(&self) -> impl Iterator<Item = (u64, Oddity)> {
        let without = self.list.iter().filter(|claim| !claim.has_usage);
        let without = without.map(|claim| (claim.first.offset, Oddity::NoUsage));
        self.odd.iter().copied().chain(without)
    }

    /// Whether a response carries the id of another session than `own`.
    pub fn has_other_sessions(&self, own: &str) -> bool {
        let is_other = |claim: &Claim| self.name(claim.session).is_some_and(|id| id != own);
        self.list.iter().any(is_other)
    }

    /// Gives the responses that are entries of `session` to it, whatever id they carry: a resume
    /// by an old version keeps the ids of what it copied. Entries of other sessions in the same
    /// file keep theirs, see [`Session::foreign_ids`].
    pub fn assign_to(&mut self, session: &Session) {
        let Some(own) = session.id() else { return };
        let own = self.names.add_text(own.as_str());
        for claim in self.list.iter_mut().filter(|claim| claim.session != own) {
            if session.has_own_entry_at(claim.first.offset) {
                claim.session = own;
            }
        }
    }

    /// The responses, which are then nobody's here any more.
    pub fn take(&mut self) -> Vec<Claim> {
        self.firsts = Firsts::default();
        std::mem::take(&mut self.list)
    }

    /// The names, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.list().iter().map(|name| &**name)
    }

    /// The name that a number stands for; `None` if it stands for none.
    pub fn name(&self, number: u32) -> Option<&str> {
        (number != NONE).then(|| self.names.get(number))
    }
}

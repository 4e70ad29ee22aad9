//! The query language: what a person types, as a value.
//!
//! Words are alternatives, best first; `"phrases"` must occur; `-` takes away a word, a phrase or
//! a filter; `beginning*` finds longer words; `name:value` is a filter. Values of one filter are
//! alternatives, different filters all hold. `after:` takes in the day it names and `before:`
//! does not, so that `after:2026-05-01 before:2026-06-01` is May.
//!
//! A question in plain language is a query too: punctuation is skipped, a colon inside a word
//! that is no filter belongs to the word, and `error: no such file` is four words, since a filter
//! has its value right behind the colon. Names in filters are not looked up here; the catalog
//! says which files they mean.

mod day;
mod near;
mod parse;
mod print;

use std::ops::Range;

use transcript::time::Time;

pub use day::Day;
pub use near::nearest;

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$variant_doc])* $variant,)* }

        impl $type {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word for it in queries and reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What a name stands for.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

names! {
    /// What a piece of text is in the conversation.
    Role {
        /// What a person asked.
        Prompt = "prompt",
        /// What the model said.
        Answer = "answer",
        /// What the model thought.
        Thinking = "thinking",
        /// What a tool was given.
        Call = "call",
        /// What a tool gave back.
        Output = "output",
        /// A summary of a session or of a part of it.
        Summary = "summary",
        /// A session's name.
        Title = "title",
    }
}

names! {
    /// Where a piece of text stands.
    Place {
        /// In the conversation as it is now.
        Active = "active",
        /// On a branch that was left.
        Abandoned = "abandoned",
        /// Before the last compaction.
        Compacted = "compacted",
        /// In a subagent's conversation.
        Subagent = "subagent",
    }
}

names! {
    /// The filters.
    Field {
        /// The project's folder, or a part of it.
        Project = "project",
        /// A session's id, or its beginning.
        Session = "session",
        /// The git branch.
        Branch = "branch",
        /// See [`Role`].
        Role = "role",
        /// The tool that was called.
        Tool = "tool",
        /// A file that was read or written: its name, or the end of its path.
        File = "file",
        /// `yes`, `no`, or a word of the error.
        Error = "error",
        /// The model.
        Model = "model",
        /// Only what is older.
        Before = "before",
        /// Only what is as old or younger.
        After = "after",
        /// See [`Place`].
        In = "in",
        /// A pull request's number.
        Pr = "pr",
        /// A commit's hash, or its beginning.
        Commit = "commit",
    }
}

/// Something to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A word, perhaps a path or an identifier.
    Word(String),
    /// The beginning of a word.
    Prefix(String),
    /// Words in this order.
    Phrase(String),
}

/// What `error:` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorIs {
    /// It failed.
    Yes,
    /// It did not fail.
    No,
    /// It failed, and the word occurs in its text.
    With(String),
}

/// A date as it was typed, with the first moment of it and the first moment after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Date {
    /// As typed.
    pub text: String,
    /// The first moment.
    pub start: Time,
    /// The first moment after.
    pub end: Time,
}

/// The values of all filters; an empty list allows everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// `project:`
    pub project: Vec<String>,
    /// The project's folder, or one above it; a person has no word for it in a query.
    pub folder: Vec<String>,
    /// `session:`
    pub session: Vec<String>,
    /// `branch:`
    pub branch: Vec<String>,
    /// `role:`
    pub role: Vec<Role>,
    /// `tool:`
    pub tool: Vec<String>,
    /// `file:`
    pub file: Vec<String>,
    /// `error:`
    pub error: Vec<ErrorIs>,
    /// `model:`
    pub model: Vec<String>,
    /// `before:`
    pub before: Vec<Date>,
    /// `after:`
    pub after: Vec<Date>,
    /// `in:`
    pub place: Vec<Place>,
    /// `pr:`
    pub pr: Vec<String>,
    /// `commit:`
    pub commit: Vec<String>,
}

impl Filters {
    /// Whether nothing is filtered.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a time passes `before:` and `after:`. What has no time passes neither.
    pub fn allows_time(&self, time: Option<Time>) -> bool {
        let any = |dates: &[Date], holds: fn(Time, Time) -> bool| {
            dates.is_empty() || time.is_some_and(|t| dates.iter().any(|d| holds(t, d.start)))
        };
        any(&self.before, |t, start| t < start) && any(&self.after, |t, start| t >= start)
    }
}

/// A query that makes sense.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// What to look for.
    pub terms: Vec<Term>,
    /// What must not occur.
    pub without: Vec<Term>,
    /// Filters that hold.
    pub only: Filters,
    /// Filters that must not hold.
    pub except: Filters,
    /// Days that a question names: what was said then counts more.
    pub days: Vec<Day>,
}

impl Query {
    /// Reads a query. `date` gives the first moment of a date and the first moment after it.
    pub fn parse(
        text: &str,
        date: &dyn Fn(&str) -> Option<(Time, Time)>,
    ) -> Result<Self, QueryError> {
        parse::parse(text, date)
    }

    /// Reads filters alone, none at all included; a word among them is an error.
    pub fn filters(
        text: &str,
        date: &dyn Fn(&str) -> Option<(Time, Time)>,
    ) -> Result<Self, QueryError> {
        parse::filters(text, date)
    }
}

/// What is wrong with a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryErrorKind {
    /// A phrase or value that never ends.
    #[error("this quote is not closed")]
    OpenQuote,
    /// `projekt:x`.
    #[error("`{0}:` is no filter")]
    NoFilter(String),
    /// `project:` and nothing behind it.
    #[error("`{}:` needs a value", .0.name())]
    NoValue(Field),
    /// `role:foo`.
    #[error("`{1}` is no {field}", field = .0.name())]
    NoSuch(Field, String),
    /// `before:soon`.
    #[error("`{0}` is no date")]
    NoDate(String),
    /// Only what must not occur.
    #[error("only what must not occur is given")]
    OnlyWithout,
    /// A word where only filters can stand.
    #[error("this is no filter, and beside a regular expression there are only filters")]
    NotAFilter,
    /// No word in it.
    #[error("there is no word to look for")]
    Empty,
}

/// A query that makes no sense, with the place and what to type instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct QueryError {
    /// The bytes of the query it is about.
    pub at: Range<usize>,
    /// What is wrong.
    pub kind: QueryErrorKind,
    /// What was probably meant, to stand in the place of `at`.
    pub suggestion: Option<String>,
}

#[cfg(test)]
mod tests;

//! Lines of `recount find --json` and `recount related --json`.

use report::related::Related;
use serde::Serialize;
use store::catalog::{CommitRow, PrRow, SessionRow};

use super::time;

/// A session that did what was asked for, by `find`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "found_session")]
pub struct FoundSession<'a> {
    /// Its id.
    pub session: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// The folder it began in.
    pub project: Option<&'a str>,
    /// When it last did it.
    pub time: Option<String>,
    /// The transcript is not on disk any more.
    pub gone: bool,
    /// The files, with `--file`.
    pub files: Vec<FoundFile<'a>>,
    /// The commits, with `--commit`.
    pub commits: Vec<FoundCommit<'a>>,
    /// The pull requests, with `--pr`.
    pub pull_requests: Vec<FoundPr<'a>>,
}

/// A file that a session changed.
#[derive(Debug, Serialize)]
pub struct FoundFile<'a> {
    /// Its path, as recorded.
    pub path: &'a str,
    /// How often.
    pub edits: usize,
    /// Lines added to it.
    pub lines_added: u64,
    /// Lines removed from it.
    pub lines_removed: u64,
}

/// A commit that a session made.
#[derive(Debug, Serialize)]
pub struct FoundCommit<'a> {
    /// Its hash, as short as git printed it.
    hash: &'a str,
    /// The branch.
    branch: Option<&'a str>,
    /// The first line of its message.
    subject: Option<&'a str>,
    /// When.
    time: Option<String>,
    /// The number of the entry that says so.
    entry: u32,
}

impl<'a> From<&'a CommitRow> for FoundCommit<'a> {
    fn from(row: &'a CommitRow) -> Self {
        Self {
            hash: &row.hash,
            branch: row.branch.as_deref(),
            subject: row.subject.as_deref(),
            time: time(row.time),
            entry: row.entry,
        }
    }
}

/// A pull request that a session is linked to.
#[derive(Debug, Serialize)]
pub struct FoundPr<'a> {
    /// Its number.
    number: Option<u64>,
    /// Its repository.
    repository: Option<&'a str>,
    /// Its address.
    url: &'a str,
    /// When it was first named.
    time: Option<String>,
    /// The number of the entry that first names it.
    entry: u32,
}

impl<'a> From<&'a PrRow> for FoundPr<'a> {
    fn from(row: &'a PrRow) -> Self {
        Self {
            number: row.number,
            repository: row.repository.as_deref(),
            url: &row.url,
            time: time(row.time),
            entry: row.entry,
        }
    }
}

/// A session that is like another one, by `related`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "related_session")]
pub struct RelatedSession<'a> {
    /// Its id.
    session: &'a str,
    /// Its title.
    title: Option<&'a str>,
    /// The folder it began in.
    project: Option<&'a str>,
    /// The last entry's time.
    ended: Option<String>,
    /// How like it is by its files, from 0 to 1: 1 if it changed the same ones and no others. The
    /// lines are in the order of files and words together.
    score: f64,
    /// The files that both changed, the rarest first.
    shared: &'a [&'a str],
    /// Telling words that both say, the most telling first.
    words: &'a [&'a str],
}

impl<'a> RelatedSession<'a> {
    /// One session.
    pub fn new(session: &'a SessionRow, related: &'a Related<'a>) -> Self {
        Self {
            session: session.id.as_str(),
            title: session.title.as_deref(),
            project: session.project.as_deref(),
            ended: time(session.last),
            score: related.score,
            shared: &related.shared,
            words: &related.words,
        }
    }
}

//! `recall --json`.

use serde::Serialize;
use store::find::{self, QuoteRef};

/// One line of `recall`: a turn that tells something about what was asked, best first. Everything
/// in it is quoted: evidence to weigh, never instructions.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "evidence")]
pub struct Evidence {
    /// Its place, from 1.
    rank: usize,
    /// The session.
    session: String,
    /// The session's title.
    title: Option<String>,
    /// The folder the session began in.
    project: Option<String>,
    /// When it was written.
    time: Option<String>,
    /// The number of the entry that tells most; of the prompt, if `ghost`.
    entry: u32,
    /// The turn, from 1; none on branches that were left.
    turn: Option<u32>,
    /// `active`, `abandoned`, `compacted` or `subagent`.
    place: &'static str,
    /// What is quoted, in the order of the conversation.
    quotes: Vec<Quote>,
    /// The files that were changed in the turn.
    files: Vec<ChangedFile>,
    /// The transcript; the history, if `ghost`.
    file: String,
    /// The transcript is not on disk any more, and read from the store.
    gone: bool,
    /// There is no transcript of the session: only its prompts are left, in the history.
    ghost: bool,
}

/// A piece of an entry.
#[derive(Debug, Serialize)]
pub struct Quote {
    /// The number of the entry.
    entry: u32,
    /// `prompt`, `answer`, `thinking`, `call`, `output`, `summary` or `title`.
    role: &'static str,
    /// The words.
    text: String,
    /// Whether there is text before it.
    cut_before: bool,
    /// Whether there is text after it.
    cut_after: bool,
}

/// A file that was changed in a turn.
#[derive(Debug, Serialize)]
pub struct ChangedFile {
    /// Its path, as recorded.
    path: String,
    /// Whether a later call changed it again.
    changed_since: bool,
}

impl Evidence {
    /// One turn.
    pub fn new(rank: usize, evidence: &find::Evidence) -> Self {
        let find::Evidence { hit, files, .. } = evidence;
        let quotes = evidence.quotes().into_iter().map(Quote::from).collect();
        let changed = |file: &find::Changed| ChangedFile {
            path: file.path.clone(),
            changed_since: file.is_changed_since,
        };
        Self {
            rank,
            session: hit.session.id.to_string(),
            title: hit.session.title.clone(),
            project: hit.session.project.clone(),
            time: super::time(hit.time),
            entry: hit.entry,
            turn: hit.turn.map(|turn| turn + 1),
            place: hit.place.name(),
            quotes,
            files: files.iter().map(changed).collect(),
            file: hit.path.display().to_string(),
            gone: hit.is_gone,
            ghost: hit.is_ghost(),
        }
    }
}

impl From<QuoteRef<'_>> for Quote {
    fn from(quote: QuoteRef<'_>) -> Self {
        Self {
            entry: quote.entry,
            role: quote.role.name(),
            text: quote.snippet.text.clone(),
            cut_before: quote.snippet.is_cut_before,
            cut_after: quote.snippet.is_cut_after,
        }
    }
}

//! `search --json`.

use serde::Serialize;
use store::find::Hit;

/// One line of `search`: a turn that was found, best first; with `--regex` the newest first.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "hit")]
pub struct SearchHit {
    /// Its place among the hits, from 1.
    rank: usize,
    /// The session.
    session: String,
    /// The session's title.
    title: Option<String>,
    /// The folder the session began in.
    project: Option<String>,
    /// When it was written.
    time: Option<String>,
    /// The number of the entry in its transcript; of the prompt, if `ghost`.
    entry: u32,
    /// The turn, from 1; none on branches that were left.
    turn: Option<u32>,
    /// `prompt`, `answer`, `thinking`, `call`, `output`, `summary` or `title`.
    role: &'static str,
    /// `active`, `abandoned`, `compacted` or `subagent`.
    place: &'static str,
    /// The words around the match.
    snippet: String,
    /// Where the matches are in the snippet.
    marks: Vec<Mark>,
    /// The transcript; the history, if `ghost`.
    file: String,
    /// The transcript is not on disk any more, and read from the store.
    gone: bool,
    /// There is no transcript of the session, neither on disk nor in the store: only its prompts
    /// are left, in the history.
    ghost: bool,
    /// The command that shows it.
    open: String,
}

/// A match in a snippet, in bytes.
#[derive(Debug, Serialize)]
pub struct Mark {
    /// Its first byte.
    start: usize,
    /// The byte after its last.
    end: usize,
}

impl SearchHit {
    /// One hit.
    pub fn new(rank: usize, hit: &Hit, open: String) -> Self {
        Self {
            rank,
            session: hit.session.id.to_string(),
            title: hit.session.title.clone(),
            project: hit.session.project.clone(),
            time: super::time(hit.time),
            entry: hit.entry,
            turn: hit.turn.map(|turn| turn + 1),
            role: hit.role.name(),
            place: hit.place.name(),
            snippet: hit.snippet.text.clone(),
            marks: hit
                .snippet
                .marks
                .iter()
                .map(|mark| Mark { start: mark.start, end: mark.end })
                .collect(),
            file: hit.path.display().to_string(),
            gone: hit.is_gone,
            ghost: hit.is_ghost(),
            open,
        }
    }
}

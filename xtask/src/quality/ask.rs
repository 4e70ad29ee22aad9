//! Asking the questions, and what came of it.

use std::collections::HashSet;
use std::time::Instant;

use store::find::{self, Evidence, Room};
use store::index::By;
use store::query::Filters;

use super::home::{Asked, id};
use super::set::{Dialogue, Question};

/// Ranks that count as a hit.
pub const RANKS: [usize; 3] = [1, 5, 10];
/// Characters of evidence.
pub const BUDGETS: [usize; 2] = [2_000, 8_000];

/// Evidence counts as quoted if half of it is, or so many bytes.
const ENOUGH: usize = 150;

/// What came of one question.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The kind of the question.
    pub kind: String,
    /// The place of the first session with evidence among the sessions, from 1.
    pub session: Option<usize>,
    /// That of the first turn with evidence among the turns.
    pub turn: Option<usize>,
    /// That of the first turn whose best part is evidence.
    pub entry: Option<usize>,
    /// The share of the evidence that is quoted within each budget.
    pub quoted: [f64; 2],
    /// Nothing at all was found.
    pub is_empty: bool,
    /// How sure the answer is of itself.
    pub certainty: f32,
    /// How long it took, in milliseconds.
    pub time: f64,
}

/// A place in a dialogue: numbers of session and line.
type Place = (usize, usize);

/// Asks a question of the dialogue it belongs to.
pub fn ask(
    asked: &Asked,
    number: usize,
    dialogue: &Dialogue,
    question: &Question,
    by: By,
) -> Result<Outcome, String> {
    let start = Instant::now();
    let (found, certainty) =
        recall(asked, by, &question.text, Room { characters: 40_000, turns: 50 })?;
    let time = start.elapsed().as_secs_f64() * 1000.0;
    let mut outcome = Outcome {
        kind: question.kind.clone(),
        is_empty: found.is_empty(),
        certainty,
        time,
        ..Outcome::default()
    };
    let ids: Vec<String> = (0..dialogue.sessions.len()).map(|at| id(number, at)).collect();
    let session_of =
        |evidence: &Evidence| ids.iter().position(|id| id == evidence.hit.session.id.as_str());
    let wanted: HashSet<Place> = question.evidence.iter().copied().collect();
    let mut sessions: Vec<usize> = Vec::new();
    for (rank, evidence) in (1..).zip(&found) {
        let session = session_of(evidence).unwrap_or(usize::MAX);
        if !sessions.contains(&session) {
            sessions.push(session);
        }
        let line = evidence.hit.entry as usize - 1;
        let is_session = wanted.iter().any(|place| place.0 == session);
        let is_turn = is_session && {
            let lines = &dialogue.sessions[session].lines;
            let turn = |line: usize| lines[..=line].iter().filter(|line| line.is_prompt).count();
            wanted.iter().any(|place| place.0 == session && turn(place.1) == turn(line))
        };
        outcome.session = outcome.session.or(is_session.then_some(sessions.len()));
        outcome.turn = outcome.turn.or(is_turn.then_some(rank));
        let is_entry = wanted.contains(&(session, line));
        outcome.entry = outcome.entry.or(is_entry.then_some(rank));
    }
    for (share, characters) in outcome.quoted.iter_mut().zip(BUDGETS) {
        let (found, _) = recall(asked, by, &question.text, Room { characters, turns: 100 })?;
        let mut quoted: HashSet<Place> = HashSet::new();
        for evidence in &found {
            let session = session_of(evidence).unwrap_or(usize::MAX);
            let also = evidence.also.iter().map(|quote| (quote.entry, &quote.snippet));
            for (entry, snippet) in also.chain([(evidence.hit.entry, &evidence.hit.snippet)]) {
                let place = (session, entry as usize - 1);
                let is_enough = wanted.contains(&place) && {
                    let whole = &dialogue.sessions[place.0].lines[place.1].text;
                    snippet.text.len() >= ENOUGH.min(whole.len() / 2)
                };
                quoted.extend(is_enough.then_some(place));
            }
        }
        *share = wanted.intersection(&quoted).count() as f64 / wanted.len() as f64;
    }
    Ok(outcome)
}

/// How sure the answer is to a question about another dialogue.
pub fn ask_wrongly(asked: &Asked, question: &Question, by: By) -> Result<f32, String> {
    Ok(recall(asked, by, &question.text, Room { characters: 2_000, turns: 10 })?.1)
}

fn recall(asked: &Asked, by: By, text: &str, room: Room) -> Result<(Vec<Evidence>, f32), String> {
    let query = find::question(text, Filters::default());
    let found = asked.finder.recall(&query, room, by).map_err(|e| e.to_string())?;
    Ok((found.evidence, found.certainty))
}

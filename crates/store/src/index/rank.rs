//! The order of what was found.
//!
//! A turn's score is, word by word, the best of its parts, so that a question and its answer
//! count together. Turns are ranked by it, and so are sessions by the best of their turns; the
//! two ranks are joined as `1/(60+rank)` each. Time decides only between equals: as a factor it
//! would bury the one right answer of last year.

use std::cmp::Ordering;

use hashbrown::HashMap;
use tantivy::Score;

use super::pool::Candidate;
use super::search::{Match, Scope};
use crate::query::{Place, Role};

/// The constant of reciprocal rank fusion; large enough that rank 1 does not beat everything.
const FUSION: Score = 60.0;

/// Why a match stands where it does. The words are those of [`super::Found::words`].
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// BM25 of each word in the part that is shown.
    pub bm25: Vec<Score>,
    /// What the part counts for being a prompt, an answer, ...
    pub role_weight: Score,
    /// What it counts for where it stands.
    pub place_weight: Score,
    /// Sum over the words of the best part of the turn.
    pub turn_score: Score,
    /// From 1; equal scores have equal ranks.
    pub turn_rank: usize,
    /// Sum over the words of the best turn of the session.
    pub session_score: Score,
    /// From 1.
    pub session_rank: usize,
}

/// Titles and prompts say what a session is about; output has every word by chance.
pub(super) const fn role_weight(role: Role) -> Score {
    match role {
        Role::Title => 1.6,
        Role::Prompt => 1.4,
        Role::Summary => 1.2,
        Role::Answer => 1.0,
        Role::Thinking => 0.8,
        Role::Call => 0.7,
        Role::Output => 0.5,
    }
}

pub(super) const fn place_weight(place: Place) -> Score {
    match place {
        Place::Active => 1.0,
        Place::Compacted => 0.8,
        Place::Subagent => 0.7,
        Place::Abandoned => 0.6,
    }
}

struct Turn {
    session: u64,
    best: usize,
    best_score: Score,
    words: Vec<Score>,
    youngest: Option<i64>,
}

/// One match for each turn, best first.
pub(super) fn rank(candidates: &[Candidate], scope: &dyn Scope) -> Vec<Match> {
    let turns = turns(candidates, scope);
    let mut sessions: HashMap<u64, Vec<Score>> = HashMap::new();
    for turn in &turns {
        raise(sessions.entry(turn.session).or_default(), &turn.words);
    }
    let session_scores: HashMap<u64, Score> =
        sessions.iter().map(|(id, words)| (*id, words.iter().sum())).collect();
    let session_ranks = Ranks::of(session_scores.values().copied());
    let turn_ranks = Ranks::of(turns.iter().map(|turn| turn.words.iter().sum()));
    let mut ranked: Vec<(Match, Option<i64>)> = turns
        .into_iter()
        .map(|turn| {
            let session_score = session_scores[&turn.session];
            let youngest = turn.youngest;
            let ranks = (&turn_ranks, &session_ranks);
            (one_match(&candidates[turn.best], turn, session_score, ranks, scope), youngest)
        })
        .collect();
    ranked.sort_by(|(a, a_time), (b, b_time)| {
        let by_score = b.score.total_cmp(&a.score);
        let by_turn = || b.explain.turn_score.total_cmp(&a.explain.turn_score);
        let by_place = || (a.file, a.entry).cmp(&(b.file, b.entry));
        by_score.then_with(by_turn).then_with(|| b_time.cmp(a_time)).then_with(by_place)
    });
    ranked.into_iter().map(|(one, _)| one).collect()
}

fn turns(candidates: &[Candidate], scope: &dyn Scope) -> Vec<Turn> {
    let mut places: HashMap<(u64, u32), usize> = HashMap::new();
    let mut turns: Vec<Turn> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        let weight = role_weight(candidate.role)
            * place_weight(scope.place(candidate.file, candidate.entry));
        let words: Vec<Score> = candidate.words.iter().map(|score| score * weight).collect();
        let score: Score = words.iter().sum();
        let at = *places.entry((candidate.file, candidate.turn)).or_insert_with(|| {
            let session = scope.session(candidate.file);
            let (best, best_score) = (i, Score::MIN);
            turns.push(Turn { session, best, best_score, words: Vec::new(), youngest: None });
            turns.len() - 1
        });
        let turn = &mut turns[at];
        raise(&mut turn.words, &words);
        turn.youngest = turn.youngest.max(candidate.time);
        let known = &candidates[turn.best];
        let is_first = (candidate.entry, candidate.role) < (known.entry, known.role);
        let is_better = match score.total_cmp(&turn.best_score) {
            Ordering::Greater => true,
            Ordering::Equal => is_first,
            Ordering::Less => false,
        };
        if is_better {
            (turn.best, turn.best_score) = (i, score);
        }
    }
    turns
}

/// Takes the greater of each two.
fn raise(words: &mut Vec<Score>, other: &[Score]) {
    words.resize(words.len().max(other.len()), 0.0);
    for (word, other) in words.iter_mut().zip(other) {
        *word = word.max(*other);
    }
}

fn one_match(
    candidate: &Candidate,
    turn: Turn,
    session_score: Score,
    (turn_ranks, session_ranks): (&Ranks, &Ranks),
    scope: &dyn Scope,
) -> Match {
    let turn_score = turn.words.iter().sum();
    let turn_rank = turn_ranks.rank(turn_score);
    let session_rank = session_ranks.rank(session_score);
    let place = scope.place(candidate.file, candidate.entry);
    Match {
        file: candidate.file,
        entry: candidate.entry,
        turn: candidate.turn,
        role: candidate.role,
        place,
        score: 1.0 / (FUSION + turn_rank as Score) + 1.0 / (FUSION + session_rank as Score),
        explain: Explain {
            bm25: candidate.words.clone(),
            role_weight: role_weight(candidate.role),
            place_weight: place_weight(place),
            turn_score,
            turn_rank,
            session_score,
            session_rank,
        },
    }
}

/// Scores from the best; a rank is one more than the number of better scores.
struct Ranks(Vec<Score>);

impl Ranks {
    fn of(scores: impl Iterator<Item = Score>) -> Self {
        let mut all: Vec<Score> = scores.collect();
        all.sort_unstable_by(|a, b| b.total_cmp(a));
        Self(all)
    }

    fn rank(&self, score: Score) -> usize {
        self.0.partition_point(|better| better.total_cmp(&score) == Ordering::Greater) + 1
    }
}

//! The order of what was found.
//!
//! A turn's score is, word by word, the best of its parts, so that a question and its answer
//! count together, less if it has few of the words, more if they stand near each other as in the
//! query, with a little of the turns before and after it. A session's is that of a text of its
//! own, made of its turns: a word counts by how few sessions have it. Both are held against the
//! best there is and added, and so are the cosines, where meanings are known. Joining by
//! reciprocal ranks instead cost two points of session hit@1 on LoCoMo: how far a turn is behind
//! the first says more than its place. Time decides only between equals, or if the question names
//! a day: as a factor it would bury the one right answer of last year.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use tantivy::Score;
use transcript::time::Time;

use super::pool::Candidate;
use super::search::{Match, Scope};
use crate::meaning::Near;
use crate::query::{Day, Place, Role};

/// What a neighbour's words count for a turn. Chosen, as those below, on LoCoMo's tuning part.
const NEIGHBOUR: Score = 0.2;
/// How often a word has to be said in a session to count half of what it can.
const HALF: Score = 0.5;
/// What counts that words of the query stand near each other.
const PAIRS: Score = 0.6;
/// How near in meaning each further turn of a session has to be, of the one before.
const FURTHER: Score = 0.4;
/// What counts that a turn is of the day that the question names, as one in eight does.
const DAY: Score = 2.0;
/// What the words of a turn and those of its session count, and their meanings. Chosen also on
/// BEAM: a session that counts more finds more of LoCoMo's sessions and less of BEAM's evidence.
const WORDS: Weights = Weights { turn: 1.0, session: 0.75 };
const MEANING: Weights = Weights { turn: 1.5, session: 0.5 };

/// Why a match stands where it does. The words are those of [`super::Found::words`].
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// BM25 of each word in the part that is shown.
    pub bm25: Vec<Score>,
    /// That of those words once more which stand near each other, as they do in the query.
    pub pairs: Score,
    /// What the part counts for being a prompt, an answer, ...
    pub role_weight: Score,
    /// What it counts for where it stands.
    pub place_weight: Score,
    /// Sum over the words of the best part of the turn.
    pub turn_score: Score,
    /// From 1; equal scores have equal ranks.
    pub turn_rank: usize,
    /// That of the session as one text.
    pub session_score: Score,
    /// From 1.
    pub session_rank: usize,
    /// How near the turn is in meaning, from -1 to 1; nothing where that is not known.
    pub cosine: Option<Score>,
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
    file: u64,
    number: u32,
    session: u64,
    /// The candidates, the best first.
    parts: Vec<(Score, usize)>,
    words: Vec<Score>,
    pairs: Score,
    /// What is nearest in meaning, and how near.
    near: Option<Near>,
    cosine: Score,
    youngest: Option<i64>,
}

/// One match for each turn, best first.
pub(super) fn rank(
    candidates: &[Candidate],
    near: &[Near],
    days: &[Day],
    scope: &dyn Scope,
) -> Vec<Match> {
    let turns = turns(candidates, near, scope);
    let words = Points::of(by_turn(&turns), by_session(&turns), WORDS);
    let cosines = turns.iter().map(|turn| turn.cosine).collect();
    let meaning = Points::of(cosines, by_meaning(&turns), MEANING);
    let then = then(&turns, days);
    let mut ranked: Vec<(Match, Option<i64>)> = (0..turns.len())
        .map(|at| {
            let joined = words.joined(at, &turns[at]) + meaning.joined(at, &turns[at]);
            let score = joined + DAY * then[at];
            let explain = (words.turns[at], words.sessions[&turns[at].session]);
            let ranks = (words.turn_ranks.rank(explain.0), words.session_ranks.rank(explain.1));
            let found = one_match(candidates, &turns[at], score, explain, ranks, scope);
            (found, turns[at].youngest)
        })
        .collect();
    ranked.sort_by(|(a, a_time), (b, b_time)| {
        let by_score = b.score.total_cmp(&a.score);
        let by_turn = || b.explain.turn_score.total_cmp(&a.explain.turn_score);
        let by_place = || (a.file, a.entry).cmp(&(b.file, b.entry));
        by_score.then_with(by_turn).then_with(|| b_time.cmp(a_time)).then_with(by_place)
    });
    one_title_for_each_session(ranked.into_iter().map(|(one, _)| one).collect(), scope)
}

/// A title is a field of its session: Claude Code writes it again and again. Its words count for
/// the session, and a match of nothing but the title is kept once, for a session that has no
/// other match.
fn one_title_for_each_session(mut ranked: Vec<Match>, scope: &dyn Scope) -> Vec<Match> {
    let said = ranked.iter().filter(|one| one.role != Role::Title);
    let mut seen: HashSet<u64> = said.map(|one| scope.session(one.file)).collect();
    ranked.retain(|one| one.role != Role::Title || seen.insert(scope.session(one.file)));
    ranked
}

/// How much the days of the question say for each turn.
fn then(turns: &[Turn], days: &[Day]) -> Vec<Score> {
    let mut best = vec![0.0; turns.len()];
    for day in days {
        let told = |says: fn(&Day, Time) -> Score| -> Vec<Score> {
            let time = |turn: &Turn| Some(Time(turn.youngest?.saturating_mul(1000)));
            turns.iter().map(|turn| time(turn).map_or(0.0, |time| says(day, time))).collect()
        };
        let then = told(Day::told);
        let is_silent = then.iter().all(|score| *score == 0.0);
        raise(&mut best, &if is_silent { told(Day::told_about) } else { then });
    }
    best
}

/// The scores of turns and of their sessions, each to be held against the best of them: how much
/// worse a turn is says more than how many are better.
struct Points {
    turns: Vec<Score>,
    sessions: HashMap<u64, Score>,
    turn_ranks: Ranks,
    session_ranks: Ranks,
    weights: Weights,
}

#[derive(Clone, Copy)]
struct Weights {
    turn: Score,
    session: Score,
}

impl Points {
    fn of(turns: Vec<Score>, sessions: HashMap<u64, Score>, weights: Weights) -> Self {
        let turn_ranks = Ranks::of(turns.iter().copied());
        let session_ranks = Ranks::of(sessions.values().copied());
        Self { turns, sessions, turn_ranks, session_ranks, weights }
    }

    fn joined(&self, at: usize, turn: &Turn) -> Score {
        let of = |score: Score, ranks: &Ranks| score / ranks.best().max(Score::MIN_POSITIVE);
        self.weights.turn * of(self.turns[at], &self.turn_ranks)
            + self.weights.session * of(self.sessions[&turn.session], &self.session_ranks)
    }
}

/// A turn's words, less if it has few of them, more if they stand as in the query, with a little
/// of the turns before and after it.
fn by_turn(turns: &[Turn]) -> Vec<Score> {
    let score = |turn: &Turn| -> Score {
        let said = turn.words.iter().filter(|word| **word > 0.0).count() as Score;
        let share = (said / turn.words.len().max(1) as Score).sqrt();
        turn.words.iter().sum::<Score>() * share + PAIRS * turn.pairs
    };
    let own: HashMap<(u64, u32), Score> =
        turns.iter().map(|turn| ((turn.file, turn.number), score(turn))).collect();
    let with_neighbours = |turn: &Turn| -> Score {
        let at = |number: u32| own.get(&(turn.file, number)).copied().unwrap_or(0.0);
        let (before, after) = (turn.number.checked_sub(1).map_or(0.0, at), at(turn.number + 1));
        at(turn.number) + NEIGHBOUR * (before + after)
    };
    turns.iter().map(with_neighbours).collect()
}

/// A session's score as that of one text: a word that stands in few sessions counts much, and
/// the second time it is said less than the first.
fn by_session(turns: &[Turn]) -> HashMap<u64, Score> {
    let mut best: Vec<Score> = Vec::new();
    turns.iter().for_each(|turn| raise(&mut best, &turn.words));
    let mut said: HashMap<u64, Vec<Score>> = HashMap::new();
    for turn in turns {
        let sums = said.entry(turn.session).or_insert_with(|| vec![0.0; best.len()]);
        for ((sum, word), best) in sums.iter_mut().zip(&turn.words).zip(&best) {
            *sum += word / best.max(Score::MIN_POSITIVE);
        }
    }
    let count = |word: usize| said.values().filter(|sums| sums[word] > 0.0).count() as Score;
    let rarity = |with: Score| (1.0 + (said.len() as Score - with + 0.5) / (with + 0.5)).ln();
    let rarities: Vec<Score> = (0..best.len()).map(|word| rarity(count(word))).collect();
    let score = |sums: &Vec<Score>| {
        sums.iter().zip(&rarities).map(|(sum, rarity)| rarity * sum / (sum + HALF)).sum()
    };
    said.iter().map(|(session, sums)| (*session, score(sums))).collect()
}

/// How near a session is in meaning: as its nearest turn, with less and less of the next ones.
fn by_meaning(turns: &[Turn]) -> HashMap<u64, Score> {
    let mut all: HashMap<u64, Vec<Score>> = HashMap::new();
    turns.iter().for_each(|turn| all.entry(turn.session).or_default().push(turn.cosine));
    let sum = |mut cosines: Vec<Score>| {
        cosines.sort_unstable_by(|a, b| b.total_cmp(a));
        cosines.iter().rev().fold(0.0, |sum, cosine| cosine + FURTHER * sum)
    };
    all.into_iter().map(|(session, cosines)| (session, sum(cosines))).collect()
}

fn turns(candidates: &[Candidate], near: &[Near], scope: &dyn Scope) -> Vec<Turn> {
    let mut places: HashMap<(u64, u32), usize> = HashMap::new();
    let mut turns: Vec<Turn> = Vec::new();
    // A turn of which no meaning is known is as far away as the farthest.
    let farthest = near.iter().map(|near| near.cosine).fold(1.0, Score::min).max(0.0);
    let cosine = if near.is_empty() { 0.0 } else { farthest };
    let mut turn_at = |turns: &mut Vec<Turn>, file: u64, number: u32| {
        *places.entry((file, number)).or_insert_with(|| {
            turns.push(Turn {
                file,
                number,
                session: scope.session(file),
                parts: Vec::new(),
                words: Vec::new(),
                pairs: 0.0,
                near: None,
                cosine,
                youngest: None,
            });
            turns.len() - 1
        })
    };
    for (i, candidate) in candidates.iter().enumerate() {
        let weight = role_weight(candidate.role)
            * place_weight(scope.place(candidate.file, candidate.entry));
        let words: Vec<Score> = candidate.words.iter().map(|score| score * weight).collect();
        let at = turn_at(&mut turns, candidate.file, candidate.turn);
        let turn = &mut turns[at];
        turn.parts.push((words.iter().sum(), i));
        raise(&mut turn.words, &words);
        turn.pairs = turn.pairs.max(candidate.pairs * weight);
        turn.youngest = turn.youngest.max(candidate.time);
    }
    for one in near {
        let at = turn_at(&mut turns, one.file, one.turn);
        let turn = &mut turns[at];
        turn.near = Some(*one);
        turn.cosine = one.cosine.max(0.0) * place_weight(scope.place(one.file, one.entry));
        turn.youngest = turn.youngest.max(one.time.map(super::schema::seconds));
    }
    let place = |at: usize| (candidates[at].entry, candidates[at].role);
    for turn in &mut turns {
        turn.parts.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| place(a.1).cmp(&place(b.1))));
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
    candidates: &[Candidate],
    turn: &Turn,
    score: Score,
    (turn_score, session_score): (Score, Score),
    (turn_rank, session_rank): (usize, usize),
    scope: &dyn Scope,
) -> Match {
    let parts = turn.parts.iter().map(|(_, at)| &candidates[*at]);
    // A title is shown only where nothing else was found.
    let (titles, mut said): (Vec<&Candidate>, Vec<&Candidate>) =
        parts.partition(|part| part.role == Role::Title);
    if said.is_empty() && turn.near.is_none() {
        said.extend(titles.first());
    }
    let mut parts = said.into_iter();
    let best = parts.next();
    let by_words = best.map(|part| (part.entry, part.role));
    let by_meaning = turn.near.map(|near| (near.entry, near.role));
    let (entry, role) = by_words.or(by_meaning).expect("a turn was found by one or the other");
    let mut others: Vec<(u32, Role)> = parts.map(|part| (part.entry, part.role)).collect();
    let is_shown = |part| part == (entry, role) || others.contains(&part);
    let further = by_meaning.filter(|part| !is_shown(*part));
    others.extend(further);
    let place = scope.place(turn.file, entry);
    Match {
        file: turn.file,
        entry,
        turn: turn.number,
        role,
        place,
        score,
        others,
        near: turn.near,
        explain: Explain {
            bm25: best.map(|part| part.words.clone()).unwrap_or_default(),
            pairs: best.map_or(0.0, |part| part.pairs),
            role_weight: role_weight(role),
            place_weight: place_weight(place),
            turn_score,
            turn_rank,
            session_score,
            session_rank,
            cosine: turn.near.map(|near| near.cosine),
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

    fn best(&self) -> Score {
        self.0.first().copied().unwrap_or(0.0)
    }

    fn rank(&self, score: Score) -> usize {
        self.0.partition_point(|better| better.total_cmp(&score) == Ordering::Greater) + 1
    }
}

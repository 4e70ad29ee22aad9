//! Searching: words to units, units to a pool of documents, the pool to ranked turns; and up the
//! ladder when nothing is found.

use hashbrown::HashSet;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery,
    Query as EngineQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, Score, Searcher, Term};

use super::pool::{Candidate, Pool, Statistics};
use super::rank::{self, Explain};
use super::schema::{self, Fields};
use super::snippet::contains_phrase;
use super::unit::{self, Dictionary, PART, Unit, Units};
use super::{Index, IndexError, failure};
use crate::meaning::Near;
use crate::query::{self, ErrorIs, Filters, Place, Query, Role};

/// What the catalog knows and the index does not.
pub trait Scope {
    /// The files the query's names stand for, or `None` for all. Few of them make a search fast.
    fn files(&self) -> Option<&[u64]> {
        None
    }

    /// Whether matches in this file are wanted.
    fn allows(&self, file: u64) -> bool;

    /// The session a file belongs to; a subagent's file belongs to its parent's.
    fn session(&self, file: u64) -> u64;

    /// Where an entry stands.
    fn place(&self, file: u64, entry: u32) -> Place;

    /// Whether the entry is also in another file, which is where it should be found.
    fn is_copy(&self, _file: u64, _entry: u32) -> bool {
        false
    }

    /// The turns that are nearest in meaning, and how near each of `turns` (files and numbers) is;
    /// nothing where nothing is known of meanings. `words` are those of the query.
    fn near(&self, _words: &[WordUse], _turns: &HashSet<(u64, u32)>) -> Vec<Near> {
        Vec::new()
    }

    /// The text of a part, to look for a phrase in it. Without it a phrase in calls and output
    /// is found wherever all its words are.
    fn text(&self, _file: u64, _entry: u32, _role: Role) -> Option<String> {
        None
    }
}

/// Every file, each a session of its own, everything active.
#[derive(Debug, Clone, Copy)]
pub struct Everything;

impl Scope for Everything {
    fn allows(&self, _file: u64) -> bool {
        true
    }

    fn session(&self, file: u64) -> u64 {
        file
    }

    fn place(&self, _file: u64, _entry: u32) -> Place {
        Place::Active
    }
}

/// Which matches to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// At most so many.
    pub limit: usize,
    /// After so many better ones.
    pub offset: usize,
    /// How many documents of each text field are looked at closely, at least.
    pub pool: usize,
    /// What ranks.
    pub by: By,
    /// Only what is written as it was asked for, to the letter: no other forms, no typos.
    pub is_exact: bool,
}

/// What ranks: the words that were used, what was meant, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Both, as far as meanings are known.
    #[default]
    Both,
    /// The words alone.
    Words,
    /// The meaning alone.
    Meaning,
}

impl Default for Options {
    fn default() -> Self {
        Self { limit: 20, offset: 0, pool: 300, by: By::Both, is_exact: false }
    }
}

/// How far the ladder was climbed until something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// The words, in any form of theirs; phrases as they are; words that are everywhere count
    /// for nothing.
    Words,
    /// Longer words that begin with the same stem; phrases as their words.
    Forms,
    /// Words that differ in one letter.
    Typos,
    /// Words with the text somewhere in them.
    Substring,
    /// The words that are everywhere.
    Common,
}

impl Rung {
    const ALL: [Self; 5] = [Self::Words, Self::Forms, Self::Typos, Self::Substring, Self::Common];

    /// What a hit of this rung counts.
    pub(super) const fn weight(self) -> Score {
        match self {
            Self::Words | Self::Common => 1.0,
            Self::Forms => 0.7,
            Self::Typos => 0.5,
            Self::Substring => 0.3,
        }
    }

    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Forms => "word forms",
            Self::Typos => "typos",
            Self::Substring => "parts of words",
            Self::Common => "common words",
        }
    }
}

/// A turn that matches, by its best part.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The file's number in the catalog.
    pub file: u64,
    /// The entry of the best part.
    pub entry: u32,
    /// The turn.
    pub turn: u32,
    /// What the best part is.
    pub role: Role,
    /// Where it stands.
    pub place: Place,
    /// The joined ranks; only the order means something.
    pub score: Score,
    /// The other parts of the turn that match, the best first.
    pub others: Vec<(u32, Role)>,
    /// The part that is nearest in meaning.
    pub near: Option<Near>,
    /// Why it stands where it does.
    pub explain: Explain,
}

/// How a word of the query was used.
#[derive(Debug, Clone, PartialEq)]
pub struct WordUse {
    /// As it was typed.
    pub word: String,
    /// The terms of the index it stood for.
    pub terms: Vec<String>,
    /// How many documents have it.
    pub frequency: u64,
    /// Whether it was too frequent to look for.
    pub is_common: bool,
    /// How it was found.
    pub rung: Rung,
}

/// What a search gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Best first, one for each turn.
    pub matches: Vec<Match>,
    /// How far the ladder was climbed.
    pub rung: Rung,
    /// The query's words.
    pub words: Vec<WordUse>,
    /// Whether there are more after these, as far as the pool reaches.
    pub is_more: bool,
}

impl Index {
    /// Searches what was committed when the index was opened or last reloaded.
    pub fn search(
        &self,
        query: &Query,
        scope: &dyn Scope,
        options: Options,
    ) -> Result<Found, IndexError> {
        let searcher = self.reader.searcher();
        let dictionary = Dictionary { searcher: &searcher, fields: self.fields };
        let size = options.pool.max(4 * (options.limit + options.offset));
        let pool = Pool { query, scope, size };
        let Options { by, is_exact, .. } = options;
        let fields = self.fields;
        let search = Search { searcher: &searcher, fields, dictionary, pool, by, is_exact };
        let (ranked, rung, units) = search.run().map_err(|error| failure(&self.path, error))?;
        let count = ranked.len();
        let matches: Vec<Match> =
            ranked.into_iter().skip(options.offset).take(options.limit).collect();
        let is_more = count > options.offset + matches.len();
        Ok(Found { matches, rung, words: units.iter().map(word_use).collect(), is_more })
    }
}

fn word_use(unit: &Unit) -> WordUse {
    WordUse {
        terms: unit.terms().map(|(term, _)| term.to_owned()).collect(),
        word: unit.typed.clone(),
        frequency: unit.frequency,
        is_common: unit.is_common,
        rung: unit.rung,
    }
}

/// So many texts are read to look for a phrase.
const TEXTS: usize = 64;
/// The same where somebody waits for whom each millisecond counts.
const EXACT_TEXTS: usize = 16;
/// Words so far from each other, or nearer, belong together.
const NEAR: u32 = 5;
/// A filter of so many files is asked of the index, a longer one of each document.
const FILES: usize = 256;

type Clause = (Occur, Box<dyn EngineQuery>);

struct Search<'a> {
    searcher: &'a Searcher,
    fields: Fields,
    dictionary: Dictionary<'a>,
    pool: Pool<'a>,
    by: By,
    is_exact: bool,
}

impl Search<'_> {
    fn run(&self) -> tantivy::Result<(Vec<Match>, Rung, Vec<Unit>)> {
        let query = self.pool.query;
        if query.terms.is_empty() {
            let narrow = self.narrowed(Box::new(AllQuery), self.clauses()?);
            let candidates = self.pool.youngest(&*narrow, self.searcher)?;
            return Ok((
                rank::rank(&candidates, &[], &[], self.pool.scope),
                Rung::Words,
                Vec::new(),
            ));
        }
        let Units { mut units, phrases } = Units::of(&query.terms);
        if self.is_exact {
            let candidates = match self.dictionary.has_all(&mut units)? {
                true => self.candidates(&units, &phrases, Rung::Words)?,
                false => Vec::new(),
            };
            return Ok((self.ranked(&candidates, &units), Rung::Words, units));
        }
        self.dictionary.look_up(&mut units)?;
        if self.by == By::Meaning {
            return Ok((self.ranked(&[], &units), Rung::Words, units));
        }
        for rung in Rung::ALL {
            if rung > Rung::Words {
                units.iter_mut().try_for_each(|unit| self.dictionary.climb(unit, rung))?;
            }
            let phrases = if rung == Rung::Words { &phrases[..] } else { &[] };
            let candidates = self.candidates(&units, phrases, rung)?;
            if !candidates.is_empty() {
                let highest = units.iter().map(|unit| unit.rung).max().unwrap_or(rung).max(rung);
                return Ok((self.ranked(&candidates, &units), highest, units));
            }
        }
        Ok((self.ranked(&[], &units), Rung::Words, units))
    }

    /// By words, and by meaning where that can be told.
    fn ranked(&self, candidates: &[Candidate], units: &[Unit]) -> Vec<Match> {
        let scope = self.pool.scope;
        let near = match self.by == By::Words || !says_all(self.pool.query) {
            true => Vec::new(),
            false => {
                let words: Vec<WordUse> = units.iter().map(word_use).collect();
                let turns = candidates.iter().map(|one| (one.file, one.turn)).collect();
                scope.near(&words, &turns)
            }
        };
        rank::rank(candidates, &near, &self.pool.query.days, scope)
    }

    fn candidates(
        &self,
        units: &[Unit],
        phrases: &[Vec<String>],
        rung: Rung,
    ) -> tantivy::Result<Vec<Candidate>> {
        let has_rare = units.iter().any(|unit| !unit.is_common);
        let takes = |unit: &&Unit| !unit.is_common || !has_rare || rung == Rung::Common;
        let wanted: Vec<&Unit> = units.iter().filter(takes).collect();
        let mut all = Vec::new();
        for field in [self.fields.said, self.fields.done] {
            if !self.wants(field) {
                continue;
            }
            let statistics = Statistics::of(self.searcher, self.fields, field)?;
            let mut clauses = self.clauses()?;
            clauses.extend(self.text_clauses(field, phrases)?);
            let narrow = self.narrowed(any_of(&wanted, field), clauses);
            let mut found = self.pool.best(&*narrow, &statistics)?;
            if field == self.fields.done && !phrases.is_empty() {
                self.keep_phrases(&mut found, phrases);
            }
            self.score_words(&mut found, units, field, &statistics)?;
            // What is everywhere says nothing, also where something else was found.
            for candidate in &mut found {
                let words = candidate.words.iter_mut().zip(units);
                words.filter(|(_, unit)| !takes(unit)).for_each(|(score, _)| *score = 0.0);
            }
            if field == self.fields.said {
                self.score_pairs(&mut found, units)?;
            }
            all.append(&mut found);
        }
        Ok(all)
    }

    /// Whether the roles that are asked for are in this field.
    fn wants(&self, field: Field) -> bool {
        let asked = &self.pool.query.only.role;
        asked.is_empty() || asked.iter().any(|role| self.fields.text(*role) == field)
    }

    /// Documents that match the clauses, by the score of the words alone.
    fn narrowed(&self, words: Box<dyn EngineQuery>, clauses: Vec<Clause>) -> Box<dyn EngineQuery> {
        if clauses.is_empty() {
            return words;
        }
        let silent = |query| Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn EngineQuery>;
        let mut all: Vec<Clause> = clauses
            .into_iter()
            .map(|(occur, query)| (occur, if occur == Occur::Must { silent(query) } else { query }))
            .collect();
        all.push((Occur::Must, words));
        Box::new(BooleanQuery::new(all))
    }

    /// The filters that the index can answer.
    fn clauses(&self) -> tantivy::Result<Vec<Clause>> {
        let mut clauses = Vec::new();
        if let Some(files) = self.pool.scope.files().filter(|files| files.len() <= FILES) {
            let terms = files.iter().map(|file| Term::from_field_u64(self.fields.file, *file));
            clauses.push((Occur::Must, set(terms)));
        }
        let query = self.pool.query;
        for (filters, occur) in [(&query.only, Occur::Must), (&query.except, Occur::MustNot)] {
            self.filter_clauses(filters, occur, &mut clauses)?;
        }
        Ok(clauses)
    }

    fn filter_clauses(
        &self,
        filters: &Filters,
        occur: Occur,
        clauses: &mut Vec<Clause>,
    ) -> tantivy::Result<()> {
        if !filters.tool.is_empty() {
            let term =
                |tool: &String| Term::from_field_text(self.fields.tool, &tool.to_lowercase());
            clauses.push((occur, set(filters.tool.iter().map(term))));
        }
        if !filters.file.is_empty() {
            clauses.push((occur, set(self.paths(&filters.file)?)));
        }
        if !filters.error.is_empty() {
            let any = filters.error.iter().map(|value| (Occur::Should, self.error_is(value)));
            clauses.push((occur, Box::new(BooleanQuery::new(any.collect()))));
        }
        Ok(())
    }

    fn error_is(&self, value: &ErrorIs) -> Box<dyn EngineQuery> {
        let failed = term_query(self.fields.failed());
        match value {
            ErrorIs::Yes => failed,
            ErrorIs::No => Box::new(BooleanQuery::new(vec![
                (Occur::Must, Box::new(AllQuery)),
                (Occur::MustNot, failed),
            ])),
            ErrorIs::With(word) => {
                let said = self.phrase(self.fields.said, word);
                let done = self.phrase(self.fields.done, word);
                let either = BooleanQuery::new(vec![(Occur::Should, said), (Occur::Should, done)]);
                Box::new(BooleanQuery::new(vec![
                    (Occur::Must, failed),
                    (Occur::Must, Box::new(either)),
                ]))
            }
        }
    }

    /// The recorded paths that end so, or lie in a folder if the value ends with a slash.
    fn paths(&self, values: &[String]) -> tantivy::Result<Vec<Term>> {
        let wanted: Vec<(bool, String)> = values
            .iter()
            .map(|value| (value.ends_with(['/', '\\']), schema::reversed(value)))
            .collect();
        let mut found = HashSet::new();
        for reader in self.searcher.segment_readers() {
            let inverted = reader.inverted_index(self.fields.path)?;
            let mut stream = inverted.terms().stream()?;
            while stream.advance() {
                let Ok(path) = std::str::from_utf8(stream.key()) else { continue };
                let is_wanted = wanted.iter().any(|(is_folder, end)| match is_folder {
                    true => path.contains(&format!("/{end}")),
                    false => path.starts_with(end.as_str()),
                });
                if is_wanted && !found.contains(path) {
                    found.insert(path.to_owned());
                }
            }
        }
        Ok(found.iter().map(|path| Term::from_field_text(self.fields.path, path)).collect())
    }

    /// What must and must not occur in the text.
    fn text_clauses(&self, field: Field, phrases: &[Vec<String>]) -> tantivy::Result<Vec<Clause>> {
        let mut clauses: Vec<Clause> =
            phrases.iter().map(|phrase| (Occur::Must, self.in_order(field, phrase))).collect();
        for term in &self.pool.query.without {
            let query = match term {
                query::Term::Word(text) | query::Term::Phrase(text) => self.phrase(field, text),
                query::Term::Prefix(_) => {
                    let mut units = Units::of(std::slice::from_ref(term)).units;
                    self.dictionary.look_up(&mut units)?;
                    let units: Vec<&Unit> = units.iter().collect();
                    any_of(&units, field)
                }
            };
            clauses.push((Occur::MustNot, query));
        }
        Ok(clauses)
    }

    fn phrase(&self, field: Field, text: &str) -> Box<dyn EngineQuery> {
        match unit::phrase(text) {
            Some(terms) => self.in_order(field, &terms),
            None => Box::new(EmptyQuery),
        }
    }

    /// The terms one after the other; all of them, where there are no positions.
    fn in_order(&self, field: Field, terms: &[String]) -> Box<dyn EngineQuery> {
        let terms = terms.iter().map(|term| Term::from_field_text(field, term));
        if field == self.fields.said && terms.len() > 1 {
            return Box::new(PhraseQuery::new(terms.collect()));
        }
        let all = terms.map(|term| (Occur::Must, term_query(term)));
        Box::new(BooleanQuery::new(all.collect()))
    }

    /// Looks for the phrases in the texts, of the best first; what is not looked at goes.
    fn keep_phrases(&self, found: &mut Vec<Candidate>, phrases: &[Vec<String>]) {
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(if self.is_exact { EXACT_TEXTS } else { TEXTS });
        let is_literal = |text: &str| {
            self.pool.query.terms.iter().all(|term| match term {
                query::Term::Phrase(phrase) => text.contains(phrase.as_str()),
                _ => true,
            })
        };
        found.retain(|candidate| {
            let text = self.pool.scope.text(candidate.file, candidate.entry, candidate.role);
            if self.is_exact {
                return text.is_none_or(|text| is_literal(&text));
            }
            text.is_none_or(|text| phrases.iter().all(|phrase| contains_phrase(&text, phrase)))
        });
    }

    /// BM25 of each word in each candidate: the pool knows only their sum.
    fn score_words(
        &self,
        found: &mut [Candidate],
        units: &[Unit],
        field: Field,
        statistics: &Statistics<'_>,
    ) -> tantivy::Result<()> {
        found.sort_unstable_by_key(|candidate| (candidate.segment, candidate.doc));
        for candidate in found.iter_mut() {
            candidate.words = vec![0.0; units.len()];
        }
        for (at, unit) in units.iter().enumerate() {
            let scores = |term: &str| self.term_scores(found, field, term, statistics);
            let mut best = vec![0.0; found.len()];
            for part in &unit.parts {
                add(&mut best, &scores(part)?);
            }
            if let Some(whole) = &unit.whole {
                best.iter_mut().for_each(|score| *score *= PART);
                raise(&mut best, &scores(whole)?, 1.0);
            }
            for (other, weight) in &unit.others {
                raise(&mut best, &scores(other)?, *weight);
            }
            for (candidate, score) in found.iter_mut().zip(best) {
                candidate.words[at] = score;
            }
        }
        Ok(())
    }

    /// A term's BM25 in each candidate; they are in the order of the index.
    fn term_scores(
        &self,
        found: &[Candidate],
        field: Field,
        term: &str,
        statistics: &Statistics<'_>,
    ) -> tantivy::Result<Vec<Score>> {
        let mut scores = vec![0.0; found.len()];
        let term = Term::from_field_text(field, term);
        let Some(weight) = statistics.weight(&term)? else {
            return Ok(scores);
        };
        let all: Vec<(usize, &Candidate)> = found.iter().enumerate().collect();
        self.visit(&all, &term, IndexRecordOption::WithFreqs, |at, postings, norm| {
            scores[at] = weight.score(norm, postings.term_freq());
        })?;
        Ok(scores)
    }

    /// Gives the postings of a term in those of the candidates that have it, with the length of
    /// the text as the engine keeps it.
    fn visit(
        &self,
        found: &[(usize, &Candidate)],
        term: &Term,
        option: IndexRecordOption,
        mut each: impl FnMut(usize, &mut SegmentPostings, u8),
    ) -> tantivy::Result<()> {
        for run in found.chunk_by(|(_, a), (_, b)| a.segment == b.segment) {
            let reader = self.searcher.segment_reader(run[0].1.segment as u32);
            let norms = reader.get_fieldnorms_reader(term.field())?;
            let inverted = reader.inverted_index(term.field())?;
            let Some(mut postings) = inverted.read_postings(term, option)? else { continue };
            for (at, candidate) in run {
                let is_there = postings.doc() == candidate.doc
                    || postings.doc() < candidate.doc
                        && postings.seek(candidate.doc) == candidate.doc;
                if is_there {
                    each(*at, &mut postings, norms.fieldnorm_id(candidate.doc));
                }
            }
        }
        Ok(())
    }

    /// Counts words that follow one another in the query and stand near each other in the text:
    /// each time the weaker of the two.
    fn score_pairs(&self, found: &mut [Candidate], units: &[Unit]) -> tantivy::Result<()> {
        let is_used = |at: &usize| found.iter().any(|candidate| candidate.words[*at] > 0.0);
        let used: Vec<usize> = (0..units.len()).filter(is_used).collect();
        for (&a, &b) in used.iter().zip(used.iter().skip(1)) {
            let weaker = |one: &Candidate| one.words[a].min(one.words[b]);
            let with_both: Vec<(usize, &Candidate)> =
                found.iter().enumerate().filter(|(_, one)| weaker(one) > 0.0).collect();
            if with_both.is_empty() {
                continue;
            }
            let first = self.positions(&with_both, &units[a], found.len())?;
            let second = self.positions(&with_both, &units[b], found.len())?;
            let places = first.iter().zip(&second);
            let near: Vec<bool> = places.map(|(a, b)| are_near(a, b)).collect();
            for (one, _) in found.iter_mut().zip(near).filter(|(_, is_near)| *is_near) {
                one.pairs += weaker(one);
            }
        }
        Ok(())
    }

    /// Where a word stands in the candidates, in order.
    fn positions(
        &self,
        found: &[(usize, &Candidate)],
        unit: &Unit,
        count: usize,
    ) -> tantivy::Result<Vec<Vec<u32>>> {
        let mut all = vec![Vec::new(); count];
        let mut some = Vec::new();
        for (term, _) in unit.terms() {
            let term = Term::from_field_text(self.fields.said, term);
            let option = IndexRecordOption::WithFreqsAndPositions;
            self.visit(found, &term, option, |at, postings, _| {
                postings.positions(&mut some);
                all[at].append(&mut some);
            })?;
        }
        all.iter_mut().for_each(|places| places.sort_unstable());
        Ok(all)
    }
}

/// Whether some of two sorted lists are no farther from each other than words of one thought.
fn are_near(mut a: &[u32], mut b: &[u32]) -> bool {
    while let ([first, rest_of_a @ ..], [second, rest_of_b @ ..]) = (a, b) {
        if first.abs_diff(*second) <= NEAR {
            return true;
        }
        (a, b) = if first < second { (rest_of_a, b) } else { (a, rest_of_b) };
    }
    false
}

/// Whether a query is plain words: what must occur, or must not, a meaning can't tell; nor what is
/// asked of calls and outputs.
fn says_all(query: &Query) -> bool {
    let is_plain = |term: &query::Term| matches!(term, query::Term::Word(_));
    let none = |filters: &Filters| {
        filters.tool.is_empty() && filters.file.is_empty() && filters.error.is_empty()
    };
    let are_plain = query.terms.iter().all(is_plain) && query.without.is_empty();
    are_plain && none(&query.only) && none(&query.except)
}

fn add(sums: &mut [Score], scores: &[Score]) {
    sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
}

fn raise(best: &mut [Score], scores: &[Score], weight: Score) {
    best.iter_mut().zip(scores).for_each(|(best, score)| *best = best.max(score * weight));
}

fn term_query(term: Term) -> Box<dyn EngineQuery> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

fn set(terms: impl IntoIterator<Item = Term>) -> Box<dyn EngineQuery> {
    Box::new(TermSetQuery::new(terms))
}

/// Any term of any unit. Only plain terms, so that the engine can skip blocks.
fn any_of(units: &[&Unit], field: Field) -> Box<dyn EngineQuery> {
    let mut seen = HashSet::new();
    let mut clauses: Vec<Clause> = Vec::new();
    for (term, weight) in units.iter().flat_map(|unit| unit.terms()) {
        if !seen.insert(term) {
            continue;
        }
        let term = Term::from_field_text(field, term);
        let query: Box<dyn EngineQuery> =
            Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        let query = if weight == 1.0 { query } else { Box::new(BoostQuery::new(query, weight)) };
        clauses.push((Occur::Should, query));
    }
    Box::new(BooleanQuery::new(clauses))
}

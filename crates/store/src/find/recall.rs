//! The evidence for a question in plain words: the turns that answer it best, each as the few
//! sentences that tell, as many as there is room for.

use super::{Finder, FinderScope, Hit, snippet};
use crate::index::{By, Found, Marker, Match, Options, Rung, Snippet, WordUse};
use crate::query::{Day, Filters, Query, Role, Term};
use crate::sync::SyncError;
use crate::token;
use transcript::time::Time;

/// How much of a turn is quoted, in characters.
pub const QUOTE: usize = 500;

/// How much of that is its best part, if others tell something too: a question and its answer
/// tell more than twice as much of the answer.
const PART: usize = 350;

/// Less than this is not worth quoting.
const LEAST: usize = 60;

/// So many of the best turns are read word by word, where the model is there, and what that
/// counts. Chosen on LoCoMo's tuning part: more of them gain nothing.
const CLOSE: usize = 10;
const CLOSENESS: f32 = 1.5;

/// So many changed files are named.
const FILES: usize = 5;

/// From this certainty on, evidence may be given to somebody who has not asked for it.
pub const SURE: f32 = 0.8;

/// Fewer words than this come together by chance: `commit`, `push`.
const TOGETHER: usize = 3;

/// How much evidence is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// So many characters of quotes.
    pub characters: usize,
    /// At most so many turns.
    pub turns: usize,
}

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The number of the entry.
    pub entry: u32,
    /// Who said it.
    pub role: Role,
    /// The words.
    pub snippet: Snippet,
}

/// A turn that tells something about what was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The turn, with the part of it that tells most.
    pub hit: Hit,
    /// Other parts of the turn, in the order of the conversation.
    pub also: Vec<Quote>,
    /// The files that were changed in the turn.
    pub files: Vec<Changed>,
}

/// A part of an entry that is quoted.
#[derive(Debug, Clone, Copy)]
pub struct QuoteRef<'a> {
    /// The number of the entry.
    pub entry: u32,
    /// Who said it.
    pub role: Role,
    /// The words, and whether they are cut.
    pub snippet: &'a Snippet,
}

impl<'a> QuoteRef<'a> {
    /// The words.
    pub fn text(&self) -> &'a str {
        &self.snippet.text
    }
}

/// A file that was changed in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its path, as recorded.
    pub path: String,
    /// When it was last changed in the turn.
    pub time: Option<Time>,
    /// Whether a later call changed it again: then what was said of it may not hold any more.
    pub is_changed_since: bool,
}

impl Evidence {
    /// Everything that is quoted, in the order of the conversation.
    pub fn quotes(&self) -> Vec<QuoteRef<'_>> {
        let own = &self.hit;
        let also = self.also.iter().map(|quote| (quote.entry, quote.role, &quote.snippet));
        let all = also.chain([(own.entry, own.role, &own.snippet)]);
        let mut all: Vec<QuoteRef<'_>> =
            all.map(|(entry, role, snippet)| QuoteRef { entry, role, snippet }).collect();
        all.sort_by_key(|quote| quote.entry);
        all
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let also = self.also.iter().map(|quote| &*quote.snippet.text);
        also.chain([&*self.hit.snippet.text])
    }

    /// How many characters are quoted.
    pub fn characters(&self) -> usize {
        self.texts().map(|text| text.chars().count()).sum()
    }

    /// Whether this is quoted already.
    fn says(&self, text: &str) -> bool {
        self.texts().any(|said| said == text)
    }
}

/// What is known about a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The best first.
    pub evidence: Vec<Evidence>,
    /// How the words were found.
    pub rung: Rung,
    /// The words of the question.
    pub words: Vec<WordUse>,
    /// How much of what was asked the best turn speaks of, from 0 to 1: each word counts as much
    /// as it is rare, and one that is nowhere counts most. 0 where the words may have come
    /// together by chance.
    pub certainty: f32,
    /// Whether more was found than there is room for.
    pub is_more: bool,
}

/// A question as a query: every word of it, and nothing that means something to the query
/// language.
pub fn question(text: &str, only: Filters) -> Query {
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    let terms = words.map(|word| Term::Word(word.into())).collect();
    Query { terms, only, days: Day::named(text), ..Query::default() }
}

impl Finder {
    /// What the store knows about a question.
    pub fn recall(&self, query: &Query, room: Room, by: By) -> Result<Recalled, SyncError> {
        let _snapshots = (self.catalog.snapshot()?, self.archive.snapshot()?);
        let scope = FinderScope::new(self, query)?;
        let options = Options { limit: room.turns, by, ..Options::default() };
        let found = self.index.search(query, &scope, options)?;
        let marker = Marker::of(&found);
        let (mut left, mut evidence) = (room.characters, Vec::new());
        for one in self.closest(query, &found, &marker)? {
            if left < LEAST {
                break;
            }
            let Some(mut quoted) = self.quoted(one, &marker, left.min(QUOTE))? else { continue };
            quoted.files = self.changed(one.file as i64, one.entry)?;
            left = left.saturating_sub(quoted.characters());
            evidence.push(quoted);
        }
        let is_more = found.is_more || evidence.len() < found.matches.len();
        let certainty = certainty(&found, self.index.documents());
        let Found { rung, words, .. } = found;
        Ok(Recalled { evidence, rung, words, certainty, is_more })
    }

    /// What a turn tells, in so many characters.
    fn quoted(
        &self,
        one: &Match,
        marker: &Marker,
        most: usize,
    ) -> Result<Option<Evidence>, SyncError> {
        let width = if one.others.is_empty() { most } else { most.min(PART) };
        let Some(part) = self.shown_part(one)? else { return Ok(None) };
        let Some(hit) = self.hit_of(one, part, marker, width)? else { return Ok(None) };
        let mut quoted = Evidence { hit, also: Vec::new(), files: Vec::new() };
        for (entry, role) in &one.others {
            let spare = most.saturating_sub(quoted.characters());
            if spare < LEAST {
                break;
            }
            let Some(words) = self.words(one.file as i64, *entry, *role)? else { continue };
            let snippet = snippet(one, (*entry, *role), marker, &words.text, spare);
            if !quoted.says(&snippet.text) {
                quoted.also.push(Quote { entry: *entry, role: *role, snippet });
            }
        }
        quoted.also.sort_by_key(|quote| quote.entry);
        Ok(Some(quoted))
    }

    /// What was found, the best of it read again word by word where meanings are known.
    fn closest<'a>(
        &self,
        query: &Query,
        found: &'a Found,
        marker: &Marker,
    ) -> Result<Vec<&'a Match>, SyncError> {
        let mut all: Vec<&Match> = found.matches.iter().collect();
        if all.iter().all(|one| one.near.is_none()) {
            return Ok(all);
        }
        let Some((_, model)) = self.meaning() else { return Ok(all) };
        let mut quotes: Vec<(usize, String)> = Vec::new();
        for (at, one) in all.iter().take(CLOSE).enumerate() {
            let quoted = self.quoted(one, marker, QUOTE)?;
            quotes.extend(quoted.iter().flat_map(Evidence::texts).map(|text| (at, text.into())));
        }
        let texts: Vec<&str> = quotes.iter().map(|(_, text)| &**text).collect();
        let asked = weighed(query, &found.words, self.index.documents());
        // Without the model there are still words and vectors.
        let Some(close) = model.closeness(&asked, &texts) else { return Ok(all) };
        let best = close.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let score = |at: usize| {
            let own = quotes.iter().zip(&close).filter(|((of, _), _)| *of == at);
            all[at].score + CLOSENESS * own.map(|(_, close)| close / best).fold(0.0, f32::max)
        };
        let mut read: Vec<(f32, &Match)> =
            (0..all.len().min(CLOSE)).map(|at| (score(at), all[at])).collect();
        read.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.splice(..read.len(), read.into_iter().map(|(_, one)| one));
        Ok(all)
    }

    /// The files that were changed in the turn of an entry.
    fn changed(&self, file: i64, entry: u32) -> Result<Vec<Changed>, SyncError> {
        let Some(shape) = self.catalog.shape(file)? else { return Ok(Vec::new()) };
        let turn = |entry: u32| shape.at(entry).and_then(|spot| spot.turn);
        let Some(own) = turn(entry) else { return Ok(Vec::new()) };
        let mut files: Vec<Changed> = Vec::new();
        let touches = self.catalog.touches_of(file)?;
        for (_, time, path) in touches.into_iter().filter(|(at, _, _)| turn(*at) == Some(own)) {
            if let Some(known) = files.iter_mut().find(|file| file.path == path) {
                known.time = known.time.max(time);
            } else if files.len() < FILES {
                files.push(Changed { path, time, is_changed_since: false });
            }
        }
        for file in &mut files {
            file.is_changed_since = self.catalog.last_touch(&file.path)? > file.time;
        }
        Ok(files)
    }
}

/// How much a word tells, by how few documents have it.
fn rarity(word: &WordUse, documents: u64) -> f32 {
    (1.0 + documents as f32 / (word.frequency as f32 + 0.5)).ln()
}

/// The text of a question in parts: its words with what they tell, and what is between them.
pub(super) fn weighed<'a>(
    query: &'a Query,
    words: &[WordUse],
    documents: u64,
) -> Vec<(&'a str, f32)> {
    let mut parts = Vec::new();
    for term in &query.terms {
        let (Term::Word(text) | Term::Phrase(text) | Term::Prefix(text)) = term;
        let mut end = 0;
        for word in token::words(text) {
            let typed = &text[word.at.clone()];
            let is_it = |known: &&WordUse| !known.is_common && known.word == typed;
            let weight = words.iter().find(is_it).map_or(0.0, |word| rarity(word, documents));
            parts.extend([(&text[end..word.at.start], 0.0), (typed, weight)]);
            end = word.at.end;
        }
        parts.push((&text[end..], 0.0));
    }
    parts
}

/// How much of what was asked the best turn says; nothing if that may be chance.
fn certainty(found: &Found, documents: u64) -> f32 {
    let Some(best) = found.matches.first() else { return 0.0 };
    let rarity = |word: &WordUse| rarity(word, documents);
    let all: f32 = found.words.iter().filter(|word| !word.is_common).map(rarity).sum();
    let scores = found.words.iter().zip(&best.explain.bm25);
    let is_as_typed = |word: &WordUse| !word.is_common && word.rung <= Rung::Forms;
    let said = scores.filter(|(word, score)| is_as_typed(word) && **score > 0.0);
    let said: Vec<f32> = said.map(|(word, _)| rarity(word)).collect();
    let (count, said) = (said.len(), said.iter().sum::<f32>());
    // Words that come together by chance in one document of as many histories as this one has
    // documents: `documents * exp(-said)` is how often that is in one.
    let is_chance = said < 2.0 * (documents as f32).ln();
    if count < TOGETHER || is_chance { 0.0 } else { said / all }
}

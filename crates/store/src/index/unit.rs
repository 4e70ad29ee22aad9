//! The words of a query as terms of the index, and the ladder: what else a word may stand for
//! when the index does not know it.

use std::io;

use hashbrown::HashMap;
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use super::schema::Fields;
use super::search::Rung;
use crate::query;
use crate::token::{self, Word};

/// So many terms may stand for one word.
const ALTERNATIVES: usize = 32;
/// A word in a tenth of all documents says nothing about any of them.
const COMMON: u64 = 10;
/// In a small index every word is frequent.
const FEW: u64 = 1_000;

/// Words that hold sentences together: pronouns, auxiliaries, the short prepositions. In a small
/// index they are no more frequent than others, and a question is full of them. `before`, `again`
/// and `only` are none of them: without them half a point of LoCoMo's sessions is lost.
const SMALL: &str = include_str!("small.txt");

/// Whether a word says nothing by itself.
fn is_small(typed: &str) -> bool {
    let word = typed.to_lowercase().replace('\u{2019}', "'");
    let said = word.split('\'').next().unwrap_or_default();
    word.ends_with("n't") || SMALL.split_whitespace().any(|small| small == said)
}

/// A word of the query.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// As it was typed.
    pub(super) typed: String,
    pub(super) rung: Rung,
    pub(super) is_common: bool,
    is_prefix: bool,
    /// The last rung that was tried.
    tried: Rung,
    /// How many documents have it.
    pub(super) frequency: u64,
    pub(super) whole: Option<String>,
    pub(super) parts: Vec<String>,
    /// Other terms, each with what a hit on it counts.
    pub(super) others: Vec<(String, f32)>,
}

impl Unit {
    /// Every term with its weight.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&str, f32)> {
        let part_weight = if self.whole.is_some() { PART } else { 1.0 };
        let whole = self.whole.iter().map(|term| (term.as_str(), 1.0));
        let parts = self.parts.iter().map(move |term| (term.as_str(), part_weight));
        let others = self.others.iter().map(|(term, weight)| (term.as_str(), *weight));
        whole.chain(parts).chain(others)
    }
}

/// What a part of an identifier counts where the whole does not occur.
pub(super) const PART: f32 = 0.4;

/// A query's words, and the phrases that must occur, each as its terms.
pub(super) struct Units {
    pub(super) units: Vec<Unit>,
    pub(super) phrases: Vec<Vec<String>>,
}

impl Units {
    pub(super) fn of(terms: &[query::Term]) -> Self {
        let mut all = Self { units: Vec::new(), phrases: Vec::new() };
        for term in terms {
            match term {
                query::Term::Word(text) => all.add(text, false),
                query::Term::Prefix(text) => all.add(text, true),
                query::Term::Phrase(text) => {
                    all.add(text, false);
                    all.phrases.extend(phrase(text));
                }
            }
        }
        all
    }

    fn add(&mut self, text: &str, is_prefix: bool) {
        let words = token::words(text);
        let count = words.len();
        for (i, word) in words.into_iter().enumerate() {
            let unit = unit(text, word, is_prefix && i + 1 == count);
            let is_same = |known: &Unit| {
                known.parts == unit.parts && known.whole == unit.whole && !unit.is_prefix
            };
            if !self.units.iter().any(is_same) {
                self.units.push(unit);
            }
        }
    }
}

fn unit(text: &str, word: Word, is_prefix: bool) -> Unit {
    Unit {
        typed: text[word.at].into(),
        rung: Rung::Words,
        is_common: false,
        is_prefix,
        tried: Rung::Words,
        frequency: 0,
        whole: word.whole,
        parts: word.parts,
        others: Vec::new(),
    }
}

/// A phrase's terms; none if there is no word in it.
pub(crate) fn phrase(text: &str) -> Option<Vec<String>> {
    let terms: Vec<String> = token::words(text).into_iter().flat_map(|w| w.parts).collect();
    (!terms.is_empty()).then_some(terms)
}

/// The dictionaries of the index.
pub(super) struct Dictionary<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) fields: Fields,
}

impl Dictionary<'_> {
    fn texts(&self) -> [Field; 2] {
        [self.fields.said, self.fields.done]
    }

    fn frequency(&self, term: &str) -> tantivy::Result<u64> {
        let count = |field| self.searcher.doc_freq(&Term::from_field_text(field, term));
        self.texts().into_iter().try_fold(0, |sum, field| Ok(sum + count(field)?))
    }

    /// Looks the units up; one that is nowhere climbs alone, as far as that is cheap.
    pub(super) fn look_up(&self, units: &mut [Unit]) -> tantivy::Result<()> {
        let documents = self.searcher.num_docs();
        for unit in units {
            if unit.is_prefix {
                self.add_beginnings(unit)?;
            }
            self.count(unit)?;
            for rung in [Rung::Forms, Rung::Typos] {
                if unit.frequency == 0 {
                    self.climb(unit, rung)?;
                }
            }
            let is_frequent = documents >= FEW && unit.frequency > documents / COMMON;
            unit.is_common = is_frequent || is_small(&unit.typed);
        }
        Ok(())
    }

    /// Looks the units up as they are; whether the index has all of them.
    pub(super) fn has_all(&self, units: &mut [Unit]) -> tantivy::Result<bool> {
        for unit in units {
            self.count(unit)?;
            unit.is_common = is_small(&unit.typed);
            if unit.frequency == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A word is as frequent as its rarest part; its other terms add to that.
    fn count(&self, unit: &mut Unit) -> tantivy::Result<()> {
        let mut rarest = u64::MAX;
        for part in &unit.parts {
            rarest = rarest.min(self.frequency(part)?);
        }
        for term in unit.whole.iter().chain(unit.others.iter().map(|(term, _)| term)) {
            let frequency = self.frequency(term)?;
            rarest = if rarest == u64::MAX { frequency } else { rarest + frequency };
        }
        unit.frequency = rarest;
        Ok(())
    }

    /// Lets a word stand for more.
    pub(super) fn climb(&self, unit: &mut Unit, rung: Rung) -> tantivy::Result<()> {
        if unit.tried >= rung {
            return Ok(());
        }
        unit.tried = rung;
        let typed = token::folded(&unit.typed);
        let found = match rung {
            Rung::Forms => self.longer(unit, 4)?,
            Rung::Typos => self.slips(&typed)?,
            Rung::Substring if typed.len() >= 3 => self.containing(&typed)?,
            _ => Vec::new(),
        };
        let weight = rung.weight();
        let before = unit.others.len();
        for term in found {
            let is_known = unit.terms().any(|(known, _)| known == term);
            if !is_known {
                unit.others.push((term, weight));
            }
        }
        if unit.others.len() > before {
            unit.rung = rung;
        }
        self.count(unit)
    }

    fn add_beginnings(&self, unit: &mut Unit) -> tantivy::Result<()> {
        let beginning = token::folded(&unit.typed);
        let found = self.beginning_with(&beginning)?;
        unit.others.extend(found.into_iter().map(|term| (term, 1.0)));
        Ok(())
    }

    /// Longer words with the same stem; a single character of a script without spaces is the
    /// beginning of pairs.
    fn longer(&self, unit: &Unit, least: usize) -> tantivy::Result<Vec<String>> {
        let stem = unit.whole.as_ref().or(unit.parts.first());
        match stem {
            Some(stem) if stem.len() >= least || !stem.is_ascii() => self.beginning_with(stem),
            _ => Ok(Vec::new()),
        }
    }

    /// The most frequent terms that begin so.
    fn beginning_with(&self, beginning: &str) -> tantivy::Result<Vec<String>> {
        let end = after(beginning);
        self.most_frequent(|terms, add| {
            let mut range = terms.range().ge(beginning);
            if let Some(end) = &end {
                range = range.lt(end);
            }
            let mut stream = range.into_stream()?;
            while stream.advance() {
                add(stream.key(), stream.value().doc_freq);
            }
            Ok(())
        })
    }

    /// The most frequent terms with the text anywhere in them: reads the whole dictionary.
    fn containing(&self, text: &str) -> tantivy::Result<Vec<String>> {
        let finder = memchr::memmem::Finder::new(text);
        self.most_frequent(|terms, add| {
            let mut stream = terms.stream()?;
            while stream.advance() {
                if finder.find(stream.key()).is_some() {
                    add(stream.key(), stream.value().doc_freq);
                }
            }
            Ok(())
        })
    }

    fn most_frequent(
        &self,
        visit: impl Fn(&tantivy::termdict::TermDictionary, &mut dyn FnMut(&[u8], u32)) -> io::Result<()>,
    ) -> tantivy::Result<Vec<String>> {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for reader in self.searcher.segment_readers() {
            for field in self.texts() {
                let inverted = reader.inverted_index(field)?;
                visit(inverted.terms(), &mut |key, frequency| {
                    if let Ok(term) = std::str::from_utf8(key) {
                        *counts.entry_ref(term).or_default() += u64::from(frequency);
                    }
                })?;
            }
        }
        Ok(first_by_count(counts))
    }

    /// Terms that differ from the word in one letter. Each is looked up, which is a few hundred
    /// lookups and needs no walk through the dictionary.
    fn slips(&self, typed: &str) -> tantivy::Result<Vec<String>> {
        if typed.len() < 4 || !typed.bytes().all(|b| b.is_ascii_lowercase()) {
            return Ok(Vec::new());
        }
        let mut counts: HashMap<String, u64> = HashMap::new();
        for variant in variants(typed) {
            let Some(word) = token::words(&variant).into_iter().next() else { continue };
            for term in word.parts {
                if !counts.contains_key(&term) {
                    let frequency = self.frequency(&term)?;
                    counts.insert(term, frequency);
                }
            }
        }
        counts.retain(|_, frequency| *frequency > 0);
        Ok(first_by_count(counts))
    }
}

fn first_by_count(counts: HashMap<String, u64>) -> Vec<String> {
    let mut all: Vec<(String, u64)> = counts.into_iter().collect();
    all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(ALTERNATIVES);
    all.into_iter().map(|(term, _)| term).collect()
}

/// The first bytes that come after everything that begins so.
fn after(beginning: &str) -> Option<Vec<u8>> {
    let mut end = beginning.as_bytes().to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

/// One letter left out, swapped with the next, changed or put in.
fn variants(word: &str) -> Vec<String> {
    let letters = b'a'..=b'z';
    let mut all = Vec::new();
    for i in 0..=word.len() {
        let (head, tail) = word.split_at(i);
        let insert = |c: u8| format!("{head}{}{tail}", char::from(c));
        all.extend(letters.clone().map(insert));
        let Some(rest) = tail.get(1..) else { continue };
        all.push(format!("{head}{rest}"));
        all.extend(letters.clone().map(|c| format!("{head}{}{rest}", char::from(c))));
        if let Some(next) = rest.get(..1) {
            all.push(format!("{head}{next}{}{}", &tail[..1], &rest[1..]));
        }
    }
    all
}

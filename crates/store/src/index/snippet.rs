//! The piece of a text that shows why it matched.

use std::ops::Range;

use hashbrown::HashMap;
use tantivy::tokenizer::{TokenStream, Tokenizer};

use super::search::{Found, WordUse};
use super::unit::Units;
use crate::query::{Query, Term};
use crate::token::{self, Piece, Words};

/// A piece of a text with the words that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The piece, as it stands in the text.
    pub text: String,
    /// Where the words are in the piece.
    pub marks: Vec<Range<usize>>,
    /// Whether there is text before it.
    pub is_cut_before: bool,
    /// Whether there is text after it.
    pub is_cut_after: bool,
}

impl Snippet {
    /// The same with nothing marked.
    pub(crate) fn unmarked(self) -> Self {
        Self { marks: Vec::new(), ..self }
    }
}

/// Finds a query's words in texts.
#[derive(Debug, Clone)]
pub struct Marker {
    /// Terms, each with the number of its word.
    terms: HashMap<String, usize>,
    beginnings: Vec<(String, usize)>,
}

impl Marker {
    /// For the words of a query as they were typed.
    pub fn new(query: &Query) -> Self {
        let units = Units::of(&query.terms).units;
        let mut terms = HashMap::new();
        for (i, unit) in units.iter().enumerate() {
            terms.extend(unit.terms().map(|(term, _)| (term.to_owned(), i)));
        }
        let beginning = |term: &Term| match term {
            Term::Prefix(text) => Some(token::folded(text.rsplit(['/', ':']).next()?)),
            _ => None,
        };
        let beginnings = query.terms.iter().filter_map(beginning).filter(|b| !b.is_empty());
        let beginnings = beginnings.enumerate().map(|(i, b)| (b, units.len() + i)).collect();
        Self { terms, beginnings }
    }

    /// For the words as the search used them, with typos and longer forms. Words that nearly
    /// every text has are marked only if there are no others.
    pub fn of(found: &Found) -> Self {
        let mut terms = HashMap::new();
        let are_common = found.words.iter().all(|word| word.is_common);
        let is_marked = |word: &WordUse| are_common || !word.is_common;
        for (i, word) in found.words.iter().enumerate().filter(|(_, word)| is_marked(word)) {
            terms.extend(word.terms.iter().map(|term| (term.clone(), i)));
        }
        Self { terms, beginnings: Vec::new() }
    }

    fn word(&self, term: &str) -> Option<usize> {
        let begins = |(beginning, _): &&(String, usize)| term.starts_with(beginning.as_str());
        let by_beginning = || self.beginnings.iter().find(begins).map(|(_, word)| *word);
        self.terms.get(term).copied().or_else(by_beginning)
    }

    /// Where the words stand in the text, with the number of each. None overlap.
    fn marks(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut words = tokenizer(text);
        let mut stream = words.token_stream(text);
        let mut marks: Vec<(Range<usize>, usize)> = Vec::new();
        while stream.advance() {
            let token = stream.token();
            let Some(word) = self.word(&token.text) else { continue };
            let range = token.offset_from..token.offset_to;
            match marks.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => marks.push((range, word)),
            }
        }
        marks
    }

    /// The piece of about `width` characters with the most different words, the first of equals.
    pub fn snippet(&self, text: &str, width: usize) -> Snippet {
        around(text, &self.marks(text), width)
    }
}

/// The piece of about `width` characters with the most different marks. None overlap, and none
/// is longer than the piece.
pub(crate) fn around(text: &str, marks: &[(Range<usize>, usize)], width: usize) -> Snippet {
    let around = best(marks, width);
    let spare = width.saturating_sub(text[around.clone()].chars().count());
    // What comes after tells more, but at the end of a text there is little of it.
    let after = text[around.end..].chars().take(spare).count();
    let start = back(text, around.start, (spare / 3).max(spare - after));
    let start = word_start(text, start, around.start);
    let left = width.saturating_sub(text[start..around.end].chars().count());
    let end = text[around.end..].char_indices().nth(left);
    let end = end.map_or(text.len(), |(i, _)| around.end + i);
    let end = word_end(text, around.end, end);
    let inside = |(mark, _): &(Range<usize>, usize)| {
        (mark.start >= start && mark.end <= end).then(|| mark.start - start..mark.end - start)
    };
    Snippet {
        text: text[start..end].to_owned(),
        marks: marks.iter().filter_map(inside).collect(),
        is_cut_before: !text[..start].trim().is_empty(),
        is_cut_after: !text[end..].trim().is_empty(),
    }
}

fn tokenizer(text: &str) -> Words {
    if text.len() < 10_000 { Words::brief() } else { Words::default() }
}

/// The bytes from the first to the last mark of the best window. Two ends that only move
/// forward, with a count of each word between them.
fn best(marks: &[(Range<usize>, usize)], width: usize) -> Range<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut first = 0;
    let mut best = ((0, 0), 0..0);
    for (last, (mark, word)) in marks.iter().enumerate() {
        *counts.entry(*word).or_default() += 1;
        while first < last && mark.end - marks[first].0.start > width {
            let left = counts.get_mut(&marks[first].1).expect("it was counted on its way in");
            *left -= 1;
            if *left == 0 {
                counts.remove(&marks[first].1);
            }
            first += 1;
        }
        let worth = (counts.len(), last - first + 1);
        if worth > best.0 {
            best = (worth, marks[first].0.start..mark.end);
        }
    }
    best.1
}

/// So many characters before a place.
fn back(text: &str, from: usize, count: usize) -> usize {
    match count.checked_sub(1) {
        Some(count) => text[..from].char_indices().rev().nth(count).map_or(0, |(i, _)| i),
        None => from,
    }
}

/// The beginning of a word between two places, or the first of them.
fn word_start(text: &str, from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    match text[from..to].find(char::is_whitespace) {
        Some(space) => to - text[from + space..to].trim_start().len(),
        None => from,
    }
}

/// The end of a word between two places, or the second of them.
fn word_end(text: &str, from: usize, to: usize) -> usize {
    if to == text.len() || from >= to {
        return to.max(from);
    }
    match text[from..to].rfind(char::is_whitespace) {
        Some(space) if space > 0 => from + text[from..from + space].trim_end().len(),
        _ => to,
    }
}

/// Whether the terms stand in the text one after the other.
pub(crate) fn contains_phrase(text: &str, phrase: &[String]) -> bool {
    let mut words = tokenizer(text);
    let mut stream = words.token_stream(text);
    let mut last: Vec<String> = Vec::with_capacity(phrase.len());
    while stream.advance() {
        if stream.piece() == Some(Piece::Whole) {
            continue;
        }
        // Nearly every token is none of the phrase's, and then what came before does not matter.
        if !phrase.contains(&stream.token().text) {
            last.clear();
            continue;
        }
        if last.len() == phrase.len() {
            last.remove(0);
        }
        last.push(stream.token().text.clone());
        if last == phrase {
            return true;
        }
    }
    false
}

//! Text into the pieces of words that the model knows: WordPiece over its vocabulary, as BERT's
//! uncased models were trained with it.
//!
//! Small letters without accents; every punctuation mark and every Chinese character stands for
//! itself; a word is cut into the longest beginnings that are known. Written here because the
//! usual crate for it brings forty others.

use hashbrown::HashMap;
use regex_syntax::hir::{Class, HirKind};
use unicode_normalization::UnicodeNormalization;

/// What stands before and after every text, and for a word that is not known.
const BEGIN: &str = "[CLS]";
const END: &str = "[SEP]";
const UNKNOWN: &str = "[UNK]";

/// A longer word is not known.
const LONGEST: usize = 100;

/// Ranges of characters, in order.
struct Chars(Vec<(char, char)>);

impl Chars {
    /// Those of a class of Unicode.
    fn of(class: &str) -> Self {
        let hir = regex_syntax::parse(class).expect("the class is one that Unicode has");
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else { return Self(Vec::new()) };
        Self(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
    }

    fn has(&self, c: char) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= c);
        after > 0 && c <= self.0[after - 1].1
    }
}

/// The vocabulary.
pub(super) struct Pieces {
    numbers: HashMap<Box<str>, u32>,
    begin: u32,
    end: u32,
    unknown: u32,
    marks: Chars,
    accents: Chars,
    controls: Chars,
}

impl Pieces {
    /// From `vocab.txt`: a piece on each line. `None` if it is no vocabulary.
    pub(super) fn of(vocabulary: &str) -> Option<Self> {
        let numbers: HashMap<Box<str>, u32> =
            vocabulary.lines().zip(0..).map(|(line, number)| (line.into(), number)).collect();
        let number = |piece: &str| numbers.get(piece).copied();
        let (begin, end, unknown) = (number(BEGIN)?, number(END)?, number(UNKNOWN)?);
        let (marks, accents) = (Chars::of(r"\p{P}"), Chars::of(r"\p{Mn}"));
        Some(Self { numbers, begin, end, unknown, marks, accents, controls: Chars::of(r"\p{C}") })
    }

    /// The numbers of a text's pieces, at most `most` with the two that stand around it.
    pub(super) fn of_text(&self, text: &str, most: usize) -> Vec<u32> {
        self.of_weighed(&[(text, 0.0)], most).0
    }

    /// The same of a text behind another one, of which as many of the last pieces are taken as there
    /// is room for; and how many those are.
    pub(super) fn of_text_after(&self, before: &str, text: &str, most: usize) -> (Vec<u32>, usize) {
        let mut all = self.of_text(text, most);
        let mut taken = Vec::new();
        self.add(before, usize::MAX, &mut taken);
        let room = taken.len().min(most - all.len());
        all.splice(1..1, taken.drain(taken.len() - room..));
        (all, room)
    }

    /// The same of a text in parts, each with a weight that its pieces share; what stands around
    /// it has none. The weights add up to 1.
    pub(super) fn of_weighed(&self, parts: &[(&str, f32)], most: usize) -> (Vec<u32>, Vec<f32>) {
        let (mut out, mut weights) = (vec![self.begin], vec![0.0]);
        for (text, weight) in parts {
            self.add(text, most, &mut out);
            let count = out.len() - weights.len();
            weights.resize(out.len(), weight / count.max(1) as f32);
        }
        out.truncate(most - 1);
        weights.truncate(most - 1);
        out.push(self.end);
        let sum = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        weights.iter_mut().for_each(|weight| *weight /= sum);
        weights.push(0.0);
        (out, weights)
    }

    /// Adds the pieces of a text that begins where a word does.
    fn add(&self, text: &str, most: usize, out: &mut Vec<u32>) {
        let mut word = String::new();
        // What is not cleaned away; a text is seldom longer than what is taken of it.
        let clean = text.chars().filter_map(|c| self.clean(c));
        let folded = clean.nfd().filter(|c| !self.accents.has(*c)).flat_map(char::to_lowercase);
        for c in folded.chain([' ']) {
            if out.len() >= most {
                break;
            }
            if c.is_whitespace() {
                self.word(&mut word, out);
            } else if self.stands_alone(c) {
                self.word(&mut word, out);
                word.push(c);
                self.word(&mut word, out);
            } else {
                word.push(c);
            }
        }
    }

    fn clean(&self, c: char) -> Option<char> {
        match c {
            c if c.is_whitespace() => Some(' '),
            '\u{FFFD}' => None,
            c if self.controls.has(c) => None,
            c => Some(c),
        }
    }

    fn stands_alone(&self, c: char) -> bool {
        c.is_ascii_punctuation() || is_chinese(c) || self.marks.has(c)
    }

    /// The longest known beginning, again and again; all or nothing.
    fn word(&self, word: &mut String, out: &mut Vec<u32>) {
        let first = out.len();
        let mut rest = word.as_str();
        let mut piece = String::new();
        if word.chars().count() > LONGEST {
            out.push(self.unknown);
            rest = "";
        }
        while !rest.is_empty() {
            let is_first = rest.len() == word.len();
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let known = ends.into_iter().find_map(|end| {
                piece.clear();
                piece.push_str(if is_first { "" } else { "##" });
                piece.push_str(&rest[..end]);
                Some((end, *self.numbers.get(piece.as_str())?))
            });
            let Some((end, number)) = known else {
                out.truncate(first);
                out.push(self.unknown);
                break;
            };
            out.push(number);
            rest = &rest[end..];
        }
        word.clear();
    }
}

fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B820..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 14] = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "cafe", ",", "!", "\u{4E2D}",
        "a", "##b", "-",
    ];

    #[test]
    fn words_are_cut_into_the_longest_known_pieces() {
        let pieces = Pieces::of(&WORDS.join("\n")).expect("it has what is needed");
        let shown = |text: &str| {
            let all = pieces.of_text(text, 8);
            all.iter().map(|number| WORDS[*number as usize]).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("Unaffable"), "[CLS] un ##aff ##able [SEP]");
        assert_eq!(shown("Caf\u{e9}, \u{4E2D}a!"), "[CLS] cafe , \u{4E2D} a ! [SEP]");
        assert_eq!(shown("ab\u{200b} a-x"), "[CLS] a ##b a - [UNK] [SEP]");
        assert_eq!(shown("a a a a a a a a"), "[CLS] a a a a a a [SEP]", "cut to eight");
        assert_eq!(shown(&"a".repeat(101)), "[CLS] [UNK] [SEP]");
        assert_eq!(shown(""), "[CLS] [SEP]");
        assert!(Pieces::of("a\nb").is_none());
        let after = |before: &str, text: &str| {
            let (all, room) = pieces.of_text_after(before, text, 8);
            let shown = all.iter().map(|number| WORDS[*number as usize]).collect::<Vec<_>>();
            (shown.join(" "), room)
        };
        assert_eq!(after("un, cafe", "a!"), ("[CLS] un , cafe a ! [SEP]".into(), 3));
        assert_eq!(after("un, cafe", "a a a a"), ("[CLS] , cafe a a a a [SEP]".into(), 2));
        assert_eq!(after("un", "a a a a a a a"), ("[CLS] a a a a a a [SEP]".into(), 0));
        assert_eq!(after("", "a"), ("[CLS] a [SEP]".into(), 0));
        let parts = [("a ", 0.0), ("unaffable", 3.0), ("ab", 1.0), ("!", 0.0)];
        let (numbers, weights) = pieces.of_weighed(&parts, 12);
        assert_eq!(numbers, pieces.of_text("a unaffable ab!", 12));
        assert_eq!(weights, [0.0, 0.0, 0.25, 0.25, 0.25, 0.125, 0.125, 0.0, 0.0]);
        let (numbers, weights) = pieces.of_weighed(&parts, 6);
        assert_eq!((numbers.len(), weights.iter().sum::<f32>()), (6, 1.0), "what is cut away");
    }
}

//! Folding and stemming. Stems are kept in a small table, since a few thousand words make up
//! most of any text and the stemmer allocates for each.

use frostem::{Algorithm, Stemmer};
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Longer words are stemmed each time.
const WIDTH: usize = 16;
/// For whole texts; a question needs next to none.
const MANY: usize = 8192;
const FEW: usize = 64;

/// A word, padded with zeros, and its stem.
#[derive(Clone, Default)]
struct Slot {
    word: u128,
    stem: Box<str>,
}

/// Words to stems.
#[derive(Clone)]
pub(super) struct Stems {
    slots: Box<[Slot]>,
    stemmer: Stemmer,
}

impl Default for Stems {
    fn default() -> Self {
        Self::sized(MANY)
    }
}

impl Stems {
    /// A small table, quickly made.
    pub(super) fn few() -> Self {
        Self::sized(FEW)
    }

    fn sized(slots: usize) -> Self {
        let slots = vec![Slot::default(); slots].into_boxed_slice();
        Self { slots, stemmer: Stemmer::new(Algorithm::English) }
    }

    fn slot(&mut self, key: u128) -> &mut Slot {
        let at = hash(key) % self.slots.len();
        &mut self.slots[at]
    }

    /// The term of a word: folded, without joints, stemmed.
    pub(super) fn word(&mut self, text: &str, out: &mut String) {
        fold(text, out);
        let is_word = out.len() > 2 && out.bytes().all(|b| b.is_ascii_lowercase());
        if is_word {
            self.stem(out);
        }
    }

    fn stem(&mut self, word: &mut String) {
        if word.len() > WIDTH {
            let stem = self.stemmer.stem(word).into_owned();
            *word = stem;
            return;
        }
        let key = key(word);
        let stemmer = self.stemmer;
        let slot = self.slot(key);
        if slot.word != key {
            *slot = Slot { word: key, stem: stemmer.stem(word).into() };
        }
        word.clear();
        word.push_str(&slot.stem);
    }

    /// The same for a word of at most [`WIDTH`] ASCII letters, which nearly all are: a letter is
    /// made small by setting one bit.
    pub(super) fn plain(&mut self, text: &str, out: &mut String) {
        let unused = 8 * (WIDTH - text.len().min(WIDTH)) as u32;
        let small = (u128::MAX / 0xFF * 0x20).checked_shr(unused).unwrap_or(0);
        let key = key(text) | small;
        let slot = self.slot(key);
        out.clear();
        if slot.word == key {
            out.push_str(&slot.stem);
            return;
        }
        out.push_str(text);
        out.make_ascii_lowercase();
        if text.len() > 2 {
            self.stem(out);
        }
    }
}

fn key(word: &str) -> u128 {
    let mut padded = [0; WIDTH];
    padded[..word.len()].copy_from_slice(word.as_bytes());
    u128::from_le_bytes(padded)
}

fn hash(key: u128) -> usize {
    let mixed =
        (key as u64 ^ ((key >> 64) as u64).rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 48) as usize
}

/// Lower case, no accents, no joints. A dot between digits stays: `1.20` is not `120`.
pub(super) fn fold(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        let bytes = text.as_bytes();
        if bytes.iter().all(u8::is_ascii_alphanumeric) {
            out.push_str(text);
            out.make_ascii_lowercase();
            return;
        }
        let is_number = bytes.iter().all(|b| b.is_ascii_digit() || *b == b'.');
        let is_date = bytes.len() == 10 && bytes.iter().all(|b| b.is_ascii_digit() || *b == b'-');
        let keep = |b: &u8| b.is_ascii_alphanumeric() || is_number || is_date;
        out.extend(bytes.iter().filter(|b| keep(b)).map(|b| char::from(b.to_ascii_lowercase())));
        return;
    }
    for c in text.chars().filter(|c| !matches!(c, '_' | '-' | '.' | '\'' | '\u{2019}')) {
        if super::scan::is_unspaced(c) {
            out.push(c);
            continue;
        }
        c.to_lowercase().for_each(|lower| push_folded(lower, out));
    }
}

fn push_folded(c: char, out: &mut String) {
    match c {
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'ø' => out.push('o'),
        'ł' => out.push('l'),
        'đ' => out.push('d'),
        'ı' => out.push('i'),
        _ => decompose_canonical(c, |part| {
            if !is_combining_mark(part) {
                out.push(part);
            }
        }),
    }
}

/// Cuts a term, on a character's edge.
pub(super) fn shorten(text: &mut String, length: usize) {
    if text.len() > length {
        text.truncate(text.floor_char_boundary(length));
    }
}

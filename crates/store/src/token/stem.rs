//! Folding and stemming. Stems are kept in a small table, since a few thousand words make up
//! most of any text and the stemmer allocates for each.

use frostem::{Algorithm, Stemmer};
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Longer words are stemmed each time.
const WIDTH: usize = 18;
const SLOTS: usize = 2048;

#[derive(Clone, Copy)]
struct Slot {
    word: [u8; WIDTH],
    stem: [u8; WIDTH],
    word_length: u8,
    stem_length: u8,
}

const EMPTY: Slot = Slot { word: [0; WIDTH], stem: [0; WIDTH], word_length: 0, stem_length: 0 };

/// Words to stems.
#[derive(Clone)]
pub(super) struct Stems {
    slots: Box<[Slot]>,
    stemmer: Stemmer,
}

impl Default for Stems {
    fn default() -> Self {
        let slots = vec![EMPTY; SLOTS].into_boxed_slice();
        Self { slots, stemmer: Stemmer::new(Algorithm::English) }
    }
}

impl Stems {
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
        let slot = &mut self.slots[hash(word.as_bytes()) % SLOTS];
        if slot.word[..usize::from(slot.word_length)] != *word.as_bytes() {
            *slot = fill(self.stemmer, word);
        }
        word.clear();
        let stem = &slot.stem[..usize::from(slot.stem_length)];
        word.extend(stem.iter().map(|&b| char::from(b)));
    }
}

/// The stemmer can lengthen a word; what no longer fits keeps its form.
fn fill(stemmer: Stemmer, word: &str) -> Slot {
    let stem = stemmer.stem(word);
    let stem = if stem.len() <= WIDTH && stem.is_ascii() { stem.as_ref() } else { word };
    let mut slot = EMPTY;
    slot.word[..word.len()].copy_from_slice(word.as_bytes());
    slot.stem[..stem.len()].copy_from_slice(stem.as_bytes());
    (slot.word_length, slot.stem_length) = (word.len() as u8, stem.len() as u8);
    slot
}

fn hash(word: &[u8]) -> usize {
    let mix = |h: u32, &b: &u8| (h ^ u32::from(b)).wrapping_mul(0x0100_0193);
    let h = word.iter().fold(0x811c_9dc5, mix);
    (h ^ (h >> 15)) as usize
}

/// Lower case, no accents, no joints. A dot between digits stays: `1.20` is not `120`.
pub(super) fn fold(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        let bytes = text.as_bytes();
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

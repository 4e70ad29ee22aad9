//! Finding words in text: where they begin and end, where identifiers come apart, and what is
//! no word at all. Bytes decide, since nearly all text here is ASCII; other characters are
//! looked at one by one.

use std::ops::Range;

/// How a word becomes a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Small ASCII letters, the first perhaps a capital: stemmed.
    Plain,
    /// Folded and stemmed.
    Word,
    /// As it is.
    Kept,
    /// Only its beginning, of so many bytes.
    Cut(usize),
}

/// What the scanner came upon.
pub(super) enum Found {
    One(Range<usize>, Kind),
    /// Its parts are in the list handed in.
    Identifier(Range<usize>),
    /// Pairs of characters are in the list handed in.
    Pairs,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    None,
    Lower,
    Upper,
    Digit,
    /// `_` and `-` hold a name together when letters stand on both sides. A dot does so only
    /// between digits: half of all wholes were `response.status` and the like.
    Joint,
    /// Part of a character outside ASCII.
    High,
}

const CLASS: [Class; 256] = {
    let mut table = [Class::None; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'-' | b'.' => Class::Joint,
            0x80.. => Class::High,
            _ => Class::None,
        };
        b += 1;
    }
    table
};

const fn class(b: u8) -> Class {
    CLASS[b as usize]
}

const fn is_word(class: Class) -> bool {
    matches!(class, Class::Lower | Class::Upper | Class::Digit)
}

/// Hashes keep this much: git's short form.
const HASH: usize = 7;
/// Random ids and long numbers keep this much.
const ID: usize = 16;
/// From here on a run of letters and digits without order is payload.
const PAYLOAD: usize = 64;

/// Scripts written without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{1100}'..='\u{11FF}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

pub(super) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

/// What was seen on the way through a word.
#[derive(Default)]
struct Seen {
    has_joint: bool,
    has_hump: bool,
    has_high: bool,
    has_digit: bool,
    has_quote: bool,
    is_number: bool,
}

impl Seen {
    fn is_plain(&self) -> bool {
        let has_more = self.has_joint || self.has_hump || self.has_high || self.has_quote;
        !has_more && !self.has_digit
    }
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    /// The next word; its parts are put into `parts`.
    pub(super) fn next(&mut self, parts: &mut Vec<Range<usize>>) -> Option<Found> {
        loop {
            self.skip_to_word()?;
            let start = self.at;
            match class(self.bytes[start]) {
                Class::Digit if self.skips_number() => continue,
                Class::Digit => {
                    if let Some(found) = self.date_or_uuid() {
                        return Some(found);
                    }
                }
                Class::High if is_unspaced(self.char_at(start)?) => {
                    self.pairs(parts);
                    return Some(Found::Pairs);
                }
                _ => {
                    if let Some(found) = self.uuid() {
                        return Some(found);
                    }
                }
            }
            let seen = self.walk();
            if let Some(found) = self.judge(start, &seen, parts) {
                return Some(found);
            }
        }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    fn class_at(&self, at: usize) -> Class {
        self.bytes.get(at).map_or(Class::None, |&b| class(b))
    }

    fn skip_to_word(&mut self) -> Option<()> {
        loop {
            let b = *self.bytes.get(self.at)?;
            match class(b) {
                Class::None if b == 0x1B => self.at += escape(&self.bytes[self.at..]),
                Class::None | Class::Joint => self.at += 1,
                Class::High => {
                    let c = self.char_at(self.at)?;
                    if c.is_alphanumeric() || is_unspaced(c) {
                        return Some(());
                    }
                    self.at += c.len_utf8();
                }
                _ => return Some(()),
            }
        }
    }

    /// Goes to the end of the word.
    fn walk(&mut self) -> Seen {
        let mut seen = Seen { is_number: true, ..Seen::default() };
        let mut last = Class::None;
        loop {
            let now = self.class_at(self.at);
            match now {
                Class::Lower | Class::Upper => {
                    seen.has_hump |= now == Class::Upper && last != Class::None
                        || now == Class::Lower && last == Class::Upper && self.was_upper(2);
                    seen.is_number = false;
                    // Most bytes are small letters after another: no dispatch for these.
                    if self.class_at(self.at + 1) == Class::Lower && now == Class::Lower {
                        let run = self.bytes[self.at..].iter();
                        self.at += run.take_while(|b| b.is_ascii_lowercase()).count() - 1;
                    }
                }
                Class::Digit => seen.has_digit = true,
                Class::Joint if self.joins() => {
                    seen.has_joint = true;
                    seen.is_number &= self.bytes[self.at] == b'.';
                }
                Class::High if self.is_letter_here() => {
                    (seen.has_high, seen.is_number) = (true, false);
                    self.at += self.char_at(self.at).map_or(1, char::len_utf8);
                    last = Class::High;
                    continue;
                }
                Class::None if self.is_apostrophe() => {
                    (seen.has_quote, seen.is_number) = (true, false)
                }
                _ => return seen,
            }
            last = now;
            self.at += 1;
        }
    }

    fn was_upper(&self, back: usize) -> bool {
        self.at.checked_sub(back).is_some_and(|at| self.class_at(at) == Class::Upper)
    }

    /// A joint holds only between two letters or digits: `--` ends a word.
    fn joins(&self) -> bool {
        let next = self.class_at(self.at + 1);
        if self.bytes[self.at] == b'.' {
            return next == Class::Digit && self.class_at(self.at - 1) == Class::Digit;
        }
        is_word(next)
            || next == Class::High
                && self.char_at(self.at + 1).is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c))
    }

    fn is_letter_here(&self) -> bool {
        self.char_at(self.at).is_some_and(|c| {
            !is_unspaced(c)
                && (c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c))
        })
    }

    /// `can't` and `user's` are one word; a quote in code is none of these.
    fn is_apostrophe(&self) -> bool {
        let ending = |text: &[u8]| {
            let after = |n: usize| !is_word(text.get(n).map_or(Class::None, |&b| class(b)));
            match text {
                [b's' | b't' | b'd' | b'm', ..] => after(1),
                [b'l', b'l', ..] | [b'r', b'e', ..] | [b'v', b'e', ..] => after(2),
                _ => false,
            }
        };
        let rest = &self.bytes[self.at..];
        rest.first() == Some(&b'\'') && ending(&rest[1..])
    }

    fn judge(&mut self, start: usize, seen: &Seen, parts: &mut Vec<Range<usize>>) -> Option<Found> {
        let range = start..self.at;
        let word = &self.bytes[range.clone()];
        if seen.is_plain() && word.len() <= ID {
            return Some(Found::One(range, Kind::Plain));
        }
        if seen.is_number {
            return Some(Found::One(range, Kind::Cut(ID)));
        }
        // Images begin with long runs of one letter, so length alone tells too.
        let is_odd = is_random(word) || word.len() >= 40 && seen.has_hump && !seen.has_joint;
        if seen.has_digit && word.len() >= ID && is_odd && !is_hash(word) {
            let run = self.bytes[start..].iter().take_while(|b| is_base64(**b)).count();
            if run >= PAYLOAD {
                self.at = self.at.max(start + run);
                return None;
            }
            return Some(Found::One(range, Kind::Cut(ID)));
        }
        if !seen.has_joint && (!seen.has_hump || seen.has_high || is_hash(word)) {
            let is_payload = word.len() > PAYLOAD;
            let found = Found::One(range.clone(), kind_of(word));
            return (!is_payload).then_some(found);
        }
        split(word, start, seen.has_high, parts);
        match parts.len() {
            0 => None,
            1 => Some(Found::One(parts.pop()?, kind_of(word))),
            _ => Some(Found::Identifier(range)),
        }
    }

    /// Line numbers of file listings (`12→`, or `12` and a tab after spaces) and nothing else.
    fn skips_number(&mut self) -> bool {
        let digits = self.bytes[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let after = &self.bytes[self.at + digits..];
        let begins = self.at == 0 || matches!(self.bytes[self.at - 1], b'\n' | b' ');
        let is_listing = after.starts_with("→".as_bytes()) || begins && after.starts_with(b"\t");
        if is_listing {
            self.at += digits;
        }
        is_listing
    }

    fn date_or_uuid(&mut self) -> Option<Found> {
        let rest = &self.bytes[self.at..];
        if !matches_shape(rest, b"0000-00-00") || rest.get(10).is_some_and(u8::is_ascii_digit) {
            return self.uuid();
        }
        let range = self.at..self.at + 10;
        self.at += 10 + time_of_day(&rest[10..]);
        Some(Found::One(range, Kind::Kept))
    }

    fn uuid(&mut self) -> Option<Found> {
        let word = self.bytes.get(self.at..self.at + 36)?;
        let is_uuid = word[8] == b'-'
            && word.iter().enumerate().all(|(i, b)| match i {
                8 | 13 | 18 | 23 => *b == b'-',
                _ => b.is_ascii_hexdigit(),
            })
            && !is_word(self.class_at(self.at + 36));
        is_uuid.then(|| {
            let range = self.at..self.at + 36;
            self.at = range.end;
            Found::One(range, Kind::Cut(HASH))
        })
    }

    /// Neighbouring characters of a run, two by two.
    fn pairs(&mut self, parts: &mut Vec<Range<usize>>) {
        let start = self.at;
        let run = self.text[start..].char_indices().take_while(|(_, c)| is_unspaced(*c));
        let mut before: Option<usize> = None;
        for (i, c) in run {
            let end = start + i + c.len_utf8();
            if let Some(before) = before.replace(start + i) {
                parts.push(before..end);
            }
            self.at = end;
        }
        if parts.is_empty() {
            parts.push(start..self.at);
        }
    }
}

/// The length of a terminal's escape sequence: its colours would stick to the words.
fn escape(text: &[u8]) -> usize {
    let Some(rest) = text.strip_prefix(b"\x1B[") else {
        return 1;
    };
    let numbers = rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b';' | b'?')).count();
    2 + numbers + usize::from(rest.get(numbers).is_some_and(u8::is_ascii_alphabetic))
}

fn matches_shape(text: &[u8], shape: &[u8]) -> bool {
    text.len() >= shape.len()
        && text.iter().zip(shape).all(|(b, s)| match s {
            b'0' => b.is_ascii_digit(),
            _ => b == s,
        })
}

/// The length of what follows a date in a time stamp.
fn time_of_day(text: &[u8]) -> usize {
    let is_time = matches_shape(text, b"T00:00") || matches_shape(text, b" 00:00");
    if !is_time {
        return 0;
    }
    let more = text[6..].iter().take_while(|b| matches!(b, b'0'..=b'9' | b':' | b'.' | b'Z'));
    6 + more.count()
}

/// How one part becomes a term.
pub(super) fn kind_of(word: &[u8]) -> Kind {
    if is_hash(word) {
        Kind::Cut(HASH)
    } else if word.len() > ID && word.iter().all(u8::is_ascii_digit) {
        Kind::Cut(ID)
    } else {
        Kind::Word
    }
}

fn is_hash(word: &[u8]) -> bool {
    word.len() >= HASH
        && word.iter().all(u8::is_ascii_hexdigit)
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_alphabetic)
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Names change between small, capital and digit once or twice a word; payload changes at more
/// than half of its characters.
fn is_random(word: &[u8]) -> bool {
    let changes = word.windows(2).filter(|w| class(w[0]) != class(w[1])).count();
    changes * 100 >= word.len() * 35
}

/// The parts of an identifier: at joints, and where a hump begins (`HTTPServer2`: `HTTP`,
/// `Server2`).
fn split(word: &[u8], offset: usize, has_high: bool, parts: &mut Vec<Range<usize>>) {
    let mut start = 0;
    let mut cut = |from: usize, to: usize| {
        if from < to {
            parts.push(offset + from..offset + to);
        }
    };
    for i in 0..word.len() {
        let now = class(word[i]);
        if now == Class::Joint {
            cut(start, i);
            start = i + 1;
            continue;
        }
        let before = if i > start { class(word[i - 1]) } else { Class::None };
        let next = word.get(i + 1).map_or(Class::None, |&b| class(b));
        let is_hump = now == Class::Upper
            && (matches!(before, Class::Lower | Class::Digit)
                || before == Class::Upper && next == Class::Lower);
        if is_hump && !has_high {
            cut(start, i);
            start = i;
        }
    }
    cut(start, word.len());
}

//! A line of JSON read as the text that it means, with the way back to its bytes.
//!
//! Escapes are decoded all over the line, so that a key of many lines or a quoted value looks as
//! it does in a plain text. What is found is put back by its place in the line, and never across
//! the quotes of a string: the line stays the JSON that it was.

use std::ops::Range;

/// A line without escapes.
#[derive(Debug)]
pub struct Flat {
    /// The text.
    pub text: String,
    /// Behind each escape: where it is in the text, and where in the line.
    steps: Vec<(usize, usize)>,
}

impl Flat {
    /// Decodes a line; nothing if there is nothing to decode.
    pub fn of(raw: &str) -> Option<Self> {
        let first = memchr::memchr(b'\\', raw.as_bytes())?;
        let mut flat = Self { text: String::with_capacity(raw.len()), steps: Vec::new() };
        let (mut from, mut next) = (0, Some(first));
        while let Some(at) = next {
            flat.text.push_str(&raw[from..at]);
            let (c, length) = escape(&raw[at..]);
            flat.text.push(c);
            from = at + length;
            flat.steps.push((flat.text.len(), from));
            next = memchr::memchr(b'\\', &raw.as_bytes()[from..]).map(|step| from + step);
        }
        flat.text.push_str(&raw[from..]);
        Some(flat)
    }

    /// Where a range of the text stands in the line.
    pub fn raw(&self, range: &Range<usize>) -> Range<usize> {
        self.raw_at(range.start)..self.raw_at(range.end)
    }

    fn raw_at(&self, at: usize) -> usize {
        let behind = self.steps.partition_point(|(flat, _)| *flat <= at);
        match behind.checked_sub(1).map(|last| self.steps[last]) {
            Some((flat, raw)) => raw + (at - flat),
            None => at,
        }
    }
}

/// What an escape means, and its length. What is none means itself.
fn escape(raw: &str) -> (char, usize) {
    let bytes = raw.as_bytes();
    match bytes.get(1) {
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'b' | b'f') => (' ', 2),
        Some(&c @ (b'"' | b'\\' | b'/')) => (char::from(c), 2),
        Some(b'u') => {
            let code = raw.get(2..6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
            match code {
                Some(code) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
                None => ('\\', 1),
            }
        }
        _ => ('\\', 1),
    }
}

/// Which place of a line is inside of a string.
#[derive(Debug)]
pub struct Strings<'a> {
    raw: &'a [u8],
    /// The next quote that begins or ends a string; the end of the line if there is none.
    quote: usize,
    is_inside: bool,
}

impl<'a> Strings<'a> {
    /// From the beginning of a line on.
    pub fn new(raw: &'a str) -> Self {
        let raw = raw.as_bytes();
        Self { raw, quote: quote(raw, 0), is_inside: false }
    }

    /// What of a range is in one string, or in one value without quotes, and which of both. Ranges
    /// are asked for in order.
    pub fn within(&mut self, range: Range<usize>) -> (Range<usize>, bool) {
        while self.quote < range.start {
            self.is_inside = !self.is_inside;
            self.quote = quote(self.raw, self.quote + 1);
        }
        let ends = |b: &u8| matches!(b, b'"' | b',' | b':' | b'{' | b'}' | b'[' | b']' | b' ');
        let end = if self.is_inside {
            self.quote
        } else {
            let found = self.raw[range.clone()].iter().position(ends);
            found.map_or(range.end, |at| range.start + at)
        };
        (range.start..end.min(range.end), self.is_inside)
    }
}

impl Strings<'_> {
    /// What of a range is in strings that are values, each by itself; names stay what they are.
    pub fn values(&mut self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (part, is_text) = self.within(at..range.end);
            let is_name = || {
                let behind = self.raw.get(part.end + 1..).unwrap_or_default().trim_ascii_start();
                part.end == self.quote && behind.starts_with(b":")
            };
            if is_text && !part.is_empty() && !is_name() {
                parts.push(part.clone());
            }
            // Over the quote, or over what stands between strings.
            at = if is_text { part.end + 1 } else { self.quote.max(part.end) + 1 };
        }
        parts
    }
}

/// The next quote from `from` on that is not escaped.
fn quote(raw: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(step) = raw.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += step;
        if raw[at] == b'"' {
            return at;
        }
        at += 2;
    }
    raw.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_text_has_its_place_in_the_line() {
        let raw = r#"{"a":"x\n\"yé\" \u002d\/ z"}"#;
        let flat = Flat::of(raw).expect("has escapes");
        assert_eq!(flat.text, "{\"a\":\"x\n\"yé\" -/ z\"}");
        for (part, want) in [("yé", "yé"), ("-/", r"\u002d\/"), ("x\n", r"x\n"), ("z", "z")] {
            let at = flat.text.find(part).expect("there");
            assert_eq!(&raw[flat.raw(&(at..at + part.len()))], want);
        }
        assert!(Flat::of("{}").is_none());
    }

    #[test]
    fn broken_escapes_mean_themselves() {
        let flat = Flat::of(r"a\ud83d\u12\").expect("has escapes");
        assert_eq!(flat.text, "a\u{fffd}\\u12\\");
    }

    #[test]
    fn a_range_over_strings_is_in_each_of_them() {
        let raw = r#"{"a":["bb","cc",1,"dd"],"e":"ff","g":"h"}"#;
        let at = |text: &str| raw.find(text).expect("there");
        let mut strings = Strings::new(raw);
        let (first, _) = strings.within(at("bb") + 1..at("ff") + 1);
        let parts: Vec<&str> =
            strings.values(first.end..at("ff") + 1).into_iter().map(|part| &raw[part]).collect();
        assert_eq!((&raw[first], parts), ("b", vec!["cc", "dd", "f"]));
    }

    #[test]
    fn ranges_stay_in_their_string() {
        let raw = r#"{"a":"b\"c","d":12,"e":"f"}"#;
        let mut strings = Strings::new(raw);
        assert_eq!(strings.within(6..9), (6..9, true));
        assert_eq!(strings.within(7..14), (7..10, true));
        assert_eq!(strings.within(16..24), (16..18, false));
        assert_eq!(strings.within(24..26), (24..25, true));
    }
}

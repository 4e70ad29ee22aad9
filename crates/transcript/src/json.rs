//! A lazy reader of JSON: it finds where values begin and end and decodes only what is asked for.
//!
//! Every entry passes here once, so the reader does not validate what it skips: brackets are
//! counted, not matched, and scalars are taken as they stand. On valid JSON it sees exactly what
//! serde_json sees (a fuzz target holds that); on anything else it gives a value or [`Broken`],
//! never a panic. Nesting is counted, not recursed into, so depth costs no stack.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};
use wide::u8x16;

/// The text does not go on as JSON from byte `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken {
    /// Where reading stopped, counted from the start of the text that was read.
    pub at: usize,
}

/// The inside of a JSON string, undecoded.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Str<'a>(&'a [u8]);

impl<'a> Str<'a> {
    /// A string's inside, as it stands between its quotes.
    pub const fn new(inside: &'a [u8]) -> Self {
        Self(inside)
    }

    /// The undecoded bytes between the quotes.
    pub const fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Whether nothing stands between the quotes.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The decoded text. Lone surrogates and invalid UTF-8 become U+FFFD.
    pub fn text(self) -> Cow<'a, str> {
        if memchr(b'\\', self.0).is_none() {
            return match simdutf8::basic::from_utf8(self.0) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(String::from_utf8_lossy(self.0).into_owned()),
            };
        }
        Cow::Owned(unescape(self.0, usize::MAX))
    }

    /// The decoded text of about the first `bytes` bytes; never cuts a character.
    pub fn head(self, bytes: usize) -> Cow<'a, str> {
        if self.0.len() <= bytes { self.text() } else { Cow::Owned(unescape(self.0, bytes)) }
    }

    /// Whether the decoded text equals `text`.
    pub fn is(self, text: &str) -> bool {
        let first = |bytes: &[u8]| bytes.first().copied().filter(|b| b.is_ascii() && *b != b'\\');
        // What begins otherwise is something else; most questions end here.
        if first(self.0).is_some_and(|first| text.as_bytes().first() != Some(&first)) {
            return false;
        }
        self.0 == text.as_bytes() || (memchr(b'\\', self.0).is_some() && self.text() == text)
    }

    /// Whether the string holds half a surrogate pair, which no text can.
    pub fn has_lone_surrogate(self) -> bool {
        let mut rest = self.0;
        while let Some(at) = memchr(b'\\', rest) {
            let (_, used, lone) = escape(&rest[at..]);
            if lone {
                return true;
            }
            rest = &rest[at + used..];
        }
        false
    }
}

impl std::fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

/// Decodes `inside` until `most` bytes of it are used.
fn unescape(inside: &[u8], most: usize) -> String {
    let mut out = String::with_capacity(inside.len().min(most));
    let mut rest = inside;
    while !rest.is_empty() {
        let room = most.saturating_sub(inside.len() - rest.len());
        if room == 0 {
            break;
        }
        match memchr(b'\\', rest) {
            Some(0) => {
                let (char, used, _) = escape(rest);
                out.push(char);
                rest = &rest[used..];
            }
            found => {
                let plain = found.unwrap_or(rest.len());
                let end = if plain <= room { plain } else { char_boundary(rest, room) };
                out.push_str(&String::from_utf8_lossy(&rest[..end]));
                if end < plain {
                    break;
                }
                rest = &rest[end..];
            }
        }
    }
    out
}

/// The nearest place at or before `at` that does not stand inside a UTF-8 character.
fn char_boundary(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|&i| bytes[i] & 0xC0 != 0x80).unwrap_or(at)
}

/// One escape at the start of `bytes`: its character, its length, whether it is half a pair.
fn escape(bytes: &[u8]) -> (char, usize, bool) {
    let simple = |c: char| (c, 2, false);
    match bytes.get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(&c @ (b'"' | b'\\' | b'/')) => simple(char::from(c)),
        Some(b'u') => unicode_escape(bytes),
        Some(_) => (char::REPLACEMENT_CHARACTER, 1, false),
        None => (char::REPLACEMENT_CHARACTER, 1, false),
    }
}

fn unicode_escape(bytes: &[u8]) -> (char, usize, bool) {
    let Some(first) = hex4(bytes, 2) else {
        return (char::REPLACEMENT_CHARACTER, 2, false);
    };
    if let Some(char) = char::from_u32(first) {
        return (char, 6, false);
    }
    let second = match bytes.get(6..8) {
        Some(b"\\u") if first < 0xDC00 => hex4(bytes, 8),
        _ => None,
    };
    match second {
        Some(low @ 0xDC00..=0xDFFF) => {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12, false)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6, true),
    }
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 4)?
        .iter()
        .try_fold(0, |sum, &b| Some(sum * 16 + char::from(b).to_digit(16)?))
}

/// One JSON value as it stands in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a [u8]);

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0))
    }
}

impl<'a> Raw<'a> {
    /// The value `null`.
    pub(crate) const NULL: Raw<'static> = Raw(b"null");

    /// The first JSON value in `bytes`, without the white space around it.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Broken> {
        Cursor::new(bytes).value()
    }

    /// The bytes of the value.
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.0 == b"null"
    }

    /// Whether the value is an object.
    pub fn is_object(self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Whether the value is an array.
    pub fn is_array(self) -> bool {
        self.0.first() == Some(&b'[')
    }

    /// The string, if the value is one.
    pub fn str(self) -> Option<Str<'a>> {
        match self.0 {
            [b'"', inside @ .., b'"'] => Some(Str(inside)),
            _ => None,
        }
    }

    /// The decoded string, if the value is one.
    pub fn text(self) -> Option<Cow<'a, str>> {
        self.str().map(Str::text)
    }

    /// The truth value, if the value is one.
    pub fn bool(self) -> Option<bool> {
        match self.0 {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The number as `u64`. A fraction, a sign or anything else is `None`.
    pub fn u64(self) -> Option<u64> {
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// The number as `i64`, fractions cut off.
    pub fn i64(self) -> Option<i64> {
        let text = std::str::from_utf8(self.0).ok()?;
        text.parse().ok().or_else(|| {
            let float = self.f64()?;
            (float.abs() < 9e18).then_some(float as i64)
        })
    }

    /// The number as `f64`; strings are not numbers.
    pub fn f64(self) -> Option<f64> {
        if !matches!(self.0.first(), Some(b'-' | b'0'..=b'9')) {
            return None;
        }
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// The members of an object, in file order; none if it is something else.
    pub fn fields(self) -> Fields<'a> {
        Fields { cursor: self.is_object().then(|| Cursor::at(self.0, 1)) }
    }

    /// The items of an array, in file order; none if it is something else.
    pub fn items(self) -> Items<'a> {
        Items { cursor: self.is_array().then(|| Cursor::at(self.0, 1)) }
    }

    /// The last member called `key`, as JavaScript would read it.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        self.fields().filter(|(k, _)| k.is(key)).last().map(|(_, v)| v)
    }

    /// The first member called `key`: what comes after it is not looked at.
    pub fn first(self, key: &str) -> Option<Raw<'a>> {
        self.fields().find(|(k, _)| k.is(key)).map(|(_, v)| v)
    }

    /// As [`Raw::get`] for each of `keys`, in one pass.
    pub fn get_all<const N: usize>(self, keys: [&str; N]) -> [Option<Raw<'a>>; N] {
        let mut found = [None; N];
        for (key, value) in self.fields() {
            let at = keys.iter().position(|name| key.raw() == name.as_bytes());
            let escaped = || keys.iter().position(|name| key.is(name));
            if let Some(at) = at.or_else(|| memchr(b'\\', key.raw()).and_then(|_| escaped())) {
                found[at] = Some(value);
            }
        }
        found
    }

    /// The member `key` unless it is `null`.
    pub fn some(self, key: &str) -> Option<Raw<'a>> {
        self.get(key).filter(|v| !v.is_null())
    }

    /// The decoded string member `key`.
    pub fn string(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.text()
    }
}

/// The members of an object. Ends early where the text breaks.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    cursor: Option<Cursor<'a>>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Str<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.cursor.as_mut()?;
        let member = cursor.key().ok().flatten().and_then(|k| Some((k, cursor.value().ok()?)));
        if member.is_none() {
            self.cursor = None;
        }
        member
    }
}

/// The items of an array. Ends early where the text breaks.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    cursor: Option<Cursor<'a>>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.cursor.as_mut()?;
        let item = match cursor.item() {
            Ok(true) => cursor.value().ok(),
            _ => None,
        };
        if item.is_none() {
            self.cursor = None;
        }
        item
    }
}

/// A place in JSON text that moves forward only.
///
/// It knows the quotes of the 64 bytes around it, so that most strings end without another look.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    /// Where the bytes begin whose quotes are known.
    near: usize,
    /// One bit for each of their quotes, escaped ones too.
    quotes: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self::at(bytes, 0)
    }

    #[inline]
    fn at(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos, near: pos, quotes: quotes(bytes, pos) }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    /// The value that began at `start` and was just passed.
    pub(crate) fn since(&self, start: usize) -> Raw<'a> {
        Raw(&self.bytes[start..self.pos])
    }

    fn broken<T>(&self) -> Result<T, Broken> {
        Err(Broken { at: self.pos })
    }

    /// The next byte that is not white space, left in place.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<u8, Broken> {
        loop {
            match self.bytes.get(self.pos) {
                Some(&b) if b > b' ' => return Ok(b),
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.pos += 1,
                Some(&b) => return Ok(b),
                None => return self.broken(),
            }
        }
    }

    /// Steps into an object or array whose opening bracket is next.
    #[inline]
    pub(crate) fn open(&mut self, bracket: u8) -> Result<(), Broken> {
        if self.peek()? != bracket {
            return self.broken();
        }
        self.pos += 1;
        Ok(())
    }

    /// The next key of an opened object, the place left before its value; `None` at its end.
    #[inline(always)]
    pub(crate) fn key(&mut self) -> Result<Option<Str<'a>>, Broken> {
        // Claude Code writes no white space.
        let comma = usize::from(self.bytes.get(self.pos) == Some(&b','));
        let start = self.pos + comma + 1;
        if self.bytes.get(start - 1) == Some(&b'"')
            && let Some(end) = self.near_quote(start)
            && self.bytes.get(end + 1) == Some(&b':')
        {
            self.pos = end + 2;
            return Ok(Some(Str(&self.bytes[start..end])));
        }
        self.any_key()
    }

    #[inline(never)]
    fn any_key(&mut self) -> Result<Option<Str<'a>>, Broken> {
        let mut next = self.peek()?;
        if next == b',' {
            self.pos += 1;
            next = self.peek()?;
        }
        match next {
            b'"' => {
                let key = self.string()?;
                if self.peek()? != b':' {
                    return self.broken();
                }
                self.pos += 1;
                Ok(Some(key))
            }
            b'}' => {
                self.pos += 1;
                Ok(None)
            }
            _ => self.broken(),
        }
    }

    /// Whether an opened array has another item, the place left before it.
    #[inline]
    pub(crate) fn item(&mut self) -> Result<bool, Broken> {
        let mut next = self.peek()?;
        if next == b',' {
            self.pos += 1;
            next = self.peek()?;
        }
        if next == b']' {
            self.pos += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Passes over a string and gives its inside.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Str<'a>, Broken> {
        let start = self.pos + 1;
        match self.quote(start) {
            Some(end) => {
                self.pos = end + 1;
                Ok(Str(&self.bytes[start..end]))
            }
            None => self.broken(),
        }
    }

    /// Passes over one value and gives its bytes.
    #[inline(always)]
    pub(crate) fn value(&mut self) -> Result<Raw<'a>, Broken> {
        let start = self.pos;
        if self.bytes.get(start) == Some(&b'"')
            && let Some(end) = self.near_quote(start + 1)
        {
            self.pos = end + 1;
            return Ok(Raw(&self.bytes[start..=end]));
        }
        self.any_value()
    }

    #[inline(never)]
    fn any_value(&mut self) -> Result<Raw<'a>, Broken> {
        let first = self.peek()?;
        let start = self.pos;
        let end = match first {
            b'"' => self.quote(start + 1).map(|end| end + 1),
            b'{' | b'[' => self.container_end(start),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => scalar_end(self.bytes, start),
            _ => None,
        };
        match end {
            Some(end) => {
                self.pos = end;
                Ok(Raw(&self.bytes[start..end]))
            }
            None => self.broken(),
        }
    }

    /// The closing quote of a string whose inside begins at `start`, if it is among those known.
    #[inline(always)]
    fn near_quote(&self, start: usize) -> Option<usize> {
        let at = start - self.near;
        let quotes = if at < BLOCK { self.quotes >> at } else { 0 };
        let end = start + quotes.trailing_zeros() as usize;
        // The byte before the inside is a quote.
        (quotes != 0 && self.bytes.get(end - 1) != Some(&b'\\')).then_some(end)
    }

    /// The closing quote of a string whose inside begins at `start`.
    #[inline]
    fn quote(&mut self, start: usize) -> Option<usize> {
        (self.near, self.quotes) = (start, quotes(self.bytes, start));
        self.near_quote(start).or_else(|| {
            let end = far_quote(self.bytes, start, start)?;
            (self.near, self.quotes) = (end, quotes(self.bytes, end));
            Some(end)
        })
    }

    /// One past the bracket that closes the one at `start`.
    fn container_end(&mut self, start: usize) -> Option<usize> {
        let (mut depth, mut within, mut escaped) = (0, 0, 0);
        let mut at = start;
        while at < self.bytes.len() {
            let signs = on_block(self.bytes, at, Signs::of);
            let (quotes, escapes_next) = match signs.backslashes | escaped {
                0 => (signs.quotes, 0),
                _ => signs.real_quotes(escaped),
            };
            let inside = within ^ until_next(quotes);
            if inside == u64::MAX {
                // A long string: what is in it need not be looked at.
                at = far_quote(self.bytes, start, at + BLOCK)? + 1;
                (within, escaped) = (0, 0);
                continue;
            }
            let (opening, closing) = (signs.opening & !inside, signs.closing & !inside);
            if opening | closing != 0
                && let Some(bit) = close(opening, closing, &mut depth)
            {
                (self.near, self.quotes) = (at, signs.quotes);
                return Some(at + bit + 1);
            }
            at += BLOCK;
            (within, escaped) = (0u64.wrapping_sub(inside >> 63), escapes_next);
        }
        None
    }
}

/// Which of the `closing` brackets ends the outermost of the brackets that are open: `depth` of
/// them before those that are given, and after them if none does.
#[inline]
fn close(opening: u64, mut closing: u64, depth: &mut u32) -> Option<usize> {
    let mut closed = closing.count_ones();
    let after = *depth + opening.count_ones();
    if *depth <= closed {
        closed = 0;
        while closing != 0 {
            let bit = closing.trailing_zeros();
            closed += 1;
            if *depth + (opening & ((1 << bit) - 1)).count_ones() == closed {
                return Some(bit as usize);
            }
            closing &= closing - 1;
        }
    }
    *depth = after - closed;
    None
}

/// So many bytes are looked at together.
const BLOCK: usize = 64;

/// Looks at the bytes from `at` on; past the end there are spaces.
#[inline(always)]
fn on_block<T>(bytes: &[u8], at: usize, look: impl Fn(&[u8; BLOCK]) -> T) -> T {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(block) => look(block),
        None => {
            let mut block = [b' '; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            look(&block)
        }
    }
}

/// One bit for each byte for which `is` holds.
#[inline(always)]
fn bits(block: &[u8; BLOCK], is: impl Fn(u8x16) -> u8x16) -> u64 {
    let parts = block.as_chunks::<16>().0;
    let bits = |i: usize| u64::from(is(u8x16::new(parts[i])).to_bitmask()) << (16 * i);
    bits(0) | bits(1) | bits(2) | bits(3)
}

/// The quotes of the bytes from `at` on.
#[inline]
fn quotes(bytes: &[u8], at: usize) -> u64 {
    on_block(bytes, at, |block| bits(block, |part| part.simd_eq(u8x16::splat(b'"'))))
}

/// What a value's end goes by, one bit for each byte of a block.
struct Signs {
    quotes: u64,
    backslashes: u64,
    /// Brackets of arrays and objects alike: they differ in one bit.
    opening: u64,
    closing: u64,
}

impl Signs {
    #[inline(always)]
    fn of(block: &[u8; BLOCK]) -> Self {
        let find = |sign| bits(block, |part| part.simd_eq(u8x16::splat(sign)));
        let either = u8x16::splat(b'[' ^ b'{');
        let bracket = |sign| bits(block, |part| (part | either).simd_eq(u8x16::splat(sign)));
        Self {
            quotes: find(b'"'),
            backslashes: find(b'\\'),
            opening: bracket(b'{'),
            closing: bracket(b'}'),
        }
    }

    /// The quotes that are not escaped, and 1 if the block ends in the beginning of an escape;
    /// `escaped` is 1 if the one before did.
    #[inline(always)]
    fn real_quotes(&self, escaped: u64) -> (u64, u64) {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        // Of a run of backslashes every second one is escaped: subtracting carries through the
        // run, whose first bit stands at an odd or an even place.
        let starts = self.backslashes & !escaped;
        let codes = ((starts << 1) | ODD).wrapping_sub(starts) ^ ODD;
        let is_escaped = codes ^ (self.backslashes | escaped);
        (self.quotes & !is_escaped, (codes & self.backslashes) >> 63)
    }
}

/// All bits from each set one up to the next: with quotes, what is inside of strings.
#[inline(always)]
fn until_next(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].iter().fold(bits, |bits, by| bits ^ bits << by)
}

/// The closing quote at or after `from` of a string that begins after `start`.
///
/// Quotes are looked for, not escapes: text full of `\n` has far fewer `"` than `\`, and the run
/// of backslashes before a quote says whether it is a real one.
#[inline(never)]
fn far_quote(bytes: &[u8], start: usize, from: usize) -> Option<usize> {
    let real = |&quote: &usize| !is_escaped(&bytes[start..from + quote]);
    memchr_iter(b'"', bytes.get(from..)?).find(real).map(|quote| from + quote)
}

/// Whether what follows `before` is escaped by it: an odd run of backslashes.
#[inline]
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1
}

fn scalar_end(bytes: &[u8], start: usize) -> Option<usize> {
    let is_part =
        |b: &u8| matches!(b, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z');
    let rest = &bytes[start..];
    let length = match rest {
        [b't', b'r', b'u', b'e', ..] | [b'n', b'u', b'l', b'l', ..] => 4,
        [b'f', b'a', b'l', b's', b'e', ..] => 5,
        [b't' | b'f' | b'n', ..] => return None,
        _ => return Some(start + rest.iter().take_while(|b| is_part(b)).count()),
    };
    (!rest.get(length).is_some_and(is_part)).then_some(start + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strings(json: &str) -> Vec<(String, String)> {
        let raw = Raw::new(json.as_bytes()).expect("valid");
        raw.fields()
            .map(|(k, v)| (k.text().into_owned(), String::from_utf8_lossy(v.bytes()).into_owned()))
            .collect()
    }

    #[test]
    fn members_come_as_they_stand() {
        let got = strings(r#"{ "a" : "x\"}" , "b":[1,{"c":"]"}],"d":-1.5e3,"e":null}"#);
        let want = [("a", r#""x\"}""#), ("b", r#"[1,{"c":"]"}]"#), ("d", "-1.5e3"), ("e", "null")];
        assert_eq!(got, want.map(|(k, v)| (k.to_string(), v.to_string())));
    }

    #[test]
    fn escapes_decode_and_lone_surrogates_become_replacement() {
        let raw = |s| Raw(s).text().map(Cow::into_owned);
        assert_eq!(raw(br#""a\n\t\"\\\/\u00e9\ud83d\ude00""#), Some("a\n\t\"\\/é😀".into()));
        assert_eq!(raw(br#""x\ud83dy""#), Some("x\u{fffd}y".into()));
        assert_eq!(raw(br#""x\ud83d\u0041""#), Some("x\u{fffd}A".into()));
        assert_eq!(raw(b"\"\xff\""), Some("\u{fffd}".into()));
        assert!(Str::new(br"\ud83d").has_lone_surrogate());
        assert!(!Str::new(br"\ud83d\ude00 \\ud83d").has_lone_surrogate());
    }

    #[test]
    fn a_head_never_cuts_a_character() {
        assert_eq!(Str::new("aé😀b".as_bytes()).head(5), "aé");
        assert_eq!(Str::new("ab\\ncd".as_bytes()).head(3), "ab\n");
    }

    #[test]
    fn broken_text_says_where() {
        assert_eq!(Raw::new(br#"{"a":"#), Err(Broken { at: 0 }));
        assert!(Raw::new(b"").is_err());
        assert!(Raw::new(b".344Z\"}").is_err());
        assert!(Raw::new(b"nul").is_err());
    }

    #[test]
    fn of_members_with_one_name_the_last_counts() {
        let raw = Raw::new(br#"{"a":1,"b":2,"\u0061":3}"#).expect("valid");
        assert_eq!(
            raw.get_all(["b", "a", "c"]).map(|v| v.and_then(Raw::u64)),
            [Some(2), Some(3), None]
        );
        assert_eq!(raw.get("a").and_then(Raw::u64), Some(3));
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = [vec![b'['; 3_000_000], vec![b']'; 3_000_000]].concat();
        assert_eq!(Raw::new(&deep).map(|r| r.bytes().len()), Ok(6_000_000));
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
            ]
        })
    }

    /// Texts that are longer than a block, of the characters that ends are told by.
    fn telling_text() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            (0..150usize).prop_map(|n| "x".repeat(n)),
            (0..70usize).prop_map(|n| "\\".repeat(n)),
            prop::sample::select(vec!["\"", "[", "]", "{", "}", ",", ":", "\n", "é"])
                .prop_map(str::to_owned),
        ];
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn values_end_where_they_end_in_any_block(texts in prop::collection::vec(telling_text(), 1..5)) {
            let members: serde_json::Map<_, _> = texts
                .iter()
                .enumerate()
                .map(|(i, text)| (format!("{text}{i}"), serde_json::json!([{"a": [text]}, text])))
                .collect();
            let value = serde_json::Value::Object(members);
            let text = value.to_string();
            let raw = Raw::new(text.as_bytes()).expect("valid JSON");
            prop_assert_eq!(raw.bytes(), text.as_bytes());
            let spaced = serde_json::to_string_pretty(&value).expect("plain values");
            for whole in [raw, Raw::new(spaced.as_bytes()).expect("valid JSON")] {
                let names: Vec<String> = whole.fields().map(|(k, _)| k.text().into_owned()).collect();
                let wanted: Vec<&str> =
                    value.as_object().into_iter().flatten().map(|(k, _)| k.as_str()).collect();
                prop_assert_eq!(&names, &wanted);
                for (key, field) in whole.fields() {
                    let back: serde_json::Value = serde_json::from_slice(field.bytes()).expect("valid");
                    prop_assert_eq!(&value[&*key.text()], &back);
                }
            }
        }

        #[test]
        fn sees_what_serde_json_sees(value in json()) {
            let text = value.to_string();
            let raw = Raw::new(text.as_bytes()).expect("valid JSON");
            prop_assert_eq!(raw.bytes(), text.as_bytes());
            if let Some(object) = value.as_object() {
                let fields: Vec<_> = raw.fields().collect();
                prop_assert_eq!(fields.len(), object.len());
                for (key, field) in fields {
                    let back: serde_json::Value = serde_json::from_slice(field.bytes()).expect("valid");
                    prop_assert_eq!(&object[&*key.text()], &back);
                }
            }
            if let Some(string) = value.as_str() {
                prop_assert_eq!(raw.text().expect("a string"), string);
            }
        }

        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(raw) = Raw::new(&bytes) {
                raw.fields().for_each(|(k, v)| drop((k.text(), v.text(), v.f64())));
                raw.items().for_each(|v| drop(v.text()));
            }
        }
    }
}

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
        Fields { cursor: self.is_object().then_some(Cursor { bytes: self.0, pos: 1 }) }
    }

    /// The items of an array, in file order; none if it is something else.
    pub fn items(self) -> Items<'a> {
        Items { cursor: self.is_array().then_some(Cursor { bytes: self.0, pos: 1 }) }
    }

    /// The last member called `key`, as JavaScript would read it.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        self.fields().filter(|(k, _)| k.is(key)).last().map(|(_, v)| v)
    }

    /// The first member called `key`: what comes after it is not looked at.
    pub fn first(self, key: &str) -> Option<Raw<'a>> {
        self.fields().find(|(k, _)| k.is(key)).map(|(_, v)| v)
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
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pos: 0 }
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
    #[inline]
    pub(crate) fn key(&mut self) -> Result<Option<Str<'a>>, Broken> {
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
        match string_end::<2>(self.bytes, start) {
            Some(end) => {
                self.pos = end + 1;
                Ok(Str(&self.bytes[start..end]))
            }
            None => self.broken(),
        }
    }

    /// Passes over one value and gives its bytes.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Raw<'a>, Broken> {
        let first = self.peek()?;
        let start = self.pos;
        let end = match first {
            b'"' => string_end::<4>(self.bytes, start + 1).map(|end| end + 1),
            b'{' | b'[' => container_end(self.bytes, start),
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
}

/// The closing quote of a string whose inside begins at `start`.
///
/// Keys and ids end within a few bytes: those are looked at here, `NEAR` times sixteen at once and
/// without a branch between, the rest is a call.
#[inline(always)]
fn string_end<const NEAR: usize>(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?;
    let near = rest.as_chunks::<16>().0;
    if let Some(near) = near.first_chunk::<NEAR>() {
        let mut quotes = 0u64;
        for (i, &part) in near.iter().enumerate() {
            let found = u8x16::new(part).simd_eq(u8x16::splat(b'"')).to_bitmask();
            quotes |= u64::from(found) << (16 * i);
        }
        let at = quotes.trailing_zeros() as usize;
        if quotes != 0 && (at == 0 || rest[at - 1] != b'\\') {
            return Some(start + at);
        }
    }
    far_string_end(bytes, start)
}

/// Quotes are looked for, not escapes: text full of `\n` has far fewer `"` than `\`, and the run
/// of backslashes before a quote says whether it is a real one.
#[inline(never)]
fn far_string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let inside = &bytes[start..];
    let real = |&quote: &usize| !is_escaped(&inside[..quote]);
    memchr_iter(b'"', inside).find(real).map(|quote| start + quote)
}

/// Whether what follows `before` is escaped by it: an odd run of backslashes.
#[inline]
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1
}

/// One past the bracket that closes the one at `start`.
fn container_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut pos = start;
    loop {
        match *bytes.get(pos)? {
            b'"' => pos = string_end::<4>(bytes, pos + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(pos + 1);
                }
            }
            _ => {}
        }
        pos += 1;
    }
}

fn scalar_end(bytes: &[u8], start: usize) -> Option<usize> {
    let length = bytes[start..]
        .iter()
        .take_while(|b| matches!(b, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z'))
        .count();
    let scalar = &bytes[start..start + length];
    let known = match scalar.first()? {
        b't' => scalar == b"true",
        b'f' => scalar == b"false",
        b'n' => scalar == b"null",
        _ => true,
    };
    known.then_some(start + length)
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

    proptest! {
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

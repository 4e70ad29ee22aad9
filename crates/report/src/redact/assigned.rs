//! What is assigned to a name, in code, JSON, YAML, environment files, URLs, headers and flags.
//!
//! No grammar of any of them: from a keyword on, the rest of the name, something that assigns, and
//! a value with or without quotes. Quotes may be escaped, as in JSON inside of JSON.

use std::ops::Range;

/// Longer names are no names.
const NAME_MOST: usize = 48;
const SPACES_MOST: usize = 16;
/// `: &'static str =`
const TYPE_MOST: usize = 24;

/// A value and how it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// The whole name that the keyword is in.
    pub name: Range<usize>,
    /// The value, without quotes.
    pub value: Range<usize>,
    /// Whether it has quotes.
    pub is_quoted: bool,
}

/// Where the last value without quotes ended: values that begin inside of it end there, too, which
/// keeps the time linear when names follow each other without an end.
#[derive(Debug, Default)]
pub struct Run(Range<usize>);

/// What is assigned to the name with the keyword at `word`; nothing of more than `most` bytes.
pub fn assigned(text: &[u8], word: Range<usize>, most: usize, run: &mut Run) -> Option<Assigned> {
    let name_end = skip(text, word.end, NAME_MOST, is_name);
    let closed = skip(text, name_end, 6, |b| matches!(b, b'"' | b'\'' | b'`' | b'\\' | b']'));
    let spaced = skip(text, closed, SPACES_MOST, is_space);
    let name = name_start(text, word.start)..name_end;
    let after = match assigns(text, spaced) {
        Some(after) => skip(text, after, SPACES_MOST, is_space),
        None if spaced > closed && is_flag(text, name.start) => spaced,
        None if is_element(text, &name, closed) => closed + 1,
        None => return None,
    };
    let at = past_scheme(text, past_type(text, after));
    value(text, at, most, run).map(|(value, is_quoted)| Assigned { name, value, is_quoted })
}

fn skip(text: &[u8], from: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
    let rest = &text[from.min(text.len())..];
    from + rest.iter().take(most).take_while(|&&b| is(b)).count()
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t')
}

fn name_start(text: &[u8], from: usize) -> usize {
    let before = text[..from].iter().rev().take(NAME_MOST);
    let start = from - before.take_while(|&&b| is_name(b)).count();
    // The letter of an escape or of a colour is no part of the name.
    let is_letter = match text[start..] {
        [b'n' | b'r' | b't', ..] => text[..start].ends_with(b"\\"),
        [b'0'..=b'9' | b'm', ..] => false,
        _ => return start,
    };
    let colour = &text[start..from.min(start + 4)];
    let digits = colour.iter().take_while(|b| b.is_ascii_digit()).count();
    if colour.get(digits) == Some(&b'm') && matches!(text[..start], [.., b'[' | b';']) {
        return start + digits + 1;
    }
    start + usize::from(is_letter)
}

/// `--token value`
fn is_flag(text: &[u8], name: usize) -> bool {
    text[name..].starts_with(b"--")
}

/// `<token>value</token>`
fn is_element(text: &[u8], name: &Range<usize>, closed: usize) -> bool {
    name.start > 0 && text[name.start - 1] == b'<' && text.get(closed) == Some(&b'>')
}

/// What follows `=`, `:`, `:=`, `==`, `=>` or an encoded `=`.
fn assigns(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let signs = rest.iter().take(3).take_while(|b| matches!(b, b'=' | b':' | b'>')).count();
    match &rest[..signs] {
        b"=" | b":" | b":=" | b"==" | b"===" | b"=>" => Some(at + signs),
        b"" if rest.starts_with(b"%3D") || rest.starts_with(b"%3d") => Some(at + 3),
        _ => None,
    }
}

/// Past the type of a constant, if there is one.
fn past_type(text: &[u8], at: usize) -> usize {
    let is_type = |b: u8| b.is_ascii_alphabetic() || matches!(b, b'&' | b'\'' | b' ' | b'_' | b'<');
    let end = skip(text, at, TYPE_MOST, is_type);
    let is_assigned = end > at && text.get(end) == Some(&b'=') && text.get(end + 1) != Some(&b'=');
    if is_assigned && text[end - 1] == b' ' {
        return skip(text, end + 1, SPACES_MOST, is_space);
    }
    at
}

/// Past `Bearer ` and the like, also behind a quote. The quote is lost then, which only means that
/// the value ends at the first character that no token has.
fn past_scheme(text: &[u8], at: usize) -> usize {
    let open = skip(text, at, 3, |b| matches!(b, b'"' | b'\'' | b'`' | b'\\'));
    for scheme in ["bearer ", "token ", "basic ", "apikey ", "bot "] {
        let word = text.get(open..open + scheme.len());
        if word.is_some_and(|word| word.eq_ignore_ascii_case(scheme.as_bytes())) {
            return skip(text, open + scheme.len(), SPACES_MOST, is_space);
        }
    }
    at
}

fn value(text: &[u8], at: usize, most: usize, run: &mut Run) -> Option<(Range<usize>, bool)> {
    let prefix = skip(text, at, 2, |b| matches!(b, b'b' | b'r' | b'f' | b'u' | b'@' | b'#'));
    let escapes = skip(text, prefix, 8, |b| b == b'\\') - prefix;
    let open = prefix + escapes;
    match text.get(open) {
        Some(&quote @ (b'"' | b'\'' | b'`')) => {
            let quotes = skip(text, open, 3, |b| b == quote);
            let start = if quotes - open == 3 { quotes } else { open + 1 };
            quoted(text, start, quote, escapes, most).map(|value| (value, true))
        }
        _ => unquoted(text, at, most, run).map(|value| (value, false)),
    }
}

/// Up to the quote that closes it, which has as many backslashes as the one that opened it.
fn quoted(
    text: &[u8],
    start: usize,
    quote: u8,
    escapes: usize,
    most: usize,
) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let mut slashes = 0;
    for (at, &b) in rest.iter().take(most + 8).enumerate() {
        match b {
            b'\\' => slashes += 1,
            b'\n' => return None,
            _ if b == quote && slashes <= escapes => return Some(start..start + at - slashes),
            _ => slashes = 0,
        }
    }
    None
}

/// Up to the first character that ends a word. What goes on as code is no value.
fn unquoted(text: &[u8], start: usize, most: usize, run: &mut Run) -> Option<Range<usize>> {
    let is_value = |b: u8| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b'!' | b'@' | b'#')
            || matches!(b, b'%' | b'^' | b'*' | b'?' | b':' | b'$')
    };
    if !run.0.contains(&start) {
        run.0 = start..skip(text, start, usize::MAX, is_value);
    }
    // A sentence may end behind it.
    let dots = text[start..run.0.end].iter().rev().take_while(|b| matches!(b, b'.' | b':')).count();
    let end = run.0.end - dots;
    let goes_on = matches!(text.get(run.0.end), Some(b'(' | b'[' | b'{'));
    (end > start && end - start <= most && !goes_on).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(&str, bool)> {
        let at = text.find("token").expect("a name");
        let found = assigned(text.as_bytes(), at..at + 5, 60, &mut Run::default())?;
        Some((&text[found.value], found.is_quoted))
    }

    #[test]
    fn values_are_found_however_they_are_assigned() {
        let cases = [
            ("token=abc", Some(("abc", false))),
            ("my_token_v2 := \"a b\"", Some(("a b", true))),
            (r#"{"token": "abc"}"#, Some(("abc", true))),
            (r#"{\"token\": \"abc\"}"#, Some(("abc", true))),
            (r#"{\\\"token\\\": \\\"abc\\\"}"#, Some(("abc", true))),
            (r#"token = "a\"b""#, Some((r#"a\"b"#, true))),
            ("env['token'] = 'abc'", Some(("abc", true))),
            ("const token: &str = b\"abc\";", Some(("abc", true))),
            ("?token=abc&x=1", Some(("abc", false))),
            ("token%3Dabc", Some(("abc", false))),
            ("run --token abc now", Some(("abc", false))),
            (r"run\n--token abc", Some(("abc", false))),
            ("run\u{1b}[1;31m--token abc", Some(("abc", false))),
            ("<token>abc</token>", Some(("abc", false))),
            ("token: \"Bearer abc\"", Some(("abc", false))),
            ("token = \"\"\"abc\"\"\"", Some(("abc", true))),
            ("token abc", None),
            ("token::new", None),
            ("token = call(1)", None),
            ("token: \"never ended", None),
            ("token", None),
            ("token=", None),
        ];
        for (text, want) in cases {
            assert_eq!(of(text), want, "{text}");
        }
    }

    #[test]
    fn too_long_is_no_value() {
        assert_eq!(of(&format!("token={}", "a".repeat(61))), None);
        assert!(of(&format!("token={}", "a".repeat(60))).is_some());
    }
}

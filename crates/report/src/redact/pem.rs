//! Private keys between their BEGIN and END lines, and what is left of one that was cut.
//!
//! A key in a transcript is seldom a clean file: its lines stand behind line numbers or diff marks,
//! in quotes of a source, with `\n` for newlines, or end in the middle. So nothing is parsed: from
//! a marker on, pieces of base64 are taken as long as what is between them is short.

use std::ops::Range;

/// A key ends after so many bytes, whatever follows.
const MOST: usize = 128 << 10;
/// Headers like `DEK-Info` may stand before the first piece.
const GAP_FIRST: usize = 200;
/// Line numbers, quotes and a short last line may stand between pieces.
const GAP: usize = 72;
/// Shorter pieces are not taken for a part of a key by themselves.
const PIECE: usize = 16;
/// So long is a marker before and behind its words `PRIVATE KEY`.
const MARKER: usize = 48;

/// A private key in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// All of it, markers included.
    pub range: Range<usize>,
    /// What makes it this key and no other, however it was laid out.
    pub body: Vec<u8>,
}

/// The key that the words `PRIVATE KEY` at `word` belong to. A marker with no key beside it, as in
/// the source of a parser, is none.
pub fn block(text: &[u8], word: Range<usize>) -> Option<Block> {
    if text[word.start..].starts_with(b"P") && text[..word.end].ends_with(b"-Lines:") {
        return forward(text, word.start, word.end);
    }
    let after = dashes_after(text, word.end)?;
    match marker(text, word.start)? {
        (Marker::Begin, start) => forward(text, start, after),
        (Marker::End, start) => backward(text, start, after),
    }
}

/// Where a piece of base64 stands so near a marker that it may be a part of a key. Asks less than
/// [`block`] does, to be held against what is left after it.
pub fn near_marker(text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let after = dashes_after(text, word.end)?;
    let (which, start) = marker(text, word.start)?;
    let span = match which {
        Marker::Begin => after..(after + 2 * GAP_FIRST).min(text.len()),
        Marker::End => start.saturating_sub(GAP_FIRST)..start,
    };
    let mut at = span.start;
    while let Some(piece) = next_piece(text, at, span.end) {
        let is_long = piece.len() >= 2 * PIECE || piece.len() >= PIECE && which == Marker::End;
        if is_long && is_random(&text[piece.clone()]) {
            return Some(piece);
        }
        at = piece.end;
    }
    None
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Begin,
    End,
}

/// Past the dashes that end a marker, also escaped ones.
fn dashes_after(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..(at + MARKER).min(text.len())];
    let rest_after = rest.strip_prefix(b" BLOCK").unwrap_or(rest);
    let mut end = at + (rest.len() - rest_after.len());
    end += usize::from(text.get(end) == Some(&b' '));
    let mut dashes = 0;
    loop {
        let rest = &text[end..];
        let step = if rest.starts_with(b"-") {
            1
        } else if rest.starts_with(br"\u002d") || rest.starts_with(br"\u002D") {
            6
        } else {
            break;
        };
        end += step;
        dashes += 1;
        if dashes == 5 {
            break;
        }
    }
    (dashes >= 4).then_some(end)
}

/// Which marker the words belong to, and where it begins.
fn marker(text: &[u8], word: usize) -> Option<(Marker, usize)> {
    let from = word.saturating_sub(MARKER);
    let before = &text[from..word];
    let find = |what: &[u8]| memchr::memmem::rfind(before, what);
    let (which, at) = match (find(b"BEGIN"), find(b"END")) {
        (Some(begin), end) if end.is_none_or(|end| end < begin) => (Marker::Begin, begin),
        (_, Some(end)) => (Marker::End, end),
        _ => return None,
    };
    let is_dash = |b: &u8| matches!(b, b'-' | b' ' | b'\\' | b'u' | b'0' | b'2' | b'd' | b'D');
    let dashes = before[..at].iter().rev().take(30).take_while(|b| is_dash(b)).count();
    let start = from + at - dashes;
    let start = start + text[start..].iter().take_while(|b| **b == b' ').count();
    Some((which, start))
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// The next run of base64 before `end`. An escaped slash does not end it.
fn next_piece(text: &[u8], at: usize, end: usize) -> Option<Range<usize>> {
    let rest = &text[at..end];
    let start = at + rest.iter().position(|&b| is_base64(b))?;
    let goes_on = |at: usize| is_base64(text[at]) || text[at..end].starts_with(br"\/");
    let stop = (start..end).find(|&at| !goes_on(at)).unwrap_or(end);
    Some(start..stop)
}

/// Whether a piece is no word: letters of both cases and a digit, or too long for one.
fn is_random(piece: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| piece.iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    is_mixed && (has(u8::is_ascii_uppercase) || piece.len() >= 2 * PIECE)
}

fn is_body(piece: &[u8]) -> bool {
    piece.len() >= PIECE && is_random(piece)
}

fn forward(text: &[u8], start: usize, from: usize) -> Option<Block> {
    let limit = (from + MOST).min(text.len());
    let (mut at, mut good, mut body) = (from, from, Vec::new());
    while let Some(piece) = next_piece(text, at, limit) {
        let gap = if body.is_empty() { GAP_FIRST } else { GAP };
        if piece.start - good > gap {
            break;
        }
        let bytes = &text[piece.clone()];
        if bytes == b"END" && !body.is_empty() {
            if let Some(end) = end_marker(text, piece.end) {
                push_rest(&mut body, text, good, piece.start);
                return Some(Block { range: start..end, body });
            }
            break;
        }
        if bytes == b"BEGIN" {
            break;
        }
        if is_body(bytes) {
            push_piece(&mut body, text, &piece);
            good = piece.end;
        }
        at = piece.end;
    }
    (!body.is_empty()).then_some(Block { range: start..good, body })
}

/// The short last line of a key.
fn push_rest(body: &mut Vec<u8>, text: &[u8], from: usize, to: usize) {
    let mut at = from;
    while let Some(piece) = next_piece(text, at, to) {
        let is_number = text[piece.clone()].iter().all(u8::is_ascii_digit);
        if !is_number {
            push_piece(body, text, &piece);
        }
        at = piece.end;
    }
}

/// Adds the letters and digits of a piece, without the letter of an escape before it. A plus may
/// be the mark of a diff.
fn push_piece(body: &mut Vec<u8>, text: &[u8], piece: &Range<usize>) {
    let is_escape = piece.start > 0 && text[piece.start - 1] == b'\\';
    let skip = usize::from(is_escape && matches!(text[piece.start], b'n' | b'r' | b't'));
    body.extend(text[piece.start + skip..piece.end].iter().filter(|b| b.is_ascii_alphanumeric()));
}

/// Past an END marker whose word `END` ends at `at`.
fn end_marker(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..(at + MARKER).min(text.len())];
    let words = memchr::memmem::find(rest, b"PRIVATE KEY")?;
    dashes_after(text, at + words + b"PRIVATE KEY".len())
}

/// A key whose beginning is gone.
fn backward(text: &[u8], marker: usize, end: usize) -> Option<Block> {
    let limit = marker.saturating_sub(MOST);
    let (mut at, mut good, mut pieces) = (marker, marker, Vec::new());
    while let Some(stop) = text[limit..at].iter().rposition(|&b| is_base64(b)) {
        let stop = limit + stop + 1;
        let is_piece = |at: usize| is_base64(text[at]) || text[at] == b'\\';
        let start = (limit..stop).rev().find(|&at| !is_piece(at)).map_or(limit, |at| at + 1);
        let gap = if pieces.is_empty() { GAP_FIRST } else { GAP };
        if good - stop > gap {
            break;
        }
        if is_body(&text[start..stop]) {
            pieces.push(start..stop);
            good = start;
        }
        at = start;
    }
    let mut body = Vec::new();
    pieces.iter().rev().for_each(|piece| push_piece(&mut body, text, piece));
    (!body.is_empty()).then_some(Block { range: good..end, body })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Random, fill};
    use super::*;

    fn lines(seed: u64) -> Vec<String> {
        let mut random = Random::new(seed);
        let mut lines: Vec<_> =
            (0..12).map(|_| fill("{A-Za-z0-9+/:64}", &mut random).text).collect();
        lines.push("aB3=".into());
        lines
    }

    fn key(seed: u64, before: &str, after: &str) -> String {
        let body: String =
            lines(seed).iter().map(|line| format!("{before}{line}{after}")).collect();
        format!(
            "{before}-----BEGIN RSA PRIVATE KEY-----{after}{body}{before}-----END RSA PRIVATE KEY-----"
        )
    }

    fn first(text: &str) -> Option<Block> {
        let mut words = memchr::memmem::find_iter(text.as_bytes(), "PRIVATE KEY");
        words.find_map(|at| block(text.as_bytes(), at..at + 11))
    }

    #[test]
    fn a_key_is_found_however_it_is_laid_out() {
        let plain = first(&key(1, "", "\n")).expect("found");
        for (before, after) in [
            ("", "\n"),
            ("", "\r\n"),
            ("", "\\n"),
            ("", "\\\\n"),
            ("  ", "\n"),
            ("+", "\n"),
            ("    \"", "\\n\" +\n"),
            ("> ", "\n"),
            ("    12→", "\n"),
        ] {
            let text = format!("see {} done", key(1, before, after));
            let found = first(&text).unwrap_or_else(|| panic!("{before:?} {after:?}"));
            assert!(text[found.range.clone()].ends_with("-----"), "{before:?} {after:?}");
            assert_eq!(found.body, plain.body, "{before:?} {after:?}");
            for line in lines(1) {
                assert!(!text[found.range.end..].contains(&line), "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn a_key_that_is_cut_is_taken_as_far_as_it_goes() {
        let whole = key(2, "", "\n");
        let cut = &whole[..400];
        let found = first(cut).expect("found");
        assert_eq!(found.range, 0..400);
        let end = &whole[200..];
        let found = first(end).expect("found");
        assert_eq!(found.range, 0..end.len());
    }

    #[test]
    fn markers_alone_are_no_keys() {
        for text in [
            "const BEGIN: &str = \"-----BEGIN PRIVATE KEY-----\";",
            "it starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "the private key is kept",
        ] {
            assert_eq!(first(text), None, "{text}");
        }
    }
}

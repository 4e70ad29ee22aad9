//! Text from transcripts made safe to print.
//!
//! Such text is not trusted: it may hold escape sequences that move the cursor or write to the
//! clipboard, and characters that reorder or hide what is read. Escape sequences and invisible
//! characters are removed, other controls become their pictures (`␇`). Emoji joined by a
//! zero-width joiner fall apart, which is the price of never hiding text.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text of many lines: newlines and tabs stay.
pub fn text(raw: &str) -> Cow<'_, str> {
    if raw.chars().all(|c| c == '\n' || c == '\t' || !is_hostile(c)) {
        return Cow::Borrowed(raw);
    }
    let mut safe = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => safe.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\u{2028}' | '\u{2029}' => safe.push('\n'),
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            _ if is_hostile(c) => safe.extend(picture(c)),
            _ => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Text as one line: every run of white space is one space.
pub fn line(raw: &str) -> String {
    let mut line = String::with_capacity(raw.len());
    for word in text(raw).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The columns safe text takes.
pub fn width(safe: &str) -> usize {
    safe.width()
}

/// Safe text of one line cut to `columns`, with an ellipsis where something was cut.
pub fn fit(safe: &str, columns: usize) -> Cow<'_, str> {
    if safe.width() <= columns {
        return Cow::Borrowed(safe);
    }
    let Some(room) = columns.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let mut used = 0;
    let end = safe.char_indices().find_map(|(at, c)| {
        used += c.width().unwrap_or(0);
        (used > room).then_some(at)
    });
    let kept = end.map_or(safe, |end| &safe[..end]);
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// Whether a character may do more than be seen.
pub fn is_hostile(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Bidi marks, zero-width characters, line separators, annotation marks, tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{115f}' | '\u{1160}' | '\u{3164}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// What stands for a control character; nothing for an invisible one.
fn picture(c: char) -> Option<char> {
    match c {
        '\u{7f}' => Some('\u{2421}'),
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        _ if c.is_control() => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

/// Past what follows an escape character.
fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Past the parameters and the last letter of `ESC [`.
fn skip_control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Past a string that BEL or `ESC \` ends. One without an end on its line is text, not a string:
/// otherwise two characters could hide all that follows.
fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    let mut ahead = chars.clone();
    while let Some(c) = ahead.next() {
        match c {
            '\n' => return,
            '\u{1b}' => {
                ahead.next_if_eq(&'\\');
            }
            '\u{7}' | '\u{9c}' => {}
            _ => continue,
        }
        *chars = ahead;
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_controls_and_invisible_characters_go() {
        let cases = [
            ("plain ü 日本 \n\tx", "plain ü 日本 \n\tx"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b", "ab"),
            ("\u{1b}]52;c;never ended\nnext", "52;c;never ended\nnext"),
            ("\u{1b}P1$r\u{9c}x", "x"),
            ("\u{1b}(0lines\u{1b}c", "lines"),
            ("\u{9b}2Jgone", "gone"),
            ("bell\u{7} del\u{7f} c1\u{85}", "bell␇ del␡ c1\u{fffd}"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("\u{202e}evil\u{2066}x\u{200b}y\u{feff}", "evilxy"),
            ("one\u{2028}two", "one\ntwo"),
            ("\u{e0041}\u{e0042}tag", "tag"),
            ("end\u{1b}", "end"),
            ("end\u{1b}[", "end"),
        ];
        for (raw, want) in cases {
            assert_eq!(text(raw), want, "{raw:?}");
            assert!(text(raw).chars().all(|c| c == '\n' || c == '\t' || !is_hostile(c)));
        }
    }

    #[test]
    fn what_is_safe_stays_as_it_is() {
        let safe = text("\u{1b}\u{1b}[[31m x \u{9b}\u{1b}[m y");
        assert_eq!(text(&safe), safe);
    }

    #[test]
    fn one_line_has_single_spaces() {
        assert_eq!(line("  a\n\n b\t\u{1b}[1mc\u{2028}d "), "a b c d");
    }

    #[test]
    fn cutting_counts_columns() {
        let cases = [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("ab cd", 4, "ab…"),
            ("abc", 0, ""),
        ];
        for (safe, columns, want) in cases {
            assert_eq!(fit(safe, columns), want, "{safe} in {columns}");
        }
    }
}

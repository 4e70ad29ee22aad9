//! Prose for a terminal: lines broken at words, Markdown marked up without being changed.
//!
//! Styles stand around the text as it was written, `**` and all: without colours the output is
//! the text itself. Code and tables are never broken.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

use super::safe;
use super::style::{self, paint};

/// The lines of a text from anywhere, made safe and styled; broken at `columns` where given.
pub fn lines(raw: &str, columns: Option<usize>) -> Vec<String> {
    let mut fence = Fence::default();
    let mut lines = Vec::new();
    for line in safe::text(raw).trim_end().lines() {
        let is_code = fence.holds(line);
        match columns.filter(|_| !is_code && !line.starts_with('|')) {
            Some(columns) => lines.extend(wrap(line, columns).iter().map(|part| styled(part))),
            None if is_code => lines.push(code(line)),
            None => lines.push(styled(line)),
        }
    }
    lines
}

/// Which lines are code between fences.
#[derive(Default)]
struct Fence {
    open: Option<String>,
}

impl Fence {
    /// Whether a line is code, the fences included.
    fn holds(&mut self, line: &str) -> bool {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| line.chars().take_while(|&c| c == mark).count());
        match &self.open {
            None if run >= 3 => self.open = Some(line[..run].to_owned()),
            None => return false,
            Some(open) if run >= open.len() && line.starts_with(open) && line.len() == run => {
                self.open = None;
            }
            Some(_) => {}
        }
        true
    }
}

fn code(line: &str) -> String {
    let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    if is_fence { paint(style::DIM, line) } else { paint(style::CODE, line) }
}

/// A line with its headings, strong words and code in style.
fn styled(line: &str) -> String {
    if line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') {
        return paint(style::HEAD, line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, inside, after)) = span(rest) {
        out.push_str(before);
        let style = if inside.starts_with('`') { style::CODE } else { style::HEAD };
        out.push_str(&paint(style, inside));
        rest = after;
    }
    out + rest
}

/// The first marked span of a line: what is before it, the span with its marks, the rest.
fn span(line: &str) -> Option<(&str, &str, &str)> {
    let open = line.find(['`', '*'])?;
    let mark = if line[open..].starts_with('`') { "`" } else { "**" };
    let from = open + mark.len();
    let inside = line.get(from..).filter(|_| line[open..].starts_with(mark));
    let end = inside.and_then(|inside| inside.find(mark)).filter(|&length| length > 0);
    match end {
        Some(length) => {
            let end = from + length + mark.len();
            Some((&line[..open], &line[open..end], &line[end..]))
        }
        None => {
            let (before, inside, after) = span(&line[open + 1..])?;
            let before = &line[..open + 1 + before.len()];
            Some((before, inside, after))
        }
    }
}

/// A safe line broken at words; what follows stands below the first word.
pub fn wrap(line: &str, columns: usize) -> Vec<Cow<'_, str>> {
    let columns = columns.max(20);
    if safe::width(line) <= columns {
        return vec![Cow::Borrowed(line)];
    }
    let hang = hang(line).min(columns / 2);
    let mut parts = Vec::new();
    let (mut part, mut used) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let width = safe::width(word.trim_end());
        if used + width > columns && used > hang {
            parts.push(Cow::Owned(part.trim_end().to_owned()));
            (part, used) = (" ".repeat(hang), hang);
        }
        for c in word.chars() {
            let width = c.width().unwrap_or(0);
            if used + width > columns && c != ' ' {
                parts.push(Cow::Owned(std::mem::take(&mut part)));
                (part, used) = (" ".repeat(hang), hang);
            }
            part.push(c);
            used += width;
        }
    }
    parts.push(Cow::Owned(part.trim_end().to_owned()));
    parts
}

/// How far a line's text stands in: white space, and the mark of a list or a quotation.
fn hang(line: &str) -> usize {
    let space = line.len() - line.trim_start_matches(' ').len();
    let rest = &line[space..];
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = match &rest[digits..] {
        rest if digits > 0 && rest.starts_with(". ") => digits + 2,
        _ if ["- ", "* ", "> "].iter().any(|mark| rest.starts_with(mark)) => 2,
        _ => 0,
    };
    space + mark
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstream::adapter::strip_str;

    #[test]
    fn lines_break_at_words_and_hang() {
        let text = "- one two three four five six seven\nabcdefghijklmnopqrstuvwxyz\n| a | b | c | d | e | f |";
        let lines = lines(text, Some(20));
        insta::assert_snapshot!(strip_str(&lines.join("\n")), @"
        - one two three four
          five six seven
        abcdefghijklmnopqrst
        uvwxyz
        | a | b | c | d | e | f |
        ");
    }

    #[test]
    fn without_colours_it_is_the_text() {
        let text = "# Head\n\n**bold** and `code` * x ** ` y\n\n~~~\n**not**\n~~~\n```rust\nfn x() {}\n```\n日本 **語**";
        let styled = lines(text, None).join("\n");
        assert_eq!(strip_str(&styled).to_string(), text);
        assert!(styled.contains("\u{1b}[1m**bold**") && styled.contains("\u{1b}[1m# Head"));
        assert!(!styled.contains("\u{1b}[1m**not**"));
    }
}

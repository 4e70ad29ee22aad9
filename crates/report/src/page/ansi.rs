//! What was meant for a terminal: colours become spans, what a line overwrote is left out, and
//! everything else that steers a terminal is dropped.

use crate::html::Html;

/// Writes the output of a command.
pub fn text(html: &mut Html, text: &str) {
    if !text.contains(['\u{1b}', '\r']) {
        return html.text(text);
    }
    let mut style = Style::default();
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            html.text("\n");
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        // A progress bar writes over itself: its last state is what was seen.
        write_line(html, line.rsplit('\r').next().unwrap_or_default(), &mut style);
    }
}

/// The colours of ANSI and what else a theme can show.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Style {
    color: Option<usize>,
    is_bold: bool,
    is_dim: bool,
}

const COLORS: [&str; 8] = ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"];
const BOLD: [&str; 8] = ["a0 ab", "a1 ab", "a2 ab", "a3 ab", "a4 ab", "a5 ab", "a6 ab", "a7 ab"];

impl Style {
    fn class(self) -> &'static str {
        match (self.color, self.is_bold, self.is_dim) {
            (Some(color), true, _) => BOLD[color],
            (Some(color), false, _) => COLORS[color],
            (None, true, _) => "ab",
            (None, false, true) => "ad",
            (None, false, false) => "",
        }
    }

    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split([';', ':']).map(|code| code.parse().unwrap_or(0u32));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.is_bold = true,
                2 => self.is_dim = true,
                22 => (self.is_bold, self.is_dim) = (false, false),
                30..=37 | 90..=97 => self.color = Some((code % 10) as usize),
                39 => self.color = None,
                // A colour of more than sixteen: its numbers are no codes.
                38 | 48 => match codes.next() {
                    Some(5) => drop(codes.next()),
                    Some(2) => drop(codes.by_ref().take(3).last()),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

fn write_line(html: &mut Html, line: &str, style: &mut Style) {
    let mut parts = line.split('\u{1b}');
    span(html, parts.next().unwrap_or_default(), *style);
    for part in parts {
        let (codes, rest) = sequence(part);
        if let Some(codes) = codes {
            style.apply(codes);
        }
        span(html, rest, *style);
    }
}

fn span(html: &mut Html, text: &str, style: Style) {
    match style.class() {
        _ if text.is_empty() => {}
        "" => html.text(text),
        class => html.words("span", class, text),
    }
}

/// What follows an escape: the codes of a colour, and the text behind the sequence.
fn sequence(part: &str) -> (Option<&str>, &str) {
    if let Some(rest) = part.strip_prefix('[') {
        let Some(end) = rest.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c)) else {
            return (None, "");
        };
        let codes = rest[end..].starts_with('m').then(|| &rest[..end]);
        return (codes, &rest[end + 1..]);
    }
    if let Some(rest) = part.strip_prefix(']') {
        // A title or a link, up to a bell; one that ends otherwise ends at the next escape.
        return (None, rest.split_once('\u{7}').map_or("", |(_, rest)| rest));
    }
    let mut rest = part.chars();
    rest.next();
    (None, rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(input: &str) -> String {
        let mut html = Html::new();
        text(&mut html, input);
        html.into_string()
    }

    #[test]
    fn colours_are_spans_and_the_rest_is_gone() {
        assert_eq!(html("a\u{1b}[31mb\u{1b}[0mc"), "a<span class=\"a1\">b</span>c");
        assert_eq!(html("\u{1b}[1;32mok\u{1b}[m"), "<span class=\"a2 ab\">ok</span>");
        assert_eq!(html("\u{1b}[38;5;196mx\u{1b}[2J\u{1b}]0;title\u{7}y"), "xy");
        assert_eq!(html("10%\r50%\r100%\nnext"), "100%\nnext");
        assert_eq!(html("\u{1b}[31m<b>"), "<span class=\"a1\">&lt;b&gt;</span>");
        assert_eq!(html("\u{1b}[31"), "");
    }
}

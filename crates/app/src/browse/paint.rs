//! What `recount show` prints, as lines of a screen.
//!
//! The text is safe already: the only escapes in it are the colours that we put there. They become
//! styles here, and lines that are too wide are broken.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

/// Columns from one tab stop to the next.
const TAB: usize = 4;

/// The lines of a painted text, none wider than `columns`.
pub fn lines(painted: &str, columns: usize) -> Vec<Line<'static>> {
    let mut lines = Lines { done: Vec::new(), spans: Vec::new(), used: 0, columns };
    let mut style = Style::new();
    for (at, line) in painted.lines().enumerate() {
        if at > 0 {
            lines.end();
        }
        let mut rest = line;
        while let Some(start) = rest.find('\u{1b}') {
            lines.text(&rest[..start], style);
            let end = rest[start..].find('m').map_or(rest.len(), |end| start + end);
            style = code(style, rest[start..end].trim_start_matches("\u{1b}["));
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        lines.text(rest, style);
    }
    if !painted.is_empty() {
        lines.end();
    }
    lines.done
}

/// The text of lines, without colours.
pub fn plain(lines: &[Line<'_>]) -> String {
    let line = |line: &Line<'_>| line.spans.iter().map(|s| &*s.content).collect::<String>();
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

struct Lines {
    done: Vec<Line<'static>>,
    spans: Vec<Span<'static>>,
    used: usize,
    columns: usize,
}

impl Lines {
    fn end(&mut self) {
        self.done.push(Line::from(std::mem::take(&mut self.spans)));
        self.used = 0;
    }

    fn text(&mut self, text: &str, style: Style) {
        let mut part = String::new();
        for c in text.chars() {
            let width = match c {
                '\t' => TAB - self.used % TAB,
                _ => c.width().unwrap_or(0),
            };
            if self.used + width > self.columns && self.used > 0 {
                self.spans.push(Span::styled(std::mem::take(&mut part), style));
                self.end();
            }
            match c {
                '\t' => part.extend(std::iter::repeat_n(' ', width)),
                _ => part.push(c),
            }
            self.used += width;
        }
        if !part.is_empty() {
            self.spans.push(Span::styled(part, style));
        }
    }
}

/// A style after the numbers of an escape.
fn code(style: Style, numbers: &str) -> Style {
    numbers.split(';').fold(style, |style, number| match number.parse::<u8>() {
        Ok(1) => style.add_modifier(Modifier::BOLD),
        Ok(2) => style.add_modifier(Modifier::DIM),
        Ok(hue @ 30..=37) => style.fg(color(hue - 30)),
        Ok(hue @ 90..=97) => style.fg(color(hue - 82)),
        _ => Style::new(),
    })
}

/// The sixteen colours of the terminal's own theme.
fn color(number: u8) -> Color {
    const COLORS: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    COLORS.get(usize::from(number)).copied().unwrap_or(Color::Reset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::style::{self, paint};

    #[test]
    fn colours_become_styles() {
        let text = format!("a {} b {}", paint(style::BAD, "red"), paint(style::PERSON, "who"));
        let lines = lines(&text, 80);
        let spans: Vec<_> = lines[0].spans.iter().map(|s| (&*s.content, s.style)).collect();
        assert_eq!(plain(&lines), "a red b who");
        assert_eq!(spans[1], ("red", Style::new().fg(Color::Red)));
        let person = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
        assert_eq!(spans[3], ("who", person));
        assert_eq!(spans[2].1, Style::new());
    }

    #[test]
    fn wide_lines_are_broken_and_empty_ones_stay() {
        assert_eq!(plain(&lines("abcdef\n\nx", 4)), "abcd\nef\n\nx");
        assert_eq!(plain(&lines("日本語", 4)), "日本\n語");
        assert_eq!(plain(&lines("a\tb", 9)), "a   b");
        assert!(lines("", 9).is_empty());
    }
}

//! The state as cells of a screen.
//!
//! Everything drawn from transcripts was made safe before; a cell takes no control character
//! anyway. Only the 16 colours of the terminal's own theme are used.

mod help;
mod list;
mod view;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::state::{Question, State};
use crate::commands::short;
use crate::terminal::safe;

/// From so many columns on, the look into a session stands beside the list.
const BESIDE: u16 = 100;
/// From so many rows on, it stands below.
const BELOW: u16 = 18;

pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(super) const HUE: Style = Style::new().fg(Color::Cyan);
pub(super) const BAD: Style = Style::new().fg(Color::Red);
pub(super) const GOOD: Style = Style::new().fg(Color::Green);
pub(super) const MARK: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);

/// Where things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Areas {
    /// The list.
    pub list: Rect,
    /// The look into the chosen session.
    pub glance: Rect,
    /// The text of the open session.
    pub text: Rect,
}

/// Where things are on a screen of this state's size.
pub fn areas(state: &State) -> Areas {
    let (columns, rows) = state.size();
    let text = Rect::new(0, 1, columns, rows.saturating_sub(3));
    let body = Rect::new(0, 2, columns, rows.saturating_sub(3));
    let none = Rect::new(0, 0, 0, 0);
    if columns >= BESIDE {
        let left = columns / 2;
        let glance = Rect::new(left + 1, 2, columns - left - 1, body.height);
        return Areas { list: Rect { width: left - 1, ..body }, glance, text };
    }
    if body.height >= BELOW {
        let above = body.height / 2;
        let glance = Rect::new(0, body.y + above + 1, columns, body.height - above - 1);
        return Areas { list: Rect { height: above, ..body }, glance, text };
    }
    Areas { list: body, glance: none, text }
}

/// The cells between the ends of what the mouse has drawn, row by row, within its part of the
/// screen.
fn between(state: &State) -> Vec<Rect> {
    let Some((from, to)) = state.drag.filter(|(from, to)| from != to) else { return Vec::new() };
    let (first, last) = if (from.y, from.x) <= (to.y, to.x) { (from, to) } else { (to, from) };
    let (columns, rows) = state.size();
    let areas = areas(state);
    let parts = match (&state.view, &state.sheet) {
        (None, None) => vec![areas.glance, areas.list],
        _ => Vec::new(),
    };
    let whole = Rect::new(0, 0, columns, rows);
    let part = parts.into_iter().find(|part| part.contains(from)).unwrap_or(whole);
    let row = |y: u16| {
        let left = if y == first.y { first.x.max(part.x) } else { part.x };
        let right = if y == last.y { (last.x + 1).min(part.right()) } else { part.right() };
        Rect::new(left, y, right.saturating_sub(left), 1)
    };
    (first.y.max(part.y)..=last.y.min(part.bottom().saturating_sub(1))).map(row).collect()
}

/// The text that the mouse has been drawn over.
pub fn selected(state: &State) -> String {
    let (columns, rows) = state.size();
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    draw(state, &mut buffer);
    let lines: Vec<String> = between(state).into_iter().map(|row| text_of(&buffer, row)).collect();
    lines.join("\n")
}

/// The text of a row; a wide character stands in its first cell.
fn text_of(buffer: &Buffer, row: Rect) -> String {
    let mut line = String::new();
    let mut x = row.x;
    while let Some(cell) = buffer.cell((x, row.y)).filter(|_| x < row.right()) {
        line.push_str(cell.symbol());
        x += (safe::width(cell.symbol()) as u16).max(1);
    }
    line.trim_end().to_owned()
}

/// Draws everything.
pub fn draw(state: &State, buffer: &mut Buffer) {
    let areas = areas(state);
    match (&state.sheet, &state.view) {
        (Some(sheet), _) => {
            put(buffer, 0, 0, buffer.area.width, "What was used", BOLD);
            let (columns, rows) = state.size();
            sheet.draw(Rect::new(0, 1, columns, rows.saturating_sub(2)), buffer);
        }
        (None, Some(view)) => view::draw(view, areas.text, buffer),
        (None, None) => list::draw(state, areas, buffer),
    }
    bar(state, buffer);
    if state.has_help {
        help::draw(state.view.is_some(), buffer);
    }
    between(state)
        .into_iter()
        .for_each(|row| buffer.set_style(row.intersection(buffer.area), CHOSEN));
    if state.options.is_plain {
        for cell in &mut buffer.content {
            (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
        }
    }
}

/// Writes safe text into a row; what does not fit is cut. Gives back where it ends.
pub(super) fn put(
    buffer: &mut Buffer,
    x: u16,
    y: u16,
    width: u16,
    text: &str,
    style: Style,
) -> u16 {
    if y >= buffer.area.height || x >= buffer.area.width || width == 0 {
        return x;
    }
    let width = width.min(buffer.area.width - x);
    let fitting = safe::fit(text, usize::from(width));
    buffer.set_stringn(x, y, &fitting, usize::from(width), style).0
}

/// Writes safe text at the right end of a row. Gives back where it begins.
pub(super) fn put_right(buffer: &mut Buffer, end: u16, y: u16, text: &str, style: Style) -> u16 {
    let x = end.saturating_sub(safe::width(text) as u16);
    put(buffer, x, y, end - x, text, style);
    x
}

/// The last row: a question, something to tell, or the keys that are used most.
fn bar(state: &State, buffer: &mut Buffer) {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let Some(y) = rows.checked_sub(1) else { return };
    if let Some(question) = &state.question {
        put(buffer, 0, y, columns, &asked(question), BOLD);
        return;
    }
    if let Some(typed) = &state.finding {
        let end = put(buffer, 0, y, columns, &format!("/{}", safe::line(typed)), BOLD);
        put(buffer, end, y, 1, " ", CHOSEN);
        return;
    }
    if let Some(note) = &state.note {
        put(buffer, 0, y, columns, &safe::line(note), HUE);
        return;
    }
    let keys: &[(&str, &str)] = match (&state.view, state.is_search()) {
        _ if state.sheet.is_some() => &[("j/k", "scroll"), ("Space", "page"), ("Esc", "sessions")],
        (Some(_), _) => &[
            ("j/k", "record"),
            ("[ ]", "prompt"),
            ("o", "open"),
            ("1-5", "detail"),
            ("/", "find"),
            ("?", "keys"),
        ],
        (None, true) => &[("Enter", "open"), ("Tab", "project"), ("Esc", "sessions")],
        (None, false) => &[
            ("Enter", if state.options.is_pick { "pick" } else { "open" }),
            ("Tab", "project"),
            ("/", "search"),
            ("^S", "sort"),
            ("^R", "resume"),
            ("?", "keys"),
        ],
    };
    let mut x = 0;
    for (key, what) in keys {
        x = put(buffer, x, y, columns, key, BOLD);
        x = put(buffer, x, y, columns, &format!(" {what}   "), DIM);
    }
}

fn asked(question: &Question) -> String {
    match question {
        Question::Resume(id, folder) => {
            let folder = folder.as_deref().map(|folder| format!(" in {}", safe::line(folder)));
            let folder = folder.unwrap_or_default();
            let id = safe::line(id);
            format!("Run `claude --resume {id}`{folder}? y runs it, p prints it, Esc does not")
        }
        Question::Export(id) => {
            format!("Write a page without secrets to {}? y writes it, Esc does not", page_name(id))
        }
    }
}

/// The file that an export is written to.
pub fn page_name(id: &str) -> String {
    let letters: String = short(id).chars().filter(char::is_ascii_alphanumeric).collect();
    format!("session-{letters}.html")
}

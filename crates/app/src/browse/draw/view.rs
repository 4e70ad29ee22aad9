//! An open session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use transcript::record::Detail;

use super::{BAD, BOLD, CHOSEN, DIM, HUE, put, put_right};
use crate::browse::paint;
use crate::browse::view::{Doc, View};
use crate::terminal::format::count;
use crate::terminal::safe;

pub fn draw(view: &View, area: Rect, buffer: &mut Buffer) {
    head(view, buffer);
    let Some(doc) = &view.doc else {
        let (words, style) = match &view.problem {
            Some(problem) => (safe::line(problem), BAD),
            None => ("reading\u{2026}".into(), DIM),
        };
        put(buffer, 2, area.y + 1, area.width.saturating_sub(2), &words, style);
        return;
    };
    for (index, y) in view.layout() {
        record(view, index, y, area, buffer);
    }
    foot(view, doc, area.bottom(), buffer);
}

fn head(view: &View, buffer: &mut Buffer) {
    let columns = buffer.area.width;
    let doc = view.doc.as_ref();
    let title = doc.map_or(&view.title, |doc| &doc.title);
    let mut words = vec![level(view.detail).to_owned()];
    if view.branch > 0 {
        let all = doc.map_or(0, |doc| doc.branches);
        words.insert(0, format!("left branch {} of {all}", view.branch));
    }
    if view.agent.is_some() {
        words.insert(0, "subagent".into());
    }
    if view.is_following {
        words.insert(0, "following".into());
    }
    if doc.is_some_and(|doc| doc.is_end) {
        words.insert(0, "only the end, reading\u{2026}".into());
    }
    let x = put_right(buffer, columns, 0, &words.join(" \u{b7} "), HUE);
    put(buffer, 0, 0, x.saturating_sub(1), title, BOLD);
}

/// The name of a level, as on the page.
fn level(detail: Detail) -> &'static str {
    match detail {
        Detail::Prompts => "1 prompts",
        Detail::Conversation => "2 conversation",
        Detail::Work => "3 work",
        Detail::Everything => "4 everything",
        Detail::Raw => "5 raw",
    }
}

fn record(view: &View, index: usize, y: i32, area: Rect, buffer: &mut Buffer) {
    let waiting = [Line::styled("\u{2026}", DIM)];
    let lines = view.lines(index).unwrap_or(&waiting);
    for (at, line) in lines.iter().enumerate() {
        let row = y + at as i32;
        if row < 0 || row >= i32::from(area.height) {
            continue;
        }
        let y = area.y + row as u16;
        if index == view.selected {
            put(buffer, area.x, y, 1, "\u{2502}", Style::new().fg(Color::Yellow));
        }
        let width = area.width.saturating_sub(2);
        buffer.set_line(area.x + 2, y, line, width);
        marks(&view.find.text, line, Rect::new(area.x + 2, y, width, 1), buffer);
    }
}

/// Marks what is looked for in a line.
pub(super) fn marks(wanted: &str, line: &Line<'_>, area: Rect, buffer: &mut Buffer) {
    if wanted.is_empty() {
        return;
    }
    let text = paint::plain(std::slice::from_ref(line));
    let small = text.to_lowercase();
    // Where small letters have other lengths, places in the one are none in the other.
    if small.len() != text.len() {
        return;
    }
    for (at, found) in small.match_indices(wanted) {
        let (Some(before), width) = (text.get(..at), safe::width(found) as u16) else { continue };
        let x = area.x + (safe::width(before) as u16).min(area.width);
        let width = width.min(area.right().saturating_sub(x));
        buffer.set_style(Rect { x, width, ..area }, CHOSEN);
    }
}

/// What is hidden, and how far one is.
fn foot(view: &View, doc: &Doc, y: u16, buffer: &mut Buffer) {
    let columns = buffer.area.width;
    if y >= buffer.area.height {
        return;
    }
    let mut words = Vec::new();
    if view.news > 0 {
        words.push(format!("{} new below", count(view.news as u64)));
    }
    if !view.find.text.is_empty() && view.find.is_done {
        let (at, all) = view.matches();
        words.push(format!("{at} of {all} matches"));
    }
    if let Some(turn) = view.item().and_then(|item| item.turn) {
        words.push(format!("turn {} of {}", count(turn as u64 + 1), count(doc.turns as u64)));
    }
    if !doc.items.is_empty() {
        words.push(format!("{} %", 100 * (view.selected + 1) / doc.items.len()));
    }
    let x = put_right(buffer, columns, y, &words.join(" \u{b7} "), DIM);
    put(buffer, 0, y, x.saturating_sub(1), &doc.hidden, DIM);
}

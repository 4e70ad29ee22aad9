//! The list of sessions, or of what was found, and the look into the chosen one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use report::list::Life;

use super::{Areas, BAD, BOLD, CHOSEN, DIM, GOOD, HUE, MARK, put, put_right};
use crate::browse::list::{Entry, Hit, List, Mode, Topic};
use crate::browse::row::Row;
use crate::browse::state::{Spot, State};
use crate::terminal::format::{count, counted};
use crate::terminal::safe;

/// Columns of a project's name.
const PROJECT: usize = 18;

pub fn draw(state: &State, areas: Areas, buffer: &mut Buffer) {
    head(state, buffer);
    for (row, line) in state.list.lines.iter().skip(state.list.top).enumerate() {
        if row >= usize::from(areas.list.height) {
            break;
        }
        let y = areas.list.y + row as u16;
        let is_chosen = state.list.top + row == state.list.selected;
        entry(&state.list, line, is_chosen, Rect { y, height: 1, ..areas.list }, buffer);
    }
    rule(areas, buffer);
    glance(state, areas.glance, buffer);
}

fn head(state: &State, buffer: &mut Buffer) {
    let list = &state.list;
    let columns = buffer.area.width;
    let x = put(buffer, 0, 0, columns, "recount", BOLD);
    put(buffer, x + 2, 0, columns, &about(list), DIM);
    let (mark, words) = match list.mode {
        Mode::Filter => ("> ", &list.typed),
        Mode::Search => ("/ ", &list.query),
    };
    let x = put(buffer, 0, 1, columns, mark, HUE);
    let x = put(buffer, x, 1, columns, &safe::text(words), Style::new());
    put(buffer, x, 1, 1, " ", CHOSEN);
    let topic = match (&list.mode, &list.topic) {
        (Mode::Search, Topic::Errors) => Some(format!("errors, the last one first {}", list.told)),
        (Mode::Search, Topic::File(path)) => {
            Some(format!("changes of {} {}", safe::line(path), list.told))
        }
        _ => None,
    };
    let told: &str = match (list.mode, words.is_empty()) {
        _ if topic.is_some() => topic.as_deref().unwrap_or_default(),
        (Mode::Search, true) => "words, \"phrases\", -without, tool:Bash, file:main.rs, after:7d",
        (Mode::Search, false) => &list.told,
        (Mode::Filter, true) => "type to filter",
        (Mode::Filter, false) => "",
    };
    put(buffer, x + 2, 1, columns, told, DIM);
}

fn about(list: &List) -> String {
    let number = match list.mode {
        Mode::Search => counted(list.shown(), "hit"),
        Mode::Filter if list.shown() == list.rows.len() => counted(list.rows.len(), "session"),
        Mode::Filter => {
            format!("{} of {}", count(list.shown() as u64), counted(list.rows.len(), "session"))
        }
    };
    let scope = if list.is_here { "this project" } else { "everywhere" };
    let mut words = vec![number, scope.into()];
    if list.mode == Mode::Filter {
        words.push(format!("by {}", list.order()));
    }
    if !list.is_whole {
        words.push("reading\u{2026}".into());
    }
    words.join(" \u{b7} ")
}

fn entry(list: &List, entry: &Entry, is_chosen: bool, area: Rect, buffer: &mut Buffer) {
    match entry {
        Entry::Head(text) => {
            put(buffer, area.x, area.y, area.width, text, BOLD);
        }
        Entry::Row(at) => session(&list.rows[*at], area, buffer),
        Entry::Hit(at) => hit(&list.hits[*at], area, buffer),
    }
    if is_chosen {
        buffer.set_style(area, CHOSEN);
    }
}

fn session(row: &Row, area: Rect, buffer: &mut Buffer) {
    let (mark, style) = match row.life {
        Some(Life::Live) => ("*", GOOD),
        Some(Life::Interrupted) => ("!", DIM),
        Some(Life::Ghost) => ("-", DIM),
        Some(Life::Ended) | None => (" ", DIM),
    };
    put(buffer, area.x, area.y, 1, mark, style);
    let mut end = area.right();
    if area.width >= 44 {
        end = put_right(buffer, end, area.y, &format!("{:>16}", row.when), DIM);
    }
    if area.width >= 60 {
        let folder = row.folder();
        let folder = safe::fit(&folder, PROJECT);
        let space = PROJECT.saturating_sub(safe::width(&folder));
        let padded = format!("{folder}{}", " ".repeat(space));
        end = put_right(buffer, end.saturating_sub(1), area.y, &padded, HUE);
    }
    if row.errors > 0 && area.width >= 50 {
        let errors = format!("{}\u{2717}", count(row.errors as u64));
        end = put_right(buffer, end.saturating_sub(1), area.y, &errors, BAD);
    }
    let room = end.saturating_sub(area.x + 3);
    put(buffer, area.x + 2, area.y, room, &row.title, Style::new());
}

fn hit(hit: &Hit, area: Rect, buffer: &mut Buffer) {
    let end = put_right(buffer, area.right(), area.y, &hit.when, DIM).saturating_sub(1);
    let who = format!("  {}  ", hit.who);
    let mut x = put(buffer, area.x, area.y, end.saturating_sub(area.x), &who, DIM);
    let mut at = 0;
    let piece = |x: u16, text: &str, style: Style, buffer: &mut Buffer| {
        put(buffer, x, area.y, end.saturating_sub(x), text, style)
    };
    for mark in &hit.marks {
        x = piece(x, &hit.snippet[at..mark.start], Style::new(), buffer);
        x = piece(x, &hit.snippet[mark.clone()], MARK, buffer);
        at = mark.end;
    }
    piece(x, &hit.snippet[at..], Style::new(), buffer);
}

/// The line between the list and the look.
fn rule(areas: Areas, buffer: &mut Buffer) {
    let glance = areas.glance;
    if glance.width == 0 {
        return;
    }
    if glance.x > 0 {
        for y in glance.y..glance.bottom() {
            put(buffer, glance.x - 2, y, 1, "\u{2502}", DIM);
        }
    } else {
        let line = "\u{2500}".repeat(usize::from(glance.width));
        put(buffer, 0, glance.y - 1, glance.width, &line, DIM);
    }
}

fn glance(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some((of, lines)) = &state.glance else { return };
    let id = state.list.hit().map(|hit| &hit.id).or(state.list.row().map(|row| &row.id));
    if area.width == 0 || id != Some(&of.id) {
        return;
    }
    let typed = match (&of.at, &state.list.topic) {
        (Spot::Words(_), _) => state.list.typed.to_lowercase(),
        // Filters and signs of the query are no words of the text.
        (Spot::Entry(_), Topic::Words(query)) => {
            let words = query.split_whitespace().filter(|word| !word.contains(':'));
            let words = words.filter(|word| !word.starts_with('-'));
            let bare =
                |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            words.map(bare).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    };
    for (row, line) in lines.iter().take(usize::from(area.height)).enumerate() {
        let y = area.y + row as u16;
        buffer.set_line(area.x, y, line, area.width);
        let place = Rect { y, height: 1, ..area };
        typed.split_whitespace().for_each(|word| super::view::marks(word, line, place, buffer));
    }
}

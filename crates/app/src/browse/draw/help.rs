//! The keys, over everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{BOLD, DIM, put};

const LIST: &[(&str, &str)] = &[
    ("letters", "filter by title, project, branch and prompts"),
    ("Enter", "open the session"),
    ("Tab", "this project, or everywhere"),
    ("/", "search all contents; Esc goes back"),
    ("Up Down ^N ^P", "choose; also PgUp PgDn Home End and the mouse"),
    ("^S", "sort: last active, turns, errors, size, duration, title"),
    ("^G", "group by project"),
    ("^E", "errors, the last one first"),
    ("^T", "tokens and cost"),
    ("^R", "resume with Claude Code; asks first"),
    ("^Y", "copy the id"),
    ("^U", "forget what was typed"),
    ("Esc ^C", "leave"),
];

const VIEW: &[(&str, &str)] = &[
    ("j k", "next, previous record"),
    ("[ ] K J", "previous, next prompt"),
    ("e E", "next, previous error"),
    ("o Enter", "unfold, fold; O all of the turn"),
    ("1 2 3 4 5", "prompts, conversation, work, everything, raw"),
    ("b B", "next, previous branch that was left"),
    ("/ n N", "find; next, previous match"),
    ("Space ^D ^U", "scroll; also PgUp PgDn ^E ^Y and the wheel"),
    ("gg G", "the beginning, the end"),
    (".", "follow what is written"),
    ("y Y", "copy the record, its place; drag copies what is drawn over"),
    ("w", "where it is in the file"),
    ("f", "the history of the file it is about"),
    ("x p", "export as a page, open in the browser"),
    ("r ^R", "copy the command to resume, resume"),
    ("q Esc", "back to the list"),
];

pub fn draw(is_view: bool, buffer: &mut Buffer) {
    let keys = if is_view { VIEW } else { LIST };
    let area = buffer.area;
    let width = area.width.min(72);
    let height = area.height.min(keys.len() as u16 + 4);
    let x = (area.width - width) / 2;
    let y = (area.height - height) / 2;
    for row in y..y + height {
        let blank = " ".repeat(usize::from(width));
        buffer.set_stringn(x, row, &blank, usize::from(width), Style::reset());
    }
    buffer.set_style(Rect::new(x, y, width, height), Style::reset());
    put(buffer, x + 2, y + 1, width.saturating_sub(4), "Keys", BOLD);
    for (row, (key, what)) in keys.iter().enumerate() {
        let row = y + 3 + row as u16;
        if row >= y + height {
            break;
        }
        put(buffer, x + 2, row, 15, key, BOLD);
        put(buffer, x + 18, row, width.saturating_sub(20), what, DIM);
    }
}

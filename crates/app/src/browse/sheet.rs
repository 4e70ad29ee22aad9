//! A page of text over the list: what was used.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// A page that can be scrolled.
#[derive(Debug, Default)]
pub struct Sheet {
    /// Its lines, once they are there.
    pub lines: Option<Vec<Line<'static>>>,
    top: usize,
}

impl Sheet {
    /// What a key does; whether the page is left.
    pub fn key(&mut self, code: KeyCode, rows: usize) -> bool {
        let page = rows.saturating_sub(2).max(1);
        let last = self.lines.as_ref().map_or(0, Vec::len).saturating_sub(rows);
        self.top = match code {
            KeyCode::Char('j') | KeyCode::Down => self.top + 1,
            KeyCode::Char('k') | KeyCode::Up => self.top.saturating_sub(1),
            KeyCode::Char(' ') | KeyCode::PageDown => self.top + page,
            KeyCode::PageUp => self.top.saturating_sub(page),
            KeyCode::Char('g') | KeyCode::Home => 0,
            KeyCode::Char('G') | KeyCode::End => last,
            KeyCode::Char('q') | KeyCode::Esc => return true,
            _ => self.top,
        };
        self.top = self.top.min(last);
        false
    }

    /// Draws what is seen of it.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let waiting = [Line::raw("reading\u{2026}")];
        let lines = self.lines.as_deref().unwrap_or(&waiting);
        for (row, line) in lines.iter().skip(self.top).take(usize::from(area.height)).enumerate() {
            buffer.set_line(area.x, area.y + row as u16, line, area.width);
        }
    }
}

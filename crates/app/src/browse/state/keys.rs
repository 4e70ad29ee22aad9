//! Keys and the mouse: what each does where.
//!
//! The letters in a session are those of the page. In the list letters are typed, so what is done
//! there has a control key.

use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Position;
use transcript::record::Detail;
use transcript::session::Role;

use super::{Effect, Mode, Parting, Question, Sheet, State, Topic};
use crate::browse::draw;
use crate::browse::view::{Goal, Item};
use crate::commands::short;
use crate::terminal::format::count;

/// Lines that the wheel moves.
const WHEEL: i32 = 3;

impl State {
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return vec![Effect::Leave(Parting::Quit)];
        }
        if self.has_help {
            self.has_help = false;
            return Vec::new();
        }
        if let Some(question) = self.question.take() {
            return answer(question, key.code).into_iter().collect();
        }
        self.note = None;
        if let Some(sheet) = &mut self.sheet {
            let rows = usize::from(self.size.1.saturating_sub(2));
            if sheet.key(key.code, rows) {
                self.sheet = None;
            }
            return Vec::new();
        }
        let effect = match (&self.view, &self.finding) {
            (Some(_), Some(_)) => self.find_key(key.code),
            (Some(_), None) if is_control => self.view_control(key.code),
            (Some(_), None) => self.view_key(key.code),
            (None, _) => self.list_key(key.code, is_control),
        };
        self.last_key = match key.code {
            KeyCode::Char(letter) => Some(letter),
            _ => None,
        };
        effect.into_iter().collect()
    }

    pub(super) fn paste(&mut self, text: &str) -> Option<Effect> {
        let line: String = text.chars().filter(|c| !c.is_control()).collect();
        match (&self.view, &mut self.finding) {
            (Some(_), Some(typed)) => typed.push_str(&line),
            (Some(_), None) => {}
            (None, _) => return self.type_text(&line),
        }
        None
    }

    fn list_key(&mut self, code: KeyCode, is_control: bool) -> Option<Effect> {
        let page = isize::from(draw::areas(self).list.height as i16).max(2) - 1;
        match code {
            KeyCode::Down => self.list.step(1),
            KeyCode::Up => self.list.step(-1),
            KeyCode::Char('n' | 'j') if is_control => self.list.step(1),
            KeyCode::Char('p' | 'k') if is_control => self.list.step(-1),
            KeyCode::PageDown => self.list.step(page),
            KeyCode::PageUp => self.list.step(-page),
            KeyCode::Home => self.list.step(isize::MIN / 2),
            KeyCode::End => self.list.step(isize::MAX / 2),
            KeyCode::Enter => return self.open(),
            KeyCode::Tab => {
                self.list.rescope();
                self.list.restart();
                return self.search_again();
            }
            KeyCode::Esc => return self.escape(),
            KeyCode::Backspace => return self.rub(),
            KeyCode::Char(letter) if is_control => return self.list_control(letter),
            KeyCode::Char('/') if self.list.mode == Mode::Filter => {
                self.list.mode = Mode::Search;
                self.list.topic = Topic::Words(self.list.query.clone());
                self.list.found_all(Vec::new(), String::new());
                return self.search_again();
            }
            KeyCode::Char('?') if self.words().is_empty() => self.has_help = true,
            KeyCode::F(1) => self.has_help = true,
            KeyCode::Char(letter) => return self.type_text(&letter.to_string()),
            _ => {}
        }
        None
    }

    fn list_control(&mut self, letter: char) -> Option<Effect> {
        match letter {
            's' => self.list.reorder(),
            'g' => {
                self.list.is_grouped = !self.list.is_grouped;
                self.list.refresh();
            }
            'u' => return self.set_words(String::new()),
            'r' => self.ask_to_resume(),
            'y' => return Some(Effect::Copy(self.chosen()?.0)),
            'e' => return self.gather(Topic::Errors),
            't' => {
                self.sheet = Some(Sheet::default());
                return Some(Effect::Usage(usize::from(self.size.0)));
            }
            _ => {}
        }
        None
    }

    /// What is typed in the list.
    fn words(&self) -> &str {
        match self.list.mode {
            Mode::Filter => &self.list.typed,
            Mode::Search => &self.list.query,
        }
    }

    fn set_words(&mut self, words: String) -> Option<Effect> {
        match self.list.mode {
            Mode::Filter => {
                self.list.typed = words;
                self.list.restart();
                None
            }
            Mode::Search => {
                self.list.query = words;
                self.list.topic = Topic::Words(self.list.query.clone());
                self.search_again()
            }
        }
    }

    fn type_text(&mut self, text: &str) -> Option<Effect> {
        let words = format!("{}{text}", self.words());
        self.set_words(words)
    }

    fn rub(&mut self) -> Option<Effect> {
        let mut words = self.words().to_owned();
        if words.pop().is_none() && self.list.mode == Mode::Search {
            return self.escape();
        }
        self.set_words(words)
    }

    fn search_again(&mut self) -> Option<Effect> {
        if self.list.mode != Mode::Search {
            return None;
        }
        let topic = self.list.topic.clone();
        if topic == Topic::Errors {
            return self.gather(topic);
        }
        if self.list.query.trim().is_empty() {
            (self.list.hits, self.list.told) = (Vec::new(), String::new());
            self.list.restart();
            return None;
        }
        self.list.told = "\u{2026}".into();
        let here = self.list.here.clone().filter(|_| self.list.is_here);
        Some(Effect::Search(topic, here))
    }

    /// Out of what one is in: the search, the filter, the browser.
    fn escape(&mut self) -> Option<Effect> {
        match self.list.mode {
            Mode::Search => {
                self.list.mode = Mode::Filter;
                self.list.restart();
                None
            }
            Mode::Filter if !self.list.typed.is_empty() => self.set_words(String::new()),
            Mode::Filter => Some(Effect::Leave(Parting::Quit)),
        }
    }

    fn find_key(&mut self, code: KeyCode) -> Option<Effect> {
        let typed = self.finding.as_mut()?;
        match code {
            KeyCode::Char(letter) => typed.push(letter),
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Esc => self.finding = None,
            KeyCode::Enter => {
                let text = self.finding.take()?.to_lowercase();
                let view = self.view.as_mut()?;
                view.find = Default::default();
                view.find.text.clone_from(&text);
                return (!text.is_empty()).then_some(Effect::Find(view.ticket, text));
            }
            _ => {}
        }
        None
    }

    fn view_control(&mut self, code: KeyCode) -> Option<Effect> {
        let rows = i32::from(draw::areas(self).text.height);
        let view = self.view.as_mut()?;
        match code {
            KeyCode::Char('d') => view.scroll(rows / 2),
            KeyCode::Char('u') => view.scroll(-rows / 2),
            KeyCode::Char('f') => view.scroll(rows - 2),
            KeyCode::Char('b') => view.scroll(2 - rows),
            KeyCode::Char('e') => view.scroll(1),
            KeyCode::Char('y') => view.scroll(-1),
            KeyCode::Char('r') => self.ask_to_resume(),
            _ => {}
        }
        None
    }

    fn view_key(&mut self, code: KeyCode) -> Option<Effect> {
        let rows = i32::from(draw::areas(self).text.height);
        let view = self.view.as_mut()?;
        match code {
            KeyCode::Char('j') | KeyCode::Down => view.step(1),
            KeyCode::Char('k') | KeyCode::Up => view.step(-1),
            KeyCode::Char(' ') | KeyCode::PageDown => view.scroll(rows - 2),
            KeyCode::PageUp => view.scroll(2 - rows),
            KeyCode::Char('J' | ']') => return self.seek(true, is_prompt, "prompt"),
            KeyCode::Char('K' | '[') => return self.seek(false, is_prompt, "prompt"),
            KeyCode::Char('e') => return self.seek(true, |item| item.is_error, "error"),
            KeyCode::Char('E') => return self.seek(false, |item| item.is_error, "error"),
            KeyCode::Char('o') | KeyCode::Enter => view.toggle(),
            KeyCode::Char('O') => view.toggle_turn(),
            KeyCode::Char('G') | KeyCode::End => view.go_to_end(),
            KeyCode::Home => view.jump(0),
            KeyCode::Char('g') if self.last_key == Some('g') => view.jump(0),
            KeyCode::Char(level @ '1'..='5') => return self.level(level),
            KeyCode::Char('b') => return self.branch(true),
            KeyCode::Char('B') => return self.branch(false),
            KeyCode::Char('/') => self.finding = Some(String::new()),
            KeyCode::Char('n') => self.hop(true),
            KeyCode::Char('N') => self.hop(false),
            KeyCode::Char('?') | KeyCode::F(1) => self.has_help = true,
            KeyCode::Char('q' | 'h') | KeyCode::Esc | KeyCode::Left => {
                self.view = None;
                self.finding = None;
            }
            KeyCode::Char(letter) => return self.deed(letter),
            _ => {}
        }
        None
    }

    /// What goes out of the session: copies, files, pages.
    fn deed(&mut self, letter: char) -> Option<Effect> {
        let view = self.view.as_mut()?;
        match letter {
            'y' => {
                let text = view.text()?;
                self.note = Some("The record is in the clipboard".into());
                return Some(Effect::Copy(text));
            }
            'Y' => {
                let place = place(view.item()?);
                let words = format!("recount show {} --entry {place}", short(&view.id));
                self.note = Some(format!("Copied: {words}"));
                return Some(Effect::Copy(words));
            }
            'r' => {
                let words = format!("claude --resume {}", view.id);
                self.note = Some(format!("Copied: {words}"));
                return Some(Effect::Copy(words));
            }
            'f' => return Some(Effect::File(view.doc.as_ref()?.serial, view.selected)),
            'w' => self.note = where_in_file(view),
            'x' => self.question = Some(Question::Export(view.id.clone())),
            'p' => return Some(Effect::Page(view.id.clone())),
            '.' => {
                view.is_following = !view.is_following;
                if view.is_following {
                    view.go_to_end();
                }
            }
            _ => {}
        }
        None
    }

    fn seek(
        &mut self,
        is_forward: bool,
        is_it: impl Fn(&Item) -> bool,
        what: &str,
    ) -> Option<Effect> {
        let found = self.view.as_mut()?.seek(is_forward, is_it);
        if !found {
            let way = if is_forward { "below" } else { "above" };
            self.note = Some(format!("No {what} {way}"));
        }
        None
    }

    fn hop(&mut self, is_forward: bool) {
        let Some(view) = self.view.as_mut() else { return };
        if view.find.text.is_empty() {
            self.note = Some("Nothing is looked for: / does".into());
        } else if view.find.is_done && !view.hop(is_forward) {
            self.note = Some("Not at this level of detail".into());
        }
    }

    fn level(&mut self, level: char) -> Option<Effect> {
        let detail = level.to_digit(10).and_then(|level| Detail::of(level as u8))?;
        let view = self.view.as_mut()?;
        if view.detail == detail {
            return None;
        }
        view.detail = detail;
        view.go(Goal::Here);
        self.ask()
    }

    fn branch(&mut self, is_forward: bool) -> Option<Effect> {
        let view = self.view.as_mut()?;
        let count = view.doc.as_ref().map_or(0, |doc| doc.branches) + 1;
        if count == 1 {
            self.note = Some("Nothing was left and begun again here".into());
            return None;
        }
        view.branch = (view.branch + if is_forward { 1 } else { count - 1 }) % count;
        view.go(Goal::Here);
        self.ask()
    }

    fn ask_to_resume(&mut self) {
        let chosen = self.chosen();
        self.question = chosen.map(|(id, folder)| Question::Resume(id, folder));
    }

    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Option<Effect> {
        if self.has_help || self.question.is_some() {
            return None;
        }
        let at = Position::new(mouse.column, mouse.row);
        let by = match mouse.kind {
            MouseEventKind::ScrollDown => WHEEL,
            MouseEventKind::ScrollUp => -WHEEL,
            MouseEventKind::Down(MouseButton::Left) => {
                self.drag = Some((at, at));
                return None;
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                self.drag = self.drag.map(|(from, _)| (from, at));
                return None;
            }
            MouseEventKind::Up(MouseButton::Left) => return self.release(),
            _ => return None,
        };
        match (&mut self.sheet, &mut self.view) {
            (Some(sheet), _) => {
                let code = if by > 0 { KeyCode::Down } else { KeyCode::Up };
                let rows = usize::from(self.size.1.saturating_sub(2));
                for _ in 0..WHEEL {
                    sheet.key(code, rows);
                }
            }
            (None, Some(view)) => view.scroll(by),
            (None, None) => self.list.step(by.signum() as isize),
        }
        None
    }

    /// The button is let go: a click where it was pressed, else what lies between is copied.
    fn release(&mut self) -> Option<Effect> {
        let (from, to) = self.drag?;
        if from == to {
            self.drag = None;
            return self.click(to);
        }
        let text = draw::selected(self);
        self.drag = None;
        self.note = Some("Copied".into());
        (!text.is_empty()).then_some(Effect::Copy(text))
    }

    fn click(&mut self, at: Position) -> Option<Effect> {
        let areas = draw::areas(self);
        if self.sheet.is_some() {
            return None;
        }
        if let Some(view) = &mut self.view {
            let row = areas.text.contains(at).then(|| i32::from(at.y - areas.text.y))?;
            let index = view.at_row(row)?;
            match index == view.selected {
                true => view.toggle(),
                false => view.step(index as i32 - view.selected as i32),
            }
            return None;
        }
        let row = areas.list.contains(at).then(|| at.y - areas.list.y)?;
        let line = self.list.top + usize::from(row);
        if line >= self.list.lines.len() {
            return None;
        }
        if line == self.list.selected {
            return self.open();
        }
        self.list.selected = line;
        self.list.step(0);
        None
    }
}

fn is_prompt(item: &Item) -> bool {
    item.role.is_person() || item.role == Role::Teammate
}

fn answer(question: Question, code: KeyCode) -> Option<Effect> {
    match (question, code) {
        (Question::Resume(id, folder), KeyCode::Char('y') | KeyCode::Enter) => {
            Some(Effect::Leave(Parting::Resume(id, folder)))
        }
        (Question::Resume(id, _), KeyCode::Char('p')) => {
            Some(Effect::Leave(Parting::Print(format!("claude --resume {id}"))))
        }
        (Question::Export(id), KeyCode::Char('y') | KeyCode::Enter) => Some(Effect::Export(id)),
        _ => None,
    }
}

/// An entry as `--entry` takes it.
fn place(item: &Item) -> String {
    match item.number {
        Some(number) => number.to_string(),
        None => format!("@{}", item.at.1),
    }
}

fn where_in_file(view: &crate::browse::view::View) -> Option<String> {
    let item = view.item()?;
    let files = &view.doc.as_ref()?.files;
    let file = files.get(usize::from(item.at.0)).or(files.last())?;
    let number = item.number.map(|n| format!("entry {}, ", count(u64::from(n))));
    let end = item.at.1 + u64::from(item.length);
    let (from, to) = (count(item.at.1), count(end));
    Some(format!("{}bytes {from} to {to} of {file}", number.unwrap_or_default()))
}

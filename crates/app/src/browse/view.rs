//! A session on the screen: which records, which of them is chosen, and where it stands.
//!
//! How high a record is is known only once it has been painted, and only those near the screen
//! are. So nothing is measured from the beginning: the chosen record has a row on the screen, and
//! the others follow above and below it. What is painted later can't move it.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use ratatui::text::Line;
use report::show::Part;
use transcript::record::Detail;
use transcript::session::Role;

use super::paint;

/// Where a record stands: its file and its first byte. Stays the same when a session is read on.
pub type At = (u8, u64);

/// A record, before it is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// The entry in the session.
    pub node: usize,
    /// Where it stands.
    pub at: At,
    /// Its bytes.
    pub length: u32,
    /// Its number in its file, where that is known.
    pub number: Option<u32>,
    /// What it is.
    pub role: Role,
    /// Its turn, from 0.
    pub turn: Option<usize>,
    /// Something failed in it.
    pub is_error: bool,
}

/// What is known of a session at a level, before anything is painted.
#[derive(Debug, Clone, Default)]
pub struct Doc {
    /// Counts what was read, so that nothing old is taken for it.
    pub serial: u64,
    /// What it is called, safe.
    pub title: String,
    /// Where, when and how long, safe.
    pub about: String,
    /// The folder to go on in.
    pub folder: Option<String>,
    /// The records in order.
    pub items: Vec<Item>,
    /// What the level hides, in words.
    pub hidden: String,
    /// Branches that were left.
    pub branches: usize,
    /// Turns.
    pub turns: usize,
    /// Only the end was read; the rest follows.
    pub is_end: bool,
    /// Its files, by number.
    pub files: Vec<String>,
}

/// Lines of a record, and what they were painted for.
#[derive(Debug)]
struct Painted {
    stamp: Stamp,
    lines: Vec<Line<'static>>,
}

/// What lines depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// What was read.
    pub serial: u64,
    /// How wide the screen is.
    pub columns: usize,
    /// Whether the record is unfolded.
    pub is_open: bool,
}

/// Where to go as soon as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Stay.
    Here,
    /// To the end.
    End,
    /// To an entry of this number.
    Entry(u32),
}

/// What is looked for in the session.
#[derive(Debug, Default)]
pub struct Find {
    /// The words, in small letters.
    pub text: String,
    /// Where they are, by their nodes.
    pub nodes: Vec<usize>,
    /// The answer is there.
    pub is_done: bool,
    /// The record whose match is to be brought on the screen.
    reveal: Option<At>,
}

/// A session on the screen.
#[derive(Debug)]
pub struct View {
    /// The session.
    pub id: String,
    /// Its subagent.
    pub agent: Option<String>,
    /// Its transcript, if that is known.
    pub path: Option<PathBuf>,
    /// What it is called, until that is read.
    pub title: String,
    /// Counts what was asked for, so that an old answer is not taken.
    pub ticket: u64,
    /// What was read.
    pub doc: Option<Doc>,
    /// Why nothing was.
    pub problem: Option<String>,
    /// The level.
    pub detail: Detail,
    /// The branch that was left, from 1; 0 is the conversation as it went.
    pub branch: usize,
    /// The chosen record.
    pub selected: usize,
    /// The row of its first line.
    pub row: i32,
    /// Stays at the end when something is added.
    pub is_following: bool,
    /// Records that were added below since the person looked at the end.
    pub news: usize,
    /// What is looked for.
    pub find: Find,
    open: HashSet<At>,
    painted: HashMap<At, Painted>,
    asked: HashSet<(At, Stamp)>,
    /// What the records that were read are records of.
    shown: Option<(Detail, usize)>,
    goal: Goal,
    columns: usize,
    rows: i32,
}

impl View {
    /// A session that is being read.
    pub fn new(id: String, path: Option<PathBuf>, title: String, goal: Goal) -> Self {
        Self {
            id,
            agent: None,
            path,
            title,
            ticket: 0,
            doc: None,
            problem: None,
            detail: Detail::Work,
            branch: 0,
            selected: 0,
            row: 0,
            is_following: false,
            news: 0,
            find: Find::default(),
            open: HashSet::new(),
            painted: HashMap::new(),
            asked: HashSet::new(),
            shown: None,
            goal,
            columns: 0,
            rows: 1,
        }
    }

    /// The part that is shown.
    pub fn part(&self) -> Part {
        if self.branch == 0 { Part::Way } else { Part::Branch(self.branch) }
    }

    /// The records.
    pub fn items(&self) -> &[Item] {
        self.doc.as_ref().map_or(&[], |doc| &doc.items)
    }

    /// The chosen record.
    pub fn item(&self) -> Option<&Item> {
        self.items().get(self.selected)
    }

    /// The lines of a record, if they are painted.
    pub fn lines(&self, index: usize) -> Option<&[Line<'static>]> {
        let item = self.items().get(index)?;
        self.painted.get(&item.at).map(|painted| &painted.lines[..])
    }

    /// Whether a record is unfolded.
    pub fn is_open(&self, index: usize) -> bool {
        self.items().get(index).is_some_and(|item| self.open.contains(&item.at))
    }

    /// Takes what was read. The chosen record stays chosen and where it is.
    pub fn take(&mut self, doc: Doc) {
        let before = self.item().copied();
        let was_last = self.selected + 1 >= self.items().len();
        let count = self.items().len();
        let shown = Some((self.detail, self.branch));
        let is_longer = doc.items.len() > count && self.shown == shown;
        self.shown = shown;
        let was_end = self.doc.as_ref().is_some_and(|doc| doc.is_end);
        self.doc = Some(doc);
        self.problem = None;
        self.asked.clear();
        if let Some(before) = before {
            self.selected = self.nearest(before.at);
        }
        match self.goal {
            Goal::End => self.go_to_end(),
            Goal::Entry(number) => self.go_to_number(number),
            Goal::Here if self.is_following && was_last => self.go_to_end(),
            Goal::Here if is_longer && !was_end => self.news += self.items().len() - count,
            Goal::Here => {}
        }
        self.settle();
    }

    /// The record at a place, else the last one before it.
    fn nearest(&self, at: At) -> usize {
        let items = self.items();
        let exact = items.iter().position(|item| item.at == at);
        let before = || items.iter().rposition(|item| item.at.0 == at.0 && item.at.1 < at.1);
        exact.or_else(before).unwrap_or(0)
    }

    fn go_to_number(&mut self, number: u32) {
        // Of an end the numbers are not known; the whole follows.
        let numbered = |item: &Item| item.number.is_some_and(|n| n <= number);
        if self.items().iter().all(|item| item.number.is_none()) {
            return self.go_to_end();
        }
        let found = self.items().iter().rposition(numbered).unwrap_or(0);
        self.goal = Goal::Here;
        self.jump(found);
    }

    /// Whether the end is wanted, whatever is read.
    pub fn go(&mut self, goal: Goal) {
        self.goal = goal;
    }

    /// To the last record.
    pub fn go_to_end(&mut self) {
        self.selected = self.items().len().saturating_sub(1);
        self.row = self.rows;
        self.news = 0;
        self.settle();
    }

    /// To a record, near the top.
    pub fn jump(&mut self, index: usize) {
        self.goal = Goal::Here;
        self.selected = index;
        self.row = self.rows / 6;
        self.settle();
    }

    /// To a neighbour.
    pub fn step(&mut self, by: i32) {
        self.goal = Goal::Here;
        let last = self.items().len().saturating_sub(1);
        for _ in 0..by.unsigned_abs() {
            if by > 0 && self.selected < last {
                self.row += self.height(self.selected);
                self.selected += 1;
            } else if by < 0 && self.selected > 0 {
                self.selected -= 1;
                self.row -= self.height(self.selected);
            }
        }
        self.settle();
    }

    /// To the next record of a kind in a direction; whether there is one.
    pub fn seek(&mut self, is_forward: bool, is_it: impl Fn(&Item) -> bool) -> bool {
        let items = self.items();
        let found = match is_forward {
            true => (self.selected + 1..items.len()).find(|&at| is_it(&items[at])),
            false => (0..self.selected.min(items.len())).rev().find(|&at| is_it(&items[at])),
        };
        found.into_iter().for_each(|at| self.jump(at));
        found.is_some()
    }

    /// Moves the text by so many lines; the chosen record is one that is seen.
    pub fn scroll(&mut self, by: i32) {
        self.goal = Goal::Here;
        self.row -= by;
        let count = self.items().len();
        let is_tall = |view: &Self| view.height(view.selected) > view.rows;
        while self.selected + 1 < count && self.row < 0 {
            let height = self.height(self.selected);
            if is_tall(self) && self.row + height > self.rows {
                break;
            }
            self.row += height;
            self.selected += 1;
        }
        while self.selected > 0 && self.row + self.height(self.selected) > self.rows {
            if self.row <= 0 {
                break;
            }
            self.selected -= 1;
            self.row -= self.height(self.selected);
        }
        self.settle();
    }

    /// The record at a row of the screen.
    pub fn at_row(&self, row: i32) -> Option<usize> {
        let within = |(index, y): &(usize, i32)| (*y..*y + self.height(*index)).contains(&row);
        self.layout().into_iter().find(within).map(|(index, _)| index)
    }

    /// Folds or unfolds the chosen record.
    pub fn toggle(&mut self) {
        if let Some(at) = self.item().map(|item| item.at)
            && !self.open.remove(&at)
        {
            self.open.insert(at);
        }
    }

    /// Folds or unfolds all records of the turn.
    pub fn toggle_turn(&mut self) {
        let Some(turn) = self.item().map(|item| item.turn) else { return };
        let its: Vec<At> =
            self.items().iter().filter(|item| item.turn == turn).map(|item| item.at).collect();
        match its.iter().all(|at| self.open.contains(at)) {
            true => self.open.retain(|at| !its.contains(at)),
            false => self.open.extend(its),
        }
    }

    /// Tells how large the place for the text is.
    pub fn resize(&mut self, columns: usize, rows: i32) {
        if (self.columns, self.rows) != (columns, rows) {
            let was_below = self.row >= self.rows;
            (self.columns, self.rows) = (columns, rows.max(1));
            if was_below {
                self.row = self.rows;
            }
            self.settle();
        }
    }

    /// Takes painted lines; those of something else that was read are left.
    pub fn painted(&mut self, index: usize, stamp: Stamp, lines: Vec<Line<'static>>) {
        let Some(item) = self.items().get(index).copied() else { return };
        if stamp.serial != self.doc.as_ref().map_or(0, |doc| doc.serial) {
            return;
        }
        self.asked.remove(&(item.at, stamp));
        self.painted.insert(item.at, Painted { stamp, lines });
        if self.find.reveal == Some(item.at) && index == self.selected {
            self.reveal(stamp.is_open);
        }
        match self.goal {
            Goal::End => self.go_to_end(),
            _ => self.settle(),
        }
    }

    /// Brings the match in the chosen record on the screen, unfolding it if it must be.
    fn reveal(&mut self, is_open: bool) {
        let Some(item) = self.item().copied() else { return };
        let wanted = self.find.text.clone();
        let lines = self.lines(self.selected).unwrap_or_default();
        let has = |line: &Line<'_>| {
            paint::plain(std::slice::from_ref(line)).to_lowercase().contains(&wanted)
        };
        match lines.iter().position(has) {
            Some(line) => {
                self.find.reveal = None;
                self.row = self.rows / 3 - line as i32;
            }
            None if is_open => self.find.reveal = None,
            None => {
                self.open.insert(item.at);
            }
        }
    }

    /// Takes where the words are, and goes to the first from here on.
    pub fn found(&mut self, nodes: Vec<usize>) {
        self.find.nodes = nodes;
        self.find.is_done = true;
        let Some(node) = self.item().map(|item| item.node) else { return };
        if !self.find.nodes.contains(&node) {
            self.hop(true);
        } else {
            self.show_match();
        }
    }

    /// To the next or the previous record with the words; from the ends it goes on at the other.
    pub fn hop(&mut self, is_forward: bool) -> bool {
        let wanted: HashSet<usize> = self.find.nodes.iter().copied().collect();
        let is_it = |item: &Item| wanted.contains(&item.node);
        if !self.seek(is_forward, is_it) {
            let items = self.items();
            let found = match is_forward {
                true => items.iter().position(is_it),
                false => items.iter().rposition(is_it),
            };
            match found {
                Some(found) => self.jump(found),
                None => return false,
            }
        }
        self.show_match();
        true
    }

    fn show_match(&mut self) {
        self.find.reveal = self.item().map(|item| item.at);
        if self.lines(self.selected).is_some() {
            self.reveal(self.is_open(self.selected));
            self.settle();
        }
    }

    /// How many records with the words are among those shown, and which of them is chosen.
    pub fn matches(&self) -> (usize, usize) {
        let wanted: HashSet<usize> = self.find.nodes.iter().copied().collect();
        let is_it = |item: &&Item| wanted.contains(&item.node);
        let all = self.items().iter().filter(is_it).count();
        (self.items().iter().take(self.selected + 1).filter(is_it).count(), all)
    }

    fn height(&self, index: usize) -> i32 {
        self.lines(index).map_or(1, |lines| lines.len() as i32)
    }

    /// Puts the chosen record where it can be seen, without a gap above or below.
    fn settle(&mut self) {
        let count = self.items().len();
        self.selected = self.selected.min(count.saturating_sub(1));
        let free = self.rows - self.height(self.selected);
        self.row = self.row.clamp(free.min(0), free.max(0));
        let (mut y, mut at) = (self.row, self.selected);
        while at < count && y < self.rows {
            y += self.height(at);
            at += 1;
        }
        self.row += (self.rows - y).max(0);
        let (mut y, mut at) = (self.row, self.selected);
        while at > 0 && y > 0 {
            at -= 1;
            y -= self.height(at);
        }
        self.row -= y.max(0);
        if self.selected + 1 == count {
            self.news = 0;
        }
    }

    /// The records on the screen with the rows of their first lines.
    pub fn layout(&self) -> Vec<(usize, i32)> {
        let (mut y, mut at) = (self.row, self.selected);
        while at > 0 && y > 0 {
            at -= 1;
            y -= self.height(at);
        }
        let mut all = Vec::new();
        while at < self.items().len() && y < self.rows {
            all.push((at, y));
            y += self.height(at);
            at += 1;
        }
        all
    }

    /// What has to be painted and was not asked for yet: the records on the screen, and as many around it.
    pub fn wants(&mut self) -> Vec<(usize, Stamp)> {
        let Some(serial) = self.doc.as_ref().map(|doc| doc.serial) else { return Vec::new() };
        let seen = self.layout();
        let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return Vec::new() };
        let around = self.rows as usize;
        let from = first.0.saturating_sub(around);
        let until = (last.0 + around).min(self.items().len() - 1);
        let mut wanted = Vec::new();
        for index in from..=until {
            let at = self.items()[index].at;
            let is_open = self.open.contains(&at);
            let stamp = Stamp { serial, columns: self.columns, is_open };
            let is_painted = self.painted.get(&at).is_some_and(|known| known.stamp == stamp);
            if !is_painted && self.asked.insert((at, stamp)) {
                wanted.push((index, stamp));
            }
        }
        wanted
    }

    /// The text of the chosen record.
    pub fn text(&self) -> Option<String> {
        self.lines(self.selected).map(paint::plain)
    }
}

#[cfg(test)]
mod tests;

//! The list: which sessions are shown, in which order, and which one is chosen.
//!
//! Two lists share one place: the sessions, filtered by what is typed, and what a search of all
//! contents has found.

use report::filter::ProjectFilter;
use report::list::ListOrder;

use super::fuzzy::Wanted;
use super::row::Row;

/// The orders, as they follow each other.
const ORDERS: [(ListOrder, &str); 6] = [
    (ListOrder::Time, "last active"),
    (ListOrder::Turns, "turns"),
    (ListOrder::Errors, "errors"),
    (ListOrder::Size, "size"),
    (ListOrder::Duration, "duration"),
    (ListOrder::Title, "title"),
];

/// Something that a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hit {
    /// The session.
    pub id: String,
    /// The subagent, if it was said by one.
    pub agent: Option<String>,
    /// The session's title, safe.
    pub title: String,
    /// Its project.
    pub project: Option<String>,
    /// The number of the entry.
    pub entry: u32,
    /// Who said it, and where it stands.
    pub who: String,
    /// The words around, safe.
    pub snippet: String,
    /// What was looked for in the snippet.
    pub marks: Vec<std::ops::Range<usize>>,
    /// When, in words.
    pub when: String,
    /// Only prompts are left of it: there is nothing to open.
    pub is_ghost: bool,
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// What the lines below have in common.
    Head(String),
    /// A session, by its place among all.
    Row(usize),
    /// Something found, by its place.
    Hit(usize),
}

/// What the typed words are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// They filter the sessions.
    #[default]
    Filter,
    /// They are looked for in all contents.
    Search,
}

/// What a list of hits is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topic {
    /// Words in all contents.
    Words(String),
    /// Failed calls.
    Errors,
    /// The changes of a file.
    File(String),
}

impl Default for Topic {
    fn default() -> Self {
        Self::Words(String::new())
    }
}

/// The list.
#[derive(Debug, Default)]
pub struct List {
    /// All sessions.
    pub rows: Vec<Row>,
    /// Whether these are all, read from the files.
    pub is_whole: bool,
    /// What the words are for.
    pub mode: Mode,
    /// The filter.
    pub typed: String,
    /// What is looked for.
    pub query: String,
    /// What the hits are about.
    pub topic: Topic,
    /// What was found with it.
    pub hits: Vec<Hit>,
    /// What is to say about the search.
    pub told: String,
    /// The folder that `this project` is.
    pub here: Option<String>,
    /// Only sessions of that folder.
    pub is_here: bool,
    /// Whether the person has said which.
    has_scope: bool,
    /// Under their projects.
    pub is_grouped: bool,
    order: usize,
    /// What is shown.
    pub lines: Vec<Entry>,
    /// The chosen line.
    pub selected: usize,
    /// The first line on the screen.
    pub top: usize,
}

impl List {
    /// An empty list; `here` is the folder that `this project` is.
    pub fn new(here: Option<String>) -> Self {
        Self { here, ..Self::default() }
    }

    /// Takes all sessions; the chosen one stays chosen.
    pub fn take(&mut self, mut rows: Vec<Row>, is_whole: bool) {
        // While more is read, the first one is chosen by nobody.
        let is_untouched = self.selected == 0 && !self.is_whole;
        let chosen = self.row().map(|row| row.id.clone()).filter(|_| !is_untouched);
        let known: std::collections::HashMap<String, String> =
            self.rows.drain(..).map(|row| (row.id, row.prompts)).collect();
        super::row::add_prompts(&mut rows, &known);
        self.rows = rows;
        if !self.is_whole && !self.has_scope {
            self.is_here = self.rows.iter().any(|row| self.is_of_here(row.project.as_deref()));
        }
        self.is_whole |= is_whole;
        self.relist(chosen);
    }

    /// Between the sessions of this project and those of everywhere.
    pub fn rescope(&mut self) {
        self.has_scope = true;
        self.is_here = !self.is_here && self.here.is_some();
    }

    /// The order in words.
    pub fn order(&self) -> &'static str {
        ORDERS[self.order].1
    }

    /// The next order.
    pub fn reorder(&mut self) {
        self.order = (self.order + 1) % ORDERS.len();
        self.refresh();
    }

    /// The chosen session.
    pub fn row(&self) -> Option<&Row> {
        match self.lines.get(self.selected)? {
            Entry::Row(at) => self.rows.get(*at),
            Entry::Hit(at) => {
                let id = &self.hits.get(*at)?.id;
                self.rows.iter().find(|row| row.id == *id)
            }
            Entry::Head(_) => None,
        }
    }

    /// The chosen hit.
    pub fn hit(&self) -> Option<&Hit> {
        match self.lines.get(self.selected)? {
            Entry::Hit(at) => self.hits.get(*at),
            _ => None,
        }
    }

    /// How many sessions or hits are shown.
    pub fn shown(&self) -> usize {
        self.lines.iter().filter(|line| !matches!(line, Entry::Head(_))).count()
    }

    /// Works out what is shown, and keeps the chosen session where it can.
    pub fn refresh(&mut self) {
        self.relist(self.row().map(|row| row.id.clone()));
    }

    fn relist(&mut self, chosen: Option<String>) {
        self.lines = match self.mode {
            Mode::Filter => self.sessions(),
            Mode::Search => self.found(),
        };
        let is_it = |line: &Entry| match line {
            Entry::Row(at) => Some(&self.rows[*at].id) == chosen.as_ref(),
            _ => false,
        };
        self.selected = self.lines.iter().position(is_it).unwrap_or(0);
        self.step(0);
    }

    /// As [`List::refresh`] after the words have changed: the best is chosen.
    pub fn restart(&mut self) {
        self.refresh();
        self.selected = 0;
        self.step(0);
    }

    fn is_of_here(&self, project: Option<&str>) -> bool {
        let here = self.here.clone().map(ProjectFilter::Folder);
        project.zip(here).is_some_and(|(project, here)| here.matches(project))
    }

    fn sessions(&self) -> Vec<Entry> {
        let wanted = Wanted::new(&self.typed);
        let fits = |row: &Row| {
            let is_there = !self.is_here || self.is_of_here(row.project.as_deref());
            wanted.score(&row.name, &row.prompts).filter(|_| is_there)
        };
        let rows = self.rows.iter().enumerate();
        let mut fitting: Vec<(i32, usize)> =
            rows.filter_map(|(at, row)| Some((fits(row)?, at))).collect();
        fitting.sort_by(|(score, at), (other_score, other)| {
            other_score.cmp(score).then_with(|| self.compare(&self.rows[*at], &self.rows[*other]))
        });
        let fitting: Vec<usize> = fitting.into_iter().map(|(_, at)| at).collect();
        match self.is_grouped {
            false => fitting.into_iter().map(Entry::Row).collect(),
            true => self.grouped(&fitting),
        }
    }

    fn grouped(&self, rows: &[usize]) -> Vec<Entry> {
        let project = |at: usize| self.rows[at].project.as_deref().unwrap_or("(no project)");
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for &at in rows {
            let place = *places.entry(project(at)).or_insert_with(|| {
                groups.push((project(at), Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(at);
        }
        let lines = groups.into_iter().flat_map(|(project, rows)| {
            let head = Entry::Head(crate::terminal::safe::line(project));
            std::iter::once(head).chain(rows.into_iter().map(Entry::Row))
        });
        lines.collect()
    }

    fn compare(&self, a: &Row, b: &Row) -> std::cmp::Ordering {
        let by = match ORDERS[self.order].0 {
            ListOrder::Time => b.last.cmp(&a.last),
            ListOrder::Turns => b.turns.cmp(&a.turns),
            ListOrder::Errors => b.errors.cmp(&a.errors),
            ListOrder::Size => b.size.cmp(&a.size),
            ListOrder::Duration => b.duration().cmp(&a.duration()),
            ListOrder::Title => a.title.to_lowercase().cmp(&b.title.to_lowercase()),
        };
        by.then_with(|| a.id.cmp(&b.id))
    }

    /// What was found, each session's hits together.
    fn found(&self) -> Vec<Entry> {
        let mut lines = Vec::new();
        let mut told: Vec<&str> = Vec::new();
        for hit in &self.hits {
            if told.contains(&hit.id.as_str()) {
                continue;
            }
            told.push(&hit.id);
            lines.push(Entry::Head(hit.title.clone()));
            let all = self.hits.iter().enumerate();
            let its = all.filter(|(_, other)| other.id == hit.id);
            lines.extend(its.map(|(at, _)| Entry::Hit(at)));
        }
        lines
    }

    /// Takes what was found; a session that is named by its id alone is given its title.
    pub fn found_all(&mut self, mut hits: Vec<Hit>, told: String) {
        let titles: std::collections::HashMap<&str, &str> =
            self.rows.iter().map(|row| (&*row.id, &*row.title)).collect();
        for hit in hits.iter_mut().filter(|hit| hit.title.is_empty()) {
            hit.title = titles.get(&*hit.id).map_or_else(|| hit.id.clone(), |&title| title.into());
        }
        (self.hits, self.told) = (hits, told);
        self.restart();
    }

    /// Chooses another line, so many further; heads are stepped over.
    pub fn step(&mut self, by: isize) {
        let last = self.lines.len().saturating_sub(1);
        let is_head = |at: usize| matches!(self.lines.get(at), Some(Entry::Head(_)));
        let mut at = self.selected.saturating_add_signed(by).min(last);
        if is_head(at) {
            at = match by < 0 && at > 0 {
                true => at - 1,
                false => (at + 1).min(last),
            };
        }
        // Above the first head there is nothing to choose.
        if is_head(at) {
            at = (at + 1).min(last);
        }
        self.selected = at;
    }

    /// Keeps the chosen line within so many on the screen.
    pub fn scroll(&mut self, height: usize) {
        let height = height.max(1);
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(height));
        // The head of the first group is seen with its first session.
        let begins_with_head = matches!(self.lines.first(), Some(Entry::Head(_)));
        if self.selected == 1 && begins_with_head && height > 1 {
            self.top = 0;
        }
        self.top = self.top.min(self.lines.len().saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::time::Time;

    fn row(id: &str, title: &str, project: &str, last: i64) -> Row {
        let name = format!("{title} {project}").chars().collect();
        Row {
            id: id.into(),
            title: title.into(),
            project: Some(project.into()),
            last: Some(Time(last)),
            name,
            ..Row::default()
        }
    }

    fn list() -> List {
        let mut list = List::new(Some("/w/shop".into()));
        let rows = vec![
            row("a", "fix login", "/w/shop", 1),
            row("b", "write docs", "/w/blog", 3),
            row("c", "login page", "/w/shop/web", 2),
        ];
        list.take(rows, true);
        list
    }

    fn ids(list: &List) -> String {
        let id = |line: &Entry| match line {
            Entry::Row(at) => list.rows[*at].id.clone(),
            Entry::Head(text) => format!("[{text}]"),
            Entry::Hit(at) => format!("#{}", list.hits[*at].entry),
        };
        list.lines.iter().map(id).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_chosen_stays_so_while_more_is_read() {
        let all = || [("d", 4), ("a", 1), ("b", 3), ("c", 2)].map(|(id, t)| row(id, id, "/x", t));
        let first = || vec![row("c", "c", "/x", 2), row("b", "b", "/x", 3)];
        let mut list = List::new(None);
        list.take(first(), false);
        assert_eq!((ids(&list), list.selected), ("b c".into(), 0));
        list.take(all().into(), true);
        assert_eq!((ids(&list), list.selected), ("d b c a".into(), 0), "the newest is above");
        let mut list = List::new(None);
        list.take(first(), false);
        list.step(1);
        list.take(all().into(), true);
        assert_eq!(list.row().map(|row| &*row.id), Some("c"));
    }

    #[test]
    fn it_begins_with_this_project_if_there_are_any() {
        let mut list = list();
        assert_eq!(ids(&list), "c a");
        list.is_here = false;
        list.refresh();
        assert_eq!(ids(&list), "b c a");
        let mut other = List::new(Some("/elsewhere".into()));
        other.take(vec![row("a", "x", "/w", 1)], false);
        assert_eq!(ids(&other), "a");
    }

    #[test]
    fn typing_filters_and_chooses_the_best() {
        let mut list = list();
        list.is_here = false;
        list.typed = "login".into();
        list.restart();
        assert_eq!((ids(&list).as_str(), list.row().map(|r| &*r.id)), ("c a", Some("c")));
        list.typed = "docs".into();
        list.restart();
        assert_eq!(ids(&list), "b");
    }

    #[test]
    fn groups_have_heads_that_are_never_chosen() {
        let mut list = list();
        (list.is_here, list.is_grouped) = (false, true);
        list.restart();
        assert_eq!(ids(&list), "[/w/blog] b [/w/shop/web] c [/w/shop] a");
        assert_eq!(list.selected, 1);
        list.step(1);
        assert_eq!(list.selected, 3);
        list.step(-1);
        assert_eq!(list.selected, 1);
        list.step(-1);
        assert_eq!(list.selected, 1);
        list.step(100);
        assert_eq!(list.selected, 5);
    }

    #[test]
    fn the_order_changes_and_the_chosen_session_stays() {
        let mut list = list();
        list.step(1);
        assert_eq!(list.row().map(|r| &*r.id), Some("a"));
        (0..5).for_each(|_| list.reorder());
        assert_eq!((list.order(), ids(&list).as_str()), ("title", "a c"));
        assert_eq!(list.row().map(|r| &*r.id), Some("a"));
    }

    #[test]
    fn what_is_chosen_is_on_the_screen() {
        let mut list = List::new(None);
        list.take((0..30).map(|n| row(&format!("{n:02}"), "t", "/w", n)).collect(), true);
        list.step(12);
        list.scroll(10);
        assert_eq!(list.top, 3);
        list.step(-11);
        list.scroll(10);
        assert_eq!(list.top, 1);
        list.step(100);
        list.scroll(10);
        assert_eq!(list.top, 20);
    }
}

//! Columns side by side, aligned by what is seen and not by bytes.
//!
//! The last column takes the rest of the terminal. Where that would be little, columns that can be
//! spared are left out, and names in between are cut; where there is no terminal nothing is cut,
//! so that `grep` finds what is there.

use anstyle::Style;

use super::safe;
use super::style::{self, paint};

/// Between two columns.
const GAP: usize = 2;
/// The last column is never narrower than this, however narrow the terminal.
const LAST_LEAST: usize = 12;
/// Columns are left out until the last one has so much.
const LAST_WANTED: usize = 32;
/// On a terminal no column that can be spared is wider.
const WIDEST: usize = 24;

/// On a terminal no column of a table that somebody asked for is wider.
const WIDEST_NAMED: usize = 40;

/// One field of a row.
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Text from anywhere: it is made safe, and one line.
    pub fn new(style: Style, raw: &str) -> Self {
        Self { text: safe::line(raw), style }
    }
}

impl From<&str> for Cell {
    fn from(raw: &str) -> Self {
        Self::new(style::PLAIN, raw)
    }
}

impl From<String> for Cell {
    fn from(raw: String) -> Self {
        Self::new(style::PLAIN, &raw)
    }
}

/// How a column stands.
#[derive(Clone, Copy)]
pub enum Column {
    /// Text.
    Left(&'static str),
    /// Numbers.
    Right(&'static str),
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Left(title) | Self::Right(title) => title,
        }
    }
}

/// Rows of cells.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    spare: &'static [&'static str],
    /// The titles, if they are not known before the program runs.
    named: Option<Vec<String>>,
    /// How wide the columns are, once some rows have been printed.
    fixed: Option<Vec<usize>>,
}

impl Table {
    /// A table of these columns, without rows.
    pub fn new(columns: &[Column]) -> Self {
        let columns = columns.to_vec();
        Self { columns, rows: Vec::new(), spare: &[], named: None, fixed: None }
    }

    /// A table whose titles somebody chose: each with whether its column has numbers.
    pub fn named(titles: impl IntoIterator<Item = (String, bool)>) -> Self {
        let side = |is_number: bool| if is_number { Column::Right("") } else { Column::Left("") };
        let (named, columns): (Vec<String>, Vec<Column>) =
            titles.into_iter().map(|(title, is_number)| (title, side(is_number))).unzip();
        Self { named: Some(named), ..Self::new(&columns) }
    }

    /// Columns that a narrow terminal can do without, the first to go first.
    pub fn spare(mut self, titles: &'static [&'static str]) -> Self {
        self.spare = titles;
        self
    }

    /// Adds a row: one cell for each column.
    pub fn push<const N: usize>(&mut self, row: [Cell; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.rows.push(row.into());
    }

    /// As [`Table::push`], for a table whose columns depend on what was asked.
    pub fn push_all(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// The lines of the table, the head first; cut to `width` where there is one.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let head = self.head();
        let widths = self.layout(&head, width);
        let last = rest(&widths, width);
        let rows = std::iter::once(&head).chain(&self.rows);
        rows.map(|row| self.line(row, &widths, last)).collect()
    }

    /// The lines of the rows so far, which are then gone: for a table that is never whole in
    /// memory. The head comes with the first, and their widths hold for the others.
    pub fn drain(&mut self, width: Option<usize>) -> Vec<String> {
        let head = self.head();
        let (widths, is_first) = match self.fixed.take() {
            Some(widths) => (widths, false),
            None => (self.layout(&head, width), true),
        };
        let last = rest(&widths, width);
        let rows = is_first.then_some(&head).into_iter().chain(&self.rows);
        let lines = rows.map(|row| self.line(row, &widths, last)).collect();
        self.rows.clear();
        self.fixed = Some(widths);
        lines
    }

    fn head(&self) -> Vec<Cell> {
        match &self.named {
            Some(named) => named.iter().map(|title| Cell::new(style::HEAD, title)).collect(),
            None => self.columns.iter().map(|c| Cell::new(style::HEAD, c.title())).collect(),
        }
    }

    fn layout(&self, head: &[Cell], width: Option<usize>) -> Vec<usize> {
        let mut widths = self.widths(head);
        if let Some(width) = width {
            self.fit(&mut widths, width);
        }
        widths
    }

    /// Cuts names that are too wide, then leaves out columns: one of width 0 is not printed.
    fn fit(&self, widths: &mut [usize], width: usize) {
        let end = widths.len().saturating_sub(1);
        for (column, width) in self.columns[..end].iter().zip(widths.iter_mut()) {
            if matches!(column, Column::Left(title) if self.spare.contains(title)) {
                *width = (*width).min(WIDEST);
            }
            if self.named.is_some() {
                *width = (*width).min(WIDEST_NAMED);
            }
        }
        for title in self.spare {
            if before(widths) + LAST_WANTED <= width {
                return;
            }
            if let Some(at) = self.columns.iter().position(|column| column.title() == *title) {
                widths[at] = 0;
            }
        }
    }

    fn widths(&self, head: &[Cell]) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        for row in std::iter::once(head).chain(self.rows.iter().map(Vec::as_slice)) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(safe::width(&cell.text));
            }
        }
        widths
    }

    fn line(&self, row: &[Cell], widths: &[usize], last: Option<usize>) -> String {
        let mut line = String::new();
        let end = row.len().saturating_sub(1);
        for (at, ((cell, column), width)) in row.iter().zip(&self.columns).zip(widths).enumerate() {
            let text = match last {
                Some(_) if at < end && *width == 0 => continue,
                Some(most) if at == end => safe::fit(&cell.text, most),
                Some(_) => safe::fit(&cell.text, *width),
                None => cell.text.as_str().into(),
            };
            let pad = " ".repeat(width.saturating_sub(safe::width(&text)));
            let painted = paint(cell.style, &text);
            match column {
                Column::Right(_) => line.extend([pad.as_str(), &painted]),
                Column::Left(_) if at == end => line.push_str(&painted),
                Column::Left(_) => line.extend([painted.as_str(), &pad]),
            }
            if at < end {
                line.push_str(&" ".repeat(GAP));
            }
        }
        line
    }
}

/// What is left for the last column.
fn rest(widths: &[usize], width: Option<usize>) -> Option<usize> {
    width.map(|width| width.saturating_sub(before(widths)).max(LAST_LEAST))
}

/// What stands before the last column.
fn before(widths: &[usize]) -> usize {
    widths.iter().rev().skip(1).filter(|width| **width > 0).map(|width| width + GAP).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_does_without_some_columns() {
        let table = table().spare(&["SIZE"]);
        insta::assert_snapshot!(plain(table.lines(Some(46))), @r"
        NAME    SIZE  TITLE
        日本  4.1 MB  first line and more of it
        ab      12 B  x
        ");
        insta::assert_snapshot!(plain(table.lines(Some(40))), @r"
        NAME  TITLE
        日本  first line and more of it
        ab    x
        ");
    }

    fn table() -> Table {
        let mut table =
            Table::new(&[Column::Left("NAME"), Column::Right("SIZE"), Column::Left("TITLE")]);
        table.push(["日本".into(), "4.1 MB".into(), "first\nline and more of it".into()]);
        table.push(["ab".into(), "12 B".into(), "x".into()]);
        table
    }

    fn plain(lines: Vec<String>) -> String {
        anstream::adapter::strip_str(&lines.join("\n")).to_string()
    }

    #[test]
    fn columns_align_by_what_is_seen() {
        insta::assert_snapshot!(plain(table().lines(None)), @r"
        NAME    SIZE  TITLE
        日本  4.1 MB  first line and more of it
        ab      12 B  x
        ");
    }

    #[test]
    fn a_long_table_keeps_the_widths_of_its_beginning() {
        let mut table = Table::named([("name".into(), false), ("n".into(), true)]);
        table.push(["abc".into(), "10".into()]);
        let mut lines = table.drain(None);
        table.push(["a".into(), "7".into()]);
        lines.extend(table.drain(None));
        insta::assert_snapshot!(plain(lines), @r"
        name   n
        abc   10
        a      7
        ");
    }

    #[test]
    fn the_last_column_is_cut_at_the_edge() {
        insta::assert_snapshot!(plain(table().lines(Some(30))), @r"
        NAME    SIZE  TITLE
        日本  4.1 MB  first line and…
        ab      12 B  x
        ");
    }
}

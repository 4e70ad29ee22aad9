//! Changes to a file: true line numbers, and which words of a line changed.

use transcript::tool::Hunk;

use super::highlight;
use crate::diff::{ChangeTag, Diff};
use crate::format::counted;
use crate::html::Html;

/// So many changed lines are open; the rest is folded.
const OPEN: usize = 40;
/// Words of lines longer than this are not compared.
const LONGEST: usize = 400;

/// Writes the hunks of a change.
pub fn diff(html: &mut Html, hunks: &[Hunk], language: &'static str, has_numbers: bool) {
    let changed = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| is_changed(line)).count();
    let rows = rows(hunks, has_numbers);
    let open = match changed > OPEN + 5 {
        true => open_rows(&rows),
        false => rows.len(),
    };
    table(html, &rows[..open], language);
    if open < rows.len() {
        let rest = rows[open..].iter().filter(|row| matches!(row.mark, '+' | '-')).count();
        html.within("details", "more", |html| {
            html.words("summary", "", &format!("Show {} more", counted(rest, "changed line")));
            table(html, &rows[open..], language);
        });
    }
}

fn is_changed(line: &str) -> bool {
    line.starts_with(['+', '-'])
}

/// How many rows hold the changed lines that are open.
fn open_rows(rows: &[Row<'_>]) -> usize {
    let changed = rows.iter().enumerate().filter(|(_, row)| matches!(row.mark, '+' | '-'));
    changed.map(|(at, _)| at).nth(OPEN).unwrap_or(rows.len())
}

struct Row<'a> {
    mark: char,
    old: Option<u64>,
    new: Option<u64>,
    text: &'a str,
    /// The line that stood here before, or stands here now.
    other: Option<&'a str>,
}

fn rows<'a>(hunks: &'a [Hunk], has_numbers: bool) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (at, hunk) in hunks.iter().enumerate() {
        if at > 0 {
            rows.push(Row { mark: '@', old: None, new: None, text: "\u{22ee}", other: None });
        }
        let from = rows.len();
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            let mark = line.chars().next().unwrap_or(' ');
            let text = line.get(mark.len_utf8()..).unwrap_or_default();
            let mut row = Row { mark, old: None, new: None, text, other: None };
            if matches!(mark, '-' | ' ') {
                row.old = Some(old).filter(|_| has_numbers);
                old = old.saturating_add(1);
            }
            if matches!(mark, '+' | ' ') {
                row.new = Some(new).filter(|_| has_numbers);
                new = new.saturating_add(1);
            }
            rows.push(row);
        }
        pair(&mut rows[from..]);
    }
    rows
}

/// A run of removed lines and as many added ones are the same lines, changed.
fn pair(rows: &mut [Row<'_>]) {
    let mut at = 0;
    while at < rows.len() {
        let removed = rows[at..].iter().take_while(|row| row.mark == '-').count();
        let added = rows[at + removed..].iter().take_while(|row| row.mark == '+').count();
        if removed > 0 && removed == added {
            for n in at..at + removed {
                rows[n].other = Some(rows[n + removed].text);
                rows[n + removed].other = Some(rows[n].text);
            }
        }
        at += (removed + added).max(1);
    }
}

fn table(html: &mut Html, rows: &[Row<'_>], language: &'static str) {
    html.within("div", "wide", |html| {
        html.within("table", "diff", |html| rows.iter().for_each(|row| line(html, row, language)));
    });
}

fn line(html: &mut Html, row: &Row<'_>, language: &'static str) {
    let class = match row.mark {
        '+' => "add",
        '-' => "del",
        '@' => "gap",
        _ => "",
    };
    html.within("tr", class, |html| {
        for number in [row.old, row.new] {
            html.within("td", "n", |html| number.into_iter().for_each(|number| html.show(number)));
        }
        html.words("td", "m", mark(row.mark));
        html.within("td", "t", |html| match row.other {
            Some(other) if row.text.len() + other.len() <= LONGEST => words(html, row, other),
            _ => highlight::code(html, language, row.text),
        });
    });
}

fn mark(mark: char) -> &'static str {
    match mark {
        '+' => "+",
        '-' => "\u{2212}",
        '\\' => "\\",
        _ => "",
    }
}

/// The line with the words marked that the other one has not.
fn words(html: &mut Html, row: &Row<'_>, other: &str) {
    let (old, new) = if row.mark == '-' { (row.text, other) } else { (other, row.text) };
    let own = if row.mark == '-' { ChangeTag::Delete } else { ChangeTag::Insert };
    for change in Diff::of_words(old, new).changes() {
        match change.tag() {
            ChangeTag::Equal => html.text(change.value()),
            tag if tag == own => html.words("mark", "", change.value()),
            _ => {}
        }
    }
}

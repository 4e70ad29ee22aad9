//! The first page of an export of many sessions.

use transcript::time::Time;

use crate::format::{Clock, count, counted, last_part, size};
use crate::html::{Html, Url};
use crate::page::document::{Frame, document};

use super::markdown;

/// A session in the list. Its texts have no secrets any more.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Its title or first prompt.
    pub title: String,
    /// The folder it worked in.
    pub project: Option<String>,
    /// When it began.
    pub first: Option<Time>,
    /// When it was last written to.
    pub last: Option<Time>,
    /// Turns.
    pub turns: usize,
    /// Subjects of its commits.
    pub commits: Vec<String>,
    /// What it cost, in words.
    pub cost: Option<String>,
    /// Bytes of its transcripts.
    pub bytes: u64,
    /// Where it is, below the folder of the list, step by step.
    pub path: Vec<String>,
}

/// So many commits are named.
const COMMITS: usize = 3;

fn sentence(rows: &[Row]) -> String {
    let bytes = rows.iter().map(|row| row.bytes).sum();
    let commits: usize = rows.iter().map(|row| row.commits.len()).sum();
    format!(
        "{}, {} of transcripts, {}",
        counted(rows.len(), "session"),
        size(bytes),
        counted(commits, "commit")
    )
}

/// The list as a page.
pub fn html(title: &str, rows: &[Row], clock: &Clock, notes: &[String]) -> Html {
    document(Frame::Plain, title, |html| {
        html.within("main", "wide", |html| {
            html.tag("h1").text(title);
            html.words("p", "", &sentence(rows));
            html.within("table", "list", |html| {
                html.tag("thead").with(|html| {
                    html.tag("tr").with(|html| {
                        for (name, class) in COLUMNS {
                            html.words("th", class, name);
                        }
                    });
                });
                html.tag("tbody").with(|html| rows.iter().for_each(|row| line(html, row, clock)));
            });
            html.within("footer", "foot", |html| {
                notes.iter().for_each(|note| html.words("p", "", note));
            });
        });
    })
}

const COLUMNS: [(&str, &str); 7] = [
    ("Session", ""),
    ("Project", "less"),
    ("Began", ""),
    ("Turns", "num"),
    ("Commits", "less"),
    ("Cost", "num"),
    ("Size", "num"),
];

fn line(html: &mut Html, row: &Row, clock: &Clock) {
    html.tag("tr").with(|html| {
        html.tag("td").with(|html| {
            let steps: Vec<&str> = row.path.iter().map(String::as_str).collect();
            html.tag("a").href(&Url::below(&steps)).text(&row.title);
        });
        html.words("td", "less", row.project.as_deref().map(last_part).unwrap_or_default());
        html.words("td", "", &row.first.map(|time| clock.minute(time)).unwrap_or_default());
        html.words("td", "num", &count(row.turns as u64));
        html.words("td", "less", &commits(row));
        html.words("td", "num", row.cost.as_deref().unwrap_or_default());
        html.words("td", "num", &size(row.bytes));
    });
}

fn commits(row: &Row) -> String {
    let mut words = row.commits.iter().take(COMMITS).cloned().collect::<Vec<_>>().join("; ");
    let more = row.commits.len().saturating_sub(COMMITS);
    if more > 0 {
        words += &format!(" and {more} more");
    }
    words
}

/// The list as Markdown.
pub fn markdown(title: &str, rows: &[Row], clock: &Clock, notes: &[String]) -> String {
    let mut out = format!("# {}\n\n{}\n\n", markdown::plain(title), sentence(rows));
    for row in rows {
        let path: Vec<String> =
            row.path.iter().map(|step| Url::beside(step).as_str().to_owned()).collect();
        out += &format!("- [{}](<{}>)", markdown::plain(&row.title), path.join("/"));
        let mut facts: Vec<String> = Vec::new();
        facts.extend(row.first.map(|time| clock.minute(time)));
        facts.push(counted(row.turns, "turn"));
        facts.extend(row.cost.clone());
        facts.push(size(row.bytes));
        if !row.commits.is_empty() {
            facts.push(markdown::plain(&commits(row)));
        }
        out += &format!(" \u{b7} {}\n", facts.join(" \u{b7} "));
    }
    for note in notes {
        out += &format!("\n{}\n", markdown::plain(note));
    }
    out
}

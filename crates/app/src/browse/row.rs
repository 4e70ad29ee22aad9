//! A session in the list, and what is known of it before it is opened.

use std::collections::HashMap;
use std::path::PathBuf;

use report::list::{Life, ListRow};
use transcript::library::Library;
use transcript::time::Time;

use crate::commands::short;
use crate::terminal::format::{Clock, last_part};
use crate::terminal::safe;

/// A session in the list.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// What it is called, safe.
    pub title: String,
    /// The folder it began in, as recorded.
    pub project: Option<String>,
    /// Its git branch, safe.
    pub branch: String,
    /// Whether it goes on; the store does not know.
    pub life: Option<Life>,
    /// Its first entry.
    pub first: Option<Time>,
    /// Its last entry.
    pub last: Option<Time>,
    /// When that was, in words.
    pub when: String,
    /// A person's turns.
    pub turns: usize,
    /// Failed calls.
    pub errors: usize,
    /// Bytes on disk, where known.
    pub size: u64,
    /// Its transcript.
    pub path: Option<PathBuf>,
    /// Its prompts in small letters, as far as the history has them.
    pub prompts: String,
    /// What letters are matched with, in small ones.
    pub name: Vec<char>,
}

impl Row {
    /// A session of the library.
    pub fn of_list(library: &Library, row: &ListRow<'_>, clock: &Clock) -> Self {
        let facts = &row.item.facts;
        let path = row.item.file.map(|file| library.cards[file].found.path.clone());
        Self {
            life: Some(row.life),
            errors: row.errors,
            size: row.size,
            path,
            turns: facts.turns,
            first: facts.first,
            last: row.last,
            when: when(row.last, clock),
            ..named(
                row.item.id.as_str(),
                row.item.title.as_ref().map(|(title, _)| &**title),
                row.project.clone(),
                facts.git_branch.as_deref(),
            )
        }
    }

    /// The last part of its project's path, safe.
    pub fn folder(&self) -> String {
        self.project.as_deref().map_or_else(String::new, |path| safe::line(last_part(path)))
    }

    /// From the first to the last entry, in milliseconds.
    pub fn duration(&self) -> Option<i64> {
        Some(self.last?.since(self.first?))
    }
}

/// A time in words.
pub fn when(time: Option<Time>, clock: &Clock) -> String {
    time.map_or_else(String::new, |time| clock.near(time))
}

fn named(id: &str, title: Option<&str>, project: Option<String>, branch: Option<&str>) -> Row {
    let title = title.map_or_else(|| "(no title)".into(), safe::line);
    let mut row = Row { id: id.into(), title, project, ..Row::default() };
    row.branch = branch.map(safe::line).unwrap_or_default();
    let name = format!("{} {} {} {}", row.title, row.folder(), row.branch, short(id));
    row.name = name.to_lowercase().chars().collect();
    row
}

/// Gives each session its prompts.
pub fn add_prompts(rows: &mut [Row], prompts: &HashMap<String, String>) {
    for row in rows {
        if let Some(said) = prompts.get(&row.id) {
            row.prompts.clone_from(said);
        }
    }
}

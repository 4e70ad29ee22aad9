//! Lines of `recount note --json`.

use serde::Serialize;
use store::note::Note;
use transcript::time::Time;

/// A note on a session or an entry.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "note")]
pub struct NoteLine<'a> {
    /// Its number.
    id: u64,
    /// The session.
    session: &'a str,
    /// The entry; `null` if it is on the whole session.
    entry: Option<u32>,
    /// What it says; `null` if it is only a star or tags.
    text: Option<&'a str>,
    /// Its tags.
    tags: &'a [String],
    /// Whether it is a star.
    star: bool,
    /// When it was made.
    time: Option<String>,
}

impl<'a> From<&'a Note> for NoteLine<'a> {
    fn from(note: &'a Note) -> Self {
        Self {
            id: note.id,
            session: &note.session,
            entry: note.entry,
            text: note.text.as_deref(),
            tags: &note.tags,
            star: note.star,
            time: super::time(Some(Time(note.time))),
        }
    }
}

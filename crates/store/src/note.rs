//! A person's own notes on sessions, in a file of JSON lines beside the archive.
//!
//! Lines are only ever added: a note that is taken back gets a line that says so. What can't be
//! read is passed over and stays in the file.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::archive::private;
use crate::folder::Store;

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its number, from 1; never given twice.
    pub id: u64,
    /// The session it is on.
    pub session: String,
    /// The entry it is on; `None` for the whole session.
    pub entry: Option<u32>,
    /// What it says.
    pub text: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether the place is marked as a good one.
    #[serde(default)]
    pub star: bool,
    /// When it was made, in milliseconds.
    pub time: i64,
}

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Line {
    Removed { removed: u64 },
    Note(Note),
}

/// Why a note can't be read or made.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct NoteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

fn path(store: &Store) -> PathBuf {
    store.folder().join("notes.jsonl")
}

/// All notes, oldest first.
pub fn all(store: &Store) -> Result<Vec<Note>, NoteError> {
    let path = path(store);
    match fs::read(&path) {
        Ok(bytes) => Ok(read(&bytes).0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(NoteError { path, source }),
    }
}

/// The notes of a file, and the last number that was given.
fn read(bytes: &[u8]) -> (Vec<Note>, u64) {
    let (mut notes, mut last): (Vec<Note>, u64) = (Vec::new(), 0);
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Line::Note(note)) => {
                last = last.max(note.id);
                notes.push(note);
            }
            Ok(Line::Removed { removed }) => notes.retain(|note| note.id != removed),
            Err(_) => {}
        }
    }
    (notes, last)
}

/// Adds a note; its number is given here.
pub fn add(store: &Store, note: Note) -> Result<Note, NoteError> {
    write(store, |_, last| Some(Line::Note(Note { id: last + 1, ..note.clone() }))).map(|line| {
        match line {
            Some(Line::Note(note)) => note,
            _ => note,
        }
    })
}

/// Takes a note back; whether there was one.
pub fn remove(store: &Store, id: u64) -> Result<bool, NoteError> {
    let is_there = |notes: &[Note]| notes.iter().any(|note| note.id == id);
    let line = write(store, |notes, _| is_there(notes).then_some(Line::Removed { removed: id }))?;
    Ok(line.is_some())
}

/// Writes the line that is to be written, knowing all before it. Nobody else does so meanwhile.
fn write(
    store: &Store,
    line: impl Fn(&[Note], u64) -> Option<Line>,
) -> Result<Option<Line>, NoteError> {
    let path = path(store);
    let write = || {
        store.create()?;
        let mut file = private().create(true).read(true).append(true).open(&path)?;
        file.lock()?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        let (notes, last) = read(&bytes);
        let Some(line) = line(&notes, last) else { return Ok(None) };
        // A line that was cut off by a crash must not swallow this one.
        let mut text = match bytes.last() {
            None | Some(b'\n') => String::new(),
            Some(_) => "\n".into(),
        };
        text += &serde_json::to_string(&line)?;
        text.push('\n');
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(Some(line))
    };
    write().map_err(|source| NoteError { path: path.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Note {
        let (session, time) = ("s".into(), 5);
        let (tags, text) = (vec!["t".into()], Some(text.into()));
        Note { id: 0, session, entry: Some(3), text, tags, star: true, time }
    }

    #[test]
    fn notes_stay_until_they_are_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("store"));
        assert_eq!(all(&store).unwrap(), []);
        assert_eq!(add(&store, note("a")).unwrap().id, 1);
        assert_eq!(add(&store, note("b")).unwrap().id, 2);
        assert!(remove(&store, 2).unwrap() && !remove(&store, 2).unwrap());
        assert_eq!(add(&store, note("c")).unwrap().id, 3, "a number is not given twice");
        // A line that was cut off, and one of a later version.
        let mut file = fs::File::options().append(true).open(path(&store)).unwrap();
        file.write_all(b"{\"new\":1}\n{\"id\":9,\"sess").unwrap();
        assert_eq!(add(&store, note("d\ne")).unwrap().id, 4);
        let texts: Vec<_> = all(&store).unwrap().into_iter().filter_map(|note| note.text).collect();
        assert_eq!(texts, ["a", "c", "d\ne"]);
        assert!(fs::read_to_string(path(&store)).unwrap().contains("{\"new\":1}"));
    }
}

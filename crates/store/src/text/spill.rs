//! Outputs that were too long for the transcript and lie in files of their own.
//!
//! The transcript has a note with the beginning and a name; the file is searched as if it stood
//! there, but only its first [`SPILL_MOST`] bytes: a log of gigabytes would else be most of the
//! index, and what is looked for in one mostly stands at its beginning or nowhere.

use std::borrow::Cow;

use transcript::side::tool_output;
use transcript::words;

use super::Part;
use crate::archive::{Archive, FileRow};
use crate::query::Role;

/// So many bytes of an output in a file of its own are searched.
pub const SPILL_MOST: usize = 1 << 20;

/// The files with outputs of one transcript.
pub(crate) struct Spills<'a> {
    archive: &'a Archive,
    row: &'a FileRow,
}

impl<'a> Spills<'a> {
    pub(crate) fn of(archive: &'a Archive, row: &'a FileRow) -> Self {
        Self { archive, row }
    }

    /// The part, with what its note stands for.
    pub(crate) fn add_to<'t>(&self, mut part: Part<'t>) -> Part<'t> {
        if part.role == Role::Output
            && let Some(saved) = self.saved(&part.text)
        {
            let text = part.text.to_mut();
            text.push('\n');
            text.push_str(&saved);
        }
        part
    }

    /// What a note stands for. A file that is not kept, or can't be read, leaves the note alone:
    /// its transcript is worth no less for it.
    pub(crate) fn saved(&self, note: &str) -> Option<String> {
        let name = tool_output::persisted_name(note)?;
        let path = tool_output::beside(&crate::archive::path_of(&self.row.rel), name)?;
        let row =
            self.archive.named(&self.row.home, path.as_os_str().as_encoded_bytes()).ok()??;
        let bytes = self.archive.read(row.generation, 0, SPILL_MOST).ok()?;
        let mut text = String::from_utf8_lossy(&bytes);
        if row.size > bytes.len() as u64 {
            // What is cut in the middle is no word, and perhaps no character.
            let end = text.rfind(char::is_whitespace).unwrap_or(text.len());
            text = Cow::Owned(text[..end].to_owned());
        }
        let of_json = name.ends_with(".json").then(|| words::json_texts(&text)).flatten();
        Some(of_json.unwrap_or_else(|| text.into_owned()))
    }
}

//! The format of each assistant, behind one trait.
//!
//! A dialect knows the files, lines and tools of one assistant and gives neutral values: facts for
//! a [`Builder`], [`Record`](crate::record::Record)s, [`Tokens`]. Everything above works with
//! those, so that another assistant is another folder here.
//!
//! The unit is the bytes of one entry: a line where an assistant writes lines, a row's JSON where it
//! keeps a database. Nothing borrows from them, because some assistants put JSON into strings (so
//! inputs have to be decoded first) or write tokens and results as entries of their own.
//!
//! Calls are resolved at compile time; a second dialect makes [`Builder`] and
//! [`Opened`] generic, or an enum that is asked once per file.

mod claude;

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::layout::{FileKind, Problem};
use crate::line::Line;
use crate::reading::EntryReading;
use crate::record::{Body, Media, Opened};
use crate::session::Builder;
use crate::tool::ToolSpec;
use crate::usage::Tokens;

pub use claude::ClaudeCode;
pub(crate) use claude::said;

/// The content of a record, without its place in the session.
#[derive(Debug, Clone)]
pub struct RecordContent {
    /// What it says.
    pub body: Body,
    /// The model that spoke.
    pub model: Option<String>,
    /// What was permitted.
    pub permission_mode: Option<String>,
    /// The tokens that its response read and wrote.
    pub tokens: Option<(u64, u64)>,
}

/// The format of one assistant.
pub trait Dialect {
    /// The assistant's name.
    const NAME: &'static str;
    /// Its tools; frequent ones first.
    const TOOLS: &'static [ToolSpec];

    /// What a file is, by its path below the assistant's folder.
    fn classify_file(rel: &Path) -> FileKind;

    /// Takes the facts of a line: tree, roles, calls, titles, compactions.
    fn take_line(builder: &mut Builder, line: Line<'_>);

    /// Gives each entry of a line to be asked; what was odd is added to `odd`.
    fn each_entry<'a>(
        line: Line<'a>,
        odd: &mut Vec<Diagnostic>,
        each: impl FnMut(EntryReading<'a>),
    );

    /// The content of an entry's record. Results are read from the opened session.
    fn read_content(
        opened: &Opened<'_>,
        node: usize,
        entry: &[u8],
    ) -> Result<RecordContent, Problem>;

    /// The model that an entry names.
    fn model_of(entry: &[u8]) -> Option<String>;

    /// What was permitted when an entry was written.
    fn permission_mode_of(entry: &[u8]) -> Option<String>;

    /// A picture or document of an entry, or of the result of a call in it, by its place in the
    /// list of what is described there.
    fn media_at(entry: &[u8], call: Option<&str>, at: usize) -> Option<Media>;

    /// A picture or document by its place among all that an entry and its results show.
    fn picture_at(entry: &[u8], at: usize) -> Option<Media>;

    /// What the result of a call says, out of its entry.
    fn result_text(entry: &[u8], call: &str) -> Option<String>;

    /// What stands in an entry, without what was put before a person's words.
    fn spoken_text(entry: &EntryReading<'_>) -> Option<String>;

    /// The tokens that an entry claims for its response. Where an assistant writes them as an entry
    /// of their own, that entry has them.
    fn tokens_of(entry: &[u8]) -> Option<Tokens>;
}

//! Claude Code's dialect.

mod note;
mod record;
mod tools;

use std::path::Path;

use super::{Dialect, RecordContent};
use crate::diagnostic::Diagnostic;
use crate::entry::Entry;
use crate::layout::{self, FileKind, Problem};
use crate::line::Line;
use crate::reading::EntryReading;
use crate::record::{Media, Opened};
use crate::session::Builder;
use crate::tool::ToolSpec;
use crate::usage::Tokens;

pub(crate) use record::said;

/// Claude Code.
#[derive(Debug, Clone, Copy)]
pub struct ClaudeCode;

impl Dialect for ClaudeCode {
    const NAME: &'static str = "Claude Code";
    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn classify_file(rel: &Path) -> FileKind {
        layout::classify(rel)
    }

    fn take_line(builder: &mut Builder, line: Line<'_>) {
        builder.line(line);
    }

    fn each_entry<'a>(
        line: Line<'a>,
        odd: &mut Vec<Diagnostic>,
        each: impl FnMut(EntryReading<'a>),
    ) {
        EntryReading::each_in_line(line, odd, each);
    }

    fn read_content(
        opened: &Opened<'_>,
        node: usize,
        entry: &[u8],
    ) -> Result<RecordContent, Problem> {
        let entry = Entry::of(entry, 0);
        Ok(RecordContent {
            body: record::BodyReader(opened).body(node, &entry)?,
            model: record::model(&entry),
            permission_mode: record::permission_mode(&entry),
            tokens: record::tokens(&entry),
        })
    }

    fn model_of(entry: &[u8]) -> Option<String> {
        record::model(&Entry::of(entry, 0))
    }

    fn permission_mode_of(entry: &[u8]) -> Option<String> {
        record::permission_mode(&Entry::of(entry, 0))
    }

    fn media_at(entry: &[u8], call: Option<&str>, at: usize) -> Option<Media> {
        record::media_at(entry, call, at)
    }

    fn picture_at(entry: &[u8], at: usize) -> Option<Media> {
        record::picture(entry, at)
    }

    fn result_text(entry: &[u8], call: &str) -> Option<String> {
        record::output(entry, call)
    }

    fn spoken_text(entry: &EntryReading<'_>) -> Option<String> {
        record::said(entry.entry())
    }

    fn tokens_of(entry: &[u8]) -> Option<Tokens> {
        EntryReading::from_bytes(entry).response_tokens()
    }
}

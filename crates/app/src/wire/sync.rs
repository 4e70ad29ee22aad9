//! `sync --json`.

use std::path::Path;

use serde::Serialize;
use store::sync::Report;

/// One line: what a sync did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "type", rename = "sync")]
pub struct Sync {
    /// Files in the Claude folders.
    files: usize,
    /// Files that are new.
    new: usize,
    /// Files that have grown.
    grown: usize,
    /// Files whose content is another one; the old one stays in the store.
    rewritten: usize,
    /// Files with another name.
    moved: usize,
    /// Files that are there no more; what they held stays in the store.
    gone: usize,
    /// Bytes read from the Claude folders.
    bytes_read: u64,
    /// Bytes that were new.
    bytes_kept: u64,
    /// Transcripts that were read into the catalog and the index.
    transcripts: usize,
}

impl From<&Report> for Sync {
    fn from(report: &Report) -> Self {
        Self {
            files: report.files,
            new: report.new,
            grown: report.grown,
            rewritten: report.rewritten,
            moved: report.moved,
            gone: report.gone,
            bytes_read: report.bytes_read,
            bytes_kept: report.bytes_kept,
            transcripts: report.read,
        }
    }
}

/// One line of `sync --dry-run`: a file that would be looked at.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "sync_planned")]
pub struct Planned {
    /// `new`, `grown`, `changed`, `moved` or `gone`.
    change: &'static str,
    /// The file.
    path: String,
    /// Bytes to read.
    bytes: u64,
}

impl Planned {
    /// One file.
    pub fn new(change: &'static str, path: &Path, bytes: u64) -> Self {
        Self { change, path: path.display().to_string(), bytes }
    }
}

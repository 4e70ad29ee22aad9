//! Lines of `recount archive --json`.

use std::path::Path;

use serde::Serialize;
use store::archive::{Compacted, Damage, Report, Status};
use store::catalog::SessionRow;
use store::folder::Sizes;

use super::time;

/// What is kept, by `archive status`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "archive_status")]
pub struct ArchiveStatus {
    /// The folder of the store.
    folder: String,
    /// Files that are kept.
    files: u64,
    /// Those of them that were gone from disk at the last sync.
    gone: u64,
    /// Contents of them: a file that was rewritten has several.
    generations: u64,
    /// Bytes of the sources, each file as it was last seen.
    bytes_current: u64,
    /// Bytes of the sources with all older contents.
    bytes_all: u64,
    /// Packs, in which the bytes are compressed together.
    packs: u64,
    /// Packs that a compaction would merge.
    small_packs: u64,
    /// Long base64 that is kept beside the packs, each once.
    payloads: u64,
    /// Bytes of the archive on disk.
    archive_bytes: u64,
    /// Bytes of the catalog on disk.
    catalog_bytes: u64,
    /// Bytes of the index on disk.
    index_bytes: u64,
}

impl ArchiveStatus {
    /// The store in `folder`.
    pub fn new(folder: &Path, status: &Status, sizes: Sizes) -> Self {
        Self {
            folder: folder.display().to_string(),
            files: status.files,
            gone: status.gone,
            generations: status.generations,
            bytes_current: status.bytes_current,
            bytes_all: status.bytes_all,
            packs: status.packs,
            small_packs: status.small_packs,
            payloads: status.payloads,
            archive_bytes: sizes.archive,
            catalog_bytes: sizes.catalog,
            index_bytes: sizes.index,
        }
    }
}

/// Something that is damaged, by `archive verify`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "archive_damage")]
pub struct ArchiveDamage<'a> {
    /// What is wrong.
    detail: &'a str,
    /// Some of the files that are touched by it, by their paths below the Claude folder.
    files: &'a [String],
}

impl<'a> From<&'a Damage> for ArchiveDamage<'a> {
    fn from(damage: &'a Damage) -> Self {
        Self { detail: &damage.detail, files: &damage.files }
    }
}

/// What was looked at, the last line of `archive verify`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "archive_verified")]
pub struct ArchiveVerified {
    /// Contents of files.
    generations: u64,
    /// Pieces of contents.
    pieces: u64,
    /// Packs.
    packs: u64,
    /// Payloads.
    payloads: u64,
    /// Bytes that came back from the packs.
    bytes: u64,
    /// How much is damaged: as many lines stand before this one.
    damage: usize,
}

impl From<&Report> for ArchiveVerified {
    fn from(report: &Report) -> Self {
        Self {
            generations: report.generations,
            pieces: report.pieces,
            packs: report.packs,
            payloads: report.payloads,
            bytes: report.bytes,
            damage: report.damage.len(),
        }
    }
}

/// What `archive compact` did.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "archive_compacted")]
pub struct ArchiveCompacted {
    /// Bytes of the archive on disk before.
    bytes_before: u64,
    /// Bytes of the archive on disk now.
    bytes_after: u64,
    /// Packs that were written.
    written: u64,
    /// Packs that were dropped.
    dropped: u64,
    /// Packs that could not be made, since what belongs in them is damaged.
    skipped: u64,
}

impl ArchiveCompacted {
    /// A compaction that changed the size of the archive.
    pub fn new(before: u64, after: u64, done: &Compacted) -> Self {
        Self {
            bytes_before: before,
            bytes_after: after,
            written: done.written,
            dropped: done.dropped,
            skipped: done.skipped,
        }
    }
}

/// A session whose transcript is only in the store, by `archive list`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "archived_session")]
pub struct ArchivedSession<'a> {
    /// Its id.
    session: &'a str,
    /// Its title.
    title: Option<&'a str>,
    /// The folder it began in.
    project: Option<&'a str>,
    /// The last entry's time.
    ended: Option<String>,
    /// Files that are kept of it, side files included.
    files: usize,
    /// Bytes of them.
    size: u64,
}

impl<'a> ArchivedSession<'a> {
    /// A session with so many files and bytes.
    pub fn new(session: &'a SessionRow, files: usize, size: u64) -> Self {
        Self {
            session: session.id.as_str(),
            title: session.title.as_deref(),
            project: session.project.as_deref(),
            ended: time(session.last),
            files,
            size,
        }
    }
}

/// A session that Claude Code will delete, by `archive expiring`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "expiring_session")]
pub struct ExpiringSession<'a> {
    /// Its id.
    pub session: &'a str,
    /// Its title; `null` also where the store does not know it.
    pub title: Option<&'a str>,
    /// The folder it began in; `null` also where the store does not know it.
    pub project: Option<&'a str>,
    /// Its transcript.
    pub file: String,
    /// Bytes of the transcript.
    pub size: u64,
    /// When it will be old enough; it is deleted at the first start of Claude Code after that.
    pub deleted: Option<String>,
    /// Whether all of the transcript is in the store.
    pub kept: bool,
}

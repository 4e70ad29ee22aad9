//! Adding to the index. One process at a time, by the lock file of the engine; nobody waits.

use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, INDEX_WRITER_LOCK, MmapDirectory};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{TantivyDocument, Term};

use super::flow::{Counted, Flow};
use super::schema::{self, Fields};
use super::{Doc, Index, IndexError, failure};

/// How a writer works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterOptions {
    /// Threads that build the index; one is best for a few documents.
    pub threads: usize,
    /// What each thread may hold in memory before it writes, at least 15 MB.
    pub bytes_per_thread: usize,
}

impl WriterOptions {
    /// For a few documents: the commit is what takes time.
    pub const SMALL: Self = Self { threads: 1, bytes_per_thread: 15_000_000 };
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self { threads: 2, bytes_per_thread: 25_000_000 }
    }
}

/// Adds to the index and takes away. What was not committed is forgotten.
pub struct IndexWriter {
    path: PathBuf,
    fields: Fields,
    inner: tantivy::IndexWriter<Counted>,
    flow: Flow,
}

/// Refuses if another process writes.
pub(super) fn check_unlocked(path: &Path) -> Result<(), IndexError> {
    let lock = |directory: MmapDirectory| directory.acquire_lock(&INDEX_WRITER_LOCK);
    match MmapDirectory::open(path).map(lock) {
        Ok(Err(tantivy::directory::error::LockError::LockBusy)) => Err(IndexError::Locked),
        _ => Ok(()),
    }
}

/// Segments of about the same size become one when there are six of them; a size is four times
/// the next smaller one. A million documents are then in some twenty segments at most, and a few
/// new ones are merged only with the few of the last times.
fn merge_policy() -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(6);
    policy.set_min_layer_size(2_000);
    policy.set_level_log_size(2.0);
    policy.set_del_docs_ratio_before_merge(0.3);
    policy
}

impl Index {
    /// The writer, or [`IndexError::Locked`] at once.
    pub fn writer(&self, options: WriterOptions) -> Result<IndexWriter, IndexError> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(options.threads)
            .memory_budget_per_thread(options.bytes_per_thread)
            .num_merge_threads(1)
            .build();
        let inner = self.inner.writer_with_options(options).map_err(|e| failure(&self.path, e))?;
        inner.set_merge_policy(Box::new(merge_policy()));
        let (path, flow) = (self.path.clone(), Flow::default());
        Ok(IndexWriter { path, fields: self.fields, inner, flow })
    }
}

impl IndexWriter {
    /// Adds a part of an entry.
    pub fn add(&mut self, doc: Doc<'_>) -> Result<(), IndexError> {
        let fields = &self.fields;
        let mut document = TantivyDocument::default();
        document.add_u64(fields.file, doc.file);
        document.add_u64(fields.entry, doc.entry.into());
        document.add_u64(fields.turn, doc.turn.into());
        document.add_u64(fields.role, doc.role as u64);
        if let Some(time) = doc.time {
            document.add_i64(fields.time, schema::seconds(time));
        }
        if let Some(tool) = doc.tool {
            document.add_text(fields.tool, tool.to_lowercase());
        }
        if let Some(path) = doc.path {
            document.add_text(fields.path, schema::reversed(path));
        }
        if doc.is_error {
            document.add_u64(fields.error, 1);
        }
        document.add_text(fields.text(doc.role), doc.text);
        let document = self.flow.pass(document, doc.text.len());
        self.inner.add_document(document).map(drop).map_err(|error| {
            // It says only that its threads have ended; a commit says why.
            let why = self.inner.prepare_commit().err().unwrap_or(error);
            failure(&self.path, why)
        })
    }

    /// Takes away everything that was added for a file until now.
    pub fn remove_file(&mut self, file: u64) {
        self.inner.delete_term(Term::from_field_u64(self.fields.file, file));
    }

    /// Makes it visible and durable, under the catalog's generation.
    pub fn commit(&mut self, generation: u64) -> Result<(), IndexError> {
        let path = &self.path;
        let mut prepared = self.inner.prepare_commit().map_err(|error| failure(path, error))?;
        prepared.set_payload(&generation.to_string());
        prepared.commit().map(drop).map_err(|error| failure(path, error))
    }

    /// Forgets what was added since the last commit.
    pub fn rollback(&mut self) -> Result<(), IndexError> {
        self.inner.rollback().map(drop).map_err(|error| failure(&self.path, error))
    }

    /// Waits until merging is done. A writer that is dropped instead leaves more segments, which
    /// the next one merges.
    pub fn finish(self) -> Result<(), IndexError> {
        let path = self.path;
        self.inner.wait_merging_threads().map_err(|error| failure(&path, error))
    }
}

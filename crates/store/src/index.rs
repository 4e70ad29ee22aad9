//! The text index: which parts of which entries hold a word.
//!
//! One document for each part of an entry. No text is kept: a match names file and entry, and
//! the words are read from the archive. Everything here can be made again, so an index that
//! can't be opened is not an error but work to do ([`IndexState::Rebuild`]).
//!
//! Text is in one of two fields. What was **said** (prompt, answer, thinking, summary, title)
//! has positions, so phrases are found. What was **done** (call, output) has none: they would be
//! a third of the index. A phrase there is looked for as its words, and then in the text itself
//! if the [`Scope`] can give it.

mod flow;
mod pool;
mod rank;
mod schema;
mod search;
mod snippet;
mod still;
mod telling;
mod unit;
mod write;

use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::{IndexReader, ReloadPolicy, TantivyError};
use transcript::time::Time;

use crate::folder::{create_private, is_full, is_read_only};
use crate::query::Role;
pub use rank::Explain;
pub(crate) use schema::reversed;
pub use search::{By, Everything, Found, Match, Options, Rung, Scope, WordUse};
pub use snippet::{Marker, Snippet};
pub(crate) use snippet::{around, contains_phrase};
pub(crate) use telling::Tally;
pub(crate) use unit::phrase;
pub use write::{IndexWriter, WriterOptions};

/// Grows with every change of the schema or of the tokenizer; part of the folder's name.
pub const VERSION: u32 = 4;

/// One part of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'a> {
    /// The file's number in the catalog.
    pub file: u64,
    /// The entry's number in its file.
    pub entry: u32,
    /// The turn the entry belongs to.
    pub turn: u32,
    /// What the text is.
    pub role: Role,
    /// When it was written.
    pub time: Option<Time>,
    /// The tool, of a call or an output.
    pub tool: Option<&'a str>,
    /// The file it is about.
    pub path: Option<&'a str>,
    /// Whether it tells of a failure.
    pub is_error: bool,
    /// The words.
    pub text: &'a str,
}

/// What was found where the index should be.
pub enum IndexState {
    /// An index to search in and to add to.
    Ready(Box<Index>),
    /// None that can be used: make it new with [`Index::create`] and add everything.
    Rebuild(Rebuild),
}

/// Why an index must be made new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuild {
    /// There is none.
    Missing,
    /// It was written by a version that did it otherwise.
    OtherVersion,
    /// It can't be read.
    Damaged,
}

/// Why the index did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Another process writes.
    #[error("another process is writing the index")]
    Locked,
    /// Its files contradict each other.
    #[error("the index {} is damaged: {source}", path.display())]
    Damaged {
        /// The index's folder.
        path: PathBuf,
        /// What was found.
        source: Box<TantivyError>,
    },
    /// No space is left.
    #[error("no space is left for the index {}", path.display())]
    Full {
        /// The index's folder.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The name of the index's folder in the store's folder.
pub(crate) fn name() -> String {
    format!("index-v{VERSION}")
}

/// An index that can be searched.
pub struct Index {
    path: PathBuf,
    inner: tantivy::Index,
    reader: IndexReader,
    fields: schema::Fields,
}

impl Index {
    /// The folder of this version's index in the store's folder.
    pub fn folder(store: &Path) -> PathBuf {
        store.join(name())
    }

    /// Opens the index in the store's folder. Never waits for a writer.
    pub fn open(store: &Path) -> Result<IndexState, IndexError> {
        let path = Self::folder(store);
        if !path.join("meta.json").exists() {
            return Ok(IndexState::Rebuild(Rebuild::Missing));
        }
        let open = |is_still| {
            let directory = MmapDirectory::open(&path)?;
            let inner = match is_still {
                true => tantivy::Index::open(still::Still(directory)),
                false => tantivy::Index::open(directory),
            };
            Self::with(path.clone(), inner?)
        };
        let opened = open(false).or_else(|error| match failure(&path, error.clone()) {
            IndexError::Io { source, .. } if is_read_only(&source) => open(true),
            _ => Err(error),
        });
        match opened {
            Ok(Some(index)) => Ok(IndexState::Ready(Box::new(index))),
            Ok(None) | Err(TantivyError::IncompatibleIndex(_)) => {
                Ok(IndexState::Rebuild(Rebuild::OtherVersion))
            }
            Err(error) => match failure(&path, error) {
                IndexError::Damaged { .. } => Ok(IndexState::Rebuild(Rebuild::Damaged)),
                error => Err(error),
            },
        }
    }

    /// Makes an empty index; what was there is deleted. Refused while another process writes.
    pub fn create(store: &Path) -> Result<Self, IndexError> {
        let path = Self::folder(store);
        let io = |source: std::io::Error| failure(&path, source.into());
        if path.join("meta.json").exists() {
            write::check_unlocked(&path)?;
        }
        if path.exists() {
            std::fs::remove_dir_all(&path).map_err(io)?;
        }
        create_private(&path).map_err(io)?;
        let (schema, _) = schema::schema();
        let created = MmapDirectory::open(&path)
            .map_err(TantivyError::from)
            .and_then(|directory| {
                tantivy::Index::builder().schema(schema).open_or_create(directory)
            })
            .and_then(|inner| Self::with(path.clone(), inner));
        let index = created.map_err(|error| failure(&path, error))?;
        Ok(index.expect("a new index has the schema it was made with"))
    }

    /// None if the schema is another one.
    fn with(path: PathBuf, inner: tantivy::Index) -> tantivy::Result<Option<Self>> {
        let (schema, fields) = schema::schema();
        if inner.schema() != schema {
            return Ok(None);
        }
        schema::register(&inner);
        let reader = inner.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Some(Self { path, inner, reader, fields }))
    }

    /// The catalog's generation at the last commit.
    pub fn generation(&self) -> Result<Option<u64>, IndexError> {
        let meta = self.inner.load_metas().map_err(|error| failure(&self.path, error))?;
        Ok(meta.payload.and_then(|text| text.parse().ok()))
    }

    /// As [`Index::generation`], of the index in the store's folder; `None` if there is none.
    /// Nothing is opened for it: it is asked before every answer.
    pub fn generation_at(store: &Path) -> Option<u64> {
        #[derive(serde::Deserialize)]
        struct Meta {
            payload: String,
        }
        let meta = std::fs::read(Self::folder(store).join("meta.json")).ok()?;
        let Meta { payload } = serde_json::from_slice(&meta).ok()?;
        payload.parse().ok()
    }

    /// Sees what was committed since it was opened.
    pub fn reload(&self) -> Result<(), IndexError> {
        self.reader.reload().map_err(|error| failure(&self.path, error))
    }

    /// How many documents it has.
    pub fn documents(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// How many pieces it is in; many make searching slower.
    pub fn segments(&self) -> usize {
        self.reader.searcher().segment_readers().len()
    }

    /// Reads every byte; the files whose checksum is wrong.
    pub fn verify(&self) -> Result<Vec<PathBuf>, IndexError> {
        let damaged = self.inner.validate_checksum().map_err(|e| failure(&self.path, e))?;
        Ok(damaged.into_iter().collect())
    }
}

/// What an error of the engine means here.
fn failure(path: &Path, error: TantivyError) -> IndexError {
    let io = |source: &std::io::Error| {
        let path = path.to_owned();
        match source.kind() {
            _ if is_full(source) => IndexError::Full { path },
            kind => IndexError::Io { path, source: std::io::Error::new(kind, source.to_string()) },
        }
    };
    match &error {
        // Its threads hand on what the system said as text.
        error if error.to_string().contains("No space left on device") => {
            IndexError::Full { path: path.to_owned() }
        }
        TantivyError::LockFailure(LockError::LockBusy, _) => IndexError::Locked,
        TantivyError::LockFailure(LockError::IoError(source), _) => io(source),
        TantivyError::IoError(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            match source.kind() {
                std::io::ErrorKind::InvalidData => {
                    IndexError::Damaged { path: path.to_owned(), source: Box::new(error) }
                }
                _ => io(source),
            }
        }
        _ => IndexError::Damaged { path: path.to_owned(), source: Box::new(error) },
    }
}

#[cfg(test)]
mod tests;

//! Why a question has no answer. Messages and hints for people are written at the doors.

use std::io;
use std::path::PathBuf;

use store::archive::ArchiveError;
use store::catalog::CatalogError;
use store::find::PatternError;
use store::index::IndexError;
use store::meaning::InstallError;
use store::note::NoteError;
use store::query::QueryError;
use store::sync::SyncError;
use store::table::ask::AskError;
use store::table::keep::TablesError;
use transcript::layout::Problem;

use crate::home::HomeError;
use crate::name::NameError;

/// Why a question has no answer.
#[derive(Debug)]
pub enum HistoryError {
    /// There is no Claude folder.
    Home(HomeError),
    /// A name stands for nothing.
    Name(NameError),
    /// A file that the answer needs can't be read.
    Read(Problem),
    /// The store can't be used.
    Store(StoreError),
    /// A file is not a price table.
    Prices(PathBuf, report::price::TableError),
}

/// Why the store gives no answer.
#[derive(Debug)]
pub enum StoreError {
    /// It can't be brought up to date.
    Sync(SyncError),
    /// The query is wrong: the query, and where.
    Query(String, QueryError),
    /// The regular expression is wrong: the expression, and where.
    Pattern(String, PatternError),
    /// Nothing has been archived yet.
    Missing(PathBuf),
    /// The archive is there, but not the catalog that is made from it.
    NoCatalog(PathBuf),
    /// Parts of the archive are damaged; each has been reported.
    Damage {
        /// The archive.
        path: PathBuf,
        /// How many.
        places: usize,
    },
    /// The embedding model can't be installed or removed.
    Model(InstallError),
    /// A note can't be read or written.
    Note(NoteError),
    /// The question needs the embedding model, and it is not installed.
    NoModel,
    /// The embedding model could not be downloaded: why curl could not be run, if that is the
    /// reason.
    NotFetched(Option<io::Error>),
    /// The tables can't be made or read.
    Tables(TablesError),
    /// An SQL query has no answer.
    Ask(AskError),
    /// There is no such table.
    NoTable(String),
    /// Imported stores accept session ids only.
    ByIdOnly,
}

impl From<TablesError> for StoreError {
    fn from(error: TablesError) -> Self {
        Self::Tables(error)
    }
}

impl From<QueryError> for StoreError {
    fn from(error: QueryError) -> Self {
        Self::Query(String::new(), error)
    }
}

impl From<StoreError> for HistoryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<HomeError> for HistoryError {
    fn from(error: HomeError) -> Self {
        Self::Home(error)
    }
}

impl From<NameError> for HistoryError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<Problem> for HistoryError {
    fn from(problem: Problem) -> Self {
        Self::Read(problem)
    }
}

macro_rules! from_sync_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for HistoryError {
            fn from(error: $error) -> Self {
                Self::Store(StoreError::Sync(error.into()))
            }
        }
    )*};
}

from_sync_errors!(SyncError, ArchiveError, CatalogError, IndexError);

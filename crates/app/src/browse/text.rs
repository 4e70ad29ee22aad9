//! A session that is read: whole, or for a moment only its end or its file alone.

use std::path::Path;
use std::sync::Arc;

use transcript::layout::Found;
use transcript::library::read_session;
use transcript::record::{Detail, Opened};
use transcript::session::Session;
use transcript::source::Source;

use crate::commands::show::end;
use crate::error::CliError;
use crate::serve::Open;
use ask::sessions::Family;

/// So many records are read of the end of a large file.
const END: usize = 200;

/// A session that is read.
pub enum Text {
    /// With all that is known of it.
    Whole(Arc<Open>),
    /// Its file alone, before all files have been read; of a large one only the end.
    Alone {
        /// What it says.
        session: Box<Session>,
        /// The file.
        sources: Vec<Source>,
        /// Only its end.
        is_end: bool,
    },
}

impl Text {
    /// A file alone, quickly.
    pub fn alone(path: &Path) -> Result<Self, CliError> {
        if let Some(end) = end::read(path, END, Detail::Work)? {
            let session = Box::new(end.session);
            return Ok(Self::Alone { session, sources: end.sources.into(), is_end: true });
        }
        let session = Box::new(read_session(&Found::lone(path)?, None)?);
        Ok(Self::Alone { session, sources: vec![Source::open(path)?], is_end: false })
    }

    /// What its entries make.
    pub fn session(&self) -> &Session {
        match self {
            Self::Whole(open) => &open.session,
            Self::Alone { session, .. } => session,
        }
    }

    /// Its files.
    pub fn sources(&self) -> &[Source] {
        match self {
            Self::Whole(open) => &open.sources,
            Self::Alone { sources, .. } => sources,
        }
    }

    /// Whether only the end was read.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Alone { is_end: true, .. })
    }

    /// Its records.
    pub fn opened(&self) -> Opened<'_> {
        Opened::new(self.session(), self.sources(), self.is_end())
    }

    /// The sessions around it.
    pub fn family(&self) -> Option<Family<'_>> {
        match self {
            Self::Whole(open) => Some(Family { library: &open.shelf.library, item: open.item() }),
            Self::Alone { .. } => None,
        }
    }
}

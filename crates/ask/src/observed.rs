//! What happened while questions were answered, as data: each door shows it in its own way.

use std::time::Duration;

use store::sync::SyncError;
use store::table::keep::TablesError;
use transcript::diagnostic::{Diagnostic, DiagnosticKind};
use transcript::layout::Problem;
use transcript::time::Time;

/// How current the store was when it answered.
#[derive(Debug, Default)]
pub enum Freshness {
    /// It had everything that is on disk.
    #[default]
    Current,
    /// Another process was syncing: the newest lines may be missing.
    Syncing,
    /// A sync would have taken too long to wait for.
    Behind {
        /// How much has not been read yet.
        bytes: u64,
        /// When the store was last current.
        since: Time,
    },
    /// Nothing can be written to it, so new lines are missing.
    Unwritable(SyncError),
}

/// What happened while questions were answered.
#[derive(Debug, Default)]
pub struct Observed {
    /// Files that could not be read. The answer does without them.
    pub skipped: Vec<Problem>,
    /// How current the answer of the store is.
    pub freshness: Freshness,
    /// Why the answer was made without the store, if it was.
    pub store_error: Option<SyncError>,
    /// Why the tables could not be brought up to date, if they could not.
    pub tables_error: Option<TablesError>,
    /// Places that hold no readable entry.
    pub damaged_places: usize,
    /// Files with such places.
    pub damaged_files: usize,
    /// Transcripts that were read from their first byte to their last.
    pub files_read: usize,
    /// The bytes of these.
    pub bytes_read: u64,
    /// Sessions whose files only the store has.
    pub archived_sessions: usize,
    /// How long each step took.
    pub steps: Vec<(&'static str, Duration)>,
}

impl Observed {
    /// Remembers a file that could not be read, once: it may be met when files are listed and
    /// again when they are read.
    pub fn skip(&mut self, problem: Problem) {
        if self.skipped.iter().all(|known| known.path != problem.path) {
            self.skipped.push(problem);
        }
    }

    /// The value, or nothing and the reason among the skipped files.
    pub fn or_skip<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.skip(problem)).ok()
    }

    /// Counts what is damaged in a file.
    pub fn count_damage(&mut self, diagnostics: &[Diagnostic]) {
        self.add_damage(diagnostics.iter().filter(|d| is_damage(d.kind)).count());
    }

    /// As [`Observed::count_damage`], where only counts are known.
    pub fn count_damaged(&mut self, diagnostics: &[(DiagnosticKind, u64)]) {
        let damaged = diagnostics.iter().filter(|(kind, _)| is_damage(*kind));
        self.add_damage(damaged.map(|(_, count)| *count as usize).sum());
    }

    fn add_damage(&mut self, places: usize) {
        self.damaged_places += places;
        self.damaged_files += usize::from(places > 0);
    }

    /// Forgets the damage: the answer itself shows it.
    pub fn forget_damage(&mut self) {
        self.damaged_places = 0;
        self.damaged_files = 0;
    }

    /// Remembers that only the store has the files of this many sessions.
    pub fn note_archived(&mut self, sessions: usize) {
        self.archived_sessions = self.archived_sessions.max(sessions);
    }
}

fn is_damage(kind: DiagnosticKind) -> bool {
    use DiagnosticKind::{Damaged, NotAnObject, Nul, Unfinished};
    matches!(kind, Damaged | NotAnObject | Nul | Unfinished)
}

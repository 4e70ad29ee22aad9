//! The evidence for a question, quoted from earlier sessions.

use std::time::UNIX_EPOCH;

use report::filter::{Period, ProjectFilter};
use store::find::{self, Recalled, Room};
use store::index::By;
use store::query::{Date, Filters};
use transcript::time::Time;

use crate::error::HistoryError;
use crate::recount::Recount;

/// At most this many turns are quoted.
pub const MAX_TURNS: usize = 100;
/// Writing a file may end this long after the time of its entry.
const WRITE_DELAY_MS: i64 = 5_000;

/// What to find evidence for.
#[derive(Debug, Clone)]
pub struct RecallQuery {
    /// The question, in plain words.
    pub question: String,
    /// Only of these projects.
    pub project: Option<ProjectFilter>,
    /// Only of this period.
    pub period: Period,
    /// At most this many characters are quoted.
    pub max_chars: usize,
    /// Whether keywords, embeddings or both decide.
    pub by: By,
}

/// The evidence for a question.
#[derive(Debug)]
pub struct RecallAnswer {
    /// The evidence, best first; it says whether there is more than there was room for.
    pub recalled: Recalled,
    /// Whether embeddings were there to be used.
    pub has_embeddings: bool,
}

impl Recount {
    /// The evidence for a question. The running session is not quoted.
    pub fn recall(&mut self, recall: &RecallQuery) -> Result<RecallAnswer, HistoryError> {
        let only = query_filters(recall.project.as_ref(), recall.period);
        let mut query = find::question(&recall.question, only);
        self.exclude_asking(&mut query);
        let room = Room { characters: recall.max_chars, turns: MAX_TURNS };
        let by = recall.by;
        let (mut recalled, has_embeddings) = self.ask_index(|finder| {
            let has_embeddings = by != By::Words && finder.knows_meanings();
            Ok((finder.recall(&query, room, by)?, has_embeddings))
        })?;
        mark_changed_files(&mut recalled);
        Ok(RecallAnswer { recalled, has_embeddings })
    }
}

/// Files may have been changed outside of sessions: those on this computer are looked at.
fn mark_changed_files(recalled: &mut Recalled) {
    for file in recalled.evidence.iter_mut().flat_map(|evidence| &mut evidence.files) {
        let modified = std::fs::metadata(&file.path).and_then(|meta| meta.modified()).ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map(|time| time.as_millis() as i64);
        if let Some((modified, time)) = modified.zip(file.time) {
            file.is_changed_since |= modified > time.0 + WRITE_DELAY_MS;
        }
    }
}

/// A project and a period as filters of a query.
pub fn query_filters(project: Option<&ProjectFilter>, period: Period) -> Filters {
    let (project, folder) = match project {
        Some(ProjectFilter::Part(text)) => (vec![text.clone()], Vec::new()),
        Some(ProjectFilter::Folder(path)) => (Vec::new(), vec![path.clone()]),
        None => Default::default(),
    };
    let date = |time: Time| Date { text: String::new(), start: time, end: time };
    Filters {
        project,
        folder,
        after: period.since.map(date).into_iter().collect(),
        before: period.until.map(date).into_iter().collect(),
        ..Filters::default()
    }
}

//! Where something was said, done or printed.

use report::format::Clock;
use store::find::{Hit, Page, Pattern, SNIPPET};
use store::index::{By, Options, Rung};
use store::query::{Place, Query};
use store::sync::SyncError;
use transcript::layout::{FileKind, classify};
use transcript::time::Time;

use crate::error::{HistoryError, StoreError};
use crate::progress::Work;
use crate::recount::Recount;
use crate::time_arg::TimeArg;

/// What to search for.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// The words and filters, in the query language.
    pub text: String,
    /// A regular expression; `text` then has filters only.
    pub regex: Option<String>,
    /// Whether keywords, embeddings or both decide.
    pub by: By,
    /// At most this many hits.
    pub limit: usize,
    /// How many of the first hits to skip.
    pub offset: usize,
}

/// The hits of a search.
#[derive(Debug)]
pub struct SearchAnswer {
    /// Best first; of a regular expression the newest first.
    pub hits: Vec<Hit>,
    /// How the words were matched.
    pub rung: Rung,
    /// Whether there are hits after these.
    pub is_more: bool,
    /// How many turns a regular expression matches; unknown for words.
    pub matching_turns: Option<usize>,
    /// Whether embeddings were there to be used.
    pub has_embeddings: bool,
}

impl Recount {
    /// Searches all sessions, also those that Claude Code has deleted.
    pub fn search(&mut self, search: &SearchQuery) -> Result<SearchAnswer, HistoryError> {
        let dates = |text: &str| period_of_word(text, &self.clock);
        let wrong = |error| StoreError::Query(search.text.clone(), error);
        if let Some(pattern) = &search.regex {
            let query = Query::filters(&search.text, &dates).map_err(wrong)?;
            return self.search_regex(search, pattern, &query);
        }
        let mut query = Query::parse(&search.text, &dates).map_err(wrong)?;
        self.exclude_asking(&mut query);
        let SearchQuery { limit, offset, by, .. } = *search;
        let options = Options { limit, offset, by, ..Options::default() };
        let (found, has_embeddings) = self.ask_index(|finder| {
            let found = finder.search(&query, options, SNIPPET)?;
            Ok((found, by != By::Words && finder.knows_meanings()))
        })?;
        let (hits, rung, is_more) = (found.hits, found.rung, found.is_more);
        Ok(SearchAnswer { hits, rung, is_more, matching_turns: None, has_embeddings })
    }

    fn search_regex(
        &mut self,
        search: &SearchQuery,
        pattern: &str,
        query: &Query,
    ) -> Result<SearchAnswer, HistoryError> {
        let wrong = |error| StoreError::Pattern(pattern.to_owned(), error);
        let pattern = Pattern::new(pattern).map_err(wrong)?;
        self.current_store()?;
        let finder = self.open_index()?.ok_or(SyncError::Locked)?;
        let page = Page { limit: search.limit, offset: search.offset };
        let progress = self.progress();
        let scanned = finder.scan(&pattern, query, page, SNIPPET, &Work::new(&*progress))?;
        let is_more = search.offset + scanned.hits.len() < scanned.turns;
        Ok(SearchAnswer {
            hits: scanned.hits,
            rung: Rung::Words,
            is_more,
            matching_turns: Some(scanned.turns),
            has_embeddings: false,
        })
    }
}

/// The period that a word of a query stands for.
pub fn period_of_word(text: &str, clock: &Clock) -> Option<(Time, Time)> {
    let time: TimeArg = text.parse().ok()?;
    Some((time.start(clock), time.end(clock)))
}

/// The subagent whose transcript a hit is in.
pub fn subagent_of_hit(hit: &Hit) -> Option<String> {
    if hit.place != Place::Subagent {
        return None;
    }
    if let FileKind::Agent { agent, .. } = classify(&hit.path) {
        return Some(agent.as_str().to_owned());
    }
    let stem = hit.path.file_stem()?.to_str()?;
    stem.strip_prefix("agent-").map(str::to_owned)
}

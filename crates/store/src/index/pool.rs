//! The documents worth a closer look: a few hundred, the best by BM25 of each text field. The
//! engine skips whole blocks of documents that can't be among them, so filters that depend on
//! the catalog are asked only of those that can.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use tantivy::columnar::{Column, ColumnValues};
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight, EnableScoring, Query as EngineQuery};
use tantivy::schema::Field;
use tantivy::{DocId, Score, Searcher, SegmentReader, Term};
use transcript::time::Time;

use super::schema::{self, Fields};
use super::search::Scope;
use crate::query::{Query, Role};

/// A document that may be shown.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) segment: usize,
    pub(super) doc: DocId,
    pub(super) score: Score,
    pub(super) file: u64,
    pub(super) entry: u32,
    pub(super) turn: u32,
    pub(super) role: Role,
    /// In seconds.
    pub(super) time: Option<i64>,
    /// BM25 of each word.
    pub(super) words: Vec<Score>,
    /// That of words near each other, as they are in the query.
    pub(super) pairs: Score,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let rest = |c: &Self| (c.time, Reverse((c.file, c.entry, c.role)));
        self.score.total_cmp(&other.score).then_with(|| rest(self).cmp(&rest(other)))
    }
}

/// Counts for BM25 in one text field. How rare a word is, is counted over both fields, so that
/// scores of both can be compared; how long a text usually is, over this one alone.
pub(super) struct Statistics<'a> {
    pub(super) searcher: &'a Searcher,
    fields: Fields,
    documents: u64,
    /// Tokens a document has on the average.
    length: f64,
}

impl<'a> Statistics<'a> {
    pub(super) fn of(
        searcher: &'a Searcher,
        fields: Fields,
        field: Field,
    ) -> tantivy::Result<Self> {
        let (mut documents, mut own) = (0, 0);
        for role in Role::ALL {
            let count = searcher.doc_freq(&fields.role_term(*role))?;
            documents += count;
            own += if fields.text(*role) == field { count } else { 0 };
        }
        let tokens = Bm25StatisticsProvider::total_num_tokens(searcher, field)?;
        let length = tokens as f64 / own.max(1) as f64;
        Ok(Self { searcher, fields, documents: documents.max(1), length })
    }

    /// A term's weight; `None` if it is nowhere.
    pub(super) fn weight(&self, term: &Term) -> tantivy::Result<Option<Bm25Weight>> {
        let frequency = self.doc_freq(term)?;
        let weight =
            |n| Bm25Weight::for_one_term_without_explain(n, self.documents, self.length as Score);
        Ok((frequency > 0).then(|| weight(frequency)))
    }
}

impl Bm25StatisticsProvider for Statistics<'_> {
    /// As many as would be if all documents were of this field: the engine divides by them all.
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok((self.length * self.documents as f64) as u64)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let value = term.value();
        let is_text = [self.fields.said, self.fields.done].contains(&term.field());
        let Some(text) = value.as_str().filter(|_| is_text) else {
            return self.searcher.doc_freq(term);
        };
        let count = |field| self.searcher.doc_freq(&Term::from_field_text(field, text));
        Ok(count(self.fields.said)? + count(self.fields.done)?)
    }
}

/// What is read of each document.
struct Columns {
    file: Arc<dyn ColumnValues<u64>>,
    entry: Arc<dyn ColumnValues<u64>>,
    turn: Arc<dyn ColumnValues<u64>>,
    role: Arc<dyn ColumnValues<u64>>,
    time: Column<i64>,
}

impl Columns {
    fn of(reader: &SegmentReader) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let number =
            |name: &str| Ok::<_, tantivy::TantivyError>(fast.u64(name)?.first_or_default_col(0));
        Ok(Self {
            file: number("file")?,
            entry: number("entry")?,
            turn: number("turn")?,
            role: number("role")?,
            time: fast.i64("time")?,
        })
    }
}

/// Which documents are let in, and how many.
pub(super) struct Pool<'a> {
    pub(super) query: &'a Query,
    pub(super) scope: &'a dyn Scope,
    pub(super) size: usize,
}

impl Pool<'_> {
    /// The best by score. Whether a document is a copy is a question to the catalog, and for every
    /// one that stays a few come and go: it is asked when they have gone, of some more than are
    /// wanted, and only if too few are left of each as it comes.
    pub(super) fn best(
        &self,
        query: &dyn EngineQuery,
        statistics: &Statistics<'_>,
    ) -> tantivy::Result<Vec<Candidate>> {
        let most = self.size + self.size / 8;
        let mut found = self.best_of(query, statistics, most, |_| true)?;
        let are_more = found.len() == most;
        found.retain(|one| self.is_original(one));
        if are_more && found.len() < self.size {
            return self.best_of(query, statistics, self.size, |one| self.is_original(one));
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(self.size);
        Ok(found)
    }

    fn best_of(
        &self,
        query: &dyn EngineQuery,
        statistics: &Statistics<'_>,
        size: usize,
        takes: impl Fn(&Candidate) -> bool,
    ) -> tantivy::Result<Vec<Candidate>> {
        let searcher = statistics.searcher;
        let scoring = EnableScoring::enabled_from_statistics_provider(statistics, searcher);
        let weight = query.weight(scoring)?;
        let mut best = Best::new(size);
        for (segment, reader) in searcher.segment_readers().iter().enumerate() {
            let columns = Columns::of(reader)?;
            weight.for_each_pruning(best.threshold, reader, &mut |doc, score| {
                if !reader.is_deleted(doc) {
                    best.add(self.candidate(&columns, segment, doc, score).filter(&takes));
                }
                best.threshold
            })?;
        }
        Ok(best.into_vec())
    }

    /// The youngest: for queries without words.
    pub(super) fn youngest(
        &self,
        query: &dyn EngineQuery,
        searcher: &Searcher,
    ) -> tantivy::Result<Vec<Candidate>> {
        let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        let mut best = Best::new(self.size);
        for (segment, reader) in searcher.segment_readers().iter().enumerate() {
            let columns = Columns::of(reader)?;
            weight.for_each_no_score(reader, &mut |docs| {
                for &doc in docs.iter().filter(|doc| !reader.is_deleted(**doc)) {
                    let time = columns.time.first(doc);
                    if best.is_full() && time <= best.oldest() {
                        continue;
                    }
                    let candidate = self.candidate(&columns, segment, doc, 0.0);
                    best.add(candidate.filter(|one| self.is_original(one)));
                }
            })?;
        }
        Ok(best.into_vec())
    }

    fn candidate(
        &self,
        columns: &Columns,
        segment: usize,
        doc: DocId,
        score: Score,
    ) -> Option<Candidate> {
        let role = schema::role(columns.role.get_val(doc))?;
        let (only, except) = (&self.query.only, &self.query.except);
        let has_role = only.role.is_empty() || only.role.contains(&role);
        if !has_role || except.role.contains(&role) {
            return None;
        }
        let file = columns.file.get_val(doc);
        let time = columns.time.first(doc);
        if !self.scope.allows(file) || !self.allows_time(time) {
            return None;
        }
        let entry = columns.entry.get_val(doc) as u32;
        if !self.allows_place(file, entry) {
            return None;
        }
        let turn = columns.turn.get_val(doc) as u32;
        let (words, pairs) = (Vec::new(), 0.0);
        Some(Candidate { segment, doc, score, file, entry, turn, role, time, words, pairs })
    }

    fn is_original(&self, candidate: &Candidate) -> bool {
        !self.scope.is_copy(candidate.file, candidate.entry)
    }

    fn allows_time(&self, seconds: Option<i64>) -> bool {
        let time = seconds.map(|s| Time(s.saturating_mul(1000)));
        let except = &self.query.except;
        let has_except = !except.before.is_empty() || !except.after.is_empty();
        self.query.only.allows_time(time) && !(has_except && except.allows_time(time))
    }

    fn allows_place(&self, file: u64, entry: u32) -> bool {
        let (only, except) = (&self.query.only.place, &self.query.except.place);
        if only.is_empty() && except.is_empty() {
            return true;
        }
        let place = self.scope.place(file, entry);
        (only.is_empty() || only.contains(&place)) && !except.contains(&place)
    }
}

/// The best so far, the worst of them on top.
struct Best {
    heap: BinaryHeap<Reverse<Candidate>>,
    size: usize,
    threshold: Score,
}

impl Best {
    fn new(size: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(size + 1), size, threshold: Score::MIN }
    }

    fn is_full(&self) -> bool {
        self.heap.len() >= self.size
    }

    fn oldest(&self) -> Option<i64> {
        self.heap.peek().and_then(|Reverse(candidate)| candidate.time)
    }

    fn add(&mut self, candidate: Option<Candidate>) {
        let Some(candidate) = candidate else { return };
        self.heap.push(Reverse(candidate));
        if self.heap.len() > self.size {
            self.heap.pop();
        }
        if self.is_full() {
            self.threshold = self.heap.peek().map_or(Score::MIN, |Reverse(worst)| worst.score);
        }
    }

    fn into_vec(self) -> Vec<Candidate> {
        self.heap.into_iter().map(|Reverse(candidate)| candidate).collect()
    }
}

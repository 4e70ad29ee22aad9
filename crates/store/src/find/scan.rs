//! A regular expression over all texts: those the index is made of, read again from the archive.
//!
//! All cores take runs of files, each with connections of its own; nothing is held but one line,
//! a few packs and the turns that will be shown. The catalog's filters say which files are read
//! at all, and what it remembers of their entries says which stretch of each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender};

use hashbrown::HashSet;
use transcript::parallel::{WorkQueue, work_and_listen};
use transcript::time::Time;

use super::pattern::Pattern;
use super::sieve::Sieve;
use super::{Finder, FinderScope, Hit};
use crate::archive::{FileId, FileRow};
use crate::catalog;
use crate::index::{Scope, Snippet, around};
use crate::query::{Place, Query, Role};
use crate::sync::{SyncError, Watch};
use crate::text::{self, Part, each_part};

/// What a scan gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Scanned {
    /// The newest first, one for each turn.
    pub hits: Vec<Hit>,
    /// How many turns there are in all.
    pub turns: usize,
}

/// Which of the turns to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// At most so many.
    pub limit: usize,
    /// After so many newer ones.
    pub offset: usize,
}

/// Files are taken in runs of about so many bytes: neighbours lie in the same packs.
const RUN: u64 = 4 << 20;

/// A part that matches, ordered by time, and by place where that is the same.
#[derive(Debug)]
struct Spot {
    time: Option<Time>,
    file: i64,
    entry: u32,
    role: Role,
    snippet: Snippet,
}

impl Ord for Spot {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |spot: &Self| (spot.time, Reverse((spot.file, spot.entry)));
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Spot {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Spot {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Spot {}

/// The newest so far, the oldest of them on top.
struct Newest {
    heap: BinaryHeap<Reverse<Spot>>,
    most: usize,
    turns: usize,
}

impl Newest {
    fn add(&mut self, spot: Spot) {
        self.turns += 1;
        self.heap.push(Reverse(spot));
        if self.heap.len() > self.most {
            self.heap.pop();
        }
    }
}

impl Finder {
    /// The turns in which the pattern occurs; of `query` only the filters count.
    pub fn scan(
        &self,
        pattern: &Pattern,
        query: &Query,
        page: Page,
        width: usize,
        watch: &dyn Watch,
    ) -> Result<Scanned, SyncError> {
        let rows = self.rows(query)?;
        let bytes = |rows: &[FileRow]| rows.iter().map(|row| row.size).sum::<u64>();
        watch.begin(rows.len(), bytes(&rows));
        let runs = runs(&rows);
        let most = page.offset.saturating_add(page.limit);
        let newest = Mutex::new(Newest { heap: BinaryHeap::new(), most, turns: 0 });
        let scan = Scan { pattern, query, width, newest: &newest };
        let store = &self.store;
        let work = |queue: &WorkQueue<'_, &[FileRow]>| -> Result<(), SyncError> {
            // An archive belongs to one thread, and so does a catalog.
            let Some(finder) = Self::open(store)? else { return Ok(()) };
            finder.archive.keep_one_pack();
            while let Some((_, run)) = queue.take_next() {
                for row in *run {
                    scan.file(&finder, row)?;
                }
                watch.step(run.len(), bytes(run));
            }
            Ok(())
        };
        let worker = |queue: &WorkQueue<'_, &[FileRow]>, failed: &SyncSender<SyncError>| {
            if let Err(error) = work(queue) {
                queue.stop_handing_out();
                // Another one failed first.
                let _ = failed.send(error);
            }
        };
        let first_failure = |failed: Receiver<SyncError>| failed.recv().map_or(Ok(()), Err);
        work_and_listen(&runs, 1, worker, first_failure)?;
        scan.ghosts(self)?;
        let newest = newest.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut spots: Vec<Spot> = newest.heap.into_iter().map(|Reverse(spot)| spot).collect();
        spots.sort_unstable_by(|a, b| b.cmp(a));
        let everything = Query::default();
        let scope = FinderScope::new(self, &everything)?;
        let mut hits = Vec::new();
        for spot in spots.into_iter().skip(page.offset) {
            hits.extend(self.hit(&scope, spot)?);
        }
        Ok(Scanned { hits, turns: newest.turns })
    }

    /// The transcripts that the filters leave, in the order of the archive.
    fn rows(&self, query: &Query) -> Result<Vec<FileRow>, SyncError> {
        let scope = FinderScope::new(self, query)?;
        let owned = self.catalog.files()?.into_iter().filter(|file| file.session.is_some());
        let wanted: HashSet<i64> =
            owned.map(|file| file.id).filter(|id| scope.allows(*id as u64)).collect();
        let mut rows = self.archive.files()?;
        rows.retain(|row| wanted.contains(&row.file.0));
        Ok(rows)
    }

    fn hit(&self, scope: &FinderScope<'_>, spot: Spot) -> Result<Option<Hit>, SyncError> {
        let Spot { time, file, entry, role, snippet } = spot;
        let Some((id, _)) = self.catalog.owner(file)? else { return Ok(None) };
        let Some(session) = self.catalog.session(&id)? else { return Ok(None) };
        let file_of = match catalog::is_ghost(file) {
            true => self.catalog.typed(&id)?.first().map_or(file, |line| line.history),
            false => file,
        };
        let Some(row) = self.archive.file(FileId(file_of))? else { return Ok(None) };
        Ok(Some(Hit {
            session,
            path: row.path(),
            is_gone: row.gone,
            entry,
            turn: scope.spot(file as u64, entry).and_then(|spot| spot.turn),
            time,
            role,
            place: scope.place(file as u64, entry),
            snippet,
            explain: None,
        }))
    }
}

fn runs(rows: &[FileRow]) -> Vec<&[FileRow]> {
    let mut size = 0;
    let mut all = Vec::new();
    let mut first = 0;
    for (at, row) in rows.iter().enumerate() {
        size += row.size;
        if size >= RUN {
            all.push(&rows[first..=at]);
            (first, size) = (at + 1, 0);
        }
    }
    all.push(&rows[first..]);
    all
}

/// What is looked for, and what has been found.
struct Scan<'a> {
    pattern: &'a Pattern,
    query: &'a Query,
    width: usize,
    newest: &'a Mutex<Newest>,
}

impl Scan<'_> {
    fn file(&self, finder: &Finder, row: &FileRow) -> Result<(), SyncError> {
        let file = row.file.0;
        let Some(builder) = finder.catalog.state(file)? else { return Ok(()) };
        let everything = Query::default();
        let scope = FinderScope::new(finder, &everything)?;
        let sieve = Sieve::new(self.query);
        let wanted = |node: &transcript::session::Node| {
            let number = node.number;
            sieve.may_hold(node)
                && !scope.is_copy(file as u64, number)
                && sieve.allows_place(scope.place(file as u64, number))
        };
        let mut found = None;
        each_part(&finder.archive, row, &builder, wanted, |node, turn, part| {
            if found != Some(turn) && sieve.allows(&part) && self.pattern.is_in(&part.text) {
                found = Some(turn);
                self.found(file, node.number, node.time(), &part);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Prompts of sessions of which nothing else is left.
    fn ghosts(&self, finder: &Finder) -> Result<(), SyncError> {
        let scope = FinderScope::new(finder, self.query)?;
        let sieve = Sieve::new(self.query);
        for ghost in finder.catalog.ghosts(false)? {
            if !scope.allows(ghost.file as u64) || !sieve.allows_place(Place::Active) {
                continue;
            }
            for (line, number) in finder.catalog.typed(&ghost.session)?.iter().zip(1..) {
                let Some((prompt, text)) = text::typed(&finder.archive, line)? else { continue };
                let part = Part::said(Role::Prompt, text.into());
                let is_wanted = sieve.allows_time(prompt.time) && sieve.allows(&part);
                if is_wanted && self.pattern.is_in(&part.text) {
                    self.found(ghost.file, number, prompt.time, &part);
                }
            }
        }
        Ok(())
    }

    fn found(&self, file: i64, entry: u32, time: Option<Time>, part: &Part<'_>) {
        let marks = self.pattern.marks(&part.text, self.width);
        let snippet = around(&part.text, &marks, self.width);
        let spot = Spot { time, file, entry, role: part.role, snippet };
        // Of a thread that failed nothing is used.
        let newest = self.newest.lock();
        newest.unwrap_or_else(std::sync::PoisonError::into_inner).add(spot);
    }
}

//! Reading all files, each alone, in parallel, the largest first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashSet;

use super::card::Card;
use crate::id::SessionId;
use crate::layout::{FileKind, Found, Problem};
use crate::session::{Builder, Options, Session};
use crate::source::Source;

/// What reading all files gave.
#[derive(Debug)]
pub struct Scan<T> {
    /// One card per file that could be read, in the order of the files.
    pub cards: Vec<Card>,
    /// What the caller took from each file, in the same order.
    pub extras: Vec<Option<T>>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// Reads the transcripts among `files`. `take` sees each session before it is let go; `done` is
/// told the bytes of each file that is finished.
pub fn scan<T: Send>(
    files: Vec<Found>,
    take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
    done: impl Fn(u64) + Sync,
) -> Scan<T> {
    let files: Vec<Found> = files.into_iter().filter(|f| is_read(&f.kind)).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(files[i].size));
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, ReadCard<T>)>> = Mutex::new(Vec::new());
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| {
                while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = read_card(&files[index], &take);
                    done(files[index].size);
                    results.lock().expect("no reader panics").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no reader panics");
    results.sort_by_key(|(index, _)| *index);
    let mut scan = Scan { cards: Vec::new(), extras: Vec::new(), problems: Vec::new() };
    for (_, result) in results {
        match result {
            Ok((card, extra)) => {
                scan.cards.push(card);
                scan.extras.push(extra);
            }
            Err(problem) => scan.problems.push(problem),
        }
    }
    scan
}

type ReadCard<T> = Result<(Card, Option<T>), Problem>;

/// Sessions and subagents; what was set aside is not a session any more.
fn is_read(kind: &FileKind) -> bool {
    matches!(kind, FileKind::Session { .. } | FileKind::Agent { .. })
}

fn read_card<T>(
    found: &Found,
    take: &impl Fn(&Found, &Session, &Source) -> Option<T>,
) -> ReadCard<T> {
    let source = found.open()?;
    let session = finish(&source, found, None)?;
    let extra = take(found, &session, &source);
    Ok((Card::of(found.clone(), &session), extra))
}

/// The session that a file's own entries make.
pub fn read_session(found: &Found, copies: Option<&HashSet<u64>>) -> Result<Session, Problem> {
    finish(&found.open()?, found, copies)
}

fn finish(
    source: &Source,
    found: &Found,
    copies: Option<&HashSet<u64>>,
) -> Result<Session, Problem> {
    let mut builder = Builder::new();
    source.read_into(&mut builder)?;
    Ok(builder.finish(&Options { stem: found.stem(), copies }))
}

/// As [`read_session`], with the entries of the session that stand in other files.
pub(super) fn joined_session(
    cards: &[Card],
    own: Option<usize>,
    found_in: &[(usize, usize)],
    id: &SessionId,
    copies: Option<&HashSet<u64>>,
) -> Result<Session, Problem> {
    let mut builder = Builder::new();
    if let Some(own) = own {
        cards[own].found.open()?.read_into(&mut builder)?;
    }
    for &(file, _) in found_in {
        builder.adopt(id.as_str());
        cards[file].found.open()?.read_into(&mut builder)?;
    }
    Ok(builder.finish(&Options { stem: Some(id.as_str()), copies }))
}

impl super::Library {
    /// The whole session of an item, entries in other files included, and the files its nodes
    /// stand in: [`crate::session::Node::source`] counts through them.
    pub fn read(&self, item: &super::SessionItem) -> Result<(Session, Vec<Found>), Problem> {
        let copies = item.file.and_then(|f| self.copies_of(f));
        let session = joined_session(&self.cards, item.file, &item.found_in, &item.id, copies)?;
        let own = item.file.into_iter();
        let files = own.chain(item.found_in.iter().map(|(file, _)| *file));
        let mut found: Vec<Found> = files.map(|f| self.cards[f].found.clone()).collect();
        if item.file.is_none()
            && let Some(first) = found.first().cloned()
        {
            // Sources are counted from the own file, which this session does not have.
            found.insert(0, first);
        }
        Ok((session, found))
    }
}

//! Reading all files, each alone, in parallel, the largest first.

use hashbrown::HashSet;

use super::card::Card;
use crate::id::{Key, SessionId};
use crate::kept::Saved;
use crate::layout::{FileKind, Found, Problem};
use crate::parallel::map_largest_first;
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
    let read = |found: &Found| {
        let card = read_card(found, &take);
        done(found.size);
        card
    };
    let mut scan = Scan { cards: Vec::new(), extras: Vec::new(), problems: Vec::new() };
    for result in map_largest_first(&files, |found| found.size, read) {
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

/// What `take` sees in each of these files, in parallel, the largest first; in the order of the
/// files, with what could not be read.
pub fn take_each<T: Send>(
    files: &[&Found],
    take: impl Fn(&Found, &Session, &Source) -> Option<T> + Sync,
    done: impl Fn(u64) + Sync,
) -> (Vec<Option<T>>, Vec<Problem>) {
    let (mut all, mut problems) = (Vec::with_capacity(files.len()), Vec::new());
    let read = |found: &&Found| {
        let source = found.open()?;
        let taken = take(found, &finish(&source, found, None)?, &source);
        done(found.size);
        Ok(taken)
    };
    for taken in map_largest_first(files, |found| found.size, read) {
        all.push(taken.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        }));
    }
    (all, problems)
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
    let mut builder = saved_builder(found);
    source.read_into(&mut builder)?;
    Ok(builder.finish(&Options { stem: found.stem(), copies }))
}

/// What is known of a file before it is read.
fn saved_builder(found: &Found) -> Builder {
    found.saved.as_ref().and_then(Saved::builder).unwrap_or_default()
}

/// The facts of a file, with what is known of it before it is read.
pub(super) fn read_builder(found: &Found) -> Result<Builder, Problem> {
    let mut builder = saved_builder(found);
    found.open()?.read_into(&mut builder)?;
    Ok(builder)
}

/// The facts of a session of which entries are in other files. `read` gives those of a file.
pub(super) fn gather_builder<'f>(
    own: Option<&Found>,
    hosts: impl Iterator<Item = &'f Found>,
    id: &SessionId,
    mut read: impl FnMut(&Found) -> Result<Builder, Problem>,
) -> Result<Builder, Problem> {
    let mut builder = own.map_or_else(|| Ok(Builder::new()), &mut read)?;
    for host in hosts {
        let its = read(host)?.finish(&Options { stem: host.stem(), copies: None });
        builder.adopt(its.foreign_entries(id.as_str()));
        host.open()?.read_into(&mut builder)?;
    }
    Ok(builder)
}

impl super::Library {
    /// The entries of a session that other sessions' files hold, one session for each file.
    pub fn strays(&self, item: &super::SessionItem) -> Result<Vec<(Session, Found)>, Problem> {
        let of_file = |&(file, _): &(usize, usize)| {
            let found = &self.cards[file].found;
            let host = read_session(found, None)?;
            Ok((self.read_strays(item, &host, &found.open()?)?, found.clone()))
        };
        item.found_in.iter().map(of_file).collect()
    }

    /// The entries of a session in the file of another session, `host`, as a session. Entries that
    /// the session's own file has, too, are copies.
    pub fn read_strays(
        &self,
        item: &super::SessionItem,
        host: &Session,
        source: &Source,
    ) -> Result<Session, Problem> {
        let id = item.id.as_str();
        let mut builder = Builder::of_entries(host.foreign_entries(id));
        source.read_into(&mut builder)?;
        let own = item.file.map(|file| read_session(&self.cards[file].found, None)).transpose()?;
        let own = own.map(|own| own.keys().map(Key::short).collect());
        Ok(builder.finish(&Options { stem: Some(id), copies: own.as_ref() }))
    }

    /// The whole session of an item, entries in other files included, and the files its nodes
    /// stand in: [`crate::session::Node::source`] counts through them.
    pub fn read(&self, item: &super::SessionItem) -> Result<(Session, Vec<Found>), Problem> {
        let copies = item.file.and_then(|f| self.copies_of(f));
        let own = item.file.map(|file| &self.cards[file].found);
        let hosts = item.found_in.iter().map(|(file, _)| &self.cards[*file].found);
        let builder = gather_builder(own, hosts, &item.id, read_builder)?;
        let session = builder.finish(&Options { stem: Some(item.id.as_str()), copies });
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

//! All sessions, held in memory and brought up to date by reading only the files that changed.

use std::collections::HashMap;
use std::path::Path;

use report::list::Pulse;
use transcript::layout::{FileKind, Found};
use transcript::library::{self, Card, Library, Scan, SessionItem};
use transcript::session::Options;

use super::reader::Reader;
use crate::error::CliError;
use crate::run::Run;

/// So many changed files are read on; more than these are read anew, by all cores.
const FEW: usize = 8;

/// All sessions at one moment.
#[derive(Default)]
pub struct Shelf {
    /// They themselves.
    pub library: Library,
    /// Sessions of which only prompts are left.
    pub ghosts: Vec<SessionItem>,
    /// What is running.
    pub pulse: Pulse,
    /// Grows with every change.
    pub number: u64,
    /// Each file alone, before they were joined.
    cards: Vec<Card>,
}

impl Shelf {
    /// The sessions as they are now; `None` if they are as they were.
    pub fn read(run: &mut Run, before: &Shelf, reader: &Reader) -> Result<Option<Self>, CliError> {
        let pulse = run.recount.pulse()?;
        let mut files = run.recount.transcripts()?;
        files.retain(|f| matches!(f.kind, FileKind::Session { .. } | FileKind::Agent { .. }));
        let known: HashMap<&Path, &Card> =
            before.cards.iter().map(|card| (card.found.path.as_path(), card)).collect();
        let is_known = |found: &Found| {
            known.get(found.path.as_path()).is_some_and(|card| is_same(&card.found, found))
        };
        let (same, changed): (Vec<Found>, Vec<Found>) = files.into_iter().partition(is_known);
        let is_still = changed.is_empty() && same.len() == before.cards.len();
        if is_still && before.number > 0 && running(&pulse) == running(&before.pulse) {
            return Ok(None);
        }
        let mut cards: Vec<Card> = same
            .into_iter()
            .map(|found| {
                let mut card = known[found.path.as_path()].clone();
                card.found = found;
                card
            })
            .collect();
        cards.extend(read(run, changed, reader));
        // What was saved of a file holds only for this moment.
        cards.iter_mut().for_each(|card| card.found.saved = None);
        cards.sort_by(|a, b| a.found.rel.as_os_str().cmp(b.found.rel.as_os_str()));
        let extras = cards.iter().map(|_| None::<()>).collect();
        let scan = Scan { cards: cards.clone(), extras, problems: Vec::new() };
        let (mut library, _) = Library::join(scan);
        std::mem::take(&mut library.problems)
            .into_iter()
            .for_each(|problem| run.talk.skip(problem));
        let ghosts = run.recount.prompts_only(&library)?;
        Ok(Some(Self { library, ghosts, pulse, number: before.number + 1, cards }))
    }

    /// A session by its id, also one of which only prompts are left.
    pub fn session(&self, id: &str) -> Option<&SessionItem> {
        let ghost = || self.ghosts.iter().find(|ghost| ghost.id.as_str() == id);
        self.library.session(id).or_else(ghost)
    }
}

fn is_same(one: &Found, other: &Found) -> bool {
    one.size == other.size
        && one.modified == other.modified
        && one.inode == other.inode
        && one.kept.is_some() == other.kept.is_some()
}

fn running(pulse: &Pulse) -> Vec<&str> {
    pulse.running.iter().filter_map(|one| Some(one.session.as_ref()?.as_str())).collect()
}

fn read(run: &mut Run, changed: Vec<Found>, reader: &Reader) -> Vec<Card> {
    if changed.len() > FEW {
        let scan = library::scan(changed, |_, _, _| None::<()>, |_| ());
        scan.problems.into_iter().for_each(|problem| run.talk.skip(problem));
        return scan.cards;
    }
    let mut cards = Vec::new();
    for found in changed {
        if let Some(builder) = run.recount.or_skip(reader.read(&found)) {
            let session = builder.finish(&Options { stem: found.stem(), copies: None });
            cards.push(Card::of(found, &session));
        }
    }
    cards
}

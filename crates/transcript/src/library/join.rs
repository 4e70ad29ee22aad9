//! Cards into sessions: the steps of a join, over all files or over a group of them that nothing
//! outside is connected with.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::copies::Copies;
use super::{Card, Connection, Facts, SessionItem, Standing, scan};
use crate::id::SessionId;
use crate::layout::{FileKind, Found, Problem};
use crate::session::{Builder, Options, Session, TitleSource};

/// The title of a session and where it comes from.
pub(super) type Title = Option<(Box<str>, TitleSource)>;

/// A session whose entries are in the files of others, too.
pub(super) struct Scattered<'a> {
    pub(super) id: &'a SessionId,
    pub(super) own: Option<usize>,
    pub(super) found_in: &'a [(usize, usize)],
    pub(super) copies: Option<&'a Arc<HashSet<u64>>>,
}

/// Who reads files again where the cards alone do not say enough.
pub(super) trait ReadAgain {
    /// What a file has besides the entries that others own, and how many those are.
    fn count_owned(
        &mut self,
        at: usize,
        card: &Card,
        copies: &Arc<HashSet<u64>>,
    ) -> Result<(Facts, usize), Problem>;

    /// What a session says with its entries in other files.
    fn gather_entries(
        &mut self,
        cards: &[Arc<Card>],
        session: &Scattered<'_>,
    ) -> Result<(Facts, Title), Problem>;

    /// When the first entry of a file was written that is not among the `shared` ones.
    fn first_own_time(&mut self, _at: usize, card: &Card, shared: &HashSet<u64>) -> Option<i64> {
        super::copies::first_own_time(card, shared)
    }
}

/// Reads from the files, those with copies by a function.
pub(super) struct FilesReadAgain<F>(pub(super) F);

impl<F: FnMut(usize, &Card, &HashSet<u64>) -> Result<Session, Problem>> ReadAgain
    for FilesReadAgain<F>
{
    fn count_owned(
        &mut self,
        at: usize,
        card: &Card,
        copies: &Arc<HashSet<u64>>,
    ) -> Result<(Facts, usize), Problem> {
        Ok(count_session(&self.0(at, card, copies)?))
    }

    fn gather_entries(
        &mut self,
        cards: &[Arc<Card>],
        session: &Scattered<'_>,
    ) -> Result<(Facts, Title), Problem> {
        gather_with(cards, session, scan::read_builder)
    }
}

/// What a session owns, and how many copies it holds.
pub(super) fn count_session(session: &Session) -> (Facts, usize) {
    (Facts::of(session), session.nodes().iter().filter(|node| node.is_copy()).count())
}

/// What a session says with its entries in other files; `read` gives the facts of a file.
pub(super) fn gather_with(
    cards: &[Arc<Card>],
    session: &Scattered<'_>,
    read: impl FnMut(&Found) -> Result<Builder, Problem>,
) -> Result<(Facts, Title), Problem> {
    let own = session.own.map(|own| &cards[own].found);
    let hosts = session.found_in.iter().map(|(file, _)| &cards[*file].found);
    let builder = scan::gather_builder(own, hosts, session.id, read)?;
    let copies = session.copies.map(|copies| &**copies);
    let session = builder.finish(&Options { stem: Some(session.id.as_str()), copies });
    Ok((Facts::of(&session), session.title()))
}

/// Files, and the sessions that they make.
#[derive(Default)]
pub(super) struct Joining {
    pub(super) cards: Vec<Arc<Card>>,
    pub(super) sessions: Vec<SessionItem>,
    pub(super) problems: Vec<Problem>,
    pub(super) copies: Copies,
}

impl Joining {
    /// The sessions of these files; their order decides where nothing else does.
    pub(super) fn join_cards(cards: Vec<Arc<Card>>, again: &mut dyn ReadAgain) -> Self {
        let copies = Copies::find_copies(&cards, again);
        let mut joining = Self { cards, copies, ..Self::default() };
        joining.problems = joining.copies.count_owned(&mut joining.cards, again);
        joining.collect_sessions();
        joining.give_back(again);
        joining.join_agents();
        joining.connect();
        joining.name_sessions();
        for session in &mut joining.sessions {
            session.standing = standing(session, &joining.cards);
        }
        joining
    }

    fn position(&self, id: &SessionId) -> Option<usize> {
        self.sessions.binary_search_by(|s| s.id.cmp(id)).ok()
    }

    /// One session per id; of several files the one that says most is its own.
    fn collect_sessions(&mut self) {
        let mut files: HashMap<SessionId, Vec<usize>> = HashMap::new();
        for (index, card) in self.cards.iter().enumerate() {
            if let FileKind::Session { session, .. } = &card.found.kind {
                let id = card.id.clone().unwrap_or_else(|| session.clone());
                files.entry(id).or_default().push(index);
            }
        }
        self.sessions = files
            .into_iter()
            .map(|(id, mut files)| {
                files.sort_by_key(|&f| (std::cmp::Reverse(self.cards[f].fullness()), f));
                let card = &self.cards[files[0]];
                SessionItem {
                    id,
                    file: Some(files[0]),
                    also: files[1..].to_vec(),
                    found_in: Vec::new(),
                    facts: card.facts.clone(),
                    standing: Standing::Whole,
                    title: card.title.clone(),
                    copied: card.copied,
                    foreign: card.foreign(),
                    agents: Vec::new(),
                    connections: Vec::new(),
                }
            })
            .collect();
        self.sessions.sort_by(|a, b| a.id.cmp(&b.id));
    }

    /// Entries that stand in another session's file go back to their own session, which may have
    /// no file at all.
    fn give_back(&mut self, again: &mut dyn ReadAgain) {
        let mut strays: Vec<(SessionId, usize, usize)> = Vec::new();
        for (index, card) in self.cards.iter().enumerate() {
            for (id, count) in card.strays.iter().filter(|_| card.is_main()) {
                strays.push((id.clone(), index, *count));
            }
        }
        strays.sort();
        for group in strays.chunk_by(|a, b| a.0 == b.0) {
            let found_in: Vec<_> = group.iter().map(|(_, file, count)| (*file, *count)).collect();
            let at = self.position(&group[0].0);
            let own = at.and_then(|at| self.sessions[at].file);
            let copies = own.and_then(|own| self.copies.keys_of(own));
            let session = Scattered { id: &group[0].0, own, found_in: &found_in, copies };
            match again.gather_entries(&self.cards, &session) {
                Ok(said) => self.give(group[0].0.clone(), at, said, found_in),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    fn give(
        &mut self,
        id: SessionId,
        at: Option<usize>,
        (facts, title): (Facts, Title),
        found_in: Vec<(usize, usize)>,
    ) {
        let Some(at) = at else {
            let item = SessionItem {
                file: None,
                also: Vec::new(),
                found_in,
                facts,
                standing: Standing::Whole,
                title,
                copied: 0,
                foreign: 0,
                agents: Vec::new(),
                connections: Vec::new(),
                id,
            };
            let place = self.sessions.partition_point(|s| s.id < item.id);
            return self.sessions.insert(place, item);
        };
        let session = &mut self.sessions[at];
        (session.facts, session.title, session.found_in) = (facts, title, found_in);
    }

    fn connect(&mut self) {
        let mut found: Vec<(SessionId, Connection, SessionId)> = Vec::new();
        for session in &self.sessions {
            let Some(card) = session.file.map(|f| &self.cards[f]) else { continue };
            let mut add = |kind, other: Option<&str>| {
                if let Some(other) = other.filter(|o| *o != session.id.as_str()) {
                    found.push((session.id.clone(), kind, SessionId::new(other)));
                }
            };
            add(Connection::ContinuedIn, card.continued_in.as_deref());
            add(Connection::ForkedFrom, card.forked_from.as_deref());
            add(Connection::Lineage, card.lineage.as_deref());
            for former in &card.former {
                add(Connection::Continues, Some(former.as_str()));
            }
            let owner = card.copied_from.and_then(|o| self.cards[o].id.as_ref());
            add(Connection::CopiedFrom, owner.map(SessionId::as_str));
        }
        for (from, kind, to) in found {
            if let Some(at) = self.position(&from) {
                self.sessions[at].connections.push((kind, to));
            }
        }
    }

    /// Summaries name the leaf they describe; only the session that has the leaf is called so.
    fn name_sessions(&mut self) {
        let mut wanted: HashMap<u64, Vec<(usize, Box<str>)>> = HashMap::new();
        for (index, card) in self.cards.iter().enumerate() {
            for (leaf, text) in &card.foreign_summaries {
                wanted.entry(leaf.short()).or_default().push((index, text.clone()));
            }
        }
        if wanted.is_empty() {
            return;
        }
        let mut found: Vec<(usize, usize, Box<str>)> = Vec::new();
        for (owner, card) in self.cards.iter().enumerate() {
            // The summary of the last leaf comes first: it describes the most.
            for key in card.keys.iter().rev().filter(|_| card.is_main()) {
                if let Some(summaries) = wanted.get(key) {
                    found.extend(summaries.iter().map(|(from, text)| (owner, *from, text.clone())));
                }
            }
        }
        for (owner, from, text) in found {
            self.take_summary(owner, from, text);
        }
    }

    fn take_summary(&mut self, owner: usize, from: usize, text: Box<str>) {
        let Some(at) = self.cards[owner].id.clone().and_then(|id| self.position(&id)) else {
            return;
        };
        let source = self.sessions[at].title.as_ref().map(|(_, source)| *source);
        if source.is_none_or(|source| source > TitleSource::Summary) {
            self.sessions[at].title = Some((text, TitleSource::Summary));
        }
        let owner = self.sessions[at].id.clone();
        let pointer = self.sessions.iter_mut().find(|s| s.file == Some(from));
        if let Some(pointer) = pointer
            && self.cards[from].is_pointer()
            && pointer.id != owner
        {
            pointer.connections.push((Connection::PointsTo, owner));
        }
    }
}

fn standing(session: &SessionItem, cards: &[Arc<Card>]) -> Standing {
    let Some(card) = session.file.map(|f| &cards[f]) else { return Standing::Whole };
    if session.facts.talk > 0 {
        return Standing::Whole;
    }
    if session.copied > 0 {
        return Standing::Copy;
    }
    if session.connections.iter().any(|(kind, _)| *kind == Connection::PointsTo) {
        return Standing::Pointer;
    }
    if card.facts.entries > 0 { Standing::Stub } else { Standing::Empty }
}

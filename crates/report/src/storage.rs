//! Where the bytes of transcripts are, of sessions and of projects. What one file takes is measured
//! by [`transcript::storage`].

use std::collections::BTreeMap;

use hashbrown::HashMap;
use transcript::id::SessionId;
use transcript::library::Library;
pub use transcript::storage::{Meter, Part, Share, Storage, ToolShare, UserKind};

use crate::list::{self, ListFilter, ListOrder, Pulse};

/// Sizes of sessions fall into these, each up to the bytes given.
const BUCKETS: [(&str, u64); 8] = [
    ("<5 kB", 5_000),
    ("5-20 kB", 20_000),
    ("20-50 kB", 50_000),
    ("50-100 kB", 100_000),
    ("100-250 kB", 250_000),
    ("250-500 kB", 500_000),
    ("500 kB-1 MB", 1_000_000),
    (">1 MB", u64::MAX),
];

/// What a session takes: its transcript and those of its subagents.
#[derive(Debug, Clone)]
pub struct SessionStorage {
    /// The session; none for transcripts that name none.
    pub id: Option<SessionId>,
    /// Its title.
    pub title: Option<Box<str>>,
    /// The folder it began in.
    pub project: Option<String>,
    /// Its bytes.
    pub storage: Storage,
}

/// What the sessions of a project take.
#[derive(Debug, Clone)]
pub struct ProjectStorage {
    /// The folder; none for sessions that name none.
    pub project: Option<String>,
    /// Its sessions.
    pub sessions: u64,
    /// Their bytes.
    pub storage: Storage,
}

/// Where the bytes are.
#[derive(Debug, Default)]
pub struct Report {
    /// All of them.
    pub total: Storage,
    /// By session, the largest first.
    pub sessions: Vec<SessionStorage>,
}

/// Puts together what was measured of each file, in the order of the library's cards.
pub fn report(library: &Library, files: &[Option<Storage>], filter: &ListFilter) -> Report {
    let list = list::list(library, &[], &Pulse::default(), filter, ListOrder::Size);
    let rows: HashMap<&SessionId, &list::ListRow<'_>> =
        list.rows.iter().map(|row| (&row.item.id, row)).collect();
    let is_all = filter.project.is_none() && filter.period == Default::default();
    let mut sessions: BTreeMap<Option<&SessionId>, SessionStorage> = BTreeMap::new();
    for (card, storage) in library.cards.iter().zip(files) {
        let id = card.found.kind.session().or(card.id.as_ref());
        let row = id.and_then(|id| rows.get(id));
        let Some(storage) = storage.as_ref().filter(|_| is_all || row.is_some()) else { continue };
        let session = sessions.entry(id).or_insert_with(|| SessionStorage {
            id: id.cloned(),
            title: row.and_then(|row| Some(row.item.title.as_ref()?.0.clone())),
            project: row.and_then(|row| row.project.clone()),
            storage: Storage::default(),
        });
        session.storage.add(storage);
    }
    let mut report = Report { sessions: sessions.into_values().collect(), ..Report::default() };
    report.sessions.sort_by_key(|session| std::cmp::Reverse(session.storage.all.bytes));
    for session in &report.sessions {
        report.total.add(&session.storage);
    }
    report
}

impl Report {
    /// By project, the largest first.
    pub fn projects(&self) -> Vec<ProjectStorage> {
        let mut projects: BTreeMap<Option<&str>, ProjectStorage> = BTreeMap::new();
        for session in &self.sessions {
            let project = session.project.as_deref();
            let sum = projects.entry(project).or_insert_with(|| ProjectStorage {
                project: session.project.clone(),
                sessions: 0,
                storage: Storage::default(),
            });
            sum.sessions += 1;
            sum.storage.add(&session.storage);
        }
        let mut projects: Vec<_> = projects.into_values().collect();
        projects.sort_by_key(|project| std::cmp::Reverse(project.storage.all.bytes));
        projects
    }

    /// Sessions by the size of a clean copy.
    pub fn buckets(&self) -> Vec<(&'static str, Share)> {
        let mut buckets = BUCKETS.map(|(name, _)| (name, Share::default()));
        for session in &self.sessions {
            let Share { bytes, clean, .. } = session.storage.all;
            let at = BUCKETS.iter().position(|(_, end)| clean < *end).unwrap_or(7);
            buckets[at].1.add(bytes, clean);
        }
        buckets.into()
    }

    /// The largest and the median size of a clean copy.
    pub fn largest_and_median(&self) -> Option<(u64, u64)> {
        let mut sizes: Vec<u64> = self.sessions.iter().map(|s| s.storage.all.clean).collect();
        sizes.sort_unstable();
        Some((*sizes.last()?, sizes[sizes.len() / 2]))
    }
}

#[cfg(test)]
mod tests;

//! Sessions that say what another one says: its most telling words, looked for in all others.

use std::ops::ControlFlow;

use hashbrown::{HashMap, HashSet};
use transcript::id::SessionId;

use super::sieve::Sieve;
use super::{Finder, FinderScope};
use crate::archive::FileId;
use crate::index::{By, Options, Scope, Tally};
use crate::query::{Filters, Query, Role, Term};
use crate::sync::SyncError;
use crate::text::each_part;

/// A session that has telling words of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    /// The session.
    pub session: SessionId,
    /// The words that both have, the most telling first.
    pub words: Vec<String>,
}

/// So many words are looked for.
const WORDS: usize = 20;

/// So many bytes of what was said are counted: a session says early what it is about.
const READ: usize = 1 << 20;

/// So many turns are ranked.
const TURNS: usize = 500;

/// Thoughts, calls and outputs have every word by chance.
const ROLES: [Role; 3] = [Role::Title, Role::Prompt, Role::Answer];

impl Finder {
    /// The sessions like `session` by what was said, the most like it first.
    pub fn alike(&self, session: &SessionId) -> Result<Vec<Alike>, SyncError> {
        let words = self.telling(session)?;
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let query = Query {
            terms: words.iter().cloned().map(Term::Word).collect(),
            only: Filters { role: ROLES.to_vec(), ..Filters::default() },
            except: Filters { session: vec![session.to_string()], ..Filters::default() },
            ..Query::default()
        };
        let scope = FinderScope::new(self, &query)?;
        let options =
            Options { limit: TURNS, pool: 2 * TURNS, by: By::Words, ..Options::default() };
        let found = self.index.search(&query, &scope, options)?;
        let mut ranks: HashMap<u64, usize> = HashMap::new();
        let mut all: Vec<(usize, u64, HashSet<usize>)> = Vec::new();
        for one in &found.matches {
            let number = scope.session(one.file);
            let at = *ranks.entry(number).or_insert_with(|| {
                all.push((one.explain.session_rank, one.file, HashSet::new()));
                all.len() - 1
            });
            let scores = one.explain.bm25.iter().enumerate();
            all[at].2.extend(scores.filter(|(_, score)| **score > 0.0).map(|(word, _)| word));
        }
        all.sort_by_key(|(rank, ..)| *rank);
        let mut alike = Vec::new();
        for (_, file, shared) in all {
            let Some((session, _)) = self.catalog.owner(file as i64)? else { continue };
            let has = |at: &usize| shared.contains(at);
            let words = (0..found.words.len()).filter(has);
            let words = words.map(|at| found.words[at].word.clone()).collect();
            alike.push(Alike { session, words });
        }
        Ok(alike)
    }

    /// The words that tell most about a session, the best first.
    fn telling(&self, session: &SessionId) -> Result<Vec<String>, SyncError> {
        let file = self.catalog.session(session)?.and_then(|session| session.file);
        let Some(file) = file else { return Ok(Vec::new()) };
        let Some(row) = self.archive.file(FileId(file))? else { return Ok(Vec::new()) };
        let Some(builder) = self.catalog.state(file)? else { return Ok(Vec::new()) };
        let query = Query {
            only: Filters { role: ROLES.to_vec(), ..Filters::default() },
            ..Query::default()
        };
        let (sieve, mut tally, mut read) = (Sieve::new(&query), Tally::default(), 0);
        let wanted = |node: &transcript::session::Node| sieve.may_hold(node);
        each_part(&self.archive, &row, &builder, wanted, |_, _, part| {
            if sieve.allows(&part) {
                tally.add(&part.text);
                read += part.text.len();
            }
            if read < READ { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let own = self.catalog.files()?.into_iter();
        let own = own.filter(|file| file.session.as_ref() == Some(session));
        let own: HashSet<u64> = own.map(|file| file.id as u64).collect();
        Ok(self.index.telling(&tally, &own, WORDS)?)
    }
}

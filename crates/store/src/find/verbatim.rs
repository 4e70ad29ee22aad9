//! A text as it was written, in earlier sessions: an error message, a name.
//!
//! The index finds the turns that have the words in this order; the text itself decides whether
//! they are the same to the letter.

use std::ops::Range;

use memchr::memmem;
use transcript::reading::EntryReading;

use super::{Evidence, Finder, FinderScope, Hit, Quote};
use crate::archive::FileId;
use crate::catalog;
use crate::index::{By, Match, Options, Snippet, around};
use crate::query::{Filters, Query, Role, Term};
use crate::sync::SyncError;
use crate::text;

/// How much is quoted around the text, and of the answer that followed, in characters.
const WIDTH: usize = 350;
const ANSWER: usize = 300;

/// The answer is looked for in at most this many entries after the text.
const AFTER: u32 = 60;

/// This many turns are looked at closely.
const POOL: usize = 16;

/// Titles are said elsewhere too, and thoughts decide nothing.
const ROLES: [Role; 5] = [Role::Prompt, Role::Answer, Role::Call, Role::Output, Role::Summary];

/// How much of a text has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it, as a word of its own.
    Name,
    /// Its beginning, up to where the line ends there: a person may have written on behind a
    /// message.
    Message,
}

impl Finder {
    /// The turns of other sessions than `except` in which a text stands as it is, each with the
    /// last answer that followed in the turn; the best first, at most `limit`.
    pub fn verbatim(
        &self,
        text: &str,
        extent: Extent,
        except: &str,
        limit: usize,
    ) -> Result<Vec<Evidence>, SyncError> {
        let _snapshots = (self.catalog.snapshot()?, self.archive.snapshot()?);
        for head in heads(text, extent) {
            let query = Query {
                terms: vec![Term::Phrase(head.into())],
                only: Filters { role: ROLES.to_vec(), ..Filters::default() },
                ..Query::default()
            };
            let options =
                Options { limit: POOL, pool: POOL, by: By::Words, is_exact: true, offset: 0 };
            let scope = FinderScope::new(self, &query)?;
            let mut found = self.index.search(&query, &scope, options)?;
            // Where it was printed says more than where it was pasted.
            found.matches.sort_by_key(|one| !parts(one).any(|(_, role)| role == Role::Output));
            let mut all = Vec::new();
            for one in &found.matches {
                if all.len() < limit {
                    let quoted = self.quoted_at(one, text, head, extent)?;
                    // Asking the catalog for all other sessions would take longer.
                    all.extend(quoted.filter(|one| one.hit.session.id.as_str() != except));
                }
            }
            if !all.is_empty() {
                return Ok(all);
            }
        }
        Ok(Vec::new())
    }

    /// The part of a turn that has the text; `None` if none has it to the letter.
    fn quoted_at(
        &self,
        found: &Match,
        wanted: &str,
        head: &str,
        extent: Extent,
    ) -> Result<Option<Evidence>, SyncError> {
        let file = found.file as i64;
        let Some((id, _)) = self.catalog.owner(file)? else { return Ok(None) };
        let Some(session) = self.catalog.session(&id)? else { return Ok(None) };
        let mut parts: Vec<(u32, Role)> = parts(found).collect();
        parts.sort_by_key(|(_, role)| *role != Role::Output);
        for (entry, role) in parts {
            let Some(words) = self.words(file, entry, role)? else { continue };
            let Some(range) = stands_in(&words.text, wanted, head, extent) else { continue };
            let spot = self.catalog.shape(file)?.and_then(|shape| shape.at(entry));
            let hit = Hit {
                session,
                path: words.path,
                is_gone: words.is_gone,
                entry,
                turn: spot.and_then(|spot| spot.turn),
                time: words.time,
                role,
                place: found.place,
                snippet: around(&words.text, &[(range, 0)], WIDTH),
                explain: None,
            };
            let also = self.answer_after(file, entry)?.into_iter().collect();
            return Ok(Some(Evidence { hit, also, files: Vec::new() }));
        }
        Ok(None)
    }

    /// The last answer in the turn of an entry, if it follows soon.
    fn answer_after(&self, file: i64, entry: u32) -> Result<Option<Quote>, SyncError> {
        if catalog::is_ghost(file) {
            return Ok(None);
        }
        let Some(row) = self.archive.file(FileId(file))? else { return Ok(None) };
        let Some(shape) = self.catalog.shape(file)? else { return Ok(None) };
        let turn = |entry: u32| shape.at(entry).and_then(|spot| spot.turn);
        let Some(own) = turn(entry) else { return Ok(None) };
        let mut last = None;
        for number in entry + 1..=entry + AFTER {
            if turn(number).is_some_and(|turn| turn != own) {
                break;
            }
            let bytes = self.entry(&row, number)?;
            let read = EntryReading::from_bytes(&bytes);
            if read.is_by_model()
                && let Some(text) = text::text_of(&read, Role::Answer)
                && !text.trim().is_empty()
            {
                last = Some(Quote { entry: number, role: Role::Answer, snippet: beginning(&text) });
            }
        }
        Ok(last)
    }
}

/// The parts of a turn that match, the best first.
fn parts(found: &Match) -> impl Iterator<Item = (u32, Role)> {
    [(found.entry, found.role)].into_iter().chain(found.others.iter().copied())
}

/// The first characters of an answer.
fn beginning(text: &str) -> Snippet {
    around(text, &[(0..0, 0)], ANSWER).unmarked()
}

/// The beginnings of a text to look for, the longest first.
fn heads(text: &str, extent: Extent) -> Vec<&str> {
    if extent == Extent::Name {
        return vec![text];
    }
    let ends: Vec<usize> = text
        .split_whitespace()
        .map(|word| word.as_ptr() as usize - text.as_ptr() as usize + word.len())
        .collect();
    // A second try separates a short message from text that a person added behind it.
    let counts = if ends.len() < 6 { [ends.len(), 2] } else { [6, 3] };
    let mut heads: Vec<&str> =
        counts.iter().filter_map(|count| text.get(..*ends.get(count.checked_sub(1)?)?)).collect();
    heads.dedup();
    heads
}

/// Where a text has another one to the letter.
fn stands_in(text: &str, wanted: &str, head: &str, extent: Extent) -> Option<Range<usize>> {
    let wanted = wanted.trim_end().trim_end_matches(['.', ',', ';', '?', '!']);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    memmem::find_iter(text.as_bytes(), head.trim_end_matches(['.', ',', ';', '?', '!'])).find_map(
        |at| {
            let same = text[at..].chars().zip(wanted.chars()).take_while(|(a, b)| a == b);
            let end = at + same.map(|(c, _)| c.len_utf8()).sum::<usize>();
            let is_whole = end - at == wanted.len();
            let next = text[end..].chars().next();
            let is_there = match extent {
                Extent::Name => {
                    let is_start = !text[..at].chars().next_back().is_some_and(is_word);
                    is_whole && is_start && !next.is_some_and(is_word)
                }
                Extent::Message => is_whole || next.is_none_or(|c| "\n\r\"'`\u{1b}".contains(c)),
            };
            (is_there && end > at).then_some(at..end)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(text: &str, wanted: &str, extent: Extent) -> bool {
        heads(wanted, extent).iter().any(|head| stands_in(text, wanted, head, extent).is_some())
    }

    #[test]
    fn a_message_stands_there_up_to_the_end_of_its_line() {
        let log = "  File \"t.py\", line 3\nNameError: name 'add' is not defined\nexit 1";
        let is_in = |wanted| is_in(log, wanted, Extent::Message);
        assert!(is_in("NameError: name 'add' is not defined"));
        assert!(is_in("NameError: name 'add' is not defined?"));
        assert!(is_in("NameError: name 'add' is not defined when I run the tests"));
        assert!(!is_in("NameError: name 'sub' is not defined"));
        assert!(is_in("NameError: name 'add'"), "a part stands there too");
        assert!(!is_in("nameerror: name 'add' is not defined"));
    }

    #[test]
    fn a_short_message_is_told_from_what_is_written_behind_it() {
        let log = "KeyError: 'user_id'\n";
        assert!(is_in(log, "KeyError: 'user_id' again, why?", Extent::Message));
        assert!(!is_in(log, "KeyError: 'user' again, why?", Extent::Message));
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        let is_in = |text| is_in(text, "retry_budget", Extent::Name);
        assert!(is_in("the retry_budget is 3") && is_in("`retry_budget`"));
        assert!(!is_in("my_retry_budget") && !is_in("retry_budgets") && !is_in("Retry_budget"));
    }
}

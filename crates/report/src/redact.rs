//! Taking secrets out of texts that leave the computer.
//!
//! A [`Redactor`] is for one export: the same secret has the same placeholder in all its texts,
//! numbered by first sight, and nothing that leaves it tells what the secret was. It can be shared
//! between threads; then the numbers go by who comes first, so an export that has to be the same
//! each time hands in its texts in order.
//!
//! Shapes are data (`redact/rules.json`). Where something has no shape, a word beside it gives it
//! away (`redact/net.rs`). What must not leave at all is asked for by [`residue`].

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

mod assigned;
mod find;
mod json;
mod net;
mod pem;
mod person;
mod rules;
pub mod sample;
#[cfg(test)]
mod tests;
mod value;
mod words;

pub use rules::{Rule, Rules};

use find::{Hit, find};
use json::{Flat, Strings};
use rules::{EMAIL_AT, MARK, PRIVATE_KEY};

/// Places that are remembered of each rule.
pub const PLACES_MOST: usize = 100;
/// What was found may have stood in the way of something else, so a text is read again until
/// nothing is found. Twice is nearly always enough.
const PASSES: usize = 6;

/// What to take out beside secrets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// E-mail addresses.
    pub emails: bool,
    /// The folder of a user becomes `~`.
    pub homes: bool,
}

/// Where a text comes from, in the caller's own numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The session.
    pub session: u64,
    /// The entry in it.
    pub entry: u64,
}

/// What a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The rule.
    pub rule: String,
    /// What kind of service or file it belongs to.
    pub family: String,
    /// What it finds.
    pub description: String,
    /// How often something was replaced.
    pub count: u64,
    /// In which entries, each once and in order of first sight, at most [`PLACES_MOST`].
    pub places: Vec<Place>,
}

/// Takes secrets out of the texts of one export.
#[derive(Debug)]
pub struct Redactor<'r> {
    rules: &'r Rules,
    options: Options,
    state: Mutex<State>,
}

/// What is known of the export so far. The secrets in it are never printed.
#[derive(Default)]
struct State {
    /// The placeholder of each secret: the rule that found it first, and its number.
    secrets: HashMap<Vec<u8>, (usize, usize)>,
    found: BTreeMap<usize, (u64, Vec<Place>)>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

/// Something to be replaced.
enum Change {
    Secret(Hit),
    Home(Range<usize>),
}

impl Change {
    /// Whether it may have stood in the way of another.
    fn may_hide(&self) -> bool {
        matches!(self, Self::Secret(hit) if hit.rule != EMAIL_AT)
    }

    fn range(&self) -> &Range<usize> {
        match self {
            Self::Secret(hit) => &hit.range,
            Self::Home(range) => range,
        }
    }
}

impl<'r> Redactor<'r> {
    /// A redactor that has seen nothing yet.
    pub fn new(rules: &'r Rules, options: Options) -> Self {
        Self { rules, options, state: Mutex::default() }
    }

    /// A text without its secrets; itself if it has none.
    pub fn text<'t>(&self, text: &'t str, at: Place) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..PASSES {
            let changes = self.changes(&text);
            if changes.is_empty() {
                break;
            }
            let stand_ins = self.stand_ins(&text, &changes, at);
            let ranges = changes.iter().map(|change| on_chars(&text, change.range()));
            text = Cow::Owned(replaced(&text, ranges.zip(stand_ins)));
            if !changes.iter().any(Change::may_hide) {
                break;
            }
        }
        text
    }

    /// A line of JSON without its secrets. It stays the JSON that it was, with other texts in it;
    /// what is found is what [`Redactor::text`] finds in its texts, and what names beside them say.
    pub fn json<'t>(&self, line: &'t str, at: Place) -> Cow<'t, str> {
        let mut line = Cow::Borrowed(line);
        for _ in 0..PASSES {
            let flat = Flat::of(&line);
            let text = flat.as_ref().map_or(&*line, |flat| &flat.text);
            let changes = self.changes(text);
            if changes.is_empty() {
                break;
            }
            let stand_ins = self.stand_ins(text, &changes, at);
            let may_hide = changes.iter().any(Change::may_hide);
            let mut strings = Strings::new(&line);
            let mut in_line = Vec::new();
            for (change, stand_in) in changes.iter().zip(stand_ins) {
                let range = on_chars(text, change.range());
                let range = flat.as_ref().map_or(range.clone(), |flat| flat.raw(&range));
                let (range, is_text) = strings.within(range);
                let stand_in = if is_text { stand_in } else { format!("\"{stand_in}\"") };
                in_line.extend((!range.is_empty()).then_some((range, stand_in)));
            }
            if in_line.is_empty() {
                break;
            }
            line = Cow::Owned(replaced(&line, in_line.into_iter()));
            if !may_hide {
                break;
            }
        }
        line
    }

    /// What was found so far, by rule, the most frequent first.
    pub fn report(&self) -> Vec<Found> {
        let state = self.state();
        let found = state.found.iter().map(|(&rule, (count, places))| {
            let rule = self.rules.get(rule);
            Found {
                rule: rule.id.clone(),
                family: rule.family.clone(),
                description: rule.description.clone(),
                count: *count,
                places: places.clone(),
            }
        });
        let mut found: Vec<Found> = found.collect();
        found.sort_by_key(|found| std::cmp::Reverse(found.count));
        found
    }

    /// Nothing here can be half done: what one thread left is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be replaced, in order and apart from each other.
    fn changes(&self, text: &str) -> Vec<Change> {
        let bytes = text.as_bytes();
        let mut hits = find(self.rules, bytes);
        if self.options.emails {
            let email = |range| Hit { range, rule: EMAIL_AT, body: None };
            hits.extend(person::emails(bytes).into_iter().map(email));
            hits = find::apart(self.rules, hits);
        }
        let mut changes: Vec<Change> = hits.into_iter().map(Change::Secret).collect();
        if self.options.homes {
            let is_free = |home: &Range<usize>| {
                let next = changes.partition_point(|change| change.range().end <= home.start);
                changes.get(next).is_none_or(|change| home.end <= change.range().start)
            };
            let homes: Vec<_> = person::homes(bytes).into_iter().filter(is_free).collect();
            changes.extend(homes.into_iter().map(Change::Home));
            changes.sort_by_key(|change| change.range().start);
        }
        changes
    }

    /// What takes the place of each change.
    fn stand_ins(&self, text: &str, changes: &[Change], at: Place) -> Vec<String> {
        let mut state = self.state();
        let stand_in = |change: &Change| match change {
            Change::Home(_) => "~".into(),
            Change::Secret(hit) => {
                let secret = hit.body.as_deref().unwrap_or(&text.as_bytes()[hit.range.clone()]);
                let (rule, number) = state.number(secret, hit.rule);
                state.count(hit.rule, at);
                format!("{MARK}{}:{number}]", self.rules.get(rule).id)
            }
        };
        changes.iter().map(stand_in).collect()
    }
}

impl State {
    fn number(&mut self, secret: &[u8], rule: usize) -> (usize, usize) {
        let next = self.secrets.len() + 1;
        match self.secrets.entry(secret.to_vec()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert((rule, next)),
        }
    }

    fn count(&mut self, rule: usize, at: Place) {
        let (count, places) = self.found.entry(rule).or_default();
        *count += 1;
        if places.len() < PLACES_MOST && places.last() != Some(&at) && !places.contains(&at) {
            places.push(at);
        }
    }
}

/// A range widened to whole characters: patterns see bytes.
fn on_chars(text: &str, range: &Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)
}

/// A text with ranges of it replaced.
fn replaced(text: &str, changes: impl Iterator<Item = (Range<usize>, String)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, stand_in) in changes {
        out.push_str(&text[from..range.start.max(from)]);
        out.push_str(&stand_in);
        from = range.end.max(from);
    }
    out.push_str(&text[from..]);
    out
}

/// Where something would be taken out of a text, and by which rule.
pub fn places<'r>(rules: &'r Rules, text: &str) -> Vec<(Range<usize>, &'r Rule)> {
    let hits = find(rules, text.as_bytes());
    hits.into_iter().map(|hit| (on_chars(text, &hit.range), rules.get(hit.rule))).collect()
}

/// Where something of a private key is left in a text or a line of JSON. An export with such a
/// place must not be written.
///
/// More is asked than of what is replaced: base64 near a marker is enough, whole lines or not.
pub fn residue(rules: &Rules, text: &str) -> Option<Range<usize>> {
    let flat = Flat::of(text);
    let seen = flat.as_ref().map_or(text, |flat| &flat.text).as_bytes();
    let is_key = |hit: &Hit| matches!(&*rules.get(hit.rule).id, PRIVATE_KEY | "private-key-body");
    let whole = find(rules, seen).into_iter().find(is_key).map(|hit| hit.range);
    let words = || memchr::memmem::find_iter(seen, b"PRIVATE KEY");
    let near = || words().find_map(|at| pem::near_marker(seen, at..at + b"PRIVATE KEY".len()));
    let found = whole.or_else(near)?;
    Some(flat.as_ref().map_or(found.clone(), |flat| flat.raw(&found)))
}

//! Taking secrets out of texts that leave the computer.
//!
//! A [`Redactor`] is for one export: the same secret has the same placeholder in all its texts,
//! numbered by first sight, and nothing that leaves it tells what the secret was. It can be shared
//! between threads; then the numbers go by who comes first, and [`Redactor::in_order`] gives those
//! that go by session.
//!
//! Shapes are data (`redact/rules.json`). Where something has no shape, a word beside it gives it
//! away (`redact/net.rs`). What must not leave at all is asked for by [`residue`].

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
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
mod shown;
#[cfg(test)]
mod tests;
mod value;
mod words;

pub use rules::{Rule, Rules};

use find::{Hit, find};
use json::{Flat, Strings};
use rules::{EMAIL_AT, KEY_MARK, MARK, PRIVATE_KEY};
use shown::{Of, Shown};

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
    /// In which entries, each once and in order, at most the first [`PLACES_MOST`].
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
    found: BTreeMap<usize, (u64, BTreeSet<Place>)>,
    /// The secrets of each session by first sight, with the rules that found them there.
    sights: BTreeMap<u64, Sights>,
}

/// The secrets of one session.
#[derive(Default)]
struct Sights {
    known: HashSet<Vec<u8>>,
    order: Vec<(Vec<u8>, usize)>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("secrets", &self.secrets.len()).finish_non_exhaustive()
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
        // First, or a shorter path might be taken for a secret the next time.
        let homes = self.homes(&text);
        if !homes.is_empty() {
            text = Cow::Owned(replaced(&text, homes.into_iter()));
        }
        for _ in 0..PASSES {
            let hits = self.hits(&text);
            if hits.is_empty() {
                break;
            }
            let may_hide = hits.iter().any(may_hide);
            text = Cow::Owned(replaced(&text, self.stand_ins(&text, hits, at).into_iter()));
            if !may_hide {
                break;
            }
        }
        text
    }

    /// A line of JSON without its secrets. It stays the JSON that it was, with other texts in it;
    /// what is found is what [`Redactor::text`] finds in its texts, and what names beside them say.
    pub fn json<'t>(&self, line: &'t str, at: Place) -> Cow<'t, str> {
        let mut line = Cow::Borrowed(line);
        let flat = self.options.homes.then(|| Flat::of(&line)).flatten();
        let homes = self.homes(flat.as_ref().map_or(&line, |flat| &flat.text));
        if let Some(shorter) = replaced_in_json(&line, flat.as_ref(), homes) {
            line = Cow::Owned(shorter);
        }
        for _ in 0..PASSES {
            let flat = Flat::of(&line);
            let text = flat.as_ref().map_or(&*line, |flat| &flat.text);
            let hits = self.hits(text);
            let may_hide = hits.iter().any(may_hide);
            let stand_ins = self.stand_ins(text, hits, at);
            let Some(cleaner) = replaced_in_json(&line, flat.as_ref(), stand_ins) else { break };
            line = Cow::Owned(cleaner);
            if !may_hide {
                break;
            }
        }
        line
    }

    /// A page that this program has written, without the secrets in its texts and in the values
    /// of its attributes. It keeps all its elements.
    pub fn page<'t>(&self, html: &'t str, at: Place) -> Cow<'t, str> {
        let mut html = Cow::Borrowed(html);
        for of in [Of::Texts, Of::Pieces, Of::Values] {
            for _ in 0..PASSES {
                let shown = Shown::of(&html, of);
                let hits = self.hits(&shown.text);
                let may_hide = hits.iter().any(may_hide);
                let changes = shown.raw(self.stand_ins(&shown.text, hits, at));
                if changes.is_empty() {
                    break;
                }
                html = Cow::Owned(replaced(&html, changes.into_iter()));
                if !may_hide {
                    break;
                }
            }
        }
        html
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
                places: places.iter().copied().collect(),
            }
        });
        let mut found: Vec<Found> = found.collect();
        found.sort_by_key(|found| std::cmp::Reverse(found.count));
        found
    }

    /// The redactor that this one would be if all sessions had been handed in one after the other,
    /// with nothing counted yet; and the sessions in which it writes other placeholders.
    pub fn in_order(&self) -> (Self, Vec<u64>) {
        let before = self.state();
        let mut state = State::default();
        for (secret, rule) in before.sights.values().flat_map(|sights| &sights.order) {
            state.number(secret, *rule);
        }
        let is_other = |(secret, _): &(Vec<u8>, usize)| {
            before.secrets.get(secret) != state.secrets.get(secret)
        };
        let others = before.sights.iter().filter(|(_, sights)| sights.order.iter().any(is_other));
        let others = others.map(|(session, _)| *session).collect();
        (Self { rules: self.rules, options: self.options, state: Mutex::new(state) }, others)
    }

    /// Nothing here can be half done: what one thread left is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folders of users, and what stands for them.
    fn homes(&self, text: &str) -> Vec<(Range<usize>, String)> {
        if !self.options.homes {
            return Vec::new();
        }
        let homes = person::homes(text.as_bytes()).into_iter();
        homes.map(|range| (on_chars(text, &range), "~".into())).collect()
    }

    /// What is to be replaced, in order and apart from each other.
    fn hits(&self, text: &str) -> Vec<Hit> {
        let bytes = text.as_bytes();
        let mut hits = find(self.rules, bytes);
        if self.options.emails {
            let email = |range| Hit { range, rule: EMAIL_AT, body: None };
            hits.extend(person::emails(bytes).into_iter().map(email));
            hits = find::apart(self.rules, hits);
        }
        hits
    }

    /// Where each hit is, and what takes its place.
    fn stand_ins(&self, text: &str, hits: Vec<Hit>, at: Place) -> Vec<(Range<usize>, String)> {
        let mut state = self.state();
        let stand_in = |hit: Hit| {
            let secret = hit.body.as_deref().unwrap_or(&text.as_bytes()[hit.range.clone()]);
            let (rule, number) = state.number(secret, hit.rule);
            state.sights.entry(at.session).or_default().see(secret, hit.rule);
            state.count(hit.rule, at);
            let stand_in = format!("{MARK}{}:{number}]", self.rules.get(rule).id);
            (on_chars(text, &hit.range), stand_in)
        };
        hits.into_iter().map(stand_in).collect()
    }
}

/// Whether a hit may have stood in the way of another.
fn may_hide(hit: &Hit) -> bool {
    hit.rule != EMAIL_AT
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
        places.insert(at);
        if places.len() > PLACES_MOST {
            places.pop_last();
        }
    }
}

impl Sights {
    fn see(&mut self, secret: &[u8], rule: usize) {
        if !self.known.contains(secret) {
            self.known.insert(secret.to_vec());
            self.order.push((secret.to_vec(), rule));
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

/// A line with ranges of its text replaced, each inside of its string; nothing if there are none.
fn replaced_in_json(
    line: &str,
    flat: Option<&Flat>,
    changes: Vec<(Range<usize>, String)>,
) -> Option<String> {
    let mut strings = Strings::new(line);
    let mut in_line: Vec<(Range<usize>, String)> = Vec::new();
    for (range, stand_in) in changes {
        let range = flat.map_or(range.clone(), |flat| flat.raw(&range));
        let (first, is_text) = strings.within(range.clone());
        if first.is_empty() {
            continue;
        }
        let rest = first.end..range.end;
        let value = if is_text { stand_in.clone() } else { format!("\"{stand_in}\"") };
        in_line.push((first, value));
        // The lines of a key may stand in a list.
        if stand_in.starts_with(KEY_MARK) {
            let parts = strings.values(rest).into_iter();
            in_line.extend(parts.map(|part| (part, stand_in.clone())));
        }
    }
    let changes = in_line;
    (!changes.is_empty()).then(|| replaced(line, changes.into_iter()))
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

//! Finding what is secret in one text.
//!
//! The text is read once for all keywords; only at their hits something is looked at, and never
//! further than a rule's window. So the time is linear, whatever the text.

use std::ops::Range;

use regex_automata::{Anchored, Input};

use super::assigned::{Assigned, Run, assigned};
use super::net::Judge;
use super::pem;
use super::rules::{Lazy, MARK, PRIVATE_KEY_AT, Rules, Shape, Target};
use super::value;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Where.
    pub range: Range<usize>,
    /// Which rule found it.
    pub rule: usize,
    /// What makes it the same as another, where that is not the text itself.
    pub body: Option<Vec<u8>>,
}

/// Everything in a text, in order and apart from each other.
pub fn find(rules: &Rules, text: &[u8]) -> Vec<Hit> {
    let mut search = Search { rules, text, run: Run::default(), hits: Vec::new(), skip: 0 };
    rules.words.find(text, |which, word| {
        if word.start >= search.skip {
            search.at(rules.targets[which], word);
        }
    });
    apart(rules, search.hits)
}

struct Search<'a> {
    rules: &'a Rules,
    text: &'a [u8],
    run: Run,
    hits: Vec<Hit>,
    /// What is before this has been dealt with.
    skip: usize,
}

impl Search<'_> {
    fn at(&mut self, target: Target, word: Range<usize>) {
        match target {
            Target::Placeholder => self.skip = placeholder(self.rules, self.text, word.end),
            Target::PrivateKey => self.private_key(word),
            Target::Rule(index) => self.rule(index, word),
        }
    }

    fn private_key(&mut self, word: Range<usize>) {
        if let Some(block) = pem::block(self.text, word) {
            self.skip = block.range.end;
            self.hits.push(Hit {
                range: block.range,
                rule: PRIVATE_KEY_AT,
                body: Some(block.body),
            });
        }
    }

    fn rule(&mut self, index: usize, word: Range<usize>) {
        if self.is_covered(index, word.start) {
            return;
        }
        let rule = self.rules.get(index);
        let found = match &rule.shape {
            Shape::Pattern(pattern) => self.pattern(index, pattern, word),
            Shape::Value(pattern) => self.value(index, pattern, word),
            Shape::Net(judge) => {
                let found = assigned(self.text, word, Judge::MOST, &mut self.run);
                found.filter(|found| judge.finds(self.text, found)).map(|found| found.value)
            }
            Shape::Code => None,
        };
        if let Some(range) = found.filter(|range| !self.is_done(range)) {
            self.hits.push(Hit { range, rule: index, body: None });
        }
    }

    /// Whether the rule has just found something that goes on here: what it would find now is a
    /// part of that.
    fn is_covered(&self, index: usize, at: usize) -> bool {
        let mut last = self.hits.iter().rev().take(4);
        last.any(|hit| hit.rule == index && hit.range.contains(&at))
    }

    /// Whether a placeholder stands there.
    fn is_done(&self, range: &Range<usize>) -> bool {
        let mark = &MARK.as_bytes()[..MARK.len() - 1];
        let end = (range.end + mark.len()).min(self.text.len());
        memchr::memmem::find(&self.text[range.start..end], mark).is_some()
    }

    fn pattern(&self, index: usize, pattern: &Lazy, word: Range<usize>) -> Option<Range<usize>> {
        let limits = &self.rules.get(index).limits;
        if limits.before == 0 && !limits.is_inside && !self.is_free_before(word.start) {
            return None;
        }
        let from = word.start - limits.before.min(word.start);
        let to = (word.start + limits.window).min(self.text.len());
        let anchored = if limits.before == 0 { Anchored::Yes } else { Anchored::No };
        let input = Input::new(self.text).span(from..to).anchored(anchored);
        let regex = pattern.get();
        let whole = regex.search(&input)?;
        if limits.before > 0 && !self.is_free_before(whole.start()) {
            return None;
        }
        let is_allowed = |allow: &Lazy| {
            let input = Input::new(self.text).span(whole.start()..to).anchored(Anchored::Yes);
            allow.get().is_match(input)
        };
        if limits.allow.as_ref().is_some_and(is_allowed) {
            return None;
        }
        let mut secret = whole.range();
        if regex.captures_len() > 1 {
            let mut captures = regex.create_captures();
            regex.search_captures(&input.range(whole.range()), &mut captures);
            secret = captures.get_group(1)?.range();
        }
        secret.end += self.cut_off(secret.end, to);
        let is_free = !limits.is_free || !self.text.get(secret.end).is_some_and(is_word);
        (is_free && self.holds(index, &secret)).then_some(secret)
    }

    /// How much of a secret is behind the window.
    fn cut_off(&self, end: usize, to: usize) -> usize {
        if end < to {
            return 0;
        }
        let is_token = |b: &&u8| b.is_ascii_alphanumeric() || b"_-+/=.".contains(b);
        self.text[end..].iter().take_while(is_token).count()
    }

    fn value(&mut self, index: usize, pattern: &Lazy, word: Range<usize>) -> Option<Range<usize>> {
        let limits = &self.rules.get(index).limits;
        let Assigned { name, value, .. } = assigned(self.text, word, limits.window, &mut self.run)?;
        let is_lower = |b: &u8| b.is_ascii_lowercase();
        if limits.is_env && self.text[name].iter().any(is_lower) {
            return None;
        }
        let bytes = &self.text[value.clone()];
        let input = Input::new(bytes).anchored(Anchored::Yes);
        (pattern.get().is_match(input) && self.holds(index, &value)).then_some(value)
    }

    fn holds(&self, index: usize, secret: &Range<usize>) -> bool {
        let rule = self.rules.get(index);
        let bytes = &self.text[secret.clone()];
        let is_weak = rule.is_weak();
        (!rule.limits.is_mixed || value::is_mixed(bytes))
            && (rule.limits.entropy == 0.0 || value::entropy(bytes) >= rule.limits.entropy)
            && !(is_weak && value::is_stand_in(bytes))
    }

    /// Whether a word can begin here: behind no letter, or behind one that belongs to an escape
    /// or to a colour of a terminal, or where another secret ends.
    fn is_free_before(&self, at: usize) -> bool {
        let before = &self.text[..at];
        if !before.last().is_some_and(is_word)
            || self.hits.last().is_some_and(|h| h.range.end == at)
        {
            return true;
        }
        match before {
            [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
            [.., b'\\', b'u', a, b, c, d] | [.., _, b'%', a, b, c, d] => {
                [a, b, c, d].iter().all(|b| b.is_ascii_hexdigit()) && before[at - 5] == b'u'
                    || before[at - 3] == b'%' && c.is_ascii_hexdigit() && d.is_ascii_hexdigit()
            }
            [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
            [.., b'm'] => is_colour(&before[..at - 1]),
            _ => false,
        }
    }
}

/// Whether this is an escape sequence up to its last letter: `ESC [ 1 ; 31`.
fn is_colour(before: &[u8]) -> bool {
    let digits = before.iter().rev().take(12).take_while(|b| b.is_ascii_digit() || **b == b';');
    let count = digits.count();
    before.len() > count && before[before.len() - 1 - count] == b'['
}

fn is_word(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || *b == b'_'
}

/// Past a placeholder whose mark ends at `at`; 0 if it is none of ours, or anybody could hide a
/// secret behind a mark.
fn placeholder(rules: &Rules, text: &[u8], at: usize) -> usize {
    let rest = &text[at..(at + 64).min(text.len())];
    let Some(end) = rest.iter().position(|b| *b == b']') else { return 0 };
    let mut parts = rest[..end].split(|b| *b == b':');
    let (id, number) = (parts.next().unwrap_or(b""), parts.next().unwrap_or(b""));
    let is_known = |id| std::str::from_utf8(id).is_ok_and(|id| rules.place(id).is_some());
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let is_rule = is_number && number.len() < 10 && is_known(id);
    if is_rule && parts.next().is_none() { at + end + 1 } else { 0 }
}

/// Hits that overlap become one, which has the name of the most telling.
pub(super) fn apart(rules: &Rules, mut hits: Vec<Hit>) -> Vec<Hit> {
    let rank = |hit: &Hit| (rules.get(hit.rule).rank(), hit.rule);
    hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end), rank(hit)));
    let mut apart: Vec<Hit> = Vec::new();
    for hit in hits {
        match apart.last_mut().filter(|last| hit.range.start < last.range.end) {
            Some(last) => {
                if rank(&hit) < rank(last) {
                    last.rule = hit.rule;
                    last.body = hit.body;
                }
                last.range.end = last.range.end.max(hit.range.end);
            }
            None => apart.push(hit),
        }
    }
    apart
}

//! Secrets taken out of records before anything is made of them.
//!
//! What is derived from a text (a subject, a diff) is made from the text without its secrets, or
//! looked at as the whole that it was: a key whose lines stand in a list is still one key.

use std::borrow::Cow;

use transcript::call::CallInput;
use transcript::tool::Hunk;

use crate::redact::{Place, Redactor, Rules, residue};
use transcript::record::{Body, CallRecord, Outcome, Part, Record};

/// A redactor at work on one session, or none.
#[derive(Debug)]
pub struct Cover<'r> {
    with: Option<(&'r Rules, &'r Redactor<'r>)>,
    session: u64,
    /// The entry in which something of a private key is left.
    pub left: Option<u64>,
}

impl<'r> Cover<'r> {
    /// Takes secrets out of a session's records; `session` is the caller's number for it.
    pub fn new(rules: &'r Rules, redactor: &'r Redactor<'r>, session: u64) -> Self {
        Self { with: Some((rules, redactor)), session, left: None }
    }

    /// Takes nothing out.
    pub fn none() -> Self {
        Self { with: None, session: 0, left: None }
    }

    /// Whether anything is taken out.
    pub fn is_on(&self) -> bool {
        self.with.is_some()
    }

    /// A text without its secrets; whether it had any.
    pub fn text(&mut self, text: &mut String, entry: u64) -> bool {
        let Some((_, redactor)) = self.with else { return false };
        let clean = owned(redactor.text(text, Place { session: self.session, entry }));
        self.put(text, clean, entry)
    }

    /// A line of JSON without its secrets; whether it had any.
    pub fn json(&mut self, line: &mut String, entry: u64) -> bool {
        let Some((_, redactor)) = self.with else { return false };
        let clean = owned(redactor.json(line, Place { session: self.session, entry }));
        self.put(line, clean, entry)
    }

    /// Only what was changed, or has a marker in it, can still hold a part of a key.
    fn put(&mut self, text: &mut String, clean: Option<String>, entry: u64) -> bool {
        let is_changed = clean.is_some();
        if let Some(clean) = clean {
            *text = clean;
        }
        if let Some((rules, _)) = self.with
            && self.left.is_none()
            && (is_changed || has_marker(text))
            && residue(rules, text).is_some()
        {
            self.left = Some(entry);
        }
        is_changed
    }

    /// A title without its secrets. One that was cut may end in a part of a secret, too short to
    /// be known for one: its last word goes.
    pub fn title(&mut self, title: &str) -> String {
        let mut text = title.to_owned();
        if !self.is_on() {
            return text;
        }
        if text.chars().count() >= TITLE {
            let end = text.rfind(char::is_whitespace).unwrap_or(0);
            text.truncate(end);
            text.push('\u{2026}');
        }
        self.text(&mut text, 0);
        text
    }

    /// A record without its secrets.
    pub fn record(&mut self, record: &mut Record) {
        if !self.is_on() {
            return;
        }
        let entry = record.number.map_or(record.offset, u64::from);
        let names = record.model.iter_mut().chain(&mut record.permission_mode);
        names.for_each(|name| _ = self.text(name, entry));
        match &mut record.body {
            Body::Prompt { text, beside, media } => {
                self.text(text, entry);
                beside.iter_mut().chain(media).for_each(|text| _ = self.text(text, entry));
            }
            Body::Answer { parts } => self.parts(parts, entry),
            Body::Calls { parts, calls } => {
                self.parts(parts, entry);
                calls.iter_mut().for_each(|call| self.call(call, entry));
            }
            Body::LoneResult { outcome, .. } => self.outcome(outcome, entry),
            Body::Summary { text } => _ = self.text(text, entry),
            Body::Note { name, text } => {
                self.text(name, entry);
                text.iter_mut().for_each(|text| self.note(text, entry));
            }
            Body::Damaged { text } => {
                self.json(text, entry);
                self.text(text, entry);
            }
            Body::Compaction { .. } | Body::TooLarge => {}
        }
    }

    /// What a note says: words, or a value as JSON.
    fn note(&mut self, text: &mut String, entry: u64) {
        match text.starts_with(['{', '[']) {
            true => self.json(text, entry),
            false => self.text(text, entry),
        };
    }

    fn parts(&mut self, parts: &mut [Part], entry: u64) {
        for part in parts {
            match part {
                Part::Text(text) | Part::Thinking(Some(text)) => _ = self.text(text, entry),
                Part::Thinking(None) | Part::Other { .. } => {}
            }
        }
    }

    fn call(&mut self, call: &mut CallRecord, entry: u64) {
        // A name beside a value may have given it away, which a subject has no more.
        if self.json(&mut call.input, entry) {
            let input = CallInput::from_json(&call.input);
            let subject = input.and_then(|input| input.subject_for(&call.tool));
            call.subject = subject.map(|subject| subject.into_owned());
        }
        call.subject.iter_mut().for_each(|subject| _ = self.text(subject, entry));
        call.outcome.iter_mut().for_each(|outcome| self.outcome(outcome, entry));
    }

    fn outcome(&mut self, outcome: &mut Outcome, entry: u64) {
        let entry = outcome.number.map_or(entry, u64::from);
        let texts = outcome.text.iter_mut().chain(&mut outcome.stderr);
        texts.for_each(|text| _ = self.text(text, entry));
        outcome.media.iter_mut().for_each(|media| _ = self.text(media, entry));
        for change in outcome.change.iter_mut().chain(&mut outcome.changed_files) {
            self.text(&mut change.path, entry);
            change.hunks.iter_mut().for_each(|hunk| self.hunk(hunk, entry));
        }
    }

    /// The lines of a hunk are one text: a secret may have several lines.
    pub fn hunk(&mut self, hunk: &mut Hunk, entry: u64) {
        let mut text = hunk.lines.join("\n");
        if !self.text(&mut text, entry) {
            return;
        }
        let marked = |line: &str| match line.starts_with([' ', '+', '-', '\\']) {
            true => line.to_owned(),
            false => format!(" {line}"),
        };
        hunk.lines = text.split('\n').map(marked).collect();
    }
}

/// Titles have been cut where they are this long.
const TITLE: usize = 200;

fn owned(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Owned(text) => Some(text),
        Cow::Borrowed(_) => None,
    }
}

fn has_marker(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"PRIVATE KEY").is_some()
}

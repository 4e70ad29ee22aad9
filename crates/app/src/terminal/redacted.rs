//! Secrets taken out of everything that is printed.
//!
//! A secret may have several lines, so lines are held until a good part of the output is there, or
//! somebody waits for it. What was cut to fit a line may be too short to be known for a secret.

use std::borrow::Cow;

use report::export::cover::Cover;
use report::redact::{Options, Place, Redactor, Rules};
use transcript::record::Record;

/// So much is held before it is printed.
const MOST: usize = 1 << 20;

/// Holds what is printed until it has been looked through.
pub struct Redacted {
    redactor: Redactor<'static>,
    held: Vec<u8>,
}

impl Redacted {
    /// Nothing printed yet.
    pub fn new() -> Self {
        let redactor = Redactor::new(Rules::built_in(), Options::default());
        Self { redactor, held: Vec::new() }
    }

    /// Takes bytes; gives back what is ready to be printed.
    pub fn take(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.held.extend_from_slice(bytes);
        if self.held.len() < MOST {
            return None;
        }
        let end = memchr::memrchr(b'\n', &self.held)? + 1;
        let rest = self.held.split_off(end);
        let ready = std::mem::replace(&mut self.held, rest);
        Some(self.clean(ready))
    }

    /// Everything that is held.
    pub fn rest(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.clean(held)
    }

    /// A line of JSON.
    pub fn json<'l>(&self, line: &'l str) -> Cow<'l, str> {
        self.redactor.json(line, Place::default())
    }

    /// A record, of which only parts are printed: a name that gives a secret away may not be.
    pub fn record(&self, record: &mut Record) {
        Cover::new(Rules::built_in(), &self.redactor, 0).record(record);
    }

    /// How often something was replaced.
    pub fn count(&self) -> u64 {
        self.redactor.report().iter().map(|found| found.count).sum()
    }

    /// Lines of JSON are read as such, all between them as one text. What has no secrets is given
    /// back byte for byte.
    fn clean(&self, bytes: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8_lossy(&bytes);
        let (mut out, mut from, mut at, mut is_changed) = (String::new(), 0, 0, false);
        let mut put = |clean: Cow<'_, str>| {
            is_changed |= matches!(clean, Cow::Owned(_));
            out.push_str(&clean);
        };
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let inner = line.trim_end();
            if inner.starts_with('{') && inner.ends_with('}') {
                put(self.redactor.text(&text[from..start], Place::default()));
                put(self.redactor.json(line, Place::default()));
                from = at;
            }
        }
        put(self.redactor.text(&text[from..], Place::default()));
        if is_changed { out.into_bytes() } else { bytes }
    }
}

//! What of a row leaves the computer.
//!
//! Each value is redacted by itself, so that what comes out depends on the value alone: a row is
//! the same in every write and wherever it is made, and a file of the same rows the same file.

use report::redact::{Options, Place, Redactor, Rules, residue};
use store::table::{Column, Row, Table, Value};

use super::ContentArgs;

/// Takes out of rows what must not leave, and says whose they are.
pub struct Dress {
    texts: bool,
    is_redacted: bool,
    /// The last value of each column that was looked at, and what became of it: mostly it comes
    /// again.
    last: Vec<(String, String)>,
    /// How many values had secrets.
    pub replaced: usize,
}

impl Dress {
    /// As a person wants it.
    pub fn new(args: &ContentArgs) -> Self {
        let (texts, is_redacted) = (args.texts, !args.no_redact);
        Self { texts, is_redacted, last: Vec::new(), replaced: 0 }
    }

    /// Whether texts are wanted.
    pub fn texts(&self) -> bool {
        self.texts
    }

    /// Whether a table is in the lake at all.
    pub fn has(&self, table: &Table) -> bool {
        self.texts || table.name != "texts"
    }

    /// The row as it may leave.
    pub fn row(&mut self, table: &Table, row: Row, host: &str, user: &str) -> Row {
        self.last.resize_with(self.last.len().max(row.len()), Default::default);
        let values = table.columns.iter().zip(row).enumerate();
        values.map(|(at, (column, value))| self.value(at, column, value, host, user)).collect()
    }

    fn value(&mut self, at: usize, column: &Column, value: Value, host: &str, user: &str) -> Value {
        match value {
            _ if column.name == "host" => Value::Text(host.into()),
            _ if column.name == "user" => Value::Text(user.into()),
            _ if column.is_text && !self.texts => Value::Null,
            Value::Text(text) if self.is_redacted => Value::Text(self.text(at, text)),
            other => other,
        }
    }

    fn text(&mut self, at: usize, text: String) -> String {
        let (before, after) = &self.last[at];
        if *before == text {
            return after.clone();
        }
        let clean = redacted(&text);
        self.replaced += usize::from(clean != text);
        self.last[at] = (text, clean.clone());
        clean
    }
}

/// A text without its secrets. One in which something of a private key would remain goes whole.
fn redacted(text: &str) -> String {
    let rules = Rules::built_in();
    let clean = Redactor::new(rules, Options::default()).text(text, Place::default()).into_owned();
    match residue(rules, &clean) {
        Some(_) => "[redacted:private-key:1]".into(),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_a_value_depends_on_it_alone() {
        let mut dress = Dress { texts: true, is_redacted: true, last: Vec::new(), replaced: 0 };
        dress.last.resize_with(1, Default::default);
        let (one, other) = ("password=hunter2-Xk9-one", "password=hunter2-Xk9-two");
        let first = dress.text(0, one.into());
        assert_ne!(first, one);
        dress.text(0, other.into());
        assert_eq!(dress.text(0, one.into()), first);
        assert_eq!(dress.text(0, "src/main.rs".into()), "src/main.rs");
    }
}

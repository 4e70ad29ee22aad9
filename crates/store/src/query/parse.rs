//! Text into a query, one piece after the other. The piece that makes no sense is the error's
//! place.

use std::ops::Range;

use transcript::time::Time;

use super::near::nearest;
use super::{Date, ErrorIs, Field, Filters, Place, Query, QueryError, QueryErrorKind, Role, Term};

type Dates<'a> = &'a dyn Fn(&str) -> Option<(Time, Time)>;

pub(super) fn parse(text: &str, date: Dates) -> Result<Query, QueryError> {
    let mut parser = Parser { text, at: 0, date, query: Query::default() };
    while parser.piece()? {}
    let query = parser.query;
    let all = 0..text.len();
    if !query.terms.is_empty() || !query.only.is_empty() {
        return Ok(query);
    }
    let has_without = !query.without.is_empty() || !query.except.is_empty();
    let kind = if has_without { QueryErrorKind::OnlyWithout } else { QueryErrorKind::Empty };
    Err(QueryError { at: all, kind, suggestion: None })
}

pub(super) fn filters(text: &str, date: Dates) -> Result<Query, QueryError> {
    let mut parser = Parser { text, at: 0, date, query: Query::default() };
    loop {
        parser.skip_while(char::is_whitespace);
        let start = parser.at;
        let is_more = parser.piece()?;
        if !parser.query.terms.is_empty() || !parser.query.without.is_empty() {
            let at = start..parser.at;
            return Err(QueryError { at, kind: QueryErrorKind::NotAFilter, suggestion: None });
        }
        if !is_more {
            return Ok(parser.query);
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    date: Dates<'a>,
    query: Query,
}

/// A value and where it stands.
struct Value {
    text: String,
    at: Range<usize>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_while(&mut self, is_skipped: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(is_skipped).len();
    }

    /// Reads the next piece; false at the end.
    fn piece(&mut self) -> Result<bool, QueryError> {
        self.skip_while(char::is_whitespace);
        if self.rest().is_empty() {
            return Ok(false);
        }
        let is_without = self.takes_away();
        self.skip_while(|c| !c.is_alphanumeric() && c != '"' && !c.is_whitespace());
        if self.rest().starts_with('"') {
            let value = self.quoted()?;
            let words = value.text.split_whitespace().collect::<Vec<_>>().join(" ");
            if words.contains(char::is_alphanumeric) {
                self.add(Term::Phrase(words), is_without);
            }
        } else if let Some(field) = self.filter_name()? {
            self.filter(field, is_without)?;
        } else {
            self.word(is_without);
        }
        Ok(true)
    }

    /// One `-` right before something takes it away; `--flag` is a word.
    fn takes_away(&mut self) -> bool {
        let Some(rest) = self.rest().strip_prefix('-') else {
            return false;
        };
        self.at += 1;
        !rest.starts_with('-') && !rest.starts_with(char::is_whitespace) && !rest.is_empty()
    }

    fn add(&mut self, term: Term, is_without: bool) {
        let list = if is_without { &mut self.query.without } else { &mut self.query.terms };
        list.push(term);
    }

    /// What stands between quotes; `\"` is a quote.
    fn quoted(&mut self) -> Result<Value, QueryError> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((i, c)) = chars.next() {
            match (c, chars.peek()) {
                ('"', _) => {
                    self.at = start + i + 1;
                    return Ok(Value { text, at: start..self.at });
                }
                ('\\', Some(&(_, next @ ('"' | '\\')))) => {
                    text.push(next);
                    chars.next();
                }
                _ => text.push(c),
            }
        }
        let suggestion = Some(format!("{}\"", self.rest()));
        let at = start..self.text.len();
        Err(QueryError { at, kind: QueryErrorKind::OpenQuote, suggestion })
    }

    fn word(&mut self, is_without: bool) {
        let rest = self.rest();
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at += length;
        let chunk = rest[..length].trim_end_matches(|c: char| !c.is_alphanumeric() && c != '*');
        let word = chunk.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() {
            return;
        }
        let is_prefix = chunk.ends_with('*');
        let term = if is_prefix { Term::Prefix } else { Term::Word };
        self.add(term(word.into()), is_without);
    }

    /// The filter whose name and colon stand here, with a value behind them.
    fn filter_name(&mut self) -> Result<Option<Field>, QueryError> {
        let rest = self.rest();
        let Some(colon) = rest.find(|c: char| !c.is_ascii_alphabetic()) else {
            return Ok(None);
        };
        let (name, value) = (&rest[..colon], &rest[colon..]);
        let Some(value) = value.strip_prefix(':') else {
            return Ok(None);
        };
        // Prose (`error: no such file`) or a path (`std::fs`, `file://`, `C:\x`).
        let is_prose = value.starts_with(char::is_whitespace) && !value.trim().is_empty();
        if is_prose || value.starts_with(':') || value.starts_with("//") {
            return Ok(None);
        }
        if let Some(field) = Field::from_name(name) {
            self.at += colon + 1;
            return Ok(Some(field));
        }
        if value.starts_with(['/', '\\']) {
            return Ok(None);
        }
        let names = Field::ALL.iter().map(|field| field.name()).filter(|known| known.len() > 2);
        match nearest(name, names) {
            Some(near) if name.len() > 2 && !value.trim().is_empty() => {
                let at = self.at..self.at + colon + 1;
                let suggestion = Some(format!("{near}:"));
                Err(QueryError { at, kind: QueryErrorKind::NoFilter(name.into()), suggestion })
            }
            _ => Ok(None),
        }
    }

    fn filter(&mut self, field: Field, is_without: bool) -> Result<(), QueryError> {
        let start = self.at;
        let values = self.values()?;
        if values.is_empty() {
            let name_at = start - field.name().len() - 1;
            let kind = QueryErrorKind::NoValue(field);
            return Err(QueryError { at: name_at..self.at, kind, suggestion: None });
        }
        let date = self.date;
        let filters = if is_without { &mut self.query.except } else { &mut self.query.only };
        values.into_iter().try_for_each(|value| put(filters, field, value, date))
    }

    /// `a,b,"c d"`.
    fn values(&mut self) -> Result<Vec<Value>, QueryError> {
        let mut values = Vec::new();
        loop {
            let value = if self.rest().starts_with('"') {
                self.quoted()?
            } else {
                let rest = self.rest();
                let ends = |c: char| c == ',' || c.is_whitespace();
                let length = rest.find(ends).unwrap_or(rest.len());
                self.at += length;
                Value { text: rest[..length].into(), at: self.at - length..self.at }
            };
            if !value.text.trim().is_empty() {
                values.push(value);
            }
            if !self.rest().starts_with(',') {
                return Ok(values);
            }
            self.at += 1;
        }
    }
}

fn put(filters: &mut Filters, field: Field, value: Value, date: Dates) -> Result<(), QueryError> {
    let text = value.text.clone();
    match field {
        Field::Project => filters.project.push(text),
        Field::Session => filters.session.push(text),
        Field::Branch => filters.branch.push(text),
        Field::Role => filters.role.push(named(field, value, Role::from_name, role_meant)?),
        Field::Tool => filters.tool.push(text),
        Field::File => filters.file.push(text),
        Field::Error => filters.error.push(error_is(text)),
        Field::Model => filters.model.push(text),
        Field::Before => filters.before.push(date_of(value, date)?),
        Field::After => filters.after.push(date_of(value, date)?),
        Field::In => filters.place.push(named(field, value, Place::from_name, place_meant)?),
        Field::Pr => filters.pr.push(text),
        Field::Commit => filters.commit.push(text),
    }
    Ok(())
}

fn named<T>(
    field: Field,
    value: Value,
    find: impl Fn(&str) -> Option<T>,
    meant: impl Fn(&str) -> Option<&'static str>,
) -> Result<T, QueryError> {
    find(&value.text).ok_or_else(|| QueryError {
        suggestion: meant(&value.text).map(String::from),
        at: value.at,
        kind: QueryErrorKind::NoSuch(field, value.text),
    })
}

/// The names of the roles in the files, too.
fn role_meant(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "user" | "human" | "question" => Some("prompt"),
        "assistant" | "reply" => Some("answer"),
        "tool" | "tool_use" | "input" => Some("call"),
        "tool_result" | "result" => Some("output"),
        other => nearest(other, Role::ALL.iter().map(|role| role.name())),
    }
}

fn place_meant(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "agent" | "sidechain" => Some("subagent"),
        "branch" | "rewound" => Some("abandoned"),
        other => nearest(other, Place::ALL.iter().map(|place| place.name())),
    }
}

fn error_is(text: String) -> ErrorIs {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" => ErrorIs::Yes,
        "no" | "false" => ErrorIs::No,
        _ => ErrorIs::With(text),
    }
}

fn date_of(value: Value, date: Dates) -> Result<Date, QueryError> {
    match date(&value.text) {
        Some((start, end)) => Ok(Date { text: value.text, start, end }),
        None => {
            let kind = QueryErrorKind::NoDate(value.text);
            Err(QueryError { at: value.at, kind, suggestion: None })
        }
    }
}

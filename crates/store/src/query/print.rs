//! A query as text that parses to the same query.

use std::fmt::{Display, Formatter, Result, Write};

use super::{Date, ErrorIs, Field, Filters, Query, Term};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut pieces = Vec::new();
        pieces.extend(self.terms.iter().map(Term::to_string));
        pieces.extend(self.without.iter().map(|term| format!("-{term}")));
        pieces.extend(filters(&self.only));
        pieces.extend(filters(&self.except).into_iter().map(|filter| format!("-{filter}")));
        f.write_str(&pieces.join(" "))
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Prefix(word) => write!(f, "{word}*"),
            Self::Phrase(words) => quoted(words, f),
        }
    }
}

fn quoted(text: &str, f: &mut impl Write) -> Result {
    f.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}

fn filters(filters: &Filters) -> Vec<String> {
    let text = |values: &[String]| values.to_vec();
    let date = |dates: &[Date]| dates.iter().map(|d| d.text.clone()).collect::<Vec<_>>();
    let error = |values: &[ErrorIs]| values.iter().map(error_value).collect::<Vec<_>>();
    let all = [
        (Field::Project, text(&filters.project)),
        (Field::Session, text(&filters.session)),
        (Field::Branch, text(&filters.branch)),
        (Field::Role, filters.role.iter().map(|r| r.name().into()).collect()),
        (Field::Tool, text(&filters.tool)),
        (Field::File, text(&filters.file)),
        (Field::Error, error(&filters.error)),
        (Field::Model, text(&filters.model)),
        (Field::Before, date(&filters.before)),
        (Field::After, date(&filters.after)),
        (Field::In, filters.place.iter().map(|p| p.name().into()).collect()),
        (Field::Pr, text(&filters.pr)),
        (Field::Commit, text(&filters.commit)),
    ];
    all.into_iter()
        .flat_map(|(field, values)| values.into_iter().map(move |v| filter(field, &v)))
        .collect()
}

fn error_value(value: &ErrorIs) -> String {
    match value {
        ErrorIs::Yes => "yes".into(),
        ErrorIs::No => "no".into(),
        ErrorIs::With(word) => word.clone(),
    }
}

fn filter(field: Field, value: &str) -> String {
    let mut out = format!("{}:", field.name());
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '#');
    let begins = value.starts_with(|c: char| c.is_alphanumeric());
    if begins && value.chars().all(is_plain) {
        out.push_str(value);
    } else {
        quoted(value, &mut out).expect("a String takes any text");
    }
    out
}

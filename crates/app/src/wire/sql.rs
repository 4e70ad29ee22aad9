//! The tables that `recount sql` answers from.

use serde::Serialize;
use store::table::{Kind, Table};

/// A table, as `recount sql --tables --json` lists it.
#[derive(Serialize)]
#[serde(tag = "type", rename = "table")]
pub struct TableLine {
    /// Its name.
    table: &'static str,
    /// What a row of it is.
    about: &'static str,
    /// The columns that name a row, beside `host` and `user`.
    key: &'static [&'static str],
    /// Its columns, in their order.
    columns: Vec<ColumnLine>,
}

/// A column of a table.
#[derive(Serialize)]
pub struct ColumnLine {
    /// Its name.
    column: &'static str,
    /// What its values are: `text`, `integer`, `boolean` or `time`.
    kind: &'static str,
    /// Whether it may be NULL.
    optional: bool,
    /// Whether a lake holds it only if texts are asked for.
    text: bool,
    /// What it says.
    about: &'static str,
}

impl From<&'static Table> for TableLine {
    fn from(table: &'static Table) -> Self {
        let column = |column: &'static store::table::Column| ColumnLine {
            column: column.name,
            kind: kind(column.kind),
            optional: column.is_optional,
            text: column.is_text,
            about: column.about,
        };
        Self {
            table: table.name,
            about: table.about,
            key: table.key,
            columns: table.columns.iter().map(column).collect(),
        }
    }
}

/// The word for what the values of a column are.
pub const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Integer => "integer",
        Kind::Boolean => "boolean",
        Kind::Time => "time",
    }
}

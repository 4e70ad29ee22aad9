//! What a table is: names, columns and values, the same in SQLite, in Parquet and in the reference.

pub mod ask;
pub mod keep;
pub mod schema;
pub mod words;

/// A table of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name, a plural.
    pub name: &'static str,
    /// What a row is, in one sentence.
    pub about: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    /// The columns that name a row, within a host and a user.
    pub key: &'static [&'static str],
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether it may have none.
    pub is_optional: bool,
    /// Whether it holds what somebody wrote: left empty in a lake unless texts are asked for.
    pub is_text: bool,
    /// What it says, in one sentence.
    pub about: &'static str,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// 64 bits with a sign; money is in millionths of a dollar.
    Integer,
    /// True or false; 1 or 0 in SQLite.
    Boolean,
    /// Milliseconds since 1970 in UTC; in SQLite a text like `2026-11-16 21:54:37.000`.
    Time,
}

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// None.
    Null,
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Integer`].
    Integer(i64),
    /// Of [`Kind::Boolean`].
    Boolean(bool),
    /// Of [`Kind::Time`].
    Time(i64),
}

/// A row: a value for each column of its table.
pub type Row = Vec<Value>;

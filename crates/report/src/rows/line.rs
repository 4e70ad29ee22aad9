//! One row while it is filled, value by value.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use store::table::schema::NO_MONTH;
use store::table::{Kind, Row, Table, Value};
use transcript::time::Time;

use super::Origin;

/// What the rows of a file begin with.
pub struct Head {
    host: Value,
    user: Value,
    session: String,
    agent: Option<String>,
}

impl Head {
    pub fn new(origin: &Origin, session: &str, agent: Option<&str>) -> Self {
        Self {
            host: Value::Text(origin.host.clone()),
            user: Value::Text(origin.user.clone()),
            session: session.to_owned(),
            agent: agent.map(str::to_owned),
        }
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// A row of a table that begins with the session.
    pub fn line(&self, table: &'static Table) -> Line {
        let mut row = Vec::with_capacity(table.columns.len());
        row.extend([self.host.clone(), self.user.clone(), Value::Text(self.session.clone())]);
        Line { table, row }
    }

    /// A row of a table that goes on with the subagent.
    pub fn agent_line(&self, table: &'static Table) -> Line {
        self.line(table).maybe_text(self.agent.as_deref())
    }
}

/// A row that is being filled.
pub struct Line {
    table: &'static Table,
    row: Row,
}

impl Line {
    pub fn value(mut self, value: Value) -> Self {
        self.row.push(value);
        self
    }

    pub fn text(self, text: impl Into<String>) -> Self {
        self.value(Value::Text(text.into()))
    }

    pub fn maybe_text(self, text: Option<impl Into<String>>) -> Self {
        self.value(text.map_or(Value::Null, |text| Value::Text(text.into())))
    }

    /// A count; one beyond what a table can hold is the most it can.
    pub fn count(self, number: impl TryInto<i64>) -> Self {
        self.value(Value::Integer(number.try_into().unwrap_or(i64::MAX)))
    }

    pub fn maybe_count(self, number: Option<impl TryInto<i64>>) -> Self {
        match number {
            Some(number) => self.count(number),
            None => self.value(Value::Null),
        }
    }

    pub fn is(self, is: bool) -> Self {
        self.value(Value::Boolean(is))
    }

    pub fn time(self, time: Option<Time>) -> Self {
        self.value(time.map_or(Value::Null, |time| Value::Time(time.0)))
    }

    /// Day and month of a time.
    pub fn days(self, time: Option<Time>) -> Self {
        match time.and_then(day) {
            Some(day) => {
                let month = day[..7].to_owned();
                self.text(day).text(month)
            }
            None => self.value(Value::Null).text(NO_MONTH),
        }
    }

    /// The row with its table.
    pub fn end(self) -> (&'static Table, Row) {
        debug_assert!(is_of(self.table, &self.row), "{}: {:?}", self.table.name, self.row);
        (self.table, self.row)
    }
}

/// The day of a time in UTC.
fn day(time: Time) -> Option<String> {
    let stamp = Timestamp::from_millisecond(time.0).ok()?;
    let date = TimeZone::UTC.to_datetime(stamp).date();
    (0..=9999).contains(&date.year()).then(|| date.to_string())
}

/// Whether a row has a value of its kind for each column. A text may stand there by its place.
pub fn is_of(table: &Table, row: &Row) -> bool {
    let fits = |(column, value): (&store::table::Column, &Value)| match (value, column.kind) {
        (Value::Null, _) => column.is_optional,
        (Value::Text(_), Kind::Text)
        | (Value::Integer(_), Kind::Integer)
        | (Value::Boolean(_), Kind::Boolean)
        | (Value::Time(_), Kind::Time) => true,
        (Value::Integer(_), Kind::Text) => column.is_text,
        _ => false,
    };
    row.len() == table.columns.len() && table.columns.iter().zip(row).all(fits)
}

//! Questions in SQL, asked of the tables.
//!
//! SQLite itself is asked for every single thing that a question would do (its authoriser): reading
//! the documented tables and computing are allowed, everything else is not. Looking at the text of
//! a question could not tell that.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{Value as Stored, ValueRef};
use rusqlite::{Batch, Connection, ErrorCode};
use transcript::reading::EntryReading;

use super::keep::{self, Tables, TablesError};
use super::schema::{self, TABLES};
use super::words::Place;
use super::{Kind, Row, Table, Value};
use crate::archive::{Access, Archive, GenerationId};
use crate::catalog::Catalog;
use crate::folder::{ARCHIVE, Store};

/// How much of the tables is held in memory, in kilobytes.
const CACHE_KB: i64 = 32 << 10;
/// SQLite never takes more than this, in bytes: then the question fails.
const MEMORY: i64 = 256 << 20;
/// The clock is looked at after so many steps of SQLite's machine.
const STEPS: i32 = 20_000;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// SQLite does not understand it.
    #[error("{message}")]
    Wrong {
        /// What it says.
        message: String,
        /// Names that look like one that is not there.
        near: Vec<String>,
    },
    /// It would do something else than read the tables.
    #[error("only reading the tables is allowed: {0}")]
    Refused(String),
    /// There is more than one statement.
    #[error("one statement at a time")]
    Several,
    /// There is none.
    #[error("there is no statement")]
    Nothing,
    /// It took too long.
    #[error("it took longer than {} seconds", .0.as_secs())]
    TooLong(Duration),
    /// It needs more memory than it may have.
    #[error("it needs more than {} MB of memory", MEMORY >> 20)]
    TooMuch,
    /// The tables can't be read.
    #[error(transparent)]
    Tables(#[from] TablesError),
}

/// A value of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    /// NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Blob(&'a [u8]),
}

impl Tables {
    /// The tables of a store for reading, with the words of its archive; `None` if there are none.
    pub fn with_words(store: &Store) -> Result<Option<Self>, TablesError> {
        let Some(tables) = Self::read(store.folder())? else { return Ok(None) };
        tables.speak(store.folder())?;
        Ok(Some(tables))
    }

    /// Lets the views read texts from the archive.
    fn speak(&self, folder: &Path) -> Result<(), TablesError> {
        let reader = RefCell::new(Reader::new(folder));
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        let words = move |context: &rusqlite::functions::Context<'_>| {
            let (generation, value) = (context.get_raw(0), context.get_raw(1));
            Ok(match (generation, value) {
                (ValueRef::Integer(generation), ValueRef::Integer(place)) => {
                    let words = reader.borrow_mut().words(generation, place);
                    words.map_or(Stored::Null, Stored::Text)
                }
                // Short texts, and those of lakes, stand in the table itself.
                (_, value) => Stored::try_from(value)?,
            })
        };
        self.db.create_scalar_function("words", 2, flags, words).map_err(self.failed())
    }

    /// Asks a question. `head` is given the names of the columns, then `each` every row. What
    /// either of them says is the outer answer; both can stop it with an error of their own.
    pub fn ask<E>(
        &mut self,
        sql: &str,
        timeout: Option<Duration>,
        head: impl FnOnce(&[String]) -> Result<(), E>,
        mut each: impl FnMut(&[Field<'_>]) -> Result<(), E>,
    ) -> Result<Result<(), E>, AskError> {
        let started = Instant::now();
        self.restrict(timeout.map(|timeout| (started, timeout)))?;
        let is_late = || timeout.is_some_and(|timeout| started.elapsed() >= timeout);
        let told = |error: rusqlite::Error| match timeout.filter(|_| is_late()) {
            Some(timeout) => late(error, timeout),
            None => explain(error),
        };
        let mut batch = Batch::new(&self.db, sql);
        let mut statement = batch.next().map_err(told)?.ok_or(AskError::Nothing)?;
        // What follows must be nothing, and must not be understood as something first.
        if !matches!(batch.next(), Ok(None)) {
            return Err(AskError::Several);
        }
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        if let Err(error) = head(&names) {
            return Ok(Err(error));
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(told)? {
            let fields: rusqlite::Result<Vec<Field<'_>>> =
                (0..names.len()).map(|at| row.get_ref(at).map(field)).collect();
            if let Err(error) = each(&fields.map_err(told)?) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    fn restrict(&mut self, limit: Option<(Instant, Duration)>) -> Result<(), TablesError> {
        let failed = self.failed();
        let restrict = |db: &mut Connection| {
            db.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
            db.pragma_update(None, "cache_size", -CACHE_KB)?;
            db.pragma_update(None, "temp_store", "file")?;
            // Answers with the limit.
            db.query_row(&format!("PRAGMA hard_heap_limit = {MEMORY}"), (), |_| Ok(()))?;
            let is_over = move || limit.is_some_and(|(start, most)| start.elapsed() >= most);
            db.progress_handler(STEPS, Some(is_over))?;
            db.authorizer(Some(|context: AuthContext<'_>| may(&context)))
        };
        restrict(&mut self.db).map_err(failed)
    }

    /// The rows of a month of a table, or of all months, in the order of their sessions, texts as
    /// words if they are wanted. A visitor that breaks ends it.
    pub fn rows(
        &self,
        table: &'static Table,
        month: Option<&str>,
        with_texts: bool,
        mut each: impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<(), TablesError> {
        let held = "SELECT s.id FROM held h JOIN source s ON s.unit = h.unit
            WHERE h.name = ?1 AND h.month = ?2 ORDER BY s.session, s.agent, s.id";
        let all = "SELECT id FROM source ORDER BY session, agent, id";
        let reader = keep::Reader::Program { texts: with_texts };
        let sql = keep::select(table, reader) + " WHERE t.source = ?1 ORDER BY t.n";
        let mut read = || {
            let (sql_of, values) = match month {
                Some(month) => (held, vec![table.name, month]),
                None => (all, Vec::new()),
            };
            let mut query = self.db.prepare_cached(sql_of)?;
            let sources = query.query_map(rusqlite::params_from_iter(values), |row| row.get(0))?;
            let sources: Vec<i64> = sources.collect::<rusqlite::Result<_>>()?;
            let mut query = self.db.prepare_cached(&sql)?;
            for source in sources {
                let mut rows = query.query([source])?;
                while let Some(row) = rows.next()? {
                    let row = row_of(table, row)?;
                    if month.is_some_and(|month| !is_of_month(table, &row, month)) {
                        continue;
                    }
                    if each(row).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        };
        read().map_err(self.failed())
    }
}

fn is_of_month(table: &Table, row: &Row, month: &str) -> bool {
    let at = table.columns.iter().position(|column| column.name == "month");
    at.is_some_and(|at| matches!(&row[at], Value::Text(own) if own == month))
}

/// A row for a program as values.
fn row_of(table: &Table, row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let value = |(at, column): (usize, &super::Column)| {
        Ok(match (row.get_ref(at)?, column.kind) {
            (ValueRef::Null, _) => Value::Null,
            (ValueRef::Integer(number), Kind::Time) => Value::Time(number),
            (ValueRef::Integer(number), Kind::Boolean) => Value::Boolean(number != 0),
            (ValueRef::Integer(number), _) => Value::Integer(number),
            (value, _) => Value::Text(String::from_utf8_lossy(value.as_bytes()?).into_owned()),
        })
    };
    table.columns.iter().enumerate().map(value).collect()
}

fn field(value: ValueRef<'_>) -> Field<'_> {
    match value {
        ValueRef::Null => Field::Null,
        ValueRef::Integer(number) => Field::Integer(number),
        ValueRef::Real(number) => Field::Real(number),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Field::Text(text),
            Err(_) => Field::Blob(bytes),
        },
        ValueRef::Blob(bytes) => Field::Blob(bytes),
    }
}

/// Whether a question may do that: read what is documented, and compute.
fn may(context: &AuthContext<'_>) -> Authorization {
    let is_table = |name: &str| TABLES.iter().any(|table| table.name == name);
    let is_allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        // A name of which no column is needed: how many rows it has may be known. It may be one
        // that the question gives itself, and a view does not say that it asks.
        AuthAction::Read { column_name: "", .. } => true,
        AuthAction::Read { table_name, .. } => {
            is_table(table_name) || context.accessor.is_some_and(is_table)
        }
        AuthAction::Function { function_name } => {
            let is_inner = function_name == "words" && context.accessor.is_none();
            !is_inner && !OUTSIDE.iter().any(|name| function_name.eq_ignore_ascii_case(name))
        }
        _ => false,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}

/// Functions that reach out of the tables, if SQLite was built with them.
const OUTSIDE: [&str; 6] =
    ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "fsdir"];

fn late(error: rusqlite::Error, timeout: Duration) -> AskError {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => AskError::TooLong(timeout),
        _ => explain(error),
    }
}

/// What SQLite says of what it may not do, beside its code.
const REFUSED: [&str; 3] = ["prohibited", "cannot modify", "not authorized"];

/// What SQLite says of a question, and what may have been meant.
fn explain(error: rusqlite::Error) -> AskError {
    let code = error.sqlite_error_code();
    let message = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        other => other.to_string(),
    };
    match code {
        Some(ErrorCode::AuthorizationForStatementDenied) => AskError::Refused(message),
        Some(ErrorCode::OutOfMemory) => AskError::TooMuch,
        _ if REFUSED.iter().any(|part| message.contains(part)) => AskError::Refused(message),
        _ => {
            let near = near(&message);
            AskError::Wrong { message, near }
        }
    }
}

/// Names that look like the one that SQLite does not know.
fn near(message: &str) -> Vec<String> {
    let after = |what: &str| message.strip_prefix(what).map(|name| name.trim_matches('"'));
    let (name, names): (&str, Vec<&str>) = if let Some(name) = after("no such column: ") {
        let (table, column) = name.rsplit_once('.').unwrap_or(("", name));
        let of = schema::find(table).map_or(TABLES, std::slice::from_ref);
        (column, of.iter().flat_map(|t| t.columns).map(|column| column.name).collect())
    } else if let Some(name) = after("no such table: ") {
        (name, TABLES.iter().map(|table| table.name).collect())
    } else {
        return Vec::new();
    };
    let name = name.to_ascii_lowercase();
    let has_part = |of: &&str| {
        let is_in = |part: &str| part.len() > 2 && of.contains(part);
        is_in(&name) || name.split('_').any(is_in)
    };
    let is_alike = |of: &&str| slips(&name, of) <= name.len().div_ceil(3);
    let mut near: Vec<&str> = names.iter().copied().filter(has_part).collect();
    if near.is_empty() {
        near = names.into_iter().filter(is_alike).collect();
    }
    near.sort_by_key(|of| (slips(&name, of), *of));
    near.dedup();
    near.into_iter().take(4).map(str::to_owned).collect()
}

/// Letters to add, take away or change.
fn slips(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let change = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

/// Reads texts by their places. Neighbours are asked one after the other.
struct Reader {
    folder: PathBuf,
    /// Opened with the first text: most questions ask for none.
    open: Option<(Archive, Catalog)>,
    /// The files of the generations.
    files: HashMap<i64, i64>,
    /// The places of the entries of a generation.
    last: Option<(i64, Vec<(u64, u32)>)>,
}

impl Reader {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.into(), open: None, files: HashMap::new(), last: None }
    }

    fn words(&mut self, generation: i64, place: i64) -> Option<String> {
        let place = Place::of(place)?;
        if self.open.is_none() {
            self.open()?;
        }
        let (archive, catalog) = self.open.as_ref()?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != generation) {
            let places = catalog.places(*self.files.get(&generation)?).ok()??;
            self.last = Some((generation, places.all()));
        }
        let at = (place.entry as usize).checked_sub(1)?;
        let (offset, length) = *self.last.as_ref()?.1.get(at)?;
        let length = (length as usize).min(transcript::line::HELD);
        let bytes = archive.read(GenerationId(generation), offset, length).ok()?;
        let words = EntryReading::from_bytes(&bytes).words_at(place.spot);
        words.map(|words| words.into_owned())
    }

    fn open(&mut self) -> Option<()> {
        let archive = Archive::open(&self.folder.join(ARCHIVE), Access::Read).ok()?;
        let catalog = Catalog::read(&self.folder).ok()??;
        let files = catalog.files().ok()?;
        self.files = files.iter().map(|file| (file.generation, file.id)).collect();
        self.open = Some((archive, catalog));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered() {
        assert_eq!(near("no such column: cost"), ["cost_microusd"]);
        assert_eq!(near("no such column: r.modle"), ["model", "models", "role"]);
        assert_eq!(near("no such table: request"), ["requests"]);
        assert_eq!(near("no such column: turns.promt"), ["prompt"]);
        assert_eq!(near("no such column: zzz"), Vec::<String>::new());
        assert_eq!(near("near \"SELEC\": syntax error"), Vec::<String>::new());
    }

    #[test]
    fn slips_are_counted() {
        assert_eq!(slips("kitten", "sitting"), 3);
        assert_eq!(slips("", "abc"), 3);
        assert_eq!(slips("same", "same"), 0);
    }
}

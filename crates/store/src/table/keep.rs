//! The tables in a file of SQLite beside the archive. It is made from archive and catalog alone
//! and may be thrown away at any time.
//!
//! What is replaced together is a unit: a session with its subagents. A unit has a stamp, by which
//! one can tell without its rows whether they are still right. Rows name their host, user, session
//! and subagent by one number, and long texts by their place in the archive; the views that a
//! person asks put the words back. For each unit, table and month a digest of the rows is kept, so
//! that it is known which months of which tables have changed: a lake is written by these.

use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OptionalExtension, Statement, ToSql, params};
use transcript::id::Key;
use transcript::time::Time;

use super::schema::{self, NO_MONTH, TABLES, VERSION};
use super::{Column, Kind, Row, Table, Value};
use crate::archive::{connect_read, connect_write, is_out_of_room};

/// The name of the file in the store's folder.
pub const FILE: &str = "tables.sqlite";

/// Why the tables can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// SQLite says no.
    #[error("{path}: {source}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: rusqlite::Error,
    },
}

impl TablesError {
    fn code(&self) -> Option<rusqlite::ErrorCode> {
        let Self::Database { source, .. } = self;
        source.sqlite_error_code()
    }

    /// Whether there is no room for them.
    pub fn is_full(&self) -> bool {
        let Self::Database { source, .. } = self;
        self.code() == Some(rusqlite::ErrorCode::DiskFull) || is_out_of_room(source)
    }

    /// Whether another process is writing them.
    pub fn is_busy(&self) -> bool {
        self.code() == Some(rusqlite::ErrorCode::DatabaseBusy)
    }

    /// Whether they lie where nothing can be written.
    pub fn is_read_only(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
        matches!(self.code(), Some(CannotOpen | ReadOnly))
    }

    fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};
        self.code().is_none_or(|code| matches!(code, DatabaseCorrupt | NotADatabase | Unknown))
    }
}

type Result<T> = std::result::Result<T, TablesError>;

/// The open tables.
pub struct Tables {
    pub(super) db: Connection,
    pub(super) path: PathBuf,
}

/// What the file says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// What the rows were made from, in words of whoever made them.
    pub from: String,
    /// When the file was begun, in milliseconds: counts of another file mean nothing.
    pub begun: i64,
    /// How often something was written.
    pub count: i64,
    /// Whether the rows come from lakes and not from the archive beside them.
    pub is_imported: bool,
}

/// What is replaced together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// What tells whether its rows are still right.
    pub stamp: Vec<u8>,
    /// The generation of the archive in which the texts of each file are, by what the rows call
    /// the file: see the column `agent`.
    pub generations: Vec<(Option<String>, i64)>,
}

/// A stamp of a unit while it is made.
pub struct Stamp(blake3::Hasher);

impl Stamp {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self(blake3::Hasher::new())
    }

    /// Goes on with these bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The stamp.
    pub fn end(&self) -> Vec<u8> {
        self.0.finalize().as_bytes()[..16].to_vec()
    }
}

impl Default for Stamp {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Write for Stamp {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

/// A month of a table, and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The table.
    pub table: &'static Table,
    /// The month.
    pub month: String,
    /// The count of the write that changed it; see [`State::count`].
    pub at: i64,
}

impl Tables {
    /// Opens the tables in `folder` for writing. Those of another version, and damaged ones, are
    /// begun anew.
    pub fn open(folder: &Path, now: Time) -> Result<Self> {
        let path = folder.join(FILE);
        match Self::open_file(&path, now) {
            Ok(tables) if tables.version()? == Some(VERSION) => Ok(tables),
            Err(error) if !error.is_damage() => Err(error),
            _ => {
                Self::remove(folder);
                Self::open_file(&path, now)
            }
        }
    }

    /// Throws the tables away.
    pub fn remove(folder: &Path) {
        for end in ["", "-wal", "-shm"] {
            // What is not there need not go.
            let _ = std::fs::remove_file(folder.join(format!("{FILE}{end}")));
        }
    }

    /// Opens the tables for reading; `None` if there are none of this version.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let open = || -> Result<Option<Self>> {
            let db = connect_read(&path).map_err(|source| failed(&path, source))?;
            let tables = Self { db, path: path.clone() };
            Ok((tables.version()? == Some(VERSION)).then_some(tables))
        };
        match open() {
            Err(error) if error.is_damage() => Ok(None),
            opened => opened,
        }
    }

    fn open_file(path: &Path, now: Time) -> Result<Self> {
        let open = || {
            let db = connect_write(path)?;
            db.set_prepared_statement_cache_capacity(64);
            if db.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get::<_, i64>(0))?
                == 0
            {
                db.execute_batch(&format!("BEGIN IMMEDIATE; {} COMMIT;", ddl()))?;
                let sql = "INSERT OR IGNORE INTO meta (name, value) VALUES ('version', ?1), ('begun', ?2)";
                db.execute(sql, params![VERSION, now.0])?;
            }
            Ok(db)
        };
        let db = open().map_err(|source| failed(path, source))?;
        Ok(Self { db, path: path.into() })
    }

    pub(super) fn failed(&self) -> impl Fn(rusqlite::Error) -> TablesError + use<> {
        let path = self.path.clone();
        move |source| failed(&path, source)
    }

    fn meta<T: rusqlite::types::FromSql>(&self, name: &str) -> Result<Option<T>> {
        let sql = "SELECT value FROM meta WHERE name = ?1";
        self.db.query_row(sql, [name], |row| row.get(0)).optional().map_err(self.failed())
    }

    fn version(&self) -> Result<Option<u32>> {
        self.meta("version")
    }

    /// What the file says of itself.
    pub fn state(&self) -> Result<State> {
        Ok(State {
            from: self.meta("from")?.unwrap_or_default(),
            begun: self.meta("begun")?.unwrap_or_default(),
            count: self.meta("count")?.unwrap_or_default(),
            is_imported: self.meta("imported")?.unwrap_or_default(),
        })
    }

    /// The units with their stamps.
    pub fn units(&self) -> Result<HashMap<String, Vec<u8>>> {
        let read = || {
            let mut query = self.db.prepare("SELECT name, stamp FROM unit")?;
            let rows = query.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<HashMap<_, _>>>()
        };
        read().map_err(self.failed())
    }

    /// The months of the tables that have rows or had some, with when they were last changed.
    pub fn changed(&self) -> Result<Vec<Changed>> {
        let read = || {
            let sql = "SELECT name, month, at FROM changed ORDER BY name, month";
            let mut query = self.db.prepare(sql)?;
            let rows = query.query_map((), |row| {
                let name: String = row.get(0)?;
                let table = schema::find(&name);
                Ok(table.map(|table| (table, row.get(1), row.get(2))))
            })?;
            let mut changed = Vec::new();
            for row in rows {
                if let Some((table, month, at)) = row? {
                    changed.push(Changed { table, month: month?, at: at? });
                }
            }
            Ok(changed)
        };
        read().map_err(self.failed())
    }

    /// Replaces all that there is of a host and a user by these rows, at once. From then on the
    /// tables are what lakes say, and nothing is made from the archive beside them. If the rows end
    /// in an error, nothing has happened.
    pub fn import<E>(
        &mut self,
        host: &str,
        user: &str,
        rows: impl IntoIterator<Item = std::result::Result<(&'static Table, Row), E>>,
    ) -> Result<std::result::Result<(), E>> {
        let mut write = self.write()?;
        let name = format!("lake {host:?} {user:?}");
        write.begin(0, Unit { name, stamp: b"imported".to_vec(), generations: Vec::new() })?;
        for row in rows {
            match row {
                Ok((table, row)) => write.row(0, table, &row)?,
                Err(error) => return Ok(Err(error)),
            }
        }
        write.end(0)?;
        write.set("imported", true)?;
        write.commit()?;
        Ok(Ok(()))
    }

    /// Begins to write. What is written is there with [`Writer::commit`].
    pub fn write(&mut self) -> Result<Writer<'_>> {
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(self.failed())?;
        let count = self.state()?.count + 1;
        let inserts: rusqlite::Result<Vec<Statement<'_>>> =
            TABLES.iter().map(|table| self.db.prepare(&insert(table))).collect();
        let inserts = inserts.map_err(self.failed())?;
        Ok(Writer {
            db: &self.db,
            path: &self.path,
            inserts,
            open: HashMap::new(),
            changed: HashSet::new(),
            count,
            is_done: false,
        })
    }
}

fn failed(path: &Path, source: rusqlite::Error) -> TablesError {
    TablesError::Database { path: path.into(), source }
}

/// The subagent is a part of what names a row, and not a value of its own.
fn has_agent(table: &Table) -> bool {
    table.columns.get(3).is_some_and(|column| column.name == "agent" && column.is_optional)
}

/// Whether a column is stored with the row; others are put back by the view.
fn is_stored(table: &Table, at: usize) -> bool {
    let column = &table.columns[at];
    at >= 3 && !(at == 3 && has_agent(table)) && !matches!(column.name, "day" | "month")
}

fn stored(table: &Table) -> impl Iterator<Item = &Column> {
    table.columns.iter().enumerate().filter(|(at, _)| is_stored(table, *at)).map(|(_, c)| c)
}

/// Everything that the file consists of.
fn ddl() -> String {
    let mut sql = String::from(include_str!("keep.sql"));
    for table in TABLES {
        let columns: Vec<String> =
            stored(table).map(|column| format!("\"{}\"", column.name)).collect();
        sql += &format!(
            "CREATE TABLE row_{} (source INTEGER NOT NULL, n INTEGER NOT NULL, {}, PRIMARY KEY (source, n)) WITHOUT ROWID;\n{};\n",
            table.name,
            columns.join(", "),
            view(table)
        );
    }
    sql
}

fn insert(table: &Table) -> String {
    let count = stored(table).count() + 2;
    let places: Vec<String> = (1..=count).map(|n| format!("?{n}")).collect();
    format!("INSERT INTO row_{} VALUES ({})", table.name, places.join(", "))
}

/// Who reads the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// A person: times are texts.
    Person,
    /// A program: times are numbers. Texts are left out unless they are wanted.
    Program {
        /// Whether texts are wanted.
        texts: bool,
    },
}

/// The view that a person asks.
fn view(table: &Table) -> String {
    format!("CREATE VIEW {} AS {}", table.name, select(table, Reader::Person))
}

/// All columns of a table, put back together.
pub(super) fn select(table: &Table, reader: Reader) -> String {
    let first = table.columns.iter().find(|column| column.kind == Kind::Time);
    let first = first.map_or("", |time| time.name);
    let format =
        |how: &str, time: &str| format!("strftime('{how}', t.\"{time}\" / 1000.0, 'unixepoch')");
    let column = |(at, column): (usize, &Column)| {
        let name = column.name;
        let value = match (name, column.kind) {
            ("day", _) => format("%Y-%m-%d", first),
            ("month", _) => format!("coalesce({}, '{NO_MONTH}')", format("%Y-%m", first)),
            _ if !is_stored(table, at) => format!("s.\"{name}\""),
            (_, Kind::Time) if reader == Reader::Person => format("%Y-%m-%d %H:%M:%f", name),
            _ if column.is_text && reader == (Reader::Program { texts: false }) => "NULL".into(),
            _ if column.is_text => format!("words(s.generation, t.\"{name}\")"),
            _ => format!("t.\"{name}\""),
        };
        format!("{value} AS \"{name}\"")
    };
    let columns: Vec<String> = table.columns.iter().enumerate().map(column).collect();
    let (columns, name) = (columns.join(", "), table.name);
    format!("SELECT {columns} FROM row_{name} t JOIN source s ON s.id = t.source")
}

/// A transaction.
pub struct Writer<'a> {
    db: &'a Connection,
    path: &'a Path,
    inserts: Vec<Statement<'a>>,
    /// Units that are being written, by the caller's own number.
    open: HashMap<usize, Open>,
    /// The months of tables that are noted already.
    changed: HashSet<(String, String)>,
    count: i64,
    is_done: bool,
}

/// A unit that is being written.
struct Open {
    id: i64,
    unit: Unit,
    sources: Vec<Source>,
    /// Where each is, by what names it; the rows of many sessions may come in any order.
    by_key: HashMap<String, usize>,
    /// The one that the last row was of.
    last: usize,
    /// By table and month: of few months, and mostly the last one again.
    digests: Vec<((usize, String), u128)>,
}

/// Whose rows they are.
struct Source {
    id: i64,
    key: [Value; 4],
    /// How many rows each table has.
    rows: Vec<i64>,
}

impl Writer<'_> {
    fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<usize> {
        let run = || self.db.prepare_cached(sql)?.execute(values);
        run().map_err(|source| failed(self.path, source))
    }

    /// Begins a unit: its rows are gone, and those that [`Writer::row`] is given under this number
    /// take their place. Several may be open at once.
    pub fn begin(&mut self, number: usize, unit: Unit) -> Result<()> {
        let id = match self.id_of(&unit.name)? {
            Some(id) => {
                self.clear(id)?;
                self.run("UPDATE unit SET stamp = x'' WHERE id = ?1", [id])?;
                id
            }
            None => {
                self.run("INSERT INTO unit (name, stamp) VALUES (?1, x'')", [&unit.name])?;
                self.db.last_insert_rowid()
            }
        };
        let open = Open {
            id,
            unit,
            sources: Vec::new(),
            by_key: HashMap::new(),
            last: 0,
            digests: Vec::new(),
        };
        self.open.insert(number, open);
        Ok(())
    }

    fn id_of(&self, name: &str) -> Result<Option<i64>> {
        let sql = "SELECT id FROM unit WHERE name = ?1";
        let ask = || self.db.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional();
        ask().map_err(|source| failed(self.path, source))
    }

    /// Takes the rows of a unit away, but not what is known of its months.
    fn clear(&self, unit: i64) -> Result<()> {
        for table in TABLES {
            let sql = format!(
                "DELETE FROM row_{} WHERE source IN (SELECT id FROM source WHERE unit = ?1)",
                table.name
            );
            self.run(&sql, [unit])?;
        }
        self.run("DELETE FROM source WHERE unit = ?1", [unit]).map(drop)
    }

    /// Writes a row of an open unit.
    pub fn row(&mut self, number: usize, table: &'static Table, row: &Row) -> Result<()> {
        let Self { db, path, inserts, open, .. } = self;
        let open = open.get_mut(&number).expect("a unit is begun before its rows");
        let fail = |source| failed(path, source);
        let at = TABLES.iter().position(|of| of.name == table.name).expect("a known table");
        let source = open.source(db, table, row).map_err(fail)?;
        let n = source.rows[at];
        source.rows[at] += 1;
        let insert = &mut inserts[at];
        insert.raw_bind_parameter(1, source.id).map_err(fail)?;
        insert.raw_bind_parameter(2, n).map_err(fail)?;
        let values = row.iter().enumerate().filter(|(at, _)| is_stored(table, *at));
        for (place, (_, value)) in (3..).zip(values) {
            insert.raw_bind_parameter(place, Bound(value)).map_err(fail)?;
        }
        insert.raw_execute().map_err(fail)?;
        open.digest(at, table, row);
        Ok(())
    }

    /// Ends a unit: from now on its stamp holds. Months whose rows are others now are noted.
    pub fn end(&mut self, number: usize) -> Result<()> {
        let open = self.open.remove(&number).expect("a unit is begun before it ends");
        self.note(open.id, &open.digests)?;
        self.run("UPDATE unit SET stamp = ?2 WHERE id = ?1", params![open.id, open.unit.stamp])
            .map(drop)
    }

    /// Takes a unit away.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let Some(id) = self.id_of(name)? else { return Ok(()) };
        self.clear(id)?;
        self.note(id, &[])?;
        self.run("DELETE FROM unit WHERE id = ?1", [id]).map(drop)
    }

    /// Compares the months of a unit with those it had.
    fn note(&mut self, unit: i64, now: &[((usize, String), u128)]) -> Result<()> {
        let read = || {
            let sql = "SELECT name, month, digest FROM held WHERE unit = ?1";
            let mut query = self.db.prepare_cached(sql)?;
            let rows =
                query.query_map([unit], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
            rows.collect::<rusqlite::Result<HashMap<(String, String), Vec<u8>>>>()
        };
        let mut before = read().map_err(|source| failed(self.path, source))?;
        for ((at, month), digest) in now {
            let (name, digest) = (TABLES[*at].name, digest.to_le_bytes());
            let key = (name.to_owned(), month.clone());
            if before.remove(&key).as_deref() != Some(&digest[..]) {
                let sql = "INSERT OR REPLACE INTO held (unit, name, month, digest)
                    VALUES (?1, ?2, ?3, ?4)";
                self.run(sql, params![unit, name, month, digest])?;
                self.change(name, month)?;
            }
        }
        for (name, month) in before.into_keys() {
            let sql = "DELETE FROM held WHERE unit = ?1 AND name = ?2 AND month = ?3";
            self.run(sql, params![unit, name, month])?;
            self.change(&name, &month)?;
        }
        Ok(())
    }

    fn change(&mut self, name: &str, month: &str) -> Result<()> {
        if !self.changed.insert((name.to_owned(), month.to_owned())) {
            return Ok(());
        }
        let sql = "INSERT OR REPLACE INTO changed (name, month, at) VALUES (?1, ?2, ?3)";
        self.run(sql, params![name, month, self.count]).map(drop)
    }

    fn set(&self, name: &str, value: impl ToSql) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
        self.run(sql, params![name, value]).map(drop)
    }

    /// Says what all the rows were made from.
    pub fn made_from(&self, from: &str) -> Result<()> {
        self.set("from", from)
    }

    /// Makes what was written so far so, and goes on. Units that are open have no stamp meanwhile:
    /// if nothing ends them, they are written again.
    pub fn save(&mut self) -> Result<()> {
        self.set("count", self.count)?;
        let again = self.db.execute_batch("COMMIT; BEGIN IMMEDIATE");
        again.map_err(|source| failed(self.path, source))
    }

    /// Makes it so.
    pub fn commit(mut self) -> Result<()> {
        self.set("count", self.count)?;
        self.db.execute_batch("COMMIT").map_err(|source| failed(self.path, source))?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            // The connection may be beyond help; then SQLite rolls back by itself.
            let _ = self.db.execute_batch("ROLLBACK");
        }
    }
}

impl Open {
    /// Whose row it is: mostly the same as the one before.
    fn source(
        &mut self,
        db: &Connection,
        table: &Table,
        row: &Row,
    ) -> rusqlite::Result<&mut Source> {
        let agent = if has_agent(table) { &row[3] } else { &Value::Null };
        let is_last = self.sources.get(self.last).is_some_and(|source| {
            let [host, user, session, own] = &source.key;
            own == agent && *session == row[2] && *user == row[1] && *host == row[0]
        });
        if !is_last {
            let key = [&row[0], &row[1], &row[2], agent];
            let name = format!("{key:?}");
            self.last = match self.by_key.get(&name) {
                Some(at) => *at,
                None => {
                    let source = self.add(db, key.map(Value::clone))?;
                    self.by_key.insert(name, self.sources.len());
                    self.sources.push(source);
                    self.sources.len() - 1
                }
            };
        }
        Ok(&mut self.sources[self.last])
    }

    fn add(&self, db: &Connection, key: [Value; 4]) -> rusqlite::Result<Source> {
        let label = match &key[3] {
            Value::Text(agent) => Some(agent.as_str()),
            _ => None,
        };
        let mut generations = self.unit.generations.iter();
        let generation = generations.find(|(of, _)| of.as_deref() == label).map(|(_, g)| *g);
        let sql = "INSERT INTO source (unit, host, user, session, agent, generation)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let [host, user, session, agent] = key.each_ref().map(Bound);
        let values = params![self.id, host, user, session, agent, generation];
        db.prepare_cached(sql)?.execute(values)?;
        Ok(Source { id: db.last_insert_rowid(), key, rows: vec![0; TABLES.len()] })
    }

    /// Adds a row to the digest of its month; the order of rows does not matter.
    fn digest(&mut self, at: usize, table: &Table, row: &Row) {
        let mut bytes = Vec::with_capacity(256);
        for value in row {
            match value {
                Value::Null => bytes.push(0),
                Value::Text(text) => {
                    bytes.push(1);
                    bytes.extend((text.len() as u64).to_le_bytes());
                    bytes.extend(text.as_bytes());
                }
                Value::Integer(number) | Value::Time(number) => {
                    bytes.push(2);
                    bytes.extend(number.to_le_bytes());
                }
                Value::Boolean(is) => bytes.push(3 + u8::from(*is)),
            }
        }
        let month = table.columns.iter().position(|column| column.name == "month");
        let month = match month.map(|month| &row[month]) {
            Some(Value::Text(month)) => month.as_str(),
            _ => NO_MONTH,
        };
        let digest = Key::of(&bytes).0;
        match self.digests.iter_mut().rfind(|((of, known), _)| *of == at && known == month) {
            Some((_, sum)) => *sum = sum.wrapping_add(digest),
            None => self.digests.push(((at, month.to_owned()), digest)),
        }
    }
}

/// A value as SQLite takes it.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => ToSqlOutput::from(rusqlite::types::Null),
            Value::Text(text) => ToSqlOutput::from(text.as_str()),
            Value::Integer(number) | Value::Time(number) => ToSqlOutput::from(*number),
            Value::Boolean(is) => ToSqlOutput::from(*is),
        })
    }
}

#[cfg(test)]
mod tests;

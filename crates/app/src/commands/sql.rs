//! `recount sql`: questions in SQL.

use std::io::{self, Read};
use std::time::Duration;

use serde::ser::{Serialize, SerializeMap, Serializer};
use store::table::Table as Listed;
use store::table::ask::Field;
use store::table::schema::{self, TABLES};
use transcript::layout::Problem;

use crate::args::SyncWait;
use crate::error::{Answer, CliError, StoreError};
use crate::run::Run;
use crate::terminal::progress::Waiting;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::sql::{TableLine, kind};

/// Ask everything in SQL: sessions, turns, calls, edits, requests and more as tables.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The answer comes from SQLite, in this program: what a question may use is what SQLite
knows. It can read and nothing else. Times are UTC like `2026-11-16 21:54:37.000`, `day` is
`2026-11-16` and `month` is `2026-11`; money is in millionths of a dollar. Texts are read
from the archive when they are asked for, so a question is fast without them.

Examples:
  recount sql --tables                 the tables and their columns
  recount sql --tables requests        one of them in detail
  recount sql \"SELECT month, sum(cost_microusd) / 1e6 AS usd FROM requests GROUP BY month\"
  recount sql --json \"SELECT tool, count(*) AS calls FROM calls GROUP BY tool\"
  recount sql --csv - < question.sql > answer.csv

Twelve useful questions are in docs/guide/sql.md.")]
pub struct SqlArgs {
    /// The question; `-` reads it from standard input
    #[arg(required_unless_present = "tables")]
    query: Option<String>,

    /// List the tables with their columns, or tell all about one
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "", conflicts_with = "query")]
    tables: Option<String>,

    /// As CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Give up after so many seconds; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,

    #[command(flatten)]
    sync_wait: SyncWait,
}

/// Prints the answer.
pub fn run(args: &SqlArgs, run: &mut Run) -> Result<Answer, CliError> {
    args.sync_wait.apply(run);
    if let Some(name) = &args.tables {
        return list(run, name);
    }
    let sql = match args.query.as_deref() {
        Some("-") | None => stdin()?,
        Some(sql) => sql.to_owned(),
    };
    run.json_has_types = false;
    let mut tables = run.recount.open_tables()?;
    let timeout = (args.timeout > 0).then(|| Duration::from_secs(args.timeout));
    let form = match (run.json, args.csv) {
        (true, _) => Form::Json,
        (_, true) => Form::Csv,
        _ => Form::Table(Vec::new()),
    };
    let waiting = Waiting::new(run.is_quiet(), "asking");
    let printer = std::cell::RefCell::new(Printer {
        run,
        names: Vec::new(),
        form,
        rows: 0,
        table: None,
        waiting: Some(waiting),
    });
    let asked = tables.ask(
        &sql,
        timeout,
        |names| printer.borrow_mut().head(names),
        |row| printer.borrow_mut().row(row),
    );
    let mut printer = printer.into_inner();
    // What came before an error is still an answer to some of it.
    printer.end()?;
    asked.map_err(StoreError::Ask)??;
    Ok(if printer.rows > 0 { Answer::Found } else { Answer::Nothing })
}

fn stdin() -> Result<String, CliError> {
    let mut sql = String::new();
    let read = io::stdin().lock().read_to_string(&mut sql);
    read.map_err(|error| CliError::Read(Problem::new("standard input", error)))?;
    Ok(sql)
}

/// How an answer looks.
enum Form {
    Json,
    Csv,
    /// As columns; with the rows that are held until their widths are known.
    Table(Vec<Vec<(String, bool)>>),
}

/// So many rows decide how wide the columns are, and are printed at once.
const BLOCK: usize = 1000;

/// Prints an answer row by row.
struct Printer<'a> {
    run: &'a mut Run,
    names: Vec<String>,
    form: Form,
    rows: usize,
    table: Option<Table>,
    /// Shown until there is something to print.
    waiting: Option<Waiting>,
}

impl Printer<'_> {
    fn head(&mut self, names: &[String]) -> Result<(), CliError> {
        self.names = told_apart(names);
        if matches!(self.form, Form::Csv) {
            let fields = self.names.iter().map(|name| quoted(name));
            let line = fields.collect::<Vec<_>>().join(",") + "\r\n";
            self.waiting = None;
            self.run.out.bytes(line.as_bytes())?;
        }
        Ok(())
    }

    fn row(&mut self, row: &[Field<'_>]) -> Result<(), CliError> {
        self.rows += 1;
        self.waiting = None;
        match &mut self.form {
            Form::Json => self.run.out.json(&Line { names: &self.names, row })?,
            Form::Csv => {
                let fields: Vec<String> = row.iter().map(csv).collect();
                self.run.out.bytes((fields.join(",") + "\r\n").as_bytes())?;
            }
            Form::Table(held) => {
                let cell = |field: &Field<'_>| {
                    let is_number = matches!(field, Field::Integer(_) | Field::Real(_));
                    (plain(field), is_number || *field == Field::Null)
                };
                held.push(row.iter().map(cell).collect());
                if held.len() >= BLOCK {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), CliError> {
        self.waiting = None;
        self.flush()
    }

    /// Prints the rows that are held.
    fn flush(&mut self) -> Result<(), CliError> {
        let Form::Table(held) = &mut self.form else { return Ok(()) };
        if held.is_empty() {
            return Ok(());
        }
        let table = self.table.get_or_insert_with(|| {
            let is_number = |at: usize| held.iter().all(|row| row[at].1);
            let titles = self.names.iter().enumerate();
            Table::named(titles.map(|(at, name)| (name.clone(), is_number(at))))
        });
        for row in held.drain(..) {
            table.push_all(row.into_iter().map(|(text, _)| Cell::from(text)).collect());
        }
        let lines = table.drain(self.run.out.columns());
        Ok(lines.iter().try_for_each(|line| self.run.out.line(line))?)
    }
}

/// Names that several columns have get a number.
fn told_apart(names: &[String]) -> Vec<String> {
    let mut apart: Vec<String> = Vec::new();
    for name in names {
        let mut own = name.clone();
        let mut number = 2;
        while apart.contains(&own) {
            own = format!("{name}_{number}");
            number += 1;
        }
        apart.push(own);
    }
    apart
}

/// A row as a line of JSON.
struct Line<'a> {
    names: &'a [String],
    row: &'a [Field<'a>],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.row.len()))?;
        for (name, field) in self.names.iter().zip(self.row) {
            match field {
                Field::Null => map.serialize_entry(name, &None::<()>)?,
                Field::Integer(number) => map.serialize_entry(name, number)?,
                Field::Real(number) if number.is_finite() => map.serialize_entry(name, number)?,
                Field::Text(text) => map.serialize_entry(name, text)?,
                Field::Real(_) | Field::Blob(_) => map.serialize_entry(name, &plain(field))?,
            }
        }
        map.end()
    }
}

/// A value as text; nothing for NULL.
fn plain(field: &Field<'_>) -> String {
    match field {
        Field::Null => String::new(),
        Field::Integer(number) => number.to_string(),
        Field::Real(number) => match serde_json::Number::from_f64(*number) {
            Some(number) => number.to_string(),
            None if *number > 0.0 => "Infinity".into(),
            None => "-Infinity".into(),
        },
        Field::Text(text) => (*text).to_owned(),
        Field::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// A value as a field of CSV. NULL is nothing, and a text without letters is quoted: so they are
/// told apart.
fn csv(field: &Field<'_>) -> String {
    match field {
        Field::Text(text) => quoted(text),
        other => plain(other),
    }
}

/// As RFC 4180 has it. What a spreadsheet would take for a formula is text.
fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    match is_formula || text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        true => {
            let guard = if is_formula { "'" } else { "" };
            format!("\"{guard}{}\"", text.replace('"', "\"\""))
        }
        false => text.to_owned(),
    }
}

fn list(run: &mut Run, name: &str) -> Result<Answer, CliError> {
    let wanted: &[Listed] = match name {
        "" => TABLES,
        name => {
            let table = schema::find(name).ok_or_else(|| StoreError::NoTable(name.into()))?;
            std::slice::from_ref(table)
        }
    };
    if run.json {
        wanted.iter().try_for_each(|table| run.out.json(&TableLine::from(table)))?;
    } else if let [table] = wanted {
        one(run, table)?;
    } else {
        for table in wanted {
            let name = paint(style::NAME, table.name);
            run.out.line(&format!("{name}  {}", paint(style::DIM, table.about)))?;
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            run.out.line(&format!("    {}", columns.join(", ")))?;
        }
    }
    Ok(Answer::Found)
}

fn one(run: &mut Run, table: &'static Listed) -> Result<(), CliError> {
    run.out.line(table.about)?;
    let mut columns =
        Table::new(&[Column::Left("COLUMN"), Column::Left("KIND"), Column::Left("WHAT")]);
    for column in table.columns {
        let kind = match column.is_optional {
            true => format!("{} or NULL", kind(column.kind)),
            false => kind(column.kind).to_owned(),
        };
        columns.push([
            Cell::new(style::NAME, column.name),
            Cell::new(style::DIM, &kind),
            Cell::from(column.about),
        ]);
    }
    Ok(run.out.table(&columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_csv_are_quoted_where_they_must_be() {
        let cases = [
            (Field::Text("a"), "a"),
            (Field::Text("a,\"b\"\r\n"), "\"a,\"\"b\"\"\r\n\""),
            (Field::Text(""), "\"\""),
            (Field::Text("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\""),
            (Field::Text("-7"), "\"'-7\""),
            (Field::Null, ""),
            (Field::Integer(-7), "-7"),
            (Field::Real(0.5), "0.5"),
            (Field::Real(f64::NEG_INFINITY), "-Infinity"),
            (Field::Blob(&[1, 255]), "01ff"),
        ];
        for (field, want) in cases {
            assert_eq!(csv(&field), want, "{field:?}");
        }
    }

    #[test]
    fn columns_of_one_name_are_told_apart() {
        let names = ["a", "b", "a", "a_2", "a"].map(str::to_owned);
        assert_eq!(told_apart(&names), ["a", "b", "a_2", "a_2_2", "a_3"]);
    }
}

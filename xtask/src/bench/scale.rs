//! The questions of the guide over made requests by the million: SQLite while it fits, DuckDB and
//! Spark on the same lake. All that answer have to give the same rows.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use store::table::keep::Tables;
use store::table::schema::TABLES;
use store::table::{Column, Kind, Row, Table as Rows, Value as Cell};
use transcript::time::Time;

use super::home::target;
use super::record::Report;
use super::store::place;
use super::table::Table;
use super::tool::Recount;

const SCRIPT: &str = "xtask/src/bench/scale.py";
/// SQLite is asked up to here: ten times as many take it minutes to fill.
const SQLITE_MOST: u64 = 10_000_000;

/// What an engine said to one question.
struct Answer {
    seconds: f64,
    rows: Value,
}

/// Asks every engine at every size.
pub fn scale(sizes: &[u64], recount: &Recount) -> Result<Report, String> {
    if let Some(missing) = testkit::lake::missing() {
        return Err(format!("{missing} is not there; `cargo xtask check` fetches it"));
    }
    let questions = questions()?;
    let mut head = vec!["question".to_owned()];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut rows = Vec::new();
    for &requests in sizes {
        let lake = lake(requests)?;
        let mut engines = vec![("DuckDB", "duckdb"), ("Spark", "spark")];
        if requests <= SQLITE_MOST {
            engines.insert(0, ("SQLite", "sqlite"));
        }
        let mut first: Option<Vec<Answer>> = None;
        for (name, engine) in engines {
            let answers = match engine {
                "sqlite" => sqlite(recount, &lake, &questions)?,
                _ => asked(engine, &lake, &questions)?,
            };
            compare(name, &questions, first.as_deref(), &answers)?;
            let seconds: Vec<f64> = answers.iter().map(|answer| answer.seconds).collect();
            let total: f64 = seconds.iter().sum();
            rows.push(json!({ "requests": requests, "engine": name, "seconds": seconds,
                "total_seconds": total }));
            head.push(format!("{name} {} M", requests / 1_000_000));
            columns.push(seconds);
            first.get_or_insert(answers);
        }
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head);
    for (at, (name, _)) in questions.iter().enumerate() {
        let times = columns.iter().map(|column| format!("{:.2}", column[at]));
        table.row(std::iter::once(name.clone()).chain(times).collect());
    }
    let sums = columns.iter().map(|column| format!("{:.2}", column.iter().sum::<f64>()));
    table.row(std::iter::once("all".into()).chain(sums).collect());
    let on = "Made requests, with calls, edits and sessions beside them; seconds for each \
        question, the program's start included for SQLite alone"
        .into();
    Ok(Report { name: "scale".into(), on, table, rows: rows.into(), verdicts: Vec::new() })
}

/// The questions of the guide, by their headings.
fn questions() -> Result<Vec<(String, String)>, String> {
    let path = "docs/guide/sql.md";
    let guide = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let section = |section: &str| {
        let (_, rest) = section.split_once("```sql\n")?;
        let (sql, _) = rest.split_once("```")?;
        Some((section.lines().next()?.trim().to_owned(), sql.to_owned()))
    };
    Ok(guide.split("\n## ").filter_map(section).collect())
}

/// The lake of so many requests, made if it is not there.
fn lake(requests: u64) -> Result<PathBuf, String> {
    let lake = target().join("corpus").join(format!("lake-{requests}"));
    if !lake.exists() {
        let half = lake.with_extension("half");
        let _ = fs::remove_dir_all(&half);
        let made = python("duckdb").arg("make").arg(&half).arg(requests.to_string()).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("the lake could not be made".into());
        }
        fs::rename(&half, &lake).map_err(|e| e.to_string())?;
    }
    lake.canonicalize().map_err(|e| e.to_string())
}

fn python(engine: &str) -> Command {
    let python = testkit::lake::python();
    let mut command = Command::new(&python);
    command.arg(SCRIPT).env("PYTHONPATH", format!("integrations/{engine}"));
    command.env("PYSPARK_PYTHON", python).env("SPARK_LOCAL_IP", "127.0.0.1");
    command
}

/// Starts it with `input`, and gives what it prints.
fn fed(mut command: Command, input: &str) -> Result<(Child, BufReader<ChildStdout>), String> {
    let failed = |error: std::io::Error| error.to_string();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    stdin.write_all(input.as_bytes()).map_err(failed)?;
    let stdout = child.stdout.take().ok_or("no output")?;
    Ok((child, BufReader::with_capacity(1 << 20, stdout)))
}

fn ended(mut child: Child) -> Result<(), String> {
    let status = child.wait().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{SCRIPT}: {status}")) }
}

fn asked(engine: &str, lake: &Path, all: &[(String, String)]) -> Result<Vec<Answer>, String> {
    let mut command = python(engine);
    command.arg(engine).arg(lake);
    let list: Vec<&str> = all.iter().map(|(_, sql)| sql.as_str()).collect();
    let (child, out) = fed(command, &json!(list).to_string())?;
    let mut answers = Vec::new();
    for line in out.lines() {
        let line = line.map_err(|e| e.to_string())?;
        let mut said: Value = serde_json::from_str(&line).map_err(|e| e.to_string())?;
        let seconds = said["seconds"].as_f64().ok_or("no time")?;
        answers.push(Answer { seconds, rows: said["rows"].take() });
    }
    ended(child)?;
    Ok(answers)
}

/// The same rows in a store of their own, asked by the program.
fn sqlite(recount: &Recount, lake: &Path, all: &[(String, String)]) -> Result<Vec<Answer>, String> {
    let store = place("scale")?.join("store");
    fs::create_dir_all(&store).map_err(|e| e.to_string())?;
    fill(&store, lake)?;
    let mut answers = Vec::new();
    for (_, sql) in all {
        let mut command = Command::new(recount.path());
        command.args(["sql", "--json", "--timeout", "0", sql, "--store"]).arg(&store);
        let begun = Instant::now();
        let output = command.output().map_err(|e| e.to_string())?;
        let seconds = begun.elapsed().as_secs_f64();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let rows = lines.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>();
        let rows = rows.map_err(|e| e.to_string())?;
        answers.push(Answer { seconds, rows: rows.into() });
    }
    Ok(answers)
}

/// Takes the rows of a lake into a store, as `recount lake read` does.
fn fill(store: &Path, lake: &Path) -> Result<(), String> {
    let mut command = python("duckdb");
    command.arg("dump").arg(lake);
    let column = |column: &Column| json!({ "column": column.name });
    let table = |table: &Rows| {
        let columns: Vec<Value> = table.columns.iter().map(column).collect();
        json!({ "table": table.name, "columns": columns }).to_string() + "\n"
    };
    let (child, out) = fed(command, &TABLES.iter().map(table).collect::<String>())?;
    let mut tables = Tables::open(store, Time(0)).map_err(|e| e.to_string())?;
    let rows = out.lines().map(|line| {
        let line = line.map_err(|e| e.to_string())?;
        row(&line).ok_or_else(|| format!("no row: {line}"))
    });
    tables.import("all", "someone", rows).map_err(|e| e.to_string())??;
    ended(child)
}

fn row(line: &str) -> Option<(&'static Rows, Row)> {
    let mut fields = line.split('\t');
    let name = fields.next()?;
    let table = TABLES.iter().find(|table| table.name == name)?;
    let cell = |column: &Column| {
        let text = fields.next()?;
        Some(match (column.kind, text) {
            (_, "") if column.is_optional => Cell::Null,
            (Kind::Text, text) => Cell::Text(text.into()),
            (Kind::Integer, "") => Cell::Integer(0),
            (Kind::Integer, text) => Cell::Integer(text.parse().ok()?),
            (Kind::Boolean, text) => Cell::Boolean(text == "1"),
            (Kind::Time, text) => Cell::Time(text.parse().ok()?),
        })
    };
    Some((table, table.columns.iter().map(cell).collect::<Option<Row>>()?))
}

/// Says which question has another answer.
fn compare(
    name: &str,
    questions: &[(String, String)],
    first: Option<&[Answer]>,
    answers: &[Answer],
) -> Result<(), String> {
    if answers.len() != questions.len() {
        return Err(format!("{name} answered {} of {}", answers.len(), questions.len()));
    }
    let Some(first) = first else { return Ok(()) };
    let other = (0..answers.len()).find(|at| first[*at].rows != answers[*at].rows);
    match other {
        Some(at) => Err(format!("{name} says something else to: {}", questions[at].0)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_twelve_questions() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        std::env::set_current_dir(root).unwrap();
        let all = questions().unwrap();
        assert_eq!(all.len(), 12);
        assert!(all.iter().all(|(name, sql)| name.ends_with('?') && sql.starts_with("SELECT")));
    }

    #[test]
    fn a_line_is_a_row() {
        let width = TABLES[0].columns.len();
        let line = format!("{}\th\tu\ts{}", TABLES[0].name, "\t".repeat(width - 3));
        let (table, row) = row(&line).unwrap();
        assert_eq!((table.name, row.len()), (TABLES[0].name, width));
        assert_eq!(row[0], Cell::Text("h".into()));
        assert!(super::row("nothing\t1").is_none());
    }
}

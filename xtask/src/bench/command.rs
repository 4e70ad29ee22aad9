//! Whole commands: `recount` beside the tools that people would take instead.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::home::Home;
use super::measure::{self, Cost};
use super::record::{Report, Target, Verdict, least, median, ratio};
use super::table::Table;
use super::tool::{self, Recount};

/// One command in the race.
struct Contender {
    name: &'static str,
    /// The program, or why there is none.
    program: Result<OsString, String>,
    args: Vec<OsString>,
    /// Too slow to run again and again.
    once: bool,
    /// Finds the answer in what it printed, to see that all answer the same.
    answer: fn(&str) -> Option<u64>,
}

impl Contender {
    fn new(name: &'static str, program: Result<OsString, String>, args: &[&dyn Arg]) -> Self {
        let args = args.iter().flat_map(|arg| arg.words()).collect();
        Self { name, program, args, once: false, answer: |_| None }
    }
}

/// Words of a command line, from text, a path or a list of files.
trait Arg {
    fn words(&self) -> Vec<OsString>;
}

impl Arg for &str {
    fn words(&self) -> Vec<OsString> {
        vec![self.into()]
    }
}

impl Arg for &Path {
    fn words(&self) -> Vec<OsString> {
        vec![self.into()]
    }
}

/// What a contender did.
struct Row {
    name: &'static str,
    costs: Vec<Cost>,
    answer: Option<u64>,
    /// Why there is no cost.
    note: Option<String>,
}

impl Row {
    fn least(&self, part: impl Fn(&Cost) -> f64) -> Option<f64> {
        least(self.costs.iter().map(part))
    }

    fn most(&self, part: impl Fn(&Cost) -> u64) -> Option<u64> {
        self.costs.iter().map(part).max()
    }

    fn read(&self) -> Option<u64> {
        self.costs.iter().filter_map(|cost| cost.read).max()
    }

    fn json(&self, base: &Row) -> Value {
        json!({
            "name": self.name, "answer": self.answer, "note": self.note,
            "wall_ratio": ratio(self.least(|c| c.wall), base.least(|c| c.wall)),
            "cpu_ratio": ratio(self.least(|c| c.cpu), base.least(|c| c.cpu)),
            "runs": self.costs.iter().map(measure::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Runs all in turns, one round that does not count first, and every other round backwards.
fn race(contenders: &[Contender], runs: usize) -> Vec<Row> {
    let mut rows: Vec<_> = contenders
        .iter()
        .map(|c| Row { name: c.name, costs: vec![], answer: None, note: c.program.clone().err() })
        .collect();
    for round in 0..=runs {
        let mut turn: Vec<_> = contenders.iter().zip(&mut rows).collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for (contender, row) in turn {
            // A slow one takes part in the last round only.
            if row.note.is_none() && (!contender.once || round == runs) {
                run_one(contender, row, round > 0);
            }
        }
    }
    rows
}

fn run_one(contender: &Contender, row: &mut Row, counts: bool) {
    let Ok(program) = &contender.program else { return };
    match measure::cost(program, &contender.args) {
        // One says that nothing was found.
        Ok(cost) if matches!(cost.code, Some(0 | 1)) => {
            if counts {
                row.costs.push(cost);
                let said = fs::read_to_string(measure::output()).unwrap_or_default();
                row.answer = (contender.answer)(&said);
            }
        }
        Ok(cost) => row.note = Some(format!("failed with exit code {:?}", cost.code)),
        Err(error) => row.note = Some(error),
    }
}

/// The rows as a table, times and processor compared with those of `base`.
fn table(rows: &[Row], base: &Row) -> Table {
    let head = [
        "command", "s least", "s median", "CPU s", "× time", "× CPU", "peak MB", "read MB",
        "answer",
    ];
    let mut table = Table::new(&head);
    for row in rows {
        if let Some(note) = &row.note {
            table.row(vec![row.name.into(), note.clone()]);
            continue;
        }
        let times = |part: fn(&Cost) -> f64| ratio(row.least(part), base.least(part));
        table.row(vec![
            row.name.into(),
            figure(row.least(|c| c.wall), 3),
            figure(median(row.costs.iter().map(|c| c.wall)), 3),
            figure(row.least(|c| c.cpu), 3),
            figure(times(|c| c.wall), 2),
            figure(times(|c| c.cpu), 2),
            figure(row.most(|c| c.rss).map(|b| b as f64 / 1e6), 1),
            figure(row.read().map(|b| b as f64 / 1e6), 1),
            row.answer.map(|a| a.to_string()).unwrap_or_default(),
        ]);
    }
    table
}

fn figure(value: Option<f64>, digits: usize) -> String {
    value.map(|value| format!("{value:.digits$}")).unwrap_or_default()
}

fn report(name: &str, home: &Home, rows: &[Row], runs: usize, verdicts: Vec<Verdict>) -> Report {
    let base = &rows[0];
    Report {
        name: name.into(),
        on: format!("{}; {runs} runs in turns, files in the page cache", home.text()),
        table: table(rows, base),
        rows: rows.iter().map(|row| row.json(base)).collect(),
        verdicts,
    }
}

/// How the second row's time compares with the first's.
fn times(rows: &[Row], what: &str) -> Verdict {
    let value = ratio(rows[1].least(|c| c.wall), rows[0].least(|c| c.wall));
    Verdict { what: what.into(), value, target: Target::AtMost(3.0) }
}

/// `recount list` beside `wc -l`.
pub fn list(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let list = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    // As many files as there are would not fit on one command line.
    let names = measure::output().with_extension("files");
    write_names(home, &names)?;
    let from = format!("--files0-from={}", names.display());
    let contenders = [
        Contender::new("wc -l", Ok("wc".into()), &[&"-l", &&*from]),
        Contender::new(
            "recount list",
            recount.subcommand("list"),
            &[&"list", &"--claude-dir", &list.as_path()],
        ),
    ];
    let rows = race(&contenders, runs);
    let verdicts = vec![times(&rows, "recount list, × `wc -l`")];
    Ok(report(&format!("list-{}", home.name), home, &rows, runs, verdicts))
}

/// The names of all files of a home, each ended by NUL, as `wc` and `xargs` take them.
fn write_names(home: &Home, to: &Path) -> Result<(), String> {
    let mut names = Vec::new();
    for (file, _) in &home.files {
        names.extend_from_slice(file.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    fs::write(to, names).map_err(|e| format!("{}: {e}", to.display()))
}

/// The query of the script that people pass around, with the place of tool results put right.
const JQ: &str = r#"
([.[] | select(.type=="assistant") | .message.content[]? | select(.type=="tool_use")]
 | map({(.id): {tool: .name, input: .input}}) | add // {}) as $idx
| .[] | select(.type=="user") | .message.content[]? | select(.is_error==true)
| {error: .content, tool_use_id: .tool_use_id} + ($idx[.tool_use_id] // {})"#;

const DUCKDB: &str = r#"
import duckdb, sys
print(duckdb.execute("""
  SELECT count(*) FROM (
    SELECT unnest(json_extract(json, '$.message.content[*]')) AS block
    FROM read_ndjson_objects(?, maximum_object_size = 67108864)
    WHERE json->>'$.type' = 'user')
  WHERE block->>'$.is_error' = 'true'""", [sys.argv[1] + '/projects/**/*.jsonl']).fetchone()[0])"#;

/// `recount errors --json` beside a count by ripgrep, and beside jq and duckdb.
pub fn errors(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let projects = path.join("projects");
    let names = measure::output().with_extension("files");
    write_names(home, &names)?;
    let lines: fn(&str) -> Option<u64> = |said| u64::try_from(said.lines().count()).ok();
    let rg_args: [&dyn Arg; 5] = [&"--no-config", &"-uu", &"-c", &"is_error", &projects.as_path()];
    let contenders = [
        Contender::new("rg -c is_error", tool::ripgrep(), &rg_args),
        Contender {
            answer: lines,
            ..Contender::new(
                "recount errors --json",
                recount.subcommand("errors"),
                &[&"errors", &"--json", &"--claude-dir", &path.as_path()],
            )
        },
        Contender {
            answer: lines,
            once: true,
            ..Contender::new(
                "jq",
                tool::jq(),
                &[&"-0", &"-n1", &"-a", &names.as_path(), &"jq", &"-c", &"-s", &JQ],
            )
        },
        Contender {
            answer: |said| said.trim().parse().ok(),
            once: true,
            ..Contender::new("duckdb", tool::duckdb(), &[&"-c", &DUCKDB, &path.as_path()])
        },
    ];
    let rows = race(&contenders, runs);
    let mut verdicts = vec![times(&rows, "recount errors --json, × `rg -c is_error`")];
    if let Some(planted) = home.errors {
        let wrong = rows[1].answer.map(|found| found.abs_diff(planted) as f64);
        verdicts.push(Verdict {
            what: format!("errors more or fewer than the {planted} planted"),
            value: wrong,
            target: Target::AtMost(0.0),
        });
    }
    Ok(report("errors", home, &rows, runs, verdicts))
}

/// Peak memory of `recount list`.
pub fn memory(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let contenders = [Contender::new(
        "recount list",
        recount.subcommand("list"),
        &[&"list", &"--claude-dir", &path.as_path()],
    )];
    // Two are enough for a peak, and five gigabytes long enough for patience.
    let rows = race(&contenders, runs.min(2));
    let verdicts = vec![Verdict {
        what: "recount list, peak MB".into(),
        value: rows[0].most(|c| c.rss).map(|b| b as f64 / 1e6),
        target: Target::AtMost(200.0),
    }];
    Ok(report("memory", home, &rows, runs.min(2), verdicts))
}

/// Bytes that `recount show --last 20` reads of the largest file.
pub fn tail(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let file = home.files.first().map(|(file, _)| file).ok_or("the home is empty")?;
    let file = fs::canonicalize(file).map_err(|e| e.to_string())?;
    let args: [&dyn Arg; 4] = [&"show", &file.as_path(), &"--last", &"20"];
    let contenders = [
        Contender::new("tail -n 20", Ok("tail".into()), &[&"-n", &"20", &file.as_path()]),
        Contender::new("recount show --last 20", recount.subcommand("show"), &args),
    ];
    let rows = race(&contenders, runs);
    let verdicts = vec![Verdict {
        what: "recount show --last 20, MB read".into(),
        value: rows[1].read().map(|b| b as f64 / 1e6),
        target: Target::AtMost(8.0),
    }];
    Ok(report("tail", home, &rows, runs, verdicts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, walls: &[f64]) -> Row {
        let cost =
            |&wall: &f64| Cost { wall, cpu: wall * 2.0, rss: 5_000_000, read: None, code: Some(0) };
        Row { name, costs: walls.iter().map(cost).collect(), answer: None, note: None }
    }

    #[test]
    fn the_ratio_is_of_the_least_times() {
        let rows = [row("wc -l", &[0.2, 0.1]), row("recount list", &[0.5, 0.25, 0.9])];
        assert_eq!(times(&rows, "x").value, Some(2.5));
        assert_eq!(rows[1].json(&rows[0])["cpu_ratio"], 2.5);
    }

    #[test]
    fn a_command_that_is_not_there_has_a_row_that_says_so() {
        let missing = Contender::new("recount list", Err("not available yet".into()), &[]);
        let rows = race(&[missing], 3);
        let text = table(&rows, &rows[0]).text();
        assert!(text.contains("| recount list | not available yet |"), "{text}");
    }

    #[test]
    fn a_table_holds_least_and_median() {
        let rows = [row("a", &[0.3, 0.1, 0.2])];
        let text = table(&rows, &rows[0]).text();
        let cells: Vec<_> = text.lines().nth(2).expect("a row").split('|').map(str::trim).collect();
        assert_eq!(cells[1..9], ["a", "0.100", "0.200", "0.200", "1.00", "1.00", "5.0", ""]);
    }
}

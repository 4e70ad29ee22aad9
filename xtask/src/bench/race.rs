//! Several commands in turns, and what each of them costs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::home::Home;
use super::measure::{self, Cost};
use super::record::{Report, Target, Verdict, least, median, ratio};
use super::table::Table;

/// One command in the race.
pub struct Contender {
    /// What it is called in the record.
    pub name: &'static str,
    /// The program, or why there is none.
    pub program: Result<OsString, String>,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Too slow to run again and again.
    pub once: bool,
    /// A folder that is not there when it starts.
    pub fresh: Option<PathBuf>,
    /// Finds the answer in what it printed, to see that all answer the same.
    pub answer: fn(&str) -> Option<u64>,
}

impl Contender {
    /// One with these arguments.
    pub fn new(name: &'static str, program: Result<OsString, String>, args: &[&dyn Arg]) -> Self {
        let args = args.iter().flat_map(|arg| arg.words()).collect();
        Self { name, program, args, once: false, fresh: None, answer: |_| None }
    }
}

/// Words of a command line, from text, a path or a list of files.
pub trait Arg {
    /// The words.
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
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What each run cost.
    pub costs: Vec<Cost>,
    /// What it answered.
    pub answer: Option<u64>,
    /// Why there is no cost.
    pub note: Option<String>,
}

impl Row {
    /// The least of a part of the cost.
    pub fn least(&self, part: impl Fn(&Cost) -> f64) -> Option<f64> {
        least(self.costs.iter().map(part))
    }

    /// The most of a part of the cost.
    pub fn most(&self, part: impl Fn(&Cost) -> u64) -> Option<u64> {
        self.costs.iter().map(part).max()
    }

    /// The bytes it read.
    pub fn read(&self) -> Option<u64> {
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
pub fn race(contenders: &[Contender], runs: usize) -> Vec<Row> {
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
    if let Some(fresh) = &contender.fresh {
        let _ = fs::remove_dir_all(fresh);
    }
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

/// A figure with so many digits; nothing if there is none.
pub fn figure(value: Option<f64>, digits: usize) -> String {
    value.map(|value| format!("{value:.digits$}")).unwrap_or_default()
}

/// The rows of a race on a home, the first of them as the measure of the others.
pub fn report(
    name: &str,
    home: &Home,
    rows: &[Row],
    runs: usize,
    verdicts: Vec<Verdict>,
) -> Report {
    let on = format!("{}; {runs} runs in turns, files in the page cache", home.text());
    report_on(name, on, rows, verdicts)
}

/// As [`report()`], on something else than a home.
pub fn report_on(name: &str, on: String, rows: &[Row], verdicts: Vec<Verdict>) -> Report {
    let base = &rows[0];
    Report {
        name: name.into(),
        on,
        table: table(rows, base),
        rows: rows.iter().map(|row| row.json(base)).collect(),
        verdicts,
    }
}

/// How the second row's time compares with the first's.
pub fn times(rows: &[Row], what: &str) -> Verdict {
    let value = ratio(rows[1].least(|c| c.wall), rows[0].least(|c| c.wall));
    Verdict { what: what.into(), value, target: Target::AtMost(3.0) }
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

//! The result of one benchmark: its rows, what was aimed at, and the two files that keep it.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::table::Table;

/// What a figure has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(most) => format!("at most {most}"),
            Self::AtLeast(least) => format!("at least {least}"),
        }
    }
}

/// A figure held against its target; without a figure it could not be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The figure's name with its unit.
    pub what: String,
    /// The figure.
    pub value: Option<f64>,
    /// What it has to be.
    pub target: Target,
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self.value {
            None => "not measured",
            Some(value) if self.target.is_met(value) => "pass",
            Some(_) => "FAIL",
        }
    }

    fn text(&self) -> String {
        let value = self.value.map_or("–".into(), |value| format!("{value:.2}"));
        format!("{}: {value}, {}: {}", self.what, self.target.text(), self.word())
    }

    fn json(&self) -> Value {
        let (bound, target) = match self.target {
            Target::AtMost(most) => ("at most", most),
            Target::AtLeast(least) => ("at least", least),
        };
        let value = self.value.map(|value| (value * 1000.0).round() / 1000.0);
        json!({
            "what": self.what, "value": value, "bound": bound, "target": target,
            "verdict": self.word(),
        })
    }
}

/// One benchmark, done.
#[derive(Debug, Clone)]
pub struct Report {
    /// The benchmark's name, as in the names of its files.
    pub name: String,
    /// What it was measured on, in one sentence.
    pub on: String,
    /// The table for people.
    pub table: Table,
    /// The same for programs.
    pub rows: Value,
    /// What was aimed at.
    pub verdicts: Vec<Verdict>,
}

impl Report {
    /// The report as Markdown.
    pub fn text(&self) -> String {
        let mut out =
            format!("# {}\n\n{}. {}.\n\n{}", self.name, self.on, machine(), self.table.text());
        if !self.verdicts.is_empty() {
            out += "\n";
        }
        for verdict in &self.verdicts {
            out += &format!("- {}\n", verdict.text());
        }
        out
    }

    /// The targets that were measured and not met.
    pub fn missed(&self) -> Vec<String> {
        let missed = self.verdicts.iter().filter(|verdict| verdict.word() == "FAIL");
        missed.map(|verdict| format!("{}, {}", self.name, verdict.text())).collect()
    }

    /// Writes the report into `folder`, over one of the same day.
    pub fn save(&self, folder: &Path) -> Result<(), String> {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let date = today();
        let verdicts: Vec<_> = self.verdicts.iter().map(Verdict::json).collect();
        let json = json!({
            "name": self.name, "date": date, "on": self.on, "machine": machine(),
            "rows": self.rows, "verdicts": verdicts,
        });
        let json = serde_json::to_string_pretty(&json).map_err(|e| e.to_string())? + "\n";
        for (ending, text) in [("json", json), ("md", self.text())] {
            let file = folder.join(format!("{date}-{}.{ending}", self.name));
            fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        Ok(())
    }
}

/// Cores and family of the processor: enough to judge a figure, nothing that names a machine.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line =
            info.lines().find(|line| line.split(':').next().is_some_and(|k| k.trim() == key));
        line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
    };
    let family = match (value("vendor_id"), value("cpu family")) {
        (Some(vendor), Some(family)) => format!("{vendor} family {family}"),
        _ => std::env::consts::ARCH.into(),
    };
    format!("{cores} cores, {family}")
}

/// The date in UTC.
fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(now / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970: Hinnant's `civil_from_days`.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

/// The least of some figures.
pub fn least(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().min_by(f64::total_cmp)
}

/// The middle of some figures; of an even number the lower one, which is a figure that was seen.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// How many times `base` something is.
pub fn ratio(value: Option<f64>, base: Option<f64>) -> Option<f64> {
    let (value, base) = (value?, base?);
    (base > 0.0).then(|| value / base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_median_ratio() {
        let seen = [3.0, 1.0, 2.0, 9.0];
        assert_eq!((least(seen), median(seen)), (Some(1.0), Some(2.0)));
        assert_eq!((least([]), median([]), median([7.0])), (None, None, Some(7.0)));
        assert_eq!(ratio(Some(3.0), Some(2.0)), Some(1.5));
        assert_eq!((ratio(Some(3.0), Some(0.0)), ratio(None, Some(1.0))), (None, None));
    }

    #[test]
    fn verdicts_say_what_was_met_and_what_was_not_measured() {
        let verdict = |value, target| Verdict { what: "x".into(), value, target };
        assert_eq!(verdict(Some(2.5), Target::AtMost(3.0)).text(), "x: 2.50, at most 3: pass");
        assert_eq!(verdict(Some(3.1), Target::AtMost(3.0)).word(), "FAIL");
        assert_eq!(verdict(Some(2.0), Target::AtLeast(2.0)).word(), "pass");
        assert_eq!(verdict(None, Target::AtLeast(2.0)).text(), "x: –, at least 2: not measured");
    }

    #[test]
    fn only_measured_misses_are_misses() {
        let verdict = |value| Verdict { what: "×".into(), value, target: Target::AtMost(3.0) };
        let report = Report {
            name: "list".into(),
            on: "a home".into(),
            table: Table::new(&["what"]),
            rows: json!([]),
            verdicts: vec![verdict(Some(4.0)), verdict(Some(1.0)), verdict(None)],
        };
        assert_eq!(report.missed(), ["list, ×: 4.00, at most 3: FAIL"]);
    }

    #[test]
    fn reports_are_written_under_their_date() {
        let folder = tempfile::tempdir().expect("a folder");
        let table = Table::new(&["what"]);
        let report = Report {
            name: "list".into(),
            on: "x".into(),
            table,
            rows: json!([]),
            verdicts: vec![],
        };
        report.save(folder.path()).expect("writes");
        assert_eq!(fs::read_dir(folder.path()).expect("reads").count(), 2);
    }

    #[test]
    fn days_are_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_453), (2025, 12, 31));
    }
}

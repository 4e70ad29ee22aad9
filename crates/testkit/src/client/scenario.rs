//! The scenarios, and the differences that are known and not yet repaired.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::run::{Difference, Report, Setup, run};
use super::script::{Scenario, parse};

/// The files of scenarios.
pub const FILES: [(&str, &str); 3] = [
    ("print", include_str!("scenario/print.txt")),
    ("agents", include_str!("scenario/agents.txt")),
    ("terminal", include_str!("scenario/terminal.txt")),
];

/// Differences that recount has today: scenario (`*` for all), the beginning of `what: detail`,
/// and the reason. One of a scenario that no longer occurs fails the run, so that it is taken from
/// this list.
pub const KNOWN: &[(&str, &str, &str)] = &[];

/// All scenarios, in the order of their files.
pub fn all() -> Result<Vec<Scenario>, String> {
    let files = FILES.iter().map(|(file, _)| of_file(file));
    Ok(files.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The scenarios of one file.
pub fn of_file(file: &str) -> Result<Vec<Scenario>, String> {
    let found = FILES.iter().find(|(name, _)| *name == file);
    let (_, text) = found.ok_or_else(|| format!("no scenarios are named {file}"))?;
    parse(text).map_err(|why| format!("{file}.txt: {why}"))
}

/// Runs scenarios, several at once, since most of each is waiting; reports as they come.
pub fn run_all(
    scenarios: Vec<Scenario>,
    setup: &Setup,
    told: impl Fn(&Report) + Sync,
) -> Vec<Report> {
    const AT_ONCE: usize = 4;
    let queue = Mutex::new(scenarios.into_iter());
    let reports = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(scenario) = next() {
                    let report = run(&scenario, setup).unwrap_or_else(|why| Report {
                        name: scenario.name.clone(),
                        differences: vec![Difference::new("script", why)],
                        unknown: Vec::new(),
                        files: Vec::new(),
                        took: Duration::ZERO,
                    });
                    told(&report);
                    reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
                }
            });
        }
    });
    reports.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What makes a run fail: differences that are not known, and known ones that did not occur.
pub fn failures(report: &Report) -> Vec<String> {
    let known = KNOWN.iter().filter(|(name, ..)| *name == "*" || *name == report.name);
    let lines: Vec<String> = report
        .differences
        .iter()
        .map(|difference| format!("{}: {}", difference.what, difference.detail))
        .collect();
    let is_new = |line: &&String| !known.clone().any(|(_, begin, _)| line.starts_with(begin));
    let mut failures: Vec<String> = lines.iter().filter(is_new).cloned().collect();
    for (name, begin, _) in known {
        if *name != "*" && !lines.iter().any(|line| line.starts_with(begin)) {
            failures.push(format!("`{begin}` is known and did not occur: take it from KNOWN"));
        }
    }
    failures
}

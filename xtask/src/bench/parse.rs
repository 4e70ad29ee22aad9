//! How fast bytes become entries, in this process, beside a newline scan and serde_json.
//!
//! Processor time of this thread is counted, so that other work on the machine matters little.

use std::fs;
use std::hint::black_box;
use std::ops::Range;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use transcript::entry::Entry;
use transcript::line::Lines;
use transcript::session::{Builder, Options};

use super::home::Home;
use super::record::{Report, Target, Verdict, least, median};
use super::table::Table;

/// More than this is not held in memory.
const MOST: u64 = 1_000_000_000;

/// All transcripts of a home, one after the other.
struct Text {
    bytes: Vec<u8>,
    files: Vec<Range<usize>>,
}

impl Text {
    fn of(home: &Home) -> Result<Self, String> {
        let mut text = Self { bytes: Vec::new(), files: Vec::new() };
        for (file, bytes) in &home.files {
            if text.bytes.len() as u64 + bytes > MOST {
                continue;
            }
            let start = text.bytes.len();
            text.bytes.extend(fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?);
            text.files.push(start..text.bytes.len());
        }
        Ok(text)
    }

    fn files(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().map(|range| &self.bytes[range.clone()])
    }
}

/// A way of reading; gives how many things it saw.
type Way = (&'static str, fn(&Text) -> usize);

const ENTRIES: &str = "every entry and block";
const WAYS: [Way; 4] = [
    ("newline scan", |text| memchr::memchr_iter(b'\n', &text.bytes).count()),
    (ENTRIES, entries),
    ("sessions", sessions),
    ("serde_json values", values),
];

fn entries(text: &Text) -> usize {
    let (mut seen, mut odd) = (0, Vec::new());
    for line in text.files().flat_map(|file| Lines::new(file, 0)) {
        Entry::read(line, &mut odd, |entry| {
            seen += 1 + entry.blocks().len();
            black_box(&entry);
        });
        odd.clear();
    }
    seen
}

fn sessions(text: &Text) -> usize {
    let read = |file: &[u8]| {
        let mut builder = Builder::new();
        builder.read(file).map(|()| builder.finish(&Options::default()).nodes().len())
    };
    text.files().filter_map(|file| read(file).ok()).sum()
}

fn values(text: &Text) -> usize {
    let value =
        |line: &[u8]| serde_json::from_slice::<Value>(line).ok().map(|v| drop(black_box(v)));
    Lines::new(&text.bytes, 0).filter_map(|line| value(line.bytes)).count()
}

/// Seconds of processor time that this thread has used.
pub fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// GB per CPU-second that must be reached. The aim is for homes like those people have; lean lines
/// are nearly all envelope, and their floor only shows when something gets slower.
fn floor(home: &str) -> f64 {
    if home.starts_with("lean") { 1.0 } else { 2.0 }
}

/// Measures all ways in turns.
pub fn parse(home: &Home, runs: usize) -> Result<Report, String> {
    let text = Text::of(home)?;
    let mut rows: Vec<_> = WAYS.iter().map(|&way| (way, Vec::new(), 0)).collect();
    for _ in 0..runs {
        for ((_, way), seconds, seen) in &mut rows {
            let started = processor_seconds();
            *seen = black_box(way(black_box(&text)));
            seconds.push(processor_seconds() - started);
        }
    }
    let gigabytes = text.bytes.len() as f64 / 1e9;
    let mut table = Table::new(&["way", "CPU s least", "CPU s median", "GB per CPU s", "seen"]);
    let mut json = Vec::new();
    let mut verdicts = Vec::new();
    for ((name, _), seconds, seen) in rows {
        let best = least(seconds.iter().copied()).unwrap_or(f64::NAN);
        let middle = median(seconds.iter().copied()).unwrap_or(f64::NAN);
        let speed = gigabytes / best;
        let cells = [format!("{best:.3}"), format!("{middle:.3}"), format!("{speed:.2}")];
        table.row([vec![name.into()], cells.to_vec(), vec![seen.to_string()]].concat());
        json.push(
            json!({ "name": name, "cpu": seconds, "gb_per_cpu_second": speed, "seen": seen }),
        );
        if name == ENTRIES {
            let what = format!("{name}, GB per CPU-second");
            let target = Target::AtLeast(floor(&home.name));
            verdicts.push(Verdict { what, value: Some(speed), target });
        }
    }
    Ok(Report {
        name: format!("parse-{}", home.name),
        on: format!("{}; {runs} runs in turns, in memory, one thread", home.text()),
        table,
        rows: json.into(),
        verdicts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_see_the_same_lines() {
        let bytes = b"{\"type\":\"tag\"}\n{\"type\":\"mode\"}\n".to_vec();
        let text = Text { files: vec![0..15, 15..bytes.len()], bytes };
        for (name, way) in WAYS {
            assert_eq!(way(&text), 2, "{name}");
        }
    }
}

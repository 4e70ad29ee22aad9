//! Lists and pages that commands answer: errors, a file's history, what was used.
//!
//! The commands themselves are asked, so that nothing is told in another way than by them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use ratatui::text::Line;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use transcript::time::Time;

use super::list::Hit;
use super::paint as painted;
use super::row::when;
use crate::args::command_of;
use crate::commands;
use crate::error::{CliError, words};
use crate::run::Run;
use crate::serve::Desk;
use crate::terminal::output::Output;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};

/// Days in the line of costs.
const DAYS: usize = 60;
/// Parts of a cell, from nothing to full.
const PARTS: [char; 9] = [
    ' ', '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
    '\u{2588}',
];

#[derive(Deserialize)]
struct ErrorLine {
    tool: Option<String>,
    error: Option<serde_json::Value>,
    session: Option<String>,
    agent: Option<String>,
    entry: u32,
    time: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum FileLine {
    #[serde(rename = "file_change")]
    Change(Change),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Change {
    session_id: String,
    title: Option<String>,
    agent_id: Option<String>,
    entry: u32,
    time: Option<String>,
    tool: String,
    added: u32,
    removed: u32,
    created: bool,
    unknown: bool,
    state: String,
}

#[derive(Deserialize)]
struct Day {
    day: String,
    cost_usd: Option<f64>,
}

/// Runs a command of our own; what it answers is held.
fn ask(run: &mut Run, line: &[&str]) -> Result<Vec<u8>, CliError> {
    let all = std::iter::once("recount").chain(line.iter().copied());
    let command = command_of(all).expect("a command of our own");
    commands::run(&command, run)?;
    Ok(run.out.take())
}

fn lines<T: DeserializeOwned>(run: &mut Run, line: &[&str]) -> Result<Vec<T>, CliError> {
    let bytes = ask(run, line)?;
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    // What is of another kind is not for this list.
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Failed calls, the last one first.
pub fn errors(run: &mut Run, here: Option<&str>) -> Result<Vec<Hit>, CliError> {
    let mut line = vec!["errors"];
    line.extend(here.iter().flat_map(|here| ["--project", here]));
    let all: Vec<ErrorLine> = lines(run, &line)?;
    let hit = |error: ErrorLine| {
        Some(Hit {
            id: error.session?,
            agent: error.agent,
            entry: error.entry,
            who: format!("#{} {}", error.entry, safe::line(error.tool.as_deref().unwrap_or("?"))),
            snippet: safe::line(&said(error.error.as_ref())),
            when: when(time(error.time.as_deref()), &run.recount.clock),
            ..Hit::default()
        })
    };
    Ok(all.into_iter().rev().filter_map(hit).collect())
}

/// What went wrong; the exit code alone says less than the line below it.
fn said(error: Option<&serde_json::Value>) -> String {
    let text = match error {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match (first.starts_with("Exit code"), lines.next()) {
        (true, Some(next)) => format!("{first}: {next}"),
        _ => first.to_owned(),
    }
}

/// The changes of a file, the last one first.
pub fn file(run: &mut Run, path: &str) -> Result<Vec<Hit>, CliError> {
    let all: Vec<FileLine> = lines(run, &["file", "--", path])?;
    let hit = |line: FileLine| match line {
        FileLine::Change(change) => Some(Hit {
            who: format!("#{} {}", change.entry, safe::line(&change.tool)),
            snippet: change.words(),
            when: when(time(change.time.as_deref()), &run.recount.clock),
            title: safe::line(change.title.as_deref().unwrap_or("(no title)")),
            id: change.session_id,
            agent: change.agent_id,
            entry: change.entry,
            ..Hit::default()
        }),
        FileLine::Other => None,
    };
    Ok(all.into_iter().rev().filter_map(hit).collect())
}

impl Change {
    fn words(&self) -> String {
        let lines = match self.unknown {
            true => "size unknown".into(),
            false => format!("+{} \u{2212}{}", self.added, self.removed),
        };
        let new = if self.created { ", created" } else { "" };
        let state =
            if self.state == "active" { String::new() } else { format!(", {}", self.state) };
        safe::line(&format!("{lines}{new}{state}"))
    }
}

fn time(text: Option<&str>) -> Option<Time> {
    let stamp: Timestamp = text?.parse().ok()?;
    Some(Time(stamp.as_millisecond()))
}

/// What was used, as lines of a screen: a line of costs by day, then tables with bars.
pub fn usage(desk: &Desk, columns: usize) -> Vec<Line<'static>> {
    let text = match tables(desk, columns) {
        Ok(text) => text,
        Err(error) => paint(style::BAD, &safe::line(&words(&error).0)),
    };
    painted::lines(&text, columns)
}

fn tables(desk: &Desk, columns: usize) -> Result<String, CliError> {
    let days: Vec<Day> = lines(&mut desk.run(), &["usage", "daily"])?;
    let mut text = by_day(&days);
    for view in ["monthly", "model", "project"] {
        let mut run = desk.run();
        run.json = false;
        run.out = Output::painted(columns, run.redact);
        let table = ask(&mut run, &["usage", view])?;
        text += &format!("\n\n{}", String::from_utf8_lossy(&table).trim_end());
    }
    Ok(text)
}

/// The costs of the last days in which something was used, a cell each.
fn by_day(days: &[Day]) -> String {
    let known = days.iter().filter_map(|day| Some((day.day.parse().ok()?, day.cost_usd?)));
    let costs: BTreeMap<Date, f64> = known.collect();
    let Some(last) = costs.keys().next_back() else { return "Nothing was used".into() };
    let back = std::iter::successors(Some(*last), |day| day.yesterday().ok());
    let mut shown: Vec<Date> = back.take(DAYS).collect();
    shown.reverse();
    let values: Vec<f64> = shown.iter().map(|day| costs.get(day).copied().unwrap_or(0.0)).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let head = format!("Cost by day, {} to {last}, at most ${most:.2}", shown[0]);
    format!("{}\n{}", paint(style::HEAD, &head), spark(&values))
}

/// Values as cells, the largest one full; what is not nothing is seen.
fn spark(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let full = (PARTS.len() - 1) as f64;
    let part = |value: &f64| match *value > 0.0 {
        true => PARTS[(value / most * full).round().clamp(1.0, full) as usize],
        false => PARTS[0],
    };
    values.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cells_and_little_is_seen() {
        assert_eq!(spark(&[0.0, 0.001, 4.0, 8.0]), " \u{2581}\u{2584}\u{2588}");
        assert_eq!(spark(&[0.0, 0.0]), "  ");
        assert_eq!(spark(&[]), "");
    }

    #[test]
    fn days_without_anything_have_their_place() {
        let day = |day: &str, cost| Day { day: day.into(), cost_usd: Some(cost) };
        let text = by_day(&[day("2026-04-29", 1.0), day("2026-05-01", 2.0)]);
        assert!(text.contains("2026-03-03 to 2026-05-01, at most $2.00"), "{text}");
        assert!(text.ends_with("\u{2584} \u{2588}"), "{text}");
        assert_eq!(by_day(&[]), "Nothing was used");
    }

    #[test]
    fn an_error_is_told_by_its_telling_line() {
        let told = |text: &str| said(Some(&serde_json::Value::String(text.into())));
        assert_eq!(told("Exit code 1\n\nno such command"), "Exit code 1: no such command");
        assert_eq!(told("\nFile does not exist.\nmore"), "File does not exist.");
        assert_eq!(said(None), "");
    }
}

//! Errors, the history of a file and usage, as rows and lines of the screen.

use std::collections::BTreeMap;

use ask::Recount;
use ask::errors::{ErrorsQuery, FailedCall};
use ask::file::FileHistory;
use ask::usage::UsageQuery;
use jiff::civil::Date;
use ratatui::text::Line;
use report::file::{ChangeRow, Filter};
use report::usage::{self, Calendar, Dimension, Tally, WeekStart};
use transcript::session::State;

use super::list::Hit;
use super::paint as painted;
use super::row::when;
use crate::commands::usage::usage_table;
use crate::error::{CliError, words};
use crate::run::Run;
use crate::serve::Desk;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};

/// Costs are counted in millionths of a dollar.
const MICRODOLLARS: f64 = 1e6;
/// Days in the line of costs.
const DAYS: usize = 60;
/// Parts of a cell, from nothing to full.
const PARTS: [char; 9] = [
    ' ', '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
    '\u{2588}',
];

/// Failed calls, the last one first.
pub fn errors(run: &mut Run, here: Option<&str>) -> Result<Vec<Hit>, CliError> {
    let query =
        ErrorsQuery { project: run.recount.project_filter(here)?, ..ErrorsQuery::default() };
    let calls = run.recount.failed_calls(&query)?;
    let hit = |call: FailedCall| {
        let (item, tool) = (&call.item, call.item.tool.as_deref().unwrap_or("?"));
        Some(Hit {
            id: call.session?,
            agent: call.agent,
            entry: item.number,
            who: format!("#{} {}", item.number, safe::line(tool)),
            snippet: safe::line(&error_line(&item.error.text())),
            when: when(item.time, &run.recount.clock),
            ..Hit::default()
        })
    };
    Ok(calls.into_iter().rev().filter_map(hit).collect())
}

/// The first line of an error; an exit code alone says less than the line below it.
fn error_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match (first.starts_with("Exit code"), lines.next()) {
        (true, Some(next)) => format!("{first}: {next}"),
        _ => first.to_owned(),
    }
}

/// The changes of a file, the last one first.
pub fn file(run: &mut Run, path: &str) -> Result<Vec<Hit>, CliError> {
    let history = FileHistory::read(&mut run.recount, path)?;
    let hit = |row: &ChangeRow| Hit {
        who: format!("#{} {}", row.event.number, safe::line(&row.event.tool)),
        snippet: change_line(row),
        when: when(row.event.time, &run.recount.clock),
        title: safe::line(history.title(&row.session).unwrap_or("(no title)")),
        id: row.session.to_string(),
        agent: row.agent.as_ref().map(ToString::to_string),
        entry: row.event.number,
        ..Hit::default()
    };
    let logs = history.logs(&Filter::default());
    Ok(logs.iter().flat_map(|log| &log.changes).rev().map(hit).collect())
}

fn change_line(row: &ChangeRow) -> String {
    let event = &row.event;
    let lines = match event.unknown {
        true => "size unknown".into(),
        false => format!("+{} \u{2212}{}", event.added, event.removed),
    };
    let new = if event.created { ", created" } else { "" };
    let state = match event.state {
        State::Active => String::new(),
        state => format!(", {}", state.name()),
    };
    safe::line(&format!("{lines}{new}{state}"))
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
    let recount = &mut desk.run().recount;
    let days = usage_by(recount, Dimension::Day)?;
    let mut text = by_day(&daily_costs(&days.rows));
    for by in [Dimension::Month, Dimension::Model, Dimension::Project] {
        let Tally { rows, total, .. } = usage_by(recount, by)?;
        let table = usage_table(&[by], &rows, &total);
        let lines = table.map(|table| table.lines(Some(columns))).unwrap_or_default();
        text += &format!("\n\n{}", lines.join("\n"));
    }
    Ok(desk.redacted(text))
}

fn usage_by(recount: &mut Recount, by: Dimension) -> Result<Tally, CliError> {
    let calendar =
        Calendar { zone: recount.clock.now.time_zone().clone(), week_start: WeekStart::Monday };
    let filter = usage::Filter::default();
    let query = UsageQuery { by: vec![by], filter, calendar, prices: None };
    Ok(recount.usage(&query)?.tally)
}

/// The cost of each day, in dollars.
fn daily_costs(rows: &[usage::Row]) -> BTreeMap<Date, f64> {
    let cost = |row: &usage::Row| {
        let day = row.keys.first()?.as_deref()?.parse().ok()?;
        Some((day, row.totals.cost()? as f64 / MICRODOLLARS))
    };
    rows.iter().filter_map(cost).collect()
}

/// The costs of the last days in which something was used, a cell each.
fn by_day(costs: &BTreeMap<Date, f64>) -> String {
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
        let day = |day: &str, cost: f64| (day.parse().expect("a day"), cost);
        let text = by_day(&BTreeMap::from([day("2026-04-29", 1.0), day("2026-05-01", 2.0)]));
        assert!(text.contains("2026-03-03 to 2026-05-01, at most $2.00"), "{text}");
        assert!(text.ends_with("\u{2584} \u{2588}"), "{text}");
        assert_eq!(by_day(&BTreeMap::new()), "Nothing was used");
    }

    #[test]
    fn an_error_is_told_by_its_telling_line() {
        assert_eq!(error_line("Exit code 1\n\nno such command"), "Exit code 1: no such command");
        assert_eq!(error_line("\nFile does not exist.\nmore"), "File does not exist.");
        assert_eq!(error_line(""), "");
    }
}

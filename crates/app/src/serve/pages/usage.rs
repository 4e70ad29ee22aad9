//! Tokens and money, with charts.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use report::filter::{Period, ProjectFilter};
use report::format::{count, dollars, last_part, percent, short_duration, thousands};
use report::html::{Html, Url};
use report::page::Place;
use report::page::chart::{Bar, Bars, bars};
use report::tools::{Grouping, ToolRow, tools};
use report::usage::{Calendar, Dimension, Filter, Row, Totals, View, WeekStart, total, view};
use serde::Deserialize;
use transcript::time::Time;

use super::{Column, LEFT, LESS_NUMBER, NUMBER, Reply, session_url, table};
use crate::serve::desk::Desk;
use crate::serve::shelf::Shelf;

const DAY: i64 = 24 * 3600 * 1000;
/// Rows of a table.
const SHOWN: usize = 20;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    project: Option<String>,
    /// Days back from now; all if not given.
    days: Option<i64>,
}

/// The page of what was used.
pub fn page(desk: &Desk, asked: &Asked) -> Reply {
    let ledger = desk.ledger()?;
    let ledger = &*ledger;
    let clock = desk.run().recount.clock;
    let since =
        asked.days.map(|days| Time(clock.time().0.saturating_sub(days.saturating_mul(DAY))));
    let filter = Filter {
        period: Period { since, until: None },
        project: asked.project.clone().map(ProjectFilter::Folder),
        ..Filter::default()
    };
    let calendar = Calendar { zone: clock.now.time_zone().clone(), week_start: WeekStart::Monday };
    let by = |by: &[Dimension]| {
        let (agents, prs) = (HashMap::new(), HashMap::new());
        view(ledger, &View { by, filter: &filter, calendar: &calendar, agents: &agents, prs: &prs })
    };
    let all = total(ledger, &filter);
    let days = by(&[Dimension::Day, Dimension::Model]);
    let calls = desk.calls()?;
    let is_asked = |call: &&report::tools::CallFact| filter.period.holds(call.time);
    let tools = tools(calls.iter().filter(is_asked), Grouping::Tool);
    let shelf = desk.shelf();
    let html = super::page(Place::Usage, "Usage", "", |html| {
        html.words("h1", "", "Usage");
        spans(html, asked);
        sum(html, &all);
        charts(html, &days);
        rows(html, "By model", &by(&[Dimension::Model]), |html, key| html.text(key));
        rows(html, "By project", &by(&[Dimension::Project]), |html, key| {
            html.tag("a").href(&Url::path(&["p", key])).attr("title", key).text(last_part(key));
        });
        rows(html, "By session", &by(&[Dimension::Session]), |html, key| {
            session(html, &shelf, key)
        });
        if asked.project.is_none() {
            tool_rates(html, &tools);
        }
    });
    Ok(html.into())
}

/// The spans of time that can be asked for.
fn spans(html: &mut Html, asked: &Asked) {
    html.tag("nav").class("levels").attr("aria-label", "Time").with(|html| {
        for (days, name) in
            [(Some(7), "7 days"), (Some(30), "30 days"), (Some(90), "90 days"), (None, "All")]
        {
            let url = Url::path(&["usage"]);
            let url = asked.project.iter().fold(url, |url, project| url.query("project", project));
            let url = days.into_iter().fold(url, |url, days| url.query("days", &days.to_string()));
            let link = html.tag("a").href(&url);
            let link = if asked.days == days { link.attr("aria-current", "true") } else { link };
            link.text(name);
        }
    });
    if let Some(project) = &asked.project {
        html.words("p", "notes", &format!("Of {project} only"));
    }
}

fn cost(totals: &Totals) -> String {
    totals.cost().map_or_else(|| "not known".into(), dollars)
}

fn sum(html: &mut Html, all: &Totals) {
    let tokens = &all.tokens;
    html.within("dl", "fields", |html| {
        for (name, value) in [
            ("Cost", format!("{} ({})", cost(all), all.confidence().name())),
            ("Requests", count(all.requests)),
            ("Calls of tools", count(all.tool_calls)),
            ("Read", thousands(tokens.input)),
            ("Read from the cache", thousands(tokens.cache_read)),
            ("Written to the cache", thousands(tokens.cache_write())),
            ("Written", thousands(tokens.output)),
            ("Of what was read, from the cache", percent(tokens.cache_read, tokens.prompt())),
        ] {
            html.words("dt", "", name);
            html.words("dd", "", &value);
        }
    });
}

/// The sums of each day, by model.
type Days<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a Totals>>;

fn charts(html: &mut Html, rows: &[Row]) {
    let mut days: Days<'_> = BTreeMap::new();
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    for Row { keys, totals } in rows {
        let [Some(day), model] = keys.as_slice() else { continue };
        let model = model.as_deref().unwrap_or("(no model)");
        days.entry(day).or_default().insert(model, totals);
        *models.entry(model).or_default() += totals.cost + totals.tokens.total();
    }
    let mut models: Vec<(&str, u64)> = models.into_iter().collect();
    models.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    let models: Vec<String> = models.into_iter().map(|(model, _)| model.to_owned()).collect();
    let chart =
        |html: &mut Html, title: &str, words: fn(f64) -> String, value: fn(&Totals) -> f64| {
            let bar = |(day, by): (&&str, &BTreeMap<&str, &Totals>)| {
                let part =
                    |model: &String| by.get(model.as_str()).map_or(0.0, |totals| value(totals));
                Bar { label: (*day).to_owned(), parts: models.iter().map(part).collect() }
            };
            let all: Vec<Bar> = days.iter().map(bar).collect();
            bars(html, &Bars { title, series: &models, bars: &all, words });
        };
    chart(html, "Cost by day", |value| dollars(value as u64), |totals| totals.cost as f64);
    chart(
        html,
        "Tokens by day",
        |value| thousands(value as u64),
        |totals| totals.tokens.total() as f64,
    );
    efficiency(html, &days);
}

/// How much of what was read came from the cache.
fn efficiency(html: &mut Html, days: &Days<'_>) {
    let bar = |(day, by): (&&str, &BTreeMap<&str, &Totals>)| {
        let (mut cached, mut read) = (0, 0);
        for totals in by.values() {
            cached += totals.tokens.cache_read;
            read += totals.tokens.prompt();
        }
        let part = if read == 0 { 0.0 } else { cached as f64 * 100.0 / read as f64 };
        Bar { label: (*day).to_owned(), parts: vec![part] }
    };
    let all: Vec<Bar> = days.iter().map(bar).collect();
    let series = ["read from the cache".to_owned()];
    let words = |value: f64| format!("{value:.0} %");
    let title = "Of what was read, from the cache";
    bars(html, &Bars { title, series: &series, bars: &all, words });
}

fn rows(html: &mut Html, title: &str, rows: &[Row], name: impl Fn(&mut Html, &str)) {
    html.words("h2", "", title);
    const COLUMNS: [Column; 6] = [
        Column("", LEFT),
        Column("Cost", NUMBER),
        Column("Requests", NUMBER),
        Column("Read", LESS_NUMBER),
        Column("From the cache", LESS_NUMBER),
        Column("Written", LESS_NUMBER),
    ];
    table(html, &COLUMNS, |out| {
        for Row { keys, totals } in rows.iter().take(SHOWN) {
            let key = keys[0].as_deref();
            out.row(&[
                &|html| match key {
                    Some(key) => name(html, key),
                    None => html.text("(not known)"),
                },
                &|html| html.text(&cost(totals)),
                &|html| html.text(&count(totals.requests)),
                &|html| html.text(&thousands(totals.tokens.input + totals.tokens.cache_write())),
                &|html| html.text(&thousands(totals.tokens.cache_read)),
                &|html| html.text(&thousands(totals.tokens.output)),
            ]);
        }
    });
    if rows.len() > SHOWN {
        html.words("p", "notes", &format!("and {} more", rows.len() - SHOWN));
    }
}

fn session(html: &mut Html, shelf: &Shelf, id: &str) {
    let title = shelf.session(id).and_then(|item| Some(&*item.title.as_ref()?.0));
    html.tag("a").href(&session_url(id, None, None)).text(title.unwrap_or(id));
}

fn tool_rates(html: &mut Html, rows: &[ToolRow]) {
    let mut worst: Vec<&ToolRow> = rows.iter().filter(|row| row.errors > 0).collect();
    let rate = |row: &ToolRow| row.errors as f64 * 100.0 / row.calls.max(1) as f64;
    worst.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let bar = |row: &&ToolRow| Bar { label: row.name.clone(), parts: vec![rate(row)] };
    let all: Vec<Bar> = worst.iter().take(SHOWN).map(bar).collect();
    let series = ["failed".to_owned()];
    let words = |value: f64| format!("{value:.0} %");
    html.words("h2", "", "Tools");
    bars(html, &Bars { title: "Calls that failed, by tool", series: &series, bars: &all, words });
    const COLUMNS: [Column; 5] = [
        Column("Tool", LEFT),
        Column("Calls", NUMBER),
        Column("Failed", NUMBER),
        Column("Median", LESS_NUMBER),
        Column("p95", LESS_NUMBER),
    ];
    table(html, &COLUMNS, |out| {
        for row in rows.iter().take(SHOWN) {
            let time = |ms: Option<i64>| ms.map_or_else(String::new, short_duration);
            out.row(&[
                &|html| html.text(&row.name),
                &|html| html.text(&count(row.calls)),
                &|html| html.text(&format!("{} ({:.1} %)", count(row.errors), rate(row))),
                &|html| html.text(&time(row.median)),
                &|html| html.text(&time(row.p95)),
            ]);
        }
    });
}

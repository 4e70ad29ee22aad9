//! Projects and sessions.

use std::time::Duration;

use report::filter::ProjectFilter;
use report::format::{Clock, count, counted, duration, last_part, size};
use report::html::{Html, Url};
use report::list::{self, Life, List, ListFilter, ListOrder, ListRow, ProjectRow};
use report::page::Place;
use serde::Deserialize;

use super::{Column, LEFT, LESS, LESS_NUMBER, NUMBER, Reply, pager, session_url, table};
use crate::commands::note::Notes;
use crate::serve::desk::Desk;

/// A page that says that the files are being read is shown after so long.
const SOON: Duration = Duration::from_millis(700);
/// Sessions on one page.
const SHOWN: usize = 100;
/// Projects that are listed before the sessions.
const PROJECTS: usize = 12;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    sort: String,
    offset: usize,
    errors: Option<String>,
    all: Option<String>,
}

impl Asked {
    fn order(&self) -> ListOrder {
        match self.sort.as_str() {
            "turns" => ListOrder::Turns,
            "errors" => ListOrder::Errors,
            "size" => ListOrder::Size,
            "duration" => ListOrder::Duration,
            "title" => ListOrder::Title,
            _ => ListOrder::Time,
        }
    }
}

/// The page of all sessions, or of a project's.
pub fn page(desk: &Desk, project: Option<&str>, asked: &Asked) -> Reply {
    let shelf = desk.shelf_within(SOON);
    let filter = ListFilter {
        project: project.map(|path| ProjectFilter::Folder(path.to_owned())),
        errors: asked.errors.is_some(),
        all: asked.all.is_some(),
        ..ListFilter::default()
    };
    let list = list::list(&shelf.library, &shelf.ghosts, &shelf.pulse, &filter, asked.order());
    let mut run = desk.run();
    let (notes, clock) = (Notes::of(&mut run), run.recount.clock);
    let title = project.map_or("Sessions", last_part);
    let html = super::page(Place::Sessions, title, "", |html| {
        html.words("h1", "", title);
        if let Some(project) = project {
            about_project(html, project);
        }
        if shelf.number == 0 {
            return html.tag("p").flag("data-reload", true).text("Reading\u{2026}");
        }
        if project.is_none() {
            projects(html, &clock, &list::projects(&list));
        }
        sessions(html, (&clock, &notes), &list, project, asked);
    });
    Ok(html.into())
}

fn about_project(html: &mut Html, project: &str) {
    html.within("p", "notes", |html| {
        html.words("code", "", project);
        html.text(" \u{b7} ");
        html.tag("a").href(&Url::path(&["journal"]).query("project", project)).text("journal");
        html.text(" \u{b7} ");
        html.tag("a").href(&Url::path(&["errors"]).query("project", project)).text("errors");
        html.text(" \u{b7} ");
        html.tag("a").href(&Url::path(&["usage"]).query("project", project)).text("usage");
    });
}

fn projects(html: &mut Html, clock: &Clock, all: &[ProjectRow]) {
    if all.is_empty() {
        return;
    }
    html.within("section", "", |html| {
        html.words("h2", "", &counted(all.len(), "project"));
        let (first, rest) = all.split_at(all.len().min(PROJECTS));
        project_table(html, clock, first);
        if !rest.is_empty() {
            html.within("details", "more", |html| {
                html.words("summary", "", &counted(rest.len(), "more project"));
                project_table(html, clock, rest);
            });
        }
    });
}

fn project_table(html: &mut Html, clock: &Clock, rows: &[ProjectRow]) {
    const COLUMNS: [Column; 6] = [
        Column("Project", LEFT),
        Column("Last", LEFT),
        Column("Sessions", NUMBER),
        Column("Turns", LESS_NUMBER),
        Column("Errors", LESS_NUMBER),
        Column("Size", LESS_NUMBER),
    ];
    table(html, &COLUMNS, |rows_out| {
        for row in rows {
            rows_out.row(&[
                &|html| {
                    let link = html.tag("a").href(&Url::path(&["p", &row.project]));
                    link.attr("title", &row.project).text(last_part(&row.project));
                },
                &|html| html.text(&row.last.map_or_else(String::new, |time| clock.near(time))),
                &|html| html.text(&count(row.sessions as u64)),
                &|html| html.text(&count(row.turns as u64)),
                &|html| html.words("span", bad(row.errors), &count(row.errors as u64)),
                &|html| html.text(&size(row.size)),
            ]);
        }
    });
}

fn bad(errors: usize) -> &'static str {
    if errors > 0 { "bad" } else { "" }
}

/// What rows are written with: the clock, and a person's notes.
type With<'a> = (&'a Clock, &'a Notes);

fn sessions(
    html: &mut Html,
    with: With<'_>,
    list: &List<'_>,
    project: Option<&str>,
    asked: &Asked,
) {
    html.tag("section").attr("aria-labelledby", "sessions").with(|html| {
        html.tag("h2").attr("id", "sessions").text(&counted(list.rows.len(), "session"));
        orders(html, project, asked);
        let from = asked.offset.min(list.rows.len());
        let rows = &list.rows[from..(from + SHOWN).min(list.rows.len())];
        session_table(html, with, rows, project.is_none());
        let url = here(project, &asked.sort);
        pager(html, &url, from, SHOWN, from + SHOWN < list.rows.len());
        left_out(html, list, asked);
    });
}

fn here(project: Option<&str>, sort: &str) -> Url {
    let url = match project {
        Some(project) => Url::path(&["p", project]),
        None => Url::path(&[]),
    };
    if sort.is_empty() { url } else { url.query("sort", sort) }
}

fn orders(html: &mut Html, project: Option<&str>, asked: &Asked) {
    const ORDERS: [(&str, &str); 6] = [
        ("", "Last active"),
        ("turns", "Turns"),
        ("errors", "Errors"),
        ("size", "Size"),
        ("duration", "Time"),
        ("title", "Title"),
    ];
    html.tag("nav").class("levels").attr("aria-label", "Order").with(|html| {
        for (sort, name) in ORDERS {
            let link = html.tag("a").href(&here(project, sort));
            let is_here = asked.sort == sort;
            let link = if is_here { link.attr("aria-current", "true") } else { link };
            link.text(name);
        }
    });
}

fn session_table(
    html: &mut Html,
    (clock, notes): With<'_>,
    rows: &[ListRow<'_>],
    with_project: bool,
) {
    const COLUMNS: [Column; 9] = [
        Column("Session", LEFT),
        Column("Project", LESS),
        Column("Branch", LESS),
        Column("State", LEFT),
        Column("Started", LEFT),
        Column("Time", LESS_NUMBER),
        Column("Turns", NUMBER),
        Column("Errors", NUMBER),
        Column("Size", LESS_NUMBER),
    ];
    table(html, &COLUMNS, |out| {
        for row in rows {
            let facts = &row.item.facts;
            out.row(&[
                &|html| title(html, row, notes),
                &|html| {
                    if let Some(project) = row.project.as_deref().filter(|_| with_project) {
                        let link = html.tag("a").href(&Url::path(&["p", project]));
                        link.attr("title", project).text(last_part(project));
                    }
                },
                &|html| html.text(facts.git_branch.as_deref().unwrap_or_default()),
                &|html| html.words("span", life(row.life), row.life.name()),
                &|html| html.text(&facts.first.map_or_else(String::new, |time| clock.near(time))),
                &|html| html.text(&row.duration_ms().map_or_else(String::new, duration)),
                &|html| html.text(&count(facts.turns as u64)),
                &|html| html.words("span", bad(row.errors), &count(row.errors as u64)),
                &|html| html.text(&size(row.size)),
            ]);
        }
    });
}

fn life(life: Life) -> &'static str {
    match life {
        Life::Live => "plus",
        Life::Interrupted => "warn",
        Life::Ended | Life::Ghost => "soft",
    }
}

fn title(html: &mut Html, row: &ListRow<'_>, notes: &Notes) {
    let title = row.item.title.as_ref().map_or("(no title)", |(title, _)| title);
    let id = row.item.id.as_str();
    if notes.has_star(id) {
        html.text("★ ");
    }
    for tag in notes.tags(id) {
        html.words("span", "soft", &format!("#{tag} "));
    }
    if row.life == Life::Ghost {
        return html.tag("span").attr("title", "Only its prompts are left").text(title);
    }
    html.tag("a").href(&session_url(row.item.id.as_str(), None, None)).text(title);
}

/// Copies, stubs and the like, which are not listed.
fn left_out(html: &mut Html, list: &List<'_>, asked: &Asked) {
    let others = list.standings.iter().filter(|(name, _)| **name != "whole");
    let words: Vec<String> = others.map(|(name, number)| format!("{number} {name}")).collect();
    if words.is_empty() || asked.all.is_some() {
        return;
    }
    html.within("p", "notes", |html| {
        html.text(&format!("Not listed: {} ", words.join(", ")));
        html.tag("a").href(&Url::path(&[]).query("all", "1")).text("show them");
    });
}

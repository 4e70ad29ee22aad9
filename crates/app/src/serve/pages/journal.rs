//! A project day by day: what was asked, what was committed, what it cost.

use std::collections::BTreeMap;

use report::filter::ProjectFilter;
use report::format::{dollars, last_part};
use report::html::{Html, Url};
use report::list::{self, ListFilter, ListOrder};
use report::page::Place;
use report::tree;
use serde::Deserialize;
use transcript::time::Time;

use super::{Reply, pager, session_url};
use crate::serve::answer::Refusal;
use crate::serve::desk::{Desk, PATIENCE};
use crate::serve::open::Open;
use crate::terminal::format::Clock;

/// Sessions on one page.
const SHOWN: usize = 20;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    project: Option<String>,
    offset: usize,
}

/// Something that happened on a day.
enum Event {
    Prompt(String),
    Commit(String, String),
    Pr(String),
}

/// Something that happened, and where.
struct Happened {
    time: Time,
    session: String,
    entry: u32,
    event: Event,
}

/// The page of a project's days.
pub fn page(desk: &Desk, asked: &Asked) -> Reply {
    let Some(project) = &asked.project else { return Ok(choice(desk).into()) };
    let shelf = desk.shelf_within(PATIENCE);
    let filter = ListFilter {
        project: Some(ProjectFilter::Folder(project.clone())),
        ..ListFilter::default()
    };
    let list = list::list(&shelf.library, &[], &shelf.pulse, &filter, ListOrder::Time);
    let mut happened = Vec::new();
    for row in list.rows.iter().skip(asked.offset).take(SHOWN) {
        if let Some(open) = desk.open(row.item.id.as_str(), None)? {
            gather(&open, &mut happened)?;
        }
    }
    happened.sort_by_key(|one| std::cmp::Reverse(one.time));
    let clock = desk.run().recount.clock;
    let costs = costs(desk, project, &clock)?;
    let html = super::page(Place::Journal, "Journal", "", |html| {
        html.words("h1", "", &format!("Journal of {}", last_part(project)));
        html.words("p", "notes", project);
        for day in happened.chunk_by(|a, b| clock.day(a.time) == clock.day(b.time)) {
            one_day(html, &clock, day, &costs);
        }
        if happened.is_empty() {
            html.words("p", "", "Nothing happened in this project");
        }
        let url = Url::path(&["journal"]).query("project", project);
        pager(html, &url, asked.offset, SHOWN, asked.offset + SHOWN < list.rows.len());
    });
    Ok(html.into())
}

fn choice(desk: &Desk) -> Html {
    let shelf = desk.shelf_within(PATIENCE);
    let filter = ListFilter::default();
    let list = list::list(&shelf.library, &[], &shelf.pulse, &filter, ListOrder::Time);
    let projects = list::projects(&list);
    super::page(Place::Journal, "Journal", "", |html| {
        html.words("h1", "", "Journal");
        html.words("p", "", "Of which project?");
        html.within("ul", "", |html| {
            for project in &projects {
                html.within("li", "", |html| {
                    let url = Url::path(&["journal"]).query("project", &project.project);
                    html.tag("a").href(&url).text(&project.project);
                });
            }
        });
    })
}

/// What happened in a session.
fn gather(open: &Open, all: &mut Vec<Happened>) -> Result<(), Refusal> {
    let opened = open.opened();
    let session = &open.session;
    let nodes = session.nodes();
    let mut add = |node: usize, entry: u32, time: Option<Time>, event: Event| {
        if let Some(time) = time.filter(|_| session.counts(node)) {
            all.push(Happened { time, session: open.id.to_string(), entry, event });
        }
    };
    for turn in session.turns() {
        let node = &nodes[turn.prompt];
        let words = tree::words(&opened, turn.prompt)?.unwrap_or_default();
        add(turn.prompt, node.number, node.time(), Event::Prompt(words));
    }
    for (at, commit) in session.commits() {
        let subject = commit.subject.clone().unwrap_or_default();
        let event = Event::Commit(commit.hash.to_string(), subject);
        add(at, nodes[at].number, nodes[at].time(), event);
    }
    for link in session.pr_links() {
        if let Some(node) = session.numbered(link.entry) {
            add(node, link.entry, link.time, Event::Pr(link.url.to_string()));
        }
    }
    Ok(())
}

/// What each day cost.
fn costs(desk: &Desk, project: &str, clock: &Clock) -> Result<BTreeMap<String, u64>, Refusal> {
    let ledger = desk.ledger()?;
    let ledger = &*ledger;
    let mut costs: BTreeMap<String, u64> = BTreeMap::new();
    let filter = ProjectFilter::Folder(project.to_owned());
    for response in &ledger.responses {
        let is_its = response.project.is_some_and(|name| filter.matches(ledger.name(name)));
        if let (true, Some(time), Some(cost)) = (is_its, response.time, response.cost) {
            *costs.entry(clock.day(time)).or_default() += cost;
        }
    }
    Ok(costs)
}

fn one_day(html: &mut Html, clock: &Clock, day: &[Happened], costs: &BTreeMap<String, u64>) {
    let name = clock.day(day[0].time);
    html.within("section", "day", |html| {
        html.within("h2", "", |html| {
            html.text(&name);
            if let Some(cost) = costs.get(&name) {
                html.words("span", "soft", &format!(" \u{b7} {}", dollars(*cost)));
            }
        });
        html.within("ul", "journal", |html| {
            for one in day {
                html.within("li", "", |html| line(html, clock, one));
            }
        });
    });
}

fn line(html: &mut Html, clock: &Clock, one: &Happened) {
    let url = session_url(&one.session, None, Some(one.entry));
    let time = clock.time_of_day(one.time);
    html.words("span", "soft", time.get(..5).unwrap_or(&time));
    html.text(" ");
    match &one.event {
        Event::Prompt(words) => html.tag("a").href(&url).text(words),
        Event::Commit(hash, subject) => {
            html.words("span", "badge", "commit");
            html.text(" ");
            html.tag("a").href(&url).text(hash.get(..8).unwrap_or(hash));
            html.text(" ");
            html.text(subject);
        }
        Event::Pr(address) => {
            html.words("span", "badge", "pull request");
            html.text(" ");
            html.tag("a").href(&url).text(address);
        }
    }
}

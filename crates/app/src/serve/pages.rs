//! All pages but that of a session.

mod errors;
mod file;
mod journal;
mod search;
mod sessions;
mod storage;
mod usage;

use axum::extract::{Path, Query, State};
use report::html::{Html, Url};
use report::page::document::{Frame, document};
use report::page::{Place, frame};

use super::answer::{Refusal, Reply};
use super::{Held, apart};

/// A page with a head and a wide body.
fn page(place: Place, title: &str, query: &str, body: impl FnOnce(&mut Html)) -> Html {
    document(Frame::Served, title, |html| {
        frame::top(html, place, query);
        html.tag("main").class("wide").attr("id", "text").with(body);
    })
}

/// The address of a session, at an entry if one is named.
fn session_url(id: &str, agent: Option<&str>, entry: Option<u32>) -> Url {
    let url = match agent {
        Some(agent) => Url::path(&["s", id, "a", agent]),
        None => Url::path(&["s", id]),
    };
    entry.into_iter().fold(url, |url, entry| url.at(&format!("e{entry}")))
}

/// A column of a table: its name, and its class.
struct Column(&'static str, &'static str);

const LEFT: &str = "";
const NUMBER: &str = "num";
const LESS: &str = "less";
const LESS_NUMBER: &str = "num less";

/// A table whose rows are written one by one.
fn table(html: &mut Html, columns: &[Column], rows: impl FnOnce(&mut Rows<'_>)) {
    html.within("div", "wide", |html| {
        html.within("table", "list", |html| {
            html.within("thead", "", |html| {
                html.within("tr", "", |html| {
                    for Column(name, class) in columns {
                        html.tag("th").class(class).attr("scope", "col").text(name);
                    }
                });
            });
            html.within("tbody", "", |html| rows(&mut Rows { html, columns }));
        });
    });
}

/// The rows of a table.
struct Rows<'a> {
    html: &'a mut Html,
    columns: &'a [Column],
}

impl Rows<'_> {
    /// One row; each cell is written by its own function.
    fn row(&mut self, cells: &[&dyn Fn(&mut Html)]) {
        self.html.within("tr", "", |html| {
            for (Column(_, class), cell) in self.columns.iter().zip(cells) {
                html.within("td", class, |html| cell(html));
            }
        });
    }
}

pub async fn sessions(State(desk): Held, Query(asked): Query<sessions::Asked>) -> Reply {
    apart(desk, move |desk| sessions::page(desk, None, &asked)).await
}

pub async fn project(
    State(desk): Held,
    Path(project): Path<String>,
    Query(asked): Query<sessions::Asked>,
) -> Reply {
    apart(desk, move |desk| sessions::page(desk, Some(&project), &asked)).await
}

pub async fn search(State(desk): Held, Query(asked): Query<search::Asked>) -> Reply {
    apart(desk, move |desk| search::page(desk, &asked)).await
}

pub async fn file(State(desk): Held, Query(asked): Query<file::Asked>) -> Reply {
    apart(desk, move |desk| file::page(desk, &asked)).await
}

pub async fn errors(State(desk): Held, Query(asked): Query<errors::Asked>) -> Reply {
    apart(desk, move |desk| errors::page(desk, &asked)).await
}

pub async fn usage(State(desk): Held, Query(asked): Query<usage::Asked>) -> Reply {
    apart(desk, move |desk| usage::page(desk, &asked)).await
}

pub async fn storage(State(desk): Held) -> Reply {
    apart(desk, storage::page).await
}

pub async fn journal(State(desk): Held, Query(asked): Query<journal::Asked>) -> Reply {
    apart(desk, move |desk| journal::page(desk, &asked)).await
}

/// Links to the pages before and after of a list that is too long for one.
fn pager(html: &mut Html, url: &Url, offset: usize, shown: usize, has_more: bool) {
    html.within("p", "pager", |html| {
        if offset > 0 {
            let before = url.clone().query("offset", &offset.saturating_sub(shown).to_string());
            html.tag("a").href(&before).attr("rel", "prev").text("\u{2190} before");
            html.text(" ");
        }
        if has_more {
            let after = url.clone().query("offset", &(offset + shown).to_string());
            html.tag("a").href(&after).attr("rel", "next").text("more \u{2192}");
        }
    });
}

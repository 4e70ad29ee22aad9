//! A session as pages that need no code: an index, and pages of some hundred records each.

use std::ops::Range;

use transcript::session::Session;

use crate::format::counted;
use crate::html::{Html, Url};
use crate::page::Style;
use crate::page::document::{Frame, document};
use crate::page::outline::Outline;
use crate::page::session::{self, Head, TurnLine};

use super::pack;
use super::tally::Tally;

/// A page holds about so many records.
pub const RECORDS: usize = 300;

/// The name of a page, counted from 0.
pub fn name(page: usize) -> String {
    format!("page-{}.html", page + 1)
}

/// The pages of a session: their items, and the numbers of their first and last entries.
#[derive(Debug)]
pub struct Pages {
    /// The items of each page.
    pub items: Vec<Range<usize>>,
    spans: Vec<(u32, u32)>,
}

impl Pages {
    /// How the text of a session is laid out.
    pub fn of(session: &Session, outline: &Outline) -> Self {
        let items = outline.pieces(session, RECORDS);
        let spans = items.iter().map(|items| session::span(session, outline, items.clone()));
        Self { spans: spans.collect(), items }
    }

    /// The page that holds an entry; entries that are not shown are on none.
    fn holding(&self, entry: u32) -> Option<usize> {
        self.spans.iter().position(|(first, last)| (*first..=*last).contains(&entry))
    }

    /// Where an entry is.
    fn url(&self, entry: u32) -> Option<Url> {
        Some(Url::beside(&name(self.holding(entry)?)).at(&format!("e{entry}")))
    }

    /// One page, with what was made of its items.
    pub fn page(&self, number: usize, head: &Head, turns: &[TurnLine], text: &Html) -> Html {
        let all = self.items.len();
        let title = format!("{} ({} of {all})", head.title, number + 1);
        document(Frame::Plain, &title, |html| {
            html.within("main", "session", |html| {
                let (first, last) = self.spans[number];
                let here = turns.iter().filter(|turn| (first..=last).contains(&turn.entry));
                nav(html, here, |turn| Some(Url::place(&place(turn))));
                html.within("div", "text", |html| {
                    self.steps(html, number, &title);
                    html.add(text);
                    self.steps(html, number, &title);
                });
            });
        })
    }

    /// The ways from a page to its neighbours.
    fn steps(&self, html: &mut Html, number: usize, title: &str) {
        html.within("p", "branches", |html| {
            html.tag("a").href(&Url::beside("index.html")).text(title);
            if number > 0 {
                html.text(" \u{b7} ");
                html.tag("a").href(&Url::beside(&name(number - 1))).text("previous page");
            }
            if number + 1 < self.items.len() {
                html.text(" \u{b7} ");
                html.tag("a").href(&Url::beside(&name(number + 1))).text("next page");
            }
        });
    }

    /// The first page: what is said of the session, and the way to every turn.
    pub fn index(
        &self,
        head: &Head,
        turns: &[TurnLine],
        style: &Style,
        (tally, notes): (&Tally, &[String]),
        rest: &Html,
    ) -> Html {
        document(Frame::Plain, &head.title, |html| {
            html.within("main", "session", |html| {
                nav(html, [].iter(), |_| None);
                html.within("div", "text", |html| {
                    session::head(html, head, style);
                    html.words("h2", "", &counted(turns.len(), "turn"));
                    list(html, turns.iter(), |turn| self.url(turn.entry));
                    html.words("h2", "", &counted(self.items.len(), "page"));
                    html.within("p", "", |html| self.numbers(html));
                    html.add(rest);
                    pack::foot(html, tally, style, notes);
                });
                session::facts(html, head, style, |entry| self.url(entry));
            });
        })
    }

    fn numbers(&self, html: &mut Html) {
        for number in 0..self.items.len() {
            html.tag("a").href(&Url::beside(&name(number))).text(&(number + 1).to_string());
            html.text(" ");
        }
    }
}

fn place(turn: &TurnLine) -> String {
    format!("e{}", turn.entry)
}

fn nav<'a>(
    html: &mut Html,
    turns: impl Iterator<Item = &'a TurnLine>,
    url: impl Fn(&TurnLine) -> Option<Url>,
) {
    html.tag("nav").attr("aria-label", "Turns").with(|html| list(html, turns, url));
}

fn list<'a>(
    html: &mut Html,
    turns: impl Iterator<Item = &'a TurnLine>,
    url: impl Fn(&TurnLine) -> Option<Url>,
) {
    html.within("ol", "turns", |html| {
        for turn in turns {
            html.tag("li").with(|html| {
                html.words("span", "n", &turn.number.to_string());
                html.text(" ");
                match url(turn) {
                    Some(url) => html.tag("a").href(&url).text(&turn.words),
                    None => html.text(&turn.words),
                }
            });
        }
    });
}

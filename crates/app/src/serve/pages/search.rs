//! What a search finds, in all sessions.

use std::borrow::Cow;

use ask::HistoryError;
use ask::search::{SearchAnswer, SearchQuery, subagent_of_hit};
use report::format::{Clock, last_part};
use report::html::{Html, Url};
use report::page::Place;
use serde::Deserialize;
use store::find::Hit;
use store::index::{By, Rung};
use store::query::Place as Stands;

use super::{Refusal, Reply, pager, session_url};
use crate::error::{StoreError, words};
use crate::serve::desk::Desk;

/// Hits on one page.
const SHOWN: usize = 30;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    q: String,
    offset: usize,
}

/// The page of a search.
pub fn page(desk: &Desk, asked: &Asked) -> Reply {
    let clock = desk.run().recount.clock;
    let found = match asked.q.trim() {
        "" => None,
        text => Some(find(desk, text, asked.offset)?),
    };
    let html = super::page(Place::Search, "Search", &asked.q, |html| {
        html.words("h1", "", "Search");
        match &found {
            None => help(html),
            Some(Err(wrong)) => html.words("p", "bad", wrong),
            Some(Ok(hits)) => results(html, &clock, hits, asked),
        }
    });
    Ok(html.into())
}

/// What was found, or what is wrong with the question.
fn find(desk: &Desk, text: &str, offset: usize) -> Result<Result<SearchAnswer, String>, Refusal> {
    let mut recount = desk.run().recount;
    // The server brings the store up to date whenever something changes.
    recount.updates_store = false;
    if recount.open_index()?.is_none() {
        return Ok(Err("Nothing can be searched yet: the store is being made".into()));
    }
    let query = SearchQuery { text: text.into(), regex: None, by: By::Both, limit: SHOWN, offset };
    match recount.search(&query) {
        Err(HistoryError::Store(error @ StoreError::Query(..))) => {
            let (what, hint) = words(&error.into());
            Ok(Err(format!("{what}. {}", hint.unwrap_or_default())))
        }
        answer => Ok(Ok(answer?)),
    }
}

fn help(html: &mut Html) {
    html.within("dl", "fields", |html| {
        for (what, means) in [
            ("port in use", "any of the words, those with most of them first"),
            ("\"address already in use\"", "a phrase"),
            ("login -docker", "without a word"),
            ("migrat*", "the beginning of a word"),
            ("tool:Bash error:yes", "failed commands"),
            ("role:prompt after:yesterday", "what was asked since yesterday"),
            ("file:src/main.rs", "what was done to a file"),
            ("project:shop in:abandoned", "what was given up in a project"),
        ] {
            html.within("dt", "", |html| {
                html.tag("a").href(&Url::path(&["search"]).query("q", what)).text(what);
            });
            html.words("dd", "", means);
        }
    });
}

fn results(html: &mut Html, clock: &Clock, found: &SearchAnswer, asked: &Asked) {
    if found.hits.is_empty() {
        return html.words("p", "", "Nothing found");
    }
    if found.rung != Rung::Words {
        let words = format!("Nothing has these words as they are; found by {}", found.rung.name());
        html.words("p", "notes", &words);
    }
    let mut shown: Vec<&str> = Vec::new();
    for hit in &found.hits {
        let id = hit.session.id.as_str();
        if shown.contains(&id) {
            continue;
        }
        shown.push(id);
        html.within("section", "hits", |html| {
            heading(html, clock, hit);
            for hit in found.hits.iter().filter(|hit| hit.session.id.as_str() == id) {
                one(html, clock, hit);
            }
        });
    }
    let url = Url::path(&["search"]).query("q", &asked.q);
    pager(html, &url, asked.offset, SHOWN, found.is_more);
}

fn heading(html: &mut Html, clock: &Clock, hit: &Hit) {
    let session = &hit.session;
    html.within("h2", "", |html| {
        let title = session.title.as_deref().unwrap_or("(no title)");
        match hit.is_ghost() {
            true => html.text(title),
            false => html.tag("a").href(&session_url(session.id.as_str(), None, None)).text(title),
        }
    });
    let mut place = Vec::new();
    place.extend(session.project.as_deref().map(|path| last_part(path).to_owned()));
    place.extend(session.last.map(|time| clock.near(time)));
    if hit.is_ghost() {
        place.push("only its prompts are left".into());
    } else if hit.is_gone {
        place.push("kept in the store only".into());
    }
    html.words("p", "notes", &place.join(" \u{b7} "));
}

fn one(html: &mut Html, clock: &Clock, hit: &Hit) {
    html.within("p", "hit", |html| {
        let agent = subagent_of_hit(hit);
        let id = hit.session.id.as_str();
        let words = format!("{} #{}", hit.role.name(), hit.entry);
        match hit.is_ghost() {
            true => html.words("span", "badge", &words),
            false => {
                let url = session_url(id, agent.as_deref(), None);
                let word = hit.snippet.marks.first().map(|mark| &hit.snippet.text[mark.clone()]);
                let url = word.into_iter().fold(url, |url, word| url.query("find", word));
                let url = url.at(&format!("e{}", hit.entry));
                html.tag("a").class("badge").href(&url).text(&words);
            }
        }
        html.text(" ");
        if let Some(time) = hit.time {
            html.words("span", "soft", &clock.near(time));
            html.text(" ");
        }
        if hit.place != Stands::Active {
            html.words("span", "badge", hit.place.name());
            html.text(" ");
        }
        snippet(html, hit);
    });
}

fn snippet(html: &mut Html, hit: &Hit) {
    let text = &hit.snippet.text;
    let mut at = 0;
    if hit.snippet.is_cut_before {
        html.text("\u{2026}");
    }
    for mark in &hit.snippet.marks {
        html.text(&typed(&text[at..mark.start]));
        html.words("mark", "hit", &text[mark.clone()]);
        at = mark.end;
    }
    html.text(&typed(&text[at..]));
    if hit.snippet.is_cut_after {
        html.text("\u{2026}");
    }
}

/// Claude Code's tags around a command; the message says the name once more.
const TAGS: [&str; 8] = [
    "<command-name>",
    "</command-name>",
    "<command-args>",
    "</command-args>",
    "<command-message>",
    "</command-message>",
    "<bash-input>",
    "</bash-input>",
];

/// A piece of a text with its commands as they were typed.
fn typed(text: &str) -> Cow<'_, str> {
    if !text.contains("<command-") && !text.contains("</command-") && !text.contains("bash-input>")
    {
        return Cow::Borrowed(text);
    }
    let mut text = text.to_owned();
    if let Some((from, to)) = text.find("<command-message>").zip(text.find("</command-message>"))
        && from < to
    {
        text.replace_range(from..to, "");
    }
    TAGS.iter().for_each(|tag| text = text.replace(tag, " "));
    let words: Vec<&str> = text.split_whitespace().collect();
    Cow::Owned(format!(" {} ", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_they_were_typed() {
        let text = "<command-message>review is running\u{2026}</command-message>\n<command-name>/review</command-name>\n<command-args>src main</command-args>";
        assert_eq!(typed(text), " /review src main ");
        assert_eq!(typed("</command-name> <command-args>"), "  ");
        assert_eq!(typed("a <b> c"), "a <b> c");
    }
}

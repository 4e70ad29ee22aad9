//! Searches of all contents, on a thread of their own: only the last one asked for is answered.

use std::sync::mpsc::{Receiver, Sender};

use ask::search::{SearchQuery, subagent_of_hit};
use store::find;
use store::index::{By, Rung};
use store::query::Place;

use super::gather;
use super::list::{Hit, Topic};
use super::row::when;
use super::state::Msg;
use crate::error::{CliError, words};
use crate::run::Run;
use crate::serve::Desk;
use crate::terminal::safe;

/// Hits that are shown.
const SHOWN: usize = 60;

/// What can be asked for.
#[derive(Debug)]
pub enum Wish {
    /// Hits, in one folder's sessions or in all.
    Hits(Topic, Option<String>),
    /// What was used, so wide.
    Usage(usize),
}

/// Answers until nobody asks any more.
pub fn run(desk: &Desk, asked: &Receiver<Wish>, say: &Sender<Msg>) {
    while let Ok(first) = asked.recv() {
        let msg = match asked.try_iter().last().unwrap_or(first) {
            Wish::Hits(topic, here) => search(&mut desk.run(), topic, here.as_deref()),
            Wish::Usage(columns) => Msg::Usage(gather::usage(desk, columns)),
        };
        if say.send(msg).is_err() {
            return;
        }
    }
}

/// What there is about a topic, in one folder's sessions or in all.
pub fn search(run: &mut Run, topic: Topic, here: Option<&str>) -> Msg {
    let all = |hits: Vec<Hit>| {
        let told = if hits.is_empty() { "Nothing found" } else { "" };
        (hits, told.to_owned())
    };
    let found = match &topic {
        Topic::Words(asked) => find(run, asked, here).map(|(found, told)| {
            (found.iter().map(|hit| shown(run, hit)).collect::<Vec<Hit>>(), told)
        }),
        Topic::Errors => gather::errors(run, here).map(all),
        Topic::File(path) => gather::file(run, path).map(all),
    };
    let (hits, told) = found.unwrap_or_else(|error| {
        let (what, hint) = words(&error);
        let hint = hint.map(|hint| format!(". {hint}")).unwrap_or_default();
        (Vec::new(), safe::line(&format!("{what}{hint}")))
    });
    Msg::Hits(topic, hits, told)
}

fn find(
    run: &mut Run,
    asked: &str,
    here: Option<&str>,
) -> Result<(Vec<find::Hit>, String), CliError> {
    let text = match here {
        Some(here) => format!("{asked} project:\"{here}\""),
        None => asked.to_owned(),
    };
    let query = SearchQuery { text, regex: None, by: By::Both, limit: SHOWN, offset: 0 };
    let found = run.recount.search(&query)?;
    run.note_observed();
    let mut told = run.talk.take();
    if found.hits.is_empty() {
        told.push("Nothing found".into());
    } else if found.rung != Rung::Words {
        told.push(format!("found by {}", found.rung.name()));
    }
    if found.is_more {
        told.push(format!("the first {SHOWN}"));
    }
    Ok((found.hits, safe::line(&told.join(" \u{b7} "))))
}

fn shown(run: &Run, hit: &find::Hit) -> Hit {
    let place = match hit.place {
        Place::Active => String::new(),
        place => format!(", {}", place.name()),
    };
    let (snippet, marks) = snippet(hit);
    Hit {
        id: hit.session.id.to_string(),
        agent: subagent_of_hit(hit),
        title: safe::line(hit.session.title.as_deref().unwrap_or("(no title)")),
        project: hit.session.project.clone(),
        entry: hit.entry,
        who: format!("#{} {}{place}", hit.entry, hit.role.name()),
        snippet,
        marks,
        when: when(hit.time, &run.recount.clock),
        is_ghost: hit.is_ghost(),
    }
}

/// The words around a match on one safe line, with where the match is in them.
fn snippet(hit: &find::Hit) -> (String, Vec<std::ops::Range<usize>>) {
    let flat = |text: &str| safe::text(&text.replace(char::is_whitespace, " ")).into_owned();
    let raw = &hit.snippet.text;
    let mut line = String::new();
    let mut marks = Vec::new();
    let mut at = 0;
    if hit.snippet.is_cut_before {
        line.push('\u{2026}');
    }
    for mark in &hit.snippet.marks {
        line.push_str(&flat(&raw[at..mark.start]));
        let start = line.len();
        line.push_str(&flat(&raw[mark.clone()]));
        marks.push(start..line.len());
        at = mark.end;
    }
    line.push_str(&flat(&raw[at..]));
    (line, marks)
}

//! Where a session begins or goes on: what was left to do, and what a compaction made vague.

use std::fs;
use std::path::{Path, PathBuf};

use report::show::{self, Part as Stretch};
use report::todo::{self, Filter, List, TaskFile};
use transcript::id::SessionId;
use transcript::layout::Found;
use transcript::library::read_session;
use transcript::record::{Body, Detail, Opened, Part, Record};
use transcript::session::Session;
use transcript::side;
use transcript::source::Source;
use transcript::time::Time;

use super::Moment;
use crate::commands::short;
use crate::quote::{minute, place, said};
use crate::run::Run;
use crate::terminal::safe;
use crate::wire;

/// A larger transcript is read from its end.
const WHOLE: u64 = 8 << 20;
/// Only so much of it.
const TAIL: u64 = 4 << 20;
/// So many of the last records are looked at.
const RECORDS: usize = 200;
/// So many prompts, decisions and things to do are told.
const PROMPTS: usize = 4;
const DECISIONS: usize = 5;
const TODOS: usize = 8;
/// How long each may be, in columns.
const LONG: usize = 220;
/// What a subagent is told of the prompt.
const ASKED: usize = 600;
/// What was left longer ago is not what a person goes on with.
const DAYS: i64 = 14;
const DAY: i64 = 86_400_000;

/// Sentences of a person with one of these decide something.
const DECIDES: [&str; 10] = [
    "decided",
    "decision",
    "instead of",
    "from now on",
    "don't ",
    "do not ",
    "never ",
    "always ",
    "let's use",
    "prefer ",
];
/// And those of the model with one of these.
const CONCLUDES: [&str; 5] = ["decided", "decision", "instead of", "agreed", "chose "];

/// What to know at the beginning.
pub fn start(moment: &Moment<'_>, run: &mut Run) -> Option<Vec<String>> {
    match moment.input["source"].as_str()? {
        "compact" => compacted(moment, run),
        "startup" => left(moment, run),
        _ => None,
    }
}

/// What a subagent's own task does not say: what the person asked for.
pub fn subagent(moment: &Moment<'_>) -> Option<Vec<String>> {
    let past = Past::read(moment)?;
    let prompt = past.records.iter().rev().find_map(|record| Some((record, prompt(record)?)))?;
    let text = safe::fit(&safe::line(&moment.clean(prompt.1)), ASKED).into_owned();
    Some(vec![said(&past.place(prompt.0), "person asked", &text)])
}

/// What the last session of this folder left to do.
fn left(moment: &Moment<'_>, run: &mut Run) -> Option<Vec<String>> {
    let folder = moment.input["cwd"].as_str()?;
    let catalog = store::catalog::Catalog::read(moment.store.folder()).ok()??;
    let last = catalog.last_in(folder, &SessionId::new(moment.session)).ok()??;
    let age = run.recount.clock.time().0 - last.last?.0;
    if age > DAYS * DAY {
        return None;
    }
    let todos = todos(&run.recount.claude_roots().ok()?, &last.id);
    if todos.is_empty() {
        return None;
    }
    let at = place(last.id.as_str(), None, None);
    let at = format!("{at}{}", minute(wire::time(last.last).as_deref()));
    let mut lines =
        vec![said(&at, "last session of this folder", last.title.as_deref().unwrap_or("no title"))];
    lines.extend(todos.iter().map(|todo| said(&at, "still to do", todo)));
    Some(lines)
}

/// What was being done before a compaction.
fn compacted(moment: &Moment<'_>, run: &mut Run) -> Option<Vec<String>> {
    let past = Past::read(moment)?;
    let todos =
        todos(&run.recount.claude_roots().unwrap_or_default(), &SessionId::new(moment.session));
    let at = place(moment.session, None, None);
    let mut lines: Vec<String> = todos.iter().map(|todo| said(&at, "still to do", todo)).collect();
    let cut = |text: &str| safe::fit(&safe::line(&moment.clean(text)), LONG).into_owned();
    let prompts = past.records.iter().filter_map(|record| Some((record, prompt(record)?)));
    let prompts: Vec<(&Record, &str)> = prompts.collect();
    for (record, text) in &prompts[prompts.len().saturating_sub(PROMPTS)..] {
        lines.push(said(&past.place(record), "person asked", &cut(text)));
    }
    let decisions: Vec<(&Record, String)> = past
        .records
        .iter()
        .flat_map(|record| decided(record).into_iter().map(move |text| (record, text)))
        .collect();
    for (record, text) in &decisions[decisions.len().saturating_sub(DECISIONS)..] {
        lines.push(said(&past.place(record), "decided", &cut(text)));
    }
    (!lines.is_empty()).then_some(lines)
}

/// The last records of the session's own transcript, up to the last compaction.
struct Past {
    session: String,
    records: Vec<Record>,
}

impl Past {
    fn read(moment: &Moment<'_>) -> Option<Self> {
        let path = Path::new(moment.input["transcript_path"].as_str()?);
        let mut source = Source::open(path).ok()?;
        let is_whole = source.size().ok()? <= WHOLE;
        let session = match is_whole {
            true => read_session(&Found::lone(path).ok()?, None).ok()?,
            false => {
                let tail = source.tail(TAIL, |session| session.nodes().len() > RECORDS * 4);
                source.hold(tail.ok()?)
            }
        };
        let sources = [source];
        let opened = Opened::new(&session, &sources, !is_whole);
        let nodes = show::nodes(&session, Stretch::Way).ok()?;
        let mut visible = show::visible(&opened, &nodes, Detail::Conversation);
        if let Some(boundary) = boundary(&session) {
            visible.retain(|node| *node < boundary);
        }
        let first = visible.len().saturating_sub(RECORDS);
        let records = visible[first..].iter().filter_map(|node| opened.record(*node).ok()?);
        Some(Self { session: moment.session.to_owned(), records: records.collect() })
    }

    fn place(&self, record: &Record) -> String {
        let at = match record.number {
            Some(number) => place(&self.session, None, Some(number.into())),
            // Of the end of a file only the bytes are known.
            None => format!("{}@{}", safe::line(&short(&self.session)), record.offset),
        };
        format!("{at}{}", minute(wire::time(record.time).as_deref()))
    }
}

/// The last compaction, if nobody has asked anything since.
fn boundary(session: &Session) -> Option<usize> {
    use transcript::session::Role;
    let nodes = session.nodes();
    let at = nodes.iter().rposition(|node| node.role == Role::Boundary)?;
    let is_last = nodes[at..].iter().all(|node| node.role != Role::Prompt);
    is_last.then_some(at)
}

fn prompt(record: &Record) -> Option<&str> {
    match &record.body {
        Body::Prompt { text, .. } if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}

/// The sentences of a record that decide something.
fn decided<'r>(record: &'r Record) -> Vec<String> {
    let (texts, words): (Vec<&str>, &[&str]) = match &record.body {
        Body::Prompt { text, .. } => (vec![text], &DECIDES),
        Body::Answer { parts } | Body::Calls { parts, .. } => {
            let text = |part: &'r Part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            };
            (parts.iter().filter_map(text).collect(), &CONCLUDES)
        }
        _ => return Vec::new(),
    };
    let has = |sentence: &&str| {
        let low = sentence.to_lowercase();
        words.iter().any(|word| low.contains(word))
    };
    let sentences = texts.iter().flat_map(|text| sentences(text));
    sentences.filter(has).map(str::to_owned).collect()
}

/// The sentences of a text, roughly.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.split_inclusive(". ")).map(str::trim)
}

/// What a session has still to do, as its files say.
fn todos(roots: &[PathBuf], session: &SessionId) -> Vec<String> {
    let mut lists = Vec::new();
    for root in roots {
        let file = root.join("todos").join(format!("{session}-agent-{session}.json"));
        if let Ok(bytes) = fs::read(file) {
            let (todos, _) = side::todo::parse(&bytes);
            lists.push(List::from_todos(session.clone(), None, None, todos));
        }
        let tasks = fs::read_dir(root.join("tasks").join(session.as_str()));
        let tasks = tasks.into_iter().flatten().flatten().filter_map(|entry| {
            let number = entry.path().file_stem()?.to_str()?.parse().ok()?;
            let (task, _) = side::task::parse(&fs::read(entry.path()).ok()?);
            Some(TaskFile { session: session.clone(), number, modified: None::<Time>, task })
        });
        lists.extend(todo::task_lists(tasks.collect()));
    }
    let found = todo::select(lists, &Filter { session: None, only_open: true });
    let items = found.lists.iter().flat_map(|list| &list.items);
    items.filter_map(|item| item.text.as_deref().map(str::to_owned)).take(TODOS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_full_stops_and_lines() {
        let all: Vec<&str> = sentences("One. Two 1.5 kg.\nThree").collect();
        assert_eq!(all, ["One.", "Two 1.5 kg.", "Three"]);
    }
}

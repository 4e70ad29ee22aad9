//! A stretch of work as one sentence, with the names of what was touched.

use transcript::tool::{Action, ToolForm};

use super::Style;
use crate::format::short_duration;
use crate::html::Html;
use crate::words;
use transcript::record::{Body, CallRecord, Part, Record};

/// So many names are said before they are only counted.
const NAMED: usize = 2;
/// A command is cut here.
const COMMAND: usize = 48;

/// Writes the sentence of a stretch of work.
pub fn sentence(html: &mut Html, records: &[Record], style: &Style) {
    let mut phrases: Vec<Phrase<'_>> = Vec::new();
    for record in records {
        if let Body::Answer { parts } | Body::Calls { parts, .. } = &record.body
            && parts.iter().any(|part| matches!(part, Part::Thinking(_)))
        {
            let took = record.after_ms.unwrap_or(0);
            match phrases.last_mut().filter(|phrase| phrase.verb == "thought") {
                Some(phrase) => phrase.took += took,
                None => phrases.push(Phrase { verb: "thought", names: Vec::new(), took }),
            }
        }
        if let Body::Calls { calls, .. } = &record.body {
            calls.iter().for_each(|call| add(&mut phrases, call, style));
        }
    }
    for (at, phrase) in phrases.iter().enumerate() {
        if at > 0 {
            html.text(" · ");
        }
        phrase.write(html);
    }
    let first = records.first().and_then(|record| record.time);
    let last = records.iter().rev().find_map(end);
    if let Some((first, last)) = first.zip(last).filter(|(first, last)| last - first.0 >= 1000) {
        html.words("span", "took", &format!(" · {}", short_duration(last - first.0)));
    }
}

/// When a record was done, in milliseconds.
fn end(record: &Record) -> Option<i64> {
    let start = record.time?.0;
    let took = match &record.body {
        Body::Calls { calls, .. } => calls.iter().filter_map(|call| call.duration_ms).max(),
        _ => None,
    };
    Some(start + took.unwrap_or(0))
}

struct Phrase<'a> {
    verb: &'static str,
    names: Vec<Name<'a>>,
    /// How long the model thought, in milliseconds.
    took: i64,
}

struct Name<'a> {
    text: String,
    call: &'a CallRecord,
}

fn add<'a>(phrases: &mut Vec<Phrase<'a>>, call: &'a CallRecord, style: &Style) {
    let verb = verb(call);
    let name = Name { text: name(call, style), call };
    match phrases.last_mut() {
        Some(phrase) if phrase.verb == verb => {
            let is_known = |known: &Name<'_>| {
                known.text == name.text && !is_failed(name.call) && known.call.action == call.action
            };
            if !phrase.names.iter().any(is_known) {
                phrase.names.push(name);
            }
        }
        _ => phrases.push(Phrase { verb, names: vec![name], took: 0 }),
    }
}

fn verb(call: &CallRecord) -> &'static str {
    match (call.action, ToolForm::of(&call.tool)) {
        (_, form) if form.is_search() => "searched",
        (Action::Read, _) => "read",
        (_, ToolForm::WholeFile) => "wrote",
        (Action::Edit, _) => "edited",
        (Action::Run, _) => "ran",
        (Action::Agent, _) => "asked",
        (Action::Web, _) => "looked up",
        (Action::Plan, _) => "planned",
        (Action::Other, _) => "used",
    }
}

fn name(call: &CallRecord, style: &Style) -> String {
    let subject = call.subject.as_deref().unwrap_or_default();
    match call.action {
        _ if ToolForm::of(&call.tool).is_search() => cut(subject),
        Action::Read | Action::Edit => {
            let name = style.short(subject).rsplit(['/', '\\']).next().unwrap_or_default();
            name.to_owned()
        }
        Action::Other => words::tool_name(&call.tool),
        Action::Plan => words::todos(call).unwrap_or_else(|| cut(subject)),
        _ => cut(subject),
    }
}

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(COMMAND) {
        Some((at, _)) => format!("{}\u{2026}", &line[..at]),
        None => line.to_owned(),
    }
}

fn is_failed(call: &CallRecord) -> bool {
    call.outcome.as_ref().is_some_and(|outcome| outcome.is_error)
}

impl Phrase<'_> {
    fn write(&self, html: &mut Html) {
        html.text(self.verb);
        if self.took >= 1000 {
            html.text(&format!(" {}", short_duration(self.took)));
        }
        // What failed is named in any case.
        let (mut named, mut rest) = (0, 0);
        for name in &self.names {
            if named >= NAMED && !is_failed(name.call) {
                rest += 1;
                continue;
            }
            html.text(if named == 0 { " " } else { ", " });
            named += 1;
            if !name.text.is_empty() {
                html.words("code", "", &name.text);
            }
            if let Some((added, removed)) = name.call.outcome.as_ref().and_then(|o| o.lines()) {
                html.words("span", "plus", &format!(" +{added}"));
                html.words("span", "minus", &format!(" \u{2212}{removed}"));
            }
            if is_failed(name.call) {
                html.words("span", "bad", " \u{2717}");
            }
        }
        if rest > 0 {
            html.text(&format!(" +{rest}"));
        }
    }
}

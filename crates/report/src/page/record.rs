//! Records as HTML: prompts, answers, work, bands.

use std::collections::HashSet;

use transcript::id::Key;
use transcript::layout::Problem;
use transcript::prompt;
use transcript::session::Role;
use transcript::tool::{Action, ToolForm};

use super::call::{is_open, pictures, result, row};
use super::outline::Item;
use super::todos::Todos;
use super::{Source, Style, code, glyph, work};
use crate::format::{counted, short_duration, size, thousands};
use crate::html::markdown::markdown;
use crate::html::{Html, Url};
use transcript::record::{Body, CallRecord, Detail, Media, Opened, Part, Record};

/// A prompt is folded after so many lines.
const PROMPT_LINES: usize = 12;

/// What a page needs that is not in the records themselves.
pub trait Around {
    /// The subagents of a call, each with its head and its transcript or the way to it.
    fn subagents(&mut self, html: &mut Html, call: Key) -> Result<(), Problem>;

    /// Changes a record before it is shown: what is secret is taken out.
    fn before(&mut self, _record: &mut Record) {}

    /// An entry as it stands in the file, as far as it may be shown.
    fn line(&mut self, opened: &Opened<'_>, record: &Record) -> Result<String, Problem> {
        opened.line(record.node)
    }

    /// The bytes of a picture or document of an entry, for a page that has them in it.
    fn media(&mut self, _of: Holder<'_>, _at: usize) -> Option<Media> {
        None
    }
}

/// What holds pictures and documents: an entry, or the result of one call in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder<'a> {
    /// The entry.
    pub node: usize,
    /// Its number.
    pub number: Option<u32>,
    /// The id of the call.
    pub call: Option<&'a str>,
}

/// Nothing around.
pub struct Alone;

impl Around for Alone {
    fn subagents(&mut self, _: &mut Html, _: Key) -> Result<(), Problem> {
        Ok(())
    }
}

/// The model that spoke last, and what it was permitted: a change of either is told. And what is
/// to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Course {
    model: Option<String>,
    mode: Option<String>,
    todos: Todos,
}

impl Course {
    /// What held before an item of a page.
    pub fn before(
        opened: &Opened<'_>,
        items: &[Item],
        around: &mut dyn Around,
    ) -> Result<Self, Problem> {
        let nodes = opened.session().nodes();
        let last = |is: fn(Role) -> bool| {
            let all = items.iter().rev().flat_map(|item| item.nodes().iter().rev());
            all.copied().find(|&node| is(nodes[node].role))
        };
        let mut course = Self::default();
        if let Some(node) = last(|role| role.is_model()) {
            course.model = opened.model(node)?;
        }
        if let Some(node) = last(|role| role == Role::Prompt) {
            course.mode = opened.permission_mode(node)?;
        }
        for node in list_changes(opened, items) {
            if let Some(mut record) = opened.record(node)? {
                around.before(&mut record);
                course.list(&mut record);
            }
        }
        Ok(course)
    }

    /// Follows what is to do.
    fn list(&mut self, record: &mut Record) {
        if let Body::Calls { calls, .. } = &mut record.body {
            calls.iter_mut().for_each(|call| self.todos.follow(call));
        }
    }

    /// Writes a band for what changes with a record.
    fn follow(&mut self, html: &mut Html, record: &Record) {
        let mut tell = |name: &str, held: &mut Option<String>, now: &Option<String>| {
            let Some(now) = now else { return };
            if let Some(before) = held.as_ref().filter(|before| *before != now) {
                let words = format!("{name}: {before} \u{2192} {now}");
                html.tag("div").class("band").attr("data-kind", "setting").text(&words);
            }
            *held = Some(now.clone());
        };
        tell("Permissions", &mut self.mode, &record.permission_mode);
        tell("Model", &mut self.model, &record.model);
    }
}

/// The calls among items that change what is to do: since the last list that was written whole.
fn list_changes(opened: &Opened<'_>, items: &[Item]) -> Vec<usize> {
    let session = opened.session();
    let shown: HashSet<usize> = items.iter().flat_map(|item| item.nodes()).copied().collect();
    let mut nodes = Vec::new();
    for call in session.calls().iter().filter(|call| shown.contains(&call.node())) {
        let form = ToolForm::of(session.tool(call));
        if form == ToolForm::TodoList {
            nodes.clear();
        }
        if form.changes_todos() && nodes.last() != Some(&call.node()) {
            nodes.push(call.node());
        }
    }
    nodes
}

/// Writes one item of a page.
pub fn item(
    html: &mut Html,
    opened: &Opened<'_>,
    item: &Item,
    style: &Style,
    (around, course): (&mut dyn Around, &mut Course),
) -> Result<(), Problem> {
    if style.detail == Detail::Raw {
        let mut nodes = item.nodes().iter();
        return nodes.try_for_each(|&node| raw(html, opened, node, style, around));
    }
    let mut records = Vec::new();
    for &node in item.nodes() {
        if let Some(mut record) = opened.record(node)? {
            whole(opened, &mut record)?;
            around.before(&mut record);
            course.list(&mut record);
            records.push(record);
        }
    }
    if style.detail >= Detail::Conversation {
        records.iter().for_each(|record| course.follow(html, record));
    }
    match item {
        Item::One(_) => records.iter().try_for_each(|record| one(html, record, style, around)),
        Item::Work(_) => stretch(html, &records, style, around),
    }
}

/// So much of a line is to be seen before it is opened.
const RAW_WORDS: usize = 120;

/// An entry as it stands in the file, and the subagents that it started.
fn raw(
    html: &mut Html,
    opened: &Opened<'_>,
    node: usize,
    style: &Style,
    around: &mut dyn Around,
) -> Result<(), Problem> {
    let record = opened.bare(node);
    let line = around.line(opened, &record)?;
    fold(
        html,
        &record,
        "note",
        false,
        style,
        |html| {
            html.words("b", "", record.role.name());
            html.words("span", "what", &line[..line.floor_char_boundary(RAW_WORDS)]);
        },
        |html| code::output(html, "out", &line),
    );
    let calls = opened.session().calls();
    let first = calls.partition_point(|call| call.node() < node);
    let mut own = calls[first..].iter().take_while(|call| call.node() == node);
    own.try_for_each(|call| around.subagents(html, call.key()))
}

/// Of what nobody knows yet the record itself is shown.
fn whole(opened: &Opened<'_>, record: &mut Record) -> Result<(), Problem> {
    if let (Role::Unknown, Body::Note { text: text @ None, .. }) = (record.role, &mut record.body) {
        *text = Some(String::from_utf8_lossy(&opened.bytes(record.node)?).into_owned());
    }
    Ok(())
}

/// A stretch of work: the sentence, what is closed behind it, and what is open below.
fn stretch(
    html: &mut Html,
    records: &[Record],
    style: &Style,
    around: &mut dyn Around,
) -> Result<(), Problem> {
    let (mut closed, mut open) = (Html::new(), Html::new());
    for record in records {
        let (parts, calls): (&[Part], &[CallRecord]) = match &record.body {
            Body::Answer { parts } => (parts, &[]),
            Body::Calls { parts, calls } => (parts, calls),
            _ => {
                one(&mut open, record, style, around)?;
                continue;
            }
        };
        for part in parts {
            match part {
                Part::Text(text) => answer(&mut open, record, text, style),
                part => thought(&mut closed, record, part, style),
            }
        }
        for call in calls {
            let to = if is_open(call) { &mut open } else { &mut closed };
            row(to, record, call, style, around)?;
        }
    }
    let first = records.first();
    let open_section = html.tag("section").class("work");
    open_section.show("data-entry", first.and_then(|r| r.number).unwrap_or(0)).with(|html| {
        if !closed.is_empty() {
            html.within("details", "sentence", |html| {
                html.within("summary", "", |html| work::sentence(html, records, style));
                html.add(&closed);
            });
        }
        html.add(&open);
    });
    Ok(())
}

/// A record that stands alone.
fn one(
    html: &mut Html,
    record: &Record,
    style: &Style,
    around: &mut dyn Around,
) -> Result<(), Problem> {
    match &record.body {
        Body::Prompt { text, beside, media } => {
            let media = (media.as_slice(), around);
            said(html, record, text, beside, media, style);
        }
        Body::Answer { parts } if record.role == Role::ApiError => {
            band(html, record, style, "bad", |html| {
                html.text("API error: ");
                parts.iter().for_each(|part| {
                    if let Part::Text(text) = part {
                        html.text(text);
                    }
                });
            });
        }
        Body::Answer { parts } => spoken(html, record, parts, style),
        Body::Calls { parts, calls } => {
            spoken(html, record, parts, style);
            for call in calls {
                row(html, record, call, style, around)?;
            }
        }
        Body::LoneResult { tool_use_id, outcome } => {
            let id = tool_use_id.as_deref().unwrap_or("no id");
            fold(
                html,
                record,
                "other",
                outcome.is_error,
                style,
                |html| {
                    html.words("b", "", "Result");
                    html.words("span", "what", &format!("its call is not in the file ({id})"));
                },
                |html| result(html, outcome),
            );
        }
        Body::Compaction { trigger, pre_tokens, post_tokens, segment } => {
            band(html, record, style, "compaction", |html| {
                let mut words = vec!["Compaction".to_owned()];
                words.extend(trigger.clone());
                words.extend(tokens(*pre_tokens, *post_tokens));
                words.push(format!("segment {segment}"));
                html.text(&words.join(" · "));
            });
        }
        Body::Summary { text } => {
            fold(
                html,
                record,
                "summary",
                false,
                style,
                |html| {
                    html.words("b", "", "Summary");
                    html.words("span", "what", &counted(text.lines().count(), "line"));
                },
                |html| html.within("div", "prose", |html| markdown(html, text)),
            );
        }
        Body::Note { text, .. } if record.role == Role::ApiError => {
            band(html, record, style, "bad", |html| {
                html.text("API error \u{b7} ");
                html.text(text.as_deref().unwrap_or_default());
            });
        }
        Body::Note { name, text } => note(html, record, name, text.as_deref(), style),
        Body::TooLarge => {
            let words = format!(
                "{}, {}, too large to show",
                record.role.name(),
                size(u64::from(record.length))
            );
            band(html, record, style, "note", |html| html.text(&words));
        }
        Body::Damaged { text } => {
            fold(
                html,
                record,
                "damaged",
                false,
                style,
                |html| {
                    html.words("b", "", "damaged line");
                    html.words("span", "what", &size(u64::from(record.length)));
                },
                |html| code::output(html, "out", text),
            );
        }
    }
    Ok(())
}

fn tokens(before: Option<u64>, after: Option<u64>) -> Option<String> {
    let before = thousands(before?);
    Some(match after {
        Some(after) => format!("{before} \u{2192} {} tokens", thousands(after)),
        None => format!("{before} tokens before"),
    })
}

/// A thin line across the page that says something happened.
fn band(
    html: &mut Html,
    record: &Record,
    style: &Style,
    kind: &'static str,
    words: impl FnOnce(&mut Html),
) {
    let open = html.tag("div").class("band").attr("data-kind", kind);
    style.identify(open, record).with(|html| {
        html.within("span", "", words);
        html.text(" ");
        style.time(html, record.time);
    });
}

/// A row that opens.
fn fold(
    html: &mut Html,
    record: &Record,
    kind: &'static str,
    is_open: bool,
    style: &Style,
    summary: impl FnOnce(&mut Html),
    body: impl FnOnce(&mut Html),
) {
    let open = html.tag("details").class("row").attr("data-kind", kind);
    style.identify(open, record).flag("open", is_open).with(|html| {
        html.within("summary", "", |html| {
            summary(html);
            place(html, record, style);
        });
        html.within("div", "body", body);
    });
}

/// Where the record is: a link to it, and its place in the file.
pub(super) fn place(html: &mut Html, record: &Record, style: &Style) {
    let id = style.id(record.number, record.offset);
    let mut words = Vec::new();
    words.extend(record.number.map(|number| format!("entry {number}")));
    words.push(format!("byte {} to {}", record.offset, record.offset + u64::from(record.length)));
    words.extend(record.model.clone());
    if let Some((read, wrote)) = record.tokens {
        words.push(format!("{} tokens read", thousands(read)));
        words.push(format!("{} written", thousands(wrote)));
    }
    if !record.state.is_on_way() {
        words.push(record.state.name().into());
    }
    let name = record.number.map_or_else(|| "@".into(), |number| format!("#{number}"));
    let open = html.tag("a").class("at").href(&Url::place(&id));
    // Whoever was handed a file has no other to look into.
    match style.source {
        Source::Served { .. } => open.attr("title", &words.join(", ")).text(&name),
        Source::File { .. } => open.text(&name),
    }
}

/// A user entry: a person, another agent, a task's notice, or what Claude Code put there.
fn said(
    html: &mut Html,
    record: &Record,
    text: &str,
    beside: &[String],
    media: (&[String], &mut dyn Around),
    style: &Style,
) {
    match record.role {
        Role::Interrupt => {
            band(html, record, style, "interrupt", |html| html.text("Interrupted by the person"));
        }
        Role::Notification => {
            let essence = prompt::tagged(text, "summary").unwrap_or(text);
            fold(
                html,
                record,
                "agent",
                false,
                style,
                |html| {
                    glyph(html, Action::Agent);
                    html.words("b", "", "Notification");
                    html.words("span", "what", essence);
                },
                |html| code::output(html, "out", text),
            );
        }
        Role::Injected => {
            fold(
                html,
                record,
                "note",
                false,
                style,
                |html| {
                    html.words("b", "", "Put there by Claude Code");
                    html.words("span", "what", text.lines().next().unwrap_or_default());
                },
                |html| code::output(html, "out", text),
            );
        }
        _ => {
            if style.detail >= Detail::Everything {
                for text in beside {
                    html.within("details", "row", |html| {
                        html.words("summary", "", "Put beside the prompt");
                        html.within("div", "body", |html| code::output(html, "out", text));
                    });
                }
            }
            asked(html, record, text, media, style);
        }
    }
}

/// The only tinted card.
fn asked(
    html: &mut Html,
    record: &Record,
    text: &str,
    (media, around): (&[String], &mut dyn Around),
    style: &Style,
) {
    let who = match record.role {
        Role::Teammate => "teammate",
        Role::Queued => "queued",
        Role::Undelivered => "not delivered",
        Role::Shell => "shell",
        Role::Command => "command",
        _ if !style.prefix.is_empty() => "task",
        _ => "prompt",
    };
    let open = html.tag("article").class("prompt").attr("data-kind", who);
    style.identify(open, record).with(|html| {
        html.within("header", "", |html| {
            if let Some(turn) = record.turn.filter(|_| style.prefix.is_empty()) {
                html.words("span", "turn", &format!("{}", turn + 1));
            }
            if who != "prompt" {
                html.words("span", "badge", who);
            }
            style.time(html, record.time);
            place(html, record, style);
        });
        let text = prompt::teammate_text(text).unwrap_or(text);
        lines(html, text);
        let of = Holder { node: record.node, number: record.number, call: None };
        pictures(html, of, media, style, around);
    });
}

/// A person's words as they were typed; long ones are folded.
fn lines(html: &mut Html, text: &str) {
    let all: Vec<&str> = text.trim_end().split('\n').collect();
    if all.len() <= PROMPT_LINES + 2 {
        return html.words("div", "typed", text.trim_end());
    }
    html.words("div", "typed", &all[..PROMPT_LINES].join("\n"));
    html.within("details", "more", |html| {
        let rest = all.len() - PROMPT_LINES;
        html.words("summary", "", &format!("Show {} more", counted(rest, "line")));
        html.words("div", "typed", &all[PROMPT_LINES..].join("\n"));
    });
}

fn spoken(html: &mut Html, record: &Record, parts: &[Part], style: &Style) {
    for part in parts {
        match part {
            Part::Text(text) => answer(html, record, text, style),
            part => thought(html, record, part, style),
        }
    }
}

fn answer(html: &mut Html, record: &Record, text: &str, style: &Style) {
    style.identify(html.tag("article").class("answer"), record).with(|html| {
        html.within("div", "prose", |html| markdown(html, text));
        place(html, record, style);
    });
}

fn thought(html: &mut Html, record: &Record, part: &Part, style: &Style) {
    let words = match part {
        Part::Thinking(Some(text)) => text.lines().find(|line| !line.trim().is_empty()),
        Part::Thinking(None) => Some("its text was not stored"),
        _ => None,
    };
    fold(
        html,
        record,
        "thinking",
        false,
        style,
        |html| {
            let name = match part {
                Part::Other { name, .. } => name.as_str(),
                _ => "Thought",
            };
            html.words("b", "", name);
            html.words("span", "what", words.unwrap_or_default());
            if let Some(ms) = record.after_ms.filter(|&ms| ms >= 1000) {
                html.within("span", "chips", |html| {
                    html.words("span", "chip", &short_duration(ms));
                });
            }
        },
        |html| match part {
            Part::Thinking(Some(text)) => html.within("div", "prose", |html| markdown(html, text)),
            Part::Other { bytes, .. } => html.text(&size(*bytes as u64)),
            _ => html.text("Claude Code kept only a signature of this thought"),
        },
    );
}

fn note(html: &mut Html, record: &Record, name: &str, text: Option<&str>, style: &Style) {
    fold(
        html,
        record,
        "note",
        false,
        style,
        |html| {
            html.words("b", "", name);
            html.words(
                "span",
                "what",
                text.and_then(|text| text.lines().next()).unwrap_or_default(),
            );
        },
        |html| match text {
            Some(text) => code::output(html, "out", text),
            None => html.text(&size(u64::from(record.length))),
        },
    );
}

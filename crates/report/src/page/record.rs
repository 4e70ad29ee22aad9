//! Records as HTML: prompts, answers, work, bands.

use transcript::entry::tool::Action;
use transcript::id::Key;
use transcript::json::Raw;
use transcript::layout::Problem;
use transcript::prompt;
use transcript::session::Role;

use super::outline::Item;
use super::{Source, Style, class, code, diff, glyph, language_of, listing, work};
use crate::format::{counted, short_duration, size, thousands};
use crate::html::markdown::markdown;
use crate::html::{Html, PDF, Picture, Url};
use crate::record::{Body, CallRecord, Change, Detail, Media, Opened, Outcome, Part, Record};
use crate::words;

/// A prompt is folded after so many lines.
const PROMPT_LINES: usize = 12;
/// A time shorter than this is not worth a chip.
const NOTICED_MS: i64 = 100;

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

/// The model that spoke last, and what it was permitted: a change of either is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Course {
    model: Option<String>,
    mode: Option<String>,
}

impl Course {
    /// What held before an item of a page.
    pub fn before(opened: &Opened<'_>, items: &[Item]) -> Result<Self, Problem> {
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
        Ok(course)
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

/// What a reader wants to see at once: changes, failures, plans, and what was asked.
fn is_open(call: &CallRecord) -> bool {
    let outcome = call.outcome.as_ref();
    outcome.is_some_and(|outcome| outcome.is_error || outcome.change.is_some())
        || matches!(&*call.tool, "ExitPlanMode" | "AskUserQuestion")
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
    let id = style.id(record.number, record.offset);
    html.tag("div").class("band").attr("data-kind", kind).attr("id", &id).with(|html| {
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
    let id = style.id(record.number, record.offset);
    let open = html.tag("details").class("row").attr("data-kind", kind).attr("id", &id);
    open.flag("open", is_open).with(|html| {
        html.within("summary", "", |html| {
            summary(html);
            place(html, record, style);
        });
        html.within("div", "body", body);
    });
}

/// Where the record is: a link to it, and its place in the file.
fn place(html: &mut Html, record: &Record, style: &Style) {
    let id = style.id(record.number, record.offset);
    let mut words = Vec::new();
    words.extend(record.number.map(|number| format!("entry {number}")));
    words.push(format!("byte {} to {}", record.offset, record.offset + u64::from(record.length)));
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
    let id = style.id(record.number, record.offset);
    let who = match record.role {
        Role::Teammate => "teammate",
        Role::Queued => "queued",
        Role::Shell => "shell",
        Role::Command => "command",
        _ if !style.prefix.is_empty() => "task",
        _ => "prompt",
    };
    let open = html.tag("article").class("prompt").attr("data-kind", who).attr("id", &id);
    open.with(|html| {
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

/// Pictures: themselves where they can be had, else what they were.
fn pictures(
    html: &mut Html,
    of: Holder<'_>,
    media: &[String],
    style: &Style,
    around: &mut dyn Around,
) {
    for (at, words) in media.iter().enumerate() {
        let url = match (&style.source, of.number) {
            (Source::Served { session, agent }, Some(number)) if words.starts_with("image/") => {
                let steps = ["s", session, "media", &number.to_string(), &at.to_string()];
                let url = Url::path(&steps);
                Some((agent.iter().fold(url, |url, agent| url.query("agent", agent)), true))
            }
            (Source::File { has_pictures: true }, _) => around.media(of, at).and_then(inside),
            _ => None,
        };
        match url {
            Some((url, true)) => {
                let img = html.tag("img").class("thumb").attr("alt", words);
                img.attr("loading", "lazy").src(&url).void();
            }
            Some((url, false)) => html.within("p", "media", |html| {
                html.tag("a").href(&url).attr("download", "document.pdf").text(words);
            }),
            None => html.words("p", "media", &format!("[{words}]")),
        }
    }
}

/// The address that holds a picture, or a document to be saved; and whether it is a picture. What
/// else it may be is not put into a page.
fn inside(media: Media) -> Option<(Url, bool)> {
    match Picture::of(&media.media_type) {
        Some(kind) => Some((Url::picture(kind, &media.base64)?, true)),
        None if media.media_type == PDF => Some((Url::pdf(&media.base64)?, false)),
        None => None,
    }
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
    let id = style.id(record.number, record.offset);
    html.tag("article").class("answer").attr("id", &id).with(|html| {
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

/// The row of a call.
fn row(
    html: &mut Html,
    record: &Record,
    call: &CallRecord,
    style: &Style,
    around: &mut dyn Around,
) -> Result<(), Problem> {
    let mut agents = Html::new();
    around.subagents(&mut agents, call.key)?;
    let is_error = call.outcome.as_ref().is_some_and(|outcome| outcome.is_error);
    let id = style.id(record.number, record.offset);
    let open = html.tag("details").class("row").attr("data-kind", class(call.action));
    let open = open.flag("data-failed", is_error).attr("id", &id).flag("open", is_open(call));
    open.with(|html| {
        html.within("summary", "", |html| {
            glyph(html, call.action);
            html.words("b", "", &words::tool_name(&call.tool));
            html.words("span", "what", &essence(call, style));
            chips(html, call);
            place(html, record, style);
        });
        html.within("div", "body", |html| {
            // What leads to the result finds it here.
            if let Some(number) = call.outcome.as_ref().and_then(|outcome| outcome.number) {
                html.tag("span").attr("id", &style.id(Some(number), 0)).with(|_| {});
            }
            body(html, call, style, around);
            html.add(&agents);
        });
    });
    Ok(())
}

/// What a call is about, on one line; of a command what the model says it is for.
fn essence(call: &CallRecord, style: &Style) -> String {
    let input = Raw::new(call.input.as_bytes()).ok();
    let purpose = || input.filter(|_| call.action == Action::Run)?.string("description");
    if let Some(purpose) = purpose().filter(|purpose| !purpose.trim().is_empty()) {
        return purpose.into_owned();
    }
    let subject = || {
        let subject = call.subject.as_deref()?;
        Some(match call.action {
            Action::Read | Action::Edit => style.short(subject),
            _ => subject.lines().next().unwrap_or_default(),
        })
    };
    let todos = words::todos(call);
    todos.unwrap_or_else(|| subject().unwrap_or_default().to_owned())
}

fn chips(html: &mut Html, call: &CallRecord) {
    html.within("span", "chips", |html| {
        let Some(outcome) = &call.outcome else {
            return html.words("span", "chip", "no result");
        };
        if outcome.is_error {
            let why = match outcome.exit_code() {
                Some(code) => format!("exit {code}"),
                None if words::is_rejected(outcome) => "rejected".into(),
                None => "failed".into(),
            };
            html.words("span", "chip bad", &format!("\u{2717} {why}"));
        }
        if let Some(change) = &outcome.change {
            let about = if change.estimated { "~" } else { "" };
            html.words("span", "chip plus", &format!("{about}+{}", change.added));
            html.words("span", "chip minus", &format!("{about}\u{2212}{}", change.removed));
        } else if let Some(text) = outcome.text.as_deref().filter(|_| !outcome.is_error) {
            html.words("span", "chip", &counted(text.trim_end().lines().count(), "line"));
        }
        if let Some(ms) = call.duration_ms.filter(|&ms| ms >= NOTICED_MS) {
            html.words("span", "chip", &short_duration(ms));
        }
    });
}

/// What an opened row shows.
fn body(html: &mut Html, call: &CallRecord, style: &Style, around: &mut dyn Around) {
    let input = Raw::new(call.input.as_bytes()).ok();
    let change = call.outcome.as_ref().and_then(|outcome| outcome.change.as_ref());
    match (&*call.tool, change) {
        (_, Some(change)) => changed(html, call, change, style),
        ("Bash" | "PowerShell", None) => {
            let command = input.and_then(|input| input.string("command"));
            match command {
                Some(command) => code::block(html, "shell", &command),
                None => fields(html, input, &call.input),
            }
        }
        ("ExitPlanMode", None) => match input.and_then(|input| input.string("plan")) {
            Some(plan) => html.within("div", "prose plan", |html| markdown(html, &plan)),
            None => fields(html, input, &call.input),
        },
        ("TodoWrite", None) => todo_list(html, input, &call.input),
        ("AskUserQuestion", None) => questions(html, input, &call.input),
        ("Read", None) => {}
        _ => fields(html, input, &call.input),
    }
    if let Some(outcome) = &call.outcome {
        if change.is_none() {
            let chosen = match call.tool == "AskUserQuestion" && !outcome.is_error {
                true => outcome.text.as_deref().map(words::answers).unwrap_or_default(),
                false => Vec::new(),
            };
            match chosen.is_empty() {
                true => answered(html, call, outcome, style),
                false => chosen.iter().for_each(|answer| {
                    html.words("p", "chosen", &format!("\u{2192} {answer}"));
                }),
            }
        }
        let (node, number) = (outcome.node, outcome.number);
        let of = Holder { node, number, call: Some(&call.tool_use_id) };
        pictures(html, of, &outcome.media, style, around);
    }
}

/// What came of a call, as its tool tells it.
fn answered(html: &mut Html, call: &CallRecord, outcome: &Outcome, style: &Style) {
    let text = outcome.text.as_deref().filter(|_| !outcome.is_error);
    match (&*call.tool, text) {
        ("Read", Some(text)) => {
            listing::read(html, call.subject.as_deref().unwrap_or_default(), text, style);
        }
        ("Grep", Some(text)) => listing::grep(html, text, style),
        _ => result(html, outcome),
    }
}

fn result(html: &mut Html, outcome: &Outcome) {
    let text = outcome.text.as_deref().unwrap_or_default();
    let (text, errors) = streams(text, outcome.stderr.as_deref());
    if outcome.is_error {
        let rest = text.split_once('\n').filter(|_| outcome.exit_code().is_some());
        let text = words::error_text(rest.map_or(text, |(_, rest)| rest));
        code::output(html, "out bad", text);
    } else {
        code::output(html, "out", text);
    }
    if let Some(errors) = errors {
        html.words("p", "stream", "stderr");
        let class = if outcome.is_error { "out bad" } else { "out" };
        code::output(html, class, errors);
    }
}

/// What stands in a text, and what was written to standard error and can be told from it.
fn streams<'o>(text: &'o str, stderr: Option<&'o str>) -> (&'o str, Option<&'o str>) {
    let Some(stderr) = stderr.map(str::trim_end) else { return (text, None) };
    match text.trim_end().strip_suffix(stderr) {
        Some("") => (text, None),
        Some(rest) => (rest.trim_end(), Some(stderr)),
        None if text.contains(stderr) => (text, None),
        None => (text, Some(stderr)),
    }
}

fn changed(html: &mut Html, call: &CallRecord, change: &Change, style: &Style) {
    let written;
    let has_patch = change.hunks.iter().any(|hunk| !hunk.lines.is_empty());
    let hunks = match has_patch {
        true => &change.hunks,
        false => {
            written = words::written(&call.input);
            &written
        }
    };
    html.within("p", "path", |html| match style.source {
        Source::Served { .. } => {
            let url = Url::path(&["file"]).query("path", &change.path);
            let title = "This file through all sessions";
            html.tag("a").href(&url).attr("title", title).text(&change.path);
        }
        Source::File { .. } => html.text(&change.path),
    });
    diff::diff(html, hunks, language_of(&change.path), has_patch && !change.estimated);
}

/// The input of a call, given as JSON, by its fields.
pub fn input(html: &mut Html, text: &str) {
    fields(html, Raw::new(text.as_bytes()).ok(), text);
}

/// An input by its fields.
fn fields(html: &mut Html, input: Option<Raw<'_>>, text: &str) {
    let Some(input) = input.filter(|input| input.is_object()) else {
        return code::output(html, "out", text);
    };
    html.within("dl", "fields", |html| {
        for (name, value) in input.fields() {
            html.words("dt", "", &name.text());
            html.within("dd", "", |html| match value.text() {
                Some(text) if !text.contains('\n') && text.len() < 200 => html.text(&text),
                Some(text) => code::output(html, "out", &text),
                None => code::output(html, "out", &String::from_utf8_lossy(value.bytes())),
            });
        }
    });
}

fn todo_list(html: &mut Html, input: Option<Raw<'_>>, text: &str) {
    let Some(todos) = input.and_then(|input| input.get("todos")) else {
        return fields(html, input, text);
    };
    html.within("ul", "todos", |html| {
        for item in todos.items() {
            // A status is one of three words; what else it may say is no class.
            let status = item.string("status");
            let (class, mark, odd) = match status.as_deref() {
                Some("completed") => ("done", "\u{2713} ", None),
                Some("in_progress") => ("now", "\u{25b8} ", None),
                Some("pending") | None => ("", "\u{25cb} ", None),
                Some(other) => ("", "\u{25cb} ", Some(other)),
            };
            html.within("li", class, |html| {
                html.text(mark);
                html.text(&item.string("content").unwrap_or_default());
                odd.iter().for_each(|odd| html.text(&format!(" ({odd})")));
            });
        }
    });
}

fn questions(html: &mut Html, input: Option<Raw<'_>>, text: &str) {
    let Some(questions) = input.and_then(|input| input.get("questions")) else {
        return fields(html, input, text);
    };
    for question in questions.items() {
        html.words("p", "question", &question.string("question").unwrap_or_default());
        html.within("ul", "options", |html| {
            for option in question.get("options").into_iter().flat_map(|options| options.items()) {
                let label = option.string("label").or_else(|| option.text());
                html.words("li", "", &label.unwrap_or_default());
            }
        });
    }
}

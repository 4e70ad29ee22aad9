//! Calls as HTML: what was done, what came of it, each tool in its own way.

use transcript::call::{CallInput, InputValue};
use transcript::layout::Problem;
use transcript::tool::{Action, ToolForm};

use super::record::{Around, Holder, place};
use super::{Source, Style, class, code, diff, glyph, language_of, listing};
use crate::format::{counted, short_duration, size, thousands};
use crate::html::markdown::markdown;
use crate::html::{Html, PDF, Picture, Url};
use crate::words;
use transcript::record::{CallRecord, Change, Media, Outcome, Record};

/// A time shorter than this is not worth a chip.
const NOTICED_MS: i64 = 100;

/// What a reader wants to see at once: changes, failures, plans, and what was asked.
pub(super) fn is_open(call: &CallRecord) -> bool {
    let outcome = call.outcome.as_ref();
    outcome.is_some_and(|outcome| {
        outcome.is_error || outcome.change.is_some() || !outcome.changed_files.is_empty()
    }) || ToolForm::of(&call.tool).waits_for_person()
}

/// The row of a call.
pub(super) fn row(
    html: &mut Html,
    record: &Record,
    call: &CallRecord,
    style: &Style,
    around: &mut dyn Around,
) -> Result<(), Problem> {
    let mut agents = Html::new();
    around.subagents(&mut agents, call.key)?;
    let is_error = call.outcome.as_ref().is_some_and(|outcome| outcome.is_error);
    let open = html.tag("details").class("row").attr("data-kind", class(call.action));
    let open = open.flag("data-failed", is_error);
    style.identify(open, record).flag("open", is_open(call)).with(|html| {
        html.within("summary", "", |html| {
            glyph(html, call.action);
            html.words("b", "", &words::tool_name(&call.tool));
            html.within("span", "what", |html| {
                html.text(&essence(call, style));
                if let Some(line) = report(call) {
                    html.words("span", "got", &format!(" \u{2192} {line}"));
                }
            });
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
    let input = CallInput::from_json(&call.input);
    let purpose = || input.filter(|_| call.action == Action::Run)?.stated_purpose();
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
    if let Some(words) = words::todos(call) {
        return words;
    }
    let subject = subject().unwrap_or_default();
    let kind = input.filter(|_| call.action == Action::Agent);
    match kind.and_then(|input| input.subagent_type()).filter(|kind| *kind != subject) {
        Some(kind) => format!("{kind}: {subject}"),
        None => subject.to_owned(),
    }
}

/// The first line of what a subagent reported.
fn report(call: &CallRecord) -> Option<&str> {
    let outcome = call.outcome.as_ref().filter(|outcome| !outcome.is_error)?;
    let text = outcome.text.as_deref().filter(|_| call.action == Action::Agent)?;
    text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty())
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
        if outcome.change.is_none()
            && let Some((added, removed)) = outcome.lines()
        {
            html.words("span", "chip plus", &format!("+{added}"));
            html.words("span", "chip minus", &format!("\u{2212}{removed}"));
        }
        if let Some(ms) = call.duration_ms.filter(|&ms| ms >= NOTICED_MS) {
            html.words("span", "chip", &short_duration(ms));
        }
        if let Some(tokens) = outcome.tokens {
            html.words("span", "chip", &format!("{} tokens", thousands(tokens)));
        }
    });
}

/// What an opened row shows.
fn body(html: &mut Html, call: &CallRecord, style: &Style, around: &mut dyn Around) {
    let input = CallInput::from_json(&call.input);
    let change = call.outcome.as_ref().and_then(|outcome| outcome.change.as_ref());
    match (ToolForm::of(&call.tool), change) {
        (_, Some(change)) => changed(html, call, change, style),
        (ToolForm::Command, None) => {
            let command = input.and_then(|input| input.shell_command());
            match command {
                Some(command) => code::block(html, "shell", &command),
                None => fields(html, input, &call.input),
            }
        }
        (ToolForm::Plan, None) => match input.and_then(|input| input.plan_text()) {
            Some(plan) => html.within("div", "prose plan", |html| markdown(html, &plan)),
            None => fields(html, input, &call.input),
        },
        (ToolForm::TodoList, None) if !call.todos.is_empty() => {}
        (ToolForm::Question, None) => questions(html, input, &call.input),
        (ToolForm::FileText, None) => {}
        _ => fields(html, input, &call.input),
    }
    if !call.todos.is_empty() {
        html.within("ul", "todos", |html| {
            call.todos.iter().for_each(|todo| listing::todo(html, todo));
        });
    }
    if let Some(outcome) = &call.outcome {
        if change.is_none() {
            let chosen = match ToolForm::of(&call.tool) == ToolForm::Question && !outcome.is_error {
                true => outcome.text.as_deref().map(words::answers).unwrap_or_default(),
                false => Vec::new(),
            };
            match chosen.is_empty() {
                true => {
                    answered(html, call, outcome, style);
                    whole(html, call, outcome, style);
                }
                false => chosen.iter().for_each(|answer| {
                    html.words("p", "chosen", &format!("\u{2192} {answer}"));
                }),
            }
        }
        for change in &outcome.changed_files {
            path(html, call, change, style);
            if change.unknown {
                html.words("p", "", &change.summary());
            }
            diff::diff(html, &change.hunks, language_of(&change.path), true);
        }
        let (node, number) = (outcome.node, outcome.number);
        let of = Holder { node, number, call: Some(&call.tool_use_id) };
        pictures(html, of, &outcome.media, style, around);
    }
}

/// What came of a call, as its tool tells it.
fn answered(html: &mut Html, call: &CallRecord, outcome: &Outcome, style: &Style) {
    let text = outcome.text.as_deref().filter(|_| !outcome.is_error);
    match (ToolForm::of(&call.tool), text) {
        (ToolForm::FileText, Some(text)) => {
            listing::read(html, call.subject.as_deref().unwrap_or_default(), text, style);
        }
        (ToolForm::Matches, Some(text)) => listing::grep(html, text, style),
        (ToolForm::Links, Some(text)) => listing::links(html, text),
        (ToolForm::Prose, Some(text)) => html.within("div", "prose", |html| markdown(html, text)),
        (ToolForm::TaskList, Some(text)) => listing::tasks(html, text),
        _ => result(html, outcome),
    }
}

/// What a tool answered, as text.
pub(super) fn result(html: &mut Html, outcome: &Outcome) {
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
    path(html, call, change, style);
    diff::diff(html, hunks, language_of(&change.path), has_patch && !change.estimated);
}

/// The path of a file that changed, with ways to its history.
fn path(html: &mut Html, call: &CallRecord, change: &Change, style: &Style) {
    html.within("p", "path", |html| match style.source {
        Source::Served { .. } => {
            let url = Url::path(&["file"]).query("path", &change.path);
            let title = "This file through all sessions";
            html.tag("a").href(&url).attr("title", title).text(&change.path);
            at_this_point(html, call, change, style);
        }
        Source::File { .. } => html.text(&change.path),
    });
}

/// The way to the whole file as the call left it.
fn at_this_point(html: &mut Html, call: &CallRecord, change: &Change, style: &Style) {
    let number = call.outcome.as_ref().and_then(|outcome| outcome.number);
    if let (Source::Served { session, agent }, Some(number)) = (&style.source, number) {
        let url = Url::path(&["file"]).query("path", &change.path);
        let url = url.query("session", session).query("at", &number.to_string());
        let url = agent.iter().fold(url, |url, agent| url.query("agent", agent));
        html.text(" \u{b7} ");
        html.tag("a").href(&url).text("file at this point");
    }
}

/// The way to all of a result of which a page shows only the beginning.
fn whole(html: &mut Html, call: &CallRecord, outcome: &Outcome, style: &Style) {
    let bytes = outcome.text.as_deref().map_or(0, str::len);
    let Source::Served { session, agent } = &style.source else { return };
    if let Some(number) = outcome.number.filter(|_| bytes > code::MOST) {
        let url = Url::path(&["s", session, "output", &number.to_string()]);
        let url = url.query("call", &call.tool_use_id);
        let url = agent.iter().fold(url, |url, agent| url.query("agent", agent));
        html.within("p", "cut", |html| {
            let words = format!("Download all of it, {}", size(bytes as u64));
            html.tag("a").href(&url).attr("download", "output.txt").text(&words);
        });
    }
}

/// The input of a call, given as JSON, by its fields.
pub fn input(html: &mut Html, text: &str) {
    fields(html, CallInput::from_json(text), text);
}

/// An input by its fields.
fn fields(html: &mut Html, input: Option<CallInput<'_>>, text: &str) {
    let Some(members) = input.and_then(CallInput::named_members) else {
        return code::output(html, "out", text);
    };
    html.within("dl", "fields", |html| {
        for (name, value) in members {
            html.words("dt", "", &name);
            html.within("dd", "", |html| match value {
                InputValue::Text(text) if !text.contains('\n') && text.len() < 200 => {
                    html.text(&text);
                }
                InputValue::Text(text) | InputValue::Json(text) => {
                    code::output(html, "out", &text);
                }
            });
        }
    });
}

fn questions(html: &mut Html, input: Option<CallInput<'_>>, text: &str) {
    let Some(questions) = input.and_then(CallInput::asked_questions) else {
        return fields(html, input, text);
    };
    for question in questions {
        html.words("p", "question", &question.text);
        html.within("ul", "options", |html| {
            question.options.iter().for_each(|label| html.words("li", "", label));
        });
    }
}

/// Pictures: themselves where they can be had, else what they were.
pub(super) fn pictures(
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

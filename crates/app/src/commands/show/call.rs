//! Calls: one line each, then the diff, the error, or the beginning of what came back.

use std::io;

use anstyle::Style;
use report::words;
use transcript::call::CallInput;
use transcript::record::{CallRecord, Change, Detail, Outcome};
use transcript::tool::{Action, Hunk, ToolForm};

use super::page::{Block, Fold, Page};
use crate::terminal::format::{counted, short_duration};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};

/// What stands below a call.
pub const BELOW: &str = "      ";
/// A time shorter than this is not worth a word.
const NOTICED_MS: i64 = 100;
/// Where there is no terminal, a subject is cut here.
const SUBJECT_MOST: usize = 120;

/// The line of a call.
pub fn line(page: &mut Page<'_>, call: &CallRecord) -> io::Result<()> {
    page.begin(Block::Work)?;
    let (letter, hue) = glyph(call.action);
    let tool = safe::line(&words::tool_name(&call.tool));
    let chips = chips(call);
    let taken =
        4 + safe::width(&tool) + 2 + chips.iter().map(|(_, c)| safe::width(c) + 3).sum::<usize>();
    let room = match (page.look.fold, page.room(taken)) {
        (Fold::Whole, _) => usize::MAX,
        (_, Some(room)) => room,
        (_, None) => SUBJECT_MOST,
    };
    let subject = subject(call, page.cwd.as_deref()).unwrap_or_default();
    let mut line = format!("  {} {}", paint(hue, letter), paint(style::HEAD, &tool));
    if !subject.is_empty() {
        line = format!("{line}  {}", safe::fit(&subject, room));
    }
    let mut before = "  ";
    for (style, chip) in &chips {
        line = format!("{line}{}{}", paint(style::DIM, before), paint(*style, chip));
        before = " · ";
    }
    page.line(&line)
}

/// The letter and colour of a kind of action.
fn glyph(action: Action) -> (&'static str, Style) {
    match action {
        Action::Read => ("r", style::READ),
        Action::Edit => ("e", style::GOOD),
        Action::Run => ("$", style::ACTIVE),
        Action::Agent => ("@", style::AGENT),
        Action::Web => ("w", style::CODE),
        Action::Plan => ("p", style::DIM),
        Action::Other => ("*", style::DIM),
    }
}

/// What a call is about, on one line; paths without the folder that the session works in.
fn subject(call: &CallRecord, cwd: Option<&str>) -> Option<String> {
    if let Some(todos) = words::todos(call) {
        return Some(safe::line(&todos));
    }
    let subject = call.subject.as_deref()?;
    let inside = |cwd: &str| {
        let rest = subject.strip_prefix(cwd)?.strip_prefix(['/', '\\'])?;
        (!rest.is_empty()).then(|| rest.to_owned())
    };
    let is_path = matches!(call.action, Action::Read | Action::Edit);
    let short = cwd.filter(|_| is_path).and_then(inside);
    Some(safe::line(&short.unwrap_or_else(|| subject.to_owned())))
}

fn chips(call: &CallRecord) -> Vec<(Style, String)> {
    let mut chips = Vec::new();
    let Some(outcome) = &call.outcome else {
        return vec![(style::ACTIVE, "no result".into())];
    };
    if outcome.is_error {
        let why = match outcome.exit_code() {
            Some(code) => format!(" exit {code}"),
            None if words::is_rejected(outcome) => " rejected by the person".into(),
            None => String::new(),
        };
        chips.push((style::BAD, format!("✗{why}")));
    }
    if let Some(change) = &outcome.change {
        if change.created {
            chips.push((style::DIM, "new".into()));
        }
        let about = if change.estimated { "~" } else { "" };
        chips.push((style::GOOD, format!("{about}+{} −{}", change.added, change.removed)));
    } else if let Some((added, removed)) = outcome.lines() {
        chips.push((style::DIM, counted(outcome.changed_files.len(), "file")));
        chips.push((style::GOOD, format!("+{added} −{removed}")));
    } else if let Some(text) = outcome.text.as_deref().filter(|_| !outcome.is_error) {
        let lines = text.trim_end().lines().count();
        chips.push((style::DIM, counted(lines, "line")));
    }
    let noticed = call.duration_ms.filter(|&ms| ms >= NOTICED_MS);
    chips.extend(noticed.map(|ms| (style::DIM, short_duration(ms))));
    chips
}

/// What stands below a call's line before what came of it: its input, where a level shows that.
pub fn input(page: &mut Page<'_>, call: &CallRecord, hint: Option<&str>) -> io::Result<()> {
    let input = CallInput::from_json(&call.input);
    if ToolForm::of(&call.tool) == ToolForm::Plan
        && let Some(plan) = input.and_then(CallInput::plan_text)
    {
        return page.ends((40, 0), style::PLAIN, BELOW, &plan, hint);
    }
    if page.look.detail < Detail::Everything && page.look.fold != Fold::Whole {
        return Ok(());
    }
    // A diff says what was written, and better.
    if call.outcome.as_ref().is_some_and(|outcome| outcome.change.is_some()) {
        return Ok(());
    }
    let Some(members) = input.and_then(CallInput::named_members) else {
        return page.folded(style::DIM, BELOW, &call.input, hint);
    };
    for (name, value) in members {
        let (name, text) = (safe::line(&name), value.into_text());
        page.folded(style::DIM, BELOW, &format!("{name}: {text}"), hint)?;
    }
    Ok(())
}

/// What came of a call.
pub fn outcome(page: &mut Page<'_>, call: &CallRecord, hint: Option<&str>) -> io::Result<()> {
    let Some(outcome) = &call.outcome else { return Ok(()) };
    let answers = outcome.text.as_deref().map(words::answers).unwrap_or_default();
    let is_answered = ToolForm::of(&call.tool) == ToolForm::Question;
    match &outcome.change {
        None if is_answered && !answers.is_empty() && !outcome.is_error => {
            for answer in answers {
                page.folded(style::PLAIN, BELOW, &format!("→ {answer}"), hint)?;
            }
        }
        Some(change) => diff(page, change, &call.input, hint)?,
        None => result(page, outcome, call.action, hint)?,
    }
    for change in &outcome.changed_files {
        let line = format!("{} {}", safe::line(&change.path), change.summary());
        page.line(&format!("{BELOW}{}", paint(style::DIM, &line)))?;
        hunks(page, &change.hunks, true, hint)?;
    }
    media(page, BELOW, &outcome.media)
}

/// The text of a result. What was read stays closed at level 3: its line says where it is.
pub fn result(
    page: &mut Page<'_>,
    outcome: &Outcome,
    action: Action,
    hint: Option<&str>,
) -> io::Result<()> {
    let Some(text) = outcome.text.as_deref() else { return Ok(()) };
    if outcome.is_error {
        // The chip has said the code.
        let rest = text.split_once('\n').filter(|_| outcome.exit_code().is_some());
        let mut text = words::error_text(rest.map_or(text, |(_, rest)| rest));
        if words::is_rejected(outcome) && page.look.fold == Fold::Short {
            text = text.split_once("the user said:\n").map_or("", |(_, said)| said);
        }
        let ends = if page.look.fold == Fold::Whole { (usize::MAX, 0) } else { (12, 5) };
        return page.ends(ends, style::BAD, BELOW, text, hint);
    }
    // What was read is on the line, and so is what a list now says.
    let is_closed = matches!(action, Action::Read | Action::Plan);
    if is_closed && page.look.fold == Fold::Short {
        page.folded += text.trim_end().lines().count();
        return Ok(());
    }
    page.folded(style::DIM, BELOW, text, hint)
}

/// Pictures and documents, a line each.
pub fn media(page: &mut Page<'_>, mark: &str, media: &[String]) -> io::Result<()> {
    media.iter().try_for_each(|one| {
        page.line(&format!("{mark}{}", paint(style::DIM, &format!("[{}]", safe::line(one)))))
    })
}

/// The lines of a change: from the patch, else from what was written.
fn diff(page: &mut Page<'_>, change: &Change, input: &str, hint: Option<&str>) -> io::Result<()> {
    let hunks = match change.hunks.iter().any(|hunk| !hunk.lines.is_empty()) {
        true => change.hunks.clone(),
        false => words::written(input),
    };
    self::hunks(page, &hunks, !change.estimated, hint)
}

fn hunks(
    page: &mut Page<'_>,
    hunks: &[Hunk],
    has_numbers: bool,
    hint: Option<&str>,
) -> io::Result<()> {
    let changed = |line: &String| line.starts_with(['+', '-']);
    let total = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| changed(line)).count();
    // As with lines: one more is not worth a line that says so.
    let most = match page.changed_most() {
        most if total <= most.saturating_add(1) => usize::MAX,
        most => most,
    };
    let width = hunks.iter().map(number_width).max().unwrap_or(1);
    let mut shown = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        if shown >= most {
            break;
        }
        if index > 0 {
            page.line(&paint(style::DIM, &format!("{BELOW}{:>width$}", "⋮")))?;
        }
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            if changed(line) {
                if shown >= most {
                    break;
                }
                shown += 1;
            }
            let number = match line.chars().next() {
                Some('-') => step(&mut old),
                Some('+') => step(&mut new),
                Some('\\') => 0,
                _ => {
                    step(&mut old);
                    step(&mut new)
                }
            };
            let number = Some(number).filter(|&n| has_numbers && n > 0);
            diff_line(page, line, number, width)?;
        }
    }
    page.more(BELOW, total - shown.min(total), "changed line", hint)
}

fn step(number: &mut u64) -> u64 {
    let now = *number;
    *number = now.saturating_add(1);
    now
}

fn number_width(hunk: &Hunk) -> usize {
    let last = hunk.old_start.max(hunk.new_start).saturating_add(hunk.lines.len() as u64);
    last.to_string().len()
}

fn diff_line(page: &mut Page<'_>, line: &str, number: Option<u64>, width: usize) -> io::Result<()> {
    let style = match line.chars().next() {
        Some('+') => style::GOOD,
        Some('-') => style::BAD,
        _ => style::DIM,
    };
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let number = paint(style::DIM, &format!("{number:>width$}"));
    let mark = line.chars().next().unwrap_or(' ');
    let text = safe::text(line.get(mark.len_utf8()..).unwrap_or_default()).replace('\n', "␊");
    let room = match page.look.fold {
        Fold::Whole => usize::MAX,
        _ => page.room(BELOW.len() + width + 3).unwrap_or(usize::MAX),
    };
    let text = paint(style, &format!("{mark} {}", safe::fit(&text, room)));
    page.line(format!("{BELOW}{number} {text}").trim_end())
}

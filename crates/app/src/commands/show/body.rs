//! Records as text: what a person said, what the model said and thought, what Claude Code noted.

use std::io;

use transcript::prompt;
use transcript::record::{Body, Detail, Part, Record};
use transcript::session::Role;
use transcript::tool::Action;

use super::call::{self, BELOW};
use super::page::{Block, Fold, Page};
use crate::terminal::format::{counted, size, thousands};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};

/// Where there is no terminal, a thought is cut here.
const THOUGHT_MOST: usize = 120;

/// The record's place, where the level shows places.
pub fn place(page: &mut Page<'_>, record: &Record) -> io::Result<()> {
    if !page.look.has_places() {
        return Ok(());
    }
    page.begin(Block::Place)?;
    let mut words = vec![number(record), format!("@{}", record.offset)];
    words.extend(record.time.map(|time| page.clock.time_of_day(time)));
    words.push(record.role.name().into());
    words.extend((!record.state.is_on_way()).then(|| record.state.name().into()));
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    page.line(&paint(style::DIM, &words.join(" ")))
}

fn number(record: &Record) -> String {
    record.number.map(|number| format!("#{number}")).unwrap_or_default()
}

/// Everything of a record but its calls.
pub fn body(page: &mut Page<'_>, record: &Record, hint: Option<&str>) -> io::Result<()> {
    match &record.body {
        Body::Prompt { text, beside, media } => said(page, record, (text, beside, media), hint),
        Body::Answer { parts } if record.role == Role::ApiError => api_error(page, parts),
        Body::Answer { parts } | Body::Calls { parts, .. } => {
            parts.iter().try_for_each(|part| words(page, part, hint))
        }
        Body::LoneResult { tool_use_id, outcome } => {
            let id = tool_use_id.as_deref().unwrap_or("no id");
            work(page, "*", "Result", &format!("its call is not in the file ({id})"))?;
            call::result(page, outcome, Action::Other, hint)
        }
        Body::Compaction { trigger, pre_tokens, post_tokens, segment } => {
            compaction(page, trigger.as_deref(), (*pre_tokens, *post_tokens), *segment)
        }
        Body::Summary { text } => summary(page, text, hint),
        Body::Note { name, text } => note(page, record, name, text.as_deref(), hint),
        Body::TooLarge => {
            let size = size(u64::from(record.length));
            work(page, "?", record.role.name(), &format!("{size}, too large to show"))
        }
        Body::Damaged { text } => {
            let size = size(u64::from(record.length));
            work(page, "?", "damaged line", &format!("{size}, no record"))?;
            page.folded(style::DIM, BELOW, text, hint)
        }
    }
}

/// A line of work: letter, name, essence.
pub fn work(page: &mut Page<'_>, letter: &str, name: &str, essence: &str) -> io::Result<()> {
    page.begin(Block::Work)?;
    let name = safe::line(name);
    let essence = safe::line(essence);
    let room = match page.look.fold {
        Fold::Whole => usize::MAX,
        _ => page.room(safe::width(&name) + 6).unwrap_or(THOUGHT_MOST),
    };
    let line = format!("  {letter} {name}  {}", safe::fit(&essence, room));
    page.line(&paint(style::DIM, line.trim_end()))
}

type Said<'a> = (&'a str, &'a [String], &'a [String]);

/// A user entry: a person, another agent, a task's notice, or text that Claude Code put there.
fn said(
    page: &mut Page<'_>,
    record: &Record,
    (text, beside, media): Said<'_>,
    hint: Option<&str>,
) -> io::Result<()> {
    match record.role {
        Role::Interrupt => page.band(style::ACTIVE, "interrupted by the person"),
        Role::Notification => {
            let essence = prompt::tagged(text, "summary").unwrap_or(text);
            work(page, "@", "notification", essence)?;
            let result = prompt::tagged(text, "result").filter(|_| page.look.has_places());
            result.map_or(Ok(()), |result| page.folded(style::DIM, BELOW, result, hint))
        }
        Role::Injected => {
            // The place has said the role.
            if !page.look.has_places() {
                work(page, "+", "injected", "")?;
            }
            page.folded(style::DIM, BELOW, text, hint)?;
            call::media(page, BELOW, media)
        }
        _ => {
            let is_shown = page.look.has_places();
            for text in beside.iter().filter(|_| is_shown) {
                work(page, "+", "beside the prompt", "")?;
                page.folded(style::DIM, BELOW, text, hint)?;
            }
            asked(page, record, text, media, hint)
        }
    }
}

/// The words of a person or of another agent, the only text with a bar.
fn asked(
    page: &mut Page<'_>,
    record: &Record,
    text: &str,
    media: &[String],
    hint: Option<&str>,
) -> io::Result<()> {
    page.begin(Block::Prompt)?;
    let mut head: Vec<String> = Vec::new();
    head.push(who(record, page.depth() > 0));
    head.extend(record.time.map(|time| page.clock.time_of_day(time)));
    let bar = paint(style::PERSON, "▌");
    page.line(&format!("{bar} {}", paint(style::DIM, &head.join(" · "))))?;
    let text = prompt::teammate_text(text).unwrap_or(text);
    page.quoted(&bar, text, hint)?;
    call::media(page, &format!("{bar} "), media)
}

fn who(record: &Record, is_agent: bool) -> String {
    let word = match record.role {
        Role::Teammate => "teammate",
        Role::Queued => "queued",
        Role::Undelivered => "not delivered",
        Role::Shell => "shell",
        _ if is_agent => "task",
        Role::Command => "command",
        _ => "prompt",
    };
    match record.turn.filter(|_| !is_agent && record.role.is_person()) {
        Some(turn) if matches!(record.role, Role::Prompt) => format!("turn {}", turn + 1),
        Some(turn) => format!("turn {} · {word}", turn + 1),
        None => word.into(),
    }
}

/// A piece of the model's words.
fn words(page: &mut Page<'_>, part: &Part, hint: Option<&str>) -> io::Result<()> {
    match part {
        Part::Text(text) if text.trim().is_empty() => Ok(()),
        Part::Text(text) => {
            page.begin(Block::Answer)?;
            page.prose("", text)
        }
        Part::Thinking(_) if page.look.detail < Detail::Work && !page.look.thinking => Ok(()),
        Part::Thinking(Some(text)) => thought(page, text, hint),
        Part::Thinking(None) => work(page, "·", "thought", "(its text was not stored)"),
        Part::Other { name, bytes } => work(page, "?", name, &size(*bytes as u64)),
    }
}

fn thought(page: &mut Page<'_>, text: &str, hint: Option<&str>) -> io::Result<()> {
    if page.look.thinking {
        page.begin(Block::Work)?;
        page.line(&paint(style::DIM, "  · thought"))?;
        let room = page.room(4);
        for line in crate::terminal::prose::lines(text, room) {
            page.line(format!("    {}", paint(style::DIM, &line)).trim_end())?;
        }
        return Ok(());
    }
    work(page, "·", "thought", clause(text))?;
    if page.look.has_places() {
        page.folded(style::DIM, BELOW, text, hint)?;
    } else {
        page.folded += text.trim().lines().count().saturating_sub(1);
    }
    Ok(())
}

/// The first clause of a thought.
fn clause(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let ends = [". ", "; ", ": "];
    let end = ends.iter().filter_map(|end| line.find(end)).min();
    end.map_or(line, |end| &line[..=end])
}

fn api_error(page: &mut Page<'_>, parts: &[Part]) -> io::Result<()> {
    page.band(style::BAD, "API error")?;
    for part in parts {
        if let Part::Text(text) = part {
            page.folded(style::BAD, "", text, None)?;
        }
    }
    Ok(())
}

fn compaction(
    page: &mut Page<'_>,
    trigger: Option<&str>,
    (before, after): (Option<u64>, Option<u64>),
    segment: usize,
) -> io::Result<()> {
    let mut words: Vec<String> = vec!["compacted".into()];
    words.extend(trigger.map(str::to_owned));
    match (before, after) {
        (Some(before), Some(after)) => {
            words.push(format!("{} → {} tokens", thousands(before), thousands(after)));
        }
        (Some(before), None) => words.push(format!("{} tokens before", thousands(before))),
        _ => {}
    }
    words.push(format!("segment {segment}"));
    page.band(style::ACTIVE, &words.join(" · "))
}

fn summary(page: &mut Page<'_>, text: &str, hint: Option<&str>) -> io::Result<()> {
    page.begin(Block::Answer)?;
    let head = format!("summary, {}", counted(text.lines().count(), "line"));
    page.line(&paint(style::DIM, &head))?;
    page.folded(style::PLAIN, "  ", text, hint)
}

fn note(
    page: &mut Page<'_>,
    record: &Record,
    name: &str,
    text: Option<&str>,
    hint: Option<&str>,
) -> io::Result<()> {
    let size = size(u64::from(record.length));
    if record.role == Role::ApiError {
        page.band(style::BAD, &format!("API error: {}", text.unwrap_or(name)))?;
        return Ok(());
    }
    if record.role == Role::Unknown {
        work(page, "?", "unknown type", &format!("{name}, {size}"))?;
        return match text.filter(|_| page.look.has_places()) {
            Some(text) => page.folded(style::DIM, BELOW, text, hint),
            None => Ok(()),
        };
    }
    match text.map(str::trim) {
        None => work(page, "-", name, &size),
        Some(text) if !text.contains('\n') && text.len() < 80 => work(page, "-", name, text),
        Some(text) => {
            work(page, "-", name, &size)?;
            page.folded(style::DIM, BELOW, text, hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clause() {
        assert_eq!(clause("\nLet me see. Then more\nand"), "Let me see.");
        assert_eq!(clause("one line"), "one line");
        assert_eq!(clause(""), "");
        assert_eq!(clause("v1.2 is out; so"), "v1.2 is out;");
    }
}

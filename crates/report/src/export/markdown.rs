//! A session as Markdown.
//!
//! What a person typed and what programs printed stays text: escaped, or in a fence longer than
//! any in it. What a model wrote is Markdown already and stays so, as long as it keeps to itself:
//! raw HTML becomes text, pictures become links, links lead only where a person may be led, and
//! what would reach beyond its end is put into a fence.

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::format::{Clock, counted, duration, short_duration, size};
use crate::html::{Url, is_unseen, named};
use crate::page::session::Head;
use crate::page::{Style, code};
use crate::words;
use transcript::call::CallInput;
use transcript::record::{Body, CallRecord, Change, Detail, Outcome, Part, Record};
use transcript::session::Role;
use transcript::tool::{Hunk, ToolForm};

use super::tally::Tally;

/// Writes records, one after the other.
#[derive(Debug)]
pub struct Markdown<'a> {
    out: String,
    style: &'a Style,
    clock: &'a Clock,
    /// How many subagents deep.
    depth: usize,
    /// Texts that were cut.
    pub cut: usize,
}

impl<'a> Markdown<'a> {
    /// Nothing yet.
    pub fn new(style: &'a Style, clock: &'a Clock) -> Self {
        Self { out: String::new(), style, clock, depth: 0, cut: 0 }
    }

    /// What was written since it was last asked for.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// A paragraph, a heading, a fence: anything that stands alone.
    fn block(&mut self, text: &str) {
        for line in text.lines() {
            let line = format!("{}{line}", "> ".repeat(self.depth));
            self.out.push_str(line.trim_end_matches(' '));
            self.out.push('\n');
        }
        self.out.push_str("> ".repeat(self.depth).trim_end());
        self.out.push('\n');
    }

    /// The head of a session.
    pub fn head(&mut self, head: &Head) {
        self.block(&format!("# {}", plain(&head.title)));
        let mut facts = vec![format!("Session {}", span(&head.id))];
        facts.extend(head.project.as_deref().map(|project| format!("Folder {}", span(project))));
        facts.extend(head.branch.as_deref().map(|branch| format!("Branch {}", span(branch))));
        if !head.models.is_empty() {
            facts.push(plain(&head.models.join(", ")));
        }
        if let Some((first, last)) = head.first.zip(head.last) {
            facts.push(format!("{}, {}", self.clock.minute(first), duration(last.since(first))));
        }
        let counts = [(head.turns, "turn"), (head.calls, "call"), (head.errors, "error")];
        facts.push(counts.map(|(number, one)| counted(number, one)).join(", "));
        facts.extend(head.usage.iter().map(|(name, value)| format!("{name}: {}", plain(value))));
        for (hash, subject) in &head.commits {
            facts.push(format!(
                "Commit {} {}",
                span(hash.get(..8).unwrap_or(hash)),
                plain(subject)
            ));
        }
        facts.extend(head.notes.iter().map(|note| plain(note)));
        let facts: Vec<String> = facts.iter().map(|fact| format!("- {fact}")).collect();
        self.block(&facts.join("\n"));
    }

    /// The end of a session: what is not there.
    pub fn foot(&mut self, tally: &Tally, notes: &[String]) {
        let hidden = tally.hidden_words();
        let mut lines = Vec::new();
        if !hidden.is_empty() {
            lines.push(format!("Hidden at level {}: {hidden}", self.style.detail as u8));
        }
        lines.extend(tally.lines());
        lines.extend_from_slice(notes);
        if lines.is_empty() {
            return;
        }
        self.block("---");
        let lines: Vec<String> = lines.iter().map(|line| format!("- {}", plain(line))).collect();
        self.block(&lines.join("\n"));
    }

    /// A subagent begins.
    pub fn enter(&mut self, words: &str) {
        self.depth += 1;
        self.block(&format!("**{}**", plain(words)));
    }

    /// It ends.
    pub fn leave(&mut self) {
        self.depth -= 1;
        self.block("");
    }

    /// A record, up to its calls.
    pub fn record(&mut self, record: &Record) {
        match &record.body {
            Body::Prompt { text, beside, media } => self.said(record, text, beside, media),
            Body::Answer { parts } if record.role == Role::ApiError => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(plain_lines(text)),
                    _ => None,
                });
                let text: Vec<String> = texts.collect();
                self.block(&format!("**API error:** {}", text.join(" ")));
            }
            Body::Answer { parts } | Body::Calls { parts, .. } => self.parts(parts),
            Body::LoneResult { outcome, .. } => {
                self.block("**Result** of a call that is not in the file");
                self.outcome(outcome);
            }
            Body::Compaction { trigger, pre_tokens, post_tokens, segment } => {
                let mut words = vec!["Compaction".to_owned()];
                words.extend(trigger.as_deref().map(plain));
                words.extend(pre_tokens.map(|tokens| format!("{tokens} tokens before")));
                words.extend(post_tokens.map(|tokens| format!("{tokens} after")));
                words.push(format!("segment {segment}"));
                self.block(&format!("*{}*", words.join(" \u{b7} ")));
            }
            Body::Summary { text } => {
                self.block("**Summary**");
                self.block(&written(text));
            }
            Body::Note { name, text } => {
                self.block(&format!("*{}*", plain(name)));
                text.iter().for_each(|text| self.fence("", text));
            }
            Body::TooLarge => {
                let bytes = size(u64::from(record.length));
                self.block(&format!("*{}, {bytes}, too large to show*", record.role.name()));
            }
            Body::Damaged { text } => {
                self.block("*Damaged line*");
                self.fence("", text);
            }
        }
    }

    /// The line as it stands in the file.
    pub fn raw(&mut self, record: &Record, line: &str) {
        let number = record.number.map(|number| format!("{number} ")).unwrap_or_default();
        self.block(&format!("**{number}{}**", record.role.name()));
        self.fence("json", line);
    }

    fn said(&mut self, record: &Record, text: &str, beside: &[String], media: &[String]) {
        if record.role == Role::Interrupt {
            return self.block("*Interrupted by the person*");
        }
        let time = record.time.map(|time| format!(" \u{b7} {}", self.clock.minute(time)));
        let time = time.unwrap_or_default();
        if self.style.detail >= Detail::Everything {
            for text in beside {
                self.block("*Put beside the prompt*");
                self.fence("", text);
            }
        }
        let name = match record.role {
            Role::Injected => "Put there by Claude Code",
            Role::Notification => "Notification",
            Role::Teammate => "Teammate",
            Role::Queued => "Queued prompt",
            Role::Undelivered => "Prompt, not delivered",
            Role::Shell => "Shell command",
            Role::Command => "Command",
            _ if self.depth > 0 => "Task",
            _ => "Prompt",
        };
        match record.turn.filter(|_| self.depth == 0) {
            Some(turn) => self.block(&format!("## {}. {name}{time}", turn + 1)),
            None => self.block(&format!("**{name}**{time}")),
        }
        match record.role {
            Role::Injected | Role::Notification => self.fence("", text),
            _ => self.quote(text),
        }
        self.media(media);
    }

    /// A person's words, as they were typed.
    fn quote(&mut self, text: &str) {
        let lines = plain_lines(text.trim_end());
        let quoted: Vec<String> = lines.lines().map(|line| format!("> {line}")).collect();
        self.block(&quoted.join("\n"));
    }

    fn media(&mut self, media: &[String]) {
        media.iter().for_each(|words| self.block(&format!("*{}*", plain(words))));
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Text(text) => self.block(&written(text)),
                Part::Thinking(Some(text)) => {
                    self.block("*Thought:*");
                    self.quote(text);
                }
                Part::Thinking(None) => self.block("*A thought whose text was not stored*"),
                Part::Other { name, bytes } => {
                    self.block(&format!("*{}, {}*", plain(name), size(*bytes as u64)));
                }
            }
        }
    }

    /// A call and what came of it.
    pub fn call(&mut self, call: &CallRecord) {
        let mut line = format!("**{}**", plain(&words::tool_name(&call.tool)));
        let subject = words::todos(call).or_else(|| call.subject.clone());
        if let Some(subject) = subject.as_deref().and_then(|s| s.lines().next()) {
            line += &format!(" {}", span(self.style.short(subject)));
        }
        match &call.outcome {
            None => line += " \u{b7} no result",
            Some(outcome) if outcome.is_error => match outcome.exit_code() {
                Some(code) => line += &format!(" \u{b7} exit {code}"),
                None => line += " \u{b7} failed",
            },
            Some(Outcome { change: Some(change), .. }) => {
                line += &format!(" \u{b7} +{} \u{2212}{}", change.added, change.removed);
            }
            Some(outcome) => {
                if let Some((added, removed)) = outcome.lines() {
                    line += &format!(" \u{b7} +{added} \u{2212}{removed}");
                }
            }
        }
        if let Some(ms) = call.duration_ms {
            line += &format!(" \u{b7} {}", short_duration(ms));
        }
        self.block(&line);
        match call.outcome.as_ref().and_then(|outcome| outcome.change.as_ref()) {
            Some(change) => self.change(call, change),
            None => self.input(call),
        }
        if let Some(outcome) = &call.outcome {
            if outcome.change.is_none() {
                self.outcome(outcome);
            }
            for change in &outcome.changed_files {
                self.block(&format!("{} {}", span(&change.path), change.summary()));
                self.hunks(&change.hunks);
            }
            self.media(&outcome.media);
        }
    }

    fn input(&mut self, call: &CallRecord) {
        let input = CallInput::from_json(&call.input);
        match ToolForm::of(&call.tool) {
            ToolForm::FileText => {}
            ToolForm::Command => match input.and_then(CallInput::shell_command) {
                // One line has just been said.
                Some(command)
                    if call.subject.as_deref() == Some(&*command) && !command.contains('\n') => {}
                Some(command) => self.fence("sh", &command),
                None => self.fence("json", &call.input),
            },
            ToolForm::Plan => match input.and_then(CallInput::plan_text) {
                Some(plan) => self.block(&written(&plan)),
                None => self.fence("json", &call.input),
            },
            _ => self.fence("json", &call.input),
        }
    }

    fn outcome(&mut self, outcome: &Outcome) {
        if let Some(text) = outcome.text.as_deref().filter(|text| !text.is_empty()) {
            self.fence("", text);
        }
    }

    fn change(&mut self, call: &CallRecord, change: &Change) {
        let written;
        let hunks = match change.hunks.iter().any(|hunk| !hunk.lines.is_empty()) {
            true => &change.hunks,
            false => {
                written = words::written(&call.input);
                &written
            }
        };
        self.hunks(hunks);
    }

    fn hunks(&mut self, hunks: &[Hunk]) {
        if hunks.is_empty() {
            return;
        }
        let mut text = String::new();
        for hunk in hunks {
            text += &format!("@@ -{} +{} @@\n", hunk.old_start, hunk.new_start);
            for line in &hunk.lines {
                text += line;
                text.push('\n');
            }
        }
        self.fence("diff", &text);
    }

    /// Text as it is, in a fence that it can't end.
    fn fence(&mut self, language: &'static str, text: &str) {
        let end = text.floor_char_boundary(code::MOST);
        let (text, rest) = text.split_at(end);
        self.block(&fenced(language, text));
        if !rest.is_empty() {
            self.cut += 1;
            self.block(&format!("*{} more, not here*", size(rest.len() as u64)));
        }
    }
}

/// Text as it is, in a fence that it can't end.
fn fenced(language: &'static str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", seen(text).trim_end_matches('\n'))
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    let (mut now, mut most) = (0, 0);
    for byte in text.bytes() {
        now = if byte == b'`' { now + 1 } else { 0 };
        most = most.max(now);
    }
    most
}

/// Text without what can't be seen: carriage returns end lines, all else is named.
fn seen(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = text.replace("\r\n", "\n");
    for c in text.chars() {
        match c {
            '\r' => out.push('\n'),
            c if is_unseen(c) => out.push_str(&named(c)),
            c => out.push(c),
        }
    }
    out
}

/// Words on one line, as code.
fn span(text: &str) -> String {
    let text = seen(text).replace(['\n', '\t'], " ");
    let ticks = "`".repeat(longest_run(&text) + 1);
    match text.trim().is_empty() {
        true => String::new(),
        // A space on both sides is taken off again by the reader.
        false if text.trim().starts_with('`') || text.trim().ends_with('`') => {
            format!("{ticks} {} {ticks}", text.trim())
        }
        false => format!("{ticks}{}{ticks}", text.trim()),
    }
}

/// Words on one line that mean only themselves.
pub fn plain(text: &str) -> String {
    let line = seen(text).split_whitespace().collect::<Vec<_>>().join(" ");
    plain_line(&line)
}

/// Lines that mean only themselves and stay lines.
fn plain_lines(text: &str) -> String {
    let text = seen(text);
    let lines: Vec<String> = text.split('\n').map(plain_line).collect();
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        out.push_str(line);
        if let Some(next) = lines.get(at + 1) {
            // A line break, unless a paragraph ends here.
            out.push_str(if line.is_empty() || next.is_empty() { "\n" } else { "\\\n" });
        }
    }
    out
}

/// Spaces at the beginning of a line are kept up to here.
const INDENT: usize = 40;

fn plain_line(line: &str) -> String {
    let line = line.trim_end();
    let rest = line.trim_start();
    let indent: usize =
        line[..line.len() - rest.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let mut out = "&nbsp;".repeat(indent.min(INDENT));
    let is_number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && text[digits..].starts_with(['.', ')'])
    };
    // Not behind an indent: there it is in the middle of a line.
    let begins_list = rest.starts_with(['#', '+', '-', '=', ':']) || is_number(rest);
    if begins_list && indent == 0 {
        let at = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        out.push_str(&rest[..at]);
        out.push('\\');
        escape(&mut out, &rest[at..]);
    } else {
        escape(&mut out, rest);
    }
    out
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '$' | '{' | '}'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Passes until what a model wrote keeps to itself.
const PASSES: usize = 4;
/// Stands behind a text to see whether that reaches beyond its end.
const BEHIND: &str = "behind";

/// What a model wrote, as it wrote it, if that keeps to itself; else in a fence.
fn written(text: &str) -> String {
    let mut text = seen(text);
    for _ in 0..PASSES {
        let changes = changes(&text);
        if changes.is_empty() {
            match ends(&text) {
                true => return text,
                false => break,
            }
        }
        // From the end on, so that places stay true.
        for (at, length, new) in changes.into_iter().rev() {
            text.replace_range(at..at + length, new);
        }
    }
    fenced("", &text)
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
}

/// What has to be replaced: where, how many bytes, by what.
fn changes(text: &str) -> Vec<(usize, usize, &'static str)> {
    let parser = Parser::new_ext(text, options());
    let mut changes: Vec<(usize, usize, &'static str)> = Vec::new();
    // A definition would hold in all of the file.
    changes.extend(parser.reference_definitions().iter().map(|(_, def)| (def.span.start, 0, "\\")));
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let signs = text[range.clone()].match_indices('<');
                changes.extend(signs.map(|(at, _)| (range.start + at, 1, "&lt;")));
            }
            Event::Start(Tag::Link { dest_url, .. }) if Url::written(&dest_url).is_none() => {
                changes.push((range.start, 0, "\\"));
            }
            Event::Start(Tag::Image { .. } | Tag::FootnoteDefinition(_)) => {
                changes.push((range.start, 0, "\\"));
            }
            _ => {}
        }
    }
    changes.sort_unstable();
    changes.dedup();
    changes
}

/// Whether what stands behind a text is no part of it.
fn ends(text: &str) -> bool {
    let with = format!("{text}\n\n{BEHIND}\n");
    let (mut depth, mut is_apart) = (0usize, false);
    for event in Parser::new_ext(&with, options()) {
        match event {
            Event::Start(tag) => {
                is_apart = depth == 0 && matches!(tag, Tag::Paragraph);
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) => is_apart &= &*text == BEHIND,
            _ => is_apart = false,
        }
    }
    is_apart
}

#[cfg(test)]
mod tests;

//! `recount request`: exactly what was sent to the model.

use std::str::FromStr;

use report::request::{self, RequestChanges, SentMessage, SentRequest};
use report::show::{self, Place};
use transcript::record::Opened;
use transcript::request::sent::{SentBlock, message_blocks};
use transcript::request::{MessageSource, RequestLog};

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;
use ask::name::SessionName;

/// The first lines of a text that are shown.
const LINES_SHOWN: usize = 6;
/// The tools that are named with their tokens.
const TOOLS_SHOWN: usize = 12;

/// Show exactly what was sent to the model: system prompt, tools, messages, parameters and cache
/// breakpoints, and what changed since the request before.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Claude Code records its requests since 2.1.326. Every message is checked against its hash, and the
whole request against the recorded digest. Parts that the file does not have are listed, never
guessed.

Examples:
  recount request latest              the last request of the latest session
  recount request 3f2a:120            the request that entry 120 answers
  recount request 3f2a --whole        nothing folded
  recount request 3f2a --json         as one JSON line")]
pub struct RequestArgs {
    /// The session, and an entry of it: `3f2a91c0` or `3f2a91c0:120`
    #[arg(value_name = "SESSION[:ENTRY]")]
    session: RequestName,

    /// The request of this entry: an answer's own, else the first that was sent after it
    #[arg(long, value_name = "N")]
    entry: Option<u32>,

    /// Nothing folded
    #[arg(long)]
    whole: bool,
}

/// A session, or an entry of it.
#[derive(Debug, Clone)]
struct RequestName {
    session: SessionName,
    entry: Option<u32>,
}

impl FromStr for RequestName {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once([':', '#']);
        let number = parts.and_then(|(session, entry)| Some((session, entry.parse().ok()?)));
        let (session, entry) = match number {
            Some((session, entry)) => (session, Some(entry)),
            None => (text, None),
        };
        Ok(Self { session: session.parse()?, entry })
    }
}

/// Shows the request.
pub fn run(args: &RequestArgs, run: &mut Run) -> Result<Answer, CliError> {
    let open = run.recount.open_session(&args.session.session)?;
    let opened = Opened::new(&open.session, &open.sources, false);
    let log = RequestLog::of_source(&open.sources[0])?;
    let index = match args.entry.or(args.session.entry) {
        Some(number) => {
            let node = show::entry(&open.session, Place::Number(number))?;
            request::of_entry(&log, &opened, node)?
        }
        None => log.requests().len().checked_sub(1),
    };
    let Some(index) = index else {
        let words = match log.requests().is_empty() {
            true => "No request is recorded; Claude Code records them since 2.1.326",
            false => "No request is recorded for this entry",
        };
        run.talk.note(words.into());
        return Ok(Answer::Nothing);
    };
    let sent = request::rebuild(&log, index, &open.sources[0], &opened)?;
    let number = |offset: u64| {
        let node = show::entry(&open.session, Place::Offset(offset)).ok()?;
        opened.number(node)
    };
    if run.json {
        run.out.json(&wire::request::Request::new(Some(open.name()), &sent, number))?;
        return Ok(Answer::Found);
    }
    run.out.line(&paint(style::NAME, &safe::line(&open.name())))?;
    let position = format!("request {} of {}", index + 1, log.requests().len());
    for line in head(&sent, &position, number(sent.span.offset)) {
        run.out.line(&line)?;
    }
    for line in body(&sent, args.whole, number) {
        run.out.line(&line)?;
    }
    Ok(Answer::Found)
}

fn section(title: &str) -> String {
    format!("\n{}", paint(style::NAME, title))
}

fn head(sent: &SentRequest, position: &str, entry: Option<u32>) -> Vec<String> {
    let mut line = position.to_owned();
    if let Some(entry) = entry {
        line += &format!(" · entry {}", count(u64::from(entry)));
    }
    if let Some(time) = wire::time(sent.time) {
        line += &format!(" · {time}");
    }
    if let Some(source) = &sent.query_source {
        line += &format!(" · {source}");
    }
    let mut lines = vec![safe::line(&line)];
    lines.push(match sent.is_verified {
        Some(true) => "verified: it has the digest that Claude Code recorded".into(),
        Some(false) => {
            paint(style::BAD, "not verified: its digest is not the one that is recorded")
        }
        None if sent.missing.is_empty() => "no digest is recorded".into(),
        None => paint(style::BAD, "not whole: parts of it are not in the file"),
    });
    let missing = sent.missing.iter();
    lines.extend(missing.map(|part| format!("  missing: {}", safe::line(&part.text))));
    lines.extend(tokens(sent));
    lines
}

/// Tokens by part.
fn tokens(sent: &SentRequest) -> Vec<String> {
    let mut lines = vec![section("Tokens"), format!("  estimated from {}", sent.estimation())];
    let row = |name: &str, tokens: u64| format!("  {:>9}  {}", count(tokens), safe::line(name));
    lines.push(row("system prompt", sent.system_size.tokens));
    let mut tools: Vec<_> = sent.tool_sizes.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
    let all: u64 = tools.iter().map(|tool| tool.tokens).sum();
    lines.push(row(&counted(tools.len(), "tool"), all));
    for tool in tools.iter().take(TOOLS_SHOWN) {
        lines.push(row(&format!("  {}", tool.name), tool.tokens));
    }
    if tools.len() > TOOLS_SHOWN {
        let rest: u64 = tools[TOOLS_SHOWN..].iter().map(|tool| tool.tokens).sum();
        lines.push(row(&format!("  {} others", tools.len() - TOOLS_SHOWN), rest));
    }
    let all: u64 = sent.message_sizes.iter().map(|part| part.tokens).sum();
    lines.push(row(&counted(sent.messages.len(), "message"), all));
    for part in &sent.message_sizes {
        lines.push(row(&format!("  {}", part.name), part.tokens));
    }
    lines
}

fn body(sent: &SentRequest, whole: bool, number: impl Fn(u64) -> Option<u32>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(changes) = &sent.changes {
        lines.push(section("Changed since the request before"));
        lines.extend(changed(changes).into_iter().map(|line| format!("  {}", safe::line(&line))));
    }
    lines.push(section("Parameters"));
    for (name, value) in &sent.params {
        lines.push(format!("  {}", safe::line(&format!("{name}: {value}"))));
    }
    lines.push(section("Cache breakpoints"));
    for mark in &sent.breakpoints {
        lines.push(format!("  {}", safe::line(&format!("{}: {}", mark.path, mark.value))));
    }
    lines.push(section("System prompt"));
    for text in sent.system.iter().flatten() {
        lines.extend(folded(text, whole));
    }
    lines.push(section("Messages"));
    for (at, message) in sent.messages.iter().enumerate() {
        lines.push(format!("  {}", paint(style::DIM, &message_head(at, message, &number))));
        for text in texts(message) {
            lines.extend(folded(&text, whole));
        }
    }
    lines
}

fn changed(changes: &RequestChanges) -> Vec<String> {
    let mut lines = vec![format!(
        "messages: {} kept, {} dropped, {} added",
        count(changes.messages_kept as u64),
        count(changes.messages_dropped as u64),
        count(changes.messages_added as u64),
    )];
    lines.push(match changes.system {
        Some(true) => "the system prompt changed".into(),
        Some(false) => "the system prompt is the same".into(),
        None => "whether the system prompt changed is not known".into(),
    });
    for (names, what) in [
        (&changes.tools_added, "tools added"),
        (&changes.tools_removed, "tools removed"),
        (&changes.tools_changed, "tools changed"),
    ] {
        if !names.is_empty() {
            lines.push(format!("{what}: {}", names.join(", ")));
        }
    }
    for param in &changes.params {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".into());
        let (before, after) = (value(&param.before), value(&param.after));
        lines.push(format!("{}: {before} -> {after}", param.name));
    }
    lines
}

fn message_head(at: usize, message: &SentMessage, number: &impl Fn(u64) -> Option<u32>) -> String {
    let entry = |offset: u64| number(offset).map_or_else(String::new, |n| n.to_string());
    let found = match &message.source {
        MessageSource::Blob(span) => format!("recorded in entry {}", entry(span.offset)),
        MessageSource::Entries(spans) => {
            let numbers: Vec<String> = spans.iter().map(|span| entry(span.offset)).collect();
            let noun = if numbers.len() == 1 { "entry" } else { "entries" };
            format!("{noun} {}", numbers.join(", "))
        }
        MessageSource::Missing => "missing".into(),
    };
    let new = if message.is_kept { "" } else { " · new" };
    let role = if message.role.is_empty() { "unknown" } else { &message.role };
    let tokens = count(message.tokens);
    safe::line(&format!("{} {role} · {found} · {tokens} tokens{new}", at + 1))
}

/// What the blocks of a message say.
fn texts(message: &SentMessage) -> Vec<String> {
    let Some(json) = &message.json else { return Vec::new() };
    message_blocks(json).into_iter().map(block).collect()
}

fn block(block: SentBlock) -> String {
    match block {
        SentBlock::Text(text) => text,
        SentBlock::Thinking(text) => format!("[thinking] {text}"),
        SentBlock::Call(tool, input) => format!("[call] {tool} {input}"),
        SentBlock::Result(said) => format!("[result] {said}"),
        SentBlock::Other(kind, bytes) => {
            format!("[{}] {}", kind.as_deref().unwrap_or("block"), size(bytes))
        }
    }
}

fn folded(text: &str, whole: bool) -> Vec<String> {
    let shown = if whole { usize::MAX } else { LINES_SHOWN };
    let all = text.lines().count();
    let mut lines: Vec<String> = text
        .lines()
        .take(shown)
        .map(|line| {
            let line = safe::line(line);
            let line = if whole { line } else { safe::fit(&line, 160).into_owned() };
            format!("    {line}")
        })
        .collect();
    if all > shown {
        let more = counted(all - shown, "more line");
        lines.push(format!("    {}", paint(style::DIM, &format!("… {more}"))));
    }
    lines
}

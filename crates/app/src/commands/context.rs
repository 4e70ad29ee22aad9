//! `recount context`: exactly what is in the model's context now.
//!
//! Since the last compaction, on the branch where the talk stands: the summary, what the
//! compaction kept, and all that was said since. Claude Code's own notes are not sent to the
//! model and not shown. Where the client recorded its requests, the last one decides what is in
//! the context; the answer says which way it was made.

use std::io;

use report::request::{self, RecordedContext};
use report::show::{self, Tokens};
use report::tree;
use transcript::record::{Body, Detail, Opened, Outcome, Part, Record};
use transcript::request::RequestLog;
use transcript::session::{Role, Session};

use super::show::page::{Fold, Look, Page};
use super::show::viewer::{Stage, Viewer};
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;
use ask::name::SessionName;
use ask::sessions::OpenSession;
use report::show::entries;

/// What is in the model's context now: since the last compaction, on the active branch.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount context latest              what the model of the latest session knows now
  recount context 3f2a --whole        nothing folded
  recount context . --json            as JSON lines")]
pub struct ContextArgs {
    /// Id, beginning of one, `latest`, `.` for the latest of this folder, a path, or `-`
    session: SessionName,

    /// Nothing folded
    #[arg(long)]
    whole: bool,
}

/// Shows the context.
pub fn run(args: &ContextArgs, run: &mut Run) -> Result<Answer, CliError> {
    let open = run.recount.open_session(&args.session)?;
    run.recount.observed.forget_damage();
    let opened = Opened::new(&open.session, &open.sources, false);
    let nodes: Vec<usize> = tree::context(&open.session)
        .into_iter()
        .filter(|&node| show::is_sent(open.session.nodes()[node].role))
        .collect();
    let log = RequestLog::of_source(&open.sources[0])?;
    let recorded = request::recorded_context(&log, &open.sources[0], &opened, &nodes)?;
    let nodes = recorded.as_ref().map_or(nodes, |recorded| recorded.nodes.clone());
    let made = wire::request::Context::new(open.name(), recorded.as_ref(), nodes.len());
    let head = match run.json {
        true => {
            run.out.json(&made)?;
            None
        }
        false => Some(Head::of(&opened, &nodes)?),
    };
    let look = Look {
        detail: Detail::Everything,
        fold: if args.whole { Fold::Whole } else { Fold::Long },
        thinking: args.whole,
        // A subagent's work is in a context of its own.
        subagents: false,
    };
    let json = run.json;
    let Run { out, talk, recount, .. } = run;
    let clock = &recount.clock;
    let mut page = Page::new(out, clock, look);
    page.cwd = open.session.cwd().map(str::to_owned);
    if let Some(head) = head {
        head.print(&mut page, &open, recorded.as_ref())?;
    }
    let stage = Stage { opened: &opened, sources: &open.sources, agent: None, is_tail: false };
    let mut viewer = Viewer::new(page, talk, json, None, Some(open.name()));
    viewer.show(stage, &nodes, &[])?;
    let Viewer { mut page, shown, .. } = viewer;
    if !json && page.folded > 0 {
        page.line("")?;
        let folded = count(page.folded as u64);
        let words = format!("folded here: {folded} lines; `--whole` shows them");
        page.line(&paint(style::DIM, &words))?;
    }
    Ok(if shown > 0 { Answer::Found } else { Answer::Nothing })
}

/// What is said of a context before it.
struct Head {
    segment: usize,
    entries: usize,
    kept: usize,
    characters: usize,
    summary: Option<usize>,
    tokens: Option<Tokens>,
}

impl Head {
    fn of(opened: &Opened<'_>, nodes: &[usize]) -> Result<Self, CliError> {
        let session = opened.session();
        let mut head = Self {
            segment: segment(session, nodes),
            entries: nodes.len(),
            kept: nodes.iter().filter(|&&n| session.nodes()[n].is_preserved()).count(),
            characters: 0,
            summary: None,
            tokens: show::tokens(opened, nodes)?,
        };
        for &node in nodes {
            let Some(record) = opened.record(node)? else { continue };
            let length = characters(&record);
            head.characters += length;
            if record.role == Role::Summary {
                head.summary = Some(head.summary.unwrap_or(0) + length);
            }
        }
        Ok(head)
    }

    fn print(
        &self,
        page: &mut Page<'_>,
        open: &OpenSession,
        recorded: Option<&RecordedContext>,
    ) -> io::Result<()> {
        page.line(&paint(style::NAME, &safe::line(&open.name())))?;
        page.line(&made_words(recorded))?;
        let characters = count(self.characters as u64);
        let of = open.session.segments().len();
        page.line(&format!(
            "segment {} (of {of}) · {} · {characters} characters",
            self.segment,
            entries(self.entries),
        ))?;
        if let Some(tokens) = &self.tokens {
            page.line(&tokens_line(tokens))?;
        } else {
            page.line("tokens are not known: no response in it says any")?;
        }
        match self.summary {
            Some(length) => {
                let kept = match self.kept {
                    0 => String::new(),
                    kept => format!(" and {} that it kept", entries(kept)),
                };
                let length = count(length as u64);
                page.line(&format!("begins with a summary of {length} characters{kept}"))?;
            }
            None => page.line("nothing was compacted: it begins with the session")?,
        }
        page.line("")
    }
}

fn made_words(recorded: Option<&RecordedContext>) -> String {
    let Some(RecordedContext { request, after, .. }) = recorded else {
        return "rebuilt from the transcript".into();
    };
    let verified = if request.is_verified == Some(true) { ", verified" } else { "" };
    format!(
        "from the recorded request ({}{verified}) and {} after it; `recount request` shows it whole",
        counted(request.messages.len(), "message"),
        entries(*after),
    )
}

fn tokens_line(tokens: &Tokens) -> String {
    let number = |number: u64| count(number);
    let at = tokens.number.map(|n| format!(" as of entry {n}")).unwrap_or_default();
    format!(
        "{} tokens{at}: {} read anew, {} from the cache, {} put into it, {} written",
        number(tokens.total()),
        number(tokens.input),
        number(tokens.cache_read),
        number(tokens.cache_creation),
        number(tokens.output),
    )
}

fn segment(session: &Session, nodes: &[usize]) -> usize {
    nodes.iter().rev().find_map(|&node| session.segment_of(node)).unwrap_or(0)
}

/// The characters of what a record says to the model.
fn characters(record: &Record) -> usize {
    let chars = |text: &str| text.chars().count();
    let part = |part: &Part| match part {
        Part::Text(text) | Part::Thinking(Some(text)) => chars(text),
        Part::Thinking(None) | Part::Other { .. } => 0,
    };
    let shown = |outcome: &Outcome| outcome.text.as_deref().map_or(0, chars);
    match &record.body {
        Body::Prompt { text, beside, .. } => {
            chars(text) + beside.iter().map(|text| chars(text)).sum::<usize>()
        }
        Body::Answer { parts } => parts.iter().map(part).sum(),
        Body::Calls { parts, calls } => {
            let called = calls
                .iter()
                .map(|call| chars(&call.input) + call.outcome.as_ref().map_or(0, shown));
            parts.iter().map(part).sum::<usize>() + called.sum::<usize>()
        }
        Body::LoneResult { outcome, .. } => shown(outcome),
        Body::Summary { text } => chars(text),
        Body::Note { text, .. } => text.as_deref().map_or(0, chars),
        Body::Compaction { .. } | Body::TooLarge | Body::Damaged { .. } => 0,
    }
}

//! `recount recall`: the evidence for a question, quoted from all sessions.

use ask::recall::{RecallAnswer, RecallQuery};
use store::find::{Evidence, Hit, QuoteRef, Recalled};
use store::index::{Rung, Snippet};
use store::query::{Place, Role};

use super::search::{self, Semantic};
use super::short;
use crate::args::{Scope, SyncWait};
use crate::error::{Answer, CliError};
use crate::quote;
use crate::run::Run;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;

/// How much of a title is shown, in columns.
const TITLE: usize = 70;

/// The evidence for a question in plain words, quoted from all sessions, also from those that
/// Claude Code has deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Any question works: words that say nothing are passed over, and what nobody wrote as it was asked
is looked for in other forms, with typos and inside of words. Each quote names its session and
entry, when it was said, and whether it still stands: it may be on a branch that was left, from
before a compaction, or about a file that was changed again since. A day, a month or a year that
is named (`in May`, `on 5 May`, `2026-05-05`) is looked at first. With `recount model install` and
`recount sync --semantic` what was said in other words is found too, and the ten best places are
read again word by word.

Examples:
  recount recall why did we leave redis out
  recount recall what did we decide about the cache in May
  recount recall --budget 2000 'how was the flaky login test fixed?'
  recount recall --project . --since 30d --json which port does the preview use")]
pub struct RecallArgs {
    /// The question
    #[arg(required = true, num_args = 1..)]
    question: Vec<String>,

    /// How many characters are quoted at most
    #[arg(long, value_name = "CHARACTERS", default_value_t = 4_000)]
    budget: usize,

    /// Whether to look for what is meant, too
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    semantic: Semantic,

    #[command(flatten)]
    scope: Scope,

    #[command(flatten)]
    sync_wait: SyncWait,
}

/// Prints what is known about a question.
pub fn run(args: &RecallArgs, run: &mut Run) -> Result<Answer, CliError> {
    args.sync_wait.apply(run);
    let query = RecallQuery {
        question: args.question.join(" "),
        project: args.scope.project(run)?,
        period: args.scope.period(run),
        max_chars: args.budget,
        by: args.semantic.into(),
    };
    let RecallAnswer { recalled, has_embeddings } = run.recount.recall(&query)?;
    if run.json {
        for (rank, evidence) in (1..).zip(&recalled.evidence) {
            run.out.json(&wire::recall::Evidence::new(rank, evidence))?;
        }
    } else {
        show(run, &recalled)?;
    }
    search::say_semantic(run, args.semantic, has_embeddings);
    notes(args, run, &recalled);
    Ok(Answer::of(&recalled.evidence))
}

/// The evidence by session, that of the best one first.
fn show(run: &mut Run, recalled: &Recalled) -> Result<(), CliError> {
    if recalled.evidence.is_empty() {
        return Ok(());
    }
    run.out.line(&quote::head())?;
    let mut shown: Vec<&str> = Vec::new();
    for evidence in &recalled.evidence {
        let id = evidence.hit.session.id.as_str();
        if shown.contains(&id) {
            continue;
        }
        shown.push(id);
        run.out.line("")?;
        heading(run, &evidence.hit)?;
        for one in recalled.evidence.iter().filter(|one| one.hit.session.id.as_str() == id) {
            turn(run, one)?;
        }
    }
    Ok(())
}

/// The session. Its title may be anything that was typed: cut short, and between quotes.
fn heading(run: &mut Run, hit: &Hit) -> Result<(), CliError> {
    let session = &hit.session;
    let title = session.title.as_deref().unwrap_or("no title");
    let title = safe::line(title).replace('"', "'");
    let gone = match (hit.is_ghost(), hit.is_gone) {
        (true, _) => ", only its prompts are left",
        (false, true) => ", kept in the store only",
        (false, false) => "",
    };
    let project = safe::line(session.project.as_deref().unwrap_or("-"));
    let id = paint(style::NAME, &short(session.id.as_str()));
    let about = paint(style::DIM, &format!("{project}{gone}"));
    Ok(run.out.line(&format!("{id}  \"{}\"  {about}", safe::fit(&title, TITLE)))?)
}

fn turn(run: &mut Run, evidence: &Evidence) -> Result<(), CliError> {
    let hit = &evidence.hit;
    let when = hit.time.map_or_else(|| "no time".into(), |time| run.recount.clock.minute(time));
    let head = format!("  #{}, {when}, {}", hit.entry, state(hit.place));
    run.out.line(&paint(style::DIM, &head))?;
    for file in &evidence.files {
        let since = if file.is_changed_since { "changed again since" } else { "not changed since" };
        run.out.line(&paint(style::DIM, &format!("  {}: {since}", safe::line(&file.path))))?;
    }
    evidence.quotes().into_iter().try_for_each(|quote| say(run, quote))
}

/// The words for where something stands.
pub fn state(place: Place) -> &'static str {
    match place {
        Place::Active => "active",
        Place::Abandoned => "on a branch that was left",
        Place::Compacted => "before a compaction",
        Place::Subagent => "in a subagent",
    }
}

/// A quote, every line of it behind a mark: nothing that was said can look like more than that.
fn say(run: &mut Run, quote: QuoteRef<'_>) -> Result<(), CliError> {
    let who = match quote.role {
        Role::Prompt => "person",
        Role::Answer => "model",
        role => role.name(),
    };
    run.out.line(&format!("    #{} {who}:", quote.entry))?;
    let text = ends(quote.snippet);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        run.out.line(&format!("    > {}", safe::line(line)))?;
    }
    Ok(())
}

/// The words, with dots where something is cut off.
fn ends(snippet: &Snippet) -> String {
    let dots = |is_cut| if is_cut { "…" } else { "" };
    let text = snippet.text.trim();
    format!("{}{text}{}", dots(snippet.is_cut_before), dots(snippet.is_cut_after))
}

fn notes(args: &RecallArgs, run: &mut Run, recalled: &Recalled) {
    if recalled.evidence.is_empty() {
        return;
    }
    if recalled.rung != Rung::Words {
        let rung = recalled.rung.name();
        run.talk.note(format!("Not all words were found as they are; found by {rung}"));
    }
    if recalled.is_more {
        let more = args.budget.saturating_mul(2);
        run.talk.note(format!("There is more: `--budget {more}`"));
    }
}

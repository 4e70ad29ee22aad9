//! `recount search`: where something was said, done or printed.

use std::path::Path;

use ask::search::{SearchAnswer, SearchQuery};
use store::find::Hit;
use store::index::{By, Explain, Rung};
use store::query::Place;

use super::short;
use crate::args::SyncWait;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;

/// Find where something was said, done or printed, in all sessions, also in those that Claude
/// Code has deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Words are looked for in any order, those that have most of them come first. \"Several words\"
in quotes are a phrase, -word leaves out, word* is the beginning of one. Filters:
  project: session: branch: tool: file: model: pr: commit:
  role:prompt|answer|thinking|call|output|summary|title   in:active|abandoned|compacted|subagent
  error:yes   before:2026-04-20   after:yesterday
--regex reads every text again and takes its time; the filters cut down what is read. It minds
case ((?i) does not), ^ and $ are the ends of lines, and the newest come first.
With --semantic only what was said in other words is found too, and no word counts; auto joins
both if the model is there (`recount model install`, `recount sync --semantic`).
Of an output that Claude Code saved in a file of its own the first MB is searched. Of sessions
without a transcript the prompts are, as far as the history has them.

Examples:
  recount search why does the login test fail
  recount search 'address already in use' tool:Bash after:\"last week\"
  recount search '\"connection refused\" -docker' project:api
  recount search 'file:src/main.rs role:call'
  recount search --regex 'panicked at .*unwrap' project:api role:output")]
pub struct SearchArgs {
    /// Words, \"phrases\", -without, prefix*, and filters
    #[arg(required_unless_present = "regex", num_args = 1..)]
    query: Vec<String>,

    /// Look for a regular expression in all texts, newest first; QUERY is then only filters
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    regex: Option<String>,

    /// How many hits
    #[arg(long, default_value_t = 10)]
    limit: usize,

    /// Leave out so many of the first ones
    #[arg(long, default_value_t = 0)]
    offset: usize,

    /// Best first, not grouped by session
    #[arg(long)]
    flat: bool,

    /// Say why each hit stands where it does
    #[arg(long, conflicts_with = "regex")]
    explain: bool,

    /// Whether to look for what is meant, beside the words
    #[arg(long, value_name = "WHEN", default_value = "auto", conflicts_with = "regex")]
    semantic: Semantic,

    #[command(flatten)]
    sync_wait: SyncWait,
}

/// Whether what is meant counts beside the words that were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Semantic {
    /// If the model is installed.
    Auto,
    /// Only words.
    Off,
    /// Only what is meant.
    Only,
}

impl From<Semantic> for By {
    fn from(semantic: Semantic) -> Self {
        match semantic {
            Semantic::Auto => Self::Both,
            Semantic::Off => Self::Words,
            Semantic::Only => Self::Meaning,
        }
    }
}

/// Says that only the words counted, where more was possible or was asked for.
pub fn say_semantic(run: &mut Run, semantic: Semantic, is_known: bool) {
    match (semantic, is_known) {
        (Semantic::Only, false) => {
            let how = "`recount model install`, then `recount sync --semantic`";
            run.talk.note(format!("What is meant is not known yet: {how}"));
        }
        (Semantic::Auto, false) => run.talk.note("Found by words alone".into()),
        _ => {}
    }
}

/// Prints what the query finds.
pub fn run(args: &SearchArgs, run: &mut Run) -> Result<Answer, CliError> {
    args.sync_wait.apply(run);
    let query = SearchQuery {
        text: args.query.join(" "),
        regex: args.regex.clone(),
        by: args.semantic.into(),
        limit: args.limit,
        offset: args.offset,
    };
    let answer = run.recount.search(&query)?;
    show(args, run, &answer.hits)?;
    if args.semantic == Semantic::Only && args.regex.is_none() {
        say_semantic(run, args.semantic, answer.has_embeddings);
    }
    notes(args, run, &answer);
    Ok(Answer::of(&answer.hits))
}

/// The command that shows a hit.
fn open_with(hit: &Hit) -> String {
    match hit.place {
        _ if hit.is_ghost() => {
            format!("recount history --session {}", short(hit.session.id.as_str()))
        }
        Place::Subagent => format!("recount show {} --entry {}", quoted(&hit.path), hit.entry),
        _ => format!("recount show {} --entry {}", short(hit.session.id.as_str()), hit.entry),
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn show(args: &SearchArgs, run: &mut Run, hits: &[Hit]) -> Result<(), CliError> {
    if run.json {
        for (index, hit) in hits.iter().enumerate() {
            let rank = args.offset + index + 1;
            run.out.json(&wire::search::SearchHit::new(rank, hit, open_with(hit)))?;
        }
        return Ok(());
    }
    let mut shown: Vec<&str> = Vec::new();
    for hit in hits {
        let id = hit.session.id.as_str();
        if args.flat {
            heading(run, hit)?;
            line(args, run, hit)?;
        } else if !shown.contains(&id) {
            shown.push(id);
            heading(run, hit)?;
            for hit in hits.iter().filter(|hit| hit.session.id.as_str() == id) {
                line(args, run, hit)?;
            }
        }
    }
    Ok(())
}

fn heading(run: &mut Run, hit: &Hit) -> Result<(), CliError> {
    let session = &hit.session;
    let title = session.title.as_deref().unwrap_or("(no title)");
    let project = session.project.as_deref().unwrap_or("-");
    let when = session.last.map_or_else(|| "-".into(), |time| run.recount.clock.near(time));
    let gone = match (hit.is_ghost(), hit.is_gone) {
        (true, _) => ", only its prompts are left",
        (false, true) => ", kept in the store only",
        (false, false) => "",
    };
    let line = format!(
        "{}  {}  {}",
        paint(style::NAME, &short(session.id.as_str())),
        safe::line(title),
        paint(style::DIM, &safe::line(&format!("{project}, {when}{gone}"))),
    );
    Ok(run.out.line(&line)?)
}

fn line(args: &SearchArgs, run: &mut Run, hit: &Hit) -> Result<(), CliError> {
    let place = match hit.place {
        Place::Active => String::new(),
        place => format!(", {}", place.name()),
    };
    let head = format!("  #{} {}{place}", hit.entry, hit.role.name());
    run.out.line(&format!("{}  {}", paint(style::DIM, &head), marked(hit)))?;
    if let Some(explain) = hit.explain.as_ref().filter(|_| args.explain) {
        run.out.line(&paint(style::DIM, &format!("     {}", why(explain))))?;
    }
    Ok(())
}

/// A part of a line: what would end the line is a space.
fn flat(text: &str) -> String {
    safe::text(&text.replace(char::is_whitespace, " ")).into_owned()
}

/// Why a hit stands where it does: its words, what its part and place count, and its ranks.
fn why(explain: &Explain) -> String {
    let words: Vec<String> = explain.bm25.iter().map(|score| format!("{score:.2}")).collect();
    let pairs = match explain.pairs {
        pairs if pairs > 0.0 => format!(", near each other {pairs:.2},"),
        _ => String::new(),
    };
    let meaning = explain.cosine.map(|cosine| format!("; meaning {cosine:.2}")).unwrap_or_default();
    format!(
        "words {}{pairs} x role {:.1} x place {:.1}; rank {} of turns ({:.2}), {} of sessions ({:.2}){meaning}",
        words.join(" + "),
        explain.role_weight,
        explain.place_weight,
        explain.turn_rank,
        explain.turn_score,
        explain.session_rank,
        explain.session_score,
    )
}

/// The snippet in one line, the matches marked.
fn marked(hit: &Hit) -> String {
    let text = &hit.snippet.text;
    let mut out = String::new();
    let mut at = 0;
    for mark in &hit.snippet.marks {
        out.push_str(&flat(&text[at..mark.start]));
        out.push_str(&paint(style::MATCH, &flat(&text[mark.clone()])));
        at = mark.end;
    }
    out.push_str(&flat(&text[at..]));
    let dots = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{out}{}", dots(hit.snippet.is_cut_before), dots(hit.snippet.is_cut_after))
}

fn notes(args: &SearchArgs, run: &mut Run, answer: &SearchAnswer) {
    if answer.rung != Rung::Words && !answer.hits.is_empty() {
        run.talk
            .note(format!("Nothing has these words as they are; found by {}", answer.rung.name()));
    }
    let next = args.offset + answer.hits.len();
    match answer.matching_turns {
        Some(turns) if answer.is_more => {
            let shown = count(answer.hits.len() as u64);
            let of = counted(turns, "turn");
            run.talk.note(format!("{shown} of {of}, the newest first; more: `--offset {next}`"));
        }
        None if answer.is_more => run.talk.note(format!("There are more: `--offset {next}`")),
        _ => {}
    }
    first(run, &answer.hits);
}

/// Says how to see the first.
fn first(run: &mut Run, hits: &[Hit]) {
    if let Some(hit) = hits.first().filter(|_| !run.json) {
        run.talk.note(format!("`{}` opens the first", open_with(hit)));
    }
}

//! `recount statusline`: one line for Claude Code's status line.
//!
//! It runs after every answer, so it never waits: nothing is brought up to date, the store is read
//! for what happened lately, and only the end of the running session's own file is read.

use std::io::Read;
use std::path::Path;

use report::price::Prices;
use report::usage::block;
use report::usage::{self, Filter, Input, Ledger, Response};
use serde_json::Value;
use store::archive::path_of;
use store::catalog::Catalog;
use transcript::layout;
use transcript::line::LineReader;
use transcript::source::Source;
use transcript::time::Time;
use transcript::usage::Packed;

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{dollars, short_duration};
use crate::terminal::safe;

/// One line for Claude Code's status line: model, context left, cost of the session, the day and
/// the five-hour block.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
In Claude Code's settings:
  {\"statusLine\": {\"type\": \"command\", \"command\": \"recount statusline\"}}

The costs of the day and the block are as of the last `recount sync`, `search` or `watch`;
without a store only what Claude Code says itself is shown.

Examples:
  recount statusline < status.json")]
pub struct StatuslineArgs {}

/// No more than this is read of the session's own file.
const MOST: u64 = 32 << 20;
/// No line is longer, or hardly one.
const BACK: u64 = 256 << 10;
const DAY: i64 = 86_400_000;

/// Prints the line.
pub fn run(_: &StatuslineArgs, run: &mut Run) -> Result<Answer, CliError> {
    let mut text = String::new();
    let read = std::io::stdin().take(1 << 20).read_to_string(&mut text);
    read.map_err(|error| CliError::NoStatus(error.to_string()))?;
    let status: Value =
        serde_json::from_str(&text).map_err(|error| CliError::NoStatus(error.to_string()))?;
    let mut parts = Vec::new();
    let model = &status["model"];
    let name = model["display_name"].as_str().or(model["id"].as_str());
    parts.extend(name.map(safe::line));
    let counted = Counted::new(run, &status);
    let session = status["session_id"].as_str().unwrap_or_default();
    let left = status["context_window"]["remaining_percentage"].as_f64();
    let left = left.or_else(|| counted.as_ref()?.context_left(session, &status));
    parts.extend(left.map(|percent| format!("{percent:.0}% left")));
    let claimed = status["cost"]["total_cost_usd"].as_f64().map(|usd| (usd * 1e6).round() as u64);
    let own = counted.as_ref().and_then(|counted| counted.session(session));
    parts.extend(own.or(claimed).map(|cost| format!("session {}", dollars(cost))));
    if let Some(counted) = counted.filter(|counted| counted.has_store) {
        let now = run.recount.clock.time();
        parts.push(format!("today {}", dollars(counted.today(run))));
        let blocks = block::blocks(&counted.ledger, &Filter::default(), now);
        if let Some(open) = blocks.last().filter(|block| block.is_open) {
            let left = short_duration(open.end().0 - now.0);
            parts.push(format!("block {} ({left} left)", dollars(open.totals.cost)));
        }
    }
    run.out.line(&parts.join(" · "))?;
    Ok(Answer::Found)
}

/// What happened lately.
struct Counted {
    ledger: Ledger,
    has_store: bool,
}

impl Counted {
    /// Whatever can't be read is left out: a status line has no room for errors.
    fn new(run: &mut Run, status: &Value) -> Option<Self> {
        let transcript = status["transcript_path"].as_str().map(Path::new);
        let since = Time(run.recount.clock.time().0 - 2 * DAY);
        let kept = recent(run, since);
        let has_store = kept.is_some();
        let mut inputs: Vec<(Input, u64)> = kept.unwrap_or_default();
        if let Some(path) = transcript {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            let at = inputs.iter().position(|(input, _)| input.path == real);
            let (mut input, from) = match at {
                Some(at) => inputs.swap_remove(at),
                None => (lone(&real), 0),
            };
            if let Some(claims) = read_on(&real, from, &input.claims) {
                input.claims = claims;
            }
            inputs.push((input, 0));
        }
        let inputs: Vec<Input> = inputs.into_iter().map(|(input, _)| input).collect();
        let prices =
            run.recount.load_prices(None).ok().unwrap_or_else(|| Prices::built_in().clone());
        Some(Self { ledger: Ledger::new(inputs, &prices), has_store })
    }

    fn session(&self, id: &str) -> Option<u64> {
        let filter = Filter { session: Some(id.into()), ..Filter::default() };
        let total = usage::total(&self.ledger, &filter);
        total.cost().filter(|_| total.requests > 0)
    }

    fn today(&self, run: &Run) -> u64 {
        let start = run.recount.clock.now.start_of_day();
        let start = start.map_or(0, |start| start.timestamp().as_millisecond());
        let mut filter = Filter::default();
        filter.period.since = Some(Time(start));
        usage::total(&self.ledger, &filter).cost
    }

    /// How much of the context window the last request of this session left, in percent; `None`
    /// before its first answer.
    fn context_left(&self, session: &str, status: &Value) -> Option<f64> {
        let is_its = |response: &&Response| {
            response.agent.is_none()
                && !response.is_advisor
                && self.ledger.name(response.session) == session
        };
        let last = self.ledger.responses.iter().rev().find(is_its)?;
        let window = status["context_window"]["context_window_size"].as_f64();
        let window = window.or_else(|| usual_window(status["model"]["id"].as_str()?))?;
        let used = (last.tokens.prompt() + last.tokens.output) as f64;
        (window > 0.0).then(|| ((window - used) / window * 100.0).clamp(0.0, 100.0))
    }
}

/// The window of a model, for versions that do not say it.
fn usual_window(model: &str) -> Option<f64> {
    let (known, _) = Prices::built_in().find(model)?;
    // Models with the longer context window have it in their name.
    let usual = if model.ends_with("[1m]") { 1_000_000 } else { 200_000 };
    Some(known.context_window.unwrap_or(usual).min(usual) as f64)
}

/// The claims of sessions that were active lately, with how much of each file they are from.
fn recent(run: &mut Run, since: Time) -> Option<Vec<(Input, u64)>> {
    let store = run.recount.store().ok().filter(|store| store.exists())?;
    let catalog = Catalog::read(store.folder()).ok()??;
    let archive = store.archive(store::archive::Access::Read).ok()?;
    let mut inputs = Vec::new();
    for (file, size, claims) in catalog.recent_claims(since).ok()? {
        let Some(row) = archive.file(store::archive::FileId(file)).ok()? else { continue };
        let input = Input {
            kind: layout::classify(&path_of(&row.rel)),
            path: row.path(),
            created: row.stat.created.map(Time),
            has_source: true,
            is_former: false,
            claims,
        };
        inputs.push((input, size));
    }
    Some(inputs)
}

fn lone(path: &Path) -> Input {
    Input {
        kind: layout::classify_lone(path),
        path: path.to_path_buf(),
        created: None,
        has_source: true,
        is_former: false,
        claims: Packed::default(),
    }
}

/// With what stands behind `from`; `None` if that is more than there is time for.
fn read_on(path: &Path, from: u64, claims: &Packed) -> Option<Packed> {
    let source = Source::open(path).ok()?;
    let size = source.size().ok()?;
    if size.saturating_sub(from) > MOST {
        return None;
    }
    let mut claims = claims.open()?;
    // The last line may have been half written then. One that comes twice changes nothing.
    let from = from.saturating_sub(BACK);
    let mut lines = LineReader::new(source.reader(from), from);
    let mut is_cut = from > 0;
    while let Some(line) = lines.next_line().ok()? {
        if !std::mem::take(&mut is_cut) {
            claims.line(line);
        }
    }
    claims.pack().ok()
}

//! `recount usage waste`: what was paid for nothing, or twice.

use std::collections::HashSet;

use hashbrown::HashMap;
use report::price::Confidence;
use report::usage::waste::{self, Detail, Kind, Loss, Retry, Scene, Sum};
use report::usage::{Filter, Ledger, Name, Trace};
use transcript::id::Key;
use transcript::library::{Agent, AgentParent, Library};

use super::{Which, signed};
use crate::commands::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted as number_of, dollars, duration, short_duration};
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::ledger::{Counted, Told};

/// How many losses of each kind are shown if nothing else is asked.
const WORST: usize = 10;

/// What was paid for nothing, or twice: branches that were left, compactions, broken caches,
/// files read again, calls and requests made again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A branch was left when you went back and asked something else. After a compaction the cache is
built again: COST is what writing it cost. A broken cache costs what writing its tokens again
cost more than reading them; the cause is said where the files or the API tell it, else it is
unknown. Tokens of files read again are estimated, a quarter of their characters. A call counts
as made again if it had failed, is the same to the letter, and nothing was changed in between.
The kinds overlap, so there is no sum over all of them.

Examples:
  recount usage waste --since 30d
  recount usage waste --project . --limit 3
  recount usage waste --model opus --json")]
pub struct WasteArgs {
    #[command(flatten)]
    which: Which,

    /// Only models whose name contains this
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,

    /// At most so many of each kind, the worst first [default: 10, with --json all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Prints the losses.
pub fn run(args: &WasteArgs, run: &mut Run) -> Result<Answer, CliError> {
    let filter = Filter { model: args.model.clone(), ..args.which.filter(run)? };
    let prices = run.recount.load_prices(args.which.basis.prices.as_deref())?;
    let counted = run.recount.count_responses(&prices)?;
    let (library, told) = run.recount.take_by_file(&counted, Trace::of)?;
    let left_agents = left_agents(&library, &told, &counted.ledger);
    let traces: HashMap<u32, Trace> = told
        .into_iter()
        .map(|Told { file, card, mut content }| {
            content.forget(|key| library.is_copy(card, key));
            (file, content)
        })
        .collect();
    let losses = waste::waste(&Scene {
        ledger: &counted.ledger,
        prices: &prices,
        traces: &traces,
        left_agents: &left_agents,
        filter: &filter,
    });
    let sums = waste::sums(&losses);
    if run.json {
        let most = args.limit.unwrap_or(usize::MAX);
        for sum in &sums {
            for loss in of_kind(&losses, sum.kind).take(most) {
                let file = counted.path(loss.file).display().to_string();
                run.out.json(&wire::waste::UsageWaste::new(loss, file))?;
            }
            run.out.json(&wire::waste::UsageWasteTotal::new(sum))?;
        }
        return Ok(Answer::of(&losses));
    }
    for sum in sums.iter().filter(|sum| sum.losses > 0) {
        let worst: Vec<&Loss> =
            of_kind(&losses, sum.kind).take(args.limit.unwrap_or(WORST)).collect();
        section(run, sum, &worst)?;
    }
    notes(run, &counted, &losses, &prices.date.to_string());
    Ok(Answer::of(&losses))
}

fn of_kind(losses: &[Loss], kind: Kind) -> impl Iterator<Item = &Loss> {
    losses.iter().filter(move |loss| loss.detail.kind() == kind)
}

/// The subagents whose calls stand on branches that were left, and those that they started.
fn left_agents(
    library: &Library,
    told: &[Told<Trace>],
    ledger: &Ledger,
) -> hashbrown::HashSet<(Name, Name)> {
    let calls: HashSet<Key> =
        told.iter().flat_map(|told| &told.content.abandoned_calls).copied().collect();
    let mut left = hashbrown::HashSet::new();
    for session in &library.sessions {
        let Some(id) = ledger.find(session.id.as_str()) else { continue };
        let by_id: HashMap<&str, &Agent> =
            session.agents.iter().map(|agent| (agent.id.as_str(), agent)).collect();
        for agent in &session.agents {
            let mut above = Some(agent);
            // Whoever names itself as its parent is not followed for ever.
            let mut steps = session.agents.len();
            while let Some(one) = above.filter(|_| steps > 0) {
                if one.call.is_some_and(|call| calls.contains(&call)) {
                    left.extend(ledger.find(agent.id.as_str()).map(|agent| (id, agent)));
                    break;
                }
                above = match &one.parent {
                    AgentParent::Agent(parent) => by_id.get(parent.as_str()).copied(),
                    AgentParent::Session => None,
                };
                steps -= 1;
            }
        }
    }
    left
}

fn section(run: &mut Run, sum: &Sum, worst: &[&Loss]) -> Result<(), CliError> {
    let (title, what, columns): (_, _, &[Column]) = match sum.kind {
        Kind::Branch => (
            "Branches that were left",
            "request",
            &[Column::Right("REQUESTS"), Column::Right("PROMPTS"), Column::Right("TOKENS")],
        ),
        Kind::Compaction => (
            "Compactions",
            "compaction",
            &[
                Column::Right("BEFORE"),
                Column::Right("DROPPED"),
                Column::Right("SEGMENT"),
                Column::Right("REBUILT"),
            ],
        ),
        Kind::CacheBreak => (
            "Broken caches",
            "break",
            &[Column::Right("CACHED"), Column::Right("READ"), Column::Right("REWRITTEN")],
        ),
        Kind::Reread => ("Files read again", "read", &[Column::Right("TOKENS")]),
        Kind::Retry => {
            ("Made again", "attempt", &[Column::Right("TIMES"), Column::Right("TOKENS")])
        }
    };
    let tokens = match sum.tokens {
        0 => String::new(),
        tokens if sum.kind == Kind::Reread => format!(", about {} tokens", count(tokens)),
        tokens => format!(", {} tokens", count(tokens)),
    };
    let money = match sum.cost {
        Some(_) => format!(", {}", signed(sum.cost, sum.confidence)),
        None => String::new(),
    };
    let text = format!("{}{tokens}{money}", number_of(sum.count as usize, what));
    run.out.line(&format!("{}: {text}", paint(style::HEAD, title)))?;
    let mut all = vec![Column::Left("TIME"), Column::Left("SESSION"), Column::Right("ENTRY")];
    all.extend(columns);
    all.extend([Column::Right("COST"), Column::Left("")]);
    let mut table = Table::new(&all);
    worst.iter().for_each(|loss| table.push_all(row(run, loss)));
    for line in table.lines(run.out.columns()) {
        run.out.line(&format!("  {line}"))?;
    }
    Ok(run.out.line("")?)
}

fn row(run: &Run, loss: &Loss) -> Vec<Cell> {
    let time = loss.time.map_or_else(|| "-".into(), |time| run.recount.clock.minute(time));
    let mut row = vec![
        Cell::from(time),
        Cell::new(style::NAME, &short(&loss.session)),
        Cell::from(format!("#{}", loss.entry)),
    ];
    let number = |number: Option<u64>| Cell::from(number.map_or_else(|| "-".into(), count));
    let about = |number: Option<(u64, Confidence)>| match number {
        Some((number, Confidence::Estimated)) => Cell::from(format!("~{}", count(number))),
        _ => Cell::from(number.map_or_else(|| "-".into(), |number| count(number.0))),
    };
    match &loss.detail {
        Detail::Branch { prompts, .. } => {
            row.extend([number(Some(loss.count)), number(Some(*prompts)), number(loss.tokens)]);
        }
        Detail::Compaction { before, ended, .. } => row.extend([
            about(*before),
            about(loss.detail.dropped()),
            Cell::from(super::cost(ended)),
            number(loss.tokens),
        ]),
        Detail::CacheBreak { cached, read, .. } => {
            row.extend([number(Some(*cached)), number(Some(*read)), number(loss.tokens)]);
        }
        Detail::Reread { .. } => row.push(about(loss.tokens.map(|t| (t, loss.confidence)))),
        Detail::Retry(_) => row.extend([number(Some(loss.count)), number(loss.tokens)]),
    }
    let cost = match (loss.cost, loss.confidence) {
        (None, Confidence::Unpriced) => "?".into(),
        (None, _) => "-".into(),
        (cost, confidence) => signed(cost, confidence),
    };
    row.push(Cell::from(cost));
    row.push(Cell::from(said(loss)));
    row
}

/// What there is to say in words.
fn said(loss: &Loss) -> String {
    let text = match &loss.detail {
        Detail::Branch { branches: 1, .. } => "1 branch".into(),
        Detail::Branch { branches, .. } => format!("{} branches", count(*branches)),
        Detail::Compaction { trigger, .. } => trigger.as_deref().unwrap_or_default().to_owned(),
        Detail::CacheBreak { cause, idle_ms, .. } => match idle_ms {
            Some(ms) if cause.name().starts_with("idle") => {
                format!("{} ({})", cause.name(), duration(*ms))
            }
            _ => cause.name().to_owned(),
        },
        Detail::Reread { path, is_noticed: true } => format!("{path} (noticed)"),
        Detail::Reread { path, .. } => path.clone(),
        Detail::Retry(Retry::Call { tool, has_failed: true }) => format!("{tool}, failed again"),
        Detail::Retry(Retry::Call { tool, .. }) => tool.clone(),
        Detail::Retry(Retry::Request { wait_ms }) => {
            format!("the API failed; waited {}", short_duration(*wait_ms as i64))
        }
        Detail::Retry(Retry::Answer) => "the answer was dropped".into(),
    };
    match &loss.agent {
        Some(agent) => format!("{text} [{agent}]"),
        None => text,
    }
}

fn notes(run: &mut Run, counted: &Counted, losses: &[Loss], prices: &str) {
    let priced = losses.iter().filter(|loss| loss.cost.is_some());
    if let Some(worst) = priced.max_by_key(|loss| loss.cost).or(losses.first()) {
        let name = match worst.agent {
            Some(_) => counted.path(worst.file).display().to_string(),
            None => short(&worst.session),
        };
        let name = crate::terminal::safe::line(&name);
        let money = worst.cost.map(|cost| format!(" ({})", dollars(cost))).unwrap_or_default();
        run.talk.note(format!(
            "`recount show {name} --entry {}` shows the worst of them{money}",
            worst.entry
        ));
    }
    run.talk.note(format!("Prices of {prices}"));
}

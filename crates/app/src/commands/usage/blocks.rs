//! `recount usage blocks`: five hours at a time.

use report::usage::block::{self, Block};
use transcript::time::Time;

use super::{Which, cost};
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, dollars, duration};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;

/// Use in blocks of five hours, with the gaps between them, and where the open one is going.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A block begins with the full hour (UTC) of its first request. The limits of a subscription are
not in the files: this shows what was used, not what is left.

Examples:
  recount usage blocks --since 2d
  recount usage blocks --json")]
pub struct BlocksArgs {
    #[command(flatten)]
    which: Which,
}

/// Prints the blocks.
pub fn run(args: &BlocksArgs, run: &mut Run) -> Result<Answer, CliError> {
    let filter = args.which.filter(run)?;
    let prices = run.recount.load_prices(args.which.basis.prices.as_deref())?;
    let counted = run.recount.count_responses(&prices)?;
    let now = run.recount.clock.time();
    let blocks = block::blocks(&counted.ledger, &filter, now);
    if run.json {
        for block in &blocks {
            run.out.json(&wire::usage::UsageBlock::new(block, now))?;
        }
        return Ok(Answer::of(&blocks));
    }
    table(run, &blocks)?;
    if let Some(open) = blocks.last().filter(|block| block.is_open) {
        run.talk.note(outlook(open, now));
    }
    run.talk.note("The true limits are not in the files".into());
    Ok(Answer::of(&blocks))
}

fn table(run: &mut Run, blocks: &[Block]) -> Result<(), CliError> {
    if blocks.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("BLOCK"),
        Column::Right("IN USE"),
        Column::Right("REQUESTS"),
        Column::Right("TOKENS"),
        Column::Right("PER MINUTE"),
        Column::Right("COST"),
        Column::Right("PER HOUR"),
        Column::Left(""),
    ])
    .spare(&["REQUESTS", "PER MINUTE", "PER HOUR"]);
    let mut last: Option<&Block> = None;
    for block in blocks {
        if let Some(gap) = last.map(|last| block.start.0 - last.end().0).filter(|gap| *gap > 0) {
            let empty = || Cell::from("");
            let gap = Cell::new(style::DIM, &format!("  {} without", duration(gap)));
            table.push([gap, empty(), empty(), empty(), empty(), empty(), empty(), empty()]);
        }
        table.push(row(run, block));
        last = Some(block);
    }
    Ok(run.out.table(&table)?)
}

fn row(run: &Run, block: &Block) -> [Cell; 8] {
    let rate = block.rate();
    let state = if block.is_open { "open" } else { "" };
    [
        Cell::from(run.recount.clock.minute(block.start)),
        Cell::from(duration(block.active_ms())),
        Cell::from(count(block.totals.requests)),
        Cell::from(count(block.totals.tokens.total())),
        Cell::from(rate.map_or_else(String::new, |(_, tokens)| count(tokens))),
        Cell::from(cost(&block.totals)),
        Cell::from(rate.map_or_else(String::new, |(money, _)| dollars(money))),
        Cell::new(style::GOOD, state),
    ]
}

fn outlook(open: &Block, now: Time) -> String {
    let left = duration(open.end().0 - now.0);
    match open.projection(now) {
        Some((money, tokens)) => format!(
            "The open block ends in {left}; at this rate with {} and {} tokens",
            dollars(money),
            count(tokens)
        ),
        None => format!("The open block ends in {left}"),
    }
}

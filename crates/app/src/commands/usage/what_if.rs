//! `recount usage what-if`: the same requests under other prices.

use report::usage;

use super::{Which, cost, dollars};
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::count;
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::time_arg::TimeArg;

/// What the same requests would have cost with another model, or at the prices of another day.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The tokens stay what they are; another model would have written other ones.

Examples:
  recount usage what-if --model claude-haiku-4-5
  recount usage what-if --as-of 2026-01-01 --since 30d")]
#[command(group = clap::ArgGroup::new("other").required(true).multiple(true))]
pub struct WhatIfArgs {
    /// The model whose prices to take
    #[arg(long, value_name = "MODEL", group = "other")]
    model: Option<String>,

    /// The day whose prices to take
    #[arg(long, value_name = "DATE", group = "other")]
    as_of: Option<TimeArg>,

    #[command(flatten)]
    which: Which,
}

/// Prints both sums, by model.
pub fn run(args: &WhatIfArgs, run: &mut Run) -> Result<Answer, CliError> {
    let filter = args.which.filter(run)?;
    let prices = run.recount.load_prices(args.which.basis.prices.as_deref())?;
    if let Some(model) = args.model.as_deref().filter(|model| prices.find(model).is_none()) {
        return Err(CliError::NoPrice(model.into()));
    }
    let mut ledger = run.recount.count_responses(&prices)?.ledger;
    let before = usage::total(&ledger, &filter);
    let day = args.as_of.as_ref().map(|day| day.start(&run.recount.clock));
    ledger.reprice(&prices, args.model.as_deref(), day);
    let after = usage::total(&ledger, &filter);
    if run.json {
        run.out.json(&wire::usage::WhatIf::new(&before, &after))?;
        return Ok(Answer::Found);
    }
    let mut table = Table::new(&[
        Column::Left(""),
        Column::Right("REQUESTS"),
        Column::Right("TOKENS"),
        Column::Right("COST"),
        Column::Left(""),
    ]);
    for (name, totals) in [("as it was", &before), ("as asked", &after)] {
        table.push([
            Cell::from(name),
            Cell::from(count(totals.requests)),
            Cell::from(count(totals.tokens.total())),
            Cell::from(cost(totals)),
            Cell::new(style::DIM, totals.confidence().name()),
        ]);
    }
    run.out.table(&table)?;
    if let (Some(was), Some(is)) = (before.cost(), after.cost()) {
        let less = if is < was { "less" } else { "more" };
        run.talk.note(format!("{} {less}", dollars(was.abs_diff(is))));
    }
    Ok(Answer::Found)
}

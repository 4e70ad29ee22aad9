//! `recount prices`: what a token costs, since when, and who says so.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use report::price::{Confidence, Model, Period, Prices, Rates};

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::read;

/// The table of prices: models, periods, sources.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Dollars per million tokens. A model that is retired keeps its row: old sessions are priced with
what it cost then.

Examples:
  recount prices                        the table
  recount prices --check                models in your history that have no price
  recount prices update litellm.json    add what LiteLLM's or genai-prices' table says")]
pub struct PricesArgs {
    #[command(subcommand)]
    command: Option<PricesCommand>,

    /// Models that were used and have no price
    #[arg(long)]
    check: bool,

    /// A table to lay over the one that is built in
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum PricesCommand {
    Update(UpdateArgs),
}

/// Add what a table of LiteLLM or genai-prices says about Claude models. No row is deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A price that has changed is in force from today, or from the day the table says; what it was
before stays in force for what was used before. The result is kept in the store.

Examples:
  recount prices update model_prices_and_context_window.json
  recount prices update --dry-run data.json")]
struct UpdateArgs {
    /// The table
    file: PathBuf,

    /// Show what would change
    #[arg(long)]
    dry_run: bool,
}

/// Prints the table, or adds to it.
pub fn run(args: &PricesArgs, run: &mut Run) -> Result<Answer, CliError> {
    if let Some(PricesCommand::Update(args)) = &args.command {
        return update(args, run);
    }
    let prices = run.recount.load_prices(args.prices.as_deref())?;
    if args.check {
        return check(run, &prices);
    }
    if run.json {
        for model in &prices.models {
            for period in &model.periods {
                run.out.json(&wire::prices::Price::new(model, period))?;
            }
        }
    } else {
        table(run, &prices)?;
    }
    run.talk.note(format!("Of {}; dollars per million tokens", prices.date));
    let own = run.recount.store()?.prices();
    if own.exists() {
        run.talk.note(format!("With {}", own.display()));
    }
    for (name, text) in &prices.sources {
        run.talk.note(format!("{name}: {text}"));
    }
    Ok(Answer::Found)
}

fn table(run: &mut Run, prices: &Prices) -> Result<(), CliError> {
    let mut table = Table::new(&[
        Column::Left("MODEL"),
        Column::Left("FROM"),
        Column::Right("INPUT"),
        Column::Right("OUTPUT"),
        Column::Right("READ"),
        Column::Right("WRITE 5M"),
        Column::Right("WRITE 1H"),
        Column::Left("ALSO"),
    ])
    .spare(&["WRITE 1H", "WRITE 5M", "READ"]);
    for model in &prices.models {
        for period in &model.periods {
            let from = period.from.map(|day| day.to_string()).unwrap_or_default();
            let [input, output, read, short, long] = dollars(&period.rates);
            let also = Cell::new(style::DIM, &also(model, period));
            table.push([
                Cell::new(style::NAME, &model.id),
                from.into(),
                input.into(),
                output.into(),
                read.into(),
                short.into(),
                long.into(),
                also,
            ]);
        }
    }
    Ok(run.out.table(&table)?)
}

fn dollars(rates: &Rates) -> [String; 5] {
    let text = |price: u64| format!("{}", price as f64 / 1e6);
    let Rates { input, output, cache_read, cache_write_5m, cache_write_1h, .. } = *rates;
    [input, output, cache_read, cache_write_5m, cache_write_1h].map(text)
}

/// Factors, and where other prices begin.
fn also(model: &Model, period: &Period) -> String {
    let mut parts = Vec::new();
    if let Some((over, long)) = &period.long {
        let [input, output, ..] = dollars(long);
        parts.push(format!("{input} / {output} over {} of prompt", count(*over)));
    }
    for (name, factor) in [("fast", model.fast), ("us", model.us), ("batch", model.batch)] {
        if let Some(factor) = factor {
            parts.push(format!("{name} x{}", f64::from(factor.0) / 1000.0));
        }
    }
    parts.extend(model.status.clone().filter(|status| status != "current"));
    parts.join(", ")
}

/// Models that were used and have no price of their own.
fn check(run: &mut Run, prices: &Prices) -> Result<Answer, CliError> {
    let ledger = run.recount.count_responses(prices)?.ledger;
    let mut found: BTreeMap<(&str, Confidence), u64> = BTreeMap::new();
    for response in &ledger.responses {
        let model = response.model.map_or("", |model| ledger.name(model));
        let confidence = match prices.find(model) {
            None => Confidence::Unpriced,
            Some((_, true)) => Confidence::Estimated,
            Some((_, false)) => continue,
        };
        *found.entry((model, confidence)).or_default() += response.requests();
    }
    let rows: Vec<_> = found.into_iter().collect();
    for ((model, confidence), requests) in &rows {
        if run.json {
            run.out.json(&wire::prices::Unpriced::new(model, *confidence, *requests))?;
            continue;
        }
        let why = match confidence {
            Confidence::Unpriced => "no price",
            _ => "priced as the model it seems to be",
        };
        let model =
            crate::terminal::safe::line(if model.is_empty() { "(no model)" } else { model });
        run.out.line(&format!("{model}  {}  {why}", counted(*requests as usize, "request")))?;
    }
    if rows.is_empty() {
        run.talk.note("Every model that was used has a price".into());
        return Ok(Answer::Found);
    }
    Ok(Answer::of(&rows))
}

fn update(args: &UpdateArgs, run: &mut Run) -> Result<Answer, CliError> {
    let mut prices = run.recount.load_prices(None)?;
    let bytes = read::whole(&args.file).map_err(CliError::Read)?;
    let text = String::from_utf8_lossy(&bytes);
    let source = args.file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
    let today = run.recount.clock.now.date();
    let changes = prices
        .update(&text, today, &source)
        .map_err(|error| CliError::Prices(args.file.clone(), error))?;
    for (model, change) in &changes {
        if run.json {
            run.out.json(&wire::prices::Updated::new(model, change.name()))?;
            continue;
        }
        let model = crate::terminal::safe::line(model);
        run.out.line(&format!("{:6} {model}", change.name()))?;
    }
    if changes.is_empty() {
        run.talk.note("Nothing in it is new".into());
        return Ok(Answer::Found);
    }
    if !args.dry_run {
        let store = run.recount.store()?;
        // Only what is not built in: a newer version's table is not hidden by an older one.
        let known = Prices::built_in();
        prices.models.retain(|model| !known.models.contains(model));
        let write = || {
            store.create()?;
            let beside = store.prices().with_extension("new");
            fs::write(&beside, prices.to_json())?;
            fs::rename(beside, store.prices())
        };
        write().map_err(|source| store::sync::SyncError::Folder {
            path: store.folder().into(),
            source,
        })?;
        run.talk.note(format!("Kept in {}", store.prices().display()));
    }
    Ok(Answer::Found)
}

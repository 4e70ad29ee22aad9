//! `recount usage`: tokens and money.

mod blocks;
pub mod explain;
mod reconcile;
mod waste;
mod what_if;

use std::collections::BTreeSet;
use std::path::PathBuf;

use ask::usage::{UsageAnswer, UsageQuery};
use clap::ValueEnum;
use hashbrown::HashMap;
use jiff::tz::TimeZone;
use report::price::Confidence;
use report::usage::{Calendar, Dimension, Filter, Row, Tally, Totals, WeekStart};

use transcript::usage::Oddity;

use crate::args::Scope;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, dollars};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;

/// Tokens and what they cost, by day, week, month, session, project, model, subagent, tool,
/// branch or pull request, or by two of them.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Every response is counted once, however often it was written, resumed or copied. COST is
what the API would charge by the dated table of prices (`recount prices`); the figure is
exact, estimated (a price by rule), a lower bound (the files hold less than was used), or
unpriced.

Examples:
  recount usage                              by day
  recount usage monthly model                by month, then by model
  recount usage project --since 30d          the projects of the last month
  recount usage session --project . --json   the sessions of this folder")]
pub struct UsageArgs {
    #[command(subcommand)]
    command: Option<UsageCommand>,

    /// What to group by, one or two
    #[arg(value_enum, num_args = 0..=2)]
    by: Vec<By>,

    #[command(flatten)]
    which: Which,

    /// Only models whose name contains this
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,

    /// As CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// Other questions about the same responses.
#[derive(Debug, clap::Subcommand)]
enum UsageCommand {
    Explain(explain::ExplainArgs),
    Blocks(blocks::BlocksArgs),
    WhatIf(what_if::WhatIfArgs),
    Waste(waste::WasteArgs),
    Reconcile(reconcile::ReconcileArgs),
}

/// Which responses, and how they are counted.
#[derive(Debug, clap::Args)]
pub struct Which {
    #[command(flatten)]
    pub scope: Scope,

    /// The first day of a week
    #[arg(long, value_name = "DAY", default_value = "monday")]
    pub week_start: FirstDay,

    #[command(flatten)]
    pub basis: Basis,
}

/// What days and prices go by.
#[derive(Debug, clap::Args)]
pub struct Basis {
    /// The zone of days and weeks, like Europe/Berlin or UTC; this computer's if not given
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,

    /// A table of prices to lay over the one that is built in
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// The first day of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FirstDay {
    /// As ISO 8601 has it.
    Monday,
    /// As in the US.
    Sunday,
}

/// What to group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    #[value(alias = "day")]
    Daily,
    #[value(alias = "week")]
    Weekly,
    #[value(alias = "month")]
    Monthly,
    #[value(alias = "sessions")]
    Session,
    #[value(alias = "projects")]
    Project,
    #[value(alias = "models")]
    Model,
    #[value(aliases = ["subagents", "agent"])]
    Subagent,
    #[value(alias = "tools")]
    Tool,
    #[value(alias = "branches")]
    Branch,
    #[value(alias = "prs")]
    Pr,
}

impl From<By> for Dimension {
    fn from(by: By) -> Self {
        match by {
            By::Daily => Self::Day,
            By::Weekly => Self::Week,
            By::Monthly => Self::Month,
            By::Session => Self::Session,
            By::Project => Self::Project,
            By::Model => Self::Model,
            By::Subagent => Self::Subagent,
            By::Tool => Self::Tool,
            By::Branch => Self::Branch,
            By::Pr => Self::Pr,
        }
    }
}

impl Which {
    /// The filter that the flags stand for.
    pub fn filter(&self, run: &mut Run) -> Result<Filter, CliError> {
        self.basis.set_zone(run)?;
        Ok(Filter {
            period: self.scope.period(run),
            project: self.scope.project(run)?,
            model: None,
            session: None,
        })
    }

    /// How times become days.
    pub fn calendar(&self, run: &Run) -> Calendar {
        let week_start = match self.week_start {
            FirstDay::Monday => WeekStart::Monday,
            FirstDay::Sunday => WeekStart::Sunday,
        };
        Calendar { zone: run.recount.clock.now.time_zone().clone(), week_start }
    }
}

impl Basis {
    /// Lets the whole run think in the zone that was asked for.
    pub fn set_zone(&self, run: &mut Run) -> Result<(), CliError> {
        if let Some(name) = &self.tz {
            let zone = match name.to_ascii_lowercase().as_str() {
                "utc" | "z" => TimeZone::UTC,
                "local" => return Ok(()),
                _ => TimeZone::get(name).map_err(|_| CliError::NoZone(name.clone()))?,
            };
            run.recount.clock.now = run.recount.clock.now.with_time_zone(zone);
        }
        Ok(())
    }
}

/// Prints a view.
pub fn run(args: &UsageArgs, run: &mut Run) -> Result<Answer, CliError> {
    match &args.command {
        Some(UsageCommand::Explain(args)) => return explain::run(args, run),
        Some(UsageCommand::Blocks(args)) => return blocks::run(args, run),
        Some(UsageCommand::WhatIf(args)) => return what_if::run(args, run),
        Some(UsageCommand::Waste(args)) => return waste::run(args, run),
        Some(UsageCommand::Reconcile(args)) => return reconcile::run(args, run),
        None => {}
    }
    let filter = Filter { model: args.model.clone(), ..args.which.filter(run)? };
    let by: Vec<Dimension> = match args.by.as_slice() {
        [] => vec![Dimension::Day],
        by => by.iter().map(|by| Dimension::from(*by)).collect(),
    };
    let prices = args.which.basis.prices.clone();
    let query = UsageQuery { by, filter, calendar: args.which.calendar(run), prices };
    let UsageAnswer { tally, prices_date } = run.recount.usage(&query)?;
    let (by, Tally { rows, total, unpriced, oddities }) = (query.by, tally);
    if run.json {
        for row in &rows {
            run.out.json(&wire::usage::UsageRow::new(&by, row))?;
        }
    } else if args.csv {
        csv(run, &by, &rows)?;
    } else {
        if let Some(table) = usage_table(&by, &rows, &total) {
            run.out.table(&table)?;
        }
    }
    notes(run, &unpriced, oddities, &total, &prices_date);
    Ok(Answer::of(&rows))
}

/// The groups as a table with bars and a last line of sums; nothing where nothing was used.
pub fn usage_table(by: &[Dimension], rows: &[Row], total: &Totals) -> Option<Table> {
    if rows.is_empty() {
        return None;
    }
    let mut columns: Vec<Column> = by.iter().map(|by| Column::Left(title(*by))).collect();
    columns.extend(FIGURES);
    let mut table = Table::new(&columns).spare(&["REQUESTS", "CACHE WRITE", "CACHE READ"]);
    let most = rows.iter().map(|row| row.totals.cost).max().unwrap_or(0);
    for row in rows {
        let keys = row.keys.iter().zip(by).map(|(key, by)| key_cell(*by, key.as_deref()));
        let bar = Cell::new(style::GOOD, &bar(row.totals.cost, most));
        let cells = keys.chain(figures(&row.totals, bar));
        table.push_all(cells.collect());
    }
    let mut last: Vec<Cell> = vec![Cell::new(style::HEAD, "total")];
    last.extend(by.iter().skip(1).map(|_| Cell::from("")));
    last.extend(figures(total, Cell::from("")));
    table.push_all(last);
    Some(table)
}

fn title(by: Dimension) -> &'static str {
    match by {
        Dimension::Day => "DAY",
        Dimension::Week => "WEEK OF",
        Dimension::Month => "MONTH",
        Dimension::Session => "SESSION",
        Dimension::Project => "PROJECT",
        Dimension::Model => "MODEL",
        Dimension::Subagent => "SUBAGENT",
        Dimension::Tool => "TOOL",
        Dimension::Branch => "BRANCH",
        Dimension::Pr => "PR",
    }
}

fn key_cell(by: Dimension, key: Option<&str>) -> Cell {
    match key {
        None => Cell::new(style::DIM, "-"),
        Some(key) if by == Dimension::Session => Cell::new(style::NAME, &super::short(key)),
        Some(key) => Cell::from(key),
    }
}

/// The columns of [`figures`].
const FIGURES: [Column; 7] = [
    Column::Right("REQUESTS"),
    Column::Right("INPUT"),
    Column::Right("OUTPUT"),
    Column::Right("CACHE WRITE"),
    Column::Right("CACHE READ"),
    Column::Right("COST"),
    Column::Left(""),
];

/// What sums have to show, and something at the end.
fn figures(totals: &Totals, end: Cell) -> [Cell; 7] {
    let tokens = &totals.tokens;
    [
        Cell::from(count(totals.requests)),
        Cell::from(count(tokens.input)),
        Cell::from(count(tokens.output)),
        Cell::from(count(tokens.cache_write())),
        Cell::from(count(tokens.cache_read)),
        Cell::from(cost(totals)),
        end,
    ]
}

/// Money for a table: `$12.34`, `≥ $0.05` for what it is at least, `~` for an estimate.
pub fn cost(totals: &Totals) -> String {
    signed(totals.cost(), totals.confidence())
}

/// Money with the sign of its confidence.
pub fn signed(cost: Option<u64>, confidence: Confidence) -> String {
    let Some(cost) = cost else { return "?".into() };
    let sign = match confidence {
        Confidence::Exact => "",
        Confidence::Estimated => "~",
        Confidence::LowerBound | Confidence::Unpriced => "≥",
    };
    format!("{sign}{}", dollars(cost))
}

/// So much of the widest bar, in eighths of a character.
pub fn bar(part: u64, most: u64) -> String {
    const WIDTH: u64 = 16;
    if most == 0 || part == 0 {
        return String::new();
    }
    let eighths = (u128::from(part) * u128::from(WIDTH * 8) / u128::from(most)) as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{rest}", "█".repeat(eighths / 8))
}

fn csv(run: &mut Run, by: &[Dimension], rows: &[Row]) -> Result<(), CliError> {
    let keys: Vec<&str> = by.iter().map(|by| by.name()).collect();
    let fields = "input,output,cache_read,cache_write,cache_write_1h,requests,tool_calls,cost_usd,confidence";
    run.out.line(&format!("{},{fields}", keys.join(",")))?;
    for row in rows {
        let keys: Vec<String> =
            row.keys.iter().map(|key| field(key.as_deref().unwrap_or_default())).collect();
        let Totals { tokens, requests, tool_calls, .. } = &row.totals;
        let cost = row.totals.cost().map(wire::usage::usd).unwrap_or_default();
        run.out.line(&format!(
            "{},{},{},{},{},{},{requests},{tool_calls},{cost},{}",
            keys.join(","),
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write(),
            tokens.cache_write_1h,
            row.totals.confidence().name(),
        ))?;
    }
    Ok(())
}

/// A field of CSV. What a spreadsheet would take for a formula is text.
fn field(text: &str) -> String {
    let text = crate::terminal::safe::line(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    match is_formula || text.contains([',', '"', '\n']) {
        true => {
            let guard = if is_formula { "'" } else { "" };
            format!("\"{guard}{}\"", text.replace('"', "\"\""))
        }
        false => text,
    }
}

fn notes(
    run: &mut Run,
    without_price: &BTreeSet<Option<String>>,
    oddities: HashMap<Oddity, u64>,
    total: &Totals,
    prices_date: &str,
) {
    let [_, estimated, least, unpriced] = total.by_confidence;
    let requests = |number: u64| counted(number as usize, "request");
    if least.0 > 0 {
        run.talk.note(format!(
            "Lower bounds: {}; the files hold less than was used, as before Claude Code 2.1.97",
            requests(least.0)
        ));
    }
    if estimated.0 > 0 {
        run.talk.note(format!("Priced by a rule: {}", requests(estimated.0)));
    }
    if unpriced.0 > 0 {
        let models = without_price.iter().map(|model| model.as_deref().unwrap_or("no model"));
        let models: Vec<String> = models.map(crate::terminal::safe::line).collect();
        run.talk.note(format!(
            "Without a price, and not in the cost: {} of {}; `--prices FILE` adds some",
            requests(unpriced.0),
            models.join(", ")
        ));
    }
    let mut oddities: Vec<_> = oddities.into_iter().collect();
    oddities.sort();
    for (oddity, number) in oddities {
        let what = match oddity {
            Oddity::Negative => "below zero",
            Oddity::Huge => "larger than can be",
            Oddity::NotANumber => "no whole number",
            Oddity::NoUsage => "no usage at all",
        };
        run.talk.note(format!("Counted as nothing: {}, {what}", counted(number as usize, "line")));
    }
    if total.without_source > 0 {
        let requests = requests(total.without_source);
        run.talk.note(format!("Known from the store only, their lines are gone: {requests}"));
    }
    run.talk.note(format!("Prices of {prices_date}"));
}

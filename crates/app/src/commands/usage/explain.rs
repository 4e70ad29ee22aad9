//! `recount usage explain`: where a figure comes from.

use report::price::{Confidence, Factor, Priced, Prices};
use report::usage::{self, Calendar, Dimension, Filter, Ledger, Response, Row, Totals, View};
use transcript::id::Key;
use transcript::prompt;
use transcript::reading::EntryReading;
use transcript::time::Time;

use super::{FIGURES, Which, figures};
use crate::commands::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, dollars};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::ledger::Counted;
use ask::name::SessionName;
use ask::sessions::OpenSession;

/// Trace a figure: a month to its days, a day to its sessions, a session to its turns, a turn to
/// its requests, a request to its line, its price and every factor.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount usage explain 2026-04          the days of a month
  recount usage explain 2026-04-20       the sessions of a day
  recount usage explain 4f1c             the turns of a session
  recount usage explain 4f1c 3           the requests of its third turn
  recount usage explain msg_01AbC        one request: line, price, factors")]
pub struct ExplainArgs {
    /// A month, a day, a session, or the id of a response
    what: String,

    /// A turn of the session
    turn: Option<usize>,

    #[command(flatten)]
    which: Which,
}

/// Prints what a figure is made of.
pub fn run(args: &ExplainArgs, run: &mut Run) -> Result<Answer, CliError> {
    let filter = args.which.filter(run)?;
    let calendar = args.which.calendar(run);
    let prices = run.recount.load_prices(args.which.basis.prices.as_deref())?;
    let counted = run.recount.count_responses(&prices)?;
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    match args.what.len() {
        7 if is_number(&args.what) => parts(
            run,
            &counted.ledger,
            &filter,
            &calendar,
            [Dimension::Month, Dimension::Day],
            args,
        ),
        10 if is_number(&args.what) => {
            let by = [Dimension::Day, Dimension::Session];
            parts(run, &counted.ledger, &filter, &calendar, by, args)
        }
        _ => {
            let key = Key::of(args.what.as_bytes());
            let own: Vec<&Response> =
                counted.ledger.responses.iter().filter(|r| r.key == key).collect();
            match own.is_empty() {
                true => session(run, &counted, &prices, args),
                false => requests(run, &counted, &prices, &own),
            }
        }
    }
}

/// The rows of one key of a view.
fn parts(
    run: &mut Run,
    ledger: &Ledger,
    filter: &Filter,
    calendar: &Calendar,
    by: [Dimension; 2],
    args: &ExplainArgs,
) -> Result<Answer, CliError> {
    let (agents, prs) = (Default::default(), Default::default());
    let view = View { by: &by, filter, calendar, agents: &agents, prs: &prs };
    let mut rows = usage::view(ledger, &view);
    rows.retain(|row| row.keys[0].as_deref() == Some(&args.what));
    if run.json {
        for row in &rows {
            run.out.json(&wire::usage::UsageRow::new(&by, row))?;
        }
        return Ok(Answer::of(&rows));
    }
    let head = if by[1] == Dimension::Day { "DAY" } else { "SESSION" };
    let lines = rows.iter().map(|row: &Row| {
        let key = row.keys[1].clone().unwrap_or_default();
        let key = if by[1] == Dimension::Session { short(&key) } else { key };
        (key, String::new(), row.totals.clone())
    });
    table(run, head, lines.collect())?;
    if let Some(first) = rows.first().and_then(|row| row.keys[1].as_deref()) {
        let first = if by[1] == Dimension::Session { short(first) } else { first.into() };
        run.talk.note(format!("`recount usage explain {first}` goes on"));
    }
    Ok(Answer::of(&rows))
}

fn table(
    run: &mut Run,
    head: &'static str,
    rows: Vec<(String, String, Totals)>,
) -> Result<(), CliError> {
    let columns: Vec<Column> = [Column::Left(head)].into_iter().chain(FIGURES).collect();
    let mut table = Table::new(&columns);
    for (key, text, totals) in rows {
        let key = [Cell::new(style::NAME, &key)].into_iter();
        table.push_all(key.chain(figures(&totals, Cell::from(text))).collect());
    }
    Ok(run.out.table(&table)?)
}

/// A session's responses by turn; those of its subagents belong to the turn in which they ran.
fn session(
    run: &mut Run,
    counted: &Counted,
    prices: &Prices,
    args: &ExplainArgs,
) -> Result<Answer, CliError> {
    let name: SessionName = args.what.parse().expect("every text is a name");
    let open = run.recount.open_session(&name)?;
    let id = open.name();
    let ledger = &counted.ledger;
    let own: Vec<&Response> =
        ledger.responses.iter().filter(|r| ledger.name(r.session) == id).collect();
    let starts = turn_starts(&open);
    let turn_of = |response: &Response| {
        let time = response.time?;
        let after = starts.partition_point(|(start, _)| start.is_none_or(|start| start <= time));
        after.checked_sub(1)
    };
    if let Some(turn) = args.turn {
        let wanted = turn.checked_sub(1);
        let of_turn: Vec<&Response> =
            own.iter().copied().filter(|r| turn_of(r) == wanted).collect();
        return requests(run, counted, prices, &of_turn);
    }
    let mut turns: Vec<(Option<usize>, Totals)> = Vec::new();
    for response in &own {
        let turn = turn_of(response);
        match turns.iter_mut().find(|(known, _)| *known == turn) {
            Some((_, totals)) => totals.add_whole(response),
            None => {
                let mut totals = Totals::default();
                totals.add_whole(response);
                turns.push((turn, totals));
            }
        }
    }
    turns.sort_by_key(|(turn, _)| *turn);
    if run.json {
        for (turn, totals) in &turns {
            let prompt = turn.map(|turn| starts[turn].1.as_str());
            run.out.json(&wire::usage::UsageTurn::new(&id, turn.map(|t| t + 1), prompt, totals))?;
        }
        return Ok(Answer::of(&turns));
    }
    let rows = turns.iter().map(|(turn, totals)| {
        let key = turn.map_or_else(|| "before".into(), |turn| (turn + 1).to_string());
        let text = turn.map_or("", |turn| starts[turn].1.as_str());
        (key, text.to_owned(), totals.clone())
    });
    table(run, "TURN", rows.collect())?;
    if let Some(replayed) = ledger.find(&id).and_then(|name| ledger.replayed.get(&name)) {
        run.talk.note(format!(
            "{} responses in its files are counted where they were first written",
            count(replayed.len() as u64)
        ));
    }
    run.talk.note(format!("`recount usage explain {} 1` shows the requests of a turn", short(&id)));
    Ok(Answer::of(&turns))
}

/// When each turn began and what was asked.
fn turn_starts(open: &OpenSession) -> Vec<(Option<Time>, String)> {
    let session = &open.session;
    let start = |node: usize| {
        let node = &session.nodes()[node];
        let bytes = open.sources[usize::from(node.source)].entry(node).unwrap_or_default();
        let said = EntryReading::from_bytes(&bytes).spoken_text().unwrap_or_default();
        let said = prompt::command_line(&said).unwrap_or(said);
        (node.time(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    session.turns().iter().map(|turn| start(turn.prompt)).collect()
}

/// Requests one by one.
fn requests(
    run: &mut Run,
    counted: &Counted,
    prices: &Prices,
    responses: &[&Response],
) -> Result<Answer, CliError> {
    for response in responses {
        let place = Place::of(counted, response);
        let model = response.model.map_or("", |model| counted.ledger.name(model));
        if run.json {
            run.out.json(&wire::usage::UsageRequest::new(
                &counted.ledger,
                response,
                &place,
                prices,
            ))?;
            continue;
        }
        heading(run, response, model)?;
        run.out.line(&format!("  line     {}:{}", safe::line(&place.path), place.line))?;
        if let Some((path, line)) = &place.taken {
            run.out.line(&format!("  usage    {}:{line}", safe::line(path)))?;
        }
        if response.replays > 0 {
            run.out.line(&format!("  replays  {} (counted 0)", response.replays))?;
        }
        let whole = [response.tokens];
        let parts = if response.parts.is_empty() { &whole[..] } else { &response.parts };
        for (at, tokens) in parts.iter().enumerate() {
            let searches = if at == 0 { response.web_searches } else { 0 };
            let priced = prices.price(model, response.time, tokens, response.mode, searches);
            match priced {
                Some(priced) => price(run, tokens, &priced)?,
                None => run.out.line("  price    none in the table")?,
            }
        }
        run.out.line(&format!("  {}", doubt(response)))?;
    }
    Ok(Answer::of(responses))
}

fn heading(run: &mut Run, response: &Response, model: &str) -> Result<(), CliError> {
    let when = response.time.map_or_else(|| "-".into(), |time| run.recount.clock.milli(time));
    let cost = response.cost.map_or_else(|| "?".into(), exact);
    let advisor = if response.is_advisor { " (advisor)" } else { "" };
    let line = format!(
        "{}  {}{advisor}  {}",
        paint(style::DIM, &when),
        paint(style::NAME, &safe::line(model)),
        paint(style::HEAD, &cost)
    );
    Ok(run.out.line(&line)?)
}

/// Each class with its price, then the factors.
fn price(
    run: &mut Run,
    tokens: &transcript::usage::Tokens,
    priced: &Priced<'_>,
) -> Result<(), CliError> {
    let day = |day: Option<jiff::civil::Date>| day.map_or("…".into(), |day| day.to_string());
    let period = priced.period;
    let when = match (period.from, period.until) {
        (None, None) => String::new(),
        (from, until) => format!(", {} to {}", day(from), day(until)),
    };
    let long = match (&period.long, priced.is_long) {
        (Some((over, _)), true) => {
            format!(", prompt of {} > {}", count(tokens.prompt()), count(*over))
        }
        _ => String::new(),
    };
    run.out.line(&format!("  price    {}{when}{long}", priced.model.id))?;
    let rates = priced.rates;
    for (name, number, rate) in [
        ("input", tokens.input, rates.input),
        ("output", tokens.output, rates.output),
        ("cache read", tokens.cache_read, rates.cache_read),
        ("write 5m", tokens.cache_write_5m, rates.cache_write_5m),
        ("write 1h", tokens.cache_write_1h, rates.cache_write_1h),
    ] {
        if number > 0 {
            let sum = u128::from(number) * u128::from(rate);
            run.out.line(&format!(
                "    {name:<10} {:>12} x ${} / M = ${}",
                count(number),
                decimal(u128::from(rate), 6),
                decimal(sum, 12)
            ))?;
        }
    }
    for (name, Factor(thousandths)) in &priced.factors {
        run.out.line(&format!("    x {} ({name})", decimal(u128::from(*thousandths), 3)))?;
    }
    if priced.searches > 0 {
        run.out.line(&format!("    + {} for web searches", dollars(priced.searches)))?;
    }
    Ok(())
}

/// A whole number of the last of so many digits behind the point, without zeros at the end.
fn decimal(number: u128, digits: usize) -> String {
    let unit = 10u128.pow(digits as u32);
    let rest = format!("{:0digits$}", number % unit);
    let rest = rest.trim_end_matches('0');
    if rest.is_empty() { (number / unit).to_string() } else { format!("{}.{rest}", number / unit) }
}

fn exact(micro: u64) -> String {
    format!("${}", wire::usage::usd(micro))
}

fn doubt(response: &Response) -> &'static str {
    match response.confidence {
        Confidence::Exact => "exact",
        Confidence::Estimated => "estimated: the price follows from a rule",
        Confidence::LowerBound => {
            "lower bound: the response was not complete when the line was written, or a count is none"
        }
        Confidence::Unpriced => "unpriced: the table has no such model",
    }
}

/// Where a response stands.
pub struct Place {
    /// The file that owns it.
    pub path: String,
    /// The line in it, from 1.
    pub line: u64,
    /// The file and line whose usage was taken, if that is another one.
    pub taken: Option<(String, u64)>,
}

impl Place {
    fn of(counted: &Counted, response: &Response) -> Self {
        let place = |file: u32, offset: u64| counted.line(file, offset);
        let (path, line) = place(response.file, response.offset);
        let is_same = response.taken == (response.file, response.offset);
        let taken = (!is_same).then(|| place(response.taken.0, response.taken.1));
        Self { path, line, taken }
    }
}

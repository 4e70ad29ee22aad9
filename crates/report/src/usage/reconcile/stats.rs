//! What `stats-cache.json` claims: tokens of each day and model that did not pass the cache, and
//! the sums of each model.

use hashbrown::HashSet;
use jiff::civil::Date;

use super::{Desk, Explanation, ModelClaim, Row, Source, Unit, Why, least, less, tokens_of};
use crate::price::plain_id;
use crate::usage::Response;

/// What the file of one Claude folder claims.
#[derive(Debug, Clone, Default)]
pub struct HomeStats {
    /// The files of the folder, by the ledger's numbers.
    pub files: HashSet<u32>,
    /// The last day that it knows.
    pub last_day: Option<String>,
    /// Tokens of each day and model.
    pub days: Vec<(String, String, u64)>,
    /// Sums of each model.
    pub models: Vec<ModelClaim>,
}

pub(super) fn rows(desk: &Desk<'_>, stats: &HomeStats) -> Vec<Row> {
    let own = desk.evidence.ledger.responses.iter().filter(|r| stats.files.contains(&r.file));
    let own: Vec<&Response> = own.collect();
    let last = stats.last_day.as_deref().and_then(|day| day.parse::<Date>().ok());
    let mut rows = Vec::new();
    for (day, model, tokens) in &stats.days {
        rows.push(daily(desk, &own, last, (day, model, *tokens)));
    }
    for claim in &stats.models {
        rows.push(total(desk, &own, last, claim, (Unit::Tokens, tokens_of(claim))));
        // It is 0 where Claude Code did not keep it.
        if let Some(cost) = claim.cost.filter(|cost| *cost > 0) {
            rows.push(total(desk, &own, last, claim, (Unit::Cost, cost)));
        }
    }
    rows
}

fn is_of(desk: &Desk<'_>, response: &Response, model: &str) -> bool {
    desk.model(response).as_deref() == Some(plain_id(model).0.as_str())
}

fn day_of(desk: &Desk<'_>, response: &Response) -> Option<Date> {
    desk.evidence.calendar.day(response.time?)
}

fn daily(
    desk: &Desk<'_>,
    own: &[&Response],
    last: Option<Date>,
    (day, model, tokens): (&str, &str, u64),
) -> Row {
    let date = day.parse::<Date>().ok();
    let is_it = |r: &&Response| day_of(desk, r) == date && is_of(desk, r, model);
    let of_day: Vec<&Response> = own.iter().copied().filter(is_it).collect();
    let mut row = Row {
        day: Some(day.into()),
        model: Some(model.into()),
        ..Row::new(Source::Stats, Unit::Uncached, tokens)
    }
    .beside(of_day.iter().copied());
    let difference = row.difference().unwrap_or(0);
    // The day was not over when it was counted.
    if difference < 0 && last.is_some_and(|last| date.is_some_and(|date| date >= last)) {
        row.explain(Explanation::new(Why::PartialScope, of_day.len(), None));
    }
    if difference > 0 {
        let copies: Vec<&Response> = copies(desk).into_iter().filter(is_it).collect();
        desk.replay(&mut row, &copies);
        row.may_lack(least(&of_day));
    }
    row
}

/// Each response as often as other files repeat it.
fn copies<'a>(desk: &Desk<'a>) -> Vec<&'a Response> {
    let keys = desk.evidence.ledger.replayed.values().flatten();
    keys.filter_map(|key| desk.by_key.get(key).copied()).collect()
}

fn total(
    desk: &Desk<'_>,
    own: &[&Response],
    last: Option<Date>,
    claim: &ModelClaim,
    (unit, claimed): (Unit, u64),
) -> Row {
    let of_model: Vec<&Response> =
        own.iter().copied().filter(|r| is_of(desk, r, &claim.model)).collect();
    let mut row =
        Row { model: Some(claim.model.clone()), ..Row::new(Source::Stats, unit, claimed) }
            .beside(of_model.iter().copied());
    if row.difference().is_none_or(|difference| difference == 0) {
        return row;
    }
    let is_later = |r: &&&Response| last.is_some_and(|last| day_of(desk, r) > Some(last));
    let later: Vec<&&Response> = of_model.iter().filter(is_later).collect();
    if !later.is_empty() {
        let sum: u64 = later.iter().map(|response| unit.of(response)).sum();
        row.explain(Explanation::new(Why::PartialScope, later.len(), Some(less(0, sum))));
    }
    let copies: Vec<&Response> =
        copies(desk).into_iter().filter(|r| is_of(desk, r, &claim.model)).collect();
    desk.replay(&mut row, &copies);
    row.may_lack(least(&of_model));
    row
}

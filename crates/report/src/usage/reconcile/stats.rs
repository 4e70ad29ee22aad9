//! What `stats-cache.json` claims: tokens of each day and model that did not pass the cache, and
//! the sums of each model.

use std::collections::BTreeMap;
use std::ops::Bound;

use hashbrown::{HashMap, HashSet};
use jiff::civil::Date;

use super::{Claimant, Desk, Explanation, ModelClaim, Row, Unit, Why, least, less, tokens_of};
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
    let responses = desk.evidence.ledger.responses.iter();
    let own = Sorted::new(desk, responses.filter(|r| stats.files.contains(&r.file)));
    // Each response as often as other files repeat it.
    let copied = desk.evidence.ledger.replayed.values().flatten();
    let copied = Sorted::new(desk, copied.filter_map(|key| desk.by_key.get(key).copied()));
    let last = stats.last_day.as_deref().and_then(|day| day.parse::<Date>().ok());
    let shelf = Shelf { desk, own, copied, last };
    let mut rows = Vec::new();
    for (day, model, tokens) in &stats.days {
        rows.push(shelf.daily(day, model, *tokens));
    }
    for claim in &stats.models {
        rows.push(shelf.total(claim, Unit::Tokens, tokens_of(claim)));
        // It is 0 where Claude Code did not keep it.
        if let Some(cost) = claim.cost.filter(|cost| *cost > 0) {
            rows.push(shelf.total(claim, Unit::Cost, cost));
        }
    }
    rows
}

/// Responses by model and day.
struct Sorted<'a>(HashMap<String, BTreeMap<Option<Date>, Vec<&'a Response>>>);

impl<'a> Sorted<'a> {
    fn new(desk: &Desk<'_>, responses: impl Iterator<Item = &'a Response>) -> Self {
        let mut all: HashMap<String, BTreeMap<_, Vec<_>>> = HashMap::new();
        for response in responses {
            let Some(model) = desk.model(response) else { continue };
            let day = response.time.and_then(|time| desk.evidence.calendar.day(time));
            all.entry(model).or_default().entry(day).or_default().push(response);
        }
        Self(all)
    }

    fn days(&self, model: &str) -> Option<&BTreeMap<Option<Date>, Vec<&'a Response>>> {
        self.0.get(plain_id(model).0.as_str())
    }

    fn of_day(&self, model: &str, day: Option<Date>) -> &[&'a Response] {
        self.days(model).and_then(|days| days.get(&day)).map_or(&[], Vec::as_slice)
    }

    fn of_model(&self, model: &str) -> Vec<&'a Response> {
        self.days(model).into_iter().flat_map(BTreeMap::values).flatten().copied().collect()
    }

    fn after(&self, model: &str, last: Date) -> Vec<&'a Response> {
        let later = (Bound::Excluded(Some(last)), Bound::Unbounded);
        let days = self.days(model).into_iter().flat_map(|days| days.range(later));
        days.flat_map(|(_, responses)| responses).copied().collect()
    }
}

/// What one file of statistics is compared with.
struct Shelf<'a> {
    desk: &'a Desk<'a>,
    own: Sorted<'a>,
    copied: Sorted<'a>,
    last: Option<Date>,
}

impl Shelf<'_> {
    fn daily(&self, day: &str, model: &str, tokens: u64) -> Row {
        let row = Row {
            day: Some(day.into()),
            model: Some(model.into()),
            ..Row::new(Claimant::Stats, Unit::Uncached, tokens)
        };
        let Ok(date) = day.parse::<Date>() else { return row };
        let of_day = self.own.of_day(model, Some(date));
        let mut row = row.beside(of_day.iter().copied());
        let difference = row.difference().unwrap_or(0);
        // The day was not over when it was counted.
        if difference < 0 && self.last.is_some_and(|last| date >= last) {
            row.explain(Explanation::new(Why::PartialScope, of_day.len(), None));
        }
        if difference > 0 {
            self.desk.replay(&mut row, self.copied.of_day(model, Some(date)));
            row.may_lack(least(of_day));
        }
        row
    }

    fn total(&self, claim: &ModelClaim, unit: Unit, claimed: u64) -> Row {
        let of_model = self.own.of_model(&claim.model);
        let mut row =
            Row { model: Some(claim.model.clone()), ..Row::new(Claimant::Stats, unit, claimed) }
                .beside(of_model.iter().copied());
        if row.difference().is_none_or(|difference| difference == 0) {
            return row;
        }
        let later = self.last.map(|last| self.own.after(&claim.model, last));
        if let Some(later) = later.filter(|later| !later.is_empty()) {
            let sum: u64 = later.iter().map(|response| unit.of(response)).sum();
            row.explain(Explanation::new(Why::PartialScope, later.len(), Some(less(0, sum))));
        }
        self.desk.replay(&mut row, &self.copied.of_model(&claim.model));
        row.may_lack(least(&of_model));
        row
    }
}

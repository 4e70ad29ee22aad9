//! Our sums beside every other sum that Claude Code left, and why they differ.
//!
//! A difference is explained only by what can be seen: what has an amount is taken off, what has
//! none is named with its number, and the rest is said to be unexplained. Nothing is made to fit.

mod agent;
mod stats;
#[cfg(test)]
mod tests;

use hashbrown::{HashMap, HashSet};
use jiff::civil::Date;
use transcript::id::Key;
use transcript::time::Time;
use transcript::usage::Tokens;
use transcript::usage::told::{HiddenCall, RunningSum};

use super::{Calendar, Ledger, Name, Response, Totals};
use crate::price::{Confidence, Prices, plain_id};

pub use stats::HomeStats;
pub use transcript::usage::told::{Claimant, Hidden, ModelClaim, Told};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Micro-dollars.
    Cost,
    /// Tokens of all classes.
    Tokens,
    /// Tokens that did not pass the cache: input and output.
    Uncached,
}

impl Unit {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cost => "usd",
            Self::Tokens => "tokens",
            Self::Uncached => "uncached-tokens",
        }
    }

    fn of_tokens(self, tokens: &Tokens) -> u64 {
        match self {
            Self::Uncached => tokens.input + tokens.output,
            _ => tokens.total(),
        }
    }

    fn of(self, response: &Response) -> u64 {
        match self {
            Self::Cost => response.cost.unwrap_or(0),
            unit => unit.of_tokens(&response.tokens),
        }
    }
}

/// Why a claim is not what we count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// The claim covers less: it is older than the last response, or one response of many.
    PartialScope,
    /// The tokens are the same, the price is another.
    Price,
    /// Calls that leave no usage.
    Hidden,
    /// Responses that another session owns.
    Replay,
    /// Subagents whose files are not there.
    MissingSubagent,
    /// Responses of which the files hold less than was used.
    Placeholder,
}

impl Why {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PartialScope => "partial-scope",
            Self::Price => "price",
            Self::Hidden => "hidden-calls",
            Self::Replay => "replays",
            Self::MissingSubagent => "missing-subagent",
            Self::Placeholder => "placeholders",
        }
    }
}

/// A reason for a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// The reason.
    pub why: Why,
    /// Responses, models, calls or subagents.
    pub count: u64,
    /// How much of the difference it is, where that can be told.
    pub amount: Option<i64>,
    /// How much it can be at most, where only that is known.
    pub most: Option<u64>,
    /// The first day of the prices under which the claim is right.
    pub as_of: Option<Date>,
}

impl Explanation {
    fn new(why: Why, count: usize, amount: Option<i64>) -> Self {
        Self { why, count: count as u64, amount, most: None, as_of: None }
    }
}

/// A claim beside what we count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Who claims it.
    pub source: Claimant,
    /// Of which session.
    pub session: Option<String>,
    /// Of which subagent.
    pub agent: Option<String>,
    /// Of which day.
    pub day: Option<String>,
    /// Of which model.
    pub model: Option<String>,
    /// The file that claims it, by the ledger's number, and the entry in it.
    pub place: Option<(u32, u32)>,
    /// When it was claimed.
    pub time: Option<Time>,
    /// What is compared.
    pub unit: Unit,
    /// What is claimed.
    pub claimed: u64,
    /// What we count; `None` if there is nothing to count or no price.
    pub ours: Option<u64>,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why they differ.
    pub explanations: Vec<Explanation>,
}

impl Row {
    /// What is claimed above what we count.
    pub fn difference(&self) -> Option<i64> {
        Some(less(self.claimed, self.ours?))
    }

    /// What of the difference nothing explains.
    pub fn unexplained(&self) -> Option<i64> {
        let known = self.explanations.iter().filter_map(|e| e.amount);
        Some(known.fold(self.difference()?, i64::saturating_sub))
    }

    fn new(source: Claimant, unit: Unit, claimed: u64) -> Self {
        Self {
            source,
            session: None,
            agent: None,
            day: None,
            model: None,
            place: None,
            time: None,
            unit,
            claimed,
            ours: None,
            confidence: Confidence::Exact,
            explanations: Vec::new(),
        }
    }

    /// Sets what we count beside it.
    fn beside<'a>(mut self, responses: impl IntoIterator<Item = &'a Response>) -> Self {
        let mut totals = Totals::default();
        responses.into_iter().for_each(|response| totals.add_whole(response));
        (self.ours, self.confidence) = match self.unit {
            Unit::Cost => (totals.cost(), totals.confidence()),
            unit => (Some(unit.of_tokens(&totals.tokens)), token_confidence(&totals)),
        };
        self
    }

    fn explain(&mut self, explanation: Explanation) {
        self.explanations.push(explanation);
    }

    /// What the files hold too little of can only be a reason for claims that are larger.
    fn may_lack(&mut self, least: usize) {
        if least > 0 && self.unexplained().is_some_and(|rest| rest > 0) {
            self.explain(Explanation::new(Why::Placeholder, least, None));
        }
    }
}

/// Tokens need no price.
fn token_confidence(totals: &Totals) -> Confidence {
    match totals.by_confidence[Confidence::LowerBound as usize].0 {
        0 => Confidence::Exact,
        _ => Confidence::LowerBound,
    }
}

fn less(a: u64, b: u64) -> i64 {
    i64::try_from(i128::from(a) - i128::from(b)).unwrap_or(i64::MAX)
}

/// Calls without a usage, of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenCalls {
    /// What they were for.
    pub kind: Hidden,
    /// How many.
    pub count: u64,
    /// The most tokens that they can have taken, if it is known of all of them.
    pub most: Option<u64>,
}

/// What is compared with what.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The responses.
    pub ledger: &'a Ledger,
    /// What they are priced with.
    pub prices: &'a Prices,
    /// What the files claim, with the ledger's numbers of the files.
    pub files: &'a [(u32, Told)],
    /// The subagents that calls have started.
    pub agents: &'a HashMap<Key, String>,
    /// What `stats-cache.json` of each Claude folder claims.
    pub stats: &'a [HomeStats],
    /// How times become days.
    pub calendar: &'a Calendar,
    /// Only this session.
    pub session: Option<&'a str>,
}

/// All claims beside what we count, by source.
pub fn reconcile(evidence: &Evidence<'_>) -> Vec<Row> {
    let desk = Desk::new(evidence);
    let mut rows = Vec::new();
    for (file, told) in evidence.files.iter().filter(|(_, told)| desk.is_asked(told)) {
        for source in [Claimant::CostState, Claimant::Result] {
            let all: Vec<&RunningSum> =
                told.running.iter().filter(|r| r.source == source).collect();
            rows.extend(desk.running(*file, told, &all));
        }
        rows.extend(told.agents.iter().map(|agent| desk.agent(*file, told, agent)));
    }
    rows.extend(desk.lines());
    if evidence.session.is_none() {
        rows.extend(evidence.stats.iter().flat_map(|stats| stats::rows(&desk, stats)));
    }
    rows.sort_by_cached_key(|row| {
        let whose = (row.session.clone(), row.day.clone(), row.model.clone());
        (row.source, whose, row.place, row.unit)
    });
    rows
}

/// The calls that left no usage, by kind.
pub fn hidden(evidence: &Evidence<'_>) -> Vec<HiddenCalls> {
    let desk = Desk::new(evidence);
    let files = evidence.files.iter().filter(|(_, told)| desk.is_asked(told));
    let all: Vec<_> = files.flat_map(|(_, told)| &told.hidden).collect();
    let of = |kind: Hidden| {
        let own = all.iter().filter(move |call| call.kind == kind);
        let most = bound(own.clone().map(|call| call.most));
        HiddenCalls { kind, count: own.count() as u64, most }
    };
    Hidden::ALL.map(of).into_iter().filter(|calls| calls.count > 0).collect()
}

/// The evidence, sorted.
struct Desk<'a> {
    evidence: &'a Evidence<'a>,
    by_session: HashMap<Name, Vec<&'a Response>>,
    by_key: HashMap<Key, &'a Response>,
}

impl<'a> Desk<'a> {
    fn new(evidence: &'a Evidence<'a>) -> Self {
        let (mut by_session, mut by_key) = (HashMap::<_, Vec<_>>::new(), HashMap::new());
        for response in &evidence.ledger.responses {
            by_session.entry(response.session).or_default().push(response);
            if !response.is_advisor {
                by_key.insert(response.key, response);
            }
        }
        Self { evidence, by_session, by_key }
    }

    fn is_asked(&self, told: &Told) -> bool {
        self.evidence.session.is_none_or(|asked| told.session.as_deref() == Some(asked))
    }

    fn responses(&self, session: Option<&str>) -> &[&'a Response] {
        let name = session.and_then(|session| self.evidence.ledger.find(session));
        name.and_then(|name| self.by_session.get(&name)).map_or(&[], Vec::as_slice)
    }

    /// The responses that stand in files of a session and are owned by another.
    fn replays(&self, session: Option<&str>) -> Vec<&'a Response> {
        let ledger = self.evidence.ledger;
        let keys = session.and_then(|session| ledger.replayed.get(&ledger.find(session)?));
        let mut seen = HashSet::new();
        let once = keys.into_iter().flatten().filter(|key| seen.insert(**key));
        let own = session.and_then(|session| ledger.find(session));
        let of = once.filter_map(|key| self.by_key.get(key).copied());
        of.filter(|response| Some(response.session) != own).collect()
    }

    fn model(&self, response: &Response) -> Option<String> {
        response.model.map(|model| plain_id(self.evidence.ledger.name(model)).0)
    }

    /// The sums that a session kept, in dollars and in tokens.
    fn running(&self, file: u32, told: &Told, all: &[&RunningSum]) -> Vec<Row> {
        let Some(last) = all.last() else { return Vec::new() };
        let (cost, models) = added(all);
        let mut rows = Vec::new();
        for (unit, claimed) in [
            (Unit::Cost, cost),
            (Unit::Tokens, (!models.is_empty()).then(|| models.iter().map(tokens_of).sum())),
        ] {
            let Some(claimed) = claimed else { continue };
            let own = self.responses(told.session.as_deref());
            let mut row = Row {
                session: told.session.clone(),
                place: Some((file, last.entry)),
                time: last.time,
                ..Row::new(last.source, unit, claimed)
            }
            .beside(own.iter().copied());
            if row.difference().is_some_and(|difference| difference != 0) {
                self.explain(&mut row, (file, told), &models, last.time);
            }
            rows.push(row);
        }
        rows
    }

    fn explain(
        &self,
        row: &mut Row,
        (file, told): (u32, &Told),
        models: &[ModelClaim],
        until: Option<Time>,
    ) {
        let unit = row.unit;
        let own = self.responses(told.session.as_deref());
        let is_later = |time: Option<Time>| until.zip(time).is_some_and(|(u, t)| t > u);
        let (later, within): (Vec<&Response>, Vec<&Response>) =
            own.iter().partition(|response| is_later(response.time));
        if !later.is_empty() {
            let sum: u64 = later.iter().map(|response| unit.of(response)).sum();
            row.explain(Explanation::new(Why::PartialScope, later.len(), Some(less(0, sum))));
        }
        if unit == Unit::Cost {
            row.explanations.extend(self.price(&within, models));
        }
        let calls: Vec<_> = told.hidden.iter().filter(|call| !is_later(call.time)).collect();
        self.hide(row, &within, models, &calls);
        let replays = self.replays(told.session.as_deref());
        self.replay(row, &replays);
        let rest = row.unexplained().unwrap_or(0);
        let missing = told.agents.iter().filter(|agent| self.is_missing(file, told, agent)).count();
        if missing > 0 && rest > 0 {
            row.explain(Explanation::new(Why::MissingSubagent, missing, None));
        }
        row.may_lack(least(&within));
    }

    /// Models whose tokens are the same and whose cost is not.
    fn price(&self, within: &[&Response], models: &[ModelClaim]) -> Option<Explanation> {
        let (mut count, mut amount, mut as_of) = (0, 0i64, None);
        for claim in models {
            let Some(claimed) = claim.cost else { continue };
            let name = plain_id(&claim.model).0;
            let own: Vec<&Response> = within
                .iter()
                .copied()
                .filter(|response| self.model(response).as_ref() == Some(&name))
                .collect();
            let mut tokens = Tokens::default();
            own.iter().for_each(|response| tokens += response.tokens);
            let is_same = classes(&tokens) == classes(&claim.tokens);
            let priced: Option<u64> = own.iter().map(|response| response.cost).sum();
            let Some(ours) = priced.filter(|ours| is_same && *ours != claimed) else { continue };
            count += 1;
            amount = amount.saturating_add(less(claimed, ours));
            as_of = as_of.or_else(|| self.as_of(&own, claimed));
        }
        let amount = (count > 0).then_some(amount)?;
        Some(Explanation { as_of, ..Explanation::new(Why::Price, count, Some(amount)) })
    }

    /// The first day of the prices under which responses of one model cost so much.
    fn as_of(&self, own: &[&Response], claimed: u64) -> Option<Date> {
        let model = self.evidence.ledger.name(own.first()?.model?);
        let found = self.evidence.prices.match_id(model)?;
        let is_it = |day: &Date| {
            let time = crate::price::midnight(*day);
            let cost = |response: &&Response| {
                super::join::price(Some(found), Some(time), response, false).0
            };
            let sum: Option<u64> = own.iter().map(cost).sum();
            // Each request was rounded, the claim was not.
            sum.is_some_and(|sum| sum.abs_diff(claimed) <= own.len() as u64)
        };
        found.model.periods.iter().filter_map(|period| period.from).find(is_it)
    }

    /// Models of the claim that no response names are calls that left none.
    fn hide(
        &self,
        row: &mut Row,
        within: &[&Response],
        models: &[ModelClaim],
        calls: &[&HiddenCall],
    ) {
        let ours: HashSet<String> =
            within.iter().filter_map(|response| self.model(response)).collect();
        let foreign = models.iter().filter(|claim| !ours.contains(&plain_id(&claim.model).0));
        let amount = foreign.map(|claim| match row.unit {
            Unit::Cost => claim.cost.unwrap_or(0),
            _ => tokens_of(claim),
        });
        let amount = amount.sum::<u64>();
        if amount > 0 {
            let explanation = Explanation::new(Why::Hidden, calls.len(), Some(less(amount, 0)));
            row.explain(explanation);
        } else if !calls.is_empty() && row.unexplained().is_some_and(|rest| rest > 0) {
            let most = bound(calls.iter().map(|call| call.most));
            let most = most.filter(|_| row.unit != Unit::Cost);
            row.explain(Explanation { most, ..Explanation::new(Why::Hidden, calls.len(), None) });
        }
    }

    /// Copies explain a claim that counts them, which is known only if they are just the rest.
    fn replay(&self, row: &mut Row, replays: &[&Response]) {
        let Some(rest) = row.unexplained().filter(|rest| *rest > 0) else { return };
        let sum: u64 = replays.iter().map(|response| row.unit.of(response)).sum();
        if sum == 0 {
            return;
        }
        let slack = if row.unit == Unit::Cost { replays.len() as u64 } else { 0 };
        let is_it = rest.unsigned_abs().abs_diff(sum) <= slack;
        let explanation =
            Explanation::new(Why::Replay, replays.len(), is_it.then_some(less(sum, 0)));
        row.explain(Explanation { most: (!is_it).then_some(sum), ..explanation });
    }

    /// What the lines of each session say that they cost.
    fn lines(&self) -> Vec<Row> {
        let ledger = self.evidence.ledger;
        let mut rows = Vec::new();
        for (&session, all) in &self.by_session {
            let name = ledger.name(session);
            let own: Vec<&Response> =
                all.iter().copied().filter(|response| response.claimed_cost.is_some()).collect();
            if own.is_empty() || self.evidence.session.is_some_and(|asked| asked != name) {
                continue;
            }
            let claimed = own.iter().filter_map(|response| response.claimed_cost);
            let claimed = claimed.fold(0, u64::saturating_add);
            let mut row = Row {
                session: Some(name.to_owned()),
                time: own.last().and_then(|response| response.time),
                ..Row::new(Claimant::Lines, Unit::Cost, claimed)
            }
            .beside(own.iter().copied());
            let other = |response: &&&Response| {
                response.confidence != Confidence::LowerBound
                    && response.cost.is_some()
                    && response.cost != response.claimed_cost
            };
            // The tokens stand in the same line.
            let priced: Vec<&&Response> = own.iter().filter(other).collect();
            if !priced.is_empty() {
                let each = priced.iter().filter_map(|r| Some(less(r.claimed_cost?, r.cost?)));
                let amount = each.fold(0, i64::saturating_add);
                row.explain(Explanation::new(Why::Price, priced.len(), Some(amount)));
            }
            row.may_lack(least(&own));
            rows.push(row);
        }
        rows
    }
}

/// Responses of which the files hold less than was used.
fn least(responses: &[&Response]) -> usize {
    responses.iter().filter(|response| response.confidence == Confidence::LowerBound).count()
}

/// Output, input, read from the cache, written to it.
fn classes(tokens: &Tokens) -> [u64; 4] {
    [tokens.output, tokens.input, tokens.cache_read, tokens.cache_write()]
}

/// The sum of bounds; `None` if one is not known.
fn bound(mut of: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    of.try_fold(0, |sum: u64, one| Some(sum.saturating_add(one?)))
}

fn tokens_of(claim: &ModelClaim) -> u64 {
    claim.tokens.total()
}

/// What running sums come to. One that falls has begun anew, with another process.
fn added(all: &[&RunningSum]) -> (Option<u64>, Vec<ModelClaim>) {
    let mut cost: Option<u64> = None;
    let mut models: Vec<ModelClaim> = Vec::new();
    let is_fall =
        |(a, b): (&RunningSum, &RunningSum)| a.cost.zip(b.cost).is_some_and(|(a, b)| b < a);
    for (at, running) in all.iter().enumerate() {
        let next = all.get(at + 1);
        if next.is_some_and(|next| !is_fall((running, next))) {
            continue;
        }
        cost = running.cost.map(|own| cost.unwrap_or(0).saturating_add(own)).or(cost);
        for claim in &running.models {
            match models.iter_mut().find(|known| known.model == claim.model) {
                Some(known) => {
                    known.tokens += claim.tokens;
                    let sum = known.cost.zip(claim.cost).map(|(a, b)| a.saturating_add(b));
                    known.cost = sum.or(known.cost).or(claim.cost);
                }
                None => models.push(claim.clone()),
            }
        }
    }
    (cost, models)
}

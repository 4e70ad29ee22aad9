//! Views: the responses, grouped by one or two things. The totals of all of them are the same.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use jiff::Timestamp;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use transcript::time::Time;
use transcript::usage::{Oddity, Tokens};

use super::{Input, Ledger, Response, join};
use crate::filter::{Period, ProjectFilter};
use crate::price::{Confidence, Prices, plain_id};

/// What responses are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// The day.
    Day,
    /// The week, by its first day.
    Week,
    /// The month.
    Month,
    /// The session.
    Session,
    /// The working directory.
    Project,
    /// The model, without the marks of its provider.
    Model,
    /// The kind of the subagent; `main` for what was none.
    Subagent,
    /// The tool that was called. A response with several calls is shared among them; one without
    /// is `answer`.
    Tool,
    /// The branch of git.
    Branch,
    /// The pull request that the work led to.
    Pr,
}

impl Dimension {
    /// The word for it, which is also the name of its key.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Session => "session",
            Self::Project => "project",
            Self::Model => "model",
            Self::Subagent => "subagent",
            Self::Tool => "tool",
            Self::Branch => "branch",
            Self::Pr => "pr",
        }
    }

    /// Whether its keys are times, which are shown in their order.
    pub const fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }
}

/// The day a week begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeekStart {
    /// As ISO 8601 has it.
    Monday,
    /// As in the US.
    Sunday,
}

/// How times become days.
#[derive(Debug, Clone)]
pub struct Calendar {
    /// The zone.
    pub zone: TimeZone,
    /// The first day of a week.
    pub week_start: WeekStart,
}

impl Calendar {
    /// The day of a moment; `None` for one that no calendar has.
    pub fn day(&self, time: Time) -> Option<Date> {
        let stamp = Timestamp::from_millisecond(time.0).ok()?;
        Some(stamp.to_zoned(self.zone.clone()).date())
    }

    /// The first day of the week of a day.
    pub fn week(&self, day: Date) -> Date {
        let first = match self.week_start {
            WeekStart::Monday => Weekday::Monday,
            WeekStart::Sunday => Weekday::Sunday,
        };
        let since = day.weekday().since(first);
        day.saturating_sub(jiff::Span::new().days(since))
    }
}

/// Which responses.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those of this time.
    pub period: Period,
    /// Those of these projects.
    pub project: Option<ProjectFilter>,
    /// Those of models with this text in their id.
    pub model: Option<String>,
    /// Those of this session.
    pub session: Option<String>,
}

impl Filter {
    /// Whether a response is one of them.
    pub fn holds(&self, ledger: &Ledger, response: &Response) -> bool {
        let name = |name: Option<super::Name>| name.map_or("", |name| ledger.name(name));
        self.period.holds(response.time)
            && self.project.as_ref().is_none_or(|p| p.matches(name(response.project)))
            && self.model.as_ref().is_none_or(|part| {
                name(response.model).to_lowercase().contains(&part.to_lowercase())
            })
            && self.session.as_ref().is_none_or(|id| ledger.name(response.session) == id)
    }

    /// Whether what is no response, and has no model, is asked for too.
    pub fn holds_beside(&self, time: Option<Time>, project: Option<&str>, session: &str) -> bool {
        self.period.holds(time)
            && self.project.as_ref().is_none_or(|p| p.matches(project.unwrap_or_default()))
            && self.model.is_none()
            && self.session.as_ref().is_none_or(|id| id == session)
    }
}

/// Sums over responses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Tokens.
    pub tokens: Tokens,
    /// Requests to the API.
    pub requests: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Web searches.
    pub web_searches: u64,
    /// Micro-dollars of what has a price.
    pub cost: u64,
    /// Requests, and micro-dollars, by confidence: exact, estimated, lower bound, unpriced.
    pub by_confidence: [(u64, u64); 4],
    /// Requests whose lines are no longer in the Claude folder.
    pub without_source: u64,
    /// The client itself counts more: calls that leave no line, or a response that was cut.
    pub is_understated: bool,
    /// What was added, by confidence: a part of a shared response need not have a request.
    shares: [u64; 4],
}

impl Totals {
    /// In micro-dollars; `None` if nothing of it has a price.
    pub fn cost(&self) -> Option<u64> {
        let unpriced = self.shares[Confidence::Unpriced as usize];
        let all: u64 = self.shares.iter().sum();
        (all == 0 || unpriced < all).then_some(self.cost)
    }

    /// How sure the sum is. If some of it has no price, the sum is what it is at least.
    pub fn confidence(&self) -> Confidence {
        let is_there = |confidence: Confidence| self.shares[confidence as usize] > 0;
        match self.cost() {
            None => Confidence::Unpriced,
            Some(_) if is_there(Confidence::Unpriced) || self.is_understated => {
                Confidence::LowerBound
            }
            Some(_) => {
                let worst = Confidence::ALL.into_iter().rev().find(|c| is_there(*c));
                worst.unwrap_or(Confidence::Exact)
            }
        }
    }

    /// Adds a response.
    pub fn add_whole(&mut self, response: &Response) {
        self.add(&Share { response, part: 0, of: 1 });
    }

    fn add(&mut self, share: &Share<'_>) {
        let Share { response, part, of } = *share;
        let split = |number: u64| number / of + u64::from(part < number % of);
        let Tokens { input, output, cache_read, cache_write_5m, cache_write_1h } = response.tokens;
        self.tokens += Tokens {
            input: split(input),
            output: split(output),
            cache_read: split(cache_read),
            cache_write_5m: split(cache_write_5m),
            cache_write_1h: split(cache_write_1h),
        };
        let cost = split(response.cost.unwrap_or(0));
        // What can't be shared goes with the first part.
        let whole = |number: u64| if part == 0 { number } else { 0 };
        let requests = whole(response.requests());
        self.requests += requests;
        self.web_searches += whole(response.web_searches.into());
        self.tool_calls += match of {
            1 => response.tools.len() as u64,
            _ => 1,
        };
        self.cost += cost;
        let counted = &mut self.by_confidence[response.confidence as usize];
        *counted = (counted.0 + requests, counted.1 + cost);
        self.shares[response.confidence as usize] += 1;
        self.without_source += if response.has_source { 0 } else { requests };
    }
}

/// A part of a response.
#[derive(Clone, Copy)]
struct Share<'a> {
    response: &'a Response,
    part: u64,
    of: u64,
}

/// One row of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The keys, one for each dimension; `None` if it is not known.
    pub keys: Vec<Option<String>>,
    /// The sums.
    pub totals: Totals,
}

/// A view.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// What to group by.
    pub by: &'a [Dimension],
    /// Which responses.
    pub filter: &'a Filter,
    /// How times become days.
    pub calendar: &'a Calendar,
    /// The kinds of subagents, by their ids.
    pub agents: &'a HashMap<String, String>,
    /// The pull requests of a session, with the times they were linked.
    pub prs: &'a HashMap<String, Vec<(Option<Time>, String)>>,
}

/// The sum of everything that a filter lets through.
pub fn total(ledger: &Ledger, filter: &Filter) -> Totals {
    let mut totals = Totals::default();
    for response in ledger.responses.iter().filter(|r| filter.holds(ledger, r)) {
        totals.add_whole(response);
    }
    let session = filter.session.as_deref().and_then(|id| ledger.find(id));
    totals.is_understated = session.is_some_and(|name| ledger.understated.contains(&name));
    totals
}

/// The rows of a view: times in their order, everything else by cost, then by tokens.
pub fn view(ledger: &Ledger, view: &View<'_>) -> Vec<Row> {
    let mut sums = Sums::new(view);
    ledger.responses.iter().for_each(|response| sums.add(ledger, response));
    sums.rows(ledger)
}

/// A view of responses that nobody holds.
pub struct Tally {
    /// Its rows.
    pub rows: Vec<Row>,
    /// The sum of all rows.
    pub total: Totals,
    /// The models without a price; `None` for responses without a model.
    pub unpriced: BTreeSet<Option<String>>,
    /// Numbers that could not be taken as they are.
    pub oddities: HashMap<Oddity, u64>,
}

impl Tally {
    /// A view of a ledger that is there already.
    pub fn of(ledger: &Ledger, view: &View<'_>) -> Self {
        let held = ledger.responses.iter().filter(|response| view.filter.holds(ledger, response));
        let unpriced = held.filter(|response| response.confidence == Confidence::Unpriced);
        let name = |response: &Response| response.model.map(|name| ledger.name(name).to_owned());
        Self {
            rows: self::view(ledger, view),
            total: total(ledger, view.filter),
            unpriced: unpriced.map(name).collect(),
            oddities: ledger.oddities.clone(),
        }
    }
}

/// As [`view`] and [`total`] of a ledger, in less room: each response is counted and let go.
pub fn tally(inputs: Vec<Input>, prices: &Prices, view: &View<'_>) -> Tally {
    let (mut sums, mut total) = (Sums::new(view), Totals::default());
    let mut unpriced = BTreeSet::new();
    let ledger = join::join(inputs, prices, |ledger, response| {
        if !view.filter.holds(ledger, &response) {
            return;
        }
        sums.add(ledger, &response);
        total.add_whole(&response);
        if response.confidence == Confidence::Unpriced {
            unpriced.insert(response.model.map(|model| ledger.name(model).to_owned()));
        }
    });
    Tally { rows: sums.rows(&ledger), total, unpriced, oddities: ledger.oddities }
}

/// The rows of a view while they grow.
struct Sums<'a> {
    keys: Keys<'a>,
    sums: HashMap<[u32; 2], Totals>,
}

impl<'a> Sums<'a> {
    fn new(view: &'a View<'a>) -> Self {
        let keys = Keys { view, texts: Vec::new(), by_text: HashMap::new(), seen: HashMap::new() };
        Self { keys, sums: HashMap::new() }
    }

    fn add(&mut self, ledger: &Ledger, response: &Response) {
        let view = self.keys.view;
        if !view.filter.holds(ledger, response) {
            return;
        }
        let of = if view.by.contains(&Dimension::Tool) { response.tools.len().max(1) } else { 1 };
        for part in 0..of {
            let mut key = [0; 2];
            for (at, by) in view.by.iter().take(2).enumerate() {
                key[at] = self.keys.of(ledger, response, part, *by);
            }
            let share = Share { response, part: part as u64, of: of as u64 };
            self.sums.entry(key).or_default().add(&share);
        }
    }

    fn rows(self, ledger: &Ledger) -> Vec<Row> {
        let Self { keys, sums } = self;
        let view = keys.view;
        let text = |key: u32| keys.texts[key as usize].clone();
        // Only of a whole session the client's own sum is known.
        let is_understated = |keys: &[Option<String>]| {
            let id = keys[0].as_deref().filter(|_| view.by == [Dimension::Session]);
            id.and_then(|id| ledger.find(id)).is_some_and(|name| ledger.understated.contains(&name))
        };
        let row = |(key, mut totals): ([u32; 2], Totals)| {
            let keys: Vec<_> = key.iter().take(view.by.len()).map(|key| text(*key)).collect();
            totals.is_understated = is_understated(&keys);
            Row { keys, totals }
        };
        let mut rows: Vec<Row> = sums.into_iter().map(row).collect();
        let firsts = firsts(&rows);
        let is_time = |at: usize| view.by.get(at).is_some_and(|by| by.is_time());
        let weight = |totals: &Totals| std::cmp::Reverse((totals.cost, totals.tokens.total()));
        rows.sort_by_cached_key(|row| {
            let first = (!is_time(0)).then(|| firsts[&row.keys[0]]);
            let last = (!is_time(1)).then(|| weight(&row.totals));
            (first, row.keys[0].clone(), last, row.keys.clone())
        });
        rows
    }
}

/// A quarter of an hour: no zone changes its offset within one.
const QUARTER: i64 = 15 * 60 * 1000;

/// The keys of a view, each made once.
struct Keys<'a> {
    view: &'a View<'a>,
    texts: Vec<Option<String>>,
    by_text: HashMap<Option<String>, u32>,
    /// What a name or a quarter of an hour has as key of a dimension.
    seen: HashMap<(Dimension, i64), u32>,
}

impl Keys<'_> {
    fn of(&mut self, ledger: &Ledger, response: &Response, part: usize, by: Dimension) -> u32 {
        let name = |name: Option<super::Name>| name.map_or(-1, i64::from);
        let cause = match by {
            Dimension::Day | Dimension::Week | Dimension::Month => {
                response.time.map_or(i64::MIN, |time| time.0.div_euclid(QUARTER))
            }
            Dimension::Session => name(Some(response.session)),
            Dimension::Project => name(response.project),
            Dimension::Model => name(response.model),
            Dimension::Subagent => name(response.agent),
            Dimension::Tool => name(response.tools.get(part).copied()),
            Dimension::Branch => name(response.branch),
            Dimension::Pr => return self.number(self.view.pr(ledger, response)),
        };
        if let Some(&key) = self.seen.get(&(by, cause)) {
            return key;
        }
        let key = self.number(self.view.key(ledger, response, part, by));
        self.seen.insert((by, cause), key);
        key
    }

    fn number(&mut self, text: Option<String>) -> u32 {
        *self.by_text.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() as u32 - 1
        })
    }
}

/// What all rows with the same first key weigh together.
type Weights = HashMap<Option<String>, std::cmp::Reverse<(u64, u64)>>;

fn firsts(rows: &[Row]) -> Weights {
    let mut sums: HashMap<Option<String>, (u64, u64)> = HashMap::new();
    for row in rows {
        let sum = sums.entry(row.keys[0].clone()).or_default();
        *sum = (sum.0 + row.totals.cost, sum.1 + row.totals.tokens.total());
    }
    sums.into_iter().map(|(key, sum)| (key, std::cmp::Reverse(sum))).collect()
}

impl View<'_> {
    fn key(
        &self,
        ledger: &Ledger,
        response: &Response,
        part: usize,
        by: Dimension,
    ) -> Option<String> {
        let name = |name: Option<super::Name>| name.map(|name| ledger.name(name).to_owned());
        let day = || self.calendar.day(response.time?);
        match by {
            Dimension::Day => Some(day()?.to_string()),
            Dimension::Week => Some(self.calendar.week(day()?).to_string()),
            Dimension::Month => Some(day()?.strftime("%Y-%m").to_string()),
            Dimension::Session => name(Some(response.session)),
            Dimension::Project => name(response.project),
            Dimension::Model => Some(plain_id(ledger.name(response.model?)).0),
            Dimension::Subagent => Some(match response.agent {
                None => "main".into(),
                Some(agent) => {
                    let id = ledger.name(agent);
                    self.agents.get(id).cloned().unwrap_or_else(|| "unknown".into())
                }
            }),
            Dimension::Tool => match response.tools.get(part) {
                Some(tool) => name(Some(*tool)),
                None => Some("answer".into()),
            },
            Dimension::Branch => name(response.branch),
            Dimension::Pr => self.pr(ledger, response),
        }
    }

    /// The next pull request that was linked in the session after the response, else the last one.
    fn pr(&self, ledger: &Ledger, response: &Response) -> Option<String> {
        let prs = self.prs.get(ledger.name(response.session))?;
        let next = prs.iter().find(|(time, _)| *time >= response.time);
        next.or(prs.last()).map(|(_, pr)| pr.clone())
    }
}

//! The table of prices: built in, and what a person lays over it.

use std::sync::OnceLock;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use transcript::time::Time;
use transcript::usage::Tokens;

use super::Factor;

/// The table as it was when this version was made.
const BUILT_IN: &str = include_str!("../prices.json");

/// All prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// The day the table was made.
    pub date: String,
    /// Where the prices come from: short name and what it is.
    pub sources: Vec<(String, String)>,
    /// The models.
    pub models: Vec<Model>,
}

/// A model and what it has cost when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its id, without a date.
    pub id: String,
    /// The ids it goes by.
    pub names: Vec<String>,
    /// `current`, `deprecated`, `retired`, as a sentence.
    pub status: Option<String>,
    /// The most tokens of a prompt.
    pub context_window: Option<u64>,
    /// Its prices, the earlier ones first.
    pub periods: Vec<Period>,
    /// In fast mode.
    pub fast: Option<Factor>,
    /// When the inference is bound to the US.
    pub us: Option<Factor>,
    /// In a batch.
    pub batch: Option<Factor>,
    /// A web search, in micro-dollars.
    pub web_search: Option<u64>,
    /// What else is to know.
    pub notes: Vec<String>,
    /// Short names of the sources.
    pub sources: Vec<String>,
}

/// Prices that were in force together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// From this day on.
    pub from: Option<Date>,
    /// Before this day.
    pub until: Option<Date>,
    /// The prices.
    pub rates: Rates,
    /// Other prices for every token of a prompt of more than so many tokens.
    pub long: Option<(u64, Rates)>,
}

/// Prices per token, in millionths of a micro-dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rates {
    /// Input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Whether some of them follow from the price of the input.
    pub is_by_rule: bool,
}

impl Rates {
    /// What is not given follows from the input: 0.1, 1.25 and 2 times.
    pub(super) fn filled(
        input: u64,
        output: u64,
        cache_read: Option<u64>,
        cache_write_5m: Option<u64>,
        cache_write_1h: Option<u64>,
    ) -> Self {
        let all = [cache_read, cache_write_5m, cache_write_1h];
        Self {
            input,
            output,
            cache_read: cache_read.unwrap_or(input / 10),
            cache_write_5m: cache_write_5m.unwrap_or(input + input / 4),
            cache_write_1h: cache_write_1h.unwrap_or(2 * input),
            is_by_rule: all.iter().any(Option::is_none),
        }
    }

    /// Whether the prices are the same, however they are known.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let all = |rates: &Self| {
            let Self { input, output, cache_read, cache_write_5m, cache_write_1h, .. } = *rates;
            [input, output, cache_read, cache_write_5m, cache_write_1h]
        };
        all(self) == all(other)
    }

    /// What tokens cost, in millionths of a micro-dollar.
    pub(super) fn of(&self, tokens: &Tokens) -> u128 {
        let cost = |count: u64, rate: u64| u128::from(count) * u128::from(rate);
        cost(tokens.input, self.input)
            + cost(tokens.output, self.output)
            + cost(tokens.cache_read, self.cache_read)
            + cost(tokens.cache_write_5m, self.cache_write_5m)
            + cost(tokens.cache_write_1h, self.cache_write_1h)
    }
}

impl Model {
    /// Whether it goes by this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.id == id || self.names.iter().any(|name| name == id)
    }

    /// The prices in force then; the latest if it is not known when.
    pub fn period(&self, time: Option<Time>) -> Option<&Period> {
        let Some(time) = time else { return self.periods.last() };
        let holds = |period: &&Period| {
            let after = period.from.is_none_or(|day| time >= midnight(day));
            after && period.until.is_none_or(|day| time < midnight(day))
        };
        self.periods.iter().find(holds)
    }
}

/// When a day begins, for prices.
pub(crate) fn midnight(day: Date) -> Time {
    let start = TimeZone::UTC.to_zoned(day.into());
    Time(start.map_or(i64::MAX, |start| start.timestamp().as_millisecond()))
}

/// Why a file is no table of prices.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It is no JSON of this form.
    #[error("not a table of prices: {0}")]
    Form(#[from] serde_json::Error),
    /// There is nothing in it that can be used.
    #[error("no prices of Claude models in it")]
    Empty,
    /// A price that can't be.
    #[error("{model}: {what}")]
    Value {
        /// The model.
        model: String,
        /// What is wrong.
        what: String,
    },
}

impl Prices {
    /// The table that is built in.
    pub fn built_in() -> &'static Self {
        static TABLE: OnceLock<Prices> = OnceLock::new();
        TABLE.get_or_init(|| Self::parse(BUILT_IN).expect("a test reads it"))
    }

    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let file: File = serde_json::from_str(text)?;
        let models: Result<Vec<Model>, TableError> = file.models.into_iter().map(model).collect();
        Ok(Self { date: file.date, sources: file.sources.into_iter().collect(), models: models? })
    }

    /// The table in its own form.
    pub fn to_json(&self) -> String {
        let dollars = |price: u64| price as f64 / 1e6;
        let rates = |rates: &Rates| FileRates {
            input: dollars(rates.input),
            output: dollars(rates.output),
            cache_read: Some(dollars(rates.cache_read)),
            cache_write_5m: Some(dollars(rates.cache_write_5m)),
            cache_write_1h: Some(dollars(rates.cache_write_1h)),
        };
        let factor = |factor: Option<Factor>| factor.map(|Factor(f)| f64::from(f) / 1000.0);
        let period = |period: &Period| FilePeriod {
            from: period.from.map(|day| day.to_string()),
            until: period.until.map(|day| day.to_string()),
            rates: rates(&period.rates),
            long_context: period
                .long
                .as_ref()
                .map(|(over, long)| FileLong { over: *over, rates: rates(long) }),
        };
        let model = |model: &Model| FileModel {
            id: model.id.clone(),
            names: model.names.clone(),
            status: model.status.clone(),
            context_window: model.context_window,
            periods: model.periods.iter().map(period).collect(),
            fast: factor(model.fast),
            us: factor(model.us),
            batch: factor(model.batch),
            web_search_per_1000: model.web_search.map(|micro| micro as f64 / 1000.0),
            notes: model.notes.clone(),
            sources: model.sources.clone(),
        };
        let file = File {
            date: self.date.clone(),
            sources: self.sources.iter().cloned().collect(),
            models: self.models.iter().map(model).collect(),
        };
        serde_json::to_string_pretty(&file).expect("memory takes everything")
    }

    /// Lays another table over this one: its models take the place of those with the same id, and
    /// none is lost.
    pub fn overlay(&mut self, other: Self) {
        for model in other.models {
            match self.models.iter_mut().find(|known| known.id == model.id) {
                Some(known) => *known = model,
                None => self.models.push(model),
            }
        }
        self.date = self.date.clone().max(other.date);
        for (name, text) in other.sources {
            if self.sources.iter().all(|(known, _)| *known != name) {
                self.sources.push((name, text));
            }
        }
    }

    /// The model of an id in a transcript. No id matches another model that only begins alike.
    pub fn match_id(&self, id: &str) -> Option<ModelMatch<'_>> {
        let exact = |id: &str| self.models.iter().find(|model| model.has(id));
        if let Some(model) = exact(id) {
            return Some(ModelMatch { model, is_by_rule: false, is_us_region: false });
        }
        let (plain, is_elsewhere) = plain_id(id);
        let model = exact(&plain).or_else(|| exact(undated(&plain)))?;
        let id = id.trim().to_lowercase();
        let is_us_region = id.split('/').any(|part| part.starts_with(US_REGION));
        Some(ModelMatch { model, is_by_rule: is_elsewhere, is_us_region })
    }

    /// The model of an id, and whether the match follows from a rule only.
    pub fn find(&self, id: &str) -> Option<(&Model, bool)> {
        self.match_id(id).map(|found| (found.model, found.is_by_rule))
    }
}

/// Ids of Amazon Bedrock whose inference stays in the US, which has a surcharge.
const US_REGION: &str = "us.anthropic.";

/// The row of the table for a model id.
#[derive(Debug, Clone, Copy)]
pub struct ModelMatch<'a> {
    /// The model.
    pub model: &'a Model,
    /// The id is another provider's, who may ask another price.
    pub is_by_rule: bool,
    /// The id itself binds inference to the US, as `inference_geo` does.
    pub is_us_region: bool,
}

/// An id without the marks of a context window or of another provider, and whether it is of
/// another provider, who may ask another price.
pub fn plain_id(id: &str) -> (String, bool) {
    let mut plain = id.trim().to_lowercase();
    if let Some(rest) = plain.strip_suffix("[1m]") {
        plain = rest.into();
    }
    let mut is_elsewhere = false;
    // `us.anthropic.claude-…`, `anthropic/claude-…`, `vertex_ai/claude-…`.
    let begin = plain.rfind("/claude-").max(plain.rfind(".claude-"));
    if let Some(at) = begin {
        is_elsewhere = &plain[..at] != "anthropic" || plain.as_bytes()[at] == b'.';
        plain.drain(..=at);
    }
    // `-v1:0` of Bedrock.
    if let Some(at) = plain.rfind("-v") {
        let version = plain[at + 2..].split_once(':').unwrap_or((&plain[at + 2..], "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if is_number(version.0) && is_number(version.1) {
            plain.truncate(at);
            is_elsewhere = true;
        }
    }
    (undotted(&plain), is_elsewhere)
}

/// `claude-opus-4.5`, as gateways write it, is `claude-opus-4-5`. Ids of other makers keep their
/// dots.
fn undotted(id: &str) -> String {
    if !id.starts_with("claude-") {
        return id.into();
    }
    let bytes = id.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    id.char_indices()
        .map(|(at, c)| match c {
            '.' if is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)) => '-',
            c => c,
        })
        .collect()
}

/// An id without `-20250929` or `@20250929`.
fn undated(id: &str) -> &str {
    let Some(at) = id.rfind(['-', '@']) else { return id };
    let date = &id[at + 1..];
    if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) { &id[..at] } else { id }
}

/// The file's form.
#[derive(Debug, Serialize, Deserialize)]
struct File {
    date: String,
    #[serde(default)]
    sources: std::collections::BTreeMap<String, String>,
    models: Vec<FileModel>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileModel {
    id: String,
    #[serde(default, rename = "match")]
    names: Vec<String>,
    status: Option<String>,
    context_window: Option<u64>,
    periods: Vec<FilePeriod>,
    fast: Option<f64>,
    us: Option<f64>,
    batch: Option<f64>,
    web_search_per_1000: Option<f64>,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FilePeriod {
    from: Option<String>,
    until: Option<String>,
    #[serde(flatten)]
    rates: FileRates,
    long_context: Option<FileLong>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FileLong {
    over: u64,
    #[serde(flatten)]
    rates: FileRates,
}

/// Dollars per million tokens, which are micro-dollars per token.
#[derive(Debug, Serialize, Deserialize)]
struct FileRates {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write_5m: Option<f64>,
    cache_write_1h: Option<f64>,
}

fn model(file: FileModel) -> Result<Model, TableError> {
    let id = file.id.clone();
    let wrong = |what: &str| TableError::Value { model: id.clone(), what: what.into() };
    if file.periods.is_empty() {
        return Err(wrong("no prices"));
    }
    let factor = |value: Option<f64>| match value {
        Some(value) if !(value > 0.0 && value <= 1000.0) => Err(wrong("a factor that can't be")),
        Some(value) => Ok(Some(Factor((value * 1000.0).round() as u32))),
        None => Ok(None),
    };
    let periods = file.periods.into_iter().map(|period| {
        let long = match period.long_context {
            Some(long) => Some((long.over, rates(&long.rates).ok_or_else(|| wrong(NO_PRICE))?)),
            None => None,
        };
        let rates = rates(&period.rates).ok_or_else(|| wrong(NO_PRICE))?;
        let day = |text: Option<String>| match text {
            Some(text) => text.parse().map(Some).map_err(|_| wrong("a day that can't be")),
            None => Ok(None),
        };
        Ok(Period { from: day(period.from)?, until: day(period.until)?, rates, long })
    });
    Ok(Model {
        periods: periods.collect::<Result<_, TableError>>()?,
        fast: factor(file.fast)?,
        us: factor(file.us)?,
        batch: factor(file.batch)?,
        // A thousand cost so many dollars: one costs that many thousandths.
        web_search: file.web_search_per_1000.map(|dollars| (dollars * 1000.0).round() as u64),
        id: file.id,
        names: file.names,
        status: file.status,
        context_window: file.context_window,
        notes: file.notes,
        sources: file.sources,
    })
}

const NO_PRICE: &str = "a price that can't be";

fn rates(file: &FileRates) -> Option<Rates> {
    let price = |dollars: f64| {
        let is_price = (0.0..1e6).contains(&dollars);
        is_price.then(|| (dollars * 1e6).round() as u64)
    };
    let given = |dollars: Option<f64>| match dollars {
        Some(dollars) => price(dollars).map(Some),
        None => Some(None),
    };
    Some(Rates::filled(
        price(file.input)?,
        price(file.output)?,
        given(file.cache_read)?,
        given(file.cache_write_5m)?,
        given(file.cache_write_1h)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_sound() {
        let prices = Prices::built_in();
        assert_eq!(prices.models.len(), 26);
        for model in &prices.models {
            assert!(model.names.contains(&model.id), "{}", model.id);
            for source in &model.sources {
                assert!(prices.sources.iter().any(|(name, _)| name == source), "{source}");
            }
            // No day without a price and none with two.
            assert!(model.periods.first().is_some_and(|p| p.from.is_none()), "{}", model.id);
            assert!(model.periods.last().is_some_and(|p| p.until.is_none()), "{}", model.id);
            for pair in model.periods.windows(2) {
                assert_eq!(pair[0].until, pair[1].from, "{}", model.id);
            }
            assert!(model.periods.iter().all(|p| !p.rates.is_by_rule), "{}", model.id);
        }
    }

    #[test]
    fn a_table_is_what_it_was_after_it_was_written() {
        let prices = Prices::built_in();
        assert_eq!(&Prices::parse(&prices.to_json()).expect("a table"), prices);
    }

    #[test]
    fn ids_of_all_kinds_are_found() {
        let prices = Prices::built_in();
        let found = |id: &str| prices.find(id).map(|(model, by_rule)| (model.id.as_str(), by_rule));
        assert_eq!(found("claude-sonnet-4-5"), Some(("claude-sonnet-4-5", false)));
        assert_eq!(found("claude-sonnet-4-5-20250929[1m]"), Some(("claude-sonnet-4-5", false)));
        assert_eq!(found("claude-opus-5-5@20261001"), Some(("claude-opus-5-5", false)));
        assert_eq!(found("anthropic/claude-opus-5-5"), Some(("claude-opus-5-5", false)));
        assert_eq!(
            found("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            Some(("claude-sonnet-4-5", true))
        );
        assert_eq!(found("vertex_ai/claude-haiku-4-5@20251001"), Some(("claude-haiku-4-5", true)));
        assert_eq!(found("claude-opus-4.5"), Some(("claude-opus-4-5", false)));
        assert_eq!(found("anthropic/claude-opus-4.5"), Some(("claude-opus-4-5", false)));
        assert_eq!(
            found("openrouter/anthropic/claude-3.7-sonnet"),
            Some(("claude-3-7-sonnet", true))
        );
        assert_eq!(found("claude-opus-4.55"), None);
        assert_eq!(found("claude-opus-5-55"), None);
        assert_eq!(found("\u{1b}[31mclaude-opus-5"), None);
    }

    #[test]
    fn an_overlay_adds_and_replaces_and_loses_nothing() {
        let mut prices = Prices::built_in().clone();
        let more = r#"{"date":"2027-01-01","models":[
            {"id":"claude-opus-5-5","periods":[{"input":1,"output":2}]},
            {"id":"local-model","periods":[{"input":0,"output":0}]}]}"#;
        prices.overlay(Prices::parse(more).expect("a table"));
        assert_eq!((prices.models.len(), prices.date.as_str()), (27, "2027-01-01"));
        let (model, _) = prices.find("claude-opus-5-5").expect("still there");
        let rates = &model.periods[0].rates;
        assert_eq!((rates.input, rates.cache_read, rates.is_by_rule), (1_000_000, 100_000, true));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for text in [
            "",
            "[]",
            r#"{"date":"x","models":[{"id":"m","periods":[]}]}"#,
            r#"{"date":"x","models":[{"id":"m","periods":[{"input":-1,"output":1}]}]}"#,
            r#"{"date":"x","models":[{"id":"m","periods":[{"input":1,"output":1}],"fast":0}]}"#,
            r#"{"date":"x","models":[{"id":"m","periods":[{"input":1,"output":1}],"speed":2}]}"#,
        ] {
            assert!(Prices::parse(text).is_err(), "{text}");
        }
    }
}

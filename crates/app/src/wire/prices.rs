//! Lines of `recount prices --json`.

use report::price::{Confidence, Factor, Model, Period, Rates};
use serde::Serialize;

/// One line: what a model costs in a period.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "price")]
pub struct Price<'a> {
    /// The model.
    model: &'a str,
    /// The ids it goes by.
    names: &'a [String],
    /// From this day on; `null` from the beginning.
    from: Option<String>,
    /// Before this day; `null` until now.
    until: Option<String>,
    /// Dollars per million tokens.
    usual: Rate,
    /// From where on every token of a request has other prices: tokens of the prompt.
    long_over: Option<u64>,
    /// Those prices.
    long: Option<Rate>,
    /// The factor of fast mode.
    fast: Option<f64>,
    /// The factor of inference in the US.
    us: Option<f64>,
    /// The factor of a batch.
    batch: Option<f64>,
    /// Dollars for a thousand web searches.
    web_search_per_1000: Option<f64>,
    /// The most tokens of a prompt.
    context_window: Option<u64>,
    /// Whether it is current, deprecated or retired, in words.
    status: Option<&'a str>,
    /// Who says so.
    sources: &'a [String],
}

/// Dollars per million tokens.
#[derive(Debug, Serialize)]
pub struct Rate {
    /// Input.
    input: f64,
    /// Output.
    output: f64,
    /// Read from the cache.
    cache_read: f64,
    /// Written to the cache for five minutes.
    cache_write_5m: f64,
    /// Written to the cache for an hour.
    cache_write_1h: f64,
}

impl From<&Rates> for Rate {
    fn from(rates: &Rates) -> Self {
        let dollars = |price: u64| price as f64 / 1e6;
        Self {
            input: dollars(rates.input),
            output: dollars(rates.output),
            cache_read: dollars(rates.cache_read),
            cache_write_5m: dollars(rates.cache_write_5m),
            cache_write_1h: dollars(rates.cache_write_1h),
        }
    }
}

impl<'a> Price<'a> {
    /// The line for a period.
    pub fn new(model: &'a Model, period: &Period) -> Self {
        let factor = |factor: Option<Factor>| factor.map(|factor| f64::from(factor.0) / 1000.0);
        Self {
            model: &model.id,
            names: &model.names,
            from: period.from.map(|day| day.to_string()),
            until: period.until.map(|day| day.to_string()),
            usual: (&period.rates).into(),
            long_over: period.long.as_ref().map(|(over, _)| *over),
            long: period.long.as_ref().map(|(_, rates)| rates.into()),
            fast: factor(model.fast),
            us: factor(model.us),
            batch: factor(model.batch),
            web_search_per_1000: model.web_search.map(|micro| micro as f64 / 1000.0),
            context_window: model.context_window,
            status: model.status.as_deref(),
            sources: &model.sources,
        }
    }
}

/// One line of `prices --check`: a model without a price of its own.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "unpriced")]
pub struct Unpriced<'a> {
    /// The model, as the transcripts have it.
    model: &'a str,
    /// `unpriced`, or `estimated` if it has the price of the model it seems to be.
    confidence: &'static str,
    /// Requests.
    requests: u64,
}

impl<'a> Unpriced<'a> {
    /// The line for a model.
    pub fn new(model: &'a str, confidence: Confidence, requests: u64) -> Self {
        Self { model, confidence: confidence.name(), requests }
    }
}

/// One line of `prices update`: a model that is new or has another price.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "price_updated")]
pub struct Updated<'a> {
    /// The model.
    model: &'a str,
    /// `new` or `price`.
    change: &'static str,
}

impl<'a> Updated<'a> {
    /// The line for a model.
    pub fn new(model: &'a str, change: &'static str) -> Self {
        Self { model, change }
    }
}

//! What a token costs: a table of dated prices, and how one request is priced with it.
//!
//! Money is counted in whole numbers. A price is kept in millionths of a micro-dollar per token,
//! which every published price is a whole number of; a request is rounded to micro-dollars once.

mod import;
mod table;

use transcript::time::Time;
use transcript::usage::{Mode, Tokens};

pub use import::Change;
pub(crate) use table::midnight;
pub use table::{Model, ModelMatch, Period, Prices, Rates, TableError, plain_id};

/// How far a figure can be trusted. The order is from sure to unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Tokens and price are what the files and the table say.
    Exact,
    /// The price follows from a rule, not from a row of its own.
    Estimated,
    /// The tokens are at least this many.
    LowerBound,
    /// There is no price.
    Unpriced,
}

impl Confidence {
    /// All of them, from sure to unknown.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Estimated, Self::LowerBound, Self::Unpriced];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Estimated => "estimated",
            Self::LowerBound => "lower_bound",
            Self::Unpriced => "unpriced",
        }
    }
}

/// A factor as a fraction of a thousand: prices are multiplied by 1.1 or 0.5, never by a third.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor(pub u32);

impl Factor {
    /// Nothing changes.
    pub const ONE: Self = Self(1000);
}

/// Why a request costs what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced<'a> {
    /// In micro-dollars.
    pub cost: u64,
    /// The model of the table.
    pub model: &'a Model,
    /// The row that was in force.
    pub period: &'a Period,
    /// The prices of that row that were taken: those of its long prompts, or the usual ones.
    pub rates: &'a Rates,
    /// Whether the prompt is longer than where other prices begin.
    pub is_long: bool,
    /// What the tokens' price is multiplied by, each with its name.
    pub factors: Vec<(&'static str, Factor)>,
    /// Micro-dollars of it that are for web searches.
    pub searches: u64,
    /// How sure the price is.
    pub confidence: Confidence,
}

impl Priced<'_> {
    /// What some of its tokens cost at the prices of the whole, in micro-dollars.
    pub fn share(&self, tokens: &Tokens) -> Option<u64> {
        cost(self.rates, &self.factors, tokens)
    }
}

/// Micro-dollars, rounded once; `None` if there is no number for it.
fn cost(rates: &Rates, factors: &[(&'static str, Factor)], tokens: &Tokens) -> Option<u64> {
    let mut cost = rates.of(tokens);
    let mut divisor: u128 = 1_000_000;
    for (_, Factor(thousandths)) in factors {
        cost *= u128::from(*thousandths);
        divisor *= 1000;
    }
    u64::try_from((cost + divisor / 2) / divisor).ok()
}

impl Prices {
    /// The price of one request; `None` if the model has none.
    pub fn price(
        &self,
        model: &str,
        time: Option<Time>,
        tokens: &Tokens,
        mode: Mode,
        web_searches: u32,
    ) -> Option<Priced<'_>> {
        self.match_id(model)?.price(time, tokens, mode, web_searches)
    }
}

/// The surcharge of inference in the US where the id asks for it and the table has none.
const US_REGION_FACTOR: Factor = Factor(1100);

impl<'a> ModelMatch<'a> {
    /// The price of one request.
    pub fn price(
        &self,
        time: Option<Time>,
        tokens: &Tokens,
        mode: Mode,
        web_searches: u32,
    ) -> Option<Priced<'a>> {
        let Self { model, is_by_rule, is_us_region } = *self;
        let period = model.period(time)?;
        let long = period.long.as_ref().filter(|(over, _)| tokens.prompt() > *over);
        let rates = long.map_or(&period.rates, |(_, rates)| rates);
        let mut confidence = Confidence::Exact;
        let mut doubt = |is_doubtful: bool| {
            if is_doubtful {
                confidence = Confidence::Estimated;
            }
        };
        doubt(is_by_rule || rates.is_by_rule || time.is_none() || mode.is_priority);
        let mut factors = Vec::new();
        // A surcharge that nobody has published leaves the price a guess; in the US a model
        // without one costs what it costs everywhere, unless its id names the region. The two ways
        // to say "in the US" are one surcharge.
        let us_default = if is_us_region { US_REGION_FACTOR } else { Factor::ONE };
        for (is_on, name, factor) in [
            (mode.is_fast, "fast", model.fast),
            (mode.is_us || is_us_region, "us", Some(model.us.unwrap_or(us_default))),
            (mode.is_batch, "batch", model.batch),
        ] {
            if is_on {
                doubt(factor.is_none());
                factors.extend(factor.filter(|f| *f != Factor::ONE).map(|f| (name, f)));
            }
        }
        doubt(web_searches > 0 && model.web_search.is_none());
        let searches = model.web_search.unwrap_or(0) * u64::from(web_searches);
        let cost = cost(rates, &factors, tokens)?.checked_add(searches)?;
        let is_long = long.is_some();
        Some(Priced { cost, model, period, rates, is_long, factors, searches, confidence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, output: u64, read: u64, short: u64, long: u64) -> Tokens {
        Tokens { input, output, cache_read: read, cache_write_5m: short, cache_write_1h: long }
    }

    fn cost(model: &str, day: &str, tokens: &Tokens, mode: Mode) -> Option<(u64, &'static str)> {
        let time = Time::parse(format!("{day}T12:00:00Z").as_bytes());
        let priced = Prices::built_in().price(model, time, tokens, mode, 0)?;
        Some((priced.cost, priced.confidence.name()))
    }

    const NOW: &str = "2026-11-01";

    #[test]
    fn each_class_has_its_price() {
        // Sonnet 4.5: 3, 15, 3.75, 6 and 0.3 dollars a million.
        let each = [
            (tokens(1000, 0, 0, 0, 0), 3_000),
            (tokens(0, 1000, 0, 0, 0), 15_000),
            (tokens(0, 0, 1000, 0, 0), 300),
            (tokens(0, 0, 0, 1000, 0), 3_750),
            (tokens(0, 0, 0, 0, 1000), 6_000),
        ];
        for (tokens, micro) in each {
            let seen = cost("claude-sonnet-4-5-20250929", NOW, &tokens, Mode::default());
            assert_eq!(seen, Some((micro, "exact")), "{tokens:?}");
        }
    }

    #[test]
    fn a_request_is_rounded_once() {
        // 0.3 + 0.3 micro-dollars are 0.6, which is 1; each for itself would be 0.
        let one = tokens(0, 0, 1, 0, 0);
        assert_eq!(cost("claude-sonnet-4-5", NOW, &one, Mode::default()), Some((0, "exact")));
        let two = tokens(0, 0, 2, 0, 0);
        assert_eq!(cost("claude-sonnet-4-5", NOW, &two, Mode::default()), Some((1, "exact")));
    }

    #[test]
    fn the_whole_prompt_decides_and_everything_takes_the_other_price() {
        // Haiku 5.5 over 100,000 tokens of prompt: 0.5 and 2.5 instead of 0.1 and 0.5.
        let at = tokens(40_000, 1000, 60_000, 0, 0);
        let over = tokens(40_001, 1000, 60_000, 0, 0);
        let haiku = |tokens| cost("claude-haiku-5-5", NOW, tokens, Mode::default());
        assert_eq!(haiku(&at), Some((4_000 + 500 + 600, "exact")));
        // 40,001 x 0.5 = 20,000.5; 1000 x 2.5 = 2,500; 60,000 x 0.05 = 3,000: 25,500.5 rounds up.
        assert_eq!(haiku(&over), Some((25_501, "exact")));
    }

    #[test]
    fn a_share_has_the_prices_of_the_whole() {
        // Haiku 5.5 over 100,000 tokens of prompt: 0.05 for what is read, 0.625 for what is
        // written; in the US 1.1 times that.
        let whole = tokens(0, 0, 90_000, 20_000, 0);
        let mode = Mode { is_us: true, ..Mode::default() };
        let prices = Prices::built_in();
        let time = Time::parse(b"2026-11-01T12:00:00Z");
        let priced = prices.price("claude-haiku-5-5", time, &whole, mode, 2).expect("priced");
        let share = |part| priced.share(&part);
        assert_eq!(share(tokens(0, 0, 0, 20_000, 0)), Some(13_750));
        assert_eq!(share(tokens(0, 0, 20_000, 0, 0)), Some(1_100));
    }

    #[test]
    fn the_row_in_force_at_that_time() {
        // Sonnet 4.6 had a higher price for long prompts until 2026-03-13.
        let long = tokens(300_000, 0, 0, 0, 0);
        let sonnet = |day| cost("claude-sonnet-4-6", day, &long, Mode::default());
        assert_eq!(sonnet("2026-03-12"), Some((1_800_000, "exact")));
        assert_eq!(sonnet("2026-03-13"), Some((900_000, "exact")));
    }

    #[test]
    fn factors_stack() {
        let million = tokens(1_000_000, 0, 0, 0, 0);
        let mode = |is_fast, is_us, is_batch| Mode { is_fast, is_us, is_batch, is_priority: false };
        let opus = |mode| cost("claude-opus-5-5", NOW, &million, mode);
        assert_eq!(opus(mode(false, false, false)), Some((4_000_000, "exact")));
        assert_eq!(opus(mode(true, false, false)), Some((8_000_000, "exact")));
        assert_eq!(opus(mode(true, true, false)), Some((8_800_000, "exact")));
        assert_eq!(opus(mode(true, true, true)), Some((4_400_000, "exact")));
        // No factor is known for it: what there is, is a guess. In the US it has no surcharge.
        let haiku = |mode| cost("claude-haiku-4-5", NOW, &million, mode);
        assert_eq!(haiku(mode(true, false, false)), Some((1_000_000, "estimated")));
        assert_eq!(haiku(mode(false, true, false)), Some((1_000_000, "exact")));
    }

    #[test]
    fn a_us_model_id_has_the_us_surcharge_once() {
        let million = tokens(1_000_000, 0, 0, 0, 0);
        let id = "us.anthropic.claude-opus-5-5-v1:0";
        let of = |id, is_us, is_batch| {
            cost(id, NOW, &million, Mode { is_us, is_batch, ..Mode::default() })
        };
        // 4 dollars a million, 1.1 times; half of that in a batch.
        assert_eq!(of(id, false, false), Some((4_400_000, "estimated")));
        assert_eq!(of(id, true, false), Some((4_400_000, "estimated")));
        assert_eq!(of(id, false, true), Some((2_200_000, "estimated")));
        // The table has no surcharge for Haiku 4.5 in the US; the id has one.
        let haiku = "us.anthropic.claude-haiku-4-5-20251001-v1:0";
        assert_eq!(of(haiku, false, false), Some((1_100_000, "estimated")));
        let elsewhere = "eu.anthropic.claude-opus-5-5-v1:0";
        assert_eq!(of(elsewhere, false, false), Some((4_000_000, "estimated")));
    }

    #[test]
    fn searches_come_on_top_of_the_factors() {
        let mode = Mode { is_batch: true, ..Mode::default() };
        let time = Some(Time(1_790_000_000_000));
        let million = tokens(1_000_000, 0, 0, 0, 0);
        let prices = Prices::built_in();
        let priced = prices.price("claude-opus-5-5", time, &million, mode, 3).expect("priced");
        assert_eq!((priced.cost, priced.searches), (2_000_000 + 30_000, 30_000));
    }

    #[test]
    fn no_model_has_the_price_of_another() {
        let one = tokens(1_000_000, 0, 0, 0, 0);
        let of = |model| cost(model, NOW, &one, Mode::default());
        assert_eq!(of("claude-opus-5"), Some((5_000_000, "exact")));
        assert_eq!(of("claude-opus-5-5"), Some((4_000_000, "exact")));
        assert_eq!(of("claude-opus-5-6"), None);
        assert_eq!(of("claude-sonnet-4-9-20300101"), None);
        assert_eq!(of("gpt-9"), None);
        assert_eq!(of(""), None);
        // Retired ones keep theirs.
        assert_eq!(of("claude-opus-4-20250514"), Some((15_000_000, "exact")));
    }
}

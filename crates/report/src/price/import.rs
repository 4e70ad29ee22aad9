//! Tables of others: LiteLLM's and genai-prices', as far as they are about Claude.
//!
//! What they say is added, never taken away: a model that is not known gets a row, a price that
//! has changed gets a new period from the day it was seen, and everything before stays.

use jiff::civil::Date;
use serde_json::{Map, Value};

use super::Factor;
use super::table::{Model, Period, Prices, Rates, TableError};

/// What an update did to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It was not known.
    New,
    /// Its price is another one from some day on.
    Price,
}

impl Change {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Price => "price",
        }
    }
}

/// A price as another table has it.
struct Told {
    id: String,
    /// From this day on, if the table says so.
    from: Option<Date>,
    rates: Rates,
    long: Option<(u64, Rates)>,
    web_search: Option<u64>,
    batch: Option<Factor>,
    context_window: Option<u64>,
}

impl Prices {
    /// Adds what another table says, in our form, LiteLLM's or genai-prices'. Prices without a
    /// date are in force from `today`.
    pub fn update(
        &mut self,
        text: &str,
        today: Date,
        source: &str,
    ) -> Result<Vec<(String, Change)>, TableError> {
        let told = read(text, today)?;
        let mut changes: Vec<(String, Change)> = Vec::new();
        for told in told {
            if let Some(change) = self.take(&told, today, source) {
                changes.retain(|(id, _)| *id != told.id);
                changes.push((told.id, change));
            }
        }
        changes.sort();
        self.date = self.date.clone().max(today.to_string());
        Ok(changes)
    }

    fn take(&mut self, told: &Told, today: Date, source: &str) -> Option<Change> {
        let period =
            |from| Period { from, until: None, rates: told.rates.clone(), long: told.long.clone() };
        let known = self.models.iter_mut().find(|model| model.has(&told.id));
        let Some(model) = known else {
            self.models.push(Model {
                id: told.id.clone(),
                names: vec![told.id.clone()],
                status: None,
                context_window: told.context_window,
                periods: vec![period(None)],
                fast: None,
                us: None,
                batch: told.batch,
                web_search: told.web_search,
                notes: Vec::new(),
                sources: vec![source.into()],
            });
            return Some(Change::New);
        };
        let last = model.periods.last_mut()?;
        let is_same = last.rates.is_like(&told.rates)
            && match (&last.long, &told.long) {
                (Some(a), Some(b)) => a.0 == b.0 && a.1.is_like(&b.1),
                // Others forget that a higher price has ended, or that there was one.
                _ => true,
            };
        let from = told.from.unwrap_or(today);
        if is_same || last.from.is_some_and(|known| from <= known) {
            return None;
        }
        last.until = Some(from);
        model.periods.push(period(Some(from)));
        model.sources.push(source.into());
        Some(Change::Price)
    }
}

fn read(text: &str, today: Date) -> Result<Vec<Told>, TableError> {
    let all: Vec<Told> = match serde_json::from_str(text)? {
        Value::Object(file) if file.contains_key("models") => own(text, today)?,
        Value::Object(mut file) => match file.remove("providers") {
            Some(Value::Array(providers)) => genai(&providers),
            _ => file.iter().filter_map(|(id, model)| litellm(id, model.as_object()?)).collect(),
        },
        Value::Array(providers) => genai(&providers),
        _ => Vec::new(),
    };
    match all.is_empty() {
        true => Err(TableError::Empty),
        false => Ok(all),
    }
}

/// Our own form: its latest prices.
fn own(text: &str, today: Date) -> Result<Vec<Told>, TableError> {
    let prices = Prices::parse(text)?;
    let told = prices.models.into_iter().filter_map(|model| {
        let last = model.periods.into_iter().next_back()?;
        Some(Told {
            id: model.id,
            from: last.from.or(Some(today)),
            rates: last.rates,
            long: last.long,
            web_search: model.web_search,
            batch: model.batch,
            context_window: model.context_window,
        })
    });
    Ok(told.collect())
}

/// A price in millionths of a micro-dollar, from dollars per million tokens.
fn price(dollars: f64) -> Option<u64> {
    (0.0..1e6).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
}

/// `{"claude-…": {"input_cost_per_token": 3e-06, …}}`.
fn litellm(id: &str, model: &Map<String, Value>) -> Option<Told> {
    let is_own = model.get("litellm_provider").and_then(Value::as_str) == Some("anthropic");
    if !is_own || !id.starts_with("claude-") {
        return None;
    }
    // Dollars per token.
    let cost = |key: &str| price(model.get(key)?.as_f64()? * 1e6);
    let rates = |end: &str| -> Option<Rates> {
        let input = cost(&format!("input_cost_per_token{end}"))?;
        let write = cost(&format!("cache_creation_input_token_cost{end}"));
        let read = cost(&format!("cache_read_input_token_cost{end}"));
        let hour = match end {
            "" => cost("cache_creation_input_token_cost_above_1hr"),
            _ => cost(&format!("cache_creation_input_token_cost_above_1hr{end}")),
        };
        let output = cost(&format!("output_cost_per_token{end}"))?;
        Some(Rates::filled(input, output, read, write, hour))
    };
    let long = [100_000, 128_000, 200_000]
        .into_iter()
        .find_map(|over: u64| Some((over, rates(&format!("_above_{}k_tokens", over / 1000))?)));
    let batch = cost("input_cost_per_token_batches").zip(cost("input_cost_per_token"));
    let search = model.get("search_context_cost_per_query");
    let search = search.and_then(|s| s.get("search_context_size_medium")).and_then(Value::as_f64);
    Some(Told {
        id: id.into(),
        from: None,
        rates: rates("")?,
        long,
        web_search: search.map(|dollars| (dollars * 1e6).round() as u64),
        batch: batch
            .filter(|(_, full)| *full > 0)
            .map(|(half, full)| Factor((half * 1000 / full) as u32)),
        context_window: model.get("max_input_tokens").and_then(Value::as_u64),
    })
}

/// `[{"id": "anthropic", "models": [{"id": …, "prices": {…}}]}]`, prices in dollars per million
/// tokens, with a base and tiers, and in several periods.
fn genai(providers: &[Value]) -> Vec<Told> {
    let own = providers.iter().filter(|p| p["id"] == "anthropic");
    let models = own.flat_map(|provider| provider["models"].as_array().into_iter().flatten());
    let mut all = Vec::new();
    for model in models {
        let Some(id) = model["id"].as_str().filter(|id| id.starts_with("claude-")) else {
            continue;
        };
        let periods: Vec<(Option<Date>, &Value)> = match &model["prices"] {
            Value::Array(periods) => periods
                .iter()
                .map(|period| {
                    let from = period["constraint"]["start_date"].as_str();
                    (from.and_then(|day| day.parse().ok()), &period["prices"])
                })
                .collect(),
            prices => vec![(None, prices)],
        };
        for (from, prices) in periods {
            all.extend(genai_period(id, from, prices, model["context_window"].as_u64()));
        }
    }
    all
}

fn genai_period(id: &str, from: Option<Date>, prices: &Value, window: Option<u64>) -> Option<Told> {
    let number =
        |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok()).and_then(price);
    let base = |key: &str| {
        let value = &prices[key];
        number(value).or_else(|| number(&value["base"]))
    };
    let tier = |key: &str| number(&prices[key]["tiers"][0]["price"]);
    let over = prices["input_mtok"]["tiers"][0]["start"].as_u64();
    let rates = |of: &dyn Fn(&str) -> Option<u64>| -> Option<Rates> {
        let (input, output) = (of("input_mtok")?, of("output_mtok")?);
        let (read, write) = (of("cache_read_mtok"), of("cache_write_mtok"));
        Some(Rates::filled(input, output, read, write, of("cache_write_1h_mtok")))
    };
    Some(Told {
        id: id.into(),
        from,
        rates: rates(&base)?,
        long: over.and_then(|over| Some((over, rates(&tier)?))),
        web_search: prices["web_searches_kcount"]
            .as_f64()
            .map(|dollars| (dollars * 1000.0).round() as u64),
        batch: None,
        context_window: window,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    fn rates_of(prices: &Prices, id: &str) -> Vec<(Option<Date>, u64, u64)> {
        let (model, _) = prices.find(id).expect("known");
        model.periods.iter().map(|p| (p.from, p.rates.input, p.rates.cache_write_1h)).collect()
    }

    #[test]
    fn litellm_adds_models_and_new_prices() {
        let mut prices = Prices::built_in().clone();
        let text = r#"{"sample_spec":{"input_cost_per_token":0},
            "gpt-9":{"litellm_provider":"openai","input_cost_per_token":1e-06,"output_cost_per_token":1e-06},
            "bedrock/claude-opus-5-5":{"litellm_provider":"bedrock","input_cost_per_token":9e-06,"output_cost_per_token":9e-06},
            "claude-opus-5-5":{"litellm_provider":"anthropic","input_cost_per_token":3e-06,"output_cost_per_token":1.5e-05,"cache_creation_input_token_cost":3.75e-06,"cache_read_input_token_cost":3e-07,"cache_creation_input_token_cost_above_1hr":6e-06},
            "claude-haiku-4-5":{"litellm_provider":"anthropic","input_cost_per_token":1e-06,"output_cost_per_token":5e-06,"cache_creation_input_token_cost":1.25e-06,"cache_read_input_token_cost":1e-07,"cache_creation_input_token_cost_above_1hr":2e-06},
            "claude-new-6":{"litellm_provider":"anthropic","input_cost_per_token":1e-05,"output_cost_per_token":5e-05,"input_cost_per_token_above_200k_tokens":2e-05,"output_cost_per_token_above_200k_tokens":7.5e-05}}"#;
        let changes = prices.update(text, day("2026-12-01"), "litellm").expect("a table");
        let of = |id: &str, change| (id.to_owned(), change);
        assert_eq!(
            changes,
            [of("claude-new-6", Change::New), of("claude-opus-5-5", Change::Price)]
        );
        assert_eq!(prices.models.len(), 27);
        // What it cost before stays.
        assert_eq!(
            rates_of(&prices, "claude-opus-5-5"),
            [(None, 4_000_000, 8_000_000), (Some(day("2026-12-01")), 3_000_000, 6_000_000)]
        );
        let (new, _) = prices.find("claude-new-6").expect("added");
        let long = new.periods[0].long.as_ref().expect("a higher price");
        assert_eq!(
            (long.0, long.1.input, new.periods[0].rates.is_by_rule),
            (200_000, 20_000_000, true)
        );
        // Again, nothing is new.
        assert_eq!(prices.update(text, day("2026-12-02"), "litellm").expect("a table"), []);
    }

    #[test]
    fn genai_prices_have_days() {
        let mut prices = Prices::built_in().clone();
        let text = r#"[{"id":"openai","models":[{"id":"claude-no","prices":{"input_mtok":1,"output_mtok":1}}]},
            {"id":"anthropic","models":[{"id":"claude-sonnet-5","prices":[
              {"prices":{"input_mtok":2,"output_mtok":10,"cache_write_mtok":2.5,"cache_read_mtok":0.2,"cache_write_1h_mtok":4}},
              {"constraint":{"start_date":"2027-01-01"},"prices":{"input_mtok":{"base":3,"tiers":[{"start":200000,"price":6}]},"output_mtok":{"base":15,"tiers":[{"start":200000,"price":22.5}]},"cache_write_mtok":3.75,"cache_read_mtok":0.3,"cache_write_1h_mtok":6}}]}]}]"#;
        let changes = prices.update(text, day("2026-12-01"), "genai").expect("a table");
        assert_eq!(changes, [("claude-sonnet-5".to_owned(), Change::Price)]);
        assert_eq!(
            rates_of(&prices, "claude-sonnet-5"),
            [(None, 2_000_000, 4_000_000), (Some(day("2027-01-01")), 3_000_000, 6_000_000)]
        );
    }

    #[test]
    fn what_has_no_prices_is_refused() {
        for text in
            ["", "[]", "{}", "3", r#"{"gpt":{"litellm_provider":"openai"}}"#, "{\"models\":1}"]
        {
            let mut prices = Prices::built_in().clone();
            assert!(prices.update(text, day("2026-12-01"), "x").is_err(), "{text}");
            assert_eq!(&prices, Prices::built_in());
        }
    }
}

//! Tokens and cost, grouped.

use std::path::PathBuf;

use report::usage::{Calendar, Dimension, Filter, Tally, View};

use crate::error::HistoryError;
use crate::recount::Recount;

/// Which responses to count, and how to group them.
pub struct UsageQuery {
    /// What to group by.
    pub by: Vec<Dimension>,
    /// Which responses.
    pub filter: Filter,
    /// How times become days and weeks.
    pub calendar: Calendar,
    /// A price table that is laid over the built-in one.
    pub prices: Option<PathBuf>,
}

/// Tokens and cost.
pub struct UsageAnswer {
    /// The groups and their sums.
    pub tally: Tally,
    /// The date of the price table.
    pub prices_date: String,
}

impl Recount {
    /// Tokens and cost of all responses, each counted once.
    pub fn usage(&mut self, query: &UsageQuery) -> Result<UsageAnswer, HistoryError> {
        let prices = self.load_prices(query.prices.as_deref())?;
        let (agents, prs) = self.usage_links(&query.by)?;
        let UsageQuery { by, filter, calendar, .. } = query;
        let view = View { by, filter, calendar, agents: &agents, prs: &prs };
        Ok(UsageAnswer {
            tally: self.tally_usage(&prices, &view)?,
            prices_date: prices.date.clone(),
        })
    }
}

//! Five-hour blocks: how much was used since the hour in which work began.
//!
//! Limits of subscriptions are counted in such blocks. Where they lie is not in the files; this is
//! when blocks would begin and end if the first request of each opened it.

use transcript::time::Time;

use super::{Filter, Ledger, Totals};

const HOUR: i64 = 3_600_000;
/// How long a block lasts.
pub const LENGTH: i64 = 5 * HOUR;

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The full hour (UTC) in which its first request was made.
    pub start: Time,
    /// Its first request.
    pub first: Time,
    /// Its last request.
    pub last: Time,
    /// Whether it is still open.
    pub is_open: bool,
    /// The sums.
    pub totals: Totals,
}

impl Block {
    /// When it ends.
    pub fn end(&self) -> Time {
        Time(self.start.0 + LENGTH)
    }

    /// Milliseconds between its first and last request.
    pub fn active_ms(&self) -> i64 {
        self.last.0 - self.first.0
    }

    /// Micro-dollars an hour, and tokens a minute, while it was in use; `None` if that was but a
    /// moment.
    pub fn rate(&self) -> Option<(u64, u64)> {
        const LEAST: i64 = 60_000;
        let ms = u128::try_from(self.active_ms()).ok().filter(|ms| *ms >= LEAST as u128)?;
        let money = u128::from(self.totals.cost) * HOUR as u128 / ms;
        let tokens = u128::from(self.totals.tokens.total()) * LEAST as u128 / ms;
        Some((u64::try_from(money).ok()?, u64::try_from(tokens).ok()?))
    }

    /// Micro-dollars and tokens at its end if it goes on like this; only for an open one.
    pub fn projection(&self, now: Time) -> Option<(u64, u64)> {
        let (money, tokens) = self.rate().filter(|_| self.is_open)?;
        let left = u128::try_from(self.end().0 - now.0).ok()?;
        let more = |rate: u64, per: i64| u64::try_from(u128::from(rate) * left / per as u128).ok();
        Some((
            self.totals.cost + more(money, HOUR)?,
            self.totals.tokens.total() + more(tokens, 60_000)?,
        ))
    }
}

/// The blocks of everything that a filter lets through, in their order. Responses without a time
/// are in none.
pub fn blocks(ledger: &Ledger, filter: &Filter, now: Time) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for response in ledger.responses.iter().filter(|r| filter.holds(ledger, r)) {
        let Some(time) = response.time else { continue };
        let is_in = |block: &&mut Block| {
            time < Time(block.start.0 + LENGTH) && time.0 - block.last.0 < LENGTH
        };
        let block = match blocks.last_mut().filter(is_in) {
            Some(block) => block,
            None => {
                let start = Time(time.0.div_euclid(HOUR) * HOUR);
                let totals = Totals::default();
                blocks.push(Block { start, first: time, last: time, is_open: false, totals });
                blocks.last_mut().expect("was just pushed")
            }
        };
        block.last = block.last.max(time);
        block.totals.add_whole(response);
    }
    if let Some(last) = blocks.last_mut() {
        last.is_open = now < last.end() && now.0 - last.last.0 < LENGTH;
    }
    blocks
}

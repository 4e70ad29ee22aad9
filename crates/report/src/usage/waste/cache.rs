//! Caches that broke: a response reads the prompt of the one it hangs on from the cache, unless
//! something came between. What it had to write again costs more than what it would have read.

use hashbrown::HashMap;
use transcript::usage::Tokens;

use super::{Detail, Loss, Placed, Stage, first_request};
use crate::price::plain_id;
use crate::usage::Response;
use transcript::usage::trace::CacheMiss;

/// How long a cache lives, in milliseconds.
const SHORT: i64 = 5 * 60 * 1000;
const LONG: i64 = 60 * 60 * 1000;

/// Fewer tokens than this are lost whenever Claude Code moves its marks.
const LEAST: u64 = 2048;

/// Why a cache was of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The talk was compacted, or old results were emptied.
    Compaction,
    /// Another model was asked.
    Model,
    /// The cache was for five minutes, and more passed.
    Idle5m,
    /// The cache was for an hour, and more passed.
    Idle1h,
    /// The tools were others, as the API says.
    Tools,
    /// The system prompt was another, as the API says.
    System,
    /// Earlier messages were others, as the API says.
    Messages,
    /// Nothing tells.
    Unknown,
}

impl Cause {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Model => "model-change",
            Self::Idle5m => "idle-5m",
            Self::Idle1h => "idle-1h",
            Self::Tools => "tools-changed",
            Self::System => "system-changed",
            Self::Messages => "messages-changed",
            Self::Unknown => "unknown",
        }
    }
}

/// The responses that were asked for and had to write again what the one before had cached.
pub(super) fn breaks(stage: &Stage<'_>) -> Vec<Loss> {
    let mut before = Before { stage, near: HashMap::new() };
    let lives = Lives::new(stage, &mut before);
    let mut losses = Vec::new();
    for (at, placed) in stage.placed.iter().enumerate() {
        if stage.holds(placed.response)
            && let Some(last) = before.of(at)
        {
            losses.extend(look(stage, &lives, last, at));
        }
    }
    losses
}

fn look(stage: &Stage<'_>, lives: &Lives, last: usize, at: usize) -> Option<Loss> {
    let (was, is) = (&stage.placed[last], &stage.placed[at]);
    let cached = cached(was.response);
    let request = first_request(is.response);
    let lost = cached.checked_sub(request.cache_read)?;
    if lost < LEAST || lost * 10 < cached || request.cache_write() * 2 < lost {
        return None;
    }
    let written = lost.min(request.cache_write());
    let long = u128::from(written) * u128::from(request.cache_write_1h);
    let long = (long / u128::from(request.cache_write())) as u64;
    let again =
        Tokens { cache_write_5m: written - long, cache_write_1h: long, ..Tokens::default() };
    let read = Tokens { cache_read: written, ..Tokens::default() };
    let (cost, confidence) = stage.share(is.response, &request, [&again, &read]);
    let idle_ms = asked(is).zip(asked(was)).map(|(is, was)| is - was);
    let cause = cause(stage, [was, is], idle_ms, lives.of[last]);
    let detail = Detail::CacheBreak { cause, cached, read: request.cache_read, idle_ms };
    Some(Loss { tokens: Some(written), cost, confidence, ..stage.loss(is, is.node, detail) })
}

/// What is in the cache after a response.
fn cached(response: &Response) -> u64 {
    let request = response.parts.last().unwrap_or(&response.tokens);
    request.cache_read + request.cache_write()
}

/// When a request was made: its response hangs on what was said last.
fn asked(placed: &Placed<'_>) -> Option<i64> {
    let step = placed.trace.step_at(placed.node);
    let up = step.up.and_then(|up| placed.trace.step_at(up).time);
    up.or(step.time).map(|time| time.0)
}

fn cause(
    stage: &Stage<'_>,
    [was, is]: [&Placed<'_>; 2],
    idle_ms: Option<i64>,
    life: Option<i64>,
) -> Cause {
    let trace = is.trace;
    let is_between = |node: &u32| (was.node..is.node).contains(node);
    if trace.step_at(was.node).segment != trace.step_at(is.node).segment
        || trace.emptied.iter().any(is_between)
    {
        return Cause::Compaction;
    }
    match trace.misses.get(&is.node) {
        Some(CacheMiss::Model) => return Cause::Model,
        Some(CacheMiss::Tools) => return Cause::Tools,
        Some(CacheMiss::System) => return Cause::System,
        Some(CacheMiss::Messages) => return Cause::Messages,
        None => {}
    }
    let model = |placed: &Placed<'_>| {
        placed.response.model.map(|model| plain_id(stage.scene.ledger.name(model)).0)
    };
    if let (Some(was), Some(is)) = (model(was), model(is))
        && was != is
    {
        return Cause::Model;
    }
    match (life, idle_ms) {
        (Some(SHORT), Some(SHORT..)) => Cause::Idle5m,
        // Longer than any cache lives.
        (_, Some(LONG..)) => Cause::Idle1h,
        _ => Cause::Unknown,
    }
}

/// The response that each entry stands below.
struct Before<'a> {
    stage: &'a Stage<'a>,
    near: HashMap<(u32, u32), Option<usize>>,
}

impl Before<'_> {
    /// The response that another one hangs on.
    fn of(&mut self, at: usize) -> Option<usize> {
        let placed = self.stage.placed[at];
        let file = placed.response.file;
        let mut path = Vec::new();
        let mut node = placed.trace.step_at(placed.node).up;
        let found = loop {
            let Some(here) = node else { break None };
            let first = placed.trace.step_at(here).response;
            if let Some(&found) = self.stage.at.get(&(file, first)).filter(|found| **found != at) {
                break Some(found);
            }
            if let Some(known) = self.near.get(&(file, here)) {
                break *known;
            }
            path.push(here);
            node = placed.trace.step_at(here).up;
        };
        self.near.extend(path.into_iter().map(|node| ((file, node), found)));
        found
    }
}

/// How long the cache after each response lives; `None` if nothing was ever written to it.
struct Lives {
    of: Vec<Option<i64>>,
}

impl Lives {
    fn new(stage: &Stage<'_>, before: &mut Before<'_>) -> Self {
        let mut of: Vec<Option<i64>> = Vec::with_capacity(stage.placed.len());
        for (at, placed) in stage.placed.iter().enumerate() {
            let tokens = &placed.response.tokens;
            let own = (tokens.cache_write() > 0).then_some({
                if tokens.cache_write_1h >= tokens.cache_write_5m { LONG } else { SHORT }
            });
            // They are in the order of time.
            let earlier = || before.of(at).and_then(|last| of.get(last).copied().flatten());
            let life = own.or_else(earlier);
            of.push(life);
        }
        Self { of }
    }
}

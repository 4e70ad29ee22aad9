//! What was paid for and led to nothing, or was paid for twice: branches that were left,
//! compactions, broken caches, files read again, calls made again.
//!
//! The kinds overlap: a branch that was left may have a broken cache in it. So each has a sum of
//! its own, and there is none over all.

mod cache;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use transcript::time::Time;
use transcript::usage::Tokens;

use super::{Filter, Ledger, Name, Response, Totals};
use crate::price::{Confidence, Prices};
use transcript::usage::trace::{CompactionTrace, Trace};

pub use cache::Cause;

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The responses.
    pub ledger: &'a Ledger,
    /// What they are priced with.
    pub prices: &'a Prices,
    /// What their files tell, by the ledger's number of the file.
    pub traces: &'a HashMap<u32, Trace>,
    /// The subagents that were started on branches that were left, each with its session.
    pub left_agents: &'a HashSet<(Name, Name)>,
    /// Which responses.
    pub filter: &'a Filter,
}

/// A kind of waste.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Responses on branches that were left.
    Branch,
    /// Compactions, and the cache that was built again after them.
    Compaction,
    /// Caches that were written again.
    CacheBreak,
    /// Files that were read again.
    Reread,
    /// Calls and requests that were made again.
    Retry,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Branch, Self::Compaction, Self::CacheBreak, Self::Reread, Self::Retry];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Compaction => "compaction",
            Self::CacheBreak => "cache-break",
            Self::Reread => "re-read",
            Self::Retry => "retry",
        }
    }
}

/// What was done again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    /// A call, as it was, after it had failed and before anything was changed.
    Call {
        /// The tool.
        tool: String,
        /// Whether it failed again.
        has_failed: bool,
    },
    /// A request, after the API had failed.
    Request {
        /// How long Claude Code waited for all of them.
        wait_ms: u64,
    },
    /// A request whose answer was dropped.
    Answer,
}

impl Retry {
    /// The word for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Call { .. } => "call",
            Self::Request { .. } => "api-error",
            Self::Answer => "answer",
        }
    }
}

/// What there is to say of one loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// The branches of a session that were left.
    Branch {
        /// How many.
        branches: u64,
        /// A person's prompts on them.
        prompts: u64,
    },
    /// A compaction.
    Compaction {
        /// `auto` or `manual`.
        trigger: Option<Box<str>>,
        /// Tokens before it; an estimate if they are those of the response before.
        before: Option<(u64, Confidence)>,
        /// Tokens after it; an estimate if they are those of the prompt after.
        after: Option<(u64, Confidence)>,
        /// What the segment that ended with it had cost.
        ended: Box<Totals>,
        /// What the segment that began with it has cost.
        begun: Box<Totals>,
    },
    /// A cache that was written again.
    CacheBreak {
        /// Why.
        cause: Cause,
        /// Tokens that were in the cache.
        cached: u64,
        /// Tokens of them that were read.
        read: u64,
        /// Milliseconds between the two requests.
        idle_ms: Option<i64>,
    },
    /// A file that was read again.
    Reread {
        /// The file.
        path: String,
        /// Claude Code noticed, and gave a line instead of the file.
        is_noticed: bool,
    },
    /// Something that was done again.
    Retry(Retry),
}

impl Detail {
    /// Its kind.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Branch { .. } => Kind::Branch,
            Self::Compaction { .. } => Kind::Compaction,
            Self::CacheBreak { .. } => Kind::CacheBreak,
            Self::Reread { .. } => Kind::Reread,
            Self::Retry(_) => Kind::Retry,
        }
    }

    /// Tokens that a compaction dropped.
    pub fn dropped(&self) -> Option<(u64, Confidence)> {
        match self {
            Self::Compaction { before: Some(before), after: Some(after), .. } => {
                Some((before.0.checked_sub(after.0)?, before.1.max(after.1)))
            }
            _ => None,
        }
    }
}

/// One loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The session.
    pub session: String,
    /// The subagent, if it was one.
    pub agent: Option<String>,
    /// The file, by the ledger's number.
    pub file: u32,
    /// The entry in the file where it can be seen.
    pub entry: u32,
    /// When.
    pub time: Option<Time>,
    /// Requests, compactions, reads or attempts.
    pub count: u64,
    /// Tokens that it took; `None` where nothing tells.
    pub tokens: Option<u64>,
    /// Micro-dollars; `None` where nothing tells or there is no price.
    pub cost: Option<u64>,
    /// How sure tokens and cost are.
    pub confidence: Confidence,
    /// What it was.
    pub detail: Detail,
}

/// The sum over losses of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    /// The kind.
    pub kind: Kind,
    /// Losses.
    pub losses: u64,
    /// What they count.
    pub count: u64,
    /// Tokens.
    pub tokens: u64,
    /// Micro-dollars; `None` if none has a price.
    pub cost: Option<u64>,
    /// How sure: the least sure of them, and a lower bound if some have no price.
    pub confidence: Confidence,
}

/// The sum of each kind; the losses that are given are all there are.
pub fn sums(losses: &[Loss]) -> Vec<Sum> {
    let sum = |kind: Kind| {
        let of: Vec<&Loss> = losses.iter().filter(|l| l.detail.kind() == kind).collect();
        let priced: Vec<u64> = of.iter().filter_map(|loss| loss.cost).collect();
        let is_unpriced = of.iter().any(|loss| loss.confidence == Confidence::Unpriced);
        let sure = of.iter().map(|l| l.confidence).filter(|c| *c != Confidence::Unpriced).max();
        let confidence = match (is_unpriced, priced.is_empty()) {
            (true, true) => Confidence::Unpriced,
            (true, false) => Confidence::LowerBound,
            (false, _) => sure.unwrap_or(Confidence::Exact),
        };
        Sum {
            kind,
            losses: of.len() as u64,
            count: of.iter().map(|loss| loss.count).sum(),
            tokens: of.iter().filter_map(|loss| loss.tokens).sum(),
            cost: (!priced.is_empty()).then(|| priced.iter().sum()),
            confidence,
        }
    };
    Kind::ALL.map(sum).into()
}

/// All losses: by kind, the worst first.
pub fn waste(scene: &Scene<'_>) -> Vec<Loss> {
    let stage = Stage::new(scene);
    let mut losses = stage.branches();
    losses.extend(stage.compactions());
    losses.extend(cache::breaks(&stage));
    losses.extend(stage.rereads());
    losses.extend(stage.retries());
    losses.sort_by_cached_key(|loss| {
        let worst = Reverse((loss.cost, loss.tokens, loss.count));
        (loss.detail.kind(), worst, loss.session.clone(), loss.file, loss.entry)
    });
    losses
}

/// A response with its place in its file.
#[derive(Clone, Copy)]
struct Placed<'a> {
    response: &'a Response,
    trace: &'a Trace,
    node: u32,
}

/// The scene, with the responses by their places.
struct Stage<'a> {
    scene: &'a Scene<'a>,
    placed: Vec<Placed<'a>>,
    at: HashMap<(u32, u32), usize>,
}

impl<'a> Stage<'a> {
    fn new(scene: &'a Scene<'a>) -> Self {
        let (mut placed, mut at) = (Vec::new(), HashMap::new());
        for response in scene.ledger.responses.iter().filter(|r| !r.is_advisor) {
            let Some(trace) = scene.traces.get(&response.file) else { continue };
            let Some(node) = trace.entry_at(response.offset) else { continue };
            at.insert((response.file, node), placed.len());
            placed.push(Placed { response, trace, node });
        }
        Self { scene, placed, at }
    }

    fn holds(&self, response: &Response) -> bool {
        self.scene.filter.holds(self.scene.ledger, response)
    }

    /// The response that an entry of a file is a part of, if the file owns it.
    fn of(&self, file: u32, trace: &Trace, node: u32) -> Option<Placed<'a>> {
        let first = trace.step_at(node).response;
        self.at.get(&(file, first)).map(|at| self.placed[*at])
    }

    fn loss(&self, placed: &Placed<'_>, node: u32, detail: Detail) -> Loss {
        let Placed { response, trace, .. } = placed;
        let ledger = self.scene.ledger;
        let step = trace.step_at(node);
        Loss {
            session: ledger.name(response.session).into(),
            agent: response.agent.map(|agent| ledger.name(agent).into()),
            file: response.file,
            entry: step.number,
            time: step.time,
            count: 1,
            tokens: None,
            cost: None,
            confidence: response.confidence,
            detail,
        }
    }

    /// A loss that no response stands for.
    fn beside(&self, file: u32, trace: &Trace, node: u32, detail: Detail) -> Option<Loss> {
        let step = trace.step_at(node);
        let session = trace.session.as_deref().unwrap_or_default();
        let filter = self.scene.filter;
        filter.holds_beside(step.time, trace.project.as_deref(), session).then(|| Loss {
            session: session.into(),
            agent: None,
            file,
            entry: step.number,
            time: step.time,
            count: 1,
            tokens: None,
            cost: None,
            confidence: Confidence::Exact,
            detail,
        })
    }

    /// Whether a response stands on a branch that was left, or its subagent was started on one.
    fn is_left(&self, placed: &Placed<'_>) -> bool {
        let step = placed.trace.step_at(placed.node);
        let Response { session, agent, .. } = placed.response;
        let is_agent_left =
            agent.is_some_and(|agent| self.scene.left_agents.contains(&(*session, agent)));
        (step.is_abandoned && step.branch.is_some()) || is_agent_left
    }

    /// One loss for each session.
    fn branches(&self) -> Vec<Loss> {
        let mut sums: HashMap<u32, (Totals, Vec<Placed<'a>>)> = HashMap::new();
        for placed in self.placed.iter().filter(|p| self.holds(p.response) && self.is_left(p)) {
            let (totals, all) = sums.entry(placed.response.session).or_default();
            totals.add_whole(placed.response);
            all.push(*placed);
        }
        let loss = |(totals, all): (Totals, Vec<Placed<'a>>)| {
            // What stands in the session's own file shows where it parted.
            let first = all.iter().min_by_key(|p| (p.response.agent, p.response.file, p.node));
            let first = first.expect("each has one");
            let files: HashSet<u32> = all.iter().map(|p| p.response.file).collect();
            let (mut branches, mut prompts) = (0, 0);
            for trace in files.iter().filter_map(|file| self.scene.traces.get(file)) {
                let left = trace.prompts.iter().map(|(node, _)| trace.step_at(*node));
                let left = left.filter(|step| step.is_abandoned && step.branch.is_some());
                let left = left.filter(|step| self.scene.filter.period.holds(step.time));
                prompts += left.count() as u64;
                let on = trace.steps.iter().filter(|step| step.is_abandoned);
                let on: HashSet<u32> = on.filter_map(|step| step.branch).collect();
                branches += on.len() as u64;
            }
            let detail = Detail::Branch { branches, prompts };
            Loss {
                count: totals.requests,
                tokens: Some(totals.tokens.total()),
                cost: totals.cost(),
                confidence: totals.confidence(),
                ..self.loss(first, first.node, detail)
            }
        };
        sums.into_values().map(loss).collect()
    }

    fn compactions(&self) -> Vec<Loss> {
        let mut segments: HashMap<(u32, u32), (Totals, Vec<Placed<'a>>)> = HashMap::new();
        for placed in &self.placed {
            if let Some(segment) = placed.trace.step_at(placed.node).segment {
                let (totals, all) = segments.entry((placed.response.file, segment)).or_default();
                totals.add_whole(placed.response);
                all.push(*placed);
            }
        }
        let mut losses = Vec::new();
        for (&file, trace) in self.scene.traces {
            for compaction in &trace.compactions {
                let side = |segment: u32| segments.get(&(file, segment));
                let (ended, begun) = (side(compaction.segment - 1), side(compaction.segment));
                losses.extend(self.compaction(file, trace, compaction, [ended, begun]));
            }
        }
        losses
    }

    fn compaction(
        &self,
        file: u32,
        trace: &Trace,
        compaction: &CompactionTrace,
        sides: [Option<&(Totals, Vec<Placed<'a>>)>; 2],
    ) -> Option<Loss> {
        let [ended, begun] = sides;
        let last = ended.and_then(|(_, all)| all.iter().max_by_key(|p| p.node));
        let first = begun.and_then(|(_, all)| all.iter().min_by_key(|p| p.node));
        let before = last.map(|p| p.response.tokens.total());
        let after = first.map(|p| first_request(p.response).prompt());
        let totals =
            |side: Option<&(Totals, _)>| side.map_or_else(Totals::default, |s| s.0.clone());
        let detail = Detail::Compaction {
            trigger: compaction.trigger.clone(),
            before: sure(compaction.before, before),
            after: sure(compaction.after, after),
            ended: Box::new(totals(ended)),
            begun: Box::new(totals(begun)),
        };
        let Some(first) = first else { return self.beside(file, trace, compaction.node, detail) };
        if !self.holds(first.response) {
            return None;
        }
        let request = first_request(first.response);
        let written = Tokens {
            cache_write_5m: request.cache_write_5m,
            cache_write_1h: request.cache_write_1h,
            ..Tokens::default()
        };
        let (cost, confidence) = self.share(first.response, &request, [&written, &NOTHING]);
        Some(Loss {
            tokens: Some(written.total()),
            cost,
            confidence,
            ..self.loss(first, compaction.node, detail)
        })
    }

    fn rereads(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (&file, trace) in self.scene.traces {
            for read in &trace.rereads {
                let Some(placed) = self.of(file, trace, read.node) else { continue };
                if self.holds(placed.response) {
                    let path = read.path.clone();
                    let detail = Detail::Reread { path, is_noticed: read.is_noticed };
                    losses.push(Loss {
                        // Nobody counted them; a token has about four characters.
                        tokens: read.chars.map(|chars| chars.div_ceil(4)),
                        confidence: Confidence::Estimated,
                        ..self.loss(&placed, read.node, detail)
                    });
                }
            }
        }
        losses
    }

    fn retries(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (&file, trace) in self.scene.traces {
            for again in &trace.again {
                let Some(placed) = self.of(file, trace, again.node) else { continue };
                if self.holds(placed.response) {
                    losses.push(self.again(&placed, again));
                }
            }
            losses.extend(self.api_errors(file, trace));
        }
        let is_dropped = |placed: &&Placed<'_>| {
            let step = placed.trace.step_at(placed.node);
            step.is_abandoned && step.branch.is_none() && self.holds(placed.response)
        };
        for placed in self.placed.iter().filter(is_dropped) {
            losses.push(Loss {
                tokens: Some(placed.response.tokens.total()),
                cost: placed.response.cost,
                ..self.loss(placed, placed.node, Detail::Retry(Retry::Answer))
            });
        }
        losses
    }

    /// A call has its share of the response that made it.
    fn again(&self, placed: &Placed<'_>, again: &transcript::usage::trace::RepeatedCall) -> Loss {
        let response = placed.response;
        let of = response.tools.len().max(1) as u64;
        let retry = Retry::Call { tool: again.tool.clone(), has_failed: again.has_failed };
        let is_share = of > 1 && response.confidence == Confidence::Exact;
        Loss {
            tokens: Some(response.tokens.total() / of),
            cost: response.cost.map(|cost| cost / of),
            confidence: if is_share { Confidence::Estimated } else { response.confidence },
            ..self.loss(placed, again.node, Detail::Retry(retry))
        }
    }

    /// The failures of the API in a file, together.
    fn api_errors(&self, file: u32, trace: &Trace) -> Option<Loss> {
        let session = trace.session.as_deref().unwrap_or_default();
        let is_asked = |node: u32| {
            let time = trace.step_at(node).time;
            self.scene.filter.holds_beside(time, trace.project.as_deref(), session)
        };
        let all: Vec<_> = trace.api_errors.iter().filter(|e| is_asked(e.node)).collect();
        let wait_ms = all.iter().map(|error| error.wait_ms).sum();
        let detail = Detail::Retry(Retry::Request { wait_ms });
        let loss = self.beside(file, trace, all.first()?.node, detail)?;
        Some(Loss { count: all.len() as u64, ..loss })
    }

    /// What some tokens of a request cost more than others would have, at the prices of the whole.
    fn share(
        &self,
        response: &Response,
        request: &Tokens,
        [more, less]: [&Tokens; 2],
    ) -> (Option<u64>, Confidence) {
        let model = response.model.map_or("", |model| self.scene.ledger.name(model));
        let priced = self.scene.prices.price(model, response.time, request, response.mode, 0);
        let cost = priced.and_then(|p| p.share(more)?.checked_sub(p.share(less)?));
        let confidence = if cost.is_some() { response.confidence } else { Confidence::Unpriced };
        (cost, confidence)
    }
}

/// What was recorded, else what can be seen beside it.
fn sure(recorded: Option<u64>, seen: Option<u64>) -> Option<(u64, Confidence)> {
    let recorded = recorded.map(|tokens| (tokens, Confidence::Exact));
    recorded.or(seen.map(|tokens| (tokens, Confidence::Estimated)))
}

const NOTHING: Tokens =
    Tokens { input: 0, output: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };

/// The tokens of the first request of a response.
fn first_request(response: &Response) -> Tokens {
    *response.parts.first().unwrap_or(&response.tokens)
}

//! What a file claims beside its responses, and the calls of which it has no response at all.

use crate::entry::message::BlockKind;
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::json::Raw;
use crate::layout::Problem;
use crate::line::LineReader;
use crate::session::{Call, Session};
use crate::source::Source;
use crate::time::Time;
use crate::tool::ToolForm;
use crate::usage::Tokens;
use hashbrown::{HashMap, HashSet};

/// Who claims something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claimant {
    /// `cost-state` of a session. Since about 2.1.250.
    CostState,
    /// `result` of stream-json.
    Result,
    /// `costUSD` of the lines, until about 1.0.9.
    Lines,
    /// The call of a subagent.
    AgentCall,
    /// `stats-cache.json`.
    Stats,
}

impl Claimant {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CostState => "cost-state",
            Self::Result => "result",
            Self::Lines => "line-cost",
            Self::AgentCall => "agent-call",
            Self::Stats => "stats-cache",
        }
    }
}

/// What a claim says of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelClaim {
    /// The model, as written.
    pub model: String,
    /// Its tokens; those written to the cache are not told apart, and stand with the short ones.
    pub tokens: Tokens,
    /// In micro-dollars.
    pub cost: Option<u64>,
}

/// A sum that Claude Code kept while the session ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningSum {
    /// Who says it.
    pub source: Claimant,
    /// The number of the entry that says it.
    pub entry: u32,
    /// When it was written, or the last moment before.
    pub time: Option<Time>,
    /// In micro-dollars.
    pub cost: Option<u64>,
    /// What it says of each model.
    pub models: Vec<ModelClaim>,
}

/// What the call of a subagent says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTotal {
    /// The number of the entry that says it.
    pub entry: u32,
    /// The entry, by its key.
    pub key: Key,
    /// When it was written.
    pub time: Option<Time>,
    /// The call that started the subagent.
    pub call: Option<Key>,
    /// The subagent's id.
    pub agent: Option<String>,
    /// All tokens, as one sum.
    pub total: u64,
    /// The tokens by class, where they are given.
    pub usage: Option<Tokens>,
    /// Where its responses stand, in order, if they are inside the same file (1.0.x).
    pub inline: Vec<u64>,
}

/// Calls of Claude Code that leave no usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hidden {
    /// A title was made.
    Title,
    /// What had happened was told when the person came back.
    Recap,
    /// The talk was summed up.
    Compaction,
    /// The web was searched, or a page was read.
    Web,
    /// A side question (`/btw`), of which only the history of prompts knows.
    SideQuestion,
}

impl Hidden {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Title, Self::Recap, Self::Compaction, Self::Web, Self::SideQuestion];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Recap => "recap",
            Self::Compaction => "compaction",
            Self::Web => "web",
            Self::SideQuestion => "side-question",
        }
    }
}

/// One call that left no usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenCall {
    /// What the call was for.
    pub kind: Hidden,
    /// The entry that shows it, by its key.
    pub key: Option<Key>,
    /// When it was written.
    pub time: Option<Time>,
    /// The most tokens it can have taken, where that is known.
    pub most: Option<u64>,
}

/// What a file claims.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// The session it names.
    pub session: Option<String>,
    /// Sums that were kept while the session ran.
    pub running: Vec<RunningSum>,
    /// Sums of subagents.
    pub agents: Vec<AgentTotal>,
    /// Calls without a response in the file.
    pub hidden: Vec<HiddenCall>,
}

impl ModelClaim {
    /// A claim of input, output, read from the cache and written to it.
    pub fn new(model: &str, counts: [Option<u64>; 4], cost: Option<u64>) -> Self {
        // More than this is no count, and would not add up.
        const MOST: u64 = 1 << 40;
        let [input, output, cache_read, cache_write_5m] =
            counts.map(|count| count.map_or(0, |count| count.min(MOST)));
        let tokens = Tokens { input, output, cache_read, cache_write_5m, cache_write_1h: 0 };
        Self { model: model.into(), tokens, cost }
    }
}

impl Told {
    /// Reads what the session of a file tells.
    pub fn of(session: &Session, source: &Source) -> Result<Self, Problem> {
        let told = Self {
            session: session.id().map(|id| id.to_string()),
            hidden: hidden(session),
            ..Self::default()
        };
        let inline = inline(session);
        let mut gather = Gather { session, told, inline, last: None, titles: HashSet::new() };
        let mut lines = LineReader::new(source.reader(0), 0);
        let failed = |error| Problem::new(source.path(), error);
        while let Some(line) = lines.next_line().map_err(failed)? {
            Entry::read(line, &mut Vec::new(), |entry| gather.entry(&entry));
        }
        Ok(gather.told)
    }

    /// Adds side questions. Their times are those of another file, whose order to the client's
    /// sums is not known.
    pub fn add_side_questions(&mut self, count: usize) {
        let one = HiddenCall { kind: Hidden::SideQuestion, key: None, time: None, most: None };
        self.hidden.extend(std::iter::repeat_n(one, count));
    }

    /// Leaves out what another file owns.
    pub fn forget(&mut self, is_copy: impl Fn(Key) -> bool) {
        self.agents.retain(|agent| !is_copy(agent.key));
        self.hidden.retain(|call| !call.key.is_some_and(&is_copy));
    }
}

/// Those that the session itself knows of.
fn hidden(session: &Session) -> Vec<HiddenCall> {
    let nodes = session.nodes();
    let own = session.compactions().iter().filter(|c| session.counts(c.node()));
    let compactions = own.map(|compaction| HiddenCall {
        kind: Hidden::Compaction,
        key: Some(nodes[compaction.node()].key),
        time: nodes[compaction.node()].time(),
        // It read what was there before, and wrote what was there after.
        most: compaction.pre_tokens.zip(compaction.post_tokens).map(|(a, b)| a.saturating_add(b)),
    });
    let is_web = |call: &&Call| {
        ToolForm::of(session.tool(call)).asks_web() && call.result().is_some() && !call.is_error
    };
    let web = session.own_calls().filter(is_web).map(|call| HiddenCall {
        kind: Hidden::Web,
        key: Some(nodes[call.node()].key),
        time: nodes[call.node()].time(),
        most: None,
    });
    compactions.chain(web).collect()
}

/// Where the answers of subagents inside the file stand, by the calls that started them.
fn inline(session: &Session) -> HashMap<Key, Vec<u64>> {
    let started = session.own_calls().filter_map(|call| Some((call.task()?, call.key())));
    let calls: HashMap<Key, Key> = started.collect();
    let inline = session.inline_agents().iter();
    let roots: HashMap<usize, Key> =
        inline.filter_map(|(root, task)| Some((*root as usize, *calls.get(task)?))).collect();
    let mut known: HashMap<usize, Option<Key>> = HashMap::new();
    let mut all: HashMap<Key, Vec<u64>> = HashMap::new();
    let is_said = |at: &usize| session.nodes()[*at].is_sidechain();
    for at in (0..session.nodes().len()).filter(|at| !roots.is_empty() && is_said(at)) {
        let (mut path, mut up) = (Vec::new(), Some(at));
        let call = loop {
            let Some(node) = up else { break None };
            if let Some(call) = roots.get(&node) {
                break Some(*call);
            }
            if let Some(call) = known.get(&node) {
                break *call;
            }
            path.push(node);
            up = session.parent(node);
        };
        known.extend(path.into_iter().map(|node| (node, call)));
        if let Some(call) = call.filter(|_| session.nodes()[at].role.is_model()) {
            all.entry(call).or_default().push(session.nodes()[at].offset);
        }
    }
    all
}

struct Gather<'a> {
    session: &'a Session,
    told: Told,
    inline: HashMap<Key, Vec<u64>>,
    last: Option<Time>,
    titles: HashSet<String>,
}

impl Gather<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        let nodes = self.session.nodes();
        let Ok(at) = nodes.binary_search_by_key(&entry.offset, |node| node.offset) else { return };
        if !self.session.counts(at) {
            return;
        }
        self.last = self.last.max(entry.time);
        let (number, key) = (nodes[at].number, nodes[at].key);
        let call = |kind| HiddenCall { kind, key: Some(key), time: entry.time, most: None };
        match entry.kind {
            Kind::User => self.agent(entry, number, key),
            Kind::System if entry.is_subtype("away_summary") => {
                self.told.hidden.push(call(Hidden::Recap));
            }
            _ if entry.is_type("ai-title") => {
                // It is written again each time the session is opened.
                let title = entry.string("aiTitle").map(|title| title.into_owned());
                if title.is_some_and(|title| self.titles.insert(title)) {
                    let time = entry.time.or(self.last);
                    self.told.hidden.push(HiddenCall { key: None, time, ..call(Hidden::Title) });
                }
            }
            _ if entry.is_type("cost-state") => {
                let cost = entry.field("totalCostUSD");
                self.running(Claimant::CostState, entry, number, cost);
            }
            _ if entry.is_type("result") => {
                let cost = entry.field("total_cost_usd");
                self.running(Claimant::Result, entry, number, cost);
            }
            _ => {}
        }
    }

    fn running(&mut self, source: Claimant, entry: &Entry<'_>, number: u32, cost: Option<Raw<'_>>) {
        let models = entry.field("modelUsage").filter(|models| models.is_object());
        let models: Vec<ModelClaim> = models
            .into_iter()
            .flat_map(|models| models.fields())
            .map(|(model, usage)| {
                let names = [
                    "inputTokens",
                    "outputTokens",
                    "cacheReadInputTokens",
                    "cacheCreationInputTokens",
                ];
                let counts = names.map(|name| usage.get(name).and_then(Raw::u64));
                ModelClaim::new(&model.text(), counts, usage.get("costUSD").and_then(micro))
            })
            .collect();
        let cost = cost.and_then(micro);
        if cost.is_none() && models.is_empty() {
            return;
        }
        let time = entry.time.or(self.last);
        self.told.running.push(RunningSum { source, entry: number, time, cost, models });
    }

    fn agent(&mut self, entry: &Entry<'_>, number: u32, key: Key) {
        let Some(result) = entry.tool_result.filter(|result| result.is_object()) else { return };
        let Some(total) = result.get("totalTokens").and_then(Raw::u64) else { return };
        let block = entry.blocks().iter().find(|block| block.kind == BlockKind::ToolResult);
        let call = block.and_then(|block| block.id).map(Key::of_str);
        let inline = call.and_then(|call| self.inline.remove(&call)).unwrap_or_default();
        self.told.agents.push(AgentTotal {
            entry: number,
            key,
            time: entry.time,
            call,
            agent: result.string("agentId").map(|agent| agent.into_owned()),
            total,
            usage: result.some("usage").map(Tokens::read),
            inline,
        });
    }
}

/// A claim in dollars, as micro-dollars.
fn micro(dollars: Raw<'_>) -> Option<u64> {
    micro_dollars(dollars.f64()?)
}

/// Dollars as micro-dollars; `None` for what no sum can be.
pub fn micro_dollars(dollars: f64) -> Option<u64> {
    (0.0..1e9).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
}

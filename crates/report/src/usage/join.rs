//! Claims of all files into responses: who owns each, what was the most that was said of it, and
//! what it cost.

use hashbrown::{HashMap, HashSet};
use transcript::id::Key;
use transcript::layout::FileKind;
use transcript::time::Time;
use transcript::usage::{Claim, Tokens};

use super::{Input, Ledger, Name, Response};
use crate::price::{Confidence, ModelMatch, Prices};

/// Claude Code before this wrote what it knew while the response was still coming.
const WRITES_FINAL_USAGE: [u64; 3] = [2, 1, 97];

/// A claim by its place: which input, which of its claims.
type Place = (u32, u32);

/// The claims of one response, with their places.
type Group<'a> = [(Place, &'a Claim)];

/// Hands on every response as soon as it is known, with the ledger so far for its names. Mostly
/// only one file claims a response. Those are taken file by file; only what several claim is held
/// until all files were opened: there may be more claims than there is room for.
pub(super) fn join(
    inputs: Vec<Input>,
    prices: &Prices,
    take: impl FnMut(&Ledger, Response),
) -> Ledger {
    let mut places: Vec<(u128, Place)> = Vec::new();
    for (file, input) in inputs.iter().enumerate() {
        let keys = input.claims.keys().iter().enumerate();
        places.extend(keys.map(|(at, key)| (key.0, (file as u32, at as u32))));
    }
    places.sort_unstable();
    let ranks = Ranks::new(&inputs, &places);
    places =
        places.chunk_by(|a, b| a.0 == b.0).filter(|s| s.len() > 1).flatten().copied().collect();
    let shared: HashSet<Place> = places.iter().map(|(_, place)| *place).collect();
    let mut kept: HashMap<Place, Claim> = HashMap::with_capacity(shared.len());
    let mut books = Books {
        cut: Vec::new(),
        names: Vec::new(),
        known: Known { prices, models: Vec::new() },
        inputs: &inputs,
        ranks,
        ledger: Ledger::default(),
        client_output: HashMap::new(),
        counted_output: HashMap::new(),
        take,
    };
    for (file, input) in (0..).zip(&inputs) {
        for (at, claim) in (0..).zip(books.open(input)) {
            match shared.contains(&(file, at)) {
                true => drop(kept.insert((file, at), claim)),
                false => books.response(&[((file, at), &claim)]),
            }
        }
    }
    let mut group: Vec<(Place, &Claim)> = Vec::new();
    for same in places.chunk_by(|a, b| a.0 == b.0) {
        group.clear();
        group.extend(same.iter().filter_map(|(_, place)| Some((*place, kept.get(place)?))));
        // What a call tells of its subagent is told again in the subagent's own file, if there is
        // one.
        if group.iter().any(|(_, claim)| !claim.is_progress) {
            group.retain(|(_, claim)| !claim.is_progress);
        }
        books.response(&group);
    }
    books.finish()
}

/// The last response of a file, if nothing says why it stopped: more of it may have been on its
/// way.
fn cut(list: &[Claim]) -> Option<Key> {
    list.last().filter(|last| !last.has_stopped).map(|last| last.key)
}

/// What is known while the ledger is written.
struct Books<'a, F> {
    inputs: &'a [Input],
    /// The response of each file that may have been cut.
    cut: Vec<Option<Key>>,
    /// The names of each file as names of the ledger.
    names: Vec<Box<[Name]>>,
    ranks: Ranks,
    known: Known<'a>,
    ledger: Ledger,
    /// Output of each session as the client counts it, and as its files have it.
    client_output: HashMap<Name, u64>,
    counted_output: HashMap<Name, u64>,
    take: F,
}

impl<F: FnMut(&Ledger, Response)> Books<'_, F> {
    /// The claims of the next file.
    fn open(&mut self, input: &Input) -> Vec<Claim> {
        let mut claims = input.claims.open().unwrap_or_default();
        for (_, oddity) in claims.oddities() {
            *self.ledger.oddities.entry(oddity).or_default() += 1;
        }
        self.names.push(claims.names().map(|name| self.ledger.intern(name)).collect());
        for sum in claims.client_sums() {
            let session = self.ledger.intern(claims.name(sum.session).unwrap_or_default());
            let known = self.client_output.entry(session).or_default();
            *known = sum.output.max(*known);
        }
        self.cut.push(cut(claims.list()));
        claims.take()
    }

    fn response(&mut self, group: &Group<'_>) {
        let Self { inputs, cut, ranks, names, known, ledger, take, counted_output, .. } = self;
        let named = |file: u32, number: u32| names[file as usize].get(number as usize).copied();
        let owner = group.iter().copied().min_by_key(|(place, claim)| {
            let time = claim.first.time.map_or(i64::MAX, |time| time.0);
            let is_former = inputs[place.0 as usize].is_former;
            (is_former, claim.is_sidechain, time, ranks.of(place.0), *place)
        });
        let Some((owner, first)) = owner else { return };
        let claimed = group.iter().copied().filter(|(_, claim)| claim.has_usage);
        let most = claimed.max_by_key(|(place, claim)| {
            let time = claim.place.time.map_or(i64::MIN, |time| time.0);
            let is_main = !claim.is_usage_of_sidechain;
            (claim.tokens.output, is_main, claim.tokens.total(), time, *place == owner)
        });
        let Some((most, usage)) = most else { return };
        let session_of = |place: Place, claim: &Claim, ledger: &mut Ledger| {
            named(place.0, claim.session).unwrap_or_else(|| {
                let by_path = inputs[place.0 as usize].kind.session();
                ledger.intern(by_path.map_or("", |id| id.as_str()))
            })
        };
        let session = session_of(owner, first, ledger);
        // What a file held before it was rewritten is no replay of what it holds now.
        let is_replay =
            |(place, _): &&(Place, &Claim)| *place != owner && !inputs[place.0 as usize].is_former;
        for (place, claim) in group.iter().filter(is_replay) {
            let session = session_of(*place, claim, ledger);
            ledger.replayed.entry(session).or_default().push(first.key);
        }
        let tools = tools(group, named);
        let agent = named(owner.0, first.agent).or_else(|| match &inputs[owner.0 as usize].kind {
            FileKind::Agent { agent, .. } => Some(ledger.intern(agent.as_str())),
            _ => None,
        });
        let project = named(owner.0, first.project);
        let branch = named(owner.0, first.branch);
        let model = named(most.0, usage.model).or_else(|| named(owner.0, first.model));
        let version = named(most.0, usage.version).map(|version| ledger.name(version));
        let is_cut = cut[most.0 as usize] == Some(usage.key)
            && group.iter().all(|(_, claim)| !claim.has_stopped);
        let is_least = is_cut || usage.has_dropped || is_placeholder(version, usage.has_stopped);
        let mut response = Response {
            key: first.key,
            time: first.first.time,
            file: owner.0,
            offset: first.first.offset,
            taken: (most.0, usage.place.offset),
            session,
            agent,
            project,
            branch,
            model,
            tokens: usage.tokens,
            mode: usage.mode,
            web_searches: usage.web_searches,
            parts: parts(usage),
            is_advisor: false,
            tools,
            cost: None,
            confidence: Confidence::Exact,
            replays: group.iter().filter(is_replay).count() as u32,
            has_source: group.iter().any(|(place, _)| inputs[place.0 as usize].has_source),
            claimed_cost: group.iter().find_map(|(_, claim)| claim.claimed_cost),
        };
        for iteration in &usage.iterations {
            let Some(model) = iteration.advisor else { continue };
            let model = named(most.0, model);
            let mut advisor = Response {
                model,
                tokens: iteration.tokens,
                parts: Box::default(),
                tools: Box::default(),
                web_searches: 0,
                is_advisor: true,
                claimed_cost: None,
                ..response.clone()
            };
            known.settle(&mut advisor, ledger, is_least);
            take(ledger, advisor);
        }
        known.settle(&mut response, ledger, is_least);
        *counted_output.entry(session).or_default() += response.tokens.output;
        take(ledger, response);
    }

    /// The ledger, when all files were read. The client's sum of a fork begins with that of the
    /// session it was forked from, so it says nothing of the fork alone.
    fn finish(mut self) -> Ledger {
        let counted = |session: &Name| self.counted_output.get(session).copied().unwrap_or(0);
        let more =
            self.client_output.iter().filter(|(session, output)| **output > counted(session));
        let is_fork = |session: &Name| self.ledger.replayed.contains_key(session);
        let understated = more.map(|(session, _)| *session).filter(|session| !is_fork(session));
        self.ledger.understated = understated.collect();
        self.ledger
    }
}

/// The table, and which of its models the names of the ledger are.
struct Known<'a> {
    prices: &'a Prices,
    models: Vec<Option<Option<ModelMatch<'a>>>>,
}

impl Known<'_> {
    fn settle(&mut self, response: &mut Response, ledger: &Ledger, is_least: bool) {
        let model = response.model.and_then(|name| {
            let at = name as usize;
            self.models.resize(self.models.len().max(at + 1), None);
            let prices = self.prices;
            *self.models[at].get_or_insert_with(|| prices.match_id(ledger.name(name)))
        });
        let (cost, confidence) = price(model, response.time, response, is_least);
        (response.cost, response.confidence) = (cost, confidence);
    }
}

/// Cost and confidence of a response under a table.
pub(super) fn price(
    model: Option<ModelMatch<'_>>,
    time: Option<Time>,
    response: &Response,
    is_least: bool,
) -> (Option<u64>, Confidence) {
    let whole = [response.tokens];
    let parts = if response.parts.is_empty() { &whole[..] } else { &response.parts };
    let mut cost = 0u64;
    let mut confidence = Confidence::Exact;
    for (at, tokens) in parts.iter().enumerate() {
        let searches = if at == 0 { response.web_searches } else { 0 };
        let priced = model.and_then(|found| found.price(time, tokens, response.mode, searches));
        let Some(priced) = priced else { return (None, Confidence::Unpriced) };
        let Some(sum) = cost.checked_add(priced.cost) else {
            return (None, Confidence::Unpriced);
        };
        cost = sum;
        confidence = confidence.max(priced.confidence);
    }
    let least = if is_least { Confidence::LowerBound } else { Confidence::Exact };
    (Some(cost), confidence.max(least))
}

/// The requests that a response is made of, if they make up all of it.
fn parts(claim: &Claim) -> Box<[Tokens]> {
    let own = claim.iterations.iter().filter(|i| i.advisor.is_none());
    let parts: Vec<Tokens> = own.map(|i| i.tokens).collect();
    let mut sum = Tokens::default();
    parts.iter().for_each(|part| sum += *part);
    let same = |a: &Tokens, b: &Tokens| {
        (a.input, a.output, a.cache_read, a.cache_write())
            == (b.input, b.output, b.cache_read, b.cache_write())
    };
    if parts.len() > 1 && same(&sum, &claim.tokens) { parts.into() } else { Box::default() }
}

/// The calls of all lines in all files, each once.
fn tools(group: &Group<'_>, named: impl Fn(u32, u32) -> Option<Name>) -> Box<[Name]> {
    let mut seen: Vec<(u64, Name)> = Vec::new();
    for &(place, claim) in group {
        for &(name, call) in &claim.tools {
            let Some(name) = named(place.0, name) else { continue };
            if !seen.contains(&(call, name)) {
                seen.push((call, name));
            }
        }
    }
    seen.into_iter().map(|(_, name)| name).collect()
}

/// Whether the usage may be what was known before the response was complete.
fn is_placeholder(version: Option<&str>, has_stopped: bool) -> bool {
    match version.and_then(numbers) {
        Some(version) => version < WRITES_FINAL_USAGE,
        // Nobody knows who wrote it; a reason to stop comes with the final usage.
        None => !has_stopped,
    }
}

/// The first three numbers of a version.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.split('.');
    let mut next = || {
        let part = parts.next()?;
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse().ok()
    };
    Some([next()?, next()?, next()?])
}

/// Which file owns what several have at the same time: as for entries, sessions come before
/// subagents, files that nothing marks as a copy, files that have nothing of their own (they were
/// there before they were copied on), older files.
struct Ranks(Vec<u32>);

impl Ranks {
    fn new(inputs: &[Input], places: &[(u128, Place)]) -> Self {
        let mut has_own = vec![false; inputs.len()];
        let mut is_shared = vec![false; inputs.len()];
        for group in places.chunk_by(|a, b| a.0 == b.0) {
            for (_, (file, _)) in group {
                match group.len() {
                    1 => has_own[*file as usize] = true,
                    _ => is_shared[*file as usize] = true,
                }
            }
        }
        let mut order: Vec<usize> = (0..inputs.len()).filter(|file| is_shared[*file]).collect();
        order.sort_by_cached_key(|&file| {
            let input = &inputs[file];
            let kind = match &input.kind {
                FileKind::Session { .. } => 0,
                kind if kind.internal().is_none() => 1,
                _ => 2,
            };
            let made = input.created.map_or(i64::MAX, |time| time.0);
            (kind, input.claims.is_marked_copy, has_own[file], made, input.path.clone())
        });
        let mut ranks = vec![0; inputs.len()];
        for (rank, file) in order.into_iter().enumerate() {
            ranks[file] = rank as u32;
        }
        Self(ranks)
    }

    fn of(&self, file: u32) -> u32 {
        self.0[file as usize]
    }
}

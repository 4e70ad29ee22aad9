//! Rows of a session: what is said of it as a whole, and the rows of each of its files.

use hashbrown::HashMap;
use store::table::schema::{BRANCHES, PRS, SEGMENTS, SESSIONS, SUBAGENTS, TURNS};
use transcript::id::AgentId;
use transcript::layout::Problem;
use transcript::library::{Agent, AgentParent, SessionItem};
use transcript::session::{Ending, Session};
use transcript::source::Source;
use transcript::time::Time;

use super::file::{File, Kinds, Turning};
use super::line::Head;
use super::{Maker, Opener, Visitor};
use crate::list;

/// Gives all rows of a session.
pub fn rows(
    maker: &Maker<'_>,
    item: &SessionItem,
    open: &mut Opener<'_>,
    each: &mut Visitor<'_>,
) -> Result<(), Problem> {
    let head = |agent: Option<&str>| Head::new(maker.origin, item.id.as_str(), agent);
    let mut known = Known::default();
    for (card, label) in Maker::files(item) {
        let (session, source) = open(card)?;
        let agent = item.agents.iter().find(|agent| agent.file == Some(card));
        let turning = match (&label, agent) {
            (None, _) => Turning::Own,
            (_, Some(agent)) => Turning::Fixed(known.turn_of(agent, item)),
            _ => Turning::Fixed(None),
        };
        let file = File { maker, head: head(label.as_deref()), session: &session, turning };
        known.kinds.extend(file.rows(&source, each)?);
        let responses = maker.responses.of_card(card);
        let responses = responses.filter(|response| !maker.is_guest(card, response));
        maker.requests(responses, Some(&file), each);
        if label.is_none() {
            own(&file, item, &source, each)?;
            known.starts = starts(&session);
        }
        known.calls(&session, item, &file);
    }
    for (card, label) in Maker::hosts(item) {
        let (host, source) = open(card)?;
        let strays = maker.library.read_strays(item, &host, &source)?;
        let turning = Turning::Fixed(None);
        let file = File { maker, head: head(label.as_deref()), session: &strays, turning };
        known.kinds.extend(file.rows(&source, each)?);
        let responses = maker.responses.of_card(card);
        maker.requests(responses.filter(|r| maker.is_of(item, r)), Some(&file), each);
        known.calls(&strays, item, &file);
    }
    let head = head(None);
    whole(maker, &head, item, each);
    for agent in &item.agents {
        subagent(&head, agent, item, &known, each);
    }
    Ok(())
}

/// What the files of a session say of its subagents.
#[derive(Default)]
struct Known {
    kinds: Kinds,
    /// The entry and the turn of the call that started a subagent.
    started: HashMap<AgentId, (u32, Option<u32>)>,
    /// When the turns began.
    starts: Vec<(Time, u32)>,
}

impl Known {
    /// Notes which subagents the calls of a file started.
    fn calls(&mut self, session: &Session, item: &SessionItem, file: &File<'_>) {
        for agent in &item.agents {
            let call = agent.call.and_then(|key| session.call(key));
            if let Some(call) = call {
                let node = session.calls()[call].node();
                let entry = session.nodes()[node].number;
                self.started.entry(agent.id.clone()).or_insert((entry, file.turn(node)));
            }
        }
    }

    /// The turn in which a subagent was started: by the call, by its starter's, by the time.
    fn turn_of(&self, agent: &Agent, item: &SessionItem) -> Option<u32> {
        let mut at = agent;
        // A chain of starters is never longer than there are subagents.
        for _ in 0..item.agents.len() {
            if let Some((_, turn)) = self.started.get(&at.id) {
                return *turn;
            }
            let AgentParent::Agent(parent) = &at.parent else { break };
            let Some(parent) = item.agents.iter().find(|a| a.id == *parent) else { break };
            at = parent;
        }
        let begun = agent.facts.as_ref()?.first?;
        let after = self.starts.partition_point(|(start, _)| *start <= begun);
        Some(self.starts.get(after.checked_sub(1)?)?.1)
    }
}

/// When the turns began. A clock may have gone back: then the later turn counts.
fn starts(session: &Session) -> Vec<(Time, u32)> {
    let turns = session.turns().iter().zip(1..);
    let mut starts: Vec<(Time, u32)> =
        turns.filter_map(|(t, n)| Some((session.nodes()[t.prompt].time()?, n))).collect();
    starts.sort_unstable();
    starts
}

/// Turns, segments and branches of a session's own file.
fn own(
    file: &File<'_>,
    item: &SessionItem,
    source: &Source,
    each: &mut Visitor<'_>,
) -> Result<(), Problem> {
    turns(file, source, each)?;
    segments(file, each);
    branches(file, each);
    prs(file, item, each);
    Ok(())
}

fn turns(file: &File<'_>, source: &Source, each: &mut Visitor<'_>) -> Result<(), Problem> {
    let (session, nodes) = (file.session, file.session.nodes());
    let mut entries = vec![0u64; session.turns().len()];
    for turn in (0..nodes.len()).filter_map(|node| session.turn_of(node)) {
        entries[turn] += 1;
    }
    for (at, turn) in session.turns().iter().enumerate() {
        let (prompt, last) = (&nodes[turn.prompt], &nodes[turn.last]);
        if !session.counts(turn.prompt) {
            continue;
        }
        let time = prompt.time();
        let duration = time.zip(last.time()).map(|(from, to)| to.since(from));
        let (table, row) = file
            .line(&TURNS)
            .count(at as u64 + 1)
            .time(time)
            .time(last.time())
            .maybe_count(duration.filter(|ms| *ms >= 0))
            .days(time)
            .count(prompt.number)
            .count(turn.segment as u64)
            .text(prompt.role.name())
            .value(file.prompt(prompt, source)?)
            .count(entries[at])
            .count(turn.calls as u64)
            .count(turn.errors as u64)
            .end();
        each(table, row);
    }
    Ok(())
}

fn segments(file: &File<'_>, each: &mut Visitor<'_>) {
    let (session, nodes) = (file.session, file.session.nodes());
    for (at, segment) in session.segments().iter().enumerate() {
        let compaction = segment.compaction.map(|at| &session.compactions()[at]);
        // The first is there always; others began with an entry, which may be a copy.
        let begun = compaction.map(|c| c.node()).or(segment.first);
        if begun.is_some_and(|node| !session.counts(node)) {
            continue;
        }
        let node = |at: Option<usize>| at.map(|at| &nodes[at]);
        let (first, last) = (node(segment.first), node(segment.last));
        let time = node(begun).and_then(|node| node.time());
        let (table, row) = file
            .line(&SEGMENTS)
            .count(at as u64)
            .time(time)
            .time(last.and_then(|node| node.time()))
            .days(time)
            .is(compaction.is_some())
            .maybe_text(compaction.and_then(|c| c.trigger.as_deref()))
            .maybe_count(compaction.and_then(|c| c.pre_tokens))
            .maybe_count(compaction.and_then(|c| c.post_tokens))
            .maybe_count(compaction.and_then(|c| c.duration_ms))
            .maybe_count(first.map(|node| node.number))
            .maybe_count(last.map(|node| node.number))
            .count(segment.turns as u64)
            .count(segment.entries as u64)
            .is(segment.is_abandoned)
            .end();
        each(table, row);
    }
}

fn branches(file: &File<'_>, each: &mut Visitor<'_>) {
    let (session, nodes) = (file.session, file.session.nodes());
    for (at, branch) in session.branches().iter().enumerate() {
        if !session.counts(branch.head) {
            continue;
        }
        let time = nodes[branch.head].time();
        let (table, row) = file
            .line(&BRANCHES)
            .count(at as u64 + 1)
            .time(time)
            .days(time)
            .text(branch.kind.name())
            .maybe_count(branch.at.map(|at| nodes[at].number))
            .count(nodes[branch.head].number)
            .count(nodes[branch.last].number)
            .count(branch.entries as u64)
            .count(branch.prompts as u64)
            .end();
        each(table, row);
    }
}

fn prs(file: &File<'_>, item: &SessionItem, each: &mut Visitor<'_>) {
    for link in &item.facts.pr_links {
        let node = file.session.numbered(link.entry);
        let (table, row) = file
            .line(&PRS)
            .count(link.entry)
            .maybe_count(node.and_then(|node| file.turn(node)))
            .time(link.time)
            .days(link.time)
            .maybe_count(link.number)
            .text(&*link.url)
            .maybe_text(link.repository.as_deref())
            .end();
        each(table, row);
    }
}

/// The row of the session itself.
fn whole(maker: &Maker<'_>, head: &Head, item: &SessionItem, each: &mut Visitor<'_>) {
    let facts = &item.facts;
    let agents = || item.agents.iter().filter_map(|agent| agent.facts.as_ref());
    let files = item.file.into_iter().chain(item.agents.iter().filter_map(|agent| agent.file));
    let bytes: u64 = files.map(|file| maker.library.cards[file].found.size).sum();
    let ending = match facts.ending {
        Ending::Answered => "answered",
        Ending::Open => "open",
        Ending::Interrupted => "interrupted",
        Ending::Empty => "empty",
    };
    let (table, row) = head
        .line(&SESSIONS)
        .maybe_text(list::project(maker.library, item))
        .maybe_text(item.title.as_ref().map(|(title, _)| &**title))
        .maybe_text(item.title.as_ref().map(|(_, source)| source.name()))
        .maybe_text(facts.git_branch.as_deref())
        .time(facts.first)
        .time(facts.last)
        .days(facts.first)
        .text(item.standing.name())
        .text(ending)
        .count(facts.turns as u64)
        .count((facts.calls + agents().map(|f| f.calls).sum::<usize>()) as u64)
        .count((facts.errors + agents().map(|f| f.errors).sum::<usize>()) as u64)
        .count(facts.entries as u64)
        .count(facts.files as u64)
        .count(facts.added)
        .count(facts.removed)
        .count(facts.segments as u64)
        .count(facts.rewinds as u64)
        .count(item.agents.len() as u64)
        .text(facts.models.join(","))
        .maybe_text(facts.versions.last().map(|version| &**version))
        .maybe_text(facts.entrypoint.as_deref())
        .count(bytes)
        .is(maker.responses.is_understated(item.id.as_str()))
        .end();
    each(table, row);
}

fn subagent(head: &Head, agent: &Agent, item: &SessionItem, known: &Known, each: &mut Visitor<'_>) {
    let facts = agent.facts.as_ref();
    let time = facts.and_then(|facts| facts.first);
    let own = agent.agent_type.as_deref().map(str::to_owned);
    let kind = own
        .or_else(|| known.kinds.get(&agent.call?).cloned())
        .or_else(|| agent.internal.map(|_| "claude-code".into()))
        .unwrap_or_else(|| "unknown".into());
    let parent = match &agent.parent {
        AgentParent::Session => None,
        AgentParent::Agent(parent) => Some(parent.as_str()),
    };
    let count = |get: fn(&transcript::library::Facts) -> usize| facts.map_or(0, get) as u64;
    let (table, row) = head
        .line(&SUBAGENTS)
        .text(agent.id.as_str())
        .maybe_text(parent)
        .maybe_count(known.started.get(&agent.id).map(|(entry, _)| *entry))
        .maybe_count(known.turn_of(agent, item))
        .time(time)
        .time(facts.and_then(|facts| facts.last))
        .days(time)
        .text(kind)
        .maybe_text(agent.description.as_deref())
        .text(agent.link.name())
        .count(count(|facts| facts.entries))
        .count(count(|facts| facts.calls))
        .count(count(|facts| facts.errors))
        .end();
    each(table, row);
}

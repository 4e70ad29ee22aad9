//! Subagents and the calls that started them, by every link there is: the meta file, the call's
//! result, signs of life, notifications, and in old files the task's own words.

use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::card::{Card, Facts};
use super::join::Joining;
use crate::id::{AgentId, Key, SessionId};
use crate::layout::{FileKind, InternalAgent};
use crate::session::{AgentLink, LinkKind};
use crate::side::agent_meta::{self, AgentMeta};

/// Who started a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentParent {
    /// The session itself.
    Session,
    /// Another subagent of the session.
    Agent(AgentId),
}

/// A subagent of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Agent {
    /// Its id; of a sidechain inside the main file `inline-<entry>`.
    pub id: AgentId,
    /// Its file, by index into [`super::Library::cards`]; none when it is inside the main file or lost.
    pub file: Option<usize>,
    /// The number of its first entry, when it is inside the main file.
    pub entry: Option<u32>,
    /// Who started it.
    pub parent: AgentParent,
    /// The key of the call that started it.
    pub call: Option<Key>,
    /// How that is known.
    pub link: LinkKind,
    /// Its kind, as its meta file says.
    pub agent_type: Option<Box<str>>,
    /// Its task in a few words, as its meta file says.
    pub description: Option<Box<str>>,
    /// What Claude Code started it for, if not for a call.
    pub internal: Option<InternalAgent>,
    /// Counts of what it owns.
    pub facts: Option<Facts>,
}

impl Joining {
    pub(super) fn join_agents(&mut self) {
        let mut of: HashMap<SessionId, Vec<usize>> = HashMap::new();
        for (index, card) in self.cards.iter().enumerate() {
            if let FileKind::Agent { session, .. } = &card.found.kind
                && let Some(id) = session.clone().or_else(|| parent_session(card))
            {
                of.entry(id).or_default().push(index);
            }
        }
        for session in &mut self.sessions {
            let files = of.remove(&session.id).map_or_else(Vec::new, |f| once(f, &self.cards));
            let main = session.file.map(|f| &*self.cards[f]);
            session.agents = agents(main, &files, &self.cards);
        }
        self.lost_sessions(of);
    }

    /// Subagents whose session has no file: the session is known by them alone.
    fn lost_sessions(&mut self, of: HashMap<SessionId, Vec<usize>>) {
        for (id, files) in of {
            let first = &self.cards[files[0]];
            let item = super::SessionItem {
                id,
                file: None,
                also: Vec::new(),
                found_in: Vec::new(),
                facts: Facts {
                    cwd: first.facts.cwd.clone(),
                    git_branch: first.facts.git_branch.clone(),
                    first: first.facts.first,
                    last: first.facts.last,
                    ..Facts::none()
                },
                standing: super::Standing::Whole,
                title: None,
                copied: 0,
                foreign: 0,
                agents: agents(None, &files, &self.cards),
                connections: Vec::new(),
            };
            let place = self.sessions.partition_point(|s| s.id < item.id);
            self.sessions.insert(place, item);
        }
    }
}

/// The session that an agent's file names: by its entries, or by the context it began with.
fn parent_session(card: &Card) -> Option<SessionId> {
    card.id.clone().or_else(|| card.fork_context.as_deref().map(SessionId::new))
}

/// One file per agent: the same folder may be read under two names.
fn once(files: Vec<usize>, cards: &[Arc<Card>]) -> Vec<usize> {
    let mut best: HashMap<&FileKind, usize> = HashMap::new();
    for &file in &files {
        let known = best.entry(&cards[file].found.kind).or_insert(file);
        if cards[file].facts.talk > cards[*known].facts.talk {
            *known = file;
        }
    }
    let mut kept: Vec<usize> = best.into_values().collect();
    kept.sort_unstable();
    kept
}

/// Where each thing that a link can name stands: the session's file or a subagent's.
struct Index<'a> {
    calls: HashMap<Key, Option<usize>>,
    tasks: HashMap<Key, (Key, Option<usize>)>,
    links: HashMap<&'a str, (AgentLink, Option<usize>)>,
    runs: HashMap<&'a str, (Key, Option<usize>)>,
}

impl<'a> Index<'a> {
    fn of(main: Option<&'a Card>, files: &[usize], cards: &'a [Arc<Card>]) -> Self {
        let mut index = Self {
            calls: HashMap::new(),
            tasks: HashMap::new(),
            links: HashMap::new(),
            runs: HashMap::new(),
        };
        let agents = files.iter().map(|&f| (Some(f), &*cards[f]));
        for (file, card) in main.map(|m| (None, m)).into_iter().chain(agents) {
            for (call, task) in &card.agent_calls {
                index.calls.entry(*call).or_insert(file);
                if let Some(task) = task {
                    index.tasks.entry(*task).or_insert((*call, file));
                }
            }
            for (run, call) in &card.workflow_runs {
                index.runs.entry(run).or_insert((*call, file));
            }
            for (agent, link) in &card.agent_links {
                let known = index.links.entry(agent).or_insert((*link, file));
                if (link.call.is_none(), link.kind) < (known.0.call.is_none(), known.0.kind) {
                    *known = (*link, file);
                }
            }
        }
        index
    }
}

fn agents(main: Option<&Card>, files: &[usize], cards: &[Arc<Card>]) -> Vec<Agent> {
    let index = Index::of(main, files, cards);
    let name = |file: usize| match &cards[file].found.kind {
        FileKind::Agent { agent, .. } => agent.clone(),
        _ => AgentId::new("unknown"),
    };
    let mut agents: Vec<Agent> =
        files.iter().map(|&file| agent(name(file), file, cards, &index, &name)).collect();
    for &(entry, task) in main.map_or(&[][..], |m| &m.inline_agents) {
        let call = index.tasks.get(&task).map(|(call, _)| *call);
        agents.push(Agent {
            id: AgentId::new(format!("inline-{entry}")),
            file: None,
            entry: Some(entry),
            parent: AgentParent::Session,
            call,
            link: if call.is_some() { LinkKind::Prompt } else { LinkKind::Folder },
            agent_type: None,
            description: None,
            internal: None,
            facts: None,
        });
    }
    agents
}

fn agent(
    id: AgentId,
    file: usize,
    cards: &[Arc<Card>],
    index: &Index<'_>,
    name: &impl Fn(usize) -> AgentId,
) -> Agent {
    let card = &cards[file];
    let meta = meta(card);
    let (call, link, holder) = link(&id, file, card, meta.as_ref(), index);
    let named = meta.as_ref().and_then(|m| m.parent_agent.clone());
    let parent = match (named, holder) {
        (Some(agent), _) => AgentParent::Agent(agent),
        (None, Some(holder)) => AgentParent::Agent(name(holder)),
        (None, None) => AgentParent::Session,
    };
    Agent {
        internal: InternalAgent::of(&id),
        id,
        file: Some(file),
        entry: None,
        parent,
        call,
        link,
        agent_type: meta.as_ref().and_then(|m| m.agent_type.clone()),
        description: meta.and_then(|m| m.description),
        facts: Some(card.facts.clone()),
    }
}

/// The call that started an agent, how that is known, and the agent file that holds the call.
fn link(
    id: &AgentId,
    file: usize,
    card: &Card,
    meta: Option<&AgentMeta>,
    index: &Index<'_>,
) -> (Option<Key>, LinkKind, Option<usize>) {
    let call = meta.and_then(|m| m.tool_use.as_ref()).map(|t| Key::of(t.as_str().as_bytes()));
    if let Some(call) = call {
        return (Some(call), LinkKind::Meta, index.calls.get(&call).copied().flatten());
    }
    if let Some((link, holder)) = index.links.get(id.as_str())
        && *holder != Some(file)
    {
        let holder = link.call.and_then(|c| index.calls.get(&c).copied()).unwrap_or(*holder);
        return (link.call, link.kind, holder);
    }
    let run = match &card.found.kind {
        FileKind::Agent { workflow, .. } => workflow.as_deref().and_then(|run| index.runs.get(run)),
        _ => None,
    };
    if let Some((call, holder)) = run {
        return (Some(*call), LinkKind::Workflow, *holder);
    }
    let by_task = card.task.and_then(|task| index.tasks.get(&task));
    if let Some((call, holder)) = by_task.filter(|(_, holder)| *holder != Some(file)) {
        return (Some(*call), LinkKind::Prompt, *holder);
    }
    (None, LinkKind::Folder, None)
}

/// The meta file beside an agent's transcript.
fn meta(card: &Card) -> Option<AgentMeta> {
    let path = card.found.path.with_extension("meta.json");
    let bytes = card.found.beside(path.file_name()?).ok()??;
    Some(agent_meta::parse(&bytes).0)
}

//! What one transcript leaves behind when it has been read.

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::diagnostic::DiagnosticKind;
use crate::id::{Key, SessionId};
use crate::layout::{FileKind, Found};
use crate::session::{
    AgentLink, Builder, Ending, ForkKind, Node, Options, PrLink, Role, Session, State, TitleSource,
};
use crate::time::Time;
use crate::tool::Commit;

/// Counts over the entries that a file owns: its own session's, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Entries of any kind.
    pub entries: usize,
    /// User and assistant entries, without what Claude Code put there.
    pub talk: usize,
    /// A person's turns on the way.
    pub turns: usize,
    /// Calls.
    pub calls: usize,
    /// Failed results.
    pub errors: usize,
    /// Files changed.
    pub files: usize,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Segments.
    pub segments: usize,
    /// Lines of talk that a person left by going back.
    pub rewinds: usize,
    /// Prompts on branches that were left.
    pub abandoned_prompts: usize,
    /// Earliest time.
    pub first: Option<Time>,
    /// Latest time.
    pub last: Option<Time>,
    /// The folder it began in.
    pub cwd: Option<Box<str>>,
    /// The git branch last seen.
    pub git_branch: Option<Box<str>>,
    /// Models that answered.
    pub models: Vec<Box<str>>,
    /// Claude Code versions.
    pub versions: Vec<Box<str>>,
    /// How the last turn stands.
    pub ending: Ending,
    /// Pull requests.
    pub pr_links: Vec<PrLink>,
    /// Commits.
    pub commits: Vec<Commit>,
    /// How it was started.
    pub entrypoint: Option<Box<str>>,
    /// The last `tag`.
    pub tag: Option<Box<str>>,
    /// The name of its plan file.
    pub plan_slug: Option<Box<str>>,
}

impl Facts {
    /// No entries at all.
    pub fn none() -> Self {
        Self::of(&Builder::new().finish(&Options::default()))
    }

    /// Counts what `session` owns.
    pub fn of(session: &Session) -> Self {
        let (mut files, mut added, mut removed) = (HashSet::new(), 0, 0);
        for (path, touch) in session.touches() {
            files.insert(path);
            added += u64::from(touch.added);
            removed += u64::from(touch.removed);
        }
        let owned = |i: &usize| session.counts(*i);
        let (mut entries, mut talk, mut abandoned_prompts) = (0, 0, 0);
        for (i, node) in session.nodes().iter().enumerate().filter(|(i, _)| owned(i)) {
            entries += 1;
            talk += usize::from(is_said(node));
            abandoned_prompts += usize::from(
                session.state(i) == State::Abandoned
                    && matches!(node.role, Role::Prompt | Role::Queued),
            );
        }
        let rewinds = |b: &&crate::session::Branch| b.kind == ForkKind::Rewind && owned(&b.head);
        Self {
            entries,
            talk,
            turns: session.own_turns().count(),
            calls: session.own_calls().count(),
            errors: session.errors().len(),
            files: files.len(),
            added,
            removed,
            segments: session.own_segments(),
            rewinds: session.branches().iter().filter(rewinds).count(),
            abandoned_prompts,
            first: session.first_time(),
            last: session.last_time(),
            cwd: session.project().map(Into::into),
            git_branch: session.git_branch().map(Into::into),
            models: session.models().map(Into::into).collect(),
            versions: session.versions().map(Into::into).collect(),
            ending: session.ending(),
            pr_links: session.pr_links().to_vec(),
            commits: session.commits().map(|(_, commit)| commit.clone()).collect(),
            entrypoint: session.entrypoint().map(Into::into),
            tag: session.titles().tag,
            plan_slug: session.plan_slug().map(Into::into),
        }
    }
}

fn is_said(node: &Node) -> bool {
    node.kind.is_talk() && node.role != Role::Injected
}

/// One transcript, as far as joining needs it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Card {
    /// The file.
    #[serde(skip, default = "Found::unknown")]
    pub found: Found,
    /// The session whose file it is; a subagent's file names its parent's.
    pub id: Option<SessionId>,
    /// Other sessions whose entries stand in it, with their number.
    pub strays: Vec<(SessionId, usize)>,
    /// Counts of what it owns.
    pub facts: Facts,
    /// Its title, by its own lines.
    pub title: Option<(Box<str>, TitleSource)>,
    /// Its lines.
    pub lines: u64,
    /// Its oddities.
    pub diagnostics: Vec<(DiagnosticKind, u64)>,
    /// Entries that an earlier file owns.
    pub copied: usize,
    /// The file that owns most of them.
    pub copied_from: Option<usize>,
    /// Keys of its chain entries, in file order.
    pub(super) keys: Vec<u64>,
    /// Summaries whose leaf is not in the file.
    pub(super) foreign_summaries: Vec<(Key, Box<str>)>,
    pub(super) continued_in: Option<Box<str>>,
    pub(super) forked_from: Option<Box<str>>,
    pub(super) lineage: Option<Box<str>>,
    /// The session whose context a forked subagent began with.
    pub(super) fork_context: Option<Box<str>>,
    pub(super) former: Vec<SessionId>,
    pub(super) is_background: bool,
    pub(super) agent_links: Vec<(Box<str>, AgentLink)>,
    /// Calls that start subagents: the call, and its task.
    pub(super) agent_calls: Vec<(Key, Option<Key>)>,
    pub(super) workflow_runs: Vec<(Box<str>, Key)>,
    pub(super) task: Option<Key>,
    /// Sidechains inside the file: number of their first entry, and their task.
    pub(super) inline_agents: Vec<(u32, Key)>,
}

impl Card {
    /// The card without what only a join needs.
    pub(super) fn clone_without_keys(&self) -> Self {
        Self {
            found: Found::unknown(),
            id: self.id.clone(),
            strays: self.strays.clone(),
            facts: self.facts.clone(),
            title: self.title.clone(),
            lines: self.lines,
            diagnostics: self.diagnostics.clone(),
            copied: self.copied,
            copied_from: self.copied_from,
            keys: Vec::new(),
            foreign_summaries: Vec::new(),
            continued_in: None,
            forked_from: None,
            lineage: None,
            fork_context: None,
            former: Vec::new(),
            is_background: self.is_background,
            agent_links: Vec::new(),
            agent_calls: Vec::new(),
            workflow_runs: Vec::new(),
            task: None,
            inline_agents: Vec::new(),
        }
    }

    /// Holds the place of a file that was removed.
    pub(super) fn new_vacant() -> Self {
        Self::of(Found::unknown(), &Builder::new().finish(&Options::default()))
    }

    /// Whether there is no file here any more.
    pub fn is_vacant(&self) -> bool {
        self.found.rel.as_os_str().is_empty()
    }

    /// The card as bytes, without the file's name and place.
    pub fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain values can be written")
    }

    /// The card that [`Card::save`] wrote, of the file `found`; `None` if the bytes are none.
    pub fn load(bytes: &[u8], found: Found) -> Option<Self> {
        Some(Self { found, ..postcard::from_bytes(bytes).ok()? })
    }

    /// What `session`, read from `found`, leaves.
    pub fn of(found: Found, session: &Session) -> Self {
        let titles = session.titles();
        let is_foreign = |leaf: &Key| session.find(*leaf).is_none();
        Self {
            id: session.id(),
            strays: session.foreign_ids(),
            facts: Facts::of(session),
            title: session.title(),
            lines: session.lines(),
            diagnostics: session.diagnostic_counts().to_vec(),
            copied: 0,
            copied_from: None,
            keys: session.keys().map(Key::short).collect(),
            foreign_summaries: titles
                .summaries
                .into_iter()
                .filter(|(l, _)| is_foreign(l))
                .collect(),
            continued_in: session.continued_in().map(Into::into),
            forked_from: session.forked_from().map(Into::into),
            lineage: session.lineage().map(Into::into),
            fork_context: session.fork_context().map(Into::into),
            former: session.former_ids().into_iter().map(|(id, _)| id).collect(),
            is_background: session.is_background(),
            agent_links: session.agent_links().map(|(a, link)| (a.into(), link)).collect(),
            agent_calls: session
                .calls()
                .iter()
                .filter(|c| c.is_agent() && !session.nodes()[c.node()].is_copy())
                .map(|c| (c.key(), c.task()))
                .collect(),
            workflow_runs: session.workflow_runs().to_vec(),
            task: session.task(),
            inline_agents: session
                .inline_agents()
                .iter()
                .map(|&(node, task)| (session.nodes()[node as usize].number, task))
                .collect(),
            found,
        }
    }

    /// Whether it is a session's file, not a subagent's.
    pub(super) fn is_main(&self) -> bool {
        matches!(self.found.kind, FileKind::Session { .. })
    }

    /// Of several files of a session the one with the most talk is read.
    pub(super) fn fullness(&self) -> (usize, u64) {
        (self.facts.talk, self.found.size)
    }

    /// Entries of other sessions.
    pub(super) fn foreign(&self) -> usize {
        self.strays.iter().map(|(_, count)| count).sum()
    }

    /// One summary of another session, snapshots perhaps, and nobody says anything.
    pub(super) fn is_pointer(&self) -> bool {
        self.facts.talk == 0 && self.copied == 0 && self.foreign_summaries.len() == 1
    }
}

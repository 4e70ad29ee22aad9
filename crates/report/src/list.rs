//! The sessions of a library, and its projects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use transcript::library::{Facts, Library, SessionItem, Standing};
use transcript::session::{Ending, TitleSource};
use transcript::side::registry::Running;
use transcript::time::Time;

use crate::filter::{Period, ProjectFilter};
use crate::history::Ghost;

/// Whether a session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Life {
    /// A running process has it, or it was written just now.
    Live,
    /// The last turn was answered.
    Ended,
    /// The last turn was not: a person or a crash cut it off.
    Interrupted,
    /// Only prompts are left of it, in the history.
    Ghost,
}

impl Life {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Ended => "ended",
            Self::Interrupted => "interrupted",
            Self::Ghost => "ghost",
        }
    }
}

/// What tells live sessions: the registry's running processes, or, in a Claude folder without a
/// registry (older versions), files written within the last two minutes.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Processes that the registry names and that are running.
    pub running: Vec<Running>,
    /// The Claude folders that have a registry. An empty one says that no client is running.
    pub registries: Vec<PathBuf>,
    /// The time now.
    pub now: Option<Time>,
}

/// A file without a registry beside it is live for this long after a write.
const FRESH_MS: i64 = 120_000;

impl Pulse {
    /// Whether the Claude folder of a file has a registry.
    pub fn has_registry(&self, file: &Path) -> bool {
        self.registries.iter().any(|root| file.starts_with(root))
    }

    /// Whether a session goes on.
    pub fn life(&self, library: &Library, item: &SessionItem) -> Life {
        let named = |r: &Running| r.session.as_ref() == Some(&item.id);
        // What is kept and not on disk any more is not written to.
        let file = item.file.map(|f| &library.cards[f].found).filter(|f| f.kept.is_none());
        let modified = file.and_then(|found| found.modified);
        let is_fresh = !file.is_some_and(|found| self.has_registry(&found.path))
            && modified.zip(self.now).is_some_and(|(m, now)| (0..FRESH_MS).contains(&now.since(m)));
        if self.running.iter().any(named) || is_fresh {
            return Life::Live;
        }
        match item.facts.ending {
            Ending::Answered | Ending::Empty => Life::Ended,
            Ending::Open | Ending::Interrupted => Life::Interrupted,
        }
    }
}

/// What is wanted of a list.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Which projects.
    pub project: Option<ProjectFilter>,
    /// Part of the git branch.
    pub branch: Option<String>,
    /// When they were active.
    pub period: Period,
    /// Only sessions with failed calls.
    pub errors: bool,
    /// Copies, pointers, stubs and empty files, too.
    pub all: bool,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// Last active first.
    #[default]
    Time,
    /// Most turns first.
    Turns,
    /// Most failed calls first.
    Errors,
    /// Largest first.
    Size,
    /// Longest first.
    Duration,
    /// By title.
    Title,
}

/// One session in a list.
#[derive(Debug, Clone)]
pub struct ListRow<'a> {
    /// The session.
    pub item: &'a SessionItem,
    /// Its project: the folder it began in.
    pub project: Option<String>,
    /// Whether it goes on.
    pub life: Life,
    /// Calls, its subagents' included.
    pub calls: usize,
    /// Failed calls, its subagents' included.
    pub errors: usize,
    /// Bytes of its file and its subagents' files.
    pub size: u64,
    /// When it was last active: its last entry, else its file's time.
    pub last: Option<Time>,
}

impl ListRow<'_> {
    /// From first to last entry, in milliseconds.
    pub fn duration_ms(&self) -> Option<i64> {
        Some(self.item.facts.last?.since(self.item.facts.first?))
    }
}

/// A list, and what was left out of it.
#[derive(Debug)]
pub struct List<'a> {
    /// The sessions that were asked for.
    pub rows: Vec<ListRow<'a>>,
    /// Sessions in the whole library, by standing.
    pub standings: BTreeMap<&'static str, usize>,
}

/// A session of which only prompts are left, for [`list`]; `None` for prompts of no known session.
pub fn ghost(ghost: &Ghost) -> Option<SessionItem> {
    Some(SessionItem {
        id: ghost.session.clone()?,
        file: None,
        also: Vec::new(),
        found_in: Vec::new(),
        facts: Facts {
            turns: ghost.prompts,
            first: ghost.first,
            last: ghost.last,
            cwd: ghost.project.as_ref().map(|path| path.as_str().into()),
            ..Facts::none()
        },
        standing: Standing::Whole,
        title: ghost.first_prompt.clone().map(|prompt| (prompt, TitleSource::FirstPrompt)),
        copied: 0,
        foreign: 0,
        agents: Vec::new(),
        connections: Vec::new(),
    })
}

/// The sessions that pass `filter`, and the ghosts that do, in order.
pub fn list<'a>(
    library: &'a Library,
    ghosts: &'a [SessionItem],
    pulse: &Pulse,
    filter: &ListFilter,
    order: ListOrder,
) -> List<'a> {
    let mut standings = BTreeMap::new();
    for item in &library.sessions {
        *standings.entry(item.standing.name()).or_default() += 1;
    }
    let rows = library.sessions.iter().map(|item| row(library, pulse, item));
    let ghosts = ghosts.iter().map(|ghost| ListRow {
        project: ghost.facts.cwd.as_deref().map(str::to_owned),
        life: Life::Ghost,
        calls: 0,
        errors: 0,
        size: 0,
        last: ghost.facts.last,
        item: ghost,
    });
    let mut rows: Vec<_> = rows.chain(ghosts).filter(|row| passes(row, filter)).collect();
    rows.sort_by(|a, b| compare(order, a, b).then_with(|| a.item.id.cmp(&b.item.id)));
    List { rows, standings }
}

fn row<'a>(library: &'a Library, pulse: &Pulse, item: &'a SessionItem) -> ListRow<'a> {
    let agents = || item.agents.iter().filter_map(|a| a.facts.as_ref());
    let files = item.file.into_iter().chain(item.agents.iter().filter_map(|a| a.file));
    let modified = item.file.and_then(|f| library.cards[f].found.modified);
    ListRow {
        project: project(library, item),
        life: pulse.life(library, item),
        calls: item.facts.calls + agents().map(|f| f.calls).sum::<usize>(),
        errors: item.facts.errors + agents().map(|f| f.errors).sum::<usize>(),
        size: files.map(|f| library.cards[f].found.size).sum(),
        last: item.facts.last.or(modified),
        item,
    }
}

/// The folder a session began in; where no entry names it, its project folder's name.
pub fn project(library: &Library, item: &SessionItem) -> Option<String> {
    let slug = || {
        let file = item.file.or_else(|| item.agents.iter().find_map(|a| a.file))?;
        library.cards[file].found.kind.project_slug().map(str::to_owned)
    };
    item.facts.cwd.as_deref().map(str::to_owned).or_else(slug)
}

fn passes(row: &ListRow<'_>, filter: &ListFilter) -> bool {
    let of_project =
        |project: &ProjectFilter| row.project.as_deref().is_some_and(|p| project.matches(p));
    let branch = row.item.facts.git_branch.as_deref().map(str::to_lowercase);
    let of_branch =
        |part: &String| branch.as_ref().is_some_and(|b| b.contains(&part.to_lowercase()));
    (filter.all || row.item.standing == Standing::Whole)
        && filter.project.as_ref().is_none_or(of_project)
        && filter.branch.as_ref().is_none_or(of_branch)
        && filter.period.meets(row.item.facts.first.or(row.last), row.last)
        && (!filter.errors || row.errors > 0)
}

fn compare(order: ListOrder, a: &ListRow<'_>, b: &ListRow<'_>) -> std::cmp::Ordering {
    match order {
        ListOrder::Time => b.last.cmp(&a.last),
        ListOrder::Turns => b.item.facts.turns.cmp(&a.item.facts.turns),
        ListOrder::Errors => b.errors.cmp(&a.errors),
        ListOrder::Size => b.size.cmp(&a.size),
        ListOrder::Duration => b.duration_ms().cmp(&a.duration_ms()),
        ListOrder::Title => title(a).cmp(&title(b)),
    }
}

fn title(row: &ListRow<'_>) -> String {
    row.item.title.as_ref().map_or_else(String::new, |(title, _)| title.to_lowercase())
}

/// A project: all sessions that began in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// The folder, or the name of the project folder where no entry names it.
    pub project: String,
    /// Its sessions.
    pub sessions: usize,
    /// Turns in them.
    pub turns: usize,
    /// Calls in them.
    pub calls: usize,
    /// Failed calls in them.
    pub errors: usize,
    /// Bytes of their files.
    pub size: u64,
    /// First activity.
    pub first: Option<Time>,
    /// Last activity.
    pub last: Option<Time>,
}

/// The projects of a list, last active first.
pub fn projects(list: &List<'_>) -> Vec<ProjectRow> {
    let mut projects: BTreeMap<String, ProjectRow> = BTreeMap::new();
    for row in &list.rows {
        let name = row.project.clone().unwrap_or_else(|| "unknown".into());
        let project = projects.entry(name.clone()).or_insert(ProjectRow {
            project: name,
            sessions: 0,
            turns: 0,
            calls: 0,
            errors: 0,
            size: 0,
            first: None,
            last: None,
        });
        project.sessions += 1;
        project.turns += row.item.facts.turns;
        project.calls += row.calls;
        project.errors += row.errors;
        project.size += row.size;
        let first = row.item.facts.first;
        project.first = project.first.into_iter().chain(first).min();
        project.last = project.last.max(row.last);
    }
    let mut projects: Vec<_> = projects.into_values().collect();
    projects.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.project.cmp(&b.project)));
    projects
}

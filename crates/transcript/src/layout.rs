//! What lies where below a Claude folder: which file is what, and finding them all.
//!
//! A file's kind is decided from its path alone, so it costs nothing and nothing is opened; the
//! files with tokens in them ([`FileKind::Secret`]) are listed and never opened by anybody. A
//! person may also point at a `projects` folder, at one project, at one session's folder or at a
//! lone file: [`place`] says which, and everything found has a path as if below a Claude folder.

mod again;
mod walk;

use std::borrow::Cow;
use std::fs;
use std::path::{Component, Path, PathBuf};

pub use again::{Known, add_again};
pub use walk::{
    Folder, Found, Look, Place, Problem, Stat, Walk, look, place, session_files, transcript_folder,
    walk, walk_as, walk_projects, walk_registry,
};

use crate::id::{AgentId, SessionId};
use crate::side::{backup, plan};
use crate::time::Time;

/// What a file below the Claude folder is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `projects/<slug>/<session>.jsonl`: a session's transcript.
    Session {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The file's stem.
        session: SessionId,
    },
    /// `agent-<id>.jsonl`: a subagent's transcript.
    Agent {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session in whose folder it lies; `None` beside the sessions (2.0.28 to 2.0.76).
        session: Option<SessionId>,
        /// The agent.
        agent: AgentId,
        /// The run of a workflow it belongs to.
        workflow: Option<Box<str>>,
    },
    /// `agent-<id>.meta.json`: what started a subagent. Since 2.1.71.
    AgentMeta {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session in whose folder it lies.
        session: Option<SessionId>,
        /// The agent.
        agent: AgentId,
        /// The run of a workflow it belongs to.
        workflow: Option<Box<str>>,
    },
    /// `<session>/subagents/workflows/<run>/journal.jsonl`.
    Journal {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session; `None` for a journal outside its folder.
        session: Option<SessionId>,
        /// The run.
        run: Box<str>,
    },
    /// `<session>/workflows/<run>.json`: a finished run.
    Workflow {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session.
        session: SessionId,
        /// The run.
        run: Box<str>,
    },
    /// `<session>/workflows/scripts/<name>-<run>.js`.
    WorkflowScript {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session.
        session: SessionId,
        /// The file's stem; name and run are not told apart.
        name: Box<str>,
    },
    /// `<session>/tool-results/…`: an output too long for the transcript. Since 2.1.2.
    ToolResult {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session.
        session: SessionId,
        /// The path below `tool-results/`, with `/`.
        name: Box<str>,
    },
    /// `<session>.jsonl.orphaned-<ms>`, `<session>.jsonl.superseded-<ms>`: a transcript put
    /// aside. Since 2.1.196.
    SetAside {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session.
        session: SessionId,
        /// Why.
        reason: SetAsideReason,
        /// When.
        time: Time,
    },
    /// `projects/<slug>/sessions-index.json`. Written until about 2.1.30, then stale.
    SessionsIndex {
        /// The name of the project folder.
        project_slug: Box<str>,
    },
    /// Any other file in a session's folder.
    SessionExtra {
        /// The name of the project folder.
        project_slug: Box<str>,
        /// The session.
        session: SessionId,
    },
    /// `projects/<slug>/memory/…`.
    Memory {
        /// The name of the project folder.
        project_slug: Box<str>,
    },
    /// Any other file in a project folder.
    ProjectExtra {
        /// The name of the project folder.
        project_slug: Box<str>,
    },
    /// `history.jsonl`: every typed prompt.
    History,
    /// `paste-cache/<hash>.txt`: a long paste.
    PasteCache {
        /// The start of the SHA-256 of its content.
        hash: Box<str>,
    },
    /// `todos/<session>-agent-<agent>.json`.
    Todos {
        /// The session.
        session: SessionId,
        /// The agent; `None` where the session's own id stands there.
        agent: Option<AgentId>,
    },
    /// `tasks/<session>/<number>.json`. Since 2.1.16.
    Task {
        /// The session (or the team's name).
        session: SessionId,
        /// The task's number.
        number: u64,
    },
    /// `.lock`, `.highwatermark` and others beside the tasks.
    TaskExtra {
        /// The session.
        session: SessionId,
    },
    /// `plans/<words>.md`, also with `-agent-<id>`.
    Plan {
        /// The words before any agent: an entry's `slug`.
        words: Box<str>,
        /// The agent that planned.
        agent: Option<AgentId>,
    },
    /// `debug/<session>.txt`.
    Debug {
        /// The session.
        session: SessionId,
    },
    /// `session-env/<session>/…`.
    SessionEnv {
        /// The session.
        session: SessionId,
    },
    /// `file-history/<session>/<hash>@v<version>`: a file as it was before an edit.
    FileHistory {
        /// The session.
        session: SessionId,
        /// The start of the SHA-256 of the file's absolute path.
        hash: Box<str>,
        /// The version.
        version: u64,
    },
    /// `stats-cache.json`.
    StatsCache,
    /// `sessions/<pid>.json`: a running Claude Code.
    Registry {
        /// The process.
        pid: u32,
    },
    /// `shell-snapshots/snapshot-<shell>-<ms>-<rand>.sh`.
    ShellSnapshot,
    /// `uploads/<session>/<8 hex>-<name>`.
    Upload {
        /// The session.
        session: SessionId,
    },
    /// `image-cache/…`.
    ImageCache,
    /// `teams/<team>/…`.
    Team {
        /// The team.
        team: Box<str>,
    },
    /// `jobs/<id>/state.json`, `jobs/<id>/timeline.jsonl`: a session in the background. Seen since
    /// 2.1.326.
    Job {
        /// The first part of the session's id.
        job: Box<str>,
    },
    /// Other files below `jobs`, with which the client works while it runs.
    ClientState,
    /// `settings.json`, `settings.local.json`.
    Settings,
    /// A file with a token or a password in it: never opened.
    Secret,
    /// Anything else.
    Other,
}

/// Why a transcript was put aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetAsideReason {
    /// `.orphaned-`
    Orphaned,
    /// `.superseded-`
    Superseded,
}

/// An agent Claude Code starts for itself; its file repeats the parent's messages.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum InternalAgent {
    /// `acompact-…`: compaction.
    Compact,
    /// `aprompt_suggestion-…`
    PromptSuggestion,
    /// `aside_question-…`: `/btw`.
    SideQuestion,
}

impl InternalAgent {
    /// What an agent's id says about it.
    pub fn of(agent: &AgentId) -> Option<Self> {
        let is = |word: &str| {
            agent
                .as_str()
                .strip_prefix(word)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        if is("acompact") {
            Some(Self::Compact)
        } else if is("aprompt_suggestion") {
            Some(Self::PromptSuggestion)
        } else if is("aside_question") {
            Some(Self::SideQuestion)
        } else {
            None
        }
    }
}

impl FileKind {
    /// The project folder the file lies in.
    pub fn project_slug(&self) -> Option<&str> {
        match self {
            Self::Session { project_slug, .. }
            | Self::Agent { project_slug, .. }
            | Self::AgentMeta { project_slug, .. }
            | Self::Journal { project_slug, .. }
            | Self::Workflow { project_slug, .. }
            | Self::WorkflowScript { project_slug, .. }
            | Self::ToolResult { project_slug, .. }
            | Self::SetAside { project_slug, .. }
            | Self::SessionsIndex { project_slug }
            | Self::SessionExtra { project_slug, .. }
            | Self::Memory { project_slug }
            | Self::ProjectExtra { project_slug } => Some(project_slug),
            _ => None,
        }
    }

    /// The session that the file itself is named after.
    pub fn stem(&self) -> Option<&str> {
        match self {
            Self::Session { session, .. } => Some(session.as_str()),
            _ => None,
        }
    }

    /// The session the file's path names.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Agent { session, .. }
            | Self::AgentMeta { session, .. }
            | Self::Journal { session, .. } => session.as_ref(),
            Self::Session { session, .. }
            | Self::Workflow { session, .. }
            | Self::WorkflowScript { session, .. }
            | Self::ToolResult { session, .. }
            | Self::SetAside { session, .. }
            | Self::SessionExtra { session, .. }
            | Self::Todos { session, .. }
            | Self::Task { session, .. }
            | Self::TaskExtra { session }
            | Self::Debug { session }
            | Self::SessionEnv { session }
            | Self::FileHistory { session, .. }
            | Self::Upload { session } => Some(session),
            _ => None,
        }
    }

    /// The kind of agent, where Claude Code started it for itself.
    pub fn internal(&self) -> Option<InternalAgent> {
        match self {
            Self::Agent { agent, .. } | Self::AgentMeta { agent, .. } => InternalAgent::of(agent),
            _ => None,
        }
    }

    /// Whether the file holds entries: a session, an agent, or one put aside.
    pub fn is_transcript(&self) -> bool {
        matches!(self, Self::Session { .. } | Self::Agent { .. } | Self::SetAside { .. })
    }

    /// The word for it in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Session { .. } => "session",
            Self::Agent { .. } => "agent",
            Self::AgentMeta { .. } => "agent-meta",
            Self::Journal { .. } => "journal",
            Self::Workflow { .. } => "workflow",
            Self::WorkflowScript { .. } => "workflow-script",
            Self::ToolResult { .. } => "tool-result",
            Self::SetAside { .. } => "set-aside",
            Self::SessionsIndex { .. } => "sessions-index",
            Self::SessionExtra { .. } => "session-extra",
            Self::Memory { .. } => "memory",
            Self::ProjectExtra { .. } => "project-extra",
            Self::History => "history",
            Self::PasteCache { .. } => "paste-cache",
            Self::Todos { .. } => "todos",
            Self::Task { .. } => "task",
            Self::TaskExtra { .. } => "task-extra",
            Self::Plan { .. } => "plan",
            Self::Debug { .. } => "debug",
            Self::SessionEnv { .. } => "session-env",
            Self::FileHistory { .. } => "file-history",
            Self::StatsCache => "stats-cache",
            Self::Registry { .. } => "registry",
            Self::ShellSnapshot => "shell-snapshot",
            Self::Upload { .. } => "upload",
            Self::ImageCache => "image-cache",
            Self::Team { .. } => "team",
            Self::Job { .. } => "job",
            Self::ClientState => "client-state",
            Self::Settings => "settings",
            Self::Secret => "secret",
            Self::Other => "other",
        }
    }
}

/// What a file is, from its path relative to the Claude folder.
pub fn classify(rel: &Path) -> FileKind {
    let Some(parts) = names(rel) else {
        return FileKind::Other;
    };
    let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
    match parts.as_slice() {
        ["projects", slug, rest @ ..] if !rest.is_empty() => project_file(slug, rest),
        [.., name] if is_secret(name) => FileKind::Secret,
        ["history.jsonl"] => FileKind::History,
        ["stats-cache.json"] => FileKind::StatsCache,
        ["settings.json" | "settings.local.json"] => FileKind::Settings,
        ["jobs", job, "state.json" | "timeline.jsonl"] => FileKind::Job { job: (*job).into() },
        ["jobs", ..] => FileKind::ClientState,
        ["shell-snapshots", _] => FileKind::ShellSnapshot,
        ["image-cache", _, ..] => FileKind::ImageCache,
        ["teams", team, _, ..] => FileKind::Team { team: (*team).into() },
        ["uploads", id, _, ..] => FileKind::Upload { session: SessionId::new(*id) },
        ["session-env", id, _, ..] => FileKind::SessionEnv { session: SessionId::new(*id) },
        ["tasks", id, rest @ ..] if !rest.is_empty() => task_file(id, rest),
        [folder, name] => flat_file(folder, name).unwrap_or(FileKind::Other),
        ["file-history", id, name] => backup_file(id, name).unwrap_or(FileKind::Other),
        _ => FileKind::Other,
    }
}

/// The parts of a path that stays below its start.
fn names(rel: &Path) -> Option<Vec<Cow<'_, str>>> {
    rel.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        })
        .collect()
}

/// `.credentials.json` and copies of it; the tokens beside the registry.
fn is_secret(name: &str) -> bool {
    name.starts_with(".credentials") || name.ends_with(".key")
}

/// A file of a folder whose files lie directly in it.
fn flat_file(folder: &str, name: &str) -> Option<FileKind> {
    match folder {
        "sessions" => Some(FileKind::Registry { pid: name.strip_suffix(".json")?.parse().ok()? }),
        "paste-cache" => Some(FileKind::PasteCache { hash: stem(name, ".txt")?.into() }),
        "debug" => Some(FileKind::Debug { session: SessionId::new(stem(name, ".txt")?) }),
        "todos" => todo_file(name),
        "plans" => {
            let plan = plan::PlanName::parse(name)?;
            Some(FileKind::Plan { words: plan.words, agent: plan.agent })
        }
        _ => None,
    }
}

/// What stands before `suffix`, unless the file is hidden.
fn stem<'a>(name: &'a str, suffix: &str) -> Option<&'a str> {
    name.strip_suffix(suffix).filter(|stem| !stem.is_empty() && !stem.starts_with('.'))
}

fn todo_file(name: &str) -> Option<FileKind> {
    let (session, agent) = stem(name, ".json")?.split_once("-agent-")?;
    let agent = (agent != session).then(|| AgentId::new(agent));
    Some(FileKind::Todos { session: SessionId::new(session), agent })
}

fn task_file(id: &str, rest: &[&str]) -> FileKind {
    let session = SessionId::new(id);
    let number = match rest {
        [name] => name.strip_suffix(".json").and_then(|number| number.parse().ok()),
        _ => None,
    };
    match number {
        Some(number) => FileKind::Task { session, number },
        None => FileKind::TaskExtra { session },
    }
}

fn backup_file(id: &str, name: &str) -> Option<FileKind> {
    let backup::BackupName { hash, version } = backup::BackupName::parse(name)?;
    Some(FileKind::FileHistory { session: SessionId::new(id), hash, version })
}

fn project_file(slug: &str, rest: &[&str]) -> FileKind {
    match rest {
        [name] => project_top(slug, name)
            .unwrap_or_else(|| FileKind::ProjectExtra { project_slug: slug.into() }),
        ["memory", ..] => FileKind::Memory { project_slug: slug.into() },
        [folder, inside @ ..] if is_session_folder(folder, inside) => {
            session_file(slug, folder, inside)
        }
        _ => FileKind::ProjectExtra { project_slug: slug.into() },
    }
}

/// A file that lies directly in a project folder.
fn project_top(slug: &str, name: &str) -> Option<FileKind> {
    if name == "sessions-index.json" {
        return Some(FileKind::SessionsIndex { project_slug: slug.into() });
    }
    let aside = || set_aside(slug, name);
    let agent = || agent_file(slug, None, None, name);
    let session = || {
        let session = SessionId::new(stem(name, ".jsonl")?);
        Some(FileKind::Session { project_slug: slug.into(), session })
    };
    aside().or_else(agent).or_else(session)
}

/// `<id>.jsonl.orphaned-<ms>`, `<id>.jsonl.superseded-<ms>`, both also with `.jsonl` behind and
/// then without the inner one.
fn set_aside(slug: &str, name: &str) -> Option<FileKind> {
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    let (before, reason, ms) =
        [(".orphaned-", SetAsideReason::Orphaned), (".superseded-", SetAsideReason::Superseded)]
            .into_iter()
            .find_map(|(word, reason)| {
                let (before, ms) = name.rsplit_once(word)?;
                Some((before, reason, ms))
            })?;
    let session = before.strip_suffix(".jsonl").unwrap_or(before);
    let all_digits = !ms.is_empty() && ms.bytes().all(|b| b.is_ascii_digit());
    if !all_digits || session.is_empty() || session.starts_with('.') {
        return None;
    }
    Some(FileKind::SetAside {
        project_slug: slug.into(),
        session: SessionId::new(session),
        reason,
        time: Time(ms.parse().ok()?),
    })
}

/// `agent-<id>.jsonl` or `agent-<id>.meta.json`.
fn agent_file(
    slug: &str,
    session: Option<&str>,
    workflow: Option<&str>,
    name: &str,
) -> Option<FileKind> {
    let rest = name.strip_prefix("agent-")?;
    let (project_slug, session) = (slug.into(), session.map(SessionId::new));
    let workflow = workflow.map(Into::into);
    if let Some(id) = stem(rest, ".jsonl") {
        return Some(FileKind::Agent { project_slug, session, agent: AgentId::new(id), workflow });
    }
    let id = stem(rest, ".meta.json")?;
    Some(FileKind::AgentMeta { project_slug, session, agent: AgentId::new(id), workflow })
}

/// A session's folder is named like a UUID, or holds what only such a folder holds.
fn is_session_folder(folder: &str, inside: &[&str]) -> bool {
    const INSIDE: [&str; 5] =
        ["subagents", "workflows", "tool-results", "remote-agents", "mcp-tasks"];
    is_uuid(folder) || inside.first().is_some_and(|name| inside.len() > 1 && INSIDE.contains(name))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

fn session_file(slug: &str, id: &str, inside: &[&str]) -> FileKind {
    let (project_slug, session) = (Box::from(slug), SessionId::new(id));
    let extra = FileKind::SessionExtra { project_slug: slug.into(), session: session.clone() };
    match inside {
        ["subagents", name] => agent_file(slug, Some(id), None, name).unwrap_or(extra),
        ["subagents", "workflows", run, "journal.jsonl"] => {
            FileKind::Journal { project_slug, session: Some(session), run: (*run).into() }
        }
        ["subagents", "workflows", run, name] => {
            agent_file(slug, Some(id), Some(run), name).unwrap_or(extra)
        }
        ["workflows", "scripts", name] => match stem(name, ".js") {
            Some(name) => FileKind::WorkflowScript { project_slug, session, name: name.into() },
            None => extra,
        },
        ["workflows", name] => match stem(name, ".json") {
            Some(run) => FileKind::Workflow { project_slug, session, run: run.into() },
            None => extra,
        },
        ["tool-results", rest @ ..] if !rest.is_empty() => {
            FileKind::ToolResult { project_slug, session, name: rest.join("/").into() }
        }
        _ => extra,
    }
}

/// What a file is that a person pointed at, from its name and its neighbours.
///
/// The path may lie outside any Claude folder: a copy, a download, a backup.
pub fn classify_lone(path: &Path) -> FileKind {
    let full = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => Cow::Borrowed(path),
        _ => fs::canonicalize(path).map_or(Cow::Borrowed(path), Cow::Owned),
    };
    let parts: Vec<Cow<'_, str>> = full
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        })
        .collect();
    let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
    known_place(&parts)
        .or_else(|| session_place(&parts))
        .or_else(|| neighbour_place(&full, &parts))
        .unwrap_or(FileKind::Other)
}

/// The kind, if a known folder of a Claude folder is among the path's own.
fn known_place(parts: &[&str]) -> Option<FileKind> {
    let starts = (0..parts.len().saturating_sub(1)).rev();
    starts
        .filter(|&at| FOLDERS.contains(&parts[at]))
        .map(|at| classify(&parts[at..].iter().collect::<PathBuf>()))
        .find(|kind| !matches!(kind, FileKind::Other | FileKind::ProjectExtra { .. }))
}

/// The kind, if the last folders are those of a session's folder or the name is a transcript's.
fn session_place(parts: &[&str]) -> Option<FileKind> {
    let deepest = parts.len().min(6);
    (2..=deepest)
        .rev()
        .map(|depth| project_file(parts[parts.len() - depth], &parts[parts.len() - depth + 1..]))
        .find(|kind| match kind {
            FileKind::Agent { .. }
            | FileKind::AgentMeta { .. }
            | FileKind::Journal { .. }
            | FileKind::Workflow { .. }
            | FileKind::WorkflowScript { .. }
            | FileKind::ToolResult { .. }
            | FileKind::SetAside { .. }
            | FileKind::SessionsIndex { .. } => true,
            FileKind::Session { session, .. } => !matches!(session.as_str(), "history" | "journal"),
            _ => false,
        })
}

/// The kind of a file whose folders say nothing.
fn neighbour_place(path: &Path, parts: &[&str]) -> Option<FileKind> {
    let (name, folder) = match parts {
        [.., folder, name] => (*name, *folder),
        [name] => (*name, ""),
        [] => return None,
    };
    let has = |neighbour: &str| path.with_file_name(neighbour).exists();
    match name {
        "history.jsonl" if !beside(path, |n| n.strip_suffix(".jsonl").is_some_and(is_uuid)) => {
            Some(FileKind::History)
        }
        "journal.jsonl" if beside(path, |n| n.starts_with("agent-")) => Some(FileKind::Journal {
            project_slug: folder.into(),
            session: None,
            run: folder.into(),
        }),
        "stats-cache.json" => Some(FileKind::StatsCache),
        "settings.json" | "settings.local.json" if has("projects") => Some(FileKind::Settings),
        _ if is_secret(name) => Some(FileKind::Secret),
        _ => project_top(folder, name)
            .or_else(|| todo_file(name))
            .or_else(|| backup_file(folder, name)),
    }
}

/// Whether a file in the same folder has such a name.
fn beside(path: &Path, wanted: impl Fn(&str) -> bool) -> bool {
    let Some(entries) = path.parent().and_then(|folder| fs::read_dir(folder).ok()) else {
        return false;
    };
    entries.flatten().any(|entry| entry.file_name().to_str().is_some_and(&wanted))
}

/// The folders at the top of a Claude folder which hold what sessions leave behind.
const FOLDERS: [&str; 14] = [
    "projects",
    "todos",
    "tasks",
    "plans",
    "file-history",
    "paste-cache",
    "image-cache",
    "uploads",
    "debug",
    "session-env",
    "shell-snapshots",
    "teams",
    "sessions",
    "jobs",
];

#[cfg(test)]
mod tests;

//! What lies where below a Claude folder: which file is what, and finding them all.
//!
//! A file's kind is decided from its path alone, so it costs nothing and nothing is opened; the
//! files with tokens in them ([`FileKind::Secret`]) are listed and never opened by anybody. A
//! person may also point at a `projects` folder, at one project, at one session's folder or at a
//! lone file: [`place`] says which, and everything found has a path as if below a Claude folder.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hashbrown::HashSet;
use rayon::prelude::*;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
const FOLDERS: [&str; 13] = [
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
];

/// What a person pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// A Claude folder (or one that looks like nothing else).
    Home,
    /// Its `projects` folder.
    Projects,
    /// One project's folder.
    Project,
    /// One session's folder.
    SessionFolder,
    /// A file.
    File,
}

/// What `path` is, from its name and what lies in it.
pub fn place(path: &Path) -> Result<Place, Problem> {
    let meta = fs::metadata(path).map_err(|error| Problem::new(path, error))?;
    if !meta.is_dir() {
        return Ok(Place::File);
    }
    if ["projects", "history.jsonl", "settings.json"].iter().any(|name| path.join(name).exists()) {
        return Ok(Place::Home);
    }
    if path.file_name().is_some_and(|name| name == "projects") {
        return Ok(Place::Projects);
    }
    if is_session_place(path) {
        return Ok(Place::SessionFolder);
    }
    let entries = fs::read_dir(path).map_err(|error| Problem::new(path, error))?;
    let mut projects = false;
    for entry in entries.flatten() {
        let inside = entry.path();
        if is_jsonl(&entry.file_name()) || is_session_place(&inside) {
            return Ok(Place::Project);
        }
        projects |= !projects && beside(&inside.join("x"), |name| name.ends_with(".jsonl"));
    }
    Ok(if projects { Place::Projects } else { Place::Home })
}

fn is_session_place(folder: &Path) -> bool {
    ["subagents", "tool-results"].iter().any(|name| folder.join(name).is_dir())
}

fn is_jsonl(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".jsonl"))
}

/// Where `path` would lie below a Claude folder.
fn prefix(path: &Path, place: Place) -> PathBuf {
    let name = |path: &Path| match path.file_name() {
        Some(name) => name.to_owned(),
        None => "-".into(),
    };
    // `.` and `..` have no name of their own.
    let real = match path.file_name() {
        Some(_) => Cow::Borrowed(path),
        None => fs::canonicalize(path).map_or(Cow::Borrowed(path), Cow::Owned),
    };
    let parent = || real.parent().map_or_else(|| "-".into(), name);
    let projects = Path::new("projects");
    match place {
        Place::Home | Place::File => PathBuf::new(),
        Place::Projects => projects.into(),
        Place::Project => projects.join(name(&real)),
        Place::SessionFolder => projects.join(parent()).join(name(&real)),
    }
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// Where it is below the Claude folder.
    pub rel: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<Time>,
    /// When it was made, where the file system knows.
    pub created: Option<Time>,
    /// Device and inode, which stay when the file is renamed; on Unix.
    pub inode: Option<(u64, u64)>,
}

impl Found {
    fn new(path: PathBuf, rel: PathBuf, meta: &Metadata) -> Self {
        let kind = classify(&rel);
        Self {
            path,
            rel,
            kind,
            size: meta.len(),
            modified: meta.modified().ok().and_then(time_of),
            created: meta.created().ok().and_then(time_of),
            inode: inode(meta),
        }
    }

    /// The file at `path`, which a person pointed at.
    pub fn lone(path: &Path) -> Result<Self, Problem> {
        let meta = fs::metadata(path).map_err(|error| Problem::new(path, error))?;
        let rel = path.file_name().map_or_else(PathBuf::new, PathBuf::from);
        let kind = classify_lone(path);
        Ok(Self { kind, ..Self::new(path.to_path_buf(), rel, &meta) })
    }
}

fn time_of(time: SystemTime) -> Option<Time> {
    let ms = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_millis()).ok()?,
    };
    Some(Time(ms))
}

#[cfg(unix)]
fn inode(meta: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Something that could not be read.
#[derive(Debug)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl Problem {
    /// An error and its path.
    pub fn new(path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self { path: path.into(), error }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// What a walk found, each list in the order of its paths.
#[derive(Debug, Default)]
pub struct Walk {
    /// The files.
    pub files: Vec<Found>,
    /// What could not be read; the walk went on.
    pub problems: Vec<Problem>,
    /// Folders at the top that hold nothing of sessions (`plugins/`, `local/`): not entered.
    pub not_entered: Vec<PathBuf>,
}

/// Every file of a Claude folder, a `projects` folder, a project, a session's folder; or a file.
pub fn walk(root: &Path) -> Walk {
    match place(root) {
        Err(problem) => problem_only(problem),
        Ok(Place::File) => lone_walk(root),
        Ok(place) => follow(vec![(root.to_path_buf(), prefix(root, place))]),
    }
}

/// As [`walk`], but only what lies below `projects/`.
pub fn walk_projects(root: &Path) -> Walk {
    match place(root) {
        Err(problem) => problem_only(problem),
        Ok(Place::File) => lone_walk(root),
        Ok(Place::Home) => match root.join("projects") {
            projects if projects.is_dir() => follow(vec![(projects, "projects".into())]),
            _ => Walk::default(),
        },
        Ok(place) => follow(vec![(root.to_path_buf(), prefix(root, place))]),
    }
}

/// As [`walk`], but only the live registry.
pub fn walk_registry(root: &Path) -> Walk {
    match root.join("sessions") {
        sessions if sessions.is_dir() => walk_as(&sessions, Path::new("sessions")),
        _ => Walk::default(),
    }
}

/// The files of a folder which stands for the folder `rel` of a Claude folder.
pub(crate) fn walk_as(folder: &Path, rel: &Path) -> Walk {
    follow(vec![(folder.to_path_buf(), rel.to_path_buf())])
}

/// The files of one session: its transcripts in every project, what was put aside, its folders.
///
/// Subagents that lie beside the sessions (2.0.28 to 2.0.76) name no session in their path and
/// are not among them.
pub fn session_files(root: &Path, session: &SessionId) -> Walk {
    let place = match place(root) {
        Err(problem) => return problem_only(problem),
        Ok(Place::File) => return only_of(session, lone_walk(root)),
        Ok(place) => place,
    };
    let prefix = prefix(root, place);
    let (top, rel) = match place {
        Place::Home => (root.join("projects"), PathBuf::from("projects")),
        _ => (root.to_path_buf(), prefix),
    };
    let projects = match place {
        Place::Home if !top.is_dir() => return Walk::default(),
        Place::Home | Place::Projects => match children(&top, &rel) {
            Ok(projects) => projects,
            Err(problem) => return problem_only(problem),
        },
        _ => vec![(top, rel)],
    };
    if place == Place::SessionFolder {
        return only_of(session, follow(projects));
    }
    let parts: Vec<Walk> = projects.par_iter().map(|at| project_session(at, session)).collect();
    finished(parts.into_iter().fold(Walk::default(), joined))
}

fn only_of(session: &SessionId, mut walk: Walk) -> Walk {
    walk.files.retain(|found| found.kind.session() == Some(session));
    walk
}

/// The folders in a folder, each once: real ones before links to them.
fn children(folder: &Path, rel: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Problem> {
    let entries = fs::read_dir(folder).map_err(|error| Problem::new(folder, error))?;
    let mut all: Vec<(bool, PathBuf, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let path = entry.path();
            let is_folder = kind.is_dir() || (kind.is_symlink() && !path.is_file());
            is_folder.then(|| (kind.is_symlink(), path, rel.join(entry.file_name())))
        })
        .collect();
    all.sort();
    let mut seen = HashSet::new();
    all.retain(|(_, path, _)| identity(path).is_none_or(|id| seen.insert(id)));
    Ok(all.into_iter().map(|(_, path, rel)| (path, rel)).collect())
}

/// One session's files in one project folder. Names are compared, never made from the id, which
/// may be any text.
fn project_session((folder, rel): &(PathBuf, PathBuf), session: &SessionId) -> Walk {
    let mut walk = Walk::default();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return problem_only(Problem::new(folder, error)),
    };
    let of_session = |entry: &DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(session.as_str()))
    };
    for entry in entries.flatten().filter(of_session) {
        let (path, rel) = (entry.path(), rel.join(entry.file_name()));
        match fs::metadata(&path) {
            Err(error) => walk.problems.push(Problem::new(path, error)),
            Ok(meta) if meta.is_dir() => {
                if entry.file_name().to_str() == Some(session.as_str()) {
                    walk = joined(walk, follow(vec![(path, rel)]));
                }
            }
            Ok(meta) => walk.files.push(Found::new(path, rel, &meta)),
        }
    }
    only_of(session, walk)
}

fn problem_only(problem: Problem) -> Walk {
    Walk { problems: vec![problem], ..Walk::default() }
}

fn lone_walk(path: &Path) -> Walk {
    match Found::lone(path) {
        Ok(found) => Walk { files: vec![found], ..Walk::default() },
        Err(problem) => problem_only(problem),
    }
}

fn joined(mut all: Walk, part: Walk) -> Walk {
    all.files.extend(part.files);
    all.problems.extend(part.problems);
    all.not_entered.extend(part.not_entered);
    all
}

fn finished(mut walk: Walk) -> Walk {
    walk.files.par_sort_unstable_by(|a, b| a.rel.as_os_str().cmp(b.rel.as_os_str()));
    walk.problems.sort_by(|a, b| a.path.cmp(&b.path));
    walk.not_entered.sort();
    walk
}

/// Folders nested deeper than this are a mistake or a trap.
const DEEPEST: usize = 32;

/// Links to folders are followed down to `projects/<slug>/<session>`; below, nobody makes them.
const DEEPEST_LINK: usize = 3;

/// Which folder it is, whatever path led there.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    Inode(u64, u64),
    Path(PathBuf),
}

fn identity(path: &Path) -> Option<Identity> {
    match inode(&fs::metadata(path).ok()?) {
        Some((device, inode)) => Some(Identity::Inode(device, inode)),
        None => fs::canonicalize(path).ok().map(Identity::Path),
    }
}

/// What one folder and all below it gave.
#[derive(Default)]
struct Part {
    walk: Walk,
    links: Vec<(PathBuf, PathBuf)>,
    folders: Vec<Identity>,
}

impl Part {
    fn join(mut self, other: Part) -> Part {
        self.walk = joined(self.walk, other.walk);
        self.links.extend(other.links);
        self.folders.extend(other.folders);
        self
    }

    fn problem(&mut self, path: PathBuf, error: io::Error) {
        self.walk.problems.push(Problem::new(path, error));
    }
}

/// Walks `starts`, then the linked folders met, each folder once.
///
/// Real folders come first and links in the order of their paths: whichever thread was quicker,
/// the same path stands for a folder that can be reached in two ways.
fn follow(starts: Vec<(PathBuf, PathBuf)>) -> Walk {
    let mut seen: HashSet<Identity> = HashSet::new();
    let mut walk = Walk::default();
    let mut round = starts;
    while !round.is_empty() {
        round.sort();
        let mut links = Vec::new();
        for (path, rel) in std::mem::take(&mut round) {
            if identity(&path).is_some_and(|id| seen.contains(&id)) {
                continue;
            }
            let part = visit(&path, &rel);
            seen.extend(part.folders);
            links.extend(part.links);
            walk = joined(walk, part.walk);
        }
        round = links;
    }
    finished(walk)
}

/// One folder and the real folders below it.
fn visit(folder: &Path, rel: &Path) -> Part {
    let mut part = Part::default();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            part.problem(folder.to_path_buf(), error);
            return part;
        }
    };
    part.folders.extend(identity(folder));
    let mut below = Vec::new();
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
            Ok((kind, entry)) => part.entry(&entry, kind, rel, &mut below),
            Err(error) => part.problem(folder.to_path_buf(), error),
        }
    }
    let below: Vec<Part> = below.par_iter().map(|(path, rel)| visit(path, rel)).collect();
    below.into_iter().fold(part, Part::join)
}

impl Part {
    fn entry(
        &mut self,
        entry: &DirEntry,
        kind: FileType,
        folder: &Path,
        below: &mut Vec<(PathBuf, PathBuf)>,
    ) {
        let (path, rel) = (entry.path(), folder.join(entry.file_name()));
        if kind.is_symlink() {
            self.link(path, rel);
        } else if kind.is_dir() {
            if self.may_enter(&path, &rel) {
                below.push((path, rel));
            }
        } else if kind.is_file() {
            match entry.metadata() {
                Ok(meta) => self.walk.files.push(Found::new(path, rel, &meta)),
                Err(error) => self.problem(path, error),
            }
        }
    }

    fn link(&mut self, path: PathBuf, rel: PathBuf) {
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => self.walk.files.push(Found::new(path, rel, &meta)),
            Ok(meta) if meta.is_dir() => {
                if rel.components().count() > DEEPEST_LINK {
                    self.problem(
                        path,
                        io::Error::other("a link to a folder this deep is not followed"),
                    );
                } else if self.may_enter(&path, &rel) {
                    self.links.push((path, rel));
                }
            }
            Ok(_) => {}
            // It points at the newest log, and logs are swept away.
            Err(_) if rel == Path::new("debug/latest") => {}
            Err(error) => self.problem(path, error),
        }
    }

    fn may_enter(&mut self, path: &Path, rel: &Path) -> bool {
        let depth = rel.components().count();
        if path.file_name().is_some_and(is_jsonl) {
            let error =
                io::Error::new(io::ErrorKind::IsADirectory, "a folder named like a transcript");
            self.problem(path.to_path_buf(), error);
            return false;
        }
        if depth > DEEPEST {
            self.problem(path.to_path_buf(), io::Error::other("folders are nested too deep"));
            return false;
        }
        let known = depth != 1 || FOLDERS.iter().any(|name| rel == Path::new(name));
        if !known {
            self.walk.not_entered.push(path.to_path_buf());
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SID: &str = "0340f328-33c2-42fb-b9fa-ae58a9d8a799";

    /// The kind in a few words: its name, then its parts without the project.
    fn told(rel: &str) -> String {
        let kind = classify(Path::new(&rel.replace("SID", SID)));
        tell(&kind)
    }

    fn tell(kind: &FileKind) -> String {
        let more = match kind {
            FileKind::Agent { agent, workflow, .. }
            | FileKind::AgentMeta { agent, workflow, .. } => {
                format!("{agent} {workflow:?} {:?}", kind.internal())
            }
            FileKind::Journal { run, .. } | FileKind::Workflow { run, .. } => run.to_string(),
            FileKind::WorkflowScript { name, .. } | FileKind::ToolResult { name, .. } => {
                name.to_string()
            }
            FileKind::SetAside { reason, time, .. } => format!("{reason:?} {}", time.0),
            FileKind::PasteCache { hash } => hash.to_string(),
            FileKind::Todos { agent, .. } | FileKind::Plan { agent, .. } => {
                agent.as_ref().map_or("-".into(), ToString::to_string)
            }
            FileKind::Task { number, .. } => number.to_string(),
            FileKind::FileHistory { hash, version, .. } => format!("{hash} {version}"),
            FileKind::Registry { pid } => pid.to_string(),
            FileKind::Team { team } => team.to_string(),
            _ => String::new(),
        };
        let session = kind.session().map_or("", SessionId::as_str).replace(SID, "SID");
        [kind.name(), &session, &more].join(" ").trim_end().replace("  ", " ")
    }

    #[test]
    fn every_place_of_the_layout() {
        let cases = [
            ("projects/-a/SID.jsonl", "session SID"),
            ("projects/-a/sess-1.jsonl", "session sess-1"),
            ("projects/-a/agent-a7b0bd37.jsonl", "agent a7b0bd37 None None"),
            (
                "projects/-a/SID/subagents/agent-ab1e6e141221a29ab.jsonl",
                "agent SID ab1e6e141221a29ab None None",
            ),
            (
                "projects/-a/SID/subagents/agent-acompact-12ab.jsonl",
                "agent SID acompact-12ab None Some(Compact)",
            ),
            (
                "projects/-a/SID/subagents/agent-aprompt_suggestion-12ab.jsonl",
                "agent SID aprompt_suggestion-12ab None Some(PromptSuggestion)",
            ),
            (
                "projects/-a/SID/subagents/agent-aside_question-12ab.jsonl",
                "agent SID aside_question-12ab None Some(SideQuestion)",
            ),
            ("projects/-a/SID/subagents/agent-a1.meta.json", "agent-meta SID a1 None None"),
            ("projects/-a/SID/subagents/workflows/wf_1/journal.jsonl", "journal SID wf_1"),
            (
                "projects/-a/SID/subagents/workflows/wf_1/agent-a1.jsonl",
                "agent SID a1 Some(\"wf_1\") None",
            ),
            (
                "projects/-a/SID/subagents/workflows/wf_1/agent-a1.meta.json",
                "agent-meta SID a1 Some(\"wf_1\") None",
            ),
            ("projects/-a/SID/workflows/wf_1.json", "workflow SID wf_1"),
            ("projects/-a/SID/workflows/scripts/review-wf_1.js", "workflow-script SID review-wf_1"),
            ("projects/-a/SID/tool-results/b9excv8zh.txt", "tool-result SID b9excv8zh.txt"),
            ("projects/-a/SID/tool-results/pdf-1/page-01.jpg", "tool-result SID pdf-1/page-01.jpg"),
            ("projects/-a/sess-1/tool-results/x.txt", "tool-result sess-1 x.txt"),
            ("projects/-a/SID/remote-agents/x.json", "session-extra SID"),
            ("projects/-a/SID/custom-title.json", "session-extra SID"),
            ("projects/-a/SID/.precompact.json", "session-extra SID"),
            (
                "projects/-a/SID.jsonl.orphaned-1769000000000",
                "set-aside SID Orphaned 1769000000000",
            ),
            (
                "projects/-a/SID.jsonl.superseded-1769000000000",
                "set-aside SID Superseded 1769000000000",
            ),
            (
                "projects/-a/SID.jsonl.superseded-1769000000000.jsonl",
                "set-aside SID Superseded 1769000000000",
            ),
            (
                "projects/-a/SID.superseded-1769000000000.jsonl",
                "set-aside SID Superseded 1769000000000",
            ),
            ("projects/-a/sessions-index.json", "sessions-index"),
            ("projects/-a/memory/MEMORY.md", "memory"),
            ("projects/-a/.session-aliases", "project-extra"),
            ("projects/-a/bridge-pointer.json", "project-extra"),
            ("projects/-a/._SID.jsonl", "project-extra"),
            ("history.jsonl", "history"),
            ("paste-cache/e3b0c44298fc1c14.txt", "paste-cache e3b0c44298fc1c14"),
            ("todos/SID-agent-SID.json", "todos SID -"),
            ("todos/SID-agent-a7b0bd37.json", "todos SID a7b0bd37"),
            ("tasks/SID/12.json", "task SID 12"),
            ("tasks/SID/.lock", "task-extra SID"),
            ("tasks/SID/.highwatermark", "task-extra SID"),
            ("plans/dazzling-popping-wren.md", "plan -"),
            ("plans/dazzling-popping-wren-agent-a7b0bd37.md", "plan a7b0bd37"),
            ("debug/SID.txt", "debug SID"),
            ("debug/latest", "other"),
            ("session-env/SID/hook.sh", "session-env SID"),
            ("file-history/SID/d358f484ed29fb31@v2", "file-history SID d358f484ed29fb31 2"),
            ("stats-cache.json", "stats-cache"),
            ("sessions/4711.json", "registry 4711"),
            ("sessions/4711.0123abcd.key", "secret"),
            (".credentials.json", "secret"),
            ("shell-snapshots/snapshot-zsh-1769000000000-x1y2z3.sh", "shell-snapshot"),
            ("uploads/SID/0123abcd-a.png", "upload SID"),
            ("image-cache/SID/1.png", "image-cache"),
            ("teams/mine/config.json", "team mine"),
            ("settings.json", "settings"),
            ("statsig/x", "other"),
            ("projects/stray.jsonl", "other"),
            ("../projects/-a/SID.jsonl", "other"),
            ("", "other"),
        ];
        for (rel, want) in cases {
            assert_eq!(told(rel), want, "{rel}");
        }
    }

    #[test]
    fn a_lone_file_is_known_by_its_name_and_neighbours() {
        let root = tempfile::tempdir().expect("temp dir");
        let lone = |rel: &str| {
            let path = write(root.path(), rel);
            let kind = classify_lone(&path);
            format!("{} @{}", tell(&kind), kind.project_slug().unwrap_or("none"))
        };
        assert_eq!(lone("copy/talk.jsonl"), "session talk @copy");
        assert_eq!(lone("copy/agent-a1.jsonl"), "agent a1 None None @copy");
        assert_eq!(lone("x/projects/-a/s.jsonl"), "session s @-a");
        assert_eq!(lone("y/-a/s/subagents/agent-a1.jsonl"), "agent s a1 None None @-a");
        assert_eq!(lone("y/-a/s/subagents/workflows/r/journal.jsonl"), "journal s r @-a");
        assert_eq!(lone("run/journal.jsonl"), "session journal @run");
        write(root.path(), "run/agent-a1.jsonl");
        assert_eq!(lone("run/journal.jsonl"), "journal run @run");
        assert_eq!(lone("h/history.jsonl"), "history @none");
        write(root.path(), &format!("h/{SID}.jsonl"));
        assert_eq!(lone("h/history.jsonl"), "session history @h");
        assert_eq!(lone("z/.credentials.json"), "secret @none");
        assert_eq!(lone("z/todos/s-agent-s.json"), "todos s - @none");
        assert_eq!(lone("z/readme.txt"), "other @none");
    }

    fn write(root: &Path, rel: &str) -> PathBuf {
        let path = root.join(rel);
        fs::create_dir_all(path.parent().expect("has one")).expect("mkdir");
        fs::write(&path, "{}\n").expect("write");
        path
    }

    fn rels(walk: &Walk) -> Vec<String> {
        walk.files.iter().map(|found| found.rel.to_string_lossy().into_owned()).collect()
    }

    fn home() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("temp dir");
        for rel in [
            "projects/-b/s1.jsonl",
            "projects/-a/s1.jsonl",
            "projects/-a/s1/subagents/agent-a1.jsonl",
            "projects/-a/s1.jsonl.orphaned-12",
            "projects/-a/s10.jsonl",
            "history.jsonl",
            "plugins/big/x.json",
            "todos/s1-agent-s1.json",
        ] {
            write(root.path(), rel);
        }
        root
    }

    const PROJECTS: [&str; 5] = [
        "projects/-a/s1.jsonl",
        "projects/-a/s1.jsonl.orphaned-12",
        "projects/-a/s1/subagents/agent-a1.jsonl",
        "projects/-a/s10.jsonl",
        "projects/-b/s1.jsonl",
    ];

    #[test]
    fn a_walk_is_sorted_and_leaves_unknown_folders() {
        let root = home();
        let all = walk(root.path());
        let want = [&["history.jsonl"][..], &PROJECTS, &["todos/s1-agent-s1.json"]].concat();
        assert_eq!(rels(&all), want);
        assert_eq!(all.not_entered, [root.path().join("plugins")]);
        assert!(all.problems.is_empty());
        let first = &all.files[0];
        assert_eq!((first.size, first.modified.is_some()), (3, true));
        assert_eq!(first.inode.is_some(), cfg!(unix));
    }

    #[test]
    fn any_folder_of_it_may_be_the_start() {
        let root = home();
        let at = |rel: &str| root.path().join(rel);
        assert_eq!(rels(&walk_projects(root.path())), PROJECTS);
        assert_eq!(rels(&walk(&at("projects"))), PROJECTS);
        assert_eq!(rels(&walk(&at("projects/-a"))), PROJECTS[..4]);
        assert_eq!(rels(&walk(&at("projects/-a/s1"))), PROJECTS[2..3]);
        let lone = walk(&at("projects/-b/s1.jsonl"));
        assert_eq!(lone.files[0].kind.project_slug(), Some("-b"));
        fs::rename(at("projects"), at("kept")).expect("rename");
        assert_eq!(rels(&walk(&at("kept"))), PROJECTS);
        let gone = walk(&at("gone"));
        assert_eq!((gone.files.len(), &gone.problems[0].path), (0, &at("gone")));
    }

    #[test]
    fn one_session_is_found_without_the_others() {
        let root = home();
        let id = SessionId::new("s1");
        let want = [&PROJECTS[..3], &PROJECTS[4..]].concat();
        assert_eq!(rels(&session_files(root.path(), &id)), want);
        assert_eq!(rels(&session_files(&root.path().join("projects/-b"), &id)), PROJECTS[4..]);
        for none in ["", "../-a/s1", "s"] {
            let walk = session_files(root.path(), &SessionId::new(none));
            assert_eq!(rels(&walk), [""; 0], "{none}");
        }
    }

    #[test]
    fn a_folder_named_like_a_transcript_is_a_problem() {
        let root = home();
        fs::create_dir(root.path().join("projects/-a/odd.jsonl")).expect("mkdir");
        let walk = walk_projects(root.path());
        assert_eq!(rels(&walk), PROJECTS);
        assert_eq!(walk.problems[0].error.kind(), io::ErrorKind::IsADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once() {
        use std::os::unix::fs::symlink;
        let root = home();
        let outside = tempfile::tempdir().expect("temp dir");
        write(outside.path(), "s9.jsonl");
        let at = |rel: &str| root.path().join(rel);
        symlink(outside.path(), at("projects/-away")).expect("link");
        symlink(outside.path(), at("projects/-away-again")).expect("link");
        symlink(at("projects/-b"), at("projects/-0-same")).expect("link");
        symlink(at("projects"), at("projects/-a/loop")).expect("link");
        symlink(at("projects"), at("projects/-a/s1/subagents/deep")).expect("link");
        symlink(at("nowhere"), at("projects/-a/broken.jsonl")).expect("link");
        fs::create_dir(at("debug")).expect("mkdir");
        symlink(at("nowhere"), at("debug/latest")).expect("link");
        let walk = walk(root.path());
        let below: Vec<_> =
            rels(&walk).into_iter().filter(|rel| rel.starts_with("projects")).collect();
        let mut want = PROJECTS.to_vec();
        want.insert(4, "projects/-away/s9.jsonl");
        assert_eq!(below, want);
        let problems: Vec<_> = walk.problems.iter().map(|p| p.path.clone()).collect();
        assert_eq!(problems, [at("projects/-a/broken.jsonl"), at("projects/-a/s1/subagents/deep")]);
        let one = session_files(root.path(), &SessionId::new("s9"));
        assert_eq!(rels(&one), ["projects/-away/s9.jsonl"]);
    }

    /// The real files beside the project, where they are.
    fn real() -> Option<PathBuf> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real");
        let given = std::env::var_os("RECOUNT_REAL").map(PathBuf::from);
        given.or(Some(beside)).filter(|path| path.is_dir())
    }

    #[test]
    fn the_real_files_are_all_known() {
        let Some(root) = real() else { return };
        let walk = walk_projects(&root);
        assert!(walk.problems.is_empty(), "{:?}", walk.problems);
        let count = |name: &str| walk.files.iter().filter(|f| f.kind.name() == name).count();
        assert_eq!(count("session") + count("agent"), 154);
        assert_eq!(count("agent-meta"), 6);
        assert_eq!(walk.files.len(), 160);
        for found in walk.files.iter().filter(|f| matches!(f.kind, FileKind::AgentMeta { .. })) {
            let bytes = fs::read(&found.path).expect("readable");
            let (meta, odd) = crate::side::agent_meta::parse(&bytes);
            assert!(odd.is_empty() && meta.extra.is_empty() && meta.agent_type.is_some());
        }
    }

    proptest! {
        #[test]
        fn classifying_never_panics(rel in "(projects|todos|plans|file-history|\\PC{0,9})(/[-@.a-z0-9]{0,20}|/\\PC{0,9}){0,6}") {
            let _ = classify(Path::new(&rel)).name();
            let _ = known_place(&rel.split('/').collect::<Vec<_>>());
        }

        #[cfg(unix)]
        #[test]
        fn classifying_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            use std::os::unix::ffi::OsStrExt;
            let _ = classify(Path::new(OsStr::from_bytes(&bytes)));
        }
    }
}

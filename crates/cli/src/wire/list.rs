//! Lines of `recount list --json`.

use report::list::{ListRow, ProjectRow};
use serde::Serialize;

use super::time;

/// A session.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "session")]
pub struct Session<'a> {
    /// Its id.
    pub session: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Where the title comes from: `custom`, `ai`, `last-prompt`, `summary`, `first-prompt`,
    /// `command`, `task`.
    pub title_source: Option<&'static str>,
    /// The folder it began in.
    pub project: Option<&'a str>,
    /// The git branch last seen.
    pub branch: Option<&'a str>,
    /// `live`, `ended`, `interrupted`.
    pub state: &'static str,
    /// `whole`, `copy`, `pointer`, `stub`, `empty`.
    pub standing: &'static str,
    /// The first entry's time.
    pub started: Option<String>,
    /// The last entry's time.
    pub ended: Option<String>,
    /// Between the two, in milliseconds.
    pub duration_ms: Option<i64>,
    /// A person's turns on the way.
    pub turns: usize,
    /// Prompts on branches that were left.
    pub abandoned_prompts: usize,
    /// Calls in its own file.
    pub calls: usize,
    /// Failed calls in its own file.
    pub errors: usize,
    /// Subagents.
    pub subagents: usize,
    /// Calls, subagents' included.
    pub all_calls: usize,
    /// Failed calls, subagents' included.
    pub all_errors: usize,
    /// Files changed.
    pub files: usize,
    /// Lines added to them.
    pub lines_added: u64,
    /// Lines removed from them.
    pub lines_removed: u64,
    /// Segments between compactions.
    pub segments: usize,
    /// Branches that a person left by going back.
    pub rewinds: usize,
    /// Bytes of its file and its subagents' files.
    pub size: u64,
    /// Models that answered.
    pub models: Vec<&'a str>,
    /// Claude Code versions that wrote it.
    pub versions: Vec<&'a str>,
    /// How it was started.
    pub entrypoint: Option<&'a str>,
    /// Its tag.
    pub tag: Option<&'a str>,
    /// Entries that another session's file owns.
    pub copied_entries: usize,
    /// Entries of other sessions in its file.
    pub foreign_entries: usize,
    /// Entries of it that stand in other sessions' files.
    pub entries_elsewhere: usize,
    /// Other sessions it is connected with.
    pub connections: Vec<Connected<'a>>,
    /// Pull requests.
    pub pull_requests: Vec<&'a str>,
    /// Commits, by hash.
    pub commits: Vec<&'a str>,
}

/// Another session.
#[derive(Debug, Serialize)]
pub struct Connected<'a> {
    /// `copied-from`, `forked-from`, `continued-in`, `continues`, `points-to`, `lineage`.
    pub how: &'static str,
    /// Its id.
    pub session: &'a str,
}

impl<'a> From<&'a ListRow<'a>> for Session<'a> {
    fn from(row: &'a ListRow<'a>) -> Self {
        let (item, facts) = (row.item, &row.item.facts);
        let texts = |list: &'a [Box<str>]| list.iter().map(|text| &**text).collect();
        Self {
            session: item.id.as_str(),
            title: item.title.as_ref().map(|(title, _)| &**title),
            title_source: item.title.as_ref().map(|(_, source)| source.name()),
            project: row.project.as_deref(),
            branch: facts.git_branch.as_deref(),
            state: row.life.name(),
            standing: item.standing.name(),
            started: time(facts.first),
            ended: time(facts.last),
            duration_ms: row.duration_ms(),
            turns: facts.turns,
            abandoned_prompts: facts.abandoned_prompts,
            calls: facts.calls,
            errors: facts.errors,
            subagents: item.agents.len(),
            all_calls: row.calls,
            all_errors: row.errors,
            files: facts.files,
            lines_added: facts.added,
            lines_removed: facts.removed,
            segments: facts.segments,
            rewinds: facts.rewinds,
            size: row.size,
            models: texts(&facts.models),
            versions: texts(&facts.versions),
            entrypoint: facts.entrypoint.as_deref(),
            tag: facts.tag.as_deref(),
            copied_entries: item.copied,
            foreign_entries: item.foreign,
            entries_elsewhere: item.found_in.iter().map(|(_, count)| count).sum(),
            connections: item
                .connections
                .iter()
                .map(|(kind, id)| Connected { how: kind.name(), session: id.as_str() })
                .collect(),
            pull_requests: facts.pr_links.iter().map(|link| &*link.url).collect(),
            commits: facts.commits.iter().map(|commit| commit.hash.as_str()).collect(),
        }
    }
}

/// A project.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "project")]
pub struct Project<'a> {
    /// The folder.
    pub project: &'a str,
    /// Its sessions.
    pub sessions: usize,
    /// Turns in them.
    pub turns: usize,
    /// Calls in them, subagents' included.
    pub calls: usize,
    /// Failed calls in them.
    pub errors: usize,
    /// Bytes of their files.
    pub size: u64,
    /// First activity.
    pub first: Option<String>,
    /// Last activity.
    pub last: Option<String>,
}

impl<'a> From<&'a ProjectRow> for Project<'a> {
    fn from(row: &'a ProjectRow) -> Self {
        Self {
            project: &row.project,
            sessions: row.sessions,
            turns: row.turns,
            calls: row.calls,
            errors: row.errors,
            size: row.size,
            first: time(row.first),
            last: time(row.last),
        }
    }
}

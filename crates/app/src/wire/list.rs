//! Lines of `recount list --json`.

use report::list::{Life, ListRow, ProjectRow};
use serde::Serialize;

use super::time;
use crate::commands::note::Notes;

/// A session. Of a ghost only what the history says is known; all counts but `turns` and `notes`
/// are `null`.
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
    /// `live`, `ended`, `interrupted`, `ghost` (only its prompts are left).
    pub state: &'static str,
    /// `whole`, `copy`, `pointer`, `stub`, `empty`, `ghost`.
    pub standing: &'static str,
    /// The first entry's time.
    pub started: Option<String>,
    /// The last entry's time.
    pub ended: Option<String>,
    /// Between the two, in milliseconds.
    pub duration_ms: Option<i64>,
    /// A person's turns on the way; of a ghost its prompts.
    pub turns: usize,
    /// Prompts on branches that were left.
    pub abandoned_prompts: Option<usize>,
    /// Calls in its own file.
    pub calls: Option<usize>,
    /// Failed calls in its own file.
    pub errors: Option<usize>,
    /// Subagents.
    pub subagents: Option<usize>,
    /// Calls, subagents' included.
    pub all_calls: Option<usize>,
    /// Failed calls, subagents' included.
    pub all_errors: Option<usize>,
    /// Files changed.
    pub files: Option<usize>,
    /// Lines added to them.
    pub lines_added: Option<u64>,
    /// Lines removed from them.
    pub lines_removed: Option<u64>,
    /// Segments between compactions.
    pub segments: Option<usize>,
    /// Branches that a person left by going back.
    pub rewinds: Option<usize>,
    /// Bytes of its file and its subagents' files.
    pub size: Option<u64>,
    /// Models that answered.
    pub models: Vec<&'a str>,
    /// Claude Code versions that wrote it.
    pub versions: Vec<&'a str>,
    /// How it was started.
    pub entrypoint: Option<&'a str>,
    /// Its tag.
    pub tag: Option<&'a str>,
    /// Entries that another session's file owns.
    pub copied_entries: Option<usize>,
    /// Entries of other sessions in its file.
    pub foreign_entries: Option<usize>,
    /// Entries of it that stand in other sessions' files.
    pub entries_elsewhere: Option<usize>,
    /// Other sessions it is connected with.
    pub connections: Vec<Connected<'a>>,
    /// Pull requests.
    pub pull_requests: Vec<&'a str>,
    /// Commits, by hash.
    pub commits: Vec<&'a str>,
    /// Whether a person has given it, or something in it, a star.
    pub star: bool,
    /// The tags of a person's notes on it.
    pub note_tags: Vec<&'a str>,
    /// How many notes with words there are on it.
    pub notes: usize,
}

/// Another session.
#[derive(Debug, Serialize)]
pub struct Connected<'a> {
    /// `copied-from`, `forked-from`, `continued-in`, `continues`, `points-to`, `lineage`.
    pub how: &'static str,
    /// Its id.
    pub session: &'a str,
}

impl<'a> Session<'a> {
    /// A session with what a person noted on it.
    pub fn new(row: &'a ListRow<'a>, notes: &'a Notes) -> Self {
        let id = row.item.id.as_str();
        let (item, facts) = (row.item, &row.item.facts);
        let is_known = row.life != Life::Ghost;
        let known = |count: usize| is_known.then_some(count);
        let texts = |list: &'a [Box<str>]| list.iter().map(|text| &**text).collect();
        Self {
            session: item.id.as_str(),
            title: item.title.as_ref().map(|(title, _)| &**title),
            title_source: item.title.as_ref().map(|(_, source)| source.name()),
            project: row.project.as_deref(),
            branch: facts.git_branch.as_deref(),
            state: row.life.name(),
            standing: if is_known { item.standing.name() } else { row.life.name() },
            started: time(facts.first),
            ended: time(facts.last),
            duration_ms: row.duration_ms(),
            turns: facts.turns,
            abandoned_prompts: known(facts.abandoned_prompts),
            calls: known(facts.calls),
            errors: known(facts.errors),
            subagents: known(item.agents.len()),
            all_calls: known(row.calls),
            all_errors: known(row.errors),
            files: known(facts.files),
            lines_added: is_known.then_some(facts.added),
            lines_removed: is_known.then_some(facts.removed),
            segments: known(facts.segments),
            rewinds: known(facts.rewinds),
            size: is_known.then_some(row.size),
            models: texts(&facts.models),
            versions: texts(&facts.versions),
            entrypoint: facts.entrypoint.as_deref(),
            tag: facts.tag.as_deref(),
            copied_entries: known(item.copied),
            foreign_entries: known(item.foreign),
            entries_elsewhere: known(item.found_in.iter().map(|(_, count)| count).sum()),
            connections: item
                .connections
                .iter()
                .map(|(kind, id)| Connected { how: kind.name(), session: id.as_str() })
                .collect(),
            pull_requests: facts.pr_links.iter().map(|link| &*link.url).collect(),
            commits: facts.commits.iter().map(|commit| commit.hash.as_str()).collect(),
            star: notes.has_star(id),
            note_tags: notes.tags(id),
            notes: notes.count(id),
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

//! The rows of the catalog as values.

use rusqlite::Row;
use transcript::id::SessionId;
use transcript::library::SessionItem;
use transcript::session::Session;
use transcript::time::Time;

use super::FileId;

/// How far a file has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// The file.
    pub id: FileId,
    /// Which of its generations.
    pub generation: i64,
    /// How much of it.
    pub size: u64,
    /// As what, see [`super::Writer::file`].
    pub read_as: Option<String>,
    /// The edition in which that was written.
    pub edition: u64,
    /// The session it belongs to.
    pub session: Option<SessionId>,
}

impl FileRow {
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            generation: row.get(1)?,
            size: row.get::<_, i64>(2)? as u64,
            edition: row.get::<_, i64>(3)? as u64,
            session: row.get::<_, Option<Box<str>>>(4)?.map(SessionId::new),
            read_as: row.get(5)?,
        })
    }
}

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchRow {
    /// The number of the entry with the result.
    pub entry: u32,
    /// When.
    pub time: Option<Time>,
    /// The file that was changed, as recorded.
    pub path: String,
    /// The tool.
    pub tool: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The file did not exist before.
    pub created: bool,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRow {
    /// The number of the entry that says so.
    pub entry: u32,
    /// When.
    pub time: Option<Time>,
    /// The hash, as short as git printed it.
    pub hash: String,
    /// The branch.
    pub branch: Option<String>,
    /// The first line of the message.
    pub subject: Option<String>,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrRow {
    /// The number of the entry that first names it.
    pub entry: u32,
    /// When it was first named.
    pub time: Option<Time>,
    /// Its number.
    pub number: Option<u64>,
    /// Its address.
    pub url: String,
    /// Its repository.
    pub repository: Option<String>,
}

/// The changes, commits and pull requests of a session, in the order of its file.
pub fn rows(session: &Session) -> (Vec<TouchRow>, Vec<CommitRow>, Vec<PrRow>) {
    let nodes = session.nodes();
    let touches = session.touches().filter_map(|(path, touch)| {
        let call = &session.calls()[touch.call()];
        let node = nodes[call.result()?];
        Some(TouchRow {
            entry: node.number,
            time: node.time(),
            path: path.to_owned(),
            tool: session.tool(call).to_owned(),
            added: touch.added,
            removed: touch.removed,
            created: touch.created,
        })
    });
    let commits = session.commits().map(|(node, commit)| CommitRow {
        entry: nodes[node].number,
        time: nodes[node].time(),
        hash: commit.hash.clone(),
        branch: commit.branch.clone(),
        subject: commit.subject.clone(),
    });
    let prs = session.pr_links().iter().map(|link| PrRow {
        entry: link.entry,
        time: link.time,
        number: link.number,
        url: link.url.to_string(),
        repository: link.repository.as_deref().map(Into::into),
    });
    (touches.collect(), commits.collect(), prs.collect())
}

/// A session over all its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Its own file.
    pub file: Option<FileId>,
    /// What its file turned out to be.
    pub standing: String,
    /// Its title.
    pub title: Option<String>,
    /// Where the title comes from.
    pub title_source: Option<String>,
    /// The folder it began in.
    pub project: Option<String>,
    /// The git branch last seen.
    pub branch: Option<String>,
    /// Its earliest time.
    pub first: Option<Time>,
    /// Its latest time.
    pub last: Option<Time>,
    /// A person's turns.
    pub turns: u64,
    /// Calls.
    pub calls: u64,
    /// Failed calls.
    pub errors: u64,
    /// Entries.
    pub entries: u64,
    /// Files changed.
    pub files: u64,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// The models that answered.
    pub models: Vec<String>,
}

impl SessionRow {
    pub(super) const COLUMNS: &'static str = "id, file, standing, title, title_source, project, \
        branch, first, last, turns, calls, errors, entries, files, added, removed, models";

    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let number = |at| row.get::<_, i64>(at).map(|n| n as u64);
        let models: String = row.get(16)?;
        Ok(Self {
            id: SessionId::new(row.get::<_, Box<str>>(0)?),
            file: row.get(1)?,
            standing: row.get(2)?,
            title: row.get(3)?,
            title_source: row.get(4)?,
            project: row.get(5)?,
            branch: row.get(6)?,
            first: row.get::<_, Option<i64>>(7)?.map(Time),
            last: row.get::<_, Option<i64>>(8)?.map(Time),
            turns: number(9)?,
            calls: number(10)?,
            errors: number(11)?,
            entries: number(12)?,
            files: number(13)?,
            added: number(14)?,
            removed: number(15)?,
            models: models.lines().map(Into::into).collect(),
        })
    }

    pub(super) fn new(item: &SessionItem, ids: &[FileId]) -> Self {
        let facts = &item.facts;
        Self {
            id: item.id.clone(),
            file: item.file.map(|file| ids[file]),
            standing: item.standing.name().into(),
            title: item.title.as_ref().map(|(title, _)| title.to_string()),
            title_source: item.title.as_ref().map(|(_, source)| source.name().into()),
            project: facts.cwd.as_deref().map(Into::into),
            branch: facts.git_branch.as_deref().map(Into::into),
            first: facts.first,
            last: facts.last,
            turns: facts.turns as u64,
            calls: facts.calls as u64,
            errors: facts.errors as u64,
            entries: facts.entries as u64,
            files: facts.files as u64,
            added: facts.added,
            removed: facts.removed,
            models: facts.models.iter().map(|model| model.to_string()).collect(),
        }
    }
}

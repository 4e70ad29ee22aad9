//! Sessions that only `history.jsonl` remembers: what was typed is left, and nothing else.
//!
//! The index knows a ghost under a number of its own, above those of all files, so that its words
//! can be taken away when its transcript comes back.

use rusqlite::{OptionalExtension, Row, params};
use transcript::id::SessionId;
use transcript::time::Time;

use super::{Catalog, CatalogError, FileId, SessionRow, Writer};

/// The numbers of ghosts begin here; the view `owned` says so too.
const FIRST: FileId = 1 << 32;

/// The standing of a session of which only prompts are left.
pub const GHOST: &str = "ghost";

/// Whether a number of the index is that of a ghost.
pub fn is_ghost(file: FileId) -> bool {
    file >= FIRST
}

/// A session of which only prompts are left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ghost {
    /// Its number in the index.
    pub file: FileId,
    /// Its id.
    pub session: SessionId,
    /// The edition in which this was written.
    pub edition: u64,
    /// How many prompts.
    pub prompts: u64,
    /// What was typed first.
    pub title: Option<String>,
    /// The project of the first prompt.
    pub project: Option<String>,
    /// The time of the first prompt.
    pub first: Option<Time>,
    /// The time of the last prompt.
    pub last: Option<Time>,
}

impl Ghost {
    const COLUMNS: &'static str = "id, session, edition, prompts, title, project, first, last";

    /// A session that is no ghost, or of which nothing is known yet.
    pub fn none(session: SessionId) -> Self {
        let (file, edition, prompts) = (0, 0, 0);
        let (title, project, first, last) = (None, None, None, None);
        Self { file, session, edition, prompts, title, project, first, last }
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let time = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.map(Time));
        Ok(Self {
            file: row.get::<_, i64>(0)? + FIRST,
            session: SessionId::new(row.get::<_, Box<str>>(1)?),
            edition: row.get::<_, i64>(2)?.cast_unsigned(),
            prompts: row.get::<_, i64>(3)?.cast_unsigned(),
            title: row.get(4)?,
            project: row.get(5)?,
            first: time(6)?,
            last: time(7)?,
        })
    }
}

impl From<Ghost> for SessionRow {
    fn from(ghost: Ghost) -> Self {
        Self {
            id: ghost.session,
            file: None,
            standing: GHOST.into(),
            title_source: ghost.title.as_ref().map(|_| "first-prompt".into()),
            title: ghost.title,
            project: ghost.project,
            branch: None,
            first: ghost.first,
            last: ghost.last,
            turns: ghost.prompts,
            calls: 0,
            errors: 0,
            entries: 0,
            files: 0,
            added: 0,
            removed: 0,
            models: Vec::new(),
        }
    }
}

/// Where a line of a history is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typed {
    /// The history, a file of the archive.
    pub history: FileId,
    /// Which of its generations.
    pub generation: i64,
    /// Where the line begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
}

impl Typed {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            history: row.get(0)?,
            generation: row.get(1)?,
            offset: row.get::<_, i64>(2)?.cast_unsigned(),
            length: row.get::<_, i64>(3)?.cast_unsigned(),
        })
    }
}

impl Catalog {
    fn one_ghost(
        &self,
        holds: &str,
        value: impl rusqlite::ToSql,
    ) -> Result<Option<Ghost>, CatalogError> {
        let sql = format!("SELECT {} FROM ghost WHERE prompts > 0 AND {holds}", Ghost::COLUMNS);
        let ask = || self.db.prepare_cached(&sql)?.query_row([value], Ghost::of).optional();
        ask().map_err(self.failed())
    }

    /// The ghost with this number in the index.
    pub fn ghost(&self, file: FileId) -> Result<Option<Ghost>, CatalogError> {
        self.one_ghost("id = ?1", file - FIRST)
    }

    /// The ghost of this session.
    pub fn ghost_of(&self, session: &SessionId) -> Result<Option<Ghost>, CatalogError> {
        self.one_ghost("session = ?1", session.as_str())
    }

    /// All ghosts; with those that are none any more and have no prompts, if `all`.
    pub fn ghosts(&self, all: bool) -> Result<Vec<Ghost>, CatalogError> {
        let columns = Ghost::COLUMNS;
        let sql = format!("SELECT {columns} FROM ghost WHERE prompts > 0 OR ?1 ORDER BY id");
        let ask = || {
            let mut query = self.db.prepare_cached(&sql)?;
            query.query_map([all], Ghost::of)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        ask().map_err(self.failed())
    }

    /// The lines that a session's prompts stand on, in the order in which they were typed.
    pub fn typed(&self, session: &SessionId) -> Result<Vec<Typed>, CatalogError> {
        let sql = "SELECT history, generation, offset, length FROM typed WHERE session = ?1
            ORDER BY history, offset";
        let ask = || {
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map([session.as_str()], Typed::of)?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        ask().map_err(self.failed())
    }

    /// Sessions that a history names and no transcript is known of, with what can be told without
    /// reading what was typed.
    pub fn untold(&self) -> Result<Vec<Ghost>, CatalogError> {
        let sql = "SELECT session, count(*), min(time), max(time) FROM typed
            WHERE session IS NOT NULL AND session NOT IN (SELECT id FROM session)
            GROUP BY session";
        let read = |row: &Row<'_>| {
            let time = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.map(Time));
            Ok(Ghost {
                prompts: row.get::<_, i64>(1)?.cast_unsigned(),
                first: time(2)?,
                last: time(3)?,
                ..Ghost::none(SessionId::new(row.get::<_, Box<str>>(0)?))
            })
        };
        let ask = || {
            let mut query = self.db.prepare_cached(sql)?;
            query.query_map((), read)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        ask().map_err(self.failed())
    }

    /// How far a generation of a history has been read.
    pub fn typed_until(&self, history: FileId, generation: i64) -> Result<u64, CatalogError> {
        let sql = "SELECT coalesce(max(offset + length), 0) FROM typed
            WHERE history = ?1 AND generation = ?2";
        let ask = || {
            let mut query = self.db.prepare_cached(sql)?;
            query.query_row([history, generation], |row| row.get::<_, i64>(0))
        };
        Ok(ask().map_err(self.failed())?.cast_unsigned())
    }
}

impl Writer<'_> {
    /// The catalog, as this transaction has left it so far.
    pub fn catalog(&self) -> &Catalog {
        self.catalog
    }

    /// A line of a history.
    pub fn typed(
        &self,
        line: Typed,
        session: Option<&str>,
        time: Option<Time>,
    ) -> Result<(), CatalogError> {
        let sql =
            "INSERT OR REPLACE INTO typed (history, offset, length, generation, session, time)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let Typed { history, generation, offset, length } = line;
        let (offset, length) = (offset.cast_signed(), length.cast_signed());
        let time = time.map(|time| time.0);
        self.run(sql, params![history, offset, length, generation, session, time]).map(drop)
    }

    /// What other generations of a history said counts no longer.
    pub fn retype(&self, history: FileId, generation: i64) -> Result<(), CatalogError> {
        let sql = "DELETE FROM typed WHERE history = ?1 AND generation <> ?2";
        self.run(sql, [history, generation]).map(drop)
    }

    /// Writes a ghost and gives its number in the index. One without prompts is none any more.
    pub fn ghost(&self, ghost: &Ghost) -> Result<FileId, CatalogError> {
        let sql = "INSERT INTO ghost (session, edition, prompts, title, project, first, last)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (session) DO UPDATE SET
            edition = ?2, prompts = ?3, title = ?4, project = ?5, first = ?6, last = ?7
            RETURNING id";
        let time = |time: Option<Time>| time.map(|time| time.0);
        let values = params![
            ghost.session.as_str(),
            self.edition.cast_signed(),
            ghost.prompts.cast_signed(),
            ghost.title,
            ghost.project,
            time(ghost.first),
            time(ghost.last),
        ];
        let write = || {
            let mut query = self.catalog.db.prepare_cached(sql)?;
            query.query_row(values, |row| row.get::<_, i64>(0))
        };
        Ok(write().map_err(self.catalog.failed())? + FIRST)
    }
}

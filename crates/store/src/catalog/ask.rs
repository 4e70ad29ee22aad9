//! Which sessions did something: touched a file, made a commit, are linked to a pull request.
//!
//! What stands in a copy of another session's entries is that session's doing and left out.

use hashbrown::HashMap;
use rusqlite::{Params, Row};
use transcript::id::SessionId;
use transcript::time::Time;

use super::{Catalog, CatalogError, CommitRow, FileId, PrRow, Shape, TouchRow};

/// What a session did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed<T> {
    /// The session.
    pub session: SessionId,
    /// What.
    pub what: T,
}

/// The beginning of each answer: the file, whether it has copies, whose it is.
const OWNER: &str = "f.id, f.has_copies, f.session";
const JOIN: &str = "JOIN file f ON f.id = d.file AND f.session IS NOT NULL";

impl Catalog {
    /// The changes to the files whose paths are wanted.
    pub fn touches(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Deed<TouchRow>>, CatalogError> {
        let mut deeds = Vec::new();
        for path in self.paths()?.into_iter().filter(|path| is_wanted(path)) {
            deeds.extend(self.touches_to(&path)?);
        }
        Ok(deeds)
    }

    /// The changes to one file.
    pub fn touches_to(&self, path: &str) -> Result<Vec<Deed<TouchRow>>, CatalogError> {
        let columns = "d.entry, d.time, d.path, d.tool, d.added, d.removed, d.created";
        let sql = format!("SELECT {OWNER}, {columns} FROM touch d {JOIN} WHERE d.path = ?1");
        self.deeds(&sql, [path], touch, |touch| Some(touch.entry))
    }

    /// The paths of all files that were changed.
    fn paths(&self) -> Result<Vec<String>, CatalogError> {
        let read = || {
            let mut query = self.db.prepare("SELECT DISTINCT path FROM touch")?;
            query.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed())
    }

    /// The changes that a transcript tells of: the entry, when, and the path.
    pub fn touches_of(
        &self,
        file: FileId,
    ) -> Result<Vec<(u32, Option<Time>, String)>, CatalogError> {
        let read = || {
            let sql = "SELECT entry, time, path FROM touch WHERE file = ?1 ORDER BY number";
            let mut query = self.db.prepare_cached(sql)?;
            let one = |row: &Row<'_>| Ok((row.get(0)?, time(row, 1)?, row.get(2)?));
            query.query_map([file], one)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.failed())
    }

    /// When a file was last changed, as far as is known.
    pub fn last_touch(&self, path: &str) -> Result<Option<Time>, CatalogError> {
        let sql = "SELECT max(time) FROM touch WHERE path = ?1";
        let mut query = self.db.prepare_cached(sql).map_err(self.failed())?;
        query.query_row([path], |row| time(row, 0)).map_err(self.failed())
    }

    /// Which sessions changed which files.
    pub fn touched(&self) -> Result<Vec<Deed<String>>, CatalogError> {
        let sql = format!("SELECT {OWNER}, d.entry, d.path FROM touch d {JOIN}");
        let read = |row: &Row<'_>| Ok((row.get::<_, u32>(3)?, row.get::<_, String>(4)?));
        let deeds = self.deeds(&sql, [], read, |(entry, _)| Some(*entry))?;
        let path = |deed: Deed<(u32, String)>| Deed { session: deed.session, what: deed.what.1 };
        Ok(deeds.into_iter().map(path).collect())
    }

    /// The commits whose hash begins with this one, or is the beginning of it: git prints short
    /// ones.
    pub fn commits(&self, hash: &str) -> Result<Vec<Deed<CommitRow>>, CatalogError> {
        let sql = format!(
            "SELECT {OWNER}, d.entry, d.time, d.hash, d.branch, d.subject
             FROM commit_made d {JOIN}
             WHERE substr(d.hash, 1, length(?1)) = ?1 OR substr(?1, 1, length(d.hash)) = d.hash"
        );
        self.deeds(&sql, [hash], commit, |commit| Some(commit.entry))
    }

    /// The pull requests with this number.
    pub fn prs(&self, number: u64) -> Result<Vec<Deed<PrRow>>, CatalogError> {
        let sql = format!(
            "SELECT {OWNER}, d.entry, d.time, d.pr, d.url, d.repository
             FROM pr d {JOIN} WHERE d.pr = ?1"
        );
        self.deeds(&sql, [number as i64], pr, |pr| Some(pr.entry))
    }

    fn deeds<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        entry: impl Fn(&T) -> Option<u32>,
    ) -> Result<Vec<Deed<T>>, CatalogError> {
        let failed = self.failed();
        let mut query = self.db.prepare_cached(sql).map_err(&failed)?;
        let mut rows = query.query(values).map_err(&failed)?;
        let mut shapes: HashMap<FileId, Option<Shape>> = HashMap::new();
        let mut deeds = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            let (file, has_copies, session) = owner(row).map_err(&failed)?;
            let what = read(row).map_err(&failed)?;
            if has_copies && !shapes.contains_key(&file) {
                shapes.insert(file, self.shape(file)?);
            }
            let spot = shapes.get(&file).and_then(|shape| shape.as_ref()?.at(entry(&what)?));
            if !spot.is_some_and(|spot| spot.is_copy) {
                deeds.push(Deed { session, what });
            }
        }
        Ok(deeds)
    }
}

fn owner(row: &Row<'_>) -> rusqlite::Result<(FileId, bool, SessionId)> {
    Ok((row.get(0)?, row.get(1)?, SessionId::new(row.get::<_, Box<str>>(2)?)))
}

fn time(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Time>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(Time))
}

fn touch(row: &Row<'_>) -> rusqlite::Result<TouchRow> {
    Ok(TouchRow {
        entry: row.get(3)?,
        time: time(row, 4)?,
        path: row.get(5)?,
        tool: row.get(6)?,
        added: row.get(7)?,
        removed: row.get(8)?,
        created: row.get(9)?,
    })
}

fn commit(row: &Row<'_>) -> rusqlite::Result<CommitRow> {
    Ok(CommitRow {
        entry: row.get(3)?,
        time: time(row, 4)?,
        hash: row.get(5)?,
        branch: row.get(6)?,
        subject: row.get(7)?,
    })
}

fn pr(row: &Row<'_>) -> rusqlite::Result<PrRow> {
    Ok(PrRow {
        entry: row.get(3)?,
        time: time(row, 4)?,
        number: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
        url: row.get(6)?,
        repository: row.get(7)?,
    })
}

//! A file by its name.

use rusqlite::{OptionalExtension, params};

use super::error::At;
use super::{Archive, ArchiveError, FileId, FileRow};

impl Archive {
    /// The file with this path below this home.
    pub fn named(&self, home: &[u8], rel: &[u8]) -> Result<Option<FileRow>, ArchiveError> {
        let sql = "SELECT file.id FROM file JOIN home ON home.id = file.home
            WHERE home.path = ?1 AND file.rel = ?2";
        let ask = || {
            let mut query = self.connection.prepare_cached(sql)?;
            query.query_row(params![home, rel], |row| row.get::<_, FileId>(0)).optional()
        };
        match ask().at(&self.path)? {
            Some(file) => self.file(file),
            None => Ok(None),
        }
    }
}

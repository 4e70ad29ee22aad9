//! Checking everything: that each byte that is said to be kept comes back as it was.
//!
//! Damage is collected, not returned at the first: a person wants to know what is left.

use rusqlite::params;

use super::error::{ArchiveError, At};
use super::{Archive, GenerationId, Hash, PackId, Progress, pack};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Generations that were looked at.
    pub generations: u64,
    /// Pieces that were looked at.
    pub pieces: u64,
    /// Packs that were decoded.
    pub packs: u64,
    /// Payloads that were decoded.
    pub payloads: u64,
    /// Raw bytes that came back as they were.
    pub bytes: u64,
    /// What is wrong; empty if all is well.
    pub damage: Vec<Damage>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// What.
    pub detail: String,
    /// Some of the files that are touched by it.
    pub files: Vec<String>,
}

type Result<T> = std::result::Result<T, ArchiveError>;

impl Archive {
    /// Checks SQLite's own structure, every pack, payload and piece, and that the pieces of each
    /// generation give all of it.
    pub fn verify(&self, mut progress: impl FnMut(Progress)) -> Result<Report> {
        let _snapshot = self.snapshot()?;
        let mut report = Report::default();
        let checked = self.verify_database(&mut report);
        report.collect(checked)?;
        let checked = self.verify_packs(&mut report, &mut progress);
        report.collect(checked)?;
        let checked = self.verify_payloads(&mut report);
        report.collect(checked)?;
        let checked = self.verify_generations(&mut report);
        report.collect(checked)?;
        Ok(report)
    }

    fn verify_database(&self, report: &mut Report) -> Result<()> {
        let mut check = self.connection.prepare("PRAGMA integrity_check").at(&self.path)?;
        let lines = check.query_map([], |row| row.get(0)).and_then(Iterator::collect);
        let lines: Vec<String> = lines.at(&self.path)?;
        for line in lines.into_iter().filter(|line| line != "ok") {
            report.add(line, Vec::new());
        }
        Ok(())
    }

    fn verify_packs(&self, report: &mut Report, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        let mut query = self
            .connection
            .prepare(
                // Packs that are missing are found by the pieces that should lie in them.
                "SELECT id, raw FROM pack UNION ALL SELECT DISTINCT pack, 0 FROM piece
                 WHERE pack NOT IN (SELECT id FROM pack) ORDER BY 1",
            )
            .at(&self.path)?;
        let packs = query
            .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))
            .and_then(Iterator::collect);
        let packs: Vec<(PackId, u64)> = packs.at(&self.path)?;
        let total = packs.iter().map(|(_, raw)| raw).sum();
        let mut done = 0;
        for (id, raw) in packs {
            report.packs += 1;
            match self.load(id)? {
                Ok(bytes) => {
                    report.bytes += bytes.len() as u64;
                    self.verify_pieces(id, &bytes, report)?;
                }
                Err(detail) => {
                    report.add(format!("pack {}: {detail}", id.0), self.files_in(id)?);
                }
            }
            done += raw;
            progress(Progress { done, total });
        }
        Ok(())
    }

    fn verify_pieces(&self, id: PackId, raw: &[u8], report: &mut Report) -> Result<()> {
        let mut query = self
            .connection
            .prepare_cached("SELECT start, length, hash FROM piece WHERE pack = ?1")
            .at(&self.path)?;
        let pieces = query
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect);
        let pieces: Vec<(i64, i64, Hash)> = pieces.at(&self.path)?;
        report.pieces += pieces.len() as u64;
        let is_right = |(start, length, hash): &(i64, i64, Hash)| {
            let inside = *start as usize..start.saturating_add(*length) as usize;
            raw.get(inside).is_some_and(|bytes| Hash::of(bytes) == *hash)
        };
        let wrong = pieces.iter().filter(|piece| !is_right(piece)).count();
        if wrong > 0 {
            let detail = format!("pack {}: {wrong} pieces are not what they were", id.0);
            report.add(detail, self.files_in(id)?);
        }
        Ok(())
    }

    fn verify_payloads(&self, report: &mut Report) -> Result<()> {
        let mut query =
            self.connection.prepare("SELECT hash, data FROM payload ORDER BY id").at(&self.path)?;
        let mut rows = query.query([]).at(&self.path)?;
        while let Some(row) = rows.next().at(&self.path)? {
            let hash: Hash = row.get(0).at(&self.path)?;
            let data: Vec<u8> = row.get(1).at(&self.path)?;
            report.payloads += 1;
            if pack::decode_payload(&data).is_ok_and(|bytes| Hash::of(&bytes) == hash) {
                continue;
            }
            let files = self.files_with(&hash)?;
            report.add(format!("payload {hash} is not what it was"), files);
        }
        Ok(())
    }

    fn files_with(&self, payload: &Hash) -> Result<Vec<String>> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT pack FROM need JOIN payload ON payload.id = need.payload
                 WHERE hash = ?1 LIMIT 1",
            )
            .at(&self.path)?;
        match query.query_row([payload], |row| row.get(0)) {
            Ok(pack) => self.files_in(pack),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Pieces follow one another from 0 to the size.
    fn verify_generations(&self, report: &mut Report) -> Result<()> {
        let mut query = self
            .connection
            .prepare(
                "SELECT generation.id, size, rel FROM generation
                 JOIN file ON file.id = generation.file ORDER BY generation.id",
            )
            .at(&self.path)?;
        let mut rows = query.query([]).at(&self.path)?;
        while let Some(row) = rows.next().at(&self.path)? {
            let id: GenerationId = row.get(0).at(&self.path)?;
            let size: i64 = row.get(1).at(&self.path)?;
            report.generations += 1;
            if self.reach(id)? == Some(size) {
                continue;
            }
            let rel: Vec<u8> = row.get(2).at(&self.path)?;
            let detail = format!("generation {}: its pieces are not {size} bytes", id.0);
            report.add(detail, vec![String::from_utf8_lossy(&rel).into_owned()]);
        }
        Ok(())
    }

    /// How far the pieces of a generation reach without a gap.
    fn reach(&self, generation: GenerationId) -> Result<Option<i64>> {
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT \"offset\", length FROM piece WHERE generation = ?1 ORDER BY \"offset\"",
            )
            .at(&self.path)?;
        let mut rows = query.query(params![generation]).at(&self.path)?;
        let mut end = 0;
        while let Some(row) = rows.next().at(&self.path)? {
            let (offset, length): (i64, i64) =
                (row.get(0).at(&self.path)?, row.get(1).at(&self.path)?);
            if offset != end || length <= 0 {
                return Ok(None);
            }
            end += length;
        }
        Ok(Some(end))
    }
}

impl Report {
    fn add(&mut self, detail: String, files: Vec<String>) {
        self.damage.push(Damage { detail, files });
    }

    /// Damage that SQLite itself met ends a step, not the check.
    fn collect(&mut self, checked: Result<()>) -> Result<()> {
        match checked {
            Err(ArchiveError::Damaged { detail, .. }) => {
                self.add(detail, Vec::new());
                Ok(())
            }
            other => other,
        }
    }
}

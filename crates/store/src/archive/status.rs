//! Counting what is in the archive.

use std::fs;

use super::error::{ArchiveError, At};
use super::{Archive, PACK_SIZE};

/// What is in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Files.
    pub files: u64,
    /// Files that are no longer there.
    pub gone: u64,
    /// Lives of their content.
    pub generations: u64,
    /// Raw bytes of the current generations.
    pub bytes_current: u64,
    /// Raw bytes of all generations.
    pub bytes_all: u64,
    /// Packs.
    pub packs: u64,
    /// Packs that hold less than a quarter of what they could.
    pub small_packs: u64,
    /// Payloads.
    pub payloads: u64,
    /// Bytes of packs and payloads as they are stored.
    pub stored: u64,
    /// Size of the database on disk, with its log.
    pub on_disk: u64,
}

/// Below this, a pack counts as small.
pub(super) const SMALL: usize = PACK_SIZE / 4;

impl Archive {
    /// Counts.
    pub fn status(&self) -> Result<Status, ArchiveError> {
        let _snapshot = self.snapshot()?;
        let mut status = Status { on_disk: self.on_disk(), ..Status::default() };
        let current =
            "number = (SELECT max(number) FROM generation AS g WHERE g.file = generation.file)";
        [status.files, status.gone, status.bytes_current] = self.numbers(&format!(
            "SELECT count(*), count(ended), sum(size) FROM generation WHERE {current}"
        ))?;
        [status.generations, status.bytes_all] =
            self.numbers("SELECT count(*), sum(size) FROM generation")?;
        let [packs, small, stored] = self.numbers(&format!(
            "SELECT count(*), sum(raw < {SMALL}), sum(length(data)) FROM pack"
        ))?;
        let [payloads, beside] = self.numbers("SELECT count(*), sum(length(data)) FROM payload")?;
        (status.packs, status.small_packs, status.payloads) = (packs, small, payloads);
        status.stored = stored + beside;
        Ok(status)
    }

    /// One row of numbers; the sum of nothing is 0.
    fn numbers<const N: usize>(&self, sql: &str) -> Result<[u64; N], ArchiveError> {
        let row = self.connection.query_row(sql, [], |row| {
            let mut numbers = [0; N];
            for (at, number) in numbers.iter_mut().enumerate() {
                *number = row.get::<_, Option<i64>>(at)?.map_or(0, i64::cast_unsigned);
            }
            Ok(numbers)
        });
        row.at(&self.path)
    }

    fn on_disk(&self) -> u64 {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        let size = |path: &std::path::Path| fs::metadata(path).map_or(0, |m| m.len());
        size(&self.path) + size(log.as_ref())
    }
}

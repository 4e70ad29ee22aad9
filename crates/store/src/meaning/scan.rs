//! The kept vectors, and which of them are near to another one.
//!
//! A vector is kept as 384 small numbers and a scale. All are looked at, a run of them at a time:
//! two hundred thousand are read and compared in a tenth of a second, and nothing of them stays
//! in memory.

use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use transcript::time::Time;

use super::WIDTH;
use crate::archive::connect_read;
use crate::catalog::CatalogError;
use crate::query::Role;

/// What the tables mean, and how texts are cut. A file of another version is not read.
const VERSION: u32 = 3;

pub(super) const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    -- The last entry whose vectors are all there, and the size of the file when it was the last.
    entry INTEGER NOT NULL,
    -- The end of what was said up to that entry: the next text is read with it.
    before TEXT NOT NULL,
    size INTEGER
);
CREATE TABLE IF NOT EXISTS run (
    file INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    heads BLOB NOT NULL,
    vectors BLOB NOT NULL,
    PRIMARY KEY (file, entry)
);";

/// What a vector is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) entry: u32,
    pub(super) turn: u32,
    /// The place of the role among [`Role::ALL`].
    pub(super) role: u8,
    /// Where in the part it begins.
    pub(super) start: u32,
    /// In milliseconds.
    pub(super) time: Option<i64>,
}

/// A vector in few bytes.
pub(super) fn packed(vector: &[f32], out: &mut Vec<u8>) {
    let (scale, small) = small(vector);
    out.extend(scale.to_le_bytes());
    out.extend(small.iter().map(|number| number.cast_unsigned()));
}

fn small(vector: &[f32]) -> (f32, Vec<i8>) {
    let most = vector.iter().fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
    let scale = most / 127.0;
    (scale, vector.iter().map(|number| (number / scale).round() as i8).collect())
}

/// The bytes of a packed vector.
const PACKED: usize = 4 + WIDTH;

/// A turn that is near to what was asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The file's number in the catalog.
    pub file: u64,
    /// The turn, as the index counts.
    pub turn: u32,
    /// The entry of the part that is nearest.
    pub entry: u32,
    /// What that part is.
    pub role: Role,
    /// Where in the part the nearest words begin.
    pub start: u32,
    /// When it was written.
    pub time: Option<Time>,
    /// From -1 to 1.
    pub cosine: f32,
}

/// The vectors of a store.
pub struct Vectors {
    db: Connection,
    path: PathBuf,
}

/// The name of the vectors' file in the store's folder.
pub(crate) fn vectors_name() -> String {
    format!("vectors-v{VERSION}.db")
}

/// Where they are in the store's folder.
pub(super) fn path(store: &Path) -> PathBuf {
    store.join(vectors_name())
}

impl Vectors {
    /// `None` if there are none.
    pub fn open(store: &Path) -> Result<Option<Self>, CatalogError> {
        let path = path(store);
        if !path.exists() {
            return Ok(None);
        }
        match connect_read(&path) {
            Ok(db) => Ok(Some(Self { db, path })),
            Err(source) => Err(CatalogError::Database { path, source }),
        }
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> CatalogError + use<> {
        let path = self.path.clone();
        move |source| CatalogError::Database { path: path.clone(), source }
    }

    /// How many there are, and of how many transcripts.
    pub fn count(&self) -> Result<(u64, u64), CatalogError> {
        let sql = "SELECT coalesce(sum(length(vectors)), 0), count(DISTINCT file) FROM run";
        let count = self.db.query_row(sql, (), |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)));
        let (bytes, files): (i64, i64) = count.map_err(self.failed())?;
        Ok((bytes.cast_unsigned() / PACKED as u64, files.cast_unsigned()))
    }

    /// The turns nearest to a vector, and all of `also`, of those that are allowed; each by its
    /// nearest part, the nearest first.
    pub fn near(
        &self,
        vector: &[f32],
        most: usize,
        also: &HashSet<(u64, u32)>,
        allows: impl Fn(&Near) -> bool,
    ) -> Result<Vec<Near>, CatalogError> {
        let (scale, wanted) = small(vector);
        let mut best: HashMap<(u64, u32), Near> = HashMap::new();
        let mut least = Least::new(4 * most);
        let mut read = || -> rusqlite::Result<()> {
            let mut query = self.db.prepare("SELECT file, heads, vectors FROM run")?;
            let mut rows = query.query(())?;
            while let Some(row) = rows.next()? {
                let file = row.get::<_, i64>(0)?.cast_unsigned();
                let heads: Option<Vec<Head>> =
                    postcard::from_bytes(row.get_ref(1)?.as_blob()?).ok();
                let (vectors, _) = row.get_ref(2)?.as_blob()?.as_chunks::<PACKED>();
                for (head, packed) in heads.iter().flatten().zip(vectors) {
                    let cosine = scale * cosine(packed, &wanted);
                    let key = (file, head.turn);
                    if (cosine < least.value && !also.contains(&key))
                        || best.get(&key).is_some_and(|known| known.cosine >= cosine)
                    {
                        continue;
                    }
                    let Some(near) = near(file, head, cosine).filter(&allows) else { continue };
                    least.add(cosine);
                    best.insert(key, near);
                }
            }
            Ok(())
        };
        read().map_err(self.failed())?;
        let mut all: Vec<Near> = best.into_values().collect();
        all.sort_by(|a, b| {
            let place = |near: &Near| (near.file, near.turn);
            b.cosine.total_cmp(&a.cosine).then_with(|| place(a).cmp(&place(b)))
        });
        let mut rank = 0;
        all.retain(|near| {
            rank += 1;
            rank <= most || also.contains(&(near.file, near.turn))
        });
        Ok(all)
    }
}

fn near(file: u64, head: &Head, cosine: f32) -> Option<Near> {
    let Head { entry, turn, role, start, time } = *head;
    let role = *Role::ALL.get(usize::from(role))?;
    Some(Near { file, turn, entry, role, start, time: time.map(Time), cosine })
}

fn cosine(packed: &[u8; PACKED], wanted: &[i8]) -> f32 {
    let (scale, numbers) = packed.split_first_chunk::<4>().expect("a vector has a scale");
    let product = |(a, b): (&u8, &i8)| i32::from(a.cast_signed()) * i32::from(*b);
    let sum: i32 = numbers.iter().zip(wanted).map(product).sum();
    f32::from_le_bytes(*scale) * sum as f32
}

/// What a vector must reach to be among the best: known roughly, so that most are passed over.
struct Least {
    value: f32,
    seen: Vec<f32>,
    most: usize,
}

impl Least {
    fn new(most: usize) -> Self {
        Self { value: f32::MIN, seen: Vec::new(), most: most.max(1) }
    }

    fn add(&mut self, cosine: f32) {
        self.seen.push(cosine);
        if self.seen.len() >= 2 * self.most {
            self.seen.select_nth_unstable_by(self.most - 1, |a, b| b.total_cmp(a));
            self.value = self.seen[self.most - 1];
            self.seen.truncate(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_vector_keeps_its_direction() {
        let numbers = |seed: u32| -> Vec<f32> {
            let all: Vec<f32> = (0..WIDTH as u32)
                .map(|at| ((at * 7919 + seed * 104_729) % 1000) as f32 / 500.0 - 1.0)
                .collect();
            let length = all.iter().map(|x| x * x).sum::<f32>().sqrt();
            all.iter().map(|x| x / length).collect()
        };
        let (a, b) = (numbers(1), numbers(2));
        let exact: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
        let mut bytes = Vec::new();
        packed(&a, &mut bytes);
        let (scale, wanted) = small(&b);
        let bytes: &[u8; PACKED] = bytes.as_slice().try_into().expect("its length");
        assert!((scale * cosine(bytes, &wanted) - exact).abs() < 0.005);
    }
}

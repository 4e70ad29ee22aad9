//! Taking away what nobody reads any more.
//!
//! Old manifests, the files that only they name, and what a stopped write has left. Nothing younger
//! than a day: a write may be under way whose manifest is still to come, or somebody reads what an
//! older manifest names. Small files are not merged, since there are none: a partition is always
//! written whole.

use crate::Schema;
use crate::error::LakeError;
use crate::manifest::Manifests;
use crate::place::{Object, Place};
use crate::verify::foreign;

/// Manifests that are left of each host and user.
const KEPT: usize = 2;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What can go.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Manifests that others have followed.
    pub manifests: Vec<String>,
    /// Files that no manifest names that stays.
    pub files: Vec<Object>,
}

impl Leftovers {
    /// What can go at a time, in milliseconds since 1970.
    pub fn find(place: &Place, schema: &Schema, now: i64) -> Result<Self, LakeError> {
        let mut manifests = Manifests::read(place, None)?;
        let mut old = Vec::new();
        for all in manifests.whole.values_mut() {
            let is_old = all.len().saturating_sub(KEPT);
            old.extend(all.drain(..is_old).map(|manifest| manifest.path()));
        }
        let is_ours = |path: &str| {
            let table = path.split_once("/month=").map(|(table, _)| table);
            table.is_some_and(|table| schema.table(table).is_some()) && path.ends_with(".parquet")
        };
        let mut files = foreign(place, &manifests)?;
        files.retain(|file| is_ours(&file.path));
        files.extend(place.staged()?);
        files.retain(|file| now - file.written > DAY_MS);
        Ok(Self { manifests: old, files })
    }

    /// Removes it: manifests first, so that none is left that names what is gone.
    pub fn remove(&self, place: &Place) -> Result<(), LakeError> {
        for path in &self.manifests {
            place.remove(path)?;
        }
        for file in &self.files {
            place.remove(&file.path)?;
        }
        Ok(())
    }
}

//! Everything that manifests name, read and compared.

use std::collections::HashSet;

use crate::Schema;
use crate::error::LakeError;
use crate::file;
use crate::manifest::{DataFile, Manifest, Manifests};
use crate::name;
use crate::place::{Object, Place};
use crate::read;

/// What was found.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Manifests that were followed, the newest of each host and user.
    pub manifests: usize,
    /// Files that were read.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Their rows.
    pub rows: u64,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What no manifest names: left by a write that was stopped, or not ours.
    pub foreign: Vec<Object>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// With which object.
    pub path: String,
    /// In words that go on after its name.
    pub what: String,
}

/// Reads every file of the newest manifests.
pub fn verify(place: &Place, schema: &Schema) -> Result<Verdict, LakeError> {
    let manifests = Manifests::read(place, None)?;
    let mut verdict = Verdict::default();
    for (path, why) in &manifests.damaged {
        verdict.fault(path, format!("is no whole manifest: {why}"));
    }
    for manifest in manifests.newest() {
        verdict.manifests += 1;
        verdict.follow(place, schema, manifest)?;
    }
    verdict.foreign = foreign(place, &manifests)?;
    Ok(verdict)
}

impl Verdict {
    fn fault(&mut self, path: &str, what: String) {
        self.faults.push(Fault { path: path.into(), what });
    }

    fn follow(
        &mut self,
        place: &Place,
        schema: &Schema,
        manifest: &Manifest,
    ) -> Result<(), LakeError> {
        if let Err(LakeError::OtherVersion { path, found, known }) = manifest.check(schema) {
            self.fault(&path, format!("is of version {found} of the tables, not {known}"));
            return Ok(());
        }
        for partition in &manifest.partitions {
            for file in &partition.files {
                match check(place, schema, &partition.table, file) {
                    Ok(()) => {
                        self.files += 1;
                        self.bytes += file.bytes;
                        self.rows += file.rows;
                    }
                    Err(LakeError::Missing(path)) => self.fault(&path, "is missing".into()),
                    Err(LakeError::Damaged { path, why }) => {
                        self.fault(&path, format!("is damaged: {why}"));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

fn check(place: &Place, schema: &Schema, table: &str, file: &DataFile) -> Result<(), LakeError> {
    let damaged = |why: String| LakeError::Damaged { path: file.path.clone(), why };
    let bytes = read::whole(place, file)?;
    let table = schema.table(table);
    let table = table.ok_or_else(|| damaged("it is of a table that is not known".into()))?;
    let rows = file::count(bytes, table).map_err(damaged)?;
    match rows == file.rows {
        true => Ok(()),
        false => Err(damaged(format!("it has {rows} rows of {}", file.rows))),
    }
}

/// What no whole manifest names.
pub(crate) fn foreign(place: &Place, manifests: &Manifests) -> Result<Vec<Object>, LakeError> {
    let all = manifests.whole.values().flatten();
    let named: HashSet<&str> =
        all.flat_map(|manifest| manifest.files()).map(|file| &*file.path).collect();
    let is_manifest =
        |path: &str| path.starts_with(name::MANIFESTS) && name::number(path).is_some();
    let mut objects = place.list("")?;
    objects.retain(|object| !named.contains(&*object.path) && !is_manifest(&object.path));
    Ok(objects)
}

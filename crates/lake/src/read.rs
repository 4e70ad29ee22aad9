//! The rows of a lake.

use bytes::Bytes;
use store::table::{Row, Table};

use crate::Schema;
use crate::error::LakeError;
use crate::file;
use crate::manifest::{DataFile, Manifest};
use crate::place::Place;

/// Hands over every row that a manifest stands for. Nothing of a file is handed over before all of
/// it has been compared with its hash.
pub fn rows<E: From<LakeError>>(
    place: &Place,
    schema: &Schema,
    manifest: &Manifest,
    mut each: impl FnMut(&'static Table, Row) -> Result<(), E>,
) -> Result<(), E> {
    manifest.check(schema)?;
    for partition in &manifest.partitions {
        let table = schema.table(&partition.table);
        for file in &partition.files {
            let table = table.ok_or_else(|| damaged(file, "it is of a table that is not known"))?;
            let bytes = whole(place, file)?;
            file::read(bytes, table, |row| each(table, row))
                .map_err(|why| damaged(file, &why))??;
        }
    }
    Ok(())
}

/// The bytes of a file, which are those that were written.
pub(crate) fn whole(place: &Place, file: &DataFile) -> Result<Bytes, LakeError> {
    let bytes = place.get(&file.path)?;
    if bytes.len() as u64 != file.bytes {
        return Err(damaged(file, &format!("it has {} bytes of {}", bytes.len(), file.bytes)));
    }
    match blake3::hash(&bytes).to_hex().as_str() == file.hash {
        true => Ok(bytes),
        false => Err(damaged(file, "its bytes are others than were written")),
    }
}

fn damaged(file: &DataFile, why: &str) -> LakeError {
    LakeError::Damaged { path: file.path.clone(), why: why.into() }
}

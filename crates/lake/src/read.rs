//! The rows of a lake.

use bytes::Bytes;
use store::table::{Row, Table};

use crate::Schema;
use crate::error::LakeError;
use crate::file::Rows;
use crate::manifest::{DataFile, Manifest};
use crate::place::Place;

/// Every row that a manifest stands for. Nothing of a file comes before all of it has been compared
/// with its hash.
pub fn rows<'a>(
    place: &'a Place,
    schema: &Schema,
    manifest: &'a Manifest,
) -> Result<impl Iterator<Item = Result<(&'static Table, Row), LakeError>> + 'a, LakeError> {
    manifest.check(schema)?;
    let schema = *schema;
    let files = manifest.partitions.iter().flat_map(move |partition| {
        let table = schema.table(&partition.table);
        partition.files.iter().map(move |file| (table, file))
    });
    Ok(files.flat_map(move |(table, file)| match open(place, table, file) {
        Ok((table, rows)) => {
            let row = move |row: Result<Row, String>| match row {
                Ok(row) => Ok((table, row)),
                Err(why) => Err(damaged(file, &why)),
            };
            Box::new(rows.map(row)) as Box<dyn Iterator<Item = _>>
        }
        Err(error) => Box::new(std::iter::once(Err(error))),
    }))
}

fn open(
    place: &Place,
    table: Option<&'static Table>,
    file: &DataFile,
) -> Result<(&'static Table, Rows), LakeError> {
    let table = table.ok_or_else(|| damaged(file, "it is of a table that is not known"))?;
    let rows = Rows::new(whole(place, file)?, table).map_err(|why| damaged(file, &why))?;
    Ok((table, rows))
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

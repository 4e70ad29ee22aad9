//! Writing what is new: files first, then the manifest that names them.
//!
//! A partition, the rows of one table in one month, is written whole or carried over by name. Files
//! are named by their content, so a write that is done again writes the same files.

use std::collections::HashMap;

use store::table::{Row, Table};

use crate::error::LakeError;
use crate::file::FileWriter;
use crate::manifest::{Content, DataFile, Manifest, Manifests, Partition};
use crate::name::Writer;
use crate::place::Place;

/// Where rows come from.
pub trait Source {
    /// Hands over the rows of a table in a month, the same rows in the same order each time.
    fn rows(
        &mut self,
        table: &'static Table,
        month: &str,
        each: &mut dyn FnMut(Row) -> Result<(), LakeError>,
    ) -> Result<(), LakeError>;
}

/// A partition of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The table.
    pub table: &'static Table,
    /// The month.
    pub month: String,
    /// What the source's counter was when it changed last.
    pub at: u64,
}

/// What a write would do.
#[derive(Debug)]
pub struct Plan {
    writer: Writer,
    number: u64,
    content: Content,
    /// What is written.
    pub fresh: Vec<Changed>,
    /// What is carried over.
    pub kept: Vec<Partition>,
    /// How many partitions of the last manifest the source has no more.
    pub gone: usize,
    /// Files of the last manifest that are missing, and are written again.
    pub missing: Vec<String>,
}

impl Plan {
    /// Compares the source with what the writer has in the lake.
    pub fn new(
        place: &Place,
        writer: Writer,
        content: Content,
        source: Vec<Changed>,
    ) -> Result<Self, LakeError> {
        let manifests = Manifests::read(place, Some(&writer))?;
        let number = manifests.next(&writer);
        let last = manifests.whole.get(&writer).and_then(|all| all.last());
        let last = last.filter(|last| is_same(&last.content, &content));
        let counter = last.map(|last| last.content.counter);
        let mut known = last.map(by_name).unwrap_or_default();
        let sizes = match last {
            Some(last) => place.sizes(&last.files().map(|file| &*file.path).collect::<Vec<_>>())?,
            None => HashMap::new(),
        };
        let is_there = |file: &&DataFile| sizes.get(&file.path) == Some(&file.bytes);
        let (mut fresh, mut kept, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for changed in source {
            let partition = known.remove(&(changed.table.name.to_owned(), changed.month.clone()));
            if counter.is_none_or(|counter| changed.at > counter) {
                fresh.push(changed);
                continue;
            }
            // Without one it had no rows then, and has none now.
            let Some(partition) = partition else { continue };
            let gone = partition.files.iter().filter(|file| !is_there(file));
            let before = missing.len();
            missing.extend(gone.map(|file| file.path.clone()));
            match missing.len() == before {
                true => kept.push(partition.clone()),
                false => fresh.push(changed),
            }
        }
        let gone = known.len();
        Ok(Self { writer, number, content, fresh, kept, gone, missing })
    }

    /// Whether the lake has everything already.
    pub fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.gone == 0
    }

    /// Writes what is new, then the manifest; `now` in milliseconds since 1970.
    pub fn write(
        self,
        place: &Place,
        source: &mut dyn Source,
        now: i64,
    ) -> Result<Manifest, LakeError> {
        let Self { writer, number, content, fresh, mut kept, .. } = self;
        for changed in fresh {
            kept.extend(partition(place, &writer, &changed, source)?);
        }
        kept.sort_by(|a, b| (&a.table, &a.month).cmp(&(&b.table, &b.month)));
        let Writer { host, user } = writer;
        let manifest = Manifest { host, user, number, written: now, content, partitions: kept };
        match place.create(&manifest.path(), manifest.to_bytes())? {
            true => Ok(manifest),
            false => Err(LakeError::Raced(manifest.path())),
        }
    }
}

/// Whether rows of the one are rows of the other.
fn is_same(a: &Content, b: &Content) -> bool {
    // A counter that fell back counts other changes.
    *a == Content { counter: a.counter, ..b.clone() } && a.counter <= b.counter
}

fn by_name(manifest: &Manifest) -> HashMap<(String, String), &Partition> {
    let name = |partition: &Partition| (partition.table.clone(), partition.month.clone());
    manifest.partitions.iter().map(|partition| (name(partition), partition)).collect()
}

/// Writes the files of a partition; nothing if it has no rows.
fn partition(
    place: &Place,
    writer: &Writer,
    changed: &Changed,
    source: &mut dyn Source,
) -> Result<Option<Partition>, LakeError> {
    let Changed { table, month, .. } = changed;
    let (mut open, mut files): (Option<FileWriter>, _) = (None, Vec::new());
    let put = |file: FileWriter| put(place, writer, changed, file);
    source.rows(table, month, &mut |row| {
        if let Some(full) = open.take_if(|file| file.is_full()) {
            files.push(put(full)?);
        }
        if open.is_none() {
            open = Some(FileWriter::new(table)?);
        }
        open.as_mut().map_or(Ok(()), |file| file.push(row))
    })?;
    if let Some(last) = open {
        files.push(put(last)?);
    }
    if files.is_empty() {
        return Ok(None);
    }
    Ok(Some(Partition { table: table.name.into(), month: month.clone(), files }))
}

fn put(
    place: &Place,
    writer: &Writer,
    changed: &Changed,
    file: FileWriter,
) -> Result<DataFile, LakeError> {
    let (bytes, rows) = file.finish()?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    let path = writer.file(changed.table, &changed.month, &hash);
    let size = bytes.len() as u64;
    place.put(&path, bytes.into())?;
    Ok(DataFile { path, rows, bytes: size, hash })
}

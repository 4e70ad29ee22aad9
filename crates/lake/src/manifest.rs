//! What a host has written: the one object that makes files part of a lake.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::Schema;
use crate::error::LakeError;
use crate::name::{self, MANIFESTS, Writer};
use crate::place::Place;

/// All files of a host and a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The computer.
    pub host: String,
    /// Who works on it.
    pub user: String,
    /// Rises with each write.
    pub number: u64,
    /// When it was written, in milliseconds since 1970.
    pub written: i64,
    /// What is in it.
    #[serde(flatten)]
    pub content: Content,
    /// The files of each table and month.
    pub partitions: Vec<Partition>,
}

/// What is in the files of a manifest. Where it changes, everything is written anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The version of the tables.
    pub schema: u32,
    /// Whether what was written and said is there.
    pub texts: bool,
    /// Whether secrets are taken out.
    pub redacted: bool,
    /// Which tables the counter counts changes of.
    pub source: String,
    /// How far the changes of the source are in the files.
    pub counter: u64,
}

/// The rows of one table in one month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// The table.
    pub table: String,
    /// The month, as `2026-11`.
    pub month: String,
    /// The files, in order.
    pub files: Vec<DataFile>,
}

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Its place, from the lake's own folder on.
    pub path: String,
    /// Its rows.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// BLAKE3 of its bytes.
    pub hash: String,
}

impl Manifest {
    /// Who wrote it.
    pub fn writer(&self) -> Writer {
        Writer { host: self.host.clone(), user: self.user.clone() }
    }

    /// Its own place.
    pub fn path(&self) -> String {
        self.writer().manifest(self.number)
    }

    /// All its files.
    pub fn files(&self) -> impl Iterator<Item = &DataFile> {
        self.partitions.iter().flat_map(|partition| &partition.files)
    }

    /// How many rows its files have.
    pub fn rows(&self) -> u64 {
        self.files().map(|file| file.rows).sum()
    }

    /// How many bytes its files have.
    pub fn bytes(&self) -> u64 {
        self.files().map(|file| file.bytes).sum()
    }

    /// Says so if the tables are not those that we know.
    pub fn check(&self, schema: &Schema) -> Result<(), LakeError> {
        let (found, known) = (self.content.schema, schema.version);
        match found == known {
            true => Ok(()),
            false => Err(LakeError::OtherVersion { path: self.path(), found, known }),
        }
    }

    /// As the object that is written.
    pub fn to_bytes(&self) -> Bytes {
        let mut bytes = serde_json::to_vec_pretty(self).expect("texts and numbers only");
        bytes.push(b'\n');
        bytes.into()
    }

    /// What [`Manifest::to_bytes`] wrote; the error says why it is none.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }
}

/// The manifests of a lake.
#[derive(Debug, Default)]
pub struct Manifests {
    /// All that are whole, of each writer by rising numbers.
    pub whole: BTreeMap<Writer, Vec<Manifest>>,
    /// Those that are not, and why.
    pub damaged: Vec<(String, String)>,
}

impl Manifests {
    /// Reads those of one writer, or all.
    pub fn read(place: &Place, of: Option<&Writer>) -> Result<Self, LakeError> {
        let under = of.map_or_else(|| MANIFESTS.into(), Writer::manifests);
        let mut all = Self::default();
        for object in place.list(&under)? {
            if name::number(&object.path).is_none() {
                continue;
            }
            match Manifest::read(&place.get(&object.path)?) {
                Ok(manifest) if manifest.path() == object.path => {
                    all.whole.entry(manifest.writer()).or_default().push(manifest);
                }
                Ok(_) => all.damaged.push((object.path, "it lies in another's place".into())),
                Err(why) => all.damaged.push((object.path, why)),
            }
        }
        Ok(all)
    }

    /// The newest of each writer.
    pub fn newest(&self) -> impl Iterator<Item = &Manifest> {
        self.whole.values().filter_map(|all| all.last())
    }

    /// The first number that nobody has used for a writer, not even for half a manifest.
    pub fn next(&self, writer: &Writer) -> u64 {
        let damaged = self.damaged.iter().filter(|(path, _)| path.starts_with(&writer.manifests()));
        let damaged = damaged.filter_map(|(path, _)| name::number(path));
        let whole = self.whole.get(writer).into_iter().flatten().map(|manifest| manifest.number);
        damaged.chain(whole).max().map_or(1, |last| last + 1)
    }
}

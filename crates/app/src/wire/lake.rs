//! Lines of `recount lake --json`. The rows of `lake rows` are those of the tables.

use lake::compact::Leftovers;
use lake::manifest::Manifest;
use lake::verify::{Fault, Verdict};
use lake::write::Plan;
use serde::Serialize;
use transcript::time::Time;

use super::time;

/// What a host and a user have in a lake, by `lake status`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "lake_writer")]
pub struct LakeWriter {
    /// The computer.
    host: String,
    /// Who works on it.
    user: String,
    /// The number of the manifest.
    manifest: u64,
    /// When it was written.
    written: Option<String>,
    /// The version of the tables.
    schema: u32,
    /// Whether texts are in it.
    texts: bool,
    /// Whether secrets are taken out.
    redacted: bool,
    /// The files.
    files: usize,
    /// Their rows.
    rows: u64,
    /// Their bytes.
    bytes: u64,
}

impl From<&Manifest> for LakeWriter {
    fn from(manifest: &Manifest) -> Self {
        Self {
            host: manifest.host.clone(),
            user: manifest.user.clone(),
            manifest: manifest.number,
            written: time(Some(Time(manifest.written))),
            schema: manifest.content.schema,
            texts: manifest.content.texts,
            redacted: manifest.content.redacted,
            files: manifest.files().count(),
            rows: manifest.rows(),
            bytes: manifest.bytes(),
        }
    }
}

/// What was written, by `lake write`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "lake_written")]
pub struct LakeWritten {
    /// The computer.
    host: String,
    /// Who works on it.
    user: String,
    /// The number of the new manifest.
    manifest: u64,
    /// Months of tables that were written, counted over all tables.
    months_written: usize,
    /// Files that the host has in the lake now.
    files: usize,
    /// Their rows.
    rows: u64,
    /// Their bytes.
    bytes: u64,
}

impl LakeWritten {
    /// What a write came to.
    pub fn new(manifest: &Manifest, months_written: usize) -> Self {
        Self {
            host: manifest.host.clone(),
            user: manifest.user.clone(),
            manifest: manifest.number,
            months_written,
            files: manifest.files().count(),
            rows: manifest.rows(),
            bytes: manifest.bytes(),
        }
    }
}

/// What would be written, by `lake write --dry-run`, and by `lake write` if that is nothing.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "lake_plan")]
pub struct LakePlan {
    /// The months of tables that are to be written.
    write: Vec<LakeMonth>,
    /// How many months of tables are carried over.
    months_kept: usize,
    /// How many months of tables are no longer there.
    months_gone: usize,
    /// Files that are missing in the lake, and are written again.
    missing: Vec<String>,
}

/// A month of a table.
#[derive(Debug, Serialize)]
pub struct LakeMonth {
    /// The table.
    table: &'static str,
    /// The month.
    month: String,
}

impl From<&Plan> for LakePlan {
    fn from(plan: &Plan) -> Self {
        let month = |changed: &lake::write::Changed| LakeMonth {
            table: changed.table.name,
            month: changed.month.clone(),
        };
        Self {
            write: plan.fresh.iter().map(month).collect(),
            months_kept: plan.kept.len(),
            months_gone: plan.gone,
            missing: plan.missing.clone(),
        }
    }
}

/// Something that is wrong, by `lake verify`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "lake_fault")]
pub struct LakeFault {
    /// The object, by its place in the lake.
    path: String,
    /// What is wrong with it.
    what: String,
}

impl From<&Fault> for LakeFault {
    fn from(fault: &Fault) -> Self {
        Self { path: fault.path.clone(), what: fault.what.clone() }
    }
}

/// What was read, the last line of `lake verify`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "lake_verified")]
pub struct LakeVerified {
    /// Manifests, the newest of each host and user.
    manifests: usize,
    /// Files that are as they were written.
    files: usize,
    /// Their rows.
    rows: u64,
    /// Their bytes.
    bytes: u64,
    /// How much is wrong.
    faults: usize,
    /// Objects that no manifest names.
    foreign: Vec<String>,
}

impl From<&Verdict> for LakeVerified {
    fn from(verdict: &Verdict) -> Self {
        Self {
            manifests: verdict.manifests,
            files: verdict.files,
            rows: verdict.rows,
            bytes: verdict.bytes,
            faults: verdict.faults.len(),
            foreign: verdict.foreign.iter().map(|object| object.path.clone()).collect(),
        }
    }
}

/// What was taken away, by `lake compact`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "lake_compacted")]
pub struct LakeCompacted {
    /// Manifests.
    manifests: Vec<String>,
    /// Files.
    files: Vec<String>,
    /// Their bytes.
    bytes: u64,
    /// Whether it is still there, because only that was asked.
    dry_run: bool,
}

impl LakeCompacted {
    /// What went or would go.
    pub fn new(left: &Leftovers, dry_run: bool) -> Self {
        Self {
            manifests: left.manifests.clone(),
            files: left.files.iter().map(|file| file.path.clone()).collect(),
            bytes: left.files.iter().map(|file| file.bytes).sum(),
            dry_run,
        }
    }
}

/// A host and a user whose rows are in the store, by `lake read`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "lake_read")]
pub struct LakeRead {
    /// The computer.
    host: String,
    /// Who works on it.
    user: String,
    /// The rows.
    rows: u64,
    /// Whether they were read now; else the store had them.
    is_new: bool,
}

impl LakeRead {
    /// What was taken from a manifest.
    pub fn new(manifest: &Manifest, is_new: bool) -> Self {
        let (host, user) = (manifest.host.clone(), manifest.user.clone());
        Self { host, user, rows: manifest.rows(), is_new }
    }
}

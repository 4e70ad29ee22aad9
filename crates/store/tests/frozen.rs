//! Stores that earlier versions wrote are read by this one: every content byte for byte, and
//! questions are answered from them. `fixtures/stores/freeze.py` writes a new one for every change
//! of the format.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use store::archive::{Access, Archive, path_of};
use store::find::Finder;
use store::folder::Store;
use store::index::Options as SearchOptions;
use store::query::Query;
use store::sync::{Options, Watch, sync};
use transcript::time::Time;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    home: PathBuf,
    /// The contents that a file has had, in their order.
    files: BTreeMap<PathBuf, Vec<Content>>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Content {
    size: u64,
    sha256: String,
}

struct Nobody;

impl Watch for Nobody {
    fn begin(&self, _: usize, _: u64) {}
    fn step(&self, _: usize, _: u64) {}
}

/// A frozen store, copied to where it can be written.
struct Frozen {
    name: String,
    manifest: Manifest,
    folder: tempfile::TempDir,
}

fn all() -> Vec<Frozen> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/stores");
    let folders = |path: &Path| {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    };
    let stores = folders(&root).into_iter().flat_map(|version| folders(&version));
    stores.map(|store| copied(&store)).collect()
}

fn copied(from: &Path) -> Frozen {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let manifest = fs::read_to_string(from.join("manifest.json")).unwrap();
    let name = from.file_name().unwrap().to_string_lossy().into_owned();
    Frozen { name, manifest: serde_json::from_str(&manifest).unwrap(), folder }
}

impl Frozen {
    fn store(&self) -> Store {
        Store::new(self.folder.path().to_path_buf())
    }
}

/// Everything that the archive says a file has held.
fn contents(archive: &Archive) -> BTreeMap<PathBuf, Vec<Content>> {
    let rows = archive.files().unwrap();
    let mut all: BTreeMap<PathBuf, Vec<Content>> = BTreeMap::new();
    for (file, generation, size) in archive.lives().unwrap() {
        let row = rows.iter().find(|row| row.file == file).unwrap();
        let mut bytes = Vec::new();
        archive.content(generation).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, size);
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        all.entry(path_of(&row.rel)).or_default().push(Content { size, sha256 });
    }
    all
}

#[test]
fn every_content_of_a_frozen_store_comes_back_byte_for_byte() {
    let frozen = all();
    let names: Vec<&str> = frozen.iter().map(|store| &*store.name).collect();
    for name in ["plain", "compacted", "generations", "semantic"] {
        assert!(names.contains(&name), "{name} is missing among {names:?}");
    }
    for store in frozen {
        let archive = store.store().archive(Access::Read).unwrap();
        assert_eq!(contents(&archive), store.manifest.files, "{}", store.name);
        let home = archive.files().unwrap()[0].home.clone();
        assert_eq!(path_of(&home), store.manifest.home);
    }
}

#[test]
fn a_frozen_store_answers_and_loses_nothing() {
    for frozen in all() {
        let store = frozen.store();
        // No Claude folder is there any more: catalog and index are made from the archive.
        sync(&store, &[], Options::new(Time(1_800_000_000_000)), &Nobody).unwrap();
        let finder = Finder::open(&store).unwrap().expect("catalog and index are there");
        let query = Query::parse("zeppelin role:answer", &|_| None).unwrap();
        let found = finder.search(&query, SearchOptions::default(), 160).unwrap();
        assert!(found.hits.len() > 2, "{}: {} hits", frozen.name, found.hits.len());
        let marked = |hit: &store::find::Hit| hit.snippet.text.to_lowercase().contains("zeppelin");
        assert!(found.hits.iter().all(marked), "{}", frozen.name);
        let archive = store.archive(Access::Read).unwrap();
        assert_eq!(contents(&archive), frozen.manifest.files, "{}", frozen.name);
    }
}

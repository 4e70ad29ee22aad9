//! Hostile texts in every kind of export, opened from disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::{Browser, Home};

use super::hostile::{self, Depth};
use super::kit::{browser, recount};
use super::safety::{Made, opened_safely};

/// So many sessions have a page in one file of their own, one for each level.
const WHOLE: usize = 5;
/// Every so manieth session is read as pages without code, too.
const SPLIT: usize = 4;

/// Exports, and gives the folder in which the export is called `name`.
fn export(home: &Home, name: &str, more: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(recount())
        .args(["export", "--quiet", "--claude-dir"])
        .arg(home.path())
        .arg("--store")
        .arg(folder.path().join("store"))
        .arg("--to")
        .arg(folder.path().join(name))
        .args(more)
        .env_clear()
        .env("HOME", folder.path())
        .env("TZ", "UTC")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    // Damaged lines and refused sessions are told; what was written is looked at.
    assert!(folder.path().join(name).exists(), "{more:?}: {said}");
    folder
}

/// The pages below a folder, in their order.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|end| end == "html") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn open(browser: &Browser, path: &Path, made: Made) {
    opened_safely(browser, &format!("file://{}", path.display()), made);
}

/// Opens a folder of all sessions, one of pages without code, and some sessions in files of their
/// own; how many pages were opened.
fn walk(depth: Depth) -> usize {
    let (home, truth) = hostile::home(depth);
    let browser = browser();
    let mut opened = 0;
    let mut open = |path: &Path, made: Made| {
        open(&browser, path, made);
        opened += 1;
    };
    let folder = export(&home, "all", &["--all", "--detail", "4", "--no-redact"]);
    let all = pages(&folder.path().join("all"));
    assert!(all.len() * 2 > truth.sessions.len(), "{} pages", all.len());
    for path in &all {
        let is_index = path.ends_with("index.html");
        open(path, if is_index { Made::Plain } else { Made::Beside });
    }
    let split = export(&home, "split", &["--all", "--split"]);
    let split = split.path().join("split");
    open(&split.join("index.html"), Made::Plain);
    let mut sessions: Vec<PathBuf> = std::fs::read_dir(&split)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    sessions.sort();
    assert!(sessions.len() * 2 > truth.sessions.len(), "{} folders", sessions.len());
    for session in sessions.iter().skip(depth as usize).step_by(SPLIT) {
        pages(session).iter().for_each(|page| open(page, Made::Plain));
    }
    // The longest have most that can go wrong.
    let mut longest: Vec<&PathBuf> =
        all.iter().filter(|path| !path.ends_with("index.html")).collect();
    longest.sort_by_key(|path| std::cmp::Reverse(std::fs::metadata(path).map_or(0, |m| m.len())));
    for (path, level) in longest.into_iter().take(WHOLE).zip(["1", "2", "3", "4", "5"]) {
        let id = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let folder = export(&home, "one.html", &[id, "--detail", level]);
        open(&folder.path().join("one.html"), Made::Whole);
    }
    opened
}

#[test]
fn hostile_texts_stay_texts_in_exports() {
    assert!(walk(Depth::Texts) > 100);
}

#[test]
fn hostile_names_and_ids_stay_texts_in_exports() {
    assert!(walk(Depth::Names) > 100);
}

#[test]
fn hostile_types_and_addresses_stay_texts_in_exports() {
    walk(Depth::All);
}

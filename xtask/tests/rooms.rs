//! Dependencies between our crates go one way, and what is for development never ships.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Who may use whom, in what is shipped.
const MAY_USE: &[(&str, &[&str])] = &[
    ("transcript", &[]),
    ("store", &["transcript"]),
    ("report", &["transcript", "store"]),
    ("lake", &["store"]),
    ("recount-ask", &["transcript", "store", "report"]),
    ("app", &["transcript", "store", "report", "recount-ask", "lake"]),
    ("recount", &["app"]),
];
/// For development only: they may use anything, nothing that ships may use them.
const UNSHIPPED: &[&str] = &["testkit", "xtask"];

/// Each crate of the workspace with our own crates that it needs to be built.
fn uses() -> BTreeMap<String, Vec<String>> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--format-version=1", "--offline"]).current_dir(root);
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo says JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    packages.iter().map(|package| (text(&package["name"]), needs(package))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Path dependencies, those for tests left out.
fn needs(package: &Value) -> Vec<String> {
    let all = package["dependencies"].as_array().expect("dependencies");
    let ours = all.iter().filter(|d| d["kind"] != "dev" && d["path"].is_string());
    ours.map(|dependency| text(&dependency["name"])).collect()
}

#[test]
fn dependencies_go_one_way() {
    for (crate_name, needed) in uses() {
        if UNSHIPPED.contains(&&*crate_name) {
            continue;
        }
        let (_, allowed) = MAY_USE
            .iter()
            .find(|(name, _)| *name == crate_name)
            .unwrap_or_else(|| panic!("{crate_name} is a new room: say here whom it may use"));
        for name in needed {
            assert!(allowed.contains(&&*name), "{crate_name} must not use {name}");
        }
    }
}

#[test]
fn every_room_is_there() {
    let uses = uses();
    for name in [
        "transcript",
        "store",
        "report",
        "recount-ask",
        "lake",
        "app",
        "recount",
        "testkit",
        "xtask",
    ] {
        assert!(uses.contains_key(name), "{name} is gone");
    }
}

/// Paths by which raw JSON of an assistant would be read outside the format crate.
const RAW: [&str; 6] = [
    "transcript::entry",
    "transcript::json",
    "transcript::catalog",
    "json::Raw",
    "entry::Entry",
    "message::Block",
];
/// Rooms that get typed values from the format crate.
const TYPED_ROOMS: [&str; 5] = ["store", "report", "ask", "lake", "app"];

/// Sources below a folder, those of tests left out.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if is_test {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The lines of a file that name raw JSON, with their numbers. `use transcript::{entry, ..}` is
/// written out, so that no group hides a path.
fn raw_lines(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_group = |line: &str| {
        let names = line.split_once("use transcript::{").map_or("", |(_, names)| names);
        names.split([',', '}', ':']).any(|name| {
            let name = name.split(" as ").next().unwrap_or_default().trim();
            ["entry", "json", "catalog"].contains(&name)
        })
    };
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| is_group(line) || RAW.iter().any(|path| line.contains(path)))
        .map(|(number, line)| format!("{number}: {}", line.trim()))
        .collect()
}

#[test]
fn only_the_format_crate_reads_raw_json() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for room in TYPED_ROOMS {
        sources(&crates.join(room).join("src"), &mut files);
    }
    assert!(files.len() > 200, "{} files were found", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        wrong.extend(raw_lines(&text).into_iter().map(|line| format!("{}:{line}", file.display())));
    }
    assert!(wrong.is_empty(), "ask `transcript::reading` instead:\n{}", wrong.join("\n"));
}

#[test]
fn raw_json_is_recognized_however_it_is_imported() {
    let seen = |line: &str| !raw_lines(line).is_empty();
    assert!(seen("use transcript::entry::Entry;"));
    assert!(seen("use transcript::{entry, id};"));
    assert!(seen("use transcript::{id, json::Raw};"));
    assert!(seen("let raw = transcript::json::Raw::new(bytes);"));
    assert!(!seen("use transcript::reading::Reading;"));
    assert!(!seen("use serde_json::value::RawValue;"));
}

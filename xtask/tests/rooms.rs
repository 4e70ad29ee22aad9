//! Dependencies between our crates go one way, and what is for development never ships.

use std::collections::BTreeMap;
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

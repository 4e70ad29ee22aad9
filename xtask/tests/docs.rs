//! The reference of the JSON lines says what the wire types say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_reference_is_current() {
    let xtask = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["docs", "--check"]).output();
    let output = xtask.expect("xtask runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "run `cargo xtask docs`\n{message}");
}

/// Looks for the titles without the reader of `xtask docs`, which could pass over a file.
#[test]
fn every_wire_module_has_a_section() {
    let page = read("docs/reference/json.md");
    let wire = read("crates/app/src/wire.rs");
    let modules = wire
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let mut count = 0;
    for module in modules {
        let source = read(&format!("crates/app/src/wire/{module}.rs"));
        let docs = source.lines().map_while(|line| line.strip_prefix("//! "));
        let title = docs.collect::<Vec<_>>().join(" ");
        let heading = format!("## {}", title.trim_end_matches('.'));
        assert!(page.lines().any(|line| line == heading), "no section of `{module}`");
        count += 1;
    }
    assert!(count >= 9, "{count} modules");
}

//! Every name on the map exists, and every test that the page of the format names.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What stands between single backticks, fenced blocks left out.
fn code_spans(text: &str) -> Vec<String> {
    let mut spans = Vec::new();
    for (at, block) in text.split("```").enumerate() {
        if at % 2 == 0 {
            spans.extend(block.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    spans
}

fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push_str(&fs::read_to_string(&path).expect("a source file"));
        }
    }
}

fn has_word(all: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    all.match_indices(word).any(|(at, _)| {
        let before = all[..at].chars().next_back().is_some_and(is_part);
        let after = all[at + word.len()..].chars().next().is_some_and(is_part);
        !before && !after
    })
}

/// In its tables, the last column names tests.
#[test]
fn every_claim_about_the_format_has_its_test() {
    let page = fs::read_to_string(root().join("docs/format.md")).expect("the page");
    let mut all = String::new();
    sources(&root().join("crates"), &mut all);
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| claim"));
    let tests = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    let names: Vec<String> = tests.flat_map(code_spans).collect();
    assert!(names.len() > 50, "{}", names.len());
    for name in names {
        assert!(all.contains(&format!("fn {name}(")), "there is no test {name}");
    }
}

#[test]
fn every_name_on_the_map_exists() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map");
    let mut all = String::new();
    for folder in ["crates", "xtask"] {
        sources(&root().join(folder), &mut all);
    }
    let mut missing = Vec::new();
    let spans = code_spans(&map);
    assert!(spans.len() > 60);
    for span in spans {
        let is_path = span.contains('/') && !span.contains(' ');
        let is_name = span.chars().all(|c| c.is_alphanumeric() || c == '_');
        let exists = if is_path {
            root().join(&span).exists()
        } else if is_name && !matches!(&*span, "user" | "xtask" | "fuzz" | "store") {
            has_word(&all, &span)
        } else {
            true
        };
        if !exists {
            missing.push(span);
        }
    }
    assert!(missing.is_empty(), "not there any more: {missing:?}");
}

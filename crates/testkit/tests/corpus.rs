//! The maker held against what it made: same bytes for the same seed, sizes,
//! and truths that an independent walk over the JSON confirms.

// The lint knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use testkit::fixture;
use testkit::truth::{FileTruth, SessionTruth};
use testkit::{Home, Shape, Spec, Truth, make};

fn made(shape: Shape, bytes: u64) -> (Home, Truth) {
    let home = Home::new();
    let truth = make(&Spec { seed: 7, shape, bytes }, home.path()).unwrap();
    (home, truth)
}

fn hash(dir: &Path, truth: &Truth) -> Vec<u8> {
    let mut hash = Sha256::new();
    for file in &truth.files {
        hash.update(file.path.as_bytes());
        hash.update(fs::read(dir.join(&file.path)).unwrap());
    }
    hash.finalize().to_vec()
}

fn size(shape: Shape) -> u64 {
    if shape == Shape::ManySmall { 500_000 } else { 4_000_000 }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for shape in Shape::ALL {
        let (one, first) = made(shape, size(shape));
        let (two, second) = made(shape, size(shape));
        assert_eq!(first, second, "{shape:?}");
        assert_eq!(hash(one.path(), &first), hash(two.path(), &second), "{shape:?}");
    }
}

#[test]
fn the_files_are_those_of_the_truth() {
    for shape in Shape::ALL {
        let (home, truth) = made(shape, size(shape));
        let mut found = Vec::new();
        walk(home.path(), &mut found);
        assert_eq!(found.len(), truth.files.len(), "{shape:?}");
        for file in &truth.files {
            let bytes = fs::read(home.path().join(&file.path)).unwrap();
            assert_eq!(bytes.len() as u64, file.bytes, "{}", file.path);
        }
        let sum: u64 = truth.files.iter().map(|file| file.bytes).sum();
        assert_eq!(sum, truth.bytes, "{shape:?}");
    }
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, found) } else { found.push(path) }
    }
}

#[test]
fn big_shapes_have_the_size_asked_for() {
    for shape in [Shape::Seeds, Shape::Lean, Shape::ManySmall, Shape::OneHuge] {
        let bytes = if shape == Shape::ManySmall { 1_000_000 } else { 12_000_000 };
        let (_home, truth) = made(shape, bytes);
        let off = truth.bytes.abs_diff(bytes);
        assert!(off * 10 < bytes, "{shape:?}: {} of {bytes}", truth.bytes);
    }
}

#[test]
fn one_huge_session_holds_nearly_everything() {
    let (_home, truth) = made(Shape::OneHuge, 8_000_000);
    let largest = truth.files.iter().map(|file| file.bytes).max().unwrap();
    assert!(largest * 100 > truth.bytes * 95);
    let huge = truth.sessions.iter().max_by_key(|session| session.calls).unwrap();
    assert!(huge.segments.len() > 2);
    assert_eq!(huge.title_source.as_deref(), Some("ai"));
}

/// Lines of a file without the empty piece after the last newline.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
    if pieces.last().is_some_and(|last| last.is_empty()) {
        pieces.pop();
    }
    pieces
}

/// Raw, because half a character is valid JSON and no `String`.
fn is_object(line: &[u8]) -> bool {
    std::str::from_utf8(line)
        .ok()
        .and_then(|line| serde_json::from_str::<&RawValue>(line).ok())
        .is_some_and(|raw| raw.get().starts_with('{'))
}

fn transcripts(truth: &Truth) -> impl Iterator<Item = &FileTruth> {
    truth.files.iter().filter(|file| file.path.ends_with(".jsonl"))
}

#[test]
fn lines_and_damage_are_as_told() {
    for shape in Shape::ALL {
        let (home, truth) = made(shape, size(shape));
        for file in transcripts(&truth) {
            let bytes = fs::read(home.path().join(&file.path)).unwrap();
            let lines = pieces(&bytes);
            assert_eq!(lines.len() as u64, file.lines, "{}", file.path);
            let damaged = lines.iter().filter(|line| !is_object(line)).count() as u64;
            assert_eq!(damaged, file.damaged, "{}", file.path);
        }
    }
}

/// The good entries of a session that carry its own id.
fn own_entries(home: &Home, session: &SessionTruth) -> Vec<Value> {
    let bytes = fs::read(home.path().join(&session.file)).unwrap();
    let resumed = session.case.starts_with("an old resume");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let entries = pieces(bytes).into_iter().map(|line| {
        // Half a character cannot be held by a `Value`.
        let line = String::from_utf8_lossy(line).replace("\\ud83d", "?").replace("\\ude00", "?");
        serde_json::from_str::<Value>(&line).unwrap_or(Value::Null)
    });
    entries.filter(|entry| resumed || entry["sessionId"] == session.id.as_str()).collect()
}

#[derive(Default)]
struct Counted {
    calls: BTreeSet<String>,
    errors: BTreeSet<String>,
    output: BTreeMap<String, u64>,
    pr_links: BTreeSet<String>,
    segments: u64,
    uuids: BTreeSet<String>,
}

fn count(entries: &[Value]) -> Counted {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let mut counted = Counted { segments: 1, ..Counted::default() };
    for entry in entries {
        if let Some(uuid) = entry["uuid"].as_str() {
            counted.uuids.insert(uuid.to_string());
        }
        if entry["type"] == "pr-link" {
            counted.pr_links.insert(text(&entry["prUrl"]));
        }
        if entry["subtype"] == "compact_boundary" {
            counted.segments += 1;
        }
        let message = &entry["message"];
        if entry["type"] == "assistant" && message["model"] != "<synthetic>" {
            let most = counted.output.entry(text(&message["id"])).or_default();
            *most = (*most).max(message["usage"]["output_tokens"].as_u64().unwrap_or(0));
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                counted.calls.insert(text(&block["id"]));
            }
            if block["is_error"] == true {
                counted.errors.insert(text(&block["tool_use_id"]));
            }
        }
    }
    counted
}

#[test]
fn an_independent_walk_finds_the_same() {
    for shape in [Shape::Hard, Shape::Demo, Shape::Seeds, Shape::Lean] {
        let (home, truth) = made(shape, 2_000_000);
        for session in &truth.sessions {
            let case = &session.case;
            let counted = count(&own_entries(&home, session));
            assert_eq!(counted.calls.len() as u64, session.calls, "{case}");
            let errors: BTreeSet<String> =
                session.errors.iter().map(|error| error.tool_use_id.clone()).collect();
            assert_eq!(counted.errors, errors, "{case}");
            assert_eq!(counted.output.len() as u64, session.request_count, "{case}");
            let output: u64 = counted.output.values().sum();
            assert_eq!(output, session.usage.output, "{case}");
            let links: BTreeSet<String> = session.pr_links.iter().cloned().collect();
            assert_eq!(counted.pr_links, links, "{case}");
            let flagged = session.segments.iter().skip(1).filter(|s| s.trigger.is_some()).count();
            assert_eq!(counted.segments, flagged as u64 + 1, "{case}");
            if let Some(leaf) = &session.leaf {
                assert!(counted.uuids.contains(leaf), "{case}");
            }
        }
    }
}

#[test]
fn entries_by_type_are_as_told() {
    for shape in Shape::ALL {
        let (home, truth) = made(shape, size(shape));
        let mut found = 0;
        for file in transcripts(&truth) {
            let other = file.path == "history.jsonl" || file.path.ends_with("journal.jsonl");
            if !other && !truth.dialects.contains(&file.path) {
                found += file.lines - file.damaged + file.salvageable;
            }
        }
        assert_eq!(found, truth.entries.values().sum::<u64>(), "{shape:?}");
        drop(home);
    }
}

#[test]
fn the_progress_half_is_mostly_progress() {
    let (_home, truth) = made(Shape::Seeds, 12_000_000);
    let mut lines = BTreeMap::new();
    for session in truth.sessions.iter().filter(|s| s.case.starts_with("progress")) {
        for (name, n) in &session.entries {
            *lines.entry(name.as_str()).or_insert(0) += n;
        }
    }
    let percent = lines["progress"] * 100 / lines.values().sum::<u64>();
    assert!((42..=73).contains(&percent), "{percent} %");
}

#[test]
fn a_truth_survives_its_json() {
    let (_home, truth) = made(Shape::Hard, 0);
    let text = serde_json::to_string(&truth).unwrap();
    assert_eq!(serde_json::from_str::<Truth>(&text).unwrap(), truth);
}

#[test]
fn the_hard_home_has_its_kinds() {
    let (_home, truth) = made(Shape::Hard, 0);
    let of = |kind: &str| truth.kinds.keys().filter(|name| name.starts_with(kind)).count();
    assert!(of("system/") >= 15, "{}", of("system/"));
    assert!(of("attachment/") >= 50, "{}", of("attachment/"));
    assert!(of("progress/") >= 7, "{}", of("progress/"));
    assert!(truth.entries.len() >= 45, "{}", truth.entries.len());
    let links: BTreeSet<&str> = truth
        .sessions
        .iter()
        .flat_map(|session| &session.subagents)
        .map(|agent| agent.link.as_str())
        .collect();
    let all = ["internal", "meta", "none", "notification", "prompt", "result", "text", "workflow"];
    assert_eq!(links.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn the_committed_sample_is_current() {
    let home = Home::new();
    make(&Spec { seed: 1, shape: Shape::Demo, bytes: 0 }, home.path()).unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/demo.home");
    let committed = fs::read_to_string(file).unwrap();
    let current = fixture::pack(home.path()).unwrap();
    assert!(
        committed == current,
        "run `cargo xtask corpus --shape demo --pack fixtures/demo.home`"
    );
    assert!(current.len() < 250_000, "{}", current.len());
    let again = Home::parse(&committed);
    assert_eq!(fixture::pack(again.path()).unwrap(), committed);
}

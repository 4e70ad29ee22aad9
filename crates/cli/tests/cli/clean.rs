use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use testkit::{Shape, Spec};

use super::case::Case;
use super::list::HOME;
use super::storage::bulky;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Cleaned {
    r#type: String,
    session: String,
    kind: String,
    source: String,
    path: Option<String>,
    bytes: u64,
    clean_bytes: u64,
    base64_items: u64,
    base64_bytes: u64,
    original_file_items: u64,
    original_file_bytes: u64,
    read_items: u64,
    read_bytes: u64,
    snapshot_items: u64,
    snapshot_bytes: u64,
}

/// Every file below a folder, with its bytes and time.
fn files(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let time = entry.metadata().unwrap().modified().unwrap();
                    let bytes = fs::read(&path).unwrap();
                    all.insert(path.strip_prefix(root).unwrap().into(), (bytes, time));
                }
            }
        }
    }
    all
}

#[test]
fn a_copy_and_its_report() {
    let case = Case::new(&bulky());
    let before = files(&case.claude());
    insta::assert_snapshot!(case.run("clean 5555 --to out"));
    assert_eq!(files(&case.claude()), before, "the source is as it was");
    let out = case.claude().join("../out");
    let copies = files(&out);
    let name = "projects/-home-x-shop/5555aaaa-0000-4000-8000-000000000005";
    let names: Vec<_> = copies.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(names, [format!("{name}/tool-results/abc.txt"), format!("{name}.jsonl")]);
    let source = &before[Path::new(&format!("{name}.jsonl"))];
    let copy = &copies[Path::new(&format!("{name}.jsonl"))];
    assert_eq!(copy.1.duration_since(source.1).unwrap_or_default().as_millis(), 0);
    // Line by line: the same, or the same but for the values that were counted by hand.
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let image = "iVBORw0KGgo".to_owned() + &"A".repeat(189);
    let code = r#""fn main() {\n    println!(\"one\");\n}\n""#;
    let want = text(&source.0)
        .replace(&format!("\"{image}\""), "\"[base64 removed: image/png, 200 bytes]\"")
        .replace(code, "null");
    assert_eq!(text(&copy.0), want);
}

#[test]
fn every_choice_is_a_flag() {
    let case = Case::new(&bulky());
    let removed = |flags: &str| {
        let lines: Vec<Cleaned> = case.json(&format!("clean 5555 --dry-run {flags}"));
        let session = lines.iter().find(|line| line.kind == "session").unwrap();
        assert!(lines.iter().all(|line| line.path.is_none()));
        (session.base64_items, session.original_file_items, session.read_items)
    };
    assert_eq!(removed(""), (2, 1, 1));
    assert_eq!(removed("--keep-base64"), (0, 1, 1));
    assert_eq!(removed("--keep-original-file"), (2, 0, 1));
    assert_eq!(removed("--keep-reads"), (2, 1, 0));
    let all = "--keep-reads --keep-base64 --keep-original-file";
    let lines: Vec<Cleaned> = case.json(&format!("clean 5555 --to out {all}"));
    for line in lines {
        assert_eq!(line.bytes, line.clean_bytes);
        assert_eq!(fs::read(line.source).unwrap(), fs::read(line.path.unwrap()).unwrap());
    }
}

#[test]
fn nothing_is_written_where_it_must_not_be() {
    let case = Case::new(&bulky());
    let before = files(&case.claude());
    insta::assert_snapshot!(case.run("clean 5555 --to .claude/copy"), @"
    exit 2
    --- stderr
    error: ~/.claude/copy is below a Claude folder
    hint: Claude Code would take it for its own: name another folder
    ");
    assert!(case.run("clean 5555").starts_with("exit 2\n"));
    assert!(case.run("clean 5555 --dry-run").starts_with("exit 0\n"));
    assert!(!case.claude().join("../out").exists());
    assert!(case.run("clean 5555 --to out").starts_with("exit 0\n"));
    let written = files(&case.claude().join("../out"));
    insta::assert_snapshot!(case.run("clean 5555 --to out"), @"
    exit 2
    --- stderr
    error: ~/out/projects/-home-x-shop/5555aaaa-0000-4000-8000-000000000005/tool-results/abc.txt already exists
    hint: Nothing is ever overwritten and nothing was written: name another folder
    ");
    assert_eq!(files(&case.claude().join("../out")), written);
    assert_eq!(files(&case.claude()), before);
}

#[test]
fn a_file_that_was_pointed_at_brings_its_folder() {
    let case = Case::new(HOME);
    let name = "aaaa1111-0000-4000-8000-000000000001";
    let path = format!(".claude/projects/-home-x-app/{name}.jsonl");
    assert!(case.run(&format!("clean {path} --to out")).starts_with("exit 0\n"));
    let names: Vec<_> = files(&case.claude().join("../out")).into_keys().collect();
    let agent = format!("{name}/subagents/agent-a0123456789abcdef.jsonl");
    assert_eq!(names, [PathBuf::from(agent), PathBuf::from(format!("{name}.jsonl"))]);
}

/// Whatever is asked of a clean copy, the answer is that of the source.
fn tells_the_same(shape: Shape, bytes: u64) {
    let case = Case::new("");
    testkit::make(&Spec { seed: 5, shape, bytes }, &case.claude()).unwrap();
    #[derive(Deserialize)]
    struct Listed {
        session: String,
        size: Option<u64>,
    }
    let listed: Vec<Listed> = case.json("list --all");
    let ids: Vec<String> =
        listed.into_iter().filter(|s| s.size > Some(0)).map(|listed| listed.session).collect();
    assert!(ids.len() > 2);
    let lines: Vec<Cleaned> = case.json(&format!("clean {} --to out", ids.join(" ")));
    assert!(lines.iter().any(|line| line.clean_bytes < line.bytes));
    let answer = |folder: &str, args: &str| {
        let output = case.command().args(args.split(' ')).args(["--claude-dir", folder]).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let text = text.replace("out/projects", ".claude/projects");
        text.lines().map(placeless).collect::<Vec<_>>()
    };
    // A process for each session would take minutes: those that were cleaned, and some others.
    let is_cleaned =
        |id: &String| lines.iter().any(|line| line.clean_bytes < line.bytes && line.session == *id);
    let asked = |(at, id): (usize, String)| (at % 10 == 0 || is_cleaned(&id)).then_some(id);
    let ids: Vec<String> = ids.into_iter().enumerate().filter_map(asked).collect();
    let mut questions = vec!["errors --json".to_owned(), "errors --summary".to_owned()];
    questions.extend(ids.iter().map(|id| format!("show {id} --json")));
    questions.extend(ids.iter().map(|id| format!("tree {id} --json")));
    let mut told = 0;
    for args in questions {
        let (clean, source) = (answer("out", &args), answer(".claude", &args));
        told += source.len();
        for (clean, source) in clean.iter().zip(&source) {
            assert_eq!(clean, source, "{args}");
        }
        assert_eq!(clean.len(), source.len(), "{args}");
    }
    assert!(told > 100);
}

/// A JSON line without what says where something stands in its file.
fn placeless(line: &str) -> Value {
    let Ok(mut line) = serde_json::from_str::<Value>(line) else { return line.into() };
    let mut open = vec![&mut line];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| name != "offset" && name != "length");
                open.extend(members.values_mut());
            }
            Value::Array(items) => open.extend(items.iter_mut()),
            _ => {}
        }
    }
    line
}

#[test]
fn a_clean_home_of_hard_cases_tells_the_same() {
    tells_the_same(Shape::Hard, 0);
}

#[test]
fn a_clean_sample_tells_the_same() {
    tells_the_same(Shape::Demo, 0);
}

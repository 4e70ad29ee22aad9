//! The conformance corpus: what any tool should count, against what this one counts.
//!
//! The cases are data (`conformance/usage/README.md`) and were worked out by hand. Where one fails,
//! the rule that it quotes decides who is wrong, not the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::case::Case;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    reason: String,
    #[serde(default)]
    arithmetic: Vec<String>,
    args: Vec<String>,
    view: String,
    tz: String,
    week_start: Option<String>,
    rows: Vec<BTreeMap<String, Value>>,
}

/// A row as it was printed: a cost keeps its digits, which a float would not.
type Seen = BTreeMap<String, Box<RawValue>>;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/usage")
}

/// The folders in a folder, by name.
fn folders(at: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn expected(case: &Path) -> Expected {
    let text = fs::read_to_string(case.join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", name(case)))
}

fn seen(case: &Path, args: &[String]) -> Vec<Seen> {
    let computer = Case::new("");
    let mut command = computer.command();
    command.args(args).args(["--json", "--quiet"]);
    for home in folders(case) {
        command.arg("--claude-dir").arg(home);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}: {}", name(case), computer.shown(&output));
    let rows = std::str::from_utf8(&output.stdout).unwrap().lines();
    let rows = rows.map(|line| serde_json::from_str::<Seen>(line).expect(line));
    rows.filter(|row| matches!(row["type"].get(), r#""usage""# | r#""usage_block""#)).collect()
}

/// A value as the program prints it.
fn printed(key: &str, value: &Value) -> String {
    match value {
        Value::String(cost) if key == "cost_usd" => cost.clone(),
        value => value.to_string(),
    }
}

fn holds(expected: &BTreeMap<String, Value>, seen: &Seen) -> bool {
    let is_same = |(key, value): (&String, &Value)| {
        seen.get(key).is_some_and(|seen| seen.get() == printed(key, value))
    };
    expected.iter().all(is_same)
}

/// Whether each expected row is one of those seen, and none is left.
fn agree(expected: &[BTreeMap<String, Value>], seen: &[Seen]) -> bool {
    let mut left: Vec<&Seen> = seen.iter().collect();
    for row in expected {
        let Some(at) = left.iter().position(|seen| holds(row, seen)) else { return false };
        left.remove(at);
    }
    left.is_empty()
}

#[test]
fn every_case_is_counted_as_expected() {
    let mut wrong = String::new();
    let cases = folders(&corpus());
    assert!(cases.len() > 100, "the corpus is not where it should be");
    for case in &cases {
        let want = expected(case);
        let seen = seen(case, &want.args);
        if agree(&want.rows, &seen) {
            continue;
        }
        writeln!(wrong, "\n{}: {}", name(case), want.reason).unwrap();
        want.arithmetic.iter().for_each(|line| writeln!(wrong, "  {line}").unwrap());
        for row in &want.rows {
            writeln!(wrong, "  expected {}", serde_json::to_string(row).unwrap()).unwrap();
        }
        for row in &seen {
            writeln!(wrong, "  seen     {}", serde_json::to_string(row).unwrap()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The question stands twice in a case: for this program, and in words for others.
#[test]
fn arguments_and_words_ask_the_same() {
    for case in folders(&corpus()) {
        let want = expected(&case);
        let view = match want.view.as_str() {
            "day" => "daily",
            "week" => "weekly",
            "month" => "monthly",
            "block" => "blocks",
            other => other,
        };
        let mut args = vec!["usage", view, "--tz", &want.tz];
        args.extend(want.week_start.iter().flat_map(|day| ["--week-start", day.as_str()]));
        assert_eq!(want.args, args, "{}", name(&case));
    }
}

#[test]
fn the_readme_lists_every_case() {
    let readme = fs::read_to_string(corpus().join("README.md")).unwrap();
    let (_, tables) = readme.split_once("## The cases").unwrap();
    let rows = tables.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let mut listed: Vec<String> = rows.map(|(name, _)| name.to_owned()).collect();
    listed.sort();
    let there: Vec<String> = folders(&corpus()).iter().map(|case| name(case)).collect();
    assert_eq!(listed, there);
}

/// Not a folder of the corpus: links do not survive every way of copying one.
#[cfg(unix)]
#[test]
fn a_project_under_two_names_counts_once() {
    let from = corpus().join("output-grows/home/projects/-work-app");
    let file = fs::read_dir(from).unwrap().next().unwrap().unwrap().path();
    let case = Case::new("");
    let path = format!("projects/-work-app/{}", name(&file));
    case.write(&path, &fs::read_to_string(file).unwrap());
    let projects = case.claude().join("projects");
    std::os::unix::fs::symlink(projects.join("-work-app"), projects.join("-work-link")).unwrap();
    let rows: Vec<Seen> = case.json("usage daily --tz UTC --quiet");
    let rows: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["requests"].get(), row["cost_usd"].get())).collect();
    assert_eq!(rows, [("1", "0.004830")]);
}

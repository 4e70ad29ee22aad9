//! Redaction: what it finds of planted secrets, what it takes for one in the sources of crates, and
//! how fast it reads code and transcripts.
//!
//! Crates on the registry hold no secrets, so everything found there is wrong, except in tests and
//! examples, which hold keys made for them. These are counted apart.
//!
//! The secrets are planted from the templates of the rules themselves, with one seed: that all are
//! found says that no rule is broken and no place hides one, not what becomes of secrets whose
//! shape nobody has written down. The sources are those that the rules were tried on.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use report::redact::sample::plant;
use report::redact::{Options, Place, Redactor, Rules, places};
use serde_json::json;

use super::home::Home;
use super::parse::processor_seconds;
use super::record::{Report, Target, Verdict, least};
use super::table::Table;

/// So much is read of the sources.
const MOST: usize = 200_000_000;
/// Files of a crate that people write.
const ENDINGS: [&str; 12] =
    ["rs", "md", "toml", "json", "yml", "yaml", "txt", "c", "h", "py", "sh", "js"];
/// Folders and files that hold keys on purpose.
const TESTS: [&str; 7] = ["test", "bench", "example", "fixture", "vector", "demo", "fuzz"];
const SEED: u64 = 2026;
/// Examples printed of each rule; they are not recorded.
const SHOWN: usize = 3;

/// A corpus of texts.
struct Texts {
    name: &'static str,
    texts: Vec<(PathBuf, String)>,
    is_json: bool,
}

impl Texts {
    fn megabytes(&self) -> f64 {
        self.texts.iter().map(|(_, text)| text.len()).sum::<usize>() as f64 / 1e6
    }

    /// Least seconds of processor time to redact all of it.
    fn seconds(&self, runs: usize) -> f64 {
        let rules = Rules::built_in();
        let options = Options { emails: true, homes: true };
        let once = || {
            let redactor = Redactor::new(rules, options);
            let started = processor_seconds();
            for (number, (_, text)) in self.texts.iter().enumerate() {
                let at = Place { session: number as u64, entry: 0 };
                if self.is_json {
                    text.lines().for_each(|line| drop(black_box(redactor.json(line, at))));
                } else {
                    black_box(redactor.text(text, at));
                }
            }
            processor_seconds() - started
        };
        least((0..runs).map(|_| once())).unwrap_or(f64::NAN)
    }
}

/// What one rule found.
#[derive(Default)]
struct Hits {
    code: usize,
    tests: usize,
    shown: Vec<String>,
}

/// Measures recall, false positives and speed.
pub fn redact(home: &Home, runs: usize) -> Result<Report, String> {
    let sources = sources()?;
    let transcripts = transcripts(home)?;
    let (planted, missed) = recall();
    let mut table = Table::new(&["what", "MB", "MB per CPU s", "hits", "in tests", "hits per MB"]);
    let mut rows = Vec::new();
    let mut verdicts = vec![Verdict {
        what: format!("of {planted} secrets planted from the rules' templates found, %"),
        value: Some(100.0 * (planted - missed) as f64 / planted as f64),
        target: Target::AtLeast(100.0),
    }];
    for corpus in [sources, transcripts] {
        let hits = hits(&corpus);
        let (megabytes, speed) = (corpus.megabytes(), corpus.megabytes() / corpus.seconds(runs));
        let code: usize = hits.values().map(|hits| hits.code).sum();
        let tests: usize = hits.values().map(|hits| hits.tests).sum();
        table.row(vec![
            corpus.name.into(),
            format!("{megabytes:.0}"),
            format!("{speed:.0}"),
            code.to_string(),
            tests.to_string(),
            format!("{:.2}", code as f64 / megabytes),
        ]);
        let by_rule: BTreeMap<_, _> =
            hits.iter().map(|(rule, hits)| (*rule, [hits.code, hits.tests])).collect();
        rows.push(json!({
            "name": corpus.name, "mb": megabytes, "mb_per_cpu_second": speed,
            "hits": code, "in_tests": tests, "by_rule": by_rule,
        }));
        add_rules(&mut table, hits);
        let what = format!("{}, MB per CPU-second", corpus.name);
        verdicts.push(Verdict { what, value: Some(speed), target: Target::AtLeast(200.0) });
    }
    Ok(Report {
        name: "redact".into(),
        on: format!("{}, and the sources of crates; {runs} runs, one thread", home.text()),
        table,
        rows: rows.into(),
        verdicts,
    })
}

/// A row for each rule, the most frequent first, and what they hit on the terminal.
fn add_rules(table: &mut Table, hits: BTreeMap<&str, Hits>) {
    let mut hits: Vec<_> = hits.into_iter().collect();
    hits.sort_by_key(|(_, hits)| std::cmp::Reverse(hits.code));
    for (rule, hits) in hits {
        for shown in &hits.shown {
            println!("{rule}: {shown}");
        }
        let none = String::new;
        let counts = [hits.code.to_string(), hits.tests.to_string()];
        table.row([vec![format!("- {rule}"), none(), none()], counts.to_vec()].concat());
    }
}

/// How many were planted and how many of them were not found.
fn recall() -> (usize, usize) {
    let planted = plant(Rules::built_in(), SEED);
    let is_left = |planted: &&report::redact::sample::Planted| {
        let redactor = Redactor::new(Rules::built_in(), Options::default());
        let out = redactor.text(&planted.text, Place::default());
        planted.secrets.iter().any(|secret| out.contains(secret.as_str()))
    };
    let missed: Vec<_> = planted.iter().filter(is_left).collect();
    missed.iter().for_each(|missed| println!("missed, {}: {}", missed.rule, missed.text));
    (planted.len(), missed.len())
}

fn hits(corpus: &Texts) -> BTreeMap<&'static str, Hits> {
    let mut all: BTreeMap<&str, Hits> = BTreeMap::new();
    for (path, text) in &corpus.texts {
        let is_test = is_test(path);
        for (range, rule) in places(Rules::built_in(), text) {
            let hits = all.entry(&rule.id).or_default();
            *(if is_test { &mut hits.tests } else { &mut hits.code }) += 1;
            // Only what is public is shown.
            if !is_test && !corpus.is_json && hits.shown.len() < SHOWN {
                let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                let from = text.floor_char_boundary(line.max(range.start.saturating_sub(60)));
                let to = text.ceil_char_boundary((range.end + 20).min(range.start + 120));
                hits.shown.push(format!("{}: {:?}", path.display(), &text[from..to]));
            }
        }
    }
    all
}

/// Whether a file is there for tests, by its place in the crate.
fn is_test(path: &Path) -> bool {
    let place = path.to_string_lossy().to_lowercase();
    TESTS.iter().any(|test| place.contains(test))
}

/// The sources of crates, as far as cargo has unpacked them here.
fn sources() -> Result<Texts, String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let root = home.ok_or("no folder of cargo")?.join("registry/src");
    let mut texts = Vec::new();
    let mut left = MOST;
    read(&root, &root, &mut texts, &mut left);
    Ok(Texts { name: "sources of crates", texts, is_json: false })
}

/// Reads files in the order of their names until enough is read; what can't be read is left out.
fn read(root: &Path, folder: &Path, texts: &mut Vec<(PathBuf, String)>, left: &mut usize) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read(root, &path, texts, left);
            continue;
        }
        let is_source = path.extension().is_some_and(|e| ENDINGS.iter().any(|ending| e == *ending));
        let text = if is_source { fs::read_to_string(&path).ok() } else { None };
        if let Some(text) = text.filter(|text| text.len() <= *left) {
            *left -= text.len();
            let place = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            texts.push((place, text));
        }
    }
}

fn transcripts(home: &Home) -> Result<Texts, String> {
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let place = path.strip_prefix(&home.path).unwrap_or(path).to_path_buf();
        Ok((place, String::from_utf8_lossy(&bytes).into_owned()))
    };
    let texts: Result<_, String> = home.files.iter().map(|(path, _)| read(path)).collect();
    Ok(Texts { name: "transcripts", texts: texts?, is_json: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_for_tests_is_told_by_its_place() {
        assert!(is_test(Path::new("index/ring-0.17/tests/rsa.rs")));
        assert!(!is_test(Path::new("index/ring-0.17/src/rsa.rs")));
    }

    #[test]
    fn hits_are_counted_by_rule() {
        let planted = plant(Rules::built_in(), 1);
        let one = planted.iter().find(|planted| planted.rule == "npm-token").expect("planted");
        let texts = ["src/a.rs", "tests/a.rs", "src/b.rs"];
        let texts = texts.map(|path| (path.into(), one.text.clone())).to_vec();
        let hits = hits(&Texts { name: "x", texts, is_json: false });
        assert_eq!((hits["npm-token"].code, hits["npm-token"].tests), (2, 1));
    }
}

//! `recount hook`: how long Claude Code waits for it at each moment, nearly always.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::home::Home;
use super::race::race;
use super::record::{Report, Target, Verdict};
use super::store::{ours, place};
use super::table::Table;
use super::tool::Recount;

/// So often each moment comes, for one run.
const TIMES: usize = 20;

/// Nobody is to wait longer, in milliseconds.
const MOST: f64 = 80.0;

/// Words of made homes, and some that are nowhere.
const WORDS: [&str; 14] = [
    "build", "test", "error", "config", "server", "cache", "parser", "token", "branch", "retry",
    "timeout", "zeppelin", "schema", "release",
];

/// The moments of a session in its largest transcript.
fn moments(transcript: &Path, number: usize) -> [(&'static str, Value); 4] {
    let session = format!("bench-{number}");
    let word = |at: usize| WORDS[(number * 5 + at * 3) % WORDS.len()];
    let prompt = format!(
        "why does the {} of the {} fail with a {} in {} after the {}?",
        word(0),
        word(1),
        word(2),
        word(3),
        word(4)
    );
    let of = |more: Value| {
        let mut all = json!({"session_id": session, "transcript_path": transcript, "cwd": "/w"});
        let fields = more.as_object().cloned().unwrap_or_default();
        fields.into_iter().for_each(|(key, value)| all[key] = value);
        all
    };
    [
        ("UserPromptSubmit", of(json!({"prompt": prompt}))),
        ("PreToolUse", of(json!({"tool_name": "Edit", "tool_input": {"file_path": "/w/main.rs"}}))),
        ("SessionStart", of(json!({"source": "compact"}))),
        ("SubagentStart", of(json!({}))),
    ]
}

/// Measures every moment in a home with a store.
pub fn hook(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let store = place("hook")?.join("store");
    race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    let largest = home.files.first().map(|(file, _)| file).ok_or("the home is empty")?;
    let largest = fs::canonicalize(largest).map_err(|e| e.to_string())?;
    let mut times: Vec<(&str, Vec<f64>)> = Vec::new();
    for number in 0..runs * TIMES {
        for (event, input) in moments(&largest, number) {
            let took = one(recount, (&path, &store), event, &input)?;
            match times.iter_mut().find(|(name, _)| *name == event) {
                Some((_, all)) => all.push(took),
                None => times.push((event, vec![took])),
            }
        }
    }
    let mut table = Table::new(&["moment", "p50 ms", "p95 ms"]);
    let (mut rows, mut verdicts) = (Vec::new(), Vec::new());
    for (event, mut all) in times {
        all.sort_by(f64::total_cmp);
        let at = |share: usize| all[(all.len() * share / 100).min(all.len() - 1)];
        table.row(vec![event.into(), format!("{:.1}", at(50)), format!("{:.1}", at(95))]);
        rows.push(json!({"moment": event, "p50": at(50), "p95": at(95)}));
        let what = format!("recount hook {event}, p95 ms");
        verdicts.push(Verdict { what, value: Some(at(95)), target: Target::AtMost(MOST) });
    }
    let bytes: u64 = home.files.iter().map(|(_, size)| size).sum();
    let on = format!("{} of {:.1} GB, {} times each", home.name, bytes as f64 / 1e9, runs * TIMES);
    let name = format!("hook-{}", home.name);
    Ok(Report { name, on, table, rows: rows.into(), verdicts })
}

/// How long one hook takes, in milliseconds.
fn one(
    recount: &Recount,
    (home, store): (&Path, &Path),
    event: &str,
    input: &Value,
) -> Result<f64, String> {
    let failed = |e: std::io::Error| e.to_string();
    let mut command = Command::new(recount.path());
    command.args(["hook", event, "--wait", "10000", "--claude-dir"]).arg(home);
    command.arg("--store").arg(store).stdin(Stdio::piped()).stdout(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("it takes no input")?;
    stdin.write_all(input.to_string().as_bytes()).map_err(failed)?;
    drop(stdin);
    let status = child.wait().map_err(failed)?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    if status.success() { Ok(took) } else { Err(format!("{event} ended with {status}")) }
}

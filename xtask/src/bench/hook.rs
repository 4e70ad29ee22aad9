//! `recount hook`: how long Claude Code waits for it at each event, nearly always, while another
//! process keeps writing to the store.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
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
const MOST: f64 = 60.0;

/// Words of made homes, and some that are nowhere.
const WORDS: [&str; 14] = [
    "build", "test", "error", "config", "server", "cache", "parser", "token", "branch", "retry",
    "timeout", "zeppelin", "schema", "release",
];

/// The events of a session in its largest transcript.
fn moments(transcript: &Path, number: usize) -> [(&'static str, Value); 6] {
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
    // Every third prompt has an error pasted into it.
    let prompt = match number % 3 {
        0 => format!("{prompt}\nTypeError: cannot read the {} of {}_{}", word(5), word(6), word(7)),
        _ => prompt,
    };
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
        ("PreCompact", of(json!({"trigger": "auto"}))),
        ("SessionEnd", of(json!({"reason": "other"}))),
    ]
}

/// Measures every moment in a home with a store.
pub fn hook(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let store = place("hook")?.join("store");
    race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    let largest = home.files.first().map(|(file, _)| file).ok_or("the home is empty")?;
    let largest = fs::canonicalize(largest).map_err(|e| e.to_string())?;
    let _writer = Writer::start(recount, &store)?;
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
    let on = format!(
        "{} of {:.1} GB, {} times each, the store being written to",
        home.name,
        bytes as f64 / 1e9,
        runs * TIMES
    );
    let name = format!("hook-{}", home.name);
    Ok(Report { name, on, table, rows: rows.into(), verdicts })
}

/// A session elsewhere that grows, and a sync after each of its turns, until this is dropped.
struct Writer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(recount: &Recount, store: &Path) -> Result<Self, String> {
        let home = place("hook-writer")?;
        let session = "5aaaaaaa-0000-4000-8000-000000000001";
        let folder = home.join("projects/-w");
        fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let file = folder.join(format!("{session}.jsonl"));
        let (program, store) = (recount.path().to_path_buf(), store.to_path_buf());
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = stop.clone();
        let thread = std::thread::spawn(move || {
            for number in 0_usize.. {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let word = WORDS[number % WORDS.len()];
                let line = json!({"parentUuid": null, "uuid": format!("w{number}"),
                    "sessionId": session, "timestamp": "2026-04-21T10:00:00.000Z", "cwd": "/w",
                    "version": "2.1.100", "type": "user", "message": {"role": "user",
                    "content": format!("{} {number}", format!("the {word} ").repeat(500))}});
                let grown = fs::File::options().create(true).append(true).open(&file);
                let written = grown.and_then(|mut file| writeln!(file, "{line}"));
                let mut sync = Command::new(&program);
                sync.args(["sync", "--quiet", "--claude-dir"]).arg(&home);
                sync.arg("--store").arg(&store).stdout(Stdio::null()).stderr(Stdio::null());
                if written.is_err() || sync.status().is_err() {
                    return;
                }
            }
        });
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
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

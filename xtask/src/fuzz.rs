//! `xtask fuzz`: each fuzz target for a while, from the committed seeds and what earlier runs
//! found.
//!
//! cargo-fuzz needs a nightly compiler, the rest of the workspace does not; so this is no part of
//! `xtask check`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::check::is_there;

const USAGE: &str = "usage: xtask fuzz [--seconds 60] [TARGET...]";

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args).map_err(|error| format!("{error}\n{USAGE}"))?;
    let known = targets()?;
    if let Some(name) = options.targets.iter().find(|name| !known.contains(name)) {
        return Err(format!("no fuzz target is called {name}: there are {}", known.join(", ")));
    }
    let chosen = if options.targets.is_empty() { known } else { options.targets };
    tools()?;
    fuzz(&["build"], &[])?;
    let mut crashed = Vec::new();
    for target in &chosen {
        if let Err(error) = run_one(target, options.seconds) {
            eprintln!("{target}: {error}");
            crashed.push(target.as_str());
        }
    }
    if crashed.is_empty() {
        return Ok(());
    }
    Err(format!("found something in {}: inputs are in fuzz/artifacts", crashed.join(", ")))
}

#[derive(Debug, PartialEq)]
struct Options {
    seconds: u64,
    targets: Vec<String>,
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options { seconds: 60, targets: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => {
                let value = args.next().ok_or("--seconds needs a value")?;
                options.seconds = value.parse().map_err(|e| format!("--seconds {value}: {e}"))?;
            }
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
            target => options.targets.push(target.into()),
        }
    }
    Ok(options)
}

/// The names of all targets.
fn targets() -> Result<Vec<String>, String> {
    let folder = Path::new("fuzz/fuzz_targets");
    let files = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<_> = files
        .filter_map(|file| Some(file.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// Finds or installs what a run needs.
fn tools() -> Result<(), String> {
    if !is_there(&["+nightly", "--version"]) {
        let how = "rustup toolchain install nightly";
        return Err(format!("fuzzing needs a nightly compiler, which is not here: {how}"));
    }
    if is_there(&["fuzz", "--version"]) {
        return Ok(());
    }
    eprintln!("cargo-fuzz is not installed; installing it");
    let install = Command::new("cargo").args(["install", "cargo-fuzz", "--locked"]).status();
    match install {
        Ok(status) if status.success() => Ok(()),
        _ => Err("cargo-fuzz could not be installed (cargo install cargo-fuzz --locked)".into()),
    }
}

fn run_one(target: &str, seconds: u64) -> Result<(), String> {
    let corpus = PathBuf::from("fuzz/corpus").join(target);
    let seeds = PathBuf::from("fuzz/seeds").join(target);
    fs::create_dir_all(&corpus).map_err(|e| format!("{}: {e}", corpus.display()))?;
    let started = Instant::now();
    eprintln!("--- {target}, {seconds} s");
    let limit = format!("-max_total_time={seconds}");
    // A folder of old findings comes first: libFuzzer writes new ones there, never to the seeds.
    let folders = [corpus.display().to_string(), seeds.display().to_string()];
    let args = ["run", target, &folders[0], &folders[1]];
    fuzz(&args, &["--", &limit, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"])?;
    println!("{target}: nothing found in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn fuzz(args: &[&str], rest: &[&str]) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "fuzz"]).args(args).args(rest);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo fuzz {}: {status}", args.join(" "))),
        Err(error) => Err(format!("cargo fuzz: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse =
            |text: &str| parse(&text.split_whitespace().map(String::from).collect::<Vec<_>>());
        let targets = vec!["lines".to_string()];
        assert_eq!(parse("--seconds 5 lines"), Ok(Options { seconds: 5, targets }));
        assert_eq!(parse(""), Ok(Options { seconds: 60, targets: vec![] }));
        assert!(parse("--seconds").is_err() && parse("--minutes 1").is_err());
    }
}

//! `xtask client`: recount against the real Claude Code, scenario by scenario.
//!
//! Prints what differs from what happened, and every name that the client writes and recount
//! does not know: the way to meet a new release.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use testkit::client::scenario::{self, KNOWN};
use testkit::client::{Report, Scenario, Setup, VERSION, install, isolate};
use transcript::catalog::inside::CONFIG_FOLDER;
use transcript::layout::{FileKind, classify};

const USAGE: &str =
    "usage: xtask client [--version X] [--only NAME] [--keep] [--install] [--recount PROGRAM]";

struct Args {
    version: String,
    only: Vec<String>,
    keep: bool,
    install: bool,
    recount: Option<PathBuf>,
}

fn read(args: &[String]) -> Result<Args, String> {
    let mut read = Args {
        version: VERSION.to_owned(),
        only: Vec::new(),
        keep: false,
        install: false,
        recount: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().cloned().ok_or(USAGE);
        match arg.as_str() {
            "--version" => read.version = value()?,
            "--only" => read.only.push(value()?),
            "--keep" => read.keep = true,
            "--install" => read.install = true,
            "--recount" => read.recount = Some(value()?.into()),
            _ => return Err(USAGE.into()),
        }
    }
    Ok(read)
}

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let read = read(args)?;
    install::install(&read.version)?;
    if read.install {
        return Ok(());
    }
    let recount = read.recount.map_or_else(build, Ok)?;
    let mut again = vec!["client"];
    again.extend(args.iter().map(String::as_str));
    if let Some(status) = isolate::start_again(&again) {
        return if status.success() { Ok(()) } else { Err("see above".into()) };
    }
    if !isolate::is_isolated() {
        println!("no network namespace can be had here; going on without one");
    }
    let setup =
        Setup { version: read.version.clone(), recount, keep: read.keep.then(install::folder) };
    let chosen: Vec<Scenario> = scenario::all()?
        .into_iter()
        .filter(|scenario| read.only.is_empty() || read.only.contains(&scenario.name))
        .collect();
    if chosen.is_empty() {
        return Err(format!("no scenario is named {:?}", read.only));
    }
    let reports = scenario::run_all(chosen, &setup, print_report);
    tell(&read.version, &reports, read.only.is_empty())
}

/// The program that is tested.
fn build() -> Result<PathBuf, String> {
    let built = Command::new("cargo").args(["build", "--features", "recount/lake"]).status();
    match built.is_ok_and(|status| status.success()) {
        true => Ok(target().join("debug/recount")),
        false => Err("recount could not be built".into()),
    }
}

fn target() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let path = set.unwrap_or_else(|| PathBuf::from("target"));
    std::path::absolute(&path).unwrap_or(path)
}

fn print_report(report: &Report) {
    let failures = scenario::failures(report);
    let seconds = report.took.as_secs_f64();
    let word = if failures.is_empty() { "ok" } else { "FAILED" };
    let mut text = format!("{word:<7}{:<24}{seconds:>6.1} s\n", report.name);
    for failure in failures {
        text += &format!("    {}\n", failure.replace('\n', "\n    "));
    }
    print!("{text}");
}

fn tell(version: &str, reports: &[Report], is_all: bool) -> Result<(), String> {
    let is_run = |name: &str| name == "*" || reports.iter().any(|report| report.name == name);
    let known = KNOWN.iter().filter(|(name, ..)| is_run(name));
    for (name, begin, why) in known {
        println!("KNOWN  {name}: {begin}: {why}");
    }
    let mut unknown: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for report in reports {
        let files = report.files.iter().filter_map(|file| unknown_file(file));
        for name in files.chain(report.unknown.iter().cloned()) {
            unknown.entry(name).or_default().insert(&report.name);
        }
    }
    println!("\nNames of {version} that recount does not know: {}", unknown.len());
    for (name, scenarios) in unknown {
        let scenarios: Vec<_> = scenarios.into_iter().take(3).collect();
        println!("  {name:<50} {}", scenarios.join(", "));
    }
    let failed: Vec<_> = reports
        .iter()
        .filter(|report| !scenario::failures(report).is_empty())
        .map(|report| report.name.as_str())
        .collect();
    let what = if is_all { "all scenarios" } else { "scenarios" };
    println!("\n{what}: {} run, {} failed", reports.len(), failed.len());
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// A file that recount does not know, with `*` for what differs from session to session.
fn unknown_file(file: &Path) -> Option<String> {
    let top = file.components().next().map(|part| part.as_os_str().to_string_lossy());
    let is_unknown =
        classify(file) == FileKind::Other && !top.is_some_and(|top| CONFIG_FOLDER.contains(&&*top));
    let part = |part: Component<'_>| {
        let name = part.as_os_str().to_string_lossy();
        let is_made = name.bytes().filter(u8::is_ascii_digit).count() > 2;
        let end = name.rsplit_once('.').map(|(_, end)| end);
        let end = end.filter(|end| end.bytes().all(|b| b.is_ascii_lowercase()));
        let end = end.map(|end| format!("*.{end}"));
        if is_made { end.unwrap_or_else(|| "*".into()) } else { name.into_owned() }
    };
    let parts: Vec<String> = file.components().map(part).collect();
    is_unknown.then(|| format!("file {}", parts.join("/")))
}

//! What the feature `lake` costs those who do without it, and those who have it: time to build,
//! time to start, and size.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::race::{Contender, Row, race, report_on};
use super::record::{Report, Verdict, ratio};
use super::store::{at_most, place};
use super::tool::{self, Recount};

/// Starts differ by less than the noise of a few runs.
const STARTS: usize = 40;

/// Builds from nothing, as developers make them, and starts of what is released.
pub fn weight(recount: &Recount) -> Result<Vec<Report>, String> {
    let folder = place("weight")?;
    let with = copy(recount, folder.join("with"))?;
    let without = copy(&tool::without_lakes()?, folder.join("without"))?;
    // Benchmarks after this one measure what is released.
    tool::recount()?;
    let starts = [
        start("recount --version", &without, &["--version"]),
        start("recount --version, with lakes", &with, &["--version"]),
        start("recount --demo list", &without, &["--demo", "list"]),
        start("recount --demo list, with lakes", &with, &["--demo", "list"]),
    ];
    let starts = race(&starts, STARTS);
    let builds = [
        build("cargo build", &folder, &[]),
        build("cargo build --features lake", &folder, &["--features", "lake"]),
    ];
    let builds = race(&builds, 1);
    let megabytes = |path: &Path| Some(fs::metadata(path).ok()?.len() as f64 / 1e6);
    Ok(vec![
        report_on(
            "weight-start",
            format!("Release builds with and without lakes; {STARTS} runs in turns"),
            &starts,
            vec![
                times("recount --version, with lakes, times that without", &starts[..2], 1.5),
                times("recount --demo list, with lakes, times that without", &starts[2..], 1.25),
                at_most("recount, with lakes, MB", megabytes(&with), 25.0),
                at_most("recount, without lakes, MB", megabytes(&without), 25.0),
            ],
        ),
        report_on(
            "weight-build",
            "The developer's build of everything from nothing, once".into(),
            &builds,
            vec![processor("cargo build, CPU of that with lakes", &builds, 0.85)],
        ),
    ])
}

fn copy(recount: &Recount, to: PathBuf) -> Result<PathBuf, String> {
    fs::copy(recount.path(), &to).map_err(|e| format!("{}: {e}", to.display()))?;
    Ok(to)
}

fn start(name: &'static str, program: &Path, args: &[&'static str]) -> Contender {
    contender(name, program.into(), args)
}

fn build(name: &'static str, folder: &Path, features: &[&'static str]) -> Contender {
    let target = folder.join("target");
    let mut build = contender(name, "cargo".into(), &["build", "--package", "recount"]);
    build.args.extend(features.iter().map(OsString::from));
    build.args.extend(["--target-dir".into(), target.clone().into()]);
    Contender { once: true, fresh: Some(target), ..build }
}

fn contender(name: &'static str, program: OsString, args: &[&'static str]) -> Contender {
    let mut contender = Contender::new(name, Ok(program), &[]);
    contender.args = args.iter().map(OsString::from).collect();
    contender
}

/// How the second row's time compares with the first's.
fn times(what: &str, rows: &[Row], most: f64) -> Verdict {
    at_most(what, ratio(rows[1].least(|c| c.wall), rows[0].least(|c| c.wall)), most)
}

/// What the first row takes of the second's processor time.
fn processor(what: &str, rows: &[Row], most: f64) -> Verdict {
    at_most(what, ratio(rows[0].least(|c| c.cpu), rows[1].least(|c| c.cpu)), most)
}

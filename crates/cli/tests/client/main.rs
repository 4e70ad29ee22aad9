//! recount against the real Claude Code, in scenarios that `testkit::client` has as data.
//!
//! Each test starts itself again in a network namespace. A client that is not installed is a
//! failure: `cargo xtask check` fetches it. One scenario alone: `cargo xtask client --only NAME`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod agent;

use std::path::Path;

use testkit::client::scenario::{KNOWN, failures, of_file, run_all};
use testkit::client::{Setup, VERSION, install, isolate};

/// Runs the scenarios of a file; `test` is the name of the test that does it.
fn check(test: &str, file: &str) {
    if let Err(why) = install::is_there(VERSION) {
        panic!("{why}");
    }
    if let Some(status) = isolate::start_again(&["--exact", test, "--nocapture"]) {
        assert!(status.success(), "see above");
        return;
    }
    let recount = Path::new(env!("CARGO_BIN_EXE_recount")).to_owned();
    let setup = Setup { version: VERSION.to_owned(), recount, keep: None };
    let scenarios = of_file(file).unwrap_or_else(|why| panic!("{why}"));
    let reports = run_all(scenarios, &setup, |_| {});
    let mut failed = String::new();
    for report in &reports {
        for failure in failures(report) {
            failed += &format!("{}: {failure}\n", report.name);
        }
        for name in &report.unknown {
            failed += &format!("{}: a name that recount does not know: {name}\n", report.name);
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn printed_sessions_are_as_they_happened() {
    check("printed_sessions_are_as_they_happened", "print");
}

#[test]
fn subagents_are_as_they_happened() {
    check("subagents_are_as_they_happened", "agents");
}

#[test]
fn sessions_in_a_terminal_are_as_they_happened() {
    check("sessions_in_a_terminal_are_as_they_happened", "terminal");
}

#[test]
fn every_known_difference_belongs_to_a_scenario() {
    let all = testkit::client::scenario::all().unwrap_or_else(|why| panic!("{why}"));
    for (name, begin, _) in KNOWN {
        let exists = *name == "*" || all.iter().any(|scenario| scenario.name == *name);
        assert!(exists, "{name}: {begin}");
    }
}

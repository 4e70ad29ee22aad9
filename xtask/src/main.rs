//! What a contributor runs: checks, fuzzing, torture, the real client, benchmarks, corpora, docs,
//! signs of untidy code. All commands run from the root of the repository, wherever they were called.

use std::path::Path;
use std::process::ExitCode;

#[cfg(unix)]
mod bench;
mod check;
mod client;
mod corpus;
mod docs;
mod fuzz;
mod quality;
mod tidy;
mod torture;

const USAGE: &str = "\
usage: cargo xtask check [--quick]
       cargo xtask fuzz [--seconds 60] [TARGET...]
       cargo xtask bench [NAME...] [--size 500MB] [--home DIR] [--runs 5] [--big]
       cargo xtask client [--version X] [--only NAME] [--keep] [--install]
       cargo xtask corpus --shape seeds|lean|many|huge|hard|demo --to DIR …
       cargo xtask quality --locomo FILE --beam DIR --longmemeval FILE …
       cargo xtask torture [--kills 2000] [--seed 1]
       cargo xtask docs [--check]
       cargo xtask tidy [--write]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let (command, rest) = args.split_first().ok_or(USAGE)?;
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    if command != "corpus" {
        // A corpus goes where the person says, seen from where they are.
        go_to_root()?;
    }
    match command.as_str() {
        "check" => check::run(rest),
        "fuzz" => fuzz::run(rest),
        #[cfg(unix)]
        "bench" => bench::run(rest, &here),
        #[cfg(unix)]
        "measure" => bench::measure::run(rest),
        "client" => client::run(rest),
        "corpus" => corpus::run(rest),
        "quality" => quality::run(rest, &here),
        "torture" => torture::run(rest),
        "docs" => docs::run(rest),
        "tidy" => tidy::run(rest),
        _ => Err(USAGE.into()),
    }
}

fn go_to_root() -> Result<(), String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().ok_or("xtask stands in the root of the repository")?;
    std::env::set_current_dir(root).map_err(|e| format!("{}: {e}", root.display()))
}

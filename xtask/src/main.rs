//! Checks, benchmarks, corpora and docs.

use std::process::ExitCode;

mod corpus;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("corpus") => corpus::run(&args[1..]),
        _ => Err("usage: xtask corpus …".to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

//! `xtask torture`: the suite's test of killed syncs with more kills, or with the seed of a run
//! that failed.

use std::process::Command;

const USAGE: &str = "usage: xtask torture [--kills 2000] [--seed 1]";

/// Runs the command; the error is what to tell the person.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args).map_err(|error| format!("{error}\n{USAGE}"))?;
    let mut command = Command::new("cargo");
    command.args(["test", "-p", "recount", "--test", "cli", "--"]);
    command.args(["--exact", "cli::torture::a_killed_sync_is_finished_by_the_next", "--nocapture"]);
    command.env("RECOUNT_TORTURE_KILLS", options.kills.to_string());
    command.env("RECOUNT_TORTURE_SEED", options.seed.to_string());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("a killed sync was not finished by the next; the seed is named above".into()),
        Err(error) => Err(format!("cargo test: {error}")),
    }
}

#[derive(Debug, PartialEq)]
struct Options {
    kills: u64,
    seed: u64,
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options { kills: 2000, seed: 1 };
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let number = match flag.as_str() {
            "--kills" => &mut options.kills,
            "--seed" => &mut options.seed,
            _ => return Err(format!("unknown flag {flag}")),
        };
        let value = args.next().ok_or_else(|| format!("{flag} needs a value"))?;
        *number = value.parse().map_err(|e| format!("{flag} {value}: {e}"))?;
    }
    match options.kills {
        0 => Err("--kills 0 tests nothing".into()),
        _ => Ok(options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse =
            |text: &str| parse(&text.split_whitespace().map(String::from).collect::<Vec<_>>());
        assert_eq!(parse(""), Ok(Options { kills: 2000, seed: 1 }));
        assert_eq!(parse("--seed 7 --kills 5"), Ok(Options { kills: 5, seed: 7 }));
        assert!(parse("--kills").is_err() && parse("--kills 0").is_err() && parse("5").is_err());
    }
}

//! Every command of `recount`.
//!
//! The only crate that knows the terminal, the environment, the home folder and the clock. Here
//! they are read, once; `Run` carries them to the commands.

mod args;
mod browse;
mod clock;
mod commands;
mod config;
mod demo;
mod environment;
mod error;
mod hook;
mod install;
mod live;
mod mcp;
mod memory;
mod quote;
mod run;
mod serve;
mod terminal;
mod wire;

use std::io::Write;
use std::process::ExitCode;

use ask::Locations;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::args::{Args, Command};
use crate::config::Config;
use crate::error::Answer;
use crate::run::Run;
use crate::terminal::format::Clock;

/// Does what the command line says.
pub fn main() -> ExitCode {
    memory::bound();
    let Args { mut global, mut browse, command } = match Args::try_parse() {
        Ok(args) => args,
        // A hook that fails stops the person's work, also one that is written wrongly.
        Err(error) if error.use_stderr() && std::env::args().nth(1).as_deref() == Some("hook") => {
            return ExitCode::SUCCESS;
        }
        Err(error) => refuse(&error),
    };
    let mut environment = environment::read_environment();
    let place = Config::place(&environment);
    let (mut config, wrong) = match Config::read(place.clone()) {
        Ok(config) => (config, None),
        Err(wrong) => (Config::empty(place), Some(wrong)),
    };
    config.lay_below(&mut global, &mut browse, &mut environment);
    let color = global.color();
    let (locations, _sample, unlocated) = match run::locate(&global, environment) {
        Ok((locations, sample)) => (locations, sample, None),
        Err(error) => (Locations::default(), None, Some(error)),
    };
    let mut run = Run::new(&global, locations, Clock { now: clock::now() });
    run.config = config;
    // A hook never fails, and a file with a mistake can be set right.
    let bears_mistakes = matches!(command, Some(Command::Hook(_) | Command::Config(_)));
    let wrong = wrong.filter(|_| !bears_mistakes);
    let result = match command {
        _ if wrong.is_some() => wrong.map_or(Ok(Answer::Nothing), |wrong| Err(wrong.into())),
        _ if unlocated.is_some() => unlocated.map_or(Ok(Answer::Nothing), Err),
        Some(_) if browse.is_given() => {
            let words = "--inline, --pick and --no-mouse are for `recount` without a command";
            Args::command().error(ErrorKind::ArgumentConflict, words).exit()
        }
        Some(command) => commands::run(&command, &mut run),
        None if browse::is_there() => browse::run(&browse, color, &mut run),
        None => return help(),
    };
    run.finish(result)
}

/// Says what is wrong with the command line.
fn refuse(error: &clap::Error) -> ! {
    let is_lake = std::env::args().nth(1).as_deref() == Some("lake");
    if cfg!(not(feature = "lake")) && is_lake && error.kind() == ErrorKind::InvalidSubcommand {
        // Nobody may be reading.
        let _ = error.print();
        let hint = "\nhint: This recount was built without lakes: build it with `--features lake`";
        let _ = writeln!(std::io::stderr(), "{hint}");
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Without a command and without a terminal there is nothing to do.
fn help() -> ExitCode {
    // Nobody may be reading.
    let _ = write!(std::io::stderr(), "{}", Args::command().render_help());
    ExitCode::from(2)
}

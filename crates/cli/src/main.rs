//! The `recount` command: reads everything Claude Code leaves behind.
//!
//! The only crate that knows the terminal, the environment, the home folder and the clock. Here
//! they are read, once; [`run::Run`] carries them to the commands.

mod args;
mod commands;
mod demo;
mod error;
mod ghosts;
mod home;
mod hook;
mod install;
mod ledger;
mod live;
mod mcp;
mod memory;
mod name;
mod quote;
mod read;
mod retention;
mod run;
mod serve;
mod sessions;
mod stored;
mod terminal;
mod time_arg;
mod wire;

use std::process::ExitCode;

use clap::Parser;
use jiff::Zoned;

use crate::args::Args;
use crate::home::Environment;
use crate::run::Run;
use crate::terminal::format::Clock;

fn main() -> ExitCode {
    memory::bound();
    let Args { global, command } = match Args::try_parse() {
        Ok(args) => args,
        // A hook that fails stops the person's work, also one that is written wrongly.
        Err(error) if error.use_stderr() && std::env::args().nth(1).as_deref() == Some("hook") => {
            return ExitCode::SUCCESS;
        }
        Err(error) => error.exit(),
    };
    let mut run = Run::new(global, Environment::read(), Clock { now: Zoned::now() });
    let result = commands::run(&command, &mut run);
    run.finish(result)
}

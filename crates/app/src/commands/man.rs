//! `recount man`: the manual, a page for the program and one for each command.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use transcript::layout::Problem;

use crate::args::Args;
use crate::error::{Answer, CliError};
use crate::run::Run;

/// Print a page of the manual, or write all of them into a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount man | man -l -                     this program
  recount man usage waste | man -l -         one command
  recount man --to ~/.local/share/man/man1   all pages, where `man` finds them")]
pub struct ManArgs {
    /// The command [default: the program]
    #[arg(conflicts_with = "to")]
    command: Vec<String>,

    /// Write all pages into this folder
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Prints or writes pages.
pub fn run(args: &ManArgs, run: &mut Run) -> Result<Answer, CliError> {
    let mut program = Args::command();
    program.build();
    if let Some(folder) = &args.to {
        let failed = |error| CliError::Read(Problem::new(folder, error));
        std::fs::create_dir_all(folder).map_err(failed)?;
        write_all(&program, folder).map_err(failed)?;
        return Ok(Answer::Found);
    }
    let mut page = &program;
    for name in &args.command {
        let found = page.find_subcommand(name);
        page = found.ok_or_else(|| CliError::NoCommand(args.command.join(" ")))?;
    }
    let mut text = Vec::new();
    Man::new(page.clone()).render(&mut text)?;
    run.out.write_all(&text)?;
    Ok(Answer::Found)
}

/// A page for a command and for each below it. What `help` says is on the pages themselves.
fn write_all(command: &Command, folder: &Path) -> io::Result<()> {
    Man::new(command.clone()).generate_to(folder)?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below.into_iter().try_for_each(|below| write_all(below, folder))
}

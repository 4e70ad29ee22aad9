//! `recount completions`: what a shell has to know to complete commands and flags.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::error::{Answer, CliError};
use crate::run::Run;

/// Print a script that completes commands and flags in your shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount completions bash > ~/.local/share/bash-completion/completions/recount
  recount completions zsh > ~/.zfunc/_recount     with ~/.zfunc in fpath
  recount completions fish > ~/.config/fish/completions/recount.fish")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs, run: &mut Run) -> Result<Answer, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "recount", &mut script);
    run.out.write_all(&script)?;
    Ok(Answer::Found)
}

//! The commands, one file each, named as the command.
//!
//! A command reads what it needs, asks `report`, and prints. It gives back whether it found
//! something; errors and exit codes are `error.rs`.

pub mod archive;
pub mod clean;
pub mod completions;
pub mod config;
pub mod context;
pub mod doctor;
pub mod errors;
pub mod export;
pub mod file;
pub mod find;
pub mod history;
pub mod hook;
pub mod install;
#[cfg(feature = "lake")]
pub mod lake;
pub mod learn;
pub mod list;
pub mod log;
pub mod man;
pub mod mcp;
pub mod model;
pub mod note;
pub mod plans;
pub mod prices;
pub mod recall;
pub mod related;
pub mod rename;
pub mod request;
pub mod restore;
pub mod search;
pub mod segments;
pub mod serve;
pub mod show;
pub mod sql;
pub mod statusline;
pub mod storage;
pub mod sync;
pub mod time;
pub mod todos;
pub mod tools;
pub mod tree;
pub mod usage;
pub mod wait;
pub mod watch;

use crate::args::Command;
use crate::error::{Answer, CliError};
use crate::run::Run;

/// Does what was asked for.
pub fn run(command: &Command, run: &mut Run) -> Result<Answer, CliError> {
    match command {
        Command::List(args) => list::run(args, run),
        Command::Show(args) => show::run(args, run),
        Command::Context(args) => context::run(args, run),
        Command::Request(args) => request::run(args, run),
        Command::Errors(args) => errors::run(args, run),
        Command::Export(args) => export::run(args, run),
        Command::Doctor(args) => doctor::run(args, run),
        Command::Todos(args) => todos::run(args, run),
        Command::Plans(args) => plans::run(args, run),
        Command::Log(args) => log::run(args, run),
        Command::History(args) => history::run(args, run),
        Command::Tree(args) => tree::run(args, run),
        Command::Segments(args) => segments::run(args, run),
        Command::File(args) => file::run(args, run),
        Command::Sync(args) => sync::run(args, run),
        Command::Search(args) => search::run(args, run),
        Command::Recall(args) => recall::run(args, run),
        Command::Model(args) => model::run(args, run),
        Command::Mcp(args) => mcp::run(args, run),
        Command::Hook(args) => hook::run(args, run),
        Command::Note(args) => note::run(args, run),
        #[cfg(feature = "lake")]
        Command::Lake(args) => lake::run(args, run),
        Command::Learn(args) => learn::run(args, run),
        Command::Install(args) => install::run(args, run),
        Command::Uninstall(args) => install::undo(args, run),
        Command::Archive(args) => archive::run(args, run),
        Command::Restore(args) => restore::run(args, run),
        Command::Find(args) => find::run(args, run),
        Command::Related(args) => related::run(args, run),
        Command::Usage(args) => usage::run(args, run),
        Command::Prices(args) => prices::run(args, run),
        Command::Storage(args) => storage::run(args, run),
        Command::Clean(args) => clean::run(args, run),
        Command::Time(args) => time::run(args, run),
        Command::Tools(args) => tools::run(args, run),
        Command::Sql(args) => sql::run(args, run),
        Command::Statusline(args) => statusline::run(args, run),
        Command::Watch(args) => watch::run(args, run),
        Command::Serve(args) => serve::run(args, run),
        Command::Wait(args) => wait::run(args, run),
        Command::Rename(args) => rename::rename(args, run),
        Command::Tag(args) => rename::tag(args, run),
        Command::Config(args) => config::run(args, run),
        Command::Completions(args) => completions::run(args, run),
        Command::Man(args) => man::run(args, run),
    }
}

/// The first characters of a session's id: enough to name it in nearly every home.
pub fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

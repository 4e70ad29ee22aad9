//! `recount config`: what is set, by whom, and how to change it.

use std::path::PathBuf;
use std::process::Command;

use crate::config::{self, Config};
use crate::error::{Answer, CliError, ConfigError};
use crate::run::Run;
use crate::terminal::safe;
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::config::ConfigValue;

/// Settings: what holds, who says so, and how to change it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
One file, ~/.config/recount/config.toml (or what RECOUNT_CONFIG names). A flag wins over the
environment, that over the file, that over what is built in.

Examples:
  recount config list                 every key, its value and where that is from
  recount config get store
  recount config set color never
  recount config set claude_dir ~/.claude,/mnt/old/.claude
  recount config edit                 the file in $EDITOR, checked afterwards")]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// Every key, its value and where that is from
    List,
    /// The value of a key
    Get {
        /// The key
        key: String,
    },
    /// Set a key; everything else in the file stays as it is
    Set {
        /// The key
        key: String,
        /// The value; several folders with commas
        value: String,
    },
    /// Open the file in your editor, and check it afterwards
    Edit,
}

/// Shows or changes settings.
pub fn run(args: &ConfigArgs, run: &mut Run) -> Result<Answer, CliError> {
    match &args.command {
        ConfigCommand::List => list(run),
        ConfigCommand::Get { key } => get(run, key),
        ConfigCommand::Set { key, value } => set(run, key, value),
        ConfigCommand::Edit => edit(run),
    }
}

fn list(run: &mut Run) -> Result<Answer, CliError> {
    let settings = run.config.settings.clone();
    if run.json {
        for setting in &settings {
            run.out.json(&ConfigValue::new(setting))?;
        }
        return Ok(Answer::Found);
    }
    let columns = [Column::Left("KEY"), Column::Left("FROM"), Column::Left("VALUE")];
    let mut table = Table::new(&columns);
    for setting in &settings {
        table.push([
            Cell::new(style::NAME, setting.key),
            Cell::new(style::DIM, setting.origin),
            Cell::from(&*setting.value),
        ]);
    }
    run.out.table(&table)?;
    let place = place(run)?;
    let there = if place.exists() { "" } else { ", which is not there" };
    run.talk.note(format!("The file is {}{there}", place.display()));
    Ok(Answer::Found)
}

fn get(run: &mut Run, name: &str) -> Result<Answer, CliError> {
    let key = config::known(name).map_err(|near| ConfigError::NoKey(name.into(), near))?;
    let settings = std::mem::take(&mut run.config.settings);
    for setting in settings.iter().filter(|setting| setting.key == key.name) {
        match run.json {
            true => run.out.json(&ConfigValue::new(setting))?,
            false => run.out.line(&safe::line(setting.value.trim_matches('"')))?,
        }
    }
    Ok(Answer::Found)
}

fn set(run: &mut Run, name: &str, value: &str) -> Result<Answer, CliError> {
    let key = config::known(name).map_err(|near| ConfigError::NoKey(name.into(), near))?;
    let path = place(run)?;
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(ConfigError::Io(path, error).into()),
    };
    let changed = config::with(&text, key, value)
        .map_err(|mistake| ConfigError::Mistake(path.clone(), mistake))?;
    config::write(&path, &changed).map_err(|error| ConfigError::Io(path.clone(), error))?;
    run.talk.note(format!("Written to {}", path.display()));
    Ok(Answer::Found)
}

fn edit(run: &mut Run) -> Result<Answer, CliError> {
    let path = place(run)?;
    if !path.exists() {
        let made = config::write(&path, &config::template());
        made.map_err(|error| ConfigError::Io(path.clone(), error))?;
    }
    let usual = if cfg!(windows) { "notepad" } else { "vi" };
    let wanted = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let editor = wanted.into_iter().find(|words| !words.trim().is_empty());
    let editor = editor.unwrap_or_else(|| usual.into());
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(usual));
    command.args(words).arg(&path);
    command.status().map_err(|error| ConfigError::Editor(editor.clone(), error))?;
    Config::read(Some(path))?;
    Ok(Answer::Found)
}

fn place(run: &Run) -> Result<PathBuf, CliError> {
    Ok(run.config.path.clone().ok_or(ConfigError::NoPlace)?)
}

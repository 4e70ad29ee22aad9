//! `recount log`: the debug log of a session.
//!
//! Logs grow without limit, so they are read in blocks. A message may go on into the next block,
//! so the last message of a block is held back.

use std::io;

use anstyle::Style;
use report::log::Filter;
use transcript::layout::{FileKind, Found};
use transcript::side::debug::{self, DebugLine};

use crate::error::{Answer, CliError};
use ask::Home;
use ask::name::{NameError, Noun, SessionName};
use ask::read::{self, Input};

use crate::run::Run;
use crate::terminal::format::size;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;

/// A message longer than this comes in parts.
const MESSAGE_MOST: usize = 16 << 20;

/// The debug log of a session, by level and category; without a session, which logs there are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount log                            which debug logs there are
  recount log latest --level error       the errors of the latest
  recount log 3f2a --category 'LSP MANAGER'
  recount log . --grep hook --json       the latest of this folder, as JSON")]
pub struct LogArgs {
    /// Id, beginning of one, `latest`, `.` for the latest of this folder, a path, or `-`
    session: Option<SessionName>,

    /// Only messages of this level, such as `error`; may be repeated
    #[arg(long, value_name = "LEVEL")]
    level: Vec<String>,

    /// Only messages of this category, such as `LSP MANAGER`; may be repeated
    #[arg(long, value_name = "CATEGORY")]
    category: Vec<String>,

    /// Only messages with this text in them, case ignored
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
}

/// Prints the log, or which logs there are.
pub fn run(args: &LogArgs, run: &mut Run) -> Result<Answer, CliError> {
    let filter = Filter {
        levels: args.level.clone(),
        categories: args.category.clone(),
        text: args.grep.clone(),
    };
    match &args.session {
        None => list(run),
        // A file or standard input needs no Claude folder.
        Some(SessionName::Path(path)) => show(run, &filter, Input::Path(path)),
        Some(SessionName::Stdin) => show(run, &filter, Input::Stdin),
        Some(name) => {
            let homes = run.recount.list_homes()?;
            let ids = logs(&homes).filter_map(|found| found.kind.session().cloned());
            let names = run.recount.session_names(ids.collect::<Vec<_>>())?;
            let id = names.resolve(Noun::Log, name, &run.recount.current_folder()?)?;
            let log = logs(&homes).find(|found| found.kind.session() == Some(&id));
            let missing = || NameError::Unknown {
                noun: Noun::Log,
                name: id.to_string(),
                nearest: Vec::new(),
            };
            show(run, &filter, Input::Found(log.ok_or_else(missing)?))
        }
    }
}

fn logs(homes: &[Home]) -> impl Iterator<Item = &Found> {
    let is_log = |found: &&Found| matches!(found.kind, FileKind::Debug { .. });
    homes.iter().flat_map(|home| &home.files).filter(is_log)
}

fn list(run: &mut Run) -> Result<Answer, CliError> {
    let homes = run.recount.list_homes()?;
    let mut logs: Vec<&Found> = logs(&homes).collect();
    logs.sort_by_key(|found| std::cmp::Reverse(found.modified));
    let mut table =
        Table::new(&[Column::Left("MODIFIED"), Column::Right("SIZE"), Column::Left("SESSION")]);
    for found in &logs {
        let session = found.kind.session().map_or("", |session| session.as_str());
        if run.json {
            run.out.json(&wire::log::Log {
                session_id: session,
                modified: wire::time(found.modified),
                size: found.size,
                path: found.path.display().to_string(),
            })?;
        }
        let when = found.modified.map_or_else(|| "-".into(), |time| run.recount.clock.near(time));
        table.push([
            Cell::new(style::DIM, &when),
            size(found.size).into(),
            Cell::new(style::NAME, session),
        ]);
    }
    if !run.json && !logs.is_empty() {
        run.out.table(&table)?;
    }
    Ok(Answer::of(&logs))
}

fn show(run: &mut Run, filter: &Filter, input: Input<'_>) -> Result<Answer, CliError> {
    let mut printer = Printer { run, filter, held: Vec::new(), held_at: 0, shown: 0 };
    read::blocks(input, |at, block| printer.feed(at, block))?;
    printer.end()?;
    Ok(if printer.shown > 0 { Answer::Found } else { Answer::Nothing })
}

/// Prints the messages of a log that comes in blocks.
struct Printer<'a> {
    run: &'a mut Run,
    filter: &'a Filter,
    /// The last message so far, which may go on.
    held: Vec<u8>,
    held_at: u64,
    shown: usize,
}

impl Printer<'_> {
    fn feed(&mut self, at: u64, block: &[u8]) -> Result<(), CliError> {
        if self.held.is_empty() {
            self.held_at = at;
        }
        self.held.extend_from_slice(block);
        let held = std::mem::take(&mut self.held);
        let (mut lines, _) = debug::parse(&held);
        let last = match held.len() < MESSAGE_MOST {
            true => lines.pop(),
            false => None,
        };
        self.print(&lines)?;
        if let Some(last) = last {
            self.held_at += last.offset;
            self.held = held[last.offset as usize..].to_vec();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), CliError> {
        let held = std::mem::take(&mut self.held);
        let (lines, _) = debug::parse(&held);
        self.print(&lines)
    }

    fn print(&mut self, lines: &[DebugLine<'_>]) -> Result<(), CliError> {
        for line in lines.iter().filter(|line| self.filter.matches(line)) {
            self.shown += 1;
            if self.run.json {
                self.run.out.json(&wire::log::LogMessage::new(line, self.held_at))?;
            } else {
                message(self.run, line)?;
            }
        }
        Ok(())
    }
}

fn message(run: &mut Run, line: &DebugLine<'_>) -> io::Result<()> {
    let mut head = String::new();
    if let Some(time) = line.time {
        head += &paint(style::DIM, &run.recount.clock.milli(time));
        head.push(' ');
    }
    if let Some(level) = &line.level {
        head += &paint(level_style(level), &format!("{:5}", safe::line(level)));
        head.push(' ');
    }
    if let Some(category) = &line.category {
        head += &paint(style::PROJECT, &format!("[{}]", safe::line(category)));
        head.push(' ');
    }
    run.out.line(&format!("{head}{}", safe::text(&line.text)))
}

fn level_style(level: &str) -> Style {
    match level {
        "ERROR" => style::BAD,
        "WARN" => style::ACTIVE,
        _ => style::DIM,
    }
}

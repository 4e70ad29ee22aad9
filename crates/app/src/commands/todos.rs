//! `recount todos`: todo and task lists of every session.

use std::io;

use anstyle::Style;
use report::todo::{self, Filter, Item, List, TaskFile};
use transcript::layout::{FileKind, Found};
use transcript::side;
use transcript::side::todo::Status;

use crate::error::{Answer, CliError};
use ask::Home;
use ask::name::{Noun, SessionName};
use ask::read;

use crate::run::Run;
use crate::terminal::format::counted;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;

/// Todo and task lists of sessions: what was done, what is still open.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount todos                 every list, newest first
  recount todos --open          only what is still to do
  recount todos 3f2a91c0        the lists of one session
  recount todos . --json        the latest of this folder, as JSON")]
pub struct TodosArgs {
    /// Id, beginning of one, `latest`, or `.` for the latest of this folder
    session: Option<SessionName>,

    /// Only what is not done
    #[arg(long)]
    open: bool,
}

/// Prints the lists.
pub fn run(args: &TodosArgs, run: &mut Run) -> Result<Answer, CliError> {
    let homes = run.recount.list_homes()?;
    let session = match &args.session {
        Some(name) => {
            let ids = list_files(&homes).filter_map(|found| found.kind.session().cloned());
            let names = run.recount.session_names(ids.collect::<Vec<_>>())?;
            Some(names.resolve(Noun::Todos, name, &run.recount.current_folder()?)?)
        }
        None => None,
    };
    let filter = Filter { session, only_open: args.open };
    let found = todo::select(read_lists(run, &homes), &filter);
    for (at, list) in found.lists.iter().enumerate() {
        if run.json {
            run.out.json(&wire::todo::TodoList::from(list))?;
            continue;
        }
        if at > 0 {
            run.out.line("")?;
        }
        print(run, list)?;
    }
    if found.empty > 0 {
        run.talk.note(format!("{} not shown", counted(found.empty, "empty list")));
    }
    Ok(Answer::of(&found.lists))
}

fn list_files(homes: &[Home]) -> impl Iterator<Item = &Found> {
    let is_list =
        |found: &&Found| matches!(found.kind, FileKind::Todos { .. } | FileKind::Task { .. });
    homes.iter().flat_map(|home| &home.files).filter(is_list)
}

fn read_lists(run: &mut Run, homes: &[Home]) -> Vec<List> {
    let files: Vec<&Found> = list_files(homes).collect();
    let progress = run.progress(&files);
    let (mut lists, mut tasks) = (Vec::new(), Vec::new());
    for found in files {
        progress.step(found.size);
        let Some(bytes) = run.recount.or_skip(read::whole_of(found)) else {
            continue;
        };
        let modified = found.modified;
        match found.kind.clone() {
            FileKind::Todos { session, agent } => {
                let (todos, odd) = side::todo::parse(&bytes);
                run.recount.observed.count_damage(&odd);
                lists.push(List::from_todos(session, agent, modified, todos));
            }
            FileKind::Task { session, number } => {
                let (task, odd) = side::task::parse(&bytes);
                run.recount.observed.count_damage(&odd);
                tasks.push(TaskFile { session, number, modified, task });
            }
            _ => {}
        }
    }
    lists.extend(todo::task_lists(tasks));
    lists
}

fn print(run: &mut Run, list: &List) -> io::Result<()> {
    let session = paint(style::NAME, &safe::line(list.session.as_str()));
    let agent = list.agent.as_ref().map(|agent| format!("  agent {}", safe::line(agent.as_str())));
    let when = list.modified.map(|time| format!("  {}", run.recount.clock.near(time)));
    let source = wire::todo::source(list.source);
    let open = format!("{} open of {}", list.counts.open, list.counts.all);
    let facts = [when, agent].into_iter().flatten().collect::<String>();
    run.out
        .line(&format!("{session}{}", paint(style::DIM, &format!("{facts}  {source}  {open}"))))?;
    list.items.iter().try_for_each(|item| run.out.line(&item_line(item)))
}

fn item_line(item: &Item) -> String {
    let (mark, style) = mark(item.status.as_ref());
    let text = match &item.text {
        Some(text) => safe::line(text),
        None => "(no text)".into(),
    };
    let facts: Vec<String> = [
        item.priority.as_ref().map(|priority| priority.to_string()),
        item.owner.as_ref().map(|owner| format!("by {owner}")),
        (!item.blocked_by.is_empty()).then(|| format!("waits for {}", item.blocked_by.join(", "))),
        match &item.status {
            Some(Status::Other(word)) => Some(word.to_string()),
            _ => None,
        },
    ]
    .into_iter()
    .flatten()
    .map(|fact| safe::line(&fact))
    .collect();
    let facts = match facts.is_empty() {
        true => String::new(),
        false => paint(style::DIM, &format!("  ({})", facts.join("; "))),
    };
    format!("  {} {text}{facts}", paint(style, mark))
}

/// The box before a thing to do.
fn mark(status: Option<&Status>) -> (&'static str, Style) {
    match status {
        Some(Status::Completed) => ("[x]", style::GOOD),
        Some(Status::InProgress) => ("[>]", style::ACTIVE),
        Some(Status::Pending) => ("[ ]", style::PLAIN),
        Some(Status::Other(_)) | None => ("[?]", style::DIM),
    }
}

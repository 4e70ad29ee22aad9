//! `recount history`: typed prompts, and the sessions that only they remember.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;

use report::history::{self, Filter, Ghost, Typed};
use transcript::id::SessionId;
use transcript::layout::{FileKind, Found};
use transcript::path::RecordedPath;
use transcript::side::history::{CachedPaste, PasteContent, Prompt};
use transcript::time::Time;

use super::short;
use crate::args::Scope;
use crate::error::{Answer, CliError};
use ask::Home;
use ask::name::{Noun, SessionName};
use ask::read::{self, Input};

use crate::run::Run;
use crate::terminal::format::{count, counted, duration};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::history::{GhostSession, Paste, TypedPrompt};

/// Prompts as they were typed, newest last; also of sessions whose transcripts are gone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount history --since yesterday
  recount history --project . --limit 20     the last 20 of this folder
  recount history --session 3f2a --pastes    with the text of what was pasted
  recount history --ghosts                   sessions without a transcript")]
pub struct HistoryArgs {
    #[command(flatten)]
    scope: Scope,

    /// Only this session: an id, the beginning of one, `latest`, `.`
    #[arg(long, value_name = "SESSION")]
    session: Option<SessionName>,

    /// Only the last N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Also print what was pasted
    #[arg(long, conflicts_with = "ghosts")]
    pastes: bool,

    /// Sessions that are in the history and have no transcript any more
    #[arg(long)]
    ghosts: bool,
}

/// Prints the prompts, or the ghosts.
pub fn run(args: &HistoryArgs, run: &mut Run) -> Result<Answer, CliError> {
    let homes = run.recount.list_homes()?;
    let history = read_history(run, &homes);
    let filter = filter(args, run, &history)?;
    if args.ghosts {
        return ghosts(run, &homes, &history, &filter);
    }
    let found = history::select(&history, &filter);
    let lines = if run.json { Vec::new() } else { table(run, &found) };
    if let Some(head) = lines.first().filter(|_| !found.is_empty()) {
        run.out.line(head)?;
    }
    for (at, typed) in found.iter().enumerate() {
        let pastes = pastes(args.pastes, run, &homes, typed);
        if run.json {
            run.out.json(&TypedPrompt::new(&typed.prompt, pastes))?;
            continue;
        }
        run.out.line(&lines[at + 1])?;
        if args.pastes {
            pastes.iter().try_for_each(|paste| print_paste(run, paste))?;
        }
    }
    Ok(Answer::of(&found))
}

fn read_history(run: &mut Run, homes: &[Home]) -> Vec<Typed> {
    let prompts = homes.iter().map(|home| read_home(run, home)).collect();
    history::merge(prompts)
}

fn read_home(run: &mut Run, home: &Home) -> Vec<Prompt> {
    let mut prompts = Vec::new();
    for found in home.files.iter().filter(|found| found.kind == FileKind::History) {
        run.recount.read_prompts(Input::Found(found), &mut prompts);
    }
    prompts
}

fn filter(args: &HistoryArgs, run: &mut Run, history: &[Typed]) -> Result<Filter, CliError> {
    let project = args.scope.project(run)?;
    let session = match &args.session {
        Some(name) => {
            let ids = history.iter().filter_map(|typed| typed.prompt.session.clone());
            let names = run.recount.session_names(ids.collect::<Vec<_>>())?;
            Some(names.resolve(Noun::Session, name, &run.recount.current_folder()?)?)
        }
        None => None,
    };
    let period = args.scope.period(run);
    Ok(Filter { project, session, period, limit: args.limit })
}

fn table(run: &Run, found: &[&Typed]) -> Vec<String> {
    let mut table = Table::new(&[
        Column::Left("TIME"),
        Column::Left("PROJECT"),
        Column::Left("SESSION"),
        Column::Left("PROMPT"),
    ]);
    for Typed { prompt, .. } in found {
        table.push([
            time_cell(run, prompt.time),
            project_cell(prompt.project.as_ref()),
            session_cell(prompt.session.as_ref()),
            prompt.display.as_deref().unwrap_or("-").into(),
        ]);
    }
    table.lines(run.out.columns())
}

fn time_cell(run: &Run, time: Option<Time>) -> Cell {
    let text = time.map_or_else(|| "-".into(), |time| run.recount.clock.minute(time));
    Cell::new(style::DIM, &text)
}

fn project_cell(project: Option<&RecordedPath>) -> Cell {
    let name = project.map_or("-", |path| path.file_name().unwrap_or(path.as_str()));
    Cell::new(style::PROJECT, name)
}

fn session_cell(session: Option<&SessionId>) -> Cell {
    let id = session.map_or_else(|| "-".into(), |session| short(session.as_str()));
    Cell::new(style::NAME, &id)
}

/// The pastes of a prompt, with their texts where `with_text`.
fn pastes<'a>(with_text: bool, run: &mut Run, homes: &[Home], typed: &'a Typed) -> Vec<Paste<'a>> {
    let home = &homes[typed.home];
    let mut pastes = Vec::new();
    for paste in &typed.prompt.pastes {
        let mut wire = Paste {
            id: paste.id.as_deref(),
            kind: paste.kind.as_deref(),
            hash: None,
            text: None,
            is_genuine: None,
        };
        match &paste.content {
            PasteContent::Inline(text) if with_text => wire.text = Some(text.to_string()),
            PasteContent::Inline(_) | PasteContent::Missing => {}
            PasteContent::Hash(hash) => {
                wire.hash = Some(hash);
                if let Some(cached) = with_text.then(|| cached(run, home, hash)).flatten() {
                    wire.text = Some(String::from_utf8_lossy(&cached.content).into_owned());
                    wire.is_genuine = Some(cached.is_genuine);
                }
            }
        }
        pastes.push(wire);
    }
    pastes
}

/// A long paste, whose text lies in a file of its own.
fn cached(run: &mut Run, home: &Home, hash: &str) -> Option<CachedPaste> {
    let is_it =
        |f: &&Found| matches!(&f.kind, FileKind::PasteCache { hash: its } if **its == *hash);
    let found = home.files.iter().find(is_it)?;
    Some(CachedPaste::new(run.recount.or_skip(read::whole_of(found))?, hash))
}

fn print_paste(run: &mut Run, paste: &Paste<'_>) -> io::Result<()> {
    let state: Cow<'_, str> = match (&paste.text, paste.is_genuine, paste.hash) {
        (Some(_), Some(false), _) => ", changed since".into(),
        (Some(_), ..) => "".into(),
        (None, _, Some(hash)) => format!(", its text is gone ({hash})").into(),
        (None, ..) => ", its text was not kept".into(),
    };
    let (kind, id) = (paste.kind.unwrap_or("paste"), paste.id.unwrap_or("?"));
    let head = safe::line(&format!("pasted {kind} #{id}{state}"));
    run.out.line(&format!("  {}", paint(style::DIM, &head)))?;
    paste.text.iter().try_for_each(|text| run.out.indented(4, text))
}

fn ghosts(
    run: &mut Run,
    homes: &[Home],
    history: &[Typed],
    filter: &Filter,
) -> Result<Answer, CliError> {
    let found = history::ghosts(history, &known(homes), filter);
    let all = || found.sessions.iter().chain(&found.unnamed);
    if run.json {
        all().try_for_each(|ghost| run.out.json(&GhostSession::from(ghost)))?;
    } else {
        print_ghosts(run, &found.sessions)?;
        if !found.sessions.is_empty() && !found.unnamed.is_empty() {
            run.out.line("")?;
        }
        if !found.unnamed.is_empty() {
            run.out.line("Old prompts, written before prompts named their session:")?;
        }
        print_ghosts(run, &found.unnamed)?;
    }
    run.talk.note(format!(
        "{} without a transcript, {} of no known session",
        counted(found.sessions.len(), "session"),
        counted(found.unnamed.iter().map(|ghost| ghost.prompts).sum(), "prompt"),
    ));
    Ok(if all().next().is_some() { Answer::Found } else { Answer::Nothing })
}

/// The sessions that have a transcript, be it one put aside.
fn known(homes: &[Home]) -> HashSet<SessionId> {
    let session = |found: &Found| match &found.kind {
        FileKind::Session { session, .. } | FileKind::SetAside { session, .. } => {
            Some(session.clone())
        }
        _ => None,
    };
    homes.iter().flat_map(|home| &home.files).filter_map(session).collect()
}

fn print_ghosts(run: &mut Run, ghosts: &[Ghost]) -> io::Result<()> {
    if ghosts.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("FIRST"),
        Column::Right("LASTED"),
        Column::Left("PROJECT"),
        Column::Left("SESSION"),
        Column::Right("PROMPTS"),
        Column::Left("FIRST PROMPT"),
    ]);
    for ghost in ghosts {
        let lasted = ghost.first.zip(ghost.last).map(|(first, last)| duration(last.since(first)));
        table.push([
            time_cell(run, ghost.first),
            lasted.as_deref().unwrap_or("-").into(),
            project_cell(ghost.project.as_ref()),
            session_cell(ghost.session.as_ref()),
            count(ghost.prompts as u64).into(),
            ghost.first_prompt.as_deref().unwrap_or("-").into(),
        ]);
    }
    run.out.table(&table)
}

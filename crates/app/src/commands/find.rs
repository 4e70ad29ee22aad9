//! `recount find`: which sessions touched a file, made a commit, belong to a pull request.

use std::collections::HashMap;

use report::file::is_wanted;
use store::catalog::{CommitRow, Deed, PrRow, SessionRow, TouchRow};
use transcript::id::SessionId;
use transcript::time::Time;

use super::short;
use crate::args::SyncWait;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use crate::wire::find::{FoundCommit, FoundFile, FoundPr, FoundSession};
use ask::stored::Stored;

/// The sessions that changed a file, made a commit, or are linked to a pull request; also those
/// that Claude Code has deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount find --file src/main.rs    who changed it; the end of a path is enough
  recount find --commit 4f2a91c      who made it
  recount find --pr 123              who worked on it
  recount find --file main.rs --json --limit 1

`recount file PATH` shows each change to a file.")]
pub struct FindArgs {
    #[command(flatten)]
    what: What,

    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    sync_wait: SyncWait,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// A file: an absolute path, or the end of one
    #[arg(long, value_name = "PATH")]
    file: Option<String>,

    /// A commit: its hash, or the beginning of one
    #[arg(long, value_name = "SHA", value_parser = sha)]
    commit: Option<String>,

    /// A pull request, by its number
    #[arg(long, value_name = "N", value_parser = pr_number)]
    pr: Option<u64>,
}

/// Fewer characters would find anything.
const SHA_LEAST: usize = 4;

fn sha(text: &str) -> Result<String, String> {
    match text.len() >= SHA_LEAST && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!("a hash is at least {SHA_LEAST} of 0-9 and a-f")),
    }
}

fn pr_number(text: &str) -> Result<u64, String> {
    let number = text.trim_start_matches('#');
    number.parse().map_err(|_| "a pull request is a number, as in `123` or `#123`".into())
}

/// A session, when it did what was asked for, and what that was.
struct Found {
    session: SessionRow,
    time: Option<Time>,
    what: String,
    touches: Vec<TouchRow>,
    commits: Vec<CommitRow>,
    prs: Vec<PrRow>,
    is_gone: bool,
}

/// Prints the sessions.
pub fn run(args: &FindArgs, run: &mut Run) -> Result<Answer, CliError> {
    args.sync_wait.apply(run);
    run.recount.filled_store()?;
    run.recount.current_store()?;
    let stored = run.recount.open_stored()?;
    let mut found = find(&args.what, &stored)?;
    found.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.session.id.cmp(&b.session.id)));
    let all = found.len();
    found.truncate(args.limit.unwrap_or(usize::MAX));
    mark_gone(&stored, &mut found)?;
    show(run, &found)?;
    if found.len() < all {
        run.talk.note(format!("{} of {}", count(found.len() as u64), counted(all, "session")));
    }
    let gone = found.iter().filter(|found| found.is_gone).count();
    if gone > 0 && !run.json {
        run.talk.note(format!("{} kept in the store only", counted(gone, "session")));
    }
    Ok(Answer::of(&found))
}

fn find(what: &What, stored: &Stored) -> Result<Vec<Found>, CliError> {
    let catalog = &stored.catalog;
    let mut all = Vec::new();
    if let Some(path) = &what.file {
        for (session, touches) in grouped(catalog.touches(|recorded| is_wanted(recorded, path))?) {
            let found = Found::new(stored, &session, touches.iter().map(|t| t.time))?;
            all.extend(found.map(|found| Found { what: edits(&touches), touches, ..found }));
        }
    }
    if let Some(hash) = &what.commit {
        for (session, commits) in grouped(catalog.commits(hash)?) {
            let found = Found::new(stored, &session, commits.iter().map(|c| c.time))?;
            all.extend(found.map(|found| Found { what: subjects(&commits), commits, ..found }));
        }
    }
    if let Some(number) = what.pr {
        for (session, prs) in grouped(catalog.prs(number)?) {
            let found = Found::new(stored, &session, prs.iter().map(|pr| pr.time))?;
            all.extend(found.map(|found| Found { what: addresses(&prs), prs, ..found }));
        }
    }
    Ok(all)
}

impl Found {
    fn new(
        stored: &Stored,
        id: &SessionId,
        times: impl Iterator<Item = Option<Time>>,
    ) -> Result<Option<Self>, CliError> {
        let Some(session) = stored.catalog.session(id)? else { return Ok(None) };
        Ok(Some(Self {
            time: times.flatten().max().or(session.last),
            session,
            what: String::new(),
            touches: Vec::new(),
            commits: Vec::new(),
            prs: Vec::new(),
            is_gone: false,
        }))
    }
}

fn grouped<T>(deeds: Vec<Deed<T>>) -> HashMap<SessionId, Vec<T>> {
    let mut all: HashMap<SessionId, Vec<T>> = HashMap::new();
    for Deed { session, what } in deeds {
        all.entry(session).or_default().push(what);
    }
    all
}

fn mark_gone(stored: &Stored, found: &mut [Found]) -> Result<(), CliError> {
    let rows = stored.archive.files()?;
    let gone: HashMap<i64, bool> = rows.iter().map(|row| (row.file.0, row.gone)).collect();
    for one in found {
        one.is_gone = one.session.file.is_some_and(|file| gone.get(&file) == Some(&true));
    }
    Ok(())
}

fn edits(touches: &[TouchRow]) -> String {
    let (added, removed) = lines(touches.iter());
    format!("{} +{} -{}", counted(touches.len(), "edit"), count(added), count(removed))
}

fn lines<'a>(touches: impl Iterator<Item = &'a TouchRow>) -> (u64, u64) {
    touches.fold((0, 0), |(added, removed), touch| {
        (added + u64::from(touch.added), removed + u64::from(touch.removed))
    })
}

fn subjects(commits: &[CommitRow]) -> String {
    let one = |commit: &CommitRow| match &commit.subject {
        Some(subject) => format!("{} {subject}", commit.hash),
        None => commit.hash.clone(),
    };
    commits.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn addresses(prs: &[PrRow]) -> String {
    let one = |pr: &PrRow| match (&pr.repository, pr.number) {
        (Some(repository), Some(number)) => format!("{repository}#{number}"),
        _ => pr.url.clone(),
    };
    let mut all: Vec<String> = prs.iter().map(one).collect();
    all.dedup();
    all.join(", ")
}

fn show(run: &mut Run, found: &[Found]) -> Result<(), CliError> {
    if run.json {
        return found.iter().try_for_each(|one| Ok(run.out.json(&line(one))?));
    }
    if found.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("SESSION"),
        Column::Left("WHEN"),
        Column::Left("WHAT"),
        Column::Left("PROJECT"),
        Column::Left("TITLE"),
    ])
    .spare(&["PROJECT"]);
    for one in found {
        let when = one.time.map_or_else(|| "-".into(), |time| run.recount.clock.near(time));
        table.push([
            Cell::new(style::NAME, &short(one.session.id.as_str())),
            Cell::new(style::DIM, &when),
            one.what.as_str().into(),
            Cell::new(style::PROJECT, one.session.project.as_deref().unwrap_or("-")),
            one.session.title.as_deref().unwrap_or("(no title)").into(),
        ]);
    }
    Ok(run.out.table(&table)?)
}

fn line(found: &Found) -> FoundSession<'_> {
    FoundSession {
        session: found.session.id.as_str(),
        title: found.session.title.as_deref(),
        project: found.session.project.as_deref(),
        time: wire::time(found.time),
        gone: found.is_gone,
        files: files(&found.touches),
        commits: found.commits.iter().map(FoundCommit::from).collect(),
        pull_requests: found.prs.iter().map(FoundPr::from).collect(),
    }
}

/// The files that were meant, each once.
fn files(touches: &[TouchRow]) -> Vec<FoundFile<'_>> {
    let mut paths: Vec<&str> = touches.iter().map(|touch| &*touch.path).collect();
    paths.sort_unstable();
    paths.dedup();
    let one = |path| {
        let its = || touches.iter().filter(|touch| touch.path == path);
        let (lines_added, lines_removed) = lines(its());
        FoundFile { path, edits: its().count(), lines_added, lines_removed }
    };
    paths.into_iter().map(one).collect()
}

//! `recount archive`: what the store keeps, whether all of it is well, and what it will have to
//! keep next.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use store::archive::{Access, Effort, Report, path_of};
use store::catalog::{Catalog, SessionRow};
use store::sync::SyncError;
use transcript::id::SessionId;
use transcript::layout::{self, FileKind};
use transcript::time::Time;

use super::short;
use crate::error::{Answer, CliError, StoreError};
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::progress::Progress;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::archive as wire;
use ask::retention::{Retention, in_days};
use ask::stored::StoredFile;

/// What the store keeps: its size, a check of every byte, sessions that are only there.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  recount archive status       what is kept, and what that takes
  recount archive verify       check every byte
  recount archive compact      make it as small as it can be
  recount archive list         sessions that are only in the store
  recount archive expiring     sessions that Claude Code will delete within a week"
)]
pub struct ArchiveArgs {
    #[command(subcommand)]
    command: ArchiveCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ArchiveCommand {
    Status(StatusArgs),
    Verify(VerifyArgs),
    Compact(CompactArgs),
    List(ListArgs),
    Expiring(ExpiringArgs),
}

/// What is kept, and what that takes on disk.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount archive status           sizes and counts
  recount archive status --json    for scripts

The archive is all that matters: catalog and index can be deleted and are made again by
`recount sync`.")]
struct StatusArgs {}

/// Check that every byte that is kept comes back as it was.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount archive verify           what is damaged, and which files that touches
  recount archive verify --json    one JSON line per damage, then the counts

Nothing is changed. Exit code 2 if anything is damaged.")]
struct VerifyArgs {}

/// Pack everything anew, as small as it can be.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount archive compact           takes a while: about 3 MB a second
  recount archive compact --json    what it did, for scripts

It may be interrupted at any time; the next run goes on.")]
struct CompactArgs {}

/// Sessions whose transcripts are gone from the Claude folder, and kept in the store.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount archive list              the last one first
  recount archive list --limit 5    only five
  recount restore 3f2a --to old     the files of one of them")]
struct ListArgs {
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Sessions that Claude Code will delete soon.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount archive expiring              within a week
  recount archive expiring --days 30    within a month
  recount sync                          keeps them

Claude Code deletes what was not written to for `cleanupPeriodDays` of its settings.json,
30 days if that is not set.")]
struct ExpiringArgs {
    /// Within so many days
    #[arg(long, value_name = "N", default_value_t = 7)]
    days: u64,
}

/// Does what was asked for.
pub fn run(args: &ArchiveArgs, run: &mut Run) -> Result<Answer, CliError> {
    match &args.command {
        ArchiveCommand::Status(_) => status(run),
        ArchiveCommand::Verify(_) => verify(run),
        ArchiveCommand::Compact(_) => compact(run),
        ArchiveCommand::List(args) => list(args, run),
        ArchiveCommand::Expiring(args) => expiring(args, run),
    }
}

fn status(run: &mut Run) -> Result<Answer, CliError> {
    let store = run.recount.filled_store()?;
    let (status, sizes) = (store.archive(Access::Read)?.status()?, store.sizes());
    if run.json {
        run.out.json(&wire::ArchiveStatus::new(store.folder(), &status, sizes))?;
        return Ok(Answer::Found);
    }
    let of = |part: u64| match status.bytes_current {
        0 => String::new(),
        all => format!(", {:.1} % of the sources", part as f64 * 100.0 / all as f64),
    };
    let older = status.bytes_all.saturating_sub(status.bytes_current);
    let small = match status.small_packs {
        0..=1 => String::new(),
        small => format!(", {} of them small", count(small)),
    };
    let rows = [
        ("store", store.folder().display().to_string()),
        (
            "files",
            format!("{}, {} of them gone from disk", count(status.files), count(status.gone)),
        ),
        (
            "sources",
            format!("{}, and {} of older contents", size(status.bytes_current), size(older)),
        ),
        ("contents", format!("{} over all files", count(status.generations))),
        ("archive", format!("{}{}", size(sizes.archive), of(sizes.archive))),
        ("packs", format!("{}{small}", count(status.packs))),
        ("catalog", format!("{}{}", size(sizes.catalog), of(sizes.catalog))),
        ("index", format!("{}{}", size(sizes.index), of(sizes.index))),
    ];
    for (name, text) in rows {
        let name = paint(style::HEAD, &format!("{name:>8}"));
        run.out.line(&format!("{name}  {}", safe::line(&text)))?;
    }
    Ok(Answer::Found)
}

/// A bar that is moved to where the work is.
struct Meter {
    quiet: bool,
    bar: Option<Progress>,
    done: u64,
}

impl Meter {
    fn new(run: &Run) -> Self {
        Self { quiet: run.is_quiet(), bar: None, done: 0 }
    }

    fn show(&mut self, now: store::archive::Progress) {
        let bar = self.bar.get_or_insert_with(|| Progress::new(self.quiet, 0, now.total));
        bar.advance(0, now.done.saturating_sub(self.done));
        self.done = now.done;
    }
}

fn verify(run: &mut Run) -> Result<Answer, CliError> {
    let archive = run.recount.open_archive(Access::Read)?;
    let mut meter = Meter::new(run);
    let report = archive.verify(|now| meter.show(now))?;
    drop(meter);
    match run.json {
        true => {
            let damage = report.damage.iter().map(wire::ArchiveDamage::from);
            damage.into_iter().try_for_each(|damage| run.out.json(&damage))?;
            run.out.json(&wire::ArchiveVerified::from(&report))?;
        }
        false => show_verified(run, &report)?,
    }
    match report.damage.len() {
        0 => Ok(Answer::Found),
        places => Err(StoreError::Damage { path: archive.path().into(), places }.into()),
    }
}

fn show_verified(run: &mut Run, report: &Report) -> Result<(), CliError> {
    for damage in &report.damage {
        let head = paint(style::BAD, "damage");
        run.out.line(&format!("{head}  {}", safe::line(&damage.detail)))?;
        for file in &damage.files {
            run.out.line(&format!("        in {}", safe::line(file)))?;
        }
    }
    let well = match report.damage.is_empty() {
        true => "all of it as it was",
        false => "the rest as it was",
    };
    let packs = counted(report.packs as usize, "pack");
    let (pieces, payloads) = (count(report.pieces), count(report.payloads));
    Ok(run.out.line(&format!(
        "{packs}, {pieces} pieces, {payloads} payloads, {} read: {well}",
        size(report.bytes)
    ))?)
}

fn compact(run: &mut Run) -> Result<Answer, CliError> {
    let store = run.recount.filled_store()?;
    let failed = |source| SyncError::Folder { path: store.folder().into(), source };
    let _lock = store.lock().map_err(failed)?.ok_or(SyncError::Locked)?;
    let before = store.sizes().archive;
    let mut archive = store.archive(Access::Write)?;
    let mut meter = Meter::new(run);
    let done = archive.compact(Effort::Full, |now| meter.show(now), || true)?;
    drop(meter);
    let after = store.sizes().archive;
    match run.json {
        true => run.out.json(&wire::ArchiveCompacted::new(before, after, &done))?,
        false if done.written == 0 => {
            run.out.line(&format!("{}: nothing to pack anew", size(after)))?;
        }
        false => run.out.line(&format!(
            "{} before, {} after: {} written, {} dropped",
            size(before),
            size(after),
            counted(done.written as usize, "pack"),
            count(done.dropped)
        ))?,
    }
    match done.skipped {
        0 => Ok(Answer::Found),
        places => {
            let path = archive.path().into();
            Err(StoreError::Damage { path, places: places as usize }.into())
        }
    }
}

fn list(args: &ListArgs, run: &mut Run) -> Result<Answer, CliError> {
    let stored = run.recount.open_stored()?;
    let files = stored.files()?;
    let none = Vec::new();
    let mut gone: Vec<(SessionRow, &[StoredFile])> = stored
        .catalog
        .sessions()?
        .into_iter()
        .map(|session| {
            let files = files.get(&session.id).unwrap_or(&none);
            (session, &**files)
        })
        .filter(|(session, files)| is_gone(session, files))
        .collect();
    gone.sort_by(|(a, _), (b, _)| b.last.cmp(&a.last).then_with(|| a.id.cmp(&b.id)));
    let all = gone.len();
    gone.truncate(args.limit.unwrap_or(usize::MAX));
    show_list(run, &gone)?;
    if gone.len() < all {
        run.talk.note(format!("{} of {}", count(gone.len() as u64), counted(all, "session")));
    }
    Ok(Answer::of(&gone))
}

/// Whether the transcript is not on disk. Not what the last sync saw: it may have been deleted or
/// restored since.
fn is_gone(session: &SessionRow, files: &[StoredFile]) -> bool {
    let own = files.iter().find(|file| Some(file.row.file.0) == session.file);
    own.is_some_and(|file| !file.row.path().exists())
}

fn show_list(run: &mut Run, gone: &[(SessionRow, &[StoredFile])]) -> Result<(), CliError> {
    if run.json {
        let lines = gone.iter().map(|(session, files)| {
            let bytes = files.iter().map(|file| file.row.size).sum();
            wire::ArchivedSession::new(session, files.len(), bytes)
        });
        return lines.into_iter().try_for_each(|line| Ok(run.out.json(&line)?));
    }
    if gone.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("SESSION"),
        Column::Left("LAST"),
        Column::Right("FILES"),
        Column::Right("SIZE"),
        Column::Left("PROJECT"),
        Column::Left("TITLE"),
    ])
    .spare(&["FILES", "PROJECT"]);
    for (session, files) in gone {
        let bytes = files.iter().map(|file| file.row.size).sum();
        table.push([
            Cell::new(style::NAME, &short(session.id.as_str())),
            Cell::new(style::DIM, &when(run, session.last)),
            count(files.len() as u64).into(),
            size(bytes).into(),
            Cell::new(style::PROJECT, session.project.as_deref().unwrap_or("-")),
            session.title.as_deref().unwrap_or("(no title)").into(),
        ]);
    }
    print(run, &table)
}

fn when(run: &Run, time: Option<Time>) -> String {
    time.map_or_else(|| "-".into(), |time| run.recount.clock.near(time))
}

fn print(run: &mut Run, table: &Table) -> Result<(), CliError> {
    Ok(run.out.table(table)?)
}

/// A transcript that Claude Code will delete.
struct Expiring {
    id: SessionId,
    session: Option<SessionRow>,
    path: PathBuf,
    size: u64,
    end: Time,
    is_kept: bool,
}

fn expiring(args: &ExpiringArgs, run: &mut Run) -> Result<Answer, CliError> {
    let kept = Kept::read(run)?;
    let until = in_days(run.recount.clock.time(), args.days);
    let mut all = Vec::new();
    for root in run.recount.claude_roots()? {
        let walk = layout::walk_projects(&root);
        walk.problems.into_iter().for_each(|problem| run.talk.skip(problem));
        let retention = Retention::of(&root);
        let root = root.canonicalize().unwrap_or(root);
        for (end, found) in retention.ends(&walk.files) {
            let FileKind::Session { session: id, .. } = &found.kind else { continue };
            if end < until {
                all.push(Expiring {
                    id: id.clone(),
                    session: kept.session(id)?,
                    path: found.path.clone(),
                    size: found.size,
                    end,
                    is_kept: kept.has(&root, &found.rel, found.size),
                });
            }
        }
    }
    all.sort_by(|a, b| a.end.cmp(&b.end).then_with(|| a.path.cmp(&b.path)));
    show_expiring(run, &all)?;
    let safe = all.iter().filter(|one| one.is_kept).count();
    if !all.is_empty() {
        let hint = if safe < all.len() { "; `recount sync` keeps the others" } else { "" };
        let number = count(safe as u64);
        run.talk.note(format!("{number} of {} in the store{hint}", counted(all.len(), "session")));
    }
    Ok(Answer::of(&all))
}

/// What the store has, if there is one: also who has none is to be warned.
#[derive(Default)]
struct Kept {
    sizes: HashMap<PathBuf, u64>,
    catalog: Option<Catalog>,
}

impl Kept {
    fn read(run: &mut Run) -> Result<Self, CliError> {
        let store = run.recount.store()?;
        if !store.exists() {
            return Ok(Self::default());
        }
        let rows = store.archive(Access::Read)?.files()?;
        let path = |row: &store::archive::FileRow| path_of(&row.home).join(path_of(&row.rel));
        Ok(Self {
            sizes: rows.iter().map(|row| (path(row), row.size)).collect(),
            catalog: Catalog::read(store.folder())?,
        })
    }

    /// Whether all of a file is kept.
    fn has(&self, root: &Path, rel: &Path, size: u64) -> bool {
        self.sizes.get(&root.join(rel)) == Some(&size)
    }

    fn session(&self, id: &SessionId) -> Result<Option<SessionRow>, CliError> {
        match &self.catalog {
            Some(catalog) => Ok(catalog.session(id)?),
            None => Ok(None),
        }
    }
}

fn show_expiring(run: &mut Run, all: &[Expiring]) -> Result<(), CliError> {
    if run.json {
        return all.iter().try_for_each(|one| Ok(run.out.json(&expiring_line(one))?));
    }
    if all.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("SESSION"),
        Column::Left("DELETED"),
        Column::Left("KEPT"),
        Column::Right("SIZE"),
        Column::Left("PROJECT"),
        Column::Left("TITLE"),
    ])
    .spare(&["PROJECT", "SIZE"]);
    let now = run.recount.clock.time();
    for one in all {
        let (kept, look) = if one.is_kept { ("yes", style::GOOD) } else { ("no", style::BAD) };
        let end = match one.end <= now {
            true => "at its next start".into(),
            false => run.recount.clock.minute(one.end),
        };
        let session = one.session.as_ref();
        let project = session.and_then(|session| session.project.as_deref());
        let title = session.and_then(|session| session.title.as_deref());
        table.push([
            Cell::new(style::NAME, &short(one.id.as_str())),
            Cell::new(style::DIM, &end),
            Cell::new(look, kept),
            size(one.size).into(),
            Cell::new(style::PROJECT, project.unwrap_or("-")),
            title.unwrap_or("-").into(),
        ]);
    }
    print(run, &table)
}

fn expiring_line(one: &Expiring) -> wire::ExpiringSession<'_> {
    wire::ExpiringSession {
        session: one.id.as_str(),
        title: one.session.as_ref().and_then(|session| session.title.as_deref()),
        project: one.session.as_ref().and_then(|session| session.project.as_deref()),
        file: one.path.display().to_string(),
        size: one.size,
        deleted: crate::wire::time(Some(one.end)),
        kept: one.is_kept,
    }
}

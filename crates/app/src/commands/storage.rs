//! `recount storage`: where the bytes are, and what a clean copy or the archive would save.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;

use clap::ValueEnum;
use report::list::ListFilter;
use report::storage::{self, Meter, Part, Report, SessionStorage, Share, Storage};
use store::archive::Access;
use transcript::bulk::{BulkKind, far};
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::line::LineReader;
use transcript::source::Source;

use super::{short, usage};
use crate::args::Scope;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, percent, size, thousands};
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::storage as wire;

/// Bytes of a token, roughly, in JSON.
const BYTES_OF_TOKEN: u64 = 4;

/// Where the bytes are: base64, files before edits, double reads, entries, tools, sessions,
/// projects; and what a clean copy or the archive saves.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount storage                   everything
  recount storage --by session      what each session takes, the largest first
  recount storage --by project      what each project takes
  recount storage --project shop    one project only
  recount clean 3f2a --to small     a clean copy of a session

CLEAN is the size of a clean copy: without base64, without the file before each edit (the
patch stays), without texts of reads that stand in the message, too. Only what is on disk
is counted; `recount archive status` says what the store takes. --since and --until choose
the sessions that were active then.")]
pub struct StorageArgs {
    /// Only a table of these
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,

    #[command(flatten)]
    scope: Scope,

    /// At most so many lines of a table; 10 if all tables are shown
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Whose bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Session,
    Project,
}

/// Files beside the transcripts, by kind: how many, and their bytes.
pub type Side = BTreeMap<&'static str, (u64, u64)>;

/// Prints where the bytes are.
pub fn run(args: &StorageArgs, run: &mut Run) -> Result<Answer, CliError> {
    let filter = ListFilter {
        project: args.scope.project(run)?,
        period: args.scope.period(run),
        all: true,
        ..ListFilter::default()
    };
    let (report, side) = measured(run, &filter)?;
    match (run.json, args.by) {
        (true, by) => json(run, &report, &side, by)?,
        (false, Some(By::Session)) => sessions(run, &report, args.limit.unwrap_or(usize::MAX))?,
        (false, Some(By::Project)) => projects(run, &report, args.limit.unwrap_or(usize::MAX))?,
        (false, None) => all(run, &report, &side, args.limit.unwrap_or(10))?,
    }
    Ok(Answer::of(&report.sessions))
}

/// What the transcripts take, and the files beside them.
pub fn measured(run: &mut Run, filter: &ListFilter) -> Result<(Report, Side), CliError> {
    let (files, others) = files(run)?;
    let (library, taken) = run.recount.join_files(files, |_, _, source| Some(measure(source)))?;
    // What is damaged is counted, too.
    run.recount.observed.forget_damage();
    let taken: Vec<Option<Storage>> =
        taken.into_iter().map(|taken| taken.and_then(|read| run.recount.or_skip(read))).collect();
    let report = storage::report(&library, &taken, filter);
    let is_all = filter.project.is_none() && filter.period == Default::default();
    let side = side(&others, &report, is_all);
    Ok((report, side))
}

/// The transcripts on disk, and all other files.
fn files(run: &mut Run) -> Result<(Vec<Found>, Vec<Found>), CliError> {
    let mut files = Vec::new();
    for root in run.recount.claude_roots()? {
        let walk = layout::walk(&root);
        walk.problems.into_iter().for_each(|problem| run.talk.skip(problem));
        files.extend(walk.files);
    }
    let is_read = |f: &Found| matches!(f.kind, FileKind::Session { .. } | FileKind::Agent { .. });
    Ok(files.into_iter().partition(is_read))
}

fn measure(source: &Source) -> Result<Storage, Problem> {
    let read = || {
        let mut meter = Meter::default();
        let mut reader = LineReader::new(source.reader(0), 0);
        while let Some(line) = reader.next_line()? {
            let cut = match line.is_condensed() {
                true => far::of_condensed(line, source.reader(line.offset).take(line.length))?,
                false => Vec::new(),
            };
            let cut: Vec<_> = cut.into_iter().map(|(_, bulk)| bulk).collect();
            meter.line(line, &cut);
        }
        Ok(meter.finish())
    };
    read().map_err(|error| Problem::new(source.path(), error))
}

fn side(files: &[Found], report: &Report, is_all: bool) -> Side {
    let sessions: HashSet<_> = report.sessions.iter().filter_map(|s| s.id.as_ref()).collect();
    let mut side = Side::new();
    for found in files {
        if is_all || found.kind.session().is_some_and(|session| sessions.contains(session)) {
            let (number, bytes) = side.entry(found.kind.name()).or_default();
            *number += 1;
            *bytes += found.size;
        }
    }
    side
}

/// A name, and what it takes.
type Row = (String, Share);

/// Rows by size; those beyond `most` are put together.
fn largest(mut rows: Vec<Row>, most: usize) -> Vec<Row> {
    rows.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then_with(|| a.0.cmp(&b.0)));
    if rows.len() > most.saturating_add(1) {
        let rest = rows.split_off(most);
        let mut sum = Share::default();
        rest.iter().for_each(|(_, share)| sum += *share);
        rows.push((format!("{} others", count(rest.len() as u64)), sum));
    }
    rows
}

/// What is shown of rows beside their names and bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    Bytes,
    Clean,
}

fn head(run: &mut Run, title: &str) -> Result<(), CliError> {
    run.out.line("")?;
    Ok(run.out.line(&paint(style::HEAD, title))?)
}

fn print(run: &mut Run, table: &Table) -> Result<(), CliError> {
    let lines = table.lines(run.out.columns());
    lines.iter().try_for_each(|line| Ok(run.out.line(line.trim_end())?))
}

/// A bar, on a terminal only.
fn bar(run: &Run, part: u64, most: u64) -> Cell {
    match run.out.columns() {
        Some(_) => Cell::new(style::GOOD, &usage::bar(part, most)),
        None => "".into(),
    }
}

fn shares(
    run: &mut Run,
    title: &str,
    columns: [&'static str; 2],
    rows: &[Row],
    show: Show,
) -> Result<(), CliError> {
    if rows.is_empty() {
        return Ok(());
    }
    head(run, title)?;
    let [name, items] = columns;
    let mut columns = vec![
        Column::Left(name),
        Column::Right(items),
        Column::Right("BYTES"),
        Column::Right("SHARE"),
    ];
    if show == Show::Clean {
        columns.push(Column::Right("CLEAN"));
    }
    columns.push(Column::Left(""));
    let mut table = Table::new(&columns);
    let all: u64 = rows.iter().map(|(_, share)| share.bytes).sum();
    let most = rows.iter().map(|(_, share)| share.bytes).max().unwrap_or(0);
    for (name, share) in rows {
        let mut cells = vec![
            Cell::from(name.as_str()),
            count(share.items).into(),
            size(share.bytes).into(),
            percent(share.bytes, all).into(),
        ];
        if show == Show::Clean {
            cells.push(size(share.clean).into());
        }
        cells.push(bar(run, share.bytes, most));
        table.push_all(cells);
    }
    print(run, &table)
}

fn all(run: &mut Run, report: &Report, side: &Side, most: usize) -> Result<(), CliError> {
    if report.sessions.is_empty() {
        return Ok(());
    }
    let total = &report.total;
    overall(run, report)?;
    let named = |map: &BTreeMap<Box<str>, Share>| {
        map.iter().map(|(name, share)| (name.to_string(), *share)).collect::<Vec<_>>()
    };
    let base64 = largest(named(&total.base64), most);
    shares(run, "Base64", ["TYPE", "ITEMS"], &base64, Show::Bytes)?;
    let entries = largest(named(&total.entries), most);
    shares(run, "Entries", ["TYPE", "ENTRIES"], &entries, Show::Clean)?;
    let user = total.user.iter().map(|(kind, share)| (kind.name().to_owned(), *share)).collect();
    let user = largest(user, most);
    shares(run, "User entries", ["WHAT", "ENTRIES"], &user, Show::Clean)?;
    let tools = total.tools.iter().map(|(name, tool)| (name.to_string(), tool.share)).collect();
    let tools = largest(tools, most);
    shares(run, "Results of tools", ["TOOL", "RESULTS"], &tools, Show::Clean)?;
    originals(run, total)?;
    let parts = total.parts.iter().map(|(part, share)| (part_name(part), *share)).collect();
    let parts = largest(parts, most);
    shares(run, "Answers", ["PART", "PARTS"], &parts, Show::Bytes)?;
    buckets(run, report)?;
    let side = side
        .iter()
        .map(|(name, (items, bytes))| {
            (name.to_string(), Share { items: *items, bytes: *bytes, clean: *bytes })
        })
        .collect();
    let side = largest(side, most);
    shares(run, "Files beside the transcripts", ["KIND", "FILES"], &side, Show::Bytes)?;
    head(run, "Sessions")?;
    sessions(run, report, most)?;
    archive(run, report)
}

fn part_name(part: &Part) -> String {
    match part {
        Part::Text => "text".into(),
        Part::Thinking => "thinking".into(),
        Part::Signature => "thinking, signature".into(),
        Part::Input(tool) => format!("input of {tool}"),
    }
}

fn overall(run: &mut Run, report: &Report) -> Result<(), CliError> {
    let total = &report.total;
    let all = total.all.bytes;
    let transcripts = counted(total.all.items as usize, "transcript");
    let sessions = counted(report.sessions.len(), "session");
    run.out.line(&paint(style::HEAD, &format!("{transcripts} of {sessions}")))?;
    let mut table = Table::new(&[
        Column::Left("WHAT"),
        Column::Right("BYTES"),
        Column::Right("SAVED"),
        Column::Left(""),
    ]);
    let rows = [
        ("all of it", all),
        ("without base64", total.without(&[BulkKind::Base64])),
        ("without files before edits", total.without(&[BulkKind::OriginalFile])),
        ("without double reads", total.without(&[BulkKind::Read])),
        ("without prompt snapshots", total.without(&[BulkKind::Snapshot])),
        ("a clean copy, without all of these", total.all.clean),
    ];
    for (name, bytes) in rows {
        let saved = if bytes == all { String::new() } else { percent(all - bytes, all) };
        table.push([name.into(), size(bytes).into(), saved.into(), bar(run, bytes, all)]);
    }
    print(run, &table)
}

/// How much of the results of edits is the file before them.
fn originals(run: &mut Run, total: &Storage) -> Result<(), CliError> {
    for (name, tool) in total.tools.iter().filter(|(_, tool)| tool.original_file > 0) {
        let name = crate::terminal::safe::line(name);
        let (part, all) = (tool.original_file, tool.share.bytes);
        run.out.line(&format!(
            "{} of the results of {name} ({} of {}) is the file before the edit",
            percent(part, all),
            size(part),
            size(all)
        ))?;
    }
    Ok(())
}

fn buckets(run: &mut Run, report: &Report) -> Result<(), CliError> {
    head(run, "Sessions by the size of a clean copy")?;
    let mut table = Table::new(&[
        Column::Left("SIZE"),
        Column::Right("SESSIONS"),
        Column::Right("CLEAN"),
        Column::Left(""),
    ]);
    let buckets = report.buckets();
    let most = buckets.iter().map(|(_, share)| share.items).max().unwrap_or(0);
    for (name, share) in &buckets {
        let bar = bar(run, share.items, most);
        table.push([(*name).into(), count(share.items).into(), size(share.clean).into(), bar]);
    }
    print(run, &table)?;
    let Some((largest, median)) = report.largest_and_median() else { return Ok(()) };
    let tokens = |bytes: u64| thousands(bytes / BYTES_OF_TOKEN);
    Ok(run.out.line(&format!(
        "The largest {} (about {} tokens), the median {} (about {})",
        size(largest),
        tokens(largest),
        size(median),
        tokens(median)
    ))?)
}

/// The columns of sessions and projects between their names.
const FIGURES: [Column; 6] = [
    Column::Right("BYTES"),
    Column::Right("CLEAN"),
    Column::Right("BASE64"),
    Column::Right("ORIGINALS"),
    Column::Right("READS"),
    Column::Right("SNAPSHOTS"),
];

fn figures(storage: &Storage) -> [Cell; 6] {
    let part = |kind| match storage.of(kind).bytes {
        0 => Cell::from(""),
        bytes => Cell::new(style::DIM, &size(bytes)),
    };
    let [base64, originals, reads, snapshots] = BulkKind::ALL.map(part);
    let (all, clean) = (size(storage.all.bytes).into(), size(storage.all.clean).into());
    [all, clean, base64, originals, reads, snapshots]
}

fn sessions(run: &mut Run, report: &Report, most: usize) -> Result<(), CliError> {
    let rows = &report.sessions[..report.sessions.len().min(most)];
    if rows.is_empty() {
        return Ok(());
    }
    let columns = [
        &[Column::Left("SESSION")][..],
        &FIGURES,
        &[Column::Left("PROJECT"), Column::Left("TITLE")],
    ];
    let mut table = Table::new(&columns.concat()).spare(&[
        "SNAPSHOTS",
        "READS",
        "ORIGINALS",
        "BASE64",
        "PROJECT",
    ]);
    for SessionStorage { id, title, project, storage } in rows {
        let id = id.as_ref().map_or_else(|| "-".into(), |id| short(id.as_str()));
        let mut cells = vec![Cell::new(style::NAME, &id)];
        cells.extend(figures(storage));
        cells.push(Cell::new(style::PROJECT, project.as_deref().unwrap_or("")));
        cells.push(title.as_deref().unwrap_or("").into());
        table.push_all(cells);
    }
    print(run, &table)?;
    if rows.len() < report.sessions.len() {
        let all = counted(report.sessions.len(), "session");
        run.talk.note(format!("{} of {all}; `--by session` shows all", rows.len()));
    }
    Ok(())
}

fn projects(run: &mut Run, report: &Report, most: usize) -> Result<(), CliError> {
    let mut rows = report.projects();
    rows.truncate(most);
    if rows.is_empty() {
        return Ok(());
    }
    let columns = [&[Column::Right("SESSIONS")][..], &FIGURES, &[Column::Left("PROJECT")]];
    let mut table =
        Table::new(&columns.concat()).spare(&["SNAPSHOTS", "READS", "ORIGINALS", "BASE64"]);
    for row in &rows {
        let mut cells = vec![count(row.sessions).into()];
        cells.extend(figures(&row.storage));
        cells.push(Cell::new(style::PROJECT, row.project.as_deref().unwrap_or("unknown")));
        table.push_all(cells);
    }
    print(run, &table)
}

/// What the archive takes, or how to get one.
fn archive(run: &mut Run, report: &Report) -> Result<(), CliError> {
    let store = run.recount.store()?;
    if !store.exists() {
        let all = size(report.total.all.bytes);
        run.talk.note(format!("`recount sync` would keep these {all} in an archive, compressed"));
        return Ok(());
    }
    let status = store.archive(Access::Read)?.status()?;
    let (archive, sources) = (store.sizes().archive, status.bytes_all);
    head(run, "Archive")?;
    Ok(run.out.line(&format!(
        "{} of {} kept in {}, {} less",
        size(sources),
        counted(status.files as usize, "file"),
        size(archive),
        percent(sources.saturating_sub(archive), sources)
    ))?)
}

fn json(run: &mut Run, report: &Report, side: &Side, by: Option<By>) -> Result<(), CliError> {
    if by.is_none() {
        run.out.json(&wire::StorageTotal::new(report))?;
        for part in wire::parts(report) {
            run.out.json(&part)?;
        }
        for (kind, (files, bytes)) in side {
            run.out.json(&wire::StorageSide { kind, files: *files, bytes: *bytes })?;
        }
    }
    if by != Some(By::Project) {
        for session in &report.sessions {
            run.out.json(&wire::StorageSession::from(session))?;
        }
    }
    if by != Some(By::Session) {
        for project in &report.projects() {
            run.out.json(&wire::StorageProject::from(project))?;
        }
    }
    let store = run.recount.store()?;
    if by.is_none() && store.exists() {
        let status = store.archive(Access::Read)?.status()?;
        run.out.json(&wire::StorageArchive {
            files: status.files,
            bytes: status.bytes_all,
            archive_bytes: store.sizes().archive,
        })?;
    }
    Ok(())
}

//! `recount clean`: a copy of sessions without what makes them large.
//!
//! Only values are left out, and every other byte of a line stays (`transcript::bulk`); lines without
//! such values, damaged lines and all files beside the transcripts are copied as they are. The
//! source is only ever read. No file is replaced: each copy is written beside its place and moved
//! there, so that there is never half of one.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use report::storage::Share;
use store::folder::create_private;
use transcript::bulk::{self, Bulk, BulkKind, Choice, far};
use transcript::id::SessionId;
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::library::Library;
use transcript::line::LineReader;
use transcript::source::Source;

use super::restore::is_there;
use super::short;
use crate::error::{Answer, CleanError, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, percent, size};
use crate::terminal::progress::Progress;
use crate::terminal::safe;
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::clean::CleanedFile;
use ask::name::SessionName;

/// Copy sessions without base64, files before edits and double reads.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount clean 3f2a --dry-run                 what a copy would save; nothing is written
  recount clean 3f2a --to small                the copy, with subagents, below a new folder
  recount clean 3f2a 77b0 --to small --keep-base64   with the images
  recount show small/projects/*/3f2a*.jsonl    to read it there

Left out are images and documents in base64 (a note of their type and size stays), the whole
file before each edit (the patch stays), the text of a read where it also stands in the
message, and Claude Code's own copies of the system prompt (`prompt_snapshot`; recorded requests
stay, so that `recount request` still works). Everything else is the same, byte for byte. Copies are to be read and sent, not to be
resumed: without its images the API takes a conversation no more. The source is never touched
and no file is ever replaced.")]
pub struct CleanArgs {
    /// The sessions: an id, the beginning of one, `latest`, `.`, a path
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<SessionName>,

    /// Write below this folder
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    to: Option<PathBuf>,

    /// Keep images and documents
    #[arg(long)]
    keep_base64: bool,

    /// Keep the file before each edit
    #[arg(long)]
    keep_original_file: bool,

    /// Keep the text of reads
    #[arg(long)]
    keep_reads: bool,

    /// Keep Claude Code's own copies of the system prompt
    #[arg(long)]
    keep_snapshots: bool,

    /// Only say what would be left out
    #[arg(long)]
    dry_run: bool,
}

/// A file of a session, and where its copy goes below the folder.
struct Item {
    session: String,
    found: Found,
    rel: PathBuf,
}

impl Item {
    fn is_cleaned(&self) -> bool {
        matches!(self.found.kind, FileKind::Session { .. } | FileKind::Agent { .. })
    }
}

/// What was left out of a file: bytes before and after, and each kind as in
/// [`report::storage::Storage`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Cleaned {
    /// Its bytes.
    pub all: Share,
    /// What was left out, in the order of [`BulkKind::ALL`].
    pub bulk: [Share; 4],
}

impl Cleaned {
    fn removed(&mut self, bulk: &Bulk<'_>) {
        let left = bulk.bytes.saturating_sub(bulk.saves());
        self.bulk[bulk.kind as usize].add(bulk.bytes, left);
        self.all.clean -= bulk.saves().min(self.all.clean);
    }

    fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.bulk.iter_mut().zip(other.bulk).for_each(|(sum, more)| *sum += more);
    }
}

/// Writes the copies, or says what they would save.
pub fn run(args: &CleanArgs, run: &mut Run) -> Result<Answer, CliError> {
    let choice = Choice {
        base64: !args.keep_base64,
        original_file: !args.keep_original_file,
        reads: !args.keep_reads,
        snapshots: !args.keep_snapshots,
    };
    let items = items(run, &args.sessions)?;
    let to = args.to.as_deref().filter(|_| !args.dry_run);
    let to = to.map(|to| std::path::absolute(to).map_err(|error| failed(to, error))).transpose()?;
    if let Some(to) = &to {
        check(run, to, &items)?;
    }
    let bytes = items.iter().map(|item| item.found.size).sum();
    let progress = Progress::new(run.is_quiet(), items.len(), bytes);
    let mut cleaned = Vec::with_capacity(items.len());
    for item in &items {
        cleaned.push(match &to {
            Some(to) => write(item, &to.join(&item.rel), choice)?,
            None => copy(item, choice, &item.found.path, &mut io::sink())?,
        });
        progress.step(item.found.size);
    }
    drop(progress);
    match run.json {
        true => json(run, &items, &cleaned, to.as_deref())?,
        false => print(run, &items, &cleaned, to.as_deref())?,
    }
    Ok(Answer::Found)
}

/// The files of all sessions that were named, each once.
fn items(run: &mut Run, names: &[SessionName]) -> Result<Vec<Item>, CliError> {
    let is_path = |name: &SessionName| matches!(name, SessionName::Path(_));
    let library = match names.iter().all(is_path) {
        true => Library::default(),
        false => run.recount.all_sessions()?,
    };
    // What is damaged is copied as it is.
    run.recount.observed.forget_damage();
    let mut items: BTreeMap<PathBuf, Item> = BTreeMap::new();
    for name in names {
        let found = match name {
            SessionName::Path(path) => lone(path)?,
            name => {
                let id = run.recount.identify_session(name, &library)?;
                known(run, &library, &id)?
            }
        };
        for item in found {
            match items.get(&item.rel) {
                Some(there) if there.found.path != item.found.path => {
                    return Err(CleanError::Twice(item.rel).into());
                }
                _ => items.insert(item.rel.clone(), item),
            };
        }
    }
    Ok(items.into_values().collect())
}

/// A transcript that was pointed at, and the folder of the same name beside it.
fn lone(path: &Path) -> Result<Vec<Item>, CliError> {
    let found = Found::lone(path)?;
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let (name, folder) = (found.rel.clone(), path.with_extension(""));
    let mut items = Vec::new();
    if matches!(found.kind, FileKind::Session { .. }) && folder.is_dir() {
        for found in layout::walk(&folder).files {
            let below = found.path.strip_prefix(&folder).unwrap_or(&found.rel).to_path_buf();
            let rel = name.with_extension("").join(below);
            items.push(Item { session: stem.clone(), rel, found });
        }
    }
    let kind = match found.kind {
        // Whatever it is called: it was named as a session.
        FileKind::Agent { .. } | FileKind::Session { .. } => found.kind,
        _ => FileKind::Session { project_slug: "-".into(), session: SessionId::new(stem.as_str()) },
    };
    items.push(Item { session: stem, rel: name, found: Found { kind, ..found } });
    Ok(items)
}

/// The files of a session: its transcript, those of its subagents, and what lies in its folder.
fn known(run: &mut Run, library: &Library, id: &SessionId) -> Result<Vec<Item>, CliError> {
    let item = library.session(id.as_str()).expect("it was found in the library");
    let own = item.file.into_iter().chain(item.agents.iter().filter_map(|agent| agent.file));
    let mut found: Vec<Found> = own.map(|file| library.cards[file].found.clone()).collect();
    let in_folder = |kind: &FileKind| {
        kind.session() == Some(id)
            && kind.project_slug().is_some()
            && !matches!(kind, FileKind::Session { .. } | FileKind::SetAside { .. })
    };
    for root in run.recount.claude_roots()? {
        let walk = layout::session_files(&root, id);
        walk.problems.into_iter().for_each(|problem| run.talk.skip(problem));
        let kept = run.recount.archived_files(&root, &walk.files, in_folder)?;
        found.extend(walk.files.into_iter().chain(kept).filter(|found| in_folder(&found.kind)));
    }
    if !item.found_in.is_empty() {
        let entries: usize = item.found_in.iter().map(|(_, entries)| entries).sum();
        let entries = if entries == 1 { "1 entry".into() } else { format!("{entries} entries") };
        let id = short(id.as_str());
        run.talk.note(format!("{entries} of {id} in files of other sessions left out"));
    }
    let session = id.to_string();
    Ok(found
        .into_iter()
        .map(|found| Item { session: session.clone(), rel: found.rel.clone(), found })
        .collect())
}

/// Nothing is begun that could not be ended.
fn check(run: &mut Run, to: &Path, items: &[Item]) -> Result<(), CliError> {
    if run.recount.is_below_claude(to, None) {
        return Err(CleanError::InClaude(to.into()).into());
    }
    match items.iter().map(|item| to.join(&item.rel)).find(|target| is_there(target)) {
        Some(target) => Err(CleanError::Exists(target).into()),
        None => Ok(()),
    }
}

fn failed(path: &Path, error: io::Error) -> CliError {
    CleanError::Write { path: path.into(), error }.into()
}

fn write(item: &Item, target: &Path, choice: Choice) -> Result<Cleaned, CliError> {
    let failed = |error| failed(target, error);
    let folder = target.parent().unwrap_or(target);
    create_private(folder).map_err(failed)?;
    let new = tempfile::Builder::new().prefix(".recount-").tempfile_in(folder).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, new);
    let cleaned = copy(item, choice, target, &mut out)?;
    let new = out.into_inner().map_err(|error| failed(error.into_error()))?;
    let since = item.found.modified.map(|time| time.0.try_into().unwrap_or(0));
    if let Some(since) = since.map(Duration::from_millis) {
        new.as_file().set_modified(SystemTime::UNIX_EPOCH + since).map_err(failed)?;
    }
    new.as_file().sync_all().map_err(failed)?;
    let length = new.as_file().metadata().map_err(failed)?.len();
    // Fails if a file has come into being meanwhile.
    new.persist_noclobber(target).map_err(|error| failed(error.error))?;
    match length == cleaned.all.clean {
        true => Ok(cleaned),
        false => Err(CleanError::Differs(target.into()).into()),
    }
}

/// Copies a file to `out`, which is at `target`: a transcript cleaned, any other as it is.
fn copy(
    item: &Item,
    choice: Choice,
    target: &Path,
    out: &mut impl Write,
) -> Result<Cleaned, CliError> {
    let source = item.found.open()?;
    if item.is_cleaned() {
        return clean(&source, choice, target, out);
    }
    let bytes = io::copy(&mut source.reader(0), out).map_err(|error| failed(target, error))?;
    Ok(Cleaned { all: Share { items: 1, bytes, clean: bytes }, ..Cleaned::default() })
}

fn clean(
    source: &Source,
    choice: Choice,
    target: &Path,
    out: &mut impl Write,
) -> Result<Cleaned, CliError> {
    let unread = |error| CliError::Read(Problem::new(source.path(), error));
    let mut cleaned = Cleaned { all: Share { items: 1, ..Share::default() }, ..Cleaned::default() };
    let mut reader = LineReader::new(source.reader(0), 0);
    let mut copy = Vec::new();
    while let Some(line) = reader.next_line().map_err(unread)? {
        cleaned.all += Share { items: 0, bytes: line.length, clean: line.length };
        if line.is_condensed() {
            let again = || source.reader(line.offset).take(line.length);
            let bulk = far::of_condensed(line, again()).map_err(unread)?;
            far::clean(again(), &bulk, choice, out).map_err(|error| failed(target, error))?;
            let removed = bulk.iter().map(|(_, bulk)| bulk);
            removed.filter(|bulk| choice.takes(bulk.kind)).for_each(|bulk| cleaned.removed(bulk));
            continue;
        }
        copy.clear();
        bulk::clean_line(line, choice, &mut copy).iter().for_each(|bulk| cleaned.removed(bulk));
        out.write_all(&copy).map_err(|error| failed(target, error))?;
    }
    out.flush().map_err(|error| failed(target, error))?;
    Ok(cleaned)
}

fn json(
    run: &mut Run,
    items: &[Item],
    cleaned: &[Cleaned],
    to: Option<&Path>,
) -> Result<(), CliError> {
    for (item, cleaned) in items.iter().zip(cleaned) {
        let [base64, original_file, reads, snapshots] = cleaned.bulk;
        run.out.json(&CleanedFile {
            session: &item.session,
            kind: item.found.kind.name(),
            source: item.found.path.display().to_string(),
            path: to.map(|to| to.join(&item.rel).display().to_string()),
            bytes: cleaned.all.bytes,
            clean_bytes: cleaned.all.clean,
            base64_items: base64.items,
            base64_bytes: base64.bytes,
            original_file_items: original_file.items,
            original_file_bytes: original_file.bytes,
            read_items: reads.items,
            read_bytes: reads.bytes,
            snapshot_items: snapshots.items,
            snapshot_bytes: snapshots.bytes,
        })?;
    }
    Ok(())
}

fn print(
    run: &mut Run,
    items: &[Item],
    cleaned: &[Cleaned],
    to: Option<&Path>,
) -> Result<(), CliError> {
    let mut sessions: BTreeMap<&str, Cleaned> = BTreeMap::new();
    let mut total = Cleaned::default();
    for (item, cleaned) in items.iter().zip(cleaned) {
        sessions.entry(&item.session).or_default().add(cleaned);
        total.add(cleaned);
    }
    let mut table = Table::new(&[
        Column::Left("SESSION"),
        Column::Right("FILES"),
        Column::Right("BEFORE"),
        Column::Right("AFTER"),
        Column::Right("SAVED"),
    ]);
    for (session, Cleaned { all, .. }) in sessions {
        table.push([
            Cell::new(style::NAME, &short(session)),
            count(all.items).into(),
            size(all.bytes).into(),
            size(all.clean).into(),
            percent(all.saved(), all.bytes).into(),
        ]);
    }
    lines(run, &table)?;
    run.out.line("")?;
    let mut table =
        Table::new(&[Column::Left("LEFT OUT"), Column::Right("ITEMS"), Column::Right("BYTES")]);
    for (kind, share) in BulkKind::ALL.into_iter().zip(total.bulk) {
        table.push([words(kind).into(), count(share.items).into(), size(share.bytes).into()]);
    }
    lines(run, &table)?;
    let files = counted(items.len(), "file");
    match to {
        Some(to) => {
            let place = safe::line(&to.display().to_string());
            run.talk.note(format!("{files} written below {place}; the sources are as they were"));
        }
        None => run.talk.note(format!("{files} read, nothing written: `--to DIR` writes them")),
    }
    Ok(())
}

fn words(kind: BulkKind) -> &'static str {
    match kind {
        BulkKind::Base64 => "base64",
        BulkKind::OriginalFile => "files before edits",
        BulkKind::Read => "double reads",
        BulkKind::Snapshot => "prompt snapshots",
    }
}

fn lines(run: &mut Run, table: &Table) -> Result<(), CliError> {
    Ok(run.out.table(table)?)
}

//! What the archive has and the catalog has not: read, remembered and indexed.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use hashbrown::{HashMap, HashSet};
use transcript::layout::{FileKind, Found};
use transcript::library::Card;
use transcript::line::LineReader;
use transcript::parallel::{WorkQueue, work_and_listen};
use transcript::reading::EntryReading;
use transcript::session::{Node, Options};
use transcript::time::Time;
use transcript::usage::{self, Claims};
use zstd::zstd_safe::CCtx;

use super::{Patience, Report, SyncError, Walked, Watch};
use crate::archive::{Archive, ArchiveError, FileRow, PACK_SIZE, Stat};
use crate::catalog::{self, Catalog, Places, Shape, Transcript};
use crate::folder::Store;
use crate::index::{Doc, Index, IndexState, IndexWriter, WriterOptions};
use crate::query::Role;
use crate::text;

/// A part of an entry, on its way to the index.
struct OwnedDoc {
    entry: u32,
    turn: u32,
    role: Role,
    time: Option<Time>,
    tool: Option<String>,
    path: Option<String>,
    is_error: bool,
    text: String,
}

/// What a worker has to say.
enum Said {
    /// Words of a file, `true` before the first if what the index has of it is wrong.
    Docs(i64, bool, Vec<OwnedDoc>),
    /// A part of what is known of a file.
    State(i64, usize, Vec<u8>),
    /// A file of the list has been read.
    Done(usize, Option<Box<Transcript>>),
    /// It could not be.
    Failed(SyncError),
}

/// Words are handed on in parcels of about this size.
const PARCEL: usize = 1 << 20;

/// What has been read is written after so many bytes.
const COMMIT: u64 = 256 << 20;

/// Files with more than this are read before all others.
const LARGE: u64 = 64 << 20;

/// Reads what the catalog does not know, and joins all sessions if anything has changed.
pub(super) fn derive(
    store: &Store,
    archive: &Archive,
    rows: &[FileRow],
    homes: &[Walked<'_>],
    patience: &Patience,
    watch: &dyn Watch,
    report: &mut Report,
) -> Result<(), SyncError> {
    let mut catalog = Catalog::open(store.folder())?;
    let (index, indexed) = open_index(store, catalog.edition()?)?;
    let known: HashMap<i64, catalog::FileRow> =
        catalog.files()?.into_iter().map(|row| (row.id, row)).collect();
    let mut todo: Vec<Todo> =
        rows.iter().filter_map(|row| Todo::of(row, &known, indexed)).collect();
    // Large ones first: one that is begun last is read by one thread while the others wait. The
    // others as they were kept: neighbours share a pack, and it is unpacked once for them.
    todo.sort_by_key(|todo| {
        let new = todo.row.size - todo.from();
        std::cmp::Reverse(if new < LARGE { 0 } else { new })
    });
    let from = state_of(rows);
    if todo.is_empty() && catalog.joined()? == from {
        return Ok(());
    }
    let bytes: u64 = todo.iter().map(|todo| todo.row.size - todo.from()).sum();
    patience.allows(bytes)?;
    let options = match bytes < 8 << 20 {
        true => WriterOptions::SMALL,
        false => WriterOptions::default(),
    };
    let mut writer = index.writer(options)?;
    watch.begin(todo.len(), bytes);
    read_all(store, archive.path(), &todo, &mut catalog, &mut writer, watch, report)?;
    let edition = {
        let write = catalog.write()?;
        write.join(transcripts(homes, rows, store)?, from, patience.now)?;
        super::ghost::update(&write, archive, rows, indexed, &mut writer)?;
        super::claims::update(&write, archive, rows)?;
        write.commit()?
    };
    writer.commit(edition)?;
    Ok(writer.finish()?)
}

/// The index, and the edition of the catalog it was made from. One of a later edition than there
/// is was made from a catalog that is lost, and what is in it can't be told.
fn open_index(store: &Store, edition: u64) -> Result<(Box<Index>, u64), SyncError> {
    if let IndexState::Ready(index) = Index::open(store.folder())? {
        let indexed = index.generation()?.unwrap_or(0);
        if indexed <= edition {
            return Ok((index, indexed));
        }
    }
    Ok((Box::new(Index::create(store.folder())?), 0))
}

/// Names, places and lengths of all files as one number: sessions have to be joined again when
/// any of them is another one, also if that was noticed by a sync that did not come to its end.
fn state_of(rows: &[FileRow]) -> u64 {
    let mut hash = blake3::Hasher::new();
    for row in rows {
        for name in [&*row.home, &row.rel] {
            hash.update(&name.len().to_le_bytes()).update(name);
        }
        let Stat { device, inode, .. } = row.stat;
        let (file, generation) = (row.file.0.cast_unsigned(), row.generation.0.cast_unsigned());
        for number in [file, generation, row.size, row.gone.into(), device, inode] {
            hash.update(&number.to_le_bytes());
        }
    }
    let bytes = hash.finalize();
    let bytes = bytes.as_bytes().first_chunk().expect("eight of 32 bytes");
    u64::from_le_bytes(*bytes)
}

/// A file to read, and what is known of it.
struct Todo {
    row: FileRow,
    /// As what it is read; `None` if it is no transcript.
    read_as: Option<String>,
    /// How much of this generation has been read.
    known: Option<u64>,
    /// It is no transcript, but something of it is in the catalog or in the index.
    is_forgotten: bool,
    /// What the index has of it is not what the catalog says.
    is_unindexed: bool,
}

impl Todo {
    fn of(row: &FileRow, known: &HashMap<i64, catalog::FileRow>, indexed: u64) -> Option<Self> {
        let read_as = read_as(&row.rel);
        let before = known.get(&row.file.0);
        let same = before.filter(|b| b.generation == row.generation.0 && b.read_as == read_as);
        let is_unindexed = before.is_some_and(|before| before.edition > indexed);
        let was_read = before.is_some_and(|before| before.read_as.is_some());
        let is_forgotten = read_as.is_none() && (was_read || is_unindexed);
        if !is_unindexed && same.is_some_and(|before| before.size == row.size) {
            return None;
        }
        let known = same.map(|before| before.size);
        Some(Self { row: row.clone(), read_as, known, is_forgotten, is_unindexed })
    }

    fn rel(&self) -> PathBuf {
        crate::archive::path_of(&self.row.rel)
    }

    /// Where reading begins, as far as one can tell without looking.
    fn from(&self) -> u64 {
        if self.is_unindexed { 0 } else { self.known.unwrap_or(0).min(self.row.size) }
    }
}

/// What a transcript's name says of what is read in it.
fn read_as(rel: &[u8]) -> Option<String> {
    match transcript::layout::classify(&crate::archive::path_of(rel)) {
        FileKind::Session { session, .. } => Some(format!("session {}", session.as_str())),
        FileKind::Agent { .. } => Some("agent".into()),
        _ => None,
    }
}

fn is_transcript(kind: &FileKind) -> bool {
    matches!(kind, FileKind::Session { .. } | FileKind::Agent { .. })
}

fn read_all(
    store: &Store,
    archive: &Path,
    todo: &[Todo],
    catalog: &mut Catalog,
    writer: &mut IndexWriter,
    watch: &dyn Watch,
    report: &mut Report,
) -> Result<(), SyncError> {
    let threads = rayon::current_num_threads().min(todo.len()).max(1);
    let runs = runs(todo, threads);
    let worker = |queue: &WorkQueue<'_, Range<usize>>, say: &mpsc::SyncSender<Said>| {
        let ask = || queue.take_next().map(|(_, run)| run.clone());
        if let Err(error) = worker(store, archive, todo, ask, say) {
            // Nobody listens any more if another one failed first.
            let _ = say.send(Said::Failed(error));
        }
    };
    work_and_listen(&runs, 4, worker, |hear| listen(hear, todo, catalog, writer, watch, report))
}

fn listen(
    hear: mpsc::Receiver<Said>,
    todo: &[Todo],
    catalog: &mut Catalog,
    writer: &mut IndexWriter,
    watch: &dyn Watch,
    report: &mut Report,
) -> Result<(), SyncError> {
    let mut write = catalog.write()?;
    let mut since = 0;
    // Files of which parts are written, but not all: nothing is committed meanwhile.
    let mut open = 0;
    for said in hear {
        match said {
            Said::Docs(file, is_first, docs) => {
                if is_first {
                    writer.remove_file(file as u64);
                }
                for doc in &docs {
                    writer.add(doc.of(file))?;
                }
            }
            Said::State(file, part, data) => {
                open += usize::from(part == 0);
                write.state(file, part, &data)?;
            }
            Said::Done(at, read) => {
                let Todo { row, read_as, is_forgotten, .. } = &todo[at];
                write.file(row.file.0, row.generation.0, row.size, read_as.as_deref())?;
                if let Some(transcript) = read {
                    write.transcript(&transcript)?;
                    open -= 1;
                    report.read += 1;
                } else if *is_forgotten {
                    write.forget(row.file.0)?;
                    writer.remove_file(row.file.0 as u64);
                }
                watch.step(1, row.size);
                since += row.size;
                if since >= COMMIT && open == 0 {
                    let edition = write.commit()?;
                    writer.commit(edition)?;
                    write = catalog.write()?;
                    since = 0;
                }
            }
            Said::Failed(error) => return Err(error),
        }
    }
    write.commit().map(drop).map_err(Into::into)
}

impl OwnedDoc {
    fn of(&self, file: i64) -> Doc<'_> {
        Doc {
            file: file as u64,
            entry: self.entry,
            turn: self.turn,
            role: self.role,
            time: self.time,
            tool: self.tool.as_deref(),
            path: self.path.as_deref(),
            is_error: self.is_error,
            text: &self.text,
        }
    }
}

fn worker(
    store: &Store,
    archive: &Path,
    todo: &[Todo],
    ask: impl Fn() -> Option<Range<usize>>,
    say: &mpsc::SyncSender<Said>,
) -> Result<(), SyncError> {
    let archive = Archive::open(archive, crate::archive::Access::Read)?;
    let catalog = Catalog::open(store.folder())?;
    let mut context = CCtx::create();
    while let Some(run) = ask() {
        for at in run {
            let read = match todo[at].read_as {
                Some(_) => {
                    let from = (&archive, &catalog);
                    Some(Box::new(read(from, &todo[at], &mut context, say)?))
                }
                None => None,
            };
            if say.send(Said::Done(at, read)).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Neighbours that one thread reads, some packs of them at once: each thread unpacks for itself.
fn runs(todo: &[Todo], threads: usize) -> Vec<Range<usize>> {
    const PACKS: u64 = 4 * PACK_SIZE as u64;
    let new = |todo: &Todo| todo.row.size - todo.from();
    let all: u64 = todo.iter().map(new).sum();
    let most = PACKS.min(all / (4 * threads as u64));
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, todo) in todo.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if bytes < most => run.end = at + 1,
            _ => {
                runs.push(at..at + 1);
                bytes = 0;
            }
        }
        bytes += new(todo);
    }
    runs
}

/// Reads what is new of a transcript.
fn read(
    (archive, catalog): (&Archive, &Catalog),
    todo: &Todo,
    context: &mut CCtx<'static>,
    say: &mpsc::SyncSender<Said>,
) -> Result<Transcript, SyncError> {
    let file = todo.row.file.0;
    let generation = todo.row.generation.0;
    let known = match todo.known.is_some() && !todo.is_unindexed {
        true => catalog.state(file)?.zip(catalog.claims_of(generation)?),
        false => None,
    };
    let is_grown = known.is_some();
    let (mut builder, mut claims) = known.unwrap_or_default();
    let is_prompt = |node: &Node| node.role.is_person();
    // Counted in the order of the file: that never changes, while the way through it may.
    let mut turn = builder.nodes().iter().filter(|node| is_prompt(node)).count() as u32;
    let mut parcel = Parcel { file, is_first: !is_grown, docs: Vec::new(), size: 0, say };
    let (from, rel) = (builder.consumed(), todo.rel());
    builder.expect(todo.row.size.saturating_sub(from));
    let content = archive.content_from(todo.row.generation, from);
    let mut lines = LineReader::new(content, from);
    let spills = text::Spills::of(archive, &todo.row);
    let (mut odd, path) = (Vec::new(), archive.path());
    let failed = |source| ArchiveError::Io { path: path.to_path_buf(), source };
    while let Some(line) = lines.next_line().map_err(failed)? {
        let first = builder.nodes().len();
        let is_claim = usage::is_marked(line.bytes);
        builder.line(line);
        let mut at = first;
        EntryReading::each_in_line(line, &mut odd, |entry| {
            if is_claim {
                claims.take_reading(&entry);
            }
            if let Some(node) = builder.nodes().get(at) {
                turn += u32::from(is_prompt(node));
                for part in text::parts(&builder, node, &entry) {
                    parcel.add(node, turn, spills.add_to(part));
                }
            }
            at += 1;
        });
        odd.clear();
        parcel.send_if(PARCEL);
    }
    parcel.send_if(0);
    let found = found(&rel, todo.row.size);
    // Packed one after the other: of a file of gigabytes each is large. Only claims that carry
    // other ids have to wait for the session.
    let is_mixed = found.stem().is_some_and(|id| claims.has_other_sessions(id));
    let pack_claims = |context: &mut CCtx<'static>, claims: Claims| {
        catalog::packed(context, |out| claims.save(out))
    };
    let (packed, unassigned) = match is_mixed {
        true => (Vec::new(), Some(claims)),
        false => (pack_claims(context, claims), None),
    };
    let give = |part, data| drop(say.send(Said::State(file, part, data)));
    let parts = catalog::packed_parts(context, |out| builder.save(out), give);
    let session = builder.finish(&Options { stem: found.stem(), copies: None });
    let claims = match unassigned {
        Some(mut claims) => {
            claims.assign_to(&session);
            pack_claims(context, claims)
        }
        None => packed,
    };
    let (touches, commits, prs) = catalog::rows(&session);
    let (shape, places) = (Shape::of(&session).save(), Places::of(&session).save());
    let card = Card::of(found, &session).save();
    let size = todo.row.size;
    Ok(Transcript {
        file,
        generation,
        size,
        claims,
        parts,
        card,
        shape,
        places,
        touches,
        commits,
        prs,
    })
}

/// Words on their way to the index.
struct Parcel<'a> {
    file: i64,
    is_first: bool,
    docs: Vec<OwnedDoc>,
    size: usize,
    say: &'a mpsc::SyncSender<Said>,
}

impl Parcel<'_> {
    fn add(&mut self, node: &Node, turn: u32, part: text::Part<'_>) {
        self.size += part.text.len();
        self.docs.push(OwnedDoc {
            entry: node.number,
            turn,
            role: part.role,
            time: node.time(),
            tool: part.tool.map(|tool| tool.into_owned()),
            path: part.path.map(|path| path.into_owned()),
            is_error: part.is_error,
            text: part.text.into_owned(),
        });
    }

    fn send_if(&mut self, least: usize) {
        if self.size < least || (self.docs.is_empty() && !self.is_first) {
            return;
        }
        let docs = std::mem::take(&mut self.docs);
        self.size = 0;
        // Nobody listens any more if another one failed first.
        let _ = self.say.send(Said::Docs(self.file, self.is_first, docs));
        self.is_first = false;
    }
}

/// The transcripts, as they are on disk or as they are kept.
pub(super) fn transcripts(
    homes: &[Walked<'_>],
    rows: &[FileRow],
    store: &Store,
) -> Result<Vec<(i64, Found)>, SyncError> {
    let mut here: HashMap<(&[u8], &[u8]), &Found> = HashMap::new();
    for home in homes {
        let root = home.root.as_os_str().as_encoded_bytes();
        for found in &home.walk.files {
            here.insert((root, found.rel.as_os_str().as_encoded_bytes()), found);
        }
    }
    let mut elsewhere: HashSet<&[u8]> = HashSet::new();
    let mut all: Vec<(i64, Found)> = Vec::new();
    for row in rows {
        match here.get(&(&*row.home, &*row.rel)) {
            Some(found) if is_transcript(&found.kind) => all.push((row.file.0, (*found).clone())),
            Some(_) => {}
            None => drop(elsewhere.insert(&row.home)),
        }
    }
    for home in elsewhere {
        let root = crate::archive::path_of(home);
        let is_here = |rel: &Path| here.contains_key(&(home, rel.as_os_str().as_encoded_bytes()));
        let ids: HashMap<PathBuf, i64> = rows
            .iter()
            .filter(|row| *row.home == *home)
            .map(|row| (crate::archive::path_of(&row.rel), row.file.0))
            .collect();
        for found in super::kept_files(store, &root, |rel| !is_here(rel))? {
            if is_transcript(&found.kind) {
                all.extend(ids.get(&found.rel).map(|id| (*id, found.clone())));
            }
        }
    }
    Ok(all)
}

/// A file of which only the name and the length matter.
fn found(rel: &Path, size: u64) -> Found {
    Found::named(rel.to_path_buf(), size)
}

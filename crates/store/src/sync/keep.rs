//! Bytes into the archive.
//!
//! What a stat can't tell is checked before anything is written: a file that grew is read on only
//! if the end of what is kept still stands where it stood. Then one thread reads and fills packs,
//! all of them compress, and one transaction takes a round of packs; a stop or a crash loses no
//! more than that round.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, mpsc};

use hashbrown::{HashMap, HashSet};
use transcript::kept::{Keep, Kept};
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::source::Source;
use transcript::time::Time;

use super::plan::{self, Change, Seen};
use super::{Options, Patience, Report, SyncError, Walked, Watch, glance};
use crate::archive::path_of;
use crate::archive::{
    Access, Archive, ArchiveError, Batch, EDGE, EncodedPack, Ending, FileId, FileRow, GenerationId,
    PackBuilder, Room, SYNC_LEVEL, Stat,
};
use crate::folder::Store;
use crate::text;

/// So much is read at once.
const BLOCK: usize = 1 << 20;

const NANO: i64 = 1_000_000;

/// The files of one Claude folder as they were last seen.
pub(super) fn seen(rows: &[FileRow], root: &Path) -> Vec<Seen> {
    let root = root.as_os_str().as_encoded_bytes();
    let its = rows.iter().filter(|row| *row.home == *root);
    its.map(seen_row).collect()
}

/// A file as it was last seen.
pub fn seen_row(row: &FileRow) -> Seen {
    Seen {
        file: row.file.0,
        rel: path_of(&row.rel),
        size: row.size,
        modified: Some(Time(row.stat.mtime_ns / NANO)),
        inode: Some((row.stat.device, row.stat.inode)).filter(|inode| *inode != (0, 0)),
        is_unsure: row.stat.mtime_ns % NANO != 0,
        is_gone: row.gone,
    }
}

/// What is to be done in one Claude folder.
pub(super) fn changes(
    seen: &[Seen],
    home: &Walked<'_>,
    options: Options,
    has_debug_logs: bool,
) -> Vec<Change> {
    let is_kept = |kind: &FileKind| glance::is_kept(kind, has_debug_logs);
    let found: Vec<&Found> = home.walk.files.iter().filter(|f| is_kept(&f.kind)).collect();
    let unread: Vec<&PathBuf> = home.walk.problems.iter().map(|problem| &problem.path).collect();
    let is_listed = |seen: &Seen| {
        let path = home.root.join(&seen.rel);
        is_kept(&layout::classify(&seen.rel)) && !unread.iter().any(|dir| path.starts_with(dir))
    };
    let mut changes = plan::plan(seen, &found, is_listed);
    if options.full {
        let planned: HashSet<PathBuf> =
            changes.iter().filter_map(|c| Some(c.found()?.rel.clone())).collect();
        let by_rel: HashMap<&PathBuf, i64> = seen.iter().map(|s| (&s.rel, s.file)).collect();
        for found in found.into_iter().filter(|found| !planned.contains(&found.rel)) {
            changes
                .extend(by_rel.get(&found.rel).map(|file| Change::Differs(*file, found.clone())));
        }
    }
    changes
}

/// What has to be done for one file, once it is known what has happened to it.
struct Job {
    found: Found,
    home: PathBuf,
    /// The file's row in the archive.
    row: Option<FileRow>,
    what: What,
    /// Where reading begins.
    from: u64,
}

impl Job {
    /// Whether the archive knows it by another name.
    fn is_moved(&self) -> bool {
        self.row.as_ref().is_some_and(|row| row.rel != bytes_of(&self.found.rel))
    }
}

enum What {
    New,
    /// What is kept is the file's beginning.
    Append,
    /// So much of what is kept is the file's beginning.
    Replace(u64),
    /// Nothing to read.
    Restat,
}

/// Everything that is to be done.
pub(super) struct Work {
    /// The files as the archive has them before.
    pub(super) rows: Vec<FileRow>,
    jobs: Vec<Job>,
    gone: Vec<FileId>,
    now: Time,
    pub(super) report: Report,
    pub(super) problems: Vec<Problem>,
}

impl Work {
    /// Finds out what has happened.
    pub(super) fn new(
        archive: &Archive,
        homes: &[Walked<'_>],
        options: Options,
        has_debug_logs: bool,
        patience: &Patience,
    ) -> Result<Self, SyncError> {
        let rows = archive.files()?;
        let by_id: HashMap<i64, &FileRow> = rows.iter().map(|row| (row.file.0, row)).collect();
        let mut work = Self {
            rows: Vec::new(),
            jobs: Vec::new(),
            gone: Vec::new(),
            now: options.now,
            report: Report::default(),
            problems: Vec::new(),
        };
        let row_of = |change: &Change| change.file().and_then(|file| by_id.get(&file));
        let all: Vec<(&Walked<'_>, Vec<Change>)> = homes
            .iter()
            .map(|home| (home, changes(&seen(&rows, home.root), home, options, has_debug_logs)))
            .collect();
        let bytes = |change: &Change| change.bytes(row_of(change).map_or(0, |row| row.size));
        patience.allows(all.iter().flat_map(|(_, changes)| changes).map(bytes).sum())?;
        for (home, changes) in all {
            work.report.files += home.walk.files.len();
            for change in changes {
                let row = row_of(&change).map(|row| (*row).clone());
                match work.job(archive, home.root, change, row) {
                    Ok(job) => work.jobs.extend(job),
                    Err(Trouble::File(problem)) => work.problems.push(problem),
                    Err(Trouble::Archive(error)) => return Err(error.into()),
                }
            }
        }
        drop(by_id);
        work.rows = rows;
        Ok(work)
    }

    fn job(
        &mut self,
        archive: &Archive,
        home: &Path,
        change: Change,
        row: Option<FileRow>,
    ) -> Result<Option<Job>, Trouble> {
        let job = |what, from, found, row| Job { found, home: home.into(), row, what, from };
        let (change, row) = match (change, row) {
            (Change::Gone(file), _) => {
                self.gone.push(FileId(file));
                return Ok(None);
            }
            (Change::New(found), _) => return Ok(Some(job(What::New, 0, found, None))),
            (change, Some(row)) => (change, row),
            (_, None) => return Ok(None),
        };
        let is_sure = matches!(change, Change::Grown(..) | Change::Unsure(..) | Change::Moved(..));
        let is_unsure = matches!(change, Change::Unsure(..));
        let is_moved = matches!(change, Change::Moved(..));
        let Some(found) = change.found().cloned() else { return Ok(None) };
        let kept = row.size;
        if is_sure && self.ends_alike(archive, &found, &row)? {
            if is_unsure {
                // Once its time can be trusted it need not be looked into again.
                let is_sure_now = !plan::is_unsure(found.modified, self.now);
                return Ok(is_sure_now.then(|| job(What::Restat, found.size, found, Some(row))));
            }
            return Ok(Some(job(What::Append, kept, found, Some(row))));
        }
        if is_moved && !plan::is_renamed(&path_of(&row.rel), &found) {
            self.gone.push(row.file);
            return Ok(Some(job(What::New, 0, found, None)));
        }
        let source = found.open()?;
        let same = archive.common_prefix(row.generation, source.reader(0))?;
        self.report.bytes_read += found.size.min(kept);
        let what = match same == kept {
            true if found.size == kept => What::Restat,
            true => What::Append,
            false => What::Replace(same),
        };
        let from = match what {
            What::Restat => found.size,
            _ => same,
        };
        Ok(Some(job(what, from, found, Some(row))))
    }

    /// Whether the first and the last bytes that are kept still stand where they stood. What
    /// was changed between them, at the same length, only a full sync sees.
    fn ends_alike(
        &mut self,
        archive: &Archive,
        found: &Found,
        row: &FileRow,
    ) -> Result<bool, Trouble> {
        let length = row.size.min(EDGE as u64);
        if found.size < row.size {
            return Ok(false);
        }
        let start = row.size - length;
        let source = found.open()?;
        if start > 0 {
            let head = source.bytes(0, row.head.length as usize)?;
            self.report.bytes_read += head.len() as u64;
            if !row.head.is(&head) {
                return Ok(false);
            }
        }
        let bytes = source.bytes(start, length as usize)?;
        self.report.bytes_read += length;
        if bytes.len() as u64 != length {
            return Ok(false);
        }
        // The tail may be a newline only, if that was all that came last.
        let (before, tail) = bytes.split_at(bytes.len().saturating_sub(row.tail.length as usize));
        Ok(row.tail.is(tail)
            && (before.is_empty() || archive.read(row.generation, start, before.len())? == before))
    }

    /// Whether there is nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.gone.is_empty()
    }

    /// How many files there are to read.
    pub(super) fn files(&self) -> usize {
        self.jobs.len()
    }

    /// How many bytes there are to read.
    pub(super) fn bytes(&self) -> u64 {
        self.jobs.iter().map(|job| job.found.size.saturating_sub(job.from)).sum()
    }

    /// Does it.
    pub(super) fn run(
        &mut self,
        archive: &mut Archive,
        watch: &dyn Watch,
    ) -> Result<(), SyncError> {
        if self.is_idle() {
            return Ok(());
        }
        let jobs = std::mem::take(&mut self.jobs);
        let mut packer = Packer::default();
        let mut batch = archive.batch()?;
        // A name that a file has left may be taken by another one.
        let (moved, others): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(Job::is_moved);
        for job in moved.into_iter().chain(others) {
            self.report.is_stopped |= watch.is_stopped();
            if self.report.is_stopped {
                break;
            }
            let slot = self.start(&mut batch, &job, &mut packer)?;
            let mut reading = match GrowthReader::new(&job) {
                Ok(reading) => reading,
                Err(problem) => {
                    self.problems.push(problem);
                    continue;
                }
            };
            while let Some((offset, block)) = reading.next(&mut self.problems) {
                packer.add(&mut batch, slot, offset, block)?;
                self.report.bytes_read += block.len() as u64;
                self.report.bytes_kept += block.len() as u64;
                watch.step(0, block.len() as u64);
                if packer.since_commit >= COMMIT {
                    packer.flush(&mut batch)?;
                    batch.commit()?;
                    packer.since_commit = 0;
                    batch = archive.batch()?;
                }
            }
            watch.step(1, 0);
        }
        packer.flush(&mut batch)?;
        for file in &self.gone {
            batch.end(*file, Ending::Gone, self.now)?;
        }
        self.report.gone += self.gone.len();
        Ok(batch.commit()?)
    }

    /// Prepares the archive for the bytes of a job; gives the slot they go to.
    fn start(
        &mut self,
        batch: &mut Batch<'_>,
        job: &Job,
        packer: &mut Packer,
    ) -> Result<u64, SyncError> {
        let stat = stat(&job.found, self.now);
        let (home, rel) = (bytes_of(&job.home), bytes_of(&job.found.rel));
        if job.is_moved()
            && let Some(row) = &job.row
        {
            batch.rename(row.file, home, rel, self.now)?;
            self.report.moved += 1;
        }
        let generation = match (&job.what, &job.row) {
            (What::Replace(same), Some(row)) => {
                self.report.rewritten += 1;
                let generation = batch.begin_generation(row.file, &stat, self.now)?;
                batch.share(generation, row.generation, *same)?;
                generation
            }
            (_, Some(row)) => {
                match job.found.size > row.size {
                    true => self.report.grown += 1,
                    false => self.report.same += 1,
                }
                if row.gone {
                    batch.back(row.file)?;
                }
                batch.restat(row.generation, &stat)?;
                row.generation
            }
            (_, None) => {
                self.report.new += 1;
                let file = batch.file(home, rel)?;
                batch.begin_generation(file, &stat, self.now)?
            }
        };
        packer.generations.push(generation);
        Ok(packer.generations.len() as u64 - 1)
    }
}

/// So many bytes are lost at most when the power goes.
const COMMIT: u64 = 256 << 20;

/// Packs that are being filled, and whose bytes are in them. Full ones are compressed by all
/// cores while the next are filled, and written in the order in which they were filled.
#[derive(Default)]
struct Packer {
    generations: Vec<GenerationId>,
    open: PackBuilder,
    full: VecDeque<mpsc::Receiver<EncodedPack>>,
    /// For those that encode, as many as do at once.
    rooms: Arc<Mutex<Vec<Room>>>,
    since_commit: u64,
}

impl Packer {
    fn add(
        &mut self,
        batch: &mut Batch<'_>,
        slot: u64,
        mut offset: u64,
        mut bytes: &[u8],
    ) -> Result<(), ArchiveError> {
        self.since_commit += bytes.len() as u64;
        while !bytes.is_empty() {
            let taken = self.open.add(slot, offset, bytes);
            bytes = &bytes[taken..];
            offset += taken as u64;
            if self.open.is_full() {
                self.close();
                self.write(batch, 2 * rayon::current_num_threads())?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, batch: &mut Batch<'_>) -> Result<(), ArchiveError> {
        if !self.open.is_empty() {
            self.close();
        }
        self.write(batch, 0)
    }

    fn close(&mut self) {
        let pack = std::mem::take(&mut self.open);
        let (say, hear) = mpsc::sync_channel(1);
        let rooms = self.rooms.clone();
        rayon::spawn(move || {
            let room = rooms.lock().ok().and_then(|mut rooms| rooms.pop());
            let mut room = room.unwrap_or_default();
            // Nobody listens any more if writing has failed.
            let _ = say.send(pack.encode(SYNC_LEVEL, &mut room));
            if let Ok(mut rooms) = rooms.lock() {
                rooms.push(room);
            }
        });
        self.full.push_back(hear);
    }

    /// Writes packs until no more than `most` are on their way.
    fn write(&mut self, batch: &mut Batch<'_>, most: usize) -> Result<(), ArchiveError> {
        while self.full.len() > most
            && let Some(next) = self.full.pop_front()
        {
            let pack = next.recv().expect("encoding does not panic");
            batch.insert(&pack, |slot| self.generations[slot as usize])?;
        }
        Ok(())
    }
}

/// What is new of a file, block by block. It ends where the file ended when it was found: what
/// was written since is for the next time.
struct GrowthReader {
    source: Source,
    at: u64,
    end: u64,
    block: Vec<u8>,
}

impl GrowthReader {
    fn new(job: &Job) -> Result<Self, Problem> {
        let (at, end) = (job.from, job.found.size);
        Ok(Self { source: job.found.open()?, at, end, block: Vec::new() })
    }

    fn next(&mut self, problems: &mut Vec<Problem>) -> Option<(u64, &[u8])> {
        let length = BLOCK.min(usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(BLOCK));
        if length == 0 {
            return None;
        }
        match self.source.bytes(self.at, length) {
            Ok(block) if block.is_empty() => None,
            Ok(block) => {
                let at = self.at;
                self.at += block.len() as u64;
                self.block = block;
                Some((at, &self.block))
            }
            Err(problem) => {
                problems.push(problem);
                None
            }
        }
    }
}

/// Why a file could not be looked at.
enum Trouble {
    File(Problem),
    Archive(ArchiveError),
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::File(problem)
    }
}

impl From<ArchiveError> for Trouble {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error)
    }
}

/// A time that can't be trusted is marked below the millisecond, which is as fine as it gets.
fn stat(found: &Found, now: Time) -> Stat {
    let (device, inode) = found.inode.unwrap_or_default();
    let mark = i64::from(plan::is_unsure(found.modified, now));
    let mtime_ns = found.modified.map_or(0, |time| time.0 * NANO) + mark;
    Stat { device, inode, mtime_ns, created: found.created.map(|time| time.0) }
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// A file in the archive, read as if it were on disk.
struct ArchivedFile {
    archive: Arc<Mutex<Archive>>,
    neighbours: Arc<HomeFiles>,
    generation: GenerationId,
    size: u64,
}

/// The files of one home by their paths; sorted out when the first is asked for.
#[derive(Default)]
struct HomeFiles {
    rows: Option<Arc<[FileRow]>>,
    home: Vec<u8>,
    by_path: OnceLock<HashMap<PathBuf, (GenerationId, u64)>>,
}

impl HomeFiles {
    fn get(&self, rel: &Path) -> Option<(GenerationId, u64)> {
        let sort = || {
            let rows = self.rows.iter().flat_map(|rows| &**rows);
            let own = rows.filter(|row| *row.home == *self.home);
            own.map(|row| (path_of(&row.rel), (row.generation, row.size))).collect()
        };
        self.by_path.get_or_init(sort).get(rel).copied()
    }
}

impl Keep for ArchivedFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, out: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let archive = self.archive.lock().map_err(|_| std::io::Error::other("a reader failed"))?;
        let bytes = archive.read(self.generation, offset, out.len().min(BLOCK));
        let bytes = bytes.map_err(std::io::Error::other)?;
        out[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn beside(&self, rel: &Path) -> Option<Kept> {
        let (generation, size) = self.neighbours.get(rel)?;
        let (archive, neighbours) = (self.archive.clone(), self.neighbours.clone());
        Some(Kept::new(Self { archive, neighbours, generation, size }))
    }
}

/// An archive from which files are read as if they were on disk.
pub struct ArchiveReader {
    archive: Arc<Mutex<Archive>>,
    homes: Vec<Arc<HomeFiles>>,
}

impl ArchiveReader {
    /// Reads from `archive`, whose files are `rows`.
    pub fn new(archive: Archive, rows: Arc<[FileRow]>) -> Self {
        let homes: HashSet<&[u8]> = rows.iter().map(|row| &*row.home).collect();
        let of_home = |home: &[u8]| {
            let (rows, home) = (Some(rows.clone()), home.to_vec());
            Arc::new(HomeFiles { rows, home, by_path: OnceLock::new() })
        };
        let homes = homes.into_iter().map(of_home).collect();
        Self { archive: Arc::new(Mutex::new(archive)), homes }
    }

    /// A file as it is kept.
    pub fn found(&self, row: &FileRow) -> Found {
        let home = self.homes.iter().find(|files| *files.home == *row.home);
        let kept = Kept::new(ArchivedFile {
            archive: self.archive.clone(),
            neighbours: home.cloned().unwrap_or_default(),
            generation: row.generation,
            size: row.size,
        });
        Found {
            modified: Some(Time(row.stat.mtime_ns / NANO)),
            created: row.stat.created.map(Time),
            ..Found::kept(&path_of(&row.home), path_of(&row.rel), kept)
        }
    }
}

/// A file that is on disk as it was last seen, below a Claude folder that may have another name.
pub fn found_on_disk(row: &FileRow, root: &Path, rel: PathBuf) -> Found {
    Found {
        path: root.join(&rel),
        modified: Some(Time(row.stat.mtime_ns / NANO)),
        created: row.stat.created.map(Time),
        inode: Some((row.stat.device, row.stat.inode)).filter(|inode| *inode != (0, 0)),
        ..Found::named(rel, row.size)
    }
}

/// Files of one Claude folder as the archive keeps them, in the order of their paths.
pub fn kept_files(
    store: &Store,
    root: &Path,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<Found>, ArchiveError> {
    let archive = store.archive(Access::Read)?;
    let rows: Arc<[FileRow]> = archive.files()?.into();
    let reader = ArchiveReader::new(archive, rows.clone());
    let own = rows.iter().filter(|row| *row.home == *bytes_of(root));
    Ok(own.filter(|row| wanted(&path_of(&row.rel))).map(|row| reader.found(row)).collect())
}

/// A file of the archive to be read by place: on disk where it is still as it was kept, since that
/// need not be unpacked.
pub fn source_of(archive: &Arc<Mutex<Archive>>, row: &FileRow) -> Source {
    let path = row.path();
    let on_disk = text::on_disk(row, 0).and_then(|_| Source::open(&path).ok());
    on_disk.unwrap_or_else(|| {
        let kept = Kept::new(ArchivedFile {
            archive: archive.clone(),
            neighbours: Arc::default(),
            generation: row.generation,
            size: row.size,
        });
        Source::kept(&path, kept)
    })
}

//! The archive from outside: what was given comes back, whatever was done to it since.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rusqlite::Connection;
use store::archive::{
    Access, Archive, ArchiveError, Edge, Effort, Ending, FileId, GenerationId, Hash, PackBuilder,
    Room, Stat,
};
use transcript::time::Time;

const HOME: &[u8] = b"/home/someone/.claude";
const STAT: Stat = Stat { device: 7, inode: u64::MAX, mtime_ns: -5, created: Some(3) };

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("archive.db");
    Place { _folder: folder, path }
}

fn write(path: &Path) -> Archive {
    Archive::open(path, Access::Write).expect("opens")
}

fn read(path: &Path) -> Archive {
    Archive::open(path, Access::Read).expect("opens")
}

/// Lets a generation grow, with packs of `limit` bytes.
fn grow(archive: &mut Archive, generation: GenerationId, mut bytes: &[u8], limit: usize) {
    let mut offset = archive.size(generation).expect("is there");
    let mut batch = archive.batch().expect("begins");
    while !bytes.is_empty() {
        let mut builder = PackBuilder::new(limit);
        let taken = builder.add(3, offset, bytes);
        assert!(taken > 0);
        (offset, bytes) = (offset + taken as u64, &bytes[taken..]);
        batch.insert(&builder.encode(1, &mut Room::default()), |_| generation).expect("goes in");
    }
    batch.commit().expect("lasts");
}

fn begin(archive: &mut Archive, rel: &[u8], at: i64) -> (FileId, GenerationId) {
    let mut batch = archive.batch().expect("begins");
    let file = batch.file(HOME, rel).expect("a file");
    let generation = batch.begin_generation(file, &STAT, Time(at)).expect("a generation");
    batch.commit().expect("lasts");
    (file, generation)
}

fn whole(archive: &Archive, generation: GenerationId) -> Vec<u8> {
    let size = archive.size(generation).expect("is there");
    archive.read(generation, 0, size as usize).expect("reads")
}

/// Lines that compress, and differ.
fn text(lines: u32) -> Vec<u8> {
    let line = |n: u32| format!("{{\"uuid\":\"{n:08x}-1111-4222-8333-0123456789ab\",\"n\":{n}}}\n");
    (0..lines).flat_map(|n| line(n).into_bytes()).collect()
}

#[test]
fn a_file_is_kept_with_its_edges() {
    let place = place();
    let mut archive = write(&place.path);
    let (file, generation) = begin(&mut archive, b"projects/a\xff.jsonl", 10);
    let content = text(300);
    grow(&mut archive, generation, &content[..9000], 4000);
    grow(&mut archive, generation, &content[9000..], 4000);
    drop(archive);
    let archive = read(&place.path);
    let rows = archive.files().expect("reads");
    let [row] = &rows[..] else { panic!("one file") };
    assert_eq!((&*row.home, &row.rel[..]), (HOME, &b"projects/a\xff.jsonl"[..]));
    assert_eq!((row.file, row.generation, row.number, row.gone), (file, generation, 0, false));
    assert_eq!((row.size, row.stat), (content.len() as u64, STAT));
    assert!(row.head.is(&content[..row.head.length as usize]));
    assert!(row.tail.is(&content[content.len() - row.tail.length as usize..]));
    assert_eq!(whole(&archive, generation), content);
    for (offset, length) in [(0, 0), (0, 1), (3999, 2), (4100, 5000), (8999, 99_999), (1 << 40, 1)]
    {
        let from = content.len().min(offset);
        let to = content.len().min(offset + length);
        let read = archive.read(generation, offset as u64, length).expect("reads");
        assert_eq!(read, &content[from..to], "{offset} {length}");
    }
    let mut streamed = Vec::new();
    std::io::copy(&mut archive.content(generation), &mut streamed).expect("streams");
    assert_eq!(streamed, content);
}

#[test]
fn a_rewrite_keeps_what_was_there_and_shares_the_start() {
    let place = place();
    let mut archive = write(&place.path);
    let content = text(200);
    let (file, old) = begin(&mut archive, b"a", 1);
    grow(&mut archive, old, &content, 3000);
    let (_, new) = begin(&mut archive, b"a", 2);
    let mut batch = archive.batch().expect("begins");
    batch.share(new, old, 7001).expect("shares");
    batch.commit().expect("lasts");
    grow(&mut archive, new, b"other end", 3000);
    assert_eq!(whole(&archive, old), content);
    assert_eq!(whole(&archive, new), [&content[..7001], b"other end"].concat());
    let generations = archive.generations(file).expect("reads");
    let ended: Vec<_> = generations.iter().map(|g| (g.number, g.size, g.ended)).collect();
    let size = content.len() as u64;
    assert_eq!(ended, [(0, size, Some((Time(2), Ending::Replaced))), (1, 7010, None)]);
    assert_eq!(archive.files().expect("reads").len(), 1);
    for cut in [0, 1, 2999, 3000, 7001, 7002, 7010] {
        let mut source = whole(&archive, new);
        source.truncate(cut);
        source.extend_from_slice(b"\0more");
        let same = archive.common_prefix(new, &source[..]).expect("compares");
        assert_eq!(same, cut as u64);
        let same = archive.common_prefix(old, &source[..]).expect("compares");
        assert_eq!(same, cut.min(7001) as u64);
    }
}

#[test]
fn a_file_goes_comes_back_and_moves() {
    let place = place();
    let mut archive = write(&place.path);
    let (file, generation) = begin(&mut archive, b"a", 1);
    let (other, _) = begin(&mut archive, b"b", 1);
    grow(&mut archive, generation, b"text", 100);
    let gone = |archive: &Archive| archive.files().expect("reads")[0].gone;
    let mut batch = archive.batch().expect("begins");
    batch.end(file, Ending::Gone, Time(2)).expect("ends");
    batch.commit().expect("lasts");
    assert!(gone(&archive));
    let mut batch = archive.batch().expect("begins");
    batch.back(file).expect("is back");
    assert!(matches!(batch.rename(file, HOME, b"b", Time(3)), Err(ArchiveError::NameTaken)));
    drop(batch);
    assert!(gone(&archive), "a dropped batch leaves no trace");
    let mut batch = archive.batch().expect("begins");
    batch.back(file).expect("is back");
    batch.rename(file, b"/elsewhere", b"c", Time(3)).expect("moves");
    batch.commit().expect("lasts");
    let rows = archive.files().expect("reads");
    let names: Vec<_> = rows.iter().map(|row| (row.file, &row.home[..], &row.rel[..])).collect();
    assert_eq!(names, [(file, &b"/elsewhere"[..], &b"c"[..]), (other, HOME, &b"b"[..])]);
    let former = &archive.former_names(file).expect("reads")[0];
    assert_eq!((&former.home[..], &former.rel[..], former.until), (HOME, &b"a"[..], Time(3)));
    assert_eq!(whole(&archive, generation), b"text");
}

#[test]
fn known_bytes_are_not_stored_again() {
    let place = place();
    let mut archive = write(&place.path);
    let content = text(50);
    let (_, first) = begin(&mut archive, b"a", 1);
    grow(&mut archive, first, &content, 1 << 20);
    let size = content.len() as u64;
    let known = archive.known(&Hash::of(&content), size).expect("asks").expect("is there");
    assert_eq!(archive.known(&Hash::of(&content), 3).expect("asks"), None);
    let (_, copy) = begin(&mut archive, b"b", 1);
    let mut batch = archive.batch().expect("begins");
    batch.adopt(copy, 0, &known, &content).expect("takes over");
    let gap = batch.adopt(copy, 0, &known, &content);
    assert!(matches!(gap, Err(ArchiveError::Gap { offset: 0, .. })));
    batch.commit().expect("lasts");
    assert_eq!(whole(&archive, copy), content);
    let rows = archive.files().expect("reads");
    assert_eq!((rows[0].head, rows[0].tail), (rows[1].head, rows[1].tail));
    assert_eq!(rows[0].head, Edge::head(&content));
}

#[test]
fn a_reader_reads_while_another_writes() {
    let place = place();
    let mut archive = write(&place.path);
    let (_, generation) = begin(&mut archive, b"a", 1);
    grow(&mut archive, generation, b"one ", 100);
    let reader = archive.reader().expect("opens");
    let mut batch = archive.batch().expect("begins");
    let mut builder = PackBuilder::default();
    builder.add(0, 4, b"two");
    batch.insert(&builder.encode(1, &mut Room::default()), |_| generation).expect("goes in");
    assert_eq!(whole(&reader, generation), b"one ");
    batch.commit().expect("lasts");
    assert_eq!(whole(&reader, generation), b"one two");
    let moved = std::thread::spawn(move || whole(&reader, generation));
    assert_eq!(moved.join().expect("reads on another thread"), b"one two");
}

#[test]
fn what_is_no_archive_is_refused() {
    let place = place();
    let open = |access| Archive::open(&place.path, access);
    assert!(matches!(open(Access::Read), Err(ArchiveError::NotThere { .. })));
    fs::write(&place.path, "not a database at all, but long enough ".repeat(100)).expect("written");
    assert!(matches!(open(Access::Read), Err(ArchiveError::Damaged { .. })));
    assert!(matches!(open(Access::Write), Err(ArchiveError::Damaged { .. })));
    fs::remove_file(&place.path).expect("removed");
    let foreign = Connection::open(&place.path).expect("opens");
    foreign.execute_batch("CREATE TABLE a (b)").expect("made");
    drop(foreign);
    assert!(matches!(open(Access::Write), Err(ArchiveError::Damaged { .. })));
    fs::remove_file(&place.path).expect("removed");
    drop(write(&place.path));
    let connection = Connection::open(&place.path).expect("opens");
    connection.pragma_update(None, "user_version", 99).expect("set");
    drop(connection);
    for access in [Access::Read, Access::Write] {
        assert!(matches!(open(access), Err(ArchiveError::Newer { found: 99, .. })));
    }
}

/// As it was made before the times of files were kept.
#[test]
fn an_archive_without_the_times_of_files_is_read_and_written() {
    let place = place();
    let path = place.path.clone();
    let mut archive = write(&path);
    let (file, _) = begin(&mut archive, b"a.jsonl", 1);
    assert_eq!(archive.files().expect("lists")[0].stat, STAT);
    drop(archive);
    let db = Connection::open(&path).expect("opens");
    db.execute_batch("ALTER TABLE generation DROP COLUMN created").expect("is dropped");
    drop(db);
    let unknown = Stat { created: None, ..STAT };
    assert_eq!(read(&path).files().expect("lists")[0].stat, unknown);
    let mut archive = write(&path);
    assert_eq!(archive.file(file).expect("asks").expect("is there").stat, unknown);
    let mut batch = archive.batch().expect("begins");
    batch.begin_generation(file, &STAT, Time(2)).expect("begins");
    batch.commit().expect("commits");
    assert_eq!(read(&path).file(file).expect("asks").expect("is there").stat, STAT);
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let archive = write(&place.path);
    let folder = place.path.parent().expect("a folder");
    for entry in fs::read_dir(folder).expect("lists").flatten() {
        let mode = entry.metadata().expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", entry.path().display());
    }
    drop(archive);
}

/// A content with an image in base64, which becomes a payload.
fn with_payload(seed: u32) -> Vec<u8> {
    let letter =
        |n: u32| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"[(n.wrapping_mul(seed | 1) >> 9) as usize % 32];
    let image: Vec<u8> = (0..20_000).map(letter).collect();
    [&text(20)[..], b"{\"data\":\"", &image, b"\"}\n"].concat()
}

#[test]
fn many_small_packs_become_few() {
    let place = place();
    let mut archive = write(&place.path);
    let (_, a) = begin(&mut archive, b"a", 1);
    let (_, b) = begin(&mut archive, b"b", 1);
    let content = text(400);
    for part in content.chunks(content.len() / 40) {
        grow(&mut archive, a, part, 1 << 20);
        grow(&mut archive, b, part, 1 << 20);
    }
    let before = archive.status().expect("counts");
    assert!(before.packs > 80 && before.small_packs == before.packs);
    let stopped = archive.compact(Effort::Background, |_| (), || false).expect("compacts");
    assert_eq!((stopped.finished, stopped.written), (false, 0));
    let reader = archive.reader().expect("opens");
    assert_eq!(whole(&reader, a), content);
    let done = archive.compact(Effort::Background, |_| (), || true).expect("compacts");
    assert_eq!((done.finished, done.written, done.dropped), (true, 1, before.packs));
    let after = archive.status().expect("counts");
    assert_eq!(after.packs, 1);
    assert!(after.stored * 2 < before.stored, "{before:?} {after:?}");
    assert_eq!(archive.verify(|_| ()).expect("checks").pieces, 2, "pieces are joined");
    for archive in [&archive, &reader] {
        assert_eq!(whole(archive, a), content);
        assert_eq!(whole(archive, b), content);
    }
    let again = archive.compact(Effort::Background, |_| (), || true).expect("compacts");
    assert_eq!((again.written, again.dropped), (0, 0));
}

#[test]
fn a_full_compaction_keeps_shares_and_drops_the_rest() {
    let place = place();
    let mut archive = write(&place.path);
    let content = with_payload(77);
    let (_, old) = begin(&mut archive, b"a", 1);
    grow(&mut archive, old, &content, 5000);
    let (_, new) = begin(&mut archive, b"a", 2);
    let mut batch = archive.batch().expect("begins");
    batch.share(new, old, 6001).expect("shares");
    batch.commit().expect("lasts");
    grow(&mut archive, new, b"end", 5000);
    let before = archive.status().expect("counts");
    assert_eq!((before.bytes_all, before.bytes_current), (content.len() as u64 + 6004, 6004));
    let mut last = None;
    let done = archive.compact(Effort::Full, |p| last = Some(p), || true).expect("compacts");
    assert!(done.finished);
    let progress = last.expect("progress");
    assert_eq!((progress.done, progress.total), (content.len() as u64 + 3, progress.done));
    let after = archive.status().expect("counts");
    assert_eq!((after.packs, after.payloads), (1, 1));
    assert_eq!(whole(&archive, old), content);
    assert_eq!(whole(&archive, new), [&content[..6001], b"end"].concat());
    assert_eq!(archive.verify(|_| ()).expect("checks").damage, []);
    let again = archive.compact(Effort::Full, |_| (), || true).expect("compacts");
    assert_eq!((again.written, again.finished), (0, true));
}

#[test]
fn a_damaged_pack_does_not_stop_a_compaction_for_ever() {
    let place = place();
    let mut archive = write(&place.path);
    let (_, generation) = begin(&mut archive, b"a", 1);
    for _ in 0..40 {
        grow(&mut archive, generation, &text(3), 1 << 20);
    }
    drop(archive);
    let connection = Connection::open(&place.path).expect("opens");
    connection.execute("UPDATE pack SET data = x'00' WHERE id = 5", []).expect("damages");
    drop(connection);
    let mut archive = write(&place.path);
    for effort in [Effort::Background, Effort::Full] {
        let done = archive.compact(effort, |_| (), || true).expect("compacts");
        assert_eq!((done.written, done.dropped, done.skipped), (0, 0, 1));
    }
    assert_eq!(archive.verify(|_| ()).expect("checks").damage.len(), 1);
    let first = text(3);
    assert_eq!(archive.read(generation, 0, first.len()).expect("reads"), first);
}

#[test]
fn damage_is_found_by_reading_and_by_checking() {
    let damages = [
        ("UPDATE pack SET data = zeroblob(9) WHERE id = 2", "pack 2: ", true),
        ("UPDATE pack SET hash = zeroblob(16) WHERE id = 2", "another hash", true),
        ("UPDATE payload SET data = zeroblob(9)", "payload", true),
        ("DELETE FROM payload", "payload", true),
        ("DELETE FROM pack WHERE id = 2", "not there", true),
        ("UPDATE piece SET hash = zeroblob(16) WHERE \"offset\" > 0", "1 pieces", false),
        ("UPDATE piece SET length = length + 1 WHERE \"offset\" > 0", "1 pieces", false),
        ("UPDATE generation SET size = size + 1", "its pieces are not", true),
        ("DELETE FROM piece WHERE \"offset\" > 0", "its pieces are not", true),
    ];
    for (sql, detail, unreadable) in damages {
        let place = place();
        let mut archive = write(&place.path);
        let (_, generation) = begin(&mut archive, b"some/file", 1);
        grow(&mut archive, generation, &text(100), 1 << 20);
        grow(&mut archive, generation, &with_payload(5), 1 << 20);
        assert_eq!(archive.verify(|_| ()).expect("checks").damage, []);
        drop(archive);
        let connection = Connection::open(&place.path).expect("opens");
        connection.pragma_update(None, "foreign_keys", false).expect("set");
        connection.execute(sql, []).expect("damages");
        drop(connection);
        let archive = read(&place.path);
        let damage = archive.verify(|_| ()).expect("checks").damage;
        let named = damage.iter().any(|d| d.detail.contains(detail));
        assert!(named, "{sql}: {damage:?}");
        let size = archive.size(generation).expect("is there") as usize;
        let read = archive.read(generation, 0, size);
        assert_eq!(matches!(read, Err(ArchiveError::Damaged { .. })), unreadable, "{sql}");
    }
}

#[test]
fn a_damaged_page_is_damage_and_not_a_panic() {
    let place = place();
    let mut archive = write(&place.path);
    let (_, generation) = begin(&mut archive, b"a", 1);
    grow(&mut archive, generation, &text(5000), 20_000);
    drop(archive);
    let bytes = fs::read(&place.path).expect("reads");
    for page in 1..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096..][..2048].fill(0xee);
        fs::write(&place.path, damaged).expect("written");
        let found = match Archive::open(&place.path, Access::Read) {
            Err(ArchiveError::Damaged { .. }) => true,
            Err(error) => panic!("{error:?}"),
            Ok(archive) => !archive.verify(|_| ()).expect("checks").damage.is_empty(),
        };
        assert!(found, "page {page}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Grow { file: u8, seed: u32, length: usize },
    Replace { file: u8, share: usize },
    Gone { file: u8 },
    Back { file: u8 },
    Rename { file: u8, to: u8 },
    Compact { full: bool, groups: u32 },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0..4u8;
    prop_oneof![
        6 => (file.clone(), any::<u32>(), 0..22_000usize)
            .prop_map(|(file, seed, length)| Step::Grow { file, seed, length }),
        2 => (file.clone(), 0..9000usize).prop_map(|(file, share)| Step::Replace { file, share }),
        1 => file.clone().prop_map(|file| Step::Gone { file }),
        1 => file.clone().prop_map(|file| Step::Back { file }),
        1 => (file.clone(), 0..8u8).prop_map(|(file, to)| Step::Rename { file, to }),
        2 => (any::<bool>(), 0..3u32).prop_map(|(full, groups)| Step::Compact { full, groups }),
        1 => Just(Step::Reopen),
    ]
}

/// What the archive should hold.
struct Model {
    path: PathBuf,
    archive: Archive,
    files: HashMap<u8, (FileId, GenerationId, bool)>,
    contents: HashMap<GenerationId, Vec<u8>>,
}

impl Model {
    fn begin(&mut self, file: u8) -> GenerationId {
        if let Some((_, generation, _)) = self.files.get(&file) {
            return *generation;
        }
        let (id, generation) = begin(&mut self.archive, &[b'f', file], 1);
        self.files.insert(file, (id, generation, false));
        self.contents.insert(generation, Vec::new());
        generation
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Grow { file, seed, length } => {
                let generation = self.begin(file);
                let bytes = with_payload(seed % 5);
                let bytes = &bytes[..length.min(bytes.len())];
                grow(&mut self.archive, generation, bytes, 3000);
                self.contents.entry(generation).or_default().extend_from_slice(bytes);
            }
            Step::Replace { file, share } => self.replace(file, share),
            Step::Gone { file } => self.end(file, true),
            Step::Back { file } => self.end(file, false),
            Step::Rename { file, to } => self.rename(file, to),
            Step::Compact { full, groups } => {
                let effort = if full { Effort::Full } else { Effort::Background };
                let left = std::cell::Cell::new(groups);
                let more = || left.replace(left.get().saturating_sub(1)) > 0;
                self.archive.compact(effort, |_| (), more).expect("compacts");
            }
            Step::Reopen => self.archive = write(&self.path),
        }
    }

    fn replace(&mut self, file: u8, share: usize) {
        let old = self.begin(file);
        let id = self.files[&file].0;
        let kept = self.contents[&old].len().min(share);
        let mut batch = self.archive.batch().expect("begins");
        let new = batch.begin_generation(id, &STAT, Time(3)).expect("a generation");
        batch.share(new, old, kept as u64).expect("shares");
        batch.commit().expect("lasts");
        self.contents.insert(new, self.contents[&old][..kept].to_vec());
        self.files.insert(file, (id, new, false));
    }

    fn end(&mut self, file: u8, is_gone: bool) {
        self.begin(file);
        let (id, generation, _) = self.files[&file];
        let mut batch = self.archive.batch().expect("begins");
        match is_gone {
            true => batch.end(id, Ending::Gone, Time(2)).expect("ends"),
            false => batch.back(id).expect("is back"),
        }
        batch.commit().expect("lasts");
        self.files.insert(file, (id, generation, is_gone));
    }

    fn rename(&mut self, file: u8, to: u8) {
        self.begin(file);
        let (id, ..) = self.files[&file];
        let mut batch = self.archive.batch().expect("begins");
        match batch.rename(id, HOME, &[b'r', to], Time(4)) {
            Ok(()) => batch.commit().expect("lasts"),
            Err(error) => assert!(matches!(error, ArchiveError::NameTaken)),
        }
    }

    fn check(&self) {
        for (generation, content) in &self.contents {
            assert_eq!(whole(&self.archive, *generation), *content);
            let same = self.archive.common_prefix(*generation, &content[..]).expect("compares");
            assert_eq!(same, content.len() as u64);
        }
        for row in self.archive.files().expect("reads") {
            let (_, generation, gone) =
                self.files.values().find(|(id, ..)| *id == row.file).expect("is known");
            let content = &self.contents[generation];
            assert_eq!((row.generation, row.gone), (*generation, *gone));
            assert!(row.head.is(&content[..row.head.length as usize]));
            assert!(row.tail.is(&content[content.len() - row.tail.length as usize..]));
        }
        assert_eq!(self.archive.verify(|_| ()).expect("checks").damage, []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn everything_ever_given_comes_back(steps in proptest::collection::vec(step(), 1..40)) {
        let place = place();
        let mut model = Model {
            path: place.path.clone(),
            archive: write(&place.path),
            files: HashMap::new(),
            contents: HashMap::new(),
        };
        for step in &steps {
            model.take(step);
        }
        model.check();
        model.archive = write(&place.path);
        model.check();
    }
}

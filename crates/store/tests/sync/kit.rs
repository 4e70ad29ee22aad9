//! A Claude folder that changes, the store made from it, and what the store says.
//!
//! Times are counted, not measured: every change to a file comes ten seconds after the one before,
//! so that a stat can be trusted and a test does not wait.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use rusqlite::types::Value;
use store::archive::{Access, Archive, FileRow, GenerationId};
use store::catalog::{self, Catalog, SessionRow};
use store::find::Finder;
use store::folder::Store;
use store::query::Query;
use store::sync::{Home, Options, Report, SyncError, Watch, sync};
use transcript::layout;
use transcript::time::Time;

/// A Claude folder, a store and a clock.
pub struct World {
    home: testkit::Home,
    folder: tempfile::TempDir,
    clock: Cell<i64>,
}

/// Nobody watches.
pub struct Nobody;

impl Watch for Nobody {
    fn begin(&self, _: usize, _: u64) {}

    fn step(&self, _: usize, _: u64) {}
}

const STEP: i64 = 10_000;

impl World {
    /// Both empty.
    pub fn new() -> Self {
        Self {
            home: testkit::Home::new(),
            folder: in_memory(),
            clock: Cell::new(1_700_000_000_000),
        }
    }

    pub fn root(&self) -> PathBuf {
        self.home.path().canonicalize().expect("it is there")
    }

    pub fn path(&self, rel: &str) -> PathBuf {
        self.home.path().join(rel)
    }

    /// Writes a file from its beginning, in place if there is one.
    pub fn write(&self, rel: &str, bytes: impl AsRef<[u8]>) {
        self.home.write(rel, bytes);
        self.touch(rel);
    }

    pub fn append(&self, rel: &str, bytes: impl AsRef<[u8]>) {
        self.home.append(rel, bytes);
        self.touch(rel);
    }

    pub fn truncate(&self, rel: &str, size: u64) {
        let file = File::options().write(true).open(self.path(rel)).expect("opens");
        file.set_len(size).expect("is cut");
        self.touch(rel);
    }

    pub fn rename(&self, from: &str, to: &str) {
        let to = self.path(to);
        fs::create_dir_all(to.parent().expect("has one")).expect("is made");
        fs::rename(self.path(from), to).expect("is renamed");
    }

    /// A file of the same name and content takes its place.
    pub fn copy_over(&self, rel: &str) {
        let beside = self.path("copy-of-it");
        fs::copy(self.path(rel), &beside).expect("is copied");
        fs::rename(beside, self.path(rel)).expect("is renamed");
        self.touch(rel);
    }

    pub fn remove(&self, rel: &str) {
        fs::remove_file(self.path(rel)).expect("is removed");
    }

    fn touch(&self, rel: &str) {
        let file = File::options().append(true).open(self.path(rel)).expect("opens");
        file.set_modified(self.tick()).expect("has a time");
    }

    fn tick(&self) -> SystemTime {
        self.clock.set(self.clock.get() + STEP);
        UNIX_EPOCH + Duration::from_millis(self.clock.get() as u64)
    }

    /// A time at which the stats of all files can be trusted.
    pub fn now(&self) -> Time {
        Time(self.clock.get() + STEP)
    }

    pub fn options(&self) -> Options {
        Options::new(self.now())
    }

    pub fn store(&self) -> Store {
        Store::new(self.folder.path().join("store"))
    }

    /// The Claude folder as it is now.
    pub fn homes(&self) -> Vec<Home> {
        let root = self.root();
        let look = layout::look(&root);
        vec![Home { root, look }]
    }

    pub fn try_sync(&self) -> Result<Report, SyncError> {
        self.sync_with(&self.homes(), self.options())
    }

    pub fn sync(&self) -> Report {
        self.try_sync().expect("the store is brought up to date")
    }

    pub fn sync_with(&self, homes: &[Home], options: Options) -> Result<Report, SyncError> {
        let (report, problems) = sync(&self.store(), homes, options, &Nobody)?;
        assert!(problems.is_empty(), "{problems:?}");
        Ok(report)
    }

    pub fn dump(&self) -> Dump {
        Dump::of(&self.store())
    }

    /// What a store says that is made only now.
    pub fn fresh_dump(&self) -> Dump {
        let store = Store::new(self.folder.path().join("fresh"));
        if store.folder().exists() {
            fs::remove_dir_all(store.folder()).expect("is removed");
        }
        sync(&store, &self.homes(), self.options(), &Nobody).expect("a new store is filled");
        Dump::of(&store)
    }

    /// Every file on disk is in the archive as it is, and no other counts as being there.
    pub fn assert_current(&self) {
        let on_disk = layout::walk(&self.root()).files.into_iter().map(|found| {
            let bytes = fs::read(&found.path).expect("can be read");
            (found.rel.to_str().expect("is text").to_owned(), bytes)
        });
        assert_eq!(shown(&self.dump().files), shown(&on_disk.collect()));
    }

    /// All that any generation of any file holds.
    pub fn generations(&self) -> Vec<Vec<u8>> {
        generations(&self.store())
    }

    /// What was once there can still be read.
    pub fn assert_kept(&self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let kept = self.generations();
        let is_kept = kept.iter().any(|content| content.starts_with(bytes));
        assert!(is_kept, "{:?} is lost", String::from_utf8_lossy(bytes));
    }

    /// Title and turns of a session.
    pub fn session(&self, id: &str) -> Option<(String, u64)> {
        let catalog = Catalog::read(self.store().folder()).expect("opens").expect("is there");
        let row = catalog.session(&transcript::id::SessionId::new(id)).expect("answers")?;
        Some((row.title.unwrap_or_default(), row.turns))
    }

    /// The paths of what is kept and not there any more.
    pub fn gone(&self) -> Vec<String> {
        let kept = store::sync::kept_files(&self.store(), &self.root(), |rel| {
            !self.root().join(rel).exists()
        });
        let kept = kept.expect("lists").into_iter();
        kept.map(|found| found.rel.to_str().expect("is text").to_owned()).collect()
    }

    /// Every file of the store with its length, time and bytes.
    pub fn store_files(&self) -> BTreeMap<PathBuf, (u64, SystemTime, Vec<u8>)> {
        let mut all = BTreeMap::new();
        list(self.store().folder(), &mut all);
        all
    }

    pub fn catalog_path(&self) -> PathBuf {
        self.store().folder().join(catalog::file_name())
    }

    pub fn index_path(&self) -> PathBuf {
        store::index::Index::folder(self.store().folder())
    }
}

/// A folder for a store. What is kept waits for the disk, and hundreds of syncs would wait long;
/// where the system has a disk in memory, they don't.
pub fn in_memory() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    folder.expect("a folder")
}

fn list(folder: &Path, all: &mut BTreeMap<PathBuf, (u64, SystemTime, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("lists") {
        let path = entry.expect("is there").path();
        if path.is_dir() {
            list(&path, all);
            continue;
        }
        let meta = fs::metadata(&path).expect("is there");
        let bytes = fs::read(&path).expect("can be read");
        all.insert(path, (meta.len(), meta.modified().expect("has a time"), bytes));
    }
}

pub fn archive(store: &Store) -> Archive {
    store.archive(Access::Read).expect("opens")
}

/// All that any generation of any file holds.
pub fn generations(store: &Store) -> Vec<Vec<u8>> {
    let archive = archive(store);
    let files = archive.files().expect("lists");
    let of = |row: &FileRow| archive.generations(row.file).expect("lists");
    let all = files.iter().flat_map(of);
    all.map(|row| whole(&archive, row.generation, row.size)).collect()
}

pub fn whole(archive: &Archive, generation: GenerationId, size: u64) -> Vec<u8> {
    archive.read(generation, 0, size as usize).expect("can be read")
}

fn shown(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<&str, String> {
    files.iter().map(|(rel, bytes)| (&**rel, String::from_utf8_lossy(bytes).into())).collect()
}

/// Words that tests put into prompts; none is like another.
pub const WORDS: [&str; 4] = ["zebra", "quartz", "marmalade", "bicycle"];

/// Fails with what differs.
pub fn assert_same(left: &Dump, right: &Dump) {
    let (left, right) = (left.lines(), right.lines());
    let only: Vec<_> = left.difference(&right).map(|line| format!("- {line}")).collect();
    let other: Vec<_> = right.difference(&left).map(|line| format!("+ {line}")).collect();
    assert!(left == right, "{}", [only, other].concat().join("\n"));
}

/// What a store says, files by their paths.
#[derive(Debug, Clone, PartialEq)]
pub struct Dump {
    /// What is on disk.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Paths that are gone.
    pub gone: BTreeSet<String>,
    /// The sessions, and the path of the file of each.
    pub sessions: BTreeMap<String, (SessionRow, Option<String>)>,
    /// The catalog's other rows, as text, by table and path.
    pub rows: BTreeMap<(&'static str, String), Vec<String>>,
    /// Where each word is found: path, entry, role, place.
    pub hits: BTreeMap<(&'static str, String), BTreeSet<(u32, String)>>,
}

const TABLES: [(&str, &str); 5] = [
    ("file", "SELECT id, size, session, is_side, has_copies, hex(shape) FROM file ORDER BY id"),
    ("transcript", "SELECT file, hex(card), hex(places) FROM transcript ORDER BY file"),
    ("touch", "SELECT * FROM touch ORDER BY file, number"),
    ("commit_made", "SELECT * FROM commit_made ORDER BY file, number"),
    ("pr", "SELECT * FROM pr ORDER BY file, number"),
];

impl Dump {
    pub fn of(store: &Store) -> Self {
        let archive = archive(store);
        let rows = archive.files().expect("lists");
        let rel = |row: &FileRow| String::from_utf8(row.rel.clone()).expect("is text");
        let names: BTreeMap<i64, String> = rows.iter().map(|row| (row.file.0, rel(row))).collect();
        let here = rows.iter().filter(|row| !row.gone);
        Self {
            files: here.map(|row| (rel(row), whole(&archive, row.generation, row.size))).collect(),
            gone: rows.iter().filter(|row| row.gone).map(rel).collect(),
            sessions: sessions(store, &names),
            rows: tables(store, &names),
            hits: hits(store),
        }
    }

    fn lines(&self) -> BTreeSet<String> {
        let files = shown(&self.files).into_iter().map(|file| format!("file {file:?}"));
        let sessions = self.sessions.iter().map(|session| format!("session {session:?}"));
        let rows = self.rows.iter().map(|row| format!("row {row:?}"));
        let hits = self.hits.iter().map(|hit| format!("hit {hit:?}"));
        let gone = self.gone.iter().map(|rel| format!("gone {rel}"));
        files.chain(sessions).chain(rows).chain(hits).chain(gone).collect()
    }

    /// The sessions of which a file is gone.
    pub fn sessions_with_gone_files(&self) -> BTreeSet<String> {
        let stem = |rel: &String| Path::new(rel).file_stem().map(|s| s.to_string_lossy().into());
        self.gone.iter().filter_map(stem).collect()
    }

    /// Without these sessions.
    pub fn without_sessions(mut self, ids: &BTreeSet<String>) -> Self {
        self.sessions.retain(|id, _| !ids.contains(id));
        self
    }

    /// Without what is gone, and without sessions of which a file is gone.
    pub fn here(self) -> Self {
        let old = self.sessions_with_gone_files();
        self.without_sessions(&old).without_gone_files()
    }

    fn without_gone_files(mut self) -> Self {
        self.rows.retain(|(_, rel), _| !self.gone.contains(rel));
        self.hits.retain(|(_, rel), _| !self.gone.contains(rel));
        self.gone.clear();
        self
    }
}

fn sessions(
    store: &Store,
    names: &BTreeMap<i64, String>,
) -> BTreeMap<String, (SessionRow, Option<String>)> {
    let catalog = Catalog::read(store.folder()).expect("opens").expect("is there");
    let rows = catalog.sessions().expect("lists").into_iter();
    rows.map(|mut row| {
        let file = row.file.take().map(|file| names[&file].clone());
        (row.id.as_str().to_owned(), (row, file))
    })
    .collect()
}

fn tables(
    store: &Store,
    names: &BTreeMap<i64, String>,
) -> BTreeMap<(&'static str, String), Vec<String>> {
    let db = Connection::open(store.folder().join(catalog::file_name())).expect("opens");
    let mut all: BTreeMap<(&'static str, String), Vec<String>> = BTreeMap::new();
    for (table, sql) in TABLES {
        let mut query = db.prepare(sql).expect("is SQL");
        let columns = query.column_count();
        let mut rows = query.query(()).expect("answers");
        while let Some(row) = rows.next().expect("answers") {
            let file = names[&row.get::<_, i64>(0).expect("is a number")].clone();
            let values = (1..columns).map(|at| row.get::<_, Value>(at).expect("is there"));
            let text = format!("{:?}", values.collect::<Vec<_>>());
            all.entry((table, file)).or_default().push(text);
        }
    }
    all
}

fn hits(store: &Store) -> BTreeMap<(&'static str, String), BTreeSet<(u32, String)>> {
    let finder = Finder::open(store).expect("opens").expect("is there");
    let root = archive(store).files().expect("lists");
    let mut all: BTreeMap<(&'static str, String), BTreeSet<(u32, String)>> = BTreeMap::new();
    let options = store::index::Options { limit: 1000, ..Default::default() };
    for word in WORDS {
        let query = Query::parse(word, &|_| None).expect("is a query");
        for hit in finder.search(&query, options, 80).expect("answers").hits {
            let row = root.iter().find(|row| row.path() == hit.path).expect("is of the archive");
            let rel = String::from_utf8(row.rel.clone()).expect("is text");
            let what = format!(
                "{} {:?} {:?} {:?} {:?}",
                hit.session.id.as_str(),
                hit.role,
                hit.place,
                hit.turn,
                hit.snippet
            );
            all.entry((word, rel)).or_default().insert((hit.entry, what));
        }
    }
    all
}

/// Lines of one session as Claude Code writes them.
pub struct Lines {
    session: String,
    salt: String,
    count: usize,
    last: Option<String>,
}

impl Lines {
    /// A conversation of `session`; two with another `salt` have no entry in common.
    pub fn new(session: impl Into<String>, salt: impl ToString) -> Self {
        Self { session: session.into(), salt: salt.to_string(), count: 0, last: None }
    }

    fn line(&mut self, body: &str) -> String {
        let parent = match &self.last {
            Some(uuid) => format!("\"{uuid}\""),
            None => "null".into(),
        };
        self.count += 1;
        let count = self.count;
        let uuid = format!("{}-{}-{count}", &self.session[..4], self.salt);
        let time = format!("2026-01-01T{:02}:{:02}:00.000Z", count / 60 % 24, count % 60);
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\
             \"cwd\":\"/w\",\"sessionId\":\"{}\",\"version\":\"2.0.31\",\"gitBranch\":\"main\",\
             {body},\"uuid\":\"{uuid}\",\"timestamp\":\"{time}\"}}\n",
            self.session
        );
        self.last = Some(uuid);
        line
    }

    /// A person asks.
    pub fn ask(&mut self, text: &str) -> String {
        self.line(&format!(
            "\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}"
        ))
    }

    /// The model answers.
    pub fn say(&mut self, text: &str) -> String {
        self.answer(&format!("{{\"type\":\"text\",\"text\":\"{text}\"}}"))
    }

    fn answer(&mut self, block: &str) -> String {
        let message = format!("msg_{}_{}", self.salt, self.count);
        self.line(&format!(
            "\"type\":\"assistant\",\"message\":{{\"id\":\"{message}\",\"type\":\"message\",\
             \"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{block}],\
             \"stop_reason\":null,\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}"
        ))
    }

    /// The model writes a file.
    pub fn create(&mut self, path: &str) -> String {
        let id = format!("toolu_{}_{}", self.salt, self.count);
        let call = self.answer(&format!(
            "{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Write\",\
             \"input\":{{\"file_path\":\"{path}\",\"content\":\"one\\ntwo\\n\"}}}}"
        ));
        let result = self.line(&format!(
            "\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\
             \"tool_use_id\":\"{id}\",\"type\":\"tool_result\",\"content\":\"created\"}}]}},\
             \"toolUseResult\":{{\"type\":\"create\",\"filePath\":\"{path}\",\
             \"content\":\"one\\ntwo\\n\",\"structuredPatch\":[]}}"
        ));
        call + &result
    }
}

/// Session ids.
pub const IDS: [&str; 4] = [
    "11111111-1111-4111-8111-111111111111",
    "22222222-2222-4222-8222-222222222222",
    "33333333-3333-4333-8333-333333333333",
    "44444444-4444-4444-8444-444444444444",
];

/// The transcript of session `which` in project `project`.
pub fn transcript(project: &str, which: usize) -> String {
    format!("projects/-w-{project}/{}.jsonl", IDS[which])
}

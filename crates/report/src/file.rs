//! One file through all sessions: who changed it when, and what it was at any point.
//!
//! What commands did to a file is recorded only by newer versions and not always in full, so a
//! content put together from edits says what it is based on. Backups are exact.

use std::collections::BTreeSet;
use std::path::PathBuf;

pub use transcript::file_text::{FileContent, content_at};
use transcript::file_text::{hunks_of_input, recorded_hunks};
use transcript::id::{AgentId, Key, SessionId};
use transcript::layout::Problem;
use transcript::path::{RecordedPath, backup_hash};
use transcript::session::{Node, Role, Session, State};
use transcript::side::backup::{self, Backup, BackupFile, BackupName, Tracked};
use transcript::source::Source;
use transcript::time::Time;
use transcript::tool::Hunk;

use crate::diff::Diff;
use crate::filter::Period;

/// Whether a recorded path is the one that was asked for: the same, or ending in it.
pub fn is_wanted(recorded: &str, wanted: &str) -> bool {
    let plain = |path: &str| path.replace('\\', "/");
    let (recorded, wanted) = (plain(recorded), plain(wanted));
    let wanted = wanted.strip_prefix("./").unwrap_or(&wanted);
    recorded == wanted
        || (!wanted.is_empty()
            && !wanted.starts_with('/')
            && recorded.strip_suffix(wanted).is_some_and(|head| head.ends_with('/')))
}

/// A change to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEvent {
    /// The path, as recorded.
    pub path: String,
    /// The key of the result's entry, to tell copies.
    pub key: Key,
    /// The number of the result's entry: what the file is after it.
    pub number: u32,
    /// Where the result stands.
    pub result: Place,
    /// Where the call stands.
    pub call: Place,
    /// The key of the call.
    pub call_key: Key,
    /// When.
    pub time: Option<Time>,
    /// The tool.
    pub tool: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The file did not exist before.
    pub created: bool,
    /// The file does not exist any more.
    pub deleted: bool,
    /// The lines were counted from the input.
    pub estimated: bool,
    /// The file is named without what changed in it: the lines are not known.
    pub unknown: bool,
    /// Where it stands.
    pub state: State,
    /// The turn, from 0.
    pub turn: Option<usize>,
}

/// Where an entry's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which of the session's files.
    pub source: u8,
    /// Where they begin.
    pub offset: u64,
    /// How many there are.
    pub length: u32,
}

impl Place {
    fn of(node: &Node) -> Self {
        Self { source: node.source, offset: node.offset, length: node.length }
    }

    fn read(self, source: &Source) -> Result<Vec<u8>, Problem> {
        source.bytes(self.offset, self.length as usize)
    }
}

/// The changes of a session to the wanted file.
pub fn events(session: &Session, wanted: &str) -> Vec<FileEvent> {
    let events = session.touches().filter(|(path, _)| is_wanted(path, wanted));
    events
        .filter_map(|(path, touch)| {
            let call = &session.calls()[touch.call()];
            let node = call.result()?;
            let result = &session.nodes()[node];
            Some(FileEvent {
                path: path.to_owned(),
                key: result.key,
                number: result.number,
                result: Place::of(result),
                call: Place::of(&session.nodes()[call.node()]),
                call_key: call.key(),
                time: result.time(),
                tool: session.tool(call).to_owned(),
                added: touch.added,
                removed: touch.removed,
                created: touch.created,
                deleted: touch.deleted,
                estimated: touch.estimated,
                unknown: touch.unknown,
                state: session.state(node),
                turn: session.turn_of(node),
            })
        })
        .collect()
}

/// The lines that a change took out and put in. Without a patch in the result they are made from
/// the call's input: then the numbers of the lines are not known and are 0.
pub fn hunks(event: &FileEvent, source: &Source) -> Result<Vec<Hunk>, Problem> {
    let recorded = recorded_hunks(&event.result.read(source)?, &event.path);
    if !recorded.is_empty() {
        return Ok(recorded);
    }
    let hunks = hunks_of_input(&event.call.read(source)?, event.call_key);
    // A file that was created begins at its first line.
    let new_start = u64::from(event.created);
    Ok(hunks.into_iter().map(|hunk| Hunk { new_start, ..hunk }).collect())
}

/// A file as it was kept before a change, as transcripts and the folder of backups tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupRow {
    /// The file: absolute where that is known, else as recorded.
    pub path: String,
    /// The session that made it.
    pub session: SessionId,
    /// Its version, from 1.
    pub version: Option<u64>,
    /// What there was of the file.
    pub kept: Kept,
    /// When it was made.
    pub time: Option<Time>,
}

impl BackupRow {
    /// Whether the backup's name, which is a hash of the file's path, is that of this path.
    pub fn is_proven(&self) -> bool {
        self.kept.name().is_none_or(|name| *backup_hash(&self.path) == *name.hash)
    }
}

/// What there is of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Its content, in this file.
    Here(BackupFile),
    /// A name, and no file of that name any more.
    Gone(BackupName),
    /// The file did not exist then.
    Absent,
    /// The record does not say.
    Unknown,
}

impl Kept {
    /// The name of the backup.
    pub fn name(&self) -> Option<&BackupName> {
        match self {
            Self::Here(file) => Some(&file.name),
            Self::Gone(name) => Some(name),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// The word for it in reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Here(_) => "here",
            Self::Gone(_) => "gone",
            Self::Absent => "absent",
            Self::Unknown => "unknown",
        }
    }
}

/// The backups that a session's lines record for the wanted file, each once.
pub fn tracked(session: &Session, source: &Source, wanted: &str) -> Vec<BackupRow> {
    let Some(id) = session.id() else { return Vec::new() };
    let needle = needle(wanted);
    let mut rows: Vec<BackupRow> = Vec::new();
    let is_line = |node: &&Node| node.role == Role::Bookkeeping && node.source == 0;
    for node in session.nodes().iter().filter(is_line) {
        // A line that cannot be read again says nothing; the scan has said so already.
        let Ok(bytes) = source.entry(node) else { continue };
        if !contains(&bytes, "file-history-") || !contains(&bytes, &needle) {
            continue;
        }
        for file in backup::tracked_in(&bytes) {
            let row = BackupRow { session: id.clone(), ..row(session, file) };
            let is_same = |known: &BackupRow| {
                (&known.path, known.version, &known.kept) == (&row.path, row.version, &row.kept)
            };
            if is_wanted(&row.path, wanted) && !rows.iter().any(is_same) {
                rows.push(row);
            }
        }
    }
    rows
}

/// What stands in every line that names the file: the last part of its path, where JSON writes it
/// as it is.
fn needle(wanted: &str) -> String {
    let last = wanted.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii() && !c.is_control() && c != '"';
    if last.chars().all(is_plain) { last.into() } else { String::new() }
}

/// Whether a line may hold `part`; one that is no text may hold anything.
fn contains(bytes: &[u8], part: &str) -> bool {
    std::str::from_utf8(bytes).map_or(true, |text| text.contains(part))
}

fn row(session: &Session, file: Tracked) -> BackupRow {
    let kept = match &file.backup {
        Backup::Named(name) => BackupName::parse(name).map_or(Kept::Unknown, Kept::Gone),
        Backup::Absent => Kept::Absent,
        Backup::Unknown => Kept::Unknown,
    };
    BackupRow {
        path: absolute(session, &file, kept.name()),
        session: SessionId::new(""),
        version: file.version.or_else(|| kept.name().map(|name| name.version)),
        kept,
        time: file.time,
    }
}

/// The whole path of a tracked file. A relative one is seen from a folder of the session; the
/// backup's name is a hash of the whole path and proves which.
fn absolute(session: &Session, file: &Tracked, name: Option<&BackupName>) -> String {
    if file.path.is_absolute() {
        return file.path.as_str().into();
    }
    let cwds = [session.cwd(), session.relocated()].into_iter().flatten();
    let seen = cwds.map(|cwd| RecordedPath::new(cwd).join(file.path.as_str()));
    let real = file.real_parent_dir.iter().zip(file.path.file_name()).map(|(d, n)| d.join(n));
    let mut paths: Vec<String> = seen.chain(real).map(|path| path.as_str().to_owned()).collect();
    let touched = session.touches().map(|(path, _)| path);
    paths.extend(touched.filter(|p| is_wanted(p, file.path.as_str())).map(str::to_owned));
    let proven = |path: &&String| name.is_none_or(|name| *backup_hash(path) == *name.hash);
    let path = paths.iter().find(proven).or_else(|| paths.first());
    path.cloned().unwrap_or_else(|| file.path.as_str().into())
}

/// A change, with where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// The change.
    pub event: FileEvent,
    /// The session it belongs to.
    pub session: SessionId,
    /// The subagent that made it.
    pub agent: Option<AgentId>,
    /// The transcript it stands in.
    pub file: PathBuf,
}

/// Everything that is known of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLog {
    /// The file, as recorded.
    pub path: String,
    /// Its changes, oldest first.
    pub changes: Vec<ChangeRow>,
    /// Its backups, oldest first.
    pub backups: Vec<BackupRow>,
}

/// Which of a file's changes and backups are asked for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this time.
    pub period: Period,
}

impl Filter {
    fn takes(&self, session: &SessionId, time: Option<Time>) -> bool {
        self.session.as_ref().is_none_or(|wanted| wanted == session) && self.period.holds(time)
    }
}

/// Joins what transcripts record with the backups that are there, one log for each path, in the
/// order of the paths. `given` is the path as a person gave it, made absolute: backups of sessions
/// without a transcript are found by it alone.
pub fn logs(
    changes: Vec<ChangeRow>,
    recorded: Vec<BackupRow>,
    here: &[BackupFile],
    given: &[String],
    filter: &Filter,
) -> Vec<FileLog> {
    let mut paths: BTreeSet<String> = given.iter().cloned().collect();
    paths.extend(changes.iter().map(|change| change.event.path.clone()));
    paths.extend(recorded.iter().map(|row| row.path.clone()));
    let mut logs: Vec<FileLog> = Vec::new();
    for path in paths {
        let recorded = recorded.iter().filter(|row| row.path == path).cloned().collect();
        let mut backups = joined(&path, recorded, here);
        backups.retain(|row| filter.takes(&row.session, row.time));
        backups.sort_by_key(|row| (row.time, row.session.clone(), row.version));
        let is_its = |change: &&ChangeRow| {
            change.event.path == path && filter.takes(&change.session, change.event.time)
        };
        let mut changes: Vec<_> = changes.iter().filter(is_its).cloned().collect();
        changes.sort_by_key(|c| (c.event.time, c.session.clone(), c.event.number));
        if !changes.is_empty() || !backups.is_empty() {
            logs.push(FileLog { path, changes, backups });
        }
    }
    logs
}

/// The recorded backups of a path with the files that are there, and those that nothing records.
/// A fork copies the records and not the files, so that a record without a file is left out where
/// another has its name and time.
fn joined(path: &str, mut recorded: Vec<BackupRow>, here: &[BackupFile]) -> Vec<BackupRow> {
    let hash = backup_hash(path);
    let mut files: Vec<&BackupFile> = here.iter().filter(|file| *file.name.hash == *hash).collect();
    for row in &mut recorded {
        let Kept::Gone(name) = &row.kept else { continue };
        let is_its = |file: &&BackupFile| file.session == row.session && file.name == *name;
        let found = here.iter().find(is_its).cloned();
        if let Some(file) = found {
            files.retain(|known| **known != file);
            row.kept = Kept::Here(file);
        }
    }
    recorded.sort_by_key(|row| !matches!(row.kept, Kept::Here(_)));
    let mut rows: Vec<BackupRow> = Vec::new();
    for row in recorded {
        let is_here = matches!(row.kept, Kept::Here(_));
        let is_same = |known: &BackupRow| {
            !is_here
                && row.time.is_some()
                && (known.kept.name(), known.version, known.time)
                    == (row.kept.name(), row.version, row.time)
        };
        if !rows.iter().any(is_same) {
            rows.push(row);
        }
    }
    rows.extend(files.into_iter().map(|file| BackupRow {
        path: path.into(),
        session: file.session.clone(),
        version: Some(file.name.version),
        time: file.modified,
        kept: Kept::Here(file.clone()),
    }));
    rows
}

/// Why a recorded path is no place to write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadTarget {
    /// It does not begin at a root, so that nobody knows where it leads.
    Relative,
    /// It is of another system than this one.
    OtherSystem,
    /// The backup's name is that of another path.
    Unproven,
    /// It goes up with `..`, or through `.`.
    Climbs,
    /// It has characters that do not show, so that it is not what it looks like.
    Hidden,
}

/// The place that a recorded path names on this computer, if it is one that may be written to.
/// `is_hidden` tells characters that do not show.
pub fn target(path: &str, is_hidden: impl Fn(char) -> bool) -> Result<PathBuf, BadTarget> {
    let place = PathBuf::from(path);
    if !RecordedPath::new(path).is_absolute() {
        return Err(BadTarget::Relative);
    }
    if !place.is_absolute() {
        return Err(BadTarget::OtherSystem);
    }
    let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
    if path.split(separators).any(|part| part == ".." || part == ".") || place.file_name().is_none()
    {
        return Err(BadTarget::Climbs);
    }
    if path.chars().any(is_hidden) {
        return Err(BadTarget::Hidden);
    }
    Ok(place)
}

/// Lines that `new` adds to and takes from `old`; `None` where one is no text or too long.
pub fn line_changes(old: &[u8], new: &[u8]) -> Option<(usize, usize)> {
    const MOST: usize = 4 << 20;
    if old.len() + new.len() > MOST {
        return None;
    }
    let (old, new) = (std::str::from_utf8(old).ok()?, std::str::from_utf8(new).ok()?);
    Some(Diff::of_lines(old, new).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_wanted_whole_or_by_its_end() {
        assert!(is_wanted("/home/a/src/lib.rs", "/home/a/src/lib.rs"));
        assert!(is_wanted("/home/a/src/lib.rs", "src/lib.rs"));
        assert!(is_wanted("/home/a/src/lib.rs", "./lib.rs"));
        assert!(is_wanted("C:\\a\\lib.rs", "a/lib.rs"));
        assert!(!is_wanted("/home/a/src/mylib.rs", "lib.rs"));
        assert!(!is_wanted("/home/a/src/lib.rs", "/src/lib.rs"));
        assert!(!is_wanted("/home/a", ""));
    }

    #[test]
    fn only_a_plain_absolute_path_is_a_target() {
        let check = |path: &str| target(path, |c| c == '\u{202e}');
        assert_eq!(check("../../x"), Err(BadTarget::Relative));
        assert_eq!(check("x"), Err(BadTarget::Relative));
        assert_eq!(check(""), Err(BadTarget::Relative));
        if cfg!(unix) {
            assert_eq!(check("/a/x"), Ok("/a/x".into()));
            assert_eq!(check("/a/../x"), Err(BadTarget::Climbs));
            assert_eq!(check("/a/."), Err(BadTarget::Climbs));
            assert_eq!(check("/"), Err(BadTarget::Climbs));
            assert_eq!(check("/a/\u{202e}x"), Err(BadTarget::Hidden));
            assert_eq!(check(r"C:\a\x"), Err(BadTarget::OtherSystem));
        }
    }

    #[test]
    fn backups_are_recorded_there_or_both() {
        let (path, time) = ("/home/x/a.txt", Some(Time(5)));
        let name = |version| BackupName { hash: backup_hash(path).into(), version };
        let row = |session: &str, version| BackupRow {
            path: path.into(),
            session: SessionId::new(session),
            version: Some(version),
            kept: Kept::Gone(name(version)),
            time,
        };
        let file = |session: &str, version| BackupFile {
            path: "b".into(),
            session: SessionId::new(session),
            name: name(version),
            size: 1,
            modified: time,
            kept: None,
        };
        // `fork` has copies of what `own` recorded; of `old` there is no transcript.
        let recorded = vec![row("fork", 1), row("own", 1), row("own", 2)];
        let here = [file("own", 1), file("old", 1)];
        let logs = logs(Vec::new(), recorded, &here, &[], &Filter::default());
        let got: Vec<_> = logs[0]
            .backups
            .iter()
            .map(|b| (b.session.as_str(), b.version, b.kept.word()))
            .collect();
        let want = [("old", Some(1), "here"), ("own", Some(1), "here"), ("own", Some(2), "gone")];
        assert_eq!(got, want);
    }

    #[test]
    fn lines_are_compared_where_they_are_text() {
        assert_eq!(line_changes(b"a\nb\n", b"a\nc\nd\n"), Some((2, 1)));
        assert_eq!(line_changes(b"\xff", b"a"), None);
    }
}

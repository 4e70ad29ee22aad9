//! File history: files as they were before Claude Code changed them.
//!
//! `file-history/<session>/<hash>@v<n>` holds the content, the bookkeeping lines
//! `file-history-snapshot` (all tracked files; since 2.0.5) and `file-history-delta` (one more
//! file for a snapshot; since 2.1.208) say which belongs to which moment. A `null` name says that
//! the file did not exist; that is not the same as a name that cannot be read, since restoring
//! the first deletes a file. Versions that were superseded are pruned since 2.1.208.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Extra, Object, Read, Reader};
use crate::entry::Entry;
use crate::id::SessionId;
use crate::json::Raw;
use crate::kept::Kept;
use crate::layout::{FileKind, Found, Problem};
use crate::path::{RecordedPath, backup_hash};
use crate::source::Source;
use crate::time::Time;

/// `<hash>@v<version>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackupName {
    /// The first 16 hex digits of the SHA-256 of the file's absolute path.
    pub hash: Box<str>,
    /// The version, from 1.
    pub version: u64,
}

impl BackupName {
    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        let (hash, version) = name.split_once("@v")?;
        let is_hash = hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        let is_number = version.bytes().all(|b| b.is_ascii_digit());
        if !is_hash || !is_number {
            return None;
        }
        Some(Self { hash: hash.into(), version: version.parse().ok()? })
    }
}

impl std::fmt::Display for BackupName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@v{}", self.hash, self.version)
    }
}

/// The hash of a file whose key in a snapshot is `key`: relative to `cwd` when inside it.
pub fn key_hash(key: &RecordedPath, cwd: &RecordedPath) -> String {
    backup_hash(cwd.join(key.as_str()).as_str())
}

/// What there was of a file at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    /// Its content is in this file of the session's file history.
    Named(Box<str>),
    /// It did not exist.
    Absent,
    /// The line does not say.
    Unknown,
}

impl Backup {
    /// The name, where there is a file.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            _ => None,
        }
    }
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// The file: relative to the working directory when inside it, else absolute.
    pub path: RecordedPath,
    /// What there was of it.
    pub backup: Backup,
    /// The version.
    pub version: Option<u64>,
    /// When the backup was made.
    pub time: Option<Time>,
    /// The folder the file really lies in, where links led to it.
    pub real_parent_dir: Option<RecordedPath>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// A line `file-history-snapshot`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The entry after which the line was written.
    pub message: Option<Box<str>>,
    /// The entry whose state it is: the same, or an earlier one when this is an update.
    pub snapshot_message: Option<Box<str>>,
    /// When the snapshot was begun.
    pub time: Option<Time>,
    /// Whether it replaces an earlier line for the same entry.
    pub is_update: Option<bool>,
    /// All the files tracked so far.
    pub files: Vec<Tracked>,
    /// Fields that were not read, of the line and then of its `snapshot`.
    pub extra: Extra,
}

/// A line `file-history-delta`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The entry after which the line was written.
    pub message: Option<Box<str>>,
    /// The entry whose snapshot it adds to.
    pub snapshot_message: Option<Box<str>>,
    /// When it was written.
    pub time: Option<Time>,
    /// The file; none where the line names no path.
    pub file: Option<Tracked>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads a line `file-history-snapshot`.
pub fn snapshot(line: Raw<'_>) -> Read<Snapshot> {
    let mut reader = Reader::new(line.bytes());
    let mut object = reader.object(line);
    drop(object.text("type"));
    let mut inner = match object.map("snapshot") {
        Some(raw) => reader.object(raw),
        None => Object::default(),
    };
    let files = match inner.map("trackedFileBackups") {
        Some(map) => reader.members(map),
        None => Vec::new(),
    };
    let files = files
        .into_iter()
        .map(|(path, raw)| tracked(RecordedPath::new(path), reader.object(raw)))
        .collect();
    let value = Snapshot {
        message: object.text("messageId"),
        snapshot_message: inner.text("messageId"),
        time: inner.time("timestamp"),
        is_update: object.bool("isSnapshotUpdate"),
        files,
        extra: object.rest().into_iter().chain(inner.rest()).collect(),
    };
    (value, reader.finish())
}

/// Reads a line `file-history-delta`.
pub fn delta(line: Raw<'_>) -> Read<Delta> {
    let mut reader = Reader::new(line.bytes());
    let mut object = reader.object(line);
    drop(object.text("type"));
    let path = object.path("trackingPath");
    let file = path.map(|path| {
        // Without a backup to read, the file is `Unknown` and the field stays in `extra`.
        let backup = object.map("backup").map_or_else(Object::default, |raw| reader.object(raw));
        tracked(path, backup)
    });
    let value = Delta {
        message: object.text("messageId"),
        snapshot_message: object.text("snapshotMessageId"),
        time: object.time("timestamp"),
        file,
        extra: object.rest(),
    };
    (value, reader.finish())
}

fn tracked(path: RecordedPath, mut object: Object<'_>) -> Tracked {
    let backup = object.take("backupFileName", |raw| match raw.text() {
        Some(name) => Some(Backup::Named(name.into())),
        None => raw.is_null().then_some(Backup::Absent),
    });
    Tracked {
        path,
        backup: backup.unwrap_or(Backup::Unknown),
        version: object.number("version"),
        time: object.time("backupTime"),
        real_parent_dir: object.path("realParentDir"),
        extra: object.rest(),
    }
}

/// A backup that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// Where it is.
    pub path: PathBuf,
    /// The session that made it.
    pub session: SessionId,
    /// Its name.
    pub name: BackupName,
    /// Its length in bytes.
    pub size: u64,
    /// When it was written.
    pub modified: Option<Time>,
    /// Where it is read from if it is not on disk any more.
    pub kept: Option<Kept>,
}

/// The backups of one file, of all sessions of the folder `file_history`, the oldest first.
///
/// `file` is an absolute path as it was on the computer that wrote the backups.
pub fn backups_of(file_history: &Path, file: &RecordedPath) -> (Vec<BackupFile>, Vec<Problem>) {
    let hash = backup_hash(file.as_str());
    let (mut all, problems) = backups(file_history);
    all.retain(|backup| *backup.name.hash == *hash);
    all.sort_by(|a, b| {
        let key = |b: &BackupFile| (b.modified, b.session.clone(), b.name.version);
        key(a).cmp(&key(b))
    });
    (all, problems)
}

/// Every backup below the folder `file_history`, in the order of their paths.
pub fn backups(file_history: &Path) -> (Vec<BackupFile>, Vec<Problem>) {
    let walk = crate::layout::walk_as(file_history, Path::new("file-history"));
    (walk.files.into_iter().filter_map(of_found).collect(), walk.problems)
}

/// The backup that a file is.
pub fn of_found(found: Found) -> Option<BackupFile> {
    match found.kind {
        FileKind::FileHistory { session, hash, version } => Some(BackupFile {
            path: found.path,
            session,
            name: BackupName { hash, version },
            size: found.size,
            modified: found.modified,
            kept: found.kept,
        }),
        _ => None,
    }
}

impl BackupFile {
    /// Reads its content.
    pub fn content(&self) -> Result<Vec<u8>, Problem> {
        match &self.kept {
            Some(kept) => Source::kept(&self.path, kept.clone()).whole(),
            None => fs::read(&self.path).map_err(|error| Problem::new(&self.path, error)),
        }
    }
}

/// The backups that a line of a transcript records; none for other lines.
pub fn tracked_in(bytes: &[u8]) -> Vec<Tracked> {
    let Ok(line) = Raw::new(bytes) else { return Vec::new() };
    let entry = Entry::of(bytes, 0);
    if entry.is_type("file-history-snapshot") {
        snapshot(line).0.files
    } else if entry.is_type("file-history-delta") {
        delta(line).0.file.into_iter().collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let name = BackupName::parse("628985951e49fb67@v12").expect("a name");
        assert_eq!((&*name.hash, name.version), ("628985951e49fb67", 12));
        assert_eq!(name.to_string(), "628985951e49fb67@v12");
        for bad in [
            "628985951e49fb67",
            "d358@v1",
            "628985951e49fb67@v",
            "628985951e49fb67@v+1",
            "x358f484ed29fb31@v1",
        ] {
            assert_eq!(BackupName::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_is_relative_to_the_working_directory_or_absolute() {
        let cwd = RecordedPath::new("/home/x");
        let want = backup_hash("/home/x/a.txt");
        assert_eq!(key_hash(&RecordedPath::new("a.txt"), &cwd), want);
        assert_eq!(key_hash(&RecordedPath::new("/home/x/a.txt"), &RecordedPath::new("/tmp")), want);
        // A real triple: session 0340f328 of the second founding description.
        let cwd = RecordedPath::new("/Users/user/dev/webapp");
        assert_eq!(
            key_hash(&RecordedPath::new("docs/refactor_graph.md"), &cwd),
            "628985951e49fb67"
        );
    }

    const SNAPSHOT: &str = r#"{"type":"file-history-snapshot","messageId":"d25d71ef-9398-43cd-aa8a-b9bc4a385ade","snapshot":{"messageId":"880a9364-634b-4cc1-9acb-7992e89e69b8","trackedFileBackups":{"docs/refactor_graph.md":{"backupFileName":"628985951e49fb67@v1","version":1,"backupTime":"2025-12-07T04:20:56.513Z"},"new.md":{"backupFileName":null,"version":1,"backupTime":"2025-12-07T04:20:56.513Z"},"odd.md":{"version":1}},"timestamp":"2025-12-07T04:18:24.087Z"},"isSnapshotUpdate":true}"#;

    #[test]
    fn a_snapshot_tells_absent_from_unknown() {
        let (got, odd) = snapshot(Raw::new(SNAPSHOT.as_bytes()).expect("valid"));
        assert!(odd.is_empty() && got.extra.is_empty());
        assert_eq!(got.is_update, Some(true));
        assert_ne!(got.message, got.snapshot_message);
        let backups: Vec<_> = got.files.iter().map(|file| file.backup.clone()).collect();
        let want = [Backup::Named("628985951e49fb67@v1".into()), Backup::Absent, Backup::Unknown];
        assert_eq!(backups, want);
        assert_eq!(got.files[0].time, Time::parse(b"2025-12-07T04:20:56.513Z"));
    }

    #[test]
    fn a_delta_adds_one_file() {
        let line = br#"{"type":"file-history-delta","messageId":"m2","snapshotMessageId":"m1","trackingPath":"/etc/x","backup":{"backupFileName":"0123456789abcdef@v2","version":2,"backupTime":"2026-07-01T00:00:00.000Z","realParentDir":"/private/etc"},"timestamp":"2026-07-01T00:00:01.000Z"}"#;
        let (got, odd) = delta(Raw::new(line).expect("valid"));
        assert!(odd.is_empty() && got.extra.is_empty());
        let file = got.file.expect("a file");
        assert_eq!((file.path.as_str(), file.version), ("/etc/x", Some(2)));
        assert_eq!(file.backup.name(), Some("0123456789abcdef@v2"));
        assert_eq!(file.real_parent_dir, Some(RecordedPath::new("/private/etc")));
    }

    #[test]
    fn a_delta_that_cannot_be_read_is_kept() {
        let line = br#"{"type":"file-history-delta","trackingPath":"a","backup":7}"#;
        let (got, _) = delta(Raw::new(line).expect("valid"));
        assert_eq!(got.file.map(|file| file.backup), Some(Backup::Unknown));
        assert_eq!(format!("{:?}", got.extra), r#"[("backup", 7)]"#);
    }

    #[test]
    fn backups_of_one_file_over_all_sessions() {
        let root = tempfile::tempdir().expect("temp dir");
        let hash = backup_hash("/home/x/a.txt");
        let write = |session: &str, name: String| {
            fs::create_dir_all(root.path().join(session)).expect("mkdir");
            fs::write(root.path().join(session).join(name), "x").expect("write");
        };
        write("s1", format!("{hash}@v1"));
        write("s1", format!("{hash}@v2"));
        write("s1", "0123456789abcdef@v1".into());
        write("s2", format!("{hash}@v1"));
        write("s2", "other".into());
        let (got, problems) = backups_of(root.path(), &RecordedPath::new("/home/x/a.txt"));
        let mut names: Vec<_> =
            got.iter().map(|b| format!("{} {}", b.session, b.name.version)).collect();
        names.sort();
        assert_eq!(
            (names, problems.len()),
            (["s1 1", "s1 2", "s2 1"].map(String::from).to_vec(), 0)
        );
    }
}

//! Which evidence a session has been given, so that nothing is given twice: one file for each
//! session in the store's folder, one line for each piece.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use store::folder::{Store, create_private};

/// A session that has been still for so long is told again.
const OLD: Duration = Duration::from_secs(30 * 86_400);

/// The evidence that a session has been given.
pub struct EvidenceLog {
    path: PathBuf,
    lines: Vec<String>,
}

fn folder(store: &Store) -> PathBuf {
    store.folder().join("told")
}

impl EvidenceLog {
    /// That of this session; `None` if it can't be read.
    pub fn of(store: &Store, session: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if session.is_empty() || session.len() > 100 || !session.chars().all(is_plain) {
            return None;
        }
        let path = folder(store).join(session);
        let lines = match fs::read_to_string(&path) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(_) => return None,
        };
        Some(Self { path, lines })
    }

    /// Whether a piece has not been given.
    pub fn is_new(&self, key: &str) -> bool {
        self.lines.iter().all(|line| line != key)
    }

    /// How many pieces with this beginning have been given.
    pub fn count(&self, beginning: &str) -> usize {
        self.lines.iter().filter(|line| line.starts_with(beginning)).count()
    }

    /// Evidence that is about to be given; `None` if that can't be recorded, since it would be
    /// given again and again.
    pub fn prepare(&self, keys: impl IntoIterator<Item = String>) -> Option<GivenEvidence> {
        create_private(self.path.parent()?).ok()?;
        let lines = keys.into_iter().map(|key| key + "\n").collect();
        Some(GivenEvidence { path: self.path.clone(), lines })
    }
}

/// Evidence that is recorded once it has been printed.
#[derive(Debug)]
pub struct GivenEvidence {
    path: PathBuf,
    lines: String,
}

impl GivenEvidence {
    /// Records that it was given.
    pub fn record(&self) -> std::io::Result<()> {
        let mut file = File::options().create(true).append(true).open(&self.path)?;
        file.write_all(self.lines.as_bytes())
    }
}

/// Forgets sessions that nobody goes on with.
pub fn forget_old(store: &Store) {
    let Ok(files) = fs::read_dir(folder(store)) else { return };
    for file in files.flatten() {
        let written = file.metadata().and_then(|meta| meta.modified());
        let age = written.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age > OLD) {
            // It is only a little too much on disk.
            let _ = fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_remembered_and_no_name_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().into());
        let told = EvidenceLog::of(&store, "a-1").unwrap();
        assert!(told.is_new("x 1"));
        let given = told.prepare(["x 1".into(), "file /a".into()]).unwrap();
        assert!(EvidenceLog::of(&store, "a-1").unwrap().is_new("x 1"), "it was not printed yet");
        given.record().unwrap();
        let told = EvidenceLog::of(&store, "a-1").unwrap();
        assert!(!told.is_new("x 1") && told.is_new("x 12"));
        assert_eq!(told.count("file "), 1);
        assert!(EvidenceLog::of(&store, "b").unwrap().is_new("x 1"));
        for wrong in ["", "../a", "a/b", "a.b", "ä"] {
            assert!(EvidenceLog::of(&store, wrong).is_none(), "{wrong}");
        }
        fs::remove_dir_all(folder(&store)).unwrap();
        fs::write(folder(&store), "no folder").unwrap();
        assert!(
            EvidenceLog::of(&store, "a").is_none_or(|told| told.prepare(["x".into()]).is_none())
        );
    }
}

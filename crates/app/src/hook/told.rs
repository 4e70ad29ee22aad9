//! What a session has been told, so that nothing is told twice: one file for each session in the
//! store's folder, one line for each thing.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use store::folder::{Store, create_private};

/// A session that has been still for so long is told again.
const OLD: Duration = Duration::from_secs(30 * 86_400);

/// What a session has been told.
pub struct Told {
    path: PathBuf,
    lines: Vec<String>,
}

fn folder(store: &Store) -> PathBuf {
    store.folder().join("told")
}

impl Told {
    /// What this session has been told; `None` if that can't be known.
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

    /// Whether something has not been told.
    pub fn is_new(&self, key: &str) -> bool {
        self.lines.iter().all(|line| line != key)
    }

    /// How much has been told of what begins so.
    pub fn count(&self, beginning: &str) -> usize {
        self.lines.iter().filter(|line| line.starts_with(beginning)).count()
    }

    /// Remembers that this is told; `None` if that can't be: it would be told again and again.
    pub fn tell(&self, keys: impl IntoIterator<Item = String>) -> Option<()> {
        create_private(self.path.parent()?).ok()?;
        let mut file = File::options().create(true).append(true).open(&self.path).ok()?;
        let lines: String = keys.into_iter().map(|key| key + "\n").collect();
        file.write_all(lines.as_bytes()).ok()
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
        let told = Told::of(&store, "a-1").unwrap();
        assert!(told.is_new("x 1"));
        told.tell(["x 1".into(), "file /a".into()]).unwrap();
        let told = Told::of(&store, "a-1").unwrap();
        assert!(!told.is_new("x 1") && told.is_new("x 12"));
        assert_eq!(told.count("file "), 1);
        assert!(Told::of(&store, "b").unwrap().is_new("x 1"));
        for wrong in ["", "../a", "a/b", "a.b", "ä"] {
            assert!(Told::of(&store, wrong).is_none(), "{wrong}");
        }
        fs::remove_dir_all(folder(&store)).unwrap();
        fs::write(folder(&store), "no folder").unwrap();
        assert!(Told::of(&store, "a").is_none_or(|told| told.tell(["x".into()]).is_none()));
    }
}

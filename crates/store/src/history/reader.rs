//! Transcripts that have been read and are read on: of a file that grew only what is new.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use transcript::layout::{Found, Problem, Stat};
use transcript::session::Builder;
use transcript::source::Source;

/// Entries that are held over all files; the files read last stay.
const MAX_HELD_NODES: usize = 400_000;
/// Whether a file that is longer than before has grown or is another one is told by the bytes
/// before the place where reading stopped.
const CHECKED_BYTES: usize = 4096;

/// What has been read of files.
#[derive(Default)]
pub struct FollowingReader {
    held: Mutex<Vec<HeldFile>>,
    files: AtomicUsize,
    bytes: AtomicU64,
}

struct HeldFile {
    path: PathBuf,
    builder: Builder,
    /// The last bytes that were read.
    end: Vec<u8>,
    /// The file when it was read, unless it changed meanwhile.
    stat: Option<Stat>,
}

impl FollowingReader {
    /// The facts of a file as it is now.
    pub fn read_file(&self, found: &Found) -> Result<Builder, Problem> {
        let source = found.open()?;
        if source.is_kept() {
            let mut builder = Builder::new();
            source.read_into(&mut builder)?;
            self.count(source.size()?);
            return Ok(builder);
        }
        let before = stat(&found.path)?;
        let held = self.take(&found.path, &source, before)?;
        let is_same = held.as_ref().is_some_and(|held| held.stat == Some(before));
        if let Some(held) = held.as_ref().filter(|_| is_same) {
            let builder = held.builder.clone();
            self.hold(HeldFile {
                builder: builder.clone(),
                path: held.path.clone(),
                end: held.end.clone(),
                ..*held
            });
            return Ok(builder);
        }
        let mut builder = held.map_or_else(Builder::new, |held| held.builder);
        let from = builder.consumed();
        source.read_into(&mut builder)?;
        let end = read_end(&source, builder.consumed())?;
        self.count(builder.consumed().saturating_sub(from) + end.len() as u64);
        let stat = stat(&found.path).ok().filter(|after| *after == before);
        self.hold(HeldFile { path: found.path.clone(), builder: builder.clone(), end, stat });
        Ok(builder)
    }

    /// The files and bytes read since this was last asked.
    pub fn take_counts(&self) -> (usize, u64) {
        (self.files.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }

    fn count(&self, bytes: u64) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What was read of the file before, if it has only grown since.
    fn take(&self, path: &Path, source: &Source, now: Stat) -> Result<Option<HeldFile>, Problem> {
        let held = {
            let mut all = self.held.lock().expect("nobody panics while holding it");
            let at = all.iter().position(|held| held.path == path);
            at.map(|at| all.remove(at))
        };
        let Some(held) = held else { return Ok(None) };
        let may_have_grown = held.stat.is_none_or(|before| {
            before == now || before.inode == now.inode && before.size < now.size
        });
        if !may_have_grown {
            return Ok(None);
        }
        let is_same = read_end(source, held.builder.consumed())? == held.end;
        Ok(is_same.then_some(held))
    }

    fn hold(&self, held: HeldFile) {
        let mut all = self.held.lock().expect("nobody panics while holding it");
        all.retain(|other| other.path != held.path);
        all.push(held);
        let mut nodes = 0;
        let fits = all.iter().rev().take_while(|held| {
            nodes += held.builder.nodes().len();
            nodes <= MAX_HELD_NODES
        });
        let fits = fits.count();
        let first = all.len() - fits;
        all.drain(..first);
    }
}

fn stat(path: &Path) -> Result<Stat, Problem> {
    let meta = std::fs::metadata(path).map_err(|error| Problem::new(path, error))?;
    Ok(Stat::of(&meta))
}

/// The bytes before `at`.
fn read_end(source: &Source, at: u64) -> Result<Vec<u8>, Problem> {
    let length = at.min(CHECKED_BYTES as u64);
    source.bytes(at - length, length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn line(uuid: &str, text: &str) -> String {
        format!(
            "{{\"parentUuid\":null,\"uuid\":\"{uuid}\",\"sessionId\":\"s\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    }

    #[test]
    fn a_grown_file_is_read_on_and_another_file_is_read_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, line("a", &"one".repeat(9000))).expect("written");
        let reader = FollowingReader::default();
        let read = || {
            let found = Found::lone(&path).expect("there");
            let nodes = reader.read_file(&found).expect("readable").nodes().len();
            (nodes, reader.take_counts())
        };
        let (nodes, (_, whole)) = read();
        assert!(nodes == 1 && whole > 27_000, "{whole}");
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("open");
        file.write_all(line("b", "two").as_bytes()).expect("written");
        let (nodes, (files, bytes)) = read();
        assert!((nodes, files) == (2, 1) && bytes < 5000, "{bytes}");
        assert_eq!(read(), (2, (0, 0)));
        assert_eq!(reader.held.lock().expect("free").len(), 1);
        std::fs::write(&path, line("c", "another beginning") + &line("d", "x") + &line("e", "y"))
            .expect("written");
        assert_eq!(read().0, 3);
    }
}

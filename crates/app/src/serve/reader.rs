//! Transcripts that have been read and are read on: of a file that grew only what is new.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use transcript::layout::{Found, Problem};
use transcript::session::Builder;
use transcript::source::Source;

/// So many entries are held over all files; what was asked for last stays.
const MOST_NODES: usize = 400_000;
/// Whether a file that is longer than before has grown or is another one is told by the bytes
/// before the place where reading stopped.
const TELLING: usize = 4096;

/// What has been read of files.
#[derive(Default)]
pub struct Reader {
    held: Mutex<Vec<Held>>,
}

struct Held {
    path: PathBuf,
    builder: Builder,
    /// The last bytes that were read.
    end: Vec<u8>,
}

impl Reader {
    /// The facts of a file as it is now.
    pub fn read(&self, found: &Found) -> Result<Builder, Problem> {
        let source = found.open()?;
        let (mut builder, before) = match self.take(&found.path, &source)? {
            Some(held) => (held.builder.clone(), Some(held)),
            None => (Builder::new(), None),
        };
        source.read_into(&mut builder)?;
        let is_same =
            before.as_ref().is_some_and(|held| held.builder.consumed() == builder.consumed());
        let end = match before {
            Some(held) if is_same => held.end,
            _ => end(&source, builder.consumed())?,
        };
        self.hold(Held { path: found.path.clone(), builder: builder.clone(), end });
        Ok(builder)
    }

    /// What was read of the file before, if it still begins like that.
    fn take(&self, path: &Path, source: &Source) -> Result<Option<Held>, Problem> {
        let held = {
            let mut all = self.held.lock().expect("nobody panics while holding it");
            let at = all.iter().position(|held| held.path == path);
            at.map(|at| all.remove(at))
        };
        let Some(held) = held else { return Ok(None) };
        let is_same = end(source, held.builder.consumed())? == held.end;
        Ok(is_same.then_some(held))
    }

    fn hold(&self, held: Held) {
        let mut all = self.held.lock().expect("nobody panics while holding it");
        all.retain(|other| other.path != held.path);
        all.push(held);
        let mut nodes = 0;
        let size = |held: &Held| held.builder.nodes().len();
        let fits = all.iter().rev().take_while(|held| {
            nodes += size(held);
            nodes <= MOST_NODES
        });
        let fits = fits.count();
        let first = all.len() - fits;
        all.drain(..first);
    }
}

/// The bytes before `at`.
fn end(source: &Source, at: u64) -> Result<Vec<u8>, Problem> {
    let length = at.min(TELLING as u64);
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
    fn what_grew_is_read_on_and_what_is_another_file_is_read_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, line("a", "one")).expect("written");
        let reader = Reader::default();
        let nodes = || {
            let found = Found::lone(&path).expect("there");
            reader.read(&found).expect("readable").nodes().len()
        };
        assert_eq!(nodes(), 1);
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("open");
        file.write_all(line("b", "two").as_bytes()).expect("written");
        assert_eq!(nodes(), 2);
        assert_eq!(reader.held.lock().expect("free").len(), 1);
        std::fs::write(&path, line("c", "another beginning") + &line("d", "x") + &line("e", "y"))
            .expect("written");
        assert_eq!(nodes(), 3);
    }
}

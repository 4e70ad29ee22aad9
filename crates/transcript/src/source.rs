//! A transcript on disk: read whole as a session, or by place as single records.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::layout::Problem;
use crate::session::{Builder, Node};

/// An opened transcript.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: File,
}

impl Source {
    /// Opens the file.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let file = File::open(path).map_err(|error| Problem::new(path, error))?;
        Ok(Self { path: path.to_path_buf(), file })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length now.
    pub fn size(&self) -> Result<u64, Problem> {
        self.file.metadata().map(|m| m.len()).map_err(|error| self.problem(error))
    }

    /// Reads on from where `builder` stands.
    pub fn read_into(&self, builder: &mut Builder) -> Result<(), Problem> {
        let from = builder.consumed();
        builder.read(At { file: &self.file, offset: from }).map_err(|error| self.problem(error))
    }

    /// The bytes of one entry.
    pub fn entry(&self, node: &Node) -> Result<Vec<u8>, Problem> {
        self.bytes(node.offset, node.length as usize)
    }

    /// `length` bytes from `offset`; fewer if the file ends before.
    pub fn bytes(&self, offset: u64, length: usize) -> Result<Vec<u8>, Problem> {
        let mut bytes = vec![0; length];
        let mut read = 0;
        while read < length {
            match read_at(&self.file, &mut bytes[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(n) => read += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.problem(error)),
            }
        }
        bytes.truncate(read);
        Ok(bytes)
    }

    fn problem(&self, error: io::Error) -> Problem {
        Problem::new(&self.path, error)
    }
}

/// A reader with a place of its own, so that one open file serves many.
struct At<'a> {
    file: &'a File,
    offset: u64,
}

impl io::Read for At<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, out, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, offset)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, offset)
}

//! A transcript on disk: read whole as a session, or by place as single records.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::kept::Kept;
use crate::layout::Problem;
use crate::session::{Builder, Node, Options, Session};

/// How much of a file's end is read first.
const TAIL_STEP: u64 = 256 << 10;

/// From this many bytes on, several cores share the reading of one file.
const LARGE: u64 = 16 << 20;

/// The end of a transcript.
#[derive(Debug)]
pub struct Tail {
    /// What it says, as a session.
    pub session: Session,
    /// Where it begins in the file.
    pub start: u64,
    /// How much was read for it.
    pub bytes_read: u64,
    /// What was read, from `start` on.
    bytes: Vec<u8>,
}

/// The start of the first whole line; the end if there is none.
fn after_newline(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}

/// Where the bytes are.
#[derive(Debug)]
enum Bytes {
    Disk(File),
    Kept(Kept),
}

impl Bytes {
    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Disk(file) => Ok(file.metadata()?.len()),
            Self::Kept(kept) => Ok(kept.size()),
        }
    }

    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Disk(file) => read_at(file, out, offset),
            Self::Kept(kept) => kept.read_at(out, offset),
        }
    }
}

/// An opened transcript.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: Bytes,
    /// Bytes that need not be read again, and where they begin.
    held: Option<(u64, Vec<u8>)>,
}

impl Source {
    /// Opens the file.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let file = File::open(path).map_err(|error| Problem::new(path, error))?;
        Ok(Self { path: path.to_path_buf(), file: Bytes::Disk(file), held: None })
    }

    /// A file that is kept and was at `path`.
    pub fn kept(path: &Path, kept: Kept) -> Self {
        Self { path: path.to_path_buf(), file: Bytes::Kept(kept), held: None }
    }

    /// Another file of the same Claude folder, if this one is kept and that one is too: by its
    /// path below the folder, and the path it had.
    pub fn kept_beside(&self, rel: &Path, path: &Path) -> Option<Self> {
        match &self.file {
            Bytes::Kept(kept) => Some(Self::kept(path, kept.beside(rel)?)),
            Bytes::Disk(_) => None,
        }
    }

    /// Whether it is read from where it is kept, because it is not on disk any more.
    pub fn is_kept(&self) -> bool {
        matches!(self.file, Bytes::Kept(_))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length now.
    pub fn size(&self) -> Result<u64, Problem> {
        self.file.size().map_err(|error| self.problem(error))
    }

    /// Reads on from where `builder` stands.
    pub fn read_into(&self, builder: &mut Builder) -> Result<(), Problem> {
        let from = builder.consumed();
        let left = self.size()?.saturating_sub(from);
        builder.expect(left);
        let read = match left {
            LARGE.. => builder.read_shared(self.reader(from)),
            _ => builder.read(self.reader(from)),
        };
        read.map_err(|error| self.problem(error))
    }

    /// Reads from `offset` to the end.
    pub fn reader(&self, offset: u64) -> impl io::Read + Send + '_ {
        At { file: &self.file, offset }
    }

    /// All bytes of it.
    pub fn whole(&self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        let read = io::Read::read_to_end(&mut self.reader(0), &mut bytes);
        read.map(|_| bytes).map_err(|error| self.problem(error))
    }

    /// The line that the byte at `offset` is in, from 1. Everything before it is read.
    pub fn line_at(&self, offset: u64) -> Result<u64, Problem> {
        let mut before = io::Read::take(self.reader(0), offset);
        let (mut buffer, mut line) = (vec![0; 256 << 10], 1);
        loop {
            match io::Read::read(&mut before, &mut buffer) {
                Ok(0) => return Ok(line),
                Ok(read) => line += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.problem(error)),
            }
        }
    }

    /// The bytes of one entry.
    pub fn entry(&self, node: &Node) -> Result<Vec<u8>, Problem> {
        self.bytes(node.offset, node.length as usize)
    }

    /// `length` bytes from `offset`; fewer if the file ends before.
    pub fn bytes(&self, offset: u64, length: usize) -> Result<Vec<u8>, Problem> {
        if let Some(bytes) = self.held(offset, length) {
            return Ok(bytes.to_vec());
        }
        let mut bytes = vec![0; length];
        let mut read = 0;
        while read < length {
            match self.file.read_at(&mut bytes[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(n) => read += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.problem(error)),
            }
        }
        bytes.truncate(read);
        Ok(bytes)
    }

    fn held(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let (start, bytes) = self.held.as_ref()?;
        let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
        bytes.get(from..from.checked_add(length)?)
    }

    /// Keeps what was read of the end, so that its entries are not read twice, and gives its
    /// session.
    pub fn hold(&mut self, tail: Tail) -> Session {
        self.held = Some((tail.start, tail.bytes));
        tail.session
    }

    /// The end of the file as a session: as little of it as `enough` asks for, at most `most`
    /// bytes. What hangs on earlier entries hangs on nothing then.
    pub fn tail(&self, most: u64, enough: impl Fn(&Session) -> bool) -> Result<Tail, Problem> {
        let size = self.size()?;
        let mut held = Vec::new();
        let mut from = size;
        let mut step = TAIL_STEP;
        loop {
            let back = step.min(from).min(most - (size - from));
            from -= back;
            let mut bytes = self.bytes(from, back as usize)?;
            bytes.append(&mut held);
            held = bytes;
            let skip = if from == 0 { 0 } else { after_newline(&held) };
            let start = from + skip as u64;
            let mut builder = Builder::from_offset(start);
            builder.read(&held[skip..]).map_err(|error| self.problem(error))?;
            let session = builder.finish(&Options::default());
            if from == 0 || size - from >= most || enough(&session) {
                held.drain(..skip);
                return Ok(Tail { session, start, bytes_read: size - from, bytes: held });
            }
            step *= 2;
        }
    }

    fn problem(&self, error: io::Error) -> Problem {
        Problem::new(&self.path, error)
    }
}

/// A reader with a place of its own, so that one open file serves many.
struct At<'a> {
    file: &'a Bytes,
    offset: u64,
}

impl io::Read for At<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(out, self.offset)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(lines: usize) -> (tempfile::NamedTempFile, u64) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut text = String::new();
        for n in 0..lines {
            let parent = if n == 0 { "null".into() } else { format!("\"u{}\"", n - 1) };
            let padding = "x".repeat(1000);
            text.push_str(&format!(
                "{{\"parentUuid\":{parent},\"uuid\":\"u{n}\",\"sessionId\":\"s\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{n} {padding}\"}}}}\n"
            ));
        }
        std::fs::write(file.path(), &text).expect("written");
        (file, text.len() as u64)
    }

    #[test]
    fn a_tail_reads_no_more_than_is_asked_for() {
        let (file, size) = file(4000);
        let source = Source::open(file.path()).expect("opens");
        let tail = source.tail(8 << 20, |s| s.turns().len() >= 20).expect("reads");
        assert!(tail.session.turns().len() >= 20);
        assert_eq!(tail.bytes_read, TAIL_STEP);
        assert!(tail.start > size - TAIL_STEP);
        let last = *tail.session.nodes().last().expect("entries");
        let bytes = source.entry(&last).expect("reads");
        assert!(String::from_utf8_lossy(&bytes).contains("\"u3999\""));
        let mut holder = Source::open(file.path()).expect("opens");
        let start = tail.start;
        holder.hold(tail);
        std::fs::write(file.path(), "").expect("emptied");
        assert_eq!(holder.entry(&last).expect("held"), bytes);
        assert_eq!(holder.bytes(start - 9, 9).expect("reads"), b"");
    }

    #[test]
    fn the_line_of_a_byte_is_counted_from_the_beginning() {
        let (file, size) = file(900);
        let source = Source::open(file.path()).expect("opens");
        let lines = [0, 1, size / 2, size - 1].map(|at| source.line_at(at).expect("reads"));
        let text = std::fs::read(file.path()).expect("reads");
        let half = text[..size as usize / 2].iter().filter(|&&byte| byte == b'\n').count() as u64;
        assert_eq!(lines, [1, 1, half + 1, 900]);
    }

    #[test]
    fn a_tail_is_bounded() {
        let (file, _) = file(4000);
        let source = Source::open(file.path()).expect("opens");
        let bounded = source.tail(1 << 20, |_| false).expect("reads");
        assert_eq!(bounded.bytes_read, 1 << 20);
        assert_eq!(source.tail(u64::MAX, |_| false).expect("reads").session.turns().len(), 4000);
    }
}

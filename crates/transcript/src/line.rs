//! Bytes into lines. A line is named by its offset; the lines of a file joined are the file.
//!
//! [`Lines`] walks bytes in memory, [`LineReader`] any reader in bounded memory. A line longer
//! than [`HELD`] is not held whole: its long strings are cut down first ([`Line::length`] still
//! counts the bytes in the file). Nothing is decoded or judged here.

use std::io::{self, Read};

use memchr::{memchr, memmem, memrchr};

/// Lines up to this many bytes are held as they are.
pub const HELD: usize = 32 << 20;
/// What is left of each string of a line that is longer.
const KEPT_OF_STRING: usize = 64 << 10;
/// Read at once. The buffer begins smaller: most files are, and it has to be cleared.
const CHUNK: usize = 256 << 10;
const FIRST: usize = 32 << 10;

/// One line with its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it begins in the file.
    pub offset: u64,
    /// Bytes it takes in the file, ending included.
    pub length: u64,
    /// Its bytes, ending included; fewer than `length` when it was cut down.
    pub bytes: &'a [u8],
}

impl Line<'_> {
    /// Whether the line ends in a newline. The last line of a growing file may not, yet.
    pub fn is_finished(&self) -> bool {
        self.bytes.last() == Some(&b'\n')
    }

    /// Whether `bytes` is less than what stands in the file.
    pub fn is_condensed(&self) -> bool {
        self.bytes.len() as u64 != self.length
    }
}

/// The lines of bytes in memory.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Lines<'a> {
    /// The lines of `bytes`, which begin at `offset` of their file.
    pub fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, offset }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', self.rest).map_or(self.rest.len(), |at| at + 1);
        let (bytes, rest) = self.rest.split_at(end);
        let line = Line { offset: self.offset, length: end as u64, bytes };
        self.rest = rest;
        self.offset += end as u64;
        Some(line)
    }
}

/// The lines of a reader, in memory bounded by [`HELD`].
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    at_end: bool,
}

impl<R: Read> LineReader<R> {
    /// Reads lines from `input`, whose first byte stands at `offset` of the file.
    pub fn new(input: R, offset: u64) -> Self {
        Self { input, buffer: Vec::new(), start: 0, end: 0, offset, at_end: false }
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut seen = 0;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.start + seen..self.end]) {
                return Ok(Some(self.take(seen + at + 1)));
            }
            seen = self.end - self.start;
            if self.at_end {
                return Ok((seen > 0).then(|| self.take(seen)));
            }
            if seen >= HELD {
                return self.condensed().map(Some);
            }
            self.fill()?;
        }
    }

    /// Takes as many whole lines as are held, at least one, into `batch`; whether there were any.
    pub(crate) fn next_batch(&mut self, batch: &mut Batch) -> io::Result<bool> {
        let mut seen = 0;
        loop {
            if let Some(at) = memrchr(b'\n', &self.buffer[self.start + seen..self.end]) {
                self.hand_over(seen + at + 1, batch);
                return Ok(true);
            }
            seen = self.end - self.start;
            if self.at_end {
                self.hand_over(seen, batch);
                return Ok(seen > 0);
            }
            if seen >= HELD {
                let line = self.condensed()?;
                (batch.start, batch.offset, batch.length) = (0, line.offset, line.length);
                batch.buffer.clear();
                batch.buffer.extend_from_slice(line.bytes);
                batch.end = batch.buffer.len();
                return Ok(true);
            }
            self.fill()?;
        }
    }

    /// Gives `length` bytes away with their buffer and goes on with the other one.
    fn hand_over(&mut self, length: usize, batch: &mut Batch) {
        let rest = self.start + length..self.end;
        std::mem::swap(&mut self.buffer, &mut batch.buffer);
        (batch.start, batch.end) = (self.start, rest.start);
        (batch.offset, batch.length) = (self.offset, length as u64);
        let rest = &batch.buffer[rest];
        lengthen(&mut self.buffer, rest.len());
        self.buffer[..rest.len()].copy_from_slice(rest);
        (self.start, self.end) = (0, rest.len());
        self.offset += length as u64;
    }

    fn take(&mut self, length: usize) -> Line<'_> {
        let bytes = self.start..self.start + length;
        let line_offset = self.offset;
        self.start += length;
        self.offset += length as u64;
        Line { offset: line_offset, length: length as u64, bytes: &self.buffer[bytes] }
    }

    /// Reads on, making room first: what is held moves to the front, the buffer grows if it was
    /// full. Else the input may be at its end, and a large buffer for nothing is what a small file
    /// would cost most.
    fn fill(&mut self) -> io::Result<()> {
        let was_full = self.end == self.buffer.len();
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end < CHUNK / 2 && self.buffer.len() > 4 * CHUNK {
            self.buffer = self.buffer[..self.end].to_vec();
        }
        let room = match self.buffer.is_empty() {
            true => FIRST,
            false if was_full => CHUNK,
            false => FIRST / 2,
        };
        if self.buffer.len() < self.end + room {
            let size = (self.buffer.len() * 2).min(HELD + CHUNK).max(self.end + room);
            lengthen(&mut self.buffer, size);
        }
        self.end += self.read_some()?;
        Ok(())
    }

    fn read_some(&mut self) -> io::Result<usize> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    return Ok(0);
                }
                Ok(n) => return Ok(n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A line that is too long to hold: cuts it down piece by piece up to its newline.
    fn condensed(&mut self) -> io::Result<Line<'_>> {
        let mut short = Condenser::default();
        let mut length = 0u64;
        loop {
            let piece = &self.buffer[self.start..self.end];
            let newline = memchr(b'\n', piece);
            let used = newline.map_or(piece.len(), |at| at + 1);
            short.push(&piece[..used]);
            length += used as u64;
            self.start += used;
            if newline.is_some() || self.at_end {
                break;
            }
            self.start = 0;
            self.end = 0;
            self.end = self.read_some()?;
        }
        let left = self.buffer[self.start..self.end].to_vec();
        self.buffer = short.out;
        let line = self.buffer.len();
        self.buffer.extend_from_slice(&left);
        (self.start, self.end) = (line, line + left.len());
        let offset = self.offset;
        self.offset += length;
        Ok(Line { offset, length, bytes: &self.buffer[..line] })
    }
}

/// Gives a buffer at least this length. Not part of the reader, which is built anew where it is
/// used: for code that has to be small zeros are written one by one there, a quarter of all time.
#[inline(never)]
fn lengthen(buffer: &mut Vec<u8>, size: usize) {
    if buffer.len() < size {
        buffer.resize(size, 0);
    }
}

/// Lines that were read together, with a buffer of their own.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    /// Bytes in the file: more than are held if it is one line that was cut down.
    length: u64,
}

impl Batch {
    /// How many bytes are held.
    pub(crate) fn held(&self) -> usize {
        self.end - self.start
    }

    /// Its lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let bytes = &self.buffer[self.start..self.end];
        let cut_down = self.length - bytes.len() as u64;
        Lines::new(bytes, self.offset)
            .map(move |line| Line { length: line.length + cut_down, ..line })
    }

    /// Its lines in which something is found. The others are not even counted.
    pub(crate) fn lines_with<'a>(
        &'a self,
        wanted: &'a memmem::Finder<'_>,
    ) -> impl Iterator<Item = Line<'a>> {
        let bytes = &self.buffer[self.start..self.end];
        let cut_down = self.length - bytes.len() as u64;
        let mut done = 0;
        std::iter::from_fn(move || {
            let found = done + wanted.find(&bytes[done..])?;
            let start = memrchr(b'\n', &bytes[done..found]).map_or(done, |at| done + at + 1);
            let end = memchr(b'\n', &bytes[found..]).map_or(bytes.len(), |at| found + at + 1);
            done = end;
            let (line, offset) = (&bytes[start..end], self.offset + start as u64);
            Some(Line { offset, length: line.len() as u64 + cut_down, bytes: line })
        })
    }
}

/// Cuts the long strings of JSON text down while it streams by.
#[derive(Default)]
struct Condenser {
    out: Vec<u8>,
    in_string: bool,
    escaped: bool,
    string_length: usize,
}

impl Condenser {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let keep = self.keep(byte);
            if keep && (self.out.len() < HELD || byte == b'\n') {
                self.out.push(byte);
            }
        }
    }

    /// Whether `byte` stays. The cut never falls inside an escape of two bytes; `\u` escapes may
    /// be cut and then read as a replacement character.
    fn keep(&mut self, byte: u8) -> bool {
        if byte == b'\n' {
            return true;
        }
        if !self.in_string {
            self.in_string = byte == b'"';
            self.string_length = 0;
            return true;
        }
        if !self.escaped && byte == b'"' {
            self.in_string = false;
            return true;
        }
        let starts_unit = !self.escaped;
        self.escaped = !self.escaped && byte == b'\\';
        let keep = self.string_length < KEPT_OF_STRING
            || (self.string_length == KEPT_OF_STRING && !starts_unit);
        self.string_length += usize::from(keep);
        keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives its bytes in pieces of the given sizes.
    struct Slices<'a>(&'a [u8], Vec<usize>);

    impl Read for Slices<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let want = self.1.pop().unwrap_or(7).max(1).min(out.len()).min(self.0.len());
            out[..want].copy_from_slice(&self.0[..want]);
            self.0 = &self.0[want..];
            Ok(want)
        }
    }

    fn all<R: Read>(mut reader: LineReader<R>) -> Vec<(u64, Vec<u8>)> {
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().expect("reads") {
            lines.push((line.offset, line.bytes.to_vec()));
        }
        lines
    }

    #[test]
    fn a_line_longer_than_held_is_cut_down_but_counted_whole() {
        let long = "x".repeat(HELD + 4 * CHUNK);
        let text = format!("{{\"a\":\"{long}\",\"b\":\"\\\\\"}}\n{{\"c\":1}}\n");
        let mut reader = LineReader::new(text.as_bytes(), 0);
        let line = reader.next_line().expect("reads").expect("a line");
        assert!(line.is_condensed() && line.is_finished());
        assert_eq!(line.length as usize, text.len() - "{\"c\":1}\n".len());
        let short = serde_json::from_slice::<serde_json::Value>(line.bytes).expect("still JSON");
        assert_eq!(short["a"].as_str().map(str::len), Some(KEPT_OF_STRING));
        assert_eq!(short["b"], "\\");
        let next = reader.next_line().expect("reads").expect("a line");
        assert_eq!((next.offset, next.bytes), (text.len() as u64 - 8, &b"{\"c\":1}\n"[..]));
        assert!(reader.next_line().expect("reads").is_none());
    }

    proptest! {
        #[test]
        fn lines_joined_are_the_file(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300)) {
            let joined: Vec<u8> = Lines::new(&bytes, 0).flat_map(|l| l.bytes.to_vec()).collect();
            prop_assert_eq!(joined, bytes);
        }

        #[test]
        fn any_slicing_gives_the_same_lines(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            sizes in prop::collection::vec(1usize..40, 0..30),
        ) {
            let whole: Vec<_> = Lines::new(&bytes, 9).map(|l| (l.offset, l.bytes.to_vec())).collect();
            prop_assert_eq!(all(LineReader::new(Slices(&bytes, sizes), 9)), whole);
        }

        #[test]
        fn lines_with_something_in_them_are_found_in_any_slicing(
            bytes in prop::collection::vec(prop::sample::select(&b"ab\n"[..]), 0..300),
            sizes in prop::collection::vec(1usize..40, 0..30),
        ) {
            let wanted = memmem::Finder::new(b"ab");
            let whole = Lines::new(&bytes, 9).filter(|line| wanted.find(line.bytes).is_some());
            let whole: Vec<_> = whole.map(|l| (l.offset, l.length, l.bytes.to_vec())).collect();
            let mut reader = LineReader::new(Slices(&bytes, sizes), 9);
            let (mut batch, mut found) = (Batch::default(), Vec::new());
            while reader.next_batch(&mut batch).expect("reads") {
                let lines = batch.lines_with(&wanted);
                found.extend(lines.map(|l| (l.offset, l.length, l.bytes.to_vec())));
            }
            prop_assert_eq!(found, whole);
        }
    }
}

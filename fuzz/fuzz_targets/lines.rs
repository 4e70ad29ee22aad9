//! The lines of a file joined are the file, and reading it in pieces gives the same lines.
//!
//! The first byte of the input sets the size of the pieces.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use transcript::line::{LineReader, Lines};

/// Gives its bytes in pieces of at most `.1` bytes.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(out.len()).min(self.0.len());
        let (piece, rest) = self.0.split_at(size);
        out[..size].copy_from_slice(piece);
        self.0 = rest;
        Ok(size)
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&size, file)) = input.split_first() else { return };
    let whole: Vec<_> = Lines::new(file, 0).collect();
    let joined: Vec<u8> = whole.iter().flat_map(|line| line.bytes).copied().collect();
    assert_eq!(joined, file, "lines joined are not the file");
    let mut offset = 0;
    let (last, before) = whole.split_last().map_or((None, &[][..]), |(l, b)| (Some(l), b));
    for line in before.iter().chain(last) {
        assert_eq!(line.offset, offset, "offsets have a gap");
        assert_eq!(line.length as usize, line.bytes.len());
        offset += line.length;
    }
    assert!(before.iter().all(|line| line.is_finished()), "only the last line may be unfinished");

    let mut reader = LineReader::new(Pieces(file, usize::from(size) + 1), 0);
    let mut lines = whole.iter();
    while let Some(line) = reader.next_line().expect("memory can be read") {
        assert_eq!(Some(&line), lines.next(), "slicing changed a line");
    }
    assert!(lines.next().is_none(), "slicing lost a line");
});

//! Reading files in bounded memory.
//!
//! Side files are small, so a huge one is a mistake and is refused rather than loaded; files that
//! grow (the history, logs) are read in blocks of whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use transcript::layout::{Found, Problem};
use transcript::source::Source;

/// No file that is read whole is larger.
const WHOLE_MOST: u64 = 64 << 20;
/// A block of lines. A line longer than this comes in parts.
const BLOCK: usize = 8 << 20;

/// A whole file, on disk or kept.
pub fn whole_of(found: &Found) -> Result<Vec<u8>, Problem> {
    let source = found.open()?;
    limited(&found.path, source.reader(0))
}

/// A whole file that has been opened.
pub fn whole_source(source: &Source) -> Result<Vec<u8>, Problem> {
    limited(source.path(), source.reader(0))
}

/// A whole file.
pub fn whole(path: &Path) -> Result<Vec<u8>, Problem> {
    let file = File::open(path).map_err(|error| Problem::new(path, error))?;
    limited(path, file)
}

fn limited(path: &Path, input: impl Read) -> Result<Vec<u8>, Problem> {
    let read = || {
        let mut bytes = Vec::new();
        input.take(WHOLE_MOST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > WHOLE_MOST {
            return Err(io::Error::other("it is larger than any file of its kind should be"));
        }
        Ok(bytes)
    };
    read().map_err(|error| Problem::new(path, error))
}

/// What is read in blocks.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A file.
    Path(&'a Path),
    /// A file that was found, on disk or kept.
    Found(&'a Found),
    /// Standard input.
    Stdin,
}

/// Gives the input to `each` in blocks of whole lines, with the offset of each block.
pub fn blocks<E: From<Problem>>(
    input: Input<'_>,
    each: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let source;
    let (path, reader): (_, Box<dyn Read + '_>) = match input {
        Input::Found(found) => {
            source = found.open()?;
            (found.path.as_path(), Box::new(source.reader(0)))
        }
        Input::Stdin => (Path::new("standard input"), Box::new(io::stdin())),
        Input::Path(path) => {
            (path, Box::new(File::open(path).map_err(|error| Problem::new(path, error))?))
        }
    };
    in_blocks(reader, BLOCK, |error| Problem::new(path, error).into(), each)
}

fn in_blocks<E>(
    mut input: impl Read,
    size: usize,
    problem: impl Fn(io::Error) -> E,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut held: Vec<u8> = Vec::new();
    let mut at = 0;
    loop {
        let room = size.saturating_sub(held.len()).max(1);
        let got = input.by_ref().take(room as u64).read_to_end(&mut held).map_err(&problem)?;
        if got == 0 {
            return if held.is_empty() { Ok(()) } else { each(at, &held) };
        }
        if held.len() < size {
            continue;
        }
        let end = held.iter().rposition(|&b| b == b'\n').map_or(held.len(), |end| end + 1);
        each(at, &held[..end])?;
        held.drain(..end);
        at += end as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, size: usize) -> Vec<(u64, String)> {
        let mut parts = Vec::new();
        let each = |at, block: &[u8]| {
            parts.push((at, String::from_utf8_lossy(block).into_owned()));
            Ok::<(), io::Error>(())
        };
        in_blocks(text.as_bytes(), size, |error| error, each).expect("readable");
        parts
    }

    #[test]
    fn blocks_are_whole_lines() {
        let want = [(0, "ab\n"), (3, "cd\n"), (6, "e")].map(|(at, text)| (at, text.to_owned()));
        assert_eq!(parts("ab\ncd\ne", 4), want);
        assert_eq!(parts("", 4), []);
    }

    #[test]
    fn a_long_line_comes_in_parts() {
        let want = [(0, "abcd"), (4, "ef\n"), (7, "g\n")].map(|(at, text)| (at, text.to_owned()));
        assert_eq!(parts("abcdef\ng\n", 4), want);
    }

    #[test]
    fn a_folder_is_no_file() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert!(whole(dir.path()).is_err());
    }
}

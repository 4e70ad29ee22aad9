//! The end of a large transcript, without reading the rest.
//!
//! The name is resolved by the names of files alone: reading the library to find one file would
//! cost more than the end of it.

use std::path::{Path, PathBuf};

use report::show::{self, Part};
use transcript::layout::Found;
use transcript::record::{Detail, Opened};
use transcript::session::Session;
use transcript::source::Source;

use crate::error::CliError;
use crate::run::Run;
use ask::name::{self, Noun, SessionName};

/// Files up to this size are read whole.
const WHOLE_MOST: u64 = 8 << 20;
/// No more than this is read of a larger one.
const TAIL_MOST: u64 = 7 << 20;

/// The end of a transcript.
pub struct End {
    /// What it says.
    pub session: Session,
    /// The file, which keeps what was read.
    pub sources: [Source; 1],
    /// How much was read.
    pub bytes_read: u64,
    /// The size of the file.
    pub size: u64,
}

/// The end of the session's file with so many records, if the file is large and can be found by
/// its name alone.
pub fn of(
    run: &mut Run,
    name: &SessionName,
    last: usize,
    detail: Detail,
) -> Result<Option<End>, CliError> {
    match find(run, name)? {
        Some(path) => read(&path, last, detail),
        None => Ok(None),
    }
}

/// The end of a file with so many records; `None` if the file is small.
pub fn read(path: &Path, last: usize, detail: Detail) -> Result<Option<End>, CliError> {
    let mut source = Source::open(path)?;
    let size = source.size()?;
    if size <= WHOLE_MOST {
        return Ok(None);
    }
    let tail = source.tail(TAIL_MOST, |session| records(session, detail) >= last)?;
    let bytes_read = tail.bytes_read;
    let session = source.hold(tail);
    Ok(Some(End { session, sources: [source], bytes_read, size }))
}

/// How many records a level shows.
fn records(session: &Session, detail: Detail) -> usize {
    let opened = Opened::new(session, &[], true);
    show::nodes(session, Part::Way).map_or(0, |way| show::visible(&opened, &way, detail).len())
}

fn find(run: &mut Run, name: &SessionName) -> Result<Option<PathBuf>, CliError> {
    match name {
        SessionName::Path(path) => Ok(path.is_file().then(|| path.clone())),
        SessionName::Id(text) => {
            let files = run.recount.list_transcripts()?;
            let named = files.iter().filter(|found| found.size > 0);
            let named: Vec<(&str, &Found)> =
                named.filter_map(|found| Some((found.stem()?, found))).collect();
            let ids: Vec<&str> = named.iter().map(|(id, _)| *id).collect();
            // What cannot be told by file names may still be told by what is in them.
            let Ok(id) = name::pick(Noun::Session, text, &ids) else { return Ok(None) };
            let own = named.iter().filter(|(own, _)| *own == id).map(|(_, found)| found);
            let latest = own.max_by_key(|found| found.modified);
            Ok(latest.filter(|found| found.path.is_file()).map(|found| found.path.clone()))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A transcript of so many prompts, each with an answer of `length`.
    fn file(prompts: usize, length: usize) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let padding = "x".repeat(length);
        for n in 0..prompts {
            let before = n.wrapping_sub(1);
            writeln!(
                file,
                r#"{{"parentUuid":"a{before}","uuid":"p{n}","sessionId":"s","type":"user","message":{{"role":"user","content":"{n}"}}}}
{{"parentUuid":"p{n}","uuid":"a{n}","sessionId":"s","type":"assistant","message":{{"content":[{{"type":"text","text":"{padding}"}}]}}}}"#
            )
            .expect("written");
        }
        file
    }

    fn end(prompts: usize, length: usize) -> End {
        let file = file(prompts, length);
        let end = read(file.path(), 20, Detail::Work).expect("readable").expect("large");
        // Whatever is shown of it has been read: the file may go.
        file.as_file().set_len(0).expect("emptied");
        let opened = Opened::new(&end.session, &end.sources, true);
        for node in 0..end.session.nodes().len() {
            let record = opened.record(node).expect("held").expect("a record");
            assert!(record.number.is_none() && record.turn.is_none());
            assert_eq!(opened.bytes(node).expect("held").len(), record.length as usize);
        }
        end
    }

    #[test]
    fn less_than_eight_megabytes_are_read() {
        let small = end(10_000, 2_000);
        assert!(small.size > 20 << 20 && small.bytes_read == 256 << 10, "{}", small.bytes_read);
        // Ten answers are more than that: the end is shorter than asked for.
        let large = end(20, 1 << 20);
        assert!(large.size > 20 << 20 && large.bytes_read < 8 << 20, "{}", large.bytes_read);
    }
}

//! The parts of a transcript in the archive, once more as the index saw them.
//!
//! Where the file is still on disk as it was kept, it is read there: the bytes are the same and
//! need not be unpacked. What is known of the entries says which of them can hold what is wanted, so only the stretch
//! between the first and the last of those is read, and of that only their lines are parsed.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::time::UNIX_EPOCH;

use transcript::line::LineReader;
use transcript::reading::EntryReading;
use transcript::session::{Builder, Node};

use super::{Part, Spills};
use crate::archive::{Archive, ArchiveError, FileRow};

/// Gives the parts of all wanted entries to `each`, with the turn as the index counts it.
pub(crate) fn each_part(
    archive: &Archive,
    row: &FileRow,
    builder: &Builder,
    wanted: impl Fn(&Node) -> bool,
    mut each: impl FnMut(&Node, u32, Part<'_>) -> ControlFlow<()>,
) -> Result<(), ArchiveError> {
    let nodes = builder.nodes();
    let Some(first) = nodes.iter().position(&wanted) else { return Ok(()) };
    let last = nodes.iter().rposition(&wanted).map_or(0, |at| nodes[at].offset);
    let mut turn = turns(&nodes[..first]);
    let mut at = first;
    let from = nodes[first].offset;
    let content: Box<dyn Read + '_> = match on_disk(row, from) {
        Some(file) => Box::new(file.take(row.size - from)),
        None => Box::new(archive.content_from(row.generation, from)),
    };
    let mut lines = LineReader::new(content, from);
    let failed = |source| ArchiveError::Io { path: archive.path().to_path_buf(), source };
    let spills = Spills::of(archive, row);
    let mut odd = Vec::new();
    while let Some(line) = lines.next_line().map_err(failed)? {
        if line.offset > last {
            break;
        }
        let end = line.offset + line.length;
        let count = nodes[at..].iter().take_while(|node| node.offset < end).count();
        let its = &nodes[at..at + count];
        at += count;
        let is_wanted = its.iter().any(&wanted);
        let mut flow = ControlFlow::Continue(());
        let mut nth = 0;
        if is_wanted {
            EntryReading::each_in_line(line, &mut odd, |entry| {
                let Some(node) = its.get(nth).filter(|_| flow.is_continue()) else { return };
                nth += 1;
                turn += u32::from(node.role.is_person());
                if wanted(node) {
                    let mut parts = super::parts(builder, node, &entry).into_iter();
                    flow = parts.try_for_each(|part| each(node, turn, spills.add_to(part)));
                }
            });
            odd.clear();
        }
        // What was not parsed is counted all the same.
        turn += turns(&its[nth..]);
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// The file from `from` on, if its stat says that it is what is kept.
pub(crate) fn on_disk(row: &FileRow, from: u64) -> Option<File> {
    const NANO: i64 = 1_000_000;
    let mut file = File::open(row.path()).ok().filter(|_| !row.gone && from <= row.size)?;
    let stat = file.metadata().ok()?;
    let modified = stat.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_millis();
    // A time that is not to be trusted is kept with a mark below the millisecond.
    let is_same = stat.len() == row.size
        && row.stat.mtime_ns % NANO == 0
        && i64::try_from(modified).ok()? == row.stat.mtime_ns / NANO;
    file.seek(SeekFrom::Start(from)).ok().filter(|_| is_same)?;
    Some(file)
}

/// Counted in the order of the file, as the index does.
fn turns(nodes: &[Node]) -> u32 {
    nodes.iter().filter(|node| node.role.is_person()).count() as u32
}

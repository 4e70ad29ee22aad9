//! The parts of a transcript in the archive, once more as the index saw them.
//!
//! What is known of the entries says which of them can hold what is wanted, so only the stretch
//! between the first and the last of those is read, and of that only their lines are parsed.

use std::ops::ControlFlow;

use transcript::entry::Entry;
use transcript::line::LineReader;
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
    let mut lines = LineReader::new(archive.content_from(row.generation, from), from);
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
            Entry::read(line, &mut odd, |entry| {
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

/// Counted in the order of the file, as the index does.
fn turns(nodes: &[Node]) -> u32 {
    nodes.iter().filter(|node| node.role.is_person()).count() as u32
}

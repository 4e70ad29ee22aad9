//! Sessions that only the history remembers, brought up to date.
//!
//! A history is read on from where it was read to. A ghost that got another prompt is indexed
//! anew, one whose transcript turned up is taken out again: its words are in the transcript.

use hashbrown::{HashMap, HashSet};
use transcript::id::SessionId;
use transcript::layout::{FileKind, classify};
use transcript::line::LineReader;
use transcript::side::history;

use super::SyncError;
use crate::archive::{Archive, ArchiveError, FileRow, path_of};
use crate::catalog::{Ghost, Typed, Writer};
use crate::index::{Doc, IndexWriter};
use crate::query::Role;
use crate::text;

/// Reads what is new of the histories, and brings the ghosts in catalog and index up to date.
/// What the index has of a later edition than `indexed` is not there.
pub(super) fn update(
    write: &Writer<'_>,
    archive: &Archive,
    rows: &[FileRow],
    indexed: u64,
    index: &mut IndexWriter,
) -> Result<(), SyncError> {
    let mut aside: HashSet<SessionId> = HashSet::new();
    for row in rows {
        match classify(&path_of(&row.rel)) {
            FileKind::History => read(write, archive, row)?,
            // Put aside, but not lost.
            FileKind::SetAside { session, .. } => drop(aside.insert(session)),
            _ => {}
        }
    }
    let before = write.catalog().ghosts(true)?;
    let mut before: HashMap<SessionId, Ghost> =
        before.into_iter().map(|ghost| (ghost.session.clone(), ghost)).collect();
    for ghost in write.catalog().untold()? {
        if aside.contains(&ghost.session) {
            continue;
        }
        let known = before.remove(&ghost.session);
        let told = |ghost: &Ghost| (ghost.prompts, ghost.first, ghost.last);
        let is_known = |known: &Ghost| told(known) == told(&ghost) && known.edition <= indexed;
        if !known.as_ref().is_some_and(is_known) {
            add(write, archive, ghost, index)?;
        }
    }
    for ghost in before.into_values().filter(|g| g.prompts > 0 || g.edition > indexed) {
        index.remove_file(ghost.file as u64);
        write.ghost(&Ghost::none(ghost.session))?;
    }
    Ok(())
}

/// Reads on in a history. Its last line may be half written, and is left for the next time.
fn read(write: &Writer<'_>, archive: &Archive, row: &FileRow) -> Result<(), SyncError> {
    let (file, generation) = (row.file.0, row.generation.0);
    write.retype(file, generation)?;
    let from = write.catalog().typed_until(file, generation)?;
    let mut lines = LineReader::new(archive.content_from(row.generation, from), from);
    let failed = |source| ArchiveError::Io { path: archive.path().to_path_buf(), source };
    while let Some(line) = lines.next_line().map_err(failed)?.filter(|line| line.is_finished()) {
        let prompt = history::parse(line.bytes).0.into_iter().next();
        let session = prompt.as_ref().and_then(|prompt| prompt.session.as_ref());
        let session = session.map(SessionId::as_str);
        let time = prompt.as_ref().and_then(|prompt| prompt.time);
        let (offset, length) = (line.offset, line.length);
        write.typed(Typed { history: file, generation, offset, length }, session, time)?;
    }
    Ok(())
}

/// Writes a ghost with what its first prompt says, and indexes all its prompts.
fn add(
    write: &Writer<'_>,
    archive: &Archive,
    mut ghost: Ghost,
    index: &mut IndexWriter,
) -> Result<(), SyncError> {
    let lines = write.catalog().typed(&ghost.session)?;
    if let Some(first) = lines.first()
        && let Some((prompt, _)) = text::typed(archive, first)?
    {
        ghost.title = prompt.display.map(Into::into);
        ghost.project = prompt.project.map(|path| path.as_str().to_owned());
    }
    let file = write.ghost(&ghost)? as u64;
    index.remove_file(file);
    for (line, entry) in lines.iter().zip(1..) {
        let Some((prompt, text)) = text::typed(archive, line)? else { continue };
        let (role, time) = (Role::Prompt, prompt.time);
        let (tool, path, is_error, text) = (None, None, false, &*text);
        index.add(Doc { file, entry, turn: entry, role, time, tool, path, is_error, text })?;
    }
    Ok(())
}

//! What was used, also by what is no session any more: transcripts that were put aside, and what
//! files held before they were rewritten. Money that was spent stays spent.

use hashbrown::HashMap;
use transcript::layout::classify;
use transcript::usage::Claims;
use zstd::zstd_safe::CCtx;

use super::SyncError;
use crate::archive::{Archive, ArchiveError, FileId, FileRow, path_of};
use crate::catalog::{Writer, packed};

/// Reads the lives of transcripts whose claims are not in the catalog.
pub(super) fn update(
    write: &Writer<'_>,
    archive: &Archive,
    rows: &[FileRow],
) -> Result<(), SyncError> {
    let claimed: HashMap<i64, u64> = write.catalog().claimed()?.into_iter().collect();
    let files: HashMap<FileId, &FileRow> = rows.iter().map(|row| (row.file, row)).collect();
    let is_transcript = |file: &FileId| {
        files.get(file).is_some_and(|row| classify(&path_of(&row.rel)).is_transcript())
    };
    let mut context = CCtx::create();
    for (file, generation, size) in archive.lives()? {
        if claimed.get(&generation.0) == Some(&size) || !is_transcript(&file) {
            continue;
        }
        let failed = |source| ArchiveError::Io { path: archive.path().to_path_buf(), source };
        let claims = Claims::read(archive.content(generation)).map_err(failed)?;
        let data = packed(&mut context, |out| claims.save(out));
        write.claims(file.0, generation.0, size, &data)?;
    }
    Ok(())
}

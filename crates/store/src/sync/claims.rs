//! What was used, also by what is no session any more: transcripts that were put aside, and what
//! files held before they were rewritten. Money that was spent stays spent.

use hashbrown::HashMap;
use transcript::layout::{FileKind, classify};
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
    let kind_of = |file: &FileId| files.get(file).map(|row| classify(&path_of(&row.rel)));
    let mut context = CCtx::create();
    for (file, generation, size) in archive.lives()? {
        let kind = kind_of(&file).filter(FileKind::is_transcript);
        let Some(kind) = kind.filter(|_| claimed.get(&generation.0) != Some(&size)) else {
            continue;
        };
        let failed = |source| ArchiveError::Io { path: archive.path().to_path_buf(), source };
        let open = || archive.content(generation);
        let claims = Claims::read_transcript(kind.stem(), open).map_err(failed)?;
        let data = packed(&mut context, |out| claims.save(out));
        write.claims(file.0, generation.0, size, &data)?;
    }
    Ok(())
}

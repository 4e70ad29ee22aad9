//! What was typed, from a line of `history.jsonl`: the prompt as it was shown, and what was
//! pasted into it as far as that is still known.

use transcript::side::history::{self, PasteContent, Prompt};

use crate::archive::{Archive, ArchiveError, FileId, GenerationId};
use crate::catalog::Typed;

/// Of a paste that lies in a file of its own, so many bytes.
const PASTE_MOST: usize = 64 << 10;

/// No prompt is longer.
const LINE_MOST: u64 = 16 << 20;

/// The prompt on a line, and its words.
pub(crate) fn typed(
    archive: &Archive,
    line: &Typed,
) -> Result<Option<(Prompt, String)>, ArchiveError> {
    let length = line.length.min(LINE_MOST) as usize;
    let bytes = archive.read(GenerationId(line.generation), line.offset, length)?;
    let Some(prompt) = history::parse(&bytes).0.into_iter().next() else { return Ok(None) };
    let mut text = prompt.display.as_deref().unwrap_or_default().to_owned();
    for paste in &prompt.pastes {
        let pasted = match &paste.content {
            PasteContent::Inline(content) => Some(content.to_string()),
            PasteContent::Hash(hash) => cached(archive, line.history, hash)?,
            PasteContent::Missing => None,
        };
        if let Some(pasted) = pasted {
            text.push('\n');
            text.push_str(&pasted);
        }
    }
    Ok(Some((prompt, text)))
}

/// The beginning of a long paste.
fn cached(archive: &Archive, history: i64, hash: &str) -> Result<Option<String>, ArchiveError> {
    let Some(history) = archive.file(FileId(history))? else { return Ok(None) };
    let rel = format!("paste-cache/{hash}.txt");
    let Some(row) = archive.named(&history.home, rel.as_bytes())? else { return Ok(None) };
    let bytes = archive.read(row.generation, 0, PASTE_MOST)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

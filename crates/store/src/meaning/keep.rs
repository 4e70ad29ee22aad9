//! Making the vectors of what was said, and keeping them beside the index.
//!
//! Prompts, answers and summaries, of every transcript that the catalog knows; what tools printed
//! has every meaning by chance. A transcript that has grown is read on. What is done is written
//! every few seconds, so that a run that was stopped goes on where it was.

use std::ops::ControlFlow;
use std::path::Path;

use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension, params};
use transcript::session::{Node, Role as Voice};

use super::chunk::chunks;
use super::scan::{self, Head};
use super::{Model, Said};
use crate::archive::{Access, Archive, FileId, FileRow, connect_write};
use crate::catalog::{self, Catalog, CatalogError};
use crate::folder::Store;
use crate::query::Role;
use crate::sync::{SyncError, Watch};
use crate::text::each_part;

/// So much of what was said before it is read together with a text, in bytes: an answer often
/// names nothing that its question has named.
const BEFORE: usize = 200;

/// Texts are taken together for so many vectors.
const RUN: usize = 64;
/// So many texts go through the model at once; more only take more memory.
const BATCH: usize = 8;

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Vectors that were made.
    pub vectors: u64,
    /// Transcripts they are of.
    pub files: u64,
    /// Whether it was stopped before the end.
    pub is_stopped: bool,
}

/// Makes the vectors that are missing.
pub fn update(store: &Store, model: &Model, watch: &dyn Watch) -> Result<Progress, SyncError> {
    let archive = store.archive(Access::Read)?;
    let Some(catalog) = Catalog::read(store.folder())? else { return Ok(Progress::default()) };
    let kept = Kept::open(store.folder())?;
    let mut todo = Vec::new();
    for file in catalog.files()?.into_iter().filter(|file| file.session.is_some()) {
        let begun = kept.begun(&file)?;
        if let (Some(begun), Some(row)) = (begun, archive.file(FileId(file.id))?) {
            todo.push((file, row, begun));
        }
    }
    watch.begin(todo.len(), todo.iter().map(|(file, ..)| file.size).sum());
    let mut done = Progress::default();
    for (file, row, begun) in &todo {
        let work = Work { archive: &archive, catalog: &catalog, kept: &kept, model, watch };
        let before = done.vectors;
        if work.file(file, row, begun, &mut done)?.is_break() {
            done.is_stopped = true;
            break;
        }
        done.files += u64::from(done.vectors > before);
        watch.step(1, file.size);
    }
    Ok(done)
}

/// The file of vectors, to be written.
struct Kept {
    db: Connection,
    path: std::path::PathBuf,
}

impl Kept {
    fn open(store: &Path) -> Result<Self, CatalogError> {
        let path = scan::path(store);
        let open = || {
            let db = connect_write(&path)?;
            db.execute_batch(scan::SCHEMA)?;
            Ok(db)
        };
        match open() {
            Ok(db) => Ok(Self { db, path }),
            Err(source) => Err(CatalogError::Database { path, source }),
        }
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> CatalogError + use<> {
        let path = self.path.clone();
        move |source| CatalogError::Database { path: path.clone(), source }
    }

    /// How far a file is done; `None` if it is to its end.
    fn begun(&self, file: &catalog::FileRow) -> Result<Option<Begun>, CatalogError> {
        let sql = "SELECT entry, before, size FROM file WHERE id = ?1 AND generation = ?2";
        let known = self.db.query_row(sql, params![file.id, file.generation], |row| {
            let begun = Begun { entry: row.get(0)?, before: row.get(1)? };
            Ok((begun, row.get::<_, Option<i64>>(2)?))
        });
        Ok(match known.optional().map_err(self.failed())? {
            Some((_, size)) if size == Some(file.size.cast_signed()) => None,
            Some((begun, _)) => Some(begun),
            None => Some(Begun::default()),
        })
    }

    /// Writes what is done of a file. Of another life of it nothing stays.
    fn write(&self, file: &catalog::FileRow, run: &Run) -> Result<(), CatalogError> {
        let write = || {
            let change = self.db.unchecked_transaction()?;
            if run.is_first {
                change.execute("DELETE FROM run WHERE file = ?1", [file.id])?;
            }
            if let Some(first) = run.heads.first() {
                let heads = postcard::to_stdvec(&run.heads).expect("plain values can be written");
                change.execute(
                    "INSERT OR REPLACE INTO run VALUES (?1, ?2, ?3, ?4)",
                    params![file.id, first.entry, heads, run.vectors],
                )?;
            }
            let size = run.is_last.then_some(file.size.cast_signed());
            change.execute(
                "INSERT OR REPLACE INTO file VALUES (?1, ?2, ?3, ?4, ?5)",
                params![file.id, file.generation, run.done.entry, run.done.before, size],
            )?;
            change.commit()
        };
        write().map_err(self.failed())
    }
}

/// How far a file is done.
#[derive(Default, Clone)]
struct Begun {
    /// The last entry of which all vectors are there.
    entry: u32,
    /// The end of what was said up to there.
    before: String,
}

/// Vectors on their way.
#[derive(Default)]
struct Run {
    is_first: bool,
    is_last: bool,
    /// With those that are here.
    done: Begun,
    heads: Vec<Head>,
    texts: Vec<(String, String)>,
    vectors: Vec<u8>,
}

struct Work<'a> {
    archive: &'a Archive,
    catalog: &'a Catalog,
    kept: &'a Kept,
    model: &'a Model,
    watch: &'a dyn Watch,
}

impl Work<'_> {
    fn file(
        &self,
        file: &catalog::FileRow,
        row: &FileRow,
        begun: &Begun,
        done: &mut Progress,
    ) -> Result<ControlFlow<()>, SyncError> {
        let Some(builder) = self.catalog.state(file.id)? else {
            return Ok(ControlFlow::Continue(()));
        };
        let shape = self.catalog.shape(file.id)?;
        let is_copy = |number| {
            shape.as_ref().and_then(|shape| shape.at(number)).is_some_and(|spot| spot.is_copy)
        };
        let wanted =
            |node: &Node| is_said(node.role) && node.number > begun.entry && !is_copy(node.number);
        let mut run = Run { is_first: begun.entry == 0, done: begun.clone(), ..Run::default() };
        let mut failed = None;
        each_part(self.archive, row, &builder, wanted, |node, turn, part| {
            if node.number != run.done.entry && run.texts.len() >= RUN {
                match self.hand_over(file, &mut run, done) {
                    Ok(()) if !self.watch.is_stopped() => {}
                    Ok(()) => return ControlFlow::Break(()),
                    Err(error) => {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                }
            }
            run.done.entry = node.number;
            let is_wanted = matches!(part.role, Role::Prompt | Role::Answer | Role::Summary);
            for piece in chunks(&part.text).into_iter().filter(|_| is_wanted) {
                run.heads.push(Head {
                    entry: node.number,
                    turn,
                    role: part.role as u8,
                    start: piece.start as u32,
                    time: node.time().map(|time| time.0),
                });
                let text = &part.text[piece];
                let before = std::mem::replace(&mut run.done.before, end(text).to_owned());
                run.texts.push((before, text.to_owned()));
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if self.watch.is_stopped() {
            return Ok(ControlFlow::Break(()));
        }
        run.is_last = true;
        self.hand_over(file, &mut run, done)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Makes vectors of the texts and writes them.
    fn hand_over(
        &self,
        file: &catalog::FileRow,
        run: &mut Run,
        done: &mut Progress,
    ) -> Result<(), SyncError> {
        let said = run.texts.iter().map(|(before, text)| Said { before, text });
        let said: Vec<Said<'_>> = said.collect();
        let made = said.par_chunks(BATCH).map(|texts| self.model.vectors(texts));
        let made: Option<Vec<Vec<Vec<f32>>>> = made.collect();
        let made = made.ok_or(SyncError::NoModel)?;
        made.iter().flatten().for_each(|vector| scan::packed(vector, &mut run.vectors));
        self.kept.write(file, run)?;
        done.vectors += run.heads.len() as u64;
        *run = Run { done: std::mem::take(&mut run.done), ..Run::default() };
        Ok(())
    }
}

/// The last words of a text.
fn end(text: &str) -> &str {
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(BEFORE))..];
    if end.len() == text.len() { end } else { end.split_once(' ').map_or(end, |(_, words)| words) }
}

/// Whether an entry may hold something that a person or the model said.
fn is_said(voice: Voice) -> bool {
    use Voice::{
        Answer, ApiError, Call, Command, Prompt, Queued, Shell, Summary, Teammate, Thinking,
    };
    matches!(
        voice,
        Prompt
            | Command
            | Shell
            | Teammate
            | Queued
            | Summary
            | Answer
            | Thinking
            | Call
            | ApiError
    )
}

//! The tables for commands that ask them in SQL or hand them on, brought up to date.
//!
//! Nothing pays for them but who asks: a sync knows nothing of them. Whether anything has happened
//! since they were made is told by the edition of the catalog; if so, the sessions are joined from
//! the catalog, and only those are read whose stamp is another one now.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::mpsc;

use hashbrown::{HashMap, HashSet};
use report::price::Prices;
use report::rows::{Maker, Origin, Responses, Texts};
use report::usage::{Ledger, Response};
use store::archive::{Access, FileRow};
use store::catalog::{Catalog, Joined};
use store::folder::Store;
use store::sync::{self, SyncError};
use store::table::keep::{Stamp, State, Tables, TablesError, Unit, Writer};
use store::table::schema::VERSION;
use store::table::{Row, Table};
use transcript::layout::Problem;
use transcript::library::SessionItem;
use transcript::parallel::{WorkQueue, work_and_listen};

use crate::error::{HistoryError, StoreError};
use crate::ledger::{KeptFile, kept_inputs};
use crate::progress::Work;
use crate::recount::Recount;

/// So many rows go to the writer at once.
const PARCEL: usize = 2048;
/// So many parcels may wait for the writer.
const WAITING: usize = 4;
/// After so many rows what is written is kept, whatever comes.
const SAVE: usize = 500_000;

impl Recount {
    /// The tables of the store, as up to date as can be, with the words of the archive.
    pub fn open_tables(&mut self) -> Result<Tables, HistoryError> {
        let known = self.store()?;
        if !is_imported(&known)? {
            let store = self.current_store()?;
            self.bring_tables(&store)?;
        }
        let tables = Tables::with_words(&known).map_err(StoreError::from)?;
        Ok(tables.ok_or_else(|| StoreError::Missing(known.folder().into()))?)
    }

    fn bring_tables(&mut self, store: &Store) -> Result<(), HistoryError> {
        let begun = std::time::Instant::now();
        let catalog = Catalog::read(store.folder())?;
        let catalog = catalog.ok_or_else(|| StoreError::NoCatalog(store.folder().into()))?;
        let (origin, prices) = (self.origin(), self.load_prices(None)?);
        let roots = self.real_claude_roots()?;
        let from = from(&catalog, &origin, &prices, &roots)?;
        let is_current = |state: &State| state.from == from;
        let before = Tables::read(store.folder()).map_err(StoreError::from)?;
        let before = before.map(|tables| tables.state()).transpose().map_err(StoreError::from)?;
        if before.as_ref().is_some_and(is_current) {
            return Ok(());
        }
        match self.update_tables(store, &catalog, (&origin, &prices, &roots), &from) {
            // What is there can still be asked.
            Err(HistoryError::Store(StoreError::Tables(error)))
                if before.is_some() && (error.is_busy() || error.is_read_only()) =>
            {
                self.observed.tables_error = Some(error);
            }
            updated => updated?,
        }
        self.note_step("tables up to date", begun);
        Ok(())
    }

    fn update_tables(
        &mut self,
        store: &Store,
        catalog: &Catalog,
        (origin, prices, roots): (&Origin, &Prices, &[PathBuf]),
        from: &str,
    ) -> Result<(), HistoryError> {
        // The tables are those of the Claude folders that are asked about, and of no others.
        let is_asked =
            |row: &FileRow| roots.iter().any(|r| *r.as_os_str().as_encoded_bytes() == *row.home);
        let mut rows = store.archive(Access::Read)?.files()?;
        rows.retain(is_asked);
        let joined = sync::library(&self.sync_homes()?, &rows, store, catalog)?;
        let rows: HashMap<i64, FileRow> = rows.into_iter().map(|row| (row.file.0, row)).collect();
        let (files, inputs) = kept_inputs(catalog, &rows)?;
        let ledger = Ledger::new(inputs, prices);
        let cards: HashMap<i64, usize> =
            joined.files.iter().enumerate().map(|(card, file)| (*file, card)).collect();
        let card = |file: u32| {
            let KeptFile { file, is_former, .. } = &files[file as usize];
            cards.get(file).copied().filter(|_| !is_former)
        };
        let responses = Responses::new(&ledger, prices, card);
        let maker = Maker { origin, library: &joined.library, responses, texts: Texts::Places };
        let ground = Ground { joined: &joined, rows: &rows, files: &files, ledger: &ledger };
        let mut tables =
            Tables::open(store.folder(), self.clock.time()).map_err(StoreError::from)?;
        let mut known = tables.units().map_err(StoreError::from)?;
        let mut todo: Vec<Todo> = ground.all(&maker);
        let wanted: HashSet<String> = todo.iter().map(|todo| todo.unit.name.clone()).collect();
        todo.retain(|todo| known.get(&todo.unit.name) != Some(&todo.unit.stamp));
        known.retain(|name, _| !wanted.contains(name));
        let bytes = todo.iter().map(|todo| todo.bytes).sum();
        let progress = self.progress();
        let work = Work::begin(&*progress, todo.len(), bytes);
        let mut write = tables.write().map_err(StoreError::from)?;
        for name in known.keys() {
            write.remove(name).map_err(StoreError::from)?;
        }
        let problems = fill(store, &maker, &ground, &todo, &mut write, &work)?;
        drop(work);
        // What could not be read is tried again the next time.
        if problems.is_empty() {
            write.made_from(from).map_err(StoreError::from)?;
        }
        write.commit().map_err(StoreError::from)?;
        problems.into_iter().for_each(|problem| self.observed.skip(problem));
        Ok(())
    }
}

/// Whether the rows of a store come from lakes.
pub fn is_imported(store: &Store) -> Result<bool, HistoryError> {
    let tables = Tables::read(store.folder()).map_err(StoreError::from)?;
    let state = tables.map(|tables| tables.state()).transpose().map_err(StoreError::from)?;
    Ok(state.is_some_and(|state| state.is_imported))
}

/// What the rows depend on, but for the program itself.
fn from(
    catalog: &Catalog,
    origin: &Origin,
    prices: &Prices,
    roots: &[PathBuf],
) -> Result<String, HistoryError> {
    let mut stamp = Stamp::new();
    stamp.add(prices.to_json().as_bytes());
    for root in roots {
        stamp.add(root.as_os_str().as_encoded_bytes());
        stamp.add(&[0]);
    }
    let prices: String = stamp.end().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let (edition, joined) = (catalog.edition()?, catalog.joined()?);
    let Origin { host, user } = origin;
    Ok(format!("{VERSION} {edition} {joined} {prices} {host} {user}"))
}

/// What units are made of.
struct Ground<'a> {
    joined: &'a Joined,
    rows: &'a HashMap<i64, FileRow>,
    files: &'a [KeptFile],
    ledger: &'a Ledger,
}

/// Rows to be made.
struct Todo {
    unit: Unit,
    part: Part,
    bytes: u64,
}

/// What the rows are of.
enum Part {
    /// A session, by its place in the library.
    Session(usize),
    /// A card that belongs to none.
    Card(usize),
    /// A file of the ledger that is no card.
    File(u32),
}

impl Ground<'_> {
    /// Everything that there should be rows of.
    fn all(&self, maker: &Maker<'_>) -> Vec<Todo> {
        let sessions = self.joined.library.sessions.iter().enumerate();
        let mut all: Vec<Todo> = sessions.map(|(at, item)| self.session(maker, at, item)).collect();
        all.extend(maker.loose_cards().into_iter().map(|card| self.card(maker, card)));
        let files = maker.responses.loose_files();
        all.extend(files.map(|file| self.file(maker, file)));
        // The largest first; of the others neighbours in the archive one after the other.
        all.sort_by_key(|todo| {
            let large = if todo.bytes < 64 << 20 { 0 } else { todo.bytes };
            (std::cmp::Reverse(large), todo.unit.generations.first().map(|(_, g)| *g))
        });
        all
    }

    fn session(&self, maker: &Maker<'_>, at: usize, item: &SessionItem) -> Todo {
        let mut stamp = Stamp::new();
        let SessionItem { standing, title, facts, agents, .. } = item;
        // Writing to a digest does not fail.
        let _ = write!(stamp, "{standing:?} {title:?} {facts:?} {agents:?}");
        let mut files = Maker::files(item);
        files.extend(Maker::hosts(item));
        let (generations, bytes) = self.files(maker, &files, &mut stamp);
        let name = format!("session {}", item.id);
        Todo {
            unit: Unit { name, stamp: stamp.end(), generations },
            part: Part::Session(at),
            bytes,
        }
    }

    fn card(&self, maker: &Maker<'_>, card: usize) -> Todo {
        let mut stamp = Stamp::new();
        let (mut generations, bytes) = self.files(maker, &[(card, None)], &mut stamp);
        let file = self.joined.files[card];
        // The one file is called by a name that only the rows know.
        let label = maker.loose_label(card);
        generations.iter_mut().for_each(|(of, _)| *of = Some(label.clone()));
        let name = format!("file {file}");
        Todo { unit: Unit { name, stamp: stamp.end(), generations }, part: Part::Card(card), bytes }
    }

    fn file(&self, maker: &Maker<'_>, file: u32) -> Todo {
        let mut stamp = Stamp::new();
        self.responses(maker.responses.of_loose(file), &mut stamp);
        let name = format!("claims {}", self.files[file as usize].generation.0);
        let unit = Unit { name, stamp: stamp.end(), generations: Vec::new() };
        Todo { unit, part: Part::File(file), bytes: 0 }
    }

    /// The generations of files and their bytes; whatever their rows depend on goes into the stamp.
    fn files(
        &self,
        maker: &Maker<'_>,
        files: &[(usize, Option<String>)],
        stamp: &mut Stamp,
    ) -> (Vec<(Option<String>, i64)>, u64) {
        let (mut generations, mut bytes) = (Vec::new(), 0);
        for (card, label) in files {
            let Some(row) = self.rows.get(&self.joined.files[*card]) else { continue };
            bytes += row.size;
            generations.push((label.clone(), row.generation.0));
            let _ = write!(stamp, "{label:?} {} {} ", row.generation.0, row.size);
            let copies = self.joined.library.copies_of(*card);
            let mut copies: Vec<u64> = copies.into_iter().flatten().copied().collect();
            copies.sort_unstable();
            copies.iter().for_each(|copy| stamp.add(&copy.to_le_bytes()));
            self.responses(maker.responses.of_card(*card), stamp);
        }
        (generations, bytes)
    }

    fn responses<'r>(&self, responses: impl Iterator<Item = &'r Response>, stamp: &mut Stamp) {
        for response in responses {
            let Response { key, time, offset, session, agent, project, branch, model, .. } =
                response;
            let Response { tokens, mode, web_searches, parts, is_advisor, tools, .. } = response;
            let Response { cost, confidence, replays, has_source, .. } = response;
            for name in
                [Some(session), agent.as_ref(), project.as_ref(), branch.as_ref(), model.as_ref()]
            {
                stamp.add(name.map_or("", |name| self.ledger.name(*name)).as_bytes());
                stamp.add(&[0]);
            }
            let numbers = [
                time.map_or(i64::MIN, |time| time.0).cast_unsigned(),
                *offset,
                tokens.input,
                tokens.output,
                tokens.cache_read,
                tokens.cache_write_5m,
                tokens.cache_write_1h,
                u64::from(*web_searches),
                parts.len() as u64,
                tools.len() as u64,
                cost.map_or(u64::MAX, |cost| cost),
                u64::from(*replays),
            ];
            stamp.add(&key.0.to_le_bytes());
            numbers.iter().for_each(|number| stamp.add(&number.to_le_bytes()));
            let is = [
                mode.is_fast,
                mode.is_us,
                mode.is_batch,
                mode.is_priority,
                *is_advisor,
                *has_source,
            ];
            stamp.add(&is.map(u8::from));
            stamp.add(&[*confidence as u8]);
        }
    }
}

/// What a reader says to the writer.
enum Said {
    Begin(usize),
    Rows(usize, Vec<(&'static Table, Row)>),
    End(usize),
    Problem(Problem),
    Failed(SyncError),
}

/// Makes the rows on all cores and writes them on this one. What could not be read is given back.
fn fill(
    store: &Store,
    maker: &Maker<'_>,
    ground: &Ground<'_>,
    todo: &[Todo],
    write: &mut Writer<'_>,
    progress: &Work<'_>,
) -> Result<Vec<Problem>, HistoryError> {
    let worker = |queue: &WorkQueue<'_, Todo>, say: &mpsc::SyncSender<Said>| {
        if let Err(error) = read(store, maker, ground, queue, say) {
            // Nobody listens any more if another one failed first.
            let _ = say.send(Said::Failed(error));
        }
    };
    work_and_listen(todo, WAITING, worker, |hear| listen(hear, todo, write, progress))
}

fn listen(
    hear: mpsc::Receiver<Said>,
    todo: &[Todo],
    write: &mut Writer<'_>,
    progress: &Work<'_>,
) -> Result<Vec<Problem>, HistoryError> {
    let failed = |error: TablesError| HistoryError::from(StoreError::from(error));
    let (mut problems, mut since) = (Vec::new(), 0);
    for said in hear {
        match said {
            Said::Begin(at) => write.begin(at, todo[at].unit.clone()).map_err(failed)?,
            Said::Rows(at, rows) => {
                for (table, row) in &rows {
                    write.row(at, table, row).map_err(failed)?;
                }
                since += rows.len();
            }
            Said::End(at) => {
                write.end(at).map_err(failed)?;
                progress.advance(1, todo[at].bytes);
            }
            Said::Problem(problem) => problems.push(problem),
            Said::Failed(error) => return Err(error.into()),
        }
        if since >= SAVE {
            write.save().map_err(failed)?;
            since = 0;
        }
    }
    Ok(problems)
}

/// Takes one after the other of what is to do, until nothing is left.
fn read(
    store: &Store,
    maker: &Maker<'_>,
    ground: &Ground<'_>,
    queue: &WorkQueue<'_, Todo>,
    say: &mpsc::SyncSender<Said>,
) -> Result<(), SyncError> {
    let archive = std::sync::Arc::new(std::sync::Mutex::new(store.archive(Access::Read)?));
    let Some(catalog) = Catalog::read(store.folder())? else { return Err(SyncError::Locked) };
    let mut open = |card: usize| {
        let (file, library) = (ground.joined.files[card], &ground.joined.library);
        let found = &library.cards[card].found;
        let session = catalog.session_of(file, found, library.copies_of(card))?;
        let row = ground.rows.get(&file);
        Ok((session, row.map_or_else(|| found.open(), |row| Ok(sync::source_of(&archive, row)))?))
    };
    while let Some((at, todo)) = queue.take_next() {
        if say.send(Said::Begin(at)).is_err() {
            return Ok(());
        }
        let mut parcel = Vec::with_capacity(PARCEL);
        let mut each = |table: &'static Table, row: Row| {
            parcel.push((table, row));
            if parcel.len() >= PARCEL {
                let full = std::mem::replace(&mut parcel, Vec::with_capacity(PARCEL));
                // Nobody listens any more if another one failed first.
                let _ = say.send(Said::Rows(at, full));
            }
        };
        let made = match todo.part {
            Part::Session(item) => {
                maker.session(&maker.library.sessions[item], &mut open, &mut each)
            }
            Part::Card(card) => maker.loose_card(card, &mut open, &mut each),
            Part::File(file) => {
                maker.loose_file(file, &mut each);
                Ok(())
            }
        };
        let end = match made {
            Ok(()) => Said::End(at),
            Err(problem) => Said::Problem(problem),
        };
        if say.send(Said::Rows(at, parcel)).is_err() || say.send(end).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

//! The sessions for the list: first as the store knows them, then as the files say, then whenever
//! something changes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use report::list::{self, ListFilter, ListOrder, Pulse};
use store::archive::{Access, Archive, FileId};
use store::catalog::{Catalog, SessionRow};
use store::folder::Store;
use transcript::layout::Found;
use transcript::library::{self, Library, SessionItem, Standing};

use super::row::Row;
use super::state::Msg;
use crate::error::words;
use crate::live::Live;
use crate::run::Run;
use crate::serve::Desk;
use crate::terminal::format::Clock;

/// So much of what was typed in a session is matched with.
const PROMPTS_MOST: usize = 4_000;

/// So many sessions are told at once, before all are: more than any screen has rows.
const AT_ONCE: usize = 200;
/// Without a store so many bytes of the newest files are read before all are.
const AT_ONCE_BYTES: u64 = 16 << 20;

/// Tells the sessions until nobody listens any more.
pub fn tell(desk: &Desk, say: &Sender<Msg>) {
    let mut run = desk.run();
    let tell = |rows: Option<Vec<Row>>| match rows.filter(|rows| !rows.is_empty()) {
        Some(rows) => say.send(Msg::Rows(rows, false)).is_ok(),
        None => false,
    };
    let is_told = tell(stored_latest(&mut run)) && tell(stored(&mut run));
    if !is_told {
        tell(newest(&mut run));
    }
    // Before anything is read, so that nothing is missed meanwhile.
    let live = Live::new(desk.roots().to_vec());
    loop {
        let news = match desk.look() {
            Ok(true) => {
                let rows = rows(desk, &desk.run().clock);
                vec![Msg::Rows(rows, true), Msg::Changed, Msg::Prompts(prompts(&mut run))]
            }
            Ok(false) => vec![Msg::Changed],
            Err(error) => vec![Msg::Said(words(&error).0)],
        };
        if news.into_iter().any(|msg| say.send(msg).is_err()) {
            return;
        }
        live.wait();
    }
}

/// The sessions of the store that were active last, if there is one.
fn stored_latest(run: &mut Run) -> Option<Vec<Row>> {
    let (archive, catalog) = open(run)?;
    let path = |file| archive.file(FileId(file)).ok()?.filter(|row| !row.gone).map(|r| r.path());
    Some(listed(catalog.latest(AT_ONCE).ok()?, path, &run.clock))
}

/// The sessions of the store, if there is one.
fn stored(run: &mut Run) -> Option<Vec<Row>> {
    let (archive, catalog) = open(run)?;
    let files = archive.files().ok()?.into_iter().filter(|row| !row.gone);
    let mut paths: HashMap<i64, PathBuf> = files.map(|row| (row.file.0, row.path())).collect();
    Some(listed(catalog.sessions().ok()?, |file| paths.remove(&file), &run.clock))
}

fn open(run: &mut Run) -> Option<(Archive, Catalog)> {
    let store = run.store().ok().filter(Store::exists)?;
    let catalog = Catalog::read(store.folder()).ok()??;
    Some((store.archive(Access::Read).ok()?, catalog))
}

fn listed(
    sessions: Vec<SessionRow>,
    mut path: impl FnMut(i64) -> Option<PathBuf>,
    clock: &Clock,
) -> Vec<Row> {
    let whole = Standing::Whole.name();
    let is_listed = |row: &SessionRow| row.standing == whole;
    let row = |row: SessionRow| {
        let path = row.file.and_then(&mut path);
        Row::of_catalog(row, path, clock)
    };
    sessions.into_iter().filter(is_listed).map(row).collect()
}

/// The sessions of the files that were written last.
fn newest(run: &mut Run) -> Option<Vec<Row>> {
    let mut files = run.transcripts().ok()?;
    files.sort_by_key(|found| std::cmp::Reverse(found.modified));
    let mut left = AT_ONCE_BYTES;
    let is_next = |found: &Found| {
        let rest = left.checked_sub(found.size);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    let files: Vec<Found> = files.into_iter().filter(is_next).take(AT_ONCE).collect();
    let scan = library::scan(files, |_, _, _| None::<()>, |_| ());
    let (library, _) = Library::join(scan);
    Some(of_library(&library, &[], &Pulse::default(), &run.clock))
}

/// The sessions of the files.
pub fn rows(desk: &Desk, clock: &Clock) -> Vec<Row> {
    let shelf = desk.shelf();
    of_library(&shelf.library, &shelf.ghosts, &shelf.pulse, clock)
}

fn of_library(library: &Library, ghosts: &[SessionItem], pulse: &Pulse, clock: &Clock) -> Vec<Row> {
    let list = list::list(library, ghosts, pulse, &ListFilter::default(), ListOrder::default());
    list.rows.iter().map(|row| Row::of_list(library, row, clock)).collect()
}

/// What was typed in each session, in small letters.
fn prompts(run: &mut Run) -> HashMap<String, String> {
    let mut all: HashMap<String, String> = HashMap::new();
    for typed in run.typed().unwrap_or_default() {
        let (Some(session), Some(text)) = (typed.prompt.session, typed.prompt.display) else {
            continue;
        };
        let said = all.entry(session.to_string()).or_default();
        if said.len() + text.len() < PROMPTS_MOST {
            said.push_str(&text.to_lowercase());
            said.push('\n');
        }
    }
    all
}

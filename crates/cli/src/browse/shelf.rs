//! The sessions for the list: first as the store knows them, then as the files say, then whenever
//! something changes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use report::list::{self, ListFilter, ListOrder};
use store::archive::Access;
use store::catalog::Catalog;

use super::row::Row;
use super::state::Msg;
use crate::error::words;
use crate::live::Live;
use crate::run::Run;
use crate::serve::Desk;
use crate::terminal::format::Clock;

/// So much of what was typed in a session is matched with.
const PROMPTS_MOST: usize = 4_000;

/// Tells the sessions until nobody listens any more.
pub fn tell(desk: &Desk, say: &Sender<Msg>) {
    let mut run = desk.run();
    let known = stored(&mut run).filter(|rows| !rows.is_empty());
    if known.is_some_and(|rows| say.send(Msg::Rows(rows, false)).is_err()) {
        return;
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

/// The sessions of the store, if there is one.
fn stored(run: &mut Run) -> Option<Vec<Row>> {
    let store = run.store().ok().filter(store::folder::Store::exists)?;
    let catalog = Catalog::read(store.folder()).ok()??;
    let files = store.archive(Access::Read).ok()?.files().ok()?;
    let paths: HashMap<i64, PathBuf> =
        files.into_iter().filter(|row| !row.gone).map(|row| (row.file.0, row.path())).collect();
    let sessions = catalog.sessions().ok()?;
    let whole = transcript::library::Standing::Whole.name();
    let is_listed = |row: &store::catalog::SessionRow| row.standing == whole;
    let row = |row: store::catalog::SessionRow| {
        let path = row.file.and_then(|file| paths.get(&file)).cloned();
        Row::of_catalog(row, path, &run.clock)
    };
    Some(sessions.into_iter().filter(is_listed).map(row).collect())
}

/// The sessions of the files.
pub fn rows(desk: &Desk, clock: &Clock) -> Vec<Row> {
    let shelf = desk.shelf();
    let filter = ListFilter::default();
    let list =
        list::list(&shelf.library, &shelf.ghosts, &shelf.pulse, &filter, ListOrder::default());
    list.rows.iter().map(|row| Row::of_list(&shelf.library, row, clock)).collect()
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

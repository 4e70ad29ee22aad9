//! The sessions for the list: first as the store knows them, then as the files say, then whenever
//! something changes.

use std::collections::HashMap;
use std::sync::mpsc::Sender;

use report::list::{self, ListFilter, ListOrder, Pulse};
use store::history::ChangedPaths;
use transcript::layout::Found;
use transcript::library::{self, Library, SessionItem};

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
    if let Some(rows) = first_rows(&mut run).filter(|rows| !rows.is_empty()) {
        // If nobody listens any more, that is noticed below.
        let _ = say.send(Msg::Rows(rows, false));
    }
    // Before anything is read, so that nothing is missed meanwhile.
    let live = Live::new(desk.roots().to_vec());
    let mut changed = ChangedPaths::All;
    loop {
        let news = match desk.look_at(&changed) {
            Ok(true) => {
                let rows = rows(desk, &desk.run().recount.clock);
                vec![Msg::Rows(rows, true), Msg::Changed, Msg::Prompts(prompts(&mut run))]
            }
            Ok(false) => vec![Msg::Changed],
            Err(error) => vec![Msg::Said(words(&error).0)],
        };
        if news.into_iter().any(|msg| say.send(msg).is_err()) {
            return;
        }
        changed = live.wait();
    }
}

/// The sessions for the first screen: all of them if there is a store, which is a matter of
/// milliseconds, else those of the newest files.
fn first_rows(run: &mut Run) -> Option<Vec<Row>> {
    if !run.recount.store().ok()?.exists() {
        return newest(run);
    }
    let library = run.recount.all_sessions().ok()?;
    Some(of_library(&library, &[], &Pulse::default(), &run.recount.clock))
}

/// The sessions of the files that were written last.
fn newest(run: &mut Run) -> Option<Vec<Row>> {
    let mut files = run.recount.list_transcripts().ok()?;
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
    Some(of_library(&library, &[], &Pulse::default(), &run.recount.clock))
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
    for typed in run.recount.typed_prompts().unwrap_or_default() {
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

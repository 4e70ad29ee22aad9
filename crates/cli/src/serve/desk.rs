//! What the server holds between questions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use jiff::Zoned;
use report::filter::Period;
use report::list::ListFilter;
use report::price::Prices;
use report::storage::Report;
use report::tools::CallFact;
use report::usage::Ledger;
use tokio::sync::watch;
use transcript::id::SessionId;

use super::open::{Open, agent_of};
use super::reader::Reader;
use super::shelf::Shelf;
use crate::args::{Color, Global};
use crate::commands::storage::{Side, measured};
use crate::commands::tools::calls;
use crate::error::CliError;
use crate::home::Environment;
use crate::run::Run;
use crate::terminal::format::Clock;

/// So many sessions are held that were asked for.
const OPEN_MOST: usize = 6;

/// What the server holds.
pub struct Desk {
    roots: Vec<PathBuf>,
    store: PathBuf,
    shelf: RwLock<Arc<Shelf>>,
    /// Held by whoever looks at the files.
    looking: Mutex<()>,
    /// The sessions that were asked for last.
    open: Mutex<Vec<Arc<Open>>>,
    reader: Reader,
    /// What was used.
    ledger: Fresh<Ledger>,
    /// Where the bytes are.
    measured: Fresh<(Report, Side)>,
    /// All calls.
    calls: Fresh<Vec<CallFact>>,
    /// Whoever reads everything does it alone: memory stays bounded.
    pub large: Mutex<()>,
    /// How far the store is.
    pub sync: Sync,
    /// Told when something has changed.
    pub news: watch::Sender<u64>,
}

/// How far a sync is.
#[derive(Default)]
pub struct Sync {
    /// Bytes to be read; 0 when nothing is.
    pub all: AtomicU64,
    /// Bytes that have been.
    pub done: AtomicU64,
    /// Why it did not work.
    pub problem: Mutex<Option<String>>,
}

impl Sync {
    /// The part that is done, from 0 to 1; none when nothing is to be done.
    pub fn part(&self) -> Option<f64> {
        let all = self.all.load(Ordering::Relaxed);
        (all > 0).then(|| self.done.load(Ordering::Relaxed) as f64 / all as f64)
    }
}

impl Desk {
    /// A desk of these Claude folders and this store.
    pub fn new(roots: Vec<PathBuf>, store: PathBuf) -> Self {
        Self {
            roots,
            store,
            shelf: RwLock::default(),
            looking: Mutex::default(),
            open: Mutex::default(),
            reader: Reader::default(),
            ledger: Fresh::default(),
            measured: Fresh::default(),
            calls: Fresh::default(),
            large: Mutex::default(),
            sync: Sync::default(),
            news: watch::Sender::new(0),
        }
    }

    /// A run for one question: its answer is held, not printed.
    pub fn run(&self) -> Run {
        let global = Global {
            claude_dir: self.roots.clone(),
            store: Some(self.store.clone()),
            demo: false,
            json: true,
            color: Color::Never,
            no_pager: true,
            quiet: true,
        };
        let mut run = Run::new(global, Environment::default(), Clock { now: Zoned::now() });
        run.out = crate::terminal::output::Output::held();
        run
    }

    /// The Claude folders.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// All sessions, as they were when something last changed.
    pub fn shelf(&self) -> Arc<Shelf> {
        self.shelf.read().expect("nobody panics while writing it").clone()
    }

    /// Looks at the files again; whether something has changed.
    pub fn look(&self) -> Result<bool, CliError> {
        let _alone = self.looking.lock().expect("nobody panics while holding it");
        let before = self.shelf();
        let Some(now) = Shelf::read(&mut self.run(), &before, &self.reader)? else {
            return Ok(false);
        };
        *self.shelf.write().expect("nobody panics while writing it") = Arc::new(now);
        Ok(true)
    }

    /// A session, or one of its subagents, as its files are now; `None` if there is none.
    pub fn open(&self, id: &str, agent: Option<&str>) -> Result<Option<Arc<Open>>, CliError> {
        // Who comes before the files have been looked at waits: it may well be there.
        if self.shelf().number == 0 {
            self.look()?;
        }
        let shelf = self.shelf();
        let is_it = |open: &Arc<Open>| open.is(id, agent);
        let held = {
            let all = self.open.lock().expect("nobody panics while holding it");
            all.iter().find(|open| is_it(open)).cloned()
        };
        if let Some(open) = held.filter(|open| open.is_current(&shelf)) {
            return Ok(Some(open));
        }
        let Some(open) = Open::read(&shelf, &SessionId::new(id), agent, &self.reader)? else {
            return Ok(None);
        };
        let open = Arc::new(open);
        let mut all = self.open.lock().expect("nobody panics while holding it");
        all.retain(|other| !is_it(other));
        all.push(open.clone());
        let first = all.len().saturating_sub(OPEN_MOST);
        all.drain(..first);
        Ok(Some(open))
    }

    /// Bytes of a session's file now.
    pub fn size(&self, id: &str, agent: Option<&str>) -> Option<u64> {
        let shelf = self.shelf();
        let item = shelf.library.session(id)?;
        let file = match agent {
            Some(agent) => agent_of(item, agent)?.file?,
            None => item.file?,
        };
        Some(std::fs::metadata(&shelf.library.cards[file].found.path).ok()?.len())
    }

    /// Everything that was used.
    pub fn ledger(&self) -> Result<Arc<Ledger>, CliError> {
        self.fresh(&self.ledger, |run| {
            let prices: Prices = run.prices(None)?;
            Ok(run.counted(&prices)?.ledger)
        })
    }

    /// Where the bytes are.
    pub fn measured(&self) -> Result<Arc<(Report, Side)>, CliError> {
        let filter = ListFilter { all: true, ..ListFilter::default() };
        self.fresh(&self.measured, |run| measured(run, &filter))
    }

    /// All calls.
    pub fn calls(&self) -> Result<Arc<Vec<CallFact>>, CliError> {
        self.fresh(&self.calls, |run| calls(run, Period::default(), None))
    }

    /// What was worked out since something last changed, else works it out.
    fn fresh<T>(
        &self,
        fresh: &Fresh<T>,
        make: impl FnOnce(&mut Run) -> Result<T, CliError>,
    ) -> Result<Arc<T>, CliError> {
        let mut held = fresh.0.lock().expect("nobody panics while holding it");
        let number = self.shelf().number;
        if let Some((_, known)) = held.as_ref().filter(|(at, _)| *at == number) {
            return Ok(known.clone());
        }
        *held = None;
        let _alone = self.large.lock().expect("nobody panics while holding it");
        let new = Arc::new(make(&mut self.run())?);
        *held = Some((number, new.clone()));
        Ok(new)
    }
}

/// Something that takes a while to work out, and when it was.
struct Fresh<T>(Mutex<Option<(u64, Arc<T>)>>);

impl<T> Default for Fresh<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

//! What the server holds between questions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
use std::time::Duration;

use ask::Locations;
use report::export::cover::Cover;
use report::filter::Period;
use report::list::ListFilter;
use report::price::Prices;
use report::redact::{Redactor, Rules};
use report::storage::Report;
use report::tools::CallFact;
use report::usage::Ledger;
use store::folder::Store;
use store::history::{ChangedPaths, FollowingReader, History, LiveHistory};
use tokio::sync::watch;
use transcript::id::SessionId;

use super::open::{Open, agent_of};
use super::shelf::Shelf;
use super::words::{Of, Words};
use crate::commands::storage::{Side, measured};
use crate::error::CliError;
use crate::memory;
use crate::run::Run;

/// So many sessions are held that were asked for.
const OPEN_MOST: usize = 6;

/// Holding more than this, the server does not read everything beside it.
const HELD_MOST: u64 = 96 << 20;

/// Whoever asks for a session while the files are being read for the first time waits so long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What the server holds.
pub struct Desk {
    roots: Vec<PathBuf>,
    store: PathBuf,
    shelf: RwLock<Arc<Shelf>>,
    /// Told when the files have been looked at for the first time.
    is_read: (Mutex<bool>, Condvar),
    /// The sessions that were asked for last.
    open: Mutex<Vec<Arc<Open>>>,
    reader: FollowingReader,
    /// Follows the files; whoever looks at them does it alone.
    live: Mutex<LiveHistory>,
    /// What was used.
    ledger: Fresh<Ledger>,
    /// Where the bytes are.
    measured: Fresh<(Report, Side)>,
    /// All calls.
    calls: Fresh<Vec<CallFact>>,
    /// Whoever reads everything does it alone: memory stays bounded.
    large: Mutex<()>,
    /// How far the store is.
    pub sync: Sync,
    /// Told when something has changed.
    pub news: watch::Sender<u64>,
    /// Takes secrets out of what is answered, where that is wanted.
    redactor: Option<Redactor<'static>>,
}

/// Nobody else reads everything meanwhile. What that took is given back at the end.
pub struct Alone<'d> {
    _guard: MutexGuard<'d, ()>,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        memory::give_back();
    }
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
    /// A desk of these Claude folders and this store; what it answers goes through the redactor.
    pub fn new(roots: Vec<PathBuf>, store: PathBuf, redactor: Option<Redactor<'static>>) -> Self {
        let now = report::format::Clock { now: crate::clock::now() }.time();
        let history = History::new(roots.clone(), Store::new(store.clone()), now);
        Self {
            live: Mutex::new(LiveHistory::follow_history(history)),
            roots,
            store,
            shelf: RwLock::default(),
            is_read: Default::default(),
            open: Mutex::default(),
            reader: FollowingReader::default(),
            ledger: Fresh::default(),
            measured: Fresh::default(),
            calls: Fresh::default(),
            large: Mutex::default(),
            sync: Sync::default(),
            news: watch::Sender::new(0),
            redactor,
        }
    }

    /// For whoever reads everything: waits until nobody else does. If much is held by then, it is
    /// dropped and worked out again when it is asked for.
    pub fn alone(&self) -> Alone<'_> {
        let guard = self.large.lock().expect("nobody panics while holding it");
        memory::give_back();
        if memory::held().is_some_and(|bytes| bytes > HELD_MOST) {
            self.open.lock().expect("nobody panics while holding it").clear();
            self.ledger.forget();
            self.measured.forget();
            self.calls.forget();
            memory::give_back();
        }
        Alone { _guard: guard }
    }

    /// A run for one question: its answer is held, not printed.
    pub fn run(&self) -> Run {
        let locations = Locations {
            claude_dir: self.roots.clone(),
            store: Some(self.store.clone()),
            current_dir: std::env::current_dir().ok(),
            ..Locations::default()
        };
        match self.redactor {
            Some(_) => Run::held_redacted(locations),
            None => Run::held(locations),
        }
    }

    /// Takes the secrets out of records, if that is wanted.
    pub fn cover(&self) -> Cover<'_> {
        match &self.redactor {
            Some(redactor) => Cover::new(Rules::built_in(), redactor, 0),
            None => Cover::none(),
        }
    }

    /// A page, or a piece of one, without secrets, if that is wanted.
    pub fn covered(&self, html: String) -> String {
        match &self.redactor {
            Some(redactor) => redactor.page(&html, report::redact::Place::default()).into_owned(),
            None => html,
        }
    }

    /// A text without secrets, if that is wanted.
    pub fn redacted(&self, text: String) -> String {
        match &self.redactor {
            Some(redactor) => redactor.text(&text, report::redact::Place::default()).into_owned(),
            None => text,
        }
    }

    /// The Claude folders.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// All sessions, as they were when something last changed.
    pub fn shelf(&self) -> Arc<Shelf> {
        self.shelf.read().expect("nobody panics while writing it").clone()
    }

    /// All sessions, once the files have been looked at; nobody waits longer than `most` for it.
    pub fn shelf_within(&self, most: Duration) -> Arc<Shelf> {
        let (is_read, told) = &self.is_read;
        let is_read = is_read.lock().expect("nobody panics while holding it");
        let waited = told.wait_timeout_while(is_read, most, |is_read| !*is_read);
        drop(waited.expect("nobody panics while holding it"));
        self.shelf()
    }

    /// Looks at the files that changed; whether that makes a difference.
    pub fn look_at(&self, changed: &ChangedPaths) -> Result<bool, CliError> {
        let is_other = self.look_again(changed);
        *self.is_read.0.lock().expect("nobody panics while holding it") = true;
        self.is_read.1.notify_all();
        is_other
    }

    /// Looks again, after a sync, at files that were lost before it.
    pub fn look_at_lost(&self) -> Result<bool, CliError> {
        let lost = {
            let mut live = self.live.lock().expect("nobody panics while holding it");
            live.take_lost_paths()
        };
        if lost.is_empty() { Ok(false) } else { self.look_again(&lost) }
    }

    fn look_again(&self, changed: &ChangedPaths) -> Result<bool, CliError> {
        let mut live = self.live.lock().expect("nobody panics while holding it");
        let (before, look) = (self.shelf(), (changed, &self.reader));
        let Some(now) = Shelf::refresh_from(&mut self.run(), &before, &mut live, look)? else {
            return Ok(false);
        };
        *self.shelf.write().expect("nobody panics while writing it") = Arc::new(now);
        Ok(true)
    }

    /// A session, or one of its subagents, as its files are now; `None` if there is none.
    pub fn open(&self, id: &str, agent: Option<&str>) -> Result<Option<Arc<Open>>, CliError> {
        let shelf = self.shelf_within(PATIENCE);
        let is_it = |open: &Arc<Open>| open.is(id, agent);
        let held = {
            let all = self.open.lock().expect("nobody panics while holding it");
            all.iter().find(|open| is_it(open)).cloned()
        };
        if let Some(open) = held.as_ref().filter(|open| open.is_current(&shelf)) {
            return Ok(Some(open.clone()));
        }
        let Some(open) = Open::read(&shelf, &SessionId::new(id), agent, &self.reader)? else {
            return Ok(None);
        };
        held.iter().for_each(|before| open.follow(before));
        let open = Arc::new(open);
        let mut all = self.open.lock().expect("nobody panics while holding it");
        all.retain(|other| !is_it(other));
        all.push(open.clone());
        let first = all.len().saturating_sub(OPEN_MOST);
        all.drain(..first);
        Ok(Some(open))
    }

    /// What the entries of a session say; of one session at a time, because that is much.
    pub fn words(&self, open: &Open, of: Of) -> Arc<Words> {
        let all = self.open.lock().expect("nobody panics while holding it").clone();
        let others = all.iter().filter(|other| !std::ptr::eq(&***other, open));
        others.for_each(|other| other.forget_words());
        open.words(of, &|| self.cover())
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
            let prices: Prices = run.recount.load_prices(None)?;
            Ok(run.recount.count_responses(&prices)?.ledger)
        })
    }

    /// Where the bytes are.
    pub fn measured(&self) -> Result<Arc<(Report, Side)>, CliError> {
        let filter = ListFilter { all: true, ..ListFilter::default() };
        self.fresh(&self.measured, |run| measured(run, &filter))
    }

    /// All calls.
    pub fn calls(&self) -> Result<Arc<Vec<CallFact>>, CliError> {
        self.fresh(&self.calls, |run| Ok(run.recount.tool_calls(Period::default(), None)?))
    }

    /// What was worked out since something last changed, else works it out.
    fn fresh<T>(
        &self,
        fresh: &Fresh<T>,
        make: impl FnOnce(&mut Run) -> Result<T, CliError>,
    ) -> Result<Arc<T>, CliError> {
        let mut held = fresh.0.lock().expect("nobody panics while holding it");
        let number = self.shelf_within(PATIENCE).number;
        if let Some((_, known)) = held.as_ref().filter(|(at, _)| *at == number) {
            return Ok(known.clone());
        }
        *held = None;
        let _alone = self.alone();
        let new = Arc::new(make(&mut self.run())?);
        *held = Some((number, new.clone()));
        Ok(new)
    }
}

/// Something that takes a while to work out, and when it was.
struct Fresh<T>(Mutex<Option<(u64, Arc<T>)>>);

impl<T> Fresh<T> {
    /// Drops it, unless somebody is working it out.
    fn forget(&self) {
        if let Ok(mut held) = self.0.try_lock() {
            *held = None;
        }
    }
}

impl<T> Default for Fresh<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

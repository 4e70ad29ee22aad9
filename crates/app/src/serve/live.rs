//! What changes while somebody looks: the files are watched, the store is kept up to date, and
//! open pages are told. When nothing changes, nothing runs.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use store::history::ChangedPaths;
use store::sync::{self, SyncError, Watch};
use tokio::sync::watch;

use super::Held;
use super::desk::Desk;
use crate::error::CliError;
use crate::live::Live;
use crate::memory;

/// A proxy or a laptop that sleeps would else take the stream for dead.
const STILL_THERE: Duration = Duration::from_secs(20);

/// How far a sync is is told so often.
const TICK: Duration = Duration::from_millis(400);

/// Of the time that passes, a sync takes no more than one part in so many: it asks about every file
/// in the Claude folders, however little has changed.
const SYNC_SHARE: u32 = 10;

/// Reads what is there, brings the store up to date, and goes on with what changes. Pages are
/// told at once, whatever is being read: whoever looks at a session reads its new lines himself.
pub fn begin(desk: &Arc<Desk>) {
    let (say, hear) = mpsc::channel();
    let (told, read, kept) = (desk.clone(), desk.clone(), desk.clone());
    std::thread::spawn(move || {
        let live = Live::new(told.roots().to_vec());
        let mut changed = ChangedPaths::All;
        while say.send(changed).is_ok() {
            changed = live.wait();
            told.news.send_modify(|number| *number += 1);
        }
    });
    let (say_read, hear_read) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(mut changed) = hear.recv() {
            // What changed meanwhile is read with the rest.
            hear.try_iter().for_each(|more| changed.add_later(more));
            look(&read, || read.look_at(&changed));
            if say_read.send(()).is_err() {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        while hear_read.recv().is_ok() {
            let begun = Instant::now();
            hear_read.try_iter().for_each(drop);
            bring(&kept);
            look(&kept, || kept.look_at_lost());
            std::thread::sleep(begun.elapsed() * (SYNC_SHARE - 1));
        }
    });
}

fn look(desk: &Desk, look: impl FnOnce() -> Result<bool, CliError>) {
    match look() {
        Ok(true) => desk.news.send_modify(|number| *number += 1),
        Ok(false) => {}
        Err(error) => problem(desk, &crate::error::words(&error).0),
    }
}

fn problem(desk: &Desk, words: &str) {
    *desk.sync.problem.lock().expect("nobody panics while holding it") = Some(words.to_owned());
    desk.news.send_modify(|number| *number += 1);
}

/// Brings the store up to date.
fn bring(desk: &Desk) {
    let mut run = desk.run();
    let Ok(store) = run.recount.store() else { return };
    let roots = desk.roots().to_vec();
    let options = sync::Options::new(run.recount.clock.time());
    if sync::still(&store, &roots, options).is_some() {
        return;
    }
    let done =
        run.recount.sync_homes().map(|homes| sync::sync(&store, &homes, options, &Teller { desk }));
    desk.sync.all.store(0, Ordering::Relaxed);
    match done {
        Ok(Ok(_)) | Ok(Err(SyncError::Locked)) => {}
        Ok(Err(error)) => problem(desk, &format!("The store is not up to date: {error}")),
        Err(error) => problem(desk, &crate::error::words(&error.into()).0),
    }
    desk.news.send_modify(|number| *number += 1);
}

/// Tells how far a sync is.
struct Teller<'a> {
    desk: &'a Desk,
}

impl Watch for Teller<'_> {
    fn begin(&self, _: usize, bytes: u64) {
        memory::give_back();
        self.desk.sync.done.store(0, Ordering::Relaxed);
        self.desk.sync.all.store(bytes, Ordering::Relaxed);
        self.desk.news.send_modify(|number| *number += 1);
    }

    fn step(&self, _: usize, bytes: u64) {
        self.desk.sync.done.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// What an open page is told.
#[derive(Debug, Serialize, PartialEq)]
struct Told {
    /// How much of what is new the store has, from 0 to 1; none when it has all.
    sync: Option<f64>,
    /// Why it has not.
    problem: Option<String>,
    /// Bytes of the session that is looked at.
    size: Option<u64>,
    /// Changes of all sessions so far.
    shelf: u64,
}

/// What a page looks at.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Looking {
    session: Option<String>,
    agent: Option<String>,
}

/// A page that is told.
struct Page {
    desk: Arc<Desk>,
    looking: Looking,
    hear: watch::Receiver<u64>,
    told: Option<Told>,
}

impl Page {
    /// Waits until there is something to tell; `None` when the server ends.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            let now = self.now();
            if self.told.as_ref() != Some(&now) {
                let event = serde_json::to_string(&now).expect("plain values can be written");
                let event = Event::default().data(event);
                self.told = Some(now);
                return Some((Ok(event), self));
            }
            // While the store is being brought up to date, how far it is is worth telling.
            let changed = self.hear.changed();
            if self.desk.sync.part().is_none() {
                changed.await.ok()?;
            } else if let Ok(Err(_)) = tokio::time::timeout(TICK, changed).await {
                return None;
            }
        }
    }

    fn now(&self) -> Told {
        let Desk { sync, .. } = &*self.desk;
        let problem = sync.problem.lock().expect("nobody panics while holding it").clone();
        let session = self.looking.session.as_deref();
        Told {
            sync: sync.part(),
            problem,
            size: session.and_then(|id| self.desk.size(id, self.looking.agent.as_deref())),
            shelf: self.desk.shelf().number,
        }
    }
}

/// Tells a page what changes, as long as it is open.
pub async fn events(
    State(desk): Held,
    Query(looking): Query<Looking>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let hear = desk.news.subscribe();
    let page = Page { desk, looking, hear, told: None };
    Sse::new(stream::unfold(page, Page::next)).keep_alive(KeepAlive::new().interval(STILL_THERE))
}

//! A bar on stderr while many files are read.
//!
//! It appears only on a terminal, and only when the work has taken half a second: most work is
//! over by then, and a bar that flashes by is noise.

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ask::progress::WorkProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Global;
use crate::memory;

const PATIENCE: Duration = Duration::from_millis(500);
const TEMPLATE: &str = "{bar:24} {decimal_bytes} of {decimal_total_bytes}, \
    {decimal_bytes_per_sec}, {msg}, {eta} left";
const NO_FILES: &str = "{bar:24} {decimal_bytes} of {decimal_total_bytes}, \
    {decimal_bytes_per_sec}, {eta} left";

/// How far reading is. May be shared between threads; gone when dropped.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    hidden: AtomicBool,
    files: u64,
    done: AtomicU64,
}

impl Progress {
    /// Work on this many files and bytes begins now. `quiet` never shows it. Without files it is
    /// work on bytes alone.
    pub fn new(quiet: bool, files: usize, bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(if files > 0 { TEMPLATE } else { NO_FILES });
        if let Ok(style) = style {
            bar.set_style(style);
        }
        let shows = !quiet && io::stderr().is_terminal();
        Self {
            bar,
            started: Instant::now(),
            hidden: AtomicBool::new(shows),
            files: files as u64,
            done: AtomicU64::new(0),
        }
    }

    /// One more file of this many bytes is read.
    pub fn step(&self, bytes: u64) {
        self.advance(1, bytes);
    }

    /// So many more files and bytes are read.
    pub fn advance(&self, files: usize, bytes: u64) {
        let done = self.done.fetch_add(files as u64, Ordering::Relaxed) + files as u64;
        self.bar.inc(bytes);
        if self.hidden.load(Ordering::Relaxed)
            && self.started.elapsed() > PATIENCE
            && self.hidden.swap(false, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if !self.bar.is_hidden() {
            self.bar.set_message(format!("{done} of {} files", self.files));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The bar of the work that questions do; a new one for each part of it.
pub struct TerminalProgress {
    is_quiet: bool,
    bar: Mutex<Option<Progress>>,
}

impl TerminalProgress {
    /// No work has begun. With `--quiet` none is ever shown.
    pub fn new(global: &Global) -> Self {
        Self { is_quiet: global.quiet, bar: Mutex::new(None) }
    }

    fn set(&self, bar: Option<Progress>) {
        if let Ok(mut shown) = self.bar.lock() {
            *shown = bar;
        }
    }
}

impl WorkProgress for TerminalProgress {
    fn begin(&self, files: usize, bytes: u64) {
        memory::give_back();
        self.set(Some(Progress::new(self.is_quiet, files, bytes)));
    }

    fn advance(&self, files: usize, bytes: u64) {
        if let Ok(shown) = self.bar.lock()
            && let Some(bar) = &*shown
        {
            bar.advance(files, bytes);
        }
    }

    fn end(&self) {
        self.set(None);
    }
}

/// So long nothing is said of work whose length nobody knows.
const LONG: Duration = Duration::from_secs(1);

/// A sign on stderr that something goes on, on a terminal and after a second. Gone when dropped.
pub struct Waiting(Option<(mpsc::Sender<()>, JoinHandle<()>)>);

impl Waiting {
    /// Work begins now. `quiet` never shows it.
    pub fn new(quiet: bool, what: &'static str) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self(None);
        }
        let (stop, stopped) = mpsc::channel();
        let show = move || {
            if stopped.recv_timeout(LONG) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_message(what);
            bar.enable_steady_tick(Duration::from_millis(120));
            // Until it is dropped.
            let _ = stopped.recv();
            bar.finish_and_clear();
        };
        Self(Some((stop, std::thread::spawn(show))))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((stop, shown)) = self.0.take() {
            drop(stop);
            // It draws and waits: there is nothing that could fail.
            let _ = shown.join();
        }
    }
}

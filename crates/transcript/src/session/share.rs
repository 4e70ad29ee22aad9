//! A large file read by several cores at once.
//!
//! Lines are taken in batches. Each core makes entries of its batch alone and hands them to the
//! builder when all batches before are in, so the session is the one that a single core makes.
//! The order is kept by waiting, not by collecting: few more batches are held than there are cores.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Condvar, Mutex};

use super::build::Builder;
use crate::diagnostic::Diagnostic;
use crate::entry::Entry;
use crate::line::{Batch, Line, LineReader};

/// Lines are seldom shorter: so much room is made for what is read of them.
const SHORT_LINE: usize = 1 << 10;

/// With more than these, handing over in order is the limit, and each may hold a long line.
const MOST_CORES: usize = 4;

/// So many more read than there are cores: while one waits for its turn, another has its core.
const WAITING: usize = 2;

impl Builder {
    /// As [`Builder::read`], on several cores: for inputs of many megabytes.
    pub fn read_shared(&mut self, input: impl Read + Send) -> io::Result<()> {
        let cores = rayon::current_num_threads().min(MOST_CORES);
        if cores == 1 {
            return self.read(input);
        }
        let reader = LineReader::new(input, self.consumed());
        let queue = Mutex::new(Queue { reader, given: 0, problem: None });
        let turn = Mutex::new(Turn { builder: self, next: 0, is_lost: false });
        let share = Share { turn, passed: Condvar::new() };
        std::thread::scope(|scope| {
            for _ in 0..cores + WAITING {
                scope.spawn(|| share.work(&queue));
            }
        });
        queue.into_inner().expect("no reader panics").problem.map_or(Ok(()), Err)
    }
}

/// Where batches come from, each with its number.
struct Queue<R> {
    reader: LineReader<R>,
    given: u64,
    problem: Option<io::Error>,
}

impl<R: Read> Queue<R> {
    fn next(&mut self, batch: &mut Batch) -> Option<u64> {
        if self.problem.is_some() {
            return None;
        }
        match self.reader.next_batch(batch) {
            Ok(true) => {
                self.given += 1;
                Some(self.given - 1)
            }
            Ok(false) => None,
            Err(problem) => {
                self.problem = Some(problem);
                None
            }
        }
    }
}

/// Where they go to, one after the other.
struct Turn<'b> {
    builder: &'b mut Builder,
    next: u64,
    /// Whoever had a turn panicked: nobody waits for it.
    is_lost: bool,
}

struct Share<'b> {
    turn: Mutex<Turn<'b>>,
    passed: Condvar,
}

impl Share<'_> {
    fn work<R: Read>(&self, queue: &Mutex<Queue<R>>) {
        let mut batch = Batch::default();
        let next = |batch: &mut Batch| queue.lock().expect("no reader panics").next(batch);
        while let Some(number) = next(&mut batch) {
            let _guard = Guard(self);
            let ready = Ready::of(&batch);
            self.in_turn(number, |builder| builder.take(&ready));
        }
    }

    fn in_turn(&self, number: u64, give: impl FnOnce(&mut Builder)) {
        let turn = self.turn.lock().expect("no reader panics");
        let waits = |turn: &mut Turn<'_>| turn.next != number && !turn.is_lost;
        let mut turn = self.passed.wait_while(turn, waits).expect("no reader panics");
        give(turn.builder);
        turn.next = number + 1;
        self.passed.notify_all();
    }
}

/// Lets nobody wait for a turn that will not be passed on.
struct Guard<'s, 'b>(&'s Share<'b>);

impl Drop for Guard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            if let Ok(mut turn) = self.0.turn.lock() {
                turn.is_lost = true;
            }
            self.0.passed.notify_all();
        }
    }
}

/// The entries of a batch, before the builder has seen them.
struct Ready<'a> {
    lines: Vec<ReadyLine<'a>>,
    entries: Vec<Entry<'a>>,
    odd: Vec<Diagnostic>,
}

/// A line with its part of the entries and of what was odd.
struct ReadyLine<'a> {
    line: Line<'a>,
    entries: Range<usize>,
    odd: Range<usize>,
}

impl<'a> Ready<'a> {
    fn of(batch: &'a Batch) -> Self {
        let about = batch.held() / SHORT_LINE;
        let mut ready = Self {
            lines: Vec::with_capacity(about),
            entries: Vec::with_capacity(about),
            odd: Vec::new(),
        };
        for line in batch.lines() {
            let (entry, odd) = (ready.entries.len(), ready.odd.len());
            // How much of an open line counts is the builder's to say.
            if line.is_finished() {
                Entry::read(line, &mut ready.odd, |entry| ready.entries.push(entry));
            }
            let (entries, odd) = (entry..ready.entries.len(), odd..ready.odd.len());
            ready.lines.push(ReadyLine { line, entries, odd });
        }
        ready
    }
}

impl Builder {
    fn take(&mut self, ready: &Ready<'_>) {
        for ReadyLine { line, entries, odd } in &ready.lines {
            if !line.is_finished() || self.is_open() {
                self.line(*line);
                continue;
            }
            ready.entries[entries.clone()].iter().for_each(|entry| self.push(entry));
            ready.odd[odd.clone()].iter().for_each(|odd| self.keep(odd.clone()));
            self.took(*line);
        }
    }
}

#[cfg(test)]
mod tests;

//! Reporting how far long work is, without knowing where that is shown.

use store::history::ReadProgress;
use store::sync::Watch;

/// Shows how far long work is. Each door has its own; `()` shows nothing.
pub trait WorkProgress: Send + Sync {
    /// Work on this many files and bytes begins.
    fn begin(&self, files: usize, bytes: u64);
    /// This many more files and bytes are done.
    fn advance(&self, files: usize, bytes: u64);
    /// The work is over.
    fn end(&self);
}

impl WorkProgress for () {
    fn begin(&self, _: usize, _: u64) {}
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self) {}
}

/// One piece of work. It ends when this is dropped.
pub struct Work<'a>(&'a dyn WorkProgress);

impl<'a> Work<'a> {
    /// Work whose size is reported later.
    pub fn new(progress: &'a dyn WorkProgress) -> Self {
        Self(progress)
    }

    /// Work on this many files and bytes.
    pub fn begin(progress: &'a dyn WorkProgress, files: usize, bytes: u64) -> Self {
        progress.begin(files, bytes);
        Self(progress)
    }

    /// This many more files and bytes are done.
    pub fn advance(&self, files: usize, bytes: u64) {
        self.0.advance(files, bytes);
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl ReadProgress for Work<'_> {
    fn begin(&self, files: usize, bytes: u64) {
        self.0.begin(files, bytes);
    }

    fn step(&self, bytes: u64) {
        self.0.advance(1, bytes);
    }
}

impl Watch for Work<'_> {
    fn begin(&self, files: usize, bytes: u64) {
        self.0.begin(files, bytes);
    }

    fn step(&self, files: usize, bytes: u64) {
        self.0.advance(files, bytes);
    }
}

//! Which mixture a session is made of, and how large sessions are.

use crate::random::Random;

/// A mixture of calls and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Documents and images, reads stored twice, edits with the whole file.
    Documents,
    /// Progress lines in the majority, hooks, compactions.
    Progress,
    /// Text and small lines.
    Lean,
    /// One session without end.
    Huge,
}

impl Profile {
    /// A release that wrote such files.
    pub fn version(self, random: &mut Random) -> &'static str {
        match self {
            Profile::Documents => random.pick(&["2.0.55", "2.0.64", "2.0.76"]),
            Profile::Progress => random.pick(&["2.1.12", "2.1.38", "2.1.58", "2.1.62", "2.1.81"]),
            Profile::Lean => random.pick(&["2.1.108", "2.1.144", "2.1.217"]),
            Profile::Huge => "2.1.81",
        }
    }

    /// True when a compaction follows the given turn.
    pub fn compacts(self, turn: u64) -> bool {
        match self {
            Profile::Documents => turn.is_multiple_of(40),
            Profile::Progress => turn.is_multiple_of(25),
            Profile::Lean => turn.is_multiple_of(60),
            Profile::Huge => turn.is_multiple_of(30),
        }
    }

    /// True when every prompt is followed by a file-history snapshot.
    pub fn snapshots(self) -> bool {
        self != Profile::Lean
    }
}

/// Upper bound of each bucket and how many of 392 sessions fall below it.
const BUCKETS: &[(u64, u64)] = &[
    (5_000, 201),
    (20_000, 51),
    (50_000, 39),
    (100_000, 30),
    (250_000, 34),
    (500_000, 17),
    (1_000_000, 15),
    (1_400_000, 5),
];

/// Sizes of sessions, distributed as measured on one machine and stretched so
/// that 392 of them would hold the bytes wanted.
#[derive(Debug)]
pub struct Sizes {
    random: Random,
    scale: u64,
}

impl Sizes {
    /// Sizes for a part of `bytes`.
    pub fn new(seed: u64, name: &str, bytes: u64) -> Sizes {
        // The measured 392 sessions hold 33.6 MB; small corpora take the same
        // distribution with fewer sessions rather than smaller ones.
        Sizes { random: Random::named(seed, &format!("{name} sizes")), scale: bytes / 33_600_000 }
    }

    /// The next size.
    pub fn next(&mut self) -> u64 {
        let mut at = self.random.below(392);
        let mut low = 900;
        for &(high, count) in BUCKETS {
            if at < count {
                return self.random.between(low, high) * self.scale.max(1);
            }
            at -= count;
            low = high;
        }
        unreachable!("the buckets hold 392 sessions")
    }
}

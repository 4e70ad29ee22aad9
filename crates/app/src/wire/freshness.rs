//! The last line of an answer that may be incomplete.

use ask::Freshness;
use serde::Serialize;

use super::time;

/// The last line of `search`, `recall`, `find` and `related` if the store was not up to date when
/// it answered. The exit code is then 6. With `--wait` the answer is never behind.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "freshness")]
pub struct FreshnessLine {
    /// `behind` (a sync would take long; it was started in the background), `syncing` (another
    /// process is indexing) or `unwritable` (the store's folder or disk takes no more).
    pub state: &'static str,
    /// Bytes that have not been indexed yet; `null` unless the state is `behind`.
    pub bytes: Option<u64>,
    /// When the store was last up to date; `null` unless the state is `behind`.
    pub since: Option<String>,
}

impl FreshnessLine {
    /// The line for an answer; `None` if the store was up to date.
    pub fn new(freshness: &Freshness) -> Option<Self> {
        let (state, bytes, since) = match freshness {
            Freshness::Current => return None,
            Freshness::Behind { bytes, since } => ("behind", Some(*bytes), time(Some(*since))),
            Freshness::Syncing => ("syncing", None, None),
            Freshness::Unwritable(_) => ("unwritable", None, None),
        };
        Some(Self { state, bytes, since })
    }
}

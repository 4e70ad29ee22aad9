//! When Claude Code deletes transcripts: so many days after they were last written.

use std::path::Path;

use transcript::layout::{FileKind, Found};
use transcript::side::settings;
use transcript::time::Time;

use crate::read;

/// Claude Code's own default.
const KEPT_DAYS: u64 = 30;
const DAY_MS: i64 = 86_400_000;

/// How long a Claude folder keeps its transcripts.
pub struct Retention {
    /// So many days.
    pub days: u64,
    is_set: bool,
}

impl Retention {
    /// What the folder's settings say.
    pub fn of(root: &Path) -> Self {
        let set = cleanup_days(root);
        Self { days: set.unwrap_or(KEPT_DAYS), is_set: set.is_some() }
    }

    /// Where the number of days comes from.
    pub fn from(&self) -> &'static str {
        if self.is_set { "settings.json" } else { "default" }
    }

    /// The transcripts with the times from which on they may be deleted, the next one first.
    pub fn ends<'a>(&self, files: &'a [Found]) -> Vec<(Time, &'a Found)> {
        let sessions =
            files.iter().filter(|f| matches!(f.kind, FileKind::Session { .. }) && f.kept.is_none());
        let mut ends: Vec<(Time, &Found)> =
            sessions.filter_map(|f| Some((in_days(f.modified?, self.days), f))).collect();
        ends.sort_by_key(|(end, _)| *end);
        ends
    }
}

/// So many days after a time.
pub fn in_days(time: Time, days: u64) -> Time {
    let span = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MS);
    Time(time.0.saturating_add(span))
}

/// `cleanupPeriodDays` of the folder's settings.
fn cleanup_days(root: &Path) -> Option<u64> {
    let bytes = read::whole(&root.join("settings.json")).ok()?;
    settings::cleanup_days(&bytes)
}

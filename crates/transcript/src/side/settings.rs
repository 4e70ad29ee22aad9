//! `settings.json`: what of it decides about transcripts.

use crate::json::Raw;

/// `cleanupPeriodDays`: after how many days transcripts are deleted.
pub fn cleanup_days(bytes: &[u8]) -> Option<u64> {
    Raw::new(bytes).ok()?.get("cleanupPeriodDays")?.u64()
}

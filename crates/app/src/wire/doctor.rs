//! Lines of `recount doctor --json`.

use std::collections::BTreeMap;

use serde::Serialize;

/// One finding.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Finding {
    /// What was looked at.
    Checked {
        /// Transcripts.
        files: usize,
        /// Lines in them.
        lines: u64,
        /// Bytes in them.
        bytes: u64,
        /// Entries by type.
        entries: BTreeMap<String, u64>,
    },
    /// A name that is not known.
    Unknown {
        /// `type`, `subtype`, `attachment`, `progress`, `block`, `field`, `result-field`, `role`,
        /// `attachment-field`, `compaction-field`, `usage-field`, `agent-meta-field`,
        /// `registry-field`, `folder`.
        kind: &'static str,
        /// The name.
        name: String,
        /// How often.
        count: u64,
        /// In which versions of Claude Code, with counts.
        versions: BTreeMap<String, u64>,
    },
    /// A kind of oddity.
    Odd {
        /// Which: `damaged`, `nul`, `glued`, `byte-order-mark`, `carriage-return`, `blank`,
        /// `invalid-utf8`, `control-byte`, `unfinished`, `no-final-newline`, `condensed`,
        /// `not-an-object`, `lone-surrogate`.
        kind: &'static str,
        /// How often.
        count: u64,
    },
    /// A damaged place.
    Damage {
        /// Which oddity: `damaged`, `nul`, `glued`, `invalid-utf8`, `control-byte`, `unfinished`,
        /// `not-an-object`.
        kind: &'static str,
        /// The file.
        file: String,
        /// The byte of the file it begins at, counted from 0.
        offset: u64,
        /// How many bytes.
        length: u64,
    },
    /// Entries whose parent is not in the file, or whose parents run in a circle.
    BrokenParents {
        /// The file.
        file: String,
        /// Missing parents.
        missing: usize,
        /// Circles.
        circles: usize,
        /// Entries written again.
        repeated: usize,
    },
    /// Entries of another session in a session's file.
    WrongFile {
        /// The file.
        file: String,
        /// Whose entries they are.
        session: String,
        /// How many.
        entries: usize,
    },
    /// A transcript that was put aside.
    SetAside {
        /// The file.
        file: String,
        /// Its size in bytes.
        size: u64,
    },
    /// An index that does not say what is there.
    StaleIndex {
        /// The file.
        file: String,
        /// Sessions that it names and that are not there.
        missing: usize,
        /// Sessions that are there and that it does not name.
        unlisted: usize,
    },
    /// What Claude Code deletes next.
    Retention {
        /// After so many days without a change a transcript is deleted.
        days: u64,
        /// Where that number comes from: `settings.json` or `default`.
        from: &'static str,
        /// Transcripts that are older already.
        overdue: usize,
        /// Transcripts that will be within a week.
        within_week: usize,
        /// The path of the transcript that is deleted next; `null` where there is none.
        next: Option<String>,
        /// When that one will be old enough; `null` where there is none.
        next_time: Option<String>,
    },
}

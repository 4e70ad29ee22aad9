//! What was odd about the bytes. Reading never fails on content; it says what it met.

use serde::{Deserialize, Serialize};

/// One oddity, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// What it is.
    pub kind: DiagnosticKind,
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes concerned.
    pub length: u64,
}

/// The kinds of oddity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DiagnosticKind {
    /// Bytes that are no JSON object: a fragment, a cut record, other text.
    Damaged,
    /// A run of NUL bytes, as a crash leaves it.
    Nul,
    /// Several JSON objects on one line.
    Glued,
    /// The file begins with a byte order mark.
    ByteOrderMark,
    /// A line ends in CR LF.
    CarriageReturn,
    /// A line without content.
    Blank,
    /// Bytes that are not UTF-8; shown as U+FFFD.
    InvalidUtf8,
    /// Control bytes that JSON does not allow.
    ControlByte,
    /// The last line has no newline and is no whole record: kept for the next read.
    Unfinished,
    /// The last line has no newline, but is whole.
    NoFinalNewline,
    /// A line so long that its long strings were shortened before reading; the bytes are kept.
    Condensed,
    /// A JSON value that is no object.
    NotAnObject,
}

impl DiagnosticKind {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Nul => "nul",
            Self::Glued => "glued",
            Self::ByteOrderMark => "byte-order-mark",
            Self::CarriageReturn => "carriage-return",
            Self::Blank => "blank",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::ControlByte => "control-byte",
            Self::Unfinished => "unfinished",
            Self::NoFinalNewline => "no-final-newline",
            Self::Condensed => "condensed",
            Self::NotAnObject => "not-an-object",
        }
    }
}

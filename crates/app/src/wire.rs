//! With `--json` every command prints lines of JSON for scripts and other programs; this page
//! lists every kind of line and says what each of its fields means.
//!
//! Every line is one object with a `type` that names its kind. Names are snake_case, times are
//! RFC 3339 in UTC with milliseconds, what is not known is `null`, and lists may be empty but are
//! always there. Fields are added, never renamed or removed. Text is given whole and unchanged;
//! controls and invisible characters are written as `\u` escapes, so that a line is safe on a
//! terminal too.
//!
//! Only the answers of `recount sql` have no `type`: each line is a row of the answer, with the
//! columns that were asked for. Two columns of the same name are told apart by `_2` and so on,
//! bytes are given in base 16, and numbers that JSON does not have as text.

pub mod archive;
pub mod clean;
pub mod config;
pub mod doctor;
pub mod errors;
pub mod export;
pub mod file;
pub mod find;
pub mod freshness;
pub mod history;
pub mod install;
#[cfg(feature = "lake")]
pub mod lake;
pub mod learn;
pub mod list;
pub mod log;
pub mod model;
pub mod note;
pub mod plan;
pub mod prices;
pub mod recall;
pub mod reconcile;
pub mod record;
pub mod rename;
pub mod request;
pub mod restore;
pub mod search;
pub mod sql;
pub mod storage;
pub mod sync;
pub mod timing;
pub mod todo;
pub mod tools;
pub mod tree;
pub mod usage;
pub mod wait;
pub mod waste;
pub mod watch;

use std::io::{self, Write};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::ser::Formatter;
use transcript::time::Time;

use crate::terminal::safe::is_hostile;

/// Writes a value as JSON, without a newline.
pub fn write(writer: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(writer, Safe);
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// A time as the contract has it; `None` also for one that no calendar has.
pub fn time(time: Option<Time>) -> Option<String> {
    let stamp = Timestamp::from_millisecond(time?.0).ok()?;
    Some(format!("{stamp:.3}"))
}

/// Compact JSON that escapes what a terminal may act on.
struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // The serializer has already escaped the controls of ASCII, all but DEL.
        if fragment.bytes().all(|b| b < 0x7f) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_hostile(c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_may_act_on_is_escaped() {
        let hostile = "a\u{1b}[31m\u{9b}2J\u{202e}\u{e0041}\u{7f}ü\n";
        let mut bytes = Vec::new();
        write(&mut bytes, &hostile).expect("written");
        let json = String::from_utf8(bytes).expect("utf-8");
        assert_eq!(json, r#""a\u001b[31m\u009b2J\u202e\udb40\udc41\u007fü\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).expect("valid"), hostile);
    }

    #[test]
    fn times_are_utc() {
        let text = |ms| time(Some(Time(ms)));
        assert_eq!(text(1_765_081_104_000).as_deref(), Some("2025-12-07T04:18:24.000Z"));
        assert_eq!((text(i64::MAX), time(None)), (None, None));
    }
}

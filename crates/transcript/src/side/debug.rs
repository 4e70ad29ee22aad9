//! `debug/<session>.txt`: a log, one message on a line that begins with a time.
//!
//! A message may go on over lines without a time (a stack, a JSON text); they belong to it.

use std::borrow::Cow;

use super::Read;
use crate::time::Time;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugLine<'a> {
    /// Byte offset of its first line.
    pub offset: u64,
    /// When; `None` for text before the first time.
    pub time: Option<Time>,
    /// `DEBUG`, `ERROR`, …
    pub level: Option<Cow<'a, str>>,
    /// The word in brackets before the text: `LSP MANAGER`.
    pub category: Option<Cow<'a, str>>,
    /// The message, with the lines it goes on over.
    pub text: Cow<'a, str>,
}

/// Reads the file. Nothing in it can be odd: what is no message is text before the first.
pub fn parse(bytes: &[u8]) -> Read<Vec<DebugLine<'_>>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if starts.is_empty() || head_time(&bytes[at..]).is_some() {
            starts.push(at);
        }
        at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1);
    }
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let lines = starts.iter().zip(ends).map(|(&start, end)| message(bytes, start, end));
    (lines.collect(), Vec::new())
}

/// The time at the start of a line, and what follows it.
fn head_time(line: &[u8]) -> Option<(Time, &[u8])> {
    // The times are of one length: `2025-12-07T04:17:24.497Z`.
    let (time, rest) = line.split_at_checked(24)?;
    let ended = matches!(rest.first(), None | Some(b' ' | b'\n' | b'\r'));
    Some((Time::parse(time).filter(|_| ended)?, rest))
}

fn message(bytes: &[u8], start: usize, end: usize) -> DebugLine<'_> {
    let whole = &bytes[start..end];
    let (time, rest) = match head_time(whole) {
        Some((time, rest)) => (Some(time), rest),
        None => (None, whole),
    };
    let (level, rest) = if time.is_some() { bracket(rest) } else { (None, rest) };
    let (category, rest) = if level.is_some() { bracket(rest) } else { (None, rest) };
    let text = if time.is_some() { rest.strip_prefix(b" ").unwrap_or(rest) } else { rest };
    DebugLine { offset: start as u64, time, level, category, text: lossy(text.trim_ascii_end()) }
}

/// A word in brackets at the start of a line, and what follows it.
fn bracket(rest: &[u8]) -> (Option<Cow<'_, str>>, &[u8]) {
    let line = memchr::memchr(b'\n', rest).map_or(rest, |end| &rest[..end]);
    let Some(inside) = line.strip_prefix(b" [") else {
        return (None, rest);
    };
    match memchr::memchr(b']', inside) {
        Some(end) if end > 0 => (Some(lossy(&inside[..end])), &rest[end + 3..]),
        _ => (None, rest),
    }
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &str = "\
2025-12-07T04:17:24.497Z [DEBUG] Watching for changes in setting files...
2025-12-07T04:17:24.544Z [DEBUG] [LSP MANAGER] initializeLspServerManager() called
2025-12-07T04:17:24.544Z [DEBUG] [LSP MANAGER] Created manager instance, state=pending
2025-12-07T04:17:24.546Z [DEBUG] Applying permission update: Adding 38 allow rule(s)...
2025-12-07T04:17:24.547Z [DEBUG] Found 0 plugins (0 enabled, 0 disabled)
2025-12-07T04:17:24.569Z [DEBUG] Writing to temp file: ~/.claude/todos/{sessionId}.json.tmp.4699
2025-12-07T04:17:24.570Z [DEBUG] File written atomically
2025-12-07T04:17:25.145Z [DEBUG] Ripgrep first use test: PASSED (mode=builtin)
2025-12-07T04:17:25.377Z [DEBUG] Successfully parsed and validated hook JSON output
";

    #[test]
    fn messages_with_and_without_category() {
        let (lines, _) = parse(SEED.as_bytes());
        assert_eq!(lines.len(), 9);
        assert!(lines.iter().all(|line| line.level.as_deref() == Some("DEBUG")));
        assert_eq!(lines[0].time, Time::parse(b"2025-12-07T04:17:24.497Z"));
        assert_eq!(
            (&lines[0].category, &*lines[0].text),
            (&None, "Watching for changes in setting files...")
        );
        assert_eq!(lines[1].category.as_deref(), Some("LSP MANAGER"));
        assert_eq!(lines[1].text, "initializeLspServerManager() called");
        assert_eq!(lines[1].offset, 74);
    }

    #[test]
    fn a_message_goes_on_over_lines() {
        let (lines, _) = parse(
            b"lost start\n2025-12-07T04:17:24.497Z [ERROR] Error: x\n    at y (z:1)\n\n2025-12-07T04:17:25.000Z plain\n",
        );
        let texts: Vec<_> = lines.iter().map(|line| &*line.text).collect();
        assert_eq!(texts, ["lost start", "Error: x\n    at y (z:1)", "plain"]);
        assert_eq!((lines[0].time, &lines[2].level), (None, &None));
    }
}

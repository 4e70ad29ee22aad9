//! `sessions/<pid>.json`: a Claude Code that runs, or ran and crashed.
//!
//! Deleted at exit, so a file says "may be writing now", and an empty folder says that no client
//! is running. Whether the process lives is not asked here. The status changes to `idle` about
//! 50 ms before the last lines of a turn are written. `procStart` tells a process from a later one with the same number. The `.key` files
//! beside it are tokens and never opened.

use super::{Extra, Read, Reader, word};
use crate::id::SessionId;
use crate::path::RecordedPath;
use crate::time::Time;

word!(
    /// What it is doing.
    Status {
        /// Nothing.
        Idle = "idle",
        /// It works.
        Busy = "busy",
        /// A command that the person typed is running.
        Shell = "shell",
        /// It waits for an answer.
        Waiting = "waiting",
    }
);

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The process.
    pub pid: Option<u64>,
    /// The session it writes.
    pub session: Option<SessionId>,
    /// Its working directory.
    pub cwd: Option<RecordedPath>,
    /// When it began.
    pub started: Option<Time>,
    /// When the process began, as the system counts.
    pub process_start: Option<Box<str>>,
    /// The version of Claude Code.
    pub version: Option<Box<str>>,
    /// `interactive`, `bg`, …
    pub kind: Option<Box<str>>,
    /// `cli`, `claude-vscode`, …
    pub entrypoint: Option<Box<str>>,
    /// What it is doing.
    pub status: Option<Status>,
    /// When the status last changed; since 2.1.326 or earlier.
    pub status_since: Option<Time>,
    /// The session's name.
    pub name: Option<Box<str>>,
    /// When the file was last written.
    pub updated: Option<Time>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<Running> {
    let mut reader = Reader::new(bytes);
    let mut object = reader.document_object();
    let running = Running {
        pid: object.number("pid"),
        session: object.session("sessionId"),
        cwd: object.path("cwd"),
        started: object.time("startedAt"),
        process_start: object.word("procStart"),
        version: object.text("version"),
        kind: object.text("kind"),
        entrypoint: object.text("entrypoint"),
        status: object.take("status", Status::read),
        status_since: object.time("statusUpdatedAt"),
        name: object.text("name"),
        updated: object.time("updatedAt"),
        extra: object.rest(),
    };
    (running, reader.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_one() {
        let (running, odd) = parse(
            br#"{"pid":4711,"sessionId":"s1","cwd":"/home/x/app","startedAt":1769000000000,"procStart":"123456","version":"2.1.200","kind":"interactive","entrypoint":"cli","status":"waiting","name":"my work","nameSource":"user","statusUpdatedAt":1769000000500,"updatedAt":1769000001000}"#,
        );
        assert!(odd.is_empty());
        assert_eq!((running.pid, running.status), (Some(4711), Some(Status::Waiting)));
        assert_eq!(running.started, Some(Time(1_769_000_000_000)));
        assert_eq!(running.status_since, Some(Time(1_769_000_000_500)));
        assert_eq!(running.process_start.as_deref(), Some("123456"));
        assert_eq!(format!("{:?}", running.extra), r#"[("nameSource", "user")]"#);
        let (other, _) = parse(br#"{"status":"dreaming"}"#);
        assert_eq!(other.status, Some(Status::Other("dreaming".into())));
    }
}

//! Lines of `recount watch --json`.

use serde::Serialize;

use crate::commands::watch::SessionEvent;

/// One line: something that happened in a running session.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "watch_event")]
pub struct WatchEvent<'a> {
    /// The session.
    session: &'a str,
    /// The subagent, if it was one.
    agent: Option<&'a str>,
    /// `prompt`, `call`, `error`, `compaction`, `interrupt`, `finished`, `waiting` or `ended`.
    event: &'static str,
    /// When, if the file says so.
    time: Option<String>,
    /// The entry that says so, as `show --entry` counts.
    entry: Option<u32>,
    /// The tool of a call or an error.
    tool: Option<&'a str>,
    /// What was asked, called, answered or went wrong, in one line.
    text: &'a str,
}

impl<'a> WatchEvent<'a> {
    /// The line for it.
    pub fn new(told: &'a SessionEvent) -> Self {
        let event = &told.event;
        Self {
            session: told.session.as_str(),
            agent: told.agent.as_deref(),
            event: event.kind.name(),
            time: super::time(event.time),
            entry: event.entry,
            tool: event.tool.as_deref(),
            text: &event.text,
        }
    }
}

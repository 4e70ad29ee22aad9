//! What happens in a session while it runs.

use crate::entry::message::BlockKind;
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::session::{Builder, Node, Role};
use crate::time::Time;
use crate::tool;

/// Something that a person who is not looking would want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Option<Time>,
    /// The number of the entry that says so.
    pub entry: Option<u32>,
    /// What it is.
    pub kind: EventKind,
    /// The tool of a call.
    pub tool: Option<String>,
    /// What was asked, called, answered, or went wrong, in one line.
    pub text: String,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A person asked.
    Prompt,
    /// A tool was called.
    Call,
    /// A call failed, or the API did.
    Error,
    /// The context was summarised.
    Compaction,
    /// A person interrupted.
    Interrupt,
    /// The model has given its answer.
    Finished,
    /// It waits for a person.
    Waiting,
    /// The process has ended.
    Ended,
}

impl EventKind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Call => "call",
            Self::Error => "error",
            Self::Compaction => "compaction",
            Self::Interrupt => "interrupt",
            Self::Finished => "finished",
            Self::Waiting => "waiting",
            Self::Ended => "ended",
        }
    }
}

/// What an entry that was just pushed to `builder` as `node` tells.
pub(crate) fn events(builder: &Builder, node: &Node, entry: &Entry<'_>) -> Vec<Event> {
    let event = |kind, tool: Option<&str>, text: &str| Event {
        time: node.time(),
        entry: Some(node.number),
        kind,
        tool: tool.map(str::to_owned),
        text: in_one_line(text),
    };
    let said = || crate::dialect::said(entry).unwrap_or_default();
    match node.role {
        // The entry that delivers a queued prompt tells of it.
        _ if node.kind == Kind::Bookkeeping => Vec::new(),
        Role::Prompt | Role::Queued | Role::Command | Role::Shell => {
            vec![event(EventKind::Prompt, None, &said())]
        }
        Role::Interrupt => vec![event(EventKind::Interrupt, None, "")],
        Role::Boundary => vec![event(EventKind::Compaction, None, "")],
        Role::ApiError => vec![event(EventKind::Error, None, &said())],
        Role::Answer | Role::Thinking | Role::Call => {
            let calls = entry.blocks().iter().filter(|block| block.kind == BlockKind::ToolUse);
            let mut all: Vec<Event> = calls
                .filter_map(|block| {
                    let tool = block.name?.text();
                    let subject = block.input.and_then(|input| tool::subject(&tool, input));
                    Some(event(EventKind::Call, Some(&tool), &subject.unwrap_or_default()))
                })
                .collect();
            let stop = entry.message.as_ref().and_then(|message| message.stop_reason);
            let is_end = stop.is_some_and(|s| s.is("end_turn") || s.is("stop_sequence"));
            if node.role == Role::Answer && is_end {
                all.push(event(EventKind::Finished, None, &said()));
            }
            all
        }
        Role::Result => {
            let failed = entry.blocks().iter().filter(|b| b.is_error);
            let error = failed.map(|block| {
                let tool = block.id.and_then(|id| builder.tool_of(Key::of_str(id)));
                event(EventKind::Error, tool, &block.result_text().unwrap_or_default())
            });
            error.collect()
        }
        _ => Vec::new(),
    }
}

/// So many characters of a text are worth a line.
const MOST: usize = 1000;

fn in_one_line(text: &str) -> String {
    let beginning = text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end]);
    beginning.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use crate::line::LineReader;

    use super::*;

    fn told(text: &str) -> Vec<(&'static str, u32, Option<String>, String)> {
        let mut builder = Builder::default();
        let mut lines = LineReader::new(text.as_bytes(), 0);
        let (mut all, mut odd) = (Vec::new(), Vec::new());
        while let Some(line) = lines.next_line().expect("reads") {
            let at = builder.nodes().len();
            builder.line(line);
            Entry::read(line, &mut odd, |entry| {
                let told = events(&builder, &builder.nodes()[at], &entry);
                all.extend(
                    told.into_iter().map(|e| (e.kind.name(), e.entry.unwrap_or(0), e.tool, e.text)),
                );
            });
        }
        all
    }

    #[test]
    fn each_kind_once() {
        let text = r#"{"parentUuid":null,"uuid":"a","sessionId":"s","timestamp":"2026-04-20T10:00:00Z","type":"user","message":{"role":"user","content":"fix\nthe port"}}
{"parentUuid":"a","uuid":"b","sessionId":"s","timestamp":"2026-04-20T10:00:01Z","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I look."}],"stop_reason":"tool_use"}}
{"parentUuid":"b","uuid":"c","sessionId":"s","timestamp":"2026-04-20T10:00:02Z","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"lsof -i"}}],"stop_reason":"tool_use"}}
{"parentUuid":"c","uuid":"d","sessionId":"s","timestamp":"2026-04-20T10:00:03Z","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"lsof: not found"}]}}
{"parentUuid":"d","uuid":"e","sessionId":"s","timestamp":"2026-04-20T10:00:04Z","type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Not possible."}],"stop_reason":"end_turn"}}
{"parentUuid":"e","uuid":"f","sessionId":"s","timestamp":"2026-04-20T10:00:05Z","type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}
{"parentUuid":null,"logicalParentUuid":"f","uuid":"g","sessionId":"s","timestamp":"2026-04-20T10:00:06Z","type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":9}}
"#;
        let bash = || Some("Bash".to_owned());
        let want = [
            ("prompt", 1, None, "fix the port".into()),
            ("call", 3, bash(), "lsof -i".into()),
            ("error", 4, bash(), "lsof: not found".into()),
            ("finished", 5, None, "Not possible.".into()),
            ("interrupt", 6, None, String::new()),
            ("compaction", 7, None, String::new()),
        ];
        assert_eq!(told(text), want);
    }
}

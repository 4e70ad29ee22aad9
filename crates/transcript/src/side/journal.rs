//! `journal.jsonl` of a workflow's run: which agent did which step, and what came of it.

use super::{Extra, Json, Read, Reader, word};
use crate::id::AgentId;

word!(
    /// What happened.
    JournalKind {
        /// The run began.
        Launched = "launched",
        /// An agent began a step.
        Started = "started",
        /// An agent finished its step.
        Result = "result",
        /// A step failed.
        Failed = "failed",
    }
);

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// Byte offset of the line.
    pub offset: u64,
    /// What happened.
    pub kind: Option<JournalKind>,
    /// The step; `started` and `result` of one step have the same.
    pub key: Option<Box<str>>,
    /// The agent.
    pub agent: Option<AgentId>,
    /// The step's name.
    pub label: Option<Box<str>>,
    /// The phase it belongs to.
    pub phase: Option<Box<str>>,
    /// What came of it, of any type.
    pub result: Option<Json>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<Vec<JournalLine>> {
    let mut reader = Reader::new(bytes);
    let mut all = Vec::new();
    for line in reader.lines() {
        let mut object = reader.object(line);
        all.push(JournalLine {
            offset: reader.offset(line.bytes()) as u64,
            kind: object.take("type", JournalKind::read),
            key: object.word("key"),
            agent: object.agent("agentId"),
            label: object.text("label"),
            phase: object.word("phase"),
            result: object.json("result"),
            extra: object.rest(),
        });
    }
    (all, reader.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn started_and_result_share_their_key() {
        let (lines, odd) = parse(
            concat!(
                r#"{"type":"launched"}"#,
                "\n",
                r#"{"type":"started","key":"k1","agentId":"a1","label":"Review","phase":"check"}"#,
                "\n",
                r#"{"type":"result","key":"k1","agentId":"a1","result":{"ok":true}}"#,
                "\n",
                r#"{"type":"paused","key":"k1"}"#,
                "\n",
            )
            .as_bytes(),
        );
        assert!(odd.is_empty());
        assert_eq!(lines[1].key, lines[2].key);
        assert_eq!(lines[2].result.as_ref().map(Json::bytes), Some(&br#"{"ok":true}"#[..]));
        assert_eq!(lines[3].kind, Some(JournalKind::Other("paused".into())));
    }
}

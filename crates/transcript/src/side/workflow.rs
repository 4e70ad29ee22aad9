//! `workflows/<run>.json`: a workflow's run, written when it is finished.
//!
//! The shape of phases and of progress is known by name only, so both stay as they stand.

use super::{Extra, Json, Read, Reader, json};

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowRun {
    /// How it ended.
    pub status: Option<Box<str>>,
    /// Its phases.
    pub phases: Vec<Json>,
    /// What happened, step by step.
    pub progress: Vec<Json>,
    /// The script that was run.
    pub script: Option<Box<str>>,
    /// What the script was given, of any type.
    pub args: Option<Json>,
    /// What went wrong, of any type.
    pub error: Option<Json>,
    /// The tokens of all its agents.
    pub total_tokens: Option<u64>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<WorkflowRun> {
    let mut reader = Reader::new(bytes);
    let mut object = reader.document_object();
    let mut list = |key| match object.array(key) {
        Some(raw) => reader.items(raw).into_iter().map(json).collect(),
        None => Vec::new(),
    };
    let (phases, progress) = (list("phases"), list("workflowProgress"));
    let run = WorkflowRun {
        status: object.text("status"),
        phases,
        progress,
        script: object.text("script"),
        args: object.json("args"),
        error: object.json("error"),
        total_tokens: object.number("totalTokens"),
        extra: object.rest(),
    };
    (run, reader.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_run() {
        let (run, odd) = parse(
            br#"{"runId":"wf_1","status":"completed","phases":[{"title":"check"}],"workflowProgress":[],"script":"await agent()","args":null,"totalTokens":1200}"#,
        );
        assert!(odd.is_empty());
        assert_eq!(run.status.as_deref(), Some("completed"));
        assert_eq!((run.phases.len(), run.total_tokens, run.args), (1, Some(1200), None));
        assert_eq!(format!("{:?}", run.extra), r#"[("runId", "wf_1")]"#);
    }
}

//! Section 8: side files. Most of their shapes are quoted beside the code that reads them; here
//! is what varies.

use transcript::side::journal::{self, JournalKind};
use transcript::side::registry::{self, Status};
use transcript::side::{agent_meta, backup, stats, task, tool_output, workflow};

use transcript::json::Raw;
use transcript::path::RecordedPath;

/// 8.3: in 2.1.71 nothing but `agentType`, then `description`.
#[test]
fn a_meta_file_may_say_little() {
    let (meta, odd) = agent_meta::parse(br#"{"agentType":"Explore","description":"Find it"}"#);
    assert_eq!((meta.agent_type.as_deref(), meta.tool_use), (Some("Explore"), None));
    assert!(odd.is_empty() && meta.extra.is_empty());
}

#[test]
fn a_journal_tells_how_each_step_ended() {
    let lines = r#"{"type":"launched","key":"k0"}
{"type":"started","key":"k1","agentId":"a1","label":"Review","phase":"check"}
{"type":"result","key":"k1","agentId":"a1","result":"fine"}
{"type":"failed","key":"k2","agentId":"a2"}
"#;
    let (lines, odd) = journal::parse(lines.as_bytes());
    use JournalKind::{Failed, Launched, Result, Started};
    let kinds: Vec<_> = lines.iter().filter_map(|line| line.kind.clone()).collect();
    assert_eq!((kinds, odd.len()), (vec![Launched, Started, Result, Failed], 0));
    assert_eq!(lines[3].agent.as_ref().map(|a| a.as_str()), Some("a2"));
    assert_eq!(
        (lines[1].label.as_deref(), lines[1].phase.as_deref()),
        (Some("Review"), Some("check"))
    );
}

#[test]
fn a_finished_workflow_may_have_failed() {
    let (run, odd) = workflow::parse(
        br#"{"status":"failed","phases":[],"workflowProgress":[{"label":"x"}],"script":"s","args":{"n":1},"error":"no","totalTokens":3}"#,
    );
    assert_eq!((run.status.as_deref(), run.progress.len(), odd.len()), (Some("failed"), 1, 0));
    assert_eq!(run.error.and_then(|e| Some(e.raw()?.text()?.into_owned())).as_deref(), Some("no"));
    assert_eq!(run.args.map(|args| args.bytes().to_vec()).as_deref(), Some(&br#"{"n":1}"#[..]));
}

/// 8.5: the name depends on tool and gateway; the path is never followed.
#[test]
fn a_spilled_output_is_known_by_its_name() {
    for name in ["b9excv8zh.txt", "toolu_01Ab.txt", "tooluse_01Ab.txt"] {
        let note = format!(
            "<persisted-output>\nOutput too large (31.9KB). Full output saved to: /home/x/.claude/projects/-w/s/tool-results/{name}\n\nPreview (first 2KB):\nx"
        );
        assert_eq!(tool_output::persisted_name(&note), Some(name));
    }
}

/// 8.6: an absolute key for a file outside the working directory; both members may be there.
#[test]
fn a_snapshot_may_hold_a_checkpoint_and_outside_files() {
    let line = r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{"messageId":"m","trackedFileBackups":{"/etc/hosts":{"backupFileName":"0123456789abcdef@v3","version":3,"backupTime":"2026-05-01T10:00:00.000Z","realParentDir":"/private/etc"}},"timestamp":"2026-05-01T10:00:00.000Z","preCheckpoint":true},"isSnapshotUpdate":false}"#;
    let (got, odd) = backup::snapshot(Raw::new(line.as_bytes()).expect("valid"));
    assert_eq!(
        (odd.len(), got.is_update, got.message == got.snapshot_message),
        (0, Some(false), true)
    );
    assert_eq!(got.files[0].path, RecordedPath::new("/etc/hosts"));
    assert_eq!(got.files[0].real_parent_dir, Some(RecordedPath::new("/private/etc")));
    assert_eq!(format!("{:?}", got.extra), r#"[("preCheckpoint", true)]"#);
}

/// 8.7: `owner` and `metadata` are optional, `blocks` and `blockedBy` are not.
#[test]
fn a_task_may_have_neither_owner_nor_form() {
    let (task, odd) = task::parse(
        br#"{"id":"1","subject":"Write","description":"All","status":"pending","blocks":[],"blockedBy":[]}"#,
    );
    assert!(odd.is_empty() && task.extra.is_empty());
    assert_eq!(
        (task.subject.as_deref(), task.owner, task.active_form),
        (Some("Write"), None, None)
    );
}

#[test]
fn stats_of_every_version_are_read() {
    for version in 1..=5 {
        let json = format!(
            r#"{{"version":{version},"lastComputedDate":"2026-05-01","dailyActivity":[],"dailyModelTokens":[],"modelUsage":{{}},"totalSessions":3,"totalMessages":30,"longestSession":null,"firstSessionDate":null,"hourCounts":{{}}}}"#
        );
        let (stats, odd) = stats::parse(json.as_bytes());
        assert_eq!((stats.version, stats.total_sessions, odd.len()), (Some(version), Some(3), 0));
        assert!(stats.extra.is_empty() && stats.speculation_saved_ms.is_none());
    }
}

/// 8.8: says whether the file is being written.
#[test]
fn a_running_claude_says_what_it_does() {
    for (word, status) in
        [("idle", Status::Idle), ("busy", Status::Busy), ("waiting", Status::Waiting)]
    {
        let json = format!(
            r#"{{"pid":4711,"sessionId":"s1","cwd":"/w","startedAt":1769000000000,"procStart":"123","version":"2.1.200","kind":"interactive","entrypoint":"cli","status":"{word}","tmux":null,"messagingSocketPath":"/t","bridgeSessionId":null,"updatedAt":1769000000001}}"#
        );
        let (running, odd) = registry::parse(json.as_bytes());
        assert_eq!((running.status, odd.len()), (Some(status), 0));
        assert_eq!(running.session.as_ref().map(|s| s.as_str()), Some("s1"));
    }
}

//! Section 7: `toolUseResult`, by tool.

use transcript::json::Raw;
use transcript::session::LinkKind;
use transcript::tool::{self, Change};

use super::shape::*;

fn raw(json: &str) -> Raw<'_> {
    Raw::new(json.as_bytes()).expect("valid")
}

/// Members that results of a tool have, whose names are judged.
const MEMBERS: &[(&str, &str)] = &[
    (
        "Bash",
        r#"{"stdout":"","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false,"returnCodeInterpretation":"x","backgroundTaskId":"b1","backgroundedByUser":true,"assistantAutoBackgrounded":true,"timedOutAfterMs":1,"backgroundCwdHint":"x","persistedOutputPath":"/p","persistedOutputSize":1,"rawOutputPath":"/p","structuredContent":{},"dangerouslyDisableSandbox":true,"staleReadFileStateHint":"x","ghRateLimitHint":"x","gitOperation":{},"backgroundEndsWithFinalResponse":true,"backgroundWakesOwner":true,"sandbox":true,"tokenSaverOutput":"x","bashEditDiff":"x"}"#,
    ),
    ("Read", r#"{"type":"parts","file":{},"firstPage":1}"#),
    (
        "Edit",
        r#"{"filePath":"/a","oldString":"a","newString":"b","originalFile":null,"structuredPatch":[],"userModified":false,"replaceAll":false,"gitDiff":{},"staged":true,"memdirStamped":true,"staleRecovered":true}"#,
    ),
    (
        "MultiEdit",
        r#"{"filePath":"/a","edits":[],"originalFileContents":"x","structuredPatch":[],"userModified":false}"#,
    ),
    (
        "Write",
        r#"{"type":"create","filePath":"/a","content":"x","structuredPatch":[],"originalFile":null,"userModified":false,"gitDiff":{},"staged":true}"#,
    ),
    (
        "Glob",
        r#"{"filenames":[],"durationMs":1,"numFiles":0,"truncated":false,"totalMatches":0,"countIsComplete":true,"timedOut":false}"#,
    ),
    (
        "Grep",
        r#"{"mode":"content","numFiles":0,"filenames":[],"content":"","numLines":0,"numMatches":0,"totalFiles":0,"totalLines":0,"appliedLimit":1,"appliedOffset":1,"timedOut":false}"#,
    ),
    ("TodoWrite", r#"{"oldTodos":[],"newTodos":[]}"#),
    ("WebSearch", r#"{"query":"q","results":[null],"durationSeconds":1.5,"searchCount":1}"#),
    ("WebFetch", r#"{"bytes":1,"code":200,"codeText":"OK","result":"x","durationMs":1,"url":"u"}"#),
    ("WebFetch", r#"{"detachedToolCall":true}"#),
];

#[test]
fn every_judged_member_is_known() {
    for (name, result) in MEMBERS {
        let known = tool::RESULT_FIELDS.iter().find(|(tool, _)| tool == name).expect("judged").1;
        for (key, _) in raw(result).fields() {
            assert!(known.contains(&&*key.text()), "{name}.{}", key.text());
        }
    }
}

/// An object, a string on errors, an array of MCP tools.
#[test]
fn a_result_beside_the_result_may_be_of_any_type() {
    for beside in [r#"{"stdout":"x"}"#, r#""Error: x""#, r#"[{"type":"text","text":"x"}]"#, "null"]
    {
        let s = session(&[
            call("a1", "-", "t1", "mcp__github__create_issue", r#"{"title":"x"}"#),
            result("r1", "a1", "t1", "x", beside),
            call("a2", "r1", "t2", "Write", r#"{"file_path":"/a","content":"x\ny"}"#),
            result("r2", "a2", "t2", "x", beside),
        ]);
        assert!(s.calls().iter().all(|call| call.result().is_some()), "{beside}");
        assert_eq!(s.touches().map(|(path, t)| (path, t.added)).collect::<Vec<_>>(), [("/a", 2)]);
    }
}

#[test]
fn a_failed_edit_changed_nothing() {
    let failed = result("r1", "a1", "t1", "x", r#""Error: String to replace not found in file.""#)
        .replace(r#""content":"x""#, r#""content":"x","is_error":true"#);
    let input = r#"{"file_path":"/a","old_string":"x","new_string":"y"}"#;
    let s = session(&[call("a1", "-", "t1", "Edit", input), failed]);
    assert_eq!((s.errors().len(), s.touches().count()), (1, 0));
}

#[test]
fn every_form_of_a_read_names_its_file() {
    let cases = [
        (
            r#"{"type":"text","file":{"filePath":"/w/a.rs","content":"x","numLines":1,"startLine":1,"totalLines":1,"truncatedByTokenCap":true}}"#,
            "/w/a.rs",
        ),
        (
            r#"{"type":"image","file":{"base64":"x","type":"image/png","originalSize":9,"dimensions":{}}}"#,
            "/asked",
        ),
        (
            r#"{"type":"pdf","file":{"filePath":"/w/a.pdf","base64":"x","originalSize":9}}"#,
            "/w/a.pdf",
        ),
        (r#"{"type":"notebook","file":{"filePath":"/w/a.ipynb","cells":[]}}"#, "/w/a.ipynb"),
        (
            r#"{"type":"parts","file":{"filePath":"/w/b.pdf","originalSize":9,"count":2,"outputDir":"/p"},"firstPage":1}"#,
            "/w/b.pdf",
        ),
        (r#"{"type":"file_unchanged","file":{"filePath":"/w/a.rs"}}"#, "/w/a.rs"),
        (r#""Error: File does not exist.""#, "/asked"),
    ];
    for (result, want) in cases {
        let path =
            tool::path_of("Read", Some(raw(r#"{"file_path":"/asked"}"#)), Some(raw(result)), None);
        assert_eq!(path.as_deref(), Some(want), "{result}");
    }
}

#[test]
fn every_tool_that_edits_tells_what_changed() {
    let change = |tool: &str, result: &str| tool::change(tool, None, Some(raw(result)), None);
    let want = |path: &str, added, removed, estimated| {
        Some(Change {
            path: path.into(),
            added,
            removed,
            created: false,
            deleted: false,
            estimated,
            unknown: false,
        })
    };
    let patch = r#"[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":[" a","-b","+c"]},{"oldStart":9,"oldLines":0,"newStart":9,"newLines":1,"lines":["+d"]}]"#;
    let multi = format!(
        r#"{{"filePath":"/a","edits":[{{"old_string":"b","new_string":"c","replace_all":false}}],"originalFileContents":"a\nb","structuredPatch":{patch},"userModified":false}}"#
    );
    assert_eq!(change("MultiEdit", &multi), want("/a", 2, 1, false));
    let update = format!(
        r#"{{"type":"update","filePath":"/a","content":"a\nc","structuredPatch":{patch},"originalFile":"a\nb"}}"#
    );
    assert_eq!(change("Write", &update), want("/a", 2, 1, false));
    let notebook = r#"{"new_source":"a\nb\nc","old_source":"a\nx","cell_id":"c1","cell_type":"code","language":"python","edit_mode":"replace","error":"","notebook_path":"/n.ipynb","original_file":"{}","updated_file":"{}"}"#;
    assert_eq!(change("NotebookEdit", notebook), want("/n.ipynb", 2, 1, true));
}

/// Task, and Agent since 2.1.63: which subagent the result names, and how.
#[test]
fn a_subagent_is_named_by_its_result() {
    let cases = [
        (
            r#"{"status":"completed","prompt":"p","agentId":"a1","agentType":"Explore","content":[{"type":"text","text":"x"}],"totalDurationMs":1,"totalTokens":1,"totalToolUseCount":1,"usage":{}}"#,
            "x",
            Some(LinkKind::Result),
        ),
        (
            r#"{"isAsync":true,"status":"async_launched","agentId":"a1","description":"d","prompt":"p","outputFile":"/p"}"#,
            "x",
            Some(LinkKind::Result),
        ),
        (
            r#"{"status":"teammate_spawned","teammate_id":"a1","agent_id":"a1","model":"m","name":"n","color":"blue","team_name":"t","is_splitpane":false,"plan_mode_required":false}"#,
            "x",
            Some(LinkKind::Result),
        ),
        (
            r#"{"status":"remote_launched","taskId":"r1","sessionUrl":"u","description":"d","prompt":"p","outputFile":"/p"}"#,
            "x",
            None,
        ),
        (
            r#"{"content":[{"type":"text","text":"x"}],"totalDurationMs":1,"totalTokens":1,"totalToolUseCount":1,"usage":{}}"#,
            "x",
            None,
        ),
        (
            "null",
            r"done\nagentId: a1 (use SendMessage with to: 'a1' to continue this agent)",
            Some(LinkKind::Text),
        ),
    ];
    for (beside, shown, want) in cases {
        for name in ["Task", "Agent"] {
            let s = session(&[
                call("a1", "-", "t1", name, r#"{"description":"d","prompt":"p"}"#),
                result("r1", "a1", "t1", shown, beside),
            ]);
            let found: Vec<_> = s.agent_links().map(|(agent, link)| (agent, link.kind)).collect();
            assert_eq!(
                found,
                want.map(|kind| ("a1", kind)).into_iter().collect::<Vec<_>>(),
                "{beside}"
            );
        }
    }
}

#[test]
fn a_workflow_names_its_run() {
    let s = session(&[
        call("a1", "-", "t1", "Workflow", r#"{"name":"review"}"#),
        result(
            "r1",
            "a1",
            "t1",
            "x",
            r#"{"status":"async_launched","taskId":"w1","taskType":"workflow","workflowName":"review","runId":"wf_1","summary":"x","transcriptDir":"/p","scriptPath":"/p"}"#,
        ),
    ]);
    assert_eq!(
        (s.workflow_runs()[0].0.as_ref(), s.workflow_runs()[0].1),
        ("wf_1", s.calls()[0].key())
    );
}

/// What git printed is cut or absent (`-q`): `gitOperation` has the hash.
#[test]
fn a_commit_may_stand_beside_the_output_only() {
    let beside = r#"{"stdout":"","stderr":"","interrupted":false,"gitOperation":{"commit":{"sha":"2e06a57","kind":"committed"}}}"#;
    let s = session(&[
        call("a1", "-", "t1", "Bash", r#"{"command":"git commit -qm x"}"#),
        result("r1", "a1", "t1", "", beside),
    ]);
    assert_eq!(
        s.commits().map(|(_, commit)| commit.hash.as_str()).collect::<Vec<_>>(),
        ["2e06a57"]
    );
}

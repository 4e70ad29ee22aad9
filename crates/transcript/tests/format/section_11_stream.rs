//! Section 11: stream-json, the other dialect.

use transcript::catalog;
use transcript::entry::{Entry, Kind};
use transcript::json::Str;

use super::shape::*;

fn text(value: Option<Str<'_>>) -> Option<String> {
    value.map(|v| v.text().into_owned())
}

#[test]
fn members_in_snake_case_are_the_same_members() {
    let line = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]},"session_id":"s","parent_tool_use_id":"t0","tool_use_result":{"stdout":"x"},"request_id":"req_1","isReplay":true,"uuid":"u1"}"#;
    let entry = Entry::of(line.as_bytes(), 0);
    assert_eq!((text(entry.session).as_deref(), entry.lineage), (Some("s"), None));
    assert_eq!(text(entry.request).as_deref(), Some("req_1"));
    assert_eq!(text(entry.parent_call).as_deref(), Some("t0"));
    assert!(entry.tool_result.is_some_and(|r| r.string("stdout").as_deref() == Some("x")));
    all_known(&entry);
}

#[test]
fn every_type_is_known() {
    let types = "stream_event rate_limit_event tool_progress tool_use_summary auth_status prompt_suggestion conversation_reset active_goal control_request control_response keep_alive transcript_mirror result";
    for name in types.split(' ') {
        let line = format!(r#"{{"type":"{name}","session_id":"s","uuid":"u1"}}"#);
        assert_eq!(Entry::of(line.as_bytes(), 0).kind, Kind::Bookkeeping, "{name}");
    }
    assert_eq!(types.split(' ').count(), catalog::STREAM.len());
}

#[test]
fn every_subtype_of_system_is_known() {
    let subtypes = "init compact_boundary status api_retry hook_started hook_progress hook_response task_started task_updated task_progress task_notification background_tasks_changed local_command_output informational notification permission_denied memory_recall files_persisted plugin_install session_state_changed commands_changed elicitation_complete model_refusal_fallback model_refusal_no_fallback mirror_error thinking_tokens worker_shutting_down session_writes_lost";
    for name in subtypes.split(' ') {
        assert!(catalog::knows_subtype(name), "{name}");
    }
    assert_eq!(subtypes.split(' ').count(), catalog::STREAM_SYSTEM.len());
}

#[test]
fn a_result_ends_a_run_with_any_members() {
    for subtype in [
        "success",
        "error_during_execution",
        "error_max_turns",
        "error_max_budget_usd",
        "error_max_structured_output_retries",
    ] {
        let line = format!(
            r#"{{"type":"result","subtype":"{subtype}","duration_ms":1,"duration_api_ms":1,"is_error":false,"num_turns":1,"result":"x","stop_reason":"end_turn","total_cost_usd":0.1,"usage":{{}},"modelUsage":{{}},"permission_denials":[],"errors":[],"structured_output":{{}},"terminal_reason":"x","result_index":0,"origin":{{}},"uuid":"u1","session_id":"s"}}"#
        );
        let entry = Entry::of(line.as_bytes(), 0);
        assert!(entry.is_subtype(subtype) && entry.kind == Kind::Bookkeeping);
        all_known(&entry);
    }
}

#[test]
fn a_compaction_is_told_in_snake_case() {
    let s = session(&[
        r#"{"type":"user","message":{"role":"user","content":"go"},"session_id":"s","parent_tool_use_id":null,"uuid":"u1"}"#,
        r#"{"type":"user","message":{"role":"user","content":"kept"},"session_id":"s","parent_tool_use_id":null,"uuid":"u2"}"#,
        r#"{"type":"system","subtype":"compact_boundary","session_id":"s","uuid":"b1","compact_metadata":{"trigger":"manual","pre_tokens":9000,"post_tokens":900,"duration_ms":1200,"preserved_messages":{"anchor_uuid":"b1","uuids":["u2"]}}}"#,
        r#"{"type":"user","message":{"role":"user","content":"on"},"session_id":"s","parent_tool_use_id":null,"uuid":"u3"}"#,
    ]);
    let c = &s.compactions()[0];
    assert_eq!((c.trigger.as_deref(), c.pre_tokens), (Some("manual"), Some(9000)));
    assert_eq!((c.post_tokens, c.duration_ms), (Some(900), Some(1200)));
    assert!(s.nodes()[1].is_preserved() && !s.nodes()[0].is_preserved());
    assert_eq!(s.segments().len(), 2);
}

/// A subagent's messages stand between the others and name its call.
#[test]
fn a_subagents_messages_are_beside_the_talk() {
    let s = session(&[
        r#"{"type":"user","message":{"role":"user","content":"go"},"session_id":"s","parent_tool_use_id":null,"uuid":"u1"}"#,
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Task","input":{"prompt":"look"}}]},"session_id":"s","parent_tool_use_id":null,"uuid":"a1"}"#,
        r#"{"type":"user","message":{"role":"user","content":"look"},"session_id":"s","parent_tool_use_id":"t1","uuid":"n1"}"#,
        r#"{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"seen"}]},"session_id":"s","parent_tool_use_id":"t1","uuid":"n2"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"seen"}]},"session_id":"s","parent_tool_use_id":null,"uuid":"r1"}"#,
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("AAssA", 1));
    assert_eq!((s.parent(3), s.parent(4)), (Some(2), Some(1)));
}

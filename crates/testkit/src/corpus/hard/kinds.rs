//! Every entry type, system subtype, attachment and progress type there is a
//! name for, at least once. The payloads of those known by name only are
//! guesses and as small as possible.

use std::io;

use super::case;
use crate::corpus::book::Book;
use crate::entry;
use crate::json::{Raw, member};
use crate::scribe::Scribe;
use crate::{members, obj};

const THEME: &str = "kinds";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    bookkeeping(book)?;
    systems(book)?;
    old_system(book)?;
    progress(book)?;
    attachments(book)?;
    requests(book)?;
    prompt_fields(book)?;
    assistant_fields(book)
}

/// A bookkeeping line: type, its own members, the session.
fn note(s: &mut Scribe, kind: &str, own: &str) {
    let mut line = String::from("{");
    member(&mut line, "type", kind);
    crate::scribe::join(&mut line, own);
    member(&mut line, "sessionId", &s.envelope.session);
    line.push('}');
    s.line(kind, &line);
}

fn bookkeeping(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every bookkeeping line", "2.1.291")?;
    s.say("Now come the books.");
    s.own_summary("A summary");
    let (a, b) = (s.random.uuid(), s.random.uuid());
    let at = crate::clock::iso(s.now);
    s.line("file-history-snapshot", &entry::snapshot(&a, &[("a.rs", None, 1)], &at, true));
    s.line(
        "file-history-delta",
        &entry::delta(&b, &a, ("b.rs", Some("0123456789abcdef@v1"), 1), &at),
    );
    for operation in ["enqueue", "dequeue", "remove", "popAll", "absorb"] {
        let line = entry::queue(operation, None, &s.envelope.session, &at);
        s.line("queue-operation", &line);
    }
    s.last_prompt("Case: every bookkeeping line");
    s.custom_title("Books");
    s.ai_title("Books, by the model");
    s.pr_link("ana/books", 7);
    s.pr_link("ana/books", 7);
    s.pr_link("ana/books", 8);
    for (kind, own) in simple_notes(&at) {
        note(&mut s, kind, &own);
    }
    s.truth.titles.insert("agent-name".into(), "Keeper".into());
    // These two belong to other files, but a reader must bear them here.
    let id = s.envelope.session.clone();
    let line = obj! { "type": "fork-context-ref", "agentId": "a0", "parentSessionId": id,
    "parentLastUuid": a, "contextLength": 2 };
    s.line("fork-context-ref", &line.0);
    book.close_session(s)
}

fn simple_notes(at: &str) -> Vec<(&'static str, String)> {
    let model = obj! {
        "inputTokens": 10, "outputTokens": 20, "cacheReadInputTokens": 5,
        "cacheCreationInputTokens": 70, "webSearchRequests": 0, "costUSD": 0.0123,
    };
    let replacement = obj! { "kind": "tool-result", "toolUseId": "toolu_01x",
    "replacement": "<persisted-output>" };
    vec![
        ("agent-name", members! { "agentName": "Keeper" }),
        ("agent-color", members! { "agentColor": "blue" }),
        ("agent-setting", members! { "agentSetting": "reviewer" }),
        ("tag", members! { "tag": "books" }),
        ("tag", members! { "tag": "" }),
        ("mode", members! { "mode": "normal" }),
        ("permission-mode", members! { "permissionMode": "plan" }),
        ("bridge-session", members! { "bridgeSessionId": "cse_01Example", "lastSequenceNum": 0 }),
        (
            "frame-link",
            members! { "path": "/tmp/a.html", "frameUrl": "https://claude.ai/code/artifact/0", "title": "Page", "timestamp": at },
        ),
        ("worktree-state", members! { "worktreeSession": None::<&str> }),
        ("relocated", members! { "relocatedCwd": "/home/ana/hard/kinds" }),
        (
            "cost-state",
            members! {
                "totalCostUSD": 0.5321, "totalAPIDuration": 9000, "totalAPIDurationWithoutRetries": 8000,
                "totalToolDuration": 300, "totalDuration": 60000, "startTime": 1_769_000_000_000_u64,
                "totalLinesAdded": 3, "totalLinesRemoved": 1,
                "modelUsage": obj! { "claude-haiku-4-5-20251001": model }, "hasUnknownModelCost": false,
            },
        ),
        ("atis-latch", members! { "atis": "" }),
        ("history-suppression", members! { "cause": "fork_inherit" }),
        ("isolation-latch", members! { "side": "local" }),
        ("ended-by-model", members! { "timestamp": at }),
        ("observer-ref", members! { "observerId": "o1" }),
        ("dev-mods", members! { "mods": Vec::<Raw>::new() }),
        ("memory-mode", members! { "mode": "on" }),
        ("artifact-comment-monitor", members! { "v": 1, "artifacts": Vec::<Raw>::new() }),
        ("artifact-autoreact-ledger", members! { "v": 1, "artifacts": Vec::<Raw>::new() }),
        ("content-replacement", members! { "replacements": [replacement] }),
        ("attribution-snapshot", members! { "messageId": "m1" }),
        ("speculation-accept", members! { "timestamp": at, "timeSavedMs": 1200 }),
        ("marble-origami-commit", members! { "v": 1 }),
        ("marble-origami-snapshot", members! { "v": 1 }),
        ("marble-origami-reset", members! { "v": 1 }),
        ("tools-used", members! { "tools": ["Read", "Edit"] }),
        ("saved_hook_context", members! { "content": ["ready"], "hookName": "SessionStart" }),
        (
            "continued-in",
            members! { "continuedInSessionId": "00000000-0000-4000-8000-00000000c0de", "timestamp": at },
        ),
    ]
}

fn systems(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every system subtype", "2.1.217")?;
    s.say("Now comes the system.");
    let info = obj! { "command": "scripts/check.sh", "durationMs": 420 };
    s.system(
        "stop_hook_summary",
        &members! {
            "hookCount": 1, "hookInfos": [info], "hookErrors": ["exit 1"],
            "hookAdditionalContext": Vec::<Raw>::new(), "preventedContinuation": false,
            "stopReason": "", "hasOutput": true, "level": "suggestion", "toolUseID": "x",
        },
    );
    s.system(
        "turn_duration",
        &members! { "durationMs": 123_787, "messageCount": 82, "pendingBackgroundAgentCount": 1 },
    );
    s.system("api_error", &members! { "level": "error", "error": obj! {}, "retryInMs": 505.26, "retryAttempt": 1, "maxRetries": 10 });
    s.system("local_command", &members! { "content": "<local-command-stdout>Bye!</local-command-stdout>", "level": "info" });
    s.system(
        "microcompact_boundary",
        &members! { "content": "Context microcompacted", "level": "info",
        "microcompactMetadata": obj! { "trigger": "auto", "preTokens": 9, "tokensSaved": 3,
        "compactedToolIds": Vec::<Raw>::new(), "clearedAttachmentUUIDs": Vec::<Raw>::new() } },
    );
    s.system(
        "away_summary",
        &members! { "content": "Reviewing the branch. (disable recaps in /config)" },
    );
    s.system(
        "informational",
        &members! { "content": "Remote Control disconnected", "level": "warning" },
    );
    s.system("scheduled_task_fire", &members! { "content": "Claude resuming /loop wakeup", "taskId": "t1", "cron": "0 9 * * *", "prompt": "check" });
    s.system(
        "bridge_status",
        &members! { "content": "/remote-control is active", "url": "https://claude.ai/code/x" },
    );
    s.system("model_refusal_fallback", &members! {
        "direction": "retry", "content": "Flagged", "level": "warning", "trigger": "refusal",
        "originalModel": "claude-opus-4-8", "fallbackModel": "claude-sonnet-4-5", "requestId": "req_011C",
        "apiRefusalCategory": "cyber", "apiRefusalExplanation": None::<&str>, "refusedUserMessageUuid": "u",
    });
    for subtype in ["model_refusal_no_fallback", "model_consent_fallback", "agents_killed"] {
        s.system(subtype, &members! { "content": "Noted", "level": "info" });
    }
    s.compact("auto", 167_000, Some(12_000), "The system spoke.");
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

/// 1.0.4x wrote system entries without a subtype.
fn old_system(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a system entry without subtype", "1.0.53")?;
    s.say("Editing.");
    let place = s.place();
    let body = members! {
        "type": "system", "content": "Running \u{1b}[1mPostToolUse:Edit\u{1b}[22m...",
        "isMeta": false, "timestamp": place.at, "uuid": place.uuid, "toolUseID": "toolu_01x",
        "level": "info",
    };
    s.put("system", None, place, body);
    s.say("Edited.");
    book.close_session(s)
}

fn progress(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every progress type", "2.1.62")?;
    let call = s.call("Bash", obj! { "command": "make", "description": "Build" });
    let message = obj! {
        "type": "assistant", "message": obj! { "role": "assistant", "content": [entry::text("x")] },
        "uuid": "00000000-0000-4000-8000-00000000a9e7", "timestamp": "2026-01-05T09:00:00.000Z",
    };
    let data = [
        (
            "bash_progress",
            members! { "output": "ok", "fullOutput": "ok", "elapsedTimeSeconds": 2, "totalLines": 1, "totalBytes": 0, "taskId": "b1", "timeoutMs": 60000 },
        ),
        (
            "hook_progress",
            members! { "hookEvent": "PreToolUse", "hookName": "PreToolUse:Bash", "command": "true", "statusMessage": "Checking" },
        ),
        (
            "agent_progress",
            members! { "message": message, "normalizedMessages": [&message], "prompt": "Look", "agentId": "a1b2c3d" },
        ),
        (
            "mcp_progress",
            members! { "status": "started", "serverName": "maps", "toolName": "find", "elapsedTimeMs": 12 },
        ),
        ("search_results_received", members! { "resultCount": 9, "query": "rust" }),
        ("query_update", members! { "query": "rust edition" }),
        ("waiting_for_task", members! { "taskDescription": "Build", "taskType": "local_bash" }),
    ];
    for (kind, own) in data {
        let data = Raw(format!("{{\"type\":\"{kind}\",{own}}}"));
        s.progress(kind, &data, "p-0", &call.id);
    }
    s.result(&call, &crate::json::ToJson::raw("ok"), &crate::scribe::tool::bash_shape("ok"));
    s.say("Built.");
    book.close_session(s)
}

fn attachments(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every attachment", "2.1.267")?;
    for (kind, own) in attachment_list() {
        s.attachment(kind, &own);
    }
    s.say("All seen.");
    book.close_session(s)
}

fn attachment_list() -> Vec<(&'static str, String)> {
    let hook = members! { "hookName": "Stop", "toolUseID": "x", "hookEvent": "Stop" };
    let diagnostic = obj! { "message": "unused", "severity": "Warning" };
    let file = obj! { "type": "text", "file": obj! { "filePath": "/home/ana/a.rs", "content": "fn a() {}\n", "numLines": 1, "startLine": 1, "totalLines": 1 } };
    let none = Vec::<Raw>::new;
    let mut list = vec![
        (
            "hook_success",
            format!(
                "{hook},{}",
                members! { "content": "", "stdout": "ok", "stderr": "", "exitCode": 0, "command": "true", "durationMs": 3 }
            ),
        ),
        ("hook_additional_context", format!("{},{hook}", members! { "content": ["Be brief."] })),
        ("hook_system_message", format!("{},{hook}", members! { "content": "Hello" })),
        (
            "hook_non_blocking_error",
            format!(
                "{hook},{}",
                members! { "stderr": "no", "stdout": "", "exitCode": 127, "command": "none", "durationMs": 3 }
            ),
        ),
        ("hook_cancelled", format!("{hook},{}", members! { "command": "sleep", "durationMs": 3 })),
        (
            "async_hook_response",
            format!(
                "{},{hook}",
                members! { "processId": "async_hook_1", "response": obj! {}, "stdout": "", "stderr": "", "exitCode": 0 }
            ),
        ),
        (
            "hook_blocking_error",
            format!(
                "{hook},{}",
                members! { "blockingError": obj! { "blockingError": "no", "command": "guard" } }
            ),
        ),
        ("hook_stopped_continuation", format!("{hook},{}", members! { "message": "stopped" })),
        ("edited_text_file", members! { "filename": "/home/ana/a.rs", "snippet": "1\tfn a() {}" }),
        ("file", members! { "filename": "/home/ana/a.rs", "content": file, "displayPath": "a.rs" }),
        (
            "compact_file_reference",
            members! { "filename": "/home/ana/a.rs", "displayPath": "a.rs" },
        ),
        (
            "plan_file_reference",
            members! { "planFilePath": "/home/ana/.claude/plans/calm-folding-river.md", "planContent": "# Plan" },
        ),
        ("directory", members! { "path": "/home/ana", "content": "a.rs" }),
        (
            "nested_memory",
            members! { "path": "/home/ana/CLAUDE.md", "content": obj! { "path": "/home/ana/CLAUDE.md", "type": "Project", "content": "Use tabs.", "globs": ["**/*.md"], "contentDiffersFromDisk": false }, "displayPath": "CLAUDE.md" },
        ),
        (
            "skill_listing",
            members! { "content": "- review: Review", "skillCount": 1, "isInitial": true, "names": ["review"] },
        ),
        (
            "invoked_skills",
            members! { "skills": [obj! { "name": "review", "path": "/s", "content": "Review" }] },
        ),
        (
            "agent_listing_delta",
            members! { "addedTypes": ["claude"], "addedLines": ["- claude"], "removedTypes": none(), "isInitial": true, "showConcurrencyNote": true },
        ),
        (
            "deferred_tools_delta",
            members! { "addedNames": ["CronCreate"], "addedLines": ["CronCreate"], "removedNames": none(), "readdedNames": none(), "pendingMcpServers": none() },
        ),
        (
            "mcp_instructions_delta",
            members! { "addedNames": ["maps"], "addedBlocks": ["## maps"], "removedNames": none() },
        ),
        ("command_permissions", members! { "allowedTools": none() }),
        ("task_reminder", members! { "content": none(), "itemCount": 0 }),
        ("todo_reminder", members! { "content": none(), "itemCount": 0 }),
        ("total_tokens_reminder", members! { "text": "12000 tokens left" }),
        ("date_change", members! { "newDate": "2026-01-06" }),
        ("auto_mode", members! { "reminderType": "once" }),
        ("auto_mode_exit", String::new()),
        (
            "plan_mode",
            members! { "reminderType": "full", "isSubAgent": false, "planFilePath": "/p.md", "planExists": false },
        ),
        ("plan_mode_exit", members! { "planFilePath": "/p.md", "planExists": true }),
        ("plan_mode_reentry", members! { "planFilePath": "/p.md" }),
        (
            "diagnostics",
            members! { "files": [obj! { "uri": "/home/ana/a.rs", "diagnostics": [diagnostic] }], "isNew": true },
        ),
        ("read_truncation_notice", members! { "banner": "cut", "toolUseID": "toolu_01x" }),
        ("output_style", members! { "style": "plain" }),
        ("output_style_instructions", members! { "text": "plain" }),
        (
            "goal_status",
            members! { "condition": "green", "met": true, "iterations": 2, "reason": "tests pass" },
        ),
        ("ultra_effort_enter", String::new()),
        ("dynamic_skill", members! { "skillDir": "/s", "skillNames": ["review"] }),
        ("workflow_size_guideline_change", members! { "size": "small" }),
        ("already_read_file", members! { "filename": "/home/ana/a.rs" }),
        ("opened_file_in_ide", members! { "filename": "/home/ana/a.rs" }),
        (
            "task_status",
            members! { "taskId": "b1", "status": "completed", "outputFilePath": "/tmp/b1" },
        ),
    ];
    list.extend([
        ("prompt_snapshot", members! { "systemPrompt": ["You are …"], "tools": none() }),
        ("environment", members! { "snapshot": obj! {}, "changes": none(), "rendered": "" }),
        ("instructions", members! { "files": none() }),
        ("session_context", members! { "context": obj! {} }),
        ("model", members! { "identity": obj! { "modelId": "claude-opus-4-5" }, "text": "" }),
        ("date", members! { "date": "2026-01-05" }),
        ("deferred_tools_record", members! { "entries": none() }),
        ("thinking_stripped", members! { "scope": "all" }),
        ("thinking_drop", members! { "model": "claude-opus-4-5", "thinkingBlocksSent": 0 }),
        ("remote_session_change", String::new()),
        ("silent_turn_reminder", members! { "text": "Say how it goes." }),
    ]);
    list
}

/// The SHA-256 of a text that is written as the client hashes it: sorted keys, no white space.
fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 2.1.326 records its requests: whole with all parts, on a base, and with a base that is gone.
fn requests(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "requests as they were sent", "2.1.326")?;
    s.say("Ready.");
    let said = |role: &str, text: &str| {
        sha256(&format!(r#"{{"content":[{{"text":"{text}","type":"text"}}],"role":"{role}"}}"#))
    };
    let (first, day) = (said("user", "Dig for gold"), said("system", "It is Tuesday."));
    s.prompt("Dig for gold");
    let shape = r#"{"system":[{"text":"You dig.","type":"text"}],"tools":[{"input_schema":{"type":"object"},"name":"Dig"}]}"#;
    let shape_hash = sha256(shape);
    let at = crate::clock::iso(s.now);
    let snapshot = members! { "systemPrompt": ["You dig."], "tools": [obj! { "name": "Dig" }] };
    s.attachment("prompt_snapshot", &snapshot);
    let own = members! { "shapeHash": shape_hash, "timestamp": at, "version": "2.1.326", "shape": Raw(shape.into()) };
    note(&mut s, "api-request-shape", &own);
    let message = obj! { "role": "system", "content": "It is Tuesday." };
    note(&mut s, "api-request-blob", &members! { "hash": day, "message": message });
    let params = r#""max_tokens":500,"#;
    let body = |system_mark: &str, rest: &str| {
        let system = format!(r#"[{{{system_mark}"text":"You dig.","type":"text"}}]"#);
        let text = |role: &str, text: &str| {
            format!(r#"{{"content":[{{"text":"{text}","type":"text"}}],"role":"{role}"}}"#)
        };
        let messages =
            format!("{},{}{rest}", text("user", "Dig for gold"), text("system", "It is Tuesday."));
        format!(
            r#"{{{params}"messages":[{messages}],"model":"claude-opus-5-5","system":{system},"tools":[{{"input_schema":{{"type":"object"}},"name":"Dig"}}]}}"#
        )
    };
    let mark = r#""cache_control":{"type":"ephemeral"},"#;
    let marks = r#"[{"path":["system",0],"value":{"type":"ephemeral"}}]"#;
    let request = |id: &str, base: &str, keep: u64, tail: Vec<String>, digest: &str| {
        let mut own = members! {
            "id": id, "timestamp": at, "version": "2.1.326", "querySource": "repl_main_thread",
            "shapeHash": shape_hash, "params": obj! { "model": "claude-opus-5-5", "max_tokens": 500 },
        };
        if !base.is_empty() {
            crate::scribe::join(&mut own, &members! { "base": base });
        }
        let rest = members! {
            "keep": keep, "tail": tail, "cacheControl": Raw(marks.into()), "requestDigest": digest,
        };
        crate::scribe::join(&mut own, &rest);
        own
    };
    let digest = sha256(&body(mark, ""));
    note(&mut s, "api-request", &request("request-1", "", 0, vec![first, day], &digest));
    note(&mut s, "tools-used", &members! { "tools": ["Dig"] });
    let named = |id: &str| members! { "requestRef": id };
    s.block(entry::text("Digging."), 8, "end_turn", &named("request-1"));
    s.prompt("Deeper");
    let rest = r#",{"content":[{"text":"Digging.","type":"text"}],"role":"assistant"},{"content":[{"text":"Deeper","type":"text"}],"role":"user"}"#;
    let tail = vec![said("assistant", "Digging."), said("user", "Deeper")];
    let digest = sha256(&body(mark, rest));
    note(&mut s, "api-request", &request("request-2", "request-1", 2, tail, &digest));
    s.block(entry::text("Water."), 8, "end_turn", &named("request-2"));
    s.prompt("Stop");
    let tail = vec![said("user", "Stop"), said("user", "never written")];
    note(&mut s, "api-request", &request("request-3", "request-0", 5, tail, &sha256("")));
    s.block(entry::text("Stopped."), 8, "end_turn", &named("request-3"));
    book.close_session(s)
}

/// Optional members of user entries over the releases.
fn prompt_fields(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every optional field of a prompt", "2.1.29")?;
    s.say("Ready.");
    let fields = [
        members! { "thinkingMetadata": obj! { "level": "high", "disabled": false, "triggers": Vec::<Raw>::new() } },
        members! { "thinkingMetadata": obj! { "maxThinkingTokens": 31_999 } },
        members! { "todos": Vec::<Raw>::new() },
        members! { "imagePasteIds": [1_u64] },
        members! { "planContent": "# Plan" },
        members! { "promptSource": "queued", "origin": obj! { "kind": "human" } },
        members! { "userFeedback": "no", "toolEndsTurn": true, "turnCompanion": true },
        members! { "mcpMeta": obj! { "_meta": obj! {}, "structuredContent": obj! {} } },
        members! { "summarizeMetadata": obj! {}, "classifierMetaLines": "x" },
    ];
    for (n, extra) in fields.iter().enumerate() {
        let text = format!("Prompt number {n}");
        s.note_prompt(&text);
        s.user(&crate::json::ToJson::raw(&text), extra);
    }
    s.say("All read.");
    book.close_session(s)
}

fn assistant_fields(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every optional field of an answer", "2.1.261")?;
    let extra = members! {
        "attributionAgent": "a", "attributionSkill": "s", "attributionPlugin": "p",
        "attributionMcpServer": "m", "attributionMcpTool": "t", "effort": "high",
        "perTurnEffort": "max", "apiBlockIndex": 0, "isAbortedMidStream": true,
        "supersedes": ["u"], "wireToolInputs": obj! {},
    };
    s.block(entry::text("Much is known about me."), 8, "end_turn", &extra);
    book.close_session(s)
}

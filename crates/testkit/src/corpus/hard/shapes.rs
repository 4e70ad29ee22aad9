//! Every content block and every shape of `toolUseResult`.

use std::io;

use super::case;
use crate::corpus::book::Book;
use crate::entry;
use crate::json::{Raw, ToJson};
use crate::scribe::Scribe;
use crate::scribe::tool::Change;
use crate::{arr, obj};

const THEME: &str = "shapes";
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAA";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    blocks(book)?;
    several_blocks(book)?;
    results(book)?;
    old_results(book)?;
    strings(book)?;
    mcp(book)
}

fn blocks(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every content block", "2.1.217")?;
    s.think("Let me see.");
    let signature = "EvShort";
    let list = [
        obj! { "type": "redacted_thinking", "data": "Emw=" },
        entry::thinking("", signature),
        obj! { "type": "text", "text": "cited", "citations": Vec::<Raw>::new() },
        obj! { "type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": obj! { "query": "x" } },
        obj! { "type": "web_search_tool_result", "tool_use_id": "srvtoolu_01", "content": Vec::<Raw>::new() },
        obj! { "type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_02", "content": obj! {} },
        obj! { "type": "code_execution_tool_result", "tool_use_id": "srvtoolu_03", "content": obj! {} },
        obj! { "type": "mcp_tool_use", "id": "mcptoolu_01", "name": "find", "server_name": "maps", "input": obj! {} },
        obj! { "type": "mcp_tool_result", "tool_use_id": "mcptoolu_01", "content": Vec::<Raw>::new() },
        obj! { "type": "container_upload", "file_id": "file_01" },
        obj! { "type": "advisor_tool_result", "tool_use_id": "srvtoolu_04", "content": obj! {} },
        obj! { "type": "fallback", "from": obj! { "model": "claude-opus-4-8" }, "to": obj! { "model": "claude-sonnet-4-5" } },
    ];
    for block in list {
        s.block(block, 6, "end_turn", "");
    }
    s.say("That was all.");
    book.close_session(s)
}

/// 1.0.x sometimes wrote several blocks into one entry.
fn several_blocks(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "two blocks in one entry", "1.0.128")?;
    let id = s.random.id("toolu_01");
    let call = entry::tool_use("1.0.128", &id, "LS", &obj! { "path": "/home/ana" });
    let both = Raw(format!("{},{}", entry::text("Listing.").0, call.0));
    let entry_id = s.block(both, 40, "tool_use", "");
    s.truth.calls += 1;
    let call = crate::scribe::Call { id, entry: entry_id, tool: "LS".into(), input: obj! {} };
    s.result(&call, &"- /home/ana/\n  - a.rs".raw(), &"- /home/ana/\n  - a.rs".raw());
    s.say("One file.");
    book.close_session(s)
}

fn give(s: &mut Scribe, tool: &str, input: Raw, shape: Raw) {
    let call = s.call(tool, input);
    s.result(&call, &"ok".raw(), &shape);
}

fn results(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every result of the newer tools", "2.1.217")?;
    files(&mut s);
    agents(&mut s);
    for (tool, shape) in plain_results() {
        give(&mut s, tool, obj! {}, shape);
    }
    let call = s.call("ToolSearch", obj! { "query": "cron" });
    let reference = obj! { "type": "tool_reference", "tool_name": "CronCreate" };
    let shape = obj! { "matches": ["CronCreate"], "query": "cron", "total_deferred_tools": 9 };
    s.result(&call, &arr![reference], &shape);
    let call = s.call("Skill", obj! { "skill": "review" });
    s.result(
        &call,
        &"Launching skill: review".raw(),
        &obj! { "success": true, "commandName": "review" },
    );
    let place = s.place();
    let body = arr![entry::text("Base directory for this skill: /home/ana/.claude/skills/review")];
    let source = crate::members! { "sourceToolUseID": call.id };
    s.user_at(place, &body, "\"isMeta\":true", &source);
    s.say("All done.");
    book.close_session(s)
}

fn files(s: &mut Scribe) {
    s.read("/home/ana/a.rs", "fn a() {}\n");
    s.edit(Change {
        path: "/home/ana/a.rs",
        original: "fn a() {}\n",
        old: "fn a() {}",
        new: "fn b() {}",
    });
    s.create_file("/home/ana/new.rs", "fn c() {}\nfn d() {}\n");
    let update = obj! {
        "type": "update", "filePath": "/home/ana/new.rs", "content": "fn c() {}\n",
        "structuredPatch": [obj! { "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 1,
            "lines": [" fn c() {}", "-fn d() {}"] }],
        "originalFile": "fn c() {}\nfn d() {}\n",
    };
    give(s, "Write", obj! { "file_path": "/home/ana/new.rs", "content": "fn c() {}\n" }, update);
    s.touch("/home/ana/new.rs", 0, 1);
    // A large file: its original is not repeated since 2.1.97.
    let large = "fn line() {}\n".repeat(1_000);
    s.edit(Change {
        path: "/home/ana/large.rs",
        original: &large,
        old: "fn line() {}",
        new: "fn first() {}",
    });
    let image = obj! { "base64": PNG, "type": "image/png", "originalSize": 18,
    "dimensions": obj! { "originalWidth": 1, "originalHeight": 1 } };
    let call = s.call("Read", obj! { "file_path": "/home/ana/a.png" });
    let content = arr![entry::media("image", "image/png", PNG)];
    s.result(&call, &content, &obj! { "type": "image", "file": image });
    let path = obj! { "file_path": "/home/ana/x" };
    for file in [
        obj! { "type": "pdf", "file": obj! { "filePath": "/home/ana/a.pdf", "base64": "JVBERi0xLjQK", "originalSize": 9 } },
        obj! { "type": "notebook", "file": obj! { "filePath": "/home/ana/a.ipynb", "cells": Vec::<Raw>::new() } },
        obj! { "type": "parts", "file": obj! { "filePath": "/home/ana/b.pdf", "originalSize": 9, "count": 2, "outputDir": "/tmp/pdf" } },
        obj! { "type": "file_unchanged", "file": obj! { "filePath": "/home/ana/a.rs" } },
    ] {
        give(s, "Read", path.clone(), file);
    }
    give(
        s,
        "NotebookEdit",
        obj! { "notebook_path": "/home/ana/a.ipynb", "new_source": "1" },
        obj! {
            "new_source": "1", "cell_id": "c1", "cell_type": "code", "language": "python",
            "edit_mode": "replace", "error": "", "notebook_path": "/home/ana/a.ipynb",
            "original_file": "{}", "updated_file": "{}",
        },
    );
}

fn agents(s: &mut Scribe) {
    for shape in [
        obj! { "isAsync": true, "status": "async_launched", "agentId": "a0000000000000001", "description": "d", "prompt": "p", "outputFile": "/tmp/o" },
        obj! { "status": "remote_launched", "taskId": "t1", "sessionUrl": "https://claude.ai/code/x", "description": "d", "prompt": "p", "outputFile": "/tmp/o" },
    ] {
        give(s, "Agent", obj! { "description": "d", "prompt": "p" }, shape);
    }
}

fn plain_results() -> Vec<(&'static str, Raw)> {
    let task = obj! { "id": "1", "subject": "Write tests" };
    vec![
        (
            "Bash",
            obj! { "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": true, "backgroundTaskId": "b1", "backgroundedByUser": true },
        ),
        (
            "Bash",
            obj! { "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "gitOperation": obj! { "commit": obj! { "sha": "abc1234" } }, "returnCodeInterpretation": "No matches found" },
        ),
        ("PowerShell", obj! { "stdout": "ok", "stderr": "", "interrupted": false }),
        (
            "Glob",
            obj! { "filenames": ["a.rs"], "durationMs": 3, "numFiles": 1, "truncated": false },
        ),
        (
            "Grep",
            obj! { "mode": "content", "numFiles": 0, "filenames": Vec::<Raw>::new(), "content": "a.rs:1:fn", "numLines": 1 },
        ),
        (
            "Grep",
            obj! { "mode": "count", "numFiles": 1, "filenames": Vec::<Raw>::new(), "content": "a.rs:1", "numMatches": 1 },
        ),
        (
            "TaskOutput",
            obj! { "retrieval_status": "success", "task": obj! { "task_id": "b1", "task_type": "local_bash", "status": "completed", "description": "make", "output": "ok", "exitCode": 0 } },
        ),
        (
            "TaskStop",
            obj! { "message": "Stopped", "task_id": "b1", "task_type": "local_bash", "command": "make" },
        ),
        ("TaskCreate", obj! { "task": task }),
        (
            "TaskGet",
            obj! { "task": obj! { "id": "1", "subject": "Write tests", "status": "pending", "blocks": Vec::<Raw>::new(), "blockedBy": Vec::<Raw>::new() } },
        ),
        ("TaskList", obj! { "tasks": [&task] }),
        (
            "TaskUpdate",
            obj! { "success": true, "taskId": "1", "updatedFields": ["status"], "statusChange": obj! { "from": "pending", "to": "completed" } },
        ),
        (
            "WebSearch",
            obj! { "query": "rust", "results": arr![obj! { "tool_use_id": "srv", "content": [obj! { "title": "Rust", "url": "https://www.rust-lang.org" }] }, "A summary", None::<&str>], "durationSeconds": 2.5 },
        ),
        (
            "WebFetch",
            obj! { "bytes": 120, "code": 200, "codeText": "OK", "result": "A page", "durationMs": 80, "url": "https://example.org" },
        ),
        ("WebFetch", obj! { "detachedToolCall": true }),
        (
            "AskUserQuestion",
            obj! { "questions": [obj! { "question": "Which?", "header": "Choice", "options": [obj! { "label": "A", "description": "First" }], "multiSelect": false }], "answers": obj! { "Which?": "A" } },
        ),
        ("EnterPlanMode", obj! { "message": "Entered plan mode" }),
        ("ExitPlanMode", obj! { "plan": "# Plan", "isAgent": false, "filePath": "/p.md" }),
        (
            "SendMessage",
            obj! { "success": true, "message": "sent", "routing": obj! { "sender": "lead", "target": "data", "summary": "s", "content": "c" } },
        ),
        (
            "TeamCreate",
            obj! { "team_name": "phase1", "team_file_path": "/t.json", "lead_agent_id": "lead@phase1" },
        ),
        ("TeamDelete", obj! { "success": true, "message": "gone", "team_name": "phase1" }),
        ("ListAgents", obj! { "listing": "none" }),
        (
            "Workflow",
            obj! { "status": "remote_launched", "taskId": "w2", "sessionUrl": "https://claude.ai/code/y" },
        ),
        (
            "CronCreate",
            obj! { "id": "c1", "humanSchedule": "every day at 9", "recurring": true, "durable": false },
        ),
        (
            "ScheduleWakeup",
            obj! { "scheduledFor": 1_769_000_000_000_u64, "clampedDelaySeconds": 60, "wasClamped": true },
        ),
        ("Monitor", obj! { "taskId": "m1", "timeoutMs": 1000, "persistent": false }),
        ("ReportFindings", obj! { "count": 0, "findings": Vec::<Raw>::new() }),
        (
            "Artifact",
            obj! { "url": "https://claude.ai/code/artifact/0", "path": "/a.html", "title": "Page", "updated": false },
        ),
        (
            "SendUserFile",
            obj! { "caption": "c", "display": "inline", "attachments": Vec::<Raw>::new() },
        ),
        ("LSP", obj! { "operation": "hover", "result": "fn a()", "filePath": "/home/ana/a.rs" }),
        ("EnterWorktree", obj! { "worktreePath": "/home/ana/w", "worktreeBranch": "w" }),
    ]
}

fn old_results(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every result of the older tools", "2.0.28")?;
    let edit = obj! { "old_string": "a", "new_string": "b", "replace_all": false };
    give(
        &mut s,
        "MultiEdit",
        obj! { "file_path": "/home/ana/a.rs", "edits": [&edit] },
        obj! {
            "filePath": "/home/ana/a.rs", "edits": [&edit], "originalFileContents": "a\n",
            "structuredPatch": [obj! { "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"] }],
            "userModified": false,
        },
    );
    s.touch("/home/ana/a.rs", 1, 1);
    s.todos(&[], &[("Write tests", "in_progress"), ("Run them", "pending")]);
    for (tool, shape) in [
        (
            "BashOutput",
            obj! { "shellId": "b1", "command": "make", "status": "completed", "exitCode": 0, "stdout": "ok", "stderr": "", "stdoutLines": 1, "stderrLines": 0, "timestamp": "2025-11-01T09:00:00.000Z" },
        ),
        ("KillShell", obj! { "message": "Killed", "shell_id": "b1" }),
        ("KillBash", obj! { "success": true, "message": "Killed", "shell_id": "b1" }),
        ("Task", obj! { "content": [entry::text("done")], "totalTokens": 9 }),
        (
            "NotebookEdit",
            obj! { "cell_number": 0, "new_source": "1", "cell_type": "code", "language": "python", "edit_mode": "replace", "error": "" },
        ),
    ] {
        give(&mut s, tool, obj! {}, shape);
    }
    s.say("All done.");
    book.close_session(s)
}

/// Errors leave a string, and sometimes no `is_error` tells of success.
fn strings(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "every error string", "2.1.108")?;
    for (tool, error) in [
        ("Bash", "Exit code 1\nerror: could not compile"),
        ("Bash", "Sibling tool call errored"),
        ("Bash", "Cancelled: parallel tool call Bash(make) errored"),
        ("Read", "File does not exist."),
        ("Read", "EISDIR: illegal operation on a directory, read '/home/ana'"),
        ("Read", "File content (31337 tokens) exceeds maximum allowed tokens (25000)."),
        ("Edit", "<tool_use_error>String to replace not found in file.</tool_use_error>"),
        (
            "Edit",
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        ),
        ("WebFetch", "Request failed with status code 404"),
        ("WebFetch", "Unable to verify if domain example.org is safe to fetch."),
        ("mcp__maps__find", "MCP error -32000: Connection closed"),
    ] {
        s.fails(tool, obj! { "for": error }, error);
    }
    s.say("Much went wrong.");
    book.close_session(s)
}

fn mcp(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "results of MCP servers", "2.1.144")?;
    let text = arr![entry::text("Found 2 places")];
    let call = s.call("mcp__maps__find", obj! { "query": "bakery" });
    s.result(&call, &text, &text);
    let image = arr![entry::media("image", "image/png", PNG), entry::text("A map")];
    let call = s.call("mcp__maps__draw", obj! { "query": "bakery" });
    s.result(&call, &image, &image);
    let call = s.call("mcp__maps__ping", obj! {});
    s.result(&call, &"pong".raw(), &"pong".raw());
    let call = s.call("mcp__maps__nothing", obj! {});
    let block = obj! { "type": "tool_result", "tool_use_id": call.id };
    s.user(&arr![block], "");
    s.say("Found.");
    book.close_session(s)
}

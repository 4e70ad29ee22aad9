//! Everything beside the transcripts.

use std::io;

use super::{case, untold};
use crate::corpus::book::{Book, hash16};
use crate::entry;
use crate::json::{Raw, ToJson};
use crate::obj;
use crate::scribe::tool::{Change, bash_shape, todo_list};

const THEME: &str = "side";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    file_history(book)?;
    file_deltas(book)?;
    spilled(book)?;
    lists(book)?;
    plan(book)?;
    let live = live(book)?;
    history(book, &live)?;
    caches(book)
}

fn file_history(book: &mut Book) -> io::Result<()> {
    let mut s = untold(book, THEME, "file history with backups", "2.0.76")?;
    let id = s.envelope.session.clone();
    let prompt = s.prompt("Case: file history with backups");
    let at = crate::clock::iso(s.now);
    s.line("file-history-snapshot", &entry::snapshot(&prompt, &[], &at, false));
    let (path, old) = ("/home/ana/hard/side/src/a.rs", "fn one() {}\nfn two() {}\n");
    let first = book.backup(&id, path, 1, old)?;
    s.edit(Change { path, original: old, old: "fn two() {}", new: "fn second() {}" });
    s.create_file("/home/ana/hard/side/src/new.rs", "fn new() {}\n");
    s.flush();
    let at = crate::clock::iso(s.now);
    let backups = [("src/a.rs", Some(first.as_str()), 1), ("src/new.rs", None, 1)];
    s.line("file-history-snapshot", &entry::snapshot(&prompt, &backups, &at, true));
    s.say("Changed one, made one.");
    let again = s.prompt("Change it again, and the one outside");
    let now = "fn one() {}\nfn second() {}\n";
    let second = book.backup(&id, path, 2, now)?;
    let outside = book.backup(&id, "/home/ana/other/b.rs", 1, "fn b() {}\n")?;
    s.edit(Change { path, original: now, old: "fn one() {}", new: "fn first() {}" });
    s.edit(Change {
        path: "/home/ana/other/b.rs",
        original: "fn b() {}\n",
        old: "fn b() {}",
        new: "fn c() {}",
    });
    let at = crate::clock::iso(s.now);
    let backups = [
        ("src/a.rs", Some(second.as_str()), 2),
        ("src/new.rs", None, 1),
        ("/home/ana/other/b.rs", Some(outside.as_str()), 1),
    ];
    s.line("file-history-snapshot", &entry::snapshot(&again, &backups, &at, false));
    s.say("Changed both.");
    book.close_session(s)
}

fn file_deltas(book: &mut Book) -> io::Result<()> {
    let mut s = untold(book, THEME, "file history with deltas", "2.1.217")?;
    let id = s.envelope.session.clone();
    let prompt = s.prompt("Case: file history with deltas");
    let at = crate::clock::iso(s.now);
    s.line("file-history-snapshot", &entry::snapshot(&prompt, &[], &at, false));
    let path = "/home/ana/hard/side/d.rs";
    let name = book.backup(&id, path, 1, "fn d() {}\n")?;
    s.edit(Change { path, original: "fn d() {}\n", old: "fn d() {}", new: "fn e() {}" });
    s.flush();
    let at = crate::clock::iso(s.now);
    let own = s.truth.leaf.clone().expect("it has edited");
    s.line("file-history-delta", &entry::delta(&own, &prompt, ("d.rs", Some(&name), 1), &at));
    s.line("file-history-delta", &entry::delta(&own, &prompt, ("gone.rs", None, 1), &at));
    s.say("Changed.");
    book.close_session(s)
}

fn spilled(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "output too large for the transcript", "2.1.108")?;
    let dir = s.truth.file.replace(".jsonl", "/tool-results");
    let output = "a line of output that goes on and on\n".repeat(900);
    let call = s.call("Bash", obj! { "command": "cat log", "description": "Show" });
    let path = format!("/home/ana/.claude/{dir}/b1x2c3v4n.txt");
    let preview = &output[..2_000];
    let content = format!(
        "<persisted-output>\nOutput too large (32.5KB). Full output saved to: {path}\n\nPreview (first 2KB):\n{preview}\n...\n</persisted-output>"
    );
    let shape = obj! {
        "stdout": preview, "stderr": "", "interrupted": false, "isImage": false,
        "persistedOutputPath": path, "persistedOutputSize": output.len(),
    };
    s.result(&call, &content.raw(), &shape);
    book.side(&format!("{dir}/b1x2c3v4n.txt"), &output)?;
    let call = s.call("mcp__maps__dump", obj! {});
    let own = format!("/home/ana/.claude/{dir}/{}.txt", call.id);
    let content = format!(
        "<persisted-output>\nOutput too large (32.5KB). Full output saved to: {own}\n\nPreview (first 2KB):\n{preview}\n...\n</persisted-output>"
    );
    s.result(&call, &content.raw(), &content.raw());
    book.side(&format!("{dir}/{}.txt", call.id), &output)?;
    book.side(&format!("{dir}/pdf-0001/page-01.jpg"), [0xff, 0xd8, 0xff, 0xe0])?;
    // A path that points out of the session's folder must not be followed.
    let call = s.call("Bash", obj! { "command": "cat x", "description": "Show" });
    let content = "<persisted-output>\nOutput too large (99KB). Full output saved to: ../../../../etc/passwd\n\nPreview (first 2KB):\nx\n</persisted-output>";
    s.result(&call, &content.raw(), &bash_shape("x"));
    s.say("Long.");
    book.close_session(s)
}

/// Todo lists in their three forms, and tasks.
fn lists(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "todo files and task files", "2.1.58")?;
    s.say("Ready.");
    let id = s.envelope.session.clone();
    let items = [("Write tests", "completed"), ("Run them", "in_progress")];
    book.side(&format!("todos/{id}-agent-{id}.json"), todo_list(&items).0)?;
    let old = "00000000-0000-4000-8000-0000000000aa";
    let item =
        obj! { "content": "Write tests", "status": "pending", "priority": "high", "id": "1" };
    book.side(&format!("todos/{old}-agent-{old}.json"), [item].raw().0)?;
    book.side(&format!("todos/{id}-agent-a0000000000000001.json"), "[]")?;
    let task = obj! {
        "id": "1", "subject": "Write tests", "description": "For the parser",
        "activeForm": "Writing tests", "status": "in_progress", "blocks": ["2"],
        "blockedBy": Vec::<Raw>::new(),
    };
    book.side(&format!("tasks/{id}/1.json"), task.0)?;
    let task = obj! {
        "id": "2", "subject": "Run them", "description": "", "status": "pending",
        "blocks": Vec::<Raw>::new(), "blockedBy": ["1"], "owner": "data",
    };
    book.side(&format!("tasks/{id}/2.json"), task.0)?;
    book.side(&format!("tasks/{id}/.lock"), "")?;
    book.side(&format!("tasks/{id}/.highwatermark"), "2")?;
    book.close_session(s)
}

fn plan(book: &mut Book) -> io::Result<()> {
    let mut s = untold(book, THEME, "a plan, a debug log and an environment", "2.1.58")?;
    s.envelope.slug = Some("calm-folding-river".into());
    let id = s.envelope.session.clone();
    s.prompt("Case: a plan, a debug log and an environment");
    let call = s.call("ExitPlanMode", obj! { "plan": "# Plan\n\n1. Look\n2. Leap\n" });
    s.result(
        &call,
        &"User has approved your plan.".raw(),
        &obj! { "plan": "# Plan\n\n1. Look\n2. Leap\n", "isAgent": false },
    );
    s.say("Leaping.");
    book.side("plans/calm-folding-river.md", "# Plan\n\n1. Look\n2. Leap\n")?;
    book.side(&format!("debug/{id}.txt"), "2026-01-05T09:00:00.000Z [DEBUG] Starting\n2026-01-05T09:00:01.000Z [ERROR] MCP server \"maps\": connection refused\n")?;
    book.side(&format!("session-env/{id}/hook-0.sh"), "export MODE=test\n")?;
    book.close_session(s)
}

fn live(book: &mut Book) -> io::Result<String> {
    let mut s = case(book, THEME, "a session that is running", "2.1.217")?;
    s.say("Working.");
    let id = s.envelope.session.clone();
    let entry = obj! {
        "pid": 4242, "sessionId": id, "cwd": s.envelope.cwd, "startedAt": s.now,
        "procStart": "12345", "version": "2.1.217", "kind": "interactive", "entrypoint": "cli",
        "status": "busy", "updatedAt": s.now,
    };
    book.side("sessions/4242.json", entry.0)?;
    book.close_session(s)?;
    Ok(id)
}

fn history(book: &mut Book, live: &str) -> io::Result<()> {
    let ghosts = ["90570000-0000-4000-8000-000000000001", "90570000-0000-4000-8000-000000000002"];
    let paste = "a pasted text that was too long to keep inline\n".repeat(40);
    let hash = hash16(paste.as_bytes());
    book.side(&format!("paste-cache/{hash}.txt"), &paste)?;
    let project = "/home/ana/hard/side";
    let line = |display: &str, pasted: Raw, n: u64, session: Option<&str>| {
        let mut out = crate::members! {
            "display": display, "pastedContents": pasted,
            "timestamp": 1_767_600_000_000_u64 + n * 60_000, "project": project,
        };
        if let Some(session) = session {
            crate::scribe::join(&mut out, &crate::members! { "sessionId": session });
        }
        Raw(format!("{{{out}}}"))
    };
    let inline = obj! { "1": obj! { "id": 1, "type": "text", "content": "two\nlines" } };
    let hashed = obj! { "1": obj! { "id": 1, "type": "text", "contentHash": hash } };
    let lost = obj! { "1": obj! { "id": 1, "type": "text", "contentHash": "0123456789abcdef" } };
    let lines = [
        line("An old prompt without a session", obj! {}, 0, None),
        line("Another old one", obj! {}, 1, None),
        line("Case: a session that is running", obj! {}, 2, Some(live)),
        line("Look at [Pasted text #1 +2 lines]", inline, 3, Some(live)),
        line("A ghost's first prompt [Pasted text #1 +40 lines]", hashed, 4, Some(ghosts[0])),
        line("A ghost's second prompt", obj! {}, 5, Some(ghosts[0])),
        line("Another ghost [Pasted text #1 +9 lines]", lost, 6, Some(ghosts[1])),
        line("/clear ", obj! {}, 7, Some(ghosts[1])),
    ];
    book.lines("history.jsonl", &lines)?;
    book.truth.ghosts.extend(ghosts.map(String::from));
    Ok(())
}

fn caches(book: &mut Book) -> io::Result<()> {
    let day =
        obj! { "date": "2026-01-05", "messageCount": 42, "sessionCount": 3, "toolCallCount": 17 };
    let tokens =
        obj! { "date": "2026-01-05", "tokensByModel": obj! { "claude-opus-4-5-20251101": 12_000 } };
    let stats = obj! {
        "version": 2, "lastComputedDate": "2026-01-05", "dailyActivity": [day],
        "dailyModelTokens": [tokens], "modelUsage": obj! {}, "totalSessions": 3,
        "totalMessages": 42, "longestSession": obj! { "sessionId": "x", "duration": 1, "messageCount": 9, "timestamp": "2026-01-05T09:00:00.000Z" },
        "firstSessionDate": "2026-01-05T09:00:00.000Z", "hourCounts": obj! { "9": 3 },
    };
    book.side("stats-cache.json", stats.0)?;
    let gone = obj! {
        "sessionId": "90570000-0000-4000-8000-000000000009",
        "fullPath": "/home/ana/.claude/projects/-home-ana-hard-side/90570000-0000-4000-8000-000000000009.jsonl",
        "fileMtime": 1_767_600_000_000_u64, "firstPrompt": "Long gone", "summary": "A stale entry",
        "messageCount": 4, "created": "2025-12-01T09:00:00.000Z",
        "modified": "2025-12-01T10:00:00.000Z", "gitBranch": "main",
        "projectPath": "/home/ana/hard/side", "isSidechain": false,
    };
    let index = obj! { "version": 1, "originalPath": "/home/ana/hard/side", "entries": [gone] };
    book.side("projects/-home-ana-hard-side/sessions-index.json", index.0)?;
    book.side("projects/-home-ana-hard-side/memory/MEMORY.md", "- Use tabs\n")?;
    book.side("projects/-home-ana-hard-tree/sessions-index.json", [0_u8, 159, 146, 150])?;
    book.side("settings.json", "{\"cleanupPeriodDays\":30}\n")?;
    book.side("shell-snapshots/snapshot-bash-1767600000000-a1b2c3.sh", "# Snapshot file\n")
}

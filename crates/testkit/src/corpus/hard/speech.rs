//! What people and the program say besides plain prompts, text that wants to
//! do harm, and names from the future.

use std::io;

use super::{case, untold};
use crate::corpus::book::Book;
use crate::json::{Raw, ToJson};
use crate::scribe::Scribe;
use crate::truth::Usage;
use crate::{arr, entry, members, obj};

const THEME: &str = "speech";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    api_errors(book)?;
    interrupts(book)?;
    queued(book)?;
    queued_in_its_line_only(book)?;
    queued_with_text(book)?;
    commands(book)?;
    shell(book)?;
    tags(book)?;
    images(book)?;
    hostile(book)?;
    hostile_names(book)?;
    unknown(book)?;
    usage_pitfalls(book)
}

/// A message of the program in the assistant's place.
fn synthetic(s: &mut Scribe, text: &str, extra: &str) {
    s.flush();
    let place = s.place();
    let id = s.random.uuid();
    let tokens = entry::usage(&s.envelope.version, Usage::default());
    let message = obj! {
        "id": id, "container": None::<&str>, "model": "<synthetic>", "role": "assistant",
        "stop_reason": "stop_sequence", "stop_sequence": "", "type": "message",
        "usage": tokens, "content": [entry::text(text)], "context_management": None::<&str>,
    };
    let mut body = members! {
        "type": "assistant", "uuid": place.uuid, "timestamp": place.at, "message": message,
    };
    crate::scribe::join(&mut body, extra);
    s.put("assistant", None, place, body);
}

fn api_errors(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "errors of the API", "2.1.58")?;
    let head = "\"level\":\"error\"";
    let tail = members! { "retryInMs": 617.7091401950171, "retryAttempt": 1, "maxRetries": 10 };
    let shapes = [
        obj! { "status": 529, "headers": obj! {}, "requestID": "req_011C1", "error":
        obj! { "type": "error", "error": obj! { "type": "overloaded_error", "message": "Overloaded" } } },
        obj! { "cause": obj! { "code": "ECONNRESET", "path": "https://api.example.com/v1/messages" } },
        obj! { "status": 500, "headers": obj! {}, "requestID": "req_011C2" },
        obj! {},
        obj! { "message": "Connection error.", "formatted": "Connection error.",
        "connection": obj! { "code": "ENOTFOUND", "message": "getaddrinfo", "isSSLError": false },
        "isNetworkDown": true, "rateLimits": None::<&str> },
    ];
    for shape in shapes {
        let extra = format!("{head},{},{tail}", members! { "error": shape });
        s.system("api_error", &extra);
    }
    synthetic(
        &mut s,
        "API Error: 529 Overloaded",
        &members! {
            "error": "overloaded", "isApiErrorMessage": true, "apiErrorStatus": 529
        },
    );
    s.prompt("Try again");
    synthetic(
        &mut s,
        "API Error: Claude's response exceeded the 32000 output token maximum.",
        &members! {
            "apiError": "max_output_tokens", "error": "max_output_tokens", "isApiErrorMessage": true
        },
    );
    synthetic(&mut s, "No response requested.", "");
    s.prompt("Now?");
    s.say("Now it works.");
    book.close_session(s)
}

fn interrupts(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "interrupted by the person", "2.1.217")?;
    s.say("I was saying");
    s.flush();
    let text = arr![entry::text("[Request interrupted by user]")];
    s.user(&text, &members! { "interruptedMessageId": "msg_01x" });
    s.prompt("Do something else");
    let call = s.call("Bash", obj! { "command": "rm -rf build", "description": "Clean" });
    let said = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
    s.fail(&call, said);
    s.user(
        &arr![entry::text("[Request interrupted by user for tool use]")],
        &members! {
            "toolDenialKind": "user-rejected"
        },
    );
    s.prompt("Leave the folder alone");
    s.say("I will.");
    s.meta("Continue from where you left off.");
    synthetic(&mut s, "No response requested.", "");
    book.close_session(s)
}

/// Before 2.1.205 the attachment is the only copy of a queued prompt.
fn queued(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a prompt queued and kept in an attachment only", "2.1.144")?;
    let id = s.envelope.session.clone();
    let call = s.call("Bash", obj! { "command": "make", "description": "Build" });
    s.flush();
    let at = crate::clock::iso(s.now);
    let line = entry::queue("enqueue", None, &id, &at);
    s.line("queue-operation", &line);
    s.result(&call, &"ok".raw(), &crate::scribe::tool::bash_shape("ok"));
    let line = entry::queue("remove", None, &id, &at);
    s.line("queue-operation", &line);
    s.attachment(
        "queued_command",
        &members! {
            "prompt": "Also update the changelog", "commandMode": "prompt"
        },
    );
    s.truth.queued += 1;
    s.attachment("queued_command", &members! {
        "prompt": [entry::text("And look at this"), entry::media("image", "image/png", "iVBORw0KGgo=")],
        "commandMode": "prompt", "imagePasteIds": [1_u64],
    });
    s.truth.queued += 1;
    s.say("Built, and the changelog is updated.");
    book.close_session(s)
}

/// Before 2.1.92 only the line that queued it has the text of a prompt put into a running turn.
fn queued_in_its_line_only(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a prompt queued and kept in its line only", "2.1.33")?;
    let id = s.envelope.session.clone();
    let call = s.call("Bash", obj! { "command": "make", "description": "Build" });
    s.flush();
    let at = crate::clock::iso(s.now);
    let operations = [
        ("enqueue", Some("Also draw the state machine")),
        ("remove", None),
        ("enqueue", Some("Taken back into the input")),
        ("popAll", None),
    ];
    for (operation, text) in operations {
        s.line("queue-operation", &entry::queue(operation, text, &id, &at));
    }
    s.truth.queued += 1;
    s.result(&call, &"ok".raw(), &crate::scribe::tool::bash_shape("ok"));
    s.say("Built and drawn.");
    book.close_session(s)
}

fn queued_with_text(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a prompt queued with its text", "2.1.217")?;
    let id = s.envelope.session.clone();
    for (operation, text) in
        [("enqueue", Some("Then run the tests")), ("dequeue", None), ("popAll", None)]
    {
        let at = crate::clock::iso(s.now);
        let line = entry::queue(operation, text, &id, &at);
        s.line("queue-operation", &line);
    }
    let absorb = obj! {
        "type": "queue-operation", "operation": "absorb", "timestamp": crate::clock::iso(s.now),
        "sessionId": id, "reason": "same-turn",
    };
    s.line("queue-operation", &absorb.0);
    s.say("First things first.");
    s.prompt("Then run the tests");
    s.say("They pass.");
    book.close_session(s)
}

fn commands(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "slash commands and what they print", "2.1.144")?;
    s.say("Ready.");
    s.command("model", "opus");
    s.user(&"<local-command-stdout>Set model to opus</local-command-stdout>".raw(), "");
    s.user(&"<local-command-stderr>Unknown option</local-command-stderr>".raw(), "");
    let content = "<command-name>/status</command-name>\n<command-message>status</command-message>\n<command-args></command-args>";
    s.system("local_command", &members! { "content": content, "level": "info" });
    s.truth.commands += 1;
    let old = "<command-message>review is running…</command-message>\n<command-name>/review</command-name>";
    s.user(&old.raw(), "");
    s.truth.commands += 1;
    s.say("Reviewed.");
    book.close_session(s)
}

fn shell(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "shell lines typed by the person", "2.1.108")?;
    s.say("Ready.");
    s.user(&"<bash-input>git status</bash-input>".raw(), "");
    s.truth.commands += 1;
    s.user(&"<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>".raw(), "");
    s.prompt("What does that mean?");
    s.say("Nothing to commit.");
    book.close_session(s)
}

fn tags(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "text the program puts into the person's mouth", "2.1.217")?;
    for text in [
        "<system-reminder>Be brief.</system-reminder>",
        "<user-memory-input>always use tabs</user-memory-input>",
        "<ide_selection>The user selected lines 1 to 3 from /home/ana/a.rs</ide_selection>",
        "<ide_diagnostics>[]</ide_diagnostics>",
        "<teammate-message teammate_id=\"data\" color=\"blue\" summary=\"Done\">\nDone.\n</teammate-message>",
        "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>",
    ] {
        s.user(&text.raw(), "");
    }
    let origin =
        obj! { "kind": "peer", "from": "a1", "name": "peer", "body": "hello", "msg_id": "m1" };
    s.user(&"hello".raw(), &members! { "origin": origin, "promptSource": "system" });
    s.say("Noted.");
    book.close_session(s)
}

fn images(book: &mut Book) -> io::Result<()> {
    let mut s = untold(book, THEME, "a pasted image and a document", "2.1.144")?;
    let text = "Case: a pasted image and a document";
    let content = arr![
        entry::text(text),
        entry::media(
            "image",
            "image/png",
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ),
        entry::media("document", "application/pdf", "JVBERi0xLjQK"),
    ];
    s.prompt_blocks(text, &content);
    s.say("A grey dot and an empty page.");
    book.close_session(s)
}

const BAD: &str = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;owned\u{7} <script>alert(1)</script> \u{202e}txt.exe\u{202c} \u{200f}\u{0}\u{8}\r\n\u{2028}& \"'`$(touch x)";

fn hostile(book: &mut Book) -> io::Result<()> {
    let mut s = untold(book, THEME, "hostile text in title, prompt, answer and output", "2.1.144")?;
    s.prompt(&format!("Case: hostile text {BAD}"));
    s.say(&format!("Answer {BAD}"));
    s.bash(&format!("echo {BAD}"), BAD, BAD);
    s.fails("Read", obj! { "file_path": format!("/home/ana/{BAD}") }, BAD);
    s.say("![x](javascript:alert(1)) <img src=x onerror=alert(1)>");
    s.custom_title(&format!("Title {BAD}"));
    book.close_session(s)
}

fn hostile_names(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "hostile tool names, model ids and branches", "2.1.144")?;
    s.envelope.branch = "feat/\u{1b}[31m<b>".into();
    s.model = "claude-\u{1b}[31mopus\n<script>".into();
    for name in
        ["Task\" >\n<parameter name=\"description", "\u{1b}[2J", "<script>alert(1)</script>"]
    {
        let call = s.call(name, obj! { "__unparsedToolInput": "{\"a\":" });
        s.fail(&call, "<tool_use_error>Error: No such tool available</tool_use_error>");
    }
    book.truth.unknown.tools.extend(
        ["Task\" >\n<parameter name=\"description", "\u{1b}[2J", "<script>alert(1)</script>"]
            .map(String::from),
    );
    s.say("No such tools.");
    book.close_session(s)
}

fn unknown(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "names nobody knows yet", "2.3.0")?;
    let line = obj! { "type": "moon-phase", "phase": "full", "sessionId": s.envelope.session };
    s.line("moon-phase", &line.0);
    s.system("tide_change", &members! { "content": "Tide turned", "level": "info", "height": 2 });
    s.attachment("star_chart", &members! { "stars": [1_u64, 2] });
    s.progress("orbit_progress", &obj! { "type": "orbit_progress", "turns": 2 }, "x", "x");
    s.block(obj! { "type": "hologram", "depth": 3 }, 10, "end_turn", "");
    let call = s.call("Teleport", obj! { "to": "home" });
    s.result(&call, &"There.".raw(), &obj! { "arrived": true });
    s.user(
        &arr![obj! { "type": "scent", "name": "pine" }],
        &members! { "futureField": obj! { "a": 1 } },
    );
    s.say("All kept.");
    let unknown = &mut book.truth.unknown;
    unknown.types.push("moon-phase".into());
    unknown.subtypes.push("tide_change".into());
    unknown.attachments.push("star_chart".into());
    unknown.progress.push("orbit_progress".into());
    unknown.blocks.extend(["hologram".into(), "scent".into()]);
    unknown.fields.push("futureField".into());
    unknown.tools.push("Teleport".into());
    book.close_session(s)
}

/// One response whose `usage` is written as given.
fn response(s: &mut Scribe, text: &str, usage_json: &str, usage: Usage) {
    s.flush();
    let place = s.place();
    let (id, request) = (s.random.id("msg_01"), s.random.id("req_011C"));
    let message = obj! {
        "model": s.model, "id": id, "type": "message", "role": "assistant",
        "content": [entry::text(text)], "stop_reason": "end_turn", "stop_sequence": None::<&str>,
        "usage": Raw(usage_json.into()),
    };
    let body = members! {
        "message": message, "requestId": request, "type": "assistant", "uuid": place.uuid,
        "timestamp": place.at,
    };
    let at = place.at.clone();
    s.put("assistant", None, place, body);
    s.note_request(&id, at, usage);
}

fn usage_pitfalls(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "token counts written in odd ways", "2.1.144")?;
    let base = Usage { input: 10, output: 20, cache_read: 5, ..Usage::default() };
    response(
        &mut s,
        "The flat count is zero, the split one is not.",
        r#"{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":40}}"#,
        Usage { cache_write_5m: 30, cache_write_1h: 40, ..base },
    );
    response(
        &mut s,
        "The split count is zero, the flat one is not.",
        r#"{"input_tokens":10,"cache_creation_input_tokens":70,"cache_read_input_tokens":5,"output_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}}"#,
        Usage { cache_write_5m: 70, ..base },
    );
    response(
        &mut s,
        "Null everywhere.",
        r#"{"input_tokens":null,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":20,"cache_creation":null,"service_tier":null}"#,
        Usage { output: 20, ..Usage::default() },
    );
    response(
        &mut s,
        "A space after the colon.",
        r#"{"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 5}"#,
        base,
    );
    s.model = "glm-4.6".into();
    response(
        &mut s,
        "A gateway's own keys.",
        r#"{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":5,"x_anthropic_cost_usd":0.0123}"#,
        base,
    );
    book.close_session(s)
}

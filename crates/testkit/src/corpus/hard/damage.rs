//! Damaged bytes, other encodings, other dialects.

use std::io;

use super::case;
use crate::corpus::book::Book;
use crate::entry;
use crate::json::{Raw, ToJson};
use crate::obj;
use crate::scribe::Scribe;

const THEME: &str = "damage";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    nul_run(book)?;
    nul_tail(book)?;
    glued(book)?;
    fragment(book)?;
    cut_line(book)?;
    no_eol(book)?;
    unfinished(book)?;
    crlf(book)?;
    bom(book)?;
    surrogate(book)?;
    invalid_utf8(book)?;
    blank_and_scalar(book)?;
    long_line(book)?;
    empty(book)?;
    set_aside(book)?;
    stream_json(book)?;
    top_level_content(book)
}

/// A last good turn, so that a reader which stops at damage is found out.
fn after(s: &mut Scribe) {
    s.prompt("After the damage");
    s.say("Still here.");
}

fn nul_run(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a line of NULs after a crash", "2.1.108")?;
    s.say("Before the crash.");
    let mut bytes = vec![0; 512];
    bytes.push(b'\n');
    s.damage("nul-run", &bytes, 0);
    after(&mut s);
    book.close_session(s)
}

fn nul_tail(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a record followed by NULs", "2.1.108")?;
    s.say("Before the crash.");
    let id = s.envelope.session.clone();
    let line = entry::stamp("mode", "mode", &"normal", &id);
    let mut bytes = line.into_bytes();
    bytes.extend([0; 9_000]);
    bytes.push(b'\n');
    s.damage("nul-tail", &bytes, 1);
    s.count("mode", None);
    after(&mut s);
    let line = entry::stamp("mode", "mode", &"normal", &id);
    let mut bytes = vec![0; 40];
    bytes.extend(line.bytes());
    bytes.push(b'\n');
    s.damage("nul-head", &bytes, 1);
    s.count("mode", None);
    book.close_session(s)
}

fn glued(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "two objects on one line", "2.1.17")?;
    s.say("Before.");
    let id = s.random.uuid();
    let at = crate::clock::iso(s.now);
    let mut line = entry::snapshot(&id, &[], &at, false);
    line.push_str(&entry::summary("Glued on", &id));
    line.push('\n');
    s.damage("glued", line.as_bytes(), 2);
    s.count("file-history-snapshot", None);
    s.count("summary", None);
    after(&mut s);
    book.close_session(s)
}

fn fragment(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "the tail of an overwritten record", "2.1.42")?;
    s.say("A shorter record was written over a longer one.");
    s.damage("fragment", b".344Z\"}\n", 0);
    s.flush();
    s.parent = Some(s.random.uuid());
    after(&mut s);
    let id = s.random.uuid();
    let tail = format!("09Z\"}}{}\n", entry::summary("Behind a fragment", &id));
    s.damage("fragment-glued", tail.as_bytes(), 1);
    s.count("summary", None);
    book.close_session(s)
}

fn cut_line(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a line cut in the middle of the file", "2.1.108")?;
    s.say("Before the power went.");
    s.damage("cut", b"{\"parentUuid\":\"1f3\",\"isSidechain\":false,\"type\":\"user\",\"mess\n", 0);
    after(&mut s);
    book.close_session(s)
}

fn no_eol(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "no newline at the end", "2.0.76")?;
    s.say("The end.");
    s.flush();
    let id = s.truth.leaf.clone().expect("it has answered");
    s.write(entry::summary("A file without an end", &id).as_bytes());
    s.count("summary", None);
    s.truth.titles.insert("summary".into(), "A file without an end".into());
    s.file.lines += 1;
    s.oddity("no-eol");
    book.close_session(s)
}

fn unfinished(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a last line still being written", "2.1.217")?;
    s.say("Writing …");
    s.damage("unfinished", b"{\"parentUuid\":\"aa\",\"isSidechain\":false,\"mess", 0);
    s.file.lines += 1;
    book.close_session(s)
}

/// Good lines through a filter, as a third party's tool would write them.
fn filtered(book: &mut Book, name: &str, change: impl Fn(String) -> Vec<u8>) -> io::Result<()> {
    let mut s = case(book, THEME, name, "2.1.108")?;
    s.bash("ls", "List", "a.txt");
    s.say("Done.");
    let rel = s.truth.file.clone();
    let oddity = name.split(' ').next().expect("names have words").to_lowercase();
    let bom = oddity == "bom";
    book.close_session(s)?;
    let path = book.dir.join(&rel);
    let bytes = change(std::fs::read_to_string(&path)?);
    std::fs::write(&path, &bytes)?;
    let file = book.truth.files.last_mut().expect("just closed");
    book.truth.bytes += bytes.len() as u64 - file.bytes;
    file.bytes = bytes.len() as u64;
    file.oddities.push(oddity);
    if bom {
        (file.damaged, file.salvageable) = (1, 1);
    }
    Ok(())
}

fn crlf(book: &mut Book) -> io::Result<()> {
    filtered(book, "CRLF line ends", |text| text.replace('\n', "\r\n").into_bytes())
}

fn bom(book: &mut Book) -> io::Result<()> {
    filtered(book, "BOM at the beginning", |text| format!("\u{feff}{text}").into_bytes())
}

/// Valid JSON that no string can hold.
fn surrogate(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "half a character", "2.1.131")?;
    let text = Raw(r#""half \ud83d of a face, and the other \ude00""#.into());
    s.prompt_blocks("half \u{fffd} of a face, and the other \u{fffd}", &text);
    let call = s.call("Bash", obj! { "command": "cat face", "description": "Show" });
    let half = Raw(r#""\ud83d""#.into());
    s.result(&call, &half, &obj! { "stdout": half, "stderr": "", "interrupted": false });
    s.say("Odd.");
    s.oddity("lone-surrogate");
    book.close_session(s)
}

fn invalid_utf8(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "bytes that are no UTF-8", "2.1.108")?;
    s.say("Before.");
    let id = s.envelope.session.clone();
    let mut bytes = b"{\"type\":\"tag\",\"tag\":\"caf\xe9\",\"sessionId\":\"".to_vec();
    bytes.extend(id.bytes());
    bytes.extend(b"\"}\n");
    s.damage("invalid-utf8", &bytes, 1);
    s.count("tag", None);
    after(&mut s);
    book.close_session(s)
}

fn blank_and_scalar(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "blank lines and lines that are no objects", "2.1.108")?;
    s.say("Before.");
    for bytes in [&b"\n"[..], b"   \n", b"null\n", b"42\n", b"[1,2]\n", b"\"text\"\n"] {
        s.damage("not-an-object", bytes, 0);
    }
    after(&mut s);
    book.close_session(s)
}

fn long_line(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a line of three megabytes", "2.1.58")?;
    let row = "0123456789abcdef ".repeat(60) + "\n";
    let text = row.repeat(3_000_000 / row.len() / 2);
    s.bash("cat everything", "Print all", &text);
    s.say("That was long.");
    s.oddity("long-line");
    book.close_session(s)
}

fn empty(book: &mut Book) -> io::Result<()> {
    let rel = "projects/-home-ana-hard-damage/00000000-0000-4000-8000-000000000000.jsonl";
    book.side(rel, "")?;
    book.truth.empty.push(rel.into());
    Ok(())
}

/// Files set aside since 2.1.196 are no sessions.
fn set_aside(book: &mut Book) -> io::Result<()> {
    let s = case(book, THEME, "a session with set-aside copies", "2.1.217")?;
    let rel = s.truth.file.clone();
    book.close_session(s)?;
    let bytes = std::fs::read(book.dir.join(&rel))?;
    for suffix in [".orphaned-1769000000000", ".superseded-1769000000001"] {
        book.side(&format!("{rel}{suffix}"), &bytes)?;
        book.truth.files.last_mut().expect("just added").lines = 1;
    }
    Ok(())
}

fn stream_json(book: &mut Book) -> io::Result<()> {
    let id = "5e5510a0-0000-4000-8000-00000000057e";
    let usage = obj! { "input_tokens": 4, "output_tokens": 12 };
    let message = |content: Raw| {
        obj! {
            "id": "msg_01Stream", "type": "message", "role": "assistant",
            "model": "claude-opus-4-5-20251101", "content": content, "usage": usage,
        }
    };
    let call = obj! { "type": "tool_use", "id": "toolu_01Stream", "name": "Bash",
    "input": obj! { "command": "ls" } };
    let result = entry::tool_result("toolu_01Stream", &"a.txt".raw(), Some(false));
    let lines = [
        obj! { "type": "system", "subtype": "init", "session_id": id,
        "cwd": "/home/ana/hard/damage", "model": "claude-opus-4-5-20251101",
        "tools": ["Bash"], "permissionMode": "default", "uuid": "u1" },
        obj! { "type": "assistant", "message": message(crate::arr![call]),
        "parent_tool_use_id": None::<&str>, "session_id": id, "uuid": "u2" },
        obj! { "type": "user", "message": obj! { "role": "user", "content": [result] },
        "parent_tool_use_id": None::<&str>, "session_id": id, "uuid": "u3" },
        obj! { "type": "result", "subtype": "success", "is_error": false, "duration_ms": 6590,
        "duration_api_ms": 6000, "num_turns": 2, "result": "One file.",
        "total_cost_usd": 0.112, "usage": usage, "session_id": id, "uuid": "u4" },
    ];
    let rel = format!("projects/-home-ana-hard-damage/{id}.jsonl");
    book.lines(&rel, &lines)?;
    book.truth.dialects.push(rel);
    Ok(())
}

/// As an early description had it: no envelope, blocks at the top level.
fn top_level_content(book: &mut Book) -> io::Result<()> {
    let block = obj! { "type": "tool_use", "id": "toolu_xxxxx", "name": "Read",
    "input": obj! { "file_path": "/home/ana" } };
    let result = obj! { "type": "tool_result", "tool_use_id": "toolu_xxxxx",
    "content": "EISDIR: illegal operation on a directory", "is_error": true };
    let lines = [
        obj! { "type": "system", "subtype": "init", "session_id": "seed-style",
        "cwd": "/home/ana", "model": "claude-opus-4-5-20251101", "tools": ["Read"] },
        obj! { "type": "assistant", "message": obj! { "content": [block] } },
        obj! { "type": "user", "content": [result] },
        obj! { "type": "result", "subtype": "success", "total_cost_usd": 0.112, "num_turns": 5,
        "duration_ms": 6590 },
    ];
    let rel = "projects/-home-ana-hard-damage/seed-style.jsonl";
    book.lines(rel, &lines)?;
    book.truth.dialects.push(rel.into());
    Ok(())
}

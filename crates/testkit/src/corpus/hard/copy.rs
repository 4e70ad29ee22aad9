//! The same conversation in several files, and entries in the wrong one.

use std::io;

use super::{case, untold};
use crate::corpus::book::Book;
use crate::entry;
use crate::obj;
use crate::scribe::tool::Change;
use crate::scribe::{Kept, Scribe};

const THEME: &str = "copy";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    fork_session(book)?;
    background(book)?;
    desktop(book)?;
    sdk(book)?;
    old_resume(book)?;
    wrong_file(book)?;
    wrong_file_homeless(book)?;
    relocated(book)
}

/// A session whose entries are kept for copying.
fn original(book: &mut Book, name: &str, version: &str) -> io::Result<Scribe> {
    let mut s = untold(book, THEME, name, version)?;
    s.kept = Some(Vec::new());
    s.prompt(&format!("Case: {name}"));
    s.say("I will change the file.");
    s.edit(Change {
        path: "/home/ana/hard/copy/a.rs",
        original: "one\ntwo\nthree\n",
        old: "two",
        new: "2\n2.5",
    });
    s.fails("Bash", obj! { "command": "make", "description": "Build" }, "Exit code 2\nno rule");
    s.say("Changed, but the build fails.");
    s.flush();
    Ok(s)
}

fn fork_session(book: &mut Book) -> io::Result<()> {
    let mut s = original(book, "the original of a forked session", "2.1.108")?;
    let mut f = untold(book, THEME, "a fork with its own ending", "2.1.108")?;
    f.envelope.cwd = "/home/ana/hard/copy/sub".into();
    f.envelope.branch = "try-it".into();
    f.copy_from(&mut s);
    s.prompt("In the original, go on");
    s.say("Going on.");
    f.now = s.now;
    f.prompt("In the fork, do it another way");
    f.say("Another way.");
    book.close_session(s)?;
    book.close_session(f)
}

fn background(book: &mut Book) -> io::Result<()> {
    let mut s = original(book, "a session continued in the background", "2.1.291")?;
    let mut b = untold(book, THEME, "the background copy", "2.1.291")?;
    let line = obj! {
        "type": "continued-in", "sessionId": s.envelope.session,
        "continuedInSessionId": b.envelope.session, "timestamp": crate::clock::iso(s.now),
    };
    s.line("continued-in", &line.0);
    b.envelope.kind = Some("bg".into());
    b.envelope.lineage = Some(s.envelope.session.clone());
    b.copy_from(&mut s);
    b.prompt("Finish it while I am away");
    b.say("Finished.");
    book.close_session(s)?;
    book.close_session(b)
}

fn desktop(book: &mut Book) -> io::Result<()> {
    let mut s = original(book, "a session continued on the desktop", "2.1.217")?;
    let mut d = untold(book, THEME, "the desktop copy", "2.1.217")?;
    d.envelope.entrypoint = "claude-desktop".into();
    d.copy_from(&mut s);
    d.custom_title("Continued on the desktop");
    d.prompt("Go on here");
    d.say("Here.");
    book.close_session(s)?;
    book.close_session(d)
}

/// The SDK gives new uuids and names the old ones.
fn sdk(book: &mut Book) -> io::Result<()> {
    let s = original(book, "a session forked by the SDK", "2.1.144")?;
    let mut f = untold(book, THEME, "the SDK's fork", "2.1.144")?;
    let kept = s.kept.clone().expect("originals keep their entries");
    let mut parent = None;
    for old in &kept {
        let uuid = f.random.uuid();
        let from = obj! { "sessionId": s.envelope.session, "messageUuid": old.place.uuid };
        let mut new: Kept = old.clone();
        new.body = old.body.replace(&old.place.uuid, &uuid);
        crate::scribe::join(&mut new.body, &crate::members! { "forkedFrom": from });
        new.place.uuid = uuid.clone();
        new.place.parent = parent.replace(uuid);
        f.put_copy(&new);
    }
    f.adopt(&s);
    f.custom_title("Case: a session forked by the SDK (fork)");
    f.prompt("Go on in the SDK's fork");
    f.say("Going on.");
    book.close_session(s)?;
    book.close_session(f)
}

/// In 1.0.x a resume made a new file; the copied entries kept their old id.
fn old_resume(book: &mut Book) -> io::Result<()> {
    let mut s = original(book, "an old session before it was resumed", "1.0.72")?;
    let mut r = untold(book, THEME, "an old resume that keeps the old session id", "1.0.72")?;
    let own = r.envelope.session.clone();
    r.envelope.session = s.envelope.session.clone();
    r.copy_from(&mut s);
    r.envelope.session = own;
    r.prompt("Resumed in a new file");
    r.say("Resumed.");
    book.close_session(s)?;
    book.close_session(r)
}

fn wrong_file(book: &mut Book) -> io::Result<()> {
    let mut b = original(book, "a session whose entries also stand elsewhere", "2.1.50")?;
    let mut a = case(book, THEME, "entries of another session in this file", "2.1.50")?;
    a.say("Mine.");
    for kept in b.kept.clone().expect("originals keep their entries").iter().take(2) {
        a.put_foreign(kept);
    }
    a.prompt("Still mine");
    a.say("Yes.");
    b.kept = None;
    book.close_session(b)?;
    book.close_session(a)
}

fn wrong_file_homeless(book: &mut Book) -> io::Result<()> {
    let mut a = case(book, THEME, "entries of a session that has no file", "2.1.50")?;
    a.say("Mine.");
    a.flush();
    let (id, uuid) = (a.random.uuid(), a.random.uuid());
    let mut envelope = a.envelope.clone();
    envelope.session = id.clone();
    let at = crate::clock::iso(a.now);
    let body = crate::members! {
        "type": "user", "message": obj! { "role": "user", "content": "Lost my way" },
        "uuid": uuid, "timestamp": at,
    };
    let place = entry::Place { uuid, parent: None, logical: None, at };
    a.put_foreign(&Kept { envelope, place, kind: "user".into(), sub: None, body });
    book.truth.homeless.push(id);
    a.say("Still mine.");
    book.close_session(a)
}

/// Begun in a worktree, renamed into the root checkout's folder at exit.
fn relocated(book: &mut Book) -> io::Result<()> {
    let name = "a session moved out of a worktree";
    let mut s = book.session(name, "/home/ana/hard/copy", "2.1.228")?;
    s.now += 200 * 3_600_000;
    let id = s.envelope.session.clone();
    s.envelope.cwd = "/home/ana/hard/copy/.claude/worktrees/calm-fern".into();
    s.envelope.branch = "worktree-calm-fern".into();
    s.prompt(&format!("Case: {name}"));
    s.say("In the worktree.");
    let inside = obj! {
        "originalCwd": "/home/ana/hard/copy", "preEnterOriginalCwd": "/home/ana/hard/copy",
        "worktreePath": s.envelope.cwd, "worktreeName": "calm-fern",
        "worktreeBranch": "worktree-calm-fern", "originalBranch": "main",
        "originalHeadCommit": "4f1c2d3e", "sessionId": id,
    };
    let state = |value: &crate::json::Raw| {
        obj! { "type": "worktree-state", "worktreeSession": value, "sessionId": id }.0
    };
    s.line("worktree-state", &state(&inside));
    s.line("worktree-state", &state(&crate::json::Raw("null".into())));
    let line = obj! { "type": "relocated", "relocatedCwd": "/home/ana/hard/copy", "sessionId": id };
    s.line("relocated", &line.0);
    s.envelope.cwd = "/home/ana/hard/copy".into();
    s.envelope.branch = "main".into();
    s.prompt("Back in the root checkout");
    s.say("Back.");
    book.close_session(s)?;
    // The old place keeps an empty file: "not here, look on".
    let stub = format!("projects/-home-ana-hard-copy--claude-worktrees-calm-fern/{id}.jsonl");
    book.side(&stub, "")?;
    book.truth.empty.push(stub);
    Ok(())
}

//! Forks that are none, forks that are, and trees that are broken.

use std::io;

use super::case;
use crate::corpus::book::Book;
use crate::entry;
use crate::json::{Raw, ToJson};
use crate::obj;
use crate::scribe::tool::{bash_shape, read_shape};
use crate::scribe::{Call, Scribe};

const THEME: &str = "tree";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    parallel_last(book)?;
    parallel_first(book)?;
    parallel_three(book)?;
    retry(book)?;
    doubled(book)?;
    replay(book)?;
    rewind_two(book)?;
    rewind_three(book)?;
    rewind_to_root(book)?;
    cleared_by_a_plan(book)?;
    prompt_written_again(book)?;
    rewind_inside_calls(book)?;
    leaf_not_highest(book)?;
    root_leaf_not_highest(book)?;
    newest_is_abandoned(book)?;
    child_before_parent(book)?;
    missing_parent(book)?;
    self_parent(book)?;
    cycle(book)?;
    orphan_call(book)?;
    orphan_result(book)
}

fn call(s: &mut Scribe, command: &str) -> Call {
    s.call("Bash", obj! { "command": command, "description": "Look" })
}

fn answer(s: &mut Scribe, call: &Call, text: &str) -> String {
    s.result_on_call(call, &text.raw(), &bash_shape(text))
}

fn parallel_last(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "two calls at once, going on from the last result", "2.1.108")?;
    let (a, b) = (call(&mut s, "ls src"), call(&mut s, "ls tests"));
    answer(&mut s, &a, "lib.rs");
    answer(&mut s, &b, "all.rs");
    s.say("Both folders hold one file.");
    s.truth.forks.parallel = 1;
    book.close_session(s)
}

fn parallel_first(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "two calls at once, going on from the first result", "2.1.58")?;
    let (a, b) = (call(&mut s, "ls src"), call(&mut s, "ls tests"));
    let first = answer(&mut s, &a, "lib.rs");
    answer(&mut s, &b, "all.rs");
    s.parent = Some(first);
    s.say("Both folders hold one file.");
    s.truth.forks.parallel = 1;
    book.close_session(s)
}

fn parallel_three(book: &mut Book) -> io::Result<()> {
    let name = "three calls at once, one failed, results in another order";
    let mut s = case(book, THEME, name, "2.1.217")?;
    let (a, b, c) = (call(&mut s, "cat a"), call(&mut s, "cat b"), call(&mut s, "cat c"));
    answer(&mut s, &c, "c");
    s.parent = Some(a.entry.clone());
    s.fail(&a, "Exit code 1\ncat: a: No such file or directory");
    answer(&mut s, &b, "b");
    s.say("a is missing.");
    s.truth.forks.parallel = 2;
    book.close_session(s)
}

fn retry(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a response asked for again", "2.1.144")?;
    let before = s.parent.clone();
    s.say("The first half of an answer that broke");
    s.flush();
    s.parent = before;
    s.say("The whole answer, asked for a second time.");
    s.truth.forks.retry = 1;
    s.prompt("Thanks, go on");
    s.say("Going on.");
    book.close_session(s)
}

fn doubled(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "two results for one call", "2.1.58")?;
    let a = call(&mut s, "make");
    answer(&mut s, &a, "ok");
    answer(&mut s, &a, "ok");
    s.say("The build is fine.");
    s.truth.forks.doubled = 1;
    book.close_session(s)
}

fn replay(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "entries written again with the same uuid", "2.1.143")?;
    s.kept = Some(Vec::new());
    let a = s.call("Read", obj! { "file_path": "/home/ana/hard/tree/a.txt" });
    let shape = read_shape("/home/ana/hard/tree/a.txt", "one\ntwo\n");
    s.result(&a, &"     1→one\n     2→two".raw(), &shape);
    s.say("Two lines.");
    s.flush();
    let old = s.kept.take().expect("kept above");
    s.compact("manual", 40_000, Some(6_000), "A file of two lines was read.");
    s.compact("manual", 30_000, Some(5_000), "A file of two lines was read, long ago.");
    s.envelope.slug = Some("calm-folding-river".into());
    for kept in &old {
        // The second copy has lost what was read.
        let body = kept.body.replace(r#""content":"one\ntwo\n""#, r#""content":"""#);
        s.put_again(kept, &body);
    }
    s.prompt("What comes after the replay?");
    s.say("This.");
    book.close_session(s)
}

fn rewind_two(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a prompt typed again after going back", "2.1.38")?;
    s.say("What shall I do?");
    let mark = s.mark();
    s.prompt("Use tabs");
    s.say("Tabs it is.");
    s.prompt("And a margin");
    s.say("A margin too.");
    s.rewind(&mark);
    s.prompt("Use spaces");
    s.say("Spaces it is.");
    book.close_session(s)
}

fn rewind_three(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "three attempts at one prompt", "2.1.108")?;
    s.say("What shall I do?");
    let mark = s.mark();
    for text in ["Make it red", "Make it green"] {
        s.prompt(text);
        s.say("Done.");
        s.rewind(&mark);
    }
    s.prompt("Make it blue");
    s.say("Blue.");
    s.last_prompt("Make it blue");
    book.close_session(s)
}

fn rewind_to_root(book: &mut Book) -> io::Result<()> {
    let mut s = super::untold(book, THEME, "going back before the first prompt", "2.1.144")?;
    let mark = s.mark();
    s.prompt("Case: the first prompt, left behind");
    s.say("An answer nobody wanted.");
    s.rewind(&mark);
    s.prompt("Case: going back before the first prompt");
    // Since 2.1.326 at the latest, a rewind to the start is followed by a line that names no leaf.
    let none = "00000000-0000-0000-0000-000000000000";
    let line = obj! {
        "type": "last-prompt", "leafUuid": none, "explicit": true, "sessionId": s.envelope.session
    };
    s.line("last-prompt", &line.0);
    s.say("A better answer.");
    s.last_prompt("Case: going back before the first prompt");
    book.close_session(s)
}

/// A plan approved with "clear context" (2.1.12): the talk begins anew in the same file.
fn cleared_by_a_plan(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a plan approved with the context cleared", "2.1.29")?;
    s.say("Here is the plan.");
    s.flush();
    s.parent = None;
    s.prompt("Implement the following plan: two steps");
    s.say("Both are done.");
    book.close_session(s)
}

/// A resume wrote the last prompt again, after its answer.
fn prompt_written_again(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an answered prompt written again", "2.1.240")?;
    s.say("Ready.");
    s.flush();
    let above = s.parent.clone();
    s.prompt("Which are bugs?");
    let at = crate::clock::iso(s.now);
    s.say("Two of them.");
    s.flush();
    let answer = s.truth.leaf.clone();
    s.parent = above;
    let again = crate::entry::Place { at, ..s.place() };
    s.user_at(again, &"Which are bugs?".raw(), "", "");
    s.truth.forks.replay = 1;
    s.truth.leaf = answer;
    book.close_session(s)
}

fn rewind_inside_calls(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "going back into the middle of calls made at once", "2.1.108")?;
    let (a, b) = (call(&mut s, "ls a"), call(&mut s, "ls b"));
    answer(&mut s, &a, "a");
    answer(&mut s, &b, "b");
    s.truth.forks.parallel = 1;
    let mark = s.mark();
    s.prompt("Delete b");
    s.say("Deleted.");
    s.rewind(&mark);
    s.prompt("Keep b");
    s.say("Kept.");
    book.close_session(s)
}

fn leaf_not_highest(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "the named leaf is not the highest line", "2.1.144")?;
    s.say("Ready.");
    let start = s.mark();
    s.prompt("The branch that counts");
    s.say("This one.");
    s.flush();
    let (leaf, between) = (s.truth.leaf.clone(), s.mark());
    s.rewind(&start);
    s.prompt("A later attempt, left again");
    s.say("Not this one.");
    s.flush();
    let end = s.mark();
    s.set_active(&start, &between, true);
    s.set_active(&between, &end, false);
    s.truth.leaf = leaf;
    s.last_prompt("The branch that counts");
    book.close_session(s)
}

fn root_leaf_not_highest(book: &mut Book) -> io::Result<()> {
    let mut s = super::untold(book, THEME, "two roots, the older one named as active", "2.1.217")?;
    let start = s.mark();
    s.prompt("Case: two roots, the older one named as active");
    s.say("Still here.");
    let between = s.mark();
    let leaf = s.truth.leaf.clone();
    s.rewind(&start);
    s.prompt("A new root that was left again");
    s.say("Gone.");
    let end = s.mark();
    s.set_active(&start, &between, true);
    s.set_active(&between, &end, false);
    s.truth.leaf = leaf;
    s.last_prompt("Case: two roots, the older one named as active");
    book.close_session(s)
}

fn newest_is_abandoned(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "the newest timestamp is on an abandoned branch", "2.1.58")?;
    s.say("Ready.");
    let mark = s.mark();
    let before = s.now;
    s.wait(7_200_000);
    s.prompt("Two hours later, left behind");
    s.say("Not any more.");
    s.rewind(&mark);
    s.now = before + 1_000;
    s.prompt("Written later in the file with an earlier time");
    s.say("The active end.");
    book.close_session(s)
}

fn child_before_parent(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a child written before its parent", "2.1.58")?;
    s.flush();
    let (parent, mut child) = (s.place(), s.place());
    child.parent = Some(parent.uuid.clone());
    let data = |n: u64| {
        obj! {
            "type": "hook_progress", "hookEvent": "PreToolUse", "hookName": "PreToolUse:Bash",
            "command": format!("hook {n}"),
        }
    };
    let end = child.uuid.clone();
    for (place, n) in [(child, 2), (parent, 1)] {
        let body = crate::members! {
            "type": "progress", "data": data(n), "toolUseID": "toolu_01x",
            "parentToolUseID": "toolu_01x", "uuid": place.uuid, "timestamp": place.at,
        };
        s.put("progress", Some("hook_progress"), place, body);
    }
    s.parent = Some(end);
    s.say("Hanging on the child.");
    book.close_session(s)
}

fn missing_parent(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a parent that is not in the file", "2.1.49")?;
    s.say("The next record was overwritten.");
    s.flush();
    s.parent = Some(s.random.uuid());
    s.prompt("Hanging on nothing");
    s.say("And going on.");
    book.close_session(s)
}

fn self_parent(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an entry that is its own parent", "2.1.101")?;
    s.say("Before.");
    s.flush();
    let mut place = s.place();
    place.parent = Some(place.uuid.clone());
    let attachment = obj! { "type": "date_change", "newDate": "2026-01-06" };
    let body = crate::members! {
        "attachment": attachment, "type": "attachment", "uuid": place.uuid,
        "timestamp": place.at,
    };
    s.put("attachment", Some("date_change"), place, body);
    s.prompt("After the loop");
    s.say("Still readable.");
    book.close_session(s)
}

fn cycle(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "three entries that are each other's parents", "2.1.29")?;
    s.say("Before.");
    s.flush();
    let mut places = [s.place(), s.place(), s.place()];
    for i in 0..3 {
        places[i].parent = Some(places[(i + 2) % 3].uuid.clone());
    }
    for place in places {
        let data = obj! {
            "type": "hook_progress", "hookEvent": "Stop", "hookName": "Stop", "command": "true",
        };
        let body = crate::members! {
            "type": "progress", "data": data, "toolUseID": "x", "parentToolUseID": "x",
            "uuid": place.uuid, "timestamp": place.at,
        };
        s.put("progress", Some("hook_progress"), place, body);
    }
    s.prompt("Hanging on the ring");
    s.say("Still readable.");
    book.close_session(s)
}

fn orphan_call(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a call that never got a result", "2.1.108")?;
    call(&mut s, "sleep 1000");
    book.close_session(s)
}

fn orphan_result(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a result whose call is not in the file", "2.1.108")?;
    let block = entry::tool_result("toolu_01GoneWithTheSlice000", &"late".raw(), None);
    s.user(&Raw(format!("[{}]", block.0)), "");
    s.say("An answer.");
    book.close_session(s)
}

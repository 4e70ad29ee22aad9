//! Segments: every way a conversation was ever compacted, and texts that only
//! look like it.

use std::io;

use super::{case, untold};
use crate::corpus::book::Book;
use crate::json::ToJson;
use crate::scribe::{CONTINUED, Scribe};
use crate::{members, obj};

const THEME: &str = "compaction";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    automatic(book)?;
    manual(book)?;
    summary_earlier(book)?;
    parent_elsewhere(book)?;
    preserved_messages(book)?;
    summarized_from_here(book)?;
    preserved_segment(book)?;
    only_flag(book)?;
    only_marker(book)?;
    quoted_inside(book)?;
    recent_marker(book)?;
    micro(book)?;
    title_before(book)
}

fn work(s: &mut Scribe) {
    s.say("Working.");
    s.bash("make", "Build", "ok");
    s.say("Built.");
}

fn automatic(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "two automatic compactions", "2.1.58")?;
    work(&mut s);
    s.compact("auto", 167_038, None, "The build was run once.");
    s.prompt("Once more");
    work(&mut s);
    s.compact("auto", 168_511, None, "The build was run twice.");
    s.prompt("And the last time");
    work(&mut s);
    book.close_session(s)
}

fn manual(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a compaction asked for", "2.1.144")?;
    work(&mut s);
    s.command("compact", "keep the names of the files");
    s.compact("manual", 46_742, Some(7_120), "The build was run.");
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

fn summary_earlier(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a summary older than its boundary", "2.1.38")?;
    work(&mut s);
    s.boundary(&members! { "trigger": "auto", "preTokens": 155_377 });
    let now = s.now;
    s.now -= 45_000;
    s.summary_entry("Pairs belong together by their order in the file.");
    s.note_segment(Some("auto"), Some(155_377), None);
    s.now = now;
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

fn parent_elsewhere(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a boundary whose logical parent is in no file", "2.1.58")?;
    work(&mut s);
    s.flush();
    s.parent = Some(s.random.uuid());
    s.compact("auto", 160_004, None, "The build was run.");
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

fn preserved_messages(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a compaction that keeps the last messages", "2.1.217")?;
    work(&mut s);
    let kept_prompt = s.prompt("Keep this one");
    let kept_answer = s.say("Kept.");
    s.flush();
    let anchor = s.random.uuid();
    let preserved = obj! {
        "anchorUuid": anchor, "uuids": [&kept_prompt, &kept_answer],
        "allUuids": [&kept_prompt, &kept_answer],
    };
    let metadata = members! {
        "trigger": "auto", "preTokens": 171_204, "postTokens": 22_900, "durationMs": 61_004,
        "cumulativeDroppedTokens": 148_304, "messagesSummarized": 5,
        "preCompactDiscoveredTools": ["WebSearch"], "preservedMessages": preserved,
    };
    s.boundary(&metadata);
    let mut place = s.place();
    place.uuid = anchor;
    let flags = "\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true";
    s.user_at(place, &format!("{CONTINUED}.\n\nThe build was run.").raw(), flags, "");
    s.note_segment(Some("auto"), Some(171_204), Some(22_900));
    s.prompt("Hanging on the summary");
    s.say("Good.");
    s.last_prompt("Hanging on the summary");
    book.close_session(s)
}

/// "Summarize from here" (2.1.326): what comes before a prompt is kept, the summary follows it.
fn summarized_from_here(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "the end of a conversation summarized", "2.1.326")?;
    let kept_prompt = s.prompt("Keep this one, too");
    let kept_answer = s.say("Kept.");
    s.flush();
    s.prompt("This is summarized");
    s.say("And this.");
    s.flush();
    s.parent = Some(kept_answer.clone());
    let mut place = s.place();
    place.logical = place.parent.take();
    let preserved = obj! { "anchorUuid": &place.uuid, "uuids": [&kept_prompt, &kept_answer] };
    let metadata = obj! {
        "trigger": "manual", "preTokens": 11_407, "postTokens": 3_344, "messagesSummarized": 2,
        "preservedMessages": preserved,
    };
    let extra = members! {
        "content": "Conversation compacted", "level": "info", "compactMetadata": metadata,
    };
    s.system_at(place, "compact_boundary", &extra);
    s.summary_entry("One thing more was said.");
    s.note_segment(Some("manual"), Some(11_407), Some(3_344));
    s.prompt("After the summary of the end");
    s.say("Good.");
    book.close_session(s)
}

fn preserved_segment(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a compaction that keeps a segment", "2.1.108")?;
    work(&mut s);
    let head = s.prompt("Keep from here");
    let tail = s.say("To here.");
    s.flush();
    let anchor = s.random.uuid();
    let segment = obj! { "headUuid": head, "anchorUuid": anchor, "tailUuid": tail };
    s.boundary(&members! {
        "trigger": "manual", "preTokens": 90_310, "preservedSegment": segment
    });
    let mut place = s.place();
    place.uuid = anchor;
    let flags = "\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true";
    s.user_at(place, &format!("{CONTINUED}.\n\nThe build was run.").raw(), flags, "");
    s.note_segment(Some("manual"), Some(90_310), None);
    s.parent = Some(tail);
    s.prompt("Hanging on the kept segment");
    s.say("Good.");
    book.close_session(s)
}

fn only_flag(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an old compaction with a flag and no boundary", "1.0.69")?;
    work(&mut s);
    s.flush();
    s.parent = None;
    let place = s.place();
    let text = format!("{CONTINUED}:\nThe build was run.");
    s.user_at(place, &text.raw(), "\"isCompactSummary\":true", "");
    s.note_segment(None, None, None);
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

fn only_marker(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an older compaction with the marker text only", "1.0.35")?;
    work(&mut s);
    s.flush();
    s.parent = None;
    s.user(&format!("{CONTINUED}:\nThe build was run.").raw(), "");
    s.note_segment(None, None, None);
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

fn quoted_inside(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "the marker text quoted inside a prompt", "2.1.108")?;
    s.say("Ready.");
    s.prompt(&format!("Why does my transcript say \"{CONTINUED}\"? I never asked for that."));
    s.say("It was compacted.");
    book.close_session(s)
}

fn recent_marker(book: &mut Book) -> io::Result<()> {
    let name = "a recent compaction with the marker text only";
    let mut s = case(book, THEME, name, "2.1.217")?;
    s.say("Ready.");
    s.user(&format!("{CONTINUED}. The build was run.").raw(), "");
    s.note_segment(None, None, None);
    s.say("Going on.");
    book.close_session(s)
}

fn micro(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a microcompaction is no segment", "2.1.12")?;
    let call = s.call("Bash", obj! { "command": "make", "description": "Build" });
    s.result(&call, &"ok".raw(), &crate::scribe::tool::bash_shape("ok"));
    s.say("Built.");
    let metadata = obj! {
        "trigger": "auto", "preTokens": 58_573, "tokensSaved": 20_801,
        "compactedToolIds": [&call.id], "clearedAttachmentUUIDs": Vec::<String>::new(),
    };
    let extra = members! {
        "content": "Context microcompacted", "level": "info", "microcompactMetadata": metadata,
    };
    s.system("microcompact_boundary", &extra);
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

fn title_before(book: &mut Book) -> io::Result<()> {
    let mut s = untold(book, THEME, "a title given before the boundary", "2.1.144")?;
    s.prompt("Case: a title given before the boundary");
    s.custom_title("Named before it was compacted");
    s.say("Good name.");
    s.compact("auto", 150_000, Some(9_000), "It was named.");
    s.prompt("Go on");
    s.say("Going on.");
    book.close_session(s)
}

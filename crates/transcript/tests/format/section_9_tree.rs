//! Section 9, one file: tree, compactions, titles, repeats, calls.

use transcript::session::{Builder, LinkKind, Options};

use super::shape::*;

const BOUNDARY: &str = r#""logicalParentUuid":"a1","type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info","compactMetadata":{"trigger":"auto","preTokens":156579}"#;
const SUMMARY: &str = r#""type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context. x"},"isVisibleInTranscriptOnly":true,"isCompactSummary":true"#;

/// 9.1: appended in batches; a reader that comes between sees half a line.
#[test]
fn a_file_that_grew_is_read_on() {
    let file = format!("{}\n{}\n", user("u1", "-", "a"), user("u2", "u1", "b"));
    let mut builder = Builder::new();
    builder.read(&file.as_bytes()[..file.len() - 30]).expect("reads");
    let from = builder.consumed() as usize;
    builder.read(&file.as_bytes()[from..]).expect("reads");
    assert_eq!(builder.finish(&Options::default()).turns().len(), 2);
}

/// 9.2: a rewind to the start makes a new root, followed by a `last-prompt` without a leaf.
#[test]
fn a_rewind_to_the_start_makes_a_new_root() {
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "-", "other"),
        r#"{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}"#.into(),
        answer("a2", "u2", "m2"),
        r#"{"type":"last-prompt","lastPrompt":"other","leafUuid":"a2","sessionId":"s"}"#.into(),
    ]);
    assert_eq!((states(&s).as_str(), s.leaf()), ("xxAAAA", Some(4)));
}

/// 9.2: `/rewind` writes nothing by itself.
#[test]
fn going_back_shows_only_when_something_is_said() {
    let s = session(&[user("u1", "-", "one"), answer("a1", "u1", "m1"), user("u2", "a1", "two")]);
    assert_eq!((states(&s).as_str(), s.branches().len()), ("AAA", 0));
}

/// 9.3: the summary's time is earlier in 7 of 140; file order pairs them.
#[test]
fn a_summary_belongs_to_the_boundary_before_it_in_the_file() {
    let s = session(&[
        user("u1", "-", "a"),
        answer("a1", "u1", "m1"),
        chain("b1", "-", BOUNDARY),
        chain("c1", "b1", SUMMARY).replace("10:00:00", "09:00:00"),
    ]);
    assert_eq!((s.compactions().len(), s.compactions()[0].summary_node()), (1, Some(3)));
    assert_eq!(roles(&s)[2..], ["boundary", "summary"]);
}

/// 9.3: in 4 of 144 the summary's parent is not the boundary.
#[test]
fn a_summary_may_hang_elsewhere() {
    let s = session(&[
        user("u1", "-", "a"),
        answer("a1", "u1", "m1"),
        chain("b1", "-", BOUNDARY),
        chain("c1", "gone", SUMMARY),
        user("u2", "c1", "b"),
    ]);
    assert_eq!((states(&s).as_str(), s.segments().len()), ("CCAAA", 2));
}

/// 9.3: before there were boundaries the summary is a plain root.
#[test]
fn a_summary_alone_is_a_compaction() {
    let s = session(&[
        user("u1", "-", "a"),
        chain("c1", "-", SUMMARY).replace("2.1.144", "1.0.60"),
        user("u2", "c1", "b"),
    ]);
    assert_eq!((states(&s).as_str(), s.segments().len()), ("CAA", 2));
    assert!(!s.compactions()[0].is_boundary);
}

#[test]
fn a_title_before_the_boundary_still_counts() {
    let s = session(&[
        user("u1", "-", "a"),
        r#"{"type":"custom-title","customTitle":"Mine","sessionId":"s"}"#.into(),
        chain("b1", "-", BOUNDARY),
        chain("c1", "b1", SUMMARY),
    ]);
    assert_eq!(s.title().expect("a title").0.as_ref(), "Mine");
}

/// 9.4: what is no real prompt is passed over; a command is kept for want of one.
#[test]
fn the_first_real_prompt_is_the_title() {
    let meta = chain(
        "x1",
        "-",
        r#""type":"user","isMeta":true,"message":{"role":"user","content":"injected"}"#,
    );
    let passed = [
        "<command-name>/model</command-name>",
        "<local-command-stdout>x</local-command-stdout>",
        "<session-start-hook>x</session-start-hook>",
        "<tick>x</tick>",
        "<goal>x</goal>",
        "[Request interrupted by user]",
        "<ide_opened_file>x</ide_opened_file>",
    ];
    let mut lines = vec![meta, chain("c1", "-", SUMMARY), result("r1", "c1", "t1", "x", "{}")];
    lines.extend(passed.iter().enumerate().map(|(n, text)| user(&format!("p{n}"), "r1", text)));
    let title = |lines: &[String]| session(lines).title().map(|(text, from)| (text, from.name()));
    assert_eq!(title(&lines), Some(("/model".into(), "command")));
    lines.push(user("u1", "p6", &"long ".repeat(60)));
    let (text, from) = title(&lines).expect("a title");
    assert_eq!((text.chars().count(), from), (200, "first-prompt"));
}

/// 9.7: written again after a compaction with `slug` and an emptied content.
#[test]
fn the_first_copy_of_an_entry_is_the_complete_one() {
    let edit = r#"{"file_path":"/a","old_string":"x","new_string":"y\nz"}"#;
    let patch = r#"{"filePath":"/a","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":2,"lines":["-x","+y","+z"]}]}"#;
    let (asked, done) =
        (call("a1", "u1", "t1", "Edit", edit), result("r1", "a1", "t1", "ok", patch));
    let emptied = result("r1", "a1", "t1", "ok", r#"{"filePath":"/a","structuredPatch":[]}"#);
    let s = session(&[user("u1", "-", "go"), asked.clone(), done, asked, emptied]);
    assert_eq!((states(&s).as_str(), s.calls().len()), ("AAARR", 1));
    let touches: Vec<_> = s.touches().map(|(path, t)| (path, t.added, t.removed)).collect();
    assert_eq!(touches, [("/a", 2, 1)]);
}

/// 9.8: a background agent finishes by a notification, never by its result.
#[test]
fn a_result_outranks_a_notification() {
    let note = r"<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>";
    let s = session(&[
        call("a1", "-", "t1", "Task", r#"{"prompt":"p","run_in_background":true}"#),
        result(
            "r1",
            "a1",
            "t1",
            "x",
            r#"{"isAsync":true,"status":"async_launched","agentId":"a1"}"#,
        ),
        user("n1", "r1", note),
    ]);
    let links: Vec<_> = s.agent_links().collect();
    assert_eq!((links.len(), links[0].0, links[0].1.kind), (1, "a1", LinkKind::Result));
    assert_eq!((roles(&s)[2], s.turns().len()), ("notification", 0));
}

/// 9.9: 137 calls without result, 212 results without call; results may be far off.
#[test]
fn calls_and_results_are_paired_by_id_alone() {
    let s = session(&[
        call("a1", "-", "killed", "Bash", "{}"),
        call("a2", "a1", "far", "Bash", "{}"),
        result("r9", "a2", "cut", "x", "{}"),
        user("u1", "a2", "meanwhile"),
        answer("a3", "u1", "m3"),
        result("r1", "a3", "far", "x", "{}"),
        result("r2", "a3", "early", "x", "{}"),
        call("a4", "r2", "early", "Bash", "{}"),
    ]);
    let results: Vec<_> = s.calls().iter().map(|call| call.result()).collect();
    assert_eq!(results, [None, Some(5), Some(6)]);
    assert_eq!(s.unpaired_results().map(|(_, node)| node).collect::<Vec<_>>(), [2]);
}

/// 9.9: a fork of a live session makes up the result of the call it cut.
#[test]
fn a_made_up_result_is_a_result() {
    let made_up = result("r1", "a1", "t1", "[Request interrupted by user for tool use]", r#""x""#);
    let s = session(&[call("a1", "-", "t1", "Bash", "{}"), made_up]);
    assert_eq!((roles(&s), s.calls()[0].result()), (vec!["call", "result"], Some(1)));
}

use super::case::Case;
use super::tree::HOME;
use serde::Deserialize;

#[test]
fn each_segment_and_what_began_it() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("segments 5e"), @"
    exit 0
    --- stdout
    SEGMENT  TRIGGER  KNOWN BY   BEFORE  AFTER  TURNS  ENTRIES  BEGAN               LASTED  SUMMARY
          0  -        -               -      -      2     1–10  2026-03-01 10:00  2 m 10 s  -
          1  auto     boundary  155,000      -      1    11–14  2026-03-01 10:03  1 m 10 s  Rename the parser.
    ");
    insta::assert_snapshot!(case.run("segments 5e --summary 1"), @"
    exit 0
    --- stdout
    This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.

    Summary:
    1. Primary Request and Intent:
       Rename the parser.
    ");
    insta::assert_snapshot!(case.run("segments 5e --summary 0"), @"
    exit 1
    --- stderr
    note: Segment 0 has no summary: it is the beginning
    note: Nothing found
    ");
    insta::assert_snapshot!(case.run("segments 5e --summary 2"), @"
    exit 2
    --- stderr
    error: There is no segment 2
    hint: The segments are 0 to 1
    ");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Segment {
    r#type: String,
    segment: usize,
    trigger: Option<String>,
    by: Option<String>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
    compaction_ms: Option<u64>,
    turns: usize,
    entries: usize,
    first_entry: Option<u32>,
    last_entry: Option<u32>,
    first: Option<String>,
    last: Option<String>,
    abandoned: bool,
    summary: Option<String>,
}

#[test]
fn json_has_whole_summaries() {
    let case = Case::new(HOME);
    let segments: Vec<Segment> = case.json("segments 5e");
    assert_eq!(segments.iter().map(|s| s.segment).collect::<Vec<_>>(), [0, 1]);
    assert!(segments.iter().all(|s| s.r#type == "segment"));
    let summary = segments[1].summary.as_deref().unwrap();
    assert!(summary.starts_with("This session is") && summary.ends_with("Rename the parser."));
    assert_eq!((segments[0].summary.as_ref(), segments[1].pre_tokens), (None, Some(155_000)));
    assert_eq!(case.json::<Segment>("segments 5e --summary 1").len(), 1);
}

use std::path::{Path, PathBuf};

use crate::layout;
use crate::line::{HELD, LineReader, Lines};
use proptest::prelude::*;
use testkit::{Shape, Spec};

use super::*;

fn line(bytes: &[u8]) -> Line<'_> {
    Line { offset: 0, length: bytes.len() as u64, bytes }
}

/// Each thing that can be left out: kind, media type, bytes.
fn found(text: &str) -> Vec<(&'static str, Option<String>, u64)> {
    let all = of_line(line(text.as_bytes()));
    all.iter().map(|b| (b.kind.name(), b.media.as_deref().map(str::to_owned), b.bytes)).collect()
}

fn cleaned(text: &str, choice: Choice) -> String {
    let mut out = Vec::new();
    clean_line(line(text.as_bytes()), choice, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

/// The line with every stand-in replaced by what it stands for.
fn put_back(line: &[u8], cleaned: &[u8], removed: &[Bulk<'_>]) -> Vec<u8> {
    let (mut whole, mut rest, mut at) = (Vec::new(), cleaned, 0);
    for bulk in removed {
        let (same, after) = rest.split_at(bulk.place.start - at);
        let stand_in = bulk.stand_in();
        rest = after.strip_prefix(stand_in.as_bytes()).expect("its stand-in");
        whole.extend_from_slice(same);
        whole.extend_from_slice(&line[bulk.place.clone()]);
        at = bulk.place.end;
    }
    whole.extend_from_slice(rest);
    whole
}

/// 80 characters of base64.
const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9aA==";

#[test]
fn base64_is_found_wherever_it_stands() {
    let source = format!(r#"{{"type":"base64","media_type":"image/jpeg","data":"{IMAGE}"}}"#);
    let image = format!(r#"{{"type":"image","source":{source}}}"#);
    let jpeg = ("base64", Some("image/jpeg".to_owned()), 80);
    let png = ("base64", Some("image/png".to_owned()), 80);
    let cases = [
        // FORMAT 5: a pasted image; one in a result; the same in an MCP tool's result.
        format!(r#"{{"type":"user","message":{{"role":"user","content":[{image}]}}}}"#),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t","type":"tool_result","content":[{image}]}}]}}}}"#
        ),
        format!(r#"{{"type":"user","toolUseResult":[{image}]}}"#),
        // A queued prompt, and a subagent's sign of life.
        format!(r#"{{"type":"queue-operation","operation":"enqueue","content":[{image}]}}"#),
        format!(
            r#"{{"type":"progress","data":{{"type":"agent_progress","message":{{"type":"user","message":{{"role":"user","content":[{image}]}}}}}}}}"#
        ),
    ];
    for case in cases {
        assert_eq!(found(&case), std::slice::from_ref(&jpeg), "{case}");
    }
    // FORMAT 7: Read `image{file{base64,type,originalSize}}`, `pdf{file{filePath,base64}}`.
    let read = format!(
        r#"{{"type":"user","toolUseResult":{{"type":"image","file":{{"base64":"{IMAGE}","type":"image/png","originalSize":70}}}}}}"#
    );
    assert_eq!(found(&read), std::slice::from_ref(&png));
    let pdf = format!(
        r#"{{"type":"user","toolUseResult":{{"type":"pdf","file":{{"filePath":"/a.pdf","base64":"{IMAGE}"}}}}}}"#
    );
    assert_eq!(found(&pdf), std::slice::from_ref(&png));
    // A command's output that is an image.
    let printed = format!(
        r#"{{"type":"user","toolUseResult":{{"stdout":"data:image/png;base64,{IMAGE}","stderr":"","interrupted":false,"isImage":true}}}}"#
    );
    assert_eq!(found(&printed), [("base64", png.1.clone(), 102)]);
}

#[test]
fn what_only_looks_like_bulk_stays() {
    let cases = [
        // Too short for a file; not base64; a text that quotes one.
        r#"{"type":"user","toolUseResult":{"file":{"base64":"aGVsbG8="}}}"#.to_owned(),
        format!(
            r#"{{"type":"user","toolUseResult":{{"file":{{"base64":"{}"}}}}}}"#,
            "a b ".repeat(99)
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"{{\"type\":\"base64\",\"data\":\"{IMAGE}\"}}"}}}}"#
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"data:image/png;base64,{IMAGE}"}}}}"#
        ),
        // Nothing to gain.
        r#"{"type":"user","toolUseResult":{"filePath":"/a","originalFile":null}}"#.to_owned(),
        r#"{"type":"user","toolUseResult":{"filePath":"/a","originalFile":""}}"#.to_owned(),
        // The rest of an overwritten record.
        format!(r#"":{{"file":{{"base64":"{IMAGE}","type":"image/png"}}}}}}"#),
    ];
    for case in cases {
        assert_eq!(found(&case), [], "{case}");
        assert_eq!(cleaned(&case, Choice::ALL), case);
    }
}

#[test]
fn a_read_is_double_only_if_the_message_shows_it() {
    let read = |shown: &str, content: &str| {
        let text = format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t","type":"tool_result","content":"{shown}"}}]}},"toolUseResult":{{"type":"text","file":{{"filePath":"/a","content":"{content}","numLines":2,"startLine":1,"totalLines":2}}}}}}"#
        );
        found(&text).first().map(|(kind, _, bytes)| (*kind, *bytes))
    };
    let double = |bytes| Some(("read", bytes));
    assert_eq!(read(r"     1→one\n     2→two", r"one\ntwo"), double(8));
    assert_eq!(read(r"1\tone\n2\ttwo", r"one\ntwo"), double(8));
    let reminder = r"     1→one\n     2→\n\n<system-reminder>\nWhenever you read…";
    assert_eq!(read(reminder, r"one\n"), double(5));
    assert_eq!(read(r"     1→one\n     2→two", r"one\ntwo\n"), double(10));
    // Escapes that only look like a newline.
    assert_eq!(read(r"1\tC:\\new\n2\t\\", r"C:\\new\n\\"), double(11));
    for (shown, content) in [
        (r"     1→one\n     2→too", r"one\ntwo"),
        (r"     1→one", r"one\ntwo"),
        (r"     1→one", r"one\n\n"),
        (r"", r""),
        (r"     1→one\n     2→two and more", r"one\ntwo"),
        (r"     1→one more\n     2→two", r"one\ntwo"),
        (r"one\ntwo", r"one\ntwo"),
        (r"<system-reminder>old</system-reminder>\n1\tone\n2\ttwo", r"one\ntwo"),
        (r"File unchanged since last read", r"one\ntwo"),
    ] {
        assert_eq!(read(shown, content), None, "{shown}");
    }
}

#[test]
fn a_clean_line_differs_in_its_values_alone() {
    let text = format!(
        r#"{{"type":"user", "x":1.50,"toolUseResult":{{"originalFile":"a\nb","structuredPatch":[]}},"message":{{"content":[{{"type":"image","source":{{"data":"{IMAGE}","media_type":"image/png","type":"base64"}}}}]}},"z":"ü"}} "#
    );
    let want = text
        .replace(r#""a\nb""#, "null")
        .replace(&format!("{IMAGE:?}"), r#""[base64 removed: image/png, 80 bytes]""#);
    assert_eq!(cleaned(&text, Choice::ALL), want);
    assert_eq!(found(&want), [], "a clean line stays as it is");
    let keep = Choice { original_file: false, ..Choice::ALL };
    assert!(cleaned(&text, keep).contains(r#""originalFile":"a\nb""#));
    let keep = Choice { base64: false, ..Choice::ALL };
    assert!(cleaned(&text, keep).contains(IMAGE));
    let saved: u64 = of_line(line(text.as_bytes())).iter().map(Bulk::saves).sum();
    assert_eq!(saved, (text.len() - want.len()) as u64);
}

/// Cleans every line of every transcript below `root` and puts back what was left out.
fn round_trip(root: &Path) -> [u64; 4] {
    let mut kinds = [0; 4];
    let files = layout::walk_projects(root).files;
    for found in files.iter().filter(|f| f.kind.is_transcript()) {
        let bytes = std::fs::read(&found.path).expect("reads");
        for line in Lines::new(&bytes, 0) {
            let mut out = Vec::new();
            let removed = clean_line(line, Choice::ALL, &mut out);
            assert!(put_back(line.bytes, &out, &removed) == line.bytes, "{}", found.path.display());
            assert!(out.len() < line.bytes.len() || out == line.bytes);
            let saved: u64 = removed.iter().map(Bulk::saves).sum();
            assert_eq!(out.len() as u64 + saved, line.length);
            removed.iter().for_each(|bulk| kinds[bulk.kind as usize] += 1);
            let mut again = Vec::new();
            assert!(clean_line(self::line(&out), Choice::ALL, &mut again).is_empty());
        }
    }
    kinds
}

#[test]
fn snapshots_of_the_prompt_go_and_requests_stay() {
    let snapshot = |prompt: &str, tools: &str| {
        format!(
            r#"{{"type":"attachment","uuid":"a","attachment":{{"type":"prompt_snapshot","systemPrompt":{prompt},"tools":{tools},"systemTurns":true}}}}"#
        )
    };
    let whole = snapshot(r#"["You dig."]"#, r#"[{"name":"Dig","schema":{"type":"base64"}}]"#);
    assert_eq!(cleaned(&whole, Choice::ALL), snapshot("null", "null"));
    let keep = Choice { snapshots: false, ..Choice::ALL };
    assert_eq!(cleaned(&whole, keep), whole);
    let shape = r#"{"type":"api-request-shape","shapeHash":"0a","shape":{"system":[{"type":"text","text":"You dig."}],"tools":[]}}"#;
    assert_eq!(cleaned(shape, Choice::ALL), shape);
    // Nothing is gained by these.
    let empty = snapshot("[]", "null");
    assert_eq!(cleaned(&empty, Choice::ALL), empty);
}

#[test]
fn what_was_left_out_put_back_is_the_line() {
    for (shape, bytes) in [(Shape::Hard, 0), (Shape::Demo, 0), (Shape::Seeds, 8 << 20)] {
        let dir = tempfile::tempdir().expect("a folder");
        testkit::make(&Spec { seed: 7, shape, bytes }, dir.path()).expect("made");
        let kinds = round_trip(dir.path());
        if shape == Shape::Seeds {
            assert!(kinds[..3].iter().all(|&number| number > 3), "{kinds:?}");
        }
        if shape == Shape::Hard {
            assert!(kinds[3] > 0, "{kinds:?}");
        }
    }
}

#[test]
fn what_was_left_out_of_real_files_put_back_is_the_line() {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/real"));
    let real = std::env::var_os("RECOUNT_REAL").map_or(beside, PathBuf::from);
    if !real.is_dir() {
        return eprintln!("no real files here: nothing was checked");
    }
    let kinds = round_trip(&real);
    // Snapshots are newer than these files.
    assert!(kinds[..3].iter().all(|&number| number > 10), "{kinds:?}");
}

proptest! {
    #[test]
    fn any_line_can_be_cleaned(parts in prop::collection::vec(prop_oneof![
        Just(r#"{"type":"user","toolUseResult":{"originalFile":"#.to_owned()),
        Just(format!(r#""{IMAGE}""#)),
        Just(r#"{"type":"base64","data":"#.to_owned()),
        Just(r#","file":{"base64":"#.to_owned()),
        Just("}".to_owned()), Just("\"".to_owned()), Just(",".to_owned()), Just("\\".to_owned()),
        ".{0,8}",
    ], 0..12)) {
        let text = parts.concat().replace('\n', "");
        let mut out = Vec::new();
        let removed = clean_line(line(text.as_bytes()), Choice::ALL, &mut out);
        prop_assert_eq!(put_back(text.as_bytes(), &out, &removed), text.as_bytes());
    }
}

#[test]
fn a_line_too_long_to_hold_is_cleaned_as_a_short_one() {
    let image = IMAGE.repeat(HELD / 80 + 1000);
    let original = r#"fn main() {\n\t\\\" }\n"#.repeat(200_000);
    let text = format!(
        r#"{{"type":"user","a\"b":"c\\","toolUseResult":{{"originalFile":"{original}","n":1}},"message":{{"content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}}]}}}}
"#
    );
    let mut reader = LineReader::new(text.as_bytes(), 0);
    let cut = reader.next_line().expect("reads").expect("a line");
    assert!(cut.is_condensed());
    let bulk = far::of_condensed(cut, text.as_bytes()).expect("reads");
    let sizes: Vec<_> = bulk.iter().map(|(_, b)| (b.kind, b.bytes)).collect();
    let want =
        [(BulkKind::OriginalFile, original.len() as u64), (BulkKind::Base64, image.len() as u64)];
    assert_eq!(sizes, want);
    let mut whole = Vec::new();
    clean_line(line(text.as_bytes()), Choice::ALL, &mut whole);
    let mut streamed = Vec::new();
    far::clean(text.as_bytes(), &bulk, Choice::ALL, &mut streamed).expect("writes");
    assert!(streamed == whole);
    let none = Choice { base64: false, original_file: false, reads: false, snapshots: false };
    let mut same = Vec::new();
    far::clean(text.as_bytes(), &bulk, none, &mut same).expect("writes");
    assert!(same == text.as_bytes());
}

use super::*;
use crate::line::Lines;
use crate::time::Time;
use message::BlockKind;
use proptest::prelude::*;

fn read(file: &[u8]) -> (Vec<String>, Vec<&'static str>) {
    let (mut entries, mut odd) = (Vec::new(), Vec::new());
    for line in Lines::new(file, 0) {
        Entry::read(line, &mut odd, |e| {
            let name = e.type_name.map_or("-".into(), |t| t.text().into_owned());
            entries.push(format!("{:?} {name} {}+{}", e.kind, e.offset, e.bytes.len()));
        });
    }
    (entries, odd.iter().map(|d| d.kind.name()).collect())
}

#[track_caller]
fn check(file: &[u8], entries: &[&str], odd: &[&str]) {
    let (got_entries, got_odd) = read(file);
    assert_eq!(
        (got_entries.iter().map(String::as_str).collect::<Vec<_>>(), got_odd),
        (entries.to_vec(), odd.to_vec())
    );
}

#[test]
fn damaged_bytes_are_kept_with_their_place() {
    check(b"{\"type\":\"tag\"}\n", &["Bookkeeping tag 0+14"], &[]);
    check(b"\0\0\0\n{\"type\":\"tag\"}\n", &["Bookkeeping tag 4+14"], &["nul"]);
    check(b"{\"type\":\"tag\"}\0\0\0", &["Bookkeeping tag 0+14"], &["nul"]);
    check(
        b"{\"type\":\"tag\"}{\"type\":\"summary\"}\n",
        &["Bookkeeping tag 0+14", "Bookkeeping summary 14+18"],
        &["glued"],
    );
    check(b".344Z\"}\n", &["Damaged - 0+7"], &["damaged"]);
    check(
        b".344Z\"}{\"type\":\"tag\"}\n",
        &["Damaged - 0+7", "Bookkeeping tag 7+14"],
        &["damaged", "glued"],
    );
    check(b"{\"type\":\"user\",\"message\":{\"con\n", &["Damaged user 0+30"], &["damaged"]);
    check(
        b"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}\n",
        &["Damaged user 0+63"],
        &["damaged"],
    );
    check(
        b"\xEF\xBB\xBF{\"type\":\"tag\"}\r\n\r\n",
        &["Bookkeeping tag 3+14"],
        &["carriage-return", "byte-order-mark", "carriage-return", "blank"],
    );
    check(b"[1,2]\n", &["Damaged - 0+5"], &["not-an-object"]);
    check(b"44Z\"}\n", &["Damaged - 0+5"], &["damaged"]);
    check(b"{\"type\":\"new\"}\n{}\n", &["Unknown new 0+14", "Unknown - 15+2"], &[]);
    check(b"{\"type\":\"t\xffg\"}\n", &["Unknown t\u{fffd}g 0+14"], &["invalid-utf8"]);
}

#[test]
fn a_cut_record_still_names_itself() {
    let line = br#"{"parentUuid":"p","uuid":"u","type":"user","message":{"content":"hal"#;
    let entry = Entry::of(line, 0);
    assert_eq!(entry.kind, Kind::Damaged);
    assert_eq!(entry.uuid.map(|u| u.text().into_owned()).as_deref(), Some("u"));
    assert_eq!(entry.parent, Parent::Id(Str::new(b"p")));
}

#[test]
fn seed_001_tool_result_and_assistant_text() {
    let user = br#"{"parentUuid":"c24724ea-c3af-44f6-8f87-dd81b705e583","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_018Dk8tSPFgQJN2S1haw7Kw4","type":"tool_result","content":[{"type":"text","text":"Agent execution result..."}]}]},"uuid":"edfca883-f934-480c-9b68-ce9cb2958917","timestamp":"2025-12-07T04:19:32.222Z","toolUseResult":{"status":"completed","prompt":"original task prompt","agentId":"12c788e6","content":[{"type":"text","text":"..."}]}}"#;
    let entry = Entry::of(user, 0);
    let block = entry.blocks()[0];
    assert_eq!((block.kind, block.is_error), (BlockKind::ToolResult, false));
    assert_eq!(block.result_text().as_deref(), Some("Agent execution result..."));
    assert_eq!(crate::tool::agent_of(entry.tool_result, None).as_deref(), Some("12c788e6"));
    assert_eq!(entry.time, Time::parse(b"2025-12-07T04:19:32.222Z"));

    let answer = br#"{"parentUuid":"880a9364-634b-4cc1-9acb-7992e89e69b8","sessionId":"0340f328-33c2-42fb-b9fa-ae58a9d8a799","message":{"model":"claude-opus-4-5-20251101","id":"msg_01CVcDokUeKzMUjj5TRGxRt5","type":"message","role":"assistant","content":[{"type":"text","text":"I'll first explore."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}},"requestId":"req_011CVrgYAupL4YnibtDuha9z","type":"assistant","uuid":"87b6fe83-7a09-4aca-9377-052735b46545","timestamp":"2025-12-07T04:18:27.549Z"}"#;
    let entry = Entry::of(answer, 0);
    let message = entry.message.expect("a message");
    assert_eq!(entry.kind, Kind::Assistant);
    assert_eq!(message.text().as_deref(), Some("I'll first explore."));
    assert_eq!(message.usage.and_then(|u| u.get("input_tokens")?.u64()), Some(3));
    assert!(message.stop_reason.is_none());
}

#[test]
fn seed_002_content_stands_at_the_top_level() {
    let line = br#"{"type":"user","content":[{"type":"tool_result","tool_use_id":"toolu_xxxxx","content":"EISDIR: illegal operation on a directory","is_error":true}]}"#;
    let entry = Entry::of(line, 0);
    assert_eq!(entry.parent, Parent::Absent);
    let block = entry.blocks()[0];
    assert!(block.is_error);
    assert_eq!(block.result_text().as_deref(), Some("EISDIR: illegal operation on a directory"));
}

#[test]
fn both_dialects_name_their_session() {
    let disk = br#"{"type":"user","sessionId":"a","session_id":"root"}"#;
    let stream = br#"{"type":"result","subtype":"success","session_id":"b","total_cost_usd":0.1}"#;
    let (disk, stream) = (Entry::of(disk, 0), Entry::of(stream, 0));
    assert_eq!((disk.session, disk.lineage), (Some(Str::new(b"a")), Some(Str::new(b"root"))));
    assert_eq!((stream.session, stream.lineage), (Some(Str::new(b"b")), None));
    assert!(stream.is_subtype("success"));
}

#[test]
fn unknown_members_and_blocks_are_kept() {
    let line = br#"{"type":"assistant","message":{"content":[{"type":"hologram","x":1},"bare"],"new":2},"brandNew":{"a":1}}"#;
    let entry = Entry::of(line, 0);
    assert_eq!(entry.field("brandNew").map(Raw::bytes), Some(&br#"{"a":1}"#[..]));
    let blocks = entry.blocks();
    assert_eq!(blocks[0].kind, BlockKind::Unknown);
    assert_eq!(blocks[0].raw.bytes(), br#"{"type":"hologram","x":1}"#);
    assert_eq!(blocks[1].raw.bytes(), br#""bare""#);
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"{\"type\":\"user\",\"message\":{\"content\":\"x\"}}".to_vec()),
        Just(b"{\"type\":\"tag\"}".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\0\0".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"{\"type\":\"assistant\",\"mess".to_vec()),
        Just(b".344Z\"}".to_vec()),
        prop::collection::vec(any::<u8>(), 0..12),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|p| p.concat())
}

proptest! {
    /// Every byte is in an entry, in a diagnostic, or is white space: nothing is dropped.
    #[test]
    fn every_byte_is_accounted_for(file in pieces()) {
        let mut covered = vec![false; file.len()];
        let mut odd = Vec::new();
        let mut mark = |from: u64, length: usize| covered[from as usize..from as usize + length].fill(true);
        for line in Lines::new(&file, 0) {
            Entry::read(line, &mut odd, |e| mark(e.offset, e.bytes.len()));
        }
        odd.iter().for_each(|d| mark(d.offset, d.length as usize));
        for (i, covered) in covered.iter().enumerate() {
            prop_assert!(*covered || matches!(file[i], b' ' | b'\t' | b'\r' | b'\n'), "byte {} of {:?}", i, file);
        }
    }

    #[test]
    fn any_bytes_give_entries(file in prop::collection::vec(any::<u8>(), 0..400)) {
        read(&file);
    }
}

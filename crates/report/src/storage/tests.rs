use testkit::{Shape, Spec};
use transcript::layout;
use transcript::library;
use transcript::line::{LineReader, Lines};

use super::*;
use transcript::bulk::{BulkKind, Choice, clean_line};

fn measured(text: &str) -> Storage {
    let mut meter = Meter::default();
    Lines::new(text.as_bytes(), 0).for_each(|line| meter.line(line, &[]));
    meter.finish()
}

#[test]
fn a_file_counted_by_hand() {
    // 100 bytes of base64 twice, 6 bytes before an edit, a read of 8 that is shown, too.
    let image = "A".repeat(100);
    let text = [
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"Hello"},{"type":"tool_use","id":"t1","name":"Edit","input":{"a":1}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]},"toolUseResult":{"originalFile":"abcdef"}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"1\tone\n2\ttwo"}]},"toolUseResult":{"file":{"content":"one\ntwo"}}}"#,
        &format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}},{{"type":"text","text":"see"}}]}}}}"#
        ),
        &format!(
            r#"{{"type":"user","isMeta":true,"message":{{"content":[{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{image}"}}}}]}}}}"#
        ),
        r#"{"type":"user","message":{"content":"Hi"}}"#,
        "",
        r#".344Z"}"#,
    ];
    let file = text.join("\n");
    let storage = measured(&file);
    // `"abcdef"` and `"one\ntwo"` become `null`, base64 a note of 40 and 46 characters.
    let saved = (8 - 4) + (10 - 4) + (102 - 40) + (102 - 46);
    let total = file.len() as u64;
    assert_eq!(storage.all, Share { items: 1, bytes: total, clean: total - saved });
    let bulk = BulkKind::ALL.map(|kind| (storage.of(kind).items, storage.of(kind).bytes));
    assert_eq!(bulk, [(2, 200), (1, 6), (1, 8), (0, 0)]);
    assert_eq!(storage.without(&[BulkKind::Base64]), total - 118);
    assert_eq!(storage.base64["image/png"].bytes, 100);
    let user: Vec<_> = storage.user.iter().map(|(kind, s)| (kind.name(), s.bytes)).collect();
    let length = |n: usize| text[n].len() as u64;
    assert_eq!(
        user,
        [
            ("tool result with text file", length(2)),
            ("tool result, other", length(1)),
            ("document with base64", length(4)),
            ("images with text", length(3)),
            ("plain text", length(5)),
        ]
    );
    let edit = storage.tools["Edit"];
    assert_eq!((edit.share.bytes, edit.share.clean), (length(1), length(1) - 4));
    assert_eq!((edit.original_file, storage.tools["Read"].original_file), (6, 0));
    let part = |part| storage.parts[&part].bytes;
    assert_eq!([Part::Text, Part::Thinking, Part::Signature].map(part), [5, 2, 3]);
    assert_eq!(part(Part::Input("Edit".into())), 7);
    let entries: Vec<_> = storage.entries.iter().map(|(n, s)| (&**n, s.items, s.bytes)).collect();
    let users: u64 = (1..6).map(|n| length(n) + 1).sum();
    assert_eq!(
        entries,
        [("assistant", 1, length(0) + 1), ("blank", 1, 1), ("damaged", 1, 7), ("user", 5, users)]
    );
}

#[test]
fn every_byte_of_a_home_is_counted_once_and_clean_is_the_size_of_the_copy() {
    for (shape, bytes) in [(Shape::Hard, 0), (Shape::Demo, 0), (Shape::Seeds, 4 << 20)] {
        let dir = tempfile::tempdir().expect("a folder");
        testkit::make(&Spec { seed: 3, shape, bytes }, dir.path()).expect("made");
        let files = layout::walk_projects(dir.path()).files;
        let take = |_: &_, _: &_, source: &transcript::source::Source| {
            let (mut meter, mut copy) = (Meter::default(), Vec::new());
            let mut reader = LineReader::new(source.reader(0), 0);
            while let Some(line) = reader.next_line().expect("reads") {
                meter.line(line, &[]);
                clean_line(line, Choice::ALL, &mut copy);
            }
            Some((meter.finish(), copy.len() as u64))
        };
        let (library, taken) = Library::join(library::scan(files, take, |_| {}));
        let on_disk: u64 = library.cards.iter().map(|card| card.found.size).sum();
        let copies: u64 = taken.iter().flatten().map(|(_, copy)| copy).sum();
        let storages: Vec<_> = taken.into_iter().map(|t| t.map(|(storage, _)| storage)).collect();
        let report = report(&library, &storages, &ListFilter { all: true, ..Default::default() });
        let total = &report.total;
        assert_eq!((total.all.bytes, total.all.clean), (on_disk, copies), "{shape:?}");
        assert_eq!(total.all.items, library.cards.len() as u64);
        let sum = |shares: Vec<Share>| {
            shares.iter().fold((0, 0), |sum, s| (sum.0 + s.bytes, sum.1 + s.clean))
        };
        let all = (on_disk, copies);
        assert_eq!(sum(total.entries.values().copied().collect()), all);
        assert_eq!(sum(report.sessions.iter().map(|s| s.storage.all).collect()), all);
        assert_eq!(sum(report.projects().iter().map(|p| p.storage.all).collect()), all);
        assert_eq!(sum(report.buckets().iter().map(|(_, s)| *s).collect()), all);
        let user: u64 = total.user.values().map(|s| s.bytes).sum();
        let lines = total.entries.get("user").map_or(0, |s| s.bytes);
        assert!(user <= lines && lines <= user + total.entries["user"].items * 4, "{shape:?}");
        let saved: u64 = total.bulk.iter().map(Share::saved).sum();
        assert_eq!(saved, on_disk - copies);
    }
}

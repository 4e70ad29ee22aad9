use std::fs;

use serde::Deserialize;

use super::case::Case;
use super::list::HOME;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
enum Line {
    Storage {
        files: u64,
        sessions: u64,
        bytes: u64,
        without_base64: u64,
        without_original_file: u64,
        without_reads: u64,
        without_snapshots: u64,
        clean_bytes: u64,
        largest_clean_bytes: Option<u64>,
        median_clean_bytes: Option<u64>,
    },
    StoragePart {
        table: String,
        name: String,
        items: u64,
        bytes: u64,
        clean_bytes: u64,
        original_file_bytes: Option<u64>,
    },
    StorageSide {
        kind: String,
        files: u64,
        bytes: u64,
    },
    StorageSession {
        session: Option<String>,
        title: Option<String>,
        project: Option<String>,
        files: u64,
        bytes: u64,
        clean_bytes: u64,
        base64_bytes: u64,
        original_file_bytes: u64,
        read_bytes: u64,
        snapshot_bytes: u64,
    },
    StorageProject {
        project: Option<String>,
        sessions: u64,
        files: u64,
        bytes: u64,
        clean_bytes: u64,
        base64_bytes: u64,
        original_file_bytes: u64,
        read_bytes: u64,
        snapshot_bytes: u64,
    },
    StorageArchive {
        files: u64,
        bytes: u64,
        archive_bytes: u64,
    },
}

/// A session that reads a file, edits it and looks at a picture of 200 bytes in base64.
pub fn bulky() -> String {
    let image = "iVBORw0KGgo".to_owned() + &"A".repeat(189);
    let same = r#""isSidechain":false,"cwd":"/home/x/shop","sessionId":"5555aaaa-0000-4000-8000-000000000005","version":"2.1.100","gitBranch":"main""#;
    let entry = |n: u32, rest: &str| {
        let parent = if n == 1 { "null".to_owned() } else { format!("\"u{}\"", n - 1) };
        format!(
            "{{\"parentUuid\":{parent},{same},{rest},\"uuid\":\"u{n}\",\"timestamp\":\"2026-04-20T10:00:0{n}.000Z\"}}\n"
        )
    };
    let call = |id: &str, name: &str, input: &str| {
        format!(
            r#""type":"assistant","message":{{"id":"m{id}","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}],"stop_reason":"tool_use"}}"#
        )
    };
    let result = |id: &str, content: &str, result: &str| {
        format!(
            r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":{content}}}]}},"toolUseResult":{result}"#
        )
    };
    let code = r#"fn main() {\n    println!(\"one\");\n}\n"#;
    let shown = r#"     1→fn main() {\n     2→    println!(\"one\");\n     3→}\n     4→"#;
    let read = format!(
        r#"{{"type":"text","file":{{"filePath":"/home/x/shop/a.rs","content":"{code}","numLines":4,"startLine":1,"totalLines":4}}}}"#
    );
    let edit = format!(
        r#"{{"filePath":"/home/x/shop/a.rs","oldString":"one","newString":"two","originalFile":"{code}","structuredPatch":[{{"oldStart":2,"oldLines":1,"newStart":2,"newLines":1,"lines":["-    println!(\"one\");","+    println!(\"two\");"]}}],"userModified":false,"replaceAll":false}}"#
    );
    let picture = format!(
        r#"[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}}]"#
    );
    let file = format!(
        r#"{{"type":"image","file":{{"base64":"{image}","type":"image/png","originalSize":150}}}}"#
    );
    [
        "//- projects/-home-x-shop/5555aaaa-0000-4000-8000-000000000005.jsonl\n".to_owned(),
        entry(1, r#""type":"user","message":{"role":"user","content":"Say two"}"#),
        entry(2, &call("t1", "Read", r#"{"file_path":"/home/x/shop/a.rs"}"#)),
        entry(3, &result("t1", &format!("\"{shown}\""), &read)),
        entry(
            4,
            &call(
                "t2",
                "Edit",
                r#"{"file_path":"/home/x/shop/a.rs","old_string":"one","new_string":"two"}"#,
            ),
        ),
        entry(5, &result("t2", "\"The file has been updated.\"", &edit)),
        entry(6, &call("t3", "Read", r#"{"file_path":"/home/x/shop/a.png"}"#)),
        entry(7, &result("t3", &picture, &file)),
        ".344Z\"}\n".to_owned(),
        "//- projects/-home-x-shop/5555aaaa-0000-4000-8000-000000000005/tool-results/abc.txt\n"
            .to_owned(),
        "a long output\n".to_owned(),
        "//- debug/5555aaaa-0000-4000-8000-000000000005.txt\nsome lines\n".to_owned(),
    ]
    .concat()
}

#[test]
fn all_tables_of_a_small_home() {
    let case = Case::new(&bulky());
    insta::assert_snapshot!(case.run("storage"));
}

#[test]
fn what_is_counted_is_what_is_on_disk() {
    let case = Case::new(&(bulky() + HOME));
    let folder = case.claude().join("projects");
    let size = |path: &str| fs::metadata(folder.join(path)).unwrap().len();
    let lines: Vec<Line> = case.json("storage");
    let Line::Storage { bytes, clean_bytes, without_base64, files, .. } = lines[0] else {
        panic!()
    };
    assert_eq!(files, 7);
    let (mut entries, mut base64) = ((0, 0), (0, 0));
    let (mut sessions, mut projects, mut side) = (0, 0, 0);
    for line in &lines {
        match line {
            Line::StoragePart { table, bytes, clean_bytes, .. } if table == "entry" => {
                entries = (entries.0 + bytes, entries.1 + clean_bytes);
            }
            Line::StoragePart { table, items, bytes, .. } if table == "base64" => {
                base64 = (base64.0 + items, base64.1 + bytes);
            }
            Line::StorageSession { session, bytes, .. } => {
                sessions += bytes;
                if session.as_deref() == Some("aaaa1111-0000-4000-8000-000000000001") {
                    let own = "-home-x-app/aaaa1111-0000-4000-8000-000000000001";
                    let agent = format!("{own}/subagents/agent-a0123456789abcdef.jsonl");
                    assert_eq!(*bytes, size(&format!("{own}.jsonl")) + size(&agent));
                }
            }
            Line::StorageProject { bytes, .. } => projects += bytes,
            Line::StorageSide { kind, files, bytes } if kind == "tool-result" => {
                assert_eq!((*files, *bytes), (1, 14));
            }
            Line::StorageSide { files, .. } => side += files,
            _ => {}
        }
    }
    assert_eq!((entries, sessions, projects), ((bytes, clean_bytes), bytes, bytes));
    assert_eq!((base64, side), ((2, 400), 2));
    assert_eq!(bytes - without_base64, 2 * (202 - 40));
}

#[test]
fn one_project_and_the_archive() {
    let case = Case::new(&(bulky() + HOME));
    assert!(case.run("sync").starts_with("exit 0\n"));
    let lines: Vec<Line> = case.json("storage --project shop");
    let archive = lines.iter().find_map(|line| match line {
        Line::StorageArchive { files, bytes, archive_bytes } => Some((files, bytes, archive_bytes)),
        _ => None,
    });
    assert!(
        matches!(archive, Some((files, bytes, archive)) if *files > 7 && *bytes > 0 && *archive > 0)
    );
    assert!(matches!(lines[0], Line::Storage { files: 1, sessions: 1, .. }));
    let debug = |line: &Line| matches!(line, Line::StorageSide { kind, .. } if kind == "debug");
    let registry =
        |line: &Line| matches!(line, Line::StorageSide { kind, .. } if kind == "registry");
    assert!(lines.iter().any(debug) && !lines.iter().any(registry));
    insta::assert_snapshot!(case.run("storage --by project"));
    insta::assert_snapshot!(case.run("storage --by session --limit 2"));
    assert!(case.run("storage --project nowhere").starts_with("exit 1\n"));
}

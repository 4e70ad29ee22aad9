//! Outputs that were too long for the transcript: found, and shown also when they are gone.

use std::fs;

use super::case::Case;
use super::store::Hit;

const FOLDER: &str = "projects/-w/0aaaaaaa-0000-4000-8000-000000000001";

const HOME: &str = r#"
//- projects/-w/0aaaaaaa-0000-4000-8000-000000000001.jsonl
{"parentUuid":null,"uuid":"a1","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:00.000Z","cwd":"/w","version":"2.1.100","type":"user","message":{"role":"user","content":"run it"}}
{"parentUuid":"a1","uuid":"a2","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:05.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}],"stop_reason":"tool_use"}}
{"parentUuid":"a2","uuid":"a3","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:06.000Z","cwd":"/w","version":"2.1.100","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"<persisted-output>\nOutput too large (31.9KB). Full output saved to: /home/k/.claude/projects/-w/0aaaaaaa-0000-4000-8000-000000000001/tool-results/b9excv8zh.txt\n\nPreview (first 2KB):\nbuilding"}]}}
{"parentUuid":"a3","uuid":"a4","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:08.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t2","name":"mcp__x__y","input":{}}],"stop_reason":"tool_use"}}
{"parentUuid":"a4","uuid":"a5","sessionId":"0aaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-04-20T10:00:09.000Z","cwd":"/w","version":"2.1.100","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"<persisted-output>\nOutput too large (31.9KB). Full output saved to: /home/k/.claude/projects/-w/0aaaaaaa-0000-4000-8000-000000000001/tool-results/toolu_1.json\n\nPreview (first 2KB):\n["}]}}
//- projects/-w/0aaaaaaa-0000-4000-8000-000000000001/tool-results/b9excv8zh.txt
building
linker failed on marzipan.o
//- projects/-w/0aaaaaaa-0000-4000-8000-000000000001/tool-results/toolu_1.json
[{"type":"text","text":"first line\ngingerbread here"}]
"#;

fn found(case: &Case, query: &str) -> Option<(u32, String, String)> {
    let output =
        case.command().arg("search").args(query.split(' ')).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let hit: Hit = serde_json::from_str(text.lines().next()?).unwrap();
    let marked: Vec<&str> =
        hit.marks.iter().map(|mark| &hit.snippet[mark.start..mark.end]).collect();
    Some((hit.entry, hit.role, marked.join("|")))
}

#[test]
fn a_saved_output_is_searched_as_the_output() {
    let case = Case::new(HOME);
    let want = |entry, word: &str| Some((entry, "output".to_owned(), word.to_owned()));
    assert_eq!(found(&case, "marzipan"), want(3, "marzipan"));
    assert_eq!(found(&case, "marzipan tool:Bash"), want(3, "marzipan"));
    assert_eq!(found(&case, "--regex marz.pan\\.o"), want(3, "marzipan.o"));
    assert_eq!(found(&case, "gingerbread"), want(5, "gingerbread"));
    assert_eq!(found(&case, "--regex ^gingerbread"), want(5, "gingerbread"));
    fs::remove_dir_all(case.claude().join("projects/-w")).unwrap();
    assert_eq!(found(&case, "marzipan"), want(3, "marzipan"));
    assert_eq!(found(&case, "--regex marz.pan\\.o"), want(3, "marzipan.o"));
}

#[test]
fn of_a_huge_one_the_beginning_is_searched() {
    let case = Case::new(HOME);
    let padding = "filler words\n".repeat(100_000);
    let rel = format!("{FOLDER}/tool-results/b9excv8zh.txt");
    case.write(&rel, &format!("early nougat\n{padding}late praline\n"));
    assert!(found(&case, "nougat").is_some() && found(&case, "--regex nougat").is_some());
    assert!(found(&case, "praline").is_none() && found(&case, "--regex praline").is_none());
}

#[test]
fn a_saved_output_is_shown_from_the_store() {
    let case = Case::new(HOME);
    let before = case.run("show 0aaaaaaa --entry 2");
    assert!(before.contains("linker failed on marzipan.o"), "{before}");
    assert!(before.contains("tool-results/b9excv8zh.txt (37 B, kept)"), "{before}");
    case.run("sync");
    fs::remove_dir_all(case.claude().join("projects/-w")).unwrap();
    let after = case.run("show 0aaaaaaa --entry 2");
    assert!(after.contains("linker failed on marzipan.o"), "{after}");
    assert!(after.contains("tool-results/b9excv8zh.txt (37 B, kept in the store)"), "{after}");
}

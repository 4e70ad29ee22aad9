//! `related`: sessions that changed the same files, and sessions that say the same words.

use super::archive::Related;
use super::case::Case;

fn line(session: &str, count: usize, body: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"uuid\":\"{session}{count}\",\"sessionId\":\"{session}\",\
         \"timestamp\":\"2026-04-2{count}T10:00:00.000Z\",\"cwd\":\"/w\",\"version\":\"2.1.100\",{body}}}\n"
    )
}

/// A session that asks something and writes a file.
fn session(case: &Case, which: usize, prompt: &str, path: &str) {
    let id = format!("{which}aaaaaaa-0000-4000-8000-000000000001");
    let ask =
        format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}");
    let call = format!(
        "\"type\":\"assistant\",\"message\":{{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{{\
         \"type\":\"tool_use\",\"id\":\"t{which}\",\"name\":\"Write\",\"input\":{{\"file_path\":\"{path}\",\"content\":\"one\\n\"}}}}]}}"
    );
    let result = format!(
        "\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"t{which}\",\
         \"type\":\"tool_result\",\"content\":\"created\"}}]}},\"toolUseResult\":{{\"type\":\"create\",\
         \"filePath\":\"{path}\",\"content\":\"one\\n\",\"structuredPatch\":[]}}"
    );
    let text = line(&id, 1, &ask) + &line(&id, 2, &call) + &line(&id, 3, &result);
    case.write(&format!("projects/-w/{id}.jsonl"), &text);
}

#[test]
fn words_and_files_make_sessions_alike() {
    let case = Case::new("");
    session(&case, 1, "the kettle of the zeppelin leaks quartz", "/w/a.rs");
    session(&case, 2, "polish quartz in a zeppelin kettle", "/w/b.rs");
    session(&case, 3, "something else at all", "/w/a.rs");
    session(&case, 4, "nothing to do with it", "/w/c.rs");
    session(&case, 5, "a zeppelin alone", "/w/d.rs");
    session(&case, 6, "zeppelin and kettle", "/w/a.rs");
    case.run("sync");
    insta::assert_snapshot!(case.run("related 1aaa"), @"
    exit 0
    --- stdout
    6aaaaaaa  100 %  zeppelin and kettle  /w, 2026-04-23 10:00
              /w/a.rs
              words: kettle, zeppelin
    3aaaaaaa  100 %  something else at all  /w, 2026-04-23 10:00
              /w/a.rs
    2aaaaaaa         polish quartz in a zeppelin kettle  /w, 2026-04-23 10:00
              words: quartz, kettle, zeppelin
    ");
    let all = case.json::<Related>("related 1aaa");
    let told: Vec<(&str, bool, usize)> =
        all.iter().map(|one| (&one.session[..1], one.score > 0.0, one.words.len())).collect();
    assert_eq!(told, [("6", true, 2), ("3", true, 0), ("2", false, 3)]);
}

use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};
use transcript::session::{Builder, Options};
use transcript::source::Source as File;

use super::outline::outline;
use super::record::Alone;
use super::*;
use crate::show::Part;
use transcript::record::Opened;

/// Texts in the session below.
const TEXTS: usize = 30;

/// A session with a record of each kind, and these texts in its fields.
fn lines(texts: &[String]) -> String {
    let mut texts = texts.iter().map(String::as_str);
    let mut next = || texts.next().expect("enough of them");
    let call = |name: &str, input: Value| json!([{ "type": "tool_use", "id": name, "name": name, "input": input }]);
    let result = |name: &str, text: &str| json!([{ "type": "tool_result", "tool_use_id": name, "content": text }]);
    let file = format!("/w/{}.txt", next());
    let patch = json!([{ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": [format!(" {}", next()), format!("+{}", next())] }]);
    let mcp = format!("mcp__server__{}", next());
    let todo = json!([{ "content": next(), "status": next(), "activeForm": next() }]);
    let all = [
        json!({ "type": "user", "message": { "role": "user", "content": next() } }),
        json!({ "type": "assistant", "message": { "id": "m1", "role": "assistant", "model": next(), "content": [{ "type": "thinking", "thinking": next() }] } }),
        json!({ "type": "assistant", "message": { "id": "m2", "role": "assistant", "content": [{ "type": "text", "text": next() }] } }),
        json!({ "type": "assistant", "message": { "id": "m3", "role": "assistant", "content": call("Bash", json!({ "command": next(), "description": next() })) } }),
        json!({ "type": "user", "message": { "role": "user", "content": result("Bash", next()) }, "toolUseResult": { "stdout": next(), "stderr": format!("E {}", next()), "interrupted": false } }),
        json!({ "type": "assistant", "message": { "id": "m4", "role": "assistant", "content": call("Read", json!({ "file_path": file })) } }),
        json!({ "type": "user", "message": { "role": "user", "content": result("Read", next()) }, "toolUseResult": { "type": "text", "file": { "filePath": file, "content": next(), "numLines": 1, "startLine": 1, "totalLines": 1 } } }),
        json!({ "type": "assistant", "message": { "id": "m5", "role": "assistant", "content": call("Edit", json!({ "file_path": file, "old_string": next(), "new_string": next() })) } }),
        json!({ "type": "user", "message": { "role": "user", "content": result("Edit", next()) }, "toolUseResult": { "filePath": file, "structuredPatch": patch } }),
        json!({ "type": "assistant", "message": { "id": "m6", "role": "assistant", "content": call(&mcp, json!({ format!("key {}", next()): next() })) } }),
        json!({ "type": "user", "message": { "role": "user", "content": result(&mcp, next()) } }),
        json!({ "type": "assistant", "message": { "id": "m7", "role": "assistant", "content": call("TodoWrite", json!({ "todos": todo })) } }),
        json!({ "type": "user", "message": { "role": "user", "content": result("TodoWrite", next()) } }),
        json!({ "type": "system", "subtype": next(), "content": next(), "level": next() }),
        json!({ "type": format!("new {}", next()), "words": next() }),
    ];
    let entry = |(at, mut line): (usize, Value)| {
        let parent = at.checked_sub(1).map(|before| format!("u{before}"));
        line["uuid"] = format!("u{at}").into();
        line["parentUuid"] = parent.into();
        line["sessionId"] = "s".into();
        line["cwd"] = "/w".into();
        format!("{line}\n")
    };
    all.into_iter().enumerate().map(entry).collect()
}

/// The session at a level, as it stands in a page.
fn page(texts: &[String], detail: Detail) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let text = lines(texts);
    fs::write(&path, &text).expect("written");
    let mut builder = Builder::new();
    builder.read(text.as_bytes()).expect("readable");
    let session = builder.finish(&Options::default());
    let sources = [File::open(&path).expect("there")];
    let opened = Opened::new(&session, &sources, false);
    let outline = outline(&opened, Part::Way, detail).expect("there is a way");
    let style = Style {
        detail,
        zone: TimeZone::UTC,
        cwd: Some("/w".into()),
        prefix: String::new(),
        source: Source::Served { session: "s".into(), agent: None },
    };
    let mut html = Html::new();
    let items = 0..outline.items.len();
    session::piece(&mut html, &opened, &outline, items, &style, &mut Alone).expect("readable");
    html.into_string()
}

/// The tags with their attributes, without those that colour parts of a text.
fn tags(html: &str) -> Vec<(&str, Vec<&str>)> {
    let tags = html.split('<').skip(1).map(|rest| {
        let tag = rest.split('>').next().unwrap_or_default();
        let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let names = rest.split('"').step_by(2).map(|part| part.trim().trim_end_matches('='));
        (name, names.filter(|name| !name.is_empty()).collect())
    });
    let is_colour = |name: &str| matches!(name, "span" | "/span" | "mark" | "/mark");
    tags.filter(|(name, _)| !is_colour(name)).collect()
}

const LEVELS: [Detail; 5] =
    [Detail::Prompts, Detail::Conversation, Detail::Work, Detail::Everything, Detail::Raw];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_of_a_record_adds_an_element(
        texts in prop::collection::vec("[a-z][a-zäß<>\"'&=/ ;!(){}$\u{202e}\u{0}]{0,24}[a-z]", TEXTS),
    ) {
        let plain = vec!["word".to_owned(); TEXTS];
        for detail in LEVELS {
            let (html, known) = (page(&texts, detail), page(&plain, detail));
            prop_assert_eq!(tags(&html), tags(&known), "{:?}: {}", detail, html);
        }
    }
}

/// The texts of the session that a level does not show, by their places.
fn missing(detail: Detail) -> Vec<usize> {
    let texts: Vec<String> = (0..TEXTS).map(|n| format!("word{n}word")).collect();
    let html = page(&texts, detail);
    (0..TEXTS).filter(|&n| !html.contains(&texts[n])).collect()
}

#[test]
fn every_text_of_the_session_is_in_its_page() {
    assert_eq!(missing(Detail::Raw), [0; 0]);
    // What only the line itself tells: the other form of a todo, what is stored twice (stdout, the
    // file that was read, both sides of a patch), the words for the model that an edit has worked,
    // the level of a notice, and an entry of unknown type.
    assert_eq!(missing(Detail::Everything), [6, 14, 17, 18, 19, 20, 27, 28, 29]);
}

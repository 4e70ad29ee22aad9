//! A client newer than any that is known: what it writes is kept, named by `doctor`, and changes
//! no answer.

use super::case::Case;
use super::list::HOME;
use serde_json::Value;

const ID: &str = "aaaa1111-0000-4000-8000-000000000001";

/// The home of `list`, with fields, types, roles, attachments, files and folders nobody knows.
fn newer() -> String {
    let lines = [
        r#"{"type":"holo-deck","sessionId":"ID","text":"Make it blue"}"#,
        r#"{"parentUuid":"a4","uuid":"n1","sessionId":"ID","version":"9.9.9","type":"holo-frame","timestamp":"2026-01-05T10:01:05.000Z","message":{"role":"oracle","content":"cannot find value"}}"#,
        r#"{"type":"api-request-blob","sessionId":"ID","hash":"00","message":{"role":"oracle","content":[]}}"#,
        r#"{"type":"cost-state","sessionId":"ID","modelUsage":{"m":{"dreamTokens":1}}}"#,
        r#"{"parentUuid":null,"uuid":"n2","sessionId":"ID","version":"9.9.9","type":"attachment","timestamp":"2026-01-05T10:01:05.000Z","isSidechain":true,"attachment":{"type":"date","date":"2026-01-05","zone":"x"}}"#,
    ];
    let lines: String = lines.iter().map(|line| line.replace("ID", ID) + "\n").collect();
    let end = format!("\"aiTitle\":\"Add a command line flag\",\"sessionId\":\"{ID}\"}}\n");
    HOME.replace("\"userType\":\"external\"", "\"userType\":\"external\",\"futureField\":{\"a\":1}")
        .replace(&end, &format!("{end}{lines}"))
        .replace("\"status\":\"busy\"", "\"status\":\"busy\",\"orbit\":3")
        + &format!(
            "//- projects/-home-x-app/{ID}/subagents/agent-a0123456789abcdef.meta.json\n\
             {{\"aura\":1}}\n\
             //- projects/-home-x-app/{ID}/hangar/ship.json\n{{}}\n\
             //- hangar/ship.json\n{{}}\n"
        )
}

/// An answer without how long files are and how many lines a level hides.
fn answer(case: &Case, command: &str) -> String {
    let shown = case.run(command);
    let lines = shown.lines().filter(|line| !line.starts_with("hidden here"));
    // `#2 @308 10:00:05 call`: bytes are counted from the beginning of the file.
    let without_offset = |line: &str| {
        let words = line.split(' ').filter(|word| !word.starts_with('@'));
        words.collect::<Vec<_>>().join(" ")
    };
    lines.map(without_offset).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn without_sizes(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.retain(|key, _| {
            !matches!(key.as_str(), "size" | "bytes" | "entries" | "modified" | "versions")
        });
        object.values_mut().for_each(|inner| *inner = without_sizes(inner.take()));
    }
    value
}

#[test]
fn what_a_newer_client_writes_changes_no_answer() {
    let (known, newer) = (Case::new(HOME), Case::new(&newer()));
    for command in [
        "show aaaa --detail 1",
        "show aaaa --detail 3",
        "show aaaa --detail 4",
        "errors",
        "usage",
        "tools",
        "context aaaa",
        "search blue",
        "search cannot",
    ] {
        assert_eq!(answer(&newer, command), answer(&known, command), "{command}");
    }
    let list = |case: &Case| -> Vec<Value> {
        case.json::<Value>("list").into_iter().map(without_sizes).collect()
    };
    assert_eq!(list(&newer), list(&known));
    // Nothing is lost: level 5 has every line.
    let raw = newer.run("show aaaa --detail 5");
    assert!(raw.contains("holo-deck") && raw.contains("api-request-blob"), "{raw}");
}

#[test]
fn doctor_names_what_a_newer_client_writes() {
    let all: Vec<Value> = Case::new(&newer()).json("doctor");
    let names: Vec<(&str, &str)> = all
        .iter()
        .filter(|finding| finding["type"] == "unknown")
        .filter_map(|finding| Some((finding["kind"].as_str()?, finding["name"].as_str()?)))
        .collect();
    assert_eq!(
        names,
        [
            ("type", "holo-deck"),
            ("type", "holo-frame"),
            ("field", "assistant.futureField"),
            ("field", "user.futureField"),
            ("role", "oracle"),
            ("attachment-field", "date.zone"),
            ("usage-field", "dreamTokens"),
            ("agent-meta-field", "aura"),
            ("registry-field", "orbit"),
            ("folder", "hangar"),
            ("folder", "projects/<project>/<session>/hangar"),
        ]
    );
}

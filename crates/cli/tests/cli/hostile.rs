//! What stands in the files never reaches the terminal as it is.

use super::case::{Case, is_raw};
use anstream::adapter::strip_str;

const EVIL: &str = "\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200b}\u{8}\u{7f}seen";

/// A home with hostile text in every field that is printed.
fn home() -> Case {
    let case = Case::new("");
    let evil = serde_json::to_string(EVIL).unwrap();
    case.write(
        "history.jsonl",
        &format!(
            "{{\"display\":{evil},\"pastedContents\":{{\"1\":{{\"id\":{evil},\"type\":{evil},\"content\":{evil}}}}},\
             \"timestamp\":1769000000000,\"project\":{evil},\"sessionId\":{evil}}}\n"
        ),
    );
    case.write(
        &format!("plans/x{EVIL}.md", EVIL = EVIL.replace('/', "")),
        &format!("# {EVIL}\n{EVIL}\n"),
    );
    case.write("debug/abc.txt", &format!("2025-12-07T04:17:24.497Z [{EVIL}] [{EVIL}] {EVIL}\n"));
    case.write(
        "todos/abc-agent-abc.json",
        &format!("[{{\"content\":{evil},\"status\":{evil},\"priority\":{evil},\"id\":{evil}}}]"),
    );
    case.write(
        "tasks/abc/1.json",
        &format!("{{\"id\":{evil},\"subject\":{evil},\"status\":\"pending\",\"owner\":{evil},\"blockedBy\":[{evil}]}}"),
    );
    case
}

#[test]
fn hostile_text_is_made_safe_everywhere() {
    let case = home();
    let commands = [
        "todos",
        "plans",
        "plans x",
        "log abc",
        "history --pastes",
        "history --ghosts",
        "plans zzzz",
    ];
    for command in commands {
        for json in ["", " --json"] {
            let shown = case.run(&format!("{command}{json}"));
            assert!(shown.contains("seen") || command.ends_with("zzzz"), "{command}: {shown}");
            assert!(!is_raw(&shown), "{command}{json}: {shown:?}");
        }
    }
}

#[test]
fn colours_are_our_own() {
    let case = home();
    let shown = case.run("plans --color always");
    assert!(shown.contains("\u{1b}[33m"), "{shown:?}");
    assert!(!is_raw(&strip_str(&shown).to_string()), "{shown:?}");
    let output = case.command().args(["plans"]).env("NO_COLOR", "1").output().unwrap();
    assert!(!is_raw(&case.shown(&output)));
}

//! `note`: a person's own words, where sessions are shown.

use serde::Deserialize;

use super::case::{Case, is_raw};
use super::talk::Session;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    r#type: String,
    id: u64,
    session: String,
    entry: Option<u32>,
    text: Option<String>,
    tags: Vec<String>,
    star: bool,
    time: Option<String>,
}

#[test]
fn notes_are_made_found_and_taken_back() {
    let case = Case::new("");
    Session::new(1).prompt("The zeppelin leaks").answer("Patched.").write(&case);
    Session::new(2).prompt("Paint the fence").write(&case);
    let note = |args: &[&str]| {
        let output = case.command().arg("note").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", case.shown(&output));
    };
    note(&["1aaaaaaa:2", "the fix\u{1b}[2J", "--tag", "release", "--tag", "#air", "--star"]);
    note(&["latest", "only this"]);
    let all = case.json::<Note>("note");
    let told: Vec<(u64, &str, Option<u32>)> =
        all.iter().map(|note| (note.id, &note.session[..1], note.entry)).collect();
    assert_eq!(told, [(1, "1", Some(2)), (2, "2", None)]);
    assert_eq!((all[0].r#type.as_str(), all[0].star, all[1].star), ("note", true, false));
    assert_eq!(all[0].tags, ["release", "air"]);
    assert!(all[0].time.is_some() && all[0].text.as_deref() == Some("the fix\u{1b}[2J"));
    assert_eq!(case.json::<Note>("note --tag air").len(), 1);
    assert_eq!(case.json::<Note>("note 2aaaaaaa").len(), 1);
    assert!(case.run("note 1aaaaaaa:1").starts_with("exit 1\n"));
    assert!(!is_raw(&case.run("note")));
    assert!(case.run("list").contains("★ The zeppelin leaks #release #air"));
    let lines = case.run("list --json");
    assert!(
        lines.contains("\"star\":true,\"note_tags\":[\"release\",\"air\"],\"notes\":1"),
        "{lines}"
    );
    case.run("export 1aaaaaaa --to a.html");
    case.run("export 1aaaaaaa --to a.md");
    for file in ["a.html", "a.md"] {
        let text = std::fs::read_to_string(case.home().join(file)).unwrap();
        assert!(text.contains("Note on entry 2: ★ the fix"), "{file}");
    }
    assert!(case.run("note --remove 1").starts_with("exit 0\n"));
    assert!(case.run("note --remove 1").starts_with("exit 1\n"));
    assert!(!case.run("list").contains('★'));
    for wrong in ["note nope text", "note 1aaaaaaa:x text", "note /etc/passwd x", "note --star"] {
        assert!(case.run(wrong).starts_with("exit 2\n"), "{wrong}");
    }
}

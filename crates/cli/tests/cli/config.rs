//! `config`: one file, and who has set what.

use serde::Deserialize;

use super::case::Case;
use super::talk::Session;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    r#type: String,
    key: String,
    value: String,
    origin: String,
}

const FILE: &str = ".config/recount/config.toml";

fn case() -> Case {
    let case = Case::new("");
    Session::new(1).prompt("The zeppelin leaks").answer("Patched.").write(&case);
    case
}

fn wrote(case: &Case, text: &str) {
    let path = case.home().join(FILE);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn values_come_from_flag_environment_file_or_nowhere() {
    let case = case();
    insta::assert_snapshot!(case.run("config list"), @r#"
    exit 0
    --- stdout
    KEY         FROM     VALUE
    claude_dir  default  []
    store       default  ""
    color       default  "auto"
    pager       default  true
    redact      default  false
    quiet       default  false
    mouse       default  true
    --- stderr
    note: The file is ~/.config/recount/config.toml, which is not there
    "#);
    wrote(&case, "# mine\nstore = \"~/kept\"\nquiet = true # always\n");
    assert!(case.run("config set color always").starts_with("exit 0\n"));
    let text = std::fs::read_to_string(case.home().join(FILE)).unwrap();
    assert_eq!(text, "# mine\nstore = \"~/kept\"\nquiet = true # always\ncolor = \"always\"\n");
    let values: Vec<Value> = case.json("config list --color never");
    let of = |values: &[Value], name: &str| {
        let value = values.iter().find(|value| value.key == name).unwrap();
        assert_eq!(value.r#type, "config_value");
        format!("{} {}", value.value, value.origin)
    };
    assert_eq!(of(&values, "color"), "\"never\" --color");
    assert_eq!(of(&values, "store"), "\"~/kept\" file");
    assert_eq!(of(&values, "pager"), "true default");
    let output =
        case.command().env("RECOUNT_STORE", "/s").args(["config", "get", "store"]).output();
    assert_eq!(case.shown(&output.unwrap()), "exit 0\n--- stdout\n/s\n");
    // They do what they say.
    assert_eq!(case.run("sync").lines().next(), Some("exit 0"));
    assert!(case.home().join("kept").is_dir() && !case.store().exists());
    assert!(case.run("list").contains('\u{1b}'));
}

#[test]
fn a_mistake_is_told_by_its_line() {
    let case = case();
    wrote(&case, "quiet = false\ncolour = \"never\"\n");
    insta::assert_snapshot!(case.run("list"), @r"
    exit 2
    --- stderr
    error: ~/.config/recount/config.toml:2: there is no key `colour`
    hint: Did you mean `color`?
    ");
    insta::assert_snapshot!(case.run("config set colour never"), @r"
    exit 2
    --- stderr
    error: There is no key `colour`
    hint: Did you mean `color`? `recount config list` shows all
    ");
    // What sets it right still works, and so does what must never fail.
    assert!(case.run("config list").starts_with("exit 0\n"));
    assert!(case.run("hook stop").starts_with("exit 0\n"));
    assert!(case.run("config set color blue").starts_with("exit 2\n"));
    assert_eq!(
        std::fs::read_to_string(case.home().join(FILE)).unwrap(),
        "quiet = false\ncolour = \"never\"\n"
    );
}

#[cfg(unix)]
#[test]
fn the_editor_gets_the_file_and_it_is_checked() {
    use std::os::unix::fs::PermissionsExt;
    let case = case();
    let editor = case.home().join("editor");
    std::fs::write(&editor, "#!/bin/sh\necho 'pager = 3' >>\"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, PermissionsExt::from_mode(0o755)).unwrap();
    let output = case.command().env("EDITOR", &editor).args(["config", "edit"]).output().unwrap();
    let shown = case.shown(&output);
    assert!(shown.contains("`pager` is true or false"), "{shown}");
    let text = std::fs::read_to_string(case.home().join(FILE)).unwrap();
    assert!(text.starts_with("# Settings of recount") && text.ends_with("pager = 3\n"), "{text}");
}

#[test]
fn a_run_tells_of_itself_when_asked() {
    let case = case();
    let shown = case.run("list --verbose --timings --quiet");
    for words in
        ["Claude folder: ~/.claude\n", "read: 1 file, ", " ms sessions joined\n", " ms all\n"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

use std::fs;

use super::case::Case;
#[cfg(unix)]
use super::case::dangling;

#[test]
fn no_claude_folder_at_all() {
    let case = Case::new("");
    fs::remove_dir(case.claude()).unwrap();
    insta::assert_snapshot!(case.run("plans"), @"
    exit 2
    --- stderr
    error: No Claude folder found: CLAUDE_CONFIG_DIR is not set, and there is no ~/.claude and no ~/.config/claude
    hint: Name it with `--claude-dir DIR`, or look at a sample with `--demo`
    ");
}

#[test]
fn a_named_folder_that_does_not_exist() {
    let case = Case::new("");
    insta::assert_snapshot!(case.run("plans --claude-dir /no/such/folder"), @"
    exit 2
    --- stderr
    error: The Claude folder /no/such/folder does not exist
    hint: Correct --claude-dir, or look at a sample with `--demo`
    ");
    let output = case.command().arg("plans").env("CLAUDE_CONFIG_DIR", "/no/such").output().unwrap();
    insta::assert_snapshot!(case.shown(&output), @"
    exit 2
    --- stderr
    error: The Claude folder /no/such does not exist
    hint: Correct CLAUDE_CONFIG_DIR, or look at a sample with `--demo`
    ");
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_warned_of_and_the_rest_is_shown() {
    let case = Case::new("//- plans/calm-red-fox.md\n# A plan\n");
    for n in 1..=7 {
        dangling(&case.claude().join(format!("plans/gone-{n}.md")));
    }
    insta::assert_snapshot!(case.run("plans"), @"
    exit 2
    --- stdout
    MODIFIED  SIZE  NAME          TITLE
    just now   9 B  calm-red-fox  A plan
    --- stderr
    warning: Cannot read ~/.claude/plans/gone-1.md: it does not exist
    warning: Cannot read ~/.claude/plans/gone-2.md: it does not exist
    warning: Cannot read ~/.claude/plans/gone-3.md: it does not exist
    warning: Cannot read ~/.claude/plans/gone-4.md: it does not exist
    warning: Cannot read ~/.claude/plans/gone-5.md: it does not exist
    warning: and 2 more files that cannot be read
    ");
}

#[test]
fn a_damaged_file_is_noted_once() {
    let case = Case::new(
        r#"
//- history.jsonl
{"display":"before","pastedContents":{},"timestamp":1776672755000,"project":"/x"}
{"display":"cut in ha
{"display":"after","pastedContents":{},"timestamp":1776672756000,"project":"/x"}
"#,
    );
    insta::assert_snapshot!(case.run("history"), @"
    exit 0
    --- stdout
    TIME              PROJECT  SESSION  PROMPT
    2026-04-20 08:12  x        -        before
    2026-04-20 08:12  x        -        after
    --- stderr
    note: 1 damaged place in 1 file left out; `recount doctor` shows where
    ");
    assert!(!case.run("history --quiet").contains("note:"));
}

#[test]
fn a_closed_pipe_is_success() {
    let line =
        r#"{"display":"again","pastedContents":{},"timestamp":1776672755000,"project":"/x"}"#;
    let case = Case::new("");
    case.write("history.jsonl", &format!("{line}\n").repeat(20_000));
    let program = case.command().get_program().to_owned();
    let mut child = std::process::Command::new(program)
        .args(["history", "--claude-dir"])
        .arg(case.claude())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn one_folder_named_twice_counts_once() {
    let case = Case::new("//- plans/calm-red-fox.md\n# A plan\n");
    let shown = case.run("plans --claude-dir .claude,./.claude --claude-dir .claude/plans/..");
    assert_eq!(shown.matches("A plan").count(), 1, "{shown}");
}

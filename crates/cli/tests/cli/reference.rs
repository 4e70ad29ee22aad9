//! The reference equals the program. With UPDATE_DOCS set it is written anew.

use std::fmt::Write;

use super::case::Case;

const HEAD: &str = "<!-- Written from the program by `UPDATE_DOCS=1 cargo test --features lake --test cli reference`. -->";

fn help(case: &Case, words: &[&str]) -> String {
    let output = case.command().args(words).arg("--help").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", case.shown(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands below one.
fn below(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let lines = list.unwrap_or_default().lines().filter_map(|line| line.strip_prefix("  "));
    let names = lines.filter(|line| !line.starts_with(' '));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

/// A help without the flags that every command has.
fn own(help: &str) -> String {
    let Some((before, after)) = help.split_once("Global options:\n") else { return help.into() };
    // Long helps have empty lines between the flags.
    let is_of_flags = |line: &&str| line.is_empty() || line.starts_with(' ');
    let rest: Vec<&str> = after.lines().skip_while(is_of_flags).collect();
    format!("{before}{}", rest.join("\n")).trim_end().to_owned() + "\n"
}

fn write(page: &mut String, case: &Case, words: &[&str]) {
    let help = help(case, words);
    let shown = if words.is_empty() { help.clone() } else { own(&help) };
    let name = [&["recount"], words].concat().join(" ");
    writeln!(
        page,
        "\n{} {name}\n\n```text\n{}\n```",
        "#".repeat(2 + words.len().min(2) / 2),
        shown.trim_end()
    )
    .unwrap();
    for name in below(&help) {
        write(page, case, &[words, &[&*name]].concat());
    }
}

fn hold(path: &str, page: &str) {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        text == page,
        "{path} is not current: `UPDATE_DOCS=1 cargo test --features lake --test cli reference`"
    );
}

#[test]
fn global_flags_are_shown_once() {
    let page = include_str!("../../../../docs/reference/commands.md");
    assert_eq!(page.matches("--claude-dir <DIR>").count(), 1);
    assert_eq!(page.matches("Global options:").count(), 1);
    assert_eq!(page.matches("      --store <DIR>").count(), 1);
}

#[cfg_attr(not(feature = "lake"), ignore = "it is the reference of what is released")]
#[test]
fn the_commands_are_those_of_the_program() {
    let case = Case::new("");
    let mut page = format!(
        "# Commands\n\n{HEAD}\n\nWhat `recount help` and `recount help COMMAND` say. The global \
         options, shown once, go with every command.\n"
    );
    write(&mut page, &case, &[]);
    assert!(page.contains("\n### recount archive compact\n"), "{page}");
    hold("docs/reference/commands.md", &page);
}

#[cfg(unix)]
#[test]
fn the_settings_are_those_of_the_program() {
    let case = Case::new("");
    let output =
        case.command().env("EDITOR", "/bin/cat").args(["config", "edit"]).output().unwrap();
    let file = String::from_utf8(output.stdout).unwrap();
    let page = format!(
        "# Settings\n\n{HEAD}\n\nOne file, `$XDG_CONFIG_HOME/recount/config.toml` (else \
         `~/.config/recount/config.toml`), or what `RECOUNT_CONFIG` names. A flag wins over the \
         environment (`CLAUDE_CONFIG_DIR`, `RECOUNT_STORE`, `NO_COLOR`), that over the file, that \
         over what is built in; `recount config list` shows who has set what. A key that is not \
         known, or a value that does not fit, is an error with its line. `~` at the beginning of a \
         folder is the home folder. These are all keys, with what holds when nothing is set:\n\n\
         ```toml\n{file}```\n"
    );
    assert!(page.contains("\n# color = \"auto\"\n"), "{page}");
    hold("docs/reference/config.md", &page);
}

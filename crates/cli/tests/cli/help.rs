use super::case::Case;

/// The commands that the help of the program names.
pub fn commands(case: &Case) -> Vec<String> {
    let output = case.command().arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_help_has_examples() {
    let case = Case::new("");
    let mut commands = commands(&case);
    assert!(commands.len() > 4, "{commands:?}");
    commands.retain(|name| name != "help");
    commands.push(String::new());
    for name in commands {
        let shown = case.run(&format!("{name} --help"));
        assert!(shown.starts_with("exit 0\n"), "{shown}");
        let examples = shown.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{shown}"));
        assert!(examples.contains(&format!("  recount {name}")), "{shown}");
    }
}

#[test]
fn a_wrong_word_gets_the_right_one() {
    insta::assert_snapshot!(Case::new("").run("segmnts"), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'segmnts'

      tip: a similar subcommand exists: 'segments'

    Usage: recount [OPTIONS] [COMMAND]

    For more information, try '--help'.
    ");
}

#[cfg(not(feature = "lake"))]
#[test]
fn a_program_without_lakes_says_so() {
    let shown = Case::new("").run("lake status /srv/lake");
    assert!(shown.starts_with("exit 2\n"), "{shown}");
    assert!(shown.contains("unrecognized subcommand 'lake'"), "{shown}");
    assert!(shown.contains("hint: This recount was built without lakes"), "{shown}");
}

#[test]
fn a_wrong_flag_gets_the_right_one() {
    let shown = Case::new("").run("list --projcts");
    assert!(shown.contains("tip: a similar argument exists: '--projects'"), "{shown}");
}

#[test]
fn the_sample_works_without_a_claude_folder() {
    let case = Case::new("");
    let shown = case.run("--demo history --limit 1 --claude-dir nowhere");
    assert!(shown.contains("cannot be used together"), "{shown}");
    let shown = case.run("--demo history --limit 1");
    assert!(shown.starts_with("exit 0\n--- stdout\nTIME "), "{shown}");
}

//! The examples of the README and the guide print what they show. With UPDATE_DOCS set, those of
//! the guide are written anew.

use super::case::Case;

const FENCE: &str = "```console\n";

fn printed(command: &str) -> String {
    let args = command.strip_prefix("$ recount ").unwrap_or_else(|| panic!("{command}"));
    let output = Case::new("").command().args(args.split(' ')).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{command}");
    String::from_utf8(output.stdout).unwrap()
}

/// The text with what its examples print now.
fn run_again(text: &str) -> String {
    let mut parts = text.split(FENCE);
    let mut again = parts.next().unwrap().to_owned();
    for part in parts {
        let (shown, rest) = part.split_once("```").unwrap();
        let command = shown.lines().next().unwrap();
        again += &format!("{FENCE}{command}\n{}```{rest}", printed(command));
    }
    again
}

#[test]
fn every_console_example_prints_what_it_shows() {
    for (name, least) in [("README.md", 3), ("docs/guide/start.md", 8)] {
        let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.matches(FENCE).count() >= least, "{name}");
        let again = run_again(&text);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &again).unwrap();
            continue;
        }
        for (shown, printed) in text.split(FENCE).zip(again.split(FENCE)) {
            assert_eq!(shown, printed, "{name}");
        }
    }
}

/// Lines of a shell name commands and flags that are there.
#[test]
fn every_other_example_is_a_command_of_the_program() {
    let mut count = 0;
    for name in ["README.md", "docs/guide/start.md"] {
        let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let blocks = text.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
        let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("recount "));
        for line in lines {
            let words = line.split([' ', '#']).take_while(|word| !word.is_empty());
            let is_bare = |word: &&str| !word.starts_with(['\'', '"', '$', '-']);
            let command = words.clone().next().unwrap();
            let help = Case::new("").run(&format!("{command} --help"));
            assert!(help.starts_with("exit 0\n"), "{line}");
            for flag in words.filter(|word| !is_bare(word) && word.starts_with("--")) {
                assert!(help.contains(flag), "{name}: {line}: {flag}");
            }
            count += 1;
        }
    }
    assert!(count >= 8, "{count}");
}

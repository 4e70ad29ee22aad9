//! The examples of the README print what it shows.

use super::case::Case;

#[test]
fn every_console_example_prints_what_it_shows() {
    let readme = include_str!("../../../../README.md");
    let examples: Vec<&str> = readme.split("```console\n").skip(1).collect();
    assert!(examples.len() >= 3);
    for example in examples {
        let shown = example.split("```").next().unwrap();
        let (command, want) = shown.split_once('\n').unwrap();
        let args = command.strip_prefix("$ recount ").unwrap();
        let output = Case::new("").command().args(args.split(' ')).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), want, "{command}");
    }
}

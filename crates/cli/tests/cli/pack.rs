//! The installer puts everything where shells and `man` find it, and takes it away again.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::case::Case;

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, all),
            path => all.push(path),
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_installed_can_be_taken_away_again_by_the_script() {
    let case = Case::new("");
    let prefix = case.home().join("prefix");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../install.sh");
    let run = |args: &[&str]| {
        let mut command = Command::new("sh");
        command.arg(script).args(args).env("PREFIX", &prefix).env("HOME", case.home());
        command.env("RECOUNT_BINARY", assert_cmd::cargo::cargo_bin!("recount"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", case.shown(&output));
    };
    run(&[]);
    let own = prefix.join("share/man/man1/recount-me.txt");
    std::fs::write(&own, "somebody else's").unwrap();
    let bash = std::fs::read_to_string(prefix.join("share/bash-completion/completions/recount"));
    assert!(bash.unwrap().contains("_recount"));
    assert!(prefix.join("share/man/man1/recount-archive-compact.1").is_file());
    let version = Command::new(prefix.join("bin/recount")).arg("--version").output().unwrap();
    assert!(version.stdout.starts_with(b"recount "));
    run(&["--uninstall"]);
    let mut left = Vec::new();
    files(&prefix, &mut left);
    assert_eq!(left, [own]);
}

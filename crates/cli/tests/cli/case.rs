//! A Claude folder written from one readable string, and the program run on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

/// A computer of its own: a home folder with a Claude folder in it.
pub struct Case {
    dir: TempDir,
}

impl Case {
    /// A Claude folder with the files of `text`, each behind a line `//- path`.
    pub fn new(text: &str) -> Self {
        let case = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(case.claude()).unwrap();
        for file in text.split("//- ").skip(1) {
            let (path, body) = file.split_once('\n').unwrap();
            case.write(path, body);
        }
        case
    }

    /// Where the Claude folder is.
    pub fn claude(&self) -> PathBuf {
        self.dir.path().join(".claude")
    }

    /// Where the store is, once there is one.
    pub fn store(&self) -> PathBuf {
        self.dir.path().join(".local/share/recount")
    }

    /// Writes a file of the Claude folder.
    pub fn write(&self, path: &str, body: &str) {
        let path = self.claude().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, body).unwrap();
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        self.dir.path()
    }

    /// The program, with nothing of this computer's environment.
    pub fn command(&self) -> Command {
        Command::from_std(self.program())
    }

    /// The same, for those who start it themselves.
    pub fn program(&self) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("recount"));
        command.env_clear().env("HOME", self.dir.path()).env("TZ", "UTC");
        command.current_dir(self.dir.path());
        command
    }

    /// Runs the program. The arguments are split at spaces.
    pub fn run(&self, args: &str) -> String {
        self.shown(&self.output(args))
    }

    fn output(&self, args: &str) -> Output {
        self.command().args(args.split_whitespace()).output().unwrap()
    }

    /// Exit code and both outputs as one text.
    pub fn shown(&self, output: &Output) -> String {
        let text = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).expect("output is UTF-8");
            text.replace(self.dir.path().to_str().unwrap(), "~")
        };
        let code = output.status.code().expect("no signal");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let mut shown = format!("exit {code}\n");
        for (name, text) in [("stdout", out), ("stderr", err)] {
            if !text.is_empty() {
                shown += &format!("--- {name}\n{text}");
            }
        }
        shown
    }

    /// The JSON lines of a run.
    pub fn json<T: DeserializeOwned>(&self, args: &str) -> Vec<T> {
        let output = self.output(&format!("{args} --json"));
        assert_eq!(output.status.code(), Some(0), "{}", self.shown(&output));
        let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
        lines.map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Whether text could do something on a terminal.
pub fn is_raw(text: &str) -> bool {
    let is_hostile = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.contains(is_hostile)
}

/// A link to a file that is not there, which can be listed and not read.
#[cfg(unix)]
pub fn dangling(at: &std::path::Path) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("nowhere", at).unwrap();
}

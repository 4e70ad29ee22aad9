//! Three computers with histories of their own, and the program run on them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Shape, Spec};

/// A row of an answer.
pub type Row = Vec<Value>;

/// Computers: the host, the user, what its home is like.
const COMPUTERS: [(&str, &str, Shape, u64); 3] = [
    ("anna-laptop", "anna", Shape::Hard, 1_000_000),
    ("ben desktop", "ben", Shape::Lean, 3_000_000),
    ("ci-7", "runner", Shape::Demo, 1_000_000),
];

/// A folder with the homes of several computers in it: `HOST/USER` is a Claude folder.
pub struct Team {
    dir: TempDir,
}

impl Team {
    /// So many computers.
    pub fn of(computers: usize) -> Self {
        let team = Self { dir: tempfile::tempdir().unwrap() };
        for (seed, (host, user, shape, bytes)) in (1..).zip(COMPUTERS).take(computers) {
            let home = team.archive().join(host).join(user);
            std::fs::create_dir_all(&home).unwrap();
            testkit::make(&Spec { seed, shape, bytes }, &home).unwrap();
        }
        team
    }

    /// Hosts and users.
    pub fn computers() -> impl Iterator<Item = (&'static str, &'static str)> {
        COMPUTERS.into_iter().map(|(host, user, ..)| (host, user))
    }

    /// All homes.
    pub fn archive(&self) -> PathBuf {
        self.path("archive")
    }

    /// A path of its own.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program, with nothing of this computer's environment.
    pub fn program(&self) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("recount"));
        command.env_clear().env("HOME", self.dir.path()).env("TZ", "UTC");
        command.current_dir(self.dir.path());
        command
    }

    /// The program on one of the computers.
    pub fn on(&self, host: &str, user: &str) -> Command {
        let mut command = self.program();
        command.arg("--claude-dir").arg(self.archive().join(host).join(user));
        command.arg("--store").arg(self.path(&format!("store of {host}")));
        command.env("RECOUNT_HOST", host).env("RECOUNT_USER", user);
        command
    }

    /// Every computer writes to a lake.
    pub fn write(&self, lake: &str) {
        for (host, user) in Self::computers() {
            done(self.on(host, user).args(["lake", "write", lake]));
        }
    }

    /// What the program answers on the rows of a store.
    pub fn ask(&self, store: &Path, question: &str) -> Vec<Row> {
        let mut command = self.program();
        let said = done(command.args(["sql", "--json", question, "--store"]).arg(store));
        let row = |line| serde_json::from_str::<Fields>(line).unwrap().0;
        said.lines().map(row).collect()
    }
}

/// A line of JSON as the values of its fields, in their order: a map would sort them.
struct Fields(Row);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Row;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut row = Row::new();
                while let Some((_, value)) = map.next_entry::<String, Value>()? {
                    row.push(value);
                }
                Ok(row)
            }
        }
        deserializer.deserialize_map(InOrder).map(Self)
    }
}

/// What a command says that works.
pub fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", shown(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What a command says that does not.
pub fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}\n{}", shown(&output));
    String::from_utf8(output.stderr).unwrap()
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

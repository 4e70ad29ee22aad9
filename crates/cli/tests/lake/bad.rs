//! Lakes that are broken, of another version, or not there; and writes that are killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::kit::{Team, done, refused};

/// A computer and the lake it writes to.
struct One {
    team: Team,
}

impl One {
    fn new() -> Self {
        Self { team: Team::of(1) }
    }

    fn lake(&self) -> PathBuf {
        self.team.path("lake")
    }

    fn command(&self, what: &str) -> std::process::Command {
        let (host, user) = Team::computers().next().unwrap();
        let mut command = self.team.on(host, user);
        command.args(["lake", what]).arg(self.lake());
        command
    }

    /// The files below a folder of the lake, sorted.
    fn files(&self, below: &str) -> Vec<PathBuf> {
        let (mut files, mut folders) = (Vec::new(), vec![self.lake().join(below)]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    // What is not in its place yet has a number behind its name.
                    path if path.to_string_lossy().contains('#') => {}
                    path => files.push(path),
                }
            }
        }
        files.sort();
        files
    }
}

fn change(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn what_is_wrong_is_said_and_the_next_write_repairs_it() {
    let one = One::new();
    let none = refused(&mut one.command("verify"));
    assert!(none.contains("Cannot open the lake") && none.contains("hint: "), "{none}");
    done(&mut one.command("write"));

    let edits = one.files("edits");
    fs::remove_file(&edits[0]).unwrap();
    let whole = fs::read(&one.files("calls")[0]).unwrap();
    fs::write(&one.files("calls")[0], &whole[..whole.len() / 2]).unwrap();
    let output = one.command("verify").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains(&format!("bytes of {}", whole.len())), "{said}");
    assert!(said.contains("parquet is missing"), "{said}");
    let stopped = refused(one.command("read").arg("--store").arg(one.team.path("team")));
    assert!(stopped.contains("is damaged: it has") && stopped.contains("hint: "), "{stopped}");

    let repaired = one.command("write").output().unwrap();
    let talk = String::from_utf8(repaired.stderr).unwrap();
    assert!(talk.contains("was missing or cut off, and is written again"), "{talk}");
    done(&mut one.command("verify"));
    assert_eq!(one.files("edits"), edits);
}

#[test]
fn another_version_is_named() {
    let one = One::new();
    done(&mut one.command("write"));
    change(&one.files("manifest")[0], "\"schema\": 2", "\"schema\": 99");
    let read = refused(one.command("read").arg("--store").arg(one.team.path("team")));
    assert!(read.contains("is of version 99 of the tables, not 2"), "{read}");
    assert!(read.contains("bring this one up to date"), "{read}");
    assert!(done(&mut one.command("status")).contains("version 99 of the tables"));
    // Its own host writes it anew.
    assert!(done(&mut one.command("write")).contains(" 0 months carried over"));
    done(&mut one.command("verify"));
}

#[test]
fn urls_and_stores_that_are_none_are_said() {
    let one = One::new();
    let mut scheme = one.team.program();
    let said = refused(scheme.args(["lake", "status", "ftp://host/lake"]));
    assert!(said.contains("`ftp://host/lake` is of no kind that is known"), "{said}");
    assert!(said.contains("hint: A lake is a folder"), "{said}");
    done(&mut one.command("write"));
    let own = refused(&mut one.command("read"));
    assert!(own.contains("keeps a history of its own"), "{own}");
    let team = one.team.path("team");
    done(one.team.program().args(["lake", "read"]).arg(one.lake()).arg("--store").arg(&team));
    let mut back = one.team.program();
    let said = refused(back.args(["lake", "write"]).arg(one.lake()).arg("--store").arg(&team));
    assert!(said.contains("holds lakes"), "{said}");
}

/// Killed again and again, a little later each time: whenever there is a manifest, all that it
/// names is there.
#[test]
fn a_killed_write_leaves_a_lake_that_can_be_read() {
    let one = One::new();
    // The store is made first: it is the write that is to be killed.
    let mut plan = one.command("write");
    fs::create_dir_all(one.lake()).unwrap();
    done(plan.arg("--dry-run"));
    let (mut unfinished, mut delay) = (0, 0);
    while one.files("manifest").is_empty() {
        let mut command = one.command("write");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let has_files = !one.files("requests").is_empty();
        unfinished += usize::from(has_files && one.files("manifest").is_empty());
        delay += 15;
    }
    println!("{unfinished} writes were killed between their first file and their manifest");
    done(&mut one.command("verify"));
    assert!(done(&mut one.command("write")).contains("Nothing new"));
}

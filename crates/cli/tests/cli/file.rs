use std::fs;
use std::path::PathBuf;

use super::case::Case;
use serde::Deserialize;
use transcript::path::backup_hash;

const A: &str = "aaaa0000-0000-4000-8000-000000000001";
const B: &str = "bbbb0000-0000-4000-8000-000000000002";

/// A computer on which two sessions changed `~/app/src/a.txt`, with backups of it.
struct Disk {
    case: Case,
}

impl Disk {
    fn new() -> Self {
        let disk = Self { case: Case::new("") };
        let hash = backup_hash(&disk.path());
        disk.session(
            A,
            &[
                disk.write(1, "create", "one\ntwo\n"),
                disk.edit(2, "w1r", "two", "2", "one\ntwo\n"),
                disk.snapshot(&[
                    ("src/a.txt", None, 1),
                    ("src/a.txt", Some(&format!("{hash}@v2")), 2),
                ]),
                disk.edit(3, "w2r", "one", "1", "one\n2\n"),
            ],
        );
        disk.session(
            B,
            &[
                disk.snapshot(&[("src/a.txt", Some(&format!("{hash}@v2")), 2)]),
                disk.snapshot(&[("src/a.txt", Some(&format!("{hash}@v3")), 3)]),
            ],
        );
        disk.case.write(&format!("file-history/{A}/{hash}@v2"), "one\ntwo\u{7}\n");
        disk.case.write(&format!("file-history/{B}/{hash}@v2"), "of b\n");
        disk
    }

    fn home(&self) -> PathBuf {
        self.case.claude().parent().unwrap().to_path_buf()
    }

    /// Where the file is, on this computer.
    fn target(&self) -> PathBuf {
        self.home().join("app/src/a.txt")
    }

    fn path(&self) -> String {
        self.target().to_str().unwrap().into()
    }

    fn put(&self, content: &str) {
        fs::create_dir_all(self.target().parent().unwrap()).unwrap();
        fs::write(self.target(), content).unwrap();
    }

    fn now(&self) -> Option<String> {
        fs::read_to_string(self.target()).ok()
    }

    fn run(&self, args: &str) -> String {
        self.case.run(args).replace(&backup_hash(&self.path()), "HASH")
    }

    fn session(&self, id: &str, lines: &[String]) {
        let text = lines.concat().replace("SESSION", id);
        self.case.write(&format!("projects/-x-app/{id}.jsonl"), &text);
    }

    fn envelope(&self) -> String {
        let cwd = self.home().join("app");
        format!(
            r#""isSidechain":false,"userType":"external","cwd":"{}","sessionId":"SESSION","version":"2.1.60","gitBranch":"main""#,
            cwd.display()
        )
    }

    fn call(&self, n: u32, parent: &str, tool: &str, input: &str, result: &str) -> String {
        let envelope = self.envelope();
        let parent = if parent == "null" { "null".into() } else { format!("\"SESSION{parent}\"") };
        format!(
            r#"{{"parentUuid":{parent},{envelope},"type":"assistant","message":{{"id":"m{n}","type":"message","role":"assistant","content":[{{"type":"tool_use","id":"toolu_SESSION{n}","name":"{tool}","input":{input}}}]}},"uuid":"SESSIONw{n}","timestamp":"2026-03-01T10:0{n}:00.000Z"}}
{{"parentUuid":"SESSIONw{n}",{envelope},"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_SESSION{n}","type":"tool_result","content":"ok"}}]}},"toolUseResult":{result},"uuid":"SESSIONw{n}r","timestamp":"2026-03-01T10:0{n}:01.000Z"}}
"#
        )
    }

    fn prompt(&self, n: u32, parent: &str) -> String {
        let envelope = self.envelope();
        let parent = if parent == "null" { "null".into() } else { format!("\"SESSION{parent}\"") };
        format!(
            r#"{{"parentUuid":{parent},{envelope},"type":"user","message":{{"role":"user","content":"Try {n}"}},"uuid":"SESSIONp{n}","timestamp":"2026-03-01T10:0{n}:00.000Z"}}
"#
        )
    }

    fn write(&self, n: u32, kind: &str, content: &str) -> String {
        self.write_to(&self.path(), n, kind, content)
    }

    fn write_to(&self, path: &str, n: u32, kind: &str, content: &str) -> String {
        let (path, content) = (json(path), json(content));
        let input = format!(r#"{{"file_path":{path},"content":{content}}}"#);
        let result = format!(
            r#"{{"type":"{kind}","filePath":{path},"content":{content},"structuredPatch":[],"originalFile":null}}"#
        );
        self.call(n, "null", "Write", &input, &result)
    }

    fn edit(&self, n: u32, parent: &str, old: &str, new: &str, before: &str) -> String {
        let (path, before) = (json(&self.path()), json(before));
        let input = format!(r#"{{"file_path":{path},"old_string":"{old}","new_string":"{new}"}}"#);
        let result = format!(
            r#"{{"filePath":{path},"oldString":"{old}","newString":"{new}","originalFile":{before},"structuredPatch":[{{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-{old}","+{new}"]}}],"userModified":false,"replaceAll":false}}"#
        );
        self.call(n, parent, "Edit", &input, &result)
    }

    fn snapshot(&self, files: &[(&str, Option<&str>, u64)]) -> String {
        let line = |(path, name, version): &(&str, Option<&str>, u64)| {
            let name = name.map_or_else(|| "null".into(), json);
            format!(
                r#"{{"type":"file-history-snapshot","messageId":"m","snapshot":{{"messageId":"m","trackedFileBackups":{{{}:{{"backupFileName":{name},"version":{version},"backupTime":"2026-03-01T10:0{version}:30.000Z"}}}},"timestamp":"2026-03-01T10:00:00.000Z"}},"isSnapshotUpdate":false}}
"#,
                json(path)
            )
        };
        let cwd = format!(
            r#"{{"parentUuid":null,{},"type":"user","message":{{"role":"user","content":"Go on"}},"uuid":"SESSIONs{}","timestamp":"2026-03-01T10:00:00.000Z"}}
"#,
            self.envelope(),
            files.len()
        );
        cwd + &files.iter().map(line).collect::<String>()
    }
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn changes_and_backups_of_one_file() {
    let disk = Disk::new();
    insta::assert_snapshot!(disk.run("file src/a.txt"), @"
    exit 0
    --- stdout
    ~/app/src/a.txt
    TIME              SESSION   ENTRY  TOOL   ADDED  REMOVED  NOTE     TITLE
    2026-03-01 10:01  aaaa0000      2  Write     +2       -0  created  Go on
    2026-03-01 10:02  aaaa0000      4  Edit      +1       -1           Go on
    2026-03-01 10:03  aaaa0000      9  Edit      +1       -1           Go on

    Backups: the file as it was before a change
    TIME              SESSION   VERSION  SIZE  BACKUP                  TITLE
    2026-03-01 10:01  aaaa0000        1     -  the file did not exist  Go on
    2026-03-01 10:02  aaaa0000        2   9 B  kept                    Go on
    2026-03-01 10:02  bbbb0000        2   5 B  kept                    Go on
    2026-03-01 10:03  bbbb0000        3     -  gone                    Go on
    ");
    insta::assert_snapshot!(disk.run("file a.txt --session aaaa --since 2026-03-01T10:02:30Z --diff"), @"
    exit 0
    --- stdout
    ~/app/src/a.txt
    TIME              SESSION   ENTRY  TOOL  ADDED  REMOVED  NOTE  TITLE
    2026-03-01 10:03  aaaa0000      9  Edit     +1       -1        Go on
        @@ -1 +1 @@
        -one
        +1

    Backups: the file as it was before a change
    TIME              SESSION   VERSION  SIZE  BACKUP  TITLE
    2026-03-01 10:02  aaaa0000        2   9 B  kept    Go on
    ");
    insta::assert_snapshot!(disk.run("file b.txt"), @"
    exit 1
    --- stderr
    note: Nothing found
    ");
}

#[test]
fn changes_on_a_branch_that_was_left_and_in_copies() {
    let disk = Disk::new();
    let talk = [
        disk.prompt(1, "null"),
        disk.edit(2, "p1", "one", "1", "one\n"),
        disk.prompt(3, "p1"),
        disk.edit(4, "p3", "one", "uno", "one\n"),
    ];
    disk.session("dddd0000-0000-4000-8000-000000000004", &talk);
    // A fork copies entries with their uuids and stamps them with its own id.
    let copy = talk.concat().replace(r#""sessionId":"SESSION""#, r#""sessionId":"COPY""#);
    let copy = copy.replace("SESSION", "dddd0000-0000-4000-8000-000000000004");
    let own = disk.prompt(5, "p3").replace("SESSIONp3", "dddd0000-0000-4000-8000-000000000004p3");
    let copy = copy.replace("COPY", "SESSION");
    disk.session("eeee0000-0000-4000-8000-000000000005", &[copy, own]);
    insta::assert_snapshot!(disk.run("file a.txt --since 2026-03-01T10:00:00Z --session dddd"), @"
    exit 0
    --- stdout
    ~/app/src/a.txt
    TIME              SESSION   ENTRY  TOOL  ADDED  REMOVED  NOTE       TITLE
    2026-03-01 10:02  dddd0000      3  Edit     +1       -1  abandoned  Try 1
    2026-03-01 10:04  dddd0000      6  Edit     +1       -1             Try 1
    --- stderr
    note: 2 changes in copies of sessions not shown
    ");
}

#[test]
fn what_it_was() {
    let disk = Disk::new();
    insta::assert_snapshot!(disk.run("file a.txt --at 2"), @"
    exit 0
    --- stdout
    one
    two
    --- stderr
    note: ~/app/src/a.txt: from the Write at entry 2 of session aaaa0000; changes made by commands are not recorded
    ");
    insta::assert_snapshot!(disk.run("file a.txt --at 7 --session aaaa"), @"
    exit 0
    --- stdout
    one
    2
    --- stderr
    note: ~/app/src/a.txt: from the Edit at entry 4 of session aaaa0000; changes made by commands are not recorded
    ");
    insta::assert_snapshot!(disk.run("file a.txt --at 1"), @"
    exit 2
    --- stderr
    error: The content after entry 1 is not known: no whole text was recorded
    hint: A later entry may have one, or a backup: see `recount file PATH`
    ");
    insta::assert_snapshot!(disk.run("file a.txt --at 99"), @"
    exit 2
    --- stderr
    error: The session has no entry 99
    hint: Its entries are 1 to 9
    ");
    insta::assert_snapshot!(disk.run("file a.txt --version 2"), @"
    exit 2
    --- stderr
    error: 2 sessions have a version 2 of the file
    hint: Choose one with `--session`: `aaaa0000`, `bbbb0000`
    ");
    insta::assert_snapshot!(disk.run("file a.txt --version 1"), @"
    exit 2
    --- stderr
    error: Version 1 says that the file did not exist then
    hint: There is no content to write, and recount deletes nothing
    ");
    insta::assert_snapshot!(disk.run("file a.txt --version 3"), @"
    exit 2
    --- stderr
    error: The backup of version 3 is gone: there is no `HASH@v3`
    hint: Claude Code removes old backups; `--at ENTRY` puts the content together from what was recorded
    ");
    insta::assert_snapshot!(disk.run("file a.txt --version 7"), @"
    exit 2
    --- stderr
    error: There is no version 7 of the file
    hint: It has `1`, `2`, `3`
    ");
    let mut command = disk.case.command();
    command.args("file a.txt --version 2 --session aaaa".split(' '));
    let output = command.output().unwrap();
    assert_eq!(output.stdout, "one\ntwo\u{7}\n".as_bytes(), "byte for byte");
}

#[test]
fn a_backup_whose_transcript_is_gone_is_found_by_the_path() {
    let disk = Disk::new();
    fs::remove_dir_all(disk.case.claude().join("projects")).unwrap();
    let shown = disk.run(&format!("file {} --session bbbb --version 2", disk.path()));
    assert!(shown.contains("of b\n"), "{shown}");
}

#[test]
fn restoring_asks_and_never_replaces_unasked() {
    let disk = Disk::new();
    insta::assert_snapshot!(disk.run("file restore a.txt --version 2 --session aaaa --yes"), @"
    exit 2
    --- stderr
    error: Not written: the folder ~/app/src does not exist
    hint: Make it first if you want the file back there
    ");
    fs::create_dir_all(disk.target().parent().unwrap()).unwrap();
    insta::assert_snapshot!(disk.run("file restore a.txt --version 2 --session aaaa"), @"
    exit 2
    --- stderr
     write to ~/app/src/a.txt
    there now no file
      content 9 B, backup version 2 of session aaaa0000, made 2026-03-01 10:02
    error: Not written: there is no terminal to ask on
    hint: `--yes` goes ahead without asking
    ");
    assert_eq!(disk.now(), None);
    insta::assert_snapshot!(disk.run("file restore a.txt --version 2 --session aaaa --yes"), @"
    exit 0
    --- stdout
    Created ~/app/src/a.txt: 9 B written and read back
    --- stderr
     write to ~/app/src/a.txt
    there now no file
      content 9 B, backup version 2 of session aaaa0000, made 2026-03-01 10:02
    ");
    assert_eq!(disk.now().as_deref(), Some("one\ntwo\u{7}\n"));
    disk.put("mine\ntwo\u{7}\n");
    insta::assert_snapshot!(disk.run("file restore a.txt --version 2 --session aaaa --yes"), @"
    exit 2
    --- stderr
     write to ~/app/src/a.txt
    there now 10 B; writing removes 1 line and adds 1 line
      content 9 B, backup version 2 of session aaaa0000, made 2026-03-01 10:02
    error: Not written: ~/app/src/a.txt exists
    hint: `--force` writes over it
    ");
    assert_eq!(disk.now().as_deref(), Some("mine\ntwo\u{7}\n"));
    insta::assert_snapshot!(disk.run("file restore a.txt --at 2 --force --yes"), @"
    exit 0
    --- stdout
    Replaced ~/app/src/a.txt: 8 B written and read back
    --- stderr
     write to ~/app/src/a.txt
    there now 10 B; writing removes 2 lines and adds 2 lines
      content 8 B, from the Write at entry 2 of session aaaa0000; changes made by commands are not recorded
    ");
    assert_eq!(disk.now().as_deref(), Some("one\ntwo\n"));
    insta::assert_snapshot!(disk.run("file restore a.txt --at 2"), @"
    exit 0
    --- stdout
    ~/app/src/a.txt is already so; nothing was written
    --- stderr
     write to ~/app/src/a.txt
    there now the same content
      content 8 B, from the Write at entry 2 of session aaaa0000; changes made by commands are not recorded
    ");
    let left: Vec<_> = fs::read_dir(disk.target().parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "no file is left beside it");
}

#[test]
fn what_has_no_content_is_not_restored() {
    let disk = Disk::new();
    disk.put("mine");
    insta::assert_snapshot!(disk.run("file restore a.txt --version 1 --force --yes"), @"
    exit 2
    --- stderr
    error: Version 1 says that the file did not exist then
    hint: There is no content to write, and recount deletes nothing
    ");
    insta::assert_snapshot!(disk.run("file restore a.txt --force --yes"), @"
    exit 2
    --- stderr
    error: Which state of the file is to be restored?
    hint: Give `--version N` or `--at ENTRY`; `recount file PATH` shows both
    ");
    assert_eq!(disk.now().as_deref(), Some("mine"));
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let disk = Disk::new();
    disk.put("mine");
    fs::set_permissions(disk.target(), fs::Permissions::from_mode(0o750)).unwrap();
    let shown = disk.run("file restore a.txt --at 2 --force --yes");
    assert!(shown.starts_with("exit 0"), "{shown}");
    let mode = fs::metadata(disk.target()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    let other = disk.home().join("other.txt");
    fs::rename(disk.target(), &other).unwrap();
    symlink(&other, disk.target()).unwrap();
    insta::assert_snapshot!(disk.run("file restore a.txt --version 2 --session aaaa --force --yes"), @"
    exit 2
    --- stderr
    error: Not written: ~/app/src/a.txt is a link
    hint: Remove the link first, or print the content into the file it leads to
    ");
    assert_eq!(fs::read_to_string(other).unwrap(), "one\ntwo\n");
}

#[test]
fn hostile_paths_are_no_place_to_write_to() {
    let disk = Disk::new();
    let hash = backup_hash("../../evil.txt");
    let climbing = format!("{}/app/../../evil.txt", disk.home().display());
    let inside = format!("{}/settings.json", disk.case.claude().display());
    disk.session(
        "cccc0000-0000-4000-8000-000000000003",
        &[
            disk.write_to("../../relative.txt", 1, "create", "x"),
            disk.write_to(r"C:\Users\x\windows.txt", 2, "create", "x"),
            disk.write_to(&climbing, 3, "create", "x"),
            disk.write_to(&inside, 4, "create", "x"),
            disk.write_to(
                &format!("{}/app/h\u{202e}d/hidden.txt", disk.home().display()),
                5,
                "create",
                "x",
            ),
            disk.snapshot(&[("wrong.txt", Some(&format!("{hash}@v1")), 1)]),
            disk.snapshot(&[("named.txt", Some("../../../etc/passwd"), 1)]),
        ],
    );
    disk.case.write(&format!("file-history/cccc0000-0000-4000-8000-000000000003/{hash}@v1"), "x");
    fs::create_dir_all(disk.home().join("app")).unwrap();
    let refused = |args: &str| {
        let shown = disk.run(&format!("file restore {args} --force --yes"));
        assert!(shown.starts_with("exit 2"), "{shown}");
        shown.lines().find(|line| line.starts_with("error")).unwrap().to_owned() + "\n"
    };
    let shown: String = [
        "relative.txt --at 2",
        "windows.txt --at 4",
        "evil.txt --at 6",
        "settings.json --at 8",
        "hidden.txt --at 10",
        "wrong.txt --version 1",
        "named.txt --version 1",
    ]
    .map(refused)
    .concat();
    insta::assert_snapshot!(shown, @r#"
    error: Not written: `~/app/../../relative.txt` is no place to write to, it has `.` or `..` in it
    error: Not written: `C:\Users\x\windows.txt` is no place to write to, it is a path of another system
    error: Not written: `~/app/../../evil.txt` is no place to write to, it has `.` or `..` in it
    error: Not written: ~/.claude/settings.json is below a Claude folder
    error: Not written: `~/app/hd/hidden.txt` is no place to write to, it has characters that do not show
    error: Not written: `~/app/wrong.txt` is no place to write to, the backup's name belongs to another path
    error: The backup of version 1 is gone
    "#);
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, clippy::enum_variant_names, reason = "all of it is decoded, not all compared")]
enum Line {
    FileChange {
        path: String,
        session_id: String,
        title: Option<String>,
        agent_id: Option<String>,
        entry: u32,
        time: Option<String>,
        tool: String,
        added: u32,
        removed: u32,
        created: bool,
        estimated: bool,
        deleted: bool,
        unknown: bool,
        state: String,
        turn: Option<usize>,
        hunks: Vec<Hunk>,
    },
    FileBackup {
        path: String,
        session_id: String,
        title: Option<String>,
        version: Option<u64>,
        name: Option<String>,
        time: Option<String>,
        size: Option<u64>,
        kept: String,
    },
    FileContent {
        path: String,
        session_id: String,
        entry: Option<u32>,
        version: Option<u64>,
        base_entry: Option<u32>,
        edits: Option<usize>,
        size: usize,
        text: Option<String>,
    },
    FileRestored {
        path: String,
        session_id: String,
        entry: Option<u32>,
        version: Option<u64>,
        size: usize,
        outcome: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Hunk {
    old_start: u64,
    new_start: u64,
    lines: Vec<String>,
}

#[test]
fn json_lines() {
    let disk = Disk::new();
    let lines: Vec<Line> = disk.case.json("file a.txt --diff");
    let kept: Vec<&str> = lines
        .iter()
        .filter_map(|line| match line {
            Line::FileBackup { kept, .. } => Some(&**kept),
            _ => None,
        })
        .collect();
    assert_eq!(kept, ["absent", "here", "here", "gone"]);
    let has_hunks =
        |line: &&Line| matches!(line, Line::FileChange { hunks, .. } if hunks.len() == 1);
    assert_eq!(lines.iter().filter(has_hunks).count(), 3);
    let [Line::FileContent { text, edits, .. }] = &disk.case.json("file a.txt --at 4")[..] else {
        panic!()
    };
    assert_eq!((text.as_deref(), *edits), (Some("one\n2\n"), Some(0)));
    disk.put("one\ntwo\n");
    let [Line::FileRestored { outcome, .. }] = &disk.case.json("file restore a.txt --at 2")[..]
    else {
        panic!()
    };
    assert_eq!(outcome, "same");
}

#[test]
fn the_help_of_restore_has_examples() {
    let shown = Case::new("").run("file restore --help");
    assert!(shown.contains("Examples:\n  recount file restore"), "{shown}");
}

//! A store that can't be written, has no room, is damaged, or is used by several at once: nothing
//! is lost, and what is said names the way out.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use store::catalog;
use store::folder::{ARCHIVE, Store};
use store::index::Index;

use super::case::Case;
use super::kit::{Dump, Lines, WORDS, archive, assert_same};

/// So many sessions.
const SESSIONS: usize = 12;

fn rel(which: usize) -> String {
    format!("projects/-w/{which:08}-1111-4111-8111-111111111111.jsonl")
}

/// Lines with one of the words that are looked for, and much that compresses badly.
fn lines(which: usize, salt: &str) -> String {
    let id = format!("{which:08}-1111-4111-8111-111111111111");
    let mut random = testkit::random::Random::named(which as u64, salt);
    let mut lines = Lines::new(id, format!("{which}{salt}"));
    let mut text = lines.ask(&format!("about the {}", WORDS[which % WORDS.len()]));
    for _ in 0..40 {
        text += &lines.say(&random.hex(200));
    }
    text
}

/// A home of twelve sessions and no store.
fn home() -> Case {
    let case = Case::new("");
    (0..SESSIONS).for_each(|which| case.write(&rel(which), &lines(which, "a")));
    case
}

/// Every second session goes on, and there are new ones.
fn go_on(case: &Case) {
    for which in (0..SESSIONS).step_by(2) {
        case.write(&rel(which), &(lines(which, "a") + &lines(which, "b")));
    }
    (20..30).for_each(|which| case.write(&rel(which), &lines(which, "c")));
}

fn assert_synced(case: &Case) {
    let shown = case.run("sync");
    assert!(shown.starts_with("exit 0\n"), "{shown}");
}

fn dump(folder: &Path) -> Dump {
    Dump::of(&Store::new(folder.into()))
}

/// The store is the one that is made of the same files anew.
fn assert_as_fresh(case: &Case, folder: &Path) {
    assert_eq!(archive(&Store::new(folder.into())).verify(|_| {}).unwrap().damage, []);
    let fresh = tempfile::tempdir().unwrap();
    let shown = case.run(&format!("sync --store {}", fresh.path().display()));
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    assert_same(&dump(folder), &dump(fresh.path()));
}

/// Says what is asked, and that the store can't be brought up to date.
fn assert_still_answers(search: &str) {
    assert!(search.starts_with("exit 6\n"), "{search}");
    assert!(search.contains("about the zebra"), "{search}");
    assert!(search.contains("note: New lines are not searched: "), "{search}");
}

/// A shell that may mount things that only it sees; `None` where that is not allowed.
#[cfg(target_os = "linux")]
fn own_mounts(case: &Case, script: &str, values: &[(&str, &Path)]) -> Option<Output> {
    let shell = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-euc", script]).env("R", env!("CARGO_BIN_EXE_recount"));
        command.env("HOME", case.claude().parent().unwrap()).envs(values.iter().copied());
        command.env_remove("CLAUDE_CONFIG_DIR").env_remove("RECOUNT_STORE");
        command.output()
    };
    let probe = shell("mount -t tmpfs tmpfs \"$HOME/.claude\"");
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("nothing can be mounted here: nothing was checked");
        return None;
    }
    Some(shell(script).unwrap())
}

/// A disk with so much room: the store is filled, the home goes on, the disk is made so small that
/// only `$LEFT` KB are free, and large again after that.
#[cfg(target_os = "linux")]
const FULL: &str = r#"
mount -t tmpfs -o size=64m tmpfs "$DISK"
"$R" sync --store "$DISK/store" > /dev/null
cp -r "$MORE/." "$HOME/.claude/projects"
used=$(df -k "$DISK" | awk 'NR == 2 { print $3 }')
mount -o remount,size=$((used + LEFT))k "$DISK"
code=0
"$R" sync --store "$DISK/store" > /dev/null 2> "$OUT/said" || code=$?
echo $code > "$OUT/code"
cp -r "$DISK/store" "$OUT/failed"
"$R" search zebra --store "$DISK/store" > "$OUT/search" 2>&1 || echo "exit $?" >> "$OUT/search"
mount -o remount,size=64m "$DISK"
"$R" sync --store "$DISK/store" > /dev/null
cp -r "$DISK/store" "$OUT/store"
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let mut full = Vec::new();
    for left in [0, 60, 300, 600, 900, 1300] {
        let (case, more) = (home(), Case::new(""));
        let before = lines(0, "a");
        (0..SESSIONS).for_each(|which| more.write(&rel(which), &lines(which, "a")));
        go_on(&more);
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        ["disk", "out"].iter().for_each(|name| fs::create_dir(at(name)).unwrap());
        let (left_text, projects) =
            (PathBuf::from(left.to_string()), more.claude().join("projects"));
        let (disk, out) = (at("disk"), at("out"));
        let values: [(&str, &Path); 4] =
            [("DISK", &disk), ("OUT", &out), ("MORE", &projects), ("LEFT", &left_text)];
        let Some(output) = own_mounts(&case, FULL, &values) else { return };
        assert!(output.status.success(), "{}", case.shown(&output));
        let said = fs::read_to_string(out.join("said")).unwrap();
        let code = fs::read_to_string(out.join("code")).unwrap();
        if code.trim() != "0" {
            assert_eq!(code.trim(), "2", "{left} KB: {said}");
            let hint = "hint: Nothing is lost: make room and run `recount sync` again\n";
            assert!(said.ends_with(hint), "{left} KB: {said}");
            let search = fs::read_to_string(out.join("search")).unwrap();
            assert!(search.contains("about the zebra") && !search.contains("error"), "{search}");
            full.push(said.lines().next().unwrap().to_owned());
        }
        let failed = Store::new(out.join("failed"));
        assert_eq!(archive(&failed).verify(|_| {}).unwrap().damage, []);
        let kept = super::kit::generations(&failed);
        assert!(kept.iter().any(|bytes| bytes.starts_with(before.as_bytes())), "{left} KB");
        assert_as_fresh(&case, &out.join("store"));
    }
    let all = full.join("\n");
    assert!(
        ["archive", "catalog", "index"].iter().filter(|part| all.contains(**part)).count() > 1,
        "{all}"
    );
}

/// A limit on the size of files is no full disk, but it ends a write in the same way.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_files_loses_nothing() {
    let case = home();
    assert_synced(&case);
    let before = dump(&case.store());
    go_on(&case);
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" sync";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_recount")]);
    command.env_clear().env("HOME", case.claude().parent().unwrap());
    let shown = case.shown(&command.output().unwrap());
    assert!(shown.starts_with("exit 2\n"), "{shown}");
    assert!(shown.contains("hint: What was kept is kept. Is the disk full"), "{shown}");
    assert_same(&dump(&case.store()), &before);
    assert_synced(&case);
    assert_as_fresh(&case, &case.store());
}

#[cfg(target_os = "linux")]
const READ_ONLY: &str = r#"
mount --bind "$STORE" "$STORE"
mount -o remount,ro,bind "$STORE"
code=0; "$R" $ASK 2>&1 || code=$?
exit $code
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_read_only_is_read() {
    let case = home();
    assert_synced(&case);
    go_on(&case);
    fs::remove_file(case.claude().join(rel(1))).unwrap();
    let ask = |question: &str| {
        let values: [(&str, &Path); 2] = [("STORE", &case.store()), ("ASK", Path::new(question))];
        own_mounts(&case, READ_ONLY, &values).map(|output| case.shown(&output))
    };
    let Some(sync) = ask("sync") else { return };
    insta::assert_snapshot!(sync, @r"
    exit 2
    --- stdout
    error: The store ~/.local/share/recount can't be written: Read-only file system (os error 30)
    hint: Make the folder writable, or name another one with `--store`
    ");
    assert_still_answers(&ask("search zebra").unwrap());
    for question in ["list", "archive status", "archive list", "archive verify", "show 00000001"] {
        let shown = ask(question).unwrap();
        assert!(shown.starts_with("exit 0\n"), "{question}: {shown}");
    }
    assert!(ask("find --file x").unwrap().starts_with("exit 6\n"));
}

/// Whoever runs the tests may write everywhere if it is root; then somebody else asks.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_read_only_is_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let case = home();
    assert_synced(&case);
    go_on(&case);
    let root = case.claude().parent().unwrap().to_path_buf();
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let program = root.join("recount");
    fs::copy(env!("CARGO_BIN_EXE_recount"), &program).unwrap();
    let mode =
        |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    mode(&root, 0o755);
    let set = |file: u32, folder: u32| {
        each(&case.store(), &mut |path| {
            if is_root {
                chown(path, Some(65534), Some(65534)).unwrap();
            }
            mode(path, if path.is_dir() { folder } else { file });
        });
    };
    set(0o400, 0o500);
    for folder in [".local", ".local/share"] {
        mode(&root.join(folder), 0o755);
    }
    let ask = |question: &str| {
        let mut command = match is_root {
            true => Command::new("setpriv"),
            false => Command::new(&program),
        };
        if is_root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        }
        command.args(question.split(' ')).env_clear().env("HOME", &root).current_dir(&root);
        case.shown(&command.output().unwrap())
    };
    insta::assert_snapshot!(ask("sync"), @r"
    exit 2
    --- stderr
    error: The store ~/.local/share/recount can't be written: Permission denied (os error 13)
    hint: Make the folder writable, or name another one with `--store`
    ");
    assert_still_answers(&ask("search zebra"));
    for question in ["list", "archive status", "archive verify", "show 00000001"] {
        let shown = ask(question);
        assert!(shown.starts_with("exit 0\n"), "{question}: {shown}");
    }
    set(0o600, 0o700);
    assert_synced(&case);
    assert_as_fresh(&case, &case.store());
}

/// Also in a folder that was there before, for everybody to look into.
#[test]
#[cfg(unix)]
fn what_is_kept_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let case = home();
    fs::create_dir_all(case.store()).unwrap();
    fs::set_permissions(case.store(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_synced(&case);
    for command in ["note 00000001 hello", "sql SELECT(1)", "list"] {
        assert!(case.run(command).starts_with("exit 0"), "{}", case.run(command));
    }
    let is_open = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o077 != 0;
    let mut seen = 0;
    each(&case.store(), &mut |path| {
        seen += 1;
        let is_empty = path.is_file() && fs::metadata(path).unwrap().len() == 0;
        let inside = path.ancestors().take_while(|path| *path != case.store());
        assert!(
            is_empty || inside.into_iter().any(|path| !is_open(path)) || *path == case.store(),
            "{}",
            path.display()
        );
    });
    assert!(seen > 8, "{seen}");
}

/// A folder and all that is in it, what is in it first.
fn each(path: &Path, see: &mut impl FnMut(&Path)) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            each(&entry.unwrap().path(), see);
        }
    }
    see(path);
}

fn damage(path: &Path, at: u64, length: usize) {
    let mut file = File::options().read(true).write(true).open(path).unwrap();
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut bytes).unwrap();
    bytes.iter_mut().for_each(|byte| *byte ^= 0x5a);
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&bytes).unwrap();
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let case = home();
    assert_synced(&case);
    let db = rusqlite::Connection::open(case.store().join(ARCHIVE)).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let before = fs::read(case.store().join(ARCHIVE)).unwrap();
    go_on(&case);
    for question in ["sync", "search zebra", "archive status", "archive verify", "archive compact"]
    {
        insta::allow_duplicates! {
            insta::assert_snapshot!(case.run(question), @r"
            exit 2
            --- stderr
            error: Archive ~/.local/share/recount/archive.db has format 99, known is 1
            hint: A newer recount wrote it: use that one, or another folder with `--store`
            ");
        }
    }
    let list = case.run("list");
    assert!(
        list.starts_with("exit 0\n") && list.contains("note: The store is left out: "),
        "{list}"
    );
    assert!(fs::read(case.store().join(ARCHIVE)).unwrap() == before);
}

#[test]
fn an_archive_with_a_wrong_page_says_what_can_be_read() {
    let case = home();
    assert_synced(&case);
    // The first table's page: without it nothing is known of any file.
    damage(&case.store().join(ARCHIVE), 2 * 4096, 4096);
    let before = fs::read(case.store().join(ARCHIVE)).unwrap();
    for question in ["sync", "search zebra"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(case.run(question), @r"
            exit 2
            --- stderr
            error: Archive ~/.local/share/recount/archive.db is damaged: database disk image is malformed
            hint: `recount archive verify` says what can still be read; move the file away to begin anew
            ");
        }
    }
    let list = case.run("list");
    assert!(
        list.starts_with("exit 0\n") && list.contains("note: The store is left out: "),
        "{list}"
    );
    let verify = case.run("archive verify");
    assert!(verify.starts_with("exit 2\n") && verify.contains("\ndamage  "), "{verify}");
    assert!(
        verify.contains("If there is a backup of the archive, put it in its place"),
        "{verify}"
    );
    assert!(fs::read(case.store().join(ARCHIVE)).unwrap() == before, "nothing is written to it");
    fs::rename(case.store().join(ARCHIVE), case.store().join("aside")).unwrap();
    assert_synced(&case);
    fs::remove_file(case.store().join("aside")).unwrap();
    assert_as_fresh(&case, &case.store());
}

#[test]
fn a_catalog_with_wrong_pages_is_made_again() {
    let case = home();
    assert_synced(&case);
    let path = case.store().join(catalog::file_name());
    damage(&path, 4096, fs::metadata(&path).unwrap().len() as usize - 4096);
    let shown = case.run("archive list");
    assert!(shown.starts_with("exit 2\n"), "{shown}");
    assert!(
        shown.contains("hint: It can be made again: delete it and run `recount sync`"),
        "{shown}"
    );
    go_on(&case);
    assert_synced(&case);
    assert_as_fresh(&case, &case.store());
}

/// What is missing of an index is found out when it is opened, and made again before a search.
#[test]
fn an_index_with_a_file_missing_or_cut_is_made_again() {
    for is_cut in [true, false] {
        let case = home();
        assert_synced(&case);
        let mut hurt = 0;
        each(&Index::folder(&case.store()), &mut |path| {
            if path.extension().is_some_and(|end| end == "term" || end == "store") {
                hurt += 1;
                match is_cut {
                    true => File::options().write(true).open(path).unwrap().set_len(50).unwrap(),
                    false => fs::remove_file(path).unwrap(),
                }
            }
        });
        assert!(hurt > 1);
        let shown = case.run("search zebra");
        assert!(shown.starts_with("exit 0\n") && shown.contains("about the zebra"), "{shown}");
        assert_as_fresh(&case, &case.store());
    }
}

/// All start at once; nobody waits for a lock longer than a sync takes, and nobody fails.
#[test]
fn two_syncs_at_once_with_readers() {
    let case = home();
    assert_synced(&case);
    for round in 0..4 {
        case.write(&rel(100 + round), &lines(100 + round, "d"));
        go_on(&case);
        let start = |args: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
            command.env_clear().env("HOME", case.claude().parent().unwrap());
            command.args(args.split(' ')).stdin(Stdio::null());
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            (args.to_owned(), child)
        };
        let asked = ["sync", "sync", "search zebra", "list", "archive status", "search quartz"];
        let running: Vec<_> = asked.map(start).into();
        let mut refused = 0;
        for (args, child) in running {
            let shown = case.shown(&child.wait_with_output().unwrap());
            match args == "sync" && shown.starts_with("exit 2\n") {
                true => {
                    let said = "error: Another process is bringing the store up to date\n\
                                hint: Wait until it is done, then try again\n";
                    assert!(shown.ends_with(said), "{shown}");
                    refused += 1;
                }
                // A search that runs during a sync says that it may be incomplete.
                false => {
                    let is_stale = args.starts_with("search") && shown.starts_with("exit 6\n");
                    assert!(is_stale || shown.starts_with("exit 0\n"), "{args}: {shown}");
                }
            }
        }
        assert!(refused <= 2);
    }
    assert_synced(&case);
    assert_as_fresh(&case, &case.store());
}

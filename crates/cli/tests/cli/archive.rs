//! The store from outside: what is kept, what comes back, and who did what.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::case::Case;
use super::list::HOME;

/// A session that changed one file of the first one's and one of its own, made a commit and is
/// linked to a pull request.
const LATER: &str = r#"
//- projects/-home-x-app/ffff6666-0000-4000-8000-000000000006.jsonl
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"ffff6666-0000-4000-8000-000000000006","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":"Commit it"},"uuid":"f1","timestamp":"2026-01-07T10:00:00.000Z"}
{"parentUuid":"f1","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"ffff6666-0000-4000-8000-000000000006","version":"2.1.144","gitBranch":"main","message":{"model":"claude-opus-4-5","id":"msg_f1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_f1","name":"Edit","input":{"file_path":"/home/x/app/src/main.rs","old_string":"b","new_string":"d"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"f2","timestamp":"2026-01-07T10:00:05.000Z"}
{"parentUuid":"f2","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"ffff6666-0000-4000-8000-000000000006","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_f1","type":"tool_result","content":"ok"}]},"uuid":"f3","timestamp":"2026-01-07T10:00:06.000Z","toolUseResult":{"filePath":"/home/x/app/src/main.rs","oldString":"b","newString":"d","originalFile":"b\n","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-b","+d"]}],"userModified":false,"replaceAll":false}}
{"parentUuid":"f3","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"ffff6666-0000-4000-8000-000000000006","version":"2.1.144","gitBranch":"main","message":{"model":"claude-opus-4-5","id":"msg_f2","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_f2","name":"Write","input":{"file_path":"/home/x/app/src/domain.rs","content":"x\n"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"f4","timestamp":"2026-01-07T10:00:07.000Z"}
{"parentUuid":"f4","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"ffff6666-0000-4000-8000-000000000006","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_f2","type":"tool_result","content":"ok"}]},"uuid":"f5","timestamp":"2026-01-07T10:00:08.000Z","toolUseResult":{"type":"create","filePath":"/home/x/app/src/domain.rs","content":"x\n","structuredPatch":[],"originalFile":null}}
{"parentUuid":"f5","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"ffff6666-0000-4000-8000-000000000006","version":"2.1.144","gitBranch":"main","message":{"model":"claude-opus-4-5","id":"msg_f3","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_f3","name":"Bash","input":{"command":"git commit -am 'Add it'","description":"Commit"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"f6","timestamp":"2026-01-07T10:00:09.000Z"}
{"parentUuid":"f6","isSidechain":false,"userType":"external","cwd":"/home/x/app","sessionId":"ffff6666-0000-4000-8000-000000000006","version":"2.1.144","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_f3","type":"tool_result","content":"[main 2e06a57] Add it\n 2 files changed","is_error":false}]},"uuid":"f7","timestamp":"2026-01-07T10:00:10.000Z","toolUseResult":{"stdout":"[main 2e06a57] Add it\n 2 files changed","stderr":"","interrupted":false}}
{"type":"pr-link","sessionId":"ffff6666-0000-4000-8000-000000000006","prNumber":12,"prUrl":"https://github.com/x/app/pull/12","prRepository":"x/app","timestamp":"2026-01-07T10:01:00.000Z"}
"#;

/// What lies around the first session, and around another one.
const BESIDE: &str = r#"
//- projects/-home-x-app/aaaa1111-0000-4000-8000-000000000001/subagents/agent-a0123456789abcdef.meta.json
{"agentType":"Explore"}
//- projects/-home-x-app/aaaa1111-0000-4000-8000-000000000001/tool-results/toolu_3.txt
a very long output
//- todos/aaaa1111-0000-4000-8000-000000000001-agent-aaaa1111-0000-4000-8000-000000000001.json
[]
//- tasks/aaaa1111-0000-4000-8000-000000000001/1.json
{"id":"1","subject":"do","status":"pending"}
//- file-history/aaaa1111-0000-4000-8000-000000000001/0123456789abcdef@v1
a
//- debug/aaaa1111-0000-4000-8000-000000000001.txt
2026-01-05T10:00:00.000Z [DEBUG] on
//- session-env/aaaa1111-0000-4000-8000-000000000001/hook.sh
export A=1
//- todos/cccc3333-0000-4000-8000-000000000003-agent-cccc3333-0000-4000-8000-000000000003.json
[]
"#;

const FIRST: &str = "aaaa1111-0000-4000-8000-000000000001";

fn case() -> Case {
    let case = Case::new(&format!("{HOME}{LATER}{BESIDE}"));
    let shown = case.run("sync");
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    case
}

/// The files of the first session by their paths below the Claude folder, with what they hold.
fn first_files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_str().unwrap().contains(FIRST) => {
                    let rel = path.strip_prefix(root).unwrap().to_path_buf();
                    files.push((rel, fs::read(&path).unwrap()));
                }
                false => {}
            }
        }
    }
    files.sort();
    files
}

/// As Claude Code does it: the files, not the folders.
fn delete_first(case: &Case) -> Vec<(PathBuf, Vec<u8>)> {
    let files = first_files(&case.claude());
    files.iter().for_each(|(rel, _)| fs::remove_file(case.claude().join(rel)).unwrap());
    assert_eq!(files.len(), 9);
    files
}

/// The JSON lines of a run that may fail.
fn lines<T: DeserializeOwned>(case: &Case, args: &str) -> Vec<T> {
    let output = case.command().args(args.split(' ')).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn without_a_store_it_says_how_to_make_one() {
    let case = Case::new(HOME);
    for args in ["archive status", "archive list", "restore aaaa", "find --pr 1", "related aaaa"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(case.run(args), @"
            exit 2
            --- stderr
            error: There is no store in ~/.local/share/recount
            hint: `recount sync` makes it; `--store` names another folder
            ");
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Status {
    r#type: String,
    folder: String,
    files: u64,
    gone: u64,
    generations: u64,
    bytes_current: u64,
    bytes_all: u64,
    packs: u64,
    small_packs: u64,
    payloads: u64,
    archive_bytes: u64,
    catalog_bytes: u64,
    index_bytes: u64,
}

#[test]
fn the_status_counts() {
    let case = case();
    case.write("projects/-home-x-site/cccc3333-0000-4000-8000-000000000003.jsonl", "{}\n");
    delete_first(&case);
    case.run("sync");
    let [status] = &case.json::<Status>("archive status")[..] else { panic!() };
    assert_eq!((status.files, status.gone, status.generations), (15, 9, 16));
    assert!(status.bytes_all > status.bytes_current);
    assert!(status.archive_bytes > 0 && status.catalog_bytes > 0 && status.index_bytes > 0);
    let shown = case.run("archive status");
    assert!(shown.contains("15, 9 of them gone from disk"), "{shown}");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Compacted {
    r#type: String,
    bytes_before: u64,
    bytes_after: u64,
    written: u64,
    dropped: u64,
    skipped: u64,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
enum Check {
    ArchiveDamage {
        detail: String,
        files: Vec<String>,
    },
    ArchiveVerified {
        generations: u64,
        pieces: u64,
        packs: u64,
        payloads: u64,
        bytes: u64,
        damage: usize,
    },
}

#[test]
fn a_check_finds_nothing_before_and_after_a_compaction() {
    let case = case();
    let files = delete_first(&case);
    let well = |case: &Case| {
        let check = case.json::<Check>("archive verify");
        matches!(check[..], [Check::ArchiveVerified { damage: 0, .. }])
    };
    assert!(well(&case));
    let [done] = &case.json::<Compacted>("archive compact")[..] else { panic!() };
    assert_eq!((done.written, done.skipped), (1, 0));
    assert!(well(&case));
    assert!(case.run("archive compact").contains("nothing to pack anew"));
    case.run("restore aaaa --to out");
    assert_eq!(first_files(&case.claude().with_file_name("out")), files);
}

/// The pack is the longest run of bytes that zstd wrote; one of them is another one now.
#[test]
fn a_flipped_byte_is_found() {
    let case = case();
    let path = case.claude().with_file_name(".local/share/recount/archive.db");
    let mut bytes = fs::read(&path).unwrap();
    let frame = bytes.windows(4).position(|four| four == [0x28, 0xb5, 0x2f, 0xfd]).unwrap();
    bytes[frame + 40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let shown = case.run("archive verify");
    assert!(shown.starts_with("exit 2\n--- stdout\ndamage  pack 1: "), "{shown}");
    assert!(shown.contains("error: 1 damaged place in ~/.local/share/recount/archive.db\nhint: "));
    let check = lines::<Check>(&case, "archive verify");
    let [Check::ArchiveDamage { files, .. }, Check::ArchiveVerified { damage: 1, .. }] = &check[..]
    else {
        panic!()
    };
    assert!(!files.is_empty());
    let shown = case.run("restore aaaa --to out");
    assert!(shown.starts_with("exit 2\n--- stderr\nerror: "), "{shown}");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Archived {
    r#type: String,
    session: String,
    title: Option<String>,
    project: Option<String>,
    ended: Option<String>,
    files: usize,
    size: u64,
}

#[test]
fn sessions_that_are_only_in_the_store() {
    let case = case();
    insta::assert_snapshot!(case.run("archive list"), @"
    exit 1
    --- stderr
    note: Nothing found
    ");
    delete_first(&case);
    // Before a sync has seen it, and after.
    for _ in 0..2 {
        let [gone] = &case.json::<Archived>("archive list")[..] else { panic!() };
        assert_eq!((&*gone.session, gone.files), (FIRST, 9));
        assert_eq!(gone.title.as_deref(), Some("Add a command line flag"));
        case.run("sync");
    }
    let shown = case.run("archive list");
    assert!(shown.contains("aaaa1111  2026-01-05 10:01      9 "), "{shown}");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Restored {
    r#type: String,
    session: String,
    kind: String,
    path: String,
    size: u64,
    modified: Option<String>,
    outcome: String,
}

#[test]
fn a_deleted_session_comes_back_byte_for_byte() {
    let case = case();
    let transcript = format!("projects/-home-x-app/{FIRST}.jsonl");
    let before = fs::metadata(case.claude().join(&transcript)).unwrap().modified().unwrap();
    let files = delete_first(&case);
    case.run("sync");
    let out = case.claude().with_file_name("out");
    let plan = case.json::<Restored>("restore aaaa");
    assert!(plan.len() == 9 && plan.iter().all(|file| file.outcome == "missing"));
    assert!(!out.exists());
    let shown = case.run("restore aaaa --to out");
    assert!(shown.contains("9 of 9 files written below ~/out and read back"), "{shown}");
    assert_eq!(first_files(&out), files);
    let after = fs::metadata(out.join(&transcript)).unwrap().modified().unwrap();
    let apart = before.duration_since(after).unwrap_or_default();
    assert!(apart < Duration::from_millis(2), "{apart:?}");
    let others = fs::read_dir(out.join("todos")).unwrap().count();
    assert_eq!(others, 1);
}

#[test]
fn nothing_is_replaced() {
    let case = case();
    insta::assert_snapshot!(case.run("restore aaaa --to .claude/old"), @"
    exit 2
    --- stderr
    error: ~/.claude/old is below a Claude folder
    hint: Claude Code would take it for its own: name another folder, or use `--in-place`
    ");
    case.run("restore aaaa --to out");
    insta::assert_snapshot!(case.run("restore aaaa --to out"), @"
    exit 2
    --- stderr
    error: ~/out is not an empty folder
    hint: Nothing is ever overwritten: name a folder that is empty or does not exist
    ");
    insta::assert_snapshot!(case.run("restore aaaa --in-place"), @"
    exit 0
    --- stdout
    All 9 files are on disk; nothing was written
    ");
}

#[test]
fn in_place_only_what_is_missing() {
    let case = case();
    let files = delete_first(&case);
    case.run("sync");
    let debug = format!("debug/{FIRST}.txt");
    case.write(&debug, "another one");
    let written = case.json::<Restored>("restore aaaa --in-place");
    assert!(written.len() == 8 && written.iter().all(|file| file.outcome == "written"));
    let now = first_files(&case.claude());
    let same = now.iter().zip(&files).filter(|(a, b)| a == b).count();
    assert_eq!((now.len(), same), (9, 8));
    assert_eq!(fs::read(case.claude().join(debug)).unwrap(), b"another one");
    // Before a sync has seen it, and after.
    assert!(case.run("archive list").starts_with("exit 1\n"));
    let shown = case.run("sync --full");
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    assert!(case.run("archive list").starts_with("exit 1\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_live_session_is_left_alone() {
    let case = case();
    delete_first(&case);
    let pid = std::process::id();
    let line = format!("{{\"pid\":{pid},\"sessionId\":\"{FIRST}\",\"status\":\"busy\"}}");
    case.write(&format!("sessions/{pid}.json"), &line);
    let shown = case.run("restore aaaa --in-place");
    let error = format!("exit 2\n--- stderr\nerror: Session {FIRST} is live: process {pid} has it");
    assert!(shown.starts_with(&error), "{shown}");
    assert!(first_files(&case.claude()).is_empty());
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Expiring {
    r#type: String,
    session: String,
    title: Option<String>,
    project: Option<String>,
    file: String,
    size: u64,
    deleted: Option<String>,
    kept: bool,
}

#[test]
fn sessions_that_will_be_deleted() {
    let case = case();
    let age = |name: &str, days: u64| {
        let file = fs::File::options().append(true).open(case.claude().join(name)).unwrap();
        let time = SystemTime::now() - Duration::from_secs(days * 86_400);
        file.set_modified(time).unwrap();
    };
    fs::remove_file(
        case.claude()
            .join("projects/-home-x-site")
            .join("dddd4444-0000-4000-8000-000000000004.jsonl"),
    )
    .unwrap();
    insta::assert_snapshot!(case.run("archive expiring"), @"
    exit 1
    --- stderr
    note: Nothing found
    ");
    age(&format!("projects/-home-x-app/{FIRST}.jsonl"), 40);
    let site = "projects/-home-x-site/cccc3333-0000-4000-8000-000000000003.jsonl";
    case.write(site, "{}\n{}\n");
    age(site, 25);
    let all = case.json::<Expiring>("archive expiring");
    let told: Vec<(&str, bool)> = all.iter().map(|one| (&one.session[..4], one.kept)).collect();
    assert_eq!(told, [("aaaa", true), ("cccc", false)]);
    let shown = case.run("archive expiring --days 2");
    assert!(shown.contains("aaaa1111  at its next start  yes "), "{shown}");
    assert!(shown.contains("note: 1 of 1 session in the store\n"), "{shown}");
    case.write("settings.json", "{\"cleanupPeriodDays\":90}\n");
    assert!(case.run("archive expiring").starts_with("exit 1\n"));
    assert_eq!(case.json::<Expiring>("archive expiring --days 60").len(), 1);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Found {
    r#type: String,
    session: String,
    title: Option<String>,
    project: Option<String>,
    time: Option<String>,
    gone: bool,
    files: Vec<File>,
    commits: Vec<Commit>,
    pull_requests: Vec<Pr>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    edits: usize,
    lines_added: u64,
    lines_removed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Commit {
    hash: String,
    branch: Option<String>,
    subject: Option<String>,
    time: Option<String>,
    entry: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Pr {
    number: Option<u64>,
    repository: Option<String>,
    url: String,
    time: Option<String>,
    entry: u32,
}

#[test]
fn who_changed_a_file() {
    let case = case();
    insta::assert_snapshot!(case.run("find --file src/main.rs"), @"
    exit 0
    --- stdout
    SESSION   WHEN              WHAT          PROJECT      TITLE
    ffff6666  2026-01-07 10:00  1 edit +1 -1  /home/x/app  Commit it
    aaaa1111  2026-01-05 10:00  1 edit +2 -1  /home/x/app  Add a command line flag
    ");
    delete_first(&case);
    let all = case.json::<Found>("find --file main.rs");
    let told: Vec<(&str, bool)> = all.iter().map(|one| (&one.session[..4], one.gone)).collect();
    assert_eq!(told, [("ffff", false), ("aaaa", true)]);
    let file = &all[1].files[0];
    assert_eq!((&*file.path, file.edits), ("/home/x/app/src/main.rs", 1));
    assert_eq!((file.lines_added, file.lines_removed), (2, 1));
    assert!(case.run("find --file ain.rs").starts_with("exit 1\n"));
}

#[test]
fn who_made_a_commit_and_a_pull_request() {
    let case = case();
    // What git printed was shorter than what was asked for, and longer.
    for hash in ["2E06", "2e06a57", "2e06a57000000000000000000000000000000000"] {
        let [found] = &case.json::<Found>(&format!("find --commit {hash}"))[..] else { panic!() };
        assert_eq!(found.commits[0].subject.as_deref(), Some("Add it"));
    }
    let [found] = &case.json::<Found>("find --pr #12")[..] else { panic!() };
    let link = &found.pull_requests[0];
    assert_eq!((&*link.url, link.entry), ("https://github.com/x/app/pull/12", 8));
    let shown = case.run("find --pr 12");
    assert!(shown.contains("x/app#12  /home/x/app  "), "{shown}");
    assert!(case.run("find --pr 13").starts_with("exit 1\n"));
    assert!(case.run("find --commit xyz1").starts_with("exit 2\n"));
    assert!(case.run("find").starts_with("exit 2\n"));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
pub struct Related {
    pub r#type: String,
    pub session: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub ended: Option<String>,
    pub score: f64,
    pub shared: Vec<String>,
    pub words: Vec<String>,
}

#[test]
fn who_changed_the_same_files() {
    let case = case();
    insta::assert_snapshot!(case.run("related aaaa"), @"
    exit 0
    --- stdout
    ffff6666   53 %  Commit it  /home/x/app, 2026-01-07 10:00
              /home/x/app/src/main.rs
    ");
    let [related] = &case.json::<Related>("related ffff")[..] else { panic!() };
    assert_eq!(related.session, FIRST);
    assert_eq!(related.shared, ["/home/x/app/src/main.rs"]);
    assert!(related.score > 0.1 && related.score < 0.9);
    insta::assert_snapshot!(case.run("related cccc"), @"
    exit 1
    --- stderr
    note: The session changed no files, and no other has its words
    note: Nothing found
    ");
}

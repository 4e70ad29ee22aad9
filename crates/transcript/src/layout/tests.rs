use std::ffi::OsStr;
use std::io;

use super::*;
use proptest::prelude::*;

const SID: &str = "0340f328-33c2-42fb-b9fa-ae58a9d8a799";

/// The kind in a few words: its name, then its parts without the project.
fn told(rel: &str) -> String {
    let kind = classify(Path::new(&rel.replace("SID", SID)));
    tell(&kind)
}

fn tell(kind: &FileKind) -> String {
    let more = match kind {
        FileKind::Agent { agent, workflow, .. } | FileKind::AgentMeta { agent, workflow, .. } => {
            format!("{agent} {workflow:?} {:?}", kind.internal())
        }
        FileKind::Journal { run, .. } | FileKind::Workflow { run, .. } => run.to_string(),
        FileKind::WorkflowScript { name, .. } | FileKind::ToolResult { name, .. } => {
            name.to_string()
        }
        FileKind::SetAside { reason, time, .. } => format!("{reason:?} {}", time.0),
        FileKind::PasteCache { hash } => hash.to_string(),
        FileKind::Todos { agent, .. } | FileKind::Plan { agent, .. } => {
            agent.as_ref().map_or("-".into(), ToString::to_string)
        }
        FileKind::Task { number, .. } => number.to_string(),
        FileKind::FileHistory { hash, version, .. } => format!("{hash} {version}"),
        FileKind::Registry { pid } => pid.to_string(),
        FileKind::Team { team } => team.to_string(),
        FileKind::Job { job } => job.to_string(),
        _ => String::new(),
    };
    let session = kind.session().map_or("", SessionId::as_str).replace(SID, "SID");
    [kind.name(), &session, &more].join(" ").trim_end().replace("  ", " ")
}

#[test]
fn every_place_of_the_layout() {
    let cases = [
        ("projects/-a/SID.jsonl", "session SID"),
        ("projects/-a/sess-1.jsonl", "session sess-1"),
        ("projects/-a/agent-a7b0bd37.jsonl", "agent a7b0bd37 None None"),
        (
            "projects/-a/SID/subagents/agent-ab1e6e141221a29ab.jsonl",
            "agent SID ab1e6e141221a29ab None None",
        ),
        (
            "projects/-a/SID/subagents/agent-acompact-12ab.jsonl",
            "agent SID acompact-12ab None Some(Compact)",
        ),
        (
            "projects/-a/SID/subagents/agent-aprompt_suggestion-12ab.jsonl",
            "agent SID aprompt_suggestion-12ab None Some(PromptSuggestion)",
        ),
        (
            "projects/-a/SID/subagents/agent-aside_question-12ab.jsonl",
            "agent SID aside_question-12ab None Some(SideQuestion)",
        ),
        ("projects/-a/SID/subagents/agent-a1.meta.json", "agent-meta SID a1 None None"),
        ("projects/-a/SID/subagents/workflows/wf_1/journal.jsonl", "journal SID wf_1"),
        (
            "projects/-a/SID/subagents/workflows/wf_1/agent-a1.jsonl",
            "agent SID a1 Some(\"wf_1\") None",
        ),
        (
            "projects/-a/SID/subagents/workflows/wf_1/agent-a1.meta.json",
            "agent-meta SID a1 Some(\"wf_1\") None",
        ),
        ("projects/-a/SID/workflows/wf_1.json", "workflow SID wf_1"),
        ("projects/-a/SID/workflows/scripts/review-wf_1.js", "workflow-script SID review-wf_1"),
        ("projects/-a/SID/tool-results/b9excv8zh.txt", "tool-result SID b9excv8zh.txt"),
        ("projects/-a/SID/tool-results/pdf-1/page-01.jpg", "tool-result SID pdf-1/page-01.jpg"),
        ("projects/-a/sess-1/tool-results/x.txt", "tool-result sess-1 x.txt"),
        ("projects/-a/SID/remote-agents/x.json", "session-extra SID"),
        ("projects/-a/SID/custom-title.json", "session-extra SID"),
        ("projects/-a/SID/.precompact.json", "session-extra SID"),
        ("projects/-a/SID.jsonl.orphaned-1769000000000", "set-aside SID Orphaned 1769000000000"),
        (
            "projects/-a/SID.jsonl.superseded-1769000000000",
            "set-aside SID Superseded 1769000000000",
        ),
        (
            "projects/-a/SID.jsonl.superseded-1769000000000.jsonl",
            "set-aside SID Superseded 1769000000000",
        ),
        (
            "projects/-a/SID.superseded-1769000000000.jsonl",
            "set-aside SID Superseded 1769000000000",
        ),
        ("projects/-a/sessions-index.json", "sessions-index"),
        ("projects/-a/memory/MEMORY.md", "memory"),
        ("projects/-a/.session-aliases", "project-extra"),
        ("projects/-a/bridge-pointer.json", "project-extra"),
        ("projects/-a/._SID.jsonl", "project-extra"),
        ("history.jsonl", "history"),
        ("paste-cache/e3b0c44298fc1c14.txt", "paste-cache e3b0c44298fc1c14"),
        ("todos/SID-agent-SID.json", "todos SID -"),
        ("todos/SID-agent-a7b0bd37.json", "todos SID a7b0bd37"),
        ("tasks/SID/12.json", "task SID 12"),
        ("tasks/SID/.lock", "task-extra SID"),
        ("tasks/SID/.highwatermark", "task-extra SID"),
        ("plans/dazzling-popping-wren.md", "plan -"),
        ("plans/dazzling-popping-wren-agent-a7b0bd37.md", "plan a7b0bd37"),
        ("debug/SID.txt", "debug SID"),
        ("debug/latest", "other"),
        ("session-env/SID/hook.sh", "session-env SID"),
        ("file-history/SID/d358f484ed29fb31@v2", "file-history SID d358f484ed29fb31 2"),
        ("stats-cache.json", "stats-cache"),
        ("sessions/4711.json", "registry 4711"),
        ("sessions/4711.0123abcd.key", "secret"),
        (".credentials.json", "secret"),
        ("shell-snapshots/snapshot-zsh-1769000000000-x1y2z3.sh", "shell-snapshot"),
        ("uploads/SID/0123abcd-a.png", "upload SID"),
        ("image-cache/SID/1.png", "image-cache"),
        ("teams/mine/config.json", "team mine"),
        ("jobs/f37a090c/timeline.jsonl", "job f37a090c"),
        ("jobs/f37a090c/state.json", "job f37a090c"),
        ("jobs/f37a090c/tmp/x", "client-state"),
        ("jobs/pins.json", "client-state"),
        ("settings.json", "settings"),
        ("statsig/x", "other"),
        ("projects/stray.jsonl", "other"),
        ("../projects/-a/SID.jsonl", "other"),
        ("", "other"),
    ];
    for (rel, want) in cases {
        assert_eq!(told(rel), want, "{rel}");
    }
}

#[test]
fn a_lone_file_is_known_by_its_name_and_neighbours() {
    let root = tempfile::tempdir().expect("temp dir");
    let lone = |rel: &str| {
        let path = write(root.path(), rel);
        let kind = classify_lone(&path);
        format!("{} @{}", tell(&kind), kind.project_slug().unwrap_or("none"))
    };
    assert_eq!(lone("copy/talk.jsonl"), "session talk @copy");
    assert_eq!(lone("copy/agent-a1.jsonl"), "agent a1 None None @copy");
    assert_eq!(lone("x/projects/-a/s.jsonl"), "session s @-a");
    assert_eq!(lone("y/-a/s/subagents/agent-a1.jsonl"), "agent s a1 None None @-a");
    assert_eq!(lone("y/-a/s/subagents/workflows/r/journal.jsonl"), "journal s r @-a");
    assert_eq!(lone("run/journal.jsonl"), "session journal @run");
    write(root.path(), "run/agent-a1.jsonl");
    assert_eq!(lone("run/journal.jsonl"), "journal run @run");
    assert_eq!(lone("h/history.jsonl"), "history @none");
    write(root.path(), &format!("h/{SID}.jsonl"));
    assert_eq!(lone("h/history.jsonl"), "session history @h");
    assert_eq!(lone("z/.credentials.json"), "secret @none");
    assert_eq!(lone("z/todos/s-agent-s.json"), "todos s - @none");
    assert_eq!(lone("z/readme.txt"), "other @none");
}

fn write(root: &Path, rel: &str) -> PathBuf {
    let path = root.join(rel);
    fs::create_dir_all(path.parent().expect("has one")).expect("mkdir");
    fs::write(&path, "{}\n").expect("write");
    path
}

fn rels(walk: &Walk) -> Vec<String> {
    walk.files.iter().map(|found| found.rel.to_string_lossy().into_owned()).collect()
}

fn home() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temp dir");
    for rel in [
        "projects/-b/s1.jsonl",
        "projects/-a/s1.jsonl",
        "projects/-a/s1/subagents/agent-a1.jsonl",
        "projects/-a/s1.jsonl.orphaned-12",
        "projects/-a/s10.jsonl",
        "history.jsonl",
        "plugins/big/x.json",
        "todos/s1-agent-s1.json",
    ] {
        write(root.path(), rel);
    }
    root
}

const PROJECTS: [&str; 5] = [
    "projects/-a/s1.jsonl",
    "projects/-a/s1.jsonl.orphaned-12",
    "projects/-a/s1/subagents/agent-a1.jsonl",
    "projects/-a/s10.jsonl",
    "projects/-b/s1.jsonl",
];

#[test]
fn a_walk_is_sorted_and_leaves_unknown_folders() {
    let root = home();
    let all = walk(root.path());
    let want = [&["history.jsonl"][..], &PROJECTS, &["todos/s1-agent-s1.json"]].concat();
    assert_eq!(rels(&all), want);
    assert_eq!(all.not_entered, [root.path().join("plugins")]);
    assert!(all.problems.is_empty());
    let first = &all.files[0];
    assert_eq!((first.size, first.modified.is_some()), (3, true));
    assert_eq!(first.inode.is_some(), cfg!(unix));
}

#[test]
fn any_folder_of_it_may_be_the_start() {
    let root = home();
    let at = |rel: &str| root.path().join(rel);
    assert_eq!(rels(&walk_projects(root.path())), PROJECTS);
    assert_eq!(rels(&walk(&at("projects"))), PROJECTS);
    assert_eq!(rels(&walk(&at("projects/-a"))), PROJECTS[..4]);
    assert_eq!(rels(&walk(&at("projects/-a/s1"))), PROJECTS[2..3]);
    let lone = walk(&at("projects/-b/s1.jsonl"));
    assert_eq!(lone.files[0].kind.project_slug(), Some("-b"));
    fs::rename(at("projects"), at("kept")).expect("rename");
    assert_eq!(rels(&walk(&at("kept"))), PROJECTS);
    let gone = walk(&at("gone"));
    assert_eq!((gone.files.len(), &gone.problems[0].path), (0, &at("gone")));
}

#[test]
fn one_session_is_found_without_the_others() {
    let root = home();
    let id = SessionId::new("s1");
    let want = [&PROJECTS[..3], &PROJECTS[4..]].concat();
    assert_eq!(rels(&session_files(root.path(), &id)), want);
    assert_eq!(rels(&session_files(&root.path().join("projects/-b"), &id)), PROJECTS[4..]);
    for none in ["", "../-a/s1", "s"] {
        let walk = session_files(root.path(), &SessionId::new(none));
        assert_eq!(rels(&walk), [""; 0], "{none}");
    }
}

#[test]
fn a_folder_named_like_a_transcript_is_a_problem() {
    let root = home();
    fs::create_dir(root.path().join("projects/-a/odd.jsonl")).expect("mkdir");
    let walk = walk_projects(root.path());
    assert_eq!(rels(&walk), PROJECTS);
    assert_eq!(walk.problems[0].error.kind(), io::ErrorKind::IsADirectory);
}

#[cfg(unix)]
#[test]
fn links_are_followed_once() {
    use std::os::unix::fs::symlink;
    let root = home();
    let outside = tempfile::tempdir().expect("temp dir");
    write(outside.path(), "s9.jsonl");
    let at = |rel: &str| root.path().join(rel);
    symlink(outside.path(), at("projects/-away")).expect("link");
    symlink(outside.path(), at("projects/-away-again")).expect("link");
    symlink(at("projects/-b"), at("projects/-0-same")).expect("link");
    symlink(at("projects"), at("projects/-a/loop")).expect("link");
    symlink(at("projects"), at("projects/-a/s1/subagents/deep")).expect("link");
    symlink(at("nowhere"), at("projects/-a/broken.jsonl")).expect("link");
    fs::create_dir(at("debug")).expect("mkdir");
    symlink(at("nowhere"), at("debug/latest")).expect("link");
    let walk = walk(root.path());
    let below: Vec<_> = rels(&walk).into_iter().filter(|rel| rel.starts_with("projects")).collect();
    let mut want = PROJECTS.to_vec();
    want.insert(4, "projects/-away/s9.jsonl");
    assert_eq!(below, want);
    let problems: Vec<_> = walk.problems.iter().map(|p| p.path.clone()).collect();
    assert_eq!(problems, [at("projects/-a/broken.jsonl"), at("projects/-a/s1/subagents/deep")]);
    let one = session_files(root.path(), &SessionId::new("s9"));
    assert_eq!(rels(&one), ["projects/-away/s9.jsonl"]);
}

/// The real files beside the project, where they are.
fn real() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real");
    let given = std::env::var_os("RECOUNT_REAL").map(PathBuf::from);
    given.or(Some(beside)).filter(|path| path.is_dir())
}

#[test]
fn the_real_files_are_all_known() {
    let Some(root) = real() else { return };
    let walk = walk_projects(&root);
    assert!(walk.problems.is_empty(), "{:?}", walk.problems);
    let count = |name: &str| walk.files.iter().filter(|f| f.kind.name() == name).count();
    assert_eq!(count("session") + count("agent"), 154);
    assert_eq!(count("agent-meta"), 6);
    assert_eq!(walk.files.len(), 160);
    for found in walk.files.iter().filter(|f| matches!(f.kind, FileKind::AgentMeta { .. })) {
        let bytes = fs::read(&found.path).expect("readable");
        let (meta, odd) = crate::side::agent_meta::parse(&bytes);
        assert!(odd.is_empty() && meta.extra.is_empty() && meta.agent_type.is_some());
    }
}

proptest! {
    #[test]
    fn classifying_never_panics(rel in "(projects|todos|plans|file-history|\\PC{0,9})(/[-@.a-z0-9]{0,20}|/\\PC{0,9}){0,6}") {
        let _ = classify(Path::new(&rel)).name();
        let _ = known_place(&rel.split('/').collect::<Vec<_>>());
    }

    #[cfg(unix)]
    #[test]
    fn classifying_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        use std::os::unix::ffi::OsStrExt;
        let _ = classify(Path::new(OsStr::from_bytes(&bytes)));
    }
}

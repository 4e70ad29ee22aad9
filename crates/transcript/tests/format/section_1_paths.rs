//! Section 1: where things are.

use std::path::Path;

use transcript::layout;
use transcript::path::{project_slug, slug_matches};

use super::shape::*;

/// 1.2: the first `cwd` is on line 2 or 3 more often than on line 1.
#[test]
fn the_first_cwd_names_the_project_wherever_it_stands() {
    let s = session(&[
        r#"{"type":"summary","summary":"x","leafUuid":"gone"}"#.into(),
        r#"{"type":"permission-mode","permissionMode":"default","sessionId":"s"}"#.into(),
        user("u1", "-", "go").replace("/w", "/w/my_app"),
        user("u2", "u1", "on").replace("/w", "/w/my_app/src"),
    ]);
    assert_eq!(s.cwd(), Some("/w/my_app"));
    assert_eq!(project_slug("/w/my_app"), "-w-my-app");
}

#[test]
fn a_slug_can_not_be_decoded() {
    for cwd in ["/w/my_app", "/w/my-app", "/w/my.app", "/w/my/app"] {
        assert_eq!(project_slug(cwd), "-w-my-app");
        assert!(slug_matches("-w-my-app", cwd), "{cwd}");
    }
}

/// 1.2: `CLAUDE_CODE_PROJECT_DIR_NAME` replaces the name altogether.
#[test]
fn a_project_folder_may_have_any_name() {
    let line = user("u1", "-", "go").replace("\"s\"", "\"s1\"");
    let (_dir, library) = home(&format!("//- projects/work/s1.jsonl\n{line}\n"));
    assert_eq!(item(&library, "s1").facts.cwd.as_deref(), Some("/w"));
}

/// 1.3: places that nothing is read from still have their kind.
#[test]
fn names_without_content_have_their_place() {
    let sid = "0340f328-33c2-42fb-b9fa-ae58a9d8a799";
    let cases = [
        ("projects/-w/agent-a7b0bd3.jsonl", "agent"),
        ("projects/-w/SID/subagents/agent-ascout-b1e6e141221a29ab.jsonl", "agent"),
        ("projects/-w/SID/mcp-tasks/t.json", "session-extra"),
        ("projects/-w/SID/.ccr-tip.json", "session-extra"),
        ("projects/-w/SID/sent-prefix.json", "session-extra"),
        ("projects/-w/SID/screen.cast", "session-extra"),
        ("projects/-w/SID/tool-results/toolu_01Ab.txt", "tool-result"),
        ("projects/-w/SID/tool-results/tooluse_01Ab.txt", "tool-result"),
        ("projects/-w/tiny_memory", "project-extra"),
        ("projects/-w/bagel", "project-extra"),
        ("projects/-w/cloud-snapshots/x", "project-extra"),
        ("plans/dazzling-popping-wren.workshop.md", "plan"),
        ("backups/.claude.json.backup.1769000000000", "other"),
        (".last-cleanup", "other"),
        ("telemetry/x.json", "other"),
        ("__store.db", "other"),
    ];
    for (rel, want) in cases {
        assert_eq!(layout::classify(Path::new(&rel.replace("SID", sid))).name(), want, "{rel}");
    }
}

/// 1.3: "the file is now set aside, never deleted" (2.1.196).
#[test]
fn what_was_set_aside_is_no_session() {
    let line = user("u1", "-", "go").replace("\"s\"", "\"s1\"");
    let old = line.replace("u1", "u0");
    let (_dir, library) = home(&format!(
        "//- projects/-w/s1.jsonl\n{line}\n//- projects/-w/s1.jsonl.superseded-1769000000000\n{old}\n//- projects/-w/s2.jsonl.orphaned-1769000000000\n{old}\n"
    ));
    assert_eq!((library.cards.len(), library.sessions.len()), (1, 1));
    assert_eq!(item(&library, "s1").facts.entries, 1);
}

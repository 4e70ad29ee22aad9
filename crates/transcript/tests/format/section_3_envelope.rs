//! Section 3: the envelope of chain entries.

use transcript::entry::{Entry, Parent};
use transcript::json::Str;
use transcript::time::Time;

use super::shape::*;

const FULL: &str = r#"{"parentUuid":"11111111-1111-4111-8111-111111111111","logicalParentUuid":"22222222-2222-4222-8222-222222222222","isSidechain":true,"userType":"external","cwd":"/w","sessionId":"s","session_id":"root","version":"2.1.207","gitBranch":"main","slug":"dazzling-popping-wren","entrypoint":"cli","sessionKind":"bg","agentId":"ab1e6e141221a29ab","teamName":"t","agentName":"scout","isMeta":true,"promptId":"33333333-3333-4333-8333-333333333333","forkedFrom":{"sessionId":"o","messageUuid":"m"},"type":"user","message":{"role":"user","content":"x"},"uuid":"44444444-4444-4444-8444-444444444444","timestamp":"2026-05-01T10:00:00.000Z"}"#;

#[test]
fn every_member_is_read_or_known() {
    let entry = Entry::of(FULL.as_bytes(), 0);
    let text = |value: Option<Str<'_>>| value.map(|v| v.text().into_owned());
    assert_eq!(text(entry.uuid).as_deref(), Some("44444444-4444-4444-8444-444444444444"));
    assert_eq!(entry.parent, Parent::Id(Str::new(b"11111111-1111-4111-8111-111111111111")));
    assert_eq!(text(entry.logical_parent).as_deref(), Some("22222222-2222-4222-8222-222222222222"));
    assert_eq!(
        (text(entry.session).as_deref(), text(entry.lineage).as_deref()),
        (Some("s"), Some("root"))
    );
    assert_eq!(
        (text(entry.cwd).as_deref(), text(entry.version).as_deref()),
        (Some("/w"), Some("2.1.207"))
    );
    assert_eq!(
        (text(entry.git_branch).as_deref(), text(entry.agent).as_deref()),
        (Some("main"), Some("ab1e6e141221a29ab"))
    );
    assert!(entry.is_sidechain && entry.is_meta && entry.is_team);
    assert_eq!(entry.time, Time::parse(b"2026-05-01T10:00:00.000Z"));
    all_known(&entry);
}

#[test]
fn a_root_is_null_and_not_absent() {
    let entry = |line: &str| Entry::of(line.as_bytes(), 0).parent == Parent::Null;
    assert!(entry(r#"{"parentUuid":null,"type":"user"}"#));
    assert!(!entry(r#"{"type":"user"}"#));
}

/// Times go back in 15,418 places.
#[test]
fn the_span_is_from_the_earliest_to_the_latest_time() {
    let at = |line: String, time: &str| line.replace("10:00:00", time);
    let s = session(&[
        at(user("u1", "-", "a"), "10:00:05"),
        at(answer("a1", "u1", "m1"), "10:00:09"),
        at(user("u2", "a1", "b"), "10:00:01"),
    ]);
    assert_eq!(s.first_time(), Time::parse(b"2026-05-01T10:00:01.000Z"));
    assert_eq!(s.last_time(), Time::parse(b"2026-05-01T10:00:09.000Z"));
}

#[test]
fn a_file_can_span_versions_and_the_last_branch_counts() {
    let with = |line: String, version: &str, branch: &str| {
        line.replace("2.1.144", version).replace("\"main\"", &format!("\"{branch}\""))
    };
    let lines = [
        with(user("u1", "-", "a"), "2.0.76", "main"),
        with(user("u2", "u1", "b"), "2.1.2", "feature"),
        with(user("u3", "u2", "c"), "2.1.2", ""),
        with(user("u4", "u3", "d"), "2.1.2", "HEAD"),
    ];
    let s = session(&lines[..3]);
    assert_eq!(s.versions().collect::<Vec<_>>(), ["2.0.76", "2.1.2"]);
    assert_eq!(s.git_branch(), Some("feature"));
    assert_eq!(session(&lines).git_branch(), Some("HEAD"));
}

#[test]
fn slug_is_the_plan_and_not_a_title() {
    let with = |uuid: &str, parent: &str, extra: &str| {
        chain(
            uuid,
            parent,
            &format!(r#""type":"user","message":{{"role":"user","content":"fix it"}},{extra}"#),
        )
    };
    let s = session(&[
        with("u1", "-", r#""slug":"dazzling-popping-wren""#),
        with("u2", "u1", r#""slug":"quiet-humming-owl""#),
    ]);
    assert_eq!(s.plan_slug(), Some("quiet-humming-owl"));
    assert_eq!(s.title().expect("a title").0.as_ref(), "fix it");
}

#[test]
fn the_entrypoint_says_who_wrote() {
    for name in ["cli", "claude-desktop", "claude-vscode", "sdk-cli"] {
        let rest = format!(
            r#""type":"user","message":{{"role":"user","content":"x"}},"entrypoint":"{name}""#
        );
        assert_eq!(session(&[chain("u1", "-", &rest)]).entrypoint(), Some(name));
    }
}

/// `isSidechain` is true in agent files, where it is the talk itself.
#[test]
fn a_subagents_file_is_a_talk_of_sidechains() {
    let side = |line: String| {
        line.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a7b0bd37\"")
    };
    let s = session(&[side(user("u1", "-", "look")), side(answer("a1", "u1", "m1"))]);
    assert_eq!((states(&s).as_str(), s.agent(), s.turns().len()), ("AA", Some("a7b0bd37"), 1));
}

//! Section 2: the file as bytes.

use transcript::diagnostic::DiagnosticKind;
use transcript::entry::{Entry, Kind};
use transcript::session::{Builder, Options, Session};

use super::shape::*;

fn read(file: &[u8]) -> Session {
    let mut builder = Builder::new();
    builder.read(file).expect("memory reads");
    builder.finish(&Options { stem: Some("s"), copies: None })
}

fn odd(session: &Session) -> Vec<(&'static str, u64)> {
    session.diagnostic_counts().iter().map(|(kind, count)| (kind.name(), *count)).collect()
}

#[test]
fn a_record_may_be_followed_by_kilobytes_of_nul() {
    let nul = "\0".repeat(9 << 10);
    let file = format!("{}{nul}\n{nul}\n{}\n{nul}", user("u1", "-", "a"), user("u2", "u1", "b"));
    let s = read(file.as_bytes());
    assert_eq!((s.nodes().len(), s.turns().len()), (2, 2));
    assert_eq!(odd(&s)[0], ("nul", 2));
}

/// 2.0.76 to 2.1.17: a restore had left no newline and Claude Code appended.
#[test]
fn two_records_on_one_line_are_two() {
    let second = r#"{"type":"summary","summary":"x","leafUuid":"u1"}"#;
    let s = read(format!("{}{second}\n", user("u1", "-", "a")).as_bytes());
    assert_eq!((roles(&s), odd(&s)), (vec!["prompt", "bookkeeping"], vec![("glued", 1)]));
}

/// Windows, 2.1.39 to 2.1.49: a shorter record over a longer one; the old tail stays.
#[test]
fn the_tail_of_an_overwritten_record_is_kept_and_its_children_are_bridged() {
    let lines = [user("u1", "-", "a"), ".344Z\"}".into(), answer("a2", "lost", "m2")];
    let s = session(&lines);
    assert_eq!((roles(&s), states(&s).as_str()), (vec!["prompt", "damaged", "answer"], "AAA"));
    assert_eq!((s.parent(2), s.nodes()[2].is_orphan()), (Some(0), true));
    let at = &s.diagnostics()[0];
    assert_eq!((at.kind, at.offset), (DiagnosticKind::Damaged, lines[0].len() as u64 + 1));
}

#[test]
fn reading_goes_on_after_a_cut_line() {
    let cut = &answer("a1", "u1", "m1")[..150];
    let s = session(&[user("u1", "-", "a"), cut.into(), user("u2", "u1", "b")]);
    assert_eq!((s.turns().len(), odd(&s)), (2, vec![("damaged", 1)]));
}

#[test]
fn half_a_character_does_not_lose_the_entry() {
    let s = session(&[user("u1", "-", r"cut \ud83d off")]);
    assert_eq!(s.title().expect("a title").0.as_ref(), "cut \u{fffd} off");
}

#[test]
fn the_last_record_counts_without_a_newline() {
    let s = read(user("u1", "-", "a").as_bytes());
    assert_eq!((s.turns().len(), odd(&s)), (1, vec![]));
}

/// 12.7 MB seen: not cut down, not refused.
#[test]
fn a_line_of_megabytes_is_read_whole() {
    let text = "x".repeat(13 << 20);
    let s = session(&[user("u1", "-", &text), user("u2", "u1", "b")]);
    assert_eq!((s.turns().len(), odd(&s)), (2, vec![]));
    assert!(s.nodes()[0].length as usize > text.len());
}

/// 59 to 68 % of an 8 GB file were the same lines again.
#[test]
fn the_same_line_again_counts_once() {
    let (one, two) = (user("u1", "-", "a"), answer("a1", "u1", "m1"));
    let s = session(&[one.clone(), two.clone(), two, one]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("AARR", 1));
}

#[test]
fn type_may_stand_first_or_late() {
    let first =
        r#"{"type":"user","parentUuid":null,"uuid":"u","message":{"role":"user","content":"x"}}"#;
    let late = r#"{"parentUuid":null,"message":{"type":"message","role":"assistant","content":[{"type":"text","text":"x"}]},"uuid":"u","type":"assistant"}"#;
    assert_eq!(Entry::of(first.as_bytes(), 0).kind, Kind::User);
    assert_eq!(Entry::of(late.as_bytes(), 0).kind, Kind::Assistant);
}

//! Sessions from lines as Claude Code writes them. Each case names the claim it holds.

use super::*;
use crate::json::Str;
use proptest::prelude::*;

/// A chain entry: parent, uuid, and everything after the envelope.
fn chain(uuid: &str, parent: &str, rest: &str) -> String {
    let parent = if parent == "-" { "null".into() } else { format!("\"{parent}\"") };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/w\",\"sessionId\":\"s\",\"version\":\"2.1.144\",\"gitBranch\":\"main\",{rest},\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\"}}\n"
    )
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    let rest =
        format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}");
    chain(uuid, parent, &rest)
}

fn answer(uuid: &str, parent: &str, message: &str) -> String {
    let rest = format!(
        "\"message\":{{\"model\":\"claude-opus-4-5\",\"id\":\"{message}\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"ok\"}}],\"stop_reason\":\"end_turn\"}},\"type\":\"assistant\""
    );
    chain(uuid, parent, &rest)
}

fn call(uuid: &str, parent: &str, message: &str, id: &str) -> String {
    let rest = format!(
        "\"message\":{{\"model\":\"claude-opus-4-5\",\"id\":\"{message}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Bash\",\"input\":{{\"command\":\"ls\"}}}}],\"stop_reason\":\"tool_use\"}},\"type\":\"assistant\""
    );
    chain(uuid, parent, &rest)
}

fn result(uuid: &str, parent: &str, id: &str, is_error: bool) -> String {
    let rest = format!(
        "\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{id}\",\"type\":\"tool_result\",\"content\":\"x\",\"is_error\":{is_error}}}]}}"
    );
    chain(uuid, parent, &rest)
}

fn boundary(uuid: &str, logical: &str, metadata: &str) -> String {
    let rest = format!(
        "\"logicalParentUuid\":\"{logical}\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"level\":\"info\",\"compactMetadata\":{{\"trigger\":\"auto\",\"preTokens\":156579{metadata}}}"
    );
    chain(uuid, "-", &rest)
}

fn summary(uuid: &str, parent: &str) -> String {
    let rest = "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"This session is being continued from a previous conversation that ran out of context.\"},\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true";
    chain(uuid, parent, rest)
}

fn session(lines: &[String]) -> Session {
    let mut builder = Builder::new();
    builder.read(lines.concat().as_bytes()).expect("memory reads");
    builder.finish(&Options { stem: Some("s"), copies: None })
}

/// One letter per entry: Active, Compacted, cleared (c), abandoned (x), Repeated, Foreign, aside (s).
fn states(session: &Session) -> String {
    let letter = |n: usize| match session.state(n) {
        State::Active => 'A',
        State::Compacted => 'C',
        State::Cleared => 'c',
        State::Abandoned => 'x',
        State::Repeated => 'R',
        State::Foreign => 'F',
        State::Aside => 's',
    };
    (0..session.nodes().len()).map(letter).collect()
}

fn kinds(session: &Session) -> Vec<&'static str> {
    session.forks().iter().map(|f| f.kind.name()).collect()
}

#[test]
fn parallel_calls_are_no_branches() {
    // FORMAT 9.2: one assistant entry per block, each result hangs on its own call.
    let s = session(&[
        user("u1", "-", "go"),
        call("a1", "u1", "m1", "t1"),
        call("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", false),
        result("r2", "a2", "t2", true),
        answer("a3", "r2", "m2"),
    ]);
    assert_eq!((states(&s).as_str(), kinds(&s)), ("AAAAAA", vec!["parallel"]));
    assert_eq!((s.calls().len(), s.errors().len(), s.turns().len()), (2, 1, 1));
    // The next message may hang on the first result instead.
    let s = session(&[
        user("u1", "-", "go"),
        call("a1", "u1", "m1", "t1"),
        call("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", false),
        result("r2", "a2", "t2", false),
        answer("a3", "r1", "m2"),
    ]);
    assert_eq!((states(&s).as_str(), kinds(&s)), ("AAAAAA", vec!["parallel"]));
}

#[test]
fn a_response_goes_on_below_a_result_while_it_streams() {
    let s = session(&[
        user("u1", "-", "go"),
        call("a1", "u1", "m1", "t1"),
        call("a2", "a1", "m1", "t2"),
        result("r1", "a1", "t1", false),
        call("a3", "r1", "m1", "t3"),
        result("r3", "a3", "t3", false),
        result("r2", "a2", "t2", false),
        answer("a4", "r2", "m2"),
    ]);
    assert_eq!((states(&s).as_str(), kinds(&s)), ("AAAAAAAA", vec!["parallel"]));
}

#[test]
fn a_rewind_leaves_a_branch() {
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "a1", "two"),
        answer("a2", "u2", "m2"),
        user("u3", "a1", "two, better"),
        answer("a3", "u3", "m3"),
    ]);
    assert_eq!((states(&s).as_str(), kinds(&s)), ("AAxxAA", vec!["rewind"]));
    assert_eq!((s.turns().len(), s.branches()[0].prompts, s.branches()[0].entries), (2, 1, 2));
}

#[test]
fn position_and_not_time_chooses_the_leaf() {
    // FORMAT 10: the seeds say newest timestamp; timestamps go back.
    let late = user("u2", "a1", "first").replace("2026-01-01", "2026-06-01");
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        late,
        user("u3", "a1", "second"),
    ]);
    assert_eq!(s.leaf(), Some(3));
}

#[test]
fn the_last_prompt_names_the_leaf_until_something_is_said() {
    let lines = [
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "a1", "two"),
        user("u3", "a1", "three"),
        "{\"type\":\"last-prompt\",\"lastPrompt\":\"two\",\"leafUuid\":\"u2\",\"sessionId\":\"s\"}\n".into(),
    ];
    assert_eq!(session(&lines).leaf(), Some(2));
    let on = [&lines[..], &[answer("a2", "u2", "m2")]].concat();
    assert_eq!(session(&on).leaf(), Some(5));
    let elsewhere = [&lines[..], &[answer("a2", "u3", "m2")]].concat();
    assert_eq!(session(&elsewhere).leaf(), Some(5));
}

#[test]
fn retries_doubles_and_replays_are_not_rewinds() {
    let retry =
        session(&[user("u1", "-", "go"), answer("a1", "u1", "m1"), answer("a2", "u1", "m2")]);
    assert_eq!((states(&retry).as_str(), kinds(&retry)), ("AxA", vec!["retry"]));
    let doubled = session(&[
        user("u1", "-", "go"),
        call("a1", "u1", "m1", "t1"),
        result("r1", "a1", "t1", false),
        result("r2", "a1", "t1", false),
        answer("a2", "r2", "m2"),
    ]);
    assert_eq!((states(&doubled).as_str(), kinds(&doubled)), ("AARAA", vec!["doubled"]));
    // FORMAT 9.7: the same uuid again; the first copy is the complete one.
    let again = session(&[user("u1", "-", "go"), answer("a1", "u1", "m1"), user("u1", "-", "go")]);
    assert_eq!((states(&again).as_str(), again.turns().len()), ("AAR", 1));
}

#[test]
fn two_lines_of_talk_that_overlap_stay_unknown() {
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "a1", "here"),
        user("u3", "a1", "there"),
        answer("a2", "u2", "m2"),
        answer("a3", "u3", "m3"),
    ]);
    assert_eq!(kinds(&s), ["unknown"]);
}

#[test]
fn compactions_make_segments() {
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        boundary("b1", "a1", ",\"postTokens\":9000"),
        summary("c1", "b1"),
        user("u2", "c1", "two"),
        boundary("b2", "gone", ""),
        summary("c2", "b2"),
        user("u3", "c2", "three"),
    ]);
    assert_eq!(states(&s), "CCCCCAAA");
    assert_eq!(s.segments().len(), 3);
    assert_eq!(s.segments().iter().map(|g| g.turns).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(s.compactions()[0].pre_tokens, Some(156_579));
    assert_eq!(s.compactions()[0].post_tokens, Some(9000));
    assert_eq!(s.turns().len(), 3);
}

#[test]
fn the_marker_starts_a_segment_with_or_without_a_flag() {
    let old = user("u2", "-", prompt_marker()).replace("2.1.144", "1.0.43");
    let s = session(&[user("u1", "-", "one"), old, user("u3", "u2", "go on")]);
    assert_eq!((s.segments().len(), s.turns().len()), (2, 2));
    let recent = user("u2", "u1", prompt_marker());
    let s = session(&[user("u1", "-", "one"), recent]);
    assert_eq!((s.segments().len(), s.turns().len()), (2, 1));
    let quoted = user("u2", "u1", "What is 'This session is being continued'?");
    assert_eq!(session(&[user("u1", "-", "one"), quoted]).segments().len(), 1);
}

fn prompt_marker() -> &'static str {
    "This session is being continued from a previous conversation that ran out of context. x"
}

#[test]
fn a_partial_compaction_keeps_messages_in_the_context() {
    // FORMAT 9.3: relink preservedMessages.uuids[i] to [i-1], the first to anchorUuid.
    let kept = ",\"preservedMessages\":{\"anchorUuid\":\"c1\",\"uuids\":[\"u2\",\"a2\"]}";
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "a1", "two"),
        answer("a2", "u2", "m2"),
        boundary("b1", "a2", kept),
        summary("c1", "b1"),
        user("u3", "a2", "three"),
    ]);
    assert_eq!(states(&s), "CCAAAAA");
    assert_eq!(s.segment_of(6), Some(1));
    assert!(s.forks().is_empty());
}

/// The order in which the model reads the entries.
fn context(session: &Session) -> Vec<usize> {
    session.context()
}

#[test]
fn what_is_said_after_kept_messages_hangs_on_the_last_of_them() {
    // 2.1.326, "Summarize up to here": the next prompt hangs on the summary in the file.
    let kept = ",\"preservedMessages\":{\"anchorUuid\":\"c1\",\"uuids\":[\"u2\",\"a2\"]}";
    let lines = |kept: &str| {
        session(&[
            user("u1", "-", "one"),
            answer("a1", "u1", "m1"),
            user("u2", "a1", "two"),
            answer("a2", "u2", "m2"),
            boundary("b1", "a1", kept),
            summary("c1", "b1"),
            user("u3", "c1", "three"),
            answer("a3", "u3", "m3"),
        ])
    };
    let s = lines(kept);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("CCAAAAAA", 3));
    assert_eq!(context(&s), [4, 5, 2, 3, 6, 7]);
    assert!(s.branches().is_empty());
    // A message that is missing: nothing is linked anew.
    let s = lines(&kept.replace("\"u2\"", "\"gone\",\"u2\""));
    assert_eq!((states(&s).as_str(), s.turns().len()), ("CCCCAAAA", 3));
    assert_eq!(context(&s), [4, 5, 6, 7]);
}

#[test]
fn kept_messages_are_the_end_while_nothing_was_said_since() {
    let kept = ",\"preservedMessages\":{\"anchorUuid\":\"c1\",\"uuids\":[\"a1\"]}";
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        boundary("b1", "a1", kept),
        summary("c1", "b1"),
    ]);
    assert_eq!((states(&s).as_str(), context(&s)), ("CAAA", vec![2, 3, 1]));
}

#[test]
fn a_summary_of_the_end_comes_after_what_was_kept() {
    // 2.1.326, "Summarize from here": the anchor is the boundary, an older summary is kept, too.
    let first = ",\"preservedMessages\":{\"anchorUuid\":\"c1\",\"uuids\":[\"a1\"]}";
    let second = ",\"preservedMessages\":{\"anchorUuid\":\"b2\",\"uuids\":[\"b1\",\"c1\",\"a1\",\"u2\",\"a2\"]}";
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        boundary("b1", "a1", first),
        summary("c1", "b1"),
        user("u2", "c1", "two"),
        answer("a2", "u2", "m2"),
        user("u3", "a2", "three"),
        answer("a3", "u3", "m3"),
        boundary("b2", "a2", second),
        summary("c2", "b2"),
        user("u4", "c2", "four"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("CAAAAACCAAA", 4));
    assert_eq!(context(&s), [8, 2, 3, 1, 4, 5, 9, 10]);
    assert!(s.branches().is_empty());
}

#[test]
fn a_logical_parent_after_the_boundary_is_not_a_circle() {
    let s = session(&[
        user("u1", "-", "one"),
        boundary("b1", "a2", ""),
        summary("c1", "b1"),
        answer("a2", "c1", "m2"),
    ]);
    assert_eq!(states(&s), "CAAA");
    assert!(s.nodes().iter().all(|n| !n.is_cycle()));
}

fn rewound_to_start() -> String {
    book(
        r#"{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":"s"}"#,
    )
}

#[test]
fn a_new_start_in_the_same_file_abandons_nothing() {
    let hook = |uuid: &str| {
        let data = r#""type":"progress","data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:clear","command":"callback"}"#;
        chain(uuid, "-", data)
    };
    let s = session(&[
        hook("h1"),
        user("u1", "h1", "plan"),
        answer("a1", "u1", "m1"),
        hook("h2"),
        user("u2", "h2", "Implement the following plan"),
        answer("a2", "u2", "m2"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("cccAAA", 2));
    assert!(s.branches().is_empty() && s.forks().is_empty());
    assert_eq!(s.segments().len(), 1);
    // The person rewinds to the new start: the first one stays what it was.
    let s = session(&[
        user("u1", "-", "plan"),
        answer("a1", "u1", "m1"),
        user("u2", "-", "Implement"),
        answer("a2", "u2", "m2"),
        user("u3", "-", "Implement half of it"),
        rewound_to_start(),
        answer("a3", "u3", "m3"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("ccxxAAA", 2));
    assert_eq!(s.branches().iter().map(|b| b.kind).collect::<Vec<_>>(), [ForkKind::Rewind]);
}

#[test]
fn a_rewind_to_a_start_that_hooks_share_is_a_rewind() {
    let hook = r#""type":"progress","data":{"type":"hook_progress","hookEvent":"SessionStart"}"#;
    let s = session(&[
        chain("h1", "-", hook),
        user("u1", "h1", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "h1", "other"),
        answer("a2", "u2", "m2"),
    ]);
    assert_eq!((states(&s).as_str(), s.branches().len()), ("AxxAA", 1));
}

#[test]
fn a_file_without_parents_is_read_in_its_order() {
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "-", "m1"),
        user("u2", "-", "two"),
        answer("a2", "-", "m2"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("AAAA", 2));
    assert!(s.branches().is_empty());
}

#[test]
fn an_answer_below_a_replayed_prompt_is_not_hidden() {
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "a1", "two"),
        answer("a2", "u2", "m2"),
        user("u3", "a1", "two"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("AAAAR", 2));
    assert_eq!(s.ending(), Ending::Answered);
    // The copy went on elsewhere: the answer stands once, on a branch of its own.
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "a1", "two"),
        answer("a2", "u2", "m2"),
        user("u3", "a1", "two"),
        answer("a3", "u3", "m3"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("AARxAA", 2));
}

#[test]
fn one_call_id_is_one_call() {
    // A response written again with other uuids; the talk goes on behind the copy.
    let s = session(&[
        user("u1", "-", "commit"),
        call("a1", "u1", "m", "t1"),
        result("r1", "a1", "t1", false),
        call("a2", "u1", "m", "t1"),
        result("r2", "a2", "t1", true),
        user("u2", "r2", "keep going"),
    ]);
    assert_eq!(states(&s), "ARRAAA");
    let calls: Vec<_> = s.calls().iter().map(|c| (c.node(), c.result(), c.is_error)).collect();
    assert_eq!(calls, [(3, Some(4), true)]);
    // An input that grew while it streamed: the longest copy is the call.
    let longer = call("a2", "a1", "m", "t1").replace("\"ls\"", "\"ls -la /\"");
    let s = session(&[
        user("u1", "-", "look"),
        call("a1", "u1", "m", "t1"),
        longer,
        result("r1", "a2", "t1", false),
    ]);
    assert_eq!(states(&s), "ARAA");
    assert_eq!(
        s.calls().iter().map(|c| (c.node(), c.result())).collect::<Vec<_>>(),
        [(2, Some(3))]
    );
}

fn queue(operation: &str, text: &str) -> String {
    let content = match text {
        "" => String::new(),
        text => format!(r#","content":"{text}""#),
    };
    book(&format!(
        r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s"{content}}}"#
    ))
}

fn roles(session: &Session) -> Vec<&'static str> {
    session.nodes().iter().map(|node| node.role.name()).collect()
}

#[test]
fn a_queued_prompt_is_a_prompt_wherever_its_text_is() {
    // Before 2.1.92 the text is in the queue's line only.
    let s = session(&[
        user("u1", "-", "fix"),
        queue("enqueue", "and draw it"),
        queue("enqueue", "never mind"),
        queue("remove", ""),
        queue("popAll", ""),
        answer("a1", "u1", "m1"),
    ]);
    let want = ["prompt", "queued", "undelivered", "bookkeeping", "bookkeeping", "answer"];
    assert_eq!((roles(&s), s.turns().len()), (want.to_vec(), 2));
    // The same text as a prompt of its own, or as an attachment: that is the prompt.
    let attachment = r#""type":"attachment","attachment":{"type":"queued_command","prompt":"and draw it","commandMode":"prompt"}"#;
    let s = session(&[
        user("u1", "-", "fix"),
        queue("enqueue", "and draw it"),
        queue("absorb", ""),
        chain("q1", "u1", attachment),
        answer("a1", "q1", "m1"),
        queue("enqueue", "then test"),
        queue("dequeue", ""),
        user("u2", "a1", "then test"),
        queue("enqueue", "deleted"),
        queue("remove", "deleted"),
    ]);
    assert_eq!(s.turns().len(), 3);
    let told: Vec<_> = roles(&s).into_iter().filter(|r| *r != "bookkeeping").collect();
    assert_eq!(told, ["prompt", "queued", "answer", "prompt", "undelivered"]);
    // A notification is not a person.
    for text in ["<task-notification>x", "<agent-notification>x", r#"{\"task_id\":\"b1\"}"#] {
        let s = session(&[user("u1", "-", "fix"), queue("enqueue", text), queue("remove", "")]);
        assert_eq!((s.turns().len(), roles(&s)[1]), (1, "bookkeeping"), "{text}");
    }
}

/// Quadratic work over these lines would take minutes.
#[test]
fn many_queued_prompts_rewinds_and_replays_are_read_in_one_pass() {
    const MANY: usize = 20_000;
    let mut lines = vec![user("u0", "-", "again")];
    for n in 1..MANY {
        lines.push(user(&format!("u{n}"), "u0", "again"));
        lines.push(queue("enqueue", &format!("prompt {n}")));
        lines.push(queue("remove", "a text that nobody queued"));
        lines.push(rewound_to_start());
    }
    let s = session(&lines);
    let queued = roles(&s).into_iter().filter(|role| *role == "queued").count();
    assert_eq!(queued, MANY - 1);
}

#[test]
fn local_commands_and_synthetic_answers_make_no_turns() {
    let synthetic = answer("a3", "c2", "m3").replace("claude-opus-4-5", "<synthetic>");
    let s = session(&[
        user("u1", "-", "one"),
        user("c1", "u1", "<command-name>/exit</command-name>"),
        answer("a1", "c1", "m1"),
        user("c2", "a1", "<command-name>/review</command-name>"),
        synthetic,
        user("h1", "a3", "Operation stopped by hook: busy"),
        user("e1", "h1", "<ci-monitor-event>failed</ci-monitor-event>"),
    ]);
    assert_eq!(s.turns().len(), 1);
    assert_eq!(roles(&s)[3..], ["command", "event", "injected", "notification"]);
}

#[test]
fn circles_gaps_and_late_parents_lose_nothing() {
    let s = session(&[
        user("u1", "u1", "self"),
        answer("a1", "u1", "m1"),
        user("u2", "missing", "two"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("AAA", 2));
    let s = session(&[user("u1", "a2", "one"), answer("a1", "u1", "m1"), answer("a2", "a1", "m2")]);
    assert_eq!(states(&s), "AAA");
    let s = session(&[answer("a1", "u1", "m1"), user("u1", "-", "late"), user("u2", "a1", "two")]);
    assert_eq!((states(&s).as_str(), s.turns().len()), ("AAA", 2));
}

#[test]
fn entries_of_another_session_are_foreign_unless_they_hang_together() {
    let other = |line: String| line.replace("\"sessionId\":\"s\"", "\"sessionId\":\"other\"");
    let s = session(&[
        user("u1", "-", "mine"),
        other(user("x1", "gone", "theirs")),
        answer("a1", "u1", "m1"),
    ]);
    assert_eq!(states(&s), "AFA");
    let late = |line: String| line.replace("/w", "/elsewhere").replace("2026-01-01", "2027-01-01");
    let strayed = session(&[late(other(user("x1", "gone", "theirs"))), user("u1", "-", "mine")]);
    assert_eq!(
        (strayed.cwd(), strayed.last_time()),
        (Some("/w"), Time::parse(b"2026-01-01T00:00:00.000Z"))
    );
    let resumed = session(&[
        other(user("u1", "-", "old")),
        other(answer("a1", "u1", "m1")),
        user("u2", "a1", "new"),
    ]);
    assert_eq!((states(&resumed).as_str(), resumed.turns().len()), ("AAA", 2));
    assert_eq!(resumed.former_ids()[0].0.as_str(), "other");
}

#[test]
fn what_local_commands_print_is_told_to_the_model() {
    let system = |id: &str, parent: &str, content: &str| {
        let more =
            format!("\"type\":\"system\",\"subtype\":\"local_command\",\"content\":\"{content}\"");
        chain(id, parent, &more)
    };
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        system("s1", "a1", "<command-name>/rename</command-name>"),
        system("s2", "s1", "<local-command-stdout>Session renamed</local-command-stdout>"),
        system("s3", "s2", "Something else"),
    ]);
    assert_eq!(roles(&s), ["prompt", "answer", "command", "injected", "event"]);
    assert_eq!(s.turns().len(), 1);
}

#[test]
fn local_commands_do_not_branch() {
    let caveat = chain(
        "c",
        "-",
        "\"type\":\"user\",\"isMeta\":true,\"message\":{\"role\":\"user\",\"content\":\"Caveat: The messages below were generated by the user while running local commands.\"}",
    );
    let s = session(&[
        caveat,
        user("u1", "c", "<command-name>/clear</command-name>"),
        user("u2", "u1", "do it"),
        answer("a1", "u2", "m1"),
        user("u3", "c", "<bash-input>ls</bash-input>"),
        user("u4", "u3", "<bash-stdout>x</bash-stdout>"),
    ]);
    assert_eq!((states(&s).as_str(), s.turns().len(), s.branches().len()), ("AAAAAA", 1, 0));
}

#[test]
fn stream_json_follows_its_own_order() {
    // FORMAT 11: `session_id`, no parentUuid; subagents by parent_tool_use_id.
    let lines = [
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"claude-opus-4-5","tools":["Bash"],"uuid":"i"}"#,
        r#"{"type":"user","message":{"role":"user","content":"go"},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}"#,
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},"session_id":"s","parent_tool_use_id":null,"uuid":"a"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"no","is_error":true}]},"session_id":"s","parent_tool_use_id":null,"uuid":"r"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"total_cost_usd":0.1,"session_id":"s","uuid":"z"}"#,
    ]
    .map(|l| format!("{l}\n"));
    let s = session(&lines);
    assert_eq!((states(&s).as_str(), s.turns().len(), s.errors().len()), ("AAAAA", 1, 1));
}

#[test]
fn seed_002_has_neither_uuid_nor_message() {
    let lines = [
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/path/to/project","model":"claude-opus-4-5-20251101","tools":["Task"]}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_xxxxx","name":"Bash","input":{"command":"ls /nonexistent","description":"List directory"}}]}}"#,
        r#"{"type":"user","content":[{"type":"tool_result","tool_use_id":"toolu_xxxxx","content":"ls: cannot access '/nonexistent': No such file or directory","is_error":true}]}"#,
    ]
    .map(|l| format!("{l}\n"));
    let s = session(&lines);
    let errors = s.errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].1.map(|c| (s.tool(c).to_owned(), c.key())),
        Some(("Bash".into(), Key::of_str(Str::new(b"toolu_xxxxx"))))
    );
}

#[test]
fn an_unfinished_line_is_kept_for_later() {
    let (one, two) = (user("u1", "-", "one"), user("u2", "u1", "two"));
    let whole = format!("{one}{two}");
    let cut = one.len() + 20;
    let mut builder = Builder::new();
    builder.read(&whole.as_bytes()[..cut]).expect("reads");
    assert_eq!((builder.nodes().len(), builder.consumed()), (1, one.len() as u64));
    builder.read(&whole.as_bytes()[one.len()..]).expect("reads");
    assert_eq!((builder.nodes().len(), builder.consumed()), (2, whole.len() as u64));
}

#[test]
fn titles_follow_the_official_order() {
    // FORMAT 9.4: customTitle, aiTitle, lastPrompt, summary, first prompt.
    let line = |kind: &str, key: &str, value: &str| {
        format!("{{\"type\":\"{kind}\",\"{key}\":\"{value}\",\"sessionId\":\"s\"}}\n")
    };
    let mut lines = vec![user("u1", "-", "first"), answer("a1", "u1", "m1")];
    let title = |lines: &[String]| session(lines).title().map(|(t, s)| (t.to_string(), s.name()));
    assert_eq!(title(&lines), Some(("first".into(), "first-prompt")));
    lines.push("{\"type\":\"summary\",\"summary\":\"Theirs\",\"leafUuid\":\"elsewhere\"}\n".into());
    assert_eq!(title(&lines), Some(("first".into(), "first-prompt")));
    lines.push("{\"type\":\"summary\",\"summary\":\"Ours\",\"leafUuid\":\"a1\"}\n".into());
    assert_eq!(title(&lines), Some(("Ours".into(), "summary")));
    lines.push(line("last-prompt", "lastPrompt", "last"));
    assert_eq!(title(&lines), Some(("last".into(), "last-prompt")));
    lines.push(line("ai-title", "aiTitle", "By the model"));
    assert_eq!(title(&lines), Some(("By the model".into(), "ai")));
    lines.push(line("custom-title", "customTitle", "By hand"));
    assert_eq!(title(&lines), Some(("By hand".into(), "custom")));
}

/// Everything about a session that a reader can see.
fn all(session: &Session) -> String {
    format!(
        "{:?}",
        (
            session.nodes(),
            states(session),
            session.turns(),
            session.segments(),
            session.forks(),
            session.branches(),
            session.leaf(),
            session.title(),
            session.lines(),
            session.calls().iter().map(|c| (c.node(), c.result(), c.is_error)).collect::<Vec<_>>(),
        )
    )
}

fn any_line() -> impl Strategy<Value = String> {
    let id = || prop_oneof![Just("a"), Just("b"), Just("c"), Just("d"), Just("e"), Just("-")];
    prop_oneof![
        (id(), id()).prop_map(|(u, p)| user(u, p, "x")),
        (id(), id(), id()).prop_map(|(u, p, m)| answer(u, p, m)),
        (id(), id(), id()).prop_map(|(u, p, t)| call(u, p, "m", t)),
        (id(), id(), id()).prop_map(|(u, p, t)| result(u, p, t, true)),
        (id(), id()).prop_map(|(u, p)| boundary(
            u,
            p,
            ",\"preservedMessages\":{\"anchorUuid\":\"a\",\"uuids\":[\"b\",\"c\"]}"
        )),
        (id(), id()).prop_map(|(u, p)| summary(u, p)),
        id().prop_map(|l| format!(
            "{{\"type\":\"last-prompt\",\"leafUuid\":\"{l}\",\"sessionId\":\"s\"}}\n"
        )),
        Just("{\"type\":\"tag\"}{\"type\":\"tag\"}\n".into()),
        Just(".344Z\"}\n".into()),
        Just("{\"type\":\"tag\"}}".into()),
        Just("{\"type\":\"tag\"}".into()),
        Just("\n".into()),
        Just("{\"type\":\"user\",\"uuid\":\"b\",\"mess\n".into()),
    ]
}

#[test]
fn what_is_odd_in_a_line_is_counted_the_same_wherever_it_is_cut() {
    let one = |uuid: &str, text: &str| {
        format!(
            r#"{{"uuid":"{uuid}","sessionId":"s","type":"user","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let mut file = one("a", "first").into_bytes();
    file.extend(b"\0\0");
    file.extend(one("b", "a \u{1} byte").into_bytes());
    file.extend(one("c", "last").into_bytes());
    file.extend(b"\xff\n");
    let counts = |cut: usize| {
        let mut builder = Builder::new();
        builder.read(&file[..cut]).expect("reads");
        let from = builder.consumed() as usize;
        builder.read(&file[from..]).expect("reads");
        let mut counts = builder.finish(&Options::default()).diagnostic_counts().to_vec();
        counts.sort_unstable();
        counts
    };
    let whole = counts(0);
    assert!(whole.contains(&(DiagnosticKind::ControlByte, 1)), "{whole:?}");
    assert!(whole.contains(&(DiagnosticKind::InvalidUtf8, 1)), "{whole:?}");
    assert!(whole.contains(&(DiagnosticKind::Nul, 1)), "{whole:?}");
    for cut in 1..file.len() {
        assert_eq!(counts(cut), whole, "cut at {cut}");
    }
}

proptest! {
    #[test]
    fn any_slicing_gives_the_same_session(lines in prop::collection::vec(any_line(), 0..24), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let file = lines.concat();
        let whole = session(&lines);
        let mut cuts: Vec<usize> = cuts.iter().map(|c| c.index(file.len() + 1)).collect();
        cuts.push(file.len());
        cuts.sort_unstable();
        let mut builder = Builder::new();
        for end in cuts {
            let from = builder.consumed() as usize;
            builder.read(&file.as_bytes()[from..end.max(from)]).expect("reads");
            let save = |builder: &Builder| {
                let mut out = Vec::new();
                builder.save(&mut out).expect("memory takes everything");
                out
            };
            let saved = save(&builder);
            builder = Builder::load(&saved).expect("just saved");
            prop_assert_eq!(save(&builder), saved);
        }
        let sliced = builder.finish(&Options { stem: Some("s"), copies: None });
        prop_assert_eq!(all(&sliced), all(&whole));
    }

    #[test]
    fn appending_never_renumbers(lines in prop::collection::vec(any_line(), 1..24), keep in any::<prop::sample::Index>()) {
        let part = session(&lines[..keep.index(lines.len())]);
        let whole = session(&lines);
        for (before, after) in part.nodes().iter().zip(whole.nodes()) {
            prop_assert_eq!((before.number, before.offset, before.length), (after.number, after.offset, after.length));
        }
        for (before, after) in part.compactions().iter().zip(whole.compactions()) {
            prop_assert_eq!(before.node(), after.node());
        }
    }

    #[test]
    fn every_entry_has_a_state_and_the_way_is_one_line(lines in prop::collection::vec(any_line(), 0..24)) {
        let s = session(&lines);
        prop_assert_eq!(states(&s).len(), s.nodes().len());
        for turn in s.turns() {
            prop_assert!(s.state(turn.prompt).is_on_way());
        }
        for branch in s.branches() {
            prop_assert_eq!(s.state(branch.head), State::Abandoned);
        }
    }
}

fn book(json: &str) -> String {
    format!("{json}\n")
}

#[test]
fn marks_of_copies_and_moves_are_read() {
    // FORMAT 4.6: continued-in `continuedInSessionId`, relocated `relocatedCwd`,
    // fork-context-ref `agentId, parentSessionId, parentLastUuid, contextLength`.
    let s = session(&[
        book(
            r#"{"type":"fork-context-ref","agentId":"a1","parentSessionId":"parent","parentLastUuid":"x","contextLength":3}"#,
        ),
        user("u1", "-", "go"),
        book(r#"{"type":"relocated","relocatedCwd":"/moved","sessionId":"s"}"#),
        book(
            r#"{"type":"continued-in","continuedInSessionId":"next","timestamp":"2026-09-01T00:00:00.000Z","sessionId":"s"}"#,
        ),
    ]);
    assert_eq!((s.fork_context(), s.agent()), (Some("parent"), Some("a1")));
    assert_eq!((s.relocated(), s.continued_in()), (Some("/moved"), Some("next")));
    assert_eq!(s.project(), Some("/moved"));
    // FORMAT 3: forkedFrom `{sessionId,messageUuid}`, sessionKind "bg", session_id = lineage root.
    let marked = chain(
        "u1",
        "-",
        r#""type":"user","message":{"role":"user","content":"x"},"sessionKind":"bg","session_id":"root","forkedFrom":{"sessionId":"old","messageUuid":"m"}"#,
    );
    let s = session(&[marked]);
    assert_eq!(
        (s.is_background(), s.lineage(), s.forked_from()),
        (true, Some("root"), Some("old"))
    );
}

#[test]
fn a_queued_prompt_may_stand_in_an_attachment_only() {
    // FORMAT 4.5: queued_command `prompt: string|block[], commandMode: prompt|task-notification`.
    let queued = |uuid: &str, parent: &str, inside: &str| {
        chain(
            uuid,
            parent,
            &format!(r#""type":"attachment","attachment":{{"type":"queued_command",{inside}}}"#),
        )
    };
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        queued("q1", "a1", r#""prompt":"and this","commandMode":"prompt""#),
        queued(
            "q2",
            "q1",
            r#""prompt":[{"type":"text","text":"and that"}],"commandMode":"prompt""#,
        ),
        queued(
            "q3",
            "q2",
            r#""prompt":"<task-notification>x</task-notification>","commandMode":"task-notification""#,
        ),
        answer("a2", "q3", "m2"),
    ]);
    let roles: Vec<_> = s.nodes().iter().map(|n| n.role.name()).collect();
    assert_eq!(roles, ["prompt", "answer", "queued", "queued", "notification", "answer"]);
    assert_eq!(s.turns().len(), 3);
}

#[test]
fn a_preserved_segment_is_kept_from_head_to_tail() {
    // FORMAT 4.3: preservedSegment `{headUuid,anchorUuid,tailUuid}`.
    let kept = r#","preservedSegment":{"headUuid":"u2","anchorUuid":"c1","tailUuid":"a2"}"#;
    let s = session(&[
        user("u1", "-", "one"),
        answer("a1", "u1", "m1"),
        user("u2", "a1", "two"),
        answer("a2", "u2", "m2"),
        boundary("b1", "a2", kept),
        summary("c1", "b1"),
        user("u3", "a2", "three"),
    ]);
    assert_eq!(states(&s), "CCAAAAA");
}

#[test]
fn a_background_agent_is_named_by_its_notification() {
    // FORMAT 9.8: `<task-notification><task-id>`; real ones name the call, too.
    let text = r"<task-notification>\n<task-id>a9e0</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status>\n</task-notification>";
    let start = call("a1", "u1", "m1", "t1").replace(r#""name":"Bash""#, r#""name":"Agent""#);
    let s = session(&[user("u1", "-", "go"), start, user("n1", "a1", text)]);
    let links: Vec<_> = s.agent_links().collect();
    assert_eq!((links[0].0, links[0].1.kind), ("a9e0", LinkKind::Notification));
    assert_eq!(links[0].1.call, Some(Key::of(b"t1")));
    assert_eq!(s.turns().len(), 1);
}

#[test]
fn a_background_command_is_not_a_subagent() {
    let text = r"<task-notification>\n<task-id>boxr</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status>\n</task-notification>";
    let s = session(&[user("u1", "-", "go"), call("a1", "u1", "m1", "t1"), user("n1", "a1", text)]);
    assert_eq!(s.agent_links().count(), 0);
}

#[test]
fn team_meta_and_sidechain_ends_are_not_the_leaf() {
    // FORMAT 9.2: the leaf is chosen among those not sidechain, team or meta.
    let mark = |line: String, member: &str| {
        line.replacen("{\"parentUuid\"", &format!("{{{member},\"parentUuid\""), 1)
    };
    for member in ["\"teamName\":\"t\"", "\"isMeta\":true"] {
        let s = session(&[
            user("u1", "-", "one"),
            user("u2", "u1", "two"),
            mark(user("u3", "u1", "x"), member),
        ]);
        assert_eq!(s.leaf(), Some(1), "{member}");
    }
    let side = user("s1", "-", "task").replace("\"isSidechain\":false", "\"isSidechain\":true");
    let s = session(&[user("u1", "-", "one"), side]);
    assert_eq!((s.leaf(), states(&s).as_str(), s.inline_agents().len()), (Some(0), "As", 1));
}

#[test]
fn commits_are_read_from_what_git_printed() {
    // FORMAT 7: a Bash result has neither the command nor an exit code; its text tells.
    let commit = call("a1", "u1", "m1", "t1").replace("\"ls\"", "\"git commit -m x\"");
    let done = result("r1", "a1", "t1", false)
        .replace("\"content\":\"x\"", "\"content\":\"[main 2e06a57] Fix it\"");
    let s = session(&[user("u1", "-", "go"), commit, done]);
    assert_eq!(s.commits().map(|(_, c)| c.hash.as_str()).collect::<Vec<_>>(), ["2e06a57"]);
}

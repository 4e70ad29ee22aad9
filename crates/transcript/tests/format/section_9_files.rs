//! Section 9, many files: resumes, forks, copies, moves, subagents.

use transcript::library::{AgentParent, Library};

use super::shape::*;

/// The same entry in the file of another session.
fn of(session: &str, line: String) -> String {
    line.replace(r#""sessionId":"s""#, &format!(r#""sessionId":"{session}""#))
}

fn standing(library: &Library, id: &str) -> &'static str {
    item(library, id).standing.name()
}

/// 9.4: `summary` lines mostly describe other sessions (until 2.1.22).
#[test]
fn a_summary_names_the_session_that_has_its_leaf() {
    let (own, other) = (of("own", user("u1", "-", "go")), of("other", user("u2", "-", "hey")));
    let (_dir, library) = home(&format!(
        r#"//- projects/-w/own.jsonl
{own}
//- projects/-w/other.jsonl
{{"type":"summary","summary":"About own","leafUuid":"u1"}}
{{"type":"summary","summary":"About nothing","leafUuid":"gone"}}
{other}
"#
    ));
    let title = |id: &str| item(&library, id).title.as_ref().map(|(text, _)| text.to_string());
    assert_eq!(title("own").as_deref(), Some("About own"));
    assert_eq!(title("other").as_deref(), Some("hey"));
}

/// 9.5: 20 files hold no user or assistant entry, 15 of them snapshots only; 9.6: 0 bytes means
/// "not here".
#[test]
fn files_without_talk_are_pointers_stubs_or_empty() {
    let own = of("own", user("u1", "-", "go"));
    let (_dir, library) = home(&format!(
        r#"//- projects/-w/own.jsonl
{own}
//- projects/-w/pointer.jsonl
{{"type":"summary","summary":"x","leafUuid":"u1"}}
//- projects/-w/stub.jsonl
{{"type":"file-history-snapshot","messageId":"m","snapshot":{{"messageId":"m","trackedFileBackups":{{}},"timestamp":"2026-05-01T10:00:00.000Z"}},"isSnapshotUpdate":false}}
//- projects/-w/empty.jsonl
"#
    ));
    assert_eq!(standing(&library, "own"), "whole");
    assert_eq!(standing(&library, "pointer"), "pointer");
    assert_eq!(connections(item(&library, "pointer")), ["points-to own"]);
    assert_eq!((standing(&library, "stub"), standing(&library, "empty")), ("stub", "empty"));
}

/// 9.5: `--fork-session`, `/branch`, Desktop: same uuid and time, `sessionId`, `cwd` and branch
/// re-stamped; no `forkedFrom`.
#[test]
fn a_fork_owns_only_what_is_its_own() {
    let said = [user("u1", "-", "go"), answer("a1", "u1", "m1")];
    let [own, copied] = ["own", "fork"].map(|id| of(id, said.join("\n")));
    let copied = copied.replace("/w", "/elsewhere").replace("\"main\"", "\"other\"");
    let on = of("fork", user("u2", "a1", "on")).replace("2026-05-01", "2026-05-02");
    let (_dir, library) = home(&format!(
        "//- projects/-w/own.jsonl\n{own}\n//- projects/-w/fork.jsonl\n{copied}\n{on}\n"
    ));
    let fork = item(&library, "fork");
    assert_eq!((item(&library, "own").facts.turns, item(&library, "own").copied), (1, 0));
    assert_eq!((fork.facts.turns, fork.copied), (1, 2));
    assert_eq!(connections(fork), ["copied-from own"]);
}

/// 9.5: background copies carry `sessionKind`, the original may end with `continued-in`. Either
/// tells the copy, though its file was there first.
#[test]
fn a_background_copy_is_known_by_its_marks() {
    let talk = user("u1", "-", "go");
    let (copy, own) = (of("bg", talk.clone()), of("own", talk));
    let bg = copy.replace(r#""type":"user""#, r#""type":"user","sessionKind":"bg""#);
    let on = r#"{"type":"continued-in","continuedInSessionId":"bg","timestamp":"2026-05-01T10:00:01.000Z","sessionId":"own"}"#;
    for (copy, last, want) in [(&bg, "", vec![]), (&copy, on, vec!["continued-in bg"])] {
        let (_dir, library) = home(&format!(
            "//- projects/-w/bg.jsonl\n{copy}\n//- projects/-w/own.jsonl\n{own}\n{last}\n"
        ));
        assert_eq!(connections(item(&library, "own")), want);
        assert_eq!(connections(item(&library, "bg")), ["copied-from own"]);
        assert_eq!((standing(&library, "own"), standing(&library, "bg")), ("whole", "copy"));
    }
}

/// 9.5: the SDK's `forkSession` gives new uuids; `session_id` names the lineage's root (2.1.207).
#[test]
fn forks_of_the_sdk_and_lineages_are_named() {
    let sdk = of("sdk", user("n1", "-", "go")).replace(
        r#""type":"user""#,
        r#""type":"user","forkedFrom":{"sessionId":"own","messageUuid":"u1"}"#,
    );
    let late = of("late", user("l1", "-", "go"))
        .replace(r#""type":"user""#, r#""type":"user","session_id":"own""#);
    let own = of("own", user("u1", "-", "go"));
    let (_dir, library) = home(&format!(
        r#"//- projects/-w/own.jsonl
{own}
//- projects/-w/sdk.jsonl
{sdk}
{{"type":"custom-title","customTitle":"go (fork)","sessionId":"sdk","uuid":"t1","timestamp":"2026-05-01T10:00:00.000Z"}}
//- projects/-w/late.jsonl
{late}
"#
    ));
    assert_eq!(connections(item(&library, "sdk")), ["forked-from own"]);
    assert_eq!(item(&library, "sdk").title.as_ref().map(|t| &*t.0), Some("go (fork)"));
    assert_eq!(connections(item(&library, "late")), ["lineage own"]);
}

/// 9.5: in 1.0.x a resume made a new file, with the old entries under their old id.
#[test]
fn an_old_resume_goes_on_from_the_session_it_copied() {
    let old = of("old", user("u1", "-", "go"));
    let on = of("new", user("u2", "u1", "on"));
    let (_dir, library) = home(&format!(
        "//- projects/-w/old.jsonl\n{old}\n//- projects/-w/new.jsonl\n{old}\n{on}\n"
    ));
    let new = item(&library, "new");
    assert!(connections(new).contains(&"continues old".to_owned()));
    assert_eq!((new.facts.turns, new.copied, item(&library, "old").facts.turns), (1, 1, 1));
}

/// 9.6: a move renames the file into another folder, where a stub may stay behind.
#[test]
fn a_moved_session_is_one_session() {
    let line = of("own", user("u1", "-", "go"));
    let (_dir, library) = home(&format!(
        r#"//- projects/-w/own.jsonl
//- projects/-w-tree/own.jsonl
{line}
{{"type":"relocated","relocatedCwd":"/w/tree","sessionId":"own"}}
"#
    ));
    let own = item(&library, "own");
    let path = |file: usize| library.cards[file].found.rel.to_string_lossy().into_owned();
    assert_eq!(own.file.map(path).as_deref(), Some("projects/-w-tree/own.jsonl"));
    assert_eq!((library.sessions.len(), own.also.len(), own.facts.turns), (1, 1, 1));
}

fn side(agent: &str, line: String) -> String {
    let marked = format!(r#""isSidechain":true,"agentId":"{agent}""#);
    of("own", line).replace(r#""isSidechain":false"#, &marked)
}

/// How each subagent of `own` is known: its id, the sign, and the agent above it.
fn agents(library: &Library) -> Vec<String> {
    let above = |parent: &AgentParent| match parent {
        AgentParent::Session => "-".to_owned(),
        AgentParent::Agent(agent) => agent.to_string(),
    };
    let mut all: Vec<_> = item(library, "own")
        .agents
        .iter()
        .map(|a| format!("{} {} {}", a.id, a.link.name(), above(&a.parent)))
        .collect();
    all.sort();
    all
}

/// 9.7, 1.3: compaction and side questions replay the parent's messages.
#[test]
fn internal_agents_own_nothing_of_what_they_replay() {
    let own = of("own", [user("u1", "-", "go"), answer("a1", "u1", "m1")].join("\n"));
    let replay =
        side("acompact-12ab", [user("u1", "-", "go"), answer("a1", "u1", "m1")].join("\n"));
    let (_dir, library) = home(&format!(
        "//- projects/-w/own/subagents/agent-acompact-12ab.jsonl\n{replay}\n//- projects/-w/own.jsonl\n{own}\n"
    ));
    let agent = &item(&library, "own").agents[0];
    assert!(agent.internal.is_some());
    assert_eq!(agent.facts.as_ref().map(|facts| facts.talk), Some(0));
    assert_eq!(item(&library, "own").facts.talk, 2);
}

/// 9.8: by the meta file, by the result, by the words of the task; and deeper by the same signs.
#[test]
fn subagents_are_linked_to_the_calls_that_started_them() {
    let task = |uuid: &str, parent: &str, id: &str, prompt: &str| {
        call(uuid, parent, id, "Agent", &format!(r#"{{"description":"d","prompt":"{prompt}"}}"#))
    };
    let own = of(
        "own",
        [
            user("u1", "-", "go"),
            task("c1", "u1", "t1", "by meta"),
            task("c2", "c1", "t2", "by result"),
            result("r2", "c2", "t2", "x", r#"{"status":"completed","agentId":"a2"}"#),
            task("c3", "r2", "t3", "by words"),
            task("c4", "c3", "t4", "by team"),
        ]
        .join("\n"),
    );
    let nested = [user("n1", "-", "x"), task("n2", "n1", "t5", "deeper")].join("\n");
    let files = [
        ("a1", nested),
        ("a2", user("m1", "-", "y")),
        ("a3", user("o1", "-", "by words")),
        (
            "a4",
            user(
                "p1",
                "-",
                r#"<teammate-message teammate_id=\"team-lead\">by team</teammate-message>"#,
            ),
        ),
        ("a5", user("q1", "-", "deeper")),
        ("a6", user("v1", "-", "nobody asked")),
    ];
    let files: String = files
        .into_iter()
        .map(|(id, lines)| {
            format!("//- projects/-w/own/subagents/agent-{id}.jsonl\n{}\n", side(id, lines))
        })
        .collect();
    let (_dir, library) = home(&format!(
        r#"//- projects/-w/own.jsonl
{own}
{files}//- projects/-w/own/subagents/agent-a1.meta.json
{{"agentType":"Explore","description":"d","toolUseId":"t1","spawnDepth":1}}
"#
    ));
    let want =
        ["a1 meta -", "a2 result -", "a3 prompt -", "a4 prompt -", "a5 prompt a1", "a6 folder -"];
    assert_eq!(agents(&library), want);
    assert_eq!(item(&library, "own").agents[0].agent_type.as_deref(), Some("Explore"));
}

/// 9.8: child to parent also by `parentAgentId`; agents of a workflow by its run.
#[test]
fn the_parent_of_an_agent_may_be_named() {
    let own = of(
        "own",
        [
            call("c1", "-", "t1", "Workflow", r#"{"name":"review"}"#),
            result(
                "r1",
                "c1",
                "t1",
                "x",
                r#"{"status":"async_launched","taskId":"w1","runId":"wf_1"}"#,
            ),
        ]
        .join("\n"),
    );
    let (one, two) = (side("a1", user("n1", "-", "x")), side("a2", user("m1", "-", "y")));
    let (_dir, library) = home(&format!(
        r#"//- projects/-w/own.jsonl
{own}
//- projects/-w/own/subagents/workflows/wf_1/agent-a1.jsonl
{one}
//- projects/-w/own/subagents/agent-a2.jsonl
{two}
//- projects/-w/own/subagents/agent-a2.meta.json
{{"agentType":"Explore","toolUseId":"t9","parentAgentId":"a1","spawnDepth":2}}
"#
    ));
    assert_eq!(agents(&library), ["a1 workflow -", "a2 meta a1"]);
}

/// 1.3: 2.0.28 to 2.0.76 agents lie beside the sessions; their entries name the parent.
#[test]
fn a_flat_agent_belongs_to_the_session_its_entries_name() {
    let own = of("own", user("u1", "-", "go"));
    let agent = side("a7b0bd37", user("n1", "-", "look"));
    let (_dir, library) = home(&format!(
        "//- projects/-w/own.jsonl\n{own}\n//- projects/-w/agent-a7b0bd37.jsonl\n{agent}\n"
    ));
    assert_eq!(agents(&library), ["a7b0bd37 folder -"]);
}

/// 4.6, 9.8: the first line of a forked agent points into the parent.
#[test]
fn a_forked_agent_belongs_to_the_session_it_points_to() {
    let own = of("own", user("u1", "-", "go"));
    let (_dir, library) = home(&format!(
        r#"//- projects/-w/own.jsonl
{own}
//- projects/-w/agent-a1.jsonl
{{"type":"fork-context-ref","agentId":"a1","parentSessionId":"own","parentLastUuid":"u1","contextLength":3}}
"#
    ));
    assert_eq!(agents(&library), ["a1 folder -"]);
}

/// 14: a fork's file begins with the call that started it; the call is its parent's.
#[test]
fn a_fork_does_not_own_the_call_that_started_it() {
    let input = r#"{"description":"Fork","prompt":"go on","subagent_type":"fork"}"#;
    let own = [of("own", user("u1", "-", "go")), of("own", call("a1", "u1", "t1", "Agent", input))];
    let fork = [
        r#"{"type":"fork-context-ref","agentId":"a9","parentSessionId":"own","parentLastUuid":"u1","contextLength":3}"#.to_owned(),
        of("own", side("a9", call("f1", "-", "t1", "Agent", input))),
        of("own", side("a9", result("f2", "f1", "t1", "<fork-boilerplate>", "{}"))),
        of("own", side("a9", call("f3", "f2", "t2", "Bash", r#"{"command":"ls"}"#))),
    ];
    let (_dir, library) = home(&format!(
        "//- projects/-w/own.jsonl\n{}\n//- projects/-w/own/subagents/agent-a9.jsonl\n{}\n//- projects/-w/own/subagents/agent-a9.meta.json\n{{\"agentType\":\"fork\",\"toolUseId\":\"t1\"}}\n",
        own.join("\n"),
        fork.join("\n")
    ));
    assert_eq!(agents(&library), ["a9 meta -"]);
    let item = item(&library, "own");
    let of_agent = item.agents[0].facts.as_ref().map(|facts| facts.calls);
    assert_eq!((item.facts.calls, of_agent), (1, Some(1)));
}

/// 3: what hangs on the host's entries is the host's, whatever id it has; the rest is the guest's.
#[test]
fn a_guest_owns_only_what_hangs_on_nothing_of_the_host() {
    let lines = [
        of("own", user("u1", "-", "host question")),
        of("guest", call("a1", "u1", "t1", "Bash", r#"{"command":"ls"}"#)),
        of("guest", result("r1", "a1", "t1", "x", "{}")),
        of("own", answer("a2", "r1", "m2")),
        of("guest", user("g1", "-", "guest question")),
        of("guest", call("g2", "g1", "t2", "Bash", r#"{"command":"pwd"}"#)),
    ];
    let (_dir, library) = home(&format!("//- projects/-w/own.jsonl\n{}\n", lines.join("\n")));
    let told = |id: &str| {
        let item = item(&library, id);
        (
            item.facts.calls,
            item.facts.turns,
            item.title.as_ref().map(|(title, _)| title.to_string()),
        )
    };
    assert_eq!(told("own"), (1, 1, Some("host question".into())));
    assert_eq!(told("guest"), (1, 1, Some("guest question".into())));
    let strays = library.strays(item(&library, "guest")).expect("reads");
    assert_eq!(strays.iter().map(|(s, _)| s.own_calls().count()).collect::<Vec<_>>(), [1]);
}

/// 9.6: of two files of one session the fuller one is the session.
#[test]
fn a_session_in_two_folders_is_its_fuller_file() {
    let first = [of("s", user("u1", "-", "one")), of("s", answer("a1", "u1", "m1"))].join("\n");
    let more = [of("s", user("u2", "a1", "two")), of("s", answer("a2", "u2", "m2"))].join("\n");
    let (_dir, library) = home(&format!(
        "//- projects/-w/s.jsonl\n{first}\n//- projects/-w--claude-worktrees-y/s.jsonl\n{first}\n{more}\n"
    ));
    let item = item(&library, "s");
    assert_eq!((item.facts.turns, item.also.len(), item.copied), (2, 1, 0));
}

/// 9.4: of two summaries the one of the later leaf is the title.
#[test]
fn the_summary_of_the_last_leaf_is_the_title() {
    let own = [
        of("s", user("u1", "-", "one")),
        of("s", answer("a1", "u1", "m1")),
        of("s", user("u2", "a1", "two")),
        of("s", answer("a2", "u2", "m2")),
    ]
    .join("\n");
    let summary = |text: &str, leaf: &str| {
        format!(r#"{{"type":"summary","summary":"{text}","leafUuid":"{leaf}"}}"#)
    };
    let (early, late) = (summary("early", "a1"), summary("late", "a2"));
    for (b, c) in [(&early, &late), (&late, &early)] {
        let (_dir, library) = home(&format!(
            "//- projects/-w/s.jsonl\n{own}\n//- projects/-w/b.jsonl\n{b}\n//- projects/-w/c.jsonl\n{c}\n"
        ));
        let title = item(&library, "s").title.as_ref().map(|(title, _)| title.to_string());
        assert_eq!(title.as_deref(), Some("late"));
    }
}

/// 3: entries of another session in the file (a bug of early 2026) go back to their own.
#[test]
fn strays_are_given_back() {
    let (own, stray) = (of("own", user("u1", "-", "go")), of("lost", user("u2", "-", "hey")));
    let (_dir, library) = home(&format!("//- projects/-w/own.jsonl\n{own}\n{stray}\n"));
    let lost = item(&library, "lost");
    assert_eq!((item(&library, "own").facts.turns, item(&library, "own").foreign), (1, 1));
    assert_eq!((lost.file, lost.found_in.len(), lost.facts.turns), (None, 1, 1));
}

use super::case::{Case, is_raw};
use anstream::adapter::strip_str;
use serde::Deserialize;
use serde_json::{Value, json};

const ID: &str = "3f2a91c0-0000-4000-8000-000000000001";
const FILE: &str = "projects/-code-app/3f2a91c0-0000-4000-8000-000000000001.jsonl";

/// A transcript that grows entry by entry, each hanging on the one before.
#[derive(Default)]
struct Talk {
    text: String,
    last: Option<String>,
    count: usize,
    minute: usize,
    agent: Option<&'static str>,
}

impl Talk {
    fn push(&mut self, kind: &str, rest: Value) -> &mut Self {
        self.count += 1;
        let uuid = format!("{}u{}", self.agent.unwrap_or(""), self.count);
        let mut entry = json!({
            "parentUuid": self.last, "isSidechain": self.agent.is_some(), "userType": "external",
            "cwd": "/code/app", "sessionId": ID, "version": "2.1.40", "gitBranch": "main",
            "type": kind, "uuid": uuid,
            "timestamp": format!("2026-04-20T{:02}:{:02}:{:02}.000Z", 14 + self.minute / 60, self.minute % 60, self.count % 60),
        });
        if let Some(agent) = self.agent {
            entry["agentId"] = agent.into();
        }
        merge(&mut entry, rest);
        self.last = Some(uuid);
        self.line(&entry)
    }

    fn line(&mut self, entry: &Value) -> &mut Self {
        self.text += &format!("{entry}\n");
        self
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.push("user", json!({"message": {"role": "user", "content": text}}))
    }

    fn says(&mut self, block: Value) -> &mut Self {
        let id = format!("msg_{}", self.count);
        self.push("assistant", json!({"message": {
            "id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-6",
            "content": [block], "stop_reason": null,
            "usage": {"input_tokens": 3, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 2000, "output_tokens": 40},
        }}))
    }

    fn answer(&mut self, text: &str) -> &mut Self {
        self.says(json!({"type": "text", "text": text}))
    }

    fn call(&mut self, id: &str, tool: &str, input: Value) -> &mut Self {
        self.says(json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
    }

    fn result(&mut self, id: &str, text: &str, beside: Value) -> &mut Self {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        self.push(
            "user",
            json!({"message": {"role": "user", "content": [block]}, "toolUseResult": beside}),
        )
    }

    fn failed(&mut self, id: &str, text: &str) -> &mut Self {
        let block =
            json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": true});
        self.push("user", json!({"message": {"role": "user", "content": [block]}, "toolUseResult": format!("Error: {text}")}))
    }

    fn case(&self) -> Case {
        let case = Case::new("");
        case.write(FILE, &self.text);
        case
    }
}

fn merge(into: &mut Value, from: Value) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else { panic!() };
    into.extend(from);
}

fn work() -> Talk {
    let mut talk = Talk::default();
    talk.prompt("Fix the login");
    talk.says(json!({"type": "thinking", "thinking": "", "signature": "abc"}));
    talk.says(json!({"type": "thinking", "thinking": "First look. Then change\nit all.", "signature": "abc"}));
    talk.call("t1", "Read", json!({"file_path": "/code/app/src/login.rs"}));
    let call = talk.last.clone();
    talk.call("t2", "Bash", json!({"command": "cargo test\n# all of it", "description": "Tests"}));
    let second = talk.last.clone();
    // Results of parallel calls hang on their own calls.
    talk.last = call;
    talk.result("t1", "1→fn login() {\n2→}\n", json!({"type": "text", "file": {"filePath": "/code/app/src/login.rs", "content": "fn login() {\n}\n", "numLines": 2, "startLine": 1, "totalLines": 2}}));
    talk.last = second;
    talk.failed("t2", "Exit code 101\nerror: it does not compile\n  --> src/login.rs");
    talk.call(
        "t3",
        "Edit",
        json!({"file_path": "/code/app/src/login.rs", "old_string": "a", "new_string": "b\nc"}),
    );
    talk.result("t3", "The file has been updated", json!({
        "filePath": "/code/app/src/login.rs", "oldString": "a", "newString": "b\nc", "originalFile": null,
        "structuredPatch": [{"oldStart": 9, "oldLines": 3, "newStart": 9, "newLines": 4, "lines": [" fn login() {", "-    a", "+    b", "+    c", " }"]}],
    }));
    talk.call("t4", "Bash", json!({"command": "cargo test"}));
    let lines: Vec<String> = (1..=30).map(|n| format!("test {n} ok")).collect();
    talk.result(
        "t4",
        &lines.join("\n"),
        json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false}),
    );
    talk.answer("Fixed: **all** tests pass.\n\n```rust\nfn login() {}\n```");
    talk.push("system", json!({"subtype": "turn_duration", "durationMs": 1234, "isMeta": false}));
    talk
}

#[test]
fn work_at_level_three() {
    insta::assert_snapshot!(work().case().run("show 3f2a"), @"
    exit 0
    --- stdout
    Fix the login
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 14:00 (12 s) · 1 turn · 4 calls · 1 error
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 1 · 14:00:01
    ▌ Fix the login

      · thought  (its text was not stored)
      · thought  First look.
      r Read  src/login.rs  2 lines · 2.0 s
      $ Bash  cargo test # all of it  ✗ exit 101 · 2.0 s
          error: it does not compile
            --> src/login.rs
      e Edit  src/login.rs  +2 −1 · 1.0 s
           9   fn login() {
          10 -     a
          10 +     b
          11 +     c
          12   }
      $ Bash  cargo test  30 lines · 1.0 s
          test 1 ok
          test 2 ok
          test 3 ok
          … 27 more lines: --entry 10

    Fixed: **all** tests pass.

    ```rust
    fn login() {}
    ```

    hidden here: 1 system event; `--detail 4` and `5` show more
    folded here: 30 lines; `--detail 4` shows more of them, and the numbers for `--entry N`
    ");
}

#[test]
fn fewer_and_more() {
    let case = work().case();
    insta::assert_snapshot!(case.run("show 3f2a --detail prompts"), @"
    exit 0
    --- stdout
    Fix the login
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 14:00 (12 s) · 1 turn · 4 calls · 1 error
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 1 · 14:00:01
    ▌ Fix the login

    hidden here: 2 thoughts, 2 commands, 1 read, 1 edit, 1 answer, 1 system event; `--detail 2` to `5` show more
    ");
    insta::assert_snapshot!(case.run("show 3f2a --detail 2"), @"
    exit 0
    --- stdout
    Fix the login
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 14:00 (12 s) · 1 turn · 4 calls · 1 error
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 1 · 14:00:01
    ▌ Fix the login

    Fixed: **all** tests pass.

    ```rust
    fn login() {}
    ```

    hidden here: 2 thoughts, 2 commands, 1 read, 1 edit, 1 system event; `--detail 3` to `5` show more
    ");
    let all = case.run("show 3f2a --detail everything");
    insta::assert_snapshot!(all.split("#10 ").nth(1).unwrap(), @"
    @4678 14:00:10 call
      $ Bash  cargo test  30 lines · 1.0 s
          command: cargo test
          test 1 ok
          test 2 ok
          test 3 ok
          test 4 ok
          test 5 ok
          test 6 ok
          test 7 ok
          test 8 ok
          test 9 ok
          test 10 ok
          test 11 ok
          test 12 ok
          test 13 ok
          test 14 ok
          test 15 ok
          test 16 ok
          test 17 ok
          test 18 ok
          test 19 ok
          test 20 ok
          … 5 more lines: --entry 10
          test 26 ok
          test 27 ok
          test 28 ok
          test 29 ok
          test 30 ok

    #12 @5980 14:00:12 answer
    Fixed: **all** tests pass.

    ```rust
    fn login() {}
    ```

    #13 @6534 14:00:13 event
      - system/turn_duration  the turn took 1.2 s

    folded here: 5 lines; `--entry N` shows one entry whole
    ");
}

#[test]
fn one_entry_whole() {
    let case = work().case();
    insta::assert_snapshot!(case.run("show 3f2a --entry 7"), @"
    exit 0
    --- stdout
    entry 5 · call · bytes 1,917 to 2,496 of ~/.claude/projects/-code-app/3f2a91c0-0000-4000-8000-000000000001.jsonl
    result 7 · result · bytes 2,998 to 3,488 of ~/.claude/projects/-code-app/3f2a91c0-0000-4000-8000-000000000001.jsonl

      $ Bash  cargo test # all of it  ✗ exit 101 · 2.0 s
          command: cargo test
          # all of it
          description: Tests
          error: it does not compile
            --> src/login.rs
    ");
    assert!(case.run("show 3f2a --entry 10").contains("test 17 ok"));
    let by_byte = case.run("show 3f2a --entry @10");
    assert!(by_byte.contains("entry 1 · prompt · bytes 0 to "), "{by_byte}");
    insta::assert_snapshot!(case.run("show 3f2a --entry 99"), @"
    exit 2
    --- stderr
    error: The session has no entry 99
    hint: `--detail 4` shows numbers and offsets
    ");
}

#[test]
fn thinking_and_the_end() {
    let case = work().case();
    let shown = case.run("show 3f2a --thinking");
    assert!(shown.contains("  · thought\n    First look. Then change\n    it all.\n"), "{shown}");
    insta::assert_snapshot!(case.run("show 3f2a --last 2"), @"
    exit 0
    --- stdout
    Fix the login
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 14:00 (12 s) · 1 turn · 4 calls · 1 error
    3f2a91c0-0000-4000-8000-000000000001

      $ Bash  cargo test  30 lines · 1.0 s
          test 1 ok
          test 2 ok
          test 3 ok
          … 27 more lines: --entry 10

    Fixed: **all** tests pass.

    ```rust
    fn login() {}
    ```

    hidden here: 1 system event; `--detail 4` and `5` show more
    folded here: 27 lines; `--detail 4` shows more of them, and the numbers for `--entry N`
    ");
    assert!(case.run("show 3f2a --last 0").starts_with("exit 1\n"));
}

/// Two turns, then back to the first answer and another second turn.
fn rewound() -> Talk {
    let mut talk = Talk::default();
    talk.prompt("one").answer("1");
    let fork = talk.last.clone();
    talk.prompt("two, badly asked").answer("2?");
    talk.last = fork;
    talk.minute = 75;
    talk.prompt("two, well asked").answer("2").prompt("three").answer("3");
    talk
}

#[test]
fn branches_that_were_left() {
    let case = rewound().case();
    insta::assert_snapshot!(case.run("show 3f2a"), @"
    exit 0
    --- stdout
    one
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 15:15 (1 h 15 m) · 3 turns · 0 calls · 0 errors
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 1 · 14:00:01
    ▌ one

    1

    ── 1 abandoned attempt, 1 prompt: `--branch 1` ─────────────

    ── 1 h 15 m later ──────────────────────────────────────────

    ▌ turn 2 · 15:15:05
    ▌ two, well asked

    2

    ▌ turn 3 · 15:15:07
    ▌ three

    3
    ");
    insta::assert_snapshot!(case.run("show 3f2a --branch 1"), @"
    exit 0
    --- stdout
    one
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 15:15 (1 h 15 m) · 3 turns · 0 calls · 0 errors
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 1 · 14:00:01
    ▌ one

    1

    ▌ prompt · 14:00:03
    ▌ two, badly asked

    2?
    ");
    insta::assert_snapshot!(case.run("show 3f2a --branch 2"), @"
    exit 2
    --- stderr
    error: The session has no branch 2
    hint: The only one is 1
    ");
}

#[test]
fn some_turns() {
    let case = rewound().case();
    insta::assert_snapshot!(case.run("show 3f2a --turn 2 --detail prompts"), @"
    exit 0
    --- stdout
    one
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 15:15 (1 h 15 m) · 3 turns · 0 calls · 0 errors
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 2 · 15:15:05
    ▌ two, well asked

    hidden here: 1 answer; `--detail 2` to `5` show more
    ");
    let turns = |range: &str| {
        let shown = case.run(&format!("show 3f2a --turn {range}"));
        shown
            .lines()
            .filter_map(|l| l.strip_prefix("▌ turn ")?.get(..1)?.parse::<u8>().ok())
            .collect::<Vec<_>>()
    };
    assert_eq!((turns("2-"), turns("-2"), turns("1-9")), (vec![2, 3], vec![1, 2], vec![1, 2, 3]));
    insta::assert_snapshot!(case.run("show 3f2a --turn 4"), @"
    exit 2
    --- stderr
    error: The session has no turn 4
    hint: They go from 1 to 3
    ");
    assert!(case.run("show 3f2a --turn 3-1").contains("turns are `3`"));
}

fn compacted() -> Talk {
    let mut talk = Talk::default();
    talk.prompt("before").answer("old");
    let logical = talk.last.take();
    talk.push("system", json!({"subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": logical, "compactMetadata": {"trigger": "auto", "preTokens": 156612, "postTokens": 11000}}));
    talk.push("user", json!({"isCompactSummary": true, "message": {"role": "user", "content": "This session is being continued from a previous conversation that ran out of context.\nOne\nTwo\nThree\nFour"}}));
    talk.prompt("after").answer("new");
    talk
}

#[test]
fn compactions_and_segments() {
    let case = compacted().case();
    insta::assert_snapshot!(case.run("show 3f2a"), @"
    exit 0
    --- stdout
    before
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 14:00 (5 s) · 2 turns · 0 calls · 0 errors
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 1 · 14:00:01
    ▌ before

    old

    ── compacted · auto · 156.6k → 11k tokens · segment 1 ──────

    summary, 5 lines
      This session is being continued from a previous conversation that ran out of context.
      One
      Two
      … 2 more lines: --entry 4

    ▌ turn 2 · 14:00:05
    ▌ after

    new

    folded here: 2 lines; `--detail 4` shows more of them, and the numbers for `--entry N`
    ");
    let segment = case.run("show 3f2a --segment 0");
    assert!(segment.contains("before") && !segment.contains("▌ after"), "{segment}");
    insta::assert_snapshot!(case.run("show 3f2a --segment 2"), @"
    exit 2
    --- stderr
    error: The session has no segment 2
    hint: They go from 0 to 1
    ");
}

#[test]
fn the_context() {
    insta::assert_snapshot!(compacted().case().run("context 3f2a"), @"
    exit 0
    --- stdout
    3f2a91c0-0000-4000-8000-000000000001
    rebuilt from the transcript
    segment 1 (of 2) · 4 entries · 112 characters
    2,143 tokens as of entry 6: 3 read anew, 2,000 from the cache, 100 put into it, 40 written
    begins with a summary of 104 characters

    #3 @776 14:00:03 boundary
    ── compacted · auto · 156.6k → 11k tokens · segment 1 ──────

    #4 @1176 14:00:04 summary
    summary, 5 lines
      This session is being continued from a previous conversation that ran out of context.
      One
      Two
      Three
      Four

    #5 @1581 14:00:05 prompt
    ▌ turn 2 · 14:00:05
    ▌ after

    #6 @1859 14:00:06 answer
    new
    ");
    let mut lines: Vec<Value> = compacted().case().json("context 3f2a");
    let head = lines.remove(0);
    assert_eq!((&head["type"], &head["made_from"]), (&json!("context"), &json!("transcript")));
    let records: Vec<Record> =
        lines.into_iter().map(|line| serde_json::from_value(line).expect("a record")).collect();
    let roles: Vec<&str> = records.iter().map(|r| &*r.role).collect();
    assert_eq!(roles, ["boundary", "summary", "prompt", "answer"]);
}

#[test]
fn subagents_below_their_calls() {
    let mut talk = Talk::default();
    talk.prompt("Explore");
    talk.call(
        "t1",
        "Agent",
        json!({"description": "find it", "prompt": "Find the config", "subagent_type": "Explore"}),
    );
    talk.result(
        "t1",
        "It is in /etc\nagentId: aaaa1111 (for resuming)",
        json!({"status": "completed", "agentId": "aaaa1111"}),
    );
    talk.call(
        "t2",
        "Agent",
        json!({"description": "lost", "prompt": "Get lost", "subagent_type": "Explore"}),
    );
    talk.result("t2", "gone", json!({"status": "completed", "agentId": "bbbb2222"}));
    talk.answer("Found.");
    let mut agent = Talk { agent: Some("aaaa1111"), ..Talk::default() };
    agent.prompt("Find the config");
    agent.call("t9", "Bash", json!({"command": "ls /etc"}));
    agent.result("t9", "app.conf", json!({"stdout": "app.conf", "stderr": ""}));
    agent.answer("It is in /etc");
    let case = talk.case();
    case.write(&FILE.replace(".jsonl", "/subagents/agent-aaaa1111.jsonl"), &agent.text);
    insta::assert_snapshot!(case.run("show 3f2a"), @"
    exit 0
    --- stdout
    Explore
    /code/app · main · claude-opus-4-6
    2026-04-20 14:00 – 14:00 (5 s) · 1 turn · 2 calls · 0 errors
    3f2a91c0-0000-4000-8000-000000000001

    ▌ turn 1 · 14:00:01
    ▌ Explore

      @ Agent  find it  2 lines · 1.0 s
      │ subagent aaaa1111 · claude-opus-4-6 · 1 call · 3 s
      │
      │ ▌ task · 14:00:01
      │ ▌ Find the config
      │
      │   $ Bash  ls /etc  1 line · 1.0 s
      │       app.conf
      │
      │ It is in /etc
      @ Agent  lost  1 line · 1.0 s
          subagent file missing (bbbb2222)
          gone

    Found.
    ");
    let without = case.run("show 3f2a --no-subagents");
    assert!(
        without.contains("hidden here: 1 subagent;") && !without.contains("ls /etc"),
        "{without}"
    );
    let records: Vec<Record> = case.json("show 3f2a");
    let inner: Vec<_> = records.iter().filter(|r| r.agent_id.is_some()).collect();
    assert_eq!(
        (inner.len(), inner[0].depth, inner[0].agent_id.as_deref()),
        (3, 1, Some("aaaa1111"))
    );
    let by_path = case.run(&format!("show .claude/{FILE}"));
    assert!(by_path.contains("ls /etc"), "{by_path}");
}

#[test]
fn what_is_not_known_is_counted_and_damage_is_shown() {
    let mut talk = Talk::default();
    talk.prompt("hello");
    talk.line(&json!({"type": "holo-deck", "sessionId": ID, "text": "new thing"}));
    talk.text += ".344Z\"}\n";
    talk.push("user", json!({"message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}));
    talk.push("assistant", json!({"isApiErrorMessage": true, "error": "rate_limit", "message": {"id": "x", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}}));
    talk.push("user", json!({"message": {"role": "user", "content": [
        {"type": "text", "text": "<ide_opened_file>a.rs</ide_opened_file>"}, {"type": "text", "text": "see this"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAAAAAA"}}]}}));
    insta::assert_snapshot!(talk.case().run("show 3f2a"), @r#"
    exit 0
    --- stdout
    hello
    /code/app · main
    2026-04-20 14:00 – 14:00 (3 s) · 2 turns · 0 calls · 0 errors
    3f2a91c0-0000-4000-8000-000000000001
      1 damaged line; `recount doctor` shows where
      the last turn was not answered

    ▌ turn 1 · 14:00:01
    ▌ hello

      ? damaged line  7 B, no record
          .344Z"}

    ── interrupted by the person ───────────────────────────────

    ── API error ───────────────────────────────────────────────
    API Error: 529

    ▌ turn 2 · 14:00:04
    ▌ see this
    ▌ [image/png, 6 bytes]

    hidden here: 1 entry of unknown type; `--detail 4` and `5` show more
    "#);
}

#[test]
fn stream_json_from_standard_input() {
    let lines = [
        json!({"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s1", "tools": ["Bash"], "model": "claude-x", "uuid": "i0"}),
        json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "claude-x", "content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "look", "prompt": "look well"}}]}, "parent_tool_use_id": null, "session_id": "s1", "uuid": "a1"}),
        json!({"type": "assistant", "message": {"id": "m2", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "inner"}]}, "parent_tool_use_id": "t1", "session_id": "s1", "uuid": "a2"}),
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "seen"}]}, "parent_tool_use_id": null, "session_id": "s1", "uuid": "u1"}),
        json!({"type": "assistant", "message": {"id": "m3", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "Done."}]}, "parent_tool_use_id": null, "session_id": "s1", "uuid": "a3"}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done.", "num_turns": 1, "session_id": "s1", "duration_ms": 1234}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let case = Case::new("");
    let output = case.command().args(["show", "-"]).write_stdin(text).output().unwrap();
    insta::assert_snapshot!(case.shown(&output), @"
    exit 0
    --- stdout
    (no title)
    /w · claude-x
    0 turns · 1 call · 0 errors
    s1

      @ Task  look  1 line
      │ subagent in the same file · 1 entry
      │
      │ inner

    Done.

    hidden here: 1 system event, 1 internal line; `--detail 4` and `5` show more
    ");
}

#[test]
fn hostile_text_is_made_safe() {
    let evil = "\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200b}\u{8}\u{7f}seen";
    let mut talk = Talk::default();
    talk.prompt(evil).answer(&format!("# {evil}\n`{evil}`\n```{evil}\n{evil}"));
    talk.says(json!({"type": "thinking", "thinking": evil})).says(json!({"type": evil}));
    talk.call("t1", evil, json!({evil: evil}));
    talk.result("t1", evil, json!(evil));
    talk.call("t2", "Edit", json!({"file_path": evil, "old_string": evil, "new_string": evil}));
    talk.result("t2", evil, json!({"filePath": evil, "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": [format!("+{evil}"), evil]}]}));
    talk.call("t3", "TodoWrite", json!({"todos": [{"status": "in_progress", "activeForm": evil}]}))
        .failed("t3", evil);
    talk.push(evil, json!({"content": evil, "gitBranch": evil, "cwd": evil}));
    talk.line(&json!({"type": "custom-title", "customTitle": evil, "sessionId": ID}));
    let case = talk.case();
    for flags in ["", "--detail 4", "--thinking", "--entry 5", "--json", "--json --raw", "--last 3"]
    {
        let shown = case.run(&format!("show 3f2a {flags}"));
        assert!(shown.contains("seen") && !is_raw(&shown), "{flags}: {shown:?}");
        let shown = case.run(&format!("show 3f2a {flags} --color always"));
        assert!(!is_raw(&strip_str(&shown).to_string()), "{flags}: {shown:?}");
    }
    assert!(!is_raw(&case.run("context 3f2a")));
}

#[test]
fn raw_lines_are_the_files_own() {
    let talk = work();
    let case = talk.case();
    let output = case.command().args(["show", "3f2a", "--raw"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), talk.text);
    let output = case.command().args(["show", "3f2a", "--raw", "--entry", "1"]).output().unwrap();
    assert_eq!(output.stdout, format!("{}\n", talk.text.lines().next().unwrap()).as_bytes());
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Record {
    r#type: String,
    session_id: Option<String>,
    agent_id: Option<String>,
    depth: usize,
    file: String,
    entry: Option<u32>,
    offset: u64,
    length: u32,
    time: Option<String>,
    role: String,
    state: String,
    turn: Option<usize>,
    segment: Option<usize>,
    detail: u8,
    model: Option<String>,
    name: Option<String>,
    text: Option<String>,
    beside: Vec<String>,
    media: Vec<String>,
    parts: Vec<Part>,
    calls: Vec<Call>,
    result: Option<CallResult>,
    compaction: Option<Compaction>,
    raw: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Part {
    kind: String,
    text: Option<String>,
    bytes: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Call {
    tool_use_id: String,
    tool: String,
    action: String,
    subject: Option<String>,
    input: Value,
    duration_ms: Option<i64>,
    result: Option<CallResult>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct CallResult {
    tool_use_id: Option<String>,
    entry: Option<u32>,
    is_error: bool,
    exit_code: Option<i32>,
    text: Option<String>,
    media: Vec<String>,
    change: Option<Change>,
    changed_files: Vec<Change>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Change {
    path: String,
    added: u32,
    removed: u32,
    created: bool,
    deleted: bool,
    estimated: bool,
    unknown: bool,
    hunks: Vec<Hunk>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Hunk {
    old_start: u64,
    new_start: u64,
    lines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Compaction {
    trigger: Option<String>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
    segment: usize,
}

#[test]
fn json_lines() {
    let talk = work();
    let case = talk.case();
    let records: Vec<Record> = case.json("show 3f2a");
    let roles: Vec<&str> = records.iter().map(|r| &*r.role).collect();
    assert_eq!(roles, ["prompt", "thinking", "thinking", "call", "call", "call", "call", "answer"]);
    assert!(records.iter().all(|r| r.r#type == "record" && r.session_id.as_deref() == Some(ID)));
    assert!(records.iter().all(|r| talk.text[r.offset as usize..].starts_with('{')));
    let bash = records[4].calls[0].result.as_ref().unwrap();
    assert_eq!((bash.exit_code, bash.is_error, bash.entry), (Some(101), true, Some(7)));
    let edit = records[5].calls[0].result.as_ref().unwrap().change.as_ref().unwrap();
    assert_eq!((edit.added, edit.removed, edit.hunks[0].new_start), (2, 1, 9));
    let compactions: Vec<Record> = compacted().case().json("show 3f2a");
    let band = compactions.iter().find_map(|r| r.compaction.as_ref()).unwrap();
    assert_eq!((band.pre_tokens, band.segment), (Some(156_612), 1));
    let raw: Vec<Record> = case.json("show 3f2a --raw");
    assert_eq!(raw[0].raw.as_deref(), talk.text.lines().next());
}

#[test]
fn the_end_of_a_large_file() {
    let mut talk = Talk::default();
    for n in 0..30 {
        talk.prompt(&format!("prompt {n}")).answer(&"x".repeat(400_000));
    }
    talk.prompt("the last").answer("the end");
    assert!(talk.text.len() > 9 << 20);
    let shown = talk.case().run("show 3f2a --last 2");
    insta::assert_snapshot!(shown, @"
    exit 0
    --- stdout
    3f2a91c0-0000-4000-8000-000000000001
    only the last 262.1 kB of 12.0 MB were read: entries have offsets for numbers, and subagents and what was said before are not known

    ▌ prompt · 14:00:01
    ▌ the last

    the end
    ");
}

/// FORMAT 8.5: the path belongs to the computer that wrote it; only the session's own folder is
/// looked into, whatever the note says.
#[test]
fn a_saved_output_is_found_in_the_sessions_own_folder_only() {
    let line = |rest: &str| {
        format!(
            "{{\"isSidechain\":false,\"cwd\":\"/w\",\"sessionId\":\"5a5a\",\"version\":\"2.1.144\",{rest}}}\n"
        )
    };
    let note = |path: &str| {
        format!(
            "<persisted-output>\\nOutput too large (31.9KB). Full output saved to: {path}\\n\\nPreview (first 2KB):\\nfirst"
        )
    };
    let call = |n: u8| {
        line(&format!(
            "\"parentUuid\":null,\"type\":\"assistant\",\"uuid\":\"a{n}\",\"message\":{{\"id\":\"m{n}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"Bash\",\"input\":{{\"command\":\"cat log\"}}}}]}}"
        ))
    };
    let result = |n: u8, path: &str| {
        line(&format!(
            "\"parentUuid\":\"a{n}\",\"type\":\"user\",\"uuid\":\"r{n}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"{}\"}}]}}",
            note(path)
        ))
    };
    let case = Case::new("");
    let file = call(1)
        + &result(1, "/elsewhere/5a5a/tool-results/b1x2.txt")
        + &call(2).replace("null", "\"r1\"")
        + &result(2, "../../../../secret.txt");
    case.write("projects/-w/5a5a.jsonl", &file);
    case.write("projects/-w/5a5a/tool-results/b1x2.txt", "first\nand the last line\n");
    case.write("secret.txt", "hunter2\n");
    let shown = case.run("show 5a5a");
    assert!(shown.contains("whole output: tool-results/b1x2.txt (24 B, kept)"), "{shown}");
    assert!(shown.contains("whole output: tool-results/secret.txt (gone)"), "{shown}");
    assert!(!shown.contains("and the last line"), "{shown}");
    assert!(case.run("show 5a5a --entry 1").contains("and the last line"));
    assert!(!case.run("show 5a5a --entry 3").contains("hunter2"));
}

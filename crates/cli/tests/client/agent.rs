//! recount inside of the real client: the plugin, and what `install` adds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::client::home::{Ran, finish};
use testkit::client::turn::{Block, ScriptedUsage, Turn};
use testkit::client::{ClientHome, VERSION, install, isolate};

/// Whether this process is the one that runs the test: it was started again without a network.
fn is_inside(test: &str) -> bool {
    if let Err(why) = install::is_there(VERSION) {
        panic!("{why}");
    }
    let Some(status) = isolate::start_again(&["--exact", test, "--nocapture"]) else { return true };
    assert!(status.success(), "see above");
    false
}

fn home() -> ClientHome {
    ClientHome::new(VERSION, Path::new(env!("CARGO_BIN_EXE_recount"))).unwrap()
}

/// Runs the client, which has to end well, and gives what it printed.
fn client(home: &ClientHome, args: &[&str]) -> String {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    printed(home.run(&args, &home.work()).unwrap())
}

/// Runs recount in the environment that the client gives its hooks and servers.
fn recount(home: &ClientHome, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    command.args(args).env_clear().envs(home.environment()).current_dir(home.work());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    printed(finish(command.spawn().unwrap()).unwrap())
}

/// Waits until everything is in the store: the `SessionEnd` hook has begun to bring it there.
fn wait_for_sync(home: &ClientHome) {
    let end = Instant::now() + Duration::from_secs(60);
    let sync = ["sync".to_owned()];
    while home.recount(&sync).unwrap().code != Some(0) {
        assert!(Instant::now() < end, "the store stays locked");
    }
}

fn printed(ran: Ran) -> String {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.out + &ran.err
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_plugin_is_valid_and_can_be_installed() {
    if !is_inside("agent::the_plugin_is_valid_and_can_be_installed") {
        return;
    }
    let home = home();
    let root = repository();
    let (root, plugin) = (root.to_str().unwrap(), root.join("plugin"));
    // With `--strict` a warning is an error.
    let checks = ["plugin", "validate", "--strict", "--profile", "directory"];
    client(&home, &[&checks[..], &[plugin.to_str().unwrap()]].concat());
    client(&home, &["plugin", "validate", "--strict", root]);
    client(&home, &["plugin", "marketplace", "add", root]);
    client(&home, &["plugin", "install", "recount@recount"]);
    let list = client(&home, &["plugin", "list"]);
    assert!(list.contains("recount@recount") && list.contains("enabled"), "{list}");
    client(&home, &["-p", "hello"]);
    let tools = tools(&home);
    assert!(tools.iter().any(|tool| tool.ends_with("recount__recall")), "{tools:?}");
}

/// The names of our tools in the last request.
fn tools(home: &ClientHome) -> Vec<String> {
    let exchanges = home.server.exchanges();
    let tools = exchanges.last().unwrap().body["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().filter_map(|tool| tool["name"].as_str());
    names.filter(|name| name.contains("recount")).map(str::to_owned).collect()
}

fn call(tool: &str, input: Value) -> Turn {
    Turn { blocks: vec![Block::Call { tool: tool.into(), input }], ..Turn::text("") }
}

#[test]
fn what_is_installed_is_used_and_leaves_no_trace() {
    if !is_inside("agent::what_is_installed_is_used_and_leaves_no_trace") {
        return;
    }
    let home = home();
    recount(&home, &["install", "claude"]);
    let servers = client(&home, &["mcp", "list"]);
    assert!(servers.contains("recount mcp") && servers.contains("Connected"), "{servers}");
    // An error in a first session, and what helped.
    std::fs::write(home.work().join("calc.py"), "print(add(1, 2))\n").unwrap();
    home.server.script(
        "one",
        [call("Bash", json!({"command": "python3 calc.py"})), Turn::text("It is called plus now.")],
    );
    client(&home, &["-p", "QUEUE:one run it", "--permission-mode", "bypassPermissions"]);
    wait_for_sync(&home);
    // The same error pasted into a second one.
    let question = json!({"question": "why is the name add not defined?"});
    home.server.script("two", [call("mcp__recount__recall", question), Turn::text("Done.")]);
    let error = "NameError: name 'add' is not defined";
    let prompt = format!("QUEUE:two I get this:\n{error}");
    client(&home, &["-p", &prompt, "--permission-mode", "bypassPermissions"]);
    let all = home.server.exchanges();
    let of_second: Vec<_> = all.iter().filter(|one| one.queue == "two").collect();
    let first = of_second[0].body["messages"].to_string();
    assert!(first.contains("UserPromptSubmit hook additional context: [recount]"), "{first}");
    assert!(first.contains("It is called plus now."), "{first}");
    // Its tools are there from the beginning, and it is not quoted to itself.
    assert_eq!(tools(&home).len(), 7);
    let own = of_second[0].session.as_ref().unwrap();
    let last = of_second[1].body["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("Quoted from earlier sessions"), "{last}");
    assert!(!last.contains(&own[..8]), "{last}");
    recount(&home, &["uninstall", "claude"]);
    // The client writes to both files too; of ours nothing is left.
    for name in ["settings.json", ".claude.json"] {
        let after = std::fs::read_to_string(home.config().join(name)).unwrap_or_default();
        for ours in ["recount", "hooks", "statusLine", "mcpServers"] {
            assert!(!after.contains(ours), "{name}: {after}");
        }
    }
}

/// A program named `recount` that writes down which hook was run, how it ended and how long it
/// took, in milliseconds.
const RECORDER: &str = r#"#!/bin/bash
begin=$(date +%s%N)
"$REAL_RECOUNT" "$@"
code=$?
[ "$1" = hook ] && echo "$2 $code $(( ($(date +%s%N) - begin) / 1000000 ))" >> "$HOOK_LOG"
exit $code
"#;

#[test]
fn all_six_hooks_run_in_the_client() {
    if !is_inside("agent::all_six_hooks_run_in_the_client") {
        return;
    }
    let mut home = home();
    let log = home.root().join("hooks.log");
    home.set_env("REAL_RECOUNT", env!("CARGO_BIN_EXE_recount"));
    home.set_env("HOOK_LOG", log.to_str().unwrap());
    recount(&home, &["install", "claude"]);
    home.replace_recount(RECORDER).unwrap();
    let agent = json!({"description": "Count", "prompt": "QUEUE:inner Count", "run_in_background": false,
        "subagent_type": "general-purpose"});
    let usage = |read| ScriptedUsage { cache_read: Some(read), ..ScriptedUsage::default() };
    let full = call("Bash", json!({"command": "echo full"}));
    std::fs::write(home.work().join("a.txt"), "a\n").unwrap();
    let path = home.work().join("a.txt");
    home.server.script(
        "six",
        [
            call("Agent", agent),
            call("Read", json!({"file_path": path})),
            // More than fits: the client compacts before the next request.
            Turn { usage: usage(970_000), ..full },
            Turn::text("Done after the compaction."),
        ],
    );
    home.server.script("inner", [Turn::text("One file.")]);
    client(&home, &["-p", "QUEUE:six work", "--permission-mode", "bypassPermissions"]);
    let said = std::fs::read_to_string(&log).unwrap();
    let ran: Vec<Vec<&str>> = said.lines().map(|line| line.split(' ').collect()).collect();
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "SubagentStart",
        "PreToolUse",
        "PreCompact",
        "SessionEnd",
    ] {
        let own: Vec<_> = ran.iter().filter(|ran| ran[0] == event).collect();
        assert!(!own.is_empty(), "{event} did not run:\n{said}");
        assert!(own.iter().all(|ran| ran[1] == "0"), "{said}");
    }
    // A second start follows the compaction.
    assert_eq!(ran.iter().filter(|ran| ran[0] == "SessionStart").count(), 2, "{said}");
    println!("{said}");
}

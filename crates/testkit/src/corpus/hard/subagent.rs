//! Subagents in every layout, each joined by one kind of evidence.

use std::io;

use super::case;
use crate::corpus::book::{Book, Link};
use crate::entry;
use crate::json::{Raw, ToJson};
use crate::scribe::{Call, Scribe};
use crate::truth::SubagentTruth;
use crate::{arr, members, obj};

const THEME: &str = "subagent";

/// All cases of this theme.
pub fn plant(book: &mut Book) -> io::Result<()> {
    by_meta_nested(book)?;
    by_result(book)?;
    flat_by_result(book)?;
    by_text(book)?;
    by_notification(book)?;
    flat_by_prompt(book)?;
    inline_by_prompt(book)?;
    internal(book)?;
    workflow(book)?;
    fork_context(book)?;
    teammate(book)?;
    unjoined(book)
}

fn start(s: &mut Scribe, tool: &str, prompt: &str) -> Call {
    let input = obj! {
        "description": "Look into it", "prompt": prompt, "subagent_type": "general-purpose",
    };
    s.call(tool, input)
}

fn long_id(s: &mut Scribe) -> String {
    format!("a{}", s.random.hex(16))
}

fn nested(s: &Scribe, file: &str) -> String {
    s.truth.file.replace(".jsonl", &format!("/subagents/{file}"))
}

fn flat(s: &Scribe, agent: &str) -> String {
    let (dir, _) = s.truth.file.rsplit_once('/').expect("sessions stand in a project");
    format!("{dir}/agent-{agent}.jsonl")
}

/// What every agent does: one good call, one failed one, an answer.
fn work(a: &mut Scribe, prompt: &str, answer: &str) {
    a.prompt(prompt);
    a.bash("ls", "List", "a.txt");
    a.fails("Read", obj! { "file_path": "/home/ana/none.txt" }, "File does not exist.");
    a.say(answer);
}

fn completed(agent: Option<&str>, prompt: &str, answer: &str) -> Raw {
    let mut out = members! { "status": "completed", "prompt": prompt };
    if let Some(agent) = agent {
        crate::scribe::join(&mut out, &members! { "agentId": agent });
    }
    crate::scribe::join(
        &mut out,
        &members! {
            "content": [entry::text(answer)], "totalDurationMs": 5_210, "totalTokens": 12_044,
            "totalToolUseCount": 2,
        },
    );
    Raw(format!("{{{out}}}"))
}

fn by_meta_nested(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "agents two deep, joined by their meta files", "2.1.217")?;
    let outer_call = start(&mut s, "Agent", "Count the files");
    let (outer, inner) = (long_id(&mut s), long_id(&mut s));
    let mut a = book.agent(&s, &outer, &nested(&s, &format!("agent-{outer}.jsonl")))?;
    a.prompt("Count the files");
    let inner_call = start(&mut a, "Agent", "Count the tests");
    let mut b = book.agent(&s, &inner, &nested(&s, &format!("agent-{inner}.jsonl")))?;
    work(&mut b, "Count the tests", "Four tests.");
    a.result(&inner_call, &arr![entry::text("Four tests.")], &obj! {});
    a.say("Nine files, four of them tests.");
    let meta = obj! {
        "agentType": "general-purpose", "description": "Look into it",
        "toolUseId": outer_call.id, "spawnDepth": 1, "requestShape": "foreground",
    };
    book.side(&nested(&s, &format!("agent-{outer}.meta.json")), meta.0)?;
    let meta = obj! {
        "agentType": "general-purpose", "description": "Look into it",
        "toolUseId": inner_call.id, "spawnDepth": 2, "parentAgentId": outer,
    };
    book.side(&nested(&s, &format!("agent-{inner}.meta.json")), meta.0)?;
    let link = Link { kind: "meta", call: Some(&outer_call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    let link = Link { kind: "meta", call: Some(&inner_call.id), agent: Some(&outer) };
    book.close_agent(b, &mut s, &link)?;
    let answer = "Nine files, four of them tests.";
    let shape = completed(None, "Count the files", answer);
    s.result(&outer_call, &arr![entry::text(answer)], &shape);
    s.say("Nine files.");
    book.close_session(s)
}

fn by_result(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an agent joined by its result only", "2.1.38")?;
    let call = start(&mut s, "Task", "Read the code");
    let agent = long_id(&mut s);
    let mut a = book.agent(&s, &agent, &nested(&s, &format!("agent-{agent}.jsonl")))?;
    work(&mut a, "Read the code (as told)", "It is short.");
    let link = Link { kind: "result", call: Some(&call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    let shape = completed(Some(&agent), "Read the code", "It is short.");
    s.result(&call, &arr![entry::text("It is short.")], &shape);
    s.say("The code is short.");
    book.close_session(s)
}

fn flat_by_result(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an agent in a flat file beside its session", "2.0.76")?;
    let call = start(&mut s, "Task", "Read the code");
    let agent = s.random.hex(7);
    let mut a = book.agent(&s, &agent, &flat(&s, &agent))?;
    work(&mut a, "Read the code (flat)", "It is flat.");
    let link = Link { kind: "result", call: Some(&call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    let shape = completed(Some(&agent), "Read the code", "It is flat.");
    s.result(&call, &arr![entry::text("It is flat.")], &shape);
    s.say("Flat.");
    book.close_session(s)
}

fn by_text(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an agent joined by the tail of the result's text", "2.1.144")?;
    let call = start(&mut s, "Agent", "Read the docs");
    let agent = long_id(&mut s);
    let mut a = book.agent(&s, &agent, &nested(&s, &format!("agent-{agent}.jsonl")))?;
    work(&mut a, "Read the docs (as told)", "They are long.");
    let link = Link { kind: "text", call: Some(&call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    let tail =
        format!("agentId: {agent} (use SendMessage with to: '{agent}' to continue this agent)");
    let content = arr![entry::text("They are long."), entry::text(&tail)];
    s.result(&call, &content, &completed(None, "Read the docs", "They are long."));
    s.say("Long docs.");
    book.close_session(s)
}

fn by_notification(book: &mut Book) -> io::Result<()> {
    let name = "a background agent joined by its notification";
    let mut s = case(book, THEME, name, "2.1.144")?;
    let call = start(&mut s, "Agent", "Watch the build");
    let agent = long_id(&mut s);
    let mut a = book.agent(&s, &agent, &nested(&s, &format!("agent-{agent}.jsonl")))?;
    work(&mut a, "Watch the build (as told)", "It is green.");
    let link = Link { kind: "notification", call: Some(&call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    let shape = obj! {
        "isAsync": true, "status": "async_launched", "description": "Look into it",
        "prompt": "Watch the build", "canReadOutputFile": true,
    };
    s.result(&call, &"Async agent launched successfully.".raw(), &shape);
    s.say("I will tell you when it is done.");
    let note = format!(
        "<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{}</tool-use-id>\n<status>completed</status>\n<summary>Agent \"Look into it\" completed</summary>\n<result>It is green.</result>\n</task-notification>",
        call.id
    );
    let (session, at) = (s.envelope.session.clone(), crate::clock::iso(s.now));
    s.line("queue-operation", &entry::queue("enqueue", Some(&note), &session, &at));
    s.line("queue-operation", &entry::queue("dequeue", None, &session, &at));
    let origin = obj! { "kind": "task-notification" };
    s.user(&note.raw(), &members! { "origin": origin });
    s.say("The build is green.");
    book.close_session(s)
}

fn flat_by_prompt(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a flat agent joined by its prompt only", "2.0.28")?;
    let prompt = "Find every place where a price is rounded";
    let call = start(&mut s, "Task", prompt);
    let agent = s.random.hex(8);
    let mut a = book.agent(&s, &agent, &flat(&s, &agent))?;
    work(&mut a, prompt, "Three places.");
    let link = Link { kind: "prompt", call: Some(&call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    let shape = obj! {
        "content": [entry::text("Three places.")], "totalDurationMs": 4_000,
        "totalTokens": 9_000, "totalToolUseCount": 2,
    };
    s.result(&call, &arr![entry::text("Three places.")], &shape);
    s.say("Three places round prices.");
    book.close_session(s)
}

/// Before 2.0.28 a subagent's entries stood in the session's own file.
fn inline_by_prompt(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a sidechain inside the session's file", "1.0.69")?;
    let prompt = "List every test that is skipped";
    let call = start(&mut s, "Task", prompt);
    s.flush();
    let (before, leaf) = (s.parent.take(), s.truth.leaf.clone());
    let (calls, requests) = (s.truth.calls, s.truth.requests.len());
    s.envelope.sidechain = true;
    let root = s.user(&prompt.raw(), "");
    s.bash("grep -rn ignore tests", "Search", "tests/all.rs:4");
    s.say("One test is skipped.");
    s.flush();
    s.envelope.sidechain = false;
    let inner = s.truth.calls - calls;
    for request in &mut s.truth.requests[requests..] {
        request.agent = Some(root.clone());
    }
    (s.parent, s.truth.leaf) = (before, leaf);
    s.truth.subagents.push(SubagentTruth {
        agent_id: root,
        file: s.truth.file.clone(),
        parent_tool_use_id: Some(call.id.clone()),
        parent_agent: None,
        link: "prompt".into(),
        calls: inner,
        errors: 0,
    });
    let shape = obj! { "content": [entry::text("One test is skipped.")], "totalTokens": 900 };
    s.result(&call, &arr![entry::text("One test is skipped.")], &shape);
    s.say("One.");
    book.close_session(s)
}

/// Agents of the program itself: two of them repeat the parent's messages.
fn internal(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "internal agents that repeat the conversation", "2.1.81")?;
    s.kept = Some(Vec::new());
    s.prompt("Explain the cache");
    s.say("It keeps answers for five minutes.");
    s.flush();
    for name in ["acompact", "aside_question", "aprompt_suggestion"] {
        let agent = format!("{name}-{}", s.random.hex(6));
        let mut a = book.agent(&s, &agent, &nested(&s, &format!("agent-{agent}.jsonl")))?;
        a.model = s.model.clone();
        if name != "aprompt_suggestion" {
            let kept = s.kept.clone().expect("kept above");
            kept.iter().for_each(|kept| a.put_copy(kept));
            let replayed = s.truth.requests.iter().rfind(|r| r.agent.is_none()).cloned();
            let mut replayed = replayed.expect("the session has answered");
            (replayed.agent, replayed.replayed) = (Some(agent.clone()), true);
            a.truth.requests.push(replayed);
        }
        a.user(&format!("Internal question of {name}").raw(), "");
        a.say("Internal answer.");
        book.close_agent(a, &mut s, &Link { kind: "internal", call: None, agent: None })?;
    }
    book.close_session(s)
}

fn workflow(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a workflow with its journal", "2.1.217")?;
    let call = s.call("Workflow", obj! { "name": "review", "args": "src" });
    let (run, agent) = (format!("wf_{}", s.random.hex(8)), long_id(&mut s));
    let dir = format!("workflows/{run}");
    let mut a = book.agent(&s, &agent, &nested(&s, &format!("{dir}/agent-{agent}.jsonl")))?;
    work(&mut a, "Review src/lib.rs", "No findings.");
    let link = Link { kind: "workflow", call: Some(&call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    let meta = obj! { "agentType": "reviewer", "workflowPhase": "review" };
    book.side(&nested(&s, &format!("{dir}/agent-{agent}.meta.json")), meta.0)?;
    let journal = [
        obj! { "type": "launched", "runId": run, "workflowName": "review" },
        obj! { "type": "started", "key": "k1", "agentId": agent, "label": "lib", "phase": "review" },
        obj! { "type": "result", "key": "k1", "agentId": agent, "result": "No findings." },
        obj! { "type": "failed", "key": "k2", "agentId": "a0", "error": "stopped" },
    ];
    book.lines(&nested(&s, &format!("{dir}/journal.jsonl")), &journal)?;
    let done = obj! { "status": "completed", "phases": ["review"], "totalTokens": 12_044 };
    let own = s.truth.file.replace(".jsonl", &format!("/workflows/{run}.json"));
    book.side(&own, done.0)?;
    let shape = obj! {
        "status": "async_launched", "taskId": "w1", "taskType": "workflow",
        "workflowName": "review", "runId": run, "summary": "Review src",
    };
    s.result(&call, &format!("Workflow started. Task ID: w1, run {run}").raw(), &shape);
    s.say("Nothing was found.");
    book.close_session(s)
}

fn fork_context(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a forked agent that points into its parent", "2.1.228")?;
    let call = start(&mut s, "Agent", "Try the other way");
    s.flush();
    let last = s.parent.clone();
    let agent = long_id(&mut s);
    let mut a = book.agent(&s, &agent, &nested(&s, &format!("agent-{agent}.jsonl")))?;
    let reference = obj! {
        "type": "fork-context-ref", "agentId": agent, "parentSessionId": s.envelope.session,
        "parentLastUuid": last, "contextLength": 3,
    };
    a.line("fork-context-ref", &reference.0);
    work(
        &mut a,
        "<fork-boilerplate>You are a fork.</fork-boilerplate>\nTry the other way",
        "Tried.",
    );
    let meta = obj! { "agentType": "fork", "isFork": true, "toolUseId": call.id };
    book.side(&nested(&s, &format!("agent-{agent}.meta.json")), meta.0)?;
    let link = Link { kind: "meta", call: Some(&call.id), agent: None };
    book.close_agent(a, &mut s, &link)?;
    s.result(&call, &"Tried.".raw(), &completed(Some(&agent), "Try the other way", "Tried."));
    s.say("The other way works too.");
    book.close_session(s)
}

fn teammate(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "a teammate in a session of its own", "2.1.56")?;
    let call = start(&mut s, "Task", "Take the data layer");
    let shape = obj! {
        "status": "teammate_spawned", "teammate_id": "data@phase1", "agent_id": "data@phase1",
        "model": "claude-opus-4-6", "name": "data", "color": "blue", "team_name": "phase1",
        "is_splitpane": true, "plan_mode_required": false,
    };
    s.result(&call, &"Spawned successfully.".raw(), &shape);
    s.say("The teammate works.");
    book.close_session(s)?;
    let mut t = super::untold(book, THEME, "the teammate's own session", "2.1.56")?;
    t.envelope.team = Some(("phase1".into(), "data".into()));
    let text = "<teammate-message teammate_id=\"team-lead\" color=\"blue\" summary=\"Data layer\">\nTake the data layer\n</teammate-message>";
    t.user(&text.raw(), "");
    t.say("Taking it.");
    book.close_session(t)
}

fn unjoined(book: &mut Book) -> io::Result<()> {
    let mut s = case(book, THEME, "an agent whose call is nowhere", "2.1.81")?;
    s.say("Nobody was called.");
    let agent = long_id(&mut s);
    let mut a = book.agent(&s, &agent, &nested(&s, &format!("agent-{agent}.jsonl")))?;
    work(&mut a, "A task nobody remembers", "Done anyway.");
    book.close_agent(a, &mut s, &Link { kind: "none", call: None, agent: None })?;
    book.close_session(s)
}

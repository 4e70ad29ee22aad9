//! What happens in a running session is told while it happens.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::case::Case;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Event {
    r#type: String,
    session: String,
    agent: Option<String>,
    event: String,
    time: Option<String>,
    entry: Option<u32>,
    tool: Option<String>,
    text: String,
}

const SESSION: &str = "0aaaaaaa-0000-4000-8000-000000000001";

/// A `recount watch` that is ended when dropped.
struct Watched {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Watched {
    fn new(case: &Case, more: &[&str]) -> Self {
        let command = case.command();
        let mut child = Command::new(command.get_program())
            .args(["watch", "--json"])
            .args(more)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", case.claude().parent().unwrap())
            .env("TZ", "UTC")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (say, lines) = mpsc::channel();
        let mut talk = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        talk.read_line(&mut said).unwrap();
        assert_eq!(said, "Watching; Ctrl-C ends it\n");
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = say.send(line);
            }
            let _ = talk.read_to_string(&mut String::new());
        });
        Self { child, lines }
    }

    fn next(&self) -> Event {
        let line = self.lines.recv_timeout(Duration::from_secs(20)).expect("it is told");
        serde_json::from_str(&line).expect(&line)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn entry(uuid: &str, time: &str, rest: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"{uuid}","sessionId":"{SESSION}","timestamp":"{time}","cwd":"/w","version":"2.1.100",{rest}}}
"#
    )
}

#[test]
fn new_entries_are_told_and_old_ones_are_not() {
    let old = entry(
        "a1",
        "2026-04-20T10:00:00.000Z",
        r#""type":"user","message":{"role":"user","content":"an old prompt"}"#,
    );
    let path = format!("projects/-w/{SESSION}.jsonl");
    let case = Case::new(&format!("//- {path}\n{old}"));
    let watched = Watched::new(&case, &[]);
    let later = "2999-01-01T10:00:00.000Z";
    let copied = old.replace("a1", "a9").replace("an old prompt", "a copy of an old prompt");
    let prompt =
        entry("a2", later, r#""type":"user","message":{"role":"user","content":"a new prompt"}"#);
    let call = entry(
        "a3",
        later,
        r#""type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}],"stop_reason":"tool_use"}"#,
    );
    let begun = Instant::now();
    case.write(&path, &format!("{old}{copied}{prompt}{call}"));
    let told = watched.next();
    assert_eq!((&*told.event, &*told.text, told.entry), ("prompt", "a new prompt", Some(3)));
    assert_eq!((&*told.session, told.time.as_deref()), (SESSION, Some(later)));
    assert!(begun.elapsed() < Duration::from_secs(10));
    let told = watched.next();
    assert_eq!((&*told.event, told.tool.as_deref(), &*told.text), ("call", Some("Bash"), "make"));
    let registered = format!(r#"{{"pid":1,"sessionId":"{SESSION}","status":"waiting"}}"#);
    case.write("sessions/1.json", &registered);
    assert_eq!(watched.next().event, "waiting");
    std::fs::remove_file(case.claude().join("sessions/1.json")).unwrap();
    assert_eq!(watched.next().event, "ended");
    // It is in the store too.
    assert!(case.run("search new prompt").contains("#3 prompt"));
}

#[test]
fn a_command_is_called_with_what_was_said_as_data() {
    let prompt = entry(
        "a1",
        "2026-04-20T10:00:00.000Z",
        r#""type":"user","message":{"role":"user","content":"go"}"#,
    );
    let path = format!("projects/-w/{SESSION}.jsonl");
    let case = Case::new(&format!("//- {path}\n{prompt}"));
    let to = case.home().join("told");
    let command = format!(
        "cat >{to}.json; printf '%s|%s|%s' \"$RECOUNT_EVENT\" \"$RECOUNT_SESSION\" \
         \"$RECOUNT_TEXT\" >{to}.new; mv {to}.new {to}",
        to = to.display()
    );
    let watched = Watched::new(&case, &["--notify", &command]);
    let answer = entry(
        "a2",
        "2999-01-01T10:00:00.000Z",
        r#""type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"$(touch hacked); `id`"}],"stop_reason":"end_turn"}"#,
    );
    case.write(&path, &format!("{prompt}{answer}"));
    assert_eq!(watched.next().event, "finished");
    let begun = Instant::now();
    while !to.exists() && begun.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    let told = std::fs::read_to_string(&to).unwrap();
    assert_eq!(told, format!("finished|{SESSION}|$(touch hacked); `id`"));
    let line = std::fs::read_to_string(to.with_extension("json")).unwrap();
    let event: Event = serde_json::from_str(&line).unwrap();
    assert_eq!(event.event, "finished");
    assert!(!case.home().join("hacked").exists());
}

#[test]
fn no_event_is_lost_while_another_process_writes_to_the_store() {
    let path = format!("projects/-w/{SESSION}.jsonl");
    let line = |uuid: &str, text: &str| {
        let message = format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#);
        entry(uuid, "2999-01-01T10:00:00.000Z", &message)
    };
    let case = Case::new(&format!("//- {path}\n{}", line("a1", "one")));
    assert!(case.run("sync").starts_with("exit 0"));
    let watched = Watched::new(&case, &[]);
    let store = store::folder::Store::new(case.store());
    let lock = store.lock().unwrap().expect("nobody else has it");
    let two = line("a1", "one") + &line("a2", "two");
    case.write(&path, &two);
    assert_eq!(watched.next().text, "two");
    drop(lock);
    case.write(&path, &(two + &line("a3", "three")));
    assert_eq!(watched.next().text, "three");
}

//! `wait`: until a session has answered, or needs somebody.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use super::case::Case;
use super::talk::Session;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waited {
    r#type: String,
    session: String,
    state: String,
}

const ID: &str = "1aaaaaaa-0000-4000-8000-000000000001";

fn registered(status: &str) -> String {
    let pid = std::process::id();
    format!(r#"{{"pid":{pid},"sessionId":"{ID}","status":"{status}"}}"#)
}

#[test]
fn every_state_has_its_exit_code() {
    let case = Case::new("");
    Session::new(1).prompt("The zeppelin leaks").answer("Patched.").write(&case);
    for (status, code, words) in
        [("idle", 0, "has answered"), ("waiting", 3, "waits for you"), ("busy", 5, "still works")]
    {
        case.write("sessions/1.json", &registered(status));
        let want = format!("exit {code}\n--- stdout\n1aaaaaaa {words}\n");
        assert_eq!(case.run("wait 1aaa --timeout 0 --quiet"), want);
    }
    case.write("sessions/1.json", &registered("idle"));
    let waited: Vec<Waited> = case.json("wait latest");
    let Waited { r#type, session, state } = &waited[0];
    assert_eq!((&**r#type, &**session, &**state), ("waited", ID, "answered"));
    Session::new(1).prompt("The zeppelin leaks").write(&case);
    assert!(case.run("wait 1aaa").starts_with("exit 4\n"));
    assert!(case.run("wait nope").starts_with("exit 2\n"));
}

/// The client says that it is idle about 50 ms before it writes the last lines of a turn.
#[test]
fn the_last_lines_come_after_idle() {
    let case = Case::new("");
    Session::new(1).prompt("The zeppelin leaks").write(&case);
    // The prompt is old: the model has thought for a while.
    let file = case.claude().join(format!("projects/-w/{ID}.jsonl"));
    let file = std::fs::File::options().append(true).open(file).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    let now = jiff::Timestamp::now().as_millisecond();
    let since = format!(r#","statusUpdatedAt":{now}}}"#);
    case.write("sessions/1.json", &registered("idle").replace('}', &since));
    let mut command = case.program();
    command.args(["wait", "1aaa", "--timeout", "60"]);
    let mut waiting = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "Waiting for 1aaaaaaa; Ctrl-C ends it\n", "it is not over yet");
    Session::new(1).prompt("The zeppelin leaks").answer("Patched.").write(&case);
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(case.shown(&output), "exit 0\n--- stdout\n1aaaaaaa has answered\n");
}

/// The client registers itself and writes its history before the first line of the transcript.
#[test]
fn a_session_that_has_just_begun_is_waited_for() {
    let case = Case::new("");
    case.write(
        "history.jsonl",
        &format!("{{\"display\":\"x\",\"timestamp\":1,\"sessionId\":\"{ID}\"}}\n"),
    );
    assert!(case.run("wait 1aaa --timeout 0").starts_with("exit 2\n"), "nobody runs it");
    case.write("sessions/1.json", &registered("idle"));
    let begun = "exit 5\n--- stdout\n1aaaaaaa still works\n";
    assert_eq!(case.run("wait 1aaa --timeout 0 --quiet"), begun);
    let mut command = case.program();
    command.args(["wait", "1aaa", "--timeout", "60", "--quiet"]);
    let waiting = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    Session::new(1).prompt("The zeppelin leaks").answer("Patched.").write(&case);
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(case.shown(&output), "exit 0\n--- stdout\n1aaaaaaa has answered\n");
}

#[test]
fn it_ends_when_the_session_has_answered() {
    let case = Case::new("");
    Session::new(1).prompt("The zeppelin leaks").write(&case);
    case.write("sessions/1.json", &registered("busy"));
    let mut command = case.program();
    command.args(["wait", "1aaa", "--timeout", "60"]);
    let mut waiting = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "Waiting for 1aaaaaaa; Ctrl-C ends it\n");
    Session::new(1).prompt("The zeppelin leaks").answer("Patched.").write(&case);
    case.write("sessions/1.json", &registered("idle"));
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(case.shown(&output), "exit 0\n--- stdout\n1aaaaaaa has answered\n");
}

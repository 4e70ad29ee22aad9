//! `recount hook`: what Claude Code calls at certain moments of a session.
//!
//! Whatever happens, it ends well and says nothing: an exit code of 2 would stop the person's
//! work, and a word too many costs context. So the answer is made apart, and waited for only so
//! long.

use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use ask::Locations;
use serde_json::{Value, json};

use crate::error::{Answer, CliError};
use crate::hook::{self, HookAnswer};
use crate::run::Run;

/// What Claude Code asks at moments of a session: answers a hook, quietly.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads what Claude Code says about the moment as JSON from standard input, and prints what the model
is to know, if there is anything. It always ends with 0, and never waits for the store.

  SessionStart       what the last session of this folder left to do; after a compaction what was
                     being done, what is still to do, what was decided
  UserPromptSubmit   evidence from earlier sessions: where an error or a name of the prompt stands
                     to the letter, else what is surely about it
  PreToolUse         which sessions changed the file before
  SubagentStart      what the person asked for
  PreCompact, SessionEnd   nothing is said; what is new is kept, in the background

`recount install claude --hooks` adds them all to Claude Code.

Examples:
  recount hook SessionStart < event.json
  recount hook UserPromptSubmit --wait 1000 < event.json")]
pub struct HookArgs {
    /// The moment: SessionStart, UserPromptSubmit, PreToolUse, SubagentStart, PreCompact,
    /// SessionEnd; nothing is said at others
    event: String,

    /// Give up after so many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300)]
    wait: u64,
}

/// No event is longer: what a call writes to a file is part of it.
const MOST: u64 = 64 << 20;

/// Answers the hook.
pub fn run(args: &HookArgs, run: &mut Run) -> Result<Answer, CliError> {
    let locations = run.recount.locations().clone();
    let patience = Duration::from_millis(args.wait);
    if let Some(answer) = answer_within(patience, &args.event, locations) {
        let output = json!({"hookSpecificOutput":
            {"hookEventName": args.event, "additionalContext": answer.context}});
        let mut stdout = std::io::stdout();
        let printed =
            stdout.write_all(format!("{output}\n").as_bytes()).and_then(|()| stdout.flush());
        // A client that has not read the answer may be given the same evidence again.
        if let (Ok(()), Some(given)) = (printed, answer.given) {
            let _ = given.record();
        }
    }
    Ok(Answer::Found)
}

fn answer_within(most: Duration, event: &str, locations: Locations) -> Option<HookAnswer> {
    let (done, answer) = mpsc::channel();
    let name = event.to_owned();
    // What goes wrong in there is nobody's business: there is no answer then.
    std::panic::set_hook(Box::new(|_| ()));
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let input = std::io::stdin().take(MOST).read_to_end(&mut text).ok();
        let input = input.and_then(|_| serde_json::from_slice::<Value>(&text).ok());
        let mut run = Run::held_redacted(locations);
        let said = input.and_then(|input| hook::answer(&name, &input, most, &mut run));
        let _ = done.send(said);
    });
    answer.recv_timeout(most).ok()?
}

//! `recount watch`: what happens in running sessions, as it happens.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use report::event::{self, Event, EventKind};
use store::sync::{self, SyncError, Watch};
use transcript::entry::Entry;
use transcript::id::SessionId;
use transcript::layout::{FileKind, classify};
use transcript::session::{Builder, Node};
use transcript::side::registry::{self, Status};
use transcript::time::Time;

use super::short;
use super::sync::homes;
use crate::error::{Answer, CliError};
use crate::live::Live;
use crate::run::Run;
use crate::terminal::format::Clock;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;

/// Show what happens in running sessions, as it happens, and keep the store up to date.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
One line for each prompt, call, error, compaction, interruption and answer, and when a session
waits for you or ends. Stop it with Ctrl-C.

Examples:
  recount watch
  recount watch --json | jq -r 'select(.event == \"error\").text'
  recount watch --notify 'notify-send \"$RECOUNT_EVENT\" \"$RECOUNT_TEXT\"'")]
pub struct WatchArgs {
    /// Run this by the shell when a session has answered, waits for you, fails or ends. It is
    /// told by RECOUNT_EVENT, RECOUNT_SESSION, RECOUNT_TEXT and, on standard input, as JSON
    #[arg(long, value_name = "COMMAND")]
    notify: Option<String>,
}

/// What happened, and where.
pub struct Told {
    /// The session.
    pub session: SessionId,
    /// The subagent, if it was one.
    pub agent: Option<String>,
    /// What.
    pub event: Event,
}

/// Watches until somebody stops it.
pub fn run(args: &WatchArgs, run: &mut Run) -> Result<Answer, CliError> {
    let roots = run.roots()?;
    let roots: Vec<PathBuf> = roots.into_iter().map(|r| r.canonicalize().unwrap_or(r)).collect();
    let live = Live::new(roots.clone());
    // What is there already is not news.
    let since = run.clock.time();
    run.current_store()?;
    let mut running = Running::default();
    running.look(&roots);
    if !run.is_quiet() {
        let how = match &live.blind {
            Some(error) => format!("Looking every two seconds ({error})"),
            None => "Watching".into(),
        };
        run.talk.now(&format!("{how}; Ctrl-C ends it"));
    }
    loop {
        live.wait();
        let begun = Instant::now();
        let mut told = tell(run, since)?;
        told.extend(running.look(&roots));
        for told in &told {
            show(run, told)?;
            if let Some(command) = args.notify.as_ref().filter(|_| is_worth(told)) {
                notify(run, command, told);
            }
        }
        run.out.flush()?;
        // Most of the time is left to others, however large the folder is.
        std::thread::sleep(begun.elapsed() * 3);
    }
}

/// Brings the store up to date and tells what was new.
fn tell(run: &mut Run, since: Time) -> Result<Vec<Told>, CliError> {
    run.clock.now = crate::clock::now();
    let store = run.store()?;
    let homes = homes(run)?;
    let ear = Ear { since, told: Mutex::new(VecDeque::new()) };
    let done = sync::sync(&store, &homes, sync::Options::new(run.clock.time()), &ear);
    match done {
        Ok((_, problems)) => problems.into_iter().for_each(|problem| run.talk.skip(problem)),
        // Whoever has the lock reads it now; what it tells is lost to us, what is kept is not.
        Err(SyncError::Locked) => {}
        Err(error) => return Err(error.into()),
    }
    let told = ear.told.into_inner().unwrap_or_default();
    let mut told: Vec<Told> = told.into();
    told.sort_by_key(|told| told.event.time);
    Ok(told)
}

/// Hears what is read.
struct Ear {
    since: Time,
    told: Mutex<VecDeque<Told>>,
}

impl Watch for Ear {
    fn begin(&self, _: usize, _: u64) {}

    fn step(&self, _: usize, _: u64) {}

    fn entry(&self, rel: &Path, builder: &Builder, node: &Node, entry: &Entry<'_>) {
        // Copies of earlier entries come with new files.
        if node.time().is_none_or(|time| time < self.since) {
            return;
        }
        let by_name = match classify(rel) {
            FileKind::Session { session, .. } => (Some(session), None),
            FileKind::Agent { session, agent, .. } => (session, Some(agent.as_str().to_owned())),
            _ => return,
        };
        let (session, agent) = by_name;
        let own = entry.session.map(|id| SessionId::new(&*id.text()));
        let Some(session) = own.or(session) else { return };
        if let Ok(mut told) = self.told.lock() {
            let all = event::events(builder, node, entry);
            told.extend(all.into_iter().map(|event| Told {
                session: session.clone(),
                agent: agent.clone(),
                event,
            }));
        }
    }
}

/// The processes that are registered, and what each was doing.
#[derive(Default)]
struct Running {
    known: HashMap<PathBuf, (SessionId, Option<Status>)>,
}

impl Running {
    /// Looks again; tells who began to wait and who has ended.
    fn look(&mut self, roots: &[PathBuf]) -> Vec<Told> {
        let mut told = Vec::new();
        let mut here = BTreeSet::new();
        for root in roots {
            let Ok(files) = fs::read_dir(root.join("sessions")) else { continue };
            for file in files.flatten().map(|file| file.path()) {
                let is_json = file.extension().is_some_and(|end| end == "json");
                let Some(bytes) = is_json.then(|| fs::read(&file).ok()).flatten() else { continue };
                let (one, _) = registry::parse(&bytes);
                let Some(session) = one.session else { continue };
                here.insert(file.clone());
                let is_waiting = one.status == Some(Status::Waiting);
                let before = self.known.insert(file, (session.clone(), one.status.clone()));
                if is_waiting && before.is_none_or(|(_, status)| status != one.status) {
                    told.push(quiet(session, EventKind::Waiting, one.updated));
                }
            }
        }
        self.known.retain(|file, (session, _)| {
            let is_here = here.contains(file);
            if !is_here {
                told.push(quiet(session.clone(), EventKind::Ended, None));
            }
            is_here
        });
        told
    }
}

fn quiet(session: SessionId, kind: EventKind, time: Option<Time>) -> Told {
    let event = Event { time, entry: None, kind, tool: None, text: String::new() };
    Told { session, agent: None, event }
}

fn show(run: &mut Run, told: &Told) -> Result<(), CliError> {
    if run.json {
        return Ok(run.out.json(&wire::watch::WatchEvent::new(told))?);
    }
    let line = line(&run.clock, told);
    Ok(run.out.line(&line)?)
}

/// Whether somebody who is not looking wants to be called.
fn is_worth(told: &Told) -> bool {
    use EventKind::{Ended, Error, Finished, Waiting};
    told.agent.is_none() && matches!(told.event.kind, Finished | Waiting | Error | Ended)
}

/// Runs the person's command. What was said is in the environment and never part of the command.
fn notify(run: &mut Run, command: &str, told: &Told) {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut program = Command::new(shell);
    program.arg(flag).arg(command).stdin(Stdio::piped()).stdout(Stdio::null());
    program.env("RECOUNT_EVENT", told.event.kind.name());
    program.env("RECOUNT_SESSION", told.session.as_str());
    program.env("RECOUNT_TEXT", &*safe::fit(&safe::line(&told.event.text), WIDEST));
    let started = program.spawn().and_then(|mut child| {
        let mut line = Vec::new();
        wire::write(&mut line, &wire::watch::WatchEvent::new(told))?;
        line.push(b'\n');
        // Nobody waits for it; whoever does not read what it is told has no need of it.
        std::thread::spawn(move || {
            let _ = child.stdin.take().map(|mut pipe| pipe.write_all(&line));
            child.wait()
        });
        Ok(())
    });
    if let Err(error) = started {
        run.talk.now(&format!("`{}` can't be run: {error}", safe::line(command)));
    }
}

fn line(clock: &Clock, told: &Told) -> String {
    let Event { time, kind, tool, text, .. } = &told.event;
    let hue = match kind {
        EventKind::Prompt => style::PERSON,
        EventKind::Error | EventKind::Interrupt => style::BAD,
        EventKind::Finished => style::GOOD,
        EventKind::Waiting => style::ACTIVE,
        EventKind::Call | EventKind::Compaction | EventKind::Ended => style::DIM,
    };
    let time = clock.time_of_day(time.unwrap_or(clock.time()));
    let what = match (tool, text.as_str()) {
        (Some(tool), "") => safe::line(tool),
        (Some(tool), text) => format!("{}: {}", safe::line(tool), safe::line(text)),
        (None, text) => safe::line(text),
    };
    let who = if told.agent.is_some() { " (subagent)" } else { "" };
    let line = format!(
        "{}  {}{}  {}  {}",
        paint(style::DIM, &time),
        paint(style::NAME, &short(told.session.as_str())),
        paint(style::AGENT, who),
        paint(hue, &format!("{:10}", kind.name())),
        safe::fit(&what, WIDEST),
    );
    line.trim_end().into()
}

/// Characters of what was said.
const WIDEST: usize = 160;

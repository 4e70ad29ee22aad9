//! `recount watch`: what happens in running sessions, as it happens.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use store::sync::{self, SyncError, Watch};
use transcript::event::{Event, EventKind};
use transcript::id::SessionId;
use transcript::layout::{self, FileKind, Found, Problem};
use transcript::line::LineReader;
use transcript::reading::EntryReading;
use transcript::session::{Builder, Node};
use transcript::side::registry::Status;
use transcript::time::Time;

use super::short;
use crate::error::{Answer, CliError};
use crate::live::Live;
use crate::run::Run;
use crate::terminal::format::Clock;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;
use ask::Freshness;
use ask::process::{is_running, read_registry};

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
pub struct SessionEvent {
    /// The session.
    pub session: SessionId,
    /// The subagent, if it was one.
    pub agent: Option<String>,
    /// What.
    pub event: Event,
}

/// Watches until somebody stops it.
pub fn run(args: &WatchArgs, run: &mut Run) -> Result<Answer, CliError> {
    let roots = run.recount.claude_roots()?;
    let roots: Vec<PathBuf> = roots.into_iter().map(|r| r.canonicalize().unwrap_or(r)).collect();
    let live = Live::new(roots.clone());
    let mut follower = Follower::new(run, roots.clone());
    run.recount.current_store()?;
    // Transcripts themselves are watched, so nothing is missed.
    run.recount.observed.freshness = Freshness::Current;
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
        run.recount.clock.now = crate::clock::now();
        let mut events = follower.look(run);
        events.extend(running.look(&roots));
        for event in &events {
            show(run, event)?;
            if let Some(command) = args.notify.as_ref().filter(|_| is_worth(event)) {
                notify(run, command, event);
            }
        }
        run.out.flush()?;
        keep_store(run)?;
        // Three quarters of the time are left to others, however large the folder is.
        std::thread::sleep(begun.elapsed() * 3);
    }
}

/// The facts of at most this many transcripts are held. One that is held no more is read again from
/// its beginning when it grows.
const MAX_OPEN_TRANSCRIPTS: usize = 32;

/// Reads on in transcripts as they grow. Another process that keeps the store up to date at the
/// same time takes nothing away from it.
struct Follower {
    roots: Vec<PathBuf>,
    /// Skips events from before the watch began.
    since: Time,
    /// How far each transcript has been read.
    sizes: HashMap<PathBuf, u64>,
    /// The facts of transcripts that have grown, to know the calls that results belong to.
    open: HashMap<PathBuf, Builder>,
}

impl Follower {
    /// Begins at the present end of all transcripts.
    fn new(run: &mut Run, roots: Vec<PathBuf>) -> Self {
        let since = run.recount.clock.time();
        let mut follower = Self { roots, since, sizes: HashMap::new(), open: HashMap::new() };
        for found in follower.transcripts(run) {
            follower.sizes.insert(found.path, found.size);
        }
        follower
    }

    fn transcripts(&self, run: &mut Run) -> Vec<Found> {
        let mut all = Vec::new();
        for root in &self.roots {
            let walk = layout::walk_projects(root);
            walk.problems.into_iter().for_each(|problem| run.talk.skip(problem));
            all.extend(walk.files.into_iter().filter(|found| found.kind.is_transcript()));
        }
        all
    }

    /// The entries written since the last call, in order of time.
    fn look(&mut self, run: &mut Run) -> Vec<SessionEvent> {
        let mut events = Vec::new();
        for found in self.transcripts(run) {
            let known = self.sizes.insert(found.path.clone(), found.size);
            if known == Some(found.size) {
                continue;
            }
            let from = known.filter(|known| *known < found.size).unwrap_or(0);
            if from == 0 {
                self.open.remove(&found.path);
            }
            let mut builder = self.open.remove(&found.path).unwrap_or_default();
            let read = read_on(&found, &mut builder, from, self.since, &mut events);
            run.recount.or_skip(read);
            if self.open.len() >= MAX_OPEN_TRANSCRIPTS {
                self.open.clear();
            }
            self.open.insert(found.path, builder);
        }
        events.sort_by_key(|one| one.event.time);
        events
    }
}

/// Reads what follows in a transcript; entries that begin at `from` or later are news.
fn read_on(
    found: &Found,
    builder: &mut Builder,
    from: u64,
    since: Time,
    events: &mut Vec<SessionEvent>,
) -> Result<(), Problem> {
    let (source, mut odd) = (found.open()?, Vec::new());
    let failed = |error| Problem::new(&found.path, error);
    let mut lines = LineReader::new(source.reader(builder.consumed()), builder.consumed());
    while let Some(line) = lines.next_line().map_err(failed)? {
        let mut at = builder.nodes().len();
        // The rest of a line that was cut at the end of the file comes with its beginning.
        let is_news = line.offset + line.length > from;
        builder.line(line);
        EntryReading::each_in_line(line, &mut odd, |entry| {
            if let Some(node) = builder.nodes().get(at).filter(|_| is_news) {
                events.extend(events_of(found, builder, node, &entry, since));
            }
            at += 1;
        });
        odd.clear();
    }
    Ok(())
}

fn events_of(
    found: &Found,
    builder: &Builder,
    node: &Node,
    entry: &EntryReading<'_>,
    since: Time,
) -> Vec<SessionEvent> {
    // Copies of earlier entries come with new files.
    if node.time().is_none_or(|time| time < since) {
        return Vec::new();
    }
    let agent = match &found.kind {
        FileKind::Agent { agent, .. } => Some(agent.as_str().to_owned()),
        _ => None,
    };
    let own = entry.session_id();
    let Some(session) = own.or_else(|| found.kind.session().cloned()) else { return Vec::new() };
    let of_entry = |event| SessionEvent { session: session.clone(), agent: agent.clone(), event };
    entry.running_events(builder, node).into_iter().map(of_entry).collect()
}

/// Keeps the store up to date, unless another process does.
fn keep_store(run: &mut Run) -> Result<(), CliError> {
    let (store, homes) = (run.recount.store()?, run.recount.sync_homes()?);
    match sync::sync(&store, &homes, sync::Options::new(run.recount.clock.time()), &Unwatched) {
        Ok(_) | Err(SyncError::Locked) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _: usize, _: u64) {}

    fn step(&self, _: usize, _: u64) {}
}

/// The processes that are registered, and what each was doing.
#[derive(Default)]
struct Running {
    known: HashMap<PathBuf, (SessionId, Option<Status>)>,
}

impl Running {
    /// Looks again; tells who began to wait and who has ended.
    fn look(&mut self, roots: &[PathBuf]) -> Vec<SessionEvent> {
        let mut told = Vec::new();
        let mut here = BTreeSet::new();
        for root in roots {
            let Ok(files) = fs::read_dir(root.join("sessions")) else { continue };
            for file in files.flatten().map(|file| file.path()) {
                let is_json = file.extension().is_some_and(|end| end == "json");
                let Some(one) = is_json.then(|| read_registry(&file).ok()).flatten() else {
                    continue;
                };
                // A client that was killed leaves its file behind.
                if !is_running(&one) {
                    continue;
                }
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

fn quiet(session: SessionId, kind: EventKind, time: Option<Time>) -> SessionEvent {
    let event = Event { time, entry: None, kind, tool: None, text: String::new() };
    SessionEvent { session, agent: None, event }
}

fn show(run: &mut Run, told: &SessionEvent) -> Result<(), CliError> {
    if run.json {
        return Ok(run.out.json(&wire::watch::WatchEvent::new(told))?);
    }
    let line = line(&run.recount.clock, told);
    Ok(run.out.line(&line)?)
}

/// Whether somebody who is not looking wants to be called.
fn is_worth(told: &SessionEvent) -> bool {
    use EventKind::{Ended, Error, Finished, Waiting};
    told.agent.is_none() && matches!(told.event.kind, Finished | Waiting | Error | Ended)
}

/// Runs the person's command. What was said is in the environment and never part of the command.
fn notify(run: &mut Run, command: &str, told: &SessionEvent) {
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

fn line(clock: &Clock, told: &SessionEvent) -> String {
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

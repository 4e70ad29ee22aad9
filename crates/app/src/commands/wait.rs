//! `recount wait`: until a session has answered, or waits for a person.

use std::time::{Duration, Instant};

use transcript::id::SessionId;
use transcript::layout::Found;
use transcript::session::{Builder, Ending, Options};
use transcript::side::registry::{Running, Status};
use transcript::time::Time;

use super::short;
use crate::error::{Answer, CliError};
use crate::live::Live;
use crate::run::Run;
use crate::wire::wait::Waited;
use ask::name::SessionName;

/// A process that is gone without a word is noticed after this long.
const LOOK: Duration = Duration::from_secs(2);
/// A client that is idle may still write its last lines, and old versions don't say what they do:
/// a turn is over when nothing follows for this long.
const PAUSE: Duration = Duration::from_secs(3);
/// And a session is gone when nothing was written for this long.
const GONE: Duration = Duration::from_secs(120);

/// Wait until a session has answered, waits for you, or has ended.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 it has answered, 3 it waits for you (a permission, a question), 4 it was cut off
before it answered, 5 the time is over, 2 error.

Examples:
  recount wait latest && notify-send 'Claude has answered'
  recount wait 3f2a91c0 --timeout 600")]
pub struct WaitArgs {
    /// Id, beginning of one, `latest`, or `.` for the latest of this folder
    session: SessionName,

    /// Wait no longer than so many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

/// Waits.
pub fn run(args: &WaitArgs, run: &mut Run) -> Result<Answer, CliError> {
    let begun = Instant::now();
    let live = Live::new(run.recount.claude_roots()?);
    let time_left =
        || args.timeout.map(|most| Duration::from_secs(most).saturating_sub(begun.elapsed()));
    // `latest` is the one that was the latest when the wait began.
    let (id, found) = loop {
        match find(run, &args.session)? {
            Target::Transcript(id, found) => break (id, found),
            Target::NoTranscript(id) => return tell(run, &id, Answer::Nothing),
            Target::Starting(id) if time_left() == Some(Duration::ZERO) => {
                return tell(run, &id, Answer::TooLong);
            }
            Target::Starting(_) => live.wait_at_most(time_left().unwrap_or(LOOK).min(LOOK)),
        }
    };
    let mut builder = Builder::new();
    let mut is_told = run.is_quiet();
    let mut seen = Seen::default();
    loop {
        run.recount.clock.now = crate::clock::now();
        // Read the registry first, so that its state is never newer than the transcript.
        let pulse = run.recount.running_sessions()?;
        let client = pulse.running.iter().find(|one| one.session.as_ref() == Some(&id));
        let steady = seen.steady(client, run.recount.clock.time());
        found.open()?.read_into(&mut builder)?;
        let ending = builder.clone().finish(&Options { stem: found.stem(), copies: None }).ending();
        let written = std::fs::metadata(&found.path).and_then(|file| file.modified()).ok();
        let quiet = written.and_then(|time| time.elapsed().ok()).unwrap_or(Duration::MAX);
        let has_registry = pulse.has_registry(&found.path);
        let look = Look { client, has_registry, ending, quiet, steady };
        let again = match look.outcome() {
            Ok(answer) => return tell(run, &id, answer),
            Err(again) => again,
        };
        let left = time_left();
        if left == Some(Duration::ZERO) {
            return tell(run, &id, Answer::TooLong);
        }
        if !std::mem::replace(&mut is_told, true) {
            run.talk.now(&format!("Waiting for {}; Ctrl-C ends it", short(id.as_str())));
        }
        live.wait_at_most(left.unwrap_or(again).min(again));
    }
}

/// What there is to wait for.
enum Target {
    Transcript(SessionId, Box<Found>),
    /// A client runs it and has not written its first line yet.
    Starting(SessionId),
    /// Only prompts are left of it, or entries in other files.
    NoTranscript(SessionId),
}

fn find(run: &mut Run, name: &SessionName) -> Result<Target, CliError> {
    let library = run.recount.all_sessions()?;
    let id = match run.recount.identify_session(name, &library) {
        Ok(id) => id,
        Err(error) => {
            let starting = match name {
                SessionName::Id(text) => starting(run, text)?,
                _ => None,
            };
            return starting.map(Target::Starting).ok_or(error.into());
        }
    };
    let file = library.session(id.as_str()).and_then(|item| item.file);
    Ok(match file.map(|file| library.cards[file].found.clone()) {
        Some(found) => Target::Transcript(id, Box::new(found)),
        None => Target::NoTranscript(id),
    })
}

/// The session with this id, or the only one with this beginning, that a client runs now.
fn starting(run: &mut Run, text: &str) -> Result<Option<SessionId>, CliError> {
    let running = run.recount.running_sessions()?.running;
    let ids = running.into_iter().filter_map(|client| client.session);
    let mut ids = ids.filter(|id| id.as_str().starts_with(text));
    Ok(ids.next().filter(|_| ids.next().is_none()))
}

/// Since when the client has had its status, or has been gone.
#[derive(Default)]
struct Seen {
    last: Option<(Option<Status>, bool, Instant)>,
}

impl Seen {
    /// How long that is. Where the registry does not tell, it is counted from the first look; what
    /// was gone already at the first look has been gone for long.
    fn steady(&mut self, client: Option<&Running>, now: Time) -> Duration {
        let status = client.and_then(|client| client.status.clone());
        let is_here = client.is_some();
        let since = match self.last.take() {
            Some((known, was_here, since)) if known == status && was_here == is_here => Some(since),
            Some(_) => Some(Instant::now()),
            None => is_here.then(Instant::now),
        };
        if let Some(since) = since {
            self.last = Some((status, is_here, since));
        }
        let told = client.and_then(|client| client.status_since.or(client.updated));
        let told = told.map(|then| Duration::from_millis(now.since(then).max(0) as u64));
        let counted = since.map_or(Duration::MAX, |since| since.elapsed());
        told.map_or(counted, |told| told.max(counted))
    }
}

/// The state of a session at one moment.
struct Look<'a> {
    client: Option<&'a Running>,
    has_registry: bool,
    ending: Ending,
    /// How long nothing has been written to the transcript.
    quiet: Duration,
    /// How long the client has had its status, or has been gone.
    steady: Duration,
}

impl Look<'_> {
    /// What the session has come to; while that is open, how long to wait before the next look.
    fn outcome(&self) -> Result<Answer, Duration> {
        match self.client.map(|client| &client.status) {
            Some(Some(Status::Waiting)) => Ok(Answer::Waits),
            Some(Some(Status::Busy | Status::Shell)) => Err(LOOK),
            Some(Some(Status::Idle)) => self.ended(),
            None if self.has_registry => self.ended(),
            // Old versions do not say what they do.
            Some(_) if !self.has_answered() => Err(LOOK),
            Some(_) => after(PAUSE, self.quiet, Answer::Found),
            None if self.has_answered() => after(PAUSE, self.quiet, Answer::Found),
            None => after(GONE, self.quiet, Answer::CutOff),
        }
    }

    /// The client works no more, or is gone. It says so before it writes its last lines, so an
    /// open turn is one that was cut off only when nothing has followed for a while.
    fn ended(&self) -> Result<Answer, Duration> {
        match self.ending {
            Ending::Answered | Ending::Empty => Ok(Answer::Found),
            Ending::Interrupted => Ok(Answer::CutOff),
            Ending::Open => after(PAUSE, self.quiet.min(self.steady), Answer::CutOff),
        }
    }

    fn has_answered(&self) -> bool {
        matches!(self.ending, Ending::Answered | Ending::Empty)
    }
}

/// The answer once it has been quiet for so long.
fn after(least: Duration, quiet: Duration, answer: Answer) -> Result<Answer, Duration> {
    match least.saturating_sub(quiet) {
        Duration::ZERO => Ok(answer),
        left => Err(left.min(LOOK)),
    }
}

fn tell(run: &mut Run, id: &SessionId, answer: Answer) -> Result<Answer, CliError> {
    let (state, words) = match answer {
        Answer::Found => ("answered", "has answered"),
        Answer::Waits => ("waiting", "waits for you"),
        Answer::CutOff => ("cut_off", "was cut off before it answered"),
        Answer::TooLong => ("working", "still works"),
        Answer::Nothing | Answer::Stale => ("none", "has no transcript"),
    };
    match run.json {
        true => run.out.json(&Waited { session: id.as_str(), state })?,
        false => run.out.line(&format!("{} {words}", short(id.as_str())))?,
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::side::registry;

    const AGES: u64 = 9_999;

    fn client(more: &str) -> Running {
        registry::parse(format!(r#"{{"pid":1,"sessionId":"s"{more}}}"#).as_bytes()).0
    }

    /// The outcome with a registry; `quiet` and `steady` in seconds.
    fn after(
        status: Option<&str>,
        ending: Ending,
        quiet: u64,
        steady: u64,
    ) -> Result<Answer, Duration> {
        let client = status.map(client);
        let (quiet, steady) = (Duration::from_secs(quiet), Duration::from_secs(steady));
        Look { client: client.as_ref(), has_registry: true, ending, quiet, steady }.outcome()
    }

    const IDLE: Option<&str> = Some(r#","status":"idle""#);

    #[test]
    fn the_registry_knows_best() {
        let waits = Some(r#","status":"waiting""#);
        assert_eq!(after(waits, Ending::Open, 0, 0), Ok(Answer::Waits));
        for works in [r#","status":"busy""#, r#","status":"shell""#] {
            assert_eq!(after(Some(works), Ending::Answered, AGES, AGES), Err(LOOK));
        }
        assert_eq!(after(IDLE, Ending::Answered, 0, 0), Ok(Answer::Found));
        assert_eq!(after(IDLE, Ending::Interrupted, 0, 0), Ok(Answer::CutOff));
        assert_eq!(after(Some(""), Ending::Answered, 0, 0), Err(LOOK));
        assert_eq!(after(Some(""), Ending::Answered, 5, 0), Ok(Answer::Found));
    }

    #[test]
    fn the_last_lines_are_waited_for() {
        // The model has thought for a minute; the client is idle since a moment ago.
        assert!(after(IDLE, Ending::Open, 60, 0).is_err());
        // It has been idle for long, and a line came just now.
        assert!(after(IDLE, Ending::Open, 0, 60).is_err());
        assert_eq!(after(IDLE, Ending::Open, 60, 60), Ok(Answer::CutOff));
        assert!(after(None, Ending::Open, 60, 0).is_err());
        assert_eq!(after(None, Ending::Open, 60, AGES), Ok(Answer::CutOff));
    }

    #[test]
    fn a_status_is_as_old_as_the_registry_says_or_as_it_was_seen() {
        let now = Time(100_000);
        let idle = client(r#","status":"idle","statusUpdatedAt":40000,"updatedAt":99999"#);
        assert!(Seen::default().steady(Some(&idle), now) >= Duration::from_secs(60));
        let older = client(r#","status":"idle""#);
        let mut seen = Seen::default();
        assert!(seen.steady(Some(&older), now) < Duration::from_secs(30));
        // It has gone while we looked.
        assert!(seen.steady(None, now) < Duration::from_secs(30));
        assert!(seen.steady(None, now) < Duration::from_secs(30));
        // Nobody knows since when it is gone.
        let mut seen = Seen::default();
        assert_eq!(seen.steady(None, now), Duration::MAX);
        assert_eq!(seen.steady(None, now), Duration::MAX);
    }

    #[test]
    fn without_a_registry_silence_tells() {
        let after = |ending, seconds| {
            let quiet = Duration::from_secs(seconds);
            let steady = Duration::MAX;
            Look { client: None, has_registry: false, ending, quiet, steady }.outcome()
        };
        assert!(after(Ending::Answered, 0).is_err());
        assert_eq!(after(Ending::Answered, 5), Ok(Answer::Found));
        assert!(after(Ending::Open, 60).is_err());
        assert_eq!(after(Ending::Open, 600), Ok(Answer::CutOff));
    }
}

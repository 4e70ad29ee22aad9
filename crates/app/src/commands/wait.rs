//! `recount wait`: until a session has answered, or waits for a person.

use std::time::{Duration, Instant};

use report::list::Pulse;
use transcript::id::SessionId;
use transcript::session::{Builder, Ending, Options};
use transcript::side::registry::Status;

use super::list::pulse;
use super::short;
use crate::error::{Answer, CliError};
use crate::live::Live;
use crate::name::SessionName;
use crate::run::Run;
use crate::wire::wait::Waited;

/// A process that is gone without a word is noticed after this long.
const LOOK: Duration = Duration::from_secs(2);
/// Where nobody says what a session does, an answer is one when nothing follows it for this long.
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
    let live = Live::new(run.roots()?);
    let (library, _) = run.library(|_, _, _| None::<()>)?;
    // `latest` is the one that was the latest when the wait began.
    let id = run.identify(&args.session, &library)?;
    let file = library.session(id.as_str()).and_then(|item| item.file);
    let Some(found) = file.map(|file| library.cards[file].found.clone()) else {
        return tell(run, &id, Answer::Nothing);
    };
    drop(library);
    let mut builder = Builder::new();
    let mut is_told = run.is_quiet();
    loop {
        run.clock.now = crate::clock::now();
        let source = found.open()?;
        source.read_into(&mut builder)?;
        let ending = builder.clone().finish(&Options { stem: found.stem(), copies: None }).ending();
        let quiet = std::fs::metadata(&found.path).and_then(|file| file.modified()).ok();
        let quiet = quiet.and_then(|time| time.elapsed().ok());
        if let Some(answer) = state(&pulse(run)?, &id, ending, quiet) {
            return tell(run, &id, answer);
        }
        let left =
            args.timeout.map(|most| Duration::from_secs(most).saturating_sub(begun.elapsed()));
        if left == Some(Duration::ZERO) {
            return tell(run, &id, Answer::TooLong);
        }
        if !std::mem::replace(&mut is_told, true) {
            run.talk.now(&format!("Waiting for {}; Ctrl-C ends it", short(id.as_str())));
        }
        live.wait_at_most(left.unwrap_or(LOOK).min(LOOK));
    }
}

/// What a session has come to; `None` while it works. `quiet` is how long nothing was written.
fn state(pulse: &Pulse, id: &SessionId, ending: Ending, quiet: Option<Duration>) -> Option<Answer> {
    let has_answered = matches!(ending, Ending::Answered | Ending::Empty);
    let done = if has_answered { Answer::Found } else { Answer::CutOff };
    let is_quiet = |least: Duration| quiet.is_none_or(|quiet| quiet >= least);
    let running = pulse.running.iter().find(|one| one.session.as_ref() == Some(id));
    match running.map(|one| &one.status) {
        Some(Some(Status::Waiting)) => Some(Answer::Waits),
        Some(Some(Status::Idle)) => Some(done),
        Some(Some(Status::Busy)) => None,
        // Old versions do not say what they do.
        Some(_) => has_answered.then_some(done).filter(|_| is_quiet(PAUSE)),
        None if pulse.has_registry => Some(done),
        None if has_answered => Some(done).filter(|_| is_quiet(PAUSE)),
        None => Some(done).filter(|_| is_quiet(GONE)),
    }
}

fn tell(run: &mut Run, id: &SessionId, answer: Answer) -> Result<Answer, CliError> {
    let (state, words) = match answer {
        Answer::Found => ("answered", "has answered"),
        Answer::Waits => ("waiting", "waits for you"),
        Answer::CutOff => ("cut_off", "was cut off before it answered"),
        Answer::TooLong => ("working", "still works"),
        Answer::Nothing => ("none", "has no transcript"),
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

    fn pulse(status: Option<&str>) -> Pulse {
        let said = status.map(|status| format!(r#"{{"pid":1,"sessionId":"s"{status}}}"#));
        let running = said.into_iter().map(|json| registry::parse(json.as_bytes()).0).collect();
        Pulse { running, has_registry: true, now: None }
    }

    fn after(status: Option<&str>, ending: Ending, seconds: u64) -> Option<Answer> {
        state(&pulse(status), &SessionId::new("s"), ending, Some(Duration::from_secs(seconds)))
    }

    #[test]
    fn the_registry_knows_best() {
        let waits = r#","status":"waiting""#;
        let busy = r#","status":"busy""#;
        let idle = r#","status":"idle""#;
        assert_eq!(after(Some(waits), Ending::Open, 0), Some(Answer::Waits));
        assert_eq!(after(Some(busy), Ending::Answered, 9), None);
        assert_eq!(after(Some(idle), Ending::Answered, 0), Some(Answer::Found));
        assert_eq!(after(Some(idle), Ending::Interrupted, 0), Some(Answer::CutOff));
        assert_eq!(after(Some(""), Ending::Answered, 0), None);
        assert_eq!(after(Some(""), Ending::Answered, 5), Some(Answer::Found));
        assert_eq!(after(None, Ending::Open, 0), Some(Answer::CutOff));
    }

    #[test]
    fn without_a_registry_silence_tells() {
        let none = Pulse::default();
        let id = SessionId::new("s");
        let after = |ending, seconds| state(&none, &id, ending, Some(Duration::from_secs(seconds)));
        assert_eq!(after(Ending::Answered, 0), None);
        assert_eq!(after(Ending::Answered, 5), Some(Answer::Found));
        assert_eq!(after(Ending::Open, 60), None);
        assert_eq!(after(Ending::Open, 600), Some(Answer::CutOff));
    }
}

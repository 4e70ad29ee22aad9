//! `recount related`: the sessions that changed the same files and say the same words.

use report::related::{self, Related};
use store::catalog::SessionRow;
use store::find::Alike;
use transcript::id::SessionId;

use super::short;
use crate::args::SyncWait;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire::find::RelatedSession;
use ask::name::SessionName;

/// So many shared files are named, the others counted.
const NAMED_MOST: usize = 5;

/// The sessions most like one: they changed the same files, or say the same telling words; what
/// few sessions have counts most.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount related 3f2a              like this one
  recount related latest --limit 3  the three most like the last one
  recount related . --json          with all files that both changed

The percentage is of files: 100 % changed the same ones and no others. Words are the most telling
of the session's title, prompts and answers.")]
pub struct RelatedArgs {
    /// The session: an id, the beginning of one, `latest`, `.`
    session: SessionName,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,

    #[command(flatten)]
    sync_wait: SyncWait,
}

/// Prints the sessions like the one that was named.
pub fn run(args: &RelatedArgs, run: &mut Run) -> Result<Answer, CliError> {
    args.sync_wait.apply(run);
    run.recount.filled_store()?;
    run.recount.current_store()?;
    let stored = run.recount.open_stored()?;
    let session = stored.resolve(&run.recount, &args.session)?;
    let touched = stored.catalog.touched()?;
    let pairs = touched.iter().map(|deed| (deed.session.as_str(), &*deed.what));
    let by_files = related::related(pairs, session.id.as_str());
    let alike = alike(run, &session.id)?;
    let words = alike.iter().map(|one| {
        (one.session.as_str(), one.words.iter().map(String::as_str).collect::<Vec<_>>())
    });
    let mut all = related::fused(by_files, words);
    if all.is_empty() && session.files == 0 {
        run.talk.note("The session changed no files, and no other has its words".into());
    }
    let number = all.len();
    all.truncate(args.limit);
    for related in &all {
        let id = SessionId::new(related.session);
        let Some(session) = stored.catalog.session(&id)? else { continue };
        match run.json {
            true => run.out.json(&RelatedSession::new(&session, related))?,
            false => show(run, &session, related)?,
        }
    }
    if all.len() < number {
        run.talk.note(format!("{} of {}", count(all.len() as u64), counted(number, "session")));
    }
    Ok(Answer::of(&all))
}

/// What the index says; nothing if it has not been made yet.
fn alike(run: &mut Run, session: &SessionId) -> Result<Vec<Alike>, CliError> {
    match run.recount.open_index()? {
        Some(finder) => Ok(finder.alike(session)?),
        None => Ok(Vec::new()),
    }
}

fn show(run: &mut Run, session: &SessionRow, related: &Related<'_>) -> Result<(), CliError> {
    let when = session.last.map_or_else(|| "-".into(), |time| run.recount.clock.near(time));
    let project = session.project.as_deref().unwrap_or("-");
    let score = match related.shared.is_empty() {
        true => "     ".into(),
        false => format!("{:3.0} %", related.score * 100.0),
    };
    run.out.line(&format!(
        "{}  {score}  {}  {}",
        paint(style::NAME, &short(session.id.as_str())),
        safe::line(session.title.as_deref().unwrap_or("(no title)")),
        paint(style::DIM, &safe::line(&format!("{project}, {when}"))),
    ))?;
    for path in related.shared.iter().take(NAMED_MOST) {
        run.out.line(&format!("          {}", safe::line(path)))?;
    }
    let more = related.shared.len().saturating_sub(NAMED_MOST);
    if more > 0 {
        run.out.line(&format!("          and {}", counted(more, "more file")))?;
    }
    if !related.words.is_empty() {
        let words = safe::line(&related.words.join(", "));
        run.out.line(&format!("          {}", paint(style::DIM, &format!("words: {words}"))))?;
    }
    Ok(())
}

//! Looking through all sessions for what can be learned.

use std::path::{Path, PathBuf};

use report::errors::{self, ErrorItem};
use report::filter::{Period, ProjectFilter};
use report::learn::backlog::Learning;
use report::learn::{self, Candidate, Said, Sight, Tried};
use report::redact::{Options, Place, Redactor, Rules};
use transcript::id::Key;
use transcript::layout::{Found, Problem};
use transcript::library::Library;
use transcript::session::Session;
use transcript::source::Source;
use transcript::time::Time;

use super::{BacklogFile, ScanArgs, mine, show_line};
use crate::commands::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::counted;

/// What one file tells.
struct Told {
    errors: Vec<ErrorItem>,
    tried: Vec<Tried>,
    said: Vec<Said>,
}

fn take(_: &Found, session: &Session, source: &Source) -> Option<Result<Told, Problem>> {
    let read = || {
        Ok(Told {
            errors: errors::errors(session, source, true)?,
            tried: learn::commands(session, source)?,
            said: learn::corrections(session, source)?,
        })
    };
    Some(read())
}

/// Everything that was seen, each once.
#[derive(Default)]
struct Seen {
    errors: Vec<(Sight, ErrorItem)>,
    tried: Vec<(Sight, Tried)>,
    said: Vec<(Sight, String)>,
}

/// Scans, and adds what is new to the backlog.
pub fn run(args: &ScanArgs, file: &mut BacklogFile, run: &mut Run) -> Result<Answer, CliError> {
    let (project, period) = (args.scope.project(run)?, args.scope.period(run));
    let (library, taken) = run.recount.read_sessions(take)?;
    if let Some(command) = args.with.as_ref().filter(|_| args.segments) {
        let wanted = |path: Option<&str>| is_of(project.as_ref(), path);
        mine::segments(command, args.limit, &library, &wanted, file, run)?;
    } else {
        let seen = seen(&library, taken, (project.as_ref(), period), run);
        let mut all = learn::from_errors(&seen.errors);
        all.extend(learn::from_corrections(&seen.said));
        all.extend(learn::from_commands(&seen.tried));
        all.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.key.cmp(&b.key)));
        let personal = run.recount.settings_files()?.0.with_file_name("CLAUDE.md");
        let new = add(&all, &personal, file, run)?;
        run.talk.note(format!("{}, {new} of them new", counted(all.len(), "candidate")));
        file.write()?;
        if let Some(command) = &args.with {
            mine::candidates(command, args.limit, file, run)?;
        }
    }
    Ok(Answer::of(&file.backlog.learnings))
}

fn is_of(project: Option<&ProjectFilter>, path: Option<&str>) -> bool {
    project.is_none_or(|project| path.is_some_and(|path| project.matches(path)))
}

fn seen(
    library: &Library,
    taken: Vec<Option<Result<Told, Problem>>>,
    (project, period): (Option<&ProjectFilter>, Period),
    run: &mut Run,
) -> Seen {
    let mut all = Seen::default();
    for (card, told) in taken.into_iter().enumerate() {
        let Some(told) = told.and_then(|told| run.recount.or_skip(told)) else { continue };
        let its = &library.cards[card];
        let path = its.facts.cwd.as_deref();
        let Some(session) = its.id.as_ref().filter(|_| is_of(project, path)) else { continue };
        let counts =
            |key: Key, time: Option<Time>| !library.is_copy(card, key) && period.holds(time);
        let sight = |entry: u32, time: Option<Time>| Sight {
            session: session.to_string(),
            project: path.map(str::to_owned),
            entry,
            time,
        };
        for item in told.errors.into_iter().filter(|one| counts(one.key, one.time)) {
            all.errors.push((sight(item.number, item.time), item));
        }
        for one in told.tried.into_iter().filter(|one| counts(one.key, one.time)) {
            all.tried.push((sight(one.number, one.time), one));
        }
        for one in told.said.into_iter().filter(|one| counts(one.key, one.time)) {
            all.said.push((sight(one.number, one.time), one.text));
        }
    }
    all
}

/// Adds candidates to the backlog, or counts those that are there anew; how many are new. What
/// gets into a file that others read has no secrets.
fn add(
    all: &[Candidate],
    personal: &Path,
    file: &mut BacklogFile,
    run: &mut Run,
) -> Result<usize, CliError> {
    let redactor = Redactor::new(Rules::built_in(), Options::default());
    let clean = |text: &str| redactor.text(text, Place::default()).into_owned();
    let mut new = 0;
    for candidate in all {
        let id = candidate.id();
        let candidate = Candidate {
            key: clean(&candidate.key),
            title: clean(&candidate.title),
            problem: clean(&candidate.problem),
            solution: clean(&candidate.solution),
            ..candidate.clone()
        };
        let sources: Vec<String> = candidate
            .sources
            .iter()
            .map(|sight| format!("{}#{}", short(&sight.session), sight.entry))
            .collect();
        let target = target(candidate.folder.as_deref(), personal).display().to_string();
        if file.backlog.find(&id).is_none() {
            file.backlog.learnings.push(Learning::new(&id, &candidate.title));
            new += 1;
        }
        if let Some(one) = file.backlog.find(&id) {
            one.count(&candidate, &sources.join(" "), &target);
            if one.status() == "open" {
                show_line(one, run)?;
            }
        }
    }
    Ok(new)
}

/// The `CLAUDE.md` of the nearest folder that exists; that of the person where there is none.
fn target(folder: Option<&str>, personal: &Path) -> PathBuf {
    let folder = folder.map(Path::new);
    let there = folder.and_then(|folder| folder.ancestors().find(|folder| folder.is_dir()));
    match there.filter(|there| there.components().count() > 1) {
        Some(there) => there.join("CLAUDE.md"),
        None => personal.to_path_buf(),
    }
}

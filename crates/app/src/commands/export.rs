//! `recount export`: sessions as files to keep and to hand on.
//!
//! Everything that is written goes through the redactor first, unless that is turned off. Each
//! file is written beside its place and moved there, so that there is never half of one; what can't
//! be in it is said at its end.

mod page;
mod report;
mod target;
mod text;
mod walk;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use ::report::export::cover::Cover;
use ::report::export::index::Row;
use ::report::list::{self, ListFilter, ListOrder, Pulse};
use ::report::page::document::Frame;
use ::report::page::session::{Head, usage as usage_words};
use ::report::redact::{Found, Options, Redactor, Rules};
use ::report::show::Part;
use ::report::usage::{Ledger, Totals};
use rayon::prelude::*;
use transcript::layout::Problem;
use transcript::library::Library;
use transcript::record::Detail;
use transcript::session::Ending;
use transcript::source::Source;

use self::page::Sheet;
use self::target::{Format, Target, file_name};
use self::walk::{Choice, Subject, Walk};
use super::note::Notes;
use super::{show, usage};
use crate::args::Scope;
use crate::error::{Answer, CliError, ExportError};
use crate::run::Run;
use crate::terminal::format::Clock;
use crate::terminal::progress::Progress;
use ask::name::SessionName;
use ask::sessions::OpenSession;

/// Sessions as files to hand on: a page, Markdown, JSON, or their lines, without secrets.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount export latest --to session.html          one page with everything in it
  recount export 3f2a --to notes.md --detail 2     what was said, as Markdown
  recount export 3f2a --to pages --split           pages that need no JavaScript
  recount export 3f2a --to part.html --turn 3-7    some turns
  recount export --project shop --to shop          a project, with an index page
  recount export 3f2a --to copy.jsonl --no-redact  the lines, byte for byte

Secrets are replaced by placeholders, the same secret always by the same; a report says what was
replaced where. A private key that would remain refuses the export. What is not in an export is
said at its end.")]
pub struct ExportArgs {
    /// The sessions: an id, the beginning of one, `latest`, `.`, a path
    #[arg(value_name = "SESSION", required_unless_present_any = ["project", "all", "since", "until"])]
    sessions: Vec<SessionName>,

    /// Write to this file; of several sessions, into this folder
    #[arg(long, value_name = "PATH")]
    to: PathBuf,

    /// The form [default: by the end of PATH, else html]
    #[arg(long, value_name = "FORM")]
    format: Option<Format>,

    /// All sessions
    #[arg(long, conflicts_with = "sessions")]
    all: bool,

    #[command(flatten)]
    scope: Scope,

    /// Pages that need no JavaScript, in a folder
    #[arg(long)]
    split: bool,

    /// How much: 1 to 5, or prompts, conversation, work, everything, raw
    #[arg(long, value_name = "LEVEL", value_parser = show::detail)]
    detail: Option<Detail>,

    /// One turn or several: `3`, `3-7`, `3-`, `-7`
    #[arg(long, value_name = "TURNS", value_parser = show::turns, allow_hyphen_values = true, conflicts_with = "branch")]
    turn: Option<RangeInclusive<usize>>,

    /// A branch that was left, with what leads to it
    #[arg(long, value_name = "N")]
    branch: Option<usize>,

    /// Without pictures and documents
    #[arg(long)]
    no_images: bool,

    /// A title in place of the session's own
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Without subagents
    #[arg(long)]
    no_subagents: bool,

    /// With all secrets in it
    #[arg(long, conflicts_with_all = ["emails", "home_paths"])]
    no_redact: bool,

    /// Replace e-mail addresses, too
    #[arg(long)]
    emails: bool,

    /// Shorten the folders of users to `~`, too
    #[arg(long)]
    home_paths: bool,

    /// Replace what is there
    #[arg(long)]
    force: bool,
}

impl ExportArgs {
    fn is_list(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Whether several sessions go into a folder.
    fn is_many(&self) -> bool {
        self.sessions.len() != 1
    }

    fn format(&self) -> Format {
        self.format.or_else(|| Format::of(&self.to)).unwrap_or(Format::Html)
    }

    fn part(&self) -> Part {
        match (self.branch, &self.turn) {
            (Some(number), _) => Part::Branch(number),
            (_, Some(turns)) => Part::Turns(*turns.start(), *turns.end()),
            _ => Part::Way,
        }
    }

    /// Flags that can't mean anything together.
    fn check(&self) -> Result<(), ExportError> {
        let format = self.format();
        let not_with = |flag| ExportError::NotWith { flag, format: format.name() };
        if self.split && format != Format::Html {
            return Err(not_with("--split"));
        }
        if format == Format::Jsonl && self.detail.is_some() {
            return Err(not_with("--detail"));
        }
        if format == Format::Jsonl && self.title.is_some() {
            return Err(not_with("--title"));
        }
        if !self.is_many() {
            return Ok(());
        }
        let for_one = [
            (self.turn.is_some(), "--turn"),
            (self.branch.is_some(), "--branch"),
            (self.title.is_some() && !self.is_list(), "--title"),
        ];
        match for_one.iter().find(|(is_given, _)| *is_given) {
            Some((_, flag)) => Err(ExportError::OnlyOne(flag)),
            None => Ok(()),
        }
    }
}

/// What all sessions of an export share.
struct Work<'a> {
    args: &'a ExportArgs,
    format: Format,
    choice: Choice,
    redactor: Option<Redactor<'static>>,
    target: Target,
    used: HashMap<String, Used>,
    clock: Clock,
    notes: Vec<String>,
    /// What a person noted on sessions.
    own: Notes,
    /// Whether styles and code lie beside the pages.
    is_beside: bool,
    /// What was replaced.
    found: Vec<Found>,
}

/// What a session used.
#[derive(Default)]
struct Used {
    totals: Totals,
    /// Tokens that the model read, response by response.
    context: Vec<f64>,
}

/// A session that is to be exported.
enum Job<'a> {
    /// One of the library, by its place there.
    Known(&'a Library, usize),
    /// A file.
    Lone(Box<OpenSession>),
}

/// A session that was exported.
struct Done {
    row: Row,
    path: PathBuf,
    written: u64,
    records: usize,
    left_out: Vec<String>,
    problems: Vec<Problem>,
}

/// Writes the export.
pub fn run(args: &ExportArgs, run: &mut Run) -> Result<Answer, CliError> {
    args.check()?;
    let is_many = args.is_many();
    let target = Target::new(run, &args.to, is_many || args.split, args.force)?;
    let is_path = |name: &SessionName| matches!(name, SessionName::Path(_) | SessionName::Stdin);
    let library = match !args.is_list() && args.sessions.iter().all(is_path) {
        true => Library::default(),
        false => run.recount.all_sessions()?,
    };
    let jobs = jobs(args, run, &library)?;
    if jobs.is_empty() {
        return Ok(Answer::Nothing);
    }
    run.recount.observed.forget_damage();
    let used = match args.format() {
        Format::Jsonl => HashMap::new(),
        _ if library.sessions.is_empty() => HashMap::new(),
        _ => {
            let prices = run.recount.load_prices(None)?;
            used(&run.recount.count_responses(&prices)?.ledger)
        }
    };
    let options = Options { emails: args.emails, homes: args.home_paths };
    let redactor = (!args.no_redact).then(|| Redactor::new(Rules::built_in(), options));
    let notes = match &redactor {
        Some(_) => "Secrets are replaced by placeholders: [redacted:…]",
        None => "Nothing was redacted",
    };
    let mut work = Work {
        format: args.format(),
        choice: Choice {
            detail: args.detail.unwrap_or(Detail::Work),
            part: args.part(),
            images: !args.no_images,
            subagents: !args.no_subagents,
        },
        redactor,
        target,
        used,
        clock: run.recount.clock.clone(),
        notes: vec![notes.into()],
        own: Notes::of(run),
        is_beside: is_many && !args.split,
        found: Vec::new(),
        args,
    };
    let ids: Vec<String> = jobs.iter().map(id).collect();
    let done = export(run, &mut work, &jobs, &ids)?;
    if is_many {
        report::index(&work, &done)?;
    }
    report::report(run, &work, &done, &ids)?;
    Ok(Answer::of(&done))
}

/// The sessions that were asked for.
fn jobs<'a>(
    args: &ExportArgs,
    run: &mut Run,
    library: &'a Library,
) -> Result<Vec<Job<'a>>, CliError> {
    let place = |id: &str| library.sessions.iter().position(|item| item.id.as_str() == id);
    if args.is_list() {
        let filter = ListFilter {
            project: args.scope.project(run)?,
            period: args.scope.period(run),
            ..ListFilter::default()
        };
        let list = list::list(library, &[], &Pulse::default(), &filter, ListOrder::Time);
        let ids = list.rows.iter().filter_map(|row| place(row.item.id.as_str()));
        return Ok(ids.map(|at| Job::Known(library, at)).collect());
    }
    let (mut jobs, mut seen) = (Vec::new(), HashSet::new());
    for name in &args.sessions {
        match name {
            SessionName::Path(_) | SessionName::Stdin => {
                jobs.push(Job::Lone(run.recount.open_with_agents(name)?.into()));
            }
            name => {
                let id = run.recount.identify_session(name, library)?;
                let at = place(id.as_str()).filter(|at| seen.insert(*at));
                jobs.extend(at.map(|at| Job::Known(library, at)));
            }
        }
    }
    Ok(jobs)
}

/// What each session used.
fn used(ledger: &Ledger) -> HashMap<String, Used> {
    let mut used: HashMap<String, Used> = HashMap::new();
    for response in &ledger.responses {
        let of = used.entry(ledger.name(response.session).to_owned()).or_default();
        of.totals.add_whole(response);
        if response.agent.is_none() && !response.is_advisor {
            of.context.push(response.tokens.prompt() as f64);
        }
        of.totals.is_understated = ledger.understated.contains(&response.session);
    }
    used
}

/// Exports sessions, several at a time, the largest first; in their order.
fn export(
    run: &mut Run,
    work: &mut Work<'_>,
    jobs: &[Job<'_>],
    ids: &[String],
) -> Result<Vec<Done>, CliError> {
    let is_one = jobs.len() == 1;
    let names = names(work, ids);
    let sizes: Vec<u64> = jobs.iter().map(bytes).collect();
    let progress = Progress::new(run.is_quiet(), jobs.len(), sizes.iter().sum());
    let pass = |work: &Work<'_>, mut order: Vec<usize>| -> Vec<(usize, Result<Done, CliError>)> {
        order.sort_by_key(|&at| std::cmp::Reverse(sizes[at]));
        let all = order.into_par_iter().with_max_len(1);
        let one = |at: usize| {
            let result = one(work, &jobs[at], at, &names[at]);
            progress.step(sizes[at]);
            (at, result)
        };
        all.map(one).collect()
    };
    let mut results: BTreeMap<usize, Result<Done, CliError>> =
        pass(work, (0..jobs.len()).collect()).into_iter().collect();
    work.found = work.redactor.as_ref().map_or_else(Vec::new, Redactor::report);
    let ordered = work.redactor.as_ref().filter(|_| !is_one).map(Redactor::in_order);
    if let Some((redactor, others)) = ordered.filter(|(_, others)| !others.is_empty()) {
        // Which secret came first was chance: what has it is written once more.
        work.redactor = Some(redactor);
        work.target.force = true;
        results.extend(pass(work, others.into_iter().map(|at| at as usize).collect()));
    }
    drop(progress);
    let mut done = Vec::new();
    for (_, result) in results {
        match result {
            Ok(mut one) => {
                one.problems.drain(..).for_each(|problem| run.talk.skip(problem));
                done.push(one);
            }
            Err(CliError::Read(problem)) if !is_one => run.talk.skip(problem),
            Err(CliError::Export(error @ ExportError::Key { .. })) if !is_one => {
                run.talk.fail(&error.into());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn bytes(job: &Job<'_>) -> u64 {
    match job {
        Job::Known(library, at) => {
            let item = &library.sessions[*at];
            let files = item.file.into_iter().chain(item.agents.iter().filter_map(|a| a.file));
            files.map(|file| library.cards[file].found.size).sum()
        }
        Job::Lone(open) => open.sources[0].size().unwrap_or(0),
    }
}

fn id(job: &Job<'_>) -> String {
    match job {
        Job::Known(library, at) => library.sessions[*at].id.to_string(),
        Job::Lone(open) => subject(open).name(),
    }
}

/// The names of the sessions' files or folders, each another.
fn names(work: &Work<'_>, ids: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = ["index".to_owned(), "page".to_owned()].into();
    let mut names = Vec::with_capacity(ids.len());
    for id in ids {
        let name = file_name(id);
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|n| !taken.contains(n));
        let name = free.expect("there are more numbers than sessions");
        taken.insert(name.clone());
        names.push(match work.args.split {
            true => name,
            false => format!("{name}.{}", work.format.end()),
        });
    }
    names
}

fn subject(open: &OpenSession) -> Subject<'_> {
    let known = open
        .known
        .as_ref()
        .and_then(|(library, id)| Some((library, library.session(id.as_str())?)));
    Subject { session: &open.session, sources: &open.sources, known }
}

/// Exports one session.
fn one(work: &Work<'_>, job: &Job<'_>, at: usize, name: &str) -> Result<Done, CliError> {
    match job {
        Job::Lone(open) => write(work, subject(open), at, name),
        Job::Known(library, item) => {
            let item = &library.sessions[*item];
            let (session, files) = library.read(item)?;
            let sources: Vec<Source> =
                files.iter().map(|found| found.open()).collect::<Result<_, _>>()?;
            let subject =
                Subject { session: &session, sources: &sources, known: Some((library, item)) };
            write(work, subject, at, name)
        }
    }
}

fn write(work: &Work<'_>, subject: Subject<'_>, at: usize, name: &str) -> Result<Done, CliError> {
    let cover = match &work.redactor {
        Some(redactor) => Cover::new(Rules::built_in(), redactor, at as u64),
        None => Cover::none(),
    };
    let mut walk = Walk::new(subject, work.choice, cover);
    let head = head(work, &mut walk);
    let path = match (work.args.is_many(), work.target.is_folder, work.args.split) {
        (false, _, true) | (false, false, _) => work.target.path.clone(),
        _ => work.target.path.join(name),
    };
    let written = match (work.format, work.args.split) {
        (Format::Html, true) => split(work, &mut walk, &head, &path)?,
        _ => whole(work, &mut walk, &head, &path)?,
    };
    let path = if work.args.split { path.join("index.html") } else { path };
    let left_out = text::left_out(&walk, &work.notes);
    Ok(Done {
        row: row(work, &walk, &head, name),
        path,
        written,
        records: walk.tally.records,
        left_out,
        problems: walk.problems,
    })
}

/// Nothing is moved to its place while something of a key is in it.
fn refuse(walk: &Walk<'_>) -> Result<(), CliError> {
    match walk.cover.left {
        Some(entry) => Err(ExportError::Key { session: walk.subject.name(), entry }.into()),
        None => Ok(()),
    }
}

/// A session in one file.
fn whole(work: &Work<'_>, walk: &mut Walk<'_>, head: &Head, path: &Path) -> Result<u64, CliError> {
    let style = page::style(walk, work.clock.now.time_zone().clone());
    let frame = if work.is_beside { Frame::Beside } else { Frame::File };
    let mut written = work.target.write(path, |out| {
        match work.format {
            Format::Html => {
                let sheet = Sheet { head, style: &style, notes: &work.notes, frame };
                page::single(walk, &sheet, out)?;
            }
            Format::Markdown => {
                text::markdown(walk, head, (&style, &work.clock), &work.notes, out)?;
            }
            Format::Json => text::json(walk, head, &work.notes, out)?,
            Format::Jsonl => text::lines(walk, out)?,
        }
        refuse(walk)
    })?;
    if work.format == Format::Jsonl {
        written += agents(work, walk, path)?;
    }
    Ok(written)
}

/// The lines of subagents, where Claude Code would have them.
fn agents(work: &Work<'_>, walk: &mut Walk<'_>, path: &Path) -> Result<u64, CliError> {
    let Some((library, item)) = walk.subject.known else { return Ok(0) };
    let files = item.agents.iter().filter_map(|agent| Some((agent, agent.file?)));
    if !work.choice.subagents || work.choice.part != Part::Way {
        walk.tally.agents = files.count();
        return Ok(0);
    }
    let folder = path.with_extension("").join("subagents");
    let mut written = 0;
    for (agent, file) in files {
        let name = format!("agent-{}.jsonl", file_name(agent.id.as_str()));
        let source = library.cards[file].found.open()?;
        written += work.target.write(&folder.join(name), |out| {
            text::file(walk, &source, out)?;
            refuse(walk)
        })?;
    }
    Ok(written)
}

/// A session as pages in a folder.
fn split(
    work: &Work<'_>,
    walk: &mut Walk<'_>,
    head: &Head,
    folder: &Path,
) -> Result<u64, CliError> {
    let style = page::style(walk, work.clock.now.time_zone().clone());
    let sheet = Sheet { head, style: &style, notes: &work.notes, frame: Frame::Plain };
    work.target.assets(folder, false)?;
    let mut written = 0;
    page::split(walk, &sheet, &mut |name, html| {
        written += work
            .target
            .write(&folder.join(name), |out| Ok(out.write_all(html.as_str().as_bytes())?))?;
        Ok(())
    })?;
    Ok(written)
}

/// What is said of a session at its top, without secrets.
fn head(work: &Work<'_>, walk: &mut Walk<'_>) -> Head {
    let Subject { session, known, .. } = walk.subject;
    let mut head = Head::of(session);
    head.id = walk.subject.name();
    head.notes.extend(work.own.sentences(&head.id));
    let own = known.and_then(|(_, item)| item.title.as_ref()).map(|(title, _)| title.to_string());
    let cover = &mut walk.cover;
    head.title = match (&work.args.title, own) {
        (Some(title), _) if !work.args.is_list() => title.clone(),
        (_, Some(own)) => cover.title(&own),
        _ => cover.title(&head.title),
    };
    let ending = known.map_or(Ending::Answered, |(_, item)| item.facts.ending);
    let is_cut = matches!(ending, Ending::Open | Ending::Interrupted);
    head.state = if is_cut { "interrupted" } else { "ended" };
    let texts = head.project.iter_mut().chain(&mut head.branch).chain(&mut head.models);
    let texts = texts.chain(&mut head.notes).chain(&mut head.prs);
    let files = head.files.iter_mut().map(|(path, ..)| path);
    let commits = head.commits.iter_mut().map(|(_, subject)| subject);
    let failed = head.failed.iter_mut().map(|(_, tool)| tool);
    texts.chain(files).chain(commits).chain(failed).for_each(|text| _ = cover.text(text, 0));
    head.bytes = walk.subject.bytes();
    if let Some(used) = work.used.get(&head.id) {
        head.usage = usage_words(&used.totals);
        head.context = used.context.clone();
    }
    head
}

fn row(work: &Work<'_>, walk: &Walk<'_>, head: &Head, name: &str) -> Row {
    let used = work.used.get(&head.id);
    let mut path = vec![name.to_owned()];
    path.extend(work.args.split.then(|| "index.html".into()));
    Row {
        id: head.id.clone(),
        title: head.title.clone(),
        project: head.project.clone(),
        first: head.first,
        last: head.last,
        turns: head.turns,
        commits: head.commits.iter().map(|(_, subject)| subject.clone()).collect(),
        cost: used.map(|used| usage::signed(used.totals.cost(), used.totals.confidence())),
        bytes: walk.subject.bytes(),
        path,
    }
}

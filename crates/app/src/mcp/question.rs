//! The questions of an agent, and their answers as lines.

use std::collections::HashSet;

use ask::errors::{ErrorsQuery, FailedCall};
use ask::file::FileHistory;
use ask::recall::{MAX_TURNS, RecallQuery, query_filters};
use ask::search::{SearchQuery, subagent_of_hit};
use ask::time_arg::TimeArg;
use report::file::{BackupRow, ChangeRow, Filter};
use report::filter::{Period, ProjectFilter};
use report::list::{ListFilter, ListOrder};
use store::catalog::{CommitRow, Deed, SessionRow};
use store::find::{Evidence, Hit, QUOTE, SNIPPET};
use store::index::{By, Options, Rung};
use store::query::{Filters, Place, Query, Role};
use transcript::id::{AgentId, SessionId};
use transcript::reading::ErrorText;
use transcript::time::Time;

use super::Refusal;
use super::answer::{Item, Page, USUAL, cursor};
use super::tool::{Errors, FileQuestion, Recall, Search, Sessions};
use crate::quote::{minute, place, said, told};
use crate::run::Run;
use crate::terminal::format::counted;
use crate::terminal::safe;
use crate::wire;

/// How many results are looked for at once.
const STEP: usize = 40;
/// How much of a failed call and of its error is quoted.
const MAX_INPUT_COLUMNS: usize = 300;
/// How much is quoted of one evidence at least and at most.
const BUDGET: std::ops::RangeInclusive<usize> = 200..=12_000;

/// The id of the running session, if it is known.
fn own_id(run: &Run) -> Option<SessionId> {
    run.recount.asking.clone()
}

/// A time to the minute, with a space before it.
fn minute_of(time: Option<Time>) -> String {
    minute(wire::time(time).as_deref())
}

/// Each session once, before the first line that is from it.
#[derive(Default)]
struct Headings(HashSet<String>);

impl Headings {
    fn next(&mut self, session: &str, title: Option<&str>, project: Option<&str>) -> Item {
        if !self.0.insert(session.to_owned()) {
            return Item::new();
        }
        let project = project.map(|project| format!(" ({project})")).unwrap_or_default();
        let title = title.unwrap_or("no title");
        vec![said(&place(session, None, None), "session", &format!("{title}{project}"))]
    }

    fn next_of_hit(&mut self, hit: &Hit) -> Item {
        let SessionRow { id, title, project, .. } = &hit.session;
        self.next(id.as_str(), title.as_deref(), project.as_deref())
    }
}

/// Where an entry of the session of a hit is.
fn place_in(hit: &Hit, entry: u32) -> String {
    let agent = subagent_of_hit(hit);
    place(hit.session.id.as_str(), agent.as_deref(), Some(entry.into()))
}

/// The project and the period of a question.
fn scope(
    run: &Run,
    project: Option<&str>,
    since: Option<&str>,
    until: Option<&str>,
) -> Result<(Option<ProjectFilter>, Period), Refusal> {
    let (since, until) = (since.map(time).transpose()?, until.map(time).transpose()?);
    let period = run.recount.period_between(since.as_ref(), until.as_ref());
    Ok((run.recount.project_filter(project)?, period))
}

/// Where something was said.
pub fn search(asked: &Search, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let (text, by) = (asked.query.clone(), By::Both);
    let query = SearchQuery { text, regex: None, by, limit: STEP, offset: from };
    let answer = run.recount.search(&query)?;
    let mut headings = Headings::default();
    let items = answer.hits.iter().map(|hit| {
        let place = format!("{}{}", place_in(hit, hit.entry), minute_of(hit.time));
        let what = format!("{}, {}", hit.role.name(), hit.place.name());
        let mut item = headings.next_of_hit(hit);
        item.push(said(&place, &what, &hit.snippet.text));
        item
    });
    let mut page = Page::of(from, items, USUAL, answer.is_more);
    if answer.rung != Rung::Words && !answer.hits.is_empty() {
        let rung = answer.rung.name();
        page.notes.push(format!("Nothing has these words as they are; found by {rung}"));
    }
    Ok(page)
}

/// The evidence for a question.
pub fn recall(asked: &Recall, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let budget = asked.budget.unwrap_or(4_000).clamp(*BUDGET.start(), *BUDGET.end());
    let Recall { project, since, until, .. } = asked;
    let (project, period) = scope(run, project.as_deref(), since.as_deref(), until.as_deref())?;
    let query = RecallQuery {
        question: asked.question.clone(),
        project,
        period,
        // Evidence of earlier pages had room for a whole quote each.
        max_chars: budget + from.min(100) * QUOTE,
        by: By::Both,
    };
    let recalled = run.recount.recall(&query)?.recalled;
    let mut left = budget;
    let fitting = recalled.evidence.iter().skip(from).take_while(|evidence| {
        let length: usize =
            evidence.quotes().iter().map(|quote| quote.text().chars().count()).sum();
        // The first is given whatever its length: else there would be no way past it.
        let fits = length <= left || left == budget;
        left = left.saturating_sub(length);
        fits
    });
    let fitting: Vec<&Evidence> = fitting.collect();
    let all = recalled.evidence.len();
    let is_more = from + fitting.len() < all || recalled.is_more && all < MAX_TURNS;
    let mut headings = Headings::default();
    let items = fitting.iter().map(|evidence| quotes(evidence, &mut headings));
    let mut page = Page::of(from, items.collect::<Vec<_>>(), usize::MAX, is_more);
    if recalled.rung != Rung::Words && all > 0 {
        let rung = recalled.rung.name();
        page.notes.push(format!("Not all words were found as they are; found by {rung}"));
    }
    Ok(page)
}

fn quotes(evidence: &Evidence, headings: &mut Headings) -> Item {
    let hit = &evidence.hit;
    let mut item = headings.next_of_hit(hit);
    let time = minute_of(hit.time);
    for file in &evidence.files {
        let since = match file.is_changed_since {
            true => "changed a file, which was changed again since",
            false => "changed a file, which was not changed since",
        };
        item.push(said(&format!("{}{time}", place_in(hit, hit.entry)), since, &file.path));
    }
    for quote in evidence.quotes() {
        let place = format!("{}{time}", place_in(hit, quote.entry));
        let what = format!("{}, {}", quote.role.name(), hit.place.name());
        item.extend(told(&place, &what, quote.text()));
    }
    item
}

/// The sessions.
pub fn sessions(asked: &Sessions, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let Sessions { project, since, until, .. } = asked;
    let (project, period) = scope(run, project.as_deref(), since.as_deref(), until.as_deref())?;
    let overview = run.recount.session_overview()?;
    let filter = ListFilter { project, period, ..ListFilter::default() };
    let list = overview.list(&filter, ListOrder::Time);
    let is_more = list.rows.len() > from + STEP;
    let own = own_id(run);
    let items = list.rows.iter().skip(from).take(STEP).map(|row| {
        let (item, facts) = (row.item, &row.item.facts);
        let state = match own.as_ref() == Some(&item.id) {
            true => "this session",
            false => row.life.name(),
        };
        let what = format!(
            "{state}, {}, {}, {}, {}",
            counted(facts.turns, "turn"),
            counted(row.errors, "failed call"),
            counted(facts.files, "file"),
            row.project.as_deref().unwrap_or("no project"),
        );
        let place = format!("{}{}", place(item.id.as_str(), None, None), minute_of(facts.last));
        let title = item.title.as_ref().map_or("no title", |(title, _)| &**title);
        vec![said(&place, &what, title)]
    });
    Ok(Page::of(from, items.collect::<Vec<_>>(), USUAL, is_more))
}

/// The failed calls, with what helped.
pub fn errors(asked: &Errors, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let (project, period) = scope(run, asked.project.as_deref(), asked.since.as_deref(), None)?;
    let words = asked.text.iter().flat_map(|text| text.split_whitespace());
    let query = ErrorsQuery {
        project,
        period,
        tool: asked.tool.clone(),
        words: words.map(str::to_owned).collect(),
        fixes: true,
        ..ErrorsQuery::default()
    };
    let mut all = run.recount.failed_calls(&query)?;
    let own = own_id(run);
    let own = own.as_ref().map(SessionId::as_str);
    all.retain(|one| own.is_none() || one.session.as_deref() != own);
    all.sort_by_key(|one| std::cmp::Reverse(one.item.time));
    let is_more = all.len() > from + STEP;
    let shown = all.iter().skip(from).take(STEP);
    Ok(Page::of(from, shown.map(failure).collect::<Vec<_>>(), USUAL, is_more))
}

fn time(text: &str) -> Result<TimeArg, Refusal> {
    text.parse().map_err(|error| Refusal(format!("Invalid time `{text}`: {error}")))
}

fn failure(call: &FailedCall) -> Item {
    let FailedCall { session, agent, item, .. } = call;
    let session = session.as_deref().unwrap_or("unknown");
    let at = |entry: u32| place(session, agent.as_deref(), Some(entry.into()));
    let (tool, own) = (item.tool.as_deref().unwrap_or("unknown tool"), at(item.number));
    let short = |text: &str| safe::fit(&safe::line(text), MAX_INPUT_COLUMNS).into_owned();
    let first = format!("{own}{}", minute_of(item.time));
    let input = item.input.as_deref().unwrap_or("null");
    let mut lines = vec![said(&first, &format!("{tool} failed"), &short(input))];
    let message = match &item.error {
        ErrorText::Text(text) => short(text),
        ErrorText::Blocks(json) => short(json),
        ErrorText::None => "no message".into(),
    };
    lines.push(said(&own, "error", &message));
    if let Some(fix) = &item.fix {
        let what = format!("{tool} worked then ({})", fix.sureness.name());
        lines.push(said(&at(fix.number), &what, &short(&fix.input)));
    }
    lines
}

/// What happened to a file.
pub fn file_history(asked: &FileQuestion, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let history = FileHistory::read(&mut run.recount, &asked.path)?;
    let logs = history.logs(&Filter::default());
    let mut headings = Headings::default();
    let own = own_id(run);
    let changes = logs.iter().flat_map(|log| &log.changes).map(FileRecord::Change);
    let backups = logs.iter().flat_map(|log| &log.backups).map(FileRecord::Backup);
    let mut all: Vec<FileRecord<'_>> = changes.chain(backups).collect();
    all.sort_by_key(|record| std::cmp::Reverse(record.time()));
    let items = all.iter().skip(from).map(|record| {
        let session = record.session();
        let mut item = headings.next(session.as_str(), history.title(session), None);
        item.push(record.line(own.as_ref()));
        item
    });
    Ok(Page::of(from, items.collect::<Vec<_>>(), USUAL, false))
}

/// Something that is recorded of a file.
enum FileRecord<'a> {
    Change(&'a ChangeRow),
    Backup(&'a BackupRow),
}

impl FileRecord<'_> {
    fn time(&self) -> Option<Time> {
        match self {
            Self::Change(row) => row.event.time,
            Self::Backup(row) => row.time,
        }
    }

    fn session(&self) -> &SessionId {
        match self {
            Self::Change(row) => &row.session,
            Self::Backup(row) => &row.session,
        }
    }

    fn line(&self, own: Option<&SessionId>) -> String {
        let time = minute_of(self.time());
        let session = self.session().as_str();
        match self {
            Self::Backup(row) => {
                let version = row.version.map_or_else(|| "null".into(), |v| v.to_string());
                let what = format!("kept as version {version} ({})", row.kept.word());
                said(&format!("{}{time}", place(session, None, None)), &what, &row.path)
            }
            Self::Change(ChangeRow { event, agent, .. }) => {
                let counts = match event.unknown {
                    true => "changed, size unknown".into(),
                    false => format!("+{} -{}", event.added, event.removed),
                };
                let this = if own == Some(self.session()) { ", this session" } else { "" };
                let what = format!("{} {counts}, {}{this}", event.tool, event.state.name());
                let agent = agent.as_ref().map(AgentId::as_str);
                let place = place(session, agent, Some(event.number.into()));
                said(&format!("{place}{time}"), &what, &event.path)
            }
        }
    }
}

/// Prompts and commits, newest first.
pub fn timeline(asked: &Sessions, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let Sessions { project, since, until, .. } = asked;
    let (project, period) = scope(run, project.as_deref(), since.as_deref(), until.as_deref())?;
    // What a subagent is asked, nobody asked.
    let place = vec![Place::Active, Place::Compacted, Place::Abandoned];
    let role = vec![Role::Prompt];
    let only = Filters { role, place, ..query_filters(project.as_ref(), period) };
    let mut query = Query { only, ..Query::default() };
    run.recount.exclude_asking(&mut query);
    let options = Options { limit: from + STEP + 1, ..Options::default() };
    let (hits, mut commits, sessions) = run.recount.ask_index(|finder| {
        let hits = finder.search(&query, options, SNIPPET)?.hits;
        Ok((hits, finder.catalog().commits("")?, finder.catalog().sessions()?))
    })?;
    let is_its = |id: &SessionId| {
        let mut its = sessions.iter().filter(|session| session.id == *id);
        project.as_ref().is_none_or(|project| {
            its.any(|session| session.project.as_deref().is_some_and(|path| project.matches(path)))
        })
    };
    commits.retain(|deed| run.recount.asking.as_ref() != Some(&deed.session));
    commits.retain(|deed| period.holds(deed.what.time) && is_its(&deed.session));
    let prompts = hits.iter().map(|hit| (hit.time, prompt(hit)));
    let commits = commits.iter().map(|deed| (deed.what.time, commit(deed)));
    let mut all: Vec<(Option<Time>, Item)> = prompts.chain(commits).collect();
    all.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let is_more = all.len() > from + STEP;
    let items = all.into_iter().skip(from).take(STEP).map(|(_, item)| item);
    Ok(Page::of(from, items, USUAL, is_more))
}

fn prompt(hit: &Hit) -> Item {
    let place = place(hit.session.id.as_str(), None, Some(hit.entry.into()));
    let time = minute_of(hit.time);
    vec![said(&format!("{place}{time}"), "prompt", &hit.snippet.text)]
}

fn commit(deed: &Deed<CommitRow>) -> Item {
    let commit = &deed.what;
    let place = place(deed.session.as_str(), None, Some(commit.entry.into()));
    let time = minute_of(commit.time);
    let subject = commit.subject.as_deref().unwrap_or_default();
    vec![said(&format!("{place}{time}"), "commit", &format!("{} {subject}", commit.hash))]
}

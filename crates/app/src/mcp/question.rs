//! Questions as commands, and the lines that they print as JSON as lines of an answer.

use ask::errors::ErrorsQuery;
use serde_json::Value;
use store::catalog::{CommitRow, Deed};
use store::find::{Hit, QUOTE, SNIPPET};
use store::index::Options;
use store::query::{Filters, Place, Query, Role};
use transcript::id::SessionId;
use transcript::time::Time;

use super::Refusal;
use super::answer::{Item, Page, USUAL, cursor};
use super::tool::{Errors, FileHistory, Recall, Search, Sessions};
use crate::args::{command_of, reason};
use crate::commands::recall::{TURNS, filters};
use crate::commands::{self, errors as failed};
use crate::quote::{minute, place, said, told};
use crate::run::Run;
use crate::terminal::format::counted;
use crate::terminal::safe;
use crate::wire;
use ask::time_arg::TimeArg;

/// So many things are looked for at once.
const STEP: usize = 40;
/// How much of a failed call and of its error is told, in columns.
const INPUT: usize = 300;
/// How much is quoted of one evidence at least and at most.
const BUDGET: std::ops::RangeInclusive<usize> = 200..=12_000;

/// The JSON lines of a command.
fn lines(run: &mut Run, words: Vec<String>) -> Result<Vec<Value>, Refusal> {
    let all = ["recount".to_owned()].into_iter().chain(words);
    let command = command_of(all).map_err(|error| Refusal(reason(&error)))?;
    commands::run(&command, run)?;
    read_lines(&run.out.take())
}

fn read_lines(bytes: &[u8]) -> Result<Vec<Value>, Refusal> {
    let wrong = |error| Refusal(format!("The answer could not be read: {error}"));
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(wrong)).collect()
}

/// Flags with their values; those that were not given are left out.
fn flags(flags: &[(&str, &Option<String>)]) -> Vec<String> {
    let flag =
        |(name, value): &(&str, &Option<String>)| Some(format!("--{name}={}", value.as_ref()?));
    flags.iter().filter_map(flag).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Where a line of JSON is from. A subagent is named by its file.
fn of(value: &Value, entry: Option<u64>) -> String {
    let file = std::path::Path::new(text(value, "file")).file_stem();
    let agent = file.and_then(|stem| stem.to_str()?.strip_prefix("agent-"));
    let agent = value["agent"].as_str().or(value["agent_id"].as_str()).or(agent);
    let session = value["session"].as_str().or(value["session_id"].as_str());
    place(session.unwrap_or("unknown"), agent, entry)
}

/// The id of the running session, if it is known.
fn own(run: &Run) -> Option<String> {
    run.recount.asking.as_ref().map(|id| id.as_str().to_owned())
}

fn is_own(value: &Value, own: &Option<String>) -> bool {
    let session = value["session"].as_str().or(value["session_id"].as_str());
    own.is_some() && session == own.as_deref()
}

/// Each session once, before the first line that is from it.
#[derive(Default)]
struct Headings(Vec<String>);

impl Headings {
    fn of(&mut self, value: &Value, project: Option<&str>) -> Option<String> {
        let session = value["session"].as_str().or(value["session_id"].as_str())?;
        if self.0.iter().any(|known| known == session) {
            return None;
        }
        self.0.push(session.to_owned());
        let title = value["title"].as_str().unwrap_or("no title");
        let project = project.map(|project| format!(" ({project})")).unwrap_or_default();
        Some(said(&place(session, None, None), "session", &format!("{title}{project}")))
    }
}

/// Where something was said.
pub fn search(asked: &Search, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let mut words = vec!["search".into(), format!("--limit={}", STEP + 1)];
    words.extend([format!("--offset={from}"), "--".into(), asked.query.clone()]);
    let mut hits = lines(run, words)?;
    let is_more = hits.len() > STEP;
    hits.truncate(STEP);
    let mut headings = Headings::default();
    let items = hits.iter().map(|hit| {
        let place = of(hit, hit["entry"].as_u64());
        let time = minute(hit["time"].as_str());
        let what = format!("{}, {}", text(hit, "role"), text(hit, "place"));
        let mut item: Item = headings.of(hit, hit["project"].as_str()).into_iter().collect();
        item.push(said(&format!("{place}{time}"), &what, text(hit, "snippet")));
        item
    });
    Ok(Page::of(from, items, USUAL, is_more))
}

/// The evidence for a question.
pub fn recall(asked: &Recall, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let budget = asked.budget.unwrap_or(4_000).clamp(*BUDGET.start(), *BUDGET.end());
    // What was given before had room for a whole quote each.
    let mut words = vec!["recall".into(), format!("--budget={}", budget + from.min(100) * QUOTE)];
    let Recall { project, since, until, .. } = asked;
    words.extend(flags(&[("project", project), ("since", since), ("until", until)]));
    words.extend(["--".into(), asked.question.clone()]);
    let all = lines(run, words)?;
    let notes = run.talk.take();
    let is_said = notes.iter().any(|note| note.starts_with("There is more"));
    let mut left = budget;
    let fitting = all.iter().skip(from).take_while(|evidence| {
        let quotes = evidence["quotes"].as_array().into_iter().flatten();
        let length: usize = quotes.map(|quote| text(quote, "text").chars().count()).sum();
        // The first is given whatever its length: else there would be no way past it.
        let fits = length <= left || left == budget;
        left = left.saturating_sub(length);
        fits
    });
    let fitting: Vec<&Value> = fitting.collect();
    let is_more = from + fitting.len() < all.len() || is_said && all.len() < TURNS;
    let mut headings = Headings::default();
    let items = fitting.iter().map(|evidence| quotes(evidence, &mut headings));
    let mut page = Page::of(from, items.collect::<Vec<_>>(), usize::MAX, is_more);
    page.notes = notes;
    Ok(page)
}

fn quotes(evidence: &Value, headings: &mut Headings) -> Item {
    let mut item: Item = headings.of(evidence, evidence["project"].as_str()).into_iter().collect();
    let time = minute(evidence["time"].as_str());
    let own = of(evidence, evidence["entry"].as_u64());
    for file in evidence["files"].as_array().into_iter().flatten() {
        let since = match file["changed_since"].as_bool() {
            Some(true) => "changed a file, which was changed again since",
            _ => "changed a file, which was not changed since",
        };
        item.push(said(&format!("{own}{time}"), since, text(file, "path")));
    }
    for quote in evidence["quotes"].as_array().into_iter().flatten() {
        let place = format!("{}{time}", of(evidence, quote["entry"].as_u64()));
        let what = format!("{}, {}", text(quote, "role"), text(evidence, "place"));
        item.extend(told(&place, &what, text(quote, "text")));
    }
    item
}

/// The sessions.
pub fn sessions(asked: &Sessions, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let Sessions { project, since, until, .. } = asked;
    let mut words = vec!["list".into(), format!("--limit={}", from + STEP + 1)];
    words.extend(flags(&[("project", project), ("since", since), ("until", until)]));
    let all = lines(run, words)?;
    // How many there are says nothing of a page.
    run.talk.take();
    let is_more = all.len() > from + STEP;
    let own = own(run);
    let items = all.iter().skip(from).take(STEP).map(|session| {
        let number = |key: &str, one| counted(session[key].as_u64().unwrap_or(0) as usize, one);
        let what = format!(
            "{}, {}, {}, {}, {}",
            if is_own(session, &own) { "this session" } else { text(session, "state") },
            number("turns", "turn"),
            number("all_errors", "failed call"),
            number("files", "file"),
            session["project"].as_str().unwrap_or("no project"),
        );
        let place = format!("{}{}", of(session, None), minute(session["ended"].as_str()));
        vec![said(&place, &what, session["title"].as_str().unwrap_or("no title"))]
    });
    Ok(Page::of(from, items.collect::<Vec<_>>(), USUAL, is_more))
}

/// What failed, and what helped.
pub fn errors(asked: &Errors, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let project = run.recount.project(asked.project.as_deref())?;
    let since = asked.since.as_deref().map(time).transpose()?;
    let words = asked.text.iter().flat_map(|text| text.split_whitespace());
    let query = ErrorsQuery {
        project,
        period: run.recount.period(since.as_ref(), None),
        tool: asked.tool.clone(),
        words: words.map(str::to_owned).collect(),
        fixes: true,
        ..ErrorsQuery::default()
    };
    let mut all = run.recount.failed_calls(&query)?;
    let own = run.recount.asking.as_ref().map(SessionId::as_str);
    all.retain(|one| own.is_none() || one.session.as_deref() != own);
    all.sort_by_key(|one| std::cmp::Reverse(one.item.time));
    let is_more = all.len() > from + STEP;
    for one in all.iter().skip(from).take(STEP) {
        run.out.json(&failed::wire_error(one))?;
    }
    let shown = read_lines(&run.out.take())?;
    Ok(Page::of(from, shown.iter().map(failure).collect::<Vec<_>>(), USUAL, is_more))
}

fn time(text: &str) -> Result<TimeArg, Refusal> {
    text.parse().map_err(|error| Refusal(format!("`{text}` is no time: {error}")))
}

fn failure(error: &Value) -> Item {
    let tool = error["tool"].as_str().unwrap_or("unknown tool");
    let place = of(error, error["entry"].as_u64());
    let first = format!("{place}{}", minute(error["time"].as_str()));
    let short = |value: &Value| safe::fit(&safe::line(&value.to_string()), INPUT).into_owned();
    let mut item = vec![said(&first, &format!("{tool} failed"), &short(&error["input"]))];
    let message = match &error["error"] {
        Value::String(text) => safe::fit(&safe::line(text), INPUT).into_owned(),
        Value::Null => "no message".into(),
        other => short(other),
    };
    item.push(said(&place, "error", &message));
    if let Some(entry) = error["fix"]["entry"].as_u64() {
        let what = format!("{tool} worked then ({})", text(&error["fix"], "sureness"));
        item.push(said(&of(error, Some(entry)), &what, &short(&error["fix"]["input"])));
    }
    item
}

/// What happened to a file.
pub fn file_history(asked: &FileHistory, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let mut all = lines(run, vec!["file".into(), "--".into(), asked.path.clone()])?;
    all.sort_by(|a, b| text(b, "time").cmp(text(a, "time")));
    let mut headings = Headings::default();
    let own = own(run);
    let items = all.iter().skip(from).map(|row| {
        let time = minute(row["time"].as_str());
        let this = if is_own(row, &own) { ", this session" } else { "" };
        let mut item: Item = headings.of(row, None).into_iter().collect();
        item.push(match text(row, "type") {
            "file_backup" => {
                let what = format!("kept as version {} ({})", row["version"], text(row, "kept"));
                said(&format!("{}{time}", of(row, None)), &what, text(row, "path"))
            }
            _ => {
                let counts = match row["unknown"].as_bool() {
                    Some(true) => "changed, size unknown".into(),
                    _ => format!("+{} -{}", row["added"], row["removed"]),
                };
                let what = format!("{} {counts}, {}{this}", text(row, "tool"), text(row, "state"));
                let place = format!("{}{time}", of(row, row["entry"].as_u64()));
                said(&place, &what, text(row, "path"))
            }
        });
        item
    });
    Ok(Page::of(from, items.collect::<Vec<_>>(), USUAL, false))
}

/// What was asked and committed.
pub fn timeline(asked: &Sessions, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let since = asked.since.as_deref().map(time).transpose()?;
    let until = asked.until.as_deref().map(time).transpose()?;
    let period = run.recount.period(since.as_ref(), until.as_ref());
    let project = run.recount.project(asked.project.as_deref())?;
    // What a subagent is asked, nobody asked.
    let place = vec![Place::Active, Place::Compacted, Place::Abandoned];
    let role = vec![Role::Prompt];
    let only = Filters { role, place, ..filters(project.as_ref(), period) };
    let mut query = Query { only, ..Query::default() };
    run.recount.exclude_asking(&mut query);
    let options = Options { limit: from + STEP + 1, ..Options::default() };
    let (hits, mut commits, sessions) = run.recount.ask(|finder| {
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
    let time = minute(wire::time(hit.time).as_deref());
    vec![said(&format!("{place}{time}"), "prompt", &hit.snippet.text)]
}

fn commit(deed: &Deed<CommitRow>) -> Item {
    let commit = &deed.what;
    let place = place(deed.session.as_str(), None, Some(commit.entry.into()));
    let time = minute(wire::time(commit.time).as_deref());
    let subject = commit.subject.as_deref().unwrap_or_default();
    vec![said(&format!("{place}{time}"), "commit", &format!("{} {subject}", commit.hash))]
}

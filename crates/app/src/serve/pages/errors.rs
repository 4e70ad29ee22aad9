//! What failed, by what is alike, and what helped.

use std::collections::BTreeMap;

use ask::errors::{ErrorsQuery, FailedCall};
use ask::name::SessionName;
use report::errors::{ErrorItem, signature};
use report::filter::ProjectFilter;
use report::format::{count, counted};
use report::html::Html;
use report::page::{Place, call, code};
use serde::Deserialize;
use transcript::time::Time;

use super::{Reply, session_url};
use crate::commands::short;
use crate::serve::answer::Refusal;
use crate::serve::desk::Desk;
use crate::terminal::format::Clock;

/// Groups on one page, and errors of a group.
const GROUPS: usize = 60;
const SHOWN: usize = 8;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    project: Option<String>,
    session: Option<String>,
}

/// Errors that are alike.
#[derive(Default)]
struct Group<'a> {
    errors: Vec<&'a FailedCall>,
    last: Option<Time>,
    fixed: usize,
}

/// The page of errors.
pub fn page(desk: &Desk, asked: &Asked) -> Reply {
    let all = errors(desk, asked)?;
    let clock = desk.run().recount.clock;
    let mut groups: BTreeMap<(String, String), Group<'_>> = BTreeMap::new();
    for error in &all {
        let tool = error.item.tool.clone().unwrap_or_else(|| "unknown".into());
        let group = groups.entry((tool, signature(&error.item.error.text()))).or_default();
        group.last = group.last.max(error.item.time);
        group.fixed += usize::from(error.item.fix.is_some());
        group.errors.push(error);
    }
    let mut groups: Vec<((String, String), Group<'_>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.errors.len()));
    let html = super::page(Place::Errors, "Errors", "", |html| {
        html.words("h1", "", "Errors");
        let about = [asked.project.as_deref(), asked.session.as_deref()];
        for about in about.into_iter().flatten() {
            html.words("p", "notes", &format!("Of {about} only"));
        }
        let words =
            format!("{} of {}", counted(all.len(), "failed call"), counted(groups.len(), "kind"));
        html.words("p", "notes", &words);
        for ((tool, signature), group) in groups.iter().take(GROUPS) {
            one(html, &clock, tool, signature, group);
        }
        if groups.len() > GROUPS {
            let more = counted(groups.len() - GROUPS, "more kind");
            html.words("p", "notes", &format!("{more}: `recount errors --summary` lists all"));
        }
    });
    Ok(html.into())
}

fn errors(desk: &Desk, asked: &Asked) -> Result<Vec<FailedCall>, Refusal> {
    let _alone = desk.alone();
    let mut run = desk.run();
    let session = match &asked.session {
        Some(id) => {
            let is_there = desk.shelf().session(id).is_some();
            let missing = || Refusal::missing(&format!("There is no session {id}"));
            Some(is_there.then(|| SessionName::Id(id.clone())).ok_or_else(missing)?)
        }
        None => None,
    };
    let project = asked.project.clone().map(ProjectFilter::Folder);
    let query = ErrorsQuery { session, project, fixes: true, ..ErrorsQuery::default() };
    Ok(run.recount.failed_calls(&query)?)
}

fn one(html: &mut Html, clock: &Clock, tool: &str, signature: &str, group: &Group<'_>) {
    html.tag("details").class("row").attr("data-kind", "run").flag("data-failed", true).with(
        |html| {
            html.within("summary", "", |html| {
                html.words("b", "", tool);
                html.words("span", "what", signature);
                html.within("span", "chips", |html| {
                    html.words(
                        "span",
                        "chip bad",
                        &format!("{}\u{d7}", count(group.errors.len() as u64)),
                    );
                    if group.fixed > 0 {
                        let fixed = format!("{} followed by a success", group.fixed);
                        html.words("span", "chip plus", &fixed);
                    }
                    let last = group.last.map_or_else(String::new, |time| clock.near(time));
                    html.words("span", "chip", &last);
                });
            });
            html.within("div", "body", |html| {
                for error in group.errors.iter().rev().take(SHOWN) {
                    example(html, clock, error);
                }
                let rest = group.errors.len().saturating_sub(SHOWN);
                if rest > 0 {
                    html.words("p", "notes", &format!("and {rest} more before"));
                }
            });
        },
    );
}

fn example(html: &mut Html, clock: &Clock, error: &FailedCall) {
    let ErrorItem { number, time, input, error: text, fix, .. } = &error.item;
    html.within("div", "example", |html| {
        html.within("p", "", |html| {
            if let Some(session) = &error.session {
                let agent = error.agent.as_deref();
                let link = html.tag("a").href(&session_url(session, agent, Some(*number)));
                link.text(&format!("{} #{number}", short(session)));
            }
            let when = time.map_or_else(String::new, |time| clock.near(time));
            html.words("span", "soft", &format!(" {when}"));
        });
        if let Some(input) = input {
            call::input(html, input);
        }
        code::output(html, "out bad", &text.text());
        if let Some(fix) = fix {
            html.within("p", "chosen", |html| {
                html.text("What worked next ");
                html.words(
                    "span",
                    "soft",
                    &format!(
                        "({}, {} in between)",
                        fix.sureness.name(),
                        counted(fix.calls_between, "call")
                    ),
                );
                if let Some(session) = &error.session {
                    html.text(" ");
                    let agent = error.agent.as_deref();
                    let link = html.tag("a").href(&session_url(session, agent, Some(fix.number)));
                    link.text(&format!("#{}", fix.number));
                }
            });
            call::input(html, &fix.input);
        }
    });
}

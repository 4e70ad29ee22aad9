//! One file through all sessions: its changes, with their lines, and its backups.

use ask::file::{ChangeSources, FileHistory};
use report::export::cover::Cover;
use report::file::{BackupRow, ChangeRow, FileLog, Filter, Kept};
use report::format::{count, size};
use report::html::{Html, Url};
use report::page::{Place, code, diff, language_of};
use serde::Deserialize;

use super::{Column, LEFT, LESS, NUMBER, Reply, session_url, table};
use crate::commands::file::content_after;
use crate::commands::short;
use crate::serve::desk::Desk;
use crate::terminal::format::Clock;

/// Changes whose lines are shown; the others are listed.
const SHOWN: usize = 100;
/// Files that are shown when the end of a path is that of several.
const FILES: usize = 10;

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    path: String,
    /// The session, and perhaps its subagent, whose entry is meant.
    session: String,
    agent: Option<String>,
    /// The file as it was after this entry.
    at: Option<u32>,
}

/// The page of a file.
pub fn page(desk: &Desk, asked: &Asked) -> Reply {
    let _alone = desk.alone();
    let path = asked.path.trim();
    if path.is_empty() {
        return Ok(choice().into());
    }
    let mut run = desk.run();
    let all = FileHistory::read(&mut run.recount, path)?;
    if let Some(entry) = asked.at {
        let of = (asked.session.as_str(), asked.agent.as_deref());
        let (path, bytes, words) = content_after(&all, &mut run, of, entry)?;
        return Ok(after(desk, &path, &bytes, (&words, of, entry)).into());
    }
    let logs = all.logs(&Filter::default());
    let clock = run.recount.clock.clone();
    let (mut sources, mut cover) = (ChangeSources::default(), desk.cover());
    let html = super::page(Place::Elsewhere, path, "", |html| {
        if logs.is_empty() {
            html.words("h1", "", path);
            html.words("p", "", "No session has changed such a file");
        }
        for log in logs.iter().take(FILES) {
            one(html, &clock, &all, log, (&mut sources, &mut cover));
        }
        if logs.len() > FILES {
            let words = format!("and {} more files of that name", logs.len() - FILES);
            html.words("p", "notes", &words);
        }
    });
    Ok(html.into())
}

/// The whole file as it was after an entry.
fn after(
    desk: &Desk,
    path: &str,
    bytes: &[u8],
    (words, (session, agent), entry): (&str, (&str, Option<&str>), u32),
) -> Html {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    desk.cover().text(&mut text, u64::from(entry));
    super::page(Place::Elsewhere, path, "", |html| {
        html.words("h1", "", path);
        html.within("p", "notes", |html| {
            html.text("As it was after ");
            let url = session_url(session, agent, Some(entry));
            html.tag("a").href(&url).text(&format!("{} #{entry}", short(session)));
            html.text(&format!(", {words}. "));
            let url = Url::path(&["file"]).query("path", path);
            html.tag("a").href(&url).text("Through all sessions");
        });
        let numbers: Vec<String> = (1..=text.lines().count()).map(|n| n.to_string()).collect();
        let lines: Vec<_> = numbers.iter().map(String::as_str).zip(text.lines()).collect();
        code::numbered(html, language_of(path), &lines);
    })
}

/// Where lines come from, and what takes their secrets out.
type From<'a, 'c> = (&'a mut ChangeSources, &'a mut Cover<'c>);

/// Nothing is named yet.
fn choice() -> Html {
    super::page(Place::Elsewhere, "File", "", |html| {
        html.words("h1", "", "A file through all sessions");
        html.tag("form").to(&Url::path(&["file"])).with(|html| {
            let field = html.tag("input").attr("name", "path").attr("size", "50");
            field.attr("aria-label", "Path").attr("placeholder", "src/main.rs").void();
            html.tag("button").text("Show");
        });
    })
}

fn one(html: &mut Html, clock: &Clock, all: &FileHistory, log: &FileLog, from: From<'_, '_>) {
    let (sources, cover) = from;
    html.words("h1", "", &log.path);
    for row in log.changes.iter().rev().take(SHOWN) {
        change(html, clock, all, row, (sources, cover));
    }
    if log.changes.len() > SHOWN {
        let words = format!("{} earlier changes are not shown", log.changes.len() - SHOWN);
        html.words("p", "notes", &words);
    }
    if !log.backups.is_empty() {
        html.words("h2", "", "Backups: the file as it was before a change");
        backups(html, clock, all, &log.backups);
    }
}

fn change(html: &mut Html, clock: &Clock, all: &FileHistory, row: &ChangeRow, from: From<'_, '_>) {
    let (sources, cover) = from;
    let event = &row.event;
    html.tag("details").class("row").attr("data-kind", "edit").flag("open", true).with(|html| {
        html.within("summary", "", |html| {
            html.words("b", "", &event.tool);
            html.words("span", "what", all.title(&row.session).unwrap_or("(no title)"));
            html.within("span", "chips", |html| {
                if event.created {
                    html.words("span", "chip", "created");
                }
                if !event.state.is_on_way() {
                    html.words("span", "chip", event.state.name());
                }
                if event.deleted {
                    html.words("span", "chip", "deleted");
                }
                if event.unknown {
                    html.words("span", "chip", "size unknown");
                } else {
                    let removed = format!("\u{2212}{}", count(event.removed.into()));
                    html.words("span", "chip plus", &format!("+{}", count(event.added.into())));
                    html.words("span", "chip minus", &removed);
                }
                let when = event.time.map_or_else(String::new, |time| clock.near(time));
                html.words("span", "chip", &when);
            });
            let agent = row.agent.as_ref().map(|agent| agent.as_str());
            let url = session_url(row.session.as_str(), agent, Some(event.number));
            html.tag("a").href(&url).text(&format!(
                "{} #{}",
                short(row.session.as_str()),
                event.number
            ));
        });
        html.within("div", "body", |html| match sources.hunks(all, row) {
            Ok(hunks) if hunks.is_empty() => html.words("p", "notes", "Its lines are not recorded"),
            Ok(mut hunks) => {
                hunks.iter_mut().for_each(|hunk| cover.hunk(hunk, 0));
                diff::diff(html, &hunks, language_of(&event.path), !event.estimated);
            }
            Err(_) => html.words("p", "notes", "Its lines can't be read any more"),
        });
    });
}

fn backups(html: &mut Html, clock: &Clock, all: &FileHistory, rows: &[BackupRow]) {
    const COLUMNS: [Column; 5] = [
        Column("Time", LEFT),
        Column("Session", LEFT),
        Column("Version", NUMBER),
        Column("Size", NUMBER),
        Column("Backup", LESS),
    ];
    table(html, &COLUMNS, |out| {
        for row in rows {
            let (bytes, state) = match &row.kept {
                Kept::Here(file) => (size(file.size), "kept"),
                Kept::Gone(_) => (String::new(), "gone"),
                Kept::Absent => (String::new(), "the file did not exist"),
                Kept::Unknown => (String::new(), "not recorded"),
            };
            out.row(&[
                &|html| html.text(&row.time.map_or_else(String::new, |time| clock.minute(time))),
                &|html| {
                    let url = session_url(row.session.as_str(), None, None);
                    html.tag("a").href(&url).text(all.title(&row.session).unwrap_or("(no title)"));
                },
                &|html| html.text(&row.version.map_or_else(String::new, |v| v.to_string())),
                &|html| html.text(&bytes),
                &|html| html.text(state),
            ]);
        }
    });
}

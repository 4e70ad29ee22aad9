//! What stands above and below a session: what it is, and what of it is not seen here.

use std::io;

use report::show::{self, Hidden};
use transcript::library::{Connection, SessionItem, Standing};
use transcript::record::Detail;
use transcript::session::Session;

use super::page::Page;
use crate::commands::short;
use crate::terminal::format::{count, counted, duration};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};

/// The head of a session.
pub fn head(page: &mut Page<'_>, session: &Session, item: Option<&SessionItem>) -> io::Result<()> {
    let title = item.and_then(|i| i.title.clone()).or_else(|| session.title());
    let title = title.map_or_else(|| "(no title)".into(), |(title, _)| safe::line(&title));
    let title = safe::fit(&title, page.room(0).unwrap_or(200)).into_owned();
    page.line(&paint(style::HEAD, &title))?;
    let mut place: Vec<String> = Vec::new();
    place.extend(session.project().map(|cwd| paint(style::PROJECT, &safe::line(cwd))));
    place.extend(session.git_branch().filter(|b| !b.is_empty()).map(safe::line));
    place.extend(session.models().map(safe::line));
    join(page, &place)?;
    join(page, &[when(page, session), vec![size(session)]].concat())?;
    let id = item.map(|item| item.id.clone()).or_else(|| session.id());
    if let Some(id) = id {
        page.line(&paint(style::NAME, &safe::line(id.as_str())))?;
    }
    notes(session, item)
        .iter()
        .try_for_each(|note| page.line(&paint(style::DIM, &format!("  {}", safe::line(note)))))
}

fn join(page: &mut Page<'_>, words: &[String]) -> io::Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.is_empty()).collect();
    if words.is_empty() { Ok(()) } else { page.line(&words.join(" · ")) }
}

fn when(page: &Page<'_>, session: &Session) -> Vec<String> {
    let (Some(first), Some(last)) = (session.first_time(), session.last_time()) else {
        return Vec::new();
    };
    let end = match page.clock.day(first) == page.clock.day(last) {
        true => page.clock.minute(last).split(' ').next_back().unwrap_or_default().to_owned(),
        false => page.clock.minute(last),
    };
    let span = duration(last.since(first));
    vec![format!("{} – {end} ({span})", page.clock.minute(first))]
}

fn size(session: &Session) -> String {
    let words = [
        counted(session.own_turns().count(), "turn"),
        counted(session.own_calls().count(), "call"),
        counted(session.errors().len(), "error"),
    ];
    words.join(" · ")
}

/// What a reader should know before reading.
fn notes(session: &Session, item: Option<&SessionItem>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(item) = item {
        notes.extend(connections(item));
        if item.standing != Standing::Whole {
            notes.push(format!("its file is a {}", item.standing.name()));
        }
        if item.file.is_none() {
            notes.push("it has no file of its own; its entries stand in others".into());
        }
    }
    notes.extend(show::notes(session));
    notes
}

fn connections(item: &SessionItem) -> Vec<String> {
    let note = |(kind, other): &(Connection, transcript::id::SessionId)| {
        let other = short(other.as_str());
        match kind {
            Connection::CopiedFrom => format!("{} copied from {other}", show::entries(item.copied)),
            Connection::ForkedFrom => format!("forked from {other}"),
            Connection::ContinuedIn => format!("goes on in {other}"),
            Connection::Continues => format!("continues {other}"),
            Connection::PointsTo => format!("points to {other}"),
            Connection::Lineage => format!("began as {other}"),
        }
    };
    item.connections.iter().map(note).collect()
}

/// What the level hides, and how to see it.
pub fn foot(page: &mut Page<'_>, hidden: &Hidden, numbers: bool) -> io::Result<()> {
    let counts = hidden.counts();
    let mut lines: Vec<String> = Vec::new();
    if !counts.is_empty() {
        let words = counts.iter().map(|((one, many), number)| {
            format!("{} {}", count(*number as u64), if *number == 1 { one } else { many })
        });
        let words: Vec<String> = words.collect();
        let next = match page.look.detail {
            Detail::Prompts => "`--detail 2` to `5` show more",
            Detail::Conversation => "`--detail 3` to `5` show more",
            Detail::Everything => "`--detail 5` shows them",
            _ => "`--detail 4` and `5` show more",
        };
        lines.push(format!("hidden here: {}; {next}", words.join(", ")));
    }
    if page.folded > 0 {
        let all = match (page.look.has_places(), numbers) {
            (true, true) => "`--entry N` shows one entry whole",
            (true, false) => "`--entry @OFFSET` shows one entry whole",
            _ => "`--detail 4` shows more of them, and the numbers for `--entry N`",
        };
        lines.push(format!("folded here: {}; {all}", counted(page.folded, "line")));
    }
    if lines.is_empty() {
        return Ok(());
    }
    page.line("")?;
    for line in lines {
        page.line(&paint(style::DIM, &line))?;
    }
    Ok(())
}

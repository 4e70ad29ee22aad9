//! What the model is told at moments of a session without having asked: little, seldom, and each
//! thing once in a session.
//!
//! Nothing here waits for the store: what is there is read, and what is wrong with it is a reason
//! to say nothing.

mod session;
mod told;

use report::redact::{Options, Place as At, Redactor, Rules};
use serde_json::Value;
use store::catalog::Catalog;
use store::find::{self, Evidence, Finder, Room, SURE};
use store::folder::Store;
use store::index::By;
use store::query::Filters;
use transcript::id::SessionId;

use crate::quote::{self, minute, place, said};
use crate::run::Run;
use crate::wire;
use told::Told;

/// Nothing that is told is longer, in bytes.
const MOST: usize = 2_048;
/// How much is quoted for a prompt.
const ROOM: Room = Room { characters: 1_100, turns: 2 };
/// A longer prompt tells by itself what it is about, and takes longer to be looked up.
const WORDS: usize = 60;
/// So many sessions are named that changed a file.
const SESSIONS: usize = 3;
/// In one session no more files are told of: it would be too much, however true.
const FILES: usize = 8;

/// What the model is told; mostly nothing.
pub fn answer(event: &str, input: &Value, run: &mut Run) -> Option<String> {
    let store = run.store().ok()?;
    let redactor = Redactor::new(Rules::built_in(), Options::default());
    let moment = Moment { input, session: input["session_id"].as_str()?, store, redactor };
    let lines = match event {
        "SessionStart" => session::start(&moment, run),
        "SubagentStart" => session::subagent(&moment),
        "UserPromptSubmit" => moment.prompt(),
        "PreToolUse" => moment.file(),
        "PreCompact" | "SessionEnd" => {
            told::forget_old(&moment.store);
            run.sync_behind(&moment.store).ok()?;
            None
        }
        _ => None,
    }?;
    let lines: Vec<String> = lines.iter().map(|line| moment.clean(line)).collect();
    Some(fitting(&lines))
}

/// As many lines as may be told, behind the one that says what they are.
fn fitting(lines: &[String]) -> String {
    let mut text = quote::head();
    for line in lines {
        if text.len() + 1 + line.len() > MOST {
            break;
        }
        text.push('\n');
        text.push_str(line);
    }
    text
}

/// A moment of a session.
pub struct Moment<'a> {
    /// What Claude Code says about it.
    input: &'a Value,
    session: &'a str,
    store: Store,
    redactor: Redactor<'static>,
}

impl Moment<'_> {
    /// A text without secrets. One that will be cut has to be asked for before it is: half a
    /// secret is not known for one.
    fn clean(&self, text: &str) -> String {
        self.redactor.text(text, At::default()).into_owned()
    }

    /// What earlier sessions say about a prompt, if they surely do.
    fn prompt(&self) -> Option<Vec<String>> {
        let text = self.input["prompt"].as_str()?;
        if text.starts_with('/') || text.split_whitespace().count() > WORDS {
            return None;
        }
        let finder = Finder::open(&self.store).ok()??;
        let query = find::question(text, Filters::default());
        let found = finder.recall(&query, ROOM, By::Words).ok()?;
        let best = found.evidence.first().filter(|_| found.certainty >= SURE)?;
        let told = Told::of(&self.store, self.session)?;
        let is_new =
            |one: &Evidence| one.hit.session.id.as_str() != self.session && told.is_new(&key(one));
        if !is_new(best) {
            return None;
        }
        let new: Vec<&Evidence> = found.evidence.iter().filter(|one| is_new(one)).collect();
        told.tell(new.iter().map(|one| key(one)))?;
        Some(new.into_iter().flat_map(|one| self.quoted(one)).collect())
    }

    /// Which sessions changed the file that a call is about.
    fn file(&self) -> Option<Vec<String>> {
        let input = &self.input["tool_input"];
        let path = input["file_path"].as_str().or(input["notebook_path"].as_str())?;
        let told = Told::of(&self.store, self.session)?;
        let key = format!("file {path}").replace('\n', " ");
        if !told.is_new(&key) || told.count("file ") >= FILES {
            return None;
        }
        let catalog = Catalog::read(self.store.folder()).ok()??;
        let mut touches = catalog.touches_to(path).ok()?;
        touches.retain(|deed| deed.session.as_str() != self.session);
        touches.sort_by_key(|deed| std::cmp::Reverse(deed.what.time));
        let mut sessions: Vec<SessionId> = Vec::new();
        let mut lines = Vec::new();
        for deed in touches {
            if sessions.contains(&deed.session) {
                continue;
            }
            sessions.push(deed.session.clone());
            if sessions.len() > SESSIONS {
                continue;
            }
            let session = catalog.session(&deed.session).ok()??;
            let touch = &deed.what;
            let what = format!("{} +{} -{} in session", touch.tool, touch.added, touch.removed);
            let place = place(deed.session.as_str(), None, Some(touch.entry.into()));
            let place = format!("{place}{}", minute(wire::time(touch.time).as_deref()));
            lines.push(said(&place, &what, session.title.as_deref().unwrap_or("no title")));
        }
        if lines.is_empty() {
            return None;
        }
        told.tell([key])?;
        let count = match sessions.len() {
            1 => "one earlier session".to_owned(),
            count => format!("{count} earlier sessions, last in these"),
        };
        lines.insert(0, format!("{} was changed in {count}:", crate::terminal::safe::line(path)));
        Some(lines)
    }

    fn quoted(&self, evidence: &Evidence) -> Vec<String> {
        let hit = &evidence.hit;
        let id = hit.session.id.as_str();
        let title = hit.session.title.as_deref().unwrap_or("no title");
        let mut lines = vec![said(&place(id, None, None), "session", &self.clean(title))];
        let mut quotes: Vec<(u32, &str, &str)> = evidence
            .also
            .iter()
            .map(|quote| (quote.entry, quote.role.name(), &*quote.snippet.text))
            .collect();
        quotes.push((hit.entry, hit.role.name(), &hit.snippet.text));
        quotes.sort_by_key(|(entry, _, _)| *entry);
        let time = minute(wire::time(hit.time).as_deref());
        for (entry, role, text) in quotes {
            let place = format!("{}{time}", place(id, None, Some(entry.into())));
            lines.push(said(&place, &format!("{role}, {}", hit.place.name()), &self.clean(text)));
        }
        lines
    }
}

/// What names an evidence: a turn is told once.
fn key(evidence: &Evidence) -> String {
    let hit = &evidence.hit;
    format!("{} {}", hit.session.id, hit.turn.map_or(hit.entry, |turn| turn))
}

//! What the model is told at moments of a session without having asked: little, seldom, and each
//! thing once in a session.
//!
//! Nothing here waits for the store: what is there is read, and what is wrong with it is a reason
//! to say nothing.

mod evidence;
mod pasted;
mod session;

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use report::redact::{Options, Place as At, Redactor, Rules};
use serde_json::Value;
use store::catalog::Catalog;
use store::find::{self, Evidence, Extent, Finder, Room, SURE};
use store::folder::Store;
use store::index::By;
use store::query::Filters;
use transcript::id::SessionId;

use crate::quote::{self, minute, place, said};
use crate::run::Run;
use crate::wire;
use evidence::{EvidenceLog, GivenEvidence};
use pasted::Pasted;

/// Nothing that is told is longer, in bytes.
const MOST: usize = 2_048;
/// How much is quoted for a prompt.
const ROOM: Room = Room { characters: 1_100, turns: 2 };
/// A longer prompt tells by itself what it is about, and takes longer to be looked up.
const WORDS: usize = 60;
/// What part of the time that Claude Code waits may be spent on errors and names in a prompt.
const SHARE: u32 = 10;
/// A name that occurs in more turns than this is too common to be evidence.
const NAMED: usize = 5;
/// So many sessions are named that changed a file.
const SESSIONS: usize = 3;
/// In one session no more files are told of: it would be too much, however true.
const FILES: usize = 8;

/// What a hook answers.
#[derive(Debug)]
pub struct HookAnswer {
    /// The text that is added to the model's context.
    pub context: String,
    /// The evidence in it, to be recorded once it has been printed.
    pub given: Option<GivenEvidence>,
}

/// Answers a hook event. Most events have no answer.
pub fn answer(event: &str, input: &Value, patience: Duration, run: &mut Run) -> Option<HookAnswer> {
    let until = Instant::now() + patience / SHARE;
    let store = run.recount.store().ok()?;
    let redactor = Redactor::new(Rules::built_in(), Options::default());
    let (session, roots) = (input["session_id"].as_str()?, run.recount.real_claude_roots().ok()?);
    let given = RefCell::new(None);
    let moment = Moment { input, session, until, store, roots, redactor, given };
    let lines = match event {
        "SessionStart" => session::start(&moment, run),
        "SubagentStart" => session::subagent(&moment),
        "UserPromptSubmit" => moment.prompt(),
        "PreToolUse" => moment.file(),
        "PreCompact" | "SessionEnd" => {
            evidence::forget_old(&moment.store);
            run.start_sync(&moment.store).ok()?;
            None
        }
        _ => None,
    }?;
    let lines: Vec<String> = lines.iter().map(|line| moment.clean(line)).collect();
    let is_own = event == "SubagentStart" || input["source"] == "compact";
    let head = if is_own { quote::head_of_this_session() } else { quote::head() };
    Some(HookAnswer { context: fitting(head, &lines), given: moment.given.into_inner() })
}

/// As many lines as may be told, behind the one that says what they are.
fn fitting(head: String, lines: &[String]) -> String {
    let mut text = head;
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
    /// No further text is looked for after this.
    until: Instant,
    store: Store,
    /// The Claude folders that may be quoted from, by their real paths.
    roots: Vec<PathBuf>,
    redactor: Redactor<'static>,
    /// The evidence of the answer.
    given: RefCell<Option<GivenEvidence>>,
}

impl Moment<'_> {
    /// A text without secrets. One that will be cut has to be asked for before it is: half a
    /// secret is not known for one.
    fn clean(&self, text: &str) -> String {
        self.redactor.text(text, At::default()).into_owned()
    }

    /// What earlier sessions say about a prompt: where an error or a name of it stands to the
    /// letter, else what is surely about it.
    fn prompt(&self) -> Option<Vec<String>> {
        let text = self.input["prompt"].as_str()?;
        if text.starts_with('/') {
            return None;
        }
        let finder = Finder::open(&self.store).ok()??.within(&self.roots).ok()?;
        let told = EvidenceLog::of(&self.store, self.session)?;
        let is_new = |one: &Evidence| told.is_new(&key(one));
        let mut found = self.verbatim(&finder, text);
        if found.is_empty() {
            found = self.recalled(&finder, text)?;
            // Where the best has been told, the rest is not worth a word.
            found.first().filter(|one| is_new(one))?;
        }
        found.retain(is_new);
        if found.is_empty() {
            return None;
        }
        *self.given.borrow_mut() = Some(told.prepare(found.iter().map(key))?);
        Some(found.iter().flat_map(|one| self.quoted(one)).collect())
    }

    /// Where the errors and names of a prompt stand to the letter.
    fn verbatim(&self, finder: &Finder, prompt: &str) -> Vec<Evidence> {
        let mut all: Vec<Evidence> = Vec::new();
        for (number, Pasted { text, extent }) in pasted::texts(prompt).into_iter().enumerate() {
            if number > 0 && Instant::now() > self.until {
                break;
            }
            let limit = match extent {
                Extent::Message => 1,
                Extent::Name => NAMED + 1,
            };
            let found = finder.verbatim(text, extent, self.session, limit).unwrap_or_default();
            // A name that is everywhere tells nothing.
            if extent == Extent::Name && found.len() > NAMED {
                continue;
            }
            let is_other = |one: &Evidence| all.iter().all(|known| key(known) != key(one));
            let new: Vec<Evidence> = found.into_iter().filter(is_other).take(1).collect();
            all.extend(new);
            if all.len() >= ROOM.turns {
                break;
            }
        }
        all
    }

    /// Evidence that is certainly about a prompt.
    fn recalled(&self, finder: &Finder, prompt: &str) -> Option<Vec<Evidence>> {
        if prompt.split_whitespace().count() > WORDS {
            return None;
        }
        let mut query = find::question(prompt, Filters::default());
        query.except.session.push(self.session.to_owned());
        let found = finder.recall(&query, ROOM, By::Words).ok()?;
        (found.certainty >= SURE).then_some(found.evidence)
    }

    /// Which sessions changed the file that a call is about.
    fn file(&self) -> Option<Vec<String>> {
        let input = &self.input["tool_input"];
        let path = input["file_path"].as_str().or(input["notebook_path"].as_str())?;
        let told = EvidenceLog::of(&self.store, self.session)?;
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
        *self.given.borrow_mut() = Some(told.prepare([key])?);
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

//! Learnings that a command of the person's makes, from candidates or from parts of sessions.
//!
//! Nothing is handed to the same command twice: what it has seen is a file in the store, written
//! line by line, so that a scan that was stopped goes on.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use report::learn::backlog::Learning;
use report::learn::{self};
use report::redact::{Options, Place, Redactor, Rules};
use report::show::{self, Part as Stretch};
use serde_json::{Value, json};
use transcript::library::{Library, SessionItem};
use transcript::record::{Body, Detail, Opened, Part};
use transcript::source::Source;

use super::{BacklogFile, show_line};
use crate::commands::short;
use crate::error::{CliError, LearnError};
use crate::run::Run;
use crate::terminal::format::counted;

/// No answer is longer, in bytes.
const ANSWER: u64 = 8 << 10;
/// So much of a part is handed over, in characters.
const TEXT: usize = 20_000;
/// How much of an answer is kept, in characters.
const KEPT: usize = 600;
/// A session that was written to so lately may go on.
const STILL: i64 = 3_600_000;

/// What a command has seen.
struct Miner<'a> {
    command: &'a str,
    name: String,
    path: PathBuf,
    seen: String,
    redactor: Redactor<'static>,
}

impl<'a> Miner<'a> {
    fn of(command: &'a str, run: &mut Run) -> Result<Self, CliError> {
        let store = run.recount.store()?;
        let path = store.folder().join("mined.txt");
        let failed = |error| LearnError::Io(path.clone(), error);
        store.create().map_err(failed)?;
        let seen = match fs::read_to_string(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error))?,
            read => read.unwrap_or_default(),
        };
        let redactor = Redactor::new(Rules::built_in(), Options::default());
        Ok(Self { command, name: learn::id(command), path, seen, redactor })
    }

    fn has_seen(&self, unit: &str) -> bool {
        let line = format!("{} {unit}", self.name);
        self.seen.lines().any(|seen| seen == line)
    }

    fn remember(&mut self, unit: &str) -> Result<(), CliError> {
        let line = format!("{} {unit}\n", self.name);
        let write = || {
            let mut file = File::options().create(true).append(true).open(&self.path)?;
            file.write_all(line.as_bytes())
        };
        write().map_err(|error| LearnError::Io(self.path.clone(), error))?;
        self.seen.push_str(&line);
        Ok(())
    }

    /// What the command says to this, without what is around it.
    fn ask(&self, question: &Value) -> Result<String, CliError> {
        let failed = |said: String| LearnError::Command(self.command.to_owned(), said);
        let text = question.to_string();
        let text = self.redactor.json(&text, Place::default()).into_owned();
        let ask = || {
            let mut child = Command::new("sh")
                .args(["-c", self.command])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::inherit())
                .spawn()?;
            let mut input = child.stdin.take();
            let writer = std::thread::spawn(move || {
                // Whoever does not read it all has read enough.
                input.as_mut().map(|input| input.write_all(text.as_bytes()))
            });
            let mut said = Vec::new();
            if let Some(out) = child.stdout.take() {
                out.take(ANSWER).read_to_end(&mut said)?;
            }
            let status = child.wait()?;
            let _ = writer.join();
            Ok((status, said))
        };
        let (status, said) = ask().map_err(|error: io::Error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(status.to_string()).into());
        }
        let said = String::from_utf8_lossy(&said);
        Ok(said.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Hands each open candidate over; what comes back is its solution.
pub fn candidates(
    command: &str,
    limit: usize,
    file: &mut BacklogFile,
    run: &mut Run,
) -> Result<(), CliError> {
    let mut miner = Miner::of(command, run)?;
    let mut asked = 0;
    for at in 0..file.backlog.learnings.len() {
        let one = &mut file.backlog.learnings[at];
        let unit = format!("candidate {}", one.id);
        if one.status() != "open" || miner.has_seen(&unit) || asked == limit {
            continue;
        }
        asked += 1;
        let said = miner.ask(&json!({
            "type": "candidate",
            "id": one.id,
            "title": one.title,
            "problem": one.get("problem"),
            "solution": one.get("solution"),
            "sources": one.get("sources"),
        }))?;
        if !said.is_empty() {
            one.set("solution", &said.chars().take(KEPT).collect::<String>());
            one.set("mined_by", command);
            show_line(one, run)?;
        }
        file.write()?;
        miner.remember(&unit)?;
    }
    run.talk.note(format!("{} handed over", counted(asked, "candidate")));
    Ok(())
}

/// Hands each part of a session over that the command has not seen; what comes back is a new
/// learning.
pub fn segments(
    command: &str,
    limit: usize,
    library: &Library,
    is_wanted: &dyn Fn(Option<&str>) -> bool,
    file: &mut BacklogFile,
    run: &mut Run,
) -> Result<(), CliError> {
    let mut miner = Miner::of(command, run)?;
    let now = run.recount.clock.time().0;
    let mut asked = 0;
    for item in &library.sessions {
        let facts = &item.facts;
        let goes_on = facts.last.is_some_and(|last| now - last.0 < STILL);
        let count = facts.segments.saturating_sub(usize::from(goes_on));
        let unit = |at: usize| format!("segment {} {at}", item.id);
        let unread: Vec<usize> = (0..count).filter(|at| !miner.has_seen(&unit(*at))).collect();
        if unread.is_empty() || asked == limit || !is_wanted(facts.cwd.as_deref()) {
            continue;
        }
        let Some(texts) = run.recount.or_skip(texts(library, item, &unread)) else { continue };
        for (at, entry, text) in texts.into_iter().take(limit - asked) {
            asked += 1;
            let project = facts.cwd.as_deref();
            let said = miner.ask(&json!({
                "type": "segment",
                "session": item.id.as_str(),
                "segment": at,
                "project": project,
                "text": text,
            }))?;
            if !said.is_empty() {
                let id = learn::id(&format!("{} {}", miner.name, unit(at)));
                let said: String = said.chars().take(KEPT).collect();
                let mut one = Learning::new(&id, &said.chars().take(70).collect::<String>());
                one.set("kind", "mined");
                one.set("solution", &said);
                if let Some(project) = project {
                    one.set("target", &format!("{project}/CLAUDE.md"));
                }
                one.set("sources", &format!("{}#{entry}", short(item.id.as_str())));
                one.set("mined_by", command);
                show_line(&one, run)?;
                file.backlog.learnings.retain(|known| known.id != id);
                file.backlog.learnings.push(one);
            }
            file.write()?;
            miner.remember(&unit(at))?;
        }
    }
    run.talk.note(format!("{} of sessions handed over", counted(asked, "part")));
    Ok(())
}

/// The conversation of these segments, each with its first entry.
fn texts(
    library: &Library,
    item: &SessionItem,
    segments: &[usize],
) -> Result<Vec<(usize, u32, String)>, transcript::layout::Problem> {
    let (session, files) = library.read(item)?;
    let sources: Vec<Source> = files.iter().map(|file| file.open()).collect::<Result<_, _>>()?;
    let opened = Opened::new(&session, &sources, false);
    let mut all = Vec::new();
    for &at in segments {
        let nodes = show::nodes(&session, Stretch::Segment(at)).unwrap_or_default();
        let (mut text, mut first) = (String::new(), None);
        for node in show::visible(&opened, &nodes, Detail::Conversation) {
            let Some(record) = opened.record(node)? else { continue };
            first = first.or(record.number);
            match &record.body {
                Body::Prompt { text: said, .. } => text += &format!("person: {said}\n\n"),
                Body::Answer { parts } | Body::Calls { parts, .. } => {
                    for part in parts {
                        if let Part::Text(said) = part {
                            text += &format!("model: {said}\n\n");
                        }
                    }
                }
                _ => {}
            }
            if text.len() > 4 * TEXT {
                break;
            }
        }
        all.push((at, first.unwrap_or(1), text.chars().take(TEXT).collect()));
    }
    Ok(all)
}

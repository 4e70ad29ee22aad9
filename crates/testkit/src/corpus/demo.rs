//! A pleasant sample home: three weeks of one person's work on three projects.
//!
//! It is committed in packed form, so it must stay small and read well.

use std::io;

use super::book::Book;
use crate::clock::{self, Ms};
use crate::entry;
use crate::json::Raw;
use crate::scribe::Scribe;
use crate::scribe::tool::Change;
use crate::{members, obj};

mod bakery;
mod dotfiles;
mod weather;

const VERSION: &str = "2.1.138";
const OPUS: &str = "claude-opus-4-5-20251101";
const SONNET: &str = "claude-sonnet-4-5-20250929";

/// Tells the whole story.
pub fn make(book: &mut Book) -> io::Result<()> {
    let mut story = Story { book, history: Vec::new() };
    weather::tell(&mut story)?;
    bakery::tell(&mut story)?;
    dotfiles::tell(&mut story)?;
    story.end()
}

/// The home and what was typed into it.
struct Story<'a> {
    book: &'a mut Book,
    history: Vec<(Ms, Raw)>,
}

impl Story<'_> {
    fn open(&mut self, case: &str, cwd: &str, model: &str, start: Ms) -> io::Result<Scribe> {
        let mut s = self.book.session(case, cwd, VERSION)?;
        s.now = start;
        s.model = model.to_string();
        s.hour_cache = true;
        Ok(s)
    }

    /// A prompt, also written into `history.jsonl`, with an empty snapshot.
    fn ask(&mut self, s: &mut Scribe, text: &str) -> String {
        s.flush();
        s.wait(35_000);
        self.remember(s.now, text, &s.envelope.cwd, &s.envelope.session);
        let uuid = s.prompt(text);
        let at = clock::iso(s.now);
        s.line("file-history-snapshot", &entry::snapshot(&uuid, &[], &at, false));
        s.wait(4_000);
        uuid
    }

    fn remember(&mut self, at: Ms, text: &str, project: &str, session: &str) {
        let line = obj! {
            "display": text, "pastedContents": obj! {}, "timestamp": at, "project": project,
            "sessionId": session,
        };
        self.history.push((at, line));
    }

    /// An edit whose original is kept as a backup under the given prompt.
    fn edit(&mut self, s: &mut Scribe, prompt: &str, change: Change<'_>) -> io::Result<()> {
        let session = s.envelope.session.clone();
        let version = 1 + s.truth.touched.iter().filter(|t| t.path == change.path).count() as u64;
        let name = self.book.backup(&session, change.path, version, change.original)?;
        s.edit(change);
        let rel = change.path.strip_prefix(s.envelope.cwd.as_str());
        let rel = rel.map_or(change.path, |rel| rel.trim_start_matches('/'));
        let at = clock::iso(s.now);
        let line = entry::snapshot(prompt, &[(rel, Some(&name), version)], &at, true);
        s.line("file-history-snapshot", &line);
        Ok(())
    }

    /// Ends a turn the way the program does.
    fn turn_end(&mut self, s: &mut Scribe, seconds: u64) {
        s.system("turn_duration", &members! { "durationMs": seconds * 1000, "messageCount": 8 });
    }

    /// Names the session and ends it.
    fn close(&mut self, mut s: Scribe, title: &str, last: &str) -> io::Result<()> {
        s.last_prompt(last);
        s.ai_title(title);
        let line =
            entry::stamp("permission-mode", "permissionMode", &"default", &s.envelope.session);
        s.line("permission-mode", &line);
        self.book.close_session(s)
    }

    fn end(mut self) -> io::Result<()> {
        let ghost = "3c1d7a52-8f0e-4b6b-9a53-6f2e1d0c4b7a";
        let shop = bakery::CWD;
        self.remember(
            clock::at(2026, 5, 1, 16, 2),
            "Which of our pages have no alt text?",
            shop,
            ghost,
        );
        self.remember(
            clock::at(2026, 5, 1, 16, 9),
            "Write the missing ones, short and plain",
            shop,
            ghost,
        );
        self.book.truth.ghosts.push(ghost.into());
        self.history.sort_by_key(|(at, _)| *at);
        let lines: Vec<Raw> = self.history.into_iter().map(|(_, line)| line).collect();
        self.book.lines("history.jsonl", &lines)?;
        self.book.side("settings.json", "{\"cleanupPeriodDays\":90}\n")
    }
}

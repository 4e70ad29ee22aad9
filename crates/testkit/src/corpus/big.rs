//! The big shapes: many bytes, made fast, with exact but short books.

use std::io;

use super::book::Book;
use super::pool::{Pool, sentence};
use crate::clock::{self, Ms};
use crate::entry;
use crate::json::Raw;
use crate::random::Random;
use crate::scribe::Scribe;
use crate::{members, obj};

mod profile;
mod step;

use profile::{Profile, Sizes};

const CWDS: &[&str] = &[
    "/home/ana/src/weather-station",
    "/home/ana/src/bakery-shop",
    "/home/ana/src/notes.app",
    "/home/ana/work/ledger_api",
    "/home/ana/work/map-tiles",
    "/home/ana/dotfiles",
];

/// Half stored like a home of documents, half like a home of progress lines.
pub fn seeds(book: &mut Book, bytes: u64) -> io::Result<()> {
    let pool = Pool::new(book.seed);
    fill(book, &pool, Profile::Documents, "documents", bytes / 2)?;
    let rest = bytes.saturating_sub(book.truth.bytes);
    fill(book, &pool, Profile::Progress, "progress", rest)
}

/// Text, small lines.
pub fn lean(book: &mut Book, bytes: u64) -> io::Result<()> {
    let pool = Pool::new(book.seed);
    fill(book, &pool, Profile::Lean, "lean", bytes)
}

/// Sessions of a few lines each.
pub fn many_small(book: &mut Book, bytes: u64) -> io::Result<()> {
    let pool = Pool::new(book.seed);
    let mut n = 0;
    while book.truth.bytes < bytes {
        let name = format!("small {n}");
        let size = Random::named(book.seed, &name).between(800, 5_200);
        session(book, &pool, Profile::Lean, &name, size)?;
        n += 1;
    }
    Ok(())
}

/// One session of nearly all bytes, and a few small ones.
pub fn one_huge(book: &mut Book, bytes: u64) -> io::Result<()> {
    let pool = Pool::new(book.seed);
    for n in 0..5 {
        session(book, &pool, Profile::Lean, &format!("beside {n}"), 6_000.min(bytes / 100))?;
    }
    let rest = bytes.saturating_sub(book.truth.bytes);
    session(book, &pool, Profile::Huge, "huge", rest)
}

/// Sessions of a profile until `bytes` are full.
fn fill(book: &mut Book, pool: &Pool, profile: Profile, name: &str, bytes: u64) -> io::Result<()> {
    let start = book.truth.bytes;
    let mut sizes = Sizes::new(book.seed, name, bytes);
    let mut n = 0;
    while book.truth.bytes - start < bytes {
        let left = bytes - (book.truth.bytes - start);
        let case = format!("{name} {n}");
        session(book, pool, profile, &case, sizes.next().min(left))?;
        n += 1;
    }
    Ok(())
}

fn session(
    book: &mut Book,
    pool: &Pool,
    profile: Profile,
    case: &str,
    bytes: u64,
) -> io::Result<()> {
    let mut random = Random::named(book.seed, &format!("{case} plan"));
    let cwd = random.pick(CWDS);
    let version = profile.version(&mut random);
    let mut scribe = book.session(case, cwd, version)?;
    scribe.brief = true;
    scribe.now = clock::at(2025, 12, 1, 8, 0) + random.below(45) * DAY + random.below(DAY / 3);
    scribe.model = random.pick(MODELS).to_string();
    scribe.hour_cache = random.chance(50);
    let mut author = Author { pool, profile, random, scribe };
    author.write(bytes);
    book.close_session(author.scribe)
}

const DAY: Ms = 86_400_000;
const MODELS: &[&str] =
    &["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];

const FAILURES: &[(&str, &str)] = &[
    ("Bash", "Exit code 1\nerror[E0308]: mismatched types\n  --> src/lib.rs:42:9"),
    (
        "Bash",
        "Exit code 101\ntest parser::reads_empty_input ... FAILED\n\nfailures:\n    parser::reads_empty_input",
    ),
    ("Bash", "Exit code 127\n/bin/bash: line 1: rg: command not found"),
    ("Bash", "Command timed out after 2m 0.0s"),
    ("Read", "File does not exist."),
    ("Read", "EISDIR: illegal operation on a directory, read"),
    (
        "Edit",
        "<tool_use_error>String to replace not found in file.\nString: let value = parse(input)?;</tool_use_error>",
    ),
    (
        "Edit",
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    ),
    ("WebFetch", "Request failed with status code 404"),
    (
        "Bash",
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.",
    ),
];

/// One session being written.
struct Author<'a> {
    pool: &'a Pool,
    profile: Profile,
    random: Random,
    scribe: Scribe,
}

impl Author<'_> {
    fn write(&mut self, bytes: u64) {
        let mut turns = 0;
        let mut last = String::new();
        while self.scribe.bytes() < bytes || turns == 0 {
            last = sentence(&mut self.random, 14);
            self.turn(&last, bytes);
            turns += 1;
            if self.profile.compacts(turns) {
                self.compact();
            }
        }
        self.tail(&last);
    }

    fn turn(&mut self, prompt: &str, bytes: u64) {
        let pause = self.random.between(20_000, 400_000);
        self.scribe.wait(pause);
        let uuid = self.scribe.prompt(prompt);
        if self.profile.snapshots() {
            let at = clock::iso(self.scribe.now);
            let line = entry::snapshot(&uuid, &[], &at, false);
            self.scribe.line("file-history-snapshot", &line);
        }
        for _ in 0..self.random.between(2, 9) {
            if self.scribe.bytes() >= bytes {
                break;
            }
            self.step(bytes);
        }
        let words = self.random.between(20, 90);
        let text = sentence(&mut self.random, words);
        self.scribe.say(&text);
        self.end_of_turn();
    }

    /// One response: perhaps some thinking, then a call and its result.
    fn step(&mut self, bytes: u64) {
        if self.random.chance(40) {
            let words = self.random.between(15, 60);
            let thought = sentence(&mut self.random, words);
            self.scribe.think(&thought);
        }
        // Some responses make two calls: 6 of 100 responses are 5 of 100 calls.
        if self.random.chance(6) {
            self.failure();
            return;
        }
        let room = bytes.saturating_sub(self.scribe.bytes());
        match self.profile {
            Profile::Documents => self.document_step(room),
            Profile::Progress => self.progress_step(),
            Profile::Lean => self.lean_step(),
            Profile::Huge => self.huge_step(),
        }
    }

    fn failure(&mut self) {
        let i = self.random.below(FAILURES.len() as u64) as usize;
        let (tool, error) = FAILURES[i];
        let word = sentence(&mut self.random, 3);
        let input = match tool {
            "Bash" => obj! { "command": format!("cargo test {word}"), "description": word },
            "WebFetch" => obj! { "url": "https://docs.example.org/missing", "prompt": word },
            _ => obj! { "file_path": self.path() },
        };
        self.scribe.fails(tool, input, error);
    }

    fn document_step(&mut self, room: u64) {
        match self.random.below(100) {
            0..5 if room > 40_000 => self.media(room),
            0..48 => self.read(2_000, 14_000),
            48..75 => self.edit(3_000, 16_000),
            75..90 => self.bash(500, 4_000),
            _ => self.search(),
        }
    }

    fn progress_step(&mut self) {
        match self.random.below(10) {
            0..5 => self.bash_with_progress(),
            5..7 => self.hooked_edit(),
            7 => self.agent_with_progress(),
            8 => self.read(1_000, 6_000),
            _ => self.search(),
        }
    }

    fn lean_step(&mut self) {
        match self.random.below(10) {
            0..4 => self.bash(150, 900),
            4..7 => self.search(),
            7 => self.read(300, 700),
            _ => self.edit(300, 600),
        }
    }

    fn huge_step(&mut self) {
        match self.random.below(10) {
            0..4 => self.bash_with_progress(),
            4..7 => self.read(2_000, 12_000),
            7..9 => self.edit(2_000, 9_000),
            _ => self.search(),
        }
    }

    fn path(&mut self) -> String {
        let cwd = &self.scribe.envelope.cwd;
        format!("{cwd}/src/module_{}.rs", self.random.below(60))
    }

    fn compact(&mut self) {
        let pre = self.random.between(150_000, 180_000);
        let words = self.random.between(300, 700);
        let summary = sentence(&mut self.random, words);
        let trigger = if self.random.chance(80) { "auto" } else { "manual" };
        self.scribe.compact(trigger, pre, None, &summary);
    }

    fn end_of_turn(&mut self) {
        let duration = self.random.between(4_000, 300_000);
        match self.profile {
            Profile::Documents => {}
            Profile::Lean => self.stop(duration),
            Profile::Progress | Profile::Huge => {
                self.stop_hooks();
                self.stop(duration);
                if self.random.chance(3) {
                    let number = self.random.between(1, 40);
                    self.scribe.pr_link("ana/weather-station", number);
                }
            }
        }
    }

    fn stop(&mut self, duration: u64) {
        self.scribe.system("turn_duration", &members! { "durationMs": duration });
    }

    fn stop_hooks(&mut self) {
        let info = obj! { "command": "scripts/check.sh", "durationMs": 420 };
        let id = self.random.uuid();
        let extra = members! {
            "hookCount": 1, "hookInfos": [info], "hookErrors": Vec::<Raw>::new(),
            "preventedContinuation": false, "stopReason": "", "hasOutput": true,
            "level": "suggestion", "toolUseID": id,
        };
        self.scribe.system("stop_hook_summary", &extra);
    }

    fn tail(&mut self, last: &str) {
        if self.profile == Profile::Huge {
            let title = sentence(&mut self.random, 5);
            self.scribe.last_prompt(last);
            self.scribe.ai_title(&title);
        }
    }
}

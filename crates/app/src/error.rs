//! The only place where errors become messages and exit codes.
//!
//! A message says what happened and where, the hint what to do. Exit 0: found. 1: nothing found.
//! 2: an error, or files that could not be read while the rest was. 3 to 5: `wait` alone. 6:
//! the store was not up to date. A closed pipe is success: whoever closed it has what it wanted.

mod clean;
mod config;
mod export;
mod file;
mod install;
#[cfg(feature = "lake")]
mod lake;
mod learn;
mod restore;
mod stamp;
mod store;

pub use ask::StoreError;
pub use clean::CleanError;
pub use config::{ConfigError, Mistake};
pub use export::ExportError;
pub use file::FileError;
pub use install::InstallError;
#[cfg(feature = "lake")]
pub use lake::LakeError;
pub use learn::LearnError;
pub use restore::RestoreError;
pub use stamp::StampError;

use std::io::{self, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use ask::HistoryError;
use report::show::NoPart;
use transcript::layout::Problem;

use crate::terminal::format::{count, counted};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use ask::home::HomeError;
use ask::name::{NameError, Noun};

/// So many unreadable files are named, the others counted.
const NAMED_MOST: usize = 5;
/// So many choices are given.
const CHOICES_MOST: usize = 5;

/// Whether a command found what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Something.
    Found,
    /// Nothing, and that is the answer.
    Nothing,
    /// Something or nothing, by a store that was not up to date.
    Stale,
    /// A session waits for a person.
    Waits,
    /// A session was cut off before it answered.
    CutOff,
    /// It took longer than a person wanted to wait.
    TooLong,
}

impl Answer {
    /// `Nothing` for an empty list.
    pub fn of<T>(found: &[T]) -> Self {
        if found.is_empty() { Self::Nothing } else { Self::Found }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub enum CliError {
    /// There is no Claude folder.
    Home(HomeError),
    /// A name stands for nothing.
    Name(NameError),
    /// A session has no such part.
    Part(NoPart),
    /// The one file that was asked for cannot be read.
    Read(Problem),
    /// Standard output cannot be written.
    Output(io::Error),
    /// The session has no such segment.
    NoSegment {
        /// The index that was asked for.
        wanted: usize,
        /// How many there are.
        segments: usize,
    },
    /// A file's content cannot be told, or not be written back.
    File(FileError),
    /// The sample home cannot be unpacked.
    Demo(io::Error),
    /// The store cannot be used.
    Store(StoreError),
    /// A clean copy cannot be written.
    Clean(CleanError),
    /// An export cannot be written.
    Export(ExportError),
    /// A session's files cannot be written back.
    Restore(RestoreError),
    /// A file is no table of prices.
    Prices(std::path::PathBuf, report::price::TableError),
    /// Standard input is no status of Claude Code.
    NoStatus(String),
    /// A model that has no price.
    NoPrice(String),
    /// A zone that is not known.
    NoZone(String),
    /// The page can't be served at an address.
    Serve(std::net::SocketAddr, io::Error),
    /// Nothing can be learned, or written down.
    Learn(LearnError),
    /// Settings of Claude Code can't be changed.
    Install(InstallError),
    /// Nothing can be added to a transcript.
    Stamp(StampError),
    /// Settings can't be used.
    Config(ConfigError),
    /// A command that is not there.
    NoCommand(String),
    /// A lake can't be used.
    #[cfg(feature = "lake")]
    Lake(LakeError),
    /// Nobody can be spoken with.
    Mcp(io::Error),
}

impl From<HistoryError> for CliError {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::Home(error) => Self::Home(error),
            HistoryError::Name(error) => Self::Name(error),
            HistoryError::Read(problem) => Self::Read(problem),
            HistoryError::Store(error) => Self::Store(error),
            HistoryError::Prices(path, error) => Self::Prices(path, error),
        }
    }
}

impl From<HomeError> for CliError {
    fn from(error: HomeError) -> Self {
        Self::Home(error)
    }
}

impl From<NameError> for CliError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<NoPart> for CliError {
    fn from(error: NoPart) -> Self {
        Self::Part(error)
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        Self::Read(problem)
    }
}

/// Commands write to one place only, so an I/O error without a path is of that place.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Standard error: what is said beside the data.
pub struct Talk {
    stream: AutoStream<io::Stderr>,
    quiet: bool,
    skipped: Vec<Problem>,
    notes: Vec<String>,
    /// Something was not done, and has been said.
    has_failed: bool,
}

impl Talk {
    /// Standard error as the flags want it; `quiet` says no notes, only warnings and errors.
    pub fn new(color: ColorChoice, quiet: bool) -> Self {
        let stream = AutoStream::new(io::stderr(), color);
        Self { stream, quiet, skipped: Vec::new(), notes: Vec::new(), has_failed: false }
    }

    /// A file could not be read and the work goes on without it.
    pub fn skip(&mut self, problem: Problem) {
        // A command may meet it twice: when it lists files and when it reads them.
        if self.skipped.iter().all(|known| known.path != problem.path) {
            self.skipped.push(problem);
        }
    }

    /// A part of the work could not be done and the rest goes on.
    pub fn fail(&mut self, error: &CliError) {
        self.explain(error);
        self.has_failed = true;
    }

    /// Something to know about the answer, said after it.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Says something now, before what follows: a plan, a question.
    pub fn now(&mut self, safe: &str) {
        let _ = writeln!(self.stream, "{safe}");
    }

    /// What would be said at the end, for those who answer in another way.
    pub fn take(&mut self) -> Vec<String> {
        let skips = std::mem::take(&mut self.skipped);
        let mut all = std::mem::take(&mut self.notes);
        all.extend(skips.iter().take(NAMED_MOST).map(skipped));
        all
    }

    /// Says something that was asked for by a flag, whatever else is kept quiet.
    pub fn tell(&mut self, label: &str, text: &str) {
        self.say(style::DIM, label, text);
    }

    /// Says everything, and gives the exit code.
    pub fn finish(mut self, result: Result<Answer, CliError>) -> ExitCode {
        if matches!(result, Ok(Answer::Nothing)) {
            self.note("Nothing found".into());
        }
        if !self.quiet {
            for note in std::mem::take(&mut self.notes) {
                self.say(style::DIM, "note", &note);
            }
        }
        self.warn_of_skipped();
        match result {
            Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::SUCCESS
            }
            Err(error) => {
                self.explain(&error);
                ExitCode::from(2)
            }
            Ok(_) if self.has_failed || !self.skipped.is_empty() => ExitCode::from(2),
            Ok(Answer::Found) => ExitCode::SUCCESS,
            Ok(Answer::Nothing) => ExitCode::from(1),
            Ok(Answer::Waits) => ExitCode::from(3),
            Ok(Answer::CutOff) => ExitCode::from(4),
            Ok(Answer::TooLong) => ExitCode::from(5),
            Ok(Answer::Stale) => ExitCode::from(6),
        }
    }

    fn warn_of_skipped(&mut self) {
        let lines: Vec<String> = self.skipped.iter().take(NAMED_MOST).map(skipped).collect();
        for line in lines {
            self.say(style::ACTIVE, "warning", &line);
        }
        let more = self.skipped.len().saturating_sub(NAMED_MOST);
        if more > 0 {
            let line = format!("and {} that cannot be read", counted(more, "more file"));
            self.say(style::ACTIVE, "warning", &line);
        }
    }

    fn explain(&mut self, error: &CliError) {
        let message = message(error);
        self.say(style::BAD, "error", &message.error);
        if let Some(hint) = &message.hint {
            self.say(style::GOOD, "hint", hint);
        }
    }

    fn say(&mut self, style: Style, label: &str, text: &str) {
        // Nobody can be told that telling failed.
        let label = paint(style.bold(), &format!("{label}:"));
        let _ = writeln!(self.stream, "{label} {}", safe::line(text));
    }
}

fn skipped(problem: &Problem) -> String {
    format!("Cannot read {}: {}", problem.path.display(), reason(&problem.error))
}

/// An error in the system's words without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        _ => error.to_string(),
    }
}

struct Message {
    error: String,
    hint: Option<String>,
}

/// What an error says, and what to do.
pub fn words(error: &CliError) -> (String, Option<String>) {
    let Message { error, hint } = message(error);
    (error, hint)
}

fn message(error: &CliError) -> Message {
    match error {
        CliError::Home(error) => home(error),
        CliError::Name(error) => name(error),
        CliError::Part(error) => part(error),
        CliError::Read(problem) => Message { error: skipped(problem), hint: None },
        CliError::Output(error) => {
            Message { error: format!("Cannot write the output: {}", reason(error)), hint: None }
        }
        CliError::NoSegment { wanted, segments } => Message {
            error: format!("There is no segment {wanted}"),
            hint: Some(match segments {
                1 => "The session was never compacted: all of it is segment 0".into(),
                _ => format!("The segments are 0 to {}", segments.saturating_sub(1)),
            }),
        },
        CliError::File(error) => file::message(error),
        CliError::Store(error) => store::message(error),
        CliError::Clean(error) => clean::message(error),
        CliError::Export(error) => export::message(error),
        CliError::Restore(error) => restore::message(error),
        CliError::Install(error) => install::message(error),
        #[cfg(feature = "lake")]
        CliError::Lake(error) => lake::message(error),
        CliError::Learn(error) => learn::message(error),
        CliError::Config(error) => config::message(error),
        CliError::Stamp(error) => stamp::message(error),
        CliError::Prices(path, error) => Message {
            error: format!("{}: {error}", path.display()),
            hint: Some("`recount prices --json` shows the form".into()),
        },
        CliError::NoStatus(why) => Message {
            error: format!("Standard input is no status of Claude Code: {why}"),
            hint: Some("Claude Code runs it: `recount help statusline` shows the setting".into()),
        },
        CliError::NoPrice(model) => Message {
            error: format!("There is no price for `{model}`"),
            hint: Some("`recount prices` lists the models; `--prices FILE` adds some".into()),
        },
        CliError::NoZone(name) => Message {
            error: format!("There is no zone `{name}`"),
            hint: Some("Give a name like Europe/Berlin, or UTC".into()),
        },
        CliError::Serve(address, error) => Message {
            error: format!("Cannot serve at {address}: {}", reason(error)),
            hint: Some("Another program may have the port: leave `--port` out".into()),
        },
        CliError::NoCommand(name) => Message {
            error: format!("There is no command `{name}`"),
            hint: Some("`recount help` lists them".into()),
        },
        CliError::Mcp(error) => Message {
            error: format!("Nobody speaks MCP at standard input: {}", reason(error)),
            hint: Some("An agent starts it: `recount help mcp` shows the setting".into()),
        },
        CliError::Demo(error) => Message {
            error: format!("Cannot unpack the sample home: {}", reason(error)),
            hint: Some("Is there room in the folder for temporary files?".into()),
        },
    }
}

fn part(error: &NoPart) -> Message {
    let NoPart { noun, asked, first, count } = *error;
    let hint = match (noun, count) {
        ("branch", 0) => "Nothing was left in it: it has no branches".into(),
        (_, 0) => "It has none".into(),
        ("entry" | "entry at byte", _) => "`--detail 4` shows numbers and offsets".into(),
        (_, 1) => format!("The only one is {first}"),
        _ => format!("They go from {first} to {}", first + count - 1),
    };
    Message { error: format!("The session has no {noun} {asked}"), hint: Some(hint) }
}

fn home(error: &HomeError) -> Message {
    match error {
        HomeError::Missing { path, by } => Message {
            error: format!("The Claude folder {} does not exist", path.display()),
            hint: Some(format!("Correct {by}, or look at a sample with `--demo`")),
        },
        HomeError::DemoToo => Message {
            error: "`--demo` and `--claude-dir` cannot be used together".into(),
            hint: Some("`--demo` reads a built-in sample, leave one of them out".into()),
        },
        HomeError::NoStore => Message {
            error: "There is no home folder to keep the store in".into(),
            hint: Some("Name a folder with `--store DIR` or RECOUNT_STORE".into()),
        },
        HomeError::NoneFound(usual) => {
            let usual: Vec<String> = usual.iter().map(|path| path.display().to_string()).collect();
            Message {
                error: format!(
                    "No Claude folder found: CLAUDE_CONFIG_DIR is not set, and there is no {}",
                    usual.join(" and no "),
                ),
                hint: Some(
                    "Name it with `--claude-dir DIR`, or look at a sample with `--demo`".into(),
                ),
            }
        }
    }
}

/// The words for a thing with a name, and the command that lists them.
struct Words {
    one: &'static str,
    many: &'static str,
    list: &'static str,
}

fn noun_words(noun: Noun) -> Words {
    match noun {
        Noun::Session => Words { one: "session", many: "sessions", list: "recount list" },
        Noun::Log => Words { one: "debug log of session", many: "debug logs", list: "recount log" },
        Noun::Todos => {
            Words { one: "todo list of session", many: "todo lists", list: "recount todos" }
        }
        Noun::Plan => Words { one: "plan", many: "plans", list: "recount plans" },
    }
}

fn name(error: &NameError) -> Message {
    match error {
        NameError::Ambiguous { noun, name, matches } => {
            let Words { one, many, .. } = noun_words(*noun);
            let number = count(matches.len() as u64);
            let error = format!("{} `{name}` matches {number} {many}", capital(one));
            let hint = format!("Give more characters, or choose one: {}", choices(matches));
            Message { error, hint: Some(hint) }
        }
        NameError::Unknown { noun, name, nearest } => {
            let Words { one, many, list } = noun_words(*noun);
            let all = format!("`{list}` shows all {many}");
            let hint = match nearest.is_empty() {
                true => all,
                false => format!("Did you mean {}? {all}", choices(nearest)),
            };
            Message { error: format!("No {one} `{name}`"), hint: Some(hint) }
        }
        NameError::Ghost { id, prompts } => {
            let id = crate::commands::short(id);
            let left = counted(*prompts, "prompt");
            let its = if *prompts == 1 { "is" } else { "are" };
            Message {
                error: format!("Of session `{id}` only {left} {its} left: its transcript is gone"),
                hint: Some(format!("`recount history --session {id}` shows what was typed")),
            }
        }
        NameError::NoneAtAll(noun) => {
            Message { error: format!("There are no {}", noun_words(*noun).many), hint: None }
        }
        NameError::NoStdin => Message {
            error: "This command needs a session's name, `-` has none".into(),
            hint: Some("Give an id, the beginning of one, or `latest`".into()),
        },
        NameError::NoneHere { noun, folder } => {
            let Words { many, list, .. } = noun_words(*noun);
            Message {
                error: format!("There are no {many} of {}", folder.display()),
                hint: Some(format!("`{list}` shows those of other folders")),
            }
        }
    }
}

fn choices(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(CHOICES_MOST).map(|id| format!("`{id}`")).collect();
    let more = all.len().saturating_sub(CHOICES_MOST);
    let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
    shown.join(", ") + &more
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: impl Into<CliError>) -> String {
        let Message { error, hint } = message(&error.into());
        let hint = hint.map(|hint| format!("\nhint: {hint}"));
        format!("error: {error}{}", hint.as_deref().unwrap_or(""))
    }

    fn ids(all: &[&str]) -> Vec<String> {
        all.iter().map(|&id| id.into()).collect()
    }

    #[test]
    fn messages_say_what_to_do() {
        let noun = Noun::Session;
        let matches = ids(&["3f2a91c0", "3f2ab774", "3f2aee10"]);
        insta::assert_snapshot!(text(NameError::Ambiguous { noun, name: "3f2a".into(), matches }), @r"
        error: Session `3f2a` matches 3 sessions
        hint: Give more characters, or choose one: `3f2a91c0`, `3f2ab774`, `3f2aee10`
        ");
        let nearest = ids(&["3f2a91c0"]);
        insta::assert_snapshot!(text(NameError::Unknown { noun, name: "3f2b".into(), nearest }), @r"
        error: No session `3f2b`
        hint: Did you mean `3f2a91c0`? `recount list` shows all sessions
        ");
        insta::assert_snapshot!(text(NameError::NoneHere { noun, folder: "/home/x".into() }), @r"
        error: There are no sessions of /home/x
        hint: `recount list` shows those of other folders
        ");
        let path = "/x".into();
        insta::assert_snapshot!(text(HomeError::Missing { path, by: "CLAUDE_CONFIG_DIR" }), @r"
        error: The Claude folder /x does not exist
        hint: Correct CLAUDE_CONFIG_DIR, or look at a sample with `--demo`
        ");
    }

    #[test]
    fn many_choices_are_counted() {
        let all: Vec<String> = (0..8).map(|n| format!("a{n}")).collect();
        assert_eq!(choices(&all), "`a0`, `a1`, `a2`, `a3`, `a4` and 3 more");
    }
}

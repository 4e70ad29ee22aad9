//! The browser in the terminal: `recount` without a command.
//!
//! What happens is a message, [`state`] says what it changes and what has to be done, [`draw`]
//! makes cells of it. Files are read on threads of their own that answer with messages, so the
//! screen waits for nobody.

mod deed;
mod draw;
mod fuzzy;
mod gather;
mod list;
mod paint;
mod reading;
mod row;
mod screen;
mod search;
mod sheet;
mod shelf;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod view;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use anstream::ColorChoice;
use ratatui::crossterm::event::{self, Event};
use report::redact::{Options as RedactOptions, Redactor, Rules};

use self::deed::Deeds;
use self::reading::{Reading, Request};
use self::screen::{Screen, Use};
use self::search::Wish;
use self::state::{Effect, Msg, Options, Parting, State};
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::serve::Desk;

pub use self::screen::is_there;

/// How long the drawing of a few rows may wait for whoever listens.
const TURN: Duration = Duration::from_millis(100);

/// The flags of the browser.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Without a command, on a terminal")]
pub struct BrowseArgs {
    /// Use only so many rows, below what is on the screen
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u16).range(5..))]
    inline: Option<u16>,

    /// Print the id of the session that is chosen, for scripts
    #[arg(long)]
    pick: bool,

    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
}

impl BrowseArgs {
    /// Whether any was given.
    pub fn is_given(&self) -> bool {
        self.inline.is_some() || self.pick || self.no_mouse
    }
}

/// The browser until the person leaves it.
pub fn run(args: &BrowseArgs, color: ColorChoice, run: &mut Run) -> Result<Answer, CliError> {
    let real = |root: PathBuf| root.canonicalize().unwrap_or(root);
    let roots = run.recount.claude_roots()?.into_iter().map(real).collect();
    let store = run.recount.store()?.folder().to_path_buf();
    let redactor = run.redact.then(|| Redactor::new(Rules::built_in(), RedactOptions::default()));
    let desk = Arc::new(Desk::new(roots, store.clone(), redactor));
    let how = Use { inline: args.inline, has_mouse: !args.no_mouse };
    let options = Options {
        is_pick: args.pick,
        is_plain: screen::is_plain(color),
        here: run.recount.current_folder().ok().map(|here| here.to_string_lossy().into_owned()),
    };
    let mut screen = Screen::take(how)?;
    let state = State::new(options, screen.size());
    let parting = go(state, &mut screen, &desk, &store, run);
    screen.leave(how)?;
    match parting? {
        Parting::Quit if args.pick => Ok(Answer::Nothing),
        parting => part(run, parting),
    }
}

/// Where what is asked for goes.
struct Hands {
    reading: Sender<Request>,
    searching: Sender<Wish>,
    deeds: Deeds,
}

impl Hands {
    fn new(desk: &Arc<Desk>, store: &Path, run: &Run, screen: &Screen, say: &Sender<Msg>) -> Self {
        let (reading, requests) = mpsc::channel();
        let reader =
            Reading::new(desk.clone(), run.recount.clock.clone(), run.redact, reading.clone());
        let (searching, searches) = mpsc::channel();
        let deeds = Deeds::new(desk.clone(), store.into(), say.clone());
        let told = [say.clone(), say.clone(), say.clone(), say.clone()];
        let [rows, read, found, keys] = told;
        let (shelf, finder) = (desk.clone(), desk.clone());
        let is_inline = screen.is_inline();
        std::thread::spawn(move || shelf::tell(&shelf, &rows));
        std::thread::spawn(move || reader.run(&requests, &read));
        std::thread::spawn(move || search::run(&finder, &searches, &found));
        std::thread::spawn(move || listen(&keys, is_inline));
        Self { reading, searching, deeds }
    }
}

/// Tells what is typed and clicked, until nobody listens any more. Inline, whoever draws asks the
/// terminal for its cursor, and has to come to word between two events.
fn listen(say: &Sender<Msg>, is_inline: bool) {
    loop {
        match is_inline.then(|| event::poll(TURN)) {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => continue,
            Some(Err(_)) => return,
        }
        let Ok(event) = event::read() else { return };
        let msg = match event {
            Event::Key(key) => Msg::Key(key),
            Event::Mouse(mouse) => Msg::Mouse(mouse),
            Event::Paste(text) => Msg::Paste(text),
            Event::Resize(columns, rows) => Msg::Resize(columns, rows),
            Event::FocusGained | Event::FocusLost => continue,
        };
        if say.send(msg).is_err() {
            return;
        }
    }
}

/// Takes messages and draws until somebody wants to leave.
fn go(
    mut state: State,
    screen: &mut Screen,
    desk: &Arc<Desk>,
    store: &Path,
    run: &Run,
) -> Result<Parting, CliError> {
    let (say, messages) = mpsc::channel();
    let hands = Hands::new(desk, store, run, screen, &say);
    screen.draw(&state)?;
    while let Some(first) = next(&messages) {
        // What has come meanwhile is drawn with it.
        for msg in std::iter::once(first).chain(messages.try_iter()) {
            let msg = match msg {
                Msg::Resize(columns, rows) => {
                    let (columns, rows) = screen.resize(columns, rows);
                    Msg::Resize(columns, rows)
                }
                msg => msg,
            };
            for effect in state.update(msg) {
                if let Some(parting) = act(effect, &hands, screen, &mut state)? {
                    return Ok(parting);
                }
            }
        }
        screen.draw(&state)?;
    }
    Ok(Parting::Quit)
}

fn next(messages: &Receiver<Msg>) -> Option<Msg> {
    messages.recv().ok()
}

fn act(
    effect: Effect,
    hands: &Hands,
    screen: &mut Screen,
    state: &mut State,
) -> Result<Option<Parting>, CliError> {
    // A thread that is gone has ended the program.
    let ask = |request| drop(hands.reading.send(request));
    match effect {
        Effect::Glance(glance) => ask(Request::Glance(glance)),
        Effect::Open(asked) => ask(Request::Open(asked)),
        Effect::Paint(wanted) => ask(Request::Paint(wanted)),
        Effect::Find(ticket, text) => ask(Request::Find(ticket, text)),
        Effect::File(serial, index) => ask(Request::File(serial, index)),
        Effect::Search(topic, here) => drop(hands.searching.send(Wish::Hits(topic, here))),
        Effect::Usage(columns) => drop(hands.searching.send(Wish::Usage(columns))),
        Effect::Copy(text) => {
            if !screen.copy(&text)? {
                state.note = Some("Too long for the clipboard of a terminal".into());
            }
        }
        Effect::Export(id) => hands.deeds.export(&id),
        Effect::Page(id) => hands.deeds.page(&id),
        Effect::Leave(parting) => return Ok(Some(parting)),
    }
    Ok(None)
}

/// What is done when the terminal has been given back.
fn part(run: &mut Run, parting: Parting) -> Result<Answer, CliError> {
    match parting {
        Parting::Quit => Ok(Answer::Found),
        Parting::Print(line) => {
            run.out.line(&line)?;
            run.out.flush()?;
            Ok(Answer::Found)
        }
        Parting::Resume(id, folder) => resume(run, &id, folder.as_deref()),
    }
}

/// Becomes Claude Code, in the folder of the session.
#[cfg(unix)]
fn resume(run: &mut Run, id: &str, folder: Option<&str>) -> Result<Answer, CliError> {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new("claude");
    command.args(["--resume", id]);
    if let Some(folder) = folder.filter(|folder| Path::new(folder).is_dir()) {
        command.current_dir(folder);
    }
    let error = command.exec();
    run.talk.note(format!("`claude` can't be started ({error}); the command is printed"));
    run.out.line(&format!("claude --resume {id}"))?;
    Ok(Answer::Found)
}

/// Elsewhere a program can't become another one: the command is printed.
#[cfg(not(unix))]
fn resume(run: &mut Run, id: &str, _: Option<&str>) -> Result<Answer, CliError> {
    run.out.line(&format!("claude --resume {id}"))?;
    Ok(Answer::Found)
}

//! The terminal: taken when the browser begins, given back when it ends, also by a panic.

use std::io::{self, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::OwnedFd;

use anstream::{AutoStream, ColorChoice};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::terminal::{
    self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::{Position, Rect};
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::draw;
use super::state::State;

/// A clipboard takes no more than this from a terminal.
const COPY_MOST: usize = 74_000;

/// How the terminal is used.
#[derive(Debug, Clone, Copy)]
pub struct Use {
    /// Only so many rows below what is there already.
    pub inline: Option<u16>,
    /// Clicks and the wheel.
    pub has_mouse: bool,
}

/// The terminal, while it is ours.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Tty>>,
    is_inline: bool,
    answers: Answers,
}

/// Where is drawn: standard output stays free for the answer if it is no terminal.
#[derive(Debug, Clone, Copy)]
enum Tty {
    Out,
    Err,
}

impl Tty {
    fn find() -> Self {
        if io::stdout().is_terminal() { Self::Out } else { Self::Err }
    }
}

impl Write for Tty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Out => io::stdout().write(bytes),
            Self::Err => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Out => io::stdout().flush(),
            Self::Err => io::stderr().flush(),
        }
    }
}

/// Where standard output went before the browser began. Terminals are asked where their cursor is
/// by standard output only, so that has to be the terminal meanwhile.
#[cfg(unix)]
struct Answers(Option<OwnedFd>);

#[cfg(unix)]
impl Answers {
    fn set_aside() -> io::Result<Self> {
        if io::stdout().is_terminal() {
            return Ok(Self(None));
        }
        let kept = rustix::io::dup(io::stdout())?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Self(Some(kept)))
    }

    fn put_back(self) -> io::Result<()> {
        io::stdout().flush()?;
        if let Some(kept) = self.0 {
            rustix::stdio::dup2_stdout(kept)?;
        }
        Ok(())
    }
}

/// Elsewhere the terminal itself is asked.
#[cfg(not(unix))]
struct Answers;

#[cfg(not(unix))]
impl Answers {
    fn set_aside() -> io::Result<Self> {
        Ok(Self)
    }

    fn put_back(self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether there is a terminal to draw on and to type at.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && (io::stdout().is_terminal() || io::stderr().is_terminal())
}

/// Whether there are to be no colours.
pub fn is_plain(color: ColorChoice) -> bool {
    let choice = match (color, Tty::find()) {
        (ColorChoice::Auto, Tty::Out) => AutoStream::choice(&io::stdout()),
        (ColorChoice::Auto, Tty::Err) => AutoStream::choice(&io::stderr()),
        (choice, _) => choice,
    };
    choice == ColorChoice::Never
}

impl Screen {
    /// Takes the terminal.
    pub fn take(how: Use) -> io::Result<Self> {
        give_back_on_panic(how);
        terminal::enable_raw_mode()?;
        let answers = Answers::set_aside()?;
        let mut tty = Tty::find();
        execute!(tty, EnableBracketedPaste)?;
        if how.inline.is_none() {
            execute!(tty, EnterAlternateScreen)?;
        }
        if how.has_mouse && how.inline.is_none() {
            execute!(tty, EnableMouseCapture)?;
        }
        let viewport = match how.inline {
            Some(rows) => Viewport::Inline(rows),
            None => Viewport::Fullscreen,
        };
        let terminal =
            Terminal::with_options(CrosstermBackend::new(tty), TerminalOptions { viewport });
        match terminal {
            Ok(terminal) => Ok(Self { terminal, is_inline: how.inline.is_some(), answers }),
            Err(error) => {
                give_back(how)?;
                answers.put_back()?;
                Err(error)
            }
        }
    }

    /// Whether only some rows are ours.
    pub fn is_inline(&self) -> bool {
        self.is_inline
    }

    /// Columns and rows.
    pub fn size(&mut self) -> (u16, u16) {
        let area = self.terminal.get_frame().area();
        (area.width, area.height)
    }

    /// The size after the terminal has changed its own.
    pub fn resize(&mut self, columns: u16, rows: u16) -> (u16, u16) {
        match self.is_inline {
            true => (columns, rows.min(self.size().1)),
            false => (columns, rows),
        }
    }

    /// Draws the state.
    pub fn draw(&mut self, state: &State) -> io::Result<()> {
        self.terminal.draw(|frame| {
            let area = frame.area();
            let (columns, rows) = state.size();
            let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
            draw::draw(state, &mut buffer);
            // Inline, the rows begin somewhere below.
            for y in 0..rows.min(area.height) {
                for x in 0..columns.min(area.width) {
                    let cell = buffer.cell(Position::new(x, y)).cloned().unwrap_or_default();
                    if let Some(to) = frame.buffer_mut().cell_mut((area.x + x, area.y + y)) {
                        *to = cell;
                    }
                }
            }
        })?;
        Ok(())
    }

    /// Puts a text into the clipboard, by OSC 52, which also works over ssh.
    pub fn copy(&mut self, text: &str) -> io::Result<bool> {
        let encoded = STANDARD.encode(text);
        if encoded.len() > COPY_MOST {
            return Ok(false);
        }
        let mut tty = Tty::find();
        write!(tty, "\u{1b}]52;c;{encoded}\u{7}")?;
        tty.flush()?;
        Ok(true)
    }

    /// Gives the terminal back.
    pub fn leave(mut self, how: Use) -> io::Result<()> {
        if self.is_inline {
            let start = self.terminal.get_frame().area().as_position();
            self.terminal.set_cursor_position(start)?;
            execute!(self.terminal.backend_mut(), Clear(ClearType::FromCursorDown))?;
        }
        // Its end shows the cursor again, which is no part of the answer.
        drop(self.terminal);
        give_back(how)?;
        self.answers.put_back()
    }
}

fn give_back(how: Use) -> io::Result<()> {
    let mut tty = Tty::find();
    if how.has_mouse && how.inline.is_none() {
        execute!(tty, DisableMouseCapture)?;
    }
    execute!(tty, DisableBracketedPaste)?;
    if how.inline.is_none() {
        execute!(tty, LeaveAlternateScreen)?;
    }
    execute!(tty, cursor::Show)?;
    terminal::disable_raw_mode()
}

/// A panic on any thread gives the terminal back, is told where it can be read, and ends all.
fn give_back_on_panic(how: Use) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // The panic is what has to be told, whatever the terminal says.
        let _ = give_back(how);
        before(panic);
        std::process::exit(101);
    }));
}

//! Standard output: data only, with or without colour, through the pager or not.
//!
//! Everything a command prints goes through [`Output`], so that a closed pipe comes back as an
//! error of one kind and nothing is lost in a buffer.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use super::pager::Pager;
use super::safe;
use super::table::Table;
use crate::wire;

/// Where data goes.
pub struct Output {
    sink: Sink,
    /// Takes the colours out again; `None` where they are wanted.
    strip: Option<StripBytes>,
    columns: Option<usize>,
}

enum Sink {
    Direct(BufWriter<Stdout>),
    Paged(Box<Pager>),
    Held(Vec<u8>),
}

impl Sink {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Direct(stdout) => stdout,
            Self::Paged(pager) => pager,
            Self::Held(bytes) => bytes,
        }
    }
}

impl Output {
    /// Standard output as the flags want it.
    pub fn new(color: ColorChoice, pager: bool) -> Self {
        let size = screen();
        let sink = match size.filter(|_| pager).and_then(Pager::new) {
            Some(pager) => Sink::Paged(Box::new(pager)),
            None => Sink::Direct(BufWriter::new(io::stdout())),
        };
        let plain = match color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) == ColorChoice::Never,
            other => other == ColorChoice::Never,
        };
        Self { sink, strip: plain.then(StripBytes::new), columns: size.map(|size| size.columns) }
    }

    /// What is written is held, for [`Output::take`].
    pub fn held() -> Self {
        Self { sink: Sink::Held(Vec::new()), strip: Some(StripBytes::new()), columns: None }
    }

    /// What was held so far.
    pub fn take(&mut self) -> Vec<u8> {
        match &mut self.sink {
            Sink::Held(bytes) => std::mem::take(bytes),
            Sink::Direct(_) | Sink::Paged(_) => Vec::new(),
        }
    }

    /// The width of the terminal, where there is one.
    pub fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Writes text and a newline. The text is already safe.
    pub fn line(&mut self, safe: &str) -> io::Result<()> {
        self.write_all(safe.as_bytes())?;
        self.write_all(b"\n")
    }

    /// Writes a table, cut to the width of the terminal.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        table.lines(self.columns).iter().try_for_each(|line| self.line(line))
    }

    /// Writes text from anywhere, made safe, ended by a newline.
    pub fn text(&mut self, raw: &str) -> io::Result<()> {
        let safe = safe::text(raw);
        self.line(safe.strip_suffix('\n').unwrap_or(&safe))
    }

    /// Writes text from anywhere, made safe, each line behind `indent` spaces.
    pub fn indented(&mut self, indent: usize, raw: &str) -> io::Result<()> {
        let indent = " ".repeat(indent);
        safe::text(raw).lines().try_for_each(|line| self.line(&format!("{indent}{line}")))
    }

    /// Writes the content of a file: every byte as it is, but made safe on a terminal.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if io::stdout().is_terminal() {
            return self.text(&String::from_utf8_lossy(bytes));
        }
        self.sink.writer().write_all(bytes)
    }

    /// Writes one JSON line. There are no colours in it, so it goes past their removal.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let sink = self.sink.writer();
        wire::write(&mut *sink, value)?;
        sink.write_all(b"\n")
    }

    /// Writes what is still held and waits for the pager.
    pub fn finish(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Direct(stdout) => stdout.flush(),
            Sink::Paged(pager) => pager.finish(),
            Sink::Held(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sink = self.sink.writer();
        match &mut self.strip {
            Some(strip) => strip.strip_next(bytes).try_for_each(|part| sink.write_all(part))?,
            None => sink.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Direct(stdout) => stdout.flush(),
            Sink::Paged(_) | Sink::Held(_) => Ok(()),
        }
    }
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Characters on a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

/// The terminal that standard output is, if it is one.
fn screen() -> Option<Screen> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (width, height) = terminal_size::terminal_size_of(io::stdout())?;
    Some(Screen { columns: usize::from(width.0), rows: usize::from(height.0) })
}

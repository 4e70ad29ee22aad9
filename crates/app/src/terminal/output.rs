//! Standard output: data only, with or without colour, through the pager or not.
//!
//! Everything a command prints goes through [`Output`], so that a closed pipe comes back as an
//! error of one kind and nothing is lost in a buffer.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use transcript::record::Record;

use super::pager::Pager;
use super::redacted::Redacted;
use super::safe;
use super::table::Table;
use crate::wire;

/// Where data goes.
pub struct Output {
    sink: Sink,
    /// Takes the colours out again; `None` where they are wanted.
    strip: Option<StripBytes>,
    columns: Option<usize>,
    /// Takes secrets out; `None` where they may be printed.
    redacted: Option<Redacted>,
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
    /// Standard output as the flags want it. Where secrets are taken out there are no colours, which
    /// would stand between their letters, and nothing is cut to the width of the terminal.
    pub fn new(color: ColorChoice, pager: bool, redact: bool) -> Self {
        let size = screen();
        let sink = match size.filter(|_| pager).and_then(Pager::new) {
            Some(pager) => Sink::Paged(Box::new(pager)),
            None => Sink::Direct(BufWriter::new(io::stdout())),
        };
        let plain = match color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) == ColorChoice::Never,
            other => other == ColorChoice::Never,
        };
        Self {
            sink,
            strip: (plain || redact).then(StripBytes::new),
            columns: size.filter(|_| !redact).map(|size| size.columns),
            redacted: redact.then(Redacted::new),
        }
    }

    /// As this one, but what is written is held, for [`Output::take`].
    pub fn held(self) -> Self {
        let strip = Some(StripBytes::new());
        Self { sink: Sink::Held(Vec::new()), strip, columns: None, redacted: self.redacted }
    }

    /// Holds what is written with its colours, as for a screen of so many columns.
    pub fn painted(columns: usize, redact: bool) -> Self {
        let redacted = redact.then(Redacted::new);
        Self { sink: Sink::Held(Vec::new()), strip: None, columns: Some(columns), redacted }
    }

    /// What was held so far.
    pub fn take(&mut self) -> Vec<u8> {
        let rest = self.redacted.as_mut().map(Redacted::rest);
        match &mut self.sink {
            Sink::Held(bytes) => {
                bytes.extend(rest.unwrap_or_default());
                std::mem::take(bytes)
            }
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
        put(&mut self.sink, self.redacted.as_mut(), bytes)
    }

    /// Writes one JSON line. There are no colours in it, so it goes past their removal.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.release()?;
        let sink = self.sink.writer();
        match &self.redacted {
            None => wire::write(&mut *sink, value)?,
            Some(redacted) => {
                let mut line = Vec::new();
                wire::write(&mut line, value)?;
                sink.write_all(redacted.json(&String::from_utf8_lossy(&line)).as_bytes())?;
            }
        }
        sink.write_all(b"\n")
    }

    /// Writes what is held to be looked through.
    fn release(&mut self) -> io::Result<()> {
        match &mut self.redacted {
            Some(redacted) => self.sink.writer().write_all(&redacted.rest()),
            None => Ok(()),
        }
    }

    /// Takes the secrets out of a record that is about to be printed, where none may be.
    pub fn cover(&self, record: &mut Record) {
        if let Some(redacted) = &self.redacted {
            redacted.record(record);
        }
    }

    /// How often a secret was replaced.
    pub fn replaced(&self) -> u64 {
        self.redacted.as_ref().map_or(0, Redacted::count)
    }

    /// Writes what is still held and waits for the pager.
    pub fn finish(&mut self) -> io::Result<()> {
        self.release()?;
        match &mut self.sink {
            Sink::Direct(stdout) => stdout.flush(),
            Sink::Paged(pager) => pager.finish(),
            Sink::Held(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { sink, strip, redacted, .. } = self;
        let mut put = |part: &[u8]| put(sink, redacted.as_mut(), part);
        match strip {
            Some(strip) => strip.strip_next(bytes).try_for_each(&mut put)?,
            None => put(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.release()?;
        match &mut self.sink {
            Sink::Direct(stdout) => stdout.flush(),
            Sink::Paged(_) | Sink::Held(_) => Ok(()),
        }
    }
}

/// Writes bytes, or holds them to be looked through.
fn put(sink: &mut Sink, redacted: Option<&mut Redacted>, bytes: &[u8]) -> io::Result<()> {
    match redacted {
        None => sink.writer().write_all(bytes),
        Some(redacted) => match redacted.take(bytes) {
            Some(ready) => sink.writer().write_all(&ready),
            None => Ok(()),
        },
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

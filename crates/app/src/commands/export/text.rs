//! A session as Markdown, as JSON lines of its records, or as the lines of its files.

use std::io::{Read, Write};

use report::export::markdown::Markdown;
use report::page::Style;
use report::page::session::Head;
use report::show::{self, Part};
use transcript::bulk;
use transcript::layout::Problem;
use transcript::line::{Line, LineReader};
use transcript::record::{CallRecord, LARGEST, Opened, Record};
use transcript::source::Source;

use super::walk::{Sink, Walk};
use crate::commands::show::viewer::{self, Stage};
use crate::error::CliError;
use crate::terminal::format::Clock;
use crate::wire;
use crate::wire::export::ExportedSession;

/// Writes a session as Markdown.
pub fn markdown(
    walk: &mut Walk<'_>,
    head: &Head,
    (style, clock): (&Style, &Clock),
    notes: &[String],
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let opened = Opened::new(walk.subject.session, walk.subject.sources, false);
    let mut sink = Prose { markdown: Markdown::new(style, clock), out };
    sink.markdown.head(head);
    let nodes = show::nodes(opened.session(), walk.choice.part)?;
    let stage = stage(walk, &opened);
    walk.records(stage, &nodes, &mut sink)?;
    walk.lone(stage, &mut sink)?;
    walk.finish();
    walk.tally.cut += sink.markdown.cut;
    sink.markdown.foot(&walk.tally, notes);
    sink.flush()
}

fn stage<'s>(walk: &Walk<'s>, opened: &'s Opened<'s>) -> Stage<'s> {
    Stage { opened, sources: walk.subject.sources, agent: None, is_tail: false }
}

struct Prose<'a> {
    markdown: Markdown<'a>,
    out: &'a mut dyn Write,
}

impl Prose<'_> {
    fn flush(&mut self) -> Result<(), CliError> {
        Ok(self.out.write_all(self.markdown.take().as_bytes())?)
    }
}

impl Sink for Prose<'_> {
    fn record(
        &mut self,
        _: Stage<'_>,
        record: &Record,
        raw: Option<&str>,
        _: usize,
    ) -> Result<(), CliError> {
        match raw {
            Some(line) => self.markdown.raw(record, line),
            None => self.markdown.record(record),
        }
        self.flush()
    }

    fn call(&mut self, call: &CallRecord) -> Result<(), CliError> {
        self.markdown.call(call);
        self.flush()
    }

    fn enter(&mut self, words: &str) -> Result<(), CliError> {
        self.markdown.enter(words);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), CliError> {
        self.markdown.leave();
        Ok(())
    }
}

/// Writes a session as the records of `recount show --json`, and a line that says what is not
/// there.
pub fn json(
    walk: &mut Walk<'_>,
    head: &Head,
    notes: &[String],
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let opened = Opened::new(walk.subject.session, walk.subject.sources, false);
    let nodes = show::nodes(opened.session(), walk.choice.part)?;
    let mut sink = Records { id: walk.subject.name(), lines: Vec::new() };
    let stage = stage(walk, &opened);
    // One at a time, so that no more than a record with its subagents is held.
    for node in nodes {
        walk.records(stage, &[node], &mut sink)?;
        sink.write(walk, out)?;
    }
    walk.lone(stage, &mut sink)?;
    sink.write(walk, out)?;
    walk.finish();
    let left_out = left_out(walk, notes);
    let last = ExportedSession {
        session: &head.id,
        title: &head.title,
        format: "json",
        path: None,
        bytes: walk.subject.bytes(),
        written_bytes: None,
        records: walk.tally.records,
        left_out: &left_out,
        redacted: walk.cover.is_on(),
    };
    wire::write(&mut *out, &last)?;
    Ok(out.write_all(b"\n")?)
}

/// What is not in an export, in words.
pub fn left_out(walk: &Walk<'_>, notes: &[String]) -> Vec<String> {
    let hidden = walk.tally.hidden_words();
    let level = walk.choice.detail as u8;
    let hidden = (!hidden.is_empty()).then(|| format!("Hidden at level {level}: {hidden}"));
    hidden.into_iter().chain(walk.tally.lines()).chain(notes.iter().cloned()).collect()
}

struct Records {
    id: String,
    lines: Vec<(String, u64)>,
}

impl Records {
    /// Writes the lines that are held, without their secrets.
    fn write(&mut self, walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<(), CliError> {
        for (mut line, entry) in self.lines.drain(..) {
            walk.cover.json(&mut line, entry);
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Sink for Records {
    fn record(
        &mut self,
        stage: Stage<'_>,
        record: &Record,
        raw: Option<&str>,
        depth: usize,
    ) -> Result<(), CliError> {
        let wire = viewer::wire(Some(&self.id), stage, record, depth);
        let wire = match raw {
            Some(line) => wire.with_raw(line.as_bytes()),
            None => wire,
        };
        let mut line = Vec::new();
        wire::write(&mut line, &wire)?;
        let entry = record.number.map_or(record.offset, u64::from);
        self.lines.push((String::from_utf8_lossy(&line).into_owned(), entry));
        Ok(())
    }

    fn call(&mut self, _: &CallRecord) -> Result<(), CliError> {
        Ok(())
    }

    fn enter(&mut self, _: &str) -> Result<(), CliError> {
        Ok(())
    }

    fn leave(&mut self) -> Result<(), CliError> {
        Ok(())
    }
}

/// Writes the lines of the session's own file, and those of its entries that stand in others.
pub fn lines(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    let subject = walk.subject;
    let opened = Opened::new(subject.session, subject.sources, false);
    let nodes = show::nodes(subject.session, walk.choice.part)?;
    let has_file = subject.known.is_none_or(|(_, item)| item.file.is_some());
    let is_whole = walk.choice.part == Part::Way && has_file;
    if is_whole {
        file(walk, &subject.sources[0], out)?;
    }
    let is_wanted = |node: &&usize| !is_whole || subject.session.nodes()[**node].source > 0;
    for &node in nodes.iter().filter(is_wanted) {
        let mut bytes = opened.bytes(node)?;
        bytes.push(b'\n');
        let entry = u64::from(subject.session.nodes()[node].number);
        let line = Line { offset: 0, length: bytes.len() as u64, bytes: &bytes };
        self::line(walk, line, entry, out)?;
    }
    walk.finish();
    // Subagents have files of their own, and branches stand in the same file.
    (walk.tally.agents, walk.tally.branches) = (0, if is_whole { 0 } else { walk.tally.branches });
    Ok(())
}

/// Writes the lines of a file.
pub fn file(walk: &mut Walk<'_>, source: &Source, out: &mut dyn Write) -> Result<(), CliError> {
    let unread = |error| CliError::Read(Problem::new(source.path(), error));
    let mut reader = LineReader::new(source.reader(0), 0);
    let mut number = 0;
    while let Some(line) = reader.next_line().map_err(unread)? {
        number += 1;
        if !line.is_condensed() {
            self::line(walk, line, number, out)?;
        } else if line.length > u64::from(LARGEST) && walk.cover.is_on() {
            // Too long to be held, and so to be looked through.
            walk.tally.large += 1;
        } else {
            let mut whole = Vec::new();
            let again = source.reader(line.offset).take(line.length);
            let mut again = std::io::BufReader::new(again);
            match walk.cover.is_on() || !walk.choice.images {
                true => {
                    again.read_to_end(&mut whole).map_err(unread)?;
                    let line = Line { bytes: &whole, ..line };
                    self::line(walk, line, number, out)?;
                }
                false => {
                    std::io::copy(&mut again, out)?;
                    walk.tally.records += 1;
                }
            }
        }
    }
    Ok(())
}

/// Writes a line. Where nothing is to be taken out of it, every byte is as it was.
fn line(
    walk: &mut Walk<'_>,
    line: Line<'_>,
    entry: u64,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    walk.tally.records += 1;
    let mut bytes = Vec::new();
    if walk.choice.images {
        bytes.extend_from_slice(line.bytes);
    } else {
        let choice =
            bulk::Choice { base64: true, original_file: false, reads: false, snapshots: false };
        walk.tally.media += bulk::clean_line(line, choice, &mut bytes).len();
    }
    if !walk.cover.is_on() {
        return Ok(out.write_all(&bytes)?);
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    match walk.cover.json(&mut text, entry) {
        true => Ok(out.write_all(text.as_bytes())?),
        false => Ok(out.write_all(&bytes)?),
    }
}

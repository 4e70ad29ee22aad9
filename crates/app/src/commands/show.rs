//! `recount show`: a session as a conversation, at five levels of detail.

mod body;
mod call;
pub mod end;
pub mod head;
pub mod page;
pub mod viewer;

use std::io::{self, IsTerminal, Write};
use std::ops::RangeInclusive;

use report::show::{self, Left, Part, Place};
use transcript::record::{Detail, Opened};
use transcript::session::Session;
use transcript::source::Source;

use self::end::End;
use self::page::{Fold, Look, Page};
use self::viewer::{Stage, Viewer};
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use ask::name::SessionName;
use ask::sessions::OpenSession;

/// Lines are copied in pieces of this size.
const PIECE: usize = 1 << 20;

/// A session as a conversation: prompts, answers, work, diffs, subagents.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Levels: 1 prompts, 2 conversation, 3 work, 4 everything, 5 raw.

Examples:
  recount show latest                 the conversation of the latest session
  recount show . --detail prompts     what was asked in the latest of this folder
  recount show 3f2a --turn 3-7        some turns
  recount show 3f2a --branch 1        an attempt that was left
  recount show 3f2a --entry 120       one entry and its result, whole
  recount show 3f2a --last 20         the end; quick on files of any size
  claude -p --output-format stream-json … | recount show -")]
pub struct ShowArgs {
    /// Id, beginning of one, `latest`, `.` for the latest of this folder, a path, or `-`
    session: SessionName,

    /// How much to show: 1 to 5, or prompts, conversation, work, everything, raw
    #[arg(long, value_name = "LEVEL", default_value = "3", value_parser = detail)]
    detail: Detail,

    /// A branch that was left, with what leads to it
    #[arg(long, value_name = "N", conflicts_with_all = ["segment", "turn", "entry"])]
    branch: Option<usize>,

    /// The segment between two compactions, from 0
    #[arg(long, value_name = "N", conflicts_with_all = ["turn", "entry"])]
    segment: Option<usize>,

    /// One turn or several: `3`, `3-7`, `3-`, `-7`
    #[arg(long, value_name = "TURNS", value_parser = turns, allow_hyphen_values = true, conflicts_with = "entry")]
    turn: Option<RangeInclusive<usize>>,

    /// One entry and its result, whole: its number, or `@` and a byte of it
    #[arg(long, value_name = "N", value_parser = place, conflicts_with = "last")]
    entry: Option<Place>,

    /// Only the last N records
    #[arg(long, value_name = "N")]
    last: Option<usize>,

    /// Thinking whole
    #[arg(long)]
    thinking: bool,

    /// The lines as they stand in the file, as `--detail 5`
    #[arg(long)]
    raw: bool,

    /// No subagents below their calls
    #[arg(long)]
    no_subagents: bool,
}

/// A level by its number or name.
pub fn detail(text: &str) -> Result<Detail, String> {
    let by_word = match text {
        "prompts" => Some(Detail::Prompts),
        "conversation" => Some(Detail::Conversation),
        "work" => Some(Detail::Work),
        "everything" => Some(Detail::Everything),
        "raw" => Some(Detail::Raw),
        _ => text.parse().ok().and_then(Detail::of),
    };
    by_word
        .ok_or_else(|| "a level is 1 to 5, or prompts, conversation, work, everything, raw".into())
}

/// Turns by their numbers.
pub fn turns(text: &str) -> Result<RangeInclusive<usize>, String> {
    let wrong = || "turns are `3`, `3-7`, `3-` or `-7`, from 1".to_owned();
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str, none: usize| match text {
        "" => Ok(none),
        text => text.parse().map_err(|_| wrong()),
    };
    if first.is_empty() && last.is_empty() {
        return Err(wrong());
    }
    let range = number(first, 1)?..=number(last, usize::MAX)?;
    if range.is_empty() || *range.start() == 0 { Err(wrong()) } else { Ok(range) }
}

fn place(text: &str) -> Result<Place, String> {
    let number = match text.strip_prefix('@') {
        Some(offset) => offset.parse().map(Place::Offset),
        None => text.parse().map(Place::Number),
    };
    number.map_err(|_| "an entry is named by its number, or by `@` and a byte of it".into())
}

impl ShowArgs {
    fn look(&self) -> Look {
        let detail = if self.raw { Detail::Raw } else { self.detail };
        let fold = match (self.entry.is_some(), detail) {
            (true, _) => Fold::Whole,
            (false, Detail::Everything | Detail::Raw) => Fold::Long,
            (false, _) => Fold::Short,
        };
        let thinking = self.thinking || self.entry.is_some();
        Look { detail, fold, thinking, subagents: !self.no_subagents }
    }

    fn part(&self) -> Part {
        match (self.branch, self.segment, &self.turn) {
            (Some(number), _, _) => Part::Branch(number),
            (_, Some(index), _) => Part::Segment(index),
            (_, _, Some(turns)) => Part::Turns(*turns.start(), *turns.end()),
            _ => Part::Way,
        }
    }

    /// Whether the end of the file is enough.
    fn end(&self) -> Option<usize> {
        self.last.filter(|_| self.part() == Part::Way)
    }
}

/// A session and what is known of it.
struct Subject<'a> {
    session: &'a Session,
    sources: &'a [Source],
    open: Option<&'a OpenSession>,
    end: Option<&'a End>,
}

/// Shows the session.
pub fn run(args: &ShowArgs, run: &mut Run) -> Result<Answer, CliError> {
    let detail = args.look().detail;
    let end = match args.end() {
        Some(last) => end::of(run, &args.session, last, detail)?,
        None => None,
    };
    if let Some(end) = end {
        let subject =
            Subject { session: &end.session, sources: &end.sources, open: None, end: Some(&end) };
        return show(args, run, &subject);
    }
    let open = run.recount.open_with_agents(&args.session)?;
    run.recount.observed.forget_damage();
    let subject =
        Subject { session: &open.session, sources: &open.sources, open: Some(&open), end: None };
    show(args, run, &subject)
}

fn show(args: &ShowArgs, run: &mut Run, subject: &Subject<'_>) -> Result<Answer, CliError> {
    let opened = Opened::new(subject.session, subject.sources, subject.end.is_some());
    let look = args.look();
    let mut nodes = chosen(args, &opened)?;
    if let Some(last) = args.last {
        nodes = ending(&opened, nodes, look.detail, last);
    }
    let stage = Stage {
        opened: &opened,
        sources: subject.sources,
        agent: None,
        is_tail: subject.end.is_some(),
    };
    if look.detail == Detail::Raw && args.entry.is_none() || args.raw {
        return raw(run, stage, &nodes, subject);
    }
    let left = branches(args, subject.session);
    let (id, json) = (id(subject), run.json);
    let Run { out, talk, recount, .. } = run;
    let clock = &recount.clock;
    let mut page = Page::new(out, clock, look);
    page.cwd = subject.session.cwd().map(str::to_owned);
    if !json {
        above(&mut page, args, subject, stage, &nodes)?;
    }
    let mut viewer = Viewer::new(page, talk, json, subject.open.and_then(OpenSession::family), id);
    viewer.show(stage, &nodes, &left)?;
    let is_whole = args.part() == Part::Way && args.last.is_none() && args.entry.is_none();
    let elsewhere = viewer.elsewhere().filter(|_| is_whole);
    let Viewer { mut page, hidden, shown, .. } = viewer;
    if !json {
        head::foot(&mut page, &hidden, !stage.is_tail)?;
        if let Some(words) = elsewhere {
            page.line(&paint(style::DIM, &words))?;
        }
    }
    Ok(if shown > 0 { Answer::Found } else { Answer::Nothing })
}

/// The nodes that were asked for.
fn chosen(args: &ShowArgs, opened: &Opened<'_>) -> Result<Vec<usize>, CliError> {
    let session = opened.session();
    let Some(place) = args.entry else {
        return Ok(show::nodes(session, args.part())?);
    };
    let node = show::entry(session, place)?;
    // A result is shown with its call.
    let call = session.calls().iter().find(|call| call.result() == Some(node));
    match call.filter(|_| args.look().detail < Detail::Raw) {
        Some(call) => Ok(vec![call.node()]),
        None => Ok(vec![node]),
    }
}

/// The last `last` records of a list, with what is hidden between them.
fn ending(opened: &Opened<'_>, nodes: Vec<usize>, detail: Detail, last: usize) -> Vec<usize> {
    let shown = show::visible(opened, &nodes, detail);
    let Some(first) = shown.len().checked_sub(last).and_then(|at| shown.get(at)) else {
        return if last == 0 { Vec::new() } else { nodes };
    };
    let from = nodes.iter().position(|node| node == first).unwrap_or(0);
    nodes[from..].to_vec()
}

/// The branches that are not shown, where they part.
fn branches(args: &ShowArgs, session: &Session) -> Vec<Left> {
    let mut left = show::left(session);
    for left in &mut left {
        left.numbers.retain(|number| Some(*number) != args.branch);
    }
    left.retain(|left| !left.numbers.is_empty());
    let is_part = args.part() != Part::Way || args.last.is_some() || args.entry.is_some();
    left.retain(|left| left.at.is_some() || !is_part);
    if args.entry.is_some() { Vec::new() } else { left }
}

fn id(subject: &Subject<'_>) -> Option<String> {
    let item = subject.open.and_then(OpenSession::item).map(|item| item.id.clone());
    item.or_else(|| subject.session.id()).map(|id| id.to_string())
}

/// What stands above the records: the head, or where the entry or the end is.
fn above(
    page: &mut Page<'_>,
    args: &ShowArgs,
    subject: &Subject<'_>,
    stage: Stage<'_>,
    nodes: &[usize],
) -> io::Result<()> {
    if args.entry.is_some() {
        return where_in_file(page, stage, nodes);
    }
    match subject.end {
        Some(end) => only_the_end(page, subject, end)?,
        None => {
            head::head(page, subject.session, subject.open.and_then(OpenSession::item))?;
        }
    }
    page.line("")
}

fn only_the_end(page: &mut Page<'_>, subject: &Subject<'_>, end: &End) -> io::Result<()> {
    let path = end.sources[0].path().display().to_string();
    let id = id(subject).unwrap_or(path);
    page.line(&paint(style::NAME, &safe::line(&id)))?;
    let read = format!(
        "only the last {} of {} were read: entries have offsets for numbers, and subagents and \
         what was said before are not known",
        size(end.bytes_read),
        size(end.size),
    );
    page.line(&paint(style::DIM, &read))
}

fn where_in_file(page: &mut Page<'_>, stage: Stage<'_>, nodes: &[usize]) -> io::Result<()> {
    for &node in nodes {
        let session = stage.opened.session();
        let of_call = session.calls().iter().filter(|call| call.node() == node);
        for at in std::iter::once(node).chain(of_call.filter_map(|call| call.result())) {
            let entry = &session.nodes()[at];
            let last = stage.sources.len() - 1;
            let path = stage.sources[usize::from(entry.source).min(last)].path();
            let end = entry.offset + u64::from(entry.length);
            let what = if at == node { "entry" } else { "result" };
            let mut words = format!(
                "{what} {} · {} · bytes {} to {} of {}",
                count(u64::from(entry.number)),
                entry.role.name(),
                count(entry.offset),
                count(end),
                path.display(),
            );
            if !session.state(at).is_on_way() {
                words += &format!(" · {}", session.state(at).name());
            }
            page.line(&paint(style::DIM, &safe::line(&words)))?;
        }
    }
    page.line("")
}

/// The lines as they stand in the file. On a terminal they are made safe.
fn raw(
    run: &mut Run,
    stage: Stage<'_>,
    nodes: &[usize],
    subject: &Subject<'_>,
) -> Result<Answer, CliError> {
    let id = id(subject);
    let is_terminal = io::stdout().is_terminal();
    let session = stage.opened.session();
    let last = stage.sources.len() - 1;
    for &node in nodes {
        let entry = &session.nodes()[node];
        let source = &stage.sources[usize::from(entry.source).min(last)];
        if run.json {
            let record = stage.opened.bare(node);
            let bytes = source.entry(entry)?;
            let wire = viewer::wire(id.as_deref(), stage, &record, 0);
            run.out.json(&wire.with_raw(&bytes))?;
            continue;
        }
        let end = entry.offset + u64::from(entry.length);
        for from in (entry.offset..end).step_by(PIECE) {
            let length = (end - from).min(PIECE as u64) as usize;
            let bytes = source.bytes(from, length)?;
            if is_terminal {
                run.out.write_all(safe::text(&String::from_utf8_lossy(&bytes)).as_bytes())?;
            } else {
                run.out.bytes(&bytes)?;
            }
        }
        run.out.bytes(b"\n")?;
    }
    let left: usize = show::left(session).iter().map(|left| left.numbers.len()).sum();
    if left > 0 && !run.json {
        let attempts = counted(left, "abandoned attempt");
        run.talk.note(format!("Lines of {attempts} are not shown; see `--branch`"));
    }
    Ok(Answer::of(nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_a_range() {
        assert_eq!(turns("3"), Ok(3..=3));
        assert_eq!(turns("3-7"), Ok(3..=7));
        assert_eq!(turns("3-"), Ok(3..=usize::MAX));
        assert_eq!(turns("-7"), Ok(1..=7));
        for wrong in ["", "-", "0", "7-3", "a", "1-b", "0-2"] {
            assert!(turns(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn levels_have_words() {
        assert_eq!(detail("1"), Ok(Detail::Prompts));
        assert_eq!(detail("raw"), Ok(Detail::Raw));
        assert!(detail("0").is_err() && detail("6").is_err() && detail("all").is_err());
    }
}

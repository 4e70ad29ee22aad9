//! The page that records are written on: rails for subagents, blank lines between things of a
//! different kind, bands, folded text.

use std::io;

use anstyle::Style;
use transcript::record::Detail;
use transcript::session::Role;

use crate::terminal::format::{Clock, counted};
use crate::terminal::output::Output;
use crate::terminal::prose;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};

/// Lines of a diff that are shown.
const CHANGED_MOST: usize = 40;
/// Lines of a prompt that are shown below level 4.
const PROMPT_MOST: usize = 40;
/// Lines of a subagent's task, which the model wrote.
const TASK_MOST: usize = 12;
/// Where there is no terminal, a folded line is cut here.
const SHORT_LINE: usize = 160;
const LONG_LINE: usize = 500;
/// Columns of the rail of one subagent.
const RAIL: usize = 4;

/// How much of long content is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The first three lines.
    Short,
    /// The first twenty and the last five.
    Long,
    /// All of it.
    Whole,
}

/// How a session is shown.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The level.
    pub detail: Detail,
    /// How much of long content.
    pub fold: Fold,
    /// Thinking whole.
    pub thinking: bool,
    /// Subagents below their calls.
    pub subagents: bool,
}

impl Look {
    /// Whether each record says where it stands.
    pub fn has_places(&self) -> bool {
        self.detail >= Detail::Everything
    }
}

/// What a piece of the page is; pieces of different kinds stand apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// A person's words.
    Prompt,
    /// The model's words.
    Answer,
    /// Calls and thoughts.
    Work,
    /// A rule across the page.
    Band,
    /// Where the next record stands; the record follows at once.
    Place,
}

impl Block {
    /// What a record of a role ends with.
    pub fn of(role: Role) -> Self {
        match role {
            Role::Prompt
            | Role::Queued
            | Role::Undelivered
            | Role::Command
            | Role::Shell
            | Role::Teammate => Self::Prompt,
            Role::Answer | Role::Summary => Self::Answer,
            Role::Boundary | Role::Interrupt | Role::ApiError => Self::Band,
            _ => Self::Work,
        }
    }
}

/// The page.
pub struct Page<'a> {
    out: &'a mut Output,
    /// For times.
    pub clock: &'a Clock,
    /// How it is shown.
    pub look: Look,
    /// The folder that paths are shortened by.
    pub cwd: Option<String>,
    depth: usize,
    last: Option<Block>,
    /// Lines that were folded away.
    pub folded: usize,
}

impl<'a> Page<'a> {
    /// An empty page.
    pub fn new(out: &'a mut Output, clock: &'a Clock, look: Look) -> Self {
        Self { out, clock, look, cwd: None, depth: 0, last: None, folded: 0 }
    }

    /// The output, for what is no page.
    pub fn out(&mut self) -> &mut Output {
        self.out
    }

    /// Begins what a subagent did.
    pub fn enter(&mut self) {
        self.depth += 1;
        self.last = None;
    }

    /// Ends what a subagent did.
    pub fn leave(&mut self) {
        self.depth -= 1;
        self.last = Some(Block::Work);
    }

    /// How many subagents deep the page is.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Columns that are left behind `indent`, on a terminal.
    pub fn room(&self, indent: usize) -> Option<usize> {
        let taken = self.depth * RAIL + indent;
        self.out.columns().map(|columns| columns.saturating_sub(taken).max(20))
    }

    /// Writes safe text as a line.
    pub fn line(&mut self, safe: &str) -> io::Result<()> {
        if self.depth == 0 {
            return self.out.line(safe);
        }
        let rail = "  │ ".repeat(self.depth);
        let rail = if safe.is_empty() { rail.trim_end() } else { &rail };
        self.out.line(&format!("{}{safe}", paint(style::AGENT, rail)))
    }

    /// Begins a piece, apart from the one before unless they belong together.
    pub fn begin(&mut self, block: Block) -> io::Result<()> {
        let joins = matches!(
            (self.last, block),
            (Some(Block::Work), Block::Work) | (Some(Block::Place), _)
        );
        if self.last.is_some() && !joins {
            self.line("")?;
        }
        self.last = Some(block);
        Ok(())
    }

    /// As if such a piece stood above.
    pub fn follows(&mut self, block: Block) {
        self.last = Some(block);
    }

    /// A rule with words in it.
    pub fn band(&mut self, style: Style, words: &str) -> io::Result<()> {
        self.begin(Block::Band)?;
        let words = safe::line(words);
        let head = format!("── {words} ");
        let width = self.room(0).map_or(60, |room| room.min(100));
        let rule = "─".repeat(width.saturating_sub(safe::width(&head)).max(2));
        self.line(&paint(style, &format!("{head}{rule}")))
    }

    /// Text from anywhere as prose behind a mark.
    pub fn prose(&mut self, mark: &str, raw: &str) -> io::Result<()> {
        let room = self.room(mark_width(mark));
        prose::lines(raw, room).iter().try_for_each(|line| self.line(&format!("{mark}{line}")))
    }

    /// A person's text: as it is, long ones folded below level 4.
    pub fn quoted(&mut self, mark: &str, raw: &str, hint: Option<&str>) -> io::Result<()> {
        let safe = safe::text(raw);
        let lines: Vec<&str> = safe.trim_end().lines().collect();
        let most = match (self.look.detail, self.look.fold) {
            (Detail::Everything | Detail::Raw, _) | (_, Fold::Whole) => usize::MAX,
            _ if self.depth > 0 => TASK_MOST,
            _ => PROMPT_MOST,
        };
        let kept = if lines.len() <= most.saturating_add(1) { lines.len() } else { most };
        for line in &lines[..kept] {
            let parts = match self.room(mark_width(mark) + 1) {
                Some(room) => prose::wrap(line, room),
                None => vec![(*line).into()],
            };
            for part in &parts {
                let line = format!("{mark} {part}");
                self.line(line.trim_end())?;
            }
        }
        self.more(&format!("{mark} "), lines.len() - kept, "line", hint)
    }

    /// Text from anywhere, folded; `hint` says how to see all of it.
    pub fn folded(
        &mut self,
        style: Style,
        mark: &str,
        raw: &str,
        hint: Option<&str>,
    ) -> io::Result<()> {
        let (first, last) = match self.look.fold {
            Fold::Short => (3, 0),
            Fold::Long => (20, 5),
            Fold::Whole => (usize::MAX, 0),
        };
        self.ends((first, last), style, mark, raw, hint)
    }

    /// The first and the last lines of a text.
    pub fn ends(
        &mut self,
        (first, last): (usize, usize),
        style: Style,
        mark: &str,
        raw: &str,
        hint: Option<&str>,
    ) -> io::Result<()> {
        let safe = safe::text(raw);
        let lines: Vec<&str> = safe.trim_end().lines().collect();
        let kept = first.saturating_add(last);
        // The line that says that one is folded would take its place.
        if lines.len() <= kept.saturating_add(1) {
            return lines.iter().try_for_each(|line| self.cut(style, mark, line));
        }
        lines[..first].iter().try_for_each(|line| self.cut(style, mark, line))?;
        self.more(mark, lines.len() - kept, "line", hint)?;
        lines[lines.len() - last..].iter().try_for_each(|line| self.cut(style, mark, line))
    }

    /// A safe line, cut where it is too long.
    fn cut(&mut self, style: Style, mark: &str, line: &str) -> io::Result<()> {
        let most = match (self.look.fold, self.room(mark_width(mark))) {
            (Fold::Whole, _) => usize::MAX,
            (_, Some(room)) => room,
            (Fold::Short, None) => SHORT_LINE,
            (Fold::Long, None) => LONG_LINE,
        };
        if line.trim().is_empty() {
            return self.line("");
        }
        let line = paint(style, &safe::fit(line, most));
        self.line(&format!("{mark}{line}"))
    }

    /// Says how much is folded, if anything is.
    pub fn more(
        &mut self,
        mark: &str,
        count: usize,
        one: &str,
        hint: Option<&str>,
    ) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.folded += count;
        let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
        let more = format!("… {}{hint}", counted(count, &format!("more {one}")));
        self.line(&format!("{mark}{}", paint(style::DIM, &more)))
    }

    /// How many changed lines of a diff are shown.
    pub fn changed_most(&self) -> usize {
        if self.look.fold == Fold::Whole { usize::MAX } else { CHANGED_MOST }
    }
}

/// The columns of a mark, which may have colours in it.
fn mark_width(mark: &str) -> usize {
    safe::width(&safe::text(mark))
}

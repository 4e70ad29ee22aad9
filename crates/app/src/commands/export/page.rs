//! A session as HTML: in one file, or as pages without code.

use std::collections::HashMap;
use std::io::{self, Seek, Write};

use report::export::pack::{Packer, Page, Piece};
use report::export::plain::{self, Pages};
use report::format::counted;
use report::html::Html;
use report::page::document::Frame;
use report::page::outline::{Item, Outline, outline};
use report::page::record::{self, Around, Course, Holder};
use report::page::session::{self, Head, PIECE, TurnLine};
use report::page::{Source as Where, Style};
use report::show::{self, Part};
use transcript::id::Key;
use transcript::layout::Problem;
use transcript::record::{Media, Opened, Record};

use super::walk::{Child, Walk};
use crate::commands::show::viewer::Links;
use crate::error::CliError;

/// Packed pieces are held up to here, then in a file.
const HELD: usize = 8 << 20;

/// So much of a session can be seen without code: a few things, if they are not long.
const FIRST_ITEMS: usize = 3;
const FIRST_BYTES: usize = 6 << 10;

/// What the writers of a session share.
pub struct Sheet<'s> {
    /// What is said at its top.
    pub head: &'s Head,
    /// How it looks.
    pub style: &'s Style,
    /// What is said at its end beside what is not there.
    pub notes: &'s [String],
    /// Where styles and code are.
    pub frame: Frame,
}

/// Writes a session as one file.
pub fn single(walk: &mut Walk<'_>, sheet: &Sheet<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    let opened = Opened::new(walk.subject.session, walk.subject.sources, false);
    let outline = outline(&opened, walk.choice.part, walk.choice.detail)?;
    let links = Links::of(&opened);
    let mut packer = Packer::default();
    let mut spool = tempfile::spooled_tempfile(HELD);
    let (mut pieces, mut first) = (Vec::new(), Html::new());
    for items in pieces_of(&opened, &outline) {
        let number = pieces.len();
        pieces.push(Piece {
            span: session::span(opened.session(), &outline, items.clone()),
            records: outline.items[items.clone()].iter().map(|item| item.nodes().len()).sum(),
        });
        let html = text(walk, &opened, &links, &outline, items, sheet.style)?;
        spool.write_all(packer.data(number, &html).as_str().as_bytes())?;
        if number == 0 && html.as_str().len() <= FIRST_BYTES {
            first = html;
        }
    }
    let rest = rest(walk, &opened, &links, sheet.style)?;
    if !rest.is_empty() {
        spool.write_all(packer.data(pieces.len(), &rest).as_str().as_bytes())?;
        pieces.push(Piece { span: (u32::MAX, u32::MAX), records: REST_RECORDS });
    }
    walk.tally.hidden.add_all(&outline.hidden);
    walk.finish();
    let turns = turns(walk, sheet.style)?;
    let mut map = Html::new();
    session::minimap(&mut map, &opened, &outline);
    let page = Page {
        frame: sheet.frame,
        head: sheet.head,
        turns: &turns,
        map: &map,
        style: sheet.style,
        pieces: &pieces,
        first: &first,
        tally: &walk.tally,
        notes: sheet.notes,
    };
    let (before, after) = page.around();
    out.write_all(before.as_bytes())?;
    spool.rewind()?;
    io::copy(&mut spool, out)?;
    out.write_all(after.as_bytes())?;
    Ok(())
}

/// As how many records the subagents at the end are counted before they are seen.
const REST_RECORDS: usize = 10;

/// The subagents whose calls are not in the session, at its end.
fn rest(
    walk: &mut Walk<'_>,
    opened: &Opened<'_>,
    links: &Links,
    style: &Style,
) -> Result<Html, Problem> {
    let mut html = Html::new();
    let children = walk.rest();
    if !children.is_empty() {
        html.words("h2", "", &format!("{} of no known call", counted(children.len(), "subagent")));
    }
    let mut within = Within { walk, opened, links, style };
    children.iter().try_for_each(|child| within.deeper(&mut html, child))?;
    Ok(html)
}

/// The pieces of a page, the first of them so small that it can be there unpacked, too.
fn pieces_of(opened: &Opened<'_>, outline: &Outline) -> Vec<std::ops::Range<usize>> {
    let mut pieces = outline.pieces(opened.session(), PIECE);
    if let Some(first) = pieces.first().cloned().filter(|first| first.len() > FIRST_ITEMS) {
        let end = first.start + FIRST_ITEMS;
        pieces.splice(0..1, [first.start..end, end..first.end]);
    }
    pieces
}

/// Writes a session as pages; `write` is handed each by its name.
pub fn split(
    walk: &mut Walk<'_>,
    sheet: &Sheet<'_>,
    write: &mut dyn FnMut(&str, &Html) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let opened = Opened::new(walk.subject.session, walk.subject.sources, false);
    let outline = outline(&opened, walk.choice.part, walk.choice.detail)?;
    let links = Links::of(&opened);
    let pages = Pages::of(opened.session(), &outline);
    for (number, items) in pages.items.iter().enumerate() {
        let html = text(walk, &opened, &links, &outline, items.clone(), sheet.style)?;
        super::refuse(walk)?;
        let turns = turns(walk, sheet.style)?;
        write(&plain::name(number), &pages.page(number, sheet.head, &turns, &html))?;
    }
    let rest = rest(walk, &opened, &links, sheet.style)?;
    super::refuse(walk)?;
    walk.tally.hidden.add_all(&outline.hidden);
    walk.finish();
    let turns = turns(walk, sheet.style)?;
    let index = pages.index(sheet.head, &turns, sheet.style, (&walk.tally, sheet.notes), &rest);
    write("index.html", &index)
}

/// The turns whose prompts are in the export.
fn turns(walk: &mut Walk<'_>, style: &Style) -> Result<Vec<TurnLine>, Problem> {
    let Walk { words, cover, subject, .. } = walk;
    let session = subject.session;
    let words: &HashMap<usize, String> = words;
    let of = |node| Ok(words.get(&node).cloned().unwrap_or_default());
    let mut turns = session::turns_with(session, style, of)?;
    let is_there = |turn: &TurnLine| words.contains_key(&session.turns()[turn.number - 1].prompt);
    turns.retain(is_there);
    for turn in &mut turns {
        turn.before.iter_mut().for_each(|(_, words)| _ = cover.text(words, turn.entry.into()));
    }
    Ok(turns)
}

/// Some items of a session.
fn text(
    walk: &mut Walk<'_>,
    opened: &Opened<'_>,
    links: &Links,
    outline: &Outline,
    items: std::ops::Range<usize>,
    style: &Style,
) -> Result<Html, Problem> {
    let mut html = Html::new();
    let mut within = Within { walk, opened, links, style };
    session::piece(&mut html, opened, outline, items, style, &mut within)?;
    // Text can't look like this: its quotes are escaped.
    walk.tally.cut += html.as_str().matches("<p class=\"cut\">").count();
    Ok(html)
}

/// A walk at one of its sessions.
struct Within<'w, 'a> {
    walk: &'w mut Walk<'a>,
    opened: &'w Opened<'w>,
    links: &'w Links,
    style: &'w Style,
}

impl Around for Within<'_, '_> {
    fn subagents(&mut self, html: &mut Html, call: Key) -> Result<(), Problem> {
        let children = self.walk.children(self.links, call);
        children.iter().try_for_each(|child| self.deeper(html, child))
    }

    fn before(&mut self, record: &mut Record) {
        if !self.walk.choice.images {
            self.walk.tally.without_media(record);
        }
        self.walk.before(record);
    }

    fn line(&mut self, opened: &Opened<'_>, record: &Record) -> Result<String, Problem> {
        self.walk.tally.records += 1;
        if record.role.is_person()
            && let Some(mut prompt) = opened.record(record.node)?
        {
            self.walk.cover.record(&mut prompt);
            self.walk.remember(&prompt);
        }
        self.walk.line(opened, record)
    }

    fn media(&mut self, of: Holder<'_>, at: usize) -> Option<Media> {
        self.walk.media(self.opened, of, at)
    }
}

impl Within<'_, '_> {
    fn deeper(&mut self, html: &mut Html, child: &Child) -> Result<(), Problem> {
        self.walk.depth += 1;
        let result = self.child(html, child);
        self.walk.depth -= 1;
        result
    }

    fn child(&mut self, html: &mut Html, child: &Child) -> Result<(), Problem> {
        let mut inside = Html::new();
        let words = match child {
            Child::File { words, session, source, .. } => {
                let sources = std::slice::from_ref(&**source);
                let opened = Opened::new(session, sources, false);
                self.file(&mut inside, &opened)?;
                words
            }
            Child::Inline { words, nodes } => {
                self.inline(&mut inside, nodes)?;
                words
            }
        };
        html.within("div", "subagent", |html| {
            html.words("p", "path", words);
            html.add(&inside);
        });
        Ok(())
    }

    fn file(&mut self, html: &mut Html, opened: &Opened<'_>) -> Result<(), Problem> {
        let Ok(outline) = outline(opened, Part::Way, self.style.detail) else { return Ok(()) };
        self.walk.tally.hidden.add_all(&outline.hidden);
        let mut cwd = opened.session().cwd().map(str::to_owned);
        cwd.iter_mut().for_each(|cwd| _ = self.walk.cover.text(cwd, 0));
        self.walk.children += 1;
        let prefix = format!("a{}-", self.walk.children);
        let style = Style { prefix, cwd, ..self.style.clone() };
        let links = Links::of(opened);
        let mut within = Within { walk: self.walk, opened, links: &links, style: &style };
        let mut course = Course::default();
        let mut items = outline.items.iter();
        items.try_for_each(|item| {
            record::item(html, opened, item, &style, (&mut within, &mut course))
        })
    }

    fn inline(&mut self, html: &mut Html, nodes: &[usize]) -> Result<(), Problem> {
        let detail = self.style.detail;
        for &node in nodes.iter().filter(|&&node| self.opened.detail(node) > detail) {
            self.walk.tally.hidden.add(self.opened, node);
        }
        let (opened, style, mut course) = (self.opened, self.style, Course::default());
        for node in show::visible(opened, nodes, detail) {
            record::item(html, opened, &Item::One(node), style, (&mut *self, &mut course))?;
        }
        Ok(())
    }
}

/// How a session is shown in a file.
pub fn style(walk: &mut Walk<'_>, zone: jiff::tz::TimeZone) -> Style {
    let mut cwd = walk.subject.session.cwd().map(str::to_owned);
    cwd.iter_mut().for_each(|cwd| _ = walk.cover.text(cwd, 0));
    Style {
        detail: walk.choice.detail,
        zone,
        cwd,
        prefix: String::new(),
        source: Where::File { has_pictures: walk.choice.images },
    }
}

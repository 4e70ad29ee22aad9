//! Sessions read, painted and looked through, on a thread of its own.
//!
//! A session that is large, or asked for before all files have been read, is answered with what
//! its own file says, or with its end; the whole follows as soon as it is there.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use anstream::ColorChoice;
use ratatui::text::Line;
use report::export::cover::Cover;
use report::show::{self, Hidden, Left, Part};
use transcript::record::{Body, CallRecord, Detail, Opened, Record};
use transcript::session::{Role, Session};

use super::paint;
use super::state::{Asked, Glance, Msg, Spot};
use super::text::Text;
use super::view::{Doc, Item, Stamp};
use crate::commands::show::page::{Fold, Look, Page};
use crate::commands::show::viewer::{Links, Passage, Stage, Viewer};
use crate::error::{CliError, Talk, words};
use crate::serve::{Desk, Of, Open, Words};
use crate::terminal::format::{Clock, count, counted, duration};
use crate::terminal::output::Output;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};

/// A file up to this size is read at once.
const AT_ONCE: u64 = 8 << 20;
/// Letters of a line of the file that are shown folded.
const RAW_MOST: usize = 400;
/// Records in a look.
const GLANCE: usize = 14;
/// Prompts that are looked through for a look at words.
const PROMPTS_MOST: usize = 400;

/// What can be asked for.
pub enum Request {
    /// A session.
    Open(Asked),
    /// A session that has been read whole meanwhile.
    Read(String, Option<String>, Result<Option<Arc<Open>>, CliError>),
    /// Records of it.
    Paint(Vec<(usize, Stamp)>),
    /// Words in it.
    Find(u64, String),
    /// The file that a record of it is about, by what was read and its place.
    File(u64, usize),
    /// A look into a session.
    Glance(Glance),
}

/// Reads and paints.
pub struct Reading {
    desk: Arc<Desk>,
    clock: Clock,
    redact: bool,
    /// For what is read meanwhile.
    back: Sender<Request>,
    asked: Option<Asked>,
    held: Option<Held>,
    serial: u64,
}

/// The session that is shown.
struct Held {
    text: Text,
    nodes: Vec<usize>,
    items: Vec<Item>,
    links: Links,
    left: Vec<Left>,
    detail: Detail,
    agent: Option<String>,
    id: String,
    serial: u64,
}

impl Reading {
    /// Nothing read yet; what is read later comes back as a request.
    pub fn new(desk: Arc<Desk>, clock: Clock, redact: bool, back: Sender<Request>) -> Self {
        Self { desk, clock, redact, back, asked: None, held: None, serial: 0 }
    }

    /// Answers until nobody asks any more. Of looks only the last that was asked for counts.
    pub fn run(mut self, requests: &Receiver<Request>, say: &Sender<Msg>) {
        while let Ok(first) = requests.recv() {
            let mut all = vec![first];
            all.extend(requests.try_iter());
            let is_glance = |request: &Request| matches!(request, Request::Glance(_));
            let last = all.iter().rposition(is_glance);
            for (at, request) in all.into_iter().enumerate() {
                if is_glance(&request) && Some(at) != last {
                    continue;
                }
                let answer = self.answer(request);
                if answer.is_some_and(|msg| say.send(msg).is_err()) {
                    return;
                }
            }
        }
    }

    /// The answer to a request; none if it comes later or is not wanted any more.
    pub fn answer(&mut self, request: Request) -> Option<Msg> {
        match request {
            Request::Open(asked) => self.open(asked),
            Request::Read(id, agent, read) => self.read(&id, agent.as_deref(), read),
            Request::Paint(wanted) => Some(Msg::Painted(self.paint(&wanted))),
            Request::Find(ticket, text) => {
                let nodes = self.find(&text);
                Some(Msg::Found(ticket, text, nodes))
            }
            Request::File(serial, index) => Some(Msg::File(self.file(serial, index))),
            Request::Glance(glance) => {
                let lines = self.glance(&glance).unwrap_or_else(|error| {
                    paint::lines(&paint_line(&words(&error).0), glance.columns)
                });
                Some(Msg::Glance(glance, lines))
            }
        }
    }

    fn open(&mut self, asked: Asked) -> Option<Msg> {
        let (id, agent) = (asked.id.clone(), asked.agent.clone());
        self.asked = Some(asked.clone());
        let is_same = |held: &Held| held.id == id && held.agent == agent;
        let held = self.held.take().filter(is_same);
        let is_whole = matches!(&held, Some(Held { text: Text::Whole(_), .. }));
        let size = asked.path.as_ref().and_then(|path| path.metadata().ok()).map_or(0, |m| m.len());
        if is_whole || self.desk.shelf().number > 0 && size <= AT_ONCE {
            let read = self.desk.open(&id, agent.as_deref());
            return self.read(&id, agent.as_deref(), read);
        }
        let known = held.map(|held| held.text);
        if known.is_none() {
            self.read_behind(&id, agent.clone());
        }
        let alone = || Text::alone(asked.path.as_deref().filter(|_| agent.is_none())?).ok();
        let text = known.or_else(alone)?;
        Some(self.hold(text))
    }

    /// Reads the whole while its end is looked at.
    fn read_behind(&self, id: &str, agent: Option<String>) {
        let (desk, back, id) = (self.desk.clone(), self.back.clone(), id.to_owned());
        std::thread::spawn(move || {
            let read = desk.open(&id, agent.as_deref());
            // Nobody is there any more when the browser is left.
            let _ = back.send(Request::Read(id, agent, read));
        });
    }

    fn read(
        &mut self,
        id: &str,
        agent: Option<&str>,
        read: Result<Option<Arc<Open>>, CliError>,
    ) -> Option<Msg> {
        let asked = self.asked.as_ref()?;
        if asked.id != id || asked.agent.as_deref() != agent {
            return None;
        }
        let ticket = asked.ticket;
        match read {
            Ok(Some(open)) => Some(self.hold(Text::Whole(open))),
            Ok(None) => Some(Msg::Opened(ticket, Err("There is no transcript of it".into()))),
            Err(error) => Some(Msg::Opened(ticket, Err(words(&error).0))),
        }
    }

    /// Holds a text, and tells what is in it.
    fn hold(&mut self, text: Text) -> Msg {
        self.serial += 1;
        let asked = self.asked.clone().expect("only what was asked for is held");
        let session = text.session();
        let opened = text.opened();
        let nodes = show::nodes(session, asked.part)
            .or_else(|_| show::nodes(session, Part::Way))
            .unwrap_or_default();
        let items = items(&opened, &nodes, asked.detail);
        let doc = Doc {
            serial: self.serial,
            items: items.clone(),
            hidden: hidden(&opened, &nodes, &items, asked.detail),
            files: files(&text),
            is_end: text.is_end(),
            ..self.about(&text)
        };
        let mut left = show::left(session);
        let shown = match asked.part {
            Part::Branch(number) => Some(number),
            _ => None,
        };
        left.iter_mut().for_each(|left| left.numbers.retain(|n| Some(*n) != shown));
        left.retain(|left| !left.numbers.is_empty());
        let links = Links::of(&opened);
        let Asked { ticket, id, agent, detail, .. } = asked;
        let serial = self.serial;
        drop(opened);
        self.held = Some(Held { text, nodes, items, links, left, detail, agent, id, serial });
        Msg::Opened(ticket, Ok(doc))
    }

    /// What a session is, in words.
    fn about(&self, text: &Text) -> Doc {
        let session = text.session();
        let title = text.family().and_then(|family| family.item.title.clone());
        let title = title.or_else(|| session.title());
        Doc {
            title: title.map_or_else(|| "(no title)".into(), |(title, _)| safe::line(&title)),
            about: self.when(session),
            folder: session.cwd().map(str::to_owned),
            branches: session.branches().len(),
            turns: session.turns().len(),
            ..Doc::default()
        }
    }

    fn when(&self, session: &Session) -> String {
        let mut words: Vec<String> = Vec::new();
        words.extend(session.project().map(safe::line));
        words.extend(session.git_branch().filter(|b| !b.is_empty()).map(safe::line));
        words.extend(session.models().map(safe::line));
        words.extend(session.last_time().map(|time| self.clock.near(time)));
        if let (Some(first), Some(last)) = (session.first_time(), session.last_time()) {
            words.push(duration(last.since(first)));
        }
        words.push(counted(session.own_turns().count(), "turn"));
        words.push(counted(session.own_calls().count(), "call"));
        words.push(counted(session.errors().len(), "error"));
        words.join(" \u{b7} ")
    }

    fn paint(&self, wanted: &[(usize, Stamp)]) -> Vec<(usize, Stamp, Vec<Line<'static>>)> {
        let Some(held) = &self.held else { return Vec::new() };
        let opened = held.text.opened();
        let mut all = Vec::new();
        for &(index, stamp) in wanted.iter().filter(|(_, stamp)| stamp.serial == held.serial) {
            let Some(item) = held.items.get(index) else { continue };
            let painted = match held.detail {
                Detail::Raw => self.raw(&opened, item.node, stamp.is_open),
                _ => self.record(held, &opened, index, stamp),
            };
            let painted = painted.unwrap_or_else(|error| paint_line(&words(&error).0));
            all.push((index, stamp, paint::lines(&painted, stamp.columns)));
        }
        all
    }

    /// A line as it stands in the file; folded only its beginning.
    fn raw(&self, opened: &Opened<'_>, node: usize, is_open: bool) -> Result<String, CliError> {
        let mut line = opened.line(node)?;
        self.cover().json(&mut line, 0);
        let text = safe::text(&line).into_owned();
        let end = text.char_indices().nth(RAW_MOST).map(|(end, _)| end).filter(|_| !is_open);
        Ok(match end {
            Some(end) => {
                let more = format!("\u{2026} {} more bytes: o", count((text.len() - end) as u64));
                format!("{}\n{}\n", &text[..end], paint(style::DIM, &more))
            }
            None => text + "\n",
        })
    }

    fn cover(&self) -> Cover<'_> {
        self.desk.cover()
    }

    fn record(
        &self,
        held: &Held,
        opened: &Opened<'_>,
        index: usize,
        stamp: Stamp,
    ) -> Result<String, CliError> {
        let node = held.items[index].node;
        let at = held.nodes.partition_point(|&other| other < node);
        let passage = Passage {
            before: &held.nodes[..at],
            nodes: &held.nodes[at..(at + 1).min(held.nodes.len())],
            left: &held.left,
        };
        let look = look(held.detail, stamp.is_open);
        let is_last = index + 1 == held.items.len();
        let place = Place { text: &held.text, agent: held.agent.as_deref(), id: &held.id };
        self.passage(&place, opened, &held.links, look, (passage, is_last), stamp.columns)
    }

    fn passage(
        &self,
        place: &Place<'_>,
        opened: &Opened<'_>,
        links: &Links,
        look: Look,
        (passage, is_last): (Passage<'_>, bool),
        columns: usize,
    ) -> Result<String, CliError> {
        let mut out = Output::painted(columns, self.redact);
        let mut talk = Talk::new(ColorChoice::Never, true);
        let mut page = Page::new(&mut out, &self.clock, look);
        page.cwd = place.text.session().cwd().map(str::to_owned);
        let sources = place.text.sources();
        let stage = Stage { opened, sources, agent: place.agent, is_tail: place.text.is_end() };
        let family = place.text.family();
        let mut viewer = Viewer::new(page, &mut talk, false, family, Some(place.id.to_owned()));
        viewer.unfold = Some("o");
        let flow = viewer.passage(stage, links, passage)?;
        if is_last {
            viewer.end(flow)?;
        }
        drop(viewer);
        let unread = talk.take().into_iter().map(|words| paint_line(&words));
        let painted = String::from_utf8_lossy(&out.take()).into_owned();
        Ok(unread.fold(painted, |painted, line| painted + &line))
    }

    /// The file that a record is about: the one its first call names.
    fn file(&self, serial: u64, index: usize) -> Option<String> {
        let held = self.held.as_ref().filter(|held| held.serial == serial)?;
        let record = held.text.opened().record(held.items.get(index)?.node).ok()??;
        let Body::Calls { calls, .. } = &record.body else { return None };
        let named = |call: &CallRecord| {
            let input: serde_json::Value = serde_json::from_str(&call.input).ok()?;
            let path = ["file_path", "notebook_path", "path"].iter().find_map(|key| input.get(key));
            path?.as_str().map(str::to_owned)
        };
        calls.iter().find_map(named)
    }

    fn find(&self, text: &str) -> Vec<usize> {
        let Some(held) = &self.held else { return Vec::new() };
        let of = if held.detail == Detail::Raw { Of::Lines } else { Of::Records };
        let opened = held.text.opened();
        let found = match &held.text {
            Text::Whole(open) => self.desk.words(open, of).find(&opened, text),
            Text::Alone { .. } => {
                let desk = &self.desk;
                Words::of(&opened, of, &|| desk.cover(), None).find(&opened, text)
            }
        };
        found.into_iter().map(|(node, _)| node).collect()
    }

    fn glance(&self, glance: &Glance) -> Result<Vec<Line<'static>>, CliError> {
        let size = glance.path.as_ref().and_then(|p| p.metadata().ok()).map_or(0, |m| m.len());
        let is_ready = self.desk.shelf().number > 0 && size <= AT_ONCE;
        let whole = match is_ready || glance.path.is_none() {
            true => self.desk.open(&glance.id, glance.agent.as_deref())?.map(Text::Whole),
            false => None,
        };
        let alone = || glance.path.as_deref().map(Text::alone).transpose();
        let text = match whole {
            Some(text) => text,
            None => match alone()? {
                Some(text) => text,
                None => return Ok(Vec::new()),
            },
        };
        let opened = text.opened();
        let about = self.about(&text);
        let head = format!(
            "{}\n{}\n\n",
            paint(style::HEAD, &about.title),
            paint(style::DIM, &about.about)
        );
        let (before, nodes) = spot(&opened, &glance.at);
        let passage = Passage { before: &before, nodes: &nodes, left: &[] };
        let place = Place { text: &text, agent: glance.agent.as_deref(), id: &glance.id };
        let links = Links::default();
        let look = Look { subagents: false, ..look(Detail::Work, false) };
        let body = self.passage(&place, &opened, &links, look, (passage, false), glance.columns)?;
        Ok(paint::lines(&(head + body.trim_start_matches('\n')), glance.columns))
    }
}

/// A session and how it is named.
struct Place<'a> {
    text: &'a Text,
    agent: Option<&'a str>,
    id: &'a str,
}

fn look(detail: Detail, is_open: bool) -> Look {
    let fold = match (is_open, detail) {
        (true, _) => Fold::Whole,
        (false, Detail::Everything | Detail::Raw) => Fold::Long,
        (false, _) => Fold::Short,
    };
    Look { detail, fold, thinking: is_open, subagents: is_open }
}

/// What could not be read, as a line.
fn paint_line(raw: &str) -> String {
    format!("{}\n", paint(style::BAD, &safe::line(raw)))
}

/// The records of a level.
fn items(opened: &Opened<'_>, nodes: &[usize], detail: Detail) -> Vec<Item> {
    let session = opened.session();
    let failed: HashSet<usize> = session
        .errors()
        .into_iter()
        .map(|(result, _)| match detail {
            Detail::Raw => result,
            _ => opened.shown_at(result),
        })
        .collect();
    let item = |node: usize| {
        let entry = &session.nodes()[node];
        Item {
            node,
            at: (entry.source, entry.offset),
            length: entry.length,
            number: opened.number(node),
            role: entry.role,
            turn: session.turn_of(node).filter(|_| opened.number(node).is_some()),
            is_error: failed.contains(&node) || entry.role == Role::ApiError,
        }
    };
    show::visible(opened, nodes, detail).into_iter().map(item).collect()
}

/// What the level hides, in words.
fn hidden(opened: &Opened<'_>, nodes: &[usize], items: &[Item], detail: Detail) -> String {
    let mut hidden = Hidden::default();
    let shown: HashSet<usize> = items.iter().map(|item| item.node).collect();
    let is_hidden = |node: &&usize| detail != Detail::Raw && !shown.contains(*node);
    nodes.iter().filter(is_hidden).for_each(|&node| hidden.add(opened, node));
    let words = hidden.counts().into_iter().map(|((one, many), number)| {
        format!("{} {}", count(number as u64), if number == 1 { one } else { many })
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!("hidden here: {}", words.join(", ")) }
}

fn files(text: &Text) -> Vec<String> {
    text.sources().iter().map(|source| safe::line(&source.path().display().to_string())).collect()
}

/// The records of a look, and what comes before them.
fn spot(opened: &Opened<'_>, at: &Spot) -> (Vec<usize>, Vec<usize>) {
    let way = show::nodes(opened.session(), Part::Way).unwrap_or_default();
    let shown = show::visible(opened, &way, Detail::Work);
    let first = match at {
        Spot::End => None,
        Spot::Entry(number) => entry(opened, *number),
        Spot::Words(words) => prompt(opened, &shown, words),
    };
    let from = match first {
        // What is not on the way is looked at alone.
        Some(node) if !shown.contains(&node) => return (Vec::new(), vec![node]),
        Some(node) => shown.partition_point(|&other| other < node),
        None => shown.len().saturating_sub(GLANCE),
    };
    let nodes: Vec<usize> = shown[from..].iter().take(GLANCE).copied().collect();
    (shown[..from].to_vec(), nodes)
}

fn entry(opened: &Opened<'_>, number: u32) -> Option<usize> {
    Some(opened.shown_at(opened.session().numbered(number)?))
}

/// The first prompt that has one of the words.
fn prompt(opened: &Opened<'_>, shown: &[usize], words: &str) -> Option<usize> {
    let wanted = super::fuzzy::Wanted::new(words);
    let roles = opened.session().nodes();
    let prompts = shown.iter().copied().filter(|&node| roles[node].role.is_person());
    let has = |node: &usize| {
        let text = opened.record(*node).ok().flatten().map(|record: Record| said(&record));
        text.is_some_and(|text| wanted.find(&text.to_lowercase()).is_some())
    };
    prompts.take(PROMPTS_MOST).find(has)
}

fn said(record: &Record) -> String {
    match &record.body {
        Body::Prompt { text, .. } => text.clone(),
        _ => String::new(),
    }
}

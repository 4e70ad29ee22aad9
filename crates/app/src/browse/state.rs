//! What the browser is doing: a message comes, the state changes, and effects are asked for.
//!
//! Nothing here reads a file, waits or draws. Whatever takes time is an [`Effect`], and what came
//! of it comes back as a [`Msg`].

mod keys;

use std::collections::HashMap;
use std::path::PathBuf;

use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Position;
use ratatui::text::Line;
use report::show::Part;
use transcript::record::Detail;

use super::draw;
use super::list::{Hit, List, Mode, Topic};
use super::row::{self, Row};
use super::sheet::Sheet;
use super::view::{Doc, Goal, Stamp, View};

/// What has happened.
#[derive(Debug)]
pub enum Msg {
    /// A key.
    Key(KeyEvent),
    /// The mouse.
    Mouse(MouseEvent),
    /// Text put in at once.
    Paste(String),
    /// The screen has another size.
    Resize(u16, u16),
    /// The sessions; whether they were read from the files.
    Rows(Vec<Row>, bool),
    /// What was typed in each session, in small letters.
    Prompts(HashMap<String, String>),
    /// What was found, and what is to say about it.
    Hits(Topic, Vec<Hit>, String),
    /// What was used.
    Usage(Vec<Line<'static>>),
    /// The file that a record is about, if it is about one.
    File(Option<String>),
    /// A look into a session.
    Glance(Glance, Vec<Line<'static>>),
    /// A session, by the ticket it was asked for with.
    Opened(u64, Result<Doc, String>),
    /// Records, painted.
    Painted(Vec<(usize, Stamp, Vec<Line<'static>>)>),
    /// Where words are in the session, by the ticket.
    Found(u64, String, Vec<usize>),
    /// Files have changed.
    Changed,
    /// Something to tell the person.
    Said(String),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Look into a session.
    Glance(Glance),
    /// Gather hits from all contents, or from those of a folder's sessions.
    Search(Topic, Option<String>),
    /// Tell what was used, so wide.
    Usage(usize),
    /// Tell which file a record of what was read is about.
    File(u64, usize),
    /// Read a session.
    Open(Asked),
    /// Paint records of what was read last.
    Paint(Vec<(usize, Stamp)>),
    /// Look for words in the session.
    Find(u64, String),
    /// Put a text into the clipboard.
    Copy(String),
    /// Write a page to hand on.
    Export(String),
    /// Show a session in the browser.
    Page(String),
    /// Leave.
    Leave(Parting),
}

/// A session to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// For the answer.
    pub ticket: u64,
    /// The session.
    pub id: String,
    /// A subagent of it.
    pub agent: Option<String>,
    /// Its transcript, if that is known.
    pub path: Option<PathBuf>,
    /// How much of it is shown.
    pub detail: Detail,
    /// Which part.
    pub part: Part,
}

/// A look into a session: which, where, and how wide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The session.
    pub id: String,
    /// A subagent of it.
    pub agent: Option<String>,
    /// Its transcript.
    pub path: Option<PathBuf>,
    /// The place to look at.
    pub at: Spot,
    /// Columns.
    pub columns: usize,
}

/// A place in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// Its end.
    End,
    /// An entry, by its number.
    Entry(u32),
    /// The first prompt that has one of these words.
    Words(String),
}

/// What is done after the screen has been given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parting {
    /// Nothing.
    Quit,
    /// A line is printed.
    Print(String),
    /// Claude Code goes on with a session, in its folder.
    Resume(String, Option<String>),
}

/// A question that has to be answered before anything is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Whether to go on with a session.
    Resume(String, Option<String>),
    /// Whether to write a file.
    Export(String),
}

/// How the browser was started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Choosing prints the id and leaves.
    pub is_pick: bool,
    /// No colours.
    pub is_plain: bool,
    /// The folder that the person is in.
    pub here: Option<String>,
}

/// The browser.
#[derive(Debug)]
pub struct State {
    /// How it was started.
    pub options: Options,
    /// The list.
    pub list: List,
    /// The session that is open.
    pub view: Option<View>,
    /// What is typed to be found in it; none when nobody types.
    pub finding: Option<String>,
    /// What was used, over the list.
    pub sheet: Option<Sheet>,
    /// What has to be answered first.
    pub question: Option<Question>,
    /// Whether the keys are shown.
    pub has_help: bool,
    /// What was last told.
    pub note: Option<String>,
    /// A look into the chosen session.
    pub glance: Option<(Glance, Vec<Line<'static>>)>,
    /// From where to where the mouse is drawn while its button is held.
    pub drag: Option<(Position, Position)>,
    wanted: Option<Glance>,
    size: (u16, u16),
    tickets: u64,
    last_key: Option<char>,
}

impl State {
    /// The browser at its beginning.
    pub fn new(options: Options, size: (u16, u16)) -> Self {
        let list = List::new(options.here.clone());
        Self {
            options,
            list,
            view: None,
            finding: None,
            sheet: None,
            question: None,
            has_help: false,
            note: None,
            glance: None,
            drag: None,
            wanted: None,
            size,
            tickets: 0,
            last_key: None,
        }
    }

    /// Takes a message; gives back what is to be done.
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        let mut effects = Vec::new();
        match msg {
            Msg::Key(key) => effects.extend(self.key(key)),
            Msg::Mouse(mouse) => effects.extend(self.mouse(mouse)),
            Msg::Paste(text) => effects.extend(self.paste(&text)),
            Msg::Resize(columns, rows) => self.size = (columns, rows),
            Msg::Rows(rows, is_whole) => self.list.take(rows, is_whole),
            Msg::Prompts(prompts) => {
                row::add_prompts(&mut self.list.rows, &prompts);
                self.list.refresh();
            }
            Msg::Hits(topic, hits, told) if topic == self.list.topic => {
                self.list.found_all(hits, told);
            }
            Msg::Hits(..) => {}
            Msg::Usage(lines) => {
                if let Some(sheet) = &mut self.sheet {
                    sheet.lines = Some(lines);
                }
            }
            Msg::File(Some(path)) => effects.extend(self.gather(Topic::File(path))),
            Msg::File(None) => self.note = Some("This is about no file".into()),
            Msg::Glance(glance, lines) => self.glance = Some((glance, lines)),
            Msg::Opened(ticket, read) => self.opened(ticket, read),
            Msg::Painted(all) => {
                if let Some(view) = &mut self.view {
                    all.into_iter().for_each(|(index, stamp, lines)| {
                        view.painted(index, stamp, lines);
                    });
                }
            }
            Msg::Found(ticket, text, nodes) => self.found(ticket, &text, nodes),
            Msg::Changed => effects.extend(self.reopen()),
            Msg::Said(words) => self.note = Some(words),
        }
        effects.extend(self.settle());
        effects
    }

    /// Fits everything to the screen, and asks for what is not there yet.
    fn settle(&mut self) -> Option<Effect> {
        let area = draw::areas(self);
        self.list.scroll(usize::from(area.list.height));
        if let Some(view) = &mut self.view {
            // One column shows which record is chosen.
            let columns = usize::from(area.text.width).saturating_sub(2).max(1);
            view.resize(columns, i32::from(area.text.height));
            let wanted = view.wants();
            return (!wanted.is_empty()).then_some(Effect::Paint(wanted));
        }
        let wanted = self.wanted_glance(usize::from(area.glance.width));
        if wanted == self.wanted {
            return None;
        }
        self.wanted.clone_from(&wanted);
        wanted.map(Effect::Glance)
    }

    fn wanted_glance(&self, columns: usize) -> Option<Glance> {
        if columns == 0 {
            return None;
        }
        let path = self.list.row().and_then(|row| row.path.clone());
        if let Some(hit) = self.list.hit().filter(|hit| !hit.is_ghost) {
            let (id, agent, at) = (hit.id.clone(), hit.agent.clone(), Spot::Entry(hit.entry));
            return Some(Glance { id, agent, path, at, columns });
        }
        let row = self.list.row()?;
        let at = match self.list.typed.trim() {
            "" => Spot::End,
            words => Spot::Words(words.to_owned()),
        };
        Some(Glance { id: row.id.clone(), agent: None, path, at, columns })
    }

    fn opened(&mut self, ticket: u64, read: Result<Doc, String>) {
        let Some(view) = self.view.as_mut().filter(|view| view.ticket == ticket) else { return };
        match read {
            Ok(doc) => view.take(doc),
            Err(problem) => view.problem = Some(problem),
        }
    }

    fn found(&mut self, ticket: u64, text: &str, nodes: Vec<usize>) {
        let Some(view) = self.view.as_mut().filter(|view| view.ticket == ticket) else { return };
        if view.find.text != text {
            return;
        }
        let count = nodes.len();
        view.found(nodes);
        let (_, here) = view.matches();
        self.note = match (count, here) {
            (0, _) => Some(format!("Nothing has \u{201c}{text}\u{201d}")),
            (_, 0) => Some("Only at a higher level of detail; 4 shows everything".into()),
            _ => None,
        };
    }

    /// Opens the chosen session.
    fn open(&mut self) -> Option<Effect> {
        let hit = self.list.hit().cloned();
        let row = self.list.row().cloned();
        let id =
            hit.as_ref().map(|hit| hit.id.clone()).or_else(|| Some(row.as_ref()?.id.clone()))?;
        if self.options.is_pick {
            return Some(Effect::Leave(Parting::Print(id)));
        }
        let is_ghost = row.as_ref().is_some_and(|row| row.life == Some(report::list::Life::Ghost));
        if is_ghost || hit.as_ref().is_some_and(|hit| hit.is_ghost) {
            let id = crate::commands::short(&id);
            let told = format!("Only its prompts are left: recount history --session {id}");
            self.note = Some(told);
            return None;
        }
        let title = row.as_ref().map(|row| row.title.clone());
        let title = title.or_else(|| Some(hit.as_ref()?.title.clone())).unwrap_or_default();
        let goal = hit.as_ref().map_or(Goal::End, |hit| Goal::Entry(hit.entry));
        let mut view = View::new(id, row.and_then(|row| row.path), title, goal);
        view.agent = hit.and_then(|hit| hit.agent);
        self.view = Some(view);
        self.note = None;
        self.ask()
    }

    /// Shows a list of hits in place of the sessions.
    fn gather(&mut self, topic: Topic) -> Option<Effect> {
        (self.view, self.finding) = (None, None);
        self.list.mode = Mode::Search;
        self.list.query.clear();
        self.list.topic = topic.clone();
        self.list.found_all(Vec::new(), "\u{2026}".into());
        let here = self.list.here.clone().filter(|_| self.list.is_here);
        Some(Effect::Search(topic, here))
    }

    /// Asks for the session as it is to be shown.
    fn ask(&mut self) -> Option<Effect> {
        self.tickets += 1;
        let view = self.view.as_mut()?;
        view.ticket = self.tickets;
        Some(Effect::Open(Asked {
            ticket: view.ticket,
            id: view.id.clone(),
            agent: view.agent.clone(),
            path: view.path.clone(),
            detail: view.detail,
            part: view.part(),
        }))
    }

    /// Reads the session on.
    fn reopen(&mut self) -> Option<Effect> {
        // What is still being read is read as it is now.
        self.view.as_ref()?.doc.as_ref().filter(|doc| !doc.is_end)?;
        self.ask()
    }

    /// The folder and the id to go on with.
    fn chosen(&self) -> Option<(String, Option<String>)> {
        if let Some(view) = &self.view {
            let folder = view.doc.as_ref().and_then(|doc| doc.folder.clone());
            return Some((view.id.clone(), folder));
        }
        if let Some(hit) = self.list.hit() {
            return Some((hit.id.clone(), hit.project.clone()));
        }
        let row = self.list.row()?;
        Some((row.id.clone(), row.project.clone()))
    }

    /// Whether words are typed for a search of everything.
    pub fn is_search(&self) -> bool {
        self.list.mode == Mode::Search
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }
}

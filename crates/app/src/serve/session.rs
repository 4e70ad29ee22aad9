//! The page of a session, and the pieces that its code asks for.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use report::export::cover::Cover;
use report::format::{counted, size};
use report::html::{Html, Picture, Url};
use report::page::outline::{Outline, outline};
use report::page::record::Around;
use report::page::session::{self, Head, PIECE};
use report::page::{Place, Source, Style, document, frame};
use report::show::{Part, entries};
use report::usage::Totals;
use serde::{Deserialize, Serialize};
use transcript::id::Key;
use transcript::layout::Problem;
use transcript::library::Agent;
use transcript::record::{Detail, LARGEST, Opened, Record};

use super::answer::{Body, Refusal, Reply};
use super::desk::Desk;
use super::open::{Open, agent_of};
use super::words::Of;
use crate::commands::note::Notes;
use crate::commands::short;

/// A subagent is shown inside its parent's page up to so many records; a longer one has a page of
/// its own.
const INSIDE: usize = 400;
/// So many places are told of what was looked for.
const FOUND_MOST: usize = 5000;

/// How somebody looks at a session.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Look {
    /// The level of detail.
    d: Option<u8>,
    /// A branch that was left.
    branch: Option<usize>,
    /// A subagent.
    pub agent: Option<String>,
    /// What is looked for.
    q: String,
    /// The pieces that are known already.
    from: usize,
    /// The turns that are.
    turns: Option<usize>,
    /// The call whose result is meant.
    call: String,
}

impl Look {
    /// The same look at a subagent.
    pub fn of_agent(&self, agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), ..self.clone() }
    }

    fn detail(&self) -> Detail {
        self.d.and_then(Detail::of).unwrap_or(Detail::Work)
    }

    fn part(&self) -> Part {
        self.branch.map_or(Part::Way, Part::Branch)
    }
}

/// A session with the way somebody looks at it.
struct View<'a> {
    desk: &'a Desk,
    open: &'a Open,
    opened: Opened<'a>,
    outline: Outline,
    style: Style,
    look: &'a Look,
}

impl<'a> View<'a> {
    fn new(desk: &'a Desk, open: &'a Open, look: &'a Look) -> Result<Self, Refusal> {
        let opened = open.opened();
        let outline = outline(&opened, look.part(), look.detail())
            .map_err(|no| Refusal::missing(&format!("There is no {} {}", no.noun, no.asked)))?;
        let style = style(open, look.detail(), String::new());
        Ok(Self { desk, open, opened, outline, style, look })
    }

    fn pieces(&self) -> Vec<std::ops::Range<usize>> {
        self.outline.pieces(&self.open.session, PIECE)
    }

    fn piece(&self, html: &mut Html, items: std::ops::Range<usize>) -> Result<(), Refusal> {
        let mut around = Agents { open: self.open, cover: self.desk.cover() };
        let Self { opened, outline, style, .. } = self;
        Ok(session::piece(html, opened, outline, items, style, &mut around)?)
    }

    /// The sections that the pieces from `from` on go into; some have their content.
    fn sections(
        &self,
        html: &mut Html,
        from: usize,
        is_full: impl Fn(usize) -> bool,
    ) -> Result<(), Refusal> {
        for (at, items) in self.pieces().into_iter().enumerate().skip(from) {
            let (first, last) = session::span(&self.open.session, &self.outline, items.clone());
            let records = self.outline.items[items.clone()].iter().map(|item| item.nodes().len());
            let records: usize = records.sum();
            let mut inside = Html::new();
            if is_full(at) {
                self.piece(&mut inside, items)?;
            }
            let tag = html.tag("section").class("piece").show("data-piece", at);
            let tag = tag.show("data-first", first).show("data-last", last);
            let tag = tag.show("data-records", records).flag("data-full", is_full(at));
            tag.with(|html| html.add(&inside));
        }
        Ok(())
    }

    /// What the pieces before `at` are: if that changes, more than the end has changed.
    fn fingerprint(&self, at: usize) -> String {
        let mut hash = DefaultHasher::new();
        for items in self.pieces().into_iter().take(at) {
            session::span(&self.open.session, &self.outline, items).hash(&mut hash);
        }
        format!("{:x}", hash.finish())
    }
}

fn style(open: &Open, detail: Detail, prefix: String) -> Style {
    Style {
        detail,
        zone: crate::clock::zone(),
        cwd: open.session.cwd().map(str::to_owned),
        prefix,
        source: Source::Served { session: open.id.as_str().to_owned(), agent: open.agent.clone() },
    }
}

/// Subagents below their calls: their heads, to be opened.
struct Agents<'a> {
    open: &'a Open,
    cover: Cover<'a>,
}

impl Around for Agents<'_> {
    fn subagents(&mut self, html: &mut Html, call: Key) -> Result<(), Problem> {
        let all = &self.open.item().agents;
        let own = all.iter().filter(|agent| agent.call == Some(call) && agent.internal.is_none());
        for agent in own {
            agent_head(html, self.open, agent);
        }
        Ok(())
    }

    fn before(&mut self, record: &mut Record) {
        self.cover.record(record);
    }

    fn line(&mut self, opened: &Opened<'_>, record: &Record) -> Result<String, Problem> {
        let mut line = opened.line(record.node)?;
        self.cover.json(&mut line, 0);
        Ok(line)
    }
}

fn agent_head(html: &mut Html, open: &Open, agent: &Agent) {
    let id = agent.id.as_str();
    if agent.file.is_none() {
        return html.words("p", "media", &format!("The transcript of subagent {id} is not there"));
    }
    let steps = ["s", open.id.as_str(), "a", id];
    let name = agent.agent_type.as_deref().unwrap_or("subagent");
    let facts = agent.facts.as_ref();
    html.tag("details").class("subagent").attr("data-agent", id).with(|html| {
        html.within("summary", "", |html| {
            html.words("b", "", name);
            if let Some(facts) = facts {
                let calls = counted(facts.calls, "call");
                let errors = counted(facts.errors, "error");
                html.words("span", "what", &format!("{calls}, {errors}"));
            }
            html.tag("a").href(&Url::path(&steps)).text("open alone");
        });
        html.within("div", "inside", |_| {});
    });
}

/// What is said at the top.
fn head(desk: &Desk, open: &Open) -> Head {
    let item = open.item();
    let shelf = &open.shelf;
    let mut head = Head::of(&open.session);
    head.id = open.id.as_str().to_owned();
    if let Some((title, _)) = &item.title {
        head.title = title.to_string();
    }
    head.bytes = open.bytes();
    let is_kept = open.sources.iter().any(|source| source.is_kept());
    head.state = if is_kept { "archived" } else { shelf.pulse.life(&shelf.library, item).name() };
    if is_kept {
        let note = "Its file is gone: this is what the store has kept of it";
        head.notes.insert(0, note.into());
    }
    if let Some(agent) = open.agent.as_deref().and_then(|id| agent_of(item, id)) {
        let kind = agent.agent_type.as_deref().unwrap_or("subagent");
        head.title = format!("{kind}: {}", head.title);
    }
    let missing = item.agents.iter().filter(|a| a.file.is_none() && a.internal.is_none()).count();
    if missing > 0 && open.agent.is_none() {
        let files = counted(missing, "subagent");
        head.notes.push(format!("{files} without a transcript: the file is missing"));
    }
    let started = item.agents.iter().filter(|agent| agent.file.is_some() && open.agent.is_none());
    head.agents = started
        .map(|agent| {
            let kind = agent.agent_type.as_deref().unwrap_or("subagent");
            let task = agent
                .description
                .as_deref()
                .map_or_else(|| kind.to_owned(), |task| format!("{kind}: {task}"));
            (agent.id.as_str().to_owned(), task)
        })
        .collect();
    for (kind, other) in &item.connections {
        head.notes.push(format!("{}: {}", kind.name(), short(other.as_str())));
    }
    head.notes.extend(Notes::of(&mut desk.run()).sentences(&head.id));
    head
}

/// The page.
pub fn page(desk: &Desk, id: &str, look: &Look) -> Reply {
    let open = found(desk, id, look)?;
    let view = View::new(desk, &open, look)?;
    let head = head(desk, &open);
    let turns = session::turns(&view.opened, &view.style)?;
    let mut text = Html::new();
    session::head(&mut text, &head, &view.style);
    levels(&mut text, &view);
    let last = view.pieces().len().saturating_sub(1);
    view.sections(&mut text, 0, |at| at == 0 || (at == last && last < 3))?;
    foot(&mut text, &view);
    let html = document::document(document::Frame::Served, &head.title, |html| {
        frame::top(html, Place::Session, "");
        let main = html.tag("main").class("session").attr("data-session", open.id.as_str());
        let main = main.attr("data-agent", look.agent.as_deref().unwrap_or_default());
        let main = main.show("data-d", view.look.detail() as u8);
        let main = main.attr("data-branch", &look.branch.map_or(String::new(), |n| n.to_string()));
        let main = main.attr("data-state", head.state);
        let main = main.attr("data-before", &view.fingerprint(last));
        main.with(|html| {
            session::margin(html, &turns);
            session::minimap(html, &view.opened, &view.outline);
            html.tag("div")
                .class("text")
                .attr("id", "text")
                .attr("data-source", "served")
                .with(|html| html.add(&text));
            session::facts(html, &head, &view.style, session::here);
        });
    });
    Ok(html.into())
}

/// The right margin with what was used, which takes longer to count.
pub fn facts(desk: &Desk, id: &str, look: &Look) -> Reply {
    let open = found(desk, id, look)?;
    let mut head = head(desk, &open);
    used(desk, &open, &mut head)?;
    let mut html = Html::new();
    let style = style(&open, look.detail(), String::new());
    session::bare_facts(&mut html, &head, &style, session::here);
    Ok(html.into())
}

/// Tokens, money, and the size of the context.
fn used(desk: &Desk, open: &Open, head: &mut Head) -> Result<(), Refusal> {
    let ledger = desk.ledger()?;
    let ledger = &*ledger;
    let Some(name) = ledger.find(open.id.as_str()) else { return Ok(()) };
    let agent = open.agent.as_deref();
    let own = ledger.responses.iter().filter(|response| response.session == name);
    let own: Vec<_> = own
        .filter(|r| agent.is_none() || r.agent.map(|agent| ledger.name(agent)) == agent)
        .collect();
    let mut totals = Totals::default();
    own.iter().for_each(|response| totals.add_whole(response));
    totals.is_understated = agent.is_none() && ledger.understated.contains(&name);
    head.usage = session::usage(&totals);
    let main: Vec<_> = own.iter().filter(|r| r.agent.is_none() || agent.is_some()).collect();
    head.context = main.iter().map(|r| r.tokens.prompt() as f64).collect();
    for compaction in open.session.compactions() {
        let at = open.session.nodes()[compaction.node()].time();
        head.compactions.push(main.partition_point(|response| response.time < at));
    }
    Ok(())
}

/// The five levels, and the way back from a branch.
fn levels(html: &mut Html, view: &View<'_>) {
    let here = page_url(view.open);
    let with = |d: u8| {
        let url = here.clone().query("d", &d.to_string());
        match view.look.branch {
            Some(branch) => url.query("branch", &branch.to_string()),
            None => url,
        }
    };
    html.tag("nav").class("levels").attr("aria-label", "Detail").with(|html| {
        for (at, name) in (1u8..).zip(frame::LEVELS) {
            let is_here = view.look.detail() as u8 == at;
            let link = html.tag("a").href(&with(at)).show("data-level", at);
            let link = if is_here { link.attr("aria-current", "true") } else { link };
            link.text(&format!("{at} {name}"));
        }
    });
    let branches = view.open.session.branches().len();
    if branches > 0 {
        html.tag("nav").class("levels").attr("aria-label", "Branches").with(|html| {
            let current = |is_here: bool| if is_here { "true" } else { "false" };
            let detail = (view.look.detail() as u8).to_string();
            let link = html.tag("a").href(&here.clone().query("d", &detail));
            link.attr("aria-current", current(view.look.branch.is_none())).text("active branch");
            for number in 1..=branches {
                let url = here.clone().query("d", &detail).query("branch", &number.to_string());
                let is_here = view.look.branch == Some(number);
                let link = html.tag("a").href(&url).attr("aria-current", current(is_here));
                link.text(&format!("abandoned {number} of {branches}"));
            }
        });
    }
}

fn page_url(open: &Open) -> Url {
    match &open.agent {
        Some(agent) => Url::path(&["s", open.id.as_str(), "a", agent]),
        None => Url::path(&["s", open.id.as_str()]),
    }
}

fn foot(html: &mut Html, view: &View<'_>) {
    let entries = entries(view.open.session.nodes().len());
    let files = counted(view.open.sources.len(), "file");
    let more = [format!("{entries} in {files}, {}", size(view.open.bytes()))];
    session::foot(html, &view.outline.hidden, view.look.detail(), &more);
}

/// One piece of the text.
pub fn piece(desk: &Desk, id: &str, at: usize, look: &Look) -> Reply {
    let open = found(desk, id, look)?;
    let view = View::new(desk, &open, look)?;
    let items = view.pieces().get(at).cloned().ok_or_else(|| Refusal::missing("No such piece"))?;
    let mut html = Html::new();
    view.piece(&mut html, items)?;
    Ok(html.into())
}

/// What has changed since the page was made.
#[derive(Debug, Serialize)]
pub struct News {
    /// What stands before the sections; if it is another than before, the page is another.
    before: String,
    /// The sections from the one that was asked from, with their content.
    sections: String,
    /// The turn list, if there are more or fewer than are known.
    turns: Option<String>,
    /// `live`, `ended`, …
    state: &'static str,
    /// Entries now.
    entries: usize,
}

/// What is new at the end: from a piece on.
pub fn news(desk: &Desk, id: &str, look: &Look) -> Result<News, Refusal> {
    let open = found(desk, id, look)?;
    let view = View::new(desk, &open, look)?;
    let mut sections = Html::new();
    view.sections(&mut sections, look.from, |_| true)?;
    let mut turns = None;
    if look.turns != Some(open.session.turns().len()) {
        let html = turns.get_or_insert_with(Html::new);
        session::turn_list(html, &session::turns(&view.opened, &view.style)?);
    }
    Ok(News {
        before: view.fingerprint(look.from),
        sections: desk.covered(sections.into_string()),
        turns: turns.map(|turns| desk.covered(turns.into_string())),
        state: open.shelf.pulse.life(&open.shelf.library, open.item()).name(),
        entries: open.session.nodes().len(),
    })
}

/// Where something is said.
#[derive(Debug, Serialize)]
pub struct Found {
    /// How often, over all records that the level shows.
    count: usize,
    /// The pieces and the ids of the records in them, with how often each says it.
    places: Vec<(usize, String, usize)>,
    /// Whether the session is too long to be searched whole.
    is_cut: bool,
}

/// Looks for a text in all records.
pub fn find(desk: &Desk, id: &str, look: &Look) -> Result<Found, Refusal> {
    let open = found(desk, id, look)?;
    let view = View::new(desk, &open, look)?;
    let mut piece_of = vec![None; open.session.nodes().len()];
    for (at, items) in view.pieces().into_iter().enumerate() {
        for node in view.outline.items[items].iter().flat_map(|item| item.nodes()) {
            piece_of[*node] = Some(at);
        }
    }
    let of = if look.detail() == Detail::Raw { Of::Lines } else { Of::Records };
    let words = desk.words(&open, of);
    let all = words.find(&view.opened, &look.q);
    let shown = all.iter().filter_map(|&(node, count)| Some((piece_of[node]?, node, count)));
    let places: Vec<(usize, String, usize)> = shown
        .map(|(piece, node, count)| {
            let entry = &open.session.nodes()[node];
            (piece, view.style.id(Some(entry.number), entry.offset), count)
        })
        .collect();
    let count = places.iter().map(|(_, _, count)| count).sum();
    let is_cut = words.is_cut || places.len() > FOUND_MOST;
    Ok(Found { count, places: places.into_iter().take(FOUND_MOST).collect(), is_cut })
}

/// The transcript of a subagent, to be shown below its call.
pub fn inside(desk: &Desk, id: &str, agent: &str, look: &Look) -> Reply {
    let look = look.of_agent(agent);
    let open = found(desk, id, &look)?;
    let opened = open.opened();
    let detail = look.detail();
    let outline =
        outline(&opened, Part::Way, detail).map_err(|_| Refusal::missing("It has no entries"))?;
    let style = style(&open, detail, format!("{agent}-"));
    let mut html = Html::new();
    let mut around = Agents { open: &open, cover: desk.cover() };
    let end = outline.items.len().min(INSIDE);
    session::piece(&mut html, &opened, &outline, 0..end, &style, &mut around)?;
    if end < outline.items.len() {
        let rest = counted(outline.items.len() - end, "more record");
        html.within("p", "cut", |html| {
            html.tag("a").href(&page_url(&open)).text(&format!("{rest}: open it alone"));
        });
    }
    Ok(html.into())
}

/// An entry as it stands in the file.
pub fn raw(desk: &Desk, id: &str, number: u32, look: &Look) -> Reply {
    let open = found(desk, id, look)?;
    let node = open.session.numbered(number).ok_or_else(|| Refusal::missing("No such entry"))?;
    let mut cover = desk.cover();
    if !cover.is_on() {
        return Ok(Body::Text(open.opened().bytes(node)?));
    }
    let mut line = open.opened().line(node)?;
    cover.json(&mut line, 0);
    Ok(Body::Text(line.into_bytes()))
}

/// All that a tool answered, to be kept: a page shows the beginning of what is long.
pub fn output(desk: &Desk, id: &str, number: u32, look: &Look) -> Reply {
    let open = found(desk, id, look)?;
    let node = open.session.numbered(number).ok_or_else(|| Refusal::missing("No such entry"))?;
    if open.session.nodes()[node].length > LARGEST {
        return Err(Refusal::missing("It is too large to be handed out"));
    }
    let bytes = open.opened().bytes(node)?;
    let text = transcript::record::output(&bytes, &look.call);
    let mut text = text.ok_or_else(|| Refusal::missing("No such result"))?;
    desk.cover().text(&mut text, u64::from(number));
    Ok(Body::File(format!("{}-{number}.txt", short(id)), text.into_bytes()))
}

/// Where an entry stands.
#[derive(Debug, Serialize)]
pub struct Stands {
    /// The file.
    file: String,
    /// The line, from 1.
    line: u64,
    /// The first byte of the entry, from 0.
    byte: u64,
    /// How many bytes it has.
    length: u32,
}

/// Where an entry stands in its file.
pub fn place(desk: &Desk, id: &str, number: u32, look: &Look) -> Result<Stands, Refusal> {
    let open = found(desk, id, look)?;
    let node = open.session.numbered(number).ok_or_else(|| Refusal::missing("No such entry"))?;
    let node = &open.session.nodes()[node];
    let last = open.sources.len() - 1;
    let source = &open.sources[usize::from(node.source).min(last)];
    let line = source.line_at(node.offset)?;
    let file = source.path().display().to_string();
    Ok(Stands { file, line, byte: node.offset, length: node.length })
}

/// A picture of an entry.
pub fn media(desk: &Desk, id: &str, number: u32, at: usize, look: &Look) -> Reply {
    let open = found(desk, id, look)?;
    let node = open.session.numbered(number).ok_or_else(|| Refusal::missing("No such entry"))?;
    let bytes = open.opened().bytes(node)?;
    let shown = transcript::record::picture(&bytes, at)
        .and_then(|media| Some((Picture::of(&media.media_type)?, media.base64)));
    let (kind, data) = shown.ok_or_else(|| Refusal::missing("No such picture"))?;
    let bytes = STANDARD.decode(data).map_err(|_| Refusal::missing("It is no picture"))?;
    Ok(Body::Picture(kind, bytes))
}

fn found(desk: &Desk, id: &str, look: &Look) -> Result<Arc<Open>, Refusal> {
    let open = desk.open(id, look.agent.as_deref())?;
    open.ok_or_else(|| Refusal::missing(&format!("There is no session {id}")))
}

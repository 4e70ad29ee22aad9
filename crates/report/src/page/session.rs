//! The page of a session: its head, its margins, and the pieces its text comes in.

use std::collections::{BTreeMap, HashMap};

use transcript::layout::Problem;
use transcript::session::{Call, Role, Session};
use transcript::time::Time;
use transcript::tool::{Action, ToolForm};

use super::outline::Outline;
use super::record::{self, Around, Course};
use super::{Source, Style, chart};
use crate::format::{count, counted, dollars, duration, size, thousands};
use crate::html::{Html, Url};
use crate::show::{Hidden, Left};
use crate::tree;
use crate::usage::Totals;
use transcript::record::{Detail, Opened};

/// A pause longer than this is shown.
const PAUSE_MS: i64 = 30 * 60 * 1000;

/// A page is fetched and shown in pieces of about so many records.
pub const PIECE: usize = 40;

/// What is said of a session at the top of its page.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// `live`, `ended`, `interrupted` or `archived`.
    pub state: &'static str,
    /// The folder it worked in.
    pub project: Option<String>,
    /// Its branch of git.
    pub branch: Option<String>,
    /// The models that spoke.
    pub models: Vec<String>,
    /// When it began.
    pub first: Option<Time>,
    /// When it was last written to.
    pub last: Option<Time>,
    /// Turns.
    pub turns: usize,
    /// Calls.
    pub calls: usize,
    /// Calls that failed.
    pub errors: usize,
    /// Bytes on disk.
    pub bytes: u64,
    /// Tokens and money, in words; nothing where they are not known.
    pub usage: Vec<(&'static str, String)>,
    /// How many tokens the model read, response by response.
    pub context: Vec<f64>,
    /// The responses before which the context was compacted.
    pub compactions: Vec<usize>,
    /// What a reader should know before reading.
    pub notes: Vec<String>,
    /// Files that were changed: path, lines added, lines removed.
    pub files: Vec<(String, u32, u32)>,
    /// Commits: hash and subject.
    pub commits: Vec<(String, String)>,
    /// Pull requests.
    pub prs: Vec<String>,
    /// Calls that failed: the entry, and the tool.
    pub failed: Vec<(u32, String)>,
    /// The entries that write a list of todos.
    pub todos: Vec<u32>,
    /// Subagents: id, and what each was for.
    pub agents: Vec<(String, String)>,
}

impl Head {
    /// What the session itself tells.
    pub fn of(session: &Session) -> Self {
        let mut files: Vec<(String, u32, u32)> = Vec::new();
        for (path, touch) in session.touches() {
            match files.iter_mut().find(|(known, ..)| known == path) {
                Some((_, added, removed)) => {
                    *added += touch.added;
                    *removed += touch.removed;
                }
                None => files.push((path.to_owned(), touch.added, touch.removed)),
            }
        }
        let commits = session.commits().map(|(_, commit)| {
            let subject = commit.subject.as_deref().unwrap_or_default();
            (commit.hash.to_string(), subject.to_owned())
        });
        let is_list = |call: &&Call| ToolForm::of(session.tool(call)).changes_todos();
        let todos = session.own_calls().filter(is_list);
        let todos = todos.map(|call| session.nodes()[call.node()].number).collect();
        let failed = session.errors().into_iter().map(|(result, call)| {
            let node = call.map_or(result, |call| call.node());
            let tool = call.map_or("", |call| session.tool(call));
            (session.nodes()[node].number, crate::words::tool_name(tool))
        });
        Self {
            failed: failed.collect(),
            todos,
            id: session.id().map_or_else(String::new, |id| id.to_string()),
            title: session.title().map_or_else(|| "(no title)".into(), |(title, _)| title.into()),
            state: "ended",
            project: session.project().map(str::to_owned),
            branch: session.git_branch().filter(|b| !b.is_empty()).map(str::to_owned),
            models: session.models().map(str::to_owned).collect(),
            first: session.first_time(),
            last: session.last_time(),
            turns: session.own_turns().count(),
            calls: session.own_calls().count(),
            errors: session.errors().len(),
            notes: crate::show::notes(session),
            files,
            commits: commits.collect(),
            prs: session.pr_links().iter().map(|link| link.url.to_string()).collect(),
            ..Self::default()
        }
    }
}

/// A line of the turn list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLine {
    /// Its number, from 1.
    pub number: usize,
    /// The prompt's number in the file.
    pub entry: u32,
    /// Its first words.
    pub words: String,
    /// Calls by kind: read, edit, run, agent.
    pub shares: [u32; 4],
    /// Calls that failed, after which no call of the same tool worked in the turn.
    pub errors: usize,
    /// What happened before it: its kind, and in words.
    pub before: Vec<(&'static str, String)>,
}

/// The turns of a session, with the first words of their prompts.
pub fn turns(opened: &Opened<'_>, style: &Style) -> Result<Vec<TurnLine>, Problem> {
    let words = |prompt| Ok(tree::words(opened, prompt)?.unwrap_or_default());
    turns_with(opened.session(), style, words)
}

/// The turns of a session, with what `words` says of the nodes of their prompts.
pub fn turns_with(
    session: &Session,
    style: &Style,
    mut words: impl FnMut(usize) -> Result<String, Problem>,
) -> Result<Vec<TurnLine>, Problem> {
    let mut lines = Vec::with_capacity(session.turns().len());
    for (at, turn) in session.turns().iter().enumerate() {
        let words = words(turn.prompt)?;
        let entry = session.nodes()[turn.prompt].number;
        let (number, errors) = (at + 1, 0);
        lines.push(TurnLine { number, entry, words, shares: [0; 4], errors, before: Vec::new() });
    }
    happened(session, style, &mut lines);
    unresolved(session, &mut lines);
    for call in session.own_calls() {
        let Some(turn) = session.turn_of(call.node()).and_then(|turn| lines.get_mut(turn)) else {
            continue;
        };
        let share = match Action::of(session.tool(call)) {
            Action::Read => 0,
            Action::Edit => 1,
            Action::Run => 2,
            Action::Agent => 3,
            _ => continue,
        };
        turn.shares[share] += 1;
    }
    Ok(lines)
}

/// Counts the errors of each turn that stayed: no later call of the same tool worked in it.
fn unresolved(session: &Session, lines: &mut [TurnLine]) {
    let mut open: HashMap<(usize, &str), usize> = HashMap::new();
    for call in session.own_calls() {
        let Some(turn) = session.turn_of(call.node()) else { continue };
        let of_tool = open.entry((turn, session.tool(call))).or_default();
        match call.is_error {
            true => *of_tool += 1,
            false if call.result().is_some() => *of_tool = 0,
            false => {}
        }
    }
    for ((turn, _), errors) in open {
        if let Some(line) = lines.get_mut(turn) {
            line.errors += errors;
        }
    }
}

/// Days, compactions, commits and pull requests, each before the turn that follows.
fn happened(session: &Session, style: &Style, lines: &mut [TurnLine]) {
    let nodes = session.nodes();
    let mut day = None;
    for (line, turn) in lines.iter_mut().zip(session.turns()) {
        let today = nodes[turn.prompt].time().and_then(|time| style.day(time));
        if today.is_some() && today != day {
            line.before.extend(today.clone().map(|today| ("day", today)));
            day = today;
        }
    }
    let mut add = |number: u32, kind: &'static str, words: String| {
        if let Some(line) = lines.iter_mut().find(|line| line.entry > number) {
            line.before.push((kind, words));
        }
    };
    for compaction in session.compactions() {
        let node = nodes[compaction.node()];
        let trigger = compaction.trigger.as_deref().unwrap_or("compaction");
        let tokens = compaction.pre_tokens.map(|n| format!(", {} tokens", thousands(n)));
        add(
            node.number,
            "compaction",
            format!("compacted: {trigger}{}", tokens.unwrap_or_default()),
        );
    }
    for (node, commit) in session.commits() {
        let subject = commit.subject.as_deref().unwrap_or(&commit.hash);
        add(nodes[node].number, "commit", format!("commit: {subject}"));
    }
    for turns in session.turns().windows(2) {
        let (before, after) = (turns[0].last, turns[1].prompt);
        if let Some(words) = continued(session, before, after) {
            add(nodes[after].number - 1, "resume", words);
        }
    }
    for link in session.pr_links() {
        let number = link.number.map_or_else(|| link.url.to_string(), |n| format!("#{n}"));
        add(link.entry, "pr", format!("pull request {number}"));
    }
}

/// The left margin.
pub fn margin(html: &mut Html, turns: &[TurnLine]) {
    html.tag("nav").attr("aria-label", "Turns").with(|html| {
        let filter = html.tag("input").attr("type", "search").attr("id", "filter");
        filter.attr("placeholder", "Filter turns (f)").attr("aria-label", "Filter turns").void();
        html.within("ol", "turns", |html| turn_list(html, turns));
    });
}

/// The lines of the left margin.
pub fn turn_list(html: &mut Html, turns: &[TurnLine]) {
    for turn in turns {
        for (kind, words) in &turn.before {
            html.tag("li").class("rule").attr("data-kind", kind).text(words);
        }
        html.tag("li").show("data-entry", turn.entry).with(|html| {
            html.words("span", "n", &turn.number.to_string());
            let url = Url::place(&format!("e{}", turn.entry));
            html.tag("a").href(&url).attr("title", &turn.words).text(&turn.words);
            shares(html, turn.shares);
            if turn.errors > 0 {
                let words = format!("{} that stayed", counted(turn.errors, "error"));
                html.tag("span").class("dot").attr("title", &words).text("\u{25cf}");
            }
        });
    }
}

/// A bar of a few pixels: how much of a turn was reading, editing, running, asking agents.
fn shares(html: &mut Html, shares: [u32; 4]) {
    let all: u32 = shares.iter().sum();
    if all == 0 {
        return;
    }
    const CLASSES: [&str; 4] = ["c0", "c3", "c1", "c2"];
    let open =
        html.tag("svg").class("share").attr("viewBox", "0 0 24 6").attr("aria-hidden", "true");
    open.with(|html| {
        let mut x = 0.0;
        for (share, class) in shares.into_iter().zip(CLASSES).filter(|(share, _)| *share > 0) {
            let width = 24.0 * f64::from(share) / f64::from(all);
            let rect = html.tag("rect").class(class).show("x", format_args!("{x:.1}"));
            rect.show("width", format_args!("{width:.1}")).attr("height", "6").with(|_| {});
            x += width;
        }
    });
}

/// The head of the text.
pub fn head(html: &mut Html, head: &Head, style: &Style) {
    html.within("header", "head", |html| {
        html.tag("h1").text(&head.title);
        html.within("p", "", |html| place(html, head, style));
        html.within("p", "", |html| numbers(html, head, style));
        html.within("p", "", |html| {
            html.tag("code").attr("id", "id").text(&head.id);
            if let Source::Served { session, agent: None } = &style.source {
                actions(html, session, head.state != "archived");
            }
        });
        if !head.notes.is_empty() {
            html.within("ul", "notes", |html| {
                head.notes.iter().for_each(|note| html.words("li", "", note));
            });
        }
    });
}

/// What can be done with a session: go on with it, hand it on.
fn actions(html: &mut Html, session: &str, can_resume: bool) {
    if can_resume {
        html.text(" \u{b7} ");
        html.tag("code").attr("id", "resume").with(|html| {
            html.text("claude ");
            html.words("span", "flag", "--resume");
            html.text(&format!(" {session}"));
        });
    }
    html.text(" \u{b7} Export:");
    for (name, form) in
        [("session.html", "HTML"), ("session.md", "Markdown"), ("session.json", "JSON")]
    {
        html.text(" ");
        let url = Url::path(&["s", session, "export", name]);
        html.tag("a").href(&url).attr("title", "Without secrets").text(form);
    }
}

/// State, project, branch and models.
fn place(html: &mut Html, head: &Head, style: &Style) {
    html.tag("span").class("state").attr("id", "state").text(head.state);
    if let Some(project) = &head.project {
        html.text(" \u{b7} ");
        match style.source {
            Source::Served { .. } => {
                html.tag("a").href(&Url::path(&["p", project])).text(project);
            }
            Source::File { .. } => html.text(project),
        }
    }
    for more in head.branch.iter().chain(&head.models) {
        html.text(" \u{b7} ");
        html.text(more);
    }
}

/// How long, how much; what can be listed is a link to the list.
fn numbers(html: &mut Html, head: &Head, style: &Style) {
    let session = match &style.source {
        Source::Served { session, .. } => Some(session),
        Source::File { .. } => None,
    };
    let mut all: Vec<(String, Option<Url>)> = Vec::new();
    if let Some((first, last)) = head.first.zip(head.last) {
        all.extend(style.day(first).map(|day| (day, None)));
        all.push((duration(last.since(first)), None));
    }
    let level = |d: &str| session.map(|id| Url::path(&["s", id]).query("d", d));
    all.push((counted(head.turns, "turn"), level("1")));
    all.push((counted(head.calls, "call"), level("3")));
    let errors = session.filter(|_| head.errors > 0);
    let errors = errors.map(|id| Url::path(&["errors"]).query("session", id));
    all.push((counted(head.errors, "error"), errors));
    let lines =
        head.files.iter().fold((0, 0), |(a, r), (_, added, removed)| (a + added, r + removed));
    if !head.files.is_empty() {
        let files = counted(head.files.len(), "file");
        let files = format!("{files} +{} \u{2212}{}", lines.0, lines.1);
        all.push((files, Some(Url::place("facts"))));
    }
    if let Some((_, cost)) = head.usage.iter().find(|(name, _)| *name == "Cost") {
        all.push((cost.clone(), Some(Url::place("facts"))));
    }
    if head.bytes > 0 {
        all.push((size(head.bytes), None));
    }
    for (at, (words, url)) in all.iter().enumerate() {
        if at > 0 {
            html.text(" \u{b7} ");
        }
        match url {
            Some(url) => html.tag("a").href(url).text(words),
            None => html.text(words),
        }
    }
}

/// Where an entry is, for a page that has all of them.
pub fn here(entry: u32) -> Option<Url> {
    Some(Url::place(&format!("e{entry}")))
}

/// The right margin; `place` says where an entry is.
pub fn facts(html: &mut Html, head: &Head, style: &Style, place: impl Fn(u32) -> Option<Url>) {
    let aside = html.tag("aside").attr("aria-label", "Facts").attr("id", "facts");
    let todos: Vec<String> = head.todos.iter().map(u32::to_string).collect();
    let aside = match todos.is_empty() {
        true => aside,
        false => aside.attr("data-todos", &todos.join(" ")),
    };
    aside.with(|html| bare_facts(html, head, style, place));
}

/// What stands in the right margin.
pub fn bare_facts(html: &mut Html, head: &Head, style: &Style, place: impl Fn(u32) -> Option<Url>) {
    chart::line(html, "Context", &head.context, &head.compactions, |value| {
        format!("{} tokens", thousands(value as u64))
    });
    html.within("dl", "facts", |html| {
        for (name, value) in &head.usage {
            html.words("dt", "", name);
            html.words("dd", "", value);
        }
        list(html, "Files", &head.files, |html, (path, added, removed)| {
            let short = style.short(path);
            match style.source {
                Source::Served { .. } => {
                    let url = Url::path(&["file"]).query("path", path);
                    html.tag("a").href(&url).attr("title", path).text(short);
                }
                Source::File { .. } => html.tag("code").attr("title", path).text(short),
            }
            html.words("span", "plus", &format!(" +{added}"));
            html.words("span", "minus", &format!(" \u{2212}{removed}"));
        });
        list(html, "Subagents", &head.agents, |html, (id, task)| match &style.source {
            Source::Served { session, .. } => {
                html.tag("a").href(&Url::path(&["s", session, "a", id])).text(task);
            }
            Source::File { .. } => html.text(task),
        });
        list(html, "Errors", &head.failed, |html, (entry, tool)| {
            let words = format!("{tool} #{entry}");
            match place(*entry) {
                Some(url) => html.tag("a").href(&url).text(&words),
                None => html.text(&words),
            }
        });
        list(html, "Commits", &head.commits, |html, (hash, subject)| {
            html.words("code", "", hash.get(..8).unwrap_or(hash));
            html.text(" ");
            html.text(subject);
        });
        list(html, "Pull requests", &head.prs, |html, url| match Url::written(url) {
            Some(link) => html.tag("a").href(&link).text(url),
            None => html.text(url),
        });
    });
}

/// Tokens and money, in words.
pub fn usage(totals: &Totals) -> Vec<(&'static str, String)> {
    if totals.requests == 0 {
        return Vec::new();
    }
    let tokens = &totals.tokens;
    let cost = match totals.cost() {
        Some(cost) => format!("{} ({})", dollars(cost), totals.confidence().name()),
        None => "not known".into(),
    };
    vec![
        ("Cost", cost),
        ("Requests", count(totals.requests)),
        ("Read", thousands(tokens.input)),
        ("Read from the cache", thousands(tokens.cache_read)),
        ("Written to the cache", thousands(tokens.cache_write())),
        ("Written", thousands(tokens.output)),
    ]
}

/// So many rows has the map beside the text.
const ROWS: usize = 240;

/// What is on the page, as a strip: what weighs most of each stretch.
pub fn minimap(html: &mut Html, opened: &Opened<'_>, outline: &Outline) {
    let session = opened.session();
    let nodes: Vec<usize> = outline.items.iter().flat_map(|item| item.nodes().to_vec()).collect();
    let rows = nodes.len().min(ROWS);
    let view = format!("0 0 12 {}", rows.max(1));
    let map = html.tag("svg").class("minimap").attr("id", "minimap").attr("viewBox", &view);
    let map = map.attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
    let kind_of = |row: usize| {
        let (from, to) = (row * nodes.len() / rows, (row + 1) * nodes.len() / rows);
        let kinds = nodes[from..to].iter().map(|&node| weight(session, node));
        kinds.max_by_key(|(weight, _)| *weight).map_or(NO_MARK, |(_, kind)| kind)
    };
    let kinds: Vec<&'static str> = (0..rows).map(kind_of).collect();
    // One path for each kind: a file to be handed on is small.
    let mut paths: BTreeMap<&str, String> = BTreeMap::new();
    let mut row = 0;
    for run in kinds.chunk_by(|a, b| a == b) {
        paths.entry(run[0]).or_default().push_str(&format!("M0 {row}h12v{}H0z", run.len()));
        row += run.len();
    }
    paths.remove(NO_MARK);
    map.with(|html| {
        for (kind, path) in &paths {
            html.tag("path").attr("class", kind).attr("d", path).with(|_| {});
        }
    });
}

/// The class of what is not worth a mark.
const NO_MARK: &str = "m-none";

/// How much a record is worth seeing from afar, and its class.
fn weight(session: &Session, node: usize) -> (u8, &'static str) {
    let calls = session.calls();
    let first = calls.partition_point(|call| call.node() < node);
    let own = calls[first..].iter().take_while(|call| call.node() == node);
    let of_call = own.map(|call| {
        let failed = call.result().is_some_and(|result| session.nodes()[result].is_error());
        match Action::of(session.tool(call)) {
            _ if failed => (9, "m-bad"),
            Action::Edit => (6, "m-edit"),
            Action::Run => (5, "m-run"),
            Action::Agent => (4, "m-agent"),
            Action::Web => (3, "m-web"),
            _ => (2, "m-read"),
        }
    });
    let of_role = match session.nodes()[node].role {
        Role::Boundary => (8, "m-compaction"),
        Role::ApiError | Role::Interrupt => (7, "m-bad"),
        role if role.is_person() => (7, "m-prompt"),
        _ => (0, NO_MARK),
    };
    of_call.chain([of_role]).max_by_key(|(weight, _)| *weight).unwrap_or(of_role)
}

/// So many are listed before the rest is folded.
const LISTED: usize = 12;

fn list<T>(html: &mut Html, name: &str, all: &[T], one: impl Fn(&mut Html, &T)) {
    if all.is_empty() {
        return;
    }
    html.words("dt", "", &format!("{name} ({})", count(all.len() as u64)));
    let (first, rest) = all.split_at(all.len().min(LISTED));
    first.iter().for_each(|each| html.within("dd", "", |html| one(html, each)));
    if !rest.is_empty() {
        html.within("dd", "", |html| {
            html.within("details", "more", |html| {
                html.words("summary", "", &format!("{} more", rest.len()));
                rest.iter().for_each(|each| html.within("div", "", |html| one(html, each)));
            });
        });
    }
}

/// One piece of the text.
pub fn piece(
    html: &mut Html,
    opened: &Opened<'_>,
    outline: &Outline,
    items: std::ops::Range<usize>,
    style: &Style,
    around: &mut dyn Around,
) -> Result<(), Problem> {
    let session = opened.session();
    let mut day = items
        .start
        .checked_sub(1)
        .and_then(|before| day_of(session, outline.items[before].first(), style));
    let mut course = Course::before(opened, &outline.items[..items.start], around)?;
    for at in items {
        let item = &outline.items[at];
        let today = day_of(session, item.first(), style);
        if today.is_some() && today != day {
            html.within("div", "band", |html| html.text(today.as_deref().unwrap_or_default()));
            day = today;
        }
        if let Some(pause) = at
            .checked_sub(1)
            .and_then(|before| pause(session, outline.items[before].last(), item.first()))
        {
            html.within("div", "band", |html| html.text(&format!("{pause} later")));
        }
        if let Some(from) = at
            .checked_sub(1)
            .and_then(|before| continued(session, outline.items[before].last(), item.first()))
        {
            html.tag("div").class("band").attr("data-kind", "resume").text(&from);
        }
        record::item(html, opened, item, style, (around, &mut course))?;
        let nodes = item.nodes();
        for left in outline.left.iter().filter(|left| left.at.is_some_and(|at| nodes.contains(&at)))
        {
            branches(html, opened, outline, left, style)?;
        }
    }
    Ok(())
}

/// Where what was taken over from another session ends.
fn continued(session: &Session, before: usize, after: usize) -> Option<String> {
    if !session.counts(before) && session.counts(after) {
        let from = session.forked_from().map(|id| format!(" from {}", short(id)));
        return Some(format!("Forked{}: what is above was copied", from.unwrap_or_default()));
    }
    let (earlier, own) = (session.session_of(before)?, session.id()?);
    let is_own = |node: usize| session.session_of(node).as_ref() == Some(&own);
    (earlier != own && is_own(after))
        .then(|| format!("Resumed: before it was {}", short(earlier.as_str())))
}

/// The first part of an id.
fn short(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

/// A break between two entries that is long enough to be told.
fn pause(session: &Session, before: usize, after: usize) -> Option<String> {
    let time = |node: usize| session.nodes()[node].time();
    let ms = time(after)?.since(time(before)?);
    (ms > PAUSE_MS).then(|| duration(ms))
}

fn day_of(session: &Session, node: usize, style: &Style) -> Option<String> {
    style.day(session.nodes()[node].time()?)
}

/// The ways that part here: attempts that were left, and the one that goes on. Where they can be
/// opened one steps from each to the next, and reads the first words of the others.
fn branches(
    html: &mut Html,
    opened: &Opened<'_>,
    outline: &Outline,
    left: &Left,
    style: &Style,
) -> Result<(), Problem> {
    let session = opened.session();
    let goes_on = left.at.and_then(|at| session.branch_of(at)).map(|branch| branch + 1);
    let ways: Vec<Option<usize>> =
        left.numbers.iter().copied().map(Some).chain([goes_on]).collect();
    let is_shown = |way: &Option<usize>| way.is_some_and(|way| outline.branches.contains(&way));
    let last = ways.len() - 1;
    let shown = ways[..last].iter().position(is_shown).unwrap_or(last);
    let mut words = Vec::new();
    for way in &ways {
        let head = way.filter(|way| left.numbers.contains(way));
        let head = head.map(|way| session.branches()[way - 1].head);
        words.push(match head {
            Some(head) => tree::words(opened, head)?.unwrap_or_default(),
            None => String::new(),
        });
    }
    let place = left.at.map_or_else(String::new, |at| format!("e{}", session.nodes()[at].number));
    html.within("div", "branches", |html| {
        let url = |at: usize| way_url(style, *ways.get(at)?, &place);
        let step = |html: &mut Html, at: Option<usize>, name: &str, mark: &str| match at
            .and_then(|at| Some((url(at)?, &words[at])))
        {
            Some((url, words)) => {
                let title = format!("{name} {words}");
                html.tag("a").class("way").href(&url).attr("title", title.trim()).text(mark);
            }
            None => html.words("span", "way", mark),
        };
        if url(shown).is_some() {
            step(html, shown.checked_sub(1), "Before:", "\u{2039}");
            html.words("span", "n", &format!(" {} / {} ", shown + 1, ways.len()));
            step(html, Some(shown + 1), "Next:", "\u{203a}");
            html.text(" \u{b7} ");
        }
        let attempts = counted(left.numbers.len(), "abandoned attempt");
        html.text(&format!("{attempts}, {}", counted(left.prompts, "prompt")));
        for at in (0..ways.len()).filter(|at| *at != shown) {
            let Some(url) = url(at) else { continue };
            html.within("p", "", |html| {
                let name =
                    ways[at].map_or_else(|| "active branch".into(), |n| format!("branch {n}"));
                html.tag("a").href(&url).text(&name);
                html.text(" ");
                html.words("span", "what", &words[at]);
            });
        }
    });
    Ok(())
}

/// The page of a branch, at a place in it; a file holds one branch only.
fn way_url(style: &Style, branch: Option<usize>, place: &str) -> Option<Url> {
    let Source::Served { session, agent } = &style.source else { return None };
    let url = match agent {
        Some(agent) => Url::path(&["s", session, "a", agent]),
        None => Url::path(&["s", session]),
    };
    let url = url.query("d", &(style.detail as u8).to_string());
    let branch = branch.map(|branch| branch.to_string());
    Some(branch.iter().fold(url, |url, branch| url.query("branch", branch)).at(place))
}

/// The entries that a piece holds: the first and the last number.
pub fn span(session: &Session, outline: &Outline, items: std::ops::Range<usize>) -> (u32, u32) {
    let numbers = outline.items[items].iter().flat_map(|item| item.nodes());
    let numbers = numbers.map(|node| session.nodes()[*node].number);
    numbers.fold((u32::MAX, 0), |(least, most), number| (least.min(number), most.max(number)))
}

/// What the level hides.
pub fn foot(html: &mut Html, hidden: &Hidden, detail: Detail, more: &[String]) {
    html.within("footer", "foot", |html| {
        let counts = hidden.counts();
        if !counts.is_empty() {
            let words: Vec<String> = counts
                .iter()
                .map(|((one, many), number)| {
                    format!("{} {}", count(*number as u64), if *number == 1 { one } else { many })
                })
                .collect();
            let words = format!("Hidden at level {}: {}", detail as u8, words.join(", "));
            html.words("p", "", &words);
        }
        more.iter().for_each(|line| html.words("p", "", line));
    });
}

/// Whether an entry is the beginning of a turn in the margin.
pub fn begins_turn(session: &Session, node: usize) -> bool {
    matches!(session.nodes()[node].role, Role::Prompt | Role::Command | Role::Shell)
}

//! The page of a session: its head, its margins, and the pieces its text comes in.

use transcript::entry::tool::Action;
use transcript::layout::Problem;
use transcript::session::{Role, Session};
use transcript::time::Time;

use super::outline::Outline;
use super::record::{self, Around};
use super::{Source, Style, chart};
use crate::format::{count, counted, duration, size, thousands};
use crate::html::{Html, Url};
use crate::record::{Detail, Opened};
use crate::show::{Hidden, Left};
use crate::tree;

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
        Self {
            id: session.id().map_or_else(String::new, |id| id.to_string()),
            title: session.title().map_or_else(|| "(no title)".into(), |(title, _)| title.into()),
            state: "ended",
            project: session.cwd().map(str::to_owned),
            branch: session.git_branch().filter(|b| !b.is_empty()).map(str::to_owned),
            models: session.models().map(str::to_owned).collect(),
            first: session.first_time(),
            last: session.last_time(),
            turns: session.turns().len(),
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
    /// Calls that failed.
    pub errors: usize,
}

/// The turns of a session, with the first words of their prompts.
pub fn turns(opened: &Opened<'_>) -> Result<Vec<TurnLine>, Problem> {
    turns_with(opened.session(), |prompt| Ok(tree::words(opened, prompt)?.unwrap_or_default()))
}

/// The turns of a session, with what `words` says of the nodes of their prompts.
pub fn turns_with(
    session: &Session,
    mut words: impl FnMut(usize) -> Result<String, Problem>,
) -> Result<Vec<TurnLine>, Problem> {
    let mut lines = Vec::with_capacity(session.turns().len());
    for (at, turn) in session.turns().iter().enumerate() {
        let words = words(turn.prompt)?;
        let entry = session.nodes()[turn.prompt].number;
        let (number, errors) = (at + 1, turn.errors);
        lines.push(TurnLine { number, entry, words, shares: [0; 4], errors });
    }
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

/// The left margin.
pub fn margin(html: &mut Html, turns: &[TurnLine]) {
    html.tag("nav").attr("aria-label", "Turns").with(|html| {
        let filter = html.tag("input").attr("type", "search").attr("id", "filter");
        filter.attr("placeholder", "Filter turns (f)").attr("aria-label", "Filter turns").void();
        html.within("ol", "turns", |html| {
            for turn in turns {
                html.tag("li").show("data-entry", turn.entry).with(|html| {
                    html.words("span", "n", &turn.number.to_string());
                    let url = Url::place(&format!("e{}", turn.entry));
                    html.tag("a").href(&url).attr("title", &turn.words).text(&turn.words);
                    shares(html, turn.shares);
                    if turn.errors > 0 {
                        let words = counted(turn.errors, "error");
                        html.tag("span").class("dot").attr("title", &words).text("\u{25cf}");
                    }
                });
            }
        });
    });
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
        let mut place: Vec<&str> = vec![head.state];
        place.extend(head.project.as_deref());
        place.extend(head.branch.as_deref());
        place.extend(head.models.iter().map(String::as_str));
        html.words("p", "", &place.join(" \u{b7} "));
        let mut numbers = Vec::new();
        if let Some((first, last)) = head.first.zip(head.last) {
            numbers.extend(style.day(first));
            numbers.push(duration(last.since(first)));
        }
        numbers.push(counted(head.turns, "turn"));
        numbers.push(counted(head.calls, "call"));
        numbers.push(counted(head.errors, "error"));
        if head.bytes > 0 {
            numbers.push(size(head.bytes));
        }
        html.words("p", "", &numbers.join(" \u{b7} "));
        html.within("p", "", |html| {
            html.words("code", "", &head.id);
        });
        if !head.notes.is_empty() {
            html.within("ul", "notes", |html| {
                head.notes.iter().for_each(|note| html.words("li", "", note));
            });
        }
    });
}

/// The right margin.
pub fn facts(html: &mut Html, head: &Head) {
    html.tag("aside").attr("aria-label", "Facts").with(|html| {
        chart::line(html, "Context", &head.context, &head.compactions, |value| {
            format!("{} tokens", thousands(value as u64))
        });
        html.within("dl", "facts", |html| {
            for (name, value) in &head.usage {
                html.words("dt", "", name);
                html.words("dd", "", value);
            }
            list(html, "Files", &head.files, |html, (path, added, removed)| {
                html.words("code", "", path);
                html.words("span", "plus", &format!(" +{added}"));
                html.words("span", "minus", &format!(" \u{2212}{removed}"));
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
    });
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
    for at in items {
        let item = &outline.items[at];
        let today = day_of(session, item.first(), style);
        if today.is_some() && today != day {
            html.within("div", "band", |html| html.text(today.as_deref().unwrap_or_default()));
            day = today;
        }
        record::item(html, opened, item, style, around)?;
        let nodes = item.nodes();
        for left in outline.left.iter().filter(|left| left.at.is_some_and(|at| nodes.contains(&at)))
        {
            branches(html, left, style);
        }
    }
    Ok(())
}

fn day_of(session: &Session, node: usize, style: &Style) -> Option<String> {
    style.day(session.nodes()[node].time()?)
}

/// Attempts that were left here.
fn branches(html: &mut Html, left: &Left, style: &Style) {
    html.within("p", "branches", |html| {
        let attempts = counted(left.numbers.len(), "abandoned attempt");
        html.text(&format!("{attempts}, {}: ", counted(left.prompts, "prompt")));
        for number in &left.numbers {
            let words = format!("branch {number}");
            match style.source {
                Source::Served(_) => {
                    let url = Url::beside("").query("branch", &number.to_string());
                    html.tag("a").href(&url).text(&words);
                }
                Source::File { .. } => html.text(&words),
            }
            html.text(" ");
        }
    });
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

//! What stands on the page of a session, in order, without reading any of it.
//!
//! A session may have many thousand records. Which of them belong together is known from the
//! nodes alone, so that a page can fetch and show only the part that is looked at.

use transcript::session::{Role, Session};

use crate::show::{self, Hidden, Left, NoPart, Part};
use transcript::record::{Detail, Opened};

/// One thing on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A record that stands alone.
    One(usize),
    /// Thoughts and calls that follow each other.
    Work(Vec<usize>),
}

impl Item {
    /// Its first node.
    pub fn first(&self) -> usize {
        match self {
            Self::One(node) => *node,
            Self::Work(nodes) => nodes[0],
        }
    }

    /// Its last node.
    pub fn last(&self) -> usize {
        self.nodes().last().copied().unwrap_or_else(|| self.first())
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[usize] {
        match self {
            Self::One(node) => std::slice::from_ref(node),
            Self::Work(nodes) => nodes,
        }
    }
}

/// The page of a session.
#[derive(Debug, Clone)]
pub struct Outline {
    /// What stands on it.
    pub items: Vec<Item>,
    /// Branches that were left, where they part.
    pub left: Vec<Left>,
    /// The branches that it shows, the one that was asked for first; none is the active one.
    pub branches: Vec<usize>,
    /// What the level does not show.
    pub hidden: Hidden,
}

/// Work is shown in pieces of so many records.
const LONGEST: usize = 40;

/// What stands on the page of a part of a session.
pub fn outline(opened: &Opened<'_>, part: Part, detail: Detail) -> Result<Outline, NoPart> {
    let session = opened.session();
    let nodes = show::nodes(session, part)?;
    let mut hidden = Hidden::default();
    for &node in nodes.iter().filter(|&&node| opened.detail(node) > detail) {
        hidden.add(opened, node);
    }
    let shown = show::visible(opened, &nodes, detail);
    let items = match detail {
        Detail::Work => grouped(session, &shown),
        _ => shown.into_iter().map(Item::One).collect(),
    };
    let branches = match part {
        Part::Branch(number) => show::leads(session, number),
        _ => Vec::new(),
    };
    Ok(Outline { items, left: show::left(session), branches, hidden })
}

fn grouped(session: &Session, shown: &[usize]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for &node in shown {
        let is_work = matches!(session.nodes()[node].role, Role::Thinking | Role::Call);
        match items.last_mut() {
            Some(Item::Work(nodes)) if is_work && nodes.len() < LONGEST => nodes.push(node),
            _ if is_work => items.push(Item::Work(vec![node])),
            _ => items.push(Item::One(node)),
        }
    }
    items
}

impl Outline {
    /// The items in pieces of about `size` records, each by the place of its first item. A prompt
    /// begins a piece where that makes none too small: what belongs together is fetched together.
    pub fn pieces(&self, session: &Session, size: usize) -> Vec<std::ops::Range<usize>> {
        let mut pieces = Vec::new();
        let (mut from, mut records) = (0, 0);
        for (at, item) in self.items.iter().enumerate() {
            let is_prompt = session.nodes()[item.first()].role.is_person();
            if at > from && (records >= size || (is_prompt && records >= size / 2)) {
                pieces.push(from..at);
                (from, records) = (at, 0);
            }
            records += item.nodes().len();
        }
        if from < self.items.len() {
            pieces.push(from..self.items.len());
        }
        pieces
    }
}

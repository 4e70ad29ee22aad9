//! Which entries of a session are shown: the way, or a part that was asked for; where branches
//! were left; what a level of detail hides; how many tokens the model last read.
//!
//! Nothing here reads text but [`tokens`]: a session of gigabytes is chosen from by its nodes.

use transcript::diagnostic::DiagnosticKind;
use transcript::layout::Problem;
use transcript::reading::EntryReading;
use transcript::session::{Ending, Role, Session, State};
use transcript::tool::Action;

use crate::format::{count, counted};
use transcript::record::{Detail, Opened};

/// A part of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The conversation as it went.
    Way,
    /// The way up to a fork and the branch that was left there, by its number from 1.
    Branch(usize),
    /// A segment, by its index from 0.
    Segment(usize),
    /// Turns by their numbers from 1, both included.
    Turns(usize, usize),
}

/// There is no such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoPart {
    /// `branch`, `segment`, `turn` or `entry`.
    pub noun: &'static str,
    /// What was asked for.
    pub asked: u64,
    /// The number of the first one there is.
    pub first: usize,
    /// How many there are.
    pub count: usize,
}

/// The nodes of a part, in file order.
pub fn nodes(session: &Session, part: Part) -> Result<Vec<usize>, NoPart> {
    let on_way = |&n: &usize| session.state(n).is_on_way();
    let all = 0..session.nodes().len();
    Ok(match part {
        Part::Way => all.filter(on_way).collect(),
        Part::Branch(number) => branch(session, number)?,
        Part::Segment(index) => {
            let count = session.segments().len();
            let no = NoPart { noun: "segment", asked: index as u64, first: 0, count };
            let left = session.segments().get(index).ok_or(no)?.is_abandoned;
            let in_it = |n: &usize| session.segment_of(*n) == Some(index);
            all.filter(|n| in_it(n) && (left || on_way(n))).collect()
        }
        Part::Turns(first, last) => {
            let count = session.turns().len();
            if first == 0 || first > count {
                return Err(NoPart { noun: "turn", asked: first as u64, first: 1, count });
            }
            let in_it = |t: usize| (first..=last).contains(&(t + 1));
            all.filter(|&n| session.turn_of(n).is_some_and(in_it)).collect()
        }
    })
}

/// A branch with all that leads to it, which may be parts of other branches.
fn branch(session: &Session, number: usize) -> Result<Vec<usize>, NoPart> {
    let count = session.branches().len();
    let no = NoPart { noun: "branch", asked: number as u64, first: 1, count };
    let at = number.checked_sub(1).filter(|&at| at < count).ok_or(no)?;
    // For each line of talk that leads to it, the last node that does.
    let mut leads: Vec<(Option<usize>, usize)> = vec![(Some(at), usize::MAX)];
    let mut fork = session.branches()[at].at;
    while let Some(node) = fork {
        let line = session.branch_of(node);
        leads.push((line, node));
        // A branch parts from a line once; more would be a circle.
        fork = line.filter(|_| leads.len() <= count).and_then(|b| session.branches()[b].at);
    }
    let is_shown = |n: usize| {
        let line = session.branch_of(n);
        let is_talk = line.is_some() || session.state(n).is_on_way();
        is_talk && leads.iter().any(|&(lead, last)| lead == line && n <= last)
    };
    Ok((0..session.nodes().len()).filter(|&n| is_shown(n)).collect())
}

/// A branch by its number and those that it parts from, until the active one.
pub fn leads(session: &Session, number: usize) -> Vec<usize> {
    let branches = session.branches();
    let above = |number: &usize| Some(session.branch_of(branches[number - 1].at?)? + 1);
    let first = Some(number).filter(|number| (1..=branches.len()).contains(number));
    // A branch parts from a line once; more would be a circle.
    std::iter::successors(first, above).take(branches.len()).collect()
}

/// Branches that were left at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The node they part at; none when they are beginnings of their own.
    pub at: Option<usize>,
    /// Their numbers, from 1.
    pub numbers: Vec<usize>,
    /// Prompts on them.
    pub prompts: usize,
}

/// The branches that were left, by where they part.
pub fn left(session: &Session) -> Vec<Left> {
    let mut all: Vec<Left> = Vec::new();
    for (index, branch) in session.branches().iter().enumerate() {
        let at = branch.at;
        let known = all.iter().position(|left| left.at == at).unwrap_or_else(|| {
            all.push(Left { at, numbers: Vec::new(), prompts: 0 });
            all.len() - 1
        });
        all[known].numbers.push(index + 1);
        all[known].prompts += branch.prompts;
    }
    all
}

/// Where an entry stands, as a person names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Its number in the session's own file.
    Number(u32),
    /// A byte of it.
    Offset(u64),
}

/// The entry at a place of the session's own file.
pub fn entry(session: &Session, place: Place) -> Result<usize, NoPart> {
    let own = session.nodes().partition_point(|n| n.source == 0);
    let nodes = &session.nodes()[..own];
    let (found, asked) = match place {
        Place::Number(number) => (session.numbered(number), u64::from(number)),
        Place::Offset(offset) => {
            let after = nodes.partition_point(|n| n.offset <= offset);
            let holds = |&at: &usize| offset < nodes[at].offset + u64::from(nodes[at].length);
            (after.checked_sub(1).filter(holds), offset)
        }
    };
    let noun = if matches!(place, Place::Number(_)) { "entry" } else { "entry at byte" };
    found.ok_or(NoPart { noun, asked, first: 1, count: own })
}

/// Entries that no way, branch or call leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beside {
    /// Answers and results that were dropped, on no branch.
    pub dropped: usize,
    /// Entries of other sessions.
    pub foreign: usize,
    /// Entries that were written again.
    pub repeated: usize,
}

/// Counts what is neither on the way nor on a branch.
pub fn beside(session: &Session) -> Beside {
    let mut beside = Beside::default();
    for node in 0..session.nodes().len() {
        match session.state(node) {
            State::Abandoned if session.branch_of(node).is_none() => beside.dropped += 1,
            State::Foreign => beside.foreign += 1,
            State::Repeated => beside.repeated += 1,
            _ => {}
        }
    }
    beside
}

/// A kind of thing, as one and as many.
pub type Words = (&'static str, &'static str);

/// What a level did not show, by kind.
#[derive(Debug, Clone, Default)]
pub struct Hidden {
    counts: Vec<(Words, usize)>,
}

impl Hidden {
    /// Counts an entry that is not shown; one that is shown with its call counts nothing.
    pub fn add(&mut self, opened: &Opened<'_>, node: usize) {
        if opened.is_shown_elsewhere(node) {
            return;
        }
        let session = opened.session();
        let role = session.nodes()[node].role;
        if role != Role::Call {
            return self.count(role_words(role));
        }
        let calls = session.calls();
        let first = calls.partition_point(|c| c.node() < node);
        for call in calls[first..].iter().take_while(|c| c.node() == node) {
            self.count(action_words(Action::of(session.tool(call))));
        }
    }

    /// Counts one thing.
    pub fn count(&mut self, words: Words) {
        match self.counts.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((words, 1)),
        }
    }

    /// Counts what was counted elsewhere.
    pub fn add_all(&mut self, other: &Self) {
        for (words, number) in &other.counts {
            (0..*number).for_each(|_| self.count(*words));
        }
    }

    /// What was counted, most first.
    pub fn counts(&self) -> Vec<(Words, usize)> {
        let mut counts = self.counts.clone();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

fn action_words(action: Action) -> Words {
    match action {
        Action::Read => ("read", "reads"),
        Action::Edit => ("edit", "edits"),
        Action::Run => ("command", "commands"),
        Action::Agent => ("subagent call", "subagent calls"),
        Action::Web => ("web call", "web calls"),
        Action::Plan => ("plan call", "plan calls"),
        Action::Other => ("other call", "other calls"),
    }
}

fn role_words(role: Role) -> Words {
    match role {
        Role::Prompt | Role::Queued => ("prompt", "prompts"),
        Role::Undelivered => ("undelivered prompt", "undelivered prompts"),
        Role::Command => ("slash command", "slash commands"),
        Role::Shell => ("shell command", "shell commands"),
        Role::Answer => ("answer", "answers"),
        Role::Thinking => ("thought", "thoughts"),
        Role::Call => ("call", "calls"),
        Role::Result => ("result", "results"),
        Role::Summary => ("summary", "summaries"),
        Role::Boundary => ("compaction", "compactions"),
        Role::Interrupt => ("interruption", "interruptions"),
        Role::Notification => ("notification", "notifications"),
        Role::Teammate => ("teammate's message", "teammates' messages"),
        Role::Injected => ("injected text", "injected texts"),
        Role::ApiError => ("API error", "API errors"),
        Role::Event => ("system event", "system events"),
        Role::Progress => ("sign of progress", "signs of progress"),
        Role::Attachment => ("attachment", "attachments"),
        Role::Bookkeeping => ("internal line", "internal lines"),
        Role::Unknown => ("entry of unknown type", "entries of unknown type"),
        Role::Damaged => ("damaged line", "damaged lines"),
    }
}

/// Whether the model sees an entry of its context. Claude Code's own notes, failures of the API
/// and prompts that were never delivered are not sent.
pub fn is_sent(role: Role) -> bool {
    !matches!(
        role,
        Role::Event
            | Role::Progress
            | Role::Bookkeeping
            | Role::Unknown
            | Role::ApiError
            | Role::Undelivered
    )
}

/// The records of a list that a level shows, without reading any.
pub fn visible(opened: &Opened<'_>, nodes: &[usize], detail: Detail) -> Vec<usize> {
    let is_raw = detail == Detail::Raw;
    let shown =
        |&&n: &&usize| is_raw || (opened.detail(n) <= detail && !opened.is_shown_elsewhere(n));
    nodes.iter().filter(shown).copied().collect()
}

/// What the model's last response says it read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// The entry that says so.
    pub node: usize,
    /// Its number.
    pub number: Option<u32>,
    /// Read anew.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Read and put into the cache.
    pub cache_creation: u64,
    /// Written.
    pub output: u64,
}

impl Tokens {
    /// All of them: what the next request begins with.
    pub fn total(&self) -> u64 {
        self.input + self.cache_read + self.cache_creation + self.output
    }
}

/// The tokens of the last response among these nodes that says any.
pub fn tokens(opened: &Opened<'_>, nodes: &[usize]) -> Result<Option<Tokens>, Problem> {
    let all = opened.session().nodes();
    for &node in nodes.iter().rev().filter(|&&n| all[n].is_by_model()) {
        let bytes = opened.bytes(node)?;
        let Some(usage) = EntryReading::from_bytes(&bytes).response_tokens() else { continue };
        let tokens = Tokens {
            node,
            number: opened.number(node),
            input: usage.input,
            cache_read: usage.cache_read,
            cache_creation: usage.cache_write(),
            output: usage.output,
        };
        // What Claude Code writes in the model's name has zeros.
        if tokens.total() > 0 {
            return Ok(Some(tokens));
        }
    }
    Ok(None)
}

/// What the session itself says that a reader should know before reading.
pub fn notes(session: &Session) -> Vec<String> {
    let mut notes = Vec::new();
    let damaged = |kind| matches!(kind, DiagnosticKind::Damaged | DiagnosticKind::NotAnObject);
    let odd = session.diagnostic_counts().iter().filter(|(kind, _)| damaged(*kind));
    let odd: u64 = odd.map(|(_, count)| count).sum();
    if odd > 0 {
        let lines = counted(odd as usize, "damaged line");
        notes.push(format!("{lines}; `recount doctor` shows where"));
    }
    let beside = beside(session);
    let counts = [
        (beside.dropped, "of answers that were dropped"),
        (beside.foreign, "of other sessions"),
        (beside.repeated, "written twice"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    notes.extend(counts.map(|(count, what)| format!("{} {what}, not shown", entries(*count))));
    match session.ending() {
        Ending::Interrupted => notes.push("interrupted by the person".into()),
        Ending::Open => notes.push("the last turn was not answered".into()),
        Ending::Answered | Ending::Empty => {}
    }
    notes
}

/// `1 entry`, `12 entries`.
pub fn entries(number: usize) -> String {
    if number == 1 { "1 entry".into() } else { format!("{} entries", count(number as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::session::{Builder, Options};

    fn session(lines: &[(&str, Option<&str>, &str)]) -> Session {
        let mut builder = Builder::new();
        let text: String = lines
            .iter()
            .map(|(uuid, parent, text)| {
                let parent = parent.map_or("null".to_owned(), |p| format!("\"{p}\""));
                let kind = if text.starts_with('>') { "user" } else { "assistant" };
                format!(
                    "{{\"parentUuid\":{parent},\"uuid\":\"{uuid}\",\"sessionId\":\"s\",\"type\":\"{kind}\",\"message\":{{\"role\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
                )
            })
            .collect();
        builder.read(text.as_bytes()).expect("readable");
        builder.finish(&Options::default())
    }

    fn rewound() -> Session {
        session(&[
            ("a", None, "> one"),
            ("b", Some("a"), "first"),
            ("c", Some("b"), "> two"),
            ("d", Some("c"), "left"),
            ("e", Some("b"), "> two again"),
            ("f", Some("e"), "last"),
        ])
    }

    #[test]
    fn parts_of_a_session() {
        let session = rewound();
        assert_eq!(nodes(&session, Part::Way), Ok(vec![0, 1, 4, 5]));
        assert_eq!(nodes(&session, Part::Branch(1)), Ok(vec![0, 1, 2, 3]));
        assert_eq!(nodes(&session, Part::Turns(2, 9)), Ok(vec![4, 5]));
        assert_eq!(nodes(&session, Part::Segment(0)), Ok(vec![0, 1, 4, 5]));
        let no = |noun, asked, first, count| Err(NoPart { noun, asked, first, count });
        assert_eq!(nodes(&session, Part::Branch(2)), no("branch", 2, 1, 1));
        assert_eq!(nodes(&session, Part::Branch(0)), no("branch", 0, 1, 1));
        assert_eq!(nodes(&session, Part::Segment(1)), no("segment", 1, 0, 1));
        assert_eq!(nodes(&session, Part::Turns(3, 9)), no("turn", 3, 1, 2));
        assert_eq!(left(&session), [Left { at: Some(1), numbers: vec![1], prompts: 1 }]);
        assert_eq!(leads(&session, 1), [1]);
        assert!(leads(&session, 2).is_empty());
    }

    #[test]
    fn an_entry_by_number_or_by_any_byte_of_it() {
        let session = rewound();
        let second = session.nodes()[1];
        assert_eq!(entry(&session, Place::Number(2)), Ok(1));
        assert_eq!(entry(&session, Place::Offset(second.offset)), Ok(1));
        assert_eq!(entry(&session, Place::Offset(second.offset + 9)), Ok(1));
        assert!(entry(&session, Place::Offset(1 << 40)).is_err());
        assert!(entry(&session, Place::Number(0)).is_err());
    }
}

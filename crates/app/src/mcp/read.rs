//! A session within a number of words: every entry is cut to the same length, the longest at which
//! all of them fit, so that nothing is left out without a trace.

use report::show::{self, Part as Stretch};
use transcript::record::{Body, CallRecord, Detail, Opened, Outcome, Part, Record};
use transcript::session::Session;
use transcript::source::Source;

use super::Refusal;
use super::answer::{Item, MOST, Page, cursor};
use super::tool::Read;
use crate::commands::show::turns;
use crate::error::CliError;
use crate::quote::{minute, place, told};
use crate::run::Run;
use crate::wire;
use ask::name::SessionName;

/// What a word is counted for, with the space behind it: a text without spaces is long too.
const WORD: usize = 6;
/// No entry is cut to less, in characters; then there are pages.
const LEAST: usize = 60;
/// So many entries before and after one are its surroundings.
const AROUND: usize = 5;

/// Which session, and where in it.
struct Name {
    session: String,
    agent: Option<String>,
    entry: Option<u32>,
}

impl Name {
    /// A place as answers name it. Nothing else is opened: a path may lead anywhere.
    fn of(text: &str) -> Result<Self, Refusal> {
        let wrong = || Refusal(format!("`{text}` names no session: give SESSION or SESSION#ENTRY"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let (name, entry) = text.split_once('#').map_or((text, None), |(name, n)| (name, Some(n)));
        let (session, agent) = name.split_once('/').map_or((name, None), |(s, a)| (s, Some(a)));
        let is_id = |id: &str| !id.is_empty() && !id.starts_with('-') && id.chars().all(is_plain);
        if !is_id(session) || agent.is_some_and(|agent| !is_id(agent)) {
            return Err(wrong());
        }
        let entry = entry.map(str::parse).transpose().map_err(|_| wrong())?;
        Ok(Self { session: session.into(), agent: agent.map(str::to_owned), entry })
    }
}

/// Reads it.
pub fn read(asked: &Read, run: &mut Run) -> Result<Page, Refusal> {
    let from = cursor(asked.cursor.as_deref())?;
    let name = Name::of(&asked.session)?;
    let part = match asked.turns.as_deref().map(turns).transpose().map_err(Refusal)? {
        Some(turns) => Stretch::Turns(*turns.start(), *turns.end()),
        None => Stretch::Way,
    };
    let open = run.recount.open_session(&SessionName::Id(name.session.clone()))?;
    let id = open.name();
    let subject = match &name.agent {
        None => (open.session, open.sources),
        Some(agent) => {
            let none = || Refusal(format!("Session `{id}` has no subagent `{agent}`"));
            let item = open.item().ok_or_else(none)?;
            let agent = item.agents.iter().find(|one| one.id.as_str() == agent);
            let read = agent.and_then(|agent| open.family()?.agent(agent)).ok_or_else(none)?;
            let (session, source) = read.map_err(CliError::from)?;
            (session, vec![source])
        }
    };
    let reader = Reader { run, subject: &subject, id: &id, agent: name.agent.as_deref() };
    let detail = match asked.work.unwrap_or(name.entry.is_some()) {
        true => Detail::Work,
        false => Detail::Conversation,
    };
    let room = asked.words.unwrap_or(1_500).clamp(100, 4_000) * WORD;
    reader.page(part, name.entry, detail, room.min(MOST), from)
}

struct Reader<'a> {
    run: &'a Run,
    subject: &'a (Session, Vec<Source>),
    id: &'a str,
    agent: Option<&'a str>,
}

impl Reader<'_> {
    fn page(
        &self,
        part: Stretch,
        entry: Option<u32>,
        detail: Detail,
        room: usize,
        from: usize,
    ) -> Result<Page, Refusal> {
        let (session, sources) = self.subject;
        let opened = Opened::new(session, sources, false);
        let nodes = match entry {
            Some(entry) => around(session, entry)?,
            None => show::nodes(session, part).map_err(CliError::from)?,
        };
        let visible = show::visible(&opened, &nodes, detail);
        let fits = (room / LEAST).max(1);
        let is_long = visible.len() > fits;
        let shown = visible.iter().skip(from).take(if is_long { fits } else { usize::MAX });
        let mut all: Vec<Vec<(String, String, String)>> = Vec::new();
        let mut lengths = Vec::new();
        let cut_to = is_long.then_some(LEAST);
        for node in shown {
            let Some(mut record) = opened.record(*node).map_err(CliError::from)? else { continue };
            self.run.out.cover(&mut record);
            let place = self.place(&record);
            let mut said: Vec<(String, String, String)> = pieces(&record, detail)
                .into_iter()
                .map(|(what, text)| (place.clone(), what, text))
                .collect();
            for (_, _, text) in &mut said {
                lengths.push(text.chars().count());
                // What can't be shown whole need not be held whole.
                *text = cut(text, cut_to.unwrap_or(room));
            }
            all.push(said);
        }
        let least = cut_to.unwrap_or_else(|| level(lengths, room));
        let items = all.iter().map(|said| {
            let lines = said.iter().map(|(place, what, text)| told(place, what, &cut(text, least)));
            lines.flatten().collect::<Item>()
        });
        let is_more = is_long && visible.len() > from + all.len();
        Ok(Page::of(from, items.collect::<Vec<_>>(), MOST, is_more))
    }

    fn place(&self, record: &Record) -> String {
        let place = place(self.id, self.agent, record.number.map(u64::from));
        format!("{place}{}", minute(wire::time(record.time).as_deref()))
    }
}

/// The entry and those near to it, whatever branch they are on.
fn around(session: &Session, entry: u32) -> Result<Vec<usize>, Refusal> {
    let nodes = session.nodes();
    let at = nodes.iter().position(|node| node.number == entry);
    let at = at.ok_or_else(|| Refusal(format!("The session has no entry {entry}")))?;
    Ok((at.saturating_sub(AROUND)..nodes.len().min(at + AROUND + 1)).collect())
}

/// What a record says, piece by piece: who or what, and the words.
fn pieces(record: &Record, detail: Detail) -> Vec<(String, String)> {
    let mut all = Vec::new();
    match &record.body {
        Body::Prompt { text, .. } => all.push(("person".to_owned(), text.clone())),
        Body::Answer { parts } => all.extend(parts.iter().filter_map(model)),
        Body::Calls { parts, calls } => {
            all.extend(parts.iter().filter_map(model));
            calls.iter().for_each(|one| call(one, detail, &mut all));
        }
        Body::LoneResult { outcome, .. } => all.extend(output(outcome)),
        Body::Compaction { .. } => {
            all.push(("compaction".into(), "what is above was compacted".into()))
        }
        Body::Summary { text } => all.push(("summary".into(), text.clone())),
        Body::Note { name, text } => all.push((name.clone(), text.clone().unwrap_or_default())),
        Body::TooLarge => all.push(("too large to be read".into(), String::new())),
        Body::Damaged { text } => all.push(("damaged".into(), text.clone())),
    }
    all
}

fn model(part: &Part) -> Option<(String, String)> {
    match part {
        Part::Text(text) => Some(("model".into(), text.clone())),
        Part::Thinking(_) | Part::Other { .. } => None,
    }
}

fn call(call: &CallRecord, detail: Detail, all: &mut Vec<(String, String)>) {
    if detail < Detail::Work {
        return;
    }
    let about = call.subject.as_ref().unwrap_or(&call.input);
    all.push((format!("{} call", call.tool), about.clone()));
    all.extend(call.outcome.as_ref().and_then(output));
}

fn output(outcome: &Outcome) -> Option<(String, String)> {
    let what = if outcome.is_error { "failed" } else { "output" };
    Some((what.into(), outcome.text.clone()?))
}

/// The length to which all texts are cut so that together they have no more than `room`.
fn level(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, mut count) = (room, lengths.len());
    for length in lengths {
        let share = left / count;
        if length > share {
            return share.max(1);
        }
        left -= length;
        count -= 1;
    }
    usize::MAX
}

/// The first characters of a text, up to the end of a word.
fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let head = &text[..end];
    let end = head.rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_cut_to_one_length_at_which_they_fit() {
        assert_eq!(level(vec![10, 20, 30], 100), usize::MAX);
        assert_eq!(level(vec![10, 500, 500], 110), 50);
        assert_eq!(level(vec![5, 1, 1_000_000], 106), 100);
        assert_eq!(level(vec![], 10), usize::MAX);
        for lengths in [vec![3, 9, 27, 81, 243], vec![100; 7], vec![1, 1_000]] {
            let least = level(lengths.clone(), 120);
            let sum: usize = lengths.iter().map(|length| length.min(&least)).sum();
            assert!(sum <= 120 && sum > 110, "{sum}");
        }
    }

    #[test]
    fn only_places_name_a_session() {
        let name = Name::of("3f2a/a1#12").unwrap();
        assert_eq!(
            (&*name.session, name.agent.as_deref(), name.entry),
            ("3f2a", Some("a1"), Some(12))
        );
        for wrong in ["", "/etc/passwd", "../x", "-", "--help", "a#b", "a b", "x.jsonl", "a/../b"] {
            assert!(Name::of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(cut("one two three", 9), "one two…");
        assert_eq!(cut("one", 9), "one");
        assert_eq!(cut("ööööö", 3), "ööö…");
    }
}

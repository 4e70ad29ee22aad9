//! What the entries of a session say, so that all of it is searched in a moment.
//!
//! Each entry's words depend on nothing but its own line: a result is read where it stands, and
//! told with its call only when something is found in it. So of a file that grew only what is new
//! is read.

use std::sync::Arc;

use memchr::memmem;
use rayon::prelude::*;
use report::export::cover::Cover;
use transcript::reading::EntryReading;
use transcript::record::{Body, LARGEST, Opened, Part, Record};
use transcript::session::{Role, Session};

/// No more than this is held of one session; what comes after is not found, and that is said.
const MOST: usize = 64 << 20;
/// Entries are read in runs of so many.
const RUN: usize = 64;
/// A run that is shorter than this is read into the next.
const SHORT: usize = 64 << 10;

/// What of an entry is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// What its record shows.
    Records,
    /// Its line as it stands in the file.
    Lines,
}

/// The texts of all entries, in small letters.
pub struct Words {
    of: Of,
    runs: Vec<Arc<Run>>,
    /// The entries that were read, and where the last of them stands.
    read: usize,
    last: Option<(u64, u32)>,
    /// Whether there was more than is held.
    pub is_cut: bool,
}

/// The texts of some entries that follow each other.
#[derive(Default)]
struct Run {
    text: String,
    /// Where the text of each entry begins, and its node.
    starts: Vec<(usize, usize)>,
}

impl Words {
    /// Reads all entries. What was read before is not read again, if the session has only grown.
    pub fn of<'c>(
        opened: &Opened<'_>,
        of: Of,
        cover: &(dyn Fn() -> Cover<'c> + Sync),
        before: Option<&Self>,
    ) -> Self {
        let session = opened.session();
        let before = before.filter(|before| before.of == of && before.is_beginning(session));
        let mut words = Self { of, runs: Vec::new(), read: 0, last: None, is_cut: false };
        if let Some(before) = before {
            words.runs.clone_from(&before.runs);
            (words.read, words.is_cut) = (before.read, before.is_cut);
        }
        let nodes: Vec<usize> = (words.read..session.nodes().len()).collect();
        let new: Vec<Run> =
            nodes.par_chunks(RUN).map(|nodes| run(opened, of, &mut cover(), nodes)).collect();
        new.into_iter().for_each(|run| words.add(run));
        words.read = session.nodes().len();
        words.last = place(session, words.read);
        words
    }

    /// Whether a session begins with what was read here.
    fn is_beginning(&self, session: &Session) -> bool {
        self.read <= session.nodes().len() && self.last == place(session, self.read)
    }

    /// How many entries were read.
    pub fn is_of(&self, of: Of, session: &Session) -> bool {
        self.of == of && self.read == session.nodes().len() && self.is_beginning(session)
    }

    fn add(&mut self, run: Run) {
        let held: usize = self.runs.iter().map(|run| run.text.len()).sum();
        if self.is_cut || held + run.text.len() > MOST {
            self.is_cut = true;
            return;
        }
        match self.runs.pop_if(|last| last.text.len() < SHORT) {
            Some(last) => {
                let mut text = last.text.clone();
                let mut starts = last.starts.clone();
                starts.extend(run.starts.iter().map(|(at, node)| (text.len() + at, *node)));
                text.push_str(&run.text);
                self.runs.push(Arc::new(Run { text, starts }));
            }
            None => self.runs.push(Arc::new(run)),
        }
    }

    /// The nodes whose records say it, each with how often, in their order.
    pub fn find(&self, opened: &Opened<'_>, wanted: &str) -> Vec<(usize, usize)> {
        let wanted = wanted.to_lowercase();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(usize, usize)> =
            self.runs.iter().flat_map(|run| run.find(wanted.as_bytes())).collect();
        if self.of == Of::Records {
            found.iter_mut().for_each(|(node, _)| *node = opened.shown_at(*node));
            found.sort_by_key(|(node, _)| *node);
        }
        found.dedup_by(|next, last| {
            let is_same = next.0 == last.0;
            last.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        found
    }
}

impl Run {
    fn find(&self, wanted: &[u8]) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut at_entry = 0;
        for at in memmem::find_iter(self.text.as_bytes(), wanted) {
            while self.starts.get(at_entry + 1).is_some_and(|(start, _)| *start <= at) {
                at_entry += 1;
            }
            let node = self.starts[at_entry].1;
            match found.last_mut() {
                Some((last, count)) if *last == node => *count += 1,
                _ => found.push((node, 1)),
            }
        }
        found
    }
}

/// Where the last of the first `count` entries stands.
fn place(session: &Session, count: usize) -> Option<(u64, u32)> {
    let last = &session.nodes()[count.checked_sub(1)?];
    Some((last.offset, last.length))
}

fn run(opened: &Opened<'_>, of: Of, cover: &mut Cover<'_>, nodes: &[usize]) -> Run {
    let mut run = Run::default();
    for &node in nodes {
        run.starts.push((run.text.len(), node));
        let text = &mut run.text;
        let mut each = |part: &str| {
            text.push_str(&part.to_lowercase());
            text.push('\n');
        };
        match of {
            Of::Lines => line(opened, node, cover).iter().for_each(|line| each(line)),
            Of::Records => said(opened, node, cover, &mut each),
        }
    }
    run
}

/// An entry as it stands in the file. What can't be read any more says nothing.
fn line(opened: &Opened<'_>, node: usize, cover: &mut Cover<'_>) -> Option<String> {
    let mut line = opened.line(node).ok()?;
    cover.json(&mut line, 0);
    Some(line)
}

/// Everything that the record of an entry shows, but for what came of its calls.
fn said(opened: &Opened<'_>, node: usize, cover: &mut Cover<'_>, each: &mut dyn FnMut(&str)) {
    let entry = &opened.session().nodes()[node];
    if matches!(entry.role, Role::Call | Role::Result) && entry.length <= LARGEST {
        let Some(line) = line(opened, node, cover) else { return };
        EntryReading::from_bytes(line.as_bytes()).each_text(each);
        return;
    }
    let Ok(Some(mut record)) = opened.record(node) else { return };
    cover.record(&mut record);
    body(&record, each);
}

fn body(record: &Record, each: &mut dyn FnMut(&str)) {
    match &record.body {
        Body::Prompt { text, .. } | Body::Summary { text } | Body::Damaged { text } => each(text),
        Body::Answer { parts } => {
            for part in parts {
                if let Part::Text(text) | Part::Thinking(Some(text)) = part {
                    each(text);
                }
            }
        }
        Body::Note { name, text } => {
            each(name);
            text.iter().for_each(|text| each(text));
        }
        Body::Calls { .. } | Body::LoneResult { .. } => {}
        Body::Compaction { .. } | Body::TooLarge => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::session::{Builder, Options};
    use transcript::source::Source;

    const LINES: [&str; 3] = [
        r#"{"parentUuid":null,"uuid":"a","sessionId":"s","type":"user","message":{"role":"user","content":"Where is the Tile cache?"}}"#,
        r#"{"parentUuid":"a","uuid":"b","sessionId":"s","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls \"tile cache\"","timeout":7000,"list":[{"deep":"tiles"}]}}]}}"#,
        r#"{"parentUuid":"b","uuid":"c","sessionId":"s","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"TILE one\ntile two"}]},"toolUseResult":{"stdout":"tile tile tile","stderr":"oops"}}"#,
    ];

    /// The words of a file of the first lines, and what is found with them.
    fn finds(
        count: usize,
        of: Of,
        before: Option<&Words>,
        wanted: &[&str],
    ) -> (Words, Vec<Vec<(usize, usize)>>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, LINES[..count].join("\n") + "\n").expect("written");
        let sources = [Source::open(&path).expect("there")];
        let mut builder = Builder::new();
        sources[0].read_into(&mut builder).expect("readable");
        let session = builder.finish(&Options::default());
        let opened = Opened::new(&session, &sources, false);
        let words = Words::of(&opened, of, &Cover::none, before);
        let found = wanted.iter().map(|wanted| words.find(&opened, wanted)).collect();
        (words, found)
    }

    const WANTED: [&str; 7] =
        ["tile", "ls \"tile cache\"", "stdout", "", "7000", "oops", "tile two"];

    #[test]
    fn what_records_show_is_found_and_nothing_else() {
        let (_, found) = finds(3, Of::Records, None, &WANTED);
        assert_eq!(found[0], [(0, 1), (1, 4)], "what is stored twice is found once");
        assert_eq!(found[1], [(1, 1)], "as it is shown, not as it is stored");
        assert_eq!(found[2..], [vec![], vec![], vec![(1, 1)], vec![(1, 1)], vec![(1, 1)]]);
    }

    #[test]
    fn lines_are_found_as_they_stand() {
        let (_, found) = finds(3, Of::Lines, None, &["stdout", "tile two", r#"ls \"tile"#]);
        assert_eq!(found, [vec![(2, 1)], vec![(2, 1)], vec![(1, 1)]]);
    }

    #[test]
    fn what_grew_is_as_if_it_was_read_at_once_and_only_the_new_is_read() {
        let (one, _) = finds(1, Of::Records, None, &[]);
        let (two, _) = finds(2, Of::Records, Some(&one), &[]);
        let (_, grown) = finds(3, Of::Records, Some(&two), &WANTED);
        assert_eq!(grown, finds(3, Of::Records, None, &WANTED).1);
        // What was read before is taken as it is.
        let mut odd = finds(2, Of::Records, None, &[]).0;
        odd.runs = vec![Arc::new(Run { text: "odd\n".into(), starts: vec![(0, 0)] })];
        let (_, found) = finds(3, Of::Records, Some(&odd), &["odd", "where", "tile two"]);
        assert_eq!(found, [vec![(0, 1)], vec![], vec![(1, 1)]]);
        // Of another kind, or of another file, nothing is.
        assert_eq!(finds(3, Of::Lines, Some(&odd), &["odd"]).1, [vec![]]);
        odd.last = Some((1, 1));
        assert_eq!(finds(3, Of::Records, Some(&odd), &["odd"]).1, [vec![]]);
    }
}

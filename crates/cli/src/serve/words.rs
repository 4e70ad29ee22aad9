//! What the records of a session say, as one text, so that all of it is searched in a moment.

use memchr::memmem;
use rayon::prelude::*;
use report::record::{Body, Opened, Part, Record};
use transcript::session::Session;
use transcript::source::Source;

/// No more than this is held of one session; what comes after is not found, and that is said.
const MOST: usize = 64 << 20;
/// Records are read in runs of so many.
const RUN: usize = 64;

/// The texts of all records, in small letters, one after the other.
pub struct Words {
    text: String,
    /// Where the text of each record begins, and its node.
    starts: Vec<(usize, usize)>,
    /// Whether there was more than is held.
    pub is_cut: bool,
}

impl Words {
    /// Reads all records.
    pub fn of(session: &Session, sources: &[Source]) -> Self {
        let opened = Opened::new(session, sources, false);
        let nodes: Vec<usize> = (0..session.nodes().len()).collect();
        let parts: Vec<(String, Vec<(usize, usize)>)> =
            nodes.par_chunks(RUN).map(|nodes| run(&opened, nodes)).collect();
        let mut words = Self { text: String::new(), starts: Vec::new(), is_cut: false };
        for (text, starts) in parts {
            if words.text.len() + text.len() > MOST {
                words.is_cut = true;
                break;
            }
            let from = words.text.len();
            words.starts.extend(starts.into_iter().map(|(at, node)| (from + at, node)));
            words.text.push_str(&text);
        }
        words
    }

    /// The nodes whose records say it, each with how often, in their order.
    pub fn find(&self, wanted: &str) -> Vec<(usize, usize)> {
        let wanted = wanted.to_lowercase();
        let mut found: Vec<(usize, usize)> = Vec::new();
        if wanted.is_empty() {
            return found;
        }
        let mut record = 0;
        for at in memmem::find_iter(self.text.as_bytes(), wanted.as_bytes()) {
            while self.starts.get(record + 1).is_some_and(|(start, _)| *start <= at) {
                record += 1;
            }
            let node = self.starts[record].1;
            match found.last_mut() {
                Some((last, count)) if *last == node => *count += 1,
                _ => found.push((node, 1)),
            }
        }
        found
    }
}

fn run(opened: &Opened<'_>, nodes: &[usize]) -> (String, Vec<(usize, usize)>) {
    let (mut text, mut starts) = (String::new(), Vec::new());
    for &node in nodes {
        // What can't be read any more says nothing.
        let Ok(Some(record)) = opened.record(node) else { continue };
        starts.push((text.len(), node));
        said(&record, |part| {
            text.push_str(&part.to_lowercase());
            text.push('\n');
        });
    }
    (text, starts)
}

/// Everything that a record shows.
fn said(record: &Record, mut each: impl FnMut(&str)) {
    let parts = |parts: &[Part], each: &mut dyn FnMut(&str)| {
        for part in parts {
            if let Part::Text(text) | Part::Thinking(Some(text)) = part {
                each(text);
            }
        }
    };
    match &record.body {
        Body::Prompt { text, .. } | Body::Summary { text } | Body::Damaged { text } => each(text),
        Body::Answer { parts: all } => parts(all, &mut each),
        Body::Calls { parts: all, calls } => {
            parts(all, &mut each);
            for call in calls {
                each(&call.tool);
                let input: Option<serde_json::Value> = serde_json::from_str(&call.input).ok();
                match &input {
                    Some(value) => strings(value, &mut each),
                    None => each(&call.input),
                }
                if let Some(text) = call.outcome.as_ref().and_then(|o| o.text.as_deref()) {
                    each(text);
                }
            }
        }
        Body::LoneResult { outcome, .. } => {
            if let Some(text) = &outcome.text {
                each(text);
            }
        }
        Body::Note { name, text } => {
            each(name);
            if let Some(text) = text {
                each(text);
            }
        }
        Body::Compaction { .. } | Body::TooLarge => {}
    }
}

/// The texts in an input, without its names and marks.
fn strings(value: &serde_json::Value, each: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => each(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, each)),
        serde_json::Value::Object(fields) => fields.values().for_each(|item| strings(item, each)),
        serde_json::Value::Number(number) => each(&number.to_string()),
        serde_json::Value::Bool(_) | serde_json::Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::session::{Builder, Options};

    #[test]
    fn what_records_show_is_found_and_nothing_else() {
        let lines = [
            r#"{"parentUuid":null,"uuid":"a","sessionId":"s","type":"user","message":{"role":"user","content":"Where is the Tile cache?"}}"#,
            r#"{"parentUuid":"a","uuid":"b","sessionId":"s","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls \"tile cache\""}}]}}"#,
            r#"{"parentUuid":"b","uuid":"c","sessionId":"s","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"TILE one\ntile two"}]},"toolUseResult":{"stdout":"tile tile tile"}}"#,
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n").expect("written");
        let source = Source::open(&path).expect("there");
        let mut builder = Builder::new();
        source.read_into(&mut builder).expect("readable");
        let words = Words::of(&builder.finish(&Options::default()), &[source]);
        assert_eq!(words.find("tile"), [(0, 1), (1, 3)], "what is stored twice is found once");
        assert_eq!(
            words.find("ls \"tile cache\""),
            [(1, 1)],
            "as it is shown, not as it is stored"
        );
        assert_eq!(words.find("stdout"), []);
        assert_eq!(words.find(""), []);
    }
}

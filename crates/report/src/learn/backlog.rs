//! The backlog of learnings: a file of Markdown that a person reads and edits.
//!
//! Every learning is a heading with its id and title, and a list of `name: value`. Whatever else a
//! person has written there stays where it is.

use super::{Candidate, plain};

/// What the file begins with.
const HEAD: &str = "# Learnings\n\nKept by `recount learn`: correct the texts as you like. `status` is open, applied or rejected.\n";

/// The heading in a `CLAUDE.md` under which learnings stand.
pub const HEADING: &str = "## Learned from sessions";

/// A learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learning {
    /// Eight letters that name it.
    pub id: String,
    /// A few words.
    pub title: String,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Field(String, String),
    Other(String),
}

impl Learning {
    /// A new one, open.
    pub fn new(id: &str, title: &str) -> Self {
        let mut new =
            Self { id: id.into(), title: plain(title), lines: vec![Line::Other(String::new())] };
        new.set("status", "open");
        new
    }

    /// A value by its name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.lines.iter().find_map(|line| match line {
            Line::Field(known, value) if known == name => Some(value.as_str()),
            _ => None,
        })
    }

    /// Writes a value, in its place if there is one.
    pub fn set(&mut self, name: &str, value: &str) {
        let value = plain(value);
        let known = self.lines.iter_mut().find_map(|line| match line {
            Line::Field(known, value) if known == name => Some(value),
            _ => None,
        });
        if let Some(known) = known {
            *known = value;
            return;
        }
        let last = self.lines.iter().rposition(|line| matches!(line, Line::Field(..)));
        let at = last.map_or(self.lines.len(), |at| at + 1);
        self.lines.insert(at, Line::Field(name.into(), value));
    }

    /// `open`, `applied`, `rejected`, or what a person has made of it.
    pub fn status(&self) -> &str {
        self.get("status").unwrap_or("open")
    }

    /// Takes over what was counted anew. Texts that a person may have corrected stay.
    pub fn count(&mut self, candidate: &Candidate, sources: &str, target: &str) {
        for (name, value) in [
            ("kind", candidate.kind.name()),
            ("key", &candidate.key.replace('\n', " | ")),
            ("problem", candidate.problem.as_str()),
            ("solution", candidate.solution.as_str()),
            ("target", target),
        ] {
            if self.get(name).is_none() {
                self.set(name, value);
            }
        }
        self.set("confidence", &format!("{:.2}", candidate.confidence));
        self.set("seen", &format!("{} times in {} sessions", candidate.count, candidate.sessions));
        self.set("sources", sources);
    }

    /// The line of it in a `CLAUDE.md`.
    fn applied(&self) -> String {
        let text = self.get("solution").unwrap_or(&self.title);
        // A comment in it must not end the one that names it.
        let text = text.replace("-->", "- ->").replace("<!--", "<! --");
        format!("- {text} {}", self.mark())
    }

    fn mark(&self) -> String {
        format!("<!-- recount {} -->", self.id)
    }
}

/// All learnings of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    head: String,
    /// The learnings, in their order.
    pub learnings: Vec<Learning>,
}

impl Backlog {
    /// Reads a file; an empty one has only its head.
    pub fn read(text: &str) -> Self {
        let mut all = Self { head: String::new(), learnings: Vec::new() };
        for line in text.lines() {
            if let Some((id, title)) = heading(line) {
                let (id, title) = (id.to_owned(), title.to_owned());
                all.learnings.push(Learning { id, title, lines: Vec::new() });
            } else if let Some(last) = all.learnings.last_mut() {
                last.lines.push(match field(line) {
                    Some((name, value)) => Line::Field(name.into(), value.into()),
                    None => Line::Other(line.into()),
                });
            } else {
                all.head.push_str(line);
                all.head.push('\n');
            }
        }
        if text.trim().is_empty() {
            all.head = HEAD.into();
        }
        all
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = self.head.clone();
        for one in &self.learnings {
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.push('\n');
            }
            text += &format!("## {} {}\n", one.id, one.title);
            for line in &one.lines {
                match line {
                    Line::Field(name, value) => text += &format!("- {name}: {value}\n"),
                    Line::Other(line) => text += &format!("{line}\n"),
                }
            }
        }
        text
    }

    /// A learning by its id, or the beginning of one.
    pub fn find(&mut self, id: &str) -> Option<&mut Learning> {
        let mut all =
            self.learnings.iter_mut().filter(|one| !id.is_empty() && one.id.starts_with(id));
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }
}

fn heading(line: &str) -> Option<(&str, &str)> {
    let (id, title) = line.strip_prefix("## ")?.split_once(' ')?;
    let is_id = id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit());
    is_id.then_some((id, title))
}

fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix("- ")?.split_once(": ")?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    is_name.then_some((name, value))
}

/// A `CLAUDE.md` with a learning under its heading; the same text if it is there already.
pub fn apply(text: &str, learning: &Learning) -> String {
    let (mark, new) = (learning.mark(), learning.applied());
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(known) = lines.iter_mut().find(|line| line.ends_with(&mark)) {
        *known = new;
    } else if let Some(at) = lines.iter().position(|line| line.trim_end() == HEADING) {
        let is_item = |line: &String| line.starts_with("- ");
        let skip = lines[at + 1..].iter().take_while(|line| line.trim().is_empty()).count();
        let items = lines[at + 1 + skip..].iter().take_while(|line| is_item(line)).count();
        match items {
            0 => {
                lines.insert(at + 1, String::new());
                lines.insert(at + 2, new);
            }
            items => lines.insert(at + 1 + skip + items, new),
        }
    } else {
        if lines.last().is_some_and(|line| !line.trim().is_empty()) {
            lines.push(String::new());
        }
        lines.extend([HEADING.to_owned(), String::new(), new]);
    }
    let all = lines.join("\n") + "\n";
    // Only the end of the last line may differ where nothing else does.
    if all.trim_end_matches('\n') == text.trim_end_matches('\n') { text.to_owned() } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_writes_stays() {
        let text = "# Mine\n\nwords\n\n## a1b2c3d4 A title\n\n- status: open\n- solution: Do x: y\n\nA remark.\n- my: own\n\n## Not one\n";
        let mut all = Backlog::read(text);
        assert_eq!(all.text(), text);
        assert_eq!(all.learnings.len(), 1);
        let one = all.find("a1b").unwrap();
        assert_eq!((one.get("solution"), one.status()), (Some("Do x: y"), "open"));
        one.set("status", "rejected");
        assert_eq!(all.text(), text.replace("open", "rejected"));
        assert_eq!(Backlog::read(&all.text()), all);
        all.learnings.push(Learning::new("00000000", "New\n## ffffffff one"));
        let again = Backlog::read(&all.text());
        assert_eq!((again.learnings.len(), again.text()), (2, all.text()));
    }

    #[test]
    fn applying_twice_is_applying_once() {
        let mut one = Learning::new("a1b2c3d4", "Title");
        one.set("solution", "Use `x` --> <!-- y");
        let mut two = Learning::new("ffffffff", "Title");
        two.set("solution", "Second");
        for before in
            ["", "# Project\n\nRules.\n", "# P\n\n## Learned from sessions\n\nText.\n\n## More\n"]
        {
            let once = apply(before, &one);
            assert_eq!(apply(&once, &one), once);
            assert!(once.contains("- Use `x` - -> <! -- y <!-- recount a1b2c3d4 -->\n"), "{once}");
            let both = apply(&once, &two);
            assert_eq!(both.matches(HEADING).count(), 1);
            assert_eq!(apply(&apply(&both, &one), &two), both);
            let at = |text: &str| both.find(text).unwrap();
            assert!(at("a1b2c3d4") < at("ffffffff") && at(HEADING) < at("a1b2c3d4"), "{both}");
            assert!(!before.contains("## More") || at("ffffffff") < at("## More"), "{both}");
        }
    }
}

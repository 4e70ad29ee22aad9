//! JSON that a person has written, changed in one place and left alone everywhere else: order,
//! indentation and comments stay.
//!
//! Comments and commas before a closing bracket are read, though strict JSON has none: whatever
//! reads the file may allow them.

use std::ops::Range;

use serde::Serialize;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
struct Value {
    at: Range<usize>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Object(Vec<(String, Member)>),
    Array(Vec<Value>),
    Other,
}

#[derive(Debug, Clone, PartialEq)]
struct Member {
    /// Where its name begins.
    start: usize,
    value: Value,
}

/// A step into a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step<'a> {
    /// A member of an object.
    Key(&'a str),
    /// An element of a list.
    At(usize),
}

/// The text is no JSON, from this line on.
#[derive(Debug, PartialEq, Eq)]
pub struct NoJson {
    /// The line, from 1.
    pub line: usize,
}

/// A document that can be changed.
#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    root: Value,
}

impl Document {
    /// Reads a document; an empty one is an empty object.
    pub fn read(text: &str) -> Result<Self, NoJson> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let mut reader = Reader { text, at: 0, depth: 0 };
        let root = reader.whole().ok_or_else(|| NoJson {
            line: text[..reader.at.min(text.len())].matches('\n').count() + 1,
        })?;
        Ok(Self { text: text.to_owned(), root })
    }

    /// The document as it is now.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn value(&self, path: &[Step<'_>]) -> Option<&Value> {
        path.iter().try_fold(&self.root, |value, step| match (&value.kind, step) {
            (Kind::Object(members), Step::Key(key)) => {
                members.iter().find(|(name, _)| name == key).map(|(_, member)| &member.value)
            }
            (Kind::Array(items), Step::At(at)) => items.get(*at),
            _ => None,
        })
    }

    /// What stands at a place, as JSON.
    pub fn get(&self, path: &[Step<'_>]) -> Option<serde_json::Value> {
        fn json(text: &str, value: &Value) -> Option<serde_json::Value> {
            Some(match &value.kind {
                Kind::Object(members) => serde_json::Value::Object(
                    members
                        .iter()
                        .map(|(name, member)| Some((name.clone(), json(text, &member.value)?)))
                        .collect::<Option<_>>()?,
                ),
                Kind::Array(items) => {
                    items.iter().map(|item| json(text, item)).collect::<Option<_>>()?
                }
                Kind::Other => serde_json::from_str(&text[value.at.clone()]).ok()?,
            })
        }
        json(&self.text, self.value(path)?)
    }

    /// How many elements or members there are at a place.
    pub fn count(&self, path: &[Step<'_>]) -> usize {
        match self.value(path).map(|value| &value.kind) {
            Some(Kind::Object(members)) => members.len(),
            Some(Kind::Array(items)) => items.len(),
            _ => 0,
        }
    }

    /// Adds a member to an object, or replaces its value. Objects on the way are made; `false` if
    /// something else stands there.
    pub fn set(&mut self, path: &[&str], value: &impl Serialize) -> bool {
        let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
        if let Some(known) = self.value(&steps) {
            let new = self.pretty(value, path.len());
            self.replace(known.at.clone(), &new);
            return true;
        }
        let Some((last, way)) = path.split_last() else { return false };
        for depth in 0..way.len() {
            if self.value(&steps[..=depth]).is_none()
                && !self.insert(&steps[..depth], Some(way[depth]), "{}")
            {
                return false;
            }
        }
        let new = self.pretty(value, path.len());
        self.insert(&steps[..way.len()], Some(last), &new)
    }

    /// Adds an element to a list, which is made if there is none.
    pub fn push(&mut self, path: &[&str], value: &impl Serialize) -> bool {
        let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
        if self.value(&steps).is_none() {
            return self.set(path, &[value]);
        }
        let new = self.pretty(value, path.len() + 1);
        self.insert(&steps, None, &new)
    }

    /// Takes a member or an element away.
    pub fn remove(&mut self, path: &[Step<'_>]) -> bool {
        let Some((last, way)) = path.split_last() else { return false };
        let Some(holder) = self.value(way) else { return false };
        let parts: Vec<Range<usize>> = match &holder.kind {
            Kind::Object(all) => all.iter().map(|(_, m)| m.start..m.value.at.end).collect(),
            Kind::Array(all) => all.iter().map(|value| value.at.clone()).collect(),
            Kind::Other => return false,
        };
        let number = match (&holder.kind, last) {
            (Kind::Object(all), Step::Key(key)) => all.iter().position(|(name, _)| name == key),
            (Kind::Array(all), Step::At(at)) => (*at < all.len()).then_some(*at),
            _ => None,
        };
        let Some(number) = number else { return false };
        let (gone, stays) = match (number, parts.get(number + 1)) {
            (_, Some(next)) => (parts[number].start..next.start, String::new()),
            (0, None) => (holder.at.start + 1..holder.at.end - 1, String::new()),
            (_, None) => {
                let before = parts[number - 1].end;
                (before..parts[number].end, self.without_comma(before, parts[number].start))
            }
        };
        self.replace(gone, &stays);
        true
    }

    /// The comments between two members, without the comma.
    fn without_comma(&self, from: usize, to: usize) -> String {
        let mut reader = Reader { text: &self.text, at: from, depth: 0 };
        let comma = reader.space().map_or(from, |()| reader.at);
        let rest = self.text.get(comma + 1..to).unwrap_or_default();
        format!("{}{rest}", &self.text[from..comma]).trim_end().to_owned()
    }

    /// Puts something behind the last of an object or a list.
    fn insert(&mut self, path: &[Step<'_>], name: Option<&str>, new: &str) -> bool {
        let Some(holder) = self.value(path) else { return false };
        let last = match (&holder.kind, name) {
            (Kind::Object(all), Some(_)) => all.last().map(|(_, member)| member.value.at.end),
            (Kind::Array(all), None) => all.last().map(|value| value.at.end),
            _ => return false,
        };
        let name = name.map(|name| format!("{}: ", serde_json::Value::from(name)));
        let new = format!("{}{new}", name.unwrap_or_default());
        let (outer, inner) = (self.indent(path.len()), self.indent(path.len() + 1));
        let Some(last) = last else {
            let at = holder.at.clone();
            let open = &self.text[at.start..=at.start];
            let close = &self.text[at.end - 1..at.end];
            // What is between the brackets is white space, or a comment that stays.
            let between = self.text[at.start + 1..at.end - 1].trim_end().to_owned();
            let all = format!("{open}{between}\n{inner}{new}\n{outer}{close}");
            self.replace(at, &all);
            return true;
        };
        let is_long = self.text[holder.at.clone()].contains('\n');
        if !is_long {
            self.replace(last..last, &format!(", {new}"));
            return true;
        }
        // A comment behind the last one belongs to it, and stays on its line.
        let end = self.text[last..].find('\n').map_or(self.text.len(), |at| last + at);
        let rest = self.text[last..end].trim_start();
        let (has_comma, rest) = match rest.strip_prefix(',') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, rest),
        };
        let place = if rest.starts_with("//") || rest.starts_with("/*") { end } else { last };
        let between = &self.text[last..place];
        let all = match has_comma && place == end {
            true => format!("{between}\n{inner}{new},"),
            false => format!(",{between}\n{inner}{new}"),
        };
        self.replace(last..place, &all);
        true
    }

    fn replace(&mut self, at: Range<usize>, new: &str) {
        self.text.replace_range(at, new);
        let read = Self::read(&self.text).expect("what was JSON is JSON with JSON put into it");
        self.root = read.root;
    }

    fn pretty(&self, value: &impl Serialize, depth: usize) -> String {
        let text = serde_json::to_string_pretty(value).expect("plain values can be written");
        let mut out = String::new();
        for (number, line) in text.lines().enumerate() {
            let inner = line.trim_start();
            if number > 0 {
                out.push('\n');
                out.push_str(&self.indent(depth + (line.len() - inner.len()) / 2));
            }
            out.push_str(inner);
        }
        out
    }

    /// The white space before something so deep, as the document has it.
    fn indent(&self, depth: usize) -> String {
        let first = match &self.root.kind {
            Kind::Object(members) => members.first().map(|(_, member)| member.start),
            _ => None,
        };
        let unit = first.and_then(|first| {
            let line = &self.text[self.text[..first].rfind('\n')? + 1..first];
            (!line.is_empty() && line.trim().is_empty()).then(|| line.to_owned())
        });
        unit.unwrap_or_else(|| "  ".into()).repeat(depth)
    }
}

/// No file of settings is nested deeper.
const DEEPEST: usize = 200;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn whole(&mut self) -> Option<Value> {
        // The mark that some editors put first is no part of it.
        self.at = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        let value = self.value()?;
        self.space()?;
        (self.at == self.text.len() && matches!(value.kind, Kind::Object(_))).then_some(value)
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Past white space and comments.
    fn space(&mut self) -> Option<()> {
        loop {
            match self.rest() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [b'/', b'/', ..] => {
                    let end = self.text[self.at..].find('\n');
                    self.at = end.map_or(self.text.len(), |end| self.at + end);
                }
                [b'/', b'*', ..] => self.at += self.text[self.at..].find("*/")? + 2,
                _ => return Some(()),
            }
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.space()?;
        let start = self.at;
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let kind = match self.rest().first()? {
            b'{' => self.object()?,
            b'[' => self.array()?,
            b'"' => self.string().map(|_| Kind::Other)?,
            _ => {
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
                self.at += self.rest().iter().take_while(|b| is_part(b)).count();
                serde_json::from_str::<serde_json::Value>(&self.text[start..self.at]).ok()?;
                Kind::Other
            }
        };
        self.depth -= 1;
        Some(Value { at: start..self.at, kind })
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.rest() {
                [b'\\', _, ..] => self.at += 2,
                [b'"', ..] => break,
                [_, ..] => self.at += 1,
                [] => return None,
            }
        }
        self.at += 1;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }

    /// Past a comma; `false` at the closing bracket.
    fn is_next(&mut self, close: u8) -> Option<bool> {
        self.space()?;
        match *self.rest().first()? {
            b',' => {
                self.at += 1;
                self.space()?;
                Some(*self.rest().first()? != close)
            }
            byte if byte == close => Some(false),
            _ => None,
        }
    }

    fn object(&mut self) -> Option<Kind> {
        self.at += 1;
        self.space()?;
        let mut members = Vec::new();
        let mut goes_on = *self.rest().first()? != b'}';
        while goes_on {
            self.space()?;
            let start = self.at;
            let name = (*self.rest().first()? == b'"').then(|| self.string())??;
            self.space()?;
            (*self.rest().first()? == b':').then_some(())?;
            self.at += 1;
            members.push((name, Member { start, value: self.value()? }));
            goes_on = self.is_next(b'}')?;
        }
        self.at += 1;
        Some(Kind::Object(members))
    }

    fn array(&mut self) -> Option<Kind> {
        self.at += 1;
        self.space()?;
        let mut items = Vec::new();
        let mut goes_on = *self.rest().first()? != b']';
        while goes_on {
            items.push(self.value()?);
            goes_on = self.is_next(b']')?;
        }
        self.at += 1;
        Some(Kind::Array(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "// mine\n{\n    \"z\": 1, // last letter\n    \"a\": {\"x\": [1, 2]},\n    /* old */\n    \"m\": \"\\\"}\" // end\n}\n";

    #[test]
    fn what_is_put_in_and_taken_out_again_leaves_no_trace() {
        for before in [OWN, "{}\n", "{\"a\": {}}", "{\n\t\"b\": [\n\t\t1\n\t]\n}\n", "{\"a\":1,}"] {
            let mut document = Document::read(before).unwrap();
            assert!(document.set(&["new", "deep"], &[1, 2]));
            assert!(document.push(&["list"], &"x") && document.push(&["list"], &"y"));
            assert_eq!(document.get(&[Step::Key("list")]), Some(serde_json::json!(["x", "y"])));
            assert!(
                document.text().lines().count() > before.lines().count() || !before.contains('\n')
            );
            for path in [[Step::Key("list")], [Step::Key("new")]] {
                assert!(document.remove(&path));
            }
            assert_eq!(document.text(), before);
        }
    }

    #[test]
    fn order_indentation_and_comments_stay() {
        let mut document = Document::read(OWN).unwrap();
        assert!(document.push(&["a", "x"], &3));
        assert!(document.set(&["n"], &serde_json::json!({"k": true})));
        assert_eq!(
            document.text(),
            "// mine\n{\n    \"z\": 1, // last letter\n    \"a\": {\"x\": [1, 2, 3]},\n    /* old */\n    \"m\": \"\\\"}\", // end\n    \"n\": {\n        \"k\": true\n    }\n}\n"
        );
        assert!(!document.set(&["z", "under"], &1), "a number has no members");
        assert!(document.remove(&[Step::Key("a"), Step::Key("x"), Step::At(1)]));
        assert_eq!(document.count(&[Step::Key("a"), Step::Key("x")]), 2);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_line() {
        let line = |text: &str| Document::read(text).map(|_| ()).map_err(|error| error.line);
        assert_eq!(line("{\n  \"a\": 1\n  \"b\": 2\n}"), Err(3));
        for wrong in ["[]", "{", "{\"a\"}", "{\"a\": x}", "{} {}", "{'a': 1}", "{\"a\": \"", "/*"] {
            assert!(line(wrong).is_err(), "{wrong}");
        }
        assert_eq!(line(&"{\"a\":".repeat(100_000)), Err(1));
        assert_eq!((line(""), line("{}")), (Ok(()), Ok(())));
    }
}

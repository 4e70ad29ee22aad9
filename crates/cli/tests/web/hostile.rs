//! A home of all hard cases, with something hostile in every string of every line.
//!
//! Every kind of entry, block, tool and side file is in the home of hard cases; here each of
//! their strings is made hostile, in three depths, because a line whose type is hostile is never
//! read as what it was.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Home, Served, Shape, Truth};

use super::kit::{get, made};

/// What is tried to break out of each place that a text can stand in.
const PAYLOADS: [&str; 16] = [
    "<script>alert(1);globalThis.__ran=1</script>",
    "\"><img src=x onerror=\"globalThis.__ran=1;alert(1)\">",
    "' onmouseover='globalThis.__ran=1' autofocus onfocus='alert(1)' x='",
    "</textarea></title></style></script><svg onload=\"globalThis.__ran=1;alert(1)\">",
    "--><iframe srcdoc=\"<script>parent.__ran=1</script>\"></iframe><!--",
    "]]><base href=\"http://198.51.100.7/\"><meta http-equiv=refresh content=\"0;url=http://198.51.100.7/\">",
    "![x](http://198.51.100.7/x.png) [y](javascript:globalThis.__ran=1) <http://198.51.100.7/z>",
    "<a href=\"javascript:alert(1)\">z</a><form action=//198.51.100.7><button formaction=javascript:alert(1)>",
    "${{7*7}}{{constructor.constructor('globalThis.__ran=1')()}}#{7*7}<%= 7*7 %>",
    "\u{1b}]8;;javascript:alert(1)\u{7}link\u{1b}]8;;\u{7}\u{1b}[31;1m<b>red\u{1b}[0m\u{9b}2J",
    "\u{202e}gnp.tpircs\u{2066}\u{200b}\u{0}\u{feff}\u{2028}",
    "```html\n<img src=http://198.51.100.7/y.png onerror=alert(1)>\n```\n| <b>a</b> |\n|---|\n",
    "&lt;script&gt;alert(1)&lt;/script&gt;&#60;img src=x onerror=alert(1)&#62;",
    "<math><mtext><table><mglyph><style><img src=x onerror=\"globalThis.__ran=1\">",
    "[ref]: javascript:alert(1) \"<img src=x onerror=alert(1)>\"\n\n[ref] <svg/onload=alert(1)>",
    "\\\"}]}</script><link rel=stylesheet href=//198.51.100.7/x.css>`;alert(1);`",
];

/// Whole values that would act if they were taken for an address, a class or a type.
const VALUES: [&str; 8] = [
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//198.51.100.7/x.png",
    "image/svg+xml\" onload=\"alert(1)",
    "text/html",
    "x\" style=\"background:url(http://198.51.100.7/)",
    "__proto__",
    "http://198.51.100.7/x.png\" onerror=\"globalThis.__ran=1",
];

/// How much is made hostile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What people and tools say: all lines are still read as what they are.
    Texts,
    /// Names, ids, times, paths and keys too. Equal ones stay equal.
    Names,
    /// Everything: whole values are others, and every third line has other types.
    All,
}

/// Strings by which a line is read as what it is.
const TYPES: [&str; 6] = ["type", "role", "subtype", "operation", "stop_reason", "trigger"];
/// Strings that others refer to: changed, but never to the same.
const IDS: [&str; 15] = [
    "id",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "tool_use_id",
    "timestamp",
    "requestId",
    "leafUuid",
    "messageId",
    "agentId",
    "parentToolUseID",
    "toolUseID",
    "promptId",
    "sourceToolAssistantUUID",
    "version",
];
/// Names and paths, which say how a record is shown.
const NAMES: [&str; 7] = ["name", "data", "media_type", "status", "cwd", "file_path", "filePath"];

/// The home, and what was planted in it before it was made hostile.
pub fn home(depth: Depth) -> (Home, Truth) {
    let (home, truth) = made(Shape::Hard, 0);
    let mut files = Vec::new();
    list(home.path(), &mut files);
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let spoilt = match file.extension().and_then(|end| end.to_str()) {
            Some("jsonl") => {
                let lines = text.split_inclusive('\n').enumerate();
                lines.map(|(at, line)| spoil(line, depth, at % 3 == 2)).collect()
            }
            Some("json") => spoil(&text, depth, false),
            _ => format!("{text}\n{}", PAYLOADS.join("\n")),
        };
        fs::write(&file, spoilt).expect("it can be written");
    }
    (home, truth)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

/// A line with something hostile in its strings; one that is no JSON stays damaged as it is.
fn spoil(line: &str, depth: Depth, with_types: bool) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    let with_types = with_types && depth == Depth::All;
    change(&mut value, "", &|text, key| match key {
        // A session is found by it.
        "sessionId" => text.to_owned(),
        key if TYPES.contains(&key) && !with_types => text.to_owned(),
        key => hostile(text, key, depth),
    });
    if depth != Depth::Texts {
        add_key(&mut value);
    }
    let end = if line.ends_with('\n') { "\n" } else { "" };
    format!("{value}{end}")
}

fn change(value: &mut Value, key: &str, by: &dyn Fn(&str, &str) -> String) {
    match value {
        Value::String(text) => *text = by(text, key),
        Value::Array(items) => items.iter_mut().for_each(|item| change(item, key, by)),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, field)| change(field, key, by)),
        _ => {}
    }
}

/// One more key in every object: where keys are shown, it is.
fn add_key(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(add_key),
        Value::Object(fields) => {
            fields.values_mut().for_each(add_key);
            fields.insert(format!("key {}", PAYLOADS[1]), PAYLOADS[0].into());
        }
        _ => {}
    }
}

fn hostile(text: &str, key: &str, depth: Depth) -> String {
    // Chosen by what it is: ids that were equal still are.
    let add = |sum: usize, byte: u8| (sum * 31 + usize::from(byte)) % 9973;
    let chosen = text.bytes().fold(key.len(), add);
    let (payload, other) = (PAYLOADS[chosen % PAYLOADS.len()], VALUES[chosen % VALUES.len()]);
    let (is_id, is_name) = (IDS.contains(&key), NAMES.contains(&key));
    match depth {
        Depth::Texts if is_id || is_name => text.to_owned(),
        Depth::Names if is_id || is_name => format!("{text}{payload}"),
        Depth::All if is_id => format!("{text}{payload}"),
        Depth::All => other.to_owned(),
        _ => format!("{text} {}", PAYLOADS.join(" ")),
    }
}

/// The paths of all sessions, as the list leads to them.
pub fn sessions(served: &Served) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    loop {
        let page = get(served, &format!("/?all=1&offset={}", paths.len())).body;
        let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut new: Vec<String> =
            links.filter(|link| link.starts_with("/s/")).map(Into::into).collect();
        new.retain(|path| !paths.contains(path));
        if new.is_empty() {
            return paths;
        }
        paths.extend(new);
    }
}

/// All payloads as one value of a query.
pub fn query() -> String {
    escaped(&PAYLOADS[..5].join(" "))
}

fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

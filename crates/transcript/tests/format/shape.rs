//! Lines as Claude Code writes them, and what came of them in a word.

use std::collections::BTreeSet;

use tempfile::TempDir;
use transcript::catalog;
use transcript::entry::Entry;
use transcript::layout;
use transcript::library::{Library, SessionItem, scan};
use transcript::session::{Builder, Options, Session, State};

/// A chain entry with its envelope; `rest` is everything after it, `-` no parent.
pub fn chain(uuid: &str, parent: &str, rest: &str) -> String {
    let parent = if parent == "-" { "null".into() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.144","gitBranch":"main",{rest},"uuid":"{uuid}","timestamp":"2026-05-01T10:00:00.000Z"}}"#
    )
}

pub fn user(uuid: &str, parent: &str, text: &str) -> String {
    chain(uuid, parent, &format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#))
}

/// One block of a response.
pub fn says(uuid: &str, parent: &str, message: &str, block: &str) -> String {
    let rest = format!(
        r#""message":{{"model":"claude-opus-4-5-20251101","id":"{message}","type":"message","role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null}},"requestId":"req_1","type":"assistant""#
    );
    chain(uuid, parent, &rest)
}

pub fn answer(uuid: &str, parent: &str, message: &str) -> String {
    says(uuid, parent, message, r#"{"type":"text","text":"ok"}"#)
}

pub fn call(uuid: &str, parent: &str, id: &str, tool: &str, input: &str) -> String {
    let block = format!(
        r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input},"caller":{{"type":"direct"}}}}"#
    );
    says(uuid, parent, &format!("m-{id}"), &block)
}

/// A result: what the model was shown, and what stands beside it.
pub fn result(uuid: &str, parent: &str, id: &str, shown: &str, beside: &str) -> String {
    let rest = format!(
        r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":"{shown}"}}]}},"toolUseResult":{beside},"sourceToolAssistantUUID":"{parent}""#
    );
    chain(uuid, parent, &rest)
}

pub fn session(lines: &[impl AsRef<str>]) -> Session {
    let mut builder = Builder::new();
    let file: String = lines.iter().map(|line| format!("{}\n", line.as_ref())).collect();
    builder.read(file.as_bytes()).expect("memory reads");
    builder.finish(&Options { stem: Some("s"), copies: None })
}

pub fn roles(session: &Session) -> Vec<&'static str> {
    session.nodes().iter().map(|node| node.role.name()).collect()
}

/// One letter per entry: Active, Compacted, cleared (c), abandoned (x), Repeated, Foreign, aside (s).
pub fn states(session: &Session) -> String {
    let letter = |n: usize| match session.state(n) {
        State::Active => 'A',
        State::Compacted => 'C',
        State::Cleared => 'c',
        State::Abandoned => 'x',
        State::Repeated => 'R',
        State::Foreign => 'F',
        State::Aside => 's',
    };
    (0..session.nodes().len()).map(letter).collect()
}

/// The rows of a table.
pub fn rows(table: &str) -> Vec<&str> {
    table.lines().map(str::trim).filter(|row| !row.is_empty()).collect()
}

pub fn names(catalog: &[&str]) -> BTreeSet<String> {
    catalog.iter().map(|&name| name.to_owned()).collect()
}

/// Every member of the entry is one that the catalog knows.
#[track_caller]
pub fn all_known(entry: &Entry<'_>) {
    let name = entry.type_name.expect("a type").text();
    for (key, _) in &entry.fields {
        assert!(catalog::knows_field(&name, &key.text()), "{name}.{}", key.text());
    }
}

/// A Claude folder from one text: `//- path` begins each file.
pub fn home(files: &str) -> (TempDir, Library) {
    let dir = tempfile::tempdir().expect("a folder");
    for file in files.split("//- ").skip(1) {
        let (path, content) = file.split_once('\n').expect("a path, then its lines");
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("below the home")).expect("a folder");
        std::fs::write(path, content).expect("written");
    }
    let (library, _) =
        Library::join(scan(layout::walk_projects(dir.path()).files, |_, _, _| None::<()>, |_| {}));
    (dir, library)
}

pub fn item<'a>(library: &'a Library, id: &str) -> &'a SessionItem {
    library.session(id).unwrap_or_else(|| panic!("no session {id}"))
}

/// How a session is connected with others: `continued-in b`.
pub fn connections(item: &SessionItem) -> Vec<String> {
    item.connections.iter().map(|(kind, id)| format!("{} {id}", kind.name())).collect()
}

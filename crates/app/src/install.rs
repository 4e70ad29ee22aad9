//! What Claude Code has to know of this program, and in which of its files.
//!
//! Nothing else of a file is touched, and what is there already is not written again. Our own
//! entries are known by their commands, so that they are found wherever the program lay before.

pub mod edit;

use std::path::{Path, PathBuf};

use edit::{Document, NoJson, Step};
use serde::Serialize;

/// What is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The server.
    pub mcp: bool,
    /// The hooks.
    pub hooks: bool,
    /// The status line.
    pub statusline: bool,
}

/// How the server is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerEntry<'a> {
    /// How the program is called.
    pub program: &'a str,
    /// Whether its tools are in the prompt from the beginning. Without that the model sees only
    /// their names and has to look for a tool before it can ask.
    pub is_always_loaded: bool,
}

/// The moments at which we are called, and for which tools.
pub const HOOKS: [(&str, Option<&str>); 6] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some("Read|Edit|MultiEdit|Write|NotebookEdit")),
    ("SubagentStart", None),
    ("PreCompact", None),
    ("SessionEnd", None),
];

/// The name of our server.
const SERVER: &str = "recount";

/// Nobody waits longer for a hook, in seconds: it gives up by itself much earlier.
const TIMEOUT: u32 = 5;

#[derive(Serialize)]
struct Matched {
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<&'static str>,
    hooks: [Command; 1],
}

#[derive(Serialize)]
struct Command {
    r#type: &'static str,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Server<'a> {
    command: &'a str,
    args: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    always_load: Option<bool>,
}

/// Has the client load the tools of a server at once.
const ALWAYS_LOAD: &str = "alwaysLoad";

/// A file of Claude Code and what becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its text; `None` if it does not exist.
    pub before: Option<String>,
    /// Its text afterwards; `None` if it is not to exist.
    pub after: Option<String>,
    /// What could not be done in it, and why.
    pub notes: Vec<String>,
}

impl Change {
    /// Whether anything changes.
    pub fn is_any(&self) -> bool {
        self.before != self.after
    }

    /// Whether the file is removed.
    pub fn is_removal(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }
}

/// Adds the parts that belong into the settings.
pub fn add_to_settings(text: &str, parts: Parts, program: &str) -> Result<Added, NoJson> {
    let mut document = Document::read(text)?;
    let mut notes = Vec::new();
    for (event, matcher) in HOOKS.iter().filter(|_| parts.hooks) {
        let command = format!("{} hook {event}", quoted(program));
        if has_hook(&document, event, &command) {
            continue;
        }
        remove_hooks(&mut document, event);
        let command = Command { r#type: "command", command, timeout: Some(TIMEOUT) };
        let hook = Matched { matcher: *matcher, hooks: [command] };
        if !document.push(&["hooks", event], &hook) {
            notes.push(format!("`hooks` is no place for {event}"));
        }
    }
    if parts.statusline {
        let command = format!("{} statusline", quoted(program));
        let known = command_at(&document, &[Step::Key("statusLine")]);
        let has_other = document.get(&[Step::Key("statusLine")]).is_some();
        match known {
            Some(known) if known == command => {}
            Some(known) if !is_ours(&known, "statusline") => {
                notes.push("there is another status line, which stays".into());
            }
            None if has_other => notes.push("there is another status line, which stays".into()),
            _ => {
                let line = Command { r#type: "command", command, timeout: None };
                document.set(&["statusLine"], &line);
            }
        }
    }
    Ok(Added { text: document.text().to_owned(), notes })
}

/// A text with what was added to it, and what could not be.
#[derive(Debug, PartialEq, Eq)]
pub struct Added {
    /// The text.
    pub text: String,
    /// What could not be done.
    pub notes: Vec<String>,
}

/// Adds the server to a file of servers. What a person has added to our entry stays.
pub fn add_server(text: &str, entry: ServerEntry<'_>) -> Result<Added, NoJson> {
    let mut document = Document::read(text)?;
    let mut notes = Vec::new();
    let path = [Step::Key("mcpServers"), Step::Key(SERVER)];
    let is_set = match document.get(&path) {
        Some(known) if known.is_object() => update_server(&mut document, &known, entry),
        _ => {
            let always_load = entry.is_always_loaded.then_some(true);
            let new = Server { command: entry.program, args: ["mcp"], always_load };
            document.set(&["mcpServers", SERVER], &new)
        }
    };
    if !is_set {
        notes.push("`mcpServers` is no place for a server".into());
    }
    Ok(Added { text: document.text().to_owned(), notes })
}

/// Changes what differs in our entry. `alwaysLoad: false` is a person's choice.
fn update_server(
    document: &mut Document,
    known: &serde_json::Value,
    entry: ServerEntry<'_>,
) -> bool {
    let key = |name| ["mcpServers", SERVER, name];
    let mut is_set = true;
    if known["command"] != entry.program {
        is_set &= document.set(&key("command"), &entry.program);
    }
    if known["args"] != serde_json::json!(["mcp"]) {
        is_set &= document.set(&key("args"), &["mcp"]);
    }
    match (entry.is_always_loaded, known[ALWAYS_LOAD].as_bool()) {
        (true, None) => is_set &= document.set(&key(ALWAYS_LOAD), &true),
        (false, Some(true)) => {
            document.remove(&key(ALWAYS_LOAD).map(Step::Key));
        }
        _ => {}
    }
    is_set
}

/// Takes our parts out of the settings.
pub fn remove_from_settings(text: &str, parts: Parts) -> Result<Added, NoJson> {
    let mut document = Document::read(text)?;
    if parts.hooks {
        for (event, _) in HOOKS {
            remove_hooks(&mut document, event);
        }
        remove_empty(&mut document, "hooks");
    }
    let line = [Step::Key("statusLine")];
    if parts.statusline && command_at(&document, &line).is_some_and(|c| is_ours(&c, "statusline")) {
        document.remove(&line);
    }
    Ok(Added { text: document.text().to_owned(), notes: Vec::new() })
}

/// Takes the server out of a file of servers.
pub fn remove_server(text: &str) -> Result<Added, NoJson> {
    let mut document = Document::read(text)?;
    let path = [Step::Key("mcpServers"), Step::Key(SERVER)];
    let is_ours = |server: serde_json::Value| {
        server["command"].as_str().is_some_and(is_program) && server["args"][0] == "mcp"
    };
    if document.get(&path).is_some_and(is_ours) {
        document.remove(&path);
        remove_empty(&mut document, "mcpServers");
    }
    Ok(Added { text: document.text().to_owned(), notes: Vec::new() })
}

fn remove_empty(document: &mut Document, key: &str) {
    let path = [Step::Key(key)];
    if document.get(&path) == Some(serde_json::json!({})) {
        document.remove(&path);
    }
}

/// The command at a place.
fn command_at(document: &Document, path: &[Step<'_>]) -> Option<String> {
    document.get(path)?["command"].as_str().map(str::to_owned)
}

/// Each hook of a moment: its group, its place in it, and its command.
fn hooks_of(document: &Document, event: &str) -> Vec<(usize, usize, String)> {
    let mut all = Vec::new();
    for group in 0..document.count(&[Step::Key("hooks"), Step::Key(event)]) {
        let path = [Step::Key("hooks"), Step::Key(event), Step::At(group), Step::Key("hooks")];
        for at in 0..document.count(&path) {
            let one = [path[0], path[1], path[2], path[3], Step::At(at)];
            all.extend(command_at(document, &one).map(|command| (group, at, command)));
        }
    }
    all
}

fn has_hook(document: &Document, event: &str, command: &str) -> bool {
    hooks_of(document, event).iter().any(|(_, _, known)| known == command)
}

/// Takes our hooks of a moment away, and what is empty then.
fn remove_hooks(document: &mut Document, event: &str) {
    let ours = |document: &Document| {
        let all = hooks_of(document, event);
        all.into_iter().find(|(_, _, command)| is_ours(command, &format!("hook {event}")))
    };
    while let Some((group, at, _)) = ours(document) {
        let event = [Step::Key("hooks"), Step::Key(event)];
        let group = [event[0], event[1], Step::At(group)];
        let hooks = [group[0], group[1], group[2], Step::Key("hooks")];
        // Others may stand in the same group, or other groups beside it.
        match (document.count(&hooks), document.count(&event)) {
            (2.., _) => document.remove(&[hooks[0], hooks[1], hooks[2], hooks[3], Step::At(at)]),
            (_, 2..) => document.remove(&group),
            _ => document.remove(&event),
        };
    }
}

/// Whether a command calls us, wherever the program lies.
fn is_ours(command: &str, what: &str) -> bool {
    command.strip_suffix(what).is_some_and(|program| is_program(program.trim_end()))
}

fn is_program(program: &str) -> bool {
    let program = program.trim_matches(['"', '\'']);
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name.trim_end_matches(".exe") == "recount"
}

/// A path as a shell takes it.
fn quoted(program: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match program.chars().all(is_plain) {
        true => program.to_owned(),
        false => format!("'{}'", program.replace('\'', r"'\''")),
    }
}

/// How the program is called: by its name where that finds this very file, else by its path.
pub fn program(path: Option<&std::ffi::OsStr>, this: &Path) -> String {
    let real = |path: &Path| path.canonicalize().ok();
    let found = path.and_then(|path| {
        std::env::split_paths(path).map(|folder| folder.join("recount")).find(|file| file.is_file())
    });
    match found.and_then(|found| real(&found)) {
        Some(found) if Some(&found) == real(this).as_ref() => "recount".into(),
        _ => this.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Parts = Parts { mcp: true, hooks: true, statusline: true };
    const OTHERS: &str = r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": "check.sh"}]
      }
    ],
    "Stop": []
  },
  "alwaysOn": true
}
"#;

    #[test]
    fn twice_is_as_once_and_taken_out_is_as_before() {
        for before in ["{}\n", OTHERS] {
            let once = add_to_settings(before, ALL, "/opt/recount").unwrap();
            assert_eq!(once.notes, Vec::<String>::new());
            assert_eq!(add_to_settings(&once.text, ALL, "/opt/recount").unwrap(), once);
            assert_eq!(remove_from_settings(&once.text, ALL).unwrap().text, before);
            let moved = add_to_settings(&once.text, ALL, "recount").unwrap();
            assert!(!moved.text.contains("/opt") && moved.text.contains("recount statusline"));
            assert_eq!(moved.text.matches(" hook ").count(), HOOKS.len());
        }
    }

    #[test]
    fn what_others_have_there_stays() {
        let text = r#"{"statusLine": {"type": "command", "command": "mine"},
"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "a"},
{"type": "command", "command": "'/x y/recount' hook SessionEnd"},
{"type": "command", "command": "other hook SessionEnd"}]}]}}"#;
        let added = add_to_settings(text, ALL, "recount").unwrap();
        assert!(added.text.contains("\"mine\"") && added.notes.len() == 1, "{added:?}");
        assert!(!added.text.contains("/x y/"));
        let gone = remove_from_settings(&added.text, ALL).unwrap().text;
        assert!(gone.contains("\"a\"") && gone.contains("other hook") && gone.contains("mine"));
        assert!(!gone.contains("recount"), "{gone}");
        assert!(!add_to_settings(r#"{"hooks": 3}"#, ALL, "recount").unwrap().notes.is_empty());
    }

    #[test]
    fn servers_of_others_stay() {
        let text = "{\n  \"mcpServers\": {\n    \"b\": {\"command\": \"b\"}\n  },\n  \"n\": 1\n}\n";
        let entry = ServerEntry { program: "recount", is_always_loaded: true };
        let added = add_server(text, entry).unwrap().text;
        assert_eq!(add_server(&added, entry).unwrap().text, added);
        assert_eq!(remove_server(&added).unwrap().text, text);
        assert_eq!(remove_server(text).unwrap().text, text);
    }

    #[test]
    fn our_entry_keeps_what_a_person_added() {
        let server = |text: &str| {
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            json["mcpServers"]["recount"].clone()
        };
        let add = |text: &str, is_always_loaded| {
            let entry = ServerEntry { program: "/new/recount", is_always_loaded };
            add_server(text, entry).unwrap().text
        };
        let old = r#"{"mcpServers": {"recount": {"command": "recount", "args": ["mcp"],
            "env": {"RECOUNT_STORE": "/s"}}}}"#;
        let added = add(old, true);
        assert_eq!(
            server(&added),
            serde_json::json!({"command": "/new/recount", "args": ["mcp"],
                "env": {"RECOUNT_STORE": "/s"}, "alwaysLoad": true})
        );
        let without = add(&added, false);
        assert_eq!(server(&without).get("alwaysLoad"), None);
        assert_eq!(add(&without, false), without);
        let refused = without.replace("\"env\"", "\"alwaysLoad\": false, \"env\"");
        assert_eq!(add(&refused, true), refused, "a person has said no");
    }
}

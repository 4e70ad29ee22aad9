//! One file through all sessions: who changed it when, and what it was at any point.
//!
//! What commands did to a file is not recorded, so a content put together from edits says what it
//! stands on. Backups are exact.

use transcript::entry::message::BlockKind;
use transcript::entry::{Entry, tool};
use transcript::id::Key;
use transcript::json::Raw;
use transcript::layout::Problem;
use transcript::session::{Call, Session, State};
use transcript::source::Source;
use transcript::time::Time;

/// Whether a recorded path is the one that was asked for: the same, or ending in it.
pub fn is_wanted(recorded: &str, wanted: &str) -> bool {
    let plain = |path: &str| path.replace('\\', "/");
    let (recorded, wanted) = (plain(recorded), plain(wanted));
    let wanted = wanted.strip_prefix("./").unwrap_or(&wanted);
    recorded == wanted
        || (!wanted.is_empty()
            && !wanted.starts_with('/')
            && recorded.strip_suffix(wanted).is_some_and(|head| head.ends_with('/')))
}

/// A change to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEvent {
    /// The path, as recorded.
    pub path: String,
    /// The key of the result's entry, to tell copies.
    pub key: Key,
    /// The number of the result's entry: what the file is after it.
    pub number: u32,
    /// Where its bytes begin.
    pub offset: u64,
    /// When.
    pub time: Option<Time>,
    /// The tool.
    pub tool: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The file did not exist before.
    pub created: bool,
    /// The lines were counted from the input.
    pub estimated: bool,
    /// Where it stands.
    pub state: State,
    /// The turn, from 0.
    pub turn: Option<usize>,
}

/// The changes of a session to the wanted file.
pub fn events(session: &Session, wanted: &str) -> Vec<FileEvent> {
    let events = session.touches().filter(|(path, _)| is_wanted(path, wanted));
    events
        .filter_map(|(path, touch)| {
            let call = &session.calls()[touch.call()];
            let node = call.result()?;
            let result = &session.nodes()[node];
            Some(FileEvent {
                path: path.to_owned(),
                key: result.key,
                number: result.number,
                offset: result.offset,
                time: result.time(),
                tool: session.tool(call).to_owned(),
                added: touch.added,
                removed: touch.removed,
                created: touch.created,
                estimated: touch.estimated,
                state: session.state(node),
                turn: session.turn_of(node),
            })
        })
        .collect()
}

/// What a file was, and what that stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The text.
    pub text: String,
    /// The number of the entry that gave the last whole text.
    pub base: u32,
    /// Edits applied to it since.
    pub edits: usize,
    /// The base was a read, which may lack the last newline.
    pub from_read: bool,
}

/// The file as it was after entry `number`: the last whole text before it, and the edits since.
/// Edits on branches that were left count, too: the disk has no branches.
pub fn content_at(
    session: &Session,
    source: &Source,
    path: &str,
    number: u32,
) -> Result<Option<FileContent>, Problem> {
    let mut content: Option<FileContent> = None;
    for call in session.calls() {
        let Some(result) = call.result().filter(|_| !call.is_error) else { continue };
        let at = session.nodes()[result].number;
        let tool = session.tool(call);
        if at > number || !matches!(tool, "Read" | "Edit" | "Write" | "MultiEdit") {
            continue;
        }
        let bytes = source.entry(&session.nodes()[result])?;
        let input = input_bytes(session, source, call)?;
        let input = input.as_deref().and_then(|i| Raw::new(i).ok());
        let entry = Entry::of(&bytes, 0);
        let recorded = tool::path_of(tool, input, entry.tool_result);
        if recorded.as_deref() == Some(path) {
            content = step(tool, input, entry.tool_result, at, content);
        }
    }
    Ok(content)
}

fn input_bytes(
    session: &Session,
    source: &Source,
    call: &Call,
) -> Result<Option<Vec<u8>>, Problem> {
    let bytes = source.entry(&session.nodes()[call.node()])?;
    let entry = Entry::of(&bytes, 0);
    let is_its = |b: &&transcript::entry::message::Block<'_>| {
        b.kind == BlockKind::ToolUse && b.id.map(Key::of_str) == Some(call.key())
    };
    Ok(entry.blocks().iter().find(is_its).and_then(|b| b.input).map(|i| i.bytes().to_vec()))
}

fn step(
    tool: &str,
    input: Option<Raw<'_>>,
    result: Option<Raw<'_>>,
    at: u32,
    before: Option<FileContent>,
) -> Option<FileContent> {
    let whole = |text: String| FileContent { text, base: at, edits: 0, from_read: false };
    let from_result = |key: &str| result.and_then(|r| Some(r.string(key)?.into_owned()));
    match tool {
        "Write" => {
            let text =
                from_result("content").or_else(|| Some(input?.string("content")?.into_owned()));
            text.map(whole).or(before)
        }
        "Read" => match result.and_then(whole_read) {
            // A text from edits is exact where a read may lack its last newline.
            Some(text) => match before {
                Some(known) if known.text.trim_end_matches('\n') == text.trim_end_matches('\n') => {
                    Some(known)
                }
                _ => Some(FileContent { from_read: true, ..whole(text) }),
            },
            None => before,
        },
        _ => {
            let original =
                from_result("originalFile").or_else(|| from_result("originalFileContents"));
            let base = match original {
                Some(text) => whole(text),
                None => before?,
            };
            let text = edited(&base.text, input.or(result)?)?;
            Some(FileContent { text, edits: base.edits + 1, ..base })
        }
    }
}

/// The text of a read that shows the file from its first to its last line.
fn whole_read(result: Raw<'_>) -> Option<String> {
    let file = result.get("file")?;
    let number = |key: &str| file.get(key).and_then(Raw::u64);
    let is_whole = number("startLine")? == 1 && number("numLines")? == number("totalLines")?;
    is_whole.then(|| file.string("content"))?.map(|text| text.into_owned())
}

/// `text` with an edit applied; `None` if the edit does not fit.
fn edited(text: &str, edit: Raw<'_>) -> Option<String> {
    if let Some(edits) = edit.get("edits") {
        return edits.items().try_fold(text.to_owned(), |text, edit| edited(&text, edit));
    }
    let get = |input: &str, result: &str| edit.string(input).or_else(|| edit.string(result));
    let (old, new) = (get("old_string", "oldString")?, get("new_string", "newString")?);
    let all = edit.get("replace_all").or_else(|| edit.get("replaceAll")).and_then(Raw::bool);
    if old.is_empty() {
        return text.is_empty().then(|| new.into_owned());
    }
    if !text.contains(&*old) {
        return None;
    }
    Some(if all == Some(true) { text.replace(&*old, &new) } else { text.replacen(&*old, &new, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_wanted_whole_or_by_its_end() {
        assert!(is_wanted("/home/a/src/lib.rs", "/home/a/src/lib.rs"));
        assert!(is_wanted("/home/a/src/lib.rs", "src/lib.rs"));
        assert!(is_wanted("/home/a/src/lib.rs", "./lib.rs"));
        assert!(is_wanted("C:\\a\\lib.rs", "a/lib.rs"));
        assert!(!is_wanted("/home/a/src/mylib.rs", "lib.rs"));
        assert!(!is_wanted("/home/a/src/lib.rs", "/src/lib.rs"));
        assert!(!is_wanted("/home/a", ""));
    }

    #[test]
    fn edits_apply_or_say_that_they_do_not_fit() {
        let edit = |json: &'static str| edited("a b a", Raw::new(json.as_bytes()).expect("valid"));
        assert_eq!(edit(r#"{"old_string":"a","new_string":"x"}"#).as_deref(), Some("x b a"));
        assert_eq!(
            edit(r#"{"old_string":"a","new_string":"x","replace_all":true}"#).as_deref(),
            Some("x b x")
        );
        assert_eq!(edit(r#"{"old_string":"q","new_string":"x"}"#), None);
        let both = r#"{"edits":[{"old_string":"a b","new_string":"c"},{"old_string":"c a","new_string":"d"}]}"#;
        assert_eq!(edit(both).as_deref(), Some("d"));
    }
}

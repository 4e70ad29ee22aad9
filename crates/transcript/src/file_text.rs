//! The text of a file at any entry, put together from what calls recorded of it.
//!
//! What commands did to a file is recorded only by newer versions and not always in full, so a
//! content put together from edits says what it is based on.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::entry::Entry;
use crate::entry::message::{Block, BlockKind};
use crate::id::Key;
use crate::json::Raw;
use crate::layout::Problem;
use crate::session::{Call, Node, Session};
use crate::source::Source;
use crate::tool::{self, Action, Hunk, ToolForm};

/// What a file was, and what that stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The text.
    pub text: String,
    /// The number of the entry that gave the last whole text.
    pub base: u32,
    /// The tool that gave it. A read may lack the last newline.
    pub tool: String,
    /// Edits applied to it since.
    pub edits: usize,
}

/// The file as it was after entry `number`: the last whole text before it, and the edits since.
/// Edits on branches that were left count, too: the disk has no branches. Only entries of the
/// session's own file have numbers that can be compared.
pub fn content_at(
    session: &Session,
    source: &Source,
    path: &str,
    number: u32,
) -> Result<Option<FileContent>, Problem> {
    let mut content: Option<FileContent> = None;
    let touching: BTreeSet<usize> =
        session.touches().filter(|(known, _)| *known == path).map(|(_, t)| t.call()).collect();
    for (index, call) in session.calls().iter().enumerate() {
        let Some(result) = call.result().filter(|_| !call.is_error) else { continue };
        let Node { number: at, source: file, .. } = session.nodes()[result];
        let tool = session.tool(call);
        let is_file = ToolForm::of(tool).holds_file();
        let is_command = Action::of(tool) == Action::Run && touching.contains(&index);
        if at > number || file != 0 || !(is_file || is_command) {
            continue;
        }
        let bytes = source.entry(&session.nodes()[result])?;
        let input = input_bytes(session, source, call)?;
        let input = input.as_deref().and_then(|i| Raw::new(i).ok());
        let entry = Entry::of(&bytes, 0);
        let cwd = entry.cwd.map(|cwd| cwd.text());
        if is_command {
            let found = tool::command_changes(entry.tool_result, cwd.as_deref());
            if let Some(found) = found.iter().find(|found| found.change.path == path) {
                content = after_command(found, tool, at, content);
            }
            continue;
        }
        let recorded = tool::path_of(tool, input, entry.tool_result, cwd.as_deref());
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
    let is_its =
        |b: &&Block<'_>| b.kind == BlockKind::ToolUse && b.id.map(Key::of_str) == Some(call.key());
    Ok(entry.blocks().iter().find(is_its).and_then(|b| b.input).map(|i| i.bytes().to_vec()))
}

/// The file after a command changed it; `None` if what the command did is not known, or if the
/// patch does not fit what the file was before.
fn after_command(
    found: &tool::CommandChange<'_>,
    tool: &str,
    at: u32,
    before: Option<FileContent>,
) -> Option<FileContent> {
    let change = &found.change;
    if change.unknown || change.deleted {
        return None;
    }
    if change.created {
        let text = patched("", &found.hunks())?;
        return Some(FileContent { text, base: at, tool: tool.into(), edits: 0 });
    }
    let base = before?;
    let text = patched(&base.text, &found.hunks())?;
    Some(FileContent { text, edits: base.edits + 1, ..base })
}

/// `text` with a patch applied; `None` if a line of the patch is not what the text has there.
fn patched(text: &str, hunks: &[Hunk]) -> Option<String> {
    let mut old = text.split_inclusive('\n').zip(1u64..).peekable();
    let mut new = String::with_capacity(text.len());
    for hunk in hunks {
        while let Some((line, _)) = old.next_if(|(_, number)| *number < hunk.old_start) {
            new.push_str(line);
        }
        for (index, line) in hunk.lines.iter().enumerate() {
            let is_last = hunk.lines.get(index + 1).is_some_and(|next| next.starts_with('\\'));
            let end = if is_last { "" } else { "\n" };
            let (mark, words) = (line.chars().next()?, line.get(1..)?);
            let whole = format!("{words}{end}");
            match mark {
                '+' => new.push_str(&whole),
                '\\' => {}
                '-' | ' ' => {
                    let (known, _) = old.next()?;
                    // The last line of a file that was read may lack its newline.
                    if known.trim_end_matches('\n') != words {
                        return None;
                    }
                    if mark == ' ' {
                        new.push_str(&whole);
                    }
                }
                _ => return None,
            }
        }
    }
    new.extend(old.map(|(line, _)| line));
    Some(new)
}

fn step(
    tool: &str,
    input: Option<Raw<'_>>,
    result: Option<Raw<'_>>,
    at: u32,
    before: Option<FileContent>,
) -> Option<FileContent> {
    let whole = |text: String| FileContent { text, base: at, tool: tool.into(), edits: 0 };
    let from_result = |key: &str| result.and_then(|r| Some(r.string(key)?.into_owned()));
    match ToolForm::of(tool) {
        ToolForm::WholeFile => {
            let text =
                from_result("content").or_else(|| Some(input?.string("content")?.into_owned()));
            text.map(whole).or(before)
        }
        ToolForm::NotebookCell => from_result("updated_file").map(whole),
        ToolForm::FileText => match result.and_then(whole_read) {
            // A text from edits is exact where a read may lack its last newline.
            Some(text) => match before {
                Some(known) if known.text.trim_end_matches('\n') == text.trim_end_matches('\n') => {
                    Some(known)
                }
                _ => Some(whole(text)),
            },
            None => before,
        },
        _ => {
            let original =
                from_result("originalFile").or_else(|| from_result("originalFileContents"));
            // What a person changed before they agreed to it stands in the result only.
            let by_person = result.and_then(|r| r.get("userModified")?.bool()) == Some(true);
            let edit = if by_person { result } else { input.or(result) };
            match original {
                Some(text) => edited(&text, edit?).map(whole),
                None => {
                    let base = before?;
                    let text = edited(&base.text, edit?)?;
                    Some(FileContent { text, edits: base.edits + 1, ..base })
                }
            }
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

/// The lines of a file that changed, as the result of a call records them; none without a patch.
pub fn recorded_hunks(result: &[u8], path: &str) -> Vec<Hunk> {
    let entry = Entry::of(result, 0);
    let cwd = entry.cwd.map(|cwd| cwd.text());
    let by_command = tool::command_changes(entry.tool_result, cwd.as_deref());
    match by_command.iter().find(|found| found.change.path == path) {
        Some(found) => found.hunks(),
        None => entry.tool_result.map_or_else(Vec::new, tool::hunks),
    }
}

/// The lines that the input of a call takes out and puts in; the numbers of the lines are not
/// known and are 0.
pub fn hunks_of_input(entry: &[u8], call: Key) -> Vec<Hunk> {
    let entry = Entry::of(entry, 0);
    let block = entry.blocks().iter().find(|b| b.id.map(Key::of_str) == Some(call));
    let Some(input) = block.and_then(|block| block.input) else { return Vec::new() };
    match input.get("edits") {
        Some(edits) => edits.items().filter_map(hunk_of_input).collect(),
        None => hunk_of_input(input).into_iter().collect(),
    }
}

fn hunk_of_input(edit: Raw<'_>) -> Option<Hunk> {
    let get = |keys: &[&str]| keys.iter().find_map(|key| edit.string(key));
    let (old, new) =
        (get(&["old_string", "old_source"]), get(&["new_string", "content", "new_source"]));
    let marked = |mark: char, text: Option<Cow<'_, str>>| -> Vec<String> {
        let text = text.unwrap_or_default();
        text.lines().map(|line| format!("{mark}{line}")).collect()
    };
    let lines = [marked('-', old), marked('+', new)].concat();
    (!lines.is_empty()).then_some(Hunk { old_start: 0, new_start: 0, lines })
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// A call whose input and result are as Claude Code writes them, after a text that is known.
    fn after(tool: &str, input: &str, result: &str, known: Option<&str>) -> Option<String> {
        let raw = |json| Raw::new(str::as_bytes(json)).expect("JSON");
        let known = known.map(|text| FileContent {
            text: text.into(),
            base: 1,
            tool: "Write".into(),
            edits: 0,
        });
        step(tool, Some(raw(input)), Some(raw(result)), 2, known).map(|content| content.text)
    }

    #[test]
    fn an_edit_of_several_places_tells_the_whole_file() {
        let input = r#"{"file_path":"/a","edits":[{"old_string":"b","new_string":"c"}]}"#;
        let result = r#"{"filePath":"/a","edits":[{"old_string":"b","new_string":"c","replace_all":false}],"originalFileContents":"a\nb","structuredPatch":[],"userModified":false}"#;
        assert_eq!(after("MultiEdit", input, result, None).as_deref(), Some("a\nc"));
    }

    #[test]
    fn a_notebook_is_told_whole() {
        let input = r#"{"notebook_path":"/n.ipynb","cell_id":"c1","new_source":"b"}"#;
        let result = r#"{"new_source":"b","cell_id":"c1","cell_type":"code","language":"python","edit_mode":"replace","error":"","notebook_path":"/n.ipynb","original_file":"{\"old\":1}","updated_file":"{\"new\":1}"}"#;
        let text = after("NotebookEdit", input, result, Some("{\"old\":1}"));
        assert_eq!(text.as_deref(), Some("{\"new\":1}"));
    }

    #[test]
    fn what_a_person_changed_stands_in_the_result() {
        let input = r#"{"file_path":"/a","old_string":"b","new_string":"asked"}"#;
        let result = |by_person| {
            format!(
                r#"{{"filePath":"/a","oldString":"b","newString":"typed","originalFile":"b","structuredPatch":[],"userModified":{by_person},"replaceAll":false}}"#
            )
        };
        assert_eq!(after("Edit", input, &result("true"), None).as_deref(), Some("typed"));
        assert_eq!(after("Edit", input, &result("false"), None).as_deref(), Some("asked"));
    }

    #[test]
    fn only_a_read_of_all_lines_tells_the_whole_file() {
        let read = |start, lines, total| {
            let result = format!(
                r#"{{"type":"text","file":{{"filePath":"/a","content":"x","numLines":{lines},"startLine":{start},"totalLines":{total}}}}}"#
            );
            after("Read", r#"{"file_path":"/a"}"#, &result, Some("known"))
        };
        assert_eq!(read(1, 1, 1).as_deref(), Some("x"));
        assert_eq!(read(1, 1, 2).as_deref(), Some("known"));
        assert_eq!(read(2, 1, 1).as_deref(), Some("known"));
    }
}

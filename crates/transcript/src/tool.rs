//! Tools: what a call was about and what came of it, from its input and its `toolUseResult`.
//!
//! `toolUseResult` is an object, a string (errors, old tools) or an array (MCP), and missing on
//! most subagents' results; so every answer here is optional. Objects stay raw: each tool has its
//! own members, and they change with every release ([`RESULT_FIELDS`] lists the known ones).

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use crate::json::{Raw, Str};
use crate::path::RecordedPath;

mod table;

pub use table::{Action, ToolForm, ToolSpec};

/// Server and tool of an MCP tool's name, `mcp__server__tool`.
pub fn mcp_name(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?.split_once("__")
}

/// What a call is about, in a few words: the path, command, pattern, question.
pub fn subject<'a>(tool: &str, input: Raw<'a>) -> Option<Cow<'a, str>> {
    let keys = ToolSpec::find(tool).map_or(&[][..], |spec| spec.subject);
    keys.iter().find_map(|key| input.string(key)).or_else(|| question(tool, input)).or_else(|| {
        let mut told = input.fields().filter(|(name, _)| !is_secret(&name.text()));
        told.find_map(|(_, value)| scalar(value))
    })
}

/// Whether a name says that its value is a secret: nobody wants it as the words for a call.
fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 8] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "apikey",
        "credential",
        "privatekey",
    ];
    let name = name.to_ascii_lowercase().replace(['_', '-'], "");
    WORDS.iter().any(|word| name.contains(word)) || matches!(&*name, "authorization" | "pwd")
}

fn question<'a>(tool: &str, input: Raw<'a>) -> Option<Cow<'a, str>> {
    (ToolForm::of(tool) == ToolForm::Question)
        .then(|| input.get("questions")?.items().next()?.string("question"))?
}

fn scalar(value: Raw<'_>) -> Option<Cow<'_, str>> {
    value.text().filter(|text| !text.is_empty()).or_else(|| {
        let is_number = value.f64().is_some();
        is_number.then(|| String::from_utf8_lossy(value.bytes()))
    })
}

/// The file that a call names. A relative path is joined with the working directory of the entry,
/// as Claude Code does. This is the only place where a call's path is made.
pub fn path_of<'a>(
    tool: &str,
    input: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    cwd: Option<&str>,
) -> Option<Cow<'a, str>> {
    named_path(tool, input, result).map(|path| absolute(path, cwd))
}

/// A recorded path seen from the working directory.
fn absolute<'a>(path: Cow<'a, str>, cwd: Option<&str>) -> Cow<'a, str> {
    match cwd.filter(|cwd| !cwd.is_empty()) {
        Some(cwd) if !path.is_empty() && !path.starts_with(['/', '~']) => {
            Cow::Owned(RecordedPath::new(cwd).join(&path).as_str().to_owned())
        }
        _ => path,
    }
}

/// The file that a call names, absolute or not, as it was recorded.
fn named_path<'a>(
    tool: &str,
    input: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
) -> Option<Cow<'a, str>> {
    let from_result = || {
        let result = result?;
        let text = |object: Raw<'a>, key: &str| object.first(key).and_then(Raw::text);
        match ToolForm::of(tool) {
            ToolForm::FileText => text(result.first("file")?, "filePath"),
            ToolForm::NotebookCell => text(result, "notebook_path"),
            _ => text(result, "filePath"),
        }
    };
    let names_file = ToolSpec::find(tool).is_some_and(ToolSpec::names_file);
    names_file.then(|| {
        from_result()
            .or_else(|| input?.string("file_path").or_else(|| input?.string("notebook_path")))
    })?
}

/// Lines that a successful call changed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file, as recorded.
    pub path: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The file did not exist before.
    pub created: bool,
    /// The file does not exist any more.
    pub deleted: bool,
    /// Counted from the call's input, because the result has no patch.
    pub estimated: bool,
    /// The result says that the file changed, and not how.
    pub unknown: bool,
}

/// The change that a successful call of an edit tool made.
pub fn change(
    tool: &str,
    input: Option<Raw<'_>>,
    result: Option<Raw<'_>>,
    cwd: Option<&str>,
) -> Option<Change> {
    if Action::of(tool) != Action::Edit {
        return None;
    }
    let path = path_of(tool, input, result, cwd)?.into_owned();
    let object = result.filter(|r| r.is_object());
    let (added, removed, created, estimated) = match object {
        Some(result) => from_result(tool, result, input),
        None => from_input(tool, input?),
    };
    Some(Change { path, added, removed, created, deleted: false, estimated, unknown: false })
}

/// A file that a command changed, with what changed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChange<'a> {
    /// The change.
    pub change: Change,
    hunks: Option<Raw<'a>>,
}

impl CommandChange<'_> {
    /// The lines that changed; none if the result has no patch of the file.
    pub fn hunks(&self) -> Vec<Hunk> {
        self.hunks.map_or_else(Vec::new, patch_hunks)
    }
}

/// The files that a command changed, as `toolUseResult.bashEditDiff` has them (since about
/// 2.1.326, in git repositories). `files` has the patches of at most five files; `changedFiles`
/// names all of them, so of the others only the path is known.
pub fn command_changes<'a>(result: Option<Raw<'a>>, cwd: Option<&str>) -> Vec<CommandChange<'a>> {
    let Some(diff) = result.and_then(|result| result.some("bashEditDiff")) else {
        return Vec::new();
    };
    let is_true = |file: Raw<'a>, key: &str| file.get(key).and_then(Raw::bool) == Some(true);
    let patched = diff.get("files").into_iter().flat_map(Raw::items).filter_map(|file| {
        let path = absolute(file.string("filePath")?, cwd).into_owned();
        let hunks = file.get("hunks").filter(|hunks| hunks.items().next().is_some());
        let (added, removed) = hunks.map_or((0, 0), patch_counts);
        let (created, deleted) = (is_true(file, "created"), is_true(file, "deleted"));
        // An empty file may be made or removed without a line.
        let unknown = hunks.is_none() && !created && !deleted;
        let change = Change { path, added, removed, created, deleted, estimated: false, unknown };
        Some(CommandChange { change, hunks })
    });
    let mut all: Vec<CommandChange<'a>> = patched.collect();
    for path in diff.get("changedFiles").into_iter().flat_map(Raw::items) {
        let Some(path) = path.text().filter(|path| !path.is_empty()) else { continue };
        let path = absolute(path, cwd);
        if !all.iter().any(|known| known.change.path == *path) {
            let change = Change {
                path: path.into_owned(),
                added: 0,
                removed: 0,
                created: false,
                deleted: false,
                estimated: false,
                unknown: true,
            };
            all.push(CommandChange { change, hunks: None });
        }
    }
    all
}

type Counts = (u32, u32, bool, bool);

fn from_result(tool: &str, result: Raw<'_>, input: Option<Raw<'_>>) -> Counts {
    let created = ToolForm::of(tool) == ToolForm::WholeFile
        && result.first("type").and_then(Raw::str).is_some_and(|t| t.is("create"));
    if created {
        let lines = result.get("content").and_then(Raw::str).map_or(0, count_lines);
        return (lines, 0, true, false);
    }
    if ToolForm::of(tool) == ToolForm::NotebookCell {
        let source = |key| result.string(key).or_else(|| input?.string(key));
        let (added, removed) =
            changed_lines(source("old_source").as_deref(), source("new_source").as_deref());
        return (added, removed, false, true);
    }
    match result.some("structuredPatch") {
        Some(patch) => {
            let (added, removed) = patch_counts(patch);
            (added, removed, false, false)
        }
        None => input.map_or((0, 0, false, true), |input| from_input(tool, input)),
    }
}

fn from_input(tool: &str, input: Raw<'_>) -> Counts {
    let pair = |edit: Raw<'_>| {
        let (old, new) = (edit.string("old_string"), edit.string("new_string"));
        changed_lines(old.as_deref(), new.as_deref())
    };
    let (added, removed) = match ToolForm::of(tool) {
        ToolForm::WholeFile => (input.get("content").and_then(Raw::str).map_or(0, count_lines), 0),
        ToolForm::Replacements => input
            .get("edits")
            .map(|edits| edits.items().map(pair).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)))
            .unwrap_or((0, 0)),
        ToolForm::NotebookCell => changed_lines(None, input.string("new_source").as_deref()),
        _ => pair(input),
    };
    (added, removed, false, true)
}

/// Lines of `new` and `old` between their common beginning and end.
fn changed_lines(old: Option<&str>, new: Option<&str>) -> (u32, u32) {
    let lines =
        |text: Option<&str>| text.map_or(Vec::new(), |t| t.lines().map(str::to_owned).collect());
    let (old, new): (Vec<String>, Vec<String>) = (lines(old), lines(new));
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    ((new.len() - tail) as u32, (old.len() - tail) as u32)
}

/// Lines of undecoded text: a last line without newline counts.
fn count_lines(text: Str<'_>) -> u32 {
    if text.is_empty() {
        return 0;
    }
    let text = text.text();
    (memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(!text.ends_with('\n')))
        as u32
}

/// Lines added and removed by a `structuredPatch`, without decoding them.
fn patch_counts(patch: Raw<'_>) -> (u32, u32) {
    let lines = patch.items().filter_map(|hunk| hunk.get("lines")).flat_map(Raw::items);
    lines.fold((0, 0), |(added, removed), line| match line.bytes() {
        [b'"', b'+', ..] => (added + 1, removed),
        [b'"', b'-', ..] => (added, removed + 1),
        _ => (added, removed),
    })
}

/// One hunk of a `structuredPatch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line in the old file.
    pub old_start: u64,
    /// First line in the new file.
    pub new_start: u64,
    /// Lines with their mark: ` `, `+`, `-` or `\`.
    pub lines: Vec<String>,
}

/// The hunks of an edit's result; empty when there is no patch.
pub fn hunks(result: Raw<'_>) -> Vec<Hunk> {
    result.get("structuredPatch").map_or_else(Vec::new, patch_hunks)
}

fn patch_hunks(patch: Raw<'_>) -> Vec<Hunk> {
    let number = |hunk: Raw<'_>, key: &str| hunk.get(key).and_then(Raw::u64).unwrap_or(1);
    patch
        .items()
        .map(|hunk| Hunk {
            old_start: number(hunk, "oldStart"),
            new_start: number(hunk, "newStart"),
            lines: hunk
                .get("lines")
                .map(|lines| lines.items().filter_map(|l| Some(l.text()?.into_owned())).collect())
                .unwrap_or_else(Vec::new),
        })
        .collect()
}

/// The subagent that a call's result names: `toolUseResult.agentId`, a teammate's `agent_id`, or
/// the text's tail `agentId: … (`.
pub fn agent_of<'a>(result: Option<Raw<'a>>, shown: Option<&'a str>) -> Option<Cow<'a, str>> {
    let named = result.and_then(|r| r.string("agentId").or_else(|| r.string("agent_id")));
    named.filter(|id| !id.is_empty()).or_else(|| {
        let tail = shown?.rsplit_once("agentId: ")?.1;
        let end = tail.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
        let id = &tail[..end.unwrap_or(tail.len())];
        (!id.is_empty()).then_some(Cow::Borrowed(id))
    })
}

/// A commit that a command made: its hash and subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The hash, as short as git printed it.
    pub hash: String,
    /// The branch git named, if it did.
    pub branch: Option<String>,
    /// The first line of the message, if it was printed.
    pub subject: Option<String>,
}

/// The commits of a command: what `gitOperation` says, else what `git commit` printed.
pub fn commits(command: &str, output: Option<&str>, result: Option<Raw<'_>>) -> Vec<Commit> {
    let commits = command.contains("git") && command.contains("commit");
    let lines = output.filter(|_| commits).into_iter().flat_map(str::lines);
    let printed: Vec<_> = lines.filter_map(printed_commit).collect();
    if printed.is_empty() { recorded_commit(result).into_iter().collect() } else { printed }
}

fn recorded_commit(result: Option<Raw<'_>>) -> Option<Commit> {
    let commit = result?.get("gitOperation")?.some("commit")?;
    let hash = commit.string("sha").or_else(|| commit.string("hash")).or_else(|| commit.text())?;
    Some(Commit { hash: hash.into_owned(), branch: None, subject: None })
}

/// `[branch 1a2b3c4] subject`, also `[branch (root-commit) 1a2b3c4] subject`.
fn printed_commit(line: &str) -> Option<Commit> {
    let (head, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    let branch = branch.trim_end_matches(" (root-commit)");
    is_hash.then(|| Commit {
        hash: hash.to_owned(),
        branch: Some(branch.to_owned()),
        subject: Some(subject.to_owned()),
    })
}

/// Known members of `toolUseResult` objects by tool; tools that are not here are not judged.
pub const RESULT_FIELDS: &[(&str, &[&str])] = &[
    (
        "Bash",
        &[
            "stdout",
            "stderr",
            "interrupted",
            "isImage",
            "noOutputExpected",
            "returnCodeInterpretation",
            "backgroundTaskId",
            "backgroundedByUser",
            "assistantAutoBackgrounded",
            "timedOutAfterMs",
            "backgroundCwdHint",
            "persistedOutputPath",
            "persistedOutputSize",
            "rawOutputPath",
            "structuredContent",
            "dangerouslyDisableSandbox",
            "staleReadFileStateHint",
            "ghRateLimitHint",
            "gitOperation",
            "backgroundEndsWithFinalResponse",
            "backgroundWakesOwner",
            "sandbox",
            "tokenSaverOutput",
            "bashEditDiff",
        ],
    ),
    ("Read", &["type", "file", "firstPage"]),
    (
        "Edit",
        &[
            "filePath",
            "oldString",
            "newString",
            "originalFile",
            "structuredPatch",
            "userModified",
            "replaceAll",
            "gitDiff",
            "staged",
            "memdirStamped",
            "staleRecovered",
            "contentNotInModelContext",
        ],
    ),
    (
        "MultiEdit",
        &["filePath", "edits", "originalFileContents", "structuredPatch", "userModified"],
    ),
    (
        "Write",
        &[
            "type",
            "filePath",
            "content",
            "structuredPatch",
            "originalFile",
            "userModified",
            "gitDiff",
            "staged",
            "memdirStamped",
        ],
    ),
    (
        "Glob",
        &[
            "filenames",
            "durationMs",
            "numFiles",
            "truncated",
            "totalMatches",
            "countIsComplete",
            "timedOut",
        ],
    ),
    (
        "Grep",
        &[
            "mode",
            "numFiles",
            "filenames",
            "content",
            "numLines",
            "numMatches",
            "totalFiles",
            "totalLines",
            "appliedLimit",
            "appliedOffset",
            "timedOut",
        ],
    ),
    ("TodoWrite", &["oldTodos", "newTodos", "verificationNudgeNeeded"]),
    ("WebFetch", &["bytes", "code", "codeText", "result", "durationMs", "url", "detachedToolCall"]),
    ("WebSearch", &["query", "results", "durationSeconds", "searchCount", "detachedToolCall"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Raw<'_> {
        Raw::new(json.as_bytes()).expect("valid")
    }

    #[test]
    fn an_edit_counts_its_patch() {
        // FORMAT 7: Edit `filePath, …, structuredPatch[{oldStart,oldLines,newStart,newLines,lines}]`.
        let result = r#"{"filePath":"/a.rs","originalFile":null,"structuredPatch":[{"oldStart":10,"oldLines":3,"newStart":10,"newLines":4,"lines":[" a","-b","+c","+d"," e","\\ No newline at end of file"]}]}"#;
        let change = change("Edit", None, Some(raw(result)), None).expect("a change");
        assert_eq!((change.added, change.removed, change.estimated), (2, 1, false));
        assert_eq!(hunks(raw(result))[0].lines[1], "-b");
    }

    #[test]
    fn a_created_file_counts_its_lines() {
        let result = r#"{"type":"create","filePath":"/a","content":"x\ny\n","structuredPatch":[],"originalFile":null}"#;
        let change = change("Write", None, Some(raw(result)), None).expect("a change");
        assert_eq!((change.added, change.removed, change.created), (2, 0, true));
    }

    #[test]
    fn without_a_result_the_input_is_an_estimate() {
        let input = r#"{"file_path":"/a","old_string":"a\nb\nc","new_string":"a\nX\nY\nc"}"#;
        let change = change("Edit", Some(raw(input)), None, None).expect("a change");
        assert_eq!((change.added, change.removed, change.estimated), (2, 1, true));
    }

    #[test]
    fn a_relative_path_is_seen_from_the_working_directory() {
        let of = |path: &str, cwd: Option<&str>| {
            let input = format!(r#"{{"file_path":"{path}","content":"x"}}"#);
            change("Write", Some(raw(&input)), None, cwd).expect("a change").path
        };
        assert_eq!(of("wt.txt", Some("/w/tree")), "/w/tree/wt.txt");
        assert_eq!(of("./a/wt.txt", Some("/w/tree/")), "/w/tree/a/wt.txt");
        assert_eq!(of("../b.txt", Some("/w/tree")), "/w/tree/../b.txt");
        assert_eq!(of("/w/b.txt", Some("/w/tree")), "/w/b.txt");
        assert_eq!(of("~/b.txt", Some("/w/tree")), "~/b.txt");
        assert_eq!(of("C:/b.txt", Some("/w/tree")), "C:/b.txt");
        assert_eq!(of("src/b.txt", Some(r"C:\w")), r"C:\w\src\b.txt");
        assert_eq!(of("wt.txt", None), "wt.txt");
    }

    #[test]
    fn a_command_changes_files() {
        // As 2.1.326 writes it: the patches of five files, and the names of all.
        let result = r#"{"stdout":"","bashEditDiff":{"files":[{"filePath":"/w/calc.py","hunks":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":[" def add(a, b):","-    return a - b","+    return a + b"]}]},{"filePath":"/w/old.txt","hunks":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":0,"lines":["-x"]}],"deleted":true},{"filePath":"/w/new.txt","hunks":[{"oldStart":1,"oldLines":0,"newStart":1,"newLines":2,"lines":["+1","+2"]}],"created":true},{"filePath":"/w/empty","hunks":[],"created":true}],"moreFiles":1,"changedFiles":["/w/calc.py","/w/old.txt","/w/new.txt","/w/empty","/w/long.txt"]}}"#;
        let found = command_changes(Some(raw(result)), Some("/w"));
        let seen: Vec<_> = found
            .iter()
            .map(|found| {
                let c = &found.change;
                (&*c.path, c.added, c.removed, c.created, c.deleted, c.unknown)
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("/w/calc.py", 1, 1, false, false, false),
                ("/w/old.txt", 0, 1, false, true, false),
                ("/w/new.txt", 2, 0, true, false, false),
                ("/w/empty", 0, 0, true, false, false),
                ("/w/long.txt", 0, 0, false, false, true),
            ]
        );
        assert_eq!(found[0].hunks()[0].lines[2], "+    return a + b");
        assert!(found[4].hunks().is_empty());
        assert!(command_changes(Some(raw(r#""Error: x""#)), None).is_empty());
        assert!(command_changes(Some(raw(r#"{"bashEditDiff":null}"#)), None).is_empty());
    }

    #[test]
    fn a_subagent_is_named_by_result_or_text() {
        assert_eq!(agent_of(Some(raw(r#"{"agentId":"a1b2"}"#)), None).as_deref(), Some("a1b2"));
        let text = "done\nagentId: a438446 (for resuming to continue this agent's work if needed)";
        assert_eq!(agent_of(None, Some(text)).as_deref(), Some("a438446"));
        assert_eq!(agent_of(Some(raw(r#""Error: x""#)), Some("no id")), None);
    }

    #[test]
    fn commits_come_from_what_git_printed() {
        let out = "[main 2e06a57] Fix it\n 1 file changed\n[x (root-commit) 1234567] Start";
        let got = commits("git commit -m x", Some(out), None);
        assert_eq!(got.len(), 2);
        assert_eq!((got[0].hash.as_str(), got[0].subject.as_deref()), ("2e06a57", Some("Fix it")));
        assert_eq!(got[1].branch.as_deref(), Some("x"));
        assert!(commits("git commit", Some("[not a hash] x"), None).is_empty());
    }

    #[test]
    fn mcp_names_split() {
        assert_eq!(mcp_name("mcp__github__create_issue"), Some(("github", "create_issue")));
        assert_eq!(mcp_name("Bash"), None);
    }

    #[test]
    fn a_secret_is_not_what_a_call_is_about() {
        let of = |json: &'static str| subject("mcp__db__login", Raw::new(json.as_bytes()).ok()?);
        assert_eq!(of(r#"{"user_password":"x","Api-Key":"y","host":"db"}"#).as_deref(), Some("db"));
        assert_eq!(of(r#"{"access_token":"x"}"#), None);
        assert_eq!(of(r#"{"key":"left"}"#).as_deref(), Some("left"));
    }
}

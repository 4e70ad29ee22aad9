//! One file through all sessions: who changed it when, and what it was at any point.
//!
//! What commands did to a file is recorded only by newer versions and not always in full, so a
//! content put together from edits says what it is based on. Backups are exact.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;

use transcript::entry::Entry;
use transcript::entry::message::BlockKind;
use transcript::id::{AgentId, Key, SessionId};
use transcript::json::Raw;
use transcript::layout::Problem;
use transcript::path::{RecordedPath, backup_hash};
use transcript::session::{Call, Node, Role, Session, State};
use transcript::side::backup::{self, Backup, BackupFile, BackupName, Tracked};
use transcript::source::Source;
use transcript::time::Time;
use transcript::tool;
use transcript::tool::{Action, Hunk, ToolForm};

use crate::diff::Diff;
use crate::filter::Period;

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
    /// Where the result stands.
    pub result: Place,
    /// Where the call stands.
    pub call: Place,
    /// The key of the call.
    pub call_key: Key,
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
    /// The file does not exist any more.
    pub deleted: bool,
    /// The lines were counted from the input.
    pub estimated: bool,
    /// The file is named without what changed in it: the lines are not known.
    pub unknown: bool,
    /// Where it stands.
    pub state: State,
    /// The turn, from 0.
    pub turn: Option<usize>,
}

/// Where an entry's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which of the session's files.
    pub source: u8,
    /// Where they begin.
    pub offset: u64,
    /// How many there are.
    pub length: u32,
}

impl Place {
    fn of(node: &Node) -> Self {
        Self { source: node.source, offset: node.offset, length: node.length }
    }

    fn read(self, source: &Source) -> Result<Vec<u8>, Problem> {
        source.bytes(self.offset, self.length as usize)
    }
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
                result: Place::of(result),
                call: Place::of(&session.nodes()[call.node()]),
                call_key: call.key(),
                time: result.time(),
                tool: session.tool(call).to_owned(),
                added: touch.added,
                removed: touch.removed,
                created: touch.created,
                deleted: touch.deleted,
                estimated: touch.estimated,
                unknown: touch.unknown,
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
    let is_its = |b: &&transcript::entry::message::Block<'_>| {
        b.kind == BlockKind::ToolUse && b.id.map(Key::of_str) == Some(call.key())
    };
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

/// The lines that a change took out and put in. Without a patch in the result they are made from
/// the call's input: then the numbers of the lines are not known and are 0.
pub fn hunks(event: &FileEvent, source: &Source) -> Result<Vec<Hunk>, Problem> {
    let result = event.result.read(source)?;
    let entry = Entry::of(&result, 0);
    let cwd = entry.cwd.map(|cwd| cwd.text());
    let by_command = tool::command_changes(entry.tool_result, cwd.as_deref());
    if let Some(found) = by_command.iter().find(|found| found.change.path == event.path) {
        return Ok(found.hunks());
    }
    let recorded = entry.tool_result.map_or_else(Vec::new, tool::hunks);
    if !recorded.is_empty() {
        return Ok(recorded);
    }
    let call = event.call.read(source)?;
    let call = Entry::of(&call, 0);
    let input = call.blocks().iter().find(|b| b.id.map(Key::of_str) == Some(event.call_key));
    let Some(input) = input.and_then(|block| block.input) else { return Ok(Vec::new()) };
    let edits: Vec<Raw<'_>> = match input.get("edits") {
        Some(edits) => edits.items().collect(),
        None => vec![input],
    };
    let hunks = edits.into_iter().filter_map(hunk_of_input);
    // A file that was created begins at its first line.
    let new_start = u64::from(event.created);
    Ok(hunks.map(|hunk| Hunk { new_start, ..hunk }).collect())
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

/// A file as it was kept before a change, as transcripts and the folder of backups tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupRow {
    /// The file: absolute where that is known, else as recorded.
    pub path: String,
    /// The session that made it.
    pub session: SessionId,
    /// Its version, from 1.
    pub version: Option<u64>,
    /// What there was of the file.
    pub kept: Kept,
    /// When it was made.
    pub time: Option<Time>,
}

impl BackupRow {
    /// Whether the backup's name, which is a hash of the file's path, is that of this path.
    pub fn is_proven(&self) -> bool {
        self.kept.name().is_none_or(|name| *backup_hash(&self.path) == *name.hash)
    }
}

/// What there is of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Its content, in this file.
    Here(BackupFile),
    /// A name, and no file of that name any more.
    Gone(BackupName),
    /// The file did not exist then.
    Absent,
    /// The record does not say.
    Unknown,
}

impl Kept {
    /// The name of the backup.
    pub fn name(&self) -> Option<&BackupName> {
        match self {
            Self::Here(file) => Some(&file.name),
            Self::Gone(name) => Some(name),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// The word for it in reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Here(_) => "here",
            Self::Gone(_) => "gone",
            Self::Absent => "absent",
            Self::Unknown => "unknown",
        }
    }
}

/// The backups that a session's lines record for the wanted file, each once.
pub fn tracked(session: &Session, source: &Source, wanted: &str) -> Vec<BackupRow> {
    let Some(id) = session.id() else { return Vec::new() };
    let needle = needle(wanted);
    let mut rows: Vec<BackupRow> = Vec::new();
    let is_line = |node: &&Node| node.role == Role::Bookkeeping && node.source == 0;
    for node in session.nodes().iter().filter(is_line) {
        // A line that cannot be read again says nothing; the scan has said so already.
        let Ok(bytes) = source.entry(node) else { continue };
        if !contains(&bytes, "file-history-") || !contains(&bytes, &needle) {
            continue;
        }
        for file in files(&bytes) {
            let row = BackupRow { session: id.clone(), ..row(session, file) };
            let is_same = |known: &BackupRow| {
                (&known.path, known.version, &known.kept) == (&row.path, row.version, &row.kept)
            };
            if is_wanted(&row.path, wanted) && !rows.iter().any(is_same) {
                rows.push(row);
            }
        }
    }
    rows
}

/// What stands in every line that names the file: the last part of its path, where JSON writes it
/// as it is.
fn needle(wanted: &str) -> String {
    let last = wanted.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii() && !c.is_control() && c != '"';
    if last.chars().all(is_plain) { last.into() } else { String::new() }
}

/// Whether a line may hold `part`; one that is no text may hold anything.
fn contains(bytes: &[u8], part: &str) -> bool {
    std::str::from_utf8(bytes).map_or(true, |text| text.contains(part))
}

fn files(bytes: &[u8]) -> Vec<Tracked> {
    let Ok(line) = Raw::new(bytes) else { return Vec::new() };
    let entry = Entry::of(bytes, 0);
    if entry.is_type("file-history-snapshot") {
        backup::snapshot(line).0.files
    } else if entry.is_type("file-history-delta") {
        backup::delta(line).0.file.into_iter().collect()
    } else {
        Vec::new()
    }
}

fn row(session: &Session, file: Tracked) -> BackupRow {
    let kept = match &file.backup {
        Backup::Named(name) => BackupName::parse(name).map_or(Kept::Unknown, Kept::Gone),
        Backup::Absent => Kept::Absent,
        Backup::Unknown => Kept::Unknown,
    };
    BackupRow {
        path: absolute(session, &file, kept.name()),
        session: SessionId::new(""),
        version: file.version.or_else(|| kept.name().map(|name| name.version)),
        kept,
        time: file.time,
    }
}

/// The whole path of a tracked file. A relative one is seen from a folder of the session; the
/// backup's name is a hash of the whole path and proves which.
fn absolute(session: &Session, file: &Tracked, name: Option<&BackupName>) -> String {
    if file.path.is_absolute() {
        return file.path.as_str().into();
    }
    let cwds = [session.cwd(), session.relocated()].into_iter().flatten();
    let seen = cwds.map(|cwd| RecordedPath::new(cwd).join(file.path.as_str()));
    let real = file.real_parent_dir.iter().zip(file.path.file_name()).map(|(d, n)| d.join(n));
    let mut paths: Vec<String> = seen.chain(real).map(|path| path.as_str().to_owned()).collect();
    let touched = session.touches().map(|(path, _)| path);
    paths.extend(touched.filter(|p| is_wanted(p, file.path.as_str())).map(str::to_owned));
    let proven = |path: &&String| name.is_none_or(|name| *backup_hash(path) == *name.hash);
    let path = paths.iter().find(proven).or_else(|| paths.first());
    path.cloned().unwrap_or_else(|| file.path.as_str().into())
}

/// A change, with where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// The change.
    pub event: FileEvent,
    /// The session it belongs to.
    pub session: SessionId,
    /// The subagent that made it.
    pub agent: Option<AgentId>,
    /// The transcript it stands in.
    pub file: PathBuf,
}

/// Everything that is known of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLog {
    /// The file, as recorded.
    pub path: String,
    /// Its changes, oldest first.
    pub changes: Vec<ChangeRow>,
    /// Its backups, oldest first.
    pub backups: Vec<BackupRow>,
}

/// Which of a file's changes and backups are asked for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this time.
    pub period: Period,
}

impl Filter {
    fn takes(&self, session: &SessionId, time: Option<Time>) -> bool {
        self.session.as_ref().is_none_or(|wanted| wanted == session) && self.period.holds(time)
    }
}

/// Joins what transcripts record with the backups that are there, one log for each path, in the
/// order of the paths. `given` is the path as a person gave it, made absolute: backups of sessions
/// without a transcript are found by it alone.
pub fn logs(
    changes: Vec<ChangeRow>,
    recorded: Vec<BackupRow>,
    here: &[BackupFile],
    given: &[String],
    filter: &Filter,
) -> Vec<FileLog> {
    let mut paths: BTreeSet<String> = given.iter().cloned().collect();
    paths.extend(changes.iter().map(|change| change.event.path.clone()));
    paths.extend(recorded.iter().map(|row| row.path.clone()));
    let mut logs: Vec<FileLog> = Vec::new();
    for path in paths {
        let recorded = recorded.iter().filter(|row| row.path == path).cloned().collect();
        let mut backups = joined(&path, recorded, here);
        backups.retain(|row| filter.takes(&row.session, row.time));
        backups.sort_by_key(|row| (row.time, row.session.clone(), row.version));
        let is_its = |change: &&ChangeRow| {
            change.event.path == path && filter.takes(&change.session, change.event.time)
        };
        let mut changes: Vec<_> = changes.iter().filter(is_its).cloned().collect();
        changes.sort_by_key(|c| (c.event.time, c.session.clone(), c.event.number));
        if !changes.is_empty() || !backups.is_empty() {
            logs.push(FileLog { path, changes, backups });
        }
    }
    logs
}

/// The recorded backups of a path with the files that are there, and those that nothing records.
/// A fork copies the records and not the files, so that a record without a file is left out where
/// another has its name and time.
fn joined(path: &str, mut recorded: Vec<BackupRow>, here: &[BackupFile]) -> Vec<BackupRow> {
    let hash = backup_hash(path);
    let mut files: Vec<&BackupFile> = here.iter().filter(|file| *file.name.hash == *hash).collect();
    for row in &mut recorded {
        let Kept::Gone(name) = &row.kept else { continue };
        let is_its = |file: &&BackupFile| file.session == row.session && file.name == *name;
        let found = here.iter().find(is_its).cloned();
        if let Some(file) = found {
            files.retain(|known| **known != file);
            row.kept = Kept::Here(file);
        }
    }
    recorded.sort_by_key(|row| !matches!(row.kept, Kept::Here(_)));
    let mut rows: Vec<BackupRow> = Vec::new();
    for row in recorded {
        let is_here = matches!(row.kept, Kept::Here(_));
        let is_same = |known: &BackupRow| {
            !is_here
                && row.time.is_some()
                && (known.kept.name(), known.version, known.time)
                    == (row.kept.name(), row.version, row.time)
        };
        if !rows.iter().any(is_same) {
            rows.push(row);
        }
    }
    rows.extend(files.into_iter().map(|file| BackupRow {
        path: path.into(),
        session: file.session.clone(),
        version: Some(file.name.version),
        time: file.modified,
        kept: Kept::Here(file.clone()),
    }));
    rows
}

/// Why a recorded path is no place to write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadTarget {
    /// It does not begin at a root, so that nobody knows where it leads.
    Relative,
    /// It is of another system than this one.
    OtherSystem,
    /// The backup's name is that of another path.
    Unproven,
    /// It goes up with `..`, or through `.`.
    Climbs,
    /// It has characters that do not show, so that it is not what it looks like.
    Hidden,
}

/// The place that a recorded path names on this computer, if it is one that may be written to.
/// `is_hidden` tells characters that do not show.
pub fn target(path: &str, is_hidden: impl Fn(char) -> bool) -> Result<PathBuf, BadTarget> {
    let place = PathBuf::from(path);
    if !RecordedPath::new(path).is_absolute() {
        return Err(BadTarget::Relative);
    }
    if !place.is_absolute() {
        return Err(BadTarget::OtherSystem);
    }
    let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
    if path.split(separators).any(|part| part == ".." || part == ".") || place.file_name().is_none()
    {
        return Err(BadTarget::Climbs);
    }
    if path.chars().any(is_hidden) {
        return Err(BadTarget::Hidden);
    }
    Ok(place)
}

/// Lines that `new` adds to and takes from `old`; `None` where one is no text or too long.
pub fn line_changes(old: &[u8], new: &[u8]) -> Option<(usize, usize)> {
    const MOST: usize = 4 << 20;
    if old.len() + new.len() > MOST {
        return None;
    }
    let (old, new) = (std::str::from_utf8(old).ok()?, std::str::from_utf8(new).ok()?);
    Some(Diff::of_lines(old, new).count())
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

    #[test]
    fn only_a_plain_absolute_path_is_a_target() {
        let check = |path: &str| target(path, |c| c == '\u{202e}');
        assert_eq!(check("../../x"), Err(BadTarget::Relative));
        assert_eq!(check("x"), Err(BadTarget::Relative));
        assert_eq!(check(""), Err(BadTarget::Relative));
        if cfg!(unix) {
            assert_eq!(check("/a/x"), Ok("/a/x".into()));
            assert_eq!(check("/a/../x"), Err(BadTarget::Climbs));
            assert_eq!(check("/a/."), Err(BadTarget::Climbs));
            assert_eq!(check("/"), Err(BadTarget::Climbs));
            assert_eq!(check("/a/\u{202e}x"), Err(BadTarget::Hidden));
            assert_eq!(check(r"C:\a\x"), Err(BadTarget::OtherSystem));
        }
    }

    #[test]
    fn backups_are_recorded_there_or_both() {
        let (path, time) = ("/home/x/a.txt", Some(Time(5)));
        let name = |version| BackupName { hash: backup_hash(path).into(), version };
        let row = |session: &str, version| BackupRow {
            path: path.into(),
            session: SessionId::new(session),
            version: Some(version),
            kept: Kept::Gone(name(version)),
            time,
        };
        let file = |session: &str, version| BackupFile {
            path: "b".into(),
            session: SessionId::new(session),
            name: name(version),
            size: 1,
            modified: time,
            kept: None,
        };
        // `fork` has copies of what `own` recorded; of `old` there is no transcript.
        let recorded = vec![row("fork", 1), row("own", 1), row("own", 2)];
        let here = [file("own", 1), file("old", 1)];
        let logs = logs(Vec::new(), recorded, &here, &[], &Filter::default());
        let got: Vec<_> = logs[0]
            .backups
            .iter()
            .map(|b| (b.session.as_str(), b.version, b.kept.word()))
            .collect();
        let want = [("old", Some(1), "here"), ("own", Some(1), "here"), ("own", Some(2), "gone")];
        assert_eq!(got, want);
    }

    #[test]
    fn lines_are_compared_where_they_are_text() {
        assert_eq!(line_changes(b"a\nb\n", b"a\nc\nd\n"), Some((2, 1)));
        assert_eq!(line_changes(b"\xff", b"a"), None);
    }
}

//! Failed calls: what was called, with what, what came back, and what helped.

use std::collections::BTreeMap;

use transcript::call::{CallInput, changed_members};
use transcript::id::Key;
use transcript::layout::Problem;
use transcript::reading::{EntryReading, ErrorText};
use transcript::session::{Call, Session, State};
use transcript::source::Source;
use transcript::time::Time;
use transcript::tool::ToolForm;

/// A call that failed.
#[derive(Debug, Clone)]
pub struct ErrorItem {
    /// The entry of the result, by its key, to tell copies.
    pub key: Key,
    /// The tool; unknown when the call is not in the file.
    pub tool: Option<String>,
    /// The call's input, as JSON.
    pub input: Option<String>,
    /// What came back; a list of texts as JSON stays a list.
    pub error: ErrorText,
    /// The call's id.
    pub tool_use_id: Option<String>,
    /// The number of the result's entry.
    pub number: u32,
    /// Where the result's bytes begin.
    pub offset: u64,
    /// When.
    pub time: Option<Time>,
    /// Where it stands.
    pub state: State,
    /// The turn, from 0.
    pub turn: Option<usize>,
    /// What helped, if it was asked for and found.
    pub fix: Option<Fix>,
}

/// How sure it is that a later success is the fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sureness {
    /// The same tool on the same thing.
    SameSubject,
    /// The same tool in the same turn.
    SameTurn,
    /// The same tool, later.
    Later,
}

impl Sureness {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameSubject => "same-subject",
            Self::SameTurn => "same-turn",
            Self::Later => "later",
        }
    }
}

/// The next success of the same tool.
#[derive(Debug, Clone)]
pub struct Fix {
    /// The entry of the call that succeeded.
    pub number: u32,
    /// Its input, as JSON.
    pub input: String,
    /// Members of the input that changed.
    pub changed: Vec<String>,
    /// Calls in between.
    pub calls_between: usize,
    /// How sure it is.
    pub sureness: Sureness,
}

/// All failed results of a session, copies included: whoever joins files leaves those out.
pub fn errors(
    session: &Session,
    source: &Source,
    with_fixes: bool,
) -> Result<Vec<ErrorItem>, Problem> {
    let errors = session.errors();
    errors.into_iter().map(|(node, call)| error(session, source, node, call, with_fixes)).collect()
}

fn error(
    session: &Session,
    source: &Source,
    node: usize,
    call: Option<&Call>,
    with_fixes: bool,
) -> Result<ErrorItem, Problem> {
    let result = &session.nodes()[node];
    let bytes = source.entry(result)?;
    let failed = EntryReading::from_bytes(&bytes).failed_result(call.map(Call::key));
    let (tool_use_id, error) = failed.unwrap_or((None, ErrorText::None));
    let input = call.map(|call| input(session, source, call)).transpose()?.flatten();
    let fix = match (call, with_fixes) {
        (Some(call), true) => fix(session, source, call, input.as_deref())?,
        _ => None,
    };
    Ok(ErrorItem {
        key: result.key,
        tool: call.map(|c| session.tool(c).to_owned()),
        input,
        error,
        tool_use_id,
        number: result.number,
        offset: result.offset,
        time: result.time(),
        state: session.state(node),
        turn: session.turn_of(node),
        fix,
    })
}

/// The input of a call, as JSON.
fn input(session: &Session, source: &Source, call: &Call) -> Result<Option<String>, Problem> {
    let bytes = source.entry(&session.nodes()[call.node()])?;
    let input = EntryReading::from_bytes(&bytes).call_input(call.key());
    Ok(input.map(|input| input.to_json().into_owned()))
}

/// How many later calls of the tool are looked at.
const LOOK_AHEAD: usize = 12;

fn fix(
    session: &Session,
    source: &Source,
    failed: &Call,
    failed_input: Option<&str>,
) -> Result<Option<Fix>, Problem> {
    let calls = session.calls();
    let at = calls.partition_point(|c| c.node() < failed.node());
    let tool = session.tool(failed);
    let branch = session.branch_of(failed.node());
    let later = calls[at..].iter().enumerate().filter(|(_, c)| {
        Some(c.node()) > failed.result()
            && session.tool(c) == tool
            && !c.is_error
            && c.result().is_some()
            && session.branch_of(c.node()) == branch
    });
    let mut best: Option<Fix> = None;
    for (between, call) in later.take(LOOK_AHEAD) {
        let Some(input) = input(session, source, call)? else { continue };
        let sureness = sureness(session, failed, failed_input, call, &input);
        if best.as_ref().is_none_or(|b| sureness < b.sureness) {
            best = Some(Fix {
                number: session.nodes()[call.node()].number,
                changed: failed_input.map_or_else(Vec::new, |f| changed_members(f, &input)),
                input,
                calls_between: between.saturating_sub(1),
                sureness,
            });
        }
        if sureness == Sureness::SameSubject {
            break;
        }
    }
    Ok(best)
}

fn sureness(
    session: &Session,
    failed: &Call,
    failed_input: Option<&str>,
    call: &Call,
    input: &str,
) -> Sureness {
    let tool = session.tool(failed);
    let subject = |json: &str| Some(aim(tool, &CallInput::from_json(json)?.subject_for(tool)?));
    if failed_input.and_then(subject) == subject(input) {
        return Sureness::SameSubject;
    }
    let same_turn = session.turn_of(failed.node()) == session.turn_of(call.node());
    if same_turn { Sureness::SameTurn } else { Sureness::Later }
}

/// What a call aims at: of a command its program and subcommand, else the whole subject.
fn aim(tool: &str, subject: &str) -> String {
    if ToolForm::of(tool) != ToolForm::Command {
        return subject.to_owned();
    }
    let command = subject.rsplit(['&', ';', '|']).find(|part| !part.trim().is_empty());
    command.unwrap_or(subject).split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

/// Errors that are alike.
#[derive(Debug, Clone)]
pub struct ErrorGroup {
    /// The tool.
    pub tool: String,
    /// The error with paths, numbers, ids and quoted parts taken out.
    pub signature: String,
    /// How often.
    pub count: usize,
    /// In how many sessions.
    pub sessions: usize,
    /// Last time.
    pub last: Option<Time>,
    /// One of them, as it was.
    pub example: String,
}

/// Groups errors of many sessions by what is alike, the most frequent first.
pub fn summary<'a>(errors: impl IntoIterator<Item = (&'a str, &'a ErrorItem)>) -> Vec<ErrorGroup> {
    let mut groups: BTreeMap<(String, String), (ErrorGroup, Vec<&str>)> = BTreeMap::new();
    for (session, error) in errors {
        let text = error.error.text();
        let tool = error.tool.clone().unwrap_or_else(|| "unknown".into());
        let signature = signature(&text);
        let group = groups.entry((tool.clone(), signature.clone())).or_insert_with(|| {
            let example = first_line(&text).to_owned();
            (ErrorGroup { tool, signature, count: 0, sessions: 0, last: None, example }, Vec::new())
        });
        group.0.count += 1;
        group.0.last = group.0.last.max(error.time);
        if !group.1.contains(&session) {
            group.1.push(session);
        }
    }
    let mut groups: Vec<ErrorGroup> = groups
        .into_values()
        .map(|(group, sessions)| ErrorGroup { sessions: sessions.len(), ..group })
        .collect();
    groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.signature.cmp(&b.signature)));
    groups
}

/// The first line that says something: exit codes stand on a line of their own.
fn first_line(text: &str) -> &str {
    let text = text.trim_start_matches("<tool_use_error>");
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or("");
    let is_code = first.trim_start_matches("Error: ").starts_with("Exit code ");
    if is_code { lines.next().unwrap_or(first) } else { first }
}

/// What stays the same when the same thing fails elsewhere.
pub fn signature(text: &str) -> String {
    let line = first_line(text).trim_end_matches("</tool_use_error>");
    let mut words = Vec::new();
    for word in line.split_whitespace().take(24) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '\\');
        let is_path = bare.contains('/') || bare.contains('\\');
        let digits = bare.chars().filter(char::is_ascii_digit).count();
        let is_hex = bare.len() >= 7 && bare.chars().all(|c| c.is_ascii_hexdigit());
        words.push(if is_path {
            word.replace(bare, "PATH")
        } else if is_hex || (digits > 0 && digits * 2 >= bare.len()) {
            word.replace(bare, "N")
        } else {
            quoted(word)
        });
    }
    words.join(" ")
}

/// A word in quotes is a name of something.
fn quoted(word: &str) -> String {
    let quotes = ['"', '\'', '`'];
    let core = word.trim_end_matches([':', ',', '.', ';', ')']);
    let is_quoted = core.len() > 2 && core.starts_with(quotes) && core.ends_with(quotes);
    if is_quoted { word.replace(core, "'…'") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_has_one_signature() {
        let a =
            signature("Error: Exit code 101\nerror[E0308]: mismatched types in /home/a/x.rs:12");
        let b = signature("Error: Exit code 1\nerror[E0308]: mismatched types in /tmp/y.rs:99");
        assert_eq!(a, b);
        assert_eq!(a, "error[E0308]: mismatched types in PATH");
        assert_eq!(
            signature("<tool_use_error>File does not exist.</tool_use_error>"),
            "File does not exist."
        );
    }

    #[test]
    fn a_command_aims_at_its_program() {
        assert_eq!(aim("Bash", "cd /x && cargo test --all"), "cargo test");
        assert_eq!(aim("Read", "/a/b"), "/a/b");
    }
}

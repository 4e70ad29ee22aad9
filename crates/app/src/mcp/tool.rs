//! The tools: what each is for, and what can be asked of it.
//!
//! The fields of a question are its schema; what is said of a field is what the model reads of
//! it.

use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::Page;
use super::{Refusal, question, read};
use crate::run::Run;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Words, "phrases", -without, prefix*, and filters: project: session: tool: file: branch:
    /// role:prompt|answer|thinking|call|output|summary error:yes before:2026-04-20 after:7d
    pub query: String,
    /// From an earlier answer, for the next page
    pub cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// The question, in plain words
    pub question: String,
    /// Characters to quote, 4000 if not given, at most 12000
    pub budget: Option<usize>,
    /// Only projects whose path contains this; `.` for the current folder
    pub project: Option<String>,
    /// Only since then: a date, `yesterday`, `7d`
    pub since: Option<String>,
    /// Only until then
    pub until: Option<String>,
    /// From an earlier answer, for the next page
    pub cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// Only projects whose path contains this; `.` for the current folder
    pub project: Option<String>,
    /// Only since then: a date, `yesterday`, `7d`
    pub since: Option<String>,
    /// Only until then
    pub until: Option<String>,
    /// From an earlier answer, for the next page
    pub cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// SESSION, SESSION/AGENT, or with an entry SESSION#ENTRY as answers name it: then that entry
    /// and what is around it
    pub session: String,
    /// Turns: `3`, `3-7`, `3-`
    pub turns: Option<String>,
    /// Also what was called and what came of it
    pub work: Option<bool>,
    /// Words to read, 1500 if not given, at most 4000: every entry is cut to the same length, so
    /// that all of them fit
    pub words: Option<usize>,
    /// From an earlier answer, for the next page
    pub cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Only errors with all these words in the error or in what was called
    pub text: Option<String>,
    /// Only this tool, such as `Bash`
    pub tool: Option<String>,
    /// Only projects whose path contains this; `.` for the current folder
    pub project: Option<String>,
    /// Only since then: a date, `yesterday`, `7d`
    pub since: Option<String>,
    /// From an earlier answer, for the next page
    pub cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileQuestion {
    /// The file: an absolute path, or the end of one
    pub path: String,
    /// From an earlier answer, for the next page
    pub cursor: Option<String>,
}

/// What is asked.
#[derive(Debug)]
pub enum Question {
    Search(Search),
    Recall(Recall),
    Sessions(Sessions),
    Read(Read),
    Errors(Errors),
    FileHistory(FileQuestion),
    Timeline(Sessions),
}

impl Question {
    /// Finds the answer.
    pub fn ask(&self, run: &mut Run) -> Result<Page, Refusal> {
        match self {
            Self::Search(asked) => question::search(asked, run),
            Self::Recall(asked) => question::recall(asked, run),
            Self::Sessions(asked) => question::sessions(asked, run),
            Self::Read(asked) => read::read(asked, run),
            Self::Errors(asked) => question::errors(asked, run),
            Self::FileHistory(asked) => question::file_history(asked, run),
            Self::Timeline(asked) => question::timeline(asked, run),
        }
    }
}

/// A question by the name of its tool; `None` if there is no such tool, and why it can't be asked
/// so.
pub fn question(name: &str, arguments: JsonObject) -> Option<Result<Question, String>> {
    fn of<T: DeserializeOwned>(
        arguments: JsonObject,
        question: impl Fn(T) -> Question,
    ) -> Result<Question, String> {
        let wrong = |error: serde_json::Error| format!("Wrong arguments: {error}");
        serde_json::from_value(Value::Object(arguments)).map(question).map_err(wrong)
    }
    Some(match name {
        "search" => of(arguments, Question::Search),
        "recall" => of(arguments, Question::Recall),
        "sessions" => of(arguments, Question::Sessions),
        "read" => of(arguments, Question::Read),
        "errors" => of(arguments, Question::Errors),
        "file_history" => of(arguments, Question::FileHistory),
        "timeline" => of(arguments, Question::Timeline),
        _ => return None,
    })
}

/// All tools. Each says what it is for and what a person says when it is wanted.
pub fn all() -> Vec<Tool> {
    vec![
        tool::<Search>(
            "search",
            "Search all earlier sessions for exact words: an error message, a name, a command. Use \
             when the user says \"that error again\" or names something you do not know.",
        ),
        tool::<Recall>(
            "recall",
            "Find evidence in earlier sessions for a question in plain words: what was decided, \
             tried or found out, with its place. Use for \"why did we\", \"last time\", \"as we \
             agreed\", \"remember\", and before deciding what may have been decided already.",
        ),
        tool::<Sessions>(
            "sessions",
            "List earlier sessions, last active first. Use for \"what did I work on\", \"the \
             session about\".",
        ),
        tool::<Read>(
            "read",
            "Read a session, some of its turns, or what surrounds an entry, within a number of \
             words. Use to see more of a place that another tool named.",
        ),
        tool::<Errors>(
            "errors",
            "List tool calls that failed in earlier sessions and what worked afterwards, latest \
             first. Use when a command or a tool fails.",
        ),
        tool::<FileQuestion>(
            "file_history",
            "List every recorded change to a file in all sessions, latest first. Use for \"when \
             did this change\", and before changing a file whose past matters.",
        ),
        tool::<Sessions>(
            "timeline",
            "List prompts and commits of all sessions by time, latest first. Use for \
             \"yesterday\", \"last week\", \"what happened since\".",
        ),
    ]
}

fn tool<T: JsonSchema + 'static>(name: &'static str, about: &'static str) -> Tool {
    let schema = schema_for_input::<T>().expect("a question is an object");
    let reads = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
    Tool::new(name, about, short((*schema).clone())).with_annotations(reads)
}

/// A schema without what tells the model nothing: it is in the prompt of every session.
fn short(mut schema: JsonObject) -> JsonObject {
    schema.remove("$schema");
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for field in fields.into_iter().flat_map(|fields| fields.values_mut()) {
        let Some(field) = field.as_object_mut() else { continue };
        field.remove("format");
        field.remove("minimum");
        // A field that is not required can be left out: nobody has to say `null`.
        if let Some(first) = field.get("type").and_then(|kind| kind.get(0)).cloned() {
            field.insert("type".into(), first);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are loaded at the start of every session.
    #[test]
    fn all_tools_together_are_short() {
        let length = |tool: &Tool| {
            let about = tool.description.as_deref().unwrap_or_default();
            assert!(about.len() <= 260 && about.contains("Use "), "{about}");
            let schema = serde_json::to_string(&tool.input_schema).expect("plain values");
            let name = format!("mcp__recount__{}", tool.name);
            let sent = serde_json::json!({"name": name, "description": about, "input_schema": ""});
            sent.to_string().chars().count() + schema.chars().count()
        };
        let all: usize = all().iter().map(length).sum();
        assert!(all < 5_000, "{all}");
    }

    #[test]
    fn every_tool_can_be_asked_and_only_reads() {
        for tool in all() {
            let asked = question(&tool.name, JsonObject::new()).expect("it is a tool");
            let required = tool.input_schema.get("required").and_then(Value::as_array);
            let required = required.is_some_and(|list| !list.is_empty());
            assert_eq!(asked.is_err(), required, "{}", tool.name);
            assert_eq!(tool.annotations.and_then(|hints| hints.read_only_hint), Some(true));
        }
        assert!(question("sync", JsonObject::new()).is_none());
    }
}

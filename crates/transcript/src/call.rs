//! Inputs of calls as typed values, from the JSON that a record keeps of them.
//!
//! Each tool names the members of its input in its own way; whoever shows a call asks here for
//! what they mean.

use std::borrow::Cow;

use crate::json::Raw;
use crate::tool::{self, Hunk};

/// The input of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallInput<'a>(Raw<'a>);

/// A member of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputValue {
    /// A string, decoded.
    Text(String),
    /// Anything else, as JSON.
    Json(String),
}

impl InputValue {
    /// The text, or the JSON as text.
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Json(text) => text,
        }
    }
}

/// A question to the person, with the answers to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedQuestion {
    /// The question.
    pub text: String,
    /// The labels of its options.
    pub options: Vec<String>,
}

/// One line of a to-do list that is written whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTodo {
    /// What is to do.
    pub content: Option<String>,
    /// `pending`, `in_progress` or `completed`, as written.
    pub status: Option<String>,
    /// The words for it while it is being done.
    pub active_form: Option<String>,
}

/// A page that a web search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its address.
    pub url: String,
}

impl<'a> CallInput<'a> {
    pub(crate) const fn from_raw(raw: Raw<'a>) -> Self {
        Self(raw)
    }

    /// The input that a record keeps as JSON; `None` if it is not JSON.
    pub fn from_json(json: &'a str) -> Option<Self> {
        Raw::new(json.as_bytes()).ok().map(Self)
    }

    /// The input as JSON.
    pub fn to_json(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0.bytes())
    }

    /// What the call is about, in a few words.
    pub fn subject_for(self, tool: &str) -> Option<Cow<'a, str>> {
        tool::subject(tool, self.0)
    }

    /// The command line of a shell.
    pub fn shell_command(self) -> Option<Cow<'a, str>> {
        self.0.string("command")
    }

    /// What the model says that a command is for.
    pub fn stated_purpose(self) -> Option<Cow<'a, str>> {
        self.0.string("description")
    }

    /// The plan to be approved.
    pub fn plan_text(self) -> Option<Cow<'a, str>> {
        self.0.string("plan")
    }

    /// The name of a skill.
    pub fn skill_name(self) -> Option<Cow<'a, str>> {
        self.0.string("skill").or_else(|| self.0.string("command"))
    }

    /// The kind of subagent that is asked for.
    pub fn subagent_type(self) -> Option<Cow<'a, str>> {
        self.0.string("subagent_type")
    }

    /// The kind or name of a subagent, and its task.
    pub fn subagent_task(self) -> (Option<String>, Option<String>) {
        let get = |keys: &[&str]| {
            let text = keys.iter().find_map(|key| self.0.string(key));
            text.filter(|text| !text.trim().is_empty()).map(Cow::into_owned)
        };
        (get(&["subagent_type", "name"]), get(&["description", "prompt"]))
    }

    /// The number of the task that is changed.
    pub fn task_number(self) -> Option<Cow<'a, str>> {
        self.0.string("taskId")
    }

    /// The new status of a task.
    pub fn task_status(self) -> Option<Cow<'a, str>> {
        self.0.string("status")
    }

    /// The words of a task.
    pub fn task_subject(self) -> Option<Cow<'a, str>> {
        self.0.string("subject")
    }

    /// The to-do list; `None` if the input has none.
    pub fn listed_todos(self) -> Option<Vec<ListedTodo>> {
        let owned = |item: Raw<'_>, key: &str| item.string(key).map(Cow::into_owned);
        let todos = self.0.get("todos")?.items().map(|item| ListedTodo {
            content: owned(item, "content"),
            status: owned(item, "status"),
            active_form: owned(item, "activeForm"),
        });
        Some(todos.collect())
    }

    /// The questions to the person; `None` if the input has none.
    pub fn asked_questions(self) -> Option<Vec<AskedQuestion>> {
        let label = |option: Raw<'_>| {
            option.string("label").or_else(|| option.text()).unwrap_or_default().into_owned()
        };
        let questions = self.0.get("questions")?.items().map(|question| AskedQuestion {
            text: question.string("question").unwrap_or_default().into_owned(),
            options: question.get("options").into_iter().flat_map(Raw::items).map(label).collect(),
        });
        Some(questions.collect())
    }

    /// The members by their names; `None` if the input is not an object.
    pub fn named_members(self) -> Option<Vec<(String, InputValue)>> {
        let value = |value: Raw<'_>| match value.text() {
            Some(text) => InputValue::Text(text.into_owned()),
            None => InputValue::Json(String::from_utf8_lossy(value.bytes()).into_owned()),
        };
        let members = self.0.fields().map(|(name, raw)| (name.text().into_owned(), value(raw)));
        self.0.is_object().then(|| members.collect())
    }

    /// The lines that an edit takes out and puts in, one hunk for each of its edits.
    pub fn written_hunks(self) -> Vec<Hunk> {
        let marked = |edit: Raw<'_>, keys: &[&str], mark: char| -> Vec<String> {
            let text = keys.iter().find_map(|key| edit.string(key));
            text.map_or_else(Vec::new, |text| text.lines().map(|l| format!("{mark}{l}")).collect())
        };
        let hunk = |edit: Raw<'_>| {
            let mut lines = marked(edit, &["old_string", "old_source"], '-');
            lines.extend(marked(edit, &["new_string", "new_source", "content"], '+'));
            Hunk { old_start: 1, new_start: 1, lines }
        };
        match self.0.get("edits") {
            Some(edits) => edits.items().map(hunk).collect(),
            None => vec![hunk(self.0)],
        }
    }

    /// All strings of the input, and its numbers, without the names of members.
    pub fn each_value(self, each: &mut dyn FnMut(&str)) {
        each_scalar(self.0, each);
    }
}

fn each_scalar(value: Raw<'_>, each: &mut dyn FnMut(&str)) {
    if let Some(text) = value.text() {
        each(&text);
    } else if value.is_object() {
        value.fields().for_each(|(_, value)| each_scalar(value, each));
    } else if value.f64().is_some() {
        each(&String::from_utf8_lossy(value.bytes()));
    } else {
        value.items().for_each(|item| each_scalar(item, each));
    }
}

/// The members that differ between two inputs, both as JSON.
pub fn changed_members(before: &str, after: &str) -> Vec<String> {
    let (Ok(before), Ok(after)) = (Raw::new(before.as_bytes()), Raw::new(after.as_bytes())) else {
        return Vec::new();
    };
    let differs = |key: &str| before.get(key).map(Raw::bytes) != after.get(key).map(Raw::bytes);
    let mut keys: Vec<String> =
        before.fields().chain(after.fields()).map(|(k, _)| k.text().into_owned()).collect();
    keys.sort();
    keys.dedup();
    keys.retain(|key| differs(key));
    keys
}

/// The texts of blocks that are kept as JSON, one under the other; `None` if it is not JSON.
pub fn joined_texts(json: &str) -> Option<String> {
    let blocks = Raw::new(json.as_bytes()).ok()?;
    let texts = blocks.items().filter_map(|item| Some(item.string("text")?.into_owned()));
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// The pages of a line `Links: […]` in the answer of a web search.
pub fn found_pages(line: &str) -> Option<Vec<FoundPage>> {
    let list = Raw::new(line.strip_prefix("Links: ")?.as_bytes()).ok()?;
    let pages = list.items().map(|page| FoundPage {
        title: page.string("title").map(Cow::into_owned),
        url: page.string("url").unwrap_or_default().into_owned(),
    });
    list.is_array().then(|| pages.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_changed_are_named() {
        let got = changed_members(
            r#"{"command":"ls /x","timeout":1}"#,
            r#"{"command":"ls /y","timeout":1}"#,
        );
        assert_eq!(got, ["command"]);
        assert!(changed_members("no JSON", "{}").is_empty());
    }

    #[test]
    fn an_edit_is_written_as_hunks() {
        let input = CallInput::from_json(r#"{"edits":[{"old_string":"a","new_string":"b\nc"}]}"#);
        let hunks = input.expect("an input").written_hunks();
        assert_eq!(hunks[0].lines, ["-a", "+b", "+c"]);
    }
}

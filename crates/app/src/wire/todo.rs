//! Lines of `recount todos --json`.

use report::todo::{Item, List, Source};
use serde::Serialize;

/// The things to do of one session or subagent.
#[derive(Serialize)]
#[serde(tag = "type", rename = "todo_list")]
pub struct TodoList<'a> {
    /// The session's id, or the team's name.
    session_id: &'a str,
    /// The id of the subagent whose list it is; `null` for the session's own.
    agent_id: Option<&'a str>,
    /// The folder it comes from: `todos` or `tasks`.
    source: &'static str,
    /// When it was last written.
    modified: Option<String>,
    /// How many of its things are `pending` or `in_progress`, also those not asked for.
    open: usize,
    /// How many of its things are `completed`, also those not asked for.
    done: usize,
    /// The things asked for, in their order.
    items: Vec<TodoItem<'a>>,
}

/// One thing to do.
#[derive(Serialize)]
struct TodoItem<'a> {
    /// Its number in the list; `null` where it has none.
    id: Option<&'a str>,
    /// What is to do, in a few words; `null` where the file does not say.
    text: Option<&'a str>,
    /// What is to do, at length; `null` for lists from `todos`.
    description: Option<&'a str>,
    /// `pending`, `in_progress`, `completed`, or another word of the file; `null` where it has
    /// none.
    status: Option<&'a str>,
    /// `high`, `medium` or `low`, which only Claude Code 1.0 wrote; else `null`.
    priority: Option<&'a str>,
    /// The ids of the tasks that it waits for; empty for lists from `todos`.
    blocked_by: Vec<&'a str>,
    /// The name of the agent that does it; `null` where none is named, and for lists from `todos`.
    owner: Option<&'a str>,
}

impl<'a> From<&'a List> for TodoList<'a> {
    fn from(list: &'a List) -> Self {
        Self {
            session_id: list.session.as_str(),
            agent_id: list.agent.as_ref().map(|agent| agent.as_str()),
            source: source(list.source),
            modified: super::time(list.modified),
            open: list.counts.open,
            done: list.counts.done,
            items: list.items.iter().map(TodoItem::from).collect(),
        }
    }
}

impl<'a> From<&'a Item> for TodoItem<'a> {
    fn from(item: &'a Item) -> Self {
        Self {
            id: item.id.as_deref(),
            text: item.text.as_deref(),
            description: item.description.as_deref(),
            status: item.status.as_ref().map(|status| status.as_str()),
            priority: item.priority.as_deref(),
            blocked_by: item.blocked_by.iter().map(|id| &**id).collect(),
            owner: item.owner.as_deref(),
        }
    }
}

/// The word for where a list comes from.
pub fn source(source: Source) -> &'static str {
    match source {
        Source::Todos => "todos",
        Source::Tasks => "tasks",
    }
}

//! Lines of `recount todos --json`.

use report::todo::{Item, List, Source};
use serde::Serialize;

/// The things to do of one session or subagent.
#[derive(Serialize)]
#[serde(tag = "type", rename = "todo_list")]
pub struct TodoList<'a> {
    /// The session, or the team.
    session_id: &'a str,
    /// The subagent whose list it is.
    agent_id: Option<&'a str>,
    /// `todos` or `tasks`: the folder it comes from.
    source: &'static str,
    /// When it was last written.
    modified: Option<String>,
    /// How many of its things are open.
    open: usize,
    /// How many of its things are done.
    done: usize,
    /// The things asked for, in their order.
    items: Vec<TodoItem<'a>>,
}

/// One thing to do.
#[derive(Serialize)]
struct TodoItem<'a> {
    id: Option<&'a str>,
    text: Option<&'a str>,
    description: Option<&'a str>,
    /// `pending`, `in_progress`, `completed`, or another word of the file.
    status: Option<&'a str>,
    priority: Option<&'a str>,
    blocked_by: Vec<&'a str>,
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

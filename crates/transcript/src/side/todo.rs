//! `todos/<session>-agent-<agent>.json` and the result of `TodoWrite`: lists of things to do.
//!
//! Most files are `[]`: Claude Code makes one for each session and, since the `Task` tools of
//! 2.1.16, seldom fills it. In 1.0.x an item had `priority` and `id` in place of `activeForm`.

use super::{Extra, Object, Read, Reader, word};
use crate::json::Raw;

word!(
    /// How far a thing to do is.
    Status {
        /// Not begun.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
);

/// A thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// What is to do.
    pub content: Option<Box<str>>,
    /// How far it is.
    pub status: Option<Status>,
    /// What to say while it is being done. Since 2.0.
    pub active_form: Option<Box<str>>,
    /// `high`, `medium`, `low`. In 1.0.x.
    pub priority: Option<Box<str>>,
    /// Its number. In 1.0.x.
    pub id: Option<Box<str>>,
    /// Fields that were not read.
    pub extra: Extra,
}

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Read<Vec<Todo>> {
    let mut reader = Reader::new(bytes);
    let todos = match reader.document() {
        Some(raw) => reader.objects_of(raw),
        None => Vec::new(),
    };
    (todos.into_iter().map(todo).collect(), reader.finish())
}

/// The list after a `TodoWrite`, from its `toolUseResult`; `None` where that has none.
pub fn new_todos(tool_use_result: Raw<'_>) -> Option<Vec<Todo>> {
    let list = tool_use_result.get("newTodos").filter(|raw| raw.is_array())?;
    let objects = Reader::new(list.bytes()).objects(list);
    Some(objects.into_iter().map(todo).collect())
}

fn todo(mut object: Object<'_>) -> Todo {
    Todo {
        content: object.text("content"),
        status: object.take("status", Status::read),
        active_form: object.text("activeForm"),
        priority: object.text("priority"),
        id: object.word("id"),
        extra: object.rest(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &str = r#"[
  {
    "content": "Implement user authentication",
    "status": "completed",
    "activeForm": "Implementing user authentication"
  },
  {
    "content": "Write unit tests",
    "status": "in_progress",
    "activeForm": "Writing unit tests"
  },
  {
    "content": "Update documentation",
    "status": "pending",
    "activeForm": "Updating documentation"
  }
]"#;

    #[test]
    fn the_list_with_active_forms() {
        let (todos, odd) = parse(SEED.as_bytes());
        assert!(odd.is_empty() && todos.iter().all(|todo| todo.extra.is_empty()));
        let status: Vec<_> = todos.iter().filter_map(|todo| todo.status.clone()).collect();
        assert_eq!(status, [Status::Completed, Status::InProgress, Status::Pending]);
        assert_eq!(todos[1].active_form.as_deref(), Some("Writing unit tests"));
    }

    #[test]
    fn the_old_list_and_the_empty_one() {
        let (todos, odd) =
            parse(br#"[{"content":"Fix it","status":"pending","priority":"high","id":"1"}]"#);
        assert!(odd.is_empty());
        assert_eq!(
            (todos[0].priority.as_deref(), todos[0].id.as_deref()),
            (Some("high"), Some("1"))
        );
        assert_eq!(todos[0].active_form, None);
        assert_eq!(parse(b"[]"), (vec![], vec![]));
    }

    #[test]
    fn no_list_is_odd() {
        for bytes in [&b"{}"[..], b"", b"[1]", b"[{]", b"[{}"] {
            let (todos, odd) = parse(bytes);
            assert_eq!((todos.len(), odd.len()), (0, 1), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn the_result_of_todo_write() {
        let result = br#"{"oldTodos":[],"newTodos":[{"content":"Read current tokenizer files to understand functionality","status":"in_progress","activeForm":"Reading current tokenizer files"}]}"#;
        let todos = new_todos(Raw::new(result).expect("valid")).expect("a list");
        assert_eq!(todos[0].status, Some(Status::InProgress));
        assert_eq!(new_todos(Raw::new(br#""Error: x""#).expect("valid")), None);
    }
}

//! What is to do, followed through a session: lists that are written whole, and tasks that are
//! made and changed one by one.

use transcript::call::CallInput;

use transcript::record::{CallRecord, Todo};
use transcript::tool::ToolForm;

/// What is to do so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Todos(Vec<Todo>);

impl Todos {
    /// Takes a call, and writes into it what is to do after it.
    pub fn follow(&mut self, call: &mut CallRecord) {
        let is_done = call.outcome.as_ref().is_some_and(|outcome| !outcome.is_error);
        let form = ToolForm::of(&call.tool);
        if !is_done || !form.changes_todos() {
            return;
        }
        self.0.iter_mut().for_each(|todo| todo.is_changed = false);
        let input = CallInput::from_json(&call.input);
        let changed = input.and_then(|input| match form {
            ToolForm::TodoList => self.write(input),
            ToolForm::NewTask => self.create(input, call),
            _ => self.update(input),
        });
        if changed.is_some() {
            call.todos.clone_from(&self.0);
        }
    }

    fn write(&mut self, input: CallInput<'_>) -> Option<()> {
        let before = std::mem::take(&mut self.0);
        for item in input.listed_todos()? {
            let words = item.content.unwrap_or_default();
            let status = item.status.unwrap_or_else(|| "pending".into());
            let is_changed = !before.iter().any(|old| old.words == words && old.status == status);
            self.0.push(Todo { task: None, words, status, is_changed });
        }
        Some(())
    }

    /// The number of a new task is told by the answer: `Task #1 created successfully: …`.
    fn create(&mut self, input: CallInput<'_>, call: &CallRecord) -> Option<()> {
        let answer = call.outcome.as_ref()?.text.as_deref()?;
        let number = answer.split_once('#')?.1;
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let task = Some(number[..end].to_owned()).filter(|task| !task.is_empty())?;
        let words = input.task_subject()?.into_owned();
        self.0.push(Todo { task: Some(task), words, status: "pending".into(), is_changed: true });
        Some(())
    }

    fn update(&mut self, input: CallInput<'_>) -> Option<()> {
        let task = input.task_number()?;
        let at = self.0.iter().position(|todo| todo.task.as_deref() == Some(&*task))?;
        if input.task_status().as_deref() == Some("deleted") {
            self.0.remove(at);
            return Some(());
        }
        let todo = &mut self.0[at];
        if let Some(words) = input.task_subject() {
            todo.words = words.into_owned();
        }
        if let Some(status) = input.task_status() {
            todo.status = status.into_owned();
        }
        todo.is_changed = true;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use transcript::id::Key;
    use transcript::tool::Action;

    use super::*;
    use transcript::record::Outcome;

    /// What is to do after a call: number, words, status, and `*` where that is new.
    fn after(todos: &mut Todos, tool: &str, input: &str, answer: &str) -> Vec<String> {
        let outcome = Outcome {
            node: 0,
            number: None,
            is_error: answer.starts_with("Error"),
            text: Some(answer.into()),
            stderr: None,
            media: Vec::new(),
            change: None,
            changed_files: Vec::new(),
            tokens: None,
        };
        let mut call = CallRecord {
            tool_use_id: String::new(),
            tool: tool.into(),
            action: Action::Plan,
            subject: None,
            input: input.into(),
            outcome: Some(outcome),
            duration_ms: None,
            key: Key(0),
            todos: Vec::new(),
        };
        todos.follow(&mut call);
        let word = |todo: &Todo| {
            let task = todo.task.as_deref().unwrap_or("-");
            let mark = if todo.is_changed { "*" } else { "" };
            format!("{task} {} {}{mark}", todo.words, todo.status)
        };
        call.todos.iter().map(word).collect()
    }

    #[test]
    fn tasks_are_followed_one_by_one() {
        let mut todos = Todos::default();
        let made = "Task #1 created successfully: parse";
        let one = after(&mut todos, "TaskCreate", r#"{"subject":"parse"}"#, made);
        assert_eq!(one, ["1 parse pending*"]);
        let made = "Task #2 created successfully: print";
        let two = after(&mut todos, "TaskCreate", r#"{"subject":"print"}"#, made);
        assert_eq!(two, ["1 parse pending", "2 print pending*"]);
        let begun = r#"{"taskId":"1","status":"in_progress"}"#;
        let now = after(&mut todos, "TaskUpdate", begun, "Updated task #1 status");
        assert_eq!(now, ["1 parse in_progress*", "2 print pending"]);
        // Of a task that is not known, and after an error, nothing is said.
        let unknown = r#"{"taskId":"9","status":"completed"}"#;
        assert_eq!(after(&mut todos, "TaskUpdate", unknown, "Updated"), [""; 0]);
        let wrong = r#"{"taskId":"2","status":"completed"}"#;
        assert_eq!(after(&mut todos, "TaskUpdate", wrong, "Error: no"), [""; 0]);
        let gone = r#"{"taskId":"2","status":"deleted"}"#;
        assert_eq!(after(&mut todos, "TaskUpdate", gone, "Updated"), ["1 parse in_progress"]);
    }

    #[test]
    fn a_list_that_is_written_whole_shows_what_is_new_in_it() {
        let mut todos = Todos::default();
        let first =
            r#"{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"pending"}]}"#;
        after(&mut todos, "TodoWrite", first, "ok");
        let second = r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}"#;
        let now = after(&mut todos, "TodoWrite", second, "ok");
        assert_eq!(now, ["- a completed*", "- b pending"]);
    }
}

//! What was to do, for each session: the todo files of both forms, and the task files.
//!
//! The files differ in their words and say the same, so they become lists of one form. A task
//! list is many files, one for each task.

use std::collections::BTreeMap;

use transcript::id::{AgentId, SessionId};
use transcript::side::task::Task;
use transcript::side::todo::{Status, Todo};
use transcript::time::Time;

/// Where a list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// `todos/<session>-agent-<agent>.json`.
    Todos,
    /// `tasks/<session>/<number>.json`.
    Tasks,
}

/// The things to do of one session or agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The session, or the team.
    pub session: SessionId,
    /// The subagent whose list it is.
    pub agent: Option<AgentId>,
    /// Where it comes from.
    pub source: Source,
    /// When it was last written.
    pub modified: Option<Time>,
    /// The things to do, in their order.
    pub items: Vec<Item>,
    /// How many there are, also where some are not asked for.
    pub counts: Counts,
}

/// How far a list is. What is neither open nor done has a status of a word not known here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub all: usize,
    /// Still to do.
    pub open: usize,
    /// Done.
    pub done: usize,
}

impl Counts {
    fn add(&mut self, item: &Item) {
        self.all += 1;
        self.open += usize::from(item.is_open());
        self.done += usize::from(item.is_done());
    }
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its number, where it has one.
    pub id: Option<Box<str>>,
    /// What is to do.
    pub text: Option<Box<str>>,
    /// The same at length. Tasks only.
    pub description: Option<Box<str>>,
    /// How far it is.
    pub status: Option<Status>,
    /// `high`, `medium`, `low`. In 1.0.x.
    pub priority: Option<Box<str>>,
    /// The tasks it waits for.
    pub blocked_by: Vec<Box<str>>,
    /// The agent that does it.
    pub owner: Option<Box<str>>,
}

impl Item {
    /// Whether it is still to do. A status of a word not known here is neither open nor done.
    pub fn is_open(&self) -> bool {
        matches!(self.status, Some(Status::Pending | Status::InProgress))
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.status == Some(Status::Completed)
    }

    fn from_todo(todo: Todo) -> Self {
        Self {
            id: todo.id,
            text: todo.content,
            description: None,
            status: todo.status,
            priority: todo.priority,
            blocked_by: Vec::new(),
            owner: None,
        }
    }

    fn from_task(task: Task) -> Self {
        Self {
            id: task.id,
            text: task.subject,
            description: task.description,
            status: task.status,
            priority: None,
            blocked_by: task.blocked_by,
            owner: task.owner,
        }
    }
}

impl List {
    fn new(session: SessionId, agent: Option<AgentId>, source: Source) -> Self {
        let (items, counts) = (Vec::new(), Counts::default());
        Self { session, agent, source, modified: None, items, counts }
    }

    /// The list of a todo file.
    pub fn from_todos(
        session: SessionId,
        agent: Option<AgentId>,
        modified: Option<Time>,
        todos: Vec<Todo>,
    ) -> Self {
        let mut list = Self { modified, ..Self::new(session, agent, Source::Todos) };
        todos.into_iter().for_each(|todo| list.push(Item::from_todo(todo)));
        list
    }

    fn push(&mut self, item: Item) {
        self.counts.add(&item);
        self.items.push(item);
    }
}

/// A task's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFile {
    /// The session, or the team.
    pub session: SessionId,
    /// The number in its name.
    pub number: u64,
    /// When it was last written.
    pub modified: Option<Time>,
    /// What it says.
    pub task: Task,
}

/// The task files as one list for each session.
pub fn task_lists(mut files: Vec<TaskFile>) -> Vec<List> {
    files.sort_by_key(|file| file.number);
    let mut lists: BTreeMap<SessionId, List> = BTreeMap::new();
    for TaskFile { session, modified, task, .. } in files {
        let list =
            lists.entry(session.clone()).or_insert_with(|| List::new(session, None, Source::Tasks));
        list.modified = list.modified.max(modified);
        list.push(Item::from_task(task));
    }
    lists.into_values().collect()
}

/// What of the lists is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this session.
    pub session: Option<SessionId>,
    /// Only what is open.
    pub only_open: bool,
}

/// The lists asked for, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// Lists with something in them.
    pub lists: Vec<List>,
    /// How many lists were empty: Claude Code makes one for each session.
    pub empty: usize,
}

/// The lists asked for.
pub fn select(lists: Vec<List>, filter: &Filter) -> Lists {
    let mut found = Lists::default();
    for mut list in lists {
        if filter.session.as_ref().is_some_and(|session| *session != list.session) {
            continue;
        }
        if list.items.is_empty() {
            found.empty += 1;
            continue;
        }
        if filter.only_open {
            list.items.retain(Item::is_open);
        }
        if !list.items.is_empty() {
            found.lists.push(list);
        }
    }
    let order = |list: &List| (list.session.clone(), list.source, list.agent.clone());
    found.lists.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| order(a).cmp(&order(b))));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::side::{task, todo};

    fn list(session: &str, ms: i64, json: &str) -> List {
        let (todos, odd) = todo::parse(json.as_bytes());
        assert!(odd.is_empty());
        List::from_todos(SessionId::new(session), None, Some(Time(ms)), todos)
    }

    #[test]
    fn open_things_of_every_form() {
        let lists = vec![
            list(
                "new",
                1,
                r#"[{"content":"a","status":"completed","activeForm":"A"},{"content":"b","status":"in_progress","activeForm":"B"}]"#,
            ),
            list("old", 2, r#"[{"content":"c","status":"pending","priority":"high","id":"1"}]"#),
            list(
                "done",
                3,
                r#"[{"content":"d","status":"completed","activeForm":"D"},{"content":"e","status":"dropped","activeForm":"E"}]"#,
            ),
            list("empty", 4, "[]"),
        ];
        let all = select(lists.clone(), &Filter::default());
        let names: Vec<_> = all.lists.iter().map(|list| list.session.as_str()).collect();
        assert_eq!((names, all.empty), (vec!["done", "old", "new"], 1));
        assert_eq!(all.lists[0].counts, Counts { all: 2, open: 0, done: 1 });
        let open = select(lists.clone(), &Filter { only_open: true, ..Filter::default() });
        let texts: Vec<_> = open
            .lists
            .iter()
            .flat_map(|list| &list.items)
            .filter_map(|item| item.text.as_deref())
            .collect();
        assert_eq!(texts, ["c", "b"]);
        assert_eq!(open.lists[1].counts, Counts { all: 2, open: 1, done: 1 });
        let session = Some(SessionId::new("old"));
        assert_eq!(select(lists, &Filter { session, ..Filter::default() }).lists.len(), 1);
    }

    #[test]
    fn task_files_become_one_list_by_number() {
        let file = |number: u64, ms| {
            let json = format!(
                r#"{{"id":"{number}","subject":"t{number}","description":"","status":"pending","blocks":[],"blockedBy":["1"]}}"#
            );
            let (task, _) = task::parse(json.as_bytes());
            TaskFile { session: SessionId::new("s"), number, modified: Some(Time(ms)), task }
        };
        let lists = task_lists(vec![file(10, 5), file(2, 9)]);
        let [list] = &lists[..] else { panic!("{lists:?}") };
        let texts: Vec<_> = list.items.iter().filter_map(|item| item.text.as_deref()).collect();
        assert_eq!((texts, list.modified), (vec!["t2", "t10"], Some(Time(9))));
        assert_eq!(&*list.items[0].blocked_by[0], "1");
    }
}

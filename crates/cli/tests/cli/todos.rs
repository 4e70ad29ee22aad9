use super::case::Case;
use serde::Deserialize;

const HOME: &str = r#"
//- projects/-home-x-app/3f2a91c0-0000-4000-8000-000000000001.jsonl
//- todos/3f2a91c0-0000-4000-8000-000000000001-agent-3f2a91c0-0000-4000-8000-000000000001.json
[{"content":"Write the parser","status":"completed","activeForm":"Writing the parser"},{"content":"Test it","status":"in_progress","activeForm":"Testing it"}]
//- todos/3f2ab774-0000-4000-8000-000000000002-agent-a7b0bd37.json
[{"content":"Fix it","status":"pending","priority":"high","id":"1"}]
//- todos/77c0ffee-0000-4000-8000-000000000003-agent-77c0ffee-0000-4000-8000-000000000003.json
[]
//- tasks/77c0ffee-0000-4000-8000-000000000003/1.json
{"id":"1","subject":"Measure","description":"Before anything else","status":"completed","blocks":["2"],"blockedBy":[]}
//- tasks/77c0ffee-0000-4000-8000-000000000003/2.json
{"id":"2","subject":"Change","description":"","activeForm":"Changing","status":"pending","blocks":[],"blockedBy":["1"],"owner":"tester"}
//- tasks/77c0ffee-0000-4000-8000-000000000003/.highwatermark
2
"#;

#[test]
fn all_forms_of_lists() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("todos 3f2a9"), @"
    exit 0
    --- stdout
    3f2a91c0-0000-4000-8000-000000000001  just now  todos  1 open of 2
      [x] Write the parser
      [>] Test it
    ");
    insta::assert_snapshot!(case.run("todos 3f2ab"), @"
    exit 0
    --- stdout
    3f2ab774-0000-4000-8000-000000000002  just now  agent a7b0bd37  todos  1 open of 1
      [ ] Fix it  (high)
    ");
    insta::assert_snapshot!(case.run("todos 77"), @"
    exit 0
    --- stdout
    77c0ffee-0000-4000-8000-000000000003  just now  tasks  1 open of 2
      [x] Measure
      [ ] Change  (by tester; waits for 1)
    --- stderr
    note: 1 empty list not shown
    ");
    insta::assert_snapshot!(case.run("todos 77 --open"), @"
    exit 0
    --- stdout
    77c0ffee-0000-4000-8000-000000000003  just now  tasks  1 open of 2
      [ ] Change  (by tester; waits for 1)
    --- stderr
    note: 1 empty list not shown
    ");
}

#[test]
fn a_name_that_is_not_one_session() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("todos 3f2a"), @"
    exit 2
    --- stderr
    error: Todo list of session `3f2a` matches 2 todo lists
    hint: Give more characters, or choose one: `3f2a91c0`, `3f2ab774`
    ");
    insta::assert_snapshot!(case.run("todos 77c0ffe1"), @"
    exit 2
    --- stderr
    error: No todo list of session `77c0ffe1`
    hint: Did you mean `77c0ffee`? `recount todos` shows all todo lists
    ");
    insta::assert_snapshot!(case.run("todos -"), @"
    exit 2
    --- stderr
    error: This command needs a session's name, `-` has none
    hint: Give an id, the beginning of one, or `latest`
    ");
}

#[test]
fn nothing_to_do() {
    insta::assert_snapshot!(Case::new("").run("todos"), @"
    exit 1
    --- stderr
    note: Nothing found
    ");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct TodoList {
    r#type: String,
    session_id: String,
    agent_id: Option<String>,
    source: String,
    modified: Option<String>,
    open: usize,
    done: usize,
    items: Vec<TodoItem>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct TodoItem {
    id: Option<String>,
    text: Option<String>,
    description: Option<String>,
    status: Option<String>,
    priority: Option<String>,
    blocked_by: Vec<String>,
    owner: Option<String>,
}

#[test]
fn json() {
    let case = Case::new(HOME);
    let lists: Vec<TodoList> = case.json("todos");
    assert!(lists.iter().all(|list| list.r#type == "todo_list" && list.modified.is_some()));
    let mut lists: Vec<_> = lists
        .iter()
        .map(|list| (&list.session_id[..8], &*list.source, list.open, list.done))
        .collect();
    lists.sort_unstable();
    let want =
        [("3f2a91c0", "todos", 1, 1), ("3f2ab774", "todos", 1, 0), ("77c0ffee", "tasks", 1, 1)];
    assert_eq!(lists, want);
    let [list] = &case.json::<TodoList>("todos 77 --open")[..] else { panic!() };
    assert_eq!(
        (&*list.items[0].blocked_by, list.items[0].owner.as_deref()),
        (&["1".to_owned()][..], Some("tester"))
    );
}

use super::case::Case;
use serde::Deserialize;

const HOME: &str = "\
//- plans/calm-red-fox.md
# Do it

- now
//- plans/calm-red-fox-agent-a7b0bd37.md
no heading here
";

#[test]
fn a_list_and_one_of_it() {
    let case = Case::new(HOME);
    let shown = case.run("plans");
    assert!(shown.contains("just now  15 B  calm-red-fox "), "{shown}");
    assert!(shown.contains("(no heading) (by agent a7b0bd37)"), "{shown}");
    insta::assert_snapshot!(case.run("plans calm-red-fox"), @"
    exit 0
    --- stdout
    # Do it

    - now
    ");
    insta::assert_snapshot!(case.run("plans calm-red-fox-a"), @"
    exit 0
    --- stdout
    no heading here
    ");
    insta::assert_snapshot!(case.run("plans calm"), @"
    exit 2
    --- stderr
    error: Plan `calm` matches 2 plans
    hint: Give more characters, or choose one: `calm-red-fox`, `calm-red-fox-agent-a7b0bd37`
    ");
    insta::assert_snapshot!(case.run("plans calm-red-fix"), @"
    exit 2
    --- stderr
    error: No plan `calm-red-fix`
    hint: Did you mean `calm-red-fox`, `calm-red-fox-agent-a7b0bd37`? `recount plans` shows all plans
    ");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Plan {
    r#type: String,
    name: String,
    slug: String,
    agent_id: Option<String>,
    is_workshop: bool,
    title: Option<String>,
    modified: Option<String>,
    size: u64,
    path: String,
    text: Option<String>,
}

#[test]
fn json() {
    let case = Case::new(HOME);
    let plans: Vec<Plan> = case.json("plans");
    assert!(plans.iter().all(|plan| plan.slug == "calm-red-fox" && plan.text.is_none()));
    let [plan] = &case.json::<Plan>("plans calm-red-fox")[..] else { panic!() };
    assert_eq!((&*plan.r#type, plan.text.as_deref()), ("plan", Some("# Do it\n\n- now\n")));
}

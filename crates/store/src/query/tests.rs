use super::*;
use proptest::prelude::*;

fn date(text: &str) -> Option<(Time, Time)> {
    match text {
        "today" => Some((Time(2000), Time(3000))),
        "last week" => Some((Time(0), Time(1000))),
        _ => None,
    }
}

fn parse(text: &str) -> Result<Query, QueryError> {
    Query::parse(text, &date)
}

/// The query as it is printed, or the error with the text it is about.
fn shown(text: &str) -> String {
    match parse(text) {
        Ok(query) => query.to_string(),
        Err(error) => {
            let suggestion = error.suggestion.map(|s| format!(" -> {s}")).unwrap_or_default();
            format!("{}: {}{suggestion}", &text[error.at.clone()], error.kind)
        }
    }
}

#[test]
fn every_part_of_the_language() {
    let cases = [
        ("foo bar", "foo bar"),
        ("\"connection  refused\" docker", "\"connection refused\" docker"),
        ("build -docker -\"no space\" -role:output", "build -docker -\"no space\" -role:output"),
        ("conf* (foo*)", "conf* foo*"),
        ("role:prompt,answer x role:Title", "x role:prompt role:answer role:title"),
        ("project:\"my app\",b", "project:\"my app\" project:b"),
        ("after:today before:\"last week\" x", "x before:\"last week\" after:today"),
        (
            "in:subagent tool:Bash file:src/a.rs error:yes",
            "tool:Bash file:src/a.rs error:yes in:subagent",
        ),
        ("error:E0433 pr:#12 commit:ff4ca1d", "error:E0433 pr:\"#12\" commit:ff4ca1d"),
        ("model:opus session:3f2a branch:main", "session:3f2a branch:main model:opus"),
    ];
    for (text, want) in cases {
        assert_eq!(shown(text), want, "{text}");
    }
}

#[test]
fn plain_questions_are_words() {
    let cases = [
        ("why does it say can't open file?", "why does it say can't open file"),
        ("std::fs https://x.org foo.rs:12 C:\\x", "std::fs https://x.org foo.rs:12 C:\\x"),
        ("error: no such file (os error 2)", "error no such file os error 2"),
        ("how to use --release - or not?", "how to use release or not"),
        ("a 5\" disk; todo: x", "a 5 disk todo x"),
        ("file:///etc/hosts", "file:///etc/hosts"),
        ("key:value", "key:value"),
    ];
    for (text, want) in cases {
        assert_eq!(shown(text), want, "{text}");
    }
}

#[test]
fn what_makes_no_sense_is_named_with_its_place() {
    let cases = [
        ("x projekt:foo", "projekt:: `projekt:` is no filter -> project:"),
        ("rol:prompt", "rol:: `rol:` is no filter -> role:"),
        ("role:promt", "promt: `promt` is no role -> prompt"),
        ("role:user", "user: `user` is no role -> prompt"),
        ("in:actve", "actve: `actve` is no in -> active"),
        ("x before:soon", "soon: `soon` is no date"),
        ("x project:", "project:: `project:` needs a value"),
        ("tool:\"\" x", "tool:\"\": `tool:` needs a value"),
        ("a \"b c", "\"b c: this quote is not closed -> \"b c\""),
        ("-a -role:output", "-a -role:output: only what must not occur is given"),
        ("?!", "?!: there is no word to look for"),
    ];
    for (text, want) in cases {
        assert_eq!(shown(text), want, "{text}");
    }
}

#[test]
fn after_takes_its_day_in_and_before_does_not() {
    let query = parse("after:\"last week\" before:today").unwrap();
    let allows = |milli| query.only.allows_time(Some(Time(milli)));
    assert!(allows(0) && allows(1999));
    assert!(!allows(-1) && !allows(2000));
    assert!(!query.only.allows_time(None));
}

proptest! {
    #[test]
    fn any_text_is_a_query_or_an_error_inside_it(
        text in "\\PC{0,40}|([a-z]{1,4}|role:|in:|project:|file:|before:today|[\"\\\\*:, -]|é|\\(){0,14}"
    ) {
        match parse(&text) {
            Ok(query) => {
                let printed = query.to_string();
                prop_assert_eq!(parse(&printed), Ok(query), "{}", printed);
            }
            Err(error) => prop_assert!(text.get(error.at).is_some()),
        }
    }
}

use super::case::Case;
use serde::Deserialize;

// The first hash is that of its text, the second of another.
const HOME: &str = r#"
//- projects/-code-app/3f2a91c0-0000-4000-8000-000000000001.jsonl
//- history.jsonl
{"display":"very old","pastedContents":{},"timestamp":1759000000000,"project":"/code/app"}
{"display":"gone\nnow","pastedContents":{},"timestamp":1769000000000,"project":"/code/tool","sessionId":"77c0ffee-0000-4000-8000-000000000003"}
{"display":"still gone","pastedContents":{},"timestamp":1769004080000,"project":"/code/tool","sessionId":"77c0ffee-0000-4000-8000-000000000003"}
{"display":"see [Pasted text #1] [Pasted text #2 +90 lines] [Pasted text #3] [Pasted text #4]","pastedContents":{"1":{"id":1,"type":"text","content":"a\nb"},"2":{"id":2,"type":"text","contentHash":"477bddee11090559"},"3":{"id":3,"type":"text","contentHash":"0123456789abcdef"},"4":{"id":4,"type":"text","contentHash":"ffffffffffffffff"}},"timestamp":1776672755000,"project":"/code/app","sessionId":"3f2a91c0-0000-4000-8000-000000000001"}
//- paste-cache/477bddee11090559.txt
long text
//- paste-cache/0123456789abcdef.txt
other text
"#;

#[test]
fn prompts_and_their_filters() {
    let case = Case::new(HOME);
    insta::assert_snapshot!(case.run("history"), @"
    exit 0
    --- stdout
    TIME              PROJECT  SESSION   PROMPT
    2025-09-27 19:06  app      -         very old
    2026-01-21 12:53  tool     77c0ffee  gone now
    2026-01-21 14:01  tool     77c0ffee  still gone
    2026-04-20 08:12  app      3f2a91c0  see [Pasted text #1] [Pasted text #2 +90 lines] [Pasted text #3] [Pasted text #4]
    ");
    insta::assert_snapshot!(case.run("history --project TOOL --until 2026-01-21"), @"
    exit 0
    --- stdout
    TIME              PROJECT  SESSION   PROMPT
    2026-01-21 12:53  tool     77c0ffee  gone now
    2026-01-21 14:01  tool     77c0ffee  still gone
    ");
    insta::assert_snapshot!(case.run("history --since 2026-04-20 --session 3F2A"), @"
    exit 0
    --- stdout
    TIME              PROJECT  SESSION   PROMPT
    2026-04-20 08:12  app      3f2a91c0  see [Pasted text #1] [Pasted text #2 +90 lines] [Pasted text #3] [Pasted text #4]
    ");
    insta::assert_snapshot!(case.run("history --since 2026-04-21"), @"
    exit 1
    --- stderr
    note: Nothing found
    ");
    insta::assert_snapshot!(case.run("history --since soon"), @"
    exit 2
    --- stderr
    error: invalid value 'soon' for '--since <TIME>': give a date (2026-04-20), a date and time (2026-04-20T14:30), today, yesterday, last week, or an age (3h, 7d, 2w)

    For more information, try '--help'.
    ");
}

#[test]
fn pastes_are_resolved() {
    insta::assert_snapshot!(Case::new(HOME).run("history --limit 1 --pastes"), @"
    exit 0
    --- stdout
    TIME              PROJECT  SESSION   PROMPT
    2026-04-20 08:12  app      3f2a91c0  see [Pasted text #1] [Pasted text #2 +90 lines] [Pasted text #3] [Pasted text #4]
      pasted text #1
        a
        b
      pasted text #2
        long text
      pasted text #3, changed since
        other text
      pasted text #4, its text is gone (ffffffffffffffff)
    ");
}

#[test]
fn sessions_without_a_transcript() {
    insta::assert_snapshot!(Case::new(HOME).run("history --ghosts"), @"
    exit 0
    --- stdout
    FIRST               LASTED  PROJECT  SESSION   PROMPTS  FIRST PROMPT
    2026-01-21 12:53  1 h 08 m  tool     77c0ffee        2  gone now

    Old prompts, written before prompts named their session:
    FIRST             LASTED  PROJECT  SESSION  PROMPTS  FIRST PROMPT
    2025-09-27 19:06     0 s  app      -              1  very old
    --- stderr
    note: 1 session without a transcript, 1 prompt of no known session
    ");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Prompt {
    r#type: String,
    time: Option<String>,
    project: Option<String>,
    session_id: Option<String>,
    text: Option<String>,
    pastes: Vec<Paste>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Paste {
    id: Option<String>,
    kind: Option<String>,
    hash: Option<String>,
    text: Option<String>,
    is_genuine: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "all fields are decoded, not all compared")]
struct Ghost {
    r#type: String,
    session_id: Option<String>,
    project: Option<String>,
    first: Option<String>,
    last: Option<String>,
    prompts: usize,
    first_prompt: Option<String>,
}

#[test]
fn json() {
    let case = Case::new(HOME);
    let prompts: Vec<Prompt> = case.json("history --pastes");
    assert!(prompts.iter().all(|prompt| prompt.r#type == "prompt"));
    assert_eq!(prompts[1].text.as_deref(), Some("gone\nnow"));
    let pastes: Vec<_> =
        prompts[3].pastes.iter().map(|paste| (paste.text.as_deref(), paste.is_genuine)).collect();
    let want = [
        (Some("a\nb"), None),
        (Some("long text\n"), Some(true)),
        (Some("other text\n"), Some(false)),
        (None, None),
    ];
    assert_eq!(pastes, want);
    let ghosts: Vec<Ghost> = case.json("history --ghosts");
    assert!(ghosts.iter().all(|ghost| ghost.r#type == "ghost_session"));
    let ids: Vec<_> =
        ghosts.iter().map(|ghost| (ghost.session_id.is_some(), ghost.prompts)).collect();
    assert_eq!(ids, [(true, 2), (false, 1)]);
}

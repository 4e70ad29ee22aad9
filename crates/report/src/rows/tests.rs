//! Rows against what stands in a home of a few lines.

use store::table::words::Place;
use store::table::{Row, Table, Value};
use testkit::Home;
use transcript::layout;
use transcript::library::{Library, read_session, scan};
use transcript::reading::EntryReading;
use transcript::usage::Claims;

use super::line::is_of;
use super::*;
use crate::usage::Input;

/// A session of two turns with a subagent in the second, a refused call, an edit, a commit and a
/// branch that was left; and a copy of its first turn that goes on by itself.
const HOME: &str = r#"//- projects/-w/s1.jsonl
{"parentUuid":null,"uuid":"u1","sessionId":"s1","timestamp":"2026-01-31T23:59:00.000Z","cwd":"/w","gitBranch":"main","version":"2.1.100","type":"user","message":{"role":"user","content":"fix it"}}
{"parentUuid":"u1","uuid":"a1","sessionId":"s1","timestamp":"2026-01-31T23:59:10.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m1","model":"claude-opus-4-6","stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":10},"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"\ncargo test\nexit"}}]}}
{"parentUuid":"a1","uuid":"r1","sessionId":"s1","timestamp":"2026-02-01T00:00:10.250Z","cwd":"/w","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"The user doesn't want to proceed with this tool use. 7"}]}}
{"parentUuid":"r1","uuid":"u2","sessionId":"s1","timestamp":"2026-02-01T00:01:00.000Z","cwd":"/w","type":"user","message":{"role":"user","content":"now look"}}
{"parentUuid":"u2","uuid":"a2","sessionId":"s1","timestamp":"2026-02-01T00:01:05.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m2","model":"claude-opus-4-6","stop_reason":"tool_use","usage":{"input_tokens":200,"output_tokens":20},"content":[{"type":"tool_use","id":"t2","name":"Task","input":{"subagent_type":"Explore","description":"look","prompt":"look there"}}]}}
{"parentUuid":"a2","uuid":"r2","sessionId":"s1","timestamp":"2026-02-01T00:01:50.000Z","cwd":"/w","toolUseResult":{"agentId":"b7"},"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"seen"}]}}
{"type":"pr-link","sessionId":"s1","timestamp":"2026-02-01T00:02:00.000Z","prNumber":7,"prUrl":"https://x/7","prRepository":"x"}
//- projects/-w/s1/subagents/agent-b7.jsonl
{"parentUuid":null,"uuid":"b1","sessionId":"s1","agentId":"b7","isSidechain":true,"timestamp":"2026-02-01T00:01:06.000Z","cwd":"/w","type":"user","message":{"role":"user","content":"look there"}}
{"parentUuid":"b1","uuid":"b2","sessionId":"s1","agentId":"b7","isSidechain":true,"timestamp":"2026-02-01T00:01:07.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m3","model":"claude-opus-4-6","stop_reason":"end_turn","usage":{"input_tokens":300,"output_tokens":30},"content":[{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"/w/a","content":"1\n2\n"}}]}}
{"parentUuid":"b2","uuid":"b3","sessionId":"s1","agentId":"b7","isSidechain":true,"timestamp":"2026-02-01T00:01:09.000Z","cwd":"/w","toolUseResult":{"type":"create","filePath":"/w/a","content":"1\n2\n","structuredPatch":[]},"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"File created"}]}}
//- projects/-w/s2.jsonl
{"parentUuid":null,"uuid":"u1","sessionId":"s2","timestamp":"2026-01-31T23:59:00.000Z","cwd":"/w","gitBranch":"main","version":"2.1.100","type":"user","message":{"role":"user","content":"fix it"},"forkedFrom":{"sessionId":"s1","messageUuid":"u1"}}
{"parentUuid":"u1","uuid":"a1","sessionId":"s2","timestamp":"2026-01-31T23:59:10.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m1","model":"claude-opus-4-6","stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":10},"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"\ncargo test\nexit"}}]},"forkedFrom":{"sessionId":"s1","messageUuid":"a1"}}
{"parentUuid":"a1","uuid":"c1","sessionId":"s2","timestamp":"2026-02-02T00:00:00.000Z","cwd":"/w","type":"user","message":{"role":"user","content":"another way"}}
{"parentUuid":"c1","uuid":"c2","sessionId":"s2","cwd":"/w","type":"user","message":{"role":"user","content":"or that"}}
{"parentUuid":"a4","uuid":"r4","sessionId":"s2","timestamp":"2026-02-02T00:00:09.000Z","cwd":"/w","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t4","content":"early"}]}}
{"parentUuid":"c2","uuid":"a4","sessionId":"s2","timestamp":"2026-02-02T00:00:07.000Z","cwd":"/w","type":"assistant","message":{"id":"m4","content":[{"type":"tool_use","id":"t4","name":"Read","input":{"file_path":"/w/b"}}]}}
"#;

/// The rows of a home, by table.
struct Made(Vec<(&'static Table, Row)>);

impl Made {
    fn of(home: &Home, texts: Texts) -> Self {
        let files = layout::walk_projects(home.path()).files;
        let input = |found: &layout::Found| Input {
            kind: found.kind.clone(),
            path: found.path.clone(),
            created: None,
            has_source: true,
            is_former: false,
            claims: Claims::read(found.open().expect("opens").reader(0))
                .and_then(|claims| claims.pack())
                .expect("read"),
        };
        let inputs: Vec<Input> = files.iter().map(input).collect();
        let ledger = Ledger::new(inputs, Prices::built_in());
        let (library, _) = Library::join(scan(files, |_, _, _| None::<()>, |_| {}));
        let responses = Responses::new(&ledger, Prices::built_in(), |file| Some(file as usize));
        let origin = Origin { host: "h".into(), user: "u".into() };
        let maker = Maker { origin: &origin, library: &library, responses, texts };
        let mut rows = Vec::new();
        let mut open = |card: usize| {
            let found = &library.cards[card].found;
            Ok((read_session(found, library.copies_of(card))?, found.open()?))
        };
        maker.all(&mut open, &mut |table, row| rows.push((table, row)), |p| panic!("{p}"));
        Self(rows)
    }

    /// Some columns of a table as text, one row on a line.
    fn show(&self, table: &str, columns: &[&str]) -> String {
        let rows = self.0.iter().filter(|(of, _)| of.name == table);
        let line = |(of, row): &(&Table, Row)| {
            let at = |name: &&str| of.columns.iter().position(|c| c.name == *name);
            let value = |name| match &row[at(name).expect("a column")] {
                Value::Null => "-".into(),
                Value::Text(text) => text.clone(),
                Value::Integer(number) | Value::Time(number) => number.to_string(),
                Value::Boolean(is) => is.to_string(),
            };
            columns.iter().map(value).collect::<Vec<_>>().join("|")
        };
        rows.map(line).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn each_row_stands_once_with_its_place() {
    let made = Made::of(&Home::parse(HOME), Texts::Whole);
    assert!(made.0.iter().all(|(table, row)| is_of(table, row)));
    let show = |table, columns: &[&str]| made.show(table, columns);
    assert_eq!(
        show("turns", &["session", "turn", "day", "month", "entry", "prompt", "calls", "errors"]),
        "s1|1|2026-01-31|2026-01|1|fix it|1|1\n\
         s1|2|2026-02-01|2026-02|4|now look|1|0\n\
         s2|2|2026-02-02|2026-02|3|another way|0|0\n\
         s2|3|-|0000-00|4|or that|1|0"
    );
    assert_eq!(
        show("calls", &["session", "agent", "entry", "turn", "tool", "about", "outcome"]),
        "s1|-|2|1|Bash|cargo test|rejected\n\
         s1|-|5|2|Task|look|ok\n\
         s1|b7|2|2|Write|/w/a|ok\n\
         s2|-|6|3|Read|/w/b|ok"
    );
    assert_eq!(
        show("calls", &["latency_ms", "error_signature", "result_entry", "is_error"]),
        "60250|The user doesn't want to proceed with this tool use. N|3|true\n\
         45000|-|6|false\n\
         2000|-|3|false\n\
         2000|-|5|false"
    );
    assert_eq!(
        show("requests", &["session", "agent", "turn", "entry", "input_tokens", "cost_microusd"]),
        // Five dollars a million in, 25 out.
        "s1|-|1|2|100|750\n\
         s1|-|2|5|200|1500\n\
         s1|b7|2|2|300|2250"
    );
    assert_eq!(
        show("edits", &["agent", "entry", "turn", "file", "lines_added", "is_new", "time"]),
        "b7|2|2|/w/a|2|true|1769904069000"
    );
    assert_eq!(
        show(
            "subagents",
            &["session", "agent", "parent", "entry", "turn", "kind", "link", "calls"]
        ),
        "s1|b7|-|5|2|Explore|result|1"
    );
    assert_eq!(show("prs", &["session", "entry", "turn", "number", "url"]), "s1|7|2|7|https://x/7");
    assert_eq!(
        show("sessions", &["session", "project", "day", "standing", "turns", "calls", "subagents"]),
        "s1|/w|2026-01-31|whole|2|3|1\ns2|/w|2026-01-31|whole|2|1|0"
    );
    assert_eq!(
        show("entries", &["session", "agent", "entry", "parent", "turn", "role", "uuid"])
            .lines()
            .filter(|line| !line.starts_with("s1|-"))
            .collect::<Vec<_>>(),
        [
            "s1|b7|1|-|2|prompt|b1",
            "s1|b7|2|1|2|call|b2",
            "s1|b7|3|2|2|result|b3",
            "s2|-|3|2|2|prompt|c1",
            "s2|-|4|3|3|prompt|c2",
            "s2|-|5|6|3|result|r4",
            "s2|-|6|4|3|call|a4"
        ]
    );
}

#[test]
fn a_place_leads_to_the_text() {
    let home = Home::parse(HOME);
    let (whole, places) = (Made::of(&home, Texts::Whole), Made::of(&home, Texts::Places));
    assert_eq!(whole.0.len(), places.0.len());
    let files = ["projects/-w/s1.jsonl", "projects/-w/s1/subagents/agent-b7.jsonl"];
    let text = |file: &str| std::fs::read_to_string(home.path().join(file)).expect("read");
    let [main, agent] = files.map(text);
    let mut found = 0;
    for ((table, row), (_, by_place)) in whole.0.iter().zip(&places.0) {
        let of_agent = row.get(3) == Some(&Value::Text("b7".into()));
        for (text, place) in row.iter().zip(by_place).filter(|(a, b)| a != b) {
            let Value::Integer(number) = place else { panic!("{} {place:?}", table.name) };
            let place = Place::of(*number).expect("a place");
            if row[2] == Value::Text("s1".into()) {
                let lines = if of_agent { &agent } else { &main };
                let line = lines.lines().nth(place.entry as usize - 1).expect("a line");
                let words = EntryReading::from_bytes(line.as_bytes()).words_at(place.spot);
                assert_eq!(*text, Value::Text(words.expect("words").into_owned()));
                found += 1;
            }
        }
    }
    // Nine texts, three inputs, one error, two prompts of turns.
    assert_eq!(found, 15);
}

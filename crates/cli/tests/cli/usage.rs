//! Tokens and money, from the files and from the store.

use std::fs;

use serde::Deserialize;
use serde_json::Value;
use testkit::{Shape, Spec};

use super::case::Case;

const A: &str = "0aaaaaaa-0000-4000-8000-000000000001";

/// A line with a response of a million tokens, so that it costs what the table says.
fn response(uuid: &str, id: &str, day: &str, model: &str, output: u64) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"{uuid}","sessionId":"{A}","timestamp":"{day}T10:00:00.000Z","cwd":"/w","gitBranch":"main","version":"2.1.200","requestId":"r-{id}","type":"assistant","message":{{"id":"{id}","role":"assistant","model":"{model}","content":[{{"type":"text","text":"x"}}],"stop_reason":"end_turn","usage":{{"input_tokens":1000000,"output_tokens":{output}}}}}}}
"#
    )
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Day {
    r#type: String,
    day: Option<String>,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_1h: u64,
    requests: u64,
    tool_calls: u64,
    cost_usd: Option<serde_json::Number>,
    confidence: String,
    requests_by_confidence: [u64; 4],
    requests_without_source: u64,
}

fn case() -> (Case, String, String) {
    let first = response("u1", "m1", "2026-04-20", "claude-opus-5-5", 0);
    let second = response("u2", "m2", "2026-04-21", "claude-haiku-4-5", 1000);
    let path = format!("projects/-w/{A}.jsonl");
    let case = Case::new(&format!("//- {path}\n{first}{second}"));
    (case, path, first)
}

/// Day, dollars, requests without a source.
fn days(case: &Case) -> Vec<(String, String, u64)> {
    let rows: Vec<Day> = case.json("usage --tz UTC");
    rows.into_iter()
        .map(|row| {
            let cost = row.cost_usd.map_or("null".into(), |cost| cost.to_string());
            (row.day.unwrap_or_default(), cost, row.requests_without_source)
        })
        .collect()
}

#[test]
fn a_day_has_its_tokens_and_its_price() {
    let (case, ..) = case();
    insta::assert_snapshot!(case.run("usage --tz UTC"), @r"
    exit 0
    --- stdout
    DAY         REQUESTS      INPUT  OUTPUT  CACHE WRITE  CACHE READ   COST  
    2026-04-20         1  1,000,000       0            0           0  $4.00  ████████████████
    2026-04-21         1  1,000,000   1,000            0           0  $1.01  ████
    total              2  2,000,000   1,000            0           0  $5.01  
    --- stderr
    note: Prices of 2026-11-15
    ");
}

/// What was once counted stays counted, and is said to have no source any more.
#[test]
fn the_ledger_outlives_lines_and_files() {
    let (case, path, first) = case();
    let row = |day: &str, cost: &str, gone| (day.to_owned(), cost.to_owned(), gone);
    // Opus 5.5: 4 dollars a million; Haiku 4.5: 1, and 5 for a million of output.
    let all = [row("2026-04-20", "4.0", 0), row("2026-04-21", "1.005", 0)];
    assert_eq!(days(&case), all);
    case.run("sync");
    assert_eq!(days(&case), all);
    // The file is written anew without its last turn.
    fs::remove_file(case.claude().join(&path)).unwrap();
    case.write(&path, &first);
    assert_eq!(days(&case), [row("2026-04-20", "4.0", 0), row("2026-04-21", "1.005", 1)]);
    fs::remove_dir_all(case.claude().join("projects")).unwrap();
    assert_eq!(days(&case), [row("2026-04-20", "4.0", 1), row("2026-04-21", "1.005", 1)]);
}

#[test]
fn the_store_counts_as_the_files_do() {
    for (shape, bytes) in [(Shape::Hard, 0), (Shape::Demo, 0), (Shape::Seeds, 2_000_000)] {
        let case = Case::new("");
        testkit::make(&Spec { seed: 7, shape, bytes }, &case.claude()).unwrap();
        let views = [
            "usage",
            "usage weekly --week-start sunday",
            "usage monthly model",
            "usage session",
            "usage project",
            "usage subagent",
            "usage tool",
            "usage branch",
            "usage pr",
            "usage blocks",
        ];
        let ask = || -> Vec<Vec<Value>> { views.iter().map(|view| case.json(view)).collect() };
        let direct = ask();
        assert!(case.run("sync").starts_with("exit 0"));
        for ((view, direct), stored) in views.iter().zip(direct).zip(ask()) {
            assert_eq!(direct, stored, "{shape:?} {view}");
        }
    }
}

#[test]
fn a_figure_can_be_traced_to_its_line() {
    let (case, ..) = case();
    insta::assert_snapshot!(case.run("usage explain 2026-04-21 --tz UTC"), @r"
    exit 0
    --- stdout
    SESSION   REQUESTS      INPUT  OUTPUT  CACHE WRITE  CACHE READ   COST  
    0aaaaaaa         1  1,000,000   1,000            0           0  $1.01  
    --- stderr
    note: `recount usage explain 0aaaaaaa` goes on
    ");
    insta::assert_snapshot!(case.run("usage explain m2 --tz UTC"), @r"
    exit 0
    --- stdout
    2026-04-21 10:00:00.000  claude-haiku-4-5  $1.005000
      line     ~/.claude/projects/-w/0aaaaaaa-0000-4000-8000-000000000001.jsonl:2
      price    claude-haiku-4-5
        input         1,000,000 x $1 / M = $1
        output            1,000 x $5 / M = $0.005
      exact
    ");
    insta::assert_snapshot!(case.run("usage explain 0aaa --tz UTC"), @r"
    exit 0
    --- stdout
    TURN    REQUESTS      INPUT  OUTPUT  CACHE WRITE  CACHE READ   COST  
    before         2  2,000,000   1,000            0           0  $5.01  
    --- stderr
    note: `recount usage explain 0aaaaaaa 1` shows the requests of a turn
    ");
    insta::assert_snapshot!(case.run("usage what-if --model claude-haiku-4-5"), @r"
    exit 0
    --- stdout
               REQUESTS     TOKENS   COST  
    as it was         2  2,001,000  $5.01  exact
    as asked          2  2,001,000  $2.01  exact
    --- stderr
    note: $3.00 less
    ");
    insta::assert_snapshot!(case.run("usage what-if --model claude-nothing"), @r"
    exit 2
    --- stderr
    error: There is no price for `claude-nothing`
    hint: `recount prices` lists the models; `--prices FILE` adds some
    ");
    insta::assert_snapshot!(case.run("usage --tz Mars/Base"), @r"
    exit 2
    --- stderr
    error: There is no zone `Mars/Base`
    hint: Give a name like Europe/Berlin, or UTC
    ");
}

#[test]
fn prices_are_added_and_never_lost() {
    let (case, path, _) = case();
    let new = response("u3", "m3", "2026-04-22", "claude-new-9", 0);
    case.write(&path, &new);
    insta::assert_snapshot!(case.run("usage model"), @r"
    exit 0
    --- stdout
    MODEL         REQUESTS      INPUT  OUTPUT  CACHE WRITE  CACHE READ  COST  
    claude-new-9         1  1,000,000       0            0           0     ?  
    total                1  1,000,000       0            0           0     ?  
    --- stderr
    note: Without a price, and not in the cost: 1 request of claude-new-9; `--prices FILE` adds some
    note: Prices of 2026-11-15
    ");
    insta::assert_snapshot!(case.run("prices --check"), @r"
    exit 0
    --- stdout
    claude-new-9  1 request  no price
    ");
    case.write(
        "litellm.json",
        r#"{"claude-new-9":{"litellm_provider":"anthropic","input_cost_per_token":7e-06,"output_cost_per_token":1e-05}}"#,
    );
    insta::assert_snapshot!(case.run("prices update .claude/litellm.json"), @r"
    exit 0
    --- stdout
    new    claude-new-9
    --- stderr
    note: Kept in ~/.local/share/recount/prices.json
    ");
    insta::assert_snapshot!(case.run("--quiet usage model"), @r"
    exit 0
    --- stdout
    MODEL         REQUESTS      INPUT  OUTPUT  CACHE WRITE  CACHE READ   COST  
    claude-new-9         1  1,000,000       0            0           0  $7.00  ████████████████
    total                1  1,000,000       0            0           0  $7.00
    ");
    case.write("no.json", "{}");
    insta::assert_snapshot!(case.run("usage --prices .claude/no.json"), @r"
    exit 2
    --- stderr
    error: .claude/no.json: not a table of prices: missing field `date` at line 1 column 2
    hint: `recount prices --json` shows the form
    ");
    insta::assert_snapshot!(case.run("prices update .claude/no.json"), @r"
    exit 2
    --- stderr
    error: .claude/no.json: no prices of Claude models in it
    hint: `recount prices --json` shows the form
    ");
}

#[test]
fn the_status_line_has_costs_of_session_and_day() {
    let (case, path, first) = case();
    let now = "2026-04-20";
    let transcript = case.claude().join(&path);
    let status = format!(
        r#"{{"session_id":"{A}","transcript_path":{:?},"model":{{"id":"claude-opus-5-5","display_name":"Opus 5.5"}},"cost":{{"total_cost_usd":9.5}}}}"#,
        transcript.display().to_string()
    );
    let line = |status: &str| {
        let output =
            case.command().arg("statusline").write_stdin(status.to_owned()).output().unwrap();
        case.shown(&output)
    };
    // What is not in a store yet is read from the session's own file: 4 + 1.005 dollars.
    insta::assert_snapshot!(line(&status), @r"
    exit 0
    --- stdout
    Opus 5.5 · 0% left · session $5.01
    ");
    // The window is what the client says: 4,004,000 - 1,001,000 are three quarters of it.
    let window = r#""context_window":{"context_window_size":4004000,"remaining_percentage":null}"#;
    let wide = status.replace("\"cost\"", &format!("{window},\"cost\""));
    assert!(line(&wide).contains("\nOpus 5.5 · 75% left · session"), "{}", line(&wide));
    // Another session's context is not this one's.
    let fresh = status.replace(A, "0bbbbbbb-0000-4000-8000-000000000001");
    let fresh = fresh.replace("0bbbbbbb-0000-4000-8000-000000000001.jsonl", &format!("{A}.jsonl"));
    assert!(line(&fresh).contains("\nOpus 5.5 · session $9.50"), "{}", line(&fresh));
    case.run("sync");
    let more = response("u4", "m4", now, "claude-opus-5-5", 0);
    case.write(&path, &(first.clone() + &more));
    // The store has nothing of the last two days: the file is read, which now has 4 + 4 dollars.
    insta::assert_snapshot!(line(&status), @r"
    exit 0
    --- stdout
    Opus 5.5 · 0% left · session $8.00 · today $0
    ");
    insta::assert_snapshot!(line("{}"), @r"
    exit 0
    --- stdout
    today $0
    ");
    insta::assert_snapshot!(line("no"), @r"
    exit 2
    --- stderr
    error: Standard input is no status of Claude Code: expected ident at line 1 column 2
    hint: Claude Code runs it: `recount help statusline` shows the setting
    ");
}

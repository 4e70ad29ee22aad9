//! Questions in SQL: the guide's with what was planted, all totals beside those of other commands.

use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use rusqlite::Connection;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};
use store::folder::Store;
use store::table::keep::Tables;
use store::table::schema::TABLES;
use testkit::{Shape, Spec};
use transcript::layout;
use transcript::time::Time;

use super::case::{Case, is_raw};

/// A session of two turns and a compaction, with a refused call in the first and a subagent in the
/// second; and a copy of its first turn that goes on by itself.
const HOME: &str = r#"//- projects/-w/s1.jsonl
{"parentUuid":null,"uuid":"u1","sessionId":"s1","timestamp":"2026-01-31T23:59:00.000Z","cwd":"/w","gitBranch":"main","version":"2.1.100","type":"user","message":{"role":"user","content":"fix it"}}
{"parentUuid":"u1","uuid":"a1","sessionId":"s1","timestamp":"2026-01-31T23:59:10.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m1","model":"claude-opus-4-6","stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":10},"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test"}}]}}
{"parentUuid":"a1","uuid":"r1","sessionId":"s1","timestamp":"2026-02-01T00:00:10.250Z","cwd":"/w","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"The user doesn't want to proceed with this tool use. 7"}]}}
{"parentUuid":"r1","uuid":"u2","sessionId":"s1","timestamp":"2026-02-01T00:01:00.000Z","cwd":"/w","type":"user","message":{"role":"user","content":"now look\u001b[31m"}}
{"parentUuid":"u2","uuid":"a2","sessionId":"s1","timestamp":"2026-02-01T00:01:05.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m2","model":"claude-opus-4-6","stop_reason":"tool_use","usage":{"input_tokens":200,"output_tokens":20},"content":[{"type":"tool_use","id":"t2","name":"Task","input":{"subagent_type":"Explore","description":"look","prompt":"look there"}}]}}
{"parentUuid":"a2","uuid":"r2","sessionId":"s1","timestamp":"2026-02-01T00:01:50.000Z","cwd":"/w","toolUseResult":{"agentId":"b7"},"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"seen"}]}}
{"type":"pr-link","sessionId":"s1","timestamp":"2026-02-01T00:02:00.000Z","prNumber":7,"prUrl":"https://x/7","prRepository":"x"}
{"parentUuid":null,"logicalParentUuid":"r2","uuid":"k1","sessionId":"s1","timestamp":"2026-02-01T00:03:00.000Z","cwd":"/w","type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":155000}}
{"parentUuid":"k1","uuid":"k2","sessionId":"s1","timestamp":"2026-02-01T00:03:00.000Z","cwd":"/w","isCompactSummary":true,"type":"user","message":{"role":"user","content":"This session is being continued"}}
//- projects/-w/s1/subagents/agent-b7.jsonl
{"parentUuid":null,"uuid":"b1","sessionId":"s1","agentId":"b7","isSidechain":true,"timestamp":"2026-02-01T00:01:06.000Z","cwd":"/w","type":"user","message":{"role":"user","content":"look there"}}
{"parentUuid":"b1","uuid":"b2","sessionId":"s1","agentId":"b7","isSidechain":true,"timestamp":"2026-02-01T00:01:07.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m3","model":"claude-opus-4-6","stop_reason":"end_turn","usage":{"input_tokens":300,"output_tokens":30},"content":[{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"/w/a","content":"1\n2\n"}}]}}
{"parentUuid":"b2","uuid":"b3","sessionId":"s1","agentId":"b7","isSidechain":true,"timestamp":"2026-02-01T00:01:09.000Z","cwd":"/w","toolUseResult":{"type":"create","filePath":"/w/a","content":"1\n2\n","structuredPatch":[]},"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"File created"}]}}
//- projects/-w/s2.jsonl
{"parentUuid":null,"uuid":"u1","sessionId":"s2","timestamp":"2026-01-31T23:59:00.000Z","cwd":"/w","version":"2.1.100","type":"user","message":{"role":"user","content":"fix it"},"forkedFrom":{"sessionId":"s1","messageUuid":"u1"}}
{"parentUuid":"u1","uuid":"a1","sessionId":"s2","timestamp":"2026-01-31T23:59:10.000Z","cwd":"/w","version":"2.1.100","type":"assistant","message":{"id":"m1","model":"claude-opus-4-6","stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":10},"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test"}}]},"forkedFrom":{"sessionId":"s1","messageUuid":"a1"}}
{"parentUuid":"a1","uuid":"c1","sessionId":"s2","timestamp":"2026-02-02T00:00:00.000Z","cwd":"/w","type":"user","message":{"role":"user","content":"another way"}}
"#;

/// Exit code and both outputs of a question.
fn asked(case: &Case, args: &[&str], sql: &str) -> (Option<i32>, String, String) {
    let mut command = case.command();
    command.env("RECOUNT_HOST", "h1").env("RECOUNT_USER", "mara");
    let output = command.arg("sql").args(args).arg("-").write_stdin(sql).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn ask<T: DeserializeOwned>(case: &Case, sql: &str) -> Vec<T> {
    let (code, out, err) = asked(case, &["--json"], sql);
    assert!(matches!(code, Some(0 | 1)), "{sql}\n{err}");
    out.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// The values of a line in their order, without the names.
struct Values(Vec<Value>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<Value>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Value>, A::Error> {
                let mut values = Vec::new();
                while let Some((_, value)) = map.next_entry::<String, Value>()? {
                    values.push(value);
                }
                Ok(values)
            }
        }
        deserializer.deserialize_map(Fields).map(Self)
    }
}

/// The rows of an answer.
fn values(case: &Case, sql: &str) -> Value {
    ask::<Values>(case, sql).into_iter().map(|Values(row)| Value::Array(row)).collect()
}

/// The questions of the guide with their headings.
fn guide() -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/sql.md");
    let text = fs::read_to_string(path).unwrap();
    let sections = text.split("\n## ").skip(1).map(|section| {
        let heading = section.lines().next().unwrap();
        let (_, rest) = section.split_once("```sql\n").expect(heading);
        (heading.to_owned(), rest.split("```").next().unwrap().to_owned())
    });
    sections.collect()
}

#[test]
fn every_question_of_the_guide_has_its_answer() {
    let case = Case::new(HOME);
    let refused = "The user doesn't want to proceed with this tool use. N";
    // Five dollars a million tokens in, twenty-five out.
    let want = json!([
        [
            ["2026-01", "claude-opus-4-6", 1, 100, 10, 0, 0, 750],
            ["2026-02", "claude-opus-4-6", 2, 500, 50, 0, 0, 3750]
        ],
        [["s1", "/w", 3, 4500]],
        [["/w", 0, 600]],
        [["Bash", 1, 1, 1], ["Task", 1, 0, 0], ["Write", 1, 0, 0]],
        [["Bash", refused, 1, 1]],
        [["Bash", 1, 60250, 60250], ["Task", 1, 45000, 45000], ["Write", 1, 2000, 2000]],
        [["/w/a", 1, 2, 0, 1]],
        [["2026-01-31", "h1", 2, 3]],
        [["Explore", 1, 2250], ["main", 2, 2250]],
        [["s1", 2, 2, 50, 3750], ["s1", 1, 1, 10, 750]],
        [["/w", 1, 1, 1]],
        [["https://x/7", 1, 4500]],
    ]);
    let guide = guide();
    assert_eq!(guide.len(), 12);
    for ((heading, sql), want) in guide.iter().zip(want.as_array().unwrap()) {
        assert_eq!(values(&case, sql), *want, "{heading}");
    }
}

/// Sums of a view of `usage`, by its key: tokens, requests and micro-dollars.
fn used(case: &Case, by: &str) -> BTreeMap<String, Vec<u64>> {
    let rows: Vec<Value> = case.json(&format!("usage {by} --tz UTC"));
    let key = if by == "monthly" { "month" } else { by };
    let row = |row: Value| {
        let figures = ["input", "output", "cache_read", "cache_write", "requests"];
        let mut sums: Vec<u64> = figures.iter().map(|name| row[*name].as_u64().unwrap()).collect();
        let dollars = row["cost_usd"].as_f64().unwrap_or(0.0);
        sums.push((dollars * 1e6).round() as u64);
        (row[key].as_str().unwrap_or("none").to_owned(), sums)
    };
    rows.into_iter().map(row).collect()
}

fn summed(case: &Case, key: &str) -> BTreeMap<String, Vec<u64>> {
    let sql = format!(
        "SELECT {key} AS name, sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
            sum(cache_write_5m_tokens + cache_write_1h_tokens), sum(api_requests),
            coalesce(sum(cost_microusd), 0)
         FROM requests GROUP BY {key}"
    );
    let row = |row: &Value| {
        let sums = row.as_array().unwrap()[1..].iter().map(|sum| sum.as_u64().unwrap());
        (row[0].as_str().unwrap().to_owned(), sums.collect())
    };
    values(case, &sql).as_array().unwrap().iter().map(row).collect()
}

fn assert_like_other_commands(case: &Case) {
    for (by, key) in [
        ("model", "coalesce(model, 'none')"),
        ("session", "session"),
        ("project", "coalesce(project, 'none')"),
        ("monthly", "CASE month WHEN '0000-00' THEN 'none' ELSE month END"),
    ] {
        assert_eq!(summed(case, key), used(case, by), "{by}");
    }
    let kinds = &guide()[8].1;
    let kinds: BTreeMap<String, u64> = ask::<Value>(case, kinds)
        .iter()
        .map(|row| (row["kind_of"].as_str().unwrap().to_owned(), row["cost"].as_u64().unwrap()))
        .collect();
    let used: BTreeMap<String, u64> =
        used(case, "subagent").into_iter().map(|(kind, sums)| (kind, sums[5])).collect();
    assert_eq!(kinds, used);
    let tools: Vec<Value> = case.json("tools");
    let tools: Value = tools
        .iter()
        .map(|row| -> Value {
            ["tool", "calls", "errors", "without_result"].map(|key| row[key].clone()).into()
        })
        .collect();
    let sql = "SELECT tool, count(*) AS n, sum(is_error), sum(outcome = 'none') FROM calls
        GROUP BY tool ORDER BY n DESC, tool";
    assert_eq!(values(case, sql), tools);
}

#[test]
fn sums_are_those_of_other_commands() {
    for shape in [Shape::Demo, Shape::Hard] {
        let case = Case::new("");
        testkit::make(&Spec { seed: 7, shape, bytes: 0 }, &case.claude()).unwrap();
        assert_like_other_commands(&case);
    }
}

/// Real files, where they are at hand.
#[test]
fn sums_of_real_files_are_those_of_other_commands() {
    let real = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/real"));
    if !real.is_dir() {
        return eprintln!("no real files here: nothing was checked");
    }
    let case = Case::new("");
    for found in layout::walk(&real).files.iter().step_by(4) {
        let to = case.claude().join(&found.rel);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&found.path, to).unwrap();
    }
    assert_like_other_commands(&case);
}

fn tables(case: &Case) -> Connection {
    Connection::open(case.store().join("tables.sqlite")).unwrap()
}

/// The write that was the last, and the months that it changed.
fn last_write(case: &Case) -> (i64, Vec<(String, String)>) {
    let db = tables(case);
    let count = db.query_row("SELECT value FROM meta WHERE name = 'count'", (), |r| r.get(0));
    let count: i64 = count.unwrap();
    let mut query =
        db.prepare("SELECT name, month FROM changed WHERE at = ?1 ORDER BY 1, 2").unwrap();
    let rows = query.query_map([count], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (count, rows.map(Result::unwrap).collect())
}

#[test]
fn only_months_that_changed_are_written_again() {
    let case = Case::new(HOME);
    let prompts = "SELECT session, turn, prompt FROM turns WHERE session = 's2' ORDER BY turn";
    assert_eq!(values(&case, prompts), json!([["s2", 2, "another way"]]));
    let first = last_write(&case);
    values(&case, prompts);
    assert_eq!(last_write(&case), first);
    let path = case.claude().join("projects/-w/s2.jsonl");
    let line = r#"{"parentUuid":"c1","uuid":"c2","sessionId":"s2","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/w","type":"user","message":{"role":"user","content":"or that"}}"#;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{line}\n")).unwrap();
    assert_eq!(values(&case, prompts), json!([["s2", 2, "another way"], ["s2", 3, "or that"]]));
    let pair = |name: &str, month: &str| (name.to_owned(), month.to_owned());
    // The session began in January; its last segment began with a copy and has no row.
    let want = [
        pair("entries", "2026-03"),
        pair("sessions", "2026-01"),
        pair("texts", "2026-03"),
        pair("turns", "2026-03"),
    ];
    assert_eq!(last_write(&case), (first.0 + 1, want.to_vec()));
}

#[test]
fn damaged_tables_are_made_again() {
    let case = Case::new(HOME);
    let count = "SELECT count(*) FROM entries";
    let before = values(&case, count);
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(case.store().join(format!("tables.sqlite{end}")));
    }
    fs::write(case.store().join("tables.sqlite"), "no database at all").unwrap();
    assert_eq!(values(&case, count), before);
    let db = tables(&case);
    db.execute("UPDATE meta SET value = 0 WHERE name = 'version'", ()).unwrap();
    drop(db);
    assert_eq!(values(&case, count), before);
}

#[test]
fn a_question_reads_and_does_nothing_else() {
    let case = Case::new(HOME);
    let (_, out, _) = asked(&case, &["--csv"], "SELECT count(*) AS n FROM calls");
    assert_eq!(out, "n\r\n3\r\n");
    for sql in [
        "DELETE FROM calls",
        "DELETE FROM row_calls",
        "INSERT INTO meta VALUES ('x', 1)",
        "CREATE TABLE mine (x)",
        "CREATE TEMP TABLE mine AS SELECT * FROM calls",
        "DROP VIEW calls",
        "ATTACH '/tmp/other.db' AS other",
        "VACUUM INTO '/tmp/other.db'",
        "PRAGMA journal_mode = delete",
        "SELECT * FROM pragma_table_info('unit')",
        "SELECT * FROM sqlite_schema",
        "SELECT stamp FROM unit",
        "SELECT load_extension('x')",
        "SELECT words(1, 1)",
        "BEGIN EXCLUSIVE",
    ] {
        let (code, out, err) = asked(&case, &[], sql);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{sql}");
        assert!(err.starts_with("error: Only reading the tables is allowed"), "{sql}: {err}");
    }
    assert_eq!(values(&case, "SELECT count(*) FROM calls"), json!([[3]]));
}

#[test]
fn a_wrong_question_is_explained() {
    let case = Case::new(HOME);
    let wrong = |args: &[&str], sql: &str| {
        let (code, out, err) = asked(&case, args, sql);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{sql}");
        err
    };
    insta::assert_snapshot!(wrong(&[], "SELECT cost FROM requests"), @r"
    error: No such column: cost
    hint: Near: `cost_microusd`; `recount sql --tables` lists tables and columns
    ");
    insta::assert_snapshot!(wrong(&[], "SELECT * FROM request"), @r"
    error: No such table: request
    hint: Near: `requests`; `recount sql --tables` lists tables and columns
    ");
    insta::assert_snapshot!(wrong(&[], "SELEC 1"), @r#"
    error: Near "SELEC": syntax error
    hint: `recount sql --tables` lists tables and columns, `recount help sql` has examples
    "#);
    insta::assert_snapshot!(wrong(&[], "SELECT 1; SELECT 2"), @r"
    error: One statement at a time
    hint: Leave out what stands after the first `;`
    ");
    insta::assert_snapshot!(wrong(&[], " -- nothing"), @r"
    error: There is no statement
    hint: `recount sql --tables` lists tables and columns, `recount help sql` has examples
    ");
    let endless =
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x";
    insta::assert_snapshot!(wrong(&["--timeout", "1"], endless), @r"
    error: It took longer than 1 seconds
    hint: `--timeout 0` lets it run on
    ");
    let huge = "SELECT length(replace(hex(zeroblob(100000000)), '0', '0000000000'))";
    insta::assert_snapshot!(wrong(&[], huge), @r"
    error: It needs more than 256 MB of memory
    hint: Ask for fewer columns or rows at once
    ");
}

#[test]
fn every_value_is_printed_in_every_form() {
    let case = Case::new(HOME);
    let odd = "SELECT 1 AS a, 2 AS a, NULL AS n, 0.5 AS half, 9e999 AS inf, x'00ff' AS bytes,
        'a,\"b\"' AS text, '' AS empty";
    insta::assert_snapshot!(asked(&case, &["--json"], odd).1, @r#"{"a":1,"a_2":2,"n":null,"half":0.5,"inf":"Infinity","bytes":"00ff","text":"a,\"b\"","empty":""}"#);
    assert_eq!(
        asked(&case, &["--csv"], odd).1,
        "a,a_2,n,half,inf,bytes,text,empty\r\n1,2,,0.5,Infinity,00ff,\"a,\"\"b\"\"\",\"\"\r\n"
    );
    let (code, out, _) =
        asked(&case, &[], "SELECT turn, prompt, calls FROM turns WHERE session = 's1'");
    assert!(!is_raw(&out), "{out:?}");
    insta::assert_snapshot!(out, @r"
    turn  prompt    calls
       1  fix it        1
       2  now look      1
    ");
    assert_eq!(code, Some(0));
    let nothing = (Some(1), String::new(), "note: Nothing found\n".to_owned());
    assert_eq!(asked(&case, &[], "SELECT 1 WHERE 0"), nothing);
    // A long answer comes in blocks whose columns stay where they are.
    let many = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 2500)
        SELECT n, 'x' AS x FROM x";
    let (_, out, _) = asked(&case, &[], many);
    assert_eq!(out.lines().count(), 2501);
    assert!(out.lines().skip(1).all(|line| line.find('x') == Some(6)), "{out}");
}

#[test]
fn the_tables_are_listed() {
    let case = Case::new("");
    let all = case.run("sql --tables");
    assert!(all.starts_with("exit 0\n") && all.contains("\nrequests  "), "{all}");
    let one = case.run("sql --tables prs");
    insta::assert_snapshot!(one.lines().take(6).collect::<Vec<_>>().join("\n"), @r"
    exit 0
    --- stdout
    A pull request that a session is linked to.
    COLUMN      KIND             WHAT
    host        text             The computer.
    user        text             Whose history it is.
    ");
    assert!(case.run("sql --tables prices").starts_with("exit 2\n"));
    let lines: Vec<Value> = case.json("sql --tables");
    assert_eq!(lines.len(), 12);
    assert_eq!(lines[0]["columns"][0]["column"], "host");
}

/// What was read into a store from elsewhere answers as the history that it came from. Texts may
/// have stayed there.
#[test]
fn an_imported_store_answers_as_the_one_it_came_from() {
    let case = Case::new("");
    testkit::make(&Spec { seed: 7, shape: Shape::Hard, bytes: 0 }, &case.claude()).unwrap();
    ask::<Value>(&case, "SELECT 1 AS one");
    let from = Tables::with_words(&Store::new(case.store())).unwrap().unwrap();
    for texts in [true, false] {
        let elsewhere = tempfile::tempdir().unwrap();
        let mut to = Tables::open(elsewhere.path(), Time(1)).unwrap();
        let mut rows = Vec::new();
        for table in TABLES {
            let take = |row| {
                rows.push(Ok::<_, ()>((table, row)));
                ControlFlow::Continue(())
            };
            from.rows(table, None, texts, take).unwrap();
        }
        to.import("h1", "mara", rows).unwrap().unwrap();
        drop(to);
        let folder = elsewhere.path().to_str().unwrap();
        let same = |args: &str| {
            let direct = case.run(&format!("{args} --quiet"));
            assert_eq!(case.run(&format!("{args} --quiet --store {folder}")), direct, "{args}");
        };
        for view in ["daily", "monthly", "session", "project", "model", "subagent", "pr", "branch"]
        {
            same(&format!("usage {view} --json --tz UTC"));
        }
        same("usage model --model opus");
        same("tools --json");
        same("tools --by server");
        same("tools --by skill --json");
        same("tools --project w --json");
        for (_, sql) in guide() {
            let direct = asked(&case, &["--json"], &sql);
            assert_eq!(asked(&case, &["--json", "--store", folder], &sql), direct, "{sql}");
        }
        assert!(case.run(&format!("errors --summary --store {folder}")).starts_with("exit 0\n"));
    }
}

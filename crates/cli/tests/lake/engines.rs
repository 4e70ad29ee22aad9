//! One lake of three computers, asked by four programs.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::kit::{Row, Team, done};

/// The twelve questions of the guide, and what everybody used.
fn questions() -> Vec<String> {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/sql.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let blocks = guide.split("```sql\n").skip(1);
    let mut questions: Vec<String> =
        blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect();
    assert_eq!(questions.len(), 12);
    questions.push(TOTALS.into());
    questions
}

const TOTALS: &str = "SELECT host, sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
    sum(cache_write_5m_tokens + cache_write_1h_tokens), sum(cost_microusd)
    FROM requests GROUP BY host ORDER BY host";

/// What a script in Python says to the questions.
fn ask(team: &Team, engine: &str, more: &[&std::ffi::OsStr]) -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let python = testkit::lake::python();
    let mut command = Command::new(&python);
    command.arg(format!("{root}/crates/cli/tests/lake/ask_{engine}.py"));
    command.arg(team.path("lake")).args(more).current_dir(team.path(""));
    command.env("PYTHONPATH", format!("{root}/integrations/{engine}")).env("TZ", "UTC");
    // Neither a home nor a resolver is needed.
    command.env("PYSPARK_PYTHON", &python).env("SPARK_LOCAL_IP", "127.0.0.1");
    command.env("HOME", team.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(serde_json::to_string(&questions()).unwrap().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{engine}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn rows(lines: &[String]) -> Vec<Vec<Row>> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What `recount usage` counts on a computer: tokens of four kinds, and millionths of a dollar.
fn used(team: &Team, host: &str, user: &str) -> Row {
    let said = done(team.on(host, user).args(["usage", "--json"]));
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sum = |name: &str| lines.iter().filter_map(|line| line[name].as_u64()).sum::<u64>();
    let micro = |usd: &Value| (usd.as_f64().unwrap_or_default() * 1e6).round() as u64;
    let cost: u64 = lines.iter().map(|line| micro(&line["cost_usd"])).sum();
    let tokens = ["input", "output", "cache_read", "cache_write"].map(sum);
    std::iter::once(Value::from(host)).chain(tokens.map(Value::from)).chain([cost.into()]).collect()
}

#[test]
fn every_engine_gives_the_same_rows() {
    if !testkit::lake::is_there() {
        return;
    }
    let team = Team::of(3);
    team.write(team.path("lake").to_str().unwrap());
    let store = team.path("team");
    done(team.program().args(["lake", "read"]).arg(team.path("lake")).arg("--store").arg(&store));
    let ours: Vec<Vec<Row>> = questions().iter().map(|one| team.ask(&store, one)).collect();
    assert!(ours.iter().all(|rows| !rows.is_empty()));
    let used: Vec<Row> = Team::computers().map(|(host, user)| used(&team, host, user)).collect();
    assert_eq!(ours.last(), Some(&used));

    let duckdb = rows(&ask(&team, "duckdb", &[]));
    let program = assert_cmd::cargo::cargo_bin!("recount");
    let (archive, parsed) = (team.archive(), team.path("parsed"));
    let spark = ask(&team, "spark", &[archive.as_ref(), parsed.as_ref(), program.as_ref()]);
    for (at, question) in questions().iter().enumerate() {
        assert_eq!(duckdb[at], ours[at], "DuckDB: {question}");
        assert_eq!(rows(&spark[at..=at])[0], ours[at], "Spark: {question}");
    }

    // What Spark said after the answers: who worked, and how the lake that it parsed differs.
    let more: Vec<Value> =
        spark[ours.len()..].iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(more[0]["executors"], 2);
    assert_eq!(more[more.len() - 1]["tables"], true);
    assert!(more.len() > 12);
    for table in &more[1..more.len() - 1] {
        assert!(table["only_written"] == 0 && table["only_parsed"] == 0, "{table}");
    }
}

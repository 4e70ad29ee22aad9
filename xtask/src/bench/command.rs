//! Whole commands: `recount` beside the tools that people would take instead.

use std::fs;
use std::path::Path;

use super::home::Home;
use super::measure;
use super::race::{Arg, Contender, race, report, times};
use super::record::{Report, Target, Verdict};
use super::tool::{self, Recount};

/// `recount list` beside `wc -l`.
pub fn list(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let list = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    // As many files as there are would not fit on one command line.
    let names = measure::output().with_extension("files");
    write_names(home, &names)?;
    let from = format!("--files0-from={}", names.display());
    let contenders = [
        Contender::new("wc -l", Ok("wc".into()), &[&"-l", &&*from]),
        Contender::new(
            "recount list",
            recount.subcommand("list"),
            &[&"list", &"--claude-dir", &list.as_path()],
        ),
    ];
    let rows = race(&contenders, runs);
    let verdicts = vec![times(&rows, "recount list, × `wc -l`")];
    Ok(report(&format!("list-{}", home.name), home, &rows, runs, verdicts))
}

/// The names of all files of a home, each ended by NUL, as `wc` and `xargs` take them.
fn write_names(home: &Home, to: &Path) -> Result<(), String> {
    let mut names = Vec::new();
    for (file, _) in &home.files {
        names.extend_from_slice(file.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    fs::write(to, names).map_err(|e| format!("{}: {e}", to.display()))
}

/// The query of the script that people pass around, with the place of tool results put right.
const JQ: &str = r#"
([.[] | select(.type=="assistant") | .message.content[]? | select(.type=="tool_use")]
 | map({(.id): {tool: .name, input: .input}}) | add // {}) as $idx
| .[] | select(.type=="user") | .message.content[]? | select(.is_error==true)
| {error: .content, tool_use_id: .tool_use_id} + ($idx[.tool_use_id] // {})"#;

const DUCKDB: &str = r#"
import duckdb, sys
print(duckdb.execute("""
  SELECT count(*) FROM (
    SELECT unnest(json_extract(json, '$.message.content[*]')) AS block
    FROM read_ndjson_objects(?, maximum_object_size = 67108864)
    WHERE json->>'$.type' = 'user')
  WHERE block->>'$.is_error' = 'true'""", [sys.argv[1] + '/projects/**/*.jsonl']).fetchone()[0])"#;

/// `recount errors --json` beside a count by ripgrep, and beside jq and duckdb.
pub fn errors(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let projects = path.join("projects");
    let names = measure::output().with_extension("files");
    write_names(home, &names)?;
    let lines: fn(&str) -> Option<u64> = |said| u64::try_from(said.lines().count()).ok();
    let rg_args: [&dyn Arg; 5] = [&"--no-config", &"-uu", &"-c", &"is_error", &projects.as_path()];
    let contenders = [
        Contender::new("rg -c is_error", tool::ripgrep(), &rg_args),
        Contender {
            answer: lines,
            ..Contender::new(
                "recount errors --json",
                recount.subcommand("errors"),
                &[&"errors", &"--json", &"--claude-dir", &path.as_path()],
            )
        },
        Contender {
            answer: lines,
            once: true,
            ..Contender::new(
                "jq",
                tool::jq(),
                &[&"-0", &"-n1", &"-a", &names.as_path(), &"jq", &"-c", &"-s", &JQ],
            )
        },
        Contender {
            answer: |said| said.trim().parse().ok(),
            once: true,
            ..Contender::new("duckdb", tool::duckdb(), &[&"-c", &DUCKDB, &path.as_path()])
        },
    ];
    let rows = race(&contenders, runs);
    let mut verdicts = vec![times(&rows, "recount errors --json, × `rg -c is_error`")];
    if let Some(planted) = home.errors {
        let wrong = rows[1].answer.map(|found| found.abs_diff(planted) as f64);
        verdicts.push(Verdict {
            what: format!("errors more or fewer than the {planted} planted"),
            value: wrong,
            target: Target::AtMost(0.0),
        });
    }
    Ok(report("errors", home, &rows, runs, verdicts))
}

/// Peak memory of `recount list`.
pub fn memory(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let contenders = [Contender::new(
        "recount list",
        recount.subcommand("list"),
        &[&"list", &"--claude-dir", &path.as_path()],
    )];
    // Two are enough for a peak, and five gigabytes long enough for patience.
    let rows = race(&contenders, runs.min(2));
    let verdicts = vec![Verdict {
        what: "recount list, peak MB".into(),
        value: rows[0].most(|c| c.rss).map(|b| b as f64 / 1e6),
        target: Target::AtMost(200.0),
    }];
    Ok(report("memory", home, &rows, runs.min(2), verdicts))
}

/// Bytes that `recount show --last 20` reads of the largest file.
pub fn tail(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let file = home.files.first().map(|(file, _)| file).ok_or("the home is empty")?;
    let file = fs::canonicalize(file).map_err(|e| e.to_string())?;
    let args: [&dyn Arg; 4] = [&"show", &file.as_path(), &"--last", &"20"];
    let contenders = [
        Contender::new("tail -n 20", Ok("tail".into()), &[&"-n", &"20", &file.as_path()]),
        Contender::new("recount show --last 20", recount.subcommand("show"), &args),
    ];
    let rows = race(&contenders, runs);
    let verdicts = vec![Verdict {
        what: "recount show --last 20, MB read".into(),
        value: rows[1].read().map(|b| b as f64 / 1e6),
        target: Target::AtMost(8.0),
    }];
    Ok(report("tail", home, &rows, runs, verdicts))
}

//! Tokens and money: `recount usage` beside ripgrep and ccusage, and `recount statusline`.

use std::fs;
use std::path::Path;

use super::home::Home;
use super::race::{Arg, Contender, race, report};
use super::record::{Report, Target, Verdict, ratio};
use super::store::{ours, place};
use super::tool::{self, Recount};

/// Everything read anew, then answered from the store.
pub fn usage(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let projects = path.join("projects");
    let folder = place("usage")?;
    let (none, store) = (folder.join("none"), folder.join("store"));
    race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    let rg: [&dyn Arg; 5] = [&"--no-config", &"-uu", &"-c", &"\"usage\"", &projects.as_path()];
    let program = tool::ccusage();
    let mut ccusage = Contender::new("ccusage daily", program.clone().map(|_| "env".into()), &[]);
    let mut config = std::ffi::OsString::from("CLAUDE_CONFIG_DIR=");
    config.push(&path);
    let mut own_home = std::ffi::OsString::from("HOME=");
    own_home.push(&folder);
    ccusage.args.extend([own_home, config]);
    ccusage.args.extend(program);
    ccusage.args.extend(["daily", "--offline", "--json"].map(Into::into));
    let contenders = [
        Contender::new("rg -c '\"usage\"'", tool::ripgrep(), &rg),
        ours("recount usage, no store", recount, &path, &none, &["usage", "--json"]),
        ccusage,
        ours("recount usage, store current", recount, &path, &store, &["usage", "--json"]),
    ];
    let rows = race(&contenders, runs);
    let wall = |at: usize| rows[at].least(|cost| cost.wall);
    let verdict = |what: &str, value, target| Verdict { what: what.into(), value, target };
    let verdicts = vec![
        verdict("recount usage, × rg -c", ratio(wall(1), wall(0)), Target::AtMost(2.0)),
        verdict(
            "recount usage, times faster than ccusage",
            ratio(wall(2), wall(1)),
            Target::AtLeast(2.0),
        ),
        verdict(
            "recount usage, store current, ms",
            wall(3).map(|seconds| seconds * 1e3),
            Target::AtMost(50.0),
        ),
    ];
    Ok(report("usage", home, &rows, runs, verdicts))
}

/// The line that is made after every answer, in the largest session of a home with a store.
pub fn statusline(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let folder = place("statusline")?;
    let (store, status) = (folder.join("store"), folder.join("status.json"));
    race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    let largest = home.files.first().map(|(file, _)| file).ok_or("the home is empty")?;
    let largest = fs::canonicalize(largest).map_err(|e| e.to_string())?;
    fs::write(&status, status_of(&largest)).map_err(|e| e.to_string())?;
    // A shell for the standard input; it becomes the program.
    let script = r#"exec "$0" --claude-dir "$1" --store "$2" statusline < "$3""#;
    let program = recount.subcommand("statusline");
    let mut line = Contender::new("recount statusline", program.clone().map(|_| "sh".into()), &[]);
    line.args.extend(["-c".into(), script.into()]);
    line.args.extend(program);
    line.args.extend([&path, &store, &status].map(|path| path.into()));
    let rows = race(&[line], runs);
    let verdicts = vec![Verdict {
        what: "recount statusline, ms".into(),
        value: rows[0].least(|cost| cost.wall).map(|seconds| seconds * 1e3),
        target: Target::AtMost(20.0),
    }];
    Ok(report(&format!("statusline-{}", home.name), home, &rows, runs, verdicts))
}

/// What Claude Code tells a status line.
fn status_of(transcript: &Path) -> String {
    let session = transcript.file_stem().unwrap_or_default().to_string_lossy();
    serde_json::json!({
        "session_id": session,
        "transcript_path": transcript,
        "model": {"id": "claude-opus-4-5", "display_name": "Opus"},
    })
    .to_string()
}

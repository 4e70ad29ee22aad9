//! Tokens and money: `recount usage` beside ripgrep and ccusage.

use std::fs;

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

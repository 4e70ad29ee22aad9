//! The store: filling it, what it weighs, and asking it; beside agentsview and zstd.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::home::{Home, target};
use super::measure::{self, Cost};
use super::race::{Contender, Row, figure, race, report};
use super::record::{Report, Target, Verdict, ratio};
use super::table::Table;
use super::tool::{self, Recount};

/// Where a store is made for a benchmark.
pub fn place(name: &str) -> Result<PathBuf, String> {
    let place = target().join("bench-store").join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    place.canonicalize().map_err(|e| format!("{}: {e}", place.display()))
}

/// `recount` with its store there.
pub fn ours(
    name: &'static str,
    recount: &Recount,
    home: &Path,
    store: &Path,
    args: &[&str],
) -> Contender {
    let (home, store) = (&home, &store);
    let contender = Contender::new(
        name,
        recount.subcommand(args[0]),
        &[&"--claude-dir", home, &"--store", store],
    );
    with(contender, args)
}

/// agentsview, in this process alone and with a home of its own.
fn theirs(name: &'static str, home: &Path, data: &Path, args: &[&str]) -> Contender {
    let program = tool::agentsview();
    let mut words: Vec<OsString> =
        vec!["AGENTSVIEW_NO_DAEMON=1".into(), "AGENTSVIEW_DISABLE_UPDATE_CHECK=1".into()];
    let settings = [
        ("HOME", data.into()),
        ("AGENTSVIEW_DATA_DIR", data.join("data")),
        ("CLAUDE_PROJECTS_DIR", home.join("projects")),
    ];
    for (key, value) in settings {
        let mut word = OsString::from(key);
        word.push("=");
        word.push(value);
        words.push(word);
    }
    words.extend(program.clone());
    let contender = Contender::new(name, program.map(|_| "env".into()), &[]);
    with(Contender { args: words, ..contender }, args)
}

fn with(mut contender: Contender, args: &[&str]) -> Contender {
    contender.args.extend(args.iter().map(OsString::from));
    contender
}

fn real(home: &Home) -> Result<PathBuf, String> {
    fs::canonicalize(&home.path).map_err(|e| e.to_string())
}

/// Everything into an empty store.
pub fn sync(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = real(home)?;
    let (mine, other) = (place("sync")?.join("store"), place("agentsview")?.join("home"));
    let contenders = [
        Contender {
            fresh: Some(other.clone()),
            ..theirs("agentsview sync", &path, &other, &["sync"])
        },
        Contender {
            fresh: Some(mine.clone()),
            ..ours("recount sync", recount, &path, &mine, &["sync"])
        },
    ];
    let runs = runs.min(3);
    let rows = race(&contenders, runs);
    let faster = ratio(rows[0].least(|c| c.wall), rows[1].least(|c| c.wall));
    let megabytes = home.bytes() as f64 / 1e6;
    let verdicts = vec![
        at_least("recount sync, times faster than agentsview sync", faster, 3.0),
        at_least(
            "recount sync, MB per s and core",
            rows[1].least(|c| c.cpu).map(|s| megabytes / s),
            40.0,
        ),
        at_most("recount sync, peak MB", peak(&rows[1]), 200.0),
        at_most("index, % of the home", percent(&mine, "index", home), 5.0),
    ];
    Ok(report("sync", home, &rows, runs, verdicts))
}

/// A sync when nothing has changed, beside a look at every file.
pub fn again(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = real(home)?;
    let store = place("again")?.join("store");
    let first = race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    if let Some(note) = &first[0].note {
        return Err(note.clone());
    }
    let find: &[&dyn super::race::Arg] =
        &[&path.as_path(), &"-type", &"f", &"-printf", &"%s %T@ %p\\n"];
    let contenders = [
        Contender::new("find -printf '%s %T@ %p'", Ok("find".into()), find),
        ours("recount sync, nothing changed", recount, &path, &store, &["sync"]),
    ];
    let rows = race(&contenders, runs);
    let milliseconds = rows[1].least(|c| c.wall).map(|s| s * 1e3);
    let times = ratio(rows[1].least(|c| c.wall), rows[0].least(|c| c.wall));
    // Files, not bytes, are what it costs: the target is for 10,000 of them.
    let scaled = milliseconds.map(|ms| ms * 10_000.0 / home.files.len().max(10_000) as f64);
    let verdicts = vec![
        at_most("recount sync, ms per 10,000 files", scaled, 50.0),
        Verdict { what: "recount sync, × find".into(), value: times, target: Target::AtMost(5.0) },
    ];
    Ok(report("again", home, &rows, runs, verdicts))
}

/// What the archive weighs, right after a sync and after `archive compact`. It is judged on a home
/// that is given: all text and media of a made one are cut from a megabyte or two, which a window
/// of 128 MB sees once, and no archive whose entries can be read one by one.
pub fn archive(home: &Home, recount: &Recount) -> Result<Report, String> {
    let path = real(home)?;
    let store = place("archive")?.join("store");
    let tar = |name, level: &str| {
        let script = format!("tar -cf - -C \"$0\" . | zstd -q -T1 -{level} --long=27 | wc -c");
        let mut contender = Contender::new(name, tool::tar_and_zstd(), &[&"-c", &&*script]);
        contender.args.push(path.clone().into());
        Contender { once: true, answer: |said| said.trim().parse().ok(), ..contender }
    };
    let recount = |name, args| Contender { once: true, ..ours(name, recount, &path, &store, args) };
    let steps = [
        tar("tar | zstd -3 --long=27", "3"),
        recount("recount sync", &["sync"]),
        tar("tar | zstd -19 --long=27", "19"),
        recount("recount archive compact", &["archive", "compact"]),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for (step, is_ours) in steps.iter().zip([false, true, false, true]) {
        let mut row = race(std::slice::from_ref(step), 1).remove(0);
        if is_ours {
            row.answer = fs::metadata(store.join("archive.db")).ok().map(|m| m.len());
        }
        rows.push(row);
    }
    let size = |at: usize| rows[at].answer.map(|size| size as f64);
    let judged = vec![
        at_most("archive after sync, × tar | zstd -3 --long=27", ratio(size(1), size(0)), 1.0),
        at_most("archive after compact, × tar | zstd -19 --long=27", ratio(size(3), size(2)), 1.0),
    ];
    let verdicts = if home.name == Home::GIVEN { judged } else { Vec::new() };
    Ok(report(&format!("archive-{}", home.name), home, &rows, 1, verdicts))
}

/// Peak memory of filling the store and of asking it.
pub fn memory(home: &Home, recount: &Recount) -> Result<Report, String> {
    let path = real(home)?;
    let store = place("memory")?.join("store");
    let mut rows = Vec::new();
    let steps: [(&'static str, &[&str]); 4] = [
        ("recount usage, no store", &["usage"]),
        ("recount sync", &["sync"]),
        ("recount search", &["search", QUERIES[0]]),
        ("recount usage, store current", &["usage"]),
    ];
    for (name, args) in steps {
        let contender = ours(name, recount, &path, &store, args);
        rows.extend(race(&[Contender { once: true, ..contender }], 1));
    }
    let verdicts = vec![
        at_most("recount usage, no store, peak MB", peak(&rows[0]), 100.0),
        at_most("recount sync, peak MB", peak(&rows[1]), 200.0),
        at_most("recount search, peak MB", peak(&rows[2]), 60.0),
        at_most("recount usage, store current, peak MB", peak(&rows[3]), 100.0),
    ];
    Ok(report("memory-store", home, &rows, 1, verdicts))
}

/// A regular expression over files of which only the archive is left.
pub fn gone(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let folder = place("gone")?;
    let (copy, store) = (folder.join("home"), folder.join("store"));
    copy_files(home, &copy).map_err(|e| format!("{}: {e}", copy.display()))?;
    let sync = || {
        let mut rows = race(&[ours("recount sync", recount, &copy, &store, &["sync"])], 0);
        rows.remove(0).note.map_or(Ok(()), Err)
    };
    sync()?;
    let projects = copy.join("projects");
    let emptied = fs::remove_dir_all(&projects).and_then(|()| fs::create_dir(&projects));
    emptied.map_err(|e| format!("{}: {e}", projects.display()))?;
    sync()?;
    let args = ["search", "--regex", "panicked at .*unwrap"];
    let rows = race(&[ours("recount search --regex", recount, &copy, &store, &args)], runs.min(3));
    let verdicts = vec![at_most("recount search --regex, peak MB", peak(&rows[0]), 60.0)];
    Ok(report("gone", home, &rows, runs.min(3), verdicts))
}

/// The transcripts of a home once more, to be taken away again.
fn copy_files(home: &Home, to: &Path) -> std::io::Result<()> {
    for (file, _) in &home.files {
        let rel = file.strip_prefix(&home.path).map_err(std::io::Error::other)?;
        let new = to.join(rel);
        new.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(file, new)?;
    }
    Ok(())
}

/// What is asked: as people ask, in the words that the made sessions have.
const QUERIES: [&str; 20] = [
    "why does the parser lose the last record of the stream",
    "how did we fix the timeout in the request handler",
    "which commit changed the layout of the invoice table",
    "what was the error when the sensor reading was missing",
    "where do we filter the forecast by weather station",
    "retry timeout",
    "socket buffer offset",
    "schema",
    "invoice basket order",
    "config module import error",
    "\"must be read before\"",
    "\"value token\"",
    "cache -widget",
    "forec*",
    "is_empty returns the error",
    "queue limit role:prompt",
    "export format role:call",
    "record tool:Bash",
    "response error:yes",
    "xylophone of nowhere",
];

/// Whole processes that search, over all the questions.
pub fn search(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = real(home)?;
    let (store, data) = (place("search")?.join("store"), place("search-agentsview")?.join("home"));
    for row in race(
        &[
            ours("recount sync", recount, &path, &store, &["sync"]),
            theirs("agentsview sync", &path, &data, &["sync"]),
        ],
        0,
    ) {
        row.note.into_iter().for_each(|note| eprintln!("{}: {note}", row.name));
    }
    let mut rows = [
        Row { name: "agentsview session search --fts", costs: vec![], answer: None, note: None },
        Row { name: "recount search", costs: vec![], answer: None, note: None },
    ];
    for query in QUERIES {
        let contenders = [
            theirs(
                rows[0].name,
                &path,
                &data,
                &["session", "search", "--fts", "--limit", "10", query],
            ),
            ours(rows[1].name, recount, &path, &store, &["search", query]),
        ];
        for (all, one) in rows.iter_mut().zip(race(&contenders, runs)) {
            all.costs.extend(one.costs);
            all.note = all.note.take().or(one.note);
        }
    }
    let at = |part: f64| quantile(&rows[1].costs, part).map(|s| s * 1e3);
    let verdicts = vec![
        at_most("recount search, ms p50", at(0.5), 30.0),
        at_most("recount search, ms p95", at(0.95), 80.0),
        at_most("recount search, peak MB", peak(&rows[1]), 60.0),
    ];
    let mut table = Table::new(&["command", "ms p50", "ms p95", "ms most", "peak MB"]);
    for row in &rows {
        let cell = |part| figure(quantile(&row.costs, part).map(|s| s * 1e3), 1);
        let name = match &row.note {
            Some(note) => format!("{} ({note})", row.name),
            None => row.name.into(),
        };
        table.row(vec![name, cell(0.5), cell(0.95), cell(1.0), figure(peak(row), 1)]);
    }
    let figures = |row: &Row| {
        let cell = |part| quantile(&row.costs, part).map(|s| s * 1e3);
        json!({"name": row.name, "note": row.note, "ms_p50": cell(0.5), "ms_p95": cell(0.95),
            "ms_most": cell(1.0), "runs": row.costs.len(), "peak_mb": peak(row)})
    };
    Ok(Report {
        name: "search".into(),
        on: format!(
            "{}; {} questions, {runs} runs each, whole processes",
            home.text(),
            QUERIES.len()
        ),
        table,
        rows: rows.iter().map(figures).collect(),
        verdicts,
    })
}

/// The time that such a part of the runs took at most.
fn quantile(costs: &[Cost], part: f64) -> Option<f64> {
    let mut walls: Vec<f64> = costs.iter().map(|cost| cost.wall).collect();
    walls.sort_by(f64::total_cmp);
    let rank = (walls.len() as f64 * part).ceil() as usize;
    walls.get(rank.saturating_sub(1)).copied()
}

/// The most memory a command took, in MB.
pub fn peak(row: &Row) -> Option<f64> {
    row.most(|cost| cost.rss).map(|bytes| bytes as f64 / 1e6)
}

/// Everything into an empty lake, from a synced home whose tables have not been made yet.
pub fn lake(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = real(home)?;
    let folder = place("lake")?;
    let (store, lake) = (folder.join("store"), folder.join("lake"));
    race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    let to = lake.display().to_string();
    let write = ours("recount lake write", recount, &path, &store, &["lake", "write", &to]);
    let mut row = Row { name: write.name, costs: vec![], answer: None, note: None };
    for _ in 0..runs {
        store::table::keep::Tables::remove(&store);
        let _ = fs::remove_dir_all(&lake);
        let cost = measure::cost(write.program.as_ref().map_err(String::clone)?, &write.args)?;
        if cost.code != Some(0) {
            return Err(format!("lake write: exit code {:?}", cost.code));
        }
        row.costs.push(cost);
    }
    let source = home.bytes() as f64;
    let rate = row.least(|cost| cost.wall).map(|seconds| source / 1e6 / seconds);
    let size = weight(&lake).map(|bytes| bytes as f64 / source * 100.0);
    let verdicts = vec![
        at_least("recount lake write, MB of source per second", rate, 100.0),
        at_most("lake without texts, % of the source", size.ok(), 1.0),
        at_most("recount lake write, peak MB", peak(&row), 400.0),
    ];
    Ok(report(&format!("lake-{}", home.name), home, &[row], runs, verdicts))
}

/// Bytes of all files below a folder.
fn weight(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for item in fs::read_dir(folder)? {
        let item = item?;
        bytes += match item.file_type()?.is_dir() {
            true => weight(&item.path())?,
            false => item.metadata()?.len(),
        };
    }
    Ok(bytes)
}

/// What the folders of the store whose names begin so weigh against the home.
fn percent(store: &Path, prefix: &str, home: &Home) -> Option<f64> {
    let mut bytes = 0;
    for item in fs::read_dir(store).ok()?.flatten() {
        if item.file_name().to_string_lossy().starts_with(prefix) {
            for file in fs::read_dir(item.path()).ok()?.flatten() {
                bytes += file.metadata().ok()?.len();
            }
        }
    }
    (bytes > 0).then(|| bytes as f64 / home.bytes() as f64 * 100.0)
}

/// A figure that must not be above another.
pub fn at_most(what: &str, value: Option<f64>, most: f64) -> Verdict {
    Verdict { what: what.into(), value, target: Target::AtMost(most) }
}

fn at_least(what: &str, value: Option<f64>, least: f64) -> Verdict {
    Verdict { what: what.into(), value, target: Target::AtLeast(least) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_times_that_were_seen() {
        let cost = |wall| Cost { wall, cpu: 0.0, rss: 0, read: None, code: Some(0) };
        let costs: Vec<Cost> = (1..=20).map(|n| cost(f64::from(n))).collect();
        let seen = [0.5, 0.95, 1.0].map(|part| quantile(&costs, part));
        assert_eq!(seen, [Some(10.0), Some(19.0), Some(20.0)]);
        assert_eq!(quantile(&[], 0.5), None);
    }
}

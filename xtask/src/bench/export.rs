//! A whole home as HTML, and one long session as one file; beside what else makes pages of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::home::Home;
use super::race::{Contender, race, report};
use super::record::Report;
use super::store::{at_most, ours, peak, place};
use super::tool::{self, Recount};

/// A home in pages: at most so many seconds, and so much of what it was made from.
const SECONDS: f64 = 10.0;
const SHARE: f64 = 8.0;
const MEGABYTES: f64 = 300.0;

/// Everything as HTML.
pub fn home(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let (store, log, scripts) =
        (place("export")?.join("store"), place("export-log")?, place("export-transcripts")?);
    let copy = place("export-copy")?.join("projects");
    copy_all(&path.join("projects"), &copy).map_err(|e| format!("{}: {e}", copy.display()))?;
    let to = place("export-pages")?.join("pages");
    let bare = place("export-bare")?.join("pages");
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let all = ["export", "--all", "--quiet", "--to"];
    let contenders = [
        peer("claude-code-log 1.7", tool::python("claude-code-log", "1.7"), &log, |out| {
            // Without its cache it writes no pages of sessions; and that lies beside the files.
            let args = ["--all-projects".into(), "--projects-dir".into(), copy.clone().into()];
            let mut args: Vec<OsString> = args.into();
            args.extend(["--output".into(), out.into()]);
            args
        }),
        peer(
            "claude-code-transcripts 0.6",
            tool::python("claude-code-transcripts", "0.6"),
            &scripts,
            |out| {
                let mut args: Vec<OsString> = vec!["all".into(), "--quiet".into()];
                args.extend(["--source".into(), path.join("projects").into()]);
                args.extend(["--output".into(), out.into()]);
                args
            },
        ),
        Contender {
            fresh: Some(to.clone()),
            ..ours("recount export", recount, &path, &store, &[&all[..], &[&text(&to)]].concat())
        },
        Contender {
            fresh: Some(bare.clone()),
            ..ours(
                "recount export --no-images",
                recount,
                &path,
                &store,
                &[&all[..], &[&text(&bare), "--no-images"]].concat(),
            )
        },
    ];
    let runs = runs.min(3);
    let mut rows = race(&contenders, runs);
    // What each of them wrote is its answer, in bytes.
    for (row, folder) in
        rows.iter_mut().zip([&log.join("pages"), &scripts.join("pages"), &to, &bare])
    {
        row.answer = Some(weight(folder)).filter(|bytes| *bytes > 0);
    }
    let share = rows[3].answer.map(|bytes| 100.0 * bytes as f64 / home.bytes() as f64);
    let verdicts = vec![
        at_most("a home as HTML, s", rows[2].least(|c| c.wall), SECONDS),
        at_most("a home as HTML without pictures, % of its source", share, SHARE),
        at_most("a home as HTML, peak MB", peak(&rows[2]), MEGABYTES),
    ];
    Ok(report("export", home, &rows, runs, verdicts))
}

/// One long session as one file.
pub fn session(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let (file, bytes) = home.files.first().ok_or("the home is empty")?;
    let id = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let id = id.ok_or("the file has no name")?;
    let store = place("export-one")?.join("store");
    let to = place("export-page")?.join("page.html");
    let name = to.to_string_lossy().into_owned();
    let args = ["export", &id, "--quiet", "--force", "--no-images", "--to", &name];
    let rows = race(&[ours("recount export", recount, &path, &store, &args)], runs);
    let share = 100.0 * weight(&to) as f64 / *bytes as f64;
    let verdicts = vec![
        at_most("a session in one file, % of its lines", Some(share), SHARE),
        at_most("a session in one file, peak MB", peak(&rows[0]), MEGABYTES),
    ];
    Ok(report("export-one", home, &rows, runs, verdicts))
}

/// Another program, with a home of its own, once.
fn peer(
    name: &'static str,
    program: Result<OsString, String>,
    out: &Path,
    args: impl FnOnce(&Path) -> Vec<OsString>,
) -> Contender {
    let mut home = OsString::from("HOME=");
    home.push(out);
    let mut words = vec![home];
    words.extend(program.clone());
    words.extend(args(&out.join("pages")));
    let contender = Contender::new(name, program.map(|_| "env".into()), &[]);
    Contender { args: words, once: true, ..contender }
}

/// Copies a folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.path() {
            path if path.is_dir() => copy_all(&path, &to)?,
            path => _ = fs::copy(path, to)?,
        }
    }
    Ok(())
}

/// Bytes of a file, or of all files below a folder.
fn weight(path: &Path) -> u64 {
    if path.is_file() {
        return path.metadata().map_or(0, |data| data.len());
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.iter().map(|path| weight(path)).sum()
}

//! The browser in a terminal: when its first rows are there, and how soon a long session is open.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use super::home::Home;
use super::race::race;
use super::record::{Report, Target, Verdict, least};
use super::store::{ours, place};
use super::table::Table;
use super::tool::Recount;

/// Nobody is to wait longer, in milliseconds.
const MOST: f64 = 100.0;
/// What is not on the screen after this long never will be.
const NEVER: Duration = Duration::from_secs(60);
/// What the browser says of a session of which only the end has been read.
const END: &str = "only the end";
const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

/// A program that believes to be on a terminal.
struct Terminal {
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    begun: Instant,
    screen: vt100::Parser,
}

impl Terminal {
    fn start(program: &Path, args: &[&std::ffi::OsStr]) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", program.display());
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map_err(|e| failed(&e))?;
        grantpt(&ours).and_then(|()| unlockpt(&ours)).map_err(|e| failed(&e))?;
        let name = ptsname(&ours, Vec::new()).map_err(|e| failed(&e))?;
        let name = name.to_str().map_err(|e| failed(&e))?;
        let open = || File::options().read(true).write(true).open(name).map_err(|e| failed(&e));
        let theirs = open()?;
        tcsetwinsize(&theirs, SIZE).map_err(|e| failed(&e))?;
        let keys = File::from(ours);
        let mut screen = keys.try_clone().map_err(|e| failed(&e))?;
        let (say, shown) = mpsc::channel();
        std::thread::spawn(move || {
            let mut block = vec![0; 1 << 16];
            while let Ok(n @ 1..) = screen.read(&mut block) {
                if say.send(block[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        let begun = Instant::now();
        let mut command = Command::new(program);
        command.args(args).env("TERM", "xterm-256color").env("NO_COLOR", "1");
        command.stdin(open()?).stdout(open()?).stderr(theirs);
        let child = command.spawn().map_err(|e| failed(&e))?;
        let screen = vt100::Parser::new(SIZE.ws_row, SIZE.ws_col, 0);
        Ok(Self { child, keys, shown, begun, screen })
    }

    /// Milliseconds since the last thing that was done until `text` is on the screen.
    fn until(&mut self, text: &str) -> Result<f64, String> {
        while !self.screen.screen().contents().contains(text) {
            let left = NEVER.saturating_sub(self.begun.elapsed());
            let more = self.shown.recv_timeout(left);
            self.screen.process(&more.map_err(|_| format!("{text:?} never was on the screen"))?);
        }
        Ok(self.begun.elapsed().as_secs_f64() * 1e3)
    }

    /// Types something.
    fn press(&mut self, keys: &str) -> Result<(), String> {
        self.begun = Instant::now();
        self.keys.write_all(keys.as_bytes()).map_err(|e| e.to_string())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It is ours and may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures how soon the end of the longest session is on the screen once it is chosen.
pub fn open(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let store = place("browse-open")?.join("store");
    race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    let (file, bytes) = home.files.first().ok_or("the home is empty")?;
    let id = file.file_stem().and_then(|stem| stem.to_str()).ok_or("a file has a name")?;
    let one = |_| {
        let mut terminal = start(recount, &path, &store)?;
        terminal.until("everywhere")?;
        terminal.press(&id[..8])?;
        terminal.until("1 of ")?;
        terminal.press("\r")?;
        terminal.until(END)
    };
    let all: Vec<f64> = (0..runs).map(one).collect::<Result<_, String>>()?;
    let ms = least(all.iter().copied()).unwrap_or(f64::NAN);
    let mut table = Table::new(&["session", "end on screen ms"]);
    table.row(vec![format!("{:.0} MB", *bytes as f64 / 1e6), format!("{ms:.0}")]);
    let rows = json!([{ "session_bytes": bytes, "end_ms": ms }]);
    let what = "end of the longest session on the screen, ms".into();
    let verdicts = vec![Verdict { what, value: Some(ms), target: Target::AtMost(MOST) }];
    let on = format!("{}, the least of {runs} runs", home.text());
    Ok(Report { name: "browse-open".into(), on, table, rows, verdicts })
}

fn start(recount: &Recount, home: &Path, store: &Path) -> Result<Terminal, String> {
    let args = ["--claude-dir".as_ref(), home.as_os_str(), "--store".as_ref(), store.as_os_str()];
    Terminal::start(recount.path(), &args)
}

/// Measures the first rows of a home, with a store and without.
pub fn rows(home: &Home, recount: &Recount, runs: usize) -> Result<Report, String> {
    let path = fs::canonicalize(&home.path).map_err(|e| e.to_string())?;
    let place = place("browse")?;
    let (store, none) = (place.join("store"), place.join("none"));
    race(&[ours("recount sync", recount, &path, &store, &["sync"])], 0);
    let title = newest(recount, &path, &store)?;
    let mut table = Table::new(&["store", "first row ms"]);
    let (mut rows, mut verdicts) = (Vec::new(), Vec::new());
    for (name, store) in [("with a store", &store), ("without a store", &none)] {
        let one = |_| start(recount, &path, store)?.until(&title);
        let all: Vec<f64> = (0..runs).map(one).collect::<Result<_, String>>()?;
        let ms = least(all.iter().copied()).unwrap_or(f64::NAN);
        table.row(vec![name.into(), format!("{ms:.0}")]);
        rows.push(json!({ "store": name, "first_row_ms": ms }));
        if store.exists() {
            let what = format!("first row, {name}, ms");
            verdicts.push(Verdict { what, value: Some(ms), target: Target::AtMost(MOST) });
        }
    }
    let on = format!("{}, the least of {runs} runs", home.text());
    let name = format!("browse-{}", home.name);
    Ok(Report { name, on, table, rows: rows.into(), verdicts })
}

/// The beginning of the title of the session that was active last.
fn newest(recount: &Recount, home: &Path, store: &Path) -> Result<String, String> {
    let mut command = Command::new(recount.path());
    command.arg("--claude-dir").arg(home).arg("--store").arg(store);
    let listed = command.args(["list", "--json", "--limit", "1"]).output();
    let listed = listed.map_err(|e| format!("recount list: {e}"))?.stdout;
    let first: Value = serde_json::from_slice(&listed).map_err(|e| format!("recount list: {e}"))?;
    let title = first["title"].as_str().ok_or("the newest session has no title")?;
    Ok(title.chars().take(20).collect())
}

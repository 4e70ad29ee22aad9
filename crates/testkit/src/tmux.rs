//! A real terminal, typed into and read like a person does it: a window of tmux.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Nobody waits longer for something to appear.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(20);

/// A terminal with one window.
#[derive(Debug)]
pub struct Tmux {
    /// Its socket is in there: nothing of this computer's tmux is touched.
    folder: TempDir,
}

/// Whether there is a terminal to test with; the error is what to tell the person.
pub fn is_there() -> Result<(), String> {
    let said = Command::new("tmux").arg("-V").stderr(Stdio::null()).output();
    match said.is_ok_and(|output| output.status.success()) {
        true => Ok(()),
        false => Err("There is no `tmux` on the PATH: on Debian, `apt-get install tmux`".into()),
    }
}

impl Tmux {
    /// A window of this size with a shell in it, in a home of its own.
    pub fn start(columns: u16, rows: u16) -> Result<Self, String> {
        is_there()?;
        let folder = tempfile::tempdir().map_err(|e| format!("tmux: no folder: {e}"))?;
        let tmux = Self { folder };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let home = tmux.folder.path().display().to_string();
        let shell = format!("env -i HOME={home} PATH=$PATH TERM=screen TZ=UTC PS1='$ ' sh");
        let done = tmux.ask(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            "-c",
            &home,
            &shell,
        ])?;
        match done.status.success() {
            true => Ok(tmux),
            false => Err(format!("tmux: {}", String::from_utf8_lossy(&done.stderr))),
        }
    }

    fn ask(&self, args: &[&str]) -> Result<Output, String> {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(self.folder.path().join("socket")).args(args);
        command.env_remove("TMUX").stdin(Stdio::null());
        command.output().map_err(|e| format!("tmux: {e}"))
    }

    /// Types letters as they are.
    pub fn text(&self, text: &str) -> Result<(), String> {
        self.ask(&["send-keys", "-l", text]).map(drop)
    }

    /// Presses keys by their names: `Enter`, `C-r`, `Escape`.
    pub fn keys(&self, keys: &[&str]) -> Result<(), String> {
        self.ask(&[&["send-keys"], keys].concat()).map(drop)
    }

    /// Pastes a text as a terminal does: bracketed, if the program asked for that.
    pub fn paste(&self, text: &str) -> Result<(), String> {
        self.ask(&["set-buffer", "--", text])?;
        self.ask(&["paste-buffer", "-p"]).map(drop)
    }

    /// Another size.
    pub fn resize(&self, columns: u16, rows: u16) -> Result<(), String> {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.ask(&["resize-window", "-x", &columns, "-y", &rows]).map(drop)
    }

    /// What is on the screen.
    pub fn screen(&self) -> Result<String, String> {
        let output = self.ask(&["capture-pane", "-p"])?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The screen once it has what is wanted; an error with the screen if that does not come.
    pub fn wait(&self, wanted: impl Fn(&str) -> bool) -> Result<String, String> {
        let begun = Instant::now();
        loop {
            let screen = self.screen()?;
            if wanted(&screen) {
                return Ok(screen);
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("it did not come:\n{screen}"));
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.ask(&["kill-server"]);
    }
}

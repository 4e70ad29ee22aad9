//! The client in a terminal, typed into like a person does it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::home::ClientHome;
use crate::tmux::Tmux;

/// Nothing takes longer to appear.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(40);
/// The client takes what comes at once for a paste: Enter is pressed after a moment.
const BEFORE_ENTER: Duration = Duration::from_millis(200);
/// What the shell says once the client has ended.
const ENDED: &str = "CLIENT-ENDED";

/// A window in which the client runs.
#[derive(Debug)]
pub struct Window {
    tmux: Tmux,
    /// The client's process.
    id: u32,
}

impl Window {
    /// Starts the client and waits until it can be typed into.
    pub fn start(home: &ClientHome, args: &[String]) -> Result<Self, String> {
        let window = Self::open(home, args)?;
        window.wait(|screen| screen.contains('❯'))?;
        Ok(window)
    }

    /// Starts the client with its list of sessions.
    pub fn start_picker(home: &ClientHome) -> Result<Self, String> {
        let window = Self::open(home, &["--resume".to_owned()])?;
        window.wait(|screen| screen.contains("Resume session") && !screen.contains("Loading"))?;
        // The rows come after the head.
        thread::sleep(BEFORE_ENTER);
        Ok(window)
    }

    fn open(home: &ClientHome, args: &[String]) -> Result<Self, String> {
        let tmux = Tmux::start(160, 50)?;
        let place = |name: &str| home.temp().join(name);
        let mut script = format!(
            "cd {}\necho $$ > {}\nexec env -i \\\n",
            quoted(home.work()),
            quoted(place("client.pid"))
        );
        for (name, value) in home.environment() {
            script += &format!("  {name}={} \\\n", quoted(value));
        }
        script += &format!("  {}", quoted(home.program()));
        for arg in args {
            script += &format!(" {}", quoted(arg));
        }
        let file = place("client.sh");
        let _ = fs::remove_file(place("client.pid"));
        fs::write(&file, script + "\n").map_err(|e| format!("{}: {e}", file.display()))?;
        tmux.text(&format!("clear; sh {}; echo {ENDED}", quoted(&file)))?;
        tmux.keys(&["Enter"])?;
        let begun = Instant::now();
        let id = loop {
            let said = fs::read_to_string(place("client.pid")).unwrap_or_default();
            match said.trim().parse() {
                Ok(id) => break id,
                Err(_) if begun.elapsed() > PATIENCE => return Err("client not started".into()),
                Err(_) => thread::sleep(LOOK),
            }
        };
        Ok(Self { tmux, id })
    }

    fn wait(&self, wanted: impl Fn(&str) -> bool) -> Result<String, String> {
        let begun = Instant::now();
        loop {
            let screen = self.screen()?;
            if wanted(&screen) {
                return Ok(screen);
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("did not come:\n{screen}"));
            }
            thread::sleep(LOOK);
        }
    }

    /// What is on the screen.
    pub fn screen(&self) -> Result<String, String> {
        self.tmux.screen()
    }

    /// Types text.
    pub fn text(&self, text: &str) -> Result<(), String> {
        self.tmux.text(text)
    }

    /// Types text and presses Enter.
    pub fn type_line(&self, text: &str) -> Result<(), String> {
        self.text(text)?;
        thread::sleep(BEFORE_ENTER);
        self.tmux.keys(&["Enter"])
    }

    /// Pastes a made-up text of several lines, as a terminal does it.
    pub fn paste(&self, length: usize) -> Result<(), String> {
        let lines = (1..).map(|number| format!("Line {number} of what was pasted.\n"));
        let mut text = String::new();
        for line in lines {
            if text.len() + line.len() > length {
                break;
            }
            text += &line;
        }
        self.tmux.paste(&text)
    }

    /// Presses keys one after the other, with a moment between them.
    pub fn keys(&self, keys: &[String]) -> Result<(), String> {
        for key in keys {
            self.tmux.keys(&[key])?;
            thread::sleep(BEFORE_ENTER);
        }
        Ok(())
    }

    /// Waits until the screen has a text.
    pub fn see(&self, text: &str) -> Result<(), String> {
        let seen = self.wait(|screen| screen.contains(text));
        seen.map(drop).map_err(|screen| format!("`{text}` {screen}"))
    }

    /// Waits until the screen has not a text any more.
    pub fn gone(&self, text: &str) -> Result<(), String> {
        let gone = self.wait(|screen| !screen.contains(text));
        gone.map(drop).map_err(|screen| format!("`{text}` is still there: {screen}"))
    }

    fn registered(&self, home: &ClientHome) -> Option<Value> {
        let file = home.config().join(format!("sessions/{}.json", self.id));
        serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
    }

    /// The id of the session that is open, once its transcript is there: the client registers
    /// itself and notes the prompt in its history before it writes the first line.
    pub fn session(&self, home: &ClientHome) -> Result<String, String> {
        let registered = self.registered(home).ok_or("the client has not registered itself")?;
        let id = registered["sessionId"].as_str().ok_or("no session in the registry")?;
        let begun = Instant::now();
        let is_its = |file: &PathBuf| file.file_stem().is_some_and(|stem| stem == id);
        while !home.transcripts().iter().any(is_its) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{id} has no transcript"));
            }
            thread::sleep(LOOK);
        }
        Ok(id.to_owned())
    }

    /// Waits until the client says that it is idle and its files grow no more.
    pub fn idle(&self, home: &ClientHome) -> Result<(), String> {
        const QUIET: Duration = Duration::from_millis(400);
        let begun = Instant::now();
        let (mut last, mut since) = (0, Instant::now());
        loop {
            let state = self.registered(home).map(|all| all["status"].clone());
            let is_idle = state.as_ref().is_some_and(|state| state == "idle");
            let size = home
                .transcripts()
                .iter()
                .filter_map(|file| fs::metadata(file).ok())
                .map(|m| m.len())
                .sum::<u64>();
            if size != last || !is_idle {
                (last, since) = (size, Instant::now());
            }
            if since.elapsed() > QUIET {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("not idle: {state:?}\n{}", self.screen()?));
            }
            thread::sleep(LOOK);
        }
    }

    /// Ends the client as a person does.
    pub fn close(self) -> Result<(), String> {
        self.type_line("/exit")?;
        self.see(ENDED)
    }

    /// Ends the client with SIGKILL.
    pub fn kill(self) -> Result<(), String> {
        let id = self.id.to_string();
        Command::new("kill").args(["-9", &id]).status().map_err(|e| format!("kill: {e}"))?;
        self.see(ENDED)
    }
}

/// A word of a shell.
fn quoted(word: impl Into<PathBuf>) -> String {
    let word = word.into().display().to_string();
    format!("'{}'", word.replace('\'', "'\\''"))
}

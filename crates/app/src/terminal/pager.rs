//! Output longer than the screen goes to `$PAGER`, or to `less`.
//!
//! The first screenful is held back; only what is longer starts the pager. `less` gets `-FRX`
//! (quit if it fits, keep colours, leave the text on the screen), a `$PAGER` gets the same
//! through `LESS` unless the person has set that. Where no pager can be started the output comes
//! without one. A pager that is left early closes the pipe, which is no error.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use super::output::Screen;

const LESS: &str = "FRX";

/// Holds output back until it is known whether it fits on the screen.
pub struct Pager {
    screen: Screen,
    command: Option<Command>,
    held: Vec<u8>,
    lines: usize,
    child: Option<Child>,
}

impl Pager {
    /// A pager for this screen; `None` where the person wants none (`PAGER=` or `PAGER=cat`).
    pub fn new(screen: Screen) -> Option<Self> {
        let wanted = std::env::var("PAGER").ok();
        let command = command(wanted.as_deref())?;
        Some(Self { screen, command: Some(command), held: Vec::new(), lines: 0, child: None })
    }

    /// Writes what is held, and waits until the pager is left.
    pub fn finish(&mut self) -> io::Result<()> {
        let Some(mut child) = self.child.take() else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&std::mem::take(&mut self.held))?;
            return stdout.flush();
        };
        drop(child.stdin.take());
        child.wait().map(drop)
    }

    fn is_full(&self) -> bool {
        let Screen { columns, rows } = self.screen;
        self.lines >= rows || self.held.len() >= columns.saturating_mul(rows)
    }

    /// Starts the pager; without one, the rest is written directly.
    fn start(&mut self) -> io::Result<()> {
        if let Some(mut command) = self.command.take() {
            self.child = command.spawn().ok();
        }
        let held = std::mem::take(&mut self.held);
        self.pass(&held)
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
            Some(pipe) => pipe.write_all(bytes),
            None => io::stdout().write_all(bytes),
        }
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.command.is_none() {
            self.pass(bytes)?;
            return Ok(bytes.len());
        }
        self.lines += bytes.iter().filter(|&&b| b == b'\n').count();
        self.held.extend_from_slice(bytes);
        if self.is_full() {
            self.start()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The command for a value of `$PAGER`. It is split at spaces; no shell reads it.
fn command(wanted: Option<&str>) -> Option<Command> {
    let mut words = match wanted {
        Some(wanted) => wanted.split_whitespace(),
        None => "less -FRX".split_whitespace(),
    };
    let program = words.next().filter(|&program| program != "cat")?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_split_at_spaces() {
        let words = |wanted| {
            let command = command(wanted)?;
            let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
            let program = command.get_program().to_string_lossy().into_owned();
            Some(std::iter::once(program).chain(args).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(words(None).as_deref(), Some("less -FRX"));
        assert_eq!(words(Some("more  -d")).as_deref(), Some("more -d"));
        assert_eq!(words(Some("")), None);
        assert_eq!(words(Some("cat")), None);
    }

    #[test]
    fn a_pager_starts_only_when_the_screen_is_full() {
        let mut pager = Pager {
            screen: Screen { columns: 80, rows: 3 },
            command: command(Some("true")),
            held: Vec::new(),
            lines: 0,
            child: None,
        };
        pager.write_all(b"a\nb\n").expect("held");
        assert!(pager.child.is_none() && pager.held == b"a\nb\n");
        // `true` may be gone before it is written to: a closed pipe, as when a pager is left.
        let _ = pager.write_all(b"c\n");
        assert!(pager.child.is_some() && pager.held.is_empty());
        pager.finish().expect("waited for");
    }
}

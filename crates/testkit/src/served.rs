//! A `recount serve` on a home of its own, ended when dropped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A server that runs.
#[derive(Debug)]
pub struct Served {
    child: Child,
    /// Its address, without a slash at the end; with `--listen` elsewhere also the token.
    pub url: String,
    /// Its home and its store: nothing of this computer's.
    folder: TempDir,
}

impl Served {
    /// Starts the program on a Claude folder and waits until it says its address.
    pub fn start(program: &Path, claude: &Path, more: &[&str]) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", program.display());
        let folder = tempfile::tempdir().map_err(failed)?;
        let mut child = Command::new(program)
            .args(["serve", "--port", "0", "--claude-dir"])
            .arg(claude)
            .arg("--store")
            .arg(folder.path().join("store"))
            .args(more)
            .env_clear()
            .env("HOME", folder.path())
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut said = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut said).map_err(failed)?;
        }
        let served = Self { child, url: said.trim().trim_end_matches('/').to_owned(), folder };
        if served.url.starts_with("http://") { Ok(served) } else { Err("no address".into()) }
    }

    /// Where its store is.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Its host and port.
    pub fn host(&self) -> &str {
        self.url.trim_start_matches("http://").split('/').next().unwrap_or_default()
    }

    /// Its number, to be looked up by whoever measures it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

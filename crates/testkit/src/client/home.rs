//! A computer of its own for the client: home, config folder, temp folder and work folder below
//! one temporary folder, a clean environment, and a model server.
//!
//! All processes of the client are known by the config folder in their environment; those that
//! are left are ended by their ids when the home is dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::install;
use super::server::ModelServer;

const API_KEY: &str = "sk-ant-made-up-for-tests";
/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a process has said when it ended.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; none after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Standard output as JSON lines; what is not JSON is left out.
    pub fn rows(&self) -> Vec<Value> {
        self.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// A home with a model server.
#[derive(Debug)]
pub struct ClientHome {
    /// The model.
    pub server: ModelServer,
    folder: TempDir,
    version: String,
    recount: PathBuf,
    more_env: Vec<(String, String)>,
}

impl ClientHome {
    /// An empty home for a version of the client and a recount program.
    pub fn new(version: &str, recount: &Path) -> Result<Self, String> {
        install::is_there(version)?;
        let failed = |e: std::io::Error| format!("a home for the client: {e}");
        // Short, because sockets are below it and their paths may have 108 characters.
        let folder = tempfile::Builder::new().prefix("rc").tempdir().map_err(failed)?;
        let home = Self {
            server: ModelServer::start()?,
            folder,
            version: version.to_owned(),
            recount: recount.to_owned(),
            more_env: Vec::new(),
        };
        for path in [home.config(), home.work(), home.temp(), home.bin()] {
            fs::create_dir_all(path).map_err(failed)?;
        }
        home.write_settings().map_err(failed)?;
        Ok(home)
    }

    fn write_settings(&self) -> std::io::Result<()> {
        let key_end = &API_KEY[API_KEY.len() - 20..];
        let work = self.work().display().to_string();
        let state = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "bypassPermissionsModeAccepted": true,
            "customApiKeyResponses": { "approved": [key_end], "rejected": [] },
            "projects": { work: { "hasTrustDialogAccepted": true } },
        });
        fs::write(self.config().join(".claude.json"), state.to_string())?;
        let git =
            "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n";
        fs::write(self.home().join(".gitconfig"), git)?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(&self.recount, self.bin().join("recount"))?;
        Ok(())
    }

    /// Puts a program of the test in the place of recount, for the client and what it starts.
    pub fn replace_recount(&self, script: &str) -> std::io::Result<()> {
        let path = self.bin().join("recount");
        fs::remove_file(&path)?;
        fs::write(&path, script)?;
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(())
    }

    /// The folder of everything.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// `CLAUDE_CONFIG_DIR`.
    pub fn config(&self) -> PathBuf {
        self.home().join(".claude")
    }

    /// Where the client works.
    pub fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Its temp folder.
    pub fn temp(&self) -> PathBuf {
        self.root().join("t")
    }

    /// recount's store.
    pub fn store(&self) -> PathBuf {
        self.root().join("store")
    }

    fn bin(&self) -> PathBuf {
        self.root().join("bin")
    }

    /// Adds a variable to the client's environment.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.more_env.push((name.to_owned(), value.to_owned()));
    }

    /// The whole environment of the client.
    pub fn environment(&self) -> Vec<(String, String)> {
        let path = |path: PathBuf| path.display().to_string();
        let all = [
            ("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", path(self.bin()))),
            ("HOME", path(self.home())),
            ("CLAUDE_CONFIG_DIR", path(self.config())),
            ("CLAUDE_CODE_TMPDIR", path(self.temp())),
            ("TMPDIR", path(self.temp())),
            ("RECOUNT_STORE", path(self.store())),
            ("ANTHROPIC_API_KEY", API_KEY.to_owned()),
            ("ANTHROPIC_BASE_URL", self.server.url()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_ERROR_REPORTING", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            // Permits to run without questions also as root.
            ("IS_SANDBOX", "1".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("SHELL", "/bin/bash".to_owned()),
        ];
        let all = all.map(|(name, value)| (name.to_owned(), value));
        all.into_iter().chain(self.more_env.iter().cloned()).collect()
    }

    /// The client's program.
    pub fn program(&self) -> PathBuf {
        install::program(&self.version)
    }

    /// The client, to be started by the caller.
    pub fn client(&self, args: &[String], cwd: &Path) -> Command {
        let mut command = Command::new(self.program());
        command.args(args).env_clear().envs(self.environment()).current_dir(cwd);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the client to its end.
    pub fn run(&self, args: &[String], cwd: &Path) -> Result<Ran, String> {
        let child = self.client(args, cwd).spawn().map_err(|e| format!("client: {e}"))?;
        finish(child)
    }

    /// recount on this home, with nothing of this computer's environment.
    pub fn recount_command(&self, args: &[String]) -> Command {
        let mut command = Command::new(&self.recount);
        command.arg("--claude-dir").arg(self.config()).arg("--store").arg(self.store());
        command.args(args).env_clear().env("HOME", self.home()).env("TZ", "UTC");
        command.current_dir(self.work());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs recount to its end.
    pub fn recount(&self, args: &[String]) -> Result<Ran, String> {
        let child = self.recount_command(args).spawn().map_err(|e| format!("recount: {e}"))?;
        finish(child)
    }

    /// All transcripts, those of subagents too.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let files = files(&self.config().join("projects")).into_iter();
        files.filter(|file| file.extension().is_some_and(|e| e == "jsonl")).collect()
    }

    /// All files of the config folder, relative to it.
    pub fn config_files(&self) -> Vec<PathBuf> {
        let config = self.config();
        let below = |file: PathBuf| file.strip_prefix(&config).map(Path::to_owned).ok();
        files(&config).into_iter().filter_map(below).collect()
    }

    /// Copies everything but the temp folder to a folder for people, with all exchanges.
    pub fn keep(&self, to: &Path) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("{}: {e}", to.display());
        if to.exists() {
            fs::remove_dir_all(to).map_err(failed)?;
        }
        for part in ["home", "work", "store"] {
            copy(&self.root().join(part), &to.join(part)).map_err(failed)?;
        }
        let requests = to.join("requests");
        fs::create_dir_all(&requests).map_err(failed)?;
        for exchange in self.server.exchanges() {
            let file = requests.join(format!("{:04}.json", exchange.number));
            fs::write(file, exchange.to_json().to_string()).map_err(failed)?;
        }
        Ok(())
    }

    /// Ends all processes of this home that are still there.
    pub fn end_processes(&self) {
        for id in self.processes() {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
    }

    /// Processes that have this home's config folder in their environment. Empty where the system
    /// has no `/proc`.
    pub fn processes(&self) -> Vec<u32> {
        let ours = format!("CLAUDE_CONFIG_DIR={}", self.config().display());
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == ours.as_bytes())
        })
        .chain(self.registered())
        .collect()
    }

    /// Clients that the home's registry names and that still run.
    fn registered(&self) -> Vec<u32> {
        let files = fs::read_dir(self.config().join("sessions")).into_iter().flatten().flatten();
        let ids = files.filter_map(|file| {
            let text = fs::read_to_string(file.path()).ok()?;
            let all: serde_json::Value = serde_json::from_str(&text).ok()?;
            u32::try_from(all["pid"].as_u64()?).ok()
        });
        let is_client = |id: &u32| {
            let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            line.windows(6).any(|part| part == b"claude")
        };
        ids.filter(is_client).collect()
    }
}

impl Drop for ClientHome {
    fn drop(&mut self) {
        self.end_processes();
    }
}

/// Waits for a process, and ends it when it takes too long.
pub fn finish(child: Child) -> Result<Ran, String> {
    let id = child.id();
    let (done, is_done) = std::sync::mpsc::channel();
    let watch = std::thread::spawn(move || {
        let begun = Instant::now();
        while is_done.recv_timeout(Duration::from_millis(200)).is_err() {
            if begun.elapsed() > PATIENCE {
                let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
                return;
            }
        }
    });
    let output = child.wait_with_output().map_err(|e| format!("process {id}: {e}"))?;
    let _ = done.send(());
    let _ = watch.join();
    Ok(Ran::new(output))
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push(path),
            }
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&path, &to)?;
        } else if kind.is_file() {
            fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

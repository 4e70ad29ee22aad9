//! The programs that tests of lakes need, where they have been fetched: Python with Spark and
//! DuckDB, and a server that speaks S3.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The packages from PyPI.
pub const PACKAGES: [&str; 2] = ["duckdb==2.0.0", "pyspark==4.3.0"];
/// The server, from crates.io.
pub const SERVER: (&str, &str) = ("s3s-fs", "0.14.1");
/// The server answers within this time, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folder they are fetched to by `cargo xtask check`.
pub fn folder() -> PathBuf {
    let tools = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/lake");
    // The packages are found by their real place.
    Path::new(tools).canonicalize().unwrap_or_else(|_| tools.into())
}

/// Python with the packages.
pub fn python() -> PathBuf {
    folder().join("python/bin/python")
}

/// The server's program.
pub fn server() -> PathBuf {
    folder().join("bin").join(SERVER.0)
}

/// What is not there; nothing if all is.
pub fn missing() -> Option<String> {
    let has = |import: &str| {
        let mut python = Command::new(python());
        python.args(["-c", import]).stderr(Stdio::null());
        python.status().is_ok_and(|status| status.success())
    };
    let java = Command::new("java").arg("-version").stderr(Stdio::null()).status();
    if !java.is_ok_and(|status| status.success()) {
        return Some("java".into());
    }
    if !has("import duckdb, pyspark") {
        return Some(PACKAGES.join(" and "));
    }
    (!server().exists()).then(|| SERVER.0.into())
}

/// Whether all of it is there; says so where it is not.
pub fn is_there() -> bool {
    let missing = missing();
    if let Some(what) = &missing {
        crate::not_run(what);
    }
    missing.is_none()
}

/// A server that speaks S3 on this computer only, ended when dropped.
#[derive(Debug)]
pub struct Bucket {
    child: Child,
    port: u16,
}

impl Bucket {
    /// Its keys.
    pub const KEYS: (&'static str, &'static str) = ("a-key-of-the-tests", "a-secret-of-the-tests");

    /// Starts it; buckets are the folders in `root`.
    pub fn start(root: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| error.to_string();
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.map_err(failed)?.port();
        let mut command = Command::new(server());
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--access-key", Self::KEYS.0, "--secret-key", Self::KEYS.1]).arg(root);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self { child: command.spawn().map_err(failed)?, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE {
                return Err("the server does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// What a program has to know to speak to it.
    pub fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_REGION", "us-east-1".into()),
            ("AWS_ACCESS_KEY_ID", Self::KEYS.0.into()),
            ("AWS_SECRET_ACCESS_KEY", Self::KEYS.1.into()),
        ]
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

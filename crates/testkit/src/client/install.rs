//! The real client, from npm into `target/client/<version>`. It is never committed.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version that the check runs. The only place that names it.
pub const VERSION: &str = "2.1.326";

const PACKAGE: &str = "@anthropic-ai/claude-code";

/// Below which all versions are, next to what cargo builds.
pub fn folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap_or(root);
    root.join("target/client")
}

/// The package with the program for this computer.
fn platform_package() -> String {
    let os = if OS == "macos" { "darwin" } else { OS };
    let arch = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{PACKAGE}-{os}-{arch}")
}

/// Where the program of this version is, once it is installed.
pub fn program(version: &str) -> PathBuf {
    let modules = folder().join(version).join("node_modules");
    modules.join(platform_package()).join("claude")
}

/// Whether this version can be run; the error is what to tell the person.
pub fn is_there(version: &str) -> Result<(), String> {
    match program(version).is_file() {
        true => Ok(()),
        false => Err(format!(
            "Claude Code {version} is not installed: `cargo xtask client --install` fetches it \
             from npm"
        )),
    }
}

/// Installs this version, if it is not there. Package and platform package are both named with
/// their version: without one npm silently takes an older release for an older node.
pub fn install(version: &str) -> Result<(), String> {
    if is_there(version).is_ok() {
        return Ok(());
    }
    let to = folder().join(version);
    std::fs::create_dir_all(&to).map_err(|e| format!("{}: {e}", to.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
    npm.arg("--prefix").arg(&to);
    npm.args([PACKAGE, &platform_package()].map(|package| format!("{package}@{version}")));
    let done = npm.stdin(Stdio::null()).output().map_err(|e| format!("npm: {e}"))?;
    if !done.status.success() {
        return Err(format!("npm: {}", String::from_utf8_lossy(&done.stderr)));
    }
    is_there(version)
}

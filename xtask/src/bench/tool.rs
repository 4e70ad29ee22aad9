//! The programs that are measured: ours, freshly built, and the known ones beside it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::home::target;

/// Our binary, built for release.
#[derive(Debug)]
pub struct Recount(PathBuf);

impl Recount {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The program, if it knows the subcommand already.
    pub fn subcommand(&self, name: &str) -> Result<OsString, String> {
        let help = Command::new(&self.0).args([name, "--help"]).output();
        match help {
            // A binary that ignores its arguments says nothing.
            Ok(help) if help.status.success() && !help.stdout.is_empty() => {
                Ok(self.0.clone().into())
            }
            _ => Err("not available yet".into()),
        }
    }
}

/// Our binary with everything that is released.
pub fn recount() -> Result<Recount, String> {
    built(&["--features", "lake"])
}

/// Our binary as it is by default; it takes the place of the other one.
pub fn without_lakes() -> Result<Recount, String> {
    built(&[])
}

/// Builds our binary and asks cargo where it is.
fn built(features: &[&str]) -> Result<Recount, String> {
    let mut command = Command::new("cargo");
    let built = command
        .args(["build", "--release", "--package", "recount"])
        .args(features)
        .arg("--message-format=json")
        .stderr(std::process::Stdio::inherit())
        .output();
    let built = built.map_err(|e| format!("cargo: {e}"))?;
    if !built.status.success() {
        return Err("recount does not build".into());
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    let program = messages.lines().filter_map(executable).next_back();
    program.map(Recount).ok_or_else(|| "cargo built no binary".into())
}

fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

/// Whether a program starts.
fn starts(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// ripgrep: the one on the path, or one built from its source below `target/`.
pub fn ripgrep() -> Result<OsString, String> {
    if starts("rg", &["--version"]) {
        return Ok("rg".into());
    }
    let root = target().join("tools");
    let program = root.join("bin/rg");
    if !program.exists() {
        eprintln!("ripgrep is not installed; building it");
        let mut install = Command::new("cargo");
        install.args(["install", "ripgrep", "--locked", "--root"]).arg(&root);
        let _ = install.status();
    }
    if program.exists() { Ok(program.into()) } else { Err("ripgrep is not here".into()) }
}

/// jq, if it is installed.
pub fn jq() -> Result<OsString, String> {
    starts("jq", &["--version"]).then(|| "xargs".into()).ok_or_else(|| "jq is not here".into())
}

/// Python with duckdb, if it is installed.
pub fn duckdb() -> Result<OsString, String> {
    let there = starts("python3", &["-c", "import duckdb"]);
    there.then(|| "python3".into()).ok_or_else(|| "duckdb is not here (pip install duckdb)".into())
}

/// agentsview: the program itself, from its Python package below `target/`.
pub fn agentsview() -> Result<OsString, String> {
    let root = target().join("tools/agentsview");
    let program = || {
        let library = std::fs::read_dir(root.join("lib")).ok()?.flatten().next()?.path();
        let program = library.join("site-packages/agentsview/bin/agentsview");
        program.canonicalize().ok()
    };
    if program().is_none() {
        eprintln!("agentsview is not here; installing it");
        let _ = Command::new("python3").args(["-m", "venv"]).arg(&root).status();
        let pip = [OsString::from("install"), "--quiet".into(), "agentsview".into()];
        let _ = Command::new(root.join("bin/pip")).args(pip).status();
    }
    program()
        .map(Into::into)
        .ok_or_else(|| "agentsview is not here (pip install agentsview)".into())
}

/// A program of a Python package of a version, below `target/`.
pub fn python(name: &str, version: &str) -> Result<OsString, String> {
    let root = target().join("tools").join(name);
    let program = root.join("bin").join(name);
    if !program.exists() {
        eprintln!("{name} is not here; installing it");
        let _ = Command::new("python3").args(["-m", "venv"]).arg(&root).status();
        let package = format!("{name}=={version}.*");
        let _ = Command::new(root.join("bin/pip")).args(["install", "--quiet", &package]).status();
    }
    let program = program.canonicalize().map(Into::into);
    program.map_err(|_| format!("{name} is not here (pip install {name})"))
}

/// A shell, if tar and zstd are here for it to call.
pub fn tar_and_zstd() -> Result<OsString, String> {
    let there = starts("tar", &["--version"]) && starts("zstd", &["--version"]);
    there.then(|| "sh".into()).ok_or_else(|| "tar or zstd is not here".into())
}

/// ccusage, the program that its npm package brings for this system.
pub fn ccusage() -> Result<OsString, String> {
    let root = target().join("tools/ccusage");
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "ccusage-linux-x64",
        ("linux", "aarch64") => "ccusage-linux-arm64",
        ("macos", "aarch64") => "ccusage-darwin-arm64",
        _ => return Err("ccusage has no program for this system".into()),
    };
    let program = root.join("node_modules/@ccusage").join(package).join("bin/ccusage");
    if !program.exists() {
        eprintln!("ccusage is not here; installing it");
        let _ = std::fs::create_dir_all(&root);
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-fund", "--no-audit", "--prefix"]).arg(&root);
        let _ = npm.arg(format!("@ccusage/{package}@20")).status();
        let _ = Command::new("chmod").arg("+x").arg(&program).status();
    }
    let program =
        program.canonicalize().ok().filter(|p| starts(&p.to_string_lossy(), &["--version"]));
    program.map(Into::into).ok_or_else(|| "ccusage is not here (npm install ccusage)".into())
}

//! What one command costs: time, processor, peak memory, bytes read.
//!
//! A command is started by a small process of its own (`xtask measure`), because the kernel
//! counts the memory of the process that starts a program into the peak of that program: a child
//! of a harness that has just read 500 MB would seem to need 500 MB itself.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::{Value, json};
use wait4::Wait4;

/// The cost of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of processor time, user and system, children included.
    pub cpu: f64,
    /// Peak resident memory in bytes.
    pub rss: u64,
    /// Bytes asked for by `read` calls; memory maps are not seen. Not known on all systems.
    pub read: Option<u64>,
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
}

/// Where a measured command writes.
pub fn output() -> PathBuf {
    super::home::target().join("bench-output")
}

/// Runs `program` with `args` and says what it cost. Its standard output is in [`output`] then.
pub fn cost(program: &OsStr, args: &[OsString]) -> Result<Cost, String> {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(me);
    command.arg("measure").arg(output()).arg(program).args(args);
    let said = command.output().map_err(|e| e.to_string())?;
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).trim().into());
    }
    let json = serde_json::from_slice(&said.stdout).map_err(|e| e.to_string())?;
    from_json(&json).ok_or_else(|| format!("measure said {json}"))
}

/// `xtask measure OUTPUT PROGRAM ARGS…`: the small process.
pub fn run(args: &[String]) -> Result<(), String> {
    let [output, program, args @ ..] = args else {
        return Err("usage: xtask measure OUTPUT PROGRAM ARGS…".into());
    };
    let output = File::create(Path::new(output)).map_err(|e| format!("{output}: {e}"))?;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
    let started = Instant::now();
    let child = command.spawn().map_err(|e| format!("{program}: {e}"))?;
    let read = read_at_end(&child);
    let wall = started.elapsed().as_secs_f64();
    let used = child.wait4().map_err(|e| e.to_string())?;
    let cpu = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    let cost = Cost { wall, cpu, rss: used.rusage.maxrss, read, code: used.status.code() };
    println!("{}", to_json(&cost));
    Ok(())
}

/// Waits for the child's end without letting go of it: its counters can still be read then.
fn read_at_end(child: &Child) -> Option<u64> {
    let pid = Pid::from_child(child);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(pid), options).is_err_and(|e| e == rustix::io::Errno::INTR) {}
    let io = std::fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok())
}

/// The cost as it is written down.
pub fn to_json(cost: &Cost) -> Value {
    json!({
        "wall": cost.wall, "cpu": cost.cpu, "rss": cost.rss, "read": cost.read, "code": cost.code,
    })
}

fn from_json(json: &Value) -> Option<Cost> {
    Some(Cost {
        wall: json["wall"].as_f64()?,
        cpu: json["cpu"].as_f64()?,
        rss: json["rss"].as_u64()?,
        read: json["read"].as_u64(),
        code: json["code"].as_i64().and_then(|code| i32::try_from(code).ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_survives_its_way_through_json() {
        let cost = Cost { wall: 0.25, cpu: 0.5, rss: 4096, read: None, code: Some(1) };
        assert_eq!(from_json(&to_json(&cost)), Some(cost));
        assert_eq!(from_json(&json!({})), None);
    }
}

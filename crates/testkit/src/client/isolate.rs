//! A network of its own: this process started again where only the loopback device exists.
//!
//! Server, client and recount have to be in the same namespace, so the whole test process moves
//! there. Where the system does not permit it, everything runs without: the client is still given
//! a loopback address for its server and told to send nothing else.

use std::env;
use std::process::{Command, ExitStatus, Stdio};

/// Set in the process that was started again.
const INSIDE: &str = "RECOUNT_CLIENT_INSIDE";

const BRING_UP: &str = "ip link set lo up && exec \"$@\"";

/// How the system permits a network namespace: as root, or as root of a user namespace.
fn permitted() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [&["--net"], &["--map-root-user", "--net"]];
    WAYS.into_iter().find(|way| {
        let mut probe = Command::new("unshare");
        probe.args(*way).args(["sh", "-c", BRING_UP, "sh", "true"]);
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    })
}

/// Runs this program once more in a network namespace with these arguments. `None` where this
/// already is that process, or where the system does not permit namespaces: then go on here.
pub fn start_again(args: &[&str]) -> Option<ExitStatus> {
    if env::var_os(INSIDE).is_some() {
        return None;
    }
    let way = permitted()?;
    let program = env::current_exe().ok()?;
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", BRING_UP, "sh"]).arg(program).args(args);
    command.env(INSIDE, "1").status().ok()
}

/// Whether nothing but this computer can be reached.
pub fn is_isolated() -> bool {
    env::var_os(INSIDE).is_some()
}

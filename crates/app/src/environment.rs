//! Environment variables, and the names of this computer and its user.

use std::env;
use std::path::Path;
use std::process::Command;

use ask::home::Environment;
use report::rows::Origin;

/// The environment of this process.
pub fn read_environment() -> Environment {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    Environment {
        claude_config_dir: set("CLAUDE_CONFIG_DIR"),
        xdg_config_home: set("XDG_CONFIG_HOME"),
        recount_store: set("RECOUNT_STORE"),
        xdg_data_home: set("XDG_DATA_HOME"),
        recount_config: set("RECOUNT_CONFIG"),
        session: set("CLAUDE_CODE_SESSION_ID"),
        local_app_data: set("LOCALAPPDATA").filter(|_| cfg!(windows)),
        app_data: set("APPDATA").filter(|_| cfg!(windows)),
        home: env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        ..Environment::default()
    }
}

/// Whose history it is: what the environment says, else what the system does.
pub fn origin() -> Origin {
    let set = |names: &[&str]| {
        let values = names.iter().filter_map(|name| env::var(name).ok());
        values.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
    };
    let unknown = || "unknown".to_owned();
    Origin {
        host: set(&["RECOUNT_HOST"]).or_else(host_name).unwrap_or_else(unknown),
        user: set(&["RECOUNT_USER", "USER", "LOGNAME", "USERNAME"]).unwrap_or_else(unknown),
    }
}

/// The name of this computer.
fn host_name() -> Option<String> {
    let file = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
    let ask = || {
        let output = Command::new("hostname").output().ok()?;
        String::from_utf8(output.stdout).ok()
    };
    let set = || env::var("COMPUTERNAME").ok();
    let name = file("/proc/sys/kernel/hostname").or_else(|| file("/etc/hostname"));
    let name = name.or_else(set).or_else(ask)?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

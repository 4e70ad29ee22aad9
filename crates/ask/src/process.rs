//! Whether the process that a registry file names is still running.
//!
//! A client that was killed leaves its file behind, and the system may give its number to another
//! process. So the number is asked for with the system's own call, and where the client recorded
//! when its process began, that is compared too. Where the system can't be asked, the file is
//! believed.

use std::path::Path;
use std::thread;
use std::time::Duration;

use transcript::layout::Problem;
use transcript::side::registry::{self, Running};

use crate::read;

/// What a registry file says. The client writes over it in place, so a file that names no session
/// was read in the middle of that, and is read again a moment later.
pub fn read_registry(path: &Path) -> Result<Running, Problem> {
    const ATTEMPTS: usize = 20;
    const MOMENT: Duration = Duration::from_millis(2);
    let mut client = registry::parse(&read::whole(path)?).0;
    for _ in 1..ATTEMPTS {
        if client.session.is_some() {
            break;
        }
        thread::sleep(MOMENT);
        client = registry::parse(&read::whole(path)?).0;
    }
    Ok(client)
}

/// Whether the client that wrote this registry file is still running.
pub fn is_running(client: &Running) -> bool {
    let Some(pid) = client.pid else { return true };
    let Ok(pid) = u32::try_from(pid) else { return false };
    if !system::exists(pid) || system::is_zombie(pid) {
        return false;
    }
    match (client.process_start.as_deref(), system::start(pid)) {
        (Some(recorded), Some(actual)) => recorded.split_whitespace().eq(actual.split_whitespace()),
        _ => true,
    }
}

#[cfg(unix)]
mod system {
    /// Signal 0 is never delivered: it only asks. `EPERM` means a process of somebody else.
    #[expect(unsafe_code, reason = "the standard library does not ask for other processes")]
    pub fn exists(pid: u32) -> bool {
        // 0 and negative numbers would mean groups of processes.
        let Some(pid) = i32::try_from(pid).ok().filter(|pid| *pid > 0) else { return false };
        // SAFETY: takes two numbers and changes nothing.
        let answer = unsafe { libc::kill(pid, 0) };
        answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
    }

    pub use start::start;

    /// Whether the process has ended and only waits for its parent to ask how. In a container
    /// without an init process that may never happen.
    pub fn is_zombie(pid: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().next());
        matches!(state, Some("Z" | "X"))
    }

    /// Field 22 of `/proc/PID/stat`. The name before it may contain spaces and parentheses.
    #[cfg(target_os = "linux")]
    mod start {
        pub fn start(pid: u32) -> Option<String> {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (_, fields) = stat.rsplit_once(')')?;
            fields.split_whitespace().nth(19).map(str::to_owned)
        }
    }

    /// As `LC_ALL=C TZ=UTC ps -o lstart=` prints it, which is what the client records.
    #[cfg(target_os = "macos")]
    mod start {
        #[expect(unsafe_code, reason = "the standard library does not ask for other processes")]
        pub fn start(pid: u32) -> Option<String> {
            let pid = i32::try_from(pid).ok()?;
            let size = size_of::<libc::proc_bsdinfo>();
            // SAFETY: a plain struct of numbers, for which zeros are a value.
            let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
            let at = (&raw mut info).cast();
            // SAFETY: writes at most `size` bytes to `info`, which has as many.
            let written = unsafe {
                libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, at, size as libc::c_int)
            };
            let seconds = (written as usize == size).then_some(info.pbi_start_tvsec)?;
            super::super::lstart(i64::try_from(seconds).ok()?)
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    mod start {
        pub fn start(_: u32) -> Option<String> {
            None
        }
    }
}

#[cfg(windows)]
mod system {
    use windows_sys::Win32::Foundation::{
        CloseHandle, ERROR_ACCESS_DENIED, GetLastError, STILL_ACTIVE,
    };
    use windows_sys::Win32::System::Threading::{
        GetExitCodeProcess, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
    };

    /// A process that has ended may still have handles: its exit code tells.
    #[expect(unsafe_code, reason = "the standard library does not ask for other processes")]
    pub fn exists(pid: u32) -> bool {
        // SAFETY: takes numbers; the handle is closed below.
        let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
        if process.is_null() {
            // SAFETY: reads a number of this thread.
            return unsafe { GetLastError() } == ERROR_ACCESS_DENIED;
        }
        let mut code = 0;
        // SAFETY: an open handle and a place for a number.
        let is_known = unsafe { GetExitCodeProcess(process, &raw mut code) } != 0;
        // SAFETY: the handle is open and not used again.
        unsafe { CloseHandle(process) };
        !is_known || code == STILL_ACTIVE as u32
    }

    pub fn is_zombie(_: u32) -> bool {
        false
    }

    /// The client records the start in another field there.
    pub fn start(_: u32) -> Option<String> {
        None
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    pub fn exists(_: u32) -> bool {
        true
    }

    pub fn is_zombie(_: u32) -> bool {
        false
    }

    pub fn start(_: u32) -> Option<String> {
        None
    }
}

/// Seconds since 1970 as `ps -o lstart=` prints them in UTC.
#[cfg(any(target_os = "macos", test))]
fn lstart(seconds: i64) -> Option<String> {
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(time.strftime("%a %b %e %H:%M:%S %Y").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(pid: u64, start: Option<&str>) -> Running {
        let start = start.map_or(String::new(), |start| format!(r#","procStart":"{start}""#));
        registry::parse(format!(r#"{{"pid":{pid}{start}}}"#).as_bytes()).0
    }

    #[test]
    fn a_process_runs_until_it_has_ended() {
        let own = u64::from(std::process::id());
        assert!(is_running(&client(own, None)));
        let mut child = std::process::Command::new(std::env::current_exe().expect("a test"))
            .arg("--list")
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("started");
        let gone = u64::from(child.id());
        #[cfg(target_os = "linux")]
        {
            // Until it is waited for its number is still taken.
            while !system::is_zombie(child.id()) {
                std::thread::yield_now();
            }
            assert!(system::exists(child.id()));
            assert!(!is_running(&client(gone, None)));
        }
        child.wait().expect("ended");
        assert!(!is_running(&client(gone, None)));
        // Signals to these would go to groups of processes, and this one can't exist.
        for wrong in [0, u64::from(u32::MAX), 1 << 40] {
            assert!(!is_running(&client(wrong, None)), "{wrong}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_process_with_the_same_number_is_not_the_client() {
        let own = std::process::id();
        let start = system::start(own).expect("Linux tells");
        assert!(is_running(&client(own.into(), Some(&start))));
        assert!(!is_running(&client(own.into(), Some("1"))));
        // PID 1 began before us and belongs to root.
        assert!(is_running(&client(1, None)));
    }

    #[test]
    fn a_file_that_is_being_written_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("1.json");
        std::fs::write(&file, "").expect("written");
        let writer = {
            let file = file.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(5));
                std::fs::write(file, r#"{"pid":1,"sessionId":"s"}"#).expect("written");
            })
        };
        let client = read_registry(&file).expect("it is there");
        writer.join().expect("ended");
        assert_eq!(client.session.as_ref().map(|id| id.as_str()), Some("s"));
    }

    #[test]
    fn a_start_is_written_as_ps_does() {
        assert_eq!(lstart(1_794_873_601).as_deref(), Some("Tue Nov 17 00:00:01 2026"));
        assert_eq!(lstart(1_793_664_001).as_deref(), Some("Tue Nov  3 00:00:01 2026"));
    }
}

//! What the allocator of glibc keeps for itself. It makes up to eight heaps for each core, and
//! puts larger and larger things into them: after a file of a gigabyte half of what a sync held
//! was such room that nobody used.

/// As many heaps as cores, with small things in them.
pub fn bound() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    glibc::set(cores);
}

/// Gives back to the system what is not used.
pub fn give_back() {
    glibc::trim();
}

/// How many bytes this process holds, without what it has mapped of files; `None` where the system
/// does not tell.
pub fn held() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kb| kb << 10)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator has no other door")]
mod glibc {
    /// Things of this size and above are given back to the system when they are freed.
    const LARGE: i32 = 1 << 20;
    /// So much at the end of a heap is kept: giving it back at each chance costs more than it
    /// saves.
    const SPARE: i32 = 4 << 20;

    /// So much is asked for at once: in small steps a short command asks a hundred times.
    const STEP: i32 = 512 << 10;

    pub fn set(heaps: usize) {
        let heaps = i32::try_from(heaps).unwrap_or(i32::MAX);
        // SAFETY: takes two numbers and answers with one.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, heaps);
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
            libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE);
            libc::mallopt(libc::M_TOP_PAD, STEP);
        }
    }

    pub fn trim() {
        // SAFETY: touches only what nobody has.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod glibc {
    pub fn set(_: usize) {}

    pub fn trim() {}
}

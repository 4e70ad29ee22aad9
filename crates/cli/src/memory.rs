//! What the allocator of glibc keeps for itself. It makes up to eight heaps for each core, and
//! puts larger and larger things into them: after a file of a gigabyte half of what a sync held
//! was such room that nobody used.

/// Things of this size and above are given back to the system when they are freed.
const LARGE: i32 = 1 << 20;

/// As many heaps as cores, with small things in them.
pub fn bound() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    glibc::set(cores, LARGE);
}

/// Gives back to the system what is not used.
pub fn give_back() {
    glibc::trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator has no other door")]
mod glibc {
    pub fn set(heaps: usize, large: i32) {
        let heaps = i32::try_from(heaps).unwrap_or(i32::MAX);
        // SAFETY: takes two numbers and answers with one.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, heaps);
            libc::mallopt(libc::M_MMAP_THRESHOLD, large);
        }
    }

    pub fn trim() {
        // SAFETY: touches only what nobody has.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod glibc {
    pub fn set(_: usize, _: i32) {}

    pub fn trim() {}
}

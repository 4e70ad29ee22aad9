//! The `recount` command: reads everything Claude Code leaves behind.
//!
//! All it does is in `app`, which is built to be small. What is here decides how the whole program
//! is linked, and that has to be fast.

fn main() -> std::process::ExitCode {
    app::main()
}

//! The program from outside: a Claude folder in, exit code and both outputs out.

// Also in the functions that tests share, which are no tests themselves.
#![allow(clippy::unwrap_used)]

mod cli {
    mod archive;
    mod case;
    mod conformance;
    mod doctor;
    mod errors;
    mod failed_calls;
    mod file;
    mod help;
    mod history;
    mod hostile;
    mod list;
    mod log;
    mod plans;
    mod readme;
    mod segments;
    mod show;
    mod store;
    mod todos;
    mod torture;
    mod tree;
    mod watch;
}

//! The program from outside: a Claude folder in, exit code and both outputs out.

// Also in the functions that tests share, which are no tests themselves.
#![allow(clippy::unwrap_used)]

mod cli {
    mod case;
    mod errors;
    mod help;
    mod history;
    mod hostile;
    mod log;
    mod plans;
    mod show;
    mod todos;
}

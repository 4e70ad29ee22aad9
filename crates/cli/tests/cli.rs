//! The program from outside: a Claude folder in, exit code and both outputs out.

// Also in the functions that tests share, which are no tests themselves.
#![allow(clippy::unwrap_used)]

mod cli {
    mod archive;
    mod case;
    mod clean;
    mod config;
    mod conformance;
    mod doctor;
    mod equal;
    mod errors;
    mod export;
    mod failed_calls;
    mod fault;
    mod file;
    mod folders;
    mod ghost;
    mod help;
    mod history;
    mod hook;
    mod hostile;
    mod install;
    // What a store says, as the tests of the store itself tell it.
    #[expect(dead_code, reason = "the tests of the store use more of it")]
    #[path = "../../../store/tests/sync/kit.rs"]
    mod kit;
    mod learn;
    mod list;
    mod log;
    mod manual;
    mod mcp;
    mod named;
    mod newer;
    mod note;
    mod owner;
    mod pack;
    mod plans;
    mod readme;
    mod recall;
    mod reference;
    mod regex;
    mod related;
    mod rename;
    mod request;
    mod segments;
    mod show;
    mod spill;
    mod sql;
    mod storage;
    mod store;
    mod talk;
    mod todos;
    mod tokens;
    mod torture;
    mod tree;
    mod usage;
    mod wait;
    mod waste;
    mod watch;
}

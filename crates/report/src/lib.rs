//! Answers about Claude Code sessions as plain structs, one module per question.
//!
//! Nothing here prints, opens files, or knows the time or the home folder: parsed values come
//! in, structs go out, and the doors decide how they look.

pub mod diff;
pub mod errors;
pub mod export;
pub mod file;
pub mod filter;
pub mod format;
pub mod history;
pub mod html;
pub mod learn;
pub mod list;
pub mod log;
pub mod page;
pub mod plan;
pub mod price;
pub mod redact;
pub mod related;
pub mod request;
pub mod rows;
pub mod show;
pub mod storage;
pub mod timing;
pub mod todo;
pub mod tools;
pub mod tree;
pub mod usage;
pub mod words;
